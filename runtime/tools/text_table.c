/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tables and foreign text on a terminal.
 */
#include "text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char gap[] = "  ";

/* ---- characters ---- */
/* Bytes of the character at text: of UTF-8 as far as it is well formed, else
 * 1. */
static int character_size(const char *text) {
  unsigned char first = (unsigned char)*text;
  int size = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (int i = 1; i < size; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80)
      return 1;
  return size;
}

/* C0 and C1 controls, and bytes that are no UTF-8. */
static bool is_unsafe(const char *text, int size) {
  unsigned char first = (unsigned char)*text;
  if (size == 1)
    return first < 0x20 || first >= 0x7f;
  return first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

static int width_of(const char *text) {
  int width = 0;
  for (; *text; text += character_size(text))
    width++;
  return width;
}

/* allowed: control characters that pass. */
static void print_safe(const char *text, const char *allowed) {
  for (int size; *text; text += size) {
    size = character_size(text);
    if (is_unsafe(text, size) && !(size == 1 && strchr(allowed, *text)))
      putchar('?');
    else
      fwrite(text, 1, (size_t)size, stdout);
  }
}

void text_print_plain(const char *text) { print_safe(text, "\n\t"); }

void text_printf_plain(const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&text, format, arguments);
  va_end(arguments);
  WS_ASSERT(size >= 0);
  text_print_plain(text);
  free(text);
}

/* ---- tables ---- */
text_table text_table_create(ws_arena *arena, const char *alignment,
                             const char *const *headings) {
  text_table table = {.arena = arena,
                      .columns = (int)strlen(alignment),
                      .alignment = alignment};
  WS_ASSERT(table.columns <= TEXT_TABLE_COLUMNS);
  text_table_add(&table, headings);
  return table;
}

void text_table_add(text_table *table, const char *const *cells) {
  size_t row_size = sizeof *cells * (size_t)table->columns;
  if (table->rows == table->capacity) {
    int capacity = table->capacity ? 2 * table->capacity : 32;
    const char **larger =
        ws_arena_alloc(table->arena, row_size * (size_t)capacity);
    if (table->rows)
      memcpy(larger, table->cells, row_size * (size_t)table->rows);
    table->cells = larger;
    table->capacity = capacity;
  }
  memcpy(&table->cells[table->rows++ * table->columns], cells, row_size);
}

static void print_cell(const char *cell, int width, char alignment, bool last) {
  int blanks = width - width_of(cell);
  if (alignment == 'r')
    printf("%*s", blanks, "");
  print_safe(cell, "");
  if (alignment != 'r' && !last)
    printf("%*s", blanks, "");
  fputs(last ? "\n" : gap, stdout);
}

/* The last column that has something in this row, so that no line ends in
 * blanks. */
static int last_column(const text_table *table, const char *const *cells) {
  int last = table->columns - 1;
  while (last > 0 && !*cells[last])
    last--;
  return last;
}

void text_table_print(const text_table *table) {
  int widths[TEXT_TABLE_COLUMNS] = {0};
  for (int i = 0; i < table->rows * table->columns; i++) {
    int width = width_of(table->cells[i]);
    if (widths[i % table->columns] < width)
      widths[i % table->columns] = width;
  }
  for (int row = 0; row < table->rows; row++) {
    const char *const *cells = &table->cells[row * table->columns];
    int last = last_column(table, cells);
    for (int i = 0; i <= last; i++)
      print_cell(cells[i], widths[i], table->alignment[i], i == last);
  }
}
