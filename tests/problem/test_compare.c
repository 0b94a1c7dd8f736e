/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Results against the bound that define_problem.h states, slices, and what a
 * reference's ws_put leaves.
 */
#include "definition.h"

/* ---- one element ---- */

enum { ROWS = 3, COLUMNS = 4, PLACE = 6 };

typedef union element {
  uint64_t bits;
  uint8_t byte;
  uint16_t half;
  float f32;
  double f64;
  int8_t i8;
  int32_t i32;
} element;

static ws_comparison compare_one(ws_type type, double want, double error,
                                 element got) {
  ws_problem_definition d = made();
  double value[ROWS * COLUMNS] = {0}, errors[ROWS * COLUMNS] = {0};
  uint64_t room[ROWS * COLUMNS] = {0};
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {NULL};
  const int size = ws_type_bytes(type);
  ws_comparison found;
  d.args[MADE_Y].type = type;
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  opened_count--; /* its arena stays */
  buffers[MADE_Y] = room;
  value[PLACE] = want;
  errors[PLACE] = error;
  memcpy((char *)room + PLACE * size, &got, (size_t)size);
  ws_problem_compare(problem, &shape, 0, buffers, 0, ROWS, value, errors,
                     &found);
  WS_CHECK_INT(found.checked, ROWS * COLUMNS);
  if (found.wrong) {
    WS_CHECK_INT(found.wrong, 1);
    WS_CHECK_INT(found.first.arg, MADE_Y);
    WS_CHECK_INT(found.first.element, PLACE);
  }
  return found;
}

static bool passes(ws_type type, double want, double error, element got) {
  return !compare_one(type, want, error, got).wrong;
}

static element f32(double value) { return (element){.f32 = (float)value}; }
static element f64(double value) { return (element){.f64 = value}; }
static element code(unsigned bits) { return (element){.bits = bits}; }

/* Codes of 1 and of what follows it. */
static const struct {
  ws_type type;
  unsigned one;
  double half_step; /* half a unit in the last place of 1 */
} units[] = {{WS_F32, 0x3f800000, 0x1p-24}, {WS_F16, 0x3c00, 0x1p-11},
             {WS_BF16, 0x3f80, 0x1p-8},     {WS_E4M3, 0x38, 0x1p-4},
             {WS_E5M2, 0x3c, 0x1p-3},       {WS_E4M3_FNUZ, 0x40, 0x1p-4},
             {WS_E5M2_FNUZ, 0x40, 0x1p-3}};

WS_TEST(half_a_unit_passes_and_little_more_does_not) {
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const ws_type type = units[i].type;
    const double half = units[i].half_step;
    WS_CHECK(passes(type, 1, 0, code(units[i].one)));
    WS_CHECK(passes(type, 1 + half, 0, code(units[i].one)));
    WS_CHECK(passes(type, 1 + half, 0, code(units[i].one + 1)));
    /* the bound is of |want|, so little more than half a unit of 1 */
    WS_CHECK(!passes(type, 1 + 1.4 * half, 0, code(units[i].one)));
    WS_CHECK(!passes(type, 1, 0, code(units[i].one + 1)));
    WS_CHECK(!passes(type, 1, 0, code(units[i].one - 3)));
    /* and what arithmetic may be off by */
    WS_CHECK(passes(type, 1, 1.1 * half, code(units[i].one + 1)));
    WS_CHECK(!passes(type, 1, 0.8 * half, code(units[i].one + 1)));
  }
  WS_CHECK(passes(WS_F64, 1, 0, f64(1)));
  WS_CHECK(passes(WS_F64, 0, 0, f64(0))); /* whose half a step is no double */
  WS_CHECK(!passes(WS_F64, 1, 0, f64(1 + 0x1p-52)));
}

/* Of every two neighbours among the values of an 8-bit float, subnormal ones
 * too, the nearer is right; both are where arithmetic may cross the middle. */
WS_TEST(of_8_bit_floats_only_the_nearest_passes) {
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    const ws_type type = units[i].type;
    for (unsigned low = 0; ws_type_bytes(type) == 1 && low < 0x7f; low++) {
      const uint8_t codes[16] = {(uint8_t)low,
                                 (uint8_t)(low + 1)}; /* two of any type */
      const double next = ws_load(type, codes, 1);
      const double middle = (ws_load(type, codes, 0) + next) / 2;
      const double error = middle * 0x1p-19;
      if (!isfinite(next))
        continue;
      for (int up = 0; up < 2; up++) {
        const double want = middle * (up ? 1 + 0x1p-20 : 1 - 0x1p-20);
        WS_CHECK(passes(type, want, 0, code(low + (unsigned)up)));
        WS_CHECK(!passes(type, want, 0, code(low + (unsigned)!up)));
        WS_CHECK(passes(type, want, error, code(low + (unsigned)!up)));
        WS_CHECK(!passes(type, want, error / 3, code(low + (unsigned)!up)));
      }
    }
  }
  /* 0.9 may have been 2.1 in arithmetic, which 2 and 2.25 are near to */
  WS_CHECK(passes(WS_E4M3, 0.9, 1.25, code(0x41)));
  WS_CHECK(!passes(WS_E4M3, 0.9, 1.15, code(0x41)));
}

WS_TEST(the_ratio_is_of_the_bound) {
  const ws_comparison found = compare_one(WS_F32, 1, 1, f32(3));
  WS_CHECK_NEAR(found.worst_ratio, 2, 1e-6);
  WS_CHECK_NEAR(found.first_got, 3, 0);
  WS_CHECK_NEAR(found.first_want, 1, 0);
  WS_CHECK_NEAR(found.first_bound, 1 + 0x1p-24, 1e-12);
  WS_CHECK_INT(found.first_slice * 0, 0);
}

WS_TEST(at_zero_the_smallest_step_is_granted) {
  WS_CHECK(passes(WS_F16, 0x1p-25, 0, code(0)));
  WS_CHECK(passes(WS_F16, 0x1p-25, 0, code(1)));
  WS_CHECK(!passes(WS_F16, 0, 0, code(1)));
  WS_CHECK(passes(WS_F32, 0x1p-127, 0, f32(0))); /* flushed */
  WS_CHECK(!passes(WS_F32, 0x1p-125, 0, f32(0)));
  WS_CHECK(!passes(WS_F32, 0, 0, f32(0x1p-100)));
}

WS_TEST(nan_is_wrong) {
  WS_CHECK(!passes(WS_F32, 1, 1e30, f32(NAN)));
  WS_CHECK(!passes(WS_F16, 1, 1e30, code(0x7e00)));
  WS_CHECK(!passes(WS_BF16, 1, 1e30, code(0x7fc0)));
  WS_CHECK(!passes(WS_E4M3, 1, 1e30, code(0x7f)));
  WS_CHECK(!passes(WS_E4M3, 1e6, 0, code(0x7f)));
  WS_CHECK(!passes(WS_E4M3_FNUZ, 1, 1e30, code(0x80)));
  WS_CHECK(!passes(WS_F32, NAN, 1, f32(1)));
  const ws_comparison found = compare_one(WS_F32, 1, 0, f32(NAN));
  WS_CHECK(isinf(found.worst_ratio));
}

WS_TEST(infinity_is_right_only_where_the_type_ends) {
  WS_CHECK(!passes(WS_F32, 1, 1e30, f32(INFINITY)));
  WS_CHECK(!passes(WS_F16, 65504, 1e30, code(0x7c00)));
  WS_CHECK(passes(WS_F16, 65536, 0, code(0x7c00)));
  WS_CHECK(passes(WS_F16, 65536, 0, code(0x7bff))); /* 65504 */
  WS_CHECK(!passes(WS_F16, 65536, 0, code(0xfc00)));
  WS_CHECK(!passes(WS_F16, 65536, 0, code(0xfbff)));
  WS_CHECK(!passes(WS_F16, 1e6, 0, code(0x7800))); /* 32768 */
  WS_CHECK(passes(WS_F16, -1e6, 0, code(0xfc00)));
  WS_CHECK(!passes(WS_F16, -1e6, 0, code(0x7c00)));
  WS_CHECK(passes(WS_E4M3, 1000, 0, code(0x7e))); /* 448 */
  WS_CHECK(!passes(WS_E4M3, 1000, 0, code(0x7c)) ||
           !passes(WS_E4M3, 1000, 0, code(0x78)));
  WS_CHECK(passes(WS_E5M2, 1e6, 0, code(0x7c))); /* infinity */
  /* where the reference itself ends, with whatever error it gives for that */
  for (int i = 0; i < 3; i++) {
    const double error = (double[]){0, INFINITY, NAN}[i];
    WS_CHECK(passes(WS_F32, INFINITY, error, f32(INFINITY)));
    WS_CHECK(!passes(WS_F32, INFINITY, error, f32(-INFINITY)));
    WS_CHECK(!passes(WS_F32, -INFINITY, error, f32(1)));
    WS_CHECK(!passes(WS_F32, INFINITY, error, f32(NAN)));
  }
}

WS_TEST(integers_are_exact_where_the_value_is) {
  WS_CHECK(passes(WS_I32, 12345678, 0, (element){.i32 = 12345678}));
  WS_CHECK(!passes(WS_I32, 12345678, 0, (element){.i32 = 12345679}));
  WS_CHECK(passes(WS_I8, 2.5, 0, (element){.i8 = 2}));
  WS_CHECK(passes(WS_I8, 2.5, 0, (element){.i8 = 3}));
  WS_CHECK(!passes(WS_I8, 2.4, 0, (element){.i8 = 3}));
  WS_CHECK(passes(WS_I8, 1000, 0, (element){.i8 = 127}));
  WS_CHECK(!passes(WS_I8, 1000, 0, (element){.i8 = 126}));
  WS_CHECK(passes(WS_I8, -3, 0, (element){.i8 = -3}));
}

/* The ends of each type, by its definition, as codes and as doubles. */
static const struct {
  ws_type type;
  uint64_t low_code, high_code;
  double low, high;
} ends[] = {{WS_I8, 0x80, 0x7f, -128, 127},
            {WS_U8, 0, 0xff, 0, 255},
            {WS_I16, 0x8000, 0x7fff, -32768, 32767},
            {WS_U16, 0, 0xffff, 0, 65535},
            {WS_I32, 0x80000000, 0x7fffffff, -2147483648.0, 2147483647},
            {WS_U32, 0, 0xffffffff, 0, 4294967295.0},
            {WS_I64, UINT64_C(1) << 63, INT64_MAX, -0x1p63, 0x1p63},
            {WS_U64, 0, UINT64_MAX, 0, 0x1p64}}; /* of 64 bits rounded */

static element bits(uint64_t value) { return (element){.bits = value}; }

/* The nearest double is asked for: of 64 bits that may be 1024 off. */
WS_TEST(both_ends_of_every_integer_are_right_and_what_lies_beyond_them) {
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    const ws_type type = ends[i].type;
    const double step = ws_type_bytes(type) == 8 ? 4096 : 1;
    const uint64_t low = ends[i].low_code, high = ends[i].high_code;
    WS_CHECK(passes(type, ends[i].low, 0, bits(low)));
    WS_CHECK(passes(type, ends[i].high, 0, bits(high)));
    WS_CHECK(!passes(type, ends[i].low, 0, bits(low + (uint64_t)step)));
    WS_CHECK(!passes(type, ends[i].high, 0, bits(high - (uint64_t)step)));
    WS_CHECK(!passes(type, ends[i].low, 0, bits(high)));
    WS_CHECK(!passes(type, ends[i].high, 0, bits(low)));
    WS_CHECK(passes(type, ends[i].low - 3 * step, 0, bits(low)));
    WS_CHECK(passes(type, ends[i].high + 3 * step, 0, bits(high)));
    WS_CHECK(passes(type, -1e30, 0, bits(low)));
    WS_CHECK(passes(type, 1e30, 0, bits(high)));
    WS_CHECK(!passes(type, -1e30, 0, bits(high)));
    WS_CHECK(!passes(type, 1e30, 0, bits(low)));
    WS_CHECK(!passes(type, -1e30, 0, bits(low + (uint64_t)step)));
  }
}

/* y = x where x has every value of the type: the newcomer's kernel. */
WS_TEST(every_integer_of_8_and_16_bits_is_itself) {
  static const ws_type types[] = {WS_I8, WS_U8, WS_I16, WS_U16};
  static uint16_t same[1 << 16];
  static double value[1 << 16], error[1 << 16];
  for (int t = 0; t < 4; t++) {
    ws_problem_definition d = made();
    const int size = ws_type_bytes(types[t]), count = 1 << (8 * size);
    const bool is_signed = types[t] == WS_I8 || types[t] == WS_I16;
    const void *buffers[WS_PROBLEM_MAX_ARGS] = {[MADE_Y] = same};
    ws_comparison found;
    d.args[MADE_Y].type = types[t];
    const ws_problem *problem = opened(&d);
    const ws_shape shape = sized(problem, count / 16, 16);
    for (int i = 0; i < count; i++) {
      value[i] = is_signed && i >= count / 2 ? i - count : i;
      if (size == 1)
        ((uint8_t *)same)[i] = (uint8_t)i;
      else
        same[i] = (uint16_t)i;
    }
    ws_problem_compare(problem, &shape, 0, buffers, 0, count / 16, value, error,
                       &found);
    WS_CHECK_INT(found.checked, count);
    WS_CHECK_INT(found.wrong, 0);
    for (int i = 0; i < count; i++)
      value[i] += value[i] < 0 ? 1 : -1;
    ws_problem_compare(problem, &shape, 0, buffers, 0, count / 16, value, error,
                       &found);
    /* of unsigned ones 0 is what -1 comes to */
    WS_CHECK_INT(found.wrong, is_signed ? count : count - 1);
  }
}

/* ---- several outputs, slices ---- */

enum { TWO_X, TWO_Y, TWO_SUM };

/* y = 2 x, sum[m] of x's rows. */
static void twice_and_sums(const ws_reference_call *call) {
  const int64_t n = call->dims[1];
  for (int64_t i = call->begin; i < call->end; i++) {
    double sum = 0, magnitude = 0;
    for (int64_t j = i * n; j < (i + 1) * n; j++) {
      const double x = ws_get(call, TWO_X, j);
      sum += x;
      magnitude += fabs(x);
      ws_put(call, TWO_Y, j, 2 * x);
    }
    ws_put_sum(call, TWO_SUM, i, sum, magnitude);
  }
}

/* Everything at once, whatever is asked for: the rest is dropped. */
static void all_of_it(const ws_reference_call *call) {
  ws_reference_call all = *call;
  all.begin = 0;
  all.end = call->dims[0];
  twice_and_sums(&all);
}

static ws_problem_definition two(void) {
  ws_problem_definition d = made();
  memset(d.args, 0, sizeof d.args);
  d.args[TWO_X] = made().args[MADE_X];
  d.args[TWO_Y] = made().args[MADE_Y];
  d.args[TWO_SUM] = made().args[MADE_Y];
  d.args[TWO_SUM].name = "sum";
  d.args[TWO_SUM].extents[1] = NULL;
  d.terms = "n";
  d.reference = twice_and_sums;
  return d;
}

static float x_values[ROWS * COLUMNS] = {1, 2,  3, 4,  10, -20,
                                         0, 40, 5, -6, 7,  8};
static const void *const inputs[WS_PROBLEM_MAX_ARGS] = {[TWO_X] = x_values};

WS_TEST(slices_are_of_the_extent_that_all_share) {
  ws_problem_definition d = two();
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  ws_arena *arena = ws_arena_create();
  WS_CHECK_INT(ws_problem_slices(problem, &shape), ROWS);
  WS_CHECK_INT(ws_problem_slice_elements(problem, TWO_Y, &shape, 0), COLUMNS);
  WS_CHECK_INT(ws_problem_slice_elements(problem, TWO_SUM, &shape, 0), 1);
  WS_CHECK_INT(ws_problem_slice_elements(problem, -1, &shape, 0), COLUMNS + 1);
  WS_CHECK_INT(ws_problem_result_elements(problem, &shape, 0),
               ROWS * (COLUMNS + 1));
  WS_CHECK_TEXT(ws_problem_place_text(arena, problem, &shape, 0,
                                      (ws_place){TWO_Y, 2 * COLUMNS + 3}),
                "y[2][3]");
  WS_CHECK_TEXT(
      ws_problem_place_text(arena, problem, &shape, 0, (ws_place){TWO_SUM, 1}),
      "sum[1]");
  ws_problem_definition one = made();
  const ws_problem *single = opened(&one);
  WS_CHECK_TEXT(ws_problem_place_text(arena, single, &shape, 0,
                                      (ws_place){MADE_Y, COLUMNS}),
                "[1][0]");
  d.args[TWO_SUM].extents[0] = "n"; /* none that they share */
  d.reference = twice;
  const ws_problem *apart = opened(&d);
  WS_CHECK_INT(ws_problem_slices(apart, &shape), 1);
  WS_CHECK_INT(ws_problem_slice_elements(apart, -1, &shape, 0),
               ROWS * COLUMNS + COLUMNS);
  ws_arena_destroy(arena);
}

static void check_slices(ws_reference_function reference) {
  ws_problem_definition d = two();
  d.reference = reference;
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  double value[2 * (COLUMNS + 1) + 1], error[2 * (COLUMNS + 1) + 1];
  value[10] = error[10] = -1;
  ws_problem_reference(problem, &shape, 0, inputs, 1, 3, value, error);
  /* y of both rows, then both sums; the unit: (4 / 8 + 32) 2^-24 */
  const double want[] = {20, -40, 0, 80, 10, -12, 14, 16, 30, 14};
  const double size[] = {20, 40, 0, 80, 10, 12, 14, 16, 70, 26};
  for (int i = 0; i < 10; i++) {
    WS_CHECK_NEAR(value[i], want[i], 0);
    WS_CHECK_NEAR(error[i], size[i] * 32.5 / 16777216, 1e-12);
  }
  WS_CHECK_NEAR(value[10], -1, 0);
  WS_CHECK_NEAR(error[10], -1, 0);
}

WS_TEST(a_reference_is_asked_for_slices) { check_slices(twice_and_sums); }
WS_TEST(what_was_not_asked_for_is_dropped) { check_slices(all_of_it); }

/* The whole of y = 2 x and its sums as a kernel would leave it. */
typedef struct results {
  float y[ROWS * COLUMNS], sum[ROWS];
  const void *buffers[WS_PROBLEM_MAX_ARGS];
  double value[ROWS * (COLUMNS + 1)], error[ROWS * (COLUMNS + 1)];
} results;

static void make_right(const ws_problem *problem, results *r) {
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  *r = (results){.sum = {10, 30, 14}};
  for (int i = 0; i < ROWS * COLUMNS; i++)
    r->y[i] = 2 * x_values[i];
  r->buffers[TWO_X] = x_values;
  r->buffers[TWO_Y] = r->y;
  r->buffers[TWO_SUM] = r->sum;
  ws_problem_reference(problem, &shape, 0, inputs, 0, ROWS, r->value, r->error);
}

static ws_comparison compare_all(const ws_problem *problem, results *r) {
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  ws_comparison found;
  ws_problem_compare(problem, &shape, 0, r->buffers, 0, ROWS, r->value,
                     r->error, &found);
  WS_CHECK_INT(found.checked, ROWS * (COLUMNS + 1));
  return found;
}

WS_TEST(every_element_of_every_output_counts) {
  ws_problem_definition d = two();
  const ws_problem *problem = opened(&d);
  results r;
  make_right(problem, &r);
  WS_CHECK_INT(compare_all(problem, &r).wrong, 0);
  for (int i = 0; i < ROWS * COLUMNS + ROWS; i++) {
    float *one = i < ROWS * COLUMNS ? &r.y[i] : &r.sum[i - ROWS * COLUMNS];
    const float right = *one;
    *one += 1;
    const ws_comparison found = compare_all(problem, &r);
    WS_CHECK_INT(found.wrong, 1);
    WS_CHECK_INT(found.first.arg, i < ROWS * COLUMNS ? TWO_Y : TWO_SUM);
    WS_CHECK_INT(found.first.element, i % (ROWS * COLUMNS));
    WS_CHECK_NEAR(found.first_got, right + 1, 0);
    WS_CHECK_NEAR(found.first_want, right, 0);
    *one = right;
  }
}

WS_TEST(some_slices_and_some_places_are_compared) {
  ws_problem_definition d = two();
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  results r;
  ws_comparison found;
  make_right(problem, &r);
  ws_problem_reference(problem, &shape, 0, inputs, 1, 2, r.value, r.error);
  r.y[0] = r.sum[0] = r.y[2 * COLUMNS] = 99; /* of other slices */
  ws_problem_compare(problem, &shape, 0, r.buffers, 1, 2, r.value, r.error,
                     &found);
  WS_CHECK_INT(found.checked, COLUMNS + 1);
  WS_CHECK_INT(found.wrong, 0);
  const ws_place places[] = {{TWO_Y, 1},
                             {TWO_SUM, 1},
                             {TWO_SUM, 0},
                             {TWO_Y, 2 * COLUMNS},
                             {TWO_Y, 2 * COLUMNS + 1}};
  ws_problem_compare_at(problem, &shape, 0, inputs, r.buffers, places, 2,
                        &found);
  WS_CHECK_INT(found.checked, 2);
  WS_CHECK_INT(found.wrong, 0);
  ws_problem_compare_at(problem, &shape, 0, inputs, r.buffers, places, 5,
                        &found);
  WS_CHECK_INT(found.checked, 5);
  WS_CHECK_INT(found.wrong, 2);
  WS_CHECK_INT(found.first.arg, TWO_SUM);
  WS_CHECK_INT(found.first.element, 0);
  WS_CHECK(!ws_problem_has_elements(problem) &&
           !ws_problem_can_project(problem));
}

/* ---- what a sum may be off by ---- */

static double granted(const ws_problem_definition *d) {
  const ws_problem *problem = opened(d);
  const ws_shape shape = sized(problem, ROWS, COLUMNS);
  static const double wide[ROWS * COLUMNS] = {1};
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {x_values};
  double value[ROWS * COLUMNS], error[ROWS * COLUMNS];
  if (d->args[MADE_X].type == WS_F64)
    buffers[MADE_X] = wide;
  ws_problem_reference(problem, &shape, 0, buffers, 0, ROWS, value, error);
  WS_CHECK_NEAR(value[0], 2, 0);
  return error[0] / 2;
}

WS_TEST(the_unit_follows_from_terms_and_arithmetic) {
  ws_problem_definition d = made();
  WS_CHECK_NEAR(granted(&d) * 0x1p24, 32.125, 1e-9);
  d.terms = "m * n * 100";
  WS_CHECK_NEAR(granted(&d) * 0x1p24, 182, 1e-9);
  d.arithmetic = 0x1p-11;
  WS_CHECK_NEAR(granted(&d) * 0x1p11, 182, 1e-9);
  d.arithmetic = 0;
  d.args[MADE_X].type = d.args[MADE_Y].type = WS_F64;
  WS_CHECK_NEAR(granted(&d) * 0x1p53, 182, 1e-9);
}
