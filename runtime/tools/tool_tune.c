/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith tune`: options, and the table at the end. The work is ws_tune.
 */
#include "tools.h"
#include "wavesmith/search.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: wavesmith tune TEMPLATE [OPTION ...]\n"
    "Searches the template's space and keeps all that was learned in an\n"
    "archive. The same command again resumes: what the archive knows is not\n"
    "built again. Ctrl-C ends with everything kept.\n\n"
    "  --baseline FILE    template that is shown as \"naive\"\n"
    "  --layout L         kmajor or mnmajor (default: kmajor)\n"
    "  --shapes S         shape set, or m,n,k;m,n,k (default: contest)\n"
    "  --strategy S       local or random (default: local)\n"
    "  --seed N           (default: 1)\n"
    "  --minutes X        ends after X minutes (default: 3, unless "
    "--evaluations)\n"
    "  --evaluations N    ends after N candidates, known ones included\n"
    "  --archive FILE     (default: wavesmith.db)\n"
    "  --workers N        compile servers (default: one per core)\n"
    "  --device D         what times candidates: hip (a card), sim (a "
    "simulated\n"
    "                     MI300X), estimate (the bound model alone), or auto:\n"
    "                     the first of these that answers (default: auto)\n"
    "  --json             progress and result as JSON lines on stdout\n";

enum { DEFAULT_MINUTES = 3 };

typedef struct tune_arguments {
  ws_tune_options tune;
  bool help;
} tune_arguments;

/* ---- options ---- */
static ws_status wrong_number(const char *option, const char *what,
                              ws_diag *diag) {
  return ws_fail(diag, WS_USAGE, NULL, 0, "--%s '%s' is not %s", option, optarg,
                 what);
}

static ws_status read_seed(tune_arguments *out, ws_diag *diag) {
  char *end;
  errno = 0;
  out->tune.seed = strtoull(optarg, &end, 10);
  if (*optarg < '0' || *optarg > '9' || *end || errno)
    return wrong_number("seed", "an integer from 0", diag);
  return WS_OK;
}

static ws_status read_minutes(tune_arguments *out, ws_diag *diag) {
  char *end;
  out->tune.minutes = strtod(optarg, &end);
  if (end == optarg || *end || !(out->tune.minutes > 0) ||
      out->tune.minutes > 1e6)
    return wrong_number("minutes", "a number above 0", diag);
  return WS_OK;
}

static ws_status read_evaluations(tune_arguments *out, ws_diag *diag) {
  char *end;
  errno = 0;
  out->tune.evaluations = strtoll(optarg, &end, 10);
  if (end == optarg || *end || errno || out->tune.evaluations < 1)
    return wrong_number("evaluations", "an integer from 1", diag);
  return WS_OK;
}

static ws_status read_workers(tune_arguments *out, ws_diag *diag) {
  char *end;
  long workers = strtol(optarg, &end, 10);
  if (end == optarg || *end || workers < 1 || workers > 4096)
    return wrong_number("workers", "a number from 1 to 4096", diag);
  out->tune.workers = (int)workers;
  return WS_OK;
}

static const struct text_option {
  const char *name;
  size_t offset;
} text_options[] = {
    {"baseline", offsetof(ws_tune_options, baseline_file)},
    {"layout", offsetof(ws_tune_options, layout)},
    {"shapes", offsetof(ws_tune_options, shape_set)},
    {"strategy", offsetof(ws_tune_options, strategy)},
    {"archive", offsetof(ws_tune_options, archive_path)},
    {"device", offsetof(ws_tune_options, device)},
};
static const struct number_option {
  const char *name;
  ws_status (*read)(tune_arguments *out, ws_diag *diag);
} number_options[] = {
    {"seed", read_seed},
    {"minutes", read_minutes},
    {"evaluations", read_evaluations},
    {"workers", read_workers},
};
enum {
  TEXT_OPTIONS = sizeof text_options / sizeof text_options[0],
  NUMBER_OPTIONS = sizeof number_options / sizeof number_options[0],
  JSON = TEXT_OPTIONS + NUMBER_OPTIONS,
  HELP,
  OPTION_COUNT
};

static void fill_table(struct option table[OPTION_COUNT + 1]) {
  memset(table, 0, sizeof *table * (OPTION_COUNT + 1));
  for (int i = 0; i < TEXT_OPTIONS; i++)
    table[i] =
        (struct option){text_options[i].name, required_argument, NULL, i};
  for (int i = 0; i < NUMBER_OPTIONS; i++)
    table[TEXT_OPTIONS + i] = (struct option){
        number_options[i].name, required_argument, NULL, TEXT_OPTIONS + i};
  table[JSON] = (struct option){"json", no_argument, NULL, JSON};
  table[HELP] = (struct option){"help", no_argument, NULL, HELP};
}

static ws_status read_option(int option, tune_arguments *out, ws_diag *diag) {
  if (option < TEXT_OPTIONS)
    memcpy((char *)&out->tune + text_options[option].offset, &optarg,
           sizeof optarg);
  else if (option < TEXT_OPTIONS + NUMBER_OPTIONS)
    return number_options[option - TEXT_OPTIONS].read(out, diag);
  else if (option == JSON)
    out->tune.json = true;
  else
    out->help = true;
  return WS_OK;
}

static ws_status read_arguments(int argc, char **argv, tune_arguments *out,
                                ws_diag *diag) {
  struct option table[OPTION_COUNT + 1];
  fill_table(table);
  *out = (tune_arguments){.tune = {.layout = "kmajor",
                                   .shape_set = "contest",
                                   .strategy = "local",
                                   .archive_path = "wavesmith.db",
                                   .device = "auto",
                                   .seed = 1}};
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith tune "
                     "--help` lists the options",
                     argv[optind - 1]);
    WS_TRY(read_option(option, out, diag));
  }
  if (out->help)
    return WS_OK;
  if (optind + 1 != argc)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one template file; `wavesmith tune --help` shows "
                   "how");
  out->tune.template_file = argv[optind];
  if (out->tune.minutes <= 0 && out->tune.evaluations <= 0)
    out->tune.minutes = DEFAULT_MINUTES;
  return WS_OK;
}

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
         options->layout);
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

static void print_counts(const ws_tune_result *result) {
  const char *separator = "; verdicts: ";
  printf("\nThis run: %lld candidates built in %.1f s, %lld known from the "
         "archive",
         (long long)result->evaluated, result->seconds,
         (long long)result->replayed);
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
      result->evaluated + result->replayed >= options->evaluations)
    return "the same command with a larger --evaluations (it counts the known "
           "ones too), or with another --seed";
  return "the same command again; what is known is not built again";
}

static void print_text(const ws_tune_result *result,
                       const ws_tune_options *options) {
  if (result->archive_candidates > 0)
    print_table(result, options);
  else
    printf("\nNo candidate has been judged yet.\n");
  print_counts(result);
  print_device(result);
  printf("Go on:   %s\n", how_to_go_on(result, options));
  if (!(result->best_geomean_us > 0))
    return;
  printf("Look at: wavesmith archive show %s CANDIDATE\n",
         options->archive_path);
  bool named = !strchr(options->shape_set, ','); /* dispatch takes no list */
  printf("Use:     wavesmith dispatch %s --layout %s%s%s --out DIR\n",
         options->archive_path, options->layout, named ? " --shapes " : "",
         named ? options->shape_set : "");
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
  ws_status status = read_arguments(argc, argv, &arguments, &diag);
  if (status != WS_OK)
    return tool_fail("tune", status, &diag);
  if (arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  ws_tune_result result;
  ws_arena *arena = ws_arena_create();
  status = ws_tune(&arguments.tune, arena, &result, &diag);
  int code = status == WS_OK ? finish(&arguments, &result)
                             : tool_fail("tune", status, &diag);
  ws_arena_destroy(arena);
  return code;
}
