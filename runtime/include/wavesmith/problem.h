/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A problem: an operation with its arguments, inputs, reference, tolerance and
 * shape sets. One folder each under kernels/; the table is ws_problems().
 * Everything here is pure and thread-safe.
 */
#ifndef WAVESMITH_PROBLEM_H
#define WAVESMITH_PROBLEM_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_shape {
  int64_t m, n, k;
} ws_shape;

typedef struct ws_shape_set {
  const char *name; /* "contest", "contest-test", "decode", "held-out" */
  const ws_shape *shapes;
  int count;
} ws_shape_set;

typedef enum ws_arg_role {
  WS_ARG_INPUT,     /* device pointer, read only */
  WS_ARG_OUTPUT,    /* device pointer, every element must be written */
  WS_ARG_WORKSPACE, /* device pointer, contents undefined at entry */
  WS_ARG_SCALAR     /* i32 by value */
} ws_arg_role;

/* A kernel names its parameters as here and takes any subset in any order. */
typedef struct ws_problem_arg {
  const char *name;
  ws_arg_role role;
  const char *meaning; /* element type, logical shape, layout */
  /* A scalar that says how this argument lies in memory; NULL: none. */
  const char *stride_of;
} ws_problem_arg;

enum { WS_PROBLEM_MAX_ARGS = 24 };

/* What a comparison with the fp64 reference found. */
typedef struct ws_comparison {
  int64_t checked;
  int64_t wrong;      /* NaN and infinity count as wrong */
  double worst_ratio; /* max |got - want| / bound */
  int64_t first_m, first_n;
  double first_got, first_want, first_bound;
} ws_comparison;
enum { WS_WHOLE_ROW = -1 }; /* first_n: the row's projection is wrong */

typedef struct ws_place {
  int64_t m, n; /* an element of the output */
} ws_place;

#define WS_HARD_INPUTS (UINT64_C(1) << 63) /* a bit of a seed */

typedef struct ws_problem {
  const char *name, *purpose;
  /* What is computed, of which legal shapes, and how exactly a result must
   * agree: for who writes kernels. Several lines. */
  const char *definition;
  const ws_problem_arg *args;
  int arg_count;
  /* Values of the parameter "layout" that a template may declare: its value is
   * the index. The task fixes it; search never changes it. */
  const char *const *layouts;
  int layout_count;
  /* Ways in which operands may lie in memory at one shape and layout: what a
   * caller's strides may be. 0 is what is meant where nothing is said, and the
   * only one that is timed. `layout` in the functions below is an index into
   * layouts, or ws_problem_form(). */
  const char *const *stridings;
  int striding_count;
  const ws_shape_set *shape_sets;
  int shape_set_count;
  /* Every pointer is a multiple of this and may be no multiple of more: what a
   * kernel may rely on. A power of two from 16. */
  int64_t alignment;
  /* Legal extents are multiples of step; the problem itself treats them in
   * blocks of block, multiples of step: edges within one are worth a look. */
  ws_shape step, block;

  /* WS_INPUT with a sentence for an illegal shape. */
  ws_status (*check_shape)(const ws_shape *shape, ws_diag *diag);
  /* Bytes of a pointer argument (0 for workspace: the template says). */
  int64_t (*arg_bytes)(int arg, const ws_shape *shape, int layout);
  /* Value of a scalar argument. */
  int32_t (*arg_scalar)(int arg, const ws_shape *shape, int layout);
  /* Fills an input argument deterministically from the seed. One with
   * WS_HARD_INPUTS gives what ordinary data seldom holds: the ends of each
   * type's range, zeros, and magnitudes that differ from block to block. */
  void (*generate)(int arg, const ws_shape *shape, int layout, uint64_t seed,
                   void *out_bytes);
  /* fp64 reference of the rows [m_begin, m_end): value, and what a result's
   * arithmetic may be off by before it is rounded, both row-major
   * [m_end - m_begin][n]. buffers is indexed by argument (only inputs are
   * read). */
  void (*reference)(const ws_shape *shape, int layout,
                    const void *const *buffers, int64_t m_begin, int64_t m_end,
                    double *out_value, double *out_error);
  /* Compares rows [m_begin, m_end) of the output buffers with the reference
   * by the bound documented at the definition. */
  void (*compare)(const ws_shape *shape, const void *const *buffers,
                  int64_t m_begin, int64_t m_end, const double *value,
                  const double *error, ws_comparison *out);
  /* For outputs that are too many to compare them all: the product of each of
   * these rows with a vector of random signs, which follow from the seed.
   * value, and what arithmetic may be off by, of each; only inputs are read. */
  void (*project)(const ws_shape *shape, int layout, const void *const *buffers,
                  uint64_t seed, const int64_t *rows, int64_t count,
                  double *out_value, double *out_error);
  /* Compares the output's rows with that. */
  void (*compare_projections)(const ws_shape *shape, const void *const *buffers,
                              uint64_t seed, const int64_t *rows, int64_t count,
                              const double *value, const double *error,
                              ws_comparison *out);
  /* Compares the elements at these places only. */
  void (*compare_at)(const ws_shape *shape, int layout,
                     const void *const *buffers, const ws_place *places,
                     int count, ws_comparison *out);
  double (*flops)(const ws_shape *shape);
  double (*min_bytes)(const ws_shape *shape); /* each operand moved once */
} ws_problem;

const ws_problem *ws_problem_find(const char *name); /* NULL: none */
const ws_problem *const *ws_problems(int *out_count);
int ws_problem_arg_index(const ws_problem *problem, const char *name);
int ws_problem_layout_index(const ws_problem *problem, const char *name);
/* A layout with a striding, both by index, as one number. */
int ws_problem_form(const ws_problem *problem, int layout, int striding);
/* A shape set by name (NULL: none). */
const ws_shape_set *ws_problem_shape_set(const ws_problem *problem,
                                         const char *name);

/* ---- fp8_gemm_blockscale ---------------------------------------------------
 * C[i][j] (bf16) = sum over kb of As[i][kb] * Bs[j/128][kb]
 *                  * sum over k in block kb of A[i][k] * B[j][k]
 * kb counts blocks of 128 in k. m and n are positive multiples of 16, k a
 * positive multiple of 128. fp8 follows the layout: e4m3 FNUZ (gfx942), or
 * OCP e4m3fn (sm_90a, gfx950) in kmajor-ocp, which is kmajor in all else.
 * Arguments, by name:
 *   a  kmajor: [m][k] bytes          mnmajor: [k][m] bytes
 *   b  kmajor: [n][k] bytes          mnmajor: [k][n] bytes
 *   as fp32; element (i, kb) at i * as_stride_m + kb * as_stride_k
 *   bs fp32; element (j/128, kb) at (j/128) * bs_stride_n + kb * bs_stride_k
 *   c  bf16 [m][n]                   workspace  undefined bytes
 *   m n k as_stride_m as_stride_k bs_stride_n bs_stride_k   i32
 * Default strides: as is m-contiguous ([k/128][m]) in all layouts; bs is
 * [ceil(n/128)][k/128] for kmajor and [k/128][ceil(n/128)] for mnmajor. A
 * caller may pass others, positive and such that no two elements meet.
 * layouts: 0 "kmajor", 1 "mnmajor", 2 "kmajor-ocp". */

#ifdef __cplusplus
}
#endif
#endif
