/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where lanes meet: every DPP control, v_readlane and its kin, v_swap; and the
 * poison of all of them. Source lanes are written down by hand from the ISA
 * guide's pictures.
 */
#include "vector_probe.h"

enum { NONE = -1 };

/* Lane i holds 1000 + i in v2 and 5000 + i in v10; s[20:21] is a mask. */
static void fill_by_lane(uint64_t exec) {
  memset(&probe_wave, 0, sizeof probe_wave);
  probe_wave.vgpr = probe_registers;
  probe_wave.mode = WS_MODE_DEFAULT;
  for (int i = 0; i < WS_LANES; i++)
    for (int r = 0; r < 16; r++)
      probe_registers[r].u32[i] = (uint32_t)(500 * r + i);
  ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, exec);
}
static uint32_t v(int index, int i) { return probe_registers[index].u32[i]; }

#define EACH_CODE                                                              \
  for (int code = 0;                                                           \
       ws__vector_code(code) && (ws__vector_use(ws__vector_code(code)), true); \
       code++)

/* ---- DPP ------------------------------------------------------------------
 */

typedef int (*source_of)(int lane); /* NONE: there is none */

static int quad_1032(int i) { return i ^ 1; }
static int quad_2301(int i) { return i ^ 2; }
static int quad_0000(int i) { return i & ~3; }
static int quad_3210(int i) { return (i & ~3) + 3 - (i & 3); }
static int left_1(int i) { return i % 16 == 15 ? NONE : i + 1; }
static int left_15(int i) { return i % 16 == 0 ? i + 15 : NONE; }
static int right_1(int i) { return i % 16 == 0 ? NONE : i - 1; }
static int right_8(int i) { return i % 16 < 8 ? NONE : i - 8; }
static int rotate_1(int i) { return i % 16 == 0 ? i + 15 : i - 1; }
static int rotate_12(int i) { return i % 16 < 12 ? i + 4 : i - 12; }
static int wave_left(int i) { return i == 63 ? NONE : i + 1; }
static int wave_right(int i) { return i == 0 ? NONE : i - 1; }
static int wave_roll_left(int i) { return i == 63 ? 0 : i + 1; }
static int wave_roll_right(int i) { return i == 0 ? 63 : i - 1; }
static int mirror(int i) { return (i & 48) + 15 - i % 16; }
static int half_mirror(int i) { return (i & 56) + 7 - i % 8; }
static int broadcast_15(int i) {
  return i < 16 ? NONE : i < 32 ? 15 : i < 48 ? 31 : 47;
}
static int broadcast_31(int i) { return i < 32 ? NONE : 31; }
static int broadcast_row_5(int i) { return (i & 48) + 5; }

static const struct {
  const char *control;
  source_of source;
} controls[] = {{"quad_perm:[1,0,3,2]", quad_1032},
                {"quad_perm:[2,3,0,1]", quad_2301},
                {"quad_perm:[0,0,0,0]", quad_0000},
                {"quad_perm:[3,2,1,0]", quad_3210},
                {"row_shl:1", left_1},
                {"row_shl:15", left_15},
                {"row_shr:1", right_1},
                {"row_shr:8", right_8},
                {"row_ror:1", rotate_1},
                {"row_ror:12", rotate_12},
                {"wave_shl:1", wave_left},
                {"wave_shr:1", wave_right},
                {"wave_rol:1", wave_roll_left},
                {"wave_ror:1", wave_roll_right},
                {"row_mirror", mirror},
                {"row_half_mirror", half_mirror},
                {"row_bcast:15", broadcast_15},
                {"row_bcast:31", broadcast_31},
                {"row_newbcast:5", broadcast_row_5}};
enum { CONTROLS = sizeof controls / sizeof *controls };

/* dst: the destination register, 2: the source itself. Lane i wants v2 of its
 * source; without one it keeps the destination, or gets 0 (bound). */
static void check_control(int index, int dst, bool bound, uint64_t exec,
                          int rows, int banks) {
  char line[128];
  snprintf(line, sizeof line,
           "v_mov_b32_dpp v%d, v2 %s row_mask:%d bank_mask:%d%s", dst,
           controls[index].control, rows, banks, bound ? " bound_ctrl:1" : "");
  fill_by_lane(exec);
  run_line(line);
  for (int i = 0; i < WS_LANES; i++) {
    int from = controls[index].source(i);
    bool valid = from != NONE && exec >> from & 1;
    bool on = exec >> i & 1 && rows >> i / 16 & 1 && banks >> i % 16 / 4 & 1;
    uint32_t want = (uint32_t)(500 * dst + i);
    if (on && (valid || bound))
      want = valid ? 1000u + (uint32_t)from : 0;
    if (v(dst, i) != want)
      WS_FAIL("%s: lane %d: %u, want %u", line, i, v(dst, i), want);
  }
}

WS_TEST(dpp_controls) {
  EACH_CODE for (int i = 0; i < CONTROLS; i++) {
    check_control(i, 10, false, UINT64_MAX, 15, 15);
    check_control(i, 10, true, UINT64_MAX, 15, 15);
  }
}
WS_TEST(dpp_destination_is_source) {
  EACH_CODE for (int i = 0; i < CONTROLS; i++) {
    check_control(i, 2, false, UINT64_MAX, 15, 15);
    check_control(i, 2, true, 0x5555555500ff00ff, 15, 15);
  }
}
WS_TEST(dpp_inactive_sources) {
  EACH_CODE for (int i = 0; i < CONTROLS; i++) {
    check_control(i, 10, false, 0x00000000ffff7777, 15, 15);
    check_control(i, 10, true, 0x123456789abcdef0, 15, 15);
  }
}
WS_TEST(dpp_masks) {
  EACH_CODE for (int i = 0; i < CONTROLS; i++) {
    check_control(i, 10, false, UINT64_MAX, 0xa, 15);
    check_control(i, 10, true, UINT64_MAX, 15, 0x6);
    check_control(i, 2, true, UINT64_MAX, 0x3, 0x9);
  }
}

/* A whole scan by row_shr and row_bcast, as LLVM's atomic optimizer emits it:
 * lane i ends with 0 + 1 + ... + i. */
WS_TEST(dpp_scan) {
  static const char *const steps[] = {
      "v_add_u32_dpp v2, v2, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
      "v_add_u32_dpp v2, v2, v2 row_shr:2 row_mask:0xf bank_mask:0xf",
      "v_add_u32_dpp v2, v2, v2 row_shr:4 row_mask:0xf bank_mask:0xf",
      "v_add_u32_dpp v2, v2, v2 row_shr:8 row_mask:0xf bank_mask:0xf",
      "v_add_u32_dpp v2, v2, v2 row_bcast:15 row_mask:0xa bank_mask:0xf",
      "v_add_u32_dpp v2, v2, v2 row_bcast:31 row_mask:0xc bank_mask:0xf"};
  EACH_CODE {
    fill_by_lane(UINT64_MAX);
    for (int i = 0; i < WS_LANES; i++)
      probe_registers[2].u32[i] = (uint32_t)i;
    for (int i = 0; i < 6; i++)
      run_line(steps[i]);
    for (int i = 0; i < WS_LANES; i++)
      WS_CHECK_INT(v(2, i), i * (i + 1) / 2);
  }
}
WS_TEST(dpp_with_modifiers) {
  EACH_CODE {
    fill_by_lane(UINT64_MAX);
    for (int i = 0; i < WS_LANES; i++)
      probe_registers[2].u32[i] = BITS((float)i);
    run_line("v_add_f32_dpp v10, -v2, |v2| row_mirror row_mask:0xf "
             "bank_mask:0xf");
    for (int i = 0; i < WS_LANES; i++)
      WS_CHECK(F32(v(10, i)) == (float)(i - mirror(i)));
  }
}
WS_TEST(dpp_64_bits) {
  EACH_CODE {
    fill_by_lane(UINT64_MAX);
    run_line("v_mov_b64_dpp v[2:3], v[4:5] row_newbcast:5 row_mask:0xf "
             "bank_mask:0xf");
    for (int i = 0; i < WS_LANES; i++) {
      WS_CHECK_INT(v(2, i), 2000 + broadcast_row_5(i));
      WS_CHECK_INT(v(3, i), 2500 + broadcast_row_5(i));
    }
  }
}
WS_TEST(dpp_accumulates) {
  EACH_CODE {
    fill_by_lane(UINT64_MAX);
    for (int i = 0; i < WS_LANES; i++)
      probe_registers[2].u32[i] = probe_registers[4].u32[i] =
          probe_registers[10].u32[i] = BITS((float)i);
    run_line("v_fmac_f32_dpp v10, v2, v4 row_ror:1 row_mask:0xf bank_mask:0xf");
    for (int i = 0; i < WS_LANES; i++)
      WS_CHECK(F32(v(10, i)) == (float)(rotate_1(i) * i + i));
  }
}

/* ---- single lanes ---------------------------------------------------------
 */

WS_TEST(readfirstlane) {
  fill_by_lane(0xffffff0000000000);
  run_line("v_readfirstlane_b32 s5, v2");
  WS_CHECK_INT(probe_wave.sgpr[5], 1040);
  fill_by_lane(0); /* no lane: lane 0 */
  run_line("v_readfirstlane_b32 s5, v2");
  WS_CHECK_INT(probe_wave.sgpr[5], 1000);
  run_line("v_readfirstlane_b32 m0, v4");
  WS_CHECK_INT(probe_wave.sgpr[WS_SGPR_M0], 2000);
}
WS_TEST(readlane) {
  fill_by_lane(1); /* EXEC does not matter */
  run_line("v_readlane_b32 s5, v2, 63");
  WS_CHECK_INT(probe_wave.sgpr[5], 1063);
  probe_wave.sgpr[6] = 64 + 17; /* six bits count */
  run_line("v_readlane_b32 s5, v2, s6");
  WS_CHECK_INT(probe_wave.sgpr[5], 1017);
}
WS_TEST(writelane) {
  fill_by_lane(0);
  probe_wave.sgpr[6] = 99;
  probe_wave.sgpr[WS_SGPR_M0] = 31;
  run_line("v_writelane_b32 v2, s6, m0");
  for (int i = 0; i < WS_LANES; i++)
    WS_CHECK_INT(v(2, i), i == 31 ? 99 : 1000 + i);
}
WS_TEST(swap) {
  fill_by_lane(0xf0f0f0f0f0f0f0f0);
  run_line("v_swap_b32 v2, v4");
  for (int i = 0; i < WS_LANES; i++) {
    WS_CHECK_INT(v(2, i), i & 4 ? 2000 + i : 1000 + i);
    WS_CHECK_INT(v(4, i), i & 4 ? 1000 + i : 2000 + i);
  }
}
WS_TEST(accumulation_registers) {
  EACH_CODE {
    fill_by_lane(0xff);
    run_line("v_accvgpr_write_b32 a3, v2");
    run_line("v_accvgpr_mov_b32 a4, a3");
    run_line("v_accvgpr_read_b32 v10, a4");
    for (int i = 0; i < WS_LANES; i++)
      WS_CHECK_INT(v(10, i), i < 8 ? 1000 + i : 5000 + i);
  }
}
WS_TEST(vccz_and_lds_apertures_as_sources) {
  EACH_CODE {
    fill_by_lane(UINT64_MAX);
    run_line("v_mov_b32_e32 v10, src_vccz");
    WS_CHECK_INT(v(10, 9), 1);
    ws_set_sgpr64(&probe_wave, WS_SGPR_VCC, 1ull << 40);
    run_line("v_mov_b32_e32 v10, src_vccz");
    WS_CHECK_INT(v(10, 9), 0);
  }
}

/* ---- poison ---------------------------------------------------------------
 */

static bool keeps(const char *line) {
  ws_instruction in = parse_line(line);
  return ws__vector_keeps_poison(&in);
}
static bool scalar_poisoned(int index) {
  return probe_wave.scalar_poison[index / 64] >> index % 64 & 1;
}

WS_TEST(poison_is_kept_here) {
  WS_CHECK(keeps("v_readlane_b32 s5, v2, 63"));
  WS_CHECK(keeps("v_readfirstlane_b32 s5, v2"));
  WS_CHECK(keeps("v_writelane_b32 v2, s6, m0"));
  WS_CHECK(keeps("v_swap_b32 v2, v4"));
  WS_CHECK(keeps("v_cmp_eq_u32_e32 vcc, v2, v4"));
  WS_CHECK(keeps("v_add_co_u32_e32 v2, vcc, v2, v4"));
  WS_CHECK(keeps("v_mov_b32_dpp v10, v2 row_mirror row_mask:15 bank_mask:15"));
  WS_CHECK(!keeps("v_add_u32_e32 v2, v2, v4"));
  WS_CHECK(!keeps("v_mbcnt_lo_u32_b32 v10, s22, v4"));
  WS_CHECK(!keeps("v_cndmask_b32_e32 v10, v2, v4, vcc"));
}
WS_TEST(poison_of_readlane) {
  fill_by_lane(0xff00);
  probe_wave.vector_poison[2] = 1ull << 40 | 1 << 8;
  run_line("v_readlane_b32 s5, v2, 40");
  WS_CHECK(scalar_poisoned(5) && !scalar_poisoned(4) && !scalar_poisoned(6));
  run_line("v_readlane_b32 s5, v2, 41");
  WS_CHECK(!scalar_poisoned(5));
  run_line("v_readfirstlane_b32 vcc_lo, v2");
  WS_CHECK(scalar_poisoned(WS_SGPR_VCC) && !scalar_poisoned(WS_SGPR_VCC + 1));
}
WS_TEST(poison_of_writelane) {
  fill_by_lane(0);
  probe_wave.vector_poison[2] = UINT64_MAX;
  run_line("v_writelane_b32 v2, 7, 12");
  WS_CHECK(probe_wave.vector_poison[2] == ~(1ull << 12));
  probe_wave.scalar_poison[0] = 1 << 6;
  run_line("v_writelane_b32 v3, s6, 12");
  WS_CHECK(probe_wave.vector_poison[3] == 1ull << 12);
}
WS_TEST(poison_of_swap) {
  fill_by_lane(0xff);
  probe_wave.vector_poison[2] = 0x0f0f;
  probe_wave.vector_poison[4] = 0x3300;
  run_line("v_swap_b32 v2, v4");
  WS_CHECK(probe_wave.vector_poison[2] == 0x0f00);
  WS_CHECK(probe_wave.vector_poison[4] == 0x330f);
}
/* Lane 5 is poison: with row_shl:1 lane 4 gets it, lane 5 loses it. */
WS_TEST(poison_of_dpp) {
  EACH_CODE {
    fill_by_lane(UINT64_MAX);
    probe_wave.vector_poison[2] = 1 << 5;
    run_line("v_mov_b32_dpp v2, v2 row_shl:1 row_mask:0xf bank_mask:0xf");
    WS_CHECK(probe_wave.vector_poison[2] == 1 << 4);
    /* Lanes that are not written keep theirs; 15 has no source, others of its
     * row are defined by v2. */
    fill_by_lane(UINT64_MAX);
    probe_wave.vector_poison[10] = 0xffffffff;
    run_line("v_mov_b32_dpp v10, v2 row_shl:1 row_mask:0x1 bank_mask:0xf");
    WS_CHECK(probe_wave.vector_poison[10] == 0xffff8000);
    fill_by_lane(UINT64_MAX);
    probe_wave.vector_poison[10] = 0xffff;
    run_line("v_mov_b32_dpp v10, v2 row_shl:1 row_mask:0x1 bank_mask:0xf "
             "bound_ctrl:1");
    WS_CHECK(probe_wave.vector_poison[10] == 0);
    /* The second source's poison stays in its lane. */
    fill_by_lane(UINT64_MAX);
    probe_wave.vector_poison[4] = 1 << 9;
    probe_wave.vector_poison[2] = 1 << 3;
    run_line("v_add_u32_dpp v10, v2, v4 quad_perm:[1,0,3,2] row_mask:0xf "
             "bank_mask:0xf");
    WS_CHECK(probe_wave.vector_poison[10] == (1 << 9 | 1 << 2));
  }
}
