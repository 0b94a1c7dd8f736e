/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What CUs have in common. The first instructions of all workgroups that are
 * resident at the same time are executed (addresses only, no clock), and the
 * lines of their loads counted three times: different lines of each CU, of
 * each XCD, of the device. Kernels of one grid run in step, so what two
 * workgroups touch in their first instructions they want at the same time, and
 * what holds there is taken to hold for the same loads later on.
 */
#include "clock.h"
#include "step.h"

#include <stdlib.h>

/* ---- map: open addressing, half full at most --------------------------------
 */

enum { FIRST_CAPACITY = 1024 };

static uint64_t place_of(const ws_key_map *map, uint64_t key) {
  uint64_t at = (key + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (map->entries[at & (map->capacity - 1)].key &&
         map->entries[at & (map->capacity - 1)].key != key + 1)
    at++;
  return at & (map->capacity - 1);
}

static void grow(ws_key_map *map) {
  ws_key_map larger = {.capacity =
                           map->capacity ? 2 * map->capacity : FIRST_CAPACITY,
                       .count = map->count};
  larger.entries = calloc(larger.capacity, sizeof *larger.entries);
  WS_ASSERT(larger.entries);
  for (uint64_t i = 0; i < map->capacity; i++)
    if (map->entries[i].key)
      larger.entries[place_of(&larger, map->entries[i].key - 1)] =
          map->entries[i];
  ws__map_deinit(map);
  *map = larger;
}

void ws__map_deinit(ws_key_map *map) {
  free(map->entries);
  *map = (ws_key_map){0};
}

int64_t *ws__map_at(ws_key_map *map, uint64_t key, bool *out_new) {
  if (2 * map->count >= map->capacity)
    grow(map);
  const uint64_t at = place_of(map, key);
  const bool is_new = map->entries[at].key == 0;
  if (is_new) {
    map->entries[at].key = key + 1;
    map->count++;
  }
  if (out_new)
    *out_new = is_new;
  return &map->entries[at].value;
}

/* ---- the prefix -------------------------------------------------------------
 */

/* Instructions of the whole prefix, and of a wave, in a fraction of the time
 * that the cycle model takes. Where so many waves are resident that their part
 * of it ends before a kernel's loop, it goes on as long as `round` says. */
enum { PREFIX_BUDGET = 800000, LEAST_PER_WAVE = 64, MOST_PER_WAVE = 3000 };

typedef struct prefix {
  const ws__clock_constants *constants;
  const ws_plan *plan;
  ws_sharing *out;
  ws_key_map seen;            /* line and XCD -> CUs of it, a bit each;
                               * line alone -> unused */
  ws_key_map loaded, touched; /* allocations */
  int64_t per_wave;
  int64_t round; /* instructions after which a wave of the first workgroup has
                  * come to each load of its loops for the second time */
  ws_channels channels; /* of the first XCD */
  bool learning;        /* how addresses move, and nothing else */
} prefix;

/* Bytes of the allocation that holds address, the first time. */
static int64_t new_allocation(prefix *p, ws_key_map *known, uint64_t address) {
  uint64_t begin, bytes;
  bool is_new;
  if (!ws__memory_find(p->plan->memory, address, &begin, &bytes))
    return 0;
  ws__map_at(known, begin, &is_new);
  return is_new ? (int64_t)bytes : 0;
}

/* What the kernel may store to is not known before it does, and that is at its
 * end; but its arguments are. */
static void add_arguments(prefix *p) {
  for (uint32_t at = 0; at + 8 <= p->plan->kernarg_bytes; at += 8) {
    uint64_t address;
    memcpy(&address, p->plan->kernarg + at, sizeof address);
    p->out->touched_bytes += new_allocation(p, &p->touched, address);
  }
}

/* A line is below 2^57; the rest of the key is the XCD + 1, 0: the device. */
static int64_t *seen_in(prefix *p, uint64_t line, int xcd, bool *out_new) {
  return ws__map_at(&p->seen, line * 64 + (uint64_t)(xcd + 1), out_new);
}

static void add_line(prefix *p, uint64_t line, int xcd, int cu,
                     ws_share *share) {
  bool new_in_xcd, new_in_device;
  int64_t *cus = seen_in(p, line, xcd, &new_in_xcd);
  if (*cus >> cu & 1)
    return;
  *cus |= INT64_C(1) << cu;
  share->lines++;
  if (!new_in_xcd)
    return;
  share->new_in_xcd++;
  seen_in(p, line, -1, &new_in_device);
  if (!new_in_device)
    return;
  share->new_in_device++;
  const uint64_t address = line * (uint64_t)p->constants->line;
  p->out->footprint_bytes += new_allocation(p, &p->loaded, address);
  p->out->touched_bytes += new_allocation(p, &p->touched, address);
}

static void add_access(prefix *p, const ws_wave *wave, uint32_t index, int xcd,
                       int cu) {
  const ws_access *access = &wave->access;
  const int line_bits = __builtin_ctzll((uint64_t)p->constants->line);
  uint64_t last = UINT64_MAX;
  if (access->store || access->atomic || access->is_lds || !access->mask ||
      ws__in_scratch(wave->group,
                     access->address[__builtin_ctzll(access->mask)]))
    return;
  if (p->learning) {
    ws__channels_learn(&p->channels, wave, index);
    if (p->channels.courses[index].turns == 2 &&
        p->round < (int64_t)wave->executed)
      p->round = (int64_t)wave->executed;
    return;
  }
  for (int lane = 0; lane < WS_LANES; lane++) {
    const uint64_t line = access->address[lane] >> line_bits;
    if (!(access->mask >> lane & 1) || line == last)
      continue;
    last = line;
    add_line(p, line, xcd, cu, &p->out->loads[index]);
    if (!xcd)
      ws__channels_add(&p->channels, wave, index, line);
  }
  ws__channels_turn(&p->channels, wave, index);
}

static bool run_wave(prefix *p, ws_wave *wave, int xcd, int cu) {
  bool ran = false;
  while (wave->state == WS_WAVE_READY && !wave->group->fault.id &&
         (int64_t)wave->executed < p->per_wave) {
    const uint32_t index = wave->pc;
    ran = true;
    if (index >= p->plan->kernel->module->text.count)
      return false;
    const uint8_t class_ = wave->group->text->items[index].class_;
    ws__step(wave, false);
    p->out->instructions++;
    if (class_ == WS_CLASS_VMEM || class_ == WS_CLASS_FLAT)
      add_access(p, wave, index, xcd, cu);
  }
  return ran;
}

/* Until each wave has had its instructions, or all of them wait at a barrier
 * for one that had. */
static void run_group(prefix *p, ws_group *group, int xcd, int cu) {
  bool go_on = true;
  while (go_on && !group->fault.id) {
    bool ran = false, ready = false;
    for (int w = 0; w < group->wave_count; w++) {
      ran |= run_wave(p, &group->waves[w], xcd, cu);
      ready |= group->waves[w].state == WS_WAVE_READY;
    }
    go_on = ready ? ran : ws__release_barrier(group);
  }
}

static int64_t work_of(const ws_group *group) {
  int64_t work = 0;
  for (int w = 0; w < group->wave_count; w++) {
    const ws_wave *wave = &group->waves[w];
    const bool ended = wave->state == WS_WAVE_ENDED;
    work += (int64_t)wave->executed * (ended ? 1 : WS_CUT_SHORT);
  }
  return work;
}

static void sum_up(prefix *p, uint32_t count) {
  ws_share *all = &p->out->overall;
  for (uint32_t i = 0; i < count; i++) {
    all->lines += p->out->loads[i].lines;
    all->new_in_xcd += p->out->loads[i].new_in_xcd;
    all->new_in_device += p->out->loads[i].new_in_device;
  }
}

static bool has_ended(const ws_group *group) {
  bool all = true;
  for (int w = 0; w < group->wave_count; w++)
    all &= group->waves[w].state == WS_WAVE_ENDED;
  return all;
}

/* How addresses move, from the first workgroup; nothing of it is counted.
 *
 * A prefix that ended before the loop would take the lines of the loads before
 * it for those of the whole run: few channels of L2, and A's lines, which many
 * share, for B's, which nobody does. */
static void learn(prefix *p, ws_group *group, ws_arena *arena) {
  const int64_t per_wave = p->per_wave;
  ws__channels_init(&p->channels, p->plan, p->constants, arena);
  p->learning = true;
  p->per_wave = MOST_PER_WAVE;
  ws__group_reset(group, p->plan, 0);
  ws__channels_start_group(&p->channels, p->plan->wave_count);
  run_group(p, group, 0, 0);
  if (!has_ended(group))
    ws__channels_cut_short(&p->channels);
  p->learning = false;
  p->per_wave = per_wave > p->round ? per_wave : p->round;
  p->out->instructions = 0;
  ws__overlay_open(p->plan->memory);
}

ws_status ws__sharing_find(const ws_plan *plan, int resident, bool whole_device,
                           const ws__clock_constants *c, ws_arena *arena,
                           ws_sharing *out, ws_diag *diag) {
  const uint32_t count = plan->kernel->module->text.count;
  const int64_t slots = (int64_t)resident * c->cus_per_xcd * c->xcds;
  const int64_t groups =
      (int64_t)plan->group_count < slots ? (int64_t)plan->group_count : slots;
  const int step = whole_device ? 1 : (int)c->xcds;
  *out = (ws_sharing){
      .loads = ws_arena_alloc(arena, (count + 1) * sizeof *out->loads),
      .work = ws_arena_alloc(arena, (size_t)(c->xcds * c->cus_per_xcd) *
                                        sizeof *out->work)};
  prefix p = {.constants = c, .plan = plan, .out = out};
  const int64_t waves = (groups + step - 1) / step * plan->wave_count;
  p.per_wave = PREFIX_BUDGET / waves;
  if (p.per_wave < LEAST_PER_WAVE)
    p.per_wave = LEAST_PER_WAVE;
  if (p.per_wave > MOST_PER_WAVE)
    p.per_wave = MOST_PER_WAVE;
  add_arguments(&p);
  ws_group *group = ws__group_create(plan, false, true);
  ws_status status = WS_OK;
  learn(&p, group, arena);
  for (int64_t i = 0; i < groups && status == WS_OK; i += step) {
    const int64_t xcd = i % c->xcds, cu = i / c->xcds % c->cus_per_xcd;
    ws__group_reset(group, plan, (uint64_t)i);
    ws__channels_start_group(&p.channels, plan->wave_count);
    run_group(&p, group, (int)xcd, (int)cu);
    out->work[xcd + c->xcds * cu] += work_of(group);
    if (group->fault.id)
      status =
          ws_fail(diag, WS_INPUT, NULL, 0, "%s: %s: %s",
                  plan->kernel->info.name, group->fault.id, group->fault.text);
  }
  ws__group_destroy(group);
  ws__map_deinit(&p.seen);
  ws__map_deinit(&p.loaded);
  ws__map_deinit(&p.touched);
  sum_up(&p, count);
  out->crowding =
      ws__channels_crowding(&p.channels, (groups + c->xcds - 1) / c->xcds);
  const int64_t ran = (groups + step - 1) / step;
  out->lines = (int64_t)((double)out->overall.lines / (double)ran *
                         (double)plan->group_count);
  return status;
}
