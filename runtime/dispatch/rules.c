/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Fits the rules: a decision tree grown best split first until it has
 * max_leaves. The loss of a set of shapes is that of the one candidate that
 * suits them best: min over candidates of the sum of log(us / best us), where
 * a shape that the candidate refuses costs what the fallback takes, and one on
 * which the fallback has no time either costs WS__NOT_TAKEN. A split is
 * worth what it takes off that loss. Equal splits: the first feature of
 * the features, then the lowest threshold, so that a fit is deterministic.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A split must take at least this off the sum of logs, in shapes times log:
 * one shape sped up by 1 %. Less is the roughness of the estimate. */
static const double least_split_gain = 0.01;

/* Each side of a split must stand on this many training shapes. Times of a card
 * are there for few shapes, those that count, and are exact to about the gain
 * above: a rule may be for one of them alone. */
enum { LEAST_LEAF_SHAPES = 4, LEAST_TIMED_SHAPES = 1 };

typedef struct split {
  double gain;
  int feature;
  int64_t threshold;
} split;

/* A leaf that may still be split: its training shapes and its best split. */
typedef struct open_leaf {
  int node;
  int *shapes;
  int shape_count;
  split best;
} open_leaf;

typedef struct fit {
  ws_arena *arena;
  const ws_matrix *matrix;
  int column_count;
  int least_shapes;
  double *loss;   /* [shape][position]: log(us / best us) */
  int64_t *value; /* [feature][shape] */
  ws__node *nodes;
  int node_count;
  open_leaf *open;
  int open_count;
  struct ws_rules *rules;
} fit;

static const double *losses_of(const fit *f, int shape) {
  return f->loss + (size_t)shape * (size_t)f->column_count;
}

static int64_t value_of(const fit *f, int feature, int shape) {
  return f
      ->value[(size_t)feature * (size_t)f->matrix->shape_count + (size_t)shape];
}

/* ---- what a candidate accepts
 * --------------------------------------------------
 */

static bool accepts(const struct ws_rules *rules, int position,
                    const ws_shape *shape) {
  return !rules->candidates ||
         ws_candidate_takes(rules->candidates[position], shape);
}

/* ---- losses
 * -------------------------------------------------------------------
 */

/* The position that accepts every shape and loses least on the training
 * shapes; -1: none. */
static int choose_fallback(const fit *f, const bool *universal) {
  int best = -1;
  double best_sum = INFINITY;
  for (int p = 0; p < f->column_count; p++) {
    double sum = 0;
    for (int s = 0; s < f->matrix->shape_count; s++)
      sum += losses_of(f, s)[p];
    if (universal[p] && (best < 0 || sum < best_sum)) {
      best_sum = sum;
      best = p;
    }
  }
  return best;
}

/* INFINITY: refused, or nothing is known. */
static double loss_of(double us, double best) {
  return isfinite(us) && isfinite(best) ? log(us / best) : INFINITY;
}

static void fill_losses(fit *f) {
  const ws_matrix *matrix = f->matrix;
  f->loss =
      ws_arena_alloc(f->arena, (size_t)matrix->shape_count *
                                   (size_t)f->column_count * sizeof *f->loss);
  for (int s = 0; s < matrix->shape_count; s++) {
    double best = INFINITY;
    for (int p = 0; p < f->column_count; p++)
      best = fmin(best, ws__matrix_us(matrix, s, f->rules->columns[p]));
    for (int p = 0; p < f->column_count; p++)
      f->loss[(size_t)s * (size_t)f->column_count + (size_t)p] =
          loss_of(ws__matrix_us(matrix, s, f->rules->columns[p]), best);
  }
}

static void let_fallback_stand_in(fit *f, int fallback) {
  for (int s = 0; s < f->matrix->shape_count; s++) {
    double *row = f->loss + (size_t)s * (size_t)f->column_count;
    if (isinf(row[fallback]))
      row[fallback] = log(WS__NOT_TAKEN);
    for (int p = 0; p < f->column_count; p++)
      if (isinf(row[p]))
        row[p] = row[fallback];
  }
}

/* ---- splits
 * -------------------------------------------------------------------
 */

static double least(const double *sums, int count) {
  double result = INFINITY;
  for (int p = 0; p < count; p++)
    result = fmin(result, sums[p]);
  return result;
}

typedef struct ranked {
  int64_t value;
  int shape;
} ranked;

static int compare_ranked(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return x->shape - y->shape;
}

/* Between low and high, nearer to low by ratio: extents grow by factors. */
static int64_t between(int64_t low, int64_t high) {
  int64_t middle = (int64_t)sqrt((double)low * (double)high);
  if (middle < low)
    return low;
  return middle < high ? middle : high - 1;
}

/* The best threshold for one feature: one sweep in the order of its values,
 * moving shapes from the high to the low side. */
static void try_feature(const fit *f, const open_leaf *leaf, int feature,
                        ranked *order, double *low, double *high,
                        double leaf_loss, split *best) {
  const int columns = f->column_count;
  memset(low, 0, (size_t)columns * sizeof *low);
  memset(high, 0, (size_t)columns * sizeof *high);
  for (int i = 0; i < leaf->shape_count; i++) {
    int shape = leaf->shapes[i];
    order[i] = (ranked){value_of(f, feature, shape), shape};
    for (int p = 0; p < columns; p++)
      high[p] += losses_of(f, shape)[p];
  }
  qsort(order, (size_t)leaf->shape_count, sizeof *order, compare_ranked);
  for (int i = 0; i + 1 < leaf->shape_count; i++) {
    const double *row = losses_of(f, order[i].shape);
    for (int p = 0; p < columns; p++) {
      low[p] += row[p];
      high[p] -= row[p];
    }
    if (order[i].value == order[i + 1].value || i + 1 < f->least_shapes ||
        leaf->shape_count - (i + 1) < f->least_shapes)
      continue;
    double gain = leaf_loss - least(low, columns) - least(high, columns);
    if (gain > best->gain + 1e-9)
      *best =
          (split){gain, feature, between(order[i].value, order[i + 1].value)};
  }
}

/* ---- intervals: where no one threshold gains, because a kernel is best for
 * shapes that lie between others, two may. The lower one is the split; the
 * upper one then gains by itself. ---- */

static double least_between(const double *from, const double *to, int count) {
  double result = INFINITY;
  for (int p = 0; p < count; p++)
    result = fmin(result, to[p] - from[p]);
  return result;
}

/* sums: [shape_count + 1][column], filled here with what precedes each. */
static void try_intervals(const fit *f, const open_leaf *leaf, int feature,
                          ranked *order, double *sums, double leaf_loss,
                          split *best) {
  const int columns = f->column_count, count = leaf->shape_count;
  for (int i = 0; i < count; i++)
    order[i] = (ranked){value_of(f, feature, leaf->shapes[i]), leaf->shapes[i]};
  qsort(order, (size_t)count, sizeof *order, compare_ranked);
  memset(sums, 0, (size_t)columns * sizeof *sums);
  for (int i = 0; i < count; i++)
    for (int p = 0; p < columns; p++)
      sums[(i + 1) * columns + p] =
          sums[i * columns + p] + losses_of(f, order[i].shape)[p];
  const double *whole = sums + count * columns;
  for (int low = 1; low < count; low++)
    for (int high = low + 1;
         high < count && order[low - 1].value < order[low].value; high++) {
      const double *begin = sums + low * columns, *end = sums + high * columns;
      double gain = leaf_loss - least(begin, columns) -
                    least_between(begin, end, columns) -
                    least_between(end, whole, columns);
      if (gain > best->gain + 1e-9 && order[high - 1].value < order[high].value)
        *best = (split){gain, feature,
                        between(order[low - 1].value, order[low].value)};
    }
}

static void find_best_interval(const fit *f, open_leaf *leaf,
                               double leaf_loss) {
  double *sums = malloc((size_t)(leaf->shape_count + 1) *
                        (size_t)f->column_count * sizeof *sums);
  ranked *order = malloc((size_t)leaf->shape_count * sizeof *order);
  WS_ASSERT(sums != NULL && order != NULL);
  for (int feature = 0; feature < f->rules->feature_count; feature++)
    try_intervals(f, leaf, feature, order, sums, leaf_loss, &leaf->best);
  free(order);
  free(sums);
}

static void find_best_split(const fit *f, open_leaf *leaf) {
  const size_t columns = (size_t)f->column_count;
  double *sums = calloc(3 * columns, sizeof *sums);
  ranked *order = malloc((size_t)leaf->shape_count * sizeof *order);
  WS_ASSERT(sums != NULL && order != NULL);
  for (int i = 0; i < leaf->shape_count; i++)
    for (size_t p = 0; p < columns; p++)
      sums[p] += losses_of(f, leaf->shapes[i])[p];
  leaf->best = (split){0, -1, 0};
  double leaf_loss = least(sums, f->column_count);
  for (int feature = 0; feature < f->rules->feature_count; feature++)
    try_feature(f, leaf, feature, order, sums + columns, sums + 2 * columns,
                leaf_loss, &leaf->best);
  if (f->least_shapes == 1 && leaf->best.gain < least_split_gain)
    find_best_interval(f, leaf, leaf_loss);
  free(order);
  free(sums);
}

static int add_node(fit *f) {
  f->nodes[f->node_count] = (ws__node){.feature = -1, .low = -1, .high = -1};
  return f->node_count++;
}

/* Makes the open leaf an inner node and its two halves open leaves: the low
 * half takes its place, the high half is appended. */
static void apply_split(fit *f, int index) {
  open_leaf *leaf = &f->open[index];
  const split chosen = leaf->best;
  ws__node *node = &f->nodes[leaf->node];
  node->feature = chosen.feature;
  node->threshold = chosen.threshold;
  node->low = add_node(f);
  node->high = add_node(f);

  open_leaf high = {.node = node->high};
  high.shapes =
      ws_arena_alloc(f->arena, (size_t)leaf->shape_count * sizeof *high.shapes);
  int kept = 0;
  for (int i = 0; i < leaf->shape_count; i++) {
    int shape = leaf->shapes[i];
    if (value_of(f, chosen.feature, shape) <= chosen.threshold)
      leaf->shapes[kept++] = shape;
    else
      high.shapes[high.shape_count++] = shape;
  }
  leaf->shape_count = kept;
  leaf->node = node->low;
  find_best_split(f, leaf);
  find_best_split(f, &high);
  f->open[f->open_count++] = high;
}

static void grow(fit *f, int max_leaves) {
  while (f->open_count < max_leaves) {
    int best = 0;
    for (int i = 1; i < f->open_count; i++)
      if (f->open[i].best.gain > f->open[best].best.gain)
        best = i;
    if (f->open[best].best.gain < least_split_gain)
      return;
    apply_split(f, best);
  }
}

/* ---- leaves
 * -------------------------------------------------------------------
 */

/* Positions by their loss on the leaf's shapes, cut after the first that
 * accepts every shape. */
static const int *make_chain(const fit *f, const open_leaf *open,
                             const bool *universal, int *out_length) {
  int *chain = ws_arena_alloc(f->arena, (size_t)f->column_count * sizeof(int));
  double *sums = calloc((size_t)f->column_count, sizeof *sums);
  WS_ASSERT(sums != NULL);
  for (int i = 0; i < open->shape_count; i++)
    for (int p = 0; p < f->column_count; p++)
      sums[p] += losses_of(f, open->shapes[i])[p];
  *out_length = 0;
  for (bool closed = false; !closed;) {
    int best = -1;
    for (int p = 0; p < f->column_count; p++)
      if (!isnan(sums[p]) && (best < 0 || sums[p] < sums[best]))
        best = p;
    chain[(*out_length)++] = best;
    closed = universal[best];
    sums[best] = NAN; /* taken */
  }
  free(sums);
  return chain;
}

static void measure_leaf(const fit *f, const open_leaf *open, ws__leaf *leaf) {
  double sum = 0;
  leaf->max_regret = 1;
  for (int i = 0; i < open->shape_count; i++) {
    int shape = open->shapes[i];
    int pick = ws_rules_pick(f->rules, &f->matrix->shapes[shape]);
    double us = pick < 0 ? NAN
                         : ws__matrix_us(f->matrix, shape,
                                         f->rules->columns[pick]);
    double regret = ws__regret_of(us, ws__matrix_best_us(f->matrix, shape));
    sum += log(regret);
    leaf->max_regret = fmax(leaf->max_regret, regret);
  }
  leaf->shape_count = open->shape_count;
  leaf->geomean_regret = exp(sum / open->shape_count);
}

/* Numbers the leaves from the low side to the high and writes their rules. */
static void number_leaves(fit *f, int node, const char *rule, int *leaf_of_node,
                          ws__leaf *leaves, int *next) {
  const ws__node *n = &f->nodes[node];
  if (n->feature < 0) {
    f->nodes[node].leaf = *next;
    leaf_of_node[node] = *next;
    leaves[(*next)++].rule = rule[0] ? rule : "any shape";
    return;
  }
  const char *name = f->rules->features[n->feature].name,
             *and = rule[0] ? " && " : "";
  const long long threshold = (long long)n->threshold;
  number_leaves(
      f, n->low,
      ws_arena_printf(f->arena, "%s%s%s <= %lld", rule, and, name, threshold),
      leaf_of_node, leaves, next);
  number_leaves(
      f, n->high,
      ws_arena_printf(f->arena, "%s%s%s > %lld", rule, and, name, threshold),
      leaf_of_node, leaves, next);
}

static void close_leaves(fit *f, const bool *universal) {
  ws__leaf *leaves =
      ws_arena_alloc(f->arena, (size_t)f->open_count * sizeof *leaves);
  int *leaf_of_node =
      ws_arena_alloc(f->arena, (size_t)f->node_count * sizeof *leaf_of_node);
  int count = 0;
  number_leaves(f, 0, "", leaf_of_node, leaves, &count);
  for (int i = 0; i < f->open_count; i++) {
    ws__leaf *leaf = &leaves[leaf_of_node[f->open[i].node]];
    leaf->chain = make_chain(f, &f->open[i], universal, &leaf->chain_length);
  }
  f->rules->nodes = f->nodes;
  f->rules->node_count = f->node_count;
  f->rules->leaves = leaves;
  f->rules->leaf_count = count;
  for (int i = 0; i < f->open_count; i++)
    measure_leaf(f, &f->open[i], &leaves[leaf_of_node[f->open[i].node]]);
}

/* ---- the whole fit
 * --------------------------------------------------------------
 */

static ws_status parse_expressions(fit *f, const ws_problem *problem,
                                   ws_diag *diag) {
  f->rules->legal = problem->legal;
  return ws__features_of(f->arena, problem, &f->rules->features,
                         &f->rules->feature_count, diag);
}

static void fill_values(fit *f) {
  const int shapes = f->matrix->shape_count;
  f->value = ws_arena_alloc(f->arena, (size_t)f->rules->feature_count *
                                          (size_t)shapes * sizeof *f->value);
  for (int i = 0; i < f->rules->feature_count; i++)
    for (int s = 0; s < shapes; s++)
      f->value[(size_t)i * (size_t)shapes + (size_t)s] =
          ws__shape_value(f->rules->features[i].expr, &f->matrix->shapes[s]);
}

static void open_root(fit *f, int max_leaves) {
  const int shapes = f->matrix->shape_count;
  f->nodes =
      ws_arena_alloc(f->arena, 2 * (size_t)max_leaves * sizeof *f->nodes);
  f->open = ws_arena_alloc(f->arena, (size_t)max_leaves * sizeof *f->open);
  open_leaf *root = &f->open[f->open_count++];
  root->node = add_node(f);
  root->shape_count = shapes;
  root->shapes = ws_arena_alloc(f->arena, (size_t)shapes * sizeof(int));
  for (int s = 0; s < shapes; s++)
    root->shapes[s] = s;
  find_best_split(f, root);
}

static void note_candidates(fit *f, const ws_dispatch_entry *entries) {
  const ws_candidate **candidates =
      ws_arena_alloc(f->arena, (size_t)f->column_count * sizeof *candidates);
  for (int p = 0; entries && p < f->column_count; p++)
    candidates[p] = entries[f->rules->columns[p]].candidate;
  f->rules->candidates = entries ? candidates : NULL;
}

ws_status ws__rules_fit(ws_arena *arena, const ws__portfolio *portfolio,
                        const ws_matrix *matrix, const ws_rules **out_rules,
                        ws_diag *diag) {
  const ws_selection_input *input = portfolio->input;
  const int column_count = portfolio->count, max_leaves = input->max_leaves;
  *out_rules = NULL;
  if (max_leaves < 1 || column_count < 1 || matrix->shape_count < 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "rules need at least one leaf, one kernel and one shape");
  fit f = {.arena = arena, .matrix = matrix, .column_count = column_count};
  f.least_shapes = ws__is_of_a_card(matrix->provenance) ? LEAST_TIMED_SHAPES
                                                        : LEAST_LEAF_SHAPES;
  f.rules = ws_arena_alloc(arena, sizeof *f.rules);
  int *own_columns = ws_arena_alloc(arena, (size_t)column_count * sizeof(int));
  memcpy(own_columns, portfolio->columns, (size_t)column_count * sizeof(int));
  f.rules->columns = own_columns;
  f.rules->column_count = column_count;
  WS_TRY(parse_expressions(&f, input->problem, diag));

  note_candidates(&f, input->entries);
  fill_losses(&f);
  int fallback = choose_fallback(&f, portfolio->universal);
  if (fallback < 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "none of the %d kernels accepts every legal shape, so the "
                   "dispatch would have no fallback; add one without "
                   "constraints on dimensions",
                   column_count);
  let_fallback_stand_in(&f, fallback);
  fill_values(&f);
  open_root(&f, max_leaves);
  grow(&f, max_leaves);
  close_leaves(&f, portfolio->universal);
  *out_rules = f.rules;
  return WS_OK;
}

ws_status ws_rules_fit(ws_arena *arena, const ws_problem *problem,
                       const ws_dispatch_entry *entries,
                       const ws_matrix *matrix, const int *columns,
                       int column_count, int max_leaves,
                       const ws_rules **out_rules, ws_diag *diag) {
  const int count = column_count > 0 ? column_count : 0;
  bool *universal = ws_arena_alloc(arena, (size_t)count + 1);
  for (int p = 0; p < count; p++)
    universal[p] = true;
  if (entries && count)
    ws__find_universal(problem, entries, matrix, columns, count, universal);
  const ws_selection_input input = {
      .problem = problem, .entries = entries, .max_leaves = max_leaves};
  const ws__portfolio portfolio = {.input = &input,
                                   .columns = columns,
                                   .count = column_count,
                                   .universal = universal};
  return ws__rules_fit(arena, &portfolio, matrix, out_rules, diag);
}

/* ---- use
 * ----------------------------------------------------------------------
 */

int ws_rules_leaf_count(const ws_rules *rules) { return rules->leaf_count; }

int ws_rules_pick(const ws_rules *rules, const ws_shape *shape) {
  if (!ws__shape_value(rules->legal, shape))
    return -1;
  const ws__node *node = &rules->nodes[0];
  while (node->feature >= 0) {
    int64_t value = ws__shape_value(rules->features[node->feature].expr, shape);
    node = &rules->nodes[value <= node->threshold ? node->low : node->high];
  }
  const ws__leaf *leaf = &rules->leaves[node->leaf];
  for (int i = 0; i < leaf->chain_length; i++)
    if (accepts(rules, leaf->chain[i], shape))
      return leaf->chain[i];
  for (int p = 0; p < rules->column_count; p++) /* universal was no proof */
    if (accepts(rules, p, shape))
      return p;
  return -1;
}

ws_regret ws_rules_regret(const ws_rules *rules, const ws_matrix *matrix) {
  ws_regret regret = {.shape_count = matrix->shape_count, .max = 0};
  double sum = 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    int pick = ws_rules_pick(rules, &matrix->shapes[s]);
    double us =
        pick < 0 ? NAN : ws__matrix_us(matrix, s, rules->columns[pick]);
    double ratio = ws__regret_of(us, ws__matrix_best_us(matrix, s));
    sum += log(ratio);
    if (ratio > regret.max) {
      regret.max = ratio;
      regret.worst = matrix->shapes[s];
    }
  }
  regret.geomean = exp(sum / matrix->shape_count);
  return regret;
}
