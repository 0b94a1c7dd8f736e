/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Options of a tuning run, as two tables: texts that are taken as they are, and
 * those that are read.
 */
#include "tune_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char tune_options_help[] =
    "  --baseline FILE    template that is shown as \"naive\"\n"
    "  --layout L         kmajor, mnmajor or kmajor-ocp (default: the "
    "target's\n"
    "                     first)\n"
    "  --shapes S         shape set, m,n,k;m,n,k, or table, with a device of\n"
    "                     that kind (default: contest)\n"
    "  --held-out S       shape set that winners are confirmed on (default:\n"
    "                     held-out)\n"
    "  --strategy S       local, random, best-of-n, refine, evolve, scientist\n"
    "                     (default: local)\n"
    "  --seed N           (default: 1)\n"
    "  --minutes X        ends after X minutes (default without a limit "
    "or\n                     a model: 3; with a batch 5 rounds)\n"
    "  --evaluations N    ends after N candidates, known ones included\n"
    "  --archive FILE     (default: wavesmith.db)\n"
    "  --start ID         begins with this candidate of the archive, not with\n"
    "                     the template's defaults; may be repeated\n"
    "  --point VALUES     begins with this point of the template, too\n"
    "                     (\"tile_m=128;stages=4\"); may be repeated\n"
    "  --workers N        compile servers (default: one per core)\n"
    "  --device D         what times candidates: hip or cuda (a card; cuda:1 "
    "is\n"
    "                     the second, cuda:all every one), sim (a simulated\n"
    "                     MI300X), estimate (the bound model alone), auto: "
    "the\n"
    "                     target's card, else its simulator (default),\n"
    "                     table:FILE.csv, recorded times, or batch:FOLDER: "
    "work\n"
    "                     in rounds, timed where the card is\n"
    "  --round N          candidates that are asked for at once (default with "
    "a\n"
    "                     batch: 64, else none)\n"
    "  --rank R           what proposals follow from: estimate, or device "
    "(every\n"
    "                     candidate is verified and timed first; default with\n"
    "                     a --model, a table, a batch, or for sm_90a)\n"
    "  --json             progress and result as JSON lines on stdout\n"
    "Models (docs/llm.md):\n"
    "  --model SPEC       who proposes: openai:URL#MODEL, anthropic:#MODEL,\n"
    "                     gemini:#MODEL, exchange:DIR, replay:FILE,\n"
    "                     replay-any:FILE or builtin (the default), with\n"
    "                     ;weight=W;price=IN/OUT;key=VARIABLE;key-file=PATH;\n"
    "                     may be repeated\n"
    "  --in-flight N      questions open at once (default: 4)\n"
    "  --repairs N        of one failed candidate (default: 1)\n"
    "  --token-budget N   --usd-budget X   end the run cleanly\n"
    "  --request-seconds X  --total-seconds X  one attempt; one question with\n"
    "                     its retries (default: 300, 900)\n"
    "  --prompts DIR      texts in place of the program's own\n"
    "  --prompt-bytes N   budget of one prompt (default: 131072)\n";

enum {
  DEFAULT_MINUTES = 3,
  DEFAULT_ROUNDS = 5,
  BATCH_ROUND = 64,
  MOST_WORKERS = 4096,
  MOST_COUNT = 1000000
};

static ws_status wrong(const char *option, const char *what, ws_diag *diag) {
  return ws_fail(diag, WS_USAGE, NULL, 0, "--%s '%s' is not %s", option, optarg,
                 what);
}

/* ---- numbers ---- */
static bool read_integer(int64_t least, int64_t most, int64_t *out) {
  char *end;
  errno = 0;
  *out = strtoll(optarg, &end, 10);
  return end != optarg && !*end && !errno && *out >= least && *out <= most;
}

static bool read_real(double least, double most, double *out) {
  char *end;
  *out = strtod(optarg, &end);
  return end != optarg && !*end && *out >= least && *out <= most;
}

static ws_status read_seed(tune_arguments *out, ws_diag *diag) {
  char *end;
  errno = 0;
  out->tune.seed = strtoull(optarg, &end, 10);
  if (*optarg < '0' || *optarg > '9' || *end || errno)
    return wrong("seed", "an integer from 0", diag);
  return WS_OK;
}

static ws_status read_minutes(tune_arguments *out, ws_diag *diag) {
  return read_real(1e-9, 1e6, &out->tune.minutes)
             ? WS_OK
             : wrong("minutes", "a number above 0", diag);
}

static ws_status read_evaluations(tune_arguments *out, ws_diag *diag) {
  return read_integer(1, INT64_MAX, &out->tune.evaluations)
             ? WS_OK
             : wrong("evaluations", "an integer from 1", diag);
}

static ws_status read_workers(tune_arguments *out, ws_diag *diag) {
  int64_t count;
  if (!read_integer(1, MOST_WORKERS, &count))
    return wrong("workers", "a number from 1 to 4096", diag);
  out->tune.workers = (int)count;
  return WS_OK;
}

static ws_status read_round(tune_arguments *out, ws_diag *diag) {
  int64_t count;
  if (!read_integer(1, 2048, &count))
    return wrong("round", "a number from 1 to 2048", diag);
  out->tune.round = (int)count;
  return WS_OK;
}

static ws_status read_in_flight(tune_arguments *out, ws_diag *diag) {
  int64_t count;
  if (!read_integer(1, 16, &count))
    return wrong("in-flight", "a number from 1 to 16", diag);
  out->tune.in_flight = (int)count;
  return WS_OK;
}

static ws_status read_repairs(tune_arguments *out, ws_diag *diag) {
  int64_t count;
  if (!read_integer(0, 16, &count))
    return wrong("repairs", "a number from 0 to 16", diag);
  out->tune.repairs = (int)count;
  return WS_OK;
}

static ws_status read_tokens(tune_arguments *out, ws_diag *diag) {
  return read_integer(0, INT64_MAX, &out->tune.token_budget)
             ? WS_OK
             : wrong("token-budget", "an integer from 0", diag);
}

static ws_status read_usd(tune_arguments *out, ws_diag *diag) {
  return read_real(0, 1e9, &out->tune.usd_budget)
             ? WS_OK
             : wrong("usd-budget", "a number from 0", diag);
}

static ws_status read_request(tune_arguments *out, ws_diag *diag) {
  return read_real(1e-3, 1e6, &out->tune.request_seconds)
             ? WS_OK
             : wrong("request-seconds", "a number above 0", diag);
}

static ws_status read_total(tune_arguments *out, ws_diag *diag) {
  return read_real(1e-3, 1e6, &out->tune.total_seconds)
             ? WS_OK
             : wrong("total-seconds", "a number above 0", diag);
}

static ws_status read_prompt_bytes(tune_arguments *out, ws_diag *diag) {
  int64_t bytes;
  if (!read_integer(1024, 64 << 20, &bytes))
    return wrong("prompt-bytes", "a number from 1024", diag);
  out->tune.prompt_bytes = (size_t)bytes;
  return WS_OK;
}

/* ---- lists ---- */
static ws_status read_model(tune_arguments *out, ws_diag *diag) {
  if (out->tune.model_count == TUNE_MODELS)
    return ws_fail(diag, WS_USAGE, NULL, 0, "more than %d times --model",
                   TUNE_MODELS);
  out->models[out->tune.model_count++] = optarg;
  return WS_OK;
}

static ws_status read_start(tune_arguments *out, ws_diag *diag) {
  if (out->tune.start_count == TUNE_STARTS)
    return ws_fail(diag, WS_USAGE, NULL, 0, "more than %d times --start",
                   TUNE_STARTS);
  out->starts[out->tune.start_count++] = optarg;
  return WS_OK;
}

static ws_status read_points(tune_arguments *out, ws_diag *diag) {
  if (out->tune.point_count == TUNE_STARTS)
    return ws_fail(diag, WS_USAGE, NULL, 0, "more than %d times --point",
                   TUNE_STARTS);
  out->points[out->tune.point_count++] = optarg;
  return WS_OK;
}

static ws_status read_json(tune_arguments *out, ws_diag *diag) {
  (void)diag;
  out->tune.json = true;
  return WS_OK;
}

static ws_status read_help(tune_arguments *out, ws_diag *diag) {
  (void)diag;
  out->help = true;
  return WS_OK;
}

/* ---- the tables ---- */
static const struct text_option {
  const char *name;
  size_t offset;
} text_options[] = {
    {"baseline", offsetof(ws_tune_options, baseline_file)},
    {"layout", offsetof(ws_tune_options, layout)},
    {"shapes", offsetof(ws_tune_options, shape_set)},
    {"held-out", offsetof(ws_tune_options, held_out)},
    {"strategy", offsetof(ws_tune_options, strategy)},
    {"archive", offsetof(ws_tune_options, archive_path)},
    {"device", offsetof(ws_tune_options, device)},
    {"rank", offsetof(ws_tune_options, rank)},
    {"prompts", offsetof(ws_tune_options, prompts)},
};
static const struct read_option {
  const char *name;
  int argument;
  ws_status (*read)(tune_arguments *out, ws_diag *diag);
} read_options[] = {
    {"seed", required_argument, read_seed},
    {"minutes", required_argument, read_minutes},
    {"evaluations", required_argument, read_evaluations},
    {"workers", required_argument, read_workers},
    {"round", required_argument, read_round},
    {"point", required_argument, read_points},
    {"in-flight", required_argument, read_in_flight},
    {"repairs", required_argument, read_repairs},
    {"token-budget", required_argument, read_tokens},
    {"usd-budget", required_argument, read_usd},
    {"request-seconds", required_argument, read_request},
    {"total-seconds", required_argument, read_total},
    {"prompt-bytes", required_argument, read_prompt_bytes},
    {"model", required_argument, read_model},
    {"start", required_argument, read_start},
    {"json", no_argument, read_json},
    {"help", no_argument, read_help},
};
enum {
  TEXT_OPTIONS = sizeof text_options / sizeof text_options[0],
  READ_OPTIONS = sizeof read_options / sizeof read_options[0],
  OPTION_COUNT = TEXT_OPTIONS + READ_OPTIONS
};

static void fill_table(struct option table[OPTION_COUNT + 1]) {
  memset(table, 0, sizeof *table * (OPTION_COUNT + 1));
  for (int i = 0; i < TEXT_OPTIONS; i++)
    table[i] =
        (struct option){text_options[i].name, required_argument, NULL, i};
  for (int i = 0; i < READ_OPTIONS; i++)
    table[TEXT_OPTIONS + i] = (struct option){
        read_options[i].name, read_options[i].argument, NULL, TEXT_OPTIONS + i};
}

static ws_status take_option(int option, tune_arguments *out, ws_diag *diag) {
  if (option >= TEXT_OPTIONS)
    return read_options[option - TEXT_OPTIONS].read(out, diag);
  memcpy((char *)&out->tune + text_options[option].offset, &optarg,
         sizeof optarg);
  return WS_OK;
}

ws_status tune_options_read(const char *program, int argc, char **argv,
                            tune_arguments *out, ws_diag *diag) {
  struct option table[OPTION_COUNT + 1];
  fill_table(table);
  *out = (tune_arguments){.tune = {.shape_set = "contest",
                                   .strategy = "local",
                                   .archive_path = "wavesmith.db",
                                   .device = "auto",
                                   .seed = 1,
                                   .repairs = -1,
                                   .token_budget = -1,
                                   .usd_budget = -1}};
  out->tune.models = out->models;
  out->tune.start = out->starts;
  out->tune.points = out->points;
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith %s "
                     "--help` lists the options",
                     argv[optind - 1], program);
    WS_TRY(take_option(option, out, diag));
  }
  if (out->help)
    return WS_OK;
  if (optind + 1 != argc)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one template file; `wavesmith %s --help` shows "
                   "how",
                   program);
  out->tune.template_file = argv[optind];
  return WS_OK;
}

ws_status tune_options_limit(tune_arguments *out, ws_diag *diag) {
  ws_tune_options *tune = &out->tune;
  if (tune->minutes > 0 || tune->evaluations > 0)
    return WS_OK;
  bool batch = tune->device && !strncmp(tune->device, "batch:", 6);
  if (tune->model_count == 0 && batch)
    tune->evaluations =
        DEFAULT_ROUNDS * (tune->round > 0 ? tune->round : BATCH_ROUND);
  else if (tune->model_count == 0)
    tune->minutes = DEFAULT_MINUTES;
  else if (tune->token_budget < 0 && tune->usd_budget < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a run that asks models needs a limit: --evaluations, "
                   "--minutes, --token-budget or --usd-budget");
  return WS_OK;
}
