/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Is a learned correction worth something on what it has not seen? Each part,
 * then each family is left out of what is learned from; what comes out stands
 * beside no correction, in all and family by family.
 */
#include "sim_compare.h"
#include "text_table.h"
#include "wavesmith/correction.h"
#include "wavesmith/sim_card.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------
 */

sim_compared sim_compared_create(ws_arena *arena, int capacity) {
  const size_t n = (size_t)capacity;
  sim_compared out = {.arena = arena};
  out.rows = ws_arena_alloc(arena, sizeof *out.rows * n);
  out.families = ws_arena_alloc(arena, sizeof *out.families * n);
  out.parts = ws_arena_alloc(arena, sizeof *out.parts * n);
  return out;
}

static const char *part_of(const sim_compared *all, int row) {
  int competing = 0;
  for (int i = 0; i < all->count; i++)
    competing += !strcmp(all->rows[i].group, all->rows[row].group);
  return all->parts[row]                  ? all->parts[row]
         : competing >= WS_COMPARED_LEAST ? all->rows[row].group
                                          : all->families[row];
}

static const char *const *part_labels(const sim_compared *all) {
  const char **out =
      ws_arena_alloc(all->arena, sizeof *out * (size_t)all->count);
  for (int i = 0; i < all->count; i++)
    out[i] = part_of(all, i);
  return out;
}

/* ---- what is tried ---------------------------------------------------------
 */

enum { UNCORRECTED, FACTOR_PART, LEARNED_PART, FACTOR, LEARNED, TRIED };
static const struct {
  const char *what, *left_out;
  ws_correction_kind kind;
} kinds[TRIED] = {{"uncorrected", "", 0},
                  {"one factor", "each part", WS_CORRECTION_FACTOR},
                  {"learned", "each part", WS_CORRECTION_LEARNED},
                  {"one factor", "each family", WS_CORRECTION_FACTOR},
                  {"learned", "each family", WS_CORRECTION_LEARNED}};

typedef struct figures {
  bool possible; /* false: there is one label alone */
  ws_compared all, *by_family;
} figures;

struct sim_corrections {
  const sim_compared *rows;
  const char *const *parts; /* by row */
  const char **families;    /* each once */
  int family_count;
  figures of[TRIED];
};

static void find_families(sim_corrections *t) {
  t->families = ws_arena_alloc(t->rows->arena,
                               sizeof *t->families * (size_t)t->rows->count);
  for (int i = 0; i < t->rows->count; i++) {
    int f = 0;
    while (f < t->family_count && strcmp(t->families[f], t->rows->families[i]))
      f++;
    t->families[f] = t->rows->families[i];
    t->family_count += f == t->family_count;
  }
}

static void compare(const sim_corrections *t, const ws_compared_row *rows,
                    figures *out) {
  ws_arena *arena = t->rows->arena;
  const int count = t->rows->count;
  ws_compared_row *mine = ws_arena_alloc(arena, sizeof *mine * (size_t)count);
  out->by_family =
      ws_arena_alloc(arena, sizeof *out->by_family * (size_t)t->family_count);
  ws_compare_times(arena, rows, count, NULL, 0, &out->all);
  for (int f = 0; f < t->family_count; f++) {
    int n = 0;
    for (int i = 0; i < count; i++)
      if (!strcmp(t->rows->families[i], t->families[f]))
        mine[n++] = rows[i];
    ws_compare_times(arena, mine, n, NULL, 0, &out->by_family[f]);
  }
}

const sim_corrections *sim_corrections_try(const sim_compared *rows) {
  sim_corrections *t = ws_arena_alloc(rows->arena, sizeof *t);
  ws_compared_row *corrected =
      ws_arena_alloc(rows->arena, sizeof *corrected * (size_t)rows->count);
  *t = (sim_corrections){.rows = rows, .parts = part_labels(rows)};
  find_families(t);
  t->of[UNCORRECTED].possible = true;
  compare(t, rows->rows, &t->of[UNCORRECTED]);
  for (int k = UNCORRECTED + 1; k < TRIED; k++) {
    t->of[k].possible =
        ws_correction_left_out(rows->arena, kinds[k].kind, rows->rows,
                               k < FACTOR ? t->parts : rows->families, t->parts,
                               rows->count, corrected);
    if (t->of[k].possible)
      compare(t, corrected, &t->of[k]);
  }
  return t;
}

/* ---- does it help? ---------------------------------------------------------
 */

/* Nothing may be worse than uncorrected, the error must be less; a NAN is never
 * better. */
static bool is_better(const sim_corrections *t, int learned) {
  const ws_compared *none = &t->of[UNCORRECTED].all;
  const ws_compared *it = &t->of[learned].all;
  return t->of[learned].possible && it->error < none->error &&
         it->median_spearman >= none->median_spearman &&
         it->geomean_regret <= none->geomean_regret;
}

static const double harm = 0.01; /* of the mean error; more is too much */

static bool harms(const sim_corrections *t, int learned) {
  for (int f = 0; f < t->family_count; f++)
    if (t->of[learned].by_family[f].error >
        t->of[UNCORRECTED].by_family[f].error + harm)
      return true;
  return false;
}

static bool helps(const sim_corrections *t) {
  return is_better(t, LEARNED_PART) && is_better(t, LEARNED) &&
         !harms(t, LEARNED_PART) && !harms(t, LEARNED);
}

/* ---- printing --------------------------------------------------------------
 */

static const char *fixed(ws_arena *arena, double value) {
  return isnan(value) ? "-" : ws_arena_printf(arena, "%.3f", value);
}

static void print_whole(const sim_corrections *t) {
  static const char *const headings[] = {"correction", "left out", "mean error",
                                         "rank correlation", "regret"};
  ws_arena *arena = t->rows->arena;
  text_table table = text_table_create(arena, "llrrr", headings);
  for (int k = 0; k < TRIED; k++) {
    const ws_compared *found = &t->of[k].all;
    const bool possible = t->of[k].possible;
    const char *cells[] = {
        kinds[k].what, kinds[k].left_out,
        possible ? ws_arena_printf(arena, "%.1f%%", 100 * found->error) : "-",
        possible ? fixed(arena, found->median_spearman) : "-",
        possible ? fixed(arena, found->geomean_regret) : "-"};
    text_table_add(&table, cells);
  }
  puts("");
  text_table_print(&table);
}

/* "12.3% 0.712 1.034": mean error; rank correlation and regret where rows
 * compete. */
static const char *cell(ws_arena *arena, const ws_compared *found) {
  const char *error = ws_arena_printf(arena, "%.1f%%", 100 * found->error);
  return found->ranked
             ? ws_arena_printf(arena, "%s %.3f %.3f", error,
                               found->median_spearman, found->geomean_regret)
             : error;
}

static void print_families(const sim_corrections *t, int factor, int learned) {
  ws_arena *arena = t->rows->arena;
  const char *const headings[] = {
      ws_arena_printf(arena, "%s left out: family", kinds[factor].left_out),
      "rows", kinds[UNCORRECTED].what, kinds[factor].what, kinds[learned].what};
  text_table table = text_table_create(arena, "lrlll", headings);
  if (!t->of[factor].possible)
    return;
  for (int f = 0; f < t->family_count; f++) {
    const ws_compared *as_is = &t->of[UNCORRECTED].by_family[f];
    const char *cells[] = {*t->families[f] ? t->families[f] : "-",
                           ws_arena_printf(arena, "%d", as_is->rows),
                           cell(arena, as_is),
                           cell(arena, &t->of[factor].by_family[f]),
                           cell(arena, &t->of[learned].by_family[f])};
    text_table_add(&table, cells);
  }
  puts("");
  text_table_print(&table);
}

void sim_corrections_print(const sim_corrections *t) {
  print_whole(t);
  if (t->family_count > 1) {
    print_families(t, FACTOR_PART, LEARNED_PART);
    print_families(t, FACTOR, LEARNED);
  }
  puts(helps(t) ? "a learned correction helps on what it has not seen"
                : "a learned correction does not help on what it has not seen");
}

static cJSON *families_to_json(const sim_corrections *t, const figures *of) {
  cJSON *array = cJSON_CreateArray();
  for (int f = 0; f < t->family_count && of->possible; f++) {
    cJSON *found = ws_compared_to_json(&of->by_family[f]);
    cJSON_AddStringToObject(found, "family", t->families[f]);
    cJSON_AddItemToArray(array, found);
  }
  return array;
}

void sim_corrections_to_json(const sim_corrections *t, cJSON *json) {
  cJSON *array = cJSON_AddArrayToObject(json, "corrections");
  for (int k = 0; k < TRIED; k++) {
    const figures *of = &t->of[k];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "correction", kinds[k].what);
    cJSON_AddStringToObject(object, "left_out", kinds[k].left_out);
    cJSON_AddItemToObject(object, "found",
                          of->possible ? ws_compared_to_json(&of->all)
                                       : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "families", families_to_json(t, of));
    cJSON_AddItemToArray(array, object);
  }
  cJSON_AddBoolToObject(json, "correction_helps", helps(t));
}

/* ---- one of all rows -------------------------------------------------------
 */

/* "mine" of "there/mine.json", if a profile may be called so. */
static const char *name_of(ws_arena *arena, const char *path) {
  const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  const char *name = ws_arena_strndup(arena, file, strcspn(file, "."));
  ws_diag wrong;
  return ws_sim_card_check_name(name, &wrong) == WS_OK ? name : "corrected";
}

ws_status sim_corrections_write(const sim_corrections *t,
                                const sim_options *options, ws_diag *diag) {
  const char *path = options->fit_correction;
  if (!helps(t)) {
    fprintf(stderr, "%s is not written: it would not help\n", path);
    return WS_OK;
  }
  const char *card = strchr(options->device, ':');
  char *file = card && strstr(card, ".json") ? realpath(card + 1, NULL) : NULL;
  ws_sim_correction correction;
  ws_correction_learn(t->rows->arena, t->rows->rows, t->parts, t->rows->count,
                      &correction);
  correction.source = ws_arena_printf(
      t->rows->arena,
      "wavesmith sim --compare %s --fit-correction: %d rows of %d families",
      name_of(t->rows->arena, options->compare), t->rows->count,
      t->family_count);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", name_of(t->rows->arena, path));
  cJSON_AddStringToObject(json, "base",
                          file   ? file
                          : card ? card + 1
                                 : "mi300x");
  cJSON_AddItemToObject(json, "correction",
                        ws_sim_correction_to_json(&correction));
  char *text = cJSON_Print(json);
  WS_ASSERT(text);
  const ws_status status = ws_file_write_atomic(path, text, strlen(text), diag);
  if (status == WS_OK && !options->json)
    printf("%s: --device sim:%s gives corrected times\n", path, path);
  cJSON_free(text);
  cJSON_Delete(json);
  free(file);
  return status;
}
