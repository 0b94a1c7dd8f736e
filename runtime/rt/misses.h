/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The log of shapes that are launched and were not tuned: WAVESMITH_RT_MISSES
 * (rt.h says what it holds). Any thread may find and count; nothing here is an
 * error of a launch.
 */
#ifndef WAVESMITH_RT_MISSES_H
#define WAVESMITH_RT_MISSES_H

#include "wavesmith/rt.h"

typedef struct ws__misses ws__misses;
/* NULL: nothing is to be logged, or it cannot be, which one warning on stderr
 * says. The dispatch is borrowed until ws__misses_close. */
ws__misses *ws__misses_open(const ws_rt_dispatch *dispatch);
/* Writes what was counted since the last lines. NULL is allowed. */
void ws__misses_close(ws__misses *misses);
/* What ws__misses_count takes for a legal shape; -1: it is near a tuned one, or
 * the table is full. misses may be NULL. */
int32_t ws__misses_find(ws__misses *misses, const long long *shape);
/* One launch more. miss may be -1. */
void ws__misses_count(ws__misses *misses, int32_t miss);

#endif
