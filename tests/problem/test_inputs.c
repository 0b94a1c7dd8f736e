/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inputs that no definition makes itself. Ordinary floats are standard normal,
 * rounded to the type: their shares below a value are held against the normal
 * distribution at the type's own midpoints. Hard ones have what ordinary ones
 * seldom hold.
 */
#include "definition.h"

enum { ROWS = 512, COLUMNS = 256, COUNT = ROWS * COLUMNS };

static const struct {
  ws_type type;
  int fraction_bits;
  double largest, least_normal;
} floats[] = {{WS_F64, 52, 0x1.fffffffffffffp1023, 0x1p-1022},
              {WS_F32, 23, 0x1.fffffep127, 0x1p-126},
              {WS_F16, 10, 65504, 0x1p-14},
              {WS_BF16, 7, 0x1.fep127, 0x1p-126},
              {WS_E4M3, 3, 448, 0x1p-6},
              {WS_E5M2, 2, 57344, 0x1p-14},
              {WS_E4M3_FNUZ, 3, 240, 0x1p-7},
              {WS_E5M2_FNUZ, 2, 57344, 0x1p-15}};
enum { FLOATS = sizeof floats / sizeof floats[0] };

typedef struct inputs {
  const ws_problem *problem;
  ws_shape shape;
  ws_type type;
  _Alignas(8) char bytes[COUNT * 8 + 16];
} inputs;

static inputs *open_inputs(ws_type type, const char *low, const char *high) {
  static inputs in;
  ws_problem_definition d = made();
  d.args[MADE_X].type = type;
  d.args[MADE_X].low = low;
  d.args[MADE_X].high = high;
  in.problem = opened(&d);
  in.shape = sized(in.problem, ROWS, COLUMNS);
  in.type = type;
  return &in;
}

static void fill(inputs *in, uint64_t seed) {
  const size_t size = (size_t)COUNT * (size_t)ws_type_bytes(in->type);
  memset(in->bytes, 0x5a, sizeof in->bytes);
  ws_problem_generate(in->problem, MADE_X, &in->shape, 0, seed, in->bytes);
  for (size_t i = size; i < size + 16; i++)
    WS_CHECK_INT(in->bytes[i], 0x5a);
}

static double at(const inputs *in, int index) {
  return ws_load(in->type, in->bytes, index);
}

/* ---- ordinary floats ---- */

static double phi(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* A normal variable is stored at most `edge` where it is at most the midpoint
 * to what follows. */
static void check_share(const inputs *in, int fraction_bits, double edge) {
  const double apart = ldexp(1, -fraction_bits - (edge < 0 ? 2 : 1));
  const double want = phi(edge + fabs(edge) * apart);
  int below = 0;
  for (int i = 0; i < COUNT; i++)
    below += at(in, i) <= edge;
  const double got = (double)below / COUNT;
  if (fabs(got - want) > 4.5 * sqrt(want * (1 - want) / COUNT))
    WS_FAIL("%s: %g of all are at most %g, want %g", ws_type_text(in->type),
            got, edge, want);
}

WS_TEST(ordinary_floats_are_normal) {
  static const double edges[] = {-2, -1, -0.5, -0.25, 0.125, 0.5, 1, 2};
  for (int t = 0; t < FLOATS; t++) {
    inputs *in = open_inputs(floats[t].type, NULL, NULL);
    double sum = 0, squares = 0, neighbours = 0, largest = 0;
    fill(in, 7);
    for (int i = 0; i < COUNT; i++) {
      const double x = at(in, i);
      WS_CHECK(isfinite(x));
      sum += x;
      squares += x * x;
      neighbours += x * at(in, (i + 1) % COUNT);
      largest = fmax(largest, fabs(x));
    }
    WS_CHECK_NEAR(sum / COUNT, 0, 4.5 / sqrt(COUNT));
    /* rounding to two bits adds about 2^-6 / 3 to the variance */
    WS_CHECK_NEAR(squares / COUNT, 1,
                  4.5 * sqrt(2.0 / COUNT) +
                      ldexp(1, -2 * floats[t].fraction_bits - 2) / 3);
    WS_CHECK_NEAR(neighbours / COUNT, 0, 4.5 / sqrt(COUNT));
    WS_CHECK(largest > 3.5 && largest < 6);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
      check_share(in, floats[t].fraction_bits, edges[i]);
  }
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* No table's steps show in wide types. */
WS_TEST(wide_floats_hardly_repeat) {
  static const ws_type wide[] = {WS_F64, WS_F32};
  static double values[COUNT];
  for (int t = 0; t < 2; t++) {
    inputs *in = open_inputs(wide[t], NULL, NULL);
    int distinct = 1;
    fill(in, 3);
    for (int i = 0; i < COUNT; i++)
      values[i] = at(in, i);
    qsort(values, COUNT, sizeof values[0], by_value);
    for (int i = 1; i < COUNT; i++)
      distinct += values[i] != values[i - 1];
    WS_CHECK(distinct > COUNT * 97 / 100);
  }
}

WS_TEST(inputs_follow_from_seed_and_argument) {
  static _Alignas(8) char first[COUNT * 8];
  static const ws_type types[] = {WS_F32, WS_BF16, WS_E4M3, WS_I8, WS_I32};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (int hard = 0; hard < 2; hard++) {
      const uint64_t bit = hard ? WS_HARD_INPUTS : 0;
      inputs *in = open_inputs(types[t], NULL, NULL);
      const size_t size = (size_t)COUNT * (size_t)ws_type_bytes(types[t]);
      fill(in, 3 | bit);
      memcpy(first, in->bytes, size);
      fill(in, 3 | bit);
      WS_CHECK(!memcmp(first, in->bytes, size));
      fill(in, 4 | bit);
      WS_CHECK(memcmp(first, in->bytes, size));
      fill(in, 3 | (bit ^ WS_HARD_INPUTS));
      WS_CHECK(memcmp(first, in->bytes, size));
    }
  ws_problem_definition d = made(); /* two inputs alike */
  d.args[3] = d.args[MADE_X];
  d.args[3].name = "z";
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, 64, 64);
  static _Alignas(8) char other[64 * 64 * 4];
  ws_problem_generate(problem, MADE_X, &shape, 0, 3, first);
  ws_problem_generate(problem, 3, &shape, 0, 3, other);
  WS_CHECK(memcmp(first, other, sizeof other));
}

/* ---- hard floats ---- */

/* Of 1024 runs of 128 elements: what their sorts are. */
WS_TEST(hard_floats_have_extremes) {
  for (int t = 0; t < FLOATS; t++) {
    inputs *in = open_inputs(floats[t].type, NULL, NULL);
    const bool is_small = ws_type_bytes(floats[t].type) == 1;
    int zero_runs = 0, one_runs = 0, huge = 0, tiny = 0, subnormal = 0;
    int most[2] = {0, 0};
    fill(in, 5 | WS_HARD_INPUTS);
    for (int run = 0; run < COUNT; run += 128) {
      int zeros = 0, ones = 0;
      for (int i = run; i < run + 128; i++) {
        const double x = at(in, i), size = fabs(x);
        WS_CHECK(isfinite(x));
        zeros += x == 0;
        ones += size == 1;
        huge += size > 64;
        tiny += size > 0 && size < 0x1p-9;
        subnormal += size > 0 && size < floats[t].least_normal;
        most[x < 0] += size == floats[t].largest;
      }
      zero_runs += zeros == 128;
      one_runs += ones == 128;
    }
    /* a sixth of the 1024 runs each; 2^-12 is zero in some 8-bit types */
    WS_CHECK(zero_runs > 100 && zero_runs < (is_small ? 460 : 260));
    WS_CHECK(one_runs > 100 && one_runs < 260);
    WS_CHECK(huge > COUNT / 12 && (is_small || tiny > COUNT / 4));
    if (is_small)
      WS_CHECK(subnormal > COUNT / 20 && most[0] > 100 && most[1] > 100);
  }
}

/* A quarter of the rows is small from end to end, the same of each input: mean
 * squares of 2^-24 beside what a kernel adds to them. */
WS_TEST(hard_rows_are_small_together) {
  enum { ROW_COUNT = 64, COLS = 512 };
  static uint32_t x[ROW_COUNT * COLS], z[ROW_COUNT * COLS];
  ws_problem_definition d = made();
  d.args[3] = d.args[MADE_X];
  d.args[3].name = "z";
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, ROW_COUNT, COLS);
  int small = 0;
  ws_problem_generate(problem, MADE_X, &shape, 0, 3 | WS_HARD_INPUTS, x);
  ws_problem_generate(problem, 3, &shape, 0, 3 | WS_HARD_INPUTS, z);
  WS_CHECK(memcmp(x, z, sizeof x));
  for (int r = 0; r < ROW_COUNT; r++) {
    double squares[2] = {0, 0};
    for (int i = r * COLS; i < (r + 1) * COLS; i++) {
      const double a = ws_load(problem->args[MADE_X].type, x, i);
      const double b = ws_load(problem->args[MADE_X].type, z, i);
      squares[0] += a * a / COLS;
      squares[1] += b * b / COLS;
    }
    const bool is_small = fabs(squares[0] * 0x1p24 - 1) < 0.25;
    WS_CHECK(is_small == (fabs(squares[1] * 0x1p24 - 1) < 0.25));
    small += is_small;
  }
  WS_CHECK(small > ROW_COUNT / 8 && small < ROW_COUNT / 2);
}

/* 8-bit floats: every finite code turns up. */
WS_TEST(hard_small_floats_have_every_code) {
  for (int t = 0; t < FLOATS; t++) {
    if (ws_type_bytes(floats[t].type) != 1)
      continue;
    inputs *in = open_inputs(floats[t].type, NULL, NULL);
    bool seen[256] = {false};
    fill(in, 6 | WS_HARD_INPUTS);
    for (int i = 0; i < COUNT; i++)
      seen[(uint8_t)in->bytes[i]] = true;
    for (unsigned code = 0; code < 256; code++) {
      const uint64_t room = code;
      if (seen[code] != (bool)isfinite(ws_load(floats[t].type, &room, 0)))
        WS_FAIL("%s: 0x%02x", ws_type_text(floats[t].type), code);
    }
  }
}

/* ---- integers ---- */

typedef struct known_range {
  ws_type type;
  const char *low, *high;
  double least, most;
} known_range;

static const known_range ranges[] = {
    {WS_I8, NULL, NULL, -128, 127},
    {WS_U8, NULL, NULL, 0, 255},
    {WS_I16, NULL, NULL, -32768, 32767},
    {WS_U16, NULL, NULL, 0, 65535},
    {WS_I32, NULL, NULL, -1000, 1000},
    {WS_U32, NULL, NULL, 0, 1000},
    {WS_I64, NULL, NULL, -1000, 1000},
    {WS_U64, NULL, NULL, 0, 1000},
    {WS_I32, "0", "n - 1", 0, COLUMNS - 1},
    {WS_I64, "0 - m", "m * n", -ROWS, ROWS *COLUMNS},
    {WS_I8, "0", NULL, 0, 127},
    {WS_I32, "5", "5", 5, 5},
    {WS_I32, "7", "layout", 7, 7}}; /* none between: the least */

WS_TEST(integers_are_uniform_in_their_range) {
  for (size_t t = 0; t < sizeof ranges / sizeof ranges[0]; t++) {
    const known_range *r = &ranges[t];
    inputs *in = open_inputs(r->type, r->low, r->high);
    const double width = r->most - r->least + 1;
    double sum = 0, least = INFINITY, most = -INFINITY;
    int quarter = 0;
    fill(in, 9);
    for (int i = 0; i < COUNT; i++) {
      const double x = at(in, i);
      WS_CHECK(x == floor(x) && x >= r->least && x <= r->most);
      sum += x;
      least = fmin(least, x);
      most = fmax(most, x);
      quarter += x < r->least + width / 4;
    }
    const double deviation = sqrt((width * width - 1) / 12);
    WS_CHECK_NEAR(sum / COUNT, (r->least + r->most) / 2,
                  4.5 * deviation / sqrt(COUNT));
    /* the ends are missed by at most what so many draws leave */
    WS_CHECK(least - r->least <= 20 * width / COUNT);
    WS_CHECK(r->most - most <= 20 * width / COUNT);
    const double share = ceil(width / 4) / width;
    WS_CHECK_NEAR((double)quarter / COUNT, share,
                  4.5 * sqrt(share * (1 - share) / COUNT));
  }
}

/* A span of 2^64 is no uint64. */
WS_TEST(integers_of_64_bits_may_have_their_whole_range) {
  inputs *in = open_inputs(WS_I64, "0 - 9223372036854775807 - 1",
                           "9223372036854775807");
  int low = 0;
  fill(in, 9);
  for (int i = 0; i < COUNT; i++)
    low += at(in, i) < 0;
  WS_CHECK_NEAR((double)low / COUNT, 0.5, 4.5 * 0.5 / sqrt(COUNT));
  fill(in, 9 | WS_HARD_INPUTS);
  bool ends[2] = {false, false};
  for (int i = 0; i < COUNT; i++) {
    ends[0] |= at(in, i) == -0x1p63;
    ends[1] |= at(in, i) == 0x1p63;
  }
  WS_CHECK(ends[0] && ends[1]);
}

WS_TEST(hard_integers_have_the_ends) {
  for (size_t t = 0; t < sizeof ranges / sizeof ranges[0]; t++) {
    const known_range *r = &ranges[t];
    inputs *in = open_inputs(r->type, r->low, r->high);
    int low = 0, high = 0;
    fill(in, 9 | WS_HARD_INPUTS);
    for (int i = 0; i < COUNT; i++) {
      const double x = at(in, i);
      WS_CHECK(x >= r->least && x <= r->most);
      low += x == r->least;
      high += x == r->most;
    }
    WS_CHECK(low > COUNT / 4 && high > COUNT / 4);
  }
}
