/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Jobs that misbehave in every way we could think of, each a function of its
 * own: whatever they do, the parent gets an outcome in time and nothing is
 * left behind.
 */
#include "job.h"
#include "ws_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const ws_limits roomy = {
    .wall_ms = 8000, .cpu_ms = 8000, .memory_mb = 256};

typedef struct fixture {
  ws_arena *arena;
  char *folder; /* a job's temp folder, below a folder of this test */
  ws_job_outcome outcome;
  double took_ms;
} fixture;

static fixture run_with(ws_job_function function, void *context,
                        const ws_limits *limits, int client) {
  fixture f = {.arena = ws_arena_create()};
  char base[] = "/tmp/wavesmith-test-XXXXXX";
  WS_CHECK(mkdtemp(base));
  f.folder = ws_arena_printf(f.arena, "%s/job", base);
  double start = ws_clock_ms();
  ws_job_run(function, context, limits, f.folder, client, f.arena, &f.outcome);
  f.took_ms = ws_clock_ms() - start;
  WS_CHECK(!ws_file_exists(f.folder)); /* removed, with all in it */
  WS_CHECK(rmdir(base) == 0);
  WS_CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
  return f;
}

static fixture run(ws_job_function function) {
  return run_with(function, NULL, &roomy, -1);
}

static void done(fixture *f) { ws_arena_destroy(f->arena); }

static void answer(void *context, int socket) {
  (void)context;
  ws_diag diag;
  if (ws_message_send(socket, "{\"a\":1}", "blob", 4, &diag) != WS_OK)
    _exit(9);
}
WS_TEST(an_answer_comes_back) {
  fixture f = run(answer);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  WS_CHECK_TEXT(f.outcome.json, "{\"a\":1}");
  WS_CHECK_INT(f.outcome.blob_size, 4);
  WS_CHECK(!memcmp(f.outcome.blob, "blob", 4));
  done(&f);
}

static void answer_large(void *context, int socket) {
  size_t size = 8u << 20; /* far beyond what a socket buffers */
  char *blob = calloc(1, size);
  ws_diag diag;
  (void)context;
  if (!blob || ws_message_send(socket, "{}", blob, size, &diag) != WS_OK)
    _exit(9);
}
WS_TEST(a_large_answer_comes_back_whole) {
  fixture f = run(answer_large);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  WS_CHECK_INT(f.outcome.blob_size, 8u << 20);
  done(&f);
}

static void abort_with_words(void *context, int socket) {
  (void)context, (void)socket;
  fputs("some chatter\nLLVM ERROR: Cannot select: 0x55b4b574f2e0: f64\nmore\n",
        stderr);
  abort();
}
WS_TEST(an_abort_gives_its_words_without_addresses) {
  fixture f = run(abort_with_words);
  WS_CHECK_INT(f.outcome.end, WS_JOB_DIED);
  WS_CHECK_CONTAINS(f.outcome.reason, "signal 6");
  WS_CHECK_CONTAINS(f.outcome.reason, "LLVM ERROR: Cannot select: : f64");
  WS_CHECK(!strstr(f.outcome.reason, "more"));
  WS_CHECK(!strchr(f.outcome.reason, '\n'));
  done(&f);
}

static void leave(void *context, int socket) {
  (void)context, (void)socket;
  _exit(70);
}
WS_TEST(an_exit_without_an_answer_is_a_death) {
  fixture f = run(leave);
  WS_CHECK_INT(f.outcome.end, WS_JOB_DIED);
  WS_CHECK_CONTAINS(f.outcome.reason, "exit code 70");
  done(&f);
}

static void write_garbage(void *context, int socket) {
  (void)context;
  char bytes[64];
  memset(bytes, 0xff, sizeof bytes); /* sizes of 4 GB */
  ssize_t ignored = write(socket, bytes, sizeof bytes);
  (void)ignored;
  pause();
}
WS_TEST(a_garbage_frame_is_a_death) {
  fixture f = run(write_garbage);
  WS_CHECK_INT(f.outcome.end, WS_JOB_DIED);
  WS_CHECK_CONTAINS(f.outcome.reason, "no usable answer");
  WS_CHECK(f.took_ms < 3000);
  done(&f);
}

static void write_half(void *context, int socket) {
  (void)context;
  ssize_t ignored = write(socket, "\x10\0\0\0\0\0\0\0{", 9);
  (void)ignored;
  pause();
}
WS_TEST(half_a_frame_ends_at_the_wall_limit) {
  const ws_limits limits = {.wall_ms = 400, .cpu_ms = 8000, .memory_mb = 256};
  fixture f = run_with(write_half, NULL, &limits, -1);
  WS_CHECK_INT(f.outcome.end, WS_JOB_TIMEOUT);
  WS_CHECK(f.took_ms >= 400 && f.took_ms < 1400);
  done(&f);
}

static void hang(void *context, int socket) {
  (void)context, (void)socket;
  signal(SIGTERM, SIG_IGN);
  for (;;)
    pause();
}
WS_TEST(the_wall_limit_holds_within_a_second) {
  const ws_limits limits = {.wall_ms = 300, .cpu_ms = 8000, .memory_mb = 256};
  fixture f = run_with(hang, NULL, &limits, -1);
  WS_CHECK_INT(f.outcome.end, WS_JOB_TIMEOUT);
  WS_CHECK_CONTAINS(f.outcome.reason, "300 ms");
  WS_CHECK(f.took_ms >= 300 && f.took_ms < 1300);
  done(&f);
}

static void spin(void *context, int socket) {
  (void)context, (void)socket;
  for (volatile uint64_t i = 0;; i++)
    ;
}
/* As a function of a user's problem does that does not end. */
static int asked_socket;
static void answer_when_asked(int signal_) {
  (void)signal_;
  answer(NULL, asked_socket);
  _exit(0);
}
static void wait_to_be_asked(void *context, int socket_) {
  (void)context;
  asked_socket = socket_;
  signal(SIGALRM, answer_when_asked);
  for (;;)
    pause();
}
WS_TEST(a_late_job_may_say_why) {
  const ws_limits limits = {.wall_ms = 300, .cpu_ms = 8000, .memory_mb = 256};
  fixture f = run_with(wait_to_be_asked, NULL, &limits, -1);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  WS_CHECK_TEXT(f.outcome.json, "{\"a\":1}");
  WS_CHECK(f.took_ms >= 300 && f.took_ms < 1300);
  done(&f);
}

WS_TEST(the_cpu_limit_is_a_timeout) {
  const ws_limits limits = {.wall_ms = 15000, .cpu_ms = 1000, .memory_mb = 256};
  fixture f = run_with(spin, NULL, &limits, -1);
  WS_CHECK_INT(f.outcome.end, WS_JOB_TIMEOUT);
  WS_CHECK_CONTAINS(f.outcome.reason, "1000 ms of CPU");
  done(&f);
}

static void eat_memory(void *context, int socket) {
  (void)context, (void)socket;
  for (;;)
    memset(ws_arena_alloc(ws_arena_create(), 16u << 20), 1, 16u << 20);
}
WS_TEST(memory_runs_out_at_the_limit) {
  fixture f = run(eat_memory);
  WS_CHECK_INT(f.outcome.end, WS_JOB_DIED);
  WS_CHECK_TEXT(f.outcome.reason, "out of memory, limit 256 MB");
  done(&f);
}

static void litter(void *context, int socket) {
  char name[600];
  const char *folder = getenv("TMPDIR");
  snprintf(name, sizeof name, "%s/deep", folder);
  mkdir(name, 0700);
  snprintf(name, sizeof name, "%s/deep/file", folder);
  close(open(name, O_CREAT | O_WRONLY, 0600));
  snprintf(name, sizeof name, "%s/link", folder);
  if (symlink(context, name) != 0)
    _exit(9);
  answer(NULL, socket);
  abort();
}
WS_TEST(temp_files_go_and_links_are_not_followed) {
  char outside[] = "/tmp/wavesmith-test-XXXXXX";
  WS_CHECK(mkdtemp(outside));
  fixture f = run_with(litter, outside, &roomy, -1);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  WS_CHECK(rmdir(outside) == 0); /* it was there still */
  done(&f);
}

static void fork_and_hang(void *context, int socket) {
  if (fork() == 0)
    hang(NULL, socket);
  (void)context;
  hang(NULL, socket);
}
WS_TEST(what_a_job_forks_dies_with_it) {
  const ws_limits limits = {.wall_ms = 200, .cpu_ms = 8000, .memory_mb = 256};
  int alive[2];
  char byte;
  WS_CHECK(pipe(alive) == 0); /* readable at its end when all have died */
  fixture f = run_with(fork_and_hang, NULL, &limits, -1);
  close(alive[1]);
  WS_CHECK_INT(f.outcome.end, WS_JOB_TIMEOUT);
  WS_CHECK_INT(read(alive[0], &byte, 1), 0);
  done(&f);
}

WS_TEST(a_client_that_leaves_stops_the_job) {
  int client[2];
  WS_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, client) == 0);
  pid_t leaver = fork();
  if (leaver == 0) {
    usleep(200000);
    _exit(0); /* closes its copy */
  }
  close(client[1]);
  ws_arena *arena = ws_arena_create();
  ws_job_outcome outcome;
  char base[] = "/tmp/wavesmith-test-XXXXXX";
  WS_CHECK(mkdtemp(base));
  double start = ws_clock_ms();
  ws_job_run(hang, NULL, &roomy, ws_arena_printf(arena, "%s/job", base),
             client[0], arena, &outcome);
  WS_CHECK_INT(outcome.end, WS_JOB_ABANDONED);
  WS_CHECK(ws_clock_ms() - start < roomy.wall_ms);
  WS_CHECK(rmdir(base) == 0);
  ws_arena_destroy(arena);
}

static void try_network(void *context, int socket_) {
  static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
  (void)context;
  if (!ws_sandbox_no_network())
    _exit(8);
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    if (socket(families[i], SOCK_STREAM, 0) >= 0 || errno != EPERM)
      _exit(9);
  answer(NULL, socket_);
}
WS_TEST(no_family_of_sockets_can_be_opened) {
  fixture f = run(try_network);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  done(&f);
}

static void read_limits(void *context, int socket_) {
  struct rlimit core, file;
  (void)context;
  getrlimit(RLIMIT_CORE, &core);
  getrlimit(RLIMIT_FSIZE, &file);
  if (core.rlim_max != 0 || file.rlim_max == RLIM_INFINITY)
    _exit(9);
  answer(NULL, socket_);
}
WS_TEST(no_core_files_and_no_endless_ones) {
  fixture f = run(read_limits);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  done(&f);
}

/* What the system says of it differs by where the file's size ends. */
static void write_a_file(void *context, int socket_) {
  char path[512];
  (void)context;
  snprintf(path, sizeof path, "%s/file", getenv("TMPDIR"));
  FILE *file = fopen(path, "wb");
  for (int i = 0; file && i < 1 << 21; i++)
    if (putc(i, file) == EOF)
      break;
  if (!file || fflush(file) != 0 || ferror(file)) {
    fprintf(stderr, "fatal error: %s\n", strerror(errno));
    _exit(70);
  }
  answer(NULL, socket_);
}
WS_TEST(a_limit_on_files_is_not_the_candidates) {
  fixture f = run(write_a_file);
  WS_CHECK_INT(f.outcome.end, WS_JOB_ANSWERED);
  done(&f);
  static const rlim_t sizes[] = {1 << 10,
                                 1100 << 10}; /* one is less than probed */
  for (size_t i = 2; i-- > 0;) {
    WS_CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){sizes[i], sizes[i]}) ==
             0);
    f = run(write_a_file);
    WS_CHECK_INT(f.outcome.end, WS_JOB_DIED);
    WS_CHECK_INT(f.outcome.blame, WS_BLAME_OURS);
    WS_CHECK_CONTAINS(f.outcome.reason, "File too large");
    done(&f);
  }
}

/* A linker that maps its output dies so on a full disk. */
static void touch_a_missing_page(void *context, int socket_) {
  int file = memfd_create("empty", 0);
  char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  (void)context, (void)socket_;
  signal(SIGBUS, SIG_DFL);
  *(volatile char *)at = 1;
}
WS_TEST(a_page_that_is_missing_is_no_crash) {
  fixture f = run(touch_a_missing_page);
  WS_CHECK_INT(f.outcome.end, WS_JOB_DIED);
  WS_CHECK_INT(f.outcome.blame, WS_BLAME_UNKNOWN);
  done(&f);
}
