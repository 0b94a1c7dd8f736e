/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith sim --compare`: measured times of a CSV beside simulated ones.
 */
#ifndef WAVESMITH_SIM_COMPARE_H
#define WAVESMITH_SIM_COMPARE_H

#include "sim_options.h"

/* Prints to stdout. WS_INPUT names the line of the file. */
ws_status sim_compare(const sim_options *options, ws_diag *diag) WS_MUST_CHECK;

/* ---- the file (sim_csv.c) --------------------------------------------------
 * The first line names columns: those of sim_columns are read, others are left
 * alone. RFC 4180: a field with a comma, a quote or a line's end is in quotes.
 */
typedef struct sim_row {
  sim_options options;   /* as of a call of `wavesmith sim` */
  const char *family;    /* "" */
  const char *group;     /* of rows that compete; NULL: those of its shape */
  const char *residency; /* "cold", "warm", "flushed"; NULL: as
                          * WAVESMITH_SIM_RESIDENCY says */
  double us;             /* measured */
  int line;
} sim_row;
/* At least one row; texts in the arena. */
ws_status sim_read_csv(ws_arena *arena, const sim_options *base,
                       const char *path, sim_row **out_rows, int *out_count,
                       ws_diag *diag) WS_MUST_CHECK;

#endif
