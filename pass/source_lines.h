/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where things stand in the text of an IR file. LLVM's parser keeps no line
 * numbers, so they are read off the text: one place per instruction of
 * each function, in order. Plain text work; no LLVM here.
 */
#ifndef WAVESMITH_SOURCE_LINES_H
#define WAVESMITH_SOURCE_LINES_H

#include "wavesmith/base.h"

/* Counted from 1, in bytes. */
typedef struct ws_source_place {
  int line, column;
} ws_source_place;

/* One `define`. places[i] is where its i-th instruction starts. */
typedef struct ws_source_function {
  struct ws_source_function *next;
  const char *name; /* into the text, without '@' and quotes */
  size_t name_size;
  int line;
  ws_source_place *places;
  int count;
} ws_source_function;

/* The functions of the text in order. What it cannot follow (an instruction
 * broken across lines in an unusual place) shows as a count that differs from
 * the module's; the caller then uses the function's line. Never fails. */
ws_source_function *ws_source_functions(ws_arena *arena, const char *text,
                                        size_t size);

/* The column of a line's first character that is no blank; 0: there is none. */
int ws_source_column(const char *text, size_t size, int line);

/* One `!name = !{!3, !7}`. lines[i] is where the i-th operand's node is
 * defined (the named metadata's own line when it cannot be found). */
typedef struct ws_source_metadata {
  struct ws_source_metadata *next;
  const char *name; /* into the text, without '!' */
  size_t name_size;
  int line;
  long *ids;
  int *lines;
  int count;
} ws_source_metadata;

/* All named metadata in order; a name may come more than once, its operands
 * then follow each other as LLVM has them. Never fails. */
ws_source_metadata *ws_source_named_metadata(ws_arena *arena, const char *text,
                                             size_t size);

#endif
