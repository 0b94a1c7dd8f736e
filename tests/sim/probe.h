/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One-feature probes: a few instructions between a prologue that loads v1-v4
 * from four input vectors and an epilogue that stores v10-v13, and a model in C
 * that says what each lane of these must be. Four workgroups of one wave, so
 * 256 lanes of inputs: random ones and the edges of their kind.
 *
 *   PROBE(name, INPUTS, words, "assembly", model statements)
 *
 * In the assembly v0 is the lane, v9 4 * lane, s[8:9] and s[10:11] the group's
 * input and output (1 KiB each); v10-v13 start as 0. The model sees a, b, c, d
 * (v1-v4), lane, in[4][64] and writes out[0..3].
 */
#ifndef WS_TEST_PROBE_H
#define WS_TEST_PROBE_H

#include "sim_fixture.h"

enum { GROUPS = 4, LANES = 64, VECTORS = 4, BLOCK_WORDS = VECTORS * LANES };

typedef enum inputs { INTS, FLOATS, HALVES, DOUBLES, SMALL, FINITE } inputs;
typedef void (*probe_model)(const uint32_t in[VECTORS][LANES], uint32_t lane,
                            uint32_t group, uint32_t *out);

typedef struct probe {
  const char *name, *body;
  inputs kind;
  int words; /* outputs compared */
  probe_model model;
  fixture_options options;
} probe;

/* ---- bits -----------------------------------------------------------------
 */

static inline float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static inline uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}
static inline double as_double(uint32_t low, uint32_t high) {
  const uint64_t bits = low | (uint64_t)high << 32;
  double value;
  memcpy(&value, &bits, 8);
  return value;
}
static inline void put_double(uint32_t *out, double value) {
  memcpy(out, &value, 8);
}
static inline void put_u64(uint32_t *out, uint64_t value) {
  memcpy(out, &value, 8);
}
static inline uint64_t as_u64(uint32_t low, uint32_t high) {
  return low | (uint64_t)high << 32;
}
static inline _Float16 as_half(uint32_t bits) {
  const uint16_t word = (uint16_t)bits;
  _Float16 value;
  memcpy(&value, &word, 2);
  return value;
}
static inline uint32_t half_bits(_Float16 value) {
  uint16_t word;
  memcpy(&word, &value, 2);
  return word;
}
static inline uint32_t pack_half(_Float16 low, _Float16 high) {
  return half_bits(low) | half_bits(high) << 16;
}

/* ---- fp8 FNUZ, from its definition: bias 8 (e4m3) or 16 (e5m2), 0x80 is NaN,
 * no infinity, no minus zero ---- */

static inline double fnuz_value(uint32_t byte, int mantissa_bits) {
  const int bias = mantissa_bits == 3 ? 8 : 16;
  const int exponent = (int)(byte & 127) >> mantissa_bits;
  const int fraction = (int)byte & ((1 << mantissa_bits) - 1);
  if ((byte & 255) == 0x80)
    return NAN;
  const double magnitude = exponent ? ldexp(fraction + (1 << mantissa_bits),
                                            exponent - bias - mantissa_bits)
                                    : ldexp(fraction, 1 - bias - mantissa_bits);
  return byte & 128 ? -magnitude : magnitude;
}

/* The nearest value, ties to even, by looking at all of them. Only for |value|
 * up to the largest. */
static inline uint32_t fnuz_nearest(float value, int mantissa_bits) {
  uint32_t best = 0;
  double distance = INFINITY;
  for (uint32_t magnitude = 0; magnitude < 128; magnitude++) {
    const double off = fabs(fnuz_value(magnitude, mantissa_bits) - fabs(value));
    if (off < distance || (off == distance && !(magnitude & 1))) {
      distance = off;
      best = magnitude;
    }
  }
  return best ? best | (signbit(value) ? 128 : 0) : 0;
}

/* ---- inputs ---------------------------------------------------------------
 */

static const uint32_t int_edges[] = {
    0,          1,          2,          31,        32,     63,
    0x7f,       0x80,       0xff,       0xffff,    0x8000, 0x7fffffff,
    0x80000000, 0xffffffff, 0xfffffffe, 0x55555555};
static const uint32_t float_edges[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, /* 0 -0 1 -1 */
    0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, /* denormals, limits */
    0x7f800000, 0xff800000, 0x7fc00000, 0x3f000000, /* inf nan 0.5 */
    0x40000000, 0x4b000001, 0xcb800001, 0x3effffff};
static const uint32_t half_edges[] = {0x00000000, 0x80003c00, 0x3c00bc00,
                                      0x00010001, 0x83ff0400, 0x7bff0400,
                                      0x38003555, 0x3c013bff};

static uint32_t random_half(ws_rng *rng) {
  /* exponents 8 to 21 of 31: sums and products of three stay finite */
  return (uint32_t)(ws_rng_next(rng) & 0x83ff) |
         (uint32_t)(8 + ws_rng_below(rng, 14)) << 10;
}

static uint32_t input_word(inputs kind, int vector, int index, ws_rng *rng) {
  const uint32_t random = (uint32_t)ws_rng_next(rng);
  const int edge = index / (vector == 0 ? 1 : vector == 1 ? 16 : 3) % 16;
  const bool use_edge = index < 200 && vector < 3;
  switch (kind) {
  case INTS:
    return use_edge ? int_edges[edge] : random;
  case FLOATS:
    if (use_edge)
      return float_edges[edge];
    return as_bits((float)(ws_rng_normal(rng) * exp2(20 * ws_rng_double(rng))));
  case FINITE:
    return as_bits((float)(ws_rng_normal(rng) * 4));
  case HALVES:
    return index < 64 && vector < 3 ? half_edges[edge % 8]
                                    : random_half(rng) | random_half(rng) << 16;
  case SMALL:
    return random & 63;
  case DOUBLES:
    return 0; /* by pairs below */
  }
  return 0;
}

static void fill_inputs(inputs kind, uint32_t in[GROUPS][VECTORS][LANES]) {
  ws_rng rng;
  ws_rng_init(&rng, 42);
  for (int g = 0; g < GROUPS; g++)
    for (int v = 0; v < VECTORS; v++)
      for (int lane = 0; lane < LANES; lane++)
        in[g][v][lane] = input_word(kind, v, g * LANES + lane, &rng);
  for (int g = 0; kind == DOUBLES && g < GROUPS; g++)
    for (int lane = 0; lane < LANES; lane++)
      for (int v = 0; v < VECTORS; v += 2) {
        const double value =
            ws_rng_normal(&rng) * exp2(ws_rng_double(&rng) * 9);
        uint32_t words[2];
        put_double(words, value);
        in[g][v][lane] = words[0];
        in[g][v + 1][lane] = words[1];
      }
}

/* ---- running --------------------------------------------------------------
 */

static const char probe_prologue[] =
    "s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
    "v_lshlrev_b32_e32 v9, 2, v0\n"
    "s_lshl_b32 s5, s2, 10\n"
    "v_mov_b32_e32 v10, 0\nv_mov_b32_e32 v11, 0\n"
    "v_mov_b32_e32 v12, 0\nv_mov_b32_e32 v13, 0\n"
    "s_waitcnt lgkmcnt(0)\n"
    "s_add_u32 s8, s8, s5\ns_addc_u32 s9, s9, 0\n"
    "s_add_u32 s10, s10, s5\ns_addc_u32 s11, s11, 0\n"
    "global_load_dword v1, v9, s[8:9]\n"
    "global_load_dword v2, v9, s[8:9] offset:256\n"
    "global_load_dword v3, v9, s[8:9] offset:512\n"
    "global_load_dword v4, v9, s[8:9] offset:768\n"
    "s_waitcnt vmcnt(0)\n";
static const char probe_epilogue[] =
    "\ns_mov_b64 exec, -1\n"
    "global_store_dword v9, v10, s[10:11]\n"
    "global_store_dword v9, v11, s[10:11] offset:256\n"
    "global_store_dword v9, v12, s[10:11] offset:512\n"
    "global_store_dword v9, v13, s[10:11] offset:768\n";

static bool is_nan_word(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000;
}

static void probe_compare(const probe *self,
                          const uint32_t in[GROUPS][VECTORS][LANES],
                          const uint32_t got[GROUPS][VECTORS][LANES]) {
  const bool floats = self->kind == FLOATS || self->kind == FINITE;
  for (uint32_t g = 0; g < GROUPS; g++)
    for (uint32_t lane = 0; lane < LANES; lane++) {
      uint32_t want[VECTORS] = {0};
      self->model(in[g], lane, g, want);
      for (int w = 0; w < self->words; w++)
        if (got[g][w][lane] != want[w] &&
            !(floats && is_nan_word(want[w]) && is_nan_word(got[g][w][lane])))
          WS_FAIL("%s: group %u lane %u: v%d is %08x, want %08x; inputs %08x "
                  "%08x %08x %08x",
                  self->name, g, lane, 10 + w, got[g][w][lane], want[w],
                  in[g][0][lane], in[g][1][lane], in[g][2][lane],
                  in[g][3][lane]);
    }
}

static void probe_run(const probe *self) {
  static uint32_t in[GROUPS][VECTORS][LANES];
  fill_inputs(self->kind, in);
  fixture_run run;
  ws_arena *arena = ws_arena_create();
  char *body = ws_arena_printf(arena, "%s%s%s", probe_prologue, self->body,
                               probe_epilogue);
  fixture_open(&run, fixture_kernel(arena, body, &self->options), NULL);
  ws_arena_destroy(arena);
  if (fixture_launch(&run, in, sizeof in, sizeof in, GROUPS, LANES) != WS_OK)
    WS_FAIL("%s", run.diag.text);
  fixture_no_findings(&run);
  probe_compare(self, (const uint32_t(*)[VECTORS][LANES])in,
                (const uint32_t(*)[VECTORS][LANES])run.out);
  fixture_close(&run);
}

#define PROBE_WITH(test, settings, inputs_, words_, body_, ...)                \
  static void model_##test(const uint32_t in[VECTORS][LANES], uint32_t lane,   \
                           uint32_t group, uint32_t *out) {                    \
    const uint32_t a = in[0][lane], b = in[1][lane], c = in[2][lane],          \
                   d = in[3][lane];                                            \
    (void)a, (void)b, (void)c, (void)d, (void)group;                           \
    __VA_ARGS__                                                                \
  }                                                                            \
  WS_TEST(test) {                                                              \
    const probe self = {                                                       \
        #test, body_, inputs_, words_, model_##test, settings};                \
    probe_run(&self);                                                          \
  }
#define NO_OPTIONS                                                             \
  { .lds = 0 }
#define PROBE(test, inputs_, words_, body_, ...)                               \
  PROBE_WITH(test, NO_OPTIONS, inputs_, words_, body_, __VA_ARGS__)

#endif
