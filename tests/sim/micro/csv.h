/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A table of measurements: lines of values with commas between, the first of
 * which names the columns. Nothing is quoted. Columns are found by name.
 */
#ifndef WS_MICRO_CSV_H
#define WS_MICRO_CSV_H

#include "wavesmith/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_COLUMNS = 24, CSV_ROWS = 4096 };

typedef struct csv_row {
  const struct csv *table;
  char *cells[CSV_COLUMNS];
  int index; /* among the rows of the table */
} csv_row;

typedef struct csv {
  char *names[CSV_COLUMNS];
  int column_count;
  csv_row rows[CSV_ROWS];
  int row_count;
} csv;

static int csv_split(char *line, char **out_cells) {
  int count = 0;
  char *rest = NULL;
  for (char *cell = strtok_r(line, ",\r", &rest); cell && count < CSV_COLUMNS;
       cell = strtok_r(NULL, ",\r", &rest))
    out_cells[count++] = cell;
  return count;
}

/* Lives in the arena. */
static csv *csv_parse(ws_arena *arena, char *text) {
  csv *table = ws_arena_alloc(arena, sizeof *table);
  char *rest = NULL, *line = strtok_r(text, "\n", &rest);
  table->column_count = line ? csv_split(line, table->names) : 0;
  while ((line = strtok_r(NULL, "\n", &rest)) && table->row_count < CSV_ROWS) {
    csv_row *row = &table->rows[table->row_count];
    *row = (csv_row){.table = table, .index = table->row_count};
    table->row_count += csv_split(line, row->cells) == table->column_count;
  }
  return table;
}

static const char *csv_text(const csv_row *row, const char *column) {
  for (int i = 0; i < row->table->column_count; i++)
    if (!strcmp(row->table->names[i], column))
      return row->cells[i];
  fprintf(stderr, "the data has no column %s\n", column);
  exit(1);
}

static double csv_number(const csv_row *row, const char *column) {
  return strtod(csv_text(row, column), NULL);
}

static int64_t csv_int(const csv_row *row, const char *column) {
  return strtoll(csv_text(row, column), NULL, 10);
}

#endif
