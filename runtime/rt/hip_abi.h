/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of HIP's binary interface that the product calls, written from its
 * documentation under HIP's own names, so that nothing needs HIP's headers to
 * be built. tests/rt compares it with those headers, member by member. In a
 * source that has included hip/hip_runtime_api.h before, those types count.
 */
#ifndef WAVESMITH_HIP_ABI_H
#define WAVESMITH_HIP_ABI_H
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#include <stddef.h>

typedef enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorECCNotCorrectable = 214,
  hipErrorInvalidKernelFile = 218,
  hipErrorSharedObjectSymbolNotFound = 302,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorContextIsDestroyed = 709,
  hipErrorAssert = 710,
  hipErrorLaunchFailure = 719,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999
} hipError_t;

typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphExec *hipGraphExec_t;

typedef enum hipMemcpyKind {
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2
} hipMemcpyKind;

typedef enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2
} hipStreamCaptureMode;

/* Revision R0600, that of HIP 6 and 7. */
typedef struct hipDeviceProp_tR0600 {
  char name[256];
  unsigned char uuid[16];
  unsigned char before_memory[16];
  size_t totalGlobalMem;
  unsigned char before_clock[52];
  int clockRate; /* kHz */
  unsigned char before_processors[36];
  int multiProcessorCount;
  unsigned char before_bus[192];
  int pciBusID, pciDeviceID, pciDomainID;
  unsigned char before_memory_clock[12];
  int memoryClockRate; /* kHz */
  int memoryBusWidth;  /* bits */
  int l2CacheSize;
  unsigned char before_arch[540];
  char gcnArchName[256];
  unsigned char rest[56];
} hipDeviceProp_tR0600;
typedef hipDeviceProp_tR0600 hipDeviceProp_t;

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)
#endif

/* Seen after HIP's own header, these must agree with it to compile. */
hipError_t hipInit(unsigned flags);
hipError_t hipDriverGetVersion(int *version);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                       int device);
hipError_t hipDeviceGetPCIBusId(char *bus_id, int size, int device);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceSynchronize(void);
const char *hipGetErrorName(hipError_t error);

hipError_t hipMalloc(void **pointer, size_t bytes);
hipError_t hipFree(void *pointer);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
                     hipMemcpyKind kind);
hipError_t hipMemset(void *pointer, int byte, size_t bytes);
hipError_t hipMemsetAsync(void *pointer, int byte, size_t bytes,
                          hipStream_t stream);

hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void **parameters,
                                 void **extra);

hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end);

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
                                        unsigned long long flags);
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphExecDestroy(hipGraphExec_t exec);

#endif
