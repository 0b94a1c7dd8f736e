/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith tune`: options, and the table at the end. The work is ws_tune.
 */
#include "tools.h"
#include "tune_options.h"
#include "wavesmith/search.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: wavesmith tune TEMPLATE [OPTION ...]\n"
    "Searches the template's space, or lets models rewrite it, and keeps all\n"
    "that was learned in an archive. The same command again resumes: what the\n"
    "archive knows is not built, timed or asked again. Ctrl-C ends with\n"
    "everything kept.\n\n";

/* ---- the table ---- */
/* "estimate" of "estimate:bound-model-1:MI300X". */
static int kind_size(const char *provenance) {
  return (int)strcspn(provenance, ":");
}

static void print_times(const char *name, double baseline_us, double best_us) {
  printf("%-18s", name);
  if (baseline_us > 0)
    printf(" %11.2f", baseline_us);
  else
    printf(" %11s", "-");
  if (best_us > 0)
    printf(" %10.2f", best_us);
  else
    printf(" %10s", "-");
  if (baseline_us > 0 && best_us > 0)
    printf(" %8.2fx", baseline_us / best_us);
  else
    printf(" %9s", "-");
}

static void print_row(const ws_tune_row *row) {
  char shape[80];
  snprintf(shape, sizeof shape, "%lld,%lld,%lld", (long long)row->shape.m,
           (long long)row->shape.n, (long long)row->shape.k);
  print_times(shape, row->baseline_us, row->best_us);
  if (row->best_us > 0)
    printf("  %-9.8s  %-8s  %-10.*s  %s\n", row->best_id, row->bound,
           kind_size(row->provenance), row->provenance, row->changes);
  else
    printf("  no candidate takes this shape so far\n");
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

static void print_table(const ws_tune_result *result,
                        const ws_tune_options *options) {
  printf("\n%-18s %11s %10s %9s  %-9s  %-8s  %-10s  %s\n", "m,n,k", "naive us",
         "best us", "speed-up", "candidate", "bound", "provenance",
         "parameters unlike the defaults");
  for (int i = 0; i < result->row_count; i++)
    print_row(&result->rows[i]);
  if (result->best_geomean_us > 0) {
    print_times("geometric mean", result->baseline_geomean_us,
                result->best_geomean_us);
    printf("  over %d shapes%s, %.*s\n", result->geomean_shapes,
           result->baseline_geomean_us > 0 &&
                   result->geomean_shapes < result->row_count
               ? " that the naive has a time on"
               : "",
           kind_size(result->geomean_provenance), result->geomean_provenance);
  }
  print_provenances(result);
  printf("The best are the fastest that %s knows of each shape, earlier runs "
         "included (%lld candidates for %s).\n",
         options->archive_path, (long long)result->archive_candidates,
         result->layout);
}

static void print_device(const ws_tune_result *result) {
  const ws_tune_agreement *a = &result->agreement;
  if (!*result->provenance)
    return;
  printf("Device:   %lld candidates verified, %lld refuted, %lld pairs of "
         "candidate and shape timed in this run\n",
         (long long)result->verified, (long long)result->refuted,
         (long long)result->timed);
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

static void print_speedup(double speedup) {
  if (speedup > 0)
    printf(" %8.3fx", speedup);
  else
    printf(" %9s", "-");
}

/* Winners again, in a fresh process and on shapes that the search never saw. */
static void print_confirmations(const ws_tune_result *result) {
  if (!result->confirmation_count)
    return;
  printf("\nConfirmed against %.8s in a fresh process (%s):\n%-10s %-7s %9s "
         "%9s %9s\n",
         result->confirmations[0].against_id, result->provenance, "candidate",
         "verdict", "search", "held-out", "worst");
  for (int i = 0; i < result->confirmation_count; i++) {
    const ws_confirmation_row *row = &result->confirmations[i];
    printf("%-10.8s %-7s", row->candidate_id, row->verdict);
    print_speedup(row->search_speedup);
    print_speedup(row->held_out_speedup);
    print_speedup(row->worst_speedup);
    printf("%s%s\n", *row->reason ? "  " : "", row->reason);
  }
}

static void print_models(const ws_tune_result *result) {
  if (result->questions > 0)
    printf("Models:   %lld questions, %lld tokens in, %lld out, %.4f USD; %lld "
           "documents, %lld replies without a candidate\n",
           (long long)result->questions, (long long)result->prompt_tokens,
           (long long)result->reply_tokens, result->usd,
           (long long)result->documents, (long long)result->refused);
  if (*result->stop && !result->awaited)
    printf("Ended:    %s\n", result->stop);
}

static void print_counts(const ws_tune_result *result) {
  const char *separator = "; verdicts: ";
  if (result->awaited)
    printf("\nThis run: %lld candidates wait for their times, %lld are judged",
           (long long)result->awaited, (long long)result->evaluated);
  else
    printf("\nThis run: %lld candidates built in %.1f s",
           (long long)result->evaluated, result->seconds);
  printf(", %lld known from the archive", (long long)result->replayed);
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (result->verdicts[i]) {
      printf("%s%s %lld", separator, ws_verdict_text((ws_verdict)i),
             (long long)result->verdicts[i]);
      separator = ", ";
    }
  printf("\n");
}

/* What would make a further run find more. */
static const char *how_to_go_on(const ws_tune_result *result,
                                const ws_tune_options *options) {
  if (result->exhausted)
    return "nothing is left to try: no further legal point was found";
  if (!result->interrupted && options->evaluations > 0 &&
      result->evaluated + result->replayed + result->refused >=
          options->evaluations)
    return "the same command with a larger --evaluations (it counts the known "
           "ones too), or with another --seed";
  return "the same command again; what is known is not built again";
}

static void print_uses(const ws_tune_result *result,
                       const ws_tune_options *options) {
  bool recorded = options->device && !strncmp(options->device, "table:", 6);
  printf("Look at: wavesmith archive show %s CANDIDATE\n",
         options->archive_path);
  bool named = !strchr(options->shape_set, ','); /* dispatch takes no list */
  if (!recorded) /* a table has no code objects */
    printf("Use:     wavesmith dispatch %s --layout %s%s%s --out DIR\n",
           options->archive_path, result->layout, named ? " --shapes " : "",
           named ? options->shape_set : "");
}

static void print_text(const ws_tune_result *result,
                       const ws_tune_options *options) {
  if (result->archive_candidates > 0)
    print_table(result, options);
  else
    printf("\nNo candidate has been judged yet.\n");
  print_confirmations(result);
  print_counts(result);
  print_device(result);
  print_models(result);
  if (!result->awaited)
    printf("Go on:   %s\n", how_to_go_on(result, options));
  if (result->best_geomean_us > 0)
    print_uses(result, options);
  if (result->awaited)
    printf("%s\n", result->stop);
}

/* ---- JSON ---- */
static cJSON *row_json(const ws_tune_row *row) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "m", (double)row->shape.m);
  cJSON_AddNumberToObject(json, "n", (double)row->shape.n);
  cJSON_AddNumberToObject(json, "k", (double)row->shape.k);
  if (row->baseline_us > 0)
    cJSON_AddNumberToObject(json, "baseline_us", row->baseline_us);
  if (row->best_us > 0) {
    cJSON_AddNumberToObject(json, "best_us", row->best_us);
    cJSON_AddStringToObject(json, "candidate", row->best_id);
    cJSON_AddStringToObject(json, "parameters", row->parameters);
    cJSON_AddStringToObject(json, "variants", row->variants);
    cJSON_AddStringToObject(json, "bound", row->bound);
    cJSON_AddStringToObject(json, "provenance", row->provenance);
  }
  return json;
}

static cJSON *device_json(const ws_tune_result *result) {
  const ws_tune_agreement *a = &result->agreement;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "provenance", result->provenance);
  cJSON_AddNumberToObject(json, "verified", (double)result->verified);
  cJSON_AddNumberToObject(json, "refuted", (double)result->refuted);
  cJSON_AddNumberToObject(json, "timed", (double)result->timed);
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
    cJSON_AddNumberToObject(item, "search_speedup", row->search_speedup);
    cJSON_AddNumberToObject(item, "held_out_speedup", row->held_out_speedup);
    cJSON_AddNumberToObject(item, "worst_speedup", row->worst_speedup);
    cJSON_AddNumberToObject(item, "noise", row->noise);
    cJSON_AddItemToArray(list, item);
  }
  return list;
}

static void print_json(const ws_tune_result *result) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "event", "result");
  cJSON_AddNumberToObject(json, "run", (double)result->run_id);
  cJSON_AddNumberToObject(json, "evaluated", (double)result->evaluated);
  cJSON_AddNumberToObject(json, "replayed", (double)result->replayed);
  cJSON_AddNumberToObject(json, "seconds", result->seconds);
  cJSON_AddBoolToObject(json, "interrupted", result->interrupted);
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
  if (*result->provenance)
    cJSON_AddItemToObject(json, "device", device_json(result));
  if (result->confirmation_count)
    cJSON_AddItemToObject(json, "confirmations", confirmations_json(result));
  add_models_json(json, result);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

/* An interrupted run that got anywhere has done its work. */
static int finish(const tune_arguments *arguments,
                  const ws_tune_result *result) {
  if (arguments->tune.json)
    print_json(result);
  else
    print_text(result, &arguments->tune);
  if (!result->interrupted)
    return 0;
  fputs("wavesmith tune: interrupted, resume with the same command\n", stderr);
  return result->evaluated + result->replayed > 0
             ? 0
             : ws_status_exit_code(WS_INTERRUPTED);
}

int tool_tune(int argc, char **argv) {
  ws_diag diag = {""};
  tune_arguments arguments;
  ws_status status = tune_options_read("tune", argc, argv, &arguments, &diag);
  if (status != WS_OK)
    return tool_fail("tune", status, &diag);
  if (arguments.help) {
    fputs(usage, stdout);
    fputs(tune_options_help, stdout);
    return 0;
  }
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
