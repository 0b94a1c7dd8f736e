/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Looking at what launches left in the outputs (docs/verification.md): rows of
 * it against the reference, a sample and projections of it, and whether all of
 * it was stored.
 *
 * A simulator of ours notes what is stored. On a card two launch sequences on
 * the same contents, over different poison, are compared byte by byte: a byte
 * that is the same in both was stored in one of them, because both poisons
 * cannot be there; one that holds its poison in both was stored in neither.
 * What else differs may be the rounding of sums in any order: of these elements
 * some are compared with the reference, in both.
 */
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARE_ROWS = 64, DIFFERENT = 128, BLOCK = 2048 };

static bool is_output(const ws__bench *bench, int arg) {
  return ws_arg_is_result(bench->problem->args[arg].role);
}

/* All of it must be stored: what is read and written may stay in parts. */
static bool is_all_stored(const ws__bench *bench, int arg) {
  return ws_problem_arg_role(bench->problem, arg, bench->workload->layout) ==
         WS_ARG_OUTPUT;
}

static int64_t slices_of(const ws__bench *bench) {
  return ws_problem_slices(bench->problem, &bench->workload->shape);
}

static size_t element_bytes(const ws__bench *bench, int arg) {
  return (size_t)ws_type_bytes(bench->problem->args[arg].type);
}

/* ---- what was found --------------------------------------------------------
 */

static void add_comparison(const ws_comparison *part, ws_comparison *sum) {
  if (!sum->wrong && part->wrong) {
    sum->first = part->first;
    sum->first_slice = part->first_slice;
    sum->first_got = part->first_got;
    sum->first_want = part->first_want;
    sum->first_bound = part->first_bound;
  }
  sum->checked += part->checked;
  sum->wrong += part->wrong;
  sum->worst_ratio = fmax(sum->worst_ratio, part->worst_ratio);
}

/* The first that is wrong is as it was before the launches. */
static bool is_poison(ws__bench *bench, const ws_comparison *found) {
  if (!found->wrong || found->first.element == WS_WHOLE_SLICE ||
      !is_all_stored(bench, found->first.arg))
    return false;
  size_t size = element_bytes(bench, found->first.arg);
  const uint8_t *element = (uint8_t *)ws__inputs_landing(
                               bench->inputs, bench->set, found->first.arg) +
                           (size_t)found->first.element * size;
  for (size_t b = 0; b < size; b++)
    if (element[b] != bench->poison)
      return false;
  return true;
}

static void add_result(ws__bench *bench, const ws_comparison *found,
                       ws_measured *out) {
  const char *unwritten =
      is_poison(bench, found) ? " (it may never have been written)" : "";
  const char *place =
      found->first.element == WS_WHOLE_SLICE
          ? ws_arena_printf(bench->arena, "row %lld times random signs",
                            (long long)found->first_slice)
          : ws_problem_place_text(bench->arena, bench->problem,
                                  &bench->workload->shape,
                                  bench->workload->layout, found->first);
  out->compared += found->checked;
  out->worst_ratio = fmax(out->worst_ratio, found->worst_ratio);
  if (found->wrong)
    ws__measured_fail(
        out, bench->arena, WS_VERDICT_WRONG, &bench->workload->shape,
        "%lld of %lld elements are wrong, first %s: %g instead "
        "of %g, bound %g%s",
        (long long)found->wrong, (long long)found->checked, place,
        found->first_got, found->first_want, found->first_bound, unwritten);
}

/* ---- fetching --------------------------------------------------------------
 */

static ws_status fetch_rows(ws__bench *bench, int64_t begin, int64_t end,
                            const void **out_buffers, ws_diag *diag) {
  for (int i = 0; i < bench->problem->arg_count; i++) {
    if (!is_output(bench, i))
      continue;
    size_t row = bench->bytes[i] / (size_t)slices_of(bench);
    char *landing = ws__inputs_landing(bench->inputs, bench->set, i);
    size_t at = (size_t)begin * row;
    WS_TRY(ws_device_download(bench->device, landing + at,
                              (const char *)bench->memory[i] + at,
                              (size_t)(end - begin) * row, diag));
    out_buffers[i] = landing;
  }
  return WS_OK;
}

ws_status ws__left_fetch(ws__bench *bench, ws__left *out_left, ws_diag *diag) {
  *out_left = (ws__left){.poison = bench->poison};
  for (int i = 0; i < bench->problem->arg_count; i++) {
    if (!is_output(bench, i))
      continue;
    out_left->outputs[i] = malloc(bench->bytes[i] + 1);
    WS_ASSERT(out_left->outputs[i] && "out of memory");
    WS_TRY(ws_device_download(bench->device, out_left->outputs[i],
                              bench->memory[i], bench->bytes[i], diag));
  }
  return WS_OK;
}

void ws__left_drop(ws__left *left) {
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    free(left->outputs[i]);
  *left = (ws__left){.poison = 0};
}

/* ---- against the reference -------------------------------------------------
 */

/* Whether there is something to compare with; that there is not is said. */
static bool can_compare(const ws__bench *bench, ws_measured *out) {
  if (bench->set->uncompared)
    out->uncompared_shapes = 1; /* of one workload */
  return !bench->set->uncompared;
}

ws_status ws__bench_compare(ws__bench *bench, int64_t begin, int64_t end,
                            ws_measured *out, ws_diag *diag) {
  const ws_shape *shape = &bench->workload->shape;
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  const double *value, *scale;
  ws_comparison sum = {0}, part;
  if (!can_compare(bench, out))
    return WS_OK;
  WS_TRY(fetch_rows(bench, begin, end, buffers, diag));
  for (int64_t at = begin; at < end; at += COMPARE_ROWS) {
    int64_t stop = at + COMPARE_ROWS < end ? at + COMPARE_ROWS : end;
    ws__inputs_reference(bench->inputs, bench->set, at, stop, &value, &scale);
    ws_problem_compare(bench->problem, shape, bench->workload->layout, buffers,
                       at, stop, value, scale, &part);
    add_comparison(&part, &sum);
  }
  add_result(bench, &sum, out);
  return WS_OK;
}

/* Of a problem of one output. */
static void compare_elements(ws__bench *bench, const void *const *buffers,
                             const void *const *results, ws_rng *rng, int count,
                             ws_comparison *sum) {
  const ws_shape *shape = &bench->workload->shape;
  int arg = bench->problem->outputs[0];
  int64_t each = ws_problem_slice_elements(bench->problem, arg, shape,
                                           bench->workload->layout);
  int64_t slices = slices_of(bench);
  ws_place *places =
      ws_arena_alloc(bench->arena, sizeof *places * (size_t)count);
  ws_comparison part;
  for (int i = 0; i < count; i++) {
    int64_t slice = (int64_t)ws_rng_below(rng, (uint64_t)slices);
    places[i] = (ws_place){arg, slice * each +
                                    (int64_t)ws_rng_below(rng, (uint64_t)each)};
  }
  ws_problem_compare_at(bench->problem, shape, bench->workload->layout, buffers,
                        results, places, count, &part);
  add_comparison(&part, sum);
}

/* All slices, or `most` of them, spread over them and begun at a random one. */
static void compare_projections(ws__bench *bench, const void *const *results,
                                ws_rng *rng, int64_t most, ws_comparison *sum) {
  const ws_shape *shape = &bench->workload->shape;
  int64_t slices = slices_of(bench), count = slices < most ? slices : most;
  int64_t first = (int64_t)ws_rng_below(rng, (uint64_t)slices);
  const ws__projection *all = ws__inputs_projection(bench->inputs, bench->set);
  int64_t *rows = ws_arena_alloc(bench->arena, sizeof *rows * (size_t)count);
  double *value = ws_arena_alloc(bench->arena, sizeof *value * (size_t)count);
  double *error = ws_arena_alloc(bench->arena, sizeof *error * (size_t)count);
  ws_comparison part;
  for (int64_t i = 0; i < count; i++) {
    rows[i] = (first + i * slices / count) % slices;
    value[i] = all->value[rows[i]];
    error[i] = all->error[rows[i]];
  }
  ws_problem_compare_projections(bench->problem, shape, bench->workload->layout,
                                 results, all->seed, rows, count, value, error,
                                 &part);
  add_comparison(&part, sum);
}

/* Whole slices: the first, the last, and others that the sample draws, of
 * SAMPLED_RESULTS elements together about. */
static void compare_slices(ws__bench *bench, const void *const *results,
                           ws_rng *rng, ws_comparison *sum) {
  enum { SAMPLED_RESULTS = 1 << 18, LEAST = 4 };
  const ws_shape *shape = &bench->workload->shape;
  int form = bench->workload->layout;
  int64_t slices = slices_of(bench);
  int64_t each = ws_problem_slice_elements(bench->problem, -1, shape, form);
  int64_t count = SAMPLED_RESULTS / (each > 0 ? each : 1);
  count = count < LEAST ? LEAST : count;
  count = count < slices ? count : slices;
  for (int64_t i = 0; i < count; i++) {
    int64_t slice = i == 0   ? 0
                    : i == 1 ? slices - 1
                             : (int64_t)ws_rng_below(rng, (uint64_t)slices);
    const double *value, *error;
    ws_comparison part;
    ws__inputs_reference(bench->inputs, bench->set, slice, slice + 1, &value,
                         &error);
    ws_problem_compare(bench->problem, shape, form, results, slice, slice + 1,
                       value, error, &part);
    add_comparison(&part, sum);
  }
}

ws_status ws__bench_sample(ws__bench *bench, const ws__sample *sample,
                           ws_measured *out, ws_diag *diag) {
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  const void *results[WS_PROBLEM_MAX_ARGS] = {0};
  ws_comparison found = {0};
  ws_rng rng;
  if (!can_compare(bench, out))
    return WS_OK;
  ws_rng_init(&rng, sample->seed);
  ws__inputs_collect(bench->inputs, bench->set, buffers);
  WS_TRY(fetch_rows(bench, 0, slices_of(bench), results, diag));
  if (ws_problem_has_elements(bench->problem))
    compare_elements(bench, buffers, results, &rng, sample->elements, &found);
  if (ws_problem_can_project(bench->problem))
    compare_projections(bench, results, &rng, sample->rows, &found);
  else
    compare_slices(bench, results, &rng, &found);
  add_result(bench, &found, out);
  return WS_OK;
}

/* ---- was all of it stored? -------------------------------------------------
 */

static void fail_unwritten(const ws__bench *bench, int arg, size_t count,
                           size_t first, ws_measured *out) {
  ws__measured_fail(
      out, bench->arena, WS_VERDICT_WRONG, &bench->workload->shape,
      "%zu of %zu bytes of '%s' were never written, the first "
      "at byte %zu",
      count, bench->bytes[arg], bench->problem->args[arg].name, first);
}

bool ws__bench_watch(ws__bench *bench) {
  bool watched = bench->problem != NULL;
  for (int i = 0; watched && i < bench->problem->arg_count; i++)
    if (is_all_stored(bench, i))
      watched = ws_device_watch(bench->device, bench->memory[i]);
  return watched;
}

void ws__bench_check_stored(ws__bench *bench, ws_measured *out) {
  for (int i = 0; i < bench->problem->arg_count; i++) {
    size_t first, count;
    if (!is_all_stored(bench, i))
      continue;
    count = ws_device_unstored(bench->device, bench->memory[i], bench->bytes[i],
                               &first);
    if (count)
      fail_unwritten(bench, i, count, first, out);
  }
}

/* A uniform sample of elements. */
typedef struct some_elements {
  int64_t seen;
  ws_place places[DIFFERENT];
} some_elements;

/* One output after two runs. */
typedef struct difference {
  size_t unwritten, first; /* bytes that hold their poison in both */
  some_elements poisoned;  /* that have such bytes */
  some_elements different; /* all that differ, these too */
} difference;

static void note_element(ws__bench *bench, ws_place element,
                         some_elements *some) {
  int64_t at = some->seen++;
  if (at >= DIFFERENT)
    at = (int64_t)ws__inputs_random(bench->inputs, (uint64_t)some->seen);
  if (at < DIFFERENT)
    some->places[at] = element;
}

static void compare_element(ws__bench *bench, const ws__left *before,
                            const uint8_t *then, const uint8_t *now,
                            size_t begin, size_t end, ws_place element,
                            difference *d) {
  size_t unwritten = d->unwritten;
  bool stored = is_all_stored(bench, element.arg);
  if (!memcmp(then + begin, now + begin, end - begin))
    return;
  for (size_t i = begin; i < end && stored; i++)
    if (then[i] == before->poison && now[i] == bench->poison && !d->unwritten++)
      d->first = i;
  note_element(bench, element, &d->different);
  if (d->unwritten > unwritten)
    note_element(bench, element, &d->poisoned);
}

static void compare_bytes(ws__bench *bench, const ws__left *before, int arg,
                          const uint8_t *now, difference *d) {
  const uint8_t *then = before->outputs[arg];
  size_t bytes = bench->bytes[arg], size = element_bytes(bench, arg);
  size_t block = BLOCK * size;
  for (size_t begin = 0; begin < bytes; begin += block) {
    size_t end = begin + block < bytes ? begin + block : bytes;
    if (!memcmp(then + begin, now + begin, end - begin))
      continue;
    for (size_t at = begin; at < end; at += size)
      compare_element(bench, before, then, now, at,
                      at + size < end ? at + size : end,
                      (ws_place){arg, (int64_t)(at / size)}, d);
  }
}

/* Some elements, in both. */
static void compare_some(ws__bench *bench, const ws__left *before, int arg,
                         const void *now, const some_elements *some,
                         ws_comparison *sum) {
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  const void *results[WS_PROBLEM_MAX_ARGS] = {0};
  const void *const outputs[] = {before->outputs[arg], now};
  int count = some->seen < DIFFERENT ? (int)some->seen : DIFFERENT;
  ws_comparison part;
  ws__inputs_collect(bench->inputs, bench->set, buffers);
  for (int i = 0; i < 2 && count; i++) {
    results[arg] = outputs[i];
    ws_problem_compare_at(bench->problem, &bench->workload->shape,
                          bench->workload->layout, buffers, results,
                          some->places, count, &part);
    add_comparison(&part, sum);
  }
}

/* Where nothing but unwritten bytes differs the kernel does the same each time,
 * and they are unwritten for certain. One that adds in any order may by chance
 * have stored what looks like both poisons: the reference decides then. */
static void judge_difference(ws__bench *bench, const ws__left *before, int arg,
                             const void *now, const difference *d,
                             ws_measured *out) {
  ws_comparison sum = {0};
  if (d->unwritten && d->poisoned.seen == d->different.seen) {
    fail_unwritten(bench, arg, d->unwritten, d->first, out);
    return;
  }
  if (!can_compare(bench, out))
    return;
  compare_some(bench, before, arg, now, &d->poisoned, &sum);
  compare_some(bench, before, arg, now, &d->different, &sum);
  add_result(bench, &sum, out);
  if (sum.wrong)
    out->reason = ws_arena_printf(
        bench->arena, "%s; launches on the same inputs differ in %lld elements",
        out->reason, (long long)d->different.seen);
}

ws_status ws__bench_check_written(ws__bench *bench, const ws__left *before,
                                  ws_measured *out, ws_diag *diag) {
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  WS_TRY(fetch_rows(bench, 0, slices_of(bench), buffers, diag));
  for (int i = 0; i < bench->problem->arg_count; i++) {
    difference d = {.unwritten = 0};
    if (!is_output(bench, i) || out->verdict != WS_VERDICT_OK)
      continue;
    compare_bytes(bench, before, i, buffers[i], &d);
    if (d.different.seen)
      judge_difference(bench, before, i, buffers[i], &d, out);
  }
  return WS_OK;
}
