/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a build's result to what the archive keeps: duplicates, estimates, the
 * record. Also the way back: what the archive knows of a candidate already.
 */
#ifndef WAVESMITH_SEARCH_JUDGE_H
#define WAVESMITH_SEARCH_JUDGE_H

#include "grid.h"
#include "ranker.h"
#include "task.h"
#include "wavesmith/archive.h"

typedef struct ws__judge {
  ws_archive *archive;
  const ws__task *task;
  int64_t run_id;
  const char *provenance; /* results are ranked by times of this one */
  bool wants_cells;       /* of candidates that the archive knows, too */
  bool dry;               /* says what it would record, and records nothing */
} ws__judge;

/* What became of a candidate. us and bounds are arrays by shape. */
typedef struct ws__judgement {
  ws_verdict verdict;
  const char *stage, *reason;
  double *us; /* of the judge's provenance; INFINITY: not measured */
  const char **bounds;
  ws__cell cell;
} ws__judgement;

/* *out_found: the archive holds the candidate, *out says what it knows. Times
 * on shapes that it was not ranked on before are added: estimates from its
 * facts, those of a device from ranked (NULL: none were taken). */
ws_status ws__judge_replay(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws__ranked *ranked, bool *out_found,
                           ws__judgement *out, ws_diag *diag) WS_MUST_CHECK;

/* Judges a recorded build and records the candidate. origin: proposer, parents,
 * kind, label, island, move and sequence of the row. ranked: what the device
 * said; NULL: it was not asked. */
ws_status ws__judge_record(ws__judge *judge, ws_arena *arena,
                           const ws_candidate *candidate,
                           const ws_build_result *result,
                           const ws__ranked *ranked,
                           const ws_candidate_row *origin, ws__judgement *out,
                           ws_diag *diag) WS_MUST_CHECK;

/* What ws__judge_replay or else ws__judge_record would say. Records nothing. */
ws_status ws__judge_foresee(const ws__judge *judge, ws_arena *arena,
                            const ws_candidate *candidate,
                            const ws_build_result *result,
                            const ws__ranked *ranked, ws__judgement *out,
                            ws_diag *diag) WS_MUST_CHECK;

/* Estimates for the shapes that the candidate takes and that have no time yet
 * (INFINITY). Both arrays are by shape. Nothing where there is no bound model
 * of the target, or no runs of the sanitizer to make it from. */
void ws__judge_estimate(const ws__task *task, const ws_candidate *candidate,
                        const ws_build_result *result, double *us,
                        const char **bounds);

/* Whether the device still has to be asked about a candidate that was built:
 * no, if it or its twin is known to fail or has been timed on all shapes that
 * it takes, or on those of a sample. known_us: by shape, the times that there
 * are. */
ws_status ws__judge_wants_times(ws__judge *judge, ws_arena *arena,
                                const ws_candidate *candidate,
                                const ws_build_result *result,
                                const ws__sample *sample, bool *out_wants,
                                double **out_known_us,
                                ws_diag *diag) WS_MUST_CHECK;

#endif
