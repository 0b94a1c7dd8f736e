/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tuning: strategies propose candidates, the evaluator judges them, the
 * archive keeps all of it.
 */
#ifndef WAVESMITH_SEARCH_H
#define WAVESMITH_SEARCH_H

#include "wavesmith/archive.h"
#include "wavesmith/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_tune_options {
  const char *template_file;  /* the space */
  const char *baseline_file;  /* measured first as "naive"; NULL: none */
  const char *archive_path;
  const char *layout;         /* "kmajor" */
  const char *shape_set;      /* "contest" */
  const char *strategy;       /* "random" or "local" */
  uint64_t seed;
  double minutes;             /* <= 0: no time limit */
  int64_t evaluations;        /* <= 0: no limit on candidates */
  int workers;                /* compile servers; <= 0: one per core */
  bool sanitize;              /* default true */
  bool json;                  /* progress and result as JSON lines */
} ws_tune_options;

typedef struct ws_tune_result {
  int64_t run_id;
  int64_t evaluated; /* new in this run */
  int64_t replayed;  /* found in the archive */
  int64_t verdicts[WS_VERDICT_COUNT];
  double seconds;
  bool interrupted;
} ws_tune_result;

/* Deterministic from the seed: the sequence of proposals does not depend on
 * workers or speed; limits only cut it. A run with the same settings on an
 * archive that holds part of the sequence replays that part without building.
 * Ctrl-C (SIGINT, SIGTERM) ends it cleanly with everything kept. */
ws_status ws_tune(const ws_tune_options *options, ws_tune_result *out_result,
                  ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
