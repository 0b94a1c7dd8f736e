/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP: see gpu.h.
 */
#include "gpu.h"

static struct hip {
  int (*malloc)(void **out_pointer, size_t size);
  int (*free)(void *pointer);
  int (*memcpy)(void *to, const void *from, size_t size, int kind);
  int (*memset)(void *pointer, int byte, size_t size);
  int (*stream_create)(void **out_stream);
  int (*stream_synchronize)(void *stream);
  int (*stream_destroy)(void *stream);
  int (*event_create)(void **out_event);
  int (*event_record)(void *event, void *stream);
  int (*event_synchronize)(void *event);
  int (*event_elapsed)(float *out_ms, void *begin, void *end);
  int (*event_destroy)(void *event);
} hip;
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 }; /* hipMemcpyKind */

static void hip_open(const ws_rt_context *context) {
  const struct {
    const char *name;
    void *place;
  } functions[] = {{"hipMalloc", &hip.malloc},
                   {"hipFree", &hip.free},
                   {"hipMemcpy", &hip.memcpy},
                   {"hipMemset", &hip.memset},
                   {"hipStreamCreate", &hip.stream_create},
                   {"hipStreamSynchronize", &hip.stream_synchronize},
                   {"hipStreamDestroy", &hip.stream_destroy},
                   {"hipEventCreate", &hip.event_create},
                   {"hipEventRecord", &hip.event_record},
                   {"hipEventSynchronize", &hip.event_synchronize},
                   {"hipEventElapsedTime", &hip.event_elapsed},
                   {"hipEventDestroy", &hip.event_destroy}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    need_function(context, functions[i].name, functions[i].place);
}

static void *allocate(size_t bytes) {
  void *memory = NULL;
  need(hip.malloc(&memory, bytes) == 0, "hipMalloc failed");
  return memory;
}
static void release(void *memory) { hip.free(memory); }
static void upload(void *to, const void *from, size_t bytes) {
  need(hip.memcpy(to, from, bytes, HOST_TO_DEVICE) == 0, "hipMemcpy failed");
}
static void download(void *to, const void *from, size_t bytes) {
  need(hip.memcpy(to, from, bytes, DEVICE_TO_HOST) == 0, "hipMemcpy failed");
}
static void fill(void *memory, unsigned char byte, size_t bytes) {
  need(hip.memset(memory, byte, bytes) == 0, "hipMemset failed");
}

static void *create_stream(void) {
  void *stream = NULL;
  need(hip.stream_create(&stream) == 0, "hipStreamCreate failed");
  return stream;
}
static void wait(void *stream) {
  need(hip.stream_synchronize(stream) == 0, "hipStreamSynchronize failed");
}
static void destroy_stream(void *stream) { hip.stream_destroy(stream); }

static void *create_event(void) {
  void *event = NULL;
  need(hip.event_create(&event) == 0, "hipEventCreate failed");
  return event;
}
static void record(void *event, void *stream) {
  need(hip.event_record(event, stream) == 0, "hipEventRecord failed");
}
static float elapsed_ms(void *begin, void *end) {
  float ms = 0;
  need(hip.event_synchronize(end) == 0, "hipEventSynchronize failed");
  need(hip.event_elapsed(&ms, begin, end) == 0, "hipEventElapsedTime failed");
  return ms;
}
static void destroy_event(void *event) { hip.event_destroy(event); }

const gpu hip_gpu = {"hip",      hip_open,       allocate,     release,
                     upload,     download,       fill,         create_stream,
                     wait,       destroy_stream, create_event, record,
                     elapsed_ms, destroy_event};
