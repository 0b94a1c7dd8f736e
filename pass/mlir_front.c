/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens WavesmithMLIR.so beside this program.
 */
#include "mlir/front.h"
#include "wavesmith/problem.h"

#include <dlfcn.h>
#include <unistd.h>

/* ---- the library -----------------------------------------------------------
 */

static const char *library_path(ws_arena *arena) {
  char *folder;
  ws_diag ignored;
  const bool known = ws_program_directory(arena, &folder, &ignored) == WS_OK;
  return ws_arena_printf(arena, "%s/WavesmithMLIR.so", known ? folder : ".");
}

bool ws__mlir_is_there(void) {
  ws_arena *arena = ws_arena_create();
  bool there = access(library_path(arena), R_OK) == 0;
  ws_arena_destroy(arena);
  return there;
}

static ws_mlir_lower_function *open_library(ws_arena *arena,
                                            const char **out_why) {
  static ws_mlir_lower_function *lower;
  if (lower)
    return lower;
  void *library = dlopen(library_path(arena), RTLD_NOW | RTLD_LOCAL);
  if (library)
    *(void **)&lower = dlsym(library, "ws_mlir_lower");
  if (!lower)
    *out_why = dlerror();
  return lower;
}

LLVMModuleRef ws__mlir_front(LLVMContextRef context,
                             const ws_mlir_request *request,
                             ws_findings *findings) {
  const char *why = "";
  ws_mlir_lower_function *lower = open_library(findings->arena, &why);
  if (lower) {
    ws_mlir_request own = *request;
    own.find_problem = ws_problem_find; /* the library has none of its own */
    return lower(context, &own, findings);
  }
  ws_findings_add(findings, "mlir-missing", "", request->file, 0,
                  "there is no MLIR in this wavesmith (%s); `wavesmith doctor` "
                  "says what it needs",
                  why);
  return NULL;
}
