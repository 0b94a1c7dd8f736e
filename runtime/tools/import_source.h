/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What `wavesmith import` compiles: the author's file between what its options
 * say, and a clang to do it where one is asked for.
 */
#ifndef WAVESMITH_IMPORT_SOURCE_H
#define WAVESMITH_IMPORT_SOURCE_H

#include "wavesmith/base.h"

enum { IMPORT_MOST = 64 };

typedef struct import_list {
  const char *items[IMPORT_MOST];
  int count;
} import_list;

typedef struct import_options {
  const char *out, *name, *problem, *target, *clang;
  import_list defines, includes, launches, lds, arguments;
} import_options;

/* The whole text, and clang's options in *out_options. WS_USAGE on an option
 * that says nothing sensible. */
ws_status import_compose(ws_arena *arena, const import_options *options,
                         const char *file, const char *own, char **out_text,
                         import_list *out_options, ws_diag *diag) WS_MUST_CHECK;

/* Runs options->clang on the text: its IR. Errors of the HIP are printed, one
 * a line. */
ws_status import_run_clang(ws_arena *arena, const import_options *options,
                           const char *text, const import_list *clang_options,
                           char **out_ir, ws_diag *diag) WS_MUST_CHECK;

#endif
