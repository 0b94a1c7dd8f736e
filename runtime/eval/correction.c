/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/correction.h.
 */
#include "wavesmith/correction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double error_of(const ws_compared_row *row) {
  return log(row->measured_us / row->predicted_us);
}

/* ---- rows that compete -----------------------------------------------------
 */

typedef struct taken {
  const ws_compared_row *row;
  const char *part;
  double ln_ratio;
} taken;

static int by_group(const void *a, const void *b) {
  const taken *x = a, *y = b;
  const int order = strcmp(x->row->group, y->row->group);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Those of groups that are large enough, less their group's mean. */
static int centre_groups(taken *all, int count) {
  int kept = 0;
  qsort(all, (size_t)count, sizeof *all, by_group);
  for (int begin = 0, end; begin < count; begin = end) {
    double mean = 0;
    for (end = begin;
         end < count && !strcmp(all[end].row->group, all[begin].row->group);
         end++)
      mean += error_of(all[end].row);
    mean /= end - begin;
    for (int i = begin; i < end && end - begin >= WS_COMPARED_LEAST; i++) {
      all[kept] = all[i];
      all[kept++].ln_ratio = error_of(all[i].row) - mean;
    }
  }
  return kept;
}

static int rows_of_part(const taken *all, int count, const char *part) {
  int n = 0;
  for (int i = 0; i < count; i++)
    n += !strcmp(all[i].part, part);
  return n;
}

static const double least_scale = 0.05;

static void find_scale(ws_sim_correction *c) {
  for (int f = 0; f < WS_SIM_FEATURES; f++) {
    double weight = 0, sum = 0, squares = 0;
    for (int i = 0; i < c->count; i++) {
      weight += c->rows[i].weight;
      sum += c->rows[i].weight * c->rows[i].features[f];
    }
    for (int i = 0; i < c->count; i++)
      squares +=
          c->rows[i].weight * pow(c->rows[i].features[f] - sum / weight, 2);
    c->scale[f] = c->count ? fmax(least_scale, sqrt(squares / weight)) : 1;
  }
}

/* The parts of out's rows, in the arena. */
static const char **take(ws_arena *arena, const ws_compared_row *rows,
                         const char *const *parts, int count,
                         ws_sim_correction *out) {
  taken *all = ws_arena_alloc(arena, sizeof *all * (size_t)(count + 1));
  for (int i = 0; i < count; i++)
    all[i] = (taken){&rows[i], parts[i], 0};
  const int kept = centre_groups(all, count);
  ws_sim_correction_row *learned =
      ws_arena_alloc(arena, sizeof *learned * (size_t)(kept + 1));
  const char **kept_parts =
      ws_arena_alloc(arena, sizeof *kept_parts * (size_t)(kept + 1));
  for (int i = 0; i < kept; i++) {
    kept_parts[i] = all[i].part;
    learned[i].weight = 1.0 / rows_of_part(all, kept, all[i].part);
    learned[i].ln_ratio = all[i].ln_ratio;
    memcpy(learned[i].features, all[i].row->features,
           sizeof learned[i].features);
  }
  *out = (ws_sim_correction){.rows = learned, .count = kept, .source = ""};
  find_scale(out);
  return kept_parts;
}

void ws_correction_take(ws_arena *arena, const ws_compared_row *rows,
                        const char *const *parts, int count,
                        ws_sim_correction *out) {
  (void)take(arena, rows, parts, count, out);
}

/* ---- reach and doubt -------------------------------------------------------
 */

/* The most careful ones first. */
static const double reaches[] = {0.05, 0.1, 0.2, 0.4, 0.8};
static const double doubts[] = {1, 0.3, 0.1, 0.03, 0.01};
enum {
  REACHES = sizeof reaches / sizeof reaches[0],
  DOUBTS = sizeof doubts / sizeof doubts[0]
};

/* What rows of other parts say of one, by reach. */
static void hear_others(const ws_sim_correction *c, const char *const *parts,
                        int row, double sum[REACHES], double weight[REACHES]) {
  for (int i = 0; i < c->count; i++) {
    if (!strcmp(parts[i], parts[row]))
      continue;
    const double apart = ws_sim_correction_distance(
        c->scale, c->rows[i].features, c->rows[row].features);
    for (int r = 0; r < REACHES; r++) {
      const double k =
          c->rows[i].weight * exp(-apart / (2 * reaches[r] * reaches[r]));
      sum[r] += k * c->rows[i].ln_ratio;
      weight[r] += k;
    }
  }
}

static void choose(ws_sim_correction *c, const char *const *parts) {
  double squares[REACHES][DOUBTS] = {{0}};
  for (int i = 0; i < c->count; i++) {
    double sum[REACHES] = {0}, weight[REACHES] = {0};
    hear_others(c, parts, i, sum, weight);
    for (int r = 0; r < REACHES; r++)
      for (int d = 0; d < DOUBTS; d++)
        squares[r][d] +=
            c->rows[i].weight *
            pow(c->rows[i].ln_ratio -
                    ws_sim_correction_ln(sum[r], weight[r], doubts[d]),
                2);
  }
  int reach = 0, doubt = 0;
  for (int r = 0; r < REACHES; r++)
    for (int d = 0; d < DOUBTS; d++)
      if (squares[r][d] < squares[reach][doubt])
        reach = r, doubt = d;
  c->reach = reaches[reach];
  c->doubt = doubts[doubt];
}

/* ---- rows that are alike ---------------------------------------------------
 */

/* Each joins the nearest within reach as a weighted mean, else begins another
 * (leader clustering, Hartigan 1975): what they say of others hardly changes,
 * and there are fewer. */
static void join(ws_sim_correction_row *to, const ws_sim_correction_row *row) {
  const double share = row->weight / (to->weight + row->weight);
  to->weight += row->weight;
  to->ln_ratio += share * (row->ln_ratio - to->ln_ratio);
  for (int f = 0; f < WS_SIM_FEATURES; f++)
    to->features[f] += share * (row->features[f] - to->features[f]);
}

static void merge(ws_arena *arena, ws_sim_correction *c) {
  ws_sim_correction_row *merged =
      ws_arena_alloc(arena, sizeof *merged * (size_t)(c->count + 1));
  int count = 0;
  for (int i = 0; i < c->count; i++) {
    double nearest = c->reach * c->reach;
    int at = count;
    for (int m = 0; m < count; m++) {
      const double apart = ws_sim_correction_distance(
          c->scale, c->rows[i].features, merged[m].features);
      if (apart < nearest)
        nearest = apart, at = m;
    }
    if (at < count)
      join(&merged[at], &c->rows[i]);
    else
      merged[count++] = c->rows[i];
  }
  c->rows = merged;
  c->count = count;
}

void ws_correction_learn(ws_arena *arena, const ws_compared_row *rows,
                         const char *const *parts, int count,
                         ws_sim_correction *out) {
  choose(out, take(arena, rows, parts, count, out));
  merge(arena, out);
}

/* ---- left out -------------------------------------------------------------
 */

/* All but one label's. */
typedef struct fold {
  ws_compared_row *rows;
  const char **parts;
  int count;
} fold;

static fold without(ws_arena *arena, const ws_compared_row *rows,
                    const char *const *labels, const char *const *parts,
                    int count, const char *label) {
  fold out = {ws_arena_alloc(arena, sizeof *out.rows * (size_t)count),
              ws_arena_alloc(arena, sizeof *out.parts * (size_t)count), 0};
  for (int i = 0; i < count; i++)
    if (strcmp(labels[i], label)) {
      out.parts[out.count] = parts[i];
      out.rows[out.count++] = rows[i];
    }
  return out;
}

static bool is_first(const char *const *labels, int index) {
  for (int i = 0; i < index; i++)
    if (!strcmp(labels[i], labels[index]))
      return false;
  return true;
}

static double common_factor(const fold *of) {
  double sum = 0;
  for (int i = 0; i < of->count; i++)
    sum += error_of(&of->rows[i]);
  return exp(ws_sim_correction_ln(sum, of->count, 0));
}

bool ws_correction_left_out(ws_arena *arena, ws_correction_kind kind,
                            const ws_compared_row *rows,
                            const char *const *labels, const char *const *parts,
                            int count, ws_compared_row *out_rows) {
  for (int l = 0; l < count; l++) {
    if (!is_first(labels, l))
      continue;
    const fold others = without(arena, rows, labels, parts, count, labels[l]);
    if (!others.count)
      return false;
    ws_sim_correction learned = {0};
    const double common =
        kind == WS_CORRECTION_FACTOR ? common_factor(&others) : 1;
    if (kind == WS_CORRECTION_LEARNED)
      ws_correction_learn(arena, others.rows, others.parts, others.count,
                          &learned);
    for (int i = 0; i < count; i++)
      if (!strcmp(labels[i], labels[l])) {
        out_rows[i] = rows[i];
        out_rows[i].predicted_us *=
            common * ws_sim_correction_factor(&learned, rows[i].features);
      }
  }
  return true;
}
