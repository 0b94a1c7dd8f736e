/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A stand-in for libcuda.so.1: it has no device, it records what it is asked,
 * one line per call, and answers as the environment says:
 *   FAKE_CUDA_CAPABILITY  of every device (90)
 *   FAKE_CUDA_DEVICES     number of devices (1)
 *   FAKE_CUDA_SMS         multiprocessors of device d: this plus d (132)
 *   FAKE_CUDA_FAIL        "cuModuleLoadDataEx:2=222": the second such call
 *                         fails with that code
 *   FAKE_CUDA_JIT_LOG     what the driver's compiler says when it fails
 * Contexts are kept as CUDA keeps them, a stack per thread; modules, functions
 * and streams belong to one. While a stream is captured, a call that would end
 * the capture on a card is recorded as forbidden.
 */
#include "../../runtime/rt/cuda_abi.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, parameters) ws_cu_result name parameters;
WS_CU_FUNCTIONS(DECLARE)
WS_CU_OPTIONAL_FUNCTIONS(DECLARE)
WS_CU_CONTEXT_FUNCTIONS(DECLARE)
DECLARE(cuCtxCreate_v2,
        (ws_cu_context * out_context, unsigned flags, ws_cu_device device))

const char *fake_cuda_log(void);
void fake_cuda_clear_log(void);

enum { MAX_DEVICES = 8, INVALID_CONTEXT = 201 };

/* Fixed sizes: the tests count allocations of the code under test. */
static char log_text[1 << 17];
static size_t log_size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_capturing;

typedef struct context {
  int device, is_primary, references;
} context;
static context contexts[64];
static int context_count;
static _Thread_local context *stack[16];
static _Thread_local int depth;

/* A module or function handle points at one of these. */
static struct object {
  char name[256];
  const context *context;
  int dynamic_limit;
} objects[512];
static int object_count;

const char *fake_cuda_log(void) { return log_text; }

void fake_cuda_clear_log(void) {
  log_size = 0;
  log_text[0] = 0;
}

static int setting(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? (int)strtol(text, NULL, 10) : otherwise;
}

__attribute__((format(printf, 1, 2))) static void record(const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&lock);
  log_size += (size_t)vsnprintf(log_text + log_size, sizeof log_text - log_size,
                                format, arguments);
  if (log_size >= sizeof log_text)
    abort();
  pthread_mutex_unlock(&lock);
  va_end(arguments);
}

/* The code that FAKE_CUDA_FAIL has for this call of name; 0: none. */
static ws_cu_result failure_of(const char *name) {
  static int calls;
  const char *wish = getenv("FAKE_CUDA_FAIL");
  size_t size = strlen(name);
  if (!wish || strncmp(wish, name, size) || wish[size] != ':')
    return 0;
  const char *code = strchr(wish, '=');
  return ++calls == strtol(wish + size + 1, NULL, 10) && code
             ? (ws_cu_result)strtol(code + 1, NULL, 10)
             : 0;
}

/* What no call but a launch may do while a stream is captured. */
static void not_in_capture(const char *name) {
  if (is_capturing)
    record("forbidden %s\n", name);
}

#define CALL(name)                                                             \
  do {                                                                         \
    ws_cu_result code = failure_of(#name);                                     \
    if (code)                                                                  \
      return code;                                                             \
  } while (0)

static context *current(void) { return depth ? stack[depth - 1] : NULL; }

static struct object *new_object(const char *name) {
  if (strlen(name) >= sizeof objects[0].name)
    abort();
  pthread_mutex_lock(&lock);
  if (object_count == 512)
    abort();
  struct object *object = &objects[object_count++];
  pthread_mutex_unlock(&lock);
  memcpy(object->name, name, strlen(name) + 1);
  object->context = current();
  return object;
}

ws_cu_result cuGetErrorName(ws_cu_result error, const char **out_text) {
  static const struct {
    ws_cu_result code;
    const char *name;
  } names[] = {
#define ROW(name, value) {value, #name},
      WS_CU_ERRORS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].code == error) {
      *out_text = names[i].name;
      return 0;
    }
  return WS_CUDA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

ws_cu_result cuInit(unsigned flags) {
  CALL(cuInit);
  return flags ? WS_CUDA_ERROR_INVALID_VALUE : 0;
}
ws_cu_result cuDriverGetVersion(int *out_version) {
  *out_version = 12040;
  return 0;
}
ws_cu_result cuDeviceGetCount(int *out_count) {
  *out_count = setting("FAKE_CUDA_DEVICES", 1);
  return 0;
}
ws_cu_result cuDeviceGet(ws_cu_device *out_device, int ordinal) {
  CALL(cuDeviceGet);
  *out_device = ordinal;
  return 0;
}
ws_cu_result cuDeviceGetName(char *out_name, int size, ws_cu_device device) {
  snprintf(out_name, (size_t)size, "Fake %d", device);
  return 0;
}
ws_cu_result cuDeviceGetAttribute(int *out_value, unsigned which,
                                  ws_cu_device device) {
  const int capability = setting("FAKE_CUDA_CAPABILITY", 90);
  switch (which) {
  case 75:
    *out_value = capability / 10;
    return 0;
  case 76:
    *out_value = capability % 10;
    return 0;
  case 16:
    *out_value = setting("FAKE_CUDA_SMS", 132) + device;
    return 0;
  default:
    return WS_CUDA_ERROR_INVALID_VALUE;
  }
}

/* ---- contexts ---- */

ws_cu_result cuCtxGetCurrent(ws_cu_context *out_context) {
  *out_context = (ws_cu_context)(void *)current();
  return 0;
}
ws_cu_result cuCtxGetDevice(ws_cu_device *out_device) {
  if (!current())
    return INVALID_CONTEXT;
  *out_device = current()->device;
  return 0;
}
ws_cu_result cuCtxPushCurrent_v2(ws_cu_context handle) {
  CALL(cuCtxPushCurrent_v2);
  if (!handle || depth == 16)
    return INVALID_CONTEXT;
  stack[depth++] = (context *)(void *)handle;
  return 0;
}
ws_cu_result cuCtxPopCurrent_v2(ws_cu_context *out_context) {
  if (!depth)
    return INVALID_CONTEXT;
  *out_context = (ws_cu_context)(void *)stack[--depth];
  return 0;
}
static ws_cu_context new_context(int device, int is_primary) {
  if (context_count == 64)
    abort();
  contexts[context_count] = (context){device, is_primary, 1};
  return (ws_cu_context)(void *)&contexts[context_count++];
}
ws_cu_result cuCtxCreate_v2(ws_cu_context *out_context, unsigned flags,
                            ws_cu_device device) {
  (void)flags;
  *out_context = new_context(device, 0);
  return cuCtxPushCurrent_v2(*out_context);
}
ws_cu_result cuDevicePrimaryCtxRetain(ws_cu_context *out_context,
                                      ws_cu_device device) {
  CALL(cuDevicePrimaryCtxRetain);
  not_in_capture("cuDevicePrimaryCtxRetain");
  record("retain %d\n", device);
  for (int i = 0; i < context_count; i++)
    if (contexts[i].is_primary && contexts[i].device == device) {
      contexts[i].references++;
      *out_context = (ws_cu_context)(void *)&contexts[i];
      return 0;
    }
  *out_context = new_context(device, 1);
  return 0;
}
ws_cu_result cuDevicePrimaryCtxRelease_v2(ws_cu_device device) {
  record("release %d\n", device);
  for (int i = 0; i < context_count; i++)
    if (contexts[i].is_primary && contexts[i].device == device &&
        contexts[i].references-- > 0)
      return 0;
  return INVALID_CONTEXT;
}

/* ---- code: the text behind "// " or behind ELF's magic is the name ---- */

ws_cu_result cuModuleLoadDataEx(ws_cu_module *out_module, const void *image,
                                unsigned option_count, unsigned *options,
                                void **values) {
  const char *log = getenv("FAKE_CUDA_JIT_LOG"), *text = image;
  not_in_capture("cuModuleLoadDataEx");
  for (unsigned i = 0; log && i < option_count; i++)
    if (options[i] == WS_CU_JIT_ERROR_LOG_BUFFER &&
        strlen(log) < (size_t)(uintptr_t)values[i + 1])
      memcpy(values[i], log, strlen(log) + 1);
  CALL(cuModuleLoadDataEx);
  if (!current())
    return INVALID_CONTEXT;
  const int is_elf = !memcmp(text, "\177ELF", 4);
  if (!is_elf && memcmp(text, "// ", 3))
    return WS_CUDA_ERROR_INVALID_IMAGE;
  const char *name = text + (is_elf ? 4 : 3);
  *out_module = (ws_cu_module)(void *)new_object(name);
  record("load %s %s on %d\n", is_elf ? "cubin" : "ptx", name,
         current()->device);
  return 0;
}
ws_cu_result cuModuleUnload(ws_cu_module module) {
  const struct object *object = (const struct object *)(void *)module;
  record("unload %s\n", object->name);
  return object->context == current() ? 0 : INVALID_CONTEXT;
}
ws_cu_result cuModuleGetFunction(ws_cu_function *out_function,
                                 ws_cu_module module, const char *name) {
  char full_name[512];
  CALL(cuModuleGetFunction);
  snprintf(full_name, sizeof full_name, "%s.%s",
           ((struct object *)(void *)module)->name, name);
  *out_function = (ws_cu_function)(void *)new_object(full_name);
  return 0;
}
ws_cu_result cuFuncSetAttribute(ws_cu_function function, unsigned which,
                                int value) {
  struct object *object = (struct object *)(void *)function;
  CALL(cuFuncSetAttribute);
  not_in_capture("cuFuncSetAttribute");
  record("attribute %u of %s = %d\n", which, object->name, value);
  if (which == 8)
    object->dynamic_limit = value;
  return 0;
}

/* ---- launches ---- */

/* The map is what it was made of, so that a kernel's arguments show it. */
ws_cu_result cuTensorMapEncodeTiled(
    ws_cu_tensor_map *out_map, unsigned data_type, uint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
    const uint32_t *element_strides, unsigned interleave, unsigned swizzle,
    unsigned l2_promotion, unsigned out_of_bounds_fill) {
  CALL(cuTensorMapEncodeTiled);
  record("map of %p type %u rank %u sizes %llu,%llu stride %llu box %u,%u "
         "steps %u,%u modes %u,%u,%u,%u\n",
         address, data_type, rank, (unsigned long long)sizes[0],
         (unsigned long long)sizes[1], (unsigned long long)strides[0], box[0],
         box[1], element_strides[0], element_strides[1], interleave, swizzle,
         l2_promotion, out_of_bounds_fill);
  if ((uintptr_t)out_map % _Alignof(ws_cu_tensor_map) || (uintptr_t)address % 16)
    return WS_CUDA_ERROR_INVALID_VALUE;
  memset(out_map, 0xee, sizeof *out_map);
  out_map->opaque[0] = (uintptr_t)address;
  return 0;
}

/* Of the kernels of test_rt_cuda.c. */
static int last_argument(const char *name) {
  return strncmp(name, "tma.", 4) ? 1 : 3;
}

ws_cu_result cuLaunchKernel(ws_cu_function function, unsigned grid_x,
                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, ws_cu_stream stream,
                            void **parameters, void **extra) {
  const struct object *object = (const struct object *)(void *)function;
  CALL(cuLaunchKernel);
  if (object->context != current())
    return INVALID_CONTEXT;
  if (shared_bytes > 48 * 1024 && (int)shared_bytes > object->dynamic_limit)
    return WS_CUDA_ERROR_INVALID_VALUE;
  if (extra || !parameters)
    return WS_CUDA_ERROR_INVALID_VALUE;
  /* The tests' kernels end with an i32. */
  const unsigned char *bytes = parameters[0];
  size_t size =
      (size_t)((const unsigned char *)parameters[last_argument(object->name)] -
               bytes) +
      4;
  char hex[2 * 2048 + 1] = "";
  for (size_t i = 0; i < size && i < 2048; i++)
    snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
  record("launch %s grid %u,%u,%u block %u,%u,%u shared %u stream %p args %s\n",
         object->name, grid_x, grid_y, grid_z, block_x, block_y, block_z,
         shared_bytes, (void *)stream, hex);
  return 0;
}

ws_cu_result cuStreamBeginCapture_v2(ws_cu_stream stream, unsigned mode) {
  (void)stream, (void)mode;
  is_capturing = 1;
  return 0;
}
ws_cu_result cuStreamEndCapture(ws_cu_stream stream, ws_cu_graph *out_graph) {
  (void)stream;
  is_capturing = 0;
  *out_graph = NULL;
  return 0;
}
