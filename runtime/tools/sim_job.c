/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See sim_job.h.
 */
#include "sim_job.h"
#include "tools.h"
#include "wavesmith/archive.h"

#include <stdlib.h>
#include <string.h>

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
  if (!job->compiler)
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

ws_status sim_job_launches(sim_job *job, ws_diag *diag) {
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

/* ---- all of it -------------------------------------------------------------
 */

ws_status sim_job_open(sim_job *job, ws_diag *diag) {
  if (job->options.file)
    return open_file(job, diag);
  if (job->options.template_file)
    return open_template(job, diag);
  return open_archived(job, diag);
}

ws_status sim_job_measure(sim_job *job, ws_measure_op op, ws_measured *out,
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
