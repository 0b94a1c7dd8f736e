/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Verifying and timing on a card whose every habit is known (fake_device.c):
 * the order of what a sample consists of, what cancels, what is dropped, what
 * is found out, and what is kept between requests.
 */
#include "fake_device.h"
#include "inputs.h"
#include "mock_workload.h"
#include "ws_test.h"

static ws_arena *arena;
static ws_diag diag;
static fake_device fake;
static ws_inputs *inputs;
static ws_measure_settings settings;

static void begin(void) {
  arena = ws_arena_create();
  fake_open(&fake);
  inputs = ws_inputs_create(fake_of(&fake), 0);
  settings = ws_measure_settings_default;
  settings.warm_up_ms = 1;
}

/* Nothing may be left on the card. */
static void finish(void) {
  ws_inputs_destroy(inputs);
  WS_CHECK_INT(fake.live, 0);
  ws_arena_destroy(arena);
}

static ws_operand map_of(const char *name, int32_t offset, int64_t inner,
                         int64_t outer) {
  return (ws_operand){.kind = WS_OPERAND_TENSOR_MAP,
                      .name = name,
                      .offset = offset,
                      .size = WS_TENSOR_MAP_BYTES,
                      .map = {1, inner, outer, 128, 8, 128}};
}

/* The argument orders of fake_device.c. */
static ws_workload workload(const char *kernel, int64_t m, int64_t n,
                            int64_t k) {
  ws_operand *operands = mock_operands(arena);
  if (!strncmp(kernel, "map_", 4)) {
    operands[0] = map_of("a", 0, k, m);
    operands[1] = map_of("b", WS_TENSOR_MAP_BYTES, k, n);
    for (int i = 2; i < MOCK_OPERANDS; i++)
      operands[i].offset += 2 * (WS_TENSOR_MAP_BYTES - 8);
  }
  return mock_workload_of(arena, kernel, operands, m, n, k);
}

static ws_workload small(const char *kernel) {
  return workload(kernel, 16, 32, 128);
}

static ws_measured verify(const char *kernel) {
  ws_measured out;
  ws_workload one = small(kernel);
  if (ws_verify(fake_of(&fake), arena, "code", 5, &one, 1, inputs, &out,
                &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return out;
}

static ws_status time_pair(const char *kernel, const char *rival,
                           ws_measured *out) {
  ws_workload own = small(kernel), other = small(rival ? rival : kernel);
  ws_contestant candidate = {"code", 5, &own}, second = {"core", 5, &other};
  return ws_time(fake_of(&fake), arena, &candidate, rival ? &second : NULL,
                 &settings, inputs, out, &diag);
}

static ws_measured time_of(const char *kernel, const char *rival) {
  ws_measured out;
  if (time_pair(kernel, rival, &out) != WS_OK)
    WS_FAIL("%s", diag.text);
  return out;
}

/* ---- what a sample is ---- */

/* c is filled, then the cache, and nothing lies between the events but the
 * graph. */
WS_TEST(a_sample_is_poison_flush_event_graph_event) {
  begin();
  WS_CHECK_INT(time_of("ok", NULL).verdict, WS_VERDICT_OK);
  const char *sample = "ffege";
  int samples = 0, graphs = 0;
  for (const char *at = fake.log; *at; at++) {
    graphs += *at == 'g';
    samples += !strncmp(at, sample, strlen(sample));
  }
  WS_CHECK(samples >= 20);
  /* those of the empty graph, and the last launch on what it left itself */
  WS_CHECK_INT(graphs - samples, 11 + 1);
  finish();
}

WS_TEST(without_graphs_launches_are_plain) {
  begin();
  fake.device.info.graphs = false;
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK_INT(fake.graph_starts, 0);
  WS_CHECK(strstr(fake.log, "ffele") != NULL);
  WS_CHECK_NEAR(got.us, 100, 1e-9);
  WS_CHECK_NEAR(got.empty_us, 0, 1e-9);
  finish();
}

/* A graph takes 2 us by itself; they are reported and not subtracted. */
WS_TEST(the_empty_launch_is_reported_and_not_subtracted) {
  begin();
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_NEAR(got.us, 102, 1e-9);
  WS_CHECK_NEAR(got.empty_us, 2, 1e-9);
  WS_CHECK_NEAR(got.low_us, 102, 1e-9);
  WS_CHECK_NEAR(got.high_us, 102, 1e-9);
  WS_CHECK_INT(got.sample_count, 20);
  finish();
}

/* Twice the cache of 64 KiB, in sets of 7,296 bytes, would be 18; most are 16.
 * Two contestants use the same. */
WS_TEST(samples_rotate_through_places) {
  begin();
  time_of("ok", NULL);
  WS_CHECK_INT(fake.place_count, 16);
  fake.place_count = 0; /* inputs may lie elsewhere now */
  time_of("ok", "ok");
  WS_CHECK_INT(fake.place_count, 16);
  finish();
}

WS_TEST(sampling_goes_on_until_the_interval_is_narrow) {
  begin();
  fake.noise = 0.2; /* uniform over 20 %: the median of 20 is no good */
  ws_measured got = time_of("ok", NULL);
  WS_CHECK(got.sample_count > 20);
  WS_CHECK(got.high_us - got.low_us <= 0.01 * got.us ||
           got.sample_count == 400);
  settings.target_width = 0;
  settings.max_samples = 50;
  WS_CHECK_INT(time_of("ok", NULL).sample_count, 50);
  finish();
}

WS_TEST(a_slow_kernel_is_timed_within_its_share_of_the_limit) {
  begin();
  fake.launch_ms = 20;
  fake.noise = 1e-3;
  settings.wall_ms = 1000;
  settings.target_width = 0;
  double before_ms = ws_clock_ms();
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK(got.sample_count >= 1 && got.sample_count < 25);
  WS_CHECK(ws_clock_ms() - before_ms < 900);
  finish();
}

/* ---- two contestants ---- */

/* The clock slows down by half over the run. Measured one after the other, the
 * same kernel would differ from itself by tens of percent. */
WS_TEST(a_linear_drift_cancels_in_the_ratio) {
  begin();
  fake.drift = 0.5 / 40e3;
  settings.target_width = 0;
  settings.max_samples = 100;
  ws_measured got = time_of("ok", "ok");
  double first = got.samples[0], last = got.samples[got.sample_count - 1];
  WS_CHECK(last > 1.2 * first);
  WS_CHECK_NEAR(got.ratio, 1, 1e-4);
  WS_CHECK(got.high_ratio - got.low_ratio < 1e-3);
  finish();
}

WS_TEST(one_percent_is_seen_through_drift_and_noise) {
  begin();
  fake.drift = 0.5 / 80e3;
  fake.noise = 0.02;
  settings.target_width = 0.002;
  /* as many as bring the ratio within a third of what is allowed */
  settings.min_samples = settings.max_samples = 1200;
  fake.costs[0].kernel = "late";
  fake.costs[0].us = 101.02; /* with the graph's 2 us: 1 % more */
  fake.right = 1 << 30;
  ws_measured got = time_of("late", "ok");
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK_NEAR(got.ratio, 1.01, 0.002);
  WS_CHECK(got.low_ratio > 1);
  WS_CHECK(got.rival_us > 100 && got.rival_us < got.us);
  finish();
}

WS_TEST(sides_of_a_block_take_turns) {
  begin();
  fake.costs[0].kernel = "late";
  fake.costs[0].us = 200;
  fake.right = 1 << 30;
  ws_measured got = time_of("late", "ok");
  WS_CHECK_NEAR(got.us, 202, 1e-9);
  WS_CHECK_NEAR(got.rival_us, 102, 1e-9);
  WS_CHECK_NEAR(got.ratio, 202.0 / 102, 1e-9);
  finish();
}

WS_TEST(a_rivals_fault_is_no_verdict) {
  begin();
  ws_measured got;
  WS_CHECK_INT(time_pair("ok", "wrong", &got), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "the rival: on 16,32,128: 1 of");
  WS_CHECK_INT(time_pair("ok", "missing", &got), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "the rival");
  WS_CHECK_INT(time_pair("missing", "ok", &got), WS_OK);
  WS_CHECK_INT(got.verdict, WS_VERDICT_CRASH);
  WS_CHECK_INT(time_pair("wrong", "ok", &got), WS_OK);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_NEAR(got.us, 0, 0);
  finish();
}

/* They share inputs, so that the one makes the other's results wrong. */
WS_TEST(who_writes_to_inputs_is_found_out_of_two) {
  begin();
  ws_measured got;
  for (int i = 0; i < 4; i++) {
    WS_CHECK_INT(time_pair("ok", "input", &got), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, "the rival: ");
    WS_CHECK(!strstr(diag.text + 11, "the rival: "));
    WS_CHECK_INT(time_pair("input", "ok", &got), WS_OK);
    WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
    WS_CHECK_INT(time_pair("ok", "ok", &got), WS_OK);
    WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  }
  finish();
}

WS_TEST(contestants_work_on_the_same_shape) {
  begin();
  ws_measured got;
  ws_workload one = small("ok"), two = workload("ok", 16, 48, 128);
  ws_contestant a = {"code", 5, &one}, b = {"code", 5, &two};
  WS_CHECK_INT(
      ws_time(fake_of(&fake), arena, &a, &b, &settings, inputs, &got, &diag),
      WS_INPUT);
  finish();
}

/* ---- clocks ---- */

/* Readings 8 to 10 say that the card is too hot. Whatever the warm-up read,
 * three batches of twenty at most are concerned; none of their times, twice as
 * long, is among the samples. */
WS_TEST(what_was_taken_in_heat_is_dropped) {
  begin();
  fake.throttle = "thermal";
  fake.throttle_begin = 8;
  fake.throttle_end = 11;
  fake.noise = 1e-6; /* or 20 samples would do */
  settings.target_width = 0;
  settings.max_samples = 300;
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK(got.dropped > 0 && got.dropped <= 60 && got.dropped % 20 == 0);
  WS_CHECK_INT(got.sample_count, 300);
  for (int i = 0; i < got.sample_count; i++)
    WS_CHECK_NEAR(got.samples[i], 102, 0.001);
  WS_CHECK_TEXT(got.throttle, "thermal");
  WS_CHECK_INT(got.low_mhz, 900);
  WS_CHECK_INT(got.high_mhz, 1800);
  WS_CHECK_INT(got.memory_mhz, 2600);
  finish();
}

WS_TEST(a_power_cap_is_how_fast_the_card_is) {
  begin();
  fake.throttle = "power";
  fake.throttle_end = 1 << 30;
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_INT(got.dropped, 0);
  WS_CHECK_NEAR(got.us, 204, 1e-9);
  WS_CHECK_TEXT(got.throttle, "power");
  finish();
}

WS_TEST(a_card_that_never_cools_is_timed_and_says_so) {
  begin();
  fake.throttle = "thermal";
  fake.throttle_end = 1 << 30;
  settings.max_samples = 40;
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK_INT(got.dropped, 40);
  WS_CHECK(got.sample_count >= 20);
  WS_CHECK_TEXT(got.throttle, "thermal");
  finish();
}

/* ---- what is found out ---- */

WS_TEST(verdicts_of_a_verification) {
  static const struct {
    const char *kernel;
    ws_verdict verdict;
    const char *reason;
  } cases[] = {{"ok", WS_VERDICT_OK, ""},
               {"map_ok", WS_VERDICT_OK, ""},
               {"wrong", WS_VERDICT_WRONG, "1 of 512 elements are wrong"},
               {"input", WS_VERDICT_WRONG, "wrote to its input 'a'"},
               {"guard", WS_VERDICT_WRONG, "4 bytes behind the end of 'c'"},
               {"missing", WS_VERDICT_CRASH, "no such kernel"},
               {"ok", WS_VERDICT_OK, ""},
               {"fault", WS_VERDICT_CRASH, "faulted"}};
  begin();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_measured got = verify(cases[i].kernel);
    if (got.verdict != cases[i].verdict)
      WS_FAIL("%s: %s (%s)", cases[i].kernel, ws_verdict_text(got.verdict),
              got.reason);
    WS_CHECK_CONTAINS(got.reason, cases[i].reason);
  }
  finish();
}

/* Right in every launch of its verification, which are four, and in the first
 * of its timing. */
WS_TEST(right_when_verified_and_wrong_when_timed) {
  begin();
  fake.right = 10;
  WS_CHECK_INT(verify("late").verdict, WS_VERDICT_OK);
  WS_CHECK_INT(fake.launches, 4);
  ws_measured got = time_of("late", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "1 of 64 elements are wrong");
  WS_CHECK_NEAR(got.us, 0, 0);
  finish();
}

/* Of 64 rows, on none of which a row of the output is compared: only what holds
 * for every byte finds these. */
static ws_measured time_large(const char *kernel) {
  ws_measured got;
  ws_workload one = workload(kernel, 64, 32, 128);
  ws_contestant a = {"code", 5, &one};
  WS_CHECK_INT(
      ws_time(fake_of(&fake), arena, &a, NULL, &settings, inputs, &got, &diag),
      WS_OK);
  return got;
}

static void expect_wrong(const char *kernel, const char *reason) {
  begin();
  ws_measured got = time_large(kernel);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, reason);
  WS_CHECK_NEAR(got.us, 0, 0);
  finish();
}

WS_TEST(a_byte_that_is_not_stored_while_timed_is_found) {
  expect_wrong("half", "32 of 4096 bytes of 'c' were never written, the first "
                       "at byte 577");
}

WS_TEST(a_launch_on_its_own_leftovers_must_be_right) {
  expect_wrong("token", "launches on the same inputs differ in 1 elements");
}

/* In the layout kmajor-add, each launch over what c holds at entry. */
static ws_workload adding(const char *kernel) {
  ws_workload out = workload(kernel, 64, 32, 128);
  out.layout =
      ws_problem_layout_index(ws_problem_find(out.problem), "kmajor-add");
  return out;
}

static ws_measured time_adding(const char *kernel) {
  ws_measured out;
  ws_workload one = adding(kernel);
  ws_contestant a = {"code", 5, &one};
  WS_CHECK_INT(
      ws_time(fake_of(&fake), arena, &a, NULL, &settings, inputs, &out, &diag),
      WS_OK);
  return out;
}

WS_TEST(what_is_read_and_written_is_there_before_each_launch) {
  begin();
  ws_measured verified;
  ws_workload one = adding("add");
  WS_CHECK_INT(ws_verify(fake_of(&fake), arena, "code", 5, &one, 1, inputs,
                         &verified, &diag),
               WS_OK);
  WS_CHECK_INT(verified.verdict, WS_VERDICT_OK);
  WS_CHECK_INT(time_adding("add").verdict, WS_VERDICT_OK);
  WS_CHECK_INT(time_adding("ok").verdict, WS_VERDICT_WRONG);
  WS_CHECK_INT(time_of("add", NULL).verdict, WS_VERDICT_WRONG);
  finish();
}

WS_TEST(launches_that_are_right_by_turns_are_found) {
  expect_wrong("other", "wrong");
}

WS_TEST(what_a_verification_leaves_unwritten_is_found) {
  begin();
  ws_measured got = verify("half");
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  got = verify("skip");
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "never");
  finish();
}

/* Verified on places that are multiples of 16 and of no more, timed where an
 * allocation begins. */
WS_TEST(buffers_are_aligned_as_promised_where_results_count) {
  begin();
  ws__input_set *set;
  ws_workload one = small("ok");
  WS_CHECK_INT(ws__inputs_get(inputs, &one, WS__AS_PROMISED, 1, &set, &diag),
               WS_OK);
  for (int i = 0; i < 5; i++)
    WS_CHECK_INT(
        (char *)set->copies[0].memory[i] - (char *)set->copies[0].base[i], 16);
  WS_CHECK_INT(ws__inputs_get(inputs, &one, WS__AS_ALLOCATED, 1, &set, &diag),
               WS_OK);
  WS_CHECK(set->copies[0].memory[0] == set->copies[0].base[0]);
  finish();
}

WS_TEST(a_kernel_that_writes_to_inputs_while_timed_is_wrong) {
  begin();
  ws_measured got = time_of("input", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_INT(time_of("ok", NULL).verdict, WS_VERDICT_OK);
  finish();
}

/* In a row of which no result is looked at. */
WS_TEST(inputs_are_compared_after_a_timing) {
  begin();
  ws_measured got;
  ws_workload one = workload("unseen", 64, 32, 128);
  ws_contestant a = {"code", 5, &one};
  WS_CHECK_INT(
      ws_time(fake_of(&fake), arena, &a, NULL, &settings, inputs, &got, &diag),
      WS_OK);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "wrote to its input 'a'");
  finish();
}

WS_TEST(a_kernel_that_writes_behind_the_output_while_timed_is_wrong) {
  begin();
  ws_measured got = time_of("guard", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "behind the end of 'c'");
  finish();
}

/* The launches that are made to look at it are two, so that one byte is not by
 * chance what the guard holds. */
WS_TEST(guards_are_looked_at_after_the_last_timed_launch) {
  begin();
  settings.warm_up_ms = 0; /* the same number of launches each time */
  settings.min_samples = settings.max_samples = 20;
  WS_CHECK_INT(time_of("early", NULL).verdict, WS_VERDICT_OK);
  fake.right = fake.launches - 2;
  fake.launches = 0;
  ws__inputs_renew(inputs); /* or what is wrong is timed once more */
  ws_measured got = time_of("early", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "behind the end of 'c'");
  finish();
}

WS_TEST(faster_than_the_card_can_be_is_wrong) {
  begin();
  settings.roofline_us = 103;
  ws_measured got = time_of("ok", NULL);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "faster than the device can be");
  finish();
}

/* ---- tensor maps ---- */

WS_TEST(tensor_maps_are_in_the_arguments) {
  begin();
  ws_measured got = time_of("map_ok", NULL);
  if (got.verdict != WS_VERDICT_OK)
    WS_FAIL("%s", got.reason);
  finish();
}

static void check_bad_map(ws_operand bad, const char *reason) {
  ws_measured out;
  ws_workload one = small("map_ok");
  ((ws_operand *)(uintptr_t)one.launches[0].operands)[0] = bad;
  WS_CHECK_INT(
      ws_verify(fake_of(&fake), arena, "code", 5, &one, 1, inputs, &out, &diag),
      WS_OK);
  WS_CHECK_INT(out.verdict, WS_VERDICT_CRASH);
  WS_CHECK_CONTAINS(out.reason, reason);
}

WS_TEST(bad_tensor_maps_are_the_candidates_fault) {
  begin();
  check_bad_map(map_of("a", 0, 128, 17), "covers 2176 bytes; it has 2048");
  check_bad_map(map_of("a", 32, 128, 16), "byte 32 of the arguments");
  check_bad_map(map_of("z", 0, 128, 16), "no argument 'z'");
  ws_operand swizzle = map_of("a", 0, 128, 16);
  swizzle.map.swizzle = 96;
  check_bad_map(swizzle, "no such swizzle");
  finish();
}

/* ---- what is kept ---- */

/* a b as bs, ordinary and hard: eight uploads for the first candidate. One
 * further use in 32 puts a set elsewhere. */
WS_TEST(a_second_candidate_uploads_nothing) {
  begin();
  WS_CHECK_INT(verify("ok").verdict, WS_VERDICT_OK);
  WS_CHECK_INT(fake.uploads, 8);
  int again = 0;
  for (int i = 0; i < 8; i++) {
    int before = fake.uploads;
    verify("ok");
    again += fake.uploads == before;
  }
  WS_CHECK(again >= 4);
  for (int i = 0; i < 200; i++)
    verify("ok");
  WS_CHECK(fake.uploads > 8); /* 31/32 to the power of 416 is 2e-6 */
  finish();
}

WS_TEST(what_the_reference_says_is_kept) {
  begin();
  ws__input_set *set;
  ws_workload one = small("ok");
  const double *value, *scale, *later;
  WS_CHECK_INT(ws__inputs_get(inputs, &one, WS__AS_PROMISED, 1, &set, &diag),
               WS_OK);
  ws__inputs_reference(inputs, set, 0, 16, &value, &scale);
  verify("ok");
  ws__inputs_reference(inputs, set, 0, 16, &later, &scale);
  WS_CHECK(value == later);
  WS_CHECK_INT(set->reference_bytes, 2 * 8 * 16 * 32);
  finish();
}

/* One candidate damages what another's inputs are: the innocent stays so. */
WS_TEST(damage_by_another_is_not_ones_own_fault) {
  begin();
  ws__input_set *set;
  ws_workload other = workload("ok", 32, 16, 128);
  for (int i = 0; i < 20; i++) {
    WS_CHECK_INT(
        ws__inputs_get(inputs, &other, WS__AS_PROMISED, 1, &set, &diag), WS_OK);
    fake.victim = set->copies[0].memory[0];
    WS_CHECK_INT(verify("stray").verdict, WS_VERDICT_OK);
    ws_measured got;
    WS_CHECK_INT(ws_verify(fake_of(&fake), arena, "code", 5, &other, 1, inputs,
                           &got, &diag),
                 WS_OK);
    if (got.verdict != WS_VERDICT_OK)
      WS_FAIL("%s", got.reason);
  }
  finish();
}

WS_TEST(damage_by_another_costs_a_timing_again) {
  begin();
  ws__input_set *set;
  ws_workload one = small("ok"), other = workload("stray", 32, 16, 128);
  ws_measured got;
  for (int i = 0; i < 5; i++) {
    WS_CHECK_INT(time_of("ok", NULL).verdict, WS_VERDICT_OK);
    WS_CHECK_INT(ws__inputs_get(inputs, &one, WS__AS_ALLOCATED, 2, &set, &diag),
                 WS_OK);
    fake.victim = set->copies[1].memory[1];
    ws_contestant a = {"code", 5, &other};
    ws_measure_settings few = settings;
    few.min_samples = few.max_samples = 5 + 2 * i;
    WS_CHECK_INT(
        ws_time(fake_of(&fake), arena, &a, NULL, &few, inputs, &got, &diag),
        WS_OK);
  }
  WS_CHECK_INT(time_of("ok", NULL).verdict, WS_VERDICT_OK);
  finish();
}

WS_TEST(the_limit_holds_and_the_oldest_goes) {
  begin();
  ws_inputs_destroy(inputs);
  inputs = ws_inputs_create(fake_of(&fake), 200 << 10);
  ws__input_set *set;
  for (int i = 1; i <= 12; i++) {
    ws_workload one = workload("ok", 16 * i, 32, 256);
    WS_CHECK_INT(ws__inputs_get(inputs, &one, WS__AS_ALLOCATED, 2, &set, &diag),
                 WS_OK);
    WS_CHECK_INT(set->copy_count, 2);
  }
  /* 192 x 256 + 32 x 256 + 192 x 8 + 16 + 192 x 64 bytes twice, and contents:
   * the last takes more than half of it */
  ws_workload first = workload("ok", 16, 32, 256);
  int before = fake.uploads;
  WS_CHECK_INT(ws__inputs_get(inputs, &first, WS__AS_ALLOCATED, 1, &set, &diag),
               WS_OK);
  WS_CHECK_INT(fake.uploads - before, 4);
  finish();
}

/* Room is made of what is kept before a workspace is refused. */
WS_TEST(a_workspace_that_does_not_fit_is_the_candidates_fault) {
  begin();
  ws_measured out;
  ws_workload one = small("ok");
  one.workspace_bytes = 100 << 20;
  fake.most_bytes = 50 << 20;
  WS_CHECK_INT(
      ws_verify(fake_of(&fake), arena, "code", 5, &one, 1, inputs, &out, &diag),
      WS_OK);
  WS_CHECK_INT(out.verdict, WS_VERDICT_CRASH);
  WS_CHECK_CONTAINS(out.reason, "no room for a workspace of 104857600 bytes");
  WS_CHECK_INT(verify("ok").verdict, WS_VERDICT_OK);
  finish();
}

/* Outputs that two launches of a workload without a problem see. */
static int places_of_two(const char *first_name, const char *second_name) {
  ws_workload_launch launches[2];
  ws_measured out;
  for (int i = 0; i < 2; i++) {
    ws_operand *operands = mock_operands(arena);
    for (int arg = 0; arg < MOCK_OPERANDS; arg++) {
      const bool pointer = arg < MOCK_POINTERS;
      operands[arg].kind = pointer ? WS_OPERAND_BUFFER : WS_OPERAND_INTEGER;
      operands[arg].name = "";
      operands[arg].value = pointer ? 13 : 0; /* no whole words */
    }
    operands[4].name = i ? second_name : first_name; /* c */
    launches[i] = *mock_workload_of(arena, "ok", operands, 0, 0, 0).launches;
  }
  const ws_workload two = {
      .problem = "", .seed = 1, .launches = launches, .launch_count = 2};
  const ws_contestant candidate = {"code", 5, &two};
  fake.place_count = 0;
  if (ws_time(fake_of(&fake), arena, &candidate, NULL, &settings, inputs, &out,
              &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return fake.place_count;
}

WS_TEST(buffers_of_one_name_are_one) {
  begin();
  WS_CHECK_INT(places_of_two("c", "c"), 1);
  WS_CHECK_INT(places_of_two("c", "d"), 2);
  WS_CHECK_INT(places_of_two("", ""), 2);
  finish();
}

WS_TEST(bad_code_is_a_verdict) {
  begin();
  ws_measured out;
  ws_workload one = small("ok");
  ws_contestant bad = {"PTX", 4, &one}, good = {"code", 5, &one};
  WS_CHECK_INT(
      ws_verify(fake_of(&fake), arena, "PTX", 4, &one, 1, inputs, &out, &diag),
      WS_OK);
  WS_CHECK_INT(out.verdict, WS_VERDICT_CRASH);
  WS_CHECK_INT(ws_time(fake_of(&fake), arena, &bad, &good, &settings, inputs,
                       &out, &diag),
               WS_OK);
  WS_CHECK_INT(out.verdict, WS_VERDICT_CRASH);
  WS_CHECK_INT(ws_time(fake_of(&fake), arena, &good, &bad, &settings, inputs,
                       &out, &diag),
               WS_INPUT);
  finish();
}
