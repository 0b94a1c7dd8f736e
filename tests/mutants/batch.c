/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Mutants for a card that is elsewhere: a batch (wavesmith/batch.h) and beside
 * its jobs the file trips.txt, a line for each trip, fields parted by tabs:
 *   ROLE   path: a mutant's, as cheat_path.c has it; proof: its one call, in
 *          full, unchecked; control: the path of a point without a mistake
 *   NAME CLASS
 *   ENDED  "" where a job says how it ends (candidate "ROLE NAME"); else the
 *          stage here that caught it
 *   STAGES of the job's steps, parted by blanks; or why it was caught
 */
#include "wavesmith/batch.h"
#include "mutant.h"
#include "wavesmith/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char trips_name[] = "trips.txt";

static void must(ws_status status, const ws_diag *diag) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "run_mutants: %s\n", diag->text);
  exit(ws_status_exit_code(status));
}

/* ---- staging ---- */

typedef struct stager {
  ws_batch *batch;
  cheat_path path;
  ws_arena *arena; /* of all */
  ws_strbuf trips;
  int jobs, caught;
} stager;

static void add_job(stager *s, ws_arena *arena, const char *candidate) {
  cheat_steps *steps = s->path.steps;
  ws_batch_answer answer;
  bool found;
  ws_diag diag;
  for (int i = 0; i < steps->count; i++) {
    steps->requests[i].code_object = steps->code;
    steps->requests[i].code_object_size = steps->code_size;
  }
  const ws_batch_job job = {.id = "",
                            .candidate = candidate,
                            .code_object = steps->code,
                            .code_object_size = steps->code_size,
                            .steps = steps->requests,
                            .step_count = steps->count};
  must(ws_batch_ask(s->batch, arena, &job, &found, &answer, &diag), &diag);
  s->jobs++;
}

/* A reason on one line, without what parts fields. */
static void put_reason(ws_strbuf *out, const char *reason) {
  for (; *reason; reason++)
    ws_strbuf_printf(out, "%c", (unsigned char)*reason < ' ' ? ' ' : *reason);
}

static void stage_trip(stager *s, const char *role, const mutant *m) {
  bool proves = !strcmp(role, "proof");
  ws_arena *arena = ws_arena_create();
  cheat_steps *steps = s->path.steps;
  *steps = (cheat_steps){.count = 0};
  outcome out = proves ? cheat_judge_on(&s->path, arena, &m->tried, &m->wrong,
                                        m->striding)
                       : cheat_try(&s->path, arena, &m->tried, NULL);
  bool caught = strcmp(out.stage, "ok") != 0;
  ws_strbuf_printf(&s->trips, "%s\t%s\t%s\t%s\t", role, m->tried.name, m->kind,
                   caught ? out.stage : "");
  if (caught) {
    put_reason(&s->trips, out.reason);
    s->caught++;
  } else {
    for (int i = 0; i < steps->count; i++)
      ws_strbuf_printf(&s->trips, "%s%s", i ? " " : "", steps->stages[i]);
    add_job(s, arena, ws_arena_printf(arena, "%s %s", role, m->tried.name));
  }
  ws_strbuf_printf(&s->trips, "\n");
  printf("# %s %s: %s %.120s\n", role, m->tried.name,
         caught ? out.stage : "a job,",
         caught ? out.reason
                : ws_arena_printf(arena, "%d steps", steps->count));
  fflush(stdout);
  ws_arena_destroy(arena);
}

/* Is there a mutant before this one of the same point? */
static bool is_known_point(const mutant *mutants, int number) {
  const cheat *one = &mutants[number].tried;
  for (int i = 0; i < number; i++) {
    const cheat *other = &mutants[i].tried;
    if (!strcmp(one->template_file, other->template_file) &&
        !strcmp(one->assignments, other->assignments) &&
        !strcmp(one->variants, other->variants))
      return true;
  }
  return false;
}

static mutant control_of(ws_arena *arena, const mutant *m) {
  mutant control = *m;
  control.kind = "control";
  control.tried.template_text = m->base;
  control.tried.name =
      ws_arena_printf(arena, "%s %s %s", m->tried.template_file,
                      m->tried.assignments, m->tried.variants);
  return control;
}

static const char *target_of(stager *s, const cheat *tried) {
  const ws_template *tmpl;
  ws_diag diag;
  must(ws_compiler_describe(s->path.compiler, s->arena, tried->template_file,
                            tried->template_text, strlen(tried->template_text),
                            &tmpl, &diag),
       &diag);
  return tmpl->target;
}

static void stage_all(stager *s, const mutant *mutants, int count) {
  for (int i = 0; i < count; i++) {
    if (!is_known_point(mutants, i)) {
      mutant control = control_of(s->arena, &mutants[i]);
      stage_trip(s, "control", &control);
    }
    stage_trip(s, "proof", &mutants[i]);
    stage_trip(s, "path", &mutants[i]);
  }
}

int mutants_stage(const char *folder, const mutant *mutants, int count,
                  bool thorough) {
  ws_diag diag;
  stager s = {.path = {.thorough = thorough}, .arena = ws_arena_create()};
  if (!count)
    return 1;
  s.path.steps = ws_arena_alloc(s.arena, sizeof *s.path.steps);
  ws_strbuf_init(&s.trips);
  cheat_path_start(&s.path);
  const char *target =
      target_of(&s, &(cheat){.template_file = mutants[0].tried.template_file,
                             .template_text = mutants[0].base});
  must(ws_batch_open(folder, target, ws_target_find(target)->device, &s.batch,
                     &diag),
       &diag);
  stage_all(&s, mutants, count);
  ws_batch_close(s.batch);
  must(ws_file_write_atomic(
           ws_arena_printf(s.arena, "%s/%s", folder, trips_name), s.trips.data,
           s.trips.size, &diag),
       &diag);
  printf("# %d jobs of %d mutants; %d trips ended here\n", s.jobs, count,
         s.caught);
  cheat_path_stop(&s.path);
  ws_strbuf_deinit(&s.trips);
  ws_arena_destroy(s.arena);
  return 0;
}

/* ---- judging ---- */

typedef struct trip {
  const char *role, *name, *kind, *ended, *rest;
  bool open; /* no answer, or one that ends too early */
  const char *stage, *verdict, *reason;
  double ms;
} trip;

typedef struct answers {
  const char **candidates;
  ws_batch_answer *items; /* step_count -1: none */
  int count;
} answers;

static answers read_answers(ws_arena *arena, const char *folder) {
  ws_batch *batch;
  ws_diag diag;
  must(ws_batch_open(folder, NULL, NULL, &batch, &diag), &diag);
  answers all = {.count = ws_batch_jobs(batch)};
  size_t room = (size_t)all.count + 1;
  all.candidates = ws_arena_alloc(arena, sizeof *all.candidates * room);
  all.items = ws_arena_alloc(arena, sizeof *all.items * room);
  for (int i = 0; i < all.count; i++) {
    ws_arena *passing = ws_arena_create();
    ws_batch_job job;
    bool found;
    must(ws_batch_read_job(batch, passing, i, &job, &diag), &diag);
    all.candidates[i] = ws_arena_strdup(arena, job.candidate);
    must(ws_batch_read_answer(batch, arena, i, &found, &all.items[i], &diag),
         &diag);
    if (!found)
      all.items[i].step_count = -1;
    ws_arena_destroy(passing);
  }
  ws_batch_close(batch);
  return all;
}

static const ws_batch_answer *answer_to(ws_arena *arena, const answers *all,
                                        const trip *t) {
  const char *candidate = ws_arena_printf(arena, "%s %s", t->role, t->name);
  for (int i = 0; i < all->count; i++)
    if (!strcmp(all->candidates[i], candidate))
      return all->items[i].step_count < 0 ? NULL : &all->items[i];
  return NULL;
}

/* Its steps have the stages' names in t->rest. */
static void take_answer(ws_arena *arena, trip *t,
                        const ws_batch_answer *answer) {
  char *stages = ws_arena_strdup(arena, t->rest);
  const char *stage;
  t->open = !answer;
  for (int i = 0; answer && (stage = strsep(&stages, " ")); i++) {
    if (i == answer->step_count) {
      t->open = true;
      return;
    }
    t->ms += answer->steps[i].host_ms;
    if (answer->steps[i].verdict != WS_VERDICT_OK) {
      t->stage = stage;
      t->verdict = ws_verdict_text(answer->steps[i].verdict);
      t->reason = answer->steps[i].reason;
      return;
    }
  }
}

/* One line of trips.txt, which is cut up. */
static trip read_trip(ws_arena *arena, char *line, const answers *all) {
  trip t = {.stage = "ok", .verdict = "ok", .reason = ""};
  const char **const fields[] = {&t.role, &t.name, &t.kind, &t.ended, &t.rest};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    *fields[i] = strsep(&line, i < 4 ? "\t" : "");
    if (!*fields[i])
      cheat_quit(trips_name, "has a line that is cut off", "");
  }
  if (*t.ended) {
    t.stage = t.ended;
    t.verdict = "refused";
    t.reason = t.rest;
  } else {
    take_answer(arena, &t, answer_to(arena, all, &t));
  }
  return t;
}

typedef struct judgement {
  table stages;
  int mutants, survivors, unproven, open, false_alarms;
  bool proven;
} judgement;

/* A proof comes before its mutant's path. */
static void judge(judgement *j, const trip *t) {
  bool caught = strcmp(t->stage, "ok") != 0, right = caught;
  if (t->open) {
    j->open++;
    printf("not ok - %s %s [%s]: not answered\n", t->role, t->name, t->kind);
    return;
  }
  if (!strcmp(t->role, "proof")) {
    right = j->proven = caught && !*t->ended;
    j->unproven += !right;
  } else if (!strcmp(t->role, "control")) {
    right = !caught;
    j->false_alarms += caught;
  } else {
    right = caught || !j->proven;
    j->mutants++;
    j->survivors += !right;
    table_note(&j->stages, t->kind, t->stage);
  }
  printf("%sok - %s %s [%s]: %s %s, %.0f ms\n", right ? "" : "not ", t->role,
         t->name, t->kind, t->stage, t->verdict, t->ms);
  if (caught)
    printf("#   %.200s\n", t->reason);
}

int mutants_judge(const char *folder) {
  ws_arena *arena = ws_arena_create();
  char *text, *line;
  size_t size;
  ws_diag diag;
  judgement j = {.mutants = 0};
  answers all = read_answers(arena, folder);
  must(ws_file_read(arena, ws_arena_printf(arena, "%s/%s", folder, trips_name),
                    &text, &size, &diag),
       &diag);
  while ((line = strsep(&text, "\n")) && *line) {
    trip t = read_trip(arena, line, &all);
    judge(&j, &t);
  }
  table_print(&j.stages);
  printf("# %d of %d survive; %d are not proven wrong; %d false alarms; %d "
         "without an answer\n",
         j.survivors, j.mutants, j.unproven, j.false_alarms, j.open);
  ws_arena_destroy(arena);
  return j.survivors || j.false_alarms || j.open || !j.mutants;
}
