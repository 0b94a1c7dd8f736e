/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ln (us / roofline us) is its mean plus a Gaussian process over a point x and
 * a shape s, with the covariance
 *   exp(-distance of s and t) * (common + (1 - common) exp(-distance of x, y)):
 * what all points have in common on a shape, and what is a point's own, both
 * the more alike the nearer the shapes are. Distances are sums of reach *
 * distance over dimensions; of sizes in doublings. Each reach is the most
 * likely of a few.
 *
 * Times are many and a fit's work grows with the cube of their number. So each
 * fit is about one shape, and of the times on the shapes nearest to it alone.
 * Points on their way stand behind: they lower the doubt and add no time.
 */
#include "transfer.h"
#include "choices.h"
#include "cholesky.h"

#include <math.h>
#include <string.h>

enum {
  MOST_KNOWN = 192,
  MOST_EXPECTED = 48,
  MOST_OF_A_SHAPE = 48, /* the latest */
  REACH_POINTS = 96,    /* that reaches are learned from */
  REACH_ROUNDS = 2,
  MOST_REACHES = WS__MOST_CHOICES + WS_MAX_DIMS
};
static const double reaches[] = {0.03, 0.1, 0.3, 0.6, 1, 2};
static const double usual_reach = 0.5, reach_spread = 2; /* prior, of ln */
static const double common = 0.5, noise = 0.01;          /* of the variance */
static const double size_scale = 0.5;                    /* of a doubling */

typedef struct point {
  const ws_template *tmpl;
  char id[33];
  double choices[WS__MOST_CHOICES];
  bool *asked; /* by shape */
  bool *timed; /* likewise: or failed */
} point;

typedef struct entry { /* one time */
  int point;
  double excess; /* ln (us / roofline us); INFINITY: it failed */
} entry;

typedef struct entries {
  entry *items;
  int count, capacity;
} entries;

typedef struct used { /* a row of the fit */
  int point, shape;
  double excess;
} used;

struct ws__transfer {
  ws_arena *arena;
  const ws__ground *ground;
  point **points;
  int count, capacity;
  entries *by_shape;
  int times;       /* of all shapes */
  int64_t changes; /* whatever a fit follows from */
  /* reaches: of the choices, then of the sizes */
  const ws_template *tmpl;
  double reach[MOST_REACHES];
  int learned_from; /* times when reaches were learned last */
  /* the fit */
  int target;
  int64_t fitted;      /* changes when it was made, and 1 */
  int choices, *order; /* shapes, the nearest to the target first */
  used rows[MOST_KNOWN + MOST_EXPECTED];
  int known, row_count;
  ws__cholesky factor;
  double solved[MOST_KNOWN + MOST_EXPECTED], weights[MOST_KNOWN];
  double mean, deviation;
};

bool ws__sample_has(const ws__sample *sample, int shape) {
  for (int i = 0; sample && i < sample->count; i++)
    if (sample->shapes[i] == shape)
      return true;
  return !sample;
}

ws__transfer *ws__transfer_create(ws_arena *arena, const ws__ground *ground) {
  const size_t shapes = (size_t)ground->count;
  ws__transfer *t = ws_arena_alloc(arena, sizeof *t);
  *t = (ws__transfer){
      .arena = arena,
      .ground = ground,
      .by_shape = ws_arena_alloc(arena, sizeof *t->by_shape * shapes),
      .order = ws_arena_alloc(arena, sizeof *t->order * shapes),
      .factor = ws__cholesky_create(arena, MOST_KNOWN + MOST_EXPECTED)};
  return t;
}

/* ---- points and times ---- */
/* -1: none. */
static int find(const ws__transfer *t, const char *id) {
  for (int i = t->count - 1; i >= 0; i--)
    if (!strcmp(t->points[i]->id, id))
      return i;
  return -1;
}

static int add_point(ws__transfer *t, const ws__space *space,
                     const ws_candidate *candidate) {
  const size_t shapes = (size_t)t->ground->count;
  int index = find(t, candidate->id.hex);
  if (index >= 0)
    return index;
  point *added = ws_arena_alloc(t->arena, sizeof *added);
  added->tmpl = space->tmpl;
  memcpy(added->id, candidate->id.hex, sizeof added->id);
  ws__choices_of(space, candidate, added->choices);
  added->asked = ws_arena_alloc(t->arena, shapes * sizeof *added->asked);
  added->timed = ws_arena_alloc(t->arena, shapes * sizeof *added->timed);
  t->points =
      ws_arena_grow(t->arena, t->points, sizeof(point *), t->count, &t->capacity);
  t->points[t->count] = added;
  return t->count++;
}

void ws__transfer_expect(ws__transfer *t, const ws__space *space,
                         const ws_candidate *candidate,
                         const ws__sample *sample) {
  const int index = add_point(t, space, candidate);
  const point *p = t->points[index];
  t->changes++;
  for (int s = 0; s < t->ground->count; s++)
    p->asked[s] = p->asked[s] || ws__sample_has(sample, s);
}

static void add_time(ws__transfer *t, int index, int shape, double us) {
  entries *of = &t->by_shape[shape];
  of->items = ws_arena_grow(t->arena, of->items, sizeof *of->items, of->count,
                        &of->capacity);
  of->items[of->count++] = (entry){
      index, isfinite(us) ? log(us / t->ground->limit_us[shape]) : INFINITY};
  t->points[index]->timed[shape] = true;
  t->times++;
}

void ws__transfer_learn(ws__transfer *t, const ws__space *space,
                        const ws_candidate *candidate, const char *id,
                        const ws__sample *sample, const double *us) {
  const int index = candidate ? add_point(t, space, candidate) : find(t, id);
  if (index < 0)
    return;
  const point *p = t->points[index];
  t->changes++;
  for (int s = 0; s < t->ground->count; s++) {
    const bool told = us ? isfinite(us[s]) != 0 : ws__sample_has(sample, s);
    if (told && !p->timed[s])
      add_time(t, index, s, us ? us[s] : INFINITY);
    /* where a race was lost nothing is on its way any more */
    p->asked[s] = p->timed[s] || (p->asked[s] && !ws__sample_has(sample, s));
  }
}

bool ws__transfer_knows(const ws__transfer *t, const char *id, int shape) {
  const int index = find(t, id);
  return index >= 0 && t->points[index]->asked[shape];
}

/* ---- the fit ---- */
static double covariance(const ws__transfer *t, int shape, const double *x,
                         int other_shape, const double *y) {
  const ws__ground *g = t->ground;
  double apart = 0;
  for (int d = 0; d < g->dims; d++)
    apart +=
        t->reach[t->choices + d] * size_scale *
        fabs(g->at[shape * g->dims + d] - g->at[other_shape * g->dims + d]);
  return exp(-apart) *
         (common + (1 - common) *
                       exp(-ws__choices_distance(t->reach, x, y, t->choices)));
}

static void use(ws__transfer *t, int index, int shape, double excess) {
  t->rows[t->row_count++] = (used){index, shape, excess};
}

/* The latest on the nearest shapes. */
static void use_known(ws__transfer *t, const ws_template *tmpl) {
  for (int i = 0; i < t->ground->count; i++) {
    const entries *of = &t->by_shape[t->order[i]];
    int taken = 0;
    for (int e = of->count - 1; e >= 0 && taken < MOST_OF_A_SHAPE; e--) {
      if (t->row_count == MOST_KNOWN)
        return;
      if (t->points[of->items[e].point]->tmpl != tmpl)
        continue;
      use(t, of->items[e].point, t->order[i], of->items[e].excess);
      taken++;
    }
  }
}

/* The latest points are those on their way. */
static void use_expected(ws__transfer *t, const ws_template *tmpl) {
  const int most = t->row_count + MOST_EXPECTED;
  for (int i = 0; i < t->ground->count; i++)
    for (int p = t->count - 1; p >= 0 && p >= t->count - 4 * MOST_EXPECTED;
         p--) {
      const point *it = t->points[p];
      if (t->row_count == most)
        return;
      if (it->tmpl == tmpl && it->asked[t->order[i]] && !it->timed[t->order[i]])
        use(t, p, t->order[i], 0);
    }
}

/* What failed counts as slow as the slowest. */
static void standardise(ws__transfer *t) {
  double slowest = -INFINITY, sum = 0, squares = 0;
  for (int i = 0; i < t->known; i++)
    if (isfinite(t->rows[i].excess))
      slowest = fmax(slowest, t->rows[i].excess);
  for (int i = 0; i < t->known; i++) {
    if (!isfinite(t->rows[i].excess))
      t->rows[i].excess = isfinite(slowest) ? slowest : 0;
    sum += t->rows[i].excess;
  }
  t->mean = t->known ? sum / t->known : 0;
  for (int i = 0; i < t->known; i++)
    squares += (t->rows[i].excess - t->mean) * (t->rows[i].excess - t->mean);
  t->deviation = fmax(t->known ? sqrt(squares / t->known) : 0, 0.01);
}

static void factorise(ws__transfer *t, int count) {
  for (int i = 0; i < count; i++) {
    const used *a = &t->rows[i];
    for (int j = 0; j < i; j++)
      t->solved[j] =
          covariance(t, a->shape, t->points[a->point]->choices,
                     t->rows[j].shape, t->points[t->rows[j].point]->choices);
    ws__cholesky_set_row(&t->factor, i, t->solved, 1 + noise);
  }
}

static void solve_weights(ws__transfer *t, int count) {
  for (int i = 0; i < count; i++)
    t->weights[i] = (t->rows[i].excess - t->mean) / t->deviation;
  ws__cholesky_solve(&t->factor, t->weights, count);
}

/* ---- reaches ---- */
static double likelihood(ws__transfer *t) {
  const int count = t->known < REACH_POINTS ? t->known : REACH_POINTS;
  double squares = 1e-9, log_factor = 0;
  factorise(t, count);
  solve_weights(t, count);
  for (int i = 0; i < count; i++) {
    log_factor += log(t->factor.columns[i][i]);
    squares += t->weights[i] * t->weights[i];
  }
  double sum = -0.5 * count * log(squares / count) - log_factor;
  for (int i = 0; i < t->choices + t->ground->dims; i++) {
    const double off = log(t->reach[i] / usual_reach) / reach_spread;
    sum -= 0.5 * off * off;
  }
  return sum;
}

/* One after the other, the others as they are. */
static void learn_reaches(ws__transfer *t) {
  double best = likelihood(t);
  for (int round = 0; round < REACH_ROUNDS; round++)
    for (int i = 0; i < t->choices + t->ground->dims; i++) {
      double kept = t->reach[i];
      for (size_t r = 0; r < sizeof reaches / sizeof reaches[0]; r++) {
        t->reach[i] = reaches[r];
        const double now = likelihood(t);
        if (now > best + 1e-9 * fabs(best)) {
          best = now;
          kept = reaches[r];
        }
      }
      t->reach[i] = kept;
    }
  t->learned_from = t->times;
}

static void forget_reaches(ws__transfer *t, const ws__space *space) {
  t->tmpl = space->tmpl;
  t->choices = ws__choices_count(space);
  t->learned_from = 0;
  for (int i = 0; i < MOST_REACHES; i++)
    t->reach[i] = usual_reach;
}

/* Each time there is an eighth more to learn from. */
static bool is_worth_learning(const ws__transfer *t) {
  return t->known >= REACH_POINTS / 2 &&
         t->times > t->learned_from + t->learned_from / 8;
}

void ws__transfer_fit(ws__transfer *t, const ws__space *space, int target) {
  if (t->tmpl == space->tmpl && t->target == target &&
      t->fitted == t->changes + 1)
    return;
  if (t->tmpl != space->tmpl)
    forget_reaches(t, space);
  t->target = target;
  t->fitted = t->changes + 1;
  ws__ground_nearest(t->ground, target, t->ground->count, t->order);
  t->row_count = 0;
  use_known(t, space->tmpl);
  t->known = t->row_count;
  standardise(t);
  if (is_worth_learning(t))
    learn_reaches(t);
  use_expected(t, space->tmpl);
  factorise(t, t->row_count);
  solve_weights(t, t->known);
}

/* ---- questions ---- */
const int *ws__transfer_order(const ws__transfer *t) { return t->order; }

ws__belief ws__transfer_believe(ws__transfer *t, const ws__space *space,
                                const ws_candidate *candidate, int shape) {
  double choices[WS__MOST_CHOICES], sum = 0, left = 1;
  ws__choices_of(space, candidate, choices);
  for (int i = 0; i < t->row_count; i++)
    t->solved[i] = covariance(t, shape, choices, t->rows[i].shape,
                              t->points[t->rows[i].point]->choices);
  ws__cholesky_solve(&t->factor, t->solved, t->row_count);
  for (int i = 0; i < t->row_count; i++) {
    sum += i < t->known ? t->solved[i] * t->weights[i] : 0;
    left -= t->solved[i] * t->solved[i];
  }
  return (ws__belief){
      .log_us = log(t->ground->limit_us[shape]) + t->mean + t->deviation * sum,
      .deviation = t->known ? t->deviation * (sqrt(fmax(left, 0)) + 1e-9) : -1};
}

double ws__belief_gain(const ws__belief *belief, double best_us) {
  const double ahead = log(best_us) - belief->log_us;
  const double z = ahead / belief->deviation;
  const double density = exp(-0.5 * z * z) / sqrt(2 * M_PI);
  return belief->deviation * (z * 0.5 * erfc(-z / M_SQRT2) + density);
}
