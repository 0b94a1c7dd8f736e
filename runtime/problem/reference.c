/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What results should be: slices of outputs, the reference of some of them, and
 * projections of slices on random signs.
 */
#include "parts.h"
#include "trap.h"

#include <stdlib.h>

/* ---- slices ---- */

int64_t ws_problem_slices(const ws_problem *problem, const ws_shape *shape) {
  ws__sizes sizes;
  const ws__argument *first = &problem->parts->args[problem->outputs[0]];
  if (!problem->parts->shares_extent)
    return 1;
  ws__sizes_of(problem, shape, 0, &sizes);
  int64_t count = ws__size_value(first->extents[0], &sizes);
  return count > 0 ? count : 1;
}

int64_t ws_problem_slice_elements(const ws_problem *problem, int output,
                                  const ws_shape *shape, int form) {
  int64_t sum = 0;
  if (output >= 0)
    return ws__arg_elements(problem, output, shape, form) /
           ws_problem_slices(problem, shape);
  for (int i = 0; i < problem->output_count; i++)
    sum += ws_problem_slice_elements(problem, problem->outputs[i], shape, form);
  return sum;
}

int64_t ws_problem_result_elements(const ws_problem *problem,
                                   const ws_shape *shape, int form) {
  return ws_problem_slices(problem, shape) *
         ws_problem_slice_elements(problem, -1, shape, form);
}

const char *ws_problem_place_text(ws_arena *arena, const ws_problem *problem,
                                  const ws_shape *shape, int form,
                                  ws_place place) {
  const ws__argument *arg = &problem->parts->args[place.arg];
  int64_t index[WS_PROBLEM_MAX_EXTENTS] = {0}, left = place.element;
  ws__sizes sizes;
  ws_strbuf text;
  ws__sizes_of(problem, shape, form, &sizes);
  for (int i = arg->extent_count - 1; i >= 0; i--) {
    int64_t extent = ws__size_value(arg->extents[i], &sizes);
    index[i] = extent > 0 ? left % extent : 0;
    left = extent > 0 ? left / extent : 0;
  }
  ws_strbuf_init(&text);
  if (problem->output_count > 1)
    ws_strbuf_puts(&text, problem->args[place.arg].name);
  for (int i = 0; i < arg->extent_count; i++)
    ws_strbuf_printf(&text, "[%lld]", (long long)index[i]);
  const char *out = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

/* ---- the reference ---- */

/* What a sum of so many terms may be off by, as a share of the sum of their
 * magnitudes: 1/8 of a rounding a term, where a chain of additions loses at
 * worst half of one and, as their signs are random, about 1/2 sqrt(1/terms) of
 * one; 32 for what is done with the sum. kernels/fp8_gemm_blockscale/README.md
 * derives the same of the matrix instructions. */
static double unit_of(const ws_problem *problem, const ws_shape *shape) {
  ws__sizes sizes;
  ws__sizes_of(problem, shape, 0, &sizes);
  double terms = (double)ws__size_value(problem->parts->terms, &sizes);
  return (fmax(terms, 0) / 8 + 32) * problem->parts->arithmetic;
}

/* Where the results of each output lie among those of all. */
static void call_reference(const ws_problem *problem, const ws_shape *shape,
                           int form, const void *const *buffers, int64_t begin,
                           int64_t end, double *out_value, double *out_error) {
  ws_type types[WS_PROBLEM_MAX_ARGS] = {WS_F64};
  double *values[WS_PROBLEM_MAX_ARGS] = {NULL},
         *errors[WS_PROBLEM_MAX_ARGS] = {NULL};
  const void *args[WS_PROBLEM_MAX_ARGS] = {NULL};
  int64_t first[WS_PROBLEM_MAX_ARGS] = {0}, count[WS_PROBLEM_MAX_ARGS] = {0};
  int64_t scalars[WS_PROBLEM_MAX_ARGS] = {0}, at = 0;
  for (int i = 0; i < problem->arg_count; i++) {
    types[i] = ws_problem_arg_type(problem, i, form);
    scalars[i] = ws_problem_arg_scalar(problem, i, shape, form);
    args[i] = problem->args[i].role == WS_ARG_SCALAR ? (const void *)&scalars[i]
                                                     : buffers[i];
  }
  for (int o = 0; o < problem->output_count; o++) {
    int arg = problem->outputs[o];
    int64_t each = ws_problem_slice_elements(problem, arg, shape, form);
    values[arg] = out_value + at;
    errors[arg] = out_error + at;
    first[arg] = begin * each;
    count[arg] = (end - begin) * each;
    at += count[arg];
  }
  for (int64_t i = 0; i < at; i++)
    out_value[i] = NAN, out_error[i] = 0;
  const ws_reference_call call = {.dims = shape->size,
                                  .layout = form % problem->layout_count,
                                  .args = args,
                                  .types = types,
                                  .begin = begin,
                                  .end = end,
                                  .values = values,
                                  .errors = errors,
                                  .first = first,
                                  .count = count,
                                  .unit = unit_of(problem, shape)};
  ws__trap_enter(problem, shape, "the reference");
  problem->given->reference(&call);
  ws__trap_leave();
}

/* ---- a kernel as the reference ---- */

bool ws_problem_is_comparable(const ws_problem *problem) {
  return problem->given->reference || problem->given->slices || problem->kernel;
}

void ws_problem_compare_with(const ws_problem *problem,
                             const ws_reference_kernel *kernel) {
  WS_ASSERT(!problem->given->reference && !problem->given->slices);
  ((ws_problem *)problem)->kernel = kernel; /* ours: ws_problem_open made it */
}

const char *ws_problem_tolerance_text(ws_arena *arena,
                                      const ws_problem *problem) {
  const ws_reference_kernel *kernel = problem->kernel;
  if (kernel && kernel->relative >= 0)
    return ws_arena_printf(arena, "%g |want| + %g", kernel->relative,
                           kernel->absolute);
  const char *terms = problem->given->terms ? problem->given->terms : "1";
  double unit = problem->parts->arithmetic;
  if (ldexp(1, ilogb(unit)) == unit)
    return ws_arena_printf(arena, "2 (%s / 8 + 32) 2^%d |want|", terms,
                           ilogb(unit));
  return ws_arena_printf(arena, "2 (%s / 8 + 32) %g |want|", terms, unit);
}

/* Its results were rounded, and what it computed is no more exact than what is
 * compared with it: the allowance of both is twice that of one. An integer has
 * none unless it is stated. */
static double error_beside_kernel(const ws_reference_kernel *kernel,
                                  ws_type type, double unit, double want) {
  double error = ws__type_is_float(type) ? 2 * unit * fabs(want) : 0;
  if (kernel->relative >= 0)
    error = kernel->relative * fabs(want) + kernel->absolute;
  if (!isfinite(want))
    return WS__SAME;
  return ws__type_is_float(type) ? ws__type_rounding(type, want) + error
                                 : error;
}

static void read_kernel_results(const ws_problem *problem,
                                const ws_shape *shape, int form,
                                const void *const *buffers, int64_t begin,
                                int64_t end, double *out_value,
                                double *out_error) {
  double unit = unit_of(problem, shape);
  for (int o = 0; o < problem->output_count; o++) {
    int arg = problem->outputs[o];
    ws_type type = ws_problem_arg_type(problem, arg, form);
    int64_t each = ws_problem_slice_elements(problem, arg, shape, form);
    for (int64_t i = begin * each; i < end * each; i++) {
      *out_value = ws_load(type, buffers[arg], i);
      *out_error++ =
          error_beside_kernel(problem->kernel, type, unit, *out_value);
      out_value++;
    }
  }
}

void ws_problem_reference(const ws_problem *problem, const ws_shape *shape,
                          int form, const void *const *buffers, int64_t begin,
                          int64_t end, double *out_value, double *out_error) {
  WS_ASSERT(ws_problem_is_comparable(problem));
  if (problem->kernel) {
    read_kernel_results(problem, shape, form, buffers, begin, end, out_value,
                        out_error);
  } else if (problem->given->slices) {
    ws__trap_enter(problem, shape, "the reference");
    problem->given->slices(shape->size, form, buffers, begin, end, out_value,
                           out_error);
    ws__trap_leave();
  } else {
    call_reference(problem, shape, form, buffers, begin, end, out_value,
                   out_error);
  }
}

/* ---- projections ---- */

/* Of the elements of a slice, owned by the caller. */
double *ws__problem_signs(int64_t count, uint64_t seed) {
  double *signs = malloc((size_t)count * sizeof *signs);
  ws_rng rng;
  WS_ASSERT(signs && "out of memory");
  ws_rng_init(&rng, seed);
  for (int64_t i = 0; i < count; i++)
    signs[i] = ws_rng_next(&rng) >> 63 ? 1 : -1;
  return signs;
}

bool ws_problem_can_project(const ws_problem *problem) {
  return problem->given->project && !problem->kernel &&
         problem->output_count == 1;
}

void ws_problem_project(const ws_problem *problem, const ws_shape *shape,
                        int form, const void *const *buffers, uint64_t seed,
                        const int64_t *slices, int64_t count, double *out_value,
                        double *out_error) {
  double *signs = ws__problem_signs(
      ws_problem_slice_elements(problem, -1, shape, form), seed);
  ws__trap_enter(problem, shape, ".project");
  problem->given->project(shape->size, form, buffers, signs, slices, count,
                          out_value, out_error);
  ws__trap_leave();
  free(signs);
}
