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
  WS_ASSERT(cJSON_AddNumberToObject(object, key, ws__finite(value)) != NULL);
}

/* Ratios are shown with four decimals: more would be noise in a diff. */
static void add_ratio(cJSON *object, const char *key, double value) {
  add_number(object, key, round(value * 1e4) / 1e4);
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
  for (int p = 0; p < emission->count; p++) {
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

/* us = sum of constants times terms. */
static void put_model(const ws_time_models *models, int position,
                      cJSON *array) {
  const ws__time_model *model = &models->models[position];
  cJSON *item = append_object(array), *constants = add_array(item, "us");
  for (int t = 0; t < models->terms->count; t++)
    cJSON_AddItemToArray(constants,
                         cJSON_CreateNumber(ws__finite(model->us[t])));
  add_ratio(item, "ln_error", model->error);
  add_number(item, "timings", model->timings);
}

/* Bands of the first size: which form chooses, and what each lost where groups
 * of shapes were left out. */
static void put_bands(const ws_selection *s, cJSON *root) {
  cJSON *array = add_array(root, "bands");
  for (int b = 0; b < s->band_count; b++) {
    const ws_band *band = &s->bands[b];
    cJSON *item = append_object(array);
    add_number(item, "first", (double)band->first);
    if (band->last < INT64_MAX)
      add_number(item, "last", (double)band->last);
    add_text(item, "form", ws_form_text(band->form));
    add_number(item, "left_out_shapes", band->shape_count);
    for (ws_form form = 0; form < WS_FORMS && band->shape_count; form++) {
      cJSON *lost = cJSON_AddObjectToObject(item, ws_form_text(form));
      WS_ASSERT(lost != NULL);
      add_ratio(lost, "geomean_regret", exp(band->ln_loss[form]));
      add_ratio(lost, "max_regret", band->worst[form]);
    }
    cJSON *kernels = add_array(item, "kernels"),
          *models = add_array(item, "time_models");
    for (int i = 0; i < s->shortlists[b].count; i++) {
      const int p = s->shortlists[b].positions[i];
      cJSON_AddItemToArray(kernels, cJSON_CreateNumber(p));
      put_model(s->by_band[b], p, models);
    }
  }
}

/* Of all first sizes, by kernel. */
static void put_models(const ws_selection *s, cJSON *root) {
  const ws_time_terms *terms = s->models->terms;
  cJSON *texts = add_array(root, "time_terms");
  for (int t = 0; t < terms->count; t++)
    cJSON_AddItemToArray(texts, cJSON_CreateString(terms->texts[t]));
  cJSON *models = add_array(root, "time_models");
  for (int p = 0; p < s->models->count; p++)
    put_model(s->models, p, models);
}

static void put_table(const ws__table *table, int dims, cJSON *root) {
  cJSON *rows = add_array(root, "tuned");
  for (int r = 0; r < table->count; r++) {
    const ws__table_row *row = &table->rows[r];
    cJSON *item = append_object(rows), *key = add_array(item, "key");
    for (int i = 0; i + 1 < dims; i++)
      cJSON_AddItemToArray(key, cJSON_CreateNumber((double)row->key[i]));
    add_number(item, "first", (double)row->first);
    cJSON *spans = add_array(item, "spans");
    for (int i = 0; i < row->span_count; i++) {
      cJSON *span = append_object(spans);
      add_number(span, "last", (double)row->spans[i].last);
      add_number(span, "kernel", row->spans[i].chain[0]);
    }
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
  put_rules(emission->selection->rules, root);
  put_bands(emission->selection, root);
  put_models(emission->selection, root);
  put_table(&emission->selection->table, emission->problem->dims->count, root);
  char *text = cJSON_Print(root);
  WS_ASSERT(text != NULL);
  ws_strbuf_puts(out, text);
  ws_strbuf_puts(out, "\n");
  cJSON_free(text);
  cJSON_Delete(root);
}

/* ---- writing
 * --------------------------------------------------------------------
 */

static ws_hash content_hash(const ws__emission *emission) {
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, emission->problem->name);
  ws_hasher_update_text(hasher, emission->layout);
  ws_hasher_update_text(hasher, emission->target);
  for (int p = 0; p < emission->count; p++) {
    const ws_dispatch_entry *entry = emission->portfolio[p];
    ws_hasher_update_text(hasher, entry->candidate->id.hex);
    ws_hasher_update(hasher, entry->code_object, entry->code_object_size);
  }
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws__emit_select(emission, &text);
  ws__emit_tuned(emission->selection->portfolio.input->matrix, &text);
  ws_hasher_update(hasher, text.data, text.size);
  ws_strbuf_deinit(&text);
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
  for (int p = 0; p < emission->count; p++)
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

enum { LIMIT = 1024 }; /* of kernels and of rules */

static ws_status check_options(const ws_selection_input *input,
                               const ws_dispatch_options *options,
                               ws_diag *diag) {
  WS_TRY(ws__check_public_name(options->name, diag));
  if (input->max_portfolio > LIMIT || input->max_leaves > LIMIT)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "at most %d kernels and %d rules are possible", LIMIT,
                   LIMIT);
  return WS_OK;
}

ws_status ws_dispatch_emit(ws_arena *arena, const ws_selection_input *input,
                           const ws_dispatch_options *options,
                           ws_dispatch_report *out_report, ws_diag *diag) {
  memset(out_report, 0, sizeof *out_report);
  WS_TRY(check_options(input, options, diag));
  ws_dispatch_choice choice;
  WS_TRY(ws_dispatch_choose(arena, input, &choice, diag));
  const int count = choice.count;
  ws__emission emission = {.arena = arena,
                           .problem = input->problem,
                           .name = options->name,
                           .layout = options->layout,
                           .target = input->target->name,
                           .provenance = input->matrix->provenance,
                           .selection = choice.selection,
                           .count = count};
  const ws_dispatch_entry **portfolio =
      ws_arena_alloc(arena, (size_t)count * sizeof *portfolio);
  for (int p = 0; p < count; p++)
    portfolio[p] = &input->entries[choice.columns[p]];
  emission.portfolio = portfolio;
  emission.content = content_hash(&emission);
  emission.train = ws_selection_regret(choice.selection, input->matrix);

  written_files written = {
      ws_arena_alloc(arena, (size_t)(count + 3) * sizeof(char *)), 0};
  WS_TRY(print_and_write(&emission, options->output_dir, &written, diag));
  *out_report =
      (ws_dispatch_report){.portfolio_count = count,
                           .leaf_count = choice.selection->rules->leaf_count,
                           .train_geomean_regret = emission.train.geomean,
                           .train_max_regret = emission.train.max,
                           .files = written.paths,
                           .file_count = written.count,
                           .portfolio = choice.columns,
                           .selection = choice.selection};
  return WS_OK;
}
