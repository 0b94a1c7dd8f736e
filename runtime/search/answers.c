/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Answers of models: taken as they come, recorded, and turned into candidates
 * (reading.c). A model that does not answer ends the run, not its candidates.
 */
#include "session.h"

static const char *parent_id(const ws_session *s, const ws__job *job, int i) {
  int parent = job->request.parents[i];
  return parent >= 0 ? s->knowledge.results[parent].id : "";
}

static ws_status keep_exchange(ws_session *s, ws__job *job) {
  if (job->replayed)
    return WS_OK;
  ws_hash hash = ws_llm_prompt_hash(job->prompt.system, job->prompt.user);
  const ws_exchange_row row = {
      .run_id = s->run.id,
      .sequence = job->sequence,
      .kind = ws_request_text(job->request.kind),
      .parent_id = parent_id(s, job, 0),
      .second_parent_id = parent_id(s, job, 1),
      .member = s->models.llm && job->request.member >= 0
                    ? ws_llm_member_at(s->models.llm, job->request.member)->name
                    : "outside",
      .prompt_version = job->prompt.version,
      .prompt_hash = hash.hex,
      .prompt_cut = job->prompt.cut,
      .system = job->prompt.system,
      .prompt = job->prompt.user,
      .reply = job->answer.text,
      .error = job->answer.error,
      .prompt_tokens = job->answer.prompt_tokens,
      .reply_tokens = job->answer.reply_tokens,
      .usd = job->answer.usd,
      .seconds = job->answer.seconds,
      .unix_ms = ws_clock_unix_ms()};
  return ws_archive_put_exchange(s->archive, &row, s->diag);
}

static void take(ws_session *s, const ws_llm_answer *answer) {
  ws__job *job = ws__job_at(&s->ring, answer->sequence);
  WS_ASSERT(job->state == WS__JOB_ASKED && job->sequence == answer->sequence);
  job->answer = *answer;
  job->answer.text = ws_arena_strdup(job->arena, answer->text);
  job->answer.error = ws_arena_strdup(job->arena, answer->error);
  job->state = WS__JOB_ANSWERED;
}

/* The reply is the request's result unless the model as such failed: a run that
 * gets no answers ends, and asks the same again when it is resumed. */
static ws_status admit(ws_session *s, ws__job *job) {
  if (job->replayed || !job->by_model || job->reply)
    return WS_OK;
  if (*job->answer.error && *ws_llm_spent_so_far(s->models.llm).exhausted) {
    s->clock.stop = ws_arena_printf(
        s->arena, "%s", ws_llm_spent_so_far(s->models.llm).exhausted);
    return WS_OK;
  }
  enum { MOST_FAILURES = 3 };
  const ws_llm_answer *answer = &job->answer;
  bool reached = !*answer->error || answer->prompt_tokens > 0;
  s->models.failures = *answer->error ? s->models.failures + 1 : 0;
  s->models.reached = s->models.reached || reached;
  if (!s->models.reached)
    return ws_fail(s->diag, WS_ENVIRONMENT, NULL, 0,
                   "no answer to the first question: %s", answer->error);
  if (s->models.failures >= MOST_FAILURES)
    return ws_fail(s->diag, WS_ENVIRONMENT, NULL, 0,
                   "no answer to %d questions in a row: %s; everything is "
                   "kept, the same command goes on",
                   MOST_FAILURES, answer->error);
  return keep_exchange(s, job);
}

ws_status ws__take_answers(ws_session *s) {
  bool found = s->models.llm != NULL;
  while (found) {
    ws_llm_answer answer;
    ws_arena *arena = ws_arena_create();
    ws_status status =
        ws_llm_take(s->models.llm, arena, &found, &answer, s->diag);
    if (status == WS_OK && found)
      take(s, &answer);
    ws_arena_destroy(arena);
    WS_TRY(status);
  }
  for (int64_t i = s->ring.applied; i < s->ring.proposed && !*s->clock.stop;
       i++) {
    ws__job *job = ws__job_at(&s->ring, i);
    if (job->state != WS__JOB_ANSWERED)
      continue;
    WS_TRY(admit(s, job));
    if (!*s->clock.stop)
      WS_TRY(ws__read_answer(s, job));
  }
  return WS_OK;
}
