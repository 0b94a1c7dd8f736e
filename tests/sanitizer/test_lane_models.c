/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every intrinsic that a lane computes alone, through the sanitizer, and the
 * same IR compiled through the simulator: bit for bit the same but for which
 * NaN, and both as lane_oracles.h has it. A kernel applies each intrinsic of
 * its batch to all elements.
 */
#include "lane_oracles.h"
#include "model_fixture.h"

#include <inttypes.h>

/* ---- the intrinsics ---- */

typedef enum batch { FLOATS, HALVES, DOUBLES, INTEGERS, BATCHES } batch;

/* operands: word and type of each (f, h, d, i: i32, I: i64, H, W: two f16 or
 * i16), then what is constant. */
static const struct form {
  batch batch;
  const char *name, *operands, *constants;
  char result;
  judge right;
  int variant;
} forms[] = {
#define BOTH(name, operands, judge)                                            \
  {FLOATS, name, operands, ", i1 0", 'i', judge, 0},                           \
      {FLOATS, name, operands, ", i1 1", 'i', judge, 1},
#define FOUR(batch, name, operands, result, judge)                             \
  {batch, name, operands, ", i32 0", result, judge, 0},                        \
      {batch, name, operands, ", i32 1", result, judge, 1},                    \
      {batch, name, operands, ", i32 2", result, judge, 2},                    \
      {batch, name, operands, ", i32 3", result, judge, 3},
    BOTH("cvt.pk.fp8.f32", "afbfdi", cvt_pk_fp8)
        BOTH("cvt.pk.bf8.f32", "afbfdi", cvt_pk_bf8)
            FOUR(FLOATS, "cvt.sr.fp8.f32", "afeidi", 'i', cvt_sr_fp8)
                FOUR(FLOATS, "cvt.sr.bf8.f32", "afeidi", 'i', cvt_sr_bf8){
                    FLOATS, "cvt.pkrtz", "afbf", "", 'H', cvt_pkrtz, 0},
    {FLOATS, "cvt.pknorm.i16", "afbf", "", 'W', cvt_pknorm, 1},
    {FLOATS, "cvt.pknorm.u16", "afbf", "", 'W', cvt_pknorm, 0},
    {FLOATS, "cvt.pk.u8.f32", "afdiei", "", 'i', cvt_pk_u8, 0},
    {INTEGERS, "cvt.pk.i16", "aibi", "", 'W', cvt_pk_16, 1},
    {INTEGERS, "cvt.pk.u16", "aibi", "", 'W', cvt_pk_16, 0},
    FOUR(INTEGERS, "cvt.f32.fp8", "ai", 'f', cvt_fp8)
        FOUR(INTEGERS, "cvt.f32.bf8", "ai", 'f', cvt_bf8){
            INTEGERS, "cvt.pk.f32.fp8", "ai", ", i1 0", 'F', cvt_two_fp8, 0},
    {INTEGERS, "cvt.pk.f32.fp8", "ai", ", i1 1", 'F', cvt_two_fp8, 1},
    {INTEGERS, "cvt.pk.f32.bf8", "ai", ", i1 0", 'F', cvt_two_bf8, 0},
    {INTEGERS, "cvt.pk.f32.bf8", "ai", ", i1 1", 'F', cvt_two_bf8, 1},
    {INTEGERS, "perm", "aibici", "", 'i', perm, 0},
    {INTEGERS, "alignbyte", "aibici", "", 'i', alignbyte, 0},
    {INTEGERS, "ubfe.i32", "aibici", "", 'i', bit_field, 0},
    {INTEGERS, "sbfe.i32", "aibici", "", 'i', bit_field, 1},
    {INTEGERS, "sffbh.i32", "ai", "", 'i', sffbh, 0},
    {INTEGERS, "mul.u24.i32", "aibi", "", 'i', mul_24, LOW},
    {INTEGERS, "mul.i24.i32", "aibi", "", 'i', mul_24, LOW + SIGNED},
    {INTEGERS, "mul.u24.i64", "aibi", "", 'I', mul_24, WIDE},
    {INTEGERS, "mul.i24.i64", "aibi", "", 'I', mul_24, WIDE + SIGNED},
    {INTEGERS, "mulhi.u24", "aibi", "", 'i', mul_24, HIGH},
    {INTEGERS, "mulhi.i24", "aibi", "", 'i', mul_24, HIGH + SIGNED},
    {INTEGERS, "lerp", "aibici", "", 'i', lerp, 0},
    {INTEGERS, "sad.u8", "aibici", "", 'i', sad, BYTES},
    {INTEGERS, "sad.hi.u8", "aibici", "", 'i', sad, HIGH_BYTES},
    {INTEGERS, "sad.u16", "aibici", "", 'i', sad, WORDS},
    {INTEGERS, "msad.u8", "aibici", "", 'i', sad, MASKED},
    {INTEGERS, "qsad.pk.u16.u8", "aIbicI", "", 'I', qsad, false},
    {INTEGERS, "mqsad.pk.u16.u8", "aIbicI", "", 'I', qsad, true},
#define DOTS(name, types, judge, what)                                         \
  {INTEGERS, name, types, ", i1 0", 'i', judge, what},                         \
      {INTEGERS, name, types, ", i1 1", 'i', judge, what + CLAMP},
    DOTS("sdot2", "aWbWci", dot2, 0) DOTS("udot2", "aWbWci", dot2, UNSIGNED)
        DOTS("sdot4", "aibici", dot4, 0) DOTS("udot4", "aibici", dot4, UNSIGNED)
            DOTS("sdot8", "aibici", dot8, 0)
                DOTS("udot8", "aibici", dot8, UNSIGNED){
                    HALVES, "fdot2", "aHbHdf", ", i1 0", 'f', fdot2, 0},
    {HALVES, "fdot2", "aHbHdf", ", i1 1", 'f', fdot2, 1},
    {FLOATS, "fmul.legacy", "afbf", "", 'f', product, 0},
    {FLOATS, "fmed3.f32", "afbfcf", "", 'f', median, F32},
    {HALVES, "fmed3.f16", "ahbhch", "", 'h', median, F16},
#define OF_TWO(name, judge)                                                    \
  {FLOATS, name ".f32", "af", "", 'f', judge, F32},                            \
      {HALVES, name ".f16", "ah", "", 'h', judge, F16},
#define OF_THREE(name, judge)                                                  \
  OF_TWO(name, judge){DOUBLES, name ".f64", "ad", "", 'd', judge, F64},
    OF_THREE("rcp", rcp) OF_THREE("rsq", rsq) OF_THREE("sqrt", root)
        OF_TWO("exp2", exponential) OF_TWO("log", logarithm) OF_TWO("sin", sine)
            OF_TWO("cos", cosine) OF_THREE("fract", fraction)
                OF_THREE("frexp.mant", mantissa){FLOATS, "frexp.exp.i32.f32",
                                                 "af", "", 'i', exponent, F32},
    {HALVES, "frexp.exp.i16.f16", "ah", "", 's', exponent, F16},
    {DOUBLES, "frexp.exp.i32.f64", "ad", "", 'i', exponent, F64},
    {FLOATS, "class.f32", "afdi", "", 'b', class, F32},
    {HALVES, "class.f16", "ahdi", "", 'b', class, F16},
    {DOUBLES, "class.f64", "addi", "", 'b', class, F64},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- inputs ---- */

static uint64_t state = 1;
static uint64_t draw(void) { /* splitmix64 */
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* No signalling NaN but for `class`, which has its own word: a. */
static uint32_t quiet(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : bits;
}
/* Every exponent with both signs, and there every boundary of four bits of
 * mantissa and its neighbours. */
enum { BOUNDARIES = 2 * 256 * 48 };
static uint32_t some_float(unsigned i) {
  if (i >= BOUNDARIES)
    return quiet(i % 2 ? (uint32_t)draw()
                       : 0x3b000000 + ((uint32_t)draw() & 0x87ffffff));
  const unsigned boundary = i % 48, exponent = i / 48;
  const uint32_t mantissa =
      ((boundary / 3) << 19) + boundary % 3 - 1; /* -1: the exponent below */
  return quiet((exponent << 23) + mantissa);
}
static uint32_t some_integer(void) {
  static const uint32_t edges[] = {
      0,          1,          UINT32_MAX, 0x80000000, 0x7fffffff,
      0x8000,     0xffff,     0x7fff7fff, 0x80008000, 0x00800000,
      0x007fffff, 0x80808080, 0x7f7f7f7f, 0x88888888, 0x77777777};
  const uint64_t pick = draw() % 45;
  return pick < 15 ? edges[pick] : (uint32_t)draw() >> draw() % 4 * 8;
}
static uint64_t some_half(unsigned i) {
  const uint32_t bits = i < 65536 ? i : (uint32_t)draw() & 0xffff;
  return (bits & 0x7fff) > 0x7c00 ? bits | 0x200 : bits;
}
static uint64_t some_double(void) {
  static const uint64_t edges[] = {0,
                                   1,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x3ff0000000000000,
                                   0x3fefffffffffffff,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0x7ff8000000000000,
                                   0x4330000000000001};
  const uint64_t pick = draw() % 40, sign = draw() << 63;
  if (pick < 10)
    return edges[pick] | sign;
  const uint64_t bits =
      pick % 2 ? draw() : 0x3ff0000000000000 + draw() % (1ull << 55);
  return (bits & INT64_MAX) > 0x7ff0000000000000 ? bits | 1ull << 51 : bits;
}

static const int element_counts[BATCHES] = {BOUNDARIES + 4096, 8192, 2048,
                                            4096};

static element some_element(batch of, unsigned i) {
  element x = {.d = some_integer(), .e = draw() & UINT32_MAX};
  switch (of) {
  case FLOATS:
    x.a = some_float(i);
    x.b = some_float((i * 7919u + 13) % (BOUNDARIES + 4096));
    x.c = some_float((i * 104729u + 7) % (BOUNDARIES + 4096));
    break;
  case HALVES: /* each bit pattern in a or b */
    x.a = some_half(i * 8) | some_half(i * 8 + 3) << 16;
    x.b = some_half(i * 8 + 5) | some_half((i * 31u + 6) % 65536) << 16;
    x.c = some_half(UINT32_MAX) | some_half(UINT32_MAX) << 16;
    x.d = i % 4 ? bits32(ldexpf((float)(int)(draw() % 4096) - 2048,
                                (int)(draw() % 40) - 20))
                : some_float((unsigned)draw() % BOUNDARIES);
    break;
  case DOUBLES:
    x.a = some_double();
    break;
  default: /* every byte in every place */
    x.a = i < 256 ? i * 0x01010101u : some_integer();
    x.b = some_integer();
    x.c = some_integer();
    x.a |= draw() << 32;
    x.c |= draw() << 32;
  }
  return x;
}

/* ---- the kernel ---- */

static const struct type {
  char letter;
  int bits;
  const char *name;
} types[] = {{'f', 32, "float"},     {'h', 16, "half"},
             {'d', 64, "double"},    {'i', 32, "i32"},
             {'I', 64, "i64"},       {'H', 32, "<2 x half>"},
             {'W', 32, "<2 x i16>"}, {'F', 64, "<2 x float>"},
             {'s', 16, "i16"},       {'b', 1, "i1"}};

static const struct type *type_of(char letter) {
  const struct type *type = types;
  while (type->letter != letter)
    type++;
  return type;
}

static void put_call(ws_strbuf *body, ws_strbuf *declares, int n,
                     const struct form *f) {
  ws_strbuf declared, values;
  ws_strbuf_init(&declared);
  ws_strbuf_init(&values);
  for (int i = 0; f->operands[i]; i += 2) {
    const char *type = type_of(f->operands[i + 1])->name;
    ws_strbuf_printf(body,
                     "  %%p%d.%d = getelementptr i8, ptr addrspace(1) %%x, i32 "
                     "%d\n  %%v%d.%d = load %s, ptr addrspace(1) %%p%d.%d\n",
                     n, i, (f->operands[i] - 'a') * 8, n, i, type, n, i);
    ws_strbuf_printf(&declared, "%s%s", i ? ", " : "", type);
    ws_strbuf_printf(&values, "%s%s %%v%d.%d", i ? ", " : "", type, n, i);
  }
  for (const char *c = f->constants; (c = strstr(c, ", ")); c += 2)
    ws_strbuf_printf(&declared, ", %.*s", (int)strcspn(c + 2, " "), c + 2);
  const char *type = type_of(f->result)->name;
  char *declare =
      ws_arena_printf(test_arena(), "declare %s @llvm.amdgcn.%s(%s)\n", type,
                      f->name, declared.data);
  if (!declares->data || !strstr(declares->data, declare))
    ws_strbuf_puts(declares, declare);
  const int bits = type_of(f->result)->bits;
  ws_strbuf_printf(body,
                   "  %%r%d = call %s @llvm.amdgcn.%s(%s%s)\n"
                   "  %%b%d = bitcast %s %%r%d to i%d\n",
                   n, type, f->name, values.data, f->constants, n, type, n,
                   bits);
  if (bits == 64)
    ws_strbuf_printf(body, "  %%w%d = freeze i64 %%b%d\n", n, n);
  else
    ws_strbuf_printf(body, "  %%w%d = zext i%d %%b%d to i64\n", n, bits, n);
  ws_strbuf_printf(body,
                   "  %%q%d = getelementptr i64, ptr addrspace(1) %%y, i32 %d\n"
                   "  store i64 %%w%d, ptr addrspace(1) %%q%d\n",
                   n, n, n, n);
  ws_strbuf_deinit(&declared);
  ws_strbuf_deinit(&values);
}

/* One wave, element after element. */
static const char *kernel_of(batch of, int count) {
  ws_strbuf body, declares;
  int n = 0;
  ws_strbuf_init(&body);
  ws_strbuf_init(&declares);
  ws_strbuf_printf(
      &body,
      "  br label %%loop\n"
      "loop:\n"
      "  %%i = phi i32 [%%tid, %%entry], [%%next, %%loop]\n"
      "  %%x = getelementptr [%d x i8], ptr addrspace(1) %%a, i32 %%i\n"
      "  %%y = getelementptr [%d x i64], ptr addrspace(1) %%c, i32 %%i\n",
      (int)sizeof(element), count);
  for (int i = 0; i < FORMS; i++)
    if (forms[i].batch == of)
      put_call(&body, &declares, n++, &forms[i]);
  ws_strbuf_printf(&body,
                   "  %%next = add i32 %%i, 64\n"
                   "  %%more = icmp ult i32 %%next, %d\n"
                   "  br i1 %%more, label %%loop, label %%done\n"
                   "done:\n  ret void",
                   element_counts[of]);
  const small s = {.body = body.data, .declares = declares.data};
  const char *text = small_text(test_arena(), &s);
  ws_strbuf_deinit(&body);
  ws_strbuf_deinit(&declares);
  return text;
}

/* ---- comparison ---- */

static bool is_nan(uint64_t bits, char result) {
  return result == 'f'   ? isnan(f32(bits))
         : result == 'h' ? isnan(f16(bits))
         : result == 'd' ? isnan(f64(bits))
                         : false;
}

static void fail(const struct form *f, const element *x, uint64_t got,
                 const char *what, uint64_t other) {
  WS_FAIL("%s%s of %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
          ": %" PRIx64 ", %s (%" PRIx64 ")",
          f->name, f->constants, x->a, x->b, x->c, x->d, x->e, got, what,
          other);
}

static void check_form(const struct form *f, int n, int count, int elements,
                       const element *input, const uint64_t *sanitized,
                       const uint64_t *simulated) {
  for (int i = 0; i < elements; i++) {
    const uint64_t got = sanitized[i * count + n];
    const uint64_t other = simulated[i * count + n];
    if (!f->right(&input[i], got, f->variant))
      fail(f, &input[i], got, "which is wrong", 0);
    if (got != other && !(is_nan(got, f->result) && is_nan(other, f->result)))
      fail(f, &input[i], got, "which is not the simulator's result", other);
  }
}

static void check_kernel(batch of) {
  ws_arena *arena = test_arena();
  const int elements = element_counts[of];
  int count = 0;
  for (int i = 0; i < FORMS; i++)
    count += forms[i].batch == of;
  element *input = calloc((size_t)elements, sizeof *input);
  const size_t words = (size_t)(elements * count);
  uint64_t *sanitized = calloc(words, 8), *simulated = calloc(words, 8);
  for (int i = 0; i < elements; i++)
    input[i] = some_element(of, (unsigned)i);
  model_run.input = input;
  model_run.output = sanitized;
  model_run.input_bytes = elements * (int64_t)sizeof *input;
  model_run.output_bytes = (int64_t)words * 8;
  const char *text = kernel_of(of, count);
  ws_pass_initialize();
  model_check_static(arena, text);
  model_sanitize(arena, text);
  model_simulate(arena, text, simulated);
  fill_codes();
  for (int i = 0, n = 0; i < FORMS; i++)
    if (forms[i].batch == of)
      check_form(&forms[i], n++, count, elements, input, sanitized, simulated);
  free(input);
  free(sanitized);
  free(simulated);
}

WS_TEST(floats) { check_kernel(FLOATS); }
WS_TEST(halves) { check_kernel(HALVES); }
WS_TEST(doubles) { check_kernel(DOUBLES); }
WS_TEST(integers) { check_kernel(INTEGERS); }
