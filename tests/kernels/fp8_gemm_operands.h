/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Operands of fp8_gemm_blockscale that a test fills byte by byte.
 */
#ifndef WAVESMITH_TESTS_FP8_GEMM_OPERANDS_H
#define WAVESMITH_TESTS_FP8_GEMM_OPERANDS_H

#include "../gemm_shape.h"
#include "wavesmith/problem.h"
#include "ws_test.h"

enum { KMAJOR, MNMAJOR, KMAJOR_OCP, KMAJOR_BPRESHUFFLE, KMAJOR_ADD, LAYOUTS };
enum { ONE = 0x40, OCP_ONE = 0x38 }; /* exponent fields 8 and 7: the bias */

static inline const ws_problem *gemm(void) {
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  WS_CHECK(problem);
  return problem;
}

static inline int arg(const char *name) {
  int index = ws_problem_arg_index(gemm(), name);
  WS_CHECK(index >= 0);
  return index;
}

/* Zeroed inputs and output of one shape; all scales are 1. */
typedef struct operands {
  ws_shape shape;
  int layout;
  uint8_t *a, *b;
  float *as, *bs;
  uint16_t *c;
  const void *buffers[WS_PROBLEM_MAX_ARGS];
  double *value, *error;
} operands;

static inline void *zeroed(operands *o, const char *name) {
  void *bytes = calloc(
      1, (size_t)ws_problem_arg_bytes(gemm(), arg(name), &o->shape, o->layout) +
             1);
  WS_CHECK(bytes);
  o->buffers[arg(name)] = bytes;
  return bytes;
}

static inline operands make(int64_t m, int64_t n, int64_t k, int layout) {
  operands o = {.shape = gemm_shape(m, n, k), .layout = layout};
  o.a = zeroed(&o, "a");
  o.b = zeroed(&o, "b");
  o.as = zeroed(&o, "as");
  o.bs = zeroed(&o, "bs");
  o.c = zeroed(&o, "c");
  for (int64_t i = 0; i < m * (k / 128); i++)
    o.as[i] = 1;
  for (int64_t i = 0; i < (n + 127) / 128 * (k / 128); i++)
    o.bs[i] = 1;
  o.value = malloc((size_t)(m * n) * sizeof(double));
  o.error = malloc((size_t)(m * n) * sizeof(double));
  WS_CHECK(o.value && o.error);
  return o;
}

static inline void drop(operands *o) {
  free(o->a), free(o->b), free(o->as), free(o->bs), free(o->c);
  free(o->value), free(o->error);
}

static inline void refer(operands *o) {
  ws_problem_reference(gemm(), &o->shape, o->layout, o->buffers, 0,
                       o->shape.size[DIM_M], o->value, o->error);
}

static inline void set_a(operands *o, int64_t row, int64_t k, uint8_t byte) {
  o->a[o->layout != MNMAJOR ? row * o->shape.size[DIM_K] + k
                            : k * o->shape.size[DIM_M] + row] = byte;
}

/* The five dimensions (n / 16, 16, k / 32, 2, 16) of an index, permuted to
 * (n / 16, k / 32, 2, 16, 16): AITER's order of shuffled weights. */
static inline int64_t shuffled_place(int64_t row, int64_t k, int64_t depth) {
  const int64_t band = row / 16, within = row % 16;
  const int64_t block = k / 32, half = k / 16 % 2, byte = k % 16;
  return (((band * (depth / 32) + block) * 2 + half) * 16 + within) * 16 + byte;
}

static inline int64_t place_in_b(const operands *o, int64_t row, int64_t k) {
  const int64_t n = o->shape.size[DIM_N], depth = o->shape.size[DIM_K];
  const int layout = o->layout % gemm()->layout_count;
  return layout == MNMAJOR              ? k * n + row
         : layout == KMAJOR_BPRESHUFFLE ? shuffled_place(row, k, depth)
                                        : row * depth + k;
}

static inline void set_b(operands *o, int64_t row, int64_t k, uint8_t byte) {
  o->b[place_in_b(o, row, k)] = byte;
}

/* The documented error of products whose magnitudes sum to this. */
static inline double fp32_error(const operands *o, double magnitudes) {
  return (double)(o->shape.size[DIM_K] / 16 + 16) * magnitudes * 0x1p-23;
}

/* Round to nearest, ties to even. */
static inline uint16_t to_bf16(double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
