/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of problems, and look-up by name in it and in a problem's own
 * tables. A new problem adds a folder, its extern line and its entry here.
 */
#include "wavesmith/problem.h"
#include <string.h>

extern const ws_problem ws_fp8_gemm_blockscale;

static const ws_problem *const problems[] = {&ws_fp8_gemm_blockscale};
enum { PROBLEM_COUNT = sizeof(problems) / sizeof(problems[0]) };

const ws_problem *const *ws_problems(int *out_count) {
  *out_count = PROBLEM_COUNT;
  return problems;
}

const ws_problem *ws_problem_find(const char *name) {
  for (int i = 0; i < PROBLEM_COUNT; i++)
    if (!strcmp(problems[i]->name, name))
      return problems[i];
  return NULL;
}

int ws_problem_arg_index(const ws_problem *problem, const char *name) {
  for (int i = 0; i < problem->arg_count; i++)
    if (!strcmp(problem->args[i].name, name))
      return i;
  return -1;
}

int ws_problem_layout_index(const ws_problem *problem, const char *name) {
  for (int i = 0; i < problem->layout_count; i++)
    if (!strcmp(problem->layouts[i], name))
      return i;
  return -1;
}

int ws_problem_form(const ws_problem *problem, int layout, int striding) {
  return layout + striding * problem->layout_count;
}

const ws_shape_set *ws_problem_shape_set(const ws_problem *problem,
                                         const char *name) {
  for (int i = 0; i < problem->shape_set_count; i++)
    if (!strcmp(problem->shape_sets[i].name, name))
      return &problem->shape_sets[i];
  return NULL;
}
