/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith dispatch`: from an archive to a portfolio, rules and the C files
 * that programs compile in; then what the rules lose against the best
 * candidate known, on the shapes they were fitted on and on shape sets that
 * they were not, the held-out set by bands of m too.
 */
#include "emit_options.h"
#include "text_table.h"
#include "tools.h"
#include "wavesmith/sim_error.h"
#include "wavesmith/text.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const ws_option option_rows[] = {EMIT_OPTION_ROWS, TOOL_REFERENCE_ROWS,
                                        WS_OPTIONS_END};

const ws_command dispatch_command = {
    .program = "wavesmith dispatch",
    .purpose = "emit code objects and a C selection function",
    .usage = "ARCHIVE [OPTION ...]",
    .about =
        "Chooses kernels of an archive, fits rules that pick one for a shape, "
        "and\n"
        "writes NAME.h, NAME.c, NAME.json and the code objects.",
    .options = option_rows};

/* ---- work ---------------------------------------------------------------- */

/* Regret on some shapes: of the rules, and of the one kernel that is best
 * alone. */
typedef struct regret_row {
  const char *shapes, *provenance;
  ws_regret rules, one_kernel;
} regret_row;
enum { MAX_ROWS = 16 };

typedef struct dispatch_job {
  emit_options options;
  ws_arena *arena;
  ws_archive *archive;
  ws_dispatch_entry *entries;
  int loaded_count, entry_count; /* in the archive; that take part */
  ws_matrix training;
  ws_dispatch_report emitted;
  regret_row rows[MAX_ROWS];
  int row_count;
  const char **confirmed; /* by kernel of the portfolio; "": it was not */
} dispatch_job;

static ws_status load_and_emit(dispatch_job *job, ws_diag *diag) {
  const emit_options *options = &job->options;
  WS_TRY(ws_archive_open(options->source, false, &job->archive, diag));
  WS_TRY(emit_options_settle(&job->options, job->archive, job->arena, diag));
  WS_TRY(ws_dispatch_load(job->archive, job->arena, options->problem,
                          options->layout, options->target, &job->entries,
                          &job->entry_count, diag));
  job->loaded_count = job->entry_count;
  return emit_entries(options, job->archive, job->arena, job->entries,
                      &job->entry_count, &job->training, &job->emitted, diag);
}

/* What the first of the portfolio loses when it runs every shape, on those that
 * it was timed on; INFINITY: there is one that it does not take. */
static ws_regret one_kernel_regret(const ws_matrix *matrix, int column) {
  ws_regret regret = {.shape_count = 0};
  double sum = 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    const double *row =
        matrix->us + (size_t)s * (size_t)matrix->candidate_count;
    double best = INFINITY;
    for (int c = 0; c < matrix->candidate_count; c++)
      best = fmin(best, row[c]);
    if (isinf(row[column]))
      return (ws_regret){.geomean = INFINITY, .max = INFINITY};
    if (isnan(row[column]))
      continue;
    regret.shape_count++;
    sum += log(row[column] / best);
    if (row[column] / best > regret.max) {
      regret.max = row[column] / best;
      regret.worst = matrix->shapes[s];
    }
  }
  regret.geomean = regret.shape_count ? exp(sum / regret.shape_count) : INFINITY;
  return regret;
}

static void add_row(dispatch_job *job, const char *shapes,
                    const ws_matrix *matrix) {
  if (matrix->shape_count == 0 || job->row_count == MAX_ROWS)
    return;
  job->rows[job->row_count++] = (regret_row){
      shapes, matrix->provenance, ws_selection_regret(job->emitted.selection, matrix),
      one_kernel_regret(matrix, job->emitted.portfolio[0])};
}

static bool is_among(const ws_shape *shape, const ws_shape *shapes, int count) {
  for (int i = 0; i < count; i++)
    if (!memcmp(&shapes[i], shape, sizeof *shape))
      return true;
  return false;
}

/* Where there is no model: the shapes of the set that were timed. */
static void add_timed(dispatch_job *job, const char *name,
                      const ws_shape *shapes, int count) {
  const ws_matrix *all = &job->training;
  const size_t columns = (size_t)all->candidate_count;
  ws_matrix timed = *all;
  ws_shape *rows =
      ws_arena_alloc(job->arena, (size_t)all->shape_count * sizeof *rows);
  timed.us = ws_arena_alloc(job->arena, (size_t)all->shape_count * columns *
                                            sizeof *timed.us);
  timed.shape_count = 0;
  timed.shapes = rows;
  for (int s = 0; s < all->shape_count; s++)
    if (is_among(&all->shapes[s], shapes, count)) {
      memcpy(timed.us + (size_t)timed.shape_count * columns,
             all->us + (size_t)s * columns, columns * sizeof *timed.us);
      rows[timed.shape_count++] = all->shapes[s];
    }
  add_row(job, name, &timed);
}

static ws_status add_set(dispatch_job *job, const char *name,
                         const ws_shape *shapes, int count, ws_diag *diag) {
  ws_matrix matrix;
  if (!job->options.for_target->has_host_model) {
    add_timed(job, name, shapes, count);
    return WS_OK;
  }
  WS_TRY(ws_dispatch_estimate(job->arena, job->options.problem, job->entries,
                              job->entry_count, shapes, count, &matrix, diag));
  add_row(job, name, &matrix);
  return WS_OK;
}

static const struct {
  const char *name;
  int64_t low, high;
} bands[] = {{"<= 64", 1, 64}, {"65..512", 65, 512}, {"> 512", 513, INT64_MAX}};

static ws_status add_bands(dispatch_job *job, const ws_shape_set *set,
                           ws_diag *diag) {
  for (size_t b = 0; b < sizeof bands / sizeof *bands; b++) {
    ws_shape *shapes =
        ws_arena_alloc(job->arena, (size_t)set->count * sizeof *shapes);
    int count = 0;
    for (int i = 0; i < set->count; i++)
      if (set->shapes[i].size[0] >= bands[b].low &&
          set->shapes[i].size[0] <= bands[b].high)
        shapes[count++] = set->shapes[i];
    const char *name =
        ws_arena_printf(job->arena, "  %s %s",
                        job->options.problem->dims->names[0], bands[b].name);
    WS_TRY(add_set(job, name, shapes, count, diag));
  }
  return WS_OK;
}

static ws_status evaluate(dispatch_job *job, ws_diag *diag) {
  add_row(job, "training", &job->training);
  for (int i = 0; i < job->options.problem->shape_set_count; i++) {
    const ws_shape_set *set = &job->options.problem->shape_sets[i];
    WS_TRY(add_set(job, set->name, set->shapes, set->count, diag));
    if (!strcmp(set->name, "held-out"))
      WS_TRY(add_bands(job, set, diag));
  }
  return WS_OK;
}

/* ---- result -------------------------------------------------------------- */

static const ws_candidate *kernel_of(const dispatch_job *job, int position) {
  return job->entries[job->emitted.portfolio[position]].candidate;
}

static const char *description(const dispatch_job *job, int position) {
  const ws_candidate *candidate = kernel_of(job, position);
  const char *variants = ws_candidate_variants_text(job->arena, candidate);
  return ws_arena_printf(job->arena, "%s %s%s%s", candidate->tmpl->name,
                         ws_candidate_values_text(job->arena, candidate),
                         variants[0] ? " " : "", variants);
}

/* By the latest confirmation of each provenance: "sim ok". */
static ws_status confirmed(dispatch_job *job, int position, const char **out,
                           ws_diag *diag) {
  ws_confirmation_row *rows;
  int count;
  *out = "";
  WS_TRY(ws_archive_list_confirmations(job->archive, job->arena,
                                       kernel_of(job, position)->id.hex, &rows,
                                       &count, diag));
  for (int i = 0; i < count; i++)
    *out = ws_arena_printf(job->arena, "%s%s%.*s %s", *out, i ? ", " : "",
                           (int)strcspn(rows[i].provenance, ":"),
                           rows[i].provenance, rows[i].verdict);
  return WS_OK;
}

static ws_status read_confirmations(dispatch_job *job, ws_diag *diag) {
  int count = job->emitted.portfolio_count;
  job->confirmed =
      ws_arena_alloc(job->arena, sizeof *job->confirmed * (size_t)count);
  for (int p = 0; p < count; p++)
    WS_TRY(confirmed(job, p, &job->confirmed[p], diag));
  return WS_OK;
}

/* Values one a word, so that lines can be broken. */
static void print_kernel(const dispatch_job *job, int position) {
  char *text = ws_arena_printf(
      job->arena, "kernel %-2d %.8s  confirmed: %s  %s", position,
      kernel_of(job, position)->id.hex,
      *job->confirmed[position] ? job->confirmed[position] : "no",
      description(job, position));
  for (char *at = text; *at; at++)
    if (*at == ';')
      *at = ' ';
  ws_text_print_wrapped(stdout, TEXT_COLUMNS, 0, 10, text);
}

/* "-": there is no shape that it is of. */
static const char *ratio_text(ws_arena *arena, const ws_regret *of,
                              double ratio) {
  return of->shape_count ? ws_arena_printf(arena, "%.3f", ratio) : "-";
}

static void print_regrets(const dispatch_job *job) {
  ws_arena *arena = job->arena;
  text_table table = text_table_create(
      arena, "llrrrlrr",
      (const char *const[]){"shapes", "times are", "count", "geomean", "max",
                            "where", "one for all", "max"});
  for (int i = 0; i < job->row_count; i++) {
    const regret_row *row = &job->rows[i];
    const ws_regret *r = &row->rules;
    text_table_add(
        &table,
        (const char *const[]){
            row->shapes,
            ws_arena_printf(arena, "%.*s", (int)strcspn(row->provenance, ":"),
                            row->provenance),
            ws_arena_printf(arena, "%d", r->shape_count),
            ratio_text(arena, r, r->geomean), ratio_text(arena, r, r->max),
            r->shape_count ? ws_shape_text(arena, &r->worst) : "-",
            ratio_text(arena, &row->one_kernel, row->one_kernel.geomean),
            ratio_text(arena, &row->one_kernel, row->one_kernel.max)});
  }
  puts("\nregret: time of the chosen kernel / of the best candidate; of one "
       "kernel for all shapes");
  text_table_print(&table);
  puts("");
}

/* Training shapes on which another candidate is faster, but not so that the
 * model could tell. */
static int count_equal(const dispatch_job *job) {
  const ws_matrix *matrix = &job->training;
  const double coin = ws_sim_error_coin(matrix->provenance);
  int count = 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    const double *row =
        matrix->us + (size_t)s * (size_t)matrix->candidate_count;
    const int pick = ws_selection_pick(job->emitted.selection, &matrix->shapes[s]);
    const double us = pick < 0 ? INFINITY : row[job->emitted.portfolio[pick]];
    double best = INFINITY;
    for (int c = 0; c < matrix->candidate_count; c++)
      best = fmin(best, row[c]);
    count += us > best && us < best * (1 + coin);
  }
  return count;
}

static void print_model_error(const dispatch_job *job) {
  const double coin = ws_sim_error_coin(job->training.provenance);
  if (!(coin > 0))
    return;
  ws_text_print_wrapped(
      stdout, TEXT_COLUMNS, 0, 0,
      ws_arena_printf(
          job->arena,
          "The model cannot put kernels in order that are less than %.0f %% "
          "apart on a shape (%s); of such that which serves more shapes is "
          "shipped: on %d of %d shapes another candidate is faster, by less.",
          100 * coin,
          ws_sim_error_pairs_text(job->arena, ws_sim_error_pairs_below(coin)),
          count_equal(job), job->training.shape_count));
}

static void print_text(const dispatch_job *job) {
  const ws_dispatch_report *emitted = &job->emitted;
  printf("%s: %d kernels of %d candidates, %d rules; times are %s\n\n",
         job->options.name, emitted->portfolio_count, job->loaded_count,
         emitted->leaf_count, job->training.provenance);
  if (job->entry_count < job->loaded_count)
    printf("%d of the candidates have such times on all shapes of %s, or on twelve\n\n",
           job->entry_count, job->options.shapes);
  for (int p = 0; p < emitted->portfolio_count; p++)
    print_kernel(job, p);
  print_model_error(job);
  print_regrets(job);
  for (int i = 0; i < emitted->file_count; i++)
    puts(emitted->files[i]);
}

static cJSON *regret_json(const ws_regret *regret) {
  cJSON *object = cJSON_CreateObject();
  if (regret->shape_count) {
    cJSON_AddNumberToObject(object, "geomean", regret->geomean);
    cJSON_AddNumberToObject(object, "max", regret->max);
  } else {
    cJSON_AddNullToObject(object, "geomean");
    cJSON_AddNullToObject(object, "max");
  }
  cJSON *worst = cJSON_AddArrayToObject(object, "worst_shape");
  const ws_shape *shape = &regret->worst;
  for (int i = 0; shape->dims && i < shape->dims->count; i++)
    cJSON_AddItemToArray(worst, cJSON_CreateNumber((double)shape->size[i]));
  return object;
}

static void print_json(const dispatch_job *job) {
  const ws_dispatch_report *emitted = &job->emitted;
  cJSON *root = cJSON_CreateObject();
  WS_ASSERT(root != NULL);
  cJSON_AddStringToObject(root, "name", job->options.name);
  cJSON_AddStringToObject(root, "provenance", job->training.provenance);
  cJSON_AddNumberToObject(root, "candidates", job->loaded_count);
  cJSON_AddNumberToObject(root, "candidates_timed", job->entry_count);
  cJSON_AddNumberToObject(root, "rules", emitted->leaf_count);
  if (ws_sim_error_coin(job->training.provenance) > 0) {
    cJSON_AddNumberToObject(root, "equal_below",
                            ws_sim_error_coin(job->training.provenance));
    cJSON_AddNumberToObject(root, "equal_shapes", count_equal(job));
  }
  cJSON *kernels = cJSON_AddArrayToObject(root, "kernels");
  for (int p = 0; p < emitted->portfolio_count; p++) {
    cJSON *kernel = cJSON_CreateObject();
    cJSON_AddStringToObject(kernel, "candidate", kernel_of(job, p)->id.hex);
    cJSON_AddStringToObject(kernel, "parameters", description(job, p));
    cJSON_AddStringToObject(kernel, "confirmed", job->confirmed[p]);
    cJSON_AddItemToArray(kernels, kernel);
  }
  cJSON *regrets = cJSON_AddArrayToObject(root, "regret");
  for (int i = 0; i < job->row_count; i++) {
    cJSON *row = cJSON_CreateObject();
    const char *name = job->rows[i].shapes;
    cJSON_AddStringToObject(row, "shapes", name + strspn(name, " "));
    cJSON_AddStringToObject(row, "provenance", job->rows[i].provenance);
    cJSON_AddNumberToObject(row, "count", job->rows[i].rules.shape_count);
    cJSON_AddItemToObject(row, "rules", regret_json(&job->rows[i].rules));
    cJSON_AddItemToObject(row, "one_kernel",
                          regret_json(&job->rows[i].one_kernel));
    cJSON_AddItemToArray(regrets, row);
  }
  cJSON *files = cJSON_AddArrayToObject(root, "files");
  for (int i = 0; i < emitted->file_count; i++)
    cJSON_AddItemToArray(files, cJSON_CreateString(emitted->files[i]));
  char *text = cJSON_Print(root);
  WS_ASSERT(text != NULL);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(root);
}

static ws_status run(dispatch_job *job, ws_diag *diag) {
  WS_TRY(load_and_emit(job, diag));
  WS_TRY(read_confirmations(job, diag));
  return evaluate(job, diag);
}

int tool_dispatch(int argc, char **argv) {
  ws_diag diag = {""};
  dispatch_job job = {.arena = NULL};
  ws_status status = emit_options_parse(&dispatch_command, "archive", argc,
                                        argv, &job.options, &diag);
  if (status != WS_OK)
    return tool_fail("dispatch", status, &diag);
  if (job.options.help)
    return tool_help(&dispatch_command);
  job.arena = ws_arena_create();
  status = run(&job, &diag);
  if (status == WS_OK && job.options.json)
    print_json(&job);
  else if (status == WS_OK)
    print_text(&job);
  ws_archive_close(job.archive);
  ws_arena_destroy(job.arena);
  return status == WS_OK ? 0 : tool_fail("dispatch", status, &diag);
}
