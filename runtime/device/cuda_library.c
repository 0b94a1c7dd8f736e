/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libcuda at run time (found by runtime/rt), and what its errors mean.
 *
 * An error is the code's (WS_INPUT) or the machine's (WS_ENVIRONMENT), and
 * some leave the context unusable ("sticky" in CUDA's documentation): after
 * those the driver is not asked again.
 */
#include "../rt/library.h"
#include "cuda_device.h"

#include <dlfcn.h>
#include <string.h>

static const struct meaning {
  ws_cu_result error;
  ws_status status;
  bool sticky;
  const char *text; /* what it means, what to do */
} meanings[] = {
    /* the code's or the launch's fault */
    {WS_CUDA_ERROR_INVALID_VALUE, WS_INPUT, false,
     "the driver refuses an argument"},
    {WS_CUDA_ERROR_INVALID_IMAGE, WS_INPUT, false,
     "neither a cubin nor PTX that this driver knows"},
    {WS_CUDA_ERROR_NO_BINARY_FOR_GPU, WS_INPUT, false,
     "the code is for another architecture than this card's; build it for "
     "this one"},
    {WS_CUDA_ERROR_INVALID_PTX, WS_INPUT, false,
     "the driver's compiler refuses the PTX"},
    {WS_CUDA_ERROR_UNSUPPORTED_PTX_VERSION, WS_INPUT, false,
     "the PTX is newer than the driver; update the driver, or build where a "
     "ptxas of the driver's version is found"},
    {WS_CUDA_ERROR_INVALID_SOURCE, WS_INPUT, false,
     "the driver's compiler refuses the code"},
    {WS_CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, WS_INPUT, false,
     "the code refers to a symbol that nothing defines"},
    {WS_CUDA_ERROR_NOT_FOUND, WS_INPUT, false, "the code has no such kernel"},
    {WS_CUDA_ERROR_ILLEGAL_ADDRESS, WS_INPUT, true,
     "touched memory that is not its own"},
    {WS_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, WS_INPUT, false,
     "needs more registers or threads than the card has for a workgroup"},
    {WS_CUDA_ERROR_LAUNCH_TIMEOUT, WS_INPUT, true,
     "ran into the driver's time limit"},
    {WS_CUDA_ERROR_ASSERT, WS_INPUT, true, "ended with an assertion"},
    {WS_CUDA_ERROR_HARDWARE_STACK_ERROR, WS_INPUT, true,
     "its call stack is corrupt or too deep"},
    {WS_CUDA_ERROR_ILLEGAL_INSTRUCTION, WS_INPUT, true,
     "ran an illegal instruction"},
    {WS_CUDA_ERROR_MISALIGNED_ADDRESS, WS_INPUT, true,
     "used an address that is not aligned to the size of the access"},
    {WS_CUDA_ERROR_INVALID_ADDRESS_SPACE, WS_INPUT, true,
     "used an address of another address space than the instruction's"},
    {WS_CUDA_ERROR_INVALID_PC, WS_INPUT, true,
     "jumped to where there is no code"},
    {WS_CUDA_ERROR_LAUNCH_FAILED, WS_INPUT, true,
     "faulted on the card; often shared memory out of range, or an "
     "mbarrier or tensor map used wrongly"},
    {WS_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, WS_INPUT, false,
     "the grid is larger than the card holds at once"},
    {WS_CUDA_ERROR_INVALID_CLUSTER_SIZE, WS_INPUT, false,
     "the card takes no such cluster, or the grid is no multiple of it"},
    /* the machine's */
    {WS_CUDA_ERROR_OUT_OF_MEMORY, WS_ENVIRONMENT, false,
     "the card's memory is used up; see nvidia-smi for who else holds it"},
    {WS_CUDA_ERROR_STUB_LIBRARY, WS_ENVIRONMENT, false,
     "this libcuda is the stub for linking; install NVIDIA's driver"},
    {WS_CUDA_ERROR_DEVICE_UNAVAILABLE, WS_ENVIRONMENT, false,
     "another process holds the card alone (compute mode); end that one"},
    {WS_CUDA_ERROR_NO_DEVICE, WS_ENVIRONMENT, false,
     "no NVIDIA GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {WS_CUDA_ERROR_INVALID_DEVICE, WS_ENVIRONMENT, false,
     "the driver knows no such device"},
    {WS_CUDA_ERROR_ECC_UNCORRECTABLE, WS_ENVIRONMENT, true,
     "the card's memory has an uncorrectable error; reset or replace it"},
    {WS_CUDA_ERROR_NVLINK_UNCORRECTABLE, WS_ENVIRONMENT, true,
     "an NVLink error; reset the card"},
    {WS_CUDA_ERROR_JIT_COMPILER_NOT_FOUND, WS_ENVIRONMENT, false,
     "the driver's PTX compiler is missing (libnvidia-ptxjitcompiler); "
     "install it, or build where ptxas is found"},
    {WS_CUDA_ERROR_JIT_COMPILATION_DISABLED, WS_ENVIRONMENT, false,
     "the driver may not compile PTX (CUDA_DISABLE_PTX_JIT); build where "
     "ptxas is found"},
    {WS_CUDA_ERROR_CONTAINED, WS_ENVIRONMENT, true,
     "the card contained a hardware error; start again, or reset it"},
    {WS_CUDA_ERROR_OPERATING_SYSTEM, WS_ENVIRONMENT, false,
     "a system call of the driver failed; see dmesg"},
    {WS_CUDA_ERROR_CONTEXT_IS_DESTROYED, WS_ENVIRONMENT, true,
     "the context is gone; start again"},
    {WS_CUDA_ERROR_NOT_SUPPORTED, WS_ENVIRONMENT, false,
     "this card or driver cannot do that"},
    {WS_CUDA_ERROR_SYSTEM_NOT_READY, WS_ENVIRONMENT, false,
     "the machine's GPUs are not ready; is nvidia-fabricmanager running?"},
    {WS_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, WS_ENVIRONMENT, false,
     "libcuda and the kernel's driver are of different versions; reboot or "
     "install one version of both"},
    {WS_CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, WS_ENVIRONMENT, false,
     "the driver is too old for this libcuda; update the driver"},
};

static const struct meaning *find_meaning(ws_cu_result error) {
  for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
    if (meanings[i].error == error)
      return &meanings[i];
  return NULL;
}

static const char *name_of(const ws__cuda *cuda, ws_cu_result error) {
  const char *name = NULL;
  return cuda->cuGetErrorName(error, &name) == WS_CUDA_SUCCESS && name
             ? name
             : "an error that the driver has no name for";
}

static const char *text_of(const ws__cuda *cuda, ws_cu_result error) {
  const char *text = NULL;
  return cuda->cuGetErrorString(error, &text) == WS_CUDA_SUCCESS && text
             ? text
             : "the driver says no more";
}

/* A fault of a kernel is seen by whatever call comes next; what it names is the
 * kernel. */
ws_status ws__cuda_check(ws_device *device, ws_cu_result error,
                         const char *what, ws_diag *diag) {
  if (error == WS_CUDA_SUCCESS)
    return WS_OK;
  ws__cuda *cuda = ws__cuda_of(device);
  const struct meaning *known = find_meaning(error);
  if (!known)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s: %s (%u): %s", what,
                   name_of(cuda, error), error, text_of(cuda, error));
  if (known->sticky)
    cuda->lost = error;
  if (known->sticky && known->status == WS_INPUT && cuda->last_kernel[0])
    what = cuda->last_kernel;
  return ws_fail(diag, known->status, NULL, 0, "%s: %s: %s", what,
                 name_of(cuda, error), known->text);
}

/* ---- the library ---- */

static ws_status bind_functions(ws__cuda *cuda, void *handle, ws_diag *diag) {
#define WS_CU_NAME(name, parameters) #name,
#define WS_CU_PLACE(name, parameters) (void **)&cuda->name,
  static const char *const names[] = {WS_CU_FUNCTIONS(WS_CU_NAME)};
  static const char *const optional[] = {WS_CU_OPTIONAL_FUNCTIONS(WS_CU_NAME)};
  void **const places[] = {WS_CU_FUNCTIONS(WS_CU_PLACE)};
  void **const optional_places[] = {WS_CU_OPTIONAL_FUNCTIONS(WS_CU_PLACE)};
#undef WS_CU_NAME
#undef WS_CU_PLACE
  char message[512];
  if (ws__library_bind(&ws__cuda_library, handle, names, places,
                       sizeof names / sizeof names[0], message, sizeof message))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", message);
  for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
    *optional_places[i] = dlsym(handle, optional[i]);
  return WS_OK;
}

ws_status ws__cuda_bind(ws_device *device, ws__cuda *cuda, ws_diag *diag) {
  char message[512];
  void *handle = ws__library_find(&ws__cuda_library, message, sizeof message);
  if (!handle)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", message);
  WS_TRY(bind_functions(cuda, handle, diag));
  Dl_info where;
  if (dladdr((void *)(uintptr_t)cuda->cuInit, &where))
    device->info.library = ws_arena_strdup(device->arena, where.dli_fname);
  return WS_OK;
}
