/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Operations: done at once, or written down while a stream captures. A graph is
 * the list of what was captured, in the order of the calls; a launch of it does
 * the list on one stream, so that branches of a graph follow each other.
 */
#include "hipsim.h"

#include <stdlib.h>
#include <string.h>

typedef struct ws_graph {
  ws_operation *operations;
  size_t count, capacity;
  int references;
} ws_graph;

void ws__hip_graph_retain(ws_graph *graph) { graph->references++; }

void ws__hip_graph_release(ws_graph *graph) {
  if (!graph || --graph->references)
    return;
  for (size_t i = 0; i < graph->count; i++)
    if (graph->operations[i].kind == WS_OPERATION_LAUNCH)
      free(graph->operations[i].u.launch.kernarg);
  free(graph->operations);
  free(graph);
}

static ws_graph *create(void) {
  ws_graph *graph = calloc(1, sizeof *graph);
  if (graph)
    graph->references = 1;
  return graph;
}

/* The arguments are copied: the caller's are his again after the call. */
static hipError_t append(ws_graph *graph, const ws_operation *operation) {
  if (graph->count == graph->capacity) {
    size_t wanted = graph->capacity ? graph->capacity * 2 : 16;
    ws_operation *larger =
        realloc(graph->operations, wanted * sizeof *graph->operations);
    if (!larger)
      return hipErrorOutOfMemory;
    graph->operations = larger;
    graph->capacity = wanted;
  }
  ws_operation copy = *operation;
  if (copy.kind == WS_OPERATION_LAUNCH && copy.u.launch.kernarg_size) {
    void *kernarg = malloc(copy.u.launch.kernarg_size);
    if (!kernarg)
      return hipErrorOutOfMemory;
    copy.u.launch.kernarg =
        memcpy(kernarg, copy.u.launch.kernarg, copy.u.launch.kernarg_size);
  } else if (copy.kind == WS_OPERATION_LAUNCH) {
    copy.u.launch.kernarg = NULL;
  }
  graph->operations[graph->count++] = copy;
  return hipSuccess;
}

/* ---- doing -----------------------------------------------------------------
 */

/* The function may take other locks that a thread waiting for ours holds. */
static hipError_t do_call(const struct ws_call_operation *call) {
  struct ws_call_operation copy = *call;
  pthread_mutex_unlock(&ws__hip_device.lock);
  copy.function(copy.data);
  pthread_mutex_lock(&ws__hip_device.lock);
  return hipSuccess;
}

static hipError_t perform(ws_stream *stream, const ws_operation *operation) {
  switch (operation->kind) {
  case WS_OPERATION_LAUNCH:
    return ws__hip_do_launch(stream, &operation->u.launch);
  case WS_OPERATION_COPY:
    return ws__hip_do_copy(stream, &operation->u.copy);
  case WS_OPERATION_FILL:
    return ws__hip_do_fill(stream, &operation->u.fill);
  case WS_OPERATION_CALL:
    return do_call(&operation->u.call);
  }
  return hipErrorUnknown;
}

hipError_t ws__hip_submit(hipStream_t handle, const ws_operation *operation) {
  ws_stream *stream = ws__hip_stream(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (stream->capture)
    return append(stream->capture, operation);
  return perform(stream, operation);
}

hipError_t ws__hip_submit_and_wait(hipStream_t handle,
                                   const ws_operation *operation) {
  ws_stream *stream = ws__hip_stream(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (stream->capture)
    return hipErrorStreamCaptureUnsupported;
  hipError_t error = perform(stream, operation);
  if (!error)
    ws__hip_wait(stream);
  return error;
}

/* ---- host functions in a stream
 * ---------------------------------------------- */

static hipError_t host_function(hipStream_t stream, hipHostFn_t function,
                                void *data) {
  ws_operation operation = {.kind = WS_OPERATION_CALL,
                            .u.call = {function, data}};
  return function ? ws__hip_submit(stream, &operation) : hipErrorInvalidValue;
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                             void *data) {
  HIP_WORK(host_function(stream, function, data));
}

static hipError_t callback(hipStream_t handle, hipStreamCallback_t function,
                           void *data, unsigned flags) {
  const ws_stream *stream = ws__hip_stream(handle);
  if (!function || flags)
    return hipErrorInvalidValue;
  if (!stream)
    return hipErrorInvalidHandle;
  if (stream->capture)
    return hipErrorStreamCaptureUnsupported;
  pthread_mutex_unlock(&ws__hip_device.lock);
  function(handle, hipSuccess, data);
  pthread_mutex_lock(&ws__hip_device.lock);
  return hipSuccess;
}
hipError_t hipStreamAddCallback(hipStream_t stream,
                                hipStreamCallback_t function, void *data,
                                unsigned flags) {
  HIP_WORK(callback(stream, function, data, flags));
}

/* ---- capture ---------------------------------------------------------------
 */

static hipError_t begin_capture(hipStream_t handle, hipStreamCaptureMode mode) {
  ws_stream *stream = ws__hip_stream(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if ((int)mode < hipStreamCaptureModeGlobal ||
      (int)mode > hipStreamCaptureModeRelaxed)
    return hipErrorInvalidValue;
  if (stream == &ws__hip_device.null_stream)
    return hipErrorStreamCaptureUnsupported;
  if (stream->capture)
    return hipErrorIllegalState;
  stream->capture = create();
  stream->capture_origin = true;
  return stream->capture ? hipSuccess : hipErrorOutOfMemory;
}
hipError_t hipStreamBeginCapture(hipStream_t stream,
                                 hipStreamCaptureMode mode) {
  HIP_WORK(begin_capture(stream, mode));
}

/* Streams that an event brought into the capture leave it. */
static void leave_capture(const ws_graph *graph) {
  uint32_t cursor = 0;
  void *handle;
  while ((handle = ws__hip_handle_next(WS_HANDLE_STREAM, &cursor))) {
    ws_stream *stream = ws__hip_handle_object(handle, WS_HANDLE_STREAM);
    if (stream->capture != graph)
      continue;
    ws__hip_graph_release(stream->capture);
    stream->capture = NULL;
    stream->capture_origin = false;
  }
}

static hipError_t wrap(ws_handle_kind kind, ws_graph *graph, void **out) {
  void *handle = ws__hip_handle_create(kind, graph);
  if (!handle)
    return hipErrorOutOfMemory;
  ws__hip_graph_retain(graph);
  *out = handle;
  return hipSuccess;
}

static hipError_t end_capture(hipStream_t handle, hipGraph_t *out) {
  const ws_stream *stream = ws__hip_stream(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!out)
    return hipErrorInvalidValue;
  if (!stream->capture)
    return hipErrorIllegalState;
  if (!stream->capture_origin)
    return hipErrorStreamCaptureUnmatched;
  ws_graph *graph = stream->capture;
  hipError_t error = wrap(WS_HANDLE_GRAPH, graph, (void **)out);
  leave_capture(graph);
  return error;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *out) {
  HIP_CALL(end_capture(stream, out));
}

static hipError_t capture_status(hipStream_t handle,
                                 hipStreamCaptureStatus *out,
                                 unsigned long long *out_id) {
  const ws_stream *stream = ws__hip_stream(handle);
  if (!out)
    return hipErrorInvalidValue;
  if (!stream)
    return hipErrorInvalidHandle;
  *out = stream->capture ? hipStreamCaptureStatusActive
                         : hipStreamCaptureStatusNone;
  if (out_id && stream->capture)
    *out_id = (unsigned long long)(uintptr_t)stream->capture;
  return hipSuccess;
}
hipError_t hipStreamIsCapturing(hipStream_t stream,
                                hipStreamCaptureStatus *out) {
  HIP_CALL(capture_status(stream, out, NULL));
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
                                   hipStreamCaptureStatus *out,
                                   unsigned long long *out_id) {
  HIP_CALL(capture_status(stream, out, out_id));
}

static hipError_t exchange_mode(hipStreamCaptureMode *mode) {
  static _Thread_local hipStreamCaptureMode own = hipStreamCaptureModeGlobal;
  if (!mode || (int)*mode < hipStreamCaptureModeGlobal ||
      (int)*mode > hipStreamCaptureModeRelaxed)
    return hipErrorInvalidValue;
  hipStreamCaptureMode before = own;
  own = *mode;
  *mode = before;
  return hipSuccess;
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  HIP_CALL(exchange_mode(mode));
}

/* ---- graphs ----------------------------------------------------------------
 */

static hipError_t create_graph(hipGraph_t *out, unsigned flags) {
  if (!out || flags)
    return hipErrorInvalidValue;
  ws_graph *graph = create();
  if (!graph)
    return hipErrorOutOfMemory;
  hipError_t error = wrap(WS_HANDLE_GRAPH, graph, (void **)out);
  ws__hip_graph_release(graph);
  return error;
}
hipError_t hipGraphCreate(hipGraph_t *out, unsigned flags) {
  HIP_CALL(create_graph(out, flags));
}

static hipError_t destroy(const void *handle, ws_handle_kind kind) {
  ws_graph *graph = ws__hip_handle_destroy(handle, kind);
  ws__hip_graph_release(graph);
  return graph ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  HIP_CALL(destroy(graph, WS_HANDLE_GRAPH));
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  HIP_CALL(destroy(exec, WS_HANDLE_GRAPH_EXEC));
}

/* A captured graph is not changed any more: sharing it is a copy. */
static hipError_t instantiate(hipGraphExec_t *out, hipGraph_t handle) {
  ws_graph *graph = ws__hip_handle_object(handle, WS_HANDLE_GRAPH);
  if (!out || !graph)
    return hipErrorInvalidValue;
  return wrap(WS_HANDLE_GRAPH_EXEC, graph, (void **)out);
}
hipError_t hipGraphInstantiate(hipGraphExec_t *out, hipGraph_t graph,
                               hipGraphNode_t *error_node, char *log,
                               size_t log_size) {
  if (error_node)
    *error_node = NULL;
  if (log && log_size)
    log[0] = 0;
  HIP_CALL(instantiate(out, graph));
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *out, hipGraph_t graph,
                                        unsigned long long flags) {
  (void)flags;
  HIP_CALL(instantiate(out, graph));
}
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  HIP_CALL(!ws__hip_handle_object(exec, WS_HANDLE_GRAPH_EXEC)
               ? hipErrorInvalidValue
           : ws__hip_stream(stream) ? hipSuccess
                                    : hipErrorInvalidHandle);
}

static hipError_t launch_graph(hipGraphExec_t exec, hipStream_t stream) {
  ws_graph *graph = ws__hip_handle_object(exec, WS_HANDLE_GRAPH_EXEC);
  if (!graph)
    return hipErrorInvalidValue;
  ws__hip_graph_retain(graph);
  hipError_t error =
      ws__hip_stream(stream) ? hipSuccess : hipErrorInvalidHandle;
  for (size_t i = 0; i < graph->count && !error && !ws__hip_device.sticky; i++)
    error = ws__hip_submit(stream, &graph->operations[i]);
  ws__hip_graph_release(graph);
  return error;
}
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  HIP_WORK(launch_graph(exec, stream));
}

void ws__hip_graph_forget(void) {
  static const ws_handle_kind kinds[] = {WS_HANDLE_GRAPH, WS_HANDLE_GRAPH_EXEC};
  for (int i = 0; i < 2; i++) {
    uint32_t cursor = 0;
    void *handle;
    while ((handle = ws__hip_handle_next(kinds[i], &cursor)))
      destroy(handle, kinds[i]);
  }
}
