/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plan is one job of the batch. All answers are of one card: times of two
 * mean nothing beside each other.
 */
#include "rounds.h"
#include "devices.h"

#include <string.h>

static const char prefix[] = "batch:";

bool ws__is_batch(const char *device) {
  return device && !strncmp(device, prefix, sizeof prefix - 1);
}

/* ---- the card ---- */
static ws_status take_device(ws__batched *b, const ws_device_info *info,
                             ws_diag *diag) {
  if (*b->provenance) {
    if (!strcmp(b->provenance, info->provenance))
      return WS_OK;
    return ws_fail(diag, WS_INPUT, b->folder, 0,
                   "has answers of %s and of %s; a run is about one of them",
                   b->provenance, info->provenance);
  }
  WS_TRY(ws__device_suits(info, b->target, diag));
  b->provenance = ws_arena_strdup(b->arena, info->provenance);
  b->simulated = info->simulated;
  b->differs = ws_arena_strdup(b->arena, info->differs);
  return WS_OK;
}

/* Whose answers are there already: what the archive knows of that card need not
 * be asked. */
static ws_status find_device(ws__batched *b, ws_diag *diag) {
  bool found = false;
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  int count = ws_batch_jobs(b->batch);
  for (int i = 0; i < count && !found && status == WS_OK; i++) {
    ws_batch_answer answer;
    status = ws_batch_read_answer(b->batch, arena, i, &found, &answer, diag);
    if (status == WS_OK && found)
      status = take_device(b, answer.device, diag);
  }
  ws_arena_destroy(arena);
  return status;
}

ws_status ws__batched_open(ws_arena *arena, const char *device,
                           const ws_target *target, ws__batched **out,
                           ws_diag *diag) {
  ws__batched *b = ws_arena_alloc(arena, sizeof *b);
  *b = (ws__batched){.arena = arena,
                     .folder = device + sizeof prefix - 1,
                     .target = target,
                     .provenance = "",
                     .differs = ""};
  *out = b;
  if (!*b->folder)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--device %s names no folder; wanted is batch:FOLDER",
                   device);
  WS_TRY(
      ws_batch_open(b->folder, target->name, target->device, &b->batch, diag));
  return find_device(b, diag);
}

void ws__batched_close(ws__batched *batched) {
  if (batched)
    ws_batch_close(batched->batch);
}

/* ---- asking ---- */
ws_status ws__batched_request(ws__batched *batched, ws_arena *arena,
                              const ws_batch_job *job, bool *out_answered,
                              ws_batch_answer *out_answer, ws_diag *diag) {
  WS_TRY(
      ws_batch_ask(batched->batch, arena, job, out_answered, out_answer, diag));
  return *out_answered ? take_device(batched, out_answer->device, diag) : WS_OK;
}

/* An answer that ends early lost the race or failed at its last step. */
static ws_status take_answer(ws__batched *b, ws__plan *plan,
                             const ws_batch_answer *answer, ws_diag *diag) {
  bool more = true;
  for (int i = 0; i < answer->step_count && more; i++)
    more = i < plan->count &&
           ws__plan_take(plan, i, answer->device, &answer->steps[i]);
  if (!more || answer->step_count == plan->count)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, b->folder, 0,
                 "the answer to job %s has %d of %d steps, and none says why",
                 answer->id, answer->step_count, plan->count);
}

ws_status ws__batched_ask(ws__batched *batched, ws__plan *plan,
                          bool *out_answered, ws_diag *diag) {
  const ws_batch_job job = {.id = "",
                            .candidate = plan->candidate->id.hex,
                            .code_object = plan->build->code_object,
                            .code_object_size = plan->build->code_object_size,
                            .steps = plan->requests,
                            .step_count = plan->count,
                            .race_steps = plan->race_steps,
                            .race_us = plan->race_us,
                            .race_ratio =
                                plan->race_steps ? plan->race_ratio : 0};
  ws_batch_answer answer;
  *out_answered = plan->count == 0; /* it cannot be launched */
  if (*out_answered)
    return WS_OK;
  WS_TRY(ws__batched_request(batched, plan->arena, &job, out_answered, &answer,
                             diag));
  return *out_answered ? take_answer(batched, plan, &answer, diag) : WS_OK;
}
