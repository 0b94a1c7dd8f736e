/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The made-up problem of the search's tests. Nine parameters and three regions
 * with variants: about three million points, of which the constraints leave a
 * part. The time of a point on a shape is worked out here from the parameters,
 * in place of the bound model:
 *   us = base(shape) * product over dimensions of (1 + w * distance / size)
 * where distance is that to an optimum that depends on the shape. So the best
 * time of a shape, without the constraints, is base(shape).
 */
#ifndef WAVESMITH_TESTS_SEARCH_LANDSCAPE_H
#define WAVESMITH_TESTS_SEARCH_LANDSCAPE_H

#include "wavesmith/bound_model.h"

#define RECORD(kind, line, operands)                                           \
  "{\"kind\":\"" kind "\",\"line\":" #line ",\"operands\":[" operands "]}"
#define PARAM(name, values, start)                                             \
  RECORD("param", 2,                                                           \
         "\"" name "\",\"ws." name "\",\"" values "\",\"" name "\",\"" start   \
         "\"")
#define HEAD(name)                                                             \
  RECORD("template", 1,                                                        \
         "\"" name "\",\"1\",\"fp8_gemm_blockscale\",\"gfx942\",\"test\"")
#define LAUNCH(grid)                                                           \
  RECORD("launch", 3,                                                          \
         "\"kernel\",\"" grid "\",\"1\",\"1\",\"256\",\"1\",\"a b c\"")
#define REQUIRE(line, expression, reason)                                      \
  RECORD("require", line, "\"" expression "\",\"" reason "\"")
#define REGION(name)                                                           \
  RECORD("region", 5, "\"" name "\",\"contract\"") ","                         \
  RECORD("variant", 6, "\"" name "\",\"" name "_b\",\"other\"") ","            \
  RECORD("variant", 7, "\"" name "\",\"" name "_c\",\"third\"")

/* Text of the template file. */
#define LANDSCAPE                                                              \
  "[" HEAD("landscape") ","                                                    \
  PARAM("layout", "0 1", "0") ","                                              \
  PARAM("tile_m", "16 32 64 128 256", "16") ","                                \
  PARAM("tile_n", "16 32 64 128 256", "16") ","                                \
  PARAM("depth", "0 1 2 3", "0") ","                                           \
  PARAM("split", "1 2 4 8", "1") ","                                           \
  PARAM("order", "0 1 2 3 4 5", "0") ","                                       \
  PARAM("pad", "0 4 8 16", "0") ","                                            \
  PARAM("unroll", "1 2 4 8", "1") ","                                          \
  PARAM("waves", "1 2 4 8", "1") ","                                           \
  LAUNCH("ceildiv(m, tile_m) * ceildiv(n, tile_n) * split") ","                \
  REQUIRE(10, "tile_m * tile_n <= 16384", "registers") ","                     \
  REQUIRE(11, "tile_m * tile_n >= 64 * waves", "work for each wave") ","       \
  REQUIRE(12, "split * 128 <= k", "a slice needs a block") ","                 \
  REGION("stage") "," REGION("store") "," REGION("order_of_tiles") "]"

#endif
