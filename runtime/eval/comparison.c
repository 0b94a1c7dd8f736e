/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/comparison.h.
 */
#include "wavesmith/comparison.h"
#include "statistics.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks -----------------------------------------------------------------
 */

/* Equal values share the mean of their ranks. */
static double rank_of(const double *values, int count, int index) {
  int below = 0, equal = 0;
  for (int i = 0; i < count; i++) {
    below += values[i] < values[index];
    equal += values[i] == values[index];
  }
  return below + (equal - 1) / 2.0;
}

double ws_spearman(const double *a, const double *b, int count) {
  double mean = (count - 1) / 2.0, xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < count; i++) {
    double x = rank_of(a, count, i) - mean;
    double y = rank_of(b, count, i) - mean;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static double error_of(const ws_compared_row *row) {
  return log(row->measured_us / row->predicted_us);
}

/* ---- groups ----------------------------------------------------------------
 */

typedef struct comparing {
  ws_arena *arena;
  const ws_compared_row *rows;
  int count;
  int *group_of; /* by row */
  double *mean;  /* of e, by group */
  ws_compared *out;
} comparing;

static int find_group(ws_compared *out, const char *name) {
  for (int g = 0; g < out->group_count; g++)
    if (!strcmp(out->groups[g].name, name))
      return g;
  out->groups[out->group_count] = (ws_compared_group){.name = name};
  return out->group_count++;
}

static void rank_group(comparing *c, int group) {
  ws_compared_group *g = &c->out->groups[group];
  const size_t bytes = sizeof(double) * (size_t)g->count;
  double *measured = ws_arena_alloc(c->arena, bytes);
  double *predicted = ws_arena_alloc(c->arena, bytes);
  double best = INFINITY;
  int n = 0, picked = 0;
  for (int i = 0; i < c->count; i++) {
    if (c->group_of[i] != group)
      continue;
    measured[n] = c->rows[i].measured_us;
    predicted[n] = c->rows[i].predicted_us;
    best = fmin(best, measured[n]);
    picked = predicted[n] < predicted[picked] ? n : picked;
    n++;
  }
  g->ratio = exp(c->mean[group]);
  g->spearman = g->regret = NAN;
  if (n < WS_COMPARED_LEAST)
    return;
  g->spearman = ws_spearman(predicted, measured, n);
  g->regret = measured[picked] / best;
  c->out->ranked++;
}

static void find_groups(comparing *c) {
  ws_compared *out = c->out;
  out->groups =
      ws_arena_alloc(c->arena, sizeof *out->groups * (size_t)c->count);
  c->group_of = ws_arena_alloc(c->arena, sizeof(int) * (size_t)c->count);
  c->mean = ws_arena_alloc(c->arena, sizeof(double) * (size_t)c->count);
  for (int i = 0; i < c->count; i++) {
    const int g = c->group_of[i] = find_group(out, c->rows[i].group);
    out->groups[g].count++;
    c->mean[g] += error_of(&c->rows[i]);
  }
  for (int g = 0; g < out->group_count; g++) {
    c->mean[g] /= out->groups[g].count;
    rank_group(c, g);
  }
}

static void sum_groups(comparing *c) {
  ws_compared *out = c->out;
  double *ranks =
      ws_arena_alloc(c->arena, sizeof(double) * (size_t)(out->ranked + 1));
  double log_regret = 0;
  int n = 0;
  out->median_spearman = out->worst_spearman = NAN;
  out->geomean_regret = out->worst_regret = NAN;
  for (int g = 0; g < out->group_count; g++) {
    if (isnan(out->groups[g].spearman))
      continue;
    ranks[n++] = out->groups[g].spearman;
    out->worst_spearman = fmin(out->worst_spearman, out->groups[g].spearman);
    log_regret += log(out->groups[g].regret);
    out->worst_regret = fmax(out->worst_regret, out->groups[g].regret);
  }
  if (!n)
    return;
  out->median_spearman = ws__median(c->arena, ranks, n);
  out->geomean_regret = exp(log_regret / n);
}

/* ---- errors, classes -------------------------------------------------------
 */

static void find_errors(const comparing *c) {
  ws_compared *out = c->out;
  double sum = 0, squares = 0;
  for (int i = 0; i < c->count; i++) {
    const double e = error_of(&c->rows[i]);
    sum += e;
    squares += e * e;
    out->error += (exp(fabs(e)) - 1) / c->count;
  }
  out->ratio = exp(sum / c->count);
  out->sigma = sqrt(squares / c->count);
  for (int i = 0; i < c->count; i++)
    out->error_beside_scale +=
        (exp(fabs(error_of(&c->rows[i]) - sum / c->count)) - 1) / c->count;
}

static int by_count(const void *a, const void *b) {
  const ws_compared_class *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                              : strcmp(x->name, y->name);
}

static void find_classes(const comparing *c) {
  ws_compared *out = c->out;
  out->classes =
      ws_arena_alloc(c->arena, sizeof *out->classes * (size_t)c->count);
  for (int i = 0; i < c->count; i++) {
    const double e = error_of(&c->rows[i]);
    int k = 0;
    while (k < out->class_count &&
           strcmp(out->classes[k].name, c->rows[i].class_))
      k++;
    out->class_count += k == out->class_count;
    out->classes[k].name = c->rows[i].class_;
    out->classes[k].count++;
    out->classes[k].ratio += e;
    out->classes[k].sigma += e * e;
  }
  for (int k = 0; k < out->class_count; k++) {
    ws_compared_class *of = &out->classes[k];
    of->ratio = exp(of->ratio / of->count);
    of->sigma = sqrt(of->sigma / of->count);
  }
  qsort(out->classes, (size_t)out->class_count, sizeof *out->classes, by_count);
}

/* ---- pairs -----------------------------------------------------------------
 */

static const double distances[WS_COMPARED_DISTANCES] = {
    0.02, 0.05, 0.1, 0.2, 0.5, 1, INFINITY};

static void add_pair(ws_compared *out, const ws_compared_row *a,
                     const ws_compared_row *b) {
  const double predicted = a->predicted_us - b->predicted_us;
  const double measured = a->measured_us - b->measured_us;
  const double distance =
      fabs(predicted) / fmin(a->predicted_us, b->predicted_us);
  int d = 0;
  while (distance > distances[d])
    d++;
  if (predicted == 0) /* the model has no opinion */
    return;
  out->pairs[d].count++;
  out->pairs[d].right +=
      measured == 0 ? 0.5 : (double)((measured > 0) == (predicted > 0));
}

static void find_pairs(const comparing *c) {
  for (int d = 0; d < WS_COMPARED_DISTANCES; d++)
    c->out->pairs[d] = (ws_compared_pairs){.up_to = distances[d]};
  for (int i = 0; i < c->count; i++)
    for (int j = 0; j < i; j++)
      if (c->group_of[i] == c->group_of[j])
        add_pair(c->out, &c->rows[i], &c->rows[j]);
}

/* ---- residual by feature ---------------------------------------------------
 */

static double correlation(const double *x, const double *y, int count) {
  double mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < count; i++) {
    mx += x[i] / count;
    my += y[i] / count;
  }
  for (int i = 0; i < count; i++) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xx > 1e-18 && yy > 1e-18 ? xy / sqrt(xx * yy) : 0;
}

/* Each less its group's mean. */
static void centre(const comparing *c, double *values) {
  for (int g = 0; g < c->out->group_count; g++) {
    double mean = 0;
    for (int i = 0; i < c->count; i++)
      mean += c->group_of[i] == g ? values[i] / c->out->groups[g].count : 0;
    for (int i = 0; i < c->count; i++)
      values[i] -= c->group_of[i] == g ? mean : 0;
  }
}

static int by_strength(const void *a, const void *b) {
  const ws_compared_feature *x = a, *y = b;
  const double strength_x = fabs(x->within), strength_y = fabs(y->within);
  return strength_x != strength_y
             ? (strength_x < strength_y) - (strength_x > strength_y)
             : strcmp(x->name, y->name);
}

static void find_features(const comparing *c, const char *const *names,
                          int count) {
  ws_compared *out = c->out;
  const size_t bytes = sizeof(double) * (size_t)c->count;
  double *e = ws_arena_alloc(c->arena, bytes);
  double *e_within = ws_arena_alloc(c->arena, bytes);
  double *x = ws_arena_alloc(c->arena, bytes);
  for (int i = 0; i < c->count; i++)
    e[i] = e_within[i] = error_of(&c->rows[i]);
  centre(c, e_within);
  out->feature_count = count;
  out->features =
      ws_arena_alloc(c->arena, sizeof *out->features * (size_t)(count + 1));
  for (int f = 0; f < count; f++) {
    for (int i = 0; i < c->count; i++)
      x[i] = c->rows[i].features[f];
    const double across = correlation(x, e, c->count);
    centre(c, x);
    out->features[f] = (ws_compared_feature){
        names[f], across, correlation(x, e_within, c->count)};
  }
  qsort(out->features, (size_t)count, sizeof *out->features, by_strength);
}

/* ---- all of it -------------------------------------------------------------
 */

void ws_compare_times(ws_arena *arena, const ws_compared_row *rows, int count,
                      const char *const *features, int feature_count,
                      ws_compared *out) {
  comparing c = {.arena = arena, .rows = rows, .count = count, .out = out};
  *out = (ws_compared){.rows = count};
  find_groups(&c);
  sum_groups(&c);
  find_errors(&c);
  find_classes(&c);
  find_pairs(&c);
  find_features(&c, features, feature_count);
}

/* ---- JSON ------------------------------------------------------------------
 */

/* JSON has no NAN and no INFINITY. */
static void add_number(cJSON *object, const char *name, double value) {
  if (isfinite(value))
    cJSON_AddNumberToObject(object, name, value);
  else
    cJSON_AddNullToObject(object, name);
}

static cJSON *add_object(cJSON *array, const char *name) {
  cJSON *object = cJSON_CreateObject();
  if (name)
    cJSON_AddStringToObject(object, "name", name);
  cJSON_AddItemToArray(array, object);
  return object;
}

static void add_groups(cJSON *json, const ws_compared *c) {
  cJSON *groups = cJSON_AddArrayToObject(json, "groups");
  for (int i = 0; i < c->group_count; i++) {
    const ws_compared_group *group = &c->groups[i];
    cJSON *object = add_object(groups, group->name);
    add_number(object, "rows", group->count);
    add_number(object, "spearman", group->spearman);
    add_number(object, "regret", group->regret);
    add_number(object, "measured_over_predicted", group->ratio);
  }
}

static void add_classes(cJSON *json, const ws_compared *c) {
  cJSON *classes = cJSON_AddArrayToObject(json, "classes");
  for (int i = 0; i < c->class_count; i++) {
    cJSON *object = add_object(classes, c->classes[i].name);
    add_number(object, "rows", c->classes[i].count);
    add_number(object, "measured_over_predicted", c->classes[i].ratio);
    add_number(object, "sigma", c->classes[i].sigma);
  }
}

static void add_pairs(cJSON *json, const ws_compared *c) {
  cJSON *pairs = cJSON_AddArrayToObject(json, "pairs");
  for (int i = 0; i < WS_COMPARED_DISTANCES; i++) {
    cJSON *object = add_object(pairs, NULL);
    add_number(object, "up_to", c->pairs[i].up_to);
    add_number(object, "pairs", c->pairs[i].count);
    add_number(object, "right", c->pairs[i].right);
  }
}

struct cJSON *ws_compared_to_json(const ws_compared *c) {
  cJSON *json = cJSON_CreateObject();
  add_number(json, "rows", c->rows);
  add_number(json, "median_spearman", c->median_spearman);
  add_number(json, "worst_spearman", c->worst_spearman);
  add_number(json, "geomean_regret", c->geomean_regret);
  add_number(json, "worst_regret", c->worst_regret);
  add_number(json, "measured_over_predicted", c->ratio);
  add_number(json, "sigma", c->sigma);
  add_number(json, "error", c->error);
  add_number(json, "error_beside_scale", c->error_beside_scale);
  add_groups(json, c);
  add_classes(json, c);
  add_pairs(json, c);
  cJSON *features = cJSON_AddArrayToObject(json, "features");
  for (int i = 0; i < c->feature_count; i++) {
    cJSON *object = add_object(features, c->features[i].name);
    add_number(object, "across", c->features[i].across);
    add_number(object, "within", c->features[i].within);
  }
  return json;
}
