/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the C++ shim registers (a table of module passes in C) and what it
 * offers to them (diagnostics and remarks, which LLVM's C API cannot emit).
 */
#ifndef WAVESMITH_PLUGIN_PASSES_H
#define WAVESMITH_PLUGIN_PASSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_plugin_pass {
  const char *name; /* "NAME" or "NAME<parameters>" in a pipeline */
  bool at_start;    /* also runs first in every default pipeline, where it
                       passes over modules without wavesmith metadata */
  /* parameters is "" when there are none; by_name is false at the start of a
   * default pipeline. Returns whether the module changed. */
  bool (*run)(LLVMModuleRef module, const char *parameters, bool by_name);
} ws_plugin_pass;

extern const ws_plugin_pass ws_plugin_passes[];
extern const int ws_plugin_pass_count;

/* An LLVM error. opt ends with it at once, so say all there is to say. */
void ws_plugin_error(LLVMContextRef context, const char *text);

/* What a remark is of LLVM's three kinds: -pass-remarks=, -pass-remarks-missed=
 * and -pass-remarks-analysis= of opt, -Rpass... of clang. All of them go to
 * -pass-remarks-output= and -fsave-optimization-record. */
typedef enum ws_remark_kind {
  WS_REMARK_PASSED,
  WS_REMARK_MISSED,
  WS_REMARK_ANALYSIS
} ws_remark_kind;

/* A piece of a remark's sentence; one with a key is an argument of its own in
 * the YAML. */
typedef struct ws_remark_part {
  const char *key; /* NULL: words between */
  const char *text;
} ws_remark_part;

/* place: a function, or an instruction, whose debug location is the remark's.
 */
void ws_plugin_remark(LLVMValueRef place, ws_remark_kind kind, const char *pass,
                      const char *name, const ws_remark_part *parts, int count);

#ifdef __cplusplus
}
#endif
#endif
