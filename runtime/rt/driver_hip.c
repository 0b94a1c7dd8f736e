/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP behind driver.h. HIP keeps a current device per thread.
 */
#include "driver.h"
#include "hip_abi.h"
#include "library.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define FUNCTIONS(X)                                                           \
  X(hipInit)                                                                   \
  X(hipGetDeviceCount)                                                         \
  X(hipGetDevicePropertiesR0600)                                               \
  X(hipGetDevice)                                                              \
  X(hipSetDevice)                                                              \
  X(hipGetErrorName)                                                           \
  X(hipModuleLoadData)                                                         \
  X(hipModuleUnload)                                                           \
  X(hipModuleGetFunction)                                                      \
  X(hipModuleLaunchKernel)

typedef struct hip {
  void *handle;
#define POINTER(name) __typeof__(name) *name;
  FUNCTIONS(POINTER)
#undef POINTER
} hip;

static const hip *hip_of(const ws__session *session) { return session->state; }

static int failed(const ws__session *session, ws__message message,
                  hipError_t error, const char *call, const char *object) {
  return ws__rt_fail(message, WS_RT_DRIVER_ERROR, "%s(%s): %s", call, object,
                     hip_of(session)->hipGetErrorName(error));
}

/* ---- opening ------------------------------------------------------------ */

static int open_library(hip *self, ws__message message) {
  static const char *const names[] = {
#define NAME(name) #name,
      FUNCTIONS(NAME)
#undef NAME
  };
  void **const places[] = {
#define PLACE(name) (void **)&self->name,
      FUNCTIONS(PLACE)
#undef PLACE
  };
  self->handle = ws__library_find(&ws__hip_library, message.text, message.size);
  if (!self->handle)
    return WS_RT_NO_DRIVER;
  return ws__library_bind(&ws__hip_library, self->handle, names, places,
                          sizeof names / sizeof names[0], message.text,
                          message.size);
}

/* "gfx942:sramecc+:xnack-" is gfx942. */
static int is_target(const char *device_arch, const char *target) {
  size_t size = strcspn(device_arch, ":");
  return strlen(target) == size && !memcmp(device_arch, target, size);
}

static int check_device(ws__session *session, ws__message message) {
  const ws_rt_dispatch *dispatch = session->dispatch;
  hipDeviceProp_t properties;
  memset(&properties, 0, sizeof properties);
  hipError_t error = hip_of(session)->hipGetDevicePropertiesR0600(
      &properties, session->device);
  if (error != hipSuccess)
    return failed(session, message, error, "hipGetDeviceProperties", "device");
  if (!is_target(properties.gcnArchName, dispatch->target))
    return ws__rt_fail(message, WS_RT_WRONG_ARCH,
                       "device %d (%s) is %s, the kernels of %s are for %s",
                       session->device, properties.name, properties.gcnArchName,
                       dispatch->name, dispatch->target);
  session->cu_count = properties.multiProcessorCount;
  return WS_RT_OK;
}

static int open_session(ws__session *session, ws__message message) {
  const hip *self = hip_of(session);
  int count = 0, result = open_library(session->state, message);
  if (result != WS_RT_OK)
    return result;
  hipError_t error = self->hipInit(0);
  if (error == hipSuccess)
    error = self->hipGetDeviceCount(&count);
  if (error != hipSuccess || count <= 0)
    return ws__rt_fail(message, WS_RT_NO_DRIVER, "HIP finds no device (%s)",
                       self->hipGetErrorName(error ? error : hipErrorNoDevice));
  if (session->device < 0 || session->device >= count)
    return ws__rt_fail(message, WS_RT_NO_DRIVER,
                       "there is no HIP device %d; there %s %d",
                       session->device, count == 1 ? "is" : "are", count);
  return check_device(session, message);
}

static void close_session(ws__session *session) { (void)session; }

/* ---- the current device; the previous one travels as a pointer ----------- */

static int enter(const ws__session *session, void **out_previous,
                 ws__message message) {
  int previous = 0;
  hipError_t error = hip_of(session)->hipGetDevice(&previous);
  if (error == hipSuccess && previous != session->device)
    error = hip_of(session)->hipSetDevice(session->device);
  *out_previous = (void *)(intptr_t)previous;
  return error == hipSuccess
             ? WS_RT_OK
             : failed(session, message, error, "hipSetDevice", "device");
}

/* A failure to go back cannot be mended here and does not undo the work. */
static void leave(const ws__session *session, void *previous) {
  if ((intptr_t)previous != session->device)
    (void)hip_of(session)->hipSetDevice((int)(intptr_t)previous);
}

/* ---- code and launches --------------------------------------------------- */

static int load(const ws__session *session, const ws_rt_candidate *candidate,
                void **out_module, ws__message message) {
  hipError_t error = hip_of(session)->hipModuleLoadData(
      (hipModule_t *)out_module, candidate->code_object);
  return error == hipSuccess ? WS_RT_OK
                             : failed(session, message, error,
                                      "hipModuleLoadData", candidate->id);
}

static void unload(const ws__session *session, void *module) {
  (void)hip_of(session)->hipModuleUnload(module);
}

static int find(const ws__session *session, void *module,
                const ws_rt_launch *launch, void **out_function,
                ws__message message) {
  hipError_t error = hip_of(session)->hipModuleGetFunction(
      (hipFunction_t *)out_function, module, launch->kernel);
  return error == hipSuccess ? WS_RT_OK
                             : failed(session, message, error,
                                      "hipModuleGetFunction", launch->kernel);
}

static int launch(const ws__session *session, const ws__start *start,
                  ws__message message) {
  size_t kernarg_bytes = start->launch->kernarg_bytes;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, start->kernarg,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &kernarg_bytes,
                   HIP_LAUNCH_PARAM_END};
  hipError_t error = hip_of(session)->hipModuleLaunchKernel(
      start->function, start->grid[0], start->grid[1], start->grid[2],
      start->launch->threads, 1, 1, start->launch->dynamic_lds, start->stream,
      NULL, extra);
  return error == hipSuccess
             ? WS_RT_OK
             : failed(session, message, error, "hipModuleLaunchKernel",
                      start->launch->kernel);
}

static void *symbol(const ws__session *session, const char *name) {
  return dlsym(hip_of(session)->handle, name);
}

const ws__driver ws__hip_driver = {.name = "HIP",
                                   .state_bytes = sizeof(hip),
                                   .open = open_session,
                                   .close = close_session,
                                   .enter = enter,
                                   .leave = leave,
                                   .load = load,
                                   .unload = unload,
                                   .find = find,
                                   .encode = NULL,
                                   .launch = launch,
                                   .symbol = symbol};
