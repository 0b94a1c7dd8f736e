/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which shapes a candidate is verified on, drawn anew for every run. Legality
 * (the problem's steps, the candidate's constraints) and the kernel's own tiles
 * and constants give *classes* of each extent: residues within a tile, how many
 * tiles there are, every small number of blocks of a depth, residues
 * of large ones, extents beyond all that the problem names, and the ways in
 * which strides may differ. A plan is a list of shapes in which every pair of
 * classes of two factors occurs, as far as shapes of bounded work can have it.
 *
 * Everything here is pure: a plan follows from its arguments and the seed
 * alone, on every machine.
 */
#ifndef WAVESMITH_COVERAGE_H
#define WAVESMITH_COVERAGE_H

#include "wavesmith/measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extents from low to high with extent % modulus == residue. Of the factor of
 * strides: low is the index of a striding of the problem. */
typedef struct ws_class {
  int64_t low, high, modulus, residue;
} ws_class;

/* What is varied: an edge and a size of each dimension, or its depth, in the
 * order of the dimensions; strides last. */
typedef enum ws_factor_kind {
  WS_FACTOR_EDGE,  /* an extent within a tile */
  WS_FACTOR_SIZE,  /* how many tiles, and beyond the largest extent named */
  WS_FACTOR_DEPTH, /* number of blocks, then residues of large numbers */
  WS_FACTOR_STRIDES
} ws_factor_kind;

/* Those classes that the candidate takes at all. */
enum { WS_MAX_CLASSES = 96, WS_MAX_FACTORS = 2 * WS_MAX_DIMS + 1 };
typedef struct ws_factor {
  ws_factor_kind kind;
  int dim; /* -1: strides */
  ws_class classes[WS_MAX_CLASSES];
  int count;
} ws_factor;

/* One thing to verify. */
typedef struct ws_covered {
  ws_shape shape;
  int striding;
  bool sampled;  /* too much work to compare every element */
  uint64_t seed; /* of the contents; in some with WS_HARD_INPUTS */
  /* Its class of each factor; -1: it is there for its size alone. */
  int8_t classes[WS_MAX_FACTORS];
} ws_covered;

typedef struct ws_coverage {
  uint64_t seed;
  ws_factor factors[WS_MAX_FACTORS];
  int factor_count;
  const ws_covered *cases;
  int count;
  /* Pairs of classes: how many there are, and how many of them no shape has
   * that the candidate takes and that is small enough. All others occur. */
  int pairs, out_of_reach;
} ws_coverage;

/* build NULL: constants of the code are not known. In the arena. count is 0
 * when the candidate takes no shape of bounded work. */
void ws_coverage_plan(ws_arena *arena, const ws_problem *problem, int layout,
                      const ws_candidate *candidate,
                      const ws_build_result *build, uint64_t seed,
                      ws_coverage *out);

/* Who is verified, on a device of so many compute units. */
typedef struct ws_coverage_subject {
  const ws_problem *problem;
  int layout;
  const ws_candidate *candidate;
  const ws_build_result *build; /* with its code object */
  int cu_count;
} ws_coverage_subject;

/* To verify these cases, on ordinary or on extreme contents as their seeds say.
 * WS_INPUT: one of them cannot be launched, which is the candidate's fault. At
 * most WS_COVERAGE_BATCH at a time keeps an answer within seconds. */
enum { WS_COVERAGE_BATCH = 16 };
ws_status ws_coverage_request(ws_arena *arena,
                              const ws_coverage_subject *subject,
                              const ws_covered *cases, int count,
                              ws_measure_request *out,
                              ws_diag *diag) WS_MUST_CHECK;
/* All of its cases, in such batches; out_requests has room for
 * count / WS_COVERAGE_BATCH + 1. */
ws_status ws_coverage_requests(ws_arena *arena,
                               const ws_coverage_subject *subject,
                               const ws_coverage *coverage,
                               ws_measure_request *out_requests, int *out_count,
                               ws_diag *diag) WS_MUST_CHECK;
/* Shapes whose operands are larger than 2^32 bytes, for the sanitizer: a few
 * workgroups of each, the last among them; nothing of that size is made. Needs
 * a host model, and WS_COVERAGE_FAR_MB of address space. 0: the candidate takes
 * none. */
enum { WS_COVERAGE_FAR = 2, WS_COVERAGE_FAR_MB = 32768 };
int ws_coverage_far(const ws_problem *problem, int layout,
                    const ws_candidate *candidate, uint64_t seed,
                    ws_run out_runs[WS_COVERAGE_FAR]);
/* One sentence for people: what `verified` cases of it cover. */
const char *ws_coverage_text(ws_arena *arena, const ws_coverage *coverage,
                             int verified);

/* ---- by the kernel's own branches: `wavesmith check` ----------------------
 */

/* What the branches of a build come to, and on which shapes. In the arena. */
typedef struct ws_decisions ws_decisions;
const ws_decisions *ws_coverage_decisions(ws_arena *arena,
                                          const ws_coverage_subject *subject);

/* Something that a candidate was run on; spots: a few workgroups of it. */
typedef struct ws_tried {
  ws_shape shape;
  int striding;
  bool spots;
} ws_tried;

/* A few shapes beside those that were tried: both sides of each branch of the
 * build (ws_branch) with the boundary and what is beside it, each remainder
 * where there are not too many; and, as far as little work goes, the largest
 * extents of the default shape set and those that are legal, each class of a
 * coverage once, the other remainders, the other extents of the set. In this
 * order, so that whoever has no time for all does the first. In the arena;
 * count is 0 when the candidate takes none. */
void ws_coverage_near(ws_arena *arena, const ws_coverage_subject *subject,
                      const ws_decisions *decisions, const ws_tried *tried,
                      int tried_count, uint64_t seed, ws_coverage *out);

/* Along each dimension that the candidate takes it on, the largest extent of
 * the default shape set beside least ones, for the sanitizer: two workgroups of
 * it, where these have no more to do than runs[0..count) together. */
int ws_coverage_spots(const ws_problem *problem, const ws_candidate *candidate,
                      uint64_t seed, const ws_run *runs, int count,
                      ws_run out_runs[WS_MAX_DIMS]);

/* Something that no run has shown: a side of a branch, remainders, sizes,
 * offsets. */
typedef struct ws_gap {
  const char *text;          /* "cols > 16384" */
  const char *region, *file; /* "": of no line */
  int line;
} ws_gap;
extern const ws_json_struct ws_gap_json;
/* What all of that was tried leaves out, of that which some shape has that the
 * candidate takes. It looks at the shapes alone, not at why they were chosen.
 */
int ws_coverage_gaps(ws_arena *arena, const ws_coverage_subject *subject,
                     const ws_decisions *decisions, const ws_tried *tried,
                     int tried_count, const ws_gap **out_gaps);

/* ws_coverage_near on a device, for a build that is ok so far. */
typedef struct ws_coverage_run_request {
  const char *device; /* NULL: the simulator where the target has one, else,
                       * for thorough, the target's card */
  const ws_candidate *candidate;
  uint64_t seed;
  bool thorough; /* all pairs of classes, too */
  /* Of the build's request. Where the sanitizer has no model, those that are
   * no spots are run on the device first. */
  const ws_run *runs;
  int run_count;
} ws_coverage_run_request;

typedef struct ws_coverage_ran {
  const char *near;     /* what was run, in a sentence */
  const char *thorough; /* of --thorough; NULL: not asked for */
  const char *instead;  /* of the sanitizer, what came of its runs on the device
                         * or why there was none; NULL: it ran them */
  bool proven;          /* by that */
  /* Shapes among these of whose results nothing was compared: the kernel that
   * is the reference does not take them, or takes too long. */
  int uncompared;
  const ws_gap *gaps; /* and what was not */
  int gap_count;
} ws_coverage_ran;

/* A candidate that fails gets the device's verdict and findings in *result,
 * stage "device". Where no device runs it, *out says so and has all as gaps. */
ws_status ws_coverage_run(ws_arena *arena,
                          const ws_coverage_run_request *request,
                          ws_build_result *result, ws_coverage_ran *out,
                          ws_diag *diag) WS_MUST_CHECK;

/* The cheap look that every candidate gets: at most WS_VERIFY_SHAPES of those
 * that it accepts, a kind of edge each: one block of a depth and much of
 * another dimension, an extent beside a tile, an odd number of blocks, a long
 * depth. Small where it lets them, so that a simulator is through in a second.
 * They are drawn from a few that follow from the seed, so that a server can
 * keep their inputs. candidate NULL: it accepts all. 0: it takes none of them,
 * nor of 64 more of each kind, nor of the problem's samples, so nobody can say
 * that it is right; it must not be called ok. */
enum { WS_VERIFY_SHAPES = 4 };
int ws_verify_shapes(const ws_problem *problem, int layout,
                     const ws_candidate *candidate, uint64_t seed,
                     ws_covered out_cases[WS_VERIFY_SHAPES]);

#ifdef __cplusplus
}
#endif
#endif
