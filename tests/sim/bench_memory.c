/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Host time of one memory instruction of 64 lanes, checked and unchecked.
 */
#include "memory_machine.h"

enum { ROUNDS = 20, REPEATS = 2000 };

static void bench(const char *line, bool checked) {
  ws_diag diag = {0};
  double best = INFINITY;
  start(WS_LDS_BYTES, checked);
  uint8_t *data = ws__memory_allocate(machine.memory, 1 << 20);
  WS_CHECK(data);
  for (int lane = 0; lane < WS_LANES; lane++) {
    set64(0, 2, lane, data + 16 * lane);
    v(0, 6)[lane] = 16 * (uint32_t)lane;
  }
  ws_set_sgpr64(&machine_waves[0], 8, (uintptr_t)data);
  machine_waves[0].sgpr[10] = 1 << 20;
  machine_waves[0].sgpr[11] = 0x20000;
  memset(machine_scratch_poison, 0, sizeof machine_scratch_poison);
  run(0, "ds_write_b128 v6, v[10:13]");
  WS_CHECK(!ws__parse_instruction(line, &machine_instruction, &diag));
  ws_op op = (ws_op)machine_instruction.op;
  ws_execute handler = ws__execute_lds(op);
  handler = handler ? handler : ws__execute_memory(op);
  WS_CHECK(handler);
  for (int round = 0; round < ROUNDS; round++) {
    double begin = ws_clock_ms();
    for (int i = 0; i < REPEATS; i++)
      handler(&machine_waves[0], &machine_instruction);
    double ns = (ws_clock_ms() - begin) * 1e6 / REPEATS;
    best = ns < best ? ns : best;
  }
  WS_CHECK(!machine.fault.id);
  printf("# %-52s %-9s %6.1f ns\n", line, checked ? "checked" : "unchecked",
         best);
  stop();
}

WS_TEST(speed) {
  static const char *const lines[] = {
      "ds_read_b32 v10, v6",
      "ds_read_b64 v[10:11], v6",
      "ds_read_b128 v[10:13], v6",
      "ds_read2_b64 v[10:13], v6 offset1:1",
      "ds_read_u8 v10, v6",
      "ds_write_b32 v6, v10",
      "ds_write_b128 v6, v[10:13]",
      "ds_add_u32 v6, v10",
      "ds_bpermute_b32 v10, v6, v7",
      "global_load_dword v10, v[2:3], off",
      "global_load_dwordx4 v[10:13], v[2:3], off",
      "global_store_dword v[2:3], v10, off",
      "global_store_dwordx4 v[2:3], v[10:13], off",
      "global_store_short_d16_hi v[2:3], v10, off",
      "global_atomic_add_f32 v[2:3], v10, off",
      "buffer_load_dwordx4 v[10:13], v6, s[8:11], 0 offen",
      "buffer_store_short v10, v6, s[8:11], 0 offen",
      "scratch_load_dwordx4 v[10:13], off, off",
      "scratch_store_dwordx4 off, v[10:13], off"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (int checked = 0; checked < 2; checked++)
      bench(lines[i], checked);
}
