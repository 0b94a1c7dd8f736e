/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Parts of the cycle model that are functions of their arguments: LDS phases
 * and conflicts, matrix rates, occupancy, shares of a grid. Expected values are
 * worked out by hand from the rules in docs/simulator.md.
 */
#include "../unit/ws_test.h"

#include "clock.h"

static const ws__clock_constants *const mi300x = &ws__clock_mi300x;

/* ---- LDS ------------------------------------------------------------------
 */

/* Lane i at byte i * stride. */
static ws_lds_cost strided(int bytes, bool store, uint64_t stride) {
  ws_access access = {.mask = UINT64_MAX,
                      .bytes = (uint8_t)bytes,
                      .store = store,
                      .is_lds = true};
  for (uint64_t lane = 0; lane < WS_LANES; lane++)
    access.address[lane] = lane * stride;
  return ws__lds_cost(&access, mi300x);
}

/* Banks are 4 bytes wide and 32. b32, 32 lanes a phase: stride of s dwords
 * meets gcd(s, 32) times in a bank. b64, 16 lanes: 32 bytes apart is 4 lanes
 * around the banks of 128 bytes, so 4 of 16 lanes in each of 4 places. b128
 * reads: lanes 0-3 and 20-23 are a phase; 32 bytes apart these are at bytes
 * 0-127 and 640-767, the same banks twice. b128 writes: 8 lanes in a row. */
static const struct {
  int bytes;
  bool store;
  uint64_t stride;
  int array, ideal, port;
} lds_cases[] = {
    {4, false, 4, 2, 2, 4},      {4, false, 8, 4, 2, 4},
    {4, false, 12, 2, 2, 4},     {4, false, 16, 8, 2, 4},
    {4, false, 64, 32, 2, 4},    {4, false, 128, 64, 2, 4},
    {4, false, 132, 2, 2, 4},    {4, false, 0, 2, 2, 4},
    {4, true, 4, 2, 2, 8},       {4, true, 128, 64, 2, 8},
    {8, false, 8, 4, 4, 8},      {8, false, 16, 8, 4, 8},
    {8, false, 32, 16, 4, 8},    {8, false, 128, 64, 4, 8},
    {8, false, 136, 4, 4, 8},    {8, true, 8, 4, 4, 12},
    {16, false, 16, 8, 8, 16},   {16, false, 32, 16, 8, 16},
    {16, false, 128, 64, 8, 16}, {16, true, 16, 8, 8, 20},
    {16, true, 32, 16, 8, 20},   {16, true, 144, 8, 8, 20},
    {1, false, 1, 2, 2, 4},      {2, true, 2, 2, 2, 8},
};

WS_TEST(lds_phases_and_conflicts) {
  for (size_t i = 0; i < sizeof lds_cases / sizeof *lds_cases; i++) {
    const ws_lds_cost cost =
        strided(lds_cases[i].bytes, lds_cases[i].store, lds_cases[i].stride);
    if (cost.array != lds_cases[i].array || cost.ideal != lds_cases[i].ideal ||
        cost.port != lds_cases[i].port)
      WS_FAIL("%d bytes, %s, stride %d: array %d ideal %d port %d",
              lds_cases[i].bytes, lds_cases[i].store ? "store" : "load",
              (int)lds_cases[i].stride, cost.array, cost.ideal, cost.port);
  }
}

/* Lanes 0-3 and 20-23 of a b128 read share a phase, 0-3 and 4-7 do not: the
 * former at the same banks collide, the latter do not. */
WS_TEST(lds_b128_lanes_of_a_phase) {
  ws_access access = {.mask = 0xf | 0xf << 20, .bytes = 16, .is_lds = true};
  for (uint64_t i = 0; i < 4; i++) {
    access.address[i] = i * 16;
    access.address[20 + i] = access.address[4 + i] = 128 + i * 16;
  }
  WS_CHECK_INT(ws__lds_cost(&access, mi300x).array, 2);
  access.mask = 0xff;
  WS_CHECK_INT(ws__lds_cost(&access, mi300x).array, 2);
  WS_CHECK_INT(ws__lds_cost(&access, mi300x).ideal, 2);
}

WS_TEST(lds_pairs_take_two_passes) {
  ws_access access = {
      .mask = UINT64_MAX, .bytes = 4, .pair = 1, .is_lds = true};
  for (uint64_t lane = 0; lane < WS_LANES; lane++) {
    access.address[lane] = lane * 4;
    access.second[lane] = lane * 128;
  }
  const ws_lds_cost cost = ws__lds_cost(&access, mi300x);
  WS_CHECK_INT(cost.array, 2 + 64);
  WS_CHECK_INT(cost.ideal, 4);
  WS_CHECK_INT(cost.port, 8);
}

WS_TEST(lds_without_lanes_only_takes_the_port) {
  const ws_access access = {.mask = 0, .bytes = 4, .is_lds = true};
  WS_CHECK_INT(ws__lds_cost(&access, mi300x).array, 0);
  WS_CHECK_INT(ws__lds_cost(&access, mi300x).port, 4);
}

/* ---- matrix ---------------------------------------------------------------
 */

/* AMD's matrix instruction calculator, "execution cycles" on CDNA3. */
WS_TEST(mfma_clocks) {
  static const struct {
    const char *name;
    int clocks;
  } cases[] = {
      {"v_mfma_f32_16x16x32_fp8_fp8", 16},
      {"v_mfma_f32_32x32x16_fp8_fp8", 32},
      {"v_mfma_f32_16x16x32_bf8_fp8", 16},
      {"v_mfma_f32_32x32x8_f16", 32},
      {"v_mfma_f32_16x16x16_f16", 16},
      {"v_mfma_f32_16x16x16_bf16", 16},
      {"v_mfma_i32_16x16x32_i8", 16},
      {"v_mfma_i32_32x32x16_i8", 32},
      {"v_mfma_f32_32x32x2_f32", 64},
      {"v_mfma_f32_16x16x4_f32", 32},
      {"v_mfma_f32_4x4x4_16b_f16", 8},
      {"v_mfma_f64_16x16x4_f64", 32},
      {"v_mfma_f32_32x32x4_xf32", 32},
      {"v_smfmac_f32_16x16x64_fp8_fp8", 16},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int clocks = ws__mfma_clocks(cases[i].name, mi300x);
    if (clocks != cases[i].clocks)
      WS_FAIL("%s: %d, want %d", cases[i].name, clocks, cases[i].clocks);
  }
}

/* ---- occupancy ------------------------------------------------------------
 */

/* Waves per SIMD by registers as AMD documents them (64:8 72:7 80:6 96:5 128:4
 * 168:3 256:2 512:1); workgroups by LDS as LLVM has them (8704:7 16896:3
 * 33280:1); a workgroup of 4 waves puts one on each SIMD. */
static const struct {
  int vgpr, sgpr;
  uint32_t lds;
  int waves, groups;
  const char *limiter;
} occupancies[] = {
    {32, 32, 0, 4, 8, "waves"},    {64, 32, 0, 4, 8, "waves"},
    {65, 32, 0, 4, 7, "vgpr"},     {72, 32, 0, 4, 7, "vgpr"},
    {73, 32, 0, 4, 6, "vgpr"},     {80, 32, 0, 4, 6, "vgpr"},
    {81, 32, 0, 4, 5, "vgpr"},     {96, 32, 0, 4, 5, "vgpr"},
    {97, 32, 0, 4, 4, "vgpr"},     {128, 32, 0, 4, 4, "vgpr"},
    {129, 32, 0, 4, 3, "vgpr"},    {168, 32, 0, 4, 3, "vgpr"},
    {169, 32, 0, 4, 2, "vgpr"},    {256, 32, 0, 4, 2, "vgpr"},
    {257, 32, 0, 4, 1, "vgpr"},    {512, 32, 0, 4, 1, "vgpr"},
    {64, 80, 0, 4, 8, "waves"},    {64, 108, 0, 4, 7, "sgpr"},
    {64, 32, 8192, 4, 8, "waves"}, {64, 32, 8704, 4, 7, "lds"},
    {64, 32, 16384, 4, 4, "lds"},  {64, 32, 16896, 4, 3, "lds"},
    {64, 32, 32768, 4, 2, "lds"},  {64, 32, 33280, 4, 1, "lds"},
    {64, 32, 65536, 4, 1, "lds"},  {128, 32, 0, 8, 2, "vgpr"},
    {128, 32, 0, 16, 1, "vgpr"},   {256, 32, 0, 8, 1, "vgpr"},
    {256, 32, 0, 16, 0, "vgpr"},   {128, 32, 0, 1, 16, "vgpr"},
    {64, 32, 0, 2, 16, "waves"},   {168, 32, 24576, 4, 2, "lds"},
};

WS_TEST(occupancy_by_registers_and_lds) {
  for (size_t i = 0; i < sizeof occupancies / sizeof *occupancies; i++) {
    const ws__residence got =
        ws__occupancy(occupancies[i].vgpr, occupancies[i].sgpr,
                      occupancies[i].lds, occupancies[i].waves, mi300x);
    if (got.groups != occupancies[i].groups ||
        strcmp(got.limiter, occupancies[i].limiter) != 0)
      WS_FAIL("%d VGPRs, %d SGPRs, %u bytes, %d waves: %d by %s",
              occupancies[i].vgpr, occupancies[i].sgpr, occupancies[i].lds,
              occupancies[i].waves, got.groups, got.limiter);
  }
}

/* ---- grid -----------------------------------------------------------------
 */

/* 8 XCDs in turn, then 38 CUs in turn. */
WS_TEST(workgroups_of_a_unit) {
  WS_CHECK_INT(ws__groups_of_xcd(1, 0, mi300x), 1);
  WS_CHECK_INT(ws__groups_of_xcd(1, 1, mi300x), 0);
  WS_CHECK_INT(ws__groups_of_xcd(17, 0, mi300x), 3);
  WS_CHECK_INT(ws__groups_of_xcd(17, 7, mi300x), 2);
  WS_CHECK_INT(ws__groups_of_cu(304, 7, 37, mi300x), 1);
  WS_CHECK_INT(ws__groups_of_cu(305, 0, 0, mi300x), 2);
  WS_CHECK_INT(ws__groups_of_cu(305, 1, 0, mi300x), 1);
  int64_t all = 0;
  for (int xcd = 0; xcd < 8; xcd++)
    for (int cu = 0; cu < 38; cu++)
      all += ws__groups_of_cu(1000, xcd, cu, mi300x);
  WS_CHECK_INT(all, 1000);
}

WS_TEST(map_keeps_what_it_was_given) {
  ws_key_map map = {0};
  bool is_new;
  for (uint64_t key = 0; key < 5000; key++) {
    *ws__map_at(&map, key * 64, &is_new) = (int64_t)key + 1;
    WS_CHECK(is_new);
  }
  for (uint64_t key = 0; key < 5000; key++) {
    WS_CHECK_INT(*ws__map_at(&map, key * 64, &is_new), (int64_t)key + 1);
    WS_CHECK(!is_new);
  }
  ws__map_deinit(&map);
}

/* Each constant says where it is from and how sure that is. */
WS_TEST(constants_name_their_source) {
  WS_CHECK(ws__clock_table_count > 40);
  for (int i = 0; i < ws__clock_table_count; i++) {
    WS_CHECK(strlen(ws__clock_table[i].source) > 4);
    WS_CHECK(strlen(ws__clock_table[i].confidence) == 1 &&
             strchr("HML", ws__clock_table[i].confidence[0]));
    WS_CHECK(ws__clock_table[i].value > 0);
  }
}

/* docs/simulator.md shows the table as it is. */
WS_TEST(constants_are_documented) {
  const char *source = getenv("WS_SOURCE_DIR");
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *text;
  size_t size;
  if (ws_file_read(
          arena,
          ws_arena_printf(arena, "%s/docs/simulator.md", source ? source : "."),
          &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  for (int i = 0; i < ws__clock_table_count; i++) {
    const ws__clock_constant *c = &ws__clock_table[i];
    WS_CHECK_CONTAINS(
        text, ws_arena_printf(arena, "| %s | %lld%s%s | %s | %s |", c->name,
                              (long long)c->value, *c->unit ? " " : "", c->unit,
                              c->what, c->source));
  }
  ws_arena_destroy(arena);
}
