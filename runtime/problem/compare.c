/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Results against the reference, by the bound that define_problem.h states.
 */
#include "parts.h"
#include "trap.h"

#include <stdlib.h>

typedef struct compared {
  ws_place place;
  int64_t slice;
  double got, want, bound;
} compared;

static void add(const compared *one, ws_comparison *out) {
  const double known = fabs(one->got - one->want) / one->bound; /* or NaN */
  const double ratio = isfinite(one->got) && !isnan(known) ? known : INFINITY;
  out->checked++;
  if (ratio > out->worst_ratio)
    out->worst_ratio = ratio;
  if (ratio <= 1)
    return;
  if (!out->wrong++) {
    out->first = one->place;
    out->first_slice = one->slice;
    out->first_got = one->got;
    out->first_want = one->want;
    out->first_bound = one->bound;
  }
}

/* 8-bit floats are so coarse that |want| 2^-(fraction bits + 1), up to twice
 * half a unit, would let pass what was cut off or rounded twice. Arithmetic may
 * have left want's binade. */
static double rounding_of(ws_type type, double want, double error) {
  return ws_type_bytes(type) == 1 && ws__type_is_float(type)
             ? ws__type_half_unit(type, fabs(want) + error)
             : ws__type_rounding(type, want);
}

static void add_element(ws_type type, const void *results, ws_place place,
                        double want, double error, ws_comparison *out) {
  compared one = {.place = place,
                  .got = ws_load(type, results, place.element),
                  .want = want,
                  .bound = rounding_of(type, want, error) + error};
  const double largest = ws__type_largest(type), lowest = ws__type_lowest(type);
  if (error == WS__SAME || isinf(want)) { /* no bound is of infinity */
    bool same = isnan(want) ? isnan(one.got)
                            : one.got == want ||
                                  one.got == (want < 0 ? lowest : largest);
    one.bound = 0;
    if (same)
      one.got = one.want = 0, one.bound = 1;
    add(&one, out);
    return;
  }
  /* beyond the type's range both its end and infinity are right; a signed
   * integer's lower end is no negated upper one */
  if (want > largest || want < lowest) {
    one.want = want < lowest ? lowest : largest;
    one.bound = rounding_of(type, one.want, error) + error;
    if (isinf(one.got) && !signbit(one.got) == !signbit(want))
      one.got = one.want;
  }
  add(&one, out);
}

void ws_problem_compare(const ws_problem *problem, const ws_shape *shape,
                        int form, const void *const *buffers, int64_t begin,
                        int64_t end, const double *value, const double *error,
                        ws_comparison *out) {
  int64_t at = 0;
  memset(out, 0, sizeof *out);
  for (int o = 0; o < problem->output_count; o++) {
    int arg = problem->outputs[o];
    ws_type type = ws_problem_arg_type(problem, arg, form);
    int64_t each = ws_problem_slice_elements(problem, arg, shape, form);
    for (int64_t i = begin * each; i < end * each; i++, at++)
      add_element(type, buffers[arg], (ws_place){arg, i}, value[at], error[at],
                  out);
  }
}

/* ---- single elements ---- */

bool ws_problem_has_elements(const ws_problem *problem) {
  return problem->given->elements && !problem->kernel &&
         problem->output_count == 1;
}

static void
compare_by_elements(const ws_problem *problem, const ws_shape *shape, int form,
                    const void *const *buffers, const void *const *results,
                    const ws_place *places, int count, ws_comparison *out) {
  int arg = problem->outputs[0];
  ws_type type = ws_problem_arg_type(problem, arg, form);
  double *value = malloc(2 * sizeof *value * (size_t)(count + 1));
  int64_t *indices = malloc(sizeof *indices * (size_t)(count + 1));
  WS_ASSERT(value && indices && "out of memory");
  for (int i = 0; i < count; i++)
    indices[i] = places[i].element;
  ws__trap_enter(problem, shape, "the reference");
  problem->given->elements(shape->size, form, buffers, indices, count, value,
                           value + count);
  ws__trap_leave();
  for (int i = 0; i < count; i++)
    add_element(type, results[arg], places[i], value[i], value[count + i], out);
  free(indices);
  free(value);
}

/* A slice's reference, and whose it is. */
typedef struct slice_reference {
  int64_t slice; /* -1: none yet */
  int64_t begin[WS_PROBLEM_MAX_ARGS], each[WS_PROBLEM_MAX_ARGS];
  double *value, *error;
} slice_reference;

static void compare_by_slices(const ws_problem *problem, const ws_shape *shape,
                              int form, const void *const *buffers,
                              const void *const *results,
                              const ws_place *places, int count,
                              ws_comparison *out) {
  slice_reference r = {.slice = -1};
  int64_t all = 0;
  for (int o = 0; o < problem->output_count; o++) {
    int arg = problem->outputs[o];
    r.begin[arg] = all;
    r.each[arg] = ws_problem_slice_elements(problem, arg, shape, form);
    all += r.each[arg];
  }
  r.value = malloc(2 * sizeof *r.value * (size_t)(all + 1));
  WS_ASSERT(r.value && "out of memory");
  r.error = r.value + all;
  for (int i = 0; i < count; i++) {
    int arg = places[i].arg;
    int64_t slice = places[i].element / r.each[arg];
    int64_t at = r.begin[arg] + places[i].element % r.each[arg];
    if (slice != r.slice)
      ws_problem_reference(problem, shape, form, buffers, slice, slice + 1,
                           r.value, r.error);
    r.slice = slice;
    add_element(ws_problem_arg_type(problem, arg, form), results[arg],
                places[i], r.value[at], r.error[at], out);
  }
  free(r.value);
}

void ws_problem_compare_at(const ws_problem *problem, const ws_shape *shape,
                           int form, const void *const *buffers,
                           const void *const *results, const ws_place *places,
                           int count, ws_comparison *out) {
  memset(out, 0, sizeof *out);
  (ws_problem_has_elements(problem) ? compare_by_elements : compare_by_slices)(
      problem, shape, form, buffers, results, places, count, out);
}

/* ---- projections ---- */

/* The errors of a slice's elements, each within its bound b, meet signs that
 * know nothing of them: |sum of sign e| exceeds 7 sqrt(sum b^2) once in 10^10
 * slices (Hoeffding). b has a part in the element and one in its error. */
void ws_problem_compare_projections(const ws_problem *problem,
                                    const ws_shape *shape, int form,
                                    const void *const *buffers, uint64_t seed,
                                    const int64_t *slices, int64_t count,
                                    const double *value, const double *error,
                                    ws_comparison *out) {
  int arg = problem->outputs[0];
  ws_type type = ws_problem_arg_type(problem, arg, form);
  int64_t each = ws_problem_slice_elements(problem, arg, shape, form);
  double *signs = ws__problem_signs(each, seed);
  memset(out, 0, sizeof *out);
  for (int64_t i = 0; i < count; i++) {
    double got = 0, square = 0;
    for (int64_t e = 0; e < each; e++) {
      const double one = ws_load(type, buffers[arg], slices[i] * each + e);
      got += signs[e] * one;
      square += one * one;
    }
    add(&(compared){.place = {arg, WS_WHOLE_SLICE},
                    .slice = slices[i],
                    .got = got,
                    .want = value[i],
                    .bound =
                        7 * (ws__type_rounding(type, sqrt(square)) + error[i])},
        out);
  }
  free(signs);
}
