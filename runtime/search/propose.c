/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From request to candidate: the baseline and what to begin with, then repairs
 * that are due, then what the strategy wants; the built-in proposer answers at
 * once, a model when it does. What the archive holds of a run's answers is not
 * asked again.
 */
#include "session.h"

#include <string.h>

/* ---- what is next ---- */
/* Whatever the results, no request follows. */
static bool is_at_limit(const ws_session *s) {
  return s->proposing.no_more || *s->clock.stop ||
         (s->options->evaluations > 0 &&
          s->proposing.candidates >= s->options->evaluations);
}

bool ws__round_is_open(const ws_session *s) {
  return s->rounds.size > 0 && !s->rounds.closed &&
         s->ring.proposed < s->rounds.end && !is_at_limit(s);
}

bool ws__may_propose(const ws_session *s) {
  if (s->rounds.size > 0)
    return ws__round_is_open(s) &&
           ws__ring_count(&s->ring, WS__JOB_ASKED) < s->models.in_flight;
  return !is_at_limit(s) && s->ring.proposed - s->ring.applied < s->ring.window;
}

static void begin_round(ws__rounds *rounds, const ws__ring *ring) {
  rounds->end = ring->proposed + rounds->size;
  rounds->closed = rounds->asked = false;
}

ws_status ws__fill_window(ws_session *s) {
  bool made = true;
  if (s->ring.applied == s->ring.proposed)
    begin_round(&s->rounds, &s->ring);
  while (made && ws__may_propose(s) && !ws__clock_must_end(&s->clock))
    WS_TRY(ws__propose(s, &made));
  s->rounds.closed = s->rounds.closed || !made;
  return WS_OK;
}

static ws__request plain_request(ws_request_kind kind, const char *origin) {
  return (ws__request){.kind = kind,
                       .parents = {-1, -1},
                       .target = -1,
                       .region = -1,
                       .plan = "",
                       .origin = origin,
                       .member = -1};
}

/* The first proposals: the baseline, then what the run starts from. False when
 * that is done. */
static bool next_given(ws_session *s, ws__request *out_request,
                       const ws_candidate **out_candidate) {
  int64_t index = s->ring.proposed;
  if (s->task.baseline_candidate && index-- == 0) {
    *out_request = plain_request(WS_REQUEST_EXPLORE, "baseline");
    *out_candidate = s->task.baseline_candidate;
    return true;
  }
  if (index >= s->starts.count)
    return false;
  *out_request =
      plain_request(WS_REQUEST_EXPLORE, s->starts.items[index].origin);
  *out_candidate = s->starts.items[index].candidate;
  return true;
}

static ws__draw next_request(ws_session *s, ws__request *out) {
  if (ws__repairs_pop(&s->repairs, out))
    return WS__DRAW_FOUND;
  return s->proposing.strategy
             ? s->proposing.strategy->next(s->proposing.state, &s->knowledge,
                                           &s->proposing.rng, out)
             : WS__DRAW_WAIT;
}

/* ---- who answers ---- */
/* What a reply's edits apply to: the parent; of a repair of a reply that held
 * no candidate, what that was meant to change. NULL: nothing was there. */
static const ws_candidate *base_of(const ws_session *s,
                                   const ws__request *request) {
  int parent = request->parents[0];
  while (parent >= 0 && !s->knowledge.results[parent].candidate)
    parent = s->knowledge.results[parent].request.parents[0];
  return parent >= 0 ? s->knowledge.results[parent].candidate : NULL;
}

/* Only a model can write documents and experiments, and mend. */
static bool suits_builtin(ws_request_kind kind) {
  return kind == WS_REQUEST_EXPLORE || kind == WS_REQUEST_EXPLOIT ||
         kind == WS_REQUEST_CROSSOVER;
}

static void choose_region(ws_session *s, ws__request *request) {
  const ws_candidate *parent = base_of(s, request);
  const ws_template *tmpl = parent ? parent->tmpl : NULL;
  if (request->kind != WS_REQUEST_EXPLOIT || request->region >= 0 || !tmpl)
    return;
  const char *regions[WS_TEMPLATE_MAX_REGIONS + 1];
  for (int i = 0; i < tmpl->region_count; i++)
    regions[i] = tmpl->regions[i].function;
  regions[tmpl->region_count] = ""; /* any, or parameters */
  int picked =
      ws__bandit_pick_region(s->models.bandit, &s->proposing.rng, request->kind,
                             regions, tmpl->region_count + 1);
  request->region = picked < tmpl->region_count ? picked : -1;
}

const char *ws__request_region(const ws_session *s,
                               const ws__request *request) {
  const ws_candidate *parent = base_of(s, request);
  return parent && request->region >= 0
             ? parent->tmpl->regions[request->region].function
             : "";
}

static void choose_member(ws_session *s, ws__request *request) {
  request->member = -1;
  if (!s->models.llm)
    return;
  int count = ws_llm_member_count(s->models.llm);
  bool allowed[count];
  for (int i = 0; i < count; i++)
    allowed[i] =
        !ws_llm_is_builtin(s->models.llm, i) || suits_builtin(request->kind);
  choose_region(s, request);
  request->member =
      ws__bandit_pick(s->models.bandit, &s->proposing.rng, allowed,
                      request->kind, ws__request_region(s, request));
  if (request->member >= 0 && ws_llm_is_builtin(s->models.llm, request->member))
    request->region = -1;
}

/* ---- jobs ---- */
static ws__job *new_job(ws_session *s, const ws__request *request) {
  ws__job *job = ws__job_at(&s->ring, s->ring.proposed);
  *job = (ws__job){.sequence = s->ring.proposed,
                   .arena = ws_arena_create(),
                   .request = *request,
                   .source = NULL,
                   .move = "",
                   .refused = ""};
  int leader = s->knowledge.leader;
  job->bar_us = leader >= 0 ? s->knowledge.results[leader].us : NULL;
  s->ring.proposed++;
  if (!ws_request_is_document(request->kind))
    s->proposing.candidates++;
  return job;
}

static void set_candidate(ws_session *s, ws__job *job,
                          const ws_candidate *candidate,
                          const ws__source *source) {
  job->candidate = candidate;
  job->source =
      source ? source : ws__sources_find(&s->sources, candidate->tmpl);
  job->state = WS__JOB_WAITING;
}

ws_status ws__render_prompt(ws_session *s, ws_arena *arena,
                            const ws__request *request, ws_prompt *out_prompt) {
  size_t budget = s->options->prompt_bytes;
  const ws__brief brief = {.archive = s->archive,
                           .task = &s->task,
                           .knowledge = &s->knowledge,
                           .prompts = s->models.prompts,
                           .provenance = s->judge.provenance,
                           .run_id = s->run.id,
                           .budget_bytes = budget ? budget : WS_PROMPT_BYTES};
  return ws__brief_prompt(&brief, arena, request, out_prompt, s->diag);
}

static ws_status render(ws_session *s, ws__job *job) {
  return ws__render_prompt(s, job->arena, &job->request, &job->prompt);
}

static ws_status reuse(ws_session *s, ws__job *job,
                       const ws_exchange_row *row) {
  ws_hash hash = ws_llm_prompt_hash(job->prompt.system, job->prompt.user);
  if (strcmp(hash.hex, row->prompt_hash))
    return ws_fail(s->diag, WS_INPUT, s->options->archive_path, 0,
                   "run %lld was asked something else as request %lld (other "
                   "prompts, another version, or changed times); begin a new "
                   "run with another --seed or --archive",
                   (long long)s->run.id, (long long)job->sequence);
  job->replayed = true;
  job->state = WS__JOB_ANSWERED;
  job->answer = (ws_llm_answer){.sequence = job->sequence,
                                .member = job->request.member,
                                .text = row->reply,
                                .error = row->error,
                                .prompt_tokens = row->prompt_tokens,
                                .reply_tokens = row->reply_tokens,
                                .usd = row->usd,
                                .seconds = row->seconds};
  return WS_OK;
}

static ws_status ask(ws_session *s, ws__job *job) {
  bool found;
  ws_exchange_row row;
  job->by_model = true;
  job->state = WS__JOB_ASKED;
  job->keep = ws_arena_create();
  WS_TRY(render(s, job));
  WS_TRY(ws_archive_get_exchange(s->archive, job->arena, s->run.id,
                                 job->sequence, &found, &row, s->diag));
  if (found)
    return reuse(s, job, &row);
  const ws_llm_question question = {.kind = job->request.kind,
                                    .sequence = job->sequence,
                                    .system = job->prompt.system,
                                    .user = job->prompt.user};
  return ws_llm_ask(s->models.llm, job->request.member, &question, s->diag);
}

static ws_status answer_builtin(ws_session *s, const ws__request *request,
                                bool *out_made) {
  ws_candidate *candidate;
  const char *move;
  ws__draw draw = ws__builtin_propose(&s->knowledge, &s->proposing.rng,
                                      s->arena, request, &candidate, &move);
  *out_made = draw == WS__DRAW_FOUND;
  if (!*out_made) {
    s->proposing.no_more = true;
    return WS_OK;
  }
  ws__job *job = new_job(s, request);
  job->move = move;
  set_candidate(s, job, candidate, NULL);
  ws__seen_add(&s->proposing.seen, &candidate->id);
  return WS_OK;
}

ws_status ws__propose(ws_session *s, bool *out_made) {
  ws__request request;
  const ws_candidate *given;
  *out_made = true;
  if (next_given(s, &request, &given)) {
    set_candidate(s, new_job(s, &request), given, NULL);
    ws__seen_add(&s->proposing.seen, &given->id);
    return WS_OK;
  }
  ws__draw draw = next_request(s, &request);
  *out_made = draw == WS__DRAW_FOUND;
  if (draw != WS__DRAW_FOUND) {
    s->proposing.no_more = draw != WS__DRAW_WAIT;
    return WS_OK;
  }
  choose_member(s, &request);
  if (request.member < 0 || ws_llm_is_builtin(s->models.llm, request.member))
    return answer_builtin(s, &request, out_made);
  return ask(s, new_job(s, &request));
}

ws_status ws__propose_given(ws_session *s, const ws__request *request,
                            const char *reply) {
  ws__job *job = new_job(s, request);
  job->by_model = true;
  job->keep = ws_arena_create();
  WS_TRY(render(s, job));
  job->state = WS__JOB_ANSWERED;
  job->answer = (ws_llm_answer){.sequence = job->sequence,
                                .member = -1,
                                .text = ws_arena_strdup(job->arena, reply),
                                .error = "",
                                .attempts = 1};
  return WS_OK;
}

/* ---- answers ---- */
static void refuse(ws__job *job, const char *why) {
  job->refused = ws_arena_strdup(job->arena, *why ? why : "no reason given");
  job->state = WS__JOB_DONE;
}

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

/* A new template: described, of this problem and target, with a legal point.
 * What is wrong with it is the reply's fault; that it could not be read for
 * reasons of ours is not. */
static ws_status describe(ws_session *s, ws__job *job, ws_compiler *compiler) {
  ws_diag why = {""};
  ws__source *source = ws_arena_alloc(job->keep, sizeof *source);
  source->text = ws_arena_strdup(job->keep, job->reply->template_text);
  source->size = strlen(source->text);
  const char *file =
      ws_arena_printf(job->keep, "reply-%lld.ll", (long long)job->sequence);
  ws_status status =
      ws_compiler_describe(compiler, job->keep, file, source->text,
                           source->size, &source->tmpl, &why);
  if (status == WS_OK)
    job->source = source;
  else if (status == WS_INPUT)
    refuse(job, why.text);
  else if (!ws__signals_interrupted()) /* whose sender ended the server too */
    return ws_fail(s->diag, status, NULL, 0, "%s", why.text);
  return WS_OK;
}

static void check_template(ws_session *s, ws__job *job) {
  const ws__source *known = ws__sources_find(&s->sources, job->source->tmpl);
  if (known)
    job->source = known; /* one object per template */
  const ws_template *tmpl = job->source->tmpl;
  ws_diag why = {""};
  ws__space space;
  if (strcmp(tmpl->problem, s->task.problem->name) ||
      strcmp(tmpl->target, s->task.source.tmpl->target)) {
    refuse(job,
           ws_arena_printf(job->arena,
                           "the template is for %s on %s; wanted is %s on "
                           "%s",
                           tmpl->problem, tmpl->target, s->task.problem->name,
                           s->task.source.tmpl->target));
    return;
  }
  int layout = ws_problem_layout_index(s->task.problem, s->task.layout);
  if (ws__space_init(&space, job->arena, tmpl, layout, s->task.layout,
                     s->task.shapes, s->task.shape_count, &why) != WS_OK) {
    refuse(job, why.text);
    return;
  }
  ws_candidate *candidate = ws_candidate_create(job->keep, tmpl);
  if (ws_template_param_index(tmpl, "layout") >= 0 &&
      ws_candidate_set(candidate,
                       ws_arena_printf(job->arena, "layout=%d", layout),
                       &why) != WS_OK) {
    refuse(job, why.text);
    return;
  }
  if (*job->reply->parameters &&
      ws_candidate_set(candidate, job->reply->parameters, &why) != WS_OK) {
    refuse(job, why.text);
    return;
  }
  set_candidate(s, job, candidate, job->source);
}

static void apply_reply(ws_session *s, ws__job *job) {
  ws_diag why = {""};
  ws_candidate *candidate;
  const ws_candidate *parent = base_of(s, &job->request);
  if (!parent)
    parent = s->starts.count > 0 ? s->starts.items[0].candidate : NULL;
  if (!parent)
    parent = ws__task_default(&s->task, job->arena);
  const ws__source *source = ws__sources_find(&s->sources, parent->tmpl);
  if (ws_reply_apply(job->arena, job->reply, parent, source->text, &candidate,
                     &why) != WS_OK)
    refuse(job, why.text);
  else
    set_candidate(s, job, candidate, source);
}

static void parse(ws__job *job) {
  ws_diag why = {""};
  ws_arena *arena =
      ws_request_is_document(job->request.kind) ? job->keep : job->arena;
  ws_reply *reply = ws_arena_alloc(arena, sizeof *reply);
  if (*job->answer.error) {
    refuse(job, job->answer.error);
  } else if (ws_reply_parse(arena, job->answer.text, job->request.kind, reply,
                            &why) != WS_OK) {
    refuse(job, why.text);
  } else {
    job->reply = reply;
    if (ws_request_is_document(job->request.kind))
      job->state = WS__JOB_DONE;
  }
}

/* One job's way from answer to candidate; a template has to wait for a server
 * that has time to read it. */
static ws_status digest(ws_session *s, ws__job *job) {
  if (!job->reply)
    parse(job);
  if (job->state != WS__JOB_ANSWERED)
    return WS_OK;
  if (!job->reply->template_text) {
    apply_reply(s, job);
    return WS_OK;
  }
  ws_compiler *compiler;
  WS_TRY(ws__pool_idle_compiler(&s->pool, &compiler, s->diag));
  if (!compiler)
    return WS_OK;
  WS_TRY(describe(s, job, compiler));
  if (job->state == WS__JOB_ANSWERED && job->source)
    check_template(s, job);
  return WS_OK;
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
      WS_TRY(digest(s, job));
  }
  return WS_OK;
}
