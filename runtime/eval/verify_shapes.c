/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The few shapes that every candidate is verified on before it is timed: one of
 * each kind of edge that kernels get wrong, drawn by the seed of the run, from
 * a short list of each kind that follows from the run's seed as well: a server
 * then knows most inputs and references already. Steps and blocks are the
 * problem's. Who takes none of a kind's list (rows in multiples of four, and at
 * most sixteen, say) has a longer one. Behind them come the problem's samples,
 * for candidates that take nothing small, or little but what a model named.
 */
#include "coverage_internal.h"

enum { EACH = 6 /* of a kind */, FURTHER = 64, HALVES = 2 };

/* In grains, from and to: of the first, third ... dimension that
 * is no depth, of the second, fourth ..., and of depths. */
enum { ROLES = 3, DEPTH = 2 };
typedef struct kind {
  struct {
    int low, high;
  } extents[ROLES];
  bool odd_depth;
} kind;

/* One block of a depth and a second extent beyond a tile; the first beyond one;
 * an odd number of blocks with both inside a tile or beside it; a long depth
 * with few elements, for slices of it and a loop's steady state. Of the matrix
 * product they are 23 million products in the mean. */
static const kind kinds[WS_VERIFY_SHAPES] = {
    {{{1, 4}, {17, 40}, {1, 1}}, false},
    {{{17, 20}, {1, 10}, {2, 3}}, false},
    {{{1, 6}, {17, 22}, {3, 8}}, true},
    {{{1, 3}, {1, 5}, {8, 20}}, false}};

static int64_t draw(ws_rng *rng, int low, int high) {
  return low + (int64_t)ws_rng_below(rng, (uint64_t)(high - low + 1));
}

/* Extents are counted in grains, an eighth of a block, so that they mean tiles
 * whatever the step is; those of a depth in steps. */
enum { GRAINS = 8 };
static int64_t draw_extent(const ws_problem *problem, int dimension,
                           int64_t grains, ws_rng *rng) {
  const int64_t step = problem->step.size[dimension];
  int64_t grain = problem->block.size[dimension] / GRAINS / step * step;
  if (problem->is_depth[dimension] || grain <= step)
    return grains * step;
  /* half of the time beside a whole number of them */
  const bool beside = ws_rng_below(rng, HALVES);
  return grains * grain -
         (beside ? step * draw(rng, 1, (int)(grain / step) - 1) : 0);
}

static ws_covered draw_case(const ws_problem *problem, const kind *of,
                            ws_rng *rng) {
  ws_covered one = {.shape = problem->step};
  int extents = 0;
  for (int d = 0; d < problem->dims->count; d++) {
    int role = problem->is_depth[d] ? DEPTH : extents++ % 2;
    int64_t steps = draw(rng, of->extents[role].low, of->extents[role].high);
    if (of->odd_depth && role == DEPTH)
      steps |= 1;
    one.shape.size[d] = draw_extent(problem, d, steps, rng);
  }
  if (!ws_rng_below(rng, HALVES)) /* the usual strides half of the time */
    one.striding = (int)ws_rng_below(rng, (uint64_t)problem->striding_count);
  return one;
}

static bool is_taken(const ws_problem *problem, int layout,
                     const ws_candidate *candidate, const ws_covered *one) {
  return ws_problem_is_legal(problem, &one->shape) &&
         (!candidate ||
          (ws_candidate_broken_require(candidate, &one->shape, NULL) < 0 &&
           ws__coverage_takes_striding(problem, layout, candidate,
                                       one->striding)));
}

/* The first beyond the short list that the candidate takes. */
static bool draw_further(const ws_problem *problem, int layout,
                         const ws_candidate *candidate, int of, uint64_t seed,
                         ws_covered *out) {
  ws_rng rng;
  bool found = false;
  ws_rng_init(&rng, seed + (uint64_t)of + 1);
  for (int i = 0; i < FURTHER && !found; i++) {
    *out = draw_case(problem, &kinds[of], &rng);
    found = is_taken(problem, layout, candidate, out);
  }
  return found;
}

/* Which of a kind comes first: so that two candidates seldom see the same. */
static uint64_t turn_of(const ws_candidate *candidate) {
  uint64_t turn = 0;
  for (int i = 0; candidate && i < 8; i++)
    turn = turn * 31 + (unsigned char)candidate->id.hex[i];
  return turn;
}

int ws_verify_shapes(const ws_problem *problem, int layout,
                     const ws_candidate *candidate, uint64_t seed,
                     ws_covered out_cases[WS_VERIFY_SHAPES]) {
  ws_rng rng;
  int count = 0;
  uint64_t turn = turn_of(candidate);
  ws_rng_init(&rng, seed);
  for (int k = 0; k < WS_VERIFY_SHAPES; k++) {
    ws_covered cases[EACH];
    bool found = false;
    for (int i = 0; i < EACH; i++)
      cases[i] = draw_case(problem, &kinds[k], &rng);
    for (uint64_t i = 0; i < EACH && !found; i++) {
      out_cases[count] = cases[(turn / (k + 1) + i) % EACH];
      found = is_taken(problem, layout, candidate, &out_cases[count]);
    }
    count += found || draw_further(problem, layout, candidate, k, seed,
                                   &out_cases[count]);
  }
  for (int i = 0; i < problem->samples.count && count < WS_VERIFY_SHAPES; i++) {
    out_cases[count] = (ws_covered){.shape = problem->samples.shapes[i]};
    count += is_taken(problem, layout, candidate, &out_cases[count]);
  }
  return count;
}
