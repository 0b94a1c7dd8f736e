/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes are tuned at round sizes, and programs come with any. A kernel that
 * wants a first size in multiples of four is out on three of four of them. So
 * each shape stands once more with a first size less by one, where that makes
 * a difference in who takes it: who does needs what time it needed, the count
 * of tiles being the same.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

/* The candidates of columns (NULL: of all) that do not take every shape. */
typedef struct choosy {
  const ws_candidate **items;
  int count;
} choosy;

static choosy find_choosy(ws_arena *arena, const ws_selection_input *input,
                          const int *columns, int count) {
  choosy out = {
      ws_arena_alloc(arena, sizeof *out.items * (size_t)count), 0};
  for (int i = 0; i < count; i++) {
    const ws_candidate *candidate =
        input->entries[columns ? columns[i] : i].candidate;
    if (ws__is_constrained(candidate))
      out.items[out.count++] = candidate;
  }
  return out;
}

/* The shape before; false: there is none, or the same kernels take it. */
static bool shape_before(const ws_problem *problem, const choosy *of,
                         const ws_shape *shape, ws_shape *out) {
  *out = *shape;
  out->size[0]--;
  if (!of->count || out->size[0] < 1 || !ws_problem_is_legal(problem, out))
    return false;
  for (int i = 0; i < of->count; i++)
    if (ws_candidate_takes(of->items[i], shape) !=
        ws_candidate_takes(of->items[i], out))
      return true;
  return false;
}

const ws_shape *ws__shapes_with_residues(ws_arena *arena,
                                         const ws_selection_input *input,
                                         const int *columns, int column_count,
                                         const ws_shape *shapes, int *count) {
  const choosy of = find_choosy(arena, input, columns, column_count);
  ws_shape *out = ws_arena_alloc(arena, sizeof *out * 2 * (size_t)*count);
  const int given = *count;
  memcpy(out, shapes, sizeof *out * (size_t)given);
  for (int s = 0; s < given; s++)
    *count += shape_before(input->problem, &of, &shapes[s], &out[*count]);
  return out;
}

ws_matrix ws__with_residues(ws_arena *arena, const ws_selection_input *input,
                            const ws_matrix *matrix) {
  const size_t columns = (size_t)matrix->candidate_count;
  const size_t most = 2 * (size_t)matrix->shape_count;
  const choosy of =
      find_choosy(arena, input, NULL, matrix->candidate_count);
  if (!of.count)
    return *matrix;
  ws_shape *shapes = ws_arena_alloc(arena, sizeof *shapes * most);
  double *us = ws_arena_alloc(arena, sizeof *us * columns * most);
  ws_matrix out = *matrix;
  memcpy(shapes, matrix->shapes,
         sizeof *shapes * (size_t)matrix->shape_count);
  memcpy(us, matrix->us,
         sizeof *us * columns * (size_t)matrix->shape_count);
  out.shapes = shapes;
  out.us = us;
  for (int s = 0; s < matrix->shape_count; s++) {
    ws_shape before;
    bool taken = false;
    if (!shape_before(input->problem, &of, &matrix->shapes[s], &before))
      continue;
    double *row = us + (size_t)out.shape_count * columns;
    for (int c = 0; c < matrix->candidate_count; c++) {
      row[c] = ws_candidate_takes(input->entries[c].candidate, &before)
                   ? ws__matrix_us(matrix, s, c)
                   : INFINITY;
      taken |= isfinite(row[c]) != 0;
    }
    if (taken)
      shapes[out.shape_count++] = before;
  }
  return out;
}
