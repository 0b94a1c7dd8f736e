/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Answers of a batch into the archive, in one transaction. Each is held against
 * what it claims to be about: the job against its id, the candidate against the
 * archive, the code against both, the card against the target.
 */
#include "batch_internal.h"
#include "wavesmith/batch_transfer.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct importer {
  ws_archive *archive;
  const char *folder;
  ws_batch *batch;
  ws_batch_imported *out;
} importer;

/* One answer and what it is about. */
typedef struct account {
  ws_arena *arena;
  ws_batch_job job;
  ws_batch_answer answer;
  ws_candidate_row row;
} account;

/* ---- is it what it says? ---- */

static ws_status check_code(const importer *in, account *a, ws_diag *diag) {
  const char *job_code = a->job.code_file;
  const void *data;
  size_t size;
  WS_TRY(ws_archive_get_code_object(in->archive, a->arena, a->row.id, &data,
                                    &size, diag));
  ws_hash hash = ws_hash_bytes(data, size);
  if (strncmp(job_code, hash.hex, strlen(hash.hex)) != 0)
    return ws_fail(diag, WS_INPUT, in->folder, 0,
                   "code/%s is not the archive's code of candidate %s",
                   job_code, a->row.id);
  /* Results alone may have come back. */
  if (!ws_file_exists(
          ws_arena_printf(a->arena, "%s/code/%s", in->folder, job_code)))
    return WS_OK;
  return ws_batch_read_code(in->batch, a->arena, &a->job, diag);
}

static ws_status check_candidate(const importer *in, account *a,
                                 ws_diag *diag) {
  ws_archived_template tmpl;
  bool found;
  WS_TRY(ws_archive_get_candidate(in->archive, a->arena, a->job.candidate,
                                  &found, &a->row, diag));
  if (!found || strcmp(a->row.id, a->job.candidate) != 0)
    return ws_fail(diag, WS_INPUT, in->folder, 0,
                   "job %s is about candidate %s, which the archive does not "
                   "have (what tune asked for, tune takes in)",
                   a->job.id, a->job.candidate);
  WS_TRY(ws_archive_get_template(in->archive, a->arena, a->row.template_hash,
                                 NULL, &tmpl, diag));
  const char *target = ws_batch_target(in->batch);
  if (strcmp(tmpl.target, target) != 0)
    return ws_fail(diag, WS_INPUT, in->folder, 0,
                   "the batch is for %s, candidate %s for %s", target,
                   a->row.id, tmpl.target);
  return check_code(in, a, diag);
}

static ws_status check_answer(const importer *in, const account *a,
                              ws_diag *diag) {
  const ws_batch_answer *answer = &a->answer;
  const char *target = ws_batch_target(in->batch);
  if (!ws__batch_is_arch(answer->device->arch, target))
    return ws_fail(diag, WS_INPUT, in->folder, 0,
                   "job %s was done on a %s (%s); the batch is for %s",
                   answer->id, answer->device->name, answer->device->arch,
                   target);
  bool fits = answer->step_count <= a->job.step_count;
  for (int i = 0; fits && i < answer->step_count; i++) {
    const ws_measured *step = &answer->steps[i];
    bool ok = step->verdict == WS_VERDICT_OK;
    bool timed = a->job.steps[i].op == WS_MEASURE_TIME;
    fits = (ok || i == answer->step_count - 1) &&
           (!ok || !timed || (step->us > 0 && isfinite(step->us)));
  }
  return fits ? WS_OK
              : ws_fail(diag, WS_INPUT, in->folder, 0,
                        "the answer to job %s does not fit it: steps after a "
                        "failure, or a time that is none",
                        answer->id);
}

/* ---- into the archive ---- */

static ws_status put_time(importer *in, const account *a, const char *device,
                          int step, ws_diag *diag) {
  const ws_measured *measured = &a->answer.steps[step];
  const ws_shape shape = a->job.steps[step].workloads[0].shape;
  const ws_measurement time = {.shape = shape,
                               .us = measured->us,
                               .bound = measured->bound,
                               .provenance = measured->provenance,
                               .low_us = measured->low_us,
                               .high_us = measured->high_us};
  const ws_timing_row timing = {.candidate_id = a->row.id,
                                .provenance = measured->provenance,
                                .shape = shape,
                                .samples_us = measured->samples,
                                .sample_count = measured->sample_count,
                                .low_mhz = measured->low_mhz,
                                .high_mhz = measured->high_mhz,
                                .memory_mhz = measured->memory_mhz,
                                .dropped = measured->dropped,
                                .throttle = measured->throttle,
                                .device_json = device};
  WS_TRY(ws_archive_put_measurements(in->archive, a->row.id, &time, 1, diag));
  return ws_archive_put_timing(in->archive, &timing, diag);
}

static bool has_time(const ws_measurement *known, int count,
                     const char *provenance, const ws_shape *shape) {
  for (int i = 0; i < count; i++)
    if (!strcmp(known[i].provenance, provenance) &&
        !memcmp(&known[i].shape, shape, sizeof *shape))
      return true;
  return false;
}

/* A step beside a rival compares the two and is the tuner's to read. */
static bool is_time(const account *a, int step) {
  return a->job.steps[step].op == WS_MEASURE_TIME &&
         !a->job.steps[step].rival &&
         a->answer.steps[step].verdict == WS_VERDICT_OK;
}

static ws_status put_times(importer *in, const account *a, ws_diag *diag) {
  ws_measurement *known;
  int count;
  WS_TRY(ws_archive_get_measurements(in->archive, a->arena, a->row.id, &known,
                                     &count, diag));
  cJSON *json = ws_device_info_to_json(a->answer.device);
  char *device = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(device && "out of memory");
  ws_status status = WS_OK;
  for (int i = 0; i < a->answer.step_count && status == WS_OK; i++) {
    const ws_measured *step = &a->answer.steps[i];
    if (!is_time(a, i) || has_time(known, count, step->provenance,
                                   &a->job.steps[i].workloads[0].shape))
      continue;
    in->out->times++;
    status = put_time(in, a, device, i, diag);
  }
  cJSON_free(device);
  return status;
}

static ws_status put_verdict(importer *in, const account *a, ws_diag *diag) {
  const ws_measured *last = &a->answer.steps[a->answer.step_count - 1];
  if (last->verdict == WS_VERDICT_OK)
    return WS_OK;
  if (a->answer.device->simulated && !last->finding_count &&
      (last->verdict == WS_VERDICT_CRASH ||
       last->verdict == WS_VERDICT_TIMEOUT)) {
    in->out->device_faults++;
    return WS_OK;
  }
  in->out->refuted += !strcmp(a->row.verdict, "ok");
  return ws_archive_refute(in->archive, a->row.id,
                           ws_verdict_text(last->verdict), last->reason, diag);
}

static ws_status import_one(importer *in, ws_arena *arena, int number,
                            ws_diag *diag) {
  account a = {.arena = arena};
  bool found;
  WS_TRY(
      ws_batch_read_answer(in->batch, arena, number, &found, &a.answer, diag));
  if (!found)
    return WS_OK;
  WS_TRY(ws_batch_read_job(in->batch, arena, number, &a.job, diag));
  WS_TRY(check_candidate(in, &a, diag));
  WS_TRY(check_answer(in, &a, diag));
  WS_TRY(put_times(in, &a, diag));
  in->out->answers++;
  return put_verdict(in, &a, diag);
}

static ws_status import_all(importer *in, ws_diag *diag) {
  ws_status status = WS_OK;
  in->out->jobs = ws_batch_jobs(in->batch);
  for (int i = 0; i < in->out->jobs && status == WS_OK; i++) {
    ws_arena *arena = ws_arena_create();
    status = import_one(in, arena, i, diag);
    ws_arena_destroy(arena);
  }
  return status;
}

ws_status ws_batch_import(ws_archive *archive, const char *folder,
                          ws_batch_imported *out_imported, ws_diag *diag) {
  importer in = {.archive = archive, .folder = folder, .out = out_imported};
  *out_imported = (ws_batch_imported){0};
  WS_TRY(ws_batch_open(folder, NULL, NULL, &in.batch, diag));
  ws_status status = ws_archive_begin(archive, diag);
  if (status == WS_OK)
    status = ws_archive_end(archive, import_all(&in, diag), diag);
  ws_batch_close(in.batch);
  return status;
}
