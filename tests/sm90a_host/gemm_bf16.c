/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * gemm_bf16.mlir's kernel against fp64, with the bound of the problem
 * (kernels/gemm_bf16/README.md). Arguments: workgroups, threads, bytes of
 * shared memory, m, n, k.
 */
#include "emulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void kernel(void *a, void *b, void *c, int m, int n, int k);

static struct {
  uint16_t *a, *b, *c;
  int m, n, k;
} g;

static void call(void) { kernel(g.a, g.b, g.c, g.m, g.n, g.k); }

static uint16_t *operand(size_t count) {
  uint16_t *values = emulate_buffer(2 * count, 0);
  for (size_t i = 0; i < count; i++)
    values[i] = to_bf16((float)(rand() % 2001 - 1000) / 500.f);
  return values;
}

static int compare(int i, int j) {
  double want = 0, size = 0;
  for (int l = 0; l < g.k; l++) {
    const double product =
        (double)from_bf16(g.a[i * g.k + l]) * from_bf16(g.b[j * g.k + l]);
    want += product;
    size += fabs(product);
  }
  const double got = from_bf16(g.c[i * g.n + j]),
               bound = ldexp(fabs(want), -8) +
                       ldexp((g.k / 16 + 16) * size, -23) + ldexp(1, -126);
  const int right = fabs(got - want) <= bound;
  if (!right)
    printf("wrong: C[%d][%d] = %g, not %g\n", i, j, got, want);
  return right;
}

int main(int count, char **words) {
  int n[7] = {0};
  for (int i = 1; i < 7 && i < count; i++)
    n[i] = atoi(words[i]);
  const emulated_kernel kernel = {call, n[3]};
  g.m = n[4], g.n = n[5], g.k = n[6];
  g.a = operand((size_t)g.m * (size_t)g.k);
  g.b = operand((size_t)g.n * (size_t)g.k);
  for (int way = 0; way < EMULATE_WAYS; way++) {
    g.c = emulate_buffer(2 * (size_t)g.m * (size_t)g.n, 0xff);
    emulate_run(&kernel, n[1], n[2], way);
    for (int i = 0; i < g.m; i++)
      for (int j = 0; j < g.n; j++)
        if (!compare(i, j))
          return 1;
  }
  puts("right");
  return 0;
}
