/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fp8 matrix instructions against a model written a second time, from the
 * description in MMA-Sim (arXiv 2511.10909) and with exact integers, and
 * against the model in the shared folder where that is. Decoding against
 * tables written out from the definition of the formats.
 */
#include "ws_test.h"

/* The source itself, to reach the vector code of each instruction set. */
#include "../../runtime/sim/arithmetic/mfma.c"

#include <stdint.h>

/* ---- decode ------------------------------------------------------------- */

/* Magnitudes of e4m3 FNUZ by exponent field: m / 8 * 2^-7 for field 0, else
 * (1 + m / 8) * 2^(field - 8); the row is 8 * 2^(...) as a base and a step. */
static const double e4m3_first[16] = {
    0, 0x1p-7, 0x1p-6, 0x1p-5, 0x1p-4, 0x1p-3, 0x1p-2, 0x1p-1,
    1, 2,      4,      8,      16,     32,     64,     128};
static const double e4m3_step[16] = {
    0x1p-10, 0x1p-10, 0x1p-9, 0x1p-8, 0x1p-7, 0x1p-6, 0x1p-5, 0x1p-4,
    0x1p-3,  0x1p-2,  0x1p-1, 1,      2,      4,      8,      16};

WS_TEST(e4m3_fnuz_all_bytes) {
  for (int byte = 0; byte < 256; byte++) {
    float got = ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)byte);
    if (byte == 0x80) {
      WS_CHECK(isnan(got));
      continue;
    }
    int field = (byte & 0x7f) / 8, m = byte % 8;
    double want = e4m3_first[field] + m * e4m3_step[field];
    if (byte >= 0x80)
      want = -want;
    if (got != want)
      WS_FAIL("byte 0x%02x is %g, want %g", byte, got, want);
  }
  /* landmarks of the format */
  WS_CHECK(ws_fp8_decode(WS_FP8_E4M3_FNUZ, 0x7f) == 240);
  WS_CHECK(ws_fp8_decode(WS_FP8_E4M3_FNUZ, 0x40) == 1);
  WS_CHECK(ws_fp8_decode(WS_FP8_E4M3_FNUZ, 0x01) == 0.0009765625f);
  WS_CHECK(ws_fp8_decode(WS_FP8_E4M3_FNUZ, 0xff) == -240);
}

WS_TEST(e5m2_fnuz_all_bytes) {
  for (int byte = 0; byte < 256; byte++) {
    float got = ws_fp8_decode(WS_FP8_E5M2_FNUZ, (uint8_t)byte);
    if (byte == 0x80) {
      WS_CHECK(isnan(got));
      continue;
    }
    int field = (byte & 0x7f) / 4, m = byte % 4;
    double unit = 1.0; /* of the mantissa's last bit: 2^(max(field,1) - 18) */
    for (int i = field ? field : 1; i < 18; i++)
      unit /= 2;
    for (int i = 18; i < field; i++)
      unit *= 2;
    double want = (m + (field ? 4 : 0)) * unit;
    if (byte >= 0x80)
      want = -want;
    if (got != want)
      WS_FAIL("byte 0x%02x is %g, want %g", byte, got, want);
  }
  WS_CHECK(ws_fp8_decode(WS_FP8_E5M2_FNUZ, 0x7f) == 57344);
  WS_CHECK(ws_fp8_decode(WS_FP8_E5M2_FNUZ, 0x40) == 1);
  WS_CHECK(ws_fp8_decode(WS_FP8_E5M2_FNUZ, 0x01) == 0x1p-17f);
}

WS_TEST(bf16_rounds_to_even) {
  WS_CHECK_INT(ws_bf16_from_f32(1.0f), 0x3f80);
  WS_CHECK_INT(ws_bf16_from_f32(1.0f + 0x1p-8f), 0x3f80); /* tie, even */
  WS_CHECK_INT(ws_bf16_from_f32(1.0f + 0x3p-8f), 0x3f82); /* tie, odd */
  WS_CHECK_INT(ws_bf16_from_f32(1.0f + 0x1.02p-8f), 0x3f81);
  WS_CHECK_INT(ws_bf16_from_f32(-0.0f), 0x8000);
  WS_CHECK_INT(ws_bf16_from_f32(INFINITY), 0x7f80);
  WS_CHECK_INT(ws_bf16_from_f32(0x1.ffp127f), 0x7f80); /* rounds up to it */
  WS_CHECK(isnan(ws_bf16_to_f32(ws_bf16_from_f32(NAN))));
  WS_CHECK(ws_bf16_to_f32(0x4049) == 3.140625f);
}

/* ---- the model -------------------------------------------------------------
 */

typedef struct number { /* significand * 2^(exponent - fraction) */
  int significand, exponent, fraction;
} number;

static number model_operand(ws_fp8_format format, uint8_t byte) {
  int fraction = format == WS_FP8_E4M3_FNUZ ? 3 : 2;
  int bias = format == WS_FP8_E4M3_FNUZ ? 8 : 16;
  int field = (byte & 0x7f) >> fraction, mantissa = byte % (1 << fraction);
  if (field == 0 && mantissa == 0)
    return (number){0, -126, fraction};
  int significand = field ? mantissa + (1 << fraction) : mantissa;
  return (number){byte & 0x80 ? -significand : significand,
                  (field ? field : 1) - bias, fraction};
}

/* value * 2^shift, towards zero or down. */
static __int128 scaled(__int128 value, int shift, int down) {
  if (shift >= 0)
    return value * ((__int128)1 << shift);
  if (shift < -100)
    return down && value < 0 ? -1 : 0;
  __int128 divisor = (__int128)1 << -shift;
  __int128 quotient = value / divisor;
  return quotient - (down && value < 0 && quotient * divisor != value);
}

static int larger(int a, int b) { return a > b ? a : b; }

static float model_add(__int128 sum, int exponent, float c) {
  uint32_t bits;
  memcpy(&bits, &c, sizeof bits);
  int field = bits >> 23 & 255, c_exponent = larger(field, 1) - 127;
  __int128 mantissa = (bits & 0x7fffff) | (field ? 0x800000 : 0);
  if (bits >> 31)
    mantissa = -mantissa;
  int most = larger(exponent, c_exponent);
  /* sum: 24 fractional bits below its exponent, floored to 31 below most */
  __int128 total = scaled(sum, 31 - 24 + exponent - most, 1);
  if (c_exponent >= most - 25)
    total += scaled(mantissa, 24 - 23 + c_exponent - most, 1) * 128;
  return (float)ldexpl((long double)total, most - 31);
}

static float model_dot(ws_fp8_format a_format, const uint8_t *a,
                       ws_fp8_format b_format, const uint8_t *b, int depth,
                       float c) {
  for (int k = 0; k < depth; k++)
    if (a[k] == 0x80 || b[k] == 0x80)
      return NAN;
  if (isnan(c) || isinf(c))
    return c;
  for (int group = 0; group < depth; group += 16) {
    __int128 sum[2];
    int exponent[2];
    for (int parity = 0; parity < 2; parity++) {
      exponent[parity] = -1000;
      for (int pass = 0; pass < 2; pass++) {
        sum[parity] = 0;
        for (int k = group + parity; k < group + 16; k += 2) {
          number x = model_operand(a_format, a[k]);
          number y = model_operand(b_format, b[k]);
          int e = x.exponent + y.exponent;
          exponent[parity] = larger(exponent[parity], e);
          sum[parity] +=
              scaled(x.significand * y.significand,
                     24 + e - exponent[parity] - x.fraction - y.fraction, 0);
        }
      }
    }
    int most = larger(exponent[0], exponent[1]);
    __int128 both = scaled(sum[0], exponent[0] - most, 1) +
                    scaled(sum[1], exponent[1] - most, 1);
    c = model_add(both, most, c);
  }
  return c;
}

/* ---- random operands
 * ---------------------------------------------------------- */

static uint64_t state = 88172645463325252u;
static uint32_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}

enum {
  ANY,
  WITH_NAN,
  EXTREME,
  SUBNORMAL,
  CANCEL,
  SMALL,
  ZEROS,
  MEDIUM, /* exponents of a normal distribution */
  WIDE,   /* the same, one in 64 far smaller */
  KINDS
};

static uint8_t draw_byte(int kind) {
  static const uint8_t extreme[] = {0x7f, 0xff, 0x01, 0x81, 0x78,
                                    0xf8, 0x08, 0x88, 0x00};
  uint8_t byte = (uint8_t)draw();
  switch (kind) {
  case EXTREME:
    return extreme[draw() % sizeof extreme];
  case SUBNORMAL:
    return (uint8_t)((byte & 0x83) == 0x80 ? 1 : byte & 0x83);
  case SMALL: /* near 1: the range of normal data */
    return (uint8_t)((byte & 0x8f) | 0x38);
  case MEDIUM:
  case WIDE:
    if (kind == WIDE && draw() % 64 == 0)
      return (byte & 0x8f) == 0x80 ? 0 : byte & 0x8f;
    return (uint8_t)((byte & 0x87) |
                     (0x30 + 8 * __builtin_clz(draw() | 1)) % 0x60);
  case ZEROS:
    return draw() % 4 ? 0 : byte == 0x80 ? 0 : byte;
  case WITH_NAN:
    return draw() % 200 ? (byte == 0x80 ? 0 : byte) : 0x80;
  }
  return byte == 0x80 ? 0 : byte;
}

static float draw_c(void) {
  static const int exponents[] = {0, 0, 8, 20, 40, -20, -40, -100, -140, 100};
  int exponent = exponents[draw() % 10] + (int)(draw() % 16) - 8;
  float value = ldexpf((float)draw() / 0x1p31f - 1.0f, exponent);
  return draw() % 16 ? value : draw() % 2 ? 0.0f : -0.0f;
}

typedef struct trial {
  ws_fp8_format a_format, b_format;
  uint8_t a[32][32], b[32][32]; /* [row or column][k] */
  float c[32][32];
} trial;

static void draw_trial(trial *t, int kind, int size, int depth) {
  t->a_format = draw() % 2 ? WS_FP8_E4M3_FNUZ : WS_FP8_E5M2_FNUZ;
  t->b_format = draw() % 2 ? WS_FP8_E4M3_FNUZ : WS_FP8_E5M2_FNUZ;
  for (int i = 0; i < size; i++)
    for (int k = 0; k < depth; k++) {
      t->a[i][k] = draw_byte(kind);
      t->b[i][k] = draw_byte(kind);
      if (kind == CANCEL && k % 4 >= 2) { /* the negative of two k before */
        t->a[i][k] = t->a[i][k - 2] ^ (t->a[i][k - 2] ? 0x80 : 0);
        t->b[i][k] = draw() % 8 ? t->b[i][k - 2] : t->b[i][k];
      }
    }
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      t->c[i][j] = draw_c();
}

static void expect(const trial *t, int i, int j, int depth, float got) {
  float want =
      model_dot(t->a_format, t->a[i], t->b_format, t->b[j], depth, t->c[i][j]);
  if (isnan(want) ? !isnan(got)
                  : memcmp(&got, &want, sizeof got) && got != want)
    WS_FAIL("row %d column %d: got %a, want %a (c %a)", i, j, got, want,
            t->c[i][j]);
}

static void pack(uint8_t bytes[32][32], int rows, uint64_t lanes[64]) {
  for (int lane = 0; lane < 64; lane++) {
    lanes[lane] = 0;
    for (int j = 0; j < 8; j++)
      lanes[lane] |= (uint64_t)bytes[lane % rows][lane / rows * 8 + j] << j * 8;
  }
}

static void check_16(trial *t) {
  uint64_t a[64], b[64];
  float c[64][4];
  pack(t->a, 16, a);
  pack(t->b, 16, b);
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 4; r++)
      c[lane][r] = t->c[lane / 16 * 4 + r][lane % 16];
  ws_mfma_f32_16x16x32(t->a_format, t->b_format, a, b, c, c);
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 4; r++)
      expect(t, lane / 16 * 4 + r, lane % 16, 32, c[lane][r]);
}

static void check_32(trial *t) {
  uint64_t a[64], b[64];
  float c[64][16];
  pack(t->a, 32, a);
  pack(t->b, 32, b);
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 16; r++)
      c[lane][r] = t->c[8 * (r / 4) + 4 * (lane / 32) + r % 4][lane % 32];
  ws_mfma_f32_32x32x16(t->a_format, t->b_format, a, b, c, c);
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 16; r++)
      expect(t, 8 * (r / 4) + 4 * (lane / 32) + r % 4, lane % 32, 16,
             c[lane][r]);
}

WS_TEST(mfma_16x16x32_matches_the_model) {
  static trial t;
  for (int kind = 0; kind < KINDS; kind++)
    for (int i = 0; i < 60; i++) {
      draw_trial(&t, kind, 16, 32);
      check_16(&t);
    }
}

WS_TEST(mfma_32x32x16_matches_the_model) {
  static trial t;
  for (int kind = 0; kind < KINDS; kind++)
    for (int i = 0; i < 20; i++) {
      draw_trial(&t, kind, 32, 16);
      check_32(&t);
    }
}

/* Whatever the processor chose above, the other copies agree. */
static void check_copies(trial *t, int size, int depth) {
  uint64_t a[64], b[64];
  static float want[32][32] __attribute__((aligned(64)));
  static float got[32][32] __attribute__((aligned(64)));
  run_function copies[4] = {portable_run};
  int count = 1;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2"))
    copies[count++] = avx2_run;
  if (!strcmp(ws_mfma_implementation(), "avx512"))
    copies[count++] = avx512_run;
  if (!strcmp(ws_mfma_implementation(), "avx512") &&
      __builtin_cpu_supports("avx512vnni"))
    copies[count++] = narrow_run;
#endif
  pack(t->a, size, a);
  pack(t->b, size, b);
  for (int copy = 0; copy < count; copy++) {
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++)
        ((float *)got)[i * size + j] = t->c[i][j];
    copies[copy](t->a_format, t->b_format, a, b, size / 16, depth,
                 (vector_float *)got);
    if (copy == 0)
      memcpy(want, got, sizeof want);
    WS_CHECK(!memcmp(want, got, (size_t)(size * size) * sizeof(float)));
  }
}

WS_TEST(mfma_is_the_same_on_every_instruction_set) {
  static trial t;
  for (int kind = 0; kind < KINDS; kind++)
    for (int i = 0; i < 40; i++) {
      draw_trial(&t, kind, 16, 32);
      check_copies(&t, 16, 32);
      draw_trial(&t, kind, 32, 16);
      check_copies(&t, 32, 16);
    }
}

/* The same over millions of results, with C as a GEMM has it. */
WS_TEST(mfma_is_the_same_on_every_instruction_set_for_long) {
  static trial t;
  for (int i = 0; i < 4000; i++) {
    int kind = i % KINDS, chain = i / KINDS % 4;
    draw_trial(&t, kind, 32, 32);
    for (int row = 0; row < 32; row++)
      for (int column = 0; column < 32; column++)
        if (chain == 0)
          t.c[row][column] = 0;
        else if (chain == 1)
          t.c[row][column] = (float)((int)(draw() % 65536) - 32768) / 1024;
        else if (chain == 2) /* up to where products no longer count */
          t.c[row][column] =
              ldexpf((float)((int)(draw() % 65536) - 32768), (int)(i % 40));
    check_copies(&t, 16, 32);
    check_copies(&t, 32, 16);
  }
}

/* Operands kept from before serve only the same contents, format and shape. */
WS_TEST(kept_operands_are_those_in_the_registers) {
  static uint32_t registers[8][128] __attribute__((aligned(512)));
  static float c[16], kept[1024], fresh[1024];
  struct ws_fp8_cache *cache = ws__fp8_cache_create();
  for (int i = 0; i < 4000; i++) {
    uint32_t *a = registers[draw() % 4], *b = registers[4 + draw() % 4];
    uint32_t *changed = draw() % 2 ? a : b;
    if (draw() % 3 == 0)
      changed[draw() % 128] = draw() & 0x7f7f7f7f;
    const int size = draw() % 2 ? 16 : 32;
    const ws_fp8_format left = draw() % 2 ? WS_FP8_E4M3_FNUZ : WS_FP8_E5M2_FNUZ;
    const ws_fp8_format right = WS_FP8_E4M3_FNUZ;
    ws__mfma_fp8(cache, left, right, size, a, b, c, true, kept);
    ws__mfma_fp8(NULL, left, right, size, a, b, c, true, fresh);
    WS_CHECK(!memcmp(kept, fresh, sizeof kept));
  }
  free(cache);
}

/* ---- single cases, by hand
 * -------------------------------------------------------- */

/* Element 0 of a product whose other operands are zero. */
static float one_element(const uint8_t *a, const uint8_t *b, int count,
                         float c) {
  static trial t;
  memset(&t, 0, sizeof t);
  for (int k = 0; k < count; k++) {
    t.a[0][k] = a[k];
    t.b[0][k] = b[k];
  }
  uint64_t la[64], lb[64];
  float lc[64][4] = {{0}};
  lc[0][0] = c;
  pack(t.a, 16, la);
  pack(t.b, 16, lb);
  ws_mfma_f32_16x16x32(WS_FP8_E4M3_FNUZ, WS_FP8_E4M3_FNUZ, la, lb, lc, lc);
  return lc[0][0];
}

WS_TEST(mfma_floors_towards_minus_infinity) {
  /* 1 * 1 with C = -2^-26: C is more than 25 below: dropped. At 2^-25 it is
   * kept, but floored at 24 fractional bits: -2^-25 becomes -2^-24. The sum
   * 1 - 2^-24 is a float. A true fma would give 1 - 2^-25, which rounds to 1.
   */
  const uint8_t one[] = {0x40};
  WS_CHECK(one_element(one, one, 1, -0x1p-26f) == 1.0f);
  WS_CHECK(one_element(one, one, 1, -0x1p-25f) == 1.0f - 0x1p-24f);
  WS_CHECK(one_element(one, one, 1, 0x1p-25f) == 1.0f);
}

WS_TEST(mfma_truncates_products_towards_zero) {
  /* k = 0: 128 * 128 = 2^14; k = 2: -(2^-10)(2^-10) = -2^-20, exponents
   * -7 - 7 = -14, 28 below 14: 2^-6 * 2^-14 is 2^-34 of the largest, under
   * the 24 bits, so it vanishes instead of pulling the sum down. */
  const uint8_t a[] = {0x78, 0, 0x01}, b[] = {0x78, 0, 0x81};
  WS_CHECK(one_element(a, b, 3, 0) == 16384.0f);
}

WS_TEST(mfma_drops_a_subnormal_c) {
  /* 2^15 * 2^15 - 2^15 * 2^15 = 0, exponent 30: C is more than 25 below. */
  static trial t;
  t.a[0][0] = t.a[0][2] = t.b[0][0] = 0x7c;
  t.b[0][2] = 0xfc;
  uint64_t a[64], b[64];
  float c[64][4] = {{0x1p-149f}};
  pack(t.a, 16, a);
  pack(t.b, 16, b);
  ws_mfma_f32_16x16x32(WS_FP8_E5M2_FNUZ, WS_FP8_E5M2_FNUZ, a, b, c, c);
  WS_CHECK(c[0][0] == 0);
}

WS_TEST(mfma_special_values) {
  const uint8_t nan[] = {0x80}, one[] = {0x40}, zero[] = {0};
  WS_CHECK(isnan(one_element(nan, one, 1, 0)));
  WS_CHECK(isnan(one_element(one, nan, 1, 0)));
  WS_CHECK(isnan(one_element(nan, zero, 1, 0)));
  WS_CHECK(isnan(one_element(one, one, 1, NAN)));
  WS_CHECK(one_element(one, one, 1, INFINITY) == INFINITY);
  WS_CHECK(one_element(one, one, 1, -INFINITY) == -INFINITY);
  WS_CHECK(one_element(zero, zero, 1, 0x1p-149f) == 0x1p-149f);
  WS_CHECK(one_element(one, one, 1, -1.0f) == 0);
}

/* ---- the shared model
 * --------------------------------------------------------------- */

/* Feeds columns of random finite operands through python3 and compares. */
WS_TEST(mfma_matches_the_shared_model) {
  const char *shared = getenv("WS_SHARED_DIR");
  char script[512], command[1024];
  snprintf(script, sizeof script, "%s/oracles/cdna3_fp8_ref.py",
           shared ? shared : ".");
  if (access(script, R_OK) != 0)
    WS_SKIP("%s is not there", script);
  if (system("python3 -c pass >/dev/null 2>&1") != 0)
    WS_SKIP("there is no python3");
  char folder[] = "/tmp/ws-mfma-XXXXXX";
  WS_CHECK(mkdtemp(folder));
  char input[64], output[64], driver[64];
  snprintf(input, sizeof input, "%s/in", folder);
  snprintf(output, sizeof output, "%s/out", folder);
  snprintf(driver, sizeof driver, "%s/run.py", folder);
  FILE *file = fopen(driver, "w");
  fprintf(file, "import sys\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "from cdna3_fp8_ref import mfma_dot\n"
                "for line in open(sys.argv[2]):\n"
                "  ea, eb, *v = line.split()\n"
                "  v = [float.fromhex(x) for x in v]\n"
                "  print(mfma_dot(v[1:33], v[33:65], v[0], int(ea), "
                "int(eb)).hex())\n");
  fclose(file);

  static trial t[6];
  file = fopen(input, "w");
  for (int n = 0; n < 6; n++) {
    static const int kinds[6] = {ANY, EXTREME, SUBNORMAL, CANCEL, SMALL, ZEROS};
    draw_trial(&t[n], kinds[n], 16, 32);
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++) {
        fprintf(file, "%d %d %a", t[n].a_format ? -15 : -7,
                t[n].b_format ? -15 : -7, t[n].c[i][j]);
        for (int k = 0; k < 32; k++)
          fprintf(file, " %a", ws_fp8_decode(t[n].a_format, t[n].a[i][k]));
        for (int k = 0; k < 32; k++)
          fprintf(file, " %a", ws_fp8_decode(t[n].b_format, t[n].b[j][k]));
        fputc('\n', file);
      }
  }
  fclose(file);
  snprintf(command, sizeof command, "python3 -B %s '%s/oracles' %s > %s",
           driver, shared, input, output);
  WS_CHECK(system(command) == 0);
  file = fopen(output, "r");
  for (int n = 0; n < 6; n++)
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++) {
        float want;
        WS_CHECK(fscanf(file, "%a", &want) == 1);
        float got = model_dot(t[n].a_format, t[n].a[i], t[n].b_format,
                              t[n].b[j], 32, t[n].c[i][j]);
        if (got != want)
          WS_FAIL("trial %d row %d column %d: this file's model says %a, the "
                  "shared one %a",
                  n, i, j, got, want);
      }
  fclose(file);
  for (int n = 0; n < 6; n++)
    check_16(&t[n]);
  unlink(input);
  unlink(output);
  unlink(driver);
  rmdir(folder);
}
