/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * UTF-8 by the table of RFC 3629, and which characters a terminal may get.
 * What is held back: controls steer it; marks of direction show text in
 * another order than it has; characters without width hide in a name; the
 * separators U+2028 and U+2029 break lines.
 */
#include "wavesmith/text.h"

#include <string.h>

size_t ws_text_character(const char *text, size_t left) {
  static const struct {
    unsigned char first_low, first_high, second_low, second_high;
    size_t size;
  } forms[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
               {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
               {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
               {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  const unsigned char *bytes = (const unsigned char *)text;
  if (bytes[0] < 0x80)
    return 1;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (bytes[0] < forms[i].first_low || bytes[0] > forms[i].first_high)
      continue;
    if (left < forms[i].size || bytes[1] < forms[i].second_low ||
        bytes[1] > forms[i].second_high)
      return 0;
    for (size_t k = 2; k < forms[i].size; k++)
      if ((bytes[k] & 0xc0) != 0x80)
        return 0;
    return forms[i].size;
  }
  return 0;
}

bool ws_text_is_utf8(const char *text, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t step = ws_text_character(text + at, size - at);
    if (!step)
      return false;
    at += step;
  }
  return true;
}

size_t ws_text_cut(const char *text, size_t size, size_t limit) {
  if (size <= limit)
    return size;
  size = limit;
  while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
    size--;
  return size;
}

static uint32_t code_point(const char *text, size_t size) {
  static const unsigned char first_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t code = (unsigned char)text[0] & first_mask[size];
  for (size_t i = 1; i < size; i++)
    code = code << 6 | ((unsigned char)text[i] & 0x3f);
  return code;
}

/* Of Unicode 15: controls; Bidi_Control, Default_Ignorable and separators of
 * the blocks that have no use in a line of text. */
static bool is_held_back(uint32_t code) {
  static const struct {
    uint32_t first, last;
  } ranges[] = {{0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},
                {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},
                {0x2028, 0x202e}, {0x2060, 0x206f},   {0xfeff, 0xfeff},
                {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (code >= ranges[i].first && code <= ranges[i].last)
      return true;
  return false;
}

static void put_code(ws_strbuf *out, uint32_t code) {
  if (code < 0x10000)
    ws_strbuf_printf(out, "\\u%04x", (unsigned)code);
  else /* a pair of surrogates, as in JSON */
    ws_strbuf_printf(out, "\\u%04x\\u%04x",
                     (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                     (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
}

/* Bytes at the front that are printable ASCII, tabs or line ends. */
static size_t plain_size(const char *text, size_t size, bool one_line) {
  size_t at = 0;
  while (at < size && ((text[at] >= ' ' && text[at] < 0x7f) ||
                       (!one_line && (text[at] == '\n' || text[at] == '\t'))))
    at++;
  return at;
}

void ws_text_show(ws_strbuf *out, const char *text, size_t size,
                  bool one_line) {
  for (size_t at = 0; at < size;) {
    size_t plain = plain_size(text + at, size - at, one_line);
    ws_strbuf_append(out, text + at, plain);
    at += plain;
    if (at == size)
      return;
    size_t step = ws_text_character(text + at, size - at);
    uint32_t code = step ? code_point(text + at, step) : 0;
    if (!step)
      ws_strbuf_puts(out, "\xef\xbf\xbd");
    else if (one_line && (code == '\n' || code == '\r' || code == '\t'))
      ws_strbuf_puts(out, " ");
    else if (is_held_back(code))
      put_code(out, code);
    else
      ws_strbuf_append(out, text + at, step);
    at += step ? step : 1;
  }
}

int ws_text_width(const char *text, size_t size) {
  int width = 0;
  for (size_t at = 0, step; at < size; at += step, width++) {
    step = ws_text_character(text + at, size - at);
    step += !step; /* a byte that is no character is shown as one */
  }
  return width;
}

void ws_text_print_wrapped(FILE *out, int width, int column, int indent,
                           const char *text) {
  ws_strbuf shown;
  ws_strbuf_init(&shown);
  ws_text_show(&shown, text, strlen(text), true);
  for (const char *at = shown.data; *at;) {
    int blanks = (int)strspn(at, " ");
    const char *word = at + blanks;
    size_t size = strcspn(word, " ");
    int word_width = ws_text_width(word, size);
    if (column > indent && column + blanks + word_width > width) {
      fprintf(out, "\n%*s", indent, "");
      column = indent;
      blanks = 0;
    }
    fprintf(out, "%*s%.*s", blanks, "", (int)size, word);
    column += blanks + word_width;
    at = word + size;
  }
  fputc('\n', out);
  ws_strbuf_deinit(&shown);
}
