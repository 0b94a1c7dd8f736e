/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A HIP library for the tests of the device layer. Device memory is host
 * memory; a launch does on the CPU what the kernel's name says:
 *   gemm_ok      C = A B^T with scales (kmajor), arguments a b as bs c m n k
 *   gemm_wrong   the same, one element off
 *   gemm_lazy    the same, the last element is not written
 *   gemm_input   the same, and writes to a
 *   gemm_cached  the same in its first eight launches, then nothing
 *   gemm_guard   the same, and writes a byte behind c
 *   gemm_flaky   the same, wrong every second time
 *   gemm_fault   ends with hipErrorLaunchFailure at the next synchronise
 *   gemm_hang    never ends
 *   gemm_die     takes the process along
 *   gemm_race    writes a finding to WAVESMITH_SIM_REPORT, as simulators do
 *
 * Launches take MOCK_US (100) on the clock of events, each a little more or
 * less. MOCK_DEVICES (1) devices are there; all memory has to be of MOCK_DEVICE
 * (0). Built with MOCK_HIP_GRAPHS it has streams and graphs, and ends the
 * process when one is used that does not exist.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double now_us;
static int launches, current_device;
static hipError_t pending;

struct function {
  char name[64];
};
struct event {
  double us;
};

static double setting(const char *name, double otherwise) {
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : otherwise;
}

hipError_t hipInit(unsigned flags) {
  return flags ? hipErrorInvalidValue : hipSuccess;
}
hipError_t hipGetDeviceCount(int *count) {
  *count = (int)setting("MOCK_DEVICES", 1);
  return *count ? hipSuccess : hipErrorNoDevice;
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                       int device) {
  snprintf(properties->name, sizeof properties->name, "Mock");
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName,
           "gfx942:sramecc+:xnack-");
  properties->multiProcessorCount = 304;
  properties->clockRate = 2100000;
  properties->memoryClockRate = 1300000;
  properties->pciDomainID = 1;
  properties->pciBusID = 0xc5 + device;
  properties->totalGlobalMem = 1 << 20; /* few copies to rotate */
  return hipSuccess;
}
hipError_t hipSetDevice(int device) {
  current_device = device;
  return device < setting("MOCK_DEVICES", 1) ? hipSuccess
                                             : hipErrorInvalidDevice;
}
const char *hipGetErrorName(hipError_t error) {
  return error == hipErrorLaunchFailure    ? "hipErrorLaunchFailure"
         : error == hipErrorNoDevice       ? "hipErrorNoDevice"
         : error == hipErrorNoBinaryForGpu ? "hipErrorNoBinaryForGpu"
         : error == hipErrorNotFound       ? "hipErrorNotFound"
                                           : "hipErrorUnknown";
}

hipError_t hipMalloc(void **pointer, size_t size) {
  int wanted = (int)setting("MOCK_DEVICE", 0); /* below 0: any */
  if (wanted >= 0 && current_device != wanted)
    abort();
  *pointer = malloc(size ? size : 1);
  return *pointer ? hipSuccess : hipErrorOutOfMemory;
}
hipError_t hipFree(void *pointer) {
  free(pointer);
  return hipSuccess;
}
hipError_t hipMemcpy(void *to, const void *from, size_t size,
                     hipMemcpyKind kind) {
  (void)kind;
  memcpy(to, from, size);
  return pending;
}
/* The flush of 256 MB stands for nothing here. */
hipError_t hipMemset(void *pointer, int byte, size_t size) {
  memset(pointer, byte, size < (1 << 22) ? size : 1);
  return hipSuccess;
}

/* A code object of the tests is a text that begins with "co". */
hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  *module = (hipModule_t)(uintptr_t)image;
  return memcmp(image, "co", 2) ? hipErrorNoBinaryForGpu : hipSuccess;
}
hipError_t hipModuleUnload(hipModule_t module) {
  (void)module;
  return hipSuccess;
}
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                const char *name) {
  (void)module;
  if (strncmp(name, "gemm_", 5))
    return hipErrorNotFound;
  struct function *f = malloc(sizeof *f);
  snprintf(f->name, sizeof f->name, "%s", name + 5);
  *function = (hipFunction_t)f;
  return hipSuccess;
}

/* ---- the multiplication, written a second time: fp32, by the definition ----
 */
struct arguments {
  uint8_t *a, *b;
  float *as, *bs;
  uint16_t *c;
  int32_t m, n, k;
};

static float fp8(uint8_t byte) {
  int exponent = byte >> 3 & 15, fraction = byte & 7;
  float value = exponent ? ldexpf(1 + fraction / 8.0f, exponent - 8)
                         : ldexpf(fraction / 8.0f, -7);
  return byte & 0x80 ? -value : value;
}

static uint16_t bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void multiply(const struct arguments *x) {
  for (int i = 0; i < x->m; i++)
    for (int j = 0; j < x->n; j++) {
      float sum = 0;
      for (int kb = 0; kb < x->k / 128; kb++) {
        float part = 0;
        for (int k = kb * 128; k < kb * 128 + 128; k++)
          part += fp8(x->a[i * x->k + k]) * fp8(x->b[j * x->k + k]);
        sum += part * x->as[i + kb * x->m] * x->bs[j / 128 * (x->k / 128) + kb];
      }
      x->c[i * x->n + j] = bf16(sum);
    }
}

static void report_race(void) {
  const char *path = getenv("WAVESMITH_SIM_REPORT");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file)
    return;
  fprintf(file,
          "{\"kernel\":\"gemm_race\",\"report\":{\"findings\":[{\"id\":"
          "\"lds-race\",\"region\":\"stage\",\"file\":\"gemm.ll\",\"line\":120,"
          "\"text\":\"two waves write the same byte\"}]}}\n");
  fclose(file);
}

static void misbehave(const char *name, const struct arguments *x) {
  uint16_t *last = &x->c[(size_t)x->m * (size_t)x->n - 1];
  if (!strcmp(name, "wrong") || (!strcmp(name, "flaky") && launches % 2))
    *last = bf16(1e30f);
  else if (!strcmp(name, "lazy"))
    *last = 0xffff; /* the poison */
  else if (!strcmp(name, "input"))
    x->a[0] ^= 1;
  else if (!strcmp(name, "guard"))
    ((uint8_t *)(last + 1))[7] = 0;
  else if (!strcmp(name, "race"))
    report_race();
}

/* One that has all its results from earlier launches, and leaves them there. */
static bool is_kept(const char *name) {
  return !strcmp(name, "cached") && launches > 8;
}

static hipError_t launch(const char *name, const struct arguments *x) {
  const char *mode = getenv("WAVESMITH_SIM_MODE");
  now_us += setting("MOCK_US", 100) + launches++ % 7 * 0.1;
  if (!strcmp(name, "hang"))
    pause();
  if (!strcmp(name, "die"))
    abort();
  if (!strcmp(name, "fault"))
    pending = hipErrorLaunchFailure;
  else if ((!mode || strcmp(mode, "time")) && !is_kept(name))
    multiply(x);
  if (pending == hipSuccess)
    misbehave(name, x);
  return hipSuccess;
}

/* ---- streams and graphs ---- */

#ifdef MOCK_HIP_GRAPHS
static int the_stream, streams;
static bool capturing;

struct step {
  const char *kernel; /* NULL: a fill */
  struct arguments arguments;
  void *pointer;
  int byte;
  size_t size;
};
struct graph {
  struct step steps[16];
  int count;
};
static struct graph recorded;

/* Who makes one ends it. */
__attribute__((destructor)) static void look_back(void) {
  if (streams)
    abort();
}

static void need_stream(hipStream_t stream) {
  if (stream != (void *)&the_stream || streams != 1)
    abort();
}
static struct step *next_step(void) {
  return &recorded.steps[recorded.count++];
}

hipError_t hipStreamCreate(hipStream_t *stream) {
  *stream = (void *)&the_stream;
  streams++;
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  need_stream(stream);
  streams--;
  return hipSuccess;
}
hipError_t hipMemsetAsync(void *pointer, int byte, size_t size,
                          hipStream_t stream) {
  need_stream(stream);
  if (!capturing)
    return hipMemset(pointer, byte, size);
  *next_step() = (struct step){.pointer = pointer, .byte = byte, .size = size};
  return hipSuccess;
}
hipError_t hipStreamBeginCapture(hipStream_t stream,
                                 hipStreamCaptureMode mode) {
  need_stream(stream);
  capturing = true;
  recorded.count = 0;
  return mode == hipStreamCaptureModeRelaxed ? hipSuccess
                                             : hipErrorInvalidValue;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph) {
  need_stream(stream);
  capturing = false;
  *graph = malloc(sizeof recorded);
  memcpy(*graph, &recorded, sizeof recorded);
  return hipSuccess;
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
                                        unsigned long long flags) {
  *exec = malloc(sizeof recorded);
  memcpy(*exec, graph, sizeof recorded);
  return flags ? hipErrorInvalidValue : hipSuccess;
}
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  const struct graph *graph = (const void *)exec;
  need_stream(stream);
  for (int i = 0; i < graph->count; i++) {
    const struct step *step = &graph->steps[i];
    if (step->kernel)
      launch(step->kernel, &step->arguments);
    else
      hipMemset(step->pointer, step->byte, step->size);
  }
  return pending;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  free(graph);
  return hipSuccess;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  free(exec);
  return hipSuccess;
}
static bool record(const char *name, const struct arguments *x,
                   hipStream_t stream) {
  need_stream(stream);
  if (capturing)
    *next_step() = (struct step){.kernel = name, .arguments = *x};
  return capturing;
}
#else
static bool record(const char *name, const struct arguments *x,
                   hipStream_t stream) {
  (void)name, (void)x;
  if (stream)
    abort();
  return false;
}
#endif

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void **parameters,
                                 void **extra) {
  (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
  (void)block_z, (void)shared_bytes, (void)parameters;
  const char *name = ((const struct function *)function)->name;
  const struct arguments *x = extra[1];
  return record(name, x, stream) ? hipSuccess : launch(name, x);
}

hipError_t hipDeviceSynchronize(void) { return pending; }
hipError_t hipEventCreate(hipEvent_t *event) {
  *event = (hipEvent_t)calloc(1, sizeof(struct event));
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  free(event);
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  (void)stream;
  ((struct event *)event)->us = now_us;
  return pending;
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  (void)event;
  return pending;
}
hipError_t hipEventElapsedTime(float *ms, hipEvent_t begin, hipEvent_t end) {
  *ms =
      (float)((((struct event *)end)->us - ((struct event *)begin)->us) / 1000);
  return hipSuccess;
}
