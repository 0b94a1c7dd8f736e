/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels whose workgroups wait for one another (stream-K, split-K with flags
 * or by who comes last, tiles from a counter, barriers of the grid): when a
 * wave goes on depends on when others have stored, so all compute units run on
 * one clock, over one memory. Each advances by a little less than any value
 * needs from one to another, in turn.
 */
#include "clock.h"

#include <stdlib.h>

/* Less than a store and the load that finds it take. */
enum { SLICE = 256 };

/* Clocks in which no wave did anything but ask: nobody will be answered. More
 * than any load takes. */
enum { STANDSTILL = 50000 };

/* ---- what a wave asks for ---------------------------------------------------
 */

bool ws__polls_step(ws_polls *polls) {
  if (++polls->since > WS_POLL_INSTRUCTIONS)
    polls->count = 0;
  return polls->count < WS_FEW_POLLS;
}

int64_t ws__polls_add(ws_polls *polls, uint32_t index, uint64_t address) {
  polls->since = 0;
  for (int i = 0; i < WS_POLLED; i++)
    if (polls->index[i] == index && polls->address[i] == address)
      return ++polls->count;
  polls->index[polls->next] = index;
  polls->address[polls->next] = address;
  polls->next = (polls->next + 1) % WS_POLLED;
  return polls->count = 0;
}

/* ---- all compute units ------------------------------------------------------
 */

typedef struct device {
  ws_cu **units;
  int count;
  ws_key_map stored;
  int64_t moved_at, progress; /* the last clock at which some wave got on */
} device;

static int64_t next_of(const device *d) {
  int64_t next = WS_CLOCK_NEVER;
  for (int i = 0; i < d->count; i++)
    if (ws__unit_next(d->units[i]) < next)
      next = ws__unit_next(d->units[i]);
  return next;
}

static bool stands_still(device *d, const ws_unit_run *runs, int64_t now) {
  int64_t progress = 0;
  for (int i = 0; i < d->count; i++)
    progress += runs[i].progress;
  if (progress != d->progress)
    d->moved_at = now;
  d->progress = progress;
  return now - d->moved_at > STANDSTILL;
}

static bool is_too_long(const device *d, const ws_unit_run *runs) {
  int64_t instructions = 0;
  for (int i = 0; i < d->count; i++)
    instructions += runs[i].counters.instructions;
  return instructions > WS_MOST_TOGETHER;
}

static ws_status advance_all(device *d, int64_t until, ws_diag *diag) {
  for (int i = 0; i < d->count; i++)
    WS_TRY(ws__unit_advance(d->units[i], until, diag));
  return WS_OK;
}

static ws_status run_to_end(device *d, const ws_unit_run *runs,
                            ws_together *out, ws_diag *diag) {
  int64_t next;
  *out = WS_TOGETHER_ENDED;
  while ((next = next_of(d)) < WS_CLOCK_NEVER) {
    WS_TRY(advance_all(d, next + SLICE, diag));
    *out = stands_still(d, runs, next) ? WS_TOGETHER_STANDS_STILL
           : is_too_long(d, runs)      ? WS_TOGETHER_TOO_LONG
                                       : WS_TOGETHER_ENDED;
    if (*out != WS_TOGETHER_ENDED)
      return WS_OK;
  }
  return WS_OK;
}

ws_status ws__units_together(ws_unit_run *runs, int count, ws_together *out,
                             ws_diag *diag) {
  device d = {.units = calloc((size_t)count, sizeof(ws_cu *)), .count = count};
  WS_ASSERT(d.units);
  for (int i = 0; i < count; i++) {
    runs[i].stored = &d.stored;
    d.units[i] = ws__unit_begin(&runs[i]);
  }
  const ws_status status = run_to_end(&d, runs, out, diag);
  const bool ended = status == WS_OK && *out == WS_TOGETHER_ENDED;
  for (int i = 0; i < count; i++)
    ws__unit_end(d.units[i], ended);
  ws__map_deinit(&d.stored);
  free(d.units);
  return status;
}
