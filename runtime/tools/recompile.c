/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "recompile.h"
ws_status recompile(ws_archive *archive, ws_arena *arena,
                    ws_compiler **compiler, const ws_candidate *candidate,
                    ws_build_result *build, ws_diag *diag) {
  ws_dispatch_entry entry = {.candidate = candidate, .result = build};
  ws_rebuild_report report;
  int count = 1;
  if (!*compiler)
    WS_TRY(ws_compiler_start(compiler, diag));
  WS_TRY(ws_dispatch_rebuild(archive, *compiler, arena, candidate->tmpl->target,
                             false, &entry, &count, &report, diag));
  if (report.changed)
    ws_log(WS_LOG_WARN,
           "%s %.8s compiles to other code with %s than with %s, which "
           "recorded it",
           candidate->tmpl->name, candidate->id.hex, report.compiler,
           report.recorded_compiler);
  *build = *entry.result;
  build->code_object = entry.code_object;
  build->code_object_size = entry.code_object_size;
  return WS_OK;
}
