/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of functions that a kind of device fills in, and what all kinds
 * have in common. The functions are those of wavesmith/device.h, which says
 * what each does.
 */
#ifndef WAVESMITH_DEVICE_INTERNAL_H
#define WAVESMITH_DEVICE_INTERNAL_H

#include "wavesmith/device.h"

typedef struct ws__device_table {
  const char *kind, *purpose;
  bool has_cards; /* "kind:NAME" is one of several cards that it simulates */
  /* Fills device->info and device->self, or fails and leaves nothing. */
  ws_status (*open)(ws_device *device, ws_device_purpose purpose,
                    ws_diag *diag);
  void (*close)(ws_device *device);
  char *(*take_report)(ws_device *device, ws_arena *arena);
  ws_status (*allocate)(ws_device *device, size_t bytes, void **out_memory,
                        ws_diag *diag);
  void (*free)(ws_device *device, void *memory);
  ws_status (*upload)(ws_device *device, void *to, const void *from,
                      size_t bytes, ws_diag *diag);
  ws_status (*download)(ws_device *device, void *to, const void *from,
                        size_t bytes, ws_diag *diag);
  ws_status (*fill)(ws_device *device, void *memory, int byte, size_t bytes,
                    ws_diag *diag);
  ws_status (*load)(ws_device *device, const void *code_object, size_t bytes,
                    ws_device_module **out_module, ws_diag *diag);
  void (*unload)(ws_device *device, ws_device_module *module);
  ws_status (*start)(ws_device *device, ws_device_module *module,
                     const ws_device_launch *launch, ws_diag *diag);
  ws_status (*synchronise)(ws_device *device, ws_diag *diag);
  /* These may be NULL: a kind that cannot say. */
  bool (*watch)(ws_device *device, const void *memory);
  size_t (*unstored)(ws_device *device, const void *memory, size_t bytes,
                     size_t *out_first);
  void (*flush)(ws_device *device);
  int (*limit)(ws_device *device, int64_t wave_instructions);
  /* These may be NULL, the graph's where info.graphs is false: a kind without
   * them. */
  ws_status (*tensor_map)(ws_device *device, const ws_device_tensor *tensor,
                          unsigned char out_map[WS_TENSOR_MAP_BYTES],
                          ws_diag *diag);
  ws_status (*graph_begin)(ws_device *device, ws_diag *diag);
  ws_status (*graph_end)(ws_device *device, ws_device_graph **out_graph,
                         ws_diag *diag);
  ws_status (*graph_start)(ws_device *device, ws_device_graph *graph,
                           ws_diag *diag);
  void (*graph_destroy)(ws_device *device, ws_device_graph *graph);
  ws_device_clocks (*read_clocks)(ws_device *device);
  ws_status (*kernel_of)(ws_device *device, ws_device_module *module,
                         const char *kernel, ws_device_kernel *out,
                         ws_diag *diag);
  ws_status (*event_create)(ws_device *device, ws_device_event **out_event,
                            ws_diag *diag);
  void (*event_destroy)(ws_device *device, ws_device_event *event);
  ws_status (*event_record)(ws_device *device, ws_device_event *event,
                            ws_diag *diag);
  ws_status (*event_elapsed)(ws_device *device, ws_device_event *begin,
                             ws_device_event *end, double *out_us,
                             ws_diag *diag);
} ws__device_table;

struct ws_device {
  const ws__device_table *table;
  ws_arena *arena; /* of the info's texts */
  ws_device_info info;
  int index;        /* which of the machine's: 1 of "cuda:1" */
  const char *card; /* "mi300a" of "sim:mi300a"; NULL: not said */
  void *self;
};

/* hip.c: one set of functions, two ways to find the library. */
extern const ws__device_table ws__device_hip, ws__device_sim;
extern const ws__device_table ws__device_cuda; /* cuda.c */

#endif
