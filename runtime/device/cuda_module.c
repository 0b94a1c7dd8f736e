/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Code on an NVIDIA card: modules out of cubins or PTX, launches, tensor maps.
 * PTX is compiled by the driver; what its compiler says to an error is in the
 * diag. Kernels are looked up once a module and name.
 */
#include "cuda_device.h"
#include "../rt/cuda_tensor.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver looks at the first bytes to know what it has; PTX with no more
 * than its version and target is longer than this. */
enum { MAX_FUNCTIONS = 16, LOG_BYTES = 8192, SHORTEST_CODE = 16 };

typedef struct loaded_kernel {
  char name[WS__CUDA_NAME_BYTES];
  ws_cu_function function;
  int dynamic_lds; /* that launches may ask for so far */
} loaded_kernel;

struct ws_device_module {
  ws_cu_module module;
  loaded_kernel kernels[MAX_FUNCTIONS]; /* looked up so far */
  int kernel_count;
};

/* ---- loading ------------------------------------------------------------- */

static bool is_elf(const void *code, size_t bytes) {
  return bytes >= 4 && !memcmp(code,
                               "\x7f"
                               "ELF",
                               4);
}

/* The first line that says something, without what surrounds it. */
static void first_line(char *log) {
  size_t start = strspn(log, " \t\r\n");
  size_t length = strcspn(log + start, "\r\n");
  memmove(log, log + start, length);
  log[length] = 0;
}

static ws_status explain(ws_device *device, ws_cu_result error, char *log,
                         ws_diag *diag) {
  ws_diag plain;
  first_line(log);
  ws_status status = ws__cuda_check(device, error, "loading the code", &plain);
  return ws_fail(diag, status, NULL, 0, "%s%s%s%s", plain.text,
                 log[0] ? " (" : "", log, log[0] ? ")" : "");
}

/* The driver is not told how many bytes there are and reads what the header
 * says. */
static bool is_whole(const void *code, size_t bytes) {
  Elf64_Ehdr header;
  if (bytes < sizeof header)
    return false;
  memcpy(&header, code, sizeof header);
  uint64_t sections = (uint64_t)header.e_shnum * header.e_shentsize;
  uint64_t segments = (uint64_t)header.e_phnum * header.e_phentsize;
  return header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_machine == EM_CUDA && header.e_shoff <= bytes &&
         sections <= bytes - header.e_shoff && header.e_phoff <= bytes &&
         segments <= bytes - header.e_phoff;
}

static ws_status load_cubin(ws_device *device, const void *code, size_t bytes,
                            ws_cu_module *out, ws_diag *diag) {
  if (!is_whole(code, bytes))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "loading the code: %zu bytes that begin as ELF and are no "
                   "whole cubin; build it again",
                   bytes);
  return WS__CUDA_CALL(device, "loading the code", diag,
                       cuModuleLoadDataEx(out, code, 0, NULL, NULL));
}

/* text ends with NUL. */
static ws_status load_ptx(ws_device *device, const char *text,
                          ws_cu_module *out, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  char errors[LOG_BYTES] = "", notes[LOG_BYTES] = "";
  unsigned options[] = {
      WS_CU_JIT_ERROR_LOG_BUFFER, WS_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
      WS_CU_JIT_INFO_LOG_BUFFER, WS_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  /* Sizes are passed in the pointers themselves; one byte is kept for the NUL.
   */
  void *values[] = {errors, (void *)(uintptr_t)(LOG_BYTES - 1), notes,
                    (void *)(uintptr_t)(LOG_BYTES - 1)};
  ws_cu_result error =
      cuda->lost ? cuda->lost
                 : cuda->cuModuleLoadDataEx(out, text,
                                            sizeof options / sizeof options[0],
                                            options, values);
  if (error != WS_CUDA_SUCCESS)
    return explain(device, error, errors, diag);
  if (notes[0])
    ws_log(WS_LOG_DEBUG, "the driver's PTX compiler: %s", notes);
  return WS_OK;
}

static ws_status load_text(ws_device *device, const char *code, size_t bytes,
                           ws_cu_module *out, ws_diag *diag) {
  if (bytes > 0 && !code[bytes - 1])
    return load_ptx(device, code, out, diag);
  char *copy = malloc(bytes + 1);
  WS_ASSERT(copy && "out of memory");
  memcpy(copy, code, bytes);
  copy[bytes] = 0;
  ws_status status = load_ptx(device, copy, out, diag);
  free(copy);
  return status;
}

ws_status ws__cuda_load(ws_device *device, const void *code_object,
                        size_t bytes, ws_device_module **out_module,
                        ws_diag *diag) {
  if (bytes < SHORTEST_CODE)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "loading the code: %zu bytes are neither a cubin nor PTX",
                   bytes);
  ws_device_module *module = calloc(1, sizeof *module);
  WS_ASSERT(module && "out of memory");
  ws_status status =
      is_elf(code_object, bytes)
          ? load_cubin(device, code_object, bytes, &module->module, diag)
          : load_text(device, code_object, bytes, &module->module, diag);
  if (status != WS_OK) {
    free(module);
    return status;
  }
  *out_module = module;
  return WS_OK;
}

void ws__cuda_unload(ws_device *device, ws_device_module *module) {
  const ws__cuda *cuda = ws__cuda_of(device);
  if (!cuda->lost)
    (void)cuda->cuModuleUnload(module->module);
  free(module);
}

/* ---- kernels ------------------------------------------------------------- */

static ws_status read_kernel(ws_device *device, ws_device_module *module,
                             const char *name, loaded_kernel *out,
                             ws_diag *diag) {
  WS_TRY(
      WS__CUDA_CALL(device, name, diag,
                    cuModuleGetFunction(&out->function, module->module, name)));
  WS_TRY(WS__CUDA_CALL(
      device, name, diag,
      cuFuncGetAttribute(&out->dynamic_lds,
                         WS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                         out->function)));
  snprintf(out->name, sizeof out->name, "%s", name);
  return WS_OK;
}

/* More kernels than a module has places for share the last one. */
static ws_status find_kernel(ws_device *device, ws_device_module *module,
                             const char *name, loaded_kernel **out,
                             ws_diag *diag) {
  if (strlen(name) >= WS__CUDA_NAME_BYTES)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%.40s...: a kernel's name has at most %d bytes", name,
                   WS__CUDA_NAME_BYTES - 1);
  for (int i = 0; i < module->kernel_count; i++)
    if (!strcmp(module->kernels[i].name, name)) {
      *out = &module->kernels[i];
      return WS_OK;
    }
  loaded_kernel found = {.function = NULL};
  WS_TRY(read_kernel(device, module, name, &found, diag));
  if (module->kernel_count < MAX_FUNCTIONS)
    module->kernel_count++;
  *out = &module->kernels[module->kernel_count - 1];
  **out = found;
  return WS_OK;
}

ws_status ws__cuda_kernel_of(ws_device *device, ws_device_module *module,
                             const char *name, ws_device_kernel *out,
                             ws_diag *diag) {
  const struct {
    unsigned attribute;
    int *place;
  } facts[] = {{WS_CU_FUNC_ATTRIBUTE_NUM_REGS, &out->registers},
               {WS_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &out->local_bytes},
               {WS_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &out->lds_bytes}};
  loaded_kernel *found;
  WS_TRY(find_kernel(device, module, name, &found, diag));
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
    WS_TRY(WS__CUDA_CALL(device, name, diag,
                         cuFuncGetAttribute(facts[i].place, facts[i].attribute,
                                            found->function)));
  return WS_OK;
}

/* ---- launches ------------------------------------------------------------ */

/* Without being asked a kernel gets 48 KB of shared memory at most. */
static ws_status allow_shared_memory(ws_device *device, loaded_kernel *kernel,
                                     uint32_t bytes, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  if (bytes <= (uint32_t)kernel->dynamic_lds)
    return WS_OK;
  int most = 0;
  WS_TRY(WS__CUDA_CALL(
      device, kernel->name, diag,
      cuDeviceGetAttribute(
          &most, WS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          cuda->card)));
  if (bytes > (uint32_t)most)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: wants %u bytes of dynamic shared memory; the card "
                   "gives a workgroup %d at most",
                   kernel->name, bytes, most);
  WS_TRY(WS__CUDA_CALL(
      device, kernel->name, diag,
      cuFuncSetAttribute(kernel->function,
                         WS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                         (int)bytes)));
  kernel->dynamic_lds = (int)bytes;
  return WS_OK;
}

static ws_status launch_failed(ws_device *device,
                               const ws_device_launch *launch,
                               ws_cu_result error, ws_diag *diag) {
  char what[WS__CUDA_NAME_BYTES + 160];
  snprintf(what, sizeof what,
           "%s (grid %u,%u,%u of %u,%u,%u threads, %u bytes of shared memory, "
           "%zu of arguments)",
           launch->kernel, launch->grid[0], launch->grid[1], launch->grid[2],
           launch->block[0], launch->block[1], launch->block[2],
           launch->dynamic_lds, launch->kernarg_bytes);
  return ws__cuda_check(device, error, what, diag);
}

enum { MAX_ARGUMENTS = 64 };

/* Arguments are copied to an address with the alignment of a tensor map, so
 * that their offsets alone decide how each is aligned. They are passed one by
 * one: what CU_LAUNCH_PARAM_BUFFER_POINTER takes as one piece lands elsewhere
 * than kernels with tensor maps expect it (seen on an H200, driver 580). */
ws_status ws__cuda_start(ws_device *device, ws_device_module *module,
                         const ws_device_launch *launch, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  loaded_kernel *kernel;
  WS_TRY(find_kernel(device, module, launch->kernel, &kernel, diag));
  WS_TRY(allow_shared_memory(device, kernel, launch->dynamic_lds, diag));
  size_t size = launch->kernarg_bytes;
  if (size > WS__CUDA_KERNARG_BYTES)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: %zu bytes of arguments; at most %d are possible",
                   launch->kernel, size, WS__CUDA_KERNARG_BYTES);
  if (launch->argument_count > MAX_ARGUMENTS)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: %u arguments; at most %d are possible", launch->kernel,
                   launch->argument_count, MAX_ARGUMENTS);
  if (size > 0)
    memcpy(cuda->kernarg, launch->kernarg, size);
  void *arguments[MAX_ARGUMENTS];
  for (uint32_t i = 0; i < launch->argument_count; i++)
    arguments[i] = cuda->kernarg + launch->argument_offsets[i];
  ws_cu_result error =
      cuda->lost ? cuda->lost
                 : cuda->cuLaunchKernel(kernel->function, launch->grid[0],
                                        launch->grid[1], launch->grid[2],
                                        launch->block[0], launch->block[1],
                                        launch->block[2], launch->dynamic_lds,
                                        cuda->stream, arguments, NULL);
  if (error != WS_CUDA_SUCCESS)
    return launch_failed(device, launch, error, diag);
  snprintf(cuda->last_kernel, sizeof cuda->last_kernel, "%s", kernel->name);
  return WS_OK;
}

/* ---- tensor maps --------------------------------------------------------- */

/* The rules of cuTensorMapEncodeTiled's documentation: the driver itself only
 * says that a value is invalid. NULL: none is broken. */
static const char *broken_rule(const ws_device_tensor *t) {
  const uint64_t most = UINT64_C(1) << 32;
  uint64_t element = (uint64_t)t->element_bytes;
  uint64_t row = t->inner * element, box_row = t->box_inner * element;
  const struct {
    bool broken;
    const char *text;
  } rules[] = {
      {ws__cu_data_type((unsigned)t->element_bytes) < 0,
       "elements have 1, 2 or 4 bytes"},
      {ws__cu_swizzle(t->swizzle) < 0,
       "swizzles are of 0, 32, 64 or 128 bytes"},
      {(uintptr_t)t->address % 16 != 0, "the address is a multiple of 16"},
      {t->inner < 1 || t->inner > most || t->outer < 1 || t->outer > most,
       "sizes are 1 to 2^32"},
      {t->outer > 1 && row % 16 != 0, "rows have a multiple of 16 bytes"},
      {t->box_inner < 1 || t->box_inner > 256 || t->box_outer < 1 ||
           t->box_outer > 256,
       "a box is 1 to 256 elements wide and high"},
      {box_row % 16 != 0, "a box's row has a multiple of 16 bytes"},
      {t->swizzle && box_row > t->swizzle,
       "a box's row is no longer than the swizzle"},
  };
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (rules[i].broken)
      return rules[i].text;
  return NULL;
}

ws_status ws__cuda_tensor_map(ws_device *device, const ws_device_tensor *tensor,
                              unsigned char out_map[WS_TENSOR_MAP_BYTES],
                              ws_diag *diag) {
  _Static_assert(sizeof(ws_cu_tensor_map) == WS_TENSOR_MAP_BYTES, "");
  const char *rule = broken_rule(tensor);
  if (rule)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "no tensor map of boxes %ux%u of %d bytes in [%llu][%llu], "
                   "swizzle %u: %s",
                   tensor->box_outer, tensor->box_inner, tensor->element_bytes,
                   (unsigned long long)tensor->outer,
                   (unsigned long long)tensor->inner, tensor->swizzle, rule);
  if (!ws__cuda_of(device)->cuTensorMapEncodeTiled)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "the CUDA driver lacks cuTensorMapEncodeTiled; CUDA 12's "
                   "or newer is needed");
  const ws__cuda *cuda = ws__cuda_of(device);
  const ws__cu_matrix matrix = {.address = tensor->address,
                                .element_bytes =
                                    (unsigned)tensor->element_bytes,
                                .inner = tensor->inner,
                                .outer = tensor->outer,
                                .box_inner = tensor->box_inner,
                                .box_outer = tensor->box_outer,
                                .swizzle = tensor->swizzle};
  ws_cu_tensor_map map;
  WS_TRY(ws__cuda_check(
      device,
      cuda->lost ? cuda->lost
                 : ws__cu_encode(cuda->cuTensorMapEncodeTiled, &matrix, &map),
      "cuTensorMapEncodeTiled", diag));
  memcpy(out_map, &map, sizeof map);
  return WS_OK;
}
