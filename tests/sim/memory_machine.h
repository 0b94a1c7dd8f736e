/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A workgroup of two waves without a kernel, for tests of memory instructions:
 * run(wave, "ds_read_b32 v1, v2") parses one line and executes it.
 */
#ifndef WS_TEST_MEMORY_MACHINE_H
#define WS_TEST_MEMORY_MACHINE_H

#include "decode.h"
#include "lds_shadow.h"
#include "memory.h"
#include "ws_test.h"

enum { MACHINE_WAVES = 2, SCRATCH_BYTES = 64 };

static ws_wave machine_waves[MACHINE_WAVES];
static ws_vector machine_rows[MACHINE_WAVES][WS_VECTORS];
static uint8_t machine_lds[WS_LDS_BYTES + WS_LDS_NOWHERE];
static uint8_t machine_scratch[MACHINE_WAVES * WS_LANES * SCRATCH_BYTES];
static uint8_t machine_scratch_poison[sizeof machine_scratch];
static ws_instruction machine_instruction;
static ws_text machine_text = {.items = &machine_instruction, .count = 1};
static ws_group machine = {.text = &machine_text,
                           .wave_count = MACHINE_WAVES,
                           .waves = machine_waves,
                           .lds = machine_lds,
                           .scratch = machine_scratch,
                           .scratch_bytes = SCRATCH_BYTES};

/* v(wave, register)[lane] */
static inline uint32_t *v(int wave, int index) {
  return machine_rows[wave][index].u32;
}
static inline uint32_t *a(int wave, int index) {
  return v(wave, WS_ACC_BASE + index);
}

/* All lanes active; registers hold register << 8 | lane, LDS bytes their
 * address's low 8 bits + 1. */
static inline void start(uint32_t lds_bytes, bool checked) {
  machine.lds_bytes = lds_bytes;
  machine.checked = checked;
  machine.memory = machine.memory ? machine.memory : ws__memory_create();
  machine.fault.id = NULL;
  for (int i = 0; i < WS_LDS_BYTES; i++)
    machine_lds[i] = (uint8_t)(i + 1);
  for (int w = 0; w < MACHINE_WAVES; w++) {
    ws_wave *wave = &machine_waves[w];
    memset(wave, 0, sizeof *wave);
    wave->index = w;
    wave->group = &machine;
    wave->vgpr = machine_rows[w];
    ws_set_sgpr64(wave, WS_SGPR_EXEC, UINT64_MAX);
    for (int r = 0; r < WS_VECTORS; r++)
      for (int lane = 0; lane < WS_LANES; lane++)
        v(w, r)[lane] = (uint32_t)(r << 8 | lane);
  }
  if (!checked)
    return;
  machine.shadow = ws__lds_shadow_create();
  ws__lds_shadow_begin_group(machine.shadow, lds_bytes);
  memset(machine_scratch_poison, 1, sizeof machine_scratch_poison);
  machine.scratch_poison = machine_scratch_poison;
}

static inline void stop(void) {
  ws__lds_shadow_destroy(machine.shadow);
  machine.shadow = NULL;
  machine.scratch_poison = NULL;
  ws__memory_destroy(machine.memory);
  machine.memory = NULL;
}

static inline void exec(int wave, uint64_t mask) {
  ws_set_sgpr64(&machine_waves[wave], WS_SGPR_EXEC, mask);
}

static inline void set64(int wave, int index, int lane, const void *address) {
  uint64_t value = (uint64_t)(uintptr_t)address;
  v(wave, index)[lane] = (uint32_t)value;
  v(wave, index + 1)[lane] = (uint32_t)(value >> 32);
}

/* Whatever comes of it. */
static inline void execute(int wave, const char *line) {
  ws_diag diag = {0};
  if (ws__parse_instruction(line, &machine_instruction, &diag) != WS_OK)
    WS_FAIL("%s: %s", line, diag.text);
  ws_op op = (ws_op)machine_instruction.op;
  ws_execute handler = ws__execute_lds(op);
  handler = handler ? handler : ws__execute_memory(op);
  if (!handler)
    WS_FAIL("%s: no handler", line);
  handler(&machine_waves[wave], &machine_instruction);
}

static inline void run(int wave, const char *line) {
  execute(wave, line);
  if (machine.fault.id)
    WS_FAIL("%s: %s: %s", line, machine.fault.id, machine.fault.text);
}

static inline void expect_fault(int wave, const char *line, const char *id,
                                const char *part) {
  machine.fault.id = NULL;
  execute(wave, line);
  if (!machine.fault.id)
    WS_FAIL("%s: no fault", line);
  WS_CHECK_TEXT(machine.fault.id, id);
  WS_CHECK_CONTAINS(machine.fault.text, part);
  machine.fault.id = NULL;
}

/* Every lane holds want; the expression may use lane. */
#define CHECK_LANES(row, want)                                                 \
  for (uint32_t lane = 0; lane < WS_LANES; lane++) {                           \
    uint32_t got_ = (row)[lane], want_ = (uint32_t)(want);                     \
    if (got_ != want_)                                                         \
      WS_FAIL("%s lane %u is 0x%x, want 0x%x", #row, lane, got_, want_);       \
  }
#define FILL(row, value)                                                       \
  for (uint32_t lane = 0; lane < WS_LANES; lane++)                             \
  (row)[lane] = (uint32_t)(value)

static inline uint32_t lds32(uint32_t address) {
  uint32_t value;
  memcpy(&value, machine_lds + address, sizeof value);
  return value;
}
static inline void set_lds(uint32_t address, const void *value, size_t bytes) {
  memcpy(machine_lds + address, value, bytes);
}
static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif
