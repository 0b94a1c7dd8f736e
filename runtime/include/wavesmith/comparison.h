/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Predicted beside measured times: how well a model tells kernels apart. What
 * counts for a tuner is the order of kernels on one shape, so correlations and
 * pairs are of one group (shape) each; a correlation over all rows would be
 * high only because shapes differ.
 *
 * Errors are of e = ln(measured / predicted). Threads: plain data.
 */
#ifndef WAVESMITH_COMPARISON_H
#define WAVESMITH_COMPARISON_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Spearman's rank correlation, ties at their mean rank; 0 when a side is
 * constant. */
double ws_spearman(const double *a, const double *b, int count);

typedef struct ws_compared_row {
  const char *group;                /* the shape */
  const char *class_;               /* e.g. what the model says binds it */
  double measured_us, predicted_us; /* above 0 */
  const double *features;           /* as many as the comparison has */
} ws_compared_row;

/* Kernels on one shape; of fewer than WS_COMPARED_LEAST there is no rank. */
enum { WS_COMPARED_LEAST = 3 };
typedef struct ws_compared_group {
  const char *name;
  int count;
  double spearman, regret; /* NAN: too few. regret: measured time of the one
                            * with the least predicted / least measured */
  double ratio;            /* measured / predicted, geometric mean */
} ws_compared_group;

typedef struct ws_compared_class {
  const char *name;
  int count;
  double ratio; /* measured / predicted, geometric mean */
  double sigma; /* root mean square of e */
} ws_compared_class;

/* Pairs of one group whose predicted times differ by up to so much (and more
 * than the row before). right: ordered as measured; ties measured count half.
 */
typedef struct ws_compared_pairs {
  double up_to; /* 0.02: by 2 %; INFINITY */
  int count;
  double right;
} ws_compared_pairs;
enum { WS_COMPARED_DISTANCES = 7 };

/* Correlation (Pearson's) of e with a feature; within: both less their group's
 * mean. 0 where it is constant. */
typedef struct ws_compared_feature {
  const char *name;
  double across, within;
} ws_compared_feature;

typedef struct ws_compared {
  int rows;
  ws_compared_group *groups;              /* in the order of their first row */
  int group_count, ranked;                /* that have a rank */
  double median_spearman, worst_spearman; /* of the ranked; NAN: none */
  double geomean_regret, worst_regret;
  double ratio, sigma;        /* of all rows: as of a class */
  double error;               /* mean of exp|e| - 1 */
  double error_beside_scale;  /* the same after one factor for all, `ratio` */
  ws_compared_class *classes; /* most rows first */
  int class_count;
  ws_compared_pairs pairs[WS_COMPARED_DISTANCES];
  ws_compared_feature *features; /* strongest within first */
  int feature_count;
} ws_compared;

/* rows: at least one. What is found lives in the arena. */
void ws_compare_times(ws_arena *arena, const ws_compared_row *rows, int count,
                      const char *const *features, int feature_count,
                      ws_compared *out);

struct cJSON;
struct cJSON *ws_compared_to_json(const ws_compared *comparison);

#ifdef __cplusplus
}
#endif
#endif
