/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What ws_dispatch_emit writes: compiled without a warning, loaded, and held
 * against the tuner's own evaluation of the same rules and expressions.
 */
#include "../../runtime/dispatch/dispatch_internal.h"
#include "../gemm_shape.h"
#include "synthetic.h"
#include "wavesmith/sim_error.h"
#include "ws_test_directory.h"

#include <cjson/cJSON.h>
#include <dirent.h>

enum { RANDOM_SHAPES = 20000 };

static const ws_dispatch_entry *entry_of(const emitted *e, int position) {
  return &e->entries[e->report.portfolio[position]];
}

WS_TEST(selection_is_total_safe_and_the_tuners_own) {
  emitted e;
  ws_rng rng;
  prepare_and_load(&e, ws_test_directory(), "-O1");
  ws_rng_init(&rng, 3);
  WS_CHECK(e.report.portfolio_count > 3 && e.report.leaf_count > 12);
  int used[POINTS] = {0};
  for (int i = 0; i < RANDOM_SHAPES; i++) {
    const ws_shape shape = synthetic_shape(&rng);
    int pick =
        e.select(shape.size[DIM_M], shape.size[DIM_N], shape.size[DIM_K]);
    WS_CHECK(pick >= 0 && pick < e.report.portfolio_count);
    WS_CHECK_INT(pick, ws_selection_pick(e.report.selection, &shape));
    ws_diag diag = {""};
    if (ws_candidate_broken_require(entry_of(&e, pick)->candidate, &shape,
                                    &diag) >= 0)
      WS_FAIL("m=%lld n=%lld k=%lld: %s", (long long)shape.size[DIM_M],
              (long long)shape.size[DIM_N], (long long)shape.size[DIM_K],
              diag.text);
    used[pick]++;
  }
  int used_kernels = 0;
  for (int p = 0; p < e.report.portfolio_count; p++)
    used_kernels += used[p] > 0;
  WS_CHECK(used_kernels > 3); /* some may be for a few shapes alone */
  ws_arena_destroy(e.arena);
}

WS_TEST(legal_is_what_the_problem_says) {
  emitted e;
  ws_rng rng;
  prepare_and_load(&e, ws_test_directory(), "-O1");
  ws_rng_init(&rng, 4);
  static const int64_t edges[] = {0,   -16, 1,       8,         16,
                                  24,  128, 127,     4194304,   4194305,
                                  192, 144, 4194320, 1LL << 40, 524288};
  enum { EDGES = sizeof edges / sizeof *edges };
  for (int i = 0; i < EDGES; i++)
    for (int j = 0; j < EDGES; j++)
      for (int l = 0; l < EDGES; l++) {
        const ws_shape s = gemm_shape(edges[i], edges[j], edges[l]);
        bool legal = ws_problem_check_shape(e.problem, &s, NULL) == WS_OK;
        WS_CHECK_INT(e.select(s.size[DIM_M], s.size[DIM_N], s.size[DIM_K]) >= 0,
                     legal);
      }
  for (int i = 0; i < RANDOM_SHAPES; i++) {
    ws_shape s = synthetic_shape(&rng);
    s.size[DIM_M] += (int64_t)ws_rng_below(&rng, 3) * 8;
    s.size[DIM_N] -= (int64_t)ws_rng_below(&rng, 2) * 16;
    s.size[DIM_K] += (int64_t)ws_rng_below(&rng, 3) * 64;
    bool legal = ws_problem_check_shape(e.problem, &s, NULL) == WS_OK;
    WS_CHECK_INT(e.select(s.size[DIM_M], s.size[DIM_N], s.size[DIM_K]) >= 0,
                 legal);
  }
  WS_CHECK_INT(e.select(INT64_MIN, INT64_MIN, INT64_MIN), -1);
  WS_CHECK_INT(e.select(INT64_MAX, INT64_MAX, INT64_MAX), -1);
  ws_arena_destroy(e.arena);
}

static int64_t value(const emitted *e, int position, const ws_expr *expr,
                     const ws_shape *shape) {
  int64_t result = -1;
  const ws_scope scope = ws_candidate_scope(
      e->arena, entry_of(e, position)->candidate, shape, 304);
  WS_CHECK_INT(ws_expr_eval(expr, &scope, &result, NULL), WS_OK);
  return result;
}

static void compare_functions(const emitted *e, int p, const ws_shape *s) {
  const ws_rt_candidate *got = &e->dispatch->candidates[p];
  const ws_template *tmpl = entry_of(e, p)->candidate->tmpl;
  const long long sizes[] = {s->size[DIM_M], s->size[DIM_N], s->size[DIM_K]};
  WS_CHECK_INT(got->accepts(sizes),
               ws_candidate_broken_require(entry_of(e, p)->candidate, s, NULL) <
                   0);
  WS_CHECK_INT(got->workspace_bytes(sizes, 304),
               value(e, p, tmpl->workspace, s));
  const int launches = value(e, p, tmpl->launches[1].condition, s) ? 2 : 1;
  WS_CHECK_INT(got->launch_count, launches);
  for (int l = 0; l < launches; l++) {
    long long grid[3];
    got->launches[l].grid(sizes, 304, grid);
    for (int axis = 0; axis < 3; axis++)
      WS_CHECK_INT(grid[axis], value(e, p, tmpl->launches[l].grid[axis], s));
    WS_CHECK_INT(got->launches[l].condition(sizes, 304),
                 value(e, p, tmpl->launches[l].condition, s));
    WS_CHECK_INT(got->launches[l].threads,
                 value(e, p, tmpl->launches[l].threads, s));
  }
}

WS_TEST(shape_functions_are_the_templates_expressions) {
  emitted e;
  ws_rng rng;
  prepare_and_load(&e, ws_test_directory(), "-O1");
  ws_rng_init(&rng, 5);
  WS_CHECK_INT(e.dispatch->candidate_count, e.report.portfolio_count);
  for (int p = 0; p < e.report.portfolio_count; p++)
    for (int i = 0; i < 500; i++) {
      const ws_shape shape = synthetic_shape(&rng);
      compare_functions(&e, p, &shape);
    }
  ws_arena_destroy(e.arena);
}

WS_TEST(tables_hold_code_and_argument_slots) {
  emitted e;
  prepare_and_load(&e, ws_test_directory(), "-O1");
  WS_CHECK_INT(e.dispatch->abi_version, WS_RT_ABI_VERSION);
  WS_CHECK_TEXT(e.dispatch->target, "gfx942");
  WS_CHECK_TEXT(e.dispatch->provenance, "estimate:test");
  WS_CHECK_INT(e.dispatch->arg_count, e.problem->arg_count);
  for (int p = 0; p < e.report.portfolio_count; p++) {
    const ws_rt_candidate *got = &e.dispatch->candidates[p];
    const ws_dispatch_entry *want = entry_of(&e, p);
    WS_CHECK_TEXT(got->id, want->candidate->id.hex);
    WS_CHECK_INT(got->code_object_size, want->code_object_size);
    WS_CHECK(
        !memcmp(got->code_object, want->code_object, want->code_object_size));
    WS_CHECK_INT((uintptr_t)got->code_object % 8, 0);
    const ws_rt_launch *gemm = &got->launches[0], *reduce = &got->launches[1];
    WS_CHECK_TEXT(gemm->kernel, "gemm");
    WS_CHECK_INT(gemm->kernarg_bytes, 36); /* k ends there; hidden ones not */
    WS_CHECK_INT(gemm->arg_count, 6);
    WS_CHECK_INT(gemm->args[5].offset, 32);
    WS_CHECK_INT(gemm->args[5].size, 4);
    WS_CHECK_INT(gemm->args[5].slot, ws_problem_arg_index(e.problem, "k"));
    if (got->launch_count == 1) /* no reduction without slices */
      continue;
    WS_CHECK_INT(reduce->kernarg_bytes, 24);
    WS_CHECK_INT(reduce->args[0].slot,
                 ws_problem_arg_index(e.problem, "workspace"));
  }
  ws_arena_destroy(e.arena);
}

WS_TEST(tuned_shapes_are_those_with_times) {
  emitted e;
  prepare(&e, ws_test_directory());
  e.matrix.provenance = "sim:test";
  emit_into(&e, e.directory);
  e.dispatch = synthetic_symbol(
      synthetic_load(e.arena, e.directory, "fp8_gemm", "-O1"), "fp8_gemm");
  WS_CHECK_INT(e.dispatch->tuned_count, e.matrix.shape_count);
  for (int s = 0; s < e.matrix.shape_count; s++)
    for (int d = 0; d < 3; d++)
      WS_CHECK_INT(e.dispatch->tuned[3 * s + d], e.matrix.shapes[s].size[d]);
  ws_arena_destroy(e.arena);
}

WS_TEST(estimates_tune_nothing) {
  emitted e;
  prepare_and_load(&e, ws_test_directory(), "-O1");
  WS_CHECK_INT(e.dispatch->tuned_count, 0);
  WS_CHECK(!e.dispatch->tuned);
  ws_arena_destroy(e.arena);
}

WS_TEST(shapes_without_a_time_are_not_tuned) {
  const ws_shape shapes[] = {gemm_shape(16, 32, 128), gemm_shape(48, 64, 256),
                             gemm_shape(80, 96, 384)};
  double us[] = {NAN, 1, NAN, INFINITY, INFINITY, 2};
  ws_strbuf text;
  ws_strbuf_init(&text);
  WS_CHECK_INT(
      ws__emit_tuned(&(ws_matrix){shapes, 3, 2, us, "sim:test"}, &text), 2);
  WS_CHECK_CONTAINS(text.data, "[][3] = {\n  {16,32,128}, {80,96,384},};");
  ws_strbuf_deinit(&text);
}

WS_TEST(explain_names_rule_kernel_and_provenance) {
  emitted e;
  char text[1024], small[16];
  prepare_and_load(&e, ws_test_directory(), "-O1");
  int pick = e.select(1024, 7168, 256);
  WS_CHECK(e.explain(1024, 7168, 256, text, sizeof text) == text);
  WS_CHECK_CONTAINS(text, "m=1024 n=7168 k=256: rule ");
  WS_CHECK_CONTAINS(text, e.dispatch->candidates[pick].id);
  WS_CHECK_CONTAINS(text, "estimate:test");
  WS_CHECK_CONTAINS(e.explain(16, 17, 128, text, sizeof text), "not a legal");
  WS_CHECK_INT(strlen(e.explain(1024, 7168, 256, small, sizeof small)), 15);
  ws_arena_destroy(e.arena);
}

/* ---- files
 * ------------------------------------------------------------------------
 */

static int count_files(const char *directory) {
  DIR *folder = opendir(directory);
  WS_CHECK(folder != NULL);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

WS_TEST(a_second_run_writes_the_same_bytes) {
  emitted e;
  prepare(&e, ws_test_directory());
  emit_into(&e, e.directory);
  ws_dispatch_report first = e.report;
  emit_into(&e, ws_arena_printf(e.arena, "%s/again", ws_test_directory()));
  WS_CHECK_INT(first.file_count, e.report.file_count);
  WS_CHECK_INT(first.file_count, first.portfolio_count + 3);
  WS_CHECK_INT(count_files(e.directory), first.file_count);
  for (int i = 0; i < first.file_count; i++) {
    char *one, *two;
    size_t one_size, two_size;
    WS_CHECK_INT(ws_file_read(e.arena, first.files[i], &one, &one_size, NULL),
                 WS_OK);
    WS_CHECK_INT(
        ws_file_read(e.arena, e.report.files[i], &two, &two_size, NULL), WS_OK);
    WS_CHECK(one_size == two_size && !memcmp(one, two, one_size));
  }
  ws_arena_destroy(e.arena);
}

WS_TEST(banner_and_json_say_estimate) {
  emitted e;
  char *header, *json;
  size_t size;
  prepare(&e, ws_test_directory());
  emit_into(&e, e.directory);
  WS_CHECK_INT(
      ws_file_read(e.arena,
                   ws_arena_printf(e.arena, "%s/fp8_gemm.h", e.directory),
                   &header, &size, NULL),
      WS_OK);
  WS_CHECK_CONTAINS(header, "do not edit");
  WS_CHECK_CONTAINS(header, "no kernel here has been timed");
  WS_CHECK_CONTAINS(header, "FP8_GEMM_ARG_WORKSPACE = 5");
  WS_CHECK_INT(
      ws_file_read(e.arena,
                   ws_arena_printf(e.arena, "%s/fp8_gemm.json", e.directory),
                   &json, &size, NULL),
      WS_OK);
  cJSON *root = cJSON_Parse(json);
  WS_CHECK(root != NULL);
  WS_CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(root, "portfolio")),
               e.report.portfolio_count);
  WS_CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(root, "rules")),
               e.report.leaf_count);
  WS_CHECK_TEXT(cJSON_GetObjectItem(root, "provenance")->valuestring,
                "estimate:test");
  cJSON_Delete(root);
  ws_arena_destroy(e.arena);
}

static const char *emitted_text(const emitted *e, const char *name) {
  char *text;
  size_t size;
  WS_CHECK_INT(
      ws_file_read(e->arena,
                   ws_arena_printf(e->arena, "%s/%s", e->directory, name),
                   &text, &size, NULL),
      WS_OK);
  return text;
}

WS_TEST(what_a_simulator_cannot_tell_apart_is_named) {
  emitted e;
  prepare(&e, ws_test_directory());
  emit_into(&e, e.directory);
  WS_CHECK(!strstr(emitted_text(&e, "fp8_gemm.h"), "cannot put in order"));
  WS_CHECK(!strstr(emitted_text(&e, "fp8_gemm.json"), "equal_below"));
  const int exact = e.report.portfolio_count;
  e.matrix.provenance = ws_arena_printf(e.arena, "sim:gfx942-model-%d:MI300X",
                                        ws_sim_error_model);
  emit_into(&e, e.directory);
  WS_CHECK_CONTAINS(emitted_text(&e, "fp8_gemm.h"),
                    "apart on a shape, which the model cannot put in order,");
  WS_CHECK_CONTAINS(emitted_text(&e, "fp8_gemm.json"), "\"equal_below\":");
  WS_CHECK(e.report.portfolio_count <= exact);
  ws_arena_destroy(e.arena);
}

WS_TEST(an_unwritable_directory_is_one_line) {
  emitted e;
  ws_diag diag = {""};
  prepare(&e, ws_test_directory());
  /* below a file: refused to root as well */
  const char *file = ws_arena_printf(e.arena, "%s/file", ws_test_directory());
  WS_CHECK_INT(ws_file_write_atomic(file, "x", 1, NULL), WS_OK);
  WS_CHECK_INT(emit_as(&e, "fp8_gemm",
                       ws_arena_printf(e.arena, "%s/out", file), &diag),
               WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, file);
  WS_CHECK(!strchr(diag.text, '\n'));
  ws_arena_destroy(e.arena);
}

WS_TEST(a_name_must_be_an_identifier) {
  emitted e;
  prepare(&e, ws_test_directory());
  static const char *const bad[] = {"", "9lives", "a-b", "a b", "a/b"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    WS_CHECK_INT(emit_as(&e, bad[i], e.directory, NULL), WS_USAGE);
  }
  ws_arena_destroy(e.arena);
}
