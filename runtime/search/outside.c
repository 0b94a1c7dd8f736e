/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A session that is driven from outside: whoever proposes (an agent over MCP)
 * hands in a request with its reply and gets the result. What the run's earlier
 * exchanges were is applied first, from the archive, so that a session goes on
 * where it was.
 */
#include "session.h"

#include <string.h>

enum { WAIT_MS = 100 };

static ws_status finish_job(ws_session *s) {
  bool applied = false;
  while (!applied) {
    if (ws__signals_interrupted())
      return ws_fail(s->diag, WS_INTERRUPTED, NULL, 0, "interrupted");
    WS_TRY(ws__take_answers(s));
    WS_TRY(ws__produce(s));
    WS_TRY(ws__apply_next(s, &applied));
    if (!applied && ws__ring_first(&s->ring)->state != WS__JOB_DONE)
      WS_TRY(ws__produce_wait(s, WAIT_MS));
  }
  return WS_OK;
}

/* The baseline and the start: proposed by no one, known before all else. */
static ws_status apply_given(ws_session *s) {
  bool made = true;
  while (made) {
    WS_TRY(ws__propose(s, &made));
    if (made)
      WS_TRY(finish_job(s));
  }
  s->proposing.no_more = false;
  return WS_OK;
}

static int find_result(const ws_session *s, const char *id) {
  size_t size = strlen(id);
  for (int i = s->knowledge.count - 1; i >= 0 && size > 0; i--)
    if (!strncmp(s->knowledge.results[i].id, id, size))
      return i;
  return -1;
}

ws_status ws__request_outside(const ws_session *s, ws_request_kind kind,
                              const char *const *parents, int count,
                              ws__request *out) {
  *out = (ws__request){.kind = kind,
                       .parents = {s->knowledge.leader, -1},
                       .target = -1,
                       .region = -1,
                       .plan = "",
                       .origin = "outside",
                       .member = -1};
  if (count > 2)
    return ws_fail(s->diag, WS_INPUT, NULL, 0,
                   "a request has at most two parents, not %d", count);
  for (int i = 0; i < count; i++) {
    out->parents[i] = find_result(s, parents[i]);
    if (out->parents[i] < 0)
      return ws_fail(s->diag, WS_INPUT, NULL, 0,
                     "this session has no candidate '%s'; name one of its "
                     "results, or begin it with --start",
                     parents[i]);
  }
  return WS_OK;
}

/* As the exchange says; an exchange of an older archive does not, but its
 * candidate's first one may have had the same, if this session knows them. */
static ws_status find_parents(ws_session *s, const ws_exchange_row *exchange,
                              const char *out_parents[2]) {
  bool found = false;
  ws_candidate_row row = {0};
  out_parents[0] = exchange->parent_id;
  out_parents[1] = exchange->second_parent_id;
  if (out_parents[0] && out_parents[1])
    return WS_OK;
  if (*exchange->candidate_id)
    WS_TRY(ws_archive_get_candidate(
        s->archive, s->arena, exchange->candidate_id, &found, &row, s->diag));
  out_parents[0] = found ? row.parent_id : "";
  out_parents[1] = found ? row.second_parent_id : "";
  for (int i = 0; i < 2; i++)
    if (*out_parents[i] && find_result(s, out_parents[i]) < 0)
      out_parents[i] = "";
  return WS_OK;
}

static ws_status resume(ws_session *s) {
  ws_exchange_row *rows;
  int count;
  WS_TRY(ws_archive_list_exchanges(s->archive, s->arena, s->run.id, &rows,
                                   &count, s->diag));
  for (int i = 0; i < count; i++) {
    ws_request_kind kind;
    ws__request request;
    if (!ws_request_parse(rows[i].kind, &kind))
      continue;
    const char *parents[2];
    bool found;
    WS_TRY(find_parents(s, &rows[i], parents));
    int parent_count = !*parents[0] ? 0 : *parents[1] ? 2 : 1;
    WS_TRY(ws__request_outside(s, kind, parents, parent_count, &request));
    ws_exchange_row whole; /* a list has no texts */
    WS_TRY(ws_archive_get_exchange(s->archive, s->arena, s->run.id,
                                   rows[i].sequence, &found, &whole, s->diag));
    WS_TRY(ws__propose_given(s, &request, found ? whole.reply : ""));
    WS_TRY(finish_job(s));
  }
  return WS_OK;
}

static ws_status begin(ws_session *s) {
  WS_TRY(ws__session_begin(s));
  WS_TRY(apply_given(s));
  return resume(s);
}

ws_status ws_session_open(const ws_tune_options *options,
                          ws_session **out_session, ws_diag *diag) {
  *out_session = NULL;
  if (ws__is_batch(options->device))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--device %s answers later; who proposes step by step needs "
                   "a device that answers at once",
                   options->device);
  ws_arena *arena = ws_arena_create();
  ws_session *s = ws_arena_alloc(arena, sizeof *s);
  s->options = options;
  s->arena = arena;
  s->diag = diag;
  ws__clock_start(&s->clock, 0);
  *out_session = s;
  ws__signals_catch();
  ws_status status = begin(s);
  if (status != WS_OK) {
    ws_session_close(s);
    *out_session = NULL;
  }
  return status;
}

void ws_session_close(ws_session *session) {
  if (!session)
    return;
  ws__session_end(session);
  ws__signals_restore();
  ws_arena_destroy(session->arena);
}

ws_archive *ws_session_archive(ws_session *session) { return session->archive; }

int64_t ws_session_run(const ws_session *session) { return session->run.id; }

const char *ws_session_provenance(const ws_session *session) {
  return session->judge.provenance;
}

ws_status ws_session_prompt(ws_session *session, ws_arena *arena,
                            ws_request_kind kind, const char *const *parents,
                            int parent_count, ws_prompt *out_prompt,
                            ws_diag *diag) {
  ws__request request;
  session->diag = diag;
  WS_TRY(ws__request_outside(session, kind, parents, parent_count, &request));
  return ws__render_prompt(session, arena, &request, out_prompt);
}

/* What fails here, fails for reasons of ours and leaves a job half done, which
 * the next one would wait for. */
static ws_status answer(ws_session *s, const ws__request *request,
                        const char *reply) {
  ws_status status = ws__propose_given(s, request, reply);
  if (status == WS_OK)
    status = finish_job(s);
  if (status != WS_OK)
    s->clock.stop = ws_arena_printf(
        s->arena,
        "the session cannot go on since this happened: %s; begin it again, "
        "it goes on from what the archive has",
        s->diag->text);
  return status;
}

ws_status ws_session_submit(ws_session *session, ws_arena *arena,
                            ws_request_kind kind, const char *const *parents,
                            int parent_count, const char *reply,
                            ws_session_result *out_result, ws_diag *diag) {
  ws__request request;
  session->diag = diag;
  if (*session->clock.stop)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", session->clock.stop);
  WS_TRY(ws__request_outside(session, kind, parents, parent_count, &request));
  WS_TRY(answer(session, &request, reply));
  const ws__knowledge *k = &session->knowledge;
  int index = k->count - 1, parent = request.parents[0];
  const ws__result *result = &k->results[index];
  *out_result = (ws_session_result){
      .sequence = index,
      .candidate_id = ws_arena_strdup(arena, result->id),
      .verdict = result->verdict,
      .stage = ws_arena_strdup(arena, result->stage),
      .reason = ws_arena_strdup(arena, result->reason),
      .speedup_over_parent =
          parent >= 0 ? ws__knowledge_speedup(k, index, parent) : 0,
      .speedup_over_reference =
          k->reference >= 0 ? ws__knowledge_speedup(k, index, k->reference)
                            : 0};
  return WS_OK;
}
