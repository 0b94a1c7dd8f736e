/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every dense matrix intrinsic of gfx942 through the sanitizer, and the same
 * IR, compiled, through the simulator: bit-identical to each other, and as
 * D = A B + C computed here in fp64 (i8: int64). A kernel has one intrinsic
 * with several modifiers; its inputs are drawn per run. Where elements lie is
 * written out from the AMD matrix instruction calculator, from lane and
 * register to row and column.
 *
 * The bound. With S = |c| + sum |a| |b|, where no operand counts as less than
 * its type's smallest normal number, G groups of k and u = 2^-24: truncation
 * costs each product u, and each group at most 8 u more (two sums, their sum,
 * C, rounding), of S; one of the smallest f32 where that is less. f32 and f64
 * are chains of K roundings (f64: u = 2^-53). Integers are exact in all types.
 */
#include "model_fixture.h"

#include <math.h>

typedef enum kind { F32, XF32, F16, BF16, F64, I8, FP8, BF8 } kind;

static const struct type {
  int bits, group; /* k of a group; 0: a chain */
  double least;    /* normal */
} types[] = {[F32] = {32, 0, 0x1p-126},  [XF32] = {32, 4, 0x1p-126},
             [F16] = {16, 8, 0x1p-14},   [BF16] = {16, 8, 0x1p-126},
             [F64] = {64, 0, 0x1p-1022}, [I8] = {8, 0, 1},
             [FP8] = {8, 16, 0x1p-7},    [BF8] = {8, 16, 0x1p-15}};

static const struct form {
  const char *name;    /* llvm.amdgcn.mfma. */
  const char *operand; /* IR types */
  const char *result;
  int m, k, blocks; /* n is m */
  kind a, b;
} forms[] = {
    {"f32.32x32x1f32", "float", "<32 x float>", 32, 1, 2, F32, F32},
    {"f32.16x16x1f32", "float", "<16 x float>", 16, 1, 4, F32, F32},
    {"f32.4x4x1f32", "float", "<4 x float>", 4, 1, 16, F32, F32},
    {"f32.32x32x2f32", "float", "<16 x float>", 32, 2, 1, F32, F32},
    {"f32.16x16x4f32", "float", "<4 x float>", 16, 4, 1, F32, F32},
    {"f32.32x32x4f16", "<4 x half>", "<32 x float>", 32, 4, 2, F16, F16},
    {"f32.16x16x4f16", "<4 x half>", "<16 x float>", 16, 4, 4, F16, F16},
    {"f32.4x4x4f16", "<4 x half>", "<4 x float>", 4, 4, 16, F16, F16},
    {"f32.32x32x8f16", "<4 x half>", "<16 x float>", 32, 8, 1, F16, F16},
    {"f32.16x16x16f16", "<4 x half>", "<4 x float>", 16, 16, 1, F16, F16},
    {"f32.32x32x4bf16.1k", "<4 x i16>", "<32 x float>", 32, 4, 2, BF16, BF16},
    {"f32.16x16x4bf16.1k", "<4 x i16>", "<16 x float>", 16, 4, 4, BF16, BF16},
    {"f32.4x4x4bf16.1k", "<4 x i16>", "<4 x float>", 4, 4, 16, BF16, BF16},
    {"f32.32x32x8bf16.1k", "<4 x i16>", "<16 x float>", 32, 8, 1, BF16, BF16},
    {"f32.16x16x16bf16.1k", "<4 x i16>", "<4 x float>", 16, 16, 1, BF16, BF16},
    {"f32.16x16x8.xf32", "<2 x float>", "<4 x float>", 16, 8, 1, XF32, XF32},
    {"f32.32x32x4.xf32", "<2 x float>", "<16 x float>", 32, 4, 1, XF32, XF32},
    {"i32.32x32x4i8", "i32", "<32 x i32>", 32, 4, 2, I8, I8},
    {"i32.16x16x4i8", "i32", "<16 x i32>", 16, 4, 4, I8, I8},
    {"i32.4x4x4i8", "i32", "<4 x i32>", 4, 4, 16, I8, I8},
    {"i32.32x32x16.i8", "i64", "<16 x i32>", 32, 16, 1, I8, I8},
    {"i32.16x16x32.i8", "i64", "<4 x i32>", 16, 32, 1, I8, I8},
    {"f64.16x16x4f64", "double", "<4 x double>", 16, 4, 1, F64, F64},
    {"f64.4x4x4f64", "double", "double", 4, 4, 4, F64, F64},
    {"f32.16x16x32.fp8.fp8", "i64", "<4 x float>", 16, 32, 1, FP8, FP8},
    {"f32.16x16x32.fp8.bf8", "i64", "<4 x float>", 16, 32, 1, FP8, BF8},
    {"f32.16x16x32.bf8.fp8", "i64", "<4 x float>", 16, 32, 1, BF8, FP8},
    {"f32.16x16x32.bf8.bf8", "i64", "<4 x float>", 16, 32, 1, BF8, BF8},
    {"f32.32x32x16.fp8.fp8", "i64", "<16 x float>", 32, 16, 1, FP8, FP8},
    {"f32.32x32x16.fp8.bf8", "i64", "<16 x float>", 32, 16, 1, FP8, BF8},
    {"f32.32x32x16.bf8.fp8", "i64", "<16 x float>", 32, 16, 1, BF8, FP8},
    {"f32.32x32x16.bf8.bf8", "i64", "<16 x float>", 32, 16, 1, BF8, BF8},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- modifiers and contents -----------------------------------------------
 */

enum { MOST_VARIANTS = 16, CONTENTS = 4 };
typedef struct variant {
  int cbsz, abid, blgp;
} variant;

/* None; each blgp; of each cbsz the first and the last block; both at once. */
static int variants_of(const struct form *f, variant out[MOST_VARIANTS]) {
  int count = 0;
  for (int blgp = 0; blgp < 8; blgp++)
    out[count++] = (variant){0, 0, blgp};
  for (int cbsz = 1; 1 << cbsz <= f->blocks && f->a != F64; cbsz++) {
    out[count++] = (variant){cbsz, 0, cbsz % 3};
    out[count++] = (variant){cbsz, (1 << cbsz) - 1, 0};
  }
  return count;
}

/* Small integers; everyday numbers; hard ones: wide exponents, denormals,
 * zeros, cancellation; the same with NaN and infinities. */
enum { INTEGERS, USUAL, HARD, SPECIAL };

static uint64_t state;
static uint32_t draw(void) { /* splitmix64 */
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ z >> 31) >> 32);
}

static double drawn_value(int content) {
  const int sign = draw() & 1 ? -1 : 1;
  if (content == INTEGERS)
    return sign * (int)(draw() % 8);
  double fraction = 1 + draw() * 0x1p-32;
  if (content == USUAL)
    return sign * ldexp(fraction, (int)(draw() % 4) - 2);
  if (draw() % 8 == 0)
    return sign * 0.0;
  if (content == SPECIAL && draw() % 100 == 0)
    return draw() & 1 ? (double)NAN : sign * (double)INFINITY;
  if (draw() % 16 == 0)
    return sign * ldexp(fraction, -140);
  return sign * ldexp(fraction, (int)(draw() % 80) - 40);
}

/* bits of what the format has near the value; fp8: any byte, and integers by
 * hand from their definition (bias 8 and 16). */
static uint64_t bits_of(kind type, int content) {
  double value = drawn_value(content);
  float narrow = (float)value;
  uint32_t word;
  memcpy(&word, &narrow, 4);
  uint64_t wide;
  memcpy(&wide, &value, 8);
  _Float16 half = (_Float16)value;
  uint16_t half_bits;
  memcpy(&half_bits, &half, 2);
  const uint8_t byte = (uint8_t)draw();
  switch (type) {
  case F32:
    return word;
  case XF32: /* 10 bits of fraction */
    return word & 0xffffe000;
  case F16: /* any bits: the type is narrow enough; no NaN but in SPECIAL */
    if (content < HARD)
      return half_bits;
    return (byte * 257u ^ draw()) & (content == SPECIAL ? 0xffff : 0xbfff);
  case BF16:
    return word >> 16;
  case F64:
    return wide;
  case I8:
    return content == INTEGERS ? (uint8_t)(int)value : byte;
  default:
    if (content == INTEGERS) {
      const int fraction = type == FP8 ? 3 : 2, bias = type == FP8 ? 8 : 16;
      const int whole = (int)fabs(value) & 7;
      if (whole == 0)
        return 0;
      const int exponent = whole > 3 ? 2 : whole > 1;
      return (
          uint8_t)((value < 0 ? 0x80 : 0) | (exponent + bias) << fraction |
                   ((whole << fraction >> exponent) & ((1 << fraction) - 1)));
    }
    return byte == 0x80 && content != SPECIAL ? 0 : byte;
  }
}

/* Value of the bits, from the definition of each format. */
static double value_of(kind type, uint64_t bits) {
  const uint32_t word = (uint32_t)bits << (type == BF16 ? 16 : 0);
  float narrow;
  memcpy(&narrow, &word, 4);
  double wide;
  memcpy(&wide, &bits, 8);
  uint16_t half_bits = (uint16_t)bits;
  _Float16 half;
  memcpy(&half, &half_bits, 2);
  const int fraction = type == FP8 ? 3 : 2;
  const int field = (int)(bits & 0x7f) >> fraction;
  const int mantissa = (int)bits & ((1 << fraction) - 1);
  switch (type) {
  case F64:
    return wide;
  case F16:
    return (double)half;
  case I8:
    return (int8_t)bits;
  case FP8:
  case BF8:
    if (bits == 0x80)
      return (double)NAN;
    return (bits & 0x80 ? -1 : 1) *
           ldexp(field ? mantissa + (1 << fraction) : mantissa,
                 (field ? field : 1) - (type == FP8 ? 8 : 16) - fraction);
  default:
    return (double)narrow;
  }
}

/* ---- the wave's operands, by lane -----------------------------------------
 */

enum { A_AT = 0, B_AT = 1024, C_AT = 2048, INPUT_BYTES = 16384 };
enum { RESULT_BYTES = 8192 }; /* of a variant, at most: 128 a lane */

static int elements(const struct form *f) {
  return f->m * f->k * f->blocks / 64;
}
static int results(const struct form *f) {
  return f->m * f->m * f->blocks / 64;
}
static int result_bytes(const struct form *f) { return f->a == F64 ? 8 : 4; }

/* Of a lane, in C and in each D. */
static int stride(const struct form *f) { return results(f) * result_bytes(f); }

static void fill(const struct form *f, int content, uint64_t seed,
                 uint8_t *out) {
  state = seed;
  memset(out, 0, INPUT_BYTES);
  for (int side = 0; side < 2; side++) {
    const kind type = side ? f->b : f->a;
    const size_t size = (size_t)types[type].bits / 8;
    for (int lane = 0; lane < 64; lane++)
      for (int e = 0; e < elements(f); e++) {
        const uint64_t bits = bits_of(type, content);
        memcpy(out + (side ? B_AT : A_AT) + lane * 8 + (size_t)e * size, &bits,
               size);
      }
  }
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < results(f); r++) {
      const uint64_t bits = f->a != I8
                                ? bits_of(f->a == F64 ? F64 : F32, content)
                            : content == INTEGERS ? draw() % 100
                                                  : draw();
      memcpy(out + C_AT + lane * stride(f) + r * result_bytes(f), &bits,
             (size_t)result_bytes(f));
    }
}

static double element(const struct form *f, const uint8_t *input, int side,
                      int lane, int e) {
  const kind type = side ? f->b : f->a;
  uint64_t bits = 0;
  const size_t size = (size_t)types[type].bits / 8;
  memcpy(&bits, input + (side ? B_AT : A_AT) + lane * 8 + (size_t)e * size,
         size);
  return value_of(type, bits);
}

/* ---- reference ------------------------------------------------------------
 */

typedef struct place {
  int block, row, column;
} place;

/* Of value r of a lane of C and D. */
static place place_of(const struct form *f, int lane, int r) {
  const int column = lane % f->m, above = lane / f->m;
  if (f->a == F64)
    return f->m == 16 ? (place){0, 4 * r + above, column}
                      : (place){above % 4, above / 4, column};
  if (f->m == 4)
    return (place){above, r, column};
  const int per_block = f->m * f->m / 64, in_block = r % per_block;
  return (place){r / per_block,
                 in_block / 4 * (256 / f->m) + above * 4 + in_block % 4,
                 column};
}

/* The lanes' quarter that each quarter of B is taken from. */
static const int quarters[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3},
                                   {1, 2, 3, 0}, {0, 0, 0, 0}, {1, 1, 1, 1},
                                   {2, 2, 2, 2}, {3, 3, 3, 3}};

/* Operand of row (A) or column (B) i, block and k, before modifiers. */
static double operand(const struct form *f, const uint8_t *input, int side,
                      int block, int i, int k, int blgp) {
  const int per_lane = elements(f);
  int lane = (k / per_lane * f->blocks + block) * f->m + i;
  if (side && f->a != F64)
    lane = quarters[blgp][lane / 16] * 16 + lane % 16;
  return element(f, input, side, lane, k % per_lane);
}

static double at_least(kind type, double x) {
  return x == 0 ? 0 : fmax(fabs(x), types[type].least);
}

typedef struct wanted {
  long double value, bound;
} wanted;

static wanted want(const struct form *f, const variant *v, const uint8_t *input,
                   place at, double c) {
  const int negate = f->a == F64 ? v->blgp : 0;
  const int a_block = (at.block >> v->cbsz << v->cbsz) + v->abid;
  long double sum = negate & 4 ? -c : c, all = fabs(c);
  for (int k = 0; k < f->k; k++) {
    double a = operand(f, input, 0, a_block, at.row, k, 0);
    double b = operand(f, input, 1, at.block, at.column, k, v->blgp);
    sum += (long double)(negate & 1 ? -a : a) * (negate & 2 ? -b : b);
    all += (long double)at_least(f->a, a) * at_least(f->b, b);
  }
  const int group = types[f->a].group;
  const int groups = group ? (f->k + group - 1) / group : 0;
  const int steps = f->k + 8 * groups;
  if (f->a == F64)
    return (wanted){sum, steps * (all * 0x1.01p-53L + 0x1p-1074L)};
  return (wanted){sum, steps * (all * 0x1.01p-24L + 0x1p-149L)};
}

static bool agrees(const struct form *f, int content, wanted w,
                   const uint8_t *got_bytes) {
  if (f->a == I8) {
    int32_t got;
    memcpy(&got, got_bytes, 4);
    return got == (int32_t)(uint32_t)(int64_t)w.value; /* wraps */
  }
  double got;
  float narrow;
  memcpy(&got, got_bytes, 8 * (f->a == F64));
  memcpy(&narrow, got_bytes, 4);
  if (f->a != F64)
    got = (double)narrow;
  if (content == INTEGERS)
    return (long double)got == w.value;
  if (isnan(w.value) || isinf(w.value))
    return isnan(w.value) ? isnan(got) : (long double)got == w.value;
  return fabsl((long double)got - w.value) <= w.bound;
}

static void check_variant(const struct form *f, const variant *v, int content,
                          const uint8_t *input, const uint8_t *output) {
  for (int lane = 0; lane < 64; lane++)
    for (int r = 0; r < results(f); r++) {
      const int offset = lane * stride(f) + r * result_bytes(f);
      const place at = place_of(f, lane, r);
      uint64_t c_bits = 0;
      memcpy(&c_bits, input + C_AT + offset, (size_t)result_bytes(f));
      const double c = f->a == I8 ? (double)(int32_t)c_bits
                                  : value_of(f->a == F64 ? F64 : F32, c_bits);
      const wanted w = want(f, v, input, at, c);
      uint64_t got = 0;
      memcpy(&got, output + offset, (size_t)result_bytes(f));
      if (!agrees(f, content, w, output + offset))
        WS_FAIL("%s cbsz %d abid %d blgp %d, content %d: lane %d value %d "
                "(block %d row %d column %d) is 0x%llx, want %.17Lg within "
                "%.3Lg",
                f->name, v->cbsz, v->abid, v->blgp, content, lane, r, at.block,
                at.row, at.column, (unsigned long long)got, w.value, w.bound);
    }
}

/* ---- a product of bf16: C (f32) = A B^T, 16 x 16 x 16, row-major -----------
 */

static void fill_product(uint8_t *out) {
  state = 5;
  memset(out, 0, INPUT_BYTES);
  for (int i = 0; i < 512; i++) {
    const uint16_t bits = (uint16_t)bits_of(BF16, INTEGERS);
    memcpy(out + (i < 256 ? A_AT : B_AT) + i % 256 * 2, &bits, 2);
  }
}

static double product_element(const uint8_t *input, int at, int row, int k) {
  uint16_t bits;
  memcpy(&bits, input + at + (row * 16 + k) * 2, 2);
  return value_of(BF16, bits);
}

static int count_wrong(const uint8_t *input, const float *c) {
  int wrong = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      double sum = 0; /* exact */
      for (int k = 0; k < 16; k++)
        sum += product_element(input, A_AT, i, k) *
               product_element(input, B_AT, j, k);
      wrong += (double)c[i * 16 + j] != sum;
    }
  return wrong;
}

/* ---- the kernel -----------------------------------------------------------
 */

#define AT(name, base, offset, step)                                           \
  "  %" name ".lane = mul i32 %tid, " step "\n"                                \
  "  %" name ".off = add i32 %" name ".lane, " offset "\n"                     \
  "  %" name " = getelementptr i8, ptr addrspace(1) %" base ", i32 %" name     \
  ".off\n"

static small kernel_of(ws_arena *arena, const struct form *f,
                       const variant *variants, int count) {
  ws_strbuf body;
  ws_strbuf_init(&body);
  ws_strbuf_puts(&body, AT("pa", "a", "0", "8") AT("pb", "a", "1024", "8"));
  ws_strbuf_printf(
      &body,
      "  %%lane = mul i32 %%tid, %d\n"
      "  %%c.off = add i32 %%lane, 2048\n"
      "  %%pc = getelementptr i8, ptr addrspace(1) %%a, i32 %%c.off\n",
      stride(f));
  ws_strbuf_printf(&body,
                   "  %%va = load %s, ptr addrspace(1) %%pa, align 8\n"
                   "  %%vb = load %s, ptr addrspace(1) %%pb, align 8\n"
                   "  %%vc = load %s, ptr addrspace(1) %%pc, align 4\n",
                   f->operand, f->operand, f->result);
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(
        &body,
        "  %%d%d = call %s @llvm.amdgcn.mfma.%s(%s %%va, %s %%vb, %s %%vc, "
        "i32 %d, i32 %d, i32 %d)\n"
        "  %%s%d = add i32 %%lane, %d\n"
        "  %%p%d = getelementptr i8, ptr addrspace(1) %%c, i32 %%s%d\n"
        "  store %s %%d%d, ptr addrspace(1) %%p%d, align 4\n",
        i, f->result, f->name, f->operand, f->operand, f->result,
        variants[i].cbsz, variants[i].abid, variants[i].blgp, i,
        i * 64 * stride(f), i, i, f->result, i, i);
  ws_strbuf_printf(&body, "  ret void");
  small s = {.body = ws_arena_printf(arena, "%s", body.data)};
  if (strcmp(f->name, "f32.16x16x32.fp8.fp8"))
    s.declares = ws_arena_printf(
        arena, "declare %s @llvm.amdgcn.mfma.%s(%s, %s, %s, i32, i32, i32)",
        f->result, f->name, f->operand, f->operand, f->result);
  ws_strbuf_deinit(&body);
  return s;
}

static void check_same(const struct form *f, int content, int variants,
                       const uint8_t *sanitized, const uint8_t *simulated) {
  const int size = stride(f);
  for (int v = 0; v < variants; v++)
    for (int lane = 0; lane < 64; lane++) {
      const int at = (v * 64 + lane) * size;
      if (memcmp(simulated + at, sanitized + at, (size_t)size))
        WS_FAIL("%s, content %d: variant %d, lane %d differs from the "
                "simulator's",
                f->name, content, v, lane);
    }
}

static void check_form(const struct form *f) {
  static uint8_t inputs[CONTENTS][INPUT_BYTES];
  static uint8_t sanitized[CONTENTS * MOST_VARIANTS * RESULT_BYTES];
  static uint8_t simulated[sizeof sanitized];
  ws_arena *arena = ws_arena_create();
  variant variants[MOST_VARIANTS];
  const int count = variants_of(f, variants);
  const int size = count * 64 * stride(f);
  for (int i = 0; i < CONTENTS; i++)
    fill(f, i, (uint64_t)((f - forms) * CONTENTS + i), inputs[i]);
  model_run.name = f->name;
  model_run.runs = CONTENTS;
  model_run.input = inputs;
  model_run.output = sanitized;
  model_run.input_bytes = INPUT_BYTES;
  model_run.output_bytes = size;
  const small s = kernel_of(arena, f, variants, count);
  const char *text = small_text(arena, &s);
  model_sanitize(arena, text);
  model_simulate(arena, text, simulated);
  for (int i = 0; i < CONTENTS; i++) {
    for (int v = 0; v < count; v++)
      check_variant(f, &variants[v], i, inputs[i],
                    sanitized + i * size + v * 64 * stride(f));
    check_same(f, i, count, sanitized + i * size, simulated + i * size);
  }
  ws_arena_destroy(arena);
}

static void check_types(kind first, kind last) {
  for (int i = 0; i < FORMS; i++)
    if (forms[i].a >= first && forms[i].a <= last)
      check_form(&forms[i]);
}

WS_TEST(f32_and_xf32) { check_types(F32, XF32); }
WS_TEST(f16) { check_types(F16, F16); }
WS_TEST(bf16) { check_types(BF16, BF16); }
WS_TEST(f64) { check_types(F64, F64); }
WS_TEST(i8) { check_types(I8, I8); }
WS_TEST(fp8_and_bf8) { check_types(FP8, BF8); }

/* ---- a kernel of bf16 -------------------------------------------------------
 */

static const char product_body[] =
    "  %row = and i32 %tid, 15\n"
    "  %quarter = lshr i32 %tid, 4\n"
    "  %rows = mul i32 %row, 32\n"
    "  %ks = mul i32 %quarter, 8\n"
    "  %a.off = add i32 %rows, %ks\n"
    "  %b.off = add i32 %a.off, 1024\n"
    "  %pa = getelementptr i8, ptr addrspace(1) %a, i32 %a.off\n"
    "  %pb = getelementptr i8, ptr addrspace(1) %a, i32 %b.off\n"
    "  %va = load <4 x i16>, ptr addrspace(1) %pa, align 8\n"
    "  %vb = load <4 x i16>, ptr addrspace(1) %pb, align 8\n"
    "  %d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16bf16.1k(<4 x i16> "
    "%va, <4 x i16> %vb, <4 x float> zeroinitializer, i32 0, i32 0, i32 0)\n"
    "  %c.row = mul i32 %quarter, 256\n"
    "  %c.column = mul i32 %row, 4\n"
    "  %c.off = add i32 %c.row, %c.column\n"
    "  %p0 = getelementptr i8, ptr addrspace(1) %c, i32 %c.off\n"
    "  %p1 = getelementptr i8, ptr addrspace(1) %p0, i32 64\n"
    "  %p2 = getelementptr i8, ptr addrspace(1) %p0, i32 128\n"
    "  %p3 = getelementptr i8, ptr addrspace(1) %p0, i32 192\n"
    "  %d0 = extractelement <4 x float> %d, i32 0\n"
    "  %d1 = extractelement <4 x float> %d, i32 1\n"
    "  %d2 = extractelement <4 x float> %d, i32 2\n"
    "  %d3 = extractelement <4 x float> %d, i32 3\n"
    "  store float %d0, ptr addrspace(1) %p0\n"
    "  store float %d1, ptr addrspace(1) %p1\n"
    "  store float %d2, ptr addrspace(1) %p2\n"
    "  store float %d3, ptr addrspace(1) %p3\n"
    "  ret void";

static const char *product_text(const char *from, const char *to) {
  ws_arena *arena = test_arena();
  const small s = {
      .body = from ? exchanged(arena, product_body, from, to) : product_body,
      .declares = "declare <4 x float> "
                  "@llvm.amdgcn.mfma.f32.16x16x16bf16.1k(<4 x i16>, "
                  "<4 x i16>, <4 x float>, i32, i32, i32)"};
  return small_text(arena, &s);
}

static uint8_t product_input[INPUT_BYTES];
static float product[16 * 16];

static fixture run_product(const char *from, const char *to) {
  fill_product(product_input);
  model_run.input = product_input;
  model_run.output = product;
  model_run.input_bytes = sizeof product_input;
  model_run.output_bytes = sizeof product;
  return model_observe(test_arena(), product_text(from, to));
}

static int wrong_in_product(const char *from, const char *to) {
  fixture f = run_product(from, to);
  print_findings(&f);
  WS_CHECK_INT(f.findings.count, 0);
  WS_CHECK_INT(model_run.compared, 1);
  WS_CHECK_INT(f.results[0].launches[0].observed.mfma_other, 1);
  return count_wrong(product_input, product);
}

WS_TEST(a_product_of_bf16_is_right_and_its_mutants_are_wrong) {
  WS_CHECK_INT(wrong_in_product(NULL, NULL), 0);
  WS_CHECK(wrong_in_product("%row, 32", "%quarter, 32") > 0);
  WS_CHECK(wrong_in_product("<4 x i16> %va, <4 x i16> %vb",
                            "<4 x i16> %vb, <4 x i16> %va") > 0);
}

WS_TEST(modifiers_that_the_instruction_lacks) {
  static const char *const lacking[] = {
      "i32 1, i32 0, i32 0", "i32 0, i32 1, i32 0", "i32 0, i32 0, i32 8"};
  for (int i = 0; i < 3; i++) {
    fixture f = run_product("i32 0, i32 0, i32 0", lacking[i]);
    expect_finding(&f, "no-host-model", NULL, 0);
  }
}

WS_TEST(the_static_check_takes_all_of_them) {
  ws_pass_initialize();
  for (int i = 0; i < FORMS; i++) {
    ws_arena *arena = test_arena();
    variant variants[MOST_VARIANTS];
    const small s =
        kernel_of(arena, &forms[i], variants, variants_of(&forms[i], variants));
    model_run.name = forms[i].name;
    model_check_static(arena, small_text(arena, &s));
  }
}
