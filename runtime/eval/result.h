/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What launches left in the outputs, judged. All of it is of a bench with a
 * problem; failures of a candidate go into the ws_measured.
 */
#ifndef WAVESMITH_EVAL_RESULT_H
#define WAVESMITH_EVAL_RESULT_H

#include "bench.h"

/* Downloads rows [begin, end) of the output and compares them with the
 * reference. */
ws_status ws__bench_compare(ws__bench *bench, int64_t begin, int64_t end,
                            ws_measured *out, ws_diag *diag) WS_MUST_CHECK;

/* How much of a large output is compared: elements at random places, and so
 * many rows, each times a vector of random signs. */
typedef struct ws__sample {
  uint64_t seed; /* of the places */
  int elements;
  int64_t rows; /* INT64_MAX: all */
} ws__sample;
ws_status ws__bench_sample(ws__bench *bench, const ws__sample *sample,
                           ws_measured *out, ws_diag *diag) WS_MUST_CHECK;

/* ---- was all of it stored? -------------------------------------------------
 */
/* On a device that notes stores: begins to, of the outputs. false: it does not.
 */
bool ws__bench_watch(ws__bench *bench);
/* Every byte of the outputs was stored since. */
void ws__bench_check_stored(ws__bench *bench, ws_measured *out);

/* A copy of the outputs, and what was there before the launches. */
typedef struct ws__left {
  int poison;
  void *outputs[WS_PROBLEM_MAX_ARGS];
} ws__left;
/* After a failure too, drop it. */
ws_status ws__left_fetch(ws__bench *bench, ws__left *out_left,
                         ws_diag *diag) WS_MUST_CHECK;
void ws__left_drop(ws__left *left);
/* Every byte was stored in this run or in the earlier one, which had another
 * poison and the same contents; and where the two differ, both are right. */
ws_status ws__bench_check_written(ws__bench *bench, const ws__left *before,
                                  ws_measured *out,
                                  ws_diag *diag) WS_MUST_CHECK;

#endif
