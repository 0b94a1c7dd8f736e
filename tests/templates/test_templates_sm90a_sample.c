/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * 60 random legal points of fp8_gemm_mma_sync with random shipped bodies
 * through check and code generation. Deterministic; in shards, so that a
 * failure is cheap to repeat.
 */
#include "template_fixture.h"

enum { POINTS = 20 };

/* Bytes of scratch; where ptxas is not, 0 of all. */
static int build_random_point(const shipped *s, ws_rng *rng) {
  ws_candidate *candidate = random_point(s, rng);
  random_bodies(candidate, rng);
  const char *assignments = ws_candidate_values_text(s->arena, candidate);
  const char *variants = ws_candidate_variants_text(s->arena, candidate);
  ws_build_result result =
      build(s, assignments, variants, NULL, 0, WS_STAGE_CHECK | WS_STAGE_LOWER);
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

/* The bound on registers is a fit: of 243 points that it admits, with default
 * bodies, 5 spill. */
static void run_shard(uint64_t shard) {
  shipped s = open_shipped("fp8_gemm_mma_sync.ll");
  ws_rng rng;
  int with_scratch = 0;
  ws_rng_init(&rng, 20261122 + shard);
  for (int i = 0; i < POINTS; i++)
    with_scratch += build_random_point(&s, &rng) != 0;
  WS_CHECK(with_scratch <= 2);
  ws_arena_destroy(s.arena);
}

WS_TEST(shard_0) { run_shard(0); }
WS_TEST(shard_1) { run_shard(1); }
WS_TEST(shard_2) { run_shard(2); }
