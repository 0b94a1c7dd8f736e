/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The work of a batch's run: one device server per card, each a process with a
 * watchdog (device_client.c), and one loop that hands them steps. The steps of
 * a job stay on one card. A job that is done becomes a line of results.jsonl at
 * once; one whose device failed is tried once more on a fresh server and then
 * set aside, unanswered, so that a later run takes it up again.
 */
#include "run_batch.h"

#include <cjson/cJSON.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  TICK_MS = 500,
  SYNC_MS = 5000,
  GRACE_MS = 10000,  /* for jobs in hand when time is up */
  PAUSE_MS = 2000,   /* before a device that failed is asked again */
  MOST_ATTEMPTS = 4, /* to start a device server again */
  MOST_SET_ASIDE = 3 /* in a row: then it is not the jobs */
};

/* ---- signals ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

bool ws__run_interrupted(void) { return interrupted; }

static void catch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = interrupt};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    sigaction(signals[i], &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a limit on files is a full disk */
}

/* ---- starting ---- */

/* The servers are this very program. */
static void name_server(void) {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0 || getenv("WAVESMITH_DEVICE_SERVER"))
    return;
  path[size] = '\0';
  setenv("WAVESMITH_DEVICE_SERVER", path, 1);
}

static ws_status start_worker(ws__run *run, const char *kind, ws_diag *diag) {
  ws__run_worker *worker = &run->workers[run->worker_count];
  const char *target = run->index.manifest.target;
  *worker = (ws__run_worker){.kind = kind};
  WS_TRY(ws_device_client_start(kind, &worker->client, diag));
  run->worker_count++;
  const ws_device_info *info = ws_device_client_info(worker->client);
  if (ws__batch_is_arch(info->arch, target))
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "the batch is for %s; %s is a %s (%s)", target, kind,
                 info->name, info->arch);
}

/* All cards there are. One that somebody else has is left out. */
static ws_status start_all(ws__run *run, const char *device, ws_diag *diag) {
  static const char no_more[] = "there is no ";
  ws_diag cause;
  WS_TRY(start_worker(run, ws_arena_printf(run->arena, "%s:0", device), diag));
  for (int i = 1, failed = 0; i < WS__RUN_MOST_WORKERS && failed < 2; i++) {
    const char *kind = ws_arena_printf(run->arena, "%s:%d", device, i);
    int before = run->worker_count;
    if (start_worker(run, kind, &cause) == WS_OK) {
      failed = 0;
      continue;
    }
    if (!strncmp(cause.text, no_more, strlen(no_more)))
      break;
    if (run->worker_count > before)
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", cause.text);
    ws_log(WS_LOG_WARN, "%s is left out: %s", kind, cause.text);
    failed++;
  }
  return WS_OK;
}

/* "0,2". A simulator has no numbers; there is one for each. */
static ws_status start_listed(ws__run *run, const char *device,
                              const char *list, ws_diag *diag) {
  bool simulated = !strcmp(device, "sim");
  char *rest = ws_arena_strdup(run->arena, list), *word;
  while ((word = strsep(&rest, ","))) {
    char *end;
    long number = strtol(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || number >= WS__RUN_MOST_WORKERS)
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "--gpus takes all or numbers as 0,1, not '%s'", list);
    if (run->worker_count == WS__RUN_MOST_WORKERS)
      return ws_fail(diag, WS_USAGE, NULL, 0, "--gpus names more than %d",
                     WS__RUN_MOST_WORKERS);
    WS_TRY(start_worker(
        run,
        simulated ? device
                  : ws_arena_printf(run->arena, "%s:%ld", device, number),
        diag));
  }
  return WS_OK;
}

ws_status ws__run_start_workers(ws__run *run, ws_diag *diag) {
  const char *device = run->options->device, *gpus = run->options->gpus;
  if (!device)
    device = run->index.manifest.device;
  catch_signals();
  name_server();
  if (gpus && strchr(device, ':'))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--device %s names a card; leave --gpus out", device);
  if (gpus && strcmp(gpus, "all") != 0)
    return start_listed(run, device, gpus, diag);
  if (strchr(device, ':') || !strcmp(device, "sim"))
    return start_worker(run, device, diag);
  return start_all(run, device, diag);
}

void ws__run_stop_workers(ws__run *run) {
  for (int i = 0; i < run->worker_count; i++) {
    ws_device_client_stop(run->workers[i].client);
    if (run->workers[i].arena)
      ws_arena_destroy(run->workers[i].arena);
  }
  run->worker_count = 0;
}

/* ---- jobs ---- */

static void end_run(ws__run *run, ws_status status, const ws_diag *diag) {
  run->at_end = true;
  run->status = status;
  run->diag = *diag;
}

static void drop_job(ws__run_worker *worker) {
  if (worker->arena)
    ws_arena_destroy(worker->arena);
  worker->arena = NULL;
  worker->entry = NULL;
  worker->attempts = worker->done = 0;
}

static ws__batch_entry *next_entry(ws__run *run) {
  if (run->returned_count > 0)
    return run->returned[--run->returned_count];
  while (run->next < run->index.count &&
         run->index.entries[run->next]->answer_size)
    run->next++;
  return run->next < run->index.count ? run->index.entries[run->next++] : NULL;
}

static void take_job(ws__run *run, ws__run_worker *worker) {
  ws_diag diag;
  worker->entry = next_entry(run);
  if (!worker->entry)
    return;
  worker->arena = ws_arena_create();
  ws_status status = ws__batch_read_job(&run->index, worker->arena,
                                        worker->entry, &worker->job, &diag);
  if (status == WS_OK)
    status = ws__batch_read_code(worker->arena, run->index.folder, &worker->job,
                                 &diag);
  if (status != WS_OK) {
    drop_job(worker);
    end_run(run, status, &diag);
    return;
  }
  worker->measured = ws_arena_alloc(
      worker->arena, sizeof *worker->measured * (size_t)worker->job.step_count);
}

static void count_answer(ws__run *run, const ws__run_worker *worker) {
  const ws_measured *last = &worker->measured[worker->done - 1];
  run->answered++;
  run->index.answered++;
  run->set_aside_in_a_row = 0;
  if (last->verdict == WS_VERDICT_OK && worker->done < worker->job.step_count)
    run->outrun++;
  else
    run->verdicts[last->verdict]++;
}

static void write_answer(ws__run *run, ws__run_worker *worker) {
  ws_diag diag;
  const ws_batch_answer answer = {.id = worker->entry->id,
                                  .device =
                                      ws_device_client_info(worker->client),
                                  .steps = worker->measured,
                                  .step_count = worker->done};
  cJSON *json = ws__batch_answer_to_json(&answer);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text && "out of memory");
  ws_status status = ws__lines_append(run->results, run->index.results_path,
                                      text, NULL, &diag);
  if (status == WS_OK) {
    worker->entry->answer_size = strlen(text);
    count_answer(run, worker);
  } else {
    end_run(run, status, &diag);
  }
  cJSON_free(text);
  drop_job(worker);
}

static void set_aside(ws__run *run, ws__run_worker *worker, ws_status status,
                      const ws_diag *diag) {
  ws_log(WS_LOG_WARN, "job %s is set aside: %s", worker->entry->id, diag->text);
  drop_job(worker);
  run->set_aside++;
  run->status = status;
  run->diag = *diag;
  if (++run->set_aside_in_a_row == MOST_SET_ASIDE)
    end_run(run, status, diag);
}

/* ---- steps ---- */

/* The device server does not start, or the device itself failed. */
static void note_failure(ws__run *run, ws__run_worker *worker, bool starting,
                         ws_status status, const ws_diag *diag) {
  worker->not_before_ms = ws_clock_ms() + PAUSE_MS;
  worker->attempts++;
  if (!starting && (worker->attempts > 1 || status == WS_INPUT)) {
    set_aside(run, worker, status, diag);
    return;
  }
  if (worker->attempts < MOST_ATTEMPTS)
    return;
  ws_log(WS_LOG_WARN, "%s does not come back: %s", worker->kind, diag->text);
  worker->gone = true;
  run->status = status;
  run->diag = *diag;
  run->returned[run->returned_count++] = worker->entry;
  drop_job(worker);
}

static void send_step(ws__run *run, ws__run_worker *worker) {
  ws_diag diag;
  ws_status status = ws_device_client_send(
      worker->client, &worker->job.steps[worker->done], &diag);
  worker->sent = status == WS_OK;
  if (status != WS_OK)
    note_failure(run, worker, true, status, &diag);
}

static void receive_step(ws__run *run, ws__run_worker *worker) {
  ws_diag diag;
  ws_measured *measured = &worker->measured[worker->done];
  ws_status status =
      ws_device_client_receive(worker->client, worker->arena, measured, &diag);
  worker->sent = false;
  if (status != WS_OK) {
    note_failure(run, worker, false, status, &diag);
    return;
  }
  worker->attempts = 0;
  worker->done++;
  if (measured->verdict != WS_VERDICT_OK ||
      worker->done == worker->job.step_count ||
      ws__batch_race_lost(&worker->job, worker->measured, worker->done))
    write_answer(run, worker);
}

/* ---- the loop ---- */

static bool is_time_up(const ws__run *run, double grace_ms) {
  double minutes = run->options->minutes;
  return minutes > 0 &&
         ws_clock_ms() - run->begin_ms >= minutes * 60e3 + grace_ms;
}

static void keep_busy(ws__run *run) {
  for (int i = 0; i < run->worker_count && !run->at_end; i++) {
    ws__run_worker *worker = &run->workers[i];
    if (worker->sent || worker->gone || ws_clock_ms() < worker->not_before_ms)
      continue;
    if (!worker->entry && !is_time_up(run, 0))
      take_job(run, worker);
    if (worker->entry && !run->at_end)
      send_step(run, worker);
  }
}

/* Waits for an answer, a deadline or the next tick. */
static void wait_for_answers(ws__run *run) {
  struct pollfd items[WS__RUN_MOST_WORKERS];
  double now = ws_clock_ms(), until = now + TICK_MS;
  for (int i = 0; i < run->worker_count; i++) {
    const ws__run_worker *worker = &run->workers[i];
    items[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (!worker->sent)
      continue;
    items[i].fd = ws_device_client_descriptor(worker->client);
    double deadline = ws_device_client_deadline(worker->client);
    until = deadline < until ? deadline : until;
  }
  int left = until > now ? (int)(until - now) + 1 : 0;
  if (poll(items, (nfds_t)run->worker_count, left) < 0)
    return; /* a signal */
  now = ws_clock_ms();
  for (int i = 0; i < run->worker_count && !run->at_end; i++) {
    ws__run_worker *worker = &run->workers[i];
    if (worker->sent &&
        (items[i].revents || now >= ws_device_client_deadline(worker->client)))
      receive_step(run, worker);
  }
}

static bool is_busy(const ws__run *run) {
  for (int i = 0; i < run->worker_count; i++)
    if (run->workers[i].entry)
      return true;
  return false;
}

static bool has_workers(const ws__run *run) {
  for (int i = 0; i < run->worker_count; i++)
    if (!run->workers[i].gone)
      return true;
  return false;
}

static bool goes_on(const ws__run *run) {
  if (run->at_end || interrupted || !has_workers(run) ||
      is_time_up(run, GRACE_MS))
    return false;
  return is_busy(run) ||
         ((run->next < run->index.count || run->returned_count > 0) &&
          !is_time_up(run, 0));
}

static void synchronise(ws__run *run) {
  if (fsync(run->results) != 0)
    ws_log(WS_LOG_WARN, "%s cannot be flushed to the disk",
           run->index.results_path);
  run->synced_ms = ws_clock_ms();
}

void ws__run_work(ws__run *run, void (*say)(ws__run *run, bool last)) {
  run->begin_ms = run->synced_ms = run->said_ms = ws_clock_ms();
  while (goes_on(run)) {
    keep_busy(run);
    if (!run->at_end)
      wait_for_answers(run);
    if (ws_clock_ms() - run->synced_ms >= SYNC_MS)
      synchronise(run);
    say(run, false);
  }
  if (!has_workers(run) && run->status != WS_OK)
    run->at_end = true;
  synchronise(run);
  say(run, true);
}
