/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tables of the model's error and what is read from them. The distance
 * below which two kernels are equal is no number of its own: it follows from
 * the pairs.
 */
#include "model_error_rows.h"
#include "wavesmith/sim_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WS_BOUND(name, rows, median, within) {#name, rows, median, within},
const ws_sim_error_bound ws_sim_error_bounds[] = {
    WS_MODEL_ERROR_BOUNDS(WS_BOUND)};
#undef WS_BOUND

#define WS_PAIRS(...) {__VA_ARGS__},
const ws_sim_error_pairs ws_sim_error_pair_rows[] = {
    WS_MODEL_ERROR_PAIRS(WS_PAIRS)};
#undef WS_PAIRS

const double ws_sim_error_noise = WS_MODEL_ERROR_NOISE;
const int ws_sim_error_model = WS_MODEL_ERROR_VERSION;

enum {
  BOUNDS = sizeof ws_sim_error_bounds / sizeof ws_sim_error_bounds[0],
  PAIR_ROWS = sizeof ws_sim_error_pair_rows / sizeof ws_sim_error_pair_rows[0]
};
const int ws_sim_error_bound_count = BOUNDS;
const int ws_sim_error_pair_count = PAIR_ROWS;

/* Halfway between a coin's share and certainty; and the least that is more
 * than a coin's. */
static const double told_apart = 0.75, no_coin = 0.6;

/* ---- one time ---- */

double ws_sim_error_of_bound(const char *bound) {
  const ws_sim_error_bound *all = &ws_sim_error_bounds[BOUNDS - 1];
  for (int i = 0; i < BOUNDS; i++)
    if (!strcmp(ws_sim_error_bounds[i].bound, bound) &&
        ws_sim_error_bounds[i].rows >= WS_SIM_ERROR_LEAST_ROWS)
      return ws_sim_error_bounds[i].within;
  return all->within;
}

/* "sim:gfx942-model-5:MI300X" */
static bool is_of_model(const char *provenance) {
  char start[64];
  int size = snprintf(start, sizeof start,
                      "sim:gfx942-model-%d:", WS_MODEL_ERROR_VERSION);
  return provenance && !strncmp(provenance, start, (size_t)size);
}

double ws_sim_error_of(const char *provenance, const char *bound) {
  return is_of_model(provenance) ? ws_sim_error_of_bound(bound) : 0;
}

/* ---- two times ---- */

/* The edge from which on at least this share is right. */
static double edge_of(double share) {
  int row = PAIR_ROWS;
  while (row > 0 && ws_sim_error_pair_rows[row - 1].right >=
                        share * ws_sim_error_pair_rows[row - 1].pairs)
    row--;
  return row ? ws_sim_error_pair_rows[row - 1].high : 0;
}

static double distance(double us, double other_us) {
  return fmax(us, other_us) / fmin(us, other_us) - 1;
}

double ws_sim_error_equal(const char *provenance) {
  return is_of_model(provenance) ? edge_of(told_apart) : 0;
}

double ws_sim_error_coin(const char *provenance) {
  return is_of_model(provenance) ? edge_of(no_coin) : 0;
}

bool ws_sim_error_are_equal(const char *provenance, double us,
                            double other_us) {
  return distance(us, other_us) < ws_sim_error_equal(provenance);
}

ws_sim_error_pairs ws_sim_error_pairs_of(double us, double other_us) {
  int row = 0;
  while (row < PAIR_ROWS - 1 &&
         !(distance(us, other_us) < ws_sim_error_pair_rows[row].high))
    row++;
  return ws_sim_error_pair_rows[row];
}

ws_sim_error_pairs ws_sim_error_pairs_below(double edge) {
  ws_sim_error_pairs sum = {0, edge, 0, 0, 0};
  for (int i = 0; i < PAIR_ROWS && ws_sim_error_pair_rows[i].high <= sum.high;
       i++) {
    sum.pairs += ws_sim_error_pair_rows[i].pairs;
    sum.right += ws_sim_error_pair_rows[i].right;
    sum.left_out += ws_sim_error_pair_rows[i].left_out;
  }
  return sum;
}

/* ---- words ---- */

const char *ws_sim_error_pairs_text(ws_arena *arena, ws_sim_error_pairs of) {
  const char *range =
      of.low > 0 && isfinite(of.high)
          ? ws_arena_printf(arena, "%.0f to %.0f %%", 100 * of.low,
                            100 * of.high)
          : ws_arena_printf(arena, "%s than %.0f %%",
                            of.low > 0 ? "more" : "less",
                            100 * (of.low > 0 ? of.low : of.high));
  return ws_arena_printf(
      arena, "pairs %s apart were measured in this order in %.0f %% of %d",
      range, of.pairs ? 100.0 * of.right / of.pairs : 0, of.pairs);
}

const char *ws_sim_error_text(ws_arena *arena, double within) {
  return within > 0 ? ws_arena_printf(arena, "+-%.0f %%", 100 * within) : "";
}
