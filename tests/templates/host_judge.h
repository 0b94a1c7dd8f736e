/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What host_sm90a.c and host_wgmma.c share: rounding as the card does, and
 * whether an output is right.
 */
#ifndef WAVESMITH_TESTS_TEMPLATES_HOST_JUDGE_H
#define WAVESMITH_TESTS_TEMPLATES_HOST_JUDGE_H

#include "wavesmith/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* To the nearest, ties to even. */
static inline uint32_t host_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Says what is wrong; nothing when all is right. */
static inline bool host_is_right(const ws_problem *problem,
                                 const ws_shape *shape, int layout,
                                 const void *const *buffers) {
  const size_t count =
      (size_t)ws_problem_result_elements(problem, shape, layout);
  const int64_t slices = ws_problem_slices(problem, shape);
  double *value = malloc(count * sizeof *value);
  double *error = malloc(count * sizeof *error);
  ws_comparison found;
  ws_problem_reference(problem, shape, layout, buffers, 0, slices, value,
                       error);
  ws_problem_compare(problem, shape, layout, buffers, 0, slices, value, error,
                     &found);
  free(value);
  free(error);
  if (found.wrong)
    printf("%ld of %ld are wrong, first %ld: %g, should be %g +- %g\n",
           (long)found.wrong, (long)found.checked, (long)found.first.element,
           found.first_got, found.first_want, found.first_bound);
  return !found.wrong;
}

#endif
