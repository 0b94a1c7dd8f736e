/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Element types, code by code: what a code means against the compiler's own
 * types and the formats' formulas; back to the code; and rounding at every
 * midpoint between two neighbours.
 */
#include "parts.h"
#include "ws_test.h"

/* Room for any element. */
typedef union element {
  uint64_t bits;
  float f32;
  double f64;
} element;

static double loaded(ws_type type, uint64_t bits) {
  const element one = {.bits = bits};
  return ws_load(type, &one, 0);
}

static double stored(ws_type type, double value) {
  element one = {.bits = 0};
  ws__type_store(type, value, &one, 0);
  return ws_load(type, &one, 0);
}

/* ---- what codes mean ---- */

/* sign, exponent and fraction as the formats' documents give them, in decimals:
 * (-1)^s 2^(e-bias) (1 + f / 2^bits), and without the 1 at e = 0. */
typedef struct small_format {
  ws_type type;
  int fraction_bits, bias;
  unsigned nan_first, nan_last, infinity; /* magnitudes; 0: none */
  bool unsigned_zero;                     /* FNUZ: minus zero is its one NaN */
  double largest, smallest;               /* of the formats' tables */
} small_format;

static const small_format small_formats[] = {
    {WS_E4M3, 3, 7, 0x7f, 0x7f, 0, false, 448, 0.001953125},
    {WS_E5M2, 2, 15, 0x7d, 0x7f, 0x7c, false, 57344, 0.0000152587890625},
    {WS_E4M3_FNUZ, 3, 8, 0, 0, 0, true, 240, 0.0009765625},
    {WS_E5M2_FNUZ, 2, 16, 0, 0, 0, true, 57344, 0.00000762939453125}};
enum { SMALL_FORMATS = sizeof small_formats / sizeof small_formats[0] };

static double meaning(const small_format *f, unsigned code) {
  const unsigned magnitude = code & 0x7f;
  const double sign = code & 0x80 ? -1 : 1;
  const double fraction =
      (double)(magnitude % (1U << f->fraction_bits)) / (1 << f->fraction_bits);
  const int exponent = (int)(magnitude >> f->fraction_bits);
  if ((f->unsigned_zero && code == 0x80) ||
      (f->nan_first && magnitude >= f->nan_first && magnitude <= f->nan_last))
    return NAN;
  if (f->infinity && magnitude == f->infinity)
    return sign * INFINITY;
  return sign * (exponent ? pow(2, exponent - f->bias) * (1 + fraction)
                          : pow(2, 1 - f->bias) * fraction);
}

static bool is_same(double a, double b) {
  return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

WS_TEST(codes_of_8_bits_mean_what_the_formats_say) {
  for (int i = 0; i < SMALL_FORMATS; i++) {
    const small_format *f = &small_formats[i];
    double largest = 0, smallest = INFINITY;
    for (unsigned code = 0; code < 256; code++) {
      const double got = loaded(f->type, code), want = meaning(f, code);
      if (!is_same(got, want))
        WS_FAIL("%s 0x%02x is %g, want %g", ws_type_text(f->type), code, got,
                want);
      if (isfinite(want))
        largest = fmax(largest, want);
      if (want > 0)
        smallest = fmin(smallest, want);
    }
    WS_CHECK_NEAR(largest, f->largest, 0);
    WS_CHECK_NEAR(smallest, f->smallest, 0);
    WS_CHECK_NEAR(ws__type_largest(f->type), f->largest, 0);
  }
}

#ifdef __FLT16_MAX__
WS_TEST(codes_of_f16_mean_what_the_compiler_says) {
  for (unsigned code = 0; code < 65536; code++) {
    const uint16_t bits = (uint16_t)code;
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    if (!is_same(loaded(WS_F16, code), (double)half))
      WS_FAIL("f16 0x%04x is %g", code, loaded(WS_F16, code));
  }
}
#endif

WS_TEST(codes_of_bf16_are_the_upper_half_of_an_f32) {
  for (unsigned code = 0; code < 65536; code++) {
    const uint16_t bits = (uint16_t)code;
    const uint16_t halves[] = {0, bits}; /* little endian */
    float wide;
    memcpy(&wide, halves, sizeof wide);
    if (!is_same(loaded(WS_BF16, code), (double)wide))
      WS_FAIL("bf16 0x%04x is %g", code, loaded(WS_BF16, code));
  }
}

WS_TEST(others_are_the_compilers_own) {
  const element f64 = {.f64 = -0.1}, f32 = {.f32 = -0.1F};
  WS_CHECK_NEAR(loaded(WS_F64, f64.bits), -0.1, 0);
  WS_CHECK_NEAR(loaded(WS_F32, f32.bits), (double)-0.1F, 0);
  WS_CHECK_NEAR(loaded(WS_I8, 0x80), -128, 0);
  WS_CHECK_NEAR(loaded(WS_U8, 0xff), 255, 0);
  WS_CHECK_NEAR(loaded(WS_I16, 0x8000), -32768, 0);
  WS_CHECK_NEAR(loaded(WS_U16, 0xffff), 65535, 0);
  WS_CHECK_NEAR(loaded(WS_I32, 0x80000000), -2147483648.0, 0);
  WS_CHECK_NEAR(loaded(WS_U32, 0xffffffff), 4294967295.0, 0);
  WS_CHECK_NEAR(loaded(WS_I64, UINT64_C(1) << 63), -0x1p63, 0);
  WS_CHECK_NEAR(loaded(WS_U64, UINT64_C(1) << 63), 0x1p63, 0);
}

/* ---- and back ---- */

static const ws_type coded[] = {WS_F16,  WS_BF16,      WS_E4M3,
                                WS_E5M2, WS_E4M3_FNUZ, WS_E5M2_FNUZ};
enum { CODED = sizeof coded / sizeof coded[0] };

/* Into the third element, and no other is touched. */
static unsigned code_of(ws_type type, double value) {
  uint16_t room[4] = {0x5a5a, 0x5a5a, 0x5a5a, 0x5a5a};
  uint8_t *bytes = (uint8_t *)room;
  const int size = ws_type_bytes(type);
  ws__type_store(type, value, room, 2);
  for (int i = 0; i < 8; i++)
    if (i / size != 2)
      WS_CHECK_INT(bytes[i], 0x5a);
  return size == 1 ? bytes[2] : room[2];
}

WS_TEST(every_finite_code_comes_back) {
  for (int t = 0; t < CODED; t++)
    for (unsigned code = 0; code < 1U << 8 * ws_type_bytes(coded[t]); code++) {
      const double value = loaded(coded[t], code);
      if (isfinite(value) && code_of(coded[t], value) != code)
        WS_FAIL("%s 0x%x is %g, which is stored as 0x%x",
                ws_type_text(coded[t]), code, value, code_of(coded[t], value));
    }
}

/* Neighbours of one sign have neighbouring codes; the even one gets the tie. */
static void check_between(ws_type type, unsigned code) {
  const double low = loaded(type, code), high = loaded(type, code + 1);
  const double middle = (low + high) / 2;
  const unsigned even = code % 2 ? code + 1 : code;
  if (!isfinite(low) || !isfinite(high))
    return;
  if (code_of(type, middle) != even ||
      code_of(type, nextafter(middle, low)) != code ||
      code_of(type, nextafter(middle, high)) != code + 1)
    WS_FAIL("%s: between %g and %g", ws_type_text(type), low, high);
}

WS_TEST(midpoints_go_to_the_even_code) {
  for (int t = 0; t < CODED; t++) {
    const unsigned sign = 1U << (8 * ws_type_bytes(coded[t]) - 1);
    for (unsigned code = 0; code + 1 < sign; code++) {
      check_between(coded[t], code);
      if (!isnan(loaded(coded[t], sign | code)))
        check_between(coded[t], sign | code);
    }
  }
}

WS_TEST(beyond_the_range_is_its_end) {
  static const ws_type types[] = {WS_F32,  WS_F16,       WS_BF16,     WS_E4M3,
                                  WS_E5M2, WS_E4M3_FNUZ, WS_E5M2_FNUZ};
  static const double largest[] = {0x1.fffffep127, 65504, 0x1.fep127, 448,
                                   57344,          240,   57344};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (int sign = -1; sign <= 1; sign += 2) {
      static const double factors[] = {1, 1.5, 1e6, INFINITY};
      for (int i = 0; i < 4; i++) {
        WS_CHECK_NEAR(stored(types[t], sign * largest[t] * factors[i]),
                      sign * largest[t], 0);
      }
    }
}

/* Random numbers of all magnitudes against the compiler's conversions. */
WS_TEST(rounding_is_the_compilers) {
  ws_rng rng;
  ws_rng_init(&rng, 11);
  for (int i = 0; i < 200000; i++) {
    const double value =
        ldexp(ws_rng_normal(&rng), (int)ws_rng_below(&rng, 300) - 160);
    if (isfinite((float)value))
      WS_CHECK(is_same(stored(WS_F32, value), (double)(float)value));
#ifdef __FLT16_MAX__
    if (fabs(value) <= 65504)
      WS_CHECK(is_same(stored(WS_F16, value), (double)(_Float16)value));
#endif
    WS_CHECK(is_same(stored(WS_F64, value), value));
  }
}

WS_TEST(integers_round_and_stop_at_their_ends) {
  static const struct {
    ws_type type;
    double value, stored;
  } known[] = {{WS_I8, 2.5, 2},
               {WS_I8, 3.5, 4},
               {WS_I8, -2.5, -2},
               {WS_I8, 200, 127},
               {WS_I8, -200, -128},
               {WS_U8, -1, 0},
               {WS_U8, 255.4, 255},
               {WS_U8, 1e9, 255},
               {WS_I16, -40000, -32768},
               {WS_U16, 65535.6, 65535},
               {WS_I32, 3e9, 2147483647},
               {WS_I32, -3e9, -2147483648.0},
               {WS_U32, 4294967295.0, 4294967295.0},
               {WS_U32, -5, 0},
               {WS_I64, -0x1p63, -0x1p63},
               {WS_I64, -12345678901, -12345678901},
               {WS_I64, 1e30, 0x1p63}, /* the largest, rounded to a double */
               {WS_I64, -1e30, -0x1p63},
               {WS_U64, 0x1p63, 0x1p63},
               {WS_U64, 1e30, 0x1p64},
               {WS_U64, -1, 0}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    WS_CHECK_NEAR(stored(known[i].type, known[i].value), known[i].stored, 0);
  }
  int64_t most = 0;
  uint64_t most_unsigned = 0;
  ws__type_store(WS_I64, 0x1p63, &most, 0);
  ws__type_store(WS_U64, 0x1p64, &most_unsigned, 0);
  WS_CHECK(most == INT64_MAX && most_unsigned == UINT64_MAX);
}

/* ---- what rounding may cost ---- */

/* The error of storing is never more than is granted for it, and what is
 * granted is at most a step (of f32 and bf16 the smallest normal number). */
WS_TEST(what_is_granted_is_what_rounding_costs) {
  ws_rng rng;
  ws_rng_init(&rng, 12);
  for (int t = 0; t < CODED; t++)
    for (int i = 0; i < 20000; i++) {
      const double value =
          ldexp(ws_rng_normal(&rng), (int)ws_rng_below(&rng, 40) - 30);
      const double granted = ws__type_rounding(coded[t], value);
      if (fabs(value) > ws__type_largest(coded[t]))
        continue;
      WS_CHECK(fabs(stored(coded[t], value) - value) <= granted);
    }
  WS_CHECK_NEAR(ws__type_rounding(WS_F32, 1), 0x1p-24 + 0x1p-126, 0);
  WS_CHECK_NEAR(ws__type_rounding(WS_BF16, 1), 0x1p-8 + 0x1p-126, 0);
  WS_CHECK_NEAR(ws__type_rounding(WS_F16, 1), 0x1p-11 + 0x1p-25, 0);
  WS_CHECK_NEAR(ws__type_rounding(WS_E4M3, 1), 0x1p-4 + 0x1p-10, 0);
  WS_CHECK_NEAR(ws__type_rounding(WS_E5M2, 1), 0x1p-3 + 0x1p-17, 0);
  WS_CHECK_NEAR(ws__type_rounding(WS_F64, 1), 0x1p-53, 0x1p-1000);
  WS_CHECK_NEAR(ws__type_rounding(WS_I32, 1e6), 0.5, 0);
}
