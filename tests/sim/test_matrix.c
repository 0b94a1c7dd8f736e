/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matrix instructions. Where elements lie: written out here from lane and
 * register to row and column, the other way round than the simulator has it
 * (AMD matrix instruction calculator). Arithmetic: small integers, exact in
 * whatever order; then the published CDNA3 model with 128-bit integers, and
 * cases by hand.
 */
#include "../unit/ws_test.h"

#include "decode.h"
#include "mfma_fp8.h"
#include "wavesmith/mfma.h"

enum { A = 64, B = 96, C = 128, D = 192, INDEX = 60, SIDE = 1024 };

static ws_wave wave;
static ws_group group;
static ws_text text;
static ws_vector registers[WS_VECTORS];

static void reset(void) {
  static struct ws_fp8_cache *cache;
  if (!cache)
    cache = ws__fp8_cache_create();
  memset(&wave, 0, sizeof wave);
  memset(&group, 0, sizeof group);
  memset(registers, 0, sizeof registers);
  wave.vgpr = registers;
  wave.group = &group;
  group.checked = true;
  group.fp8_cache = cache;
  group.text = &text;
}

static ws_instruction parse(const char *line) {
  ws_instruction in;
  ws_diag diag = {0};
  if (ws__parse_instruction(line, &in, &diag) != WS_OK)
    WS_FAIL("%s: %s", line, diag.text);
  in.execute = ws__execute_matrix(in.op);
  if (!in.execute)
    WS_FAIL("%s: no handler", line);
  return in;
}

static void run(const char *line) {
  ws_instruction in = parse(line);
  in.execute(&wave, &in);
}

static uint64_t seed = 88172645463325252u;
static uint32_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 32);
}

/* ---- shapes ---------------------------------------------------------------
 */

typedef enum kind { F32, XF32, F16, BF16, I8, F64, FP8, BF8 } kind;
static const int kind_bits[] = {32, 32, 16, 16, 8, 64, 8, 8};

typedef struct shape {
  const char *name;
  int m, k, blocks; /* n is m */
  kind a, b;
} shape;

static const shape shapes[] = {
    {"v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, F32, F32},
    {"v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, F32, F32},
    {"v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, F32, F32},
    {"v_mfma_f32_32x32x2_f32", 32, 2, 1, F32, F32},
    {"v_mfma_f32_16x16x4_f32", 16, 4, 1, F32, F32},
    {"v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, F16, F16},
    {"v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, F16, F16},
    {"v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, F16, F16},
    {"v_mfma_f32_32x32x8_f16", 32, 8, 1, F16, F16},
    {"v_mfma_f32_16x16x16_f16", 16, 16, 1, F16, F16},
    {"v_mfma_f32_32x32x4_2b_bf16", 32, 4, 2, BF16, BF16},
    {"v_mfma_f32_16x16x4_4b_bf16", 16, 4, 4, BF16, BF16},
    {"v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, BF16, BF16},
    {"v_mfma_f32_32x32x8_bf16", 32, 8, 1, BF16, BF16},
    {"v_mfma_f32_16x16x16_bf16", 16, 16, 1, BF16, BF16},
    {"v_mfma_f32_16x16x8_xf32", 16, 8, 1, XF32, XF32},
    {"v_mfma_f32_32x32x4_xf32", 32, 4, 1, XF32, XF32},
    {"v_mfma_i32_32x32x4_2b_i8", 32, 4, 2, I8, I8},
    {"v_mfma_i32_16x16x4_4b_i8", 16, 4, 4, I8, I8},
    {"v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, I8, I8},
    {"v_mfma_i32_32x32x16_i8", 32, 16, 1, I8, I8},
    {"v_mfma_i32_16x16x32_i8", 16, 32, 1, I8, I8},
    {"v_mfma_f64_16x16x4_f64", 16, 4, 1, F64, F64},
    {"v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, F64, F64},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, FP8, FP8},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, FP8, BF8},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, BF8, FP8},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, BF8, BF8},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, FP8, FP8},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, FP8, BF8},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, BF8, FP8},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, BF8, BF8},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int per_lane(const shape *s) { return s->k * s->m * s->blocks / 64; }
static int side_words(const shape *s) {
  return per_lane(s) * kind_bits[s->a] / 32;
}
static int result_words(const shape *s) {
  return s->m * s->m * s->blocks / 64 * (s->a == F64 ? 2 : 1);
}

/* Row (or column), block and k of element e of a lane of A (or B). */
static void side_place(const shape *s, int lane, int e, int *row, int *block,
                       int *k) {
  *row = lane % s->m;
  *block = lane / s->m % s->blocks;
  *k = lane / (s->m * s->blocks) * per_lane(s) + e;
}

/* Row, block and column of value r of a lane of C and D. */
static void result_place(const shape *s, int lane, int r, int *row, int *block,
                         int *column) {
  *column = lane % s->m;
  if (s->a == F64 && s->m == 16) {
    *row = 4 * r + lane / 16;
    *block = 0;
  } else if (s->a == F64) {
    *row = lane / 16;
    *block = lane / 4 % 4;
  } else if (s->m == 32) {
    *row = 8 * (r % 16 / 4) + 4 * (lane / 32) + r % 4;
    *block = r / 16;
  } else if (s->m == 16) {
    *row = 4 * (lane / 16) + r % 4;
    *block = r / 4;
  } else {
    *row = r % 4;
    *block = lane / 4;
  }
}

/* ---- elements -------------------------------------------------------------
 */

static void put(int first, kind type, int lane, int e, uint64_t bits) {
  int size = kind_bits[type], at = e * size;
  if (size == 64) {
    registers[first + 2 * e].u32[lane] = (uint32_t)bits;
    registers[first + 2 * e + 1].u32[lane] = (uint32_t)(bits >> 32);
    return;
  }
  uint32_t *word = &registers[first + at / 32].u32[lane];
  uint32_t mask = size == 32 ? UINT32_MAX : ((1u << size) - 1) << at % 32;
  *word = (*word & ~mask) | ((uint32_t)bits << at % 32 & mask);
}

static uint64_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}
static uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return bits;
}

/* Small integers in every format; fp8: the byte is searched for. */
static uint64_t encode(kind type, int value) {
  _Float16 half = (_Float16)value;
  uint16_t word;
  switch (type) {
  case F16:
    memcpy(&word, &half, 2);
    return word;
  case BF16:
    return bits_of_float((float)value) >> 16;
  case I8:
    return (uint8_t)value;
  case F64:
    return bits_of_double(value);
  case FP8:
  case BF8:
    for (int byte = 0; byte < 256; byte++)
      if (byte != 0x80 &&
          ws_fp8_decode(type == FP8 ? WS_FP8_E4M3_FNUZ : WS_FP8_E5M2_FNUZ,
                        (uint8_t)byte) == (float)value)
        return (uint64_t)byte;
    WS_FAIL("no byte for %d", value);
  default:
    return bits_of_float((float)value);
  }
}

static double result_value(const shape *s, int lane, int r) {
  uint64_t bits = registers[D + r].u32[lane];
  float narrow;
  double wide;
  if (s->a == I8)
    return (int32_t)bits;
  if (s->a == F64) {
    bits = registers[D + 2 * r].u32[lane] |
           (uint64_t)registers[D + 2 * r + 1].u32[lane] << 32;
    memcpy(&wide, &bits, 8);
    return wide;
  }
  memcpy(&narrow, &bits, 4);
  return (double)narrow;
}

/* ---- layouts and modifiers ------------------------------------------------
 */

static int a_lane[64][16], b_lane[64][16]; /* small integers, by lane */

static void fill(const shape *s) {
  reset();
  for (int lane = 0; lane < 64; lane++)
    for (int e = 0; e < per_lane(s); e++) {
      a_lane[lane][e] = (int)(draw() % 9) - 4;
      b_lane[lane][e] = (int)(draw() % 9) - 4;
      put(A, s->a, lane, e, encode(s->a, a_lane[lane][e]));
      put(B, s->b, lane, e, encode(s->b, b_lane[lane][e]));
    }
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < result_words(s) / (s->a == F64 ? 2 : 1); r++) {
      int value = (int)(draw() % 1000) - 500;
      if (s->a == I8)
        registers[C + r].u32[lane] = (uint32_t)value;
      else
        put(C, s->a == F64 ? F64 : F32, lane, r,
            s->a == F64 ? bits_of_double(value) : bits_of_float((float)value));
    }
}

static int source_lane(int blgp, int lane) {
  static const int patterns[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3},
                                     {1, 2, 3, 0}, {0, 0, 0, 0}, {1, 1, 1, 1},
                                     {2, 2, 2, 2}, {3, 3, 3, 3}};
  return patterns[blgp][lane / 16] * 16 + lane % 16;
}

static double want(const shape *s, int block, int row, int column, int cbsz,
                   int abid, int blgp, double c) {
  double sum = c;
  int a_block = (block >> cbsz << cbsz) + abid;
  for (int lane = 0; lane < 64; lane++)
    for (int e = 0; e < per_lane(s); e++) {
      int i, block_i, k;
      side_place(s, lane, e, &i, &block_i, &k);
      if (i != row || block_i != a_block)
        continue;
      for (int other = 0; other < 64; other++) {
        int j, block_j, f = k % per_lane(s), kk;
        side_place(s, other, f, &j, &block_j, &kk);
        if (j == column && block_j == block && kk == k)
          sum += a_lane[lane][e] * b_lane[source_lane(blgp, other)][f];
      }
    }
  return sum;
}

static void check(const shape *s, const char *line, int cbsz, int abid,
                  int blgp, double constant, bool from_registers) {
  static ws_vector c[32];
  memcpy(c, &registers[C], sizeof c);
  run(line);
  if (group.fault.id)
    WS_FAIL("%s: %s", line, group.fault.text);
  int values = result_words(s) / (s->a == F64 ? 2 : 1);
  for (int lane = 0; lane < 64; lane += 1 + (int)(draw() % 3))
    for (int r = 0; r < values; r++) {
      int row, block, column;
      double start = constant;
      result_place(s, lane, r, &row, &block, &column);
      if (from_registers) {
        uint32_t low = c[s->a == F64 ? 2 * r : r].u32[lane];
        float f;
        memcpy(&f, &low, 4);
        uint64_t wide =
            low | (s->a == F64 ? (uint64_t)c[2 * r + 1].u32[lane] << 32 : 0);
        double g;
        memcpy(&g, &wide, 8);
        start = s->a == I8 ? (int32_t)low : s->a == F64 ? g : (double)f;
      }
      double model = want(s, block, row, column, cbsz, abid, blgp, start);
      double got = result_value(s, lane, r);
      if (got != model)
        WS_FAIL("%s: lane %d value %d (block %d row %d column %d): %g, want %g",
                line, lane, r, block, row, column, got, model);
    }
}

static void make_line(const shape *s, const char *c, const char *tail,
                      char out[160]) {
  int side = side_words(s), result = result_words(s);
  char a[32], b[32];
  snprintf(a, sizeof a, side == 1 ? "v%d" : "v[%d:%d]", A, A + side - 1);
  snprintf(b, sizeof b, side == 1 ? "v%d" : "v[%d:%d]", B, B + side - 1);
  snprintf(out, 160, "%.40s v[%d:%d], %.15s, %.15s, %.20s%.40s", s->name, D,
           D + result - 1, a, b, c, tail);
}

static void register_range(int first, const shape *s, char out[32]) {
  snprintf(out, 32, "v[%d:%d]", first, first + result_words(s) - 1);
}

WS_TEST(every_shape_puts_its_elements_where_the_hardware_does) {
  for (int i = 0; i < SHAPES; i++) {
    char line[160], c[32];
    fill(&shapes[i]);
    register_range(C, &shapes[i], c);
    make_line(&shapes[i], c, "", line);
    check(&shapes[i], line, 0, 0, 0, 0, true);
    ws_set_sgpr64(&wave, WS_SGPR_EXEC, 0); /* is ignored */
    make_line(&shapes[i], "0", "", line);
    check(&shapes[i], line, 0, 0, 0, 0, false);
    bool integer = shapes[i].a == I8;
    make_line(&shapes[i], integer ? "7" : "2.0", "", line);
    check(&shapes[i], line, 0, 0, 0, integer ? 7 : 2, false);
  }
}

WS_TEST(blocks_of_a_are_broadcast) {
  for (int i = 0; i < SHAPES; i++)
    for (int cbsz = 1; 1 << cbsz <= shapes[i].blocks && shapes[i].a != F64;
         cbsz++) {
      char line[160], tail[40];
      int abid = (int)(draw() % (1u << cbsz));
      fill(&shapes[i]);
      snprintf(tail, sizeof tail, " cbsz:%d abid:%d", cbsz, abid);
      make_line(&shapes[i], "0", tail, line);
      check(&shapes[i], line, cbsz, abid, 0, 0, false);
    }
}

WS_TEST(lanes_of_b_are_moved) {
  for (int i = 0; i < SHAPES; i++)
    for (int blgp = 1; blgp < 8 && shapes[i].a != F64; blgp++) {
      char line[160], tail[40];
      fill(&shapes[i]);
      snprintf(tail, sizeof tail, " blgp:%d", blgp);
      make_line(&shapes[i], "0", tail, line);
      check(&shapes[i], line, 0, 0, blgp, 0, false);
    }
}

WS_TEST(too_many_blocks_are_refused) {
  reset();
  run("v_mfma_f32_16x16x32_fp8_fp8 v[192:195], v[64:65], v[96:97], 0 cbsz:1");
  WS_CHECK_TEXT(group.fault.id, "unsupported");
}

WS_TEST(f64_negates) {
  reset();
  for (int lane = 0; lane < 64; lane++) {
    put(A, F64, lane, 0, bits_of_double(2));
    put(B, F64, lane, 0, bits_of_double(3));
    put(C, F64, lane, 0, bits_of_double(5));
  }
  static const struct {
    const char *neg;
    double want;
  } cases[] = {{"", 29},
               {" neg:[1,0,0]", -19},
               {" neg:[0,1,0]", -19},
               {" neg:[0,0,1]", 19},
               {" neg:[1,1,1]", 19}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char line[160];
    snprintf(line, sizeof line,
             "v_mfma_f64_4x4x4_4b_f64 v[192:193], v[64:65], v[96:97], "
             "v[128:129]%s",
             cases[i].neg);
    run(line);
    WS_CHECK(result_value(&shapes[23], 17, 0) == cases[i].want);
  }
}

WS_TEST(accumulation_registers) {
  reset();
  const float two = 2;
  for (int lane = 0; lane < 64; lane++) {
    memcpy(&registers[256 + 8].u32[lane], &two, 4);
    memcpy(&registers[5].u32[lane], &two, 4);
    for (int r = 0; r < 4; r++)
      memcpy(&registers[256 + r].u32[lane], &two, 4);
  }
  run("v_mfma_f32_16x16x4_f32 a[0:3], a8, v5, a[0:3]");
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 4; r++)
      WS_CHECK(registers[256 + r].u32[lane] == bits_of_float(18));
}

/* 0 * 0 + 1: a kernel that is timed sees what one that is run does. */
WS_TEST(timed_runs_compute) {
  reset();
  group.timing = true;
  registers[D].u32[0] = 77;
  run("v_mfma_f32_16x16x32_fp8_fp8 v[192:195], v[64:65], v[96:97], 1.0");
  WS_CHECK(registers[D].u32[0] == bits_of_float(1));
}

/* ---- never written --------------------------------------------------------
 */

WS_TEST(poison_spreads_along_row_and_column) {
  for (int i = 0; i < SHAPES; i++) {
    const shape *s = &shapes[i];
    char line[160], c[32];
    fill(s);
    register_range(C, s, c);
    make_line(s, c, "", line);
    int bad_a = (int)(draw() % 64), bad_b = (int)(draw() % 64);
    int bad_c = (int)(draw() % 64);
    wave.vector_poison[A + side_words(s) - 1] = UINT64_C(1) << bad_a;
    wave.vector_poison[B] = UINT64_C(1) << bad_b;
    wave.vector_poison[C] = UINT64_C(1) << bad_c;
    wave.vector_poison[D] = UINT64_MAX;
    run(line);
    int row, row_block, column, column_block, k;
    side_place(s, bad_a, 0, &row, &row_block, &k);
    side_place(s, bad_b, 0, &column, &column_block, &k);
    int words = s->a == F64 ? 2 : 1;
    for (int lane = 0; lane < 64; lane++)
      for (int r = 0; r < result_words(s); r++) {
        int x, block, y;
        result_place(s, lane, r / words, &x, &block, &y);
        bool model = (x == row && block == row_block) ||
                     (y == column && block == column_block) ||
                     (r == 0 && lane == bad_c);
        if ((wave.vector_poison[D + r] >> lane & 1) != model)
          WS_FAIL("%s: register %d lane %d", line, r, lane);
      }
  }
}

WS_TEST(poison_moves_with_the_modifiers) {
  reset();
  wave.vector_poison[B] = UINT64_C(1) << 20; /* of lanes 16-31 only */
  run("v_mfma_f32_16x16x4_f32 v[192:195], v64, v96, 0 blgp:4");
  WS_CHECK(wave.vector_poison[D] == 0);
  run("v_mfma_f32_16x16x4_f32 v[192:195], v64, v96, 0 blgp:5");
  WS_CHECK(wave.vector_poison[D] == UINT64_C(0x0010001000100010));
}

/* ---- arithmetic -----------------------------------------------------------
 */

/* significand * 2^(exponent - fraction) */
typedef struct number {
  int64_t significand;
  int exponent, fraction;
} number;

static number number_of(kind type, uint32_t bits) {
  static const int fractions[] = {
      [XF32] = 10, [F16] = 10, [BF16] = 7, [FP8] = 3, [BF8] = 2};
  static const int exponent_bits[] = {
      [XF32] = 8, [F16] = 5, [BF16] = 8, [FP8] = 4, [BF8] = 5};
  int fraction = fractions[type], width = exponent_bits[type];
  int bias = type == F16 ? 15 : type == FP8 ? 8 : type == BF8 ? 16 : 127;
  if (type == XF32)
    bits >>= 13;
  int field = (int)(bits >> fraction) & ((1 << width) - 1);
  int64_t significand = bits & ((1u << fraction) - 1);
  if (field)
    significand |= 1 << fraction;
  if (bits >> (fraction + width) & 1)
    significand = -significand;
  return (number){significand, (field ? field : 1) - bias, fraction};
}

/* value * 2^shift, rounded towards zero or down. */
static __int128 shifted(__int128 value, int shift, bool down) {
  if (value == 0)
    return 0;
  if (shift >= 0)
    return value * ((__int128)1 << shift);
  if (shift < -100)
    return down && value < 0 ? -1 : 0;
  __int128 unit = (__int128)1 << -shift, quotient = value / unit;
  return quotient - (down && value < 0 && quotient * unit != value);
}

static float model_group(const number *products, int count, float c) {
  int most = -1000;
  for (int k = 0; k < count; k++) {
    int e = products[k].significand ? products[k].exponent : -126;
    most = e > most ? e : most;
  }
  __int128 sum = 0;
  for (int k = 0; k < count; k++)
    sum +=
        shifted(products[k].significand,
                24 + products[k].exponent - most - products[k].fraction, false);
  uint32_t bits = (uint32_t)bits_of_float(c);
  int field = bits >> 23 & 255, c_exponent = (field ? field : 1) - 127;
  __int128 mantissa = (bits & 0x7fffff) | (field ? 0x800000 : 0);
  mantissa = bits >> 31 ? -mantissa : mantissa;
  int top = most > c_exponent ? most : c_exponent;
  __int128 total = shifted(sum, 31 - 24 + most - top, true) +
                   shifted(mantissa, 24 - 23 + c_exponent - top, true) * 128;
  return (float)ldexpl((long double)total, top - 31);
}

/* Finite bits of a type whose exponents span about 2 * span around 1. */
static uint32_t draw_bits(kind type, int span) {
  if (type == F16 && span > 15)
    span = 15;
  float value = ldexpf((float)draw() / 0x1p31f - 1,
                       (int)(draw() % (unsigned)(2 * span + 1)) - span);
  _Float16 half = (_Float16)value;
  uint16_t word;
  if (draw() % 8 == 0)
    value = 0, half = 0;
  memcpy(&word, &half, 2);
  uint32_t bits = (uint32_t)bits_of_float(value);
  return type == F16 ? word : type == BF16 ? bits >> 16 : bits;
}

static void compare_with_model(const shape *s, int span) {
  static uint32_t a[64][8], b[64][8];
  char line[160], c[32];
  int group_size = s->a == XF32 ? 4 : s->k < 8 ? s->k : 8;
  reset();
  register_range(C, s, c);
  make_line(s, c, "", line);
  for (int lane = 0; lane < 64; lane++) {
    for (int e = 0; e < per_lane(s); e++) {
      put(A, s->a, lane, e, a[lane][e] = draw_bits(s->a, span));
      put(B, s->b, lane, e, b[lane][e] = draw_bits(s->b, span));
    }
    for (int r = 0; r < result_words(s); r++)
      registers[C + r].u32[lane] = draw() % 4 ? draw_bits(F32, span * 2) : 0;
  }
  run(line);
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < result_words(s); r++) {
      int row, block, column;
      float model;
      number products[8];
      result_place(s, lane, r, &row, &block, &column);
      memcpy(&model, &registers[C + r].u32[lane], 4);
      for (int k = 0; k < s->k; k++) {
        int e = k % per_lane(s);
        int high = k / per_lane(s) * s->m * s->blocks + block * s->m;
        number x = number_of(s->a, a[high + row][e]);
        number y = number_of(s->b, b[high + column][e]);
        products[k % group_size] =
            (number){x.significand * y.significand, x.exponent + y.exponent,
                     x.fraction + y.fraction};
        if (k % group_size == group_size - 1)
          model = model_group(products, group_size, model);
      }
      float got = (float)result_value(s, lane, r);
      if (got != model)
        WS_FAIL("%s: lane %d register %d: %a, want %a", line, lane, r,
                (double)got, (double)model);
    }
}

WS_TEST(f16_bf16_and_xf32_match_the_published_model) {
  for (int i = 0; i < SHAPES; i++)
    if (shapes[i].a == F16 || shapes[i].a == BF16 || shapes[i].a == XF32)
      for (int span = 0; span <= 24; span += 6)
        for (int repeat = 0; repeat < 3; repeat++)
          compare_with_model(&shapes[i], span);
}

/* One product per output, in lane 0. */
static float one(const char *type, kind elements, const uint32_t *a,
                 const uint32_t *b, int count, float c) {
  char line[160];
  reset();
  for (int k = 0; k < count; k++) {
    put(A, elements, 0, k, a[k]);
    put(B, elements, 0, k, b[k]);
  }
  registers[C].u32[0] = (uint32_t)bits_of_float(c);
  snprintf(line, sizeof line,
           "v_mfma_f32_16x16x%d_%s v[192:195], v[64:65], v[96:97], v[128:131]",
           elements == XF32 ? 8 : 16, type);
  run(line);
  float value;
  memcpy(&value, &registers[D].u32[0], 4);
  return value;
}

WS_TEST(f16_cases_by_hand) {
  const uint32_t ones[4] = {0x3c00, 0x3c00, 0x3c00, 0x3c00};
  const uint32_t tiny[4] = {1, 0, 0, 0}; /* 2^-24: subnormals are kept */
  const uint32_t infinite[4] = {0x7c00}, zero[4] = {0};
  WS_CHECK(one("f16", F16, tiny, ones, 1, 0) == 0x1p-24f);
  /* C is floored at 24 bits below 1: 1 - 2^-25 becomes 1 - 2^-24, however
   * small C is, and a positive C below that vanishes. */
  WS_CHECK(one("f16", F16, ones, ones, 1, -0x1p-25f) == 1 - 0x1p-24f);
  WS_CHECK(one("f16", F16, ones, ones, 1, -0x1p-60f) == 1 - 0x1p-24f);
  WS_CHECK(one("f16", F16, ones, ones, 1, 0x1p-25f) == 1);
  WS_CHECK(one("f16", F16, infinite, ones, 1, 0) == INFINITY);
  WS_CHECK(isnan(one("f16", F16, infinite, zero, 1, 0)));
  WS_CHECK(one("f16", F16, ones, ones, 4, INFINITY) == INFINITY);
  WS_CHECK(isnan(one("f16", F16, ones, ones, 4, NAN)));
}

WS_TEST(bf16_and_xf32_cases_by_hand) {
  const uint32_t huge[2] = {0x7f00, 0x7f00}; /* 2^127 */
  const uint32_t small[2] = {0x0001, 0};     /* 2^-133, subnormal */
  const uint32_t two_64[2] = {0x5f80, 0};    /* 2^64 */
  WS_CHECK(one("bf16", BF16, huge, huge, 1, 0) == INFINITY);
  WS_CHECK(one("bf16", BF16, small, two_64, 1, 0) == 0x1p-69f);
  /* 1 + 2^-11 is truncated to 1, 1 + 2^-10 is kept */
  const uint32_t x[1] = {0x3f801000}, y[1] = {0x3f802000};
  const uint32_t unit[1] = {0x3f800000};
  WS_CHECK(one("xf32", XF32, x, unit, 1, 0) == 1);
  WS_CHECK(one("xf32", XF32, y, unit, 1, 0) == 1 + 0x1p-10f);
}

WS_TEST(f32_is_a_chain_of_fmas_in_order) {
  reset();
  float a[4], b[4], model = 0x1.8p3f;
  for (int k = 0; k < 4; k++) {
    a[k] = ldexpf((float)draw() / 0x1p32f + 1, 20 - 13 * k);
    b[k] = (float)draw() / 0x1p32f - 2;
    put(A, F32, 16 * k, 0, bits_of_float(a[k]));
    put(B, F32, 16 * k, 0, bits_of_float(b[k]));
    model = fmaf(a[k], b[k], model);
  }
  registers[C].u32[0] = (uint32_t)bits_of_float(0x1.8p3f);
  run("v_mfma_f32_16x16x4_f32 v[192:195], v64, v96, v[128:131]");
  WS_CHECK(registers[D].u32[0] == bits_of_float(model));
}

WS_TEST(f32_keeps_denormals) {
  reset();
  put(A, F32, 0, 0, bits_of_float(0x1p-140f));
  put(B, F32, 0, 0, bits_of_float(0.5f));
  run("v_mfma_f32_16x16x4_f32 v[192:195], v64, v96, 0");
  WS_CHECK(registers[D].u32[0] == bits_of_float(0x1p-141f));
}

WS_TEST(i8_wraps) {
  reset();
  put(A, I8, 0, 0, 0x80);
  put(B, I8, 0, 0, 0x80);
  registers[C].u32[0] = 0x7fffffff;
  run("v_mfma_i32_16x16x32_i8 v[192:195], v[64:65], v[96:97], v[128:131]");
  WS_CHECK(registers[D].u32[0] == 0x80003fff);
}

/* The two fp8 cases that tell the published arithmetic from a sum in f32; more
 * in tests/sanitizer/test_mfma.c. */
/* Random bytes and a large C, so that the quick way is tried and given up. */
static void fill_wide(void) {
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 40; r++)
      wave.vgpr[r].u32[lane] =
          r < 4 ? draw() & 0x7f7f7f7f
                : (uint32_t)(100 + draw() % 40) << 23 | draw() >> 9;
}

/* Whatever D covers, it is as if it were written after everything is read. */
WS_TEST(fp8_result_over_its_operands) {
  enum { OLD = 12, APART = 24, WORDS = 4 };
  static const int places[] = {OLD - 3, OLD - 2, OLD - 1, OLD, OLD + 1, OLD + 2,
                               OLD + 3, 0,       1,       2,   3,       APART};
  for (int round = 0; round < 50; round++) {
    static ws_vector before[40], want[WORDS];
    reset();
    fill_wide();
    memcpy(before, wave.vgpr, sizeof before);
    for (size_t i = sizeof places / sizeof *places; i-- > 0;) {
      char line[128];
      snprintf(line, sizeof line,
               "v_mfma_f32_16x16x32_fp8_fp8 v[%d:%d], v[0:1], v[2:3], v[12:15]",
               places[i], places[i] + 3);
      memcpy(wave.vgpr, before, sizeof before);
      run(line);
      if (places[i] == APART)
        memcpy(want, &wave.vgpr[APART], sizeof want);
      if (memcmp(want, &wave.vgpr[places[i]], sizeof want) != 0)
        WS_FAIL("round %d: %s", round, line);
    }
  }
}

WS_TEST(fp8_is_not_a_sum_in_f32) {
  reset();
  put(A, FP8, 0, 0, 0x40);
  put(B, FP8, 0, 0, 0x40);
  registers[C].u32[0] = (uint32_t)bits_of_float(-0x1p-25f);
  run("v_mfma_f32_16x16x32_fp8_fp8 v[192:195], v[64:65], v[96:97], "
      "v[128:131]");
  WS_CHECK(registers[D].u32[0] == bits_of_float(1 - 0x1p-24f));
  put(A, FP8, 0, 1, 0x80); /* NaN: of row 0 alone */
  run("v_mfma_f32_16x16x32_fp8_fp8 v[192:195], v[64:65], v[96:97], 0");
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 4; r++)
      WS_CHECK((registers[D + r].u32[lane] == 0x7fc00000) ==
               (lane < 16 && r == 0));
}

/* ---- sparse ---------------------------------------------------------------
 */

/* 16x16: A has 2 of 4 k; which, say two bits per element. */
static void check_sparse(const char *name, kind type, int set, int cbsz) {
  int stored = type == F16 || type == BF16 ? 4 : 8;
  int model[16][16] = {{0}}, dense[16][64] = {{0}}, right[64][16];
  char line[160];
  reset();
  for (int lane = 0; lane < 64; lane++) {
    registers[INDEX].u32[lane] = draw();
    for (int e = 0; e < stored; e++) {
      int bits = set * stored * 2 + 2 * e, value = (int)(draw() % 9) - 4;
      uint32_t place = e % 2 ? 1 + draw() % 3 : 0; /* ascending in a pair */
      registers[INDEX].u32[lane] &= ~(3u << bits);
      registers[INDEX].u32[lane] |= place << bits;
      put(A, type, lane, e, encode(type, value));
      dense[lane % 16][lane / 16 * stored * 2 + e / 2 * 4 + (int)place] = value;
    }
    for (int e = 0; e < 2 * stored; e++) {
      int value = (int)(draw() % 9) - 4;
      put(B, type, lane, e, encode(type, value));
      right[lane / 16 * stored * 2 + e][lane % 16] = value;
    }
  }
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      for (int k = 0; k < 8 * stored; k++)
        model[i][j] += dense[i][k] * right[k][j];
  snprintf(line, sizeof line, "%s v[192:195], v[64:65], v[96:99], v60%s%d",
           name, cbsz ? " cbsz:1 abid:" : " abid:", cbsz ? 3 : set);
  run(line);
  const shape like = {name, 16, 0, 1, type, type};
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < 4; r++)
      if (result_value(&like, lane, r) != model[4 * (lane / 16) + r][lane % 16])
        WS_FAIL("%s set %d: lane %d register %d", line, set, lane, r);
}

WS_TEST(sparse_takes_the_indexed_k) {
  for (int set = 0; set < 4; set++) {
    check_sparse("v_smfmac_f32_16x16x32_f16", F16, set, 0);
    check_sparse("v_smfmac_f32_16x16x32_bf16", BF16, set, 0);
  }
  for (int set = 0; set < 2; set++) {
    check_sparse("v_smfmac_i32_16x16x64_i8", I8, set, 0);
    check_sparse("v_smfmac_f32_16x16x64_fp8_fp8", FP8, set, 0);
  }
  check_sparse("v_smfmac_f32_16x16x32_f16", F16, 0, 1);
}

WS_TEST(all_matrix_opcodes_have_handlers) {
#define OP(name, class_, operands)                                             \
  if (!ws__execute_matrix(WS_OP_##name))                                       \
    WS_FAIL("%s has no handler", #name);
#include "ops_matrix.def"
#undef OP
  WS_CHECK(!ws__execute_matrix(WS_OP_s_nop));
}
