/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a template must say to have a counterpart in IREE, what is refused, and
 * that no name from outside leaves its comment. Whole specs of the shipped
 * archives: iree.py.
 */
#include "wavesmith/iree.h"

#include "../gemm_shape.h"
#include "hostile_names.h"
#include "ws_test.h"

#define RECORD(kind, ...)                                                      \
  {                                                                            \
    kind, (const char *const[]){__VA_ARGS__},                                  \
        (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), 1  \
  }

/* All that is needed, then what may be left out. */
static const ws_record records[] = {
    RECORD("template", "tiles", "1", "fp8_gemm_blockscale", "gfx942", "test"),
    RECORD("launch", "tiles", "1", "1", "1", "64", "1", "a b c m n k"),
    RECORD("param", "tile_m", "ws.tile_m", "16 24 64 128", "a number", "128"),
    RECORD("param", "tile_n", "ws.tile_n", "16 64 256", "a number", "64"),
    RECORD("param", "waves_m", "ws.waves_m", "1 2 4", "a number", "2"),
    RECORD("param", "waves_n", "ws.waves_n", "0 1 2 4", "a number", "1"),
    RECORD("param", "mfma", "ws.mfma", "0 4 16 32", "a number", "16"),
    RECORD("param", "tile_k", "ws.tile_k", "16 64 128", "a number", "64"),
    RECORD("param", "lds_pad", "ws.lds_pad", "0 8", "a number", "8"),
    RECORD("param", "split_k", "ws.split_k", "1 2", "a number", "1"),
    RECORD("param", "prefetch", "ws.prefetch", "0 1 2", "a number", "2")};
enum { NEEDED = 8, ALL = sizeof records / sizeof *records };

static const ws_template *make_template(ws_arena *arena, int count) {
  const ws_records some = {records, count};
  const ws_template *tmpl;
  ws_diag diag = {""};
  if (ws_template_from_records(arena, &some, "tiles.ll",
                               ws_hash_bytes("tiles", 5), &tmpl,
                               &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

static ws_candidate *make_candidate(ws_arena *arena, int count,
                                    const char *assignments) {
  ws_candidate *candidate =
      ws_candidate_create(arena, make_template(arena, count));
  ws_diag diag = {""};
  if (ws_candidate_set(candidate, assignments, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return candidate;
}

static ws_status open_contraction(const char *problem, const char *layout,
                                  const char *target, ws_iree_contraction *out,
                                  ws_diag *diag) {
  const ws_problem *found = ws_problem_find(problem);
  WS_CHECK(found);
  return ws_iree_contraction_of(found, layout, ws_target_find(target), out,
                                diag);
}

static ws_iree_contraction contraction(const char *problem,
                                       const char *layout) {
  ws_iree_contraction opened;
  ws_diag diag = {""};
  if (open_contraction(problem, layout, "gfx942", &opened, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return opened;
}

/* 2 x 4 waves with 2 x 2 blocks of 32 x 32 each make 128 x 256; 8 times 16 is
 * 128 deep. */
WS_TEST(config_counts_matrix_instructions) {
  ws_arena *arena = ws_arena_create();
  const ws_iree_contraction product =
      contraction("fp8_gemm_blockscale", "kmajor");
  const ws_candidate *candidate =
      make_candidate(arena, ALL,
                     "tile_m=128;tile_n=256;tile_k=128;waves_m=2;waves_n=4;"
                     "mfma=32;prefetch=0");
  ws_iree_config config;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_iree_config_of(&product, candidate, &config, &diag), WS_OK);
  WS_CHECK_TEXT(config.mma_kind, "MFMA_F32_32x32x16_F8E4M3FNUZ");
  WS_CHECK_INT(config.subgroup_m, 2);
  WS_CHECK_INT(config.subgroup_n, 2);
  WS_CHECK_INT(config.steps_k, 8);
  WS_CHECK_INT(config.threads, 512);
  WS_CHECK_INT(config.prefetch_stages, 1);
  WS_CHECK_TEXT(ws_iree_left_out(arena, candidate), "lds_pad=8");
  ws_arena_destroy(arena);
}

WS_TEST(what_may_be_left_out_has_a_meaning) {
  ws_arena *arena = ws_arena_create();
  const ws_iree_contraction product = contraction("gemm_bf16", "kmajor");
  const ws_candidate *candidate = make_candidate(arena, NEEDED, "");
  ws_iree_config config;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_iree_config_of(&product, candidate, &config, &diag), WS_OK);
  WS_CHECK_TEXT(config.mma_kind, "MFMA_F32_16x16x16_BF16");
  WS_CHECK_INT(config.prefetch_stages, 1);
  WS_CHECK_INT(config.steps_k, 4);
  WS_CHECK_TEXT(ws_iree_left_out(arena, candidate), "");
  ws_arena_destroy(arena);
}

WS_TEST(refuses_what_iree_cannot_do) {
  static const struct {
    int records;
    const char *assignments, *why;
  } cases[] = {{ALL, "split_k=2", "split_k=2"},
               {ALL, "mfma=4", "mfma=4"},
               {ALL, "mfma=0", "mfma=0"},
               {ALL, "waves_n=0", "not whole matrix instructions"},
               {ALL, "tile_m=24;waves_m=1", "24 x 64 x 64"},
               {ALL, "tile_n=16;waves_n=2", "of 2 x 2 waves"},
               {ALL, "tile_k=16", "128 x 64 x 16"},
               {NEEDED - 1, "", "template tiles has no parameter tile_k"}};
  ws_arena *arena = ws_arena_create();
  const ws_iree_contraction product =
      contraction("fp8_gemm_blockscale", "kmajor");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_iree_config config;
    ws_diag diag = {""};
    WS_CHECK_INT(ws_iree_config_of(&product,
                                   make_candidate(arena, cases[i].records,
                                                  cases[i].assignments),
                                   &config, &diag),
                 WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].why);
  }
  ws_arena_destroy(arena);
}

WS_TEST(refuses_what_iree_cannot_match) {
  static const struct {
    const char *problem, *layout, *target, *why;
  } cases[] = {
      {"rmsnorm", "plain", "gfx942", "rmsnorm is no product"},
      {"fp8_gemm_blockscale", "kmajor-bpreshuffle", "gfx942", "bpreshuffle"},
      {"fp8_gemm_blockscale", "kmajor-add", "gfx942", "writes its result"},
      {"fp8_gemm_blockscale", "kmajor-ocp", "sm_90a", "target sm_90a"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_iree_contraction opened;
    ws_diag diag = {""};
    WS_CHECK_INT(open_contraction(cases[i].problem, cases[i].layout,
                                  cases[i].target, &opened, &diag),
                 WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].why);
  }
}

/* Entries with a config come first, in their order. */
WS_TEST(sort_keeps_the_order) {
  static const char *const each[] = {"split_k=2", "tile_m=64", "mfma=4",
                                     "tile_n=256", "tile_k=128"};
  static const int want[] = {1, 3, 4};
  enum { COUNT = sizeof each / sizeof *each };
  ws_arena *arena = ws_arena_create();
  const ws_iree_contraction product =
      contraction("fp8_gemm_blockscale", "kmajor");
  ws_dispatch_entry entries[COUNT], given[COUNT];
  for (int i = 0; i < COUNT; i++)
    entries[i] = given[i] =
        (ws_dispatch_entry){.candidate = make_candidate(arena, ALL, each[i])};
  int count;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_iree_sort(&product, entries, COUNT, &count, &diag), WS_OK);
  WS_CHECK_INT(count, 3);
  for (int i = 0; i < count; i++)
    WS_CHECK(entries[i].candidate == given[want[i]].candidate);
  WS_CHECK_INT(
      ws_iree_sort(&product, entries + count, COUNT - count, &count, &diag),
      WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "any of the 2 kernels");
  ws_arena_destroy(arena);
}

/* Of a tile of 128 x 64 x 64. */
static void print_spec(ws_arena *arena, ws_shape shape, const char *provenance,
                       ws_strbuf *out) {
  const ws_iree_contraction product =
      contraction("fp8_gemm_blockscale", "kmajor");
  const ws_candidate *candidate = make_candidate(arena, ALL, "");
  const ws_iree_choice choice = {.shape = shape,
                                 .candidate = candidate,
                                 .us = 1,
                                 .provenance = provenance,
                                 .fastest = candidate,
                                 .fastest_us = 1};
  ws_diag diag = {""};
  ws_strbuf_init(out);
  WS_CHECK_INT(ws_iree_spec_print(arena, &product, &choice, 1, out, &diag),
               WS_OK);
}

WS_TEST(pads_what_tiles_do_not_divide) {
  static const struct {
    int64_t m, n, k;
    bool padded;
  } cases[] = {{128, 64, 64, false}, {384, 192, 192, false}, {64, 64, 64, true},
               {128, 80, 64, true},  {128, 64, 96, true},    {1, 16, 32, true}};
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_strbuf text;
    print_spec(arena, gemm_shape(cases[i].m, cases[i].n, cases[i].k), "sim:x",
               &text);
    WS_CHECK((strstr(text.data, "padding = [128, 64, 64],") != NULL) ==
             cases[i].padded);
    ws_strbuf_deinit(&text);
  }
  ws_arena_destroy(arena);
}

/* The spec without its comments, and how many these are. */
static const char *code_of(ws_arena *arena, const char *provenance,
                           int *out_comments) {
  ws_strbuf text, code;
  print_spec(arena, gemm_shape(128, 64, 128), provenance, &text);
  ws_strbuf_init(&code);
  *out_comments = 0;
  for (const char *line = text.data; *line;) {
    const size_t size = strcspn(line, "\n") + 1;
    if (strncmp(line, "//", 2))
      ws_strbuf_append(&code, line, size);
    else
      ++*out_comments;
    line += size;
  }
  const char *kept = ws_arena_strdup(arena, code.data);
  ws_strbuf_deinit(&text);
  ws_strbuf_deinit(&code);
  return kept;
}

WS_TEST(names_stay_in_their_comment) {
  ws_arena *arena = ws_arena_create();
  int want_comments, comments;
  const char *want = code_of(arena, "sim:model:card", &want_comments);
  WS_CHECK_CONTAINS(want, "@match_128x64x128 -> @apply_op_config");
  for (size_t i = 0; i < HOSTILE_NAMES; i++) {
    WS_CHECK_TEXT(code_of(arena, hostile_name(i), &comments), want);
    WS_CHECK_INT(comments, want_comments);
  }
  ws_arena_destroy(arena);
}
