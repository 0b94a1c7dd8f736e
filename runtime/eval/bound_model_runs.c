/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The standard sanitizer runs of a candidate. Run 0 and run 1 differ in the
 * depth, so that the bound model can tell work per block of it from work per
 * workgroup; run 1 leaves a ragged edge in its only tile; run 2 has two tiles
 * in every other direction, the second ones nearly empty. Shapes that are not
 * legal or that the candidate's own constraints refuse are replaced by the
 * whole tile or left out.
 */
#include "bound_model_internal.h"

#include <stdio.h>
#include <string.h>

/* Of a dimension without a parameter tile_NAME; where the depth is only what no
 * grid names, its blocks are long and few others do. */
enum { DEFAULT_TILE = 32, FEW = 8, LONG_BLOCK = 2048 };

/* ---- the depth ---- */

static bool is_in_grid(const ws_candidate *candidate, const char *name) {
  for (int l = 0; l < candidate->tmpl->launch_count; l++)
    for (int axis = 0; axis < 3; axis++) {
      const ws_expr *grid = candidate->tmpl->launches[l].grid[axis];
      for (int i = 0; i < ws_expr_name_count(grid); i++)
        if (!strcmp(ws_expr_name(grid, i), name))
          return true;
    }
  return false;
}

static int64_t at_least(int64_t wanted, int64_t step) {
  return (wanted + step - 1) / step * step;
}

ws__depth ws__model_depth(const ws_problem *problem,
                          const ws_candidate *candidate) {
  for (int i = 0; i < problem->dims->count; i++)
    if (problem->is_depth[i])
      return (ws__depth){i, problem->block.size[i], true};
  for (int i = problem->dims->count - 1; i >= 0; i--)
    if (!is_in_grid(candidate, problem->dims->names[i]))
      return (ws__depth){i, at_least(LONG_BLOCK, problem->block.size[i]),
                         false};
  return (ws__depth){-1, 1, false};
}

double ws__model_area(const ws__depth *depth, const ws_shape *shape) {
  double area = 1;
  for (int i = 0; i < shape->dims->count; i++)
    area *= i == depth->dim ? 1 : (double)shape->size[i];
  return area;
}

/* ---- shapes ---- */

static int64_t tile_of(const ws_problem *problem, const ws_candidate *candidate,
                       const ws__depth *depth, int dim) {
  char name[WS_SHAPE_TEXT];
  snprintf(name, sizeof name, "tile_%s", problem->dims->names[dim]);
  int index = ws_template_param_index(candidate->tmpl, name);
  if (index >= 0)
    return at_least(candidate->values[index], problem->step.size[dim]);
  return at_least(depth->declared || depth->dim < 0 ? DEFAULT_TILE : FEW,
                  problem->step.size[dim]);
}

static bool takes(const ws_problem *problem, const ws_candidate *candidate,
                  const ws_shape *shape) {
  return ws_problem_is_legal(problem, shape) &&
         ws_candidate_broken_require(candidate, shape, NULL) < 0;
}

/* What the candidate takes when its own tile is not legal. */
static ws_shape first_taken(const ws_problem *problem,
                            const ws_candidate *candidate, ws_shape wanted) {
  if (takes(problem, candidate, &wanted))
    return wanted;
  if (takes(problem, candidate, &problem->least))
    return problem->least;
  for (int i = 0; i < problem->samples.count; i++)
    if (takes(problem, candidate, &problem->samples.shapes[i]))
      return problem->samples.shapes[i];
  return wanted;
}

/* The least change of an extent that the candidate takes, by doubling the
 * problem's step; that step where it takes none. */
static int64_t grain_of(const ws_problem *problem,
                        const ws_candidate *candidate, ws_shape shape,
                        int dim) {
  const int64_t step = problem->step.size[dim], from = shape.size[dim];
  for (int64_t grain = step; grain < from; grain *= 2) {
    shape.size[dim] = from + grain;
    if (takes(problem, candidate, &shape))
      return grain;
  }
  return step;
}

int ws_standard_runs(const ws_candidate *candidate,
                     ws_run out_runs[WS_STANDARD_RUNS]) {
  const ws_problem *problem = ws_problem_find(candidate->tmpl->problem);
  if (!problem)
    return 0;
  const ws__depth depth = ws__model_depth(problem, candidate);
  ws_shape twice = problem->least, whole, ragged, several;
  int count = 0;
  for (int i = 0; i < problem->dims->count; i++)
    twice.size[i] = i == depth.dim ? 2 * depth.block
                                   : tile_of(problem, candidate, &depth, i);
  whole = twice;
  if (depth.dim >= 0)
    whole.size[depth.dim] = depth.block;
  ragged = several = whole;
  for (int i = 0; i < problem->dims->count; i++) {
    if (i == depth.dim)
      continue;
    const int64_t grain = grain_of(problem, candidate, whole, i);
    ragged.size[i] -= ragged.size[i] > grain ? grain : 0;
    several.size[i] += grain;
  }
  out_runs[count++] = (ws_run){.shape = first_taken(problem, candidate, twice),
                               .order = WS_WAVES_UP,
                               .seed = 1};
  out_runs[count++] =
      (ws_run){.shape = takes(problem, candidate, &ragged)
                            ? ragged
                            : first_taken(problem, candidate, whole),
               .order = WS_WAVES_DOWN,
               .seed = 2 | WS_HARD_INPUTS};
  if (takes(problem, candidate, &several))
    out_runs[count++] =
        (ws_run){.shape = several, .order = WS_WAVES_UP, .seed = 3};
  return count;
}
