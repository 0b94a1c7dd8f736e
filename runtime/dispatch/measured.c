/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The matrix of recorded times. Of one provenance only: times of a card, of a
 * simulator's model and of the bound model never stand in one matrix. A
 * candidate takes part when it has a time on every shape of the set that it
 * accepts, or on so many shapes that a time model can tell the others; and a
 * provenance when its candidates accept every legal shape. Rows are the
 * set's shapes, and others on which enough of those who take part have times; what
 * was not timed is NAN. Cards come before simulators, then more candidates before
 * fewer, then the later name (the later model version). A simulator's times are
 * taken unasked only where a whole portfolio can be picked from them: of two
 * models, the finer one with few kernels costs more than the cruder one with
 * many.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorded { /* of one candidate */
  const ws_measurement *items;
  int count;
} recorded;

typedef struct choice {
  const char *provenance;
  int rank; /* of its kind, less is better */
  int complete;
  bool universal;
} choice;

/* "sim" of "sim:gfx942-model-5:MI300X". */
static bool is_of_kind(const char *provenance, const char *kind) {
  size_t size = strlen(kind);
  return !strncmp(provenance, kind, size) &&
         (provenance[size] == ':' || !provenance[size]);
}

static int rank_of(const char *provenance) {
  static const char *const kinds[] = {"hip", "cuda", "sim"};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  for (int i = 0; i < KINDS; i++)
    if (is_of_kind(provenance, kinds[i]))
      return i;
  return KINDS; /* estimates, which are better made anew */
}

bool ws__is_estimate(const char *provenance) {
  return is_of_kind(provenance, "estimate");
}

bool ws__is_of_a_card(const char *provenance) {
  return is_of_kind(provenance, "hip") || is_of_kind(provenance, "cuda");
}

static int compare_items(const void *a, const void *b) {
  const ws_measurement *x = a, *y = b;
  const int order = strcmp(x->provenance, y->provenance);
  return order ? order : ws_shape_compare(&x->shape, &y->shape);
}

/* requires: items in order. NAN: none. */
static double time_on(const recorded *times, const ws_shape *shape,
                      const char *provenance) {
  const ws_measurement wanted = {.shape = *shape, .provenance = provenance};
  const ws_measurement *found =
      times->count ? bsearch(&wanted, times->items, (size_t)times->count,
                             sizeof wanted, compare_items)
                   : NULL;
  return found ? found->us : NAN;
}

static bool is_complete(const ws_dispatch_entry *entry, const recorded *times,
                        const ws_shape_set *set, const char *provenance) {
  for (int s = 0; s < set->count; s++)
    if (ws_candidate_takes(entry->candidate, &set->shapes[s]) &&
        isnan(time_on(times, &set->shapes[s], provenance)))
      return false;
  return true;
}

/* Timings on which a model of a kernel's time may rest, with those of kernels
 * like it. */
enum { LEAST_TIMINGS = 12 };

static bool takes_part(const ws_dispatch_entry *entry, const recorded *times,
                       const ws_shape_set *set, const char *provenance) {
  int timings = 0;
  for (int i = 0; i < times->count; i++)
    timings += !strcmp(times->items[i].provenance, provenance);
  return timings >= LEAST_TIMINGS ||
         is_complete(entry, times, set, provenance);
}

/* ---- the provenance ---- */

static bool is_better(const choice *a, const choice *b) {
  if (!b->provenance || a->rank != b->rank)
    return !b->provenance || a->rank < b->rank;
  if (a->complete != b->complete)
    return a->complete > b->complete;
  return strcmp(a->provenance, b->provenance) > 0;
}

/* Models reach between shapes that were timed, not far beyond: half of the
 * set's must have been. */
static bool reaches(const char *provenance, const recorded *times, int count,
                    const ws_shape_set *set) {
  int timed = 0;
  for (int s = 0; s < set->count; s++) {
    int e = 0;
    while (e < count && isnan(time_on(&times[e], &set->shapes[s], provenance)))
      e++;
    timed += e < count;
  }
  return 2 * timed >= set->count;
}

static choice examine(const char *provenance, const ws_problem *problem,
                      const ws_dispatch_entry *entries, const recorded *times,
                      int count, const ws_shape_set *set) {
  choice found = {.provenance = provenance, .rank = rank_of(provenance)};
  if (!reaches(provenance, times, count, set))
    return found;
  const ws_candidate **candidates =
      malloc(sizeof *candidates * (size_t)count);
  ws_shape refused;
  WS_ASSERT(candidates != NULL);
  for (int e = 0; e < count; e++)
    if (takes_part(&entries[e], &times[e], set, provenance))
      candidates[found.complete++] = entries[e].candidate;
  found.universal =
      ws__take_every_shape(candidates, found.complete, problem, &refused);
  free(candidates);
  return found;
}

enum { MAX_PROVENANCES = 64, SIMULATED_ENOUGH = 8 /* the portfolio */ };

/* wanted: NULL for any, a kind, or a whole provenance. */
static choice choose(const ws_problem *problem,
                     const ws_dispatch_entry *entries, const recorded *times,
                     int count, const ws_shape_set *set, const char *wanted) {
  const char *seen[MAX_PROVENANCES];
  int seen_count = 0;
  choice best = {0};
  for (int e = 0; e < count; e++)
    for (int i = 0; i < times[e].count; i++) {
      const char *provenance = times[e].items[i].provenance;
      int known = 0;
      while (known < seen_count && strcmp(seen[known], provenance))
        known++;
      if (known < seen_count || seen_count == MAX_PROVENANCES ||
          !strcmp(provenance, WS_PROVENANCE_ESTIMATE) ||
          (wanted && !is_of_kind(provenance, wanted)))
        continue;
      seen[seen_count++] = provenance;
      choice found = examine(provenance, problem, entries, times, count, set);
      const bool enough = wanted || !is_of_kind(provenance, "sim") ||
                          found.complete >= SIMULATED_ENOUGH;
      if (found.universal && enough && is_better(&found, &best))
        best = found;
    }
  return best;
}

/* ---- the matrix ---- */

static ws_status read_all(ws_archive *archive, ws_arena *arena,
                          const ws_dispatch_entry *entries, int count,
                          recorded *out, ws_diag *diag) {
  for (int e = 0; e < count; e++) {
    ws_measurement *items;
    WS_TRY(ws_archive_get_measurements(archive, arena,
                                       entries[e].candidate->id.hex, &items,
                                       &out[e].count, diag));
    if (out[e].count)
      qsort(items, (size_t)out[e].count, sizeof *items, compare_items);
    out[e].items = items;
  }
  return WS_OK;
}

/* Entries that take part move to the front. */
static int keep_timed(ws_dispatch_entry *entries, recorded *times, int count,
                      const ws_shape_set *set, const char *provenance) {
  int kept = 0;
  for (int e = 0; e < count; e++)
    if (takes_part(&entries[e], &times[e], set, provenance)) {
      entries[kept] = entries[e];
      times[kept++] = times[e];
    }
  return kept;
}

/* ---- rows ---- */

typedef struct row {
  ws_shape shape;
  int timed; /* entries with a time */
} row;

static int compare_rows(const void *a, const void *b) {
  const row *x = a, *y = b;
  return ws_shape_compare(&x->shape, &y->shape);
}

/* Equal shapes become one row. */
static int join_rows(row *rows, int count) {
  int kept = 0;
  qsort(rows, (size_t)count, sizeof *rows, compare_rows);
  for (int i = 0; i < count; i++)
    if (kept && ws_shape_same(&rows[kept - 1].shape, &rows[i].shape))
      rows[kept - 1].timed += rows[i].timed;
    else
      rows[kept++] = rows[i];
  return kept;
}

static bool has_shape(const ws_shape_set *set, const ws_shape *shape) {
  for (int i = 0; i < set->count; i++)
    if (ws_shape_same(&set->shapes[i], shape))
      return true;
  return false;
}

/* Times of few kernels say little of a shape; of many kernels each was timed on
 * some of many shapes. */
static bool says_enough(int timed, int entries) {
  enum { MANY = 32, FEW = 4 };
  return entries > MANY ? timed >= FEW : 2 * timed >= entries;
}

/* The set's shapes, then the others in order. */
static void collect_shapes(ws_arena *arena, const recorded *times, int count,
                           const ws_shape_set *set, const char *provenance,
                           ws_matrix *out) {
  int room = 0, row_count = 0;
  for (int e = 0; e < count; e++)
    room += times[e].count;
  row *rows = ws_arena_alloc(arena, sizeof *rows * (size_t)room);
  for (int e = 0; e < count; e++)
    for (int i = 0; i < times[e].count; i++)
      if (!strcmp(times[e].items[i].provenance, provenance))
        rows[row_count++] = (row){times[e].items[i].shape, 1};
  row_count = join_rows(rows, row_count);
  ws_shape *shapes = ws_arena_alloc(
      arena, sizeof *shapes * (size_t)(set->count + row_count));
  memcpy(shapes, set->shapes, sizeof *shapes * (size_t)set->count);
  out->shapes = shapes;
  out->shape_count = set->count;
  for (int r = 0; r < row_count; r++)
    if (says_enough(rows[r].timed, count) && !has_shape(set, &rows[r].shape))
      shapes[out->shape_count++] = rows[r].shape;
}

static void fill_cells(const ws_dispatch_entry *entries, const recorded *times,
                       const char *provenance, ws_matrix *out, double *us) {
  for (int e = 0; e < out->candidate_count; e++)
    for (int s = 0; s < out->shape_count; s++)
      us[(size_t)s * (size_t)out->candidate_count + (size_t)e] =
          ws_candidate_takes(entries[e].candidate, &out->shapes[s])
              ? time_on(&times[e], &out->shapes[s], provenance)
              : INFINITY;
  out->us = us;
}

ws_status ws_dispatch_measured(ws_archive *archive, ws_arena *arena,
                               const ws_problem *problem,
                               const ws_shape_set *set, const char *wanted,
                               ws_dispatch_entry *entries, int *count,
                               ws_matrix *out_matrix, ws_diag *diag) {
  recorded *times = ws_arena_alloc(arena, sizeof *times * (size_t)*count);
  *out_matrix = (ws_matrix){.shapes = set->shapes, .shape_count = set->count};
  WS_TRY(read_all(archive, arena, entries, *count, times, diag));
  choice best = choose(problem, entries, times, *count, set, wanted);
  if (!best.provenance)
    return WS_OK;
  *count = keep_timed(entries, times, *count, set, best.provenance);
  out_matrix->provenance = best.provenance;
  out_matrix->candidate_count = *count;
  collect_shapes(arena, times, *count, set, best.provenance, out_matrix);
  const size_t cells = (size_t)out_matrix->shape_count * (size_t)*count;
  fill_cells(entries, times, best.provenance, out_matrix,
             ws_arena_alloc(arena, sizeof *out_matrix->us * cells));
  return WS_OK;
}

ws_status ws_dispatch_times(ws_archive *archive, ws_arena *arena,
                            const ws_problem *problem, const ws_target *target,
                            const ws_shape_set *set, const char *wanted,
                            ws_dispatch_entry *entries, int *count,
                            ws_matrix *out_matrix, ws_diag *diag) {
  *out_matrix = (ws_matrix){.shapes = set->shapes, .shape_count = set->count};
  if (!wanted || !ws__is_estimate(wanted)) {
    WS_TRY(ws_dispatch_measured(archive, arena, problem, set, wanted, entries,
                                count, out_matrix, diag));
    if (out_matrix->provenance || wanted)
      return WS_OK;
  }
  if (!target->has_host_model)
    return WS_OK;
  int shape_count;
  const ws_shape *shapes =
      ws_dispatch_training_shapes(arena, problem, set, &shape_count);
  return ws_dispatch_estimate(arena, problem, entries, *count, shapes,
                              shape_count, out_matrix, diag);
}
