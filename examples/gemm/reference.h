/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The operands of C = A B^T with block scales in host memory (k-major),
 * random contents for them, and the plain fp64 value of single elements.
 */
#ifndef GEMM_REFERENCE_H
#define GEMM_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

typedef enum fp8_format { FP8_FNUZ, FP8_OCP } fp8_format; /* both e4m3 */

typedef struct operands {
  int32_t m, n, k;
  fp8_format format;
  int shuffled; /* B lies as AITER's shuffle_weight leaves it */
  int adds;     /* slices of k are rounded and added to C, which held zeros */
  uint8_t *a;   /* [m][k] fp8 */
  uint8_t *b;   /* [n][k] fp8, or [n/16][k/16][16][16] where shuffled */
  float *as;    /* [k/128][m] */
  float *bs;    /* [ceil(n/128)][k/128] */
  uint16_t *c;  /* [m][n] bf16 */
  size_t a_bytes, b_bytes, as_bytes, bs_bytes, c_bytes;
} operands;

/* 0 when there is no memory; operands_free is then still to be called. */
int operands_create(operands *out, int32_t m, int32_t n, int32_t k,
                    fp8_format format, int shuffled);
void operands_free(operands *op);

/* The error of c[i][j] as a share of what rounding allows: at most 1 when it
 * is right, infinite for NaN. */
double operands_error(const operands *op, int32_t i, int32_t j);

uint32_t random_next(uint64_t *state);

#endif
