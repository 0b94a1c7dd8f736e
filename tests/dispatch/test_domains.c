/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels that take some of the legal shapes: what is emitted, beside what the
 * constraints say of every shape of a dense grid. Each shape that some shipped
 * kernel takes gets one that takes it, and no number of the C or the JSON is
 * infinite or none.
 */
#include "synthetic.h"
#include "ws_test_directory.h"

#include <cjson/cJSON.h>
#include <ctype.h>

/* ---- a problem of lines and columns, and a template of partial kernels ---- */

enum { X, Y, LINES, COLS };
enum { LARGEST_COLS = 8192, LARGEST = 1 << 30 };

static void copy(const ws_reference_call *call) {
  const int64_t n = call->dims[1];
  for (int64_t i = call->begin * n; i < call->end * n; i++)
    ws_put(call, Y, i, ws_get(call, X, i));
}

static const ws_problem *open_problem(void) {
  static const int64_t sizes[][2] = {{16, 1024}, {256, 4096}};
  static const ws_problem_definition given = {
      WS_PROBLEM_ABI,
      .name = "partial",
      .dims = {{"lines"}, {"cols"}},
      .args = {[X] = {"x", WS_ARG_INPUT, WS_F32, {"lines", "cols"}},
               [Y] = {"y", WS_ARG_OUTPUT, WS_F32, {"lines", "cols"}},
               [LINES] = {"lines", WS_ARG_SCALAR, WS_I32},
               [COLS] = {"cols", WS_ARG_SCALAR, WS_I32}},
      .legal = "cols % 8 == 0 && cols <= 8192 && lines * cols <= 1073741824",
      .sets = {WS_PROBLEM_SET("some", sizes)},
      .reference = copy};
  static const ws_problem *problem;
  ws_diag diag = {""};
  if (!problem && ws_problem_open(&given, "", &problem, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return problem;
}

/* What a kernel of each kind takes, written once more in C. */
enum { ANY, FEW_COLS, MANY_COLS, FOURS, SMALL, NOT_4096, HOLE, ALL_TOLD,
       NOT_THE_LARGEST, NARROW, KINDS };
static bool takes(int kind, int64_t lines, int64_t cols) {
  switch (kind) {
  case FEW_COLS:
    return cols <= 2048;
  case MANY_COLS:
    return cols > 2048;
  case FOURS:
    return lines % 4 == 0;
  case SMALL:
    return lines * cols <= 1048576;
  case NOT_4096:
    return cols != 4096;
  case HOLE:
    return cols <= 1024 || ((cols + 47) / 48) * 3 > 420;
  case NOT_THE_LARGEST:
    return lines * cols < LARGEST;
  case NARROW:
    return cols * 5 <= 5200 * 5 && lines <= 3000;
  default:
    return true;
  }
}

static const ws_template *partial_template(ws_arena *arena) {
  const ws_record items[] = {
      SYNTHETIC_RECORD("template", "partial", "1", "partial", "gfx942",
                       "for tests", "lines cols"),
      SYNTHETIC_RECORD("param", "kind", "ws.kind", "0 1 2 3 4 5 6 7 8 9",
                       "which shapes", "0"),
      SYNTHETIC_RECORD("require", "kind != 1 || cols <= 2048", "few"),
      SYNTHETIC_RECORD("require", "kind != 2 || cols > 2048", "many"),
      SYNTHETIC_RECORD("require", "kind != 3 || lines % 4 == 0", "fours"),
      SYNTHETIC_RECORD("require", "kind != 4 || lines * cols <= 1048576",
                       "small"),
      SYNTHETIC_RECORD("require", "kind != 5 || cols != 4096", "but one"),
      SYNTHETIC_RECORD("require",
                       "kind != 6 || cols <= 1024 || ceildiv(cols, 48) * 3 > "
                       "420",
                       "a hole"),
      SYNTHETIC_RECORD("require", "kind != 7 || cols < 8193", "all, told"),
      SYNTHETIC_RECORD("require", "kind != 8 || lines * cols < 1073741824",
                       "but the largest"),
      SYNTHETIC_RECORD("require",
                       "kind != 9 || cols * 5 <= 26000 && lines <= 3000",
                       "narrow"),
      SYNTHETIC_RECORD("launch", "gemm", "lines", "1", "1", "256", "1",
                       "x y lines cols"),
  };
  return synthetic_from_records(arena, "partial.ll", items,
                                sizeof items / sizeof *items);
}

/* ---- kernels, and times of them ---- */

enum { MOST_KERNELS = KINDS, MOST_SHAPES = 64 };

typedef struct scene {
  int kinds[MOST_KERNELS], kernel_count;
  int64_t sizes[MOST_SHAPES][2];
  int shape_count;
  const char *provenance;
  int gap; /* cells whose number divides by it were not timed; 0: all were */
} scene;

typedef struct staged {
  ws_arena *arena;
  ws_dispatch_entry entries[MOST_KERNELS];
  ws_shape shapes[MOST_SHAPES];
  double us[MOST_SHAPES * MOST_KERNELS];
  ws_matrix matrix;
  ws_dispatch_report report;
  const char *directory;
} staged;

static ws_dispatch_entry entry_of(ws_arena *arena, const ws_template *tmpl,
                                  int kind) {
  ws_dispatch_entry entry =
      synthetic_entry(arena, tmpl, ws_arena_printf(arena, "kind=%d", kind));
  ws_kernel_facts *kernel = ws_arena_alloc(arena, sizeof *kernel);
  ws_build_result *result = ws_arena_alloc(arena, sizeof *result);
  *kernel = (ws_kernel_facts){
      .name = "gemm",
      .args = {{"x", 0, 8}, {"y", 8, 8}, {"lines", 16, 4}, {"cols", 20, 4}},
      .arg_count = 4,
      .kernarg_bytes = 24};
  *result = *entry.result;
  result->kernels = kernel;
  result->kernel_count = 1;
  entry.result = result;
  return entry;
}

/* The more a kernel takes the slower it is; and something that no rule
 * describes. */
static double time_of(int kind, const ws_shape *shape) {
  static const double slow[KINDS] = {9, 1, 1, 3, 2, 6, 3, 8, 7, 2};
  const double size = (double)shape->size[0] * (double)shape->size[1];
  return 2 + slow[kind] * size * 1e-5 * (1.2 + sin(kind + 3 * log(size)));
}

static ws_status stage(const scene *of, staged *out, ws_diag *diag) {
  const ws_problem *problem = open_problem();
  *out = (staged){.arena = ws_arena_create()};
  const ws_template *tmpl = partial_template(out->arena);
  for (int k = 0; k < of->kernel_count; k++)
    out->entries[k] = entry_of(out->arena, tmpl, of->kinds[k]);
  for (int s = 0; s < of->shape_count; s++) {
    out->shapes[s] = ws_shape_of(
        problem->dims, (int64_t[WS_MAX_DIMS]){of->sizes[s][0], of->sizes[s][1]});
    for (int k = 0; k < of->kernel_count; k++) {
      const int cell = s * of->kernel_count + k;
      const bool is_gap = of->gap && cell % of->gap == of->gap - 1;
      out->us[cell] =
          !takes(of->kinds[k], of->sizes[s][0], of->sizes[s][1]) ? INFINITY
          : is_gap ? NAN
                   : time_of(of->kinds[k], &out->shapes[s]);
    }
  }
  out->matrix = (ws_matrix){out->shapes, of->shape_count, of->kernel_count,
                            out->us, of->provenance};
  static int number; /* dlopen knows a library by its path */
  out->directory = ws_arena_printf(out->arena, "%s/%d", ws_test_directory(),
                                   number++);
  const ws_selection_input input = {.problem = problem,
                                    .target = ws_target_find("gfx942"),
                                    .entries = out->entries,
                                    .matrix = &out->matrix};
  const ws_dispatch_options options = {"partial", out->directory, "plain"};
  return ws_dispatch_emit(out->arena, &input, &options, &out->report, diag);
}

/* ---- what is emitted ---- */

static void check_grid(const scene *of, const staged *s) {
  void *handle = synthetic_load(s->arena, s->directory, "partial", "-O1");
  int (*select)(long long, long long);
  const char *(*explain)(long long, long long, char *, size_t);
  *(void **)&select = synthetic_symbol(handle, "partial_select");
  *(void **)&explain = synthetic_symbol(handle, "partial_explain");
  static const int64_t lines[] = {1,    2,    3,     4,      5,      7,
                                 8,    15,   16,    17,     64,     128,
                                 255,  256,  1000,  2999,   3000,   3001,
                                 3004, 4096, 65535, 65536,  131071, 131072,
                                 262144, 1048576, 16777216, 134217728};
  for (size_t r = 0; r < sizeof lines / sizeof *lines; r++)
    for (int64_t cols = 8; cols <= LARGEST_COLS + 8; cols += 8) {
      const bool legal = cols <= LARGEST_COLS && lines[r] * cols <= LARGEST;
      const ws_shape shape =
          ws_shape_of(open_problem()->dims,
                      (int64_t[WS_MAX_DIMS]){lines[r], cols});
      const int pick = select(lines[r], cols);
      bool wanted = false;
      for (int p = 0; p < s->report.portfolio_count && legal; p++)
        wanted |= takes(of->kinds[s->report.portfolio[p]], lines[r], cols);
      if ((pick >= 0) != wanted)
        WS_FAIL("lines=%lld,cols=%lld: %d", (long long)lines[r], (long long)cols,
                pick);
      if (ws_selection_pick(s->report.selection, &shape) != pick)
        WS_FAIL("lines=%lld,cols=%lld: %d is emitted", (long long)lines[r],
                (long long)cols, pick);
      WS_CHECK(pick < 0 || takes(of->kinds[s->report.portfolio[pick]], lines[r],
                                 cols));
      char text[1024];
      if (cols % 1024 == 0) {
        explain(lines[r], cols, text, sizeof text);
        WS_CHECK(!strstr(text, "inf") && !strstr(text, "nan"));
      }
    }
}

/* A word of its own, as printf writes it. */
static bool has_word(const char *text, const char *word) {
  for (const char *at = text; (at = strstr(at, word)); at++)
    if ((at == text || !isalnum((unsigned char)at[-1])) && 
        !isalnum((unsigned char)at[strlen(word)]) && at[strlen(word)] != '_')
      return true;
  return false;
}

static void check_regrets(const cJSON *item) {
  WS_CHECK(!cJSON_IsNull(item));
  if (item->string && strstr(item->string, "regret") && cJSON_IsNumber(item))
    WS_CHECK(item->valuedouble >= 1);
  for (const cJSON *child = item->child; child; child = child->next)
    check_regrets(child);
}

static void check_numbers(const staged *s) {
  static const char *const names[] = {"partial.c", "partial.json"};
  ws_diag diag = {""};
  for (int i = 0; i < 2; i++) {
    char *text;
    size_t size;
    WS_CHECK_INT(ws_file_read(s->arena,
                              ws_arena_printf(s->arena, "%s/%s", s->directory,
                                              names[i]),
                              &text, &size, &diag),
                 WS_OK);
    WS_CHECK(!has_word(text, "inf") && !has_word(text, "nan"));
    if (i == 1) {
      cJSON *json = cJSON_Parse(text);
      WS_CHECK(json != NULL);
      check_regrets(json);
      cJSON_Delete(json);
    }
  }
  WS_CHECK(isfinite(s->report.train_geomean_regret));
  WS_CHECK(isfinite(s->report.train_max_regret));
}

static void check_scene(const scene *of) {
  staged s;
  ws_diag diag = {""};
  if (stage(of, &s, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  check_grid(of, &s);
  check_numbers(&s);
  ws_arena_destroy(s.arena);
}

static void check_refused(const scene *of, const char *why) {
  staged s;
  ws_diag diag = {""};
  WS_CHECK_INT(stage(of, &s, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, why);
  ws_arena_destroy(s.arena);
}

/* Each scene by times of every kind: these decide between forms. */
static void check_scenes(scene of) {
  static const char *const provenances[] = {"estimate:test", "sim:test:card",
                                            "cuda:test"};
  for (int i = 0; i < 3; i++) {
    of.provenance = provenances[i];
    check_scene(&of);
  }
}

/* ---- scenes ---- */

/* The newcomer's: sampled sizes ended before the constraint began. */
WS_TEST(the_fastest_refuses_a_training_shape) {
  check_scenes((scene){.kinds = {ANY, FEW_COLS},
                       .kernel_count = 2,
                       .sizes = {{16, 1024}, {256, 4096}},
                       .shape_count = 2});
  check_scenes((scene){.kinds = {FEW_COLS, ANY, FEW_COLS},
                       .kernel_count = 3,
                       .sizes = {{256, 4096}, {16, 1024}},
                       .shape_count = 2});
}

WS_TEST(one_training_shape) {
  check_scenes((scene){.kinds = {FEW_COLS, ANY},
                       .kernel_count = 2,
                       .sizes = {{256, 4096}},
                       .shape_count = 1});
  check_scenes((scene){.kinds = {MANY_COLS, ANY, HOLE},
                       .kernel_count = 3,
                       .sizes = {{16, 1024}},
                       .shape_count = 1});
}

WS_TEST(disjoint_domains_and_one_for_all) {
  check_scenes((scene){.kinds = {FEW_COLS, MANY_COLS, ANY},
                       .kernel_count = 3,
                       .sizes = {{16, 1024}, {256, 4096}, {7, 8192}},
                       .shape_count = 3});
}

WS_TEST(no_kernel_takes_every_shape) {
  const scene disjoint = {.kinds = {FEW_COLS, MANY_COLS},
                          .kernel_count = 2,
                          .sizes = {{16, 1024}, {256, 4096}},
                          .shape_count = 2,
                          .provenance = "cuda:test"};
  check_refused(&disjoint, "fallback");
  scene one = disjoint;
  one.sizes[1][1] = 2048;
  one.kernel_count = 1;
  check_refused(&one, "none of the 1 candidates accepts every legal shape");
  one.kinds[0] = NOT_4096;
  check_refused(&one, ", and none 1,4096");
  one.kinds[0] = NOT_THE_LARGEST;
  check_refused(&one, "accepts every legal shape, and none ");
  one.kinds[0] = NARROW;
  check_refused(&one, "accepts every legal shape");
}

/* What one refuses others take: more than a chain's last one is asked. */
WS_TEST(one_takes_most_and_others_what_it_refuses) {
  check_scenes((scene){.kinds = {NOT_THE_LARGEST, FOURS},
                       .kernel_count = 2,
                       .sizes = {{16, 1024}, {256, 4096}},
                       .shape_count = 2});
  check_scenes((scene){.kinds = {FOURS, NOT_THE_LARGEST, NARROW},
                       .kernel_count = 3,
                       .sizes = {{3, 1024}, {256, 4096}},
                       .shape_count = 2});
}

WS_TEST(a_constraint_that_refuses_nothing) {
  check_scenes((scene){.kinds = {ALL_TOLD, FEW_COLS},
                       .kernel_count = 2,
                       .sizes = {{16, 1024}, {256, 4096}},
                       .shape_count = 2});
}

/* Groups enough for forms to be judged where some are left out, and bands. */
static scene many_shapes(int gap) {
  scene of = {.kinds = {FOURS, HOLE, ANY, NOT_4096, SMALL, NARROW, FEW_COLS,
                        MANY_COLS, NOT_THE_LARGEST, ALL_TOLD},
              .kernel_count = KINDS,
              .gap = gap};
  for (int c = 0; c < 8; c++)
    for (int r = 0; r < 8; r++) {
      of.sizes[of.shape_count][0] = (INT64_C(1) << (2 * r)) + r % 2;
      of.sizes[of.shape_count++][1] = 512 + 1096 * c;
    }
  return of;
}

WS_TEST(all_kinds_on_many_shapes) { check_scenes(many_shapes(0)); }

WS_TEST(all_kinds_with_gaps) {
  check_scenes(many_shapes(2));
  check_scenes(many_shapes(3));
  check_scenes(many_shapes(7));
}
