/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Servers seen from their client. What is in hand is kept as a frame until it
 * is settled, so that it can be sent again; what went well last is kept as the
 * control. Limits are of ws_patience: they stand still while we are stopped.
 */
#include "server_client.h"
#include "wavesmith/problem.h"

#include <cjson/cJSON.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  START_MS = 60000,   /* first start after a boot reads 100 MB of libraries */
  FRAME_MS = 20000,   /* of a server that takes nothing, or stops midway */
  END_MS = 200,       /* between the end of its stream and that of a process */
  MOST_STARTS = 4,    /* of one that is ended while it starts */
  FIRST_PAUSE_MS = 50 /* before it is tried again; doubled each time */
};

/* ---- frames ---- */

static void free_frame(ws__frame *frame) {
  free(frame->json);
  free(frame->blob);
  *frame = (ws__frame){0};
}

static ws__frame make_frame(cJSON *owned_json, const void *blob, size_t size,
                            int wall_ms) {
  ws__frame frame = {.size = size, .wall_ms = wall_ms};
  char *text = cJSON_PrintUnformatted(owned_json);
  cJSON_Delete(owned_json);
  WS_ASSERT(text && "out of memory");
  frame.json = strdup(text);
  cJSON_free(text);
  frame.blob = malloc(size + 1);
  WS_ASSERT(frame.json && frame.blob && "out of memory");
  if (size)
    memcpy(frame.blob, blob, size);
  return frame;
}

/* ---- the process ---- */

ws_status ws__server_find(ws_arena *arena, const ws__server_kind *kind,
                          const char **out_path, ws_diag *diag) {
  char *folder;
  const char *named = getenv(kind->variable);
  if (named && named[0]) {
    *out_path = ws_arena_strdup(arena, named);
    return WS_OK;
  }
  WS_TRY(ws_program_directory(arena, &folder, diag));
  *out_path = ws_arena_printf(arena, "%s/../libexec/wavesmith/%s", folder,
                              kind->program);
  return WS_OK;
}

/* Waits until the server has ended, without reaping it; false: it has not. */
static bool wait_for_end(const ws__server *s, double patience_ms,
                         siginfo_t *out) {
  ws_patience patience = ws_patience_begin(patience_ms);
  do {
    *out = (siginfo_t){0};
    if (waitid(P_PID, (id_t)s->process.pid, out, WEXITED | WNOHANG | WNOWAIT) ==
            0 &&
        out->si_pid)
      return true;
    usleep(1000);
  } while (ws_patience_left(&patience) > 0);
  return false;
}

/* The end of its stream tells it to clean up and end. */
void ws__server_dismiss(ws__server *s) {
  if (s->process.pid <= 0 || s->farewell_ms > 0)
    return;
  shutdown(s->process.socket, SHUT_RDWR);
  s->farewell_ms = ws_clock_ms() + s->kind->farewell_ms;
}

/* A server that hangs is killed, whatever it leaves behind. */
void ws__server_stop(ws__server *s) {
  siginfo_t end;
  if (s->process.pid <= 0)
    return;
  ws__server_dismiss(s);
  if (s->kind->farewell_ms > 0)
    wait_for_end(s, s->farewell_ms - ws_clock_ms(), &end);
  ws_process_stop(&s->process);
  s->farewell_ms = 0;
}

void ws__server_deinit(ws__server *s) {
  ws__server_stop(s);
  free_frame(&s->in_hand);
  free_frame(&s->went_well);
}

/* A server knows a problem by its library, we by what the user named. */
static const char *file_of_problem(const cJSON *json) {
  const char *name =
      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "problem"));
  const ws_problem *problem = name ? ws_problem_find(name) : NULL;
  return problem ? problem->file : NULL;
}

/* An answer {"error":..., "status":...} as a status. */
static ws_status read_error(const cJSON *json, ws_diag *diag) {
  const cJSON *error = cJSON_GetObjectItemCaseSensitive(json, "error");
  const cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");
  if (!cJSON_IsString(error))
    return WS_OK;
  const char *word = cJSON_IsString(status) ? status->valuestring : "";
  if (!strcmp(word, "reference"))
    return ws_fail(diag, WS_REFERENCE, file_of_problem(json), 0, "%s",
                   error->valuestring);
  return ws_fail(diag, strcmp(word, "input") ? WS_ENVIRONMENT : WS_INPUT, NULL,
                 0, "%s", error->valuestring);
}

static ws_status receive_json(const ws__server *s, double wait_ms,
                              ws_arena *arena, cJSON **out_json,
                              void **out_blob, size_t *out_size,
                              ws_diag *diag) {
  char *text;
  *out_json = NULL;
  WS_TRY(ws_message_receive(s->process.socket, wait_ms > 0 ? (int)wait_ms : 0,
                            arena, &text, out_blob, out_size, NULL, diag));
  *out_json = ws_json_parse(text, strlen(text), s->kind->name, diag);
  return *out_json ? WS_OK : WS_ENVIRONMENT;
}

/* Why it sent no greeting. *out_again: it was ended from outside. */
static ws_status explain_start(ws__server *s, const ws_diag *cause,
                               bool *out_again, ws_diag *diag) {
  siginfo_t end;
  bool ended = wait_for_end(s, END_MS, &end);
  bool exited = ended && end.si_code == CLD_EXITED;
  *out_again =
      ended && (exited ? end.si_status == 0
                       : ws_blame_of_signal(end.si_status) == WS_BLAME_UNKNOWN);
  ws_process_stop(&s->process);
  if (exited && end.si_status == 127)
    return ws_fail(diag, WS_ENVIRONMENT, s->arguments[0], 0,
                   "cannot start: %s is missing; `wavesmith doctor` says which "
                   "and how to get it",
                   s->kind->library);
  if (exited)
    return ws_fail(diag, WS_ENVIRONMENT, s->arguments[0], 0,
                   "the %s ended at once with exit code %d; run `wavesmith "
                   "doctor`",
                   s->kind->name, end.si_status);
  return ws_fail(diag, WS_ENVIRONMENT, s->arguments[0], 0,
                 "the %s does not start (%s); run `wavesmith doctor`",
                 s->kind->name, cause->text);
}

/* It may be stopped with its buffers full: we must not wait for ever. */
static void limit_sending(const ws__server *s) {
  const struct timeval limit = {.tv_sec = FRAME_MS / 1000};
  setsockopt(s->process.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static ws_status start_once(ws__server *s, cJSON **out_greeting,
                            bool *out_again, ws_diag *diag) {
  ws_diag cause;
  *out_again = false;
  if (ws_process_start(s->arguments, &s->process, &cause) != WS_OK)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "%s; run `wavesmith doctor`, or name the %s in %s",
                   cause.text, s->kind->name, s->kind->variable);
  limit_sending(s);
  ws_arena *arena = ws_arena_create();
  void *blob;
  size_t size;
  ws_status status =
      receive_json(s, START_MS, arena, out_greeting, &blob, &size, &cause);
  if (status == WS_OK) {
    status = read_error(*out_greeting, diag);
    if (status != WS_OK)
      ws_process_stop(&s->process);
  } else {
    status = explain_start(s, &cause, out_again, diag);
  }
  if (status != WS_OK) {
    cJSON_Delete(*out_greeting);
    *out_greeting = NULL;
  }
  ws_arena_destroy(arena);
  return status;
}

/* Whether the process is there and its stream open, with nothing unread. */
static bool is_alive(const ws__server *s) {
  struct pollfd item = {.fd = s->process.socket, .events = POLLIN | POLLRDHUP};
  return s->process.pid > 0 && poll(&item, 1, 0) == 0;
}

static void pause_before(int attempt) {
  usleep((useconds_t)(1000 * FIRST_PAUSE_MS << attempt));
}

ws_status ws__server_start(ws__server *s, cJSON **out_greeting, ws_diag *diag) {
  cJSON *greeting = NULL;
  ws_status status = WS_OK;
  bool again = !is_alive(s);
  if (again)
    ws__server_stop(s);
  for (int i = 0; again && i < MOST_STARTS; i++) {
    if (i)
      pause_before(i);
    status = start_once(s, &greeting, &again, diag);
  }
  if (out_greeting)
    *out_greeting = greeting;
  else
    cJSON_Delete(greeting);
  return status;
}

/* ---- questions and answers ---- */

/* Once more where the server has died since its last job. */
static ws_status send_frame(ws__server *s, ws_diag *diag) {
  ws_status status = WS_ENVIRONMENT;
  char state;
  for (int i = 0; i < 2 && status != WS_OK; i++) {
    WS_TRY(ws__server_start(s, NULL, diag));
    s->sent_cpu_ms = ws_process_cpu_ms(s->process.pid, &state);
    status = ws_message_send(s->process.socket, s->in_hand.json,
                             s->in_hand.blob, s->in_hand.size, diag);
    if (status != WS_OK)
      ws__server_stop(s);
  }
  s->busy = status == WS_OK;
  s->sent_ms = ws_clock_ms();
  double limit_ms = s->in_hand.wall_ms;
  if (s->give_up_ms > 0 && s->give_up_ms - s->sent_ms < limit_ms)
    limit_ms = s->give_up_ms - s->sent_ms;
  s->patience = ws_patience_begin(limit_ms);
  return status;
}

static void forget_tries(ws__server *s) {
  memset(s->tries, 0, sizeof s->tries);
  s->hangs = 0;
}

ws_status ws__server_send(ws__server *s, cJSON *owned_json, const void *blob,
                          size_t size, int wall_ms, double give_up_ms,
                          ws_diag *diag) {
  if (s->busy) /* its answer is not wanted any more */
    ws__server_stop(s);
  free_frame(&s->in_hand);
  s->in_hand = make_frame(owned_json, blob, size, wall_ms);
  s->give_up_ms = give_up_ms;
  forget_tries(s);
  return send_frame(s, diag);
}

static bool is_readable(const ws__server *s, int wait_ms) {
  struct pollfd item = {.fd = s->process.socket, .events = POLLIN};
  return poll(&item, 1, wait_ms) > 0;
}

/* What has come is looked at last: it counts, however late. */
bool ws__server_has_answer(ws__server *s) {
  double left_ms = ws_patience_left(&s->patience);
  return is_readable(s, 0) || left_ms <= 0;
}

/* False: the limit is over, and nothing has come. */
static bool wait_for_answer(ws__server *s) {
  double left_ms = ws_patience_left(&s->patience);
  while (left_ms > 0) {
    if (is_readable(s, left_ms < WS_LOOK_MS / 2 ? (int)left_ms + 1
                                                : WS_LOOK_MS / 2))
      return true;
    left_ms = ws_patience_left(&s->patience);
  }
  return is_readable(s, 0);
}

/* Somebody limits its address space: then its crashes say nothing. */
static bool is_confined(pid_t pid) {
  struct rlimit limit;
  return prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 &&
         limit.rlim_cur != RLIM_INFINITY;
}

static void set_ended(const ws__server *s, const siginfo_t *end,
                      ws_arena *arena, ws__answer *out) {
  bool exited = end->si_code == CLD_EXITED;
  out->verdict = WS_VERDICT_CRASH;
  out->reason = exited
                    ? ws_arena_printf(arena, "the %s ended with exit code %d",
                                      s->kind->name, end->si_status)
                    : ws_arena_printf(arena, "the %s died of signal %d (%s)",
                                      s->kind->name, end->si_status,
                                      strsignal(end->si_status));
  if (exited)
    out->blame = end->si_status ? WS_BLAME_SUSPECTED : WS_BLAME_UNKNOWN;
  else
    out->blame = ws_blame_of_signal(end->si_status);
  if (out->blame == WS_BLAME_SUSPECTED && is_confined(s->process.pid))
    out->blame = WS_BLAME_OURS;
}

/* An answer that is an error, with the diag of that. */
static void set_error(ws_status status, const ws_diag *diag, ws_arena *arena,
                      ws__answer *out) {
  const cJSON *blame = cJSON_GetObjectItemCaseSensitive(out->json, "blame");
  out->status = status;
  out->verdict = WS_VERDICT_CRASH;
  if (!cJSON_IsString(blame) ||
      !ws_blame_parse(blame->valuestring, &out->blame))
    out->blame =
        out->status == WS_ENVIRONMENT ? WS_BLAME_OURS : WS_BLAME_CANDIDATE;
  out->reason = ws_arena_strdup(arena, diag->text);
  cJSON_Delete(out->json);
  out->json = NULL;
}

/* A server that is busy in a function of a user's problem says so when it is
 * asked; others end. */
static void ask_why_silent(const ws__server *s, ws_arena *arena,
                           ws__answer *out) {
  ws__answer last = {.json = NULL};
  ws_diag diag;
  kill(s->process.pid, SIGALRM);
  if (!is_readable(s, END_MS) ||
      receive_json(s, END_MS, arena, &last.json, &last.blob, &last.blob_size,
                   &diag) != WS_OK)
    return;
  ws_status status = read_error(last.json, &diag);
  if (status != WS_REFERENCE) {
    cJSON_Delete(last.json);
    return;
  }
  set_error(status, &diag, arena, &last);
  *out = last;
}

/* The server died or says nothing (cause NULL), with the frame in hand. */
static void set_lost(ws__server *s, const ws_diag *cause, ws_arena *arena,
                     ws__answer *out) {
  siginfo_t end;
  if (wait_for_end(s, END_MS, &end)) {
    set_ended(s, &end, arena, out);
  } else if (cause) { /* its stream ended, or is none of frames */
    out->verdict = WS_VERDICT_CRASH;
    out->blame = WS_BLAME_UNKNOWN;
    out->reason = ws_arena_printf(arena, "the %s broke off: %s", s->kind->name,
                                  cause->text);
  } else {
    const bool starved = ws_process_is_starved(s->process.pid, s->sent_cpu_ms,
                                               ws_clock_ms() - s->sent_ms);
    out->verdict = WS_VERDICT_TIMEOUT;
    out->blame = starved ? WS_BLAME_UNKNOWN : WS_BLAME_SUSPECTED;
    out->reason = ws_arena_printf(
        arena, "did not end in time: no answer in %d ms; the %s %s",
        s->in_hand.wall_ms, s->kind->name,
        starved ? "was stopped, or got no CPU time" : "was ended");
    ask_why_silent(s, arena, out);
  }
  ws_process_stop(&s->process);
}

void ws__server_receive(ws__server *s, ws_arena *arena, ws__answer *out) {
  ws_diag diag;
  *out = (ws__answer){.reason = ""};
  bool silent = !wait_for_answer(s);
  s->busy = false;
  if (silent || receive_json(s, FRAME_MS, arena, &out->json, &out->blob,
                             &out->blob_size, &diag) != WS_OK) {
    set_lost(s, silent ? NULL : &diag, arena, out);
    return;
  }
  ws_status status = read_error(out->json, &diag);
  if (status != WS_OK)
    set_error(status, &diag, arena, out);
}

/* ---- the policy ---- */

/* Whether what went well before does so again: an answer of any kind that is
 * not lost. */
static bool control_goes_well(ws__server *s) {
  ws__frame lost = s->in_hand;
  ws_diag diag;
  ws__answer answer = {.blame = WS_BLAME_OURS};
  if (!s->went_well.json)
    return false;
  s->in_hand = s->went_well;
  ws_arena *arena = ws_arena_create();
  if (send_frame(s, &diag) == WS_OK)
    ws__server_receive(s, arena, &answer);
  bool well = answer.json != NULL;
  cJSON_Delete(answer.json);
  ws_arena_destroy(arena);
  s->in_hand = lost;
  return well;
}

static ws_status give_up(const ws__server *s, ws_blame blame,
                         const char *reason, ws_diag *diag) {
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "tried %d times, the latest: %s; nothing of this is held "
                 "against the candidate (see memory, disk and whoever ends "
                 "processes here), repeat the command to go on",
                 s->tries[blame], reason);
}

static ws_status send_again(ws__server *s, int attempt, const char *reason,
                            ws_diag *diag) {
  ws_log(WS_LOG_INFO, "%s; once more, on a fresh %s", reason, s->kind->name);
  ws__server_stop(s);
  if (attempt > 1)
    pause_before(attempt - 2);
  return send_frame(s, diag);
}

ws_status ws__server_settle(ws__server *s, ws_verdict verdict, ws_blame blame,
                            const char *reason, bool *out_done, ws_diag *diag) {
  bool hang = blame == WS_BLAME_SUSPECTED && verdict == WS_VERDICT_TIMEOUT;
  *out_done = true;
  if (blame == WS_BLAME_CANDIDATE) {
    if (verdict == WS_VERDICT_OK) {
      free_frame(&s->went_well);
      s->went_well = s->in_hand;
      s->in_hand = (ws__frame){0};
    }
    return WS_OK;
  }
  if (s->give_up_ms > 0 && ws_clock_ms() >= s->give_up_ms) {
    ws__server_stop(s);
    return ws_fail(diag, WS_INTERRUPTED, NULL, 0, "time is up: %s", reason);
  }
  int tries = hang ? ++s->hangs : ++s->tries[blame];
  if (blame == WS_BLAME_SUSPECTED && tries == WS__MOST_SUSPECTED) {
    ws__server_stop(s);
    return WS_OK;
  }
  if (tries < WS__MOST_TRIES) {
    *out_done = false;
    return send_again(s, tries, reason, diag);
  }
  bool guilty = blame == WS_BLAME_UNKNOWN && control_goes_well(s);
  ws__server_stop(s);
  return guilty ? WS_OK : give_up(s, blame, reason, diag);
}

ws_status ws__server_ask(ws__server *s, ws_arena *arena, cJSON *owned_json,
                         const void *blob, size_t size, int wall_ms,
                         cJSON **out_json, ws_diag *diag) {
  ws__answer answer = {0};
  bool done = false;
  *out_json = NULL;
  WS_TRY(ws__server_send(s, owned_json, blob, size, wall_ms, 0, diag));
  while (!done) {
    ws__server_receive(s, arena, &answer);
    ws_status status = ws__server_settle(s, answer.verdict, answer.blame,
                                         answer.reason, &done, diag);
    if (status != WS_OK) {
      cJSON_Delete(answer.json);
      return status;
    }
  }
  *out_json = answer.json;
  return answer.json
             ? WS_OK
             : ws_fail(diag, answer.status ? answer.status : WS_ENVIRONMENT,
                       NULL, 0, "%s", answer.reason);
}
