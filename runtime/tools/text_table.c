/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Columns as wide as their widest cell.
 */
#include "text_table.h"

#include "wavesmith/text.h"

#include <stdio.h>
#include <string.h>

static const char gap[] = "  ";

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

/* A cell as it is shown: on one line. */
static const char *shown_cell(ws_arena *arena, const char *cell) {
  ws_strbuf shown;
  ws_strbuf_init(&shown);
  ws_text_show(&shown, cell, strlen(cell), true);
  char *copy = ws_arena_strdup(arena, shown.data);
  ws_strbuf_deinit(&shown);
  return copy;
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
  for (int i = 0; i < table->columns; i++)
    table->cells[table->rows * table->columns + i] =
        shown_cell(table->arena, cells[i]);
  table->rows++;
}

static int width_of(const char *cell) {
  return ws_text_width(cell, strlen(cell));
}

static void print_cell(const char *cell, int width, char alignment, bool last) {
  int blanks = width - width_of(cell);
  if (alignment == 'r')
    printf("%*s", blanks, "");
  fputs(cell, stdout);
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
