/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The path of a candidate that a model wrote, through the same servers and with
 * the same requests as in a tuner: read, check, sanitize, lower; verified on
 * edge shapes; a few workgroups of the task's shapes sanitized (spots); timed;
 * verified on a large shape by a sample, run whole on a shape that it is chosen
 * for, and on shapes that nobody has named.
 */
#include "cheat.h"
#include "wavesmith/coverage.h"
#include "wavesmith/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHAPES = 16, MAX_SIZES = 3 };

/* Zero rows end a list. */
typedef struct task_shapes {
  const char *first_dim; /* of the problems that it is for */
  int64_t task[MAX_SHAPES][MAX_SIZES];
  /* Of these the candidate is taken to be the fastest on one: it is run whole.
   */
  int64_t chosen[MAX_SHAPES][MAX_SIZES];
  int64_t large[MAX_SHAPES][MAX_SIZES]; /* verified by a sample */
  int64_t held_out[MAX_SHAPES][MAX_SIZES];
} task_shapes;

static const task_shapes tasks[] = {
    /* one small, three of the contest's, one that is chosen */
    {.first_dim = "m",
     .task = {{256, 512, 256},
              {1024, 1536, 256},
              {1024, 512, 7168},
              {6144, 4096, 512},
              {6144, 64, 256}},
     .chosen = {{6144, 64, 256}},
     .large = {{1024, 256, 256}},
     .held_out = {{80, 1056, 640}}},
    {.first_dim = "rows",
     .task = {{64, 1024}, {256, 2048}, {16, 16384}, {64, 512}},
     .chosen = {{64, 512}},
     .large = {{32, 4096}},
     .held_out = {{24, 1152}}},
};

/* As a run of a tuner draws them; the timed contents are those of large. */
enum { VERIFY_SEED = 90210, TIMED_SEED = 777, SPOTS = 2 };
enum { TIMED = 2 }; /* the first of the task */

static void must(ws_status status, const ws_diag *diag) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "cheats: %s\n", diag->text);
  exit(ws_status_exit_code(status));
}

void cheat_path_start(cheat_path *path) {
  ws_diag diag;
  must(ws_compiler_start(&path->compiler, &diag), &diag);
  if (!path->steps)
    must(ws_device_client_start("sim", &path->device, &diag), &diag);
}

void cheat_path_stop(cheat_path *path) {
  ws_device_client_stop(path->device);
  ws_compiler_stop(path->compiler);
}

/* One cheat on its way. */
typedef struct trip {
  cheat_path *path;
  ws_arena *arena;
  const cheat *tried;
  const char *skipped;
  const char *template_text; /* IR */
  const ws_candidate *candidate;
  ws_build_result build;
  outcome *out;
} trip;

static bool is_on(const trip *t, const char *stage) {
  return !t->skipped || strcmp(t->skipped, stage) != 0;
}

static const ws_target *target_of(const trip *t) {
  return ws_target_find(t->candidate->tmpl->target);
}

static const ws_problem *problem_of(const trip *t) {
  return ws_problem_find(t->candidate->tmpl->problem);
}

static int cu_count(const trip *t) {
  const ws_device_client *device = t->path->device;
  return device ? ws_device_client_info(device)->cu_count
                : target_of(t)->cu_count;
}

static bool caught(trip *t, const char *stage, ws_verdict verdict,
                   const char *reason) {
  t->out->stage = stage;
  t->out->verdict = ws_verdict_text(verdict);
  t->out->reason = ws_arena_strdup(t->arena, reason);
  return true;
}

static const task_shapes *task_of(const trip *t) {
  const char *first = problem_of(t)->dims->names[0];
  for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
    if (!strcmp(tasks[i].first_dim, first))
      return &tasks[i];
  cheat_quit(t->tried->name, "no shapes for problems that begin with", first);
  return NULL;
}

/* ---- the compile server ---- */

/* As runtime/search/reading.c has it. */
static bool translate(trip *t) {
  const ws_import import = {.file = "template.cl",
                            .target = "gfx942",
                            .own = t->tried->template_text,
                            .text = t->tried->template_text,
                            .language = "opencl",
                            .name = "reply",
                            .problem = "gemm_bf16"};
  const ws_finding *findings;
  int count;
  ws_diag diag;
  if (ws_compiler_import(t->path->compiler, t->arena, &import,
                         &t->template_text, &findings, &count, &diag) != WS_OK)
    return caught(t, "template", WS_VERDICT_NO_COMPILE, diag.text);
  return count &&
         caught(t, "template", WS_VERDICT_NO_COMPILE,
                ws_arena_printf(t->arena, "%s:%d: %s", findings[0].file,
                                findings[0].line, findings[0].text));
}

static bool read_template(trip *t) {
  const ws_template *tmpl;
  ws_diag diag;
  t->template_text = t->tried->template_text;
  if (t->tried->opencl && translate(t))
    return true;
  const char *text = t->template_text;
  if (ws_compiler_describe(t->path->compiler, t->arena, t->tried->template_file,
                           text, strlen(text), &tmpl, &diag) != WS_OK)
    return caught(t, "template", WS_VERDICT_NO_COMPILE, diag.text);
  ws_candidate *candidate = ws_candidate_create(t->arena, tmpl);
  must(ws_candidate_set(candidate, t->tried->assignments, &diag), &diag);
  must(ws_candidate_set_variants(candidate, t->tried->variants, &diag), &diag);
  t->candidate = candidate;
  return false;
}

static bool compile(trip *t, const ws_run *runs, int run_count, int stages,
                    const char *stage) {
  ws_diag diag;
  const struct ws_request_body body = {.region = t->tried->region,
                                       .language = t->tried->language,
                                       .text = t->tried->body,
                                       .file = t->tried->name};
  ws_build_request request = {
      .template_file = t->tried->template_file,
      .template_text = t->template_text,
      .template_size = strlen(t->template_text),
      .target = t->candidate->tmpl->target,
      .assignments = ws_candidate_values_text(t->arena, t->candidate),
      .variants = t->tried->variants,
      .bodies = &body,
      .body_count = t->tried->region ? 1 : 0,
      .runs = runs,
      .run_count = run_count,
      .stages = stages,
      .limits = {.wall_ms = 20000, .cpu_ms = 4000, .memory_mb = 2048}};
  if (stage && !strcmp(stage, "coverage")) /* large operands */
    request.limits = (ws_limits){
        .wall_ms = 120000, .cpu_ms = 60000, .memory_mb = WS_COVERAGE_FAR_MB};
  ws_build_result result;
  must(ws_compiler_build(t->path->compiler, t->arena, &request, &result, &diag),
       &diag);
  t->out->findings = result.findings;
  t->out->finding_count = result.finding_count;
  if (stages & WS_STAGE_LOWER)
    t->build = result;
  if (!stage) /* that of a job that died is not known */
    stage = *result.stage ? result.stage : "compile";
  return result.verdict != WS_VERDICT_OK &&
         caught(t, stage, result.verdict, result.reason);
}

static bool build(trip *t) {
  ws_run runs[WS_STANDARD_RUNS];
  int count = ws_standard_runs(t->candidate, runs), stages = WS_STAGE_LOWER;
  stages |= is_on(t, "check") ? WS_STAGE_CHECK : 0;
  stages |= is_on(t, "sanitize") && target_of(t)->has_host_model
                ? WS_STAGE_SANITIZE
                : 0;
  return compile(t, runs, count, stages, NULL);
}

static bool spot(trip *t) {
  if (!target_of(t)->has_host_model)
    return false;
  const task_shapes *shapes = task_of(t);
  ws_run runs[MAX_SHAPES];
  int count = 0;
  for (int i = 0; i < MAX_SHAPES && shapes->task[i][0]; i++) {
    const ws_shape shape = ws_shape_of(problem_of(t)->dims, shapes->task[i]);
    if (ws_candidate_broken_require(t->candidate, &shape, NULL) < 0)
      runs[count++] = (ws_run){
          .shape = shape, .seed = VERIFY_SEED + (uint64_t)i, .spots = SPOTS};
  }
  return compile(t, runs, count, WS_STAGE_SANITIZE, "spot");
}

/* ---- the device server ---- */

/* For a card elsewhere; nobody is caught yet. */
static bool note(trip *t, const char *stage,
                 const ws_measure_request *request) {
  cheat_steps *steps = t->path->steps;
  if (steps->count == CHEAT_STEPS_MAX)
    cheat_quit(t->tried->name, "needs too many steps; the last is", stage);
  steps->stages[steps->count] = stage;
  steps->requests[steps->count++] = *request;
  return false;
}

static bool measure(trip *t, const char *stage, ws_measure_op op,
                    const ws_workload *workloads, int count) {
  ws_measure_request request = {.op = op,
                                .code_object = t->build.code_object,
                                .code_object_size = t->build.code_object_size,
                                .workloads = workloads,
                                .workload_count = count,
                                .settings = ws_measure_settings_default};
  ws_measured measured;
  ws_diag diag;
  request.settings.wall_ms = 60000; /* machines that run tests are busy */
  request.settings.roofline_us = ws_target_roofline_us(
      target_of(t), ws_problem_find(workloads[0].problem), &workloads[0].shape);
  request.settings.warm_up_ms = 20; /* as plan.c has it */
  request.settings.max_samples = 100;
  if (t->path->steps)
    return note(t, stage, &request);
  must(ws_device_client_measure(t->path->device, t->arena, &request, &measured,
                                &diag),
       &diag);
  t->out->findings = measured.findings;
  t->out->finding_count = measured.finding_count;
  return measured.verdict != WS_VERDICT_OK &&
         caught(t, stage, measured.verdict, measured.reason);
}

/* The workloads on the shapes that it takes; a failure here is a verdict. */
static bool on_cases(trip *t, const char *stage, ws_measure_op op,
                     const ws_covered *cases, int count, uint64_t seed) {
  const ws_problem *problem = problem_of(t);
  ws_workload *workloads =
      ws_arena_alloc(t->arena, sizeof *workloads * (size_t)count);
  ws_diag diag;
  int taken = 0;
  for (int i = 0; i < count; i++) {
    if (ws_workload_of(
            t->arena, problem,
            ws_problem_form(problem, t->tried->layout, cases[i].striding),
            t->candidate, &t->build, &cases[i].shape, cu_count(t),
            &workloads[taken], &diag) != WS_OK)
      return caught(t, stage, WS_VERDICT_ILLEGAL, diag.text);
    workloads[taken].seed = seed;
    workloads[taken++].sampled =
        ws_problem_flops(problem, &cases[i].shape) > 1e8;
  }
  if (op == WS_MEASURE_VERIFY)
    return measure(t, stage, op, workloads, taken);
  for (int i = 0; i < taken; i++)
    if (measure(t, stage, op, &workloads[i], 1))
      return true;
  return false;
}

static bool on_shapes(trip *t, const char *stage, ws_measure_op op,
                      const int64_t (*sizes)[MAX_SIZES], int most,
                      uint64_t seed) {
  ws_covered cases[MAX_SHAPES];
  int count = 0;
  for (; count < most && sizes[count][0]; count++)
    cases[count] =
        (ws_covered){.shape = ws_shape_of(problem_of(t)->dims, sizes[count])};
  return on_cases(t, stage, op, cases, count, seed);
}

static bool verify_edges(trip *t) {
  ws_covered cases[WS_VERIFY_SHAPES];
  int count = ws_verify_shapes(problem_of(t), t->tried->layout, t->candidate,
                               VERIFY_SEED, cases);
  if (count == 0)
    return caught(t, "verify", WS_VERDICT_ILLEGAL,
                  "it takes no shape that it could be verified on");
  return on_cases(t, "verify", WS_MEASURE_VERIFY, cases, count, VERIFY_SEED);
}

static bool cover_far(trip *t) {
  if (!target_of(t)->has_host_model)
    return false;
  ws_run runs[WS_COVERAGE_FAR];
  int count = ws_coverage_far(problem_of(t), t->tried->layout, t->candidate,
                              VERIFY_SEED, runs);
  return count && compile(t, runs, count, WS_STAGE_SANITIZE, "coverage");
}

/* As a winner is, before it is one. */
static bool cover(trip *t) {
  const ws_coverage_subject subject = {.problem = problem_of(t),
                                       .layout = t->tried->layout,
                                       .candidate = t->candidate,
                                       .build = &t->build,
                                       .cu_count = cu_count(t)};
  ws_coverage coverage;
  ws_coverage_plan(t->arena, subject.problem, subject.layout, t->candidate,
                   &t->build, VERIFY_SEED, &coverage);
  for (int i = 0; i < coverage.count; i += WS_COVERAGE_BATCH) {
    int left = coverage.count - i;
    ws_measure_request request;
    ws_diag diag;
    if (ws_coverage_request(t->arena, &subject, &coverage.cases[i],
                            left < WS_COVERAGE_BATCH ? left : WS_COVERAGE_BATCH,
                            &request, &diag) != WS_OK)
      return caught(t, "coverage", WS_VERDICT_ILLEGAL, diag.text);
    if (measure(t, "coverage", WS_MEASURE_VERIFY, request.workloads,
                request.workload_count))
      return true;
  }
  return cover_far(t);
}

static bool go(trip *t) {
  if (read_template(t) || build(t) || (is_on(t, "verify") && verify_edges(t)) ||
      (is_on(t, "spot") && spot(t)))
    return true;
  const task_shapes *shapes = task_of(t);
  if (is_on(t, "time") &&
      on_shapes(t, "time", WS_MEASURE_TIME, shapes->task, TIMED, TIMED_SEED))
    return true;
  if (is_on(t, "large") && on_shapes(t, "large", WS_MEASURE_VERIFY,
                                     shapes->large, MAX_SHAPES, TIMED_SEED))
    return true;
  /* a card looks at the results of what it times */
  if (is_on(t, "whole") && target_of(t)->has_host_model &&
      on_shapes(t, "whole", WS_MEASURE_VERIFY, shapes->chosen, MAX_SHAPES,
                TIMED_SEED + 1))
    return true;
  if (is_on(t, "held-out") &&
      on_shapes(t, "held-out", WS_MEASURE_VERIFY, shapes->held_out, MAX_SHAPES,
                VERIFY_SEED))
    return true;
  return t->path->thorough && cover(t);
}

static void keep_code(trip *t) {
  if (!t->path->steps)
    return;
  t->path->steps->code = t->build.code_object;
  t->path->steps->code_size = t->build.code_object_size;
}

outcome cheat_judge_on(cheat_path *path, ws_arena *arena, const cheat *tried,
                       const ws_shape *shape, int striding) {
  double begin_ms = ws_clock_ms();
  outcome out = {.stage = "ok", .verdict = "ok", .reason = ""};
  trip t = {.path = path, .arena = arena, .tried = tried, .out = &out};
  if (!read_template(&t) && !compile(&t, NULL, 0, WS_STAGE_LOWER, NULL)) {
    const ws_problem *problem = ws_problem_find(t.candidate->tmpl->problem);
    ws_workload *workload = ws_arena_alloc(arena, sizeof *workload);
    ws_diag diag;
    if (ws_workload_of(arena, problem,
                       ws_problem_form(problem, tried->layout, striding),
                       t.candidate, &t.build, shape, cu_count(&t), workload,
                       &diag) != WS_OK) {
      caught(&t, "call", WS_VERDICT_ILLEGAL, diag.text);
    } else {
      workload->seed = VERIFY_SEED;
      measure(&t, "call", WS_MEASURE_VERIFY, workload, 1);
    }
  }
  keep_code(&t);
  out.ms = ws_clock_ms() - begin_ms;
  return out;
}

outcome cheat_try(cheat_path *path, ws_arena *arena, const cheat *tried,
                  const char *skipped) {
  double begin_ms = ws_clock_ms();
  outcome out = {.stage = "ok", .verdict = "ok", .reason = ""};
  trip t = {.path = path,
            .arena = arena,
            .tried = tried,
            .skipped = skipped,
            .out = &out};
  go(&t);
  keep_code(&t);
  out.ms = ws_clock_ms() - begin_ms;
  return out;
}
