/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The space of a template as the built-in proposer sees it: one dimension per
 * parameter with more than one value and per region with shipped variants. A
 * point is an array of choices, one per dimension. The parameter "layout" is
 * no dimension: the task fixes it.
 */
#ifndef WAVESMITH_SEARCH_SPACE_H
#define WAVESMITH_SEARCH_SPACE_H

#include "wavesmith/problem.h"
#include "wavesmith/template.h"

typedef struct ws__dimension {
  int param;  /* index of a parameter, or -1 */
  int region; /* index of a region, or -1; choice 0 is its default body */
  int size;   /* choices, at least 2 */
} ws__dimension;

typedef struct ws__space {
  const ws_template *tmpl;
  const ws__dimension *dimensions;
  int count;
  const ws_shape *shapes; /* a legal point takes at least one of them */
  int shape_count;
  /* Scope of the constraints: parameters, then m, n, k. Scratch space. */
  ws_binding *bindings;
  const int64_t *fixed_values; /* defaults and the layout, by parameter */
  const int *require_depth;    /* by constraint: dimensions it needs set */
  bool **names;                /* by constraint, dimension: it names that */
  int64_t *broken;             /* by constraint: how often it was broken */
} ws__space;

/* Ids that were proposed already. */
typedef struct ws__seen {
  uint64_t *slots;
  size_t count, capacity;
} ws__seen;
void ws__seen_deinit(ws__seen *seen);
bool ws__seen_contains(const ws__seen *seen, const ws_hash *id);
void ws__seen_add(ws__seen *seen, const ws_hash *id);

/* layout: index of the problem's layout. A template without the parameter
 * serves layout 0 only; WS_INPUT when it cannot serve this one. */
ws_status ws__space_init(ws__space *space, ws_arena *arena,
                         const ws_template *tmpl, int layout,
                         const char *layout_name, const ws_shape *shapes,
                         int shape_count, ws_diag *diag) WS_MUST_CHECK;

/* The choice of a region that a candidate has rewritten: a body of its own, not
 * one that the template ships. Drawing and moving leave such a choice as it is;
 * the body comes from a `base`, a candidate of the template (NULL: none). */
enum { WS__OWN_BODY = -1 };

void ws__space_default(const ws__space *space, int *out_point);
bool ws__space_is_legal(ws__space *space, const int *point);
/* Of a candidate of this template. */
void ws__space_point_of(const ws__space *space, const ws_candidate *candidate,
                        int *out_point);
ws_candidate *ws__space_candidate(const ws__space *space, ws_arena *arena,
                                  const int *point);
/* Regions without a choice, and those with a body of their own, as in base. */
ws_candidate *ws__space_candidate_on(const ws__space *space, ws_arena *arena,
                                     const int *point,
                                     const ws_candidate *base);

/* Uniform over legal points that were not seen, by rejection; where that finds
 * none, a depth-first walk that cuts off at the first broken constraint. */
typedef enum ws__draw {
  WS__DRAW_FOUND,
  WS__DRAW_NONE,    /* the walk saw the whole space: there is none left */
  WS__DRAW_GAVE_UP, /* the space is too large to tell */
  WS__DRAW_WAIT     /* a strategy wants more results first */
} ws__draw;
ws__draw ws__space_draw(ws__space *space, ws_rng *rng, const ws__seen *seen,
                        int *out_point);
ws__draw ws__space_draw_on(ws__space *space, ws_rng *rng, const ws__seen *seen,
                           const ws_candidate *base, int *out_point);

/* A legal point, not seen, that differs from `from` in one to three
 * dimensions, mostly by one step, and in those that constraints then make
 * change with them. False when tries find none. */
bool ws__space_move(ws__space *space, ws_rng *rng, const ws__seen *seen,
                    const ws_candidate *base, const int *from, int *out_point);
/* A legal point, not seen, with each choice of a or b, but for those that
 * constraints make change. base has the rewritten bodies of the child. */
bool ws__space_cross(ws__space *space, ws_rng *rng, const ws__seen *seen,
                     const ws_candidate *base, const int *a, const int *b,
                     int *out_point);

/* "tile_m 64 -> 128; stage: default -> stage_wide", in the arena. */
char *ws__space_describe_move(const ws__space *space, ws_arena *arena,
                              const int *from, const int *to);

/* WS_INPUT: no legal point; names the constraint that was broken most. */
ws_status ws__space_unsatisfiable(const ws__space *space, ws__draw draw,
                                  ws_diag *diag);

#endif
