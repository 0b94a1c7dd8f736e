/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of timed shapes where it is not complete: kernels that were not
 * timed on a shape, that refuse sizes between two timed ones, or whose models
 * reach far beyond what they know. Times follow laws that are written here.
 */
#include "synthetic.h"

#include <math.h>

/* Kernels: what takes every shape, what wants rows in fours, and a third. */
enum { EVERY, FOURS, OTHER, KERNELS, LAYERS = 14, SIZES = 7,
       SHAPES = LAYERS * SIZES };
static const int64_t sizes[SIZES] = {4, 16, 64, 256, 1024, 2048, 4096};
static const char *const points[KERNELS] = {"rows=1", "rows=4", "rows=2"};

typedef struct table_case {
  ws_arena *arena;
  const ws_problem *problem;
  ws_dispatch_entry entries[KERNELS];
  ws_matrix matrix;
  ws_dispatch_choice choice;
} table_case;

static const ws_template *template_of_rows(ws_arena *arena) {
  const ws_record items[] = {
      SYNTHETIC_RECORD("template", "synthetic", "1", "fp8_gemm_blockscale",
                       "gfx942", "for tests"),
      SYNTHETIC_RECORD("param", "rows", "ws.rows", "1 2 4", "rows", "1"),
      SYNTHETIC_RECORD("require", "rows != 4 || m % 4 == 0", "rows in fours"),
      SYNTHETIC_RECORD("launch", "gemm", "ceildiv(m, 64) * ceildiv(n, 128)",
                       "1", "1", "256", "1", "a b c m n k"),
      SYNTHETIC_RECORD("workspace", "0"),
  };
  return synthetic_from_records(arena, "synthetic.ll", items,
                                sizeof items / sizeof *items);
}

static int64_t n_of(int layer) { return 512 + 384 * layer; }
static int64_t k_of(int layer) { return 1024 + 512 * (layer % 5); }

/* factors: of a kernel's time, beside one law for all. */
static table_case start(const double *factors) {
  table_case t = {.arena = ws_arena_create(),
                  .problem = ws_problem_find("fp8_gemm_blockscale")};
  const ws_template *tmpl = template_of_rows(t.arena);
  ws_shape *shapes = ws_arena_alloc(t.arena, SHAPES * sizeof *shapes);
  double *us = ws_arena_alloc(t.arena, SHAPES * KERNELS * sizeof *us);
  for (int c = 0; c < KERNELS; c++)
    t.entries[c] = synthetic_entry(t.arena, tmpl, points[c]);
  for (int s = 0; s < SHAPES; s++) {
    shapes[s] = gemm_shape(sizes[s % SIZES], n_of(s / SIZES), k_of(s / SIZES));
    for (int c = 0; c < KERNELS; c++)
      us[s * KERNELS + c] =
          factors[c] * (5 + 1e-9 * (double)(shapes[s].size[DIM_M] + 64) *
                                (double)shapes[s].size[DIM_N] *
                                (double)shapes[s].size[DIM_K]);
  }
  t.matrix = (ws_matrix){shapes, SHAPES, KERNELS, us, "cuda:test"};
  return t;
}

static double *cell(table_case *t, int layer, int size, int kernel) {
  return &t->matrix.us[(layer * SIZES + size) * KERNELS + kernel];
}

static void choose(table_case *t) {
  const ws_selection_input input = {.problem = t->problem,
                                    .target = ws_target_find("gfx942"),
                                    .entries = t->entries,
                                    .matrix = &t->matrix};
  ws_diag diag = {""};
  if (ws_dispatch_choose(t->arena, &input, &t->choice, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(ws_selection_table_count(t->choice.selection), SHAPES);
}

/* A kernel's number: a portfolio may leave one out. */
static int pick(const table_case *t, int64_t m, int layer) {
  const ws_shape shape = gemm_shape(m, n_of(layer), k_of(layer));
  const int at = ws_selection_pick(t->choice.selection, &shape);
  WS_CHECK(at >= 0 && at < t->choice.count);
  return t->choice.columns[at];
}

WS_TEST(no_model_comes_before_a_time_on_a_timed_shape) {
  const double factors[KERNELS] = {1, 1.3, 0.8};
  enum { LAYER = 5, SIZE = 3 };
  table_case t = start(factors);
  /* OTHER is fastest everywhere; on one shape nobody has timed it. */
  *cell(&t, LAYER, SIZE, OTHER) = NAN;
  *cell(&t, LAYER + 1, SIZE, FOURS) = 0.1; /* so that it is kept */
  choose(&t);
  WS_CHECK_INT(pick(&t, sizes[SIZE], LAYER), EVERY);
  WS_CHECK_INT(pick(&t, sizes[SIZE], LAYER + 2), OTHER);
  WS_CHECK_INT(pick(&t, sizes[SIZE], LAYER + 1), FOURS);
  ws_arena_destroy(t.arena);
}

WS_TEST(a_kernel_for_some_sizes_is_taken_at_all_of_these_between_timed_ones) {
  const double factors[KERNELS] = {1, 0.5, 1.2};
  table_case t = start(factors);
  choose(&t);
  for (int64_t m = 64; m <= 1024; m++)
    WS_CHECK_INT(pick(&t, m, 3), m % 4 ? EVERY : FOURS);
  ws_arena_destroy(t.arena);
}

WS_TEST(a_kernel_known_for_few_rows_is_not_taken_for_many) {
  const double factors[KERNELS] = {1, 1.3, 1};
  table_case t = start(factors);
  /* Timed up to 64 rows only, where its time does not grow: by these times it
   * would be the fastest of all at 4096. */
  for (int layer = 0; layer < LAYERS; layer++)
    for (int i = 0; i < SIZES; i++)
      *cell(&t, layer, i, OTHER) =
          sizes[i] > 64 ? NAN : 0.4 * *cell(&t, layer, 0, EVERY);
  choose(&t);
  WS_CHECK_INT(pick(&t, 16, 2), OTHER);
  WS_CHECK_INT(pick(&t, 4096, 2), EVERY);
  for (int64_t m = 1100; m < 4096; m += 13)
    WS_CHECK_INT(pick(&t, m, 2), EVERY);
  const ws_shape elsewhere = gemm_shape(3000, 4096, 7168);
  WS_CHECK(t.choice.columns[ws_selection_pick(t.choice.selection,
                                              &elsewhere)] != OTHER);
  ws_arena_destroy(t.arena);
}

/* Timed on three of fourteen layers, which is less than half of what it takes:
 * a few percent of promise are not believed on a layer that nobody has timed,
 * many are; timed on all of them it needs no more than to be faster. */
WS_TEST(a_kernel_known_on_few_shapes_must_promise_much) {
  static const struct {
    double factor;
    int layers, picked;
  } cases[] = {{0.95, 3, EVERY}, {0.75, 3, OTHER}, {0.95, LAYERS, OTHER}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double factors[KERNELS] = {1, 1.3, cases[i].factor};
    table_case t = start(factors);
    for (int layer = cases[i].layers; layer < LAYERS; layer++)
      for (int size = 0; size < SIZES; size++)
        *cell(&t, layer, size, OTHER) = NAN;
    choose(&t);
    for (int64_t m = 160; m < 4096; m = m * 5 / 4) {
      const ws_shape unknown = gemm_shape(m, 2944, 5888);
      const int at = ws_selection_pick(t.choice.selection, &unknown);
      WS_CHECK_INT(t.choice.columns[at], cases[i].picked);
    }
    ws_arena_destroy(t.arena);
  }
}
