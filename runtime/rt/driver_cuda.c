/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * CUDA behind driver.h: the driver API of libcuda. CUDA keeps a stack of
 * contexts per thread. Kernels live in the context that the opening thread has
 * current, when that is one of the wanted device (a framework's, and a
 * framework's memory and streams with it), else in the device's primary
 * context. Other threads, and a thread with another context, push it for the
 * time of a call.
 */
#include "cuda_tensor.h"
#include "driver.h"
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE(name, parameters) typedef ws_cu_result type_of_##name parameters;
WS_CU_FUNCTIONS(TYPE)
WS_CU_OPTIONAL_FUNCTIONS(TYPE)
WS_CU_CONTEXT_FUNCTIONS(TYPE)
#undef TYPE

#define FUNCTIONS(X)                                                           \
  X(cuInit)                                                                    \
  X(cuDriverGetVersion)                                                        \
  X(cuGetErrorName)                                                            \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetName)                                                           \
  X(cuDeviceGetAttribute)                                                      \
  X(cuCtxGetCurrent)                                                           \
  X(cuCtxGetDevice)                                                            \
  X(cuCtxPushCurrent_v2)                                                       \
  X(cuCtxPopCurrent_v2)                                                        \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuDevicePrimaryCtxRelease_v2)                                              \
  X(cuModuleLoadDataEx)                                                        \
  X(cuModuleUnload)                                                            \
  X(cuModuleGetFunction)                                                       \
  X(cuFuncSetAttribute)                                                        \
  X(cuTensorMapEncodeTiled)                                                    \
  X(cuLaunchKernel)

typedef struct cuda {
  void *handle;
  ws_cu_device device;
  ws_cu_context context;
  int is_primary; /* retained by us */
#define POINTER(name) type_of_##name *name;
  FUNCTIONS(POINTER)
#undef POINTER
} cuda;

static const cuda *cuda_of(const ws__session *session) {
  return session->state;
}

static const char *name_of(const cuda *self, ws_cu_result error) {
  const char *name = NULL;
  return self->cuGetErrorName(error, &name) == WS_CUDA_SUCCESS && name
             ? name
             : "an unknown error";
}

static int failed(const cuda *self, ws__message message, ws_cu_result error,
                  const char *call, const char *object) {
  return ws__rt_fail(message, WS_RT_DRIVER_ERROR, "%s(%s): %s", call, object,
                     name_of(self, error));
}

/* ---- opening ------------------------------------------------------------ */

static int open_library(cuda *self, ws__message message) {
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
  self->handle =
      ws__library_find(&ws__cuda_library, message.text, message.size);
  if (!self->handle)
    return WS_RT_NO_DRIVER;
  return ws__library_bind(&ws__cuda_library, self->handle, names, places,
                          sizeof names / sizeof names[0], message.text,
                          message.size);
}

/* Code for "sm_90a" runs on capability 9.0 and on nothing else. */
static int is_target(int capability, const char *target) {
  char *end = NULL;
  if (strncmp(target, "sm_", 3))
    return 0;
  long wanted = strtol(target + 3, &end, 10);
  return wanted == capability && (!*end || !strcmp(end, "a"));
}

static int attribute(const cuda *self, int which) {
  int value = 0;
  (void)self->cuDeviceGetAttribute(&value, which, self->device);
  return value;
}

static int check_device(ws__session *session, ws__message message) {
  const cuda *self = cuda_of(session);
  const ws_rt_dispatch *dispatch = session->dispatch;
  const int capability =
      10 * attribute(self, WS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
      attribute(self, WS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (!is_target(capability, dispatch->target)) {
    char name[128] = "";
    (void)self->cuDeviceGetName(name, sizeof name, self->device);
    return ws__rt_fail(message, WS_RT_WRONG_ARCH,
                       "device %d (%s) is sm_%d, the kernels of %s are for %s",
                       session->device, name, capability, dispatch->name,
                       dispatch->target);
  }
  session->cu_count =
      attribute(self, WS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return WS_RT_OK;
}

static int open_context(cuda *self, ws__message message) {
  ws_cu_device device = -1;
  ws_cu_result error = self->cuCtxGetCurrent(&self->context);
  if (error == WS_CUDA_SUCCESS && self->context &&
      self->cuCtxGetDevice(&device) == WS_CUDA_SUCCESS &&
      device == self->device)
    return WS_RT_OK;
  error = self->cuDevicePrimaryCtxRetain(&self->context, self->device);
  self->is_primary = error == WS_CUDA_SUCCESS;
  return self->is_primary ? WS_RT_OK
                          : failed(self, message, error,
                                   "cuDevicePrimaryCtxRetain", "device");
}

static int open_session(ws__session *session, ws__message message) {
  cuda *self = session->state;
  int count = 0, result = open_library(self, message);
  if (result != WS_RT_OK)
    return result;
  ws_cu_result error = self->cuInit(0);
  if (error == WS_CUDA_SUCCESS)
    error = self->cuDeviceGetCount(&count);
  if (error != WS_CUDA_SUCCESS || count <= 0)
    return ws__rt_fail(message, WS_RT_NO_DRIVER, "CUDA finds no device (%s)",
                       name_of(self, error ? error : WS_CUDA_ERROR_NO_DEVICE));
  if (session->device < 0 || session->device >= count)
    return ws__rt_fail(message, WS_RT_NO_DRIVER,
                       "there is no CUDA device %d; there %s %d",
                       session->device, count == 1 ? "is" : "are", count);
  error = self->cuDeviceGet(&self->device, session->device);
  if (error != WS_CUDA_SUCCESS)
    return failed(self, message, error, "cuDeviceGet", "device");
  result = check_device(session, message);
  return result == WS_RT_OK ? open_context(self, message) : result;
}

static void close_session(ws__session *session) {
  const cuda *self = cuda_of(session);
  if (self->is_primary)
    (void)self->cuDevicePrimaryCtxRelease_v2(self->device);
}

/* ---- the current context: previous is NULL where ours was it --------------
 */

static int enter(const ws__session *session, void **out_previous,
                 ws__message message) {
  const cuda *self = cuda_of(session);
  ws_cu_context current = NULL;
  *out_previous = NULL;
  if (self->cuCtxGetCurrent(&current) == WS_CUDA_SUCCESS &&
      current == self->context)
    return WS_RT_OK;
  ws_cu_result error = self->cuCtxPushCurrent_v2(self->context);
  if (error != WS_CUDA_SUCCESS)
    return failed(self, message, error, "cuCtxPushCurrent", "context");
  *out_previous = self->context;
  return WS_RT_OK;
}

static void leave(const ws__session *session, void *previous) {
  ws_cu_context popped;
  if (previous)
    (void)cuda_of(session)->cuCtxPopCurrent_v2(&popped);
}

/* ---- code --------------------------------------------------------------- */

static int is_elf(const ws_rt_candidate *candidate) {
  return candidate->code_object_size >= 4 &&
         !memcmp(candidate->code_object, "\177ELF", 4);
}

static int version_of(const cuda *self) {
  int version = 0;
  (void)self->cuDriverGetVersion(&version);
  return version;
}

static int refused(const cuda *self, const ws_rt_candidate *candidate,
                   ws_cu_result error, const char *log, ws__message message) {
  const int version = version_of(self);
  if (error == WS_CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    return ws__rt_fail(
        message, WS_RT_OLD_DRIVER,
        "candidate %s is PTX that is newer than the driver (for CUDA %d.%d): "
        "update the driver, or emit the kernels where ptxas is found",
        candidate->id, version / 1000, version % 1000 / 10);
  const int size = (int)strcspn(log, "\n");
  return ws__rt_fail(message, WS_RT_DRIVER_ERROR,
                     "cuModuleLoadDataEx(%s): %s%s%.*s", candidate->id,
                     name_of(self, error), size ? ": " : "", size, log);
}

static int load(const ws__session *session, const ws_rt_candidate *candidate,
                void **out_module, ws__message message) {
  const cuda *self = cuda_of(session);
  char log[1024] = "";
  unsigned options[] = {WS_CU_JIT_ERROR_LOG_BUFFER,
                        WS_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  const unsigned char *code = candidate->code_object;
  const int is_text = !is_elf(candidate);
  if (is_text && code[candidate->code_object_size - 1])
    return ws__rt_fail(message, WS_RT_BAD_ABI,
                       "%s: the code object of %s is neither ELF nor text that "
                       "ends with NUL",
                       session->dispatch->name, candidate->id);
  ws_cu_result error = self->cuModuleLoadDataEx(
      (ws_cu_module *)out_module, code, is_text ? 2 : 0, options, values);
  return error == WS_CUDA_SUCCESS
             ? WS_RT_OK
             : refused(self, candidate, error, log, message);
}

static void unload(const ws__session *session, void *module) {
  (void)cuda_of(session)->cuModuleUnload(module);
}

static int find(const ws__session *session, void *module,
                const ws_rt_launch *launch, void **out_function,
                ws__message message) {
  const cuda *self = cuda_of(session);
  ws_cu_result error = self->cuModuleGetFunction((ws_cu_function *)out_function,
                                                 module, launch->kernel);
  if (error != WS_CUDA_SUCCESS)
    return failed(self, message, error, "cuModuleGetFunction", launch->kernel);
  /* Beyond 48 KiB a kernel gets only what was asked for before. */
  if (launch->dynamic_lds)
    error = self->cuFuncSetAttribute(
        *out_function, WS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        (int)launch->dynamic_lds);
  return error == WS_CUDA_SUCCESS
             ? WS_RT_OK
             : failed(self, message, error, "cuFuncSetAttribute",
                      launch->kernel);
}

/* ---- launches ------------------------------------------------------------ */

static int encode(const ws__session *session, const ws__tensor *tensor,
                  unsigned char *map, ws__message message) {
  const cuda *self = cuda_of(session);
  const ws_rt_tensor_map *shape = tensor->map;
  const ws__cu_matrix matrix = {.address = tensor->address,
                                .element_bytes = shape->element_bytes,
                                .inner = (uint64_t)tensor->extents[0],
                                .outer = (uint64_t)tensor->extents[1],
                                .box_inner = shape->box_inner,
                                .box_outer = shape->box_outer,
                                .swizzle = shape->swizzle};
  ws_cu_result error = ws__cu_encode(self->cuTensorMapEncodeTiled, &matrix,
                                     (ws_cu_tensor_map *)(void *)map);
  if (error == WS_CUDA_SUCCESS)
    return WS_RT_OK;
  return ws__rt_fail(
      message, WS_RT_ARGUMENT,
      "argument slot %u: the hardware takes no map of %lld x %lld elements of "
      "%u bytes at %p (%s); the address must be a multiple of 16",
      (unsigned)shape->slot, tensor->extents[1], tensor->extents[0],
      (unsigned)shape->element_bytes, tensor->address, name_of(self, error));
}

static int launch(const ws__session *session, const ws__start *start,
                  ws__message message) {
  const cuda *self = cuda_of(session);
  /* One by one: what is passed as a buffer lands elsewhere than kernels with
   * tensor maps expect it (seen on an H200, driver 580). */
  void *arguments[WS_RT_MAX_KERNEL_ARGS];
  for (uint32_t i = 0; i < start->launch->arg_count; i++)
    arguments[i] =
        (unsigned char *)start->kernarg + start->launch->args[i].offset;
  ws_cu_result error = self->cuLaunchKernel(
      start->function, start->grid[0], start->grid[1], start->grid[2],
      start->launch->threads, 1, 1, start->launch->dynamic_lds, start->stream,
      arguments, NULL);
  return error == WS_CUDA_SUCCESS
             ? WS_RT_OK
             : failed(self, message, error, "cuLaunchKernel",
                      start->launch->kernel);
}

static void *symbol(const ws__session *session, const char *name) {
  return dlsym(cuda_of(session)->handle, name);
}

const ws__driver ws__cuda_driver = {.name = "CUDA",
                                    .state_bytes = sizeof(cuda),
                                    .open = open_session,
                                    .close = close_session,
                                    .enter = enter,
                                    .leave = leave,
                                    .load = load,
                                    .unload = unload,
                                    .find = find,
                                    .encode = encode,
                                    .launch = launch,
                                    .symbol = symbol};
