/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Problems from files: a C file is made a library (compile.c), the library
 * loaded, its entry point asked, the definition opened and its reference tried
 * in a child (probe.c). Servers that are started later load the same library:
 * WAVESMITH_PROBLEMS lists them.
 */
#include "compile.h"
#include "probe.h"
#include "table.h"
#include "trap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

static const char variable[] = "WAVESMITH_PROBLEMS";

/* ---- loading ---- */

typedef const ws_problem_definition *(*entry_point)(void);

static ws_status load(const char *library, const char *file,
                      const ws_problem **out_problem, ws_diag *diag) {
  entry_point entry;
  *out_problem = NULL;
  ws__trap_install();
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return ws_fail(diag, WS_INPUT, NULL, 0, "%s cannot be loaded: %s", file,
                   dlerror());
  void *symbol = dlsym(handle, "wavesmith_problem");
  if (!symbol)
    return ws_fail(diag, WS_INPUT, file, 0,
                   "there is no problem in it: end it with "
                   "WS_PROBLEM(name_of_your_definition)");
  memcpy(&entry, &symbol, sizeof entry);
  const ws_problem_definition *given = entry();
  if (!given)
    return ws_fail(diag, WS_INPUT, file, 0,
                   "wavesmith_problem() gives no problem: end the file with "
                   "WS_PROBLEM(name_of_your_definition)");
  return ws_problem_open(given, file, out_problem, diag);
}

static bool is_library(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && !strcmp(dot, ".so");
}

/* The problem that a file was made of before; NULL: it was not. */
static const ws_problem *find_added(const char *path) {
  int count;
  const ws_problem *const *all = ws_problems(&count);
  for (int i = 0; i < count; i++)
    if (!strcmp(all[i]->file, path))
      return all[i];
  return NULL;
}

static ws_status add(ws_arena *arena, const char *path,
                     const ws_problem **out_problem, ws_diag *diag) {
  const char *library = path, *resolved = realpath(path, NULL);
  ws_status status = WS_OK;
  if (!resolved)
    return ws_fail(diag, WS_INPUT, path, 0, "cannot be read: %s",
                   strerror(errno));
  library = ws_arena_strdup(arena, resolved);
  free((char *)resolved);
  if (!is_library(path))
    status = ws__problem_library(arena, path, &library, diag);
  if (status == WS_OK && (*out_problem = find_added(library)))
    return WS_OK; /* it was inherited */
  if (status == WS_OK)
    status = load(library, path, out_problem, diag);
  if (status == WS_OK)
    status = ws__problem_probe(*out_problem, diag);
  if (status == WS_OK)
    status = ws__problem_keep(*out_problem, diag);
  if (status == WS_OK)
    ws_environment_add_path(variable, library);
  return status;
}

ws_status ws_problem_add_file(const char *path, const ws_problem **out_problem,
                              ws_diag *diag) {
  *out_problem = find_added(path);
  if (*out_problem)
    return WS_OK;
  ws_arena *arena = ws_arena_create();
  ws_status status = add(arena, path, out_problem, diag);
  ws_arena_destroy(arena);
  if (status != WS_OK)
    *out_problem = NULL;
  return status;
}

/* Their references were tried by who added them. */
ws_status ws_problems_inherit(ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  int count;
  const char *const *paths = ws_environment_paths(arena, variable, &count);
  for (int i = 0; i < count && status == WS_OK; i++) {
    const ws_problem *problem;
    if (find_added(paths[i]))
      continue;
    status = load(paths[i], paths[i], &problem, diag);
    if (status == WS_OK)
      status = ws__problem_keep(problem, diag);
  }
  ws_arena_destroy(arena);
  return status;
}
