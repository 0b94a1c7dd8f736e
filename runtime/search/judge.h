/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a build's result to what the archive keeps: duplicates, estimates, the
 * record. Also the way back: what the archive knows of a candidate already.
 */
#ifndef WAVESMITH_SEARCH_JUDGE_H
#define WAVESMITH_SEARCH_JUDGE_H

#include "strategy.h"
#include "task.h"

typedef struct ws__judge {
  ws_archive *archive;
  const ws__task *task;
  int64_t run_id;
} ws__judge;

/* What became of a candidate. us and bounds are arrays by shape. */
typedef struct ws__judgement {
  ws_verdict verdict;
  double *us; /* INFINITY: not measured */
  const char **bounds;
} ws__judgement;

/* *out_found: the archive holds the candidate, *out says what it knows. Times
 * on shapes that it was not ranked on before are added. */
ws_status ws__judge_replay(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate, bool *out_found,
                           ws__judgement *out, ws_diag *diag) WS_MUST_CHECK;

/* Judges a recorded build and records the candidate. origin: proposer, parent,
 * move and sequence of the row. */
ws_status ws__judge_record(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *result,
                           const ws_candidate_row *origin, ws__judgement *out,
                           ws_diag *diag) WS_MUST_CHECK;

/* A build's hash mixed with all else that its time depends on, parameters
 * bound: launch rules, workspace, shape constraints. "" for "". */
const char *ws__twin_key(ws_arena *arena, const ws_candidate *candidate,
                         const char *build_hash);

#endif
