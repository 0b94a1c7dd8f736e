/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From request to question: the baseline and what to begin with, then small
 * moves and repairs that are due, then what the strategy wants; the built-in
 * proposer answers at once, a model when it does (answers.c). What the archive
 * holds of a run's answers is not asked again.
 */
#include "large.h"
#include "session.h"

#include <math.h>
#include <string.h>

/* ---- what is next ---- */
/* Whatever the results, no request follows. */
static bool is_at_limit(const ws_session *s) {
  return s->proposing.no_more || *s->clock.stop ||
         (s->options->evaluations > 0 &&
          s->proposing.candidates >= s->options->evaluations);
}

/* Small moves that are due are owed to what was asked before the limit. */
static bool may_go_on(const ws_session *s) {
  return ws__moves_are_due(s) ? !*s->clock.stop : !is_at_limit(s);
}

bool ws__round_is_open(const ws_session *s) {
  return s->rounds.size > 0 && !s->rounds.closed &&
         s->ring.proposed < s->rounds.end && may_go_on(s);
}

bool ws__may_propose(const ws_session *s) {
  if (s->rounds.size > 0)
    return ws__round_is_open(s) &&
           ws__ring_count(&s->ring, WS__JOB_ASKED) < s->models.in_flight;
  return may_go_on(s) && s->ring.proposed - s->ring.applied < s->ring.window;
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
  s->rounds.closed = s->rounds.closed || (!made && !ws__starts_are_open(s));
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
  if (ws__due_pop(&s->repairs, out))
    return WS__DRAW_FOUND;
  return s->proposing.strategy
             ? s->proposing.strategy->next(s->proposing.state, &s->knowledge,
                                           &s->proposing.rng, out)
             : WS__DRAW_WAIT;
}

ws__brief ws__session_brief(const ws_session *s) {
  const size_t budget = s->options->prompt_bytes;
  return (ws__brief){.archive = s->archive,
                     .task = &s->task,
                     .knowledge = &s->knowledge,
                     .prompts = s->models.prompts,
                     .provenance = s->judge.provenance,
                     .differs = ws__ranking_differs(&s->ranking),
                     .run_id = s->run.id,
                     .budget_bytes = budget ? budget : WS_PROMPT_BYTES};
}

/* ---- who answers ---- */
const ws_candidate *ws__request_base(const ws__knowledge *knowledge,
                                     const ws__request *request) {
  int parent = request->parents[0];
  while (parent >= 0 && !knowledge->results[parent].candidate)
    parent = knowledge->results[parent].request.parents[0];
  return parent >= 0 ? knowledge->results[parent].candidate : NULL;
}

/* Only a model can write documents and experiments, and mend. */
static bool suits_builtin(ws_request_kind kind) {
  return kind == WS_REQUEST_EXPLORE || kind == WS_REQUEST_EXPLOIT ||
         kind == WS_REQUEST_CROSSOVER;
}

/* By where the parent's time goes, as far as that is known: a region of which
 * nothing ran is dead at its parameters. The last: any, parameters, or another
 * design; the further the parent is from the limit, the more it is the design.
 */
static ws_status weigh_regions(ws_session *s, const ws__request *request,
                               const ws_template *tmpl, double *weights) {
  static const double least = 0.02, any = 0.2; /* beside shares, 1 in all */
  const ws__brief brief = ws__session_brief(s);
  ws__heat heat;
  ws_arena *arena = ws_arena_create();
  ws_status status = ws__brief_heat(&brief, arena, request, &heat, s->diag);
  ws_arena_destroy(arena);
  WS_TRY(status);
  const bool known = heat.known && heat.tmpl == tmpl;
  const double reach = heat.reach > 0 ? heat.reach : 1;
  const double far = fmax(1, WS__FAR_FROM_LIMIT / reach);
  for (int i = 0; i < tmpl->region_count; i++)
    weights[i] = !known ? 1 : heat.dead[i] ? 0 : heat.shares[i] + least;
  weights[tmpl->region_count] = (known ? any : 1) * far;
  return WS_OK;
}

static ws_status choose_region(ws_session *s, ws__request *request) {
  const ws_candidate *parent = ws__request_base(&s->knowledge, request);
  const ws_template *tmpl = parent ? parent->tmpl : NULL;
  if (request->kind != WS_REQUEST_EXPLOIT || request->region >= 0 || !tmpl)
    return WS_OK;
  const char *regions[WS_TEMPLATE_MAX_REGIONS + 1];
  double weights[WS_TEMPLATE_MAX_REGIONS + 1];
  for (int i = 0; i < tmpl->region_count; i++)
    regions[i] = tmpl->regions[i].function;
  regions[tmpl->region_count] = "";
  WS_TRY(weigh_regions(s, request, tmpl, weights));
  int picked =
      ws__bandit_pick_region(s->models.bandit, &s->proposing.rng, request->kind,
                             regions, weights, tmpl->region_count + 1);
  request->region = picked < tmpl->region_count ? picked : -1;
  return WS_OK;
}

const char *ws__request_region(const ws_session *s,
                               const ws__request *request) {
  const ws_candidate *parent = ws__request_base(&s->knowledge, request);
  return parent && request->region >= 0
             ? parent->tmpl->regions[request->region].function
             : "";
}

static ws_status choose_member(ws_session *s, ws__request *request) {
  request->member = -1;
  if (!s->models.llm)
    return WS_OK;
  int count = ws_llm_member_count(s->models.llm);
  bool allowed[count];
  for (int i = 0; i < count; i++)
    allowed[i] =
        !ws_llm_is_builtin(s->models.llm, i) || suits_builtin(request->kind);
  WS_TRY(choose_region(s, request));
  request->member =
      ws__bandit_pick(s->models.bandit, &s->proposing.rng, allowed,
                      request->kind, ws__request_region(s, request));
  if (request->member >= 0 && ws_llm_is_builtin(s->models.llm, request->member))
    request->region = -1;
  return WS_OK;
}

/* ---- large sets ---- */
static ws__request aimed(ws_session *s, const ws__request *request) {
  ws__request out = *request;
  if (s->knowledge.large && out.target < 0 && !ws_request_is_document(out.kind))
    out.target = ws__large_draw_target(&s->knowledge, &s->proposing.rng);
  return out;
}

/* Of a large set the request gets its sample. candidate NULL: a model's, not
 * known yet. */
static ws__request sampled(ws_session *s, const ws__request *request,
                           const ws_candidate *candidate) {
  ws__request out = *request;
  if (s->knowledge.large && !ws_request_is_document(out.kind))
    ws__large_give_sample(
        s->knowledge.large,
        candidate ? ws__knowledge_space(&s->knowledge, candidate->tmpl) : NULL,
        &s->proposing.rng, s->arena, candidate, &out);
  return out;
}

/* By shape, what is to be beaten: the leader's times; on a large set the best.
 */
static const double *bar_of(const ws_session *s, ws_arena *arena) {
  const ws__knowledge *k = &s->knowledge;
  if (!k->large)
    return k->leader >= 0 ? k->results[k->leader].us : NULL;
  double *us = ws_arena_alloc(arena, sizeof *us * (size_t)k->shape_count);
  for (int i = 0; i < k->shape_count; i++)
    us[i] = k->best[i][0] >= 0 ? k->results[k->best[i][0]].us[i] : INFINITY;
  return us;
}

/* ---- jobs ---- */
static ws__job *new_job(ws_session *s, const ws__request *request) {
  ws__job *job = ws__job_at(&s->ring, s->ring.proposed);
  *job = ws__job_of(s->ring.proposed, ws_arena_create(), request);
  job->bar_us = bar_of(s, job->arena);
  s->ring.proposed++;
  if (!ws_request_is_document(request->kind) && !request->climb)
    s->proposing.candidates++;
  return job;
}

/* A candidate of one of the run's templates. */
static void set_known(const ws_session *s, ws__job *job,
                      const ws_candidate *candidate) {
  ws__job_set_candidate(job, candidate,
                        ws__sources_find(&s->sources, candidate->tmpl));
}

ws_status ws__render_prompt(ws_session *s, ws_arena *arena,
                            const ws__request *request, ws_prompt *out_prompt) {
  const ws__brief brief = ws__session_brief(s);
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
  const int64_t ordinal = s->models.questions++;
  if (found)
    return reuse(s, job, &row);
  const ws_llm_question question = {.kind = job->request.kind,
                                    .sequence = job->sequence,
                                    .system = job->prompt.system,
                                    .user = job->prompt.user,
                                    .ordinal = ordinal};
  return ws_llm_ask(s->models.llm, job->request.member, &question, s->diag);
}

static void add_builtin(ws_session *s, const ws__request *request,
                        const ws_candidate *candidate, const char *move) {
  const ws__request whole = sampled(s, request, candidate);
  ws__job *job = new_job(s, &whole);
  job->move = move;
  set_known(s, job, candidate);
  ws__seen_add(&s->proposing.seen, &candidate->id);
}

static ws_status answer_builtin(ws_session *s, const ws__request *request,
                                bool *out_made) {
  ws_candidate *candidate;
  const char *move;
  if (request->further) {
    add_builtin(s, request,
                s->knowledge.results[request->further - 1].candidate,
                "further shapes");
    return WS_OK;
  }
  ws__draw draw = ws__builtin_propose(&s->knowledge, &s->proposing.rng,
                                      s->arena, request, &candidate, &move);
  *out_made = draw == WS__DRAW_FOUND;
  if (!*out_made) {
    s->proposing.no_more = true;
    return WS_OK;
  }
  add_builtin(s, request, candidate, move);
  return WS_OK;
}

/* Those due that have no candidate are gone then: there may be more to ask. */
static void propose_move(ws_session *s) {
  ws__request request;
  ws_candidate *candidate;
  const char *move;
  if (ws__moves_next(s, &request, &candidate, &move))
    add_builtin(s, &request, candidate, move);
}

ws_status ws__propose(ws_session *s, bool *out_made) {
  ws__request request;
  const ws_candidate *given;
  *out_made = true;
  if (next_given(s, &request, &given)) {
    request = sampled(s, &request, given);
    set_known(s, new_job(s, &request), given);
    ws__seen_add(&s->proposing.seen, &given->id);
    return WS_OK;
  }
  *out_made = !ws__starts_are_open(s);
  if (!*out_made)
    return WS_OK;
  ws__starts_tell(s);
  if (ws__moves_are_due(s)) {
    propose_move(s);
    return WS_OK;
  }
  ws__draw draw = next_request(s, &request);
  *out_made = draw == WS__DRAW_FOUND;
  if (draw != WS__DRAW_FOUND) {
    s->proposing.no_more = draw != WS__DRAW_WAIT;
    return WS_OK;
  }
  request = aimed(s, &request);
  WS_TRY(choose_member(s, &request));
  if (request.member < 0 || ws_llm_is_builtin(s->models.llm, request.member))
    return answer_builtin(s, &request, out_made);
  request = sampled(s, &request, NULL);
  return ask(s, new_job(s, &request));
}

ws_status ws__propose_given(ws_session *s, const ws__request *request,
                            const char *reply) {
  const ws__request whole = aimed(s, request);
  const ws__request timed = sampled(s, &whole, NULL);
  ws__job *job = new_job(s, &timed);
  const double *bar_us = job->bar_us;
  *job = ws__job_given(job->sequence, job->arena, ws_arena_create(), &timed,
                       reply);
  job->bar_us = bar_us;
  return render(s, job);
}
