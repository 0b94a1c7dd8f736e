/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Probes of the vector ALU through the whole path: every encoding (VOP1, VOP2,
 * VOP3, VOPC, VOP3P, SDWA, DPP, literals) and what the ISA guide says of each.
 */
#include "probe.h"

/* ---- encodings ------------------------------------------------------------
 */

PROBE(vop1_mov, INTS, 1, "v_mov_b32_e32 v10, v1", out[0] = a;)
PROBE(vop1_literal, INTS, 1, "v_mov_b32_e32 v10, 0xdeadbeef",
      out[0] = 0xdeadbeef;)
PROBE(vop1_inline_negative, INTS, 1, "v_mov_b32_e32 v10, -16", out[0] = -16u;)
PROBE(vop1_inline_float, INTS, 2,
      "v_mov_b32_e32 v10, -4.0\nv_mov_b32_e32 v11, 0.15915494",
      out[0] = 0xc0800000;
      out[1] = 0x3e22f983;)
PROBE(vop1_mov_b64_literal, INTS, 2, "v_mov_b64_e32 v[10:11], 0x12345678",
      out[0] = 0x12345678;)
PROBE(vop1_mov_b64_inline, INTS, 2, "v_mov_b64_e32 v[10:11], -2",
      put_u64(out, -2ull);)
PROBE(vop2_literal, INTS, 1, "v_add_u32_e32 v10, 0x12345, v1",
      out[0] = a + 0x12345;)
PROBE(vop2_scalar_source, INTS, 1,
      "s_movk_i32 s20, -7\nv_sub_u32_e32 v10, s20, v1", out[0] = -7u - a;)
PROBE(vop2_subrev, INTS, 1, "v_subrev_u32_e32 v10, v1, v2", out[0] = b - a;)
PROBE(vop3_modifiers, FLOATS, 1, "v_add_f32_e64 v10, -|v1|, v2",
      out[0] = as_bits(-fabsf(as_float(a)) + as_float(b));)
PROBE(vop3_clamp_float, FLOATS, 1, "v_add_f32_e64 v10, v1, v2 clamp",
      float sum = as_float(a) + as_float(b);
      out[0] = as_bits(isnan(sum) ? 0 : fminf(fmaxf(sum, 0.0f), 1.0f));
      if (out[0] == 0x80000000) out[0] = 0;)
/* Output modifiers work only without IEEE mode and with denormals flushed. */
#define OMOD                                                                   \
  { .descriptor = ".amdhsa_float_denorm_mode_32 0\n.amdhsa_ieee_mode 0" }
PROBE_WITH(vop3_omod, OMOD, FINITE, 2,
           "v_mul_f32_e64 v10, v1, v2 mul:4\nv_mul_f32_e64 v11, v1, v2 div:2",
           out[0] = as_bits(as_float(a) * as_float(b) * 4);
           out[1] = as_bits(as_float(a) * as_float(b) / 2);)
PROBE(vop3_omod_ignored, FINITE, 1, "v_mul_f32_e64 v10, v1, v2 mul:4",
      out[0] = as_bits(as_float(a) * as_float(b));)
PROBE(vop3_clamp_integer, INTS, 1, "v_add_u32_e64 v10, v1, v2 clamp",
      out[0] = (uint64_t)a + b > UINT32_MAX ? UINT32_MAX : a + b;)
PROBE(vop2_fmaak, FINITE, 1, "v_fmaak_f32 v10, v1, v2, 0x40490fdb",
      out[0] = as_bits(fmaf(as_float(a), as_float(b), as_float(0x40490fdb)));)
PROBE(vop2_fmamk, FINITE, 1, "v_fmamk_f32 v10, v1, 0x40490fdb, v2",
      out[0] = as_bits(fmaf(as_float(a), as_float(0x40490fdb), as_float(b)));)

/* SDWA: selects, sext, destination select and what happens to the rest. */
PROBE(sdwa_sources, INTS, 1,
      "v_add_u32_sdwa v10, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:BYTE_1 src1_sel:WORD_1",
      out[0] = (a >> 8 & 255) + (b >> 16);)
PROBE(sdwa_sext, INTS, 1,
      "v_add_u32_sdwa v10, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:BYTE_3 src1_sel:WORD_0",
      out[0] = (uint32_t)(int8_t)(a >> 24) + (b & 0xffff);)
PROBE(sdwa_pad, INTS, 1,
      "v_mov_b32_e32 v10, -1\n"
      "v_or_b32_sdwa v10, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PAD "
      "src0_sel:BYTE_0 src1_sel:BYTE_1",
      out[0] = ((a | b >> 8) & 255) << 16;)
PROBE(sdwa_sign, INTS, 1,
      "v_or_b32_sdwa v10, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT "
      "src0_sel:BYTE_0 src1_sel:BYTE_1",
      out[0] = (uint32_t)(int8_t)(a | b >> 8) << 8;)
PROBE(sdwa_preserve, INTS, 1,
      "v_mov_b32_e32 v10, v3\n"
      "v_or_b32_sdwa v10, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
      "src0_sel:WORD_0 src1_sel:DWORD",
      out[0] = (c & 0xffff) | (((a & 0xffff) | b) << 16);)
PROBE(sdwa_compare, INTS, 1,
      "v_cmp_eq_u32_sdwa s[20:21], v1, v2 src0_sel:BYTE_0 src1_sel:BYTE_0\n"
      "v_cndmask_b32_e64 v10, 3, 7, s[20:21]",
      out[0] = (a & 255) == (b & 255) ? 7 : 3;)

/* ---- DPP: lane x reads lane f(x); the destination is a source -------------
 */

PROBE(dpp_quad_perm, INTS, 1,
      "v_mov_b32_dpp v10, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
      out[0] = in[0][lane ^ 1];)
PROBE(dpp_same_register, INTS, 1,
      "v_mov_b32_e32 v10, v1\ns_nop 1\n"
      "v_mov_b32_dpp v10, v10 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf",
      out[0] = in[0][lane ^ 2];)
PROBE(dpp_row_shl, INTS, 1,
      "v_mov_b32_dpp v10, v1 row_shl:3 row_mask:0xf bank_mask:0xf bound_ctrl:0",
      out[0] = lane % 16 + 3 < 16 ? in[0][lane + 3] : 0;)
PROBE(dpp_row_shr_keeps, INTS, 1,
      "v_mov_b32_e32 v10, v2\ns_nop 1\n"
      "v_mov_b32_dpp v10, v1 row_shr:5 row_mask:0xf bank_mask:0xf",
      out[0] = lane % 16 >= 5 ? in[0][lane - 5] : b;)
PROBE(dpp_row_ror, INTS, 1,
      "v_mov_b32_dpp v10, v1 row_ror:4 row_mask:0xf bank_mask:0xf",
      out[0] = in[0][lane / 16 * 16 + (lane + 12) % 16];)
PROBE(
    dpp_wave_shr, INTS, 1,
    "v_mov_b32_dpp v10, v1 wave_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    out[0] = lane ? in[0][lane - 1] : 0;)
PROBE(dpp_wave_rol, INTS, 1,
      "v_mov_b32_dpp v10, v1 wave_rol:1 row_mask:0xf bank_mask:0xf",
      out[0] = in[0][(lane + 1) % 64];)
PROBE(dpp_row_mirror, INTS, 2,
      "v_mov_b32_dpp v10, v1 row_mirror row_mask:0xf bank_mask:0xf\n"
      "v_mov_b32_dpp v11, v1 row_half_mirror row_mask:0xf bank_mask:0xf",
      out[0] = in[0][lane ^ 15];
      out[1] = in[0][lane ^ 7];)
/* Lane 15 of each row to the next row; rows 0 are not written. */
PROBE(dpp_row_bcast15, INTS, 1,
      "v_mov_b32_e32 v10, v2\ns_nop 1\n"
      "v_mov_b32_dpp v10, v1 row_bcast:15 row_mask:0xf bank_mask:0xf",
      out[0] = lane < 16 ? b : in[0][lane / 16 * 16 - 1];)
/* Lane 31 to rows 2 and 3. */
PROBE(dpp_row_bcast31, INTS, 1,
      "v_mov_b32_e32 v10, v2\ns_nop 1\n"
      "v_mov_b32_dpp v10, v1 row_bcast:31 row_mask:0xc bank_mask:0xf",
      out[0] = lane < 32 ? b : in[0][31];)
PROBE(dpp_row_newbcast, INTS, 1,
      "v_mov_b32_dpp v10, v1 row_newbcast:6 row_mask:0xf bank_mask:0xf",
      out[0] = in[0][lane / 16 * 16 + 6];)
PROBE(dpp_masks, INTS, 1,
      "v_mov_b32_e32 v10, v2\ns_nop 1\n"
      "v_mov_b32_dpp v10, v1 quad_perm:[3,2,1,0] row_mask:0x5 bank_mask:0x3",
      out[0] = (lane / 16 % 2 == 0 && lane % 16 < 8) ? in[0][lane ^ 3] : b;)
PROBE(dpp_add, INTS, 1,
      "v_add_u32_dpp v10, v1, v2 row_ror:8 row_mask:0xf bank_mask:0xf",
      out[0] = in[0][lane ^ 8] + b;)
/* A source lane that is off: not written, 0 with bound_ctrl. */
PROBE(
    dpp_inactive_source, INTS, 2,
    "v_mov_b32_e32 v10, 17\nv_mov_b32_e32 v11, 17\n"
    "s_mov_b32 s20, 0x55555555\ns_mov_b32 s21, s20\ns_mov_b64 exec, s[20:21]\n"
    "s_nop 4\n"
    "v_mov_b32_dpp v10, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"
    "v_mov_b32_dpp v11, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf "
    "bound_ctrl:0\n",
    out[0] = 17;
    out[1] = lane & 1 ? 17 : 0;)

/* ---- integers -------------------------------------------------------------
 */

PROBE(add_carry, INTS, 3,
      "v_add_co_u32_e32 v10, vcc, v1, v2\n"
      "v_addc_co_u32_e32 v11, vcc, v3, v4, vcc\n"
      "v_cndmask_b32_e64 v12, 0, 1, vcc",
      uint64_t low = (uint64_t)a + b;
      uint64_t high = (uint64_t)c + d + (low >> 32); out[0] = (uint32_t)low;
      out[1] = (uint32_t)high; out[2] = (uint32_t)(high >> 32);)
PROBE(sub_borrow, INTS, 2,
      "v_sub_co_u32_e64 v10, s[20:21], v1, v2\n"
      "v_subb_co_u32_e64 v11, s[20:21], v3, v4, s[20:21]",
      uint64_t r = as_u64(a, c) - as_u64(b, d);
      put_u64(out, r);)
PROBE(mul_wide, INTS, 4,
      "v_mul_lo_u32 v10, v1, v2\nv_mul_hi_u32 v11, v1, v2\n"
      "v_mul_hi_i32 v12, v1, v2",
      out[0] = a * b;
      out[1] = (uint32_t)((uint64_t)a * b >> 32);
      out[2] = (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32);)
PROBE(mul_24, INTS, 4,
      "v_mul_u32_u24_e32 v10, v1, v2\nv_mul_hi_u32_u24_e32 v11, v1, v2\n"
      "v_mul_i32_i24_e32 v12, v1, v2\nv_mad_i32_i24 v13, v1, v2, v3",
      uint64_t u = (uint64_t)(a & 0xffffff) * (b & 0xffffff);
      int64_t x = (int32_t)(a << 8) >> 8, y = (int32_t)(b << 8) >> 8;
      out[0] = (uint32_t)u; out[1] = (uint32_t)(u >> 32);
      out[2] = (uint32_t)(x * y); out[3] = (uint32_t)(x * y) + c;)
PROBE(mad_u64, INTS, 2,
      "v_mov_b32_e32 v20, v3\nv_mov_b32_e32 v21, v4\n"
      "v_mad_u64_u32 v[10:11], s[20:21], v1, v2, v[20:21]",
      put_u64(out, (uint64_t)a *b + as_u64(c, d));)
PROBE(lshl_add_u64, INTS, 2,
      "v_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, v2\nv_mov_b32_e32 v22, v3\n"
      "v_mov_b32_e32 v23, v4\nv_lshl_add_u64 v[10:11], v[20:21], 3, v[22:23]",
      put_u64(out, (as_u64(a, b) << 3) + as_u64(c, d));)
PROBE(shifts, INTS, 3,
      "v_lshlrev_b32_e32 v10, v1, v2\nv_lshrrev_b32_e32 v11, v1, v2\n"
      "v_ashrrev_i32_e32 v12, v1, v2",
      out[0] = b << (a & 31);
      out[1] = b >> (a & 31); out[2] = (uint32_t)((int32_t)b >> (a & 31));)
PROBE(shifts_64, INTS, 4,
      "v_mov_b32_e32 v20, v2\nv_mov_b32_e32 v21, v3\n"
      "v_lshlrev_b64 v[10:11], v1, v[20:21]\nv_ashrrev_i64 v[12:13], v1, "
      "v[20:21]",
      put_u64(out, as_u64(b, c) << (a & 63));
      put_u64(out + 2, (uint64_t)((int64_t)as_u64(b, c) >> (a & 63)));)
PROBE(three_operands, INTS, 4,
      "v_add3_u32 v10, v1, v2, v3\nv_lshl_add_u32 v11, v1, 5, v3\n"
      "v_add_lshl_u32 v12, v1, v2, 7\nv_and_or_b32 v13, v1, v2, v3",
      out[0] = a + b + c;
      out[1] = (a << 5) + c; out[2] = (a + b) << 7; out[3] = (a & b) | c;)
PROBE(three_operands_2, INTS, 4,
      "v_lshl_or_b32 v10, v1, 9, v3\nv_or3_b32 v11, v1, v2, v3\n"
      "v_xad_u32 v12, v1, v2, v3\nv_bfi_b32 v13, v1, v2, v3",
      out[0] = a << 9 | c;
      out[1] = a | b | c; out[2] = (a ^ b) + c; out[3] = (a & b) | (~a & c);)
PROBE(bit_fields, INTS, 2, "v_bfe_u32 v10, v1, 5, 11\nv_bfe_i32 v11, v1, 5, 11",
      out[0] = a >> 5 & 0x7ff;
      out[1] = (uint32_t)((int32_t)(a << 16) >> 21);)
PROBE(align, INTS, 2,
      "v_alignbit_b32 v10, v1, v2, 13\nv_alignbyte_b32 v11, v1, v2, 3",
      out[0] = (uint32_t)(as_u64(b, a) >> 13);
      out[1] = (uint32_t)(as_u64(b, a) >> 24);)
/* Selector 0-3: bytes of src1, 4-7: of src0, 12: 0, 13 and up: 0xff. */
PROBE(perm, INTS, 2,
      "s_mov_b32 s20, 0x0c000706\ns_mov_b32 s21, 0x0d010405\n"
      "v_perm_b32 v10, v1, v2, s20\nv_perm_b32 v11, v1, v2, s21",
      out[0] = (a >> 16 & 255) | (a >> 24) << 8 | (b & 255) << 16;
      out[1] = (a >> 8 & 255) | (a & 255) << 8 | (b >> 8 & 255) << 16 |
               0xff000000;)
/* Selectors 8-11: the sign of bytes 1, 3 of src1 and 1, 3 of src0. */
PROBE(perm_signs, INTS, 1,
      "s_mov_b32 s20, 0x0b0a0908\nv_perm_b32 v10, v1, v2, s20",
      out[0] = (b & 0x8000 ? 0xff : 0) | (b & 0x80000000 ? 0xff00 : 0) |
               (a & 0x8000 ? 0xff0000 : 0) | (a & 0x80000000 ? 0xff000000 : 0);)
PROBE(bit_counts, INTS, 4,
      "v_bcnt_u32_b32 v10, v1, v2\nv_ffbh_u32_e32 v11, v1\n"
      "v_ffbl_b32_e32 v12, v1\nv_bfrev_b32_e32 v13, v1",
      out[0] = (uint32_t)__builtin_popcount(a) + b;
      out[1] = a ? (uint32_t)__builtin_clz(a) : -1u;
      out[2] = a ? (uint32_t)__builtin_ctz(a) : -1u;
      for (int i = 0; i < 32; i++) out[3] |= (a >> i & 1) << (31 - i);)
PROBE(mbcnt, INTS, 1,
      "v_mbcnt_lo_u32_b32 v10, -1, 0\nv_mbcnt_hi_u32_b32 v10, -1, v10",
      out[0] = lane;)
PROBE(min_max, INTS, 4,
      "v_min_i32_e32 v10, v1, v2\nv_max_u32_e32 v11, v1, v2\n"
      "v_med3_i32 v12, v1, v2, v3\nv_max3_u32 v13, v1, v2, v3",
      int32_t x = (int32_t)a;
      int32_t y = (int32_t)b; int32_t z = (int32_t)c;
      out[0] = (uint32_t)(x < y ? x : y); out[1] = a > b ? a : b;
      out[2] = (uint32_t)(x > y ? (y > z   ? y
                                   : x > z ? z
                                           : x)
                                : (x > z   ? x
                                   : y > z ? z
                                           : y));
      out[3] = out[1] > c ? out[1] : c;)
PROBE(sixteen_bits, INTS, 3,
      "v_add_u16_e32 v10, v1, v2\nv_mul_lo_u16_e32 v11, v1, v2\n"
      "v_lshlrev_b16_e32 v12, 3, v1",
      out[0] = (uint16_t)(a + b);
      out[1] = (uint16_t)((a & 0xffff) * (b & 0xffff));
      out[2] = (uint16_t)(a << 3);)
PROBE(sad, INTS, 1, "v_sad_u8 v10, v1, v2, v3", out[0] = c;
      for (int i = 0; i < 32; i += 8) out[0] +=
      (uint32_t)abs((int)(a >> i & 255) - (int)(b >> i & 255));)

/* ---- comparisons, selection, lanes ----------------------------------------
 */

PROBE(compare_vcc, INTS, 1,
      "v_cmp_gt_i32_e32 vcc, v1, v2\nv_cndmask_b32_e32 v10, v3, v4, vcc",
      out[0] = (int32_t)a > (int32_t)b ? d : c;)
PROBE(compare_scalar_pair, INTS, 1,
      "v_cmp_lt_u32_e64 s[20:21], v1, v2\nv_cndmask_b32_e64 v10, v3, v4, "
      "s[20:21]",
      out[0] = a < b ? d : c;)
PROBE(compare_64, INTS, 1,
      "v_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, v2\nv_mov_b32_e32 v22, v3\n"
      "v_mov_b32_e32 v23, v4\nv_cmp_le_i64_e32 vcc, v[20:21], v[22:23]\n"
      "v_cndmask_b32_e64 v10, 0, 1, vcc",
      out[0] = (int64_t)as_u64(a, b) <= (int64_t)as_u64(c, d);)
/* Lanes that are off get 0 in the mask. */
PROBE(compare_inactive, INTS, 2,
      "s_mov_b64 exec, 0xff\nv_cmp_eq_u32_e32 vcc, v1, v1\n"
      "s_mov_b64 exec, -1\ns_nop 4\nv_mov_b32_e32 v10, vcc_lo\n"
      "v_mov_b32_e32 v11, vcc_hi",
      out[0] = 0xff;)
PROBE(compare_exec, INTS, 1,
      "v_cmpx_gt_u32_e32 vcc, v1, v2\nv_mov_b32_e32 v10, 1", out[0] = a > b;)
PROBE(compare_unordered, FLOATS, 3,
      "v_cmp_u_f32_e32 vcc, v1, v2\nv_cndmask_b32_e64 v10, 0, 1, vcc\n"
      "v_cmp_nlt_f32_e32 vcc, v1, v2\nv_cndmask_b32_e64 v11, 0, 1, vcc\n"
      "v_cmp_lg_f32_e32 vcc, v1, v2\nv_cndmask_b32_e64 v12, 0, 1, vcc",
      float x = as_float(a);
      float y = as_float(b); out[0] = isunordered(x, y); out[1] = !(x < y);
      out[2] = x < y || x > y;)
/* Class bits: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0,
 * 7 +denormal, 8 +normal, 9 +inf. */
PROBE(compare_class, FLOATS, 1,
      "v_mov_b32_e32 v20, 0x94\nv_cmp_class_f32_e64 s[20:21], v1, "
      "v20\nv_cndmask_b32_e64 v10, 0, 1, "
      "s[20:21]",
      float x = as_float(a);
      out[0] = (isinf(x) && x < 0) || (fpclassify(x) == FP_SUBNORMAL);)
PROBE(read_first_lane, INTS, 1,
      "s_mov_b64 exec, 0xf0\nv_readfirstlane_b32 s20, v1\ns_mov_b64 exec, -1\n"
      "s_nop 4\nv_mov_b32_e32 v10, s20",
      out[0] = in[0][4];)
PROBE(read_lane, INTS, 1,
      "s_mov_b32 s21, 77\nv_readlane_b32 s20, v1, s21\ns_nop 4\nv_mov_b32_e32 "
      "v10, s20",
      out[0] = in[0][77 % 64];)
PROBE(write_lane, INTS, 1,
      "v_mov_b32_e32 v10, v1\ns_mov_b32 s20, 0x1234\ns_mov_b64 exec, 0\n"
      "v_writelane_b32 v10, s20, 9\ns_mov_b64 exec, -1",
      out[0] = lane == 9 ? 0x1234 : a;)
PROBE(exec_masks_writes, INTS, 1,
      "v_mov_b32_e32 v10, v2\ns_mov_b32 s20, 0xf0f0f0f0\ns_mov_b32 s21, 0\n"
      "s_mov_b64 exec, s[20:21]\nv_mov_b32_e32 v10, v1",
      out[0] = lane < 32 && lane % 8 >= 4 ? a : b;)
PROBE(swap, INTS, 2,
      "v_mov_b32_e32 v10, v1\nv_mov_b32_e32 v11, v2\nv_swap_b32 v10, v11",
      out[0] = b;
      out[1] = a;)
PROBE(accumulation_registers, INTS, 2,
      "v_accvgpr_write_b32 a7, v1\nv_accvgpr_mov_b32 a9, a7\ns_nop 4\n"
      "v_accvgpr_read_b32 v10, a9\nv_accvgpr_write_b32 a7, 3\ns_nop 4\n"
      "v_accvgpr_read_b32 v11, a7",
      out[0] = a;
      out[1] = 3;)

/* ---- floats ---------------------------------------------------------------
 */

PROBE(float_add, FLOATS, 1, "v_add_f32_e32 v10, v1, v2",
      out[0] = as_bits(as_float(a) + as_float(b));)
PROBE(float_mul_denormal, FLOATS, 1, "v_mul_f32_e32 v10, v1, v2",
      out[0] = as_bits(as_float(a) * as_float(b));)
PROBE(float_denormals_kept, INTS, 2,
      "v_mov_b32_e32 v20, 0x00000003\nv_add_f32_e32 v10, v20, v20\n"
      "v_mul_f32_e32 v11, 0.5, v20",
      out[0] = 6;
      out[1] = 2;)
/* float_mode with denormals off (FP_DENORM 0): flushed to zero. */
#define FLUSH                                                                  \
  { .descriptor = ".amdhsa_float_denorm_mode_32 0" }
PROBE_WITH(float_denormals_flushed, FLUSH, INTS, 1,
           "v_mov_b32_e32 v20, 0x00000003\nv_add_f32_e32 v10, v20, v20",
           out[0] = 0;)
PROBE(float_fma, FLOATS, 1, "v_fma_f32 v10, v1, v2, v3",
      out[0] = as_bits(fmaf(as_float(a), as_float(b), as_float(c)));)
PROBE(float_fmac, FINITE, 1,
      "v_mov_b32_e32 v10, v3\nv_fmac_f32_e32 v10, v1, v2",
      out[0] = as_bits(fmaf(as_float(a), as_float(b), as_float(c)));)
PROBE(float_min_max, FINITE, 3,
      "v_min_f32_e32 v10, v1, v2\nv_max_f32_e32 v11, v1, v2\nv_med3_f32 v12, "
      "v1, v2, v3",
      float x = as_float(a);
      float y = as_float(b); float z = as_float(c);
      out[0] = as_bits(fminf(x, y)); out[1] = as_bits(fmaxf(x, y));
      out[2] = as_bits(fmaxf(fminf(x, y), fminf(fmaxf(x, y), z)));)
PROBE(float_rounding_ops, FINITE, 4,
      "v_floor_f32_e32 v10, v1\nv_rndne_f32_e32 v11, v1\n"
      "v_trunc_f32_e32 v12, v1\nv_fract_f32_e32 v13, v1",
      float x = as_float(a);
      out[0] = as_bits(floorf(x)); out[1] = as_bits(nearbyintf(x));
      out[2] = as_bits(truncf(x));
      out[3] = as_bits(fminf(x - floorf(x), 0x1.fffffep-1f));)
PROBE(float_to_integer, FLOATS, 2,
      "v_cvt_i32_f32_e32 v10, v1\nv_cvt_u32_f32_e32 v11, v1",
      float x = as_float(a);
      out[0] = isnan(x)        ? 0
               : x >= 0x1p31f  ? 0x7fffffff
               : x <= -0x1p31f ? 0x80000000
                               : (uint32_t)(int32_t)x;
      out[1] = isnan(x) || x <= 0 ? 0
               : x >= 0x1p32f     ? UINT32_MAX
                                  : (uint32_t)x;)
PROBE(integer_to_float, INTS, 3,
      "v_cvt_f32_i32_e32 v10, v1\nv_cvt_f32_u32_e32 v11, "
      "v1\nv_cvt_f32_ubyte2_e32 v12, v1",
      out[0] = as_bits((float)(int32_t)a);
      out[1] = as_bits((float)a); out[2] = as_bits((float)(a >> 16 & 255));)
PROBE(float_ldexp, FINITE, 1, "v_mov_b32_e32 v20, -9\nv_ldexp_f32 v10, v1, v20",
      out[0] = as_bits(ldexpf(as_float(a), -9));)
PROBE(
    float_exact_rcp, INTS, 3,
    "v_mov_b32_e32 v20, 4.0\nv_rcp_f32_e32 v10, v20\nv_sqrt_f32_e32 v11, v20\n"
    "v_exp_f32_e32 v12, v20",
    out[0] = as_bits(0.25f);
    out[1] = as_bits(2.0f); out[2] = as_bits(16.0f);)
PROBE(half_add, HALVES, 2,
      "v_add_f16_e32 v10, v1, v2\nv_mul_f16_e32 v11, v1, v2",
      out[0] = half_bits(as_half(a) + as_half(b));
      out[1] = half_bits(as_half(a) * as_half(b));)
PROBE(half_convert, HALVES, 2,
      "v_cvt_f32_f16_e32 v10, v1\nv_cvt_f16_f32_e32 v11, v10",
      out[0] = as_bits((float)as_half(a));
      out[1] = a & 0xffff;)
PROBE(half_convert_sdwa, HALVES, 1,
      "v_cvt_f32_f16_sdwa v10, v1 dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:WORD_1",
      out[0] = as_bits((float)as_half(a >> 16));)
PROBE(double_fma, DOUBLES, 2,
      "v_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, v2\nv_mov_b32_e32 v22, v3\n"
      "v_mov_b32_e32 v23, v4\nv_fma_f64 v[10:11], v[20:21], v[22:23], 0.5",
      put_double(out, fma(as_double(a, b), as_double(c, d), 0.5));)
PROBE(double_add_literal, DOUBLES, 2,
      "v_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, v2\n"
      "v_add_f64 v[10:11], v[20:21], -1.0",
      put_double(out, as_double(a, b) - 1.0);)
PROBE(double_convert, DOUBLES, 3,
      "v_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, v2\n"
      "v_cvt_f32_f64_e32 v10, v[20:21]\nv_cvt_i32_f64_e32 v11, v[20:21]\n"
      "v_cvt_f64_u32_e32 v[12:13], v3",
      out[0] = as_bits((float)as_double(a, b));
      out[1] = (uint32_t)(int32_t)as_double(a, b); uint32_t words[2];
      put_double(words, c); out[2] = words[0];)

/* ---- packed (VOP3P) -------------------------------------------------------
 */

#define PAIRS                                                                  \
  "v_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, v2\nv_mov_b32_e32 v22, v3\n"      \
  "v_mov_b32_e32 v23, v4\n"
PROBE(packed_fma_f32, FINITE, 2,
      PAIRS "v_pk_fma_f32 v[10:11], v[20:21], v[22:23], v[20:21]",
      out[0] = as_bits(fmaf(as_float(a), as_float(c), as_float(a)));
      out[1] = as_bits(fmaf(as_float(b), as_float(d), as_float(b)));)
PROBE(packed_f32_op_sel, FINITE, 2,
      PAIRS
      "v_pk_mul_f32 v[10:11], v[20:21], v[22:23] op_sel:[1,0] op_sel_hi:[0,0]",
      out[0] = as_bits(as_float(b) * as_float(c));
      out[1] = as_bits(as_float(a) * as_float(c));)
PROBE(packed_f32_negate, FINITE, 2,
      PAIRS
      "v_pk_add_f32 v[10:11], v[20:21], v[22:23] neg_lo:[0,1] neg_hi:[1,0]",
      out[0] = as_bits(as_float(a) - as_float(c));
      out[1] = as_bits(as_float(d) - as_float(b));)
PROBE(packed_mov, INTS, 2,
      PAIRS "v_pk_mov_b32 v[10:11], v[20:21], v[22:23] op_sel:[1,0]",
      out[0] = b;
      out[1] = c;)
PROBE(packed_f32_scalar, FINITE, 2,
      PAIRS "s_mov_b32 s20, 2.0\ns_mov_b32 s21, 0.5\n"
            "v_pk_mul_f32 v[10:11], v[20:21], s[20:21]",
      out[0] = as_bits(as_float(a) * 2);
      out[1] = as_bits(as_float(b) / 2);)
PROBE(packed_half, HALVES, 2,
      "v_pk_add_f16 v10, v1, v2\nv_pk_mul_f16 v11, v1, v2 op_sel:[1,0] "
      "op_sel_hi:[0,1]",
      out[0] = pack_half(as_half(a) + as_half(b),
                         as_half(a >> 16) + as_half(b >> 16));
      out[1] = pack_half(as_half(a >> 16) * as_half(b),
                         as_half(a) * as_half(b >> 16));)
PROBE(packed_integers, INTS, 3,
      "v_pk_add_u16 v10, v1, v2\nv_pk_mul_lo_u16 v11, v1, v2\nv_pk_lshlrev_b16 "
      "v12, 4, v1 op_sel_hi:[0,1]",
      out[0] = ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;
      out[1] = ((a & 0xffff) * (b & 0xffff) & 0xffff) | ((a >> 16) * (b >> 16))
                                                            << 16;
      out[2] = (a << 4 & 0xffff) | (a >> 16) << 20;)
PROBE(dot_products, SMALL, 3,
      "v_dot4_i32_i8 v10, v1, v2, v3\nv_dot4_u32_u8 v11, v1, v2, "
      "v3\nv_dot2_i32_i16 v12, v1, v2, v3",
      out[0] = a * b + c;
      out[1] = a * b + c; out[2] = a * b + c;)
PROBE(dot4_bytes, INTS, 1, "v_dot4_i32_i8 v10, v1, v2, v3", out[0] = c;
      for (int i = 0; i < 32; i += 8) out[0] +=
      (uint32_t)((int8_t)(a >> i) * (int8_t)(b >> i));)
PROBE(mixed_fma, HALVES, 1,
      "v_mov_b32_e32 v20, 1.0\nv_fma_mix_f32 v10, v1, v2, v20 op_sel:[1,0,0] "
      "op_sel_hi:[1,1,0]",
      out[0] = as_bits(fmaf((float)as_half(a >> 16), (float)as_half(b), 1.0f));)

/* ---- fp8, FNUZ on gfx942 --------------------------------------------------
 */

PROBE(fp8_decode, INTS, 2,
      "s_lshl_b32 s20, s2, 6\nv_add_u32_e32 v20, s20, v0\n"
      "v_cvt_f32_fp8_e32 v10, v20\nv_cvt_f32_bf8_e32 v11, v20",
      uint32_t byte = group * 64 + lane;
      out[0] = byte == 0x80 ? 0x7fc00000 : as_bits((float)fnuz_value(byte, 3));
      out[1] = byte == 0x80 ? 0x7fc00000 : as_bits((float)fnuz_value(byte, 2));)
PROBE(fp8_decode_byte_select, FINITE, 2,
      "v_and_b32_e32 v20, 0x7f7f7f7f, v1\n"
      "v_cvt_f32_fp8_sdwa v10, v20 src0_sel:BYTE_2\n"
      "v_cvt_f32_bf8_sdwa v11, v20 src0_sel:BYTE_3",
      out[0] = as_bits((float)fnuz_value(a >> 16 & 127, 3));
      out[1] = as_bits((float)fnuz_value(a >> 24 & 127, 2));)
PROBE(fp8_decode_packed, FINITE, 4,
      "v_and_b32_e32 v20, 0x7f7f7f7f, v1\nv_cvt_pk_f32_fp8_e32 v[10:11], v20\n"
      "v_cvt_pk_f32_bf8_sdwa v[12:13], v20 src0_sel:WORD_1",
      out[0] = as_bits((float)fnuz_value(a & 127, 3));
      out[1] = as_bits((float)fnuz_value(a >> 8 & 127, 3));
      out[2] = as_bits((float)fnuz_value(a >> 16 & 127, 2));
      out[3] = as_bits((float)fnuz_value(a >> 24 & 127, 2));)
PROBE(fp8_encode, FINITE, 2,
      "v_mov_b32_e32 v11, v3\nv_cvt_pk_fp8_f32 v10, v1, v2\n"
      "v_cvt_pk_fp8_f32 v11, v1, v2 op_sel:[0,0,1]",
      uint32_t pair = fnuz_nearest(as_float(a), 3) |
                      fnuz_nearest(as_float(b), 3) << 8;
      out[0] = pair; out[1] = (c & 0xffff) | pair << 16;)
PROBE(bf8_encode, FINITE, 1, "v_cvt_pk_bf8_f32 v10, v1, v2",
      out[0] = fnuz_nearest(as_float(a), 2) | fnuz_nearest(as_float(b), 2)
                                                  << 8;)
/* No infinity in FNUZ: what does not fit, and NaN, is 0x80. */
PROBE(fp8_encode_special, INTS, 1,
      "v_mov_b32_e32 v20, 0x7f800000\nv_mov_b32_e32 v21, 0x7fc00000\n"
      "v_cvt_pk_fp8_f32 v10, v20, v21",
      out[0] = 0x8080;)
