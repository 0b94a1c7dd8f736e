/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The list of what is wrong with one candidate. It is data for whoever wrote
 * the candidate, so it is capped (a model reads no thousand lines), free of
 * exact repetitions, and every text is one line.
 */
#include "pass.h"
#include "wavesmith/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FINDINGS = 64, MAX_TEXT = 1024 };

void ws_findings_init(ws_findings *findings, ws_arena *arena) {
  *findings = (ws_findings){.arena = arena};
}

static bool same_text(const char *a, const char *b) {
  return !strcmp(a ? a : "", b ? b : "");
}

static bool already_there(const ws_findings *findings, const char *id,
                          const char *file, int line, const char *text) {
  for (int i = 0; i < findings->count; i++) {
    const ws_finding *other = &findings->items[i];
    if (other->line == line && same_text(other->id, id) &&
        same_text(other->file, file) && same_text(other->text, text))
      return true;
  }
  return false;
}

static void grow(ws_findings *findings) {
  int capacity = findings->capacity ? findings->capacity * 2 : 8;
  ws_finding *items =
      ws_arena_alloc(findings->arena, (size_t)capacity * sizeof *items);
  if (findings->count)
    memcpy(items, findings->items, (size_t)findings->count * sizeof *items);
  findings->items = items;
  findings->capacity = capacity;
}

static void add(ws_findings *findings, const char *id, const char *region,
                const char *file, int line, const char *text) {
  if (findings->count == findings->capacity)
    grow(findings);
  findings->items[findings->count++] = (ws_finding){
      .id = ws_arena_strdup(findings->arena, id),
      .region = ws_arena_strdup(findings->arena, region ? region : ""),
      .file = ws_arena_strdup(findings->arena, file ? file : ""),
      .text = ws_arena_strdup(findings->arena, text),
      .line = line,
  };
}

ws_finding *ws_findings_add(ws_findings *findings, const char *id,
                            const char *region, const char *file, int line,
                            const char *format, ...) {
  if (findings->count == MAX_FINDINGS)
    return NULL;
  char text[MAX_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ws_strbuf shown;
  ws_strbuf_init(&shown);
  ws_text_show(&shown, text, strlen(text), true);
  const bool is_new = !already_there(findings, id, file, line, shown.data);
  if (is_new)
    add(findings, id, region, file, line, shown.data);
  ws_strbuf_deinit(&shown);
  return is_new ? &findings->items[findings->count - 1] : NULL;
}

void ws_diag_name_pass_options(ws_diag *diag) {
  static const char dashed[] = "--problem", option[] = "problem=FILE";
  char *at = strstr(diag->text, dashed);
  if (!at)
    return;
  char rest[sizeof diag->text];
  snprintf(rest, sizeof rest, "%s%s", option, at + sizeof dashed - 1);
  snprintf(at, sizeof diag->text - (size_t)(at - diag->text), "%s", rest);
}

ws_finding *ws_findings_add_diag(ws_findings *findings, const char *id,
                                 const char *file, const ws_diag *diag) {
  const size_t size = strlen(file);
  const char *text = diag->text;
  long line = 0;
  if (!strncmp(text, file, size) && text[size] == ':') {
    char *end;
    text += size + 1;
    line = strtol(text, &end, 10);
    if (line > 0 && *end == ':')
      text = end + 1;
    else
      line = 0;
    text += strspn(text, " ");
  }
  return ws_findings_add(findings, id, "", file, (int)line, "%s", text);
}
