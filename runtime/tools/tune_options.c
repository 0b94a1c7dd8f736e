/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Options of a tuning run.
 */
#include "tune_options.h"
#include "tools.h"

#include <stddef.h>
#include <string.h>

enum { DEFAULT_MINUTES = 3, DEFAULT_ROUNDS = 5, BATCH_ROUND = 64 };

/* ---- lists ---- */
static ws_status add(const ws_option *option, const char *value,
                     const char **items, int most, int *count, ws_diag *diag) {
  if (*count == most)
    return ws_fail(diag, WS_USAGE, NULL, 0, "more than %d times --%s", most,
                   option->name);
  items[(*count)++] = value;
  return WS_OK;
}

static ws_status read_model(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  tune_arguments *arguments = out;
  return add(option, value, arguments->models, TUNE_MODELS,
             &arguments->tune.model_count, diag);
}

static ws_status read_start(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  tune_arguments *arguments = out;
  return add(option, value, arguments->starts, TUNE_STARTS,
             &arguments->tune.start_count, diag);
}

static ws_status read_point(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  tune_arguments *arguments = out;
  return add(option, value, arguments->points, TUNE_STARTS,
             &arguments->tune.point_count, diag);
}

static ws_status read_prompt_bytes(const ws_option *option, const char *value,
                                   void *out, ws_diag *diag) {
  tune_arguments *arguments = out;
  int64_t bytes;
  ws_option number = *option;
  number.kind = WS_OPTION_INT64;
  WS_TRY(ws_option_read(&number, value, &bytes, diag));
  arguments->tune.prompt_bytes = (size_t)bytes;
  return WS_OK;
}

/* ---- the table ---- */
#define AT(member) .offset = offsetof(tune_arguments, tune.member)
const ws_option tune_option_rows[] = {
    TOOL_PROBLEM_ROW,
    TOOL_REFERENCE_ROWS,
    {"baseline", "FILE", "template that is shown as \"naive\"", WS_OPTION_TEXT,
     AT(baseline_file)},
    {"layout", "L", "the problem's layout (default: the target's first)",
     WS_OPTION_TEXT, AT(layout)},
    {"shapes", "S",
     "shape set, A,B;A,B or a=A,b=B;..., a log of shapes that were launched "
     "(a path with a . or /: docs/search.md), or table, with a device of "
     "that kind (default: the problem's first set)",
     WS_OPTION_TEXT, AT(shape_set)},
    {"held-out", "S",
     "shape set that winners are confirmed on (default: held-out)",
     WS_OPTION_TEXT, AT(held_out)},
    {"strategy", "S",
     "local, random, best-of-n, refine, evolve, scientist (default: local)",
     WS_OPTION_TEXT, AT(strategy),
     .choices = "local random best-of-n refine evolve scientist"},
    {"seed", "N", "(default: 1)", WS_OPTION_SEED, AT(seed)},
    {"minutes", "X",
     "ends after X minutes (default without a limit or a model: 3; with a "
     "batch 5 rounds)",
     WS_OPTION_REAL, AT(minutes), .low = 1e-9, .high = 1e6},
    {"evaluations", "N", "ends after N candidates, known ones included",
     WS_OPTION_INT64, AT(evaluations), .low = 1},
    {"archive", "FILE", "(default: wavesmith.db)", WS_OPTION_TEXT,
     AT(archive_path)},
    {"start", "ID",
     "begins with this candidate of the archive, not with the template's "
     "defaults; may be repeated",
     WS_OPTION_READ, .read = read_start},
    {"point", "VALUES",
     "begins with this point of the template, too (\"tile_m=128;stages=4\"); "
     "may be repeated",
     WS_OPTION_READ, .read = read_point},
    {"workers", "N", "compile servers (default: one per core)", WS_OPTION_INT,
     AT(workers), .low = 1, .high = 4096},
    {"device", "D",
     "what times candidates: hip or cuda (a card; cuda:1 is the second, "
     "cuda:all every one), sim (a simulated MI300X; sim:mi300a another card, "
     "`wavesmith sim --profiles` lists them), estimate (the bound model "
     "alone), auto: the target's card, else its simulator (default), "
     "table:FILE.csv, recorded times, or batch:FOLDER: work in rounds, timed "
     "where the card is",
     WS_OPTION_TEXT, AT(device),
     .choices = "auto hip cuda cuda:all sim sim:mi300a sim:mi308x sim:mi325x "
                "estimate table: batch:"},
    {"round", "N",
     "candidates that are asked for at once (default with a batch: 64, else "
     "none)",
     WS_OPTION_INT, AT(round), .low = 1, .high = 2048},
    {"rank", "R",
     "what proposals follow from: estimate, or device (every candidate is "
     "verified and timed first; default with a --model, a table, a batch, or "
     "for sm_90a)",
     WS_OPTION_TEXT, AT(rank), .choices = "estimate device"},
    {"json", NULL, "progress and result as JSON lines on stdout",
     WS_OPTION_FLAG, AT(json)},
    {.help = "Models (docs/llm.md):"},
    {"model", "SPEC",
     "who proposes: openai:URL#MODEL, anthropic:#MODEL, gemini:#MODEL, "
     "exchange:DIR, replay:FILE, replay-any:FILE or builtin (the default), "
     "with ;weight=W;price=IN/OUT;key=VARIABLE;key-file=PATH; may be repeated",
     WS_OPTION_READ, .read = read_model,
     .choices = "builtin openai: anthropic: gemini: exchange: replay: "
                "replay-any:"},
    {"in-flight", "N", "questions open at once (default: 4)", WS_OPTION_INT,
     AT(in_flight), .low = 1, .high = 16},
    {"repairs", "N", "of one failed candidate (default: 1)", WS_OPTION_INT,
     AT(repairs), .low = 0, .high = 16},
    {"small-moves", "N",
     "of parameters, and merges of gains, that the tool tries by itself after "
     "each template or body of a model, as long as they gain; beyond "
     "--evaluations (default: 4; 0: none)",
     WS_OPTION_INT, AT(small_moves), .low = 0, .high = 64},
    {"blind-siblings", NULL,
     "scientist: the experiments of a design are asked for at once, none sees "
     "another's result",
     WS_OPTION_FLAG, AT(blind_siblings)},
    {"token-budget", "N", "ends the run cleanly", WS_OPTION_INT64,
     AT(token_budget)},
    {"usd-budget", "X", "ends the run cleanly", WS_OPTION_REAL, AT(usd_budget),
     .low = 0, .high = 1e9},
    {"request-seconds", "X", "one attempt of a question (default: 300)",
     WS_OPTION_REAL, AT(request_seconds), .low = 1e-3, .high = 1e6},
    {"total-seconds", "X", "one question with its retries (default: 900)",
     WS_OPTION_REAL, AT(total_seconds), .low = 1e-3, .high = 1e6},
    {"prompts", "DIR", "texts in place of the program's own", WS_OPTION_TEXT,
     AT(prompts)},
    {"prompt-bytes", "N", "budget of one prompt (default: 131072)",
     WS_OPTION_READ, .read = read_prompt_bytes, .low = 1024, .high = 64 << 20},
    WS_OPTIONS_END};

ws_status tune_options_read(const ws_command *command, int argc, char **argv,
                            tune_arguments *out, ws_diag *diag) {
  ws_words words;
  *out = (tune_arguments){.tune = {.strategy = "local",
                                   .archive_path = "wavesmith.db",
                                   .device = "auto",
                                   .seed = 1,
                                   .repairs = -1,
                                   .small_moves = 4,
                                   .token_budget = -1,
                                   .usd_budget = -1}};
  out->tune.models = out->models;
  out->tune.start = out->starts;
  out->tune.points = out->points;
  WS_TRY(ws_options_parse(command, argc, argv, out, &words, diag));
  out->help = words.help;
  if (out->help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one template file; `%s --help` shows how",
                   command->program);
  out->tune.template_file = words.items[0];
  out->tune.problems = *tool_named_problems();
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
