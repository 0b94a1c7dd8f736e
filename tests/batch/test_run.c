/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith-device run` on a card whose kernels misbehave in known ways
 * (tests/device/mock_hip.c): every job gets its answer, whatever the one before
 * did; a killed run is taken up again; what is wrong with a folder or a machine
 * is one line.
 */
#include "folder.h"

#include "../device/mock_workload.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

static ws_workload workload_of(const char *kernel, int64_t m) {
  return mock_workload(arena, kernel, m, 32, 128);
}

/* Verified on two shapes, timed on two. race_us 0: none. */
static void add_job(ws_batch *batch, const char *kernel, const char *code,
                    double race_us) {
  static ws_measure_request steps[3];
  ws_workload *two = ws_arena_alloc(arena, 2 * sizeof *two);
  double *limit = ws_arena_alloc(arena, sizeof *limit);
  *limit = race_us;
  for (int i = 0; i < 2; i++)
    two[i] = workload_of(kernel, 16 + 32 * i);
  for (int i = 0; i < 3; i++) {
    steps[i] =
        (ws_measure_request){.op = i ? WS_MEASURE_TIME : WS_MEASURE_VERIFY,
                             .workloads = i == 2 ? &two[1] : two,
                             .workload_count = i ? 1 : 2,
                             .settings = ws_measure_settings_default};
    steps[i].settings.wall_ms = 1500;
    steps[i].settings.warm_up_ms = 1;
  }
  const ws_batch_job job = {.candidate = kernel,
                            .code_object = code,
                            .code_object_size = strlen(code),
                            .steps = steps,
                            .step_count = 3,
                            .race_steps = race_us > 0,
                            .race_us = limit,
                            .race_ratio = 1.5};
  ws_batch_answer answer;
  bool found;
  if (ws_batch_ask(batch, arena, &job, &found, &answer, &fault) != WS_OK)
    WS_FAIL("%s", fault.text);
}

static ws_batch *open_batch(void) {
  ws_batch *batch;
  if (ws_batch_open(folder, "gfx942", "hip", &batch, &fault) != WS_OK)
    WS_FAIL("%s", fault.text);
  return batch;
}

static ws_batch_answer answer_of(int number) {
  ws_batch_answer answer;
  ws_batch *batch = open_batch();
  bool found;
  WS_CHECK(ws_batch_read_answer(batch, arena, number, &found, &answer,
                                &fault) == WS_OK);
  WS_CHECK(found);
  ws_batch_close(batch);
  return answer;
}

/* ---- running ---- */

typedef struct outcome {
  int code;
  const char *out, *err; /* stdout, stderr */
} outcome;

/* More words end with NULL. Returns at once. */
static pid_t start_run(const char *const *words) {
  const char *argv[16] = {WS_DEVICE_PROGRAM, "run", folder};
  for (int i = 0; words && words[i]; i++)
    argv[3 + i] = words[i];
  pid_t child = fork();
  if (child == 0) {
    int out = open(beside("out"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(beside("err"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    unsetenv("WAVESMITH_DEVICE_SERVER");
    execv(argv[0], (char *const *)argv);
    _exit(127);
  }
  return child;
}

static outcome end_run(pid_t child) {
  int state;
  WS_CHECK(waitpid(child, &state, 0) == child);
  return (outcome){WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state),
                   read_text(beside("out")), read_text(beside("err"))};
}

static outcome run(const char *const *words) {
  return end_run(start_run(words));
}

static void expect(outcome got, int code, const char *out, const char *err) {
  if (got.code != code || (out && !strstr(got.out, out)) ||
      (err && !strstr(got.err, err)))
    WS_FAIL("exit %d, want %d '%s' '%s'; out: %s; err: %s", got.code, code,
            out ? out : "", err ? err : "", got.out, got.err);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void make_mock_folder(void) {
  make_folder();
  setenv("WAVESMITH_HIP_LIBRARY", WS_MOCK_HIP, 1);
  setenv("WAVESMITH_SIM_LIBRARY", WS_MOCK_HIP, 1);
}

/* count jobs of different code. */
static void make_jobs(const char *kernel, int count) {
  ws_batch *batch = open_batch();
  for (int i = 0; i < count; i++)
    add_job(batch, kernel, ws_arena_printf(arena, "code %d", i), 0);
  ws_batch_close(batch);
}

/* ---- verdicts ---- */

WS_TEST(each_job_gets_its_verdict) {
  static const struct {
    const char *kernel;
    ws_verdict verdict;
    int steps;
  } cases[] = {
      {"gemm_ok", WS_VERDICT_OK, 3},        {"gemm_wrong", WS_VERDICT_WRONG, 1},
      {"gemm_hang", WS_VERDICT_TIMEOUT, 1}, {"gemm_die", WS_VERDICT_CRASH, 1},
      {"gemm_fault", WS_VERDICT_CRASH, 1},  {"gemm_ok", WS_VERDICT_OK, 3}};
  enum { CASES = sizeof cases / sizeof cases[0] };
  make_mock_folder();
  ws_batch *batch = open_batch();
  for (int i = 0; i < CASES; i++)
    add_job(batch, cases[i].kernel, ws_arena_printf(arena, "code %d", i), 0);
  ws_batch_close(batch);
  expect(run(WORDS("--device", "hip")), 0,
         "6 jobs, 6 answered, 0 open; in this run 2 ok, 2 crash, 1 timeout, 1 "
         "wrong, ",
         "6 of 6 answered");
  for (int i = 0; i < CASES; i++) {
    ws_batch_answer answer = answer_of(i);
    WS_CHECK_INT(answer.step_count, cases[i].steps);
    WS_CHECK_INT(answer.steps[answer.step_count - 1].verdict, cases[i].verdict);
    WS_CHECK_TEXT(answer.device->name, "Mock");
    WS_CHECK_TEXT(answer.device->provenance, "hip:Mock");
  }
  ws_batch_answer good = answer_of(0);
  WS_CHECK(good.steps[1].us > 0 && good.steps[1].sample_count >= 20 &&
           good.steps[1].low_us <= good.steps[1].us);
  remove_folder();
}

WS_TEST(lost_race_ends_a_job) {
  make_mock_folder();
  ws_batch *batch = open_batch();
  add_job(batch, "gemm_ok", "code slow", 1e-3);
  add_job(batch, "gemm_ok", "code fast", 1e9);
  ws_batch_close(batch);
  expect(run(NULL), 0, "1 ok, 1 outrun", NULL);
  WS_CHECK_INT(answer_of(0).step_count, 2);
  WS_CHECK_INT(answer_of(1).step_count, 3);
  remove_folder();
}

WS_TEST(two_servers_share_the_jobs) {
  make_mock_folder();
  make_jobs("gemm_ok", 6);
  expect(run(WORDS("--device", "sim", "--gpus", "0,1")), 0, "6 ok",
         "on sim (Mock), sim (Mock)");
  for (int i = 0; i < 6; i++)
    WS_CHECK_INT(answer_of(i).step_count, 3);
  WS_CHECK_INT(count_lines("results.jsonl"), 6);
  remove_folder();
}

WS_TEST(all_cards_are_used) {
  make_mock_folder();
  setenv("MOCK_DEVICES", "3", 1);
  setenv("MOCK_DEVICE", "-1", 1);
  make_jobs("gemm_ok", 9);
  expect(run(NULL), 0, "9 ok",
         "; on hip:0 (Mock), hip:1 (Mock), hip:2 (Mock)\n");
  WS_CHECK_INT(count_lines("results.jsonl"), 9);
  for (int i = 0; i < 9; i++)
    WS_CHECK_INT(answer_of(i).step_count, 3);
  make_jobs("gemm_wrong", 2);
  expect(run(WORDS("--gpus", "2,1")), 0,
         "11 answered, 0 open; in this run 2 wrong",
         "; on hip:2 (Mock), hip:1 (Mock)\n");
  remove_folder();
}

/* ---- cards of CUDA ----
 * Three of them, on which nothing is ever written: every job is wrong. */
static void make_cuda_folder(void) {
  make_folder();
  setenv("WAVESMITH_CUDA_LIBRARY", WS_MOCK_CUDA, 1);
  setenv("MOCK_CUDA_DEVICES", "3", 1);
  setenv("WAVESMITH_LOCK_FOLDER", beside("locks"), 1);
  ws_batch *batch;
  WS_CHECK(ws_batch_open(folder, "sm_90a", "cuda", &batch, &fault) == WS_OK);
  for (int i = 0; i < 6; i++)
    add_job(batch, "gemm_ok", ws_arena_printf(arena, ".version 8.4 // %d", i),
            0);
  ws_batch_close(batch);
}

/* As a server on that card would. */
static void occupy(int number) {
  WS_CHECK(ws_make_directories(beside("locks"), &fault) == WS_OK);
  const char *path = beside(ws_arena_printf(
      arena, "locks/wavesmith-GPU-%02x112233-4455-6677-8899-aabbccddeeff.lock",
      (unsigned)number));
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  WS_CHECK(file >= 0 && flock(file, LOCK_EX) == 0);
}

WS_TEST(all_cuda_cards_are_found) {
  make_cuda_folder();
  expect(run(WORDS("--gpus", "all")), 0, "6 wrong",
         "; on cuda:0 (NVIDIA H200), cuda:1 (NVIDIA H200), "
         "cuda:2 (NVIDIA H200)\n");
  WS_CHECK_INT(count_lines("results.jsonl"), 6);
  remove_folder();
}

WS_TEST(cards_in_use_are_left_out) {
  make_cuda_folder();
  occupy(0);
  occupy(1);
  outcome got = run(NULL); /* all */
  expect(got, 0, "6 wrong", "; on cuda:2 (NVIDIA H200)\n");
  expect(got, 0, NULL, "left out: cuda:0: NVIDIA H200 (GPU-00112233-");
  expect(got, 0, NULL, "left out: cuda:1: NVIDIA H200 (GPU-01112233-");
  remove_folder();
}

/* One line that says what was looked for and what to do. */
static void expect_no_cards(const char *cause, const char *others) {
  outcome got = run(WORDS("--gpus", "all"));
  expect(got, 3, NULL,
         ws_arena_printf(arena,
                         "wavesmith-device run: looked for all cuda cards and "
                         "found none that is free for sm_90a (%s",
                         cause));
  expect(got, 3, NULL,
         ws_arena_printf(arena,
                         "%s); run this where there is one, or name "
                         "another kind by --device\n",
                         others));
  WS_CHECK(*others || !strstr(got.err, "more"));
  WS_CHECK(strchr(got.err, '\n') == got.err + strlen(got.err) - 1);
  WS_CHECK_INT(count_lines("results.jsonl"), 0);
}

WS_TEST(no_card_is_one_line) {
  make_cuda_folder();
  setenv("MOCK_CUDA_DEVICES", "0", 1);
  expect_no_cards("cuda:0: cuDeviceGetCount: CUDA_ERROR_NO_DEVICE: no NVIDIA "
                  "GPU is visible; see nvidia-smi",
                  "");
  setenv("WAVESMITH_CUDA_LIBRARY", "/no/such/library", 1);
  expect_no_cards("cuda:0: WAVESMITH_CUDA_LIBRARY: /no/such/library", "");
  setenv("WAVESMITH_CUDA_LIBRARY", WS_MOCK_CUDA, 1);
  setenv("MOCK_CUDA_DEVICES", "2", 1);
  occupy(0);
  occupy(1);
  expect_no_cards("cuda:0: NVIDIA H200 (GPU-00112233-", "; and 1 more");
  remove_folder();
}

/* The hang is begun first and is not the first to be answered. */
WS_TEST(hang_keeps_no_other_card_waiting) {
  make_mock_folder();
  setenv("MOCK_DEVICES", "2", 1);
  setenv("MOCK_DEVICE", "-1", 1);
  make_jobs("gemm_hang", 1);
  make_jobs("gemm_ok", 3);
  expect(run(NULL), 0, "3 ok, 1 timeout", NULL);
  const char *text = content("results.jsonl");
  const char *hang = strstr(text, "\"timeout\"");
  WS_CHECK(hang && memchr(text, '\n', (size_t)(hang - text)));
  remove_folder();
}

WS_TEST(done_is_not_done_again) {
  make_mock_folder();
  make_jobs("gemm_ok", 2);
  expect(run(NULL), 0, "2 ok", NULL);
  const char *before = content("results.jsonl");
  setenv("WAVESMITH_HIP_LIBRARY", "/no/such/library", 1);
  expect(run(NULL), 0, "2 jobs, 2 answered, 0 open\n", NULL);
  WS_CHECK_TEXT(content("results.jsonl"), before);
  remove_folder();
}

/* ---- being ended ---- */

static void wait_for_lines(int least) {
  for (int i = 0; i < 1000; i++) {
    if (ws_file_exists(path_of("results.jsonl")) &&
        count_lines("results.jsonl") >= least)
      return;
    usleep(10 * 1000);
  }
  WS_FAIL("no %d answers in 10 s", least);
}

/* The children die with the run: nothing else holds the card. */
WS_TEST(killed_run_goes_on_where_it_was) {
  make_mock_folder();
  make_jobs("gemm_ok", 12);
  pid_t child = start_run(NULL);
  wait_for_lines(3);
  kill(child, SIGKILL);
  WS_CHECK_INT(end_run(child).code, -SIGKILL);
  int done = count_lines("results.jsonl");
  WS_CHECK(done >= 3 && done < 12);
  append("results.jsonl", "{\"id\":\"cut of");
  expect(run(NULL), 0, "12 jobs, 12 answered, 0 open", NULL);
  WS_CHECK_INT(count_lines("results.jsonl"), 12);
  for (int i = 0; i < 12; i++)
    WS_CHECK_INT(answer_of(i).step_count, 3);
  remove_folder();
}

WS_TEST(first_signal_ends_it_cleanly) {
  make_mock_folder();
  make_jobs("gemm_ok", 1);
  ws_batch *batch = open_batch();
  add_job(batch, "gemm_hang", "code hangs", 0);
  ws_batch_close(batch);
  pid_t child = start_run(NULL);
  wait_for_lines(1);
  kill(child, SIGINT);
  expect(end_run(child), 0, "2 jobs, 1 answered, 1 open; in this run 1 ok",
         NULL);
  remove_folder();
}

WS_TEST(nothing_done_is_no_success) {
  make_mock_folder();
  make_jobs("gemm_hang", 1);
  pid_t child = start_run(NULL);
  usleep(700 * 1000);
  kill(child, SIGTERM);
  expect(end_run(child), 3, "0 answered", "interrupted before anything");
  remove_folder();
}

WS_TEST(time_limit_lets_the_job_in_hand_end) {
  make_mock_folder();
  make_jobs("gemm_hang", 5); /* 1.5 s each */
  expect(run(WORDS("--minutes", "0.01")), 0, "1 answered, 4 open", NULL);
  remove_folder();
}

/* ---- what is wrong ---- */

WS_TEST(one_run_at_a_time) {
  make_mock_folder();
  make_jobs("gemm_ok", 1);
  int held = open(path_of("results.jsonl"), O_RDWR | O_CREAT, 0666);
  WS_CHECK(held >= 0 && flock(held, LOCK_EX) == 0);
  expect(run(NULL), 3, NULL, "results.jsonl: another process writes to it");
  close(held);
  expect(run(NULL), 0, "1 ok", NULL);
  remove_folder();
}

static void limit_files(rlim_t bytes) {
  struct rlimit limit = {bytes, RLIM_INFINITY};
  WS_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

WS_TEST(full_disk_keeps_what_is_whole) {
  make_mock_folder();
  make_jobs("gemm_ok", 4);
  expect(run(WORDS("--minutes", "1")), 0, "4 ok", NULL);
  size_t line = strlen(content("results.jsonl")) / 4;
  WS_CHECK(unlink(path_of("results.jsonl")) == 0);
  limit_files(2 * line + line / 2);
  expect(run(NULL), 3, NULL, "results.jsonl: cannot write: File too large");
  limit_files(RLIM_INFINITY);
  int kept = count_lines("results.jsonl");
  WS_CHECK(kept >= 1 && kept <= 3);
  const char *text = content("results.jsonl");
  WS_CHECK(text[strlen(text) - 1] == '\n');
  expect(run(NULL), 0, "4 answered, 0 open", NULL);
  WS_CHECK_INT(count_lines("results.jsonl"), 4);
  remove_folder();
}

WS_TEST(wrong_card_is_one_line) {
  make_mock_folder();
  ws_batch *batch;
  WS_CHECK(ws_batch_open(folder, "sm_90a", "cuda", &batch, &fault) == WS_OK);
  add_job(batch, "gemm_ok", "code", 0);
  ws_batch_close(batch);
  expect(run(WORDS("--device", "hip")), 3, NULL,
         "the batch is for sm_90a; hip:0 is a Mock (gfx942)");
  WS_CHECK_INT(count_lines("results.jsonl"), 0);
  remove_folder();
}

WS_TEST(damaged_folder_costs_no_device_time) {
  make_mock_folder();
  expect(run(NULL), 1, NULL, "no batch: there is no manifest.json");
  make_jobs("gemm_ok", 2);
  setenv("WAVESMITH_HIP_LIBRARY", "/no/such/library", 1);
  expect(run(NULL), 3, NULL, "/no/such/library");
  append("jobs.jsonl", "{\"id\":\n");
  expect(run(NULL), 1, NULL, "jobs.jsonl:3: a broken line");
  WS_CHECK(truncate(path_of("jobs.jsonl"),
                    (off_t)strlen(content("jobs.jsonl")) - 7) == 0);
  /* The last job alone lacks its code: the others are not begun. */
  setenv("WAVESMITH_HIP_LIBRARY", WS_MOCK_HIP, 1);
  ws_batch *batch = open_batch();
  add_job(batch, "gemm_ok", "code gone", 0);
  ws_batch_job last;
  WS_CHECK(ws_batch_read_job(batch, arena, 2, &last, &fault) == WS_OK);
  ws_batch_close(batch);
  WS_CHECK(unlink(path_of(ws_arena_printf(arena, "code/%s", last.code_file))) ==
           0);
  expect(run(NULL), 1, NULL, last.code_file);
  WS_CHECK_INT(count_lines("results.jsonl"), 0);
  append("manifest.json", "}");
  expect(run(NULL), 1, NULL, "manifest.json:2: more text");
  remove_folder();
}

WS_TEST(missing_or_damaged_code_is_named) {
  make_mock_folder();
  ws_batch *batch = open_batch();
  add_job(batch, "gemm_ok", "abc", 0); /* sha256sum's ba7816bf... */
  ws_batch_close(batch);
  const char *path = path_of("code/ba7816bf8f01cfea414140de5dae2223.co");
  WS_CHECK(truncate(path, 2) == 0);
  expect(run(NULL), 1, NULL,
         "ba7816bf8f01cfea414140de5dae2223.co: not the "
         "file that job");
  WS_CHECK(unlink(path) == 0);
  expect(run(NULL), 1, NULL,
         "ba7816bf8f01cfea414140de5dae2223.co: cannot "
         "open: No such file");
  remove_folder();
}

WS_TEST(usage_is_checked) {
  make_mock_folder();
  make_jobs("gemm_ok", 1);
  expect(run(WORDS("--minutes", "x")), 2, NULL,
         "--minutes 'x' is not a number");
  expect(run(WORDS("--gpus", "a")), 2, NULL, "--gpus takes all or numbers");
  expect(run(WORDS("--gpus", "0", "--device", "hip:0")), 2, NULL,
         "names a card");
  expect(run(WORDS("more")), 2, NULL, "give one folder");
  expect(run(WORDS("--frob")), 2, NULL, "'--frob' is unknown");
  expect(run(WORDS("--device", "foo")), 2, NULL, "unknown device 'foo'");
  expect(run(WORDS("--help")), 0, "usage: wavesmith-device run FOLDER", NULL);
  remove_folder();
}
