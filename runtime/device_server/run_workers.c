/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The work of a batch's run: one device server per card, each a process with a
 * watchdog (device_client.c) and a thread here that hands it steps, so that a
 * card that is being started again keeps no other waiting. The steps of a job
 * stay on one card. A job that is done becomes a line of results.jsonl at once;
 * one whose device failed is tried once more on a fresh server and then set
 * aside, unanswered, so that a later run takes it up again.
 *
 * The run's lock guards everything in ws__run but the options and the clients;
 * of a worker, everything belongs to its thread. (cJSON writes its last error
 * to a variable of all threads; nobody reads it.)
 */
#include "run_batch.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  TICK_MS = 20,
  SYNC_MS = 5000,
  GRACE_MS = 10000,  /* for jobs in hand when time is up */
  PAUSE_MS = 2000,   /* before a device that failed is asked again */
  MOST_ATTEMPTS = 4, /* to start a device server again */
  MOST_SET_ASIDE = 3 /* in a row: then it is not the jobs */
};

static void pause_ms(int ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

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
  const ws_device_info *info = ws_device_client_info(worker->client);
  if (ws__batch_is_arch(info->arch, target)) {
    run->worker_count++;
    return WS_OK;
  }
  ws_status status = ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                             "the batch is for %s; %s is a %s (%s)", target,
                             kind, info->name, info->arch);
  ws_device_client_stop(worker->client);
  return status;
}

static const char *card(const ws__run *run, const char *device, int number) {
  return ws_arena_printf(run->arena, "%s:%d", device, number);
}

/* In the words of a driver that works (cuda.c, hip.c). */
static bool is_behind_the_last(const ws_diag *cause) {
  static const char no_such[] = "there is no ";
  return !strncmp(cause->text, no_such, strlen(no_such));
}

/* Asked for a card that nobody has, a driver that works says just that. */
static bool has_driver(ws__run *run, const char *device) {
  enum { NOBODY_HAS = 999 };
  ws_diag cause;
  return start_worker(run, card(run, device, NOBODY_HAS), &cause) != WS_OK &&
         is_behind_the_last(&cause);
}

typedef struct left_out {
  const char *causes[WS__RUN_MOST_WORKERS]; /* "cuda:1: ..." */
  int count;
} left_out;

static ws_status conclude(const ws__run *run, const char *device,
                          const left_out *left, ws_diag *diag) {
  for (int i = 0; i < left->count && run->worker_count > 0; i++)
    ws_log(WS_LOG_WARN, "left out: %s", left->causes[i]);
  if (run->worker_count > 0)
    return WS_OK;
  const char *others =
      left->count == 1
          ? ""
          : ws_arena_printf(run->arena, "; and %d more", left->count - 1);
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "looked for all %s cards and found none that is free for %s "
                 "(%s%s); run this where there is one, or name another kind "
                 "by --device",
                 device, run->index.manifest.target, left->causes[0], others);
}

/* All cards there are, but those that are somebody else's or of another kind.
 */
static ws_status start_all(ws__run *run, const char *device, ws_diag *diag) {
  left_out left = {.count = 0};
  for (int i = 0; i < WS__RUN_MOST_WORKERS; i++) {
    const char *kind = card(run, device, i);
    ws_diag cause;
    if (start_worker(run, kind, &cause) == WS_OK)
      continue;
    if (is_behind_the_last(&cause))
      break;
    left.causes[left.count++] =
        ws_arena_printf(run->arena, "%s: %s", kind, cause.text);
    if (left.count == 1 && !has_driver(run, device))
      break;
  }
  return conclude(run, device, &left, diag);
}

/* "sim", "sim:mi300a" */
static bool is_simulated(const char *device) {
  return !strcmp(device, "sim") || !strncmp(device, "sim:", 4);
}

/* "0,2". A simulator has no numbers; there is one for each. */
static ws_status start_listed(ws__run *run, const char *device,
                              const char *list, ws_diag *diag) {
  bool simulated = is_simulated(device);
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
        run, simulated ? device : card(run, device, (int)number), diag));
  }
  return WS_OK;
}

ws_status ws__run_start_workers(ws__run *run, ws_diag *diag) {
  const char *device = run->options->device, *gpus = run->options->gpus;
  if (!device)
    device = run->index.manifest.device;
  catch_signals();
  name_server();
  const bool simulated = is_simulated(device);
  if (gpus && strchr(device, ':') && !simulated)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--device %s names a card; leave --gpus out", device);
  if (gpus && strcmp(gpus, "all") != 0)
    return start_listed(run, device, gpus, diag);
  if (strchr(device, ':') || simulated)
    return start_worker(run, device, diag);
  return start_all(run, device, diag);
}

void ws__run_stop_workers(ws__run *run) {
  for (int i = 0; i < run->worker_count; i++)
    ws_device_client_stop(run->workers[i].client);
  run->worker_count = 0;
}

/* ---- jobs; with the lock held ---- */

static void end_run(ws__run *run, ws_status status, const ws_diag *diag) {
  run->at_end = true;
  run->status = status;
  run->diag = *diag;
}

static bool is_time_up(const ws__run *run, double grace_ms) {
  double minutes = run->options->minutes;
  return minutes > 0 &&
         ws_clock_ms() - run->begin_ms >= minutes * 60e3 + grace_ms;
}

static ws__batch_entry *next_entry(ws__run *run) {
  if (run->at_end || interrupted || is_time_up(run, 0))
    return NULL;
  if (run->returned_count > 0)
    return run->returned[--run->returned_count];
  while (run->next < run->index.count &&
         run->index.entries[run->next]->answer_size)
    run->next++;
  return run->next < run->index.count ? run->index.entries[run->next++] : NULL;
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

static void write_answer(ws__run *run, const ws__run_worker *worker,
                         const char *text) {
  ws_diag diag;
  if (run->at_end)
    return; /* nobody counts it any more */
  ws_status status = ws__lines_append(run->results, run->index.results_path,
                                      text, NULL, &diag);
  if (status != WS_OK) {
    end_run(run, status, &diag);
    return;
  }
  worker->entry->answer_size = strlen(text);
  count_answer(run, worker);
}

static void set_aside(ws__run *run, const ws__run_worker *worker,
                      ws_status status, const ws_diag *diag) {
  ws_log(WS_LOG_WARN, "job %s is set aside: %s", worker->entry->id, diag->text);
  run->set_aside++;
  run->status = status;
  run->diag = *diag;
  if (++run->set_aside_in_a_row == MOST_SET_ASIDE)
    end_run(run, status, diag);
}

static void give_up(ws__run *run, const ws__run_worker *worker,
                    ws_status status, const ws_diag *diag) {
  ws_log(WS_LOG_WARN, "%s does not come back: %s", worker->kind, diag->text);
  run->returned[run->returned_count++] = worker->entry;
  run->status = status;
  run->diag = *diag;
}

/* ---- the thread of a worker ---- */

typedef enum outcome {
  ANSWERED, /* or left, because the run ends */
  SET_ASIDE,
  GONE /* its device does not come back */
} outcome;

static bool is_ended(ws__run *run) {
  pthread_mutex_lock(&run->lock);
  bool ended = run->at_end;
  pthread_mutex_unlock(&run->lock);
  return ended;
}

/* Whether the device comes back: a card takes a while. */
static bool can_reach(ws__run_worker *worker, ws_diag *diag) {
  for (int i = 0; i < MOST_ATTEMPTS && !is_ended(worker->run); i++) {
    if (i)
      pause_ms(PAUSE_MS);
    if (ws_device_client_reach(worker->client, diag) == WS_OK)
      return true;
  }
  return is_ended(worker->run);
}

/* One step. A failure is tried again by the client (eval/server_client.h); if
 * that does not help, it is the job, or the device is gone. */
static outcome make_step(ws__run_worker *worker, ws_status *out_status,
                         ws_diag *diag) {
  ws_diag why;
  *out_status = ws_device_client_measure(worker->client, worker->arena,
                                         &worker->job.steps[worker->done],
                                         &worker->measured[worker->done], diag);
  if (*out_status == WS_OK)
    worker->done++;
  if (*out_status == WS_OK)
    return ANSWERED;
  return can_reach(worker, &why) ? SET_ASIDE : GONE;
}

static outcome make_steps(ws__run_worker *worker, ws_status *out_status,
                          ws_diag *diag) {
  const ws_batch_job *job = &worker->job;
  while (worker->done < job->step_count && !is_ended(worker->run)) {
    outcome made = make_step(worker, out_status, diag);
    if (made != ANSWERED)
      return made;
    if (worker->done > 0 &&
        (worker->measured[worker->done - 1].verdict != WS_VERDICT_OK ||
         ws__batch_race_lost(job, worker->measured, worker->done)))
      break;
  }
  return ANSWERED;
}

static char *answer_text(const ws__run_worker *worker) {
  const ws_batch_answer answer = {.id = worker->entry->id,
                                  .device =
                                      ws_device_client_info(worker->client),
                                  .steps = worker->measured,
                                  .step_count = worker->done};
  cJSON *json = ws__batch_answer_to_json(&answer);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text && "out of memory");
  return text;
}

static ws_status read_job(ws__run_worker *worker, ws_diag *diag) {
  const ws__batch_index *index = &worker->run->index;
  worker->done = 0;
  WS_TRY(ws__batch_read_job(index, worker->arena, worker->entry, &worker->job,
                            diag));
  worker->measured = ws_arena_alloc(
      worker->arena, sizeof *worker->measured * (size_t)worker->job.step_count);
  return ws__batch_read_code(worker->arena, index->folder, &worker->job, diag);
}

/* False: the device is gone. */
static bool do_job(ws__run_worker *worker) {
  ws__run *run = worker->run;
  ws_diag diag;
  char *text = NULL;
  outcome made = ANSWERED;
  ws_status status = read_job(worker, &diag);
  bool readable = status == WS_OK;
  if (readable)
    made = make_steps(worker, &status, &diag);
  if (readable && made == ANSWERED && worker->done)
    text = answer_text(worker);
  pthread_mutex_lock(&run->lock);
  if (!readable || status == WS_REFERENCE)
    end_run(run, status, &diag);
  else if (made == SET_ASIDE)
    set_aside(run, worker, status, &diag);
  else if (made == GONE)
    give_up(run, worker, status, &diag);
  else if (text)
    write_answer(run, worker, text);
  pthread_mutex_unlock(&run->lock);
  cJSON_free(text);
  return made != GONE;
}

static void *do_jobs(void *argument) {
  ws__run_worker *worker = argument;
  ws__run *run = worker->run;
  bool goes_on = true;
  while (goes_on) {
    pthread_mutex_lock(&run->lock);
    worker->entry = next_entry(run);
    pthread_mutex_unlock(&run->lock);
    if (!worker->entry)
      break;
    worker->arena = ws_arena_create();
    goes_on = do_job(worker);
    ws_arena_destroy(worker->arena);
  }
  pthread_mutex_lock(&run->lock);
  run->busy--;
  pthread_mutex_unlock(&run->lock);
  return NULL;
}

/* ---- the main thread ---- */

/* Signals are for the main thread. */
static void start_threads(ws__run *run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  run->busy = run->worker_count;
  for (int i = 0; i < run->worker_count; i++) {
    ws__run_worker *worker = &run->workers[i];
    worker->run = run;
    int failure = pthread_create(&worker->thread, NULL, do_jobs, worker);
    WS_ASSERT(failure == 0 && "a thread");
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void synchronise(ws__run *run) {
  if (fsync(run->results) != 0)
    ws_log(WS_LOG_WARN, "%s cannot be flushed to the disk",
           run->index.results_path);
  run->synced_ms = ws_clock_ms();
}

bool ws__run_work(ws__run *run, void (*say)(ws__run *run, bool last)) {
  run->begin_ms = run->synced_ms = run->said_ms = ws_clock_ms();
  pthread_mutex_init(&run->lock, NULL);
  start_threads(run);
  bool busy = true;
  while (busy && !interrupted && !is_time_up(run, GRACE_MS)) {
    pause_ms(TICK_MS);
    pthread_mutex_lock(&run->lock);
    say(run, false);
    busy = run->busy > 0 && !run->at_end;
    pthread_mutex_unlock(&run->lock);
    if (ws_clock_ms() - run->synced_ms >= SYNC_MS)
      synchronise(run);
  }
  pthread_mutex_lock(&run->lock);
  run->at_end = true; /* a late answer is not written */
  busy = run->busy > 0;
  pthread_mutex_unlock(&run->lock);
  for (int i = 0; i < run->worker_count && !busy; i++)
    pthread_join(run->workers[i].thread, NULL);
  synchronise(run);
  say(run, true);
  return !busy;
}
