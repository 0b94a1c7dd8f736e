/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Cross-validation over groups of shapes that share all sizes but the first
 * (the layers of one weight matrix): neighbours in the first size tell much
 * about each other, so a group is left out as a whole. Groups are left out some
 * at a time, for each turn makes a whole choice, portfolio and selection.
 */
#include "leave_out.h"

#include <math.h>
#include <string.h>

enum { FOLDS = 8 };

static bool same_group(const ws_shape *a, const ws_shape *b) {
  return !memcmp(a->size + 1, b->size + 1, sizeof a->size - sizeof *a->size);
}

/* By shape; in the order in which they come. */
static void number_groups(const ws_matrix *matrix, int *out) {
  int count = 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    int other = 0;
    while (!same_group(&matrix->shapes[other], &matrix->shapes[s]))
      other++;
    out[s] = other < s ? out[other] : count++;
  }
}

static bool is_timed(const ws_matrix *matrix, int shape) {
  const size_t columns = (size_t)matrix->candidate_count;
  for (size_t c = 0; c < columns; c++)
    if (isfinite(matrix->us[(size_t)shape * columns + c]))
      return true;
  return false;
}

/* The timed rows outside the fold. */
static ws_matrix rows_outside(ws_arena *arena, const ws_matrix *from,
                              const int *group, int fold) {
  const size_t columns = (size_t)from->candidate_count,
               rows = (size_t)from->shape_count;
  ws_shape *shapes = ws_arena_alloc(arena, sizeof *shapes * rows);
  ws_matrix out = *from;
  out.shapes = shapes;
  out.us = ws_arena_alloc(arena, sizeof *out.us * columns * rows);
  out.shape_count = 0;
  for (size_t s = 0; s < rows; s++) {
    if (group[s] % FOLDS == fold || !is_timed(from, (int)s))
      continue;
    memcpy(out.us + (size_t)out.shape_count * columns, from->us + s * columns,
           sizeof *out.us * columns);
    shapes[out.shape_count++] = from->shapes[s];
  }
  return out;
}

static void pick_fold(const ws__task *task, const ws_dispatch_entry *entries,
                      const ws_matrix *matrix, const int *group, int fold,
                      int *picks) {
  ws_arena *arena = ws_arena_create();
  ws_diag none;
  ws_dispatch_choice choice;
  const ws_matrix known = rows_outside(arena, matrix, group, fold);
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
  number_groups(matrix, group);
  for (int s = 0; s < matrix->shape_count; s++)
    picks[s] = -1;
  for (int fold = 0; fold < FOLDS; fold++)
    pick_fold(task, entries, matrix, group, fold, picks);
  return picks;
}
