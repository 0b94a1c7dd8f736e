/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fp8_gemm_naive_sm90a and fp8_gemm_mma_sync: their spaces, and chosen points
 * through check and code generation. That they compute what they should is
 * host_sm90a.py's part. Registers and spills are known where ptxas is.
 */
#include "template_fixture.h"

static const char naive[] = "fp8_gemm_naive_sm90a.ll";
static const char mma[] = "fp8_gemm_mma_sync.ll";

enum { BUILT = WS_STAGE_CHECK | WS_STAGE_LOWER };

static const ws_kernel_facts *
build_clean(const shipped *s, const char *assignments, const char *variants) {
  ws_build_result result = build(s, assignments, variants, NULL, 0, BUILT);
  expect_ok(&result, assignments, variants);
  WS_CHECK(result.code_object_size > 0);
  ws_kernel_facts *facts =
      ws_arena_alloc(s->arena, (size_t)result.kernel_count * sizeof *facts);
  memcpy(facts, result.kernels, (size_t)result.kernel_count * sizeof *facts);
  for (int i = 0; i < result.kernel_count; i++)
    WS_CHECK_INT(facts[i].scratch_bytes, 0);
  return facts;
}

WS_TEST(naive_builds_with_every_body) {
  shipped s = open_shipped(naive);
  build_clean(&s, "", "");
  build_clean(&s, "threads=512", "decode=decode_integer;dot=dot_wide");
  ws_arena_destroy(s.arena);
}

/* Shared memory is what the template asks for: stages of (rows of A and B) *
 * tile_k bytes, A's scales, 16 bytes. */
WS_TEST(chosen_points_build_as_intended) {
  static const struct {
    const char *assignments, *variants;
    int dynamic_lds, threads, most_registers;
  } points[] = {
      {"", "", 4 * (256 * 128 + 4 * 128 + 16), 256, 255},
      {"tile_m=64;tile_n=64;resident=2;stages=3;slice_n=16", "",
       3 * (128 * 128 + 4 * 64 + 16), 256, 128},
      {"tile_m=64;tile_n=96;warps_m=2;slice_n=48;tile_k=64;stages=6",
       "tile_order=tile_order_snake;place=place_rotated;copy=copy_through_l1",
       6 * (160 * 64 + 4 * 64 + 16), 128, 255},
      {"tile_m=32;tile_n=192;warps_m=1;warps_n=4;slice_n=16;split_k=4",
       "tile_order=tile_order_columns;copy=copy_long;mma=mma_stationary;"
       "scale=scale_columns;store_c=store_c_pairs",
       4 * (224 * 128 + 4 * 32 + 16), 128, 255}};
  shipped s = open_shipped(mma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    const ws_kernel_facts *gemm =
        build_clean(&s, points[i].assignments, points[i].variants);
    WS_CHECK_TEXT(gemm->name, "fp8_gemm_mma_sync");
    WS_CHECK_INT(gemm->dynamic_lds, points[i].dynamic_lds);
    WS_CHECK_INT(gemm->max_workgroup, points[i].threads);
    WS_CHECK(gemm->vgpr <= points[i].most_registers);
  }
  ws_arena_destroy(s.arena);
}

/* ---- the space --------------------------------------------------------------
 */

enum { WANTED_POINTS = 5000, MAX_DRAWS = 40000 };

WS_TEST(mma_sync_has_at_least_5000_legal_points) {
  shipped s = open_shipped(mma);
  ws_hash *seen = ws_arena_alloc(s.arena, WANTED_POINTS * sizeof *seen);
  ws_rng rng;
  int count = 0;
  ws_rng_init(&rng, 3);
  for (int i = 0; i < MAX_DRAWS && count < WANTED_POINTS; i++) {
    ws_candidate *candidate = random_point(&s, &rng);
    int at = 0;
    while (at < count && memcmp(&seen[at], &candidate->id, sizeof *seen))
      at++;
    if (at == count)
      seen[count++] = candidate->id;
  }
  WS_CHECK_INT(count, WANTED_POINTS);
  ws_arena_destroy(s.arena);
}

WS_TEST(mma_sync_offers_regions_and_variants) {
  shipped s = open_shipped(mma);
  int with_one = 0;
  WS_CHECK(s.tmpl->region_count >= 6);
  for (int i = 0; i < s.tmpl->region_count; i++) {
    WS_CHECK(strlen(s.tmpl->regions[i].contract) > 100);
    with_one += s.tmpl->regions[i].variant_count >= 1;
  }
  WS_CHECK(with_one >= 6);
  ws_arena_destroy(s.arena);
}

WS_TEST(all_take_the_ocp_layout_only) {
  static const char *const names[] = {naive, mma};
  for (int i = 0; i < 2; i++) {
    shipped s = open_shipped(names[i]);
    int layout = ws_template_param_index(s.tmpl, "layout");
    WS_CHECK(layout >= 0);
    WS_CHECK_INT(s.tmpl->params[layout].value_count, 1);
    WS_CHECK_INT(s.tmpl->params[layout].values[0], 2);
    WS_CHECK_TEXT(s.tmpl->target, "sm_90a");
    ws_arena_destroy(s.arena);
  }
}

/* Each is refused by the constraint that it breaks. */
WS_TEST(illegal_points_are_refused) {
  static const struct {
    const char *assignments, *reason;
  } points[] = {
      {"warps_m=8;warps_n=8", "2 to 16 warps"},
      {"tile_m=32", "a warp's rows are whole"},
      {"tile_n=16;slice_n=16", "a warp's columns are whole pairs"},
      {"slice_n=48", "whole slices"},
      {"tile_k=64", "with tile_k 64 there is one slice"},
      {"tile_k=64;unroll_k=4;slice_n=64", "unroll_k spans"},
      {"stages=8", "228 KiB"},
      {"stages=3;resident=3", "228 KiB"},
      {"tile_m=256;tile_n=16;warps_m=1;slice_n=16;stages=2;warps_n=1;tile_k=64",
       "2 to 16 warps"},
      {"tile_m=256;tile_n=32;warps_m=2;warps_n=1;slice_n=16", "16 chunks"},
      {"tile_m=256;tile_n=256;stages=2", "too few registers"},
      {"slice_n=64;resident=2;stages=2;tile_k=64;tile_m=128",
       "too few registers"},
  };
  shipped s = open_shipped(mma);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    ws_diag diag = {""};
    ws_candidate *candidate = ws_candidate_create(s.arena, s.tmpl);
    if (ws_candidate_set(candidate, points[i].assignments, &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    WS_CHECK(ws_candidate_broken_require(candidate, NULL, &diag) >= 0);
    WS_CHECK_CONTAINS(diag.text, points[i].reason);
  }
  ws_arena_destroy(s.arena);
}
