/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How long does a launch sequence take? Device events before and after it, one
 * protocol for all devices (docs/timing.md); a card needs all of it, a
 * simulator one sample, because its clock is a function of the launch alone: a
 * second sample would be the same number.
 *
 * Output and workspace are poisoned before every launch sequence, as they are
 * for a verification: a kernel finds nothing of an earlier one in them, and
 * nothing by which to tell the two apart. On a card rows of what the timed runs
 * wrote are compared with the reference after every batch; in the end what the
 * last one left must have been written to the last byte, and agree with what
 * two more leave, a sample of which is compared with the reference; inputs must
 * be as they were. A time below the roofline is `wrong`, not a
 * record.
 */
#include "reference_run.h"
#include "result.h"
#include "sampling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows are looked at in pairs, for which the reference takes little longer than
 * for one. */
enum { PAIR = 2, PAIRS = 4, FIRST_PAIRS = 2 };
/* Of what is sampled in the end; rows are multiplied by random signs. */
enum { ELEMENTS = 64, ROWS = 256 };
/* Of the wall limit; the rest is for set-up and checks. */
static const double SHARE_OF_WALL = 0.4;

/* ---- setting up ---- */

static ws_status capture(ws__timer *t, ws__side *side, int copy,
                         ws_diag *diag) {
  WS_TRY(ws_device_graph_begin(t->device, diag));
  ws_status status = side ? ws__bench_start(&side->benches[copy], diag) : WS_OK;
  ws_diag other;
  ws_device_graph *graph = NULL;
  ws_status end =
      ws_device_graph_end(t->device, &graph, status == WS_OK ? diag : &other);
  if (side)
    side->graphs[copy] = graph;
  else
    t->empty = graph;
  return status == WS_OK ? end : status;
}

static ws_status open_side(ws__timer *t, int index,
                           const ws_contestant *contestant, ws_diag *diag) {
  ws__side *side = &t->sides[index];
  WS_TRY(ws__inputs_module(t->inputs, contestant->code_object, contestant->size,
                           &side->module, diag));
  for (int i = 0; i < t->copies; i++) {
    side->bench_count++;
    WS_TRY(ws__bench_open(&side->benches[i], t->device, t->arena, side->module,
                          side->workload, t->inputs, t->set, i, diag));
  }
  return WS_OK;
}

static ws_status open_events(ws__timer *t, ws_diag *diag) {
  int count = t->info->simulated ? WS__SIDES : WS__SIDES * WS__BATCH;
  for (int i = 0; i < 2; i++)
    for (int slot = 0; slot < count; slot++)
      WS_TRY(ws_device_event_create(t->device, &t->events[i][slot], diag));
  return WS_OK;
}

static void close_timer(ws__timer *t) {
  for (int s = 0; s < WS__SIDES; s++)
    for (int i = 0; i < t->sides[s].bench_count; i++) {
      ws_device_graph_destroy(t->device, t->sides[s].graphs[i]);
      ws__bench_close(&t->sides[s].benches[i]);
    }
  ws_device_graph_destroy(t->device, t->empty);
  for (int i = 0; i < 2; i++)
    for (int slot = 0; slot < WS__SIDES * WS__BATCH; slot++)
      ws_device_event_destroy(t->device, t->events[i][slot]);
}

/* ---- what was timed must be right ---- */

/* The first rows, the last ones, and others, which follow from the seed. */
static int64_t pair_of_rows(const ws__timer *t, int index, int64_t *out_end) {
  const ws_workload *workload = t->sides[0].workload;
  int64_t slices = ws_problem_slices(t->set->problem, &workload->shape);
  int64_t pair = slices < PAIR ? slices : PAIR, last = slices - pair;
  int64_t row;
  ws_rng rng;
  ws_rng_init(&rng, workload->seed + (uint64_t)index);
  row = index < 2 ? index * last
                  : (int64_t)ws_rng_below(&rng, (uint64_t)last + 1);
  *out_end = row + pair;
  return row;
}

static ws_status check_rows(ws__timer *t, int copy, int begin, int count,
                            ws_measured *found, ws_diag *diag) {
  ws__bench *bench = &t->sides[t->latest[copy]].benches[copy];
  for (int i = begin; i < begin + count && found->verdict == WS_VERDICT_OK;
       i++) {
    int64_t end, row = pair_of_rows(t, i % PAIRS, &end);
    WS_TRY(ws__bench_compare(bench, row, end, found, diag));
  }
  return WS_OK;
}

/* What was found of the rival is no verdict of the candidate. */
static ws_status blame_rival(ws__timer *t, const char *reason, ws_diag *diag) {
  static const char name[] = "the rival: ";
  const char *text = ws_arena_strdup(t->arena, reason);
  bool named = !strncmp(text, name, strlen(name));
  t->rival_failed = true;
  return ws_fail(diag, WS_INPUT, NULL, 0, "%s%s", named ? "" : name, text);
}

static ws_status blame(ws__timer *t, int side, const ws_measured *found,
                       ws_diag *diag) {
  if (side)
    return found->verdict == WS_VERDICT_OK
               ? WS_OK
               : blame_rival(t, found->reason, diag);
  t->out->compared += found->compared;
  t->out->uncompared_shapes |= found->uncompared_shapes; /* 0 or 1 */
  t->out->worst_ratio = found->worst_ratio > t->out->worst_ratio
                            ? found->worst_ratio
                            : t->out->worst_ratio;
  if (found->verdict == WS_VERDICT_OK)
    return WS_OK;
  t->out->verdict = found->verdict;
  t->out->reason = found->reason;
  t->out->shape = found->shape;
  return WS_OK;
}

static ws_status check_copy(ws__timer *t, int copy, int begin, int count,
                            ws_diag *diag) {
  if (!t->set || t->latest[copy] < 0)
    return WS_OK;
  ws_measured found = ws__measured_ok(t->device);
  WS_TRY(check_rows(t, copy, begin, count, &found, diag));
  return blame(t, t->latest[copy], &found, diag);
}

/* Every side is started before anything is timed: a fault is then its own. */
static ws_status start_first(ws__timer *t, int side, ws_diag *diag) {
  double begin_ms = ws_clock_ms(), us;
  ws__bench *bench = &t->sides[side].benches[0];
  ws_status status = ws__timer_enqueue(t, side, 0, 0, diag);
  if (status == WS_OK)
    status = ws__timer_read(t, 0, &us, diag);
  if (status == WS_INPUT) {
    ws_measured found = ws__measured_ok(t->device);
    ws__measured_fail(&found, t->arena, WS_VERDICT_CRASH,
                      &bench->workload->shape, "%s", diag->text);
    return blame(t, side, &found, diag);
  }
  WS_TRY(status);
  t->sample_ms = ws_clock_ms() - begin_ms;
  return check_copy(t, 0, 0, FIRST_PAIRS, diag);
}

/* The copy with what the side's last launch left; if the other side has been on
 * all copies since, it is started once more. */
static ws_status latest_copy(ws__timer *t, int side, int *out_copy,
                             ws_diag *diag) {
  double us;
  for (int i = 1; i <= t->copies; i++) {
    *out_copy = (t->next_copy + t->copies - i) % t->copies;
    if (t->latest[*out_copy] == side)
      return WS_OK;
  }
  WS_TRY(ws__timer_enqueue(t, side, *out_copy, 0, diag));
  return ws__timer_read(t, 0, &us, diag);
}

/* Again, on any copy, over other poison; and again on what that left. */
static ws_status start_again(ws__timer *t, int side, int poison, int *out_copy,
                             ws_diag *diag) {
  double us;
  *out_copy = (int)ws__inputs_random(t->inputs, (uint64_t)t->copies);
  t->poison = poison;
  WS_TRY(ws__timer_enqueue(t, side, *out_copy, 0, diag));
  WS_TRY(ws__timer_read(t, 0, &us, diag));
  return ws__timer_repeat(t, side, *out_copy, diag);
}

/* What `left` is and what is there now: all written, and right. */
static ws_status check_whole(ws__timer *t, ws__bench *bench,
                             const ws__left *left, ws_measured *found,
                             ws_diag *diag) {
  const ws__sample sample = {.seed = ws__inputs_random(t->inputs, UINT64_MAX),
                             .elements = ELEMENTS,
                             .rows = ROWS};
  WS_TRY(ws__bench_check_written(bench, left, found, diag));
  if (found->verdict == WS_VERDICT_OK)
    WS_TRY(ws__bench_check_inputs(bench, true, found, diag));
  if (found->verdict == WS_VERDICT_OK)
    WS_TRY(ws__bench_check_guards(bench, found, diag));
  return found->verdict == WS_VERDICT_OK
             ? ws__bench_sample(bench, &sample, found, diag)
             : WS_OK;
}

/* What the last timed launch of a side left, looked at in full beside what two
 * more leave. A kernel that writes to inputs or behind its output does so on
 * every copy. Guards are looked at over both poisons, one of which may be what
 * the kernel writes there. */
static ws_status check_last(ws__timer *t, int side, ws_diag *diag) {
  int copy = 0;
  ws__left left = {.poison = 0};
  ws_measured found = ws__measured_ok(t->device);
  WS_TRY(latest_copy(t, side, &copy, diag));
  ws__bench *timed = &t->sides[side].benches[copy];
  WS_TRY(ws__bench_check_guards(timed, &found, diag));
  ws_status status = ws__left_fetch(timed, &left, diag);
  if (status == WS_OK)
    status = start_again(t, side, left.poison, &copy, diag);
  if (status == WS_OK && found.verdict == WS_VERDICT_OK)
    status = check_rows(t, copy, 0, PAIRS, &found, diag);
  if (status == WS_OK && found.verdict == WS_VERDICT_OK)
    status = check_whole(t, &t->sides[side].benches[copy], &left, &found, diag);
  ws__left_drop(&left);
  return status == WS_OK ? blame(t, side, &found, diag) : status;
}

/* Then what earlier runs left on the other copies. */
static ws_status check_all(ws__timer *t, ws_diag *diag) {
  for (int side = 0; side < t->side_count; side++)
    if (t->out->verdict == WS_VERDICT_OK)
      WS_TRY(check_last(t, side, diag));
  for (int i = 0; i < t->copies && t->out->verdict == WS_VERDICT_OK; i++)
    WS_TRY(check_copy(t, i, i, 1, diag));
  return WS_OK;
}

static void check_roofline(ws__timer *t) {
  const ws_measured *out = t->out;
  double roofline_us = t->settings->roofline_us;
  if (out->verdict == WS_VERDICT_OK && out->us < roofline_us)
    ws__measured_fail(t->out, t->arena, WS_VERDICT_WRONG,
                      &t->sides[0].workload->shape,
                      "%.3f us is faster than the device can be (%.3f us)",
                      out->us, roofline_us);
}

/* ---- a card ---- */

static ws_status prepare_card(ws__timer *t, ws_diag *diag) {
  WS_TRY(ws__inputs_flush(t->inputs, &t->flush, &t->flush_bytes, diag));
  for (int side = 0; side < t->side_count; side++) {
    WS_TRY(start_first(t, side, diag));
    if (t->out->verdict != WS_VERDICT_OK || !t->info->graphs)
      continue;
    for (int copy = 0; copy < t->copies; copy++)
      WS_TRY(capture(t, &t->sides[side], copy, diag));
  }
  return t->info->graphs && t->out->verdict == WS_VERDICT_OK
             ? capture(t, NULL, 0, diag)
             : WS_OK;
}

static ws_status sample_card(ws__timer *t, ws_diag *diag) {
  WS_TRY(prepare_card(t, diag));
  if (t->out->verdict != WS_VERDICT_OK)
    return WS_OK;
  WS_TRY(ws__timer_measure_empty(t, diag));
  WS_TRY(ws__timer_warm_up(t, diag));
  for (int pair = 0; !ws__timer_is_done(t); pair++) {
    WS_TRY(ws__timer_batch(t, diag));
    int copy = (t->next_copy + t->copies - 1) % t->copies;
    WS_TRY(check_copy(t, copy, pair, 1, diag));
    if (t->out->verdict != WS_VERDICT_OK)
      return WS_OK;
  }
  if (t->set)
    WS_TRY(check_all(t, diag));
  check_roofline(t);
  return WS_OK;
}

/* ---- a simulator: one sample of each, and no result to compare ---- */

/* Which compute units the simulator looks at follows from the seed of the
 * inputs, so that candidates of a run are compared on the same ones, and a
 * winner is confirmed on others. */
static void draw_units(const ws_workload *workload) {
  enum { LARGEST = 24 };
  char text[LARGEST];
  ws_rng rng;
  ws_rng_init(&rng, workload->seed);
  snprintf(text, sizeof text, "%llu",
           (unsigned long long)(ws_rng_next(&rng) >> 1));
  setenv("WAVESMITH_SIM_SEED", text, 1);
}

static ws_status sample_simulator(ws__timer *t, ws_diag *diag) {
  ws_measured *out = t->out;
  draw_units(t->sides[0].workload);
  for (int side = 0; side < t->side_count; side++) {
    WS_TRY(ws__timer_enqueue(t, side, 0, side, diag));
    WS_TRY(ws__timer_read(t, side, t->sides[side].samples, diag));
    if (side == 0)
      ws__measured_add_report(out, t->device, t->arena,
                              &t->sides[0].workload->shape);
  }
  out->samples = t->sides[0].samples;
  out->sample_count = 1;
  out->us = out->low_us = out->high_us = out->samples[0];
  if (t->side_count == WS__SIDES) {
    double rival_us = t->sides[1].samples[0];
    out->rival_us = out->rival_low_us = out->rival_high_us = rival_us;
    out->ratio = out->low_ratio = out->high_ratio = out->us / rival_us;
  }
  check_roofline(t);
  return WS_OK;
}

/* ---- one measurement ---- */

static ws_status open_timer(ws__timer *t, const ws_contestant *const *sides,
                            ws_diag *diag) {
  size_t most = (size_t)t->settings->max_samples + 2;
  const ws_workload *workload = sides[0]->workload;
  t->copies = ws__inputs_rotation(t->inputs, workload);
  memset(t->latest, -1, sizeof t->latest);
  for (int i = 0; i < t->side_count; i++) {
    t->sides[i].workload = sides[i]->workload;
    t->sides[i].samples = ws_arena_alloc(t->arena, sizeof(double) * most);
  }
  t->ratios = ws_arena_alloc(t->arena, sizeof(double) * most);
  if (*workload->problem)
    WS_TRY(ws__inputs_get(t->inputs, workload, WS__AS_ALLOCATED, t->copies,
                          &t->set, diag));
  if (!t->info->simulated) /* whose times say nothing of results */
    WS_TRY(ws__inputs_take_reference(t->device, t->inputs, t->set, workload,
                                     diag));
  WS_TRY(open_events(t, diag));
  WS_TRY(open_side(t, 0, sides[0], diag));
  if (t->side_count == 1)
    return WS_OK;
  ws_diag cause;
  ws_status status = open_side(t, 1, sides[1], &cause);
  if (status == WS_INPUT)
    return blame_rival(t, cause.text, diag);
  if (status != WS_OK)
    *diag = cause;
  return status;
}

static ws_status time_once(ws__timer *t, const ws_contestant *const *sides,
                           bool *out_fresh, ws_diag *diag) {
  ws_status status = open_timer(t, sides, diag);
  *out_fresh = !t->set || t->set->fresh;
  if (status == WS_OK)
    status =
        t->info->simulated ? sample_simulator(t, diag) : sample_card(t, diag);
  if (t->info->simulated && status != WS_OK)
    ws__measured_add_report(t->out, t->device, t->arena,
                            &sides[0]->workload->shape);
  close_timer(t);
  return status;
}

static ws_status time_anew(ws__timer *t, const ws__timer *blank,
                           const ws_contestant *const *sides, bool *out_fresh,
                           ws_diag *diag) {
  ws__inputs_renew(t->inputs);
  *t = *blank;
  *t->out = ws__measured_ok(t->device);
  return time_once(t, sides, out_fresh, diag);
}

static bool is_wrong(const ws__timer *t, ws_status status) {
  return status == WS_INPUT || t->out->verdict == WS_VERDICT_WRONG;
}

/* Something is wrong beside a rival, and either may have damaged the other's
 * inputs: what the candidate does alone decides. */
static ws_status time_alone(ws__timer *t, const ws__timer *blank,
                            const ws_contestant *const *sides, ws_diag *diag) {
  bool fresh;
  const char *reason =
      t->rival_failed ? ws_arena_strdup(t->arena, diag->text) : t->out->reason;
  ws__timer alone = *blank;
  alone.side_count = 1;
  ws_status status = time_anew(t, &alone, sides, &fresh, diag);
  if (status != WS_OK || t->out->verdict != WS_VERDICT_OK)
    return status;
  return blame_rival(t, reason, diag);
}

/* What is wrong counts on inputs that no other kernel can have damaged, and
 * while the device is alive: after a fault there is nothing more to be asked.
 */
static ws_status time_on(ws__timer *t, const ws_contestant *const *sides,
                         ws_diag *diag) {
  bool fresh;
  ws_diag dead;
  const ws__timer blank = *t;
  ws_status status = time_once(t, sides, &fresh, diag);
  if (!is_wrong(t, status) || t->info->simulated ||
      ws_device_synchronise(t->device, &dead) != WS_OK)
    return status;
  if (!fresh)
    status = time_anew(t, &blank, sides, &fresh, diag);
  if (is_wrong(t, status) && t->side_count == WS__SIDES)
    status = time_alone(t, &blank, sides, diag);
  if (is_wrong(t, status))
    ws__inputs_renew(t->inputs);
  return status;
}

static bool is_same_task(const ws_workload *a, const ws_workload *b) {
  return !strcmp(a->problem, b->problem) && a->layout == b->layout &&
         !memcmp(&a->shape, &b->shape, sizeof a->shape);
}

ws_status ws_time(ws_device *device, ws_arena *arena,
                  const ws_contestant *candidate, const ws_contestant *rival,
                  const ws_measure_settings *settings, ws_inputs *inputs,
                  ws_measured *out_measured, ws_diag *diag) {
  double begin_ms = ws_clock_ms();
  const ws_contestant *const sides[] = {candidate, rival};
  if (rival && !is_same_task(candidate->workload, rival->workload))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate and rival do not work on the same shape");
  ws_inputs *temporary = inputs ? NULL : ws_inputs_create(device, 0);
  ws__timer t = {.device = device,
                 .info = ws_device_info_of(device),
                 .arena = arena,
                 .settings = settings,
                 .inputs = inputs ? inputs : temporary,
                 .side_count = rival ? WS__SIDES : 1,
                 .end_ms = settings->wall_ms
                               ? begin_ms + SHARE_OF_WALL * settings->wall_ms
                               : 0,
                 .out = out_measured};
  *out_measured = ws__measured_ok(device);
  ws__inputs_begin(t.inputs);
  ws_status status = time_on(&t, sides, diag);
  ws_inputs_destroy(temporary);
  if (status == WS_INPUT && !t.rival_failed) {
    if (out_measured->verdict == WS_VERDICT_OK)
      ws__measured_fail(out_measured, arena, WS_VERDICT_CRASH,
                        &candidate->workload->shape, "%s", diag->text);
    status = WS_OK;
  }
  if (out_measured->verdict != WS_VERDICT_OK)
    out_measured->us = 0;
  out_measured->shape = candidate->workload->shape;
  out_measured->host_ms = ws_clock_ms() - begin_ms;
  return status;
}
