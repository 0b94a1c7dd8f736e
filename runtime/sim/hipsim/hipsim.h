/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libwavesmith_hipsim: the HIP ABI (HIP 6 and 7, AMD platform) on the gfx942
 * simulator. What its files share; docs/simulator.md has the user's side.
 *
 *   state.c    settings, the simulator, errors, handles
 *   errors.c   names and texts of errors
 *   device.c   what the simulated card says of itself
 *   context.c  the one context
 *   memory.c   allocations
 *   stream.c   streams, events, the simulated clock
 *   graph.c    operations, capture, graphs
 *   copy.c     copies and fills
 *   image.c    a gfx942 ELF out of whatever a program hands in
 *   module.c   modules, functions, variables, occupancy
 *   launch.c   launches: arguments, run, time, report
 *   register.c what clang emits for <<<>>>: fat binaries, host-side handles
 *
 * Time. A stream is a clock in simulated microseconds. Work is done at once, in
 * the order of the calls, and moves its stream's clock; events record it. The
 * host's clock stands still except where it waits for the device. Kernels of
 * different streams follow each other (the model is of one kernel on the whole
 * device), copies between host and device overlap with them.
 *
 * What a launch costs beside its run is for beginning anew and for the event
 * behind it: a kernel or fill that follows another one, no timed event between
 * and the host not waiting, costs behind_ns in place of launch_ns.
 *
 * Errors. A call that is wrong changes nothing and returns HIP's error. What a
 * kernel does wrong shows as on the card at the next call that works with the
 * device, and stays (copies, launches, waits fail) until hipDeviceReset:
 * hipErrorIllegalAddress for global memory, hipErrorLaunchTimeOut for an
 * infinite loop, hipErrorLaunchFailure for everything else. Unlike on the card
 * that includes races, missing waits and uninitialised values, since the
 * simulator ends such workgroups. Freeing, queries and module calls go on.
 *
 * Settings, read once by the first call that needs the device:
 *   WAVESMITH_SIM_MODE       full (default): run, and time by the model
 *                            run: only run; a launch takes 2.5 us
 *                            time: only the model; kernels do not change memory
 *                            but for very short ones (launch.c)
 *   WAVESMITH_SIM_CARD       mi300x (default), another card by its name, or the
 *                            file of a profile; with a wrong one nothing works
 *   WAVESMITH_SIM_THREADS    host threads (default: one per core)
 *   WAVESMITH_SIM_RESIDENCY  cold (default): caches are empty at first, then as
 *                            launches, copies and fills leave them; warm: each
 *                            launch finds its inputs in the Infinity Cache as
 *                            far as they fit; flushed: each finds caches empty
 *   WAVESMITH_SIM_CHECKS     on (default); off: only what would end the host
 *   WAVESMITH_SIM_BUDGET     instructions of a wave before it counts as an
 *                            infinite loop (default 2^31)
 *   WAVESMITH_SIM_SEED       draws the compute units that a timed launch is
 *                            simulated on; read anew for each launch
 *   WAVESMITH_SIM_TIMING     once (default): launches that agree in kernel,
 *                            grid, block, LDS, arguments by value, and in size
 *                            and offset of the buffers that pointers lie in
 *                            take the time of the first; each: every launch is
 *                            timed by itself
 *   WAVESMITH_SIM_REPORT     a file to which each launch appends a line of JSON
 *   WAVESMITH_LOG            error|warn|info|debug: what goes to stderr; what
 *                            the checks find is an error, with a report an info
 */
#ifndef WAVESMITH_HIPSIM_H
#define WAVESMITH_HIPSIM_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>

#include "card.h"
#include "wavesmith/base.h"
#include "wavesmith/sim.h"

#include <pthread.h>

/* ---- state.c ---------------------------------------------------------------
 */

typedef enum ws_hipsim_mode {
  WS_HIPSIM_FULL,
  WS_HIPSIM_RUN,
  WS_HIPSIM_TIME
} ws_hipsim_mode;

typedef struct ws_settings {
  ws_hipsim_mode mode;
  ws_sim_residency residency;
  ws_sim_options sim;
  bool time_each;
  const char *report; /* NULL: none */
} ws_settings;

typedef struct ws_stream {
  double ready_us;
  bool blocking; /* waits for the null stream, and it for this */
  int priority;
  unsigned flags;
  struct ws_graph *capture; /* NULL: not capturing */
  bool capture_origin;
} ws_stream;

typedef struct ws_hipsim {
  pthread_mutex_t lock; /* held during every call */
  ws_sim *sim;          /* NULL: not needed yet */
  ws_settings settings;
  hipError_t sticky; /* what a kernel did wrong; hipSuccess: nothing */
  ws_stream null_stream;
  double host_us;     /* when the host last knew the device to be done */
  double latest_us;   /* of all streams */
  double blocking_us; /* of all blocking streams */
  double compute_us;  /* when the compute units are free */
  double link_us;     /* when the link to the host is free */
  bool is_following;  /* the next kernel begins where one has just ended */
  int64_t launches;
} ws_hipsim;
extern ws_hipsim ws__hip_device;

/* Every entry point is HIP_CALL(expression) or HIP_WORK(expression): the lock
 * is held for the expression, its error becomes the thread's last error.
 * HIP_WORK is for what needs a healthy device. */
void ws__hip_enter(void);
hipError_t ws__hip_leave(hipError_t error);
#define HIP_CALL(expression)                                                   \
  do {                                                                         \
    ws__hip_enter();                                                           \
    return ws__hip_leave(expression);                                          \
  } while (0)
#define HIP_WORK(expression)                                                   \
  do {                                                                         \
    ws__hip_enter();                                                           \
    return ws__hip_leave(ws__hip_device.sticky ? ws__hip_device.sticky         \
                                               : (expression));                \
  } while (0)

/* The simulator; NULL when it cannot be created (hipErrorNotInitialized). */
ws_sim *ws__hip_simulator(void);
/* The card of WAVESMITH_SIM_CARD. */
const ws_sim_card *ws__hip_card(void);
/* hipErrorNotInitialized: there is no such card; says so, once. */
hipError_t ws__hip_card_error(void);
/* WAVESMITH_SIM_SEED as it is now: it may change between launches. */
uint64_t ws__hip_sample_seed(void);
/* Forgets handles, memory, modules, clocks and the sticky error. */
void ws__hip_reset(void);

/* Handles are numbers with a generation, never addresses: a wrong, stale or
 * foreign one is found without touching memory. */
typedef enum ws_handle_kind {
  WS_HANDLE_STREAM = 1,
  WS_HANDLE_EVENT,
  WS_HANDLE_MODULE,
  WS_HANDLE_FUNCTION,
  WS_HANDLE_GRAPH,
  WS_HANDLE_GRAPH_EXEC,
  WS_HANDLE_FAT_BINARY
} ws_handle_kind;
/* NULL: 2^24 handles are in use. */
void *ws__hip_handle_create(ws_handle_kind kind, void *object);
void *ws__hip_handle_object(const void *handle, ws_handle_kind kind);
/* Gives the object back; NULL: no live handle of this kind. */
void *ws__hip_handle_destroy(const void *handle, ws_handle_kind kind);
/* The live handles of a kind, one after the other from *cursor = 0. */
void *ws__hip_handle_next(ws_handle_kind kind, uint32_t *cursor);

/* ---- device.c --------------------------------------------------------------
 */

enum { WS_DEVICE_LDS_BYTES = 65536, WS_DEVICE_MAX_THREADS = 1024 };
const hipDeviceProp_tR0600 *ws__hip_properties(void);

/* ---- memory.c --------------------------------------------------------------
 */

void ws__hip_memory_forget(void);
/* Checks bytes from pointer. *out_device tells whether it is an allocation of
 * ours; other memory is the host's, about which nothing is known. */
hipError_t ws__hip_memory_range(const void *pointer, size_t bytes,
                                bool *out_device);
/* Whether the host has given the allocation its contents, by a copy; else,
 * where launches are only timed, they count as unknown (ws_sim_set_unknown), but
 * for what fills and very short launches leave (ws_sim_set_known). */
void ws__hip_memory_contents(const void *address, bool given);
/* Both on the device as far as kernels are concerned, but host memory by name:
 * what copies to and from it cost. */
bool ws__hip_memory_is_pinned_host(const void *pointer);
/* Registered memory to its mirrors on the device, or back. */
void ws__hip_memory_mirror(bool to_device);
/* Of an address in a mirror the registered one; any other as it is. */
void *ws__hip_memory_home(const void *pointer);
/* Copies; false: part of it cannot be read or written, where memcpy would end
 * the process. */
bool ws__hip_memory_copy(void *to, const void *from, size_t bytes);

/* ---- stream.c --------------------------------------------------------------
 */

typedef enum ws_operation_kind {
  WS_OPERATION_LAUNCH,
  WS_OPERATION_COPY,
  WS_OPERATION_FILL,
  WS_OPERATION_CALL
} ws_operation_kind;

/* One piece of a stream's work; also what a graph consists of. */
typedef struct ws_operation {
  ws_operation_kind kind;
  union {
    struct ws_launch_operation {
      hipFunction_t function;
      uint32_t grid[3], block[3];
      uint32_t lds;
      void *kernarg; /* owned by the graph, or the caller's */
      size_t kernarg_size;
    } launch;
    struct ws_copy_operation {
      void *to;
      const void *from;
      size_t to_pitch, from_pitch, width, height;
      hipMemcpyKind kind;
    } copy;
    struct ws_fill_operation {
      void *to;
      size_t pitch, width, height; /* width in bytes */
      uint32_t value;
      unsigned unit; /* 1, 2 or 4 bytes */
    } fill;
    struct ws_call_operation {
      hipHostFn_t function;
      void *data;
    } call;
  } u;
} ws_operation;

/* Frees streams and events. */
void ws__hip_stream_forget(void);
/* When what is submitted to the stream now would start. */
double ws__hip_now(const ws_stream *stream);
/* What a kernel or fill that takes us by itself takes now: less where it
 * follows another one. */
double ws__hip_us_now(double us);
/* Work of us microseconds on the stream and on an engine, compute_us or
 * link_us of the state. */
void ws__hip_advance(ws_stream *stream, double *engine_us, double us);
/* event NULL: nothing. */
hipError_t ws__hip_record(hipEvent_t event, hipStream_t stream);
/* NULL: not a stream. */
ws_stream *ws__hip_stream(hipStream_t stream);
/* ---- graph.c ---------------------------------------------------------------
 */

void ws__hip_graph_retain(struct ws_graph *graph);
void ws__hip_graph_release(struct ws_graph *graph); /* NULL is allowed */
void ws__hip_graph_forget(void);
/* Does the operation, or adds it to the graph that the stream captures. */
hipError_t ws__hip_submit(hipStream_t stream, const ws_operation *operation);
/* The same on the null stream or another, and the host waits for it. */
hipError_t ws__hip_submit_and_wait(hipStream_t stream,
                                   const ws_operation *operation);
/* The host waits for all of the stream. */
void ws__hip_wait(const ws_stream *stream);

/* ---- copy.c, launch.c: how operations are done ------------------------------
 */

hipError_t ws__hip_do_copy(ws_stream *stream,
                           const struct ws_copy_operation *copy);
hipError_t ws__hip_do_fill(ws_stream *stream,
                           const struct ws_fill_operation *fill);
hipError_t ws__hip_do_launch(ws_stream *stream,
                             const struct ws_launch_operation *launch);
void ws__hip_launch_forget(void);

/* ---- image.c ---------------------------------------------------------------
 */

typedef struct ws_image {
  void *data; /* free() */
  size_t size;
} ws_image;
/* image: an ELF, an offload bundle, or a compressed one, of unknown length; it
 * may also be no readable memory at all. Logs what is wrong with it. */
hipError_t ws__hip_image_open(const void *image, ws_image *out_image);
/* ---- module.c --------------------------------------------------------------
 */

hipError_t ws__hip_module_open(const void *image, hipModule_t *out_module);
hipError_t ws__hip_module_close(hipModule_t module);
hipError_t ws__hip_module_function(hipModule_t module, const char *name,
                                   hipFunction_t *out_function);
hipError_t ws__hip_module_variable(hipModule_t module, const char *name,
                                   void **out_address, size_t *out_bytes);
void ws__hip_module_forget(void);
/* NULL: not a function, or its module is gone. */
const ws_sim_kernel *ws__hip_kernel(hipFunction_t function);

/* Bytes of the kernel's explicit arguments. */
size_t ws__hip_explicit_size(const ws_sim_kernel_info *info);
bool ws__hip_argument_is_hidden(const ws_sim_argument *argument);

/* Workgroups that fit on a CU at once. */
int ws__hip_occupancy(const ws_sim_kernel_info *info, int threads,
                      size_t dynamic_lds);

/* ---- launch.c, register.c ---------------------------------------------------
 */

typedef struct ws_launch_request {
  hipFunction_t function;
  uint64_t grid[3]; /* workgroups */
  uint32_t block[3];
  size_t lds;
  hipStream_t stream;
  void **params, **extra;
  hipEvent_t start, stop; /* may be NULL */
} ws_launch_request;
hipError_t ws__hip_launch(const ws_launch_request *request);

/* Host-side stand-ins of kernels and variables, as clang registers them.
 * hipErrorInvalidDeviceFunction, hipErrorInvalidSymbol: not registered. */
hipError_t ws__hip_registered_function(const void *host, hipFunction_t *out);
hipError_t ws__hip_registered_variable(const void *host, void **out_address,
                                       size_t *out_bytes);
/* A hipFunction_t, or the host-side stand-in of a kernel. */
hipError_t ws__hip_any_function(const void *function, hipFunction_t *out);
void ws__hip_registered_forget(void);

#endif
