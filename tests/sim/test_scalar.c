/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The scalar unit, an instruction at a time. Values are worked out by hand from
 * the CDNA3 instruction set guide (chapter 12; its own examples where it has
 * some). The destination is s[0:1], the sources s[2:3] and s[4:5].
 */
#include "../unit/ws_test.h"

#include "clock_constants.h"
#include "decode.h"
#include "memory.h"

static ws_wave wave;
static ws_group group;
static ws_text text;

static ws_instruction parse(const char *line) {
  ws_instruction in;
  ws_diag diag = {0};
  if (ws__parse_instruction(line, &in, &diag) != WS_OK)
    WS_FAIL("%s: %s", line, diag.text);
  in.execute = ws__execute_scalar(in.op);
  if (!in.execute)
    WS_FAIL("%s: no handler", line);
  return in;
}

static void run(const char *line) {
  ws_instruction in = parse(line);
  in.execute(&wave, &in);
}

static void reset(void) {
  memset(&wave, 0, sizeof wave);
  memset(&group, 0, sizeof group);
  wave.group = &group;
  group.text = &text;
  group.constants = &ws__clock_mi300x;
  group.waves = &wave;
  group.wave_count = 1;
  ws_set_sgpr64(&wave, WS_SGPR_EXEC, UINT64_MAX);
}

typedef struct probe {
  const char *line;
  uint64_t a, b;
  int scc;
  uint64_t want;
  int want_scc;
} probe;

#define ALL UINT64_MAX
#define OLD UINT64_C(0x1111222233334444) /* of the destination */

/* 32-bit results leave s1 alone: its half of OLD is added by the check. */
static const probe probes_32[] = {
    {"s_add_u32 s0, s2, s4", 0xffffffff, 1, 0, 0, 1},
    {"s_add_u32 s0, s2, s4", 0x7fffffff, 1, 1, 0x80000000, 0},
    {"s_add_i32 s0, s2, s4", 0x7fffffff, 1, 0, 0x80000000, 1},
    {"s_add_i32 s0, s2, s4", 0xffffffff, 1, 1, 0, 0},
    {"s_add_i32 s0, s2, s4", 0x80000000, 0x80000000, 0, 0, 1},
    {"s_sub_u32 s0, s2, s4", 0, 1, 0, 0xffffffff, 1},
    {"s_sub_u32 s0, s2, s4", 5, 5, 1, 0, 0},
    {"s_sub_i32 s0, s2, s4", 0x80000000, 1, 0, 0x7fffffff, 1},
    {"s_sub_i32 s0, s2, s4", 0, 1, 1, 0xffffffff, 0},
    {"s_addc_u32 s0, s2, s4", 0xffffffff, 0, 1, 0, 1},
    {"s_addc_u32 s0, s2, s4", 0xffffffff, 0xffffffff, 1, 0xffffffff, 1},
    {"s_addc_u32 s0, s2, s4", 1, 2, 0, 3, 0},
    {"s_subb_u32 s0, s2, s4", 0, 0, 1, 0xffffffff, 1},
    {"s_subb_u32 s0, s2, s4", 7, 0xffffffff, 1, 7, 1},
    {"s_subb_u32 s0, s2, s4", 7, 6, 1, 0, 0},
    {"s_min_i32 s0, s2, s4", 0xffffffff, 1, 0, 0xffffffff, 1},
    {"s_min_i32 s0, s2, s4", 3, 3, 1, 3, 0},
    {"s_min_u32 s0, s2, s4", 0xffffffff, 1, 1, 1, 0},
    {"s_max_i32 s0, s2, s4", 0xffffffff, 1, 1, 1, 0},
    {"s_max_i32 s0, s2, s4", 3, 3, 0, 3, 1},
    {"s_max_u32 s0, s2, s4", 0xffffffff, 1, 0, 0xffffffff, 1},
    {"s_cselect_b32 s0, s2, s4", 1, 2, 1, 1, 1},
    {"s_cselect_b32 s0, s2, s4", 1, 2, 0, 2, 0},
    {"s_and_b32 s0, s2, s4", 0xf0, 0x0f, 1, 0, 0},
    {"s_or_b32 s0, s2, s4", 0xf0, 0x0f, 0, 0xff, 1},
    {"s_xor_b32 s0, s2, s4", 0xff, 0xff, 1, 0, 0},
    {"s_andn2_b32 s0, s2, s4", 0xff, 0x0f, 0, 0xf0, 1},
    {"s_orn2_b32 s0, s2, s4", 0, 0xffffffff, 1, 0, 0},
    {"s_nand_b32 s0, s2, s4", 0xffffffff, 0xffffffff, 1, 0, 0},
    {"s_nor_b32 s0, s2, s4", 0, 1, 0, 0xfffffffe, 1},
    {"s_xnor_b32 s0, s2, s4", 5, 0xfffffffa, 1, 0, 0},
    {"s_lshl_b32 s0, s2, s4", 0x80000001, 33, 0, 2, 1},
    {"s_lshl_b32 s0, s2, s4", 0x80000000, 1, 1, 0, 0},
    {"s_lshr_b32 s0, s2, s4", 0x80000000, 63, 0, 1, 1},
    {"s_ashr_i32 s0, s2, s4", 0x80000000, 31, 0, 0xffffffff, 1},
    {"s_ashr_i32 s0, s2, s4", 0x7fffffff, 31, 1, 0, 0},
    {"s_bfm_b32 s0, s2, s4", 4, 8, 1, 0xf00, 1},
    {"s_bfm_b32 s0, s2, s4", 32, 0, 0, 0, 0},
    {"s_mul_i32 s0, s2, s4", 0xffffffff, 3, 1, 0xfffffffd, 1},
    {"s_mul_hi_u32 s0, s2, s4", 0xffffffff, 0xffffffff, 0, 0xfffffffe, 0},
    {"s_mul_hi_i32 s0, s2, s4", 0xffffffff, 5, 1, 0xffffffff, 1},
    {"s_bfe_u32 s0, s2, s4", 0x12345678, 0x00080004, 0, 0x67, 1},
    {"s_bfe_u32 s0, s2, s4", 0x12345678, 0x00000004, 1, 0, 0},
    {"s_bfe_u32 s0, s2, s4", 0xffffffff, 0x00200010, 0, 0xffff, 1},
    {"s_bfe_i32 s0, s2, s4", 0x00000f00, 0x00040008, 0, 0xffffffff, 1},
    {"s_bfe_i32 s0, s2, s4", 0xffffffff, 0x00000008, 1, 0, 0},
    {"s_absdiff_i32 s0, s2, s4", 2, 5, 0, 3, 1},
    {"s_absdiff_i32 s0, s2, s4", 0x80000000, 0, 0, 0x80000000, 1},
    {"s_absdiff_i32 s0, s2, s4", 0x80000000, 0xffffffff, 0, 0x7fffffff, 1},
    {"s_lshl1_add_u32 s0, s2, s4", 0x80000000, 7, 0, 7, 1},
    {"s_lshl4_add_u32 s0, s2, s4", 3, 1, 1, 49, 0},
    {"s_lshl3_add_u32 s0, s2, s4", 0x1fffffff, 8, 0, 0, 1},
    {"s_pack_ll_b32_b16 s0, s2, s4", 0xaaaa1111, 0xbbbb2222, 1, 0x22221111, 1},
    {"s_pack_lh_b32_b16 s0, s2, s4", 0xaaaa1111, 0xbbbb2222, 0, 0xbbbb1111, 0},
    {"s_pack_hh_b32_b16 s0, s2, s4", 0xaaaa1111, 0xbbbb2222, 0, 0xbbbbaaaa, 0},
    {"s_mov_b32 s0, s2", 77, 0, 1, 77, 1},
    {"s_cmov_b32 s0, s2", 77, 0, 0, 0x33334444, 0},
    {"s_cmov_b32 s0, s2", 77, 0, 1, 77, 1},
    {"s_not_b32 s0, s2", 0xffffffff, 0, 1, 0, 0},
    {"s_wqm_b32 s0, s2", 0x00100801, 0, 0, 0x00f00f0f, 1},
    {"s_quadmask_b32 s0, s2", 0x80000010, 0, 0, 0x82, 1},
    {"s_brev_b32 s0, s2", 0x80000001, 0, 0, 0x80000001, 0},
    {"s_brev_b32 s0, s2", 0x0000000d, 0, 1, 0xb0000000, 1},
    {"s_bcnt0_i32_b32 s0, s2", 0xcccccccc, 0, 0, 16, 1},
    {"s_bcnt0_i32_b32 s0, s2", 0xffffffff, 0, 1, 0, 0},
    {"s_bcnt1_i32_b32 s0, s2", 0, 0, 1, 0, 0},
    {"s_bcnt0_i32_b64 s0, s[2:3]", 1, 0, 0, 63, 1},
    {"s_bcnt1_i32_b64 s0, s[2:3]", ALL, 0, 0, 64, 1},
    {"s_ff0_i32_b32 s0, s2", 0x55555555, 0, 1, 1, 1},
    {"s_ff0_i32_b32 s0, s2", 0xffffffff, 0, 0, 0xffffffff, 0},
    {"s_ff1_i32_b32 s0, s2", 0x00010000, 0, 0, 16, 0},
    {"s_ff1_i32_b32 s0, s2", 0, 0, 0, 0xffffffff, 0},
    {"s_ff0_i32_b64 s0, s[2:3]", 0xffffffff, 0, 0, 32, 0},
    {"s_ff1_i32_b64 s0, s[2:3]", UINT64_C(1) << 63, 0, 0, 63, 0},
    {"s_flbit_i32_b32 s0, s2", 0x0000cccc, 0, 0, 16, 0},
    {"s_flbit_i32_b32 s0, s2", 0, 0, 0, 0xffffffff, 0},
    {"s_flbit_i32_b64 s0, s[2:3]", 1, 0, 0, 63, 0},
    {"s_flbit_i32 s0, s2", 0xffff3333, 0, 0, 16, 0},
    {"s_flbit_i32 s0, s2", 0x80000000, 0, 0, 1, 0},
    {"s_flbit_i32 s0, s2", 0xffffffff, 0, 0, 0xffffffff, 0},
    {"s_flbit_i32_i64 s0, s[2:3]", UINT64_C(0xffffffff00000000), 0, 0, 32, 0},
    {"s_sext_i32_i8 s0, s2", 0x1180, 0, 1, 0xffffff80, 1},
    {"s_sext_i32_i16 s0, s2", 0x18000, 0, 0, 0xffff8000, 0},
    {"s_abs_i32 s0, s2", 0xffffffff, 0, 0, 1, 1},
    {"s_abs_i32 s0, s2", 0x80000000, 0, 0, 0x80000000, 1},
    {"s_bitset0_b32 s0, s2", 34, 0, 1, 0x33334440, 1},
    {"s_bitset1_b32 s0, s2", 0, 0, 0, 0x33334445, 0},
    {"s_movk_i32 s0, 0x8000", 0, 0, 1, 0xffff8000, 1},
    {"s_cmovk_i32 s0, 0x7fff", 0, 0, 1, 0x7fff, 1},
    {"s_addk_i32 s0, 0xffff", 0, 0, 1, 0x33334443, 0},
    {"s_mulk_i32 s0, 0xfffe", 0, 0, 1, 0x99997778, 1},
    {"s_mov_b32 s0, src_scc", 0, 0, 1, 1, 1},
    {"s_mov_b32 s0, 0.5", 0, 0, 0, 0x3f000000, 0},
    {"s_mov_b32 s0, -16", 0, 0, 0, 0xfffffff0, 0},
    {"s_mov_b32 s0, exec_hi", 0, 0, 0, 0xffffffff, 0},
};

static const probe probes_64[] = {
    {"s_cselect_b64 s[0:1], s[2:3], s[4:5]", 1, ALL, 0, ALL, 0},
    {"s_and_b64 s[0:1], s[2:3], s[4:5]", ALL, UINT64_C(1) << 40, 0,
     UINT64_C(1) << 40, 1},
    {"s_and_b64 s[0:1], s[2:3], 15", 0x10, 0, 1, 0, 0},
    {"s_or_b64 s[0:1], s[2:3], s[4:5]", 0, UINT64_C(1) << 63, 0,
     UINT64_C(1) << 63, 1},
    {"s_xor_b64 s[0:1], s[2:3], -1", ALL, 0, 1, 0, 0},
    {"s_andn2_b64 s[0:1], s[2:3], s[4:5]", ALL, 0xff, 0,
     UINT64_C(0xffffffffffffff00), 1},
    {"s_orn2_b64 s[0:1], s[2:3], s[4:5]", 1, ALL, 0, 1, 1},
    {"s_nand_b64 s[0:1], s[2:3], s[4:5]", ALL, ALL, 1, 0, 0},
    {"s_nor_b64 s[0:1], s[2:3], s[4:5]", 0, 0, 0, ALL, 1},
    {"s_xnor_b64 s[0:1], s[2:3], s[4:5]", 9, 9, 0, ALL, 1},
    {"s_lshl_b64 s[0:1], s[2:3], s4", 1, 63, 0, UINT64_C(1) << 63, 1},
    {"s_lshl_b64 s[0:1], s[2:3], s4", 1, 64, 0, 1, 1},
    {"s_lshr_b64 s[0:1], s[2:3], s4", ALL, 60, 0, 15, 1},
    {"s_ashr_i64 s[0:1], s[2:3], s4", UINT64_C(1) << 63, 63, 0, ALL, 1},
    {"s_bfm_b64 s[0:1], s2, s4", 8, 40, 0, UINT64_C(0xff0000000000), 0},
    {"s_bfe_u64 s[0:1], s[2:3], s4", UINT64_C(0x123456789abcdef0), 0x00100020,
     0, 0x5678, 1},
    {"s_bfe_u64 s[0:1], s[2:3], s4", ALL, 0x00400000, 0, ALL, 1},
    {"s_bfe_i64 s[0:1], s[2:3], s4", UINT64_C(0x8000000000), 0x00080020, 0,
     UINT64_C(0xffffffffffffff80), 1},
    {"s_mov_b64 s[0:1], 1.0", 0, 0, 0, UINT64_C(0x3ff0000000000000), 0},
    {"s_cmov_b64 s[0:1], s[2:3]", 1, 0, 0, OLD, 0},
    {"s_not_b64 s[0:1], s[2:3]", ALL, 0, 1, 0, 0},
    {"s_wqm_b64 s[0:1], s[2:3]", UINT64_C(1) << 62, 0, 0,
     UINT64_C(0xf000000000000000), 1},
    {"s_quadmask_b64 s[0:1], s[2:3]", UINT64_C(1) << 62, 0, 0, 0x8000, 1},
    {"s_brev_b64 s[0:1], s[2:3]", 1, 0, 0, UINT64_C(1) << 63, 0},
    {"s_bitset1_b64 s[0:1], s2", 63, 0, 0, OLD | UINT64_C(1) << 63, 0},
    {"s_bitset0_b64 s[0:1], s2", 60, 0, 1, OLD & ~(UINT64_C(1) << 60), 1},
    {"s_bitreplicate_b64_b32 s[0:1], s2", 0x80000005, 0, 0,
     UINT64_C(0xc000000000000033), 0},
    {"s_mov_b64 s[0:1], src_shared_base", 0, 0, 0, UINT64_C(1) << 48, 0},
    {"s_mov_b64 s[0:1], src_private_base", 0, 0, 0, UINT64_C(2) << 48, 0},
    {"s_cmp_eq_u64 s[2:3], s[4:5]", UINT64_C(1) << 32, 0, 1, OLD, 0},
    {"s_cmp_lg_u64 s[2:3], s[4:5]", UINT64_C(1) << 32, 0, 0, OLD, 1},
    {"s_cmp_eq_i32 s2, s4", 5, 5, 0, OLD, 1},
    {"s_cmp_lg_u32 s2, s4", 5, 5, 1, OLD, 0},
    {"s_cmp_gt_i32 s2, s4", 0xffffffff, 0, 1, OLD, 0},
    {"s_cmp_gt_u32 s2, s4", 0xffffffff, 0, 0, OLD, 1},
    {"s_cmp_ge_i32 s2, s4", 0x80000000, 0x7fffffff, 1, OLD, 0},
    {"s_cmp_lt_i32 s2, s4", 0x80000000, 0x7fffffff, 0, OLD, 1},
    {"s_cmp_le_u32 s2, s4", 7, 7, 0, OLD, 1},
    {"s_bitcmp0_b32 s2, s4", 0x10, 36, 1, OLD, 0},
    {"s_bitcmp1_b32 s2, s4", 0x10, 36, 0, OLD, 1},
    {"s_bitcmp0_b64 s[2:3], s4", UINT64_C(1) << 36, 36, 1, OLD, 0},
    {"s_bitcmp1_b64 s[2:3], s4", UINT64_C(1) << 36, 36, 0, OLD, 1},
    {"s_cmpk_eq_i32 s2, 0xffff", 0xffffffff, 0, 0, OLD, 1},
    {"s_cmpk_eq_u32 s2, 0xffff", 0xffffffff, 0, 1, OLD, 0},
    {"s_cmpk_lg_u32 s2, 0xffff", 0xffff, 0, 1, OLD, 0},
    {"s_cmpk_lt_i32 s2, 0x8000", 0xffff0000, 0, 0, OLD, 1},
    {"s_cmpk_gt_u32 s2, 0x8000", 0xffff0000, 0, 0, OLD, 1},
    {"s_cmpk_ge_i32 s2, 0x8000", 0xffff8000, 0, 0, OLD, 1},
};

static void check_probe(const probe *p, uint64_t want) {
  reset();
  ws_set_sgpr64(&wave, 0, OLD);
  ws_set_sgpr64(&wave, 2, p->a);
  ws_set_sgpr64(&wave, 4, p->b);
  wave.scc = (uint32_t)p->scc;
  run(p->line);
  uint64_t got = ws_sgpr64(&wave, 0);
  if (got != want || (int)wave.scc != p->want_scc || group.fault.id)
    WS_FAIL("%s of %llx, %llx, scc %d: %llx, scc %u, want %llx, scc %d",
            p->line, (unsigned long long)p->a, (unsigned long long)p->b, p->scc,
            (unsigned long long)got, wave.scc, (unsigned long long)want,
            p->want_scc);
  WS_CHECK(ws_exec(&wave) == ALL);
}

WS_TEST(results_and_scc_of_32_bits) {
  for (size_t i = 0; i < sizeof probes_32 / sizeof *probes_32; i++)
    check_probe(&probes_32[i],
                (OLD & ~UINT64_C(0xffffffff)) | probes_32[i].want);
}

WS_TEST(results_and_scc_of_64_bits) {
  for (size_t i = 0; i < sizeof probes_64 / sizeof *probes_64; i++)
    check_probe(&probes_64[i], probes_64[i].want);
}

WS_TEST(addk_reports_signed_overflow) {
  reset();
  wave.sgpr[0] = 0x7fffffff;
  run("s_addk_i32 s0, 0x1");
  WS_CHECK(wave.sgpr[0] == 0x80000000 && wave.scc == 1);
}

/* ---- EXEC -----------------------------------------------------------------
 */

WS_TEST(saveexec_family) {
  static const struct {
    const char *name;
    uint64_t want; /* of EXEC 0b1100 and source 0b1010 */
  } cases[] = {
      {"s_and_saveexec_b64", 8},      {"s_or_saveexec_b64", 14},
      {"s_xor_saveexec_b64", 6},      {"s_andn2_saveexec_b64", 2},
      {"s_orn2_saveexec_b64", ~4ull}, {"s_nand_saveexec_b64", ~8ull},
      {"s_nor_saveexec_b64", ~14ull}, {"s_xnor_saveexec_b64", ~6ull},
      {"s_andn1_saveexec_b64", 4},    {"s_orn1_saveexec_b64", ~2ull},
      {"s_andn1_wrexec_b64", 4},      {"s_andn2_wrexec_b64", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char line[80];
    reset();
    ws_set_sgpr64(&wave, WS_SGPR_EXEC, 12);
    ws_set_sgpr64(&wave, 2, 10);
    snprintf(line, sizeof line, "%s s[0:1], s[2:3]", cases[i].name);
    run(line);
    WS_CHECK(ws_exec(&wave) == cases[i].want);
    WS_CHECK(wave.scc == 1);
    bool saves = strstr(cases[i].name, "save") != NULL;
    WS_CHECK(ws_sgpr64(&wave, 0) == (saves ? 12 : cases[i].want));
  }
  reset();
  wave.scc = 1;
  run("s_and_saveexec_b64 vcc, 0");
  WS_CHECK(ws_exec(&wave) == 0 && wave.scc == 0);
  WS_CHECK(ws_sgpr64(&wave, WS_SGPR_VCC) == ALL);
}

/* The source may be the destination. */
WS_TEST(saveexec_onto_its_source) {
  reset();
  ws_set_sgpr64(&wave, WS_SGPR_EXEC, 12);
  ws_set_sgpr64(&wave, 2, 10);
  run("s_and_saveexec_b64 s[2:3], s[2:3]");
  WS_CHECK(ws_exec(&wave) == 8 && ws_sgpr64(&wave, 2) == 12);
}

/* ---- relative moves -------------------------------------------------------
 */

WS_TEST(relative_moves) {
  reset(); /* the two examples of the guide */
  wave.sgpr[WS_SGPR_M0] = 10;
  wave.sgpr[17] = 5;
  run("s_movrels_b32 s5, s7");
  WS_CHECK_INT(wave.sgpr[5], 5);
  wave.sgpr[7] = 9;
  run("s_movreld_b32 s5, s7");
  WS_CHECK_INT(wave.sgpr[15], 9);
  ws_set_sgpr64(&wave, 18, OLD);
  run("s_movrels_b64 s[20:21], s[8:9]");
  WS_CHECK(ws_sgpr64(&wave, 20) == OLD);
  wave.sgpr[WS_SGPR_M0] = 4000000000u;
  run("s_movreld_b64 s[20:21], s[8:9]");
  WS_CHECK_TEXT(group.fault.id, "unsupported");
}

/* ---- control flow ---------------------------------------------------------
 */

/* Instructions of 4 bytes at 0x1000, but the third has 8. */
static void make_text(void) {
  static ws_instruction items[4];
  static uint32_t index_at[5] = {0, 1, 2, UINT32_MAX, 3};
  text = (ws_text){.items = items,
                   .count = 4,
                   .address = 0x1000,
                   .size = 20,
                   .index_at = index_at};
}

static uint32_t pc_after(const char *line, uint32_t target) {
  ws_instruction in = parse(line);
  in.target = target;
  in.offset = 4;
  in.bytes = 4;
  wave.pc = 2;
  in.execute(&wave, &in);
  return wave.pc;
}

WS_TEST(branches) {
  make_text();
  reset();
  WS_CHECK_INT(pc_after("s_branch 5", 3), 3);
  WS_CHECK_INT(pc_after("s_cbranch_scc1 5", 3), 2);
  WS_CHECK_INT(pc_after("s_cbranch_scc0 5", 3), 3);
  WS_CHECK_INT(pc_after("s_cbranch_vccz 5", 3), 3);
  WS_CHECK_INT(pc_after("s_cbranch_vccnz 5", 3), 2);
  WS_CHECK_INT(pc_after("s_cbranch_execz 5", 3), 2);
  WS_CHECK_INT(pc_after("s_cbranch_execnz 5", 3), 3);
  WS_CHECK_INT(pc_after("s_cbranch_cdbgsys 5", 3), 2);
  WS_CHECK(!group.fault.id);
  pc_after("s_branch 5", UINT32_MAX);
  WS_CHECK_TEXT(group.fault.id, "wild-branch");
}

WS_TEST(jumps_through_registers) {
  make_text();
  reset();
  pc_after("s_getpc_b64 s[0:1]", 0);
  WS_CHECK_INT(ws_sgpr64(&wave, 0), 0x1008);
  ws_set_sgpr64(&wave, 2, 0x1010);
  WS_CHECK_INT(pc_after("s_swappc_b64 s[2:3], s[2:3]", 0), 3);
  WS_CHECK_INT(ws_sgpr64(&wave, 2), 0x1008);
  WS_CHECK_INT(pc_after("s_setpc_b64 s[2:3]", 0), 2);
  WS_CHECK_INT(pc_after("s_call_b64 s[6:7], 1", 0), 0);
  WS_CHECK_INT(ws_sgpr64(&wave, 6), 0x1008);
  WS_CHECK(!group.fault.id);
}

WS_TEST(wild_jumps) {
  static const uint64_t wrong[] = {0x100c, 0x1002, 0x1014, 0xffc, 0, ALL - 3};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    make_text();
    reset();
    ws_set_sgpr64(&wave, 2, wrong[i]);
    pc_after("s_setpc_b64 s[2:3]", 0);
    WS_CHECK_TEXT(group.fault.id, "wild-branch");
  }
}

WS_TEST(states_and_traps) {
  reset();
  run("s_barrier");
  WS_CHECK_INT(wave.state, WS_WAVE_AT_BARRIER);
  run("s_endpgm");
  WS_CHECK_INT(wave.state, WS_WAVE_ENDED);
  static const char *const harmless[] = {"s_nop 5",
                                         "s_sleep 1",
                                         "s_setprio 3",
                                         "s_trap 3",
                                         "s_sethalt 0",
                                         "s_wakeup",
                                         "s_icache_inv",
                                         "s_ttracedata",
                                         "s_dcache_wb",
                                         "s_setkill 0",
                                         "s_incperflevel 1",
                                         "s_waitcnt vmcnt(0)",
                                         "s_sendmsg sendmsg(MSG_INTERRUPT)"};
  reset();
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
    run(harmless[i]);
  WS_CHECK(!group.fault.id && wave.state == WS_WAVE_READY);
  static const char *const fatal[] = {"s_trap 2", "s_sethalt 1",
                                      "s_sendmsghalt sendmsg(MSG_INTERRUPT)"};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    reset();
    run(fatal[i]);
    WS_CHECK_TEXT(group.fault.id, "trap");
  }
  reset();
  run("s_setvskip s2, 0");
  WS_CHECK_TEXT(group.fault.id, "unsupported");
}

WS_TEST(hardware_registers) {
  reset();
  wave.mode = 0x2f0;
  run("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)");
  WS_CHECK_INT(wave.sgpr[0], 15);
  wave.sgpr[2] = 0x35;
  run("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s2");
  WS_CHECK_INT(wave.mode, 0x250);
  run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3");
  WS_CHECK_INT(wave.mode, 0x253);
  run("s_getreg_b32 s0, hwreg(HW_REG_MODE)");
  WS_CHECK_INT(wave.sgpr[0], 0x253);
  group.id[0] = 13;
  run("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)");
  WS_CHECK_INT(wave.sgpr[0], 5);
}

/* ---- memory ---------------------------------------------------------------
 */

static uint32_t *words; /* 64 of them: word i holds 100 + i */

static void make_memory(void) {
  reset();
  group.memory = ws__memory_create();
  words = ws__memory_allocate(group.memory, 256);
  for (uint32_t i = 0; i < 64; i++)
    words[i] = 100 + i;
  ws_set_sgpr64(&wave, 2, (uint64_t)(uintptr_t)words);
  ws_set_sgpr64(&wave, 4, (uint64_t)(uintptr_t)words);
  wave.sgpr[6] = 256; /* s[4:7]: a raw buffer of 256 bytes */
}

WS_TEST(scalar_loads) {
  make_memory();
  run("s_load_dword s8, s[2:3], 0x10");
  WS_CHECK_INT(wave.sgpr[8], 104);
  WS_CHECK(wave.access.mask == 1 && wave.access.bytes == 4);
  WS_CHECK(wave.access.address[0] == (uint64_t)(uintptr_t)(words + 4));
  wave.sgpr[40] = 8;
  run("s_load_dwordx2 s[8:9], s[2:3], s40");
  WS_CHECK(wave.sgpr[8] == 102 && wave.sgpr[9] == 103);
  run("s_load_dwordx4 s[8:11], s[2:3], s40 offset:0x4");
  WS_CHECK(wave.sgpr[8] == 103 && wave.sgpr[11] == 106);
  run("s_load_dwordx8 s[8:15], s[2:3], 0x20");
  WS_CHECK(wave.sgpr[8] == 108 && wave.sgpr[15] == 115);
  run("s_load_dwordx16 s[16:31], s[2:3], 0xc0");
  WS_CHECK(wave.sgpr[16] == 148 && wave.sgpr[31] == 163);
  ws_set_sgpr64(&wave, 2, (uint64_t)(uintptr_t)(words + 4));
  run("s_load_dword s8, s[2:3], -0x10");
  WS_CHECK_INT(wave.sgpr[8], 100);
  wave.sgpr[40] = 1;
  run("s_scratch_load_dword s8, s[4:5], s40");
  WS_CHECK_INT(wave.sgpr[8], 116);
  WS_CHECK(!group.fault.id);
  ws__memory_destroy(group.memory);
}

/* The base is overwritten by the load. */
WS_TEST(scalar_load_onto_its_base) {
  make_memory();
  run("s_load_dwordx4 s[0:3], s[2:3], 0x0");
  WS_CHECK(wave.sgpr[0] == 100 && wave.sgpr[3] == 103);
  ws__memory_destroy(group.memory);
}

WS_TEST(scalar_buffer_loads) {
  make_memory();
  run("s_buffer_load_dwordx2 s[8:9], s[4:7], 0x8");
  WS_CHECK(wave.sgpr[8] == 102 && wave.sgpr[9] == 103);
  wave.sgpr[6] = 12; /* three words in range */
  run("s_buffer_load_dwordx4 s[8:11], s[4:7], 0x4");
  WS_CHECK(wave.sgpr[8] == 101 && wave.sgpr[9] == 102);
  WS_CHECK(wave.sgpr[10] == 0 && wave.sgpr[11] == 0);
  wave.sgpr[40] = 0xfffffffc;
  run("s_buffer_load_dword s8, s[4:7], s40");
  WS_CHECK_INT(wave.sgpr[8], 0);
  wave.sgpr[6] = 2; /* two records of 16 bytes */
  wave.sgpr[5] |= 16u << 16;
  run("s_buffer_load_dword s8, s[4:7], 0x1c");
  WS_CHECK_INT(wave.sgpr[8], 107);
  run("s_buffer_load_dword s8, s[4:7], 0x20");
  WS_CHECK_INT(wave.sgpr[8], 0);
  WS_CHECK(!group.fault.id);
  ws__memory_destroy(group.memory);
}

WS_TEST(scalar_memory_faults) {
  static const struct {
    const char *line, *id;
  } cases[] = {{"s_load_dword s8, s[2:3], 0x100", "oob-global"},
               {"s_load_dwordx2 s[8:9], s[2:3], 0xfc", "oob-global"},
               {"s_load_dword s8, s[2:3], 0x2", "misaligned"},
               {"s_store_dword s8, s[2:3], -0x4", "oob-global"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    make_memory();
    run(cases[i].line);
    if (!group.fault.id)
      WS_FAIL("%s: no fault", cases[i].line);
    WS_CHECK_TEXT(group.fault.id, cases[i].id);
    ws__memory_destroy(group.memory);
  }
  make_memory();
  ws__memory_release(group.memory, words);
  run("s_load_dword s8, s[2:3], 0x0");
  WS_CHECK_TEXT(group.fault.id, "use-after-free");
  ws__memory_destroy(group.memory);
}

WS_TEST(scalar_stores) {
  make_memory();
  ws_set_sgpr64(&wave, 8, OLD);
  run("s_store_dwordx2 s[8:9], s[2:3], 0x8");
  WS_CHECK(words[2] == 0x33334444 && words[3] == 0x11112222);
  wave.sgpr[6] = 8;
  run("s_buffer_store_dwordx2 s[8:9], s[4:7], 0x4");
  WS_CHECK(words[1] == 0x33334444 && words[2] == 0x33334444);
  ws__memory_destroy(group.memory);
}

WS_TEST(scalar_atomics) {
  static const struct {
    const char *name;
    uint32_t old, data, want;
  } cases[] = {{"swap", 1, 2, 2},
               {"add", 0xffffffff, 2, 1},
               {"sub", 1, 2, 0xffffffff},
               {"smin", 1, 0xffffffff, 0xffffffff},
               {"umin", 1, 0xffffffff, 1},
               {"smax", 1, 0xffffffff, 1},
               {"umax", 1, 0xffffffff, 0xffffffff},
               {"and", 6, 3, 2},
               {"or", 6, 3, 7},
               {"xor", 6, 3, 5},
               {"inc", 7, 7, 0},
               {"inc", 6, 7, 7},
               {"dec", 0, 7, 7},
               {"dec", 8, 7, 7},
               {"dec", 7, 7, 6}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char line[80];
    make_memory();
    words[1] = cases[i].old;
    wave.sgpr[9] = cases[i].data;
    snprintf(line, sizeof line, "s_atomic_%s s9, s[2:3], 0x4 glc",
             cases[i].name);
    run(line);
    WS_CHECK(words[1] == cases[i].want && wave.sgpr[9] == cases[i].old);
    ws__memory_destroy(group.memory);
  }
  make_memory();
  memcpy(&words[2], &(uint64_t){OLD}, 8);
  ws_set_sgpr64(&wave, 8, 5);
  ws_set_sgpr64(&wave, 10, OLD);
  run("s_atomic_cmpswap_x2 s[8:11], s[2:3], 0x8");
  WS_CHECK(words[2] == 5 && words[3] == 0 && wave.sgpr[8] == 5);
  wave.sgpr[14] = 9;
  wave.sgpr[15] = 6;
  run("s_buffer_atomic_cmpswap s[14:15], s[4:7], 0x8 glc");
  WS_CHECK(words[2] == 5 && wave.sgpr[14] == 5);
  ws__memory_destroy(group.memory);
}

WS_TEST(clocks_count_instructions) {
  reset();
  wave.executed = 2100;
  run("s_memtime s[0:1]");
  WS_CHECK_INT(ws_sgpr64(&wave, 0), 8400);
  run("s_memrealtime s[2:3]");
  WS_CHECK_INT(ws_sgpr64(&wave, 2), 400);
}

/* Every opcode of the table has a handler. */
WS_TEST(all_scalar_opcodes_have_handlers) {
#define OP(name, class_, operands)                                             \
  if (!ws__execute_scalar(WS_OP_##name))                                       \
    WS_FAIL("%s has no handler", #name);
#include "ops_scalar.def"
#undef OP
  WS_CHECK(!ws__execute_scalar(WS_OP_COUNT));
  WS_CHECK(!ws__execute_scalar(WS_OP_v_mfma_f32_16x16x32_fp8_fp8));
}
