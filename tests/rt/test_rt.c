/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libwavesmith_rt on a HIP library that records (fake_hip.c), on the real one
 * without a device, and on none. The dispatch table is built by hand; every
 * grid and every kernarg byte is compared with values worked out by hand in
 * the comments.
 */
#include "../../runtime/rt/library.h"
#include "rt_test.h"

/* ---- a dispatch as the emitter would print it ------------------------------
 * Slots: 0 a, 1 b, 2 c, 3 workspace, 4 m, 5 n. Candidate 0 "one" takes every
 * legal shape; candidate 1 "two" is for k >= 1024, splits k, and sums up in a
 * second kernel unless m < 32. */
static int enough_rows(const long long *shape, long long cus) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return (void)n, (void)k, (void)cus, m >= 32;
}
static void grid_of_one(const long long *shape, long long cus,
                        long long grid[3]) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  (void)cus;
  grid[0] = (m + 63) / 64 * (n / 16), grid[1] = k / 128, grid[2] = 1;
}
static void grid_of_sum(const long long *shape, long long cus,
                        long long grid[3]) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  (void)k, (void)cus;
  grid[0] = m * n / 256, grid[1] = 1, grid[2] = 1;
}
static long long two_slices(const long long *shape, long long cus) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return (void)k, (void)cus, m * n * 8;
}
static int not_m_48(const long long *shape) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  return (void)n, (void)k, m != 48;
}
static int select_by_k(const long long *shape) {
  const long long m = shape[0], n = shape[1], k = shape[2];
  if (m < 16 || n < 16 || k < 128 || m % 16 || n % 16 || k % 128)
    return -1;
  return k >= 1024;
}

static const ws_rt_kernarg args_one[] = {
    {0, 0, 8}, {2, 8, 8}, {4, 16, 4}, {1, 24, 8}};
static const ws_rt_kernarg args_split[] = {{3, 0, 8}, {5, 8, 4}, {4, 12, 4}};
static const ws_rt_kernarg args_sum[] = {{2, 16, 8}, {3, 0, 8}};
static const ws_rt_launch launches_one[] = {
    {"gemm", 256, 0, 32, args_one, 4, always, grid_of_one}};
static const ws_rt_launch launches_two[] = {
    {"split", 512, 4096, 16, args_split, 3, always, grid_of_cus},
    {"sum", 64, 0, 24, args_sum, 2, enough_rows, grid_of_sum}};
static const ws_rt_candidate candidates[] = {
    {"c0ffee", "tile=64", (const unsigned char *)"one", 4, NULL, 0,
     launches_one, 1, no_workspace, any_shape},
    {"beef", "tile=32", (const unsigned char *)"two", 4, NULL, 0, launches_two,
     2, two_slices, not_m_48}};
static const ws_rt_dispatch dispatch = {
    WS_RT_ABI_VERSION, WS_RT_HIP, "hand",     "hand_gemm", "kmajor",
    "gfx942",          "none",    candidates, 2,           6,
    select_by_k,       3,         dimensions, NULL,        0};

/* ---- helpers ---------------------------------------------------------------
 */
typedef struct fake {
  void *handle;
  const char *(*log)(void);
  void (*clear_log)(void);
} fake;

static fake open_fake(void) {
  fake library = {dlopen(WS_FAKE_HIP, RTLD_NOW | RTLD_LOCAL), NULL, NULL};
  if (!library.handle)
    WS_FAIL("%s", dlerror());
  *(void **)&library.log = dlsym(library.handle, "fake_hip_log");
  *(void **)&library.clear_log = dlsym(library.handle, "fake_hip_clear_log");
  setenv("WAVESMITH_HIP_LIBRARY", WS_FAKE_HIP, 1);
  return library;
}

/* The values that the slots point at: pointers whose bytes tell them apart. */
typedef struct call {
  void *a, *b, *c, *workspace;
  int32_t m, n;
  const void *slots[6];
} call;

static void fill_call(call *out, int32_t m, int32_t n) {
  *out = (call){.a = (void *)0x1122334455667788,
                .b = (void *)0x99aabbccddeeff00,
                .c = (void *)0x0102030405060708,
                .workspace = (void *)0xf1f2f3f4f5f6f7f8,
                .m = m,
                .n = n};
  out->slots[0] = &out->a, out->slots[1] = &out->b, out->slots[2] = &out->c;
  out->slots[3] = &out->workspace, out->slots[4] = &out->m;
  out->slots[5] = &out->n;
}

/* ---- opening ---------------------------------------------------------------
 */
WS_TEST(opens_and_unloads) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK_TEXT(library.log(), "load one on 0\nload two on 0\n");
  WS_CHECK(ws_rt_symbol(context, "fake_hip_log") ==
           dlsym(library.handle, "fake_hip_log"));
  WS_CHECK(ws_rt_symbol(context, "hipNoSuchThing") == NULL);
  ws_rt_close(context);
  WS_CHECK_TEXT(library.log(),
                "load one on 0\nload two on 0\nunload one\nunload two\n");
  ws_rt_close(NULL);
}

WS_TEST(refuses_other_abi) {
  ws_rt_dispatch other = {.abi_version = WS_RT_ABI_VERSION + 1};
  expect_open(&other, 0, WS_RT_BAD_ABI, "version 4");
}

static void expect_malformed(ws_rt_kernarg arg, uint32_t bytes) {
  ws_rt_launch launch = {"gemm", 256, 0, bytes, &arg, 1, always, grid_of_one};
  ws_rt_candidate candidate = candidates[0];
  candidate.launches = &launch;
  ws_rt_dispatch table = dispatch;
  table.candidates = &candidate;
  table.candidate_count = 1;
  expect_open(&table, 0, WS_RT_BAD_ABI, "gemm");
}

WS_TEST(refuses_malformed_tables) {
  open_fake();
  expect_malformed((ws_rt_kernarg){6, 0, 8}, 8); /* no such slot */
  expect_malformed((ws_rt_kernarg){0, 4, 8}, 8); /* past the end */
  expect_malformed((ws_rt_kernarg){0, 65535, 8}, 8);
  expect_malformed((ws_rt_kernarg){0, 0, 2}, 8); /* neither i32 nor pointer */
  expect_malformed((ws_rt_kernarg){0, 0, 8}, 4096);  /* beyond any problem */
  expect_malformed((ws_rt_kernarg){0, 0, 128}, 128); /* no such tensor map */
  ws_rt_dispatch table = dispatch;
  table.arg_count = WS_RT_MAX_ARGS + 1;
  expect_open(&table, 0, WS_RT_BAD_ABI, "25 argument slots");
  table = dispatch;
  table.candidate_count = 0;
  expect_open(&table, 0, WS_RT_BAD_ABI, "0 candidates");
}

WS_TEST(compares_architectures_before_the_colon) {
  open_fake();
  setenv("FAKE_HIP_ARCH", "gfx942", 1);
  ws_rt_close(open_table(&dispatch, 0));
  setenv("FAKE_HIP_ARCH", "gfx950:sramecc+:xnack-", 1);
  expect_open(&dispatch, 0, WS_RT_WRONG_ARCH,
              "is gfx950:sramecc+:xnack-, the kernels of hand are for gfx942");
  setenv("FAKE_HIP_ARCH", "gfx94", 1);
  expect_open(&dispatch, 0, WS_RT_WRONG_ARCH, "gfx94,");
  setenv("FAKE_HIP_ARCH", "gfx942x", 1);
  expect_open(&dispatch, 0, WS_RT_WRONG_ARCH, "gfx942x,");
}

WS_TEST(wants_a_device) {
  open_fake();
  expect_open(&dispatch, 1, WS_RT_NO_DRIVER, "no HIP device 1; there is 1");
  expect_open(&dispatch, -1, WS_RT_NO_DRIVER, "no HIP device -1");
  setenv("FAKE_HIP_DEVICES", "0", 1);
  expect_open(&dispatch, 0, WS_RT_NO_DRIVER, "hipErrorNoDevice");
}

static void expect_failing_call(const char *which, int want, const char *part,
                                const char *want_log) {
  fake library = open_fake();
  setenv("FAKE_HIP_FAIL", which, 1);
  setenv("FAKE_HIP_DEVICES", "2", 1);
  expect_open(&dispatch, 1, want, part);
  WS_CHECK_TEXT(library.log(), want_log);
}

/* What was loaded before the failure is unloaded. */
WS_TEST(hipinit_fails) {
  expect_failing_call("hipInit:1", WS_RT_NO_DRIVER, "hipErrorNotInitialized",
                      "");
}
WS_TEST(properties_fail) {
  expect_failing_call("hipGetDevicePropertiesR0600:1", WS_RT_DRIVER_ERROR,
                      "hipErrorInvalidDevice", "");
}
WS_TEST(set_device_fails) {
  expect_failing_call("hipSetDevice:1", WS_RT_DRIVER_ERROR,
                      "hipErrorInvalidDevice", "");
}
WS_TEST(second_load_fails) {
  expect_failing_call("hipModuleLoadData:2", WS_RT_DRIVER_ERROR,
                      "hipModuleLoadData(beef): hipErrorNoBinaryForGpu",
                      "load one on 1\nunload one\n");
}
WS_TEST(third_function_fails) {
  expect_failing_call("hipModuleGetFunction:3", WS_RT_DRIVER_ERROR,
                      "hipModuleGetFunction(sum): hipErrorNotFound",
                      "load one on 1\nload two on 1\nunload one\nunload two\n");
}

/* ---- which library ---------------------------------------------------------
 */
WS_TEST(library_that_does_not_exist) {
  setenv("WAVESMITH_HIP_LIBRARY", "/nonexistent/libhip.so", 1);
  expect_open(&dispatch, 0, WS_RT_NO_DRIVER, "/nonexistent/libhip.so");
}

WS_TEST(library_that_is_no_hip) {
  setenv("WAVESMITH_HIP_LIBRARY", "libm.so.6", 1);
  expect_open(&dispatch, 0, WS_RT_NO_DRIVER, "lacks hipInit");
}

/* The fake has the real one's soname and is in the process already. */
WS_TEST(takes_the_library_already_loaded) {
  fake library = open_fake();
  unsetenv("WAVESMITH_HIP_LIBRARY");
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK_CONTAINS(library.log(), "load one");
  ws_rt_close(context);
}

/* A loaded one counts more than the order of names. The first name is a library
 * of glibc that nobody loads. */
WS_TEST(the_loaded_library_comes_before_better_names) {
  static const char *const names[] = {"libBrokenLocale.so.1",
                                      "libamdhip64.so.6"};
  fake loaded = open_fake();
  ws__library wanted = ws__hip_library;
  wanted.variable = "WAVESMITH_NO_SUCH_VARIABLE";
  wanted.names = names;
  wanted.name_count = 2;
  void *found = ws__library_find(&wanted, NULL, 0);
  WS_CHECK(found && dlsym(found, "fake_hip_log") ==
                        dlsym(loaded.handle, "fake_hip_log"));
}

WS_TEST(real_library_without_device) {
  unsetenv("WAVESMITH_HIP_LIBRARY");
  char message[256] = "";
  ws_rt_context *context = NULL;
  int result = ws_rt_open(&dispatch, 0, &context, message, sizeof message);
  if (result != WS_RT_NO_DRIVER)
    WS_SKIP("this machine has a HIP device: %s", message);
  WS_CHECK(context == NULL);
  void *real = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  WS_CHECK_CONTAINS(message, real ? "HIP finds no device (hipErrorNoDevice)"
                                  : "no HIP library: libamdhip64.so.7");
}

/* ---- launching -------------------------------------------------------------
 */
WS_TEST(one_kernel_every_byte) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 96, 576);
  int result = ws_rt_run(context, (const long long[]){96, 576, 512},
                         request.slots, 0, (void *)0xabcd, NULL, 0);
  WS_CHECK_INT(result, WS_RT_OK);
  /* Grid: ceil(96/64) = 2 times 576/16 = 36 is 72; 512/128 = 4. Bytes: a at 0,
   * c at 8, m = 96 = 0x60 at 16, 4 of padding, b at 24; little endian. */
  WS_CHECK_TEXT(library.log(),
                "launch one.gemm grid 72,4,1 block 256,1,1 shared 0 stream "
                "0xabcd args 8877665544332211"
                "0807060504030201"
                "6000000000000000"
                "00ffeeddccbbaa99\n");
  ws_rt_close(context);
}

WS_TEST(two_kernels_in_order_with_workspace) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 32, 4096);
  /* two slices of 32 x 4096 floats */
  WS_CHECK_INT(
      ws_rt_workspace_bytes(context, (const long long[]){32, 4096, 1024}),
      1048576);
  int result = ws_rt_run(context, (const long long[]){32, 4096, 1024},
                         request.slots, 1048576, NULL, NULL, 0);
  WS_CHECK_INT(result, WS_RT_OK);
  /* n = 4096 = 0x1000, m = 32 = 0x20; sum: 32 * 4096 / 256 = 512 workgroups,
   * its argument table is not in the order of the bytes. */
  WS_CHECK_TEXT(
      library.log(),
      "launch two.split grid 304,1,2 block 512,1,1 shared 4096 stream "
      "(nil) args f8f7f6f5f4f3f2f1"
      "00100000"
      "20000000\n"
      "launch two.sum grid 512,1,1 block 64,1,1 shared 0 stream "
      "(nil) args f8f7f6f5f4f3f2f1"
      "0000000000000000"
      "0807060504030201\n");
  ws_rt_close(context);
}

WS_TEST(condition_skips_a_kernel) {
  fake library = open_fake();
  setenv("FAKE_HIP_CUS", "38", 1);
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 16, 64);
  request.slots[0] = request.slots[1] = NULL; /* "two" does not read a or b */
  request.slots[2] = NULL;                    /* only "sum" reads c */
  WS_CHECK_INT(ws_rt_run(context, (const long long[]){16, 64, 2048},
                         request.slots, 16 * 64 * 8, NULL, NULL, 0),
               WS_RT_OK);
  WS_CHECK_TEXT(library.log(),
                "launch two.split grid 38,1,2 block 512,1,1 shared 4096 stream "
                "(nil) args f8f7f6f5f4f3f2f1"
                "40000000"
                "10000000\n");
  ws_rt_close(context);
}

static void expect_run(const ws_rt_context *context, const call *request,
                       long long k, size_t workspace_bytes, int want,
                       const char *part) {
  char message[256] = "";
  int result =
      ws_rt_run(context, (const long long[]){request->m, request->n, k},
                request->slots, workspace_bytes, NULL, message, sizeof message);
  if (result != want)
    WS_FAIL("ws_rt_run: %d (%s), want %d", result, message, want);
  WS_CHECK_CONTAINS(message, part);
}

WS_TEST(refuses_to_launch) {
  fake library = open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 17, 64);
  expect_run(context, &request, 128, 0, WS_RT_BAD_SHAPE, "m=17 n=64 k=128");
  fill_call(&request, 48, 64); /* "two" is selected but does not accept it */
  expect_run(context, &request, 1024, 1 << 20, WS_RT_BAD_SHAPE, "m=48");
  WS_CHECK(ws_rt_pick(context, (const long long[]){48, 64, 1024}) == NULL);
  WS_CHECK_INT(
      ws_rt_workspace_bytes(context, (const long long[]){48, 64, 1024}), 0);
  fill_call(&request, 32, 64); /* 32 * 64 * 8 = 16384 */
  expect_run(context, &request, 1024, 16383, WS_RT_WORKSPACE, "16384");
  request.slots[4] = NULL;
  expect_run(context, &request, 128, 0, WS_RT_ARGUMENT, "slot 4");
  WS_CHECK_TEXT(library.log(), "");
  ws_rt_close(context);
}

WS_TEST(refuses_impossible_grids) {
  fake library = open_fake();
  setenv("FAKE_HIP_CUS", "0", 1);
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 32, 64);
  expect_run(context, &request, 1024, 16384, WS_RT_BAD_SHAPE, "0 x 1 x 2");
  /* 2^28 tiles of rows times 2^4 of columns do not fit 32 bits. */
  char message[256] = "";
  WS_CHECK_INT(ws_rt_run(context, (const long long[]){1LL << 34, 256, 128},
                         request.slots, 0, NULL, message, sizeof message),
               WS_RT_BAD_SHAPE);
  WS_CHECK_CONTAINS(message, "4294967296 x 1 x 1");
  WS_CHECK_TEXT(library.log(), "");
  ws_rt_close(context);
}

WS_TEST(launch_failure_ends_the_sequence) {
  fake library = open_fake();
  setenv("FAKE_HIP_FAIL", "hipModuleLaunchKernel:1", 1);
  ws_rt_context *context = open_table(&dispatch, 0);
  library.clear_log();
  call request;
  fill_call(&request, 32, 64);
  expect_run(context, &request, 1024, 16384, WS_RT_DRIVER_ERROR,
             "hipModuleLaunchKernel(split): hipErrorLaunchFailure");
  WS_CHECK_TEXT(library.log(), "");
  ws_rt_close(context);
}

WS_TEST(picks_as_it_launches) {
  open_fake();
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK_TEXT(ws_rt_pick(context, (const long long[]){64, 64, 128})->id,
                "c0ffee");
  WS_CHECK_TEXT(ws_rt_pick(context, (const long long[]){64, 64, 1024})->id,
                "beef");
  WS_CHECK(ws_rt_pick(context, (const long long[]){0, 64, 128}) == NULL);
  WS_CHECK_INT(ws_rt_workspace_bytes(context, (const long long[]){64, 64, 128}),
               0);
  ws_rt_close(context);
}

WS_TEST(launches_without_allocating) {
  open_fake();
  int before_open = allocation_count;
  ws_rt_context *context = open_table(&dispatch, 0);
  WS_CHECK(allocation_count > before_open); /* the counter does count */
  call request;
  fill_call(&request, 32, 64);
  int before = allocation_count;
  for (int i = 0; i < 10; i++)
    WS_CHECK_INT(ws_rt_run(context,
                           (const long long[]){32, 64, i % 2 ? 128 : 1024},
                           request.slots, 16384, NULL, NULL, 0),
                 WS_RT_OK);
  WS_CHECK_INT(allocation_count, before);
  ws_rt_close(context);
}

/* ---- devices and threads ---------------------------------------------------
 */
WS_TEST(keeps_the_callers_device) {
  fake library = open_fake();
  setenv("FAKE_HIP_DEVICES", "4", 1);
  int (*set_device)(int), (*get_device)(int *), device = -1;
  *(void **)&set_device = dlsym(library.handle, "hipSetDevice");
  *(void **)&get_device = dlsym(library.handle, "hipGetDevice");
  set_device(3);
  ws_rt_context *context = open_table(&dispatch, 2);
  WS_CHECK_TEXT(library.log(), "load one on 2\nload two on 2\n");
  get_device(&device);
  WS_CHECK_INT(device, 3);
  call request;
  fill_call(&request, 32, 64); /* the fake refuses a launch on device 3 */
  library.clear_log();
  expect_run(context, &request, 1024, 16384, WS_RT_OK, "");
  WS_CHECK_CONTAINS(library.log(), "grid 306,1,2"); /* device 2 has 304 + 2 */
  get_device(&device);
  WS_CHECK_INT(device, 3);
  request.slots[2] = NULL;
  expect_run(context, &request, 1024, 16384, WS_RT_ARGUMENT, "slot 2");
  get_device(&device);
  WS_CHECK_INT(device, 3);
  ws_rt_close(context);
}

static void *launch_many(void *context) {
  call request;
  fill_call(&request, 64, 16);
  for (int i = 0; i < LAUNCHES; i++)
    if (ws_rt_run(context, (const long long[]){64, 16, 128}, request.slots, 0,
                  NULL, NULL, 0))
      return context;
  return NULL;
}

WS_TEST(threads_share_a_context) {
  fake library = open_fake();
  setenv("FAKE_HIP_DEVICES", "2", 1);
  /* new threads start on device 0 */
  ws_rt_context *context = open_table(&dispatch, 1);
  library.clear_log();
  launch_from_threads(launch_many, context);
  static const char line[] =
      "launch one.gemm grid 1,1,1 block 256,1,1 shared 0 stream (nil) args "
      "8877665544332211080706050403020140000000000000000"
      "0ffeeddccbbaa99\n";
  expect_lines(library.log(), line);
  ws_rt_close(context);
}

WS_TEST(result_texts) {
  WS_CHECK_TEXT(ws_rt_result_text(WS_RT_OK), "ok");
  for (int i = 0; i <= WS_RT_OLD_DRIVER; i++)
    WS_CHECK(ws_rt_result_text(i) && ws_rt_result_text(i)[0]);
  WS_CHECK_TEXT(ws_rt_result_text(-1), "unknown result");
  WS_CHECK_TEXT(ws_rt_result_text(WS_RT_OLD_DRIVER + 1), "unknown result");
}

WS_TEST(message_is_cut_to_its_capacity) {
  char message[8] = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
  ws_rt_dispatch other = {.abi_version = 99};
  ws_rt_context *context = NULL;
  WS_CHECK_INT(ws_rt_open(&other, 0, &context, message, 5), WS_RT_BAD_ABI);
  WS_CHECK_INT(strlen(message), 4);
  WS_CHECK(message[5] == 'x');
}
