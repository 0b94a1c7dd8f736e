/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One line of what a server said, short enough to be shown.
 */
#include "http_text.h"
#include "wavesmith/text.h"

#include <string.h>

char *ws__text_one_line(ws_arena *arena, const char *text, size_t limit) {
  size_t left = strlen(text), used = 0, cut = 0; /* cut: room for "..." */
  char *line = ws_arena_alloc(arena, limit + 1);
  while (left) {
    size_t step = ws_text_character(text, left);
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
