/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The line table through comgr's symbolizer, which answers in words:
 *   read8 at /tmp/kernel.hip:32:18
 *    (inlined by) gemm at /tmp/kernel.hip:60:16
 * The first line is the innermost inlined function. About a microsecond per
 * address, so all are asked for at once.
 */
#include "line_table.h"

#include <amd_comgr/amd_comgr.h>
#include <stdlib.h>

typedef struct reader {
  ws_arena *arena;
  ws_line line;
} reader;

/* The same text again, without another copy where it is that of before. */
static const char *keep(ws_arena *arena, const char *before, const char *text,
                        size_t size) {
  if (strlen(before) == size && !memcmp(before, text, size))
    return before;
  return ws_arena_strndup(arena, text, size);
}

/* Last place of " at ": a demangled name may have another. */
static const char *find_place(const char *text, const char *end) {
  for (const char *at = end - 4; at > text; at--)
    if (!memcmp(at, " at ", 4))
      return at;
  return NULL;
}

/* The text up to its last colon; the number behind it goes to *out. */
static const char *cut_number(const char *text, const char *end, int *out) {
  const char *colon = end;
  while (colon > text && *--colon != ':')
    ;
  *out = colon > text ? (int)strtol(colon + 1, NULL, 10) : 0;
  return colon;
}

static void read_line(const char *text, void *user_data) {
  reader *in = user_data;
  const char *end = text + strcspn(text, "\n");
  const char *at = end - text >= 4 ? find_place(text, end) : NULL;
  int column, number;
  if (!at || !strncmp(text, "??", 2)) {
    in->line = (ws_line){"", "", 0};
    return;
  }
  const char *file = at + strlen(" at ");
  end = cut_number(file, end, &column);
  end = cut_number(file, end, &number);
  if (!strncmp(file, "??", 2))
    end = file;
  in->line = (ws_line){
      keep(in->arena, in->line.region, text, (size_t)(at - text)),
      keep(in->arena, in->line.file, file, (size_t)(end - file)), number};
}

static ws_line *read_all(amd_comgr_symbolizer_info_t info, reader *in,
                         uint64_t text_address, const ws_text *text) {
  ws_line *lines = ws_arena_alloc(in->arena, text->count * sizeof *lines);
  for (uint32_t i = 0; i < text->count; i++) {
    bool past_end = text->items[i].offset >= text->size;
    if (past_end || amd_comgr_symbolize(
                        info, text_address + text->items[i].offset, true, in))
      in->line = (ws_line){"", "", 0};
    lines[i] = in->line;
  }
  return lines;
}

ws_line *ws__read_lines(ws_arena *arena, const void *image, size_t size,
                        uint64_t text_address, const ws_text *text) {
  amd_comgr_data_t data;
  amd_comgr_symbolizer_info_t info;
  reader in = {.arena = arena, .line = {"", "", 0}};
  ws_line *lines = NULL;
  if (amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data))
    return NULL;
  if (!amd_comgr_set_data(data, size, image) &&
      !amd_comgr_create_symbolizer_info(data, read_line, &info)) {
    lines = read_all(info, &in, text_address, text);
    amd_comgr_destroy_symbolizer_info(info);
  }
  amd_comgr_release_data(data);
  return lines;
}
