/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See calibrate.h. The way of every timing: compiler, device server, its
 * protocol (docs/timing.md).
 */
#include "calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char calibrate_kernels_text[]; /* kernels.ll */

ws_status calibrate_compile(ws_arena *arena, calibrate_code *out,
                            ws_diag *diag) {
  ws_compiler *compiler;
  ws_build_result result;
  const ws_build_request request = {.template_file = "kernels.ll",
                                    .template_text = calibrate_kernels_text,
                                    .template_size =
                                        strlen(calibrate_kernels_text),
                                    .target = "gfx942",
                                    .assignments = "",
                                    .variants = "",
                                    .stages = WS_STAGE_RAW,
                                    .limits = ws_limits_default};
  WS_TRY(ws_compiler_start(&compiler, diag));
  ws_status status =
      ws_compiler_build(compiler, arena, &request, &result, diag);
  ws_compiler_stop(compiler);
  if (status == WS_OK && result.verdict != WS_VERDICT_OK)
    status =
        ws_fail(diag, WS_ENVIRONMENT, "kernels.ll", 0, "%s", result.reason);
  if (status == WS_OK)
    *out = (calibrate_code){result.code_object, result.code_object_size};
  return status;
}

enum { MOST_OPERANDS = 8 };

/* What the words of a launch's arguments stand for. */
typedef struct meaning {
  int64_t buffer_bytes, count, groups, threads;
} meaning;

static int64_t turns_of(const meaning *of, int64_t mib) {
  const int64_t bytes = of->groups * of->threads * 16;
  return (mib * 1048576 + bytes - 1) / bytes;
}

static int64_t value_of(const meaning *of, const char *word) {
  static const char count[] = "count";
  if (!strcmp(word, "buffer"))
    return of->buffer_bytes;
  if (!strcmp(word, "groups"))
    return of->groups;
  char *end = (char *)word + strlen(count);
  const int64_t value =
      strncmp(word, count, strlen(count)) ? strtol(word, &end, 10) : of->count;
  return *end == 'M' ? turns_of(of, value) : value;
}

/* "buffer,count,128,0" */
static int read_operands(ws_arena *arena, const char *args, const meaning *of,
                         ws_operand operands[MOST_OPERANDS]) {
  char *rest = ws_arena_strdup(arena, args), *word;
  int n = 0, offset = 0;
  while (*args && (word = strsep(&rest, ","))) {
    const bool is_buffer = !strcmp(word, "buffer");
    const int size = is_buffer ? 8 : 4;
    operands[n] =
        (ws_operand){.kind = is_buffer ? WS_OPERAND_BUFFER : WS_OPERAND_INTEGER,
                     .name = is_buffer ? word : "",
                     .value = value_of(of, word),
                     .seed = 1,
                     .offset = (offset + size - 1) / size * size,
                     .size = size};
    offset = operands[n].offset + size;
    n++;
  }
  return n;
}

static ws_workload_launch launch_of(ws_arena *arena,
                                    const calibrate_launch *launch,
                                    size_t buffer_bytes, int32_t count,
                                    int32_t cu_count) {
  ws_operand *operands =
      ws_arena_alloc(arena, sizeof *operands * MOST_OPERANDS);
  const meaning of = {.buffer_bytes = (int64_t)buffer_bytes,
                      .count = count,
                      .groups = launch->groups < 0 ? -launch->groups * cu_count
                                : launch->groups   ? launch->groups
                                                   : count,
                      .threads = launch->threads};
  return (ws_workload_launch){
      .kernel = launch->kernel,
      .grid = {(uint32_t)of.groups, 1, 1},
      .block = launch->threads,
      .operands = operands,
      .operand_count = read_operands(arena, launch->args, &of, operands)};
}

static ws_status time_count(ws_device_client *client, ws_arena *arena,
                            const calibrate_code *code,
                            const calibrate_benchmark *b, int32_t count,
                            ws_measured *out, ws_diag *diag) {
  const int32_t cu_count = ws_device_client_info(client)->cu_count;
  ws_workload_launch launches[2];
  ws_workload workload = {.problem = "", .seed = 1, .launches = launches};
  if (b->first.kernel)
    launches[workload.launch_count++] =
        launch_of(arena, &b->first, b->buffer_bytes, count, cu_count);
  launches[workload.launch_count++] =
      launch_of(arena, &b->timed, b->buffer_bytes, count, cu_count);
  const ws_measure_request request = {.op = WS_MEASURE_TIME,
                                      .code_object = code->data,
                                      .code_object_size = code->size,
                                      .workloads = &workload,
                                      .workload_count = 1,
                                      .settings = ws_measure_settings_default};
  WS_TRY(ws_device_client_measure(client, arena, &request, out, diag));
  return out->verdict == WS_VERDICT_OK
             ? WS_OK
             : ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s: %s", b->name,
                       out->reason);
}

static ws_status measure(ws_device_client *client, ws_arena *arena,
                         const calibrate_code *code,
                         const calibrate_benchmark *b, double *out_us,
                         double *out_noise, ws_diag *diag) {
  ws_measured most, least = {.us = 0};
  WS_TRY(time_count(client, arena, code, b, b->most, &most, diag));
  if (b->least)
    WS_TRY(time_count(client, arena, code, b, b->least, &least, diag));
  *out_us = most.us - least.us;
  *out_noise = (most.high_us - most.low_us + least.high_us - least.low_us) / 2 /
               fabs(*out_us);
  return *out_us > 0
             ? WS_OK
             : ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                       "%s: %d take %.2f us and %d take %.2f us; a device "
                       "that is busy, or whose clock moves?",
                       b->name, b->most, most.us, b->least, least.us);
}

ws_status calibrate_measure(ws_device_client *client,
                            const calibrate_code *code,
                            const calibrate_benchmark *benchmark,
                            double *out_us, double *out_noise, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  const ws_status status =
      measure(client, arena, code, benchmark, out_us, out_noise, diag);
  ws_arena_destroy(arena);
  return status;
}
