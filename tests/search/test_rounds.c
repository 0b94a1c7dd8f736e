/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ws_tune in rounds through a batch, which is run here by the fake device
 * server. That a device which answers at once gives the same archive is the
 * measure of all.
 */
#include "../gemm_shape.h"
#include "batch_internal.h"
#include "search_bench.h"

#include <cjson/cJSON.h>
#include <signal.h>

static bench round_bench(void) {
  bench b = make_bench(LANDSCAPE);
  const char *fake = getenv("WS_FAKE_DEVICE");
  WS_CHECK(fake);
  setenv("WAVESMITH_DEVICE_SERVER", fake, 1);
  b.options.device = ws_arena_printf(b.arena, "batch:%s/batch", b.folder);
  b.options.round = 10;
  b.options.evaluations = 40;
  return b;
}

static const char *folder_of(bench *b) {
  return ws_arena_printf(b->arena, "%s/batch", b->folder);
}

/* ---- running a batch ---- */
static void append(const char *folder, ws_arena *arena, const char *text) {
  FILE *file = fopen(ws_arena_printf(arena, "%s/results.jsonl", folder), "ab");
  WS_CHECK(file && fprintf(file, "%s\n", text) > 0);
  fclose(file);
}

static void answer_job(const char *folder, ws_device_client *client,
                       ws_arena *arena, ws_batch_job *job) {
  ws_diag diag = {""};
  ws_measured *steps =
      ws_arena_alloc(arena, sizeof *steps * (size_t)job->step_count);
  ws_batch_answer answer = {
      .id = job->id, .device = ws_device_client_info(client), .steps = steps};
  bool more = true;
  for (int i = 0; i < job->step_count && more; i++) {
    ws_measure_request request = job->steps[i];
    request.code_object = job->code_object;
    request.code_object_size = job->code_object_size;
    if (ws_device_client_measure(client, arena, &request, &steps[i], &diag) !=
        WS_OK)
      WS_FAIL("%s", diag.text);
    answer.step_count++;
    more = steps[i].verdict == WS_VERDICT_OK &&
           !ws__batch_race_lost(job, steps, answer.step_count);
  }
  cJSON *json = ws__batch_answer_to_json(&answer);
  char *text = cJSON_PrintUnformatted(json);
  append(folder, arena, text);
  cJSON_free(text);
  cJSON_Delete(json);
}

/* Answers at most `most` jobs that have no answer; returns how many. */
static int run_batch(bench *b, int most) {
  ws_diag diag = {""};
  ws_batch *batch;
  ws_device_client *client;
  int count = 0;
  if (ws_batch_open(folder_of(b), NULL, NULL, &batch, &diag) != WS_OK ||
      ws_device_client_start("sim", &client, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  for (int i = 0; i < ws_batch_jobs(batch) && count < most; i++) {
    ws_arena *arena = ws_arena_create();
    bool found;
    ws_batch_job job;
    ws_batch_answer answer;
    if (ws_batch_read_answer(batch, arena, i, &found, &answer, &diag) !=
            WS_OK ||
        ws_batch_read_job(batch, arena, i, &job, &diag) != WS_OK ||
        ws_batch_read_code(batch, arena, &job, &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    if (!found) {
      answer_job(folder_of(b), client, arena, &job);
      count++;
    }
    ws_arena_destroy(arena);
  }
  ws_device_client_stop(client);
  ws_batch_close(batch);
  return count;
}

/* Until nothing is awaited; returns the number of calls of tune. */
static int tune_in_rounds(bench *b, ws_tune_result *out) {
  for (int calls = 1; calls < 50; calls++) {
    *out = tune(b);
    if (!out->awaited)
      return calls;
    WS_CHECK_INT(run_batch(b, 1000000), out->awaited);
  }
  WS_FAIL("it never ends");
}

/* ---- what is compared ---- */
static const char candidates[] =
    "SELECT sequence,id,proposer,parent_id,move,verdict,stage,reason,ir_hash"
    " FROM candidate ORDER BY sequence";
#define SEARCHED                                                               \
  "'m=16,n=7168,k=2048','m=128,n=2048,k=7168','m=1024,n=4608,k=512',"          \
  "'m=6144,n=576,k=7168'"

/* On the search's shapes: others are timed when it has ended. */
static const char measurements[] =
    "SELECT candidate_id,shape,us,low_us,high_us,provenance,bound"
    " FROM measurement WHERE shape IN (" SEARCHED ")"
    " ORDER BY 1,2,6";

/* Outlives the bench. */
static char *archive_text(bench *b) {
  static ws_arena *kept;
  if (!kept)
    kept = ws_arena_create();
  return ws_arena_printf(kept, "%s\n%s", query(b, candidates),
                         query(b, measurements));
}

static char *directly(bench *b) {
  bench other = *b;
  other.archive = ws_arena_printf(b->arena, "%s/direct.db", b->folder);
  other.options.archive_path = other.archive;
  other.options.device = "sim";
  other.options.rank = "device";
  tune(&other);
  char *text = archive_text(&other);
  remove_archive(&other);
  return text;
}

/* ---- tests ---- */
WS_TEST(a_batch_gives_what_a_device_gives_at_once) {
  static const char *const strategies[] = {"local", "evolve", "random"};
  for (int i = 0; i < 3; i++) {
    bench b = round_bench();
    ws_tune_result result;
    b.options.strategy = strategies[i];
    int calls = tune_in_rounds(&b, &result);
    WS_CHECK(calls >= 6); /* 40 candidates, 10 a round, winners, the end */
    WS_CHECK(result.confirmation_count > 0);
    WS_CHECK_TEXT(result.provenance, "sim:fake:MI300X");
    WS_CHECK(result.best_geomean_us > 0);
    WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate"), 40);
    char *text = archive_text(&b);
    check_same(text, directly(&b));
    free_bench(&b);
  }
}

/* Factors from 1.5^4 = 5.1 to 1.94^4 = 14.1: more than twice the leader's. */
WS_TEST(a_batch_races_as_a_device_does) {
  bench b = round_bench();
  ws_tune_result result;
  setenv("FAKE_DEVICE_STEEP", "1", 1);
  b.options.evaluations = 60;
  tune_in_rounds(&b, &result);
  WS_CHECK(number(&b, "SELECT count(*) FROM candidate WHERE verdict='slow'") >
           0);
  char *text = archive_text(&b);
  check_same(text, directly(&b));
  free_bench(&b);
}

WS_TEST(a_round_says_what_is_to_be_done) {
  bench b = round_bench();
  ws_tune_result result = tune(&b);
  WS_CHECK(result.awaited > 0 && result.awaited <= 10);
  WS_CHECK_CONTAINS(result.stop, "round 1: ");
  WS_CHECK_CONTAINS(result.stop, "run `wavesmith-device run ");
  WS_CHECK_CONTAINS(result.stop, "/batch/results.jsonl back");
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM candidate"), 0);
  /* Again without answers: nothing is built anew, and nothing is added. */
  ws_tune_result again = tune(&b);
  WS_CHECK_INT(again.awaited, result.awaited);
  WS_CHECK_TEXT(again.stop, result.stop);
  run_batch(&b, 1000000);
  result = tune(&b);
  WS_CHECK_CONTAINS(result.stop, "round 2: ");
  WS_CHECK_INT(result.verified + result.refuted, again.awaited);
  WS_CHECK_INT(result.timed, number(&b, "SELECT count(*) FROM measurement"
                                        " WHERE provenance LIKE 'sim:%'"));
  free_bench(&b);
}

/* Answers that come in parts: what is there is kept, the next round waits. */
WS_TEST(half_a_round_is_no_round) {
  bench b = round_bench();
  ws_tune_result whole;
  tune_in_rounds(&b, &whole);
  char *text = archive_text(&b);
  free_bench(&b);
  b = round_bench();
  ws_tune_result result = tune(&b);
  int64_t first = result.awaited;
  WS_CHECK_INT(run_batch(&b, 3), 3);
  result = tune(&b);
  WS_CHECK_INT(result.awaited, first - 3);
  WS_CHECK_CONTAINS(result.stop, "round 1: ");
  WS_CHECK(number(&b, "SELECT count(*) FROM measurement") > 0);
  for (int parts = 0; result.awaited; parts++) {
    WS_CHECK(parts < 50);
    run_batch(&b, 4);
    result = tune(&b);
  }
  check_same(archive_text(&b), text);
  free_bench(&b);
}

WS_TEST(a_killed_run_loses_nothing) {
  bench b = round_bench();
  ws_tune_result result;
  tune_in_rounds(&b, &result);
  char *text = archive_text(&b);
  free_bench(&b);
  b = round_bench();
  setenv("FAKE_DELAY_US", "20000", 1);
  for (int i = 0; i < 12; i++) {
    pid_t child = fork();
    if (child == 0) {
      tune(&b);
      _exit(0);
    }
    usleep(20000 + (unsigned)i * 15000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (access(ws_arena_printf(b.arena, "%s/batch/manifest.json", b.folder),
               F_OK) == 0)
      run_batch(&b, 2 + i % 3);
  }
  unsetenv("FAKE_DELAY_US");
  tune_in_rounds(&b, &result);
  check_same(archive_text(&b), text);
  free_bench(&b);
}

WS_TEST(more_evaluations_go_on) {
  bench b = round_bench();
  ws_tune_result result;
  b.options.evaluations = 20;
  tune_in_rounds(&b, &result);
  int jobs = number(&b, "SELECT count(*) FROM candidate");
  WS_CHECK_INT(jobs, 20);
  b.options.evaluations = 40;
  tune_in_rounds(&b, &result);
  char *text = archive_text(&b);
  check_same(text, directly(&b));
  free_bench(&b);
}

WS_TEST(two_cards_do_not_mix) {
  bench b = round_bench();
  ws_tune_result result = tune(&b);
  run_batch(&b, 1000000);
  b.options.evaluations = 20;
  result = tune(&b);
  WS_CHECK(result.awaited > 0);
  setenv("FAKE_DEVICE_PROVENANCE", "sim:other:MI300X", 1);
  run_batch(&b, 1000000);
  unsetenv("FAKE_DEVICE_PROVENANCE");
  tune_fails(&b, WS_INPUT, "has answers of sim:fake:MI300X and of sim:other");
  free_bench(&b);
}

WS_TEST(answers_of_another_architecture_are_refused) {
  bench b = round_bench();
  tune(&b);
  setenv("FAKE_DEVICE_ARCH", "gfx90a", 1);
  run_batch(&b, 1000000);
  unsetenv("FAKE_DEVICE_ARCH");
  tune_fails(&b, WS_ENVIRONMENT, "does not run code for gfx942");
  free_bench(&b);
}

WS_TEST(wrong_batches_are_named) {
  bench b = round_bench();
  b.options.device = "batch:";
  tune_fails(&b, WS_USAGE, "names no folder");
  b.options.device = ws_arena_printf(b.arena, "batch:%s/batch", b.folder);
  ws_session *session;
  ws_diag diag = {""};
  WS_CHECK(ws_session_open(&b.options, &session, &diag) == WS_USAGE);
  WS_CHECK_CONTAINS(diag.text, "answers later");
  b.options.rank = "estimate";
  tune_fails(&b, WS_USAGE, "--rank device");
  free_bench(&b);
}

/* Points given by hand are of the first round, beside the defaults. */
WS_TEST(points_are_begun_with) {
  bench b = round_bench();
  const char *points[] = {"tile_m=64;tile_n=64", "tile_m=128;depth=2"};
  b.options.points = points;
  b.options.point_count = 2;
  ws_tune_result result;
  b.options.evaluations = 10;
  tune_in_rounds(&b, &result);
  WS_CHECK_TEXT(query(&b, "SELECT proposer FROM candidate ORDER BY sequence"
                          " LIMIT 4"),
                "default\npoint\npoint\nlocal\n");
  const char *broken[] = {"tile_m=65"};
  b.options.points = broken;
  b.options.point_count = 1;
  tune_fails(&b, WS_INPUT, "--point 'tile_m=65': ");
  free_bench(&b);
}

/* Of the first round some are moves of the defaults or of a point; those that
 * lie far apart are no moves. */
WS_TEST(a_first_round_is_half_around_the_start) {
  bench b = round_bench();
  ws_tune_result result;
  const char *points[] = {"tile_m=64;tile_n=64"};
  b.options.points = points;
  b.options.point_count = 1;
  b.options.evaluations = b.options.round = 62;
  tune_in_rounds(&b, &result);
  int moves = number(&b, "SELECT COUNT(*) FROM candidate WHERE proposer = "
                         "'local' AND move != ''");
  WS_CHECK(moves > 15 && moves < 45);
  free_bench(&b);
}

/* The archive knows times of the card; a run in a new folder cannot know that
 * it is the same card before the first answers, and then must not ask models
 * anew with those times in its questions. */
WS_TEST(a_batch_without_answers_is_resumed_as_it_began) {
  bench b = round_bench();
  ws_tune_result result;
  tune_in_rounds(&b, &result);
  WS_CHECK_INT(
      rename(folder_of(&b), ws_arena_printf(b.arena, "%s/old", b.folder)), 0);
  const char *questions = ws_arena_printf(b.arena, "%s/questions", b.folder);
  const char *models[] = {ws_arena_printf(b.arena, "exchange:%s", questions)};
  b.options.models = models;
  b.options.model_count = 1;
  b.options.strategy = "best-of-n";
  b.options.in_flight = 1;
  b.options.token_budget = b.options.usd_budget = -1;
  b.options.evaluations = b.options.round = 3;
  WS_CHECK_INT(mkdir(questions, 0700), 0);
  for (int i = 1; i < 8; i++)
    write_in(&b, ws_arena_printf(b.arena, "questions/%06d-explore.reply.md", i),
             ws_arena_printf(b.arena,
                             "## name\nx\n\n## parameters\ntile_m=%d\n",
                             16 << i % 4));
  ws_tune_result first = tune(&b);
  WS_CHECK(first.questions > 0 && first.awaited > 0);
  WS_CHECK_INT(run_batch(&b, 1000000), first.awaited);
  WS_CHECK_INT(tune(&b).replayed, 3);
  free_bench(&b);
}

/* ---- several cards ---- */
WS_TEST(several_cards_give_what_one_gives) {
  bench b = round_bench();
  b.options.device = "hip:0";
  b.options.rank = "device";
  b.options.round = 0;
  tune(&b);
  char *one = archive_text(&b);
  remove_archive(&b);
  setenv("FAKE_DEVICE_COUNT", "3", 1);
  setenv("FAKE_DEVICE_DELAY_US", "3000", 1);
  setenv("FAKE_DEVICE_LOG", ws_arena_printf(b.arena, "%s/log", b.folder), 1);
  b.options.device = "hip:all";
  tune(&b);
  check_same(archive_text(&b), one);
  char *log;
  size_t size;
  ws_diag diag = {""};
  WS_CHECK(ws_file_read(b.arena, getenv("FAKE_DEVICE_LOG"), &log, &size,
                        &diag) == WS_OK);
  for (int i = 0; i < 3; i++)
    WS_CHECK_CONTAINS(log, ws_arena_printf(b.arena, "hip:%d ", i));
  WS_CHECK(!strstr(log, "hip:3 "));
  b.options.device = "hip:3";
  tune_fails(&b, WS_ENVIRONMENT, "no such card");
  free_bench(&b);
}

/* ---- winners, on a card ---- */
static bench card_bench(const char *noise) {
  bench b = round_bench();
  setenv("FAKE_DEVICE_CARD", "1", 1);
  setenv("FAKE_DEVICE_PROVENANCE", "hip:card", 1);
  setenv("FAKE_DEVICE_NOISE", noise, 1);
  b.options.evaluations = 60;
  return b;
}

/* The fake device's factor: 1 + first digit of the code / 16. */
static double relative_time(bench *b, const char *id) {
  ws_diag diag = {""};
  ws_archive *archive;
  const void *code;
  size_t size;
  char digit[2] = {0};
  if (ws_archive_open(b->archive, false, &archive, &diag) != WS_OK ||
      ws_archive_get_code_object(archive, b->arena, id, &code, &size, &diag) !=
          WS_OK)
    WS_FAIL("%s", diag.text);
  ws_archive_close(archive);
  digit[0] = *(const char *)code;
  return 1 + (double)strtol(digit, NULL, 16) / 16;
}

/* Times of one that was confirmed later may take a winner's place. */
static bool has_confirmation(const ws_tune_result *result, const char *id) {
  for (int i = 0; i < result->confirmation_count; i++)
    if (!strcmp(result->confirmations[i].candidate_id, id))
      return true;
  return false;
}

WS_TEST(winners_are_timed_beside_what_the_run_began_with) {
  bench b = card_bench("1.001");
  ws_tune_result result;
  tune_in_rounds(&b, &result);
  WS_CHECK(result.confirmation_count > 0);
  const ws_confirmation_row *row = &result.confirmations[0];
  WS_CHECK(fabs(row->noise - log(1.001)) < 1e-9);
  double expected =
      relative_time(&b, row->against_id) / relative_time(&b, row->candidate_id);
  WS_CHECK(fabs(row->search_speedup - expected) < 1e-9);
  WS_CHECK(row->search_speedup > 1 + 1e-9);
  WS_CHECK(fabs(row->search_speedup - row->held_out_speedup) < 1e-9);
  WS_CHECK_TEXT(row->verdict, "ok");
  /* Asked once: the same command again has nothing to do. */
  ws_tune_result again = tune(&b);
  WS_CHECK_INT(again.awaited, 0);
  WS_CHECK(again.confirmation_count > 0);
  for (int i = 0; i < again.confirmation_count; i++)
    WS_CHECK(has_confirmation(&result, again.confirmations[i].candidate_id));
  WS_CHECK_INT(tune(&b).confirmation_count, again.confirmation_count);
  free_bench(&b);
}

/* A card has one server: the search's own makes room for the fresh one. */
WS_TEST(winners_are_confirmed_on_the_card_that_the_search_holds) {
  bench b = card_bench("1.001");
  setenv("FAKE_DEVICE_CARD", b.folder, 1);
  setenv("FAKE_DEVICE_COUNT", "2", 1);
  b.options.device = "hip:all";
  b.options.rank = "device";
  b.options.round = 0;
  WS_CHECK(tune(&b).confirmation_count > 0);
  free_bench(&b);
}

WS_TEST(a_gain_within_the_noise_is_none) {
  bench b = card_bench("2.5");
  ws_tune_result result;
  tune_in_rounds(&b, &result);
  WS_CHECK(result.confirmation_count > 0);
  for (int i = 0; i < result.confirmation_count; i++) {
    WS_CHECK_TEXT(result.confirmations[i].verdict, "slow");
    WS_CHECK_CONTAINS(result.confirmations[i].reason, "beyond the noise");
  }
  free_bench(&b);
}

/* ---- a target without bound model and sanitizer ---- */
static bench cuda_bench(void) {
  char *text = strdup(LANDSCAPE), *at = strstr(text, "gfx942");
  WS_CHECK(at);
  memcpy(at, "sm_90a", 6);
  at = strstr(text, "\"0 1\",\"layout\",\"0\"");
  WS_CHECK(at);
  memcpy(at, "\"2\"  ,\"layout\",\"2\"", 18);
  bench b = make_bench(text);
  free(text);
  setenv("WAVESMITH_DEVICE_SERVER", getenv("WS_FAKE_DEVICE"), 1);
  setenv("FAKE_DEVICE_ARCH", "sm_90", 1);
  setenv("FAKE_DEVICE_CARD", "1", 1);
  setenv("FAKE_DEVICE_PROVENANCE", "cuda:card", 1);
  b.options.layout = NULL;
  b.options.device = ws_arena_printf(b.arena, "batch:%s/batch", b.folder);
  b.options.round = 10;
  b.options.evaluations = 30;
  return b;
}

WS_TEST(only_the_card_judges) {
  bench b = cuda_bench();
  ws_tune_result result;
  tune_in_rounds(&b, &result);
  WS_CHECK_TEXT(result.layout, "kmajor-ocp");
  WS_CHECK_TEXT(result.provenance, "cuda:card");
  WS_CHECK(result.best_geomean_us > 0);
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM measurement WHERE provenance"
                          " LIKE 'estimate%'"),
               0);
  /* The four shapes' samples and clocks are kept with each time. */
  WS_CHECK_INT(number(&b, "SELECT count(*) FROM timing"),
               number(&b, "SELECT count(*) FROM measurement WHERE"
                          " shape IN (" SEARCHED ")"));
  WS_CHECK_TEXT(query(&b, "SELECT DISTINCT layout FROM candidate"),
                "kmajor-ocp\n");
  free_bench(&b);
}

/* What the sanitizer does elsewhere: a large shape by samples, before times. */
WS_TEST(the_card_verifies_a_large_shape) {
  bench b = cuda_bench();
  ws_diag diag = {""};
  ws_batch *batch;
  ws_batch_job job;
  tune(&b);
  if (ws_batch_open(folder_of(&b), NULL, NULL, &batch, &diag) != WS_OK ||
      ws_batch_read_job(batch, b.arena, 0, &job, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_TEXT(ws_batch_target(batch), "sm_90a");
  WS_CHECK_TEXT(ws_batch_device(batch), "cuda");
  WS_CHECK_INT(job.step_count, 2 + 4);
  WS_CHECK_INT(job.steps[0].op, WS_MEASURE_VERIFY);
  WS_CHECK_INT(job.steps[1].op, WS_MEASURE_VERIFY);
  WS_CHECK(job.steps[1].workloads[0].sampled);
  /* 2 * 1024 * 4608 * 512 = 4.8e9 flops: 6144,576,7168 has too many */
  WS_CHECK_INT(job.steps[1].workloads[0].shape.size[DIM_M], 1024);
  for (int i = 2; i < 6; i++)
    WS_CHECK_INT(job.steps[i].op, WS_MEASURE_TIME);
  ws_batch_close(batch);
  free_bench(&b);
}

WS_TEST(without_a_card_there_is_nothing_to_rank_by) {
  bench b = cuda_bench();
  b.options.device = "estimate";
  tune_fails(&b, WS_USAGE, "there is no bound model of the H200");
  b.options.device = "cuda";
  b.options.rank = "estimate";
  tune_fails(&b, WS_USAGE, "there is no bound model of the H200");
  b.options.rank = NULL;
  setenv("FAKE_DEVICE_ARCH", "gfx942", 1);
  tune_fails(&b, WS_ENVIRONMENT, "does not run code for sm_90a");
  setenv("FAKE_DEVICE_ARCH", "sm_89", 1);
  b.options.device = "auto"; /* no simulator stands in */
  tune_fails(&b, WS_ENVIRONMENT, "does not run code for sm_90a");
  b.options.layout = "kmajor";
  tune_fails(&b, WS_USAGE, "no layout 'kmajor' for sm_90a; it has kmajor-ocp");
  free_bench(&b);
}
