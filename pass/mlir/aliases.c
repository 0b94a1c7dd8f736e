/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions as a module of their own. MLIR takes aliases (!tile = ..., #map =
 * ...) before the module only: those at the head of the text stay there, and
 * those of the template that it does not define are put in front, all so that
 * the text keeps its lines.
 */
#include "../job_place.h"
#include "declare.h"

#include <ctype.h>
#include <string.h>

static const char *next_line(const char *line) {
  line += strcspn(line, "\n");
  return *line ? line + 1 : line;
}

static bool is_alias(const char *line) {
  return (*line == '!' || *line == '#') &&
         (isalpha((unsigned char)line[1]) || line[1] == '_');
}

/* With its sign. */
static size_t name_size(const char *line) {
  size_t size = 1;
  while (isalnum((unsigned char)line[size]) || strchr("_.$", line[size]))
    if (!line[size++])
      return size - 1;
  return size;
}

/* Behind the lines that a definition goes on for: those that are indented. */
static const char *end_of_alias(const char *line) {
  do
    line = next_line(line);
  while (*line == ' ' || *line == '\t');
  return line;
}

static bool defines(const char *text, const char *name, size_t size) {
  for (const char *line = text; *line; line = next_line(line))
    if (is_alias(line) && name_size(line) == size && !memcmp(line, name, size))
      return true;
  return false;
}

/* In one line, without comments. */
static void put_alias(const char *line, const char *end, ws_strbuf *out) {
  bool quoted = false;
  for (; line < end; line++) {
    quoted ^= *line == '"';
    if (!quoted && line[0] == '/' && line[1] == '/')
      line += strcspn(line, "\n");
    if (line < end)
      ws_strbuf_append(out, *line == '\n' ? " " : line, 1);
  }
}

static void put_aliases(const char *text, const char *but_of, ws_strbuf *out) {
  for (const char *line = text; *line;) {
    const char *end = is_alias(line) ? end_of_alias(line) : next_line(line);
    if (is_alias(line) && !defines(but_of, line, name_size(line)))
      put_alias(line, end, out);
    line = end;
  }
}

/* Behind its aliases, comments and empty lines. */
static const char *end_of_head(const char *text) {
  while (*text) {
    const char *first = text + strspn(text, " \t\r");
    if (is_alias(text))
      text = end_of_alias(text);
    else if (*first == '\n' || !strncmp(first, "//", 2))
      text = next_line(text);
    else
      break;
  }
  return text;
}

static int count_lines(const char *text, const char *end) {
  int lines = 1;
  for (; text < end; text++)
    lines += *text == '\n';
  return lines;
}

/* What is put around a text whose functions begin at `body`. */
static ws_mlir_frame frame_of(const char *text, const char *body, size_t before,
                              size_t opening) {
  const char *end = text + strlen(text);
  while (end > text && strchr(" \t\r\n", end[-1]))
    end--;
  const char *line = end;
  while (line > text && line[-1] != '\n')
    line--;
  return (ws_mlir_frame){.before = (int)before,
                         .open_line = count_lines(text, body),
                         .opening = (int)opening,
                         .last_line = count_lines(text, end),
                         .last_end = (int)(end - line) + 1};
}

size_t ws__mlir_mark_size(const char *text) {
  return strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3;
}

bool ws__mlir_is_text(const ws_mlir *m, const char *text) {
  if (strncmp(text, "ML\xefR", 4))
    return true;
  ws_findings_add(m->findings, "mlir", "", m->file, 1,
                  "this is MLIR's bytecode, in which findings have no lines: "
                  "give the text, which `mlir-opt FILE` prints");
  return false;
}

/* Reading may not come to an end, and is not of the template's text then. */
static MlirOperation parse_at_place(const ws_mlir *m, const char *text,
                                    size_t size) {
  ws_job_place none = {.line = 0}, *place = m->place ? m->place : &none;
  const ws_job_place before = *place;
  ws__job_place_begin(place, m->file);
  MlirOperation module = mlirOperationCreateParse(
      m->context, mlirStringRefCreate(text, size), ws__mlir_ref(m->file));
  *place = before;
  return module;
}

MlirOperation ws__mlir_parse_functions(ws_mlir *m, const char *text,
                                       const char *close,
                                       const char *template_text) {
  static const char open[] = "module { ";
  ws_strbuf whole;
  if (!ws__mlir_is_text(m, text))
    return (MlirOperation){NULL};
  text += ws__mlir_mark_size(text);
  ws_strbuf_init(&whole);
  put_aliases(template_text, text, &whole);
  const char *body = end_of_head(text);
  m->frame = frame_of(text, body, whole.size, sizeof open - 1);
  ws_strbuf_append(&whole, text, (size_t)(body - text));
  ws_strbuf_printf(&whole, "%s%s\n%s }", open, body, close);
  MlirOperation module = parse_at_place(m, whole.data, whole.size);
  ws_strbuf_deinit(&whole);
  return module;
}
