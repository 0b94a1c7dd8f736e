/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Jobs and answers, as JSON and back. The reader trusts nothing: types, counts
 * and names are checked, texts are copied.
 */
#include "batch_internal.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 4096 };
static const char job_name[] = "job";
static const char answer_name[] = "answer";

ws__check ws__check_of(const void *data, size_t size) {
  const unsigned char *bytes = data;
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  ws__check check;
  for (size_t i = 0; i < size; i++)
    sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
  snprintf(check.hex, sizeof check.hex, "%016" PRIx64, sum);
  return check;
}

/* ---- jobs ---- */

static void add_rival(cJSON *json, const ws_batch_job *job,
                      const char *rival_file) {
  cJSON *rival = cJSON_AddObjectToObject(json, "rival");
  cJSON_AddStringToObject(rival, "code", rival_file);
  cJSON_AddNumberToObject(rival, "bytes", (double)job->rival_size);
  cJSON_AddStringToObject(rival, "check",
                          ws__check_of(job->rival_code, job->rival_size).hex);
}

static void add_race(cJSON *json, const ws_batch_job *job) {
  cJSON *race = cJSON_AddObjectToObject(json, "race");
  cJSON_AddNumberToObject(race, "steps", job->race_steps);
  cJSON *limits = cJSON_AddArrayToObject(race, "limit_us");
  for (int i = 0; i < job->race_steps; i++)
    cJSON_AddItemToArray(limits, cJSON_CreateNumber(job->race_us[i]));
  cJSON_AddNumberToObject(race, "ratio", job->race_ratio);
}

struct cJSON *ws__batch_job_to_json(const ws_batch_job *job,
                                    const char *code_file,
                                    const char *rival_file) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "candidate", job->candidate);
  cJSON_AddStringToObject(json, "code", code_file);
  cJSON_AddNumberToObject(json, "bytes", (double)job->code_object_size);
  cJSON_AddStringToObject(
      json, "check", ws__check_of(job->code_object, job->code_object_size).hex);
  if (job->rival_size > 0)
    add_rival(json, job, rival_file);
  if (job->race_steps > 0)
    add_race(json, job);
  cJSON *steps = cJSON_AddArrayToObject(json, "steps");
  for (int i = 0; i < job->step_count; i++)
    cJSON_AddItemToArray(steps, ws_measure_request_to_json(&job->steps[i]));
  return json;
}

/* A name in code/, and no way out of it. */
static bool is_file_name(const char *name) {
  return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 128;
}

static ws_status read_text(ws_arena *arena, const cJSON *json, const char *name,
                           const char **out, ws_diag *diag) {
  WS_TRY(ws_json_get_string(json, name, job_name, out, diag));
  *out = ws_arena_strdup(arena, *out);
  return WS_OK;
}

/* "code", "check" and "bytes", of the candidate or of its rival. */
static ws_status read_code_name(ws_arena *arena, const cJSON *json,
                                const char **out_file, const char **out_check,
                                size_t *out_size, ws_diag *diag) {
  int64_t bytes;
  WS_TRY(read_text(arena, json, "code", out_file, diag));
  WS_TRY(read_text(arena, json, "check", out_check, diag));
  WS_TRY(ws_json_get_int(json, "bytes", job_name, &bytes, diag));
  if (!is_file_name(*out_file) || bytes < 1 || bytes > WS_MESSAGE_MAX)
    return ws_fail(diag, WS_INPUT, job_name, 0,
                   "'code' is no file's name, or 'bytes' no size: %s, %lld",
                   *out_file, (long long)bytes);
  *out_size = (size_t)bytes;
  return WS_OK;
}

static ws_status read_names(ws_arena *arena, const cJSON *json,
                            ws_batch_job *out, ws_diag *diag) {
  const cJSON *rival = cJSON_GetObjectItemCaseSensitive(json, "rival");
  WS_TRY(read_text(arena, json, "id", &out->id, diag));
  WS_TRY(read_text(arena, json, "candidate", &out->candidate, diag));
  WS_TRY(read_code_name(arena, json, &out->code_file, &out->code_check,
                        &out->code_object_size, diag));
  return rival ? read_code_name(arena, rival, &out->rival_file,
                                &out->rival_check, &out->rival_size, diag)
               : WS_OK;
}

/* A step's rival is the job's. */
static ws_status check_rivals(const ws_batch_job *job, ws_diag *diag) {
  for (int i = 0; i < job->step_count; i++) {
    const ws_contestant *rival = job->steps[i].rival;
    if (rival && rival->size != job->rival_size)
      return ws_fail(diag, WS_INPUT, job_name, 0,
                     "step %d has a rival of %zu bytes, the job one of %zu", i,
                     rival->size, job->rival_size);
  }
  return WS_OK;
}

static ws_status read_race(ws_arena *arena, const cJSON *json,
                           ws_batch_job *out, ws_diag *diag) {
  const cJSON *race = cJSON_GetObjectItemCaseSensitive(json, "race");
  const cJSON *limits, *item;
  int64_t steps;
  if (!race)
    return WS_OK;
  WS_TRY(ws_json_get_int(race, "steps", "race", &steps, diag));
  WS_TRY(ws_json_get_double(race, "ratio", "race", &out->race_ratio, diag));
  WS_TRY(ws_json_get_array(race, "limit_us", "race", &limits, diag));
  if (steps < 1 || steps > MAX_STEPS || cJSON_GetArraySize(limits) != steps)
    return ws_fail(diag, WS_INPUT, "race", 0,
                   "'steps' is %lld, 'limit_us' has %d numbers",
                   (long long)steps, cJSON_GetArraySize(limits));
  double *race_us = ws_arena_alloc(arena, sizeof *race_us * (size_t)steps);
  cJSON_ArrayForEach(item, limits) race_us[out->race_steps++] =
      item->valuedouble;
  out->race_us = race_us;
  for (int i = 0; i < out->race_steps; i++)
    if (!(race_us[i] > 0) || !(out->race_ratio > 0))
      return ws_fail(diag, WS_INPUT, "race", 0,
                     "'ratio' and 'limit_us' must be above 0");
  return WS_OK;
}

ws_status ws__batch_job_from_json(ws_arena *arena, const struct cJSON *json,
                                  ws_batch_job *out_job, ws_diag *diag) {
  const cJSON *array, *item;
  *out_job = (ws_batch_job){0};
  WS_TRY(read_names(arena, json, out_job, diag));
  WS_TRY(read_race(arena, json, out_job, diag));
  WS_TRY(ws_json_get_array(json, "steps", job_name, &array, diag));
  int count = cJSON_GetArraySize(array);
  if (count < 1 || count > MAX_STEPS)
    return ws_fail(diag, WS_INPUT, job_name, 0, "%d steps; wanted are 1 to %d",
                   count, MAX_STEPS);
  ws_measure_request *steps =
      ws_arena_alloc(arena, sizeof *steps * (size_t)count);
  cJSON_ArrayForEach(item, array) WS_TRY(ws_measure_request_from_json(
      arena, item, &steps[out_job->step_count++], diag));
  out_job->steps = steps;
  return check_rivals(out_job, diag);
}

/* ---- answers ---- */

struct cJSON *ws__batch_answer_to_json(const ws_batch_answer *answer) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "id", answer->id);
  cJSON_AddItemToObject(json, "device", ws_device_info_to_json(answer->device));
  cJSON *steps = cJSON_AddArrayToObject(json, "steps");
  for (int i = 0; i < answer->step_count; i++)
    cJSON_AddItemToArray(steps, ws_measured_to_json(&answer->steps[i]));
  return json;
}

ws_status ws__batch_answer_from_json(ws_arena *arena, const struct cJSON *json,
                                     ws_batch_answer *out_answer,
                                     ws_diag *diag) {
  const cJSON *array, *item;
  *out_answer = (ws_batch_answer){0};
  WS_TRY(ws_json_get_string(json, "id", answer_name, &out_answer->id, diag));
  out_answer->id = ws_arena_strdup(arena, out_answer->id);
  ws_device_info *info = ws_arena_alloc(arena, sizeof *info);
  WS_TRY(ws_device_info_from_json(
      arena, cJSON_GetObjectItemCaseSensitive(json, "device"), info, diag));
  out_answer->device = info;
  WS_TRY(ws_json_get_array(json, "steps", answer_name, &array, diag));
  int count = cJSON_GetArraySize(array);
  if (count < 1 || count > MAX_STEPS)
    return ws_fail(diag, WS_INPUT, answer_name, 0,
                   "%d steps; wanted are 1 to %d", count, MAX_STEPS);
  ws_measured *steps = ws_arena_alloc(arena, sizeof *steps * (size_t)count);
  cJSON_ArrayForEach(item, array) WS_TRY(ws_measured_from_json(
      arena, item, &steps[out_answer->step_count++], diag));
  out_answer->steps = steps;
  return WS_OK;
}

/* ---- the race ---- */

bool ws__batch_race_lost(const ws_batch_job *job, const ws_measured *steps,
                         int step_count) {
  double sum = 0;
  int timed = 0;
  for (int i = 0; i < step_count && timed < job->race_steps; i++)
    if (job->steps[i].op == WS_MEASURE_TIME)
      sum += log(steps[i].us / job->race_us[timed++]);
  return job->race_steps > 0 && timed == job->race_steps &&
         sum > timed * log(job->race_ratio);
}
