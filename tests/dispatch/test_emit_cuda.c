/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What ws_dispatch_emit writes for sm_90a: tensor maps, dynamic shared memory,
 * PTX and cubin, as C99 and as C++. The template is made up; every number that
 * is expected is worked out by hand from it.
 */
#include "../gemm_shape.h"
#include "synthetic.h"
#include "ws_test_directory.h"

#include <cjson/cJSON.h>

/* a through a map, c through two of different boxes; the second kernel, which
 * only split > 1 launches, takes none. */
static const ws_template *tma_template(ws_arena *arena) {
  const ws_record items[] = {
      SYNTHETIC_RECORD("template", "tma", "1", "fp8_gemm_blockscale", "sm_90a",
                       "for tests"),
      SYNTHETIC_RECORD("param", "tile", "ws.tile", "64 128", "rows", "64"),
      SYNTHETIC_RECORD("param", "split", "ws.split", "1 2", "slices", "1"),
      SYNTHETIC_RECORD("tensor_map", "map_a", "a", "u8", "k", "m", "128",
                       "tile", "128"),
      SYNTHETIC_RECORD("tensor_map", "map_as", "as", "f32", "m",
                       "ceildiv(k, 128)", "2 * tile", "1", "0"),
      SYNTHETIC_RECORD("tensor_map", "map_c", "c", "bf16", "n", "m",
                       "tile == 64 ? 32 : 16", "64", "tile == 64 ? 64 : 32"),
      SYNTHETIC_RECORD("launch", "gemm", "min(ceildiv(m, tile), cu_count)", "1",
                       "split", "384", "1", "map_c map_a b map_as m"),
      SYNTHETIC_RECORD("launch", "reduce", "4", "1", "1", "128", "split > 1",
                       "workspace c m n"),
      SYNTHETIC_RECORD("workspace", "split > 1 ? 4 * split * m * n : 0"),
  };
  const ws_records records = {items, (int)(sizeof items / sizeof *items)};
  const ws_template *tmpl;
  ws_diag diag = {""};
  if (ws_template_from_records(arena, &records, "tma.ll",
                               ws_hash_bytes("tma", 3), &tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

static const ws_kernel_facts facts[] = {
    {.name = "gemm",
     .dynamic_lds = 198656,
     .args = {{"map_c", 0, 128},
              {"map_a", 128, 128},
              {"b", 256, 8},
              {"map_as", 320, 128},
              {"m", 448, 4}},
     .arg_count = 5},
    {.name = "reduce",
     .args = {{"workspace", 0, 8}, {"c", 8, 8}, {"m", 16, 4}, {"n", 20, 4}},
     .arg_count = 4}};

static const char ptx[] = ".version 8.4\n.target sm_90a\n";
static const char cubin[] = "\177ELF\002\001\001 and so on";

typedef struct tma {
  ws_arena *arena;
  const ws_problem *problem;
  ws_dispatch_entry entries[2];
  ws_build_result result;
  ws_matrix matrix;
  ws_dispatch_report report;
  const char *directory;
} tma;

/* Candidate 0 (tile 64, PTX) is the faster for m = 1024, candidate 1 (tile 128,
 * split 2, cubin) for the rest. */
static void prepare_tma(tma *t) {
  t->arena = ws_arena_create();
  t->problem = ws_problem_find("fp8_gemm_blockscale");
  t->directory = ws_arena_printf(t->arena, "%s/out", ws_test_directory());
  t->result = (ws_build_result){
      .kernels = facts, .kernel_count = 2, .code_hash = "c0de"};
  const ws_template *tmpl = tma_template(t->arena);
  static const char *const points[] = {"tile=64;split=1", "tile=128;split=2"};
  for (int i = 0; i < 2; i++) {
    ws_candidate *candidate = ws_candidate_create(t->arena, tmpl);
    WS_CHECK_INT(ws_candidate_set(candidate, points[i], NULL), WS_OK);
    t->entries[i] =
        (ws_dispatch_entry){.candidate = candidate, .result = &t->result};
  }
  t->entries[0].code_object = ptx;
  t->entries[0].code_object_size = sizeof ptx; /* with its NUL */
  t->entries[1].code_object = cubin;
  t->entries[1].code_object_size = sizeof cubin - 1;
  const ws_shape_set *set = ws_problem_shape_set(t->problem, "contest");
  double *us = ws_arena_alloc(t->arena, 2 * (size_t)set->count * sizeof *us);
  for (int s = 0; s < set->count; s++)
    for (int c = 0; c < 2; c++)
      us[2 * s + c] =
          (set->shapes[s].size[DIM_M] == 1024) == (c == 0) ? 10 : 20;
  t->matrix = (ws_matrix){set->shapes, set->count, 2, us, "cuda:test"};
}

static ws_status emit_tma(tma *t, ws_diag *diag) {
  const ws_selection_input input = {.problem = t->problem,
                                    .target = ws_target_find("sm_90a"),
                                    .entries = t->entries,
                                    .matrix = &t->matrix};
  const ws_dispatch_options options = {"fp8_gemm", t->directory, "kmajor-ocp"};
  return ws_dispatch_emit(t->arena, &input, &options, &t->report, diag);
}

static const ws_rt_dispatch *load_tma(tma *t) {
  ws_diag diag = {""};
  prepare_tma(t);
  if (emit_tma(t, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return synthetic_symbol(
      synthetic_load(t->arena, t->directory, "fp8_gemm", "-O1"), "fp8_gemm");
}

static const ws_rt_candidate *of_tile(const tma *t, const ws_rt_dispatch *table,
                                      int entry) {
  for (uint32_t i = 0; i < table->candidate_count; i++)
    if (!strcmp(table->candidates[i].id, t->entries[entry].candidate->id.hex))
      return &table->candidates[i];
  WS_FAIL("no candidate of entry %d", entry);
}

static void check_map(const ws_rt_tensor_map *map, int slot, int bytes,
                      unsigned box_inner, unsigned box_outer, unsigned swizzle,
                      long long inner, long long outer) {
  long long extents[2];
  WS_CHECK_INT(map->slot, slot);
  WS_CHECK_INT(map->element_bytes, bytes);
  WS_CHECK_INT(map->box_inner, box_inner);
  WS_CHECK_INT(map->box_outer, box_outer);
  WS_CHECK_INT(map->swizzle, swizzle);
  map->extents((const long long[]){96, 576, 512}, extents);
  WS_CHECK_INT(extents[0], inner);
  WS_CHECK_INT(extents[1], outer);
}

/* Slots of the problem: a 0, b 1, as 2, bs 3, c 4, workspace 5, m 6. The shape
 * is m = 96, n = 576, k = 512: 4 blocks of k. */
WS_TEST(tables_hold_tensor_maps) {
  tma t;
  const ws_rt_dispatch *table = load_tma(&t);
  WS_CHECK_INT(table->abi_version, WS_RT_ABI_VERSION);
  WS_CHECK_INT(table->driver, WS_RT_CUDA);
  WS_CHECK_TEXT(table->target, "sm_90a");
  WS_CHECK_TEXT(table->layout, "kmajor-ocp");
  const ws_rt_candidate *small = of_tile(&t, table, 0);
  WS_CHECK_INT(small->tensor_map_count, 3);
  check_map(&small->tensor_maps[0], 0, 1, 128, 64, 128, 512, 96);
  check_map(&small->tensor_maps[1], 2, 4, 128, 1, 0, 96, 4);
  check_map(&small->tensor_maps[2], 4, 2, 32, 64, 64, 576, 96);
  const ws_rt_candidate *large = of_tile(&t, table, 1);
  check_map(&large->tensor_maps[0], 0, 1, 128, 128, 128, 512, 96);
  check_map(&large->tensor_maps[1], 2, 4, 256, 1, 0, 96, 4);
  check_map(&large->tensor_maps[2], 4, 2, 16, 64, 32, 576, 96);
  ws_arena_destroy(t.arena);
}

WS_TEST(launches_name_maps_by_their_index) {
  tma t;
  const ws_rt_dispatch *table = load_tma(&t);
  const ws_rt_candidate *small = of_tile(&t, table, 0);
  WS_CHECK_INT(small->launch_count, 1);
  const ws_rt_launch *gemm = &small->launches[0];
  static const ws_rt_kernarg want[] = {
      {2, 0, 128}, {0, 128, 128}, {1, 256, 8}, {1, 320, 128}, {6, 448, 4}};
  WS_CHECK_INT(gemm->arg_count, 5);
  for (int i = 0; i < 5; i++) {
    WS_CHECK_INT(gemm->args[i].slot, want[i].slot);
    WS_CHECK_INT(gemm->args[i].offset, want[i].offset);
    WS_CHECK_INT(gemm->args[i].size, want[i].size);
  }
  WS_CHECK_INT(gemm->kernarg_bytes, 452);
  WS_CHECK_INT(gemm->dynamic_lds, 198656);
  WS_CHECK_INT(gemm->threads, 384);
  const ws_rt_candidate *large = of_tile(&t, table, 1);
  WS_CHECK_INT(large->launch_count, 2);
  WS_CHECK_INT(large->launches[1].dynamic_lds, 0);
  WS_CHECK_INT(large->launches[1].kernarg_bytes, 24);
  ws_arena_destroy(t.arena);
}

WS_TEST(ptx_ends_with_nul_in_memory_and_not_in_its_file) {
  tma t;
  const ws_rt_dispatch *table = load_tma(&t);
  const ws_rt_candidate *text = of_tile(&t, table, 0);
  const ws_rt_candidate *image = of_tile(&t, table, 1);
  WS_CHECK_INT(text->code_object_size, sizeof ptx);
  WS_CHECK(!memcmp(text->code_object, ptx, sizeof ptx));
  WS_CHECK_INT(image->code_object_size, sizeof cubin - 1);
  WS_CHECK(!memcmp(image->code_object, cubin, sizeof cubin - 1));
  const char *const files[] = {
      ws_arena_printf(t.arena, "%s/fp8_gemm-%s.ptx", t.directory, text->id),
      ws_arena_printf(t.arena, "%s/fp8_gemm-%s.cubin", t.directory, image->id)};
  const size_t sizes[] = {sizeof ptx - 1, sizeof cubin - 1};
  for (int i = 0; i < 2; i++) {
    char *data;
    size_t size;
    WS_CHECK_INT(ws_file_read(t.arena, files[i], &data, &size, NULL), WS_OK);
    WS_CHECK_INT(size, sizes[i]);
  }
  ws_arena_destroy(t.arena);
}

/* A text without NUL gets one, and nothing behind it counts. */
WS_TEST(ptx_without_nul) {
  tma t;
  prepare_tma(&t);
  t.entries[0].code_object_size = sizeof ptx - 1;
  WS_CHECK_INT(emit_tma(&t, NULL), WS_OK);
  const ws_rt_dispatch *table = synthetic_symbol(
      synthetic_load(t.arena, t.directory, "fp8_gemm", "-O1"), "fp8_gemm");
  const ws_rt_candidate *text = of_tile(&t, table, 0);
  WS_CHECK_INT(text->code_object_size, sizeof ptx);
  WS_CHECK_INT(text->code_object[sizeof ptx - 1], 0);
  ws_arena_destroy(t.arena);
}

WS_TEST(is_cplusplus_too) {
  tma t;
  load_tma(&t);
  const char *source = ws_arena_printf(t.arena, "%s/fp8_gemm.c", t.directory);
  const char *const argv[] = {WS_TEST_CC,      "-x",      "c++",
                              "-std=c++11",    "-Wall",   "-Wextra",
                              "-pedantic",     "-Werror", "-Wshadow",
                              "-fsyntax-only", "-I",      WS_TEST_INCLUDE,
                              source,          NULL};
  WS_CHECK_INT(synthetic_run(argv), 0);
  ws_arena_destroy(t.arena);
}

/* ---- what cannot be emitted ---- */

static void expect_refused(tma *t, const ws_kernel_facts *kernels,
                           const char *part) {
  ws_diag diag = {""};
  t->result.kernels = kernels;
  WS_CHECK_INT(emit_tma(t, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, part);
  WS_CHECK(!strchr(diag.text, '\n'));
}

WS_TEST(a_map_that_the_template_does_not_declare) {
  tma t;
  prepare_tma(&t);
  ws_kernel_facts wrong[2] = {facts[0], facts[1]};
  wrong[0].args[1].name = "b"; /* a problem's argument is no map */
  expect_refused(&t, wrong, "argument 'b' that neither problem");
  wrong[0].args[1] = (struct ws_kernarg){"map_a", 128, 8};
  expect_refused(&t, wrong, "argument 'map_a' that neither problem");
  ws_arena_destroy(t.arena);
}

WS_TEST(too_many_arguments) {
  tma t;
  prepare_tma(&t);
  ws_kernel_facts wrong[2] = {facts[0], facts[1]};
  wrong[0].args[4].offset = 2045;
  expect_refused(&t, wrong, "takes 2049 bytes of arguments, at most 2048");
  wrong[0].args[4].offset = 2044;
  t.result.kernels = wrong;
  WS_CHECK_INT(emit_tma(&t, NULL), WS_OK);
  ws_arena_destroy(t.arena);
}
