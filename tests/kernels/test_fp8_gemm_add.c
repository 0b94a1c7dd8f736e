/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fp8_gemm_blockscale's layout kmajor-add, in which slices of k are rounded and
 * added to what C holds: the bound against values worked out by hand, what it
 * lets pass, and what it finds.
 */
#include "fp8_gemm_operands.h"

enum { ADD_M = 32, ADD_N = 64, SLICES = 8, SIGNS = 98 };

/* Generated inputs, what C holds before, and the sum of each slice of k. */
typedef struct added {
  operands in; /* .c: before */
  double *parts[SLICES];
  uint16_t *result;
  int slices;
} added;

/* The product of these scale blocks alone: what kmajor's reference gives, all
 * else of A being zero. */
static double *product_of_blocks(const operands *in, int64_t begin,
                                 int64_t end) {
  const int64_t k = in->shape.size[DIM_K];
  operands o = make(ADD_M, ADD_N, k, KMAJOR);
  for (int64_t m = 0; m < ADD_M; m++)
    memcpy(o.a + m * k + begin * 128, in->a + m * k + begin * 128,
           (size_t)(end - begin) * 128);
  memcpy(o.b, in->b, (size_t)(ADD_N * k));
  memcpy(o.as, in->as, (size_t)(ADD_M * k / 128) * sizeof *o.as);
  memcpy(o.bs, in->bs, (size_t)(k / 128) * sizeof *o.bs);
  refer(&o);
  double *out = o.value;
  o.value = NULL;
  drop(&o);
  return out;
}

static added add_make(int64_t k, int slices, uint64_t seed) {
  added x = {.in = make(ADD_M, ADD_N, k, KMAJOR_ADD), .slices = slices};
  void *const inputs[] = {x.in.a, x.in.b, x.in.as, x.in.bs, x.in.c};
  static const char *const names[] = {"a", "b", "as", "bs", "c"};
  for (int i = 0; i < 5; i++)
    ws_problem_generate(gemm(), arg(names[i]), &x.in.shape, KMAJOR_ADD, seed,
                        inputs[i]);
  for (int z = 0; z < slices; z++)
    x.parts[z] = product_of_blocks(&x.in, k / 128 * z / slices,
                                   k / 128 * (z + 1) / slices);
  refer(&x.in);
  x.result = malloc(ADD_M * ADD_N * sizeof *x.result);
  WS_CHECK(x.result);
  return x;
}

static void add_drop(added *x) {
  for (int z = 0; z < x->slices; z++)
    free(x->parts[z]);
  free(x->result);
  drop(&x->in);
}

static double from_bf16(uint16_t bits) { return ws_load(WS_BF16, &bits, 0); }

/* Towards zero. */
static uint16_t cut_to_bf16(double value) {
  const float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)(bits >> 16);
}

typedef struct fault {
  int missing, doubled; /* slices; -1: none */
  bool cut;             /* parts are cut in place of rounded */
} fault;
static const fault no_fault = {-1, -1, false};

/* What a kernel leaves, the order of slices differing between elements. */
static void add_slices(added *x, fault wrong) {
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int i = 0; i < ADD_M * ADD_N; i++) {
    const int first = (int)ws_rng_below(&rng, (uint64_t)x->slices);
    const int step = ws_rng_below(&rng, 2) ? 1 : x->slices - 1;
    uint16_t c = x->in.c[i];
    for (int j = 0; j < x->slices; j++) {
      const int z = (first + j * step) % x->slices;
      const double part = x->parts[z][i];
      const int times = (z != wrong.missing) + (z == wrong.doubled);
      for (int t = 0; t < times; t++)
        c = to_bf16(from_bf16(c) +
                    from_bf16(wrong.cut ? cut_to_bf16(part) : to_bf16(part)));
    }
    x->result[i] = c;
  }
}

static ws_comparison add_compare(const added *x) {
  const void *results[WS_PROBLEM_MAX_ARGS] = {NULL};
  ws_comparison found;
  results[arg("c")] = x->result;
  ws_problem_compare(gemm(), &x->in.shape, KMAJOR_ADD, results, 0, ADD_M,
                     x->in.value, x->in.error, &found);
  return found;
}

static ws_comparison add_project(const added *x) {
  const void *results[WS_PROBLEM_MAX_ARGS] = {NULL};
  int64_t rows[ADD_M];
  double value[ADD_M], error[ADD_M];
  ws_comparison found;
  results[arg("c")] = x->result;
  for (int i = 0; i < ADD_M; i++)
    rows[i] = i;
  ws_problem_project(gemm(), &x->in.shape, KMAJOR_ADD, x->in.buffers, SIGNS,
                     rows, ADD_M, value, error);
  ws_problem_compare_projections(gemm(), &x->in.shape, KMAJOR_ADD, results,
                                 SIGNS, rows, ADD_M, value, error, &found);
  return found;
}

WS_TEST(only_kmajor_add_reads_c) {
  for (int layout = KMAJOR; layout < LAYOUTS; layout++)
    for (int striding = 0; striding < gemm()->striding_count; striding++) {
      const int form = ws_problem_form(gemm(), layout, striding);
      WS_CHECK_INT(ws_problem_arg_role(gemm(), arg("c"), form),
                   layout == KMAJOR_ADD ? WS_ARG_INOUT : WS_ARG_OUTPUT);
      WS_CHECK_INT(ws_problem_arg_role(gemm(), arg("a"), form), WS_ARG_INPUT);
    }
}

/* One element's verdict; the reference sees what C holds before. */
static ws_comparison add_compare_one(const operands *o, int64_t element,
                                     uint16_t got) {
  uint16_t result[16 * 16] = {0};
  const void *results[WS_PROBLEM_MAX_ARGS] = {NULL};
  const ws_place place = {arg("c"), element};
  ws_comparison found;
  results[arg("c")] = result;
  result[element] = got;
  ws_problem_compare_at(gemm(), &o->shape, KMAJOR_ADD, o->buffers, results,
                        &place, 1, &found);
  return found;
}

/* Block sums 3 and -2, 1.5 before: want 2.5, magnitudes 5. Two additions, the
 * first of which leaves at most (1.5 + 5 + 2.5) / 2 = 4.5 (= 1.5 + 3). */
WS_TEST(additions_have_the_documented_bound) {
  enum { AT = 2 * 16 + 5 };
  operands o = make(16, 16, 256, KMAJOR_ADD);
  set_a(&o, 2, 7, 0x4c);   /* 3 */
  set_b(&o, 5, 7, ONE);    /* 1 */
  set_a(&o, 2, 200, 0xc8); /* -2 */
  set_b(&o, 5, 200, ONE);
  o.c[AT] = 0x3fc0; /* 1.5 */
  refer(&o);
  const double flushed = 6 * 0x1p-126;
  const double error = fp32_error(&o, 5) + 1.0625 / 256 * (4.5 + 5) + flushed;
  WS_CHECK_NEAR(o.value[AT], 2.5, 0);
  WS_CHECK_NEAR(o.error[AT], error, 1e-12);
  WS_CHECK_NEAR(o.value[0], 0, 0);
  WS_CHECK_NEAR(o.error[0], flushed, 0);
  WS_CHECK_INT(add_compare_one(&o, AT, 0x4020).wrong, 0); /* 2.5 */
  WS_CHECK_INT(add_compare_one(&o, AT, 0x4090).wrong, 1); /* 4.5: no -2 */
  WS_CHECK_INT(add_compare_one(&o, AT, 0x3f00).wrong, 1); /* 0.5: -2 twice */
  WS_CHECK_INT(add_compare_one(&o, AT, 0x3f80).wrong, 1); /* 1: 1.5 is gone */
  WS_CHECK_NEAR(add_compare_one(&o, AT, 0x3f80).first_bound, error + 2.5 / 256,
                1e-9);
  drop(&o);
}

/* 16 blocks, of which one holds 1: eight additions, of at most 1 each but for
 * the last, and the part. */
WS_TEST(no_more_than_eight_additions_are_allowed) {
  operands o = make(16, 16, 2048, KMAJOR_ADD);
  set_a(&o, 0, 1000, ONE);
  set_b(&o, 0, 1000, ONE);
  refer(&o);
  const double error = fp32_error(&o, 1) + 1.0625 / 256 * (7 * 1 + 1);
  WS_CHECK_NEAR(o.value[0], 1, 0);
  WS_CHECK_NEAR(o.error[0], error, 1e-12);
  drop(&o);
}

/* A row of 16 with the product 3 and, elsewhere, 4 before: one addition, whose
 * errors go by the root of (16 + 9) + 9; fp32's by twice the mean of 3. */
WS_TEST(a_row_has_the_documented_bound) {
  const int64_t row = 0;
  double value, error;
  operands o = make(16, 16, 128, KMAJOR_ADD);
  set_a(&o, 0, 7, 0x4c); /* 3 */
  set_b(&o, 5, 7, ONE);
  o.c[9] = 0x4080; /* 4 */
  ws_problem_project(gemm(), &o.shape, KMAJOR_ADD, o.buffers, SIGNS, &row, 1,
                     &value, &error);
  WS_CHECK(fabs(value) == 7 || fabs(value) == 1);
  WS_CHECK_NEAR(error, fp32_error(&o, 2 * 3.0 / 4) + sqrt(34) / 256, 1e-12);
  drop(&o);
}

/* The part 1 + 1.75 2^-7 is rounded to 1 + 2^-6 (0x3f82) or cut to 1 + 2^-7;
 * -1 before, so that the sum is exact: 2^-6 or 2^-7, and 1.75 2^-7 is wanted
 * within 2^-8 1.0625 of the part and 2^-8 of itself. */
WS_TEST(a_cut_part_is_seen_where_it_is_the_only_one) {
  static const uint8_t bytes[] = {ONE, 0x08, 0x04, 0x02}; /* 2^-7 to 2^-9 */
  operands o = make(16, 16, 128, KMAJOR_ADD);
  for (int i = 0; i < 4; i++) {
    set_a(&o, 0, 11 * i, bytes[i]);
    set_b(&o, 0, 11 * i, ONE);
  }
  o.c[0] = 0xbf80;
  refer(&o);
  WS_CHECK_NEAR(o.value[0], 1.75 / 128, 0);
  WS_CHECK_INT(add_compare_one(&o, 0, 0x3c80).wrong, 0); /* 2^-6 */
  WS_CHECK_INT(add_compare_one(&o, 0, 0x3c00).wrong, 1); /* 2^-7 */
  drop(&o);
}

WS_TEST(it_is_kmajor_and_what_was_there) {
  added x = add_make(1024, 1, 3);
  const uint16_t nan[ADD_M * ADD_N] = {[0 ... ADD_M * ADD_N - 1] = 0x7fc0};
  const void *results[WS_PROBLEM_MAX_ARGS] = {NULL};
  results[arg("c")] = nan;
  for (int i = 0; i < ADD_M * ADD_N; i++) {
    const double want = x.parts[0][i] + from_bf16(x.in.c[i]);
    const ws_place place = {arg("c"), i};
    ws_comparison found;
    WS_CHECK_NEAR(x.in.value[i], want, 0);
    /* and elements asked for alone are the same */
    ws_problem_compare_at(gemm(), &x.in.shape, KMAJOR_ADD, x.in.buffers,
                          results, &place, 1, &found);
    const double bound = x.in.error[i] + fabs(want) / 256;
    WS_CHECK_NEAR(found.first_want, want, 1e-9 * bound);
    WS_CHECK_NEAR(found.first_bound, bound, 1e-6 * bound);
  }
  add_drop(&x);
}

/* What C holds before is of the size of results: its square is k in the mean.
 * Hard inputs have zeros and what dwarfs a result, or is dwarfed. */
WS_TEST(c_has_values_at_entry) {
  enum { COUNT = 1024 * 64, K = 2048 };
  ws_shape shape = gemm_shape(1024, 64, K);
  static uint16_t c[COUNT];
  double squares = 0;
  int zero = 0, huge = 0, tiny = 0;
  ws_problem_generate(gemm(), arg("c"), &shape, KMAJOR_ADD, 9, c);
  for (int i = 0; i < COUNT; i++)
    squares += from_bf16(c[i]) * from_bf16(c[i]);
  WS_CHECK_NEAR(squares / COUNT / K, 1, 5 * sqrt(2.0 / COUNT));
  ws_problem_generate(gemm(), arg("c"), &shape, KMAJOR_ADD, 9 | WS_HARD_INPUTS,
                      c);
  for (int i = 0; i < COUNT; i++) {
    const double size = fabs(from_bf16(c[i])) / sqrt(K);
    WS_CHECK(isfinite(size));
    zero += size == 0;
    huge += size > 64;
    tiny += size > 0 && size < 0x1p-9;
  }
  WS_CHECK(zero > COUNT / 8 && huge > COUNT / 8 && tiny > COUNT / 8);
}

static const struct {
  int64_t k;
  int slices;
} splits[] = {{128, 1},  {128, 8},  {256, 2},  {512, 4},
              {1024, 1}, {1024, 3}, {1024, 8}, {7168, 8}};
enum { SPLITS = sizeof splits / sizeof *splits };

WS_TEST(slices_that_are_added_in_any_order_pass) {
  for (int i = 0; i < SPLITS; i++)
    for (uint64_t seed = 1; seed < 4; seed++)
      for (int hard = 0; hard < 2; hard++) {
        added x = add_make(splits[i].k, splits[i].slices,
                           seed | (hard ? WS_HARD_INPUTS : 0));
        add_slices(&x, no_fault);
        WS_CHECK_INT(add_compare(&x).wrong, 0);
        WS_CHECK_INT(add_project(&x).wrong, 0);
        add_drop(&x);
      }
}

/* A part that is missing or comes twice is seen in half of the elements and a
 * quarter of the rows' projections at least. */
WS_TEST(a_missing_or_doubled_slice_is_seen) {
  for (int i = 0; i < SPLITS; i++)
    for (int doubled = 0; doubled < 2; doubled++) {
      added x = add_make(splits[i].k, splits[i].slices, 1);
      const int last = splits[i].slices - 1; /* at k = 128 the one with work */
      add_slices(&x, (fault){doubled ? -1 : last, doubled ? last : -1, false});
      WS_CHECK(add_compare(&x).wrong > ADD_M * ADD_N / 2);
      WS_CHECK(add_project(&x).wrong > ADD_M / 4);
      add_drop(&x);
    }
}

/* Parts that are cut in place of rounded: seen with one scale block, where no
 * rounding but the last is behind them; with more they are within the bound. */
WS_TEST(cut_parts_are_seen_with_one_block_and_not_with_eight) {
  added one = add_make(128, 1, 1), eight = add_make(1024, 8, 1);
  add_slices(&one, (fault){-1, -1, true});
  add_slices(&eight, (fault){-1, -1, true});
  WS_CHECK(add_compare(&one).wrong > ADD_M * ADD_N / 100);
  WS_CHECK_INT(add_compare(&eight).wrong, 0);
  add_drop(&one);
  add_drop(&eight);
}
