/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What clang puts into a HIP program: constructors that register its fat
 * binaries and the host-side stand-ins of kernels and variables, and the calls
 * that kernel<<<...>>>(...) becomes. A fat binary is loaded when one of its
 * kernels or variables is first used, as libamdhip64 does, so that a program
 * whose other kernels the simulator does not know still runs.
 */
#include "hipsim.h"

#include <stdlib.h>
#include <string.h>

/* clang's __ClangOffloadBundle wrapper (CGCUDANV.cpp). */
typedef struct fat_wrapper {
  uint32_t magic, version;
  const void *binary;
  void *unused;
} fat_wrapper;
enum { FAT_MAGIC = 0x48495046 /* "HIPF" */ };

typedef struct fat_binary {
  const void *image;
  hipModule_t module; /* NULL, or of before a reset: to be loaded */
} fat_binary;

/* A kernel or a variable. */
typedef struct stand_in {
  const void *host; /* NULL: free */
  void *binary;     /* handle */
  char *name;
  bool variable;
} stand_in;

/* Open addressing by address; capacity is a power of two. */
static stand_in *table;
static size_t table_count, table_capacity;

/* ---- the table --------------------------------------------------------------
 */

static size_t place_of(const void *host) {
  size_t mask = table_capacity - 1;
  /* Fibonacci hashing: 2^64 / golden ratio */
  size_t at =
      (size_t)(((uint64_t)(uintptr_t)host * 0x9e3779b97f4a7c15u) >> 32) & mask;
  while (table[at].host && table[at].host != host)
    at = (at + 1) & mask;
  return at;
}

static bool make_room(void) {
  if (table_count * 2 < table_capacity)
    return true;
  stand_in *old = table;
  size_t old_capacity = table_capacity;
  size_t wanted = old_capacity ? old_capacity * 2 : 256;
  stand_in *larger = calloc(wanted, sizeof *larger);
  if (!larger)
    return false;
  table = larger;
  table_capacity = wanted;
  for (size_t i = 0; i < old_capacity; i++)
    if (old[i].host)
      table[place_of(old[i].host)] = old[i];
  free(old);
  return true;
}

static void add(void *binary, const void *host, const char *name,
                bool variable) {
  if (!host || !name || !ws__hip_handle_object(binary, WS_HANDLE_FAT_BINARY) ||
      !make_room())
    return;
  stand_in *row = &table[place_of(host)];
  if (!row->host)
    table_count++;
  free(row->name);
  *row = (stand_in){host, binary, strdup(name), variable};
}

static const stand_in *find(const void *host, bool variable) {
  if (!host || !table_capacity)
    return NULL;
  const stand_in *row = &table[place_of(host)];
  return row->host && row->name && row->variable == variable ? row : NULL;
}

/* The rows stay (a module's constructors do not run again); without their
 * binary nothing finds them. */
static hipError_t module_of(const stand_in *row, hipModule_t *out) {
  fat_binary *binary = ws__hip_handle_object(row->binary, WS_HANDLE_FAT_BINARY);
  if (!binary)
    return hipErrorInvalidImage;
  hipError_t error = binary->module
                         ? hipSuccess
                         : ws__hip_module_open(binary->image, &binary->module);
  *out = binary->module;
  return error;
}

void ws__hip_registered_forget(void) {
  uint32_t cursor = 0;
  void *handle;
  while ((handle = ws__hip_handle_next(WS_HANDLE_FAT_BINARY, &cursor))) {
    fat_binary *binary = ws__hip_handle_object(handle, WS_HANDLE_FAT_BINARY);
    binary->module = NULL;
  }
}

hipError_t ws__hip_registered_function(const void *host, hipFunction_t *out) {
  const stand_in *row = find(host, false);
  hipModule_t module;
  if (!row)
    return hipErrorInvalidDeviceFunction;
  hipError_t error = module_of(row, &module);
  if (!error)
    error = ws__hip_module_function(module, row->name, out);
  return error == hipErrorNotFound ? hipErrorInvalidDeviceFunction : error;
}

hipError_t ws__hip_registered_variable(const void *host, void **out_address,
                                       size_t *out_bytes) {
  const stand_in *row = find(host, true);
  hipModule_t module;
  if (!row)
    return hipErrorInvalidSymbol;
  hipError_t error = module_of(row, &module);
  if (!error)
    error = ws__hip_module_variable(module, row->name, out_address, out_bytes);
  return error == hipErrorNotFound ? hipErrorInvalidSymbol : error;
}

hipError_t ws__hip_any_function(const void *function, hipFunction_t *out) {
  hipFunction_t handle = (hipFunction_t)(uintptr_t)function;
  if (!ws__hip_kernel(handle))
    return ws__hip_registered_function(function, out);
  *out = handle;
  return hipSuccess;
}

/* ---- what constructors and destructors call
 * ----------------------------------- */

void **__hipRegisterFatBinary(const void *data);
void __hipUnregisterFatBinary(void **binary);
void __hipRegisterFunction(void **binary, const void *host, char *name,
                           const char *device_name, unsigned thread_limit,
                           void *thread, void *block, void *block_extent,
                           void *grid_extent, int *wave_size);
void __hipRegisterVar(void **binary, void *host, char *name, char *device_name,
                      int is_extern, size_t bytes, int constant, int global);
void __hipRegisterManagedVar(void *binary, void **pointer, void *initial,
                             const char *name, size_t bytes, unsigned align);
void __hipRegisterSurface(void **binary, void *host, char *name,
                          char *device_name, int type, int ext);
void __hipRegisterTexture(void **binary, void *host, char *name,
                          char *device_name, int type, int normalized, int ext);

static void *register_binary(const void *data) {
  fat_wrapper wrapper;
  if (!ws__hip_memory_copy(&wrapper, data, sizeof wrapper) ||
      wrapper.magic != FAT_MAGIC || wrapper.version != 1)
    return NULL;
  fat_binary *binary = calloc(1, sizeof *binary);
  if (!binary)
    return NULL;
  binary->image = wrapper.binary;
  void *handle = ws__hip_handle_create(WS_HANDLE_FAT_BINARY, binary);
  if (!handle)
    free(binary);
  return handle;
}

void **__hipRegisterFatBinary(const void *data) {
  ws__hip_enter();
  void *handle = register_binary(data);
  ws__hip_leave(hipSuccess);
  return handle;
}

void __hipUnregisterFatBinary(void **handle) {
  ws__hip_enter();
  fat_binary *binary = ws__hip_handle_destroy(handle, WS_HANDLE_FAT_BINARY);
  if (binary && binary->module)
    ws__hip_module_close(binary->module);
  free(binary);
  ws__hip_leave(hipSuccess);
}

void __hipRegisterFunction(void **binary, const void *host, char *name,
                           const char *device_name, unsigned thread_limit,
                           void *thread, void *block, void *block_extent,
                           void *grid_extent, int *wave_size) {
  (void)name;
  (void)thread_limit;
  (void)thread;
  (void)block;
  (void)block_extent;
  (void)grid_extent;
  (void)wave_size;
  ws__hip_enter();
  add(binary, host, device_name, false);
  ws__hip_leave(hipSuccess);
}

void __hipRegisterVar(void **binary, void *host, char *name, char *device_name,
                      int is_extern, size_t bytes, int constant, int global) {
  (void)name;
  (void)is_extern;
  (void)bytes;
  (void)constant;
  (void)global;
  ws__hip_enter();
  add(binary, host, device_name, true);
  ws__hip_leave(hipSuccess);
}

/* Not simulated: the program learns of it when it uses the variable. */
void __hipRegisterManagedVar(void *binary, void **pointer, void *initial,
                             const char *name, size_t bytes, unsigned align) {
  (void)binary;
  (void)initial;
  (void)bytes;
  (void)align;
  ws_log(WS_LOG_WARN, "__managed__ variable %s is not simulated",
         name ? name : "");
  if (pointer)
    *pointer = NULL;
}
void __hipRegisterSurface(void **binary, void *host, char *name,
                          char *device_name, int type, int ext) {
  (void)binary;
  (void)host;
  (void)device_name;
  (void)type;
  (void)ext;
  ws_log(WS_LOG_WARN, "surface %s is not simulated", name ? name : "");
}
void __hipRegisterTexture(void **binary, void *host, char *name,
                          char *device_name, int type, int normalized,
                          int ext) {
  (void)binary;
  (void)host;
  (void)device_name;
  (void)type;
  (void)normalized;
  (void)ext;
  ws_log(WS_LOG_WARN, "texture %s is not simulated", name ? name : "");
}

/* ---- kernel<<<grid, block, lds, stream>>>
 * -------------------------------------- */

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds,
                                      hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds,
                                     hipStream_t *stream);

/* Arguments of a call may themselves launch, so it is a stack. */
enum { CALL_DEPTH = 64 };
static _Thread_local struct call {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
} calls[CALL_DEPTH];
static _Thread_local int call_depth;

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds,
                                      hipStream_t stream) {
  if (call_depth == CALL_DEPTH)
    return hipErrorMissingConfiguration;
  calls[call_depth++] = (struct call){grid, block, lds, stream};
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds,
                                     hipStream_t *stream) {
  if (!call_depth || !grid || !block || !lds || !stream)
    return hipErrorMissingConfiguration;
  struct call call = calls[--call_depth];
  *grid = call.grid;
  *block = call.block;
  *lds = call.lds;
  *stream = call.stream;
  return hipSuccess;
}

static hipError_t launch_registered(const void *host, dim3 grid, dim3 block,
                                    void **params, size_t lds,
                                    hipStream_t stream, hipEvent_t start,
                                    hipEvent_t stop) {
  ws_launch_request request = {.grid = {grid.x, grid.y, grid.z},
                               .block = {block.x, block.y, block.z},
                               .lds = lds,
                               .stream = stream,
                               .params = params,
                               .start = start,
                               .stop = stop};
  hipError_t error = ws__hip_any_function(host, &request.function);
  return error ? error : ws__hip_launch(&request);
}

hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block,
                           void **params, size_t lds, hipStream_t stream) {
  HIP_WORK(
      launch_registered(host, grid, block, params, lds, stream, NULL, NULL));
}
hipError_t hipExtLaunchKernel(const void *host, dim3 grid, dim3 block,
                              void **params, size_t lds, hipStream_t stream,
                              hipEvent_t start, hipEvent_t stop, int flags) {
  (void)flags;
  HIP_WORK(
      launch_registered(host, grid, block, params, lds, stream, start, stop));
}

/* ---- by symbol
 * --------------------------------------------------------------- */

static hipError_t function_by_symbol(hipFunction_t *out, const void *host) {
  return out ? ws__hip_registered_function(host, out) : hipErrorInvalidValue;
}
hipError_t hipGetFuncBySymbol(hipFunction_t *out, const void *host) {
  HIP_CALL(function_by_symbol(out, host));
}
hipError_t hipGetSymbolAddress(void **out, const void *host) {
  HIP_CALL(out ? ws__hip_registered_variable(host, out, NULL)
               : hipErrorInvalidValue);
}
hipError_t hipGetSymbolSize(size_t *out, const void *host) {
  HIP_CALL(out ? ws__hip_registered_variable(host, NULL, out)
               : hipErrorInvalidValue);
}
