/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Errors. LLVM's handlers write "error: " before a diagnostic, whatever it is
 * of, and opt ends at the first. So there is one, whose first line says how
 * many findings there are; each of them has a line of its own behind it, as
 * compilers write them and editors read them.
 */
#include "../source_lines.h"
#include "job.h"
#include "passes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ws__plugin_fail(const ws_plugin_job *j, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ws_plugin_error(LLVMGetModuleContext(j->module),
                  ws_arena_printf(j->arena, "%s: %s", j->pass, text));
}

/* Of a declaration or a function only the line is known: the column is that of
 * its first word. */
static const char *place_of(const ws_plugin_job *j, ws_finding f) {
  if (!*f.file)
    f.file = j->file;
  if (!f.column && j->text && !strcmp(f.file, j->file))
    f.column = ws_source_column(j->text, j->text_size, f.line);
  return ws_finding_place(j->arena, &f);
}

void ws__plugin_fail_with_findings(const ws_plugin_job *j) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "%d finding%s", j->findings.count,
                   j->findings.count == 1 ? "" : "s");
  for (int i = 0; i < j->findings.count; i++) {
    const ws_finding *f = &j->findings.items[i];
    ws_strbuf_printf(&text, "\n%s: error: ", place_of(j, *f));
    if (*f->region)
      ws_strbuf_printf(&text, "region %s: ", f->region);
    ws_strbuf_printf(&text, "%s [%s]", f->text, f->id);
    if (j->placed)
      ws__plugin_remark_finding(j, f);
  }
  ws_plugin_error(LLVMGetModuleContext(j->module),
                  ws_arena_printf(j->arena, "%s: %s", j->pass, text.data));
  ws_strbuf_deinit(&text);
}
