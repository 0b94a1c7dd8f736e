/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The HIP ABI where no kernel runs: errors, device, memory, copies, handles.
 * Names and texts of errors and the versions of symbols are compared with the
 * real libamdhip64 where that is installed.
 */
#include "hipsim_test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

/* ---- errors ----------------------------------------------------------------
 */

/* In a process of its own: both libraries must not be in one by symbol. */
WS_TEST(error_texts_are_those_of_libamdhip64) {
  void *real = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!real)
    WS_SKIP("no libamdhip64.so.6");
  const char *(*real_name)(hipError_t), *(*real_text)(hipError_t);
  *(void **)&real_name = dlsym(real, "hipGetErrorName");
  *(void **)&real_text = dlsym(real, "hipGetErrorString");
  WS_CHECK(real_name && real_text && real_name != hipGetErrorName);
  for (int i = -2; i < 1100; i++) {
    if (i == 1054) /* a marker of the header, not an error */
      continue;
    WS_CHECK_TEXT(hipGetErrorName((hipError_t)i), real_name((hipError_t)i));
    WS_CHECK_TEXT(hipGetErrorString((hipError_t)i), real_text((hipError_t)i));
  }
}

WS_TEST(symbols_have_the_versions_of_libamdhip64) {
  static const char *const samples[][2] = {
      {"hipMalloc", "hip_4.2"},
      {"hipGetDevicePropertiesR0600", "hip_6.0"},
      {"hipModuleLaunchKernel", "hip_4.2"},
      {"__hipRegisterFatBinary", "hip_4.2"}};
  void *real = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    WS_CHECK(dlvsym(RTLD_DEFAULT, samples[i][0], samples[i][1]) != NULL);
    WS_CHECK(!real || dlvsym(real, samples[i][0], samples[i][1]) != NULL);
  }
}

WS_TEST(last_error_is_kept_until_asked) {
  const char *text = NULL;
  FAILS(hipSetDevice(1), hipErrorInvalidDevice);
  OK(hipSetDevice(0));
  FAILS(hipPeekAtLastError(), hipErrorInvalidDevice);
  FAILS(hipGetLastError(), hipErrorInvalidDevice);
  OK(hipGetLastError());
  OK(hipDrvGetErrorString(hipErrorInvalidValue, &text));
  WS_CHECK_TEXT(text, "invalid argument");
  FAILS(hipDrvGetErrorString((hipError_t)12345, &text), hipErrorInvalidValue);
}

static void *last_error_of_a_thread(void *unused) {
  (void)unused;
  return (void *)(intptr_t)hipGetLastError();
}

WS_TEST(last_error_is_of_the_thread) {
  pthread_t thread;
  void *other = NULL;
  FAILS(hipSetDevice(1), hipErrorInvalidDevice);
  pthread_create(&thread, NULL, last_error_of_a_thread, NULL);
  pthread_join(thread, &other);
  WS_CHECK_INT((intptr_t)other, hipSuccess);
  FAILS(hipGetLastError(), hipErrorInvalidDevice);
}

/* ---- device ----------------------------------------------------------------
 */

WS_TEST(device_is_a_simulated_mi300x) {
  hipDeviceProp_t properties;
  int value = 0;
  char name[256];
  OK(hipInit(0));
  FAILS(hipInit(1), hipErrorInvalidValue);
  OK(hipGetDeviceProperties(&properties, 0));
  WS_CHECK_TEXT(properties.gcnArchName, "gfx942:sramecc+:xnack-");
  WS_CHECK_CONTAINS(properties.name, "MI300X (wavesmith simulator, model ");
  WS_CHECK_INT(properties.multiProcessorCount, 304);
  WS_CHECK_INT(properties.warpSize, 64);
  WS_CHECK_INT(properties.sharedMemPerBlock, 65536);
  WS_CHECK_INT(properties.clockRate, 2100000);
  WS_CHECK_INT(properties.maxThreadsPerBlock, 1024);
  FAILS(hipGetDeviceProperties(&properties, 1), hipErrorInvalidDevice);
  FAILS(hipGetDeviceProperties(NULL, 0), hipErrorInvalidValue);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  WS_CHECK_INT(value, 304);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  WS_CHECK_INT(value, 64);
  FAILS(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)-1, 0),
        hipErrorInvalidValue);
  OK(hipDeviceGetName(name, sizeof name, 0));
  WS_CHECK_TEXT(name, properties.name);
  OK(hipDeviceGetPCIBusId(name, sizeof name, 0));
  OK(hipDeviceGetByPCIBusId(&value, name));
  WS_CHECK_INT(value, 0);
}

WS_TEST(device_is_the_card_that_was_asked_for) {
  hipDeviceProp_t properties;
  setenv("WAVESMITH_SIM_CARD", "mi300a", 1);
  OK(hipInit(0));
  OK(hipGetDeviceProperties(&properties, 0));
  WS_CHECK_CONTAINS(properties.name,
                    "AMD Instinct MI300A (wavesmith simulator, model ");
  WS_CHECK_INT(properties.multiProcessorCount, 228);
  WS_CHECK_INT(properties.totalGlobalMem >> 30, 128);
  WS_CHECK_INT(properties.clockRate, 2100000);
}

WS_TEST(device_of_an_unknown_card_does_nothing) {
  hipDeviceProp_t properties;
  void *memory = NULL;
  setenv("WAVESMITH_SIM_CARD", "mi300b", 1);
  FAILS(hipInit(0), hipErrorNotInitialized);
  FAILS(hipGetDeviceProperties(&properties, 0), hipErrorNotInitialized);
  FAILS(hipMalloc(&memory, 16), hipErrorNotInitialized);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
WS_TEST(there_is_one_context) {
  hipCtx_t context = NULL, again = NULL;
  hipDevice_t device = -1;
  unsigned flags;
  int active = 0;
  OK(hipCtxCreate(&context, 0, 0));
  OK(hipDevicePrimaryCtxRetain(&again, 0));
  WS_CHECK(context && context == again);
  OK(hipCtxSetCurrent(context));
  OK(hipCtxGetDevice(&device));
  WS_CHECK_INT(device, 0);
  OK(hipDevicePrimaryCtxGetState(0, &flags, &active));
  WS_CHECK_INT(active, 1);
  FAILS(hipCtxPushCurrent((hipCtx_t)&device), hipErrorInvalidContext);
  FAILS(hipCtxDestroy(NULL), hipErrorInvalidContext);
  FAILS(hipDevicePrimaryCtxRetain(&again, 1), hipErrorInvalidDevice);
  OK(hipCtxSynchronize());
}

/* ---- memory ----------------------------------------------------------------
 */

WS_TEST(memory_is_allocated_and_freed) {
  void *a = NULL, *b = NULL;
  size_t before, after, total, size;
  hipDeviceptr_t begin;
  OK(hipMemGetInfo(&before, &total));
  WS_CHECK(before <= total);
  OK(hipMalloc(&a, 1000));
  OK(hipMemGetAddressRange(&begin, &size, (char *)a + 999));
  WS_CHECK(begin == a && size == 1000);
  FAILS(hipMemGetAddressRange(&begin, &size, (char *)a + 4096 * 4),
        hipErrorNotFound);
  OK(hipMalloc(&b, 0));
  WS_CHECK(b == NULL);
  OK(hipFree(NULL));
  FAILS(hipFree((char *)a + 4), hipErrorInvalidValue);
  FAILS(hipHostFree(a), hipErrorInvalidValue);
  OK(hipFree(a));
  FAILS(hipFree(a), hipErrorInvalidValue);
  FAILS(hipFree(&total), hipErrorInvalidValue);
  FAILS(hipMalloc(&a, (size_t)1 << 60), hipErrorOutOfMemory);
  FAILS(hipMalloc(&a, SIZE_MAX), hipErrorOutOfMemory);
  FAILS(hipMalloc(NULL, 16), hipErrorInvalidValue);
  OK(hipMemGetInfo(&after, &total));
}

WS_TEST(pointers_say_what_they_are) {
  void *device = NULL, *host = NULL, *managed = NULL, *same = NULL;
  int local;
  hipPointerAttribute_t attributes;
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&host, 64, hipHostMallocDefault));
  OK(hipMallocManaged(&managed, 64, hipMemAttachGlobal));
  OK(hipPointerGetAttributes(&attributes, (char *)device + 63));
  WS_CHECK_INT(attributes.type, hipMemoryTypeDevice);
  WS_CHECK(attributes.hostPointer == NULL && attributes.device == 0);
  OK(hipPointerGetAttributes(&attributes, host));
  WS_CHECK_INT(attributes.type, hipMemoryTypeHost);
  WS_CHECK(attributes.hostPointer == host);
  OK(hipPointerGetAttributes(&attributes, managed));
  WS_CHECK(attributes.type == hipMemoryTypeManaged && attributes.isManaged);
  OK(hipPointerGetAttributes(&attributes, &local));
  WS_CHECK_INT(attributes.type, hipMemoryTypeUnregistered);
  OK(hipHostGetDevicePointer(&same, host, 0));
  WS_CHECK(same == host);
  FAILS(hipHostGetDevicePointer(&same, device, 0), hipErrorInvalidValue);
  FAILS(hipFree(host), hipErrorInvalidValue);
  OK(hipHostFree(host));
  OK(hipFree(managed));
  OK(hipFree(device));
}

/* ---- copies ----------------------------------------------------------------
 */

static unsigned char pattern(size_t i) { return (unsigned char)(i * 37 + 5); }

WS_TEST(copies_move_bytes) {
  enum { SIZE = 100000 };
  unsigned char *from = test_memory(SIZE), *back = test_memory(SIZE);
  void *a, *b;
  hipStream_t stream;
  for (size_t i = 0; i < SIZE; i++)
    from[i] = pattern(i);
  OK(hipMalloc(&a, SIZE));
  OK(hipMalloc(&b, SIZE));
  OK(hipStreamCreate(&stream));
  OK(hipMemcpyHtoD(a, from, SIZE));
  OK(hipMemcpyDtoDAsync(b, a, SIZE, stream));
  OK(hipMemcpyAsync(back, b, SIZE, hipMemcpyDefault, stream));
  OK(hipStreamSynchronize(stream));
  WS_CHECK(!memcmp(from, back, SIZE));
  OK(hipMemset(b, 0x11, SIZE));
  OK(hipMemcpyDtoH(back, b, SIZE));
  for (size_t i = 0; i < SIZE; i++)
    WS_CHECK_INT(back[i], 0x11);
}

WS_TEST(wrong_copies_are_refused) {
  enum { SIZE = 256 };
  unsigned char host[SIZE] = {0};
  void *device, *freed;
  OK(hipMalloc(&device, SIZE));
  OK(hipMalloc(&freed, SIZE));
  OK(hipFree(freed));
  FAILS(hipMemcpy(device, host, SIZE + 1, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
  FAILS(hipMemcpy((char *)device + 1, host, SIZE, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
  FAILS(hipMemcpy(host, host, SIZE, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
  FAILS(hipMemcpy(host, freed, SIZE, hipMemcpyDeviceToHost),
        hipErrorInvalidValue);
  FAILS(hipMemcpy(host, freed, SIZE, hipMemcpyDefault), hipErrorInvalidValue);
  FAILS(hipMemcpy(device, (void *)16, SIZE, hipMemcpyDefault),
        hipErrorInvalidValue);
  FAILS(hipMemcpy(device, NULL, SIZE, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
  FAILS(hipMemcpy(NULL, host, SIZE, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
  FAILS(hipMemcpy(device, host, SIZE, (hipMemcpyKind)77),
        hipErrorInvalidMemcpyDirection);
  FAILS(hipMemcpy(device, host, SIZE_MAX, hipMemcpyHostToDevice),
        hipErrorInvalidValue);
  FAILS(hipMemset(device, 0, SIZE + 1), hipErrorInvalidValue);
  FAILS(hipMemsetD32(device, 0, SIZE_MAX / 2), hipErrorInvalidValue);
  FAILS(hipMemset(host, 0, SIZE), hipErrorInvalidValue);
  OK(hipMemcpy(NULL, NULL, 0, hipMemcpyDefault));
}

WS_TEST(rows_are_copied_by_pitch) {
  enum { WIDTH = 60, ROWS = 7, HOST_PITCH = 64 };
  unsigned char from[ROWS * HOST_PITCH], back[ROWS * HOST_PITCH];
  void *device;
  size_t pitch = 0;
  for (size_t i = 0; i < sizeof from; i++)
    from[i] = pattern(i);
  memset(back, 0xee, sizeof back);
  OK(hipMallocPitch(&device, &pitch, WIDTH, ROWS));
  WS_CHECK_INT(pitch, 256);
  OK(hipMemset2D(device, pitch, 0, WIDTH, ROWS));
  OK(hipMemcpy2D(device, pitch, from, HOST_PITCH, WIDTH, ROWS,
                 hipMemcpyHostToDevice));
  OK(hipMemcpy2D(back, HOST_PITCH, device, pitch, WIDTH, ROWS,
                 hipMemcpyDeviceToHost));
  for (size_t i = 0; i < sizeof back; i++)
    WS_CHECK_INT(back[i], i % HOST_PITCH < WIDTH ? pattern(i) : 0xee);
  FAILS(hipMemcpy2D(device, 30, from, HOST_PITCH, WIDTH, ROWS,
                    hipMemcpyHostToDevice),
        hipErrorInvalidPitchValue);
  FAILS(hipMemcpy2D(device, pitch, from, HOST_PITCH, WIDTH, ROWS + 1,
                    hipMemcpyHostToDevice),
        hipErrorInvalidValue);
}

WS_TEST(fills_have_units) {
  unsigned char bytes[16];
  void *device = device_words(4, 0);
  OK(hipMemsetD8(device, 0xab, 3));
  OK(hipMemsetD16((char *)device + 4, 0x1234, 2));
  OK(hipMemsetD32((char *)device + 8, 0x01020304, 1));
  OK(hipMemcpy(bytes, device, sizeof bytes, hipMemcpyDeviceToHost));
  const unsigned char want[16] = {0xab, 0xab, 0xab, 0, 0x34, 0x12, 0x34, 0x12,
                                  4,    3,    2,    1, 0,    0,    0,    0};
  WS_CHECK(!memcmp(bytes, want, sizeof want));
}

/* ---- handles ---------------------------------------------------------------
 */

/* NULL is the null stream where a stream is wanted; all others are wrong. */
WS_TEST(wrong_handles_are_errors) {
  int local = 0, value;
  hipStream_t stream;
  hipEvent_t event, stale;
  hipModule_t module;
  OK(hipStreamCreate(&stream));
  OK(hipEventCreate(&event));
  OK(hipEventCreate(&stale));
  OK(hipEventDestroy(stale));
  OK(hipModuleLoad(&module, WS_KERNELS));
  const void *const wrong[] = {NULL,
                               &local,
                               stream,
                               event,
                               stale,
                               module,
                               (void *)16,
                               (void *)-1,
                               (void *)(uintptr_t)0x5753000000000001,
                               (char *)event + 16,
                               (char *)event + 1};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    void *handle = (void *)(uintptr_t)wrong[i];
    float ms;
    hipFunction_t function;
    hipGraphExec_t exec;
    hipFuncAttributes attributes;
    if (handle != event) {
      WS_CHECK(hipEventRecord(handle, NULL) == hipErrorInvalidHandle);
      WS_CHECK(hipEventSynchronize(handle) == hipErrorInvalidHandle);
      WS_CHECK(hipEventElapsedTime(&ms, handle, event) ==
               hipErrorInvalidHandle);
      WS_CHECK(hipStreamWaitEvent(NULL, handle, 0) == hipErrorInvalidHandle);
      WS_CHECK(hipEventDestroy(handle) != hipSuccess);
    }
    if (handle != stream && handle) {
      WS_CHECK(hipStreamSynchronize(handle) == hipErrorInvalidHandle);
      WS_CHECK(hipStreamQuery(handle) == hipErrorInvalidHandle);
      WS_CHECK(hipStreamDestroy(handle) == hipErrorInvalidHandle);
      WS_CHECK(hipEventRecord(event, handle) == hipErrorInvalidHandle);
      WS_CHECK(hipMemcpyAsync(&local, &local, 1, hipMemcpyDefault, handle) ==
               hipErrorInvalidHandle);
      WS_CHECK(hipStreamBeginCapture(handle, hipStreamCaptureModeGlobal) ==
               hipErrorInvalidHandle);
      WS_CHECK(hipModuleLaunchKernel(kernel_of("small_block"), 1, 1, 1, 64, 1,
                                     1, 0, handle, NULL,
                                     NULL) == hipErrorInvalidHandle);
    }
    if (handle != module) {
      WS_CHECK(hipModuleGetFunction(&function, handle, "saxpy") ==
               hipErrorInvalidHandle);
      WS_CHECK(hipModuleUnload(handle) == hipErrorInvalidHandle);
    }
    WS_CHECK(hipModuleLaunchKernel(handle, 1, 1, 1, 64, 1, 1, 0, NULL, NULL,
                                   NULL) == hipErrorInvalidHandle);
    WS_CHECK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, handle) ==
             hipErrorInvalidDeviceFunction);
    WS_CHECK(hipFuncGetAttributes(&attributes, handle) ==
             hipErrorInvalidDeviceFunction);
    WS_CHECK(hipLaunchKernel(handle, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0,
                             NULL) == hipErrorInvalidDeviceFunction);
    WS_CHECK(hipGraphInstantiate(&exec, handle, NULL, NULL, 0) ==
             hipErrorInvalidValue);
    WS_CHECK(hipGraphLaunch(handle, NULL) == hipErrorInvalidValue);
    WS_CHECK(hipGraphDestroy(handle) == hipErrorInvalidValue);
  }
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
  OK(hipModuleUnload(module));
}

WS_TEST(null_results_are_errors) {
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  WS_CHECK(hipGetDeviceCount(NULL) && hipGetDevice(NULL));
  WS_CHECK(hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0));
  WS_CHECK(hipDeviceGetName(NULL, 10, 0) && hipDeviceTotalMem(NULL, 0));
  WS_CHECK(hipStreamCreate(NULL) && hipEventCreate(NULL));
  WS_CHECK(hipMemGetInfo(NULL, NULL) && hipMallocPitch(NULL, NULL, 1, 1));
  WS_CHECK(hipPointerGetAttributes(NULL, stream));
  WS_CHECK(hipModuleLoad(NULL, NULL) && hipModuleLoadData(NULL, NULL));
  WS_CHECK(hipModuleGetFunction(NULL, NULL, NULL));
  WS_CHECK(hipModuleGetGlobal(NULL, NULL, NULL, NULL));
  WS_CHECK(hipEventElapsedTime(NULL, NULL, NULL));
  WS_CHECK(hipStreamEndCapture(stream, NULL));
  WS_CHECK(hipGraphInstantiate(NULL, NULL, NULL, NULL, 0));
  WS_CHECK(hipLaunchHostFunc(stream, NULL, NULL));
  WS_CHECK(hipRuntimeGetVersion(NULL) && hipDriverGetVersion(NULL));
  WS_CHECK(hipDrvGetErrorName(hipSuccess, NULL));
  WS_CHECK(hipStreamGetFlags(stream, NULL));
}

/* Generations: a handle does not come back to life. */
WS_TEST(handles_are_not_reused) {
  hipEvent_t first, later;
  OK(hipEventCreate(&first));
  OK(hipEventDestroy(first));
  for (int i = 0; i < 1000; i++) {
    OK(hipEventCreate(&later));
    WS_CHECK(later != first);
    OK(hipEventDestroy(later));
  }
  for (int i = 0; i < 5000; i++)
    OK(hipEventCreate(&later));
  FAILS(hipEventQuery(first), hipErrorInvalidHandle);
}

/* ---- threads ---------------------------------------------------------------
 */

static void *churn(void *seed) {
  for (int i = 0; i < 300; i++) {
    void *memory = NULL;
    hipStream_t stream = NULL;
    unsigned got = 0, want = (unsigned)(uintptr_t)seed * 1000 + (unsigned)i;
    if (hipMalloc(&memory, 4096) || hipStreamCreate(&stream) ||
        hipMemsetD32Async(memory, (int)want, 1024, stream) ||
        hipMemcpyAsync(&got, (char *)memory + 4092, 4, hipMemcpyDefault,
                       stream) ||
        hipStreamSynchronize(stream) || got != want ||
        hipStreamDestroy(stream) || hipFree(memory))
      return "failed";
  }
  return NULL;
}

WS_TEST(threads_may_call_at_once) {
  pthread_t threads[8];
  for (uintptr_t i = 0; i < 8; i++)
    WS_CHECK(!pthread_create(&threads[i], NULL, churn, (void *)i));
  for (int i = 0; i < 8; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    WS_CHECK(failed == NULL);
  }
}
