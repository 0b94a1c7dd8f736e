/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Integer, bit, move, carry and comparison opcodes of the VALU; SDWA, packed
 * integers. Models are written from the ISA guide's text.
 */
#include "vector_probe.h"

/* ---- bits -----------------------------------------------------------------
 */
PROBE(mov, INTS, 'u', "v_mov_b32_e32 v10, v2", r = a;)
PROBE(mov_scalar, INTS, 'u', "v_mov_b32_e32 v10, s22", r = k;)
PROBE(mov_constant, INTS, 'u', "v_mov_b32_e32 v10, -7", r = (uint32_t)-7;)
PROBE(mov_b64, INTS, 'u', "v_mov_b64_e32 v[10:11], v[4:5]", r = b; r1 = b1;)
PROBE(accvgpr_write, INTS, 'u', "v_accvgpr_read_b32 v10, v2", r = a;)
PROBE(not, INTS, 'u', "v_not_b32_e32 v10, v2", r = ~a;)
PROBE(xnor, INTS, 'u', "v_xnor_b32_e32 v10, v2, v4", r = ~(a ^ b);)
PROBE(and_or, INTS, 'u', "v_and_or_b32 v10, v2, v4, v6", r = (a & b) | c;)
PROBE(bfi, INTS, 'u', "v_bfi_b32 v10, v2, v4, v6", r = (a & b) | (~a & c);)
PROBE(bfm, INTS, 'u', "v_bfm_b32 v10, v2, v4", r = 0;
      for (uint32_t i = 0; i < (a & 31); i++) if ((b & 31) + i < 32) r |=
      1u << ((b & 31) + i);)
PROBE(bfe_u32, SMALL, 'u', "v_bfe_u32 v10, s22, v4, v6", r = 0;
      for (uint32_t i = 0; i < (c & 31) && (b & 31) + i < 32; i++) r |=
      (k >> ((b & 31) + i) & 1) << i;)
static uint32_t signed_field(uint32_t value, uint32_t offset, uint32_t width) {
  int64_t shifted = (int64_t)(int32_t)value >> offset; /* repeats the sign */
  int64_t size = 1ll << width, field = shifted & (size - 1);
  return (uint32_t)(2 * field >= size && width ? field - size : field);
}
PROBE(bfe_i32, INTS, 'u', "v_bfe_i32 v10, v2, v4, v6",
      r = signed_field(a, b & 31, c & 31);)
PROBE(alignbit, INTS, 'u', "v_alignbit_b32 v10, v2, v4, v6",
      r = (uint32_t)((((uint64_t)a << 32) + b) >> (c % 32));)
PROBE(alignbyte, INTS, 'u', "v_alignbyte_b32 v10, v2, v4, v6",
      r = (uint32_t)((((uint64_t)a << 32) + b) >> (c % 4 * 8));)
static uint32_t perm_byte(uint32_t a, uint32_t b, uint32_t selector) {
  uint8_t bytes[8];
  memcpy(bytes, &b, 4);
  memcpy(bytes + 4, &a, 4);
  if (selector < 8)
    return bytes[selector];
  if (selector < 12)
    return bytes[(selector - 8) * 2 + 1] & 0x80 ? 0xff : 0;
  return selector == 12 ? 0 : 0xff;
}
PROBE(perm, INTS, 'u', "v_perm_b32 v10, v2, v4, v6",
      r = perm_byte(a, b, c & 255) | perm_byte(a, b, c >> 8 & 255) << 8 |
          perm_byte(a, b, c >> 16 & 255) << 16 |
          perm_byte(a, b, c >> 24) << 24;)
PROBE(perm_small, SMALL, 'u', "v_perm_b32 v10, v2, v4, v6",
      r = perm_byte(a, b, c & 255) | perm_byte(a, b, 0) * 0x1010100;)
PROBE(bfrev, INTS, 'u', "v_bfrev_b32_e32 v10, v2", r = 0;
      for (int i = 0; i < 32; i++) r |= (a >> i & 1) << (31 - i);)
PROBE(bcnt, INTS, 'u', "v_bcnt_u32_b32 v10, v2, v4",
      r = (uint32_t)__builtin_popcount(a) + b;)
PROBE(
    ffbh_u32, INTS, 'u', "v_ffbh_u32_e32 v10, v2", r = UINT32_MAX;
    for (uint32_t i = 0; i < 32; i++) if (a >> (31 - i) & 1) {
      r = i;
      break;
    })
PROBE(
    ffbh_i32, INTS, 'u', "v_ffbh_i32_e32 v10, v2", r = UINT32_MAX;
    for (uint32_t i = 1; i < 32; i++) if ((a >> (31 - i) & 1) != a >> 31) {
      r = i;
      break;
    })
PROBE(
    ffbl, INTS, 'u', "v_ffbl_b32_e32 v10, v2", r = UINT32_MAX;
    for (uint32_t i = 0; i < 32; i++) if (a >> i & 1) {
      r = i;
      break;
    })
PROBE(mbcnt_lo, INTS, 'u', "v_mbcnt_lo_u32_b32 v10, s22, v4", r = b;
      for (uint32_t i = 0; i < number && i < 32; i++) r += k >> i & 1;)
PROBE(mbcnt_hi, INTS, 'u', "v_mbcnt_hi_u32_b32 v10, -1, v4",
      r = b + (number > 32 ? number - 32 : 0);)

/* ---- shifts ---------------------------------------------------------------
 */
PROBE(lshlrev, SMALL, 'u', "v_lshlrev_b32_e32 v10, v2, v4", r = b << (a % 32);)
PROBE(ashrrev, INTS, 'u', "v_ashrrev_i32_e32 v10, v2, v4",
      r = (uint32_t)((int32_t)b >> (a % 32));)
PROBE(lshlrev_b64, INTS, 'u', "v_lshlrev_b64 v[10:11], v2, v[4:5]",
      PUT_WIDE(ws_join(b, b1) << (a % 64));)
PROBE(lshrrev_b64, INTS, 'u', "v_lshrrev_b64 v[10:11], 17, v[4:5]",
      PUT_WIDE(ws_join(b, b1) >> 17);)
PROBE(ashrrev_i64, INTS, 'u', "v_ashrrev_i64 v[10:11], v2, v[4:5]",
      PUT_WIDE((uint64_t)((int64_t)ws_join(b, b1) >> (a % 64)));)
PROBE(lshlrev_b16, INTS, 'u', "v_lshlrev_b16_e32 v10, v2, v4",
      r = (b << (a % 16)) & 0xffff;)
PROBE(ashrrev_i16, INTS, 'u', "v_ashrrev_i16_e32 v10, v2, v4",
      r = (uint16_t)((int16_t)b >> (a % 16));)
PROBE(lshl_add, INTS, 'u', "v_lshl_add_u32 v10, v2, 5, v6", r = a * 32 + c;)
PROBE(add_lshl, INTS, 'u', "v_add_lshl_u32 v10, v2, v4, 3", r = (a + b) * 8;)
PROBE(lshl_or, INTS, 'u', "v_lshl_or_b32 v10, v2, 9, v6", r = a << 9 | c;)
PROBE(lshl_add_u64, INTS, 'u', "v_lshl_add_u64 v[10:11], v[2:3], 3, v[6:7]",
      PUT_WIDE(ws_join(a, a1) * 8 + ws_join(c, c1));)
PROBE(xad, INTS, 'u', "v_xad_u32 v10, v2, v4, v6", r = (a ^ b) + c;)

/* ---- arithmetic -----------------------------------------------------------
 */
PROBE(add_u32, INTS, 'u', "v_add_u32_e32 v10, v2, v4", r = a + b;)
PROBE(add_u32_clamp, INTS, 'u', "v_add_u32_e64 v10, v2, v4 clamp",
      r = (uint64_t)a + b > UINT32_MAX ? UINT32_MAX : a + b;)
PROBE(sub_i32_clamp, INTS, 'u', "v_sub_i32 v10, v2, v4 clamp",
      int64_t d = (int64_t)(int32_t)a - (int32_t)b;
      r = (uint32_t)(d > INT32_MAX   ? INT32_MAX
                     : d < INT32_MIN ? INT32_MIN
                                     : d);)
PROBE(add3, INTS, 'u', "v_add3_u32 v10, v2, v4, v6", r = a + b + c;)
PROBE(subrev_u16, INTS, 'u', "v_subrev_u16_e32 v10, v2, v4",
      r = (b - a) & 0xffff;)
PROBE(add_i16_high, INTS, 'u', "v_add_i16 v10, v2, v4 op_sel:[1,0,1]",
      r = ((a >> 16) + b) << 16 | (old & 0xffff);)
PROBE(add_i16_clamp, INTS, 'u', "v_add_i16 v10, v2, v4 clamp",
      int32_t d = (int16_t)a + (int16_t)b;
      d = d > 32767    ? 32767
          : d < -32768 ? -32768
                       : d;
      r = (uint16_t)d | (old & 0xffff0000);)
PROBE(mul_lo, INTS, 'u', "v_mul_lo_u32 v10, v2, v4", r = a * b;)
PROBE(mul_hi_u32, INTS, 'u', "v_mul_hi_u32 v10, v2, v4",
      r = (uint32_t)((unsigned __int128)a * b >> 32);)
PROBE(mul_hi_i32, INTS, 'u', "v_mul_hi_i32 v10, v2, v4",
      r = (uint32_t)((__int128)(int32_t)a * (int32_t)b >> 32);)
static int32_t low_24(uint32_t x) {
  return (int32_t)(x & 0xffffff) - (x & 0x800000 ? 0x1000000 : 0);
}
PROBE(mul_i32_i24, INTS, 'u', "v_mul_i32_i24_e32 v10, v2, v4",
      r = (uint32_t)((int64_t)low_24(a) * low_24(b));)
PROBE(mul_hi_i32_i24, INTS, 'u', "v_mul_hi_i32_i24_e32 v10, v2, v4",
      r = (uint32_t)((int64_t)low_24(a) * low_24(b) >> 32);)
PROBE(mad_u32_u24, INTS, 'u', "v_mad_u32_u24 v10, v2, v4, v6",
      r = (a & 0xffffff) * (b & 0xffffff) + c;)
PROBE(mad_i32_i16, INTS, 'u', "v_mad_i32_i16 v10, v2, v4, v6 op_sel:[1,0,0,0]",
      r = (uint32_t)((int16_t)(a >> 16) * (int16_t)b) + c;)
PROBE(mad_u16, INTS, 'u', "v_mad_u16 v10, v2, v4, v6 op_sel:[0,0,1,1]",
      r = (a * b + (c >> 16)) << 16 | (old & 0xffff);)
PROBE(mad_legacy_u16, INTS, 'u', "v_mad_legacy_u16 v10, v2, v4, v6",
      r = (a * b + c) & 0xffff;)
PROBE(mad_u64_u32, INTS, 'u', "v_mad_u64_u32 v[10:11], vcc, v2, v4, v[6:7]",
      unsigned __int128 sum = (unsigned __int128)a * b + ws_join(c, c1);
      PUT_WIDE((uint64_t)sum); bit = (int)(sum >> 64 & 1);)
PROBE(mad_i64_i32, INTS, 'u', "v_mad_i64_i32 v[10:11], vcc, v2, v4, v[6:7]",
      __int128 sum = (__int128)(int32_t)a * (int32_t)b +
                     (int64_t)ws_join(c, c1);
      PUT_WIDE((uint64_t)sum); bit = (int)(sum >> 64 & 1);)
PROBE(min3_i32, INTS, 'u', "v_min3_i32 v10, v2, v4, v6", int32_t x = (int32_t)a;
      if ((int32_t)b < x) x = (int32_t)b; if ((int32_t)c < x) x = (int32_t)c;
      r = (uint32_t)x;)
static int64_t middle(int64_t x, int64_t y, int64_t z) {
  int64_t values[] = {x, y, z};
  for (int i = 0; i < 3; i++) /* the one with one on either side */
    for (int j = 0; j < 3; j++)
      if (j != i && values[j] <= values[i] && values[i] <= values[3 - i - j])
        return values[i];
  return x;
}
PROBE(med3_u32, INTS, 'u', "v_med3_u32 v10, v2, v4, v6",
      r = (uint32_t)middle(a, b, c);)
PROBE(max_i16, INTS, 'u', "v_max_i16_e32 v10, v2, v4",
      r = (uint16_t)((int16_t)a > (int16_t)b ? a : b);)
PROBE(med3_i16, INTS, 'u', "v_med3_i16 v10, v2, v4, v6",
      int64_t m = middle((int16_t)a, (int16_t)b, (int16_t)c);
      r = (uint16_t)m | (old & 0xffff0000);)

/* ---- sums of absolute differences, bytes ----------------------------------
 */
static uint32_t gap(uint32_t x, uint32_t y) { return x > y ? x - y : y - x; }
static uint32_t bytes_gap(uint64_t x, uint32_t y, bool masked) {
  uint32_t sum = 0;
  for (int i = 0; i < 32; i += 8)
    sum += masked && !(y >> i & 255)
               ? 0
               : gap((uint32_t)(x >> i) & 255, y >> i & 255);
  return sum;
}
PROBE(sad_u8, INTS, 'u', "v_sad_u8 v10, v2, v4, v6",
      r = bytes_gap(a, b, false) + c;)
PROBE(sad_hi_u8, INTS, 'u', "v_sad_hi_u8 v10, v2, v4, v6",
      r = (bytes_gap(a, b, false) << 16) + c;)
PROBE(sad_u16, INTS, 'u', "v_sad_u16 v10, v2, v4, v6",
      r = gap(a & 65535, b & 65535) + gap(a >> 16, b >> 16) + c;)
PROBE(msad_u8, SMALL, 'u', "v_msad_u8 v10, v2, v4, v6",
      r = bytes_gap(a, b, true) + c;)
PROBE(qsad, INTS, 'u', "v_qsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]",
      uint64_t x = ws_join(a, a1);
      uint64_t sum = 0;
      for (int i = 0; i < 4; i++) sum |=
      (uint64_t)(uint16_t)(bytes_gap(x >> 8 * i, b, false) +
                           (uint32_t)(ws_join(c, c1) >> 16 * i))
      << 16 * i;
      PUT_WIDE(sum);)
PROBE(lerp, INTS, 'u', "v_lerp_u8 v10, v2, v4, v6", r = 0;
      for (int i = 0; i < 32; i += 8) r |=
      ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) / 2 << i;)

/* ---- carries and selection ------------------------------------------------
 */
PROBE(add_co, INTS, 'u', "v_add_co_u32_e32 v10, vcc, v2, v4", r = a + b;
      bit = (uint64_t)a + b > UINT32_MAX;)
PROBE(sub_co, INTS, 'u', "v_sub_co_u32_e32 v10, vcc, v2, v4", r = a - b;
      bit = b > a;)
PROBE(addc_co, INTS, 'u', "v_addc_co_u32_e64 v10, vcc, v2, v4, s[20:21]",
      r = a + b + set;
      bit = (uint64_t)a + b + set > UINT32_MAX;)
PROBE(addc_co_vcc, INTS, 'u', "v_addc_co_u32_e32 v10, vcc, v2, v4, vcc",
      r = a + b + vcc;
      bit = (uint64_t)a + b + vcc > UINT32_MAX;)
PROBE(subb_co, INTS, 'u', "v_subb_co_u32_e64 v10, vcc, v2, v4, s[20:21]",
      r = a - b - set;
      bit = (uint64_t)b + set > a;)
PROBE(subbrev_co, INTS, 'u', "v_subbrev_co_u32_e32 v10, vcc, v2, v4, vcc",
      r = b - a - vcc;
      bit = (uint64_t)a + vcc > b;)
PROBE(cndmask, INTS, 'u', "v_cndmask_b32_e64 v10, v2, v4, s[20:21]",
      r = set ? b : a;)
PROBE(cndmask_negative, FLOATS, 'u', "v_cndmask_b32_e64 v10, -v2, |v4|, vcc",
      r = vcc ? b & 0x7fffffff : a ^ 0x80000000;)

/* ---- comparisons ----------------------------------------------------------
 */
PROBE(cmp_lt_u32, INTS, 'u', "v_cmp_lt_u32_e32 vcc, v2, v4", bit = a < b;)
PROBE(cmp_ge_i32, INTS, 'u', "v_cmp_ge_i32_e64 vcc, v2, v4",
      bit = (int32_t)a >= (int32_t)b;)
PROBE(cmp_gt_i16, INTS, 'u', "v_cmp_gt_i16_e32 vcc, v2, v4",
      bit = (int16_t)a > (int16_t)b;)
PROBE(cmp_ne_u16, SMALL, 'u', "v_cmp_ne_u16_e32 vcc, v2, v4",
      bit = (uint16_t)a != (uint16_t)b;)
PROBE(cmp_le_i64, INTS, 'u', "v_cmp_le_i64_e32 vcc, v[2:3], v[4:5]",
      bit = (int64_t)ws_join(a, a1) <= (int64_t)ws_join(b, b1);)
PROBE(cmp_eq_u64, SMALL, 'u', "v_cmp_eq_u64_e64 vcc, v[2:3], v[2:3]", bit = 1;)
PROBE(cmp_t_u32, INTS, 'u', "v_cmp_t_u32_e32 vcc, v2, v4", bit = 1;)
PROBE(cmp_f_i32, INTS, 'u', "v_cmp_f_i32_e32 vcc, v2, v4", bit = 0;)

WS_TEST(cmpx_writes_exec) {
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    fill(INTS);
    uint64_t exec = 0xff00ff00ff00ff00, want = 0;
    ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, exec);
    for (int i = 0; i < WS_LANES; i++)
      want |= (uint64_t)(probe_registers[2].u32[i] < probe_registers[4].u32[i])
              << i;
    run_line("v_cmpx_lt_u32_e64 s[30:31], v2, v4");
    WS_CHECK(ws_exec(&probe_wave) == (want & exec));
    WS_CHECK(ws_sgpr64(&probe_wave, 30) == (want & exec));
  }
}

/* ---- SDWA -----------------------------------------------------------------
 */
PROBE(sdwa_or, INTS, 'u',
      "v_or_b32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:WORD_1 src1_sel:BYTE_3",
      r = a >> 16 | b >> 24;)
PROBE(sdwa_byte_sext, INTS, 'u',
      "v_add_u32_sdwa v10, sext(v2), v4 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT "
      "src0_sel:BYTE_2 src1_sel:WORD_0",
      uint32_t x = (uint32_t)(int8_t)(a >> 16) + (b & 0xffff);
      r = (uint32_t)(int32_t)(int8_t)x << 8;)
PROBE(sdwa_preserve, INTS, 'u',
      "v_mov_b32_sdwa v10, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE "
      "src0_sel:BYTE_1",
      r = (old & 0xff00ffff) | (a >> 8 & 255) << 16;)
PROBE(sdwa_word_pad, INTS, 'u',
      "v_lshlrev_b32_sdwa v10, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
      "src0_sel:BYTE_0 src1_sel:DWORD",
      r = (b << (a & 31)) << 16;)
PROBE(sdwa_compare, INTS, 'u',
      "v_cmp_lt_u32_sdwa vcc, v2, v4 src0_sel:BYTE_3 src1_sel:BYTE_0",
      bit = a >> 24 < (b & 255);)
PROBE(sdwa_float_negative, HALVES, 'h',
      "v_add_f16_sdwa v10, -v2, |v4| dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:WORD_1 src1_sel:WORD_0",
      r = HALF(-F16(a >> 16) + fabsf(F16(b)));)

/* ---- packed ---------------------------------------------------------------
 */
PROBE(pk_add_u16, INTS, 'u', "v_pk_add_u16 v10, v2, v4",
      r = ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;)
PROBE(pk_sub_i16_clamp, INTS, 'u', "v_pk_sub_i16 v10, v2, v4 clamp",
      int32_t x[2] = {(int16_t)a - (int16_t)b,
                      (int16_t)(a >> 16) - (int16_t)(b >> 16)};
      for (int i = 0; i < 2; i++) x[i] = x[i] > 32767    ? 32767
                                         : x[i] < -32768 ? -32768
                                                         : x[i];
      r = (uint16_t)x[0] | (uint32_t)x[1] << 16;)
PROBE(pk_mad_u16_select, INTS, 'u',
      "v_pk_mad_u16 v10, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[0,1,0]",
      r = (((a >> 16) * (b & 0xffff) + c) & 0xffff) |
          ((a & 0xffff) * (b >> 16) + c) << 16;)
PROBE(pk_lshlrev_b16, INTS, 'u', "v_pk_lshlrev_b16 v10, 4, v4 op_sel_hi:[0,1]",
      r = (b << 4 & 0xffff) | (b >> 16) << 20;)
PROBE(pk_max_i16, INTS, 'u', "v_pk_max_i16 v10, v2, v4",
      uint32_t low = (int16_t)a > (int16_t)b ? a : b;
      uint32_t high = (int16_t)(a >> 16) > (int16_t)(b >> 16) ? a : b;
      r = (low & 0xffff) | (high & 0xffff0000);)
PROBE(pk_mov, INTS, 'u', "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]",
      r = a1;
      r1 = b;)
PROBE(pk_mov_default, INTS, 'u',
      "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel_hi:[0,1]", r = a;
      r1 = b;)
PROBE(dot4_i32_i8, INTS, 'u', "v_dot4_i32_i8 v10, v2, v4, v6", r = c;
      for (int i = 0; i < 32; i += 8) r +=
      (uint32_t)((int8_t)(a >> i) * (int8_t)(b >> i));)
PROBE(dot4_u32_u8_clamp, INTS, 'u', "v_dot4_u32_u8 v10, v2, v4, v6 clamp",
      uint64_t sum = c;
      for (int i = 0; i < 32; i += 8) sum += (a >> i & 255) * (b >> i & 255);
      r = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;)
PROBE(dot8c_i32_i4, INTS, 'u', "v_dot8c_i32_i4_e32 v10, v2, v4", r = old;
      for (int i = 0; i < 32; i += 4) r +=
      (uint32_t)(((int)(a >> i & 15) ^ 8) - 8) *
      (uint32_t)(((int)(b >> i & 15) ^ 8) - 8);)
PROBE(dot2_u32_u16, INTS, 'u', "v_dot2_u32_u16 v10, v2, v4, v6",
      r = (a & 65535) * (b & 65535) + (a >> 16) * (b >> 16) + c;)
PROBE(sat_pk, INTS, 'u', "v_sat_pk_u8_i16_e32 v10, v2", int32_t x = (int16_t)a;
      int32_t y = (int16_t)(a >> 16); x = x < 0     ? 0
                                          : x > 255 ? 255
                                                    : x;
      y = y < 0     ? 0
          : y > 255 ? 255
                    : y;
      r = (uint32_t)(x | y << 8);)
PROBE(cvt_pk_i16_i32, INTS, 'u', "v_cvt_pk_i16_i32 v10, v2, v4",
      int32_t x = (int32_t)a;
      int32_t y = (int32_t)b; x = x < -32768  ? -32768
                                  : x > 32767 ? 32767
                                              : x;
      y = y < -32768  ? -32768
          : y > 32767 ? 32767
                      : y;
      r = (uint16_t)x | (uint32_t)y << 16;)

/* Registers of a pair that overlap a source's. */
WS_TEST(overlapping_pairs) {
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    fill(INTS);
    ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, UINT64_MAX);
    lane l[WS_LANES];
    for (int i = 0; i < WS_LANES; i++)
      l[i] = lane_inputs(i);
    run_line("v_lshlrev_b64 v[3:4], v4, v[2:3]");
    for (int i = 0; i < WS_LANES; i++) {
      uint64_t want = ws_join(l[i].a, l[i].a1) << (l[i].b & 63);
      WS_CHECK(probe_registers[3].u32[i] == (uint32_t)want);
      WS_CHECK(probe_registers[4].u32[i] == want >> 32);
    }
  }
}

/* Every opcode has a handler in every instruction set, or is known not to. */
WS_TEST(all_opcodes_have_handlers) {
  static const struct {
    const char *name;
    ws_op op;
  } all[] = {
#define OP(name, class_, operands) {#name, WS_OP_##name},
#include "ops_vector.def"
#undef OP
  };
  for (int code = 0; ws__vector_code(code); code++) {
    ws__vector_use(ws__vector_code(code));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      if (!ws__execute_vector(all[i].op) &&
          all[i].op != WS_OP_v_screen_partition_4se_b32)
        WS_FAIL("%s has no handler", all[i].name);
  }
}
