/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The standard sanitizer runs of a candidate. Run 0 and run 1 differ in k, so
 * that the bound model can tell work per k block from work per workgroup; run
 * 1 leaves a ragged edge in its only tile; run 2 has two tiles in both
 * directions, the second ones nearly empty. Shapes that the candidate's own
 * constraints refuse are replaced by the whole tile or left out.
 */
#include "wavesmith/bound_model.h"

/* m and n are multiples of 16 by the problem's definition. */
enum { SHAPE_STEP = 16, DEFAULT_TILE = 32 };

static int64_t tile_extent(const ws_candidate *candidate, const char *name) {
  int index = ws_template_param_index(candidate->tmpl, name);
  return index < 0 ? DEFAULT_TILE : candidate->values[index];
}

static int64_t less_one_step(int64_t extent) {
  return extent > SHAPE_STEP ? extent - SHAPE_STEP : extent;
}

int ws_standard_runs(const ws_candidate *candidate,
                     ws_run out_runs[WS_STANDARD_RUNS]) {
  int64_t tile_m = tile_extent(candidate, "tile_m");
  int64_t tile_n = tile_extent(candidate, "tile_n");
  ws_shape whole = {tile_m, tile_n, 128};
  ws_shape ragged = {less_one_step(tile_m), less_one_step(tile_n), 128};
  ws_shape several = {tile_m + SHAPE_STEP, tile_n + SHAPE_STEP, 128};
  int count = 0;

  out_runs[count++] =
      (ws_run){.shape = {tile_m, tile_n, 256}, .order = WS_WAVES_UP, .seed = 1};
  bool ragged_allowed =
      ws_candidate_broken_require(candidate, &ragged, NULL) < 0;
  out_runs[count++] = (ws_run){.shape = ragged_allowed ? ragged : whole,
                               .order = WS_WAVES_DOWN,
                               .seed = 2 | WS_HARD_INPUTS};
  if (ws_candidate_broken_require(candidate, &several, NULL) < 0)
    out_runs[count++] =
        (ws_run){.shape = several, .order = WS_WAVES_UP, .seed = 3};
  return count;
}
