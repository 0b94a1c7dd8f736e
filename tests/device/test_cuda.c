/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kind "cuda" against a driver that records what it is asked and runs
 * nothing (mock_cuda.c), and NVML against one like it (mock_nvml.c): opening,
 * memory, code, clocks. The calls, their order and arguments, and what becomes
 * of every error.
 */
#include "cuda_test.h"

/* ---- opening ---- */

WS_TEST(opening_asks_in_order) {
  find_mock();
  setenv("WAVESMITH_NVML_LIBRARY", "/nowhere/libnvidia-ml.so", 1);
  setenv("MOCK_CUDA_DEVICES", "4", 1);
  need(try_open("cuda:2", WS_MOCK_CUDA));
  WS_CHECK_TEXT(recorded(), "cuInit 0\n"
                            "cuDeviceGetCount \n"
                            "cuDeviceGet 2\n"
                            "cuDeviceGetName 202\n"
                            "cuDeviceTotalMem_v2 202\n"
                            "cuDeviceGetUuid_v2 202\n"
                            "cuDeviceGetAttribute 75 202\n"
                            "cuDeviceGetAttribute 76 202\n"
                            "cuDeviceGetAttribute 16 202\n"
                            "cuDeviceGetAttribute 38 202\n"
                            "cuDeviceGetAttribute 13 202\n"
                            "cuDeviceGetAttribute 36 202\n"
                            "cuDevicePrimaryCtxRetain 202\n"
                            "cuCtxSetCurrent it\n"
                            "cuStreamCreate 1\n"
                            "cuDriverGetVersion \n");
  clear();
  close_mock();
  WS_CHECK_TEXT(recorded(), "cuStreamDestroy_v2 s1\n"
                            "cuCtxSetCurrent none\n"
                            "cuDevicePrimaryCtxRelease_v2 202\n");
}

WS_TEST(info_names_the_card) {
  open_mock();
  const ws_device_info *info = ws_device_info_of(device);
  WS_CHECK_TEXT(info->kind, "cuda");
  WS_CHECK_TEXT(info->name, "NVIDIA H200");
  WS_CHECK_TEXT(info->arch, "sm_90a");
  WS_CHECK_TEXT(info->provenance, "cuda:NVIDIA H200");
  WS_CHECK_TEXT(info->library, WS_MOCK_CUDA);
  WS_CHECK_TEXT(info->driver, "CUDA 13.2"); /* without NVML */
  WS_CHECK_TEXT(info->lock, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  WS_CHECK_INT(info->cu_count, 132);
  WS_CHECK_INT(info->memory_bytes, 150ll << 30);
  WS_CHECK_INT(info->cache_bytes, 60 << 20);
  WS_CHECK_INT(info->clock_mhz, 1980);
  WS_CHECK_INT(info->memory_clock_mhz, 3201);
  WS_CHECK(info->graphs && !info->simulated && !info->dry_timing);
  WS_CHECK_TEXT(ws_device_take_report(device, arena), "");
  close_mock();
}

WS_TEST(kinds_and_indices) {
  static const char *const none[] = {"cuda:",   "cuda:-1",   "cuda:1x",
                                     "cuda :1", "cuda:1000", "cud",
                                     "cuda1",   "CUDA",      ""};
  find_mock();
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    check_failure(try_open(none[i], WS_MOCK_CUDA), WS_USAGE,
                  "unknown device '");
  check_failure(ws_device_open(NULL, WS_DEVICE_RUN, &device, &diag), WS_USAGE,
                "cuda (an NVIDIA GPU)");
  check_failure(try_open("cuda:1", WS_MOCK_CUDA), WS_ENVIRONMENT,
                "there is no cuda:1; the last one visible is cuda:0");
  WS_CHECK_INT(live(), 0);
  need(try_open("cuda:0", WS_MOCK_CUDA));
  close_mock();
}

WS_TEST(no_library_no_device) {
  find_mock();
  check_failure(try_open("cuda", "/nowhere/libcuda.so.1"), WS_ENVIRONMENT,
                "WAVESMITH_CUDA_LIBRARY: /nowhere/libcuda.so.1");
  check_failure(try_open("cuda", "libm.so.6"), WS_ENVIRONMENT,
                "lacks cuGetErrorName");
  setenv("MOCK_CUDA_DEVICES", "0", 1);
  check_failure(try_open("cuda", WS_MOCK_CUDA), WS_ENVIRONMENT,
                "no NVIDIA GPU is visible");
  WS_CHECK(!device);
}

/* Whichever call fails, what was taken is given back. */
WS_TEST(opening_fails_at_every_call) {
  static const struct {
    const char *failure, *text;
  } cases[] = {
      {"cuInit=34", "stub for linking; install NVIDIA's driver"},
      {"cuInit=100", "no NVIDIA GPU is visible"},
      {"cuInit=802", "nvidia-fabricmanager"},
      {"cuInit=803", "of different versions"},
      {"cuInit=804", "the driver is too old"},
      {"cuInit=999", "CUDA_ERROR_UNKNOWN (999): the driver says no more"},
      {"cuInit=401", "has no name for (401): the operation cannot be"},
      {"cuDeviceGetCount=100", "no NVIDIA GPU is visible"},
      {"cuDeviceGet=101", "CUDA_ERROR_INVALID_DEVICE"},
      {"cuDeviceGetName=999", "cuDeviceGetName: CUDA_ERROR_UNKNOWN"},
      {"cuDeviceTotalMem_v2=999", "cuDeviceTotalMem: "},
      {"cuDeviceGetUuid_v2=999", "cuDeviceGetUuid: "},
      {"cuDeviceGetAttribute=999@4", "cuDeviceGetAttribute: "},
      {"cuDevicePrimaryCtxRetain=2", "the card's memory is used up"},
      {"cuDevicePrimaryCtxRetain=46", "another process holds the card alone"},
      {"cuCtxSetCurrent=999", "cuCtxSetCurrent: "},
      {"cuStreamCreate=2", "cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY"},
  };
  find_mock();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fail_with(cases[i].failure);
    check_failure(try_open("cuda", WS_MOCK_CUDA), WS_ENVIRONMENT,
                  cases[i].text);
    WS_CHECK(!device);
    WS_CHECK_INT(live(), 0);
  }
}

/* ---- memory ---- */

WS_TEST(memory_and_copies) {
  open_mock();
  char from[300], to[300];
  void *memory, *nothing;
  for (int i = 0; i < 300; i++)
    from[i] = (char)i;
  need(ws_device_allocate(device, 300, &memory, &diag));
  need(ws_device_upload(device, memory, from, 300, &diag));
  need(ws_device_fill(device, memory, 0xab, 5, &diag));
  need(ws_device_download(device, to, memory, 300, &diag));
  need(ws_device_synchronise(device, &diag));
  need(ws_device_allocate(device, 0, &nothing, &diag));
  ws_device_free(device, memory);
  ws_device_free(device, nothing);
  ws_device_free(device, NULL);
  WS_CHECK_TEXT(recorded(), "cuMemAlloc_v2 300\n"
                            "cuMemcpyHtoDAsync_v2 300 s1\n"
                            "cuStreamSynchronize s1\n"
                            "cuMemsetD8Async 171 5 s1\n"
                            "cuMemcpyDtoHAsync_v2 300 s1\n"
                            "cuStreamSynchronize s1\n"
                            "cuStreamSynchronize s1\n"
                            "cuMemAlloc_v2 1\n"
                            "cuMemFree_v2 \n"
                            "cuMemFree_v2 \n");
  for (int i = 0; i < 300; i++)
    WS_CHECK_INT(to[i], i < 5 ? (char)0xab : (char)i);
  close_mock();
}

WS_TEST(memory_runs_out) {
  open_mock();
  void *memory = &memory;
  fail_with("cuMemAlloc_v2=2");
  check_failure(ws_device_allocate(device, 4096, &memory, &diag),
                WS_ENVIRONMENT,
                "allocating 4096 bytes: CUDA_ERROR_OUT_OF_MEMORY: ");
  WS_CHECK(!memory);
  unsetenv("MOCK_CUDA_FAIL");
  need(ws_device_allocate(device, 4096, &memory, &diag)); /* does not stick */
  ws_device_free(device, memory);
  close_mock();
}

/* ---- code ---- */

WS_TEST(ptx_is_terminated) {
  open_mock();
  size_t length = strlen(ptx);
  need(ws_device_load(device, ptx, length + 1, &module, &diag));
  char want[128];
  snprintf(want, sizeof want,
           "cuModuleLoadDataEx PTX of %zu characters, options 5 6 3 4\n",
           length);
  WS_CHECK_TEXT(recorded(), want);
  ws_device_unload(device, module);
  clear();
  char *bare = malloc(length); /* what lies behind it is none of ours */
  memcpy(bare, ptx, length);
  need(ws_device_load(device, bare, length, &module, &diag));
  free(bare);
  WS_CHECK_TEXT(recorded(), want);
  close_mock();
}

WS_TEST(refused_ptx_says_where) {
  static const char bad[] = ".version 8.0\n.target sm_90a\nbad\n";
  static const char very_bad[] = ".version 8.0\n.target sm_90a\nvery bad\n";
  open_mock();
  ws_device_module *none = (ws_device_module *)&none;
  check_failure(
      ws_device_load(device, bad, strlen(bad), &none, &diag), WS_INPUT,
      "loading the code: CUDA_ERROR_INVALID_PTX: the driver's compiler "
      "refuses the PTX (ptxas application ptx input, line 5; error   : "
      "Unknown instruction 'bad')");
  WS_CHECK(!none);
  check_failure(
      ws_device_load(device, very_bad, strlen(very_bad), &none, &diag),
      WS_INPUT, "refuses the PTX (yyyy");
  close_mock();
}

WS_TEST(ptx_newer_than_the_driver) {
  static const char newer[] = ".version 99.1\n.target sm_90a\n";
  open_mock();
  check_failure(ws_device_load(device, newer, sizeof newer, &module, &diag),
                WS_INPUT,
                "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the PTX is newer than the "
                "driver; update the driver, or build");
  close_mock();
}

/* An ELF header by the specification: class 64, machine 190; sections of 64
 * bytes at 64. */
static void make_cubin(unsigned char code[256], unsigned sections) {
  memset(code, 0, 256);
  memcpy(code,
         "\x7f"
         "ELF\x02\x01\x01",
         7);
  code[18] = 190;
  code[40] = 64; /* e_shoff */
  code[58] = 64; /* e_shentsize */
  code[60] = (unsigned char)sections;
}

WS_TEST(cubins_are_checked_before_the_driver) {
  unsigned char code[256];
  open_mock();
  make_cubin(code, 3);
  need(ws_device_load(device, code, sizeof code, &module, &diag));
  WS_CHECK_TEXT(recorded(), "cuModuleLoadDataEx cubin, 0 options\n");
  clear();
  const char *text = "no whole cubin; build it again";
  ws_device_module *none;
  check_failure(ws_device_load(device, code, 255, &none, &diag), WS_INPUT,
                text);
  unsigned char *start = malloc(63);
  memcpy(start, code, 63);
  check_failure(ws_device_load(device, start, 63, &none, &diag), WS_INPUT,
                text);
  free(start);
  make_cubin(code, 4);
  check_failure(ws_device_load(device, code, 256, &none, &diag), WS_INPUT,
                text);
  make_cubin(code, 3);
  memset(code + 40, 0xff, 8); /* the end wraps round */
  check_failure(ws_device_load(device, code, 256, &none, &diag), WS_INPUT,
                text);
  make_cubin(code, 3);
  memset(code + 32, 0xff, 8);
  check_failure(ws_device_load(device, code, 256, &none, &diag), WS_INPUT,
                text);
  make_cubin(code, 3);
  code[32] = 64; /* e_phoff, e_phentsize, e_phnum */
  code[54] = 56;
  code[56] = 4;
  check_failure(ws_device_load(device, code, 256, &none, &diag), WS_INPUT,
                text);
  make_cubin(code, 3);
  code[18] = 224; /* EM_AMDGPU */
  check_failure(ws_device_load(device, code, 256, &none, &diag), WS_INPUT,
                text);
  check_failure(ws_device_load(device, "", 1, &none, &diag), WS_INPUT,
                "1 bytes are neither a cubin nor PTX");
  WS_CHECK_TEXT(recorded(), "");
  close_mock();
}

WS_TEST(loading_fails) {
  static const struct {
    const char *failure;
    ws_status status;
    const char *text;
  } cases[] = {
      {"cuModuleLoadDataEx=200", WS_INPUT, "neither a cubin nor PTX"},
      {"cuModuleLoadDataEx=209", WS_INPUT, "another architecture"},
      {"cuModuleLoadDataEx=300", WS_INPUT, "refuses the code"},
      {"cuModuleLoadDataEx=302", WS_INPUT, "a symbol that nothing defines"},
      {"cuModuleLoadDataEx=2", WS_ENVIRONMENT, "memory is used up"},
      {"cuModuleLoadDataEx=221", WS_ENVIRONMENT, "PTX compiler is missing"},
      {"cuModuleLoadDataEx=223", WS_ENVIRONMENT, "CUDA_DISABLE_PTX_JIT"},
      {"cuModuleLoadDataEx=304", WS_ENVIRONMENT, "see dmesg"},
  };
  unsigned char cubin[256];
  make_cubin(cubin, 3);
  memcpy(cubin + 64, "old", 4);
  open_mock();
  check_failure(ws_device_load(device, cubin, sizeof cubin, &module, &diag),
                WS_INPUT,
                "the code is for another architecture than this card's; build "
                "it for this one");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fail_with(cases[i].failure);
    check_failure(ws_device_load(device, ptx, sizeof ptx, &module, &diag),
                  cases[i].status, cases[i].text);
  }
  close_mock();
}

/* ---- clocks ---- */

WS_TEST(clocks_without_nvml) {
  open_mock();
  ws_device_clocks clocks = ws_device_read_clocks(device);
  WS_CHECK_INT(clocks.mhz, 0);
  WS_CHECK_INT(clocks.memory_mhz, 0);
  WS_CHECK_INT(clocks.celsius, 0);
  WS_CHECK_NEAR(clocks.watts, 0, 0);
  WS_CHECK_TEXT(clocks.throttle, "");
  close_mock();
}

WS_TEST(clocks_by_nvml) {
  setenv("WAVESMITH_NVML_LIBRARY", WS_MOCK_NVML, 1);
  open_mock();
  WS_CHECK_TEXT(ws_device_info_of(device)->driver, "580.159.04");
  ws_device_clocks clocks = ws_device_read_clocks(device);
  WS_CHECK_INT(clocks.mhz, 1485);
  WS_CHECK_INT(clocks.memory_mhz, 3201);
  WS_CHECK_INT(clocks.celsius, 47);
  WS_CHECK_NEAR(clocks.watts, 699.125, 1e-9);
  close_mock();
}

/* Bits by NVML's documentation, "Clocks event reasons". */
WS_TEST(throttle_reasons) {
  static const struct {
    const char *bits, *want;
  } cases[] = {
      {"0", ""},           {"0x1", ""} /* idle */, {"0x4", "power"},
      {"0x80", "power"},   {"0x5", "power"},       {"0x20", "thermal"},
      {"0x48", "thermal"}, {"0x88", "power"},      {"0x2", "other"},
      {"0x8", "other"},    {"0x10", "other"},      {"0x100", "other"},
      {"0x24", "thermal"},
  };
  setenv("WAVESMITH_NVML_LIBRARY", WS_MOCK_NVML, 1);
  open_mock();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("MOCK_NVML_REASONS", cases[i].bits, 1);
    WS_CHECK_TEXT(ws_device_read_clocks(device).throttle, cases[i].want);
  }
  close_mock();
}

WS_TEST(nvml_that_fails) {
  static const char *const failures[] = {"nvmlInit_v2",
                                         "nvmlDeviceGetHandleByUUID"};
  setenv("WAVESMITH_NVML_LIBRARY", WS_MOCK_NVML, 1);
  for (int i = 0; i < 2; i++) {
    setenv("MOCK_NVML_FAIL", failures[i], 1);
    open_mock();
    WS_CHECK_TEXT(ws_device_info_of(device)->driver, "CUDA 13.2");
    WS_CHECK_INT(ws_device_read_clocks(device).mhz, 0);
    close_mock();
  }
  static const char *const questions[] = {
      "nvmlSystemGetDriverVersion", "nvmlDeviceGetClockInfo",
      "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
      "nvmlDeviceGetCurrentClocksThrottleReasons"};
  for (int i = 0; i < 5; i++) {
    setenv("MOCK_NVML_FAIL", questions[i], 1);
    setenv("MOCK_NVML_REASONS", "4", 1);
    open_mock();
    ws_device_clocks clocks = ws_device_read_clocks(device);
    WS_CHECK_TEXT(ws_device_info_of(device)->driver,
                  i == 0 ? "CUDA 13.2" : "580.159.04");
    WS_CHECK_INT(clocks.mhz, i == 1 ? 0 : 1485);
    WS_CHECK_INT(clocks.celsius, i == 2 ? 0 : 47);
    WS_CHECK_NEAR(clocks.watts, i == 3 ? 0 : 699.125, 1e-9);
    WS_CHECK_TEXT(clocks.throttle, i == 4 ? "" : "power");
    close_mock();
  }
}

WS_TEST(a_library_that_is_no_nvml) {
  setenv("WAVESMITH_NVML_LIBRARY", "libm.so.6", 1);
  open_mock();
  WS_CHECK_INT(ws_device_read_clocks(device).mhz, 0);
  close_mock();
}
