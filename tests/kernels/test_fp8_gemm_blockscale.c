/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fp8_gemm_blockscale against values worked out by hand: a few fp8 bytes, one
 * product at a time, scales by block, the tolerance's terms, the shape sets.
 */
#include "fp8_gemm_operands.h"

/* ---- reference --------------------------------------------------------------
 */

/* The value of a byte of A, as the reference reads it. */
static double decoded(int layout, uint8_t byte) {
  operands o = make(16, 16, 128, layout);
  set_a(&o, 2, 77, byte);
  set_b(&o, 5, 77, layout == KMAJOR_OCP ? OCP_ONE : ONE);
  refer(&o);
  double value = o.value[2 * 16 + 5], error = o.error[2 * 16 + 5];
  double want =
      layout == KMAJOR_OCP ? fabs(value) * 0x1p-8 : fp32_error(&o, fabs(value));
  if (!isnan(value))
    WS_CHECK_NEAR(error, want, 0);
  drop(&o);
  return value;
}

typedef struct known_byte {
  uint8_t byte;
  double value;
} known_byte;

static void check_bytes(int layout, const known_byte *known, size_t count) {
  for (size_t i = 0; i < count; i++)
    WS_CHECK_NEAR(decoded(layout, known[i].byte), known[i].value, 0);
}

WS_TEST(bytes_decode_as_fnuz) {
  /* (1 + f/8) 2^(e-8), subnormals f 2^-10 */
  static const known_byte known[] = {
      {0x00, 0},        {0x01, 0.0009765625}, {0x07, 0.0068359375},
      {0x08, 0x1p-7},   {0x0f, 0x1.ep-7},     {0x38, 0.5},
      {0x40, 1},        {0x41, 1.125},        {0x47, 1.875},
      {0x48, 2},        {0x78, 128},          {0x7f, 240},
      {0x81, -0x1p-10}, {0xc0, -1},           {0xff, -240}};
  check_bytes(KMAJOR, known, sizeof known / sizeof *known);
  WS_CHECK(isnan(decoded(KMAJOR, 0x80)));
}

/* OCP 8-bit Floating Point Specification 1.0, table of E4M3: bias 7, largest
 * S.1111.110 = 448, smallest normal S.0001.000 = 2^-6, largest and smallest
 * subnormal S.0000.111 = 0.875 2^-6 and S.0000.001 = 2^-9, zeros S.0000.000,
 * NaN S.1111.111, no infinities. */
WS_TEST(bytes_decode_as_ocp) {
  static const known_byte known[] = {
      {0x00, 0},      {0x01, 0x1p-9},   {0x07, 0.875 * 0x1p-6},
      {0x08, 0x1p-6}, {0x0f, 0x1.ep-6}, {0x30, 0.5},
      {0x38, 1},      {0x39, 1.125},    {0x3f, 1.875},
      {0x40, 2},      {0x77, 240},      {0x78, 256},
      {0x7e, 448},    {0x80, 0},        {0x81, -0x1p-9},
      {0xb8, -1},     {0xfe, -448}};
  check_bytes(KMAJOR_OCP, known, sizeof known / sizeof *known);
  WS_CHECK(isnan(decoded(KMAJOR_OCP, 0x7f)));
  WS_CHECK(isnan(decoded(KMAJOR_OCP, 0xff)));
}

/* Where both formats hold numbers, OCP's is twice FNUZ's. */
WS_TEST(ocp_is_twice_fnuz) {
  for (int byte = 0; byte < 256; byte++)
    if ((byte & 127) != 127 && byte != 128)
      WS_CHECK_NEAR(decoded(KMAJOR_OCP, (uint8_t)byte),
                    2 * decoded(KMAJOR, (uint8_t)byte), 0);
}

WS_TEST(one_product_lands_at_its_row_and_column) {
  for (int layout = KMAJOR; layout <= KMAJOR_BPRESHUFFLE; layout++) {
    operands o = make(32, 48, 256, layout);
    set_a(&o, 19, 200, layout == KMAJOR_OCP ? 0x40 : 0x48); /* 2 */
    set_b(&o, 41, 200, layout == KMAJOR_OCP ? 0xb9 : 0xc1); /* -1.125 */
    refer(&o);
    for (int64_t i = 0; i < 32; i++)
      for (int64_t j = 0; j < 48; j++) {
        double want = i == 19 && j == 41 ? -2.25 : 0;
        double error = layout == KMAJOR_OCP ? fabs(want) * 0x1p-8
                                            : fp32_error(&o, fabs(want));
        WS_CHECK_NEAR(o.value[i * 48 + j], want, 0);
        WS_CHECK_NEAR(o.error[i * 48 + j], error, 0);
      }
    drop(&o);
  }
}

WS_TEST(scales_belong_to_row_and_block) {
  for (int layout = KMAJOR; layout <= KMAJOR_BPRESHUFFLE; layout++) {
    operands o = make(16, 272, 256, layout); /* column blocks 0, 1, 2 */
    memset(o.a, layout == KMAJOR_OCP ? OCP_ONE : ONE, 16 * 256);
    memset(o.b, layout == KMAJOR_OCP ? OCP_ONE : ONE, 272 * 256);
    for (int64_t i = 0; i < 16; i++)
      for (int64_t kb = 0; kb < 2; kb++)
        o.as[kb * 16 + i] = (float)(kb ? -(i + 1) : i + 1);
    /* the element (column block, k block) is 10 and a digit each */
    for (int64_t nb = 0; nb < 3; nb++)
      for (int64_t kb = 0; kb < 2; kb++)
        o.bs[layout == MNMAJOR ? kb * 3 + nb : nb * 2 + kb] =
            (float)(100 * nb + 10 * kb + 1);
    refer(&o);
    for (int64_t i = 0; i < 16; i++)
      for (int64_t j = 0; j < 272; j++) {
        double row = (double)(i + 1), first = 100.0 * (double)(j / 128) + 1;
        double second = first + 10;
        double error =
            layout == KMAJOR_OCP
                ? sqrt(128 * row * row * (first * first + second * second)) /
                      256
                : fp32_error(&o, 128 * row * (first + second));
        WS_CHECK_NEAR(o.value[i * 272 + j], 128 * row * (first - second), 0);
        WS_CHECK_NEAR(o.error[i * 272 + j], error, 1e-12 * error);
      }
    drop(&o);
  }
}

WS_TEST(a_block_is_summed_exactly) {
  /* 240^2 - 240^2 + 2^-20: fp32 would need 36 bits for the middle sum */
  operands o = make(16, 16, 128, KMAJOR);
  set_a(&o, 0, 0, 0x7f);
  set_b(&o, 0, 0, 0x7f);
  set_a(&o, 0, 1, 0x01);
  set_b(&o, 0, 1, 0x01);
  set_a(&o, 0, 127, 0xff);
  set_b(&o, 0, 127, 0x7f);
  refer(&o);
  WS_CHECK_NEAR(o.value[0], 0x1p-20, 0);
  WS_CHECK_NEAR(o.error[0], fp32_error(&o, 115200), 1e-6);
  drop(&o);
}

/* 448^2 63 times each way and (2^-9)^2 twice: 43 bits between the ends. */
WS_TEST(a_block_of_ocp_is_summed_exactly) {
  operands o = make(16, 16, 128, KMAJOR_OCP);
  for (int k = 0; k < 126; k++) {
    set_a(&o, 0, k, k % 2 ? 0xfe : 0x7e);
    set_b(&o, 0, k, 0x7e);
    set_b(&o, 1, k, k % 2 ? 0xfe : 0x7e);
  }
  for (int k = 126; k < 128; k++) {
    set_a(&o, 0, k, 0x01);
    set_b(&o, 0, k, 0x01);
    set_b(&o, 1, k, 0x01);
  }
  refer(&o);
  WS_CHECK_NEAR(o.value[0], 0x1p-17, 0);
  WS_CHECK_NEAR(o.value[1], 126 * 448.0 * 448.0 + 0x1p-17, 0);
  WS_CHECK_NEAR(o.error[0], 448.0 * 448.0 * sqrt(126) / 256, 0.01);
  drop(&o);
}

WS_TEST(rows_are_a_window) {
  operands o = make(48, 16, 128, MNMAJOR);
  for (int64_t i = 0; i < 48; i++)
    o.as[i] = (float)i;
  memset(o.a, ONE, 48 * 128);
  memset(o.b, ONE, 16 * 128);
  ws_problem_reference(gemm(), &o.shape, o.layout, o.buffers, 17, 19, o.value,
                       o.error);
  WS_CHECK_NEAR(o.value[0], 17 * 128, 0);
  WS_CHECK_NEAR(o.value[31], 18 * 128, 0);
  o.c[17 * 16] = 0x4508;      /* 2176 = 17 * 128 */
  o.c[18 * 16 + 15] = 0x4510; /* 2304 = 18 * 128 */
  ws_comparison found;
  ws_problem_compare(gemm(), &o.shape, o.layout, o.buffers, 17, 19, o.value,
                     o.error, &found);
  WS_CHECK_INT(found.checked, 32);
  WS_CHECK_INT(found.wrong, 30);
  WS_CHECK_INT(found.first.element, 17 * 16 + 1);
  drop(&o);
}

/* ---- tolerance --------------------------------------------------------------
 */

/* Compares one element; the other 255 are 0 and should be. */
static ws_comparison compare_one(double want, double error, uint16_t got) {
  operands o = make(16, 16, 128, KMAJOR);
  memset(o.value, 0, 256 * sizeof(double));
  memset(o.error, 0, 256 * sizeof(double));
  o.value[3 * 16 + 9] = want;
  o.error[3 * 16 + 9] = error;
  o.c[3 * 16 + 9] = got;
  ws_comparison found;
  ws_problem_compare(gemm(), &o.shape, o.layout, o.buffers, 0, 16, o.value,
                     o.error, &found);
  WS_CHECK_INT(found.checked, 256);
  if (found.wrong) {
    WS_CHECK_INT(found.wrong, 1);
    WS_CHECK_INT(found.first.element, 3 * 16 + 9);
    if (isfinite(want))
      WS_CHECK_NEAR(found.first_want, want, 0);
    if (!isfinite(want) || !isfinite(found.first_got))
      WS_CHECK(isinf(found.worst_ratio));
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
  WS_CHECK_INT(compare_one(-1 - 0x1.8p-8, 0, 0xbf81).wrong, 0);
  WS_CHECK_INT(compare_one(-1 - 0x1.8p-8, 0, 0xbf80).wrong, 1);
}

WS_TEST(the_bound_has_the_documented_terms) {
  /* 2^-8 |want| + error + 2^-126 */
  ws_comparison found = compare_one(1, 0x1p-6, 0x4000);
  WS_CHECK_INT(found.wrong, 1);
  WS_CHECK_NEAR(found.first_got, 2, 0);
  WS_CHECK_NEAR(found.first_bound, 0x1p-8 + 0x1p-6, 0x1p-60);
  WS_CHECK_NEAR(found.worst_ratio, 1 / (0x1p-8 + 0x1p-6), 1e-9);
  WS_CHECK_INT(compare_one(0, 3, 0x4040).wrong, 0); /* 3 */
  WS_CHECK_INT(compare_one(0, 3, 0x4041).wrong, 1);
  WS_CHECK_INT(compare_one(0, 0, 0x0080).wrong, 0); /* smallest normal */
  WS_CHECK_INT(compare_one(0, 0, 0x0081).wrong, 1);
}

WS_TEST(nan_is_wrong_everywhere_and_infinity_beside_a_number) {
  WS_CHECK_INT(compare_one(0, 1e30, 0x7fc0).wrong, 1);
  WS_CHECK_INT(compare_one(0, 1e30, 0x7f80).wrong, 1);
  WS_CHECK_INT(compare_one(NAN, 1, 0x7fc0).wrong, 1);
  WS_CHECK_INT(compare_one(1, INFINITY, 0x7fc0).wrong, 1);
  WS_CHECK_INT(compare_one(INFINITY, INFINITY, 0x7fc0).wrong, 1);
  WS_CHECK_INT(compare_one(INFINITY, INFINITY, 0xff80).wrong, 1);
  WS_CHECK_INT(compare_one(INFINITY, INFINITY, 0x3f80).wrong, 1);
  WS_CHECK_INT(compare_one(INFINITY, INFINITY, 0x7f80).wrong, 0);
  WS_CHECK_INT(compare_one(0, NAN, 0).wrong, 1);
}

/* ---- samples of what is large ---------------------------------------------
 */

/* Generated inputs and the right result. */
static operands solved(int layout) {
  operands o = make(96, 512, 1024, layout);
  void *const inputs[] = {o.a, o.b, o.as, o.bs};
  static const char *const names[] = {"a", "b", "as", "bs"};
  for (int i = 0; i < 4; i++)
    ws_problem_generate(gemm(), arg(names[i]), &o.shape, layout, 5, inputs[i]);
  refer(&o);
  for (int i = 0; i < 96 * 512; i++)
    o.c[i] = to_bf16(o.value[i]);
  return o;
}

/* Of a strip of 64 columns that is missing in one row, one vector of signs in
 * sixteen says nothing: |sum of 64 signs times c| is below the bound. */
enum { SIGNS = 98 };

static ws_comparison sample(const operands *o) {
  int64_t rows[96];
  double value[96], error[96];
  ws_comparison found;
  for (int i = 0; i < 96; i++)
    rows[i] = i;
  ws_problem_project(gemm(), &o->shape, o->layout, o->buffers, SIGNS, rows, 96,
                     value, error);
  ws_problem_compare_projections(gemm(), &o->shape, o->layout, o->buffers,
                                 SIGNS, rows, 96, value, error, &found);
  return found;
}

WS_TEST(a_right_result_passes_the_projection) {
  for (int layout = KMAJOR; layout <= KMAJOR_BPRESHUFFLE; layout++) {
    operands o = solved(layout);
    ws_comparison found = sample(&o);
    WS_CHECK_INT(found.wrong, 0);
    WS_CHECK_INT(found.checked, 96);
    WS_CHECK(found.worst_ratio > 0.01);
    drop(&o);
  }
}

/* The errors are few: what finds them is the projection, of their row alone. */
static void check_row(operands *o, int64_t row) {
  ws_comparison found = sample(o);
  WS_CHECK_INT(found.wrong, 1);
  WS_CHECK_INT(found.first_slice, row);
  WS_CHECK_INT(found.first.element, WS_WHOLE_SLICE);
}

WS_TEST(the_projection_sees_every_element) {
  for (int layout = KMAJOR; layout <= KMAJOR_BPRESHUFFLE; layout++) {
    operands o = solved(layout);
    o.c[77 * 512 + 300] = 0x7fc0; /* NaN */
    check_row(&o, 77);
    o.c[77 * 512 + 300] = to_bf16(o.value[77 * 512 + 300]);
    memset(o.c + 40 * 512 + 64, 0,
           64 * sizeof *o.c); /* a tile's row is missing */
    check_row(&o, 40);
    drop(&o);
  }
}

WS_TEST(swapped_rows_and_columns_are_seen) {
  operands o = solved(MNMAJOR);
  uint16_t row[512];
  memcpy(row, o.c, sizeof row);
  memcpy(o.c, o.c + 512, sizeof row);
  memcpy(o.c + 512, row, sizeof row);
  WS_CHECK(sample(&o).wrong >= 2);
  drop(&o);
}

/* B's rows behind one another, or shuffled by hand: one product, in whole, at
 * places, and as a projection. */
WS_TEST(shuffled_weights_are_the_same_weights) {
  enum { M = 96, N = 512, K = 1024 };
  operands plain = solved(KMAJOR), moved = make(M, N, K, KMAJOR_BPRESHUFFLE);
  const ws_place places[] = {{arg("c"), 0}, {arg("c"), 40 * N + 300}};
  const int64_t row = 77;
  double one, same, error, same_error;
  ws_comparison found;
  memcpy(moved.a, plain.a, M * K);
  memcpy(moved.as, plain.as, M * (K / 128) * sizeof *moved.as);
  memcpy(moved.bs, plain.bs, N / 128 * (K / 128) * sizeof *moved.bs);
  for (int64_t j = 0; j < N; j++)
    for (int64_t k = 0; k < K; k++)
      set_b(&moved, j, k, plain.b[j * K + k]);
  refer(&moved);
  for (int i = 0; i < M * N; i++) {
    WS_CHECK_NEAR(moved.value[i], plain.value[i], 0);
    WS_CHECK_NEAR(moved.error[i], plain.error[i], 0);
  }
  ws_problem_compare_at(gemm(), &moved.shape, KMAJOR_BPRESHUFFLE, moved.buffers,
                        plain.buffers, places, 2, &found);
  WS_CHECK_INT(found.wrong, 0);
  ws_problem_project(gemm(), &plain.shape, KMAJOR, plain.buffers, SIGNS, &row,
                     1, &one, &error);
  ws_problem_project(gemm(), &plain.shape, KMAJOR_BPRESHUFFLE, moved.buffers,
                     SIGNS, &row, 1, &same, &same_error);
  WS_CHECK_NEAR(same, one, 0);
  WS_CHECK_NEAR(same_error, error, 0);
  drop(&plain);
  drop(&moved);
}

/* ---- inputs -----------------------------------------------------------------
 */

static double normal_between(double low, double high) {
  return 0.5 * (erf(high / sqrt(2)) - erf(low / sqrt(2)));
}

/* A byte and the interval of numbers that round to it. */
typedef struct known_share {
  uint8_t byte;
  double low, high;
} known_share;

/* NaN, minus zero and what lies beyond the last quantile do not occur;
 * last is the code of the outermost value. */
static void check_shares(int layout, const known_share *known, size_t size,
                         int last) {
  ws_shape shape = gemm_shape(1024, 16, 1024);
  int64_t count = shape.size[DIM_M] * shape.size[DIM_K], times[256] = {0};
  uint8_t *bytes = malloc((size_t)count);
  WS_CHECK(bytes);
  ws_problem_generate(gemm(), arg("a"), &shape, layout, 42, bytes);
  for (int64_t i = 0; i < count; i++)
    times[bytes[i]]++;
  for (size_t i = 0; i < size; i++) {
    double want = normal_between(known[i].low, known[i].high);
    double got = (double)times[known[i].byte] / (double)count;
    WS_CHECK_NEAR(got, want, 5 * sqrt(want / (double)count) + 0x1p-16);
  }
  WS_CHECK_INT(times[0x80], 0);
  WS_CHECK(times[last] > 0);
  for (int high = last + 1; high < 0x80; high++)
    WS_CHECK_INT(times[high] + times[high | 0x80], 0);
  free(bytes);
}

/* 1 has the neighbours 0.9375 and 1.125; 4.5 begins at 4.25 sigma, which one
 * quantile of 2^16 passes; 5 none. */
WS_TEST(operands_are_normal_rounded_to_fnuz) {
  static const known_share known[] = {
      {0x40, 0.96875, 1.0625},   {0xc0, -1.0625, -0.96875},
      {0x38, 0.484375, 0.53125}, {0x48, 1.9375, 2.125},
      {0xcc, -3.125, -2.875},    {0x00, -0x1p-11, 0x1p-11}};
  check_shares(KMAJOR, known, sizeof known / sizeof *known, 0x51);
}

WS_TEST(operands_are_normal_rounded_to_ocp) {
  static const known_share known[] = {
      {0x38, 0.96875, 1.0625},   {0xb8, -1.0625, -0.96875},
      {0x30, 0.484375, 0.53125}, {0x40, 1.9375, 2.125},
      {0xc4, -3.125, -2.875},    {0x00, -0x1p-10, 0x1p-10}};
  check_shares(KMAJOR_OCP, known, sizeof known / sizeof *known, 0x49);
}

WS_TEST(scales_are_signed_normals) {
  ws_shape shape = gemm_shape(4096, 16, 2048);
  int64_t count = shape.size[DIM_M] * 16;
  float *scales = malloc((size_t)count * sizeof(float));
  WS_CHECK(scales);
  ws_problem_generate(gemm(), arg("as"), &shape, KMAJOR, 1, scales);
  double sum = 0, squares = 0;
  int64_t negative = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += scales[i];
    squares += (double)scales[i] * scales[i];
    negative += scales[i] < 0;
  }
  double n = (double)count;
  WS_CHECK_NEAR(sum / n, 0, 5 / sqrt(n));
  WS_CHECK_NEAR(squares / n, 1, 5 * sqrt(2 / n));
  WS_CHECK_NEAR((double)negative / n, 0.5, 2.5 / sqrt(n));
  free(scales);
}

WS_TEST(inputs_follow_from_seed_and_argument) {
  ws_shape shape = gemm_shape(64, 64, 256);
  uint8_t first[64 * 256], again[64 * 256];
  ws_problem_generate(gemm(), arg("a"), &shape, KMAJOR, 3, first);
  ws_problem_generate(gemm(), arg("a"), &shape, KMAJOR, 3, again);
  WS_CHECK(!memcmp(first, again, sizeof first));
  ws_problem_generate(gemm(), arg("a"), &shape, KMAJOR, 4, again);
  WS_CHECK(memcmp(first, again, sizeof first));
  ws_problem_generate(gemm(), arg("b"), &shape, KMAJOR, 3, again);
  WS_CHECK(memcmp(first, again, sizeof first));
}

/* ---- arguments, shapes ------------------------------------------------------
 */

/* What normal data hardly ever has: each sort of run and each sort of scale,
 * and still no NaN. */
static void check_hard_operands(int layout) {
  enum { RUNS = 64 };
  const bool ocp = layout == KMAJOR_OCP;
  ws_shape shape = gemm_shape(RUNS, 16, 128);
  static uint8_t bytes[RUNS * 128];
  int zero = 0, subnormal = 0, large = 0, most = 0, minus_zero = 0;
  ws_problem_generate(gemm(), arg("a"), &shape, layout, 1 | WS_HARD_INPUTS,
                      bytes);
  for (int run = 0; run < RUNS; run++) {
    int high = 0, upper = 0;
    for (int i = 0; i < 128; i++) {
      const uint8_t byte = bytes[run * 128 + i], magnitude = byte & 127;
      WS_CHECK(ocp ? magnitude != 127 : byte != 0x80);
      high = magnitude > high ? magnitude : high;
      upper += magnitude >= 0x70;
      most += magnitude == (ocp ? 126 : 127);
      minus_zero += byte == 0x80;
    }
    zero += high == 0;
    subnormal += high > 0 && high < 8; /* exponent field 0 */
    large += upper > 100;              /* a NaN among them became zero */
  }
  WS_CHECK(zero && subnormal && large && most);
  WS_CHECK(ocp == (minus_zero > 0));
}

WS_TEST(hard_operands_have_extremes) {
  check_hard_operands(KMAJOR);
  check_hard_operands(KMAJOR_OCP);
}

WS_TEST(hard_scales_have_extremes) {
  enum { SCALES = 256 };
  ws_shape shape = gemm_shape(SCALES, 16, 128);
  static float scales[SCALES];
  int none = 0, huge = 0, tiny = 0;
  ws_problem_generate(gemm(), arg("as"), &shape, KMAJOR, 1 | WS_HARD_INPUTS,
                      scales);
  for (int i = 0; i < SCALES; i++) {
    none += scales[i] == 0;
    huge += fabsf(scales[i]) > 64;
    tiny += scales[i] != 0 && fabsf(scales[i]) < 0x1p-9f;
  }
  WS_CHECK(none && huge && tiny);
}

/* One element is wrong; it is seen where it is looked at, and nowhere else. */
WS_TEST(compare_at_places) {
  operands o = make(16, 16, 128, KMAJOR);
  ws_comparison found;
  const ws_place places[] = {{arg("c"), 0}, {arg("c"), 3 * 16 + 5}};
  uint16_t *c = (uint16_t *)o.buffers[arg("c")];
  c[3 * 16 + 5] = 0x3f80; /* 1.0, and all of A is zero */
  ws_problem_compare_at(gemm(), &o.shape, KMAJOR, o.buffers, o.buffers, places,
                        1, &found);
  WS_CHECK_INT(found.checked, 1);
  WS_CHECK_INT(found.wrong, 0);
  ws_problem_compare_at(gemm(), &o.shape, KMAJOR, o.buffers, o.buffers, places,
                        2, &found);
  WS_CHECK_INT(found.wrong, 1);
  WS_CHECK_INT(found.first.element, 3 * 16 + 5);
  WS_CHECK_NEAR(found.first_got, 1, 0);
  drop(&o);
}

/* Whatever the strides, element (i, kb) of a matrix of scales has a place of
 * its own within the buffer, and its value is the one that counts: each scale
 * is a power of two that only this element has. */
static void check_strides(int layout, int striding) {
  const int form = ws_problem_form(gemm(), layout, striding);
  operands o = make(48, 272, 384, form);
  bool seen[2048] = {false};
  const int64_t as_m =
      ws_problem_arg_scalar(gemm(), arg("as_stride_m"), &o.shape, form);
  const int64_t as_k =
      ws_problem_arg_scalar(gemm(), arg("as_stride_k"), &o.shape, form);
  const int64_t bs_n =
      ws_problem_arg_scalar(gemm(), arg("bs_stride_n"), &o.shape, form);
  const int64_t bs_k =
      ws_problem_arg_scalar(gemm(), arg("bs_stride_k"), &o.shape, form);
  const int64_t room =
      ws_problem_arg_bytes(gemm(), arg("as"), &o.shape, form) / 4;
  for (int64_t i = 0; i < room; i++)
    o.as[i] = NAN; /* gaps */
  for (int64_t i = 0; i < 48; i++)
    for (int64_t kb = 0; kb < 3; kb++) {
      const int64_t place = i * as_m + kb * as_k;
      WS_CHECK(place < room && !seen[place]);
      seen[place] = true;
      o.as[place] = ldexpf(1, (int)(kb - i % 8));
    }
  for (int64_t j = 0;
       j < ws_problem_arg_bytes(gemm(), arg("bs"), &o.shape, form) / 4; j++)
    o.bs[j] = NAN;
  for (int64_t j = 0; j < 3; j++)
    for (int64_t kb = 0; kb < 3; kb++)
      o.bs[j * bs_n + kb * bs_k] = ldexpf(1, (int)(10 * j - 3 * kb));
  const bool mnmajor = layout == MNMAJOR; /* one in each block: row 5, 200 */
  for (int64_t k = 7; k < 384; k += 128) {
    o.a[mnmajor ? k * 48 + 5 : 5 * 384 + k] = ONE;
    set_b(&o, 200, k, ONE);
  }
  refer(&o);
  double one = decoded(KMAJOR, ONE), want = 0;
  for (int kb = 0; kb < 3; kb++) /* i = 5, j = 200 / 128 = 1 */
    want += one * one * ldexp(1, kb - 5) * ldexp(1, 10 - 3 * kb);
  WS_CHECK_NEAR(o.value[5 * 272 + 200], want, 1e-9);
  drop(&o);
}

WS_TEST(strides_of_scales_are_as_a_caller_may_pass_them) {
  WS_CHECK(gemm()->striding_count > 1);
  for (int striding = 0; striding < gemm()->striding_count; striding++)
    for (int layout = KMAJOR; layout < LAYOUTS; layout++)
      if (layout != KMAJOR_OCP)
        check_strides(layout, striding);
}

WS_TEST(arguments_have_the_documented_sizes) {
  ws_shape shape = gemm_shape(1024, 576, 7168);
  for (int layout = KMAJOR; layout < LAYOUTS; layout++) {
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), arg("a"), &shape, layout),
                 7340032);
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), arg("b"), &shape, layout),
                 4128768);
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), arg("as"), &shape, layout),
                 229376);
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), arg("bs"), &shape, layout), 1120);
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), arg("c"), &shape, layout),
                 1179648);
    WS_CHECK_INT(ws_problem_arg_bytes(gemm(), arg("workspace"), &shape, layout),
                 0);
    WS_CHECK_INT(ws_problem_arg_scalar(gemm(), arg("m"), &shape, layout), 1024);
    WS_CHECK_INT(ws_problem_arg_scalar(gemm(), arg("n"), &shape, layout), 576);
    WS_CHECK_INT(ws_problem_arg_scalar(gemm(), arg("k"), &shape, layout), 7168);
    WS_CHECK_INT(
        ws_problem_arg_scalar(gemm(), arg("as_stride_m"), &shape, layout), 1);
    WS_CHECK_INT(
        ws_problem_arg_scalar(gemm(), arg("as_stride_k"), &shape, layout),
        1024);
  }
  for (int layout = KMAJOR; layout < LAYOUTS; layout++) {
    const bool mnmajor = layout == MNMAJOR;
    WS_CHECK_INT(
        ws_problem_arg_scalar(gemm(), arg("bs_stride_n"), &shape, layout),
        mnmajor ? 1 : 56);
    WS_CHECK_INT(
        ws_problem_arg_scalar(gemm(), arg("bs_stride_k"), &shape, layout),
        mnmajor ? 5 : 1);
  }
  WS_CHECK_INT(ws_problem_layout_index(gemm(), "kmajor"), KMAJOR);
  WS_CHECK_INT(ws_problem_layout_index(gemm(), "mnmajor"), MNMAJOR);
  WS_CHECK_INT(ws_problem_layout_index(gemm(), "kmajor-ocp"), KMAJOR_OCP);
  WS_CHECK_INT(ws_problem_layout_index(gemm(), "kmajor-bpreshuffle"),
               KMAJOR_BPRESHUFFLE);
  WS_CHECK_INT(ws_problem_layout_index(gemm(), "kmajor-add"), KMAJOR_ADD);
  WS_CHECK_INT(ws_problem_layout_index(gemm(), "nmajor"), -1);
  WS_CHECK_INT(ws_problem_arg_index(gemm(), "d"), -1);
  WS_CHECK(!ws_problem_find("gemm"));
}

WS_TEST(work_is_that_of_the_published_table) {
  /* research/problem.md section 1.5, GFLOP and MB of shapes 0, 2 and 14 */
  ws_shape first = gemm_shape(1024, 1536, 7168);
  ws_shape narrow = gemm_shape(1024, 576, 7168);
  ws_shape large = gemm_shape(6144, 4608, 7168);
  WS_CHECK_NEAR(ws_problem_flops(gemm(), &first) / 1e9, 22.55, 0.005);
  WS_CHECK_NEAR(ws_problem_least_bytes(gemm(), &first) / 1e6, 21.73, 0.005);
  WS_CHECK_NEAR(ws_problem_flops(gemm(), &narrow) / 1e9, 8.46, 0.005);
  WS_CHECK_NEAR(ws_problem_least_bytes(gemm(), &narrow) / 1e6, 12.88, 0.005);
  WS_CHECK_NEAR(ws_problem_flops(gemm(), &large) / 1e9, 405.87, 0.005);
  WS_CHECK_NEAR(ws_problem_least_bytes(gemm(), &large) / 1e6, 135.08, 0.005);
}

static const ws_shape_set *shapes(const char *name, int count) {
  const ws_shape_set *set = ws_problem_shape_set(gemm(), name);
  WS_CHECK(set);
  WS_CHECK_INT(set->count, count);
  for (int i = 0; i < set->count; i++) {
    ws_diag diag;
    if (ws_problem_check_shape(gemm(), &set->shapes[i], &diag) != WS_OK)
      WS_FAIL("%s: %s", name, diag.text);
  }
  return set;
}

static bool has_columns(const ws_shape_set *set, int64_t n, int64_t k) {
  for (int i = 0; i < set->count; i++)
    if (set->shapes[i].size[DIM_N] == n && set->shapes[i].size[DIM_K] == k)
      return true;
  return false;
}

WS_TEST(shape_sets_hold_what_they_say) {
  const ws_shape_set *contest = shapes("contest", 18);
  const ws_shape_set *decode = shapes("decode", 72);
  const ws_shape_set *held_out = shapes("held-out", 40);
  const ws_shape_set *tests = shapes("contest-test", 11);
  double product = 1, sum_k = 0;
  for (int i = 0; i < contest->count; i++) {
    product *=
        pow(ws_problem_flops(gemm(), &contest->shapes[i]) / 1e9, 1.0 / 18);
    sum_k += (double)contest->shapes[i].size[DIM_K];
    WS_CHECK(contest->shapes[i].size[DIM_M] == 1024 ||
             contest->shapes[i].size[DIM_M] == 6144);
  }
  /* sum over the nine k of the table, twice */
  WS_CHECK_NEAR(sum_k, 2 * (4 * 7168 + 1536 + 256 + 2048 + 2304 + 512), 0);
  WS_CHECK(product > 4.29 && product < 405.87);
  for (int i = 0; i < decode->count; i++) {
    WS_CHECK(has_columns(contest, decode->shapes[i].size[DIM_N],
                         decode->shapes[i].size[DIM_K]));
    WS_CHECK(decode->shapes[i].size[DIM_M] >= 16 &&
             decode->shapes[i].size[DIM_M] <= 256);
  }
  for (int i = 0; i < held_out->count; i++) {
    ws_shape s = held_out->shapes[i];
    WS_CHECK(!has_columns(contest, s.size[DIM_N], s.size[DIM_K]) &&
             !has_columns(tests, s.size[DIM_N], s.size[DIM_K]));
  }
  WS_CHECK(!ws_problem_shape_set(gemm(), "training"));
}

/* Whose layers they are: docs/shapes.md; that they are these, llm_shapes.py. */
WS_TEST(llm_has_each_m_equally_often_and_nothing_held_out) {
  const ws_shape_set *llm = shapes("llm", 520);
  const ws_shape_set *contest = shapes("contest", 18);
  const ws_shape_set *held_out = shapes("held-out", 40);
  int of_m[15] = {0};
  for (int i = 0; i < llm->count; i++) {
    const int64_t *size = llm->shapes[i].size;
    const int power = (int)log2((double)size[DIM_M]);
    WS_CHECK(power < 15 && size[DIM_M] == INT64_C(1) << power);
    of_m[power]++;
    WS_CHECK(!has_columns(held_out, size[DIM_N], size[DIM_K]));
    for (int j = 0; j < i; j++)
      WS_CHECK(memcmp(size, llm->shapes[j].size, sizeof llm->shapes[j].size));
  }
  for (int i = 0; i < 15; i++) /* 104 pairs, a third of them each */
    WS_CHECK(of_m[i] == 34 || of_m[i] == 35);
  for (int i = 0; i < contest->count; i++)
    WS_CHECK(has_columns(llm, contest->shapes[i].size[DIM_N],
                         contest->shapes[i].size[DIM_K]));
  /* Llama 3.1 70B's gate and up, 2 x 28672 from 8192; not Mixtral's */
  WS_CHECK(has_columns(llm, 57344, 8192) && !has_columns(llm, 28672, 4096));
}

static void expect_refused(int64_t m, int64_t n, int64_t k, const char *part) {
  ws_diag diag;
  ws_shape shape = gemm_shape(m, n, k);
  WS_CHECK_INT(ws_problem_check_shape(gemm(), &shape, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, part);
}

WS_TEST(illegal_shapes_are_refused_by_name) {
  expect_refused(0, 16, 128, "m = 0; sizes are from 1");
  expect_refused(-16, 16, 128, "m = -16; sizes are from 1");
  expect_refused(16, 8, 128, "needs n >= 16");
  expect_refused(16, 24, 128, "needs n % 16 == 0");
  expect_refused(16, 16, 64, "needs k >= 128");
  expect_refused(16, 16, 192, "needs k % 128 == 0");
  expect_refused(16, 16, (int64_t)1 << 40, "needs k <= 4194304");
  expect_refused(1 << 20, 1 << 20, 128, "needs m * n <= 2147483648");
  expect_refused(1 << 22, 16, (1 << 16) + 128, "needs m * k <= 274877906944");
  expect_refused(16, 1 << 22, (1 << 16) + 128, "needs n * k <= 274877906944");
  ws_shape smallest = gemm_shape(16, 16, 128);
  WS_CHECK_INT(ws_problem_check_shape(gemm(), &smallest, NULL), WS_OK);
}
