/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Fork, watch, bury. The parent polls three things at once: the child's
 * socket, the client's end of the connection, and the clock. The child's
 * output goes to an anonymous file; when it dies, the line in it that says
 * why becomes the reason (LLVM and comgr print one before they abort).
 */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_TAIL = 16384, REASON_MAX = 400 };

typedef struct job {
  pid_t pid;
  int socket; /* our end */
  int output; /* anonymous file: stdout and stderr */
  double start_ms;
  ws_patience patience; /* of the wall limit */
  const ws_limits *limits;
  const char *temp_folder;
  int client;
} job;

static void become_job(ws_job_function function, void *context,
                       const ws_limits *limits, const char *temp_folder,
                       int output, int socket, int client, pid_t parent) {
  setpgid(0, 0);
  ws_sandbox_limit(limits, parent);
  setenv("TMPDIR", temp_folder, 1);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (client >= 0)
    close(client);
  function(context, socket);
  fflush(NULL);
  _exit(0); /* without the exit handlers of a warm LLVM */
}

static bool start(job *j, ws_job_function function, void *context) {
  int sockets[2];
  pid_t parent = getpid();
  j->output = memfd_create("wavesmith-job", MFD_CLOEXEC);
  if (j->output < 0)
    return false;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    close(j->output);
    return false;
  }
  fflush(NULL);
  j->pid = fork();
  if (j->pid == 0) {
    close(sockets[0]);
    become_job(function, context, j->limits, j->temp_folder, j->output,
               sockets[1], j->client, parent);
  }
  close(sockets[1]);
  j->socket = sockets[0];
  if (j->pid > 0)
    return true;
  close(j->socket);
  close(j->output);
  return false;
}

static int left_ms(job *j) {
  double left = ws_patience_left(&j->patience);
  return left < 0 ? 0 : (int)left + 1;
}

typedef enum wake { WAKE_CHILD, WAKE_CLIENT_GONE, WAKE_DEADLINE } wake;

static wake wait_for_news(job *j) {
  for (;;) {
    struct pollfd items[2] = {{.fd = j->socket, .events = POLLIN},
                              {.fd = j->client, .events = POLLRDHUP}};
    int left = left_ms(j);
    int ready = poll(items, 2, left < WS_LOOK_MS / 2 ? left : WS_LOOK_MS / 2);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready > 0 && items[0].revents)
      return WAKE_CHILD;
    if (ready > 0)
      return WAKE_CLIENT_GONE;
    if (left == 0)
      return WAKE_DEADLINE;
  }
}

/* ---- the reason of a death
 * --------------------------------------------------- */

/* Lines that say why, most telling first. */
static const char *const telling[] = {
    "LLVM ERROR: ", "terminate called", "what():",   "Assertion",
    "UNREACHABLE",  "fatal error",      "assertion", "error: ",
};

static const char *find_line(const char *text) {
  for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
    const char *found = strstr(text, telling[i]);
    while (found && found > text && found[-1] != '\n')
      found--;
    if (found)
      return found;
  }
  return text;
}

/* LLVM names nodes by their addresses, which differ from run to run. */
static void blank_addresses(char *text) {
  for (char *at = text; (at = strstr(at, "0x"));) {
    size_t digits = strspn(at + 2, "0123456789abcdef");
    if (digits < 8)
      at += 2;
    else
      memmove(at, at + 2 + digits, strlen(at + 2 + digits) + 1);
  }
}

static char *read_output(const job *j, ws_arena *arena) {
  struct stat info;
  off_t offset = 0;
  if (fstat(j->output, &info) == 0 && info.st_size > OUTPUT_TAIL)
    offset = info.st_size - OUTPUT_TAIL;
  char *text = ws_arena_alloc(arena, OUTPUT_TAIL + 1);
  ssize_t got = pread(j->output, text, OUTPUT_TAIL, offset);
  for (ssize_t i = 0; i < got; i++)
    if (!text[i])
      text[i] = ' ';
  blank_addresses(text);
  return text;
}

static bool is_out_of_memory(const char *output) {
  return strstr(output, "bad_alloc") || strstr(output, "ut of memory") ||
         strstr(output, "Cannot allocate memory");
}

/* A disk without room ends a compiler in many ways: an error, an abort, SIGBUS
 * where what is written is mapped. */
static ws_blame blame_of_shortage(const job *j, const char *output) {
  return ws_sandbox_blame_of_shortage(j->temp_folder,
                                      ws_sandbox_speaks_of_shortage(output) &&
                                          !is_out_of_memory(output));
}

static ws_blame blame_of_end(const job *j, int wait_status) {
  ws_blame blame = WIFSIGNALED(wait_status)
                       ? ws_blame_of_signal(WTERMSIG(wait_status))
                       : WS_BLAME_SUSPECTED;
  return blame == WS_BLAME_SUSPECTED && ws_sandbox_is_confined(j->limits)
             ? WS_BLAME_OURS
             : blame;
}

static const char *describe_end(const job *j, int wait_status,
                                const char *output, ws_arena *arena) {
  const char *line = find_line(output);
  int length = (int)strcspn(line, "\n"), number = WTERMSIG(wait_status);
  const char *colon = length ? ": " : "";
  if (length > REASON_MAX)
    length = REASON_MAX;
  if (WIFSIGNALED(wait_status) && number == SIGXCPU)
    return ws_arena_printf(arena, "took more than %d ms of CPU time",
                           j->limits->cpu_ms);
  if (is_out_of_memory(output))
    return ws_arena_printf(arena, "out of memory, limit %d MB",
                           j->limits->memory_mb);
  if (WIFSIGNALED(wait_status))
    return ws_arena_printf(arena, "the compiler died of signal %d (%s)%s%.*s",
                           number, strsignal(number), colon, length, line);
  return ws_arena_printf(arena, "the compiler gave up with exit code %d%s%.*s",
                         WEXITSTATUS(wait_status), colon, length, line);
}

static void explain(const job *j, int wait_status, ws_arena *arena,
                    ws_job_outcome *out) {
  const char *output = read_output(j, arena);
  ws_blame of_shortage = blame_of_shortage(j, output);
  bool late = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXCPU;
  out->end = late ? WS_JOB_TIMEOUT : WS_JOB_DIED;
  out->blame = blame_of_end(j, wait_status);
  out->reason = describe_end(j, wait_status, output, arena);
  if (of_shortage > out->blame) /* they are in the order of their weight */
    out->blame = of_shortage;
  if (of_shortage == WS_BLAME_OURS)
    out->reason = ws_arena_printf(
        arena, "no room for a compiler's files in the temp folder (TMPDIR): %s",
        out->reason);
}

/* The whole group, and the child last: while it is not reaped its number is
 * nobody else's, and what it has started does not outlive it. */
static int kill_and_reap(job *j) {
  int wait_status = 0;
  kill(-j->pid, SIGKILL);
  kill(j->pid, SIGKILL); /* before it had a group */
  while (waitpid(j->pid, &wait_status, 0) < 0 && errno == EINTR)
    ;
  return wait_status;
}

/* The child has closed its socket, so it is about to end by itself; false when
 * it does not. */
static bool has_ended(const job *j) {
  ws_patience patience = ws_patience_begin(500);
  do {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)j->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == j->pid)
      return true;
    usleep(200);
  } while (ws_patience_left(&patience) > 0);
  return false;
}

static void set_timeout(const job *j, ws_arena *arena, ws_job_outcome *out) {
  bool starved = ws_process_is_starved(j->pid, 0, ws_clock_ms() - j->start_ms);
  out->end = WS_JOB_TIMEOUT;
  out->blame = starved ? WS_BLAME_UNKNOWN : WS_BLAME_SUSPECTED;
  out->reason = ws_arena_printf(
      arena, "took more than %d ms to be read, checked, sanitized and compiled",
      j->limits->wall_ms);
}

/* *out_ended: the child has ended without an answer; why is in its status. */
static void read_answer(job *j, ws_arena *arena, ws_job_outcome *out,
                        bool *out_ended) {
  ws_diag diag;
  int left = left_ms(j);
  *out_ended = false;
  if (ws_message_receive(j->socket, left, arena, &out->json, &out->blob,
                         &out->blob_size, NULL, &diag) == WS_OK) {
    out->end = WS_JOB_ANSWERED;
    out->blame = WS_BLAME_CANDIDATE;
  } else if (left_ms(j) == 0) {
    set_timeout(j, arena, out);
  } else {
    *out_ended = has_ended(j);
    out->blame = WS_BLAME_SUSPECTED;
    out->reason = ws_arena_printf(arena, "no usable answer: %s", diag.text);
  }
}

/* What runs a function of a user's problem answers that (server.c). */
static void ask_why_late(const job *j, ws_arena *arena, ws_job_outcome *out) {
  enum { WAIT_MS = 200 };
  ws_job_outcome last = {.end = WS_JOB_ANSWERED, .blame = WS_BLAME_CANDIDATE};
  ws_diag ignored;
  kill(j->pid, SIGALRM);
  if (ws_message_receive(j->socket, WAIT_MS, arena, &last.json, &last.blob,
                         &last.blob_size, NULL, &ignored) == WS_OK)
    *out = last;
}

static void watch(job *j, ws_arena *arena, ws_job_outcome *out) {
  bool ended = false;
  switch (wait_for_news(j)) {
  case WAKE_CHILD:
    read_answer(j, arena, out, &ended);
    break;
  case WAKE_CLIENT_GONE:
    out->end = WS_JOB_ABANDONED;
    out->reason = "the client went away";
    break;
  case WAKE_DEADLINE:
    set_timeout(j, arena, out);
    ask_why_late(j, arena, out);
    break;
  }
  int wait_status = kill_and_reap(j);
  if (ended)
    explain(j, wait_status, arena, out);
}

void ws_job_run(ws_job_function function, void *context,
                const ws_limits *limits, const char *temp_folder, int client,
                ws_arena *arena, ws_job_outcome *out) {
  *out = (ws_job_outcome){
      .end = WS_JOB_DIED, .reason = "", .blame = WS_BLAME_OURS};
  job j = {.start_ms = ws_clock_ms(),
           .patience = ws_patience_begin(limits->wall_ms),
           .limits = limits,
           .temp_folder = temp_folder,
           .client = client};
  mkdir(temp_folder, 0700);
  if (start(&j, function, context)) {
    watch(&j, arena, out);
    close(j.socket);
    close(j.output);
  } else {
    out->reason =
        ws_arena_printf(arena, "cannot start a job: %s", strerror(errno));
  }
  ws_remove_tree(temp_folder);
}
