/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Probes of single VALU instructions on a wave without a program: the handler
 * of each instruction set that the processor has, with all lanes on and with
 * some off, on random inputs and the edges of their kind.
 *
 *   PROBE(name, INPUTS, 'f', "assembly", model statements)
 *
 * Registers: v[2:3], v[4:5], v[6:7] hold a, b, c with upper words a1, b1, c1;
 * s[20:21] holds a lane mask, of which `set` is the lane's bit; s22 is k.
 * v[10:11] start as old, old1. The model writes r (v10), r1 (v11), and bit,
 * what the lane's bit of vcc shall be. The letter says how results are
 * compared: any NaN equals any other in f (f32), h (f16), H (two of them), F
 * (f64); u: bits.
 */
#ifndef WS_TEST_VECTOR_PROBE_H
#define WS_TEST_VECTOR_PROBE_H

#include "decode.h"
#include "vector_lanes.h"
#include "ws_test.h"

typedef enum inputs { INTS, SMALL, FLOATS, HALVES, DOUBLES } inputs;

/* What the model of one lane reads and writes. */
typedef struct lane {
  uint32_t number, a, a1, b, b1, c, c1, k, old, old1;
  bool set, vcc;
  uint32_t r, r1;
  int bit; /* -1: vcc is not written */
} lane;
typedef void (*lane_model)(lane *l);

static ws_vector probe_registers[WS_VECTORS];
static ws_wave probe_wave;

/* ---- inputs ---------------------------------------------------------------
 */

static uint64_t random_state = 88172645463325252ull;
static uint32_t random_bits(void) { /* xorshift64 */
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 16);
}

static uint32_t input_half(void) {
  static const uint16_t edges[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00,
                                   0xfc00, 0x7e00, 1,      0x8001, 0x3ff,
                                   0x400,  0x7bff, 0xfbff, 0x3bff, 0x3800};
  uint32_t pick = random_bits() % 24;
  if (pick < sizeof edges / sizeof *edges)
    return edges[pick];
  return pick & 1 ? random_bits() & 0xffff : 0x3000 + (random_bits() & 0x8fff);
}

static uint32_t input_float(void) {
  static const uint32_t edges[] = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
      0x7fc00000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
      0x3effffff, 0x3f000000, 0x4b800001, 0x4f000000, 0xcf000001, 0x4f800000};
  uint32_t pick = random_bits() % 32;
  if (pick < sizeof edges / sizeof *edges)
    return edges[pick];
  return pick & 1 ? random_bits() : 0x3c000000 + (random_bits() & 0x87ffffff);
}

static uint64_t input_double(void) {
  static const uint64_t edges[] = {0,
                                   0x8000000000000000,
                                   0x3ff0000000000000,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000,
                                   1,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x7fefffffffffffff,
                                   0x41dfffffffc00000,
                                   0xc1e0000000000000,
                                   0x41efffffffe00000};
  uint32_t pick = random_bits() % 24;
  if (pick < sizeof edges / sizeof *edges)
    return edges[pick];
  uint64_t bits = ws_join(random_bits(), random_bits());
  return pick & 1 ? bits : 0x3f00000000000000 + (bits & 0x81ffffffffffffff);
}

static uint32_t input_word(inputs kind) {
  static const uint32_t edges[] = {0,          1,          UINT32_MAX,
                                   0x80000000, 0x7fffffff, 0x8000,
                                   0xffff,     0x7fff7fff, 0x80008000};
  uint32_t pick = random_bits() % 18;
  switch (kind) {
  case SMALL:
    return random_bits() % 80;
  case FLOATS:
    return input_float();
  case HALVES:
    return input_half() | input_half() << 16;
  default:
    return pick < sizeof edges / sizeof *edges ? edges[pick] : random_bits();
  }
}

static void fill_pair(int index, int lane_number, inputs kind) {
  uint64_t value = kind == DOUBLES
                       ? input_double()
                       : ws_join(input_word(kind), input_word(kind));
  probe_registers[index].u32[lane_number] = (uint32_t)value;
  probe_registers[index + 1].u32[lane_number] = (uint32_t)(value >> 32);
}

static void fill(inputs kind) {
  memset(&probe_wave, 0, sizeof probe_wave);
  probe_wave.vgpr = probe_registers;
  probe_wave.mode = WS_MODE_DEFAULT;
  for (int i = 0; i < WS_LANES; i++) {
    for (int r = 2; r < 8; r += 2)
      fill_pair(r, i, kind);
    for (int r = 10; r < 14; r++)
      probe_registers[r].u32[i] = random_bits();
  }
  ws_set_sgpr64(&probe_wave, 20, ws_join(random_bits(), random_bits()));
  ws_set_sgpr64(&probe_wave, WS_SGPR_VCC,
                ws_join(random_bits(), random_bits()));
  probe_wave.sgpr[22] = input_word(kind == DOUBLES ? FLOATS : kind);
}

/* ---- comparison -----------------------------------------------------------
 */

static bool is_nan_half(uint32_t bits) { return (bits & 0x7fff) > 0x7c00; }

static bool same(char type, uint64_t got, uint64_t want) {
  uint32_t g = (uint32_t)got, w = (uint32_t)want;
  switch (type) {
  case 'f':
    return g == w || (isnan(ws_float(g)) && isnan(ws_float(w)));
  case 'F':
    return got == want || (isnan(ws_double(got)) && isnan(ws_double(want)));
  case 'h':
    return g == w || (is_nan_half(g) && is_nan_half(w) && g >> 16 == w >> 16);
  case 'H':
    return same('h', g & 0xffff, w & 0xffff) && same('h', g >> 16, w >> 16);
  case 'G':
    return same('f', g, w) && same('f', got >> 32, want >> 32);
  default:
    return got == want;
  }
}

static lane lane_inputs(int i) {
  const ws_vector *v = probe_registers;
  lane l = {.number = (uint32_t)i,
            .a = v[2].u32[i],
            .a1 = v[3].u32[i],
            .b = v[4].u32[i],
            .b1 = v[5].u32[i],
            .c = v[6].u32[i],
            .c1 = v[7].u32[i],
            .old = v[10].u32[i],
            .old1 = v[11].u32[i],
            .k = probe_wave.sgpr[22],
            .set = ws_sgpr64(&probe_wave, 20) >> i & 1,
            .vcc = ws_sgpr64(&probe_wave, WS_SGPR_VCC) >> i & 1,
            .bit = -1};
  l.r = l.old;
  l.r1 = l.old1;
  return l;
}

static void check_lane(const char *what, char type, const lane *want, bool on,
                       uint64_t vcc_before) {
  int i = (int)want->number;
  uint64_t before = vcc_before >> i & 1, want_bit = before;
  uint64_t got =
      ws_join(probe_registers[10].u32[i], probe_registers[11].u32[i]);
  uint64_t result =
      on ? ws_join(want->r, want->r1) : ws_join(want->old, want->old1);
  uint64_t bit = ws_sgpr64(&probe_wave, WS_SGPR_VCC) >> i & 1;
  if (type != 'F' && type != 'G' && got >> 32 != result >> 32)
    WS_FAIL("%s: lane %d, v11: %08x, want %08x", what, i, (uint32_t)(got >> 32),
            (uint32_t)(result >> 32));
  if (type != 'F' && type != 'G') {
    got = (uint32_t)got;
    result = (uint32_t)result;
  }
  if (!same(type, got, result))
    WS_FAIL("%s: lane %d (%s): %016llx, want %016llx (a %08x %08x, b %08x "
            "%08x, c %08x %08x, k %08x)",
            what, i, on ? "on" : "off", (unsigned long long)got,
            (unsigned long long)result, want->a1, want->a, want->b1, want->b,
            want->c1, want->c, want->k);
  if (want->bit >= 0)
    want_bit = on ? (uint64_t)want->bit : 0;
  if (bit != want_bit)
    WS_FAIL("%s: lane %d: bit %d, want %d (a %08x, b %08x, c %08x)", what, i,
            (int)bit, (int)want_bit, want->a, want->b, want->c);
}

/* ---- running --------------------------------------------------------------
 */

static ws_instruction parse_line(const char *line) {
  ws_instruction in;
  ws_diag diag = {""};
  if (ws__parse_instruction(line, &in, &diag))
    WS_FAIL("%s: %s", line, diag.text);
  return in;
}

static ws_execute handler_of(const ws_instruction *in, const char *line) {
  ws_execute execute = ws__execute_vector((ws_op)in->op);
  if (!execute)
    WS_FAIL("%s: no handler", line);
  return execute;
}

static void run_line(const char *line) {
  ws_instruction in = parse_line(line);
  handler_of(&in, line)(&probe_wave, &in);
}

__attribute__((unused)) static void run_probe(const char *line, inputs kind,
                                              char type, uint32_t mode,
                                              lane_model model) {
  static const uint64_t masks[] = {UINT64_MAX, 0x8000000012345678, 0};
  ws_instruction in = parse_line(line);
  for (int c = 0; ws__vector_code(c); c++) {
    ws__vector_use(ws__vector_code(c));
    ws_execute execute = handler_of(&in, line);
    for (int round = 0; round < 24; round++) {
      uint64_t exec = masks[round % 3];
      lane lanes[WS_LANES];
      char what[160];
      fill(kind);
      probe_wave.mode = mode;
      ws_set_sgpr64(&probe_wave, WS_SGPR_EXEC, exec);
      uint64_t vcc = ws_sgpr64(&probe_wave, WS_SGPR_VCC);
      for (int i = 0; i < WS_LANES; i++) {
        lanes[i] = lane_inputs(i);
        model(&lanes[i]);
      }
      execute(&probe_wave, &in);
      snprintf(what, sizeof what, "%s: %s", ws__vector_code(c)->name, line);
      for (int i = 0; i < WS_LANES; i++)
        check_lane(what, type, &lanes[i], exec >> i & 1, vcc);
    }
  }
}

#define PROBE_MODE(name, kind, type, mode, line, ...)                          \
  static void model_##name(lane *l) {                                          \
    uint32_t a = l->a, a1 = l->a1, b = l->b, b1 = l->b1, c = l->c;             \
    uint32_t c1 = l->c1, k = l->k, old = l->old, old1 = l->old1;               \
    uint32_t r = l->r, r1 = l->r1, number = l->number;                         \
    bool set = l->set, vcc = l->vcc;                                           \
    int bit = -1;                                                              \
    (void)a, (void)a1, (void)b, (void)b1, (void)c, (void)c1, (void)k;          \
    (void)old, (void)old1, (void)set, (void)vcc, (void)number;                 \
    __VA_ARGS__                                                                \
    l->r = r;                                                                  \
    l->r1 = r1;                                                                \
    l->bit = bit;                                                              \
  }                                                                            \
  WS_TEST(name) { run_probe(line, kind, type, mode, model_##name); }
#define PROBE(name, kind, type, line, ...)                                     \
  PROBE_MODE(name, kind, type, WS_MODE_DEFAULT, line, __VA_ARGS__)

/* ---- models' helpers ------------------------------------------------------
 */

static inline float F32(uint32_t bits) { return ws_float(bits); }
static inline uint32_t BITS(float value) { return ws_float_bits(value); }
static inline double F64(uint32_t low, uint32_t high) {
  return ws_double(ws_join(low, high));
}
#define PUT_DOUBLE(value)                                                      \
  do {                                                                         \
    uint64_t put_bits = ws_double_bits(value);                                 \
    r = (uint32_t)put_bits;                                                    \
    r1 = (uint32_t)(put_bits >> 32);                                           \
  } while (0)
#define PUT_WIDE(value)                                                        \
  do {                                                                         \
    uint64_t put_wide = (value);                                               \
    r = (uint32_t)put_wide;                                                    \
    r1 = (uint32_t)(put_wide >> 32);                                           \
  } while (0)
/* f16 by the compiler's own conversions. */
static inline float F16(uint32_t bits) {
  uint16_t word = (uint16_t)bits;
  _Float16 value;
  memcpy(&value, &word, sizeof value);
  return (float)value;
}
static inline uint32_t HALF(double value) {
  _Float16 half = (_Float16)value;
  uint16_t word;
  memcpy(&word, &half, sizeof word);
  return word;
}

#endif
