/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Jobs that are open, and the memory that outlives them.
 */
#include "job.h"

#include <string.h>

void ws__ring_init(ws__ring *ring, ws_arena *arena, int window) {
  ring->window = window;
  ring->size = window > WS__WINDOW ? window : WS__WINDOW;
  ring->jobs = ws_arena_alloc(arena, sizeof *ring->jobs * (size_t)ring->size);
}

void ws__ring_deinit(ws__ring *ring) {
  for (int i = 0; i < ring->size; i++)
    ws__job_deinit(&ring->jobs[i]);
}

int ws__ring_count(const ws__ring *ring, ws__job_state state) {
  int count = 0;
  for (int64_t i = ring->applied; i < ring->proposed; i++)
    count += ws__job_at(ring, i)->state == state;
  return count;
}

ws__job ws__job_of(int64_t sequence, ws_arena *arena,
                   const ws__request *request) {
  return (ws__job){.sequence = sequence,
                   .arena = arena,
                   .request = *request,
                   .move = "",
                   .refused = ""};
}

ws__job ws__job_given(int64_t sequence, ws_arena *arena, ws_arena *keep,
                      const ws__request *request, const char *reply) {
  ws__job job = ws__job_of(sequence, arena, request);
  job.state = WS__JOB_ANSWERED;
  job.by_model = true;
  job.keep = keep;
  job.answer = (ws_llm_answer){.sequence = sequence,
                               .member = -1,
                               .text = ws_arena_strdup(arena, reply),
                               .error = "",
                               .attempts = 1};
  return job;
}

void ws__job_set_candidate(ws__job *job, const ws_candidate *candidate,
                           const ws__source *source) {
  job->candidate = candidate;
  job->source = source;
  job->state = WS__JOB_WAITING;
}

void ws__job_deinit(ws__job *job) {
  ws_arena_destroy(job->arena);
  ws_arena_destroy(job->keep);
  job->arena = NULL;
  job->keep = NULL;
}

void ws__kept_add(ws__kept *kept, ws_arena *arena, ws__job *job) {
  if (!job->keep)
    return;
  if (kept->count == kept->capacity) {
    int capacity = kept->capacity ? 2 * kept->capacity : 64;
    ws_arena **items =
        ws_arena_alloc(arena, sizeof(ws_arena *) * (size_t)capacity);
    if (kept->count)
      memcpy(items, kept->items, sizeof(ws_arena *) * (size_t)kept->count);
    kept->items = items;
    kept->capacity = capacity;
  }
  kept->items[kept->count++] = job->keep;
  job->keep = NULL;
}

void ws__kept_deinit(ws__kept *kept) {
  for (int i = 0; i < kept->count; i++)
    ws_arena_destroy(kept->items[i]);
}
