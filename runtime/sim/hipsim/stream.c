/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Streams and events as clocks. hipsim.h says how time passes; HIP's rule for
 * the null stream is in ws__hip_now: it waits for all blocking streams, and
 * they for it.
 */
#include "hipsim.h"

#include <stdlib.h>

typedef struct ws_event {
  bool recorded;
  double at_us;
  unsigned flags;
  struct ws_graph *capture; /* recorded in a stream that captures; a reference
                             * of its own */
} ws_event;

/* ---- clocks ----------------------------------------------------------------
 */

static double later(double a, double b) { return a > b ? a : b; }

double ws__hip_now(const ws_stream *stream) {
  double now = later(stream->ready_us, ws__hip_device.host_us);
  if (stream == &ws__hip_device.null_stream)
    return later(now, ws__hip_device.blocking_us);
  return stream->blocking ? later(now, ws__hip_device.null_stream.ready_us)
                          : now;
}

static void set_ready(ws_stream *stream, double us) {
  stream->ready_us = us;
  ws__hip_device.latest_us = later(ws__hip_device.latest_us, us);
  if (stream->blocking)
    ws__hip_device.blocking_us = later(ws__hip_device.blocking_us, us);
}

double ws__hip_us_now(double us) {
  const ws__clock_constants *c = &ws__hip_card()->constants;
  const double less = (double)(c->launch_ns - c->behind_ns) / 1e3;
  return ws__hip_device.is_following && us > less && less > 0 ? us - less : us;
}

void ws__hip_advance(ws_stream *stream, double *engine_us, double us) {
  ws__hip_device.is_following = engine_us == &ws__hip_device.compute_us;
  double end = later(ws__hip_now(stream), *engine_us) + us;
  *engine_us = end;
  set_ready(stream, end);
}

void ws__hip_wait(const ws_stream *stream) {
  ws__hip_device.host_us = ws__hip_now(stream);
  ws__hip_device.is_following = false;
}

/* ---- streams ---------------------------------------------------------------
 */

static hipError_t create_stream(hipStream_t *out, unsigned flags,
                                int priority) {
  if (!out || flags & ~(unsigned)hipStreamNonBlocking)
    return hipErrorInvalidValue;
  ws_stream *stream = calloc(1, sizeof *stream);
  void *handle =
      stream ? ws__hip_handle_create(WS_HANDLE_STREAM, stream) : NULL;
  if (!handle) {
    free(stream);
    return hipErrorOutOfMemory;
  }
  stream->blocking = !(flags & hipStreamNonBlocking);
  stream->flags = flags;
  stream->priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
  *out = handle;
  return hipSuccess;
}

/* hipStreamPerThread of the calling thread; made when first used. */
static hipStream_t own_stream(void) {
  static _Thread_local hipStream_t own;
  if (!ws__hip_handle_object(own, WS_HANDLE_STREAM) &&
      create_stream(&own, hipStreamDefault, 0))
    own = NULL;
  return own;
}

ws_stream *ws__hip_stream(hipStream_t stream) {
  if (stream == NULL || stream == hipStreamLegacy)
    return &ws__hip_device.null_stream;
  if (stream == hipStreamPerThread)
    stream = own_stream();
  return ws__hip_handle_object(stream, WS_HANDLE_STREAM);
}

hipError_t hipStreamCreate(hipStream_t *out) {
  HIP_CALL(create_stream(out, hipStreamDefault, 0));
}
hipError_t hipStreamCreateWithFlags(hipStream_t *out, unsigned flags) {
  HIP_CALL(create_stream(out, flags, 0));
}
hipError_t hipStreamCreateWithPriority(hipStream_t *out, unsigned flags,
                                       int priority) {
  HIP_CALL(create_stream(out, flags, priority));
}

/* The null stream is nobody's to destroy. */
static hipError_t destroy_stream(hipStream_t handle) {
  ws_stream *stream = ws__hip_handle_destroy(handle, WS_HANDLE_STREAM);
  if (!stream)
    return hipErrorInvalidHandle;
  ws__hip_graph_release(stream->capture);
  free(stream);
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  HIP_CALL(destroy_stream(stream));
}

static hipError_t wait_stream(hipStream_t handle) {
  const ws_stream *stream = ws__hip_stream(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (stream->capture)
    return hipErrorStreamCaptureUnsupported;
  ws__hip_wait(stream);
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  HIP_WORK(wait_stream(stream));
}
/* Work is done when it is asked about, so asking is waiting. */
hipError_t hipStreamQuery(hipStream_t stream) { HIP_WORK(wait_stream(stream)); }

static hipError_t wait_device(void) {
  uint32_t cursor = 0;
  void *handle;
  while ((handle = ws__hip_handle_next(WS_HANDLE_STREAM, &cursor)))
    if (ws__hip_stream(handle)->capture)
      return hipErrorStreamCaptureUnsupported;
  ws__hip_device.host_us =
      later(ws__hip_device.host_us, ws__hip_device.latest_us);
  return hipSuccess;
}
hipError_t hipDeviceSynchronize(void) { HIP_WORK(wait_device()); }

static hipError_t stream_facts(hipStream_t handle, unsigned *out_flags,
                               int *out_priority, int *out_device) {
  const ws_stream *stream = ws__hip_stream(handle);
  if (!out_flags && !out_priority && !out_device)
    return hipErrorInvalidValue;
  if (!stream)
    return hipErrorInvalidHandle;
  if (out_flags)
    *out_flags = stream->flags;
  if (out_priority)
    *out_priority = stream->priority;
  if (out_device)
    *out_device = 0;
  return hipSuccess;
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *out) {
  HIP_CALL(stream_facts(stream, out, NULL, NULL));
}
hipError_t hipStreamGetPriority(hipStream_t stream, int *out) {
  HIP_CALL(stream_facts(stream, NULL, out, NULL));
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *out) {
  HIP_CALL(stream_facts(stream, NULL, NULL, out));
}

/* ---- events ----------------------------------------------------------------
 */

static hipError_t create_event(hipEvent_t *out, unsigned flags) {
  const unsigned known = hipEventBlockingSync | hipEventDisableTiming |
                         hipEventInterprocess | hipEventDisableSystemFence |
                         hipEventReleaseToDevice | hipEventReleaseToSystem;
  if (!out || flags & ~known)
    return hipErrorInvalidValue;
  ws_event *event = calloc(1, sizeof *event);
  void *handle = event ? ws__hip_handle_create(WS_HANDLE_EVENT, event) : NULL;
  if (!handle) {
    free(event);
    return hipErrorOutOfMemory;
  }
  event->flags = flags;
  *out = handle;
  return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t *out) { HIP_CALL(create_event(out, 0)); }
hipError_t hipEventCreateWithFlags(hipEvent_t *out, unsigned flags) {
  HIP_CALL(create_event(out, flags));
}

static hipError_t destroy_event(hipEvent_t handle) {
  ws_event *event = ws__hip_handle_destroy(handle, WS_HANDLE_EVENT);
  if (!event)
    return handle ? hipErrorInvalidHandle : hipErrorInvalidValue;
  ws__hip_graph_release(event->capture);
  free(event);
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) { HIP_CALL(destroy_event(event)); }

hipError_t ws__hip_record(hipEvent_t handle, hipStream_t stream_handle) {
  if (!handle)
    return hipSuccess;
  ws_event *event = ws__hip_handle_object(handle, WS_HANDLE_EVENT);
  const ws_stream *stream = ws__hip_stream(stream_handle);
  if (!event || !stream)
    return hipErrorInvalidHandle;
  if (stream->capture)
    ws__hip_graph_retain(stream->capture);
  ws__hip_graph_release(event->capture);
  event->capture = stream->capture;
  event->recorded = true;
  if (!(event->flags & hipEventDisableTiming))
    ws__hip_device.is_following = false;
  event->at_us = ws__hip_now(stream);
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  HIP_WORK(event ? ws__hip_record(event, stream) : hipErrorInvalidHandle);
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream,
                                   unsigned flags) {
  (void)flags;
  HIP_WORK(event ? ws__hip_record(event, stream) : hipErrorInvalidHandle);
}

static hipError_t wait_event(hipEvent_t handle) {
  const ws_event *event = ws__hip_handle_object(handle, WS_HANDLE_EVENT);
  if (!event)
    return hipErrorInvalidHandle;
  if (event->capture)
    return hipErrorCapturedEvent;
  ws__hip_device.host_us = later(ws__hip_device.host_us, event->at_us);
  ws__hip_device.is_following = false;
  return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  HIP_WORK(wait_event(event));
}
hipError_t hipEventQuery(hipEvent_t event) { HIP_WORK(wait_event(event)); }

static hipError_t elapsed(float *out_ms, hipEvent_t from, hipEvent_t to) {
  const ws_event *start = ws__hip_handle_object(from, WS_HANDLE_EVENT);
  const ws_event *stop = ws__hip_handle_object(to, WS_HANDLE_EVENT);
  if (!out_ms)
    return hipErrorInvalidValue;
  if (!start || !stop || !start->recorded || !stop->recorded ||
      (start->flags | stop->flags) & hipEventDisableTiming)
    return hipErrorInvalidHandle;
  *out_ms = (float)((stop->at_us - start->at_us) * 1e-3);
  return hipSuccess;
}
hipError_t hipEventElapsedTime(float *out_ms, hipEvent_t start,
                               hipEvent_t stop) {
  HIP_WORK(elapsed(out_ms, start, stop));
}

/* An event of a capture brings the stream into it. */
static hipError_t join_capture(ws_stream *stream, struct ws_graph *graph) {
  if (stream->capture == graph)
    return hipSuccess;
  if (stream->capture)
    return hipErrorStreamCaptureMerge;
  if (stream == &ws__hip_device.null_stream)
    return hipErrorStreamCaptureImplicit;
  ws__hip_graph_retain(graph);
  stream->capture = graph;
  return hipSuccess;
}

static hipError_t stream_wait(hipStream_t stream_handle,
                              hipEvent_t event_handle) {
  ws_stream *stream = ws__hip_stream(stream_handle);
  const ws_event *event = ws__hip_handle_object(event_handle, WS_HANDLE_EVENT);
  if (!event || !stream)
    return hipErrorInvalidHandle;
  if (event->capture)
    return join_capture(stream, event->capture);
  if (stream->capture)
    return event->recorded ? hipErrorStreamCaptureIsolation : hipSuccess;
  if (event->recorded)
    set_ready(stream, later(stream->ready_us, event->at_us));
  return hipSuccess;
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                              unsigned flags) {
  (void)flags;
  HIP_WORK(stream_wait(stream, event));
}

void ws__hip_stream_forget(void) {
  uint32_t cursor = 0;
  void *handle;
  while ((handle = ws__hip_handle_next(WS_HANDLE_STREAM, &cursor)))
    destroy_stream(handle);
  for (cursor = 0; (handle = ws__hip_handle_next(WS_HANDLE_EVENT, &cursor));)
    destroy_event(handle);
  ws__hip_device.null_stream.ready_us = 0;
}
