/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loads from global memory straight into LDS. As on gfx942 (CDNA3 ISA guide,
 * chapter 9): the lanes write a dword each at M0 + instruction offset + 4 *
 * lane, whatever the width of the load; M0 is the first lane's pointer, so all
 * must have the same. The instruction's offset counts on both sides.
 *
 * The data arrives some time later: for other waves when this one has waited
 * (s.waitcnt) and then met them at a barrier; nothing else in the IR makes it
 * wait before the barrier, and code generation does not on gfx942. Within the
 * wave code generation waits before an LDS access. So each lane's loads that
 * no wait has covered count as writes made after every barrier they cross.
 * s.waitcnt leaves the latest n of a wave's vector memory instructions under
 * way; of those the loads to LDS are at most the latest n.
 */
#include "sanitize_models.h"

static ws_lanes *const lanes = &ws__sanitizer.lanes;

/* The counter has six bits: a 64th load waits for the first. */
enum { MOST_IN_FLIGHT = 63 };
static struct in_flight {
  uint32_t offset[MOST_IN_FLIGHT]; /* of LDS dwords, oldest first */
  uint32_t count;
} in_flight[WS_MAX_LANES];

/* ---- what is under way ------------------------------------------------- */

void ws__to_lds_begin_workgroup(void) {
  for (int lane = 0; lane < lanes->count; lane++)
    in_flight[lane].count = 0;
}

static void keep_latest(struct in_flight *of, uint32_t count) {
  if (of->count <= count)
    return;
  memmove(of->offset, of->offset + of->count - count,
          count * sizeof *of->offset);
  of->count = count;
}

static void start(int lane, uint32_t offset) {
  struct in_flight *of = &in_flight[lane];
  keep_latest(of, MOST_IN_FLIGHT - 1);
  of->offset[of->count++] = offset;
}

/* The barrier still orders the lanes of the wave itself. */
void ws__to_lds_barrier(void) {
  uint32_t loading = 0; /* bit per wave */
  for (int lane = 0; lane < lanes->count; lane++)
    for (uint32_t i = 0; i < in_flight[lane].count; i++) {
      ws__memory_writes_now(lane, in_flight[lane].offset[i]);
      loading |= 1u << lane / WS_WAVE_LANES;
    }
  for (int wave = 0; wave < lanes->wave_count; wave++)
    if (loading >> wave & 1)
      ws__memory_rendezvous(&lanes->wave[wave]);
}

bool ws__to_lds_in_flight(uint32_t lane, uint32_t offset) {
  if (lane >= WS_MAX_LANES)
    return false;
  for (uint32_t i = 0; i < in_flight[lane].count; i++)
    if (offset - in_flight[lane].offset[i] < 4)
      return true;
  return false;
}

/* The counter of vector memory instructions is in bits 3:0 and 15:14. */
void ws__model_waitcnt(const ws_site *site, uint64_t set) {
  (void)set;
  uint32_t counters = (uint32_t)site->immediate[0];
  keep_latest(&in_flight[lanes->current], (counters & 15) | (counters >> 14 & 3)
                                                                << 4);
}

/* ---- the loads --------------------------------------------------------- */

/* Operands: where from (pointer or descriptor), LDS, size, then the offsets:
 * of a descriptor two from `offsets` on; the instruction's; cache policy. */
typedef struct form {
  bool descriptor;
  int offsets, instruction_offset;
} form;

/* NULL: out of range of the descriptor. */
static const char *source_of(ws_site *site, int lane, const form *of) {
  uint32_t extra = (uint32_t)site->immediate[of->instruction_offset];
  if (of->descriptor)
    return ws__buffer_place(site, lane, 0, of->offsets, extra, site->size);
  return (const char *)(uintptr_t)(ws__operand(site, lane, 0, 8) +
                                   (uint64_t)(int64_t)(int32_t)extra);
}

static void load_lane(ws_site *site, int lane, uintptr_t lds, const form *of) {
  uint32_t data = 0;
  uintptr_t to = lds + (uint32_t)site->immediate[of->instruction_offset] +
                 (uintptr_t)lane * 4;
  const char *from = source_of(site, lane, of);
  if (from)
    ws__hook_global_load(site, (uintptr_t)from);
  if (!lanes->stopped)
    ws__hook_lds_store(site->lds, to);
  if (lanes->stopped)
    return;
  if (from)
    memcpy(&data, from, site->size);
  memcpy((void *)to, &data, sizeof data);
  start(lanes->current, (uint32_t)(to - ws__sanitizer.memory.lds_base));
}

static void load(const ws_site *const_site, uint64_t set, form of) {
  ws_site *site = (ws_site *)const_site;
  uint64_t lds = ws__operand(site, __builtin_ctzll(set), 1, 8);
  FOR_EACH_LANE(lane, set) {
    lanes->current = lanes->current_wave * WS_WAVE_LANES + lane;
    if (ws__operand(site, lane, 1, 8) != lds)
      ws__fault(WS_FAULT_DIVERGENT_WAVE_OP, site,
                "lane %d gives another LDS address than the wave's first; the "
                "hardware takes the first lane's and adds 4 * lane",
                lanes->current);
    if (!lanes->stopped)
      load_lane(site, lane, lds, &of);
  }
}

void ws__model_global_load_lds(const ws_site *site, uint64_t set) {
  load(site, set, (form){false, 0, 3});
}
void ws__model_raw_buffer_load_lds(const ws_site *site, uint64_t set) {
  load(site, set, (form){true, 3, 5});
}
void ws__model_struct_buffer_load_lds(const ws_site *site, uint64_t set) {
  load(site, set, (form){true, 4, 6});
}
