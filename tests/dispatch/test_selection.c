/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Time models, gaps, the table of tuned shapes and what picks by them, on times
 * whose law is written here; the emitted C beside the tuner's own choice; the
 * shipped archives on random legal shapes of any m.
 */
#include "synthetic.h"
#include "wavesmith/time_model.h"
#include "ws_test_directory.h"

enum { LAYERS = 16, SIZES = 7, SHAPES = LAYERS * SIZES };

/* Workgroups come in rounds of the card's 304 compute units (MI300X); each
 * takes its slice of the depth, wide tiles longer. */
static double law(const ws_shape *shape, int tile, int split) {
  const double workgroups = ceil((double)shape->size[DIM_M] / tile) *
                            ceil((double)shape->size[DIM_N] / 128) * split;
  return 3 + ceil(workgroups / 304) * (double)shape->size[DIM_K] / split *
                 (0.001 + 0.00003 * tile);
}

static const int tiles[POINTS] = {16, 64, 128, 48, 16, 16, 128};
static const int splits[POINTS] = {1, 1, 1, 2, 2, 4, 4};

/* Cells that divide by `gap` in their number are not timed; 0: all are. */
static void use_law(emitted *e, int gap, const char *provenance) {
  ws_shape *shapes = ws_arena_alloc(e->arena, SHAPES * sizeof *shapes);
  double *us = ws_arena_alloc(e->arena, SHAPES * POINTS * sizeof *us);
  int cell = 0;
  for (int s = 0; s < SHAPES; s++) {
    const int layer = s / SIZES;
    shapes[s] = gemm_shape(INT64_C(16) << (s % SIZES) << (s % SIZES > 3),
                           256 + 1168 * (layer % 5), 512 * (1 + 3 * (layer / 5)));
    for (int c = 0; c < POINTS; c++, cell++)
      us[s * POINTS + c] =
          ws_candidate_broken_require(e->entries[c].candidate, &shapes[s],
                                      NULL) >= 0
              ? INFINITY
          : gap && cell % gap == 0 ? NAN
                                   : law(&shapes[s], tiles[c], splits[c]);
  }
  e->matrix = (ws_matrix){shapes, SHAPES, POINTS, us, provenance};
}

static ws_selection_input input_of(emitted *e, const ws_time_terms *terms) {
  return (ws_selection_input){.problem = e->problem,
                              .target = ws_target_find("gfx942"),
                              .terms = terms,
                              .entries = e->entries,
                              .matrix = &e->matrix};
}

static const ws_time_terms *true_terms(emitted *e) {
  const ws_time_terms *terms;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_time_terms_parse(e->arena, e->problem,
                                   "1\nceildiv(workgroups, cu_count) * D # of "
                                   "rounds\n",
                                   "terms", &terms, &diag),
               WS_OK);
  WS_CHECK_INT(ws_time_terms_count(terms), 2);
  return terms;
}

WS_TEST(a_model_foresees_what_follows_its_terms) {
  emitted e;
  const int columns[] = {1, 4};
  const ws_time_models *models;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  use_law(&e, 3, "cuda:test");
  WS_CHECK_INT(ws_time_models_fit(e.arena, e.problem, ws_target_find("gfx942"),
                                  true_terms(&e), e.entries, &e.matrix, NULL,
                                  columns, 2, &models, &diag),
               WS_OK);
  const ws_shape far = gemm_shape(8192, 7168, 4096);
  for (int p = 0; p < 2; p++) {
    const double want = law(&far, tiles[columns[p]], splits[columns[p]]);
    WS_CHECK_NEAR(ws_time_models_us(models, p, &far), want, 0.03 * want);
  }
  ws_arena_destroy(e.arena);
}

/* 20000 bytes of LDS, in steps of 512, are a third of 64 KiB: three workgroups
 * of four waves fit on a compute unit. */
WS_TEST(a_model_knows_how_many_workgroups_fit) {
  enum { FIT = 3, COLUMN = 4 /* 16 rows, two slices */ };
  emitted e;
  const int columns[] = {COLUMN};
  const ws_time_models *models;
  const ws_time_terms *terms;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  use_law(&e, 0, "cuda:test");
  ws_build_result *result = ws_arena_alloc(e.arena, sizeof *result);
  ws_kernel_facts *kernels = ws_arena_alloc(e.arena, 2 * sizeof *kernels);
  *result = *e.entries[COLUMN].result;
  memcpy(kernels, result->kernels, 2 * sizeof *kernels);
  kernels[0].lds_bytes = 20000;
  result->kernels = kernels;
  e.entries[COLUMN].result = result;
  for (int s = 0; s < SHAPES; s++) {
    const ws_shape *shape = &e.matrix.shapes[s];
    const double workgroups = 2 * ceil((double)shape->size[DIM_M] / 16) *
                              ceil((double)shape->size[DIM_N] / 128);
    e.matrix.us[s * POINTS + COLUMN] =
        2 + ceil(workgroups / (FIT * 304)) * (double)shape->size[DIM_K] * 0.002;
  }
  WS_CHECK_INT(ws_time_terms_parse(
                   e.arena, e.problem,
                   "1\nceildiv(workgroups, resident * cu_count) * D\n",
                   "terms", &terms, &diag),
               WS_OK);
  WS_CHECK_INT(ws_time_models_fit(e.arena, e.problem, ws_target_find("gfx942"),
                                  terms, e.entries, &e.matrix, NULL, columns, 1,
                                  &models, &diag),
               WS_OK);
  const ws_shape far = gemm_shape(16 * 1000, 1280, 4096); /* 20000 in 22 rounds */
  WS_CHECK_NEAR(ws_time_models_us(models, 0, &far), 2 + 22 * 4096 * 0.002,
                1e-3 * 182);
  ws_arena_destroy(e.arena);
}

WS_TEST(gaps_are_filled_and_with_caution_promise_less) {
  emitted e;
  ws_matrix expected, cautious;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  use_law(&e, 3, "cuda:test");
  const ws_selection_input input = input_of(&e, true_terms(&e));
  WS_CHECK_INT(
      ws_time_models_fill(e.arena, &input, &expected, &cautious, &diag), WS_OK);
  int gaps = 0;
  for (int s = 0; s < SHAPES; s++) {
    double best = INFINITY;
    for (int c = 0; c < POINTS; c++)
      best = fmin(best, e.matrix.us[s * POINTS + c]);
    for (int c = 0; c < POINTS; c++) {
      const int i = s * POINTS + c;
      if (!isnan(e.matrix.us[i])) {
        WS_CHECK(expected.us[i] == e.matrix.us[i] &&
                 cautious.us[i] == e.matrix.us[i]);
        continue;
      }
      const double want = law(&e.matrix.shapes[s], tiles[c], splits[c]);
      gaps++;
      WS_CHECK_NEAR(expected.us[i], want, 0.1 * want);
      WS_CHECK(cautious.us[i] > expected.us[i] && cautious.us[i] > best);
    }
  }
  WS_CHECK(gaps > SHAPES);
  ws_arena_destroy(e.arena);
}

WS_TEST(models_choose_where_they_lose_less_and_the_table_where_shapes_were_timed) {
  emitted e;
  ws_dispatch_choice choice;
  const ws_band *bands;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  use_law(&e, 0, "cuda:test");
  const ws_selection_input input = input_of(&e, true_terms(&e));
  WS_CHECK_INT(ws_dispatch_choose(e.arena, &input, &choice, &diag), WS_OK);
  const int count = ws_selection_bands(choice.selection, &bands);
  int by_models = 0;
  WS_CHECK(count >= 3);
  for (int b = 0; b < count; b++) {
    WS_CHECK_INT(bands[b].first, b ? bands[b - 1].last + 1 : 1);
    WS_CHECK(bands[b].ln_loss[WS_FORM_ORACLE] <=
             bands[b].ln_loss[bands[b].form] + 1e-12);
    by_models += bands[b].form == WS_FORM_MODELS;
  }
  WS_CHECK_INT(bands[count - 1].last, INT64_MAX);
  WS_CHECK(by_models > 0);
  WS_CHECK_INT(ws_selection_table_count(choice.selection), SHAPES);
  for (int s = 0; s < SHAPES; s++) { /* what was timed is known by heart */
    const int pick = ws_selection_pick(choice.selection, &e.matrix.shapes[s]);
    double best = INFINITY;
    for (int p = 0; p < choice.count; p++)
      best = fmin(best, e.matrix.us[s * POINTS + choice.columns[p]]);
    WS_CHECK(e.matrix.us[s * POINTS + choice.columns[pick]] == best);
  }
  /* beyond it, by the law */
  double sum = 0;
  ws_rng rng;
  ws_rng_init(&rng, 9);
  enum { TRIES = 500 };
  for (int i = 0; i < TRIES; i++) {
    const ws_shape shape = gemm_shape(1 + (int64_t)ws_rng_below(&rng, 2048),
                                      16 + 16 * (int64_t)ws_rng_below(&rng, 300),
                                      128 + 128 * (int64_t)ws_rng_below(&rng, 40));
    const int pick = ws_selection_pick(choice.selection, &shape);
    double best = INFINITY;
    for (int p = 0; p < choice.count; p++) {
      const int c = choice.columns[p];
      if (ws_candidate_broken_require(e.entries[c].candidate, &shape, NULL) < 0)
        best = fmin(best, law(&shape, tiles[c], splits[c]));
    }
    const int c = choice.columns[pick];
    sum += log(law(&shape, tiles[c], splits[c]) / best);
  }
  if (sum / TRIES > 0.05)
    WS_FAIL("%.3f lost on shapes that were not timed", sum / TRIES);
  ws_arena_destroy(e.arena);
}

/* With 16 rows and 128 columns a workgroup each of these fills the card's 304
 * compute units once, twice or four times: there slices of the depth gain
 * nothing. Half a round of workgroups takes half the time in two slices. */
static ws_dispatch_choice choose_of_whole_rounds(emitted *e, int depths) {
  enum { OF_A_DEPTH = 4 };
  ws_dispatch_choice choice;
  ws_diag diag = {""};
  const size_t rows = (size_t)depths * OF_A_DEPTH;
  ws_shape *shapes = ws_arena_alloc(e->arena, rows * sizeof *shapes);
  double *us = ws_arena_alloc(e->arena, rows * POINTS * sizeof *us);
  for (int s = 0; s < depths * OF_A_DEPTH; s++) {
    shapes[s] = gemm_shape(s & 1 ? 1216 : 608, s & 2 ? 2048 : 1024,
                           1024 + 512 * (s / OF_A_DEPTH));
    for (int c = 0; c < POINTS; c++)
      us[s * POINTS + c] =
          ws_candidate_takes(e->entries[c].candidate, &shapes[s])
              ? law(&shapes[s], tiles[c], splits[c])
              : INFINITY;
  }
  e->matrix = (ws_matrix){shapes, (int)rows, POINTS, us, "cuda:test"};
  const ws_selection_input input = input_of(e, true_terms(e));
  WS_CHECK_INT(ws_dispatch_choose(e->arena, &input, &choice, &diag), WS_OK);
  return choice;
}

static bool keeps_slices(const ws_dispatch_choice *choice) {
  for (int p = 0; p < choice->count; p++)
    if (splits[choice->columns[p]] > 1)
      return true;
  return false;
}

static double time_of_choice(const ws_dispatch_choice *choice,
                             const ws_shape *shape) {
  const int c = choice->columns[ws_selection_pick(choice->selection, shape)];
  return law(shape, tiles[c], splits[c]);
}

WS_TEST(a_kernel_for_shapes_around_the_few_that_were_timed_is_kept) {
  emitted e;
  prepare(&e, ws_test_directory());
  ws_dispatch_choice choice = choose_of_whole_rounds(&e, 3);
  const ws_shape half = gemm_shape(304, 1024, 2048);
  WS_CHECK(keeps_slices(&choice));
  WS_CHECK_NEAR(time_of_choice(&choice, &half), law(&half, 16, 2), 1e-9);
  WS_CHECK_INT(ws_selection_table_count(choice.selection), 12);
  /* Many timed shapes speak for themselves. */
  choice = choose_of_whole_rounds(&e, 16);
  WS_CHECK(!keeps_slices(&choice));
  ws_arena_destroy(e.arena);
}

WS_TEST(the_emitted_choice_is_the_tuners_with_table_and_models) {
  emitted e;
  ws_rng rng;
  prepare(&e, ws_test_directory());
  use_law(&e, 5, "cuda:test");
  emit_into(&e, e.directory);
  void *handle = synthetic_load(e.arena, e.directory, "fp8_gemm", "-O1");
  *(void **)&e.select = synthetic_symbol(handle, "fp8_gemm_select");
  *(void **)&e.explain = synthetic_symbol(handle, "fp8_gemm_explain");
  WS_CHECK(ws_selection_table_count(e.report.selection) > 0);
  ws_rng_init(&rng, 5);
  bool tuned = false, modelled = false;
  char line[2048];
  for (int i = 0; i < 20000; i++) {
    ws_shape shape = synthetic_shape(&rng);
    if (i % 4 == 0)
      shape = e.matrix.shapes[i / 4 % SHAPES];
    if (i % 2)
      shape.size[DIM_M] = 1 + (int64_t)ws_rng_below(&rng, 5000);
    const int pick =
        e.select(shape.size[DIM_M], shape.size[DIM_N], shape.size[DIM_K]);
    WS_CHECK_INT(pick, ws_selection_pick(e.report.selection, &shape));
    e.explain(shape.size[DIM_M], shape.size[DIM_N], shape.size[DIM_K], line,
              sizeof line);
    tuned |= strstr(line, "tuned at this shape") != NULL;
    modelled |= strstr(line, "time models of m") != NULL;
  }
  WS_CHECK(tuned && modelled);
  ws_arena_destroy(e.arena);
}

/* More rows than a small array on the stack has room for. */
WS_TEST(a_table_of_very_many_layers_is_whole) {
  enum { MANY = 9000 };
  emitted e;
  prepare(&e, ws_test_directory());
  ws_shape *shapes = ws_arena_alloc(e.arena, MANY * sizeof *shapes);
  double *us = ws_arena_alloc(e.arena, MANY * POINTS * sizeof *us);
  for (int s = 0; s < MANY; s++) {
    shapes[s] = gemm_shape(64, 16 + 16 * (s % 200), 128 + 128 * (s / 200));
    for (int c = 0; c < POINTS; c++)
      us[s * POINTS + c] = c == s % 2 ? 1 : 2;
  }
  e.matrix = (ws_matrix){shapes, MANY, POINTS, us, "cuda:test"};
  emit_into(&e, e.directory);
  WS_CHECK_INT(ws_selection_table_count(e.report.selection), MANY);
  void *handle = synthetic_load(e.arena, e.directory, "fp8_gemm", "-O0");
  *(void **)&e.select = synthetic_symbol(handle, "fp8_gemm_select");
  const int first = e.select(64, 16, 128);
  for (int s = 0; s < MANY; s++) {
    const ws_shape *shape = &shapes[s];
    const int pick =
        e.select(shape->size[DIM_M], shape->size[DIM_N], shape->size[DIM_K]);
    WS_CHECK_INT(pick == first, s % 2 == 0);
  }
  ws_arena_destroy(e.arena);
}

/* ---- terms of others ---- */

static ws_status parse(emitted *e, const char *text, ws_diag *diag) {
  const ws_time_terms *terms;
  return ws_time_terms_parse(e->arena, e->problem, text, "t.txt", &terms, diag);
}

WS_TEST(terms_that_are_none_are_one_line) {
  emitted e;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  WS_CHECK_INT(parse(&e, "1\nm *\n", &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "t.txt:2");
  WS_CHECK(!strchr(diag.text, '\n'));
  WS_CHECK_INT(parse(&e, "# nothing\n\n", &diag), WS_INPUT);
  char many[2 * (WS_TIME_TERMS_MOST + 1) + 1] = "";
  for (int i = 0; i <= WS_TIME_TERMS_MOST; i++)
    strcat(many, "1\n");
  WS_CHECK_INT(parse(&e, many, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "32");
  ws_arena_destroy(e.arena);
}

/* A term that fails on some shape is no part of what is emitted: the program
 * that calls it would divide by zero. */
WS_TEST(terms_that_divide_by_zero_or_overflow_are_left_out) {
  emitted e;
  const ws_time_terms *terms;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  use_law(&e, 0, "cuda:test");
  WS_CHECK_INT(ws_time_terms_parse(e.arena, e.problem,
                                   "1\nD\nn / (m - 16)\nm * n * k * m * n\n"
                                   "k % (n / 4096)\n",
                                   "t.txt", &terms, &diag),
               WS_OK);
  const ws_selection_input input = input_of(&e, terms);
  const ws_dispatch_options options = {"fp8_gemm", e.directory, "kmajor"};
  WS_CHECK_INT(ws_dispatch_emit(e.arena, &input, &options, &e.report, &diag),
               WS_OK);
  void *handle = synthetic_load(e.arena, e.directory, "fp8_gemm", "-O1");
  *(void **)&e.select = synthetic_symbol(handle, "fp8_gemm_select");
  for (int64_t m = 1; m < 40; m++)
    for (int64_t n = 16; n < 9000; n += 1024)
      WS_CHECK(e.select(m, n, 128) >= 0);
  WS_CHECK(e.select(4194304, 16, 65536) >= 0); /* the largest A */
  WS_CHECK(e.select(4194304, 16, 65536 + 128) < 0);
  ws_arena_destroy(e.arena);
}

/* ---- what is shipped ---- */

static void check_shipped(const char *folder, const char *layout,
                          const char *target) {
  const char *tree = getenv("WS_SOURCE_DIR");
  enum { RANDOM = 33334 }; /* of each archive: 100,000 in all */
  ws_arena *arena = ws_arena_create();
  ws_archive *archive;
  ws_dispatch_entry *entries;
  ws_matrix matrix;
  ws_dispatch_choice choice;
  ws_diag diag = {""};
  int imported, count;
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  if (!tree)
    WS_SKIP("WS_SOURCE_DIR is not set");
  WS_CHECK_INT(ws_archive_open(":memory:", true, &archive, &diag), WS_OK);
  WS_CHECK_INT(
      ws_archive_import(archive,
                        ws_arena_printf(arena,
                                        "%s/kernels/fp8_gemm_blockscale/tuned/%s",
                                        tree, folder),
                        &imported, &diag),
      WS_OK);
  WS_CHECK_INT(ws_dispatch_load_recorded(archive, arena, problem, layout, target,
                                         &entries, &count, &diag),
               WS_OK);
  WS_CHECK_INT(ws_dispatch_times(archive, arena, problem,
                                 ws_target_find(target),
                                 &problem->shape_sets[0], NULL, entries, &count,
                                 &matrix, &diag),
               WS_OK);
  WS_CHECK(matrix.provenance != NULL);
  const ws_selection_input input = {.problem = problem,
                                    .target = ws_target_find(target),
                                    .entries = entries,
                                    .matrix = &matrix};
  if (ws_dispatch_choose(arena, &input, &choice, &diag) != WS_OK)
    WS_FAIL("%s: %s", folder, diag.text);
  ws_rng rng;
  ws_rng_init(&rng, 16);
  for (int i = 0; i < RANDOM; i++) {
    ws_shape shape = synthetic_shape(&rng);
    shape.size[DIM_M] = 1 + (int64_t)ws_rng_below(
                                &rng, UINT64_C(1) << ws_rng_below(&rng, 20));
    if (!ws_problem_is_legal(problem, &shape))
      continue;
    const int pick = ws_selection_pick(choice.selection, &shape);
    WS_CHECK(pick >= 0 && pick < choice.count);
    WS_CHECK(ws_candidate_broken_require(
                 entries[choice.columns[pick]].candidate, &shape, NULL) < 0);
  }
  ws_archive_close(archive);
  ws_arena_destroy(arena);
}

WS_TEST(shipped_archives_pick_a_kernel_that_takes_the_shape) {
  check_shipped("sm_90a/kmajor-ocp", "kmajor-ocp", "sm_90a");
  check_shipped("gfx942/kmajor", "kmajor", "gfx942");
  check_shipped("gfx942/mnmajor", "mnmajor", "gfx942");
}

