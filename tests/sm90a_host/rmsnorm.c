/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * rmsnorm's kernel against fp64. Arguments: workgroups, threads, bytes of
 * shared memory, rows, columns.
 */
#include "emulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void kernel(void *x, void *residual, void *weight, void *sum, void *y, int rows,
            int cols, float eps);

static const float eps = 1e-5f;
static struct {
  uint16_t *x, *residual, *weight, *sum, *y;
  int rows, cols;
} g;

static void call(void) {
  kernel(g.x, g.residual, g.weight, g.sum, g.y, g.rows, g.cols, eps);
}

static uint16_t *operand(size_t count) {
  uint16_t *values = emulate_buffer(2 * count, 0);
  for (size_t i = 0; i < count; i++)
    values[i] = to_bf16((float)(rand() % 2001 - 1000) / 500.f);
  return values;
}

static float added(int row, int column) {
  const int at = row * g.cols + column;
  return from_bf16(g.x[at]) + from_bf16(g.residual[at]);
}

/* bf16 rounds by 2^-9; fp32 before it by much less. */
static int compare(int row) {
  double squares = 0;
  for (int j = 0; j < g.cols; j++)
    squares += (double)added(row, j) * added(row, j);
  const double factor = 1 / sqrt(squares / g.cols + eps);
  for (int j = 0; j < g.cols; j++) {
    const double want = added(row, j) * factor * from_bf16(g.weight[j]),
                 got = from_bf16(g.y[row * g.cols + j]);
    if (g.sum[row * g.cols + j] == to_bf16(added(row, j)) &&
        fabs(got - want) <= ldexp(fabs(want), -8))
      continue;
    printf("wrong: y[%d][%d] = %g, not %g\n", row, j, got, want);
    return 0;
  }
  return 1;
}

int main(int count, char **words) {
  int n[6] = {0};
  for (int i = 1; i < 6 && i < count; i++)
    n[i] = atoi(words[i]);
  const emulated_kernel kernel = {call, n[3]};
  g.rows = n[4], g.cols = n[5];
  const size_t all = (size_t)g.rows * (size_t)g.cols;
  g.x = operand(all);
  g.residual = operand(all);
  g.weight = operand((size_t)g.cols);
  for (int way = 0; way < EMULATE_WAYS; way++) {
    g.sum = emulate_buffer(2 * all, 0xff);
    g.y = emulate_buffer(2 * all, 0xff);
    emulate_run(&kernel, n[1], n[2], way);
    for (int i = 0; i < g.rows; i++)
      if (!compare(i))
        return 1;
  }
  puts("right");
  return 0;
}
