/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inputs and fp64 reference of a run, made once per (problem, layout, shape,
 * seed) and kept: the compile server makes them before it forks. Inputs are
 * mapped read-only, so all candidates can share them.
 */
#include "sanitize_internal.h"

#include <stdlib.h>

/* Kept across calls on purpose: this is the cache that children inherit. */
static ws_prepared prepared[WS_SANITIZE_PREPARED_MAX];
static int prepared_next;

static bool matches(const ws_prepared *have, const ws_problem *problem,
                    int layout, const ws_shape *shape, uint64_t seed) {
  return have->problem == problem && have->layout == layout &&
         have->shape.m == shape->m && have->shape.n == shape->n &&
         have->shape.k == shape->k && have->seed == seed;
}

void ws__prepared_discard(ws_prepared *old) {
  for (int i = 0; old->problem && i < old->problem->arg_count; i++)
    if (old->inputs[i])
      ws__memory_free(old->inputs[i],
                      old->problem->arg_bytes(i, &old->shape, old->layout));
  free(old->value);
  free(old->scale);
  *old = (ws_prepared){0};
}

/* Larger inputs repeat a piece. */
static const int64_t most_generated = 64 << 20;

static void fill_inputs(ws_prepared *out) {
  const ws_problem *problem = out->problem;
  for (int i = 0; i < problem->arg_count; i++) {
    if (problem->args[i].role != WS_ARG_INPUT)
      continue;
    int64_t bytes = problem->arg_bytes(i, &out->shape, out->layout);
    if (bytes > most_generated) {
      out->inputs[i] =
          ws__memory_repeat(problem, i, out->layout, out->seed, bytes);
      continue;
    }
    out->inputs[i] = ws__memory_allocate(bytes, problem->alignment);
    problem->generate(i, &out->shape, out->layout, out->seed, out->inputs[i]);
    ws__memory_protect(out->inputs[i], bytes);
  }
}

static void fill(ws_prepared *out) {
  const ws_problem *problem = out->problem;
  fill_inputs(out);
  size_t elements = (size_t)(out->shape.m * out->shape.n);
  out->value = malloc(elements * sizeof(double));
  out->scale = malloc(elements * sizeof(double));
  WS_ASSERT(out->value && out->scale);
  problem->reference(&out->shape, out->layout, (const void *const *)out->inputs,
                     0, out->shape.m, out->value, out->scale);
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
  ws_diag diag;
  if (problem->check_shape(shape, &diag) == WS_OK)
    ws__prepared_get(problem, layout, shape, seed);
}
