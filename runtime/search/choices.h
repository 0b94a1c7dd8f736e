/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A candidate's choices as numbers between which there is a distance: what a
 * Gaussian process over a template's space is made of.
 */
#ifndef WAVESMITH_SEARCH_CHOICES_H
#define WAVESMITH_SEARCH_CHOICES_H

#include "space.h"

enum { WS__MOST_CHOICES = WS_TEMPLATE_MAX_PARAMS + WS_TEMPLATE_MAX_REGIONS };

int ws__choices_count(const ws__space *space);
/* By dimension of the space its place in the list of values, from 0 to 1; by
 * region a number that stands for the body. Returns how many. */
int ws__choices_of(const ws__space *space, const ws_candidate *candidate,
                   double out_choices[WS__MOST_CHOICES]);
/* Sum over choices of reach * distance there; that of two bodies is 0 or 1. */
double ws__choices_distance(const double *reach, const double *a,
                            const double *b, int count);

#endif
