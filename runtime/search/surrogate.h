/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What results tell about points that were not tried: a Gaussian process over
 * the choices of a template, per shape, with which the built-in proposer ranks
 * what it draws. docs/search.md has the maths.
 */
#ifndef WAVESMITH_SEARCH_SURROGATE_H
#define WAVESMITH_SEARCH_SURROGATE_H

#include "space.h"

typedef struct ws__surrogate ws__surrogate;
ws__surrogate *ws__surrogate_create(ws_arena *arena, int shape_count,
                                    int round);
/* A candidate is on its way: what is proposed before its result keeps off. */
void ws__surrogate_expect(ws__surrogate *surrogate, const ws__space *space,
                          const ws_candidate *candidate);
/* Its result; us by shape, NULL: none. A candidate that was not expected is
 * taken too; candidate NULL: the one of that id. */
void ws__surrogate_learn(ws__surrogate *surrogate, const ws__space *space,
                         const ws_candidate *candidate, const char *id,
                         const double *us);

/* Before a series of questions on one space. */
void ws__surrogate_fit(ws__surrogate *surrogate, const ws__space *space);
/* Expected gain of a point in ln us, summed over the shapes, beyond the best
 * known of each. */
double ws__surrogate_gain(ws__surrogate *surrogate, const ws__space *space,
                          const ws_candidate *candidate);
/* Share of the prior variance that is left at a point, 0 to 1. */
double ws__surrogate_doubt(ws__surrogate *surrogate, const ws__space *space,
                           const ws_candidate *candidate);

#endif
