/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is kept of a kernel that is a reference: reference.c reads it,
 * reference_take.c writes it, reference_workload.c evaluates its launches on a
 * shape, reference_run.c runs it on a device.
 */
#ifndef WAVESMITH_EVAL_REFERENCE_H
#define WAVESMITH_EVAL_REFERENCE_H

#include "wavesmith/reference.h"

struct cJSON;

typedef struct ws__reference_build {
  int layout;
  const void *code_object;
  size_t size;
  const struct cJSON *json; /* assignments, result */
} ws__reference_build;

typedef struct ws__reference {
  ws_reference_kernel kernel; /* the problem's points here */
  const ws_problem *problem;
  const char *path;         /* of the file */
  const struct cJSON *json; /* all of it */
  ws__reference_build builds[WS_PROBLEM_MAX_LAYOUTS];
  int build_count;
} ws__reference;

/* NULL: a kernel is not what the problem is compared with. */
const ws__reference *ws__reference_of(const ws_problem *problem);
/* By layout or form; NULL: it has none. */
const ws__reference_build *ws__reference_find(const ws_problem *problem,
                                              int form);

/* As ws_workload_of, without the reference. */
ws_status ws__workload_alone(ws_arena *arena, const ws_problem *problem,
                             int layout, const ws_candidate *candidate,
                             const ws_build_result *result,
                             const ws_shape *shape, int cu_count,
                             ws_workload *out_workload,
                             ws_diag *diag) WS_MUST_CHECK;
/* NULL: there is no kernel, or it does not take the shape. */
const struct ws_workload_reference *
ws__reference_workload(ws_arena *arena, const ws_problem *problem, int form,
                       const ws_shape *shape, int cu_count);

#endif
