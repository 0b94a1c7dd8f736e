/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See sim_compare.h. Rows are simulated in the order of the file; one that the
 * simulator refuses is named and left out.
 */
#include "sim_compare.h"
#include "sim_job.h"
#include "text_table.h"
#include "tools.h"
#include "wavesmith/correction.h"
#include "wavesmith/sim.h"
#include "wavesmith/sim_card.h"
#include "wavesmith/sim_correction.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEATURES = WS_SIM_FEATURES };

/* ---- simulating ------------------------------------------------------------
 */

typedef struct comparing {
  const sim_options *options;
  ws_arena *arena;
  ws_device_client *client;
  const char *device, *residency; /* of the client */
  const char *usual;              /* residency of rows that name none */
  ws_compiler *compiler;
  sim_row *rows;
  int row_count;
  sim_compared got;
  int refused;
  const char *provenances; /* of what was simulated here, ", " between */
} comparing;

static void refuse(comparing *c, const sim_row *row, const char *why) {
  fprintf(stderr, "%s:%d: left out: %s\n", c->options->compare, row->line, why);
  c->refused++;
}

static void add_result(comparing *c, const sim_row *row, const char *group,
                       const char *bound, double us, const sim_launches *of) {
  double *values = ws_arena_alloc(c->arena, FEATURES * sizeof *values);
  if (c->options->check_correction && of->corrected) {
    refuse(c, row, "its time has a correction already");
    return;
  }
  memcpy(values, of->features, sizeof of->features);
  c->got.families[c->got.count] = row->family;
  c->got.parts[c->got.count] = row->part;
  c->got.rows[c->got.count++] =
      (ws_compared_row){.group = ws_arena_strdup(c->arena, group),
                        .class_ = ws_arena_strdup(c->arena, bound),
                        .measured_us = row->us,
                        .predicted_us = us,
                        .features = values};
}

/* ---- what was simulated before ---- */

static void take_report(comparing *c, const sim_row *row) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *text;
  size_t size;
  if (ws_file_read(arena, row->report, &text, &size, &diag) != WS_OK) {
    refuse(c, row, diag.text);
  } else {
    const sim_launches of = sim_read_report(arena, text);
    if (of.wrong)
      refuse(c, row, of.wrong);
    else
      add_result(c, row, row->group ? row->group : row->report, of.bound,
                 row->simulated_us > 0 ? row->simulated_us : of.us, &of);
  }
  ws_arena_destroy(arena);
}

/* ---- what is simulated now ---- */

static void add_provenance(comparing *c) {
  const char *one = ws_device_client_info(c->client)->provenance;
  if (!*c->provenances)
    c->provenances = ws_arena_strdup(c->arena, one);
  else if (!strstr(c->provenances, one))
    c->provenances = ws_arena_printf(c->arena, "%s, %s", c->provenances, one);
}

/* Where data is before a launch is a setting of the device server. */
static ws_status take_client(comparing *c, const sim_row *row, ws_diag *diag) {
  const char *residency = row->residency ? row->residency : c->usual;
  if (c->client && !strcmp(residency, c->residency) &&
      !strcmp(row->options.device, c->device))
    return WS_OK;
  ws_device_client_stop(c->client);
  c->client = NULL;
  c->residency = residency;
  c->device = row->options.device;
  setenv("WAVESMITH_SIM_RESIDENCY", residency, 1);
  WS_TRY(ws_device_client_start(c->device, &c->client, diag));
  add_provenance(c);
  return WS_OK;
}

static void take_measured(comparing *c, const sim_row *row, const sim_job *job,
                          const ws_measured *measured) {
  char shape[WS_SHAPE_TEXT] = "";
  const sim_launches of = sim_read_report(job->arena, measured->report);
  if (job->problem)
    ws_shape_print(&job->shape, shape);
  add_result(c, row, row->group ? row->group : shape, measured->bound,
             measured->us, &of);
}

/* Only what ends the whole comparison is an error. */
static ws_status simulate(comparing *c, const sim_row *row, ws_diag *diag) {
  WS_TRY(take_client(c, row, diag));
  ws_arena *arena = ws_arena_create();
  sim_job job = {.options = row->options,
                 .arena = arena,
                 .client = c->client,
                 .compiler = c->compiler};
  ws_measured measured;
  ws_status status = sim_job_open(&job, diag);
  c->compiler = job.compiler;
  if (status == WS_OK)
    status = sim_job_launches(&job, diag);
  if (status == WS_OK)
    status = sim_job_measure(&job, WS_MEASURE_TIME, &measured, diag);
  if (status == WS_OK && measured.verdict == WS_VERDICT_OK)
    take_measured(c, row, &job, &measured);
  else if (status == WS_OK)
    refuse(c, row, measured.reason);
  else if (status != WS_ENVIRONMENT)
    refuse(c, row, diag->text);
  ws_arena_destroy(arena);
  return status == WS_ENVIRONMENT ? status : WS_OK;
}

/* ---- printing --------------------------------------------------------------
 */

static const char *fixed(ws_arena *arena, double value, int digits) {
  return isnan(value) ? "-" : ws_arena_printf(arena, "%.*f", digits, value);
}

static void print_groups(ws_arena *arena, const ws_compared *c) {
  static const char *const headings[] = {"rows that compete", "rows",
                                         "rank correlation", "regret",
                                         "measured / simulated"};
  text_table table = text_table_create(arena, "lrrrr", headings);
  for (int i = 0; i < c->group_count; i++) {
    const ws_compared_group *group = &c->groups[i];
    if (group->count == 1) /* it competes with nothing */
      continue;
    const char *cells[] = {*group->name ? group->name : "(no shape)",
                           ws_arena_printf(arena, "%d", group->count),
                           fixed(arena, group->spearman, 3),
                           fixed(arena, group->regret, 3),
                           fixed(arena, group->ratio, 2)};
    text_table_add(&table, cells);
  }
  text_table_print(&table);
}

static void print_classes(ws_arena *arena, const ws_compared *c,
                          const char *what) {
  const char *const headings[] = {what, "rows", "measured / simulated",
                                  "error (1 sigma)"};
  text_table table = text_table_create(arena, "lrrr", headings);
  for (int i = 0; i < c->class_count; i++) {
    const ws_compared_class *of = &c->classes[i];
    const char *cells[] = {
        *of->name ? of->name : "-", ws_arena_printf(arena, "%d", of->count),
        fixed(arena, of->ratio, 2),
        ws_arena_printf(arena, "%.0f%%", 100 * (exp(of->sigma) - 1))};
    text_table_add(&table, cells);
  }
  puts("");
  text_table_print(&table);
}

static void print_pairs(ws_arena *arena, const ws_compared *c) {
  static const char *const headings[] = {"simulated times differ by", "pairs",
                                         "ordered as measured"};
  text_table table = text_table_create(arena, "lrr", headings);
  for (int i = 0; i < WS_COMPARED_DISTANCES; i++) {
    const ws_compared_pairs *pairs = &c->pairs[i];
    const double from = i ? 100 * c->pairs[i - 1].up_to : 0;
    const char *distance = isinf(pairs->up_to)
                               ? ws_arena_printf(arena, "%.0f%% and more", from)
                               : ws_arena_printf(arena, "%.0f to %.0f%%", from,
                                                 100 * pairs->up_to);
    const char *cells[] = {
        distance, ws_arena_printf(arena, "%d", pairs->count),
        pairs->count ? ws_arena_printf(arena, "%.0f%%",
                                       100 * pairs->right / pairs->count)
                     : "-"};
    text_table_add(&table, cells);
  }
  puts("");
  text_table_print(&table);
}

static void print_features(ws_arena *arena, const ws_compared *c) {
  static const char *const headings[] = {"ln(measured / simulated) follows",
                                         "among competing rows", "over all"};
  text_table table = text_table_create(arena, "lrr", headings);
  for (int i = 0; i < c->feature_count; i++) {
    const char *cells[] = {
        c->features[i].name,
        ws_arena_printf(arena, "%+.2f", c->features[i].within),
        ws_arena_printf(arena, "%+.2f", c->features[i].across)};
    text_table_add(&table, cells);
  }
  puts("");
  text_table_print(&table);
}

static void print_summary(const comparing *all, const ws_compared *c) {
  printf("\n%d rows", c->rows);
  if (all->refused)
    printf(", %d left out", all->refused);
  printf("%s%s\n", *all->provenances ? ", " : "", all->provenances);
  if (c->ranked)
    printf(
        "rank correlation: median %.3f, worst %.3f over %d groups\n"
        "regret of the simulator's choice: geometric mean %.3f, worst %.3f\n",
        c->median_spearman, c->worst_spearman, c->ranked, c->geomean_regret,
        c->worst_regret);
  printf("measured / simulated: %.2f; mean error %.1f%%, beside that factor "
         "%.1f%%\n",
         c->ratio, 100 * c->error, 100 * c->error_beside_scale);
}

/* ---- all of it, printed ----------------------------------------------------
 */

static void print_json(const comparing *all, const ws_compared *by_bound,
                       const ws_compared *by_family,
                       const sim_corrections *corrections) {
  cJSON *json = ws_compared_to_json(by_bound);
  cJSON *families = ws_compared_to_json(by_family);
  cJSON_AddStringToObject(json, "provenance", all->provenances);
  cJSON_AddNumberToObject(json, "left_out", all->refused);
  if (corrections)
    sim_corrections_to_json(corrections, json);
  cJSON_AddItemToObject(
      json, "families",
      cJSON_DetachItemFromObjectCaseSensitive(families, "classes"));
  cJSON *rows = cJSON_AddArrayToObject(json, "each");
  for (int i = 0; i < all->got.count; i++) {
    const ws_compared_row *got = &all->got.rows[i];
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "group", got->group);
    cJSON_AddStringToObject(row, "family", all->got.families[i]);
    cJSON_AddStringToObject(row, "bound", got->class_);
    cJSON_AddNumberToObject(row, "measured_us", got->measured_us);
    cJSON_AddNumberToObject(row, "simulated_us", got->predicted_us);
    for (int f = 0; f < FEATURES; f++)
      cJSON_AddNumberToObject(row, ws_sim_feature_names[f], got->features[f]);
    cJSON_AddItemToArray(rows, row);
  }
  char *text = cJSON_Print(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(families);
  cJSON_Delete(json);
}

static void print_tables(const comparing *all, const ws_compared *by_bound,
                         const ws_compared *by_family,
                         const sim_corrections *corrections) {
  print_groups(all->arena, by_bound);
  print_classes(all->arena, by_bound, "bound by");
  if (by_family)
    print_classes(all->arena, by_family, "family");
  print_pairs(all->arena, by_bound);
  print_features(all->arena, by_bound);
  print_summary(all, by_bound);
  if (corrections)
    sim_corrections_print(corrections);
}

static ws_status print(const comparing *all, ws_diag *diag) {
  const sim_compared *got = &all->got;
  ws_compared by_bound, by_family;
  bool has_families = false;
  ws_compared_row *rows =
      ws_arena_alloc(all->arena, sizeof *rows * (size_t)got->count);
  for (int i = 0; i < got->count; i++) {
    rows[i] = got->rows[i];
    rows[i].class_ = got->families[i];
    has_families |= *got->families[i] != 0;
  }
  ws_compare_times(all->arena, got->rows, got->count, ws_sim_feature_names,
                   FEATURES, &by_bound);
  ws_compare_times(all->arena, rows, got->count, ws_sim_feature_names, FEATURES,
                   &by_family);
  const sim_corrections *corrections =
      all->options->check_correction ? sim_corrections_try(got) : NULL;
  if (all->options->json)
    print_json(all, &by_bound, &by_family, corrections);
  else
    print_tables(all, &by_bound, has_families ? &by_family : NULL, corrections);
  return all->options->fit_correction
             ? sim_corrections_write(corrections, all->options, diag)
             : WS_OK;
}

/* ---- all of it -------------------------------------------------------------
 */

/* Before minutes are spent on it. */
static ws_status check_folder(const comparing *c, ws_diag *diag) {
  const char *path = c->options->fit_correction;
  const char *slash = strrchr(path, '/');
  const char *folder =
      slash ? ws_arena_strndup(c->arena, path, (size_t)(slash - path) + 1)
            : ".";
  return access(folder, W_OK)
             ? ws_fail(diag, WS_USAGE, NULL, 0,
                       "--fit-correction: %s is no folder that can be written",
                       folder)
             : WS_OK;
}

/* A correction stands on uncorrected times. */
static ws_status check_card(const comparing *c, ws_diag *diag) {
  const char *name = strchr(c->options->device, ':');
  const ws_sim_card *card;
  if (!c->options->fit_correction)
    return WS_OK;
  WS_TRY(check_folder(c, diag));
  WS_TRY(ws_sim_card_find(name ? name + 1 : NULL, c->arena, &card, diag));
  cJSON *json = ws_sim_card_to_json(card);
  const bool has = cJSON_HasObjectItem(json, "correction");
  cJSON_Delete(json);
  return has ? ws_fail(diag, WS_USAGE, NULL, 0,
                       "--fit-correction: %s has a correction already; name "
                       "the card that it stands on",
                       c->options->device)
             : WS_OK;
}

static ws_status compare(comparing *c, ws_diag *diag) {
  WS_TRY(check_card(c, diag));
  WS_TRY(sim_read_csv(c->arena, c->options, c->options->compare, &c->rows,
                      &c->row_count, diag));
  c->got = sim_compared_create(c->arena, c->row_count);
  for (int i = 0; i < c->row_count; i++) {
    if (c->rows[i].report)
      take_report(c, &c->rows[i]);
    else
      WS_TRY(simulate(c, &c->rows[i], diag));
  }
  if (!c->got.count)
    return ws_fail(diag, WS_INPUT, c->options->compare, 0,
                   "no row could be simulated");
  return print(c, diag);
}

ws_status sim_compare(const sim_options *options, ws_diag *diag) {
  const char *usual = getenv("WAVESMITH_SIM_RESIDENCY");
  comparing c = {
      .options = options, .arena = ws_arena_create(), .provenances = ""};
  c.usual = ws_arena_strdup(c.arena, usual && *usual ? usual : "cold");
  const ws_status status = compare(&c, diag);
  ws_device_client_stop(c.client);
  ws_compiler_stop(c.compiler);
  ws_arena_destroy(c.arena);
  return status;
}
