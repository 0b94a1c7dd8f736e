/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Writing jobs and reading answers: same question, same job; what a kill, a
 * full disk or a careless hand does to the folder.
 */
#include "../gemm_shape.h"
#include "folder.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <sys/resource.h>

static ws_batch *open_batch(void) {
  ws_batch *batch;
  if (ws_batch_open(folder, "sm_90a", "cuda", &batch, &fault) != WS_OK)
    WS_FAIL("%s", fault.text);
  return batch;
}

/* Fails to open, with a line that holds all of the texts. */
static void expect_refusal(const char *target, ws_status status,
                           const char *const *texts) {
  ws_batch *batch = NULL;
  WS_CHECK_INT(
      ws_batch_open(folder, target, target ? "cuda" : NULL, &batch, &fault),
      status);
  WS_CHECK(!batch);
  for (; *texts; texts++)
    if (!strstr(fault.text, *texts))
      WS_FAIL("'%s' lacks '%s'", fault.text, *texts);
}
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const double limits[] = {10, 20};
static ws_operand operand = {
    .kind = WS_OPERAND_INTEGER, .name = "", .value = 5, .size = 4};
static ws_workload_launch launch = {.kernel = "gemm",
                                    .grid = {3, 2, 1},
                                    .block = 128,
                                    .dynamic_lds = 4096,
                                    .operands = &operand,
                                    .operand_count = 1};
static ws_workload workload = {.problem = "fp8_gemm_blockscale",
                               .layout = 0,
                               .seed = UINT64_C(0xfedcba9876543210),
                               .launches = &launch,
                               .launch_count = 1};
static ws_measure_request steps[4];

static ws_batch_job job_of(const char *code) {
  workload.shape = gemm_shape(64, 128, 256);
  for (int i = 0; i < 4; i++)
    steps[i] =
        (ws_measure_request){.op = i ? WS_MEASURE_TIME : WS_MEASURE_VERIFY,
                             .workloads = &workload,
                             .workload_count = 1,
                             .settings = ws_measure_settings_default};
  return (ws_batch_job){.id = "",
                        .candidate = "c0ffee",
                        .code_object = code,
                        .code_object_size = strlen(code),
                        .steps = steps,
                        .step_count = 4,
                        .race_steps = 2,
                        .race_us = limits,
                        .race_ratio = 2};
}

static bool ask(ws_batch *batch, const ws_batch_job *job,
                ws_batch_answer *out_answer) {
  bool found;
  if (ws_batch_ask(batch, arena, job, &found, out_answer, &fault) != WS_OK)
    WS_FAIL("%s", fault.text);
  return found;
}

/* As a run would write it: two steps of four. */
static const char *answer_line(const char *id) {
  static const double samples[] = {11.5, 12, 12.25};
  static const ws_device_info info = {.kind = "cuda",
                                      .name = "H200",
                                      .arch = "sm_90",
                                      .library = "libcuda.so.1",
                                      .provenance = "cuda:H200",
                                      .driver = "580.1",
                                      .lock = "GPU-1",
                                      .cu_count = 132,
                                      .memory_bytes = INT64_C(150) << 30,
                                      .cache_bytes = 50 << 20};
  static const ws_measured measured[] = {{.verdict = WS_VERDICT_OK,
                                          .reason = "",
                                          .provenance = "cuda:H200",
                                          .bound = "",
                                          .report = "",
                                          .throttle = ""},
                                         {.verdict = WS_VERDICT_OK,
                                          .reason = "",
                                          .us = 12,
                                          .low_us = 11.5,
                                          .high_us = 12.25,
                                          .samples = samples,
                                          .sample_count = 3,
                                          .provenance = "cuda:H200",
                                          .bound = "",
                                          .report = "",
                                          .throttle = ""}};
  const ws_batch_answer answer = {id, &info, measured, 2};
  cJSON *json = ws__batch_answer_to_json(&answer);
  char *text = cJSON_PrintUnformatted(json);
  const char *line = ws_arena_strdup(arena, text);
  cJSON_Delete(json);
  free(text);
  return line;
}

/* The id of the only job, as the file has it. */
static const char *first_id(void) {
  const char *text = content("jobs.jsonl");
  WS_CHECK(!strncmp(text, "{\"id\":\"", 7));
  return ws_arena_strndup(arena, text + 7, 32);
}

WS_TEST(same_question_is_one_job) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("\x7f"
                            "ELF cubin");
  WS_CHECK(!ask(batch, &job, &answer));
  WS_CHECK(!ask(batch, &job, &answer));
  WS_CHECK_INT(ws_batch_jobs(batch), 1);
  workload.seed--;
  job = job_of("\x7f"
               "ELF cubin");
  WS_CHECK(!ask(batch, &job, &answer));
  workload.seed++;
  job = job_of("PTX text");
  WS_CHECK(!ask(batch, &job, &answer));
  WS_CHECK_INT(ws_batch_jobs(batch), 3);
  ws_batch_close(batch);
  batch = open_batch();
  WS_CHECK(!ask(batch, &job, &answer));
  WS_CHECK_INT(ws_batch_jobs(batch), 3);
  WS_CHECK_INT(ws_batch_open_jobs(batch), 3);
  ws_batch_close(batch);
  WS_CHECK_INT(count_lines("jobs.jsonl"), 3);
  remove_folder();
}

WS_TEST(job_is_read_as_it_was_written) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("PTX text"), got;
  ask(batch, &job, &answer);
  WS_CHECK(ws_batch_read_job(batch, arena, 0, &got, &fault) == WS_OK);
  WS_CHECK_TEXT(got.candidate, "c0ffee");
  WS_CHECK_INT(got.code_object_size, 8);
  WS_CHECK_INT(got.step_count, 4);
  WS_CHECK_INT(got.steps[0].op, WS_MEASURE_VERIFY);
  WS_CHECK_INT(got.steps[3].op, WS_MEASURE_TIME);
  WS_CHECK_INT(got.steps[3].settings.wall_ms, 20000);
  WS_CHECK(got.steps[3].workloads[0].seed == UINT64_C(0xfedcba9876543210));
  WS_CHECK_INT(got.steps[3].workloads[0].launches[0].dynamic_lds, 4096);
  WS_CHECK_INT(got.race_steps, 2);
  WS_CHECK(got.race_us[1] == 20 && got.race_ratio == 2);
  WS_CHECK(ws_batch_read_code(batch, arena, &got, &fault) == WS_OK);
  WS_CHECK(!memcmp(got.code_object, "PTX text", 8));
  WS_CHECK(got.steps[2].code_object == got.code_object);
  ws_batch_close(batch);
  remove_folder();
}

/* The rival's code is a file of its own; sha256sum of "rival". */
WS_TEST(rival_travels_along) {
  static const char file[] = "code/1db147fa22abae8a70c94152c9ec8cb8.ptx";
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("PTX text"), got;
  const ws_contestant rival = {"rival", 5, &workload};
  steps[3].rival = &rival;
  job.rival_code = "rival";
  job.rival_size = 5;
  ask(batch, &job, &answer);
  steps[3].rival = NULL;
  WS_CHECK(ws_file_exists(path_of(file)));
  WS_CHECK(ws_batch_read_job(batch, arena, 0, &got, &fault) == WS_OK);
  WS_CHECK(got.steps[3].rival && !got.steps[2].rival);
  WS_CHECK_INT(got.steps[3].rival->workload->launches[0].block, 128);
  WS_CHECK(ws_batch_read_code(batch, arena, &got, &fault) == WS_OK);
  WS_CHECK(!memcmp(got.steps[3].rival->code_object, "rival", 5));
  WS_CHECK(ws_file_write_atomic(path_of(file), "rIval", 5, &fault) == WS_OK);
  WS_CHECK_INT(ws_batch_read_code(batch, arena, &got, &fault), WS_INPUT);
  WS_CHECK(strstr(fault.text, path_of(file)));
  ws_batch_close(batch);
  remove_folder();
}

/* sha256sum and FNV-1a by hand: "a" is e40c292c... in 32 bits; in 64 bits its
 * published value is af63dc4c8601ec8c. */
WS_TEST(names_are_those_of_other_tools) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("abc");
  ask(batch, &job, &answer);
  WS_CHECK(
      ws_file_exists(path_of("code/ba7816bf8f01cfea414140de5dae2223.ptx")));
  WS_CHECK_TEXT(ws__check_of("a", 1).hex, "af63dc4c8601ec8c");
  ws_batch_close(batch);
  remove_folder();
}

WS_TEST(answers_are_found) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("abc");
  ask(batch, &job, &answer);
  ws_batch_close(batch);
  append("results.jsonl", answer_line(first_id()));
  append("results.jsonl", "\n");
  append("results.jsonl", "{\"id\":\"torn");
  batch = open_batch();
  WS_CHECK_INT(ws_batch_open_jobs(batch), 0);
  WS_CHECK(ask(batch, &job, &answer));
  WS_CHECK_TEXT(answer.id, first_id());
  WS_CHECK_TEXT(answer.device->driver, "580.1");
  WS_CHECK_INT(answer.step_count, 2);
  WS_CHECK_INT(answer.steps[1].sample_count, 3);
  WS_CHECK(answer.steps[1].samples[2] == 12.25);
  ws_batch_close(batch);
  remove_folder();
}

WS_TEST(race_is_lost_by_the_mean_of_its_steps) {
  ws_batch_job job = job_of("abc");
  ws_measured got[] = {{.us = 0}, {.us = 30}, {.us = 41}};
  WS_CHECK(!ws__batch_race_lost(&job, got, 2)); /* one of two */
  WS_CHECK(ws__batch_race_lost(&job, got, 3));  /* 3 * 2.05 > 2 * 2 */
  got[2].us = 26;                               /* 3 * 1.3 = 3.9 < 4 */
  WS_CHECK(!ws__batch_race_lost(&job, got, 3));
  job.race_steps = 0;
  got[2].us = 1e9;
  WS_CHECK(!ws__batch_race_lost(&job, got, 3));
}

WS_TEST(torn_job_is_written_again) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("abc");
  ask(batch, &job, &answer);
  ws_batch_close(batch);
  const char *before = content("jobs.jsonl");
  size_t whole = strlen(before);
  WS_CHECK(truncate(path_of("jobs.jsonl"), (off_t)whole / 2) == 0);
  batch = open_batch();
  WS_CHECK_INT(ws_batch_jobs(batch), 0);
  ask(batch, &job, &answer);
  ws_batch_close(batch);
  WS_CHECK_TEXT(content("jobs.jsonl"), before);
  remove_folder();
}

WS_TEST(altered_job_is_found) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("abc"), got;
  ask(batch, &job, &answer);
  ws_batch_close(batch);
  char *text = ws_arena_strdup(arena, content("jobs.jsonl"));
  char *seed = strstr(text, "18364758544493064720"); /* 0xfedcba9876543210 */
  WS_CHECK(seed);
  seed[19] = '1';
  WS_CHECK(ws_file_write_atomic(path_of("jobs.jsonl"), text, strlen(text),
                                &fault) == WS_OK);
  batch = open_batch();
  WS_CHECK_INT(ws_batch_read_job(batch, arena, 0, &got, &fault), WS_INPUT);
  WS_CHECK(strstr(fault.text, "jobs.jsonl:1: ") &&
           strstr(fault.text, "was altered"));
  ws_batch_close(batch);
  remove_folder();
}

WS_TEST(altered_code_is_found) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("abc"), got;
  ask(batch, &job, &answer);
  const char *path = path_of("code/ba7816bf8f01cfea414140de5dae2223.ptx");
  WS_CHECK(ws_batch_read_job(batch, arena, 0, &got, &fault) == WS_OK);
  for (const char *const *text = TEXTS("abd", "ab"); *text; text++) {
    WS_CHECK(ws_file_write_atomic(path, *text, strlen(*text), &fault) == WS_OK);
    WS_CHECK_INT(ws_batch_read_code(batch, arena, &got, &fault), WS_INPUT);
    WS_CHECK(strstr(fault.text, "ba7816bf"));
  }
  WS_CHECK(unlink(path) == 0);
  WS_CHECK_INT(ws_batch_read_code(batch, arena, &got, &fault), WS_INPUT);
  WS_CHECK(strstr(fault.text, "No such file"));
  ws_batch_close(batch);
  remove_folder();
}

WS_TEST(bad_folders_are_refused) {
  make_folder();
  expect_refusal(NULL, WS_INPUT, TEXTS("no manifest.json"));
  ws_batch_close(open_batch());
  expect_refusal("gfx942", WS_INPUT, TEXTS("a batch for sm_90a, not for gfx"));
  append("jobs.jsonl", "{\"id\":\"aa\"}\n{\"id\":}\n{\"id\":\"bb\"}\n");
  expect_refusal("sm_90a", WS_INPUT, TEXTS("jobs.jsonl:2: a broken line"));
  WS_CHECK(truncate(path_of("jobs.jsonl"), 0) == 0);
  append("jobs.jsonl", "{\"id\":\"aa\"}\n{\"id\":\"aa\"}\n");
  expect_refusal("sm_90a", WS_INPUT, TEXTS("jobs.jsonl:2: ", "twice"));
  WS_CHECK(truncate(path_of("jobs.jsonl"), 0) == 0);
  append("results.jsonl", "{\"id\":\"aa\"}\n");
  expect_refusal("sm_90a", WS_INPUT, TEXTS("results.jsonl:1: ", "another"));
  WS_CHECK(truncate(path_of("results.jsonl"), 0) == 0);
  append("manifest.json", "x");
  expect_refusal("sm_90a", WS_INPUT, TEXTS("manifest.json"));
  WS_CHECK(truncate(path_of("manifest.json"), 0) == 0);
  append("manifest.json", "{\"format\":2,\"target\":\"sm_90a\"}");
  expect_refusal(NULL, WS_INPUT, TEXTS("format 2", "knows 1"));
  remove_folder();
}

WS_TEST(one_at_a_time_writes) {
  make_folder();
  ws_batch *batch = open_batch(), *reader;
  expect_refusal("sm_90a", WS_ENVIRONMENT, TEXTS("another process"));
  WS_CHECK(ws_batch_open(folder, NULL, NULL, &reader, &fault) == WS_OK);
  WS_CHECK_TEXT(ws_batch_target(reader), "sm_90a");
  WS_CHECK_TEXT(ws_batch_device(reader), "cuda");
  ws_batch_close(reader);
  ws_batch_close(batch);
  ws_batch_close(open_batch());
  remove_folder();
}

/* A limit on the file's size fails a write as a full disk does, in the middle
 * of the line. */
WS_TEST(full_disk_leaves_whole_lines) {
  make_folder();
  ws_batch *batch = open_batch();
  ws_batch_answer answer;
  ws_batch_job job = job_of("abc");
  ask(batch, &job, &answer);
  const char *before = content("jobs.jsonl");
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {strlen(before) + 100, RLIM_INFINITY};
  WS_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  job = job_of("abd");
  bool found;
  WS_CHECK_INT(ws_batch_ask(batch, arena, &job, &found, &answer, &fault),
               WS_ENVIRONMENT);
  WS_CHECK(strstr(fault.text, "jobs.jsonl: cannot write: File too large"));
  WS_CHECK_INT(ws_batch_jobs(batch), 1);
  WS_CHECK_TEXT(content("jobs.jsonl"), before);
  limit.rlim_cur = RLIM_INFINITY;
  WS_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  WS_CHECK(!ask(batch, &job, &answer));
  WS_CHECK_INT(count_lines("jobs.jsonl"), 2);
  ws_batch_close(batch);
  remove_folder();
}
