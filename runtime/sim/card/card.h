/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Profiles of cards for the parts that use their numbers. The rows that a
 * profile can set are the constants of the cycle model (clock_constants.h) and
 * the facts below; both tables hold MI300X's values, and a profile says what
 * differs.
 *
 *   cards.c       the cards that are built in, as data
 *   card_rows.c   the rows, and what may stand in them
 *   card_find.c   a profile by its name
 *   card_file.c   one of a user's, in a JSON file
 *   card_print.c  the list, the JSON, what differs in words
 */
#ifndef WAVESMITH_SIM_CARD_INTERNAL_H
#define WAVESMITH_SIM_CARD_INTERNAL_H

#include "clock_constants.h"
#include "wavesmith/sim_card.h"
#include "wavesmith/sim_correction.h"

/* What the card says of itself and no time depends on; columns as of
 * WS_CLOCK_CONSTANTS. [DS] is AMD's data sheet of the card. */
/* clang-format off */
#define WS_CARD_FACTS(X)                                                       \
  X(memory_bytes, INT64_C(192) << 30, "B", "[DS]: 192 GB of HBM3", "H",        \
    "device memory")                                                           \
  X(memory_bus_bits, 8192, "bit", "[DS]", "H",                                 \
    "memory interface")                                                        \
  X(memory_clock_khz, 1300000, "kHz",                                          \
    "[DS]: 5.2 Gbit/s per pin; two transfers a clock, two channels", "H",      \
    "memory clock")                                                            \
  X(power_watts, 750, "W", "[DS]", "H",                                        \
    "power limit; in the model as loaded_mhz and loaded_percent")
/* clang-format on */

enum {
#define WS_CARD_ROW(name, value, unit, source, confidence, what) WS_CARD_##name,
  WS_CLOCK_CONSTANTS(WS_CARD_ROW) WS_CARD_FACTS(WS_CARD_ROW)
#undef WS_CARD_ROW
      WS_CARD_ROWS
};

/* By WS_CARD_*: MI300X's. */
extern const ws__clock_constant ws__card_rows[WS_CARD_ROWS];
/* -1: there is none of this name. */
int ws__card_row_find(const char *name);
/* What a profile of a user may set the row to: within a factor of 16 of
 * MI300X's value, except where card_rows.c knows better. Numbers that the
 * model's code is built around have one value. */
void ws__card_row_limits(int row, int64_t *out_low, int64_t *out_high);

typedef struct ws__card_value {
  int row; /* WS_CARD_* */
  int64_t value;
  const char *source, *confidence;
} ws__card_value;

/* A card that is built in. */
typedef struct ws__card {
  const char *name, *title;
  const ws__card_value *differs; /* from MI300X */
  int count;
} ws__card;
extern const ws__card ws__cards[];
extern const int ws__card_count;

/* All rows, whoever said them. */
struct ws_sim_card {
  const char *name, *title, *device;
  ws__card_value rows[WS_CARD_ROWS];
  ws__clock_constants constants; /* the same, for the cycle model */
  ws_sim_correction correction;
};

/* Takes over what differs. */
void ws__card_set(ws_sim_card *card, const ws__card_value *value);

/* A profile by name or file; depth: how many stand on it. */
ws_status ws__card_find(const char *name, int depth, ws_arena *arena,
                        const ws_sim_card **out_card,
                        ws_diag *diag) WS_MUST_CHECK;
ws_status ws__card_read(const char *path, int depth, ws_arena *arena,
                        const ws_sim_card **out_card,
                        ws_diag *diag) WS_MUST_CHECK;

#endif
