/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inputs that stay on the device. Making and uploading those of a large shape
 * takes longer than a simulator needs for the timing, and a tuner asks for the
 * same shapes again and again. Sets are found by problem, layout, shape and
 * seed; when they exceed the limit together, the least recently used goes.
 */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SETS = 64 };

typedef struct input_set {
  const ws_problem *problem; /* NULL: the place is free */
  ws_shape shape;
  int layout;
  uint64_t seed, last_use;
  size_t bytes;
  void *memory[WS_PROBLEM_MAX_ARGS];
} input_set;

struct ws_inputs {
  ws_device *device;
  size_t limit, bytes;
  uint64_t uses;
  input_set sets[MAX_SETS];
};

ws_inputs *ws_inputs_create(ws_device *device, size_t limit_bytes) {
  ws_inputs *inputs = calloc(1, sizeof *inputs);
  WS_ASSERT(inputs && "out of memory");
  inputs->device = device;
  inputs->limit = limit_bytes;
  return inputs;
}

static void drop(ws_inputs *inputs, input_set *set) {
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    ws_device_free(inputs->device, set->memory[i]);
  inputs->bytes -= set->bytes;
  *set = (input_set){.problem = NULL};
}

void ws_inputs_destroy(ws_inputs *inputs) {
  if (!inputs)
    return;
  for (int i = 0; i < MAX_SETS; i++)
    drop(inputs, &inputs->sets[i]);
  free(inputs);
}

static bool is_set_of(const input_set *set, const ws_problem *problem,
                      const ws_workload *workload) {
  return set->problem == problem && set->layout == workload->layout &&
         set->seed == workload->seed &&
         !memcmp(&set->shape, &workload->shape, sizeof set->shape);
}

/* A free place, or NULL. */
static input_set *find_place(ws_inputs *inputs) {
  for (int i = 0; i < MAX_SETS; i++)
    if (!inputs->sets[i].problem)
      return &inputs->sets[i];
  return NULL;
}

static input_set *find_oldest(ws_inputs *inputs) {
  input_set *oldest = NULL;
  for (int i = 0; i < MAX_SETS; i++) {
    input_set *set = &inputs->sets[i];
    if (set->problem && (!oldest || set->last_use < oldest->last_use))
      oldest = set;
  }
  return oldest;
}

static input_set *make_room(ws_inputs *inputs, size_t bytes) {
  input_set *oldest, *place;
  while ((!(place = find_place(inputs)) ||
          inputs->bytes + bytes > inputs->limit) &&
         (oldest = find_oldest(inputs)))
    drop(inputs, oldest);
  return place ? place : find_place(inputs);
}

static ws_status upload(ws_inputs *inputs, int arg, input_set *set,
                        ws_diag *diag) {
  size_t bytes = (size_t)set->problem->arg_bytes(arg, &set->shape, set->layout);
  WS_TRY(ws_device_allocate(inputs->device, bytes, &set->memory[arg], diag));
  void *contents = malloc(bytes ? bytes : 1);
  WS_ASSERT(contents && "out of memory");
  set->problem->generate(arg, &set->shape, set->layout, set->seed, contents);
  ws_status status =
      ws_device_upload(inputs->device, set->memory[arg], contents, bytes, diag);
  free(contents);
  return status;
}

static ws_status fill(ws_inputs *inputs, input_set *set, ws_diag *diag) {
  for (int i = 0; i < set->problem->arg_count; i++)
    if (set->problem->args[i].role == WS_ARG_INPUT)
      WS_TRY(upload(inputs, i, set, diag));
  return WS_OK;
}

static size_t bytes_of(const ws_problem *problem, const ws_workload *workload) {
  size_t sum = 0;
  for (int i = 0; i < problem->arg_count; i++)
    if (problem->args[i].role == WS_ARG_INPUT)
      sum += (size_t)problem->arg_bytes(i, &workload->shape, workload->layout);
  return sum;
}

static ws_status add(ws_inputs *inputs, const ws_problem *problem,
                     const ws_workload *workload, input_set **out_set,
                     ws_diag *diag) {
  size_t bytes = bytes_of(problem, workload);
  input_set *set = make_room(inputs, bytes);
  *set = (input_set){.problem = problem,
                     .shape = workload->shape,
                     .layout = workload->layout,
                     .seed = workload->seed,
                     .bytes = bytes};
  inputs->bytes += bytes;
  ws_status status = fill(inputs, set, diag);
  if (status != WS_OK)
    drop(inputs, set);
  *out_set = set;
  return status;
}

ws_status ws__inputs_get(ws_inputs *inputs, const ws_problem *problem,
                         const ws_workload *workload, void *const **out_memory,
                         ws_diag *diag) {
  input_set *found = NULL;
  for (int i = 0; i < MAX_SETS && !found; i++)
    if (is_set_of(&inputs->sets[i], problem, workload))
      found = &inputs->sets[i];
  if (!found)
    WS_TRY(add(inputs, problem, workload, &found, diag));
  found->last_use = ++inputs->uses;
  *out_memory = found->memory;
  return WS_OK;
}
