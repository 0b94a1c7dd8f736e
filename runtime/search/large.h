/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a run that ranks by a device knows on a set of more than WS__ALL_SHAPES
 * shapes, put together:
 * how the portfolio stands, what is believed of what was not timed, and what
 * follows for a request: where it aims, from which kernel it starts, and the
 * sample of shapes that it is timed on.
 */
#ifndef WAVESMITH_SEARCH_LARGE_H
#define WAVESMITH_SEARCH_LARGE_H

#include "standing.h"
#include "strategy.h"
#include "transfer.h"

typedef struct ws__large {
  const ws__ground *ground;
  ws__standing *standing;
  ws__transfer *transfer;
} ws__large;

/* limit_us: by shape, the roofline's. */
ws__large *ws__large_create(ws_arena *arena, const ws_shape *shapes, int count,
                            const double *limit_us);
/* Mean over the shapes that were timed of ln(what the portfolio has / us), so 0
 * is as good as all before together. -INFINITY: not timed. */
double ws__large_score(const ws__large *large, const double *us);
/* A result; space and candidate NULL where it is none that may be moved. */
void ws__large_learn(ws__large *large, const ws__space *space,
                     const ws_candidate *candidate, const ws__result *result);

/* ---- where a request aims ---- */
/* A shape, by what the portfolio loses there and how often that was tried in
 * vain; of all alike, as long as nothing is known. */
int ws__large_draw_target(const ws__knowledge *knowledge, ws_rng *rng);
/* One of the best few of the target or of a shape near it; -1: none. */
int ws__large_draw_parent(const ws__knowledge *knowledge, int target,
                          ws_rng *rng);
/* The known kernel that promises most on a target that it was not timed on, if
 * that is worth a request; -1: none. */
int ws__large_find_further(const ws__knowledge *knowledge, int target);

/* ---- what a point is worth to a request ---- */
/* Expected gain of the portfolio, in ln us, on the target and near it. */
double ws__large_gain(ws__large *large, const ws__space *space,
                      const ws_candidate *candidate, int target);
/* Deviation of what is believed there. */
double ws__large_doubt(ws__large *large, const ws__space *space,
                       const ws_candidate *candidate, int target);

/* ---- where it is timed ---- */
/* Gives the request its sample and expects it: first the shapes near its target
 * on which the candidate (NULL: not known yet) promises most, then a few spread
 * over the set, by which it can be foreseen elsewhere. In the arena. */
void ws__large_give_sample(ws__large *large, const ws__space *space,
                           ws_rng *rng, ws_arena *arena,
                           const ws_candidate *candidate, ws__request *request);

#endif
