/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Scalar memory (SMEM): loads, stores and atomics of one address for the wave.
 * Address = base + offset operand (register, or 21-bit signed constant) +
 * `offset:` modifier. The hardware drops the two low address bits; here that is
 * reported, as no compiler means it. Buffer forms: what lies outside the range
 * of the descriptor reads 0 and is not written.
 */
#include "clock_constants.h"
#include "execute_scalar.h"

#include "memory.h"

/* Size in dwords and kind, by opcode. */
typedef struct form {
  uint8_t dwords;
  bool buffer, scratch;
} form;

#define WS_SIZES(X, name, ...)                                                 \
  X(name, 1, __VA_ARGS__)                                                      \
  X(name##x2, 2, __VA_ARGS__) X(name##x4, 4, __VA_ARGS__)
#define WS_LOAD_MAP(X)                                                         \
  WS_SIZES(X, s_load_dword, false, false)                                      \
  X(s_load_dwordx8, 8, false, false)                                           \
  X(s_load_dwordx16, 16, false, false)                                         \
  WS_SIZES(X, s_scratch_load_dword, false, true)                               \
  WS_SIZES(X, s_buffer_load_dword, true, false)                                \
  X(s_buffer_load_dwordx8, 8, true, false)                                     \
  X(s_buffer_load_dwordx16, 16, true, false)
#define WS_STORE_MAP(X)                                                        \
  WS_SIZES(X, s_store_dword, false, false)                                     \
  WS_SIZES(X, s_scratch_store_dword, false, true)                              \
  WS_SIZES(X, s_buffer_store_dword, true, false)

typedef enum atomic {
  SWAP,
  CMPSWAP,
  ADD,
  SUB,
  SMIN,
  UMIN,
  SMAX,
  UMAX,
  AND,
  OR,
  XOR,
  INC,
  DEC
} atomic;
#define WS_ATOMIC_MAP(X)                                                       \
  X(swap, SWAP)                                                                \
  X(cmpswap, CMPSWAP)                                                          \
  X(add, ADD)                                                                  \
  X(sub, SUB)                                                                  \
  X(smin, SMIN) X(umin, UMIN) X(smax, SMAX) X(umax, UMAX) X(and, AND)          \
      X(or, OR) X(xor, XOR) X(inc, INC) X(dec, DEC)

/* ---- addresses ------------------------------------------------------------
 */

/* base: operand that holds it; the offset follows. s_scratch_*: the register
 * offset counts 64 bytes. */
static uint64_t offset_of(const ws_wave *wave, const ws_instruction *in,
                          int base, bool scratch) {
  const ws_operand *operand = &in->src[base + 1];
  uint64_t offset = 0;
  if (operand->kind == WS_OPERAND_CONSTANT)
    offset = (uint64_t)(int64_t)(int32_t)operand->constant;
  else if (operand->kind == WS_OPERAND_SCALAR)
    offset = (uint64_t)ws__scalar_u32(wave, operand) * (scratch ? 64 : 1);
  return offset + (uint64_t)(int64_t)in->imm;
}

typedef struct place {
  uint64_t address;
  uint32_t bytes; /* in range, from the start */
} place;

/* Descriptor: base 47:0, stride 61:48, num_records 95:64, in bytes, or in
 * records where a stride is given. */
static place buffer_place(const ws_wave *wave, const ws_instruction *in,
                          int base, uint32_t bytes) {
  const uint32_t *words = &wave->sgpr[in->src[base].index & (WS_SGPRS - 4)];
  uint64_t start = words[0] | (uint64_t)(words[1] & 0xffff) << 32;
  uint32_t stride = words[1] >> 16 & 0x3fff;
  uint64_t range = (uint64_t)words[2] * (stride ? stride : 1);
  uint64_t offset = offset_of(wave, in, base, false);
  uint64_t left = offset < range ? range - offset : 0;
  return (place){start + offset, left < bytes ? (uint32_t)left & ~3u : bytes};
}

/* For the clock. */
static void note_access(ws_wave *wave, uint64_t address, uint32_t bytes,
                        bool store) {
  ws_access *access = &wave->access;
  access->mask = bytes != 0;
  access->bytes = (uint8_t)bytes;
  access->pair = 0;
  access->store = store;
  access->atomic = access->is_lds = false;
  access->address[0] = address;
}

/* A read of what is not known. Scalars steer a kernel, so a checked group need
 * not wait to see what becomes of it. */
static bool reads_unknown(ws_wave *wave, const ws_instruction *in,
                          uint64_t address) {
  ws_group *group = wave->group;
  if (!group->may_be_unknown || !ws__is_unknown_to(group, address))
    return false;
  group->read_unknown = true;
  if (group->checked)
    ws__fault(wave, in, -1, "uninitialised",
              "scalar load of memory at 0x%llx that only a run would fill",
              (unsigned long long)address);
  return group->checked;
}

/* False: ended by a fault. */
static bool find_place(ws_wave *wave, const ws_instruction *in, const form *f,
                       int base, bool store, place *out) {
  uint32_t bytes = f->dwords * 4u;
  if (f->buffer)
    *out = buffer_place(wave, in, base, bytes);
  else
    *out = (place){ws__scalar_u64(wave, &in->src[base]) +
                       offset_of(wave, in, base, f->scratch),
                   bytes};
  note_access(wave, out->address, bytes, store);
  if (out->bytes == 0)
    return true;
  if (out->address % 4) {
    ws__fault(wave, in, -1, "misaligned",
              "scalar memory access at 0x%llx, not a multiple of 4",
              (unsigned long long)out->address);
    return false;
  }
  const char *id;
  const char *problem = ws__memory_problem(wave->group->memory, out->address,
                                           out->bytes, store, &id);
  if (problem)
    ws__fault(wave, in, -1, id, "%s", problem);
  return !problem && (store || !reads_unknown(wave, in, out->address));
}

static uint8_t *host_place(const ws_wave *wave, uint64_t address, bool store) {
  if (wave->group->timing)
    return ws__overlay_place(wave->group->memory, address, store);
  return (uint8_t *)(uintptr_t)address;
}

/* ---- loads and stores -----------------------------------------------------
 */

static void load(ws_wave *wave, const ws_instruction *in) {
#define ENTRY(name, ...) [WS_OP_##name] = {__VA_ARGS__},
  static const form forms[WS_OP_COUNT] = {WS_LOAD_MAP(ENTRY)};
  const form *f = &forms[in->op];
  place from;
  if (!find_place(wave, in, f, 0, false, &from))
    return;
  for (uint32_t i = 0; i < f->dwords; i++) {
    uint32_t word = 0;
    if (i * 4 < from.bytes)
      memcpy(&word, host_place(wave, from.address + i * 4, false), 4);
    wave->sgpr[(in->dst[0].index + i) & (WS_SGPRS - 1)] = word;
  }
}

static void store(ws_wave *wave, const ws_instruction *in) {
  static const form forms[WS_OP_COUNT] = {WS_STORE_MAP(ENTRY)};
#undef ENTRY
  const form *f = &forms[in->op];
  place to;
  if (!find_place(wave, in, f, 1, true, &to))
    return;
  for (uint32_t i = 0; i * 4 < to.bytes; i++)
    memcpy(host_place(wave, to.address + i * 4, true),
           &wave->sgpr[(in->src[0].index + i) & (WS_SGPRS - 1)], 4);
}

/* ---- atomics --------------------------------------------------------------
 */

static int64_t as_signed(uint64_t value, int bytes) {
  return bytes == 4 ? (int32_t)value : (int64_t)value;
}

/* Values of 32 bits come zero-extended; the caller truncates. */
static uint64_t combine(atomic operation, uint64_t old, uint64_t data,
                        uint64_t compare, int bytes) {
  switch (operation) {
  case SWAP:
    return data;
  case CMPSWAP:
    return old == compare ? data : old;
  case ADD:
    return old + data;
  case SUB:
    return old - data;
  case SMIN:
    return as_signed(old, bytes) < as_signed(data, bytes) ? old : data;
  case UMIN:
    return old < data ? old : data;
  case SMAX:
    return as_signed(old, bytes) > as_signed(data, bytes) ? old : data;
  case UMAX:
    return old > data ? old : data;
  case AND:
    return old & data;
  case OR:
    return old | data;
  case XOR:
    return old ^ data;
  case INC:
    return old >= data ? 0 : old + 1;
  case DEC:
    return old == 0 || old > data ? data : old - 1;
  }
  return old;
}

static uint64_t exchange_32(uint32_t *memory, atomic operation, uint64_t data,
                            uint64_t compare) {
  uint32_t old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      memory, &old, (uint32_t)combine(operation, old, data, compare, 4), false,
      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ;
  return old;
}

static uint64_t exchange_64(uint64_t *memory, atomic operation, uint64_t data,
                            uint64_t compare) {
  uint64_t old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      memory, &old, combine(operation, old, data, compare, 8), false,
      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ;
  return old;
}

/* The data register is the first source; with glc it receives the old value.
 * cmpswap: the new value, then the one to compare with. */
static void run_atomic(ws_wave *wave, const ws_instruction *in, bool buffer,
                       int bytes, atomic operation) {
  place at;
  const form f = {(uint8_t)(bytes / 4), buffer, false};
  if (!find_place(wave, in, &f, 1, true, &at))
    return;
  wave->access.atomic = true;
  if (at.address % (unsigned)bytes) {
    ws__fault(wave, in, -1, "misaligned", "scalar atomic at 0x%llx",
              (unsigned long long)at.address);
    return;
  }
  int words = bytes / 4 * (operation == CMPSWAP ? 2 : 1);
  int data = in->src[0].index & (WS_SGPRS - words);
  int compare = data + words - bytes / 4;
  uint64_t old = 0;
  if (at.bytes == (unsigned)bytes) {
    void *memory = host_place(wave, at.address, true);
    old = bytes == 4 ? exchange_32(memory, operation, wave->sgpr[data],
                                   wave->sgpr[compare])
                     : exchange_64(memory, operation, ws_sgpr64(wave, data),
                                   ws_sgpr64(wave, compare));
  }
  if (!(in->flags & WS_SC0))
    return;
  wave->sgpr[data] = (uint32_t)old;
  if (bytes == 8)
    ws_set_sgpr64(wave, data, old);
}

#define DEFINE_ATOMIC(name, operation)                                         \
  static void atomic_##name(ws_wave *wave, const ws_instruction *in) {         \
    run_atomic(wave, in, false, 4, operation);                                 \
  }                                                                            \
  static void atomic_##name##_x2(ws_wave *wave, const ws_instruction *in) {    \
    run_atomic(wave, in, false, 8, operation);                                 \
  }                                                                            \
  static void buffer_atomic_##name(ws_wave *wave, const ws_instruction *in) {  \
    run_atomic(wave, in, true, 4, operation);                                  \
  }                                                                            \
  static void buffer_atomic_##name##_x2(ws_wave *wave,                         \
                                        const ws_instruction *in) {            \
    run_atomic(wave, in, true, 8, operation);                                  \
  }
WS_ATOMIC_MAP(DEFINE_ATOMIC)

/* ---- clocks and caches ----------------------------------------------------
 */

/* A stand-in for time that is the same in every run: 4 clocks, the shortest
 * issue interval of a wave, per executed instruction. s_memrealtime counts at
 * 100 MHz against the card's clock. */
static void read_clock(ws_wave *wave, const ws_instruction *in) {
  uint64_t clocks = wave->executed * 4;
  uint64_t mhz = (uint64_t)wave->group->constants->clock_mhz;
  note_access(wave, 0, 0, false);
  ws__set_scalar_u64(wave, &in->dst[0],
                     in->op == WS_OP_s_memtime ? clocks : clocks * 100 / mhz);
}

static void no_access(ws_wave *wave, const ws_instruction *in) {
  (void)in;
  note_access(wave, 0, 0, false);
}

ws_execute ws__execute_scalar_memory(ws_op op) {
#define LOAD(name, ...) [WS_OP_##name] = load,
#define STORE(name, ...) [WS_OP_##name] = store,
#define ATOMIC(name, ...)                                                      \
  [WS_OP_s_atomic_##name] = atomic_##name,                                     \
  [WS_OP_s_atomic_##name##_x2] = atomic_##name##_x2,                           \
  [WS_OP_s_buffer_atomic_##name] = buffer_atomic_##name,                       \
  [WS_OP_s_buffer_atomic_##name##_x2] = buffer_atomic_##name##_x2,
  static const ws_execute handlers[WS_OP_COUNT] = {
      WS_LOAD_MAP(LOAD) WS_STORE_MAP(STORE)
          WS_ATOMIC_MAP(ATOMIC)[WS_OP_s_memtime] = read_clock,
      [WS_OP_s_memrealtime] = read_clock,
      [WS_OP_s_dcache_inv] = no_access,
      [WS_OP_s_dcache_wb] = no_access,
      [WS_OP_s_dcache_inv_vol] = no_access,
      [WS_OP_s_dcache_wb_vol] = no_access,
      [WS_OP_s_dcache_discard] = no_access,
      [WS_OP_s_dcache_discard_x2] = no_access,
      [WS_OP_s_atc_probe] = no_access,
      [WS_OP_s_atc_probe_buffer] = no_access,
  };
#undef LOAD
#undef STORE
#undef ATOMIC
  return handlers[op];
}
