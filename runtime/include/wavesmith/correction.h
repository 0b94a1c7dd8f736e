/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A learned correction of predicted times: ridge regression of
 * e = ln(measured / predicted) on features, standardised over the rows that it
 * is fitted to (Hoerl and Kennard, Technometrics 12, 1970), and what it is
 * worth on rows that it has not seen. Threads: plain data.
 */
#ifndef WAVESMITH_CORRECTION_H
#define WAVESMITH_CORRECTION_H

#include "wavesmith/comparison.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WS_CORRECTION_FEATURES = 32 };
typedef struct ws_correction {
  int feature_count;
  double
      penalty;   /* lambda; the mean of squares + lambda |weights|^2 is least */
  double offset; /* mean of e */
  double mean[WS_CORRECTION_FEATURES], scale[WS_CORRECTION_FEATURES],
      weight[WS_CORRECTION_FEATURES]; /* of (feature - mean) / scale */
} ws_correction;

/* Of the rows' first feature_count features (0: one factor for all), at a given
 * penalty > 0; at least one row. */
void ws_correction_fit(const ws_compared_row *rows, int count,
                       int feature_count, double penalty, ws_correction *out);
/* What a predicted time is to be multiplied by: 0.5 to 2. */
double ws_correction_factor(const ws_correction *correction,
                            const double *features);
/* out_rows: rows with predicted times corrected by a fit to those rows alone
 * that have another label. The penalty is the one of 0.01 to 10 with the least
 * squared error on labels left out of these in turn; 10 where they have only
 * one. false: all rows have one label. */
bool ws_correction_left_out(ws_arena *arena, const ws_compared_row *rows,
                            const char *const *labels, int count,
                            int feature_count,
                            ws_compared_row *out_rows) WS_MUST_CHECK;

/* Fitted to all rows, with the penalty chosen as there. */
void ws_correction_fit_all(ws_arena *arena, const ws_compared_row *rows,
                           const char *const *labels, int count,
                           int feature_count, ws_correction *out);

#ifdef __cplusplus
}
#endif
#endif
