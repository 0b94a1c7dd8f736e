/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A reply's text as lines and sections. Thinking and a fence around the whole
 * are blanked out first, so that line numbers stay those of the reply; then
 * one pass with a small state: in a fence or not, in an edit or not.
 */
#include "reply.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static void blank_out(char *begin, const char *end) {
  for (; begin < end; begin++)
    if (*begin != '\n')
      *begin = ' ';
}

/* ---- before the lines ---------------------------------------------------- */

/* A copy with "\n" as the only end of a line. */
static char *copy_text(ws_arena *arena, const char *text) {
  if (!strncmp(text, "\xEF\xBB\xBF", 3)) /* byte order mark */
    text += 3;
  char *copy = ws_arena_strdup(arena, text);
  size_t used = 0;
  for (size_t i = 0; copy[i]; i++)
    if (copy[i] != '\r')
      copy[used++] = copy[i];
    else if (copy[i + 1] != '\n')
      copy[used++] = '\n';
  copy[used] = '\0';
  return copy;
}

/* Behind the next "</think>" or "</thinking>"; NULL: there is none. */
static char *end_of_thinking(char *at) {
  at = strcasestr(at, "</think");
  if (!at)
    return NULL;
  at += strcspn(at, ">\n");
  return at + (*at == '>');
}

static char *next_line(char *at) {
  char *end = strchr(at, '\n');
  return end ? end + 1 : at + strlen(at);
}

/* Some servers drop the opening sign: then all before the last closing one is
 * thinking. Without a closing one, all behind the opening one. */
static void blank_thinking(char *text) {
  static const char sign[] = "<think";
  bool opened = false;
  char *closed = NULL;
  for (char *at = text; *at; at = next_line(at)) {
    at += strspn(at, " \t");
    if (strncasecmp(at, sign, sizeof sign - 1))
      continue;
    char *end = end_of_thinking(at);
    if (!end)
      end = at + strlen(at);
    blank_out(at, end);
    opened = true;
    at = end;
  }
  for (char *at = text; !opened && (at = end_of_thinking(at));)
    closed = at;
  if (closed)
    blank_out(text, closed);
}

static void split_lines(ws__reply_text *reply, char *text) {
  int count = 1;
  for (const char *c = text; *c; c++)
    count += *c == '\n';
  reply->lines =
      ws_arena_alloc(reply->arena, (size_t)count * sizeof *reply->lines);
  for (char *line = text; line;) {
    char *end = strchr(line, '\n');
    if (end)
      *end++ = '\0';
    reply->lines[reply->line_count++].text = line;
    line = end;
  }
}

/* ---- fences -------------------------------------------------------------- */

bool ws__read_fence(const char *line, ws__fence *out_fence) {
  line = ws__skip_blanks(line);
  char sign = *line;
  if (sign != '`' && sign != '~')
    return false;
  size_t length = 0;
  while (line[length] == sign)
    length++;
  *out_fence = (ws__fence){sign, length, ws__skip_blanks(line + length)};
  return length >= 3 && !(sign == '`' && strchr(out_fence->info, '`'));
}

static int next_written_line(const ws__reply_text *reply, int index) {
  while (index < reply->line_count && ws__is_blank(reply->lines[index].text))
    index++;
  return index;
}

static int first_fence(const ws__reply_text *reply, ws__fence *out_fence) {
  for (int i = 0; i < reply->line_count; i++)
    if (ws__read_fence(reply->lines[i].text, out_fence))
      return i;
  return -1;
}

/* The whole reply as a "markdown" block: the first fence, before any heading,
 * right before the first one. Its end is the last bare fence. */
static void drop_outer_fence(ws__reply_text *reply, ws_request_kind kind) {
  ws__fence outer, fence;
  ws__section section;
  const char *value;
  int open = first_fence(reply, &outer);
  if (open < 0)
    return;
  bool markdown =
      !strcasecmp(outer.info, "markdown") || !strcasecmp(outer.info, "md");
  bool plain = !*outer.info && open == next_written_line(reply, 0);
  int next = next_written_line(reply, open + 1);
  if ((!markdown && !plain) || next == reply->line_count ||
      !ws__read_heading(reply->arena, reply->lines[next].text, kind, &section,
                        &value))
    return;
  reply->lines[open].text[0] = '\0';
  for (int i = reply->line_count - 1; i > open; i--)
    if (ws__read_fence(reply->lines[i].text, &fence) && !*fence.info &&
        fence.sign == outer.sign && fence.length >= outer.length) {
      reply->lines[i].text[0] = '\0';
      return;
    }
}

/* ---- the pass ------------------------------------------------------------ */

typedef enum edit_state { NO_EDIT, IN_SEARCH, IN_REPLACE } edit_state;

typedef struct scanner {
  ws__reply_text *reply;
  ws_request_kind kind;
  ws__section *open; /* NULL: before the first */
  ws__fence fence;   /* length 0: none is open */
  int fence_line;
  edit_state edit;
  int edit_line;
  int capacity;
} scanner;

/* Behind five or more of the sign; NULL: there are fewer. */
static const char *skip_sign(const char *line, char sign) {
  line = ws__skip_blanks(line);
  size_t length = 0;
  while (line[length] == sign)
    length++;
  return length < 5 ? NULL : ws__skip_blanks(line + length);
}

/* Five or more of the sign and nothing else but the word, or no word. */
static bool is_sign(const char *line, char sign, const char *word) {
  line = skip_sign(line, sign);
  if (!line)
    return false;
  size_t size = strlen(word);
  if (!strncasecmp(line, word, size))
    line += size;
  return ws__is_blank(line);
}

const char *ws__read_lines_sign(const char *line) {
  static const char word[] = "lines", one[] = "line";
  line = skip_sign(line, '<');
  if (!line || strncasecmp(line, one, sizeof one - 1))
    return NULL;
  bool plural = !strncasecmp(line, word, sizeof word - 1);
  return line + (plural ? sizeof word : sizeof one) - 1;
}

static bool is_search(const char *line) {
  return is_sign(line, '<', "search") || ws__read_lines_sign(line);
}
static bool is_middle(const char *line) { return is_sign(line, '=', ""); }
static bool is_replace(const char *line) {
  return is_sign(line, '>', "replace");
}

static ws_status scan_edit(scanner *s, int index, ws_diag *diag) {
  ws__line *line = &s->reply->lines[index];
  line->kind = WS__LINE_EDIT;
  if (is_search(line->text))
    return WS__REPLY_FAIL(diag, s->edit_line,
                          "another edit begins on line %d before this one has "
                          "its '%s'; write SEARCH, =======, REPLACE",
                          index + 1,
                          s->edit == IN_SEARCH ? "=======" : ">>>>>>> REPLACE");
  if (s->edit == IN_SEARCH && is_replace(line->text))
    return WS__REPLY_FAIL(diag, s->edit_line,
                          "the edit has no '=======' before line %d",
                          index + 1);
  if (is_middle(line->text)) {
    if (s->edit == IN_REPLACE)
      return WS__REPLY_FAIL(diag, s->edit_line,
                            "the edit has a second '=======' on line %d",
                            index + 1);
    line->kind = WS__LINE_MIDDLE;
    s->edit = IN_REPLACE;
  } else if (is_replace(line->text)) {
    line->kind = WS__LINE_REPLACE;
    s->edit = NO_EDIT;
  }
  return WS_OK;
}

static bool takes_edits(const scanner *s) {
  return s->open && (s->open->kind == WS__SECTION_REGION ||
                     s->open->kind == WS__SECTION_TEMPLATE);
}

static bool begin_edit(scanner *s, int index) {
  if (!takes_edits(s) || !is_search(s->reply->lines[index].text))
    return false;
  s->reply->lines[index].kind = WS__LINE_SEARCH;
  s->edit = IN_SEARCH;
  s->edit_line = index;
  return true;
}

static void scan_fenced(scanner *s, int index) {
  ws__line *line = &s->reply->lines[index];
  ws__fence fence;
  line->kind = WS__LINE_FENCED;
  if (ws__read_fence(line->text, &fence) && fence.sign == s->fence.sign &&
      fence.length >= s->fence.length && !*fence.info) {
    line->kind = WS__LINE_FENCE;
    s->fence.length = 0;
  } else {
    begin_edit(s, index);
  }
}

static void end_section(scanner *s, int index) {
  if (s->open)
    s->open->end = index;
}

/* What stands behind the heading on its line is the first line of the content
 * (as reply->lines[heading]). */
static void begin_section(scanner *s, int index, const ws__section *section,
                          const char *value) {
  ws__reply_text *reply = s->reply;
  end_section(s, index);
  if (reply->section_count == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 16;
    ws__section *larger = ws_arena_alloc(
        reply->arena, (size_t)s->capacity * sizeof *reply->sections);
    if (reply->section_count)
      memcpy(larger, reply->sections,
             (size_t)reply->section_count * sizeof *larger);
    reply->sections = larger;
  }
  s->open = &reply->sections[reply->section_count++];
  *s->open = *section;
  s->open->heading = index;
  s->open->begin = ws__is_blank(value) ? index + 1 : index;
  reply->lines[index].text = ws_arena_strdup(reply->arena, value);
}

static ws_status scan_stray_sign(const scanner *s, int index, ws_diag *diag) {
  const char *line = s->reply->lines[index].text;
  if (!takes_edits(s) || (!is_middle(line) && !is_replace(line)))
    return WS_OK;
  return WS__REPLY_FAIL(diag, index,
                        "'%.7s' without a '<<<<<<< SEARCH' before it",
                        ws__skip_blanks(line));
}

static ws_status scan_line(scanner *s, int index, ws_diag *diag) {
  ws__line *line = &s->reply->lines[index];
  ws__section section;
  const char *value;
  if (s->edit != NO_EDIT)
    return scan_edit(s, index, diag);
  if (s->fence.length) {
    scan_fenced(s, index);
  } else if (ws__read_fence(line->text, &s->fence)) {
    line->kind = WS__LINE_FENCE;
    s->fence_line = index;
  } else {
    s->fence.length = 0;
    if (begin_edit(s, index))
      return WS_OK;
    WS_TRY(scan_stray_sign(s, index, diag));
    if (ws__read_heading(s->reply->arena, line->text, s->kind, &section,
                         &value))
      begin_section(s, index, &section, value);
  }
  return WS_OK;
}

static ws_status scan_lines(ws__reply_text *reply, ws_request_kind kind,
                            ws_diag *diag) {
  scanner s = {.reply = reply, .kind = kind};
  for (int i = 0; i < reply->line_count; i++) {
    WS_TRY(scan_line(&s, i, diag));
    if (s.open && s.open->kind == WS__SECTION_FINDINGS)
      break; /* a document of its own, with headings of its own */
  }
  end_section(&s, reply->line_count);
  if (s.edit != NO_EDIT)
    return WS__REPLY_FAIL(diag, s.edit_line,
                          "the edit is not closed by '>>>>>>> REPLACE'; the "
                          "reply seems to be cut off");
  if (s.fence.length)
    return WS__REPLY_FAIL(diag, s.fence_line,
                          "the fence is not closed; the reply seems to be cut "
                          "off");
  return WS_OK;
}

ws_status ws__reply_scan(ws_arena *arena, const char *text,
                         ws_request_kind kind, ws__reply_text *out_reply,
                         ws_diag *diag) {
  *out_reply = (ws__reply_text){.arena = arena};
  size_t size = strnlen(text, WS__REPLY_BYTES + 1);
  if (size > WS__REPLY_BYTES)
    return ws_fail(diag, WS_INPUT, "reply", 0,
                   "it has more than %d bytes; answer with the sections that "
                   "were asked for only",
                   WS__REPLY_BYTES);
  if (!text[strspn(text, " \t\r\n")])
    return ws_fail(diag, WS_INPUT, NULL, 0, "the reply is empty");
  char *copy = copy_text(arena, text);
  blank_thinking(copy);
  if (!copy[strspn(copy, " \t\n")])
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the reply is empty but for its thinking; answer after it");
  split_lines(out_reply, copy);
  drop_outer_fence(out_reply, kind);
  return scan_lines(out_reply, kind, diag);
}
