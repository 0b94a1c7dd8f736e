/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * DS instructions against values from the CDNA3 ISA guide, worked out by hand.
 */
#include "memory_machine.h"

/* Byte i of LDS is (i + 1) & 255: the dword at address i, little-endian. */
static uint32_t pattern(uint32_t i) {
  return ((i + 1) & 255) | ((i + 2) & 255) << 8 | ((i + 3) & 255) << 16 |
         ((i + 4) & 255) << 24;
}

WS_TEST(read_sub_dword) {
  start(1024, false);
  FILL(v(0, 2), 126 + lane); /* bytes 127, 128, ... */
  run(0, "ds_read_u8 v1, v2");
  CHECK_LANES(v(0, 1), (127 + lane) & 255);
  run(0, "ds_read_i8 v1, v2 offset:2");
  CHECK_LANES(v(0, 1), (int8_t)(129 + lane));
  FILL(v(0, 2), 2 * lane);
  run(0, "ds_read_u16 v1, v2");
  CHECK_LANES(v(0, 1), pattern(2 * lane) & 0xffff);
  run(0, "ds_read_i16 v1, v2 offset:126");
  CHECK_LANES(v(0, 1), (int16_t)pattern(126 + 2 * lane));
}

WS_TEST(read_d16_keeps_the_other_half) {
  start(1024, false);
  FILL(v(0, 2), 128 + 2 * lane);
  FILL(v(0, 1), 0xaaaa5555);
  run(0, "ds_read_u8_d16 v1, v2");
  CHECK_LANES(v(0, 1), 0xaaaa0000 | ((129 + 2 * lane) & 255));
  run(0, "ds_read_i8_d16_hi v1, v2");
  CHECK_LANES(v(0, 1), (uint32_t)(int8_t)(129 + 2 * lane) << 16 |
                           ((129 + 2 * lane) & 255));
  FILL(v(0, 1), 0xaaaa5555);
  run(0, "ds_read_u16_d16_hi v1, v2");
  CHECK_LANES(v(0, 1), pattern(128 + 2 * lane) << 16 | 0x5555);
  run(0, "ds_read_u16_d16 v1, v2");
  CHECK_LANES(v(0, 1), (pattern(128 + 2 * lane) & 0xffff) * 0x10001u);
  FILL(v(0, 1), 0xaaaa5555);
  run(0, "ds_read_i8_d16 v1, v2");
  CHECK_LANES(v(0, 1),
              0xaaaa0000 | (uint16_t)(int16_t)(int8_t)(129 + 2 * lane));
  run(0, "ds_read_u8_d16_hi v1, v2");
  CHECK_LANES(v(0, 1) + 0, ((129 + 2 * lane) & 255) << 16 |
                               (uint16_t)(int16_t)(int8_t)(129 + 2 * lane));
}

static void check_wide_read(uint64_t mask) {
  static const char *const lines[] = {"ds_read_b32 v10, v2 offset:4",
                                      "ds_read_b64 v[10:11], v2 offset:4",
                                      "ds_read_b96 v[10:12], v2 offset:4",
                                      "ds_read_b128 v[10:13], v2 offset:4"};
  for (int count = 1; count <= 4; count++) {
    start(2048, false);
    exec(0, mask);
    FILL(v(0, 2), 20 * lane); /* 4-byte alignment only */
    run(0, lines[count - 1]);
    for (int row = 0; row < 5; row++)
      CHECK_LANES(v(0, 10 + row),
                  row < count && (mask >> lane & 1)
                      ? pattern(20 * lane + 4 + 4 * (uint32_t)row)
                      : (uint32_t)(10 + row) << 8 | lane);
  }
}

WS_TEST(read_dwords) { check_wide_read(UINT64_MAX); }
WS_TEST(read_dwords_of_some_lanes) { check_wide_read(0x8000f00f00000105); }
WS_TEST(read_into_own_address) {
  start(2048, false);
  FILL(v(0, 2), 16 * (63 - lane));
  run(0, "ds_read_b128 v[2:5], v2");
  CHECK_LANES(v(0, 2), pattern(16 * (63 - lane)));
  CHECK_LANES(v(0, 5), pattern(16 * (63 - lane) + 12));
}
WS_TEST(read_into_accumulators) {
  start(2048, false);
  FILL(v(0, 2), 8 * lane);
  run(0, "ds_read_b64 a[6:7], v2");
  CHECK_LANES(a(0, 7), pattern(8 * lane + 4));
}

static void check_wide_write(uint64_t mask) {
  static const char *const lines[] = {"ds_write_b32 v2, v10 offset:8",
                                      "ds_write_b64 v2, v[10:11] offset:8",
                                      "ds_write_b96 v2, v[10:12] offset:8",
                                      "ds_write_b128 v2, v[10:13] offset:8"};
  for (int count = 1; count <= 4; count++) {
    start(2048, false);
    exec(0, mask);
    FILL(v(0, 2), 20 * (63 - lane));
    run(0, lines[count - 1]);
    for (uint32_t lane = 0; lane < 64; lane++)
      for (uint32_t row = 0; row < 5; row++) {
        uint32_t at = 20 * (63 - lane) + 8 + 4 * row;
        bool written = row < (uint32_t)count && (mask >> lane & 1);
        WS_CHECK_INT(lds32(at), written ? (10 + row) << 8 | lane : pattern(at));
      }
  }
}
WS_TEST(write_dwords) { check_wide_write(UINT64_MAX); }
WS_TEST(write_dwords_of_some_lanes) { check_wide_write(0x7000000000000011); }

WS_TEST(write_sub_dword) {
  start(1024, false);
  FILL(v(0, 2), 4 * lane);
  FILL(v(0, 3), 0xa1b2c3d4);
  run(0, "ds_write_b8 v2, v3");
  WS_CHECK_INT(lds32(8), (pattern(8) & 0xffffff00) | 0xd4);
  run(0, "ds_write_b8_d16_hi v2, v3 offset:1");
  WS_CHECK_INT(lds32(8), (pattern(8) & 0xffff0000) | 0xb2d4);
  run(0, "ds_write_b16_d16_hi v2, v3 offset:2");
  WS_CHECK_INT(lds32(8), 0xa1b2b2d4);
  run(0, "ds_write_b16 v2, v3");
  WS_CHECK_INT(lds32(252), 0xa1b2c3d4);
}

WS_TEST(read_pairs) {
  start(8192, false);
  FILL(v(0, 2), 4 * lane);
  run(0, "ds_read2_b32 v[10:11], v2 offset0:3 offset1:255");
  CHECK_LANES(v(0, 10), pattern(4 * lane + 12));
  CHECK_LANES(v(0, 11), pattern(4 * lane + 1020));
  run(0, "ds_read2st64_b32 v[10:11], v2 offset0:1 offset1:2");
  CHECK_LANES(v(0, 10), pattern(4 * lane + 256));
  CHECK_LANES(v(0, 11), pattern(4 * lane + 512));
  run(0, "ds_read2_b64 v[10:13], v2 offset0:1 offset1:2");
  CHECK_LANES(v(0, 11), pattern(4 * lane + 12));
  CHECK_LANES(v(0, 12), pattern(4 * lane + 16));
  run(0, "ds_read2st64_b64 v[10:13], v2 offset1:3");
  CHECK_LANES(v(0, 10), pattern(4 * lane));
  CHECK_LANES(v(0, 13), pattern(4 * lane + 1536 + 4));
  WS_CHECK_INT(machine_waves[0].access.pair, 1);
  WS_CHECK_INT(machine_waves[0].access.second[5], 20 + 1536);
}

WS_TEST(write_pairs) {
  start(8192, false);
  FILL(v(0, 2), 16 * lane);
  run(0, "ds_write2_b32 v2, v10, v11 offset0:1 offset1:3");
  WS_CHECK_INT(lds32(16 * 7 + 4), 10 << 8 | 7);
  WS_CHECK_INT(lds32(16 * 7 + 12), 11 << 8 | 7);
  WS_CHECK_INT(lds32(16 * 7 + 8), pattern(16 * 7 + 8));
  run(0, "ds_write2_b64 v2, v[10:11], v[20:21] offset0:0 offset1:1");
  WS_CHECK_INT(lds32(16 * 7 + 4), 11 << 8 | 7);
  WS_CHECK_INT(lds32(16 * 7 + 12), 21 << 8 | 7);
  run(0, "ds_write2st64_b32 v2, v12, v13 offset0:4 offset1:8");
  WS_CHECK_INT(lds32(1024 + 16), 12 << 8 | 1);
  WS_CHECK_INT(lds32(2048 + 16), 13 << 8 | 1);
  run(0, "ds_write2st64_b64 v2, v[10:11], v[20:21] offset0:4 offset1:8");
  WS_CHECK_INT(lds32(2048 + 16 + 4), 11 << 8 | 1);
  WS_CHECK_INT(lds32(4096 + 16 + 4), 21 << 8 | 1);
}

WS_TEST(addtid) {
  start(2048, false);
  machine_waves[0].sgpr[WS_SGPR_M0] = 0xffff0100; /* only 16 bits count */
  run(0, "ds_read_addtid_b32 v1 offset:8");
  CHECK_LANES(v(0, 1), pattern(0x108 + 4 * lane));
  run(0, "ds_write_addtid_b32 v7 offset:16");
  WS_CHECK_INT(lds32(0x110 + 4 * 9), 7 << 8 | 9);
}

/* ---- atomics ---- */

/* Memory holds `memory`, the lane gives data and data2; what memory is then. */
static void check_atomic(const char *name, bool wide, bool two, uint64_t memory,
                         uint64_t data, uint64_t data2, uint64_t want) {
  static const char *const data_names[] = {"v4", "v[4:5]"};
  static const char *const second_names[] = {", v6", ", v[6:7]"};
  static const char *const result_names[] = {"v8, ", "v[8:9], "};
  for (int returns = 0; returns < 2; returns++) {
    char line[128], full[64];
    const char *type = strrchr(name, '_');
    snprintf(full, sizeof full, "%.*s%s%s", (int)(type - name), name,
             returns ? "_rtn" : "", type);
    snprintf(line, sizeof line, "%s %sv2, %s%s offset:8", full,
             returns ? result_names[wide] : "", data_names[wide],
             two ? second_names[wide] : "");
    start(1024, false);
    exec(0, 1ull << 33);
    FILL(v(0, 2), 32);
    v(0, 4)[33] = (uint32_t)data;
    v(0, 5)[33] = (uint32_t)(data >> 32);
    v(0, 6)[33] = (uint32_t)data2;
    v(0, 7)[33] = (uint32_t)(data2 >> 32);
    set_lds(40, &memory, 8);
    run(0, line);
    uint64_t got = lds32(40), old = v(0, 8)[33];
    if (wide) {
      got |= (uint64_t)lds32(44) << 32;
      old |= (uint64_t)v(0, 9)[33] << 32;
    } else {
      WS_CHECK_INT(lds32(44), memory >> 32);
    }
    if (got != want)
      WS_FAIL("%s gives 0x%llx, want 0x%llx", line, (unsigned long long)got,
              (unsigned long long)want);
    if (returns)
      WS_CHECK(old == (wide ? memory : (uint32_t)memory));
    WS_CHECK_INT(lds32(36), pattern(36));
  }
}

WS_TEST(integer_atomics) {
  const struct {
    const char *name;
    uint64_t memory, data, want;
  } narrow[] = {
      {"ds_add_u32", 0xffffffff, 3, 2},
      {"ds_sub_u32", 1, 3, 0xfffffffe},
      {"ds_rsub_u32", 1, 3, 2},
      {"ds_inc_u32", 4, 5, 5},
      {"ds_inc_u32", 5, 5, 0},
      {"ds_dec_u32", 0, 5, 5},
      {"ds_dec_u32", 6, 5, 5},
      {"ds_dec_u32", 5, 5, 4},
      {"ds_min_i32", 0xffffffff, 1, 0xffffffff},
      {"ds_max_i32", 0xffffffff, 1, 1},
      {"ds_min_u32", 0xffffffff, 1, 1},
      {"ds_max_u32", 0xffffffff, 1, 0xffffffff},
      {"ds_and_b32", 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
      {"ds_or_b32", 0xff00ff00, 0x0ff00ff0, 0xfff0fff0},
      {"ds_xor_b32", 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
  };
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
    check_atomic(narrow[i].name, false, false, narrow[i].memory, narrow[i].data,
                 0, narrow[i].want);
}

WS_TEST(wide_integer_atomics) {
  check_atomic("ds_add_u64", true, false, 0xffffffff, 1, 0, 0x100000000);
  check_atomic("ds_sub_u64", true, false, 0, 1, 0, UINT64_MAX);
  check_atomic("ds_rsub_u64", true, false, 1, 0x100000000, 0, 0xffffffff);
  check_atomic("ds_inc_u64", true, false, 0xffffffff, 0x1ffffffff, 0,
               0x100000000);
  check_atomic("ds_dec_u64", true, false, 0x100000000, 0x200000000, 0,
               0xffffffff);
  check_atomic("ds_min_i64", true, false, 5, 1ull << 63, 0, 1ull << 63);
  check_atomic("ds_max_i64", true, false, 5, 1ull << 63, 0, 5);
  check_atomic("ds_min_u64", true, false, 5, 1ull << 63, 0, 5);
  check_atomic("ds_max_u64", true, false, 5, 1ull << 63, 0, 1ull << 63);
  check_atomic("ds_and_b64", true, false, 0xff00000000ff, 0xf0000000000f, 0,
               0xf0000000000f);
}

WS_TEST(masked_and_compared) {
  /* (memory & ~data) | data2 */
  check_atomic("ds_mskor_b32", false, true, 0xffff, 0x0ff0, 0x0120, 0xf12f);
  check_atomic("ds_mskor_b64", true, true, 0xffff00000000, 0xff0000000000,
               0x120000000000, 0x12ff00000000);
  /* DS: comparand first, new value second. */
  check_atomic("ds_cmpst_b32", false, true, 7, 7, 9, 9);
  check_atomic("ds_cmpst_b32", false, true, 8, 7, 9, 8);
  check_atomic("ds_cmpst_b64", true, true, 1ull << 40, 1ull << 40, 9, 9);
  check_atomic("ds_cmpst_b64", true, true, 1ull << 40, 1ull << 41, 9,
               1ull << 40);
  /* -0 equals +0, NaN not itself. */
  check_atomic("ds_cmpst_f32", false, true, 0x80000000, 0, 9, 9);
  check_atomic("ds_cmpst_f32", false, true, 0x7fc00000, 0x7fc00000, 9,
               0x7fc00000);
}

WS_TEST(float_atomics) {
  check_atomic("ds_add_f32", false, false, float_bits(1.5f), float_bits(-4), 0,
               float_bits(-2.5f));
  check_atomic("ds_add_f32", false, false, 1, 1, 0, 2); /* subnormals */
  check_atomic("ds_min_f32", false, false, float_bits(1), float_bits(-4), 0,
               float_bits(-4));
  check_atomic("ds_max_f32", false, false, float_bits(1), float_bits(-4), 0,
               float_bits(1));
  check_atomic("ds_max_f32", false, false, 0x7fc00000, float_bits(-4), 0,
               float_bits(-4));
  check_atomic("ds_min_f32", false, false, 0, 0x80000000, 0, 0x80000000);
  double one = 1, sum = 1.25;
  uint64_t memory, want;
  memcpy(&memory, &one, 8);
  memcpy(&want, &sum, 8);
  double quarter = 0.25;
  uint64_t data;
  memcpy(&data, &quarter, 8);
  check_atomic("ds_add_f64", true, false, memory, data, 0, want);
  check_atomic("ds_min_f64", true, false, memory, data, 0, data);
  check_atomic("ds_max_f64", true, false, memory, data, 0, memory);
  /* 1.0 + 2.0 and -1.0 + 0.5 */
  check_atomic("ds_pk_add_f16", false, false, 0xbc003c00, 0x38004000, 0,
               0xb8004200);
  check_atomic("ds_pk_add_bf16", false, false, 0xbf803f80, 0x3f004000, 0,
               0xbf004040);
}

WS_TEST(lanes_of_one_address_come_in_order) {
  start(64, false);
  FILL(v(0, 2), 16);
  FILL(v(0, 3), lane);
  uint32_t zero = 0;
  set_lds(16, &zero, 4);
  run(0, "ds_add_rtn_u32 v5, v2, v3");
  CHECK_LANES(v(0, 5), lane * (lane - 1) / 2); /* sum of the lanes before */
  WS_CHECK_INT(lds32(16), 2016);
}

WS_TEST(exchange) {
  start(4096, false);
  FILL(v(0, 2), 8 * lane);
  run(0, "ds_wrxchg_rtn_b32 v3, v2, v4");
  CHECK_LANES(v(0, 3), pattern(8 * lane));
  WS_CHECK_INT(lds32(16), 4 << 8 | 2);
  run(0, "ds_wrxchg2_rtn_b32 v[10:11], v2, v20, v21 offset0:1 offset1:2");
  WS_CHECK_INT(v(0, 10)[3], pattern(28));
  WS_CHECK_INT(lds32(28), 20 << 8 | 3);
  start(4096, false);
  FILL(v(0, 2), 16 * lane);
  run(0, "ds_wrxchg2_rtn_b64 v[10:13], v2, v[20:21], v[22:23] offset1:1");
  CHECK_LANES(v(0, 13), pattern(16 * lane + 12));
  WS_CHECK_INT(lds32(16 * 5 + 12), 23 << 8 | 5);
}

WS_TEST(rare_modifications) {
  start(1024, false);
  exec(0, 1);
  v(0, 2)[0] = 0;
  uint32_t seven = 7;
  set_lds(0, &seven, 4);
  v(0, 3)[0] = 5;
  v(0, 4)[0] = 100;
  run(0, "ds_wrap_rtn_b32 v1, v2, v3, v4"); /* 7 >= 5: 7 - 5 */
  WS_CHECK_INT(lds32(0), 2);
  WS_CHECK_INT(v(0, 1)[0], 7);
  run(0, "ds_wrap_rtn_b32 v1, v2, v3, v4"); /* 2 < 5: 2 + 100 */
  WS_CHECK_INT(lds32(0), 102);
  v(0, 6)[0] = 0x80000011;
  v(0, 7)[0] = 0x11;
  uint32_t high = lds32(4);
  run(0, "ds_condxchg32_rtn_b64 v[8:9], v2, v[6:7]");
  WS_CHECK_INT(lds32(0), 0x11);
  WS_CHECK_INT(lds32(4), high);
  WS_CHECK_INT(v(0, 8)[0], 102);
}

WS_TEST(append_and_consume_count_active_lanes) {
  start(1024, false);
  exec(0, 0xff00ff);
  machine_waves[0].sgpr[WS_SGPR_M0] = 64;
  uint32_t start_value = 100;
  set_lds(72, &start_value, 4);
  run(0, "ds_append v1 offset:8");
  WS_CHECK_INT(lds32(72), 116);
  WS_CHECK_INT(v(0, 1)[0], 100);
  WS_CHECK_INT(v(0, 1)[23], 100);
  WS_CHECK_INT(v(0, 1)[8], 1 << 8 | 8);
  run(0, "ds_consume v1 offset:8");
  WS_CHECK_INT(lds32(72), 100);
  WS_CHECK_INT(v(0, 1)[0], 116);
}

/* ---- lane exchange ---- */

WS_TEST(bpermute_wraps_at_64) {
  start(0, false);
  FILL(v(0, 2), 4 * (lane + 70) + 3); /* low two bits do not count */
  run(0, "ds_bpermute_b32 v1, v2, v3");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane + 70) % 64);
  run(0, "ds_bpermute_b32 v1, v2, v3 offset:8");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane + 72) % 64);
  FILL(v(0, 2), -4);
  run(0, "ds_bpermute_b32 v2, v2, v2");
  CHECK_LANES(v(0, 2), -4);
}

WS_TEST(bpermute_of_an_inactive_lane_is_zero) {
  start(0, false);
  FILL(v(0, 2), 4 * (lane ^ 1));
  exec(0, 0x5555555555555557);
  run(0, "ds_bpermute_b32 v1, v2, v3");
  WS_CHECK_INT(v(0, 1)[0], 3 << 8 | 1);
  WS_CHECK_INT(v(0, 1)[1], 3 << 8 | 0);
  WS_CHECK_INT(v(0, 1)[2], 0);
  WS_CHECK_INT(v(0, 1)[3], 1 << 8 | 3); /* kept */
}

WS_TEST(permute_wraps_and_the_highest_lane_wins) {
  start(0, false);
  FILL(v(0, 2), 4 * (lane + 65));
  run(0, "ds_permute_b32 v1, v2, v3");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane + 63) % 64);
  run(0, "ds_permute_b32 v1, v2, v3 offset:8");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane + 61) % 64);
  FILL(v(0, 2), 4 * 9);
  run(0, "ds_permute_b32 v1, v2, v3");
  CHECK_LANES(v(0, 1), lane == 9 ? 3 << 8 | 63 : 0);
  exec(0, 0x600);
  run(0, "ds_permute_b32 v1, v2, v3");
  WS_CHECK_INT(v(0, 1)[9], 3 << 8 | 10);
  WS_CHECK_INT(v(0, 1)[10], 0);
}

WS_TEST(swizzle_modes) {
  start(0, false);
  run(0, "ds_swizzle_b32 v1, v3 offset:swizzle(BITMASK_PERM,\"01pip\")");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane & 32) | ((((lane & 7) | 8) ^ 2) & 31));
  run(0, "ds_swizzle_b32 v1, v3 offset:swizzle(QUAD_PERM,3,0,1,2)");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane & ~3u) | (lane + 3) % 4);
  run(0, "ds_swizzle_b32 v1, v3 offset:swizzle(SWAP,16)");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane ^ 16));
  run(0, "ds_swizzle_b32 v1, v3 offset:swizzle(REVERSE,8)");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane ^ 7));
  run(0, "ds_swizzle_b32 v1, v3 offset:swizzle(BROADCAST,8,3)");
  CHECK_LANES(v(0, 1), 3 << 8 | (lane & ~7u) | 3);
  run(0, "ds_swizzle_b32 v1, v3 offset:0xc020"); /* rotate by 1 */
  CHECK_LANES(v(0, 1), 3 << 8 | (lane & 32) | (lane + 1) % 32);
  run(0, "ds_swizzle_b32 v1, v3 offset:0xc430"); /* by -1 within 16 */
  CHECK_LANES(v(0, 1), 3 << 8 | (lane & 48) | (lane + 15) % 16);
}

/* mask 0: bits of the lane reversed; 0x1f: as it was; 3: two bits kept. */
WS_TEST(swizzle_fft) {
  start(0, false);
  run(0, "ds_swizzle_b32 v1, v3 offset:0xe01f");
  CHECK_LANES(v(0, 1), 3 << 8 | lane);
  run(0, "ds_swizzle_b32 v1, v3 offset:0xe000");
  WS_CHECK_INT(v(0, 1)[1], 3 << 8 | 16);
  WS_CHECK_INT(v(0, 1)[6], 3 << 8 | 12);
  WS_CHECK_INT(v(0, 1)[38], 3 << 8 | 44);
  run(0, "ds_swizzle_b32 v1, v3 offset:0xe003");
  WS_CHECK_INT(v(0, 1)[5], 3 << 8 | 5); /* 00101 reversed 10100 >> 2 | 01 */
  WS_CHECK_INT(v(0, 1)[8], 3 << 8 | 0); /* 01000 -> 00010 >> 2 */
  WS_CHECK_INT(v(0, 1)[16], 3 << 8 | 0);
  WS_CHECK_INT(v(0, 1)[4], 3 << 8 | 1); /* 00100 -> 00100 >> 2 = 1 */
}

WS_TEST(swizzle_of_an_inactive_lane_is_zero) {
  start(0, false);
  exec(0, 1);
  run(0, "ds_swizzle_b32 v1, v3 offset:swizzle(SWAP,1)");
  WS_CHECK_INT(v(0, 1)[0], 0);
  WS_CHECK_INT(v(0, 1)[1], 1 << 8 | 1);
}

/* ---- faults ---- */

WS_TEST(bounds) {
  start(100, true);
  FILL(v(0, 2), 0);
  v(0, 2)[40] = 97;
  expect_fault(0, "ds_read_u8 v1, v2 offset:3", "oob-lds",
               "end 1 bytes beyond");
  WS_CHECK_INT(machine.fault.lane, 40);
  run(0, "ds_read_u8 v1, v2 offset:2");
  v(0, 2)[40] = 84;
  run(0, "ds_write_b128 v2, v[4:7]");
  v(0, 2)[40] = 88;
  expect_fault(0, "ds_write_b128 v2, v[4:7]", "oob-lds", "end 4 bytes beyond");
  expect_fault(0, "ds_add_u32 v2, v3 offset:16", "oob-lds", "beyond the 100");
  expect_fault(0, "ds_read2_b32 v[4:5], v2 offset1:3", "oob-lds", "byte 100");
  v(0, 2)[40] = 0xfffffffc;
  expect_fault(0, "ds_read_b32 v1, v2", "oob-lds", "4294967292");
  run(0, "ds_read_b32 v1, v2 offset:4"); /* wraps to 0 */
  v(0, 2)[40] = 0xfffffffc;
  exec(0, ~(1ull << 40));
  run(0, "ds_read_b32 v1, v2"); /* inactive: not looked at */
  machine_waves[0].sgpr[WS_SGPR_M0] = 97;
  exec(0, 1);
  expect_fault(0, "ds_append v1", "oob-lds", "end 1 bytes");
}

/* CDNA3 ISA guide, chapter 11: out of range, reads return 0 and writes are
 * dropped. LDS is reserved in granules of 512 bytes. */
WS_TEST(hardware_bounds_without_checks) {
  start(100, false);
  FILL(v(0, 2), 4 * lane);
  v(0, 2)[40] = 512;
  v(0, 2)[41] = 0xfffffff0;
  v(0, 2)[42] = 510 & ~3;
  const uint32_t behind = lds32(512), inside = lds32(508);
  run(0, "ds_read_b32 v1, v2");
  WS_CHECK_INT(v(0, 1)[40], 0);
  WS_CHECK_INT(v(0, 1)[41], 0);
  WS_CHECK_INT(v(0, 1)[42], inside);
  WS_CHECK_INT(v(0, 1)[3], lds32(12));
  run(0, "ds_write_b32 v2, v3");
  WS_CHECK_INT(lds32(512), behind);
  WS_CHECK_INT(lds32(508), v(0, 3)[42]);
  run(0, "ds_read_b32 v1, v2"); /* what was written is lost */
  WS_CHECK_INT(v(0, 1)[40], 0);
  FILL(v(0, 1), 9);
  run(0, "ds_add_rtn_u32 v1, v2, v3");
  WS_CHECK_INT(v(0, 1)[40], 0);
  WS_CHECK_INT(v(0, 1)[41], 0);
  run(0, "ds_read2_b32 v[4:5], v2 offset1:124"); /* 496 bytes on */
  WS_CHECK_INT(v(0, 4)[3], lds32(12));
  WS_CHECK_INT(v(0, 5)[3], lds32(508));
  WS_CHECK_INT(v(0, 5)[4], 0);
  run(0, "ds_read_b128 v[4:7], v2 offset:500");
  WS_CHECK_INT(v(0, 4)[0] | v(0, 5)[0] | v(0, 6)[0] | v(0, 7)[0], 0);
  stop();
}

WS_TEST(alignment) {
  start(1024, false);
  FILL(v(0, 2), 4 * lane);
  v(0, 2)[7] = 30;
  expect_fault(0, "ds_read_b32 v1, v2", "misaligned", "not a multiple of 4");
  expect_fault(0, "ds_write_b128 v2, v[4:7]", "misaligned", "byte 30");
  run(0, "ds_read_u16 v1, v2");
  expect_fault(0, "ds_read_u16 v1, v2 offset:1", "misaligned", "of 2");
  v(0, 2)[7] = 28;
  run(0, "ds_read_b64 v[4:5], v2");
  expect_fault(0, "ds_add_u64 v2, v[4:5]", "misaligned", "multiple of 8");
}

WS_TEST(unsupported) {
  start(64, false);
  expect_fault(0, "ds_gws_init v2 gds", "unsupported", "global wave sync");
  expect_fault(0, "ds_add_u32 v1, v2 gds", "unsupported", "global data share");
  run(0, "ds_nop");
}

/* ---- races ---- */

/* Each on the LDS dword 64 * 4 .. of both waves. */
static void both(const char *first, const char *second, const char *id) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  FILL(v(1, 2), 4 * lane);
  run(0, first);
  if (id)
    expect_fault(1, second, id, "wave 0");
  else
    run(1, second);
  stop();
}

WS_TEST(races) {
  both("ds_write_b32 v2, v3", "ds_read_b32 v1, v2", "lds-race");
  both("ds_read_b32 v1, v2", "ds_write_b32 v2, v3", "lds-race");
  both("ds_write_b32 v2, v3", "ds_write_b32 v2, v4", "lds-race");
  both("ds_write_b32 v2, v3", "ds_write_b32 v2, v3", NULL); /* one value */
  both("ds_read_b32 v1, v2", "ds_read_b32 v1, v2", NULL);
  both("ds_add_u32 v2, v3", "ds_add_u32 v2, v3", NULL);
  both("ds_add_u32 v2, v3", "ds_read_b32 v1, v2", "lds-race");
  both("ds_write_b32 v2, v3", "ds_add_u32 v2, v3", "lds-race");
  both("ds_read_b32 v1, v2", "ds_add_u32 v2, v3", "lds-race");
  both("ds_write_b32 v2, v3", "ds_write_b32 v2, v3 offset:256", NULL);
  both("ds_write_b32 v2, v3", "ds_write_b32 v2, v3 offset:252", "lds-race");
}

WS_TEST(races_by_byte) {
  both("ds_write_b8 v2, v3", "ds_write_b8 v2, v3 offset:1", NULL);
  both("ds_write_b8 v2, v3", "ds_read_u8 v1, v2", "lds-race");
  both("ds_write_b8 v2, v3", "ds_read_b32 v1, v2", "lds-race");
  both("ds_write_b32 v2, v3", "ds_read_u8 v1, v2 offset:3", "lds-race");
  both("ds_read_u8 v1, v2", "ds_write_b16 v2, v3 offset:2", NULL);
  both("ds_read_u8 v1, v2 offset:2", "ds_write_b16 v2, v3 offset:2",
       "lds-race");
}

static void wait_and_meet(void) {
  ws__lds_shadow_wait(machine.shadow, 0, 0, 0);
  ws__lds_shadow_wait(machine.shadow, 1, 0, 0);
  ws__lds_shadow_barrier(machine.shadow);
}

WS_TEST(a_barrier_after_a_wait_orders) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  FILL(v(1, 2), 4 * lane);
  run(0, "ds_write_b32 v2, v3");
  run(1, "ds_read_b32 v1, v2 offset:256");
  wait_and_meet();
  run(1, "ds_write_b32 v2, v3");
  run(0, "ds_write_b32 v2, v3 offset:256");
  wait_and_meet();
  run(0, "ds_read_b32 v1, v2");
  stop();
}

/* Intervals are numbered in 15 bits: after 2^15 - 1 of them the number is the
 * same again. */
WS_TEST(old_intervals_do_not_come_back) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  FILL(v(1, 2), 4 * lane);
  for (int i = 0; i < 3; i++) {
    run(i & 1, "ds_write_b32 v2, v3");
    for (int k = 0; k < (1 << 15) - 2 + i; k++)
      wait_and_meet();
  }
  run(1, "ds_read_b32 v1, v2");
  stop();
}

WS_TEST(a_barrier_without_a_wait_does_not) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  FILL(v(1, 2), 4 * lane);
  run(0, "ds_write_b32 v2, v3");
  run(0, "ds_write_b32 v2, v3 offset:256");
  ws__lds_shadow_wait(machine.shadow, 0, 63, 1); /* covers the first */
  ws__lds_shadow_barrier(machine.shadow);
  run(1, "ds_read_b32 v1, v2");
  expect_fault(1, "ds_read_b32 v1, v2 offset:256", "missing-wait",
               "before the barrier without waiting");
  run(0, "ds_read_b32 v1, v2 offset:256"); /* in order for its own wave */
  ws__lds_shadow_wait(machine.shadow, 0, 63, 0);
  ws__lds_shadow_wait(machine.shadow, 1, 63, 0);
  ws__lds_shadow_barrier(machine.shadow);
  run(1, "ds_read_b32 v1, v2 offset:256");
  stop();
}

/* A read that is not waited for and then overwritten behind the barrier. */
WS_TEST(reads_under_way_count_too) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  FILL(v(1, 2), 4 * lane);
  run(0, "ds_read2_b32 v[4:5], v2 offset1:64");
  ws__lds_shadow_barrier(machine.shadow);
  run(1, "ds_write_b32 v2, v3 offset:512");
  expect_fault(1, "ds_write_b32 v2, v3 offset:256", "missing-wait", "read");
  stop();
}

WS_TEST(a_new_group_knows_nothing) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  FILL(v(1, 2), 4 * lane);
  run(0, "ds_write_b32 v2, v3");
  ws__lds_shadow_begin_group(machine.shadow, 1024);
  run(1, "ds_write_b32 v2, v3");
  stop();
}

/* ---- poison ---- */

static uint64_t poison(int index) {
  return machine_waves[0].vector_poison[index];
}

WS_TEST(what_was_never_written_is_poison) {
  start(1024, true);
  FILL(v(0, 2), 16 * lane);
  exec(0, 0xff);
  run(0, "ds_write_b64 v2, v[4:5] offset:4");
  exec(0, UINT64_MAX);
  run(0, "ds_read_b128 v[10:13], v2");
  WS_CHECK(poison(10) == UINT64_MAX && poison(13) == UINT64_MAX);
  WS_CHECK(poison(11) == ~0xffull && poison(12) == ~0xffull);
  exec(0, 0xf0);
  run(0, "ds_read_b32 v10, v2 offset:4"); /* others keep theirs */
  WS_CHECK(poison(10) == ~0xf0ull);
  exec(0, UINT64_MAX);
  run(0, "ds_read_u8 v10, v2 offset:3");
  WS_CHECK(poison(10) == UINT64_MAX);
  stop();
}

WS_TEST(poison_goes_through_lds) {
  start(1024, true);
  FILL(v(0, 2), 8 * lane);
  machine_waves[0].vector_poison[5] = 0x10;
  run(0, "ds_write_b64 v2, v[4:5]");
  run(0, "ds_read_b64 v[10:11], v2");
  WS_CHECK(poison(10) == 0 && poison(11) == 0x10);
  run(0, "ds_write_b8 v2, v4 offset:4"); /* one clean byte of four */
  run(0, "ds_read_b32 v10, v2 offset:4");
  WS_CHECK(poison(10) == 0x10);
  run(0, "ds_read_u8 v10, v2 offset:4");
  WS_CHECK(poison(10) == 0);
  stop();
}

WS_TEST(poison_of_atomics) {
  start(1024, true);
  FILL(v(0, 2), 4 * lane);
  machine_waves[0].vector_poison[5] = 2;
  exec(0, 0xf);
  run(0, "ds_write_b32 v2, v4");
  exec(0, 0x1f);
  run(0, "ds_add_rtn_u32 v8, v2, v5");
  WS_CHECK(poison(8) == 0x10); /* lane 4's dword was never written */
  run(0, "ds_wrxchg_rtn_b32 v8, v2, v4");
  WS_CHECK(poison(8) == 0x12);
  run(0, "ds_read_b32 v8, v2");
  WS_CHECK(poison(8) == 0);
  stop();
}

WS_TEST(poison_of_permutes) {
  start(1024, true);
  FILL(v(0, 2), 4 * (lane ^ 1));
  machine_waves[0].vector_poison[3] = 1;
  run(0, "ds_bpermute_b32 v8, v2, v3");
  WS_CHECK(poison(8) == 2);
  run(0, "ds_permute_b32 v8, v2, v3");
  WS_CHECK(poison(8) == 2);
  run(0, "ds_swizzle_b32 v3, v3 offset:swizzle(SWAP,4)");
  WS_CHECK(poison(3) == 0x10);
  stop();
}

WS_TEST(access_is_described) {
  start(1024, false);
  exec(0, 6);
  FILL(v(0, 2), 8 * lane);
  run(0, "ds_read_b64 v[4:5], v2 offset:16");
  const ws_access *access = &machine_waves[0].access;
  WS_CHECK(access->mask == 6 && access->bytes == 8 && access->is_lds);
  WS_CHECK(!access->store && !access->pair && access->address[2] == 32);
  run(0, "ds_add_u32 v2, v3");
  WS_CHECK(access->store && access->atomic && access->bytes == 4);
}
