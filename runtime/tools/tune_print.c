/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a tuning run found, in the order of what a reader asks: how fast each
 * shape is now, what would be shipped and whether that was confirmed, which
 * parameters these kernels have, what the run cost, how to go on. A kernel is
 * shown where it is chosen; what it does elsewhere nobody meets.
 */
#include "tune_print.h"
#include "text_table.h"
#include "wavesmith/sim_error.h"
#include "wavesmith/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ---- */
/* "estimate" of "estimate:bound-model-1:MI300X". */
static int kind_size(const char *provenance) {
  return (int)strcspn(provenance, ":");
}

static const char *us_cell(ws_arena *arena, double us) {
  return us > 0 ? ws_arena_printf(arena, "%.2f", us) : "-";
}

/* "1.07x =": of simulated times that the model cannot tell apart. */
static const char *factor_cell(ws_arena *arena, const char *provenance,
                               double speedup) {
  if (!(speedup > 0))
    return "-";
  return ws_arena_printf(arena, "%.2fx%s", speedup,
                         ws_sim_error_are_equal(provenance, speedup, 1) ? " ="
                                                                        : "");
}

static const char *shape_cell(ws_arena *arena, const ws_shape *shape) {
  return ws_shape_text(arena, shape);
}

static const char *id_cell(ws_arena *arena, const char *id) {
  return *id ? ws_arena_printf(arena, "%.8s", id) : "-";
}

/* ---- shapes ---- */
/* The model's columns are there where a simulator's times are. */
enum { SHAPE_COLUMNS = 9 };
static const char shape_alignment[] = "lrrlrlrll";
static bool is_of_the_model(int column) { return column == 3 || column == 6; }

static bool has_model(const ws_tune_result *result) {
  bool has = false;
  for (int i = 0; i < result->row_count; i++)
    has |= result->rows[i].model_error > 0;
  return has;
}

static text_table shape_table(ws_arena *arena, bool model,
                              const char *const headings[SHAPE_COLUMNS]) {
  const char *shown[SHAPE_COLUMNS];
  char alignment[SHAPE_COLUMNS + 1];
  int count = 0;
  for (int i = 0; i < SHAPE_COLUMNS; i++)
    if (model || !is_of_the_model(i)) {
      alignment[count] = shape_alignment[i];
      shown[count++] = headings[i];
    }
  alignment[count] = 0;
  return text_table_create(arena, ws_arena_strdup(arena, alignment), shown);
}

static void add_cells(text_table *table,
                      const char *const cells[SHAPE_COLUMNS]) {
  const char *shown[SHAPE_COLUMNS];
  int count = 0;
  for (int i = 0; i < SHAPE_COLUMNS; i++)
    if (table->columns == SHAPE_COLUMNS || !is_of_the_model(i))
      shown[count++] = cells[i];
  text_table_add(table, shown);
}

static void add_shape(text_table *table, const ws_tune_row *row) {
  ws_arena *arena = table->arena;
  bool both = row->baseline_us > 0 && row->best_us > 0;
  add_cells(table,
            (const char *const[]){
                shape_cell(arena, &row->shape),
                us_cell(arena, row->baseline_us), us_cell(arena, row->best_us),
                ws_sim_error_text(arena, row->model_error),
                factor_cell(arena, row->provenance,
                            both ? row->baseline_us / row->best_us : 0),
                id_cell(arena, row->best_id),
                row->equal
                    ? ws_arena_printf(arena, "%lld", (long long)row->equal)
                    : "",
                row->bound,
                ws_arena_printf(arena, "%.*s", kind_size(row->provenance),
                                row->provenance)});
}

static void add_mean(text_table *table, const ws_tune_result *result) {
  ws_arena *arena = table->arena;
  double baseline = result->baseline_geomean_us, best = result->best_geomean_us;
  if (!(best > 0))
    return;
  add_cells(
      table,
      (const char *const[]){
          "geometric mean", us_cell(arena, baseline), us_cell(arena, best), "",
          factor_cell(arena, result->geomean_provenance,
                      baseline > 0 ? baseline / best : 0),
          "", "", "",
          ws_arena_printf(arena, "%.*s", kind_size(result->geomean_provenance),
                          result->geomean_provenance)});
}

static void print_shapes(ws_arena *arena, const ws_tune_result *result) {
  text_table table = shape_table(
      arena, has_model(result),
      (const char *const[]){result->row_count
                                ? ws_dims_text(result->rows[0].shape.dims)
                                : "shape",
                            "naive us", "best us", "model", "speed-up",
                            "candidate", "equal", "bound", "provenance"});
  for (int i = 0; i < result->row_count; i++)
    add_shape(&table, &result->rows[i]);
  add_mean(&table, result);
  puts("");
  text_table_print(&table);
  if (result->geomean_shapes > 0 && result->geomean_shapes < result->row_count)
    printf("The geometric mean is over the %d shapes%s.\n",
           result->geomean_shapes,
           result->baseline_geomean_us > 0 ? " that the naive has a time on"
                                           : " that have such a time");
}

/* ---- bands of a large set ---- */
static const char *band_cell(ws_arena *arena, const ws_tune_band *band) {
  return band->last == INT64_MAX
             ? ws_arena_printf(arena, "%lld-", (long long)band->first)
             : ws_arena_printf(arena, "%lld-%lld", (long long)band->first,
                               (long long)band->last);
}

static void add_band(text_table *table, const char *name,
                     const ws_tune_result *result, const ws_tune_band *band) {
  ws_arena *arena = table->arena;
  const bool left_out = band->left_out > 0;
  text_table_add(
      table,
      (const char *const[]){
          name, ws_arena_printf(arena, "%d", band->shapes),
          ws_arena_printf(arena, "%d", band->timed),
          us_cell(arena, band->baseline_us), us_cell(arena, band->best_us),
          left_out ? ws_arena_printf(arena, "%d", band->left_out) : "-",
          factor_cell(arena, result->shipped_by, band->left_out_geomean),
          factor_cell(arena, result->shipped_by, band->left_out_worst)});
}

static void print_bands(ws_arena *arena, const ws_tune_result *result) {
  text_table table = text_table_create(
      arena, "lrrrrrrr",
      (const char *const[]){result->rows[0].shape.dims->names[0], "shapes",
                            "timed", "naive us", "best us", "left out", "loss",
                            "worst"});
  for (int i = 0; i < result->band_count; i++)
    add_band(&table, band_cell(arena, &result->bands[i]), result,
             &result->bands[i]);
  add_band(&table, "all", result, &result->all_bands);
  puts("");
  text_table_print(&table);
  ws_text_print_wrapped(
      stdout, TEXT_COLUMNS, 0, 0,
      ws_arena_printf(
          arena,
          "Times are geometric means over the shapes that have one of "
          "provenance %.*s. left out, loss, worst: what a dispatch by %s, made "
          "without all shapes of the same other sizes, takes there against the "
          "best that is known, on so many shapes where that was timed. --json "
          "has each shape.",
          kind_size(result->geomean_provenance), result->geomean_provenance,
          *result->shipped_by ? result->shipped_by : "nothing yet"));
}

/* What the numbers are, one line per provenance shown. */
static void print_provenances(const ws_tune_result *result) {
  bool device = false, estimate = false;
  for (int i = 0; i < result->row_count; i++) {
    const char *provenance = result->rows[i].provenance;
    if (*provenance && !strcmp(provenance, result->provenance))
      device = true;
    else if (*provenance)
      estimate = true;
  }
  if (device)
    printf("Times of provenance %.*s: %s%s.\n", kind_size(result->provenance),
           result->provenance, result->provenance,
           strncmp(result->provenance, "sim:", 4)
               ? ""
               : " (simulated, not measured)");
  if (estimate)
    printf("%s was measured: %s.\n",
           device ? "No time of provenance estimate" : "No time above",
           WS_PROVENANCE_ESTIMATE);
}

/* What the simulator's error means for the table above. */
static void print_model_error(ws_arena *arena, const ws_tune_result *result) {
  int64_t equal = 0;
  int shapes = 0;
  const char *provenance = NULL;
  for (int i = 0; i < result->row_count; i++) {
    const ws_tune_row *row = &result->rows[i];
    provenance = row->model_error > 0 ? row->provenance : provenance;
    equal += row->equal;
    shapes += row->equal > 0;
  }
  if (!provenance)
    return;
  const double below = ws_sim_error_equal(provenance);
  ws_text_print_wrapped(
      stdout, TEXT_COLUMNS, 0, 0,
      ws_arena_printf(
          arena,
          "model: so far from simulated times were 68 of 100 measured ones. "
          "Kernels on one shape less than %.0f %% apart are equal (=) within "
          "the "
          "model's error: %s. On %d shapes %lld other candidates are equal to "
          "the best.",
          100 * below,
          ws_sim_error_pairs_text(arena, ws_sim_error_pairs_below(below)),
          shapes, (long long)equal));
}

/* ---- what is shipped ---- */
static const char *chosen_cell(ws_arena *arena, const ws_tune_kernel *kernel) {
  enum { NAMED = 2 };
  const char *text = "";
  for (int i = 0; i < kernel->chosen_count && i < NAMED; i++)
    text = ws_arena_printf(arena, "%s%s%s", text, i ? " " : "",
                           shape_cell(arena, &kernel->chosen[i]));
  return kernel->chosen_count > NAMED ? ws_arena_printf(arena, "%s ...", text)
                                      : text;
}

static void add_kernel(text_table *table, const char *name, const char *state,
                       const ws_tune_kernel *kernel, const char *by,
                       const char *where) {
  ws_arena *arena = table->arena;
  const ws_tune_gain *held_out = &kernel->held_out;
  text_table_add(
      table,
      (const char *const[]){
          name, state, ws_arena_printf(arena, "%d", kernel->chosen_count),
          factor_cell(arena, by, kernel->over_start.speedup),
          factor_cell(arena, by, kernel->over_baseline.speedup),
          held_out->shapes
              ? ws_arena_printf(arena, "%s (%d)",
                                factor_cell(arena, by, held_out->speedup),
                                held_out->shapes)
              : "-",
          where});
}

static const char *state_of(const ws_tune_result *result,
                            const ws_tune_kernel *kernel) {
  return *kernel->verdict                        ? kernel->verdict
         : !strcmp(kernel->id, result->start_id) ? "(start)"
         : *result->provenance                   ? "not yet"
                                                 : "no device";
}

static void print_shipped(ws_arena *arena, const ws_tune_result *result) {
  if (!result->kernel_count)
    return;
  printf("\nWhat `wavesmith dispatch` ships, chosen by %s, what gains most "
         "first.\nGains where each is chosen: over %.8s, with which the run "
         "began, and over the naive;\nheld-out: over %.8s on shapes (so many) "
         "that no choice was made by.\n",
         result->shipped_by, result->start_id, result->start_id);
  text_table table = text_table_create(
      arena, "llrrrrl",
      (const char *const[]){"kernel", "confirmed", "shapes", "over start",
                            "over naive", "held-out", "chosen for"});
  int elsewhere = 0;
  for (int i = 0; i < result->kernel_count; i++) {
    const ws_tune_kernel *kernel = &result->kernels[i];
    elsewhere += !kernel->chosen_count;
    if (kernel->chosen_count)
      add_kernel(&table, id_cell(arena, kernel->id), state_of(result, kernel),
                 kernel, result->shipped_by, chosen_cell(arena, kernel));
  }
  add_kernel(&table, "all", "", &result->portfolio, result->shipped_by, "");
  text_table_print(&table);
  if (elsewhere)
    printf("%d more kernels are chosen on other shapes alone.\n", elsewhere);
  for (int i = 0; i < result->kernel_count; i++)
    if (*result->kernels[i].reason)
      ws_text_print_wrapped(stdout, TEXT_COLUMNS, 0, 0,
                            ws_arena_printf(arena, "%.8s %s: %s",
                                            result->kernels[i].id,
                                            result->kernels[i].verdict,
                                            result->kernels[i].reason));
}

/* Winners that failed are shipped no more. */
static void print_refuted(ws_arena *arena, const ws_tune_result *result) {
  ws_verdict verdict;
  for (int i = 0; i < result->confirmation_count; i++) {
    const ws_confirmation_row *row = &result->confirmations[i];
    if (ws_verdict_parse(row->verdict, &verdict) && verdict != WS_VERDICT_OK &&
        verdict != WS_VERDICT_SLOW)
      ws_text_print_wrapped(stdout, TEXT_COLUMNS, 0, 0,
                            ws_arena_printf(arena, "Refuted: %.8s %s: %s",
                                            row->candidate_id, row->verdict,
                                            row->reason));
  }
}

static int count_best_on(const ws_tune_result *result, const char *id) {
  int count = 0;
  for (int i = 0; i < result->row_count; i++)
    count += !strcmp(result->rows[i].best_id, id);
  return count;
}

/* Of each candidate of the first table once; on a large set of those that are
 * the best on a twentieth of the shapes. */
static void print_parameters(ws_arena *arena, const ws_tune_result *result) {
  const int least = result->band_count ? (result->row_count + 19) / 20 : 1;
  printf("\nParameters unlike the defaults%s:\n",
         result->band_count ? ", of what is the best on most shapes" : "");
  for (int i = 0; i < result->row_count; i++) {
    const ws_tune_row *row = &result->rows[i];
    int before = 0;
    while (strcmp(result->rows[before].best_id, row->best_id))
      before++;
    if (before == i && *row->best_id &&
        count_best_on(result, row->best_id) >= least)
      ws_text_print_wrapped(
          stdout, TEXT_COLUMNS, 0, 10,
          ws_arena_printf(arena, "%.8s  %s", row->best_id, row->changes));
  }
}

/* ---- what it cost ---- */
static void print_counts(const ws_tune_result *result) {
  const char *separator = "; verdicts: ";
  if (result->awaited)
    printf("\nThis run: %lld candidates wait for their times, %lld are judged",
           (long long)result->awaited, (long long)result->evaluated);
  else
    printf("\nThis run: %lld candidates built in %.1f s",
           (long long)result->evaluated, result->seconds);
  printf(", %lld known from the archive", (long long)result->replayed);
  if (result->further)
    printf(", %lld times a known one on further shapes",
           (long long)result->further);
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (result->verdicts[i]) {
      printf("%s%s %lld", separator, ws_verdict_text((ws_verdict)i),
             (long long)result->verdicts[i]);
      separator = ", ";
    }
  printf("\n");
}

static void print_device(const ws_tune_result *result) {
  const ws_tune_agreement *a = &result->agreement;
  if (*result->ranking)
    printf("Ranking:  %s\n", result->ranking);
  if (!*result->provenance)
    return;
  printf("Device:   %lld candidates verified, %lld refuted, %lld pairs of "
         "candidate and shape timed\n",
         (long long)result->verified, (long long)result->refuted,
         (long long)result->timed);
  if (result->uncompared)
    printf("Not compared: %lld pairs of candidate and shape; the reference, "
           "kernel %s, does not take the shape, or takes too long on it\n",
           (long long)result->uncompared,
           ws_problem_find(result->problem)->kernel->file);
  if (a->shapes > 0)
    printf("Bound model against device: %lld pairs, device / estimate %.2f in "
           "the median;\n  rank correlation by shape (%d shapes with %d or "
           "more candidates): median %.2f, worst %.2f;\n  the best by estimate "
           "is the best on the device on %d of them, elsewhere up to %.2f x "
           "slower\n",
           (long long)a->pairs, a->median_ratio, a->shapes, WS_AGREEMENT_LEAST,
           a->median_spearman, a->worst_spearman, a->same_best,
           a->worst_regret);
}

static void print_models(const ws_tune_result *result) {
  if (result->questions > 0)
    printf("Models:   %lld questions, %lld tokens in, %lld out, %.4f USD; %lld "
           "documents, %lld replies without a candidate\n",
           (long long)result->questions, (long long)result->prompt_tokens,
           (long long)result->reply_tokens, result->usd,
           (long long)result->documents, (long long)result->refused);
  if (result->moves > 0)
    printf("          %lld small moves by the tool around their answers\n",
           (long long)result->moves);
  if (*result->stop && !result->awaited)
    printf("Ended:    %s\n", result->stop);
}

/* ---- how to go on ---- */
/* What would make a further run find more. */
static const char *how_to_go_on(const ws_tune_result *result,
                                const ws_tune_options *options) {
  if (result->exhausted)
    return "nothing is left to try: no further legal point was found";
  if (!result->interrupted && options->evaluations > 0 &&
      result->evaluated + result->replayed + result->further + result->refused -
              result->moves >=
          options->evaluations)
    return "the same command with a larger --evaluations (it counts the known "
           "ones too), or with another --seed";
  return "the same command again; what is known is not built again";
}

/* As a shell takes it. */
static const char *quoted(ws_arena *arena, const char *text) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_./,:=@%+-"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (*text && !text[strspn(text, plain)])
    return text;
  const char *out = "'";
  for (const char *at = text; *at; at++)
    out = *at == '\'' ? ws_arena_printf(arena, "%s'\\''", out)
                      : ws_arena_printf(arena, "%s%c", out, *at);
  return ws_arena_printf(arena, "%s'", out);
}

/* Where it was found, so that it is found again. */
static const char *program(ws_arena *arena) {
  return quoted(arena, program_invocation_name);
}

/* What --problem takes: the file that it came from, else its name. */
static const char *problem_word(ws_arena *arena, const char *name) {
  const ws_problem *problem = ws_problem_find(name);
  return problem && *problem->file ? quoted(arena, problem->file) : name;
}

/* For commands that find a shipped problem by themselves. */
static const char *problem_option(ws_arena *arena, const char *name) {
  const ws_problem *problem = ws_problem_find(name);
  return problem && *problem->file
             ? ws_arena_printf(arena, " --problem %s",
                               quoted(arena, problem->file))
             : "";
}

/* " --reference naive.ll --tolerance 0.1,0" where a kernel is it. */
static const char *reference_words(ws_arena *arena, const char *name) {
  const ws_problem *problem = ws_problem_find(name);
  const ws_reference_kernel *kernel = problem ? problem->kernel : NULL;
  if (!kernel)
    return "";
  const char *words =
      ws_arena_printf(arena, " --reference %s", quoted(arena, kernel->file));
  return kernel->relative < 0
             ? words
             : ws_arena_printf(arena, "%s --tolerance %g,%g", words,
                               kernel->relative, kernel->absolute);
}

static void print_uses(ws_arena *arena, const ws_tune_result *result,
                       const ws_tune_options *options) {
  const char *archive = quoted(arena, options->archive_path);
  const char *leader = result->kernel_count ? result->kernels[0].id : "";
  const ws_tune_row *row = &result->rows[0];
  for (int i = 0; i < result->row_count && (!*row->best_id || !*leader); i++) {
    row = &result->rows[i];
    leader = *leader ? leader : row->best_id;
  }
  bool recorded = options->device && !strncmp(options->device, "table:", 6);
  bool named = options->shape_set && !recorded;
  printf("Look at:  %s archive show %s %.8s\n", program(arena), archive,
         leader);
  printf("          %s report %s%s --layout %s --out report.html\n",
         program(arena), archive, problem_option(arena, result->problem),
         result->layout);
  if (!strcmp(result->target, "gfx942") && !recorded)
    printf("          %s sim --archive %s %.8s%s%s --shape %s\n",
           program(arena), archive, leader,
           problem_option(arena, result->problem),
           reference_words(arena, result->problem),
           shape_cell(arena,
                      result->kernel_count && result->kernels[0].chosen_count
                          ? &result->kernels[0].chosen[0]
                          : &row->shape));
  if (!recorded) /* a table has no code objects */
    printf(
        "Use:      %s dispatch %s --problem %s%s --layout %s --target %s%s%s "
        "--out dispatch\n",
        program(arena), archive, problem_word(arena, result->problem),
        reference_words(arena, result->problem), result->layout, result->target,
        named ? " --shapes " : "",
        named ? quoted(arena, options->shape_set) : "");
}

/* ---- all of it ---- */
static void print_found(ws_arena *arena, const ws_tune_result *result,
                        const ws_tune_options *options) {
  if (result->band_count)
    print_bands(arena, result);
  else
    print_shapes(arena, result);
  print_provenances(result);
  print_model_error(arena, result);
  printf("The best are the fastest that %s knows of each shape, earlier runs "
         "included\n(%lld candidates for %s).\n",
         options->archive_path, (long long)result->archive_candidates,
         result->layout);
  if (*result->compared)
    ws_text_print_wrapped(stdout, TEXT_COLUMNS, 0, 10,
                          ws_arena_printf(arena,
                                          "Results were compared with %s.",
                                          result->compared));
  print_shipped(arena, result);
  print_refuted(arena, result);
  print_parameters(arena, result);
}

void tune_print_text(const ws_tune_result *result,
                     const ws_tune_options *options) {
  ws_arena *arena = ws_arena_create();
  if (result->archive_candidates > 0)
    print_found(arena, result, options);
  else
    printf("\nNo candidate has been judged yet.\n");
  print_counts(result);
  print_device(result);
  print_models(result);
  if (!result->awaited)
    ws_text_print_wrapped(
        stdout, TEXT_COLUMNS, 0, 10,
        ws_arena_printf(arena, "Go on:    %s", how_to_go_on(result, options)));
  if (result->best_geomean_us > 0)
    print_uses(arena, result, options);
  if (result->awaited)
    printf("%s\n", result->stop);
  ws_arena_destroy(arena);
}
