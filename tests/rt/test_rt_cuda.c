/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libwavesmith_rt on a CUDA driver that records (fake_cuda.c), on the real one
 * without a device, and on none. The dispatch table is built by hand; every
 * number that reaches the driver is worked out by hand in the comments.
 */
#include "../../runtime/rt/cuda_abi.h"
#include "rt_test.h"

/* ---- a dispatch as the emitter would print it ------------------------------
 * Slots: 0 a, 1 b, 2 c, 3 workspace, 4 m, 5 n. Candidate 0 "tma" is PTX, takes
 * a and c through tensor maps and 200000 bytes of shared memory; candidate 1
 * "plain" is a cubin without either, for k >= 1024. */
static int select_by_k(const long long *shape) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return m % 16 || n % 16 || k % 128 ? -1 : k >= 1024;
}
static void extents_of_a(const long long *shape, long long extents[2]) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  (void)n;
  extents[0] = k, extents[1] = m;
}
static void extents_of_c(const long long *shape, long long extents[2]) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  (void)k;
  extents[0] = n, extents[1] = m;
}

static const ws_rt_tensor_map maps[] = {{0, 1, 128, 64, 128, extents_of_a},
                                        {2, 2, 64, 32, 64, extents_of_c}};
static const ws_rt_kernarg args_tma[] = {
    {1, 0, 128}, {0, 128, 128}, {1, 256, 8}, {4, 264, 4}};
static const ws_rt_kernarg args_plain[] = {{2, 0, 8}, {5, 8, 4}};
static const ws_rt_launch launches_tma[] = {
    {"gemm", 384, 200000, 268, args_tma, 4, always, grid_of_cus}};
static const ws_rt_launch launches_plain[] = {
    {"sum", 128, 0, 12, args_plain, 2, always, grid_of_cus}};
static const ws_rt_candidate candidates[] = {
    {"c0ffee", "tile=64", (const unsigned char *)"// tma", 7, maps, 2,
     launches_tma, 1, no_workspace, any_shape},
    {"beef", "tile=32", (const unsigned char *)"\177ELFplain", 10, NULL, 0,
     launches_plain, 1, no_workspace, any_shape}};
static const ws_rt_dispatch dispatch = {
    WS_RT_ABI_VERSION, WS_RT_CUDA, "hand",     "hand_gemm", "kmajor-ocp",
    "sm_90a",          "none",     candidates, 2,           6,
    select_by_k,       3,          dimensions, NULL,        0};

/* ---- helpers --------------------------------------------------------------
 */

typedef struct fake {
  void *handle;
  const char *(*log)(void);
  void (*clear_log)(void);
  int (*create_context)(ws_cu_context *, unsigned, int);
  int (*get_current)(ws_cu_context *);
  int (*begin_capture)(ws_cu_stream, unsigned);
  int (*end_capture)(ws_cu_stream, ws_cu_graph *);
} fake;

static fake open_fake(void) {
  fake library = {.handle = dlopen(WS_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL)};
  if (!library.handle)
    WS_FAIL("%s", dlerror());
  const struct {
    const char *name;
    void *place;
  } functions[] = {{"fake_cuda_log", &library.log},
                   {"fake_cuda_clear_log", &library.clear_log},
                   {"cuCtxCreate_v2", &library.create_context},
                   {"cuCtxGetCurrent", &library.get_current},
                   {"cuStreamBeginCapture_v2", &library.begin_capture},
                   {"cuStreamEndCapture", &library.end_capture}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    *(void **)functions[i].place = dlsym(library.handle, functions[i].name);
  setenv("WAVESMITH_CUDA_LIBRARY", WS_FAKE_CUDA, 1);
  return library;
}

static ws_cu_context current_of(const fake *library) {
  ws_cu_context context = NULL;
  WS_CHECK_INT(library->get_current(&context), 0);
  return context;
}

typedef struct call {
  void *a, *b, *c;
  int32_t m, n;
  const void *slots[6];
} call;

static void fill_call(call *out, int32_t m, int32_t n) {
  *out = (call){.a = (void *)0x1122334455667780,
                .b = (void *)0x99aabbccddeeff00,
                .c = (void *)0x0102030405060710,
                .m = m,
                .n = n};
  out->slots[0] = &out->a, out->slots[1] = &out->b, out->slots[2] = &out->c;
  out->slots[4] = &out->m, out->slots[5] = &out->n;
}

static void expect_run(const ws_rt_context *context, const call *request,
                       long long k, int want, const char *part) {
  char message[256] = "";
  int result =
      ws_rt_run(context, (const long long[]){request->m, request->n, k},
                request->slots, 0, (void *)0xabcd, message, sizeof message);
  if (result != want)
    WS_FAIL("ws_rt_run: %d (%s), want %d", result, message, want);
  WS_CHECK_CONTAINS(message, part);
  WS_CHECK(!strchr(message, '\n'));
}

/* ---- opening --------------------------------------------------------------
 */

WS_TEST(opens_in_the_primary_context) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK_TEXT(library.log(), "retain 0\n"
                               "load ptx tma on 0\n"
                               "attribute 8 of tma.gemm = 200000\n"
                               "load cubin plain on 0\n");
  WS_CHECK(current_of(&library) == NULL);
  WS_CHECK(ws_rt_symbol(context, "fake_cuda_log") ==
           dlsym(library.handle, "fake_cuda_log"));
  library.clear_log();
  ws_rt_close(context);
  WS_CHECK_TEXT(library.log(), "unload tma\nunload plain\nrelease 0\n");
  WS_CHECK(current_of(&library) == NULL);
}

WS_TEST(opens_in_the_callers_context) {
  fake library = open_fake();
  ws_cu_context own = NULL;
  WS_CHECK_INT(library.create_context(&own, 0, 0), 0);
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK(!strstr(library.log(), "retain"));
  WS_CHECK(current_of(&library) == own);
  call request;
  fill_call(&request, 32, 64);
  expect_run(context, &request, 1024, WS_RT_OK, ""); /* the fake compares */
  WS_CHECK(current_of(&library) == own);
  ws_rt_close(context);
  WS_CHECK(!strstr(library.log(), "release"));
  WS_CHECK(current_of(&library) == own);
}

WS_TEST(a_context_of_another_device_is_left_alone) {
  fake library = open_fake();
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  ws_cu_context own = NULL;
  WS_CHECK_INT(library.create_context(&own, 0, 0), 0);
  ws_rt_context *context = open_table(&dispatch, 1);
  WS_CHECK_CONTAINS(library.log(), "retain 1\nload ptx tma on 1\n");
  WS_CHECK(current_of(&library) == own);
  call request;
  fill_call(&request, 32, 64);
  expect_run(context, &request, 1024, WS_RT_OK, "");
  WS_CHECK_CONTAINS(library.log(), "grid 133,1,2"); /* device 1 has 132 + 1 */
  WS_CHECK(current_of(&library) == own);
  request.slots[2] = NULL;
  expect_run(context, &request, 1024, WS_RT_ARGUMENT, "slot 2");
  WS_CHECK(current_of(&library) == own);
  ws_rt_close(context);
  WS_CHECK(current_of(&library) == own);
}

WS_TEST(wants_the_targets_capability) {
  open_fake();
  setenv("FAKE_CUDA_CAPABILITY", "100", 1);
  expect_open(&dispatch, 0, WS_RT_WRONG_ARCH,
              "device 0 (Fake 0) is sm_100, the kernels of hand are for "
              "sm_90a");
  setenv("FAKE_CUDA_CAPABILITY", "89", 1);
  expect_open(&dispatch, 0, WS_RT_WRONG_ARCH, "is sm_89,");
  ws_rt_dispatch table = dispatch;
  setenv("FAKE_CUDA_CAPABILITY", "90", 1);
  static const char *const others[] = {"gfx942", "sm_9", "sm_90ax", "sm_90b"};
  for (int i = 0; i < 4; i++) {
    table.target = others[i];
    expect_open(&table, 0, WS_RT_WRONG_ARCH, others[i]);
  }
}

WS_TEST(wants_a_device) {
  open_fake();
  expect_open(&dispatch, 1, WS_RT_NO_DRIVER, "no CUDA device 1; there is 1");
  expect_open(&dispatch, -1, WS_RT_NO_DRIVER, "no CUDA device -1");
  setenv("FAKE_CUDA_DEVICES", "0", 1);
  expect_open(&dispatch, 0, WS_RT_NO_DRIVER, "CUDA_ERROR_NO_DEVICE");
}

static void expect_failing_call(const char *which, int want, const char *part,
                                const char *want_log) {
  fake library = open_fake();
  setenv("FAKE_CUDA_FAIL", which, 1);
  expect_open(&dispatch, 0, want, part);
  WS_CHECK_TEXT(library.log(), want_log);
  WS_CHECK(current_of(&library) == NULL);
}

/* What was taken before the failure is given back. */
WS_TEST(init_fails) {
  expect_failing_call("cuInit:1=802", WS_RT_NO_DRIVER,
                      "CUDA finds no device (CUDA_ERROR_SYSTEM_NOT_READY)", "");
}
WS_TEST(retain_fails) {
  expect_failing_call("cuDevicePrimaryCtxRetain:1=2", WS_RT_DRIVER_ERROR,
                      "CUDA_ERROR_OUT_OF_MEMORY", "");
}
WS_TEST(push_fails) {
  expect_failing_call("cuCtxPushCurrent_v2:1=709", WS_RT_DRIVER_ERROR,
                      "CUDA_ERROR_CONTEXT_IS_DESTROYED",
                      "retain 0\nrelease 0\n");
}
WS_TEST(second_load_fails) {
  expect_failing_call("cuModuleLoadDataEx:2=209", WS_RT_DRIVER_ERROR,
                      "cuModuleLoadDataEx(beef): CUDA_ERROR_NO_BINARY_FOR_GPU",
                      "retain 0\nload ptx tma on 0\n"
                      "attribute 8 of tma.gemm = 200000\nunload tma\n"
                      "release 0\n");
}
WS_TEST(function_is_missing) {
  expect_failing_call("cuModuleGetFunction:1=500", WS_RT_DRIVER_ERROR,
                      "cuModuleGetFunction(gemm): CUDA_ERROR_NOT_FOUND",
                      "retain 0\nload ptx tma on 0\nunload tma\nrelease 0\n");
}
WS_TEST(too_much_shared_memory) {
  expect_failing_call("cuFuncSetAttribute:1=1", WS_RT_DRIVER_ERROR,
                      "cuFuncSetAttribute(gemm): CUDA_ERROR_INVALID_VALUE",
                      "retain 0\nload ptx tma on 0\nunload tma\nrelease 0\n");
}
WS_TEST(ptx_is_newer_than_the_driver) {
  expect_failing_call("cuModuleLoadDataEx:1=222", WS_RT_OLD_DRIVER,
                      "candidate c0ffee is PTX that is newer than the driver "
                      "(for CUDA 12.4): update the driver",
                      "retain 0\nrelease 0\n");
}
WS_TEST(the_drivers_compiler_has_a_say) {
  setenv("FAKE_CUDA_JIT_LOG", "ptxas line 3; error: unknown symbol\nmore\n", 1);
  expect_failing_call("cuModuleLoadDataEx:1=218", WS_RT_DRIVER_ERROR,
                      "cuModuleLoadDataEx(c0ffee): CUDA_ERROR_INVALID_PTX: "
                      "ptxas line 3; error: unknown symbol",
                      "retain 0\nrelease 0\n");
}

static void expect_malformed_map(ws_rt_tensor_map map) {
  ws_rt_candidate candidate = candidates[0];
  ws_rt_dispatch table = dispatch;
  candidate.tensor_maps = &map;
  candidate.tensor_map_count = 1;
  table.candidates = &candidate;
  table.candidate_count = 1;
  expect_open(&table, 0, WS_RT_BAD_ABI, "tensor map 0 of c0ffee is malformed");
}

static void expect_malformed_launch(const ws_rt_kernarg *args, uint32_t count,
                                    uint32_t bytes, const char *part) {
  ws_rt_launch launch = launches_tma[0];
  ws_rt_candidate candidate = candidates[0];
  ws_rt_dispatch table = dispatch;
  launch.args = args, launch.arg_count = count, launch.kernarg_bytes = bytes;
  candidate.launches = &launch;
  table.candidates = &candidate, table.candidate_count = 1;
  expect_open(&table, 0, WS_RT_BAD_ABI, part);
}

static void expect_malformed(ws_rt_kernarg argument, uint32_t bytes) {
  expect_malformed_launch(&argument, 1, bytes, "gemm");
}

WS_TEST(refuses_malformed_tables) {
  open_fake();
  expect_malformed_map((ws_rt_tensor_map){6, 1, 1, 1, 0, extents_of_a});
  expect_malformed_map((ws_rt_tensor_map){0, 3, 1, 1, 0, extents_of_a});
  expect_malformed_map((ws_rt_tensor_map){0, 1, 1, 1, 16, extents_of_a});
  expect_malformed((ws_rt_kernarg){2, 0, 128}, 128);  /* two maps */
  expect_malformed((ws_rt_kernarg){0, 32, 128}, 160); /* not aligned to 64 */
  expect_malformed((ws_rt_kernarg){0, 0, 128}, 64);   /* past the end */
  expect_malformed((ws_rt_kernarg){0, 0, 8}, 2049);
  static const ws_rt_kernarg turned[] = {{0, 8, 8}, {4, 0, 4}};
  expect_malformed_launch(turned, 2, 16, "argument 1 of kernel gemm");
  static const ws_rt_kernarg many[WS_RT_MAX_KERNEL_ARGS + 1] = {{0, 0, 8}};
  expect_malformed_launch(many, WS_RT_MAX_KERNEL_ARGS + 1, 16,
                          "takes 65 arguments, at most 64");
  ws_rt_dispatch table = dispatch;
  table.driver = 3;
  expect_open(&table, 0, WS_RT_BAD_ABI, "driver 3");
  table.driver = WS_RT_HIP; /* has no tensor maps */
  expect_open(&table, 0, WS_RT_BAD_ABI, "tensor map 0");
}

WS_TEST(code_must_be_elf_or_end_with_nul) {
  fake library = open_fake();
  ws_rt_candidate candidate = candidates[0];
  ws_rt_dispatch table = dispatch;
  candidate.code_object_size = 6;
  table.candidates = &candidate, table.candidate_count = 1;
  expect_open(&table, 0, WS_RT_BAD_ABI, "neither ELF nor text");
  WS_CHECK_TEXT(library.log(), "retain 0\nrelease 0\n");
  candidate.code_object_size = 0;
  expect_open(&table, 0, WS_RT_BAD_ABI, "no code object");
}

/* ---- which library --------------------------------------------------------
 */

WS_TEST(library_that_does_not_exist) {
  setenv("WAVESMITH_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
  expect_open(&dispatch, 0, WS_RT_NO_DRIVER,
              "WAVESMITH_CUDA_LIBRARY: /nonexistent/libcuda.so");
}

WS_TEST(library_that_is_no_cuda) {
  setenv("WAVESMITH_CUDA_LIBRARY", "libm.so.6", 1);
  expect_open(&dispatch, 0, WS_RT_NO_DRIVER,
              "the CUDA library lacks cuInit; a driver for CUDA 12");
}

/* The fake has the real one's soname and is in the process already. */
WS_TEST(takes_the_library_already_loaded) {
  fake library = open_fake();
  unsetenv("WAVESMITH_CUDA_LIBRARY");
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK_CONTAINS(library.log(), "load ptx tma");
  ws_rt_close(context);
}

WS_TEST(real_library_without_device) {
  unsetenv("WAVESMITH_CUDA_LIBRARY");
  char message[256] = "";
  ws_rt_context *context = NULL;
  int result = ws_rt_open(&dispatch, 0, &context, message, sizeof message);
  if (result != WS_RT_NO_DRIVER)
    WS_SKIP("this machine has a CUDA device: %s", message);
  WS_CHECK(context == NULL);
  void *real = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  WS_CHECK_CONTAINS(message, real ? "CUDA finds no device"
                                  : "no CUDA driver: libcuda.so.1 was not");
}

/* ---- launching -------------------------------------------------------------
 */

/* m = 96, n = 576, k = 512. The map of c, second in the table, is the first
 * argument: rows of 576 bf16 are 1152 bytes, 96 rows, box 64 x 32, swizzle 64
 * is mode 2; that of a: rows of 512 bytes, 96 rows, box 128 x 64, swizzle 128
 * is mode 3. Elements u8 and bf16 are types 0 and 9, promotion to 256 bytes is
 * 3. The fake's map is the address, then ee. b at 256, m = 0x60 at 264. */
static const char ee[] = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                         "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                         "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                         "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                         "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"; /* 120 bytes */

static const char *want_launch(void) {
  static char text[2048];
  snprintf(text, sizeof text,
           "map of 0x102030405060710 type 9 rank 2 sizes 576,96 stride 1152 "
           "box 64,32 steps 1,1 modes 0,2,3,0\n"
           "map of 0x1122334455667780 type 0 rank 2 sizes 512,96 stride 512 "
           "box 128,64 steps 1,1 modes 0,3,3,0\n"
           "launch tma.gemm grid 132,1,2 block 384,1,1 shared 200000 stream "
           "0xabcd args 1007060504030201%s8077665544332211%s"
           "00ffeeddccbbaa99"
           "60000000\n",
           ee, ee);
  return text;
}

WS_TEST(maps_and_every_byte) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 96, 576);
  expect_run(context, &request, 512, WS_RT_OK, "");
  WS_CHECK_TEXT(library.log(), want_launch());
  WS_CHECK(current_of(&library) == NULL);
  ws_rt_close(context);
}

WS_TEST(without_maps) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 32, 4096); /* n = 0x1000 */
  request.slots[0] = request.slots[1] = request.slots[4] = NULL;
  expect_run(context, &request, 1024, WS_RT_OK, "");
  WS_CHECK_TEXT(library.log(),
                "launch plain.sum grid 132,1,2 block 128,1,1 shared 0 stream "
                "0xabcd args 100706050403020100100000\n");
  ws_rt_close(context);
}

WS_TEST(refuses_to_launch) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 96, 576);
  request.slots[0] = NULL;
  expect_run(context, &request, 512, WS_RT_ARGUMENT, "slot 0, which is NULL");
  fill_call(&request, 96, 576);
  request.c = NULL; /* a kernel may take that, a tensor map not */
  expect_run(context, &request, 512, WS_RT_ARGUMENT, "slot 2, which is NULL");
  fill_call(&request, 96, 576);
  request.a = (void *)0x1008;
  expect_run(context, &request, 512, WS_RT_ARGUMENT,
             "argument slot 0: the hardware takes no map of 96 x 512 elements "
             "of 1 bytes at 0x1008 (CUDA_ERROR_INVALID_VALUE)");
  fill_call(&request, 0, 576);
  expect_run(context, &request, 512, WS_RT_BAD_SHAPE, "0 x 576 elements");
  WS_CHECK(!strstr(library.log(), "launch"));
  WS_CHECK(current_of(&library) == NULL);
  ws_rt_close(context);
}

WS_TEST(launch_failure_is_one_line) {
  fake library = open_fake();
  setenv("FAKE_CUDA_FAIL", "cuLaunchKernel:1=701", 1);
  ws_rt_context *context = open_table(&dispatch, 0);
  call request;
  fill_call(&request, 96, 576);
  expect_run(context, &request, 512, WS_RT_DRIVER_ERROR,
             "cuLaunchKernel(gemm): CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  WS_CHECK(current_of(&library) == NULL);
  ws_rt_close(context);
}

WS_TEST(can_be_captured) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  call request;
  ws_cu_graph graph = NULL;
  fill_call(&request, 96, 576);
  library.clear_log();
  library.begin_capture((ws_cu_stream)(uintptr_t)0xabcd, 0);
  expect_run(context, &request, 512, WS_RT_OK, "");
  library.end_capture((ws_cu_stream)(uintptr_t)0xabcd, &graph);
  WS_CHECK_TEXT(library.log(), want_launch()); /* and nothing forbidden */
  ws_rt_close(context);
}

WS_TEST(launches_without_allocating) {
  open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  call request;
  fill_call(&request, 32, 64);
  int before = allocation_count;
  for (int i = 0; i < 10; i++)
    expect_run(context, &request, i % 2 ? 128 : 1024, WS_RT_OK, "");
  WS_CHECK_INT(allocation_count, before);
  ws_rt_close(context);
}

/* ---- threads ---------------------------------------------------------------
 */

static void *launch_many(void *context) {
  call request;
  fill_call(&request, 96, 576);
  for (int i = 0; i < LAUNCHES; i++)
    if (ws_rt_run(context, (const long long[]){96, 576, 1024}, request.slots, 0,
                  NULL, NULL, 0))
      return context;
  return NULL;
}

/* New threads have no context of their own. */
WS_TEST(threads_share_a_context) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  launch_from_threads(launch_many, context);
  static const char line[] =
      "launch plain.sum grid 132,1,2 block 128,1,1 shared 0 stream (nil) args "
      "100706050403020140020000\n"; /* n = 576 = 0x240 */
  expect_lines(library.log(), line);
  ws_rt_close(context);
}
