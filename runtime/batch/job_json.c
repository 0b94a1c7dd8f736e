/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Jobs and answers as JSON and back: the tables of their members.
 */
#include "batch_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 4096 };

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
struct race {
  int steps, limit_count;
  const double *limit_us;
  double ratio;
};
/* A job as its line holds it. */
struct line {
  ws_batch_job job;
  struct race race;
};

static const ws_json_field rival_fields[] = {
    {WS_JSON_TEXT_AS("code", ws_batch_job, rival_file)},
    {WS_JSON_INT_AS("bytes", ws_batch_job, rival_size, 1, WS_MESSAGE_MAX)},
    {WS_JSON_TEXT_AS("check", ws_batch_job, rival_check)}};
static const ws_json_struct rival_json = {
    WS_JSON_FIELDS(ws_batch_job, rival_fields), .what = "rival"};

static const ws_json_field race_fields[] = {
    {WS_JSON_INT(struct race, steps, 1, MAX_STEPS)},
    {WS_JSON_ITEMS(struct race, limit_us, limit_count, 1, MAX_STEPS,
                   ws_json_of_double)},
    {WS_JSON_DOUBLE(struct race, ratio)}};

static ws_status check_race(const void *value, const char *what,
                            ws_diag *diag) {
  const struct race *race = value;
  if (race->limit_count != race->steps)
    return ws_fail(diag, WS_INPUT, what, 0,
                   "'steps' is %d, 'limit_us' has %d numbers", race->steps,
                   race->limit_count);
  for (int i = 0; i < race->steps; i++)
    if (!(race->limit_us[i] > 0) || !(race->ratio > 0))
      return ws_fail(diag, WS_INPUT, what, 0,
                     "'ratio' and 'limit_us' must be above 0");
  return WS_OK;
}

static const ws_json_struct race_json = {
    WS_JSON_FIELDS(struct race, race_fields), .what = "race",
    .check = check_race};

static const ws_json_field line_fields[] = {
    {WS_JSON_TEXT_AS("id", struct line, job.id), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_TEXT_AS("candidate", struct line, job.candidate)},
    {WS_JSON_TEXT_AS("code", struct line, job.code_file)},
    {WS_JSON_INT_AS("bytes", struct line, job.code_object_size, 1,
                    WS_MESSAGE_MAX)},
    {WS_JSON_TEXT_AS("check", struct line, job.code_check)},
    {WS_JSON_AT("rival", OBJECT, struct line, job), .of = &rival_json,
     .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_OBJECT(struct line, race, race_json),
     .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_ITEMS_AS("steps", struct line, job.steps, job.step_count, 1,
                      MAX_STEPS, ws_measure_request_json)}};

/* A name in code/, and no way out of it. */
static bool is_file_name(const char *name) {
  return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 128;
}

/* A step's rival is the job's. */
static ws_status check_rivals(const ws_batch_job *job, const char *what,
                              ws_diag *diag) {
  for (int i = 0; i < job->step_count; i++) {
    const ws_contestant *rival = job->steps[i].rival;
    if (rival && rival->size != job->rival_size)
      return ws_fail(diag, WS_INPUT, what, 0,
                     "step %d has a rival of %zu bytes, the job one of %zu", i,
                     rival->size, job->rival_size);
  }
  return WS_OK;
}

static ws_status check_line(const void *value, const char *what,
                            ws_diag *diag) {
  const ws_batch_job *job = &((const struct line *)value)->job;
  const char *const files[] = {job->code_file, job->rival_file};
  if (!*job->id)
    return ws_fail(diag, WS_INPUT, what, 0, "'id' is missing");
  for (int i = 0; i < (job->rival_size ? 2 : 1); i++)
    if (!is_file_name(files[i]))
      return ws_fail(diag, WS_INPUT, what, 0, "'code' is no file's name: %s",
                     files[i]);
  return check_rivals(job, what, diag);
}

static const ws_json_struct line_json = {
    WS_JSON_FIELDS(struct line, line_fields), .what = "job",
    .check = check_line};

struct cJSON *ws__batch_job_to_json(const ws_batch_job *job,
                                    const char *code_file,
                                    const char *rival_file) {
  ws__check code = ws__check_of(job->code_object, job->code_object_size);
  ws__check rival = ws__check_of(job->rival_code, job->rival_size);
  struct line line = {.job = *job,
                      .race = {.steps = job->race_steps,
                               .limit_count = job->race_steps,
                               .limit_us = job->race_us,
                               .ratio = job->race_steps ? job->race_ratio : 0}};
  line.job.id = "";
  line.job.code_file = code_file;
  line.job.code_check = code.hex;
  line.job.rival_file = job->rival_size ? rival_file : "";
  line.job.rival_check = job->rival_size ? rival.hex : "";
  return ws_json_write(&line_json, &line);
}

ws_status ws__batch_job_from_json(ws_arena *arena, const struct cJSON *json,
                                  ws_batch_job *out_job, ws_diag *diag) {
  struct line line;
  ws_status status = ws_json_read(&line_json, arena, json, "job", &line, diag);
  *out_job = line.job;
  out_job->race_steps = line.race.steps;
  out_job->race_us = line.race.limit_us;
  out_job->race_ratio = line.race.ratio;
  return status;
}

/* ---- answers ---- */
static const ws_json_field answer_fields[] = {
    {WS_JSON_TEXT(ws_batch_answer, id)},
    {WS_JSON_POINTER(ws_batch_answer, device, ws_device_info_json)},
    {WS_JSON_ITEMS(ws_batch_answer, steps, step_count, 1, MAX_STEPS,
                   ws_measured_json)}};
static const ws_json_struct answer_json =
    WS_JSON_STRUCT(ws_batch_answer, answer_fields);

struct cJSON *ws__batch_answer_to_json(const ws_batch_answer *answer) {
  return ws_json_write(&answer_json, answer);
}

ws_status ws__batch_answer_from_json(ws_arena *arena, const struct cJSON *json,
                                     ws_batch_answer *out_answer,
                                     ws_diag *diag) {
  return ws_json_read(&answer_json, arena, json, "answer", out_answer, diag);
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
