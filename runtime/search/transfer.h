/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What times on some shapes tell about other points and other shapes: on a
 * large set, in place of surrogate.h. A Gaussian process over the choices of a
 * template and the shape. docs/search.md has the maths.
 */
#ifndef WAVESMITH_SEARCH_TRANSFER_H
#define WAVESMITH_SEARCH_TRANSFER_H

#include "ground.h"
#include "space.h"

/* The shapes that a request is timed on. */
typedef struct ws__sample {
  const int *shapes; /* the race first */
  int count, racers;
} ws__sample;
/* Whether shape is among them; NULL: all are. */
bool ws__sample_has(const ws__sample *sample, int shape);

typedef struct ws__transfer ws__transfer;
ws__transfer *ws__transfer_create(ws_arena *arena, const ws__ground *ground);

/* A candidate is on its way to these shapes: what is asked for before its times
 * keeps off. sample NULL: to all. */
void ws__transfer_expect(ws__transfer *transfer, const ws__space *space,
                         const ws_candidate *candidate,
                         const ws__sample *sample);
/* Its times there, by shape; what is not finite was not timed. us NULL: it
 * failed. A candidate that was not expected is taken too; candidate NULL: the
 * one of that id. */
void ws__transfer_learn(ws__transfer *transfer, const ws__space *space,
                        const ws_candidate *candidate, const char *id,
                        const ws__sample *sample, const double *us);
/* Timed on shape, or on its way there. */
bool ws__transfer_knows(const ws__transfer *transfer, const char *id,
                        int shape);

/* What is believed of a point on a shape. */
typedef struct ws__belief {
  double log_us, deviation;
} ws__belief;
/* Before a series of questions on one space about shapes near target. */
void ws__transfer_fit(ws__transfer *transfer, const ws__space *space,
                      int target);
/* All shapes, the nearest to that target first. */
const int *ws__transfer_order(const ws__transfer *transfer);
/* deviation < 0: nothing is known yet; log_us is the roofline's then. */
ws__belief ws__transfer_believe(ws__transfer *transfer, const ws__space *space,
                                const ws_candidate *candidate, int shape);
/* E max(0, ln of best_us / us). */
double ws__belief_gain(const ws__belief *belief, double best_us);

#endif
