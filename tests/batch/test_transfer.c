/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between an archive and a batch, with answers written by hand: what is asked,
 * what arrives, and that an import is whole or nothing, whatever is wrong.
 */
#include "../archive/fixture.h"
#include "../gemm_shape.h"
#include "folder.h"
#include "wavesmith/batch_transfer.h"

#include <cjson/cJSON.h>

static ws_archive *archive;
static const ws_template *tmpl;
static const char *database;
static int64_t run_id;

static void put_build(const char *id, const char *code) {
  static const ws_kernel_facts kernel = {
      .name = "kernel",
      .args = {{"a", 0, 8}, {"b", 8, 8}, {"c", 16, 8}},
      .arg_count = 3};
  const ws_build_result build = {.verdict = WS_VERDICT_OK,
                                 .stage = "",
                                 .reason = "",
                                 .kernels = &kernel,
                                 .kernel_count = 1,
                                 .ir_hash = "",
                                 .code_hash = "",
                                 .compiler = "by hand",
                                 .code_object = code,
                                 .code_object_size = code ? strlen(code) : 0};
  bool added;
  MUST(ws_archive_put_build(archive, id, &build, &added, diag));
}

/* code NULL: an import of text, which has none. */
static const char *put(int number, const char *verdict, const char *code,
                       const ws_measurement *times, int count) {
  ws_candidate *candidate = fixture_candidate(arena, tmpl, number);
  ws_candidate_row row = fixture_row(arena, candidate, run_id, number);
  row.verdict = verdict;
  put_build(candidate->id.hex, code);
  MUST(ws_archive_put_candidate(archive, &row, candidate, NULL, 0, times, count,
                                diag));
  return candidate->id.hex;
}

static void make_archive(void) {
  make_folder();
  database = beside("a.db");
  tmpl = fixture_template(arena);
  MUST(ws_archive_open(database, true, &archive, diag));
  MUST(ws_archive_put_template(archive, tmpl, template_text, NULL, diag));
  run_id = fixture_run(archive, tmpl, 1);
}

static void remove_archive(void) {
  ws_archive_close(archive);
  remove_folder();
}

/* ---- export ---- */

static const char two_shapes[] = "512,576,256;64,32,128";

static ws_batch_exported export_with(ws_batch_export_options options) {
  ws_batch_exported exported;
  options.shapes = options.shapes ? options.shapes : two_shapes;
  options.seed = 5;
  MUST(ws_batch_export(archive, arena, folder, &options, &exported, diag));
  return exported;
}
#define EXPORT(...) export_with((ws_batch_export_options){__VA_ARGS__})

static void refuse_export(ws_batch_export_options options, ws_status status,
                          const char *text) {
  ws_batch_exported exported;
  MUST_FAIL(ws_batch_export(archive, arena, folder, &options, &exported, diag),
            status, text);
}

static ws_batch_job job_at(int number) {
  ws_batch *batch;
  ws_batch_job job;
  MUST(ws_batch_open(folder, NULL, NULL, &batch, diag));
  MUST(ws_batch_read_job(batch, arena, number, &job, diag));
  ws_batch_close(batch);
  return job;
}

/* Of the sixteen edges those with m >= 64 and tile 64; then the largest of the
 * two shapes by samples, then both, the smaller first. */
WS_TEST(questions_about_a_candidate) {
  make_archive();
  const char *id = put(1, "ok", "code", NULL, 0);
  ws_batch_exported exported = EXPORT(.all = true);
  WS_CHECK_INT(exported.added, 1);
  WS_CHECK_TEXT(exported.target, "gfx942");
  WS_CHECK_TEXT(exported.device, "hip");
  ws_batch_job job = job_at(0);
  WS_CHECK_TEXT(job.candidate, id);
  WS_CHECK_INT(job.step_count, 4);
  WS_CHECK_INT(job.steps[0].op, WS_MEASURE_VERIFY);
  WS_CHECK_INT(job.steps[0].workload_count, 4);
  WS_CHECK(!job.steps[0].workloads[0].sampled);
  WS_CHECK_INT(job.steps[1].op, WS_MEASURE_VERIFY);
  WS_CHECK(job.steps[1].workloads[0].sampled);
  WS_CHECK_INT(job.steps[1].workloads[0].shape.size[DIM_N], 576);
  WS_CHECK_INT(job.steps[2].op, WS_MEASURE_TIME);
  const ws_workload *small = &job.steps[2].workloads[0];
  WS_CHECK_INT(small->shape.size[DIM_M], 64);
  WS_CHECK_INT(small->seed, 5);
  WS_CHECK_INT(small->workspace_bytes, 64 * 32 * 4);
  WS_CHECK_INT(small->launches[0].grid[0], 1);
  WS_CHECK_INT(small->launches[0].grid[1], 2);
  WS_CHECK_INT(job.steps[3].workloads[0].launches[0].grid[0], 8);
  WS_CHECK(job.steps[2].settings.roofline_us > 0);
  remove_archive();
}

WS_TEST(which_candidates) {
  const ws_measurement card = {.shape = gemm_shape(64, 32, 128),
                               .us = 5,
                               .bound = "",
                               .provenance = "hip:MI300X"};
  ws_measurement slow = card, estimate = card;
  slow.us = 9;
  estimate.provenance = "estimate:x";
  make_archive();
  refuse_export((ws_batch_export_options){.all = true}, WS_INPUT,
                "no candidate that is ok");
  const char *timed = put(1, "ok", "code 1", &slow, 1);
  refuse_export((ws_batch_export_options){0}, WS_INPUT, "--all measures them");
  const char *estimated = put(2, "ok", "code 2", &estimate, 1);
  put(3, "wrong", "code 3", NULL, 0);
  put(4, "ok", NULL, NULL, 0);
  const char *best = put(5, "ok", "code 5", &card, 1);
  ws_batch_exported exported = EXPORT(0);
  WS_CHECK_INT(exported.added, 1); /* the one with an estimate alone */
  WS_CHECK_INT(exported.without_code, 1);
  WS_CHECK_TEXT(job_at(0).candidate, estimated);
  exported = EXPORT(.best = 1);
  WS_CHECK_INT(exported.added, 1);
  WS_CHECK_TEXT(job_at(1).candidate, best);
  exported = EXPORT(.all = true);
  WS_CHECK_INT(exported.added, 1);
  WS_CHECK_INT(exported.known, 2);
  WS_CHECK_TEXT(job_at(2).candidate, timed);
  const char *const ids[] = {ws_arena_strndup(arena, timed, 8)};
  exported = EXPORT(.ids = ids, .id_count = 1);
  WS_CHECK_INT(exported.known, 1);
  remove_archive();
}

WS_TEST(what_cannot_be_exported) {
  make_archive();
  put(1, "ok", "code", NULL, 0);
  const char *const none[] = {"feed"};
  refuse_export((ws_batch_export_options){.ids = none, .id_count = 1}, WS_INPUT,
                "no candidate 'feed'");
  refuse_export((ws_batch_export_options){.all = true, .shapes = "64,32"},
                WS_USAGE, "'64,32' is no shape m,n,k");
  refuse_export((ws_batch_export_options){.all = true, .shapes = "16,32,128"},
                WS_INPUT, "1 take none of the shapes");
  refuse_export((ws_batch_export_options){.target = "sm_90a", .all = true},
                WS_INPUT, "no candidate that is ok");
  remove_archive();
}

/* ---- import ---- */

static const double samples[] = {10.5, 11, 12.25};

static ws_measured measured(double us) {
  return (ws_measured){.verdict = WS_VERDICT_OK,
                       .reason = "",
                       .us = us,
                       .low_us = us ? us - 0.5 : 0,
                       .high_us = us ? us + 0.5 : 0,
                       .samples = samples,
                       .sample_count = us ? 3 : 0,
                       .low_mhz = 1900,
                       .high_mhz = 1980,
                       .provenance = "hip:MI300X",
                       .bound = "",
                       .report = "",
                       .throttle = ""};
}

static ws_measured failed(ws_verdict verdict, const char *reason) {
  ws_measured made = measured(0);
  made.verdict = verdict;
  made.reason = reason;
  return made;
}

static ws_device_info card_of(const char *arch, bool simulated) {
  return (ws_device_info){.kind = "hip",
                          .name = "MI300X",
                          .arch = arch,
                          .library = "libamdhip64.so",
                          .provenance = "hip:MI300X",
                          .driver = "6.4",
                          .lock = "",
                          .cu_count = 304,
                          .simulated = simulated};
}

/* To job number; what a card of this architecture says. */
static void answer_on(int number, const char *arch, bool simulated,
                      const ws_measured *steps, int count) {
  ws_device_info card = card_of(arch, simulated);
  const ws_batch_answer answer = {job_at(number).id, &card, steps, count};
  cJSON *json = ws__batch_answer_to_json(&answer);
  char *text = cJSON_PrintUnformatted(json);
  append("results.jsonl", text);
  append("results.jsonl", "\n");
  cJSON_Delete(json);
  free(text);
}

static void answer(int number, const ws_measured *steps, int count) {
  answer_on(number, "gfx942:sramecc+:xnack-", false, steps, count);
}

static ws_batch_imported import(void) {
  ws_batch_imported imported;
  MUST(ws_batch_import(archive, folder, &imported, diag));
  return imported;
}

/* All that an import may change. */
static const char *dump(void) {
  return fixture_sql(
      arena, database,
      "SELECT group_concat(t,char(10)) FROM (SELECT id||verdict||stage||reason"
      " AS t FROM candidate UNION ALL SELECT "
      "candidate_id||provenance||shape||us||"
      "low_us FROM measurement UNION ALL SELECT candidate_id||samples_us||"
      "device FROM timing)");
}

static void refuse_import(const char *text) {
  ws_batch_imported imported;
  const char *before = dump();
  MUST_FAIL(ws_batch_import(archive, folder, &imported, diag), WS_INPUT, text);
  WS_CHECK_TEXT(dump(), before);
}

/* Two candidates, the first answered in full, the second wrong. */
static void make_answered(void) {
  const ws_measured good[] = {measured(0), measured(0), measured(11),
                              measured(30)};
  const ws_measured bad[] = {measured(0),
                             failed(WS_VERDICT_WRONG, "element 7")};
  make_archive();
  put(1, "ok", "code 1", NULL, 0);
  put(2, "ok", "code 2", NULL, 0);
  EXPORT(.all = true);
  answer(0, good, 4);
  answer(1, bad, 2);
}

WS_TEST(answers_arrive_once) {
  make_answered();
  append("results.jsonl", "{\"id\":\"torn"); /* being copied */
  ws_batch_imported imported = import();
  WS_CHECK_INT(imported.jobs, 2);
  WS_CHECK_INT(imported.answers, 2);
  WS_CHECK_INT(imported.times, 2);
  WS_CHECK_INT(imported.refuted, 1);
  const char *first = job_at(0).candidate;
  ws_measurement *times;
  ws_timing_row *timings;
  int count;
  MUST(
      ws_archive_get_measurements(archive, arena, first, &times, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_INT(times[0].shape.size[DIM_M], 64);
  WS_CHECK_NEAR(times[0].us, 11, 0);
  WS_CHECK_NEAR(times[0].low_us, 10.5, 0);
  WS_CHECK_TEXT(times[0].provenance, "hip:MI300X");
  MUST(ws_archive_list_timings(archive, arena, first, &timings, &count, diag));
  WS_CHECK_INT(count, 2);
  WS_CHECK_INT(timings[0].sample_count, 3);
  WS_CHECK_NEAR(timings[0].samples_us[2], 12.25, 0);
  WS_CHECK_INT(timings[0].low_mhz, 1900);
  WS_CHECK_CONTAINS(timings[0].device_json, "\"driver\":\"6.4\"");
  ws_candidate_row row;
  bool found;
  MUST(ws_archive_get_candidate(archive, arena, job_at(1).candidate, &found,
                                &row, diag));
  WS_CHECK_TEXT(row.verdict, "wrong");
  WS_CHECK_TEXT(row.stage, "device");
  WS_CHECK_TEXT(row.reason, "element 7");
  const char *before = dump();
  imported = import();
  WS_CHECK_INT(imported.answers, 2);
  WS_CHECK_INT(imported.times + imported.refuted, 0);
  WS_CHECK_TEXT(dump(), before);
  remove_archive();
}

WS_TEST(part_of_the_answers) {
  const ws_measured outrun[] = {measured(0), measured(0), measured(11)};
  make_archive();
  put(1, "ok", "code 1", NULL, 0);
  put(2, "ok", "code 2", NULL, 0);
  EXPORT(.all = true);
  ws_batch_imported imported = import();
  WS_CHECK_INT(imported.jobs, 2);
  WS_CHECK_INT(imported.answers, 0);
  answer(1, outrun, 3);
  imported = import();
  WS_CHECK_INT(imported.times, 1);
  WS_CHECK_INT(imported.refuted, 0);
  remove_archive();
}

/* What a tuning run asks at its end: the last step beside a rival. */
WS_TEST(comparison_is_no_time) {
  const ws_measured good[] = {measured(0), measured(0), measured(11),
                              measured(30)};
  ws_batch *batch;
  ws_batch_answer none;
  bool found;
  make_archive();
  put(1, "ok", "code 1", NULL, 0);
  EXPORT(.all = true);
  ws_batch_job job = job_at(0);
  MUST(ws_batch_open(folder, "gfx942", "hip", &batch, diag));
  MUST(ws_batch_read_code(batch, arena, &job, diag));
  const ws_contestant rival = {"rival", 5, job.steps[3].workloads};
  ((ws_measure_request *)job.steps)[3].rival = &rival;
  job.rival_code = "rival";
  job.rival_size = 5;
  MUST(ws_batch_ask(batch, arena, &job, &found, &none, diag));
  ws_batch_close(batch);
  answer(1, good, 4);
  WS_CHECK_INT(import().times, 1);
  remove_archive();
}

/* A simulator that is too slow says nothing; a card that is says "timeout". */
WS_TEST(whose_fault_it_is) {
  const ws_measured slow[] = {failed(WS_VERDICT_TIMEOUT, "too slow")};
  make_archive();
  put(1, "ok", "code 1", NULL, 0);
  put(2, "ok", "code 2", NULL, 0);
  EXPORT(.all = true);
  answer_on(0, "gfx942", true, slow, 1);
  answer_on(1, "gfx942", false, slow, 1);
  ws_batch_imported imported = import();
  WS_CHECK_INT(imported.device_faults, 1);
  WS_CHECK_INT(imported.refuted, 1);
  remove_archive();
}

/* ---- what is refused ---- */

static void rewrite(const char *name, const char *from, const char *to) {
  const char *text = ws_arena_strdup(arena, content(name));
  const char *at = strstr(text, from);
  WS_CHECK(at);
  const char *changed = ws_arena_printf(arena, "%.*s%s%s", (int)(at - text),
                                        text, to, at + strlen(from));
  MUST(ws_file_write_atomic(path_of(name), changed, strlen(changed), diag));
}

WS_TEST(another_seed) {
  make_answered();
  rewrite("jobs.jsonl", "\"seed\":\"5\"", "\"seed\":\"6\"");
  refuse_import("jobs.jsonl:1: job ");
  refuse_import("was altered");
  remove_archive();
}

/* The second is at fault; the first would have been fine. */
WS_TEST(unknown_candidate) {
  make_answered();
  fixture_sql(arena, database, "PRAGMA foreign_keys=OFF");
  fixture_sql(arena, database, "DROP TRIGGER candidate_stays");
  const char *second = job_at(1).candidate;
  fixture_sql(
      arena, database,
      ws_arena_printf(arena, "DELETE FROM candidate WHERE id='%s'", second));
  refuse_import(ws_arena_printf(
      arena, "candidate %s, which the archive does not have", second));
  remove_archive();
}

WS_TEST(altered_code) {
  make_answered();
  const char *file = ws_arena_printf(arena, "code/%s", job_at(1).code_file);
  MUST(ws_file_write_atomic(path_of(file), "code 3", 6, diag));
  refuse_import("not the file that job");
  WS_CHECK(unlink(path_of(file)) == 0); /* results alone came back */
  const char *second = job_at(1).candidate;
  MUST(ws_archive_put_code_object(archive, second, "other", 5, diag));
  refuse_import("is not the archive's code of candidate");
  MUST(ws_archive_put_code_object(archive, second, "code 2", 6, diag));
  WS_CHECK_INT(import().answers, 2);
  remove_archive();
}

WS_TEST(another_card) {
  const ws_measured good[] = {measured(0)};
  make_archive();
  put(1, "ok", "code 1", NULL, 0);
  EXPORT(.all = true);
  answer_on(0, "gfx950", false, good, 1);
  refuse_import("was done on a MI300X (gfx950); the batch is for gfx942");
  remove_archive();
}

WS_TEST(another_target) {
  make_answered();
  rewrite("manifest.json", "gfx942", "gfx950");
  refuse_import("the batch is for gfx950, candidate ");
  remove_archive();
}

WS_TEST(answers_that_do_not_fit) {
  const ws_measured after[] = {failed(WS_VERDICT_WRONG, "x"), measured(0)};
  const ws_measured timeless[] = {measured(0), measured(0), measured(0)};
  const ws_measured long_one[] = {measured(0), measured(0), measured(1),
                                  measured(1), measured(1)};
  const struct {
    const ws_measured *steps;
    int count;
  } cases[] = {{after, 2}, {timeless, 3}, {long_one, 5}};
  make_archive();
  put(1, "ok", "code 1", NULL, 0);
  EXPORT(.all = true);
  for (int i = 0; i < 3; i++) {
    answer(0, cases[i].steps, cases[i].count);
    refuse_import("does not fit it");
    WS_CHECK(unlink(path_of("results.jsonl")) == 0);
  }
  append("results.jsonl", "{\"id\":\"00\"}\n");
  refuse_import("the results of another batch");
  WS_CHECK(unlink(path_of("results.jsonl")) == 0);
  append("results.jsonl",
         ws_arena_printf(arena, "{\"id\":\"%s\"}\n", job_at(0).id));
  refuse_import("results.jsonl:1: answer: 'device' is missing");
  remove_archive();
}
