/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith iree`: a tuning spec of the IREE compiler for shapes, from the
 * kernels of an archive (wavesmith/iree.h). A shape on which none of them was
 * timed gets the one that the dispatch would choose among them.
 */
#include "emit_options.h"
#include "text_table.h"
#include "tools.h"
#include "wavesmith/iree.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

typedef struct iree_options {
  emit_options emit; /* first: its rows count from the beginning */
  const char *shapes, *out;
} iree_options;

static const ws_option option_rows[] = {
    {"out", "FILE", "where the spec goes (default: tuning_spec.mlir)",
     WS_OPTION_TEXT, .offset = offsetof(iree_options, out)},
    EMIT_SOURCE_ROWS,
    WS_OPTIONS_END};

const ws_command iree_command = {
    .program = "wavesmith iree",
    .purpose = "a tuning spec of the IREE compiler from an archive",
    .usage = "ARCHIVE|FOLDER SHAPES [OPTION ...]",
    .about =
        "Writes, for each of SHAPES (shapes, shape sets or logs of shapes, "
        "with ';'\nbetween), the lowering configuration that the fastest of "
        "the archive's kernels\nthere comes to in IREE, for iree-compile "
        "--iree-codegen-tuning-spec-path=FILE\n(docs/iree.md).",
    .options = option_rows};

typedef struct iree_job {
  iree_options options;
  ws_arena *arena;
  ws_archive *archive;
  ws_iree_contraction contraction;
  ws_dispatch_entry *entries;
  int entry_count, config_count; /* all; that IREE has words for, first */
  ws_iree_choice *choices;
  int choice_count;
} iree_job;

/* ---- work ---- */

static ws_status parse(int argc, char **argv, iree_options *out,
                       ws_diag *diag) {
  ws_words words;
  *out = (iree_options){.out = "tuning_spec.mlir"};
  WS_TRY(ws_options_parse(&iree_command, argc, argv, out, &words, diag));
  out->emit.help = words.help;
  if (words.help)
    return WS_OK;
  if (words.count != 2)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted are an archive, or a folder with a text archive, "
                   "and shapes; `wavesmith iree --help` shows how");
  out->emit.source = words.items[0];
  out->shapes = words.items[1];
  return WS_OK;
}

static ws_status load(iree_job *job, ws_diag *diag) {
  emit_options *emit = &job->options.emit;
  WS_TRY(emit_options_open(emit, &job->archive, diag));
  WS_TRY(emit_options_settle(emit, job->archive, job->arena, diag));
  WS_TRY(ws_iree_contraction_of(emit->problem, emit->layout, emit->for_target,
                                &job->contraction, diag));
  WS_TRY(ws_dispatch_load_recorded(job->archive, job->arena, emit->problem,
                                   emit->layout, emit->target, &job->entries,
                                   &job->entry_count, diag));
  return ws_iree_sort(&job->contraction, job->entries, job->entry_count,
                      &job->config_count, diag);
}

static ws_iree_choice *first_untimed(const iree_job *job) {
  for (int i = 0; i < job->choice_count; i++)
    if (!job->choices[i].candidate)
      return &job->choices[i];
  return NULL;
}

/* Of the kernels that IREE has words for; some have no times, and *matrix is
 * of those that have. */
static ws_status make_dispatch(iree_job *job, ws_matrix *matrix,
                               ws_dispatch_entry *entries,
                               ws_dispatch_choice *out, ws_diag *diag) {
  ws_selection_input input;
  int count = job->config_count;
  WS_TRY(emit_options_input(&job->options.emit, job->archive, job->arena,
                            entries, &count, matrix, &input, diag));
  return ws_dispatch_choose(job->arena, &input, out, diag);
}

static ws_status choose_untimed(iree_job *job, ws_diag *diag) {
  ws_diag why = {""};
  ws_dispatch_choice choice;
  ws_matrix *matrix = ws_arena_alloc(job->arena, sizeof *matrix);
  const size_t size = (size_t)job->config_count * sizeof *job->entries;
  ws_dispatch_entry *entries = ws_arena_alloc(job->arena, size);
  memcpy(entries, job->entries, size);
  ws_iree_choice *open = first_untimed(job);
  const ws_status status = make_dispatch(job, matrix, entries, &choice, &why);
  if (status != WS_OK)
    return ws_fail(diag, status, NULL, 0,
                   "%s: no kernel with a counterpart in IREE was timed there, "
                   "and these make no dispatch: %s",
                   ws_shape_named(job->arena, &open->shape), why.text);
  for (; open; open = first_untimed(job)) {
    const int pick = ws_selection_pick(choice.selection, &open->shape);
    WS_ASSERT(pick >= 0); /* legal, and one kernel takes all that is */
    open->candidate = entries[choice.columns[pick]].candidate;
    open->provenance = matrix->provenance;
  }
  return WS_OK;
}

static ws_status choose(iree_job *job, ws_diag *diag) {
  const emit_options *emit = &job->options.emit;
  ws_shape_set set;
  WS_TRY(ws_problem_read_shapes(emit->problem, emit->layout, job->arena,
                                job->options.shapes, &set, diag));
  job->choice_count = set.count;
  job->choices =
      ws_arena_alloc(job->arena, (size_t)set.count * sizeof *job->choices);
  WS_TRY(ws_iree_choose(job->archive, job->arena, job->entries,
                        job->entry_count, job->config_count, emit->provenance,
                        set.shapes, set.count, job->choices, diag));
  return first_untimed(job) ? choose_untimed(job, diag) : WS_OK;
}

static ws_status run(iree_job *job, ws_diag *diag) {
  ws_strbuf text;
  WS_TRY(load(job, diag));
  WS_TRY(choose(job, diag));
  ws_strbuf_init(&text);
  ws_status status =
      ws_iree_spec_print(job->arena, &job->contraction, job->choices,
                         job->choice_count, &text, diag);
  if (status == WS_OK)
    status = ws_file_write_atomic(job->options.out, text.data, text.size, diag);
  ws_strbuf_deinit(&text);
  return status;
}

/* ---- result ---- */

static void print_text(const iree_job *job) {
  ws_arena *arena = job->arena;
  text_table table = text_table_create(
      arena, "llrrl",
      (const char *const[]){ws_dims_text(job->contraction.problem->dims),
                            "candidate", "us", "fastest us", "times"});
  for (int i = 0; i < job->choice_count; i++) {
    const ws_iree_choice *c = &job->choices[i];
    const bool timed = c->us > 0;
    text_table_add(
        &table, (const char *const[]){
                    ws_shape_text(arena, &c->shape),
                    ws_arena_printf(arena, "%.8s", c->candidate->id.hex),
                    timed ? ws_arena_printf(arena, "%.2f", c->us) : "-",
                    timed ? ws_arena_printf(arena, "%.2f", c->fastest_us) : "-",
                    timed ? c->provenance
                          : ws_arena_printf(arena, "not timed; dispatch by %s",
                                            c->provenance)});
  }
  printf("%d of %d kernels have a counterpart in IREE\n", job->config_count,
         job->entry_count);
  text_table_print(&table);
  printf("\n%s\n", job->options.out);
}

static void print_json(const iree_job *job) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddNumberToObject(root, "kernels", job->entry_count);
  cJSON_AddNumberToObject(root, "with_counterpart", job->config_count);
  cJSON *shapes = cJSON_AddArrayToObject(root, "shapes");
  for (int i = 0; i < job->choice_count; i++) {
    const ws_iree_choice *c = &job->choices[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "shape",
                            ws_shape_named(job->arena, &c->shape));
    cJSON_AddStringToObject(item, "candidate", c->candidate->id.hex);
    cJSON_AddStringToObject(item, "provenance", c->provenance);
    cJSON_AddBoolToObject(item, "timed", c->us > 0);
    if (c->us > 0) {
      cJSON_AddNumberToObject(item, "us", c->us);
      cJSON_AddStringToObject(item, "fastest", c->fastest->id.hex);
      cJSON_AddNumberToObject(item, "fastest_us", c->fastest_us);
    }
    cJSON_AddItemToArray(shapes, item);
  }
  cJSON_AddStringToObject(root, "file", job->options.out);
  char *text = cJSON_Print(root);
  WS_ASSERT(text != NULL);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(root);
}

int tool_iree(int argc, char **argv) {
  ws_diag diag = {""};
  iree_job job = {.arena = NULL};
  ws_status status = parse(argc, argv, &job.options, &diag);
  if (status != WS_OK)
    return tool_fail("iree", status, &diag);
  if (job.options.emit.help)
    return tool_help(&iree_command);
  job.arena = ws_arena_create();
  status = run(&job, &diag);
  if (status == WS_OK)
    (job.options.emit.json ? print_json : print_text)(&job);
  ws_archive_close(job.archive);
  ws_arena_destroy(job.arena);
  return status == WS_OK ? 0 : tool_fail("iree", status, &diag);
}
