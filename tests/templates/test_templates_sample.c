/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * 300 random legal points of fp8_gemm_mfma with random shipped bodies: the
 * standard sanitizer runs and one random shape each, without a finding; every
 * variant drawn; one in eight lowered, for scratch. Deterministic; in shards,
 * so that a failure is cheap to repeat (test_templates_sample shard_3).
 */
#include "../gemm_shape.h"
#include "template_fixture.h"

enum { SHARDS = 10, POINTS = 30, LOWERED_EVERY = 8 };

/* Up to two tiles and a bit, often less than one. */
static int64_t random_extent(ws_rng *rng, int64_t tile) {
  return 16 * (int64_t)(1 + ws_rng_below(rng, (uint64_t)(tile / 16 + 3)));
}

static ws_shape random_shape(const ws_candidate *candidate, ws_rng *rng) {
  const ws_template *tmpl = candidate->tmpl;
  int m = ws_template_param_index(tmpl, "tile_m");
  int n = ws_template_param_index(tmpl, "tile_n");
  const int64_t rows = random_extent(rng, candidate->values[m]);
  const int64_t columns = random_extent(rng, candidate->values[n]);
  return gemm_shape(rows, columns, 128 * (int64_t)(1 + ws_rng_below(rng, 4)));
}

/* Returns the scratch of a lowered point, 0 for one that was not. */
static int build_random_point(const shipped *s, ws_rng *rng, bool lower) {
  ws_run runs[WS_STANDARD_RUNS + 1];
  ws_candidate *candidate = random_point(s, rng);
  random_bodies(candidate, rng);
  int count = ws_standard_runs(candidate, runs);
  runs[count++] =
      (ws_run){.shape = random_shape(candidate, rng),
               .order = ws_rng_below(rng, 2) ? WS_WAVES_DOWN : WS_WAVES_UP,
               .seed = ws_rng_next(rng)};
  const char *assignments = ws_candidate_values_text(s->arena, candidate);
  const char *variants = ws_candidate_variants_text(s->arena, candidate);
  ws_build_result result =
      build(s, assignments, variants, runs, count,
            WS_STAGE_CHECK | WS_STAGE_SANITIZE | (lower ? WS_STAGE_LOWER : 0));
  int scratch = scratch_bytes(&result);
  bool only_scratch = scratch && result.finding_count == 1 &&
                      !strcmp(result.findings[0].id, "scratch");
  if (!only_scratch)
    expect_ok(&result, assignments, variants);
  if (scratch)
    fprintf(stderr, "# %d bytes of scratch: [%s] [%s]\n", scratch, assignments,
            variants);
  return scratch;
}

static void run_shard(uint64_t shard) {
  shipped s = open_shipped("fp8_gemm_mfma.ll");
  ws_rng rng;
  int with_scratch = 0;
  ws_rng_init(&rng, 20250101 + shard);
  ws_sanitize_warm_up();
  for (int i = 0; i < POINTS; i++)
    with_scratch += build_random_point(&s, &rng, i % LOWERED_EVERY == 0) != 0;
  /* The template's bound on registers is a fit: of 1000 points that it
   * admits, with default bodies, one needs scratch. */
  WS_CHECK(with_scratch <= 1);
  ws_arena_destroy(s.arena);
}

WS_TEST(shard_0) { run_shard(0); }
WS_TEST(shard_1) { run_shard(1); }
WS_TEST(shard_2) { run_shard(2); }
WS_TEST(shard_3) { run_shard(3); }
WS_TEST(shard_4) { run_shard(4); }
WS_TEST(shard_5) { run_shard(5); }
WS_TEST(shard_6) { run_shard(6); }
WS_TEST(shard_7) { run_shard(7); }
WS_TEST(shard_8) { run_shard(8); }
WS_TEST(shard_9) { run_shard(9); }

/* Which variants the shards drew, without building them. */
WS_TEST(every_variant_is_drawn) {
  shipped s = open_shipped("fp8_gemm_mfma.ll");
  bool drawn[WS_TEMPLATE_MAX_REGIONS][8] = {{false}};
  for (uint64_t shard = 0; shard < SHARDS; shard++) {
    ws_rng rng;
    ws_rng_init(&rng, 20250101 + shard);
    for (int i = 0; i < POINTS; i++) {
      ws_candidate *candidate = random_point(&s, &rng);
      random_bodies(candidate, &rng);
      random_shape(candidate, &rng);
      ws_rng_below(&rng, 2);
      ws_rng_next(&rng);
      for (int r = 0; r < s.tmpl->region_count; r++)
        if (candidate->bodies[r].variant >= 0)
          drawn[r][candidate->bodies[r].variant] = true;
    }
  }
  for (int r = 0; r < s.tmpl->region_count; r++)
    for (int v = 0; v < s.tmpl->regions[r].variant_count; v++)
      WS_CHECK(drawn[r][v]);
  ws_arena_destroy(s.arena);
}
