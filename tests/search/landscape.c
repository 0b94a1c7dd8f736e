/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The landscape in place of runtime/eval/bound_model.c, whose object is then
 * not linked.
 */
#include "landscape.h"
#include "../gemm_shape.h"

#include <math.h>
#include <string.h>

const char *ws_bound_text(ws_bound bound) {
  return bound == WS_BOUND_MFMA ? "mfma" : "lds";
}

int ws_occupancy_workgroups(const ws_kernel_facts *facts, int threads,
                            int lds_bytes) {
  (void)facts, (void)threads, (void)lds_bytes;
  return 1;
}

/* Where in the list of values (0..1) the optimum lies. */
static double optimum(const char *name, const ws_shape *shape) {
  double size = log2((double)shape->size[DIM_M]) / 14,
         depth = log2((double)shape->size[DIM_K]) / 14;
  if (!strcmp(name, "tile_m"))
    return size;
  if (!strcmp(name, "tile_n"))
    return log2((double)shape->size[DIM_N]) / 14;
  if (!strcmp(name, "split"))
    return depth * (1 - size);
  if (!strcmp(name, "depth"))
    return depth;
  return fmod((double)name[0] * 0.37 + size, 1.0);
}

ws_status ws_model_estimate(const ws_device_model *device,
                            const ws_problem *problem,
                            const ws_candidate *candidate,
                            const ws_build_result *result,
                            const ws_shape *shape, ws_estimate *out_estimate,
                            ws_diag *diag) {
  (void)device, (void)problem, (void)result, (void)diag;
  const ws_template *tmpl = candidate->tmpl;
  double us = 1 + (double)shape->size[DIM_M] * (double)shape->size[DIM_N] *
                      (double)shape->size[DIM_K] / 1e9;
  for (int i = 0; i < tmpl->param_count; i++) {
    const ws_param *param = &tmpl->params[i];
    int index = 0;
    while (param->values[index] != candidate->values[i])
      index++;
    if (param->value_count > 1 && strcmp(param->name, "layout"))
      us *= 1 + 1.5 * fabs(index / (param->value_count - 1.0) -
                           optimum(param->name, shape));
  }
  for (int i = 0; i < tmpl->region_count; i++)
    us *= 1 + 0.1 * ((candidate->bodies[i].variant + 1 + i) % 3);
  *out_estimate = (ws_estimate){
      .us = us,
      .bound = shape->size[DIM_M] > 64 ? WS_BOUND_MFMA : WS_BOUND_LDS};
  return WS_OK;
}
