/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Taking samples. A sample is: output and workspace poisoned, on a card with
 * another byte each time, the cache overwritten, event, the launch sequence,
 * event. Samples are started a batch at a time and read afterwards, so that the
 * device has its next work in hand while the host is still busy: between the
 * first event and the launches there is then no wait for the host in a sample.
 *
 * Alone, a contestant takes its samples on one copy of the inputs after the
 * other. Two are measured in blocks of four, X Y Y X with X drawn at random, on
 * two copies that change with every sample: X on the first, Y on the second, Y
 * on the first, X on the second. A block gives one ratio, in which everything
 * that changes linearly within the block cancels.
 *
 * Clocks are read after every batch. While the card is throttled for heat,
 * batches are dropped; but not for ever, since a card that never cools is
 * better timed than not, and the result says so.
 */
#include "sampling.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
  BLOCK = 4,
  EMPTY_SAMPLES = 11,
  WARM_UP_PARTS = 5, /* of the time given; each has a median */
  WARM_UP_MOST = 4,  /* times the time given */
  THROTTLED_PAUSE_MS = 20
};
static const double SETTLED_TIME = 0.01, SETTLED_CLOCK = 0.02;

/* ---- one sample ---- */

static ws_status start_side(ws__timer *t, int side, int copy, ws_diag *diag) {
  ws_device_graph *graph = t->sides[side].graphs[copy];
  if (graph)
    return ws_device_graph_start(t->device, graph, diag);
  return ws__bench_start(&t->sides[side].benches[copy], diag);
}

static ws_status flush(ws__timer *t, ws_diag *diag) {
  if (!t->flush) { /* a simulator */
    ws_device_flush(t->device);
    return WS_OK;
  }
  return ws_device_fill(t->device, t->flush, 0, t->flush_bytes, diag);
}

/* On a card another one each time, which nobody can know. */
static int next_poison(ws__timer *t) {
  t->poison = t->info->simulated ? WS__POISON_NAN
                                 : ws__bench_other_poison(t->inputs, t->poison);
  return t->poison;
}

ws_status ws__timer_enqueue(ws__timer *t, int side, int copy, int slot,
                            ws_diag *diag) {
  WS_TRY(ws__bench_poison(&t->sides[side].benches[copy], next_poison(t), diag));
  WS_TRY(flush(t, diag));
  WS_TRY(ws_device_event_record(t->device, t->events[0][slot], diag));
  WS_TRY(start_side(t, side, copy, diag));
  WS_TRY(ws_device_event_record(t->device, t->events[1][slot], diag));
  t->latest[copy] = side;
  return WS_OK;
}

ws_status ws__timer_repeat(ws__timer *t, int side, int copy, ws_diag *diag) {
  WS_TRY(ws__bench_restore(&t->sides[side].benches[copy], diag));
  WS_TRY(start_side(t, side, copy, diag));
  return ws_device_synchronise(t->device, diag);
}

ws_status ws__timer_read(ws__timer *t, int slot, double *out_us,
                         ws_diag *diag) {
  return ws_device_event_elapsed(t->device, t->events[0][slot],
                                 t->events[1][slot], out_us, diag);
}

ws_status ws__timer_measure_empty(ws__timer *t, ws_diag *diag) {
  double samples[EMPTY_SAMPLES];
  for (int i = 0; i < EMPTY_SAMPLES; i++) {
    WS_TRY(flush(t, diag));
    WS_TRY(ws_device_event_record(t->device, t->events[0][i], diag));
    if (t->empty)
      WS_TRY(ws_device_graph_start(t->device, t->empty, diag));
    WS_TRY(ws_device_event_record(t->device, t->events[1][i], diag));
  }
  for (int i = 0; i < EMPTY_SAMPLES; i++)
    WS_TRY(ws__timer_read(t, i, &samples[i], diag));
  t->out->empty_us = ws__median(t->arena, samples, EMPTY_SAMPLES);
  return WS_OK;
}

/* ---- many ---- */

static int next_copy(ws__timer *t) {
  int copy = t->next_copy;
  t->next_copy = (copy + 1) % t->copies;
  return copy;
}

/* Four samples, in slots of their own: out_sides says whose. */
static ws_status enqueue_block(ws__timer *t, int slot, int out_sides[BLOCK],
                               ws_diag *diag) {
  int first = next_copy(t), second = next_copy(t);
  int x = (int)ws__inputs_random(t->inputs, 2);
  const int sides[BLOCK] = {x, !x, !x, x};
  const int copies[BLOCK] = {first, second, first, second};
  for (int i = 0; i < BLOCK; i++) {
    out_sides[i] = sides[i];
    WS_TRY(ws__timer_enqueue(t, sides[i], copies[i], slot + i, diag));
  }
  return WS_OK;
}

/* `count` samples of each side, an even number with two; us[side][i]. Both of
 * a block follow one another. */
static ws_status take(ws__timer *t, int count, double us[][WS__BATCH],
                      ws_diag *diag) {
  int sides[WS__SIDES * WS__BATCH] = {0}, taken[WS__SIDES] = {0};
  int slots = count * t->side_count;
  double begin_ms = ws_clock_ms();
  for (int slot = 0; slot < slots;) {
    if (t->side_count == 1) {
      WS_TRY(ws__timer_enqueue(t, 0, next_copy(t), slot++, diag));
      continue;
    }
    WS_TRY(enqueue_block(t, slot, &sides[slot], diag));
    slot += BLOCK;
  }
  for (int slot = 0; slot < slots; slot++) {
    int side = sides[slot];
    WS_TRY(ws__timer_read(t, slot, &us[side][taken[side]++], diag));
  }
  t->sample_ms = (ws_clock_ms() - begin_ms) / slots;
  return WS_OK;
}

/* ---- clocks ---- */

static int lower(int sum, int value) {
  return sum && sum < value ? sum : value;
}

/* Into the result: lowest and highest, and every word of throttling. */
static void note_clocks(ws__timer *t, const ws_device_clocks *now) {
  ws_measured *out = t->out;
  if (now->mhz) {
    out->low_mhz = lower(out->low_mhz, now->mhz);
    out->high_mhz = now->mhz > out->high_mhz ? now->mhz : out->high_mhz;
    out->memory_mhz = now->memory_mhz;
  }
  if (*now->throttle && !strstr(out->throttle, now->throttle))
    out->throttle = ws_arena_printf(t->arena, "%s%s%s", out->throttle,
                                    *out->throttle ? ", " : "", now->throttle);
}

/* A power cap is how fast the card is, and what is neither ("other") is mostly
 * a clock that somebody set: both are reported. */
static bool is_too_hot(const ws_device_clocks *now) {
  return !strcmp(now->throttle, "thermal");
}

static void wait_ms(int ms) {
  struct timespec time = {.tv_nsec = ms * 1000000L};
  nanosleep(&time, NULL);
}

/* ---- until it is steady ---- */

typedef struct steadiness {
  double medians[WS__SIDES];
  int mhz;
} steadiness;

static bool is_close(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * fmax(a, b);
}

static bool has_settled(const ws__timer *t, const steadiness *before,
                        const steadiness *now) {
  bool settled = is_close(before->mhz, now->mhz, SETTLED_CLOCK);
  for (int i = 0; i < t->side_count; i++)
    settled &= is_close(before->medians[i], now->medians[i], SETTLED_TIME);
  return settled;
}

/* Runs for `ms` at least. */
static ws_status warm_up_part(ws__timer *t, double ms, steadiness *out,
                              ws_diag *diag) {
  double us[WS__SIDES][WS__BATCH], end_ms = ws_clock_ms() + ms;
  int count = 2;
  do {
    double room = ms / (t->sample_ms * t->side_count + 1e-9);
    count = (int)fmin(fmax(room, 2), WS__BATCH) / 2 * 2;
    WS_TRY(take(t, count, us, diag));
  } while (ws_clock_ms() < end_ms);
  for (int i = 0; i < t->side_count; i++)
    out->medians[i] = ws__median(t->arena, us[i], count);
  out->mhz = ws_device_read_clocks(t->device).mhz;
  return WS_OK;
}

ws_status ws__timer_warm_up(ws__timer *t, ws_diag *diag) {
  double part_ms = t->settings->warm_up_ms / WARM_UP_PARTS;
  double end_ms = ws_clock_ms() + t->settings->warm_up_ms * WARM_UP_MOST;
  steadiness before = {.mhz = -1}, now;
  for (;;) {
    WS_TRY(warm_up_part(t, part_ms, &now, diag));
    if ((before.mhz >= 0 && has_settled(t, &before, &now)) ||
        ws_clock_ms() >= end_ms || (t->end_ms && ws_clock_ms() >= t->end_ms))
      return WS_OK;
    before = now;
  }
}

/* ---- batches ---- */

static int batch_size(const ws__timer *t) {
  int left = t->settings->max_samples - t->count;
  int size = left < WS__BATCH ? left : WS__BATCH;
  if (t->count < t->settings->min_samples &&
      size > t->settings->min_samples - t->count)
    size = t->settings->min_samples - t->count;
  double room = t->end_ms ? (t->end_ms - ws_clock_ms()) / t->side_count : 1e9;
  if (t->sample_ms > 0 && size > room / t->sample_ms)
    size = (int)fmax(room / t->sample_ms, 1);
  return t->side_count == 1 ? size : (size + 1) / 2 * 2;
}

static void append(ws__timer *t, int count, double us[][WS__BATCH]) {
  for (int i = 0; i < t->side_count; i++)
    memcpy(t->sides[i].samples + t->count, us[i],
           sizeof(double) * (size_t)count);
  for (int i = 0; t->side_count == 2 && i < count; i += 2)
    t->ratios[(t->count + i) / 2] = ws__block_ratio(&us[0][i], &us[1][i]);
  t->count += count;
}

ws_status ws__timer_batch(ws__timer *t, ws_diag *diag) {
  double us[WS__SIDES][WS__BATCH];
  int count = batch_size(t);
  WS_TRY(take(t, count, us, diag));
  ws_device_clocks now = ws_device_read_clocks(t->device);
  note_clocks(t, &now);
  bool patient = t->out->dropped < t->settings->max_samples &&
                 (!t->end_ms || ws_clock_ms() < t->end_ms);
  if (is_too_hot(&now) && patient) {
    t->out->dropped += count;
    wait_ms(THROTTLED_PAUSE_MS);
    return WS_OK;
  }
  append(t, count, us);
  return WS_OK;
}

static void summarise(ws__timer *t) {
  ws_measured *out = t->out;
  ws__interval own =
      ws__median_interval(t->arena, t->sides[0].samples, t->count);
  out->us = own.median;
  out->low_us = own.low;
  out->high_us = own.high;
  out->samples = t->sides[0].samples;
  out->sample_count = t->count;
  if (t->side_count == 1)
    return;
  ws__interval rival =
      ws__median_interval(t->arena, t->sides[1].samples, t->count);
  out->rival_us = rival.median;
  out->rival_low_us = rival.low;
  out->rival_high_us = rival.high;
  ws__interval ratio =
      ws__median_interval(t->arena, t->ratios, (t->count + 1) / 2);
  out->ratio = ratio.median;
  out->low_ratio = ratio.low;
  out->high_ratio = ratio.high;
}

bool ws__timer_is_done(ws__timer *t) {
  const ws_measured *out = t->out;
  bool late = t->end_ms && ws_clock_ms() >= t->end_ms;
  if (!t->count || (t->count < t->settings->min_samples && !late))
    return false;
  summarise(t);
  double width = t->side_count == 1
                     ? (out->high_us - out->low_us) / out->us
                     : (out->high_ratio - out->low_ratio) / out->ratio;
  return late || t->count >= t->settings->max_samples ||
         width <= t->settings->target_width;
}
