/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a strategy knows and does. The knowledge is rebuilt from results, which
 * arrive in the order of their proposals: the next proposal depends on the
 * seed and on those results alone.
 */
#ifndef WAVESMITH_SEARCH_STRATEGY_H
#define WAVESMITH_SEARCH_STRATEGY_H

#include "space.h"
#include "wavesmith/build.h"

enum {
  /* Proposal i is drawn from what the results up to i - WS__WINDOW tell. Also
   * the number of compile servers that can be kept busy. */
  WS__WINDOW = 16,
  WS__TOP = 4 /* candidates remembered per shape */
};

typedef struct ws__proposal {
  int *point;         /* NULL: the baseline, which is outside the space */
  const char *origin; /* "default", "random", "local" */
  int parent;         /* index of a result, -1: none */
  int target;         /* shape that it aims at, -1: none */
  const char *move;   /* in words */
} ws__proposal;

typedef struct ws__result {
  const int *point;
  int target;
  ws_verdict verdict;
  const double *us; /* by shape; INFINITY: not measured */
  const char *id;
} ws__result;

typedef struct ws__knowledge {
  ws_arena *arena;
  ws__space *space;
  ws__seen *seen;
  int shape_count;
  ws__result *results;
  int count, capacity;
  int (*best)[WS__TOP]; /* by shape: results of the space, best first; -1 */
  int *stale;           /* by shape: proposals aimed at it since it improved */
} ws__knowledge;

void ws__knowledge_init(ws__knowledge *knowledge, ws_arena *arena,
                        ws__space *space, ws__seen *seen, int shape_count);
/* Copies nothing: what result points at must live as long as the arena. */
void ws__knowledge_add(ws__knowledge *knowledge, const ws__result *result);
/* The fastest result for shape, the baseline included; -1: none. */
int ws__knowledge_best(const ws__knowledge *knowledge, int shape);
/* Geometric mean over the shapes that have a time; 0: none. */
double ws__knowledge_geomean(const ws__knowledge *knowledge);

typedef struct ws__strategy {
  const char *name, *purpose;
  /* Fills *out (in the arena); WS__DRAW_NONE when the space is exhausted. */
  ws__draw (*propose)(ws__knowledge *knowledge, ws_rng *rng, ws_arena *arena,
                      ws__proposal *out);
} ws__strategy;

/* NULL: none of that name; the diag then lists them. */
const ws__strategy *ws__strategy_find(const char *name, ws_diag *diag);

#endif
