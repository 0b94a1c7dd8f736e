/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith-device run FOLDER`: options, what is said on the way, exit code.
 * Before a card is touched, every open job and its code object are read, so
 * that a damaged folder costs no time on it.
 */
#include "run_batch.h"
#include "wavesmith/options.h"
#include "wavesmith/text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAY_MS = 10000, SAY_ON_TERMINAL_MS = 500 };

/* ---- options ---- */

#define AT(member) .offset = offsetof(ws__run_options, member)
static const ws_option rows[] = {
    {"device", "D",
     "cuda, hip, sim, sim:mi300a, or one card as cuda:1 (default: what the "
     "batch is for)",
     WS_OPTION_TEXT, AT(device),
     .choices = "cuda hip sim sim:mi300a sim:mi308x sim:mi325x"},
    {"gpus", "G", "all (default), or numbers as 0,1", WS_OPTION_TEXT, AT(gpus),
     .choices = "all"},
    {"minutes", "X", "ends after X minutes", WS_OPTION_REAL, AT(minutes),
     .low = 1e-9, .high = 1e6},
    WS_OPTIONS_END};

static const ws_command command = {
    .program = "wavesmith-device run",
    .purpose = "measure what a batch asks for",
    .usage = "FOLDER [OPTION ...]",
    .about =
        "Verifies and times what `wavesmith batch export` or `wavesmith tune\n"
        "--device batch:FOLDER` asks for, and appends the answers to\n"
        "FOLDER/results.jsonl. Killed or ended, it goes on where it was.",
    .options = rows,
    .after = "Exit codes: 0 done, or ended with something done; 1 the batch is "
             "at\n"
             "fault; 2 wrong usage; 3 the environment is at fault."};

static ws_status parse_options(int argc, char **argv, ws__run_options *out,
                               ws_diag *diag) {
  ws_words words;
  WS_TRY(ws_options_parse(&command, argc, argv, out, &words, diag));
  out->help = words.help;
  if (words.help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "give one folder; `wavesmith-device run --help`");
  out->folder = words.items[0];
  return out->device ? ws_device_check_kind(out->device, diag) : WS_OK;
}

/* ---- what is said ---- */

static double rate_of(const ws__run *run) { /* an hour */
  double ms = ws_clock_ms() - run->begin_ms;
  return ms > 0 ? (double)run->answered * 3.6e6 / ms : 0;
}

/* "100 ok, 12 wrong, 3 timeout, 5 outrun" of this run. */
static void list_verdicts(const ws__run *run, ws_strbuf *out) {
  const char *between = "";
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (run->verdicts[i]) {
      ws_strbuf_printf(out, "%s%lld %s", between, (long long)run->verdicts[i],
                       ws_verdict_text((ws_verdict)i));
      between = ", ";
    }
  if (run->outrun) {
    ws_strbuf_printf(out, "%s%lld outrun", between, (long long)run->outrun);
    between = ", ";
  }
  if (run->set_aside)
    ws_strbuf_printf(out, "%s%d set aside", between, run->set_aside);
}

static void say_progress(ws__run *run, bool last) {
  bool terminal = isatty(STDERR_FILENO);
  double now = ws_clock_ms();
  if (!last && now - run->said_ms < (terminal ? SAY_ON_TERMINAL_MS : SAY_MS))
    return;
  run->said_ms = now;
  ws_strbuf line;
  ws_strbuf_init(&line);
  ws_strbuf_printf(&line, "%d of %d answered%s", run->index.answered,
                   run->index.count,
                   run->answered || run->set_aside ? ": " : "");
  list_verdicts(run, &line);
  double rate = rate_of(run);
  if (run->answered)
    ws_strbuf_printf(&line, "; %.0f an hour, %.0f min left", rate,
                     (run->index.count - run->index.answered) * 60 / rate);
  ws_terminal_progress(line.data, last);
  ws_strbuf_deinit(&line);
}

static void say_start(const ws__run *run) {
  fprintf(stderr, "%s: %d jobs, %d answered; on", run->index.folder,
          run->index.count, run->index.answered);
  for (int i = 0; i < run->worker_count; i++) {
    const ws__run_worker *worker = &run->workers[i];
    fprintf(stderr, "%s %s (%s)", i ? "," : "", worker->kind,
            ws_device_client_info(worker->client)->name);
  }
  fputc('\n', stderr);
}

static void print_result(const ws__run *run) {
  ws_strbuf line;
  ws_strbuf_init(&line);
  list_verdicts(run, &line);
  printf("%s: %d jobs, %d answered, %d open", run->index.folder,
         run->index.count, run->index.answered,
         run->index.count - run->index.answered);
  if (run->answered || run->set_aside)
    printf("; in this run %s, %.0f an hour", line.data, rate_of(run));
  putchar('\n');
  ws_strbuf_deinit(&line);
}

/* ---- the run ---- */

static ws_status check_jobs(const ws__run *run, ws_diag *diag) {
  ws_status status = WS_OK;
  for (int i = 0; i < run->index.count && status == WS_OK; i++) {
    const ws__batch_entry *entry = run->index.entries[i];
    ws_batch_job job;
    if (entry->answer_size)
      continue;
    ws_arena *arena = ws_arena_create();
    status = ws__batch_read_job(&run->index, arena, entry, &job, diag);
    if (status == WS_OK)
      status = ws__batch_read_code(arena, run->index.folder, &job, diag);
    ws_arena_destroy(arena);
  }
  return status;
}

static ws_status open_folder(ws__run *run, ws_diag *diag) {
  ws__batch_manifest manifest;
  const ws__batch_index *index = &run->index;
  /* Before anything is written into what may be no batch. */
  WS_TRY(ws__batch_read_manifest(run->arena, index->folder, &manifest, diag));
  WS_TRY(ws__lines_open(index->results_path, &run->results, diag));
  WS_TRY(ws__batch_index_load(&run->index, diag));
  WS_TRY(ws__batch_add_problems(index->folder, diag));
  return check_jobs(run, diag);
}

/* *out_ended: nothing goes on in a thread. */
static ws_status work(ws__run *run, bool *out_ended, ws_diag *diag) {
  *out_ended = true;
  WS_TRY(open_folder(run, diag));
  if (run->index.answered < run->index.count) {
    ws_status status = ws__run_start_workers(run, diag);
    if (status == WS_OK) {
      say_start(run);
      *out_ended = ws__run_work(run, say_progress);
    }
    if (*out_ended)
      ws__run_stop_workers(run);
    WS_TRY(status);
  }
  print_result(run);
  *diag = run->diag;
  if (run->status != WS_OK)
    return run->status;
  return ws__run_interrupted() && !run->answered
             ? ws_fail(diag, WS_INTERRUPTED, NULL, 0,
                       "interrupted before anything was answered")
             : WS_OK;
}

static void end(ws__run *run) {
  if (run->results >= 0)
    close(run->results);
  ws__batch_index_deinit(&run->index);
  ws_arena_destroy(run->arena);
  free(run);
}

static int exit_code(ws_status status, const ws_diag *diag) {
  if (status != WS_OK)
    fprintf(stderr, "wavesmith-device run: %s\n", diag->text);
  return ws_streams_end("wavesmith-device run", ws_status_exit_code(status));
}

static void say_crash(const ws_problem *problem, const char *text) {
  ws_problem_print_crash("wavesmith-device run", problem, text);
}

int ws__device_run_batch(int argc, char **argv) {
  ws_diag diag = {""};
  ws__run_options options = {0};
  ws_problem_on_crash(say_crash);
  bool ended;
  ws_status status = parse_options(argc, argv, &options, &diag);
  if (options.help) {
    ws_command_print_help(&command, stdout);
    return exit_code(WS_OK, &diag);
  }
  if (status != WS_OK)
    return exit_code(status, &diag);
  ws__run *run = calloc(1, sizeof *run);
  WS_ASSERT(run && "out of memory");
  run->options = &options;
  run->results = -1;
  run->arena = ws_arena_create();
  ws__batch_index_init(&run->index, options.folder);
  status = work(run, &ended, &diag);
  int code = exit_code(status, &diag);
  if (!ended)
    _exit(code); /* takes threads and servers along */
  end(run);
  return code;
}
