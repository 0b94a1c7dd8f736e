/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How good are the times, and how robust is the server? On a card:
 *   A/A      the same kernel against itself: intervals of the ratio, and how
 *            often it seems faster or slower
 *   planted  the kernel made 0.5, 1 and 2 % slower, so many tries each: how
 *            often that is found
 *   faults   hangs, faults and bad code, in turn with a good kernel: each must
 *            get its verdict in its budget and a second more, and the good one
 *            must stay right
 * by way of the real device server. Kernels are harness.ptx, for NVIDIA cards.
 * With the HIP library of the tests (mock_hip.c) A/A and faults run on its
 * kernels, and the planted slow-downs are left out: its launches have a time
 * of their own. What is left out is said.
 *
 * Build (it needs what wavesmith-device needs) and run, from the root, in bash:
 *   cmake -S runtime/device_server -B build-device && cmake --build
 * build-device
 *   gcc -std=gnu11 -O2 -D_GNU_SOURCE -Iruntime/include \
 *     -Ithird_party tests/bench/harness_quality.c third_party/cjson/cJSON.c \
 *     runtime/eval/{device_client,measure_json,ratio}.c \
 *     runtime/base/{arena,clock,file,json,json_fields,log,message}.c \
 *     runtime/base/{process,rng,status,strbuf}.c runtime/candidate/build.c
 * kernels/problems.c \ kernels/fp8_gemm_blockscale/problem.c -lm -o
 * harness_quality WAVESMITH_DEVICE_SERVER=build-device/wavesmith-device
 * ./harness_quality cuda
 *
 * harness_quality DEVICE [--tries N] [--faults N] [--ptx FILE]; the result is
 * a line for each part and a last one, JSON. Exit 0: the bars of DESIGN hold;
 * 1: one does not; 77: there is no such device.
 */
#include "../device/mock_workload.h"
#include "../gemm_shape.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WS_HARNESS_PTX
#define WS_HARNESS_PTX "tests/bench/harness.ptx"
#endif

enum {
  NO_DEVICE = 77,
  BUDGET_MS = 500, /* of a planted fault */
  MARGIN_MS = 1000,
  WORK_BLOCKS = 264,
  WORK_THREADS = 256,
  WORK_BYTES = 4 * WORK_BLOCKS * WORK_THREADS,
  MOST_TRIES = 1000
};
static const double WORK_US = 50, AA_WIDTH = 0.005;

typedef struct harness {
  ws_arena *arena;
  ws_device_client *client;
  const char *ptx;
  size_t ptx_bytes;
  bool mock;
  int tries, faults;
  double us_per_count; /* of the kernel "work" */
  int64_t count;       /* that takes WORK_US */
  double floor;        /* within it two are the same */
  cJSON *result;
  int failures;
} harness;

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "harness_quality: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

static void say(harness *h, bool good, const char *part, const char *text) {
  printf("%-5s %-12s %s\n", good ? "ok" : "BAD", part, text);
  fflush(stdout);
  h->failures += !good;
}

/* ---- what runs ---- */

static const ws_workload_launch *launch_of(harness *h, const char *kernel,
                                           uint32_t grid, uint32_t block,
                                           const ws_operand *operands,
                                           int count) {
  ws_workload_launch *out = ws_arena_alloc(h->arena, sizeof *out);
  *out = (ws_workload_launch){.kernel = kernel,
                              .grid = {grid, 1, 1},
                              .block = block,
                              .operands = operands,
                              .operand_count = count};
  return out;
}

/* The kernel that takes as long as it is told, on buffers of its own. */
static ws_workload work_of(harness *h, int64_t count) {
  ws_operand *operands = ws_arena_alloc(h->arena, 3 * sizeof *operands);
  for (int i = 0; i < 2; i++)
    operands[i] = (ws_operand){.kind = WS_OPERAND_BUFFER,
                               .name = "",
                               .value = WORK_BYTES,
                               .seed = (uint64_t)i + 1,
                               .offset = 8 * i,
                               .size = 8};
  operands[2] = (ws_operand){.kind = WS_OPERAND_INTEGER,
                             .name = "",
                             .value = count,
                             .offset = 16,
                             .size = 4};
  return (ws_workload){
      .problem = "",
      .launches = launch_of(h, "work", WORK_BLOCKS, WORK_THREADS, operands, 3),
      .launch_count = 1};
}

/* A GEMM by the named kernel, right or not. */
static ws_workload gemm_of(harness *h, const char *kernel) {
  enum { BLOCK = 128 };
  /* the mock multiplies on the host */
  const ws_shape shape =
      h->mock ? gemm_shape(16, 48, 128) : gemm_shape(48, 144, 256);
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  return (ws_workload){
      .problem = problem->name,
      .layout =
          ws_problem_layout_index(problem, h->mock ? "kmajor" : "kmajor-ocp"),
      .shape = shape,
      .seed = 11,
      .launches = launch_of(
          h, kernel, (uint32_t)(shape.size[DIM_M] * shape.size[DIM_N] / BLOCK),
          BLOCK, mock_operands(h->arena), MOCK_OPERANDS),
      .launch_count = 1};
}

static ws_measure_request request_of(const harness *h, ws_measure_op op,
                                     const ws_workload *workload) {
  return (ws_measure_request){.op = op,
                              .code_object = h->ptx,
                              .code_object_size = h->ptx_bytes,
                              .workloads = workload,
                              .workload_count = 1,
                              .settings = ws_measure_settings_default};
}

static ws_measured measure(harness *h, const ws_measure_request *request) {
  ws_measured out;
  must(ws_device_client_measure(h->client, h->arena, request, &out, &diag));
  return out;
}

/* ---- A/A and planted slow-downs ---- */

/* One workload against another, to an interval of a quarter of a percent. */
static ws_measured compare(harness *h, const ws_workload *candidate,
                           const ws_workload *rival) {
  ws_measure_request request = request_of(h, WS_MEASURE_TIME, candidate);
  const ws_contestant second = {h->ptx, h->ptx_bytes, rival};
  request.rival = &second;
  request.settings.target_width = 0.0025;
  request.settings.min_samples = 60;
  request.settings.max_samples = 2000;
  ws_measured out = measure(h, &request);
  if (out.verdict != WS_VERDICT_OK) {
    fprintf(stderr, "harness_quality: %s\n", out.reason);
    exit(1);
  }
  return out;
}

static double time_of(harness *h, int64_t count) {
  ws_workload work = work_of(h, count);
  ws_measure_request request = request_of(h, WS_MEASURE_TIME, &work);
  request.settings.target_width = 0.002;
  request.settings.min_samples = 100;
  request.settings.max_samples = 1000;
  ws_measured out = measure(h, &request);
  if (out.verdict != WS_VERDICT_OK) {
    fprintf(stderr, "harness_quality: %s\n", out.reason);
    exit(1);
  }
  return out.us;
}

/* How long one more turn of the loop takes, from two counts far apart; then the
 * count that takes WORK_US. */
static void calibrate(harness *h) {
  enum { FEW = 2000, MANY = 12000 };
  double few_us = time_of(h, FEW), many_us = time_of(h, MANY);
  h->us_per_count = (many_us - few_us) / (MANY - FEW);
  h->count = FEW + (int64_t)((WORK_US - few_us) / h->us_per_count);
  char text[128];
  snprintf(text, sizeof text, "%.3f ns a turn, %lld turns for %.0f us",
           h->us_per_count * 1000, (long long)h->count, WORK_US);
  say(h, h->us_per_count > 0 && h->count > FEW, "calibration", text);
  cJSON_AddNumberToObject(h->result, "ns_per_turn", h->us_per_count * 1000);
}

static double width_of(const ws_measured *m) {
  return m->high_ratio - m->low_ratio;
}

static ws_workload subject_of(harness *h) {
  return h->mock ? gemm_of(h, "gemm_ok") : work_of(h, h->count);
}

/* The first runs give the noise floor, the others are judged by it. */
static void try_same(harness *h) {
  double widest = 0, dropped = 0;
  int mistaken = 0, low_mhz = 0, high_mhz = 0;
  const char *throttle = "";
  for (int i = 0; i <= h->tries; i++) {
    ws_workload one = subject_of(h), same = subject_of(h);
    ws_measured got = compare(h, &one, &same);
    widest = fmax(widest, width_of(&got));
    dropped += got.dropped;
    low_mhz = low_mhz && low_mhz < got.low_mhz ? low_mhz : got.low_mhz;
    high_mhz = high_mhz > got.high_mhz ? high_mhz : got.high_mhz;
    throttle = *got.throttle ? got.throttle : throttle;
    if (i <= h->tries / 4)
      h->floor = fmax(h->floor, ws_measured_floor(&got));
    else
      mistaken += ws_measured_compare(&got, h->floor) != 0;
  }
  char text[256];
  snprintf(text, sizeof text,
           "%d runs: widest interval %.3f %%, noise floor of the first %d "
           "%.3f %%, %d of the others taken for different; %d to %d MHz, "
           "throttled: %s, %.0f dropped",
           h->tries + 1, widest * 100, h->tries / 4 + 1, h->floor * 100,
           mistaken, low_mhz, high_mhz, *throttle ? throttle : "no", dropped);
  say(h, widest <= AA_WIDTH && mistaken <= h->tries / 20, "A/A", text);
  cJSON_AddNumberToObject(h->result, "aa_widest", widest);
  cJSON_AddNumberToObject(h->result, "aa_floor", h->floor);
  cJSON_AddNumberToObject(h->result, "aa_mistaken", mistaken);
  cJSON_AddNumberToObject(h->result, "low_mhz", low_mhz);
  cJSON_AddNumberToObject(h->result, "high_mhz", high_mhz);
  cJSON_AddStringToObject(h->result, "throttle", throttle);
}

/* `always`: it must be found in every try. */
static void try_slower(harness *h, double percent, bool always) {
  int found = 0;
  double ratios[MOST_TRIES], sum = 0, lowest = 1e9, highest = 0;
  int64_t more = (int64_t)llround(percent / 100 * WORK_US / h->us_per_count);
  for (int i = 0; i < h->tries; i++) {
    ws_workload slow = work_of(h, h->count + more), base = subject_of(h);
    ws_measured got = compare(h, &slow, &base);
    found += ws_measured_compare(&got, h->floor) > 0;
    sum += ratios[i] = got.ratio;
    lowest = fmin(lowest, ratios[i]);
    highest = fmax(highest, ratios[i]);
  }
  char text[160], name[32];
  snprintf(text, sizeof text,
           "found in %d of %d tries; ratios %.4f to %.4f, mean %.4f", found,
           h->tries, lowest, highest, sum / h->tries);
  snprintf(name, sizeof name, "%.1f %% slower", percent);
  say(h, found == h->tries || (!always && found > h->tries / 2), name, text);
  cJSON *item = cJSON_AddObjectToObject(h->result, name);
  cJSON_AddNumberToObject(item, "found", found);
  cJSON_AddNumberToObject(item, "tries", h->tries);
  cJSON_AddNumberToObject(item, "mean_ratio", sum / h->tries);
}

/* ---- faults ---- */

static const struct fault {
  const char *name, *kernel, *mock; /* NULL: the mock has none like it */
  ws_verdict verdict;
  const char *code; /* instead of the PTX */
  int64_t workspace_bytes;
  uint32_t dynamic_lds, block;
} faults[] = {
    {"hang", "hang", "gemm_hang", WS_VERDICT_TIMEOUT, NULL, 0, 0, 0},
    {"illegal address", "illegal", "gemm_fault", WS_VERDICT_CRASH, NULL, 0, 0,
     0},
    {"misaligned address", "misaligned", NULL, WS_VERDICT_CRASH, NULL, 0, 0, 0},
    {"trap", "stops", "gemm_die", WS_VERDICT_CRASH, NULL, 0, 0, 0},
    {"too much shared memory", "gemm", NULL, WS_VERDICT_CRASH, NULL, 0, 1 << 20,
     0},
    {"bad PTX", "gemm", "gemm_ok", WS_VERDICT_CRASH,
     ".version 7.8\n.target sm_90\n.address_size 64\n"
     ".visible .entry gemm() { add.nothing %r, 1; }\n",
     0, 0, 0},
    {"no such kernel", "nobody", "nobody", WS_VERDICT_CRASH, NULL, 0, 0, 0},
    {"too large a workspace", "gemm", NULL, WS_VERDICT_CRASH, NULL,
     INT64_C(1) << 39, 0, 0},
    {"too many threads", "gemm", NULL, WS_VERDICT_CRASH, NULL, 0, 0, 4096},
    {"writes nothing", "lazy", "gemm_lazy", WS_VERDICT_WRONG, NULL, 0, 0, 0},
    {"writes to its input", "input", "gemm_input", WS_VERDICT_WRONG, NULL, 0, 0,
     0}};
enum { FAULTS = sizeof faults / sizeof faults[0] };

typedef struct fault_counts {
  int planted, survived, late, unharmed;
  double slowest_ms, slowest_restart_ms;
} fault_counts;

static ws_measured plant(harness *h, const struct fault *fault, bool timed) {
  ws_workload bad = gemm_of(h, h->mock ? fault->mock : fault->kernel);
  ws_workload_launch *launch =
      (ws_workload_launch *)(uintptr_t)bad.launches; /* ours */
  launch->dynamic_lds = fault->dynamic_lds;
  launch->block = fault->block ? fault->block : launch->block;
  bad.workspace_bytes = fault->workspace_bytes;
  ws_measure_request request =
      request_of(h, timed ? WS_MEASURE_TIME : WS_MEASURE_VERIFY, &bad);
  request.settings.wall_ms = BUDGET_MS;
  if (fault->code) {
    request.code_object = fault->code;
    request.code_object_size = strlen(fault->code) + 1;
  }
  return measure(h, &request);
}

static void check_good(harness *h, fault_counts *counts) {
  ws_workload good = gemm_of(h, h->mock ? "gemm_ok" : "gemm");
  ws_measure_request request = request_of(h, WS_MEASURE_VERIFY, &good);
  double begin_ms = ws_clock_ms();
  ws_measured got = measure(h, &request);
  double ms = ws_clock_ms() - begin_ms;
  counts->slowest_restart_ms = fmax(counts->slowest_restart_ms, ms);
  counts->unharmed += got.verdict == WS_VERDICT_OK;
  if (got.verdict != WS_VERDICT_OK)
    printf("#     a good kernel: %s, %s\n", ws_verdict_text(got.verdict),
           got.reason);
}

static void try_fault(harness *h, const struct fault *fault, bool timed,
                      fault_counts *counts) {
  double begin_ms = ws_clock_ms();
  ws_measured got = plant(h, fault, timed);
  double ms = ws_clock_ms() - begin_ms;
  bool right =
      got.verdict == fault->verdict ||
      got.verdict == WS_VERDICT_TIMEOUT; /* a fault may hang the card */
  counts->planted++;
  counts->survived += right;
  counts->late += ms > BUDGET_MS + MARGIN_MS;
  counts->slowest_ms = fmax(counts->slowest_ms, ms);
  if (got.verdict != fault->verdict)
    printf("#     %s: %s instead of %s, %s\n", fault->name,
           ws_verdict_text(got.verdict), ws_verdict_text(fault->verdict),
           got.reason);
  check_good(h, counts);
}

static void try_faults(harness *h) {
  fault_counts counts = {0};
  check_good(h, &counts);
  counts = (fault_counts){0};
  for (int i = 0; counts.planted < h->faults; i++) {
    const struct fault *fault = &faults[i % FAULTS];
    if (!h->mock || fault->mock)
      try_fault(h, fault, i / FAULTS % 2, &counts);
  }
  char text[256];
  snprintf(text, sizeof text,
           "%d planted, %d survived with the right verdict, %d late (slowest "
           "%.0f ms "
           "with a budget of %d); the good kernel right %d times, at the "
           "slowest in %.0f ms with the restart",
           counts.planted, counts.survived, counts.late, counts.slowest_ms,
           BUDGET_MS, counts.unharmed, counts.slowest_restart_ms);
  say(h,
      counts.survived == counts.planted && !counts.late &&
          counts.unharmed == counts.planted,
      "faults", text);
  cJSON *item = cJSON_AddObjectToObject(h->result, "faults");
  cJSON_AddNumberToObject(item, "planted", counts.planted);
  cJSON_AddNumberToObject(item, "survived", counts.survived);
  cJSON_AddNumberToObject(item, "late", counts.late);
  cJSON_AddNumberToObject(item, "unharmed", counts.unharmed);
  cJSON_AddNumberToObject(item, "slowest_ms", counts.slowest_ms);
  cJSON_AddNumberToObject(item, "slowest_restart_ms",
                          counts.slowest_restart_ms);
}

/* ---- all of it ---- */

static void open_device(harness *h, const char *kind, const char *ptx) {
  char *text;
  if (ws_device_client_start(kind, &h->client, &diag) != WS_OK) {
    printf("skipped: %s\n", diag.text);
    exit(NO_DEVICE);
  }
  const ws_device_info *info = ws_device_client_info(h->client);
  h->mock = strncmp(info->arch, "sm_", 3) != 0;
  printf("# %s, driver %s, %s\n", info->name,
         *info->driver ? info->driver : "unknown", info->provenance);
  cJSON_AddStringToObject(h->result, "device", info->provenance);
  cJSON_AddStringToObject(h->result, "driver", info->driver);
  h->ptx = "code of the mock";
  h->ptx_bytes = strlen(h->ptx) + 1;
  if (h->mock)
    return;
  must(ws_file_read(h->arena, ptx, &text, &h->ptx_bytes, &diag));
  h->ptx = text;
  h->ptx_bytes++; /* with its end */
}

static void run(harness *h) {
  double begin_ms = ws_clock_ms();
  if (h->mock)
    printf("#     no hand-written kernels for this card: planted slow-downs "
           "are left out, the rest runs on the kernels of mock_hip.c\n");
  else
    calibrate(h);
  try_same(h);
  for (int i = 0; i < 3 && !h->mock; i++)
    try_slower(h, 0.5 * (1 << i), i > 0);
  try_faults(h);
  cJSON_AddNumberToObject(h->result, "seconds",
                          (ws_clock_ms() - begin_ms) / 1000);
  cJSON_AddNumberToObject(h->result, "failures", h->failures);
  char *text = cJSON_PrintUnformatted(h->result);
  puts(text);
  cJSON_free(text);
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"tries", required_argument, NULL, 't'},
      {"faults", required_argument, NULL, 'f'},
      {"ptx", required_argument, NULL, 'p'},
      {0}};
  harness h = {.tries = 20, .faults = 100};
  const char *ptx = WS_HARNESS_PTX;
  int option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
    if (option == 't')
      h.tries = (int)strtol(optarg, NULL, 10);
    else if (option == 'f')
      h.faults = (int)strtol(optarg, NULL, 10);
    else if (option == 'p')
      ptx = optarg;
  }
  if (optind + 1 != argc || h.tries < 1 || h.tries > MOST_TRIES) {
    fputs("usage: harness_quality DEVICE [--tries N] [--faults N] [--ptx "
          "FILE]\n",
          stderr);
    return ws_status_exit_code(WS_USAGE);
  }
  h.arena = ws_arena_create();
  h.result = cJSON_CreateObject();
  open_device(&h, argv[optind], ptx);
  run(&h);
  ws_device_client_stop(h.client);
  cJSON_Delete(h.result);
  ws_arena_destroy(h.arena);
  return h.failures ? 1 : 0;
}
