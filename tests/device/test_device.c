/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The device server and its client against a HIP library whose kernels
 * misbehave in known ways (mock_hip.c): each must become the right verdict, and
 * the next request must be served whatever the last one did.
 */
#include "../gemm_shape.h"
#include "mock_workload.h"
#include "wavesmith/target.h"
#include "ws_test.h"

#include <unistd.h>

static ws_arena *arena;
static ws_diag diag;

static ws_device_client *start(const char *kind) {
  ws_device_client *client;
  arena = ws_arena_create();
  setenv(strcmp(kind, "sim") ? "WAVESMITH_HIP_LIBRARY"
                             : "WAVESMITH_SIM_LIBRARY",
         WS_MOCK_HIP, 1);
  if (ws_device_client_start(kind, &client, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return client;
}

static void stop(ws_device_client *client) {
  ws_device_client_stop(client);
  ws_arena_destroy(arena);
}

static ws_workload workload(const char *kernel, int64_t m, int64_t n,
                            int64_t k) {
  return mock_workload(arena, kernel, m, n, k);
}

static ws_measured measure(ws_device_client *client, ws_measure_op op,
                           const char *kernel) {
  ws_workload two[] = {workload(kernel, 16, 32, 128),
                       workload(kernel, 48, 144, 256)};
  ws_measure_request request = {.op = op,
                                .code_object = "code object",
                                .code_object_size = 12,
                                .workloads = two,
                                .workload_count = op == WS_MEASURE_TIME ? 1 : 2,
                                .settings = ws_measure_settings_default};
  request.settings.wall_ms = 1500;
  request.settings.warm_up_ms = 1;
  ws_measured measured;
  if (ws_device_client_measure(client, arena, &request, &measured, &diag) !=
      WS_OK)
    WS_FAIL("%s", diag.text);
  return measured;
}

WS_TEST(info_names_the_device) {
  ws_device_client *client = start("hip");
  const ws_device_info *info = ws_device_client_info(client);
  WS_CHECK_TEXT(info->name, "Mock");
  WS_CHECK_TEXT(info->arch, "gfx942");
  WS_CHECK_TEXT(info->provenance, "hip:Mock");
  WS_CHECK_INT(info->cu_count, 304);
  WS_CHECK(!info->simulated);
  stop(client);
}

WS_TEST(another_emulator_has_its_own_provenance) {
  ws_device_client *client = start("sim");
  const ws_device_info *info = ws_device_client_info(client);
  WS_CHECK_TEXT(info->provenance, "sim:mock_hip:Mock");
  WS_CHECK(info->simulated);
  stop(client);
}

/* It has the name of ours and not the model that times are called by. */
WS_TEST(our_simulator_from_another_build_is_refused) {
  char folder[] = "/tmp/ws_device.XXXXXX", library[64];
  WS_CHECK(mkdtemp(folder));
  snprintf(library, sizeof library, "%s/libwavesmith_hipsim.so", folder);
  WS_CHECK_INT(symlink(WS_MOCK_HIP, library), 0);
  setenv("WAVESMITH_SIM_LIBRARY", library, 1);
  ws_device_client *client;
  WS_CHECK_INT(ws_device_client_start("sim", &client, &diag), WS_ENVIRONMENT);
  WS_CHECK(strstr(diag.text, "is of another build"));
  WS_CHECK(strstr(diag.text, library));
  unlink(library);
  rmdir(folder);
}

static const struct {
  const char *kernel;
  ws_verdict verdict;
  const char *reason;
} cases[] = {
    {"gemm_ok", WS_VERDICT_OK, ""},
    {"gemm_wrong", WS_VERDICT_WRONG, "1 of 512 elements are wrong"},
    {"gemm_lazy", WS_VERDICT_WRONG, "never have been written"},
    {"gemm_input", WS_VERDICT_WRONG, "wrote to its input 'a'"},
    {"gemm_fault", WS_VERDICT_CRASH, "hipErrorLaunchFailure"},
    {"gemm_hang", WS_VERDICT_TIMEOUT, "did not end in time"},
    {"gemm_die", WS_VERDICT_CRASH, "the device server died of signal"},
    {"other", WS_VERDICT_CRASH, "hipErrorNotFound"},
    {"gemm_ok", WS_VERDICT_OK, ""},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void check_cases(const char *kind) {
  ws_device_client *client = start(kind);
  for (int i = 0; i < CASES; i++) {
    ws_measured got = measure(client, WS_MEASURE_VERIFY, cases[i].kernel);
    if (got.verdict != cases[i].verdict)
      WS_FAIL("%s: %s (%s)", cases[i].kernel, ws_verdict_text(got.verdict),
              got.reason);
    WS_CHECK_CONTAINS(got.reason, cases[i].reason);
    if (got.verdict == WS_VERDICT_OK) {
      /* once more on extreme inputs; a card runs all of it twice */
      WS_CHECK_INT(got.compared, 2 * (16 * 32 + 48 * 144));
      WS_CHECK(got.worst_ratio > 0 && got.worst_ratio < 1);
    }
  }
  stop(client);
}

WS_TEST(verdicts_on_a_card) { check_cases("hip"); }
WS_TEST(verdicts_on_a_simulator) { check_cases("sim"); }

WS_TEST(guards_and_repeats_are_for_cards) {
  ws_device_client *client = start("hip");
  ws_measured got = measure(client, WS_MEASURE_VERIFY, "gemm_guard");
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "7 bytes behind the end of 'c'");
  got = measure(client, WS_MEASURE_VERIFY, "gemm_flaky");
  WS_CHECK_INT(got.verdict, WS_VERDICT_UNSTABLE);
  stop(client);
}

WS_TEST(a_simulators_finding_is_the_reason) {
  ws_device_client *client = start("sim");
  ws_measured got = measure(client, WS_MEASURE_VERIFY, "gemm_race");
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_TEXT(got.reason, "on 16,32,128: lds-race: two waves write the same "
                            "byte (stage, gemm.ll:120)");
  WS_CHECK_INT(got.finding_count, 1);
  WS_CHECK_TEXT(got.findings[0].id, "lds-race");
  stop(client);
}

/* Launches take 100, 100.1 ... 100.6 us in turn. */
WS_TEST(a_card_is_timed_by_the_median) {
  ws_device_client *client = start("hip");
  ws_measured got = measure(client, WS_MEASURE_TIME, "gemm_ok");
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK_NEAR(got.us, 100.3, 0.11);
  WS_CHECK(got.sample_count >= 20);
  WS_CHECK(got.low_us <= got.us && got.us <= got.high_us);
  WS_CHECK(got.high_us - got.low_us <= 0.01 * got.us);
  WS_CHECK(got.compared >= 4 * 32); /* rows of the timed outputs */
  stop(client);
}

WS_TEST(a_simulator_is_asked_once) {
  ws_device_client *client = start("sim");
  ws_measured got = measure(client, WS_MEASURE_TIME, "gemm_ok");
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  WS_CHECK_INT(got.sample_count, 1);
  WS_CHECK_NEAR(got.us, 100, 0.01);
  WS_CHECK_TEXT(got.provenance, "sim:mock_hip:Mock");
  stop(client);
}

WS_TEST(timed_results_are_checked_on_a_card) {
  ws_device_client *client = start("hip");
  ws_measured got = measure(client, WS_MEASURE_TIME, "gemm_wrong");
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_NEAR(got.us, 0, 0);
  stop(client);
}

/* What an earlier launch wrote is gone, so a result that is kept is not. */
WS_TEST(every_timed_launch_finds_poison) {
  ws_device_client *client = start("hip");
  ws_measured got = measure(client, WS_MEASURE_TIME, "gemm_cached");
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "never have been written");
  stop(client);
}

WS_TEST(faster_than_the_roofline_is_wrong) {
  ws_device_client *client = start("hip");
  ws_workload one = workload("gemm_ok", 16, 32, 128);
  ws_measure_request request = {.op = WS_MEASURE_TIME,
                                .code_object = "code object",
                                .code_object_size = 12,
                                .workloads = &one,
                                .workload_count = 1,
                                .settings = ws_measure_settings_default};
  request.settings.warm_up_ms = 1;
  request.settings.roofline_us = 101;
  ws_measured got;
  WS_CHECK_INT(ws_device_client_measure(client, arena, &request, &got, &diag),
               WS_OK);
  WS_CHECK_INT(got.verdict, WS_VERDICT_WRONG);
  WS_CHECK_CONTAINS(got.reason, "faster than the device can be");
  stop(client);
}

/* 1024 x 1536 x 7168: 2 * 11.27e9 / (4096 * 304 * 2.1e3 per us) */
WS_TEST(roofline_of_a_contest_shape) {
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  ws_shape shape = gemm_shape(1024, 1536, 7168);
  WS_CHECK_NEAR(
      ws_target_roofline_us(ws_target_find("gfx942"), problem, &shape), 8.62,
      0.01);
}

WS_TEST(no_device_is_said_in_a_sentence) {
  ws_device_client *client;
  setenv("WAVESMITH_HIP_LIBRARY", WS_MOCK_HIP, 1);
  setenv("MOCK_DEVICES", "0", 1);
  WS_CHECK_INT(ws_device_client_start("hip", &client, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "finds no device");
  setenv("WAVESMITH_HIP_LIBRARY", "/nonexistent.so", 1);
  WS_CHECK_INT(ws_device_client_start("hip", &client, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "WAVESMITH_HIP_LIBRARY");
  WS_CHECK_INT(ws_device_client_start("abacus", &client, &diag),
               WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "there are: cuda");
}
