/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a candidate and a shape to what runs: launches whose conditions hold,
 * with grids, arguments and workspace evaluated, so that the device server
 * knows nothing of templates. Also the shapes that a candidate is verified on.
 */
#include "wavesmith/measure.h"

#include <string.h>

static const ws_kernel_facts *facts_of(const ws_build_result *result,
                                       const char *kernel) {
  for (int i = 0; i < result->kernel_count; i++)
    if (!strcmp(result->kernels[i].name, kernel))
      return &result->kernels[i];
  return NULL;
}

static ws_status read_operands(ws_arena *arena, const ws_problem *problem,
                               const ws_kernel_facts *facts,
                               ws_workload_launch *out, ws_diag *diag) {
  ws_operand *operands =
      ws_arena_alloc(arena, sizeof *operands * (size_t)facts->arg_count);
  for (int i = 0; i < facts->arg_count; i++) {
    const struct ws_kernarg *arg = &facts->args[i];
    if (ws_problem_arg_index(problem, arg->name) < 0)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "kernel %s takes an argument '%s' that problem %s does "
                     "not have",
                     facts->name, arg->name, problem->name);
    operands[i] = (ws_operand){.kind = WS_OPERAND_PROBLEM,
                               .name = arg->name,
                               .offset = arg->offset,
                               .size = arg->size};
  }
  out->operands = operands;
  out->operand_count = facts->arg_count;
  return WS_OK;
}

static ws_status evaluate_launch(ws_arena *arena, const ws_problem *problem,
                                 const ws_build_result *result,
                                 const ws_launch *launch, const ws_scope *scope,
                                 ws_workload_launch *out, ws_diag *diag) {
  int64_t value;
  const ws_kernel_facts *facts = facts_of(result, launch->kernel);
  if (!facts)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the code object has no kernel '%s'", launch->kernel);
  *out = (ws_workload_launch){.kernel = launch->kernel};
  for (int axis = 0; axis < 3; axis++) {
    WS_TRY(ws_expr_eval(launch->grid[axis], scope, &value, diag));
    if (value < 1 || value > INT32_MAX)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "kernel %s: a grid of %lld workgroups is not possible",
                     launch->kernel, (long long)value);
    out->grid[axis] = (uint32_t)value;
  }
  WS_TRY(ws_expr_eval(launch->threads, scope, &value, diag));
  if (value < 1 || value > 1024)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "kernel %s: a workgroup of %lld threads is not possible",
                   launch->kernel, (long long)value);
  out->block = (uint32_t)value;
  return read_operands(arena, problem, facts, out, diag);
}

static ws_status evaluate_workspace(const ws_expr *expr, const ws_scope *scope,
                                    int64_t *out_bytes, ws_diag *diag) {
  const int64_t most_bytes = (int64_t)1 << 40;
  WS_TRY(ws_expr_eval(expr, scope, out_bytes, diag));
  if (*out_bytes < 0 || *out_bytes > most_bytes)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "a workspace of %lld bytes is not possible",
                   (long long)*out_bytes);
  return WS_OK;
}

ws_status ws_workload_of(ws_arena *arena, const ws_problem *problem, int layout,
                         const ws_candidate *candidate,
                         const ws_build_result *result, const ws_shape *shape,
                         int cu_count, ws_workload *out_workload,
                         ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  *out_workload = (ws_workload){
      .problem = problem->name, .layout = layout, .shape = *shape, .seed = 1};
  WS_TRY(problem->check_shape(shape, diag));
  if (ws_candidate_broken_require(candidate, shape, diag) >= 0)
    return WS_INPUT;
  ws_scope scope = ws_candidate_scope(arena, candidate, shape, cu_count);
  ws_workload_launch *launches =
      ws_arena_alloc(arena, sizeof *launches * (size_t)tmpl->launch_count);
  for (int i = 0; i < tmpl->launch_count; i++) {
    int64_t wanted;
    WS_TRY(ws_expr_eval(tmpl->launches[i].condition, &scope, &wanted, diag));
    if (wanted)
      WS_TRY(evaluate_launch(arena, problem, result, &tmpl->launches[i], &scope,
                             &launches[out_workload->launch_count++], diag));
  }
  if (!out_workload->launch_count)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "no launch condition holds on %lld,%lld,%lld: nothing would "
                   "be computed",
                   (long long)shape->m, (long long)shape->n,
                   (long long)shape->k);
  out_workload->launches = launches;
  if (!tmpl->workspace)
    return WS_OK;
  return evaluate_workspace(tmpl->workspace, &scope,
                            &out_workload->workspace_bytes, diag);
}

/* The edges that kernels get wrong: m below and beside a tile, n = 576 and an n
 * that ends inside a scale block, one k block, an odd number of them, many for
 * few workgroups (the loop's steady state, slices of a split k). Later ones
 * stand in where a candidate refuses earlier ones; the last are for those that
 * take nothing small, or little but what a model named. */
static const ws_shape edges[] = {
    {16, 576, 128},    {272, 144, 256},   {80, 320, 384},   {32, 48, 1024},
    {64, 576, 512},    {64, 128, 2048},   {256, 256, 512},  {512, 512, 1024},
    {1024, 512, 512},  {512, 1024, 512},  {512, 512, 7168}, {1024, 1536, 512},
    {1024, 7168, 256}, {2048, 2048, 256}, {6144, 512, 128}, {4096, 4096, 128}};
enum { EDGES = sizeof edges / sizeof edges[0] };

int ws_verify_shapes(const ws_candidate *candidate,
                     ws_shape out_shapes[WS_VERIFY_SHAPES]) {
  int count = 0;
  for (int i = 0; i < EDGES && count < WS_VERIFY_SHAPES; i++)
    if (!candidate ||
        ws_candidate_broken_require(candidate, &edges[i], NULL) < 0)
      out_shapes[count++] = edges[i];
  return count;
}
