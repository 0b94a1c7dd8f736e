/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The clock on a stream of which an earlier operation left all, half or nothing
 * in the Infinity Cache.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* of the fixture */
#include "sim_fixture.h"

enum { GROUPS = 2048, BYTES = GROUPS * 65536 };

/* Each of 256 threads a group reads 16 x 16 bytes, all different. */
static const char *const stream =
    "s_load_dwordx2 s[8:9], s[0:1], 0\ns_lshl_b32 s10, s2, 16\n"
    "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 4, v0\n"
    "v_mov_b32 v3, 0\nv_add_u32 v2, s10, v1\n"
    "s_waitcnt lgkmcnt(0)\n"
    "v_lshl_add_u64 v[2:3], s[8:9], 0, v[2:3]\n"
    "s_movk_i32 s20, 16\n.Lloop:\n"
    "global_load_dwordx4 v[4:7], v[2:3], off\n"
    "v_add_co_u32 v2, vcc, 0x1000, v2\n"
    "v_addc_co_u32 v3, vcc, 0, v3, vcc\n"
    "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n"
    "s_cbranch_scc1 .Lloop\ns_waitcnt vmcnt(0)";

typedef struct outcome {
  double us, from_hbm; /* of the bytes */
} outcome;

/* The first `touched` bytes were touched just before. */
static outcome stream_after(size_t touched, ws_sim_residency residency) {
  const fixture_options options = {.threads = 256, .lds = -1};
  const ws_sim_options unchecked = {.unchecked = true};
  ws_arena *arena = ws_arena_create();
  ws_sim *sim;
  ws_sim_module *module;
  ws_sim_profile profile;
  ws_diag diag;
  size_t size;
  const void *image =
      fixture_assemble(arena, fixture_kernel(arena, stream, &options), &size);
  if (ws_sim_create(&unchecked, &sim, &diag) != WS_OK ||
      ws_sim_load(sim, image, size, &module, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const void *kernarg[2] = {ws_sim_allocate(sim, BYTES), NULL};
  const ws_sim_launch launch = {.kernel = ws_sim_kernel_find(module, "probe"),
                                .grid = {GROUPS, 1, 1},
                                .block = {256, 1, 1},
                                .kernarg = kernarg,
                                .kernarg_size = sizeof kernarg};
  ws_sim_touch(sim, &(ws_sim_range){kernarg[0], touched}, 1);
  if (ws_sim_time(sim, &launch, residency, arena, &profile, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const outcome found = {profile.us, profile.hbm_bytes / BYTES};
  ws_sim_destroy(sim);
  ws_arena_destroy(arena);
  return found;
}

/* What is held does not come from HBM; COLD and WARM do not ask what is. */
WS_TEST(a_stream_finds_what_was_left) {
  const outcome all = stream_after(BYTES, WS_SIM_CHAIN);
  const outcome half = stream_after(BYTES / 2, WS_SIM_CHAIN);
  const outcome none = stream_after(0, WS_SIM_CHAIN);
  const outcome cold = stream_after(BYTES, WS_SIM_COLD);
  const outcome warm = stream_after(0, WS_SIM_WARM);
  WS_CHECK_NEAR(all.from_hbm, 0, 0.01);
  WS_CHECK_NEAR(half.from_hbm, 0.5, 0.04);
  WS_CHECK_NEAR(none.from_hbm, 1, 0.02);
  WS_CHECK_NEAR(cold.us, none.us, 0);
  WS_CHECK_NEAR(all.us, warm.us, 0.05 * warm.us);
  WS_CHECK(all.us < none.us);
}
