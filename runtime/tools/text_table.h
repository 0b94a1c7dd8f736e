/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tables that people read: columns as wide as their widest cell. Cells come
 * from files and models, so control characters (escape sequences of terminals)
 * are shown as "?", and a width is counted in characters of UTF-8.
 */
#ifndef WAVESMITH_TEXT_TABLE_H
#define WAVESMITH_TEXT_TABLE_H

#include "wavesmith/base.h"

enum { TEXT_TABLE_COLUMNS = 12 };
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
/* Cells live as long as the table. */
void text_table_add(text_table *table, const char *const *cells);
void text_table_print(const text_table *table); /* to stdout */

/* Prints text with control characters other than line ends and tabs as "?". */
void text_print_plain(const char *text);
void text_printf_plain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
