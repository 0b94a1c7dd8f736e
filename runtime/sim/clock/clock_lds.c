/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * LDS: 32 banks of 4 bytes. An access is served in phases of 32, 16 or 8 lanes
 * by its width; a phase takes as many clocks as the worst bank has different
 * dwords to give (the same dword for many lanes is one). The port of a pair of
 * SIMDs moves 64 bytes a clock; stores send their addresses the same way.
 * And occupancy, which LDS, registers and wave slots limit.
 */
#include "clock.h"

/* ---- phases -----------------------------------------------------------------
 */

/* ds_read_b128: which lanes are served together. timing 6 [SHARK] */
static const uint8_t read_b128_lanes[WS_LANES] = {
    0,  1,  2,  3,  20, 21, 22, 23, 32, 33, 34, 35, 52, 53, 54, 55,
    4,  5,  6,  7,  16, 17, 18, 19, 36, 37, 38, 39, 48, 49, 50, 51,
    8,  9,  10, 11, 28, 29, 30, 31, 40, 41, 42, 43, 60, 61, 62, 63,
    12, 13, 14, 15, 24, 25, 26, 27, 44, 45, 46, 47, 56, 57, 58, 59};

enum { BANKS = 32 };

/* The dwords of a phase, by bank. */
typedef struct phase {
  uint8_t count[BANKS];
  uint32_t words[BANKS][WS_LANES];
  int worst;
} phase;

static void add_word(phase *p, uint32_t word) {
  const uint32_t bank = word % BANKS;
  for (int i = 0; i < p->count[bank]; i++)
    if (p->words[bank][i] == word)
      return;
  if (p->count[bank] == WS_LANES)
    return;
  p->words[bank][p->count[bank]++] = word;
  if (p->count[bank] > p->worst)
    p->worst = p->count[bank];
}

static int lanes_of_phase(int bytes) {
  return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
}

static void add_passes(const ws_access *access, const uint64_t *addresses,
                       ws_lds_cost *cost) {
  const int width = lanes_of_phase(access->bytes);
  const bool shuffled = width == 8 && !access->store;
  for (int first = 0; first < WS_LANES; first += width) {
    phase p;
    memset(p.count, 0, sizeof p.count);
    p.worst = 0;
    for (int i = first; i < first + width; i++) {
      const int lane = shuffled ? read_b128_lanes[i] : i;
      if (!(access->mask >> lane & 1))
        continue;
      const uint64_t at = addresses[lane];
      const uint64_t last = (at + access->bytes - 1) / 4;
      for (uint64_t word = at / 4; word <= last; word++)
        add_word(&p, (uint32_t)word);
    }
    cost->array += p.worst;
    cost->ideal += p.worst > 0;
  }
}

ws_lds_cost ws__lds_cost(const ws_access *access,
                         const ws__clock_constants *constants) {
  ws_lds_cost cost = {0};
  if (access->mask) {
    add_passes(access, access->address, &cost);
    if (access->pair)
      add_passes(access, access->second, &cost);
  }
  int bytes = access->bytes * (access->pair ? 2 : 1);
  bytes = bytes < 4 ? 4 : bytes;
  const int data = bytes * WS_LANES / (int)constants->lds_port_bytes;
  cost.port =
      access->store || access->atomic
          ? data + (int)constants->lds_address
          : (data > constants->lds_address ? data
                                           : (int)constants->lds_address);
  return cost;
}

/* ---- remembered
 * -------------------------------------------------------------- An instruction
 * mostly comes back with the same pattern of addresses. Moving all of them by
 * whole dwords moves them round the banks alike: same clocks. */

static bool same_pattern(const ws_lds_memory *last, const ws_access *access,
                         uint64_t base) {
  uint64_t differs = (last->base ^ base) & 3;
  for (int lane = 0; lane < WS_LANES; lane++)
    differs |= (access->address[lane] - base) ^ last->address[lane];
  if (access->pair)
    for (int lane = 0; lane < WS_LANES; lane++)
      differs |= (access->second[lane] - base) ^ last->second[lane];
  return !differs;
}

ws_lds_cost ws__lds_cost_again(ws_lds_memory *last, const ws_access *access,
                               const ws__clock_constants *constants) {
  const uint64_t base = access->address[0];
  if (last->known && last->mask == access->mask &&
      same_pattern(last, access, base))
    return last->cost;
  last->known = true;
  last->mask = access->mask;
  last->base = base;
  for (int lane = 0; lane < WS_LANES; lane++) {
    last->address[lane] = access->address[lane] - base;
    last->second[lane] = access->second[lane] - base;
  }
  last->cost = ws__lds_cost(access, constants);
  return last->cost;
}

/* ---- occupancy --------------------------------------------------------------
 */

static int64_t round_up(int64_t value, int64_t granule) {
  return (value + granule - 1) / granule * granule;
}

/* Workgroups of `waves` waves when a SIMD has room for so many waves. */
static int64_t groups_of_waves(int64_t per_simd, int waves,
                               const ws__clock_constants *c) {
  return c->simds * per_simd / waves;
}

ws__residence ws__occupancy(int vgprs, int sgprs, uint32_t lds_bytes, int waves,
                            const ws__clock_constants *c) {
  const int64_t by_vgpr =
      c->vgpr_file / round_up(vgprs < 1 ? 1 : vgprs, c->vgpr_granule);
  const int64_t by_sgpr =
      c->sgpr_file / round_up(sgprs < 1 ? 1 : sgprs, c->sgpr_granule);
  const int64_t by_lds =
      lds_bytes ? c->lds_bytes / round_up(lds_bytes, c->lds_granule)
                : INT64_MAX;
  const struct {
    int64_t groups;
    const char *name;
  } limits[] = {
      {groups_of_waves(c->waves_per_simd, waves, c), "waves"},
      {groups_of_waves(by_vgpr, waves, c), "vgpr"},
      {groups_of_waves(by_sgpr, waves, c), "sgpr"},
      {by_lds, "lds"},
  };
  ws__residence least = {(int)limits[0].groups, limits[0].name};
  for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].groups < least.groups)
      least = (ws__residence){(int)limits[i].groups, limits[i].name};
  return least;
}
