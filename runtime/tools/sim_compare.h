/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith sim --compare`: measured times of a CSV beside simulated ones.
 */
#ifndef WAVESMITH_SIM_COMPARE_H
#define WAVESMITH_SIM_COMPARE_H

#include "sim_options.h"
#include "wavesmith/comparison.h"
#include "wavesmith/sim_correction.h"

/* Prints to stdout. WS_INPUT names the line of the file. */
ws_status sim_compare(const sim_options *options, ws_diag *diag) WS_MUST_CHECK;

/* ---- the file (sim_csv.c) --------------------------------------------------
 * The first line names columns: those of sim_columns are read, others are left
 * alone. RFC 4180: a field with a comma, a quote or a line's end is in quotes.
 */
typedef struct sim_row {
  sim_options options; /* as of a call of `wavesmith sim` */
  const char *family;  /* "" */
  const char *group;   /* of rows that compete; NULL: those of its shape */
  const char *part; /* of its family, left out as one; NULL: as sim_compared */
  const char *residency; /* "cold", "warm", "flushed"; NULL: as
                          * WAVESMITH_SIM_RESIDENCY says */
  const char *report;    /* of what was simulated before; NULL: options say what
                          * is to be */
  double us;             /* measured */
  double simulated_us;   /* of a report; 0: all of its launches */
  int line;
} sim_row;
/* At least one row; texts in the arena. */
ws_status sim_read_csv(ws_arena *arena, const sim_options *base,
                       const char *path, sim_row **out_rows, int *out_count,
                       ws_diag *diag) WS_MUST_CHECK;

/* ---- launches that were simulated (sim_report.c) ---------------------------
 */
typedef struct sim_launches {
  double us;         /* of all */
  double longest_us; /* of those with a profile; 0: there is none */
  const char *bound; /* of the longest; in the arena */
  double features[WS_SIM_FEATURES];
  bool corrected;    /* one or more, by a learned correction */
  const char *wrong; /* NULL, or why these are not the figures of launches */
} sim_launches;
sim_launches sim_read_report(ws_arena *arena, const char *report);

/* ---- rows with both times --------------------------------------------------
 */
typedef struct sim_compared {
  ws_arena *arena;
  ws_compared_row *rows;
  const char **families;
  const char **parts; /* NULL: rows that compete with it, if there are so many
                       * that they have a rank, else its family */
  int count;
} sim_compared;
/* Room for capacity rows. */
sim_compared sim_compared_create(ws_arena *arena, int capacity);

/* ---- learned corrections (sim_corrections.c) -------------------------------
 */
typedef struct sim_corrections sim_corrections;
/* What those learned from the rows are worth on parts and families that were
 * left out. At least one row; in the arena. */
const sim_corrections *sim_corrections_try(const sim_compared *rows);
void sim_corrections_print(const sim_corrections *tried);
/* Members of json. */
struct cJSON;
void sim_corrections_to_json(const sim_corrections *tried, struct cJSON *json);
/* One of all rows as --fit-correction's profile, where it helps; a line says
 * so. */
ws_status sim_corrections_write(const sim_corrections *tried,
                                const sim_options *options,
                                ws_diag *diag) WS_MUST_CHECK;

#endif
