/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of shapes that were timed. Between two first sizes of a row the
 * models decide, each bent so that it meets the times at both (their ratio to
 * the model moves linearly with the logarithm of the first size). Models of
 * kernels that the band of the size does not know decide nothing, and where
 * kernels were timed no other comes before the fastest of these.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row holds for first sizes up to this factor beyond those timed; sizes
 * between two timed ones are looked at in so many steps. */
static const double beyond = 1.5;
enum { STEPS = 8, MOST_SIZES = 64 };

typedef struct row_sizes {
  int shapes[MOST_SIZES]; /* of the matrix, by first size */
  int count;
} row_sizes;

static int64_t size_of(const ws_matrix *matrix, int shape) {
  return matrix->shapes[shape].size[0];
}

static void insert(const ws_matrix *matrix, row_sizes *to, int shape) {
  int at = to->count;
  if (to->count == MOST_SIZES)
    return;
  while (at > 0 && size_of(matrix, to->shapes[at - 1]) > size_of(matrix, shape))
    at--;
  memmove(to->shapes + at + 1, to->shapes + at,
          sizeof *to->shapes * (size_t)(to->count++ - at));
  to->shapes[at] = shape;
}

/* ln(time / model) of a kernel at a timed size; NAN: it was not timed there. */
static double bend(const ws__portfolio *portfolio, const ws_time_models *models,
                   int position, int shape) {
  const ws_matrix *matrix = portfolio->input->matrix;
  const double us = ws__matrix_us(matrix, shape, portfolio->columns[position]),
               said =
                   ws_time_models_us(models, position, &matrix->shapes[shape]);
  return isfinite(us) && said > 0 ? log(us / said) : NAN;
}

/* The time of a kernel on a shape between two timed ones (may be one). */
static double bent_us(const ws__portfolio *portfolio,
                      const ws_time_models *models, int position,
                      const ws_shape *shape, int low, int high) {
  const ws_matrix *matrix = portfolio->input->matrix;
  const double timed = ws__matrix_us(matrix, low, portfolio->columns[position]);
  if (low == high && isfinite(timed) && shape->size[0] == size_of(matrix, low))
    return timed; /* whatever the model says */
  const double a = bend(portfolio, models, position, low),
               b = bend(portfolio, models, position, high);
  const double from = log((double)size_of(matrix, low)),
               to = log((double)size_of(matrix, high)),
               at = log((double)shape->size[0]);
  const double part =
      to > from ? fmin(1, fmax(0, (at - from) / (to - from))) : 0;
  double ln = (1 - part) * a + part * b;
  if (isnan(a) || isnan(b)) /* half known: it must promise more */
    ln = (isnan(a) ? isnan(b) ? 0 : b : a) +
         ws_time_models_error(models, position);
  return ws_time_models_us(models, position, shape) * exp(ln);
}

/* ---- spans of a row ---- */

typedef struct span_list {
  ws_arena *arena;
  const ws__portfolio *portfolio;
  const ws__known *known;
  ws__span *items;
  int count;
} span_list;

static void add_span(span_list *list, int64_t last, const double *us) {
  int length;
  const int *chain = ws__make_chain(list->arena, list->portfolio, us, &length);
  if (list->count) {
    ws__span *before = &list->items[list->count - 1];
    if (before->chain_length == length &&
        !memcmp(before->chain, chain, sizeof *chain * (size_t)length)) {
      before->last = last;
      return;
    }
  }
  list->items[list->count++] = (ws__span){last, chain, length};
}

static double timed_us(const ws__portfolio *portfolio, int position,
                       int shape) {
  return ws__matrix_us(portfolio->input->matrix, shape,
                       portfolio->columns[position]);
}

/* The fastest that was timed on the shape. */
static double best_timed(const ws__portfolio *portfolio, int shape) {
  double best = INFINITY;
  for (int p = 0; p < portfolio->count; p++)
    if (isfinite(timed_us(portfolio, p, shape)))
      best = fmin(best, timed_us(portfolio, p, shape));
  return best;
}

static double span_us(const span_list *list, int position,
                      const ws_shape *shape, int low, int high) {
  const ws__portfolio *portfolio = list->portfolio;
  const int band =
      ws__band_of(list->known->bands, list->known->band_count, shape);
  const ws_time_models *models = list->known->models[band];
  const bool timed = isfinite(timed_us(portfolio, position, low)) &&
                     isfinite(timed_us(portfolio, position, high));
  if (!ws__portfolio_takes(portfolio, position, shape) ||
      !(timed || ws__known_at(list->known, position, shape)))
    return INFINITY;
  const double us = bent_us(portfolio, models, position, shape, low, high);
  if (!(us > 0))
    return INFINITY;
  return timed || low != high
             ? us
             : fmax(us, nextafter(best_timed(portfolio, low), INFINITY));
}

static void add_size(span_list *list, ws_shape shape, int64_t size, int low,
                     int high) {
  double us[1 << 10];
  shape.size[0] = size;
  for (int p = 0; p < list->portfolio->count; p++)
    us[p] = span_us(list, p, &shape, low, high);
  add_span(list, size, us);
}

/* A kernel may take multiples of four only, say: what is looked at in place of
 * all sizes around it must not be one that it alone refuses. */
static int64_t round_size(double size) {
  const double grain = exp2(floor(log2(fmax(1, size / 16))));
  return llround(grain * round(size / grain));
}

static void add_between(span_list *list, int low, int high) {
  const ws_matrix *matrix = list->portfolio->input->matrix;
  const double from = (double)size_of(matrix, low),
               to = (double)size_of(matrix, high);
  int64_t before = size_of(matrix, low);
  for (int i = 1; i < STEPS; i++) {
    const int64_t size = round_size(from * pow(to / from, (double)i / STEPS));
    if (size > before && size < size_of(matrix, high))
      add_size(list, matrix->shapes[low], before = size, low, high);
  }
}

static ws__table_row make_row(ws_arena *arena, const ws__portfolio *portfolio,
                              const ws__known *known, const row_sizes *sizes) {
  const ws_matrix *matrix = portfolio->input->matrix;
  const ws_shape *shape = &matrix->shapes[sizes->shapes[0]];
  span_list list = {
      arena,
      portfolio,
      known,
      ws_arena_alloc(arena,
                     sizeof *list.items * (size_t)(sizes->count * STEPS + 1)),
      0};
  ws__table_row row = {.first = (int64_t)ceil((double)shape->size[0] / beyond)};
  memcpy(row.key, shape->size + 1, sizeof row.key - sizeof row.key[0]);
  for (int i = 0; i < sizes->count; i++) {
    if (i)
      add_between(&list, sizes->shapes[i - 1], sizes->shapes[i]);
    add_size(&list, *shape, size_of(matrix, sizes->shapes[i]), sizes->shapes[i],
             sizes->shapes[i]);
  }
  list.items[list.count - 1].last = (int64_t)floor(
      beyond * (double)size_of(matrix, sizes->shapes[sizes->count - 1]));
  row.spans = list.items;
  row.span_count = list.count;
  return row;
}

/* Whether some kernel of the portfolio was timed on the shape. */
static bool was_timed(const ws__portfolio *portfolio, int shape) {
  for (int p = 0; p < portfolio->count; p++)
    if (isfinite(ws__matrix_us(portfolio->input->matrix, shape,
                               portfolio->columns[p])))
      return true;
  return false;
}

ws__table ws__table_make(ws_arena *arena, const ws__portfolio *portfolio,
                         const ws__known *known) {
  const ws_matrix *matrix = portfolio->input->matrix;
  ws__table table = {.count = 0};
  ws__table_row *rows =
      ws_arena_alloc(arena, sizeof *rows * (size_t)matrix->shape_count);
  bool *taken =
      ws_arena_alloc(arena, sizeof *taken * (size_t)matrix->shape_count);
  for (int s = 0; s < matrix->shape_count; s++) {
    row_sizes sizes = {.count = 0};
    for (int other = s; other < matrix->shape_count; other++)
      if (!taken[other] &&
          ws_shape_same_group(&matrix->shapes[s], &matrix->shapes[other]) &&
          was_timed(portfolio, other)) {
        insert(matrix, &sizes, other);
        taken[other] = true;
      }
    if (sizes.count)
      rows[table.count++] = make_row(arena, portfolio, known, &sizes);
    table.shape_count += sizes.count;
  }
  table.rows = rows;
  return table;
}

const ws__span *ws__table_find(const ws__table *table, const ws_shape *shape) {
  for (int r = 0; r < table->count; r++) {
    const ws__table_row *row = &table->rows[r];
    if (memcmp(row->key, shape->size + 1, sizeof row->key - sizeof row->key[0]))
      continue;
    for (int i = 0; i < row->span_count && shape->size[0] >= row->first; i++)
      if (shape->size[0] <= row->spans[i].last)
        return &row->spans[i];
  }
  return NULL;
}
