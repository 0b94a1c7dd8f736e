/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What stays between requests. Making the inputs of a large shape and asking
 * the fp64 reference about them takes longer than measuring a kernel, and a
 * tuner asks for the same shapes again and again.
 *
 * Sets are found by problem, layout, shape and seed; when they exceed the limit
 * together, the least recently used goes. On a card a set holds several copies
 * at different addresses, with outputs; after about RELOCATE uses it is put
 * somewhere else. A simulator that runs for results keeps nothing on the
 * device, so that each run has fresh buffers with bounds of their own; one that
 * runs for times needs no contents on the host.
 *
 * A kernel may damage what is kept: ws_verify and ws_time compare inputs
 * afterwards, and believe that a result is wrong only on inputs that were
 * uploaded for that very request.
 */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  MAX_SETS = 1024,
  MAX_MODULES = 4,
  RELOCATE = 32,
  MAX_PAD = 1 << 20,
  /* ws__inputs_compare, when sampled */
  WHOLE_BYTES = 1 << 20,
  PIECES = 16,
  PIECE_BYTES = 4096
};
static const size_t REFERENCE_LIMIT = (size_t)64 << 20; /* of one set */

typedef struct kept_module {
  ws_device_module *module; /* NULL: the place is free */
  void *code_object;
  size_t size;
  uint64_t last_use;
} kept_module;

struct ws_inputs {
  ws_device *device;
  const ws_device_info *info;
  size_t limit;
  uint64_t uses;
  ws_rng rng;
  ws__input_set sets[MAX_SETS];
  kept_module modules[MAX_MODULES];
  bool drop_modules; /* at the next request */
  void *flush;
  double *scratch; /* reference rows that are not kept */
  size_t scratch_bytes;
};

static void *allocate_host(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  WS_ASSERT(memory && "out of memory");
  return memory;
}

/* Contents are written in full, and come and go with the shapes: their pages are
 * fetched 2 MiB at a time, where there are as many. */
static void *allocate_contents(size_t bytes) {
  const size_t huge = (size_t)2 << 20;
  if (bytes < 2 * huge)
    return allocate_host(bytes);
  const size_t whole = (bytes + huge - 1) / huge * huge;
  void *memory = aligned_alloc(huge, whole);
  WS_ASSERT(memory && "out of memory");
  (void)madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

static size_t limit_of(const ws_device_info *info) {
  double host = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (info->simulated)
    return (size_t)1 << 30;
  return (size_t)(fmin((double)info->memory_bytes, host) / 2);
}

ws_inputs *ws_inputs_create(ws_device *device, size_t limit_bytes) {
  ws_inputs *inputs = calloc(1, sizeof *inputs);
  WS_ASSERT(inputs && "out of memory");
  inputs->device = device;
  inputs->info = ws_device_info_of(device);
  inputs->limit = limit_bytes ? limit_bytes : limit_of(inputs->info);
  ws_rng_init(&inputs->rng, (uint64_t)ws_clock_unix_ms());
  return inputs;
}

uint64_t ws__inputs_random(ws_inputs *inputs, uint64_t bound) {
  return ws_rng_below(&inputs->rng, bound);
}

/* ---- dropping ---- */

static void free_copy(ws_inputs *inputs, ws__input_copy *copy) {
  ws_device_free(inputs->device, copy->pad);
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    ws_device_free(inputs->device, copy->base[i]);
  *copy = (ws__input_copy){0};
}

static size_t copy_bytes(const ws__input_set *set) {
  size_t sum = 0;
  for (int i = 0; i < set->problem->arg_count; i++)
    sum += set->bytes[i];
  return sum;
}

static void drop_copies(ws_inputs *inputs, ws__input_set *set) {
  for (int i = 0; i < set->copy_count; i++) {
    free_copy(inputs, &set->copies[i]);
    set->held -= copy_bytes(set);
  }
  set->copy_count = 0;
  set->fresh = false;
}

static void drop_contents(ws__input_set *set) {
  for (int i = 0; i < set->problem->arg_count; i++) {
    if (set->contents[i])
      set->held -= set->bytes[i];
    free(set->contents[i]);
    set->contents[i] = NULL;
  }
}

static void drop(ws_inputs *inputs, ws__input_set *set) {
  if (!set->problem)
    return;
  drop_copies(inputs, set);
  drop_contents(set);
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++) {
    free(set->landing[i]);
    free(set->results[i]);
  }
  for (ws__expected *next; set->references; set->references = next) {
    next = set->references->next;
    free(set->references->value);
    free(set->references);
  }
  free(set->projection.value);
  *set = (ws__input_set){.problem = NULL};
}

static void drop_module(ws_inputs *inputs, kept_module *kept) {
  ws_device_unload(inputs->device, kept->module);
  free(kept->code_object);
  *kept = (kept_module){.module = NULL};
}

void ws_inputs_destroy(ws_inputs *inputs) {
  if (!inputs)
    return;
  for (int i = 0; i < MAX_SETS; i++)
    drop(inputs, &inputs->sets[i]);
  for (int i = 0; i < MAX_MODULES; i++)
    drop_module(inputs, &inputs->modules[i]);
  ws_device_free(inputs->device, inputs->flush);
  free(inputs->scratch);
  free(inputs);
}

void ws__inputs_renew(ws_inputs *inputs) {
  inputs->drop_modules = true; /* not yet: one of them is in use */
  for (int i = 0; i < MAX_SETS; i++)
    drop_copies(inputs, &inputs->sets[i]);
}

bool ws__inputs_make_room(ws_inputs *inputs, const ws__input_set *but) {
  bool any = false;
  for (int i = 0; i < MAX_SETS; i++)
    if (&inputs->sets[i] != but && inputs->sets[i].copy_count) {
      drop_copies(inputs, &inputs->sets[i]);
      any = true;
    }
  return any;
}

void ws__inputs_begin(ws_inputs *inputs) {
  for (int i = 0; i < MAX_SETS; i++)
    inputs->sets[i].fresh = false;
  for (int i = 0; i < MAX_MODULES && inputs->drop_modules; i++)
    drop_module(inputs, &inputs->modules[i]);
  inputs->drop_modules = inputs->info->simulated;
}

/* ---- sets ---- */

static size_t shift_of(const ws_problem *problem, ws__placing placing) {
  return placing == WS__AS_PROMISED ? (size_t)problem->alignment : 0;
}

static bool is_set_of(const ws__input_set *set, const ws_problem *problem,
                      const ws_workload *workload, ws__placing placing) {
  return set->problem == problem && set->layout == workload->layout &&
         set->shift == shift_of(problem, placing) &&
         set->seed == workload->seed &&
         ws_shape_same(&set->shape, &workload->shape);
}

static ws__input_set *find_oldest(ws_inputs *inputs, const ws__input_set *but) {
  ws__input_set *oldest = NULL;
  for (int i = 0; i < MAX_SETS; i++) {
    ws__input_set *set = &inputs->sets[i];
    if (set != but && set->problem &&
        (!oldest || set->last_use < oldest->last_use))
      oldest = set;
  }
  return oldest;
}

/* A free place, made if there is none. */
static ws__input_set *find_place(ws_inputs *inputs) {
  for (int i = 0; i < MAX_SETS; i++)
    if (!inputs->sets[i].problem)
      return &inputs->sets[i];
  ws__input_set *oldest = find_oldest(inputs, NULL);
  drop(inputs, oldest);
  return oldest;
}

/* The latest set stays, however large it is. */
static void keep_limit(ws_inputs *inputs, const ws__input_set *latest,
                       size_t more) {
  size_t held = more;
  for (int i = 0; i < MAX_SETS; i++)
    held += inputs->sets[i].held;
  for (ws__input_set *oldest;
       held > inputs->limit && (oldest = find_oldest(inputs, latest));) {
    held -= oldest->held;
    drop(inputs, oldest);
  }
}

static bool is_kept_on_device(const ws_inputs *inputs) {
  return !inputs->info->simulated || inputs->info->dry_timing;
}

static size_t bytes_of(const ws_problem *problem, int arg,
                       const ws_workload *workload) {
  ws_arg_role role = problem->args[arg].role;
  return role == WS_ARG_WORKSPACE || role == WS_ARG_SCALAR
             ? 0
             : (size_t)ws_problem_arg_bytes(problem, arg, &workload->shape,
                                            workload->layout);
}

static ws__input_set *add_set(ws_inputs *inputs, const ws_problem *problem,
                              const ws_workload *workload,
                              ws__placing placing) {
  ws__input_set *set = find_place(inputs);
  *set =
      (ws__input_set){.problem = problem,
                      .shape = workload->shape,
                      .layout = workload->layout,
                      .seed = workload->seed,
                      .shift = shift_of(problem, placing),
                      .guard = inputs->info->simulated ? 0 : WS__GUARD_BYTES};
  for (int i = 0; i < problem->arg_count; i++)
    set->bytes[i] = bytes_of(problem, i, workload);
  return set;
}

/* ---- on the host ---- */

const void *ws__inputs_contents(ws_inputs *inputs, ws__input_set *set,
                                int arg) {
  if (set->contents[arg])
    return set->contents[arg];
  keep_limit(inputs, set, set->bytes[arg]);
  set->contents[arg] = allocate_contents(set->bytes[arg]);
  set->held += set->bytes[arg];
  ws_problem_generate(set->problem, arg, &set->shape, set->layout, set->seed,
                      set->contents[arg]);
  return set->contents[arg];
}

void *ws__inputs_landing(ws_inputs *inputs, ws__input_set *set, int arg) {
  (void)inputs; /* only the rows that are downloaded become real memory */
  if (!set->landing[arg])
    set->landing[arg] = allocate_host(set->bytes[arg]);
  return set->landing[arg];
}

static ws__expected *find_reference(const ws__input_set *set, int64_t begin,
                                    int64_t end) {
  for (ws__expected *at = set->references; at; at = at->next)
    if (at->begin == begin && at->end == end)
      return at;
  return NULL;
}

void ws__inputs_collect(ws_inputs *inputs, ws__input_set *set,
                        const void *out_buffers[WS_PROBLEM_MAX_ARGS]) {
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++) {
    bool input =
        i < set->problem->arg_count &&
        ws_arg_is_content(ws_problem_arg_role(set->problem, i, set->layout));
    out_buffers[i] = set->results[i] ? set->results[i]
                     : input         ? ws__inputs_contents(inputs, set, i)
                                     : NULL;
  }
}

static void ask_reference(ws_inputs *inputs, ws__input_set *set, int64_t begin,
                          int64_t end, double *value, double *scale) {
  const void *buffers[WS_PROBLEM_MAX_ARGS];
  ws__inputs_collect(inputs, set, buffers);
  ws_problem_reference(set->problem, &set->shape, set->layout, buffers, begin,
                       end, value, scale);
}

static double *scratch_of(ws_inputs *inputs, size_t bytes) {
  if (inputs->scratch_bytes < bytes) {
    free(inputs->scratch);
    inputs->scratch = allocate_host(bytes);
    inputs->scratch_bytes = bytes;
  }
  return inputs->scratch;
}

static ws__expected *keep_reference(ws__input_set *set, int64_t begin,
                                    int64_t end, size_t bytes) {
  ws__expected *kept = allocate_host(sizeof *kept);
  *kept = (ws__expected){.begin = begin,
                         .end = end,
                         .value = allocate_host(bytes),
                         .next = set->references};
  set->references = kept;
  set->reference_bytes += bytes;
  set->held += bytes;
  return kept;
}

void ws__inputs_reference(ws_inputs *inputs, ws__input_set *set, int64_t begin,
                          int64_t end, const double **out_value,
                          const double **out_scale) {
  size_t elements =
      (size_t)((end - begin) * ws_problem_slice_elements(
                                   set->problem, -1, &set->shape, set->layout));
  size_t bytes = 2 * elements * sizeof(double);
  ws__expected *kept = find_reference(set, begin, end);
  double *value = kept ? kept->value : NULL;
  if (!kept) {
    if (set->reference_bytes + bytes <= REFERENCE_LIMIT)
      value = keep_reference(set, begin, end, bytes)->value;
    else
      value = scratch_of(inputs, bytes);
    ask_reference(inputs, set, begin, end, value, value + elements);
  }
  *out_value = value;
  *out_scale = value + elements;
}

/* Signs follow from the workload's seed, so nobody knows them who does not know
 * that; but not as the inputs do. */
static const uint64_t SIGN_SEED = 0x73616d706c65;

const ws__projection *ws__inputs_projection(ws_inputs *inputs,
                                            ws__input_set *set) {
  ws__projection *out = &set->projection;
  const void *buffers[WS_PROBLEM_MAX_ARGS];
  size_t count = (size_t)ws_problem_slices(set->problem, &set->shape);
  if (out->value)
    return out;
  ws__inputs_collect(inputs, set, buffers);
  int64_t *rows = allocate_host(sizeof *rows * count);
  for (size_t i = 0; i < count; i++)
    rows[i] = (int64_t)i;
  out->seed = set->seed ^ SIGN_SEED;
  out->value = allocate_host(2 * sizeof *out->value * count);
  out->error = out->value + count;
  set->held += 2 * sizeof *out->value * count;
  ws_problem_project(set->problem, &set->shape, set->layout, buffers, out->seed,
                     rows, (int64_t)count, out->value, out->error);
  free(rows);
  return out;
}

/* ---- on the device ---- */

static ws_status place_argument(ws_inputs *inputs, ws__input_set *set, int arg,
                                ws__input_copy *copy, ws_diag *diag) {
  ws_arg_role role = ws_problem_arg_role(set->problem, arg, set->layout);
  bool result = ws_arg_is_result(role);
  size_t guard = result ? set->guard : 0;
  if (role != WS_ARG_INPUT && (!result || !set->guard))
    return WS_OK;
  WS_TRY(ws_device_allocate(inputs->device,
                            set->bytes[arg] + guard + set->shift,
                            &copy->base[arg], diag));
  copy->memory[arg] = (char *)copy->base[arg] + set->shift;
  if (result) /* what is read of it is put there before each launch */
    return WS_OK;
  return ws_device_upload(inputs->device, copy->memory[arg],
                          ws__inputs_contents(inputs, set, arg),
                          set->bytes[arg], diag);
}

static ws_status place_copy(ws_inputs *inputs, ws__input_set *set,
                            ws__input_copy *copy, ws_diag *diag) {
  ws_status status = WS_OK;
  if (!inputs->info->simulated)
    status = ws_device_allocate(
        inputs->device, 256 + (size_t)ws__inputs_random(inputs, MAX_PAD),
        &copy->pad, diag);
  for (int i = 0; i < set->problem->arg_count && status == WS_OK; i++)
    status = place_argument(inputs, set, i, copy, diag);
  if (status != WS_OK)
    free_copy(inputs, copy);
  return status;
}

static ws_status add_copy(ws_inputs *inputs, ws__input_set *set,
                          ws_diag *diag) {
  ws__input_copy *copy = &set->copies[set->copy_count];
  keep_limit(inputs, set, copy_bytes(set));
  ws_status status = place_copy(inputs, set, copy, diag);
  if (status == WS_ENVIRONMENT && ws__inputs_make_room(inputs, set))
    status = place_copy(inputs, set, copy, diag);
  if (status != WS_OK)
    return status;
  set->copy_count++;
  set->held += copy_bytes(set);
  return WS_OK;
}

static ws_status add_copies(ws_inputs *inputs, ws__input_set *set, int copies,
                            ws_diag *diag) {
  if (!is_kept_on_device(inputs) ||
      (!inputs->info->simulated && !ws__inputs_random(inputs, RELOCATE)))
    drop_copies(inputs, set);
  if (!set->copy_count)
    set->fresh = true;
  while (set->copy_count < copies)
    WS_TRY(add_copy(inputs, set, diag));
  if (inputs->info->dry_timing)
    drop_contents(set);
  return WS_OK;
}

ws_status ws__inputs_get(ws_inputs *inputs, const ws_workload *workload,
                         ws__placing placing, int copies,
                         ws__input_set **out_set, ws_diag *diag) {
  const ws_problem *problem = ws_problem_find(workload->problem);
  if (!problem)
    return ws_fail(diag, WS_INPUT, NULL, 0, "there is no problem '%s'",
                   workload->problem);
  if (!ws_problem_is_comparable(problem))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "problem %s has no reference to compare results with; name "
                   "a kernel with --reference",
                   problem->name);
  WS_TRY(ws_problem_check_shape(problem, &workload->shape, diag));
  ws__input_set *set = NULL;
  for (int i = 0; i < MAX_SETS && !set; i++)
    if (is_set_of(&inputs->sets[i], problem, workload, placing))
      set = &inputs->sets[i];
  if (!set)
    set = add_set(inputs, problem, workload, placing);
  set->last_use = ++inputs->uses;
  *out_set = set;
  return add_copies(inputs, set, copies, diag);
}

int ws__inputs_rotation(const ws_inputs *inputs, const ws_workload *workload) {
  const ws_problem *problem = ws_problem_find(workload->problem);
  double bytes = 1;
  for (int i = 0; problem && i < problem->arg_count; i++)
    bytes += (double)bytes_of(problem, i, workload);
  double wanted = ceil(2 * (double)inputs->info->cache_bytes / bytes);
  double room = floor((double)inputs->limit / bytes) - 1;
  double count = fmin(fmin(fmax(wanted, 2), room), WS__MAX_COPIES);
  return inputs->info->simulated || !problem ? 1 : (int)fmax(count, 1);
}

/* ---- comparing ---- */

static ws_status compare_piece(ws_inputs *inputs, const char *memory,
                               const char *contents, size_t bytes,
                               bool *out_same, ws_diag *diag) {
  void *now = scratch_of(inputs, bytes);
  WS_TRY(ws_device_download(inputs->device, now, memory, bytes, diag));
  *out_same = !memcmp(now, contents, bytes);
  return WS_OK;
}

static ws_status compare_argument(ws_inputs *inputs, const char *memory,
                                  const char *contents, size_t bytes,
                                  bool sampled, bool *out_same, ws_diag *diag) {
  if (!sampled || bytes <= WHOLE_BYTES)
    return compare_piece(inputs, memory, contents, bytes, out_same, diag);
  *out_same = true;
  for (int i = 0; i < PIECES && *out_same; i++) {
    size_t at = ws__inputs_random(inputs, bytes - PIECE_BYTES + 1);
    WS_TRY(compare_piece(inputs, memory + at, contents + at, PIECE_BYTES,
                         out_same, diag));
  }
  return WS_OK;
}

ws_status ws__inputs_compare(ws_inputs *inputs, ws__input_set *set, int copy,
                             bool sampled, int *out_arg, ws_diag *diag) {
  *out_arg = -1;
  for (int i = 0; i < set->problem->arg_count && *out_arg < 0; i++) {
    bool same = true;
    if (set->problem->args[i].role != WS_ARG_INPUT)
      continue;
    WS_TRY(compare_argument(inputs, set->copies[copy].memory[i],
                            ws__inputs_contents(inputs, set, i), set->bytes[i],
                            sampled, &same, diag));
    if (!same)
      *out_arg = i;
  }
  return WS_OK;
}

/* ---- modules, flush ---- */

static kept_module *find_module(ws_inputs *inputs, const void *code_object,
                                size_t size) {
  for (int i = 0; i < MAX_MODULES; i++) {
    kept_module *kept = &inputs->modules[i];
    if (kept->module && kept->size == size &&
        !memcmp(kept->code_object, code_object, size))
      return kept;
  }
  return NULL;
}

static kept_module *place_of_module(ws_inputs *inputs) {
  kept_module *oldest = &inputs->modules[0];
  for (int i = 1; i < MAX_MODULES; i++)
    if (inputs->modules[i].last_use < oldest->last_use)
      oldest = &inputs->modules[i];
  drop_module(inputs, oldest);
  return oldest;
}

ws_status ws__inputs_module(ws_inputs *inputs, const void *code_object,
                            size_t size, ws_device_module **out_module,
                            ws_diag *diag) {
  kept_module *kept = find_module(inputs, code_object, size);
  if (!kept) {
    kept = place_of_module(inputs);
    WS_TRY(
        ws_device_load(inputs->device, code_object, size, &kept->module, diag));
    kept->code_object = allocate_host(size);
    memcpy(kept->code_object, code_object, size);
    kept->size = size;
  }
  kept->last_use = ++inputs->uses;
  *out_module = kept->module;
  return WS_OK;
}

ws_status ws__inputs_flush(ws_inputs *inputs, void **out_memory,
                           size_t *out_bytes, ws_diag *diag) {
  *out_bytes = 2 * (size_t)inputs->info->cache_bytes;
  if (!inputs->flush)
    WS_TRY(
        ws_device_allocate(inputs->device, *out_bytes, &inputs->flush, diag));
  *out_memory = inputs->flush;
  return WS_OK;
}
