/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which source line each instruction comes from.
 */
#ifndef WAVESMITH_SIM_LINE_TABLE_H
#define WAVESMITH_SIM_LINE_TABLE_H

#include "code_object.h"

typedef struct ws_line_source {
  const void *image; /* the ELF file */
  size_t size;
  uint64_t text_address; /* of the text in the ELF file */
  const ws_text *text;
} ws_line_source;

/* One line per instruction of text, in the arena; NULL: comgr cannot read the
 * line table. */
ws_line *ws__read_lines(ws_arena *arena, const ws_line_source *source);

#endif
