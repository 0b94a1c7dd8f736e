/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Many requests to one device, which is the fake device server: it says of code
 * that begins with 0 to 7 that it is wrong.
 */
#include "../gemm_shape.h"
#include "wavesmith/measure.h"
#include "ws_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUESTS = 12 };
static const char good[] = "90000000000000000000000000000000";
static const char bad[] = "10000000000000000000000000000000";

typedef struct bench {
  ws_arena *arena;
  ws_device_client *client;
  ws_workload workloads[REQUESTS];
  ws_measure_request requests[REQUESTS];
  ws_measured answers[REQUESTS];
  int answered;
  ws_diag diag;
} bench;

static void begin(bench *b) {
  *b = (bench){.arena = ws_arena_create()};
  setenv("WAVESMITH_DEVICE_SERVER", getenv("WS_FAKE_DEVICE"), 1);
  WS_CHECK_INT(ws_device_client_start("sim", &b->client, &b->diag), WS_OK);
  for (int i = 0; i < REQUESTS; i++) {
    b->workloads[i] =
        (ws_workload){.problem = "", .shape = gemm_shape(i + 1, 100, 1000)};
    b->requests[i] =
        (ws_measure_request){.op = WS_MEASURE_VERIFY,
                             .code_object = good,
                             .code_object_size = strlen(good),
                             .workloads = &b->workloads[i],
                             .workload_count = 1,
                             .settings = ws_measure_settings_default};
  }
}

static ws_status measure(bench *b, bool (*is_over)(void *)) {
  return ws_device_client_measure_all(b->client, b->arena, b->requests,
                                      REQUESTS, is_over, b, b->answers,
                                      &b->answered, &b->diag);
}

static void end(bench *b) {
  ws_device_client_stop(b->client);
  ws_arena_destroy(b->arena);
}

static int count_servers(void) {
  char path[64], text[400] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *file = fopen(path, "r");
  WS_CHECK(file && (fgets(text, sizeof text, file) || true));
  fclose(file);
  int count = 0;
  for (char *at = text; (at = strchr(at, ' ')); at++)
    count++;
  return count;
}

WS_TEST(answers_come_in_the_order_of_requests) {
  bench b;
  begin(&b);
  for (int i = 0; i < REQUESTS; i++)
    b.requests[i].op = WS_MEASURE_TIME;
  WS_CHECK_INT(measure(&b, NULL), WS_OK);
  WS_CHECK_INT(b.answered, REQUESTS);
  for (int i = 0; i < REQUESTS; i++) /* the formula of fake_device.c */
    WS_CHECK(fabs(b.answers[i].us - (i + 1) * 1e-3 * (1 + 9. / 16)) < 1e-9);
  end(&b);
}

WS_TEST(the_first_failure_ends_it) {
  bench b;
  begin(&b);
  b.requests[4].code_object = b.requests[5].code_object =
      b.requests[9].code_object = bad;
  for (int i = 0; i < 3; i++) { /* and the client goes on */
    WS_CHECK_INT(measure(&b, NULL), WS_OK);
    WS_CHECK_INT(b.answered, 5);
    WS_CHECK_INT(b.answers[3].verdict, WS_VERDICT_OK);
    WS_CHECK_INT(b.answers[4].verdict, WS_VERDICT_WRONG);
  }
  end(&b);
}

WS_TEST(a_simulator_is_asked_on_all_cores_and_a_card_alone) {
  bench b;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  begin(&b);
  WS_CHECK_INT(measure(&b, NULL), WS_OK);
  WS_CHECK_INT(count_servers(), cores < 4 ? cores : 4);
  end(&b);
  WS_CHECK_INT(count_servers(), 0);
  setenv("FAKE_DEVICE_CARD", "1", 1);
  begin(&b);
  WS_CHECK_INT(measure(&b, NULL), WS_OK);
  WS_CHECK_INT(b.answered, REQUESTS);
  WS_CHECK_INT(count_servers(), 1);
  end(&b);
}

static bool after_three(void *context) {
  bench *b = context;
  return b->answers[2].reason != NULL;
}

WS_TEST(what_is_over_is_dropped) {
  bench b;
  setenv("FAKE_DEVICE_DELAY_US", "100000", 1);
  begin(&b);
  b.requests[REQUESTS - 1].code_object = bad;
  WS_CHECK_INT(measure(&b, after_three), WS_OK);
  WS_CHECK(b.answered >= 1 && b.answered < REQUESTS - 1);
  for (int i = 0; i < b.answered; i++)
    WS_CHECK_INT(b.answers[i].verdict, WS_VERDICT_OK);
  WS_CHECK_INT(measure(&b, NULL), WS_OK); /* no late answer is taken */
  WS_CHECK_INT(b.answered, REQUESTS);
  WS_CHECK_INT(b.answers[REQUESTS - 1].verdict, WS_VERDICT_WRONG);
  end(&b);
}

WS_TEST(a_device_that_dies_is_no_verdict) {
  bench b;
  begin(&b);
  setenv("FAKE_DEVICE_DIES", "1", 1);
  ws_device_client_renew(b.client);
  WS_CHECK_INT(measure(&b, NULL), WS_ENVIRONMENT);
  WS_CHECK_INT(b.answered, 0);
  end(&b);
}
