/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the GPU libraries for the test of examples/gemm have in common: device
 * memory is host memory, and a launch multiplies on the CPU whatever kernel it
 * is given. So the example's inputs, layouts, arguments and comparison are
 * tested end to end, against arithmetic written a second time; the kernels
 * themselves are not (the IR sanitizer and the device tests do that).
 *
 * CPU_GEMM_SHAPE="m n k" says what the buffers mean: they are known by their
 * sizes, which must differ. The kernels must have been given the pointers and
 * m, n, k. CPU_GEMM_BREAK=1 makes one element of the result wrong.
 *
 * FP8_BIAS, IS_OCP: the fp8 format.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buffer {
  void *pointer;
  size_t size;
} buffers[64];
static int buffer_count;
static int m, n, k;
static void *a, *b, *as, *bs, *c;

static int read_shape(void) {
  const char *shape = getenv("CPU_GEMM_SHAPE");
  return shape && sscanf(shape, "%d %d %d", &m, &n, &k) == 3;
}

static void *allocate(size_t size) {
  void *pointer =
      buffer_count < 64 ? aligned_alloc(64, (size + 63) & ~(size_t)63) : NULL;
  if (pointer)
    buffers[buffer_count++] = (struct buffer){pointer, size};
  return pointer;
}

static void *buffer_of(size_t size) {
  for (int i = 0; i < buffer_count; i++)
    if (buffers[i].size == size)
      return buffers[i].pointer;
  fprintf(stderr, "no buffer of %zu bytes\n", size);
  abort();
}

static double fp8(unsigned byte) {
  if (IS_OCP ? (byte & 0x7f) == 0x7f : byte == 0x80)
    return NAN;
  unsigned exponent = (byte & 0x78) >> 3;
  double fraction = (byte & 7) / 8.0 + (exponent != 0);
  double value = fraction * pow(2, (exponent ? (int)exponent : 1) - FP8_BIAS);
  return byte > 0x7f ? -value : value;
}

/* Round to nearest, ties to even. */
static unsigned short bf16(float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float element(int row, int column) {
  const unsigned char *a_bytes = a, *b_bytes = b;
  const float *a_scales = as, *b_scales = bs;
  double sum = 0;
  for (int kk = 0; kk < k; kk++)
    sum += fp8(a_bytes[row * k + kk]) * fp8(b_bytes[column * k + kk]) *
           a_scales[kk / 128 * m + row] *
           b_scales[column / 128 * (k / 128) + kk / 128];
  return (float)sum;
}

static int contains(const unsigned char *bytes, size_t size, const void *value,
                    size_t value_size) {
  for (size_t at = 0; at + value_size <= size; at += 4)
    if (!memcmp(bytes + at, value, value_size))
      return 1;
  return 0;
}

/* A sequence of kernels may share the arguments out among them. */
enum { ALL_ARGUMENTS = (1 << 8) - 1 };
static int seen_arguments;

static void see_arguments(const unsigned char *bytes, size_t size) {
  size_t blocks = (size_t)k / 128, rows = (size_t)m, columns = (size_t)n;
  a = buffer_of(rows * (size_t)k), b = buffer_of(columns * (size_t)k);
  as = buffer_of(4 * rows * blocks);
  bs = buffer_of(4 * ((columns + 127) / 128) * blocks);
  c = buffer_of(2 * rows * columns);
  const struct {
    const void *value;
    size_t size;
  } arguments[] = {{&a, 8}, {&b, 8}, {&as, 8}, {&bs, 8},
                   {&c, 8}, {&m, 4}, {&n, 4},  {&k, 4}};
  for (int i = 0; i < 8; i++)
    if (contains(bytes, size, arguments[i].value, arguments[i].size))
      seen_arguments |= 1 << i;
}

/* 0: the kernels were not given all that they need. */
static int multiply(void) {
  if (seen_arguments != ALL_ARGUMENTS)
    return 0;
  unsigned short *out = c;
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++)
      out[row * n + column] = bf16(element(row, column));
  if (getenv("CPU_GEMM_BREAK"))
    out[0] = (unsigned short)(out[0] + 8); /* 2^-4 or 2^-5 off */
  return 1;
}
