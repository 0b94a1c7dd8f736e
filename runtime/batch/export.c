/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Candidates of an archive as jobs of a batch: which, and what is asked about
 * each. The inputs have one seed, so that a card makes them once; the shapes
 * with least work come first, so that a bad candidate ends early.
 */
#include "wavesmith/batch_transfer.h"
#include "wavesmith/coverage.h"
#include "wavesmith/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Flops of the large shape that is verified by samples, as in tune. */
static const double most_large_flops = 2.4e10;
enum { MOST_SHAPES = 1024 };

typedef struct exporter {
  ws_archive *archive;
  ws_arena *arena;     /* of the whole export */
  ws_arena *job_arena; /* of the candidate in hand */
  const ws_batch_export_options *options;
  const char **ids;
  int id_count;
  ws_batch *batch;
  const ws_target *target;
  const ws_problem *problem; /* of the shapes below */
  ws_shape *shapes;          /* by work */
  int shape_count;
  ws_batch_exported *out;
} exporter;

/* ---- which candidates ---- */

static ws_status choose_named(exporter *e, ws_diag *diag) {
  const ws_batch_export_options *options = e->options;
  for (int i = 0; i < options->id_count; i++) {
    ws_candidate_row row;
    bool found;
    WS_TRY(ws_archive_get_candidate(e->archive, e->arena, options->ids[i],
                                    &found, &row, diag));
    if (!found)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "the archive has no candidate '%s'", options->ids[i]);
    e->ids[e->id_count++] = row.id;
  }
  return WS_OK;
}

/* The provenance nearest to a card. */
static ws_status find_provenance(exporter *e, const char **out, ws_diag *diag) {
  const char *const *names;
  int count;
  WS_TRY(
      ws_archive_list_provenances(e->archive, e->arena, &names, &count, diag));
  *out = count ? names[0] : NULL;
  return WS_OK;
}

static bool is_card_time(const ws_candidate_summary *item) {
  return item->measured_shapes > 0 &&
         !strcmp(ws_provenance_word(item->provenance), "measured");
}

/* Each candidate once. A list has its provenances beside each other. */
static void choose_listed(exporter *e, const ws_candidate_summary *items,
                          int count) {
  for (int first = 0, end; first < count; first = end) {
    bool timed = false;
    for (end = first;
         end < count && !strcmp(items[end].row.id, items[first].row.id); end++)
      timed = timed || is_card_time(&items[end]);
    if (e->options->all || e->options->best || !timed)
      e->ids[e->id_count++] = items[first].row.id;
  }
}

static ws_status choose(exporter *e, ws_diag *diag) {
  const ws_batch_export_options *options = e->options;
  ws_archive_filter filter = {.verdict = "ok", .target = options->target};
  ws_candidate_summary *items = NULL;
  int count = 0;
  if (options->id_count == 0) {
    if (options->best) {
      filter.order_by_score = true;
      filter.limit = options->best;
      WS_TRY(find_provenance(e, &filter.provenance, diag));
    }
    WS_TRY(
        ws_archive_list(e->archive, e->arena, &filter, &items, &count, diag));
  }
  size_t room = (size_t)(options->id_count + count);
  e->ids = ws_arena_alloc(e->arena, sizeof *e->ids * room);
  if (options->id_count)
    WS_TRY(choose_named(e, diag));
  else
    choose_listed(e, items, count);
  if (e->id_count)
    return WS_OK;
  if (!count)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the archive has no candidate that is ok");
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "all candidates that are ok have times of a card; --all "
                 "measures them again");
}

/* ---- shapes ---- */

static ws_status read_shapes(exporter *e, const char *text, ws_diag *diag) {
  ws_shape_set set;
  WS_TRY(ws_problem_read_shapes(e->problem, NULL, e->arena, text, &set, diag));
  if (set.count > MOST_SHAPES)
    return ws_fail(diag, WS_USAGE, NULL, 0, "more than %d shapes", MOST_SHAPES);
  memcpy(e->shapes, set.shapes, sizeof *set.shapes * (size_t)set.count);
  e->shape_count = set.count;
  return WS_OK;
}

static void sort_by_work(exporter *e) {
  for (int i = 1; i < e->shape_count; i++)
    for (int j = i;
         j > 0 && ws_problem_flops(e->problem, &e->shapes[j]) <
                      ws_problem_flops(e->problem, &e->shapes[j - 1]);
         j--) {
      ws_shape moved = e->shapes[j];
      e->shapes[j] = e->shapes[j - 1];
      e->shapes[j - 1] = moved;
    }
}

static ws_status choose_shapes(exporter *e, const ws_problem *problem,
                               ws_diag *diag) {
  const char *text =
      e->options->shapes ? e->options->shapes : e->problem->shape_sets[0].name;
  const ws_shape_set *set = ws_problem_shape_set(problem, text);
  e->problem = problem;
  e->shape_count = 0;
  e->shapes = ws_arena_alloc(e->arena, sizeof *e->shapes * MOST_SHAPES);
  if (set && set->count <= MOST_SHAPES) {
    memcpy(e->shapes, set->shapes, sizeof *set->shapes * (size_t)set->count);
    e->shape_count = set->count;
  } else {
    WS_TRY(read_shapes(e, text, diag));
  }
  sort_by_work(e);
  return WS_OK;
}

/* ---- jobs ---- */

typedef struct subject {
  ws_candidate_row row;
  ws_candidate *candidate;
  ws_build_result build;
  int layout;
} subject;

/* The batch is for the first one's target; the others must be for it, too. */
static ws_status open_batch(exporter *e, const char *folder, const char *target,
                            ws_diag *diag) {
  if (e->batch && !strcmp(e->target->name, target))
    return WS_OK;
  if (e->batch)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "there are candidates for %s and for %s; choose by --target",
                   e->target->name, target);
  e->target = ws_target_find(target);
  if (!e->target)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the candidates are for target '%s'; there are %s", target,
                   ws_target_list());
  e->out->target = e->target->name;
  e->out->device = e->options->device ? e->options->device : e->target->device;
  return ws_batch_open(folder, target, e->out->device, &e->batch, diag);
}

/* The archive keeps the code: what was measured can be shown again. */
static ws_status compile(exporter *e, subject *s, ws_diag *diag) {
  WS_TRY(e->options->compile(e->options->context, e->archive, e->job_arena,
                             s->candidate, &s->build, diag));
  return ws_archive_put_code_object(e->archive, s->row.id, s->build.code_object,
                                    s->build.code_object_size, diag);
}

static ws_status load(exporter *e, const char *folder, const char *id,
                      subject *out, bool *out_usable, ws_diag *diag) {
  *out_usable = false;
  const ws_template *tmpl;
  bool found;
  WS_TRY(ws_archive_get_candidate(e->archive, e->job_arena, id, &found,
                                  &out->row, diag));
  WS_TRY(ws_archive_get_template(e->archive, e->job_arena,
                                 out->row.template_hash, &tmpl, NULL, diag));
  WS_TRY(open_batch(e, folder, tmpl->target, diag));
  WS_TRY(ws_archive_load_candidate(e->archive, e->job_arena, &out->row, tmpl,
                                   &out->candidate, diag));
  const ws_problem *problem = ws_problem_find(tmpl->problem);
  out->layout =
      problem ? ws_problem_layout_index(problem, out->row.layout) : -1;
  if (out->layout < 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s is for problem %s with layout %s, which this "
                   "program does not know",
                   id, tmpl->problem, out->row.layout);
  if (problem != e->problem)
    WS_TRY(choose_shapes(e, problem, diag));
  WS_TRY(ws_archive_get_build(e->archive, e->job_arena, id, &found, &out->build,
                              diag));
  if (found && !out->build.code_object_size && e->options->compile &&
      out->build.verdict == WS_VERDICT_OK)
    WS_TRY(compile(e, out, diag));
  *out_usable = found && out->build.code_object_size > 0;
  e->out->without_code += !*out_usable;
  return WS_OK;
}

/* False: the candidate does not take it. */
static bool make_workload(exporter *e, const subject *s, const ws_covered *one,
                          ws_workload *out) {
  ws_diag ignored;
  if (ws_candidate_broken_require(s->candidate, &one->shape, NULL) >= 0 ||
      ws_workload_of(e->job_arena, e->problem,
                     ws_problem_form(e->problem, s->layout, one->striding),
                     s->candidate, &s->build, &one->shape, e->target->cu_count,
                     out, &ignored) != WS_OK)
    return false;
  out->seed = e->options->seed;
  out->sampled = one->sampled;
  return true;
}

typedef struct step_list {
  ws_measure_request *items;
  int count;
} step_list;

static void add_step(exporter *e, const subject *s, step_list *steps,
                     ws_measure_op op, const ws_workload *workloads,
                     int count) {
  ws_measure_request *step = &steps->items[steps->count++];
  *step = (ws_measure_request){.op = op,
                               .code_object = s->build.code_object,
                               .code_object_size = s->build.code_object_size,
                               .workloads = workloads,
                               .workload_count = count,
                               .settings = ws_measure_settings_default};
  if (op == WS_MEASURE_TIME)
    step->settings.roofline_us =
        ws_target_roofline_us(e->target, e->problem, &workloads->shape);
}

static void add_verification(exporter *e, const subject *s, step_list *steps) {
  ws_covered edges[WS_VERIFY_SHAPES];
  ws_workload *workloads =
      ws_arena_alloc(e->job_arena, sizeof *workloads * (WS_VERIFY_SHAPES + 1));
  int count = 0;
  int edge_count = ws_verify_shapes(e->problem, s->layout, s->candidate,
                                    e->options->seed, edges);
  for (int i = 0; i < edge_count; i++)
    count += make_workload(e, s, &edges[i], &workloads[count]);
  if (count)
    add_step(e, s, steps, WS_MEASURE_VERIFY, workloads, count);
  for (int i = e->shape_count - 1; i >= 0; i--) {
    const ws_covered large = {.shape = e->shapes[i], .sampled = true};
    if (ws_problem_flops(e->problem, &large.shape) <= most_large_flops &&
        make_workload(e, s, &large, &workloads[count])) {
      add_step(e, s, steps, WS_MEASURE_VERIFY, &workloads[count], 1);
      break;
    }
  }
}

/* No steps: it takes none of the shapes, or nobody could say that it is right.
 */
static step_list steps_of(exporter *e, const subject *s) {
  step_list steps = {
      ws_arena_alloc(e->job_arena,
                     sizeof(ws_measure_request) * (size_t)(e->shape_count + 2)),
      0};
  ws_workload *workloads =
      ws_arena_alloc(e->job_arena, sizeof *workloads * (size_t)e->shape_count);
  add_verification(e, s, &steps);
  int verifications = steps.count;
  for (int i = 0; verifications && i < e->shape_count; i++) {
    const ws_covered timed = {.shape = e->shapes[i]};
    if (make_workload(e, s, &timed, &workloads[i]))
      add_step(e, s, &steps, WS_MEASURE_TIME, &workloads[i], 1);
  }
  if (steps.count == verifications)
    steps.count = 0;
  return steps;
}

static ws_status export_one(exporter *e, const char *folder, const char *id,
                            ws_diag *diag) {
  subject s;
  bool usable, answered;
  ws_batch_answer answer;
  WS_TRY(load(e, folder, id, &s, &usable, diag));
  step_list steps = {NULL, 0};
  if (usable)
    steps = steps_of(e, &s);
  e->out->unsuitable += usable && !steps.count;
  if (!steps.count)
    return WS_OK;
  const ws_batch_job job = {.candidate = s.row.id,
                            .code_object = s.build.code_object,
                            .code_object_size = s.build.code_object_size,
                            .steps = steps.items,
                            .step_count = steps.count};
  int before = ws_batch_jobs(e->batch);
  WS_TRY(ws_batch_ask(e->batch, e->job_arena, &job, &answered, &answer, diag));
  int added = ws_batch_jobs(e->batch) - before;
  e->out->added += added;
  e->out->known += !added;
  return WS_OK;
}

static ws_status export_all(exporter *e, const char *folder, ws_diag *diag) {
  WS_TRY(choose(e, diag));
  e->out->candidates = e->id_count;
  for (int i = 0; i < e->id_count; i++) {
    e->job_arena = ws_arena_create();
    ws_status status = export_one(e, folder, e->ids[i], diag);
    ws_arena_destroy(e->job_arena);
    WS_TRY(status);
  }
  if (e->out->added + e->out->known)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "nothing to measure: of %d candidates %d have no code object "
                 "in the archive and %d take none of the shapes",
                 e->out->candidates, e->out->without_code, e->out->unsuitable);
}

ws_status ws_batch_export(ws_archive *archive, ws_arena *arena,
                          const char *folder,
                          const ws_batch_export_options *options,
                          ws_batch_exported *out_exported, ws_diag *diag) {
  *out_exported = (ws_batch_exported){0};
  exporter e = {.archive = archive,
                .arena = arena,
                .options = options,
                .out = out_exported};
  ws_status status = export_all(&e, folder, diag);
  ws_batch_close(e.batch);
  return status;
}
