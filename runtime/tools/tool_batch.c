/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith batch ACTION ...`: candidates out to be measured on another
 * machine, answers in, and how far it is.
 */
#include "copy_tree.h"
#include "recompile.h"
#include "tools.h"
#include "wavesmith/batch_transfer.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct batch_arguments {
  ws_batch_export_options export;
  bool untimed, with_source, help;
  char **words;
  int word_count;
} batch_arguments;

/* ---- options ---- */

#define AT(member) .offset = offsetof(batch_arguments, member)
static const ws_option rows[] = {
    TOOL_PROBLEM_ROW,
    TOOL_REFERENCE_ROWS,
    {.help = "Of export; without ID, --best and --all it takes those that are "
             "ok and\nhave no time of a card:"},
    {"untimed", NULL, "those, in a word", WS_OPTION_FLAG, AT(untimed)},
    {"best", "N", "the N best by score", WS_OPTION_INT, AT(export.best),
     .low = 1, .high = 1000000},
    {"all", NULL, "all that are ok", WS_OPTION_FLAG, AT(export.all)},
    {"target", "T", "only those for this target", WS_OPTION_TEXT,
     AT(export.target), .choices = "gfx942 sm_90a"},
    {"shapes", "S",
     "shape set, or A,B;A,B or a=A,b=B;... or a log of shapes (default: the "
     "problem's first set)",
     WS_OPTION_TEXT, AT(export.shapes)},
    {"seed", "N", "of the inputs (default: 1)", WS_OPTION_SEED,
     AT(export.seed)},
    {"device", "D", "of what kind of device (default: the target's)",
     WS_OPTION_TEXT, AT(export.device),
     .choices = "hip cuda sim sim:mi300a sim:mi308x sim:mi325x"},
    {"with-source", NULL,
     "the sources of wavesmith-device too, in FOLDER/src: it builds with a C "
     "compiler and CMake alone",
     WS_OPTION_FLAG, AT(with_source)},
    WS_OPTIONS_END};

const ws_command batch_command = {
    .program = "wavesmith batch",
    .purpose = "measure on another machine: jobs out, answers in",
    .usage = "export ARCHIVE FOLDER [ID ...] [OPTION ...]\n"
             "import ARCHIVE FOLDER\n"
             "status FOLDER",
    .about =
        "export     writes into FOLDER what is to be measured: code objects "
        "and\n"
        "           jobs. There, on the machine with the GPU, runs\n"
        "           `wavesmith-device run FOLDER`. Exporting more into the "
        "same\n"
        "           folder adds to it. ID: candidates, or the first digits.\n"
        "import     takes the answers in, all or nothing; again changes "
        "nothing\n"
        "status     jobs, answers, verdicts, and of which cards",
    .options = rows};

static ws_status read_arguments(int argc, char **argv, batch_arguments *out,
                                ws_diag *diag) {
  ws_words words;
  *out = (batch_arguments){.export = {.seed = 1}};
  WS_TRY(ws_options_parse(&batch_command, argc, argv, out, &words, diag));
  out->help = words.help;
  out->words = words.items;
  out->word_count = words.count;
  return WS_OK;
}

/* ---- export ---- */

static ws_status check_choice(const batch_arguments *arguments, ws_diag *diag) {
  const ws_batch_export_options *options = &arguments->export;
  int choices = (options->id_count > 0) + (options->best > 0) + options->all +
                arguments->untimed;
  return choices <= 1 ? WS_OK
                      : ws_fail(diag, WS_USAGE, NULL, 0,
                                "wanted is one of ID ..., --best, --all and "
                                "--untimed");
}

static void print_exported(const char *folder, const ws_batch_exported *out,
                           bool with_source) {
  printf("%s: %d jobs for %s, %d of them new", folder, out->added + out->known,
         out->target, out->added);
  if (out->without_code)
    printf("; left out: %d without code object", out->without_code);
  if (out->unsuitable)
    printf("%s %d that take none of the shapes",
           out->without_code ? "," : "; left out:", out->unsuitable);
  printf("\nnext, where the GPU is:\n");
  if (with_source)
    printf("  cmake -S %s/src -B %s/build && cmake --build %s/build -j\n"
           "  %s/build/wavesmith-device run %s\n",
           folder, folder, folder, folder, folder);
  else
    printf("  wavesmith-device run %s\n", folder);
  printf("then here: wavesmith batch import ARCHIVE %s\n", folder);
}

/* context: the compiler, NULL until it is needed. */
static ws_status compile(void *context, ws_archive *archive, ws_arena *arena,
                         const ws_candidate *candidate, ws_build_result *build,
                         ws_diag *diag) {
  return recompile(archive, arena, context, candidate, build, diag);
}

static ws_status run_export(batch_arguments *arguments, ws_diag *diag) {
  ws_archive *archive;
  ws_compiler *compiler = NULL;
  ws_batch_exported exported;
  const char *folder = arguments->words[2];
  arguments->export.ids = (const char *const *)arguments->words + 3;
  arguments->export.id_count = arguments->word_count - 3;
  arguments->export.compile = compile;
  arguments->export.context = &compiler;
  WS_TRY(check_choice(arguments, diag));
  WS_TRY(ws_archive_open(arguments->words[1], false, &archive, diag));
  ws_arena *arena = ws_arena_create();
  ws_status status = ws_batch_export(archive, arena, folder, &arguments->export,
                                     &exported, diag);
  if (status == WS_OK && arguments->with_source)
    status = copy_device_source(arena, folder, diag);
  if (status == WS_OK)
    print_exported(folder, &exported, arguments->with_source);
  ws_compiler_stop(compiler);
  ws_arena_destroy(arena);
  ws_archive_close(archive);
  return status;
}

/* ---- import ---- */

static ws_status run_import(batch_arguments *arguments, ws_diag *diag) {
  ws_archive *archive;
  ws_batch_imported imported;
  WS_TRY(ws_archive_open(arguments->words[1], false, &archive, diag));
  ws_status status =
      ws_batch_import(archive, arguments->words[2], &imported, diag);
  ws_archive_close(archive);
  WS_TRY(status);
  printf("%s: %d answers to %d jobs: %d times are new, %d candidates fail on "
         "the device\n",
         arguments->words[2], imported.answers, imported.jobs, imported.times,
         imported.refuted);
  if (imported.device_faults)
    printf("%d answers say nothing: the simulator died or was too slow\n",
           imported.device_faults);
  return WS_OK;
}

/* ---- status ---- */

typedef struct tally {
  int verdicts[WS_VERDICT_COUNT], outrun;
  const char *cards[64];
  int card_jobs[64], card_count;
} tally;

static void count_card(tally *counts, ws_arena *arena,
                       const ws_batch_answer *answer) {
  const char *name = ws_arena_printf(
      arena, "%s%s%s", answer->device->provenance,
      *answer->device->driver ? ", driver " : "", answer->device->driver);
  int i = 0;
  while (i < counts->card_count && strcmp(counts->cards[i], name) != 0)
    i++;
  if (i == 64)
    return;
  if (i == counts->card_count)
    counts->cards[counts->card_count++] = name;
  counts->card_jobs[i]++;
}

static ws_status count_answers(ws_batch *batch, ws_arena *arena, tally *counts,
                               ws_diag *diag) {
  ws_status status = WS_OK;
  for (int i = 0; i < ws_batch_jobs(batch) && status == WS_OK; i++) {
    ws_arena *own = ws_arena_create();
    ws_batch_job job;
    ws_batch_answer answer;
    bool found;
    status = ws_batch_read_answer(batch, own, i, &found, &answer, diag);
    if (status == WS_OK && found)
      status = ws_batch_read_job(batch, own, i, &job, diag);
    if (status == WS_OK && found) {
      ws_verdict last = answer.steps[answer.step_count - 1].verdict;
      if (last == WS_VERDICT_OK && answer.step_count < job.step_count)
        counts->outrun++;
      else
        counts->verdicts[last]++;
      count_card(counts, arena, &answer);
    }
    ws_arena_destroy(own);
  }
  return status;
}

static void print_tally(const tally *counts) {
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (counts->verdicts[i])
      printf("  %6d %s\n", counts->verdicts[i], ws_verdict_text((ws_verdict)i));
  if (counts->outrun)
    printf("  %6d outrun (lost the race, not timed further)\n", counts->outrun);
  for (int i = 0; i < counts->card_count; i++)
    printf("  on %s: %d\n", counts->cards[i], counts->card_jobs[i]);
}

static ws_status run_status(batch_arguments *arguments, ws_diag *diag) {
  ws_batch *batch;
  tally counts = {.card_count = 0};
  WS_TRY(ws_batch_open(arguments->words[1], NULL, NULL, &batch, diag));
  ws_arena *arena = ws_arena_create();
  ws_status status = count_answers(batch, arena, &counts, diag);
  if (status == WS_OK) {
    printf("%s: for %s (device %s): %d jobs, %d answered, %d open\n",
           arguments->words[1], ws_batch_target(batch), ws_batch_device(batch),
           ws_batch_jobs(batch),
           ws_batch_jobs(batch) - ws_batch_open_jobs(batch),
           ws_batch_open_jobs(batch));
    print_tally(&counts);
  }
  ws_arena_destroy(arena);
  ws_batch_close(batch);
  return status;
}

/* ---- actions ---- */

static const struct action {
  const char *name;
  ws_status (*run)(batch_arguments *arguments, ws_diag *diag);
  int min_words, max_words; /* with its own */
} actions[] = {{"export", run_export, 3, 1 << 20},
               {"import", run_import, 3, 3},
               {"status", run_status, 2, 2}};

static ws_status run_action(batch_arguments *arguments, ws_diag *diag) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
    if (arguments->word_count >= actions[i].min_words &&
        arguments->word_count <= actions[i].max_words &&
        !strcmp(arguments->words[0], actions[i].name))
      return actions[i].run(arguments, diag);
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "wanted is export ARCHIVE FOLDER [ID ...], import ARCHIVE "
                 "FOLDER or status FOLDER; `wavesmith batch --help` shows "
                 "more");
}

int tool_batch(int argc, char **argv) {
  ws_diag diag = {""};
  batch_arguments arguments;
  ws_status status = read_arguments(argc, argv, &arguments, &diag);
  if (status == WS_OK && arguments.help)
    return tool_help(&batch_command);
  if (status == WS_OK)
    status = run_action(&arguments, &diag);
  return status == WS_OK ? 0 : tool_fail("batch", status, &diag);
}
