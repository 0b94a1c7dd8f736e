/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Definitions: each that says what cannot be is refused with one line that
 * names what is wrong; of the others, what was left out is filled in.
 */
#include "definition.h"

/* ---- refusals ---- */

typedef ws_problem_definition def;

static void other_abi(def *d) { d->abi = WS_PROBLEM_ABI + 1; }
static void no_name(def *d) { d->name = NULL; }
static void digit_name(def *d) { d->name = "3d"; }
static void dashed_name(def *d) { d->name = "my-gemm"; }
static void no_dims(def *d) { d->dims[0].name = NULL; }
static void dim_word(def *d) { d->dims[1].name = "int"; }
static void dim_twice(def *d) { d->dims[1].name = "m"; }
static void dim_min(def *d) { d->dims[1].name = "min"; }
static void dim_layout(def *d) { d->dims[1].name = "layout"; }
static void dim_units(def *d) { d->dims[1].name = "cu_count"; }
static void dim_prefix(def *d) { d->dims[1].name = "ws_rows"; }
static void dim_step(def *d) { d->dims[0].step = -16; }
static void dim_block(def *d) { d->dims[0].block = -16; }
static void block_of_step(def *d) {
  d->dims[0].step = 32;
  d->dims[0].block = 48;
}
static void step_of_shape(def *d) { d->dims[1].step = 32; }
static void block_of_legal(def *d) {
  d->legal = "m % 32 == 0";
  d->dims[0].block = 48;
}
static void empty_arg(def *d) { d->args[MADE_X].name = ""; }
static void arg_twice(def *d) { d->args[MADE_X].name = "y"; }
static void arg_role(def *d) { d->args[MADE_X].role = (ws_arg_role)9; }
static void arg_type(def *d) { d->args[MADE_X].type = WS_TYPE_COUNT; }
static void arg_is_dim(def *d) { d->args[MADE_X].name = "n"; }
static void scalar_is_dim(def *d) { d->args[MADE_M].value = "n"; }
static void inout_unknown(def *d) {
  d->layouts[0] = (ws_problem_layout){.name = "sum", .inout = "y z"};
}
static void inout_input(def *d) {
  d->layouts[0] = (ws_problem_layout){.name = "sum", .inout = "x"};
}
static void no_output(def *d) { d->args[MADE_Y].role = WS_ARG_INPUT; }
static void no_extents(def *d) { d->args[MADE_X].extents[0] = NULL; }
static void scalar_value(def *d) { d->args[MADE_M].name = "pitch"; }
static void scalar_type(def *d) { d->args[MADE_M].type = WS_F64; }
static void extent_name(def *d) { d->args[MADE_X].extents[1] = "2 * depth"; }
static void extent_text(def *d) { d->args[MADE_X].extents[1] = "n +"; }
static void value_name(def *d) {
  d->args[MADE_M].name = "pitch";
  d->args[MADE_M].value = "m + width";
}
static void low_name(def *d) { d->args[MADE_X].low = "least_id"; }
static void high_name(def *d) { d->args[MADE_X].high = "ids"; }
static void legal_name(def *d) { d->legal = "m > 0 && z > 0"; }
static void legal_layout(def *d) { d->legal = "layout == 0"; }
static void terms_name(def *d) { d->terms = "depth"; }
static void flops_name(def *d) { d->flops = "2 * m * k"; }
static void bytes_name(def *d) { d->bytes = "m * size"; }
static void fp8_alone(def *d) { d->args[MADE_X].type = WS_FP8; }
static void fp8_unsaid(def *d) {
  d->args[MADE_X].type = WS_FP8;
  d->layouts[0] = (ws_problem_layout){.name = "ocp", .fp8 = WS_E4M3};
  d->layouts[1] = (ws_problem_layout){.name = "other"};
}
static void bf8_of_fp8(def *d) {
  d->args[MADE_X].type = WS_BF8;
  d->layouts[0] =
      (ws_problem_layout){.name = "ocp", .fp8 = WS_E4M3, .bf8 = WS_E4M3};
}
static void no_sets(def *d) { d->sets[0].name = NULL; }
static void empty_set(def *d) { d->sets[0].count = 0; }
static const int64_t odd_sizes[][2] = {{64, 48}, {64, 49}};
static void set_illegal(def *d) {
  d->legal = "m % 16 == 0 && n % 16 == 0";
  d->sets[1] = (ws_problem_set)WS_PROBLEM_SET("odd", odd_sizes);
}
static void samples_illegal(def *d) {
  d->legal = "m % 16 == 0 && n % 16 == 0";
  d->samples = (ws_problem_set)WS_PROBLEM_SET("few", odd_sizes);
}
static void set_too_large(def *d) {
  static const int64_t huge[][2] = {{2147483647, 2147483647}};
  d->sets[1] = (ws_problem_set)WS_PROBLEM_SET("huge", huge);
}
static void set_beyond_i32(def *d) {
  static const int64_t wide[][2] = {{2147483648, 1}};
  d->sets[1] = (ws_problem_set)WS_PROBLEM_SET("wide", wide);
}
static void alignment_of_8(def *d) { d->alignment = 8; }
static void alignment_of_48(def *d) { d->alignment = 48; }
static void slices_of_two(def *d) {
  d->args[3] = (ws_problem_arg){
      .name = "z", .role = WS_ARG_OUTPUT, .type = WS_F32, .extents = {"m"}};
  d->slices = (void (*)(const int64_t *, int, const void *const *, int64_t,
                        int64_t, double *, double *))abort;
}

static const struct {
  void (*change)(def *d);
  const char *words[2]; /* that the line has */
} refusals[] = {{other_abi, {"version 3 of define_problem.h", "has 2"}},
                {no_name, {"has no name", ""}},
                {digit_name, {"'3d'", "begins with a digit"}},
                {dashed_name, {"'my-gemm'", "letters, digits and _"}},
                {no_dims, {"made has no dimensions", ""}},
                {dim_word, {"'int'", "word of C"}},
                {dim_twice, {"two dimensions", "'m'"}},
                {dim_min, {"'min'", "word of expressions"}},
                {dim_layout, {"'layout'", "word of expressions"}},
                {dim_units, {"'cu_count'", "word of expressions"}},
                {dim_prefix, {"'ws_rows'", "word of expressions"}},
                {dim_step, {"step", "'m' are below 0"}},
                {dim_block, {"block", "'m' are below 0"}},
                {block_of_step, {"blocks of 48", "step 32"}},
                {step_of_shape, {"'n' is no multiple", "step 32"}},
                {block_of_legal, {"blocks of 48", "step 32"}},
                {empty_arg, {"argument ''", "is empty"}},
                {arg_twice, {"two arguments", "'y'"}},
                {arg_role, {"'x'", "no role"}},
                {arg_type, {"'x'", "no element type"}},
                {arg_is_dim, {"'n'", "is a dimension"}},
                {scalar_is_dim, {"'m'", "is a dimension"}},
                {inout_unknown, {"'z' in .inout", "no output"}},
                {inout_input, {"'x' in .inout", "no output"}},
                {no_output, {"made has no output", ""}},
                {no_extents, {"'x'", "no extents"}},
                {scalar_value, {"'pitch'", "no value"}},
                {scalar_type, {"'m'", "f64"}},
                {extent_name, {"'depth' in '2 * depth' of x", "m,n"}},
                {extent_text, {"made: x", "n +"}},
                {value_name, {"'width' in 'm + width' of pitch", "m,n"}},
                {low_name, {"'least_id'", "of x"}},
                {high_name, {"'ids'", "of x"}},
                {legal_name, {"'z'", "of legal"}},
                {legal_layout, {"'layout'", "of legal"}},
                {terms_name, {"'depth'", "of terms"}},
                {flops_name, {"'k'", "of flops"}},
                {bytes_name, {"'size'", "of bytes"}},
                {fp8_alone, {"'x' is fp8", "layout 'plain'"}},
                {fp8_unsaid, {"'x' is fp8", "layout 'other'"}},
                {bf8_of_fp8, {"'x' is bf8", "layout 'ocp'"}},
                {no_sets, {"made has no shapes", ""}},
                {empty_set, {"made has no shapes", ""}},
                {set_illegal, {"shape 2 of the set 'odd'", "n % 16 == 0"}},
                {samples_illegal, {"shape 2 of the set 'few'", "n % 16 == 0"}},
                {set_too_large, {"shape 1 of the set 'huge'", "2^46 bytes"}},
                {set_beyond_i32, {"shape 1 of the set 'wide'", "i32"}},
                {alignment_of_8, {"alignment of 8", "power of two"}},
                {alignment_of_48, {"alignment of 48", "power of two"}},
                {slices_of_two, {".slices", "one output"}}};

WS_TEST(what_cannot_be_is_refused_in_one_line) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    def d = made();
    const ws_problem *problem = NULL;
    ws_diag diag = {""};
    refusals[i].change(&d);
    if (ws_problem_open(&d, "mine.c", &problem, &diag) == WS_OK)
      WS_FAIL("refusal %zu, for %s: opened", i, refusals[i].words[0]);
    WS_CHECK(!problem);
    WS_CHECK(!strncmp(diag.text, "mine.c: ", 8));
    WS_CHECK(!strchr(diag.text, '\n'));
    WS_CHECK_CONTAINS(diag.text, refusals[i].words[0]);
    WS_CHECK_CONTAINS(diag.text, refusals[i].words[1]);
  }
}

WS_TEST(what_they_are_made_of_is_right) {
  def d = made();
  const ws_problem *problem = opened(&d);
  WS_CHECK_TEXT(problem->name, "made");
  WS_CHECK_TEXT(ws_dims_text(problem->dims), "m,n");
}

/* ---- steps and the least shape ---- */

typedef struct known_steps {
  const char *legal;
  int64_t first[2]; /* the one shape that is given */
  int64_t step[2], least[2];
} known_steps;

static const known_steps steps[] = {
    {NULL, {64, 48}, {1, 1}, {1, 1}},
    {"m >= 16 && m % 16 == 0 && n % 128 == 0", {64, 256}, {16, 128}, {16, 128}},
    {"m % 16 == 0 && n > 100 && n % 8 == 0", {64, 256}, {16, 8}, {16, 104}},
    {"m % 4 == 2", {6, 1}, {2, 1}, {2, 1}}, /* 2, 6, 10 */
    {"m == 1 || m % 32 == 0", {64, 1}, {1, 1}, {1, 1}},
    {"m == 20 && n == 7", {20, 7}, {20, 7}, {20, 7}}, /* one legal shape */
    {"m % n == 0", {64, 4}, {1, 1}, {1, 1}},          /* (3, 1) is legal */
    {"n % m == 0", {4, 64}, {1, 1}, {1, 1}},
    {"m * n >= 64 && m % 8 == 0", {64, 64}, {8, 1}, {8, 8}},
    /* beyond the sizes that are tried: what is known, or halves of it */
    {"m >= 100000", {131072, 1}, {1, 1}, {131072, 1}},
    {"m % 65536 == 0", {262144, 1}, {65536, 1}, {65536, 1}},
    /* beyond the first that are found: sizes of the sets */
    {"m % 16 == 0 || m > 4096", {5001, 1}, {1, 1}, {16, 1}}};

WS_TEST(steps_and_the_least_shape_follow_from_legality) {
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    const known_steps *known = &steps[i];
    def d = made();
    d.legal = known->legal;
    d.sets[0] = (ws_problem_set){"one", known->first, 1};
    const ws_problem *problem = opened(&d);
    WS_CHECK(ws_problem_is_legal(problem, &problem->least));
    for (int dim = 0; dim < 2; dim++) {
      if (problem->step.size[dim] != known->step[dim])
        WS_FAIL("'%s': step %lld of dimension %d, want %lld",
                known->legal ? known->legal : "",
                (long long)problem->step.size[dim], dim,
                (long long)known->step[dim]);
      WS_CHECK_INT(problem->block.size[dim], known->step[dim]);
    }
    /* "m * n >= 64" has no least shape in both; every other one does */
    for (int dim = 0; dim < 2; dim++)
      if (problem->least.size[dim] != known->least[dim])
        WS_FAIL("'%s': least %lld of dimension %d, want %lld",
                known->legal ? known->legal : "",
                (long long)problem->least.size[dim], dim,
                (long long)known->least[dim]);
  }
}

WS_TEST(steps_and_blocks_that_are_given_stay) {
  def d = made();
  d.dims[0].step = 8;
  d.dims[0].block = 64;
  d.dims[1].depth = 1;
  const ws_problem *problem = opened(&d);
  WS_CHECK_INT(problem->step.size[0], 8);
  WS_CHECK_INT(problem->block.size[0], 64);
  WS_CHECK_INT(problem->least.size[0], 8);
  WS_CHECK_INT(problem->step.size[1], 1);
  WS_CHECK_INT(problem->block.size[1], 1);
  WS_CHECK(!problem->is_depth[0] && problem->is_depth[1]);
}

/* ---- legality ---- */

static void refuse_shape(const ws_problem *problem, int64_t m, int64_t n,
                         const char *words) {
  const ws_shape shape = sized(problem, m, n);
  ws_diag diag = {""};
  WS_CHECK_INT(ws_problem_check_shape(problem, &shape, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, words);
  WS_CHECK(!strchr(diag.text, '\n'));
}

WS_TEST(the_condition_that_fails_is_shown) {
  def d = made();
  d.legal = "m % 16 == 0 && n <= 4096 && m * n < 65536";
  const ws_problem *problem = opened(&d);
  const ws_shape right = sized(problem, 16, 4095);
  WS_CHECK(ws_problem_is_legal(problem, &right));
  refuse_shape(problem, 17, 1, "needs m % 16 == 0");
  refuse_shape(problem, 16, 4097, "needs n <= 4096");
  refuse_shape(problem, 16, 4096, "needs m * n < 65536");
  refuse_shape(problem, 0, 1, "m = 0; sizes are from 1");
  refuse_shape(problem, 16, -5, "n = -5; sizes are from 1");
}

/* m is passed as an i32, n is not. */
WS_TEST(sizes_fit_what_passes_them) {
  def d = made();
  const ws_problem *problem = opened(&d);
  const ws_shape long_n = sized(problem, 1, INT64_C(1) << 40),
                 long_m = sized(problem, 2147483647, 1);
  WS_CHECK(ws_problem_is_legal(problem, &long_n));
  WS_CHECK(ws_problem_is_legal(problem, &long_m));
  refuse_shape(problem, 2147483648, 1, "m <= 2147483647");
  refuse_shape(problem, 1, (INT64_C(1) << 44) + 1, "2^46 bytes");
  refuse_shape(problem, 2147483647, INT64_MAX, "2^46 bytes");
}

/* What emitted code checks is what is checked here: of sizes that are no sizes
 * too, which this side refuses before it looks. */
WS_TEST(legality_says_all_in_its_own_words) {
  static const struct {
    int64_t m, n;
    int legal;
  } sizes[] = {{1, 1, 1},   {0, 1, 0},          {1, 0, 0},
               {-1, -1, 0}, {2147483647, 1, 1}, {2147483648, 1, 0},
               {-16, 1, 0}, {1, 1 << 30, 1}};
  def d = made();
  const ws_problem *problem = opened(&d);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const ws_binding bindings[] = {{"m", sizes[i].m}, {"n", sizes[i].n}};
    const ws_scope scope = {bindings, 2};
    int64_t holds;
    WS_CHECK_INT(ws_expr_eval(problem->legal, &scope, &holds, NULL), WS_OK);
    WS_CHECK_INT(holds != 0, sizes[i].legal);
  }
}

WS_TEST(shapes_of_other_dimensions_are_refused) {
  static const char *const names[] = {"rows", "cols"};
  static const int64_t sizes[] = {1, 1};
  const ws_shape other = ws_shape_of(ws_dims_of(names, 2), sizes);
  def d = made();
  const ws_problem *problem = opened(&d);
  ws_diag diag = {""};
  WS_CHECK_INT(ws_problem_check_shape(problem, &other, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "m,n");
  WS_CHECK_CONTAINS(diag.text, "rows=1,cols=1");
}

/* ---- what was left out ---- */

WS_TEST(defaults_are_filled_in) {
  def d = made();
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, 10, 20);
  WS_CHECK_INT(problem->layout_count, 1);
  WS_CHECK_TEXT(problem->layouts[0].name, "plain");
  WS_CHECK_INT(problem->striding_count, 1);
  WS_CHECK_INT(problem->alignment, 16);
  WS_CHECK_INT(problem->output_count, 1);
  WS_CHECK_INT(problem->outputs[0], MADE_Y);
  WS_CHECK_TEXT(problem->args[MADE_X].meaning, "f32 [m][n]");
  WS_CHECK_TEXT(problem->samples.name, "some");
  WS_CHECK_INT(ws_problem_arg_bytes(problem, MADE_X, &shape, 0), 800);
  WS_CHECK_INT(ws_problem_arg_bytes(problem, MADE_M, &shape, 0), 0);
  WS_CHECK_INT(ws_problem_arg_scalar(problem, MADE_M, &shape, 0), 10);
  WS_CHECK_NEAR(ws_problem_flops(problem, &shape), 200, 0); /* inputs */
  WS_CHECK_NEAR(ws_problem_least_bytes(problem, &shape), 1600, 0);
  WS_CHECK_CONTAINS(problem->definition, "made");
  WS_CHECK_CONTAINS(problem->definition, "x  f32 [m][n]");
}

WS_TEST(expressions_give_extents_scalars_and_work) {
  def d = made();
  d.args[MADE_X].extents[1] = "ceildiv(n, 128) * (layout + 1)";
  d.args[MADE_M].name = "pitch";
  d.args[MADE_M].value = "m * 3";
  d.args[3] = (ws_problem_arg){"eps", WS_ARG_SCALAR, WS_F32, .number = 0.5};
  d.args[4] = (ws_problem_arg){"rest", WS_ARG_SCALAR, WS_I64, .value = "0-n"};
  d.args[5] = (ws_problem_arg){
      .name = "acc", .role = WS_ARG_INOUT, .type = WS_BF16, .extents = {"m"}};
  d.layouts[0] = (ws_problem_layout){.name = "narrow"};
  d.layouts[1] = (ws_problem_layout){.name = "wide"};
  d.flops = "2 * m * n";
  const ws_problem *problem = opened(&d);
  const ws_shape shape = sized(problem, 4, 300);
  const float half = 0.5F;
  int64_t bits = ws_problem_arg_scalar(problem, 3, &shape, 0);
  WS_CHECK_INT(ws_problem_arg_bytes(problem, MADE_X, &shape, 0), 4 * 3 * 4);
  WS_CHECK_INT(ws_problem_arg_bytes(problem, MADE_X, &shape, 1), 4 * 6 * 4);
  WS_CHECK_INT(ws_problem_arg_scalar(problem, MADE_M, &shape, 0), 12);
  WS_CHECK_INT(ws_problem_arg_scalar(problem, 4, &shape, 0), -300);
  WS_CHECK(!memcmp(&bits, &half, sizeof half));
  WS_CHECK_NEAR(ws_problem_flops(problem, &shape), 2400, 0);
  /* x, y, and acc both read and written */
  WS_CHECK_NEAR(ws_problem_least_bytes(problem, &shape),
                4 * 3 * 4 + 4 * 300 * 4 + 2 * 4 * 2, 0);
  WS_CHECK_INT(problem->output_count, 2);
}

WS_TEST(an_output_is_read_where_the_layout_says_so) {
  def d = made();
  d.layouts[0] = (ws_problem_layout){.name = "plain"};
  d.layouts[1] = (ws_problem_layout){.name = "sum", .inout = " y "};
  d.stridings[0] = "dense";
  d.stridings[1] = "padded";
  const ws_problem *problem = opened(&d);
  for (int striding = 0; striding < 2; striding++) {
    const int plain = ws_problem_form(problem, 0, striding);
    const int sum = ws_problem_form(problem, 1, striding);
    WS_CHECK_INT(ws_problem_arg_role(problem, MADE_Y, plain), WS_ARG_OUTPUT);
    WS_CHECK_INT(ws_problem_arg_role(problem, MADE_Y, sum), WS_ARG_INOUT);
    WS_CHECK_INT(ws_problem_arg_role(problem, MADE_X, sum), WS_ARG_INPUT);
    WS_CHECK_INT(ws_problem_arg_role(problem, MADE_M, sum), WS_ARG_SCALAR);
  }
}

WS_TEST(fp8_is_what_the_layout_says) {
  def d = made();
  d.args[MADE_X].type = WS_FP8;
  d.args[3] = (ws_problem_arg){
      .name = "z", .role = WS_ARG_INPUT, .type = WS_BF8, .extents = {"n"}};
  d.layouts[0] =
      (ws_problem_layout){"here", "gfx942", WS_E4M3_FNUZ, WS_E5M2_FNUZ, NULL};
  d.layouts[1] =
      (ws_problem_layout){"there", "sm_90a gfx950", WS_E4M3, WS_E5M2, NULL};
  const ws_problem *problem = opened(&d);
  ws_diag diag = {""};
  int layout;
  WS_CHECK_INT(ws_problem_arg_type(problem, MADE_X, 0), WS_E4M3_FNUZ);
  WS_CHECK_INT(ws_problem_arg_type(problem, MADE_X, 1), WS_E4M3);
  WS_CHECK_INT(ws_problem_arg_type(problem, 3, 0), WS_E5M2_FNUZ);
  WS_CHECK_INT(ws_problem_arg_type(problem, 3, 1), WS_E5M2);
  WS_CHECK_TEXT(ws_problem_default_layout(problem, "gfx942"), "here");
  WS_CHECK_TEXT(ws_problem_default_layout(problem, "gfx950"), "there");
  WS_CHECK(!ws_problem_default_layout(problem, "gfx9"));
  WS_CHECK_INT(
      ws_problem_choose_layout(problem, "sm_90a", NULL, &layout, &diag), WS_OK);
  WS_CHECK_INT(layout, 1);
  WS_CHECK_INT(
      ws_problem_choose_layout(problem, "sm_90a", "here", &layout, &diag),
      WS_USAGE);
  WS_CHECK_CONTAINS(diag.text, "it has there");
}
