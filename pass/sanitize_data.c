/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inputs and fp64 reference of a run, made once per (problem, layout, shape,
 * seed) and kept: the compile server makes them before it forks. Inputs are
 * mapped read-only, so all candidates can share them.
 */
#include "sanitize_internal.h"
#include "sanitize_reference.h"

#include <stdlib.h>

/* Kept across calls on purpose: this is the cache that children inherit. */
static ws_prepared prepared[WS_SANITIZE_PREPARED_MAX];
static int prepared_next;

static bool matches(const ws_prepared *have, const ws_problem *problem,
                    int layout, const ws_shape *shape, uint64_t seed) {
  return have->problem == problem && have->layout == layout &&
         ws_shape_same(&have->shape, shape) && have->seed == seed;
}

void ws__prepared_discard(ws_prepared *old) {
  for (int i = 0; old->problem && i < old->problem->arg_count; i++)
    if (old->inputs[i])
      ws__memory_free(
          old->inputs[i],
          ws_problem_arg_bytes(old->problem, i, &old->shape, old->layout));
  free(old->value);
  free(old->scale);
  *old = (ws_prepared){0};
}

/* Larger inputs repeat a piece. */
static const int64_t most_generated = 64 << 20;

static void fill_inputs(ws_prepared *out) {
  const ws_problem *problem = out->problem;
  for (int i = 0; i < problem->arg_count; i++) {
    if (!ws_arg_is_content(ws_problem_arg_role(problem, i, out->layout)))
      continue;
    int64_t bytes = ws_problem_arg_bytes(problem, i, &out->shape, out->layout);
    if (bytes > most_generated) {
      out->inputs[i] =
          ws__memory_repeat(problem, i, out->layout, out->seed, bytes);
      continue;
    }
    out->inputs[i] = ws__memory_allocate(bytes, problem->alignment);
    ws_problem_generate(problem, i, &out->shape, out->layout, out->seed,
                        out->inputs[i]);
    ws__memory_protect(out->inputs[i], bytes);
  }
}

static void ask_reference(ws_prepared *out, void *const *buffers) {
  const ws_problem *problem = out->problem;
  size_t elements =
      (size_t)ws_problem_result_elements(problem, &out->shape, out->layout);
  out->value = malloc(elements * sizeof(double));
  out->scale = malloc(elements * sizeof(double));
  WS_ASSERT(out->value && out->scale);
  ws_problem_reference(
      problem, &out->shape, out->layout, (const void *const *)buffers, 0,
      ws_problem_slices(problem, &out->shape), out->value, out->scale);
}

static void ask_kernel(ws_prepared *out) {
  const ws_problem *problem = out->problem;
  void *results[WS_PROBLEM_MAX_ARGS] = {NULL};
  for (int i = 0; i < problem->arg_count; i++)
    if (ws_arg_is_result(problem->args[i].role))
      results[i] = malloc(
          (size_t)ws_problem_arg_bytes(problem, i, &out->shape, out->layout) +
          1);
  if (ws__reference_results(problem, out->layout, &out->shape, out->seed,
                            results))
    ask_reference(out, results);
  for (int i = 0; i < problem->arg_count; i++)
    free(results[i]);
}

static void fill(ws_prepared *out) {
  fill_inputs(out);
  if (out->problem->kernel)
    ask_kernel(out);
  else if (ws_problem_is_comparable(out->problem))
    ask_reference(out, out->inputs);
}

const ws_prepared *ws__prepared_get(const ws_problem *problem, int layout,
                                    const ws_shape *shape, uint64_t seed) {
  for (int i = 0; i < WS_SANITIZE_PREPARED_MAX; i++)
    if (matches(&prepared[i], problem, layout, shape, seed))
      return &prepared[i];
  ws_prepared *slot = &prepared[prepared_next];
  prepared_next = (prepared_next + 1) % WS_SANITIZE_PREPARED_MAX;
  ws__prepared_discard(slot);
  *slot = (ws_prepared){
      .problem = problem, .layout = layout, .shape = *shape, .seed = seed};
  fill(slot);
  return slot;
}

ws_prepared ws__prepared_inputs(const ws_problem *problem, int layout,
                                const ws_shape *shape, uint64_t seed) {
  ws_prepared out = {
      .problem = problem, .layout = layout, .shape = *shape, .seed = seed};
  fill_inputs(&out);
  return out;
}

void ws_sanitize_prepare(const ws_problem *problem, int layout,
                         const ws_shape *shape, uint64_t seed) {
  if (ws_problem_is_legal(problem, shape))
    ws__prepared_get(problem, layout, shape, seed);
}
