/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kinds of device, as a table, and the calls into it.
 */
#include "device.h"

#include <stdlib.h>
#include <string.h>

static const ws__device_table *const kinds[] = {&ws__device_hip,
                                                &ws__device_sim};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static ws_status unknown_kind(const char *kind, ws_diag *diag) {
  ws_strbuf list;
  ws_strbuf_init(&list);
  for (int i = 0; i < KINDS; i++)
    ws_strbuf_printf(&list, "%s%s (%s)", i ? ", " : "", kinds[i]->kind,
                     kinds[i]->purpose);
  ws_status status =
      ws_fail(diag, WS_USAGE, NULL, 0, "unknown device '%s'; there are: %s",
              kind ? kind : "", list.data);
  ws_strbuf_deinit(&list);
  return status;
}

ws_status ws_device_open(const char *kind, ws_device_purpose purpose,
                         ws_device **out_device, ws_diag *diag) {
  *out_device = NULL;
  const ws__device_table *table = NULL;
  for (int i = 0; kind && i < KINDS; i++)
    if (!strcmp(kinds[i]->kind, kind))
      table = kinds[i];
  if (!table)
    return unknown_kind(kind, diag);
  ws_device *device = calloc(1, sizeof *device);
  WS_ASSERT(device && "out of memory");
  device->table = table;
  device->arena = ws_arena_create();
  device->info.kind = table->kind;
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
