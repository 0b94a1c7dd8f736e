/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A session's beginning and end: from options to an archive, servers, a device,
 * models and a strategy. Every wrong option ends here, before anything is asked
 * or built.
 */
#include "session.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { IN_FLIGHT = 4, BATCH_ROUND = 64 };
/* Of a limited time: 8 kernels on 18 shapes at half a second fit into 40 % of
 * three minutes. */
static const double finals_share = 0.4;
static const double confirm_share = 0.5; /* of the finals' time */
/* Differences of ln us that mean nothing. Of a card: docs/device.md. */
static const double model_noise = 0.002, card_noise = 0.01, table_noise = 0.02;

/* ---- what the run is ---- */
static cJSON *members_json(const ws_session *s) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; s->llm && i < ws_llm_member_count(s->llm); i++) {
    const ws_llm_member *member = ws_llm_member_at(s->llm, i);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", member->name);
    cJSON_AddNumberToObject(item, "weight", member->weight);
    cJSON_AddItemToArray(list, item);
  }
  return list;
}

/* Of a batch only whether its card was known when the run began. */
static const char *provenance_text(const ws_session *s) {
  if (!s->batched)
    return s->judge.provenance;
  return *s->batched->provenance ? "batch" : "batch, its card not known yet";
}

/* Whatever the sequence depends on, beyond the columns of a run. */
static char *settings_text(const ws_session *s) {
  const ws_template *baseline = s->task.baseline.tmpl;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "template", s->task.source.tmpl->hash.hex);
  cJSON_AddStringToObject(json, "baseline", baseline ? baseline->hash.hex : "");
  cJSON_AddStringToObject(json, "provenance", provenance_text(s));
  cJSON_AddNumberToObject(json, "window", s->window);
  if (s->round > 0)
    cJSON_AddNumberToObject(json, "round", s->round);
  if (s->options->start_count + s->options->point_count > 0) {
    cJSON *list = cJSON_AddArrayToObject(json, "start");
    for (int i = 0; i < s->start_count; i++)
      cJSON_AddItemToArray(list,
                           cJSON_CreateString(s->start[i].candidate->id.hex));
  }
  if (s->llm) {
    cJSON_AddNumberToObject(json, "repairs", s->options->repairs);
    cJSON_AddItemToObject(json, "members", members_json(s));
  }
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  char *copy = ws_arena_strdup(s->arena, text);
  cJSON_free(text);
  return copy;
}

/* Two processes may share an archive, but not a run that asks models: both
 * would pay for the same questions. */
static ws_status lock_run(ws_session *s) {
  if (!s->llm || !strcmp(s->options->archive_path, ":memory:"))
    return WS_OK;
  const char *path =
      ws_arena_printf(s->arena, "%s.run-%lld.lock", s->options->archive_path,
                      (long long)s->run_id);
  bool own;
  WS_TRY(ws_file_open_lock(path, &s->lock, &own, s->diag));
  if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
    return WS_OK;
  return ws_fail(s->diag, WS_ENVIRONMENT, s->options->archive_path, 0,
                 "another process is working on this very run (%lld); wait for "
                 "it, or start one of your own with another --seed",
                 (long long)s->run_id);
}

/* A run that began before its batch had an answer knew no times of its card,
 * also when the archive had some of earlier runs. Resumed, it must not know
 * them either before it has applied an answer: its questions were asked
 * without. */
static ws_status forget_device(ws_session *s, ws_run_row *run) {
  int64_t begun;
  ws_run_row blind = *run;
  const ws__batched known = *s->batched;
  s->batched->provenance = "";
  s->batched->simulated = false;
  blind.settings_json = settings_text(s);
  WS_TRY(ws_archive_find_run(s->archive, &blind, &begun, s->diag));
  if (!begun) {
    *s->batched = known;
    return WS_OK;
  }
  *run = blind;
  s->trials.provenance = "";
  if (s->rank_by_device)
    s->judge.provenance = "";
  return WS_OK;
}

static ws_status begin_run(ws_session *s) {
  const ws__source *sources[] = {&s->task.source, &s->task.baseline};
  for (int i = 0; i < 2; i++)
    if (sources[i]->tmpl)
      WS_TRY(ws_archive_put_template(s->archive, sources[i]->tmpl,
                                     sources[i]->text, NULL, s->diag));
  ws_run_row run = {.problem = s->task.problem->name,
                    .layout = s->task.layout,
                    .target = s->task.source.tmpl->target,
                    .strategy = s->strategy ? s->strategy->name : "outside",
                    .shape_set = s->task.shape_set,
                    .settings_json = settings_text(s),
                    .seed = s->options->seed,
                    .started_unix_ms = ws_clock_unix_ms()};
  if (s->batched && *s->batched->provenance)
    WS_TRY(forget_device(s, &run));
  WS_TRY(ws_archive_begin_run(s->archive, &run, &s->run_id, s->diag));
  s->judge.run_id = s->run_id;
  return lock_run(s);
}

/* ---- sources ---- */
void ws__session_add_source(ws_session *s, const ws__source *source) {
  if (s->source_count == s->source_capacity) {
    int capacity = s->source_capacity ? 2 * s->source_capacity : 16;
    const ws__source **sources =
        ws_arena_alloc(s->arena, sizeof *sources * (size_t)capacity);
    if (s->source_count)
      memcpy(sources, s->sources, sizeof *sources * (size_t)s->source_count);
    s->sources = sources;
    s->source_capacity = capacity;
  }
  s->sources[s->source_count++] = source;
}

const ws__source *ws__session_source(const ws_session *s,
                                     const ws_template *tmpl) {
  for (int i = 0; i < s->source_count; i++)
    if (!strcmp(s->sources[i]->tmpl->hash.hex, tmpl->hash.hex))
      return s->sources[i];
  return NULL;
}

/* ---- candidates to begin with ---- */
static ws_status read_start(ws_session *s, const char *id,
                            ws_candidate **out_candidate) {
  bool found;
  ws_candidate_row row;
  ws_archived_template stored;
  const ws_template *tmpl;
  WS_TRY(ws_archive_get_candidate(s->archive, s->arena, id, &found, &row,
                                  s->diag));
  if (!found)
    return ws_fail(s->diag, WS_INPUT, s->options->archive_path, 0,
                   "there is no candidate '%s' to start from; `wavesmith "
                   "archive ls` lists them",
                   id);
  WS_TRY(ws_archive_get_template(s->archive, s->arena, row.template_hash, &tmpl,
                                 &stored, s->diag));
  if (strcmp(tmpl->problem, s->task.problem->name) ||
      strcmp(tmpl->target, s->task.source.tmpl->target) ||
      strcmp(row.layout, s->task.layout))
    return ws_fail(s->diag, WS_INPUT, s->options->archive_path, 0,
                   "candidate %s is for %s on %s, layout %s; the run is not",
                   row.id, tmpl->problem, tmpl->target, row.layout);
  const ws__source *known = ws__session_source(s, tmpl);
  if (known)
    tmpl = known->tmpl; /* one object per template */
  WS_TRY(ws_archive_load_candidate(s->archive, s->arena, &row, tmpl,
                                   out_candidate, s->diag));
  if (known)
    return WS_OK;
  ws__source *source = ws_arena_alloc(s->arena, sizeof *source);
  *source = (ws__source){
      .tmpl = tmpl, .text = stored.text, .size = strlen(stored.text)};
  ws__session_add_source(s, source);
  return WS_OK;
}

/* *out_legal: its defaults keep its constraints. */
static ws_candidate *default_point(ws_session *s, bool *out_legal) {
  ws__space *space = &s->task.space;
  int point[space->count + 1];
  ws__space_default(space, point);
  *out_legal = ws__space_is_legal(space, point);
  return ws__space_candidate(space, s->arena, point);
}

static ws_status read_point(ws_session *s, const char *text,
                            ws_candidate **out_candidate) {
  bool legal;
  *out_candidate = default_point(s, &legal);
  if (ws_candidate_set(*out_candidate, text, s->diag) == WS_OK &&
      ws_candidate_broken_require(*out_candidate, NULL, s->diag) < 0)
    return WS_OK;
  const ws_diag why = *s->diag;
  return ws_fail(s->diag, WS_INPUT, NULL, 0, "--point '%s': %s", text,
                 why.text);
}

static void add_start(ws_session *s, const ws_candidate *candidate,
                      const char *origin) {
  s->start[s->start_count++] =
      (ws__start){.candidate = candidate, .origin = origin};
}

/* Candidates of the archive, whose template may be the task's, or the template
 * as it stands, unless its defaults break its constraints; then points. */
static ws_status read_starts(ws_session *s) {
  const ws_tune_options *o = s->options;
  bool legal;
  ws_candidate *candidate = default_point(s, &legal);
  size_t count = (size_t)(o->start_count + o->point_count + 1);
  s->start = ws_arena_alloc(s->arena, sizeof *s->start * count);
  if (!o->start_count && ws_candidate_broken_require(candidate, NULL, NULL) < 0)
    add_start(s, candidate, "default");
  for (int i = 0; i < o->start_count; i++) {
    WS_TRY(read_start(s, o->start[i], &candidate));
    add_start(s, candidate, "start");
  }
  for (int i = 0; i < o->point_count; i++) {
    WS_TRY(read_point(s, o->points[i], &candidate));
    add_start(s, candidate, "point");
  }
  return WS_OK;
}

static void tell_starts(ws_session *s) {
  ws__knowledge *k = &s->knowledge;
  size_t count = (size_t)s->start_count;
  k->starts = ws_arena_alloc(s->arena, sizeof *k->starts * (count + 1));
  for (int i = 0; i < s->start_count; i++)
    k->starts[k->start_count++] = s->start[i].candidate;
}

static ws_status add_spaces(ws_session *s) {
  int layout = ws_problem_layout_index(s->task.problem, s->task.layout);
  for (int i = 1; i < s->source_count; i++) {
    ws__space *space = ws_arena_alloc(s->arena, sizeof *space);
    WS_TRY(ws__space_init(space, s->arena, s->sources[i]->tmpl, layout,
                          s->task.layout, s->task.shapes, s->task.shape_count,
                          s->diag));
    ws__knowledge_add_space(&s->knowledge, space);
  }
  return WS_OK;
}

/* ---- models ---- */
static ws_status check_budgets(const ws_session *s) {
  const ws_tune_options *o = s->options;
  if (o->token_budget == 0 || o->usd_budget == 0)
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "a budget of 0 leaves nothing to ask a model for; give a "
                   "larger --%s-budget, or no --model",
                   o->token_budget == 0 ? "token" : "usd");
  return WS_OK;
}

static ws_status open_models(ws_session *s) {
  const ws_tune_options *o = s->options;
  if (s->strategy && s->strategy->needs_model && o->model_count == 0)
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "strategy %s needs a --model; docs/llm.md lists the kinds, "
                   "exchange:DIR needs no key",
                   s->strategy->name);
  if (o->model_count == 0)
    return WS_OK;
  WS_TRY(check_budgets(s));
  const ws_llm_options options = {.specs = o->models,
                                  .spec_count = o->model_count,
                                  .request_seconds = o->request_seconds,
                                  .total_seconds = o->total_seconds,
                                  .retries = -1,
                                  .token_budget = o->token_budget,
                                  .usd_budget = o->usd_budget};
  WS_TRY(ws_llm_open(&options, &s->llm, s->diag));
  int count = ws_llm_member_count(s->llm);
  double *weights = ws_arena_alloc(s->arena, sizeof *weights * (size_t)count);
  for (int i = 0; i < count; i++)
    weights[i] = ws_llm_member_at(s->llm, i)->weight;
  s->bandit = ws__bandit_create(s->arena, weights, count);
  return WS_OK;
}

/* ---- the window ---- */
/* In rounds it is the round; else all of it, for models what they may have in
 * hand. */
static void set_window(ws_session *s) {
  const ws_tune_options *o = s->options;
  int round = o->round > 0              ? o->round
              : ws__is_batch(o->device) ? BATCH_ROUND
                                        : 0;
  s->in_flight = o->in_flight > 0 ? o->in_flight : IN_FLIGHT;
  if (s->in_flight > WS__WINDOW)
    s->in_flight = WS__WINDOW;
  s->round = round < WS__MOST_ROUND ? round : WS__MOST_ROUND;
  s->window = round ? s->round : s->llm ? s->in_flight : WS__WINDOW;
  s->ring = s->window > WS__WINDOW ? s->window : WS__WINDOW;
  s->jobs = ws_arena_alloc(s->arena, sizeof *s->jobs * (size_t)s->ring);
}

/* ---- the device ---- */
static const char table_prefix[] = "table:";

static bool is_table(const char *device) {
  return device && !strncmp(device, table_prefix, sizeof table_prefix - 1);
}

static bool has_device(const ws_session *s) {
  return s->devices.count > 0 || s->table || s->batched;
}

static ws_status check_rank(const ws_session *s) {
  const char *rank = s->options->rank;
  const ws_target *target = s->task.target;
  if (rank && strcmp(rank, "estimate") && strcmp(rank, "device"))
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "--rank '%s' is neither estimate nor device", rank);
  if (rank && !strcmp(rank, "device") && !has_device(s))
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "--rank device needs a --device hip, cuda, sim, "
                   "batch:FOLDER or table:FILE");
  if (rank && !strcmp(rank, "estimate") && s->batched)
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "--rank estimate asks a device beside the search, which a "
                   "batch cannot be; give --rank device");
  if (!target->has_host_model &&
      ((rank && !strcmp(rank, "estimate")) || !has_device(s)))
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "there is no bound model of the %s: candidates for %s are "
                   "ranked on the card; give --device %s or batch:FOLDER, and "
                   "no --rank estimate",
                   target->card, target->name, target->device);
  return WS_OK;
}

static bool ranks_by_device(const ws_session *s) {
  const char *rank = s->options->rank;
  if (rank)
    return !strcmp(rank, "device");
  return has_device(s) && (s->llm || s->table || s->batched || !s->strategy ||
                           !s->task.target->has_host_model);
}

static void add_rankers(ws_session *s) {
  s->ranker_count = s->devices.count;
  s->rankers =
      ws_arena_alloc(s->arena, sizeof *s->rankers * (size_t)s->ranker_count);
  for (int i = 0; i < s->ranker_count; i++)
    s->rankers[i] =
        (ws__ranker){.schedule = &s->schedule, .client = s->devices.clients[i]};
}

static ws_status choose_rank(ws_session *s) {
  WS_TRY(check_rank(s));
  s->rank_by_device = ranks_by_device(s);
  s->judge = (ws__judge){.archive = s->archive,
                         .task = &s->task,
                         .provenance = WS_PROVENANCE_ESTIMATE,
                         /* prompts show them */
                         .wants_cells =
                             s->llm || !s->strategy || s->strategy->uses_cells};
  if (!s->rank_by_device)
    return WS_OK;
  s->judge.provenance =
      s->table ? ws__table_provenance(s->table) : s->trials.provenance;
  ws__schedule_init(&s->schedule, s->arena, &s->task);
  if (!s->table && !s->batched)
    add_rankers(s);
  return WS_OK;
}

/* "--shapes table" stands for the shapes that the table has times of. */
static ws_status open_table(ws_session *s) {
  if (!is_table(s->options->device))
    return WS_OK;
  WS_TRY(ws__table_read(s->arena, s->options->device + sizeof table_prefix - 1,
                        &s->table, s->diag));
  if (strcmp(s->options->shape_set, "table"))
    return WS_OK;
  const ws_shape *shapes;
  int count = ws__table_shapes(s->table, s->arena, &shapes);
  const char *list = "";
  for (int i = 0; i < count; i++)
    list = ws_arena_printf(s->arena, "%s%s%lld,%lld,%lld", list, i ? ";" : "",
                           (long long)shapes[i].m, (long long)shapes[i].n,
                           (long long)shapes[i].k);
  ws_tune_options *options = ws_arena_alloc(s->arena, sizeof *options);
  *options = *s->options;
  options->shape_set = list;
  s->options = options;
  return WS_OK;
}

static ws_status open_devices(ws_session *s) {
  const char *device = s->options->device;
  if (s->table)
    return ws__table_check(s->table, s->task.source.tmpl, s->diag);
  if (ws__is_batch(device))
    return ws__batched_open(s->arena, device, s->task.target, &s->batched,
                            s->diag);
  return ws__devices_open(&s->devices, s->task.target, device, s->diag);
}

static ws_status open_device(ws_session *s) {
  WS_TRY(open_devices(s));
  ws__trials_init(&s->trials, s->arena, s->archive, &s->task,
                  s->devices.clients[0]);
  if (s->batched)
    s->trials.provenance = s->batched->provenance;
  WS_TRY(choose_rank(s));
  s->finals_end_ms = s->deadline_ms;
  if (s->trials.client && isfinite(s->deadline_ms)) {
    double finals_ms = finals_share * (s->deadline_ms - s->start_ms);
    s->search_end_ms -= finals_ms;
    s->finals_end_ms -= confirm_share * finals_ms;
  }
  return WS_OK;
}

bool ws__session_simulates(const ws_session *s) {
  return s->batched ? s->batched->simulated
                    : ws_device_client_info(s->trials.client)->simulated;
}

static double noise_of(const ws_session *s) {
  if (s->table)
    return table_noise;
  return s->rank_by_device && !ws__session_simulates(s) ? card_noise
                                                        : model_noise;
}

/* Before the first answer there is no result that these would judge. */
void ws__session_meet_device(ws_session *s) {
  s->trials.provenance = s->judge.provenance = s->batched->provenance;
  s->knowledge.noise = noise_of(s);
}

/* ---- begin and end ---- */
ws_status ws__session_begin(ws_session *s) {
  s->lock = -1;
  s->stop = "";
  ws_compiler *compiler;
  WS_TRY(open_table(s));
  WS_TRY(open_models(s));
  set_window(s);
  WS_TRY(ws_compiler_start(&compiler, s->diag));
  ws__pool_init(&s->pool, s->arena, s->options->workers, s->ring, compiler);
  WS_TRY(ws__task_init(&s->task, s->arena, s->options, compiler, s->diag));
  WS_TRY(ws_prompts_open(s->arena, s->options->prompts, s->task.target->name,
                         &s->prompts, s->diag));
  WS_TRY(ws_archive_open(s->options->archive_path, true, &s->archive, s->diag));
  ws__session_add_source(s, &s->task.source);
  if (s->task.baseline.tmpl)
    ws__session_add_source(s, &s->task.baseline);
  WS_TRY(read_starts(s));
  WS_TRY(open_device(s));
  WS_TRY(begin_run(s));
  ws__knowledge_init(&s->knowledge, s->arena, &s->task.space, &s->seen,
                     s->task.shape_count, noise_of(s), s->round);
  tell_starts(s);
  WS_TRY(add_spaces(s));
  if (s->strategy)
    s->strategy_state = s->strategy->create(s->arena, &s->knowledge);
  ws_rng_init(&s->rng, s->options->seed);
  return WS_OK;
}

void ws__session_end(ws_session *s) {
  ws__pool_stop(&s->pool);
  ws__trials_stop(&s->trials);
  ws__devices_close(&s->devices);
  ws__batched_close(s->batched);
  ws_llm_close(s->llm);
  for (int i = 0; i < s->ring; i++) {
    ws_arena_destroy(s->jobs[i].arena);
    ws_arena_destroy(s->jobs[i].keep);
  }
  for (int i = 0; i < s->kept_count; i++)
    ws_arena_destroy(s->kept[i]);
  ws__seen_deinit(&s->seen);
  ws__seen_deinit(&s->applied_ids);
  ws_archive_close(s->archive);
  if (s->lock >= 0)
    close(s->lock);
}

bool ws__session_must_end(const ws_session *s) {
  return ws__signals_interrupted() || *s->stop ||
         ws_clock_ms() >= s->search_end_ms;
}
