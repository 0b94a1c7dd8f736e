/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The shapes that an emitted dispatch was tuned on, for the runtime's log of
 * those that it was not (rt.h): rows of the matrix that have a time. Estimates
 * are of a grid on which nothing ran, so of these there is none.
 */
#include "dispatch_internal.h"

#include <math.h>
#include <string.h>

static bool has_time(const ws_matrix *matrix, int shape) {
  for (int c = 0; c < matrix->candidate_count; c++)
    if (isfinite(ws__matrix_us(matrix, shape, c)))
      return true;
  return false;
}

int ws__emit_tuned(const ws_matrix *matrix, ws_strbuf *out) {
  enum { ON_A_LINE = 3 };
  int count = 0;
  if (ws__is_estimate(matrix->provenance))
    return 0;
  for (int s = 0; s < matrix->shape_count; s++) {
    char text[WS_SHAPE_TEXT];
    if (!has_time(matrix, s))
      continue;
    if (!count)
      ws_strbuf_printf(out,
                       "/* The shapes with times that the choice was made "
                       "from. */\n"
                       "static const long long tuned_shapes[][%d] = {",
                       matrix->shapes[0].dims->count);
    ws_strbuf_printf(out, "%s{%s},", count++ % ON_A_LINE ? " " : "\n  ",
                     ws_shape_print(&matrix->shapes[s], text));
  }
  ws_strbuf_puts(out, count ? "};\n\n" : "");
  return count;
}
