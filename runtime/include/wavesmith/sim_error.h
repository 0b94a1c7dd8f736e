/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How far the cycle model's times are from measured ones: the model's error, by
 * its own validation (docs/simulator.md, "The model's error"; the figures are
 * written by tests/bench/model_error.py). Two different things: the error of
 * one time, by what bounds the launch, and the error of an order: two kernels
 * on one shape share most of the former, so how well they rank is counted in
 * pairs.
 *
 * The figures are of one version of the model. Where a provenance is asked for,
 * times of anything else (a card, an older model) have none, which is 0. Of a
 * card that was validated by nobody (sim_card.h) they are the least that is to
 * be expected.
 *
 * Threads: constant data.
 */
#ifndef WAVESMITH_SIM_ERROR_H
#define WAVESMITH_SIM_ERROR_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the launches that a unit bounds (ws_sim_profile.bound). */
typedef struct ws_sim_error_bound {
  const char *bound; /* "all": of every class together, the last row */
  int rows;          /* measured times of the validation */
  double median;     /* of measured / simulated */
  /* Relative half-width e, 68 %: so many of measured times lay between
   * simulated / (1 + e) and simulated x (1 + e). */
  double within;
} ws_sim_error_bound;
extern const ws_sim_error_bound ws_sim_error_bounds[];
extern const int ws_sim_error_bound_count;
/* A class with fewer rows has the figure of "all" in its place. */
enum { WS_SIM_ERROR_LEAST_ROWS = 20 };

/* Pairs of kernels on one shape whose simulated times differ by [low, high), as
 * the slower's / the faster's - 1. Not among them: left_out pairs that were
 * measured no farther apart than ws_sim_error_noise, the measurement's own. */
typedef struct ws_sim_error_pairs {
  double low, high;
  int pairs, right; /* right: measured in the simulator's order */
  int left_out;
} ws_sim_error_pairs;
extern const ws_sim_error_pairs ws_sim_error_pair_rows[];
extern const int ws_sim_error_pair_count;
extern const double ws_sim_error_noise;
extern const int ws_sim_error_model; /* version that it is the error of */

/* ws_sim_error_bound.within of a launch bound by this. */
double ws_sim_error_of_bound(const char *bound);
/* The same of a time; 0: the provenance is not of this model. */
double ws_sim_error_of(const char *provenance, const char *bound);

/* Two kernels on one shape are equal where their times differ by less than
 * this: below it fewer than 3 of 4 pairs were measured in the simulator's
 * order, nearer to chance than to certainty. An edge of the rows above; 0: the
 * provenance is not of this model. */
double ws_sim_error_equal(const char *provenance);
bool ws_sim_error_are_equal(const char *provenance, double us, double other_us);

/* Up to here the simulator's order is a coin's: fewer than 3 of 5 such pairs
 * were measured in it. A choice may ask for something else than time there;
 * beyond, up to equal, the order is worth following, if not worth telling. */
double ws_sim_error_coin(const char *provenance);

/* What the validation says of such a pair; and of all that are nearer to each
 * other than an edge of the rows. */
ws_sim_error_pairs ws_sim_error_pairs_of(double us, double other_us);
ws_sim_error_pairs ws_sim_error_pairs_below(double edge);

/* "pairs 5 to 10 % apart were measured in this order in 63 % of 1938" */
const char *ws_sim_error_pairs_text(ws_arena *arena, ws_sim_error_pairs pairs);
/* "+-12 %"; "" for 0 */
const char *ws_sim_error_text(ws_arena *arena, double within);

#ifdef __cplusplus
}
#endif
#endif
