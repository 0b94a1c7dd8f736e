/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Device trials. The bound model is the filter in front of the device:
 *
 * While the search goes on, a pair of candidate and shape is tried when the
 * candidate's estimate is within 10 % of the best estimate of that shape so far
 * and the pair has no time on this device yet. Candidates that are verified
 * already come first, because that is most of a trial's cost, then the newest;
 * of one candidate the shape where it stands best. The device may be busy for a
 * quarter of the time since the start. A candidate is verified before it is
 * timed; one that fails gets the device's verdict in the archive and is not
 * shipped.
 *
 * After the search come the finals: a portfolio picked by estimates, and
 * whatever is best by device time on some shape, is timed on every shape that
 * it takes, so that `wavesmith dispatch` has complete rows. When one of them
 * fails, they are picked anew. Nothing is decided by the baseline, and on a
 * simulator it is slow to run too: it gets a fifth of the finals' time and what
 * the others leave, its small shapes first. When all times are there, each
 * finalist is run on one large shape as well, and a sample of the result
 * compared: edges that are that far out do not occur on small ones. Then they
 * are timed beside the task's shapes too, for the dispatch's rules.
 *
 * On a large set (ground.h) a candidate gets few trials beside the search, and
 * in the finals those shapes alone on which its estimate is within 10 % of the
 * best finalist's: elsewhere it will not be chosen. They are taken in an order
 * that is scattered over the set, so that what time suffices for is a sample of
 * it. Nothing is timed beside the set, which is spread enough.
 *
 * Proposals follow from estimates alone. So the sequence depends on the seed
 * and not on how fast the device is, nor on whether there is one.
 */
#include "trials.h"
#include "ground.h"
#include "measuring.h"
#include "wavesmith/dispatch.h"

#include <math.h>
#include <string.h>

static const double near_best = 1.10, device_share = 0.25, baseline_share = 0.2;
/* In place of the index of a shape: to be verified, on small shapes or on one
 * of the task's. */
enum { EDGE_SHAPES = -1, LARGE_SHAPE = -2 };
/* Of the latter, flops: 1024,1536,7168 takes a simulator 2 s. */
static const double most_large_flops = 2.4e10;
enum { MAX_PORTFOLIO = 8, POOL_PER_SHAPE = 2, MAX_FAILURES = 3 };
/* Shapes of a candidate beside the search: a dispatch wants as many times of a
 * kernel (dispatch/measured.c). */
enum { MOST_IN_LARGE = 12 };

static bool is_large(const ws__trials *t) {
  return t->task->shape_count > WS__ALL_SHAPES;
}

/* ---- the device ---- */

static void end_request(ws__trial_slot *slot) {
  ws_arena_destroy(slot->arena);
  slot->arena = NULL;
  slot->candidate = -1;
}

static void leave_device(ws__trials *t) {
  for (int i = 0; i < WS_DEVICE_CLIENTS; i++) {
    end_request(&t->slots[i]);
    t->slots[i].client = NULL;
  }
  t->client = NULL;
}

/* The search leaves the other cores to the compile servers. */
static void open_slots(ws__trials *t) {
  ws_diag why;
  for (int i = 1; i < ws_device_clients_useful(t->client); i++)
    if (!t->slots[i].client &&
        ws_device_client_another(t->client, i - 1, &t->slots[i].client, &why) !=
            WS_OK)
      ws_log(WS_LOG_INFO, "one device server less: %s", why.text);
}

static bool is_in_hand(const ws__trials *t, const ws__trial_candidate *item,
                       int shape) {
  for (int i = 0; i < WS_DEVICE_CLIENTS; i++)
    if (t->slots[i].candidate == item - t->items && t->slots[i].shape == shape)
      return true;
  return false;
}

static bool is_among(const ws_shape *shapes, int count, const ws_shape *shape) {
  for (int i = 0; i < count; i++)
    if (!memcmp(&shapes[i], shape, sizeof *shape))
      return true;
  return false;
}

static double *new_times(ws__trials *t) {
  int count = t->shape_count;
  double *us = ws_arena_alloc(t->arena, sizeof *us * (size_t)count);
  for (int s = 0; s < count; s++)
    us[s] = INFINITY;
  return us;
}

/* The task's shapes, then each at a few other sizes of the first dimension, the
 * one that callers vary most: rules for a dispatch should not stand on the
 * task's shapes alone. */
static void set_shapes(ws__trials *t) {
  static const int64_t spread[] = {16, 64, 256};
  enum { SPREAD = sizeof spread / sizeof spread[0] };
  const ws__task *task = t->task;
  size_t room = (size_t)task->shape_count * (SPREAD + 1);
  ws_shape *shapes = ws_arena_alloc(t->arena, sizeof *shapes * room);
  memcpy(shapes, task->shapes, sizeof *shapes * (size_t)task->shape_count);
  t->shapes = shapes;
  t->shape_count = task->shape_count;
  for (int i = 0; i < SPREAD && !is_large(t); i++)
    for (int s = 0; s < task->shape_count; s++) {
      ws_shape shape = task->shapes[s];
      shape.size[0] = spread[i];
      if (ws_problem_is_legal(task->problem, &shape) &&
          !is_among(shapes, t->shape_count, &shape))
        shapes[t->shape_count++] = shape;
    }
}

/* The largest that a simulator can run, else the smallest of all. */
static int pick_large(const ws__task *task) {
  int best = 0;
  for (int s = 1; s < task->shape_count; s++) {
    double now = ws_problem_flops(task->problem, &task->shapes[best]);
    double flops = ws_problem_flops(task->problem, &task->shapes[s]);
    if (now > most_large_flops ? flops < now
                               : flops > now && flops <= most_large_flops)
      best = s;
  }
  return best;
}

void ws__trials_init(ws__trials *trials, ws_arena *arena, ws_archive *archive,
                     const ws__task *task, ws_device_client *client) {
  *trials = (ws__trials){.archive = archive,
                         .arena = arena,
                         .task = task,
                         .client = client,
                         .slots = {{.client = client}},
                         .provenance = "",
                         .baseline = -1,
                         .start_ms = ws_clock_ms()};
  for (int i = 0; i < WS_DEVICE_CLIENTS; i++)
    trials->slots[i].candidate = -1;
  set_shapes(trials);
  trials->best_estimate_us = new_times(trials);
  trials->large = pick_large(task);
  if (client)
    trials->provenance =
        ws_arena_strdup(arena, ws_device_client_info(client)->provenance);
}

void ws__trials_stop(ws__trials *trials) { leave_device(trials); }

/* ---- candidates ---- */

static int find_candidate(const ws__trials *t, const char *id) {
  for (int i = 0; i < t->count; i++)
    if (!strcmp(t->items[i].id, id))
      return i;
  return -1;
}

static ws__trial_candidate *append(ws__trials *t) {
  if (t->count == t->capacity) {
    int capacity = t->capacity ? 2 * t->capacity : 64;
    ws__trial_candidate *items =
        ws_arena_alloc(t->arena, sizeof *items * (size_t)capacity);
    if (t->count)
      memcpy(items, t->items, sizeof *items * (size_t)t->count);
    t->items = items;
    t->capacity = capacity;
  }
  return &t->items[t->count++];
}

/* Times of earlier runs. Who has one was verified then. */
static ws_status read_times(ws__trials *t, ws__trial_candidate *item,
                            ws_diag *diag) {
  ws_measurement *found;
  int count;
  WS_TRY(ws_archive_get_measurements(t->archive, t->arena, item->id, &found,
                                     &count, diag));
  for (int i = 0; i < count; i++)
    for (int s = 0; s < t->shape_count; s++) {
      if (memcmp(&found[i].shape, &t->shapes[s], sizeof(ws_shape)))
        continue;
      if (!strcmp(found[i].provenance, WS_PROVENANCE_ESTIMATE)) {
        item->estimate_us[s] = found[i].us;
      } else if (!strcmp(found[i].provenance, t->provenance)) {
        item->device_us[s] = found[i].us;
        item->state = WS__TRIAL_VERIFIED;
      }
    }
  return WS_OK;
}

static ws_status add_candidate(ws__trials *t, const char *id, int *out_index,
                               ws_diag *diag) {
  *out_index = find_candidate(t, id);
  if (*out_index >= 0)
    return WS_OK;
  ws__trial_candidate *item = append(t);
  *item = (ws__trial_candidate){.id = ws_arena_strdup(t->arena, id),
                                .estimate_us = new_times(t),
                                .device_us = new_times(t)};
  *out_index = t->count - 1;
  return read_times(t, item, diag);
}

static bool is_near(const ws__trials *t, const double *estimate_us, int shape) {
  return isfinite(estimate_us[shape]) &&
         estimate_us[shape] <= near_best * t->best_estimate_us[shape];
}

ws_status ws__trials_note(ws__trials *trials, const char *id,
                          const double *estimate_us, ws_diag *diag) {
  bool near = false;
  int index;
  if (!trials->client)
    return WS_OK;
  for (int s = 0; s < trials->task->shape_count; s++) {
    trials->best_estimate_us[s] =
        fmin(trials->best_estimate_us[s], estimate_us[s]);
    near = near || is_near(trials, estimate_us, s);
  }
  return near ? add_candidate(trials, id, &index, diag) : WS_OK;
}

/* ---- which pair is next ---- */

static bool is_open(const ws__trials *t, const ws__trial_candidate *item,
                    int shape) {
  return item->state != WS__TRIAL_REFUTED && isinf(item->device_us[shape]) &&
         isfinite(item->estimate_us[shape]) && !is_in_hand(t, item, shape) &&
         !is_in_hand(t, item, EDGE_SHAPES);
}

static int count_times(const ws__trials *t, const ws__trial_candidate *item) {
  int count = 0;
  for (int s = 0; s < t->task->shape_count; s++)
    count += isfinite(item->device_us[s]) != 0;
  return count;
}

/* The open shape where the candidate stands best; -1: none is near the best. */
static int best_open_shape(const ws__trials *t,
                           const ws__trial_candidate *item) {
  double best_ratio = INFINITY;
  int best = -1;
  if (is_large(t) && count_times(t, item) >= MOST_IN_LARGE)
    return -1;
  for (int s = 0; s < t->task->shape_count; s++) {
    double ratio = item->estimate_us[s] / t->best_estimate_us[s];
    if (is_open(t, item, s) && is_near(t, item->estimate_us, s) &&
        ratio < best_ratio) {
      best_ratio = ratio;
      best = s;
    }
  }
  return best;
}

static bool next_in_search(const ws__trials *t, int *out_candidate,
                           int *out_shape) {
  static const ws__trial_state order[] = {WS__TRIAL_VERIFIED, WS__TRIAL_NEW};
  for (size_t pass = 0; pass < sizeof order / sizeof order[0]; pass++)
    for (int c = t->count - 1; c >= 0; c--) {
      if (t->items[c].state != order[pass])
        continue;
      *out_candidate = c;
      *out_shape = best_open_shape(t, &t->items[c]);
      if (*out_shape >= 0)
        return true;
    }
  return false;
}

/* The smallest first: it is the one most likely to fit into what is left. */
static int smallest_open_shape(const ws__trials *t,
                               const ws__trial_candidate *item) {
  const ws_problem *problem = t->task->problem;
  const ws_shape *shapes = t->task->shapes;
  int smallest = -1;
  for (int s = 0; s < t->task->shape_count; s++)
    if (is_open(t, item, s) &&
        (smallest < 0 || ws_problem_flops(problem, &shapes[s]) <
                             ws_problem_flops(problem, &shapes[smallest])))
      smallest = s;
  return smallest;
}

/* Shape by shape: a shape is of use when all finalists have a time. */
static bool next_in_spread(const ws__trials *t, int *out_candidate,
                           int *out_shape) {
  for (int s = t->task->shape_count; s < t->shape_count; s++)
    for (int i = 0; i < t->finalist_count; i++)
      if (is_open(t, &t->items[t->finalists[i]], s)) {
        *out_candidate = t->finalists[i];
        *out_shape = s;
        return true;
      }
  return false;
}

static bool next_of(const ws__trials *t, int candidate, int *out_candidate,
                    int *out_shape) {
  *out_candidate = candidate;
  *out_shape = smallest_open_shape(t, &t->items[candidate]);
  return *out_shape >= 0;
}

/* Of a large set: where a finalist may be chosen. */
static bool next_scattered(const ws__trials *t, int *out_candidate,
                           int *out_shape) {
  const int count = t->task->shape_count;
  for (int i = 0; i < count; i++) {
    const int s = ws__scattered(i, count);
    for (int f = 0; f < t->finalist_count; f++) {
      const ws__trial_candidate *item = &t->items[t->finalists[f]];
      if (is_open(t, item, s) &&
          item->estimate_us[s] <= near_best * t->finals_best_us[s]) {
        *out_candidate = t->finalists[f];
        *out_shape = s;
        return true;
      }
    }
  }
  return false;
}

static bool next_large(const ws__trials *t, int *out_candidate,
                       int *out_shape) {
  *out_shape = LARGE_SHAPE;
  for (int i = 0; i < t->finalist_count; i++) {
    const ws__trial_candidate *item = &t->items[t->finalists[i]];
    *out_candidate = t->finalists[i];
    if (item->state == WS__TRIAL_VERIFIED && !item->large_checked &&
        isfinite(item->estimate_us[t->large]) &&
        !is_in_hand(t, item, LARGE_SHAPE))
      return true;
  }
  return false;
}

static bool next_in_finals(const ws__trials *t, int *out_candidate,
                           int *out_shape) {
  if (is_large(t))
    return next_scattered(t, out_candidate, out_shape) ||
           next_large(t, out_candidate, out_shape);
  double share = baseline_share * (ws_clock_ms() - t->finals_ms);
  bool has_baseline = t->baseline >= 0;
  if (has_baseline && t->baseline_ms < share &&
      next_of(t, t->baseline, out_candidate, out_shape))
    return true;
  for (int i = 0; i < t->finalist_count; i++)
    if (next_of(t, t->finalists[i], out_candidate, out_shape))
      return true;
  if (next_large(t, out_candidate, out_shape) ||
      next_in_spread(t, out_candidate, out_shape))
    return true;
  return has_baseline && next_of(t, t->baseline, out_candidate, out_shape);
}

static bool next_pair(const ws__trials *t, int *out_candidate, int *out_shape) {
  return t->finalists ? next_in_finals(t, out_candidate, out_shape)
                      : next_in_search(t, out_candidate, out_shape);
}

static bool may_be_busy(const ws__trials *t) {
  return t->finalists ||
         t->busy_ms <= device_share * (ws_clock_ms() - t->start_ms);
}

/* A finalist has failed since they were picked. */
static bool must_pick_again(const ws__trials *t) {
  return t->finalists && t->refuted > t->refuted_before;
}

bool ws__trials_is_busy(const ws__trials *trials) {
  for (int i = 0; i < WS_DEVICE_CLIENTS; i++)
    if (trials->slots[i].candidate >= 0)
      return true;
  return false;
}

bool ws__trials_pending(const ws__trials *trials) {
  int candidate, shape;
  return trials->client &&
         (ws__trials_is_busy(trials) || must_pick_again(trials) ||
          next_pair(trials, &candidate, &shape));
}

/* ---- sending ---- */

static ws_status fill_request(const ws__trials *t, ws_arena *arena,
                              const ws_candidate *candidate,
                              const ws_build_result *build, int shape,
                              ws_measure_request *out, ws_diag *diag) {
  ws__question question = shape == EDGE_SHAPES   ? WS__VERIFY_EDGES
                          : shape == LARGE_SHAPE ? WS__VERIFY_LARGE
                                                 : WS__TIME;
  return ws__measuring_request(
      arena, t->task, ws_device_client_info(t->client)->cu_count, candidate,
      build, question,
      shape == EDGE_SHAPES
          ? NULL
          : &t->shapes[shape == LARGE_SHAPE ? t->large : shape],
      "", out, diag);
}

static ws_status refute(ws__trials *t, ws__trial_candidate *item,
                        ws_verdict verdict, const char *reason, ws_diag *diag) {
  item->state = WS__TRIAL_REFUTED;
  t->refuted++;
  return ws_archive_refute(t->archive, item->id, ws_verdict_text(verdict),
                           reason, diag);
}

static ws_status send_trial(ws__trials *t, ws__trial_slot *slot, int candidate,
                            int shape, ws_diag *diag) {
  ws_candidate *loaded;
  ws_build_result build;
  ws_measure_request request;
  ws_diag why = {""};
  ws__trial_candidate *item = &t->items[candidate];
  int wanted = item->state == WS__TRIAL_NEW ? EDGE_SHAPES : shape;
  slot->arena = ws_arena_create();
  WS_TRY(ws__measuring_load(t->archive, slot->arena, item->id, &loaded, &build,
                            diag));
  if (fill_request(t, slot->arena, loaded, &build, wanted, &request, &why) !=
      WS_OK)
    return refute(t, item, WS_VERDICT_ILLEGAL, why.text, diag);
  slot->sent_ms = ws_clock_ms();
  slot->candidate = candidate;
  slot->shape = wanted;
  return ws_device_client_send(slot->client, &request, diag);
}

/* Nothing is said against the candidate: its verdict stays. */
static void skip_candidate(ws__trials *t, ws__trial_slot *slot, int candidate,
                           const ws_diag *diag) {
  ws_log(WS_LOG_WARN, "no trial of %s: %s", t->items[candidate].id, diag->text);
  t->items[candidate].state = WS__TRIAL_REFUTED;
  end_request(slot);
}

/* ---- receiving ---- */

static ws_status keep_time(ws__trials *t, ws__trial_candidate *item, int shape,
                           const ws_measured *measured, ws_diag *diag) {
  item->device_us[shape] = measured->us;
  t->timed++;
  t->explains = t->explains || (measured->report && *measured->report);
  const ws_measurement row = {.shape = t->shapes[shape],
                              .us = measured->us,
                              .bound = measured->bound,
                              .provenance = t->provenance,
                              .low_us = measured->low_us,
                              .high_us = measured->high_us};
  return ws_archive_put_measurements(t->archive, item->id, &row, 1, diag);
}

static ws_status keep(ws__trials *t, const ws__trial_slot *slot,
                      const ws_measured *measured, ws_diag *diag) {
  ws__trial_candidate *item = &t->items[slot->candidate];
  if (item->state == WS__TRIAL_REFUTED) /* by another answer meanwhile */
    return WS_OK;
  t->uncompared += measured->uncompared_shapes;
  if (measured->verdict != WS_VERDICT_OK)
    return refute(t, item, measured->verdict, measured->reason, diag);
  if (slot->shape >= 0)
    return keep_time(t, item, slot->shape, measured, diag);
  if (slot->shape == LARGE_SHAPE) {
    item->large_checked = true;
    return WS_OK;
  }
  item->state = WS__TRIAL_VERIFIED;
  t->verified++;
  return WS_OK;
}

static void note_failure(ws__trials *t, ws__trial_slot *slot,
                         const ws_diag *diag) {
  skip_candidate(t, slot, slot->candidate, diag);
  if (++t->failures < MAX_FAILURES)
    return;
  ws_log(WS_LOG_WARN,
         "the device failed %d times in a row; the run goes on without it",
         MAX_FAILURES);
  leave_device(t);
}

static ws_status receive(ws__trials *t, ws__trial_slot *slot, ws_diag *diag) {
  ws_measured measured;
  bool done;
  ws_status status = ws_device_client_receive(slot->client, slot->arena,
                                              &measured, &done, diag);
  if (status == WS_OK && !done)
    return WS_OK;
  double spent_ms = ws_clock_ms() - slot->sent_ms;
  t->busy_ms += spent_ms;
  if (slot->candidate == t->baseline)
    t->baseline_ms += spent_ms;
  if (status == WS_OK &&
      ws__measuring_is_too_slow(ws_device_client_info(slot->client), &measured))
    status = ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", measured.reason);
  if (status == WS_REFERENCE)
    return status;
  if (status != WS_OK) {
    note_failure(t, slot, diag);
    return WS_OK;
  }
  t->failures = 0;
  status = keep(t, slot, &measured, diag);
  end_request(slot);
  return status;
}

static ws_status step_slot(ws__trials *t, ws__trial_slot *slot, ws_diag *diag) {
  int candidate, shape;
  if (slot->client && slot->candidate >= 0 &&
      ws_device_client_has_answer(slot->client))
    WS_TRY(receive(t, slot, diag));
  if (!slot->client || slot->candidate >= 0 || !may_be_busy(t))
    return WS_OK;
  if (must_pick_again(t))
    WS_TRY(ws__trials_begin_finals(t, diag));
  if (!next_pair(t, &candidate, &shape))
    return WS_OK;
  if (send_trial(t, slot, candidate, shape, diag) != WS_OK)
    skip_candidate(t, slot, candidate, diag);
  else if (slot->candidate < 0)
    end_request(slot);
  return WS_OK;
}

ws_status ws__trials_step(ws__trials *trials, ws_diag *diag) {
  for (int i = 0; i < WS_DEVICE_CLIENTS; i++)
    WS_TRY(step_slot(trials, &trials->slots[i], diag));
  return WS_OK;
}

void ws__trials_descriptors(const ws__trials *trials,
                            int out_descriptors[WS_DEVICE_CLIENTS]) {
  for (int i = 0; i < WS_DEVICE_CLIENTS; i++) {
    const ws__trial_slot *slot = &trials->slots[i];
    out_descriptors[i] =
        slot->candidate >= 0 ? ws_device_client_descriptor(slot->client) : -1;
  }
}

/* ---- finals ---- */

/* What is best in the archive by this provenance, as candidates here. */
static ws_status read_best(ws__trials *t, const char *provenance, int per_shape,
                           int **out_indices, int *out_count, ws_diag *diag) {
  const ws_archive_filter filter = {.problem = t->task->problem->name,
                                    .layout = t->task->layout,
                                    .target = t->task->source.tmpl->target,
                                    .provenance = provenance};
  const char *const *ids;
  WS_TRY(ws_archive_best(t->archive, t->arena, &filter, per_shape, &ids,
                         out_count, diag));
  *out_indices =
      ws_arena_alloc(t->arena, sizeof **out_indices * (size_t)*out_count);
  for (int i = 0; i < *out_count; i++)
    WS_TRY(add_candidate(t, ids[i], &(*out_indices)[i], diag));
  return WS_OK;
}

/* The portfolio that estimates alone would ship. None when no candidate takes
 * every shape: the best by shape must do then. */
static void pick_portfolio(ws__trials *t, const int *pool, int pool_count,
                           int out_picked[MAX_PORTFOLIO], int *out_count) {
  int shapes = t->task->shape_count;
  ws_diag diag;
  ws_matrix matrix = {.shapes = t->task->shapes,
                      .shape_count = shapes,
                      .candidate_count = pool_count,
                      .provenance = WS_PROVENANCE_ESTIMATE};
  matrix.us = ws_arena_alloc(t->arena, sizeof *matrix.us * (size_t)shapes *
                                           (size_t)pool_count);
  for (int s = 0; s < shapes; s++)
    for (int c = 0; c < pool_count; c++)
      matrix.us[s * pool_count + c] = t->items[pool[c]].estimate_us[s];
  if (ws_portfolio_pick(&matrix, MAX_PORTFOLIO, out_picked, out_count, &diag) !=
      WS_OK)
    *out_count = 0;
  for (int i = 0; i < *out_count; i++)
    out_picked[i] = pool[out_picked[i]];
}

static void add_finalist(ws__trials *t, int *finalists, int candidate) {
  for (int i = 0; i < t->finalist_count; i++)
    if (finalists[i] == candidate)
      return;
  finalists[t->finalist_count++] = candidate;
}

/* Estimates beside the task's shapes, which the search does not make. */
static ws_status estimate_spread(ws__trials *t, ws_arena *arena, int candidate,
                                 ws_diag *diag) {
  ws__trial_candidate *item = &t->items[candidate];
  int first = t->task->shape_count, count = t->shape_count - first;
  ws_candidate *loaded;
  ws_build_result build;
  ws_matrix matrix;
  WS_TRY(
      ws__measuring_load(t->archive, arena, item->id, &loaded, &build, diag));
  const ws_dispatch_entry entry = {.candidate = loaded, .result = &build};
  WS_TRY(ws_dispatch_estimate(arena, t->task->problem, &entry, 1,
                              t->shapes + first, count, &matrix, diag));
  memcpy(item->estimate_us + first, matrix.us, sizeof(double) * (size_t)count);
  return WS_OK;
}

static void note_best_of_finals(ws__trials *t) {
  t->finals_best_us = new_times(t);
  for (int i = 0; i < t->finalist_count; i++)
    for (int s = 0; s < t->task->shape_count; s++)
      t->finals_best_us[s] =
          fmin(t->finals_best_us[s], t->items[t->finalists[i]].estimate_us[s]);
}

/* One that cannot be loaded is not timed there; its trial will say why. */
static void estimate_finalists(ws__trials *t) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  for (int i = 0; i < t->finalist_count; i++)
    if (estimate_spread(t, arena, t->finalists[i], &diag) != WS_OK)
      ws_log(WS_LOG_DEBUG, "%s", diag.text);
  ws_arena_destroy(arena);
}

static bool is_baseline(const ws__trials *t, int candidate) {
  const ws_candidate *baseline = t->task->baseline_candidate;
  return baseline && !strcmp(baseline->id.hex, t->items[candidate].id);
}

static ws_status find_baseline(ws__trials *t, ws_diag *diag) {
  const ws_candidate *baseline = t->task->baseline_candidate;
  bool known = false;
  ws_candidate_row row;
  if (baseline)
    WS_TRY(ws_archive_get_candidate(t->archive, t->arena, baseline->id.hex,
                                    &known, &row, diag));
  if (!known || strcmp(row.verdict, ws_verdict_text(WS_VERDICT_OK)))
    return WS_OK;
  return add_candidate(t, baseline->id.hex, &t->baseline, diag);
}

ws_status ws__trials_begin_finals(ws__trials *trials, ws_diag *diag) {
  int *pool, *best, pool_count, best_count, picked_count = 0;
  int picked[MAX_PORTFOLIO];
  if (!trials->client)
    return WS_OK;
  open_slots(trials);
  WS_TRY(read_best(trials, WS_PROVENANCE_ESTIMATE, POOL_PER_SHAPE, &pool,
                   &pool_count, diag));
  WS_TRY(read_best(trials, trials->provenance, 1, &best, &best_count, diag));
  if (pool_count > 0)
    pick_portfolio(trials, pool, pool_count, picked, &picked_count);
  int *finalists = ws_arena_alloc(
      trials->arena, sizeof *finalists * (size_t)(picked_count + best_count));
  trials->finalist_count = 0;
  trials->refuted_before = trials->refuted;
  for (int i = 0; i < picked_count; i++)
    if (!is_baseline(trials, picked[i]))
      add_finalist(trials, finalists, picked[i]);
  for (int i = 0; i < best_count; i++)
    if (!is_baseline(trials, best[i]))
      add_finalist(trials, finalists, best[i]);
  WS_TRY(find_baseline(trials, diag));
  if (!trials->finalists)
    trials->finals_ms = ws_clock_ms();
  trials->finalists = finalists;
  note_best_of_finals(trials);
  estimate_finalists(trials);
  return WS_OK;
}
