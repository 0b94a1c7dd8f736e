/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Modules, their functions and variables, and what can be asked of a function.
 */
#include "hipsim.h"

#include <stdlib.h>
#include <string.h>

typedef struct ws_function {
  const ws_sim_kernel *kernel;
} ws_function;

typedef struct ws_module {
  ws_sim_module *code;
  hipFunction_t *functions; /* by kernel; NULL: not asked for yet */
  int count;
} ws_module;

/* ---- loading ---------------------------------------------------------------
 */

static void free_module(ws_module *module) {
  for (int i = 0; module->functions && i < module->count; i++)
    free(ws__hip_handle_destroy(module->functions[i], WS_HANDLE_FUNCTION));
  free(module->functions);
  free(module);
}

static hipError_t adopt(ws_sim *sim, ws_sim_module *code, hipModule_t *out) {
  ws_module *module = calloc(1, sizeof *module);
  int count = ws_sim_kernel_count(code);
  if (module) {
    *module = (ws_module){.code = code, .count = count};
    module->functions = calloc((size_t)count + 1, sizeof(*module->functions));
  }
  void *handle = module && module->functions
                     ? ws__hip_handle_create(WS_HANDLE_MODULE, module)
                     : NULL;
  if (handle) {
    *out = handle;
    return hipSuccess;
  }
  ws_sim_unload(sim, code);
  if (module)
    free_module(module);
  return hipErrorOutOfMemory;
}

hipError_t ws__hip_module_open(const void *image, hipModule_t *out_module) {
  if (!image || !out_module)
    return hipErrorInvalidValue;
  ws_sim *sim = ws__hip_simulator();
  if (!sim)
    return hipErrorNotInitialized;
  ws_image elf;
  hipError_t error = ws__hip_image_open(image, &elf);
  if (error)
    return error;
  ws_diag diag = {0};
  ws_sim_module *code = NULL;
  ws_status status = ws_sim_load(sim, elf.data, elf.size, &code, &diag);
  free(elf.data);
  if (status == WS_OK)
    return adopt(sim, code, out_module);
  ws_log(WS_LOG_ERROR, "%s", diag.text);
  return status == WS_INPUT ? hipErrorInvalidImage : hipErrorUnknown;
}

hipError_t ws__hip_module_close(hipModule_t handle) {
  ws_module *module = ws__hip_handle_destroy(handle, WS_HANDLE_MODULE);
  if (!module)
    return hipErrorInvalidHandle;
  ws__hip_launch_forget(); /* another module may come to lie at these addresses
                            */
  ws_sim_unload(ws__hip_device.sim, module->code);
  free_module(module);
  return hipSuccess;
}

void ws__hip_module_forget(void) {
  uint32_t cursor = 0;
  void *handle;
  while ((handle = ws__hip_handle_next(WS_HANDLE_MODULE, &cursor)))
    ws__hip_module_close(handle);
}

hipError_t hipModuleLoadData(hipModule_t *out, const void *image) {
  HIP_CALL(ws__hip_module_open(image, out));
}
hipError_t hipModuleLoadDataEx(hipModule_t *out, const void *image,
                               unsigned count, hipJitOption *options,
                               void **values) {
  (void)count; /* nothing is compiled here */
  (void)options;
  (void)values;
  HIP_CALL(ws__hip_module_open(image, out));
}

static hipError_t load_file(hipModule_t *out, const char *path) {
  if (!out || !path)
    return hipErrorInvalidValue;
  ws_diag diag = {0};
  ws_arena *arena = ws_arena_create();
  char *data;
  size_t size;
  hipError_t error = hipErrorFileNotFound;
  if (ws_file_read(arena, path, &data, &size, &diag) == WS_OK)
    error = ws__hip_module_open(data, out);
  else
    ws_log(WS_LOG_ERROR, "%s", diag.text);
  ws_arena_destroy(arena);
  return error;
}
hipError_t hipModuleLoad(hipModule_t *out, const char *path) {
  HIP_CALL(load_file(out, path));
}
hipError_t hipModuleUnload(hipModule_t module) {
  HIP_CALL(ws__hip_module_close(module));
}

/* ---- functions and variables
 * -------------------------------------------------- */

static int kernel_index(const ws_module *module, const char *name) {
  const ws_sim_kernel *kernel = ws_sim_kernel_find(module->code, name);
  for (int i = 0; kernel && i < module->count; i++)
    if (ws_sim_kernel_at(module->code, i) == kernel)
      return i;
  return -1;
}

static hipError_t make_function(ws_module *module, int index) {
  ws_function *function = malloc(sizeof *function);
  if (!function)
    return hipErrorOutOfMemory;
  function->kernel = ws_sim_kernel_at(module->code, index);
  module->functions[index] =
      ws__hip_handle_create(WS_HANDLE_FUNCTION, function);
  if (module->functions[index])
    return hipSuccess;
  free(function);
  return hipErrorOutOfMemory;
}

hipError_t ws__hip_module_function(hipModule_t handle, const char *name,
                                   hipFunction_t *out_function) {
  ws_module *module = ws__hip_handle_object(handle, WS_HANDLE_MODULE);
  if (!out_function || !name)
    return hipErrorInvalidValue;
  if (!module)
    return hipErrorInvalidHandle;
  int index = kernel_index(module, name);
  if (index < 0)
    return hipErrorNotFound;
  hipError_t error =
      module->functions[index] ? hipSuccess : make_function(module, index);
  if (!error)
    *out_function = module->functions[index];
  return error;
}
hipError_t hipModuleGetFunction(hipFunction_t *out, hipModule_t module,
                                const char *name) {
  HIP_CALL(ws__hip_module_function(module, name, out));
}

hipError_t ws__hip_module_variable(hipModule_t handle, const char *name,
                                   void **out_address, size_t *out_bytes) {
  const ws_module *module = ws__hip_handle_object(handle, WS_HANDLE_MODULE);
  if (!name || (!out_address && !out_bytes))
    return hipErrorInvalidValue;
  if (!module)
    return hipErrorInvalidHandle;
  void *address;
  size_t bytes;
  if (!ws_sim_variable(module->code, name, &address, &bytes))
    return hipErrorNotFound;
  if (out_address)
    *out_address = address;
  if (out_bytes)
    *out_bytes = bytes;
  return hipSuccess;
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t *out, size_t *out_bytes,
                              hipModule_t module, const char *name) {
  HIP_CALL(ws__hip_module_variable(module, name, out, out_bytes));
}

const ws_sim_kernel *ws__hip_kernel(hipFunction_t handle) {
  const ws_function *function =
      ws__hip_handle_object(handle, WS_HANDLE_FUNCTION);
  return function ? function->kernel : NULL;
}

/* ---- arguments -------------------------------------------------------------
 */

bool ws__hip_argument_is_hidden(const ws_sim_argument *argument) {
  return !strncmp(argument->kind, "hidden_", 7);
}

size_t ws__hip_explicit_size(const ws_sim_kernel_info *info) {
  size_t end = 0;
  for (int i = 0; i < info->arg_count; i++) {
    const ws_sim_argument *argument = &info->args[i];
    if (ws__hip_argument_is_hidden(argument) || argument->offset < 0 ||
        argument->size < 0)
      continue;
    size_t here = (size_t)argument->offset + (size_t)argument->size;
    end = here > end ? here : end;
  }
  return end;
}

/* ---- occupancy --------------------------------------------------------------
 * Of gfx942, LLVM AMDGPUUsage and GCNSubtarget: a SIMD has 512 VGPRs, given out
 * by 8, architectural and accumulation ones together, 800 SGPRs, given out by
 * 16, and 8 wave slots; a CU has four SIMDs and 64 KiB of LDS, given out by
 * 512 bytes. Waves to workgroups as libamdhip64 counts: over all four SIMDs.
 */

enum {
  SIMDS = 4,
  WAVE_SLOTS = 8,
  VGPR_FILE = 512,
  VGPR_GRANULE = 8,
  SGPR_FILE = 800,
  SGPR_GRANULE = 16,
  LDS_GRANULE = 512
};

static int round_up(int value, int granule) {
  return (value + granule - 1) / granule * granule;
}

static int least(int a, int b) { return a < b ? a : b; }

int ws__hip_occupancy(const ws_sim_kernel_info *info, int threads,
                      size_t dynamic_lds) {
  size_t lds = (size_t)info->lds_bytes + dynamic_lds;
  if (threads < 1 || threads > WS_DEVICE_MAX_THREADS ||
      dynamic_lds > WS_DEVICE_LDS_BYTES || lds > WS_DEVICE_LDS_BYTES)
    return 0;
  int waves = WAVE_SLOTS;
  if (info->vgpr > 0)
    waves = least(waves, VGPR_FILE / round_up(info->vgpr, VGPR_GRANULE));
  if (info->sgpr > 0)
    waves = least(waves, SGPR_FILE / round_up(info->sgpr, SGPR_GRANULE));
  int workgroups = waves * SIMDS / ((threads + 63) / 64);
  if (lds)
    workgroups = least(workgroups,
                       WS_DEVICE_LDS_BYTES / round_up((int)lds, LDS_GRANULE));
  return workgroups;
}

/* Either a hipFunction_t or a host-side stand-in. */
static hipError_t info_of(const void *function,
                          const ws_sim_kernel_info **out_info) {
  hipFunction_t handle;
  hipError_t error = ws__hip_any_function(function, &handle);
  if (!error)
    *out_info = ws_sim_kernel_info_of(ws__hip_kernel(handle));
  return error;
}

static hipError_t active_blocks(int *out, const void *function, int threads,
                                size_t lds) {
  const ws_sim_kernel_info *info;
  if (!out || threads < 1)
    return hipErrorInvalidValue;
  hipError_t error = info_of(function, &info);
  if (!error)
    *out = ws__hip_occupancy(info, threads, lds);
  return error;
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *out, hipFunction_t function, int threads, size_t lds) {
  HIP_CALL(active_blocks(out, function, threads, lds));
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *out, hipFunction_t function, int threads, size_t lds, unsigned flags) {
  (void)flags;
  HIP_CALL(active_blocks(out, function, threads, lds));
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *out,
                                                        const void *function,
                                                        int threads,
                                                        size_t lds) {
  HIP_CALL(active_blocks(out, function, threads, lds));
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *out, const void *function, int threads, size_t lds, unsigned flags) {
  (void)flags;
  HIP_CALL(active_blocks(out, function, threads, lds));
}

/* The block with the most threads on a CU; of equals the largest. */
static hipError_t best_block(int *out_grid, int *out_block,
                             const void *function, size_t lds, int limit) {
  const ws_sim_kernel_info *info;
  if (!out_grid || !out_block)
    return hipErrorInvalidValue;
  hipError_t error = info_of(function, &info);
  if (error)
    return error;
  int most = least(WS_DEVICE_MAX_THREADS, info->max_workgroup);
  if (limit > 0)
    most = least(most, limit);
  int best_threads = 0;
  for (int threads = round_up(most, 64); threads > 0; threads -= 64) {
    int block = least(threads, most);
    int workgroups = ws__hip_occupancy(info, block, lds);
    if (workgroups * block <= best_threads)
      continue;
    best_threads = workgroups * block;
    *out_block = block;
    *out_grid = workgroups * ws__hip_properties()->multiProcessorCount;
  }
  return best_threads ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *out_grid,
                                                   int *out_block,
                                                   hipFunction_t function,
                                                   size_t lds, int limit) {
  HIP_CALL(best_block(out_grid, out_block, function, lds, limit));
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int *out_grid, int *out_block, hipFunction_t function, size_t lds,
    int limit, unsigned flags) {
  (void)flags;
  HIP_CALL(best_block(out_grid, out_block, function, lds, limit));
}
hipError_t hipOccupancyMaxPotentialBlockSize(int *out_grid, int *out_block,
                                             const void *function, size_t lds,
                                             int limit) {
  HIP_CALL(best_block(out_grid, out_block, function, lds, limit));
}

/* ---- attributes of a function
 * -------------------------------------------------- */

static int binary_version(void) {
  return ws__hip_properties()->major * 10 + ws__hip_properties()->minor;
}

static hipFuncAttributes attributes_of(const ws_sim_kernel_info *info) {
  return (hipFuncAttributes){
      .binaryVersion = binary_version(),
      .ptxVersion = binary_version(),
      .localSizeBytes = (size_t)info->scratch_bytes,
      .sharedSizeBytes = (size_t)info->lds_bytes,
      .maxDynamicSharedSizeBytes = WS_DEVICE_LDS_BYTES - info->lds_bytes,
      .maxThreadsPerBlock = info->max_workgroup,
      .numRegs = info->vgpr,
  };
}

static hipError_t function_attributes(hipFuncAttributes *out,
                                      const void *function) {
  const ws_sim_kernel_info *info;
  if (!out)
    return hipErrorInvalidValue;
  hipError_t error = info_of(function, &info);
  if (!error)
    *out = attributes_of(info);
  return error;
}
hipError_t hipFuncGetAttributes(hipFuncAttributes *out, const void *function) {
  HIP_CALL(function_attributes(out, function));
}

static hipError_t function_attribute(int *out, hipFunction_attribute wanted,
                                     hipFunction_t function) {
  hipFuncAttributes all;
  if (!out)
    return hipErrorInvalidValue;
  hipError_t error = function_attributes(&all, function);
  if (error)
    return error;
  switch ((int)wanted) {
#define ATTRIBUTE_CASE(name, field)                                            \
  case HIP_FUNC_ATTRIBUTE_##name:                                              \
    *out = (int)all.field;                                                     \
    return hipSuccess;
    ATTRIBUTE_CASE(MAX_THREADS_PER_BLOCK, maxThreadsPerBlock)
    ATTRIBUTE_CASE(SHARED_SIZE_BYTES, sharedSizeBytes)
    ATTRIBUTE_CASE(CONST_SIZE_BYTES, constSizeBytes)
    ATTRIBUTE_CASE(LOCAL_SIZE_BYTES, localSizeBytes)
    ATTRIBUTE_CASE(NUM_REGS, numRegs)
    ATTRIBUTE_CASE(PTX_VERSION, ptxVersion)
    ATTRIBUTE_CASE(BINARY_VERSION, binaryVersion)
    ATTRIBUTE_CASE(CACHE_MODE_CA, cacheModeCA)
    ATTRIBUTE_CASE(MAX_DYNAMIC_SHARED_SIZE_BYTES, maxDynamicSharedSizeBytes)
    ATTRIBUTE_CASE(PREFERRED_SHARED_MEMORY_CARVEOUT, preferredShmemCarveout)
#undef ATTRIBUTE_CASE
  default:
    return hipErrorInvalidValue;
  }
}
hipError_t hipFuncGetAttribute(int *out, hipFunction_attribute wanted,
                               hipFunction_t function) {
  HIP_CALL(function_attribute(out, wanted, function));
}

/* All 64 KiB are there for every kernel; there is nothing to set. */
static hipError_t set_attribute(const void *function, hipFuncAttribute which,
                                int value) {
  const ws_sim_kernel_info *info;
  hipError_t error = info_of(function, &info);
  if (error)
    return error;
  if (which == hipFuncAttributePreferredSharedMemoryCarveout)
    return hipSuccess;
  if (which != hipFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > WS_DEVICE_LDS_BYTES - info->lds_bytes)
    return hipErrorInvalidValue;
  return hipSuccess;
}
hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute which,
                               int value) {
  HIP_CALL(set_attribute(function, which, value));
}
hipError_t hipFuncSetCacheConfig(const void *function, hipFuncCache_t config) {
  const ws_sim_kernel_info *info;
  (void)config;
  HIP_CALL(info_of(function, &info));
}
hipError_t hipFuncSetSharedMemConfig(const void *function,
                                     hipSharedMemConfig config) {
  const ws_sim_kernel_info *info;
  (void)config;
  HIP_CALL(info_of(function, &info));
}
