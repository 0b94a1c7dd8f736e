/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a matrix to files: portfolio, rules, then NAME.h, NAME.c, NAME.json and
 * one code object per kernel. Each file is replaced as a whole or not at all;
 * the sources come last, so that what they name is there.
 */
#include "dispatch_internal.h"
#include "wavesmith/sim_error.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- NAME.json
 * ------------------------------------------------------------------
 */

static void add_text(cJSON *object, const char *key, const char *text) {
  WS_ASSERT(cJSON_AddStringToObject(object, key, text) != NULL);
}

static void add_number(cJSON *object, const char *key, double value) {
  WS_ASSERT(cJSON_AddNumberToObject(object, key, value) != NULL);
}

/* Ratios are shown with four decimals: more would be noise in a diff. */
static void add_ratio(cJSON *object, const char *key, double value) {
  add_number(object, key, isfinite(value) ? round(value * 1e4) / 1e4 : -1);
}

static cJSON *add_array(cJSON *object, const char *key) {
  cJSON *array = cJSON_AddArrayToObject(object, key);
  WS_ASSERT(array != NULL);
  return array;
}

static cJSON *append_object(cJSON *array) {
  cJSON *object = cJSON_CreateObject();
  WS_ASSERT(object != NULL && cJSON_AddItemToArray(array, object));
  return object;
}

static void put_portfolio(const ws__emission *emission, cJSON *root) {
  cJSON *array = add_array(root, "portfolio");
  for (int p = 0; p < emission->rules->column_count; p++) {
    const ws_dispatch_entry *entry = emission->portfolio[p];
    cJSON *item = append_object(array);
    add_number(item, "kernel", p);
    add_text(item, "candidate", entry->candidate->id.hex);
    add_text(item, "template", entry->candidate->tmpl->name);
    add_text(item, "parameters",
             ws_candidate_values_text(emission->arena, entry->candidate));
    add_text(item, "variants",
             ws_candidate_variants_text(emission->arena, entry->candidate));
    add_text(item, "code_hash", entry->result->code_hash);
    add_text(item, "code_object", ws__code_object_name(emission, p));
    add_number(item, "code_object_bytes",
               (double)ws__code_object_text_size(emission, p));
  }
}

static void put_rules(const ws_rules *rules, cJSON *root) {
  add_text(root, "legal_shape", ws_expr_text(rules->legal));
  cJSON *features = add_array(root, "features");
  for (int i = 0; i < rules->feature_count; i++) {
    cJSON *item = append_object(features);
    add_text(item, "name", rules->features[i].name);
    add_text(item, "expression", rules->features[i].text);
  }
  /* nodes[0] is the root; a node has feature, threshold, low and high (where
   * value <= threshold goes low), or a rule */
  cJSON *nodes = add_array(root, "nodes");
  for (int i = 0; i < rules->node_count; i++) {
    const ws__node *node = &rules->nodes[i];
    cJSON *item = append_object(nodes);
    if (node->feature < 0) {
      add_number(item, "rule", node->leaf);
      continue;
    }
    add_text(item, "feature", rules->features[node->feature].name);
    add_number(item, "threshold", (double)node->threshold);
    add_number(item, "low", node->low);
    add_number(item, "high", node->high);
  }
  cJSON *leaves = add_array(root, "rules");
  for (int i = 0; i < rules->leaf_count; i++) {
    const ws__leaf *leaf = &rules->leaves[i];
    cJSON *item = append_object(leaves);
    add_text(item, "when", leaf->rule);
    cJSON *kernels = add_array(item, "kernels");
    for (int j = 0; j < leaf->chain_length; j++)
      cJSON_AddItemToArray(kernels, cJSON_CreateNumber(leaf->chain[j]));
    add_number(item, "training_shapes", leaf->shape_count);
    add_ratio(item, "geomean_regret", leaf->geomean_regret);
    add_ratio(item, "max_regret", leaf->max_regret);
  }
}

void ws__emit_json(const ws__emission *emission, ws_strbuf *out) {
  cJSON *root = cJSON_CreateObject();
  WS_ASSERT(root != NULL);
  add_text(root, "name", emission->name);
  add_text(root, "problem", emission->problem->name);
  add_text(root, "layout", emission->layout);
  add_text(root, "target", emission->target);
  add_text(root, "provenance", emission->provenance);
  if (ws_sim_error_coin(emission->provenance) > 0)
    add_ratio(root, "equal_below", ws_sim_error_coin(emission->provenance));
  add_text(root, "contents", emission->content.hex);
  add_number(root, "training_shapes", emission->train.shape_count);
  add_ratio(root, "training_geomean_regret", emission->train.geomean);
  add_ratio(root, "training_max_regret", emission->train.max);
  put_portfolio(emission, root);
  put_rules(emission->rules, root);
  char *text = cJSON_Print(root);
  WS_ASSERT(text != NULL);
  ws_strbuf_puts(out, text);
  ws_strbuf_puts(out, "\n");
  cJSON_free(text);
  cJSON_Delete(root);
}

/* ---- choosing
 * -------------------------------------------------------------------
 */

static bool has_universal(const ws_problem *problem,
                          const ws_dispatch_entry *entries, const int *columns,
                          int count) {
  for (int i = 0; i < count; i++)
    if (ws__accepts_every_shape(entries[columns[i]].candidate, problem))
      return true;
  return false;
}

/* The column that accepts every legal shape and is best on its own; -1: none.
 */
static int best_universal(const ws_problem *problem,
                          const ws_dispatch_entry *entries,
                          const ws_matrix *matrix) {
  int best = -1;
  double best_sum = INFINITY;
  for (int c = 0; c < matrix->candidate_count; c++) {
    double sum = 0;
    for (int s = 0; s < matrix->shape_count; s++)
      sum += log(ws__matrix_us(matrix, s, c));
    if (sum < best_sum &&
        ws__accepts_every_shape(entries[c].candidate, problem)) {
      best_sum = sum;
      best = c;
    }
  }
  return best;
}

/* The portfolio, with a fallback for every legal shape in it. */
static ws_status choose(const ws_problem *problem,
                        const ws_dispatch_entry *entries,
                        const ws_matrix *matrix, int max_count, int *columns,
                        int *out_count, ws_diag *diag) {
  WS_TRY(ws_portfolio_pick(matrix, max_count, columns, out_count, diag));
  if (has_universal(problem, entries, columns, *out_count))
    return WS_OK;
  int fallback = best_universal(problem, entries, matrix);
  if (fallback < 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "none of the %d candidates accepts every legal shape, so "
                   "there is no fallback; tune a template without constraints "
                   "on the shape",
                   matrix->candidate_count);
  if (*out_count == max_count)
    (*out_count)--; /* the last pick gained least */
  columns[(*out_count)++] = fallback;
  return WS_OK;
}

/* Of kernels that a card has timed more pay: each was the best somewhere. */
enum {
  DEFAULT_PORTFOLIO = 8,
  DEFAULT_TIMED_PORTFOLIO = 16,
  DEFAULT_LEAVES = 24,
  LIMIT = 1024
};

static int portfolio_limit(const ws_matrix *matrix, int wanted) {
  if (wanted > 0)
    return wanted;
  return ws__is_of_a_card(matrix->provenance) ? DEFAULT_TIMED_PORTFOLIO
                                              : DEFAULT_PORTFOLIO;
}

ws_status ws_dispatch_choose(ws_arena *arena, const ws_problem *problem,
                             const ws_dispatch_entry *entries,
                             const ws_matrix *matrix, int max_portfolio,
                             int max_leaves, ws_dispatch_choice *out_choice,
                             ws_diag *diag) {
  int most = portfolio_limit(matrix, max_portfolio);
  int *columns = ws_arena_alloc(arena, (size_t)most * sizeof *columns);
  *out_choice = (ws_dispatch_choice){.columns = columns};
  WS_TRY(choose(problem, entries, matrix, most, columns, &out_choice->count,
                diag));
  return ws_rules_fit(
      arena, problem, entries, matrix, columns, out_choice->count,
      max_leaves > 0 ? max_leaves : DEFAULT_LEAVES, &out_choice->rules, diag);
}

/* ---- writing
 * --------------------------------------------------------------------
 */

static ws_hash content_hash(const ws__emission *emission) {
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, emission->problem->name);
  ws_hasher_update_text(hasher, emission->layout);
  ws_hasher_update_text(hasher, emission->target);
  for (int p = 0; p < emission->rules->column_count; p++) {
    const ws_dispatch_entry *entry = emission->portfolio[p];
    ws_hasher_update_text(hasher, entry->candidate->id.hex);
    ws_hasher_update(hasher, entry->code_object, entry->code_object_size);
  }
  for (int i = 0; i < emission->rules->leaf_count; i++) {
    const ws__leaf *leaf = &emission->rules->leaves[i];
    ws_hasher_update_text(hasher, leaf->rule);
    ws_hasher_update(hasher, leaf->chain,
                     (size_t)leaf->chain_length * sizeof *leaf->chain);
  }
  ws_strbuf tuned;
  ws_strbuf_init(&tuned);
  ws__emit_tuned(emission->matrix, &tuned);
  ws_hasher_update(hasher, tuned.data, tuned.size);
  ws_strbuf_deinit(&tuned);
  return ws_hasher_finish(hasher);
}

typedef struct written_files {
  const char **paths;
  int count;
} written_files;

static ws_status write_file(const ws__emission *emission, const char *directory,
                            const char *name, const void *data, size_t size,
                            written_files *written, ws_diag *diag) {
  const char *path = ws_arena_printf(emission->arena, "%s/%s", directory, name);
  WS_TRY(ws_file_write_atomic(path, data, size, diag));
  written->paths[written->count++] = path;
  return WS_OK;
}

static ws_status write_text(const ws__emission *emission, const char *directory,
                            const char *suffix, const ws_strbuf *text,
                            written_files *written, ws_diag *diag) {
  const char *name =
      ws_arena_printf(emission->arena, "%s%s", emission->name, suffix);
  return write_file(emission, directory, name, text->data, text->size, written,
                    diag);
}

static ws_status write_all(const ws__emission *emission, const char *directory,
                           const ws_strbuf *header, const ws_strbuf *source,
                           const ws_strbuf *json, written_files *written,
                           ws_diag *diag) {
  WS_TRY(ws_make_directories(directory, diag));
  for (int p = 0; p < emission->rules->column_count; p++)
    WS_TRY(write_file(emission, directory, ws__code_object_name(emission, p),
                      emission->portfolio[p]->code_object,
                      ws__code_object_text_size(emission, p), written, diag));
  WS_TRY(write_text(emission, directory, ".json", json, written, diag));
  WS_TRY(write_text(emission, directory, ".h", header, written, diag));
  return write_text(emission, directory, ".c", source, written, diag);
}

static ws_status print_and_write(const ws__emission *emission,
                                 const char *directory, written_files *written,
                                 ws_diag *diag) {
  ws_strbuf header, source, json;
  ws_strbuf_init(&header);
  ws_strbuf_init(&source);
  ws_strbuf_init(&json);
  ws__emit_header(emission, &header);
  ws__emit_json(emission, &json);
  ws_status status = ws__emit_source(emission, &source, diag);
  if (status == WS_OK)
    status =
        write_all(emission, directory, &header, &source, &json, written, diag);
  ws_strbuf_deinit(&header);
  ws_strbuf_deinit(&source);
  ws_strbuf_deinit(&json);
  return status;
}

static ws_status check_options(const ws_dispatch_options *options,
                               ws_diag *diag) {
  WS_TRY(ws__check_public_name(options->name, diag));
  if (options->max_portfolio > LIMIT || options->max_leaves > LIMIT)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "at most %d kernels and %d rules are possible", LIMIT,
                   LIMIT);
  return WS_OK;
}

ws_status ws_dispatch_emit(ws_arena *arena, const ws_problem *problem,
                           const char *layout, const char *target,
                           const ws_dispatch_entry *entries,
                           const ws_matrix *matrix,
                           const ws_dispatch_options *options,
                           ws_dispatch_report *out_report, ws_diag *diag) {
  memset(out_report, 0, sizeof *out_report);
  WS_TRY(check_options(options, diag));
  ws_dispatch_choice choice;
  WS_TRY(ws_dispatch_choose(arena, problem, entries, matrix,
                            options->max_portfolio, options->max_leaves,
                            &choice, diag));
  const int count = choice.count;
  ws__emission emission = {.arena = arena,
                           .problem = problem,
                           .name = options->name,
                           .layout = layout,
                           .target = target,
                           .provenance = matrix->provenance,
                           .rules = choice.rules,
                           .matrix = matrix};
  const ws_dispatch_entry **portfolio =
      ws_arena_alloc(arena, (size_t)count * sizeof *portfolio);
  for (int p = 0; p < count; p++)
    portfolio[p] = &entries[choice.columns[p]];
  emission.portfolio = portfolio;
  emission.content = content_hash(&emission);
  emission.train = ws_rules_regret(emission.rules, matrix);

  written_files written = {
      ws_arena_alloc(arena, (size_t)(count + 3) * sizeof(char *)), 0};
  WS_TRY(print_and_write(&emission, options->output_dir, &written, diag));
  *out_report =
      (ws_dispatch_report){.portfolio_count = count,
                           .leaf_count = emission.rules->leaf_count,
                           .train_geomean_regret = emission.train.geomean,
                           .train_max_regret = emission.train.max,
                           .files = written.paths,
                           .file_count = written.count,
                           .portfolio = choice.columns,
                           .rules = emission.rules};
  return WS_OK;
}
