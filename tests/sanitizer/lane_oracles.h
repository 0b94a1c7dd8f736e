/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What intrinsics of one lane give, computed in another way than
 * runtime/sim/arithmetic does: by search in the table of all codes, in integers
 * wide enough, bit by bit, in long double within a unit in the last place where
 * the target promises no more.
 */
#ifndef WAVESMITH_LANE_ORACLES_H
#define WAVESMITH_LANE_ORACLES_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Operands: a, b, c of the kind that the intrinsic is about, d and e integers.
 */
typedef struct element {
  uint64_t a, b, c, d, e, unused[3];
} element;

/* ---- bits and numbers ---- */

static float f32(uint64_t bits) {
  const uint32_t word = (uint32_t)bits;
  float value;
  memcpy(&value, &word, 4);
  return value;
}
static uint32_t bits32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}
static double f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}
static float f16(uint64_t bits) {
  const uint16_t word = (uint16_t)bits;
  _Float16 value;
  memcpy(&value, &word, 2);
  return (float)value;
}
static uint32_t bits16(double value) {
  const _Float16 half = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &half, 2);
  return bits;
}

/* ---- what is wanted: true when `got` is right ---- */

typedef bool (*judge)(const element *x, uint64_t got, int variant);

/* A code of seven bits, from its definition: bias 8 and 3 bits, or 16 and 2. */
static double code_value(int code, bool wide) {
  const int fraction = wide ? 2 : 3, field = code >> fraction;
  const int mantissa = code & ((1 << fraction) - 1);
  return ldexp(field ? mantissa + (1 << fraction) : mantissa,
               (field ? field : 1) - (wide ? 16 : 8) - fraction);
}
static double code_values[2][129]; /* one beyond the largest: by its step */

static void fill_codes(void) {
  for (int wide = 0; wide < 2; wide++) {
    for (int code = 0; code < 128; code++)
      code_values[wide][code] = code_value(code, wide);
    code_values[wide][128] =
        2 * code_values[wide][127] - code_values[wide][126];
  }
}

/* The largest code that is not above the magnitude. */
static int code_below(double magnitude, bool wide) {
  int code = 0;
  for (int step = 128; step; step /= 2)
    if (code + step <= 128 && code_values[wide][code + step] <= magnitude)
      code += step;
  return code;
}
static uint32_t with_sign(int code, bool negative) {
  return code > 127 ? 0x80 : code && negative ? code | 0x80u : (uint32_t)code;
}
static uint32_t nearest_code(float x, bool wide) {
  if (isnan(x) || isinf(x))
    return 0x80;
  const double magnitude = fabs((double)x);
  int code = code_below(magnitude, wide);
  if (code < 128) {
    const double down = magnitude - code_values[wide][code];
    const double up = code_values[wide][code + 1] - magnitude;
    code += up < down || (up == down && code % 2);
  }
  return with_sign(code, signbit(x));
}
/* The seed's top bits count units of x's last place. */
static uint32_t stochastic_code(float x, uint32_t seed, bool wide) {
  if (isnan(x) || isinf(x))
    return 0x80;
  const int exponent = (int)(bits32(x) >> 23 & 0xff);
  const double unit = ldexp(1, (exponent ? exponent : 1) - 150);
  const double moved = fabs((double)x) + (seed >> (wide ? 11 : 12)) * unit;
  return with_sign(code_below(moved, wide), signbit(x));
}
static bool pair_of_codes(const element *x, uint64_t got, bool wide, int half) {
  const uint32_t pair =
      nearest_code(f32(x->a), wide) | nearest_code(f32(x->b), wide) << 8;
  const uint32_t old = (uint32_t)x->d;
  return got == (half ? pair << 16 | (old & 0xffff) : pair | old >> 16 << 16);
}
static bool cvt_pk_fp8(const element *x, uint64_t got, int half) {
  return pair_of_codes(x, got, false, half);
}
static bool cvt_pk_bf8(const element *x, uint64_t got, int half) {
  return pair_of_codes(x, got, true, half);
}
static bool one_code(const element *x, uint64_t got, bool wide, int byte) {
  uint8_t want[4];
  memcpy(want, &x->d, 4);
  want[byte] = (uint8_t)stochastic_code(f32(x->a), (uint32_t)x->e, wide);
  return !memcmp(want, &got, 4);
}
static bool cvt_sr_fp8(const element *x, uint64_t got, int byte) {
  return one_code(x, got, false, byte);
}
static bool cvt_sr_bf8(const element *x, uint64_t got, int byte) {
  return one_code(x, got, true, byte);
}

static bool is_code(uint32_t code, uint64_t got, bool wide) {
  if (code == 0x80)
    return isnan(f32(got));
  const double value = code_value((int)(code & 127), wide);
  return f32(got) == (code & 0x80 ? -value : value) && got >> 32 == 0 &&
         (value != 0 || got == 0);
}
static bool cvt_fp8(const element *x, uint64_t got, int byte) {
  return is_code(x->a >> 8 * byte & 0xff, got, false);
}
static bool cvt_bf8(const element *x, uint64_t got, int byte) {
  return is_code(x->a >> 8 * byte & 0xff, got, true);
}
static bool two_codes(const element *x, uint64_t got, bool wide, int half) {
  return is_code(x->a >> 16 * half & 0xff, got & UINT32_MAX, wide) &&
         is_code(x->a >> (16 * half + 8) & 0xff, got >> 32, wide);
}
static bool cvt_two_fp8(const element *x, uint64_t got, int half) {
  return two_codes(x, got, false, half);
}
static bool cvt_two_bf8(const element *x, uint64_t got, int half) {
  return two_codes(x, got, true, half);
}

static bool half_below(float x, uint32_t got) {
  uint32_t want = bits16(x);
  if (isnan(x))
    return isnan(f16(got));
  if (fabsf(f16(want)) > fabsf(x))
    want--; /* of the magnitude, one step down; from infinity too */
  return got == want;
}
static bool cvt_pkrtz(const element *x, uint64_t got, int variant) {
  (void)variant;
  return half_below(f32(x->a), got & 0xffff) &&
         half_below(f32(x->b), (uint32_t)got >> 16);
}

/* The nearest integer to x times scale, ties to even, by distances. */
static int nearest_integer(float x, int scale, int least) {
  const long double y = isnan(x)    ? 0
                        : x > 1     ? scale
                        : x < least ? (long double)least * scale
                                    : (long double)x * scale;
  int below = (int)floorl(y);
  const long double rest = y - below;
  return below + (rest > 0.5L || (rest == 0.5L && below % 2));
}
static bool cvt_pknorm(const element *x, uint64_t got, int is_signed) {
  const int scale = is_signed ? 32767 : 65535, least = is_signed ? -1 : 0;
  const uint16_t low = (uint16_t)nearest_integer(f32(x->a), scale, least);
  const uint16_t high = (uint16_t)nearest_integer(f32(x->b), scale, least);
  return got == (low | (uint32_t)high << 16);
}
static bool cvt_pk_u8(const element *x, uint64_t got, int variant) {
  (void)variant;
  uint8_t want[4];
  const float a = f32(x->a);
  memcpy(want, &x->e, 4);
  want[x->d & 3] = (uint8_t)nearest_integer(isnan(a)  ? 0
                                            : a > 255 ? 1
                                            : a < 0   ? 0
                                                      : a / 256,
                                            256, 0);
  if (a > 255)
    want[x->d & 3] = 255;
  return !memcmp(want, &got, 4);
}
static bool cvt_pk_16(const element *x, uint64_t got, int is_signed) {
  uint32_t want = 0;
  for (int i = 0; i < 2; i++) {
    const uint32_t word = (uint32_t)(i ? x->b : x->a);
    int64_t value = is_signed ? (int64_t)(int32_t)word : (int64_t)word;
    while (value > (is_signed ? 32767 : 65535))
      value = is_signed ? 32767 : 65535;
    while (value < (is_signed ? -32768 : 0))
      value = is_signed ? -32768 : 0;
    want |= (uint32_t)(uint16_t)value << 16 * i;
  }
  return got == want;
}

/* ---- integers ---- */

static uint8_t byte_at(uint64_t word, unsigned index) {
  uint8_t bytes[8];
  memcpy(bytes, &word, 8);
  return bytes[index];
}

static bool perm(const element *x, uint64_t got, int variant) {
  (void)variant;
  uint8_t pool[13] = {0};
  for (unsigned i = 0; i < 4; i++) {
    pool[i] = byte_at(x->b, i);
    pool[4 + i] = byte_at(x->a, i);
  }
  for (unsigned i = 0; i < 4; i++)
    pool[8 + i] = pool[2 * i + 1] > 127 ? 255 : 0;
  for (unsigned i = 0; i < 4; i++) {
    const uint8_t select = byte_at(x->c, i);
    if (byte_at(got, i) != (select > 12 ? 255 : pool[select]))
      return false;
  }
  return true;
}
static bool alignbyte(const element *x, uint64_t got, int variant) {
  (void)variant;
  for (unsigned i = 0; i < 4; i++) {
    const unsigned at = (unsigned)(x->c & 3) + i;
    if (byte_at(got, i) != (at < 4 ? byte_at(x->b, at) : byte_at(x->a, at - 4)))
      return false;
  }
  return got >> 32 == 0;
}
/* Bit by bit; beyond the word: its sign, or 0. */
static bool bit_field(const element *x, uint64_t got, int is_signed) {
  const unsigned offset = x->b & 31, width = x->c & 31;
  uint64_t want = 0;
  for (unsigned i = 0; i < 32 && width; i++) {
    unsigned from = offset + (i < width || !is_signed ? i : width - 1);
    const bool inside = i < width || is_signed;
    from = from > 31 && is_signed ? 31 : from;
    want |= inside && from < 32 ? (x->a >> from & 1) << i : 0;
  }
  return got == want;
}
static bool sffbh(const element *x, uint64_t got, int variant) {
  (void)variant;
  uint32_t count = 1;
  while (count < 32 && (x->a >> (31 - count) & 1) == (x->a >> 31 & 1))
    count++;
  return got == (count == 32 ? UINT32_MAX : count);
}
/* By halves of 12 bits. */
static __int128 product_24(uint64_t a, uint64_t b, bool is_signed) {
  __int128 left = a & 0xffffff, right = b & 0xffffff;
  if (is_signed && left >= 1 << 23)
    left -= 1 << 24;
  if (is_signed && right >= 1 << 23)
    right -= 1 << 24;
  return left * right;
}
enum { LOW, WIDE, HIGH, SIGNED = 4 };
static bool mul_24(const element *x, uint64_t got, int what) {
  const __int128 product = product_24(x->a, x->b, what & SIGNED);
  switch (what & 3) {
  case LOW:
    return got == (uint32_t)product;
  case WIDE:
    return got == (uint64_t)product;
  }
  return got == (uint32_t)(product >> 32);
}
static bool lerp(const element *x, uint64_t got, int variant) {
  (void)variant;
  for (unsigned i = 0; i < 4; i++) {
    const int sum = byte_at(x->a, i) + byte_at(x->b, i) + byte_at(x->c, i) % 2;
    if (byte_at(got, i) != sum / 2)
      return false;
  }
  return got >> 32 == 0;
}
static int64_t distances(uint64_t a, uint64_t b, int bytes, bool masked) {
  int64_t sum = 0;
  for (int i = 0; i < 4; i += bytes) {
    const uint64_t field = bytes == 1 ? 0xff : 0xffff;
    const int64_t left = (int64_t)(a >> 8 * i & field);
    const int64_t right = (int64_t)(b >> 8 * i & field);
    sum += masked && right == 0 ? 0 : llabs(left - right);
  }
  return sum;
}
enum { BYTES, HIGH_BYTES, WORDS, MASKED };
static bool sad(const element *x, uint64_t got, int what) {
  const int64_t sum =
      distances(x->a, x->b, what == WORDS ? 2 : 1, what == MASKED);
  return got == (uint32_t)((what == HIGH_BYTES ? sum * 65536 : sum) +
                           (int64_t)(x->c & UINT32_MAX));
}
static bool qsad(const element *x, uint64_t got, int masked) {
  for (int i = 0; i < 4; i++) {
    const int64_t sum = distances(x->a >> 8 * i & UINT32_MAX, x->b, 1, masked);
    const uint16_t add = (uint16_t)(x->c >> 16 * i);
    if ((uint16_t)(got >> 16 * i) != (uint16_t)(sum + add))
      return false;
  }
  return true;
}
/* Fields of a dot product as digits of the words. */
enum { CLAMP = 1, UNSIGNED = 2 };
static bool dot(const element *x, uint64_t got, int bits, int what) {
  const int64_t base = (int64_t)1 << bits;
  int64_t a = (uint32_t)x->a, b = (uint32_t)x->b;
  int64_t sum = what & UNSIGNED ? (int64_t)(uint32_t)x->c : (int32_t)x->c;
  for (int i = 0; i < 32 / bits; i++, a /= base, b /= base) {
    int64_t left = a % base, right = b % base;
    if (!(what & UNSIGNED)) {
      left -= left >= base / 2 ? base : 0;
      right -= right >= base / 2 ? base : 0;
    }
    sum += left * right;
  }
  const int64_t most = what & UNSIGNED ? UINT32_MAX : INT32_MAX;
  const int64_t least = what & UNSIGNED ? 0 : INT32_MIN;
  if (what & CLAMP)
    sum = sum > most ? most : sum < least ? least : sum;
  return got == (uint32_t)sum;
}
static bool dot2(const element *x, uint64_t got, int what) {
  return dot(x, got, 16, what);
}
static bool dot4(const element *x, uint64_t got, int what) {
  return dot(x, got, 8, what);
}
static bool dot8(const element *x, uint64_t got, int what) {
  return dot(x, got, 4, what);
}

/* ---- floating point ---- */

/* Two f64 additions and the rounding to f32: u = 2^-53 of all that is added,
 * and half a unit of the result. */
static bool fdot2(const element *x, uint64_t got, int clamp) {
  const __float128 p = (__float128)f16(x->a) * f16(x->b);
  const __float128 q = (__float128)f16(x->a >> 16) * f16(x->b >> 16);
  __float128 want = p + q + f32(x->d);
  const double all = fabs((double)p) + fabs((double)q) + fabs(f32(x->d));
  const float value = f32(got);
  if (isnan((double)want))
    return clamp ? value == 0 : isnan(value);
  if (clamp)
    want = want > 1 ? 1 : want < 0 ? 0 : want;
  if (isinf((double)want) || fabs((double)want) > 0x1.ffffffp127)
    return value == (float)want;
  const double ulp = nextafterf(fabsf(value), INFINITY) - fabsf(value);
  return fabs((double)(want - value)) <= ulp / 2 + 0x1p-51 * all;
}

static double flushed(double x, double least) {
  return fabs(x) < least ? 0 * x : x;
}

/* The kinds of numbers; f32 transcendentals know no denormals. */
enum { F32, F16, F64 };
static long double number(uint64_t bits, int kind) {
  return kind == F64 ? f64(bits) : kind == F16 ? f16(bits) : f32(bits);
}
/* At most a unit in the last place off, or at its kind's smallest; of f64,
 * which has two roundings, two units. */
static bool is_near(long double want, uint64_t got, int kind) {
  const long double value = number(got, kind);
  const int digits = kind == F64 ? 51 : kind == F16 ? 10 : 23;
  const int least = kind == F64 ? -1022 : kind == F16 ? -14 : -126;
  const long double most = kind == F64   ? (long double)DBL_MAX
                           : kind == F16 ? 65504
                                         : (long double)FLT_MAX;
  if (kind == F32)
    want = flushed((double)want, FLT_MIN);
  if (isnan(want) || isnan(value))
    return isnan(want) && isnan(value);
  if (isinf(value))
    return fabsl(want) >= most && (want > 0) == (value > 0);
  const int exponent = want == 0 ? least : ilogbl(want);
  return fabsl(want - value) <=
             ldexpl(1, (exponent < least ? least : exponent) - digits) &&
         (want == 0 || value == 0 || (want > 0) == (value > 0));
}
static long double argument(uint64_t bits, int kind) {
  const long double x = number(bits, kind);
  return kind == F32 ? (long double)flushed((double)x, FLT_MIN) : x;
}
#define NEAR(name, value)                                                      \
  static bool name(const element *e, uint64_t got, int kind) {                 \
    const long double x = argument(e->a, kind);                                \
    return is_near((value), got, kind);                                        \
  }
static long double turned(long double x, bool cosine) {
  const long double pi = 3.14159265358979323846264338327950288L;
  if (fabsl(x) > 256 && !isinf(x))
    return cosine;
  return cosine ? cosl(2 * pi * x) : sinl(2 * pi * x);
}
NEAR(rcp, 1 / x)
NEAR(rsq, 1 / sqrtl(x))
NEAR(root, sqrtl(x))
NEAR(exponential, exp2l(x))
NEAR(logarithm, log2l(x))
/* Near a zero of the function, the reduced argument's error counts: 2^-50. */
static bool is_turned(const element *e, uint64_t got, int kind, bool cosine) {
  const long double x = argument(e->a, kind), want = turned(x, cosine);
  return is_near(want, got, kind) || fabsl(want - number(got, kind)) < 0x1p-50L;
}
static bool sine(const element *e, uint64_t got, int kind) {
  return is_turned(e, got, kind, false);
}
static bool cosine(const element *e, uint64_t got, int kind) {
  return is_turned(e, got, kind, true);
}

/* Exact but for the rounding, which stays below 1. */
static bool fraction(const element *e, uint64_t got, int kind) {
  const long double x = number(e->a, kind), want = x - floorl(x);
  const long double value = number(got, kind);
  if (isnan(want))
    return isnan(value);
  const int digits = kind == F64 ? 53 : kind == F16 ? 11 : 24;
  return value < 1 && value >= 0 &&
         fabsl(want - value) <= ldexpl(1, -digits - (want < 0.5L)) &&
         (want == value || want == 1 ||
          want != floorl(want * ldexpl(1, digits)) * ldexpl(1, -digits));
}
static bool mantissa(const element *e, uint64_t got, int kind) {
  const long double x = number(e->a, kind), value = number(got, kind);
  if (isnan(x) || isinf(x) || x == 0)
    return isnan(x) ? isnan(value) : x == value;
  return value == scalbnl(x, -ilogbl(x) - 1);
}
static bool exponent(const element *e, uint64_t got, int kind) {
  const long double x = number(e->a, kind);
  const int want = !isfinite(x) || x == 0 ? 0 : ilogbl(x) + 1;
  return (kind == F16 ? (int16_t)got : (int32_t)got) == want;
}
static bool class(const element *e, uint64_t got, int kind) {
  const long double x = number(e->a, kind);
  const int quiet = kind == F64 ? 51 : kind == F16 ? 9 : 22;
  const double least = kind == F64 ? DBL_MIN : kind == F16 ? 0x1p-14 : FLT_MIN;
  const int sizes[] = {x == 0, x != 0 && fabsl(x) < least,
                       fabsl(x) >= least && isfinite(x), isinf(x) != 0};
  int bit = isnan(x) ? (int)(e->a >> quiet & 1) : 0;
  for (int i = 0; i < 4; i++)
    if (!isnan(x) && sizes[i])
      bit = signbit(x) ? 5 - i : 6 + i;
  return got == (e->d >> bit & 1);
}
static int by_size(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return x != y ? (x > y) - (x < y) : !!signbit(y) - !!signbit(x);
}
/* By sorting; with a NaN, the least number of the others. */
static bool median(const element *e, uint64_t got, int kind) {
  float x[3] = {(float)number(e->a, kind), (float)number(e->b, kind),
                (float)number(e->c, kind)};
  int numbers = 0;
  for (int i = 0; i < 3; i++)
    if (!isnan(x[i]))
      x[numbers++] = x[i];
  const float value = (float)number(got, kind);
  if (numbers == 0)
    return isnan(value);
  qsort(x, (size_t)numbers, sizeof *x, by_size);
  return bits32(x[numbers == 3 ? 1 : 0]) == bits32(value);
}
static bool product(const element *e, uint64_t got, int variant) {
  (void)variant;
  const double a = f32(e->a), b = f32(e->b);
  const float want = a == 0 || b == 0 ? 0 : (float)(a * b);
  return isnan(want) ? isnan(f32(got)) : bits32(want) == got;
}

#endif
