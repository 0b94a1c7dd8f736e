/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Devices that run code objects, behind one table of functions.
 *
 * Kinds: "hip", an AMD GPU through libamdhip64; "sim", the simulated MI300X
 * through libwavesmith_hipsim, which has the same ABI and is driven by the very
 * same code; "cuda", an NVIDIA GPU through libcuda (the driver's API). "cuda:1"
 * is the second of several; "sim:mi300a" and "sim:FILE.json" are other cards
 * that are simulated (wavesmith/sim_card.h). Libraries are opened at run time.
 * A device may hang or take its process with it, so only wavesmith-device opens
 * one; everybody else asks that server (wavesmith/measure.h).
 *
 * A device belongs to the thread that opened it.
 */
#ifndef WAVESMITH_DEVICE_H
#define WAVESMITH_DEVICE_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_device ws_device;
typedef struct ws_device_module ws_device_module;
typedef struct ws_device_event ws_device_event;

typedef struct ws_device_info {
  const char *kind, *name, *arch, *library;
  /* "sim:gfx942-model-5:MI300X", "hip:AMD Instinct MI300X": of every time that
   * is taken here. */
  const char *provenance;
  const char *driver; /* "580.159.04"; "" when the library does not say */
  const char *lock;   /* names the card among all of this machine: its UUID or
                       * bus id; "": nothing to lock (a simulator) */
  int cu_count;       /* compute units or multiprocessors */
  int clock_mhz, memory_clock_mhz; /* highest; 0: unknown */
  int64_t memory_bytes;
  int64_t cache_bytes; /* of the last level; to be flushed between samples */
  /* Times are a function of the launch alone, and every access to memory is
   * checked: a simulator. */
  bool simulated;
  bool dry_timing; /* opened for times, its launches leave memory as it is */
  bool graphs;     /* launches can be captured and started as one */
  /* Of a simulated card, how its model differs from the MI300X's that texts
   * about gfx942 describe; "": it does not, or nothing is known. */
  const char *differs;
} ws_device_info;

/* As the driver says now; 0 and "" where it does not. */
typedef struct ws_device_clocks {
  int mhz, memory_mhz, celsius;
  double watts;
  /* Why the clock is lower than it might be: "power", "thermal", "other";
   * being idle is no reason. */
  const char *throttle;
} ws_device_clocks;

/* What launches are for. A simulator runs kernels for their result and for
 * their time in different ways; to a card it is all the same. */
typedef enum ws_device_purpose {
  WS_DEVICE_RUN, /* results count */
  WS_DEVICE_TIME /* events count; results may be left out */
} ws_device_purpose;

/* WS_USAGE: "cuda", "hip:1" are kinds, this is none; the diag lists them. */
ws_status ws_device_check_kind(const char *kind, ws_diag *diag) WS_MUST_CHECK;
/* WS_USAGE: no such kind; the diag lists them. WS_ENVIRONMENT: no library, or
 * no device in it; the diag says which and what to do. One device a process. */
ws_status ws_device_open(const char *kind, ws_device_purpose purpose,
                         ws_device **out_device, ws_diag *diag) WS_MUST_CHECK;
void ws_device_close(ws_device *device); /* NULL is allowed */
const ws_device_info *ws_device_info_of(const ws_device *device);
/* What a simulator had to say of the launches since the last call: JSON
 * objects, one a line; "" on a card. In the arena. */
char *ws_device_take_report(ws_device *device, ws_arena *arena);

/* WS_INPUT: the code or the launch is at fault. After a kernel has faulted the
 * device is of no more use in this process, as on a card.
 * WS_ENVIRONMENT: the device is at fault, e.g. out of memory. */
ws_status ws_device_allocate(ws_device *device, size_t bytes, void **out_memory,
                             ws_diag *diag) WS_MUST_CHECK;
void ws_device_free(ws_device *device, void *memory); /* NULL is allowed */
ws_status ws_device_upload(ws_device *device, void *to, const void *from,
                           size_t bytes, ws_diag *diag) WS_MUST_CHECK;
ws_status ws_device_download(ws_device *device, void *to, const void *from,
                             size_t bytes, ws_diag *diag) WS_MUST_CHECK;
/* In the order of launches. */
ws_status ws_device_fill(ws_device *device, void *memory, int byte,
                         size_t bytes, ws_diag *diag) WS_MUST_CHECK;

/* Notes from now on which bytes of the allocation around memory kernels store.
 * false: this device cannot say (a card, a simulator of others). */
bool ws_device_watch(ws_device *device, const void *memory);
/* Of watched memory: how many of these bytes no kernel has stored since, and
 * the first of them. Waits for launches. */
size_t ws_device_unstored(ws_device *device, const void *memory, size_t bytes,
                          size_t *out_first);

/* On a simulator of ours: caches are empty from here on, as on a card a fill of
 * twice cache_bytes leaves them; elsewhere nothing happens. */
void ws_device_flush(ws_device *device);
/* On a simulator of ours launches from now on end quietly after about so many
 * wave instructions each; 0: no such limit. How many did, since the last call.
 * Waits for launches. */
int ws_device_limit(ws_device *device, int64_t wave_instructions);

ws_status ws_device_load(ws_device *device, const void *code_object,
                         size_t bytes, ws_device_module **out_module,
                         ws_diag *diag) WS_MUST_CHECK;
void ws_device_unload(ws_device *device, ws_device_module *module);

typedef struct ws_device_launch {
  const char *kernel;
  uint32_t grid[3];  /* workgroups */
  uint32_t block[3]; /* threads of one */
  uint32_t dynamic_lds;
  const void *kernarg; /* explicit part */
  size_t kernarg_bytes;
  /* Where in it each argument of the kernel is, in their order. HIP passes the
   * whole; CUDA each for itself, because its compiler puts them elsewhere (the
   * first at 48 when one of them is aligned to 64). */
  const uint32_t *argument_offsets;
  uint32_t argument_count;
} ws_device_launch;
/* Returns before the kernel has ended. */
ws_status ws_device_start(ws_device *device, ws_device_module *module,
                          const ws_device_launch *launch,
                          ws_diag *diag) WS_MUST_CHECK;
ws_status ws_device_synchronise(ws_device *device, ws_diag *diag) WS_MUST_CHECK;

/* ---- tensor maps (TMA descriptors): 128 bytes of a kernel's arguments -----
 * Row-major [outer][inner] at address, rows of inner elements without gaps:
 * whole 16 bytes each, but for a matrix of one row. */
enum { WS_TENSOR_MAP_BYTES = 128 };
typedef struct ws_device_tensor {
  void *address;     /* on the device, 16-byte aligned */
  int element_bytes; /* 1: u8, 2: bf16, 4: f32 */
  uint64_t inner, outer;
  uint32_t box_inner, box_outer;
  uint32_t swizzle; /* bytes: 0 32 64 128 */
} ws_device_tensor;
/* WS_INPUT: the hardware takes no such map (the diag says which rule of
 * cuTensorMapEncodeTiled it breaks), or this kind of device has none. */
ws_status ws_device_tensor_map(ws_device *device,
                               const ws_device_tensor *tensor,
                               unsigned char out_map[WS_TENSOR_MAP_BYTES],
                               ws_diag *diag) WS_MUST_CHECK;

/* ---- graphs: several launches and fills started as one, so that the time of a
 * short kernel is not that of the host. Where info.graphs is false they fail.
 * Between begin and end, ws_device_start and ws_device_fill are recorded
 * instead of run, and nothing else may be called. */
typedef struct ws_device_graph ws_device_graph;
ws_status ws_device_graph_begin(ws_device *device, ws_diag *diag) WS_MUST_CHECK;
ws_status ws_device_graph_end(ws_device *device, ws_device_graph **out_graph,
                              ws_diag *diag) WS_MUST_CHECK;
ws_status ws_device_graph_start(ws_device *device, ws_device_graph *graph,
                                ws_diag *diag) WS_MUST_CHECK;
void ws_device_graph_destroy(ws_device *device, ws_device_graph *graph);

/* Cheap enough to be read between samples (about a millisecond). */
ws_device_clocks ws_device_read_clocks(ws_device *device);

/* What the loaded code needs, after the driver's own compiler where it was PTX;
 * -1: not known. */
typedef struct ws_device_kernel {
  int registers, local_bytes, lds_bytes;
} ws_device_kernel;
ws_status ws_device_kernel_of(ws_device *device, ws_device_module *module,
                              const char *kernel, ws_device_kernel *out,
                              ws_diag *diag) WS_MUST_CHECK;

ws_status ws_device_event_create(ws_device *device, ws_device_event **out_event,
                                 ws_diag *diag) WS_MUST_CHECK;
void ws_device_event_destroy(ws_device *device, ws_device_event *event);
ws_status ws_device_event_record(ws_device *device, ws_device_event *event,
                                 ws_diag *diag) WS_MUST_CHECK;
/* Waits for end. */
ws_status ws_device_event_elapsed(ws_device *device, ws_device_event *begin,
                                  ws_device_event *end, double *out_us,
                                  ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
