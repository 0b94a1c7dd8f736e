/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What `wavesmith bench` found, as a table or JSON. Both name the device, its
 * clocks while it was timed, and the noise; a simulator's times say so.
 */
#include "bench_options.h"
#include "text_table.h"
#include "wavesmith/sim_error.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sums over the rows ---- */

typedef struct bench_sums {
  int timed, compared;
  double us, share, ratio; /* geometric means */
  double low_ratio, high_ratio;
  double floor; /* the widest */
  double empty_us;
  int low_mhz, high_mhz, memory_mhz, dropped;
  const char *throttle;
} bench_sums;

static void add_clocks(ws_arena *arena, const ws_measured *measured,
                       bench_sums *sums) {
  if (measured->low_mhz &&
      (!sums->low_mhz || measured->low_mhz < sums->low_mhz))
    sums->low_mhz = measured->low_mhz;
  if (measured->high_mhz > sums->high_mhz)
    sums->high_mhz = measured->high_mhz;
  if (measured->memory_mhz)
    sums->memory_mhz = measured->memory_mhz;
  sums->dropped += measured->dropped;
  if (*measured->throttle && !strstr(sums->throttle, measured->throttle))
    sums->throttle =
        ws_arena_printf(arena, "%s%s%s", sums->throttle,
                        *sums->throttle ? ", " : "", measured->throttle);
  sums->empty_us = fmax(sums->empty_us, measured->empty_us);
}

/* Of the ratio's geometric mean: the shapes' intervals are independent, so
 * half widths add up in quadrature, in logarithms. */
static bench_sums sum_up(const bench_job *job) {
  bench_sums sums = {.throttle = ""};
  double half = 0;
  for (int i = 0; i < job->row_count; i++) {
    const bench_row *row = &job->rows[i];
    if (!row->entry || row->measured.verdict != WS_VERDICT_OK)
      continue;
    sums.timed++;
    sums.us += log(row->measured.us);
    sums.share += log(row->roofline_us / row->measured.us);
    add_clocks(job->arena, &row->measured, &sums);
    if (row->has_noise)
      sums.floor = fmax(sums.floor, ws_measured_floor(&row->same));
    if (!row->has_rival)
      continue;
    sums.compared++;
    sums.ratio += log(row->measured.ratio);
    half += pow(log(row->measured.high_ratio / row->measured.low_ratio) / 2, 2);
  }
  sums.us = sums.timed ? exp(sums.us / sums.timed) : 0;
  sums.share = sums.timed ? exp(sums.share / sums.timed) : 0;
  if (sums.compared) {
    double mean = sums.ratio / sums.compared;
    half = sqrt(half) / sums.compared;
    sums.ratio = exp(mean);
    sums.low_ratio = exp(mean - half);
    sums.high_ratio = exp(mean + half);
  }
  return sums;
}

static const char *verdict_of(const bench_row *row) {
  if (!row->has_rival)
    return "";
  int found = ws_measured_compare(
      &row->measured, row->has_noise ? ws_measured_floor(&row->same) : 0);
  return found < 0 ? "faster" : found ? "slower" : "same";
}

/* 0: times of a card, or of a simulator whose error is not known. */
static double equal_distance(const bench_job *job) {
  return ws_sim_error_equal(ws_device_client_info(job->client)->provenance);
}

static double model_error(const bench_row *row) {
  return ws_sim_error_of(row->measured.provenance, row->measured.bound);
}

static ws_sim_error_pairs pairs_of(const bench_row *row) {
  return ws_sim_error_pairs_of(row->measured.ratio, 1);
}

/* ---- text ---- */

static const char *shape_text(ws_arena *arena, const ws_shape *shape) {
  return ws_shape_text(arena, shape);
}

enum { ALL_COLUMNS = 10 };

static void fill_row(const bench_job *job, const bench_row *row,
                     const char *cells[ALL_COLUMNS]) {
  ws_arena *arena = job->arena;
  const ws_measured *got = &row->measured;
  for (int i = 0; i < ALL_COLUMNS; i++)
    cells[i] = "";
  cells[0] = shape_text(arena, &row->shape);
  if (!row->entry || got->verdict != WS_VERDICT_OK) {
    cells[1] = row->entry ? ws_verdict_text(got->verdict) : "refused";
    return;
  }
  cells[1] = ws_arena_printf(arena, "%.2f", got->us);
  cells[2] = ws_arena_printf(arena, "%.2f .. %.2f", got->low_us, got->high_us);
  cells[3] = ws_arena_printf(arena, "%d", got->sample_count);
  cells[4] =
      ws_arena_printf(arena, "%.1f %%", 100 * row->roofline_us / got->us);
  if (!row->has_rival)
    return;
  cells[5] = ws_arena_printf(arena, "%.2f", got->rival_us);
  cells[6] = ws_arena_printf(arena, "%.4f", got->ratio);
  cells[7] =
      ws_arena_printf(arena, "%.4f .. %.4f", got->low_ratio, got->high_ratio);
  if (row->has_noise)
    cells[8] =
        ws_arena_printf(arena, "%.2f %%", 100 * ws_measured_floor(&row->same));
  cells[9] = verdict_of(row);
}

/* In place of what only samples have. */
static void fill_model(const bench_job *job, const bench_row *row,
                       const char *cells[ALL_COLUMNS]) {
  const double error = model_error(row);
  if (!(error > 0) || !*cells[2])
    return;
  cells[2] = ws_sim_error_text(job->arena, error);
  if (!row->has_rival)
    return;
  const ws_sim_error_pairs pairs = pairs_of(row);
  cells[7] = ws_arena_printf(job->arena, "%.0f %% of %d",
                             100.0 * pairs.right / pairs.pairs, pairs.pairs);
  cells[8] = ws_arena_printf(job->arena, "%.0f %%", 100 * equal_distance(job));
}

static void print_table(const bench_job *job) {
  static const char *const headings[] = {
      "shape",   "us",    "95 % interval", "samples", "of roofline",
      "against", "ratio", "95 % interval", "noise",   "verdict"};
  static const char *const model_headings[] = {
      "shape",   "us",    "model's error", "samples",     "of roofline",
      "against", "ratio", "pairs right",   "equal below", "verdict"};
  bool pair = job->options.against != NULL;
  text_table table =
      text_table_create(job->arena, pair ? "lrlrrrrlrl" : "lrlrr",
                        equal_distance(job) > 0 ? model_headings : headings);
  for (int i = 0; i < job->row_count; i++) {
    const char **cells =
        ws_arena_alloc(job->arena, sizeof *cells * ALL_COLUMNS);
    fill_row(job, &job->rows[i], cells);
    fill_model(job, &job->rows[i], cells);
    text_table_add(&table, cells);
  }
  text_table_print(&table);
}

static void print_reasons(const bench_job *job) {
  for (int i = 0; i < job->row_count; i++) {
    const bench_row *row = &job->rows[i];
    const char *shape = shape_text(job->arena, &row->shape);
    if (row->refusal)
      printf("%s: %s\n", shape, row->refusal);
    else if (row->measured.verdict != WS_VERDICT_OK)
      printf("%s\n", row->measured.reason);
  }
}

/* The model errs alike on many shapes: their number makes nothing surer. */
static void print_simulated_mean(const bench_job *job, const bench_sums *sums) {
  const ws_measured mean = {.provenance =
                                ws_device_client_info(job->client)->provenance,
                            .ratio = sums->ratio,
                            .low_ratio = sums->ratio,
                            .high_ratio = sums->ratio};
  const int found = ws_measured_compare(&mean, 0);
  printf("against %s: ratio %.4f over %d shapes (below 1: %s is faster): %s\n",
         job->other.name, sums->ratio, sums->compared, job->subject.name,
         found < 0 ? "faster"
         : found   ? "slower"
                   : "the same within the model's error");
}

static void print_means(const bench_job *job, const bench_sums *sums) {
  if (sums->timed)
    printf("geometric mean of %d shapes: %.2f us, %.1f %% of the roofline\n",
           sums->timed, sums->us, 100 * sums->share);
  if (sums->compared && equal_distance(job) > 0)
    print_simulated_mean(job, sums);
  else if (sums->compared)
    printf(
        "against %s: ratio %.4f, 95 %% interval %.4f .. %.4f, over %d shapes "
        "(below 1: %s is faster)\n",
        job->other.name, sums->ratio, sums->low_ratio, sums->high_ratio,
        sums->compared, job->subject.name);
}

static void print_conditions(const bench_job *job, const bench_sums *sums) {
  const ws_device_info *info = ws_device_client_info(job->client);
  if (info->simulated) {
    puts("simulated: one sample a shape, a function of the launch alone; no "
         "noise, no clocks");
    if (equal_distance(job) > 0)
      printf(
          "model's error: so far from simulated times were 68 of 100 measured "
          "ones; kernels less than %.0f %% apart count as the same%s\n",
          100 * equal_distance(job),
          job->options.against ? "; pairs right: of pairs so far apart so "
                                 "many were measured in this order"
                               : "");
    return;
  }
  if (sums->high_mhz)
    printf("clock while timed: %d to %d MHz, memory %d MHz", sums->low_mhz,
           sums->high_mhz, sums->memory_mhz);
  else
    printf("clock while timed: the driver does not say");
  printf("; throttled by: %s; samples dropped: %d\n",
         *sums->throttle ? sums->throttle : "nothing", sums->dropped);
  printf("noise, the subject against itself: %.2f %% at most; an empty launch "
         "reads %.2f us, which is part of every time\n",
         100 * sums->floor, sums->empty_us);
}

static void print_text(const bench_job *job, const bench_sums *sums) {
  const ws_device_info *info = ws_device_client_info(job->client);
  printf(
      "%s on %s%s%s, inputs of seed %llu, roofline of %s\n", job->subject.name,
      info->provenance, info->driver && *info->driver ? ", driver " : "",
      info->driver ? info->driver : "",
      (unsigned long long)job->options.seed_value, job->subject.target->card);
  print_table(job);
  print_reasons(job);
  print_means(job, sums);
  print_conditions(job, sums);
}

/* ---- JSON ---- */

static cJSON *row_json(const bench_row *row) {
  cJSON *json = ws_json_write(&ws_json_of_shape, &row->shape);
  cJSON_AddNumberToObject(json, "roofline_us", row->roofline_us);
  if (row->refusal)
    cJSON_AddStringToObject(json, "refused", row->refusal);
  if (!row->entry)
    return json;
  cJSON_AddStringToObject(json, "candidate", row->entry->candidate->id.hex);
  cJSON *measured = ws_measured_to_json(&row->measured);
  /* `wavesmith sim` is where a simulator explains itself */
  cJSON_DeleteItemFromObjectCaseSensitive(measured, "report");
  cJSON_AddItemToObject(json, "measured", measured);
  if (row->has_noise)
    cJSON_AddNumberToObject(json, "noise", ws_measured_floor(&row->same));
  if (model_error(row) > 0)
    cJSON_AddNumberToObject(json, "model_error", model_error(row));
  if (model_error(row) > 0 && row->has_rival) {
    const ws_sim_error_pairs pairs = pairs_of(row);
    cJSON *object = cJSON_AddObjectToObject(json, "pairs");
    cJSON_AddNumberToObject(object, "count", pairs.pairs);
    cJSON_AddNumberToObject(object, "right", pairs.right);
  }
  if (row->has_rival)
    cJSON_AddStringToObject(json, "comparison", verdict_of(row));
  return json;
}

static void print_json(const bench_job *job, const bench_sums *sums) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "subject", job->subject.name);
  if (job->options.against)
    cJSON_AddStringToObject(json, "against", job->other.name);
  cJSON_AddStringToObject(json, "target", job->subject.target->name);
  cJSON_AddItemToObject(
      json, "device",
      ws_device_info_to_json(ws_device_client_info(job->client)));
  cJSON *rows = cJSON_AddArrayToObject(json, "shapes");
  for (int i = 0; i < job->row_count; i++)
    cJSON_AddItemToArray(rows, row_json(&job->rows[i]));
  cJSON *means = cJSON_AddObjectToObject(json, "geometric_mean");
  cJSON_AddNumberToObject(means, "shapes", sums->timed);
  cJSON_AddNumberToObject(means, "us", sums->us);
  cJSON_AddNumberToObject(means, "of_roofline", sums->share);
  if (sums->compared) {
    cJSON_AddNumberToObject(means, "ratio", sums->ratio);
    cJSON_AddNumberToObject(means, "low_ratio", sums->low_ratio);
    cJSON_AddNumberToObject(means, "high_ratio", sums->high_ratio);
  }
  cJSON_AddNumberToObject(json, "noise", sums->floor);
  if (equal_distance(job) > 0)
    cJSON_AddNumberToObject(json, "equal_below", equal_distance(job));
  char *text = cJSON_Print(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

void bench_print(const bench_job *job) {
  bench_sums sums = sum_up(job);
  (job->options.json ? print_json : print_text)(job, &sums);
}
