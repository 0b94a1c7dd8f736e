/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * All numbers of HIP's interface that runtime/rt/hip_abi.h has, as rows of
 * {name, value}: compiled once with that header and once with HIP's.
 */
#include <stddef.h>

#define MEMBER(name)                                                           \
  {"offset of " #name, offsetof(hipDeviceProp_tR0600, name)},                  \
      {"size of " #name, sizeof((hipDeviceProp_tR0600 *)0)->name},
#define NUMBER(name) {#name, (long long)name},

const struct hip_row {
  const char *name;
  long long value;
} HIP_ROWS[] = {
    {"size of properties", sizeof(hipDeviceProp_tR0600)},
    /* clang-format off */
    MEMBER(name) MEMBER(uuid) MEMBER(totalGlobalMem) MEMBER(clockRate)
    MEMBER(multiProcessorCount) MEMBER(pciBusID) MEMBER(pciDeviceID)
    MEMBER(pciDomainID) MEMBER(memoryClockRate) MEMBER(memoryBusWidth)
    MEMBER(l2CacheSize) MEMBER(gcnArchName)
    NUMBER(hipSuccess) NUMBER(hipErrorInvalidValue) NUMBER(hipErrorOutOfMemory)
    NUMBER(hipErrorNotInitialized) NUMBER(hipErrorInvalidConfiguration)
    NUMBER(hipErrorInvalidDeviceFunction) NUMBER(hipErrorNoDevice)
    NUMBER(hipErrorInvalidDevice) NUMBER(hipErrorInvalidImage)
    NUMBER(hipErrorNoBinaryForGpu) NUMBER(hipErrorECCNotCorrectable)
    NUMBER(hipErrorInvalidKernelFile)
    NUMBER(hipErrorSharedObjectSymbolNotFound) NUMBER(hipErrorInvalidHandle)
    NUMBER(hipErrorIllegalState) NUMBER(hipErrorNotFound)
    NUMBER(hipErrorNotReady) NUMBER(hipErrorIllegalAddress)
    NUMBER(hipErrorLaunchOutOfResources) NUMBER(hipErrorLaunchTimeOut)
    NUMBER(hipErrorContextIsDestroyed) NUMBER(hipErrorAssert)
    NUMBER(hipErrorLaunchFailure) NUMBER(hipErrorNotSupported)
    NUMBER(hipErrorUnknown) NUMBER(hipMemcpyHostToDevice)
    NUMBER(hipMemcpyDeviceToHost) NUMBER(hipStreamCaptureModeGlobal)
    NUMBER(hipStreamCaptureModeThreadLocal)
    NUMBER(hipStreamCaptureModeRelaxed)
    {"BUFFER_POINTER", (long long)(size_t)HIP_LAUNCH_PARAM_BUFFER_POINTER},
    {"BUFFER_SIZE", (long long)(size_t)HIP_LAUNCH_PARAM_BUFFER_SIZE},
    {"END", (long long)(size_t)HIP_LAUNCH_PARAM_END},
    {NULL, 0}};
/* clang-format on */
