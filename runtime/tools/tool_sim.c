/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith sim`: one code object, ours or anybody's, on the simulated MI300X:
 * what its checks find, whether the result is right, how long it takes and why.
 * The simulator lives in the device server, as for the tuner.
 */
#include "sim_compare.h"
#include "sim_job.h"
#include "tools.h"
#include "wavesmith/sim_error.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- doing it --------------------------------------------------------------
 */

static ws_status work(sim_job *job, ws_diag *diag) {
  const sim_options *options = &job->options;
  WS_TRY(sim_job_open(job, diag));
  WS_TRY(ws_device_client_start(options->device, &job->client, diag));
  WS_TRY(sim_job_launches(job, diag));
  job->has_run = !options->only || !strcmp(options->only, "run");
  if (job->has_run)
    WS_TRY(sim_job_measure(job, WS_MEASURE_VERIFY, &job->run, diag));
  job->has_time = !options->only || !strcmp(options->only, "time");
  if (job->has_run && job->run.verdict != WS_VERDICT_OK)
    job->has_time = false; /* time of what? */
  if (job->has_time)
    WS_TRY(sim_job_measure(job, WS_MEASURE_TIME, &job->time, diag));
  return WS_OK;
}

/* ---- result
 * --------------------------------------------------------------------
 */

static void print_finding(const ws_finding *finding) {
  printf("  %s: %s", finding->id, finding->text);
  if (finding->line)
    printf(" (%s, %s:%d)", finding->region, finding->file, finding->line);
  puts("");
}

static void print_run(const ws_measured *run) {
  if (run->verdict != WS_VERDICT_OK)
    printf("run:   %s, %s\n", ws_verdict_text(run->verdict), run->reason);
  else if (run->compared)
    printf("run:   ok, %lld elements compared, worst error %.2f of the bound\n",
           (long long)run->compared, run->worst_ratio);
  else if (run->uncompared_shapes)
    puts("run:   ok, but nothing was compared: the reference does not take the "
         "shape, or takes too long");
  else
    printf("run:   ok, %s (nothing to compare the result with)\n",
           run->finding_count ? "findings that are benign" : "no finding");
  for (int i = 0; i < run->finding_count; i++)
    print_finding(&run->findings[i]);
}

/* The explanations of the launches that were timed. */
static void print_explanations(ws_arena *arena, const char *report) {
  char *rest = ws_arena_strdup(arena, report), *line;
  while ((line = strsep(&rest, "\n"))) {
    cJSON *json = *line ? cJSON_Parse(line) : NULL;
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(json, "text");
    if (cJSON_IsString(text))
      printf("\n%s", text->valuestring);
    cJSON_Delete(json);
  }
}

static void print_time(ws_arena *arena, const char *provenance,
                       const ws_measured *time) {
  const double error = ws_sim_error_of(provenance, time->bound);
  if (time->verdict != WS_VERDICT_OK) {
    printf("time:  %s, %s\n", ws_verdict_text(time->verdict), time->reason);
    return;
  }
  printf("time:  %.2f us", time->us);
  if (error > 0)
    printf(" %s (the model's error)", ws_sim_error_text(arena, error));
  if (time->sample_count > 1)
    printf(" (median of %d, 95 %% interval %.2f to %.2f)", time->sample_count,
           time->low_us, time->high_us);
  printf("%s%s\n", *time->bound ? ", bound by " : "", time->bound);
  print_explanations(arena, time->report);
}

static void print_text(const sim_job *job) {
  char shape[WS_SHAPE_TEXT];
  printf("%s on %s: %s\n",
         job->candidate ? job->candidate->tmpl->name
                        : job->options.kernels[0].name,
         ws_shape_print(&job->shape, shape),
         ws_device_client_info(job->client)->provenance);
  if (job->has_run)
    print_run(&job->run);
  if (job->has_time)
    print_time(job->arena, ws_device_client_info(job->client)->provenance,
               &job->time);
}

/* As measured, with the report's lines as an array. */
static cJSON *measured_json(ws_arena *arena, const ws_measured *measured) {
  cJSON *json = ws_measured_to_json(measured);
  cJSON *lines = cJSON_CreateArray();
  char *rest = ws_arena_strdup(arena, measured->report), *line;
  while ((line = strsep(&rest, "\n"))) {
    cJSON *item = *line ? cJSON_Parse(line) : NULL;
    if (item)
      cJSON_AddItemToArray(lines, item);
  }
  cJSON_ReplaceItemInObjectCaseSensitive(json, "report", lines);
  return json;
}

static void print_json(const sim_job *job) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "provenance",
                          ws_device_client_info(job->client)->provenance);
  if (job->has_run)
    cJSON_AddItemToObject(json, "run", measured_json(job->arena, &job->run));
  if (job->has_time)
    cJSON_AddItemToObject(json, "time", measured_json(job->arena, &job->time));
  char *text = cJSON_Print(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

static int finish(const sim_job *job) {
  (job->options.json ? print_json : print_text)(job);
  bool good = (!job->has_run || job->run.verdict == WS_VERDICT_OK) &&
              (!job->has_time || job->time.verdict == WS_VERDICT_OK);
  return good ? 0 : ws_status_exit_code(WS_INPUT);
}

static int show_profiles(const sim_options *options, ws_diag *diag) {
  ws_status status = WS_OK;
  if (options->profiles)
    sim_list_profiles();
  else
    status = sim_print_profile(options->profile, diag);
  return status == WS_OK ? 0 : tool_fail("sim", status, diag);
}

int tool_sim(int argc, char **argv) {
  ws_diag diag = {""};
  sim_job job = {.arena = NULL};
  ws_status status = sim_options_parse(argc, argv, &job.options, &diag);
  if (status != WS_OK)
    return tool_fail("sim", status, &diag);
  if (job.options.help)
    return tool_help(&sim_command);
  if (job.options.profiles || job.options.profile)
    return show_profiles(&job.options, &diag);
  if (job.options.compare) {
    status = sim_compare(&job.options, &diag);
    return status == WS_OK ? 0 : tool_fail("sim", status, &diag);
  }
  job.arena = ws_arena_create();
  status = work(&job, &diag);
  int code = status == WS_OK ? finish(&job) : tool_fail("sim", status, &diag);
  ws_device_client_stop(job.client);
  ws_compiler_stop(job.compiler);
  ws_arena_destroy(job.arena);
  return code;
}
