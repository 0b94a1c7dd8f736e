/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith evolve`: other terms of the time models, from the times of an
 * archive; `wavesmith dispatch --terms` and `build --terms` take them.
 */
#include "emit_options.h"
#include "terms_model.h"
#include "text_table.h"
#include "tools.h"
#include "wavesmith/evolve_terms.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct evolve_options {
  emit_options emit; /* first: its rows count from the beginning */
  const char *out, *model;
  int64_t evaluations;
  uint64_t seed;
  int questions;
} evolve_options;

#define AT(member) .offset = offsetof(evolve_options, member)
static const ws_option option_rows[] = {
    EMIT_SOURCE_ROWS,
    {"out", "FILE", "where the terms go (default: terms.txt)", WS_OPTION_TEXT,
     AT(out)},
    {"evaluations", "N", "judges N changes (default: 1000)", WS_OPTION_INT64,
     AT(evaluations), .low = 1},
    {"seed", "N", "(default: 1)", WS_OPTION_SEED, AT(seed)},
    {"model", "SPEC",
     "a language model that writes terms, too: openai:URL#MODEL, "
     "anthropic:#MODEL, gemini:#MODEL, exchange:DIR (docs/llm.md)",
     WS_OPTION_TEXT, AT(model),
     .choices = "openai: anthropic: gemini: exchange: replay: replay-any:"},
    {"questions", "N", "that the model is asked (default: 4)", WS_OPTION_INT,
     AT(questions), .low = 1, .high = 1000},
    WS_OPTIONS_END};

const ws_command evolve_command = {
    .program = "wavesmith evolve",
    .purpose = "better terms for the time models of a dispatch",
    .usage = "ARCHIVE|FOLDER [OPTION ...]",
    .about =
        "Changes the terms of the time models, keeps what chooses better on "
        "shapes that\nwere left out, and says what that comes to on shapes "
        "that it never saw.",
    .options = option_rows};

typedef struct evolve_job {
  evolve_options options;
  ws_arena *arena;
  ws_archive *archive;
  ws_matrix matrix;
  ws_evolve_report report;
} evolve_job;

/* ---- work ---- */

static ws_status parse(int argc, char **argv, evolve_options *out,
                       ws_diag *diag) {
  ws_words words;
  *out = (evolve_options){
      .out = "terms.txt", .evaluations = 1000, .seed = 1, .questions = 4};
  WS_TRY(ws_options_parse(&evolve_command, argc, argv, out, &words, diag));
  out->emit.help = words.help;
  if (words.help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one archive, or a folder with a text archive; "
                   "`wavesmith evolve --help` shows how");
  out->emit.source = words.items[0];
  return WS_OK;
}

static ws_status run(evolve_job *job, ws_diag *diag) {
  emit_options *emit = &job->options.emit;
  ws_dispatch_entry *entries;
  ws_selection_input input;
  terms_model *model = NULL;
  int count;
  WS_TRY(emit_options_open(emit, &job->archive, diag));
  WS_TRY(emit_options_settle(emit, job->archive, job->arena, diag));
  WS_TRY(ws_dispatch_load_recorded(job->archive, job->arena, emit->problem,
                                   emit->layout, emit->target, &entries, &count,
                                   diag));
  WS_TRY(emit_options_input(emit, job->archive, job->arena, entries, &count,
                            &job->matrix, &input, diag));
  if (job->options.model)
    WS_TRY(terms_model_open(job->options.model, emit->problem, &model, diag));
  const ws_evolve_options evolve = {.evaluations = job->options.evaluations,
                                    .seed = job->options.seed,
                                    .ask = model ? terms_model_ask : NULL,
                                    .context = model,
                                    .questions = job->options.questions};
  const ws_status status =
      ws_terms_evolve(job->arena, &input, &evolve, &job->report, diag);
  terms_model_close(model);
  if (status != WS_OK)
    return status;
  return ws_file_write_atomic(job->options.out, job->report.terms,
                              strlen(job->report.terms), diag);
}

/* ---- result ---- */

/* Of bands: all of them together, too. */
typedef struct lost {
  double ln_loss, worst;
  int shapes;
} lost;

static lost sum_bands(const ws_band *bands, int first, int last, ws_form form) {
  lost sum = {0, 0, 0};
  for (int b = first; b <= last; b++) {
    sum.ln_loss += bands[b].ln_loss[form] * bands[b].shape_count;
    sum.worst = fmax(sum.worst, bands[b].worst[form]);
    sum.shapes += bands[b].shape_count;
  }
  sum.ln_loss /= sum.shapes ? sum.shapes : 1;
  return sum;
}

static const struct {
  const char *name;
  ws_form form;
  bool evolved;
} forms[] = {{"nearest shape", WS_FORM_NEAREST, false},
             {"tree", WS_FORM_TREE, false},
             {"terms before", WS_FORM_MODELS, false},
             {"terms evolved", WS_FORM_MODELS, true},
             {"best kept kernel", WS_FORM_ORACLE, false}};
enum { FORM_ROWS = sizeof forms / sizeof *forms };

static lost lost_by(const ws_evolve_report *r, int row, int first, int last) {
  return sum_bands(forms[row].evolved ? r->after : r->before, first, last,
                   forms[row].form);
}

static bool is_better(const ws_evolve_report *r) {
  const int last = r->band_count - 1;
  return sum_bands(r->after, 0, last, WS_FORM_MODELS).ln_loss <
         sum_bands(r->before, 0, last, WS_FORM_MODELS).ln_loss;
}

static const char *band_name(const evolve_job *job, int band) {
  const ws_band *b = &job->report.before[band];
  const char *name = job->options.emit.problem->dims->names[0];
  if (b->last == INT64_MAX)
    return ws_arena_printf(job->arena, "%s from %lld", name,
                           (long long)b->first);
  return ws_arena_printf(job->arena, "%s %lld to %lld", name,
                         (long long)b->first, (long long)b->last);
}

static void add_row(const evolve_job *job, text_table *table, const char *name,
                    int first, int last) {
  const char *cells[2 + FORM_ROWS] = {name};
  for (int row = 0; row < FORM_ROWS; row++) {
    const lost l = lost_by(&job->report, row, first, last);
    cells[1] = ws_arena_printf(job->arena, "%d", l.shapes);
    cells[2 + row] = l.shapes ? ws_arena_printf(job->arena, "%.3f %.2f",
                                                exp(l.ln_loss), l.worst)
                              : "-";
  }
  text_table_add(table, cells);
}

static void print_text(const evolve_job *job) {
  const ws_evolve_report *r = &job->report;
  printf("%d terms after %lld evaluations, %lld kept; times are %s\n"
         "loss by turns on %d of %d groups of shapes: %.4f, was %.4f "
         "(%d kernels)\n\n%s\n",
         r->term_count, (long long)r->evaluations, (long long)r->accepted,
         job->matrix.provenance, r->seen_groups, r->group_count,
         exp(r->ln_loss_after), exp(r->ln_loss_before), r->kernel_count,
         r->terms);
  if (r->answers)
    printf("%d answers, %d could not be read%s%s\n\n", r->answers, r->refused,
           r->refused ? ", the last: " : "", r->refusal);
  const char *headings[2 + FORM_ROWS] = {"", "shapes"};
  for (int row = 0; row < FORM_ROWS; row++)
    headings[2 + row] = forms[row].name;
  text_table table = text_table_create(job->arena, "lrrrrrr", headings);
  for (int b = 0; b < r->band_count; b++)
    add_row(job, &table, band_name(job, b), b, b);
  add_row(job, &table, "all", 0, r->band_count - 1);
  printf("time of the choice / of the best candidate, mean and worst, on %d "
         "groups never seen\n",
         r->group_count - r->seen_groups);
  text_table_print(&table);
  if (!is_better(r))
    puts("\nThe evolved terms choose no better there than those before: what "
         "they gained on the\nothers was luck. More shapes, or fewer "
         "evaluations, may do.");
  printf("\n%s\n", job->options.out);
}

static cJSON *lost_json(const evolve_job *job, int first, int last) {
  cJSON *object = cJSON_CreateObject();
  for (int row = 0; row < FORM_ROWS; row++) {
    const lost l = lost_by(&job->report, row, first, last);
    cJSON *form = cJSON_AddObjectToObject(object, forms[row].name);
    cJSON_AddNumberToObject(form, "geomean", exp(l.ln_loss));
    cJSON_AddNumberToObject(form, "max", l.worst);
    if (!row)
      cJSON_AddNumberToObject(object, "shapes", l.shapes);
  }
  return object;
}

static void print_json(const evolve_job *job) {
  const ws_evolve_report *r = &job->report;
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "provenance", job->matrix.provenance);
  cJSON_AddStringToObject(root, "terms", r->terms);
  cJSON_AddNumberToObject(root, "evaluations", (double)r->evaluations);
  cJSON_AddNumberToObject(root, "accepted", (double)r->accepted);
  cJSON_AddNumberToObject(root, "answers", r->answers);
  cJSON_AddNumberToObject(root, "refused", r->refused);
  cJSON_AddNumberToObject(root, "groups", r->group_count);
  cJSON_AddNumberToObject(root, "groups_seen", r->seen_groups);
  cJSON_AddNumberToObject(root, "kernels", r->kernel_count);
  cJSON_AddNumberToObject(root, "seen_before", exp(r->ln_loss_before));
  cJSON_AddNumberToObject(root, "seen_after", exp(r->ln_loss_after));
  cJSON *bands = cJSON_AddArrayToObject(root, "unseen_bands");
  for (int b = 0; b < r->band_count; b++) {
    cJSON *band = lost_json(job, b, b);
    cJSON_AddNumberToObject(band, "first", (double)r->before[b].first);
    cJSON_AddItemToArray(bands, band);
  }
  cJSON_AddItemToObject(root, "unseen", lost_json(job, 0, r->band_count - 1));
  cJSON_AddBoolToObject(root, "better", is_better(r));
  cJSON_AddStringToObject(root, "file", job->options.out);
  char *text = cJSON_Print(root);
  WS_ASSERT(text != NULL);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(root);
}

int tool_evolve(int argc, char **argv) {
  ws_diag diag = {""};
  evolve_job job = {.arena = NULL};
  ws_status status = parse(argc, argv, &job.options, &diag);
  if (status != WS_OK)
    return tool_fail("evolve", status, &diag);
  if (job.options.emit.help)
    return tool_help(&evolve_command);
  job.arena = ws_arena_create();
  status = run(&job, &diag);
  if (status == WS_OK)
    (job.options.emit.json ? print_json : print_text)(&job);
  ws_archive_close(job.archive);
  ws_arena_destroy(job.arena);
  return status == WS_OK ? 0 : tool_fail("evolve", status, &diag);
}
