/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * NVIDIA's assembler as a child process: PTX in, cubin and a report out, all in
 * a folder of its own below TMPDIR, whose name nobody can guess. It inherits
 * the job's limits and closed network, and dies with it. What its report says
 * becomes facts, or findings: "ptxas" (it refuses the PTX; with the line),
 * "ptxas-serialized" (C75xx: it takes the PTX, but waits after every wgmma or
 * ignores setmaxnreg, which costs a factor).
 */
#include "job.h"
#include "lower.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 60000 };
static bool in_job;

static struct {
  bool known;
  char path[1024], version[32];
} ptxas;

/* ---- the process --------------------------------------------------------- */

static void become_process(const char *const *arguments, const char *log,
                           pid_t parent) {
  int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (output >= 0 && getppid() == parent && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(output, STDERR_FILENO) >= 0)
    /* execv's prototype lacks a const */
    execv(arguments[0], (char *const *)(void *)arguments);
  _exit(127);
}

/* Runs it with stdout and stderr in a file; its exit code, -1 on anything
 * else, with *out_signal when a signal ended it. limit_ms 0: none. */
static int run_process(const char *const *arguments, const char *log,
                       double limit_ms, int *out_signal) {
  enum { PAUSE_US = 500 };
  double start = ws_clock_ms();
  pid_t parent = getpid(), child = fork(), ended;
  int status = 0;
  *out_signal = child < 0 ? SIGKILL : 0; /* no memory for it: not its doing */
  if (child == 0)
    become_process(arguments, log, parent);
  if (child < 0)
    return -1;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 &&
         (!limit_ms || ws_clock_ms() < start + limit_ms))
    usleep(PAUSE_US);
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  } else if (WIFSIGNALED(status)) {
    *out_signal = WTERMSIG(status);
  }
  return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What ends the assembler ends its job in the same way, so that one place
 * (job.c) says whose fault that is. */
static void die_of(int signal_) {
  fprintf(stderr, "fatal error: ptxas was ended by a signal\n");
  fflush(stderr);
  signal(signal_, SIG_DFL);
  raise(signal_);
}

void ws__ptxas_enter_job(void) { in_job = true; }

/* NULL: it cannot be made, with errno set. ws_remove_tree removes it. */
static const char *make_folder(ws_arena *arena) {
  const char *base = getenv("TMPDIR");
  return mkdtemp(ws_arena_printf(arena, "%s/wavesmith-ptxas-XXXXXX",
                                 base && *base ? base : "/tmp"));
}

/* ---- which one ----------------------------------------------------------- */

static bool set_path(const char *folder, size_t size, const char *name) {
  int length = snprintf(ptxas.path, sizeof ptxas.path, "%.*s%s", (int)size,
                        folder, name);
  if (length < (int)sizeof ptxas.path && access(ptxas.path, X_OK) == 0)
    return true;
  ptxas.path[0] = '\0';
  return false;
}

static void find_path(void) {
  const char *own = getenv("WAVESMITH_PTXAS"), *path = getenv("PATH");
  if (own && *own) {
    if (strcmp(own, "none") && !set_path(own, strlen(own), ""))
      ws_log(WS_LOG_WARN,
             "WAVESMITH_PTXAS=%s cannot be run; PTX is not "
             "assembled",
             own);
    return;
  }
  for (; path && *path; path += path[strcspn(path, ":")] == ':') {
    size_t size = strcspn(path, ":");
    if (size && set_path(path, size, "/ptxas"))
      return;
    path += size;
  }
  set_path("/usr/local/cuda/bin", strlen("/usr/local/cuda/bin"), "/ptxas");
}

/* "Cuda compilation tools, release 13.0, V13.0.48" */
static void read_version(void) {
  ws_arena *arena = ws_arena_create();
  const char *arguments[] = {ptxas.path, "--version", NULL};
  const char *folder = make_folder(arena);
  const char *log = ws_arena_printf(arena, "%s/version", folder ? folder : "");
  char *text;
  size_t size;
  ws_diag diag;
  snprintf(ptxas.version, sizeof ptxas.version, "of unknown version");
  int signal_;
  if (folder && run_process(arguments, log, LIMIT_MS, &signal_) == 0 &&
      ws_file_read(arena, log, &text, &size, &diag) == WS_OK) {
    const char *mark = strstr(text, ", V");
    if (mark)
      snprintf(ptxas.version, sizeof ptxas.version, "%.*s",
               (int)strspn(mark + 3, "0123456789."), mark + 3);
  }
  if (folder)
    ws_remove_tree(folder);
  ws_arena_destroy(arena);
}

const char *ws__ptxas_path(void) {
  if (!ptxas.known) {
    find_path();
    if (ptxas.path[0])
      read_version();
    ptxas.known = true;
  }
  return ptxas.path;
}

const char *ws__ptxas_version(void) {
  ws__ptxas_path();
  return ptxas.version;
}

/* ---- its report ---------------------------------------------------------- */

/* The number in front of a word in [text, end); 0 without. */
static int32_t number_before(const char *text, const char *end,
                             const char *word) {
  const char *at = memmem(text, (size_t)(end - text), word, strlen(word));
  if (!at)
    return 0;
  while (at > text && at[-1] == ' ')
    at--;
  while (at > text && at[-1] >= '0' && at[-1] <= '9')
    at--;
  return (int32_t)strtol(at, NULL, 10);
}

static ws_kernel_facts *find_kernel(ws_kernel_facts *kernels, int count,
                                    const char *name, size_t size) {
  for (int i = 0; i < count; i++)
    if (strlen(kernels[i].name) == size && !memcmp(kernels[i].name, name, size))
      return &kernels[i];
  return NULL;
}

/* Blocks of
 *   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
 *   ptxas info    : Function properties for NAME
 *       8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 64 bytes smem */
void ws__ptxas_read_report(const char *report, ws_kernel_facts *kernels,
                           int count) {
  static const char entry[] = "Compiling entry function '";
  const char *at = report;
  while ((at = strstr(at, entry))) {
    at += sizeof entry - 1;
    ws_kernel_facts *kernel =
        find_kernel(kernels, count, at, strcspn(at, "'\n"));
    const char *end = strstr(at, entry);
    end = end ? end : at + strlen(at);
    if (!kernel)
      continue;
    int32_t spilled = number_before(at, end, "bytes spill stores");
    int32_t stack = number_before(at, end, "bytes stack frame");
    kernel->vgpr = number_before(at, end, "registers");
    kernel->lds_bytes = number_before(at, end, "bytes smem");
    kernel->vgpr_spills = (spilled + 3) / 4;
    kernel->scratch_bytes = stack > spilled ? stack : spilled;
  }
}

static const char *line_of(const char *text, long line, size_t *out_size) {
  for (; line > 1 && text; line--) {
    text = strchr(text, '\n');
    text = text ? text + 1 : NULL;
  }
  text = text ? text + strspn(text, " \t") : "";
  *out_size = strcspn(text, "\n");
  return text;
}

/* "ptxas FILE, line 12; error   : WHAT", at most a few of them; "ptxas fatal
 * : WHAT" when there is none. */
static void report_errors(const ws_lowering *l, const char *report,
                          const char *ptx) {
  enum { MOST = 4 };
  static const char place[] = ", line ";
  int found = 0;
  for (const char *at = report; found < MOST && (at = strstr(at, place));) {
    char *rest;
    long line = strtol(at + sizeof place - 1, &rest, 10);
    at += sizeof place - 1;
    const char *what = strstr(rest, ": ");
    if (strncmp(rest, "; error", 7) || !what)
      continue;
    size_t size;
    const char *source = line_of(ptx, line, &size);
    ws_findings_add(l->findings, "ptxas", "", NULL, 0,
                    "ptxas: %.*s; in the PTX \"%.*s\"",
                    (int)strcspn(what + 2, "\n"), what + 2,
                    (int)(size < 200 ? size : 200), source);
    found++;
  }
  const char *fatal = strstr(report, "fatal");
  const char *what = fatal ? strstr(fatal, ": ") : NULL;
  if (!found)
    ws_findings_add(l->findings, "ptxas", "", NULL, 0, "ptxas: %.*s",
                    (int)(what ? strcspn(what + 2, "\n") : 400),
                    what ? what + 2 : report);
}

/* "ptxas info    : (C7514) Potential Performance Loss: ..." */
static bool report_serialized(const ws_lowering *l, const char *report) {
  static const char cure[] = "; read a wgmma's sums behind its ws.wgmma.wait "
                             "only, in code that every path reaches, and leave "
                             "it enough registers";
  int before = l->findings->count;
  for (const char *at = report; (at = strstr(at, "(C75")); at++) {
    size_t size = strcspn(at, "\n");
    bool wgmma = memmem(at, size, "GMMA", 4) || memmem(at, size, "wgmma", 5);
    ws_findings_add(l->findings, "ptxas-serialized", "",
                    l->candidate ? l->candidate->tmpl->file : NULL, 0,
                    "ptxas: %.*s%s", (int)size, at, wgmma ? cure : "");
  }
  return l->findings->count > before;
}

static bool read_text(const ws_lowering *l, const char *path, char **out,
                      size_t *out_size) {
  ws_diag diag;
  if (ws_file_read(l->arena, path, out, out_size, &diag) == WS_OK)
    return true;
  ws_findings_add(l->findings, "ptxas", "", NULL, 0, "ptxas: %s", diag.text);
  return false;
}

static bool assemble(const ws_lowering *l, ws_blob ptx,
                     ws_kernel_facts *kernels, int count, const char *paths[3],
                     ws_blob *out_cubin) {
  const char *target = ws_arena_printf(l->arena, "-arch=%s", l->target);
  const char *arguments[] = {ptxas.path, "-v",     target, "-o",
                             paths[1],   paths[0], NULL,   NULL};
  char *report, *cubin;
  size_t size;
  ws_diag diag;
  if (l->stages & WS_STAGE_LINES)
    arguments[6] = "-lineinfo";
  if (ws_file_write_atomic(paths[0], ptx.data, ptx.size - 1, &diag) != WS_OK) {
    ws_findings_add(l->findings, "ptxas", "", NULL, 0, "ptxas: %s", diag.text);
    return false;
  }
  int signal_,
      code = run_process(arguments, paths[2], in_job ? 0 : LIMIT_MS, &signal_);
  if (signal_ && in_job)
    die_of(signal_);
  if (!read_text(l, paths[2], &report, &size))
    return false;
  if (code != 0) {
    report_errors(l, report, ptx.data);
    return false;
  }
  if (report_serialized(l, report) || !read_text(l, paths[1], &cubin, &size))
    return false;
  ws__ptxas_read_report(report, kernels, count);
  *out_cubin = (ws_blob){cubin, size};
  return true;
}

bool ws__ptxas_run(const ws_lowering *l, ws_blob ptx, ws_kernel_facts *kernels,
                   int count, ws_blob *out_cubin) {
  const char *folder = make_folder(l->arena);
  if (!folder) {
    ws_findings_add(l->findings, "ptxas", "", NULL, 0,
                    "ptxas: no folder for its files: %s", strerror(errno));
    return false;
  }
  const char *paths[] = {ws_arena_printf(l->arena, "%s/kernels.ptx", folder),
                         ws_arena_printf(l->arena, "%s/kernels.cubin", folder),
                         ws_arena_printf(l->arena, "%s/ptxas.txt", folder)};
  bool done = assemble(l, ptx, kernels, count, paths, out_cubin);
  ws_remove_tree(folder);
  return done;
}
