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
#include "wavesmith/sim_card.h"
#include "wavesmith/sim_correction.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- features of a simulated launch ----------------------------------------
 */

enum { FEATURES = WS_SIM_FEATURES };

static double number(const cJSON *object, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* Of the longest launch. */
static void read_features(ws_arena *arena, const char *report,
                          double out[FEATURES]) {
  char *rest = ws_arena_strdup(arena, report), *line;
  double longest = 0;
  while ((line = strsep(&rest, "\n"))) {
    cJSON *json = *line ? cJSON_Parse(line) : NULL;
    const cJSON *profile = cJSON_GetObjectItemCaseSensitive(json, "profile");
    const cJSON *features =
        cJSON_GetObjectItemCaseSensitive(profile, "features");
    if (number(profile, "us") > longest) {
      longest = number(profile, "us");
      for (int f = 0; f < FEATURES; f++)
        out[f] = number(features, ws_sim_feature_names[f]);
    }
    cJSON_Delete(json);
  }
}

/* ---- simulating ------------------------------------------------------------
 */

typedef struct comparing {
  const sim_options *options;
  ws_arena *arena;
  ws_device_client *client;
  const char *residency; /* of the client */
  ws_compiler *compiler;
  sim_row *rows;
  int row_count;
  ws_compared_row *compared;
  const char **families;
  int count, refused;
} comparing;

static void add_result(comparing *c, const sim_row *row, const sim_job *job,
                       ws_arena *arena, const ws_measured *measured) {
  char shape[WS_SHAPE_TEXT] = "";
  double *values = ws_arena_alloc(c->arena, FEATURES * sizeof *values);
  read_features(arena, measured->report, values);
  if (job->problem)
    ws_shape_print(&job->shape, shape);
  c->families[c->count] = row->family;
  c->compared[c->count++] = (ws_compared_row){
      .group = row->group ? row->group : ws_arena_strdup(c->arena, shape),
      .class_ = ws_arena_strdup(c->arena, measured->bound),
      .measured_us = row->us,
      .predicted_us = measured->us,
      .features = values};
}

static void refuse(comparing *c, const sim_row *row, const char *why) {
  fprintf(stderr, "%s:%d: left out: %s\n", c->options->compare, row->line, why);
  c->refused++;
}

/* Where data is before a launch is a setting of the device server. */
static ws_status take_client(comparing *c, const char *residency,
                             ws_diag *diag) {
  if (c->client &&
      (!residency || (c->residency && !strcmp(residency, c->residency))))
    return WS_OK;
  ws_device_client_stop(c->client);
  c->client = NULL;
  c->residency = residency;
  if (residency)
    setenv("WAVESMITH_SIM_RESIDENCY", residency, 1);
  return ws_device_client_start(c->options->device, &c->client, diag);
}

/* Only what ends the whole comparison is an error. */
static ws_status simulate(comparing *c, const sim_row *row, ws_diag *diag) {
  WS_TRY(take_client(c, row->residency, diag));
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
    add_result(c, row, &job, arena, &measured);
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
  printf(", %s\n", ws_device_client_info(all->client)->provenance);
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

/* ---- a correction ----------------------------------------------------------
 */

/* What is compared, in the table of --check-correction. */
typedef struct tried {
  const char *left_out, *what;
  bool possible; /* false: there is one label alone */
  ws_compared found;
} tried;
enum { TRIED = 5 };

static void try_one(const comparing *all, const char *const *labels,
                    int feature_count, tried *out) {
  ws_compared_row *rows =
      ws_arena_alloc(all->arena, sizeof *rows * (size_t)all->count);
  out->possible = ws_correction_left_out(all->arena, all->compared, labels,
                                         all->count, feature_count, rows);
  if (out->possible)
    ws_compare_times(all->arena, rows, all->count, NULL, 0, &out->found);
}

static void try_corrections(const comparing *all, const ws_compared *as_is,
                            tried out[TRIED]) {
  const char **groups =
      ws_arena_alloc(all->arena, sizeof *groups * (size_t)all->count);
  for (int i = 0; i < all->count; i++)
    groups[i] = all->compared[i].group;
  out[0] = (tried){"", "uncorrected", true, *as_is};
  for (int i = 0; i < 2; i++) {
    const char *const *labels = i ? all->families : groups;
    const char *left_out = i ? "each family" : "each shape";
    out[1 + 2 * i] = (tried){.left_out = left_out, .what = "one factor"};
    out[2 + 2 * i] = (tried){.left_out = left_out, .what = "by features"};
    try_one(all, labels, 0, &out[1 + 2 * i]);
    try_one(all, labels, FEATURES, &out[2 + 2 * i]);
  }
}

/* By features it must beat no correction and one factor, in each figure none
 * may be worse, shapes and families left out; a NAN is never better. */
static bool is_better(const tried all[TRIED], int at) {
  const ws_compared *it = &all[at].found, *factor = &all[at - 1].found;
  return all[at].possible && it->error < factor->error &&
         it->error < all[0].found.error &&
         it->median_spearman >= all[0].found.median_spearman &&
         it->geomean_regret <= all[0].found.geomean_regret;
}

static bool helps(const tried all[TRIED]) {
  return is_better(all, 2) && is_better(all, 4);
}

static void print_corrections(ws_arena *arena, const tried all[TRIED]) {
  static const char *const headings[] = {"correction", "left out", "mean error",
                                         "rank correlation", "regret"};
  text_table table = text_table_create(arena, "llrrr", headings);
  for (int i = 0; i < TRIED; i++) {
    const ws_compared *found = &all[i].found;
    const bool possible = all[i].possible;
    const char *cells[] = {
        all[i].what, all[i].left_out,
        possible ? ws_arena_printf(arena, "%.1f%%", 100 * found->error) : "-",
        possible ? fixed(arena, found->median_spearman, 3) : "-",
        possible ? fixed(arena, found->geomean_regret, 3) : "-"};
    text_table_add(&table, cells);
  }
  puts("");
  text_table_print(&table);
  puts(helps(all) ? "a correction by features helps on what it has not seen"
                  : "a correction by features does not help on what it has not "
                    "seen");
}

static ws_sim_correction learned(const comparing *all) {
  ws_correction fit;
  ws_sim_correction out = {.is_there = true};
  ws_correction_fit_all(all->arena, all->compared, all->families, all->count,
                        FEATURES, &fit);
  out.offset = fit.offset;
  for (int f = 0; f < FEATURES; f++) {
    const bool varies = isfinite(fit.scale[f]);
    out.mean[f] = fit.mean[f];
    out.scale[f] = varies ? fit.scale[f] : 1;
    out.weight[f] = varies ? fit.weight[f] : 0;
  }
  return out;
}

/* Where it helps on what it has not seen, one of all rows. */
static ws_status write_correction(const comparing *all,
                                  const tried corrections[TRIED],
                                  ws_diag *diag) {
  const char *path = all->options->fit_correction;
  if (!helps(corrections)) {
    fprintf(stderr, "%s is not written: it would not help\n", path);
    return WS_OK;
  }
  const char *card = strchr(all->options->device, ':');
  char *file = card && strstr(card, ".json") ? realpath(card + 1, NULL) : NULL;
  const ws_sim_correction correction = learned(all);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", "corrected");
  cJSON_AddStringToObject(json, "base",
                          file   ? file
                          : card ? card + 1
                                 : "mi300x");
  cJSON_AddItemToObject(json, "correction",
                        ws_sim_correction_to_json(&correction));
  char *text = cJSON_Print(json);
  WS_ASSERT(text);
  const ws_status status = ws_file_write_atomic(path, text, strlen(text), diag);
  if (status == WS_OK && !all->options->json)
    printf("%s: --device sim:%s gives corrected times\n", path, path);
  cJSON_free(text);
  cJSON_Delete(json);
  free(file);
  return status;
}

static void add_corrections(cJSON *json, const tried all[TRIED]) {
  cJSON *array = cJSON_AddArrayToObject(json, "corrections");
  for (int i = 0; i < TRIED; i++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "correction", all[i].what);
    cJSON_AddStringToObject(object, "left_out", all[i].left_out);
    cJSON_AddItemToObject(object, "found",
                          all[i].possible ? ws_compared_to_json(&all[i].found)
                                          : cJSON_CreateNull());
    cJSON_AddItemToArray(array, object);
  }
  cJSON_AddBoolToObject(json, "correction_helps", helps(all));
}

static void print_json(const comparing *all, const ws_compared *by_bound,
                       const ws_compared *by_family,
                       const tried corrections[TRIED]) {
  cJSON *json = ws_compared_to_json(by_bound);
  cJSON *families = ws_compared_to_json(by_family);
  cJSON_AddStringToObject(json, "provenance",
                          ws_device_client_info(all->client)->provenance);
  cJSON_AddNumberToObject(json, "left_out", all->refused);
  if (all->options->check_correction)
    add_corrections(json, corrections);
  cJSON_AddItemToObject(
      json, "families",
      cJSON_DetachItemFromObjectCaseSensitive(families, "classes"));
  cJSON *rows = cJSON_AddArrayToObject(json, "each");
  for (int i = 0; i < all->count; i++) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "group", all->compared[i].group);
    cJSON_AddStringToObject(row, "family", all->families[i]);
    cJSON_AddStringToObject(row, "bound", all->compared[i].class_);
    cJSON_AddNumberToObject(row, "measured_us", all->compared[i].measured_us);
    cJSON_AddNumberToObject(row, "simulated_us", all->compared[i].predicted_us);
    for (int f = 0; f < FEATURES; f++)
      cJSON_AddNumberToObject(row, ws_sim_feature_names[f],
                              all->compared[i].features[f]);
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
                         const tried corrections[TRIED]) {
  print_groups(all->arena, by_bound);
  print_classes(all->arena, by_bound, "bound by");
  if (by_family)
    print_classes(all->arena, by_family, "family");
  print_pairs(all->arena, by_bound);
  print_features(all->arena, by_bound);
  print_summary(all, by_bound);
  if (all->options->check_correction)
    print_corrections(all->arena, corrections);
}

static ws_status print(const comparing *all, ws_diag *diag) {
  ws_compared by_bound, by_family;
  bool has_families = false;
  ws_compared_row *rows =
      ws_arena_alloc(all->arena, sizeof *rows * (size_t)all->count);
  for (int i = 0; i < all->count; i++) {
    rows[i] = all->compared[i];
    rows[i].class_ = all->families[i];
    has_families |= *all->families[i] != 0;
  }
  ws_compare_times(all->arena, all->compared, all->count, ws_sim_feature_names,
                   FEATURES, &by_bound);
  ws_compare_times(all->arena, rows, all->count, ws_sim_feature_names, FEATURES,
                   &by_family);
  tried corrections[TRIED];
  if (all->options->check_correction)
    try_corrections(all, &by_bound, corrections);
  if (all->options->json) {
    print_json(all, &by_bound, &by_family, corrections);
  } else {
    print_tables(all, &by_bound, has_families ? &by_family : NULL, corrections);
  }
  return all->options->fit_correction ? write_correction(all, corrections, diag)
                                      : WS_OK;
}

/* ---- all of it -------------------------------------------------------------
 */

/* A correction stands on uncorrected times. */
static ws_status check_card(const comparing *c, ws_diag *diag) {
  const char *name = strchr(c->options->device, ':');
  const ws_sim_card *card;
  if (!c->options->fit_correction)
    return WS_OK;
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
  c->compared =
      ws_arena_alloc(c->arena, sizeof *c->compared * (size_t)c->row_count);
  c->families =
      ws_arena_alloc(c->arena, sizeof *c->families * (size_t)c->row_count);
  for (int i = 0; i < c->row_count; i++)
    WS_TRY(simulate(c, &c->rows[i], diag));
  if (!c->count)
    return ws_fail(diag, WS_INPUT, c->options->compare, 0,
                   "no row could be simulated");
  return print(c, diag);
}

ws_status sim_compare(const sim_options *options, ws_diag *diag) {
  comparing c = {.options = options, .arena = ws_arena_create()};
  const ws_status status = compare(&c, diag);
  ws_device_client_stop(c.client);
  ws_compiler_stop(c.compiler);
  ws_arena_destroy(c.arena);
  return status;
}
