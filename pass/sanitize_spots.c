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

static void note_element(const ws_buffer *output, int arg, int64_t element,
                         int64_t bytes, ws_rng *rng, written_elements *out) {
  int64_t stored = 0;
  const ws_place place = {arg, element};
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

static void find_written(const ws_problem *problem, const ws_buffer *output,
                         const ws_run *run, written_elements *out) {
  int arg = ws_problem_arg_index(problem, output->name);
  int64_t bytes = ws_type_bytes(problem->args[arg].type), block = 256;
  int64_t elements = output->size / bytes;
  ws_rng rng;
  ws_rng_init(&rng, ~run->seed);
  *out = (written_elements){.count = 0};
  for (int64_t i = 0; i < elements; i += block) {
    int64_t end = i + block < elements ? i + block : elements;
    if (is_untouched(output->shadow + i * bytes, (end - i) * bytes))
      continue;
    for (int64_t element = i; element < end; element++)
      note_element(output, arg, element, bytes, &rng, out);
  }
}

static bool wrote_enough(const ws_run *run, const ws_buffer *output,
                         const ws_spots *spots) {
  char shape[WS_SHAPE_TEXT];
  if (!is_too_little(spots, output))
    return true;
  ws__fault(WS_FAULT_UNWRITTEN_OUTPUT, NULL,
            "%s: none of %d workgroups writes more than "
            "%lld bytes of %s; all %lld of them cannot write its %lld",
            ws_shape_print_named(&run->shape, shape), spots->count,
            (long long)spots->most, output->name, (long long)spots->workgroups,
            (long long)output->size);
  return false;
}

/* What the messages below have in common: the shape and a place on it. */
typedef struct where {
  char shape[WS_SHAPE_TEXT];
  ws_arena *arena;
  const char *place;
} where;

static where where_of(const ws_problem *problem, int layout, const ws_run *run,
                      ws_place place) {
  where at = {.arena = ws_arena_create()};
  ws_shape_print_named(&run->shape, at.shape);
  at.place =
      ws_problem_place_text(at.arena, problem, &run->shape, layout, place);
  return at;
}

static bool wrote_whole(const ws_problem *problem, int layout,
                        const ws_run *run, const ws_buffer *output,
                        const written_elements *written) {
  if (!written->parts)
    return true;
  where at = where_of(problem, layout, run, written->first_part);
  ws__fault(WS_FAULT_UNWRITTEN_OUTPUT, NULL,
            "%s: of %lld of the elements of %s that %d workgroups wrote only "
            "some bytes were stored, the first at %s",
            at.shape, (long long)written->parts, output->name, (int)run->spots,
            at.place);
  ws_arena_destroy(at.arena);
  return false;
}

static bool places_right(const ws_problem *problem, int layout,
                         const ws_run *run, const void *const *data,
                         const ws_place *places, int count) {
  ws_comparison found;
  if (problem->kernel)
    return true; /* which would have to be run whole */
  ws_problem_compare_at(problem, &run->shape, layout, data, data, places, count,
                        &found);
  if (!found.wrong)
    return true;
  where at = where_of(problem, layout, run, found.first);
  ws__fault(WS_FAULT_WRONG_RESULT, NULL,
            "%s, %d workgroups of it: %lld of %lld elements are wrong, the "
            "first at %s: got %.9g, want %.9g, bound %.3g%s",
            at.shape, (int)run->spots, (long long)found.wrong,
            (long long)found.checked, at.place, found.first_got,
            found.first_want, found.first_bound, ws__what_ran(at.arena));
  ws_arena_destroy(at.arena);
  return false;
}

bool ws__spots_right(const ws_problem *problem, int layout, const ws_run *run,
                     const void *const *data, const ws_spots *spots) {
  written_elements written;
  const ws_buffer *output = find_output();
  if (!output || !spots->complete)
    return true;
  find_written(problem, output, run, &written);
  int count = written.count < COMPARED ? (int)written.count : COMPARED;
  return wrote_enough(run, output, spots) &&
         wrote_whole(problem, layout, run, output, &written) &&
         places_right(problem, layout, run, data, written.places, count);
}
