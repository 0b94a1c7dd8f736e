/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parser of disassembly: one line each, in all the forms that gfx942 has,
 * against fields derived by hand from the ISA guide (encodings of registers,
 * dpp_ctrl, s_waitcnt, inline constants) and from LLVM's syntax.
 *
 * An expectation is what describe() writes: opcode, destinations "=" sources,
 * then what differs from the defaults. A register is v, a or s, its index and
 * its count; a constant is # and its bits, a special operand $ and its number.
 */
#include "decode.h"
#include "ws_test.h"

static void describe_operand(ws_strbuf *out, const ws_operand *operand) {
  static const char letters[] = "-vs#$";
  bool acc = operand->kind == WS_OPERAND_VECTOR && operand->index >= 256;
  ws_strbuf_puts(out, " ");
  ws_strbuf_puts(out, operand->negate ? "neg " : "");
  ws_strbuf_puts(out, operand->absolute ? "abs " : "");
  ws_strbuf_puts(out, operand->sign_extend ? "sext " : "");
  if (operand->kind == WS_OPERAND_NONE)
    ws_strbuf_puts(out, "off");
  else if (operand->kind == WS_OPERAND_CONSTANT)
    ws_strbuf_printf(out, "#%llx", (unsigned long long)operand->constant);
  else
    ws_strbuf_printf(out, "%c%d:%d", acc ? 'a' : letters[operand->kind],
                     acc ? operand->index - 256 : operand->index,
                     operand->count);
}

static void describe_number(ws_strbuf *out, const char *name, int value,
                            int usual) {
  if (value != usual)
    ws_strbuf_printf(out, " %s=0x%x", name, (unsigned)value);
}

static void describe_flags(ws_strbuf *out, unsigned flags) {
  static const struct {
    unsigned flag;
    const char *name;
  } names[] = {
      {WS_MODIFIED, "modified"},
      {WS_IS_SDWA, "sdwa"},
      {WS_CLAMP, "clamp"},
      {WS_OFFEN, "offen"},
      {WS_IDXEN, "idxen"},
      {WS_LDS_DMA, "lds"},
      {WS_SC0, "sc0"},
      {WS_SC1, "sc1"},
      {WS_NT, "nt"},
      {WS_GDS, "gds"},
      {WS_BOUND_CTRL, "bound"},
      {WS_OP_SEL_GIVEN, "given"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (flags & names[i].flag)
      ws_strbuf_printf(out, " %s", names[i].name);
}

static void describe(ws_strbuf *out, const ws_instruction *in) {
  ws_strbuf_puts(out, ws__op_name((ws_op)in->op));
  for (int i = 0; i < in->dst_count; i++)
    describe_operand(out, &in->dst[i]);
  ws_strbuf_puts(out, " =");
  for (int i = 0; i < in->src_count; i++)
    describe_operand(out, &in->src[i]);
  describe_flags(out, in->flags);
  describe_number(out, "dpp", in->dpp, WS_DPP_NONE);
  describe_number(out, "rows", in->row_mask, 15);
  describe_number(out, "banks", in->bank_mask, 15);
  describe_number(out, "dst_sel", in->dst_select, WS_SELECT_ALL);
  describe_number(out, "unused", in->dst_unused, WS_UNUSED_PAD);
  describe_number(out, "src0_sel", in->src[0].select, WS_SELECT_ALL);
  describe_number(out, "src1_sel", in->src[1].select, WS_SELECT_ALL);
  describe_number(out, "omod", in->omod, 0);
  describe_number(out, "op_sel", in->op_sel, 0);
  describe_number(out, "op_sel_hi", in->op_sel_hi, 0);
  describe_number(out, "neg_lo", in->neg_lo, 0);
  describe_number(out, "neg_hi", in->neg_hi, 0);
  describe_number(out, "cbsz", in->cbsz, 0);
  describe_number(out, "abid", in->abid, 0);
  describe_number(out, "blgp", in->blgp, 0);
  describe_number(out, "imm", in->imm, 0);
  describe_number(out, "imm2", in->imm2, 0);
}

typedef struct expectation {
  const char *line, *fields;
} expectation;

static void expect_all(const expectation *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    ws_instruction in;
    ws_diag diag = {""};
    ws_strbuf text;
    ws_strbuf_init(&text);
    if (ws__parse_instruction(cases[i].line, &in, &diag))
      WS_FAIL("%s: %s", cases[i].line, diag.text);
    describe(&text, &in);
    if (strcmp(text.data, cases[i].fields))
      WS_FAIL("%s\n#   is   \"%s\"\n#   want \"%s\"", cases[i].line, text.data,
              cases[i].fields);
    ws_strbuf_deinit(&text);
  }
}
#define EXPECT_ALL(cases) expect_all(cases, sizeof cases / sizeof *cases)

WS_TEST(plain_vector_instructions) {
  static const expectation cases[] = {
      {"v_add_f32_e32 v1, v2, v3", "v_add_f32 v1:1 = v2:1 v3:1"},
      {"\tv_add_f32_e32 v1, v2, v3   // 000: 02020702",
       "v_add_f32 v1:1 = v2:1 v3:1"},
      {"v_add_f32 v1,v2,v3 ; comment", "v_add_f32 v1:1 = v2:1 v3:1"},
      {"v_nop", "v_nop ="},
      {"v_mov_b32_e32 v255, s101", "v_mov_b32 v255:1 = s101:1"},
      {"v_mov_b32_e32 v0, vcc_lo", "v_mov_b32 v0:1 = s106:1"},
      {"v_mov_b32_e32 v0, vcc_hi", "v_mov_b32 v0:1 = s107:1"},
      {"v_mov_b32_e32 v0, exec_lo", "v_mov_b32 v0:1 = s126:1"},
      {"v_mov_b32_e32 v0, exec_hi", "v_mov_b32 v0:1 = s127:1"},
      {"v_mov_b32_e32 v0, m0", "v_mov_b32 v0:1 = s124:1"},
      {"v_mov_b32_e32 v0, flat_scratch_lo", "v_mov_b32 v0:1 = s102:1"},
      {"v_mov_b32_e32 v0, xnack_mask_hi", "v_mov_b32 v0:1 = s105:1"},
      {"v_mov_b32_e32 v0, ttmp5", "v_mov_b32 v0:1 = s113:1"},
      {"v_mov_b32_e32 v0, src_shared_base", "v_mov_b32 v0:1 = $3:2"},
      {"v_mov_b32_e32 v0, src_private_limit", "v_mov_b32 v0:1 = $6:2"},
      {"v_cmp_gt_i32_e32 vcc, 5, v2", "v_cmp_gt_i32 s106:2 = #5 v2:1"},
      {"v_cmp_gt_i32_e64 s[2:3], v2, 5", "v_cmp_gt_i32 s2:2 = v2:1 #5"},
      {"v_add_co_u32_e32 v1, vcc, v2, v3",
       "v_add_co_u32 v1:1 s106:2 = v2:1 v3:1"},
      {"v_addc_co_u32_e64 v1, s[2:3], v2, v3, s[4:5]",
       "v_addc_co_u32 v1:1 s2:2 = v2:1 v3:1 s4:2"},
      {"v_cndmask_b32_e32 v1, v2, v3, vcc",
       "v_cndmask_b32 v1:1 = v2:1 v3:1 s106:2"},
      {"v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]",
       "v_mad_u64_u32 v0:2 s2:2 = v4:1 v5:1 v6:2"},
      {"v_div_scale_f32 v0, vcc, v1, v1, v2",
       "v_div_scale_f32 v0:1 s106:2 = v1:1 v1:1 v2:1"},
      {"v_readlane_b32 s0, v1, m0", "v_readlane_b32 s0:1 = v1:1 s124:1"},
      {"v_readfirstlane_b32 s0, v1", "v_readfirstlane_b32 s0:1 = v1:1"},
      {"v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]",
       "v_lshl_add_u64 v0:2 = v2:2 #2 v4:2"},
      {"v_accvgpr_read_b32 v0, a255", "v_accvgpr_read_b32 v0:1 = a255:1"},
      {"v_accvgpr_write_b32 a0, 0", "v_accvgpr_write_b32 a0:1 = #0"},
      {"v_fmaak_f32 v0, v1, v2, 0x3f800001",
       "v_fmaak_f32 v0:1 = v1:1 v2:1 #3f800001"},
  };
  EXPECT_ALL(cases);
}

/* Read and written: dst[0] and once more the last source. */
WS_TEST(accumulators) {
  static const expectation cases[] = {
      {"v_fmac_f32_e32 v0, v1, v2", "v_fmac_f32 v0:1 = v1:1 v2:1 v0:1"},
      {"v_fmac_f32_e64 v0, -v1, v2",
       "v_fmac_f32 v0:1 = neg v1:1 v2:1 v0:1 modified"},
      {"v_fmac_f64_e32 v[0:1], v[2:3], 1.0",
       "v_fmac_f64 v0:2 = v2:2 #3ff0000000000000 v0:2"},
      {"v_dot2c_f32_f16_e32 v0, v1, v2",
       "v_dot2c_f32_f16 v0:1 = v1:1 v2:1 v0:1 op_sel_hi=0x7"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(constants) {
  static const expectation cases[] = {
      {"v_add_f32_e32 v0, 1.0, v1", "v_add_f32 v0:1 = #3f800000 v1:1"},
      {"v_add_f32_e32 v0, -0.5, v1", "v_add_f32 v0:1 = #bf000000 v1:1"},
      {"v_add_f32_e32 v0, 2.0, v1", "v_add_f32 v0:1 = #40000000 v1:1"},
      {"v_add_f32_e32 v0, -4.0, v1", "v_add_f32 v0:1 = #c0800000 v1:1"},
      {"v_mul_f32_e32 v0, 0.15915494, v1", "v_mul_f32 v0:1 = #3e22f983 v1:1"},
      /* an integer in a float operand: its bits, not its value */
      {"v_add_f32_e32 v0, 1, v1", "v_add_f32 v0:1 = #1 v1:1"},
      {"v_add_f32_e32 v0, -16, v1", "v_add_f32 v0:1 = #fffffff0 v1:1"},
      {"v_add_f32_e32 v0, 0x40600000, v1", "v_add_f32 v0:1 = #40600000 v1:1"},
      {"v_add_f32_e32 v0, 3.5, v1", "v_add_f32 v0:1 = #40600000 v1:1"},
      {"v_add_f16_e32 v0, 1.0, v1", "v_add_f16 v0:1 = #3c00 v1:1"},
      {"v_mul_f16_e32 v0, 0.15915494, v1", "v_mul_f16 v0:1 = #3118 v1:1"},
      {"v_mul_f16_e32 v0, 0x1234, v1", "v_mul_f16 v0:1 = #1234 v1:1"},
      {"v_add_f64 v[0:1], v[2:3], 0.5",
       "v_add_f64 v0:2 = v2:2 #3fe0000000000000"},
      {"v_add_f64 v[0:1], v[2:3], 0.15915494309189532",
       "v_add_f64 v0:2 = v2:2 #3fc45f306dc9c882"},
      {"v_add_f64 v[0:1], v[2:3], -4.0",
       "v_add_f64 v0:2 = v2:2 #c010000000000000"},
      /* integers in f64 operands are 64 bits wide */
      {"v_add_f64 v[0:1], v[2:3], -1",
       "v_add_f64 v0:2 = v2:2 #ffffffffffffffff"},
      /* a literal is the high half: 100.0 */
      {"v_cvt_f32_f64_e32 v0, 0x40590000",
       "v_cvt_f32_f64 v0:1 = #4059000000000000"},
      {"v_cvt_f32_f64_e32 v0, 100.0", "v_cvt_f32_f64 v0:1 = #4059000000000000"},
      {"v_mov_b64_e32 v[0:1], -5", "v_mov_b64 v0:2 = #fffffffffffffffb"},
      {"v_mov_b64_e32 v[0:1], 0xfffffff0", "v_mov_b64 v0:2 = #fffffff0"},
      {"v_mov_b64_e32 v[0:1], 1.0", "v_mov_b64 v0:2 = #3ff0000000000000"},
      {"s_mov_b64 s[0:1], 0x80000000", "s_mov_b64 s0:2 = #80000000"},
      /* sign-extended where the opcode is signed */
      {"s_ashr_i64 s[0:1], 0x80000000, 3",
       "s_ashr_i64 s0:2 = #ffffffff80000000 #3"},
      {"v_cmp_lt_i64_e32 vcc, 0x80000001, v[2:3]",
       "v_cmp_lt_i64 s106:2 = #ffffffff80000001 v2:2"},
      {"v_cmp_lt_u64_e32 vcc, 0x80000001, v[2:3]",
       "v_cmp_lt_u64 s106:2 = #80000001 v2:2"},
      {"s_mov_b32 s0, -17", "s_mov_b32 s0:1 = #ffffffef"},
      {"s_mov_b32 s0, 0.5", "s_mov_b32 s0:1 = #3f000000"},
      {"s_mov_b64 s[0:1], src_shared_base", "s_mov_b64 s0:2 = $3:2"},
      {"s_mov_b32 s0, src_scc", "s_mov_b32 s0:1 = $0:1"},
      {"v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], 1.0",
       "v_mfma_f32_32x32x16_fp8_fp8 a0:16 = v0:2 v2:2 #3f800000"},
      {"v_mfma_i32_16x16x32_i8 v[0:3], v[4:5], v[6:7], 1",
       "v_mfma_i32_16x16x32_i8 v0:4 = v4:2 v6:2 #1"},
      /* packed: integers over all 32 bits, floats in the low half */
      {"v_pk_add_u16 v0, v1, -5",
       "v_pk_add_u16 v0:1 = v1:1 #fffffffb op_sel_hi=0x7"},
      {"v_pk_add_f16 v0, v1, 1.0 op_sel_hi:[1,0]",
       "v_pk_add_f16 v0:1 = v1:1 #3c00 modified given op_sel_hi=0x5"},
      {"v_pk_mul_f32 v[0:1], v[2:3], 1.0 op_sel_hi:[1,0]",
       "v_pk_mul_f32 v0:2 = v2:2 #3f800000 modified given op_sel_hi=0x5"},
      {"v_fma_mix_f32 v0, v1, 1.0, 1.0 op_sel_hi:[1,1,0]",
       "v_fma_mix_f32 v0:1 = v1:1 #3c00 #3f800000 modified given "
       "op_sel_hi=0x3"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(vop3_modifiers) {
  static const expectation cases[] = {
      {"v_add_f32_e64 v1, -v2, |v3| clamp mul:2",
       "v_add_f32 v1:1 = neg v2:1 abs v3:1 modified clamp omod=0x1"},
      {"v_add_f32_e64 v1, -|v2|, neg(1) mul:4",
       "v_add_f32 v1:1 = neg abs v2:1 neg #1 modified omod=0x2"},
      {"v_add_f32_e64 v1, neg(v2), abs(v3) div:2",
       "v_add_f32 v1:1 = neg v2:1 abs v3:1 modified omod=0x3"},
      {"v_mad_i16 v0, v1, v2, v3 op_sel:[1,0,0,1]",
       "v_mad_i16 v0:1 = v1:1 v2:1 v3:1 modified given op_sel=0x9"},
      /* two sources: the third entry is the destination's */
      {"v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]",
       "v_cvt_pk_fp8_f32 v0:1 = v1:1 v2:1 modified given op_sel=0x8"},
      {"v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,1]",
       "v_cvt_sr_fp8_f32 v0:1 = v1:1 v2:1 modified given op_sel=0xc"},
      {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel:[0,1,0] "
       "op_sel_hi:[1,0,1] neg_lo:[1,0,0] neg_hi:[0,0,1]",
       "v_pk_fma_f32 v0:2 = v2:2 v4:2 v6:2 modified given op_sel=0x2 "
       "op_sel_hi=0x5 neg_lo=0x1 neg_hi=0x4"},
      {"v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]",
       "v_pk_mov_b32 v0:2 = v2:2 v4:2 modified given op_sel=0x1 "
       "op_sel_hi=0x7"},
      {"v_pk_fma_f16 v0, v1, v2, v3",
       "v_pk_fma_f16 v0:1 = v1:1 v2:1 v3:1 op_sel_hi=0x7"},
      {"v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1 "
       "abid:2 blgp:3",
       "v_mfma_f32_32x32x16_fp8_fp8 a0:16 = v0:2 v2:2 a0:16 modified cbsz=0x1 "
       "abid=0x2 blgp=0x3"},
      {"v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7] neg:[1,0,1]",
       "v_mfma_f64_16x16x4_f64 a0:8 = v0:2 v2:2 a0:8 modified neg_lo=0x5 "
       "blgp=0x5"},
  };
  EXPECT_ALL(cases);
}

/* dpp_ctrl by the ISA guide's enumeration. */
WS_TEST(dpp) {
  static const struct {
    const char *text;
    int control;
  } controls[] = {
      {"quad_perm:[1,0,3,2]", 0xb1}, {"quad_perm:[3,2,1,0]", 0x1b},
      {"row_shl:1", 0x101},          {"row_shl:15", 0x10f},
      {"row_shr:1", 0x111},          {"row_ror:15", 0x12f},
      {"wave_shl:1", 0x130},         {"wave_rol:1", 0x134},
      {"wave_shr:1", 0x138},         {"wave_ror:1", 0x13c},
      {"row_mirror", 0x140},         {"row_half_mirror", 0x141},
      {"row_bcast:15", 0x142},       {"row_bcast:31", 0x143},
      {"row_newbcast:0", 0x150},     {"row_newbcast:15", 0x15f},
  };
  for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
    char line[128], want[128];
    snprintf(line, sizeof line,
             "v_mov_b32_dpp v1, v2 %s row_mask:0xa bank_mask:0x3",
             controls[i].text);
    snprintf(want, sizeof want,
             "v_mov_b32 v1:1 = v2:1 modified dpp=0x%x rows=0xa banks=0x3",
             controls[i].control);
    expect_all(&(expectation){line, want}, 1);
  }
  static const expectation cases[] = {
      {"v_add_f32_dpp v1, -v2, |v3| row_bcast:15 row_mask:0xf bank_mask:0xf "
       "bound_ctrl:1",
       "v_add_f32 v1:1 = neg v2:1 abs v3:1 modified bound dpp=0x142"},
      {"v_add_f32_dpp v1, v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf "
       "bound_ctrl:0",
       "v_add_f32 v1:1 = v2:1 v3:1 modified bound dpp=0x111"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(sdwa) {
  static const expectation cases[] = {
      {"v_or_b32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:BYTE_0 src1_sel:WORD_1",
       "v_or_b32 v1:1 = v2:1 v3:1 modified sdwa src0_sel=0x0 src1_sel=0x5"},
      {"v_add_u32_sdwa v1, sext(v2), v3 dst_sel:BYTE_3 "
       "dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:WORD_0",
       "v_add_u32 v1:1 = sext v2:1 v3:1 modified sdwa dst_sel=0x3 unused=0x2 "
       "src0_sel=0x2 src1_sel=0x4"},
      {"v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_SEXT "
       "src0_sel:DWORD src1_sel:DWORD",
       "v_add_f16 v0:1 = v1:1 v2:1 modified sdwa dst_sel=0x5 unused=0x1"},
      {"v_cmp_gt_i32_sdwa vcc, v1, v2 src0_sel:WORD_1 src1_sel:DWORD",
       "v_cmp_gt_i32 s106:2 = v1:1 v2:1 modified sdwa src0_sel=0x5"},
      {"v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2",
       "v_cvt_f32_fp8 v0:1 = v1:1 modified sdwa src0_sel=0x2"},
      {"v_mul_f32_sdwa v0, -v1, |v2| mul:2 dst_sel:DWORD "
       "dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
       "v_mul_f32 v0:1 = neg v1:1 abs v2:1 modified sdwa omod=0x1"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(scalar) {
  static const expectation cases[] = {
      {"s_mov_b64 exec, vcc", "s_mov_b64 s126:2 = s106:2"},
      {"s_mov_b64 s[0:1], ttmp[4:5]", "s_mov_b64 s0:2 = s112:2"},
      {"s_mov_b64 s[0:1], flat_scratch", "s_mov_b64 s0:2 = s102:2"},
      {"s_movk_i32 s0, 0x8000", "s_movk_i32 s0:1 = #ffff8000 imm=0xffff8000"},
      {"s_addk_i32 s0, 0x7f", "s_addk_i32 s0:1 = #7f s0:1 imm=0x7f"},
      {"s_cmpk_eq_i32 s0, 0xff00",
       "s_cmpk_eq_i32 = s0:1 #ffffff00 imm=0xffffff00"},
      {"s_cmpk_gt_u32 s0, 0xff00", "s_cmpk_gt_u32 = s0:1 #ff00 imm=0xffffff00"},
      {"s_getreg_b32 s0, hwreg(HW_REG_XCC_ID, 0, 4)",
       "s_getreg_b32 s0:1 = #1814 imm=0x14 imm2=0x400"},
      {"s_getreg_b32 s0, hwreg(HW_REG_MODE)",
       "s_getreg_b32 s0:1 = #f801 imm=0x1 imm2=0x2000"},
      {"s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s3",
       "s_setreg_b32 = #901 s3:1 imm=0x1 imm2=0x204"},
      {"s_setreg_imm32_b32 hwreg(33, 0, 4), 16",
       "s_setreg_imm32_b32 = #1821 #10 imm=0x21 imm2=0x400"},
      {"s_sendmsg sendmsg(MSG_INTERRUPT)", "s_sendmsg = #1 imm=0x1"},
      {"s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)", "s_sendmsg = #3 imm=0x3"},
      {"s_nop 1", "s_nop = #1 imm=0x1"},
      {"s_setprio 3", "s_setprio = #3 imm=0x3"},
      {"s_branch 5", "s_branch = #5 imm=0x5"},
      {"s_cbranch_scc1 65534", "s_cbranch_scc1 = #fffe imm=0xfffffffe"},
      {"s_call_b64 s[0:1], 5", "s_call_b64 s0:2 = #5 imm=0x5"},
      {"s_endpgm", "s_endpgm ="},
      {"s_barrier", "s_barrier ="},
      {"s_swappc_b64 s[30:31], s[0:1]", "s_swappc_b64 s30:2 = s0:2"},
      {"s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)",
       "s_set_gpr_idx_on = s0:1 #9 imm=0x9"},
      {"s_load_dwordx2 s[0:1], s[2:3], 0x10", "s_load_dwordx2 s0:2 = s2:2 #10"},
      {"s_load_dword s0, s[2:3], -0x10", "s_load_dword s0:1 = s2:2 #fffffff0"},
      {"s_load_dwordx2 s[0:1], s[2:3], s4 offset:0x10",
       "s_load_dwordx2 s0:2 = s2:2 s4:1 imm=0x10"},
      {"s_buffer_load_dwordx4 s[0:3], s[4:7], 0x10 glc",
       "s_buffer_load_dwordx4 s0:4 = s4:4 #10 sc0"},
      {"s_memtime s[0:1]", "s_memtime s0:2 ="},
  };
  EXPECT_ALL(cases);
}

/* vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8. */
WS_TEST(waits) {
  static const expectation cases[] = {
      {"s_waitcnt vmcnt(0)", "s_waitcnt = #f70 imm=0xf70"},
      {"s_waitcnt vmcnt(63)", "s_waitcnt = #cf7f imm=0xcf7f"},
      {"s_waitcnt lgkmcnt(0)", "s_waitcnt = #c07f imm=0xc07f"},
      {"s_waitcnt expcnt(0)", "s_waitcnt = #cf0f imm=0xcf0f"},
      {"s_waitcnt vmcnt(17) lgkmcnt(2)", "s_waitcnt = #4271 imm=0x4271"},
      {"s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", "s_waitcnt = #0"},
      {"s_waitcnt vmcnt(1) & lgkmcnt(1)", "s_waitcnt = #171 imm=0x171"},
      {"s_waitcnt vmcnt(1), lgkmcnt(1)", "s_waitcnt = #171 imm=0x171"},
      {"s_waitcnt 0xffff", "s_waitcnt = #ffff imm=0xffff"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(lds) {
  static const expectation cases[] = {
      {"ds_read_b32 v0, v1 offset:16", "ds_read_b32 v0:1 = v1:1 imm=0x10"},
      {"ds_read2_b32 v[0:1], v1 offset0:1 offset1:255",
       "ds_read2_b32 v0:2 = v1:1 imm=0x1 imm2=0xff"},
      {"ds_read2st64_b64 v[0:3], v1 offset1:2",
       "ds_read2st64_b64 v0:4 = v1:1 imm2=0x2"},
      {"ds_write_b128 v0, a[0:3] offset:65535",
       "ds_write_b128 = v0:1 a0:4 imm=0xffff"},
      {"ds_write2_b64 v0, v[2:3], v[4:5] offset1:1",
       "ds_write2_b64 = v0:1 v2:2 v4:2 imm2=0x1"},
      {"ds_bpermute_b32 v0, v1, v2 offset:4",
       "ds_bpermute_b32 v0:1 = v1:1 v2:1 imm=0x4"},
      {"ds_nop", "ds_nop ="},
      /* and 0x04, or 0x03: bits 4:0 and 9:5 */
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"00p11\")",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0x64"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, \"pippp\")",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0x201f"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,3)",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0x80e4"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0x401f"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,16)",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0x3c1f"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,16,1)",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0x30"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(ROTATE,1,3)",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0xc460"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(FFT,31)",
       "ds_swizzle_b32 v0:1 = v1:1 imm=0xe01f"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(vector_memory) {
  static const expectation cases[] = {
      {"global_load_dword v0, v[2:3], off offset:16",
       "global_load_dword v0:1 = v2:2 off imm=0x10"},
      {"global_load_dword v0, v1, s[2:3] offset:-16 sc0 nt sc1",
       "global_load_dword v0:1 = v1:1 s2:2 sc0 sc1 nt imm=0xfffffff0"},
      {"global_load_lds_dword v0, s[0:1] offset:16",
       "global_load_lds_dword = v0:1 s0:2 imm=0x10"},
      {"global_store_short_d16_hi v[0:1], v2, off",
       "global_store_short_d16_hi = v0:2 v2:1 off"},
      {"global_atomic_add v0, v[2:3], v4, off sc0",
       "global_atomic_add v0:1 = v2:2 v4:1 off sc0"},
      {"global_atomic_add v[2:3], v4, off",
       "global_atomic_add = v2:2 v4:1 off"},
      {"flat_load_dwordx4 v[0:3], v[4:5] offset:16",
       "flat_load_dwordx4 v0:4 = v4:2 imm=0x10"},
      {"flat_atomic_cmpswap v0, v[2:3], v[4:5] sc0",
       "flat_atomic_cmpswap v0:1 = v2:2 v4:2 sc0"},
      {"buffer_load_dwordx4 v[0:3], v4, s[4:7], 0 offen offset:16",
       "buffer_load_dwordx4 v0:4 = v4:1 s4:4 #0 offen imm=0x10"},
      {"buffer_load_dwordx4 v[0:3], off, s[4:7], s8 offset:4095",
       "buffer_load_dwordx4 v0:4 = off s4:4 s8:1 imm=0xfff"},
      {"buffer_load_dwordx4 v[0:3], v[4:5], s[4:7], s8 idxen offen",
       "buffer_load_dwordx4 v0:4 = v4:2 s4:4 s8:1 offen idxen"},
      /* to LDS: there is no destination */
      {"buffer_load_dword v0, s[4:7], 0 offen lds",
       "buffer_load_dword = v0:1 s4:4 #0 offen lds"},
      {"buffer_load_dword off, s[4:7], 0 lds",
       "buffer_load_dword = off s4:4 #0 lds"},
      {"buffer_store_short v0, v1, s[4:7], 0 offen sc0 nt",
       "buffer_store_short = v0:1 v1:1 s4:4 #0 offen sc0 nt"},
      /* the data comes back */
      {"buffer_atomic_add v0, v1, s[4:7], 0 offen sc0",
       "buffer_atomic_add v0:1 = v0:1 v1:1 s4:4 #0 offen sc0"},
      {"buffer_atomic_cmpswap v[0:1], v2, s[4:7], 0 offen sc0",
       "buffer_atomic_cmpswap v0:1 = v0:2 v2:1 s4:4 #0 offen sc0"},
      {"buffer_atomic_add v0, v1, s[4:7], 0 offen",
       "buffer_atomic_add = v0:1 v1:1 s4:4 #0 offen"},
      {"buffer_wbl2 sc0 sc1", "buffer_wbl2 = sc0 sc1"},
      {"buffer_inv sc1", "buffer_inv = sc1"},
      {"scratch_load_dword v0, off, s0 offset:4",
       "scratch_load_dword v0:1 = off s0:1 imm=0x4"},
      {"scratch_load_dword v0, off, off", "scratch_load_dword v0:1 = off off"},
      {"scratch_store_dwordx4 v4, v[0:3], off",
       "scratch_store_dwordx4 = v4:1 v0:4 off"},
  };
  EXPECT_ALL(cases);
}

WS_TEST(refusals) {
  static const struct {
    const char *line, *part;
  } cases[] = {
      {"", "opcode ''"},
      {"v_frobnicate_b32 v0, v1", "'v_frobnicate_b32'"},
      {"v_add_f32_e65 v0, v1, v2", "'v_add_f32_e65'"},
      {"v_add_f32_e32 v0, v1", "operands"},
      {"v_add_f32_e32 v0, v1, v2, v3", "operands"},
      {"v_add_f32_e32 v0, v1, v2, v3, v4, v5, v6, v7", "operands"},
      {"v_add_f32_e32 v0, v1, v256", "v256"},
      {"v_add_f32_e32 v0, v1, v[1:0]", "v[1:0]"},
      {"v_add_f32_e32 v0, v1, v[250:256]", "v[250:256]"},
      {"v_add_f32_e32 v0, v1, s102", "s102"},
      {"v_add_f32_e32 v0, v1, ttmp16", "ttmp16"},
      {"v_add_f32_e32 v0, v1, null", "null"},
      {"v_add_f32_e32 v0, src_lds_direct, v1", "src_lds_direct"},
      {"v_add_f32_e32 v0, v1, 1.0.0", "1.0.0"},
      {"v_add_f32_e32 v0, v1, 0x1ffffffff", "0x1ffffffff"},
      {"v_add_f32_e32 v0, v1, 99999999999999999999999", "9999"},
      {"v_add_f32_e32 5, v1, v2", "operand"},
      {"v_add_f32_e64 v0, v1, v2 frob:1", "'frob:1'"},
      {"v_add_f32_e64 v0, v1, v2 mul:3", "'mul:3'"},
      {"v_add_f32_e64 v0, v1, v2 clamp:1", "'clamp:1'"},
      {"v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,4]", "quad_perm"},
      {"v_mov_b32_dpp v0, v1 quad_perm:[0,1,2]", "quad_perm"},
      {"v_mov_b32_dpp v0, v1 row_shl:0", "row_shl"},
      {"v_mov_b32_dpp v0, v1 row_shl:16", "row_shl"},
      {"v_mov_b32_dpp v0, v1 row_bcast:16", "row_bcast"},
      {"v_mov_b32_sdwa v0, v1 src0_sel:BYTE_4", "BYTE_4"},
      {"s_waitcnt vmcnt(64)", "vmcnt(64)"},
      {"s_waitcnt vscnt(0)", "vscnt(0)"},
      {"s_getreg_b32 s0, hwreg(HW_REG_FROB)", "HW_REG_FROB"},
      {"s_getreg_b32 s0, hwreg(1, 0, 33)", "hwreg(1, 0, 33)"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,17)", "SWAP"},
      {"ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"0000\")",
       "BITMASK"},
      {"ds_read_b32 v0, v1 offset:", "'offset:'"},
      {"tbuffer_load_format_x v0, v1, s[4:7], 0 offen", "tbuffer_load"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_instruction in;
    ws_diag diag = {""};
    if (ws__parse_instruction(cases[i].line, &in, &diag) != WS_INPUT)
      WS_FAIL("accepted: %s", cases[i].line);
    WS_CHECK_CONTAINS(diag.text, cases[i].part);
  }
}
