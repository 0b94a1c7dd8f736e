/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Probes of memory through the whole path: DS, global, flat, buffer, scratch,
 * SMEM, atomics, loads to LDS.
 */
#include "probe.h"

#define LDS                                                                    \
  { .lds = 8192 }
#define SCRATCH                                                                \
  { .scratch = 256 }
#define LDS_AND_SCRATCH                                                        \
  { .lds = 4096, .scratch = 64 }
#define WAIT_LDS "\ns_waitcnt lgkmcnt(0)\n"
#define WAIT_VMEM "\ns_waitcnt vmcnt(0)\n"

/* ---- LDS ------------------------------------------------------------------
 */

PROBE_WITH(
    lds_b32, LDS, INTS, 1,
    "ds_write_b32 v9, v1 offset:256\nds_read_b32 v10, v9 offset:256" WAIT_LDS,
    out[0] = a;)
PROBE_WITH(lds_other_lane, LDS, INTS, 1,
           "v_xor_b32_e32 v20, 0xfc, v9\nds_write_b32 v9, v1\n"
           "ds_read_b32 v10, v20" WAIT_LDS,
           out[0] = in[0][lane ^ 63];)
PROBE_WITH(lds_read2, LDS, INTS, 2,
           "ds_write_b32 v9, v1\nds_write_b32 v9, v2 offset:1024\n"
           "ds_read2_b32 v[10:11], v9 offset0:0 offset1:255" WAIT_LDS
           "ds_read2st64_b32 v[10:11], v9 offset0:4 offset1:0" WAIT_LDS,
           out[0] = b;
           out[1] = a;)
PROBE_WITH(
    lds_write2, LDS, INTS, 2,
    "ds_write2st64_b32 v9, v1, v2 offset0:1 offset1:3\n"
    "ds_read_b32 v10, v9 offset:768\nds_read_b32 v11, v9 offset:256" WAIT_LDS,
    out[0] = b;
    out[1] = a;)
PROBE_WITH(
    lds_b64, LDS, INTS, 4,
    "v_lshlrev_b32_e32 v20, 3, v0\nv_mov_b32_e32 v22, v1\nv_mov_b32_e32 v23, "
    "v2\n"
    "v_mov_b32_e32 v24, v3\nv_mov_b32_e32 v25, v4\n"
    "ds_write2_b64 v20, v[22:23], v[24:25] offset0:0 offset1:64\n"
    "ds_read_b64 v[10:11], v20 offset:512\nds_read_b64 v[12:13], v20" WAIT_LDS,
    out[0] = c;
    out[1] = d; out[2] = a; out[3] = b;)
#define QUAD                                                                   \
  "v_lshlrev_b32_e32 v20, 4, v0\nv_mov_b32_e32 v22, v1\n"                      \
  "v_mov_b32_e32 v23, v2\nv_mov_b32_e32 v24, v3\nv_mov_b32_e32 v25, v4\n"
PROBE_WITH(lds_b128, LDS, INTS, 4,
           QUAD
           "ds_write_b128 v20, v[22:25]\nds_read_b128 v[10:13], v20" WAIT_LDS,
           out[0] = a;
           out[1] = b; out[2] = c; out[3] = d;)
PROBE_WITH(lds_b96, LDS, INTS, 3,
           QUAD "ds_write_b96 v20, v[22:24] offset:16\nds_read_b96 v[10:12], "
                "v20 offset:16" WAIT_LDS,
           out[0] = a;
           out[1] = b; out[2] = c;)
PROBE_WITH(lds_read2_b64, LDS, INTS, 4,
           QUAD "ds_write_b128 v20, v[22:25]\n"
                "ds_read2_b64 v[10:13], v20 offset0:1 offset1:0" WAIT_LDS,
           out[0] = c;
           out[1] = d; out[2] = a; out[3] = b;)
/* Kernels store 16 bytes at addresses that are aligned to 4 only. */
PROBE_WITH(
    lds_b128_unaligned, LDS, INTS, 4,
    QUAD "v_mul_u32_u24_e32 v20, 20, v0\nds_write_b128 v20, v[22:25] offset:4\n"
         "ds_read_b128 v[10:13], v20 offset:4" WAIT_LDS,
    out[0] = a;
    out[1] = b; out[2] = c; out[3] = d;)
PROBE_WITH(
    lds_bytes, LDS, INTS, 4,
    "ds_write_b8 v0, v1\nds_write_b16 v9, v2 offset:128\n"
    "ds_write_b8_d16_hi v0, v1 offset:1024\n"
    "ds_read_u8 v10, v0\nds_read_i8 v11, v0\nds_read_i16 v12, v9 offset:128\n"
    "ds_read_u8 v13, v0 offset:1024" WAIT_LDS,
    out[0] = a & 255;
    out[1] = (uint32_t)(int8_t)a; out[2] = (uint32_t)(int16_t)b;
    out[3] = a >> 16 & 255;)
PROBE_WITH(lds_d16, LDS, INTS, 2,
           "ds_write_b32 v9, v1\nv_mov_b32_e32 v10, v2\nv_mov_b32_e32 v11, v2\n"
           "ds_read_u16_d16 v10, v9\nds_read_u16_d16_hi v11, v9" WAIT_LDS,
           out[0] = (b & 0xffff0000) | (a & 0xffff);
           out[1] = (b & 0xffff) | a << 16;)
/* Lanes beyond 63 wrap, and the two low bits of the byte address are dropped.
 */
PROBE(bpermute_wraps, INTS, 2,
      "v_add_u32_e32 v20, 20, v9\nds_bpermute_b32 v10, v20, v1\n"
      "ds_bpermute_b32 v11, v9, v1 offset:12" WAIT_LDS,
      out[0] = in[0][(lane + 5) % 64];
      out[1] = in[0][(lane + 3) % 64];)
PROBE(permute_wraps, INTS, 1,
      "v_add_u32_e32 v20, 28, v9\nds_permute_b32 v10, v20, v1" WAIT_LDS,
      out[0] = in[0][(lane + 57) % 64];)
/* A lane that nothing is sent to gets 0. */
PROBE(permute_unwritten, INTS, 1,
      "v_and_b32_e32 v20, 0xf0, v9\nds_permute_b32 v10, v20, v1\n" WAIT_LDS
      "v_cmp_ne_u32_e32 vcc, 0, v10\nv_cndmask_b32_e64 v10, 0, 1, vcc\n"
      "v_and_b32_e32 v20, 3, v0\nv_cmp_eq_u32_e32 vcc, 0, v20\n"
      "v_cndmask_b32_e32 v10, v10, v20, vcc",
      out[0] = 0;)
PROBE(bpermute_inactive, INTS, 1,
      "s_mov_b64 exec, 0xff\nv_mov_b32_e32 v20, 80\nds_bpermute_b32 v10, v20, "
      "v1" WAIT_LDS,
      out[0] = 0;)
PROBE(swizzle_quad, INTS, 1,
      "ds_swizzle_b32 v10, v1 offset:swizzle(QUAD_PERM,3,0,2,1)" WAIT_LDS,
      static const uint32_t from[] = {3, 0, 2, 1};
      out[0] = in[0][lane / 4 * 4 + from[lane % 4]];)
PROBE(swizzle_bitmask, INTS, 2,
      "ds_swizzle_b32 v10, v1 offset:swizzle(SWAP,8)\n"
      "ds_swizzle_b32 v11, v1 offset:swizzle(BROADCAST,16,5)" WAIT_LDS,
      out[0] = in[0][lane ^ 8];
      out[1] = in[0][lane / 16 * 16 + 5];)
#define ONE_CELL                                                               \
  "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 5\nds_write_b32 v20, v21\n"
PROBE_WITH(lds_atomic_add, LDS, SMALL, 1,
           ONE_CELL "ds_add_u32 v20, v1\nds_read_b32 v10, v20" WAIT_LDS,
           out[0] = 5;
           for (int i = 0; i < 64; i++) out[0] += in[0][i];)
PROBE_WITH(lds_atomic_old_value, LDS, INTS, 2,
           "ds_write_b32 v9, v1\nds_max_rtn_i32 v10, v9, v2\nds_read_b32 v11, "
           "v9" WAIT_LDS,
           out[0] = a;
           out[1] = (int32_t)a > (int32_t)b ? a : b;)
PROBE_WITH(lds_atomic_exec, LDS, INTS, 1,
           ONE_CELL
           "v_mov_b32_e32 v22, 1\ns_mov_b64 exec, 0x70\nds_add_u32 v20, v22\n"
           "s_mov_b64 exec, -1\nds_read_b32 v10, v20" WAIT_LDS,
           out[0] = 8;)
PROBE_WITH(
    lds_compare_swap, LDS, SMALL, 2,
    "v_and_b32_e32 v20, 1, v1\nds_write_b32 v9, v20\nv_mov_b32_e32 v21, 1\n"
    "ds_cmpst_rtn_b32 v10, v9, v21, v2\nds_read_b32 v11, v9" WAIT_LDS,
    out[0] = a & 1;
    out[1] = a & 1 ? b : 0;)
PROBE_WITH(
    lds_add_f32, LDS, FINITE, 1,
    "ds_write_b32 v9, v1\nds_add_f32 v9, v2\nds_read_b32 v10, v9" WAIT_LDS,
    out[0] = as_bits(as_float(a) + as_float(b));)
PROBE_WITH(lds_add_u64, LDS, INTS, 2,
           QUAD "ds_write_b64 v20, v[22:23]\nds_add_u64 v20, v[24:25]\n"
                "ds_read_b64 v[10:11], v20" WAIT_LDS,
           put_u64(out, as_u64(a, b) + as_u64(c, d));)

/* ---- global ---------------------------------------------------------------
 */

#define POINTER                                                                \
  "v_mov_b32_e32 v30, s8\nv_mov_b32_e32 v31, s9\n"                             \
  "v_lshl_add_u64 v[30:31], v[30:31], 0, v[40:41]\n"
#define POINTER_V9 "v_mov_b32_e32 v40, v9\nv_mov_b32_e32 v41, 0\n" POINTER

PROBE(global_vector_address, INTS, 1,
      POINTER_V9 "global_load_dword v10, v[30:31], off offset:256" WAIT_VMEM,
      out[0] = b;)
PROBE(global_negative_offset, INTS, 1,
      "v_add_u32_e32 v20, 0x200, v9\nglobal_load_dword v10, v20, s[8:9] "
      "offset:-256" WAIT_VMEM,
      out[0] = b;)
PROBE(global_bytes, INTS, 4,
      "global_load_ubyte v10, v9, s[8:9] offset:1\nglobal_load_sbyte v11, v9, "
      "s[8:9] offset:3\n"
      "global_load_ushort v12, v9, s[8:9] offset:2\nglobal_load_sshort v13, "
      "v9, s[8:9]" WAIT_VMEM,
      out[0] = a >> 8 & 255;
      out[1] = (uint32_t)(int8_t)(a >> 24); out[2] = a >> 16;
      out[3] = (uint32_t)(int16_t)a;)
PROBE(global_d16, INTS, 2,
      "v_mov_b32_e32 v10, v2\nv_mov_b32_e32 v11, v2\n"
      "global_load_short_d16_hi v10, v9, s[8:9]\n"
      "global_load_ubyte_d16 v11, v9, s[8:9] offset:3" WAIT_VMEM,
      out[0] = (b & 0xffff) | a << 16;
      out[1] = (b & 0xffff0000) | a >> 24;)
PROBE(global_x4, INTS, 4,
      "v_and_b32_e32 v20, 15, v0\nv_lshlrev_b32_e32 v20, 4, v20\n"
      "global_load_dwordx4 v[10:13], v20, s[8:9] offset:256" WAIT_VMEM,
      for (uint32_t i = 0; i < 4; i++) out[i] = in[1][lane % 16 * 4 + i];)
PROBE(global_x3, INTS, 3,
      "v_and_b32_e32 v20, 15, v0\nv_lshlrev_b32_e32 v20, 4, v20\n"
      "global_load_dwordx3 v[10:12], v20, s[8:9]" WAIT_VMEM,
      for (uint32_t i = 0; i < 3; i++) out[i] = in[0][lane % 16 * 4 + i];)
/* Stored to the output, read back, and then overwritten by the epilogue. */
PROBE(
    global_stores, INTS, 4,
    "global_store_dword v9, v3, s[10:11]\ns_waitcnt vmcnt(0)\n"
    "global_store_byte v9, v1, s[10:11] offset:1\n"
    "global_store_short_d16_hi v9, v2, s[10:11] offset:2\ns_waitcnt vmcnt(0)\n"
    "global_load_dword v10, v9, s[10:11]" WAIT_VMEM,
    out[0] = (c & 255) | (a & 255) << 8 | (b >> 16) << 16;)
PROBE(global_exec, INTS, 1,
      "global_store_dword v9, v2, s[10:11]\ns_waitcnt vmcnt(0)\ns_mov_b64 "
      "exec, 0xff00\n"
      "global_store_dword v9, v1, s[10:11]\ns_waitcnt vmcnt(0)\ns_mov_b64 "
      "exec, -1\n"
      "global_load_dword v10, v9, s[10:11] sc0 sc1" WAIT_VMEM,
      out[0] = lane >= 8 && lane < 16 ? a : b;)
/* An address that is off is not looked at. */
PROBE(global_exec_wild, INTS, 1,
      "v_mov_b32_e32 v10, 7\ns_mov_b64 exec, 1\ns_nop 0\n"
      "v_mov_b32_e32 v20, 0\nglobal_load_dword v10, v20, s[8:9]" WAIT_VMEM,
      out[0] = lane ? 7 : in[0][0];)

/* ---- atomics --------------------------------------------------------------
 */

#define CELL(value)                                                            \
  "v_mov_b32_e32 v20, " value "\nglobal_store_dword v9, v20, s[10:11]\n"       \
  "s_waitcnt vmcnt(0)\n"
#define READ_CELL                                                              \
  "s_waitcnt vmcnt(0)\nglobal_load_dword v11, v9, s[10:11]\n" WAIT_VMEM
PROBE(atomic_add, INTS, 2,
      CELL("v1") "global_atomic_add v10, v9, v2, s[10:11] sc0\n" READ_CELL,
      out[0] = a;
      out[1] = a + b;)
PROBE(atomic_inactive_lanes, INTS, 2,
      CELL("v1") "s_mov_b64 exec, 0xf\nglobal_atomic_add v9, v2, s[10:11]\n"
                 "s_mov_b64 exec, -1\n" READ_CELL,
      out[0] = 0;
      out[1] = lane < 4 ? a + b : a;)
PROBE(atomic_all_lanes_one_cell, SMALL, 1,
      "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 3\ns_mov_b64 exec, 1\n"
      "global_store_dword v20, v21, s[10:11]\ns_mov_b64 exec, -1\ns_waitcnt "
      "vmcnt(0)\n"
      "global_atomic_add v20, v1, s[10:11]\ns_waitcnt vmcnt(0)\n"
      "global_load_dword v10, v20, s[10:11]" WAIT_VMEM,
      out[0] = 3;
      for (int i = 0; i < 64; i++) out[0] += in[0][i];)
PROBE(atomic_compare_swap, SMALL, 2,
      "v_and_b32_e32 v5, 1, v1\n" CELL(
          "v5") "v_mov_b32_e32 v22, v2\nv_mov_b32_e32 v23, 1\n"
                "global_atomic_cmpswap v10, v9, v[22:23], s[10:11] "
                "sc0\n" READ_CELL,
      out[0] = a & 1;
      out[1] = a & 1 ? b : 0;)
#define CELL_64                                                                \
  "v_lshlrev_b32_e32 v25, 3, v0\nv_and_b32_e32 v26, 1, v1\nv_mov_b32_e32 "     \
  "v27, 9\n"                                                                   \
  "global_store_dwordx2 v25, v[26:27], s[10:11]\ns_waitcnt vmcnt(0)\n"
PROBE(
    atomic_compare_swap_x2, SMALL, 4,
    CELL_64
    "v_mov_b32_e32 v20, v2\nv_mov_b32_e32 v21, v3\nv_mov_b32_e32 v22, 1\n"
    "v_mov_b32_e32 v23, 9\nglobal_atomic_cmpswap_x2 v[10:11], v25, v[20:23], "
    "s[10:11] sc0\n"
    "s_waitcnt vmcnt(0)\nglobal_load_dwordx2 v[12:13], v25, s[10:11]" WAIT_VMEM,
    out[0] = a & 1;
    out[1] = 9; out[2] = a & 1 ? b : 0; out[3] = a & 1 ? c : 9;)
PROBE(atomic_add_x2, SMALL, 2,
      CELL_64
      "v_mov_b32_e32 v20, -1\nv_mov_b32_e32 v21, v2\n"
      "global_atomic_add_x2 v25, v[20:21], s[10:11]\ns_waitcnt vmcnt(0)\n"
      "global_load_dwordx2 v[10:11], v25, s[10:11]" WAIT_VMEM,
      put_u64(out, as_u64(a & 1, 9) + as_u64(UINT32_MAX, b));)
PROBE(atomic_add_f32, FINITE, 2,
      CELL("v1") "global_atomic_add_f32 v10, v9, v2, s[10:11] sc0\n" READ_CELL,
      out[0] = a;
      out[1] = as_bits(as_float(a) + as_float(b));)
PROBE(atomic_add_f64, DOUBLES, 2,
      "v_lshlrev_b32_e32 v25, 3, v0\nv_mov_b32_e32 v20, v1\nv_mov_b32_e32 v21, "
      "v2\n"
      "v_mov_b32_e32 v22, v3\nv_mov_b32_e32 v23, v4\n"
      "global_store_dwordx2 v25, v[20:21], s[10:11]\ns_waitcnt vmcnt(0)\n"
      "global_atomic_add_f64 v25, v[22:23], s[10:11]\ns_waitcnt vmcnt(0)\n"
      "global_load_dwordx2 v[10:11], v25, s[10:11]" WAIT_VMEM,
      put_double(out, as_double(a, b) + as_double(c, d));)
PROBE(atomic_pk_add_f16, HALVES, 2,
      CELL("v1") "global_atomic_pk_add_f16 v9, v2, s[10:11]\n" READ_CELL,
      out[0] = 0;
      out[1] = pack_half(as_half(a) + as_half(b),
                         as_half(a >> 16) + as_half(b >> 16));)
/* 1.5 + 2.25 and -8 + 1 in bf16. */
PROBE(
    atomic_pk_add_bf16, INTS, 2,
    CELL(
        "0xc1003fc0") "v_mov_b32_e32 v21, 0x3f804010\n"
                      "global_atomic_pk_add_bf16 v9, v21, s[10:11]\n" READ_CELL,
    out[0] = 0;
    out[1] = 0xc0e04070;)
PROBE(atomic_inc_dec, SMALL, 2,
      CELL("v1") "v_mov_b32_e32 v21, 40\nglobal_atomic_inc v10, v9, v21, "
                 "s[10:11] sc0\n" READ_CELL,
      out[0] = a;
      out[1] = a >= 40 ? 0 : a + 1;)
PROBE(atomic_swap_umax, INTS, 2,
      CELL("v1") "global_atomic_umax v9, v2, s[10:11]\ns_waitcnt vmcnt(0)\n"
                 "global_atomic_swap v10, v9, v3, s[10:11] sc0\n" READ_CELL,
      out[0] = a > b ? a : b;
      out[1] = c;)

/* ---- cache control: touches no memory, whatever the registers hold ---- */
PROBE(
    cache_control, INTS, 1,
    "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)\nbuffer_inv sc1\nbuffer_wbl2 sc0 sc1\n"
    "s_waitcnt vmcnt(0)\ns_dcache_wb\ns_icache_inv\nv_mov_b32_e32 v10, v1",
    out[0] = a;)

/* ---- loads to LDS: M0 + offset + 4 * lane, not per lane -------------------
 */
PROBE_WITH(global_load_lds, LDS, INTS, 1,
           "v_xor_b32_e32 v20, 0xfc, v9\ns_mov_b32 m0, 0x200\n"
           "global_load_lds_dword v20, s[8:9] offset:256\n"
           "s_waitcnt vmcnt(0)\nds_read_b32 v10, v9 offset:768" WAIT_LDS,
           out[0] = in[1][lane ^ 63];)

/* ---- buffers --------------------------------------------------------------
 */

/* s[12:15]: the group's input, raw, num_records bytes */
#define RAW_BUFFER(bytes)                                                      \
  "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, " bytes                \
  "\ns_mov_b32 s15, 0x00020000\n"
PROBE(buffer_offen, INTS, 1,
      RAW_BUFFER("0x400") "s_movk_i32 s20, 0x100\n"
                          "buffer_load_dword v10, v9, s[12:15], s20 offen "
                          "offset:256" WAIT_VMEM,
      out[0] = c;)
PROBE(
    buffer_no_address, INTS, 1,
    RAW_BUFFER(
        "0x400") "buffer_load_dword v10, off, s[12:15], 0 offset:12" WAIT_VMEM,
    out[0] = in[0][3];)
PROBE(buffer_structured, INTS, 1,
      /* stride 16: records of four dwords */
      "s_mov_b32 s12, s8\ns_or_b32 s13, s9, 0x100000\ns_mov_b32 s14, 48\n"
      "s_mov_b32 s15, 0x00020000\nbuffer_load_dword v10, v0, s[12:15], 0 idxen "
      "offset:8" WAIT_VMEM,
      out[0] = lane < 48 ? in[(lane * 4 + 2) / 64][(lane * 4 + 2) % 64] : 0;)
PROBE(buffer_out_of_range, INTS, 2,
      RAW_BUFFER("0x100") "v_mov_b32_e32 v10, 5\nv_mov_b32_e32 v20, -1\n"
                          "buffer_load_dword v10, v20, s[12:15], 0 offen\n"
                          "v_add_u32_e32 v21, 0x80, v9\nbuffer_load_dword v11, "
                          "v21, s[12:15], 0 offen" WAIT_VMEM,
      out[0] = 0;
      out[1] = lane < 32 ? in[0][lane + 32] : 0;)
/* Each dword of a wide load is checked for itself. */
PROBE(buffer_x4_partly_out, INTS, 4,
      RAW_BUFFER("0xf8") "v_mov_b32_e32 v20, 0xf0\n"
                         "buffer_load_dwordx4 v[10:13], v20, s[12:15], 0 "
                         "offen" WAIT_VMEM,
      out[0] = in[0][60];
      out[1] = in[0][61];)
PROBE(buffer_store_out_of_range, INTS, 1,
      "s_mov_b32 s12, s10\ns_mov_b32 s13, s11\ns_movk_i32 s14, 0x80\ns_mov_b32 "
      "s15, 0x00020000\n"
      "global_store_dword v9, v1, s[10:11]\ns_waitcnt vmcnt(0)\n"
      "buffer_store_dword v2, v9, s[12:15], 0 offen\ns_waitcnt vmcnt(0)\n"
      "global_load_dword v10, v9, s[10:11]" WAIT_VMEM,
      out[0] = lane < 32 ? b : a;)
PROBE(buffer_bytes, INTS, 4,
      RAW_BUFFER(
          "0x400") "buffer_load_ubyte v10, v9, s[12:15], 0 offen offset:2\n"
                   "buffer_load_sbyte v11, v9, s[12:15], 0 "
                   "offen\nbuffer_load_ushort v12, v9, s[12:15], 0 offen "
                   "offset:2\n"
                   "buffer_load_sshort v13, v9, s[12:15], 0 offen" WAIT_VMEM,
      out[0] = a >> 16 & 255;
      out[1] = (uint32_t)(int8_t)a; out[2] = a >> 16;
      out[3] = (uint32_t)(int16_t)a;)
PROBE(buffer_short_d16, INTS, 2,
      RAW_BUFFER("0x400") "v_mov_b32_e32 v10, v2\nv_mov_b32_e32 v11, v2\n"
                          "buffer_load_short_d16 v10, v9, s[12:15], 0 offen\n"
                          "buffer_load_short_d16_hi v11, v9, s[12:15], 0 "
                          "offen" WAIT_VMEM,
      out[0] = (b & 0xffff0000) | (a & 0xffff);
      out[1] = (b & 0xffff) | a << 16;)
#define OUT_BUFFER                                                             \
  "s_mov_b32 s12, s10\ns_mov_b32 s13, s11\ns_movk_i32 s14, 0x400\n"            \
  "s_mov_b32 s15, 0x00020000\nglobal_store_dword v9, v3, s[10:11]\n"           \
  "s_waitcnt vmcnt(0)\n"
PROBE(buffer_store_bytes, INTS, 1,
      OUT_BUFFER "buffer_store_byte v1, v9, s[12:15], 0 offen\n"
                 "buffer_store_short v2, v9, s[12:15], 0 offen "
                 "offset:2\ns_waitcnt vmcnt(0)\n"
                 "global_load_dword v10, v9, s[10:11]" WAIT_VMEM,
      out[0] = (a & 255) | (c & 0xff00) | b << 16;)
PROBE(buffer_store_x4, INTS, 4,
      "s_mov_b32 s12, s10\ns_mov_b32 s13, s11\ns_movk_i32 s14, 0x400\n"
      "s_mov_b32 s15, 0x00020000\n" QUAD
      "buffer_store_dwordx4 v[22:25], v20, s[12:15], 0 offen nt\ns_waitcnt "
      "vmcnt(0)\n"
      "buffer_load_dwordx4 v[10:13], v20, s[12:15], 0 offen" WAIT_VMEM,
      out[0] = a;
      out[1] = b; out[2] = c; out[3] = d;)
PROBE(buffer_atomic, INTS, 2,
      OUT_BUFFER "v_mov_b32_e32 v10, v1\nbuffer_atomic_add v10, v9, s[12:15], "
                 "0 offen sc0\n" READ_CELL,
      out[0] = c;
      out[1] = a + c;)
PROBE_WITH(
    buffer_load_lds, LDS, INTS, 1,
    RAW_BUFFER(
        "0x400") "s_mov_b32 m0, 0x80\nv_xor_b32_e32 v20, 4, v9\n"
                 "buffer_load_dword v20, s[12:15], 0 offen offset:512 lds\n"
                 "s_waitcnt vmcnt(0)\nds_read_b32 v10, v9 offset:640" WAIT_LDS,
    out[0] = in[2][lane ^ 1];)

/* ---- flat and scratch -----------------------------------------------------
 */

PROBE(
    flat_global, INTS, 1,
    POINTER_V9
    "flat_load_dword v10, v[30:31] offset:256\ns_waitcnt vmcnt(0) lgkmcnt(0)\n",
    out[0] = b;)
PROBE_WITH(
    flat_lds, LDS, INTS, 2,
    "s_mov_b64 s[20:21], src_shared_base\nv_mov_b32_e32 v30, v9\nv_mov_b32_e32 "
    "v31, s21\n"
    "ds_write_b32 v9, v1\ns_waitcnt lgkmcnt(0)\nflat_load_dword v10, v[30:31]\n"
    "s_waitcnt vmcnt(0) lgkmcnt(0)\nflat_store_dword v[30:31], v2\n"
    "s_waitcnt vmcnt(0) lgkmcnt(0)\nds_read_b32 v11, v9" WAIT_LDS,
    out[0] = a;
    out[1] = b;)
PROBE_WITH(flat_scratch, SCRATCH, INTS, 1,
           "s_mov_b64 s[20:21], src_private_base\nv_mov_b32_e32 v30, "
           "16\nv_mov_b32_e32 v31, s21\n"
           "scratch_store_dword off, v1, off offset:16\ns_waitcnt vmcnt(0)\n"
           "flat_load_dword v10, v[30:31]\ns_waitcnt vmcnt(0) lgkmcnt(0)\n",
           out[0] = a;)
PROBE_WITH(scratch_scalar_offset, SCRATCH, INTS, 2,
           "s_movk_i32 s20, 64\nscratch_store_dword off, v1, s20 offset:8\n"
           "scratch_store_dword off, v2, off offset:76\ns_waitcnt vmcnt(0)\n"
           "scratch_load_dwordx2 v[10:11], off, off offset:72" WAIT_VMEM,
           out[0] = a;
           out[1] = b;)
PROBE_WITH(
    scratch_per_lane, SCRATCH, INTS, 1,
    "v_and_b32_e32 v20, 0x7c, v9\nscratch_store_dword v20, v1, off offset:4\n"
    "s_waitcnt vmcnt(0)\nscratch_load_dword v10, v20, off offset:4" WAIT_VMEM,
    out[0] = a;)
PROBE_WITH(
    scratch_x4_and_bytes, SCRATCH, INTS, 4,
    QUAD
    "scratch_store_dwordx4 off, v[22:25], off offset:32\ns_waitcnt vmcnt(0)\n"
    "scratch_store_byte off, v1, off offset:39\ns_waitcnt vmcnt(0)\n"
    "scratch_load_dwordx3 v[10:12], off, off offset:36\n"
    "scratch_load_sbyte v13, off, off offset:35" WAIT_VMEM,
    out[0] = (b & 0xffffff) | a << 24;
    out[1] = c; out[2] = d; out[3] = (uint32_t)((int32_t)a >> 24);)

/* ---- SMEM -----------------------------------------------------------------
 */

PROBE(scalar_load_x8, INTS, 2,
      "s_load_dwordx8 s[20:27], s[8:9], 0x40\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32_e32 v10, s20\nv_mov_b32_e32 v11, s27",
      out[0] = in[0][16];
      out[1] = in[0][23];)
PROBE(scalar_load_offset, INTS, 2,
      "s_movk_i32 s20, 0x84\ns_load_dword s21, s[8:9], s20\n"
      "s_add_u32 s22, s8, 0x100\ns_addc_u32 s23, s9, 0\n"
      "s_load_dwordx2 s[24:25], s[22:23], -0x10\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32_e32 v10, s21\nv_mov_b32_e32 v11, s25",
      out[0] = in[0][33];
      out[1] = in[0][61];)
PROBE(scalar_load_x16, INTS, 2,
      "s_load_dwordx16 s[20:35], s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32_e32 v10, s35\nv_mov_b32_e32 v11, s28",
      out[0] = in[0][15];
      out[1] = in[0][8];)
PROBE(scalar_buffer_load, INTS, 2,
      RAW_BUFFER("0x20") "s_buffer_load_dwordx4 s[20:23], s[12:15], "
                         "0x18\ns_waitcnt lgkmcnt(0)\n"
                         "v_mov_b32_e32 v10, s21\nv_mov_b32_e32 v11, s22",
      out[0] = in[0][7];
      out[1] = 0;)
PROBE(
    scalar_memtime, INTS, 1,
    "s_memtime s[20:21]\ns_waitcnt lgkmcnt(0)\ns_nop 15\ns_memtime s[22:23]\n"
    "s_waitcnt lgkmcnt(0)\ns_sub_u32 s22, s22, s20\ns_subb_u32 s23, s23, s21\n"
    "s_cmp_eq_u32 s23, 0\ns_cselect_b32 s24, 1, 0\nv_mov_b32_e32 v10, s24",
    out[0] = 1;)
