/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A CUDA driver for the tests of the device layer: it records every call with
 * its arguments and runs nothing. Device memory is host memory. A launch, or
 * each launch of a graph that is started, takes 100 us on the clock of events.
 *
 * MOCK_CUDA_FAIL=cuMemAlloc_v2=2    that call returns that error
 * MOCK_CUDA_FAIL=cuMemAlloc_v2=2@3  the third of them since the last clear
 * An error that is sticky with CUDA is so here. MOCK_CUDA_DEVICES (1) devices
 * are there, all of them H200s, the first byte of whose UUID is their number.
 * PTX with the word "bad" is not compiled, PTX of version 99 is too new, and a
 * cubin with "old" is for another card.
 */
#include "mock_cuda.h"
#include "../../runtime/rt/cuda_abi.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 1 << 20, LAUNCH_US = 100, OTHER_CARD = 200 };

#define PROTOTYPE(name, parameters) ws_cu_result name parameters;
WS_CU_FUNCTIONS(PROTOTYPE)
#ifndef MOCK_CUDA_LACKS_TENSOR_MAPS
WS_CU_OPTIONAL_FUNCTIONS(PROTOTYPE)
#endif

/* What a handle points to. */
struct object {
  char letter;
  int number;
  double us;     /* an event's, by the clock */
  int launches;  /* a graph's */
  int max_lds;   /* a function's */
  char name[64]; /* a function's */
};

static char text[LOG_BYTES];
static size_t text_size;
static int live, calls_to_fail, launches_recorded;
static ws_cu_result stuck;
static double now_us;
static bool capturing;

const char *mock_cuda_log(void) { return text; }
void mock_cuda_clear(void) {
  text[text_size = 0] = 0;
  calls_to_fail = 0;
}
int mock_cuda_live(void) { return live; }

static void note(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int got = vsnprintf(text + text_size, LOG_BYTES - text_size, format, list);
  va_end(list);
  text_size += (size_t)(got > 0 ? got : 0);
  if (text_size >= LOG_BYTES)
    abort();
}

static bool is_sticky(ws_cu_result error) {
  return error == 214 || error == 220 || error == 226 || error == 700 ||
         error == 702 || (error >= 709 && error < 720);
}

/* What MOCK_CUDA_FAIL says of this call. */
static ws_cu_result wanted_failure(const char *name) {
  const char *setting = getenv("MOCK_CUDA_FAIL");
  size_t length = strlen(name);
  if (!setting || strncmp(setting, name, length) || setting[length] != '=')
    return 0;
  char *end;
  unsigned long error = strtoul(setting + length + 1, &end, 10);
  if (*end == '@' && ++calls_to_fail != (int)strtoul(end + 1, NULL, 10))
    return 0;
  return (ws_cu_result)error;
}

static ws_cu_result fail(const char *name) {
  ws_cu_result error = stuck ? stuck : wanted_failure(name);
  if (is_sticky(error))
    stuck = error;
  if (error)
    note("  -> %u\n", error);
  return error;
}

#define CALL(name, ...)                                                        \
  do {                                                                         \
    note(#name " " __VA_ARGS__);                                               \
    note("\n");                                                                \
    ws_cu_result failure_ = fail(#name);                                       \
    if (failure_)                                                              \
      return failure_;                                                         \
  } while (0)

/* What is held, so that a context that is lost can give it back. */
static void *held[4096];

static void hold(void *block) {
  int i = 0;
  while (held[i])
    i++; /* ends the process when a test holds too much */
  held[i] = block;
  live++;
}

static void give_back(void *block) {
  int i = 0;
  while (held[i] != block)
    i++;
  held[i] = NULL;
  free(block);
  live--;
}

static void *create(char letter) {
  static int counts[128];
  struct object *made = calloc(1, sizeof *made);
  made->letter = letter;
  made->number = ++counts[(int)letter];
  hold(made);
  return made;
}

static void destroy(void *handle, char letter) {
  struct object *object = handle;
  if (!object || object->letter != letter)
    abort();
  give_back(object);
}

static int number_of(const void *handle) {
  return handle ? ((const struct object *)handle)->number : 0;
}

/* ---- errors, devices ---- */

ws_cu_result cuGetErrorName(ws_cu_result error, const char **out_text) {
  static const struct {
    ws_cu_result error;
    const char *name;
  } names[] = {
#define NAME(name, value) {value, #name},
      WS_CU_ERRORS(NAME)
#undef NAME
  };
  *out_text = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].error == error)
      *out_text = names[i].name;
  return *out_text ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_INVALID_VALUE;
}
ws_cu_result cuGetErrorString(ws_cu_result error, const char **out_text) {
  *out_text = error == 401 ? "the operation cannot be performed" : NULL;
  return *out_text ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_INVALID_VALUE;
}
ws_cu_result cuInit(unsigned flags) {
  CALL(cuInit, "%u", flags);
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDriverGetVersion(int *out_version) {
  CALL(cuDriverGetVersion, "");
  *out_version = 13020;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDeviceGetCount(int *out_count) {
  const char *setting = getenv("MOCK_CUDA_DEVICES");
  CALL(cuDeviceGetCount, "");
  *out_count = setting ? (int)strtol(setting, NULL, 10) : 1;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDeviceGet(ws_cu_device *out_device, int ordinal) {
  CALL(cuDeviceGet, "%d", ordinal);
  *out_device = OTHER_CARD + ordinal; /* an ordinal is no handle */
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDeviceGetName(char *out_name, int size, ws_cu_device device) {
  CALL(cuDeviceGetName, "%d", device);
  snprintf(out_name, (size_t)size, "NVIDIA H200");
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDeviceGetUuid_v2(ws_cu_uuid *out_uuid, ws_cu_device device) {
  CALL(cuDeviceGetUuid_v2, "%d", device);
  for (int i = 0; i < 16; i++)
    out_uuid->bytes[i] = (unsigned char)(i * 17);
  out_uuid->bytes[0] = (unsigned char)(device - OTHER_CARD);
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDeviceTotalMem_v2(size_t *out_bytes, ws_cu_device device) {
  CALL(cuDeviceTotalMem_v2, "%d", device);
  *out_bytes = (size_t)150 << 30;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDeviceGetAttribute(int *out_value, unsigned attribute,
                                  ws_cu_device device) {
  static const int values[128] = {
      [13] = 1980000, [16] = 132, [36] = 3201000, [38] = 62914560,
      [75] = 9,       [76] = 0,   [97] = 232448};
  CALL(cuDeviceGetAttribute, "%u %d", attribute, device);
  *out_value = values[attribute];
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDevicePrimaryCtxRetain(ws_cu_context *out_context,
                                      ws_cu_device device) {
  CALL(cuDevicePrimaryCtxRetain, "%d", device);
  static struct object context;
  *out_context = (void *)&context;
  live++;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuDevicePrimaryCtxRelease_v2(ws_cu_device device) {
  note("cuDevicePrimaryCtxRelease_v2 %d\n", device);
  for (size_t i = 0; stuck && i < sizeof held / sizeof held[0]; i++)
    if (held[i])
      give_back(held[i]);
  live--;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuCtxSetCurrent(ws_cu_context context) {
  CALL(cuCtxSetCurrent, "%s", context ? "it" : "none");
  return WS_CUDA_SUCCESS;
}

/* ---- modules ---- */

static ws_cu_result compile(const char *ptx, unsigned option_count,
                            const unsigned *options, void **values) {
  char *log = NULL;
  size_t bytes = 0;
  note("PTX of %zu characters, options", strlen(ptx));
  for (unsigned i = 0; i < option_count; i++) {
    note(" %u", options[i]);
    if (options[i] == 5)
      log = values[i];
    if (options[i] == 6)
      bytes = (size_t)(uintptr_t)values[i];
  }
  note("\n");
  if (strstr(ptx, ".version 99"))
    return WS_CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (!strstr(ptx, "bad"))
    return WS_CUDA_SUCCESS;
  /* As the driver's compiler writes it; it fills the buffer to the end when it
   * has more to say. */
  memset(log, 'x', bytes);
  snprintf(log, bytes,
           "\nptxas application ptx input, line 5; error   : Unknown "
           "instruction 'bad'\nptxas fatal   : Ptx assembly aborted\n");
  if (strstr(ptx, "very bad"))
    memset(log, 'y', bytes); /* without an end */
  return WS_CUDA_ERROR_INVALID_PTX;
}

ws_cu_result cuModuleLoadDataEx(ws_cu_module *out_module, const void *image,
                                unsigned option_count, unsigned *options,
                                void **values) {
  note("cuModuleLoadDataEx ");
  bool cubin = !memcmp(image,
                       "\x7f"
                       "ELF",
                       4);
  ws_cu_result error = WS_CUDA_SUCCESS;
  if (!cubin)
    error = compile(image, option_count, options, values);
  else if (!strcmp((const char *)image + 64, "old"))
    error = WS_CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (cubin)
    note("cubin, %u options\n", option_count);
  if (!error)
    error = fail("cuModuleLoadDataEx");
  if (!error)
    *out_module = create('m');
  return error;
}
ws_cu_result cuModuleUnload(ws_cu_module module) {
  CALL(cuModuleUnload, "m%d", number_of(module));
  destroy(module, 'm');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuModuleGetFunction(ws_cu_function *out_function,
                                 ws_cu_module module, const char *name) {
  static struct object functions[32];
  static int count;
  CALL(cuModuleGetFunction, "m%d %s", number_of(module), name);
  if (!strcmp(name, "absent"))
    return WS_CUDA_ERROR_NOT_FOUND;
  struct object *function = &functions[count++ % 32];
  function->max_lds = 48 << 10;
  snprintf(function->name, sizeof function->name, "%s", name);
  *out_function = (void *)function;
  return WS_CUDA_SUCCESS;
}

/* Of a kernel with 1 KB of shared memory of its own. */
ws_cu_result cuFuncGetAttribute(int *out_value, unsigned attribute,
                                ws_cu_function function) {
  const struct object *of = (const void *)function;
  CALL(cuFuncGetAttribute, "%s %u", of->name, attribute);
  *out_value = attribute == 8   ? of->max_lds - 1024
               : attribute == 4 ? 168
               : attribute == 3 ? 24
               : attribute == 1 ? 1024
                                : -1;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuFuncSetAttribute(ws_cu_function function, unsigned attribute,
                                int value) {
  struct object *of = (void *)function;
  CALL(cuFuncSetAttribute, "%s %u %d", of->name, attribute, value);
  of->max_lds = value + 1024;
  return WS_CUDA_SUCCESS;
}

/* Arguments as bytes, the last of four; an address that a tensor map could not
 * have is said. */
static void note_arguments(const struct object *of, void **arguments) {
  const unsigned char *bytes = NULL;
  size_t size = 0;
  int count = !strcmp(of->name, "fill") ? 2 : !strcmp(of->name, "tile") ? 3 : 0;
  if (count) {
    bytes = arguments[0];
    size = (size_t)((unsigned char *)arguments[count - 1] - bytes) + 4;
  }
  note(" %zu:", size);
  for (size_t i = 0; i < size; i++)
    note("%02x", bytes[i]);
  if ((uintptr_t)bytes % 64)
    note(" misaligned");
}

ws_cu_result cuLaunchKernel(ws_cu_function function, unsigned grid_x,
                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, ws_cu_stream stream,
                            void **parameters, void **extra) {
  const struct object *of = (const void *)function;
  note("cuLaunchKernel %s %u,%u,%u %u,%u,%u %u s%d%s", of->name, grid_x, grid_y,
       grid_z, block_x, block_y, block_z, shared_bytes, number_of(stream),
       extra ? " extra" : "");
  note_arguments(of, parameters);
  note("\n");
  ws_cu_result error = fail("cuLaunchKernel");
  if (error)
    return error;
  if (shared_bytes > (unsigned)of->max_lds - 1024)
    return WS_CUDA_ERROR_INVALID_VALUE;
  if (capturing)
    launches_recorded++;
  else
    now_us += LAUNCH_US;
  return WS_CUDA_SUCCESS;
}

/* ---- memory ---- */

ws_cu_result cuMemAlloc_v2(ws_cu_pointer *out_memory, size_t bytes) {
  CALL(cuMemAlloc_v2, "%zu", bytes);
  if (!bytes)
    return WS_CUDA_ERROR_INVALID_VALUE;
  *out_memory = (uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  hold((void *)(uintptr_t)*out_memory);
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuMemFree_v2(ws_cu_pointer memory) {
  CALL(cuMemFree_v2, "");
  give_back((void *)(uintptr_t)memory);
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuMemcpyHtoDAsync_v2(ws_cu_pointer to, const void *from,
                                  size_t bytes, ws_cu_stream stream) {
  CALL(cuMemcpyHtoDAsync_v2, "%zu s%d", bytes, number_of(stream));
  memcpy((void *)(uintptr_t)to, from, bytes);
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuMemcpyDtoHAsync_v2(void *to, ws_cu_pointer from, size_t bytes,
                                  ws_cu_stream stream) {
  CALL(cuMemcpyDtoHAsync_v2, "%zu s%d", bytes, number_of(stream));
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuMemsetD8Async(ws_cu_pointer memory, unsigned char byte,
                             size_t bytes, ws_cu_stream stream) {
  CALL(cuMemsetD8Async, "%u %zu s%d", byte, bytes, number_of(stream));
  memset((void *)(uintptr_t)memory, byte, bytes);
  return WS_CUDA_SUCCESS;
}

/* ---- streams, graphs, events ---- */

ws_cu_result cuStreamCreate(ws_cu_stream *out_stream, unsigned flags) {
  CALL(cuStreamCreate, "%u", flags);
  *out_stream = create('s');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuStreamDestroy_v2(ws_cu_stream stream) {
  CALL(cuStreamDestroy_v2, "s%d", number_of(stream));
  destroy(stream, 's');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuStreamSynchronize(ws_cu_stream stream) {
  CALL(cuStreamSynchronize, "s%d", number_of(stream));
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuStreamBeginCapture_v2(ws_cu_stream stream, unsigned mode) {
  CALL(cuStreamBeginCapture_v2, "s%d %u", number_of(stream), mode);
  capturing = true;
  launches_recorded = 0;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuStreamEndCapture(ws_cu_stream stream, ws_cu_graph *out_graph) {
  capturing = false;
  CALL(cuStreamEndCapture, "s%d", number_of(stream));
  struct object *graph = create('g');
  graph->launches = launches_recorded;
  *out_graph = (void *)graph;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuGraphInstantiateWithFlags(ws_cu_graph_exec *out_exec,
                                         ws_cu_graph graph,
                                         unsigned long long flags) {
  CALL(cuGraphInstantiateWithFlags, "g%d %llu", number_of(graph), flags);
  struct object *exec = create('x');
  exec->launches = ((const struct object *)(const void *)graph)->launches;
  *out_exec = (void *)exec;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuGraphLaunch(ws_cu_graph_exec exec, ws_cu_stream stream) {
  CALL(cuGraphLaunch, "x%d s%d", number_of(exec), number_of(stream));
  now_us += LAUNCH_US * ((const struct object *)(const void *)exec)->launches;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuGraphExecDestroy(ws_cu_graph_exec exec) {
  CALL(cuGraphExecDestroy, "x%d", number_of(exec));
  destroy(exec, 'x');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuGraphDestroy(ws_cu_graph graph) {
  CALL(cuGraphDestroy, "g%d", number_of(graph));
  destroy(graph, 'g');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuEventCreate(ws_cu_event *out_event, unsigned flags) {
  CALL(cuEventCreate, "%u", flags);
  *out_event = create('e');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuEventDestroy_v2(ws_cu_event event) {
  CALL(cuEventDestroy_v2, "e%d", number_of(event));
  destroy(event, 'e');
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuEventRecord(ws_cu_event event, ws_cu_stream stream) {
  CALL(cuEventRecord, "e%d s%d", number_of(event), number_of(stream));
  ((struct object *)(void *)event)->us = now_us;
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuEventSynchronize(ws_cu_event event) {
  CALL(cuEventSynchronize, "e%d", number_of(event));
  return WS_CUDA_SUCCESS;
}
ws_cu_result cuEventElapsedTime(float *out_ms, ws_cu_event begin,
                                ws_cu_event end) {
  CALL(cuEventElapsedTime, "e%d e%d", number_of(begin), number_of(end));
  *out_ms = (float)((((const struct object *)(const void *)end)->us -
                     ((const struct object *)(const void *)begin)->us) /
                    1000);
  return WS_CUDA_SUCCESS;
}

#ifndef MOCK_CUDA_LACKS_TENSOR_MAPS
/* The map holds its arguments' sum of sizes, so that copies can be told. */
ws_cu_result cuTensorMapEncodeTiled(
    ws_cu_tensor_map *out_map, unsigned data_type, uint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
    const uint32_t *element_strides, unsigned interleave, unsigned swizzle,
    unsigned l2_promotion, unsigned out_of_bounds_fill) {
  CALL(cuTensorMapEncodeTiled,
       "%u %u %p %llu,%llu %llu %u,%u %u,%u %u %u %u %u", data_type, rank,
       address, (unsigned long long)sizes[0], (unsigned long long)sizes[1],
       (unsigned long long)strides[0], box[0], box[1], element_strides[0],
       element_strides[1], interleave, swizzle, l2_promotion,
       out_of_bounds_fill);
  if ((uintptr_t)out_map % 64)
    return WS_CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < 16; i++)
    out_map->opaque[i] = sizes[0] + (uint64_t)i;
  return WS_CUDA_SUCCESS;
}
#endif
