/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Launches through the HIP ABI: arguments, faults, occupancy, graphs, reports.
 * Each test is a process of its own, so that it may set the environment.
 */
#include "hipsim_test.h"

#include <cjson/cJSON.h>
#include <stdint.h>

static unsigned *words_of(const void *device, size_t count) {
  unsigned *words = test_memory(count * 4);
  OK(hipMemcpy(words, device, count * 4, hipMemcpyDeviceToHost));
  return words;
}

static hipError_t bump_spin(unsigned rounds, void *out, hipStream_t stream) {
  void *params[] = {&rounds, &out};
  return launch("spin", 4, 64, 0, stream, params);
}

/* ---- arguments -------------------------------------------------------------
 */

WS_TEST(params_reach_the_kernel) {
  enum { N = 700 };
  float a = 1.5f, x[N], y[N];
  unsigned n = N;
  void *device_x = device_words(N, 0), *device_y = device_words(N, 0);
  void *params[] = {&a, &device_x, &device_y, &n};
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = -2;
  }
  OK(hipMemcpy(device_x, x, sizeof x, hipMemcpyHostToDevice));
  OK(hipMemcpy(device_y, y, sizeof y, hipMemcpyHostToDevice));
  OK(launch("saxpy", 3, 256, 0, NULL, params));
  OK(hipMemcpy(y, device_y, sizeof y, hipMemcpyDeviceToHost));
  for (int i = 0; i < N; i++)
    WS_CHECK(y[i] == 1.5f * (float)i - 2);
}

WS_TEST(extra_is_the_kernarg_segment) {
  enum { N = 64 };
  struct {
    void *x, *y;
    unsigned n;
  } arguments = {device_words(N, 77), device_words(N, 0), N};
  size_t size = 20;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  hipFunction_t copy = kernel_of("copy_words");
  OK(hipModuleLaunchKernel(copy, 1, 1, 1, N, 1, 1, 0, NULL, NULL, extra));
  WS_CHECK_INT(words_of(arguments.y, N)[N - 1], 77);
  size = 16; /* n is missing */
  FAILS(hipModuleLaunchKernel(copy, 1, 1, 1, N, 1, 1, 0, NULL, NULL, extra),
        hipErrorInvalidValue);
}

WS_TEST(wrong_launches_are_refused) {
  void *out = device_words(64, 0);
  void *params[] = {&out}, *nothing[] = {NULL};
  FAILS(launch("small_block", 0, 64, 0, NULL, params),
        hipErrorInvalidConfiguration);
  FAILS(launch("small_block", 1, 0, 0, NULL, params),
        hipErrorInvalidConfiguration);
  FAILS(launch("small_block", 1, 2048, 0, NULL, params),
        hipErrorInvalidConfiguration);
  FAILS(launch("small_block", 1, 129, 0, NULL, params),
        hipErrorInvalidConfiguration);
  FAILS(launch("small_block", 0xffffffffu, 64, 0, NULL, params),
        hipErrorInvalidConfiguration);
  FAILS(launch("reverse", 1, 64, 65537, NULL, params), hipErrorInvalidValue);
  FAILS(launch("small_block", 1, 64, 0, NULL, NULL), hipErrorInvalidValue);
  FAILS(launch("small_block", 1, 64, 0, NULL, nothing), hipErrorInvalidValue);
  OK(hipDeviceSynchronize());
  OK(launch("small_block", 1, 64, 0, NULL, params));
  WS_CHECK_INT(words_of(out, 64)[63], 63);
}

WS_TEST(dynamic_lds_is_there) {
  void *data = device_words(512, 0);
  unsigned words[512];
  void *params[] = {&data};
  for (unsigned i = 0; i < 512; i++)
    words[i] = i;
  OK(hipMemcpy(data, words, sizeof words, hipMemcpyHostToDevice));
  OK(launch("reverse", 2, 256, 1024, NULL, params));
  unsigned *got = words_of(data, 512);
  for (unsigned i = 0; i < 512; i++)
    WS_CHECK_INT(got[i], i / 256 * 256 + 255 - i % 256);
}

WS_TEST(ext_launch_counts_threads_and_records) {
  hipError_t hipExtModuleLaunchKernel(
      hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
      size_t, hipStream_t, void **, void **, hipEvent_t, hipEvent_t, uint32_t);
  void *out = device_words(256, 0);
  unsigned rounds = 3;
  float ms = 0;
  hipEvent_t start, stop;
  void *params[] = {&rounds, &out};
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));
  OK(hipExtModuleLaunchKernel(kernel_of("spin"), 256, 1, 1, 64, 1, 1, 0, NULL,
                              params, NULL, start, stop, 0));
  OK(hipEventElapsedTime(&ms, start, stop));
  WS_CHECK(ms > 0);
  FAILS(hipExtModuleLaunchKernel(kernel_of("spin"), 100, 1, 1, 64, 1, 1, 0,
                                 NULL, params, NULL, NULL, NULL, 0),
        hipErrorInvalidConfiguration);
}

WS_TEST(variables_of_a_module) {
  hipModule_t module;
  hipDeviceptr_t counter;
  size_t bytes = 0;
  unsigned value = 99, out[2];
  void *device_out = device_words(2, 0), *unused = NULL;
  void *params[] = {&device_out, &unused};
  hipFunction_t bump;
  OK(hipModuleLoad(&module, WS_KERNELS));
  OK(hipModuleGetGlobal(&counter, &bytes, module, "counter"));
  WS_CHECK_INT(bytes, 4);
  OK(hipMemcpyHtoD(counter, &value, 4));
  OK(hipModuleGetFunction(&bump, module, "bump"));
  OK(hipModuleLaunchKernel(bump, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
  OK(hipMemcpyDtoH(out, device_out, sizeof out));
  WS_CHECK(out[0] == 100 && out[1] == 8);
  FAILS(hipModuleGetGlobal(&counter, &bytes, module, "no_such"),
        hipErrorNotFound);
  FAILS(hipModuleGetFunction(&bump, module, "no_such"), hipErrorNotFound);
}

/* Registered memory has an address of its own on the device; both are up to
 * date when a call returns. */
WS_TEST(registered_memory_is_reached_by_its_device_address) {
  unsigned *words = test_memory(4096), n = 64, *device, *got;
  void *out = device_words(64, 0);
  hipPointerAttribute_t attributes;
  for (unsigned i = 0; i < 1024; i++)
    words[i] = i;
  OK(hipHostRegister(words, 4096, hipHostRegisterDefault));
  FAILS(hipHostRegister(words + 10, 4, hipHostRegisterDefault),
        hipErrorHostMemoryAlreadyRegistered);
  OK(hipHostGetDevicePointer((void **)&device, words + 64, 0));
  OK(hipPointerGetAttributes(&attributes, words));
  WS_CHECK_INT(attributes.type, hipMemoryTypeHost);
  void *params[] = {&device, &out, &n};
  OK(launch("copy_words", 1, 64, 0, NULL, params));
  got = words_of(out, 64);
  for (unsigned i = 0; i < 64; i++)
    WS_CHECK_INT(got[i], 64 + i);
  void *backward[] = {&out, &device, &n};
  OK(hipMemsetD32(out, 5, 64));
  OK(launch("copy_words", 1, 64, 0, NULL, backward));
  WS_CHECK(words[63] == 63 && words[64] == 5 && words[128] == 128);
  OK(hipMemset(device, 0, 4));
  WS_CHECK_INT(words[64], 0);
  words[65] = 77;
  OK(hipMemcpy(out, device, 8, hipMemcpyDeviceToDevice));
  WS_CHECK_INT(words_of(out, 2)[1], 77);
  FAILS(hipFree(words), hipErrorInvalidValue);
  FAILS(hipHostFree(words), hipErrorInvalidValue);
  OK(hipHostUnregister(words));
  FAILS(hipHostUnregister(words), hipErrorHostMemoryNotRegistered);
  FAILS(hipHostRegister(NULL, 4, 0), hipErrorInvalidValue);
  FAILS(hipHostRegister((void *)16, 4, 0), hipErrorInvalidValue);
}

/* ---- faults ----------------------------------------------------------------
 */

static hipError_t copy_too_far(unsigned n) {
  void *x = device_words(64, 1), *y = device_words(64, 1);
  void *params[] = {&x, &y, &n};
  return launch("copy_words", 2, 64, 0, NULL, params);
}

WS_TEST(out_of_bounds_is_an_illegal_address_until_reset) {
  OK(copy_too_far(64));
  OK(hipDeviceSynchronize());
  OK(copy_too_far(65));
  FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
  FAILS(hipStreamSynchronize(NULL), hipErrorIllegalAddress);
  FAILS(hipGetLastError(), hipErrorIllegalAddress);
  FAILS(hipGetLastError(), hipErrorIllegalAddress);
  void *memory = NULL;
  OK(hipMalloc(&memory, 64));
  FAILS(hipMemset(memory, 0, 64), hipErrorIllegalAddress);
  OK(hipFree(memory));
  OK(hipDeviceReset());
  OK(hipGetLastError() ? hipGetLastError() : hipSuccess);
  FAILS(hipFree(memory), hipErrorInvalidValue);
  OK(copy_too_far(64));
  OK(hipDeviceSynchronize());
}

WS_TEST(trap_is_a_launch_failure) {
  void *out = device_words(1, 0);
  void *params[] = {&out};
  OK(launch("stop_here", 1, 64, 0, NULL, params));
  FAILS(hipDeviceSynchronize(), hipErrorLaunchFailure);
}

WS_TEST(endless_loop_is_a_time_out) {
  setenv("WAVESMITH_SIM_BUDGET", "20000", 1); /* of the run, not the model */
  setenv("WAVESMITH_SIM_MODE", "run", 1);
  void *flag = device_words(1, 0);
  void *params[] = {&flag};
  OK(launch("spin_forever", 1, 64, 0, NULL, params));
  FAILS(hipDeviceSynchronize(), hipErrorLaunchTimeOut);
}

WS_TEST(freed_memory_is_an_illegal_address) {
  void *x = device_words(64, 1), *y = device_words(64, 1);
  unsigned n = 64;
  void *params[] = {&x, &y, &n};
  OK(hipFree(x));
  OK(launch("copy_words", 1, 64, 0, NULL, params));
  FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
}

/* ---- occupancy --------------------------------------------------------------
 */

/* VGPRs to waves a SIMD: 512 / registers, CDNA3 ISA guide and LLVM's
 * AMDGPUUsage. 256 threads are one wave on each SIMD, so that blocks a CU are
 * waves a SIMD. */
WS_TEST(occupancy_by_registers) {
  static const struct {
    const char *name;
    int registers, waves;
  } rows[] = {{"registers_64", 64, 8},   {"registers_72", 72, 7},
              {"registers_80", 80, 6},   {"registers_96", 96, 5},
              {"registers_128", 128, 4}, {"registers_168", 168, 3},
              {"registers_256", 256, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int blocks = 0, registers = 0;
    hipFunction_t function = kernel_of(rows[i].name);
    OK(hipFuncGetAttribute(&registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, function));
    WS_CHECK_INT(registers, rows[i].registers);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function,
                                                          256, 0));
    WS_CHECK_INT(blocks, rows[i].waves);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64,
                                                          0));
    WS_CHECK_INT(blocks, 4 * rows[i].waves);
  }
}

WS_TEST(occupancy_by_lds) {
  static const struct {
    size_t lds;
    int blocks;
  } rows[] = {{0, 8},     {8192, 8},  {8193, 7},    {16384, 4},
              {13056, 4}, {16385, 3}, {32768, 2},   {32769, 1},
              {65536, 1}, {65537, 0}, {SIZE_MAX, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int blocks = -1;
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel_of("reverse"), 256, rows[i].lds));
    WS_CHECK_INT(blocks, rows[i].blocks);
  }
}

WS_TEST(best_block_fills_the_device) {
  int grid = 0, block = 0;
  OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, kernel_of("saxpy"),
                                             0, 0));
  WS_CHECK_INT(grid * block, 304 * 2048);
  OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block,
                                             kernel_of("small_block"), 0, 0));
  WS_CHECK(block == 128 && grid * block == 304 * 2048);
}

WS_TEST(function_attributes) {
  hipFuncAttributes attributes;
  int value = 0;
  OK(hipFuncGetAttributes(&attributes, kernel_of("small_block")));
  WS_CHECK_INT(attributes.maxThreadsPerBlock, 128);
  WS_CHECK_INT(attributes.maxDynamicSharedSizeBytes, 65536);
  OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                         kernel_of("saxpy")));
  WS_CHECK_INT(value, 1024);
  OK(hipFuncSetAttribute(kernel_of("saxpy"),
                         hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
  FAILS(hipFuncSetAttribute(kernel_of("saxpy"),
                            hipFuncAttributeMaxDynamicSharedMemorySize, 65537),
        hipErrorInvalidValue);
}

/* ---- time of launches
 * --------------------------------------------------------- */

WS_TEST(longer_kernels_take_longer) {
  void *out = device_words(256, 0);
  double few, many, again;
  ELAPSED_US(few, NULL, bump_spin(10, out, NULL));
  ELAPSED_US(many, NULL, bump_spin(20000, out, NULL));
  ELAPSED_US(again, NULL, bump_spin(10, out, NULL));
  WS_CHECK(few > 0 && many > 10 * few);
  WS_CHECK_NEAR(again, few, few * 1e-3);
}

/* Buffers of one size share a time: a rotation is timed once. */
WS_TEST(each_and_once_agree) {
  double once, each;
  void *a = device_words(256, 0), *b = device_words(256, 0);
  ELAPSED_US(once, NULL, bump_spin(100, a, NULL));
  ELAPSED_US(each, NULL, bump_spin(100, b, NULL));
  WS_CHECK_NEAR(each, once, once * 1e-3);
}

WS_TEST(mode_run_takes_the_floor) {
  setenv("WAVESMITH_SIM_MODE", "run", 1);
  void *out = device_words(256, 0);
  double us;
  ELAPSED_US(us, NULL, bump_spin(1000, out, NULL));
  WS_CHECK_NEAR(us, 2.5, 1e-3);
  WS_CHECK(words_of(out, 256)[0] != 0);
}

/* Short ones are run (test_results.c). */
WS_TEST(in_mode_time_long_launches_change_no_memory) {
  setenv("WAVESMITH_SIM_MODE", "time", 1);
  void *out = device_words(256, 5);
  double us;
  ELAPSED_US(us, NULL, bump_spin(100000, out, NULL));
  WS_CHECK(us > 2.5);
  unsigned *words = words_of(out, 256);
  for (int i = 0; i < 256; i++)
    WS_CHECK_INT(words[i], 5);
}

/* ---- reports ----------------------------------------------------------------
 */

WS_TEST(report_has_a_line_per_launch) {
  char path[] = "/tmp/hipsim_report_XXXXXX";
  int file = mkstemp(path);
  WS_CHECK(file >= 0 && !close(file));
  setenv("WAVESMITH_SIM_REPORT", path, 1);
  void *out = device_words(256, 0), *other = device_words(256, 0);
  OK(bump_spin(10, out, NULL));
  OK(bump_spin(10, other, NULL)); /* of the same size: timed already */
  OK(copy_too_far(65));
  FILE *report = fopen(path, "r");
  static char line[1 << 20];
  int lines = 0;
  while (fgets(line, sizeof line, report)) {
    cJSON *json = cJSON_Parse(line);
    WS_CHECK(json != NULL);
    const cJSON *findings =
        cJSON_GetObjectItem(cJSON_GetObjectItem(json, "report"), "findings");
    WS_CHECK_TEXT(cJSON_GetObjectItem(json, "kernel")->valuestring,
                  lines < 2 ? "spin" : "copy_words");
    WS_CHECK((cJSON_GetArraySize(findings) > 0) == (lines == 2));
    WS_CHECK((cJSON_GetObjectItem(json, "profile") != NULL) == (lines == 0));
    cJSON_Delete(json);
    lines++;
  }
  WS_CHECK_INT(lines, 3);
  fclose(report);
  unlink(path);
}

/* ---- graphs ----------------------------------------------------------------
 */

static hipError_t add_one(float *y, hipStream_t stream) {
  static float *ones;
  float a = 1;
  unsigned n = 64;
  if (!ones)
    ones = device_words(64, 0x3f800000);
  void *params[] = {&a, &ones, &y, &n};
  return launch("saxpy", 1, 64, 0, stream, params);
}

static float first_float(const void *device) {
  float value;
  OK(hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost));
  return value;
}

WS_TEST(graph_replays_what_was_captured) {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipStreamCaptureStatus status;
  float *y = device_words(64, 0), *copy = device_words(64, 0);
  OK(add_one(y, NULL)); /* what is not to be captured has been made */
  OK(hipStreamCreate(&stream));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipStreamIsCapturing(stream, &status));
  WS_CHECK_INT(status, hipStreamCaptureStatusActive);
  OK(add_one(y, stream));
  OK(add_one(y, stream));
  OK(hipMemcpyAsync(copy, y, 256, hipMemcpyDeviceToDevice, stream));
  FAILS(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipStreamIsCapturing(stream, &status));
  WS_CHECK_INT(status, hipStreamCaptureStatusNone);
  WS_CHECK(first_float(y) == 1);
  OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  OK(hipGraphDestroy(graph));
  for (int i = 0; i < 3; i++)
    OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  WS_CHECK(first_float(y) == 7 && first_float(copy) == 7);
  OK(hipGraphExecDestroy(exec));
  FAILS(hipGraphLaunch(exec, stream), hipErrorInvalidValue);
}

WS_TEST(capture_forks_and_joins) {
  hipStream_t a, b;
  hipEvent_t fork_event, join_event;
  hipGraph_t graph;
  hipGraphExec_t exec;
  hipStreamCaptureStatus status;
  float *y = device_words(64, 0);
  OK(add_one(y, NULL));
  OK(hipStreamCreate(&a));
  OK(hipStreamCreate(&b));
  OK(hipEventCreate(&fork_event));
  OK(hipEventCreate(&join_event));
  OK(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed));
  OK(hipEventRecord(fork_event, a));
  OK(hipStreamWaitEvent(b, fork_event, 0));
  OK(add_one(y, b));
  FAILS(hipStreamEndCapture(b, &graph), hipErrorStreamCaptureUnmatched);
  OK(hipEventRecord(join_event, b));
  OK(hipStreamWaitEvent(a, join_event, 0));
  OK(hipStreamEndCapture(a, &graph));
  OK(hipStreamIsCapturing(b, &status));
  WS_CHECK_INT(status, hipStreamCaptureStatusNone);
  OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  OK(hipGraphLaunch(exec, NULL));
  WS_CHECK(first_float(y) == 2);
}

WS_TEST(wrong_captures_are_errors) {
  hipStream_t stream;
  hipGraph_t graph;
  OK(hipStreamCreate(&stream));
  FAILS(hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal),
        hipErrorStreamCaptureUnsupported);
  FAILS(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  FAILS(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
        hipErrorIllegalState);
  FAILS(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
  OK(hipStreamDestroy(stream));
  OK(hipDeviceSynchronize());
}

/* A graph outlives the module of its kernels: an error, not a crash. */
WS_TEST(graph_of_an_unloaded_module) {
  hipStream_t stream;
  hipModule_t module;
  hipFunction_t function;
  hipGraph_t graph;
  hipGraphExec_t exec;
  void *out = device_words(64, 0);
  void *params[] = {&out};
  OK(hipStreamCreate(&stream));
  OK(hipModuleLoad(&module, WS_KERNELS));
  OK(hipModuleGetFunction(&function, module, "small_block"));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, params,
                           NULL));
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  OK(hipModuleUnload(module));
  FAILS(hipGraphLaunch(exec, stream), hipErrorInvalidHandle);
}
