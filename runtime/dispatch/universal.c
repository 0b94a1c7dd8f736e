/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Whether a candidate takes every legal shape: with its parameters known no
 * constraint over the shape is left, or a sample of shapes keeps all of them.
 */
#include "dispatch_internal.h"

/* Shapes on which a constraint over the shape is tried when it cannot be
 * proved: all residues that tiles of up to 512 can see, small and large. */
static bool accepts_sample(const ws_candidate *candidate,
                           const ws_problem *problem) {
  static const int64_t far[] = {0, 8192, 1048576};
  enum { FARS = 3, SPREAD = 1024, STEPS = 64, DEPTH_STEPS = 16 };
  ws_rng rng;
  ws_rng_init(&rng, 0);
  for (int64_t i = 0; i < 4096; i++) {
    ws_shape shape = problem->least;
    int64_t digits = i;
    for (int d = 0; d < shape.dims->count; d++, digits /= FARS) {
      const int64_t step = problem->step.size[d];
      const int64_t steps = problem->is_depth[d]    ? DEPTH_STEPS
                            : STEPS * step > SPREAD ? STEPS
                                                    : SPREAD / step;
      shape.size[d] += step * (int64_t)ws_rng_below(&rng, (uint64_t)steps) +
                       far[digits % FARS] / step * step;
    }
    if (ws_problem_is_legal(problem, &shape) &&
        !ws_candidate_takes(candidate, &shape))
      return false;
  }
  return true;
}

bool ws__is_constrained(const ws_candidate *candidate) {
  ws_arena *arena = ws_arena_create();
  const ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  bool constrained = false;
  for (int i = 0; i < candidate->tmpl->require_count && !constrained; i++) {
    const ws_require *require = &candidate->tmpl->requires[i];
    int64_t value;
    constrained =
        require->uses_shape &&
        !(ws_expr_is_constant(ws_expr_bind(arena, require->expr, &scope),
                              &value) &&
          value);
  }
  ws_arena_destroy(arena);
  return constrained;
}

bool ws__accepts_every_shape(const ws_candidate *candidate,
                             const ws_problem *problem) {
  return !ws__is_constrained(candidate) || accepts_sample(candidate, problem);
}
