/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which shapes a candidate is verified on, drawn anew for every run. Legality
 * (the problem's steps, the candidate's constraints) and the kernel's own tiles
 * and constants give *classes* of each extent: residues of m and n within a
 * tile, how many tiles there are, every small number of blocks of k, residues
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

typedef enum ws_factor_id {
  WS_FACTOR_M_EDGE, /* m within a tile */
  WS_FACTOR_M_SIZE, /* how many tiles, and beyond the largest m named */
  WS_FACTOR_N_EDGE,
  WS_FACTOR_N_SIZE,
  WS_FACTOR_K, /* number of blocks, then residues of large numbers */
  WS_FACTOR_STRIDES,
  WS_FACTORS
} ws_factor_id;

/* Those classes that the candidate takes at all. */
enum { WS_MAX_CLASSES = 96 };
typedef struct ws_factor {
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
  int8_t classes[WS_FACTORS];
} ws_covered;

typedef struct ws_coverage {
  uint64_t seed;
  ws_factor factors[WS_FACTORS];
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

/* The cheap look that every candidate gets: at most WS_VERIFY_SHAPES of those
 * that it accepts, a kind of edge each: one block of k and many columns, m
 * beside a tile, an odd number of blocks, a long k. Small where it lets them,
 * so that a simulator is through in a second. They are drawn from a few that
 * follow from the seed, so that a server can keep their inputs. candidate NULL:
 * it accepts all. 0: it takes none of them, nor any of sixteen larger ones, so
 * nobody can say that it is right; it must not be called ok. */
enum { WS_VERIFY_SHAPES = 4 };
int ws_verify_shapes(const ws_problem *problem, int layout,
                     const ws_candidate *candidate, uint64_t seed,
                     ws_covered out_cases[WS_VERIFY_SHAPES]);

#ifdef __cplusplus
}
#endif
#endif
