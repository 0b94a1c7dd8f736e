/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kinds of device, as a table, and the calls into it.
 */
#include "device.h"

#include <stdlib.h>
#include <string.h>

static const ws__device_table *const kinds[] = {
    &ws__device_cuda, &ws__device_hip, &ws__device_sim};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static ws_status unknown_kind(const char *kind, ws_diag *diag) {
  ws_strbuf list;
  ws_strbuf_init(&list);
  for (int i = 0; i < KINDS; i++)
    ws_strbuf_printf(&list, "%s%s (%s)", i ? ", " : "", kinds[i]->kind,
                     kinds[i]->purpose);
  ws_status status =
      ws_fail(diag, WS_USAGE, NULL, 0,
              "unknown device '%s'; there are: %s; ':1' behind it is the "
              "second of several, sim:mi300a or sim:FILE.json another card",
              kind ? kind : "", list.data);
  ws_strbuf_deinit(&list);
  return status;
}

/* "", ":0" ... ":999"; -1 for anything else. */
static int index_of(const char *text) {
  static const char digits[] = "0123456789";
  size_t length = strlen(text);
  if (length == 0)
    return 0;
  if (text[0] != ':' || length < 2 || length > 4 ||
      strspn(text + 1, digits) != length - 1)
    return -1;
  return (int)strtol(text + 1, NULL, 10);
}

typedef struct wanted {
  const ws__device_table *table; /* NULL: there is none of that kind */
  int index;
  const char *card; /* NULL: not said */
} wanted;

static wanted find_kind(const char *kind) {
  wanted found = {NULL, 0, NULL};
  size_t length = kind ? strcspn(kind, ":") : 0;
  for (int i = 0; length && i < KINDS; i++)
    if (strlen(kinds[i]->kind) == length &&
        !strncmp(kinds[i]->kind, kind, length))
      found.table = kinds[i];
  if (!found.table)
    return found;
  found.index = index_of(kind + length);
  if (found.index >= 0)
    return found;
  found.index = 0;
  found.card = kind + length + 1;
  if (!found.table->has_cards || !found.card[0])
    found.table = NULL;
  return found;
}

ws_status ws_device_check_kind(const char *kind, ws_diag *diag) {
  return find_kind(kind).table ? WS_OK : unknown_kind(kind, diag);
}

ws_status ws_device_open(const char *kind, ws_device_purpose purpose,
                         ws_device **out_device, ws_diag *diag) {
  *out_device = NULL;
  const wanted found = find_kind(kind);
  const ws__device_table *table = found.table;
  if (!table)
    return unknown_kind(kind, diag);
  ws_device *device = calloc(1, sizeof *device);
  WS_ASSERT(device && "out of memory");
  device->table = table;
  device->arena = ws_arena_create();
  device->index = found.index;
  device->card = found.card;
  device->info = (ws_device_info){.kind = table->kind,
                                  .name = "",
                                  .arch = "",
                                  .library = "",
                                  .provenance = "",
                                  .driver = "",
                                  .lock = "",
                                  .differs = ""};
  ws_status status = table->open(device, purpose, diag);
  if (status == WS_OK) {
    *out_device = device;
    return WS_OK;
  }
  ws_arena_destroy(device->arena);
  free(device);
  return status;
}

void ws_device_close(ws_device *device) {
  if (!device)
    return;
  device->table->close(device);
  ws_arena_destroy(device->arena);
  free(device);
}

const ws_device_info *ws_device_info_of(const ws_device *device) {
  return &device->info;
}

char *ws_device_take_report(ws_device *device, ws_arena *arena) {
  return device->table->take_report(device, arena);
}

ws_status ws_device_allocate(ws_device *device, size_t bytes, void **out_memory,
                             ws_diag *diag) {
  *out_memory = NULL;
  return device->table->allocate(device, bytes, out_memory, diag);
}

void ws_device_free(ws_device *device, void *memory) {
  if (memory)
    device->table->free(device, memory);
}

ws_status ws_device_upload(ws_device *device, void *to, const void *from,
                           size_t bytes, ws_diag *diag) {
  return device->table->upload(device, to, from, bytes, diag);
}

ws_status ws_device_download(ws_device *device, void *to, const void *from,
                             size_t bytes, ws_diag *diag) {
  return device->table->download(device, to, from, bytes, diag);
}

ws_status ws_device_fill(ws_device *device, void *memory, int byte,
                         size_t bytes, ws_diag *diag) {
  return device->table->fill(device, memory, byte, bytes, diag);
}

void ws_device_flush(ws_device *device) {
  if (device->table->flush)
    device->table->flush(device);
}

int ws_device_limit(ws_device *device, int64_t wave_instructions) {
  return device->table->limit ? device->table->limit(device, wave_instructions)
                              : 0;
}

bool ws_device_watch(ws_device *device, const void *memory) {
  return device->table->watch && device->table->watch(device, memory);
}

size_t ws_device_unstored(ws_device *device, const void *memory, size_t bytes,
                          size_t *out_first) {
  return device->table->unstored(device, memory, bytes, out_first);
}

ws_status ws_device_load(ws_device *device, const void *code_object,
                         size_t bytes, ws_device_module **out_module,
                         ws_diag *diag) {
  *out_module = NULL;
  return device->table->load(device, code_object, bytes, out_module, diag);
}

void ws_device_unload(ws_device *device, ws_device_module *module) {
  if (module)
    device->table->unload(device, module);
}

ws_status ws_device_start(ws_device *device, ws_device_module *module,
                          const ws_device_launch *launch, ws_diag *diag) {
  return device->table->start(device, module, launch, diag);
}

ws_status ws_device_synchronise(ws_device *device, ws_diag *diag) {
  return device->table->synchronise(device, diag);
}

static ws_status lacks(const ws_device *device, const char *what,
                       ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, NULL, 0, "device %s (%s) has no %s",
                 device->info.kind, device->info.name, what);
}

ws_status ws_device_tensor_map(ws_device *device,
                               const ws_device_tensor *tensor,
                               unsigned char out_map[WS_TENSOR_MAP_BYTES],
                               ws_diag *diag) {
  if (!device->table->tensor_map)
    return lacks(device, "tensor maps", diag);
  return device->table->tensor_map(device, tensor, out_map, diag);
}

ws_status ws_device_graph_begin(ws_device *device, ws_diag *diag) {
  if (!device->info.graphs)
    return lacks(device, "graphs", diag);
  return device->table->graph_begin(device, diag);
}

ws_status ws_device_graph_end(ws_device *device, ws_device_graph **out_graph,
                              ws_diag *diag) {
  *out_graph = NULL;
  if (!device->info.graphs)
    return lacks(device, "graphs", diag);
  return device->table->graph_end(device, out_graph, diag);
}

ws_status ws_device_graph_start(ws_device *device, ws_device_graph *graph,
                                ws_diag *diag) {
  if (!device->info.graphs)
    return lacks(device, "graphs", diag);
  return device->table->graph_start(device, graph, diag);
}

void ws_device_graph_destroy(ws_device *device, ws_device_graph *graph) {
  if (graph)
    device->table->graph_destroy(device, graph);
}

ws_device_clocks ws_device_read_clocks(ws_device *device) {
  if (!device->table->read_clocks)
    return (ws_device_clocks){.throttle = ""};
  return device->table->read_clocks(device);
}

ws_status ws_device_kernel_of(ws_device *device, ws_device_module *module,
                              const char *kernel, ws_device_kernel *out,
                              ws_diag *diag) {
  *out = (ws_device_kernel){-1, -1, -1};
  if (!device->table->kernel_of)
    return WS_OK;
  return device->table->kernel_of(device, module, kernel, out, diag);
}

ws_status ws_device_event_create(ws_device *device, ws_device_event **out_event,
                                 ws_diag *diag) {
  *out_event = NULL;
  return device->table->event_create(device, out_event, diag);
}

void ws_device_event_destroy(ws_device *device, ws_device_event *event) {
  if (event)
    device->table->event_destroy(device, event);
}

ws_status ws_device_event_record(ws_device *device, ws_device_event *event,
                                 ws_diag *diag) {
  return device->table->event_record(device, event, diag);
}

ws_status ws_device_event_elapsed(ws_device *device, ws_device_event *begin,
                                  ws_device_event *end, double *out_us,
                                  ws_diag *diag) {
  return device->table->event_elapsed(device, begin, end, out_us, diag);
}
