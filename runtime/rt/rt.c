/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs emitted dispatch tables. ws_rt_open does all that can fail slowly: it
 * checks the tables once (so that the launch path can trust them), the device
 * and its architecture, and loads every code object. ws_rt_run then only picks,
 * packs the kernarg buffer of each launch on the stack, encodes tensor maps
 * into it, and hands it to the driver. A context is not written to after
 * ws_rt_open, which is what makes it usable from any thread; but for the cache
 * of choices and the log of shapes, which threads share without locks.
 */
#include "wavesmith/rt.h"
#include "cache.h"
#include "driver.h"
#include "misses.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ws_rt_context {
  ws__session session;
  const ws__driver *driver;
  void **modules;    /* by candidate */
  void ***functions; /* by candidate, then launch */
  ws__cache *cache;
  ws__misses *misses; /* NULL: they are not logged */
};

static const char *const result_texts[] = {
    [WS_RT_OK] = "ok",
    [WS_RT_NO_DRIVER] = "no HIP or CUDA library or no device",
    [WS_RT_BAD_SHAPE] = "the shape is not legal for the problem",
    [WS_RT_BAD_ABI] = "the emitted tables do not fit this runtime library",
    [WS_RT_WRONG_ARCH] = "the device is not the dispatch's target",
    [WS_RT_DRIVER_ERROR] = "a call of HIP or CUDA failed",
    [WS_RT_WORKSPACE] = "the workspace is too small",
    [WS_RT_ARGUMENT] = "an argument is missing or impossible",
    [WS_RT_OLD_DRIVER] = "the driver is too old for the kernels",
};

const char *ws_rt_result_text(int result) {
  int known = (int)(sizeof result_texts / sizeof result_texts[0]);
  return result >= 0 && result < known ? result_texts[result]
                                       : "unknown result";
}

int ws__rt_fail(ws__message message, int result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message.text, message.size, format, arguments);
  va_end(arguments);
  return result;
}

/* ---- tables ----------------------------------------------------------- */

static int argument_fits(const ws_rt_dispatch *dispatch,
                         const ws_rt_candidate *candidate,
                         const ws_rt_launch *launch, uint32_t index) {
  const ws_rt_kernarg *argument = &launch->args[index];
  if ((uint32_t)argument->offset + argument->size > launch->kernarg_bytes)
    return 0;
  if (dispatch->driver == WS_RT_CUDA && index > 0 &&
      argument->offset < argument[-1].offset + argument[-1].size)
    return 0;
  if (argument->size == WS_RT_TENSOR_MAP_BYTES)
    return argument->slot < candidate->tensor_map_count &&
           argument->offset % 64 == 0;
  return (argument->size == 4 || argument->size == 8) &&
         argument->slot < dispatch->arg_count;
}

static int check_launch(const ws_rt_dispatch *dispatch,
                        const ws_rt_candidate *candidate,
                        const ws_rt_launch *launch, ws__message message) {
  if (launch->kernarg_bytes > WS_RT_MAX_KERNARG_BYTES)
    return ws__rt_fail(message, WS_RT_BAD_ABI,
                       "%s: kernel %s of %s takes %u bytes of arguments, at "
                       "most %d are possible",
                       dispatch->name, launch->kernel, candidate->id,
                       (unsigned)launch->kernarg_bytes,
                       WS_RT_MAX_KERNARG_BYTES);
  if (launch->arg_count > WS_RT_MAX_KERNEL_ARGS)
    return ws__rt_fail(message, WS_RT_BAD_ABI,
                       "%s: kernel %s of %s takes %u arguments, at most %d are "
                       "possible",
                       dispatch->name, launch->kernel, candidate->id,
                       (unsigned)launch->arg_count, WS_RT_MAX_KERNEL_ARGS);
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    const ws_rt_kernarg *argument = &launch->args[i];
    if (!argument_fits(dispatch, candidate, launch, i))
      return ws__rt_fail(message, WS_RT_BAD_ABI,
                         "%s: argument %u of kernel %s of %s is malformed "
                         "(slot %u, offset %u, size %u)",
                         dispatch->name, (unsigned)i, launch->kernel,
                         candidate->id, (unsigned)argument->slot,
                         (unsigned)argument->offset, (unsigned)argument->size);
  }
  return WS_RT_OK;
}

static int tensor_map_fits(const ws_rt_dispatch *dispatch,
                           const ws_rt_tensor_map *map) {
  const unsigned bytes = map->element_bytes, swizzle = map->swizzle;
  return dispatch->driver == WS_RT_CUDA && map->slot < dispatch->arg_count &&
         (bytes == 1 || bytes == 2 || bytes == 4) &&
         (swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128);
}

static int check_candidate(const ws_rt_dispatch *dispatch,
                           const ws_rt_candidate *candidate,
                           ws__message message) {
  int result = WS_RT_OK;
  if (candidate->code_object_size == 0)
    return ws__rt_fail(message, WS_RT_BAD_ABI, "%s: %s has no code object",
                       dispatch->name, candidate->id);
  for (uint32_t i = 0; i < candidate->tensor_map_count; i++)
    if (!tensor_map_fits(dispatch, &candidate->tensor_maps[i]))
      return ws__rt_fail(message, WS_RT_BAD_ABI,
                         "%s: tensor map %u of %s is malformed", dispatch->name,
                         (unsigned)i, candidate->id);
  for (uint32_t i = 0; result == WS_RT_OK && i < candidate->launch_count; i++)
    result =
        check_launch(dispatch, candidate, &candidate->launches[i], message);
  return result;
}

static int check_dispatch(const ws_rt_dispatch *dispatch, ws__message message) {
  /* Nothing behind the version may be read before the version is known. */
  if (dispatch->abi_version != WS_RT_ABI_VERSION)
    return ws__rt_fail(message, WS_RT_BAD_ABI,
                       "the dispatch was emitted for version %u of the runtime "
                       "library's tables, this library reads version %d; emit "
                       "it again",
                       (unsigned)dispatch->abi_version, WS_RT_ABI_VERSION);
  if (dispatch->driver != WS_RT_HIP && dispatch->driver != WS_RT_CUDA)
    return ws__rt_fail(message, WS_RT_BAD_ABI, "%s: driver %u is not known",
                       dispatch->name, (unsigned)dispatch->driver);
  if (dispatch->arg_count > WS_RT_MAX_ARGS || dispatch->candidate_count == 0)
    return ws__rt_fail(message, WS_RT_BAD_ABI,
                       "%s: %u argument slots (at most %d) and %u candidates",
                       dispatch->name, (unsigned)dispatch->arg_count,
                       WS_RT_MAX_ARGS, (unsigned)dispatch->candidate_count);
  int result = WS_RT_OK;
  for (uint32_t c = 0; result == WS_RT_OK && c < dispatch->candidate_count; c++)
    result = check_candidate(dispatch, &dispatch->candidates[c], message);
  return result;
}

/* ---- code objects ------------------------------------------------------- */

static int out_of_memory(ws__message message) {
  return ws__rt_fail(message, WS_RT_DRIVER_ERROR, "out of memory");
}

static int load_candidate(ws_rt_context *context, uint32_t index,
                          ws__message message) {
  const ws__session *session = &context->session;
  const ws_rt_candidate *candidate = &session->dispatch->candidates[index];
  void **functions = calloc(candidate->launch_count + 1u, sizeof *functions);
  if (!functions)
    return out_of_memory(message);
  context->functions[index] = functions;
  int result = context->driver->load(session, candidate,
                                     &context->modules[index], message);
  for (uint32_t i = 0; result == WS_RT_OK && i < candidate->launch_count; i++)
    result =
        context->driver->find(session, context->modules[index],
                              &candidate->launches[i], &functions[i], message);
  return result;
}

static int load_candidates(ws_rt_context *context, ws__message message) {
  uint32_t count = context->session.dispatch->candidate_count;
  context->modules = calloc(count, sizeof *context->modules);
  context->functions = calloc(count, sizeof *context->functions);
  if (!context->modules || !context->functions)
    return out_of_memory(message);
  int result = WS_RT_OK;
  for (uint32_t i = 0; result == WS_RT_OK && i < count; i++)
    result = load_candidate(context, i, message);
  return result;
}

/* ---- opening and closing --------------------------------------------------
 */

static int open_context(ws_rt_context *context, ws__message message) {
  const ws__driver *driver = context->driver;
  void *previous = NULL;
  int result = driver->open(&context->session, message);
  if (result == WS_RT_OK)
    result = driver->enter(&context->session, &previous, message);
  if (result != WS_RT_OK)
    return result;
  result = load_candidates(context, message);
  driver->leave(&context->session, previous);
  return result;
}

static ws_rt_context *create_context(const ws_rt_dispatch *dispatch,
                                     int device) {
  const ws__driver *driver =
      dispatch->driver == WS_RT_CUDA ? &ws__cuda_driver : &ws__hip_driver;
  ws_rt_context *context = calloc(1, sizeof *context);
  void *state = calloc(1, driver->state_bytes);
  ws__cache *cache = ws__cache_create(dispatch->dimension_count);
  if (!context || !state || !cache) {
    free(context);
    free(state);
    ws__cache_destroy(cache);
    return NULL;
  }
  context->cache = cache;
  context->driver = driver;
  context->session.dispatch = dispatch;
  context->session.device = device;
  context->session.state = state;
  return context;
}

int ws_rt_open(const ws_rt_dispatch *dispatch, int device,
               ws_rt_context **out_context, char *message,
               size_t message_size) {
  ws__message out_message = {message, message_size};
  *out_context = NULL;
  int result = check_dispatch(dispatch, out_message);
  if (result != WS_RT_OK)
    return result;
  ws_rt_context *context = create_context(dispatch, device);
  if (!context)
    return out_of_memory(out_message);
  result = open_context(context, out_message);
  if (result != WS_RT_OK) {
    ws_rt_close(context);
    return result;
  }
  context->misses = ws__misses_open(dispatch);
  *out_context = context;
  return WS_RT_OK;
}

static void unload_candidates(ws_rt_context *context) {
  void *previous = NULL;
  ws__message dropped = {NULL, 0};
  if (!context->modules || !context->functions ||
      context->driver->enter(&context->session, &previous, dropped))
    return;
  for (uint32_t i = 0; i < context->session.dispatch->candidate_count; i++)
    if (context->modules[i])
      context->driver->unload(&context->session, context->modules[i]);
  context->driver->leave(&context->session, previous);
}

void ws_rt_close(ws_rt_context *context) {
  if (!context)
    return;
  unload_candidates(context);
  context->driver->close(&context->session);
  ws__misses_close(context->misses);
  ws__cache_destroy(context->cache);
  for (uint32_t i = 0;
       context->functions && i < context->session.dispatch->candidate_count;
       i++)
    free(context->functions[i]);
  free(context->modules);
  free(context->functions);
  free(context->session.state);
  free(context);
}

void *ws_rt_symbol(const ws_rt_context *context, const char *name) {
  return context->driver->symbol(&context->session, name);
}

/* ---- choosing -------------------------------------------------------------
 */

/* -1 when the shape is not legal. Emitted selection keeps to the candidates'
 * constraints; they are asked again because a kernel that runs outside of them
 * writes wrong numbers without a word. */
static int32_t select_candidate(const ws_rt_dispatch *dispatch,
                                const long long *shape) {
  int index = dispatch->select(shape);
  if (index < 0 || (uint32_t)index >= dispatch->candidate_count ||
      !dispatch->candidates[index].accepts(shape))
    return -1;
  return index;
}

static ws__choice choose(const ws_rt_context *context, const long long *shape) {
  ws__choice choice = {.miss = -1};
  if (ws__cache_get(context->cache, shape, &choice))
    return choice;
  choice.candidate = select_candidate(context->session.dispatch, shape);
  choice.miss =
      choice.candidate < 0 ? -1 : ws__misses_find(context->misses, shape);
  ws__cache_put(context->cache, shape, choice);
  return choice;
}

const ws_rt_candidate *ws_rt_pick(const ws_rt_context *context,
                                  const long long *shape) {
  int32_t index = choose(context, shape).candidate;
  return index < 0 ? NULL : &context->session.dispatch->candidates[index];
}

size_t ws_rt_workspace_bytes(const ws_rt_context *context,
                             const long long *shape) {
  const ws_rt_candidate *candidate = ws_rt_pick(context, shape);
  long long bytes =
      candidate ? candidate->workspace_bytes(shape, context->session.cu_count)
                : 0;
  return bytes > 0 ? (size_t)bytes : 0;
}

/* ---- launching ------------------------------------------------------------
 */

/* One call of ws_rt_run. */
typedef struct call {
  const ws_rt_context *context;
  const ws_rt_candidate *candidate;
  const long long *shape;
  const void *const *slots;
  void *stream;
  ws__message message;
} call;

static int slot_is_null(const call *run, const ws_rt_launch *launch,
                        unsigned slot) {
  return ws__rt_fail(run->message, WS_RT_ARGUMENT,
                     "kernel %s reads argument slot %u, which is NULL",
                     launch->kernel, slot);
}

static int encode_map(const call *run, const ws_rt_launch *launch,
                      const ws_rt_tensor_map *map, unsigned char *out) {
  ws__tensor tensor = {.map = map};
  if (run->slots[map->slot])
    memcpy(&tensor.address, run->slots[map->slot], sizeof tensor.address);
  if (!tensor.address)
    return slot_is_null(run, launch, map->slot);
  map->extents(run->shape, tensor.extents);
  if (tensor.extents[0] < 1 || tensor.extents[1] < 1)
    return ws__rt_fail(run->message, WS_RT_BAD_SHAPE,
                       "kernel %s: a tensor of %lld x %lld elements is not "
                       "possible",
                       launch->kernel, tensor.extents[1], tensor.extents[0]);
  return run->context->driver->encode(&run->context->session, &tensor, out,
                                      run->message);
}

/* Packs the explicit arguments; padding between them is zero. */
static int pack_arguments(const call *run, const ws_rt_launch *launch,
                          unsigned char *out_kernarg) {
  memset(out_kernarg, 0, launch->kernarg_bytes);
  for (uint32_t i = 0; i < launch->arg_count; i++) {
    const ws_rt_kernarg *argument = &launch->args[i];
    unsigned char *out = out_kernarg + argument->offset;
    if (argument->size == WS_RT_TENSOR_MAP_BYTES) {
      int result = encode_map(
          run, launch, &run->candidate->tensor_maps[argument->slot], out);
      if (result != WS_RT_OK)
        return result;
    } else if (run->slots[argument->slot])
      memcpy(out, run->slots[argument->slot], argument->size);
    else
      return slot_is_null(run, launch, argument->slot);
  }
  return WS_RT_OK;
}

static int launch_kernel(const call *run, const ws_rt_launch *launch,
                         void *function) {
  long long grid[3];
  launch->grid(run->shape, run->context->session.cu_count, grid);
  for (int i = 0; i < 3; i++)
    if (grid[i] < 1 || grid[i] > UINT32_MAX)
      return ws__rt_fail(run->message, WS_RT_BAD_SHAPE,
                         "kernel %s: a grid of %lld x %lld x %lld is not "
                         "possible",
                         launch->kernel, grid[0], grid[1], grid[2]);
  /* Tensor maps are made in it, which are aligned to their size. */
  _Alignas(
      WS_RT_TENSOR_MAP_BYTES) unsigned char kernarg[WS_RT_MAX_KERNARG_BYTES];
  int result = pack_arguments(run, launch, kernarg);
  if (result != WS_RT_OK)
    return result;
  const ws__start start = {
      .function = function,
      .launch = launch,
      .grid = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]},
      .kernarg = kernarg,
      .stream = run->stream};
  return run->context->driver->launch(&run->context->session, &start,
                                      run->message);
}

static int launch_all(const call *run, void *const *functions) {
  const ws_rt_candidate *candidate = run->candidate;
  int result = WS_RT_OK;
  for (uint32_t i = 0; result == WS_RT_OK && i < candidate->launch_count; i++) {
    const ws_rt_launch *launch = &candidate->launches[i];
    if (launch->condition(run->shape, run->context->session.cu_count))
      result = launch_kernel(run, launch, functions[i]);
  }
  return result;
}

/* "m=16 n=576 k=7168" */
static const char *shape_text(const ws_rt_dispatch *dispatch,
                              const long long *shape, char *out, size_t size) {
  size_t length = 0;
  *out = '\0';
  for (uint32_t i = 0; i < dispatch->dimension_count && length < size; i++)
    length += (size_t)snprintf(out + length, size - length, "%s%s=%lld",
                               i ? " " : "", dispatch->dimensions[i], shape[i]);
  return out;
}

int ws_rt_run(const ws_rt_context *context, const long long *shape,
              const void *const *slots, size_t workspace_bytes, void *stream,
              char *message, size_t message_size) {
  ws__message out_message = {message, message_size};
  const ws_rt_dispatch *dispatch = context->session.dispatch;
  const ws__choice choice = choose(context, shape);
  char text[400];
  if (choice.candidate < 0)
    return ws__rt_fail(
        out_message, WS_RT_BAD_SHAPE, "%s is not a legal shape of %s",
        shape_text(dispatch, shape, text, sizeof text), dispatch->problem);
  const ws_rt_candidate *candidate = &dispatch->candidates[choice.candidate];
  long long needed =
      candidate->workspace_bytes(shape, context->session.cu_count);
  if (needed > 0 && workspace_bytes < (unsigned long long)needed)
    return ws__rt_fail(out_message, WS_RT_WORKSPACE,
                       "%s needs %lld bytes of workspace, %zu given",
                       shape_text(dispatch, shape, text, sizeof text), needed,
                       workspace_bytes);
  void *previous = NULL;
  int result =
      context->driver->enter(&context->session, &previous, out_message);
  if (result != WS_RT_OK)
    return result;
  const call run = {context, candidate, shape, slots, stream, out_message};
  result = launch_all(&run, context->functions[choice.candidate]);
  context->driver->leave(&context->session, previous);
  if (result == WS_RT_OK)
    ws__misses_count(context->misses, choice.miss);
  return result;
}
