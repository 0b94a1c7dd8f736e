/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From the options to ws_reference_take: the file is read, HIP becomes a
 * template first.
 */
#include "reference_option.h"
#include "import_source.h"
#include "wavesmith/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct taking {
  ws_arena *arena;
  ws_compiler *compiler;
  const char *file;
  const ws_problem *problem;
  ws_reference_request request;
} taking;

/* ---- options ---- */

/* "0.01" or "0.01,1e-5". */
static ws_status read_tolerance(const char *text, ws_reference_request *out,
                                ws_diag *diag) {
  char *end = NULL;
  out->relative = out->absolute = -1;
  if (!text)
    return WS_OK;
  out->relative = strtod(text, &end);
  out->absolute = 0;
  bool good = end != text;
  if (good && *end == ',') {
    const char *second = end + 1;
    out->absolute = strtod(second, &end);
    good = end != second;
  }
  if (good && !*end && isfinite(out->relative) && isfinite(out->absolute) &&
      out->relative >= 0 && out->absolute >= 0 && out->relative < 1)
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "--tolerance '%s': it is REL or REL,ABS, from 0, REL below 1 "
                 "(0.01: a hundredth of what the reference gives)",
                 text);
}

/* ---- HIP ---- */

static ws_status look_at_name(const char *file, bool *out_hip, ws_diag *diag) {
  static const char *const endings[] = {".ll", ".mlir", ".hip", ".cpp", ".cu"};
  const char *dot = strrchr(file, '.');
  for (int i = 0; dot && i < 5; i++)
    if (!strcmp(dot, endings[i])) {
      *out_hip = i > 1;
      return WS_OK;
    }
  return ws_fail(
      diag, WS_USAGE, NULL, 0,
      "--reference %s: it is a template (.ll, .mlir) or a HIP kernel (.hip, "
      ".cpp)",
      file);
}

static ws_status import_hip(taking *t, const char *own, ws_diag *diag) {
  import_options options = {.target = "gfx942",
                            .problem = t->problem ? t->problem->name : ""};
  options.name = ws_arena_printf(t->arena, "reference_%s",
                                 t->problem ? t->problem->name : "hip");
  import_list clang_options;
  const ws_finding *findings = NULL;
  char *text;
  int count = 0;
  WS_TRY(import_compose(t->arena, &options, t->file, own, &text, &clang_options,
                        diag));
  const ws_import import = {.file = t->file,
                            .target = options.target,
                            .own = own,
                            .text = text,
                            .language = "hip",
                            .options = clang_options.items,
                            .option_count = clang_options.count,
                            .name = options.name,
                            .problem = options.problem};
  WS_TRY(ws_compiler_import(t->compiler, t->arena, &import, &t->request.text,
                            &findings, &count, diag));
  t->request.size = strlen(t->request.text);
  if (!count && t->request.size)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, count ? findings[0].file : t->file,
                 count ? findings[0].line : 0, "%s",
                 count ? findings[0].text : "it cannot be imported");
}

/* ---- both ---- */

static ws_status take(taking *t, ws_diag *diag) {
  char *text;
  bool hip = false;
  WS_TRY(look_at_name(t->file, &hip, diag));
  WS_TRY(ws_file_read(t->arena, t->file, &text, &t->request.size, diag));
  t->request.file = t->file;
  t->request.text = text;
  WS_TRY(ws_compiler_start(&t->compiler, diag));
  if (hip)
    WS_TRY(import_hip(t, text, diag));
  return ws_reference_take(t->compiler, &t->request, diag);
}

ws_status reference_option_take(const reference_option *option,
                                const ws_problem *problem, ws_diag *diag) {
  taking t = {.file = option->file, .problem = problem};
  if (!option->file && option->tolerance)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--tolerance is for a kernel that is the reference "
                   "(--reference FILE); a problem's own reference says its "
                   "own");
  if (!option->file)
    return WS_OK;
  WS_TRY(read_tolerance(option->tolerance, &t.request, diag));
  t.arena = ws_arena_create();
  ws_status status = take(&t, diag);
  ws_compiler_stop(t.compiler);
  ws_arena_destroy(t.arena);
  return status;
}
