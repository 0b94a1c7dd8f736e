/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What makes a run this one and no other: its row in the archive, with all that
 * its sequence depends on. The same options on the same archive go on with the
 * same run.
 */
#include "session.h"

#include <cjson/cJSON.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static cJSON *members_json(const ws_session *s) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; s->models.llm && i < ws_llm_member_count(s->models.llm);
       i++) {
    const ws_llm_member *member = ws_llm_member_at(s->models.llm, i);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", member->name);
    cJSON_AddNumberToObject(item, "weight", member->weight);
    cJSON_AddItemToArray(list, item);
  }
  return list;
}

/* Of a batch only whether its card was known when the run began. */
static const char *provenance_text(const ws_session *s) {
  if (!s->ranking.batched)
    return s->judge.provenance;
  return *s->ranking.batched->provenance ? "batch"
                                         : "batch, its card not known yet";
}

/* A kernel in place of the problem's own reference; no folder, which may be
 * anywhere. */
static void add_compared(const ws_session *s, cJSON *json) {
  const ws_problem *problem = s->task.problem;
  if (!problem->kernel)
    return;
  const char *slash = strrchr(problem->kernel->file, '/');
  cJSON *item = cJSON_AddObjectToObject(json, "compared");
  cJSON_AddStringToObject(item, "kernel",
                          slash ? slash + 1 : problem->kernel->file);
  cJSON_AddStringToObject(item, "sha256", problem->kernel->hash.hex);
  cJSON_AddStringToObject(item, "tolerance",
                          ws_problem_tolerance_text(s->arena, problem));
}

static const char *take_text(const ws_session *s, cJSON *json) {
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  const char *copy = ws_arena_strdup(s->arena, text);
  cJSON_free(text);
  return copy;
}

/* Whatever the sequence depends on, beyond the columns of a run. */
static const char *settings_text(const ws_session *s) {
  const ws_template *baseline = s->task.baseline.tmpl;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "template", s->task.source.tmpl->hash.hex);
  cJSON_AddStringToObject(json, "baseline", baseline ? baseline->hash.hex : "");
  cJSON_AddStringToObject(json, "provenance", provenance_text(s));
  cJSON_AddNumberToObject(json, "window", s->ring.window);
  add_compared(s, json);
  if (s->task.shape_count > WS__ALL_SHAPES && s->ranking.by_device)
    cJSON_AddTrueToObject(json, "sampled");
  if (s->rounds.size > 0)
    cJSON_AddNumberToObject(json, "round", s->rounds.size);
  if (s->options->start_count + s->options->point_count > 0) {
    cJSON *list = cJSON_AddArrayToObject(json, "start");
    for (int i = 0; i < s->starts.count; i++)
      cJSON_AddItemToArray(
          list, cJSON_CreateString(s->starts.items[i].candidate->id.hex));
  }
  if (s->models.llm) {
    cJSON_AddNumberToObject(json, "repairs", s->options->repairs);
    if (s->options->small_moves > 0)
      cJSON_AddNumberToObject(json, "small_moves", s->options->small_moves);
    if (s->proposing.strategy && s->proposing.strategy->needs_model &&
        !s->options->blind_siblings && !s->rounds.size)
      cJSON_AddStringToObject(json, "siblings", "seen");
    cJSON_AddItemToObject(json, "members", members_json(s));
  }
  return take_text(s, json);
}

/* Two processes may share an archive, but not a run that asks models: both
 * would pay for the same questions. */
static ws_status lock_run(ws_session *s) {
  if (!s->models.llm || !strcmp(s->options->archive_path, ":memory:"))
    return WS_OK;
  const char *path =
      ws_arena_printf(s->arena, "%s.run-%lld.lock", s->options->archive_path,
                      (long long)s->run.id);
  bool own;
  WS_TRY(ws_file_open_lock(path, &s->run.lock, &own, s->diag));
  if (flock(s->run.lock, LOCK_EX | LOCK_NB) == 0)
    return WS_OK;
  return ws_fail(s->diag, WS_ENVIRONMENT, s->options->archive_path, 0,
                 "another process is working on this very run (%lld); wait for "
                 "it, or start one of your own with another --seed",
                 (long long)s->run.id);
}

/* A run that began before its batch had an answer knew no times of its card,
 * also when the archive had some of earlier runs. Resumed, it must not know
 * them either before it has applied an answer: its questions were asked
 * without. */
static ws_status forget_device(ws_session *s, ws_run_row *run) {
  int64_t begun;
  ws_run_row blind = *run;
  const ws__batched known = *s->ranking.batched;
  s->ranking.batched->provenance = "";
  s->ranking.batched->simulated = false;
  blind.settings_json = settings_text(s);
  WS_TRY(ws_archive_find_run(s->archive, &blind, &begun, s->diag));
  if (!begun) {
    *s->ranking.batched = known;
    return WS_OK;
  }
  *run = blind;
  s->trials.provenance = "";
  if (s->ranking.by_device)
    s->judge.provenance = "";
  return WS_OK;
}

/* What is known of the run before there are devices and starts. */
static ws_run_row early_row(const ws_session *s) {
  cJSON *json = cJSON_CreateObject();
  add_compared(s, json);
  return (ws_run_row){.problem = s->task.problem->name,
                      .settings_json = take_text(s, json)};
}

const char *ws__run_compared(const ws_session *s) {
  const ws_run_row run = early_row(s);
  return ws_run_compared_text(s->arena, &run);
}

ws_status ws__run_check(ws_session *s) {
  const ws_run_row run = early_row(s);
  return ws_archive_check_compared(s->archive, &run, s->diag);
}

ws_status ws__run_begin(ws_session *s) {
  const ws__source *sources[] = {&s->task.source, &s->task.baseline};
  for (int i = 0; i < 2; i++)
    if (sources[i]->tmpl)
      WS_TRY(ws_archive_put_template(s->archive, sources[i]->tmpl,
                                     sources[i]->text, NULL, s->diag));
  ws_run_row run = {.problem = s->task.problem->name,
                    .layout = s->task.layout,
                    .target = s->task.source.tmpl->target,
                    .strategy = s->proposing.strategy
                                    ? s->proposing.strategy->name
                                    : "outside",
                    .shape_set = s->task.shape_set,
                    .settings_json = settings_text(s),
                    .seed = s->options->seed,
                    .started_unix_ms = ws_clock_unix_ms()};
  if (s->ranking.batched && *s->ranking.batched->provenance)
    WS_TRY(forget_device(s, &run));
  WS_TRY(ws_archive_begin_run(s->archive, &run, &s->run.id, s->diag));
  s->judge.run_id = s->run.id;
  return lock_run(s);
}

void ws__run_end(ws__run *run) {
  if (run->lock >= 0)
    close(run->lock);
}
