/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kind "cuda": an NVIDIA card through its driver's API. One primary
 * context, one stream on which everything is put in order; the settings of the
 * card (clocks, persistence, compute mode) are read and never changed.
 */
#include "cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ------------------------------------------------------------- */

static ws_status choose_card(ws_device *device, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  int count = 0;
  WS_TRY(ws__cuda_check(device, cuda->cuInit(0), "cuInit", diag));
  WS_TRY(ws__cuda_check(device, cuda->cuDeviceGetCount(&count),
                        "cuDeviceGetCount", diag));
  if (count < 1)
    return ws__cuda_check(device, WS_CUDA_ERROR_NO_DEVICE, "cuDeviceGetCount",
                          diag);
  if (device->index >= count)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "there is no cuda:%d; the last one visible is cuda:%d",
                   device->index, count - 1);
  return ws__cuda_check(device, cuda->cuDeviceGet(&cuda->card, device->index),
                        "cuDeviceGet", diag);
}

/* "GPU-01234567-89ab-...", as nvidia-smi shows it. */
static const char *uuid_text(ws_arena *arena, const ws_cu_uuid *uuid) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, "GPU-");
  for (int i = 0; i < 16; i++)
    ws_strbuf_printf(&text, "%s%02x",
                     i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                     uuid->bytes[i]);
  char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

typedef struct attributes {
  int major, minor, cu_count, cache_bytes, clock_khz, memory_clock_khz;
} attributes;

static ws_status read_attributes(ws_device *device, attributes *out,
                                 ws_diag *diag) {
  const struct {
    unsigned attribute;
    int *place;
  } wanted[] = {
      {WS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &out->major},
      {WS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &out->minor},
      {WS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &out->cu_count},
      {WS_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &out->cache_bytes},
      {WS_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &out->clock_khz},
      {WS_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &out->memory_clock_khz}};
  const ws__cuda *cuda = ws__cuda_of(device);
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    WS_TRY(ws__cuda_check(device,
                          cuda->cuDeviceGetAttribute(
                              wanted[i].place, wanted[i].attribute, cuda->card),
                          "cuDeviceGetAttribute", diag));
  return WS_OK;
}

static void describe(ws_device *device, const char *name,
                     const attributes *facts) {
  ws_device_info *info = &device->info;
  info->name = ws_arena_strdup(device->arena, name);
  info->provenance = ws_arena_printf(device->arena, "cuda:%s", name);
  /* From 9.0 on templates are for the card itself ("a"), not its family. */
  info->arch = ws_arena_printf(device->arena, "sm_%d%d%s", facts->major,
                               facts->minor, facts->major >= 9 ? "a" : "");
  info->cu_count = facts->cu_count;
  info->cache_bytes = facts->cache_bytes;
  info->clock_mhz = facts->clock_khz / 1000;
  info->memory_clock_mhz = facts->memory_clock_khz / 1000;
  info->graphs = true;
}

static ws_status read_card(ws_device *device, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  char name[256] = "";
  size_t memory_bytes = 0;
  attributes facts = {0};
  ws_cu_uuid uuid = {{0}};
  WS_TRY(ws__cuda_check(
      device, cuda->cuDeviceGetName(name, sizeof name - 1, cuda->card),
      "cuDeviceGetName", diag));
  WS_TRY(ws__cuda_check(device,
                        cuda->cuDeviceTotalMem_v2(&memory_bytes, cuda->card),
                        "cuDeviceTotalMem", diag));
  WS_TRY(ws__cuda_check(device, cuda->cuDeviceGetUuid_v2(&uuid, cuda->card),
                        "cuDeviceGetUuid", diag));
  WS_TRY(read_attributes(device, &facts, diag));
  describe(device, name, &facts);
  device->info.memory_bytes = (int64_t)memory_bytes;
  device->info.lock = uuid_text(device->arena, &uuid);
  return WS_OK;
}

/* NVML's, else the version of CUDA that the driver has. */
static void read_driver(ws_device *device) {
  ws__cuda *cuda = ws__cuda_of(device);
  int version = 0;
  device->info.driver = ws__nvml_driver(cuda->nvml, device->arena);
  if (!device->info.driver[0] &&
      cuda->cuDriverGetVersion(&version) == WS_CUDA_SUCCESS)
    device->info.driver = ws_arena_printf(device->arena, "CUDA %d.%d",
                                          version / 1000, version % 1000 / 10);
}

static ws_status take_context(ws_device *device, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  WS_TRY(ws__cuda_check(
      device, cuda->cuDevicePrimaryCtxRetain(&cuda->context, cuda->card),
      "cuDevicePrimaryCtxRetain", diag));
  WS_TRY(ws__cuda_check(device, cuda->cuCtxSetCurrent(cuda->context),
                        "cuCtxSetCurrent", diag));
  return ws__cuda_check(
      device, cuda->cuStreamCreate(&cuda->stream, WS_CU_STREAM_NON_BLOCKING),
      "cuStreamCreate", diag);
}

static void close_device(ws_device *device) {
  ws__cuda *cuda = ws__cuda_of(device);
  ws_cu_graph graph = NULL;
  if (cuda->capturing && !cuda->lost &&
      cuda->cuStreamEndCapture(cuda->stream, &graph) == WS_CUDA_SUCCESS)
    (void)cuda->cuGraphDestroy(graph);
  if (cuda->stream && !cuda->lost)
    (void)cuda->cuStreamDestroy_v2(cuda->stream);
  if (cuda->context) {
    (void)cuda->cuCtxSetCurrent(NULL);
    (void)cuda->cuDevicePrimaryCtxRelease_v2(cuda->card);
  }
  ws__nvml_close(cuda->nvml);
  free(cuda);
}

static ws_status open_device(ws_device *device, ws_device_purpose purpose,
                             ws_diag *diag) {
  (void)purpose;
  ws__cuda *cuda = aligned_alloc(_Alignof(ws__cuda), sizeof *cuda);
  WS_ASSERT(cuda && "out of memory");
  memset(cuda, 0, sizeof *cuda);
  device->self = cuda;
  ws_status status = ws__cuda_bind(device, cuda, diag);
  if (status == WS_OK)
    status = choose_card(device, diag);
  if (status == WS_OK)
    status = read_card(device, diag);
  if (status == WS_OK)
    status = take_context(device, diag);
  if (status != WS_OK) {
    close_device(device);
    return status;
  }
  cuda->nvml = ws__nvml_open(device->info.lock);
  read_driver(device);
  return WS_OK;
}

static char *take_report(ws_device *device, ws_arena *arena) {
  (void)device;
  return ws_arena_strdup(arena, "");
}

static ws_device_clocks read_clocks(ws_device *device) {
  return ws__nvml_clocks(ws__cuda_of(device)->nvml);
}

/* ---- memory -------------------------------------------------------------- */

/* CUDA allocates no zero bytes; HIP and C do. */
static ws_status allocate(ws_device *device, size_t bytes, void **out_memory,
                          ws_diag *diag) {
  char what[64];
  ws_cu_pointer memory = 0;
  snprintf(what, sizeof what, "allocating %zu bytes", bytes);
  ws_status status = WS__CUDA_CALL(device, what, diag,
                                   cuMemAlloc_v2(&memory, bytes ? bytes : 1));
  *out_memory = (void *)(uintptr_t)memory;
  return status;
}

static void free_memory(ws_device *device, void *memory) {
  const ws__cuda *cuda = ws__cuda_of(device);
  if (!cuda->lost)
    (void)cuda->cuMemFree_v2((uintptr_t)memory);
}

static ws_status synchronise(ws_device *device, ws_diag *diag) {
  return WS__CUDA_CALL(device, "waiting for the card", diag,
                       cuStreamSynchronize(ws__cuda_of(device)->stream));
}

static ws_status upload(ws_device *device, void *to, const void *from,
                        size_t bytes, ws_diag *diag) {
  WS_TRY(WS__CUDA_CALL(device, "copying to the card", diag,
                       cuMemcpyHtoDAsync_v2((uintptr_t)to, from, bytes,
                                            ws__cuda_of(device)->stream)));
  return synchronise(device, diag);
}

static ws_status download(ws_device *device, void *to, const void *from,
                          size_t bytes, ws_diag *diag) {
  WS_TRY(WS__CUDA_CALL(device, "copying from the card", diag,
                       cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes,
                                            ws__cuda_of(device)->stream)));
  return synchronise(device, diag);
}

static ws_status fill(ws_device *device, void *memory, int byte, size_t bytes,
                      ws_diag *diag) {
  return WS__CUDA_CALL(device, "filling memory", diag,
                       cuMemsetD8Async((uintptr_t)memory, (unsigned char)byte,
                                       bytes, ws__cuda_of(device)->stream));
}

/* ---- graphs -------------------------------------------------------------- */

/* Relaxed: a module's first launch may load code, which other modes forbid. */
static ws_status graph_begin(ws_device *device, ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  if (cuda->capturing)
    return ws_fail(diag, WS_USAGE, NULL, 0, "a graph is being recorded");
  WS_TRY(WS__CUDA_CALL(device, "cuStreamBeginCapture", diag,
                       cuStreamBeginCapture_v2(
                           cuda->stream, WS_CU_STREAM_CAPTURE_MODE_RELAXED)));
  cuda->capturing = true;
  return WS_OK;
}

static ws_status graph_end(ws_device *device, ws_device_graph **out_graph,
                           ws_diag *diag) {
  ws__cuda *cuda = ws__cuda_of(device);
  ws_cu_graph graph = NULL;
  ws_cu_graph_exec exec = NULL;
  if (!cuda->capturing)
    return ws_fail(diag, WS_USAGE, NULL, 0, "no graph is being recorded");
  cuda->capturing = false;
  WS_TRY(WS__CUDA_CALL(device, "cuStreamEndCapture", diag,
                       cuStreamEndCapture(cuda->stream, &graph)));
  ws_status status =
      WS__CUDA_CALL(device, "cuGraphInstantiate", diag,
                    cuGraphInstantiateWithFlags(&exec, graph, 0));
  (void)cuda->cuGraphDestroy(graph);
  *out_graph = (ws_device_graph *)exec;
  return status;
}

static ws_status graph_start(ws_device *device, ws_device_graph *graph,
                             ws_diag *diag) {
  return WS__CUDA_CALL(
      device, "starting a graph", diag,
      cuGraphLaunch((ws_cu_graph_exec)graph, ws__cuda_of(device)->stream));
}

static void graph_destroy(ws_device *device, ws_device_graph *graph) {
  const ws__cuda *cuda = ws__cuda_of(device);
  if (!cuda->lost)
    (void)cuda->cuGraphExecDestroy((ws_cu_graph_exec)graph);
}

/* ---- events -------------------------------------------------------------- */

static ws_status event_create(ws_device *device, ws_device_event **out_event,
                              ws_diag *diag) {
  return WS__CUDA_CALL(
      device, "cuEventCreate", diag,
      cuEventCreate((ws_cu_event *)out_event, WS_CU_EVENT_DEFAULT));
}

static void event_destroy(ws_device *device, ws_device_event *event) {
  const ws__cuda *cuda = ws__cuda_of(device);
  if (!cuda->lost)
    (void)cuda->cuEventDestroy_v2((ws_cu_event)event);
}

static ws_status event_record(ws_device *device, ws_device_event *event,
                              ws_diag *diag) {
  return WS__CUDA_CALL(
      device, "cuEventRecord", diag,
      cuEventRecord((ws_cu_event)event, ws__cuda_of(device)->stream));
}

static ws_status event_elapsed(ws_device *device, ws_device_event *begin,
                               ws_device_event *end, double *out_us,
                               ws_diag *diag) {
  float ms = 0;
  WS_TRY(WS__CUDA_CALL(device, "waiting for an event", diag,
                       cuEventSynchronize((ws_cu_event)end)));
  WS_TRY(WS__CUDA_CALL(
      device, "cuEventElapsedTime", diag,
      cuEventElapsedTime(&ms, (ws_cu_event)begin, (ws_cu_event)end)));
  *out_us = (double)ms * 1000;
  return WS_OK;
}

const ws__device_table ws__device_cuda = {.kind = "cuda",
                                          .purpose = "an NVIDIA GPU",
                                          .open = open_device,
                                          .close = close_device,
                                          .take_report = take_report,
                                          .allocate = allocate,
                                          .free = free_memory,
                                          .upload = upload,
                                          .download = download,
                                          .fill = fill,
                                          .load = ws__cuda_load,
                                          .unload = ws__cuda_unload,
                                          .start = ws__cuda_start,
                                          .synchronise = synchronise,
                                          .tensor_map = ws__cuda_tensor_map,
                                          .graph_begin = graph_begin,
                                          .graph_end = graph_end,
                                          .graph_start = graph_start,
                                          .graph_destroy = graph_destroy,
                                          .read_clocks = read_clocks,
                                          .kernel_of = ws__cuda_kernel_of,
                                          .event_create = event_create,
                                          .event_destroy = event_destroy,
                                          .event_record = event_record,
                                          .event_elapsed = event_elapsed};
