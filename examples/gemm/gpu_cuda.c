/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * CUDA's driver: see gpu.h. A program that keeps no context of its own, like
 * this one, takes the device's primary context, which is where the kernels were
 * loaded.
 */
#include "gpu.h"

#include <stdint.h>

static struct cuda {
  int (*retain_primary)(void **out_context, int device);
  int (*set_current)(void *context);
  int (*malloc)(uint64_t *out_pointer, size_t size);
  int (*free)(uint64_t pointer);
  int (*upload)(uint64_t to, const void *from, size_t size);
  int (*download)(void *to, uint64_t from, size_t size);
  int (*fill)(uint64_t pointer, unsigned char byte, size_t count);
  int (*stream_create)(void **out_stream, unsigned flags);
  int (*stream_synchronize)(void *stream);
  int (*stream_destroy)(void *stream);
  int (*event_create)(void **out_event, unsigned flags);
  int (*event_record)(void *event, void *stream);
  int (*event_synchronize)(void *event);
  int (*event_elapsed)(float *out_ms, void *begin, void *end);
  int (*event_destroy)(void *event);
} cuda;

static void cuda_open(const ws_rt_context *context) {
  const struct {
    const char *name;
    void *place;
  } functions[] = {{"cuDevicePrimaryCtxRetain", &cuda.retain_primary},
                   {"cuCtxSetCurrent", &cuda.set_current},
                   {"cuMemAlloc_v2", &cuda.malloc},
                   {"cuMemFree_v2", &cuda.free},
                   {"cuMemcpyHtoD_v2", &cuda.upload},
                   {"cuMemcpyDtoH_v2", &cuda.download},
                   {"cuMemsetD8_v2", &cuda.fill},
                   {"cuStreamCreate", &cuda.stream_create},
                   {"cuStreamSynchronize", &cuda.stream_synchronize},
                   {"cuStreamDestroy_v2", &cuda.stream_destroy},
                   {"cuEventCreate", &cuda.event_create},
                   {"cuEventRecord", &cuda.event_record},
                   {"cuEventSynchronize", &cuda.event_synchronize},
                   {"cuEventElapsedTime", &cuda.event_elapsed},
                   {"cuEventDestroy_v2", &cuda.event_destroy}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    need_function(context, functions[i].name, functions[i].place);
  void *primary = NULL;
  need(cuda.retain_primary(&primary, 0) == 0 && cuda.set_current(primary) == 0,
       "cuDevicePrimaryCtxRetain failed");
}

static uint64_t address_of(const void *memory) { return (uintptr_t)memory; }

static void *allocate(size_t bytes) {
  uint64_t address = 0;
  need(cuda.malloc(&address, bytes) == 0, "cuMemAlloc failed");
  return (void *)(uintptr_t)address;
}
static void release(void *memory) { cuda.free(address_of(memory)); }
static void upload(void *to, const void *from, size_t bytes) {
  need(cuda.upload(address_of(to), from, bytes) == 0, "cuMemcpyHtoD failed");
}
static void download(void *to, const void *from, size_t bytes) {
  need(cuda.download(to, address_of(from), bytes) == 0, "cuMemcpyDtoH failed");
}
static void fill(void *memory, unsigned char byte, size_t bytes) {
  need(cuda.fill(address_of(memory), byte, bytes) == 0, "cuMemsetD8 failed");
}

/* It waits for the default stream, on which the copies above are. */
static void *create_stream(void) {
  void *stream = NULL;
  need(cuda.stream_create(&stream, 0) == 0, "cuStreamCreate failed");
  return stream;
}
static void wait(void *stream) {
  need(cuda.stream_synchronize(stream) == 0, "cuStreamSynchronize failed");
}
static void destroy_stream(void *stream) { cuda.stream_destroy(stream); }

static void *create_event(void) {
  void *event = NULL;
  need(cuda.event_create(&event, 0) == 0, "cuEventCreate failed");
  return event;
}
static void record(void *event, void *stream) {
  need(cuda.event_record(event, stream) == 0, "cuEventRecord failed");
}
static float elapsed_ms(void *begin, void *end) {
  float ms = 0;
  need(cuda.event_synchronize(end) == 0, "cuEventSynchronize failed");
  need(cuda.event_elapsed(&ms, begin, end) == 0, "cuEventElapsedTime failed");
  return ms;
}
static void destroy_event(void *event) { cuda.event_destroy(event); }

const gpu cuda_gpu = {"cuda",     cuda_open,      allocate,     release,
                      upload,     download,       fill,         create_stream,
                      wait,       destroy_stream, create_event, record,
                      elapsed_ms, destroy_event};
