/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From templates to a running choice: a few points of the shipped templates are
 * built by the compile server, a dispatch over them is emitted and compiled,
 * and what it selects for random legal shapes is run on the CPU sanitizer on
 * just that shape, against the fp64 reference. The times are made up, so that
 * small shapes come to every kernel.
 */
#include "../gemm_shape.h"
#include "synthetic.h"
#include "wavesmith/time_model.h"
#include "ws_test_directory.h"

enum { SHAPES = 24, MAX_POINTS = 16 };

static const struct {
  const char *file, *assignments, *layout; /* NULL: every one */
} points_to_build[] = {
    {"fp8_gemm_naive.ll", "", NULL},
    {"fp8_gemm_mfma.ll", "tile_m=16;tile_n=64;waves_m=1;waves_n=4", NULL},
    {"fp8_gemm_mfma.ll", "tile_m=32;tile_n=32;split_k=4;mfma=16", NULL},
    {"fp8_gemm_mfma.ll", "tile_m=64;tile_n=64;tile_k=64;prefetch=2", NULL},
    {"fp8_gemm_mfma.ll", "tile_m=64;tile_n=128;mfma=32;lds_pad=16;lds_read=16",
     NULL},
    {"fp8_gemm_mfma.ll", "tile_m=128;tile_n=64;order=2;group_m=2;split_k=2",
     NULL},
    {"fp8_gemm_mfma.ll", "lds_layout=2;lds_pad=0;order=1;group_m=4", NULL},
    {"fp8_gemm_mfma.ll",
     "b_direct=1;tile_m=64;tile_n=64;lds_read=16;lds_pad=16;split_k=2",
     "kmajor-bpreshuffle"},
};
enum { POINT_COUNT = sizeof points_to_build / sizeof *points_to_build };

typedef struct end_to_end {
  ws_arena *arena;
  ws_compiler *compiler;
  const ws_problem *problem;
  const char *layout;
  ws_dispatch_entry entries[MAX_POINTS];
  const char *texts[MAX_POINTS]; /* of the entries' templates */
  int count;
} end_to_end;

static ws_diag diag;

static void must(ws_status status) {
  if (status != WS_OK)
    WS_FAIL("%s", diag.text);
}

static ws_build_result build(end_to_end *e, const ws_candidate *candidate,
                             const char *text, const ws_run *runs,
                             int run_count, int stages) {
  const ws_build_request request = {
      .template_file = candidate->tmpl->file,
      .template_text = text,
      .template_size = strlen(text),
      .target = "gfx942",
      .assignments = ws_candidate_values_text(e->arena, candidate),
      .variants = "",
      .runs = runs,
      .run_count = run_count,
      .stages = stages,
      .limits = ws_limits_default};
  ws_build_result result;
  must(ws_compiler_build(e->compiler, e->arena, &request, &result, &diag));
  if (result.verdict != WS_VERDICT_OK)
    WS_FAIL("%s, layout %s: %s: %s", request.assignments, e->layout,
            ws_verdict_text(result.verdict), result.reason);
  return result;
}

static void add_point(end_to_end *e, int index) {
  const char *file =
      ws_arena_printf(e->arena, "%s/ir-templates/%s", getenv("WS_SOURCE_DIR"),
                      points_to_build[index].file);
  char *text;
  size_t size;
  const ws_template *tmpl;
  must(ws_file_read(e->arena, file, &text, &size, &diag));
  must(ws_compiler_describe(e->compiler, e->arena, file, text, size, &tmpl,
                            &diag));
  ws_candidate *candidate = ws_candidate_create(e->arena, tmpl);
  must(ws_candidate_set(
      candidate,
      ws_arena_printf(e->arena, "layout=%d",
                      ws_problem_layout_index(e->problem, e->layout)),
      &diag));
  must(ws_candidate_set(candidate, points_to_build[index].assignments, &diag));
  ws_run runs[WS_STANDARD_RUNS];
  ws_standard_runs(candidate, runs);
  ws_build_result *result = ws_arena_alloc(e->arena, sizeof *result);
  *result = build(e, candidate, text, runs, 2,
                  WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER);
  e->texts[e->count] = text;
  e->entries[e->count++] =
      (ws_dispatch_entry){.candidate = candidate,
                          .result = result,
                          .code_object = result->code_object,
                          .code_object_size = result->code_object_size};
}

/* Small, so that running them is quick; edges of every tile size; of m any
 * number, half of them multiples of 16. */
static ws_shape random_shape(ws_rng *rng) {
  const int64_t step = ws_rng_below(rng, 2) ? 16 : 1;
  const uint64_t steps = (uint64_t)(256 / step);
  return gemm_shape(step + step * (int64_t)ws_rng_below(rng, steps),
                    16 + 16 * (int64_t)ws_rng_below(rng, 16),
                    128 + 128 * (int64_t)ws_rng_below(rng, 5));
}

enum { TRAINING = 300 };

static void *emit_and_load(end_to_end *e, ws_dispatch_report *report) {
  const ws_dispatch_options options = {"chosen", ws_test_directory(),
                                       e->layout};
  static ws_shape shapes[TRAINING];
  static double us[TRAINING * MAX_POINTS];
  ws_rng rng;
  ws_rng_init(&rng, 7);
  for (int s = 0; s < TRAINING; s++) {
    shapes[s] = random_shape(&rng);
    for (int c = 0; c < e->count; c++)
      us[s * e->count + c] =
          exp(sin(c + 1.1 * log((double)(shapes[s].size[DIM_M] *
                                         shapes[s].size[DIM_N]))) +
              cos(2.3 * c + 0.7 * log((double)shapes[s].size[DIM_K])));
  }
  const ws_matrix matrix = {shapes, TRAINING, e->count, us, "estimate:test"};
  ws_selection_input input = {.problem = e->problem,
                              .target = ws_target_find("gfx942"),
                              .entries = e->entries,
                              .matrix = &matrix};
  /* Times like these no model describes: the tree spreads the shapes over the
   * kernels. It is taken where terms say nothing of them. */
  must(ws_time_terms_parse(e->arena, e->problem, "no_parameter_of_theirs",
                           "terms", &input.terms, &diag));
  must(ws_dispatch_emit(e->arena, &input, &options, report, &diag));
  return synthetic_load(e->arena, ws_test_directory(), "chosen", "-O1");
}

/* The caller is told what C is. */
static void check_header(end_to_end *e) {
  char *text;
  size_t size;
  must(ws_file_read(
      e->arena, ws_arena_printf(e->arena, "%s/chosen.h", ws_test_directory()),
      &text, &size, &diag));
  WS_CHECK_CONTAINS(text, strcmp(e->layout, "kmajor-add")
                              ? "CHOSEN_ARG_C = 4, /* pointer: bf16"
                              : "CHOSEN_ARG_C = 4, /* pointer, read and "
                                "written: bf16");
}

static void check_layout(const char *layout) {
  end_to_end e = {.arena = ws_arena_create(),
                  .problem = ws_problem_find("fp8_gemm_blockscale"),
                  .layout = layout};
  must(ws_compiler_start(&e.compiler, &diag));
  for (int i = 0; i < POINT_COUNT; i++) {
    const char *only = points_to_build[i].layout;
    if (!only || !strcmp(only, layout))
      add_point(&e, i);
  }
  ws_dispatch_report report;
  void *handle = emit_and_load(&e, &report);
  int (*select)(long long, long long, long long);
  *(void **)&select = synthetic_symbol(handle, "chosen_select");
  WS_CHECK(report.portfolio_count >= 3);
  check_header(&e);

  ws_rng rng;
  ws_rng_init(&rng, 42);
  int used[MAX_POINTS] = {0}, kinds = 0;
  for (int i = 0; i < SHAPES; i++) {
    const ws_shape shape = random_shape(&rng);
    int pick = select(shape.size[DIM_M], shape.size[DIM_N], shape.size[DIM_K]);
    WS_CHECK(pick >= 0 && pick < report.portfolio_count);
    int entry = report.portfolio[pick];
    const ws_run run = {.shape = shape,
                        .order = i % 2 ? WS_WAVES_DOWN : WS_WAVES_UP,
                        .seed = (uint64_t)i};
    build(&e, e.entries[entry].candidate, e.texts[entry], &run, 1,
          WS_STAGE_CHECK | WS_STAGE_SANITIZE);
    kinds += used[pick]++ == 0;
  }
  printf("# %s: %d shapes ran right on %d of %d kernels\n", layout, SHAPES,
         kinds, report.portfolio_count);
  WS_CHECK(2 * kinds >= e.count);
  ws_compiler_stop(e.compiler);
  ws_arena_destroy(e.arena);
}

WS_TEST(what_is_selected_runs_right_kmajor) { check_layout("kmajor"); }

WS_TEST(what_is_selected_runs_right_mnmajor) { check_layout("mnmajor"); }

WS_TEST(what_is_selected_runs_right_kmajor_bpreshuffle) {
  check_layout("kmajor-bpreshuffle");
}

WS_TEST(what_is_selected_runs_right_kmajor_add) { check_layout("kmajor-add"); }
