/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Eight results at once against one at a time, bit for bit, in every copy that
 * this processor can run; that one at a time is right is test_matrix.c's.
 */
#include "../../runtime/sim/arithmetic/matrix_row.c"
#include "wavesmith/base.h"
#include "ws_test.h"

enum { COLUMNS = 8, MOST_DEPTH = 32, TRIALS = 800 };

static bool always(void) { return true; }
#ifdef __x86_64__
static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }
static bool has_avx512(void) { return choose_dot() == avx512_dot; }
#endif

static const struct {
  const char *name;
  dot_function dot;
  bool (*runs)(void);
} copies[] = {{"portable", portable_dot, always},
#ifdef __x86_64__
              {"avx2", avx2_dot, has_avx2},
              {"avx512", avx512_dot, has_avx512}
#endif
};

/* How wild the operands are. */
enum { SMALL_INTEGERS, NORMAL, ANY_FINITE, ANY, SORTS };

/* Subnormal ones too; products stay within f32. */
static double draw(ws_rng *rng, int sort, int least, int most) {
  const int exponent = least + (int)ws_rng_below(rng, (uint64_t)(most - least));
  if (sort == SMALL_INTEGERS)
    return (double)ws_rng_below(rng, 9) - 4;
  if (sort == NORMAL)
    return ws_rng_normal(rng);
  if (sort == ANY && ws_rng_below(rng, 200) == 0)
    return ws_rng_below(rng, 2) ? (double)NAN : -(double)INFINITY;
  return ws_rng_below(rng, 8) ? ldexp(ws_rng_normal(rng), exponent) : 0;
}

/* The bits of a value in a type, cut off; half floats by the compiler's. */
static uint64_t raw_of(int type, double value) {
  const float narrow = (float)value;
  const _Float16 half = (_Float16)narrow;
  uint32_t bits;
  uint16_t half_bits;
  memcpy(&bits, &narrow, sizeof bits);
  memcpy(&half_bits, &half, sizeof half_bits);
  return type == WS_MATRIX_BF16  ? bits >> 16
         : type == WS_MATRIX_F16 ? half_bits
                                 : bits;
}

static void fill(ws_matrix *m, int type, int depth, int rows, int sort,
                 ws_rng *rng) {
  m->type = type;
  m->depth = depth;
  const bool half = type == WS_MATRIX_F16;
  for (int i = 0; i < rows * depth; i++)
    ws__matrix_decode(
        m, i, raw_of(type, draw(rng, sort, half ? -24 : -140, half ? 13 : 50)));
}

static void check(int copy, int type, int depth, int sort, ws_rng *rng,
                  int *by_rows) {
  static ws_matrix a, b;
  static ws_turned turned;
  float c[COLUMNS], got[COLUMNS];
  fill(&a, type, depth, 1, sort, rng);
  fill(&b, type, depth, COLUMNS, sort, rng);
  ws__matrix_turn(&b, COLUMNS, &turned);
  for (int j = 0; j < COLUMNS; j++)
    c[j] = (float)draw(rng, sort, -140, 100);
  if (!copies[copy].dot(&a, 0, &turned, 0, type == WS_MATRIX_XF32 ? 4 : 8, c,
                        got))
    return;
  ++*by_rows;
  for (int j = 0; j < COLUMNS; j++) {
    uint32_t c_bits, got_bits;
    memcpy(&c_bits, &c[j], sizeof c_bits);
    memcpy(&got_bits, &got[j], sizeof got_bits);
    const uint64_t want = ws__matrix_dot(&a, 0, &b, j, NULL, 0, c_bits);
    if (got_bits != want)
      WS_FAIL("%s, type %d, depth %d, sort %d: %08x, want %08llx",
              copies[copy].name, type, depth, sort, got_bits,
              (unsigned long long)want);
  }
}

WS_TEST(eight_are_what_each_is) {
  static const struct {
    int type, depth;
  } shapes[] = {{WS_MATRIX_BF16, 4}, {WS_MATRIX_BF16, 8}, {WS_MATRIX_BF16, 16},
                {WS_MATRIX_F16, 4},  {WS_MATRIX_F16, 16}, {WS_MATRIX_XF32, 4},
                {WS_MATRIX_XF32, 8}, {WS_MATRIX_BF16, 32}};
  for (size_t copy = 0; copy < sizeof copies / sizeof *copies; copy++) {
    if (!copies[copy].runs())
      continue;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int sort = 0; sort < SORTS; sort++) {
        int by_rows = 0;
        ws_rng rng;
        ws_rng_init(&rng, 7 + s);
        for (int i = 0; i < TRIALS; i++)
          check((int)copy, shapes[s].type, shapes[s].depth, sort, &rng,
                &by_rows);
        /* ordinary numbers never take the slow way */
        WS_CHECK(sort > NORMAL || by_rows == TRIALS);
        WS_CHECK(by_rows > (sort == ANY ? 0 : TRIALS / 50));
      }
  }
}
