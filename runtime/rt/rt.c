/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs emitted dispatch tables. ws_rt_open does all that can fail slowly: it
 * checks the tables once (so that the launch path can trust them), the device
 * and its architecture, and loads every code object. ws_rt_run then only picks,
 * packs the kernarg buffer of each launch on the stack and hands it to HIP.
 * A context is not written to after ws_rt_open, which is what makes it usable
 * from any thread.
 */
#include "wavesmith/rt.h"
#include "hip_library.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The explicit arguments of a launch: WS_RT_MAX_ARGS pointers fit, with room
 * for padding. */
enum { MAX_KERNARG_BYTES = 256 };

struct ws_rt_context {
  ws_hip_library hip;
  const ws_rt_dispatch *dispatch;
  int device;
  long long cu_count;
  hipModule_t *modules;      /* by candidate */
  hipFunction_t **functions; /* by candidate, then launch */
};

static const char *const result_texts[] = {
    [WS_RT_OK] = "ok",
    [WS_RT_NO_HIP] = "no HIP library or no device",
    [WS_RT_BAD_SHAPE] = "the shape is not legal for the problem",
    [WS_RT_BAD_ABI] = "the emitted tables do not fit this runtime library",
    [WS_RT_WRONG_ARCH] = "the device is not the dispatch's target",
    [WS_RT_HIP_ERROR] = "a HIP call failed",
    [WS_RT_WORKSPACE] = "the workspace is too small",
    [WS_RT_ARGUMENT] = "an argument is missing",
};

const char *ws_rt_result_text(int result) {
  int known = (int)(sizeof result_texts / sizeof result_texts[0]);
  return result >= 0 && result < known ? result_texts[result]
                                       : "unknown result";
}

/* Where the one line for the caller goes. */
typedef struct message_buffer {
  char *text;
  size_t size;
} message_buffer;

__attribute__((format(printf, 3, 4))) static int
fail(message_buffer message, int result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message.text, message.size, format, arguments);
  va_end(arguments);
  return result;
}

static int hip_failed(const ws_rt_context *context, message_buffer message,
                      hipError_t error, const char *call, const char *object) {
  return fail(message, WS_RT_HIP_ERROR, "%s(%s): %s", call, object,
              context->hip.hipGetErrorName(error));
}

/* ---- tables ----------------------------------------------------------- */

static int check_launch(const ws_rt_dispatch *dispatch,
                        const ws_rt_candidate *candidate,
                        const ws_rt_launch *launch, message_buffer message) {
  if (launch->kernarg_bytes > MAX_KERNARG_BYTES)
    return fail(message, WS_RT_BAD_ABI,
                "%s: kernel %s of %s takes %u bytes of arguments, at most %d "
                "are possible",
                dispatch->name, launch->kernel, candidate->id,
                (unsigned)launch->kernarg_bytes, (int)MAX_KERNARG_BYTES);
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    const ws_rt_kernarg *arg = &launch->args[i];
    if ((arg->size != 4 && arg->size != 8) ||
        arg->slot >= dispatch->arg_count ||
        (uint32_t)arg->offset + arg->size > launch->kernarg_bytes)
      return fail(message, WS_RT_BAD_ABI,
                  "%s: argument %u of kernel %s of %s is malformed (slot %u, "
                  "offset %u, size %u)",
                  dispatch->name, (unsigned)i, launch->kernel, candidate->id,
                  (unsigned)arg->slot, (unsigned)arg->offset,
                  (unsigned)arg->size);
  }
  return WS_RT_OK;
}

static int check_dispatch(const ws_rt_dispatch *dispatch,
                          message_buffer message) {
  /* Nothing behind the version may be read before the version is known. */
  if (dispatch->abi_version != WS_RT_ABI_VERSION)
    return fail(message, WS_RT_BAD_ABI,
                "the dispatch was emitted for version %u of the runtime "
                "library's tables, this library reads version %d; emit it "
                "again",
                (unsigned)dispatch->abi_version, WS_RT_ABI_VERSION);
  if (dispatch->arg_count > WS_RT_MAX_ARGS || dispatch->candidate_count == 0)
    return fail(message, WS_RT_BAD_ABI,
                "%s: %u argument slots (at most %d) and %u candidates",
                dispatch->name, (unsigned)dispatch->arg_count, WS_RT_MAX_ARGS,
                (unsigned)dispatch->candidate_count);
  for (uint32_t c = 0; c < dispatch->candidate_count; c++) {
    const ws_rt_candidate *candidate = &dispatch->candidates[c];
    for (uint32_t i = 0; i < candidate->launch_count; i++) {
      int result =
          check_launch(dispatch, candidate, &candidate->launches[i], message);
      if (result != WS_RT_OK)
        return result;
    }
  }
  return WS_RT_OK;
}

/* ---- device and code objects ------------------------------------------ */

/* "gfx942:sramecc+:xnack-" is gfx942. */
static int is_target(const char *device_arch, const char *target) {
  size_t size = strcspn(device_arch, ":");
  return strlen(target) == size && !memcmp(device_arch, target, size);
}

static int open_device(ws_rt_context *context, message_buffer message) {
  const ws_hip_library *hip = &context->hip;
  int count = 0;
  hipError_t error = hip->hipInit(0);
  if (error == hipSuccess)
    error = hip->hipGetDeviceCount(&count);
  if (error != hipSuccess || count <= 0)
    return fail(message, WS_RT_NO_HIP, "HIP finds no device (%s)",
                hip->hipGetErrorName(error ? error : hipErrorNoDevice));
  if (context->device < 0 || context->device >= count)
    return fail(message, WS_RT_NO_HIP, "there is no HIP device %d; there %s %d",
                context->device, count == 1 ? "is" : "are", count);
  hipDeviceProp_t properties;
  memset(&properties, 0, sizeof properties);
  error = hip->hipGetDevicePropertiesR0600(&properties, context->device);
  if (error != hipSuccess)
    return hip_failed(context, message, error, "hipGetDeviceProperties",
                      "device");
  if (!is_target(properties.gcnArchName, context->dispatch->target))
    return fail(message, WS_RT_WRONG_ARCH,
                "device %d (%s) is %s, the kernels of %s are for %s",
                context->device, properties.name, properties.gcnArchName,
                context->dispatch->name, context->dispatch->target);
  context->cu_count = properties.multiProcessorCount;
  return WS_RT_OK;
}

static int load_candidate(ws_rt_context *context, uint32_t index,
                          message_buffer message) {
  const ws_rt_candidate *candidate = &context->dispatch->candidates[index];
  hipFunction_t *functions =
      calloc(candidate->launch_count + 1u, sizeof *functions);
  if (!functions)
    return fail(message, WS_RT_HIP_ERROR, "out of memory");
  context->functions[index] = functions;
  hipError_t error = context->hip.hipModuleLoadData(&context->modules[index],
                                                    candidate->code_object);
  if (error != hipSuccess)
    return hip_failed(context, message, error, "hipModuleLoadData",
                      candidate->id);
  for (uint32_t i = 0; i < candidate->launch_count; i++) {
    const char *kernel = candidate->launches[i].kernel;
    error = context->hip.hipModuleGetFunction(&functions[i],
                                              context->modules[index], kernel);
    if (error != hipSuccess)
      return hip_failed(context, message, error, "hipModuleGetFunction",
                        kernel);
  }
  return WS_RT_OK;
}

static int load_candidates(ws_rt_context *context, message_buffer message) {
  uint32_t count = context->dispatch->candidate_count;
  context->modules = calloc(count, sizeof *context->modules);
  context->functions = calloc(count, sizeof *context->functions);
  if (!context->modules || !context->functions)
    return fail(message, WS_RT_HIP_ERROR, "out of memory");
  int result = WS_RT_OK;
  for (uint32_t i = 0; result == WS_RT_OK && i < count; i++)
    result = load_candidate(context, i, message);
  return result;
}

/* ---- the current device: HIP keeps one per thread --------------------- */

static hipError_t enter_device(const ws_rt_context *context,
                               int *out_previous) {
  hipError_t error = context->hip.hipGetDevice(out_previous);
  if (error == hipSuccess && *out_previous != context->device)
    error = context->hip.hipSetDevice(context->device);
  return error;
}

/* A failure to go back cannot be mended here and does not undo the work. */
static void leave_device(const ws_rt_context *context, int previous) {
  if (previous != context->device)
    (void)context->hip.hipSetDevice(previous);
}

/* ---- public ----------------------------------------------------------- */

static int open_context(ws_rt_context *context, message_buffer message) {
  int result = ws__hip_library_open(&context->hip, message.text, message.size);
  if (result == WS_RT_OK)
    result = open_device(context, message);
  if (result != WS_RT_OK)
    return result;
  int previous = 0;
  hipError_t error = enter_device(context, &previous);
  if (error != hipSuccess)
    return hip_failed(context, message, error, "hipSetDevice", "device");
  result = load_candidates(context, message);
  leave_device(context, previous);
  return result;
}

int ws_rt_open(const ws_rt_dispatch *dispatch, int device,
               ws_rt_context **out_context, char *message,
               size_t message_size) {
  message_buffer out_message = {message, message_size};
  *out_context = NULL;
  int result = check_dispatch(dispatch, out_message);
  if (result != WS_RT_OK)
    return result;
  ws_rt_context *context = calloc(1, sizeof *context);
  if (!context)
    return fail(out_message, WS_RT_HIP_ERROR, "out of memory");
  context->dispatch = dispatch;
  context->device = device;
  result = open_context(context, out_message);
  if (result != WS_RT_OK) {
    ws_rt_close(context);
    return result;
  }
  *out_context = context;
  return WS_RT_OK;
}

void ws_rt_close(ws_rt_context *context) {
  if (!context)
    return;
  for (uint32_t i = 0; i < context->dispatch->candidate_count; i++) {
    if (context->modules && context->modules[i])
      (void)context->hip.hipModuleUnload(context->modules[i]);
    if (context->functions)
      free(context->functions[i]);
  }
  free(context->modules);
  free(context->functions);
  free(context);
}

void *ws_rt_hip_symbol(const ws_rt_context *context, const char *name) {
  return ws__hip_library_symbol(&context->hip, name);
}

/* -1 when the shape is not legal. Emitted selection keeps to the candidates'
 * constraints; they are asked again because a kernel that runs outside of them
 * writes wrong numbers without a word. */
static int pick(const ws_rt_context *context, long long m, long long n,
                long long k) {
  const ws_rt_dispatch *dispatch = context->dispatch;
  int index = dispatch->select(m, n, k);
  if (index < 0 || (uint32_t)index >= dispatch->candidate_count ||
      !dispatch->candidates[index].accepts(m, n, k))
    return -1;
  return index;
}

const ws_rt_candidate *ws_rt_pick(const ws_rt_context *context, long long m,
                                  long long n, long long k) {
  int index = pick(context, m, n, k);
  return index < 0 ? NULL : &context->dispatch->candidates[index];
}

size_t ws_rt_workspace_bytes(const ws_rt_context *context, long long m,
                             long long n, long long k) {
  const ws_rt_candidate *candidate = ws_rt_pick(context, m, n, k);
  long long bytes =
      candidate ? candidate->workspace_bytes(m, n, k, context->cu_count) : 0;
  return bytes > 0 ? (size_t)bytes : 0;
}

/* Packs the explicit arguments; padding between them is zero. */
static int pack_arguments(const ws_rt_launch *launch, const void *const *slots,
                          unsigned char *out_kernarg, message_buffer message) {
  memset(out_kernarg, 0, launch->kernarg_bytes);
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    const ws_rt_kernarg *arg = &launch->args[i];
    if (!slots[arg->slot])
      return fail(message, WS_RT_ARGUMENT,
                  "kernel %s reads argument slot %u, which is NULL",
                  launch->kernel, (unsigned)arg->slot);
    memcpy(out_kernarg + arg->offset, slots[arg->slot], arg->size);
  }
  return WS_RT_OK;
}

static int launch_kernel(const ws_rt_context *context,
                         const ws_rt_launch *launch, hipFunction_t function,
                         const long long grid[3], const void *const *slots,
                         hipStream_t stream, message_buffer message) {
  for (int i = 0; i < 3; i++)
    if (grid[i] < 1 || grid[i] > UINT32_MAX)
      return fail(message, WS_RT_BAD_SHAPE,
                  "kernel %s: a grid of %lld x %lld x %lld is not possible",
                  launch->kernel, grid[0], grid[1], grid[2]);
  _Alignas(16) unsigned char kernarg[MAX_KERNARG_BYTES];
  int result = pack_arguments(launch, slots, kernarg, message);
  if (result != WS_RT_OK)
    return result;
  size_t kernarg_bytes = launch->kernarg_bytes;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, kernarg,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &kernarg_bytes,
                   HIP_LAUNCH_PARAM_END};
  hipError_t error = context->hip.hipModuleLaunchKernel(
      function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
      launch->threads, 1, 1, 0, stream, NULL, extra);
  if (error != hipSuccess)
    return hip_failed(context, message, error, "hipModuleLaunchKernel",
                      launch->kernel);
  return WS_RT_OK;
}

int ws_rt_run(const ws_rt_context *context, long long m, long long n,
              long long k, const void *const *slots, size_t workspace_bytes,
              void *stream, char *message, size_t message_size) {
  message_buffer out_message = {message, message_size};
  int index = pick(context, m, n, k);
  if (index < 0)
    return fail(out_message, WS_RT_BAD_SHAPE,
                "m=%lld n=%lld k=%lld is not a legal shape of %s", m, n, k,
                context->dispatch->problem);
  const ws_rt_candidate *candidate = &context->dispatch->candidates[index];
  long long cu_count = context->cu_count;
  long long needed = candidate->workspace_bytes(m, n, k, cu_count);
  if (needed > 0 && workspace_bytes < (unsigned long long)needed)
    return fail(out_message, WS_RT_WORKSPACE,
                "m=%lld n=%lld k=%lld needs %lld bytes of workspace, %zu given",
                m, n, k, needed, workspace_bytes);
  int previous = 0;
  hipError_t error = enter_device(context, &previous);
  if (error != hipSuccess)
    return hip_failed(context, out_message, error, "hipSetDevice", "device");
  int result = WS_RT_OK;
  for (uint32_t i = 0; result == WS_RT_OK && i < candidate->launch_count; i++) {
    const ws_rt_launch *launch = &candidate->launches[i];
    if (!launch->condition(m, n, k, cu_count))
      continue;
    long long grid[3];
    launch->grid(m, n, k, cu_count, grid);
    result = launch_kernel(context, launch, context->functions[index][i], grid,
                           slots, stream, out_message);
  }
  leave_device(context, previous);
  return result;
}
