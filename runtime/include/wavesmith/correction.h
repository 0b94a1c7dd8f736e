/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Learning a correction of predicted times (wavesmith/sim_correction.h), and
 * what it is worth on rows that it has not seen. What is learned are ratios
 * among rows that compete: e = ln(measured / predicted) less the mean of their
 * group, so it mends ranks and leaves the scale alone, which is a matter of
 * clocks and rates (docs/calibrate.md). Threads: plain data.
 *
 * Everywhere: features are WS_SIM_FEATURES a row. Rows of one part are alike
 * (sizes of one kernel, say): a part counts as one in what is learned, and is
 * left out as one when reach and doubt are chosen.
 */
#ifndef WAVESMITH_CORRECTION_H
#define WAVESMITH_CORRECTION_H

#include "wavesmith/comparison.h"
#include "wavesmith/sim_correction.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of groups of WS_COMPARED_LEAST rows or more; where there is none, count is 0
 * and nothing is corrected. Features are scaled by their weighted deviation,
 * 0.05 at least, so that one that hardly varies does not decide alone and what
 * differs in it is far. Without reach and doubt: both are 0. In the arena. */
void ws_correction_take(ws_arena *arena, const ws_compared_row *rows,
                        const char *const *parts, int count,
                        ws_sim_correction *out);
/* The same with the reach of 0.05 to 0.8 and the doubt of 0.01 to 1 that have
 * the least squared error on parts left out in turn; the shortest reach and the
 * most doubt where there is one part. Then rows within that reach of each other
 * are one, with the mean of theirs. */
void ws_correction_learn(ws_arena *arena, const ws_compared_row *rows,
                         const char *const *parts, int count,
                         ws_sim_correction *out);

typedef enum ws_correction_kind {
  WS_CORRECTION_FACTOR, /* one for all: the geometric mean of measured /
                         * predicted, held to 0.5 to 2 */
  WS_CORRECTION_LEARNED
} ws_correction_kind;
/* out_rows: rows with predicted times corrected by what those rows alone say
 * that have another label. false: all rows have one label. */
bool ws_correction_left_out(ws_arena *arena, ws_correction_kind kind,
                            const ws_compared_row *rows,
                            const char *const *labels, const char *const *parts,
                            int count, ws_compared_row *out_rows) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
