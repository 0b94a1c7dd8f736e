/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs of a few workgroups on a shape that is too large to run as a whole. A
 * kernel that is right on what a test can afford and does less on the shapes
 * that count is seen here: which workgroups run, and which of their elements
 * are compared, follows from the run's seed.
 */
#include "sanitize_internal.h"

#include <string.h>

enum { COMPARED = 128 };

static bool is_among(const int64_t *numbers, int count, int64_t number) {
  for (int i = 0; i < count; i++)
    if (numbers[i] == number)
      return true;
  return false;
}

void ws__spots_begin(const ws_run *run, int64_t workgroups, bool complete,
                     ws_spots *out) {
  ws_rng rng;
  int64_t wanted = run->spots + WS_MORE_SPOTS;
  *out = (ws_spots){.workgroups = workgroups, .complete = complete};
  wanted = wanted < WS_MOST_SPOTS ? wanted : WS_MOST_SPOTS;
  out->count = (int)(workgroups < wanted ? workgroups : wanted);
  out->wanted = out->count < run->spots ? out->count : run->spots;
  ws_rng_init(&rng, run->seed);
  if (out->count) /* where offsets are largest */
    out->numbers[0] = workgroups - 1;
  for (int i = 1; i < out->count; i++)
    do
      out->numbers[i] = (int64_t)ws_rng_below(&rng, (uint64_t)workgroups);
    while (is_among(out->numbers, i, out->numbers[i]));
}

static const ws_buffer *find_output(void) {
  const ws_memory *memory = &ws__sanitizer.memory;
  for (int i = 0; i < memory->buffer_count; i++)
    if (memory->buffers[i].role == WS_ARG_OUTPUT)
      return &memory->buffers[i];
  return NULL;
}

static bool is_written(const ws_buffer *output, int64_t byte) {
  return (uint32_t)output->shadow[byte] >= ws__sanitizer.memory.run_key;
}

/* Nothing was ever noted of these bytes: most of a large output. */
static bool is_untouched(const ws_cell *cells, int64_t count) {
  ws_cell any = 0;
  for (int64_t i = 0; i < count; i++)
    any |= cells[i];
  return !any;
}

static int64_t count_written(const ws_buffer *output) {
  enum { BLOCK = 512 };
  int64_t sum = 0;
  for (int64_t i = 0; i < output->size; i += BLOCK) {
    int64_t end = i + BLOCK < output->size ? i + BLOCK : output->size;
    if (is_untouched(output->shadow + i, end - i))
      continue;
    for (int64_t byte = i; byte < end; byte++)
      sum += is_written(output, byte);
  }
  return sum;
}

void ws__spots_note(ws_spots *spots) {
  const ws_buffer *output = find_output();
  if (!output || !spots->complete)
    return;
  int64_t written = count_written(output), own = written - spots->written;
  spots->written = written;
  spots->most = own > spots->most ? own : spots->most;
}

/* All workgroups together write the output only if some write their share of
 * it. Those of ragged edges do not, which is why more than one is asked. */
static bool is_too_little(const ws_spots *spots, const ws_buffer *output) {
  return output && spots->complete &&
         (double)spots->most * (double)spots->workgroups < (double)output->size;
}

bool ws__spots_go_on(const ws_spots *spots, int next) {
  return next < spots->wanted ||
         (next < spots->count && is_too_little(spots, find_output()));
}

/* ---- what they wrote ------------------------------------------------- */

typedef struct written_elements {
  ws_place places[COMPARED]; /* a uniform sample of them */
  int64_t count;
  int64_t parts; /* of which some bytes were not stored */
  ws_place first_part;
} written_elements;

static void note_element(const ws_buffer *output, const ws_run *run,
                         int64_t element, int64_t bytes, ws_rng *rng,
                         written_elements *out) {
  int64_t stored = 0;
  const ws_place place = {element / run->shape.n, element % run->shape.n};
  for (int64_t b = 0; b < bytes; b++)
    stored += is_written(output, element * bytes + b);
  if (!stored)
    return;
  if (stored < bytes && !out->parts++)
    out->first_part = place;
  int64_t at = out->count < COMPARED
                   ? out->count
                   : (int64_t)ws_rng_below(rng, (uint64_t)out->count + 1);
  if (at < COMPARED)
    out->places[at] = place;
  out->count++;
}

static void find_written(const ws_buffer *output, const ws_run *run,
                         written_elements *out) {
  int64_t elements = run->shape.m * run->shape.n;
  int64_t bytes = output->size / elements, block = 256;
  ws_rng rng;
  ws_rng_init(&rng, ~run->seed);
  *out = (written_elements){.count = 0};
  for (int64_t i = 0; i < elements; i += block) {
    int64_t end = i + block < elements ? i + block : elements;
    if (is_untouched(output->shadow + i * bytes, (end - i) * bytes))
      continue;
    for (int64_t element = i; element < end; element++)
      note_element(output, run, element, bytes, &rng, out);
  }
}

static bool wrote_enough(const ws_run *run, const ws_buffer *output,
                         const ws_spots *spots) {
  const ws_shape *shape = &run->shape;
  if (!is_too_little(spots, output))
    return true;
  ws__fault(WS_FAULT_UNWRITTEN_OUTPUT, NULL,
            "m=%lld n=%lld k=%lld: none of %d workgroups writes more than "
            "%lld bytes of %s; all %lld of them cannot write its %lld",
            (long long)shape->m, (long long)shape->n, (long long)shape->k,
            spots->count, (long long)spots->most, output->name,
            (long long)spots->workgroups, (long long)output->size);
  return false;
}

static bool wrote_whole(const ws_run *run, const ws_buffer *output,
                        const written_elements *written) {
  const ws_shape *shape = &run->shape;
  if (!written->parts)
    return true;
  ws__fault(WS_FAULT_UNWRITTEN_OUTPUT, NULL,
            "m=%lld n=%lld k=%lld: of %lld of the elements of %s that %d "
            "workgroups wrote only some bytes were stored, the first at row "
            "%lld column %lld",
            (long long)shape->m, (long long)shape->n, (long long)shape->k,
            (long long)written->parts, output->name, (int)run->spots,
            (long long)written->first_part.m, (long long)written->first_part.n);
  return false;
}

static bool places_right(const ws_problem *problem, int layout,
                         const ws_run *run, const void *const *data,
                         const ws_place *places, int count) {
  ws_comparison found;
  const ws_shape *shape = &run->shape;
  problem->compare_at(shape, layout, data, places, count, &found);
  if (!found.wrong)
    return true;
  ws__fault(WS_FAULT_WRONG_RESULT, NULL,
            "m=%lld n=%lld k=%lld, %d workgroups of it: %lld of %lld elements "
            "are wrong, the first at row %lld column %lld: got %.9g, want "
            "%.9g, bound %.3g",
            (long long)shape->m, (long long)shape->n, (long long)shape->k,
            (int)run->spots, (long long)found.wrong, (long long)found.checked,
            (long long)found.first_m, (long long)found.first_n, found.first_got,
            found.first_want, found.first_bound);
  return false;
}

bool ws__spots_right(const ws_problem *problem, int layout, const ws_run *run,
                     const void *const *data, const ws_spots *spots) {
  written_elements written;
  const ws_buffer *output = find_output();
  if (!output || !spots->complete)
    return true;
  find_written(output, run, &written);
  int count = written.count < COMPARED ? (int)written.count : COMPARED;
  return wrote_enough(run, output, spots) &&
         wrote_whole(run, output, &written) &&
         places_right(problem, layout, run, data, written.places, count);
}
