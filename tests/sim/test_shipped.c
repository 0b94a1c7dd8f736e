/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * End to end: candidates of the shipped template on shapes with and without
 * tails, every element against the fp64 reference, no findings.
 */
#include "../gemm_shape.h"
#include "shipped.h"

/* Tails in m and n (576 is 4.5 tiles of 128), k of one and of odd blocks. */
static const ws_shape shapes[] = {
    GEMM_SIZES(64, 64, 128), GEMM_SIZES(96, 144, 384),
    GEMM_SIZES(272, 576, 256), GEMM_SIZES(16, 128, 640)};

static void check_candidate(const char *assignments) {
  ws_arena *arena = ws_arena_create();
  size_t size;
  const void *image = shipped_build(arena, assignments, &size);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    shipped self;
    shipped_open(&self, assignments, image, size, NULL);
    const ws_shape shape = gemm_named(shapes[i]);
    shipped_inputs(&self, &shape);
    if (!shipped_run(&self)) {
      shipped_show(&self);
      WS_FAIL("findings on shape %zu of %s", i, assignments);
    }
    const ws_comparison compared =
        shipped_compare(&self, 0, shapes[i].size[DIM_M]);
    if (compared.wrong)
      WS_FAIL("shape %zu of %s: %lld of %lld wrong, element %lld is %g, want "
              "%g",
              i, assignments, (long long)compared.wrong,
              (long long)compared.checked, (long long)compared.first.element,
              compared.first_got, compared.first_want);
    WS_CHECK_INT(compared.checked,
                 shapes[i].size[DIM_M] * shapes[i].size[DIM_N]);
    shipped_close(&self);
  }
  ws_arena_destroy(arena);
}

WS_TEST(tiles_of_16) { check_candidate(shipped_candidates[0]); }
WS_TEST(tiles_of_32_split) { check_candidate(shipped_candidates[1]); }
WS_TEST(two_buffers_split) { check_candidate(shipped_candidates[2]); }
WS_TEST(padded_rows) { check_candidate(shipped_candidates[3]); }
