/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the user sees while tuning: one redrawn line on a terminal, a plain
 * line every few seconds elsewhere (both on stderr), or JSON lines on stdout.
 */
#ifndef WAVESMITH_SEARCH_PROGRESS_H
#define WAVESMITH_SEARCH_PROGRESS_H

#include "wavesmith/build.h"

typedef struct ws__progress {
  bool json, terminal;
  double start_ms, next_ms;
} ws__progress;

/* What became of a run's requests. Written by apply.c. */
typedef struct ws__counts {
  int64_t evaluated, replayed; /* candidates: new, known from the archive */
  int64_t further;             /* known kernels, on further shapes */
  int64_t refused;             /* replies that held none */
  int64_t moves;               /* of all these: small moves, beyond the limit */
  int64_t documents;
  int64_t verdicts[WS_VERDICT_COUNT];
} ws__counts;

typedef struct ws__progress_state {
  const ws__counts *counts;
  int64_t evaluation_limit; /* <= 0: none */
  double deadline_ms;       /* INFINITY: none */
  double best_geomean_us;   /* 0: none yet */
  const char *best_provenance;
  const char *provenance;    /* of the device; "": none */
  int64_t timed, refuted;    /* there */
  int64_t questions, tokens; /* models; 0: none */
  double usd;
} ws__progress_state;

void ws__progress_init(ws__progress *progress, bool json);
/* Shows state when it is time to. */
void ws__progress_show(ws__progress *progress, const ws__progress_state *state);
/* Shows the last state and leaves the line. */
void ws__progress_end(ws__progress *progress, const ws__progress_state *state);

#endif
