/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Probes of the scalar unit and of control flow through the whole path. Inputs
 * of the models are those of the workgroup's first lanes.
 */
#include "probe.h"

/* s20-s23: the first four words of v1; s[24:25] as well as a pair. */
#define FIRST "s_load_dwordx4 s[20:23], s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\n"
#define SHOW "\nv_mov_b32_e32 v10, s30\nv_mov_b32_e32 v11, s31\n"
#define P in[0][0]
#define Q in[0][1]
#define R in[0][2]
#define S in[0][3]

PROBE(scalar_add_carry, INTS, 2,
      FIRST "s_add_u32 s30, s20, s22\ns_addc_u32 s31, s21, s23" SHOW,
      put_u64(out, as_u64(P, Q) + as_u64(R, S));)
PROBE(scalar_sub_borrow, INTS, 2,
      FIRST "s_sub_u32 s30, s20, s22\ns_subb_u32 s31, s21, s23" SHOW,
      put_u64(out, as_u64(P, Q) - as_u64(R, S));)
PROBE(scalar_overflow, INTS, 2,
      "s_add_i32 s30, 0x7fffffff, 1\ns_cselect_b32 s31, 7, 9" SHOW,
      out[0] = 0x80000000;
      out[1] = 7;)
PROBE(scalar_multiply, INTS, 2,
      FIRST "s_mul_i32 s30, s20, s21\ns_mul_hi_u32 s31, s20, s21" SHOW,
      put_u64(out, (uint64_t)P *Q);)
PROBE(scalar_multiply_high_signed, INTS, 1,
      FIRST "s_mul_hi_i32 s30, s22, s23\ns_mov_b32 s31, 0" SHOW,
      out[0] = (uint32_t)((int64_t)(int32_t)R * (int32_t)S >> 32);)
PROBE(scalar_bit_field, INTS, 2,
      FIRST "s_bfe_u32 s30, s20, 0x70009\ns_bfe_i32 s31, s21, 0x8000c" SHOW,
      out[0] = P >> 9 & 0x7f;
      out[1] = (uint32_t)(int8_t)(Q >> 12);)
PROBE(scalar_shift_64, INTS, 2, FIRST "s_ashr_i64 s[30:31], s[22:23], 19" SHOW,
      put_u64(out, (uint64_t)((int64_t)as_u64(R, S) >> 19));)
PROBE(scalar_logic, INTS, 2,
      FIRST "s_andn2_b32 s30, s20, s21\ns_orn2_b32 s31, s22, s23" SHOW,
      out[0] = P & ~Q;
      out[1] = R | ~S;)
PROBE(scalar_logic_64, INTS, 2,
      FIRST "s_xnor_b64 s[30:31], s[20:21], s[22:23]" SHOW,
      put_u64(out, ~(as_u64(P, Q) ^ as_u64(R, S)));)
PROBE(scalar_counts, INTS, 2,
      FIRST
      "s_bcnt1_i32_b64 s30, s[20:21]\ns_flbit_i32_b32 s31, 0x00010000" SHOW,
      out[0] = (uint32_t)__builtin_popcountll(as_u64(P, Q));
      out[1] = 15;)
PROBE(scalar_find_first, INTS, 2,
      "s_mov_b32 s24, 0\ns_ff1_i32_b32 s30, 0x50\ns_ff1_i32_b32 s31, s24" SHOW,
      out[0] = 4;
      out[1] = -1u;)
PROBE(scalar_sopk, INTS, 2,
      "s_movk_i32 s30, -300\ns_addk_i32 s30, 0x64\ns_mov_b32 s31, "
      "7\ns_mulk_i32 s31, -3" SHOW,
      out[0] = -200u;
      out[1] = -21u;)
PROBE(scalar_compare_unsigned_constant, INTS, 2,
      "s_mov_b32 s24, 0xffff\ns_cmpk_eq_u32 s24, 0xffff\ns_cselect_b32 s30, 1, "
      "2\n"
      "s_mov_b32 s24, -1\ns_cmpk_eq_i32 s24, 0xffff\ns_cselect_b32 s31, 3, "
      "4" SHOW,
      out[0] = 1;
      out[1] = 3;)
PROBE(scalar_constants_64, INTS, 2, "s_mov_b64 s[30:31], -5" SHOW,
      put_u64(out, -5ull);)
PROBE(scalar_literal_64, INTS, 2, "s_mov_b64 s[30:31], 0x12345678" SHOW,
      out[0] = 0x12345678;)
PROBE(scalar_select, INTS, 2,
      FIRST "s_cmp_lt_i32 s20, s21\ns_cselect_b32 s30, s20, s21\n"
            "s_cmp_gt_u32 s22, s23\ns_cselect_b32 s31, s22, s23" SHOW,
      out[0] = (int32_t)P < (int32_t)Q ? P : Q;
      out[1] = R > S ? R : S;)
PROBE(save_exec, INTS, 2,
      "s_movk_i32 s24, 0xff\ns_mov_b32 s25, 0\ns_mov_b64 exec, 0xf0\n"
      "s_and_saveexec_b64 s[30:31], s[24:25]\nv_mov_b32_e32 v12, 1\n"
      "s_mov_b64 exec, -1\nv_mov_b32_e32 v10, s30\nv_mov_b32_e32 v11, v12\n",
      out[0] = 0xf0;
      out[1] = lane >= 4 && lane < 8;)
PROBE(andn2_save_exec, INTS, 1,
      "s_movk_i32 s24, 0xff\ns_mov_b32 s25, 0\ns_mov_b64 exec, 0xf0\n"
      "s_andn2_saveexec_b64 s[30:31], s[24:25]\nv_mov_b32_e32 v10, 1\n",
      out[0] = lane < 4;)
PROBE(vcc_zero_branch, INTS, 2,
      "s_mov_b64 vcc, 0\ns_cbranch_vccz .L1\nv_mov_b32_e32 v10, 1\n.L1:\n"
      "v_cmp_eq_u32_e32 vcc, 5, v0\ns_cbranch_vccnz .L2\nv_mov_b32_e32 v11, "
      "1\n.L2:\n",
      out[0] = 0;)
PROBE(exec_zero_branch, INTS, 2,
      "s_mov_b64 exec, 0\ns_cbranch_execz .L1\ns_mov_b64 exec, -1\n"
      "v_mov_b32_e32 v10, 1\n.L1:\ns_mov_b64 exec, -1\ns_cbranch_execnz .L2\n"
      "v_mov_b32_e32 v11, 1\n.L2:\n",
      out[0] = 0;)
PROBE(loop_backwards, INTS, 1,
      "s_mov_b32 s30, 10\n.L1:\nv_add_u32_e32 v10, v10, v1\ns_sub_u32 s30, "
      "s30, 1\n"
      "s_cmp_lg_u32 s30, 0\ns_cbranch_scc1 .L1\n",
      out[0] = 10 * a;)
/* A loop that lanes leave one by one. */
PROBE(divergent_loop, SMALL, 1,
      "v_mov_b32_e32 v20, v1\ns_mov_b64 s[24:25], 0\n.L1:\n"
      "v_cmp_eq_u32_e32 vcc, 0, v20\ns_or_b64 s[24:25], vcc, s[24:25]\n"
      "s_andn2_b64 exec, exec, s[24:25]\ns_cbranch_execz .L2\n"
      "v_add_u32_e32 v10, 3, v10\nv_subrev_u32_e32 v20, 1, v20\ns_branch .L1\n"
      ".L2:\ns_mov_b64 exec, -1\n",
      out[0] = 3 * a;)
#define CALLEE                                                                 \
  {                                                                            \
    .rest = "triple:\nv_add_u32_e32 v21, v20, v20\nv_add_u32_e32 v20, v20, "   \
            "v21\ns_setpc_b64 s[30:31]\n"                                      \
  }
PROBE_WITH(call_through_register, CALLEE, INTS, 1,
           "v_mov_b32_e32 v20, v1\ns_getpc_b64 s[24:25]\n"
           "s_add_u32 s24, s24, triple@rel32@lo+4\ns_addc_u32 s25, s25, "
           "triple@rel32@hi+12\n"
           "s_swappc_b64 s[30:31], s[24:25]\nv_mov_b32_e32 v10, v20\n",
           out[0] = 3 * a;)
PROBE_WITH(call_direct, CALLEE, INTS, 1,
           "v_mov_b32_e32 v20, v1\ns_call_b64 s[30:31], triple\nv_mov_b32_e32 "
           "v10, v20\n",
           out[0] = 3 * a;)
PROBE(workgroup_id, INTS, 2, "s_mov_b32 s30, s2\ns_mov_b32 s31, s3" SHOW,
      out[0] = group;
      out[1] = 0;)
PROBE(mode_register, INTS, 2,
      "s_getreg_b32 s30, hwreg(HW_REG_MODE, 4, 4)\n"
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n"
      "v_mov_b32_e32 v20, 5\nv_add_f32_e32 v20, v20, v20\nv_readfirstlane_b32 "
      "s31, v20\n"
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\ns_nop 4" SHOW,
      out[0] = 15;
      out[1] = 0;)
PROBE(m0_and_special, INTS, 2,
      "s_mov_b32 m0, 0x1234\ns_mov_b32 s30, m0\ns_mov_b64 vcc, 0x77\ns_mov_b32 "
      "s31, vcc_lo" SHOW,
      out[0] = 0x1234;
      out[1] = 0x77;)
PROBE(nothing_to_see, INTS, 1,
      "s_nop 7\ns_sleep 3\ns_setprio 2\ns_setprio 0\ns_waitcnt vmcnt(0) "
      "expcnt(0) lgkmcnt(0)\n"
      "s_barrier\nv_mov_b32_e32 v10, v1\n",
      out[0] = a;)
PROBE(vgpr_index, INTS, 2,
      "s_mov_b32 s24, 2\n"
      "s_set_gpr_idx_on s24, gpr_idx(SRC0)\nv_mov_b32_e32 v10, v1\n"
      "s_set_gpr_idx_mode gpr_idx(DST)\nv_mov_b32_e32 v9, v4\n"
      "s_set_gpr_idx_idx 1\n"
      "s_set_gpr_idx_mode gpr_idx(SRC1)\nv_add_u32_e32 v10, v10, v1\n"
      "s_set_gpr_idx_off\nv_mov_b32_e32 v12, v1\n",
      out[0] = c + b;
      out[1] = d;)
