/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One server a card, several cards, rivals over the wire, what survives a wrong
 * kernel and what a hang costs: the real server on mock_hip.c's cards. And the
 * texts that travel.
 */
#include "mock_workload.h"
#include "ws_test.h"

#include <cjson/cJSON.h>
#include <poll.h>

static ws_arena *arena;
static ws_diag diag;

static ws_device_client *start(const char *kind) {
  ws_device_client *client;
  setenv("WAVESMITH_HIP_LIBRARY", WS_MOCK_HIP, 1);
  if (!arena)
    arena = ws_arena_create();
  if (ws_device_client_start(kind, &client, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return client;
}

static void stop(ws_device_client *client) {
  ws_device_client_stop(client);
  ws_arena_destroy(arena);
  arena = NULL;
}

static ws_workload *workload(const char *kernel) {
  ws_workload *out = ws_arena_alloc(arena, sizeof *out);
  *out = mock_workload(arena, kernel, 16, 32, 128);
  return out;
}

static ws_measure_request request(ws_measure_op op, const char *kernel) {
  ws_measure_request out = {.op = op,
                            .code_object = "code object",
                            .code_object_size = 12,
                            .workloads = workload(kernel),
                            .workload_count = 1,
                            .settings = ws_measure_settings_default};
  out.settings.wall_ms = 3000;
  out.settings.warm_up_ms = 1;
  return out;
}

static ws_measured measure(ws_device_client *client,
                           const ws_measure_request *asked) {
  ws_measured out;
  if (ws_device_client_measure(client, arena, asked, &out, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return out;
}

static ws_verdict verify(ws_device_client *client, const char *kernel) {
  ws_measure_request asked = request(WS_MEASURE_VERIFY, kernel);
  return measure(client, &asked).verdict;
}

/* ---- one server a card ---- */

WS_TEST(a_second_server_on_a_card_is_refused_in_a_sentence) {
  ws_device_client *first = start("hip"), *second;
  double begin_ms = ws_clock_ms();
  WS_CHECK_INT(ws_device_client_start("hip", &second, &diag), WS_ENVIRONMENT);
  WS_CHECK(ws_clock_ms() - begin_ms < 20000);
  WS_CHECK(!strchr(diag.text, '\n'));
  WS_CHECK_CONTAINS(diag.text, "is in use by process ");
  WS_CHECK_CONTAINS(diag.text, getenv("WAVESMITH_LOCK_FOLDER"));
  WS_CHECK_INT(verify(first, "gemm_ok"), WS_VERDICT_OK);
  ws_device_client_stop(first);
  WS_CHECK_INT(ws_device_client_start("hip", &second, &diag), WS_OK);
  stop(second);
}

WS_TEST(a_killed_server_leaves_no_lock) {
  ws_device_client *client = start("hip");
  ws_measure_request hang = request(WS_MEASURE_VERIFY, "gemm_hang");
  hang.settings.wall_ms = 600;
  for (int i = 0; i < 3; i++) {
    double begin_ms = ws_clock_ms();
    WS_CHECK_INT(measure(client, &hang).verdict, WS_VERDICT_TIMEOUT);
    /* twice, the second time on a fresh server */
    WS_CHECK(ws_clock_ms() - begin_ms < 30000);
    WS_CHECK_INT(verify(client, "gemm_ok"), WS_VERDICT_OK);
  }
  stop(client);
}

WS_TEST(two_cards_work_at_the_same_time) {
  setenv("MOCK_DEVICES", "2", 1);
  setenv("MOCK_DEVICE", "-1", 1); /* memory of either */
  ws_device_client *clients[] = {start("hip:0"), start("hip:1")};
  ws_measure_request asked = request(WS_MEASURE_TIME, "gemm_ok");
  struct pollfd items[2];
  for (int i = 0; i < 2; i++) {
    WS_CHECK_INT(ws_device_client_send(clients[i], &asked, &diag), WS_OK);
    items[i] = (struct pollfd){.fd = ws_device_client_descriptor(clients[i]),
                               .events = POLLIN};
  }
  for (int left = 2; left > 0;) {
    WS_CHECK(poll(items, 2, 5000) > 0);
    for (int i = 0; i < 2; i++) {
      ws_measured got;
      if (!items[i].revents)
        continue;
      bool done;
      WS_CHECK_INT(
          ws_device_client_receive(clients[i], arena, &got, &done, &diag),
          WS_OK);
      WS_CHECK(done);
      WS_CHECK_TEXT(got.reason, "");
      items[i].fd = -1;
      left--;
    }
  }
  WS_CHECK(strcmp(ws_device_client_info(clients[0])->lock,
                  ws_device_client_info(clients[1])->lock));
  ws_device_client_stop(clients[0]);
  stop(clients[1]);
}

/* ---- what survives ---- */

/* gemm_cached is right in the first eight launches of a process: it shows
 * whether the process is the same. Each verification launches four times. */
WS_TEST(a_wrong_kernel_costs_no_restart_and_a_fault_does) {
  ws_device_client *client = start("hip");
  WS_CHECK_INT(verify(client, "gemm_cached"), WS_VERDICT_OK);
  WS_CHECK_INT(verify(client, "gemm_wrong"), WS_VERDICT_WRONG);
  WS_CHECK_INT(verify(client, "gemm_wrong"), WS_VERDICT_WRONG);
  WS_CHECK_INT(verify(client, "gemm_cached"), WS_VERDICT_WRONG);
  WS_CHECK_INT(verify(client, "gemm_fault"), WS_VERDICT_CRASH);
  WS_CHECK_INT(verify(client, "gemm_cached"), WS_VERDICT_OK);
  WS_CHECK_INT(verify(client, "other"), WS_VERDICT_CRASH); /* no such kernel */
  WS_CHECK_INT(verify(client, "gemm_die"), WS_VERDICT_CRASH);
  WS_CHECK_INT(verify(client, "gemm_cached"), WS_VERDICT_OK);
  stop(client);
}

/* ---- rivals ---- */

WS_TEST(a_rival_travels_behind_the_candidate) {
  ws_device_client *client = start("hip");
  ws_measure_request asked = request(WS_MEASURE_TIME, "gemm_ok");
  ws_contestant rival = {"co of the rival", 16, workload("gemm_ok")};
  asked.rival = &rival;
  ws_measured got = measure(client, &asked);
  WS_CHECK_INT(got.verdict, WS_VERDICT_OK);
  /* launches take 100 to 100.6 us in turn, whosever they are */
  WS_CHECK_NEAR(got.ratio, 1, 0.01);
  WS_CHECK(got.low_ratio <= got.ratio && got.ratio <= got.high_ratio);
  WS_CHECK_NEAR(got.rival_us, 100.3, 0.31);
  rival.code_object = "no code";
  rival.size = 7;
  WS_CHECK_INT(ws_device_client_measure(client, arena, &asked, &got, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "the rival: ");
  asked.rival = NULL;
  WS_CHECK_INT(measure(client, &asked).verdict, WS_VERDICT_OK);
  stop(client);
}

/* ---- texts ---- */

static cJSON *sent(const ws_measure_request *asked) {
  cJSON *json = ws_measure_request_to_json(asked);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  json = cJSON_Parse(text);
  cJSON_free(text);
  return json;
}

WS_TEST(tensor_maps_and_rivals_come_back_as_they_went) {
  arena = ws_arena_create();
  ws_measure_request asked = request(WS_MEASURE_TIME, "gemm_ok"), back;
  ws_operand *first =
      (ws_operand *)(uintptr_t)asked.workloads[0].launches[0].operands;
  *first = (ws_operand){.kind = WS_OPERAND_TENSOR_MAP,
                        .name = "a",
                        .offset = 64,
                        .size = WS_TENSOR_MAP_BYTES,
                        .map = {2, 7168, INT64_C(5000000000), 64, 256, 128}};
  ws_contestant rival = {"x", 1, workload("gemm_wrong")};
  asked.rival = &rival;
  cJSON *json = sent(&asked);
  if (ws_measure_request_from_json(arena, json, &back, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const ws_operand *got = &back.workloads[0].launches[0].operands[0];
  WS_CHECK_INT(got->kind, WS_OPERAND_TENSOR_MAP);
  WS_CHECK_INT(got->offset, 64);
  WS_CHECK_INT(got->map.element_bytes, 2);
  WS_CHECK_INT(got->map.inner, 7168);
  WS_CHECK_INT(got->map.outer, INT64_C(5000000000));
  WS_CHECK_INT(got->map.box_inner, 64);
  WS_CHECK_INT(got->map.box_outer, 256);
  WS_CHECK_INT(got->map.swizzle, 128);
  WS_CHECK_INT(back.rival->size, 1);
  WS_CHECK_TEXT(back.rival->workload->launches[0].kernel, "gemm_wrong");
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}

WS_TEST(a_map_of_the_wrong_size_is_refused) {
  arena = ws_arena_create();
  ws_measure_request asked = request(WS_MEASURE_TIME, "gemm_ok"), back;
  ws_operand *first =
      (ws_operand *)(uintptr_t)asked.workloads[0].launches[0].operands;
  first->size = WS_TENSOR_MAP_BYTES; /* a pointer cannot be that long */
  cJSON *json = sent(&asked);
  WS_CHECK_INT(ws_measure_request_from_json(arena, json, &back, &diag),
               WS_INPUT);
  cJSON_Delete(json);
  first->kind = WS_OPERAND_TENSOR_MAP;
  first->map = (ws_operand_map){1, 0, 16, 16, 16, 0};
  json = sent(&asked);
  WS_CHECK_INT(ws_measure_request_from_json(arena, json, &back, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "'inner'");
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}

WS_TEST(every_field_of_a_measurement_travels) {
  arena = ws_arena_create();
  const double samples[] = {1, 2};
  ws_measured back, went = {.verdict = WS_VERDICT_OK,
                            .reason = "r",
                            .worst_ratio = 0.5,
                            .compared = 9,
                            .us = 1,
                            .low_us = 2,
                            .high_us = 3,
                            .samples = samples,
                            .sample_count = 2,
                            .rival_us = 4,
                            .rival_low_us = 5,
                            .rival_high_us = 6,
                            .ratio = 7,
                            .low_ratio = 8,
                            .high_ratio = 9,
                            .low_mhz = 10,
                            .high_mhz = 11,
                            .memory_mhz = 12,
                            .dropped = 13,
                            .throttle = "power",
                            .empty_us = 14,
                            .provenance = "p",
                            .bound = "b",
                            .report = "t",
                            .host_ms = 15};
  cJSON *json = ws_measured_to_json(&went);
  WS_CHECK_INT(ws_measured_from_json(arena, json, &back, &diag), WS_OK);
  const double got[] = {back.us,       back.low_us,       back.high_us,
                        back.rival_us, back.rival_low_us, back.rival_high_us,
                        back.ratio,    back.low_ratio,    back.high_ratio,
                        back.low_mhz,  back.high_mhz,     back.memory_mhz,
                        back.dropped,  back.empty_us,     back.host_ms};
  for (int i = 0; i < 15; i++)
    WS_CHECK_NEAR(got[i], i + 1, 0);
  WS_CHECK_TEXT(back.throttle, "power");
  WS_CHECK_TEXT(back.bound, "b");
  WS_CHECK_INT(back.sample_count, 2);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}
