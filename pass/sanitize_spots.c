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

int ws__spots_draw(const ws_run *run, int64_t count, int64_t *out_numbers,
                   int room) {
  ws_rng rng;
  int wanted = run->spots < room ? run->spots : room;
  ws_rng_init(&rng, run->seed);
  if (count < wanted)
    wanted = (int)count;
  for (int i = 0; i < wanted; i++)
    out_numbers[i] = (int64_t)ws_rng_below(&rng, (uint64_t)count);
  return wanted;
}

static const ws_buffer *find_output(void) {
  const ws_memory *memory = &ws__sanitizer.memory;
  for (int i = 0; i < memory->buffer_count; i++)
    if (memory->buffers[i].role == WS_ARG_OUTPUT)
      return &memory->buffers[i];
  return NULL;
}

/* A uniform sample of the elements that were written, and their number. An
 * element counts when its first byte was. */
static int64_t sample_written(const ws_buffer *output, const ws_run *run,
                              ws_place places[COMPARED]) {
  int64_t bytes = output->size / (run->shape.m * run->shape.n), seen = 0;
  ws_rng rng;
  ws_rng_init(&rng, ~run->seed);
  for (int64_t i = 0; i < run->shape.m * run->shape.n; i++) {
    if ((uint32_t)output->shadow[i * bytes] < ws__sanitizer.memory.run_key)
      continue;
    int64_t at = seen < COMPARED
                     ? seen
                     : (int64_t)ws_rng_below(&rng, (uint64_t)seen + 1);
    if (at < COMPARED)
      places[at] = (ws_place){i / run->shape.n, i % run->shape.n};
    seen++;
  }
  return seen;
}

/* Ragged edges have less than their share, so a sixteenth is asked for. */
static bool wrote_enough(const ws_run *run, int64_t written, double share) {
  const ws_shape *shape = &run->shape;
  double expected = share * (double)shape->m * (double)shape->n;
  if ((double)written >= expected / 16)
    return true;
  ws__fault(WS_FAULT_UNWRITTEN_OUTPUT, NULL,
            "m=%lld n=%lld k=%lld: %d of the workgroups should write about "
            "%.0f elements and wrote %lld",
            (long long)shape->m, (long long)shape->n, (long long)shape->k,
            (int)run->spots, expected, (long long)written);
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
                     const void *const *data, double share, bool complete) {
  ws_place places[COMPARED];
  const ws_buffer *output = find_output();
  if (!output || !complete)
    return true;
  int64_t written = sample_written(output, run, places);
  int count = written < COMPARED ? (int)written : COMPARED;
  return wrote_enough(run, written, share) &&
         places_right(problem, layout, run, data, places, count);
}
