/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sections of code: the whole body of a region or of the template, or edits.
 */
#include "reply.h"

#include <math.h>
#include <string.h>

/* ---- blocks -------------------------------------------------------------- */

/* A fenced block; lines [begin, end) are its inside. */
typedef struct block {
  int begin, end;
  const char *info;
  bool has_edits, blank;
} block;

/* The next fenced block of [*at, end), after which *at stands behind it. */
static bool next_block(const ws__reply_text *reply, int *at, int end,
                       block *out_block) {
  const ws__line *lines = reply->lines;
  ws__fence fence;
  while (*at < end && lines[*at].kind != WS__LINE_FENCE)
    ++*at;
  if (*at == end || !ws__read_fence(lines[*at].text, &fence))
    return false;
  *out_block = (block){++*at, end, fence.info, false, true};
  for (; *at < end && lines[*at].kind != WS__LINE_FENCE; ++*at) {
    out_block->has_edits |= lines[*at].kind == WS__LINE_SEARCH;
    out_block->blank &= ws__is_blank(lines[*at].text);
  }
  out_block->end = *at;
  *at += *at < end;
  return true;
}

/* A fence in a body: the one around it was not closed. */
static ws_status check_body(const ws__reply_text *reply, const block *b,
                            const char *text, ws_diag *diag) {
  ws__fence fence;
  for (int i = b->begin; i < b->end; i++)
    if (ws__read_fence(reply->lines[i].text, &fence))
      return WS__REPLY_FAIL(diag, b->begin - 1,
                            "the fence is not closed before the one on line %d",
                            i + 1);
  if (strlen(text) > WS__REPLY_BODY_BYTES)
    return WS__REPLY_FAIL(diag, b->begin - 1, "the body has more than %d bytes",
                          WS__REPLY_BODY_BYTES);
  return WS_OK;
}

/* Code without a fence, when there is nothing else: all of the section's
 * lines. */
static bool is_unfenced_body(const ws__reply_text *reply, int begin, int end) {
  bool open = false, close = false;
  for (int i = begin; i < end; i++) {
    if (reply->lines[i].kind != WS__LINE_TEXT)
      return false;
    open |= strchr(reply->lines[i].text, '{') != NULL;
    close |= strchr(reply->lines[i].text, '}') != NULL;
  }
  return open && close;
}

/* The one block with code in it; *out_block.begin < 0: none. */
static ws_status find_body(const ws__reply_text *reply,
                           const ws__section *section, block *out_block,
                           ws_diag *diag) {
  block b;
  *out_block = (block){.begin = -1, .info = ""};
  for (int at = section->begin; next_block(reply, &at, section->end, &b);) {
    if (b.has_edits || b.blank)
      continue;
    if (out_block->begin >= 0)
      return WS__REPLY_FAIL(diag, b.begin - 1,
                            "a second fenced block in a section that began on "
                            "line %d, which has one on line %d; two candidates "
                            "in one reply? give one",
                            section->heading + 1, out_block->begin);
    *out_block = b;
  }
  if (out_block->begin < 0 &&
      is_unfenced_body(reply, section->begin, section->end)) {
    out_block->begin = section->begin;
    out_block->end = section->end;
    while (ws__is_blank(reply->lines[out_block->end - 1].text))
      out_block->end--;
  }
  return WS_OK;
}

static ws_status read_body(const ws__reply_text *reply, const block *b,
                           const char **out_text, ws_diag *diag) {
  *out_text = ws__join_lines(reply, b->begin, b->end);
  return check_body(reply, b, *out_text, diag);
}

/* ---- language ------------------------------------------------------------ */

/* Whether a line of it begins so. */
static bool has_line(const ws__reply_text *reply, const block *b,
                     const char *begins) {
  for (int i = b->begin; i < b->end; i++)
    if (!strncmp(ws__skip_blanks(reply->lines[i].text), begins, strlen(begins)))
      return true;
  return false;
}

static const char *body_language(const ws__reply_text *reply, const block *b,
                                 const char *of_heading) {
  if (has_line(reply, b, "define "))
    return "ir";
  if (has_line(reply, b, "func.func "))
    return "mlir";
  if (*of_heading)
    return of_heading;
  const char *named = ws__language_named(b->info, strcspn(b->info, " \t{"));
  return named ? named : "opencl";
}

/* ---- regions ------------------------------------------------------------- */

static ws_reply_region *find_region(ws_reply *reply, const char *name) {
  ws_reply_region *regions = (ws_reply_region *)reply->regions;
  for (int i = 0; i < reply->region_count; i++)
    if (!strcmp(regions[i].region, name))
      return &regions[i];
  return NULL;
}

static ws_status get_region(const ws__reply_text *reply,
                            const ws__section *section, ws_reply *out_reply,
                            ws_reply_region **out_region, ws_diag *diag) {
  if (!*section->argument)
    return WS__REPLY_FAIL(diag, section->heading,
                          "the region has no name; write '## region NAME'");
  *out_region = find_region(out_reply, section->argument);
  if (*out_region)
    return WS_OK;
  if (out_reply->region_count == WS_TEMPLATE_MAX_REGIONS)
    return WS__REPLY_FAIL(diag, section->heading, "more than %d regions",
                          WS_TEMPLATE_MAX_REGIONS);
  ws_reply_region *regions = (ws_reply_region *)out_reply->regions;
  if (!regions)
    regions =
        ws_arena_alloc(reply->arena, WS_TEMPLATE_MAX_REGIONS * sizeof *regions);
  *out_region = &regions[out_reply->region_count++];
  **out_region = (ws_reply_region){.region = section->argument,
                                   .language = section->language,
                                   .line = section->heading + 1};
  out_reply->regions = regions;
  return WS_OK;
}

/* An edit's lines without the fence that may stand around them. */
static char *edit_text(const ws__reply_text *reply, int begin, int end) {
  ws__fence first, last;
  int inner = begin, outer = end;
  while (inner < end && ws__is_blank(reply->lines[inner].text))
    inner++;
  while (outer > inner && ws__is_blank(reply->lines[outer - 1].text))
    outer--;
  bool fenced =
      outer - inner >= 2 && ws__read_fence(reply->lines[inner].text, &first) &&
      ws__read_fence(reply->lines[outer - 1].text, &last) && !*last.info;
  return fenced ? ws__join_lines(reply, inner + 1, outer - 1)
                : ws__join_lines(reply, begin, end);
}

static int next_of_kind(const ws__reply_text *reply, int index,
                        ws__line_kind kind) {
  while (reply->lines[index].kind != kind)
    index++;
  return index;
}

/* The numbers of a sign with LINES; both 0: it is one without. */
static ws_status read_lines_of(const ws__reply_text *reply, int search,
                               ws_reply_edit *edit, ws_diag *diag) {
  const char *numbers = ws__read_lines_sign(reply->lines[search].text);
  double first = 0, last = 0;
  if (!numbers)
    return WS_OK;
  if (!ws__read_range(&numbers, false, &first, &last) || *numbers ||
      first < 1 || last > WS__REPLY_BODY_BYTES || first != floor(first) ||
      last != floor(last))
    return WS__REPLY_FAIL(diag, search,
                          "the edit's lines cannot be read; write '<<<<<<< "
                          "LINES FIRST LAST'");
  edit->first_line = (int)first;
  edit->last_line = (int)last;
  return WS_OK;
}

static ws_status check_edit(const ws_reply_edit *edit, ws_diag *diag) {
  const bool blank = !edit->search[strspn(edit->search, " \t\n")];
  if (blank && edit->first_line)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit does not repeat line %d; write it as it "
                          "stands, then '======='",
                          edit->first_line);
  if (blank)
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit's search text is empty; repeat the lines "
                          "that are to be replaced, or give the whole body");
  if (!edit->first_line && !strcmp(edit->search, edit->replace))
    return WS__REPLY_FAIL(diag, edit->line - 1,
                          "the edit changes nothing: its replacement is its "
                          "search text");
  return WS_OK;
}

/* The scan has seen that all three signs are there, in order. */
static ws_status read_edit(const ws__reply_text *reply, int search,
                           ws_reply_region *code, ws_diag *diag) {
  int middle = next_of_kind(reply, search, WS__LINE_MIDDLE);
  int replace = next_of_kind(reply, middle, WS__LINE_REPLACE);
  ws_reply_edit edit = {.search = edit_text(reply, search + 1, middle),
                        .replace = edit_text(reply, middle + 1, replace),
                        .line = search + 1};
  WS_TRY(read_lines_of(reply, search, &edit, diag));
  WS_TRY(check_edit(&edit, diag));
  if (code->edit_count == WS__REPLY_EDITS)
    return WS__REPLY_FAIL(diag, search, "more than %d edits of %s",
                          WS__REPLY_EDITS, ws__code_name(reply->arena, code));
  ws_reply_edit *edits = (ws_reply_edit *)code->edits;
  if (!edits)
    edits = ws_arena_alloc(reply->arena, WS__REPLY_EDITS * sizeof *edits);
  edits[code->edit_count++] = edit;
  code->edits = edits;
  return WS_OK;
}

static ws_status read_edits(const ws__reply_text *reply,
                            const ws__section *section, ws_reply_region *code,
                            ws_diag *diag) {
  for (int i = section->begin; i < section->end; i++)
    if (reply->lines[i].kind == WS__LINE_SEARCH)
      WS_TRY(read_edit(reply, i, code, diag));
  return WS_OK;
}

static ws_status set_body(const ws__reply_text *reply,
                          const ws__section *section, const block *b,
                          ws_reply_region *code, ws_diag *diag) {
  if (code->body)
    return WS__REPLY_FAIL(diag, section->heading,
                          "a second body of %s (the first is on line %d): two "
                          "candidates in one reply; give one",
                          ws__code_name(reply->arena, code), code->line);
  code->line = section->heading + 1;
  code->language = body_language(reply, b, section->language);
  return read_body(reply, b, &code->body, diag);
}

static ws_status read_code(const ws__reply_text *reply,
                           const ws__section *section, ws_reply_region *code,
                           ws_diag *diag) {
  const char *name = ws__code_name(reply->arena, code);
  block body;
  WS_TRY(read_edits(reply, section, code, diag));
  WS_TRY(find_body(reply, section, &body, diag));
  if (body.begin >= 0)
    WS_TRY(set_body(reply, section, &body, code, diag));
  if (!code->body && !code->edit_count)
    return WS__REPLY_FAIL(diag, section->heading,
                          "%s has neither a body nor edits; give one fenced "
                          "block, or SEARCH and REPLACE",
                          name);
  if (code->body && code->edit_count)
    return WS__REPLY_FAIL(diag, section->heading,
                          "%s has both a whole body (line %d) and edits (line "
                          "%d); give one of them",
                          name, code->line, code->edits[0].line);
  return WS_OK;
}

ws_status ws__read_region(const ws__reply_text *reply,
                          const ws__section *section, ws_reply *out_reply,
                          ws_diag *diag) {
  ws_reply_region *region;
  WS_TRY(get_region(reply, section, out_reply, &region, diag));
  return read_code(reply, section, region, diag);
}

ws_status ws__read_template(const ws__reply_text *reply,
                            const ws__section *section, ws_reply *out_reply,
                            ws_diag *diag) {
  ws_reply_region *code = ws_arena_alloc(reply->arena, sizeof *code);
  *code = (ws_reply_region){.region = "",
                            .language = section->language,
                            .line = section->heading + 1};
  out_reply->template_code = code;
  WS_TRY(read_code(reply, section, code, diag));
  return strcmp(code->language, "hip")
             ? WS_OK
             : WS__REPLY_FAIL(
                   diag, section->heading,
                   "a template is LLVM IR, MLIR or OpenCL C; HIP C++ is "
                   "for regions");
}
