/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith sim`: one code object, ours or anybody's, on the simulated MI300X:
 * what its checks find, whether the result is right, how long it takes and why.
 * The simulator lives in the device server, as for the tuner.
 */
#include "sim_options.h"
#include "tools.h"
#include "wavesmith/archive.h"
#include "wavesmith/sim_error.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sim_job {
  sim_options options;
  ws_arena *arena;
  ws_device_client *client;
  ws_compiler *compiler;
  const ws_problem *problem; /* NULL: none */
  int layout;
  ws_shape shape;
  const void *code_object;
  size_t code_object_size;
  ws_candidate *candidate; /* NULL: a foreign code object */
  ws_build_result build;
  ws_workload workload;
  ws_measured run, time;
  bool has_run, has_time;
} sim_job;

/* ---- what is to run
 * ----------------------------------------------------------
 */

static ws_status find_problem(sim_job *job, const char *name, ws_diag *diag) {
  job->problem = ws_problem_find(name);
  if (!job->problem)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "there is no problem '%s'; name its file with --problem",
                   name);
  if (job->options.layout)
    job->layout = ws_problem_layout_index(job->problem, job->options.layout);
  if (job->layout < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "problem %s has no layout '%s'",
                   name, job->options.layout);
  if (!job->options.shape)
    return ws_fail(diag, WS_USAGE, NULL, 0, "problem %s needs a --shape", name);
  const char *shape = job->options.shape;
  if (ws_shape_parse(job->problem->dims, &shape, &job->shape, diag) != WS_OK)
    return WS_USAGE;
  return ws_problem_check_shape(job->problem, &job->shape, diag);
}

static ws_status find_problem_of(sim_job *job, const ws_template *tmpl,
                                 ws_diag *diag) {
  WS_TRY(ws_problem_list_check(tool_named_problems(), tmpl->file, tmpl->problem,
                               diag));
  return find_problem(job, tmpl->problem, diag);
}

static ws_status build_candidate(sim_job *job, const char *file,
                                 const char *text, size_t size, ws_diag *diag) {
  const ws_build_request request = {
      .template_file = file,
      .template_text = text,
      .template_size = size,
      .target = job->candidate->tmpl->target,
      .assignments = ws_candidate_values_text(job->arena, job->candidate),
      .variants = ws_candidate_variants_text(job->arena, job->candidate),
      .stages = WS_STAGE_CHECK | WS_STAGE_LOWER | WS_STAGE_LINES,
      .limits = ws_limits_default};
  WS_TRY(ws_compiler_build(job->compiler, job->arena, &request, &job->build,
                           diag));
  if (job->build.verdict != WS_VERDICT_OK)
    return ws_fail(diag, WS_INPUT, file, 0, "%s: %s",
                   ws_verdict_text(job->build.verdict), job->build.reason);
  job->code_object = job->build.code_object;
  job->code_object_size = job->build.code_object_size;
  return WS_OK;
}

static ws_status open_template(sim_job *job, ws_diag *diag) {
  const char *file = job->options.template_file;
  char *text;
  size_t size;
  const ws_template *tmpl;
  WS_TRY(ws_file_read(job->arena, file, &text, &size, diag));
  WS_TRY(ws_compiler_start(&job->compiler, diag));
  WS_TRY(ws_compiler_describe(job->compiler, job->arena, file, text, size,
                              &tmpl, diag));
  WS_TRY(find_problem_of(job, tmpl, diag));
  job->candidate = ws_candidate_create(job->arena, tmpl);
  if (ws_template_param_index(tmpl, "layout") >= 0)
    WS_TRY(ws_candidate_set(
        job->candidate, ws_arena_printf(job->arena, "layout=%d", job->layout),
        diag));
  WS_TRY(ws_candidate_set(job->candidate, job->options.set, diag));
  WS_TRY(
      ws_candidate_set_variants(job->candidate, job->options.variants, diag));
  return build_candidate(job, file, text, size, diag);
}

static ws_status read_archived(sim_job *job, ws_archive *archive,
                               ws_diag *diag) {
  ws_candidate_row row;
  const ws_template *tmpl;
  bool found;
  WS_TRY(ws_archive_get_candidate(
      archive, job->arena, job->options.candidate_id, &found, &row, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, job->options.archive, 0,
                   "there is no candidate '%s'", job->options.candidate_id);
  WS_TRY(ws_archive_get_template(archive, job->arena, row.template_hash, &tmpl,
                                 NULL, diag));
  WS_TRY(ws_archive_load_candidate(archive, job->arena, &row, tmpl,
                                   &job->candidate, diag));
  job->options.layout = row.layout;
  WS_TRY(find_problem_of(job, tmpl, diag));
  WS_TRY(ws_archive_get_build(archive, job->arena, row.id, &found, &job->build,
                              diag));
  job->code_object = job->build.code_object;
  job->code_object_size = job->build.code_object_size;
  return found && job->code_object
             ? WS_OK
             : ws_fail(diag, WS_INPUT, job->options.archive, 0,
                       "candidate %s has no code object", row.id);
}

static ws_status open_archived(sim_job *job, ws_diag *diag) {
  ws_archive *archive;
  WS_TRY(ws_archive_open(job->options.archive, false, &archive, diag));
  ws_status status = read_archived(job, archive, diag);
  ws_archive_close(archive);
  return status;
}

static ws_status open_file(sim_job *job, ws_diag *diag) {
  char *data;
  WS_TRY(ws_file_read(job->arena, job->options.file, &data,
                      &job->code_object_size, diag));
  job->code_object = data;
  const char *name = job->options.problem;
  if (!name && job->options.shape)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--shape is of a problem: name it with --problem");
  return name ? find_problem(job, name, diag) : WS_OK;
}

static ws_status make_workload(sim_job *job, ws_diag *diag) {
  int cu_count = ws_device_client_info(job->client)->cu_count;
  if (job->candidate)
    WS_TRY(ws_workload_of(job->arena, job->problem, job->layout, job->candidate,
                          &job->build, &job->shape, cu_count, &job->workload,
                          diag));
  else
    WS_TRY(sim_read_workload(&job->options, job->arena, job->problem,
                             job->layout, &job->shape, cu_count, &job->workload,
                             diag));
  job->workload.seed = strtoull(job->options.seed, NULL, 10);
  return WS_OK;
}

/* ---- doing it
 * ------------------------------------------------------------------
 */

static ws_status measure(sim_job *job, ws_measure_op op, ws_measured *out,
                         ws_diag *diag) {
  ws_measure_request request = {.op = op,
                                .code_object = job->code_object,
                                .code_object_size = job->code_object_size,
                                .workloads = &job->workload,
                                .workload_count = 1,
                                .settings = ws_measure_settings_default};
  double seconds = strtod(job->options.seconds, NULL);
  request.settings.wall_ms =
      seconds > 0 && seconds < 1e6 ? (int)(seconds * 1000) : 1;
  return ws_device_client_measure(job->client, job->arena, &request, out, diag);
}

static ws_status work(sim_job *job, ws_diag *diag) {
  const sim_options *options = &job->options;
  if (options->file)
    WS_TRY(open_file(job, diag));
  else if (options->template_file)
    WS_TRY(open_template(job, diag));
  else
    WS_TRY(open_archived(job, diag));
  WS_TRY(ws_device_client_start(options->device, &job->client, diag));
  WS_TRY(make_workload(job, diag));
  job->has_run = !options->only || !strcmp(options->only, "run");
  if (job->has_run)
    WS_TRY(measure(job, WS_MEASURE_VERIFY, &job->run, diag));
  job->has_time = !options->only || !strcmp(options->only, "time");
  if (job->has_run && job->run.verdict != WS_VERDICT_OK)
    job->has_time = false; /* time of what? */
  if (job->has_time)
    WS_TRY(measure(job, WS_MEASURE_TIME, &job->time, diag));
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
  job.arena = ws_arena_create();
  status = work(&job, &diag);
  int code = status == WS_OK ? finish(&job) : tool_fail("sim", status, &diag);
  ws_device_client_stop(job.client);
  ws_compiler_stop(job.compiler);
  ws_arena_destroy(job.arena);
  return code;
}
