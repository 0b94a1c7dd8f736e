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

typedef ws__planner planner;
typedef ws__pair_state pair_state;
typedef ws__row row;

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
  const ws_class *classes[WS_MAX_FACTORS];
  int64_t step = p->problem->step.size[dimension];
  int64_t low = step, high = INT64_MAX;
  int count = 0;
  uint64_t seen = 0;
  for (int f = 0; f < p->out->factor_count; f++)
    if (p->out->factors[f].dim == dimension) {
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

double ws__planner_bytes(const ws__planner *p, const ws_shape *shape,
                         int striding) {
  int form = ws_problem_form(p->problem, p->layout, striding);
  double sum = 0;
  for (int i = 0; i < p->problem->arg_count; i++)
    sum += (double)ws_problem_arg_bytes(p->problem, i, shape, form);
  return sum;
}

double ws__planner_flops(const planner *p, const ws_shape *shape) {
  ws_shape full = *shape;
  for (int d = 0; d < shape->dims->count; d++) {
    int64_t tile = p->tiles.extent[d];
    if (!p->problem->is_depth[d])
      full.size[d] = (shape->size[d] + tile - 1) / tile * tile;
  }
  return ws_problem_flops(p->problem, &full);
}

static bool is_taken(const planner *p, const ws_shape *shape) {
  return ws__coverage_takes(p->problem, p->candidate, shape);
}

static int striding_of(const planner *p, const row *r) {
  int strides = p->out->factor_count - 1;
  return (int)p->out->factors[strides].classes[r->classes[strides]].low;
}

static void remember(planner *p, const row *r) {
  if (p->known_count < WS__KNOWN_ROWS)
    p->known[p->known_count++] = *r;
  else
    p->known[below(p, WS__KNOWN_ROWS)] = *r;
}

/* Draws the extents of a full row. */
static bool make_legal(planner *p, row *r) {
  r->shape.dims = p->problem->dims;
  for (int d = 0; d < r->shape.dims->count; d++)
    if (!draw_extent(p, r, d, &r->shape.size[d]))
      return false;
  bool legal =
      ws__planner_flops(p, &r->shape) <= p->most_flops &&
      ws__planner_bytes(p, &r->shape, striding_of(p, r)) <= most_bytes &&
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
  for (int f = 0; f < p->out->factor_count; f++)
    for (int g = f + 1; g < p->out->factor_count; g++) {
      p->pair_begin[f][g] = count;
      count += p->out->factors[f].count * p->out->factors[g].count;
    }
  p->out->pairs = count;
  p->states = ws_arena_alloc(p->arena, sizeof *p->states * (size_t)count);
  memset(p->states, 0, sizeof *p->states * (size_t)count);
}

static int gain_of(const planner *p, const row *r) {
  int gain = 0;
  for (int f = 0; f < p->out->factor_count; f++)
    for (int g = f + 1; g < p->out->factor_count; g++)
      gain += *state_of(p, f, r->classes[f], g, r->classes[g]) == WS__PAIR_OPEN;
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
  for (int g = 0; g < p->out->factor_count; g++)
    if (g != factor && r->classes[g] >= 0)
      open += *state_of(p, factor, class, g, r->classes[g]) == WS__PAIR_OPEN;
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
  int order[WS_MAX_FACTORS];
  for (int f = 0; f < p->out->factor_count; f++)
    order[f] = f;
  shuffle(p, order, p->out->factor_count);
  for (int i = 0; i < p->out->factor_count; i++)
    if (r->classes[order[i]] < 0)
      r->classes[order[i]] = (int8_t)best_class(p, r, order[i]);
}

static void fill_blindly(planner *p, row *r) {
  for (int f = 0; f < p->out->factor_count; f++)
    if (r->classes[f] < 0)
      r->classes[f] = (int8_t)below(p, p->out->factors[f].count);
}

/* The first classes of a size are the small ones. */
static void fill_small(planner *p, row *r) {
  for (int f = 0; f < p->out->factor_count; f++) {
    const ws_factor *factor = &p->out->factors[f];
    bool is_size =
        factor->kind == WS_FACTOR_SIZE || factor->kind == WS_FACTOR_DEPTH;
    if (is_size && r->classes[f] < 0)
      r->classes[f] = (int8_t)below(p, factor->count > 1 ? 2 : 1);
  }
  fill_blindly(p, r);
}

static void fill_from_known(planner *p, row *r) {
  const row *from = &p->known[below(p, p->known_count)];
  for (int f = 0; f < p->out->factor_count; f++)
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
  return gain_of(p, r) / (overhead_flops + ws__planner_flops(p, &r->shape));
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
  row r = {.shape = {.dims = NULL}};
  memset(r.classes, -1, sizeof r.classes);
  return r;
}

static void drop_classes(planner *p) {
  for (int f = 0; f < p->out->factor_count; f++) {
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

ws_covered *ws__planner_add(ws__planner *p, const ws_shape *shape, int striding,
                            bool sampled) {
  ws_coverage *out = p->out;
  out->cases = p->cases = ws_arena_grow(
      p->arena, p->cases, sizeof *p->cases, out->count, &p->room);
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

void ws__planner_add_row(ws__planner *p, const ws__row *r) {
  ws_covered *item = ws__planner_add(p, &r->shape, striding_of(p, r),
                                     ws_problem_flops(p->problem, &r->shape) >
                                         most_compared_flops);
  memcpy(item->classes, r->classes, sizeof item->classes);
  for (int f = 0; f < p->out->factor_count; f++)
    for (int g = f + 1; g < p->out->factor_count; g++)
      *state_of(p, f, r->classes[f], g, r->classes[g]) = WS__PAIR_COVERED;
}

static void cover_pair(planner *p, int f, int a, int g, int b) {
  row fixed = free_row(), found;
  pair_state *state = state_of(p, f, a, g, b);
  fixed.classes[f] = (int8_t)a;
  fixed.classes[g] = (int8_t)b;
  if (*state != WS__PAIR_OPEN)
    return;
  if (find_row(p, &fixed, &found)) {
    ws__planner_add_row(p, &found);
    return;
  }
  *state = WS__PAIR_OUT_OF_REACH;
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
  bool done[WS_MAX_FACTORS][WS_MAX_FACTORS] = {{false}};
  for (;;) {
    int most = 0, best_f = 0, best_g = 0;
    for (int f = 0; f < p->out->factor_count; f++)
      for (int g = f + 1; g < p->out->factor_count; g++) {
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
  for (int d = 0; d < p->problem->dims->count; d++) {
    ws_shape shape = p->problem->least;
    int64_t step = p->problem->step.size[d];
    int64_t tiles = p->problem->is_depth[d] ? 0 : many_workgroups + 1;
    int64_t least = tiles * p->tiles.extent[d];
    least = least > far_extent ? least : far_extent;
    for (; least > near_extent; least /= 2) {
      shape.size[d] = (least / step + 1 + below(p, FAR_STEPS)) * step;
      if (ws__planner_flops(p, &shape) > most_far_flops ||
          ws__planner_bytes(p, &shape, 0) > most_far_bytes ||
          !is_taken(p, &shape))
        continue;
      ws__planner_add(p, &shape, 0, true);
      break;
    }
  }
}

/* Every residue of a modulus that has no classes, beyond the modulus; the other
 * extents are small. */
static void add_residues(planner *p, int dimension, int64_t modulus) {
  int64_t step = p->problem->step.size[dimension];
  for (int64_t residue = 0; residue < modulus; residue++)
    for (int attempt = 0; attempt < SMALL; attempt++) {
      ws_shape shape = p->problem->step;
      for (int d = 0; d < shape.dims->count; d++)
        shape.size[d] *= 1 + below(p, FAR_STEPS);
      shape.size[dimension] = (modulus * (1 + below(p, 2)) + residue) * step;
      if (ws__planner_flops(p, &shape) > p->most_flops || !is_taken(p, &shape))
        continue;
      ws__planner_add(p, &shape, 0,
                      ws_problem_flops(p->problem, &shape) >
                          most_compared_flops);
      break;
    }
}

static void add_moduli(planner *p, const ws_build_result *build) {
  for (int d = 0; d < p->problem->dims->count; d++) {
    int64_t moduli[WS__ALONE];
    int count = ws__coverage_alone(p->problem, build, p->out, d, moduli);
    for (int i = 0; i < count; i++)
      add_residues(p, d, moduli[i]);
  }
}

/* Enough for what is beyond all named extents, if only just. */
static double limit_of(const planner *p) {
  double most = most_flops;
  for (int f = 0; f < p->out->factor_count; f++) {
    const ws_factor *sizes = &p->out->factors[f];
    ws_shape shape = p->problem->least;
    for (int c = 0; c < sizes->count && sizes->kind == WS_FACTOR_SIZE; c++) {
      shape.size[sizes->dim] = sizes->classes[c].high;
      most = fmax(most, ws__planner_flops(p, &shape));
    }
  }
  return fmin(most, most_least_flops);
}

/* Each size meets extreme contents as well: of a class that has none, the last
 * of several cases. */
static void spread_hard(planner *p, int factor, int number) {
  ws_covered *last = NULL;
  int count = 0;
  for (int i = 0; i < p->out->count; i++) {
    ws_covered *item = &p->cases[i];
    if (item->classes[factor] != number || item->sampled)
      continue;
    if (item->seed & WS_HARD_INPUTS)
      return;
    last = item;
    count++;
  }
  if (count > 1)
    last->seed |= WS_HARD_INPUTS;
}

static bool has_classes(const ws_coverage *coverage) {
  for (int f = 0; f < coverage->factor_count; f++)
    if (!coverage->factors[f].count)
      return false;
  return true;
}

bool ws__planner_open(ws__planner *p, ws_arena *arena,
                      const ws_coverage_subject *subject, uint64_t seed,
                      double most_flops_each, ws_coverage *out) {
  row any = free_row(), found;
  *p = (planner){.arena = arena,
                 .problem = subject->problem,
                 .candidate = subject->candidate,
                 .layout = subject->layout,
                 .tiles =
                     ws__coverage_tiles(subject->problem, subject->candidate),
                 .out = out};
  *out = (ws_coverage){.seed = seed};
  ws_rng_init(&p->rng, seed);
  ws__coverage_classes(subject->problem, subject->layout, subject->candidate,
                       subject->build, &p->tiles, out);
  p->most_flops = most_flops_each > 0 ? most_flops_each : limit_of(p);
  if (!find_any(p, &any, FIRST, &found))
    return false;
  drop_classes(p);
  if (!has_classes(out))
    return false;
  make_pairs(p);
  return true;
}

bool ws__planner_find(ws__planner *p, int factor, int class, ws__row *out) {
  row fixed = free_row();
  fixed.classes[factor] = (int8_t) class;
  return find_row(p, &fixed, out);
}

void ws_coverage_plan(ws_arena *arena, const ws_problem *problem, int layout,
                      const ws_candidate *candidate,
                      const ws_build_result *build, uint64_t seed,
                      ws_coverage *out) {
  const ws_coverage_subject subject = {
      .problem = ws__coverage_problem(arena, problem, candidate),
      .layout = layout,
      .candidate = candidate,
      .build = build};
  planner p;
  if (!ws__planner_open(&p, arena, &subject, seed, 0, out))
    return;
  cover_all(&p);
  for (int f = 0; f < out->factor_count; f++)
    for (int c = 0;
         c < out->factors[f].count && out->factors[f].kind == WS_FACTOR_SIZE;
         c++)
      spread_hard(&p, f, c);
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
                        ? ws_problem_arg_bytes(problem, i, shape, layout)
                        : 0;
    largest = bytes > largest ? bytes : largest;
  }
  return largest;
}

/* So large that an offset needs more than 32 bits; nothing that is written is
 * that large, since every byte of it is watched. */
static const int64_t far_bytes = (INT64_C(1) << 32) + (INT64_C(1) << 28);
static const int64_t most_written = INT64_C(1) << 29;

static int64_t bytes_written(const ws_problem *problem, int layout,
                             const ws_shape *shape) {
  int64_t sum = 0;
  for (int i = 0; i < problem->output_count; i++)
    sum += ws_problem_arg_bytes(problem, problem->outputs[i], shape, layout);
  return sum;
}

/* As large along one dimension as is legal, less a few steps, or far. */
static void stretch(const ws_problem *problem, int layout, int dimension,
                    int64_t less, ws_shape *shape) {
  int64_t step = problem->step.size[dimension], steps = 1;
  do {
    steps *= 2;
    shape->size[dimension] = steps * step;
  } while (ws_problem_is_legal(problem, shape) &&
           largest_input(problem, layout, shape) < far_bytes);
  if (!ws_problem_is_legal(problem, shape))
    shape->size[dimension] = (steps / 2 - less) * step;
}

/* The dimension that is made longer where one alone does not suffice. */
static int other_dimension(const ws_problem *problem, int dimension) {
  for (int d = 0; d < problem->dims->count; d++)
    if (problem->is_depth[d] && d != dimension)
      return d;
  return dimension == problem->dims->count - 1 ? 0 : problem->dims->count - 1;
}

int ws_coverage_far(const ws_problem *problem, int layout,
                    const ws_candidate *candidate, uint64_t seed,
                    ws_run out_runs[WS_COVERAGE_FAR]) {
  enum { SPOTS = 3, ROOM = 8 };
  int count = 0, tried = 0;
  ws_rng rng;
  ws_rng_init(&rng, seed);
  for (int d = 0; d < problem->dims->count && tried < WS_COVERAGE_FAR; d++) {
    ws_run *run = &out_runs[count];
    int other = other_dimension(problem, d);
    if (problem->is_depth[d])
      continue;
    tried++;
    *run = (ws_run){.shape = problem->least,
                    .seed = ws_rng_next(&rng) >> 1,
                    .spots = SPOTS};
    stretch(problem, layout, d, (int64_t)ws_rng_below(&rng, ROOM), &run->shape);
    while (ws_problem_is_legal(problem, &run->shape) &&
           largest_input(problem, layout, &run->shape) < far_bytes)
      run->shape.size[other] += problem->step.size[other];
    count += ws_problem_is_legal(problem, &run->shape) &&
             bytes_written(problem, layout, &run->shape) <= most_written &&
             ws_candidate_broken_require(candidate, &run->shape, NULL) < 0;
  }
  return count;
}

const char *ws_coverage_text(ws_arena *arena, const ws_coverage *coverage,
                             int verified) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < coverage->factor_count; i++) {
    const ws_factor *f = &coverage->factors[i];
    const char *name = f->dim < 0 ? "strides"
                       : coverage->count
                           ? coverage->cases[0].shape.dims->names[f->dim]
                           : "a dimension";
    ws_strbuf_printf(&text, "%s%d",
                     i ? f->kind == WS_FACTOR_STRIDES ? " and " : ", " : "",
                     f->count);
    if (f->kind == WS_FACTOR_EDGE) /* with the size behind it */
      ws_strbuf_printf(&text, " x %d", coverage->factors[++i].count);
    ws_strbuf_printf(&text, " %sof %s", i < 2 ? "classes " : "", name);
  }
  const char *out = ws_arena_printf(
      arena,
      "%d of %d shapes: all pairs of %s but %d of %d that are out of reach",
      verified, coverage->count, text.data, coverage->out_of_reach,
      coverage->pairs);
  ws_strbuf_deinit(&text);
  return out;
}
