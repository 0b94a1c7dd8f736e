/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * UTF-8 by the table of RFC 3629: no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 */
#include "http_text.h"

#include <string.h>

/* Bytes of the character at text; 0: not UTF-8. */
static size_t character_size(const unsigned char *text, size_t left) {
  static const struct {
    unsigned char first_low, first_high, second_low, second_high;
    size_t size;
  } forms[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
               {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
               {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
               {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  if (text[0] < 0x80)
    return 1;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (text[0] < forms[i].first_low || text[0] > forms[i].first_high)
      continue;
    if (left < forms[i].size || text[1] < forms[i].second_low ||
        text[1] > forms[i].second_high)
      return 0;
    for (size_t k = 2; k < forms[i].size; k++)
      if ((text[k] & 0xc0) != 0x80)
        return 0;
    return forms[i].size;
  }
  return 0;
}

bool ws__text_is_utf8(const char *text, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t step = character_size((const unsigned char *)text + at, size - at);
    if (!step)
      return false;
    at += step;
  }
  return true;
}

char *ws__text_one_line(ws_arena *arena, const char *text, size_t limit) {
  size_t left = strlen(text), used = 0, cut = 0; /* cut: room for "..." */
  char *line = ws_arena_alloc(arena, limit + 1);
  while (left) {
    size_t step = character_size((const unsigned char *)text, left);
    const char *shown = step ? text : "?";
    size_t size = step ? step : 1;
    if (size == 1 && ((unsigned char)*shown <= ' ' || *shown == 0x7f))
      shown = " ";
    text += size;
    left -= size;
    if (*shown == ' ' && (used == 0 || line[used - 1] == ' '))
      continue;
    if (used + size > limit) {
      memcpy(line + cut, "...", 3);
      used = cut + 3;
      break;
    }
    memcpy(line + used, shown, size);
    used += size;
    cut = used <= limit - 3 ? used : cut;
  }
  while (used && line[used - 1] == ' ')
    used--;
  line[used] = '\0';
  return line;
}
