/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A trusted kernel in place of a reference in C: `--reference naive.ll`. It is
 * checked and built once, kept as a file below $WAVESMITH_CACHE, and named to
 * the servers by WAVESMITH_REFERENCES; they run it on the inputs that a
 * candidate gets and compare with what it leaves (ws_reference_kernel).
 *
 * Threads: taking and inheriting are for one thread, before others begin.
 */
#ifndef WAVESMITH_REFERENCE_H
#define WAVESMITH_REFERENCE_H

#include "wavesmith/measure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_reference_request {
  const char *file; /* as it was named */
  const char *text; /* a template; its default point is the kernel */
  size_t size;
  double relative, absolute; /* as of a ws_reference_kernel */
} ws_reference_request;

/* Checks it (static check, the sanitizer's memory checks, each run twice with
 * the waves in either order, every element written), builds it in each layout
 * that it takes, and makes it what the problem's results are compared with,
 * here and in the servers that are started from here on. WS_INPUT and one line:
 * the problem is not known, has a reference of its own, or the kernel is at
 * fault. */
ws_status ws_reference_take(ws_compiler *compiler,
                            const ws_reference_request *request,
                            ws_diag *diag) WS_MUST_CHECK;
/* Those that WAVESMITH_REFERENCES lists; after ws_problems_inherit. */
ws_status ws_references_inherit(ws_diag *diag) WS_MUST_CHECK;
/* The file that servers find of it, for machines that have not got it: to be
 * added there. NULL: the problem has no such kernel. */
const char *ws_reference_file(const ws_problem *problem);
ws_status ws_reference_add_file(const char *path, ws_diag *diag) WS_MUST_CHECK;
/* Says so, once, where the build is the reference itself, at its point: a
 * comparison of the two proves nothing. */
void ws_reference_warn_of_same(const ws_problem *problem,
                               const ws_build_result *result);

/* ---- in servers ----
 * Fills results[] of the outputs (by argument, of the problem's bytes) with
 * what the kernel leaves on the inputs of that seed. *out_done false: it does
 * not take the shape, or takes too long. WS_ENVIRONMENT: it is at fault. */
ws_status ws_reference_run(const ws_problem *problem, const ws_shape *shape,
                           int form, uint64_t seed, void *const *results,
                           bool *out_done, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
