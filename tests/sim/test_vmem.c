/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Global, flat, scratch and buffer instructions against values from the CDNA3
 * ISA guide, worked out by hand.
 */
#include "memory_machine.h"
#include <pthread.h>

enum { BYTES = 4096 };
static uint8_t *data; /* BYTES of device memory; byte i is i * 7 + 1 */

static void begin(bool checked) {
  start(1024, checked);
  data = ws__memory_allocate(machine.memory, BYTES);
  for (int i = 0; i < BYTES; i++)
    data[i] = (uint8_t)(i * 7 + 1);
}

static uint32_t at(uint32_t offset) {
  uint32_t value;
  memcpy(&value, data + offset, sizeof value);
  return value;
}

/* v[2:3]: data + lane * stride */
static void point(uint32_t stride) {
  for (int lane = 0; lane < WS_LANES; lane++)
    set64(0, 2, lane, data + (uint32_t)lane * stride);
}

/* ---- loads ---- */

static void check_load(const char *line, uint64_t mask, uint32_t stride,
                       uint32_t offset, int count) {
  begin(false);
  point(stride);
  exec(0, mask);
  run(0, line);
  for (int row = 0; row < 5; row++)
    CHECK_LANES(v(0, 10 + row), row < count && (mask >> lane & 1)
                                    ? at(lane * stride + offset + 4u * row)
                                    : (10u + (unsigned)row) << 8 | lane);
  stop();
}

WS_TEST(load_dwords) {
  check_load("global_load_dword v10, v[2:3], off", UINT64_MAX, 4, 0, 1);
  check_load("global_load_dwordx2 v[10:11], v[2:3], off offset:8", UINT64_MAX,
             8, 8, 2);
}

WS_TEST(load_wide) {
  check_load("global_load_dwordx3 v[10:12], v[2:3], off", UINT64_MAX, 12, 0, 3);
  check_load("global_load_dwordx4 v[10:13], v[2:3], off", UINT64_MAX, 16, 0, 4);
  check_load("flat_load_dwordx4 v[10:13], v[2:3] offset:16", 0x8001, 32, 16, 4);
  check_load("global_load_dwordx4 v[10:13], v[2:3], off", 0xf0f0, 33, 0, 4);
}

WS_TEST(load_at_negative_offset) {
  begin(false);
  for (int lane = 0; lane < WS_LANES; lane++)
    set64(0, 2, lane, data + 4096 + 4 * lane - 256);
  run(0, "global_load_dword v1, v[2:3], off offset:-2048");
  CHECK_LANES(v(0, 1), at(4096 - 256 - 2048 + 4 * lane));
  stop();
}

WS_TEST(load_from_scalar_base) {
  begin(false);
  ws_set_sgpr64(&machine_waves[0], 4, (uintptr_t)data + 64);
  FILL(v(0, 2), 8 * lane);
  run(0, "global_load_dword v1, v2, s[4:5] offset:-64");
  CHECK_LANES(v(0, 1), at(8 * lane));
  /* The lane offset is unsigned: base - 4 GiB + 0xffffffff + 1 + ... */
  ws_set_sgpr64(&machine_waves[0], 4, (uintptr_t)data - 0xfffff000u);
  FILL(v(0, 2), 0xfffff000u + 4 * lane);
  run(0, "global_load_dword v1, v2, s[4:5]");
  CHECK_LANES(v(0, 1), at(4 * lane));
  stop();
}

WS_TEST(load_into_own_address) {
  begin(false);
  point(16);
  run(0, "global_load_dwordx4 v[0:3], v[2:3], off");
  CHECK_LANES(v(0, 3), at(16 * lane + 12));
  stop();
}

WS_TEST(load_sub_dword) {
  begin(false);
  point(2);
  run(0, "global_load_ubyte v1, v[2:3], off offset:1");
  CHECK_LANES(v(0, 1), at(2 * lane + 1) & 255);
  run(0, "global_load_sbyte v1, v[2:3], off");
  CHECK_LANES(v(0, 1), (int8_t)at(2 * lane));
  run(0, "global_load_ushort v1, v[2:3], off");
  CHECK_LANES(v(0, 1), at(2 * lane) & 0xffff);
  run(0, "flat_load_sshort v1, v[2:3]");
  CHECK_LANES(v(0, 1), (int16_t)at(2 * lane));
  FILL(v(0, 1), 0xaaaa5555);
  run(0, "global_load_short_d16 v1, v[2:3], off");
  CHECK_LANES(v(0, 1), 0xaaaa0000 | (at(2 * lane) & 0xffff));
  run(0, "global_load_sbyte_d16_hi v1, v[2:3], off");
  CHECK_LANES(v(0, 1),
              (uint32_t)(int8_t)at(2 * lane) << 16 | (at(2 * lane) & 0xffff));
  FILL(v(0, 1), 0xaaaa5555);
  run(0, "global_load_ubyte_d16 v1, v[2:3], off");
  CHECK_LANES(v(0, 1), 0xaaaa0000 | (at(2 * lane) & 255));
  run(0, "global_load_short_d16_hi v1, v[2:3], off");
  CHECK_LANES(v(0, 1), at(2 * lane) << 16 | (at(2 * lane) & 255));
  stop();
}

/* ---- stores ---- */

WS_TEST(store_dwords) {
  static const char *const lines[] = {
      "global_store_dword v[2:3], v10, off offset:4",
      "global_store_dwordx2 v[2:3], v[10:11], off offset:4",
      "global_store_dwordx3 v[2:3], v[10:12], off offset:4",
      "flat_store_dwordx4 v[2:3], v[10:13] offset:4"};
  for (int full = 0; full < 2; full++)
    for (uint32_t count = 1; count <= 4; count++) {
      begin(false);
      point(24);
      uint64_t mask = full ? UINT64_MAX : 0x8000000000000041;
      exec(0, mask);
      run(0, lines[count - 1]);
      for (uint32_t lane = 0; lane < 64; lane++)
        for (uint32_t row = 0; row < 5; row++) {
          uint32_t i = 24 * lane + 4 + 4 * row, was = 0;
          for (uint32_t k = 4; k-- > 0;)
            was = was << 8 | (((i + k) * 7 + 1) & 255);
          bool written = row < count && (mask >> lane & 1);
          WS_CHECK_INT(at(i), written ? (10 + row) << 8 | lane : was);
        }
      stop();
    }
}

WS_TEST(store_sub_dword) {
  begin(false);
  point(4);
  FILL(v(0, 10), 0xa1b2c3d4);
  uint32_t was = at(8);
  run(0, "global_store_byte v[2:3], v10, off");
  WS_CHECK_INT(at(8), (was & 0xffffff00) | 0xd4);
  run(0, "global_store_byte_d16_hi v[2:3], v10, off offset:1");
  WS_CHECK_INT(at(8), (was & 0xffff0000) | 0xb2d4);
  run(0, "global_store_short_d16_hi v[2:3], v10, off offset:2");
  WS_CHECK_INT(at(8), 0xa1b2b2d4);
  run(0, "flat_store_short v[2:3], v10");
  WS_CHECK_INT(at(8), 0xa1b2c3d4);
  stop();
}

WS_TEST(store_from_accumulators) {
  begin(false);
  point(4);
  run(0, "global_store_dword v[2:3], a7, off");
  WS_CHECK_INT(at(4 * 9), (256 + 7) << 8 | 9);
  stop();
}

WS_TEST(store_to_scalar_base) {
  begin(false);
  ws_set_sgpr64(&machine_waves[0], 2, (uintptr_t)data);
  FILL(v(0, 1), 4 * (63 - lane));
  run(0, "global_store_dword v1, v10, s[2:3] offset:256");
  WS_CHECK_INT(at(256), 10 << 8 | 63);
  stop();
}

/* ---- faults ---- */

WS_TEST(one_byte_out_of_bounds) {
  begin(true);
  point(4);
  set64(0, 2, 17, data + BYTES - 16);
  run(0, "global_load_dwordx4 v[10:13], v[2:3], off");
  expect_fault(0, "global_load_dwordx4 v[10:13], v[2:3], off offset:1",
               "oob-global", "15 bytes from the end of");
  WS_CHECK_INT(machine.fault.lane, 17);
  set64(0, 2, 17, data);
  expect_fault(0, "global_load_ubyte v10, v[2:3], off offset:-1", "oob-global",
               "1 bytes before");
  expect_fault(0, "global_store_byte v[2:3], v10, off offset:-1", "oob-global",
               "store of");
  set64(0, 2, 17, data + BYTES);
  expect_fault(0, "flat_store_byte v[2:3], v10", "oob-global",
               "0 bytes past the end");
  exec(0, ~(1ull << 17));
  run(0, "flat_store_byte v[2:3], v10"); /* inactive: not looked at */
  stop();
}

WS_TEST(wild_and_freed) {
  begin(true);
  point(4);
  v(0, 3)[3] = 0;
  v(0, 2)[3] = 16;
  expect_fault(0, "global_load_dword v10, v[2:3], off", "oob-global", "0x10");
  v(0, 3)[3] = 0xffffffff;
  v(0, 2)[3] = 0xffffffff;
  expect_fault(0, "global_load_dwordx4 v[10:13], v[2:3], off", "oob-global",
               "16 bytes at 0xff");
  point(4);
  run(0, "global_load_dword v10, v[2:3], off");
  WS_CHECK(ws__memory_release(machine.memory, data));
  expect_fault(0, "global_load_dword v10, v[2:3], off", "use-after-free",
               "freed");
  expect_fault(0, "global_atomic_add v[2:3], v10, off", "use-after-free",
               "freed");
  stop();
}

WS_TEST(code_is_not_written) {
  start(0, true);
  data = ws__memory_allocate_code(machine.memory, 512);
  point(4);
  run(0, "global_load_dword v10, v[2:3], off");
  expect_fault(0, "global_store_dword v[2:3], v10, off", "write-to-code",
               "into");
  expect_fault(0, "global_atomic_or v[2:3], v10, off", "write-to-code", "into");
  stop();
}

WS_TEST(lanes_in_two_allocations) {
  begin(true);
  uint8_t *other = ws__memory_allocate(machine.memory, 100);
  point(4);
  set64(0, 2, 5, other + 96);
  memset(other, 9, 100);
  run(0, "global_load_dword v10, v[2:3], off");
  WS_CHECK_INT(v(0, 10)[5], 0x09090909);
  WS_CHECK_INT(v(0, 10)[6], at(24));
  set64(0, 2, 5, other + 97);
  expect_fault(0, "global_load_dword v10, v[2:3], off", "oob-global",
               "100 bytes at");
  stop();
}

WS_TEST(unaligned_access_is_legal_but_not_for_atomics) {
  begin(true);
  point(5);
  run(0, "global_load_dwordx2 v[10:11], v[2:3], off offset:1");
  CHECK_LANES(v(0, 11), at(5 * lane + 5));
  expect_fault(0, "global_atomic_add v[2:3], v10, off", "misaligned",
               "atomic of 4 bytes");
  point(4);
  expect_fault(0, "global_atomic_add_x2 v[2:3], v[10:11], off", "misaligned",
               "atomic of 8 bytes");
  stop();
}

WS_TEST(loads_define_their_destination) {
  begin(true);
  point(16);
  machine_waves[0].vector_poison[10] = machine_waves[0].vector_poison[11] =
      UINT64_MAX;
  exec(0, 0xff);
  run(0, "global_load_dwordx2 v[10:11], v[2:3], off");
  WS_CHECK(machine_waves[0].vector_poison[10] == ~0xffull);
  WS_CHECK(machine_waves[0].vector_poison[11] == ~0xffull);
  stop();
}

/* ---- atomics ---- */

static void check_atomic(const char *name, bool wide, bool compares,
                         uint64_t memory, uint64_t value, uint64_t comparand,
                         uint64_t want) {
  for (int form = 0; form < 6; form++) { /* global flat buffer, with sc0 */
    bool returns = form & 1, buffer = form >= 4;
    const char *registers =
        wide ? (compares ? "v[4:7]" : "v[4:5]") : (compares ? "v[4:5]" : "v4");
    char line[160];
    if (buffer)
      snprintf(line, sizeof line,
               "buffer_atomic_%s %s, off, s[8:11], 0 offset:8%s", name,
               registers, returns ? " sc0" : "");
    else
      snprintf(line, sizeof line, "%s_atomic_%s %sv[2:3], %s%s offset:8%s",
               form < 2 ? "global" : "flat", name,
               returns ? (wide ? "v[8:9], " : "v8, ") : "", registers,
               form < 2 ? ", off" : "", returns ? " sc0" : "");
    if (buffer && strstr(name, "bf16"))
      return; /* not on gfx942 */
    begin(false);
    point(0);
    exec(0, 1ull << 40);
    uint32_t *words[] = {v(0, 4), v(0, 5), v(0, 6), v(0, 7)};
    uint64_t operands[2] = {value, comparand};
    for (int i = 0; i < 4; i++)
      words[i][40] = wide ? (uint32_t)(operands[i / 2] >> i % 2 * 32)
                          : (uint32_t)operands[i & 1];
    ws_set_sgpr64(&machine_waves[0], 8, (uintptr_t)data);
    machine_waves[0].sgpr[10] = BYTES;
    machine_waves[0].sgpr[11] = 0x20000;
    memcpy(data + 8, &memory, 8);
    run(0, line);
    uint64_t got = 0, old = 0;
    int result = buffer ? 4 : 8;
    memcpy(&got, data + 8, wide ? 8 : 4);
    old = v(0, result)[40];
    if (wide)
      old |= (uint64_t)v(0, result + 1)[40] << 32;
    if (got != want)
      WS_FAIL("%s gives 0x%llx, want 0x%llx", line, (unsigned long long)got,
              (unsigned long long)want);
    if (returns)
      WS_CHECK(old == (wide ? memory : (uint32_t)memory));
    else
      WS_CHECK_INT(v(0, 4)[40], (uint32_t)value);
    WS_CHECK_INT(v(0, result)[41], (uint32_t)result << 8 | 41);
    stop();
  }
}

WS_TEST(integer_atomics) {
  check_atomic("swap", false, false, 1, 2, 0, 2);
  check_atomic("add", false, false, 0xffffffff, 2, 0, 1);
  check_atomic("sub", false, false, 1, 2, 0, 0xffffffff);
  check_atomic("smin", false, false, 0xffffffff, 2, 0, 0xffffffff);
  check_atomic("umin", false, false, 0xffffffff, 2, 0, 2);
  check_atomic("smax", false, false, 0xffffffff, 2, 0, 2);
  check_atomic("umax", false, false, 0xffffffff, 2, 0, 0xffffffff);
  check_atomic("and", false, false, 0xff, 0x1f0, 0, 0xf0);
  check_atomic("or", false, false, 0xff, 0x1f0, 0, 0x1ff);
  check_atomic("xor", false, false, 0xff, 0x1f0, 0, 0x10f);
  check_atomic("inc", false, false, 7, 7, 0, 0);
  check_atomic("inc", false, false, 6, 7, 0, 7);
  check_atomic("dec", false, false, 0, 7, 0, 7);
  check_atomic("dec", false, false, 7, 7, 0, 6);
}

WS_TEST(wide_integer_atomics) {
  check_atomic("swap_x2", true, false, 1, 2ull << 32, 0, 2ull << 32);
  check_atomic("add_x2", true, false, 0xffffffff, 1, 0, 1ull << 32);
  check_atomic("sub_x2", true, false, 0, 1, 0, UINT64_MAX);
  check_atomic("smin_x2", true, false, 1ull << 63, 1, 0, 1ull << 63);
  check_atomic("umin_x2", true, false, 1ull << 63, 1, 0, 1);
  check_atomic("umax_x2", true, false, 1ull << 63, 1, 0, 1ull << 63);
  check_atomic("inc_x2", true, false, 0xffffffff, 1ull << 33, 0, 1ull << 32);
  check_atomic("dec_x2", true, false, 0, 1ull << 33, 0, 1ull << 33);
  check_atomic("or_x2", true, false, 1ull << 33, 1, 0, (1ull << 33) + 1);
}

/* Buffer and flat: new value first, comparand second. */
WS_TEST(compare_and_swap) {
  check_atomic("cmpswap", false, true, 5, 9, 5, 9);
  check_atomic("cmpswap", false, true, 6, 9, 5, 6);
  check_atomic("cmpswap_x2", true, true, 5ull << 32 | 1, 9ull << 32 | 2,
               5ull << 32 | 1, 9ull << 32 | 2);
  check_atomic("cmpswap_x2", true, true, 5ull << 32 | 1, 9, 5ull << 32,
               5ull << 32 | 1);
  check_atomic("cmpswap_x2", true, true, 6ull << 32 | 1, 9, 5ull << 32 | 1,
               6ull << 32 | 1);
}

WS_TEST(float_atomics) {
  check_atomic("add_f32", false, false, float_bits(2.5f), float_bits(-1), 0,
               float_bits(1.5f));
  check_atomic("pk_add_f16", false, false, 0xbc003c00, 0x38004000, 0,
               0xb8004200);
  check_atomic("pk_add_bf16", false, false, 0xbf803f80, 0x3f004000, 0,
               0xbf004040);
  /* 1 + 2^-8 in bf16 is a tie: to even, 1; 1 + 2^-7 (0x3f81) + 2^-8: up. */
  check_atomic("pk_add_bf16", false, false, 0x3f813f80, 0x3b803b80, 0,
               0x3f823f80);
  double values[] = {1.5, -3, -1.5};
  uint64_t bits[3];
  memcpy(bits, values, sizeof bits);
  check_atomic("add_f64", true, false, bits[0], bits[1], 0, bits[2]);
  check_atomic("min_f64", true, false, bits[0], bits[1], 0, bits[1]);
  check_atomic("max_f64", true, false, bits[0], bits[1], 0, bits[0]);
}

WS_TEST(inactive_lanes_of_atomics_touch_nothing) {
  begin(true);
  point(4);
  memset(data, 0, 256);
  for (int lane = 32; lane < 64; lane++)
    set64(0, 2, lane, NULL);
  FILL(v(0, 4), 1);
  exec(0, 0xffff);
  run(0, "global_atomic_add v8, v[2:3], v4, off sc0");
  for (uint32_t i = 0; i < 64; i++)
    WS_CHECK_INT(at(4 * i), i < 16);
  WS_CHECK_INT(v(0, 8)[16], 8 << 8 | 16);
  exec(0, 0);
  run(0, "global_atomic_add v8, v[2:3], v4, off sc0");
  run(0, "flat_load_dwordx4 v[4:7], v[2:3]");
  WS_CHECK_INT(at(0), 1);
  stop();
}

/* Two threads add into the same word through waves of their own. */
static void *add_many(void *index) {
  ws_wave *wave = &machine_waves[(intptr_t)index];
  ws_diag diag = {0};
  ws_instruction in;
  if (ws__parse_instruction("global_atomic_add v[2:3], v4, off", &in, &diag))
    WS_FAIL("%s", diag.text);
  for (int i = 0; i < 20000; i++)
    ws__execute_memory((ws_op)in.op)(wave, &in);
  return NULL;
}
WS_TEST(atomics_are_atomic_between_threads) {
  begin(false);
  memset(data, 0, 8);
  pthread_t thread;
  for (int w = 0; w < 2; w++)
    for (int lane = 0; lane < WS_LANES; lane++) {
      set64(w, 2, lane, data);
      v(w, 4)[lane] = 1;
    }
  pthread_create(&thread, NULL, add_many, (void *)1);
  add_many((void *)0);
  pthread_join(thread, NULL);
  WS_CHECK_INT(at(0), 2 * 20000 * 64);
  stop();
}

/* ---- flat ---- */

WS_TEST(flat_reaches_lds_and_scratch) {
  begin(true);
  point(4);
  FILL(v(0, 5), 16);
  run(0, "ds_write_b32 v5, v10");
  for (int lane = 0; lane < 32; lane++) {
    v(0, 2)[lane] = 16;
    v(0, 3)[lane] = WS_SHARED_APERTURE;
  }
  v(0, 2)[40] = 8;
  v(0, 3)[40] = WS_PRIVATE_APERTURE;
  run(0, "flat_store_dword v[2:3], v20");
  WS_CHECK_INT(lds32(16), 20 << 8 | 31); /* the last lane's */
  WS_CHECK_INT(at(4 * 33), 20 << 8 | 33);
  uint32_t private;
  memcpy(&private, machine_scratch + 40 * SCRATCH_BYTES + 8, 4);
  WS_CHECK_INT(private, 20 << 8 | 40);
  run(0, "flat_load_dword v1, v[2:3]");
  WS_CHECK_INT(v(0, 1)[3], 20 << 8 | 31);
  WS_CHECK_INT(v(0, 1)[40], 20 << 8 | 40);
  WS_CHECK_INT(v(0, 1)[41], 20 << 8 | 41);
  WS_CHECK(!machine_waves[0].vector_poison[1]);
  exec(0, 1);
  run(0, "flat_atomic_add v8, v[2:3], v5 sc0");
  WS_CHECK_INT(lds32(16), (20 << 8 | 31) + 16);
  WS_CHECK_INT(v(0, 8)[0], 20 << 8 | 31);
  v(0, 2)[0] = 1022;
  expect_fault(0, "flat_load_sshort v1, v[2:3] offset:1", "oob-lds", "1 bytes");
  expect_fault(0, "flat_load_ushort v1, v[2:3] offset:4095", "oob-lds", "end");
  v(0, 2)[0] = 1002;
  expect_fault(0, "flat_load_dword v1, v[2:3]", "misaligned", "byte 1002");
  v(0, 2)[0] = 1024 - 3;
  expect_fault(0, "flat_load_dword v1, v[2:3]", "oob-lds", "end 1 bytes");
  v(0, 3)[0] = WS_PRIVATE_APERTURE;
  v(0, 2)[0] = SCRATCH_BYTES - 3;
  expect_fault(0, "flat_load_dword v1, v[2:3]", "oob-scratch", "of 64 bytes");
  stop();
}

/* ---- scratch ---- */

WS_TEST(scratch_is_private) {
  begin(true);
  FILL(v(0, 2), 4 * (lane % 8));
  machine_waves[0].sgpr[5] = 16;
  run(0, "scratch_store_dword v2, v10, off offset:4");
  run(0, "scratch_load_dword v1, v2, off offset:4");
  CHECK_LANES(v(0, 1), 10 << 8 | lane);
  run(0, "scratch_store_dwordx4 off, v[10:13], s5 offset:-16");
  run(0, "scratch_load_dwordx2 v[20:21], off, off offset:8");
  CHECK_LANES(v(0, 20), 12 << 8 | lane);
  CHECK_LANES(v(0, 21), 13 << 8 | lane);
  run(0, "scratch_load_dword v1, v2, s5 offset:-16");
  WS_CHECK_INT(v(0, 1)[3], 13 << 8 | 3);
  exec(1, 0xff);
  run(1, "scratch_store_byte off, v10, off");
  run(0, "scratch_load_ubyte v1, off, off");
  CHECK_LANES(v(0, 1), lane); /* low byte of 10 << 8 | lane */
  stop();
}

WS_TEST(scratch_bounds) {
  begin(true);
  FILL(v(0, 2), SCRATCH_BYTES - 4);
  run(0, "scratch_store_dword v2, v10, off");
  expect_fault(0, "scratch_store_dword v2, v10, off offset:1", "oob-scratch",
               "offset 61");
  expect_fault(0, "scratch_load_dword v2, off, off offset:-1", "oob-scratch",
               "offset -1");
  machine.scratch_bytes = 0;
  expect_fault(0, "scratch_load_ubyte v2, off, off", "oob-scratch", "0 bytes");
  machine.scratch_bytes = SCRATCH_BYTES;
  stop();
}

WS_TEST(scratch_poison) {
  begin(true);
  exec(0, 0xf);
  machine_waves[0].vector_poison[11] = 1;
  run(0, "scratch_store_dwordx2 off, v[10:11], off");
  exec(0, UINT64_MAX);
  run(0, "scratch_load_dwordx3 v[4:6], off, off");
  WS_CHECK(machine_waves[0].vector_poison[4] == ~0xfull);
  WS_CHECK(machine_waves[0].vector_poison[5] == (~0xfull | 1));
  WS_CHECK(machine_waves[0].vector_poison[6] == UINT64_MAX);
  stop();
}

/* ---- buffers ---- */

/* s[8:11]: data, with this many bytes or records. */
static void describe(uint32_t stride, uint32_t records) {
  uint32_t *word = &machine_waves[0].sgpr[8];
  ws_set_sgpr64(&machine_waves[0], 8, (uintptr_t)data);
  word[1] |= stride << 16;
  word[2] = records;
  word[3] = 0x20000;
}

WS_TEST(buffer_addressing) {
  begin(true);
  describe(0, BYTES);
  FILL(v(0, 2), 4 * lane);
  machine_waves[0].sgpr[3] = 100;
  run(0, "buffer_load_dword v1, off, s[8:11], s3 offset:8");
  CHECK_LANES(v(0, 1), at(108));
  run(0, "buffer_load_dword v1, v2, s[8:11], s3 offen offset:8");
  CHECK_LANES(v(0, 1), at(108 + 4 * lane));
  run(0, "buffer_load_dwordx4 v[10:13], v2, s[8:11], 0 offen");
  CHECK_LANES(v(0, 13), at(4 * lane + 12));
  run(0, "buffer_load_dword v1, v2, s[8:11], 4 offen");
  CHECK_LANES(v(0, 1), at(4 * lane + 4));
  machine_waves[0].sgpr[WS_SGPR_M0] = 12;
  run(0, "buffer_load_dword v1, v2, s[8:11], m0 offen");
  CHECK_LANES(v(0, 1), at(4 * lane + 12));
  describe(16, 64);
  FILL(v(0, 2), lane);
  FILL(v(0, 3), 4);
  run(0, "buffer_load_dword v1, v2, s[8:11], 0 idxen offset:8");
  CHECK_LANES(v(0, 1), at(16 * lane + 8));
  run(0, "buffer_load_dword v1, v[2:3], s[8:11], 0 idxen offen offset:4");
  CHECK_LANES(v(0, 1), at(16 * lane + 8));
  stop();
}

WS_TEST(buffer_sub_dword) {
  begin(true);
  describe(0, BYTES);
  FILL(v(0, 2), 2 * lane);
  run(0, "buffer_load_ubyte v1, v2, s[8:11], 0 offen offset:1");
  CHECK_LANES(v(0, 1), at(2 * lane + 1) & 255);
  run(0, "buffer_load_sbyte v1, v2, s[8:11], 0 offen");
  CHECK_LANES(v(0, 1), (int8_t)at(2 * lane));
  run(0, "buffer_load_ushort v1, v2, s[8:11], 0 offen");
  CHECK_LANES(v(0, 1), at(2 * lane) & 0xffff);
  run(0, "buffer_load_sshort v1, v2, s[8:11], 0 offen");
  CHECK_LANES(v(0, 1), (int16_t)at(2 * lane));
  FILL(v(0, 1), 0x11112222);
  run(0, "buffer_load_short_d16_hi v1, v2, s[8:11], 0 offen");
  CHECK_LANES(v(0, 1), at(2 * lane) << 16 | 0x2222);
  FILL(v(0, 2), 4 * lane);
  FILL(v(0, 10), 0xa1b2c3d4);
  uint32_t was = at(12);
  run(0, "buffer_store_byte v10, v2, s[8:11], 0 offen");
  WS_CHECK_INT(at(12), (was & 0xffffff00) | 0xd4);
  run(0, "buffer_store_short v10, v2, s[8:11], 0 offen");
  WS_CHECK_INT(at(12), (was & 0xffff0000) | 0xc3d4);
  run(0, "buffer_store_short_d16_hi v10, v2, s[8:11], 0 offen offset:2");
  WS_CHECK_INT(at(12), 0xa1b2c3d4);
  stop();
}

/* 44 bytes: of lane 2's four dwords at 32 three are there, of lane 3's none. */
WS_TEST(buffer_range_by_dword) {
  begin(true);
  describe(0, 44);
  FILL(v(0, 2), 16 * lane);
  run(0, "buffer_load_dwordx4 v[10:13], v2, s[8:11], 0 offen");
  for (uint32_t row = 0; row < 4; row++)
    CHECK_LANES(v(0, 10 + (int)row),
                16 * lane + 4 * row + 4 <= 44 ? at(16 * lane + 4 * row) : 0);
  uint32_t next = at(44), before = at(36);
  run(0, "buffer_store_dwordx3 v[20:22], v2, s[8:11], 0 offen offset:4");
  WS_CHECK_INT(at(36), 20 << 8 | 2);
  WS_CHECK_INT(at(40), 21 << 8 | 2);
  WS_CHECK(at(44) == next && at(36) != before);
  stop();
}

WS_TEST(buffer_out_of_range_is_zero_and_dropped) {
  begin(true);
  describe(0, 64);
  memset(data + 60, 0xee, 8);
  FILL(v(0, 2), 0xffffffff); /* how tails are masked */
  run(0, "buffer_load_dwordx2 v[10:11], v2, s[8:11], 0 offen offset:4095");
  CHECK_LANES(v(0, 10), 0);
  CHECK_LANES(v(0, 11), 0);
  run(0, "buffer_store_dwordx4 v[10:13], v2, s[8:11], 0 offen");
  FILL(v(0, 2), 61);
  run(0, "buffer_load_dword v10, v2, s[8:11], 0 offen"); /* ends at 65 */
  CHECK_LANES(v(0, 10), 0);
  FILL(v(0, 10), 0x12345678);
  run(0, "buffer_load_ubyte_d16 v10, v2, s[8:11], 3 offen"); /* byte 64 */
  CHECK_LANES(v(0, 10), 0x12340000);
  run(0, "buffer_load_ubyte v10, v2, s[8:11], 2 offen");
  CHECK_LANES(v(0, 10), 0xee);
  run(0, "buffer_atomic_add v11, v2, s[8:11], 3 offen sc0");
  CHECK_LANES(v(0, 11), 0);
  WS_CHECK_INT(at(60), 0xeeeeeeee);
  stop();
}

WS_TEST(buffer_records) {
  begin(true);
  describe(16, 10);
  FILL(v(0, 2), lane);
  run(0, "buffer_load_dword v1, v2, s[8:11], 0 idxen offset:12");
  CHECK_LANES(v(0, 1), lane < 10 ? at(16 * lane + 12) : 0);
  /* Without an index num_records is bytes. */
  run(0, "buffer_load_dword v1, off, s[8:11], 0 offset:4");
  CHECK_LANES(v(0, 1), at(4));
  run(0, "buffer_load_dword v1, off, s[8:11], 0 offset:8");
  CHECK_LANES(v(0, 1), 0);
  stop();
}

WS_TEST(buffer_in_range_of_nothing) {
  begin(true);
  describe(0, 0x80000000);
  FILL(v(0, 2), BYTES);
  expect_fault(0, "buffer_load_dword v1, v2, s[8:11], 0 offen", "oob-global",
               "past the end");
  machine_waves[0].sgpr[9] |= 1u << 31;
  expect_fault(0, "buffer_load_dword v1, off, s[8:11], 0", "unsupported",
               "swizzle");
  describe(0, 64);
  machine_waves[0].sgpr[11] |= 1 << 23;
  expect_fault(0, "buffer_load_dword v1, off, s[8:11], 0", "unsupported",
               "thread id");
  stop();
}

WS_TEST(cache_control_touches_nothing) {
  begin(true);
  FILL(v(0, 0), 0);
  run(0, "buffer_wbl2 sc1");
  run(0, "buffer_inv sc1");
  run(0, "buffer_wbl2 sc0 sc1");
  WS_CHECK(machine_waves[0].access.mask == 0);
  CHECK_LANES(v(0, 0), 0);
  CHECK_LANES(v(0, 1), 1 << 8 | lane);
  stop();
}

/* ---- loads to LDS ---- */

WS_TEST(load_to_lds_by_lane) {
  begin(true);
  for (int lane = 0; lane < WS_LANES; lane++)
    set64(0, 2, lane, data + 8 * (63 - lane)); /* does not matter to LDS */
  machine_waves[0].sgpr[WS_SGPR_M0] = 128;
  run(0, "global_load_lds_dword v[2:3], off offset:16");
  for (uint32_t lane = 0; lane < 64; lane++)
    WS_CHECK_INT(lds32(128 + 16 + 4 * lane), at(8 * (63 - lane) + 16));
  run(0, "global_load_lds_ubyte v[2:3], off");
  WS_CHECK_INT(lds32(128 + 4 * 5), at(8 * 58) & 255);
  run(0, "global_load_lds_sshort v[2:3], off");
  WS_CHECK_INT(lds32(128 + 4 * 5), (uint32_t)(int16_t)at(8 * 58));
  stop();
}

WS_TEST(buffer_load_to_lds) {
  begin(true);
  describe(0, 100);
  FILL(v(0, 2), 4 * lane);
  machine_waves[0].sgpr[WS_SGPR_M0] = 256;
  exec(0, 0xfffffff0ffffffff);
  uint32_t was = lds32(256 + 8 + 4 * 33);
  run(0, "buffer_load_dword v2, s[8:11], 0 offen offset:8 lds");
  for (uint32_t lane = 0; lane < 64; lane++) {
    uint32_t want = 4 * lane + 12 <= 100 ? at(4 * lane + 8) : 0;
    bool active = lane < 32 || lane > 35;
    if (active)
      WS_CHECK_INT(lds32(256 + 8 + 4 * lane), want);
  }
  WS_CHECK_INT(lds32(256 + 8 + 4 * 33), was);
  run(0, "buffer_load_dword off, s[8:11], 0 lds");
  WS_CHECK_INT(lds32(256 + 4 * 7), at(0));
  machine_waves[0].sgpr[WS_SGPR_M0] = 1024 - 252;
  expect_fault(0, "buffer_load_dword off, s[8:11], 0 lds", "oob-lds",
               "end 4 bytes");
  stop();
}

WS_TEST(load_to_lds_needs_a_wait) {
  begin(true);
  point(4);
  FILL(v(0, 5), 4 * lane);
  FILL(v(1, 5), 4 * lane);
  run(0, "global_load_lds_dword v[2:3], off");
  expect_fault(0, "ds_read_b32 v1, v5", "missing-wait", "vmcnt");
  run(0, "global_load_dword v1, v[2:3], off");
  ws__lds_shadow_wait(machine.shadow, 0, 1, 15); /* covers the first of two */
  run(0, "ds_read_b32 v1, v5");
  WS_CHECK(!machine_waves[0].vector_poison[1]);
  expect_fault(1, "ds_read_b32 v1, v5", "lds-race", "wave 0 wrote");
  ws__lds_shadow_wait(machine.shadow, 0, 0, 0);
  ws__lds_shadow_barrier(machine.shadow);
  run(1, "ds_read_b32 v1, v5");
  run(0, "global_load_lds_dword v[2:3], off offset:512");
  ws__lds_shadow_barrier(machine.shadow); /* not waited for */
  expect_fault(1, "ds_read_b32 v1, v5 offset:512", "missing-wait", "wave 0");
  ws__lds_shadow_wait(machine.shadow, 0, 0, 0);
  run(0, "ds_read_b32 v1, v5 offset:512");
  expect_fault(1, "ds_read_b32 v1, v5 offset:512", "lds-race", "wave 0");
  stop();
}

/* ---- timed runs ---- */

WS_TEST(timed_stores_stay_in_the_overlay) {
  begin(false);
  machine.timing = true;
  ws__overlay_open(machine.memory);
  for (int lane = 0; lane < WS_LANES; lane++)
    set64(0, 2, lane, data + 256 + 12 * lane);
  uint32_t was = at(256);
  run(0, "global_store_dwordx3 v[2:3], v[10:12], off");
  run(0, "global_load_dwordx3 v[20:22], v[2:3], off");
  CHECK_LANES(v(0, 22), 12 << 8 | lane);
  FILL(v(0, 4), 1);
  run(0, "global_atomic_add v8, v[2:3], v4, off sc0");
  CHECK_LANES(v(0, 8), 10 << 8 | lane);
  WS_CHECK_INT(at(256), was);
  ws__overlay_close(machine.memory);
  machine.timing = false;
  run(0, "global_load_dword v20, v[2:3], off");
  CHECK_LANES(v(0, 20), at(256 + 12 * lane));
  stop();
}

/* Lanes whose bytes lie on two pages, one of them with a copy. */
WS_TEST(timed_accesses_across_pages) {
  start(0, false);
  data = ws__memory_allocate(machine.memory, 3 * 4096);
  memset(data, 1, 3 * 4096);
  machine.timing = true;
  ws__overlay_open(machine.memory);
  exec(0, 7);
  set64(0, 2, 0, data + 4096 - 8);
  set64(0, 2, 1, data + 8192 - 2);
  set64(0, 2, 2, data + 64);
  run(0, "global_store_dwordx4 v[2:3], v[10:13], off");
  run(0, "global_load_dwordx4 v[20:23], v[2:3], off");
  for (int row = 0; row < 4; row++)
    for (uint32_t lane = 0; lane < 3; lane++)
      WS_CHECK_INT(v(0, 20 + row)[lane], (10 + (uint32_t)row) << 8 | lane);
  for (int i = 0; i < 3 * 4096; i++)
    WS_CHECK_INT(data[i], 1);
  stop();
}

WS_TEST(access_is_described) {
  begin(false);
  point(4);
  exec(0, 5);
  run(0, "global_load_dwordx2 v[10:11], v[2:3], off offset:8");
  const ws_access *access = &machine_waves[0].access;
  WS_CHECK(access->mask == 5 && access->bytes == 8 && !access->store);
  WS_CHECK(!access->is_lds && !access->atomic);
  WS_CHECK(access->address[2] == (uintptr_t)data + 16);
  run(0, "global_atomic_add v[2:3], v4, off");
  WS_CHECK(access->store && access->atomic && access->bytes == 4);
  describe(0, 8);
  FILL(v(0, 2), 4 * lane);
  run(0, "buffer_store_dword v10, v2, s[8:11], 0 offen");
  WS_CHECK(access->mask == 1); /* lane 2 is out of range */
  stop();
}
