/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A run's result is not its fastest kernel but what is shipped: a portfolio
 * and rules. So winners are those that the dispatch would take, and each is
 * looked at where its rules take it: a specialist loses elsewhere, which
 * nobody meets. Gains are ratios of recorded times of one provenance; a shape
 * that lacks one of the two times does not count, and how many did is told.
 */
#include "shipped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- recorded times ---- */
typedef struct times {
  const ws_measurement *items;
  int count;
  const char *provenance;
} times;

static ws_status read_times(ws_archive *archive, ws_arena *arena,
                            const char *id, const char *provenance, times *out,
                            ws_diag *diag) {
  ws_measurement *items = NULL;
  *out = (times){.provenance = provenance};
  if (!id)
    return WS_OK;
  WS_TRY(ws_archive_get_measurements(archive, arena, id, &items, &out->count,
                                     diag));
  out->items = items;
  return WS_OK;
}

/* NAN: none. */
static double time_on(const times *t, const ws_shape *shape) {
  for (int i = 0; i < t->count; i++)
    if (!memcmp(&t->items[i].shape, shape, sizeof *shape) &&
        !strcmp(t->items[i].provenance, t->provenance))
      return t->items[i].us;
  return NAN;
}

/* ---- the choice ---- */
/* No candidate is ok, or there are neither times nor estimates: that stands in
 * a dispatch's way, and in nobody's here. */
void ws__shipped_times(ws_archive *archive, ws_arena *arena,
                       const ws__task *task, ws_dispatch_entry **out_entries,
                       ws_matrix *out_matrix) {
  const ws_shape_set set = {task->shape_set, task->shapes, task->shape_count};
  ws_diag none;
  int count;
  if (ws_dispatch_load_recorded(archive, arena, task->problem, task->layout,
                                task->target->name, out_entries, &count,
                                &none) != WS_OK ||
      ws_dispatch_times(archive, arena, task->problem, task->target, &set, NULL,
                        *out_entries, &count, out_matrix, &none) != WS_OK)
    *out_matrix = (ws_matrix){.provenance = NULL};
}

static ws_dispatch_choice choose(ws_archive *archive, ws_arena *arena,
                                 const ws__task *task,
                                 ws_dispatch_entry **out_entries,
                                 const char **out_provenance) {
  ws_diag none;
  ws_matrix matrix;
  ws_dispatch_choice out = {.count = 0};
  ws__shipped_times(archive, arena, task, out_entries, &matrix);
  if (!matrix.provenance)
    return out;
  const ws_selection_input input = {.problem = task->problem,
                                    .target = task->target,
                                    .entries = *out_entries,
                                    .matrix = &matrix};
  if (ws_dispatch_choose(arena, &input, &out, &none) != WS_OK)
    out.count = 0; /* nothing takes every shape */
  *out_provenance = matrix.provenance;
  return out;
}

static void note_chosen(ws_arena *arena, const ws__task *task,
                        const ws_dispatch_choice *choice, int kernel,
                        ws__shipped_kernel *out) {
  bool *chosen =
      ws_arena_alloc(arena, sizeof *chosen * (size_t)task->shape_count);
  for (int s = 0; s < task->shape_count; s++) {
    chosen[s] =
        ws_selection_pick(choice->selection, &task->shapes[s]) == kernel;
    out->chosen_count += chosen[s];
  }
  out->chosen = chosen;
}

static void add_gain(const ws__task *task, const times *own, const times *start,
                     ws__shipped_kernel *out) {
  for (int s = 0; s < task->shape_count; s++) {
    double ratio =
        time_on(start, &task->shapes[s]) / time_on(own, &task->shapes[s]);
    if (out->chosen[s] && ratio > 0)
      out->gain += log(ratio);
  }
}

static int compare_kernels(const void *a, const void *b) {
  const ws__shipped_kernel *x = a, *y = b;
  if (x->gain != y->gain)
    return x->gain > y->gain ? -1 : 1;
  if (x->chosen_count != y->chosen_count)
    return y->chosen_count - x->chosen_count;
  return strcmp(x->id, y->id);
}

/* Where the rules' picks lie in the sorted kernels. */
static const int *order_of(ws_arena *arena, const ws__shipped *shipped,
                           const ws_dispatch_entry *entries,
                           const ws_dispatch_choice *choice) {
  int *order = ws_arena_alloc(arena, sizeof *order * (size_t)choice->count);
  for (int p = 0; p < choice->count; p++)
    for (int k = 0; k < shipped->count; k++)
      if (!strcmp(shipped->kernels[k].id,
                  entries[choice->columns[p]].candidate->id.hex))
        order[p] = k;
  return order;
}

ws_status ws__shipped_find(ws_archive *archive, ws_arena *arena,
                           const ws__task *task, const char *start_id,
                           ws__shipped *out_shipped, ws_diag *diag) {
  ws_dispatch_entry *entries;
  ws_dispatch_choice choice;
  times start, own;
  *out_shipped = (ws__shipped){.provenance = ""};
  choice = choose(archive, arena, task, &entries, &out_shipped->provenance);
  if (!choice.count)
    return WS_OK;
  const char *provenance = out_shipped->provenance;
  WS_TRY(read_times(archive, arena, start_id, provenance, &start, diag));
  out_shipped->kernels = ws_arena_alloc(arena, sizeof *out_shipped->kernels *
                                                   (size_t)choice.count);
  for (int p = 0; p < choice.count; p++) {
    ws__shipped_kernel *kernel = &out_shipped->kernels[p];
    kernel->id = entries[choice.columns[p]].candidate->id.hex;
    note_chosen(arena, task, &choice, p, kernel);
    WS_TRY(read_times(archive, arena, kernel->id, provenance, &own, diag));
    add_gain(task, &own, &start, kernel);
  }
  out_shipped->count = choice.count;
  out_shipped->selection = choice.selection;
  qsort(out_shipped->kernels, (size_t)choice.count, sizeof(ws__shipped_kernel),
        compare_kernels);
  out_shipped->order = order_of(arena, out_shipped, entries, &choice);
  return WS_OK;
}

/* ---- what it gains ---- */
static void add_ratio(double other_us, double own_us, double *log_sum,
                      ws_tune_gain *out) {
  if (!(other_us > 0) || !(own_us > 0))
    return;
  *log_sum += log(other_us / own_us);
  out->shapes++;
  out->speedup = exp(*log_sum / out->shapes);
}

/* Sums of logarithms behind the gains of one kernel, or of all. */
typedef struct sums {
  double start, baseline, held_out;
} sums;

typedef struct filling {
  const ws__task *task;
  const ws__shipped *shipped;
  const ws_shape_set *held_out;
  times start, baseline;
} filling;

static void fill_kernel(const filling *f, int index, const times *own,
                        sums *kernel_sums, ws_tune_kernel *out, sums *all_sums,
                        ws_tune_kernel *all) {
  for (int s = 0; s < f->task->shape_count; s++) {
    const ws_shape *shape = &f->task->shapes[s];
    double us = time_on(own, shape);
    if (!f->shipped->kernels[index].chosen[s])
      continue;
    out->chosen[out->chosen_count++] = *shape;
    add_ratio(time_on(&f->start, shape), us, &kernel_sums->start,
              &out->over_start);
    add_ratio(time_on(&f->baseline, shape), us, &kernel_sums->baseline,
              &out->over_baseline);
    add_ratio(time_on(&f->start, shape), us, &all_sums->start,
              &all->over_start);
    add_ratio(time_on(&f->baseline, shape), us, &all_sums->baseline,
              &all->over_baseline);
  }
  for (int i = 0; f->held_out && i < f->held_out->count; i++) {
    const ws_shape *shape = &f->held_out->shapes[i];
    int pick = ws_selection_pick(f->shipped->selection, shape);
    if (pick < 0 || f->shipped->order[pick] != index)
      continue;
    add_ratio(time_on(&f->start, shape), time_on(own, shape),
              &kernel_sums->held_out, &out->held_out);
    add_ratio(time_on(&f->start, shape), time_on(own, shape),
              &all_sums->held_out, &all->held_out);
  }
}

/* The latest confirmation of this device. */
static ws_status fill_verdict(ws_archive *archive, ws_arena *arena,
                              const char *provenance, ws_tune_kernel *out,
                              ws_diag *diag) {
  ws_confirmation_row *rows;
  int count;
  WS_TRY(ws_archive_list_confirmations(archive, arena, out->id, &rows, &count,
                                       diag));
  for (int i = 0; i < count; i++)
    if (!strcmp(rows[i].provenance, provenance)) {
      out->verdict = rows[i].verdict;
      out->reason = strcmp(rows[i].verdict, ws_verdict_text(WS_VERDICT_OK))
                        ? rows[i].reason
                        : "";
    }
  return WS_OK;
}

static ws_tune_kernel new_kernel(ws_arena *arena, const char *id, int shapes) {
  return (ws_tune_kernel){
      .id = id,
      .verdict = "",
      .reason = "",
      .chosen = ws_arena_alloc(arena, sizeof(ws_shape) * (size_t)shapes)};
}

static ws_status fill(ws_archive *archive, ws_arena *arena, filling *f,
                      const char *provenance, ws_tune_result *out,
                      ws_diag *diag) {
  int count = f->shipped->count;
  ws_tune_kernel *kernels =
      ws_arena_alloc(arena, sizeof *kernels * (size_t)count);
  sums all_sums = {0};
  out->portfolio = new_kernel(arena, "", 0);
  for (int k = 0; k < count; k++) {
    times own;
    sums kernel_sums = {0};
    kernels[k] =
        new_kernel(arena, f->shipped->kernels[k].id, f->task->shape_count);
    WS_TRY(read_times(archive, arena, kernels[k].id, provenance, &own, diag));
    fill_kernel(f, k, &own, &kernel_sums, &kernels[k], &all_sums,
                &out->portfolio);
    out->portfolio.chosen_count += kernels[k].chosen_count;
    WS_TRY(fill_verdict(archive, arena, out->provenance, &kernels[k], diag));
  }
  out->kernels = kernels;
  out->kernel_count = count;
  return WS_OK;
}

ws_status ws__shipped_fill(ws_archive *archive, ws_arena *arena,
                           const ws__task *task, const char *start_id,
                           const char *held_out, ws_tune_result *out_result,
                           ws_diag *diag) {
  const ws_candidate *baseline = task->baseline_candidate;
  ws__shipped shipped;
  filling f = {.task = task,
               .shipped = &shipped,
               .held_out = ws_problem_shape_set(
                   task->problem, held_out ? held_out : "held-out")};
  WS_TRY(ws__shipped_find(archive, arena, task, start_id, &shipped, diag));
  const char *provenance = out_result->shipped_by = shipped.provenance;
  out_result->start_id = start_id ? start_id : "";
  if (!shipped.count)
    return WS_OK;
  WS_TRY(read_times(archive, arena, start_id, provenance, &f.start, diag));
  WS_TRY(read_times(archive, arena, baseline ? baseline->id.hex : NULL,
                    provenance, &f.baseline, diag));
  return fill(archive, arena, &f, provenance, out_result, diag);
}
