/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The driver API's contexts. There is one, the primary one of the only device,
 * current in every thread; making another gives the same.
 */
#include "hipsim.h"

/* An address of ours that nothing else can be. */
static const char context;

static hipCtx_t the_context(void) { return (hipCtx_t)(uintptr_t)&context; }

static hipError_t give(hipCtx_t *out, int device) {
  if (!out)
    return hipErrorInvalidValue;
  if (device)
    return hipErrorInvalidDevice;
  *out = the_context();
  return hipSuccess;
}

static hipError_t check(hipCtx_t given) {
  return given == the_context() ? hipSuccess : hipErrorInvalidContext;
}

hipError_t hipCtxCreate(hipCtx_t *out, unsigned flags, hipDevice_t device) {
  (void)flags;
  HIP_CALL(give(out, device));
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *out, hipDevice_t device) {
  HIP_CALL(give(out, device));
}
hipError_t hipCtxGetCurrent(hipCtx_t *out) { HIP_CALL(give(out, 0)); }
hipError_t hipCtxPopCurrent(hipCtx_t *out) {
  hipCtx_t unasked;
  HIP_CALL(give(out ? out : &unasked, 0));
}
hipError_t hipCtxDestroy(hipCtx_t given) { HIP_CALL(check(given)); }
hipError_t hipCtxPushCurrent(hipCtx_t given) { HIP_CALL(check(given)); }
/* NULL: none is to be current, which changes nothing here. */
hipError_t hipCtxSetCurrent(hipCtx_t given) {
  HIP_CALL(given ? check(given) : hipSuccess);
}
hipError_t hipCtxSynchronize(void) { return hipDeviceSynchronize(); }

hipError_t hipCtxGetDevice(hipDevice_t *out) { return hipGetDevice(out); }
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  HIP_CALL(device ? hipErrorInvalidDevice : hipSuccess);
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags) {
  (void)flags;
  HIP_CALL(device ? hipErrorInvalidDevice : hipSuccess);
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return device ? hipErrorInvalidDevice : hipDeviceReset();
}

static hipError_t state(hipDevice_t device, unsigned *flags, int *active) {
  if (device)
    return hipErrorInvalidDevice;
  if (!flags || !active)
    return hipErrorInvalidValue;
  *flags = 0;
  *active = 1;
  return hipSuccess;
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags,
                                       int *active) {
  HIP_CALL(state(device, flags, active));
}
