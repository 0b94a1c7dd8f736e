/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The surrogate: ln us of a shape is its mean plus a Gaussian process over the
 * choices with the covariance
 *   k(x, y) = exp(-sum over choices of reach * distance of x and y there)
 * times the shape's variance, plus noise; the distance of two values of a
 * parameter is that of their places in its list, from 0 to 1, that of two
 * bodies 0 or 1. A choice of small reach hardly matters; each reach is the most
 * likely of a few, given the results, all shapes together. A shape that a
 * candidate failed on counts as slow as the slowest seen there. One Cholesky
 * factor serves all shapes. Points on their way stand behind the known ones in
 * it: they lower the doubt around them and add no time.
 */
#include "surrogate.h"
#include "choices.h"
#include "cholesky.h"
#include "strategy.h"

#include <math.h>
#include <string.h>

enum {
  /* Known points of one fit: the work grows with their square. Between rounds
   * there is time for more. */
  MOST_KNOWN = 160,
  MOST_KNOWN_IN_ROUNDS = 400,
  LEAST_KNOWN = 4,   /* results before reaches are learned */
  REACH_POINTS = 64, /* latest results that they are learned from */
  REACH_POINTS_IN_ROUNDS = 160,
  REACH_ROUNDS = 2
};
static const double reaches[] = {0.03, 0.1, 0.3, 0.6, 1, 2};
static const double usual_reach = 0.5, reach_spread = 2; /* prior, of ln */
static const double noise = 0.01;                        /* of the variance */

typedef struct item {
  const ws_template *tmpl;
  char id[33];
  double *choices; /* by dimension of its space, then by region */
  double *log_us;  /* by shape; NULL: on its way; INFINITY: failed */
} item;

struct ws__surrogate {
  ws_arena *arena;
  int shape_count;
  const ws_template *tmpl; /* of the reaches */
  double reach[WS__MOST_CHOICES];
  int learned_from; /* results when reaches were learned last */
  item *items;
  int count, capacity;
  int results; /* of items */
  /* the fit */
  int most_known, most_points, reach_points;
  int *used; /* known ones first */
  int known, used_count;
  int *factored; /* points of the factor's rows */
  int factored_count;
  ws__cholesky factor;
  double *solved;  /* of the point that is asked about */
  double *weights; /* [shape][known]: factor^-1 of the standardised ln us */
  double *mean, *deviation, *best; /* by shape */
};

ws__surrogate *ws__surrogate_create(ws_arena *arena, int shape_count,
                                    int round) {
  size_t shapes = (size_t)shape_count;
  ws__surrogate *s = ws_arena_alloc(arena, sizeof *s);
  s->arena = arena;
  s->shape_count = shape_count;
  s->most_known = round ? MOST_KNOWN_IN_ROUNDS : MOST_KNOWN;
  s->most_points = s->most_known + (round > WS__WINDOW ? round : WS__WINDOW);
  s->reach_points = round ? REACH_POINTS_IN_ROUNDS : REACH_POINTS;
  size_t points = (size_t)s->most_points;
  s->used = ws_arena_alloc(arena, sizeof *s->used * points);
  s->factored = ws_arena_alloc(arena, sizeof *s->factored * points);
  s->solved = ws_arena_alloc(arena, sizeof *s->solved * points);
  s->factor = ws__cholesky_create(arena, s->most_points);
  s->weights = ws_arena_alloc(arena, sizeof(double) * shapes * points);
  s->mean = ws_arena_alloc(arena, sizeof(double) * shapes);
  s->deviation = ws_arena_alloc(arena, sizeof(double) * shapes);
  s->best = ws_arena_alloc(arena, sizeof(double) * shapes);
  return s;
}

/* ---- points ---- */
static double covariance(const ws__surrogate *s, const double *a,
                         const double *b, int choices) {
  return exp(-ws__choices_distance(s->reach, a, b, choices));
}

static item *find(ws__surrogate *s, const char *id) {
  for (int i = s->count - 1; i >= 0; i--)
    if (!strcmp(s->items[i].id, id))
      return &s->items[i];
  return NULL;
}

void ws__surrogate_expect(ws__surrogate *s, const ws__space *space,
                          const ws_candidate *candidate) {
  if (find(s, candidate->id.hex))
    return;
  s->items = ws_arena_grow(s->arena, s->items, sizeof *s->items, s->count,
                           &s->capacity);
  item *added = &s->items[s->count++];
  double choices[WS__MOST_CHOICES];
  size_t size =
      sizeof *choices * (size_t)ws__choices_of(space, candidate, choices);
  added->tmpl = space->tmpl;
  memcpy(added->id, candidate->id.hex, sizeof added->id);
  added->choices = ws_arena_alloc(s->arena, size);
  memcpy(added->choices, choices, size);
}

void ws__surrogate_learn(ws__surrogate *s, const ws__space *space,
                         const ws_candidate *candidate, const char *id,
                         const double *us) {
  if (candidate)
    ws__surrogate_expect(s, space, candidate);
  item *known = find(s, id);
  if (!known)
    return;
  s->results += !known->log_us;
  known->log_us =
      ws_arena_alloc(s->arena, sizeof(double) * (size_t)s->shape_count);
  for (int i = 0; i < s->shape_count; i++)
    known->log_us[i] = us && us[i] > 0 ? log(us[i]) : INFINITY;
}

/* ---- the fit ---- */
static bool is_known(const item *i) { return i->log_us != NULL; }

static void use(ws__surrogate *s, int index) {
  for (int i = 0; i < s->used_count; i++)
    if (s->used[i] == index)
      return;
  s->used[s->used_count++] = index;
}

static int fastest(const ws__surrogate *s, const ws_template *tmpl, int shape) {
  int best = -1;
  for (int i = 0; i < s->count; i++)
    if (s->items[i].tmpl == tmpl && is_known(&s->items[i]) &&
        (best < 0 || s->items[i].log_us[shape] < s->items[best].log_us[shape]))
      best = i;
  return best;
}

/* Adds the latest points that are known, while there is room. */
static void use_latest(ws__surrogate *s, const ws_template *tmpl) {
  for (int i = s->count - 1; i >= 0 && s->used_count < s->most_known; i--)
    if (s->items[i].tmpl == tmpl && is_known(&s->items[i]))
      use(s, i);
}

/* In their order, so that one more leaves the rows of the others as they are.
 */
static void use_expected(ws__surrogate *s, const ws_template *tmpl) {
  for (int i = 0; i < s->count && s->used_count < s->most_points; i++)
    if (s->items[i].tmpl == tmpl && !is_known(&s->items[i]))
      use(s, i);
}

/* The fastest of each shape and the latest; then those on their way. */
static void choose_points(ws__surrogate *s, const ws_template *tmpl) {
  s->used_count = 0;
  for (int shape = 0; shape < s->shape_count; shape++) {
    int best = fastest(s, tmpl, shape);
    if (best >= 0 && s->used_count < s->most_known)
      use(s, best);
  }
  use_latest(s, tmpl);
  s->known = s->used_count;
  use_expected(s, tmpl);
}

static void factorise(ws__surrogate *s, int choices, int begin, int count) {
  double *row = s->solved;
  for (int i = begin; i < count; i++) {
    for (int j = 0; j < i; j++)
      row[j] = covariance(s, s->items[s->used[i]].choices,
                          s->items[s->used[j]].choices, choices);
    ws__cholesky_set_row(&s->factor, i, row, 1 + noise);
  }
}

/* Only the rows that are new since the last fit. */
static void factorise_new(ws__surrogate *s, int choices) {
  int same = 0;
  while (same < s->factored_count && same < s->used_count &&
         s->factored[same] == s->used[same])
    same++;
  factorise(s, choices, same, s->used_count);
  memcpy(s->factored, s->used, sizeof *s->used * (size_t)s->used_count);
  s->factored_count = s->used_count;
}

static void standardise(ws__surrogate *s, int shape) {
  double slowest = -INFINITY, sum = 0, squares = 0;
  double *y = &s->weights[shape * s->most_points];
  s->best[shape] = INFINITY;
  for (int i = 0; i < s->known; i++) {
    y[i] = s->items[s->used[i]].log_us[shape];
    if (isfinite(y[i]))
      slowest = fmax(slowest, y[i]);
    s->best[shape] = fmin(s->best[shape], y[i]);
  }
  for (int i = 0; i < s->known; i++) {
    y[i] = isfinite(y[i]) ? y[i] : isfinite(slowest) ? slowest : 0;
    sum += y[i];
  }
  s->mean[shape] = s->known ? sum / s->known : 0;
  for (int i = 0; i < s->known; i++)
    squares += (y[i] - s->mean[shape]) * (y[i] - s->mean[shape]);
  s->deviation[shape] = fmax(s->known ? sqrt(squares / s->known) : 0, 1e-6);
  for (int i = 0; i < s->known; i++)
    y[i] = (y[i] - s->mean[shape]) / s->deviation[shape];
}

/* Of the point that was asked about. */
static double predict(const ws__surrogate *s, int shape) {
  double sum = 0;
  for (int i = 0; i < s->known; i++)
    sum += s->solved[i] * s->weights[shape * s->most_points + i];
  return s->mean[shape] + s->deviation[shape] * sum;
}

/* Returns the variance left, of 1. */
static double ask(ws__surrogate *s, const double *choices, int count) {
  double left = 1;
  for (int i = 0; i < s->used_count; i++)
    s->solved[i] = covariance(s, choices, s->items[s->used[i]].choices, count);
  ws__cholesky_solve(&s->factor, s->solved, s->used_count);
  for (int i = 0; i < s->used_count; i++)
    left -= s->solved[i] * s->solved[i];
  return fmax(left, 0);
}

/* ---- reaches ---- */
/* ln of the likelihood of the latest results, the variance of each shape being
 * the most likely, times the prior. */
static double likelihood(ws__surrogate *s, int choices) {
  int count = s->known < s->reach_points ? s->known : s->reach_points;
  double solved[REACH_POINTS_IN_ROUNDS], sum = 0, log_factor = 0;
  factorise(s, choices, 0, count);
  for (int i = 0; i < count; i++)
    log_factor += log(s->factor.columns[i][i]);
  for (int shape = 0; shape < s->shape_count; shape++) {
    double squares = 1e-9;
    memcpy(solved, &s->weights[shape * s->most_points],
           sizeof *solved * (size_t)count);
    ws__cholesky_solve(&s->factor, solved, count);
    for (int i = 0; i < count; i++)
      squares += solved[i] * solved[i];
    sum -= 0.5 * count * log(squares / count) + log_factor;
  }
  for (int i = 0; i < choices; i++) {
    double off = log(s->reach[i] / usual_reach) / reach_spread;
    sum -= 0.5 * off * off;
  }
  return sum;
}

/* One choice after the other, the others as they are. */
static void learn_reaches(ws__surrogate *s, int choices) {
  double best = likelihood(s, choices);
  for (int round = 0; round < REACH_ROUNDS; round++)
    for (int i = 0; i < choices; i++) {
      double kept = s->reach[i];
      for (size_t r = 0; r < sizeof reaches / sizeof reaches[0]; r++) {
        s->reach[i] = reaches[r];
        double now = likelihood(s, choices);
        if (now > best + 1e-9 * fabs(best)) {
          best = now;
          kept = reaches[r];
        }
      }
      s->reach[i] = kept;
    }
  s->learned_from = s->results;
  s->factored_count = 0;
}

static void forget_reaches(ws__surrogate *s, const ws_template *tmpl) {
  s->tmpl = tmpl;
  s->learned_from = s->factored_count = 0;
  for (int i = 0; i < WS__MOST_CHOICES; i++)
    s->reach[i] = usual_reach;
}

/* Each time there is an eighth more to learn from. */
static bool is_worth_learning(const ws__surrogate *s) {
  return s->known >= LEAST_KNOWN &&
         s->results > s->learned_from + s->learned_from / 8;
}

void ws__surrogate_fit(ws__surrogate *s, const ws__space *space) {
  int choices = ws__choices_count(space);
  if (s->tmpl != space->tmpl)
    forget_reaches(s, space->tmpl);
  choose_points(s, space->tmpl);
  for (int shape = 0; shape < s->shape_count; shape++)
    standardise(s, shape);
  if (is_worth_learning(s))
    learn_reaches(s, choices);
  factorise_new(s, choices);
  for (int shape = 0; shape < s->shape_count; shape++)
    ws__cholesky_solve(&s->factor, &s->weights[shape * s->most_points],
                       s->known);
}

/* ---- questions ---- */
static double expected_gain(double best, double mean, double deviation) {
  double z = (best - mean) / deviation;
  double density = exp(-0.5 * z * z) / sqrt(2 * M_PI);
  return deviation * (z * 0.5 * erfc(-z / M_SQRT2) + density);
}

double ws__surrogate_gain(ws__surrogate *s, const ws__space *space,
                          const ws_candidate *candidate) {
  double choices[WS__MOST_CHOICES], gain = 0;
  int count = ws__choices_of(space, candidate, choices);
  double doubt = sqrt(ask(s, choices, count)) + 1e-9;
  for (int shape = 0; shape < s->shape_count; shape++)
    if (isfinite(s->best[shape]))
      gain += expected_gain(s->best[shape], predict(s, shape),
                            doubt * s->deviation[shape]);
  return gain;
}

double ws__surrogate_doubt(ws__surrogate *s, const ws__space *space,
                           const ws_candidate *candidate) {
  double choices[WS__MOST_CHOICES];
  int count = ws__choices_of(space, candidate, choices);
  return ask(s, choices, count);
}
