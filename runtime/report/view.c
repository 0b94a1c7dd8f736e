/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Speed-ups over a reference, the best so far of every run, and the best on
 * every shape, within one provenance.
 */
#include "view.h"

#include "json.h"
#include "wavesmith/sim_error.h"

#include <math.h>
#include <string.h>

bool ws__report_ranked(const ws__report_view *view, int candidate) {
  return view->speedup[candidate] > 0 &&
         view->shared[candidate] == view->shape_count;
}

/* ---- references ---- */
static bool has_time(const ws__report_candidate *candidate,
                     const char *provenance) {
  for (int i = 0; i < candidate->time_count; i++)
    if (!strcmp(candidate->times[i].provenance, provenance))
      return true;
  return false;
}

/* The first candidate with times that was proposed as origin; "" any. */
static int find_reference(const ws__report_source *source,
                          const char *provenance, const char *origin) {
  for (int c = 0; c < source->candidate_count; c++) {
    const ws__report_candidate *candidate = &source->candidates[c];
    if (candidate->ranks && has_time(candidate, provenance) &&
        (!*origin || !strcmp(candidate->row.proposer, origin)))
      return c;
  }
  return -1;
}

/* ---- speed-ups ---- */
static int count_timed(const ws__report_source *source, const char *provenance,
                       const ws_shape *shape) {
  int count = 0;
  for (int c = 0; c < source->candidate_count; c++)
    count += source->candidates[c].ranks &&
             ws__report_time(&source->candidates[c], provenance, shape);
  return count;
}

/* The reference's, without those that less than half as many candidates have as
 * the one that most have: a run's finalists are timed beside its shapes. */
static void collect_shapes(ws__report_view *view,
                           const ws__report_source *source,
                           const ws__report_candidate *reference,
                           const char *provenance) {
  size_t room = (size_t)reference->time_count;
  ws_shape *shapes = ws_arena_alloc(source->arena, sizeof *shapes * room);
  int *counts = ws_arena_alloc(source->arena, sizeof *counts * room);
  int all = 0, most = 0;
  for (int i = 0; i < reference->time_count; i++)
    if (!strcmp(reference->times[i].provenance, provenance)) {
      shapes[all] = reference->times[i].shape;
      counts[all] = count_timed(source, provenance, &shapes[all]);
      most = counts[all] > most ? counts[all] : most;
      all++;
    }
  for (int i = 0; i < all; i++)
    if (2 * counts[i] >= most)
      shapes[view->shape_count++] = shapes[i];
  view->shapes = shapes;
}

static double speedup_of(const ws__report_view *view,
                         const ws__report_candidate *candidate,
                         const ws__report_candidate *reference,
                         const char *provenance, int *out_shared) {
  double logs = 0;
  *out_shared = 0;
  for (int s = 0; s < view->shape_count && candidate->ranks; s++) {
    const ws_measurement *own =
        ws__report_time(candidate, provenance, &view->shapes[s]);
    if (!own)
      continue;
    const ws_measurement *base =
        ws__report_time(reference, provenance, &view->shapes[s]);
    logs += log(base->us / own->us);
    ++*out_shared;
  }
  return *out_shared ? exp(logs / *out_shared) : 0;
}

static void enter_top(ws__report_view *view, int candidate) {
  int place = view->top_count;
  while (place > 0 &&
         view->speedup[view->top[place - 1]] < view->speedup[candidate])
    place--;
  if (place == WS__REPORT_TOP)
    return;
  if (view->top_count < WS__REPORT_TOP)
    view->top_count++;
  memmove(&view->top[place + 1], &view->top[place],
          sizeof view->top[0] * (size_t)(view->top_count - 1 - place));
  view->top[place] = candidate;
}

static void fill_view(const ws__report_source *source, ws__report_view *view) {
  size_t count = (size_t)source->candidate_count;
  double *speedup = ws_arena_alloc(source->arena, sizeof *speedup * count);
  int *shared = ws_arena_alloc(source->arena, sizeof *shared * count);
  const char *provenance = source->provenances[view->provenance];
  const ws__report_candidate *reference = &source->candidates[view->reference];
  collect_shapes(view, source, reference, provenance);
  view->speedup = speedup;
  view->shared = shared;
  for (int c = 0; c < source->candidate_count; c++) {
    speedup[c] = speedup_of(view, &source->candidates[c], reference, provenance,
                            &shared[c]);
    if (ws__report_ranked(view, c))
      enter_top(view, c);
  }
}

void ws__report_views(const ws__report_source *source,
                      ws__report_view **out_views, int *out_count) {
  static const struct {
    const char *origin, *role;
  } references[] = {
      {"baseline", "baseline"}, {"default", "default"}, {"", "first"}};
  enum { REFERENCES = sizeof references / sizeof references[0] };
  ws__report_view *views =
      ws_arena_alloc(source->arena, sizeof *views * REFERENCES *
                                        (size_t)source->provenance_count);
  *out_count = 0;
  for (int p = 0; p < source->provenance_count; p++) {
    int found = 0;
    for (int r = 0; r < REFERENCES; r++) {
      int reference =
          find_reference(source, source->provenances[p], references[r].origin);
      if (reference < 0 || (!*references[r].origin && found))
        continue;
      ws__report_view *view = &views[(*out_count)++];
      *view = (ws__report_view){
          .provenance = p, .reference = reference, .role = references[r].role};
      fill_view(source, view);
      found++;
    }
  }
  *out_views = views;
}

/* ---- JSON: progress ---- */
/* [draw, candidate, speed-up] of every draw that is the best so far; draws
 * count from 1. */
static cJSON *improvements(const ws__report_view *view,
                           const ws__report_run *run) {
  cJSON *list = cJSON_CreateArray();
  double best = 0;
  for (int d = 0; d < run->draw_count; d++) {
    int candidate = run->draws[d];
    if (!ws__report_ranked(view, candidate) || view->speedup[candidate] <= best)
      continue;
    best = view->speedup[candidate];
    cJSON *entry = cJSON_CreateArray();
    cJSON_AddItemToArray(entry, cJSON_CreateNumber(d + 1));
    cJSON_AddItemToArray(entry, cJSON_CreateNumber(candidate));
    cJSON_AddItemToArray(entry, ws__report_number(best));
    cJSON_AddItemToArray(list, entry);
  }
  return list;
}

/* ---- JSON: shapes ---- */
static cJSON *interval(const ws_measurement *time) {
  if (!time)
    return cJSON_CreateNull();
  cJSON *list = cJSON_CreateArray();
  const double values[] = {time->us, time->low_us, time->high_us};
  for (int i = 0; i < 3; i++)
    cJSON_AddItemToArray(list, ws__report_number(values[i]));
  return list;
}

/* The fastest on a shape; its time, NULL: there is none. */
static const ws_measurement *fastest(const ws__report_source *source,
                                     const char *provenance,
                                     const ws_shape *shape,
                                     int *out_candidate) {
  const ws_measurement *best = NULL;
  *out_candidate = -1;
  for (int c = 0; c < source->candidate_count; c++) {
    const ws_measurement *time =
        source->candidates[c].ranks
            ? ws__report_time(&source->candidates[c], provenance, shape)
            : NULL;
    if (time && (!best || time->us < best->us)) {
      best = time;
      *out_candidate = c;
    }
  }
  return best;
}

/* Others that rank and whose time the model cannot tell from the best. */
static int count_equal(const ws__report_source *source, const char *provenance,
                       const ws_shape *shape, const ws_measurement *best) {
  int count = -1; /* the best itself */
  for (int c = 0; c < source->candidate_count; c++) {
    const ws_measurement *time =
        source->candidates[c].ranks
            ? ws__report_time(&source->candidates[c], provenance, shape)
            : NULL;
    count += time && ws_sim_error_are_equal(provenance, time->us, best->us);
  }
  return count;
}

static cJSON *shape_json(const ws__report_source *source,
                         const ws__report_view *view, const ws_shape *shape) {
  const char *provenance = source->provenances[view->provenance];
  cJSON *json = cJSON_CreateObject();
  int best;
  const ws_measurement *best_time = fastest(source, provenance, shape, &best);
  cJSON_AddItemToObject(json, "shape", ws__report_shape(shape));
  cJSON_AddItemToObject(
      json, "reference",
      interval(ws__report_time(&source->candidates[view->reference], provenance,
                               shape)));
  cJSON_AddItemToObject(json, "best", interval(best_time));
  cJSON_AddNumberToObject(json, "candidate", best);
  ws__report_add_text(json, "bound", best_time ? best_time->bound : "", 0);
  if (best_time && ws_sim_error_equal(provenance) > 0) {
    ws__report_add_number(json, "error",
                          ws_sim_error_of(provenance, best_time->bound));
    cJSON_AddNumberToObject(json, "equal",
                            count_equal(source, provenance, shape, best_time));
  }
  cJSON_AddItemToObject(
      json, "leader",
      interval(view->top_count
                   ? ws__report_time(&source->candidates[view->top[0]],
                                     provenance, shape)
                   : NULL));
  return json;
}

static bool lists_shape(const cJSON *list, const ws_shape *shape) {
  const cJSON *item;
  cJSON *wanted = ws__report_shape(shape);
  bool found = false;
  cJSON_ArrayForEach(item, list) found |= cJSON_Compare(
      cJSON_GetObjectItemCaseSensitive(item, "shape"), wanted, true);
  cJSON_Delete(wanted);
  return found;
}

/* The reference's shapes first, then those that only others have. */
static cJSON *shapes_json(const ws__report_source *source,
                          const ws__report_view *view) {
  const char *provenance = source->provenances[view->provenance];
  cJSON *list = cJSON_CreateArray();
  for (int s = 0; s < view->shape_count; s++)
    cJSON_AddItemToArray(list, shape_json(source, view, &view->shapes[s]));
  for (int t = 0; t < view->top_count; t++) {
    const ws__report_candidate *candidate = &source->candidates[view->top[t]];
    for (int i = 0; i < candidate->time_count; i++)
      if (!strcmp(candidate->times[i].provenance, provenance) &&
          !lists_shape(list, &candidate->times[i].shape))
        cJSON_AddItemToArray(
            list, shape_json(source, view, &candidate->times[i].shape));
  }
  return list;
}

/* ---- JSON: the view ---- */
/* Speed-ups of candidates with all shapes; null for the others. */
static cJSON *ranked_json(const ws__report_source *source,
                          const ws__report_view *view) {
  cJSON *list = cJSON_CreateArray();
  for (int c = 0; c < source->candidate_count; c++)
    cJSON_AddItemToArray(
        list,
        ws__report_number(ws__report_ranked(view, c) ? view->speedup[c] : NAN));
  return list;
}

/* [candidate, speed-up, shapes] of those timed on some of the shapes. */
static cJSON *partial_json(const ws__report_source *source,
                           const ws__report_view *view) {
  cJSON *list = cJSON_CreateArray();
  for (int c = 0; c < source->candidate_count; c++) {
    if (view->speedup[c] <= 0 || ws__report_ranked(view, c))
      continue;
    cJSON *entry = cJSON_CreateArray();
    cJSON_AddItemToArray(entry, cJSON_CreateNumber(c));
    cJSON_AddItemToArray(entry, ws__report_number(view->speedup[c]));
    cJSON_AddItemToArray(entry, cJSON_CreateNumber(view->shared[c]));
    cJSON_AddItemToArray(list, entry);
  }
  return list;
}

cJSON *ws__report_view_json(const ws__report_source *source,
                            const ws__report_view *view) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "provenance", view->provenance);
  cJSON_AddNumberToObject(json, "reference", view->reference);
  cJSON_AddStringToObject(json, "role", view->role);
  cJSON_AddNumberToObject(json, "shape_count", view->shape_count);
  cJSON_AddItemToObject(json, "speedup", ranked_json(source, view));
  cJSON_AddItemToObject(json, "partial", partial_json(source, view));
  cJSON *progress = cJSON_AddArrayToObject(json, "progress");
  for (int r = 0; r < source->run_count; r++)
    cJSON_AddItemToArray(progress, improvements(view, &source->runs[r]));
  cJSON_AddItemToObject(json, "top",
                        cJSON_CreateIntArray(view->top, view->top_count));
  cJSON_AddItemToObject(json, "shapes", shapes_json(source, view));
  return json;
}
