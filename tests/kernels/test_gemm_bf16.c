/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * gemm_bf16 against values worked out by hand: one product at a time, sums,
 * the tolerance's terms, inputs, the shape sets.
 */
#include "../gemm_shape.h"
#include "wavesmith/problem.h"
#include "ws_test.h"

enum { ONE = 0x3f80, ARG_A = 0, ARG_B = 1, ARG_C = 2 };

static const ws_problem *gemm(void) {
  const ws_problem *problem = ws_problem_find("gemm_bf16");
  WS_CHECK(problem);
  return problem;
}

/* Zeroed inputs and output of one shape. */
typedef struct operands {
  ws_shape shape;
  uint16_t *a, *b, *c;
  const void *buffers[WS_PROBLEM_MAX_ARGS];
  double *value, *error;
} operands;

static uint16_t *zeroed(operands *o, int arg) {
  void *bytes =
      calloc(1, (size_t)ws_problem_arg_bytes(gemm(), arg, &o->shape, 0) + 1);
  WS_CHECK(bytes);
  o->buffers[arg] = bytes;
  return bytes;
}

static operands make(int64_t m, int64_t n, int64_t k) {
  operands o = {.shape = gemm_shape(m, n, k)};
  o.a = zeroed(&o, ARG_A);
  o.b = zeroed(&o, ARG_B);
  o.c = zeroed(&o, ARG_C);
  o.value = malloc((size_t)(m * n) * sizeof(double));
  o.error = malloc((size_t)(m * n) * sizeof(double));
  WS_CHECK(o.value && o.error);
  return o;
}

static void drop(operands *o) {
  free(o->a);
  free(o->b);
  free(o->c);
  free(o->value);
  free(o->error);
}

static void refer(operands *o) {
  ws_problem_reference(gemm(), &o->shape, 0, o->buffers, 0,
                       o->shape.size[DIM_M], o->value, o->error);
}

WS_TEST(arguments_are_named_and_sized) {
  const ws_shape shape = gemm_shape(24, 40, 72);
  static const char *const names[] = {"a", "b", "c", "workspace",
                                      "m", "n", "k"};
  static const int64_t bytes[] = {2 * 24 * 72, 2 * 40 * 72, 2 * 24 * 40, 0};
  WS_CHECK_INT(gemm()->arg_count, 7);
  for (int i = 0; i < 7; i++)
    WS_CHECK_TEXT(gemm()->args[i].name, names[i]);
  for (int i = 0; i < 4; i++)
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), i, &shape, 0), bytes[i]);
  WS_CHECK_INT(ws_problem_arg_scalar(gemm(), 4, &shape, 0), 24);
  WS_CHECK_INT(ws_problem_arg_scalar(gemm(), 5, &shape, 0), 40);
  WS_CHECK_INT(ws_problem_arg_scalar(gemm(), 6, &shape, 0), 72);
  WS_CHECK_NEAR(ws_problem_flops(gemm(), &shape), 2.0 * 24 * 40 * 72, 0);
  WS_CHECK_NEAR(ws_problem_least_bytes(gemm(), &shape),
                2.0 * (24 * 72 + 40 * 72 + 24 * 40), 0);
}

WS_TEST(one_product_lands_at_its_row_and_column) {
  operands o = make(16, 24, 40);
  o.a[3 * 40 + 37] = 0x4040;  /* 3 */
  o.b[17 * 40 + 37] = 0xc020; /* -2.5 */
  o.b[18 * 40 + 36] = ONE;    /* at another k */
  refer(&o);
  for (int i = 0; i < 16 * 24; i++)
    WS_CHECK_NEAR(o.value[i], i == 3 * 24 + 17 ? -7.5 : 0, 0);
  /* k/16 = 2: (2 + 16) 2^-23 7.5 */
  WS_CHECK_NEAR(o.error[3 * 24 + 17], 18 * 0x1p-23 * 7.5, 0);
  WS_CHECK_NEAR(o.error[0], 0, 0);
  drop(&o);
}

/* Magnitudes add up in the error, also where values cancel. */
WS_TEST(sums_run_over_all_of_k) {
  operands o = make(8, 8, 200);
  for (int k = 0; k < 200; k++) {
    o.a[5 * 200 + k] = k % 2 ? 0xbf80 : ONE;    /* 1, -1, .. */
    o.b[2 * 200 + k] = k == 199 ? 0x0000 : ONE; /* one -1 is missing */
  }
  o.a[5 * 200 + 8] = 0x5380; /* 2^40 */
  o.a[5 * 200 + 9] = 0xd380; /* -2^40 */
  refer(&o);
  WS_CHECK_NEAR(o.value[5 * 8 + 2], 1, 0);
  /* 197 ones and twice 2^40; k/16 = 12 */
  WS_CHECK_NEAR(o.error[5 * 8 + 2], 28 * 0x1p-23 * (0x1p+41 + 197), 0);
  drop(&o);
}

WS_TEST(rows_are_a_window) {
  operands o = make(24, 16, 8);
  double value[16], error[16];
  o.a[17 * 8] = ONE;
  o.b[4 * 8] = 0x4000; /* 2 */
  ws_problem_reference(gemm(), &o.shape, 0, o.buffers, 17, 18, value, error);
  for (int n = 0; n < 16; n++)
    WS_CHECK_NEAR(value[n], n == 4 ? 2 : 0, 0);
  drop(&o);
}

/* Of an 8 x 16 output, element (3, 9) alone. */
static ws_comparison compare_one(double want, double error, uint16_t got) {
  operands o = make(8, 16, 8);
  ws_comparison found;
  for (int i = 0; i < 8 * 16; i++)
    o.value[i] = o.error[i] = 0;
  o.value[3 * 16 + 9] = want;
  o.error[3 * 16 + 9] = error;
  o.c[3 * 16 + 9] = got;
  ws_problem_compare(gemm(), &o.shape, 0, o.buffers, 0, 8, o.value, o.error,
                     &found);
  WS_CHECK_INT(found.checked, 8 * 16);
  if (found.wrong) {
    WS_CHECK_INT(found.wrong, 1);
    WS_CHECK_INT(found.first.element, 3 * 16 + 9);
  }
  drop(&o);
  return found;
}

WS_TEST(rounding_to_nearest_passes_and_truncation_does_not) {
  /* between 1 (0x3f80) and 1 + 2^-7 (0x3f81) */
  WS_CHECK_INT(compare_one(1 + 0x1p-8, 0, 0x3f80).wrong, 0);
  WS_CHECK_INT(compare_one(1 + 0x1p-8, 0, 0x3f81).wrong, 0);
  WS_CHECK_INT(compare_one(1 + 0x1.8p-8, 0, 0x3f81).wrong, 0);
  WS_CHECK_INT(compare_one(1 + 0x1.8p-8, 0, 0x3f80).wrong, 1);
}

WS_TEST(the_bound_has_the_documented_terms) {
  ws_comparison found = compare_one(1, 0x1p-6, 0x4000);
  WS_CHECK_INT(found.wrong, 1);
  WS_CHECK_NEAR(found.first_got, 2, 0);
  WS_CHECK_NEAR(found.first_bound, 0x1p-8 + 0x1p-6, 0x1p-60);
  WS_CHECK_INT(compare_one(0, 0, 0x0080).wrong, 0); /* smallest normal */
  WS_CHECK_INT(compare_one(0, 0, 0x0081).wrong, 1);
  WS_CHECK_INT(compare_one(0, 1e30, 0x7fc0).wrong, 1); /* NaN */
  WS_CHECK_INT(compare_one(0, 1e30, 0x7f80).wrong, 1); /* infinity */
}

/* ---- samples of what is large ---------------------------------------------
 */

static uint16_t to_bf16(double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static operands solved(void) {
  operands o = make(40, 512, 1024);
  ws_problem_generate(gemm(), ARG_A, &o.shape, 0, 5, o.a);
  ws_problem_generate(gemm(), ARG_B, &o.shape, 0, 5, o.b);
  refer(&o);
  for (int i = 0; i < 40 * 512; i++)
    o.c[i] = to_bf16(o.value[i]);
  return o;
}

static ws_comparison sample(const operands *o) {
  enum { SIGNS = 98 };
  int64_t rows[40];
  double value[40], error[40];
  ws_comparison found;
  for (int i = 0; i < 40; i++)
    rows[i] = i;
  ws_problem_project(gemm(), &o->shape, 0, o->buffers, SIGNS, rows, 40, value,
                     error);
  ws_problem_compare_projections(gemm(), &o->shape, 0, o->buffers, SIGNS, rows,
                                 40, value, error, &found);
  return found;
}

WS_TEST(projections_pass_what_is_right_and_find_what_is_not) {
  operands o = solved();
  ws_comparison found = sample(&o);
  WS_CHECK_INT(found.wrong, 0);
  WS_CHECK_INT(found.checked, 40);
  WS_CHECK(found.worst_ratio > 0.01);
  memset(o.c + 7 * 512 + 64, 0, 64 * sizeof *o.c); /* a tile's row */
  o.c[9 * 512 + 3] = 0x7fc0;
  found = sample(&o);
  WS_CHECK_INT(found.wrong, 2);
  WS_CHECK_INT(found.first_slice, 7);
  WS_CHECK_INT(found.first.element, WS_WHOLE_SLICE);
  drop(&o);
}

WS_TEST(elements_are_compared_where_they_are) {
  static const ws_place places[] = {
      {ARG_C, 0}, {ARG_C, 31 * 512 + 200}, {ARG_C, 39 * 512 + 511}};
  operands o = solved();
  ws_comparison found;
  ws_problem_compare_at(gemm(), &o.shape, 0, o.buffers, o.buffers, places, 3,
                        &found);
  WS_CHECK_INT(found.checked, 3);
  WS_CHECK_INT(found.wrong, 0);
  o.c[31 * 512 + 200] = to_bf16(1.02 * o.value[31 * 512 + 200] + 1);
  ws_problem_compare_at(gemm(), &o.shape, 0, o.buffers, o.buffers, places, 3,
                        &found);
  WS_CHECK_INT(found.wrong, 1);
  WS_CHECK_INT(found.first.element, 31 * 512 + 200);
  drop(&o);
}

/* ---- inputs ---------------------------------------------------------------
 */

static double decode(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

WS_TEST(operands_are_standard_normal) {
  enum { COUNT = 512 * 1024 };
  operands o = solved();
  double mean = 0, square = 0, fourth = 0;
  int within = 0;
  for (int i = 0; i < COUNT; i++) {
    const double x = decode(o.b[i]);
    mean += x / COUNT;
    square += x * x / COUNT;
    fourth += x * x * x * x / COUNT;
    within += fabs(x) < 1;
  }
  WS_CHECK_NEAR(mean, 0, 0.01);
  WS_CHECK_NEAR(square, 1, 0.01);
  WS_CHECK_NEAR(fourth, 3, 0.06);
  WS_CHECK_NEAR((double)within / COUNT, 0.6827, 0.005);
  drop(&o);
}

WS_TEST(inputs_follow_from_seed_and_argument) {
  operands o = make(64, 64, 64), p = make(64, 64, 64);
  ws_problem_generate(gemm(), ARG_A, &o.shape, 0, 5, o.a);
  ws_problem_generate(gemm(), ARG_A, &p.shape, 0, 5, p.a);
  WS_CHECK(!memcmp(o.a, p.a, 2 * 64 * 64));
  ws_problem_generate(gemm(), ARG_A, &p.shape, 0, 6, p.a);
  WS_CHECK(memcmp(o.a, p.a, 2 * 64 * 64));
  ws_problem_generate(gemm(), ARG_B, &o.shape, 0, 5, o.b);
  WS_CHECK(memcmp(o.a, o.b, 2 * 64 * 64));
  drop(&o);
  drop(&p);
}

WS_TEST(hard_operands_have_extremes_and_are_finite) {
  enum { COUNT = 256 * 1024 };
  operands o = make(256, 8, 1024);
  int zero = 0, minus_zero = 0, subnormal = 0, large = 0, small = 0;
  ws_problem_generate(gemm(), ARG_A, &o.shape, 0, 5 | WS_HARD_INPUTS, o.a);
  for (int i = 0; i < COUNT; i++) {
    const double size = fabs(decode(o.a[i]));
    WS_CHECK(size < 0x1p+30);
    zero += o.a[i] == 0;
    minus_zero += o.a[i] == 0x8000;
    subnormal += size > 0 && size < 0x1p-126;
    large += size > 0x1p+10;
    small += size > 0x1p-40 && size < 0x1p-10;
  }
  WS_CHECK(zero > COUNT / 20 && minus_zero > 0);
  WS_CHECK(subnormal > COUNT / 20 && large > COUNT / 20 && small > COUNT / 20);
  drop(&o);
}

/* ---- shapes ---------------------------------------------------------------
 */

WS_TEST(shape_sets_hold_what_they_say) {
  static const struct {
    const char *name;
    int count;
  } sets[] = {{"contest", 18}, {"square", 5}, {"held-out", 16}};
  for (int i = 0; i < 3; i++) {
    const ws_shape_set *set = ws_problem_shape_set(gemm(), sets[i].name);
    WS_CHECK(set);
    WS_CHECK_INT(set->count, sets[i].count);
    for (int j = 0; j < set->count; j++)
      WS_CHECK_INT(ws_problem_check_shape(gemm(), &set->shapes[j], NULL),
                   WS_OK);
  }
  /* the fp8 problem's */
  const ws_shape_set *ours = ws_problem_shape_set(gemm(), "contest");
  const ws_shape_set *theirs =
      ws_problem_shape_set(ws_problem_find("fp8_gemm_blockscale"), "contest");
  for (int i = 0; i < 18; i++)
    WS_CHECK(!ws_shape_compare(&ours->shapes[i], &theirs->shapes[i]));
}

WS_TEST(illegal_shapes_are_refused_by_name) {
  const struct {
    ws_shape shape;
    const char *says;
  } cases[] = {{gemm_shape(0, 8, 8), "m = 0"},
               {gemm_shape(12, 8, 8), "needs m % 8 == 0"},
               {gemm_shape(8, 4, 8), "needs n % 8 == 0"},
               {gemm_shape(8, 8, 20), "needs k % 8 == 0"},
               {gemm_shape(8, 8, 1 << 23), "needs k <= 4194304"},
               {gemm_shape(1 << 20, 1 << 12, 8), "needs m * n <= 2147483648"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_diag diag = {""};
    WS_CHECK_INT(ws_problem_check_shape(gemm(), &cases[i].shape, &diag),
                 WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].says);
  }
}
