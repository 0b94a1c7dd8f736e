/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Cross-validation over groups of shapes that share all sizes but the first
 * (the layers of one weight matrix): neighbours in the first size tell much
 * about each other, so a group is left out as a whole. Groups are left out some
 * at a time, for each turn makes a whole choice, portfolio and selection.
 */
#include "leave_out.h"

#include <math.h>

enum { FOLDS = 8 };

static bool is_timed(const ws_matrix *matrix, int shape) {
  const size_t columns = (size_t)matrix->candidate_count;
  for (size_t c = 0; c < columns; c++)
    if (isfinite(matrix->us[(size_t)shape * columns + c]))
      return true;
  return false;
}

static void pick_fold(const ws__task *task, const ws_dispatch_entry *entries,
                      const ws_matrix *matrix, const int *group, int fold,
                      int *picks) {
  ws_arena *arena = ws_arena_create();
  ws_diag none;
  ws_dispatch_choice choice;
  bool *marks =
      ws_arena_alloc(arena, sizeof *marks * (size_t)matrix->shape_count);
  for (int s = 0; s < matrix->shape_count; s++)
    marks[s] = group[s] % FOLDS != fold && is_timed(matrix, s);
  const ws_matrix known = ws_matrix_rows(arena, matrix, marks, true);
  const ws_selection_input input = {.problem = task->problem,
                                    .target = task->target,
                                    .entries = entries,
                                    .matrix = &known};
  const bool made = known.shape_count > 0 &&
                    ws_dispatch_choose(arena, &input, &choice, &none) == WS_OK;
  for (int s = 0; s < matrix->shape_count; s++)
    if (made && group[s] % FOLDS == fold) {
      const int pick = ws_selection_pick(choice.selection, &matrix->shapes[s]);
      picks[s] = pick < 0 ? -1 : choice.columns[pick];
    }
  ws_arena_destroy(arena);
}

const int *ws__leave_out_picks(ws_arena *arena, const ws__task *task,
                               const ws_dispatch_entry *entries,
                               const ws_matrix *matrix) {
  const size_t size = sizeof(int) * (size_t)matrix->shape_count;
  int *group = ws_arena_alloc(arena, size);
  int *picks = ws_arena_alloc(arena, size);
  ws_shape_number_groups(matrix->shapes, matrix->shape_count, group);
  for (int s = 0; s < matrix->shape_count; s++)
    picks[s] = -1;
  for (int fold = 0; fold < FOLDS; fold++)
    pick_fold(task, entries, matrix, group, fold, picks);
  return picks;
}
