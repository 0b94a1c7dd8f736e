/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tables that people read: columns as wide as their widest cell, counted in
 * characters of UTF-8. Cells come from files and models: each is shown on one
 * line (ws_text_show).
 */
#ifndef WAVESMITH_TEXT_TABLE_H
#define WAVESMITH_TEXT_TABLE_H

#include "wavesmith/base.h"

enum { TEXT_TABLE_COLUMNS = 12, TEXT_COLUMNS = 100 /* of a line */ };
typedef struct text_table {
  ws_arena *arena;
  int columns;
  const char *alignment; /* by column: 'l' or 'r' */
  const char **cells;    /* by row, then column; row 0 is the heading */
  int rows, capacity;
} text_table;

/* headings: as many as alignment has letters, at most TEXT_TABLE_COLUMNS. */
text_table text_table_create(ws_arena *arena, const char *alignment,
                             const char *const *headings);
/* The cells are copied. */
void text_table_add(text_table *table, const char *const *cells);
void text_table_print(const text_table *table); /* to stdout */

#endif
