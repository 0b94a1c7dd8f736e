/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See calibrate.h. Each constant is found by regula falsi in its logarithm
 * between the values that a profile may have, since times rise or fall with it
 * all the way; the model is asked at most MOST_STEPS times for one.
 */
#include "calibrate.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 2, MOST_STEPS = 12 };
static const double near_enough = 1e-3; /* of a time */

char *calibrate_profile(ws_arena *arena, const char *name, const char *base,
                        const calibrate_result *results, int count,
                        const char *source) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", name);
  cJSON_AddStringToObject(json, "base", base);
  cJSON *constants = cJSON_AddObjectToObject(json, "constants");
  for (int i = 0; i < count; i++) {
    cJSON *row =
        cJSON_AddObjectToObject(constants, results[i].benchmark->constant);
    cJSON_AddNumberToObject(row, "value", (double)results[i].fitted);
    if (!source)
      continue;
    cJSON_AddStringToObject(
        row, "source",
        ws_arena_printf(arena, "%s, %s", source, results[i].benchmark->name));
    cJSON_AddStringToObject(row, "confidence", results[i].doubt ? "L" : "M");
  }
  char *printed = cJSON_Print(json);
  WS_ASSERT(printed);
  char *text = ws_arena_strdup(arena, printed);
  cJSON_free(printed);
  cJSON_Delete(json);
  return text;
}

typedef struct fit {
  ws_arena *arena;
  const char *base, *path; /* path: of the profile that is tried */
  int file;
  const calibrate_code *code;
  calibrate_result *results;
  int count;
  ws_diag *diag;
} fit;

/* In memory alone: however this process ends, nothing is left of it. */
static ws_status open_profile(fit *f) {
  f->file = memfd_create("wavesmith-calibrate", MFD_CLOEXEC);
  if (f->file < 0)
    return ws_fail(f->diag, WS_ENVIRONMENT, NULL, 0,
                   "no memory for the profile that is tried: %s",
                   strerror(errno));
  f->path =
      ws_arena_printf(f->arena, "/proc/%ld/fd/%d", (long)getpid(), f->file);
  return WS_OK;
}

static ws_status write_profile(const fit *f) {
  const char *text =
      calibrate_profile(f->arena, "fit", f->base, f->results, f->count, NULL);
  const ssize_t size = (ssize_t)strlen(text);
  if (ftruncate(f->file, 0) != 0 ||
      pwrite(f->file, text, (size_t)size, 0) != size)
    return ws_fail(f->diag, WS_ENVIRONMENT, NULL, 0,
                   "the profile that is tried cannot be kept in memory: %s",
                   strerror(errno));
  return WS_OK;
}

/* The benchmark's time with the constants as they are in results. */
static ws_status ask(const fit *f, const calibrate_result *of, double *out_us) {
  ws_device_client *client;
  double noise;
  WS_TRY(write_profile(f));
  WS_TRY(ws_device_client_start(ws_arena_printf(f->arena, "sim:%s", f->path),
                                &client, f->diag));
  const ws_status status = calibrate_measure(client, f->code, of->benchmark,
                                             out_us, &noise, f->diag);
  ws_device_client_stop(client);
  return status;
}

/* ln(simulated / measured) with the constant at value. */
static ws_status error_at(const fit *f, calibrate_result *r, int64_t value,
                          double *out) {
  r->fitted = value;
  WS_TRY(ask(f, r, &r->fitted_us));
  *out = log(r->fitted_us / r->measured_us);
  return WS_OK;
}

typedef struct point {
  int64_t value;
  double error;
} point;

/* How far the slope between two points says the error changes its sign, as a
 * factor, and a little further. */
static double factor_to(const point *first, const point *second) {
  const double slope = (second->error - first->error) /
                       log((double)second->value / (double)first->value);
  return fmin(2, exp(fabs(1.05 * second->error / slope)));
}

/* One part of a value, but at least the clocks in which a wave may issue:
 * latencies less far apart take the same time. */
static int64_t step_of(int64_t value, int64_t part) {
  enum { VISIT = 4 };
  return value / part > VISIT ? value / part : VISIT;
}

/* Steps from the present value until the error changes its sign or the limits
 * are reached. */
static ws_status bracket(const fit *f, calibrate_result *r, point ends[2]) {
  const int64_t start = r->fitted, step = step_of(start, 16);
  point last = {start, 0}, next = {start + step, 0};
  WS_TRY(error_at(f, r, start, &last.error));
  ends[0] = ends[1] = last;
  if (fabs(last.error) < near_enough)
    return WS_OK;
  /* Which way? Where the time is the same, as of a rate: another decides. */
  if (next.value > r->high)
    next.value = start - step;
  WS_TRY(error_at(f, r, next.value, &next.error));
  const bool grows = (next.error > last.error) == (next.value > last.value);
  const bool up = grows == (last.error < 0);
  if (up != (next.value > start)) {
    const point probe = next;
    next = last;
    last = probe;
  }
  while ((next.error < 0) == (ends[0].error < 0) &&
         fabs(next.error) >= near_enough) {
    const double factor = factor_to(&last, &next);
    const double wanted =
        up ? (double)next.value * factor + 1 : (double)next.value / factor - 1;
    last = next;
    next.value = (int64_t)fmin(fmax(wanted, (double)r->low), (double)r->high);
    if (next.value == last.value)
      break; /* at a limit */
    WS_TRY(error_at(f, r, next.value, &next.error));
  }
  ends[0] = last;
  ends[1] = next;
  return WS_OK;
}

static ws_status find_constant(const fit *f, calibrate_result *r) {
  point ends[2];
  WS_TRY(bracket(f, r, ends));
  for (int step = 0; step < MOST_STEPS; step++) {
    const double a = log((double)ends[0].value), b = log((double)ends[1].value);
    if (llabs(ends[0].value - ends[1].value) <= 1 ||
        (ends[0].error < 0) == (ends[1].error < 0))
      break;
    /* Now and then the middle, for curves that bend. */
    const double part =
        step % 3 == 2 ? 0.5 : ends[0].error / (ends[0].error - ends[1].error);
    int64_t value = llround(exp(a + part * (b - a)));
    if (value == ends[0].value || value == ends[1].value)
      value = (ends[0].value + ends[1].value) / 2;
    point found = {value, 0};
    WS_TRY(error_at(f, r, value, &found.error));
    ends[(found.error < 0) == (ends[1].error < 0)] = found;
    if (fabs(found.error) < near_enough)
      break;
  }
  const point *best = &ends[fabs(ends[1].error) < fabs(ends[0].error)];
  r->fitted = best->value;
  r->fitted_us = r->measured_us * exp(best->error);
  return WS_OK;
}

/* Whether the time is the constant's: it is there, and changes with it, down
 * and up. What decides nothing keeps the value that it began with. */
static ws_status check(const fit *f, calibrate_result *r) {
  static const char *const others[2][2] = {
      {NULL, "higher ones give the same time; another constant decides it"},
      {"lower ones give the same time; another constant decides it",
       "others give the same time; another constant decides it"}};
  const int64_t found = r->fitted, step = step_of(found, 8);
  const int64_t beside[] = {found - step > r->low ? found - step : r->low,
                            found + step < r->high ? found + step : r->high};
  double at_sides[] = {INFINITY, INFINITY}, error;
  for (int way = 0; way < 2; way++)
    if (beside[way] != found)
      WS_TRY(error_at(f, r, beside[way], &at_sides[way]));
  WS_TRY(error_at(f, r, found, &error));
  const bool lower = fabs(at_sides[0] - error) < near_enough;
  const bool higher = fabs(at_sides[1] - error) < near_enough;
  r->doubt = fabs(error) > 0.05
                 ? "no value gives the measured time; the model lacks "
                   "something, or another constant is wrong"
                 : others[lower][higher];
  return WS_OK;
}

static ws_status run(fit *f) {
  for (int i = 0; i < f->count; i++)
    WS_TRY(ask(f, &f->results[i], &f->results[i].base_us));
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < f->count; i++)
      WS_TRY(find_constant(f, &f->results[i]));
  for (int i = 0; i < f->count; i++)
    WS_TRY(check(f, &f->results[i]));
  return WS_OK;
}

/* ---- the base ---- */

static int64_t constant_of(const cJSON *profile, const char *name) {
  const cJSON *rows = cJSON_GetObjectItemCaseSensitive(profile, "constants");
  const cJSON *row = cJSON_GetObjectItemCaseSensitive(rows, name);
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, "value");
  WS_ASSERT(cJSON_IsNumber(value));
  return (int64_t)value->valuedouble;
}

/* As profiles may have it (docs/simulator.md). */
static void set_limits(calibrate_result *r, const cJSON *base,
                       const cJSON *mi300x) {
  enum { FACTOR = 16 };
  const char *not_below = r->benchmark->not_below;
  const int64_t usual = constant_of(mi300x, r->benchmark->constant);
  r->low = usual < FACTOR ? 1 : (usual + FACTOR - 1) / FACTOR;
  r->high = usual * FACTOR;
  if (not_below)
    r->low = constant_of(base, not_below);
}

ws_status calibrate_read_base(ws_arena *arena, const char *base,
                              calibrate_result *results, int count,
                              int64_t *out_cu_count, ws_diag *diag) {
  const ws_sim_card *card, *usual;
  WS_TRY(ws_sim_card_find(NULL, arena, &usual, diag));
  WS_TRY(ws_sim_card_find(base, arena, &card, diag));
  cJSON *json = ws_sim_card_to_json(card);
  cJSON *mi300x = ws_sim_card_to_json(usual);
  for (int i = 0; i < count; i++) {
    calibrate_result *r = &results[i];
    r->base = r->fitted = constant_of(json, r->benchmark->constant);
    set_limits(r, json, mi300x);
  }
  *out_cu_count = constant_of(json, "xcds") * constant_of(json, "cus_per_xcd");
  const bool is_corrected = cJSON_HasObjectItem(json, "correction");
  cJSON_Delete(json);
  cJSON_Delete(mi300x);
  /* The profile that is written would inherit it. */
  if (is_corrected)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--base %s has a learned correction, which holds for its "
                   "constants and no others; leave \"correction\" out, and "
                   "learn one anew with what is found (`wavesmith sim "
                   "--compare`)",
                   base);
  return WS_OK;
}

ws_status calibrate_fit(ws_arena *arena, const char *base,
                        const calibrate_code *code, calibrate_result *results,
                        int count, ws_diag *diag) {
  fit f = {.arena = arena,
           .base = base,
           .code = code,
           .results = results,
           .count = count,
           .diag = diag};
  WS_TRY(open_profile(&f));
  const ws_status status = run(&f);
  close(f.file);
  return status;
}
