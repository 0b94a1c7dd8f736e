/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith tune`: options, and the result as JSON; as text it is in
 * tune_print.c. The work is ws_tune.
 */
#include "tools.h"
#include "tune_options.h"
#include "tune_print.h"
#include "wavesmith/search.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

const ws_command tune_command = {
    .program = "wavesmith tune",
    .purpose = "search a template's space and keep what was learned",
    .usage = "TEMPLATE [OPTION ...]",
    .about =
        "Searches the template's space, or lets models rewrite it, and keeps "
        "all\n"
        "that was learned in an archive. The same command again resumes: what "
        "the\n"
        "archive knows is not built, timed or asked again. Ctrl-C (or SIGTERM) "
        "ends\nwith everything kept, and exit code 130 (143).",
    .options = tune_option_rows};

/* ---- JSON ---- */
static cJSON *row_json(const ws_tune_row *row) {
  cJSON *json = ws_json_write(&ws_json_of_shape, &row->shape);
  if (row->baseline_us > 0)
    cJSON_AddNumberToObject(json, "baseline_us", row->baseline_us);
  if (row->best_us > 0) {
    cJSON_AddNumberToObject(json, "best_us", row->best_us);
    cJSON_AddStringToObject(json, "candidate", row->best_id);
    cJSON_AddStringToObject(json, "parameters", row->parameters);
    cJSON_AddStringToObject(json, "variants", row->variants);
    cJSON_AddStringToObject(json, "bound", row->bound);
    cJSON_AddStringToObject(json, "provenance", row->provenance);
    if (row->model_error > 0) {
      cJSON_AddNumberToObject(json, "model_error", row->model_error);
      cJSON_AddNumberToObject(json, "equal", (double)row->equal);
    }
  }
  return json;
}

static cJSON *band_json(const ws_tune_band *band) {
  cJSON *json = cJSON_CreateObject();
  if (band->first) {
    cJSON_AddNumberToObject(json, "first", (double)band->first);
    cJSON_AddNumberToObject(json, "last", (double)band->last);
  }
  cJSON_AddNumberToObject(json, "shapes", band->shapes);
  cJSON_AddNumberToObject(json, "timed", band->timed);
  if (band->baseline_us > 0)
    cJSON_AddNumberToObject(json, "baseline_us", band->baseline_us);
  if (band->best_us > 0)
    cJSON_AddNumberToObject(json, "best_us", band->best_us);
  cJSON_AddNumberToObject(json, "left_out", band->left_out);
  if (band->left_out) {
    cJSON_AddNumberToObject(json, "left_out_geomean", band->left_out_geomean);
    cJSON_AddNumberToObject(json, "left_out_worst", band->left_out_worst);
  }
  return json;
}

static void add_bands_json(cJSON *json, const ws_tune_result *result) {
  if (!result->band_count)
    return;
  cJSON *bands = cJSON_AddArrayToObject(json, "bands");
  for (int i = 0; i < result->band_count; i++)
    cJSON_AddItemToArray(bands, band_json(&result->bands[i]));
  cJSON_AddItemToObject(json, "all_bands", band_json(&result->all_bands));
}

static cJSON *device_json(const ws_tune_result *result) {
  const ws_tune_agreement *a = &result->agreement;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "provenance", result->provenance);
  cJSON_AddNumberToObject(json, "verified", (double)result->verified);
  cJSON_AddNumberToObject(json, "refuted", (double)result->refuted);
  cJSON_AddNumberToObject(json, "timed", (double)result->timed);
  if (result->uncompared)
    cJSON_AddNumberToObject(json, "uncompared", (double)result->uncompared);
  cJSON *agreement = cJSON_AddObjectToObject(json, "agreement");
  cJSON_AddNumberToObject(agreement, "pairs", (double)a->pairs);
  cJSON_AddNumberToObject(agreement, "shapes", a->shapes);
  cJSON_AddNumberToObject(agreement, "median_spearman", a->median_spearman);
  cJSON_AddNumberToObject(agreement, "worst_spearman", a->worst_spearman);
  cJSON_AddNumberToObject(agreement, "median_ratio", a->median_ratio);
  cJSON_AddNumberToObject(agreement, "same_best", a->same_best);
  cJSON_AddNumberToObject(agreement, "worst_regret", a->worst_regret);
  return json;
}

static void add_models_json(cJSON *json, const ws_tune_result *result) {
  if (*result->stop)
    cJSON_AddStringToObject(json, "stop", result->stop);
  if (result->awaited)
    cJSON_AddNumberToObject(json, "awaited", (double)result->awaited);
  if (result->questions == 0)
    return;
  cJSON *models = cJSON_AddObjectToObject(json, "models");
  cJSON_AddNumberToObject(models, "questions", (double)result->questions);
  cJSON_AddNumberToObject(models, "prompt_tokens",
                          (double)result->prompt_tokens);
  cJSON_AddNumberToObject(models, "reply_tokens", (double)result->reply_tokens);
  cJSON_AddNumberToObject(models, "usd", result->usd);
  cJSON_AddNumberToObject(models, "documents", (double)result->documents);
  cJSON_AddNumberToObject(models, "refused", (double)result->refused);
  cJSON_AddNumberToObject(models, "small_moves", (double)result->moves);
}

static cJSON *confirmations_json(const ws_tune_result *result) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < result->confirmation_count; i++) {
    const ws_confirmation_row *row = &result->confirmations[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "candidate", row->candidate_id);
    cJSON_AddStringToObject(item, "against", row->against_id);
    cJSON_AddStringToObject(item, "verdict", row->verdict);
    cJSON_AddStringToObject(item, "reason", row->reason);
    cJSON_AddNumberToObject(item, "chosen_speedup", row->chosen_speedup);
    cJSON_AddNumberToObject(item, "chosen_shapes", row->chosen_shapes);
    cJSON_AddNumberToObject(item, "search_speedup", row->search_speedup);
    cJSON_AddNumberToObject(item, "held_out_speedup", row->held_out_speedup);
    cJSON_AddNumberToObject(item, "worst_speedup", row->worst_speedup);
    cJSON_AddNumberToObject(item, "noise", row->noise);
    cJSON_AddItemToArray(list, item);
  }
  return list;
}

static void add_gain_json(cJSON *json, const char *name,
                          const ws_tune_gain *gain) {
  if (!gain->shapes)
    return;
  cJSON *item = cJSON_AddObjectToObject(json, name);
  cJSON_AddNumberToObject(item, "speedup", gain->speedup);
  cJSON_AddNumberToObject(item, "shapes", gain->shapes);
}

static cJSON *kernel_json(const ws_tune_kernel *kernel) {
  cJSON *json = cJSON_CreateObject();
  add_gain_json(json, "over_start", &kernel->over_start);
  add_gain_json(json, "over_baseline", &kernel->over_baseline);
  add_gain_json(json, "held_out", &kernel->held_out);
  return json;
}

/* Over all, and by kernel on the shapes that it is chosen for. */
static cJSON *shipped_json(const ws_tune_result *result) {
  cJSON *json = kernel_json(&result->portfolio);
  cJSON_AddStringToObject(json, "chosen_by", result->shipped_by);
  cJSON_AddStringToObject(json, "start", result->start_id);
  cJSON *list = cJSON_AddArrayToObject(json, "kernels");
  for (int i = 0; i < result->kernel_count; i++) {
    const ws_tune_kernel *kernel = &result->kernels[i];
    cJSON *item = kernel_json(kernel);
    cJSON_AddStringToObject(item, "candidate", kernel->id);
    if (*kernel->verdict)
      cJSON_AddStringToObject(item, "confirmed", kernel->verdict);
    cJSON *shapes = cJSON_AddArrayToObject(item, "chosen_for");
    for (int j = 0; j < kernel->chosen_count; j++) {
      const ws_shape *shape = &kernel->chosen[j];
      double extents[WS_MAX_DIMS];
      for (int d = 0; d < shape->dims->count; d++)
        extents[d] = (double)shape->size[d];
      cJSON_AddItemToArray(
          shapes, cJSON_CreateDoubleArray(extents, shape->dims->count));
    }
    cJSON_AddItemToArray(list, item);
  }
  return json;
}

static void print_json(const ws_tune_result *result) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "event", "result");
  cJSON_AddNumberToObject(json, "run", (double)result->run_id);
  if (*result->compared)
    cJSON_AddStringToObject(json, "compared", result->compared);
  cJSON_AddNumberToObject(json, "evaluated", (double)result->evaluated);
  cJSON_AddNumberToObject(json, "replayed", (double)result->replayed);
  if (result->further)
    cJSON_AddNumberToObject(json, "further", (double)result->further);
  cJSON_AddNumberToObject(json, "seconds", result->seconds);
  cJSON_AddBoolToObject(json, "interrupted", result->interrupted != 0);
  cJSON_AddBoolToObject(json, "exhausted", result->exhausted);
  cJSON *verdicts = cJSON_AddObjectToObject(json, "verdicts");
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (result->verdicts[i])
      cJSON_AddNumberToObject(verdicts, ws_verdict_text((ws_verdict)i),
                              (double)result->verdicts[i]);
  cJSON *rows = cJSON_AddArrayToObject(json, "shapes");
  for (int i = 0; i < result->row_count; i++)
    cJSON_AddItemToArray(rows, row_json(&result->rows[i]));
  if (result->baseline_geomean_us > 0)
    cJSON_AddNumberToObject(json, "baseline_geomean_us",
                            result->baseline_geomean_us);
  if (result->best_geomean_us > 0) {
    cJSON_AddNumberToObject(json, "best_geomean_us", result->best_geomean_us);
    cJSON_AddStringToObject(json, "geomean_provenance",
                            result->geomean_provenance);
  }
  add_bands_json(json, result);
  if (*result->provenance)
    cJSON_AddItemToObject(json, "device", device_json(result));
  if (result->kernel_count)
    cJSON_AddItemToObject(json, "shipped", shipped_json(result));
  if (result->confirmation_count)
    cJSON_AddItemToObject(json, "confirmations", confirmations_json(result));
  add_models_json(json, result);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

/* An interrupted run ends as a shell says it of a process that the signal
 * ended: what follows in a script is not to take a part for the whole. */
static int finish(const tune_arguments *arguments,
                  const ws_tune_result *result) {
  if (arguments->tune.json)
    print_json(result);
  else
    tune_print_text(result, &arguments->tune);
  if (!result->interrupted)
    return 0;
  fputs("wavesmith tune: interrupted, resume with the same command\n", stderr);
  return 128 + result->interrupted;
}

int tool_tune(int argc, char **argv) {
  ws_diag diag = {""};
  tune_arguments arguments;
  ws_status status =
      tune_options_read(&tune_command, argc, argv, &arguments, &diag);
  if (status != WS_OK)
    return tool_fail("tune", status, &diag);
  if (arguments.help)
    return tool_help(&tune_command);
  status = tune_options_limit(&arguments, &diag);
  if (status != WS_OK)
    return tool_fail("tune", status, &diag);
  ws_tune_result result;
  ws_arena *arena = ws_arena_create();
  status = ws_tune(&arguments.tune, arena, &result, &diag);
  int code = status == WS_OK ? finish(&arguments, &result)
                             : tool_fail("tune", status, &diag);
  ws_arena_destroy(arena);
  return code;
}
