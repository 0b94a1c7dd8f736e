/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * MLIR's diagnostics to findings. Errors become findings. Of their notes the
 * text's first line and the place are kept, with the word that the text has
 * there: they may print whole functions. What a schedule has done wrong is said
 * at the schedule's line, wherever MLIR has said it.
 */
#include "../job_place.h"
#include "schedule.h"

#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 400, MOST_NOTES = 2, MOST_NOTE_BYTES = 120 };

/* The first line, cut short. */
static void print_line(MlirDiagnostic diagnostic, size_t most, ws_strbuf *out) {
  ws_strbuf whole;
  ws_strbuf_init(&whole);
  mlirDiagnosticPrint(diagnostic, ws__mlir_append, &whole);
  size_t size = strcspn(whole.data, "\n");
  ws_strbuf_append(out, whole.data, size < most ? size : most);
  ws_strbuf_deinit(&whole);
}

/* The word of the text at a place: an operation's name. */
static int word_at(const ws_mlir *m, int line, int column, const char **out) {
  const char *at = m->text ? m->text : "";
  for (; line > 1 && (at = strchr(at, '\n')); line--)
    at++;
  if (!at || column < 1 || (size_t)column > strcspn(at, "\n"))
    return 0;
  *out = at + column - 1;
  *out += **out == '"';
  return (int)strspn(*out,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_.");
}

static void print_place(const ws_mlir *m, MlirLocation place, ws_strbuf *out) {
  int line, column;
  ws__mlir_line_column(m, place, &line, &column);
  MlirStringRef file =
      mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place));
  const char *word = "";
  const int size = mlirStringRefEqual(file, ws__mlir_ref(m->file))
                       ? word_at(m, line, column, &word)
                       : 0;
  ws_strbuf_printf(out, "%.*s:%d:%d%s%.*s", (int)file.length, file.data, line,
                   column, size ? ": " : "", size, word);
}

static void print_notes(const ws_mlir *m, MlirDiagnostic diagnostic,
                        ws_strbuf *out) {
  int shown = 0;
  const intptr_t count = mlirDiagnosticGetNumNotes(diagnostic);
  for (intptr_t i = 0; i < count && shown < MOST_NOTES; i++) {
    MlirDiagnostic note = mlirDiagnosticGetNote(diagnostic, i);
    MlirLocation place = ws__mlir_place(mlirDiagnosticGetLocation(note));
    ws_strbuf text;
    ws_strbuf_init(&text);
    print_line(note, MOST_NOTE_BYTES, &text);
    if (!mlirLocationIsNull(place) &&
        strncmp(text.data, "see current operation", 21)) {
      ws_strbuf_printf(out, "; %s at ", text.data);
      print_place(m, place, out);
      shown++;
    }
    ws_strbuf_deinit(&text);
  }
}

static bool is_of_schedule(const ws_mlir *m, MlirLocation place) {
  const int line = mlirLocationIsNull(place)
                       ? 0
                       : mlirLocationFileLineColRangeGetStartLine(place);
  return line >= m->steps->first_line && line <= m->steps->last_line;
}

MlirLogicalResult ws__mlir_take_diagnostic(MlirDiagnostic diagnostic,
                                           void *data) {
  ws_mlir *m = data;
  const MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  MlirLocation at = mlirDiagnosticGetLocation(diagnostic),
               place = ws__mlir_place(at);
  MlirOperation step = ws__mlir_step(m);
  ws_strbuf text;
  ws_strbuf_init(&text);
  print_line(diagnostic, MOST_BYTES, &text);
  if (severity == MlirDiagnosticRemark)
    ws__mlir_step_begins(m, text.data);
  if (severity == MlirDiagnosticError) {
    if (!mlirOperationIsNull(step) && !is_of_schedule(m, place)) {
      MlirStringRef name = ws__mlir_name(step);
      ws_strbuf_printf(&text, " (%.*s", (int)name.length, name.data);
      if (!mlirLocationIsNull(place)) {
        ws_strbuf_printf(&text, " of ");
        print_place(m, place, &text);
      }
      ws_strbuf_printf(&text, ")");
      at = mlirOperationGetLocation(step);
    }
    print_notes(m, diagnostic, &text);
    ws__mlir_find(m, at, m->steps ? "mlir-schedule" : "mlir", "", text.data);
  }
  ws_strbuf_deinit(&text);
  return mlirLogicalResultSuccess();
}

void ws__mlir_mark(const ws_mlir *m, MlirOperation op) {
  if (!m->place)
    return;
  MlirLocation at = ws__mlir_place(mlirOperationGetLocation(op));
  MlirStringRef name = ws__mlir_name(op);
  m->place->line = 0;
  if (mlirLocationIsNull(at))
    return;
  MlirStringRef file =
      mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(at));
  snprintf(m->place->file, sizeof m->place->file, "%.*s", (int)file.length,
           file.data);
  snprintf(m->place->what, sizeof m->place->what, "%.*s", (int)name.length,
           name.data);
  m->place->column = mlirLocationFileLineColRangeGetStartColumn(at);
  m->place->line = mlirLocationFileLineColRangeGetStartLine(at);
}
