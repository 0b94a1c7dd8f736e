/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See emit_options.h.
 */
#include "emit_options.h"
#include "wavesmith/time_model.h"

#include <string.h>
#include <sys/stat.h>

static ws_status find_names(emit_options *out, ws_arena *arena, ws_diag *diag) {
  if (out->layout && ws_problem_layout_index(out->problem, out->layout) < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--layout %s: %s has none such",
                   out->layout, out->problem->name);
  if (out->target && !ws_target_find(out->target))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--target %s: there is none such; there are %s", out->target,
                   ws_target_list());
  if (!out->shapes)
    out->shapes = out->problem->shape_sets[0].name;
  WS_TRY(ws_problem_read_shapes(out->problem, out->layout, arena, out->shapes,
                                &out->shape_set, diag));
  if (!out->name)
    out->name = out->problem->name;
  return WS_OK;
}

ws_status emit_options_parse(const ws_command *command, const char *source,
                             int argc, char **argv, emit_options *out,
                             ws_diag *diag) {
  ws_words words;
  *out = (emit_options){.out = "."};
  WS_TRY(ws_options_parse(command, argc, argv, out, &words, diag));
  out->help = words.help;
  if (out->help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one %s; `%s --help` shows how", source,
                   command->program);
  out->source = words.items[0];
  return WS_OK;
}

static bool is_directory(const char *path) {
  struct stat state;
  return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

ws_status emit_options_open(const emit_options *options,
                            ws_archive **out_archive, ws_diag *diag) {
  int imported;
  if (!is_directory(options->source))
    return ws_archive_open(options->source, false, out_archive, diag);
  WS_TRY(ws_archive_open(":memory:", true, out_archive, diag));
  return ws_archive_import(*out_archive, options->source, &imported, diag);
}

/* ---- problem, target and layout of what is there
 * -----------------------------------
 */

static ws_status holds(const emit_options *options, ws_archive *archive,
                       const char *target, const char *layout, bool *out,
                       ws_diag *diag) {
  const ws_archive_filter filter = {.problem = options->problem_name,
                                    .layout = layout,
                                    .target = target,
                                    .verdict = ws_verdict_text(WS_VERDICT_OK),
                                    .limit = 1};
  ws_arena *arena = ws_arena_create();
  ws_candidate_summary *items;
  int count;
  ws_status status =
      ws_archive_list(archive, arena, &filter, &items, &count, diag);
  *out = count > 0;
  ws_arena_destroy(arena);
  return status;
}

/* The one that was asked for, or that kernels of the archive are for. */
static ws_status settle_problem(emit_options *options, ws_archive *archive,
                                ws_diag *diag) {
  int count;
  const ws_problem *const *problems = ws_problems(&count);
  const char *wanted = options->problem_name;
  for (int i = 0; i < count; i++) {
    bool has = false;
    options->problem_name = problems[i]->name;
    if (wanted ? strcmp(wanted, problems[i]->name) : false)
      continue;
    if (!wanted)
      WS_TRY(holds(options, archive, NULL, NULL, &has, diag));
    if (!wanted && !has)
      continue;
    if (options->problem)
      return ws_fail(diag, WS_USAGE, options->source, 0,
                     "there are kernels for %s and for %s: --problem chooses",
                     options->problem->name, problems[i]->name);
    options->problem = problems[i];
  }
  if (wanted && !options->problem)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--problem %s: there is none",
                   wanted);
  if (!options->problem)
    return ws_fail(diag, WS_INPUT, options->source, 0,
                   "it has no kernel that is ok of a problem known here; name "
                   "the problem's file with --problem");
  options->problem_name = options->problem->name;
  return WS_OK;
}

static ws_status settle_target(emit_options *options, ws_archive *archive,
                               ws_diag *diag) {
  int count;
  const ws_target *const *targets = ws_targets(&count);
  for (int i = 0; i < count; i++) {
    bool has;
    WS_TRY(
        holds(options, archive, targets[i]->name, options->layout, &has, diag));
    if (has && options->target)
      return ws_fail(diag, WS_USAGE, options->source, 0,
                     "there are kernels for %s and for %s: --target chooses",
                     options->target, targets[i]->name);
    if (has)
      options->target = targets[i]->name;
  }
  if (!options->target) /* there is nothing; loading says so */
    options->target = targets[0]->name;
  return WS_OK;
}

static const char *first_layout(const emit_options *options) {
  const char *usual =
      ws_problem_default_layout(options->problem, options->for_target->name);
  return usual ? usual : options->problem->layouts[0].name;
}

/* The target's first layout, unless there is only another. */
static ws_status settle_layout(emit_options *options, ws_archive *archive,
                               ws_diag *diag) {
  const ws_problem *problem = options->problem;
  const char *first = first_layout(options), *other = NULL;
  bool has;
  WS_TRY(holds(options, archive, options->target, first, &has, diag));
  for (int i = 0; i < problem->layout_count && !has && !other; i++) {
    bool has_other;
    WS_TRY(holds(options, archive, options->target, problem->layouts[i].name,
                 &has_other, diag));
    other = has_other ? problem->layouts[i].name : NULL;
  }
  options->layout = other ? other : first;
  return WS_OK;
}

/* Whether wanted is provenance, or the beginning of it to a ':'. */
static bool begins(const char *wanted, const char *provenance) {
  const size_t size = strlen(wanted);
  return !strncmp(provenance, wanted, size) &&
         (provenance[size] == ':' || !provenance[size]);
}

/* A kind may be wanted that has no times yet; what is none of a kind, nor of
 * the archive, is a slip. */
static ws_status check_provenance(const emit_options *options,
                                  ws_archive *archive, ws_arena *arena,
                                  ws_diag *diag) {
  static const char *const kinds[] = {"hip", "cuda", "sim", "estimate",
                                      WS_PROVENANCE_ESTIMATE};
  enum { WORDS = 4, KINDS = sizeof kinds / sizeof kinds[0] };
  const char *wanted = options->provenance, *known = "", *const *names;
  int count;
  for (int i = 0; wanted && i < KINDS; i++)
    if (i < WORDS ? !strcmp(wanted, kinds[i]) : begins(wanted, kinds[i]))
      return WS_OK;
  if (!wanted)
    return WS_OK;
  WS_TRY(ws_archive_list_provenances(archive, arena, &names, &count, diag));
  for (int i = 0; i < count; i++) {
    if (begins(wanted, names[i]))
      return WS_OK;
    known = ws_arena_printf(arena, "%s, %s", known, names[i]);
  }
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "--provenance %s: there is none such; there are hip, cuda, "
                 "sim, estimate%s",
                 wanted, known);
}

ws_status emit_options_settle(emit_options *options, ws_archive *archive,
                              ws_arena *arena, ws_diag *diag) {
  WS_TRY(check_provenance(options, archive, arena, diag));
  WS_TRY(settle_problem(options, archive, diag));
  WS_TRY(find_names(options, arena, diag));
  if (!options->target)
    WS_TRY(settle_target(options, archive, diag));
  options->for_target = ws_target_find(options->target);
  if (!options->layout)
    WS_TRY(settle_layout(options, archive, diag));
  if (!options->check || options->for_target->has_host_model)
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "--check: kernels for %s cannot be run on a CPU; `wavesmith "
                 "bench` verifies them on a card",
                 options->target);
}

/* ---- times and files -------------------------------------------------------
 */

static ws_status fill_matrix(const emit_options *options, ws_archive *archive,
                             ws_arena *arena, ws_dispatch_entry *entries,
                             int *entry_count, ws_matrix *out, ws_diag *diag) {
  const char *wanted = options->provenance;
  WS_TRY(ws_dispatch_times(archive, arena, options->problem,
                           options->for_target, &options->shape_set, wanted,
                           entries, entry_count, out, diag));
  if (out->provenance)
    return WS_OK;
  if (wanted && strncmp(wanted, "estimate", strlen("estimate")))
    return ws_fail(diag, WS_INPUT, options->source, 0,
                   "times of provenance '%s' do not suffice for %s: half of its "
                   "shapes need one, and a kernel that takes every shape one "
                   "on all or on twelve; `wavesmith tune` takes them",
                   wanted, options->shapes);
  return ws_fail(diag, WS_INPUT, options->source, 0,
                 "recorded times do not suffice for %s: half of its shapes need "
                 "one, and a kernel that takes every shape one on all or on "
                 "twelve; and there is no model that estimates those of %s; "
                 "`wavesmith tune --device %s` takes them",
                 options->shapes, options->target, options->for_target->device);
}

static ws_status read_terms(const emit_options *options, ws_arena *arena,
                            const ws_dispatch_entry *entries, int count,
                            const ws_time_terms **out, ws_diag *diag) {
  char *text;
  size_t size;
  WS_TRY(ws_file_read(arena, options->terms_file, &text, &size, diag));
  if (strlen(text) != size)
    return ws_fail(diag, WS_INPUT, options->terms_file, 0,
                   "it is no text; write one expression a line");
  WS_TRY(ws_time_terms_parse(arena, options->problem, text,
                             options->terms_file, out, diag));
  for (int t = 0; t < ws_time_terms_count(*out); t++) {
    const char *why = ws_time_terms_left_out(arena, *out, t, entries, count,
                                             options->for_target);
    if (why)
      ws_log(WS_LOG_WARN, "%s: the term '%s' is left out: %s",
             options->terms_file, ws_time_terms_text(*out, t), why);
  }
  return WS_OK;
}

ws_status emit_options_input(const emit_options *options, ws_archive *archive,
                             ws_arena *arena, ws_dispatch_entry *entries,
                             int *entry_count, ws_matrix *out_matrix,
                             ws_selection_input *out_input, ws_diag *diag) {
  WS_TRY(fill_matrix(options, archive, arena, entries, entry_count, out_matrix,
                     diag));
  *out_input = (ws_selection_input){.problem = options->problem,
                                    .target = options->for_target,
                                    .entries = entries,
                                    .matrix = out_matrix,
                                    .max_portfolio = options->max_kernels,
                                    .max_leaves = options->max_leaves};
  return options->terms_file
             ? read_terms(options, arena, entries, *entry_count,
                          &out_input->terms, diag)
             : WS_OK;
}

ws_status emit_entries(const emit_options *options, ws_archive *archive,
                       ws_arena *arena, ws_dispatch_entry *entries,
                       int *entry_count, ws_matrix *out_training,
                       ws_dispatch_report *out_report, ws_diag *diag) {
  ws_selection_input input;
  WS_TRY(emit_options_input(options, archive, arena, entries, entry_count,
                            out_training, &input, diag));
  const ws_dispatch_options emit = {.name = options->name,
                                    .output_dir = options->out,
                                    .layout = options->layout};
  WS_TRY(ws_dispatch_emit(arena, &input, &emit, out_report, diag));
  const int silent = ws_selection_unmodelled(out_report->selection);
  if (silent)
    ws_log(WS_LOG_WARN,
           "%s: the terms say nothing of %d of the %d kernels; the tree "
           "chooses",
           options->terms_file ? options->terms_file : "the default terms",
           silent, out_report->portfolio_count);
  return WS_OK;
}
