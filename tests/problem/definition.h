/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Definitions for the tests of runtime/problem: one that is right, which tests
 * change, and opening it.
 */
#ifndef WAVESMITH_TESTS_PROBLEM_DEFINITION_H
#define WAVESMITH_TESTS_PROBLEM_DEFINITION_H

#include "wavesmith/problem.h"
#include "ws_test.h"

enum { MADE_X, MADE_Y, MADE_M }; /* arguments of made() */

/* y = 2 x */
static inline void twice(const ws_reference_call *call) {
  const int64_t n = call->dims[1];
  for (int64_t i = call->begin * n; i < call->end * n; i++)
    ws_put(call, MADE_Y, i, 2 * ws_get(call, MADE_X, i));
}

/* y[m][n] = 2 x[m][n], any sizes; the one shape is m=64,n=48. */
static inline ws_problem_definition made(void) {
  static const int64_t sizes[][2] = {{64, 48}};
  return (ws_problem_definition){
      WS_PROBLEM_ABI,
      .name = "made",
      .dims = {{"m"}, {"n"}},
      .args = {[MADE_X] = {"x", WS_ARG_INPUT, WS_F32, {"m", "n"}},
               [MADE_Y] = {"y", WS_ARG_OUTPUT, WS_F32, {"m", "n"}},
               [MADE_M] = {"m", WS_ARG_SCALAR, WS_I32}},
      .sets = {WS_PROBLEM_SET("some", sizes)},
      .reference = twice};
}

/* What a problem points to: as long as the process, as its arena is. */
enum { MOST_OPENED = 64 };
static ws_problem_definition given_definitions[MOST_OPENED];
static const ws_problem *opened_problems[MOST_OPENED];
static int opened_count;

static inline const ws_problem *opened(const ws_problem_definition *from) {
  ws_diag diag = {""};
  WS_CHECK(opened_count < MOST_OPENED);
  given_definitions[opened_count] = *from;
  if (ws_problem_open(&given_definitions[opened_count], "",
                      &opened_problems[opened_count], &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return opened_problems[opened_count++];
}

/* By position. */
static inline ws_shape sized(const ws_problem *problem, int64_t first,
                             int64_t second) {
  const int64_t sizes[WS_MAX_DIMS] = {first, second};
  return ws_shape_of(problem->dims, sizes);
}

#endif
