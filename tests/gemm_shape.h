/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes of the matrix products, whose dimensions are m, n and k.
 */
#ifndef WAVESMITH_TESTS_GEMM_SHAPE_H
#define WAVESMITH_TESTS_GEMM_SHAPE_H

#include "wavesmith/shape.h"

enum { DIM_M, DIM_N, DIM_K }; /* shape.size[DIM_M] */

static inline const ws_dims *gemm_dims(void) {
  static const char *const names[] = {"m", "n", "k"};
  return ws_dims_of(names, 3);
}

static inline ws_shape gemm_shape(int64_t m, int64_t n, int64_t k) {
  const int64_t sizes[] = {m, n, k};
  return ws_shape_of(gemm_dims(), sizes);
}

/* In tables; what uses them gives them their names. */
#define GEMM_SIZES(m, n, k)                                                    \
  { .size = {(m), (n), (k)} }

static inline ws_shape gemm_named(ws_shape shape) {
  shape.dims = gemm_dims();
  return shape;
}

#endif
