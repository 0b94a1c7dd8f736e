/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Vector and scalar memory as one CU sees it. L1 is simulated line by line. Of
 * what lies beyond, the CU has its share: L2, Infinity Cache and HBM each move
 * bytes at their rate divided by the workgroups at work, of which the CU has so
 * many, one line after the other.
 *
 * Where a line that misses L1 comes from:
 *   - this CU brought it before, and since then its XCD filled less than the L2
 *     holds: L2;
 *   - else some CU of the XCD is the first to want it: as often as the prefix
 *     run says (clock_share.c) it is this one, which pays the way to Infinity
 *     Cache or HBM. The others ask at about the same time and wait for the same
 *     fill: same latency, no bandwidth;
 *   - when all that the launch touches fits the L2 and most of it is there, L2.
 * Infinity Cache and HBM likewise. "As often" is dealt out evenly (error
 * diffusion), so that two runs agree.
 */
#include "clock.h"

enum { TICKS = 256, ONE = 1 << 20 /* probability */ };

typedef enum level { LEVEL_L1, LEVEL_L2, LEVEL_MALL, LEVEL_HBM } level;

void ws__cu_memory_init(ws_cu_memory *memory, const ws_sharing *sharing,
                        uint32_t text_count, int64_t mhz, bool warm,
                        ws_counters *counters,
                        const ws__clock_constants *constants, ws_arena *arena) {
  *memory = (ws_cu_memory){.constants = constants,
                           .sharing = sharing,
                           .counters = counters,
                           .mhz = mhz,
                           .warm = warm,
                           .own_groups = 1,
                           .groups = 1,
                           .xcds = 1};
  memory->debt =
      ws_arena_alloc(arena, ((size_t)text_count + 1) * 2 * sizeof(int64_t));
}

void ws__cu_memory_deinit(ws_cu_memory *memory) {
  ws__map_deinit(&memory->seen);
  ws__map_deinit(&memory->written);
  ws__map_deinit(&memory->scalar);
  ws__map_deinit(&memory->pages);
}

void ws__cu_memory_skip(ws_cu_memory *m, int64_t groups, int64_t simulated) {
  m->xcd_fills += (int64_t)((double)m->own_xcd_fills * m->groups /
                            m->own_groups * (double)groups / (double)simulated);
  ws__map_deinit(&m->pages);
}

/* Lines that the XCD fills while this CU fills one. */
static int64_t fills_meanwhile(const ws_cu_memory *m) {
  return (m->groups + m->own_groups / 2) / m->own_groups;
}

/* ---- rates ------------------------------------------------------------------
 */

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t l2_ticks(const ws_cu_memory *m, int64_t bytes, int64_t rate) {
  const ws__clock_constants *c = m->constants;
  return most(bytes * TICKS * m->groups / (m->own_groups * rate),
              bytes * TICKS / c->cu_rate);
}

/* gb_per_s = bytes / ns, of all CUs. */
static int64_t device_ticks(const ws_cu_memory *m, int64_t bytes,
                            int64_t gb_per_s) {
  const int64_t groups = (int64_t)m->groups * m->xcds;
  return bytes * TICKS * groups * m->mhz / (m->own_groups * gb_per_s * 1000);
}

static int64_t mall_ticks(const ws_cu_memory *m, int64_t bytes) {
  return device_ticks(m, bytes, m->constants->mall_rate);
}

/* Takes a place in the queue; returns the clocks until it has been served. */
static int64_t queue(int64_t *free_at, int64_t now, int64_t ticks) {
  *free_at = most(*free_at, now * TICKS) + ticks;
  return *free_at / TICKS - now;
}

static int64_t clocks_of_ns(const ws_cu_memory *m, int64_t ns) {
  return ns * m->mhz / 1000;
}

/* ---- where a line is --------------------------------------------------------
 */

/* True `weight` of `of` times, evenly. */
static bool deal(int64_t *debt, int64_t weight, int64_t of) {
  *debt += of > 0 ? weight * ONE / of : ONE;
  if (*debt < ONE)
    return false;
  *debt -= ONE;
  return true;
}

static int64_t footprint_lines(const ws_cu_memory *m) {
  return most(1, m->sharing->footprint_bytes / m->constants->line);
}

/* Weight that is left when CUs have filled `filled` of `all` lines, `own` of
 * them this one: a line that it has not filled may be there already. A load
 * that shares nothing is not helped by others, unless the launch is so long
 * that its `sharers` want each line again and again. */
static int64_t still_absent(const ws_cu_memory *m, int64_t weight, int64_t of,
                            int64_t filled, int64_t own, int64_t sharers) {
  const int64_t all = footprint_lines(m);
  if (weight == of && m->sharing->lines / sharers < 2 * all)
    return weight;
  return filled >= all ? 0 : weight * (all - filled) / (all - own);
}

typedef struct origin {
  level latency; /* of which level */
  level pays;    /* moves the line from there, with what lies between;
                  * LEVEL_L2: waits for another's fill, or finds it */
} origin;

/* What the launch touches, stores included. */
static bool fits(const ws_cu_memory *m, int64_t bytes) {
  return m->sharing->touched_bytes <= bytes;
}

/* The XCD has filled less than L2 holds since `filled_at`. */
static bool is_young(const ws_cu_memory *m, int64_t filled_at) {
  const int64_t l2_lines = m->constants->l2_bytes / m->constants->line;
  return m->xcd_fills - filled_at < l2_lines;
}

/* Earlier launches left it in the Infinity Cache, or WARM says so. */
static bool was_in_mall(const ws_cu_memory *m, uint64_t address) {
  const ws_held *held = m->sharing->held;
  return fits(m, m->constants->mall_bytes) &&
         (m->warm || (held && ws__held_has(held, address)));
}

/* Another CU has just stored it. */
static bool was_stored(const ws_cu_memory *m, uint64_t line) {
  return m->stored && *ws__map_at(m->stored, line, NULL);
}

/* A line that comes into the XCD. */
static origin beyond_l2(ws_cu_memory *m, uint64_t line, const ws_share *share,
                        uint32_t index, bool pays) {
  const int64_t all = footprint_lines(m);
  const bool mall_fits = fits(m, m->constants->mall_bytes);
  if (m->warm && mall_fits)
    return (origin){LEVEL_MALL, pays ? LEVEL_MALL : LEVEL_L2};
  int64_t weight = share->new_in_device;
  if (mall_fits)
    weight = still_absent(m, weight, share->new_in_xcd, m->device_fills,
                          m->own_device_fills, 1);
  const bool is_there = mall_fits && 2 * m->device_fills > all;
  const uint64_t address = line * (uint64_t)m->constants->line;
  const level first =
      was_in_mall(m, address) || was_stored(m, line) ? LEVEL_MALL : LEVEL_HBM;
  const level latency = is_there ? LEVEL_MALL : first;
  if (!pays)
    return (origin){latency, LEVEL_L2};
  if (!deal(&m->debt[2 * index + 1], weight, share->new_in_xcd))
    return (origin){latency, LEVEL_MALL};
  m->device_fills += fills_meanwhile(m) * m->xcds;
  m->own_device_fills++;
  return (origin){first, first};
}

/* ---- translation ------------------------------------------------------------
 */

/* Clocks that a line which misses L1 waits for the address of its page. The
 * first access to a page is free, and so is the first one after workgroups that
 * are not simulated: they may have been there just before. */
static int64_t translate(ws_cu_memory *m, uint64_t line) {
  const uint64_t page = line * (uint64_t)m->constants->line / WS_TLB_PAGE + 1;
  ws_tlb *tlb = &m->tlb;
  if (tlb->page[tlb->last] == page)
    return 0;
  int oldest = 0;
  bool is_new;
  tlb->uses++;
  for (int i = 0; i < WS_TLB_PAGES; i++) {
    if (tlb->page[i] == page) {
      tlb->used[i] = tlb->uses;
      tlb->last = i;
      return 0;
    }
    if (tlb->used[i] < tlb->used[oldest])
      oldest = i;
  }
  tlb->page[oldest] = page;
  tlb->used[oldest] = tlb->uses;
  tlb->last = oldest;
  ws__map_at(&m->pages, page, &is_new);
  return is_new ? 0 : m->constants->tlb_miss;
}

static const ws_share alone = {1, 1, 1};

static origin find_line(ws_cu_memory *m, uint64_t line, uint32_t index,
                        bool scratch) {
  const bool l2_fits = fits(m, m->constants->l2_bytes) && !scratch;
  const int64_t all = footprint_lines(m);
  bool is_new;
  int64_t *filled_at = ws__map_at(&m->seen, line, &is_new);
  const bool here = !is_new && (l2_fits || is_young(m, *filled_at));
  *filled_at = m->xcd_fills;
  if (here)
    return (origin){LEVEL_L2, LEVEL_L2};
  if (scratch && is_new) /* nothing was there: nothing is read */
    return (origin){LEVEL_L2, LEVEL_L2};
  const ws_share *share = &m->sharing->loads[index];
  if (share->lines == 0)
    share = m->sharing->overall.lines ? &m->sharing->overall : &alone;
  if (scratch)
    share = &alone;
  int64_t weight = share->new_in_xcd;
  if (l2_fits)
    weight = still_absent(m, weight, share->lines, m->xcd_fills,
                          m->own_xcd_fills, m->constants->xcds);
  if (deal(&m->debt[2 * index], weight, share->lines)) {
    m->xcd_fills += fills_meanwhile(m);
    m->own_xcd_fills++;
    return beyond_l2(m, line, share, index, true);
  }
  if (l2_fits && 2 * m->xcd_fills > all)
    return (origin){LEVEL_L2, LEVEL_L2};
  return beyond_l2(m, line, share, index, false);
}

/* ---- a line from beyond L1 --------------------------------------------------
 */

static void count_line(ws_cu_memory *m, origin from) {
  ws_counters *n = m->counters;
  const int64_t bytes = m->constants->line;
  n->l2_lines++;
  n->l2_bytes += bytes;
  if (from.pays == LEVEL_L2) {
    n->l2_hits++;
    return;
  }
  n->mall_lines++;
  n->mall_hits += from.pays == LEVEL_MALL;
  n->mall_bytes += bytes;
  n->hbm_bytes += from.pays == LEVEL_HBM ? bytes : 0;
}

/* Clocks that a line waits where channels of L2 are crowded. They serve whoever
 * comes, so a CU is held to its share of them over longer than a load takes,
 * not line by line. */
static int64_t wait_for_channel(ws_cu_memory *m, int64_t now) {
  const ws__clock_constants *c = m->constants;
  const int64_t crowding = m->sharing->crowding;
  if (crowding <= 256)
    return 0;
  const int64_t since = most(0, now - c->l2_latency);
  const int64_t ticks =
      l2_ticks(m, c->line, most(1, c->l2_rate * 256 / crowding));
  return most(0, since + queue(&m->channels_free, since, ticks) - now);
}

static int64_t fetch_line(ws_cu_memory *m, uint64_t line, uint32_t index,
                          bool scratch, int64_t now) {
  const ws__clock_constants *c = m->constants;
  const origin from = find_line(m, line, index, scratch);
  count_line(m, from);
  now += translate(m, line);
  int64_t latency = c->l2_latency;
  int64_t wait = queue(&m->l2_free, now, l2_ticks(m, c->line, c->l2_rate));
  wait = most(wait, wait_for_channel(m, now));
  if (from.latency >= LEVEL_MALL) {
    const bool moves = from.pays >= LEVEL_MALL;
    wait = most(wait,
                queue(&m->mall_free, now, moves ? mall_ticks(m, c->line) : 0));
    latency = c->l2_latency + clocks_of_ns(m, c->mall_extra);
  }
  if (from.latency == LEVEL_HBM) {
    const bool moves = from.pays == LEVEL_HBM;
    wait = most(wait, queue(&m->hbm_free, now,
                            moves ? device_ticks(m, c->line, c->hbm_rate) : 0));
    latency = c->l2_latency + clocks_of_ns(m, c->hbm_extra);
  }
  return now + latency + wait;
}

/* By the lowest bits: a choice that folds higher ones in is not published, and
 * rows a power of two apart do meet in one set (foreign programs: atax). */
static int l1_set(uint64_t line) { return (int)(line & (WS_L1_SETS - 1)); }

/* The way that has the line, -1: none. */
static int find_way(ws_cu_memory *m, int set, uint64_t line) {
  const uint64_t *tag = m->l1[set].tag;
  uint8_t *hint = &m->l1_way[line % WS_L1_HINTS];
  if (tag[*hint] == line + 1)
    return *hint;
  int found = -1;
  for (int way = 0; way < WS_L1_WAYS; way++)
    if (tag[way] == line + 1)
      found = way;
  if (found >= 0)
    *hint = (uint8_t)found;
  return found;
}

static int oldest_way(const ws_cu_memory *m, int set) {
  const int64_t *used = m->l1[set].used;
  int oldest = 0;
  for (int way = 1; way < WS_L1_WAYS; way++)
    if (used[way] < used[oldest])
      oldest = way;
  return oldest;
}

/* When the line is there for a load that looks at `now`. */
static int64_t load_line(ws_cu_memory *m, uint64_t line, uint32_t index,
                         bool bypass, bool scratch, int64_t now) {
  const int set = l1_set(line);
  m->counters->l1_lines++;
  int way = bypass ? -1 : find_way(m, set, line);
  if (way >= 0) {
    m->l1[set].used[way] = ++m->l1_uses;
    m->counters->l1_hits++;
    return most(now + m->constants->l1_latency, m->l1[set].ready[way]);
  }
  const int64_t ready = fetch_line(m, line, index, scratch, now);
  if (bypass)
    return ready;
  way = oldest_way(m, set);
  m->l1[set].tag[way] = line + 1;
  m->l1[set].ready[way] = ready;
  m->l1[set].used[way] = ++m->l1_uses;
  m->l1_way[line % WS_L1_HINTS] = (uint8_t)way;
  return ready;
}

void ws__cu_memory_forget_l1(ws_cu_memory *m) {
  for (int set = 0; set < WS_L1_SETS; set++)
    memset(m->l1[set].tag, 0, sizeof m->l1[set].tag);
}

/* A stored line takes its place in L2 as a loaded one does. What fits there as
 * a whole displaces nothing. */
static void fill_by_store(ws_cu_memory *m, uint64_t line) {
  bool is_new;
  int64_t *filled_at = ws__map_at(&m->seen, line, &is_new);
  if (!fits(m, m->constants->l2_bytes) &&
      (is_new || !is_young(m, *filled_at))) {
    m->xcd_fills += fills_meanwhile(m);
    m->own_xcd_fills++;
  }
  *filled_at = m->xcd_fills;
}

/* Clocks until it has left the CU. */
static int64_t store_segment(ws_cu_memory *m, uint64_t segment, int64_t now) {
  const ws__clock_constants *c = m->constants;
  const int64_t bytes = c->store_segment;
  const uint64_t address = segment * (uint64_t)bytes;
  bool is_new;
  m->counters->l2_bytes += bytes;
  int64_t wait = queue(&m->l2_free, now, l2_ticks(m, bytes, c->l2_write_rate));
  int64_t *written_at = ws__map_at(&m->written, segment, &is_new);
  const bool here =
      !is_new && (fits(m, c->l2_bytes) || is_young(m, *written_at));
  fill_by_store(m, address / (uint64_t)c->line);
  if (m->stored)
    *ws__map_at(m->stored, address / (uint64_t)c->line, NULL) = 1;
  *written_at = m->xcd_fills;
  if (here) /* written over before it left L2 */
    return wait;
  m->counters->mall_bytes += bytes;
  wait = most(wait, queue(&m->mall_free, now, mall_ticks(m, bytes)));
  if (!was_in_mall(m, address) && (is_new || !fits(m, c->mall_bytes))) {
    m->counters->hbm_bytes += bytes;
    wait = most(wait,
                queue(&m->hbm_free, now, device_ticks(m, bytes, c->hbm_rate)));
  }
  return wait;
}

int64_t ws__cu_memory_drained(const ws_cu_memory *m) {
  return most(m->l2_free, most(m->mall_free, m->hbm_free)) / TICKS;
}

/* ---- one instruction --------------------------------------------------------
 */

/* Addresses of one piece of an access: all of it, except in scratch, where
 * hardware stores dword w of 64 lanes side by side. */
typedef struct pieces {
  const ws_access *access;
  const ws_group *group;
  int count, bytes;
  bool scratch;
} pieces;

static pieces pieces_of(const ws_access *access, const ws_group *group) {
  pieces p = {access, group, 1, access->bytes, false};
  const int lane = __builtin_ctzll(access->mask);
  if (ws__in_scratch(group, access->address[lane])) {
    p.scratch = true;
    p.count = access->bytes > 4 ? access->bytes / 4 : 1;
    p.bytes = access->bytes < 4 ? access->bytes : 4;
  }
  return p;
}

static uint64_t piece_address(const pieces *p, int piece, int lane) {
  const uint64_t address = p->access->address[lane];
  if (!p->scratch)
    return address;
  const uint64_t base = (uint64_t)(uintptr_t)p->group->scratch;
  const uint64_t per_lane = p->group->scratch_bytes, offset = address - base;
  const uint64_t wave = offset / per_lane / WS_LANES;
  const uint64_t within = offset % per_lane;
  return base + wave * per_lane * WS_LANES +
         (within / 4 + (uint64_t)piece) * 256 + (uint64_t)lane * 4 + within % 4;
}

/* WIDE_LANES: micro [cache_read_blocks], 30.6 B/clk of a CU at 8 bytes a lane:
 * 16 clk; 4 bytes take 4 and 16 bytes 16. */
enum { ADDRESS_LANES = 16, WIDE_LANES = 4, MOST_BLOCKS = 2 * ADDRESS_LANES };

/* The different blocks of block_bytes, a power of two, that 16 lanes touch. */
static int distinct_blocks(const pieces *p, int piece, int first_lane,
                           uint64_t block_bytes, uint64_t blocks[MOST_BLOCKS]) {
  const int bits = __builtin_ctzll(block_bytes);
  int count = 0;
  for (int lane = first_lane; lane < first_lane + ADDRESS_LANES; lane++) {
    if (!(p->access->mask >> lane & 1))
      continue;
    const uint64_t address = piece_address(p, piece, lane);
    const uint64_t last = (address + (uint64_t)p->bytes - 1) >> bits;
    for (uint64_t block = address >> bits; block <= last; block++) {
      int i = count - 1;
      while (i >= 0 && blocks[i] != block)
        i--;
      if (i < 0 && count < MOST_BLOCKS)
        blocks[count++] = block;
    }
  }
  return count;
}

/* What workgroups tell each other goes by the Infinity Cache, whose filters
 * keep the L2s coherent (CDNA3 white paper). */
static int64_t coherent(const ws_cu_memory *m, int64_t now, int64_t ready) {
  const ws__clock_constants *c = m->constants;
  const int64_t way = c->l2_latency + clocks_of_ns(m, c->mall_extra);
  return m->stored ? most(ready, now + way) : ready;
}

/* Atomics reach L2 as stores do, and come back as loads that L2 has. */
static int64_t touch(ws_cu_memory *m, const ws_access *access,
                     const ws_instruction *in, uint32_t index, uint64_t block,
                     bool scratch, int64_t now) {
  const ws__clock_constants *c = m->constants;
  const bool bypass = (in->flags & WS_SC1) != 0;
  if (access->atomic) {
    const int64_t done =
        now + c->l2_latency + c->atomic_extra + store_segment(m, block, now);
    return coherent(m, now, done);
  }
  if (access->store)
    return now + c->store_ack + store_segment(m, block, now);
  const int64_t ready = load_line(m, block, index, bypass, scratch, now);
  return bypass ? coherent(m, now, ready) : ready;
}

/* Four lanes per clk of 8 bytes and more, else 16; those that are off pass. */
static int64_t address_clocks(const ws_access *access) {
  const int lanes = access->bytes > 4 ? WIDE_LANES : ADDRESS_LANES;
  const uint64_t some = (UINT64_C(1) << lanes) - 1;
  int64_t clocks = 0;
  for (int lane = 0; lane < WS_LANES; lane += lanes)
    clocks += (access->mask >> lane & some) != 0;
  return clocks;
}

ws_vmem_cost ws__vmem_cost(ws_cu_memory *m, const ws_access *access,
                           const ws_instruction *in, uint32_t index,
                           const ws_group *group, int64_t start) {
  const ws__clock_constants *c = m->constants;
  ws_vmem_cost cost = {(int)c->vmem_address, start + c->l1_latency};
  if (!access->mask) /* nothing in bounds, no lane active */
    return cost;
  const pieces p = pieces_of(access, group);
  const bool writes = access->store || access->atomic;
  const uint64_t block = (uint64_t)(writes ? c->store_segment : c->line);
  const int64_t bytes =
      (int64_t)access->bytes * __builtin_popcountll(access->mask);
  int64_t tags = 0;
  for (int piece = 0; piece < p.count; piece++)
    for (int lane = 0; lane < WS_LANES; lane += ADDRESS_LANES) {
      uint64_t blocks[MOST_BLOCKS];
      const int count = distinct_blocks(&p, piece, lane, block, blocks);
      for (int i = 0; i < count; i++)
        cost.done_at = most(cost.done_at, touch(m, access, in, index, blocks[i],
                                                p.scratch, start + tags + i));
      tags += most(1, count);
    }
  m->counters->l1_bytes += bytes;
  const int64_t lanes = most(c->vmem_address, address_clocks(access));
  if (writes)
    cost.unit = (int)(c->vmem_address + tags * c->vmem_store);
  else
    cost.unit = (int)most(most(lanes, tags), bytes / c->l1_bytes);
  return cost;
}

int64_t ws__smem_done(ws_cu_memory *m, const ws_access *access, int64_t start) {
  const ws__clock_constants *c = m->constants;
  const uint64_t line = access->address[0] / (uint64_t)c->smem_line;
  uint64_t *tag = &m->smem_tag[line % WS_SMEM_LINES];
  if (!access->mask || *tag == line + 1)
    return start + c->smem_hit;
  *tag = line + 1;
  bool is_new;
  ws__map_at(&m->scalar, line, &is_new);
  return start + (is_new ? c->smem_mall : c->smem_l2);
}
