/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a compile job may not do. A job runs our code on text that a model
 * wrote: the limits are there for compilers that loop or swallow memory, the
 * closed network and the private temp folder against surprises. It is no
 * sandbox against hostile native code; the static check keeps that out.
 */
#include "job.h"

#include <ftw.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "add this machine's AUDIT_ARCH constant"
#endif

enum {
  MAX_FILE_BYTES = 256 << 20,
  X32_BIT = 0x40000000 /* x86-64's second set of system call numbers */
};

/* A foreign instruction set's system calls have other numbers, so they are
 * refused altogether. io_uring could open sockets behind the filter's back. */
static bool install_filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool ws_sandbox_no_network(void) {
  if (unshare(CLONE_NEWNET) != 0)
    ws_log(WS_LOG_DEBUG, "no network namespace of our own; the system call "
                         "filter must do");
  return install_filter();
}

static void limit(int resource, rlim_t soft, rlim_t hard) {
  struct rlimit both = {soft, hard};
  if (setrlimit(resource, &both) != 0)
    ws_log(WS_LOG_DEBUG, "a resource limit could not be set");
}

/* Address space that this process has now. */
static rlim_t address_space(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file)
    return 0;
  if (fscanf(file, "%lu", &pages) != 1)
    pages = 0;
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* A limit of the user's may be lower, and stays then. A write beyond it fails,
 * as on a full disk, where the signal would look like a crash. */
static void limit_files(void) {
  struct rlimit both;
  rlim_t most = MAX_FILE_BYTES;
  if (getrlimit(RLIMIT_FSIZE, &both) == 0 && both.rlim_max < most)
    most = both.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  limit(RLIMIT_FSIZE, most, most);
}

void ws_sandbox_limit(const ws_limits *limits, pid_t parent) {
  rlim_t cpu_seconds = ((rlim_t)limits->cpu_ms + 999) / 1000;
  rlim_t memory = (rlim_t)limits->memory_mb << 20, own = address_space();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1); /* it died before the signal was asked for */
  limit(RLIMIT_CORE, 0, 0);
  limit_files();
  /* SIGXCPU at the soft limit says why; the hard one would just kill. */
  limit(RLIMIT_CPU, cpu_seconds, cpu_seconds + 1);
  if (own)
    limit(RLIMIT_AS, own + memory, own + memory);
}

bool ws_sandbox_is_confined(const ws_limits *limits) {
  struct rlimit both;
  rlim_t wanted = address_space() + ((rlim_t)limits->memory_mb << 20);
  return getrlimit(RLIMIT_AS, &both) == 0 && both.rlim_cur != RLIM_INFINITY &&
         both.rlim_cur < wanted;
}

static bool is_short(const char *folder) {
  enum { SIZE = 1 << 20 };
  static const char bytes[4096];
  char path[512];
  snprintf(path, sizeof path, "%.490s/room-XXXXXX", folder);
  int file = mkstemp(path);
  if (file < 0)
    return true;
  ssize_t got = sizeof bytes;
  for (int i = 0; i < SIZE && got == sizeof bytes; i += sizeof bytes)
    got = write(file, bytes, sizeof bytes);
  close(file);
  unlink(path);
  return got != sizeof bytes;
}

bool ws_sandbox_speaks_of_shortage(const char *text) {
  static const char *const words[] = {
      "No space left on device", "Disk quota exceeded", "File too large",
      "Too many open files", "Cannot allocate memory"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strstr(text, words[i]))
      return true;
  return false;
}

static bool files_are_limited(void) {
  struct rlimit both;
  return getrlimit(RLIMIT_FSIZE, &both) == 0 && both.rlim_max < MAX_FILE_BYTES;
}

ws_blame ws_sandbox_blame_of_shortage(const char *folder, bool spoken_of) {
  if (folder && is_short(folder))
    return WS_BLAME_OURS;
  if (!spoken_of)
    return WS_BLAME_CANDIDATE;
  return files_are_limited() ? WS_BLAME_OURS : WS_BLAME_UNKNOWN;
}

static int remove_entry(const char *path, const struct stat *info, int type,
                        struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path) != 0;
}

void ws_remove_tree(const char *path) {
  if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
    ws_log(WS_LOG_WARN, "cannot remove %s altogether", path);
}
