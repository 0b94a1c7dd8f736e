/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith bench`: how long a candidate, a template or an emitted dispatch
 * takes on a shape set, by the timing protocol of docs/timing.md, and how that
 * compares with another. The noise floor is measured in the same session, by
 * timing the subject against itself.
 */
#include "bench_options.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ws_status open_subjects(bench_job *job, ws_diag *diag) {
  const bench_options *options = &job->options;
  const bench_source own = {options->subject, options->archive, options->layout,
                            options->set, options->variants};
  const bench_source other = {
      options->against,
      options->against_archive ? options->against_archive : options->archive,
      options->layout, options->against_set, options->against_variants};
  WS_TRY(bench_subject_open(job->arena, &own, &job->compiler, &job->subject,
                            diag));
  if (!options->against)
    return WS_OK;
  WS_TRY(bench_subject_open(job->arena, &other, &job->compiler, &job->other,
                            diag));
  if (job->subject.problem == job->other.problem &&
      job->subject.target == job->other.target &&
      job->subject.layout == job->other.layout)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "%s and %s differ in problem, layout or target",
                 job->subject.name, job->other.name);
}

/* ---- one measurement ---- */

static ws_status workload_of(const bench_job *job, const bench_subject *subject,
                             const bench_entry *entry, const ws_shape *shape,
                             ws_workload *out, ws_diag *diag) {
  int cu_count = ws_device_client_info(job->client)->cu_count;
  WS_TRY(ws_workload_of(job->arena, subject->problem, subject->layout,
                        entry->candidate, &entry->build, shape, cu_count, out,
                        diag));
  out->seed = job->options.seed_value;
  return WS_OK;
}

static ws_status measure(bench_job *job, const bench_entry *entry,
                         const ws_workload *workload,
                         const ws_contestant *rival, ws_measured *out,
                         ws_diag *diag) {
  const bench_options *options = &job->options;
  ws_measure_request request = {.op = WS_MEASURE_TIME,
                                .code_object = entry->code_object,
                                .code_object_size = entry->code_object_size,
                                .workloads = workload,
                                .workload_count = 1,
                                .rival = rival,
                                .settings = ws_measure_settings_default};
  request.settings.wall_ms = (int)(options->seconds_value * 1000);
  request.settings.target_width = options->width_value / 100;
  request.settings.max_samples = options->samples_value;
  request.settings.roofline_us = ws_target_roofline_us(
      job->subject.target, job->subject.problem, &workload->shape);
  return ws_device_client_measure(job->client, job->arena, &request, out, diag);
}

/* Against itself: as a rival it is another contestant with the same code. */
static ws_status measure_noise(bench_job *job, const bench_entry *entry,
                               const ws_workload *workload, bench_row *row,
                               ws_diag *diag) {
  const ws_contestant same = {entry->code_object, entry->code_object_size,
                              workload};
  WS_TRY(measure(job, entry, workload, &same, &row->same, diag));
  row->has_noise = row->same.verdict == WS_VERDICT_OK;
  return WS_OK;
}

static ws_status measure_pair(bench_job *job, const bench_entry *entry,
                              const ws_workload *workload, bench_row *row,
                              ws_diag *diag) {
  ws_workload theirs;
  ws_diag refusal = {""};
  const bench_entry *other =
      bench_subject_pick(&job->other, &workload->shape, &refusal);
  if (!other) {
    row->refusal =
        ws_arena_printf(job->arena, "%s: %s", job->other.name, refusal.text);
    return measure(job, entry, workload, NULL, &row->measured, diag);
  }
  WS_TRY(workload_of(job, &job->other, other, &workload->shape, &theirs, diag));
  const ws_contestant rival = {other->code_object, other->code_object_size,
                               &theirs};
  WS_TRY(measure(job, entry, workload, &rival, &row->measured, diag));
  row->has_rival = row->measured.verdict == WS_VERDICT_OK;
  return row->has_rival ? measure_noise(job, entry, workload, row, diag)
                        : WS_OK;
}

static ws_status measure_shape(bench_job *job, const ws_shape *shape,
                               bench_row *row, ws_diag *diag) {
  ws_workload workload;
  ws_diag refusal = {""};
  row->shape = *shape;
  row->entry = bench_subject_pick(&job->subject, shape, &refusal);
  row->roofline_us =
      ws_target_roofline_us(job->subject.target, job->subject.problem, shape);
  if (!row->entry) {
    row->refusal = ws_arena_strdup(job->arena, refusal.text);
    return WS_OK;
  }
  WS_TRY(workload_of(job, &job->subject, row->entry, shape, &workload, diag));
  if (job->options.against)
    return measure_pair(job, row->entry, &workload, row, diag);
  WS_TRY(measure(job, row->entry, &workload, NULL, &row->measured, diag));
  /* alone, one shape's noise stands for all */
  if (job->has_noise || row->measured.verdict != WS_VERDICT_OK)
    return WS_OK;
  job->has_noise = true;
  return measure_noise(job, row->entry, &workload, row, diag);
}

/* ---- all of it ---- */

static ws_status work(bench_job *job, ws_diag *diag) {
  WS_TRY(open_subjects(job, diag));
  WS_TRY(bench_read_shapes(job, diag));
  const char *device =
      job->options.device ? job->options.device : job->subject.target->device;
  WS_TRY(ws_device_client_start(device, &job->client, diag));
  const ws_device_info *info = ws_device_client_info(job->client);
  if (strcmp(info->arch, job->subject.target->name) && !info->simulated)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "%s is %s; %s is code for %s, so choose another --device",
                   info->name, info->arch, job->subject.name,
                   job->subject.target->name);
  job->rows =
      ws_arena_alloc(job->arena, sizeof *job->rows * (size_t)job->shape_count);
  for (int i = 0; i < job->shape_count; i++) {
    WS_TRY(measure_shape(job, &job->shapes[i], &job->rows[i], diag));
    job->row_count++;
  }
  return WS_OK;
}

static int exit_code_of(const bench_job *job) {
  for (int i = 0; i < job->row_count; i++)
    if (!job->rows[i].entry || job->rows[i].measured.verdict != WS_VERDICT_OK)
      return ws_status_exit_code(WS_INPUT);
  return 0;
}

int tool_bench(int argc, char **argv) {
  ws_diag diag = {""};
  bench_job job = {.arena = NULL};
  ws_status status = bench_options_parse(argc, argv, &job.options, &diag);
  if (status != WS_OK)
    return tool_fail("bench", status, &diag);
  if (job.options.help)
    return tool_help(&bench_command);
  job.arena = ws_arena_create();
  status = work(&job, &diag);
  int code =
      status == WS_OK ? exit_code_of(&job) : tool_fail("bench", status, &diag);
  if (status == WS_OK)
    bench_print(&job);
  ws_device_client_stop(job.client);
  ws_compiler_stop(job.compiler);
  ws_arena_destroy(job.arena);
  return code;
}
