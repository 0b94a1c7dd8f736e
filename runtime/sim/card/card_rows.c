/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The rows of a profile, and what may stand in them: what keeps the model's
 * integers from overflow, its divisors from 0 and its arrays as large as they
 * are.
 */
#include "card.h"

#include <string.h>

const ws__clock_constant ws__card_rows[WS_CARD_ROWS] = {
#define ROW(name, value, unit, source, confidence, what)                       \
  [WS_CARD_##name] = {#name, value, unit, source, confidence, what},
    WS_CLOCK_CONSTANTS(ROW) WS_CARD_FACTS(ROW)
#undef ROW
};

int ws__card_row_find(const char *name) {
  for (int row = 0; row < WS_CARD_ROWS; row++)
    if (!strcmp(ws__card_rows[row].name, name))
      return row;
  return -1;
}

/* Of the die and of the model's code: the same on every card. */
static const int built_in[] = {
    WS_CARD_simds,        WS_CARD_waves_per_simd, WS_CARD_vgpr_file,
    WS_CARD_vgpr_granule, WS_CARD_sgpr_file,      WS_CARD_sgpr_granule,
    WS_CARD_lds_bytes,    WS_CARD_lds_granule,    WS_CARD_visit,
    WS_CARD_lds_banks,    WS_CARD_fetch_line,     WS_CARD_smem_line,
    WS_CARD_smem_lines,   WS_CARD_line,           WS_CARD_store_segment,
    WS_CARD_l1_sets};

/* A package has room for 8 dies, a die has 40 CUs. */
static const struct {
  int row;
  int64_t low, high;
} narrower[] = {{WS_CARD_xcds, 1, 8},
                {WS_CARD_cus_per_xcd, 1, 40},
                {WS_CARD_loaded_percent, 1, 100},
                {WS_CARD_still_percent, 1, 100}};

void ws__card_row_limits(int row, int64_t *out_low, int64_t *out_high) {
  enum { FACTOR = 16 };
  const int64_t value = ws__card_rows[row].value;
  *out_low = value < FACTOR ? 1 : value / FACTOR;
  *out_high = value * FACTOR;
  for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
    if (built_in[i] == row)
      *out_low = *out_high = value;
  for (size_t i = 0; i < sizeof narrower / sizeof narrower[0]; i++)
    if (narrower[i].row == row) {
      *out_low = narrower[i].low;
      *out_high = narrower[i].high;
    }
}
