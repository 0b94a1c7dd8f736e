/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * When a run has to end: its time, Ctrl-C, or a reason to stop early.
 */
#ifndef WAVESMITH_SEARCH_CLOCK_H
#define WAVESMITH_SEARCH_CLOCK_H

#include "wavesmith/base.h"

/* Moments of ws_clock_ms; INFINITY: no limit. Set when the session begins;
 * `stop` by whoever finds that it cannot go on. */
typedef struct ws__clock {
  double start_ms, deadline_ms;
  double search_end_ms; /* the rest is for the finals on the device */
  double finals_end_ms; /* the rest is for confirming winners */
  const char *stop;     /* why it ends early, in words; "" */
} ws__clock;

/* minutes <= 0: no limit. All of it is the search's. */
void ws__clock_start(ws__clock *clock, double minutes);
/* Leaves finals and confirmation their share. */
void ws__clock_spare_finals(ws__clock *clock);
/* The search: interrupted, out of time, or stopped. */
bool ws__clock_must_end(const ws__clock *clock);
/* All of the run: interrupted, or past its deadline. */
bool ws__clock_is_over(const ws__clock *clock);
/* When an answer is not wanted any more, as requests have it (0: never): at
 * `end_ms`. */
double ws__clock_give_up_ms(double end_ms);

/* signals.c: Ctrl-C ends a session cleanly. */
void ws__signals_catch(void);
void ws__signals_restore(void);
int ws__signals_interrupted(void); /* by which signal; 0: not */

#endif
