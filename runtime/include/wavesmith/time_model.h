/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How long a kernel takes on a shape that it was not timed on. The model of a
 * kernel is a sum of terms, each an expression of the template language times
 * a constant of the kernel that is not negative:
 *
 *   us = c0 * 1 + c1 * rounds + c2 * rounds * depth + c3 * bytes ...
 *
 * Terms are one text for all kernels of a portfolio, so that a search, or a
 * model, may write others (`wavesmith dispatch --terms FILE`). They may name
 *   A, B, D        the first and second dimension that is no depth, the first
 *                  depth; or dimensions by their names
 *   cu_count       compute units of the target's card
 *   workgroups     of the kernel's first launch
 *   resident       how many of these a compute unit holds at once, by the
 *                  registers, LDS and waves of the code (bound_model.h)
 *   parameters     of the kernel's template (tile_m, split_k ...)
 * and a term that names what a problem or a template has not got is left out
 * there; so is one that may divide by zero or overflow on some shape.
 *
 * Fit: least squares of the relative error, with constants >= 0; kernels of
 * the same template lend their timings, with a weight that falls with the
 * distance of their parameters, so that few timings of a kernel suffice (a
 * shared estimate of this kind is called partial pooling).
 *
 * Threads: no state outside the arguments; models are constant once fitted.
 */
#ifndef WAVESMITH_TIME_MODEL_H
#define WAVESMITH_TIME_MODEL_H

#include "wavesmith/dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One term a line; '#' begins a comment. */
const char *ws_time_terms_default(void);
/* WS_INPUT with file:line for a line that is no expression, for none and for
 * more than WS_TIME_TERMS_MOST. In the arena. */
enum { WS_TIME_TERMS_MOST = 32 };
ws_status ws_time_terms_parse(ws_arena *arena, const ws_problem *problem,
                              const char *text, const char *file,
                              const ws_time_terms **out_terms,
                              ws_diag *diag) WS_MUST_CHECK;
int ws_time_terms_count(const ws_time_terms *terms);
const char *ws_time_terms_text(const ws_time_terms *terms, int index);

/* Why a term is taken for none of the kernels, in words; NULL: for some it is.
 * In the arena. */
const char *ws_time_terms_left_out(ws_arena *arena, const ws_time_terms *terms,
                                   int index, const ws_dispatch_entry *entries,
                                   int count, const ws_target *target);

typedef struct ws_time_models ws_time_models;

/* A model for each of the columns of the matrix. Cells that are NAN (not timed)
 * or INFINITY (refused) are not looked at. weights: of the rows; NULL: they
 * count alike. WS_INPUT where no kernel has a time. In the arena. */
ws_status ws_time_models_fit(ws_arena *arena, const ws_problem *problem,
                             const ws_target *target,
                             const ws_time_terms *terms,
                             const ws_dispatch_entry *entries,
                             const ws_matrix *matrix, const double *weights,
                             const int *columns, int column_count,
                             const ws_time_models **out_models,
                             ws_diag *diag) WS_MUST_CHECK;
/* Of the kernel at this position in columns, in us; whether it takes the shape
 * is not asked. */
double ws_time_models_us(const ws_time_models *models, int position,
                         const ws_shape *shape);
/* Root mean square of ln(time / model) over the kernel's own timings. */
double ws_time_models_error(const ws_time_models *models, int position);

/* The input's matrix with its gaps (NAN) filled. expected: by the models of all
 * its columns, times what they are off on the shape in the mean over the kernels
 * that were timed there. cautious: longer by the kernel's remaining error, and
 * as much again for each octave of the first size from the nearest that it was
 * timed on, since what was not timed must promise more; and no better than the
 * best that was timed on the shape, times that error. Row by row as before; in
 * the arena. input->terms must be given. */
ws_status ws_time_models_fill(ws_arena *arena, const ws_selection_input *input,
                              ws_matrix *out_expected, ws_matrix *out_cautious,
                              ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
