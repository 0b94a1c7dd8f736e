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

/* The shape before; false: there is none, or the same kernels take it. */
static bool shape_before(const ws_selection_input *input, const ws_shape *shape,
                         ws_shape *out) {
  *out = *shape;
  out->size[0]--;
  if (out->size[0] < 1 || !ws_problem_is_legal(input->problem, out))
    return false;
  for (int c = 0; c < input->matrix->candidate_count; c++) {
    const ws_candidate *candidate = input->entries[c].candidate;
    if ((ws_candidate_broken_require(candidate, shape, NULL) < 0) !=
        (ws_candidate_broken_require(candidate, out, NULL) < 0))
      return true;
  }
  return false;
}

ws_matrix ws__with_residues(ws_arena *arena, const ws_selection_input *input,
                            const ws_matrix *matrix) {
  const size_t columns = (size_t)matrix->candidate_count;
  const size_t most = 2 * (size_t)matrix->shape_count;
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
    if (!shape_before(input, &matrix->shapes[s], &before))
      continue;
    double *row = us + (size_t)out.shape_count * columns;
    for (int c = 0; c < matrix->candidate_count; c++) {
      row[c] = ws_candidate_broken_require(input->entries[c].candidate, &before,
                                           NULL) < 0
                   ? ws__matrix_us(matrix, s, c)
                   : INFINITY;
      taken |= isfinite(row[c]);
    }
    if (taken)
      shapes[out.shape_count++] = before;
  }
  return out;
}
