/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One device, number 0: a card whose name says that it is simulated. Numbers:
 * its profile (runtime/sim/card/cards.c); of the die, AMD's "CDNA 3
 * architecture" white paper (64 KiB LDS per CU, 512 VGPRs of 64 lanes per
 * SIMD); limits of HIP itself as libamdhip64 6 gives them for gfx942.
 */
#include "hipsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char bus_id[] = "0000:42:00.0";

static void fill_limits(hipDeviceProp_tR0600 *out) {
  const int block[3] = {WS_DEVICE_MAX_THREADS, WS_DEVICE_MAX_THREADS,
                        WS_DEVICE_MAX_THREADS};
  const int grid[3] = {2147483647, 65536, 65536};
  memcpy(out->maxThreadsDim, block, sizeof block);
  memcpy(out->maxGridSize, grid, sizeof grid);
  out->maxThreadsPerBlock = WS_DEVICE_MAX_THREADS;
  out->maxThreadsPerMultiProcessor = 2048;
  out->maxBlocksPerMultiProcessor = 32;
  out->regsPerBlock = out->regsPerMultiprocessor = 4 * 512 * 64;
  out->sharedMemPerBlock = WS_DEVICE_LDS_BYTES;
  out->sharedMemPerBlockOptin = WS_DEVICE_LDS_BYTES;
  out->sharedMemPerMultiprocessor = WS_DEVICE_LDS_BYTES;
  out->maxSharedMemoryPerMultiProcessor = WS_DEVICE_LDS_BYTES;
  out->memPitch = 2147483647;
  out->totalConstMem = 2147483647;
  out->textureAlignment = out->texturePitchAlignment = 256;
}

static void fill_abilities(hipDeviceProp_tR0600 *out) {
  out->asyncEngineCount = 1;
  out->deviceOverlap = 1;
  out->canMapHostMemory = 1;
  out->concurrentKernels = 1;
  out->ECCEnabled = 1;
  out->unifiedAddressing = 1;
  out->managedMemory = 1;
  out->hostRegisterSupported = 1;
  out->streamPrioritiesSupported = 1;
  out->memoryPoolsSupported = 0;
  out->cooperativeLaunch = 0;
  out->isLargeBar = 1;
  out->arch = (hipDeviceArch_t){.hasGlobalInt32Atomics = 1,
                                .hasGlobalFloatAtomicExch = 1,
                                .hasSharedInt32Atomics = 1,
                                .hasSharedFloatAtomicExch = 1,
                                .hasFloatAtomicAdd = 1,
                                .hasGlobalInt64Atomics = 1,
                                .hasSharedInt64Atomics = 1,
                                .hasDoubles = 1,
                                .hasWarpVote = 1,
                                .hasWarpBallot = 1,
                                .hasWarpShuffle = 1,
                                .hasThreadFenceSystem = 1,
                                .has3dGrid = 1};
}

static void fill_card(hipDeviceProp_tR0600 *out) {
  const ws_sim_card *card = ws__hip_card();
  const ws__clock_constants *c = &card->constants;
  out->totalGlobalMem = (size_t)card->rows[WS_CARD_memory_bytes].value;
  out->multiProcessorCount = (int)(c->xcds * c->cus_per_xcd);
  out->clockRate = (int)c->clock_mhz * 1000;
  out->memoryClockRate = (int)card->rows[WS_CARD_memory_clock_khz].value;
  out->memoryBusWidth = (int)card->rows[WS_CARD_memory_bus_bits].value;
  out->l2CacheSize = (int)c->l2_bytes;
  snprintf(out->name, sizeof out->name, "%s (wavesmith simulator, model %d)",
           card->device, WS_SIM_MODEL_VERSION);
}

const hipDeviceProp_tR0600 *ws__hip_properties(void) {
  static hipDeviceProp_tR0600 device; /* filled under the lock */
  if (device.name[0])
    return &device;
  snprintf(device.gcnArchName, sizeof device.gcnArchName,
           "gfx942:sramecc+:xnack-");
  memcpy(device.uuid.bytes, "wavesmith-sim-00", sizeof device.uuid.bytes);
  device.warpSize = 64;
  device.clockInstructionRate = 100000; /* s_memrealtime: 100 MHz */
  device.major = 9;
  device.minor = 4;
  device.pciBusID = 0x42;
  fill_limits(&device);
  fill_abilities(&device);
  fill_card(&device);
  return &device;
}

/* ---- which device ----------------------------------------------------------
 */

static hipError_t check_device(const void *out, int device) {
  if (!out)
    return hipErrorInvalidValue;
  return device == 0 ? ws__hip_card_error() : hipErrorInvalidDevice;
}

static hipError_t give_int(int *out, int value) {
  if (!out)
    return hipErrorInvalidValue;
  *out = value;
  return hipSuccess;
}

static hipError_t give_size(size_t *out, size_t value) {
  if (!out)
    return hipErrorInvalidValue;
  *out = value;
  return hipSuccess;
}

static hipError_t need_simulator(void) {
  return ws__hip_simulator() ? hipSuccess : hipErrorNotInitialized;
}

hipError_t hipInit(unsigned flags) {
  HIP_CALL(flags ? hipErrorInvalidValue : need_simulator());
}

/* 10 000 000 major + 100 000 minor + patch, of the header. */
hipError_t hipRuntimeGetVersion(int *out) {
  HIP_CALL(give_int(out, HIP_VERSION));
}
hipError_t hipDriverGetVersion(int *out) {
  HIP_CALL(give_int(out, HIP_VERSION));
}

hipError_t hipGetDeviceCount(int *out) { HIP_CALL(give_int(out, 1)); }
hipError_t hipGetDevice(int *out) { HIP_CALL(give_int(out, 0)); }
hipError_t hipSetDevice(int device) {
  HIP_CALL(device ? hipErrorInvalidDevice : hipSuccess);
}
hipError_t hipSetDeviceFlags(unsigned flags) {
  (void)flags;
  HIP_CALL(hipSuccess);
}
hipError_t hipGetDeviceFlags(unsigned *flags) {
  HIP_CALL(give_int((int *)flags, hipDeviceScheduleAuto));
}
hipError_t hipDeviceGet(hipDevice_t *out, int ordinal) {
  HIP_CALL(ordinal ? hipErrorInvalidDevice : give_int(out, 0));
}

static hipError_t reset(void) {
  ws__hip_reset();
  return hipSuccess;
}
hipError_t hipDeviceReset(void) { HIP_CALL(reset()); }

/* ---- what it is ------------------------------------------------------------
 */

static hipError_t properties(hipDeviceProp_tR0600 *out, int device) {
  hipError_t error = check_device(out, device);
  if (!error)
    *out = *ws__hip_properties();
  return error;
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *out, int device) {
  HIP_CALL(properties(out, device));
}
hipError_t hipChooseDeviceR0600(int *out, const hipDeviceProp_tR0600 *wanted) {
  HIP_CALL(wanted ? give_int(out, 0) : hipErrorInvalidValue);
}

/* X(attribute of hipDeviceAttribute_t, field of the properties) */
#define ATTRIBUTE_MAP(X)                                                       \
  X(EccEnabled, ECCEnabled)                                                    \
  X(AsyncEngineCount, asyncEngineCount)                                        \
  X(CanMapHostMemory, canMapHostMemory)                                        \
  X(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)      \
  X(ClockRate, clockRate)                                                      \
  X(ComputeMode, computeMode)                                                  \
  X(ComputePreemptionSupported, computePreemptionSupported)                    \
  X(ConcurrentKernels, concurrentKernels)                                      \
  X(ConcurrentManagedAccess, concurrentManagedAccess)                          \
  X(CooperativeLaunch, cooperativeLaunch)                                      \
  X(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch)                \
  X(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost)            \
  X(HostNativeAtomicSupported, hostNativeAtomicSupported)                      \
  X(Integrated, integrated)                                                    \
  X(IsMultiGpuBoard, isMultiGpuBoard)                                          \
  X(KernelExecTimeout, kernelExecTimeoutEnabled)                               \
  X(L2CacheSize, l2CacheSize)                                                  \
  X(ComputeCapabilityMajor, major)                                             \
  X(ComputeCapabilityMinor, minor)                                             \
  X(ManagedMemory, managedMemory)                                              \
  X(MaxBlocksPerMultiProcessor, maxBlocksPerMultiProcessor)                    \
  X(MaxBlockDimX, maxThreadsDim[0])                                            \
  X(MaxBlockDimY, maxThreadsDim[1])                                            \
  X(MaxBlockDimZ, maxThreadsDim[2])                                            \
  X(MaxGridDimX, maxGridSize[0])                                               \
  X(MaxGridDimY, maxGridSize[1])                                               \
  X(MaxGridDimZ, maxGridSize[2])                                               \
  X(MaxThreadsPerBlock, maxThreadsPerBlock)                                    \
  X(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)                  \
  X(MaxPitch, memPitch)                                                        \
  X(MemoryBusWidth, memoryBusWidth)                                            \
  X(MemoryClockRate, memoryClockRate)                                          \
  X(MultiprocessorCount, multiProcessorCount)                                  \
  X(PhysicalMultiProcessorCount, multiProcessorCount)                          \
  X(PageableMemoryAccess, pageableMemoryAccess)                                \
  X(PageableMemoryAccessUsesHostPageTables,                                    \
    pageableMemoryAccessUsesHostPageTables)                                    \
  X(PciBusId, pciBusID)                                                        \
  X(PciDeviceId, pciDeviceID)                                                  \
  X(PciDomainID, pciDomainID)                                                  \
  X(MaxRegistersPerBlock, regsPerBlock)                                        \
  X(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)                      \
  X(MaxSharedMemoryPerBlock, sharedMemPerBlock)                                \
  X(SharedMemPerBlockOptin, sharedMemPerBlockOptin)                            \
  X(SharedMemPerMultiprocessor, sharedMemPerMultiprocessor)                    \
  X(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor)        \
  X(StreamPrioritiesSupported, streamPrioritiesSupported)                      \
  X(TextureAlignment, textureAlignment)                                        \
  X(TexturePitchAlignment, texturePitchAlignment)                              \
  X(TotalConstantMemory, totalConstMem)                                        \
  X(UnifiedAddressing, unifiedAddressing)                                      \
  X(WarpSize, warpSize)                                                        \
  X(MemoryPoolsSupported, memoryPoolsSupported)                                \
  X(HostRegisterSupported, hostRegisterSupported)                              \
  X(ClockInstructionRate, clockInstructionRate)                                \
  X(WallClockRate, clockInstructionRate)                                       \
  X(IsLargeBar, isLargeBar)                                                    \
  X(AsicRevision, asicRevision)

static hipError_t attribute(int *out, hipDeviceAttribute_t wanted, int device) {
  hipError_t error = check_device(out, device);
  if (error)
    return error;
  const hipDeviceProp_tR0600 *properties_of = ws__hip_properties();
  switch ((int)wanted) {
#define ATTRIBUTE_CASE(name, field)                                            \
  case hipDeviceAttribute##name:                                               \
    *out = (int)properties_of->field;                                          \
    return hipSuccess;
    ATTRIBUTE_MAP(ATTRIBUTE_CASE)
#undef ATTRIBUTE_CASE
  default:
    return hipErrorInvalidValue;
  }
}
hipError_t hipDeviceGetAttribute(int *out, hipDeviceAttribute_t wanted,
                                 int device) {
  HIP_CALL(attribute(out, wanted, device));
}

static hipError_t give_text(char *out, int size, int device, const char *text) {
  hipError_t error = check_device(out, device);
  if (error)
    return error;
  if (size <= 0)
    return hipErrorInvalidValue;
  snprintf(out, (size_t)size, "%s", text);
  return hipSuccess;
}
hipError_t hipDeviceGetName(char *out, int size, hipDevice_t device) {
  HIP_CALL(give_text(out, size, device, ws__hip_properties()->name));
}
hipError_t hipDeviceGetPCIBusId(char *out, int size, int device) {
  HIP_CALL(give_text(out, size, device, bus_id));
}

static hipError_t by_bus_id(int *out, const char *text) {
  if (!text)
    return hipErrorInvalidValue;
  return strcmp(text, bus_id) ? hipErrorInvalidDevice : give_int(out, 0);
}
hipError_t hipDeviceGetByPCIBusId(int *out, const char *text) {
  HIP_CALL(by_bus_id(out, text));
}

static hipError_t uuid(hipUUID *out, int device) {
  hipError_t error = check_device(out, device);
  if (!error)
    *out = ws__hip_properties()->uuid;
  return error;
}
hipError_t hipDeviceGetUuid(hipUUID *out, hipDevice_t device) {
  HIP_CALL(uuid(out, device));
}

hipError_t hipDeviceTotalMem(size_t *out, hipDevice_t device) {
  HIP_CALL(device ? hipErrorInvalidDevice
                  : give_size(out, ws__hip_properties()->totalGlobalMem));
}

static hipError_t capability(int *major, int *minor, int device) {
  hipError_t error = check_device(major, device);
  if (!error)
    error = give_int(minor, ws__hip_properties()->minor);
  if (!error)
    *major = ws__hip_properties()->major;
  return error;
}
hipError_t hipDeviceComputeCapability(int *major, int *minor,
                                      hipDevice_t device) {
  HIP_CALL(capability(major, minor, device));
}

/* ---- what has one answer here ----------------------------------------------
 */

hipError_t hipDeviceCanAccessPeer(int *out, int device, int peer) {
  HIP_CALL(device || peer ? hipErrorInvalidDevice : give_int(out, 0));
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  (void)config; /* gfx942 has none; libamdhip64 ignores it too */
  HIP_CALL(hipSuccess);
}
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *out) {
  HIP_CALL(give_int((int *)out, hipFuncCachePreferNone));
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  (void)config;
  HIP_CALL(hipSuccess);
}

static hipError_t priority_range(int *least, int *greatest) {
  if (least)
    *least = 1;
  if (greatest)
    *greatest = -1;
  return hipSuccess;
}
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  HIP_CALL(priority_range(least, greatest));
}
