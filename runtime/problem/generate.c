/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inputs by element type. Ordinary ones: floats are standard normal, rounded to
 * the type; integers uniform in their range. Hard ones come in runs of 128
 * elements of one sort: magnitudes that differ by 2^12 either way, zero, ones
 * of either sign, subnormals, and for 8-bit floats any code and the largest
 * binades; for integers the ends of the range. A quarter of the rows of floats
 * is small as a whole, the same ones in every argument: what a kernel adds to a
 * row's sum, or divides by, decides only there.
 */
#include "parts.h"
#include "trap.h"

#include <pthread.h>

enum { QUANTILES = 1 << 16, RUN = 128 };

/* ---- normal numbers: the quantiles (i + 1/2) / 2^16 ---- */

static double quantiles[QUANTILES];
static pthread_once_t quantiles_once = PTHREAD_ONCE_INIT;

static double cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Upwards by Newton's method, each from the one before. */
static void fill_quantiles(void) {
  double x = -5;
  for (int i = 0; i < QUANTILES; i++) {
    double p = (i + 0.5) / QUANTILES;
    for (int step = 0; step < (i ? 3 : 40); step++)
      x -= (cdf(x) - p) / (exp(-x * x / 2) / sqrt(2 * M_PI));
    quantiles[i] = x;
  }
}

/* Four from one random number; the table's steps are far finer than the types
 * of 16 bits and less, and are filled up for wider ones. */
typedef struct normals {
  ws_rng rng;
  uint64_t bits;
  int left;
  bool wide;
} normals;

static double next_normal(normals *n) {
  if (!n->left--) {
    n->bits = ws_rng_next(&n->rng);
    n->left = 3;
  }
  double value = quantiles[n->bits & (QUANTILES - 1)];
  n->bits >>= 16;
  if (n->wide)
    value *= 1 + ((double)(ws_rng_next(&n->rng) >> 40) - 0x1p23) * 0x1p-36;
  return value;
}

static void fill_floats(ws_type type, normals *n, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++)
    ws__type_store(type, next_normal(n), out, i);
}

/* ---- hard floats ---- */

static double hard_small_float(ws_type type, normals *n, int sort) {
  uint64_t code = ws_rng_next(&n->rng) >> 56;
  double value = ws_load(type, &code, 0);
  if (sort == 0) /* any code */
    return isfinite(value) ? value : 0;
  if (sort == 1) { /* below the smallest normal number, about */
    code &= 0x83;
    value = ws_load(type, &code, 0);
    return isfinite(value) ? value : 0;
  }
  /* the upper binades */
  return copysign(ws__type_largest(type) * (1 - (double)(code & 7) / 16),
                  code & 0x80 ? -1 : 1);
}

static double subnormal(ws_type type, ws_rng *rng) {
  return (2 * ws_rng_double(rng) - 1) * ws__type_least_normal(type);
}

static bool is_quiet(uint64_t seed, int64_t row) {
  ws_rng rng;
  ws_rng_init(&rng, seed ^ (uint64_t)row << 20);
  return ws_rng_below(&rng, 4) == 0;
}

/* row: elements of one; 0: there are none. */
static void fill_hard_floats(ws_type type, normals *n, uint64_t seed,
                             int64_t row, int64_t count, void *out) {
  static const double factors[] = {1, 1, 0x1p12, 0x1p-12, 0, 0, 0};
  enum { LEAST = 1, SMALL = 3, ONES = 5, SUBNORMAL = 6, SORTS = 7 };
  const bool small = ws_type_bytes(type) == 1;
  bool quiet = false;
  int drawn = 0;
  for (int64_t i = 0; i < count; i++) {
    if (i % RUN == 0)
      drawn = (int)ws_rng_below(&n->rng, SORTS);
    if (row && i % row == 0)
      quiet = is_quiet(seed, i / row);
    const int sort = !quiet ? drawn : small ? LEAST : SMALL;
    double value = sort == ONES        ? (ws_rng_next(&n->rng) >> 63 ? 1 : -1)
                   : sort == SUBNORMAL ? subnormal(type, &n->rng)
                   : small && sort < SMALL ? hard_small_float(type, n, sort)
                                           : next_normal(n) * factors[sort];
    ws__type_store(type, value, out, i);
  }
}

/* ---- integers ---- */

typedef struct range {
  int64_t low, high;
} range;

static range range_of(const ws_problem *problem, int arg, const ws_shape *shape,
                      int form) {
  const ws__argument *parts = &problem->parts->args[arg];
  ws_type type = problem->args[arg].type;
  bool is_signed =
      type == WS_I8 || type == WS_I16 || type == WS_I32 || type == WS_I64;
  int bits = ws_type_bytes(type) * 8;
  range r = {is_signed ? -1000 : 0, 1000};
  ws__sizes sizes;
  if (bits <= 16)
    r = is_signed ? (range){-(INT64_C(1) << (bits - 1)),
                            (INT64_C(1) << (bits - 1)) - 1}
                  : (range){0, (INT64_C(1) << bits) - 1};
  ws__sizes_of(problem, shape, form, &sizes);
  if (parts->low)
    (void)!ws_expr_eval(parts->low, &sizes.scope, &r.low, NULL);
  if (parts->high)
    (void)!ws_expr_eval(parts->high, &sizes.scope, &r.high, NULL);
  if (r.high < r.low)
    r.high = r.low;
  return r;
}

static int64_t draw(const range *r, ws_rng *rng) {
  const uint64_t count = (uint64_t)r->high - (uint64_t)r->low + 1;
  return (int64_t)((uint64_t)r->low + /* 0: every int64 */
                   (count ? ws_rng_below(rng, count) : ws_rng_next(rng)));
}

static void fill_integers(ws_type type, const range *r, bool hard, ws_rng *rng,
                          int64_t count, void *out) {
  int sort = 0;
  for (int64_t i = 0; i < count; i++) {
    if (hard && i % RUN == 0)
      sort = (int)ws_rng_below(rng, 4);
    int64_t value = sort == 1 ? r->low : sort == 2 ? r->high : draw(r, rng);
    if (sort == 3)
      value = ws_rng_next(rng) >> 63 ? r->low : r->high;
    ws__type_store(type, (double)value, out, i);
  }
}

/* The last extent of an argument that has several; else 0. */
static int64_t row_of(const ws_problem *problem, int arg, const ws_shape *shape,
                      int form) {
  const ws__argument *parts = &problem->parts->args[arg];
  ws__sizes sizes;
  if (parts->extent_count < 2)
    return 0;
  ws__sizes_of(problem, shape, form, &sizes);
  return ws__size_value(parts->extents[parts->extent_count - 1], &sizes);
}

void ws_problem_generate(const ws_problem *problem, int arg,
                         const ws_shape *shape, int form, uint64_t seed,
                         void *out_bytes) {
  if (problem->given->generate) {
    ws__trap_enter(problem, shape, ".generate");
    problem->given->generate(arg, shape->size, form, seed, out_bytes);
    ws__trap_leave();
    return;
  }
  ws_type type = ws_problem_arg_type(problem, arg, form);
  int64_t count = ws__arg_elements(problem, arg, shape, form);
  bool hard = seed & WS_HARD_INPUTS;
  normals n = {.wide = ws_type_bytes(type) > 2};
  ws_rng_init(&n.rng, seed * WS_PROBLEM_MAX_ARGS + (uint64_t)arg);
  pthread_once(&quantiles_once, fill_quantiles);
  if (ws__type_is_float(type)) {
    if (hard)
      fill_hard_floats(type, &n, seed, row_of(problem, arg, shape, form), count,
                       out_bytes);
    else
      fill_floats(type, &n, count, out_bytes);
    return;
  }
  range r = range_of(problem, arg, shape, form);
  fill_integers(type, &r, hard, &n.rng, count, out_bytes);
}
