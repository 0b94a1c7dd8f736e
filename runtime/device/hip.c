/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kinds "hip" and "sim": a library with HIP's ABI, opened at run time. The
 * two differ in how the library is found and in what is known about times; all
 * calls are the same.
 *
 * hip: what WAVESMITH_HIP_LIBRARY names, or libamdhip64 (runtime/rt's search).
 * sim: what WAVESMITH_SIM_LIBRARY names, any emulator with HIP's ABI, or
 * libwavesmith_hipsim.so in the program's library folder. The simulator of ours
 * is told through the environment what a launch is for (WAVESMITH_SIM_MODE),
 * where to report (WAVESMITH_SIM_REPORT, a file in memory here) and which card
 * it is (WAVESMITH_SIM_CARD, what "sim:" is followed by); which one it took, it
 * says itself.
 */
#include "../rt/hip_abi.h"
#include "../rt/library.h"
#include "amdgpu.h"
#include "device.h"
#include "wavesmith/sim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIP_FUNCTIONS(X)                                                       \
  X(hipInit)                                                                   \
  X(hipGetDeviceCount)                                                         \
  X(hipGetDevicePropertiesR0600)                                               \
  X(hipSetDevice)                                                              \
  X(hipGetErrorName)                                                           \
  X(hipMalloc)                                                                 \
  X(hipFree)                                                                   \
  X(hipMemcpy)                                                                 \
  X(hipMemset)                                                                 \
  X(hipModuleLoadData)                                                         \
  X(hipModuleUnload)                                                           \
  X(hipModuleGetFunction)                                                      \
  X(hipModuleLaunchKernel)                                                     \
  X(hipDeviceSynchronize)                                                      \
  X(hipEventCreate)                                                            \
  X(hipEventDestroy)                                                           \
  X(hipEventRecord)                                                            \
  X(hipEventSynchronize)                                                       \
  X(hipEventElapsedTime)

/* A library that has all of these records graphs. */
#define HIP_GRAPH_FUNCTIONS(X)                                                 \
  X(hipMemsetAsync)                                                            \
  X(hipStreamCreate)                                                           \
  X(hipStreamDestroy)                                                          \
  X(hipStreamBeginCapture)                                                     \
  X(hipStreamEndCapture)                                                       \
  X(hipGraphInstantiateWithFlags)                                              \
  X(hipGraphLaunch)                                                            \
  X(hipGraphDestroy)                                                           \
  X(hipGraphExecDestroy)

typedef struct hip {
#define HIP_POINTER(name) __typeof__(name) *name;
  HIP_FUNCTIONS(HIP_POINTER)
  HIP_GRAPH_FUNCTIONS(HIP_POINTER)
#undef HIP_POINTER
  /* Of our simulator; else NULL. */
  __typeof__(wavesmith_sim_watch) *watch;
  __typeof__(wavesmith_sim_unstored) *unstored;
  __typeof__(wavesmith_sim_limit) *limit;
  __typeof__(wavesmith_sim_flush) *flush;
  const wavesmith_sim_card_text *card_text;
  int report; /* file that the simulator writes to; -1: none */
  /* Launches, fills and events go here, because the default stream cannot be
   * recorded; it and the default stream wait for each other. NULL, the default
   * stream, where there are no graphs. */
  hipStream_t stream;
  bool capturing;
  ws__amdgpu *card; /* NULL: a simulator, or unknown to the kernel */
} hip;

enum { MAX_FUNCTIONS = 16 };
struct ws_device_module {
  hipModule_t module;
  struct {
    char name[128];
    hipFunction_t function;
  } functions[MAX_FUNCTIONS]; /* looked up so far */
  int function_count;
};

static hip *hip_of(const ws_device *device) { return device->self; }

/* Errors that say something about the code or the launch; all others are the
 * device's or ours. */
static bool is_fault_of_code(hipError_t error) {
  static const hipError_t codes[] = {hipErrorInvalidImage,
                                     hipErrorInvalidKernelFile,
                                     hipErrorNoBinaryForGpu,
                                     hipErrorSharedObjectSymbolNotFound,
                                     hipErrorInvalidConfiguration,
                                     hipErrorInvalidValue,
                                     hipErrorIllegalAddress,
                                     hipErrorLaunchOutOfResources,
                                     hipErrorLaunchTimeOut,
                                     hipErrorLaunchFailure,
                                     hipErrorNotFound,
                                     hipErrorAssert,
                                     hipErrorIllegalState,
                                     hipErrorInvalidDeviceFunction};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
    if (codes[i] == error)
      return true;
  return false;
}

static ws_status check(const ws_device *device, hipError_t error,
                       const char *call, ws_diag *diag) {
  if (error == hipSuccess)
    return WS_OK;
  return ws_fail(diag, is_fault_of_code(error) ? WS_INPUT : WS_ENVIRONMENT,
                 NULL, 0, "%s: %s", call,
                 hip_of(device)->hipGetErrorName(error));
}

/* ---- finding the library ----------------------------------------------- */

static ws_status bind_library(ws_device *device, void *handle, ws_diag *diag) {
  static const char *const names[] = {
#define HIP_NAME(name) #name,
      HIP_FUNCTIONS(HIP_NAME)
#undef HIP_NAME
  };
  hip *self = device->self;
  void **const places[] = {
#define HIP_PLACE(name) (void **)&self->name,
      HIP_FUNCTIONS(HIP_PLACE)
#undef HIP_PLACE
  };
  char message[512];
  if (ws__library_bind(&ws__hip_library, handle, names, places,
                       sizeof names / sizeof names[0], message, sizeof message))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", message);
  return WS_OK;
}

/* Graphs are for cards: a simulator's times have no host in them. */
static ws_status bind_graphs(ws_device *device, void *handle, ws_diag *diag) {
  static const char *const names[] = {
#define HIP_NAME(name) #name,
      HIP_GRAPH_FUNCTIONS(HIP_NAME)
#undef HIP_NAME
  };
  hip *self = hip_of(device);
  void **const places[] = {
#define HIP_PLACE(name) (void **)&self->name,
      HIP_GRAPH_FUNCTIONS(HIP_PLACE)
#undef HIP_PLACE
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!(*places[i] = dlsym(handle, names[i])))
      return WS_OK;
  device->info.graphs = true;
  return check(device, self->hipStreamCreate(&self->stream), "hipStreamCreate",
               diag);
}

/* Where the library is, from any of its functions. */
static const char *path_of(ws_device *device) {
  Dl_info where;
  if (!dladdr((void *)(uintptr_t)hip_of(device)->hipInit, &where))
    return "";
  return ws_arena_strdup(device->arena, where.dli_fname);
}

static ws_status read_device(ws_device *device, ws_diag *diag) {
  const hip *self = hip_of(device);
  int count = 0;
  hipError_t error = self->hipInit(0);
  if (error == hipSuccess)
    error = self->hipGetDeviceCount(&count);
  if (error != hipSuccess || count < 1)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s finds no device (%s)",
                   path_of(device),
                   self->hipGetErrorName(error ? error : hipErrorNoDevice));
  if (device->index >= count)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "there is no %s:%d; the last one visible is %s:%d",
                   device->info.kind, device->index, device->info.kind,
                   count - 1);
  hipDeviceProp_t properties;
  memset(&properties, 0, sizeof properties);
  WS_TRY(check(device,
               self->hipGetDevicePropertiesR0600(&properties, device->index),
               "hipGetDeviceProperties", diag));
  WS_TRY(
      check(device, self->hipSetDevice(device->index), "hipSetDevice", diag));
  ws_device_info *info = &device->info;
  info->name = ws_arena_strndup(device->arena, properties.name,
                                strnlen(properties.name, 256));
  info->arch = ws_arena_strndup(device->arena, properties.gcnArchName,
                                strcspn(properties.gcnArchName, ":"));
  info->library = path_of(device);
  info->cu_count = properties.multiProcessorCount;
  info->clock_mhz = properties.clockRate / 1000;
  info->memory_clock_mhz = properties.memoryClockRate / 1000;
  info->memory_bytes = (int64_t)properties.totalGlobalMem;
  info->lock =
      ws_arena_printf(device->arena, "%04x:%02x:%02x.0", properties.pciDomainID,
                      properties.pciBusID, properties.pciDeviceID);
  /* HIP reports the L2 of one die; MI300X's Infinity Cache of 256 MB lies
   * behind it (CDNA3 white paper) and is what keeps operands. */
  info->cache_bytes = INT64_C(256) << 20;
  return WS_OK;
}

static ws_status open_with(ws_device *device, void *handle, ws_diag *diag) {
  hip *self = ws_arena_alloc(device->arena, sizeof *self);
  self->report = -1;
  device->self = self;
  WS_TRY(bind_library(device, handle, diag));
  return read_device(device, diag);
}

static ws_status open_hip(ws_device *device, ws_device_purpose purpose,
                          ws_diag *diag) {
  (void)purpose;
  char message[512];
  void *handle = ws__library_find(&ws__hip_library, message, sizeof message);
  if (!handle)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", message);
  WS_TRY(open_with(device, handle, diag));
  device->info.provenance =
      ws_arena_printf(device->arena, "hip:%s", device->info.name);
  WS_TRY(bind_graphs(device, handle, diag));
  hip_of(device)->card = ws__amdgpu_open(device->info.lock);
  device->info.driver = ws__amdgpu_driver(device->arena);
  return WS_OK;
}

/* ---- the simulator ------------------------------------------------------- */

static const char own_library[] = "libwavesmith_hipsim.so";

static void *open_beside_program(ws_arena *arena, ws_diag *diag) {
  static const char *const folders[] = {"../../lib", "../lib",
                                        "../../" WAVESMITH_LIBDIR, "."};
  char *program;
  if (ws_program_directory(arena, &program, diag) != WS_OK)
    return NULL;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    const char *path =
        ws_arena_printf(arena, "%s/%s/%s", program, folders[i], own_library);
    if (!ws_file_exists(path))
      continue;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s", dlerror());
    return handle;
  }
  ws_fail(diag, WS_ENVIRONMENT, program, 0,
          "no %s in its library folder; build all targets, or set "
          "WAVESMITH_SIM_LIBRARY to an emulator with HIP's ABI",
          own_library);
  return NULL;
}

static void *find_simulator(ws_arena *arena, ws_diag *diag) {
  const char *wanted = secure_getenv("WAVESMITH_SIM_LIBRARY");
  if (!wanted || !wanted[0])
    return open_beside_program(arena, diag);
  void *handle = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "WAVESMITH_SIM_LIBRARY: %s",
            dlerror());
  return handle;
}

/* "/x/libfoo.so.1" is "libfoo". */
static char *short_name(ws_arena *arena, const char *path) {
  const char *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  return ws_arena_strndup(arena, base, strcspn(base, "."));
}

static bool is_own(ws_device *device) {
  return !strcmp(short_name(device->arena, own_library),
                 short_name(device->arena, device->info.library));
}

/* Ours names its model's version; of another emulator only its name is known.
 */
static const char *simulator_provenance(ws_device *device) {
  const wavesmith_sim_card_text *card = hip_of(device)->card_text;
  if (is_own(device))
    return ws_arena_printf(device->arena, "sim:%s-model-%d:%s",
                           device->info.arch, WS_SIM_MODEL_VERSION,
                           card ? card->title : "MI300X");
  return ws_arena_printf(device->arena, "sim:%s:%s",
                         short_name(device->arena, device->info.library),
                         device->info.name);
}

static int open_report(void) {
  int file = memfd_create("wavesmith-sim-report", MFD_CLOEXEC);
  char path[64];
  if (file < 0)
    return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  setenv("WAVESMITH_SIM_REPORT", path, 1);
  return file;
}

/* A library that cannot say which card it is simulates one only. */
static ws_status ask_card(ws_device *device, void *handle,
                          const wavesmith_sim_card_text **out, ws_diag *diag) {
  __typeof__(wavesmith_sim_card) *ask;
  *(void **)&ask = dlsym(handle, "wavesmith_sim_card");
  *out = ask ? ask() : NULL;
  if (*out && (*out)->error)
    return ws_fail(diag, WS_USAGE, NULL, 0, "%s", (*out)->error);
  if (!*out && device->card)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "the simulator that WAVESMITH_SIM_LIBRARY names knows no "
                   "cards, so none is 'sim:%s'; leave ':%s' out",
                   device->card, device->card);
  return WS_OK;
}

/* Our library from another build would give its times the name of ours. */
static ws_status check_model(ws_device *device, void *handle, ws_diag *diag) {
  __typeof__(wavesmith_sim_model) *ask;
  *(void **)&ask = dlsym(handle, "wavesmith_sim_model");
  if (!is_own(device) || (ask && ask() == WS_SIM_MODEL_VERSION))
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "%s is of another build, whose times are not those of this "
                 "one's model %d; install or build both together",
                 device->info.library, WS_SIM_MODEL_VERSION);
}

static ws_status open_simulator(ws_device *device, void *handle,
                                ws_diag *diag) {
  const wavesmith_sim_card_text *text;
  WS_TRY(ask_card(device, handle, &text, diag));
  WS_TRY(open_with(device, handle, diag));
  WS_TRY(check_model(device, handle, diag));
  hip_of(device)->card_text = text;
  if (text)
    device->info.differs = text->differs;
  return WS_OK;
}

/* The library reads its settings once, so they come first. */
static ws_status open_sim(ws_device *device, ws_device_purpose purpose,
                          ws_diag *diag) {
  int report = open_report();
  setenv("WAVESMITH_SIM_MODE", purpose == WS_DEVICE_TIME ? "time" : "run", 1);
  setenv("WAVESMITH_SIM_CARD", device->card ? device->card : "", 1);
  void *handle = find_simulator(device->arena, diag);
  ws_status status =
      handle ? open_simulator(device, handle, diag) : WS_ENVIRONMENT;
  if (status != WS_OK) {
    close(report);
    return status;
  }
  hip *self = device->self;
  self->report = report;
  *(void **)&self->watch = dlsym(handle, "wavesmith_sim_watch");
  *(void **)&self->unstored = dlsym(handle, "wavesmith_sim_unstored");
  *(void **)&self->limit = dlsym(handle, "wavesmith_sim_limit");
  *(void **)&self->flush = dlsym(handle, "wavesmith_sim_flush");
  device->info.simulated = true;
  device->info.lock = "";
  device->info.dry_timing = purpose == WS_DEVICE_TIME && is_own(device);
  device->info.provenance = simulator_provenance(device);
  return WS_OK;
}

static char *take_report(ws_device *device, ws_arena *arena) {
  int file = hip_of(device)->report;
  off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
  char *text = ws_arena_alloc(arena, (size_t)(size > 0 ? size : 0) + 1);
  if (size <= 0)
    return text;
  ssize_t got = pread(file, text, (size_t)size, 0);
  text[got > 0 ? got : 0] = 0;
  if (ftruncate(file, 0) != 0)
    ws_log(WS_LOG_WARN, "the simulator's report cannot be emptied");
  return text;
}

/* The library stays: a HIP runtime's threads do not survive its unloading. */
static void close_device(ws_device *device) {
  hip *self = hip_of(device);
  if (self->report >= 0)
    close(self->report);
  if (self->stream)
    (void)self->hipStreamDestroy(self->stream);
  ws__amdgpu_close(self->card);
}

static ws_device_clocks read_clocks(ws_device *device) {
  return ws__amdgpu_clocks(hip_of(device)->card);
}

/* ---- memory -------------------------------------------------------------- */

static ws_status allocate(ws_device *device, size_t bytes, void **out_memory,
                          ws_diag *diag) {
  return check(device, hip_of(device)->hipMalloc(out_memory, bytes),
               "hipMalloc", diag);
}

/* What fails here has failed before: a fault of a kernel sticks. */
static void free_memory(ws_device *device, void *memory) {
  (void)hip_of(device)->hipFree(memory);
}

static ws_status upload(ws_device *device, void *to, const void *from,
                        size_t bytes, ws_diag *diag) {
  return check(
      device, hip_of(device)->hipMemcpy(to, from, bytes, hipMemcpyHostToDevice),
      "hipMemcpy to the device", diag);
}

static ws_status download(ws_device *device, void *to, const void *from,
                          size_t bytes, ws_diag *diag) {
  return check(
      device, hip_of(device)->hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost),
      "hipMemcpy from the device", diag);
}

static ws_status fill(ws_device *device, void *memory, int byte, size_t bytes,
                      ws_diag *diag) {
  const hip *self = hip_of(device);
  if (self->stream)
    return check(device,
                 self->hipMemsetAsync(memory, byte, bytes, self->stream),
                 "hipMemsetAsync", diag);
  return check(device, self->hipMemset(memory, byte, bytes), "hipMemset", diag);
}

/* ---- modules and launches -------------------------------------------------
 */

static ws_status load(ws_device *device, const void *code_object, size_t bytes,
                      ws_device_module **out_module, ws_diag *diag) {
  (void)bytes; /* HIP reads them from the ELF header */
  ws_device_module *module = calloc(1, sizeof *module);
  WS_ASSERT(module && "out of memory");
  ws_status status = check(
      device, hip_of(device)->hipModuleLoadData(&module->module, code_object),
      "hipModuleLoadData", diag);
  if (status != WS_OK) {
    free(module);
    return status;
  }
  *out_module = module;
  return WS_OK;
}

static void unload(ws_device *device, ws_device_module *module) {
  (void)hip_of(device)->hipModuleUnload(module->module);
  free(module);
}

static ws_status find_function(ws_device *device, ws_device_module *module,
                               const char *name, hipFunction_t *out,
                               ws_diag *diag) {
  for (int i = 0; i < module->function_count; i++)
    if (!strcmp(module->functions[i].name, name)) {
      *out = module->functions[i].function;
      return WS_OK;
    }
  WS_TRY(check(device,
               hip_of(device)->hipModuleGetFunction(out, module->module, name),
               name, diag));
  if (module->function_count < MAX_FUNCTIONS &&
      strlen(name) < sizeof module->functions[0].name) {
    int at = module->function_count++;
    snprintf(module->functions[at].name, sizeof module->functions[at].name,
             "%s", name);
    module->functions[at].function = *out;
  }
  return WS_OK;
}

static ws_status start(ws_device *device, ws_device_module *module,
                       const ws_device_launch *launch, ws_diag *diag) {
  hipFunction_t function;
  WS_TRY(find_function(device, module, launch->kernel, &function, diag));
  size_t size = launch->kernarg_bytes;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER,
                   (void *)(uintptr_t)launch->kernarg,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  hipError_t error = hip_of(device)->hipModuleLaunchKernel(
      function, launch->grid[0], launch->grid[1], launch->grid[2],
      launch->block[0], launch->block[1], launch->block[2], launch->dynamic_lds,
      hip_of(device)->stream, NULL, extra);
  return check(device, error, launch->kernel, diag);
}

static ws_status synchronise(ws_device *device, ws_diag *diag) {
  return check(device, hip_of(device)->hipDeviceSynchronize(),
               "hipDeviceSynchronize", diag);
}

/* ---- graphs -------------------------------------------------------------- */

static ws_status graph_begin(ws_device *device, ws_diag *diag) {
  hip *self = hip_of(device);
  if (self->capturing)
    return ws_fail(diag, WS_USAGE, NULL, 0, "a graph is being recorded");
  WS_TRY(check(
      device,
      self->hipStreamBeginCapture(self->stream, hipStreamCaptureModeRelaxed),
      "hipStreamBeginCapture", diag));
  self->capturing = true;
  return WS_OK;
}

static ws_status graph_end(ws_device *device, ws_device_graph **out_graph,
                           ws_diag *diag) {
  hip *self = hip_of(device);
  hipGraph_t graph = NULL;
  hipGraphExec_t exec = NULL;
  if (!self->capturing)
    return ws_fail(diag, WS_USAGE, NULL, 0, "no graph is being recorded");
  self->capturing = false;
  WS_TRY(check(device, self->hipStreamEndCapture(self->stream, &graph),
               "hipStreamEndCapture", diag));
  ws_status status =
      check(device, self->hipGraphInstantiateWithFlags(&exec, graph, 0),
            "hipGraphInstantiate", diag);
  (void)self->hipGraphDestroy(graph);
  *out_graph = (ws_device_graph *)exec;
  return status;
}

static ws_status graph_start(ws_device *device, ws_device_graph *graph,
                             ws_diag *diag) {
  const hip *self = hip_of(device);
  return check(device,
               self->hipGraphLaunch((hipGraphExec_t)graph, self->stream),
               "hipGraphLaunch", diag);
}

static void graph_destroy(ws_device *device, ws_device_graph *graph) {
  (void)hip_of(device)->hipGraphExecDestroy((hipGraphExec_t)graph);
}

/* ---- events ---------------------------------------------------------------
 */

static ws_status event_create(ws_device *device, ws_device_event **out_event,
                              ws_diag *diag) {
  return check(device, hip_of(device)->hipEventCreate((hipEvent_t *)out_event),
               "hipEventCreate", diag);
}

static void event_destroy(ws_device *device, ws_device_event *event) {
  (void)hip_of(device)->hipEventDestroy((hipEvent_t)event);
}

static ws_status event_record(ws_device *device, ws_device_event *event,
                              ws_diag *diag) {
  const hip *self = hip_of(device);
  return check(device, self->hipEventRecord((hipEvent_t)event, self->stream),
               "hipEventRecord", diag);
}

static ws_status event_elapsed(ws_device *device, ws_device_event *begin,
                               ws_device_event *end, double *out_us,
                               ws_diag *diag) {
  float ms = 0;
  WS_TRY(check(device, hip_of(device)->hipEventSynchronize((hipEvent_t)end),
               "hipEventSynchronize", diag));
  WS_TRY(check(device,
               hip_of(device)->hipEventElapsedTime(&ms, (hipEvent_t)begin,
                                                   (hipEvent_t)end),
               "hipEventElapsedTime", diag));
  *out_us = (double)ms * 1000;
  return WS_OK;
}

static bool watch(ws_device *device, const void *memory) {
  const hip *self = hip_of(device);
  return self->watch && self->unstored && self->watch(memory);
}

static size_t unstored(ws_device *device, const void *memory, size_t bytes,
                       size_t *out_first) {
  (void)hip_of(device)->hipDeviceSynchronize();
  return hip_of(device)->unstored(memory, bytes, out_first);
}

static void flush(ws_device *device) {
  if (hip_of(device)->flush)
    hip_of(device)->flush();
}

static int limit(ws_device *device, int64_t wave_instructions) {
  const hip *self = hip_of(device);
  (void)self->hipDeviceSynchronize();
  return self->limit ? self->limit(wave_instructions) : 0;
}

#define COMMON_FUNCTIONS                                                       \
  .close = close_device, .take_report = take_report, .allocate = allocate,     \
  .free = free_memory, .upload = upload, .download = download, .fill = fill,   \
  .load = load, .unload = unload, .start = start, .synchronise = synchronise,  \
  .graph_begin = graph_begin, .graph_end = graph_end,                          \
  .graph_start = graph_start, .graph_destroy = graph_destroy,                  \
  .read_clocks = read_clocks, .event_create = event_create,                    \
  .event_destroy = event_destroy, .event_record = event_record,                \
  .event_elapsed = event_elapsed

const ws__device_table ws__device_hip = {
    .kind = "hip", .purpose = "an AMD GPU", .open = open_hip, COMMON_FUNCTIONS};
const ws__device_table ws__device_sim = {.kind = "sim",
                                         .purpose = "a simulated MI300X",
                                         .has_cards = true,
                                         .open = open_sim,
                                         .watch = watch,
                                         .unstored = unstored,
                                         .limit = limit,
                                         .flush = flush,
                                         COMMON_FUNCTIONS};
