/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Element types: names, sizes, ranges, and rounding a double to one. Formats:
 * IEEE 754; OCP 8-bit floating point specification 1.0; for FNUZ, AMD's CDNA3
 * instruction set manual, section on conversions.
 */
#include "parts.h"

#include <math.h>

static const struct {
  const char *text;
  int bytes;
} names[WS_TYPE_COUNT] = {
#define TYPE_NAME(name, text, bytes) {text, bytes},
    WS_TYPE_MAP(TYPE_NAME)
#undef TYPE_NAME
};

/* Floats: digits behind the point, the least exponent of a normal number. FNUZ
 * has no minus zero. flushed: below the smallest normal arithmetic may give
 * zero, as GPUs do it in f32 and with it in bf16. */
typedef struct float_format {
  int fraction_bits, exponent_bits, least_exponent;
  double largest;
  bool flushed, unsigned_zero;
} float_format;

static const float_format formats[WS_TYPE_COUNT] = {
    [WS_F64] = {52, 11, -1022, 0x1.fffffffffffffp1023, false, false},
    [WS_F32] = {23, 8, -126, 0x1.fffffep127, true, false},
    [WS_F16] = {10, 5, -14, 65504, false, false},
    [WS_BF16] = {7, 8, -126, 0x1.fep127, true, false},
    [WS_E4M3] = {3, 4, -6, 448, false, false},
    [WS_E5M2] = {2, 5, -14, 57344, false, false},
    [WS_E4M3_FNUZ] = {3, 4, -7, 240, false, true},
    [WS_E5M2_FNUZ] = {2, 5, -15, 57344, false, true}};

/* The ends as ws_load gives them: those of 64 bits are rounded up. */
static const struct {
  double low, high;
  uint64_t high_code;
} integers[WS_TYPE_COUNT] = {
    [WS_I8] = {-0x1p7, 0x1p7 - 1, INT8_MAX},
    [WS_U8] = {0, 0x1p8 - 1, UINT8_MAX},
    [WS_I16] = {-0x1p15, 0x1p15 - 1, INT16_MAX},
    [WS_U16] = {0, 0x1p16 - 1, UINT16_MAX},
    [WS_I32] = {-0x1p31, 0x1p31 - 1, INT32_MAX},
    [WS_U32] = {0, 0x1p32 - 1, UINT32_MAX},
    [WS_I64] = {-0x1p63, 0x1p63, INT64_MAX},
    [WS_U64] = {0, 0x1p64, UINT64_MAX}};

const char *ws_type_text(ws_type type) {
  return (unsigned)type < WS_TYPE_COUNT ? names[type].text : "?";
}

int ws_type_bytes(ws_type type) {
  return (unsigned)type < WS_TYPE_COUNT ? names[type].bytes : 0;
}

bool ws__type_is_float(ws_type type) { return formats[type].fraction_bits > 0; }

double ws__type_largest(ws_type type) {
  return ws__type_is_float(type) ? formats[type].largest : integers[type].high;
}

double ws__type_lowest(ws_type type) {
  return ws__type_is_float(type) ? -formats[type].largest : integers[type].low;
}

double ws__type_least_normal(ws_type type) {
  return ldexp(1, formats[type].least_exponent);
}

/* Code of a magnitude that the format has: of a number of units of its least
 * step, in the binade that begins at 2^exponent. */
static uint64_t code_of(const float_format *f, double magnitude) {
  int exponent = magnitude > 0 ? ilogb(magnitude) : f->least_exponent;
  if (exponent < f->least_exponent)
    exponent = f->least_exponent;
  const double one = (double)(1ULL << f->fraction_bits);
  uint64_t units =
      (uint64_t)nearbyint(ldexp(magnitude, f->fraction_bits - exponent));
  /* a carry out of the fraction goes to the exponent by itself */
  uint64_t field = (uint64_t)(exponent - f->least_exponent);
  return field * (uint64_t)one + units;
}

static uint64_t encode(ws_type type, double value) {
  const float_format *f = &formats[type];
  uint64_t code = code_of(f, fmin(fabs(value), f->largest));
  bool negative = signbit(value) && (code || !f->unsigned_zero);
  return code | (uint64_t)negative << (f->fraction_bits + f->exponent_bits);
}

void ws__type_store(ws_type type, double value, void *contents, int64_t index) {
  uint64_t code;
  int bytes = ws_type_bytes(type);
  if (ws__type_is_float(type)) {
    code = encode(type, value);
  } else {
    double whole =
        nearbyint(fmax(fmin(value, integers[type].high), integers[type].low));
    code = whole >= integers[type].high ? integers[type].high_code
           : whole < 0                  ? (uint64_t)(int64_t)whole
                                        : (uint64_t)whole;
  }
  memcpy((char *)contents + index * bytes, &code, (size_t)bytes);
}

double ws__type_half_unit(ws_type type, double magnitude) {
  const float_format *f = &formats[type];
  const int exponent = magnitude > 0 ? ilogb(magnitude) : f->least_exponent;
  return ldexp(0.5,
               (exponent > f->least_exponent ? exponent : f->least_exponent) -
                   f->fraction_bits);
}

double ws__type_rounding(ws_type type, double want) {
  const float_format *f = &formats[type];
  if (!ws__type_is_float(type))
    return 0.5;
  double step = f->flushed ? ldexp(1, f->least_exponent)
                           : ldexp(0.5, f->least_exponent - f->fraction_bits);
  /* half of an f64's least step is none */
  return ldexp(fabs(want), -f->fraction_bits - 1) + fmax(step, 0x1p-1074);
}
