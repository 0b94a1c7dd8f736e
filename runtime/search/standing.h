/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How the portfolio stands on each shape of a large set: its best time, and
 * where there is none, what near shapes suggest. From both follows where it
 * loses most, which is where requests aim.
 */
#ifndef WAVESMITH_SEARCH_STANDING_H
#define WAVESMITH_SEARCH_STANDING_H

#include "ground.h"

typedef struct ws__standing ws__standing;
ws__standing *ws__standing_create(ws_arena *arena, const ws__ground *ground);
void ws__standing_learn(ws__standing *standing, int shape, double us);
bool ws__standing_is_timed(const ws__standing *standing, int shape);
/* The best time; of a shape without one, what near shapes suggest. NAN: nothing
 * is known yet. */
double ws__standing_us(const ws__standing *standing, int shape);
/* What may be gained there, in ln us, at least a little. 0: nothing is known.
 */
double ws__standing_loss(const ws__standing *standing, int shape);

#endif
