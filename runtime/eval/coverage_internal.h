/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between the parts of coverage: classes (coverage_classes.c) and the choice of
 * shapes (coverage.c).
 */
#ifndef WAVESMITH_EVAL_COVERAGE_INTERNAL_H
#define WAVESMITH_EVAL_COVERAGE_INTERNAL_H

#include "wavesmith/coverage.h"

enum { WS__EXTENTS = 3 }; /* m, n, k */

int64_t ws__extent_of(const ws_shape *shape, int dimension);
void ws__extent_set(ws_shape *shape, int dimension, int64_t extent);
/* 0 to 2; 3: none, strides. */
int ws__dimension_of(ws_factor_id factor);

/* What a candidate makes of an extent: rows and columns of a workgroup. */
typedef struct ws__tiles {
  int64_t extent[WS__EXTENTS];
} ws__tiles;

ws__tiles ws__coverage_tiles(const ws_problem *problem,
                             const ws_candidate *candidate);
void ws__coverage_classes(const ws_problem *problem, int layout,
                          const ws_candidate *candidate,
                          const ws_build_result *build, const ws__tiles *tiles,
                          ws_factor out[WS_FACTORS]);
/* Moduli of the code that the classes of a dimension do not tell apart, because
 * all residues of all would be too many; in steps, at most WS__ALONE_STEPS. */
enum { WS__ALONE = 8, WS__ALONE_STEPS = 64 };
int ws__coverage_alone(const ws_problem *problem, const ws_build_result *build,
                       const ws_factor factors[WS_FACTORS], int dimension,
                       int64_t out_moduli[WS__ALONE]);
/* Whether a candidate can be asked for: operands that it reads through a tensor
 * map lie without gaps (ir-templates/README.md). */
bool ws__coverage_takes_striding(const ws_problem *problem, int layout,
                                 const ws_candidate *candidate, int striding);
/* Workgroups of its first launch; 0: none, or an expression fails. */
double ws__coverage_workgroups(const ws_candidate *candidate,
                               const ws_shape *shape);

#endif
