/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A test device that looks times up in a table of recorded measurements: CSV
 * with a heading; columns dim:NAME of the dimensions, then columns named as
 * parameters of the template, then times, of which total_us_min counts. Nothing
 * is compiled.
 */
#ifndef WAVESMITH_SEARCH_TABLE_H
#define WAVESMITH_SEARCH_TABLE_H

#include "wavesmith/problem.h"
#include "wavesmith/template.h"

typedef struct ws__table ws__table;
/* In the arena. WS_INPUT: no such table, or a column that is neither. */
ws_status ws__table_read(ws_arena *arena, const char *path,
                         ws__table **out_table, ws_diag *diag) WS_MUST_CHECK;
/* WS_INPUT: a column is no parameter of the template. */
ws_status ws__table_check(const ws__table *table, const ws_template *tmpl,
                          ws_diag *diag) WS_MUST_CHECK;
/* Its shapes, ascending, in the arena; returns how many. */
int ws__table_shapes(const ws__table *table, ws_arena *arena,
                     const ws_shape **out_shapes);
/* INFINITY: the table has no such row. */
double ws__table_us(const ws__table *table, const ws_candidate *candidate,
                    const ws_shape *shape);
/* "table:mi300x_fp8_gemm_sweep.csv" */
const char *ws__table_provenance(const ws__table *table);

#endif
