/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is put comes back, prefixes, duplicates, lists and counts. Expected
 * numbers are worked out by hand.
 */
#include "../gemm_shape.h"
#include "fixture.h"

typedef struct store {
  ws_arena *arena;
  ws_archive *archive;
  const ws_template *tmpl;
  int64_t run;
} store;

static store open_store(void) {
  store s = {.arena = ws_arena_create()};
  s.tmpl = fixture_template(s.arena);
  MUST(ws_archive_open(":memory:", true, &s.archive, diag));
  MUST(ws_archive_put_template(s.archive, s.tmpl, template_text, NULL, diag));
  s.run = fixture_run(s.archive, s.tmpl, 7);
  return s;
}

static void close_store(store *s) {
  ws_archive_close(s->archive);
  ws_arena_destroy(s->arena);
}

static void put(store *s, const ws_candidate_row *row,
                const ws_candidate *candidate, const ws_measurement *items,
                int count) {
  MUST(ws_archive_put_candidate(s->archive, row, candidate, NULL, 0, items,
                                count, diag));
}

WS_TEST(template_comes_back_from_its_records) {
  store s = open_store();
  const ws_template *back;
  ws_archived_template row;
  MUST(ws_archive_get_template(s.archive, s.arena, s.tmpl->hash.hex, &back,
                               &row, diag));
  WS_CHECK_TEXT(row.text, template_text);
  WS_CHECK_TEXT(row.version, "3");
  WS_CHECK_TEXT(back->name, "small");
  WS_CHECK_TEXT(back->purpose, "for the tests");
  WS_CHECK_INT(back->param_count, 2);
  WS_CHECK_TEXT(back->params[1].global, "ws.tile_m");
  WS_CHECK_INT(back->params[1].value_count, 6);
  WS_CHECK_INT(back->params[1].values[5], 512);
  WS_CHECK_INT(back->params[1].default_value, 64);
  WS_CHECK_INT(back->params[1].line, 3);
  WS_CHECK_INT(back->require_count, 1);
  WS_CHECK(back->requires[0].uses_shape);
  WS_CHECK_TEXT(back->requires[0].reason, "a tile fits");
  WS_CHECK_TEXT(ws_expr_text(back->lds[0].bytes), "tile_m * 128");
  WS_CHECK_TEXT(ws_expr_text(back->launches[0].grid[0]), "ceildiv(m, tile_m)");
  WS_CHECK_TEXT(ws_expr_text(back->launches[0].condition), "k > 0");
  WS_CHECK_INT(back->launches[0].argument_count, 3);
  WS_CHECK_TEXT(back->launches[0].arguments[2], "c");
  WS_CHECK_TEXT(ws_expr_text(back->workspace), "m * n * 4");
  WS_CHECK_INT(back->regions[0].variant_count, 2);
  WS_CHECK_TEXT(back->regions[0].variants[1].function, "stage_slow");
  WS_CHECK(back->allow_scratch);
  /* So the same point has the same name on both. */
  WS_CHECK_TEXT(ws_candidate_create(s.arena, back)->id.hex,
                ws_candidate_create(s.arena, s.tmpl)->id.hex);
  close_store(&s);
}

/* What only templates for NVIDIA declare. */
WS_TEST(tensor_maps_and_occupancy_come_back) {
  static const char *const head[] = {"tma", "1", "fp8_gemm_blockscale",
                                     "sm_90a", "for the tests"};
  static const char *const tile[] = {"tile", "ws.tile", "64 128", "rows", "64"};
  static const char *const launch[] = {
      "kernel", "m", "1", "1", "384", "1", "a_map as_map m"};
  static const char *const occupancy[] = {"kernel", "tile / 64", "1"};
  static const char *const map[] = {"a_map", "a",   "u8",   "k",
                                    "m",     "128", "tile", "128"};
  static const char *const scales[] = {"as_map",  "as",   "f32", "m",
                                       "k / 128", "tile", "1",   "0"};
  static const ws_record items[] = {
      {"template", head, 5, 0},  {"param", tile, 5, 2},
      {"launch", launch, 7, 3},  {"occupancy", occupancy, 3, 4},
      {"tensor_map", map, 8, 5}, {"tensor_map", scales, 8, 6}};
  static const ws_records records = {items, sizeof items / sizeof items[0]};
  store s = open_store();
  const ws_template *tmpl, *back;
  MUST(ws_template_from_records(s.arena, &records, "tma.ll",
                                ws_hash_bytes("tma", 3), &tmpl, diag));
  MUST(ws_archive_put_template(s.archive, tmpl, "tma", NULL, diag));
  MUST(ws_archive_get_template(s.archive, s.arena, tmpl->hash.hex, &back, NULL,
                               diag));
  WS_CHECK_INT(back->occupancy_count, 1);
  WS_CHECK_TEXT(back->occupancies[0].kernel, "kernel");
  WS_CHECK_TEXT(ws_expr_text(back->occupancies[0].cluster), "tile / 64");
  WS_CHECK_TEXT(ws_expr_text(back->occupancies[0].workgroups), "1");
  WS_CHECK_INT(back->tensor_map_count, 2);
  WS_CHECK_TEXT(back->tensor_maps[0].name, "a_map");
  WS_CHECK_TEXT(back->tensor_maps[0].argument, "a");
  WS_CHECK_INT(back->tensor_maps[0].element, WS_ELEMENT_U8);
  WS_CHECK_TEXT(ws_expr_text(back->tensor_maps[0].box_outer), "tile");
  WS_CHECK_INT(back->tensor_maps[1].element, WS_ELEMENT_F32);
  WS_CHECK_TEXT(ws_expr_text(back->tensor_maps[1].inner), "m");
  WS_CHECK_TEXT(ws_expr_text(back->tensor_maps[1].outer), "k / 128");
  WS_CHECK_TEXT(ws_expr_text(back->tensor_maps[1].box_inner), "tile");
  WS_CHECK_TEXT(ws_expr_text(back->tensor_maps[1].swizzle), "0");
  WS_CHECK_INT(back->tensor_maps[1].line, 6);
  close_store(&s);
}

WS_TEST(template_by_prefix) {
  store s = open_store();
  const ws_template *back;
  char *prefix = ws_arena_strndup(s.arena, s.tmpl->hash.hex, 6);
  MUST(ws_archive_get_template(s.archive, s.arena, prefix, &back, NULL, diag));
  WS_CHECK_TEXT(back->hash.hex, s.tmpl->hash.hex);
  MUST_FAIL(
      ws_archive_get_template(s.archive, s.arena, "zz", &back, NULL, diag),
      WS_INPUT, "no template 'zz'");
  close_store(&s);
}

WS_TEST(a_run_alike_is_resumed) {
  store s = open_store();
  WS_CHECK_INT(fixture_run(s.archive, s.tmpl, 7), s.run);
  WS_CHECK(fixture_run(s.archive, s.tmpl, 8) != s.run);
  WS_CHECK(fixture_run(s.archive, s.tmpl, UINT64_MAX) != s.run);
  WS_CHECK_INT(fixture_run(s.archive, s.tmpl, UINT64_MAX),
               fixture_run(s.archive, s.tmpl, UINT64_MAX));
  close_store(&s);
}

WS_TEST(candidate_comes_back) {
  store s = open_store();
  ws_candidate *candidate = ws_candidate_create(s.arena, s.tmpl);
  MUST(ws_candidate_set(candidate, "tile_m=128", diag));
  MUST(ws_candidate_set_variants(candidate, "stage=stage_wide", diag));
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 41);
  row.parent_id = "0123";
  row.move = "tile_m 64 -> 128";
  row.verdict = "wrong";
  row.stage = "sanitize";
  row.reason = "LDS race";
  row.ir_hash = "aa";
  row.code_hash = "bb";
  put(&s, &row, candidate, NULL, 0);
  bool found;
  ws_candidate_row back;
  MUST(ws_archive_get_candidate(s.archive, s.arena, candidate->id.hex, &found,
                                &back, diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(back.template_hash, s.tmpl->hash.hex);
  WS_CHECK_TEXT(back.template_name, "small");
  WS_CHECK_TEXT(back.layout, "kmajor");
  WS_CHECK_TEXT(back.assignments, "layout=0;tile_m=128");
  WS_CHECK_TEXT(back.variants, "stage=stage_wide");
  WS_CHECK_TEXT(back.proposer, "random");
  WS_CHECK_TEXT(back.parent_id, "0123");
  WS_CHECK_TEXT(back.move, "tile_m 64 -> 128");
  WS_CHECK_INT(back.run_id, s.run);
  WS_CHECK_INT(back.sequence, 41);
  WS_CHECK_TEXT(back.verdict, "wrong");
  WS_CHECK_TEXT(back.stage, "sanitize");
  WS_CHECK_TEXT(back.reason, "LDS race");
  WS_CHECK_TEXT(back.result_json, row.result_json);
  WS_CHECK_TEXT(back.ir_hash, "aa");
  WS_CHECK_TEXT(back.code_hash, "bb");
  ws_candidate *loaded;
  MUST(ws_archive_load_candidate(s.archive, s.arena, &back, s.tmpl, &loaded,
                                 diag));
  WS_CHECK_TEXT(loaded->id.hex, candidate->id.hex);
  WS_CHECK_INT(loaded->values[1], 128);
  WS_CHECK_INT(loaded->bodies[0].variant, 0);
  close_store(&s);
}

WS_TEST(recording_twice_changes_nothing) {
  store s = open_store();
  ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, 1);
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1);
  ws_measurement first = {
      gemm_shape(16, 16, 128), 5, "lds", "estimate:a", 0, 0};
  put(&s, &row, candidate, &first, 1);
  row.verdict = "crash";
  ws_measurement second = {
      gemm_shape(32, 16, 128), 6, "lds", "estimate:a", 0, 0};
  put(&s, &row, candidate, &second, 1);
  bool found;
  ws_candidate_row back;
  ws_measurement *items;
  int count;
  MUST(ws_archive_get_candidate(s.archive, s.arena, row.id, &found, &back,
                                diag));
  WS_CHECK_TEXT(back.verdict, "ok");
  MUST(ws_archive_get_measurements(s.archive, s.arena, row.id, &items, &count,
                                   diag));
  WS_CHECK_INT(count, 1);
  WS_CHECK_NEAR(items[0].us, 5, 0);
  close_store(&s);
}

WS_TEST(candidate_by_prefix) {
  store s = open_store();
  char ids[64][33];
  for (int i = 0; i < 64; i++) {
    fixture_put(s.archive, s.arena, s.tmpl, s.run, i);
    memcpy(ids[i], fixture_candidate(s.arena, s.tmpl, i)->id.hex,
           sizeof ids[i]);
  }
  bool found;
  ws_candidate_row row;
  MUST(ws_archive_get_candidate(s.archive, s.arena,
                                ws_arena_strndup(s.arena, ids[5], 12), &found,
                                &row, diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(row.id, ids[5]);
  /* 64 ids, 16 first digits: some digit begins several. */
  int several = 0;
  for (int digit = 0; digit < 16; digit++) {
    char prefix[2] = {"0123456789abcdef"[digit], '\0'};
    int matches = 0;
    for (int i = 0; i < 64; i++)
      matches += ids[i][0] == prefix[0];
    if (matches < 2)
      continue;
    several++;
    MUST_FAIL(ws_archive_get_candidate(s.archive, s.arena, prefix, &found, &row,
                                       diag),
              WS_INPUT, "begins several");
  }
  WS_CHECK(several > 0);
  MUST(ws_archive_get_candidate(s.archive, s.arena, "xyz", &found, &row, diag));
  WS_CHECK(!found);
  MUST_FAIL(
      ws_archive_get_candidate(s.archive, s.arena, "", &found, &row, diag),
      WS_INPUT, "empty");
  close_store(&s);
}

WS_TEST(bodies_are_kept_and_shared) {
  store s = open_store();
  ws_candidate *candidate = ws_candidate_create(s.arena, s.tmpl);
  candidate->bodies[0] = (ws_body){
      .variant = -1, .language = "opencl", .text = "void f(void) {}\n"};
  ws_candidate_update_id(candidate);
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1), back;
  put(&s, &row, candidate, NULL, 0);
  bool found;
  ws_candidate *loaded;
  MUST(ws_archive_get_candidate(s.archive, s.arena, row.id, &found, &back,
                                diag));
  MUST(ws_archive_load_candidate(s.archive, s.arena, &back, s.tmpl, &loaded,
                                 diag));
  WS_CHECK_TEXT(loaded->bodies[0].text, "void f(void) {}\n");
  WS_CHECK_TEXT(loaded->bodies[0].language, "opencl");
  WS_CHECK_TEXT(loaded->id.hex, row.id);
  back.assignments = "tile_m=16"; /* not what the id stands for */
  MUST_FAIL(ws_archive_load_candidate(s.archive, s.arena, &back, s.tmpl,
                                      &loaded, diag),
            WS_INPUT, "does not fit template small");
  close_store(&s);
}

WS_TEST(code_objects) {
  store s = open_store();
  ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, 1);
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1);
  const void *data;
  size_t size;
  put(&s, &row, candidate, NULL, 0);
  MUST_FAIL(ws_archive_get_code_object(s.archive, s.arena, row.id, &data, &size,
                                       diag),
            WS_INPUT, "no code object");
  MUST(ws_archive_put_code_object(s.archive, row.id, "\0ELF\0x", 6, diag));
  MUST(ws_archive_get_code_object(s.archive, s.arena, row.id, &data, &size,
                                  diag));
  WS_CHECK_INT(size, 6);
  WS_CHECK(!memcmp(data, "\0ELF\0x", 6));
  MUST_FAIL(ws_archive_put_code_object(s.archive, "none", "x", 1, diag),
            WS_INPUT, "no build of candidate 'none'");
  close_store(&s);
}

WS_TEST(a_build_comes_before_its_candidate) {
  store s = open_store();
  ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, 1);
  const char *id = candidate->id.hex;
  ws_build_result build = {.verdict = WS_VERDICT_OK,
                           .stage = "",
                           .reason = "",
                           .ir_hash = "aa",
                           .code_hash = "bb",
                           .compiler = "by hand",
                           .code_object = "code",
                           .code_object_size = 4};
  ws_build_result back;
  bool added, found;
  MUST(ws_archive_get_build(s.archive, s.arena, id, &found, &back, diag));
  WS_CHECK(!found);
  MUST(ws_archive_put_build(s.archive, id, &build, &added, diag));
  WS_CHECK(added);
  build.verdict = WS_VERDICT_TIMEOUT; /* the first one stays */
  build.code_object = NULL;
  build.code_object_size = 0;
  MUST(ws_archive_put_build(s.archive, id, &build, &added, diag));
  WS_CHECK(!added);
  MUST(ws_archive_get_build(s.archive, s.arena, id, &found, &back, diag));
  WS_CHECK(found && back.verdict == WS_VERDICT_OK);
  WS_CHECK_TEXT(back.code_hash, "bb");
  WS_CHECK_TEXT(back.compiler, "by hand");
  WS_CHECK_INT(back.code_object_size, 4);
  WS_CHECK(!memcmp(back.code_object, "code", 4));
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1), read;
  MUST(ws_archive_get_candidate(s.archive, s.arena, id, &found, &read, diag));
  WS_CHECK(!found);
  put(&s, &row, candidate, NULL, 0);
  MUST(ws_archive_get_candidate(s.archive, s.arena, id, &found, &read, diag));
  WS_CHECK(found);
  WS_CHECK_CONTAINS(read.result_json, "by hand");
  close_store(&s);
}

WS_TEST(twins) {
  store s = open_store();
  static const struct {
    const char *verdict, *ir, *code;
  } rows[] = {{"duplicate", "i1", "c1"},
              {"ok", "i1", "c1"},
              {"ok", "i1", "c2"},
              {"wrong", "", ""}};
  char ids[4][33];
  for (int i = 0; i < 4; i++) {
    ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, i);
    ws_candidate_row row = fixture_row(s.arena, candidate, s.run, i);
    row.verdict = rows[i].verdict;
    row.ir_hash = rows[i].ir;
    row.code_hash = rows[i].code;
    put(&s, &row, candidate, NULL, 0);
    memcpy(ids[i], candidate->id.hex, sizeof ids[i]);
  }
  bool found;
  ws_candidate_row twin;
  MUST(ws_archive_find_twin(s.archive, s.arena, "i1", false, &found, &twin,
                            diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(twin.id, ids[1]); /* the first that is no duplicate */
  MUST(ws_archive_find_twin(s.archive, s.arena, "c2", true, &found, &twin,
                            diag));
  WS_CHECK(found);
  WS_CHECK_TEXT(twin.id, ids[2]);
  MUST(ws_archive_find_twin(s.archive, s.arena, "c2", false, &found, &twin,
                            diag));
  WS_CHECK(!found);
  MUST(
      ws_archive_find_twin(s.archive, s.arena, "", false, &found, &twin, diag));
  WS_CHECK(!found);
  close_store(&s);
}

WS_TEST(measurements_are_added_never_changed) {
  store s = open_store();
  ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, 1);
  ws_candidate_row row = fixture_row(s.arena, candidate, s.run, 1);
  ws_measurement first = {
      gemm_shape(16, 16, 128), 5.25, "lds", "estimate:a", 0, 0};
  put(&s, &row, candidate, &first, 1);
  ws_measurement more[] = {
      {gemm_shape(16, 16, 128), 9, "hbm", "estimate:a", 0, 0},
      {gemm_shape(16, 16, 128), 7, "hbm", "hip:x", 0, 0},
      {gemm_shape(16, 16, 256), 8, "mfma", "estimate:a", 0, 0}};
  MUST(ws_archive_put_measurements(s.archive, row.id, more, 3, diag));
  ws_measurement *items;
  int count;
  MUST(ws_archive_get_measurements(s.archive, s.arena, row.id, &items, &count,
                                   diag));
  WS_CHECK_INT(count, 3);
  WS_CHECK_NEAR(items[0].us, 5.25, 0);
  WS_CHECK_TEXT(items[0].bound, "lds");
  WS_CHECK_INT(items[1].shape.size[DIM_K], 256);
  WS_CHECK_TEXT(items[2].provenance, "hip:x");
  MUST(ws_archive_get_measurements(s.archive, s.arena, "none", &items, &count,
                                   diag));
  WS_CHECK_INT(count, 0);
  close_store(&s);
}

/* Four candidates:
 *   0  2 and 8 us on two shapes: geometric mean 4
 *   1  3 us on both: 3
 *   2  1 us on one shape: behind those with two
 *   3  wrong, without times                                              */
static void put_four(store *s, char ids[4][33]) {
  const ws_shape small = gemm_shape(16, 16, 128),
                 large = gemm_shape(32, 32, 128);
  const ws_measurement times[4][2] = {{{small, 2, "lds", "estimate:a", 0, 0},
                                       {large, 8, "lds", "estimate:a", 0, 0}},
                                      {{small, 3, "lds", "estimate:a", 0, 0},
                                       {large, 3, "lds", "estimate:a", 0, 0}},
                                      {{small, 1, "lds", "estimate:a", 0, 0}}};
  const int counts[4] = {2, 2, 1, 0};
  for (int i = 0; i < 4; i++) {
    ws_candidate *candidate = fixture_candidate(s->arena, s->tmpl, i);
    ws_candidate_row row = fixture_row(s->arena, candidate, s->run, i);
    row.verdict = i == 3 ? "wrong" : "ok";
    row.layout = i == 1 ? "mnmajor" : "kmajor";
    put(s, &row, candidate, times[i], counts[i]);
    memcpy(ids[i], candidate->id.hex, sizeof ids[i]);
  }
}

WS_TEST(list_by_score) {
  store s = open_store();
  char ids[4][33];
  put_four(&s, ids);
  ws_candidate_summary *items;
  int count;
  ws_archive_filter filter = {.order_by_score = true};
  MUST(ws_archive_list(s.archive, s.arena, &filter, &items, &count, diag));
  WS_CHECK_INT(count, 4);
  const int order[] = {1, 0, 2, 3};
  const double means[] = {3, 4, 1, 0};
  for (int i = 0; i < 4; i++) {
    WS_CHECK_TEXT(items[i].row.id, ids[order[i]]);
    WS_CHECK_NEAR(items[i].geomean_us, means[i], 1e-12);
  }
  WS_CHECK_INT(items[0].measured_shapes, 2);
  WS_CHECK_TEXT(items[0].provenance, "estimate:a");
  WS_CHECK_TEXT(items[3].provenance, "");
  filter.limit = 2;
  MUST(ws_archive_list(s.archive, s.arena, &filter, &items, &count, diag));
  WS_CHECK_INT(count, 2);
  close_store(&s);
}

WS_TEST(list_filters) {
  store s = open_store();
  char ids[4][33];
  put_four(&s, ids);
  const struct {
    ws_archive_filter filter;
    int want;
  } cases[] = {
      {{.layout = "kmajor"}, 3},   {{.layout = "mnmajor"}, 1},
      {{.verdict = "ok"}, 3},      {{.verdict = "wrong"}, 1},
      {{.verdict = "crash"}, 0},   {{.template_name = "small"}, 4},
      {{.template_name = "x"}, 0}, {{.problem = "fp8_gemm_blockscale"}, 4},
      {{.problem = "x"}, 0},       {{.target = "gfx942"}, 4},
      {{.target = "gfx90a"}, 0},   {{.run_id = s.run}, 4},
      {{.run_id = s.run + 1}, 0},  {{.layout = "kmajor", .verdict = "ok"}, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_candidate_summary *items;
    int count;
    int64_t verdicts[WS_VERDICT_COUNT], sum = 0;
    MUST(ws_archive_list(s.archive, s.arena, &cases[i].filter, &items, &count,
                         diag));
    WS_CHECK_INT(count, cases[i].want);
    MUST(
        ws_archive_verdict_counts(s.archive, &cases[i].filter, verdicts, diag));
    for (int v = 0; v < WS_VERDICT_COUNT; v++)
      sum += verdicts[v];
    WS_CHECK_INT(sum, cases[i].want);
  }
  ws_candidate_summary *items;
  int count;
  MUST(ws_archive_list(s.archive, s.arena, NULL, &items, &count, diag));
  for (int i = 0; i < 4; i++) /* in the order of recording */
    WS_CHECK_TEXT(items[i].row.id, ids[i]);
  close_store(&s);
}

WS_TEST(provenances_are_not_mixed) {
  store s = open_store();
  char ids[4][33];
  put_four(&s, ids);
  ws_measurement hip = {gemm_shape(16, 16, 128), 100, "", "hip:MI300X", 0, 0};
  MUST(ws_archive_put_measurements(s.archive, ids[1], &hip, 1, diag));
  ws_candidate_summary *items;
  int count;
  MUST(ws_archive_list(s.archive, s.arena, NULL, &items, &count, diag));
  WS_CHECK_INT(count, 5);
  ws_archive_filter filter = {.provenance = "hip:MI300X",
                              .order_by_score = true};
  MUST(ws_archive_list(s.archive, s.arena, &filter, &items, &count, diag));
  WS_CHECK_INT(count, 4);
  WS_CHECK_TEXT(items[0].row.id, ids[1]);
  WS_CHECK_NEAR(items[0].geomean_us, 100, 1e-9);
  WS_CHECK_INT(items[1].measured_shapes, 0);
  close_store(&s);
}

static bool holds(const char *const *ids, int count, const char *id) {
  for (int i = 0; i < count; i++)
    if (!strcmp(ids[i], id))
      return true;
  return false;
}

/* Of one shape and provenance, those that are ok, below and not at the limit.
 */
WS_TEST(counts_below_a_time) {
  store s = open_store();
  char ids[4][33];
  put_four(&s, ids);
  const ws_shape small = gemm_shape(16, 16, 128),
                 large = gemm_shape(32, 32, 128);
  const struct {
    const char *layout, *provenance;
    const ws_shape *shape;
    double us;
    int64_t want;
  } cases[] = {{NULL, "estimate:a", &small, 3.1, 3},
               {NULL, "estimate:a", &small, 3, 2},
               {"kmajor", "estimate:a", &small, 3.1, 2},
               {NULL, "estimate:a", &large, 8.1, 2},
               {NULL, "sim:a", &small, 9, 0}};
  ws_archive_filter filter = {.problem = s.tmpl->problem};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t count;
    filter.layout = cases[i].layout;
    filter.provenance = cases[i].provenance;
    MUST(ws_archive_count_below(s.archive, s.arena, &filter, cases[i].shape,
                                cases[i].us, &count, diag));
    WS_CHECK_INT(count, cases[i].want);
  }
  MUST(ws_archive_refute(s.archive, ids[2], "wrong", "here", diag));
  filter = (ws_archive_filter){.provenance = "estimate:a"};
  int64_t count;
  MUST(ws_archive_count_below(s.archive, s.arena, &filter, &small, 9, &count,
                              diag));
  WS_CHECK_INT(count, 2);
  close_store(&s);
}

WS_TEST(best_per_shape) {
  store s = open_store();
  char ids[4][33];
  const char *const *best;
  int count;
  put_four(&s, ids);
  /* small: 2 (1 us); large: 1 (3 us); by score: 1. */
  MUST(ws_archive_best(s.archive, s.arena, NULL, 1, &best, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK(holds(best, count, ids[1]) && holds(best, count, ids[2]));
  MUST(ws_archive_best(s.archive, s.arena, NULL, 2, &best, &count, diag));
  WS_CHECK_INT(count, 3);
  ws_archive_filter filter = {.layout = "kmajor"};
  MUST(ws_archive_best(s.archive, s.arena, &filter, 1, &best, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK(holds(best, count, ids[0]) && holds(best, count, ids[2]));
  close_store(&s);
}
