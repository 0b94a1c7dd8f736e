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
  return bench->problem->args[arg].role == WS_ARG_OUTPUT;
}

/* ---- what was found --------------------------------------------------------
 */

static void add_comparison(const ws_comparison *part, ws_comparison *sum) {
  if (!sum->wrong && part->wrong) {
    sum->first_m = part->first_m;
    sum->first_n = part->first_n;
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
  size_t elements =
      (size_t)(bench->workload->shape.m * bench->workload->shape.n);
  size_t at =
      (size_t)(found->first_m * bench->workload->shape.n + found->first_n);
  bool same = found->wrong && found->first_n != WS_WHOLE_ROW;
  for (int i = 0; same && i < bench->problem->arg_count; i++) {
    size_t size = bench->bytes[i] / elements;
    if (!is_output(bench, i))
      continue;
    const uint8_t *element =
        (uint8_t *)ws__inputs_landing(bench->inputs, bench->set, i) + at * size;
    for (size_t b = 0; b < size; b++)
      same &= element[b] == bench->poison;
  }
  return same;
}

static void add_result(ws__bench *bench, const ws_comparison *found,
                       ws_measured *out) {
  const char *unwritten =
      is_poison(bench, found) ? " (it may never have been written)" : "";
  const char *place =
      found->first_n == WS_WHOLE_ROW
          ? ws_arena_printf(bench->arena, "row %lld times random signs",
                            (long long)found->first_m)
          : ws_arena_printf(bench->arena, "[%lld][%lld]",
                            (long long)found->first_m,
                            (long long)found->first_n);
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
    size_t row = bench->bytes[i] / (size_t)bench->workload->shape.m;
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

ws_status ws__bench_compare(ws__bench *bench, int64_t begin, int64_t end,
                            ws_measured *out, ws_diag *diag) {
  const ws_shape *shape = &bench->workload->shape;
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  const double *value, *scale;
  ws_comparison sum = {0}, part;
  WS_TRY(fetch_rows(bench, begin, end, buffers, diag));
  for (int64_t m = begin; m < end; m += COMPARE_ROWS) {
    int64_t stop = m + COMPARE_ROWS < end ? m + COMPARE_ROWS : end;
    ws__inputs_reference(bench->inputs, bench->set, m, stop, &value, &scale);
    bench->problem->compare(shape, buffers, m, stop, value, scale, &part);
    add_comparison(&part, &sum);
  }
  add_result(bench, &sum, out);
  return WS_OK;
}

static void compare_elements(ws__bench *bench, const void *const *buffers,
                             ws_rng *rng, int count, ws_comparison *sum) {
  const ws_shape *shape = &bench->workload->shape;
  ws_place *places =
      ws_arena_alloc(bench->arena, sizeof *places * (size_t)count);
  ws_comparison part;
  for (int i = 0; i < count; i++)
    places[i] = (ws_place){(int64_t)ws_rng_below(rng, (uint64_t)shape->m),
                           (int64_t)ws_rng_below(rng, (uint64_t)shape->n)};
  bench->problem->compare_at(shape, bench->workload->layout, buffers, places,
                             count, &part);
  add_comparison(&part, sum);
}

/* All rows, or `most` of them, spread over them and begun at a random one. */
static void compare_rows(ws__bench *bench, const void *const *buffers,
                         ws_rng *rng, int64_t most, ws_comparison *sum) {
  const ws_shape *shape = &bench->workload->shape;
  int64_t count = shape->m < most ? shape->m : most;
  int64_t first = (int64_t)ws_rng_below(rng, (uint64_t)shape->m);
  const ws__projection *all = ws__inputs_projection(bench->inputs, bench->set);
  int64_t *rows = ws_arena_alloc(bench->arena, sizeof *rows * (size_t)count);
  double *value = ws_arena_alloc(bench->arena, sizeof *value * (size_t)count);
  double *error = ws_arena_alloc(bench->arena, sizeof *error * (size_t)count);
  ws_comparison part;
  for (int64_t i = 0; i < count; i++) {
    rows[i] = (first + i * shape->m / count) % shape->m;
    value[i] = all->value[rows[i]];
    error[i] = all->error[rows[i]];
  }
  bench->problem->compare_projections(shape, buffers, all->seed, rows, count,
                                      value, error, &part);
  add_comparison(&part, sum);
}

ws_status ws__bench_sample(ws__bench *bench, const ws__sample *sample,
                           ws_measured *out, ws_diag *diag) {
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  ws_comparison found = {0};
  ws_rng rng;
  ws_rng_init(&rng, sample->seed);
  ws__inputs_collect(bench->inputs, bench->set, buffers);
  WS_TRY(fetch_rows(bench, 0, bench->workload->shape.m, buffers, diag));
  compare_elements(bench, buffers, &rng, sample->elements, &found);
  compare_rows(bench, buffers, &rng, sample->rows, &found);
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
    if (is_output(bench, i))
      watched = ws_device_watch(bench->device, bench->memory[i]);
  return watched;
}

void ws__bench_check_stored(ws__bench *bench, ws_measured *out) {
  for (int i = 0; i < bench->problem->arg_count; i++) {
    size_t first, count;
    if (!is_output(bench, i))
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

static void note_element(ws__bench *bench, int64_t element,
                         some_elements *some) {
  int64_t n = bench->workload->shape.n, at = some->seen++;
  if (at >= DIFFERENT)
    at = (int64_t)ws__inputs_random(bench->inputs, (uint64_t)some->seen);
  if (at < DIFFERENT)
    some->places[at] = (ws_place){element / n, element % n};
}

static void compare_element(ws__bench *bench, const ws__left *before,
                            const uint8_t *then, const uint8_t *now,
                            size_t begin, size_t end, int64_t element,
                            difference *d) {
  size_t unwritten = d->unwritten;
  if (!memcmp(then + begin, now + begin, end - begin))
    return;
  for (size_t i = begin; i < end; i++)
    if (then[i] == before->poison && now[i] == bench->poison && !d->unwritten++)
      d->first = i;
  note_element(bench, element, &d->different);
  if (d->unwritten > unwritten)
    note_element(bench, element, &d->poisoned);
}

static void compare_bytes(ws__bench *bench, const ws__left *before, int arg,
                          const uint8_t *now, difference *d) {
  const uint8_t *then = before->outputs[arg];
  const ws_shape *shape = &bench->workload->shape;
  size_t bytes = bench->bytes[arg];
  size_t elements = (size_t)(shape->m * shape->n);
  size_t size = bytes > elements ? bytes / elements : 1;
  size_t block = BLOCK * size;
  for (size_t begin = 0; begin < bytes; begin += block) {
    size_t end = begin + block < bytes ? begin + block : bytes;
    if (!memcmp(then + begin, now + begin, end - begin))
      continue;
    for (size_t at = begin; at < end; at += size)
      compare_element(bench, before, then, now, at,
                      at + size < end ? at + size : end, (int64_t)(at / size),
                      d);
  }
}

/* Some elements, in both. */
static void compare_some(ws__bench *bench, const ws__left *before, int arg,
                         const void *now, const some_elements *some,
                         ws_comparison *sum) {
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {0};
  const void *const outputs[] = {before->outputs[arg], now};
  int count = some->seen < DIFFERENT ? (int)some->seen : DIFFERENT;
  ws_comparison part;
  ws__inputs_collect(bench->inputs, bench->set, buffers);
  for (int i = 0; i < 2 && count; i++) {
    buffers[arg] = outputs[i];
    bench->problem->compare_at(&bench->workload->shape, bench->workload->layout,
                               buffers, some->places, count, &part);
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
  WS_TRY(fetch_rows(bench, 0, bench->workload->shape.m, buffers, diag));
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
