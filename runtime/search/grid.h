/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The grid of `evolve`: fixed bins over facts of the compiled candidate, so
 * that an old candidate never changes its cell.
 */
#ifndef WAVESMITH_SEARCH_GRID_H
#define WAVESMITH_SEARCH_GRID_H

#include "wavesmith/bound_model.h"
#include "wavesmith/target.h"

/* lds: bytes of a workgroup; registers of a lane; occupancy: waves per SIMD
 * (warps per scheduler); bottleneck: ws_bound of the largest shape, where there
 * is a bound model; tile: outputs of a workgroup. */
#define WS__AXIS_MAP(X)                                                        \
  X(LDS, "lds") X(REGISTERS, "registers") X(OCCUPANCY, "occupancy")            \
  X(BOTTLENECK, "bottleneck") X(TILE, "tile")
typedef enum ws__axis {
#define WS__AXIS_ENUM(name, text) WS__AXIS_##name,
  WS__AXIS_MAP(WS__AXIS_ENUM)
#undef WS__AXIS_ENUM
  WS__AXIS_COUNT
} ws__axis;

typedef struct ws__cell {
  int8_t bins[WS__AXIS_COUNT]; /* -1: not known */
  ws_target_family family;     /* whose bins they are */
} ws__cell;

/* result NULL: only what the candidate's parameters say. bound: a
 * ws_bound_text; "": not known. Of several launches the longest counts. */
ws__cell ws__cell_of(const ws_candidate *candidate,
                     const ws_build_result *result, const char *bound);
bool ws__cell_equal(const ws__cell *a, const ws__cell *b);
int ws__cell_distance(const ws__cell *a, const ws__cell *b); /* bins, summed */
/* "lds=16-32K registers=65-128 ..." in the arena. */
char *ws__cell_text(ws_arena *arena, const ws__cell *cell);
#endif
