/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a candidate and a shape to what runs: launches whose conditions hold,
 * with grids, arguments, tensor maps and workspace evaluated, so that the
 * device server knows nothing of templates.
 */
#include "reference.h"

#include <string.h>

/* What is evaluated: a candidate on a shape. */
typedef struct evaluation {
  ws_arena *arena;
  const ws_problem *problem;
  const ws_candidate *candidate;
  const ws_build_result *result;
  ws_workload *workload; /* its shape, layout and workspace are set */
  ws_scope scope;
  ws_diag *diag;
} evaluation;

/* ---- tensor maps ---- */
static const ws_tensor_map *map_of(const ws_template *tmpl, const char *name) {
  for (int i = 0; i < tmpl->tensor_map_count; i++)
    if (!strcmp(tmpl->tensor_maps[i].name, name))
      return &tmpl->tensor_maps[i];
  return NULL;
}

/* A value outside its range is the candidate's fault, whatever a driver would
 * say. */
static ws_status evaluate_within(const evaluation *e, const ws_expr *expr,
                                 int64_t least, int64_t most,
                                 const ws_tensor_map *map, const char *what,
                                 int64_t *out) {
  WS_TRY(ws_expr_eval(expr, &e->scope, out, e->diag));
  if (*out >= least && *out <= most)
    return WS_OK;
  return ws_fail(e->diag, WS_INPUT, NULL, 0,
                 "tensor map %s: %s of %lld is not within %lld and %lld",
                 map->name, what, (long long)*out, (long long)least,
                 (long long)most);
}

static int64_t bytes_of(const evaluation *e, const char *argument) {
  int index = ws_problem_arg_index(e->problem, argument);
  const ws_workload *w = e->workload;
  return e->problem->args[index].role == WS_ARG_WORKSPACE
             ? w->workspace_bytes
             : ws_problem_arg_bytes(e->problem, index, &w->shape, w->layout);
}

static ws_status check_map(const evaluation *e, const ws_tensor_map *map,
                           const ws_operand_map *values) {
  int32_t swizzle = values->swizzle;
  if (swizzle && (swizzle < 32 || swizzle & (swizzle - 1)))
    return ws_fail(e->diag, WS_INPUT, NULL, 0,
                   "tensor map %s: a swizzle of %d bytes; there are 0, 32, 64 "
                   "and 128",
                   map->name, swizzle);
  int64_t bytes = bytes_of(e, map->argument);
  if (values->inner <= bytes / values->element_bytes / values->outer)
    return WS_OK;
  return ws_fail(e->diag, WS_INPUT, NULL, 0,
                 "tensor map %s: %lld rows of %lld elements of %d bytes are "
                 "more than the %lld bytes of '%s'",
                 map->name, (long long)values->outer, (long long)values->inner,
                 values->element_bytes, (long long)bytes, map->argument);
}

static ws_status evaluate_map(const evaluation *e, const ws_tensor_map *map,
                              ws_operand_map *out) {
  const int64_t most_extent = INT64_C(1) << 32, most_box = 256;
  int64_t box_inner, box_outer, swizzle;
  *out = (ws_operand_map){.element_bytes = ws_element_bytes(map->element)};
  WS_TRY(evaluate_within(e, map->inner, 1, most_extent, map, "an inner extent",
                         &out->inner));
  WS_TRY(evaluate_within(e, map->outer, 1, most_extent, map, "an outer extent",
                         &out->outer));
  WS_TRY(evaluate_within(e, map->box_inner, 1, most_box, map, "an inner box",
                         &box_inner));
  WS_TRY(evaluate_within(e, map->box_outer, 1, most_box, map, "an outer box",
                         &box_outer));
  WS_TRY(evaluate_within(e, map->swizzle, 0, 128, map, "a swizzle", &swizzle));
  out->box_inner = (int32_t)box_inner;
  out->box_outer = (int32_t)box_outer;
  out->swizzle = (int32_t)swizzle;
  return check_map(e, map, out);
}

/* ---- launches ---- */
static ws_status read_operand(const evaluation *e, const ws_kernel_facts *facts,
                              const struct ws_kernarg *arg, ws_operand *out) {
  const ws_tensor_map *map = map_of(e->candidate->tmpl, arg->name);
  *out = (ws_operand){.kind = map ? WS_OPERAND_TENSOR_MAP : WS_OPERAND_PROBLEM,
                      .name = map ? map->argument : arg->name,
                      .offset = arg->offset,
                      .size = arg->size};
  if (ws_problem_arg_index(e->problem, out->name) < 0)
    return ws_fail(e->diag, WS_INPUT, NULL, 0,
                   "kernel %s takes an argument '%s' that problem %s does "
                   "not have",
                   facts->name, out->name, e->problem->name);
  return map ? evaluate_map(e, map, &out->map) : WS_OK;
}

static ws_status read_operands(const evaluation *e,
                               const ws_kernel_facts *facts,
                               ws_workload_launch *out) {
  ws_operand *operands =
      ws_arena_alloc(e->arena, sizeof *operands * (size_t)facts->arg_count);
  for (int i = 0; i < facts->arg_count; i++)
    WS_TRY(read_operand(e, facts, &facts->args[i], &operands[i]));
  out->operands = operands;
  out->operand_count = facts->arg_count;
  return WS_OK;
}

/* A grid that is no multiple of the kernel's clusters cannot be launched. */
static ws_status check_clusters(const evaluation *e,
                                const ws_workload_launch *launch) {
  const ws_template *tmpl = e->candidate->tmpl;
  for (int i = 0; i < tmpl->occupancy_count; i++) {
    int64_t cluster;
    if (strcmp(tmpl->occupancies[i].kernel, launch->kernel))
      continue;
    WS_TRY(ws_expr_eval(tmpl->occupancies[i].cluster, &e->scope, &cluster,
                        e->diag));
    if (cluster > 0 && launch->grid[0] % cluster)
      return ws_fail(e->diag, WS_INPUT, NULL, 0,
                     "kernel %s: a grid of %u workgroups in x is no multiple "
                     "of its clusters of %lld",
                     launch->kernel, launch->grid[0], (long long)cluster);
  }
  return WS_OK;
}

static ws_status evaluate_launch(const evaluation *e, const ws_launch *launch,
                                 ws_workload_launch *out) {
  int64_t value;
  const ws_kernel_facts *facts = ws_build_kernel_facts(e->result, launch->kernel);
  if (!facts)
    return ws_fail(e->diag, WS_INPUT, NULL, 0,
                   "the code object has no kernel '%s'", launch->kernel);
  *out = (ws_workload_launch){.kernel = launch->kernel,
                              .dynamic_lds = (uint32_t)facts->dynamic_lds};
  for (int axis = 0; axis < 3; axis++) {
    WS_TRY(ws_expr_eval(launch->grid[axis], &e->scope, &value, e->diag));
    if (value < 1 || value > INT32_MAX)
      return ws_fail(e->diag, WS_INPUT, NULL, 0,
                     "kernel %s: a grid of %lld workgroups is not possible",
                     launch->kernel, (long long)value);
    out->grid[axis] = (uint32_t)value;
  }
  WS_TRY(ws_expr_eval(launch->threads, &e->scope, &value, e->diag));
  if (value < 1 || value > 1024)
    return ws_fail(e->diag, WS_INPUT, NULL, 0,
                   "kernel %s: a workgroup of %lld threads is not possible",
                   launch->kernel, (long long)value);
  out->block = (uint32_t)value;
  WS_TRY(check_clusters(e, out));
  return read_operands(e, facts, out);
}

static ws_status evaluate_workspace(const evaluation *e) {
  const int64_t most_bytes = (int64_t)1 << 40;
  const ws_expr *expr = e->candidate->tmpl->workspace;
  int64_t *bytes = &e->workload->workspace_bytes;
  if (!expr)
    return WS_OK;
  WS_TRY(ws_expr_eval(expr, &e->scope, bytes, e->diag));
  if (*bytes < 0 || *bytes > most_bytes)
    return ws_fail(e->diag, WS_INPUT, NULL, 0,
                   "a workspace of %lld bytes is not possible",
                   (long long)*bytes);
  return WS_OK;
}

static ws_status evaluate_launches(const evaluation *e) {
  const ws_template *tmpl = e->candidate->tmpl;
  ws_workload *w = e->workload;
  ws_workload_launch *launches =
      ws_arena_alloc(e->arena, sizeof *launches * (size_t)tmpl->launch_count);
  for (int i = 0; i < tmpl->launch_count; i++) {
    int64_t wanted;
    WS_TRY(
        ws_expr_eval(tmpl->launches[i].condition, &e->scope, &wanted, e->diag));
    if (wanted)
      WS_TRY(
          evaluate_launch(e, &tmpl->launches[i], &launches[w->launch_count++]));
  }
  w->launches = launches;
  char sizes[WS_SHAPE_TEXT];
  if (w->launch_count)
    return WS_OK;
  return ws_fail(e->diag, WS_INPUT, NULL, 0,
                 "no launch condition holds on %s: nothing would be computed",
                 ws_shape_print(&w->shape, sizes));
}

ws_status ws__workload_alone(ws_arena *arena, const ws_problem *problem,
                             int layout, const ws_candidate *candidate,
                             const ws_build_result *result,
                             const ws_shape *shape, int cu_count,
                             ws_workload *out_workload, ws_diag *diag) {
  *out_workload = (ws_workload){
      .problem = problem->name, .layout = layout, .shape = *shape, .seed = 1};
  WS_TRY(ws_problem_check_shape(problem, shape, diag));
  if (ws_candidate_broken_require(candidate, shape, diag) >= 0)
    return WS_INPUT;
  const evaluation e = {
      .arena = arena,
      .problem = problem,
      .candidate = candidate,
      .result = result,
      .workload = out_workload,
      .scope = ws_candidate_scope(arena, candidate, shape, cu_count),
      .diag = diag};
  WS_TRY(evaluate_workspace(&e));
  return evaluate_launches(&e);
}

ws_status ws_workload_of(ws_arena *arena, const ws_problem *problem, int layout,
                         const ws_candidate *candidate,
                         const ws_build_result *result, const ws_shape *shape,
                         int cu_count, ws_workload *out_workload,
                         ws_diag *diag) {
  WS_TRY(ws__workload_alone(arena, problem, layout, candidate, result, shape,
                            cu_count, out_workload, diag));
  ws_reference_warn_of_same(problem, result);
  out_workload->reference =
      ws__reference_workload(arena, problem, layout, shape, cu_count);
  return WS_OK;
}
