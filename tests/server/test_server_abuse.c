/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compile server against inputs that abort LLVM or comgr, streams that are
 * no frames, texts that are no templates, and clients that die.
 */
#include "server_fixture.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- inputs that end LLVM or comgr
 * --------------------------------------------- */

/* An independent judge of "it really compiles": opt and llc, in processes of
 * their own. Some inputs abort llc but not after O3. -1: they are not there. */
static int llvm_compiles(const char *path) {
  static const char *const folders[] = {
      "/usr/lib/llvm-21/bin", "/usr/lib/llvm-22/bin", "/usr/lib/llvm-20/bin",
      "/opt/rocm/llvm/bin"};
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char command[2048];
    snprintf(command, sizeof command, "%s/llc", folders[i]);
    if (access(command, X_OK) != 0)
      continue;
    snprintf(command, sizeof command,
             "(%s/opt -mcpu=gfx942 '-passes=default<O3>' '%s' -o - | "
             "%s/llc -O3 -mcpu=gfx942 -filetype=obj -o /dev/null) "
             ">/dev/null 2>&1",
             folders[i], path, folders[i]);
    return system(command) == 0;
  }
  return -1;
}

static void judge(ws_compiler *compiler, const char *folder, const char *name) {
  ws_arena *arena = ws_arena_create();
  char *path = ws_arena_printf(arena, "%s/%s", folder, name), *text;
  size_t size;
  ws_diag diag;
  WS_CHECK(ws_file_read(arena, path, &text, &size, &diag) == WS_OK);
  ws_build_request request = raw_request(text, size);
  ws_build_result result = build(compiler, arena, &request);
  printf("# %-16s %-10s %.90s\n", name, ws_verdict_text(result.verdict),
         result.reason);
  if (result.verdict == WS_VERDICT_OK)
    WS_CHECK(result.code_object_size > 0 && llvm_compiles(path) != 0);
  else
    WS_CHECK(result.reason[0] && !strchr(result.reason, '\n'));
  check_good(compiler);
  ws_arena_destroy(arena);
}

WS_TEST(aborting_inputs_end_as_verdicts) {
  const char *shared = getenv("WS_SHARED_DIR");
  char path[512];
  snprintf(path, sizeof path, "%s/prototypes/llvm/aborting_ir",
           shared ? shared : "");
  DIR *folder = opendir(path);
  if (!folder)
    WS_SKIP("no folder %s", path);
  alarm(120);
  ws_compiler *compiler = start_server();
  for (struct dirent *entry; (entry = readdir(folder));)
    if (strstr(entry->d_name, ".ll"))
      judge(compiler, path, entry->d_name);
  closedir(folder);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* The worst of them, here so that they run without that folder. */
WS_TEST(fatal_errors_of_llvm_are_crashes) {
  static const char *const bodies[] = {
      "declare double @llvm.sin.f64(double)\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
      "  %a = load double, ptr addrspace(1) %p\n"
      "  %b = call double @llvm.sin.f64(double %a)\n"
      "  store double %b, ptr addrspace(1) %p\n  ret void\n}\n",
      "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
      "  %a = load fp128, ptr addrspace(1) %p\n"
      "  %b = fmul fp128 %a, %a\n"
      "  store fp128 %b, ptr addrspace(1) %p\n  ret void\n}\n",
  };
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
    char *text = ws_arena_printf(
        arena, "target triple = \"amdgcn-amd-amdhsa\"\n%s", bodies[i]);
    ws_build_request request = raw_request(text, strlen(text));
    ws_build_result result = build(compiler, arena, &request);
    WS_CHECK_INT(result.verdict, WS_VERDICT_CRASH);
    WS_CHECK_CONTAINS(result.reason, "LLVM ERROR");
    check_good(compiler);
  }
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* The same for NVIDIA; and what there is no instruction for on another GPU. */
WS_TEST(fatal_errors_of_nvptx_are_crashes) {
  static const struct {
    const char *target, *body;
  } cases[] = {
      {"sm_90a", "declare double @llvm.sin.f64(double)\n"
                 "define ptx_kernel void @k(ptr addrspace(1) %p) {\n"
                 "  %a = load double, ptr addrspace(1) %p\n"
                 "  %b = call double @llvm.sin.f64(double %a)\n"
                 "  store double %b, ptr addrspace(1) %p\n  ret void\n}\n"},
      {"sm_90",
       "declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)\n"
       "define ptx_kernel void @k() {\n"
       "  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 160)\n"
       "  ret void\n}\n"},
  };
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *text = ws_arena_printf(
        arena, "target triple = \"nvptx64-nvidia-cuda\"\n%s", cases[i].body);
    ws_build_request request = raw_request(text, strlen(text));
    request.target = cases[i].target;
    ws_build_result result = build(compiler, arena, &request);
    WS_CHECK_INT(result.verdict, WS_VERDICT_CRASH);
    WS_CHECK_CONTAINS(result.reason, "LLVM ERROR: Cannot select");
    check_good(compiler);
  }
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* A hanging ptxas dies with its job, which has its wall time only. */
WS_TEST(a_ptxas_that_hangs) {
  static const char kernel[] = "target triple = \"nvptx64-nvidia-cuda\"\n"
                               "define ptx_kernel void @k() {\n  ret void\n}\n";
  static char path[] = "/tmp/wavesmith-hang-XXXXXX";
  static const char script[] = "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n"
                               "case \"$TMPDIR\" in */job-*) sleep 100;; esac\n"
                               "exit 1\n";
  int file = mkstemp(path);
  WS_CHECK(file >= 0 && write(file, script, sizeof script - 1) > 0);
  WS_CHECK(fchmod(file, 0700) == 0);
  close(file);
  setenv("WAVESMITH_PTXAS", path, 1);
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  ws_build_request request = raw_request(kernel, sizeof kernel - 1);
  request.target = "sm_90a";
  request.limits.wall_ms = 1500;
  double start = ws_clock_ms();
  ws_build_result result = build(compiler, arena, &request);
  WS_CHECK_INT(result.verdict, WS_VERDICT_TIMEOUT);
  /* A hang counts when repeated; either try is over long before its sleep of
   * 100 s, on a machine whose disk stalls for seconds, too. */
  WS_CHECK(ws_clock_ms() - start < 60000);
  unsetenv("WAVESMITH_PTXAS");
  check_good(compiler);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  unlink(path);
  check_nothing_left();
}

static const char nvptx_kernel[] =
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define ptx_kernel void @k() {\n  ret void\n}\n";

/* A ptxas that does this in a job; its path, to be unlinked. */
static const char *write_ptxas(const char *action) {
  static char path[] = "/tmp/wavesmith-ptxas-XXXXXX";
  char script[512];
  snprintf(script, sizeof script,
           "#!/bin/sh\ncase \"$TMPDIR\" in */job-*) %s;; esac\nexit 1\n",
           action);
  int file = mkstemp(path);
  WS_CHECK(file >= 0 && write(file, script, strlen(script)) > 0);
  WS_CHECK(fchmod(file, 0700) == 0);
  close(file);
  setenv("WAVESMITH_PTXAS", path, 1);
  return path;
}

static ws_build_request ptx_request(void) {
  ws_build_request request = raw_request(nvptx_kernel, sizeof nvptx_kernel - 1);
  request.target = "sm_90a";
  return request;
}

/* The job dies first; what its ptxas has started must not stay. */
WS_TEST(nothing_of_ptxas_outlives_its_job) {
  const char *path = write_ptxas("sleep 100 & kill -SEGV $PPID; wait");
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  ws_build_request request = ptx_request();
  ws_build_result result = build(compiler, arena, &request);
  WS_CHECK_INT(result.verdict, WS_VERDICT_CRASH);
  pid_t any;
  for (int i = 0; i < 100 && count_processes(&any) > 1; i++)
    usleep(10000);
  WS_CHECK(count_processes(&any) <= 1); /* but the server, if it runs */
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  unlink(path);
  check_nothing_left();
}

/* Nor its server. */
WS_TEST(nothing_of_ptxas_outlives_its_server) {
  const char *path = write_ptxas("sleep 100 & wait");
  ws_compiler *compiler = start_server();
  ws_build_request request = ptx_request();
  ws_diag diag;
  pid_t server = 0, any;
  WS_CHECK_INT(count_processes(&server), 1);
  WS_CHECK_INT(ws_compiler_send(compiler, &request, &diag), WS_OK);
  for (int i = 0; i < 1000 && count_processes(&any) < 4; i++)
    usleep(10000);
  WS_CHECK(count_processes(&any) >= 4); /* server, job, ptxas, sleep */
  WS_CHECK(kill(server, SIGKILL) == 0);
  ws_compiler_stop(compiler);
  for (int i = 0; i < 200 && count_processes(&any); i++)
    usleep(10000);
  WS_CHECK_INT(count_processes(&any), 0);
  unlink(path);
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", temp_folder);
  WS_CHECK(system(command) == 0);
}

/* Whoever kills ptxas says nothing about the candidate. */
WS_TEST(a_killed_ptxas_is_no_verdict) {
  const char *path = write_ptxas("kill -KILL $$");
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  ws_build_request request = ptx_request();
  ws_build_result result;
  ws_diag diag;
  WS_CHECK_INT(ws_compiler_build(compiler, arena, &request, &result, &diag),
               WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "tried 6 times");
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  unlink(path);
  check_nothing_left();
}

/* ---- what is short
 * ------------------------------------------------------------------------ */

/* Somebody limits the server's memory to less than a job needs. */
WS_TEST(memory_pressure_is_no_verdict) {
  ws_compiler *compiler = start_server();
  pid_t server = 0;
  char path[64];
  unsigned long pages = 0;
  WS_CHECK_INT(count_processes(&server), 1);
  snprintf(path, sizeof path, "/proc/%d/statm", (int)server);
  FILE *file = fopen(path, "r");
  WS_CHECK(file && fscanf(file, "%lu", &pages) == 1);
  fclose(file);
  struct rlimit limit = {pages * 4096 + (64 << 10), RLIM_INFINITY};
  WS_CHECK_INT(prlimit(server, RLIMIT_AS, &limit, NULL), 0);
  check_good(compiler); /* on a server that nobody limits */
  ws_compiler_stop(compiler);
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", temp_folder);
  WS_CHECK(system(command) == 0);
}

/* A temp folder without room: the good kernel may be built or not be built, but
 * it is not refused. */
WS_TEST(a_full_disk_is_no_verdict) {
  WS_CHECK(mkdtemp(temp_folder));
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", temp_folder, "tmpfs", 0, "size=64k") != 0) {
    rmdir(temp_folder);
    WS_SKIP("no mount of our own");
  }
  setenv("TMPDIR", temp_folder, 1);
  ws_compiler *compiler;
  ws_arena *arena = ws_arena_create();
  ws_build_request request = raw_request(good_kernel, sizeof good_kernel - 1);
  ws_build_result result = {0};
  ws_diag diag = {""};
  WS_CHECK_INT(ws_compiler_start(&compiler, &diag), WS_OK);
  char command[256];
  snprintf(command, sizeof command,
           "cat /dev/zero > '%s/zeros' 2>/dev/null || true", temp_folder);
  WS_CHECK(system(command) == 0);
  ws_status status =
      ws_compiler_build(compiler, arena, &request, &result, &diag);
  if (status == WS_OK ? result.verdict != WS_VERDICT_OK
                      : status != WS_ENVIRONMENT)
    WS_FAIL("%s: %s%s", ws_verdict_text(result.verdict), result.reason,
            diag.text);
  ws_compiler_stop(compiler);
  ws_arena_destroy(arena);
  umount(temp_folder);
  rmdir(temp_folder);
}

/* ---- streams
 * -------------------------------------------------------------------- */

static ws_process start_bare(void) {
  const char *argv[] = {getenv("WAVESMITH_COMPILER"), NULL};
  ws_process process;
  ws_diag diag;
  ws_arena *arena = ws_arena_create();
  char *json;
  void *blob;
  size_t size;
  if (!argv[0])
    WS_SKIP("WAVESMITH_COMPILER is not set");
  WS_CHECK(ws_process_start(argv, &process, &diag) == WS_OK);
  WS_CHECK(ws_message_receive(process.socket, 60000, arena, &json, &blob, &size,
                              NULL, &diag) == WS_OK);
  WS_CHECK_CONTAINS(json, "ready");
  ws_arena_destroy(arena);
  return process;
}

/* Whether the server closes the stream within five seconds. */
static bool ends(const ws_process *process) {
  ws_arena *arena = ws_arena_create();
  char *json;
  void *blob;
  size_t size;
  bool at_end = false;
  ws_diag diag;
  ws_status status = ws_message_receive(process->socket, 5000, arena, &json,
                                        &blob, &size, &at_end, &diag);
  ws_arena_destroy(arena);
  return status != WS_OK && at_end;
}

WS_TEST(streams_that_are_no_frames_end_the_server_cleanly) {
  static const struct {
    const char *bytes;
    size_t size;
  } cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", 18},          /* a frame of 540 MB */
      {"\xff\xff\xff\xff\xff\xff\xff\xff", 8}, /* of 4 GB */
      {"\x02\0\0\0\xff\xff\xff\x7f{}", 10},    /* a blob of 2 GB */
      {"\x05\0\0\0\0\0\0\0{\0}\0\0", 13},      /* NUL in the text */
      {"\x10\0\0", 3},                         /* stops in the header */
      {"\x10\0\0\0\x10\0\0\0{\"op\":", 14},    /* and in the text */
  };
  WS_CHECK(mkdtemp(temp_folder));
  setenv("TMPDIR", temp_folder, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_process process = start_bare();
    WS_CHECK(send(process.socket, cases[i].bytes, cases[i].size,
                  MSG_NOSIGNAL) == (ssize_t)cases[i].size);
    shutdown(process.socket, SHUT_WR);
    WS_CHECK(ends(&process));
    int status;
    WS_CHECK(waitpid(process.pid, &status, 0) == process.pid);
    WS_CHECK(WIFEXITED(status));
    close(process.socket);
  }
  check_nothing_left();
}

WS_TEST(frames_that_ask_for_nothing_sensible_are_answered) {
  static const char *const texts[] = {
      "",
      "{",
      "[]",
      "null",
      "{\"op\":7}",
      "{\"op\":\"destroy\"}",
      "{\"op\":\"build\"}",
      "{\"op\":\"build\",\"request\":[]}",
      "{\"op\":\"build\",\"request\":{\"stages\":-1}}",
      "{\"op\":\"describe\"}",
      "{\"op\":\"describe\",\"file\":{}}",
  };
  WS_CHECK(mkdtemp(temp_folder));
  setenv("TMPDIR", temp_folder, 1);
  ws_process process = start_bare();
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char *json;
    void *blob;
    size_t size;
    ws_diag diag;
    WS_CHECK(ws_message_send(process.socket, texts[i], "x", 1, &diag) == WS_OK);
    if (ws_message_receive(process.socket, 10000, arena, &json, &blob, &size,
                           NULL, &diag) != WS_OK)
      WS_FAIL("no answer to %s: %s", texts[i], diag.text);
    WS_CHECK_CONTAINS(json, "\"error\":");
  }
  shutdown(process.socket, SHUT_WR);
  WS_CHECK(ends(&process));
  ws_arena_destroy(arena);
  waitpid(process.pid, NULL, 0);
  check_nothing_left();
}

/* ---- texts
 * ---------------------------------------------------------------------- */

static void try_text(ws_compiler *compiler, const char *text, size_t size) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  const ws_template *tmpl;
  ws_status status = ws_compiler_describe(compiler, arena, "noise.ll", text,
                                          size, &tmpl, &diag);
  WS_CHECK(status == WS_OK || (status == WS_INPUT && diag.text[0]));
  ws_build_request request = raw_request(text, size);
  request.stages = WS_STAGE_CHECK | WS_STAGE_LOWER;
  ws_build_result result = build(compiler, arena, &request);
  WS_CHECK(result.verdict == WS_VERDICT_OK || result.reason[0]);
  ws_arena_destroy(arena);
}

WS_TEST(random_bytes_are_no_template) {
  ws_compiler *compiler = start_server();
  char text[3000];
  ws_rng rng;
  ws_rng_init(&rng, 2);
  for (int i = 0; i < 100; i++) {
    size_t size = ws_rng_below(&rng, sizeof text);
    for (size_t k = 0; k < size; k++)
      text[k] = (char)(i % 2 ? ws_rng_next(&rng) : 32 + ws_rng_below(&rng, 95));
    try_text(compiler, text, size);
  }
  check_good(compiler);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(damaged_templates_are_survived) {
  const char *source = getenv("WS_SOURCE_DIR");
  char path[512], *text;
  size_t size;
  ws_arena *arena = ws_arena_create();
  ws_rng rng;
  ws_diag diag;
  snprintf(path, sizeof path, "%s/ir-templates/fp8_gemm_naive.ll",
           source ? source : "");
  if (ws_file_read(arena, path, &text, &size, &diag) != WS_OK)
    WS_SKIP("%s", diag.text);
  alarm(120);
  ws_compiler *compiler = start_server();
  ws_rng_init(&rng, 3);
  for (int i = 0; i < 150; i++) {
    char *copy = ws_arena_strndup(arena, text, size);
    for (int k = 0; k < 1 + i % 4; k++) /* a byte from elsewhere in the text */
      copy[ws_rng_below(&rng, size)] = text[ws_rng_below(&rng, size)];
    try_text(compiler, copy, i % 5 ? size : ws_rng_below(&rng, size));
  }
  check_good(compiler);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* ---- clients
 * ---------------------------------------------------------------------- */

WS_TEST(a_client_killed_in_mid_job_leaves_nothing) {
  int started[2];
  char byte;
  pid_t any;
  WS_CHECK(mkdtemp(temp_folder));
  setenv("TMPDIR", temp_folder, 1);
  WS_CHECK(pipe(started) == 0);
  pid_t client = fork();
  if (client == 0) {
    ws_compiler *compiler;
    ws_diag diag;
    char *slow = slow_module(ws_arena_create());
    ws_build_request request = raw_request(slow, strlen(slow));
    if (ws_compiler_start(&compiler, &diag) != WS_OK ||
        ws_compiler_send(compiler, &request, &diag) != WS_OK ||
        write(started[1], "x", 1) != 1)
      _exit(1);
    pause();
  }
  WS_CHECK(read(started[0], &byte, 1) == 1);
  usleep(300000);
  WS_CHECK(count_processes(&any) >= 2); /* the server and its job */
  WS_CHECK(count_temp_entries() == 1);
  kill(client, SIGKILL);
  waitpid(client, NULL, 0);
  check_nothing_left();
}

WS_TEST(a_server_told_to_stop_cleans_up_first) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  char *slow = slow_module(arena);
  ws_build_request request = raw_request(slow, strlen(slow));
  ws_build_result result;
  ws_diag diag;
  pid_t server = 0;
  WS_CHECK_INT(count_processes(&server), 1);
  WS_CHECK(ws_compiler_send(compiler, &request, &diag) == WS_OK);
  usleep(200000);
  WS_CHECK(kill(server, SIGTERM) == 0);
  bool done = true;
  WS_CHECK(ws_compiler_receive(compiler, arena, &result, &done, &diag) ==
           WS_OK);
  WS_CHECK(!done);
  ws_compiler_stop(compiler);
  ws_arena_destroy(arena);
  check_nothing_left();
}
