/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See fake_device.h. The multiplication is written by the definition, in fp32
 * and without tables, so that it shares nothing with the reference.
 */
#include "fake_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct recorded {
  ws_device_launch launch;
  unsigned char kernarg[2048];
} recorded;

struct ws_device_graph {
  recorded launches[8];
  int count;
};
static struct ws_device_graph *recording;

struct ws_device_event {
  double us;
};
struct ws_device_module {
  int unused;
};

static fake_device *of(ws_device *device) { return (fake_device *)device; }

static void note(ws_device *device, char letter) {
  if (of(device)->logged < FAKE_LOG - 1)
    of(device)->log[of(device)->logged++] = letter;
}

static ws_status check(ws_device *device, ws_diag *diag) {
  if (!of(device)->faulted)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0, "the fake has faulted");
}

static void pass_time(ws_device *device, double us) {
  fake_device *f = of(device);
  bool slow = *f->throttle && f->readings >= f->throttle_begin &&
              f->readings < f->throttle_end;
  f->now_us += us * (1 + f->drift * f->now_us) *
               (1 + f->noise * ws_rng_double(&f->rng)) * (slow ? 2 : 1);
}

/* ---- memory ---- */

static char *no_report(ws_device *device, ws_arena *arena) {
  (void)device;
  return ws_arena_strdup(arena, "");
}

static ws_status allocate(ws_device *device, size_t bytes, void **out,
                          ws_diag *diag) {
  if (of(device)->most_bytes && bytes > of(device)->most_bytes)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "out of memory");
  *out = malloc(bytes ? bytes : 1);
  of(device)->live++;
  return WS_OK;
}

static void free_memory(ws_device *device, void *memory) {
  of(device)->live--;
  free(memory);
}

static ws_status upload(ws_device *device, void *to, const void *from,
                        size_t bytes, ws_diag *diag) {
  memcpy(to, from, bytes);
  of(device)->uploads++;
  return check(device, diag);
}

static ws_status download(ws_device *device, void *to, const void *from,
                          size_t bytes, ws_diag *diag) {
  memcpy(to, from, bytes);
  return check(device, diag);
}

static ws_status fill(ws_device *device, void *memory, int byte, size_t bytes,
                      ws_diag *diag) {
  memset(memory, byte, bytes);
  note(device, 'f');
  pass_time(device, 1);
  return check(device, diag);
}

/* ---- the kernels ---- */

typedef struct arguments {
  unsigned char *a, *b;
  float *as, *bs;
  uint16_t *c;
  int32_t m, n, k;
} arguments;

static float fp8(unsigned char byte) {
  int exponent = byte >> 3 & 15, fraction = byte & 7;
  float value = exponent ? ldexpf(1 + (float)fraction / 8, exponent - 8)
                         : ldexpf((float)fraction / 8, -7);
  return byte & 0x80 ? -value : value;
}

static uint16_t bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float wide(uint16_t code) {
  const uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static void multiply(const arguments *x) {
  float values[256];
  for (int i = 0; i < 256; i++)
    values[i] = fp8((unsigned char)i);
  for (int i = 0; i < x->m; i++)
    for (int j = 0; j < x->n; j++) {
      float sum = 0;
      for (int kb = 0; kb < x->k / 128; kb++) {
        float part = 0;
        for (int k = kb * 128; k < kb * 128 + 128; k++)
          part += values[x->a[i * x->k + k]] * values[x->b[j * x->k + k]];
        sum += part * x->as[i + kb * x->m] * x->bs[j / 128 * (x->k / 128) + kb];
      }
      x->c[i * x->n + j] = bf16(sum);
    }
}

static void read_arguments(const char *kernel, const unsigned char *kernarg,
                           arguments *out) {
  if (!strncmp(kernel, "map_", 4)) {
    memcpy(&out->a, kernarg, 8);
    memcpy(&out->b, kernarg + WS_TENSOR_MAP_BYTES, 8);
    memcpy(&out->as, kernarg + 2 * WS_TENSOR_MAP_BYTES, 3 * 8 + 3 * 4);
  } else {
    memcpy(out, kernarg, 5 * 8 + 3 * 4);
  }
}

/* How many different outputs launches had so far. */
static void count_place(fake_device *f, const void *place) {
  for (int i = 0; i < f->place_count; i++)
    if (f->places[i] == place)
      return;
  if (f->place_count < FAKE_PLACES)
    f->places[f->place_count++] = place;
}

/* Kernels that depend on what c holds, or do not store all of it. */
static void store_oddly(fake_device *f, const char *name, const arguments *x,
                        const uint16_t *before) {
  int count = x->m * x->n, row = 9 * x->n;
  if (!strcmp(name, "half"))
    for (int i = row; i < row + x->n; i++)
      x->c[i] = (uint16_t)((before[i] & 0xff00) | (x->c[i] & 0xff));
  else if (!strcmp(name, "skip"))
    x->c[count - 1] = before[count - 1];
  else if (!strcmp(name, "token") && x->c[row] == before[row])
    x->c[row] = bf16(1e30f);
  else if (!strcmp(name, "add"))
    for (int i = 0; i < count; i++)
      x->c[i] = bf16(wide(before[i]) + wide(x->c[i]));
  else if (!strcmp(name, "other") && f->launches % 2)
    x->c[row] = bf16(1e30f);
}

static void run_kernel(ws_device *device, const ws_device_launch *launch) {
  fake_device *f = of(device);
  arguments x;
  const char *name = launch->kernel;
  read_arguments(name, launch->kernarg, &x);
  name += strncmp(name, "map_", 4) ? 0 : 4;
  double us = 100;
  for (int i = 0; i < FAKE_KERNELS && f->costs[i].kernel; i++)
    if (!strcmp(f->costs[i].kernel, name))
      us = f->costs[i].us;
  pass_time(device, us);
  nanosleep(&(struct timespec){.tv_nsec = (long)(f->launch_ms * 1e6)}, NULL);
  f->launches++;
  count_place(f, x.c);
  size_t bytes = sizeof *x.c * (size_t)(x.m * x.n);
  uint16_t *before = malloc(bytes);
  memcpy(before, x.c, bytes);
  multiply(&x);
  store_oddly(f, name, &x, before);
  free(before);
  uint16_t *last = &x.c[x.m * x.n - 1];
  if (!strcmp(name, "wrong") ||
      (!strcmp(name, "late") && f->launches > f->right))
    *last = bf16(1e30f);
  else if (!strcmp(name, "input"))
    memset(x.a, 0x11, 8);
  else if (!strcmp(name, "stray"))
    *f->victim += 1;
  else if (!strcmp(name, "unseen"))
    memset(x.a + 20 * x.k, 0x11, 8);
  else if (!strcmp(name, "guard") ||
           (!strcmp(name, "early") && f->launches <= f->right))
    last[3] = 0x0100; /* two bytes, so that no poison is both */
  else if (!strcmp(name, "fault"))
    f->faulted = true;
}

static ws_status start(ws_device *device, ws_device_module *module,
                       const ws_device_launch *launch, ws_diag *diag) {
  (void)module;
  if (of(device)->capturing) {
    recorded *at = &recording->launches[recording->count++];
    at->launch = *launch;
    memcpy(at->kernarg, launch->kernarg, launch->kernarg_bytes);
    at->launch.kernarg = at->kernarg;
    return WS_OK;
  }
  if (!strcmp(launch->kernel, "missing"))
    return ws_fail(diag, WS_INPUT, NULL, 0, "no such kernel");
  WS_TRY(check(device, diag));
  note(device, 'l');
  run_kernel(device, launch);
  return WS_OK;
}

static ws_status load(ws_device *device, const void *code, size_t bytes,
                      ws_device_module **out, ws_diag *diag) {
  (void)device;
  if (bytes < 2 || memcmp(code, "co", 2))
    return ws_fail(diag, WS_INPUT, NULL, 0, "that is no code");
  *out = calloc(1, sizeof **out);
  return WS_OK;
}

static void unload(ws_device *device, ws_device_module *module) {
  (void)device;
  free(module);
}

static ws_status synchronise(ws_device *device, ws_diag *diag) {
  return check(device, diag);
}

/* The address first, then the rest of what was asked, for the tests. */
static ws_status tensor_map(ws_device *device, const ws_device_tensor *tensor,
                            unsigned char out[WS_TENSOR_MAP_BYTES],
                            ws_diag *diag) {
  (void)device;
  if ((uintptr_t)out % 64)
    return ws_fail(diag, WS_INPUT, NULL, 0, "a map at an odd address");
  if (tensor->swizzle == 96)
    return ws_fail(diag, WS_INPUT, NULL, 0, "no such swizzle");
  memset(out, 0, WS_TENSOR_MAP_BYTES);
  memcpy(out, &tensor->address, 8);
  return WS_OK;
}

/* ---- graphs, events, clocks ---- */

static ws_status graph_begin(ws_device *device, ws_diag *diag) {
  (void)diag;
  of(device)->capturing = true;
  recording = calloc(1, sizeof *recording);
  return WS_OK;
}

static ws_status graph_end(ws_device *device, ws_device_graph **out,
                           ws_diag *diag) {
  (void)diag;
  of(device)->capturing = false;
  *out = recording;
  return WS_OK;
}

static ws_status graph_start(ws_device *device, ws_device_graph *graph,
                             ws_diag *diag) {
  WS_TRY(check(device, diag));
  note(device, 'g');
  of(device)->graph_starts++;
  pass_time(device, 2);
  for (int i = 0; i < graph->count; i++)
    run_kernel(device, &graph->launches[i].launch);
  return WS_OK;
}

static void graph_destroy(ws_device *device, ws_device_graph *graph) {
  (void)device;
  free(graph);
}

static ws_device_clocks read_clocks(ws_device *device) {
  fake_device *f = of(device);
  int number = f->readings++;
  bool slow =
      *f->throttle && number >= f->throttle_begin && number < f->throttle_end;
  return (ws_device_clocks){.mhz = slow ? 900 : 1800,
                            .memory_mhz = 2600,
                            .throttle = slow ? f->throttle : ""};
}

static ws_status event_create(ws_device *device, ws_device_event **out,
                              ws_diag *diag) {
  (void)device, (void)diag;
  *out = calloc(1, sizeof **out);
  return WS_OK;
}

static void event_destroy(ws_device *device, ws_device_event *event) {
  (void)device;
  free(event);
}

static ws_status event_record(ws_device *device, ws_device_event *event,
                              ws_diag *diag) {
  note(device, 'e');
  event->us = of(device)->now_us;
  return check(device, diag);
}

static ws_status event_elapsed(ws_device *device, ws_device_event *begin,
                               ws_device_event *end, double *out,
                               ws_diag *diag) {
  *out = end->us - begin->us;
  return check(device, diag);
}

static void close_device(ws_device *device) { (void)device; }

static const ws__device_table table = {.kind = "fake",
                                       .close = close_device,
                                       .take_report = no_report,
                                       .allocate = allocate,
                                       .free = free_memory,
                                       .upload = upload,
                                       .download = download,
                                       .fill = fill,
                                       .load = load,
                                       .unload = unload,
                                       .start = start,
                                       .synchronise = synchronise,
                                       .tensor_map = tensor_map,
                                       .graph_begin = graph_begin,
                                       .graph_end = graph_end,
                                       .graph_start = graph_start,
                                       .graph_destroy = graph_destroy,
                                       .read_clocks = read_clocks,
                                       .event_create = event_create,
                                       .event_destroy = event_destroy,
                                       .event_record = event_record,
                                       .event_elapsed = event_elapsed};

void fake_open(fake_device *fake) {
  *fake = (fake_device){.device = {.table = &table}, .throttle = ""};
  fake->device.info = (ws_device_info){.kind = "fake",
                                       .name = "Fake",
                                       .arch = "none",
                                       .library = "",
                                       .provenance = "fake:Fake",
                                       .driver = "",
                                       .lock = "",
                                       .cu_count = 4,
                                       .memory_bytes = 1 << 30,
                                       .cache_bytes = 1 << 16,
                                       .graphs = true};
  ws_rng_init(&fake->rng, 5);
}

ws_device *fake_of(fake_device *fake) { return &fake->device; }
