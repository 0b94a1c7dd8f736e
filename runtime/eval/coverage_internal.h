/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between the parts of coverage: classes (coverage_classes.c) and the choice of
 * shapes (coverage.c).
 */
#ifndef WAVESMITH_EVAL_COVERAGE_INTERNAL_H
#define WAVESMITH_EVAL_COVERAGE_INTERNAL_H

#include "wavesmith/coverage.h"

/* What a candidate makes of each extent: that of a workgroup, and whether a
 * workgroup walks along all of it, so that the grid does not grow with it. */
typedef struct ws__tiles {
  int64_t extent[WS_MAX_DIMS];
  bool is_walked[WS_MAX_DIMS];
} ws__tiles;

ws__tiles ws__coverage_tiles(const ws_problem *problem,
                             const ws_candidate *candidate);
/* Fills factors. */
void ws__coverage_classes(const ws_problem *problem, int layout,
                          const ws_candidate *candidate,
                          const ws_build_result *build, const ws__tiles *tiles,
                          ws_coverage *out);
/* Moduli of the code that the classes of a dimension do not tell apart, because
 * all residues of all would be too many; in steps, at most WS__ALONE_STEPS. */
enum { WS__ALONE = 8, WS__ALONE_STEPS = 64 };
int ws__coverage_alone(const ws_problem *problem, const ws_build_result *build,
                       const ws_coverage *coverage, int dimension,
                       int64_t out_moduli[WS__ALONE]);
/* Whether a candidate can be asked for: operands that it reads through a tensor
 * map lie without gaps (ir-templates/README.md). */
bool ws__coverage_takes_striding(const ws_problem *problem, int layout,
                                 const ws_candidate *candidate, int striding);
/* Workgroups of its first launch; 0: none, or an expression fails. */
double ws__coverage_workgroups(const ws_candidate *candidate,
                               const ws_shape *shape);

/* ---- the choice of shapes (coverage.c) ---- */

typedef enum ws__pair_state {
  WS__PAIR_OPEN,
  WS__PAIR_COVERED,
  WS__PAIR_OUT_OF_REACH
} ws__pair_state;

/* A shape with its class of each factor. */
typedef struct ws__row {
  int8_t classes[WS_MAX_FACTORS];
  ws_shape shape;
} ws__row;

enum { WS__KNOWN_ROWS = 32 }; /* that are known to be legal */
typedef struct ws__planner {
  ws_arena *arena;
  const ws_problem *problem;
  const ws_candidate *candidate;
  int layout;
  ws__tiles tiles;
  double most_flops; /* of one shape */
  ws_coverage *out;
  ws_rng rng;
  ws__pair_state *states;
  int pair_begin[WS_MAX_FACTORS][WS_MAX_FACTORS];
  ws__row known[WS__KNOWN_ROWS];
  int known_count;
  ws_covered *cases;
  int room;
} ws__planner;

/* With the classes that the candidate takes, by shapes of so many flops at most
 * (0: as many as they need). false: there is a factor without any. */
bool ws__planner_open(ws__planner *planner, ws_arena *arena,
                      const ws_coverage_subject *subject, uint64_t seed,
                      double most_flops_each, ws_coverage *out);
/* The best of a few rows that are in a class. */
bool ws__planner_find(ws__planner *planner, int factor, int class,
                      ws__row *out);
void ws__planner_add_row(ws__planner *planner, const ws__row *row);
ws_covered *ws__planner_add(ws__planner *planner, const ws_shape *shape,
                            int striding, bool sampled);
/* Of full tiles; of all arguments. */
double ws__planner_flops(const ws__planner *planner, const ws_shape *shape);
double ws__planner_bytes(const ws__planner *planner, const ws_shape *shape,
                         int striding);

/* ---- branches (coverage_branches.c) ---- */

/* What a decision comes to: compared, bit 0 to 2 of the first word are less,
 * equal, greater; of a modulus bit 2 q + r of it is q whole ones (3: or more)
 * and r = 1 something over, and the other words have a bit for each remainder,
 * or, of very many, for those that matter most. */
enum { WS__ASPECT_WORDS = 5, WS__ASPECTS = 64 * WS__ASPECT_WORDS };
typedef struct ws__aspects {
  uint64_t bits[WS__ASPECT_WORDS];
} ws__aspects;

typedef struct ws__decision {
  const ws_branch *branch;
  ws_expr *left, *right;
  int axes;        /* bits: of the workgroup's number it depends on */
  int64_t unit;    /* of remainders: all that occur are multiples of it */
  ws__aspects can; /* those of some shape that the candidate takes, */
  ws_shape *least; /* and the first that was found with each */
} ws__decision;

/* Those that can be evaluated. */
struct ws_decisions {
  ws__decision *items;
  int count;
};
/* Adds those of a shape. */
void ws__decision_add(const ws_coverage_subject *subject,
                      const ws__decision *decision, const ws_tried *tried,
                      ws__aspects *aspects);
static inline bool ws__aspect_is_in(const ws__aspects *aspects, int bit) {
  return aspects->bits[bit / 64] >> (bit % 64) & 1;
}
/* Of the extents along a dimension that the candidate takes beside least ones,
 * the largest; and that of the problem's default shape set. */
int64_t ws__coverage_largest(const ws_coverage_subject *subject, int dimension);
int64_t ws__coverage_largest_of_set(const ws_problem *problem, int dimension);
/* The problem as a candidate takes it: where its constraints leave out sizes
 * near a block, steps that it takes and a least shape of these. In the arena, or
 * the problem itself. */
const ws_problem *ws__coverage_problem(ws_arena *arena,
                                       const ws_problem *problem,
                                       const ws_candidate *candidate);
bool ws__coverage_takes(const ws_problem *problem,
                        const ws_candidate *candidate, const ws_shape *shape);

#endif
