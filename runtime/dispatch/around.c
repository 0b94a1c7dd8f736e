/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where few shapes were timed, a kernel that is the best on none of them may be
 * the best between or beyond: at half the columns, say. So shapes around them,
 * each size halved and doubled, take part in the cover by modelled times. All of
 * them together weigh a fifth of those that were timed: they decide who comes
 * when what was timed is covered.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

static const double share_around = 0.2;

/* Octaves, over all sizes, within which two shapes are one. */
static const double least_octaves = 0.5;

static double octaves_between(const ws_shape *a, const ws_shape *b) {
  double sum = 0;
  for (int d = 0; d < a->dims->count; d++)
    sum += fabs(log2((double)a->size[d] / (double)b->size[d]));
  return sum;
}

static bool is_new(const ws_problem *problem, const ws_shape *shape,
                   const ws_shape *others, int count) {
  if (!ws_problem_is_legal(problem, shape))
    return false;
  for (int i = 0; i < count; i++)
    if (octaves_between(shape, &others[i]) < least_octaves)
      return false;
  return true;
}

/* Appends them to the shapes; returns how many there are then. */
static int add_shapes(const ws_problem *problem, ws_shape *shapes, int count) {
  int all = count;
  for (int s = 0; s < count; s++)
    for (int d = 0; d < shapes[s].dims->count; d++) {
      const int64_t size = shapes[s].size[d], step = problem->step.size[d],
                    sizes[] = {size / 2 / step * step, size * 2};
      for (int i = 0; i < 2; i++) {
        ws_shape shape = shapes[s];
        shape.size[d] = sizes[i];
        if (is_new(problem, &shape, shapes, all))
          shapes[all++] = shape;
      }
    }
  return all;
}

/* Models of what was timed on few of the shapes promise more than they keep. */
static bool is_known(const ws_matrix *timed, int column) {
  int own = 0;
  for (int s = 0; s < timed->shape_count; s++)
    own += ws__is_time(ws__matrix_us(timed, s, column));
  return 2 * own >= timed->shape_count;
}

/* Modelled times on a shape, of known kernels that take it; false: of none. */
static bool model_row(const ws_selection_input *input,
                      const ws_time_models *models, const bool *known,
                      const ws_shape *shape, double *row) {
  const int count = input->matrix->candidate_count;
  double least = INFINITY;
  for (int c = 0; c < count; c++) {
    const double us = ws_time_models_us(models, c, shape);
    row[c] = ws__is_time(us) && known[c] &&
                     ws_candidate_takes(input->entries[c].candidate, shape)
                 ? us
                 : INFINITY;
    least = fmin(least, row[c]);
  }
  for (int c = 0; c < count; c++)
    row[c] = fmin(row[c], WS__NOT_TAKEN * least);
  return isfinite(least);
}

static const double *weigh(ws_arena *arena, int timed, int all) {
  double *weights = ws_arena_alloc(arena, sizeof *weights * (size_t)all);
  for (int s = 0; s < all; s++)
    weights[s] = s < timed ? 1 : share_around * timed / (all - timed);
  return weights;
}

ws_status ws__with_shapes_around(ws_arena *arena,
                                 const ws_selection_input *input,
                                 ws_matrix *covered, const double **out_weights,
                                 ws_diag *diag) {
  const int timed = covered->shape_count, count = covered->candidate_count;
  const size_t columns = (size_t)count,
               most = (size_t)timed * (1 + 2 * WS_MAX_DIMS);
  *out_weights = NULL;
  if (input->matrix->shape_count >= WS__MANY_SHAPES)
    return WS_OK;
  const ws_time_models *models;
  int *all = ws_arena_alloc(arena, sizeof *all * columns);
  bool *known = ws_arena_alloc(arena, sizeof *known * columns);
  ws_shape *shapes = ws_arena_alloc(arena, sizeof *shapes * most);
  double *us = ws_arena_alloc(arena, sizeof *us * columns * most);
  for (int c = 0; c < count; c++) {
    all[c] = c;
    known[c] = is_known(input->matrix, c);
  }
  WS_TRY(ws_time_models_fit(arena, input->problem, input->target, input->terms,
                            input->entries, input->matrix, NULL, all, count,
                            &models, diag));
  memcpy(shapes, covered->shapes, sizeof *shapes * (size_t)timed);
  memcpy(us, covered->us, sizeof *us * columns * (size_t)timed);
  const int wanted = add_shapes(input->problem, shapes, timed);
  int rows = timed;
  for (int s = timed; s < wanted; s++) {
    shapes[rows] = shapes[s];
    rows += model_row(input, models, known, &shapes[s],
                      us + columns * (size_t)rows);
  }
  covered->shapes = shapes;
  covered->us = us;
  covered->shape_count = rows;
  *out_weights = weigh(arena, timed, rows);
  return WS_OK;
}
