/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kind "cuda" against a driver that records what it is asked and runs
 * nothing (mock_cuda.c), and NVML against one like it (mock_nvml.c): the calls,
 * their order and arguments, and what becomes of every error. Opened in this
 * process, as the device server does.
 */
#include "mock_cuda.h"
#include "wavesmith/device.h"
#include "ws_test.h"

#include <dlfcn.h>

static ws_arena *arena;
static ws_device *device;
static ws_diag diag;
static ws_device_module *module;
static const char *(*recorded)(void);
static void (*clear)(void);
static int (*live)(void);

static const char ptx[] = ".version 8.0\n.target sm_90a\n.address_size 64\n";

static void find_mock(void) {
  void *mock = dlopen(WS_MOCK_CUDA, RTLD_NOW | RTLD_LOCAL);
  if (!mock)
    WS_FAIL("%s", dlerror());
  *(void **)&recorded = dlsym(mock, "mock_cuda_log");
  *(void **)&clear = dlsym(mock, "mock_cuda_clear");
  *(void **)&live = dlsym(mock, "mock_cuda_live");
}

static ws_status try_open(const char *kind, const char *library) {
  setenv("WAVESMITH_CUDA_LIBRARY", library, 1);
  return ws_device_open(kind, WS_DEVICE_TIME, &device, &diag);
}

static void open_mock(void) {
  find_mock();
  if (!getenv("WAVESMITH_NVML_LIBRARY"))
    setenv("WAVESMITH_NVML_LIBRARY", "/nowhere/libnvidia-ml.so", 1);
  arena = ws_arena_create();
  if (try_open("cuda", WS_MOCK_CUDA) != WS_OK)
    WS_FAIL("%s", diag.text);
  clear();
}

static void need(ws_status status) {
  if (status != WS_OK)
    WS_FAIL("%s", diag.text);
}

static void open_with_module(void) {
  open_mock();
  need(ws_device_load(device, ptx, sizeof ptx, &module, &diag));
  clear();
}

/* Everything that was made is gone. */
static void close_mock(void) {
  ws_device_unload(device, module);
  ws_device_close(device);
  ws_arena_destroy(arena);
  WS_CHECK_INT(live(), 0);
}

/* The next call of that name returns that error. */
static void fail_with(const char *call_and_error) {
  clear();
  setenv("MOCK_CUDA_FAIL", call_and_error, 1);
}

static void check_failure(ws_status got, ws_status want, const char *text) {
  if (got != want)
    WS_FAIL("status %d, want %d (%s)", got, want, diag.text);
  WS_CHECK_CONTAINS(diag.text, text);
  WS_CHECK(!strchr(diag.text, '\n'));
}

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
  static const char *const texts[] = {bad, very_bad};
  open_mock();
  for (int i = 0; i < 2; i++) {
    ws_device_module *none = (ws_device_module *)&none;
    check_failure(
        ws_device_load(device, texts[i], strlen(texts[i]), &none, &diag),
        WS_INPUT,
        "loading the code: CUDA_ERROR_INVALID_PTX: the driver's compiler "
        "refuses the PTX (ptxas application ptx input, line 5; error   : "
        "Unknown instruction 'bad')");
    WS_CHECK(!none);
  }
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
  check_failure(ws_device_load(device, code, 63, &none, &diag), WS_INPUT, text);
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

/* ---- launches ---- */

typedef struct arguments {
  void *c;
  int32_t n;
} arguments;

static ws_device_launch make_launch(const char *kernel, const void *kernarg,
                                    size_t bytes) {
  return (ws_device_launch){.kernel = kernel,
                            .grid = {132, 2, 3},
                            .block = {384, 4, 5},
                            .kernarg = kernarg,
                            .kernarg_bytes = bytes};
}

WS_TEST(launches_pass_arguments_as_they_are) {
  open_with_module();
  arguments packed = {(void *)0x1122334455667788, 0x01020304};
  ws_device_launch launch = make_launch("fill", &packed, 12);
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  launch = make_launch("bare", NULL, 0);
  need(ws_device_start(device, module, &launch, &diag));
  WS_CHECK_TEXT(
      recorded(),
      "cuModuleGetFunction m1 fill\n"
      "cuFuncGetAttribute fill 8\n"
      "cuLaunchKernel fill 132,2,3 384,4,5 0 s1 12:887766554433221104030201\n"
      "cuLaunchKernel fill 132,2,3 384,4,5 0 s1 12:887766554433221104030201\n"
      "cuModuleGetFunction m1 bare\n"
      "cuFuncGetAttribute bare 8\n"
      "cuLaunchKernel bare 132,2,3 384,4,5 0 s1 0:\n");
  close_mock();
}

/* The mock says when the buffer is no place for a tensor map. */
WS_TEST(arguments_are_aligned_for_tensor_maps) {
  open_with_module();
  _Alignas(64) unsigned char buffer[64 + 140] = {0};
  ws_device_launch launch = make_launch("tile", buffer + 1, 140);
  need(ws_device_start(device, module, &launch, &diag));
  WS_CHECK_CONTAINS(recorded(), " 140:0000");
  WS_CHECK(!strstr(recorded(), "misaligned"));
  close_mock();
}

WS_TEST(arguments_have_a_limit) {
  open_with_module();
  char *many = calloc(1, 32765);
  ws_device_launch launch = make_launch("fill", many, 32764);
  need(ws_device_start(device, module, &launch, &diag));
  launch.kernarg_bytes = 32765;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "fill: 32765 bytes of arguments; at most 32764 are possible");
  free(many);
  close_mock();
}

/* The mock's kernels have 1 KB of their own, so 47 KB need no asking. */
WS_TEST(shared_memory_is_asked_for_once) {
  static const uint32_t wanted[] = {47 << 10, (47 << 10) + 1, 200000, 100000};
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  for (int i = 0; i < 4; i++) {
    launch.dynamic_lds = wanted[i];
    need(ws_device_start(device, module, &launch, &diag));
  }
  WS_CHECK_TEXT(recorded(), "cuModuleGetFunction m1 gemm\n"
                            "cuFuncGetAttribute gemm 8\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 48128 s1 0:\n"
                            "cuDeviceGetAttribute 97 200\n"
                            "cuFuncSetAttribute gemm 8 48129\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 48129 s1 0:\n"
                            "cuDeviceGetAttribute 97 200\n"
                            "cuFuncSetAttribute gemm 8 200000\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 200000 s1 0:\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 100000 s1 0:"
                            "\n");
  launch.dynamic_lds = 232449;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "gemm: wants 232449 bytes of dynamic shared memory; the card "
                "gives a workgroup 232448 at most");
  launch.dynamic_lds = 0xffffffff;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "4294967295 bytes");
  launch.dynamic_lds = 232000; /* with the 1 KB it is too much */
  fail_with("cuFuncSetAttribute=1");
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "gemm: CUDA_ERROR_INVALID_VALUE");
  close_mock();
}

WS_TEST(more_kernels_than_are_kept) {
  char name[16];
  open_with_module();
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 20; i++) {
      snprintf(name, sizeof name, "k%d", i);
      ws_device_launch launch = make_launch(name, NULL, 0);
      clear();
      need(ws_device_start(device, module, &launch, &diag));
      WS_CHECK_CONTAINS(recorded(), "cuLaunchKernel ");
      WS_CHECK_CONTAINS(recorded(), name);
      WS_CHECK(!strstr(recorded(), "GetFunction") == (round && i < 15));
    }
  close_mock();
}

WS_TEST(kernels_that_are_not_there) {
  char name[200];
  open_with_module();
  ws_device_launch launch = make_launch("absent", NULL, 0);
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "absent: CUDA_ERROR_NOT_FOUND: the code has no such kernel");
  memset(name, 'k', sizeof name);
  name[199] = 0;
  launch.kernel = name;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "a kernel's name has at most 127 bytes");
  close_mock();
}

WS_TEST(kernel_facts) {
  open_with_module();
  ws_device_kernel facts;
  need(ws_device_kernel_of(device, module, "gemm", &facts, &diag));
  WS_CHECK_INT(facts.registers, 168);
  WS_CHECK_INT(facts.local_bytes, 24);
  WS_CHECK_INT(facts.lds_bytes, 1024);
  check_failure(ws_device_kernel_of(device, module, "absent", &facts, &diag),
                WS_INPUT, "absent: CUDA_ERROR_NOT_FOUND");
  WS_CHECK_INT(facts.registers, -1);
  close_mock();
}

WS_TEST(launches_that_are_refused) {
  static const struct {
    const char *failure;
    ws_status status;
    const char *text;
  } cases[] = {
      {"cuLaunchKernel=1", WS_INPUT,
       "gemm (grid 132,2,3 of 384,4,5 threads, 0 bytes of shared memory, 0 of "
       "arguments): CUDA_ERROR_INVALID_VALUE: "},
      {"cuLaunchKernel=701", WS_INPUT, "more registers or threads"},
      {"cuLaunchKernel=720", WS_INPUT, "larger than the card holds at once"},
      {"cuLaunchKernel=912", WS_INPUT, "takes no such cluster"},
      {"cuLaunchKernel=2", WS_ENVIRONMENT, "memory is used up"},
      {"cuLaunchKernel=801", WS_ENVIRONMENT, "cannot do that"},
      {"cuLaunchKernel=999", WS_ENVIRONMENT, "CUDA_ERROR_UNKNOWN (999)"},
  };
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fail_with(cases[i].failure);
    check_failure(ws_device_start(device, module, &launch, &diag),
                  cases[i].status, cases[i].text);
  }
  unsetenv("MOCK_CUDA_FAIL"); /* none of them sticks */
  need(ws_device_start(device, module, &launch, &diag));
  close_mock();
}

/* ---- faults ---- */

static const struct fault {
  const char *failure;
  ws_status status;
  const char *text;
} faults[] = {
    {"cuStreamSynchronize=700", WS_INPUT,
     "gemm: CUDA_ERROR_ILLEGAL_ADDRESS: touched memory that is not its own"},
    {"cuStreamSynchronize=702", WS_INPUT, "gemm: CUDA_ERROR_LAUNCH_TIMEOUT: "},
    {"cuStreamSynchronize=710", WS_INPUT, "gemm: CUDA_ERROR_ASSERT: "},
    {"cuStreamSynchronize=714", WS_INPUT, "gemm: CUDA_ERROR_HARDWARE_STACK"},
    {"cuStreamSynchronize=715", WS_INPUT, "gemm: CUDA_ERROR_ILLEGAL_INSTR"},
    {"cuStreamSynchronize=716", WS_INPUT, "gemm: CUDA_ERROR_MISALIGNED_ADD"},
    {"cuStreamSynchronize=717", WS_INPUT, "gemm: CUDA_ERROR_INVALID_ADDRESS"},
    {"cuStreamSynchronize=718", WS_INPUT, "gemm: CUDA_ERROR_INVALID_PC: "},
    {"cuStreamSynchronize=719", WS_INPUT, "gemm: CUDA_ERROR_LAUNCH_FAILED: "},
    {"cuStreamSynchronize=214", WS_ENVIRONMENT,
     "waiting for the card: CUDA_ERROR_ECC_UNCORRECTABLE: "},
    {"cuStreamSynchronize=220", WS_ENVIRONMENT, "NVLINK_UNCORRECTABLE"},
    {"cuStreamSynchronize=226", WS_ENVIRONMENT, "CONTAINED"},
    {"cuStreamSynchronize=709", WS_ENVIRONMENT, "CONTEXT_IS_DESTROYED"},
};

/* After a fault every call says the same again, without asking the driver, and
 * what is freed is freed here. */
static void check_fault(const struct fault *fault) {
  open_with_module();
  void *memory, *more;
  ws_device_event *events[2], *another;
  ws_device_graph *graph;
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  ws_device_kernel facts;
  double us;
  need(ws_device_allocate(device, 16, &memory, &diag));
  need(ws_device_event_create(device, &events[0], &diag));
  need(ws_device_event_create(device, &events[1], &diag));
  need(ws_device_graph_begin(device, &diag));
  need(ws_device_graph_end(device, &graph, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  fail_with(fault->failure);
  check_failure(ws_device_synchronise(device, &diag), fault->status,
                fault->text);
  clear();
  const ws_status later[] = {
      ws_device_allocate(device, 16, &more, &diag),
      ws_device_upload(device, memory, "", 1, &diag),
      ws_device_download(device, &us, memory, 8, &diag),
      ws_device_fill(device, memory, 0, 16, &diag),
      ws_device_load(device, ptx, sizeof ptx, (void *)&more, &diag),
      ws_device_start(device, module, &launch, &diag),
      ws_device_kernel_of(device, module, "gemm", &facts, &diag),
      ws_device_kernel_of(device, module, "other", &facts, &diag),
      ws_device_graph_start(device, graph, &diag),
      ws_device_graph_begin(device, &diag),
      ws_device_event_create(device, &another, &diag),
      ws_device_event_record(device, events[0], &diag),
      ws_device_event_elapsed(device, events[0], events[1], &us, &diag),
      ws_device_synchronise(device, &diag)};
  for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
    if (later[i] != fault->status)
      WS_FAIL("call %zu: %d", i, later[i]);
  WS_CHECK_CONTAINS(diag.text, fault->text);
  ws_device_free(device, memory);
  ws_device_event_destroy(device, events[0]);
  ws_device_graph_destroy(device, graph);
  ws_device_unload(device, module);
  WS_CHECK_TEXT(recorded(), "");
  ws_device_close(device); /* the context is given back, and all with it */
  WS_CHECK_CONTAINS(recorded(), "cuDevicePrimaryCtxRelease_v2 200\n");
  WS_CHECK_INT(live(), 0);
  ws_arena_destroy(arena);
}

/* A process each: as on a card, there is no way back. */
#define FAULT_TEST(index)                                                      \
  WS_TEST(fault_##index) { check_fault(&faults[index]); }
FAULT_TEST(0)
FAULT_TEST(1)
FAULT_TEST(2)
FAULT_TEST(3)
FAULT_TEST(4)
FAULT_TEST(5)
FAULT_TEST(6)
FAULT_TEST(7)
FAULT_TEST(8)
FAULT_TEST(9)
FAULT_TEST(10)
FAULT_TEST(11)
FAULT_TEST(12)

WS_TEST(a_fault_is_seen_by_any_call) {
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  need(ws_device_start(device, module, &launch, &diag));
  fail_with("cuMemsetD8Async=700");
  void *memory;
  need(ws_device_allocate(device, 16, &memory, &diag));
  check_failure(ws_device_fill(device, memory, 0, 16, &diag), WS_INPUT,
                "gemm: CUDA_ERROR_ILLEGAL_ADDRESS: ");
  close_mock();
}

/* ---- graphs and events ---- */

WS_TEST(graphs_are_recorded_once) {
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  ws_device_graph *graph;
  ws_device_event *begin, *end;
  void *memory;
  double us = 0;
  need(ws_device_event_create(device, &begin, &diag));
  need(ws_device_event_create(device, &end, &diag));
  need(ws_device_allocate(device, 64, &memory, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  clear();
  need(ws_device_graph_begin(device, &diag));
  need(ws_device_fill(device, memory, 255, 64, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_graph_end(device, &graph, &diag));
  need(ws_device_event_record(device, begin, &diag));
  need(ws_device_graph_start(device, graph, &diag));
  need(ws_device_event_record(device, end, &diag));
  need(ws_device_event_elapsed(device, begin, end, &us, &diag));
  WS_CHECK_NEAR(us, 200, 0.01); /* two launches of the mock's 100 us */
  ws_device_graph_destroy(device, graph);
  WS_CHECK_TEXT(recorded(), "cuStreamBeginCapture_v2 s1 2\n"
                            "cuMemsetD8Async 255 64 s1\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 0 s1 0:\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 0 s1 0:\n"
                            "cuStreamEndCapture s1\n"
                            "cuGraphInstantiateWithFlags g1 0\n"
                            "cuGraphDestroy g1\n"
                            "cuEventRecord e1 s1\n"
                            "cuGraphLaunch x1 s1\n"
                            "cuEventRecord e2 s1\n"
                            "cuEventSynchronize e2\n"
                            "cuEventElapsedTime e1 e2\n"
                            "cuGraphExecDestroy x1\n");
  ws_device_event_destroy(device, begin);
  ws_device_event_destroy(device, end);
  ws_device_free(device, memory);
  close_mock();
}

WS_TEST(graphs_that_fail) {
  open_with_module();
  ws_device_graph *graph;
  check_failure(ws_device_graph_end(device, &graph, &diag), WS_USAGE,
                "no graph is being recorded");
  fail_with("cuStreamBeginCapture_v2=801");
  check_failure(ws_device_graph_begin(device, &diag), WS_ENVIRONMENT,
                "cuStreamBeginCapture: CUDA_ERROR_NOT_SUPPORTED");
  fail_with("cuStreamEndCapture=901");
  need(ws_device_graph_begin(device, &diag));
  check_failure(ws_device_graph_begin(device, &diag), WS_USAGE,
                "a graph is being recorded");
  check_failure(ws_device_graph_end(device, &graph, &diag), WS_ENVIRONMENT,
                "cuStreamEndCapture: ");
  fail_with("cuGraphInstantiateWithFlags=2");
  need(ws_device_graph_begin(device, &diag));
  check_failure(ws_device_graph_end(device, &graph, &diag), WS_ENVIRONMENT,
                "cuGraphInstantiate: CUDA_ERROR_OUT_OF_MEMORY");
  WS_CHECK(!graph);
  unsetenv("MOCK_CUDA_FAIL");
  need(ws_device_graph_begin(device, &diag));
  close_mock(); /* ends it */
}

/* ---- tensor maps ---- */

static const struct {
  int element_bytes;
  uint64_t inner, outer;
  uint32_t box_inner, box_outer, swizzle;
  const char *call; /* data type to fill, by the documentation's numbers */
} maps[] = {
    {1, 7168, 1024, 128, 64, 128,
     "0 2 0x1000 7168,1024 7168 128,64 1,1 0 3 3 0"},
    {2, 1536, 1024, 64, 64, 128, "9 2 0x1000 1536,1024 3072 64,64 1,1 0 3 3 0"},
    {2, 1536, 1000, 32, 64, 64, "9 2 0x1000 1536,1000 3072 32,64 1,1 0 2 3 0"},
    {2, 1536, 1000, 16, 64, 32, "9 2 0x1000 1536,1000 3072 16,64 1,1 0 1 3 0"},
    {4, 1024, 56, 128, 1, 0, "7 2 0x1000 1024,56 4096 128,1 1,1 0 0 3 0"},
    {4, 1024, 56, 256, 256, 0, "7 2 0x1000 1024,56 4096 256,256 1,1 0 0 3 0"},
};

static ws_device_tensor tensor_of(int i) {
  return (ws_device_tensor){.address = (void *)0x1000,
                            .element_bytes = maps[i].element_bytes,
                            .inner = maps[i].inner,
                            .outer = maps[i].outer,
                            .box_inner = maps[i].box_inner,
                            .box_outer = maps[i].box_outer,
                            .swizzle = maps[i].swizzle};
}

WS_TEST(tensor_maps) {
  open_mock();
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    ws_device_tensor tensor = tensor_of((int)i);
    unsigned char map[WS_TENSOR_MAP_BYTES + 1];
    char want[128];
    clear();
    /* One off: the caller's buffer need not be aligned, the driver's is. */
    need(ws_device_tensor_map(device, &tensor, map + 1, &diag));
    snprintf(want, sizeof want, "cuTensorMapEncodeTiled %s\n", maps[i].call);
    WS_CHECK_TEXT(recorded(), want);
    uint64_t words[16];
    memcpy(words, map + 1, sizeof words);
    WS_CHECK_INT(words[15], maps[i].inner + 15);
  }
  close_mock();
}

WS_TEST(tensor_maps_against_the_rules) {
  static const struct {
    ws_device_tensor tensor;
    const char *text;
  } cases[] = {
#define A (void *)0x1000
      {{A, 3, 64, 64, 16, 8, 0}, "elements have 1, 2 or 4 bytes"},
      {{A, 8, 64, 64, 16, 8, 0}, "elements have 1, 2 or 4 bytes"},
      {{A, 4, 64, 64, 16, 8, 16}, "swizzles are of 0, 32, 64 or 128 bytes"},
      {{(void *)0x1008, 4, 64, 64, 16, 8, 0}, "the address"},
      {{A, 4, 0, 64, 16, 8, 0}, "sizes are 1 to 2^32"},
      {{A, 4, 64, 0, 16, 8, 0}, "sizes are 1 to 2^32"},
      {{A, 4, 64, (1ull << 32) + 1, 16, 8, 0}, "sizes are 1 to 2^32"},
      {{A, 1, 72, 64, 16, 8, 0}, "rows have a multiple of 16 bytes"},
      {{A, 2, 12, 64, 16, 8, 0}, "rows have a multiple of 16 bytes"},
      {{A, 4, 64, 64, 0, 8, 0}, "a box is 1 to 256"},
      {{A, 4, 64, 64, 16, 257, 0}, "a box is 1 to 256"},
      {{A, 4, 64, 64, 3, 8, 0}, "a box's row has a multiple of 16 bytes"},
      {{A, 1, 256, 64, 256, 8, 128}, "no longer than the swizzle"},
      {{A, 2, 256, 64, 64, 8, 64}, "no longer than the swizzle"},
#undef A
  };
  unsigned char map[WS_TENSOR_MAP_BYTES];
  open_mock();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    check_failure(ws_device_tensor_map(device, &cases[i].tensor, map, &diag),
                  WS_INPUT, cases[i].text);
  WS_CHECK_CONTAINS(diag.text, "no tensor map of boxes 8x64 of 2 bytes in "
                               "[64][256], swizzle 64: ");
  WS_CHECK_TEXT(recorded(), "");
  ws_device_tensor tensor = tensor_of(0);
  fail_with("cuTensorMapEncodeTiled=1");
  check_failure(ws_device_tensor_map(device, &tensor, map, &diag), WS_INPUT,
                "cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE");
  close_mock();
}

WS_TEST(a_driver_without_tensor_maps) {
  arena = ws_arena_create();
  need(try_open("cuda", WS_MOCK_CUDA_11));
  ws_device_tensor tensor = tensor_of(0);
  unsigned char map[WS_TENSOR_MAP_BYTES];
  check_failure(ws_device_tensor_map(device, &tensor, map, &diag),
                WS_ENVIRONMENT, "lacks cuTensorMapEncodeTiled");
  ws_device_close(device);
  ws_arena_destroy(arena);
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
