/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Child processes: exec with a socket as descriptor 3 and nothing else of ours.
 *
 * The child leads a session of its own, so that Ctrl-C on the terminal reaches
 * only us, and so that stopping it also stops what it has forked, in whatever
 * group: nothing that a server started outlives it. A failed exec comes back
 * through a pipe that a successful one closes. PR_SET_PDEATHSIG is tied to the
 * *thread* that forks: start processes from a thread that lives as long as they
 * should.
 */
#include "wavesmith/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SOCKET = 3, MOST_HIDDEN = 32 };

/* Names of environment variables that children do not inherit. */
static char *hidden[MOST_HIDDEN];
static int hidden_count;

static bool is_hidden(const char *entry) {
  for (int i = 0; i < hidden_count; i++) {
    size_t size = strlen(hidden[i]);
    if (!strncmp(entry, hidden[i], size) && entry[size] == '=')
      return true;
  }
  return false;
}

void ws_process_hide(const char *variable) {
  char *entry = NULL;
  WS_ASSERT(asprintf(&entry, "%s=", variable) > 0);
  bool known = is_hidden(entry);
  entry[strlen(entry) - 1] = 0;
  if (known) {
    free(entry);
    return;
  }
  WS_ASSERT(hidden_count < MOST_HIDDEN);
  hidden[hidden_count++] = entry;
}

/* Ours without the hidden ones; to be freed. */
static char **visible_environment(void) {
  size_t count = 0, kept = 0;
  while (environ[count])
    count++;
  char **copy = calloc(count + 1, sizeof *copy);
  WS_ASSERT(copy);
  for (size_t i = 0; i < count; i++)
    if (!is_hidden(environ[i]))
      copy[kept++] = environ[i];
  return copy;
}

/* Everything above the socket ends with exec, and not at once: the report must
 * live until then. */
static void close_on_exec(void) {
#ifdef SYS_close_range /* not in the headers of a GPU box from before 2020 */
  const unsigned on_exec = 4; /* CLOSE_RANGE_CLOEXEC */
  if (syscall(SYS_close_range, CHILD_SOCKET + 1, ~0u, on_exec) == 0)
    return;
#endif
  /* A kernel before 5.11, or a container that refuses the call. */
  for (int descriptor = CHILD_SOCKET + 1; descriptor < 65536; descriptor++)
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/* Only async-signal-safe calls: the parent may have threads. Returns when
 * something failed, with errno set. */
static void become_child(const char *const *argv, char **environment,
                         pid_t parent, int socket) {
  if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return;
  if (getppid() != parent)
    _exit(1); /* it died before the signal was asked for */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  int null = open("/dev/null", O_RDONLY);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(socket, CHILD_SOCKET) < 0)
    return;
  close_on_exec();
  execve(argv[0], (char *const *)argv, environment);
}

/* A copy of the descriptor above CHILD_SOCKET, so that dup2 cannot hit it. */
static int lift(int descriptor) {
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);
  int failure = errno;
  close(descriptor);
  errno = failure;
  return copy;
}

/* 0, or the errno of the child's failed start. */
static int wait_for_exec(int report) {
  int failure = 0;
  ssize_t got;
  do
    got = read(report, &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof failure ? failure : 0;
}

static void close_pair(const int pair[2]) {
  for (int i = 0; i < 2; i++)
    if (pair[i] >= 0)
      close(pair[i]);
}

static bool open_channels(int sockets[2], int report[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return false;
  if (pipe2(report, O_CLOEXEC) != 0)
    return false;
  sockets[1] = lift(sockets[1]);
  report[1] = lift(report[1]);
  return sockets[1] >= 0 && report[1] >= 0;
}

ws_status ws_process_start(const char *const *argv, ws_process *out_process,
                           ws_diag *diag) {
  *out_process = (ws_process){0};
  int sockets[2] = {-1, -1}, report[2] = {-1, -1};
  pid_t parent = getpid(), child = -1;
  char **environment = visible_environment();
  if (open_channels(sockets, report))
    child = fork();
  if (child == 0) {
    become_child(argv, environment, parent, sockets[1]);
    int failure = errno;
    ssize_t ignored = write(report[1], &failure, sizeof failure);
    (void)ignored;
    _exit(127);
  }
  free(environment);
  if (child < 0) {
    int failure = errno;
    close_pair(sockets);
    close_pair(report);
    return ws_fail(diag, WS_ENVIRONMENT, argv[0], 0,
                   "cannot start a process: %s", strerror(failure));
  }
  close(sockets[1]);
  close(report[1]);
  *out_process = (ws_process){.pid = child, .socket = sockets[0]};
  int failure = wait_for_exec(report[0]);
  close(report[0]);
  if (!failure)
    return WS_OK;
  ws_process_stop(out_process);
  return ws_fail(diag, WS_ENVIRONMENT, argv[0], 0, "cannot run: %s",
                 strerror(failure));
}

/* ---- what it does ---- */

typedef struct process_stat {
  char state;
  pid_t session;
  double cpu_ms;
} process_stat;

/* "PID (NAME) STATE PARENT GROUP SESSION ...", where the name may hold
 * anything; fields 14 and 15 are clock ticks in user and kernel mode. */
static bool read_stat(const char *pid, process_stat *out) {
  char path[64], text[1024];
  unsigned long user, kernel;
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  text[size > 0 ? size : 0] = '\0';
  const char *rest = strrchr(text, ')');
  if (!rest ||
      sscanf(rest, ") %c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
             &out->state, &out->session, &user, &kernel) != 4)
    return false;
  out->cpu_ms = (double)(user + kernel) * 1000 / (double)sysconf(_SC_CLK_TCK);
  return true;
}

double ws_process_cpu_ms(pid_t pid, char *out_state) {
  char name[24];
  process_stat stat = {.state = 'X'};
  snprintf(name, sizeof name, "%d", (int)pid);
  if (!read_stat(name, &stat))
    stat = (process_stat){.state = 'X'};
  *out_state = stat.state;
  return stat.cpu_ms;
}

bool ws_process_is_starved(pid_t pid, double cpu_ms, double elapsed_ms) {
  char state;
  double used_ms = ws_process_cpu_ms(pid, &state) - cpu_ms;
  return state == 'T' || (state == 'R' && used_ms < elapsed_ms / 2);
}

/* What the child forked and moved into a group of its own. */
static void kill_session(pid_t leader) {
  DIR *folder = opendir("/proc");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    process_stat stat;
    if (*entry->d_name >= '0' && *entry->d_name <= '9' &&
        read_stat(entry->d_name, &stat) && stat.session == leader)
      kill((pid_t)atol(entry->d_name), SIGKILL);
  }
  if (folder)
    closedir(folder);
}

/* The child is reaped last: until then nobody else can have its number. */
void ws_process_stop(ws_process *process) {
  if (process->pid <= 0)
    return;
  close(process->socket);
  kill(process->pid, SIGKILL);  /* before it had a session */
  kill(-process->pid, SIGKILL); /* the group */
  kill_session(process->pid);
  while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  *process = (ws_process){0};
}
