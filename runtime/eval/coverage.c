/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A covering array over classes of shapes: rows are drawn around a pair that is
 * not covered yet, filled up with whatever covers most besides, and kept where
 * they cover most for their work. A pair that no attempt makes legal and
 * affordable is out of reach, and counted as such.
 */
#include "coverage_internal.h"

#include <math.h>
#include <string.h>

enum {
  GREEDY = 10, /* attempts at a row: these, then */
  BLIND = 24,
  SMALL = 24,
  FIRST = 20000, /* attempts at the first row of all */
  SINGLE = 100,  /* attempts at a class */
  FAR_STEPS = 8, /* beside a far extent */
  KNOWN = 32,    /* rows that are known to be legal */
  HARD_EACH = 4  /* one case in so many has extreme contents */
};
/* Of one case, tiles taken for full: a simulator takes 0.1 ms for 10^6. */
static const double most_flops = 1.2e9, most_bytes = 6e7;
/* More where an extent alone is that large. */
static const double most_least_flops = 3e9;
/* Of a comparison of every element: 16 ms. */
static const double most_compared_flops = 1e8;
/* What a case costs beside its flops. */
static const double overhead_flops = 2e8;
/* Asked for once each way, for their own sake: more workgroups than most are
 * tried with, extents of more than 16 bits; as much of it as is affordable. */
static const int64_t many_workgroups = 4096, far_extent = 1 << 17;
static const int64_t near_extent = 1 << 10;
static const double most_far_flops = 3e10, most_far_bytes = 3e8;

typedef enum pair_state { OPEN, COVERED, OUT_OF_REACH } pair_state;

typedef struct row {
  int8_t classes[WS_FACTORS];
  ws_shape shape;
} row;

typedef struct planner {
  ws_arena *arena;
  const ws_problem *problem;
  const ws_candidate *candidate;
  int layout;
  ws__tiles tiles;
  double most_flops;
  ws_coverage *out;
  ws_rng rng;
  pair_state *states;
  int pair_begin[WS_FACTORS][WS_FACTORS];
  row known[KNOWN];
  int known_count;
  ws_covered *cases;
  int room;
} planner;

static int below(planner *p, int bound) {
  return (int)ws_rng_below(&p->rng, (uint64_t)bound);
}

/* ---- one shape of a row of classes ---- */

static bool is_in(const ws_class *class, int64_t extent) {
  return extent >= class->low && extent <= class->high &&
         extent % class->modulus == class->residue;
}

/* Uniformly from the extents that are in all classes of their dimension. */
static bool draw_extent(planner *p, const row *r, int dimension, int64_t *out) {
  const ws_class *classes[WS_FACTORS];
  int64_t step = ws__extent_of(&p->problem->step, dimension);
  int64_t low = step, high = INT64_MAX;
  int count = 0;
  uint64_t seen = 0;
  for (int f = 0; f < WS_FACTORS; f++)
    if (ws__dimension_of((ws_factor_id)f) == dimension) {
      const ws_class *class = &p->out->factors[f].classes[r->classes[f]];
      low = class->low > low ? class->low : low;
      high = class->high < high ? class->high : high;
      classes[count++] = class;
    }
  for (int64_t extent = (low + step - 1) / step * step; extent <= high;
       extent += step) {
    bool fits = true;
    for (int i = 0; i < count; i++)
      fits = fits && is_in(classes[i], extent);
    if (fits && !ws_rng_below(&p->rng, ++seen))
      *out = extent;
  }
  return seen > 0;
}

static double bytes_of(const planner *p, const ws_shape *shape, int striding) {
  int form = ws_problem_form(p->problem, p->layout, striding);
  double sum = 0;
  for (int i = 0; i < p->problem->arg_count; i++)
    sum += (double)p->problem->arg_bytes(i, shape, form);
  return sum;
}

static double flops_of(const planner *p, const ws_shape *shape) {
  ws_shape full = *shape;
  for (int d = 0; d < WS__EXTENTS - 1; d++) {
    int64_t tile = p->tiles.extent[d], extent = ws__extent_of(shape, d);
    ws__extent_set(&full, d, (extent + tile - 1) / tile * tile);
  }
  return p->problem->flops(&full);
}

static bool is_taken(const planner *p, const ws_shape *shape) {
  ws_diag ignored;
  return p->problem->check_shape(shape, &ignored) == WS_OK &&
         ws_candidate_broken_require(p->candidate, shape, NULL) < 0;
}

static int striding_of(const planner *p, const row *r) {
  int class = r->classes[WS_FACTOR_STRIDES];
  return (int)p->out->factors[WS_FACTOR_STRIDES].classes[class].low;
}

static void remember(planner *p, const row *r) {
  if (p->known_count < KNOWN)
    p->known[p->known_count++] = *r;
  else
    p->known[below(p, KNOWN)] = *r;
}

/* Draws the extents of a full row. */
static bool make_legal(planner *p, row *r) {
  for (int d = 0; d < WS__EXTENTS; d++) {
    int64_t extent = 0;
    if (!draw_extent(p, r, d, &extent))
      return false;
    ws__extent_set(&r->shape, d, extent);
  }
  bool legal = flops_of(p, &r->shape) <= p->most_flops &&
               bytes_of(p, &r->shape, striding_of(p, r)) <= most_bytes &&
               is_taken(p, &r->shape);
  if (legal)
    remember(p, r);
  return legal;
}

/* ---- pairs ---- */

static pair_state *state_of(const planner *p, int f, int a, int g, int b) {
  if (f > g)
    return state_of(p, g, b, f, a);
  return &p->states[p->pair_begin[f][g] + a * p->out->factors[g].count + b];
}

static void make_pairs(planner *p) {
  int count = 0;
  for (int f = 0; f < WS_FACTORS; f++)
    for (int g = f + 1; g < WS_FACTORS; g++) {
      p->pair_begin[f][g] = count;
      count += p->out->factors[f].count * p->out->factors[g].count;
    }
  p->out->pairs = count;
  p->states = ws_arena_alloc(p->arena, sizeof *p->states * (size_t)count);
  memset(p->states, 0, sizeof *p->states * (size_t)count);
}

static int gain_of(const planner *p, const row *r) {
  int gain = 0;
  for (int f = 0; f < WS_FACTORS; f++)
    for (int g = f + 1; g < WS_FACTORS; g++)
      gain += *state_of(p, f, r->classes[f], g, r->classes[g]) == OPEN;
  return gain;
}

/* ---- filling up a row: free places are -1 ---- */

static void shuffle(planner *p, int *items, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = below(p, i + 1), item = items[i];
    items[i] = items[j];
    items[j] = item;
  }
}

static int open_with(const planner *p, const row *r, int factor, int class) {
  int open = 0;
  for (int g = 0; g < WS_FACTORS; g++)
    if (g != factor && r->classes[g] >= 0)
      open += *state_of(p, factor, class, g, r->classes[g]) == OPEN;
  return open;
}

static int best_class(planner *p, const row *r, int factor) {
  int best = 0, best_open = -1, equals = 0;
  for (int c = 0; c < p->out->factors[factor].count; c++) {
    int open = open_with(p, r, factor, c);
    if (open > best_open) {
      best = c;
      best_open = open;
      equals = 1;
    } else if (open == best_open && !below(p, ++equals)) {
      best = c;
    }
  }
  return best;
}

static void fill_greedily(planner *p, row *r) {
  int order[WS_FACTORS];
  for (int f = 0; f < WS_FACTORS; f++)
    order[f] = f;
  shuffle(p, order, WS_FACTORS);
  for (int i = 0; i < WS_FACTORS; i++)
    if (r->classes[order[i]] < 0)
      r->classes[order[i]] = (int8_t)best_class(p, r, order[i]);
}

static void fill_blindly(planner *p, row *r) {
  for (int f = 0; f < WS_FACTORS; f++)
    if (r->classes[f] < 0)
      r->classes[f] = (int8_t)below(p, p->out->factors[f].count);
}

/* The first classes of a size are the small ones. */
static void fill_small(planner *p, row *r) {
  const ws_factor_id sizes[] = {WS_FACTOR_M_SIZE, WS_FACTOR_N_SIZE,
                                WS_FACTOR_K};
  for (int i = 0; i < 3; i++)
    if (r->classes[sizes[i]] < 0)
      r->classes[sizes[i]] =
          (int8_t)below(p, p->out->factors[sizes[i]].count > 1 ? 2 : 1);
  fill_blindly(p, r);
}

static void fill_from_known(planner *p, row *r) {
  const row *from = &p->known[below(p, p->known_count)];
  for (int f = 0; f < WS_FACTORS; f++)
    if (r->classes[f] < 0)
      r->classes[f] = from->classes[f];
}

/* Any legal row with what is fixed. */
static bool find_any(planner *p, const row *fixed, int attempts, row *out) {
  for (int i = 0; i < attempts; i++) {
    *out = *fixed;
    if (i % 3 == 0 && p->known_count)
      fill_from_known(p, out);
    else
      (i % 3 == 1 ? fill_small : fill_blindly)(p, out);
    if (make_legal(p, out))
      return true;
  }
  return false;
}

static double worth(const planner *p, const row *r) {
  return gain_of(p, r) / (overhead_flops + flops_of(p, &r->shape));
}

/* The best of a few greedy ones, else any. */
static bool find_row(planner *p, const row *fixed, row *out) {
  double best = 0;
  for (int i = 0; i < GREEDY; i++) {
    row tried = *fixed;
    fill_greedily(p, &tried);
    if (!make_legal(p, &tried) || worth(p, &tried) <= best)
      continue;
    best = worth(p, &tried);
    *out = tried;
  }
  return best > 0 || find_any(p, fixed, BLIND + SMALL, out);
}

/* ---- classes that the candidate takes ---- */

static row free_row(void) {
  row r = {.shape = {0, 0, 0}};
  memset(r.classes, -1, sizeof r.classes);
  return r;
}

static void drop_classes(planner *p) {
  for (int f = 0; f < WS_FACTORS; f++) {
    ws_factor *factor = &p->out->factors[f];
    bool taken[WS_MAX_CLASSES];
    int kept = 0;
    for (int c = 0; c < factor->count; c++) {
      row fixed = free_row(), found;
      fixed.classes[f] = (int8_t)c;
      taken[c] = find_any(p, &fixed, SINGLE, &found);
    }
    for (int c = 0; c < factor->count; c++)
      if (taken[c])
        factor->classes[kept++] = factor->classes[c];
    factor->count = kept;
    p->known_count = 0; /* their numbers have changed */
    row any = free_row(), found;
    if (!kept || !find_any(p, &any, FIRST, &found)) {
      factor->count = 0;
      return;
    }
  }
}

/* ---- the list ---- */

static ws_covered *add_case(planner *p, const ws_shape *shape, int striding,
                            bool sampled) {
  ws_coverage *out = p->out;
  if (out->count == p->room) {
    p->room = p->room ? 2 * p->room : 64;
    ws_covered *cases =
        ws_arena_alloc(p->arena, sizeof *cases * (size_t)p->room);
    if (out->count)
      memcpy(cases, p->cases, sizeof *cases * (size_t)out->count);
    out->cases = p->cases = cases;
  }
  ws_covered *item = &p->cases[out->count++];
  bool hard = !sampled && out->count % HARD_EACH == 0;
  *item = (ws_covered){.shape = *shape,
                       .striding = striding,
                       .sampled = sampled,
                       .seed = ws_rng_next(&p->rng) >> 1 |
                               (hard ? WS_HARD_INPUTS : 0)};
  memset(item->classes, -1, sizeof item->classes);
  return item;
}

static void add_row(planner *p, const row *r) {
  ws_covered *item =
      add_case(p, &r->shape, striding_of(p, r),
               p->problem->flops(&r->shape) > most_compared_flops);
  memcpy(item->classes, r->classes, sizeof item->classes);
  for (int f = 0; f < WS_FACTORS; f++)
    for (int g = f + 1; g < WS_FACTORS; g++)
      *state_of(p, f, r->classes[f], g, r->classes[g]) = COVERED;
}

static void cover_pair(planner *p, int f, int a, int g, int b) {
  row fixed = free_row(), found;
  pair_state *state = state_of(p, f, a, g, b);
  fixed.classes[f] = (int8_t)a;
  fixed.classes[g] = (int8_t)b;
  if (*state != OPEN)
    return;
  if (find_row(p, &fixed, &found)) {
    add_row(p, &found);
    return;
  }
  *state = OUT_OF_REACH;
  p->out->out_of_reach++;
}

static void cover_factors(planner *p, int f, int g) {
  const ws_factor *factors = p->out->factors;
  int columns = factors[g].count, count = factors[f].count * columns;
  int *order = ws_arena_alloc(p->arena, sizeof *order * (size_t)count);
  for (int i = 0; i < count; i++)
    order[i] = i;
  shuffle(p, order, count);
  for (int i = 0; i < count; i++)
    cover_pair(p, f, order[i] / columns, g, order[i] % columns);
}

/* The two factors with most pairs first: the others fit in with them. */
static void cover_all(planner *p) {
  bool done[WS_FACTORS][WS_FACTORS] = {{false}};
  for (;;) {
    int most = 0, best_f = 0, best_g = 0;
    for (int f = 0; f < WS_FACTORS; f++)
      for (int g = f + 1; g < WS_FACTORS; g++) {
        int count = p->out->factors[f].count * p->out->factors[g].count;
        if (!done[f][g] && count > most) {
          most = count;
          best_f = f;
          best_g = g;
        }
      }
    if (!most)
      return;
    done[best_f][best_g] = true;
    cover_factors(p, best_f, best_g);
  }
}

/* Each extent alone as far as is affordable: beyond the bits that an index may
 * have been given, in more workgroups, or steps of a persistent one, than
 * kernels are tried with. */
static void add_far_extents(planner *p) {
  for (int d = 0; d < WS__EXTENTS; d++) {
    ws_shape shape = p->problem->step;
    int64_t step = ws__extent_of(&shape, d);
    int64_t tiles = d < WS__EXTENTS - 1 ? many_workgroups + 1 : 0;
    int64_t least = tiles * p->tiles.extent[d];
    least = least > far_extent ? least : far_extent;
    for (; least > near_extent; least /= 2) {
      ws__extent_set(&shape, d,
                     (least / step + 1 + below(p, FAR_STEPS)) * step);
      if (flops_of(p, &shape) > most_far_flops ||
          bytes_of(p, &shape, 0) > most_far_bytes || !is_taken(p, &shape))
        continue;
      add_case(p, &shape, 0, true);
      break;
    }
  }
}

/* Every residue of a modulus that has no classes, beyond the modulus; the other
 * extents are small. */
static void add_residues(planner *p, int dimension, int64_t modulus) {
  int64_t step = ws__extent_of(&p->problem->step, dimension);
  for (int64_t residue = 0; residue < modulus; residue++)
    for (int attempt = 0; attempt < SMALL; attempt++) {
      ws_shape shape;
      for (int d = 0; d < WS__EXTENTS; d++)
        ws__extent_set(&shape, d,
                       ws__extent_of(&p->problem->step, d) *
                           (1 + below(p, FAR_STEPS)));
      ws__extent_set(&shape, dimension,
                     (modulus * (1 + below(p, 2)) + residue) * step);
      if (flops_of(p, &shape) > p->most_flops || !is_taken(p, &shape))
        continue;
      add_case(p, &shape, 0, p->problem->flops(&shape) > most_compared_flops);
      break;
    }
}

static void add_moduli(planner *p, const ws_build_result *build) {
  for (int d = 0; d < WS__EXTENTS; d++) {
    int64_t moduli[WS__ALONE];
    int count =
        ws__coverage_alone(p->problem, build, p->out->factors, d, moduli);
    for (int i = 0; i < count; i++)
      add_residues(p, d, moduli[i]);
  }
}

/* Enough for what is beyond all named extents, if only just. */
static double limit_of(const planner *p) {
  double most = most_flops;
  for (int d = 0; d < WS__EXTENTS - 1; d++) {
    const ws_factor *sizes =
        &p->out->factors[d ? WS_FACTOR_N_SIZE : WS_FACTOR_M_SIZE];
    ws_shape shape = p->problem->step;
    for (int c = 0; c < sizes->count; c++) {
      ws__extent_set(&shape, d, sizes->classes[c].high);
      most = fmax(most, flops_of(p, &shape));
    }
  }
  return fmin(most, most_least_flops);
}

void ws_coverage_plan(ws_arena *arena, const ws_problem *problem, int layout,
                      const ws_candidate *candidate,
                      const ws_build_result *build, uint64_t seed,
                      ws_coverage *out) {
  planner p = {.arena = arena,
               .problem = problem,
               .candidate = candidate,
               .layout = layout,
               .tiles = ws__coverage_tiles(problem, candidate),
               .out = out};
  row any = free_row(), found;
  *out = (ws_coverage){.seed = seed};
  ws_rng_init(&p.rng, seed);
  ws__coverage_classes(problem, layout, candidate, build, &p.tiles,
                       out->factors);
  p.most_flops = limit_of(&p);
  if (!find_any(&p, &any, FIRST, &found))
    return;
  drop_classes(&p);
  for (int f = 0; f < WS_FACTORS; f++)
    if (!out->factors[f].count)
      return;
  make_pairs(&p);
  cover_all(&p);
  add_far_extents(&p);
  add_moduli(&p, build);
}

static ws_status workload_of(const ws_coverage_subject *subject,
                             ws_arena *arena, const ws_covered *one,
                             ws_workload *out, ws_diag *diag) {
  WS_TRY(ws_workload_of(
      arena, subject->problem,
      ws_problem_form(subject->problem, subject->layout, one->striding),
      subject->candidate, subject->build, &one->shape, subject->cu_count, out,
      diag));
  out->seed = one->seed;
  out->sampled = one->sampled;
  out->once = true;
  return WS_OK;
}

ws_status ws_coverage_request(ws_arena *arena,
                              const ws_coverage_subject *subject,
                              const ws_covered *cases, int count,
                              ws_measure_request *out, ws_diag *diag) {
  ws_workload *workloads =
      ws_arena_alloc(arena, sizeof *workloads * (size_t)count);
  for (int i = 0; i < count; i++)
    WS_TRY(workload_of(subject, arena, &cases[i], &workloads[i], diag));
  *out =
      (ws_measure_request){.op = WS_MEASURE_VERIFY,
                           .code_object = subject->build->code_object,
                           .code_object_size = subject->build->code_object_size,
                           .workloads = workloads,
                           .workload_count = count,
                           .settings = ws_measure_settings_default};
  return WS_OK;
}

ws_status ws_coverage_requests(ws_arena *arena,
                               const ws_coverage_subject *subject,
                               const ws_coverage *coverage,
                               ws_measure_request *out_requests, int *out_count,
                               ws_diag *diag) {
  *out_count = 0;
  for (int i = 0; i < coverage->count; i += WS_COVERAGE_BATCH) {
    int left = coverage->count - i;
    WS_TRY(
        ws_coverage_request(arena, subject, &coverage->cases[i],
                            left < WS_COVERAGE_BATCH ? left : WS_COVERAGE_BATCH,
                            &out_requests[(*out_count)++], diag));
  }
  return WS_OK;
}

/* ---- offsets of more than 32 bits ---- */

static int64_t largest_input(const ws_problem *problem, int layout,
                             const ws_shape *shape) {
  int64_t largest = 0;
  for (int i = 0; i < problem->arg_count; i++) {
    int64_t bytes = problem->args[i].role == WS_ARG_INPUT
                        ? problem->arg_bytes(i, shape, layout)
                        : 0;
    largest = bytes > largest ? bytes : largest;
  }
  return largest;
}

/* As large along one dimension as is legal, less a few steps. */
static void stretch(const ws_problem *problem, int dimension, int64_t less,
                    ws_shape *shape) {
  ws_diag ignored;
  int64_t step = ws__extent_of(&problem->step, dimension), steps = 1;
  do {
    steps *= 2;
    ws__extent_set(shape, dimension, steps * step);
  } while (problem->check_shape(shape, &ignored) == WS_OK);
  ws__extent_set(shape, dimension, (steps / 2 - less) * step);
}

int ws_coverage_far(const ws_problem *problem, int layout,
                    const ws_candidate *candidate, uint64_t seed,
                    ws_run out_runs[WS_COVERAGE_FAR]) {
  enum { SPOTS = 3, ROOM = 8 };
  const int64_t far_bytes = (INT64_C(1) << 32) + (INT64_C(1) << 28);
  int count = 0;
  ws_rng rng;
  ws_rng_init(&rng, seed);
  for (int d = 0; d < WS_COVERAGE_FAR; d++) {
    ws_run *run = &out_runs[count];
    *run = (ws_run){
        .shape = problem->step, .seed = ws_rng_next(&rng) >> 1, .spots = SPOTS};
    stretch(problem, d, (int64_t)ws_rng_below(&rng, ROOM), &run->shape);
    while (largest_input(problem, layout, &run->shape) < far_bytes)
      run->shape.k += problem->step.k;
    ws_diag ignored;
    count += problem->check_shape(&run->shape, &ignored) == WS_OK &&
             ws_candidate_broken_require(candidate, &run->shape, NULL) < 0;
  }
  return count;
}

const char *ws_coverage_text(ws_arena *arena, const ws_coverage *coverage,
                             int verified) {
  const ws_factor *f = coverage->factors;
  return ws_arena_printf(
      arena,
      "%d of %d shapes: all pairs of %d x %d classes of m, %d x %d of n, %d "
      "of k and %d of strides but %d of %d that are out of reach",
      verified, coverage->count, f[WS_FACTOR_M_EDGE].count,
      f[WS_FACTOR_M_SIZE].count, f[WS_FACTOR_N_EDGE].count,
      f[WS_FACTOR_N_SIZE].count, f[WS_FACTOR_K].count,
      f[WS_FACTOR_STRIDES].count, coverage->out_of_reach, coverage->pairs);
}
