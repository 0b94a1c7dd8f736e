/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of the kind "cuda" share: the device on mock_cuda.c, opened in
 * the test's process as the device server does.
 */
#ifndef WS_CUDA_TEST_H
#define WS_CUDA_TEST_H

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

static inline void find_mock(void) {
  void *mock = dlopen(WS_MOCK_CUDA, RTLD_NOW | RTLD_LOCAL);
  if (!mock)
    WS_FAIL("%s", dlerror());
  *(void **)&recorded = dlsym(mock, "mock_cuda_log");
  *(void **)&clear = dlsym(mock, "mock_cuda_clear");
  *(void **)&live = dlsym(mock, "mock_cuda_live");
}

static inline ws_status try_open(const char *kind, const char *library) {
  setenv("WAVESMITH_CUDA_LIBRARY", library, 1);
  return ws_device_open(kind, WS_DEVICE_TIME, &device, &diag);
}

static inline void open_mock(void) {
  find_mock();
  if (!getenv("WAVESMITH_NVML_LIBRARY"))
    setenv("WAVESMITH_NVML_LIBRARY", "/nowhere/libnvidia-ml.so", 1);
  arena = ws_arena_create();
  if (try_open("cuda", WS_MOCK_CUDA) != WS_OK)
    WS_FAIL("%s", diag.text);
  clear();
}

static inline void need(ws_status status) {
  if (status != WS_OK)
    WS_FAIL("%s", diag.text);
}

static inline void open_with_module(void) {
  open_mock();
  need(ws_device_load(device, ptx, sizeof ptx, &module, &diag));
  clear();
}

/* Everything that was made is gone. */
static inline void close_mock(void) {
  ws_device_unload(device, module);
  ws_device_close(device);
  ws_arena_destroy(arena);
  WS_CHECK_INT(live(), 0);
}

/* The next call of that name returns that error. */
static inline void fail_with(const char *call_and_error) {
  clear();
  setenv("MOCK_CUDA_FAIL", call_and_error, 1);
}

static inline void check_failure(ws_status got, ws_status want,
                                 const char *text) {
  if (got != want)
    WS_FAIL("status %d, want %d (%s)", got, want, diag.text);
  WS_CHECK_CONTAINS(diag.text, text);
  WS_CHECK(!strchr(diag.text, '\n'));
}

#endif
