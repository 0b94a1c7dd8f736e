/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A launch: arguments into the kernarg segment, the run, the model's time, what
 * the checks found. The model goes first, since a kernel may change what
 * decides its time.
 */
#include "hipsim.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- arguments -------------------------------------------------------------
 */

static hipError_t from_params(const ws_sim_kernel_info *info, void **params,
                              unsigned char *kernarg, size_t size) {
  int slot = 0;
  for (int i = 0; i < info->arg_count; i++) {
    const ws_sim_argument *argument = &info->args[i];
    if (ws__hip_argument_is_hidden(argument))
      continue;
    const void *value = params[slot++];
    size_t offset = (size_t)argument->offset, bytes = (size_t)argument->size;
    if (!value || argument->offset < 0 || argument->size < 0 ||
        offset + bytes > size)
      return hipErrorInvalidValue;
    memcpy(kernarg + offset, value, bytes);
  }
  return hipSuccess;
}

/* extra: {BUFFER_POINTER, buffer, BUFFER_SIZE, &size, END}, in any order. */
static hipError_t from_extra(void **extra, unsigned char *kernarg,
                             size_t size) {
  const void *buffer = NULL;
  size_t given = 0;
  for (int i = 0; i < 4 && extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[i + 1];
    else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
      memcpy(&given, extra[i + 1], sizeof given);
    else
      return hipErrorInvalidValue;
  }
  if (given < size || (size && !buffer))
    return hipErrorInvalidValue;
  if (size)
    memcpy(kernarg, buffer, size);
  return hipSuccess;
}

static hipError_t collect(const ws_launch_request *request,
                          const ws_sim_kernel_info *info,
                          unsigned char *kernarg, size_t size) {
  if (request->params)
    return from_params(info, request->params, kernarg, size);
  if (request->extra)
    return from_extra(request->extra, kernarg, size);
  return size ? hipErrorInvalidValue : hipSuccess;
}

/* ---- what a launch may ask for
 * ------------------------------------------------ */

static hipError_t refuse(const char *kernel, const char *what,
                         hipError_t error) {
  ws_log(WS_LOG_ERROR, "launch of %s: %s", kernel, what);
  return error;
}

static hipError_t check_extents(const ws_launch_request *request,
                                const ws_sim_kernel_info *info) {
  const hipDeviceProp_tR0600 *limits = ws__hip_properties();
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (!request->grid[i] || !request->block[i])
      return refuse(info->name, "an extent of grid or block is 0",
                    hipErrorInvalidConfiguration);
    if (request->block[i] > (uint32_t)limits->maxThreadsDim[i] ||
        request->grid[i] > UINT32_MAX / request->block[i])
      return refuse(info->name, "grid or block is too large",
                    hipErrorInvalidConfiguration);
    threads *= request->block[i];
  }
  if (threads > WS_DEVICE_MAX_THREADS ||
      (info->max_workgroup > 0 && threads > (uint64_t)info->max_workgroup))
    return refuse(info->name,
                  "more threads in the block than the kernel was built for",
                  hipErrorInvalidConfiguration);
  if (request->lds > (size_t)(WS_DEVICE_LDS_BYTES - info->lds_bytes))
    return refuse(info->name, "more LDS than a workgroup can have",
                  hipErrorInvalidValue);
  return hipSuccess;
}

static ws_operation operation_of(const ws_launch_request *request,
                                 void *kernarg, size_t size) {
  ws_operation operation = {.kind = WS_OPERATION_LAUNCH,
                            .u.launch = {.function = request->function,
                                         .lds = (uint32_t)request->lds,
                                         .kernarg = kernarg,
                                         .kernarg_size = size}};
  for (int i = 0; i < 3; i++) {
    operation.u.launch.grid[i] = (uint32_t)request->grid[i];
    operation.u.launch.block[i] = request->block[i];
  }
  return operation;
}

hipError_t ws__hip_launch(const ws_launch_request *request) {
  const ws_sim_kernel *kernel = ws__hip_kernel(request->function);
  if (!kernel || !ws__hip_stream(request->stream))
    return hipErrorInvalidHandle;
  const ws_sim_kernel_info *info = ws_sim_kernel_info_of(kernel);
  hipError_t error = check_extents(request, info);
  if (error)
    return error;
  size_t size = ws__hip_explicit_size(info);
  unsigned char *kernarg = calloc(1, size + 1);
  if (!kernarg)
    return hipErrorOutOfMemory;
  error = collect(request, info, kernarg, size);
  if (error)
    refuse(info->name, "arguments are missing or too short", error);
  ws_operation operation = operation_of(request, kernarg, size);
  if (!error)
    error = ws__hip_record(request->start, request->stream);
  if (!error)
    error = ws__hip_submit(request->stream, &operation);
  if (!error)
    error = ws__hip_record(request->stop, request->stream);
  free(kernarg);
  return error;
}

/* ---- times that are known
 * ------------------------------------------------------ */

typedef struct known_time {
  ws_hash key;
  double us, instructions;
} known_time;
static known_time *known;
static size_t known_count, known_capacity;

void ws__hip_launch_forget(void) { known_count = 0; }

/* A pointer stands for the size of its buffer and its offset in it. */
static void hash_argument(ws_hasher *hasher, const ws_sim_argument *argument,
                          const unsigned char *kernarg) {
  void *pointer, *begin;
  uint64_t place[2] = {0, 0};
  size_t bytes;
  if (strcmp(argument->kind, "global_buffer") ||
      argument->size != sizeof pointer) {
    ws_hasher_update(hasher, kernarg + argument->offset,
                     (size_t)argument->size);
    return;
  }
  memcpy(&pointer, kernarg + argument->offset, sizeof pointer);
  if (ws_sim_find(ws__hip_device.sim, pointer, &begin, &bytes)) {
    place[0] = bytes;
    place[1] = (uint64_t)((uintptr_t)pointer - (uintptr_t)begin);
  }
  ws_hasher_update(hasher, place, sizeof place);
}

/* What the Infinity Cache holds of the buffers decides the time, too. */
static void hash_held(ws_hasher *hasher, const ws_sim_launch *launch) {
  const unsigned char *kernarg = launch->kernarg;
  for (size_t at = 0; at + 8 <= launch->kernarg_size; at += 8) {
    void *pointer;
    memcpy(&pointer, kernarg + at, sizeof pointer);
    const int held = ws_sim_held(ws__hip_device.sim, pointer);
    ws_hasher_update(hasher, &held, sizeof held);
  }
}

static ws_hash key_of(const ws_sim_launch *launch) {
  const ws_sim_kernel_info *info = ws_sim_kernel_info_of(launch->kernel);
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update(hasher, &launch->kernel, sizeof launch->kernel);
  ws_hasher_update(hasher, launch->grid, sizeof launch->grid);
  ws_hasher_update(hasher, launch->block, sizeof launch->block);
  ws_hasher_update(hasher, &launch->dynamic_lds, sizeof launch->dynamic_lds);
  ws_hasher_update(hasher, &launch->sample_seed, sizeof launch->sample_seed);
  for (int i = 0; i < info->arg_count; i++)
    if (!ws__hip_argument_is_hidden(&info->args[i]))
      hash_argument(hasher, &info->args[i], launch->kernarg);
  if (ws__hip_device.settings.residency == WS_SIM_CHAIN)
    hash_held(hasher, launch);
  return ws_hasher_finish(hasher);
}

static const known_time *find_time(const ws_hash *key) {
  for (size_t i = 0; i < known_count; i++)
    if (!strcmp(known[i].key.hex, key->hex))
      return &known[i];
  return NULL;
}

static void keep_time(const ws_hash *key, const ws_sim_profile *profile) {
  if (known_count == known_capacity) {
    size_t wanted = known_capacity ? known_capacity * 2 : 64;
    known_time *larger = realloc(known, wanted * sizeof *larger);
    if (!larger)
      return; /* it will be timed again */
    known = larger;
    known_capacity = wanted;
  }
  known[known_count++] =
      (known_time){*key, profile->us, profile->instructions};
}

/* What a launch costs when its time is not asked for: the floor of trivial
 * kernels (research/problem.md 4.1), also part of the model. */
static const double launch_floor_us = 2.5;

/* ---- doing -----------------------------------------------------------------
 */

typedef struct outcome {
  double us, instructions;
  bool ran, timed; /* report, profile are there */
  ws_sim_report report;
  ws_sim_profile profile;
} outcome;

/* false: the model could not; diag says why. */
static bool time_launch(const ws_sim_launch *launch, ws_arena *arena,
                        outcome *out, ws_diag *diag) {
  const ws_settings *settings = &ws__hip_device.settings;
  ws_hash key = {""};
  if (!settings->time_each) {
    key = key_of(launch);
    const known_time *before = find_time(&key);
    if (before) {
      out->us = before->us;
      out->instructions = before->instructions;
      return true;
    }
  }
  if (ws_sim_time(ws__hip_device.sim, launch, settings->residency, arena,
                  &out->profile, diag) != WS_OK)
    return false;
  out->timed = true;
  out->us = out->profile.us;
  out->instructions = out->profile.instructions;
  if (!settings->time_each)
    keep_time(&key, &out->profile);
  return true;
}

static hipError_t error_of(const ws_sim_finding *finding) {
  static const struct {
    const char *id;
    hipError_t error;
  } errors[] = {{"oob-global", hipErrorIllegalAddress},
                {"use-after-free", hipErrorIllegalAddress},
                {"write-to-code", hipErrorIllegalAddress},
                {"infinite-loop", hipErrorLaunchTimeOut}};
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    if (!strcmp(finding->id, errors[i].id))
      return errors[i].error;
  return hipErrorLaunchFailure;
}

static void log_finding(const ws_sim_finding *finding, ws_log_level level) {
  char place[512] = "";
  if (finding->line > 0)
    snprintf(place, sizeof place, ", %s (%s:%d)", finding->region,
             finding->file, finding->line);
  ws_log(ws__hip_device.settings.report ? WS_LOG_INFO : level,
         "%s: kernel %s, workgroup (%u,%u,%u), wave %d, lane %d, pc 0x%llx "
         "\"%s\"%s: %s",
         finding->id, finding->kernel, finding->workgroup[0],
         finding->workgroup[1], finding->workgroup[2], finding->wave,
         finding->lane, (unsigned long long)finding->pc, finding->instruction,
         place, finding->text);
}

/* ---- launches that may be too long (wavesmith/sim.h) ---- */

static int64_t limit; /* 0: none */
static int cut;

int wavesmith_sim_limit(int64_t wave_instructions) {
  ws__hip_enter();
  int before = cut;
  limit = wave_instructions;
  cut = 0;
  ws__hip_leave(hipSuccess);
  return before;
}

static int64_t budget_of(const ws_sim_launch *launch) {
  double waves = 1;
  for (int i = 0; i < 3; i++)
    waves *= launch->grid[i];
  waves *=
      ceil((double)launch->block[0] * launch->block[1] * launch->block[2] / 64);
  return limit ? (int64_t)fmax((double)limit / waves, 1) : 0;
}

/* Nothing else was found in it. */
static bool is_cut(const ws_sim_report *report) {
  for (int i = 0; i < report->finding_count; i++)
    if (strcmp(report->findings[i].id, "infinite-loop"))
      return false;
  return limit && report->finding_count;
}

static void take_findings(ws_sim_report *report) {
  if (is_cut(report)) {
    cut++;
    report->finding_count = 0;
    return;
  }
  for (int i = 0; i < report->finding_count; i++)
    log_finding(&report->findings[i], WS_LOG_ERROR);
  for (int i = 0; i < report->note_count; i++)
    log_finding(&report->notes[i], WS_LOG_WARN);
  if (report->finding_count)
    ws__hip_device.sticky = error_of(&report->findings[0]);
}

/* ---- the report's line
 * -------------------------------------------------------- */

static cJSON *extents(const uint32_t values[3]) {
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < 3; i++)
    cJSON_AddItemToArray(array, cJSON_CreateNumber(values[i]));
  return array;
}

static void add_explanation(cJSON *line, const ws_sim_profile *profile) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_sim_explain(profile, &text);
  cJSON_AddStringToObject(line, "text", text.data);
  ws_strbuf_deinit(&text);
}

static cJSON *to_json(const ws_sim_launch *launch, const outcome *result) {
  const ws_sim_kernel_info *info = ws_sim_kernel_info_of(launch->kernel);
  cJSON *line = cJSON_CreateObject();
  cJSON_AddNumberToObject(line, "launch", (double)ws__hip_device.launches);
  cJSON_AddNumberToObject(line, "model", WS_SIM_MODEL_VERSION);
  cJSON_AddStringToObject(line, "kernel", info->name);
  cJSON_AddItemToObject(line, "grid", extents(launch->grid));
  cJSON_AddItemToObject(line, "block", extents(launch->block));
  cJSON_AddNumberToObject(line, "dynamic_lds", launch->dynamic_lds);
  cJSON_AddNumberToObject(line, "us", result->us);
  if (result->ran)
    cJSON_AddItemToObject(line, "report",
                          ws_sim_report_to_json(&result->report));
  if (result->timed) {
    cJSON_AddItemToObject(line, "profile",
                          ws_sim_profile_to_json(&result->profile));
    add_explanation(line, &result->profile);
  }
  return line;
}

/* One write per line: several processes may share the file. */
static void append_line(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  ws_strbuf line;
  ws_strbuf_init(&line);
  ws_strbuf_puts(&line, text);
  ws_strbuf_puts(&line, "\n");
  if (file < 0 || write(file, line.data, line.size) != (ssize_t)line.size)
    ws_log(WS_LOG_WARN, "WAVESMITH_SIM_REPORT: cannot write %s", path);
  if (file >= 0)
    close(file);
  ws_strbuf_deinit(&line);
}

static void write_report(const ws_sim_launch *launch, const outcome *result) {
  const char *path = ws__hip_device.settings.report;
  if (!path)
    return;
  cJSON *line = to_json(launch, result);
  char *text = cJSON_PrintUnformatted(line);
  if (text)
    append_line(path, text);
  cJSON_free(text);
  cJSON_Delete(line);
}

/* ---- all of it --------------------------------------------------------------
 */

/* Launches of at most so many wave instructions are run where others are only
 * timed: what prepares another one (clears its flags) decides what that does,
 * and takes no time. */
static const double few_instructions = 4096;

/* What is known of its buffers after a launch that was timed. */
static void leave_results(const ws_sim_launch *launch, double instructions,
                          ws_arena *arena) {
  ws_sim *sim = ws__hip_device.sim;
  ws_sim_report report;
  ws_diag diag;
  const bool runs = instructions <= few_instructions &&
                    ws_sim_note_results(sim, launch, true);
  if (!runs ||
      ws_sim_run(sim, launch, arena, &report, &diag) != WS_OK ||
      report.finding_count) /* it needs what is not known itself */
    ws_sim_note_results(sim, launch, false);
}

/* The model first, then the run. Wrong launches are errors of the call, what
 * the kernel does is the device's. */
static hipError_t simulate(const ws_sim_launch *launch, ws_arena *arena,
                           outcome *out) {
  ws_hipsim_mode mode = ws__hip_device.settings.mode;
  ws_diag model = {0}, diag = {0};
  out->us = launch_floor_us;
  bool timed = mode == WS_HIPSIM_RUN || time_launch(launch, arena, out, &model);
  ws_sim_touch_launch(ws__hip_device.sim, launch);
  if (mode == WS_HIPSIM_TIME)
    leave_results(launch, timed ? out->instructions : HUGE_VAL, arena);
  else {
    if (ws_sim_run(ws__hip_device.sim, launch, arena, &out->report, &diag) !=
        WS_OK) {
      ws_log(WS_LOG_ERROR, "%s", diag.text);
      return hipErrorInvalidValue;
    }
    out->ran = true;
    take_findings(&out->report);
  }
  if (!timed && !ws__hip_device.sticky) {
    ws_log(WS_LOG_ERROR, "the model: %s", model.text);
    ws__hip_device.sticky = hipErrorLaunchFailure;
  }
  return hipSuccess;
}

hipError_t ws__hip_do_launch(ws_stream *stream,
                             const struct ws_launch_operation *operation) {
  ws_sim_launch launch = {.kernel = ws__hip_kernel(operation->function),
                          .dynamic_lds = operation->lds,
                          .kernarg = operation->kernarg,
                          .kernarg_size = operation->kernarg_size,
                          .sample_seed = ws__hip_sample_seed()};
  if (!launch.kernel)
    return hipErrorInvalidHandle;
  memcpy(launch.grid, operation->grid, sizeof launch.grid);
  memcpy(launch.block, operation->block, sizeof launch.block);
  launch.budget = budget_of(&launch);
  ws_arena *arena = ws_arena_create();
  outcome result = {0};
  ws__hip_memory_mirror(true);
  hipError_t error = simulate(&launch, arena, &result);
  if (result.ran)
    ws__hip_memory_mirror(false);
  ws__hip_device.launches++;
  if (!error) {
    result.us = ws__hip_us_now(result.us);
    ws__hip_advance(stream, &ws__hip_device.compute_us, result.us);
    write_report(&launch, &result);
  }
  ws_arena_destroy(arena);
  return error;
}

/* ---- entry points
 * ------------------------------------------------------------ */

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned lds,
                                 hipStream_t stream, void **params,
                                 void **extra) {
  ws_launch_request request = {.function = function,
                               .grid = {grid_x, grid_y, grid_z},
                               .block = {block_x, block_y, block_z},
                               .lds = lds,
                               .stream = stream,
                               .params = params,
                               .extra = extra};
  HIP_WORK(ws__hip_launch(&request));
}

/* Sizes in threads; a last workgroup that is not full is not simulated. */
static hipError_t launch_threads(ws_launch_request *request) {
  for (int i = 0; i < 3; i++) {
    if (!request->block[i] || request->grid[i] % request->block[i])
      return refuse("a kernel", "the grid is no multiple of the block",
                    hipErrorInvalidConfiguration);
    request->grid[i] /= request->block[i];
  }
  return ws__hip_launch(request);
}

/* hip_ext.h declares these for C++ only. */
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t threads_x,
                                    uint32_t threads_y, uint32_t threads_z,
                                    uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t lds,
                                    hipStream_t stream, void **params,
                                    void **extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t flags);
hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t threads_x,
                                    uint32_t threads_y, uint32_t threads_z,
                                    uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t lds,
                                    hipStream_t stream, void **params,
                                    void **extra, hipEvent_t start,
                                    hipEvent_t stop);

hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t threads_x,
                                    uint32_t threads_y, uint32_t threads_z,
                                    uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t lds,
                                    hipStream_t stream, void **params,
                                    void **extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t flags) {
  (void)flags;
  ws_launch_request request = {.function = function,
                               .grid = {threads_x, threads_y, threads_z},
                               .block = {block_x, block_y, block_z},
                               .lds = lds,
                               .stream = stream,
                               .params = params,
                               .extra = extra,
                               .start = start,
                               .stop = stop};
  HIP_WORK(launch_threads(&request));
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t threads_x,
                                    uint32_t threads_y, uint32_t threads_z,
                                    uint32_t block_x, uint32_t block_y,
                                    uint32_t block_z, size_t lds,
                                    hipStream_t stream, void **params,
                                    void **extra, hipEvent_t start,
                                    hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, threads_x, threads_y, threads_z,
                                  block_x, block_y, block_z, lds, stream,
                                  params, extra, start, stop, 0);
}
