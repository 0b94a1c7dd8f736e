/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One compute unit with all workgroups that come to it, clock by clock. Each
 * of its four SIMDs is visited every four clocks and may then issue one
 * instruction per unit, oldest wave first. An issued instruction is executed
 * by the functional machine at once, so that its addresses are real and LDS
 * contents appear in simulated order; when it is done, in clocks, is known as
 * soon as it has its places in the queues of the pipes it needs, so that an
 * s_waitcnt knows at once for how long it waits. Nothing is ever undone.
 *
 * Time jumps to the next clock at which some wave may issue. Workgroups beyond
 * the instruction budget are not simulated: the first and the last ones are,
 * some between, drawn by the seed, and the rest is taken to come at the pace of
 * these.
 */
#include "clock.h"
#include "step.h"

#include <stdlib.h>

enum {
  SIMDS = 4,
  MOST_WAVES_PER_SIMD = 16, /* of the model's table: 8 */
  MOST_RESIDENT = 64,
  VM_LIMIT = 63,   /* vmcnt; timing 8 */
  LGKM_LIMIT = 15, /* lgkmcnt; timing 8 */
  QUEUE = 64
};

/* Completion clocks of what a counter counts, ascending. */
typedef struct completions {
  int64_t at[QUEUE];
  uint8_t stall[QUEUE];
  int count;
} completions;

typedef struct slot {
  ws_wave *wave;
  int64_t ready;   /* earliest clock of the next issue */
  int64_t retry;   /* clock at which to look again */
  int64_t issued;  /* the last issue */
  int64_t age;     /* order of dispatch */
  uint32_t last;   /* instruction issued last */
  uint32_t cause;  /* instruction that the wave waits for or at */
  uint8_t waits;   /* stall until ready */
  uint8_t blocked; /* stall since then */
  uint8_t priority;
  uint8_t more; /* clocks that it owes */
  int simd;
  uint32_t line; /* of code */
  ws_polls polls;
  completions vm, lgkm;
} slot;

typedef struct simd {
  slot *order[MOST_WAVES_PER_SIMD];
  int count;
  int64_t wake, valu_free, mfma_free;
  int64_t single_at; /* when a VALU instruction was issued that leaves room for
                      * one of another wave; -1: none does */
  int64_t slot_more; /* clocks that the slot owes */
  uint32_t a[WS_LANES], b[WS_LANES]; /* first registers of the last MFMA's */
} simd;

typedef struct place {
  ws_group *group;
  slot slots[WS_SIM_MAX_WAVES];
  int64_t local; /* index among the workgroups of the XCD; -1: empty */
} place;

struct ws_cu {
  ws_unit_run *run;
  const ws__clock_constants *constants;
  const ws_instruction *items;
  uint32_t text_count;
  ws_cu_memory memory;
  simd simds[SIMDS];
  place *residents;
  int64_t port_free[SIMDS / 2], array_free, vmem_free;
  ws_arena *arena;
  ws_lds_memory **lds_accesses; /* by instruction; NULL: none yet */
  uint8_t *fetched;             /* by line of code */
  int64_t started, limit, tail; /* workgroups */
  int64_t position;             /* of the last one that was started */
  int64_t *retired;             /* clocks */
  int64_t retired_count, age;
  int next_simd;
};
typedef ws_cu cu;

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- which workgroups -------------------------------------------------------
 */

int64_t ws__groups_of_xcd(int64_t groups, int xcd,
                          const ws__clock_constants *c) {
  return groups > xcd ? (groups - xcd - 1) / c->xcds + 1 : 0;
}

int64_t ws__groups_of_cu(int64_t groups, int xcd, int cu_index,
                         const ws__clock_constants *c) {
  const int64_t in_xcd = ws__groups_of_xcd(groups, xcd, c);
  return in_xcd > cu_index ? (in_xcd - cu_index - 1) / c->cus_per_xcd + 1 : 0;
}

/* ---- completions ------------------------------------------------------------
 */

static void forget_done(completions *q, int64_t now) {
  int done = 0;
  while (done < q->count && q->at[done] <= now)
    done++;
  if (!done)
    return;
  q->count -= done;
  memmove(q->at, q->at + done, (size_t)q->count * sizeof *q->at);
  memmove(q->stall, q->stall + done, (size_t)q->count);
}

static void add_completion(completions *q, int64_t at, uint8_t stall) {
  int i = q->count++;
  for (; i > 0 && q->at[i - 1] > at; i--) {
    q->at[i] = q->at[i - 1];
    q->stall[i] = q->stall[i - 1];
  }
  q->at[i] = at;
  q->stall[i] = stall;
}

/* The last of a kind that completes in order. */
static int64_t last_of(const completions *q, uint8_t stall) {
  for (int i = q->count - 1; i >= 0; i--)
    if (q->stall[i] == stall)
      return q->at[i];
  return 0;
}

/* The clock from which on at most `allowed` are under way; 0: now. */
static int64_t when_at_most(completions *q, int allowed, int64_t now,
                            uint8_t *out_stall) {
  forget_done(q, now);
  if (q->count <= allowed)
    return 0;
  *out_stall = q->stall[q->count - allowed - 1];
  return q->at[q->count - allowed - 1];
}

/* ---- waves and their SIMDs --------------------------------------------------
 */

static int64_t next_visit(int s, int64_t clock) {
  return clock + ((s - clock) & (SIMDS - 1));
}

static void set_ready(cu *u, slot *w, int64_t at, uint8_t waits) {
  w->ready = w->retry = at;
  w->waits = waits;
  w->blocked = WS_SIM_STALL_pipe;
  simd *s = &u->simds[w->simd];
  s->wake = least(s->wake, next_visit(w->simd, at));
}

static bool goes_first(const slot *a, const slot *b) {
  return a->priority != b->priority ? a->priority > b->priority
                                    : a->age < b->age;
}

static void sort_waves(simd *s) {
  for (int i = 1; i < s->count; i++)
    for (int j = i; j > 0 && goes_first(s->order[j], s->order[j - 1]); j--) {
      slot *swap = s->order[j];
      s->order[j] = s->order[j - 1];
      s->order[j - 1] = swap;
    }
}

/* The SIMD with the fewest waves, in turn. */
static int choose_simd(cu *u) {
  int best = u->next_simd;
  for (int i = 1; i < SIMDS; i++) {
    int s = (u->next_simd + i) % SIMDS;
    if (u->simds[s].count < u->simds[best].count)
      best = s;
  }
  u->next_simd = (best + 1) % SIMDS;
  return best;
}

static void remove_wave(cu *u, const slot *w) {
  simd *s = &u->simds[w->simd];
  for (int i = 0; i < s->count; i++)
    if (s->order[i] == w) {
      memmove(&s->order[i], &s->order[i + 1],
              (size_t)(s->count - i - 1) * sizeof *s->order);
      s->count--;
      return;
    }
}

/* ---- workgroups -------------------------------------------------------------
 */

/* Workgroups of the XCD at work while this CU's are: of each round that it is
 * in one a CU, but for the last round. */
static void count_groups(cu *u) {
  const int64_t cus = u->constants->cus_per_xcd;
  const int64_t in_xcd = ws__groups_of_xcd((int64_t)u->run->plan->group_count,
                                           u->run->xcd, u->constants);
  int64_t all = 0, own = 0;
  for (int i = 0; i < u->run->resident; i++) {
    const int64_t local = u->residents[i].local;
    if (local >= 0) {
      all += least(cus, in_xcd - local / cus * cus);
      own++;
    }
  }
  u->memory.groups = (int)most(1, all);
  u->memory.own_groups = (int)most(1, own);
}

static int64_t clocks_of_waves(int64_t waves, const ws__clock_constants *c) {
  return waves * c->dispatch_wave / 16;
}

int64_t ws__dispatch_clocks(int waves, const ws__clock_constants *c) {
  return most(c->dispatch_group, clocks_of_waves(waves, c));
}

/* Which of this CU's workgroups is simulated as number n: those between the
 * first and the last stand for equally many each, one of which is drawn. */
static int64_t position_of(const cu *u, int64_t n) {
  const int64_t first = u->run->resident, groups = u->run->groups;
  const int64_t simulated = u->limit - u->tail - first;
  const int64_t all = groups - u->tail - first;
  if (n < first || u->limit == groups)
    return n;
  if (n >= u->limit - u->tail)
    return n + groups - u->limit;
  const int64_t from = (n - first) * all / simulated;
  const int64_t to = (n - first + 1) * all / simulated;
  ws_rng rng;
  ws_rng_init(&rng, u->run->seed + (uint64_t)n);
  return first + from + (int64_t)ws_rng_below(&rng, (uint64_t)(to - from));
}

static void place_wave(cu *u, place *r, int w, int64_t at) {
  slot *wave = &r->slots[w];
  *wave = (slot){.wave = &r->group->waves[w],
                 .age = u->age++,
                 .line = UINT32_MAX,
                 .issued = at - u->constants->visit,
                 .simd = choose_simd(u)};
  simd *s = &u->simds[wave->simd];
  WS_ASSERT(s->count < MOST_WAVES_PER_SIMD);
  s->order[s->count++] = wave;
  sort_waves(s);
  set_ready(u, wave, at, WS_SIM_STALL_fetch);
}

static void start_group(cu *u, place *r, int64_t now) {
  const ws__clock_constants *c = u->constants;
  const int64_t number = u->started++;
  const ws_plan *plan = u->run->plan;
  const int64_t rate = ws__dispatch_clocks(plan->wave_count, c);
  const int64_t turn = number * c->cus_per_xcd + u->run->cu;
  const int64_t at = most(now + rate, (turn + 1) * rate) + c->group_start;
  const int64_t position = position_of(u, number);
  if (position > u->position + 1)
    ws__cu_memory_skip(&u->memory, position - u->position - 1, number);
  u->position = position;
  r->local = position * c->cus_per_xcd + u->run->cu;
  ws__group_reset(r->group, plan, (uint64_t)(r->local * c->xcds + u->run->xcd));
  for (int w = 0; w < r->group->wave_count; w++)
    place_wave(u, r, w, at + clocks_of_waves(w, c));
  count_groups(u);
}

/* After the first workgroup it is known how many the budget allows. The last
 * ones (a full CU and what is left over) are always simulated. */
static void decide_limit(cu *u) {
  const int64_t resident = u->run->resident, groups = u->run->groups;
  const int64_t each = u->run->counters.instructions / resident + 1;
  const int64_t rest = groups % resident;
  int64_t full = most(3, u->run->budget / each / resident) * resident;
  u->tail = resident + rest;
  u->limit = most(least(groups, full + rest), u->started);
  if (u->limit - rest < 3 * resident)
    u->limit = groups;
}

static void retire_group(cu *u, place *r, int64_t now) {
  for (int w = 0; w < r->group->wave_count; w++)
    remove_wave(u, &r->slots[w]);
  u->run->read_unknown |= r->group->read_unknown;
  u->retired[u->retired_count++] = now;
  if (u->retired_count == 1 && !u->run->stored)
    decide_limit(u);
  r->local = -1;
  if (u->started < u->limit)
    start_group(u, r, now);
  else
    count_groups(u);
}

/* ---- issue ------------------------------------------------------------------
 */

/* The clocks since the last issue: four are that instruction's, a wait is that
 * of its cause, the rest the next instruction's, which found no room. */
static void charge(cu *u, const slot *w, uint32_t index, int64_t now) {
  ws_stalls *stalls = u->run->stalls;
  const int64_t since = least(now, w->issued + u->constants->visit);
  const int64_t ready = most(w->ready, since);
  stalls[w->last].clocks[WS_SIM_STALL_issue] += since - w->issued;
  stalls[w->cause].clocks[w->waits] += ready - since;
  stalls[index].clocks[w->blocked] += now - ready;
  u->run->counters.wave_clocks += now - w->issued;
}

static bool block(slot *w, int64_t until, uint8_t stall) {
  w->retry = until;
  w->blocked = stall;
  return false;
}

/* s_waitcnt: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8. */
static bool wait_is_over(cu *u, slot *w, const ws_instruction *in,
                         int64_t now) {
  const int vm = (in->imm & 15) | (in->imm >> 10 & 0x30);
  const int lgkm = in->imm >> 8 & 15;
  uint8_t vm_stall = WS_SIM_STALL_vmem, lgkm_stall = WS_SIM_STALL_lds;
  const int64_t vm_at = when_at_most(&w->vm, vm, now, &vm_stall);
  const int64_t lgkm_at = when_at_most(&w->lgkm, lgkm, now, &lgkm_stall);
  if (vm_at <= now && lgkm_at <= now)
    return true;
  w->cause = w->wave->pc;
  set_ready(u, w, most(vm_at, lgkm_at),
            vm_at > lgkm_at ? vm_stall : lgkm_stall);
  return false;
}

static bool counters_have_room(slot *w, const ws_instruction *in, int64_t now) {
  uint8_t stall = WS_SIM_STALL_lds;
  const uint8_t class_ = in->class_;
  int64_t until = 0;
  if (class_ == WS_CLASS_VMEM || class_ == WS_CLASS_FLAT)
    until = when_at_most(&w->vm, VM_LIMIT - 1, now, &stall);
  if (until <= now && class_ != WS_CLASS_VMEM)
    until = when_at_most(&w->lgkm, LGKM_LIMIT - 1, now, &stall);
  return until <= now || block(w, until, stall);
}

/* Another wave has issued a VALU instruction in this visit that takes one more
 * beside it. micro [vector_cu]: two waves of a SIMD issue in the same 4 clk
 * when neither reads a register twice. */
static bool finds_partner(const simd *s, const ws_cost *cost, int64_t now) {
  return cost->pairs && s->single_at == now;
}

/* An instruction's share of the slot. Clocks beyond whole visits add up. */
static void take_valu(cu *u, simd *s, const ws_cost *cost, int64_t now) {
  const int64_t visit = u->constants->visit;
  if (finds_partner(s, cost, now)) {
    s->single_at = -1;
    return;
  }
  s->single_at = cost->pairs ? now : -1;
  s->valu_free = now + cost->valu;
  s->slot_more += cost->slot_more;
  if (s->slot_more >= visit) {
    s->slot_more -= visit;
    s->valu_free += visit;
  }
}

static bool pipe_has_room(cu *u, simd *s, slot *w, const ws_instruction *in,
                          const ws_cost *cost, int64_t now) {
  const ws__clock_constants *c = u->constants;
  const int64_t port = u->port_free[w->simd / 2];
  switch (cost->unit) {
  case WS_UNIT_VALU:
    if (s->valu_free > now && !finds_partner(s, cost, now))
      return block(w, s->valu_free, WS_SIM_STALL_pipe);
    if (cost->mfma && s->mfma_free > now)
      return block(w, s->mfma_free, WS_SIM_STALL_mfma);
    return true;
  case WS_UNIT_SCALAR:
    return in->class_ != WS_CLASS_SMEM || counters_have_room(w, in, now);
  case WS_UNIT_LDS:
    if (port > now + c->lds_queue)
      return block(w, port - c->lds_queue, WS_SIM_STALL_lds);
    return counters_have_room(w, in, now);
  case WS_UNIT_VMEM:
    if (u->vmem_free > now + c->vmem_queue)
      return block(w, u->vmem_free - c->vmem_queue, WS_SIM_STALL_vmem);
    return counters_have_room(w, in, now);
  default:
    return in->class_ != WS_CLASS_WAIT || wait_is_over(u, w, in, now);
  }
}

/* A line of code that no wave of the CU has run yet. */
static bool is_fetched(cu *u, slot *w, const ws_instruction *in, int64_t now) {
  const uint32_t line = in->offset / (uint32_t)u->constants->fetch_line;
  if (u->run->warm || line == w->line)
    return true;
  w->line = line;
  if (u->fetched[line])
    return true;
  u->fetched[line] = 1;
  w->cause = w->wave->pc;
  set_ready(u, w, now + u->constants->fetch_first, WS_SIM_STALL_fetch);
  return false;
}

static ws_lds_memory *lds_memory_of(cu *u, uint32_t index) {
  if (!u->lds_accesses[index])
    u->lds_accesses[index] = ws_arena_alloc(u->arena, sizeof **u->lds_accesses);
  return u->lds_accesses[index];
}

/* done: latencies are measured from a load to the instruction that needs it;
 * the s_waitcnt between takes a visit, so data is there one visit earlier. */
static void note_latency(cu *u, uint32_t index, int64_t now, int64_t done) {
  ws_stalls *of = &u->run->stalls[index];
  const int64_t latency = done + u->constants->visit - now;
  of->latency += latency;
  of->latency_most = most(of->latency_most, latency);
}

static void finish_lds(cu *u, slot *w, const ws_access *access, uint32_t index,
                       int64_t now) {
  const ws__clock_constants *c = u->constants;
  const ws_lds_cost cost =
      ws__lds_cost_again(lds_memory_of(u, index), access, c);
  int64_t *port = &u->port_free[w->simd / 2];
  const int64_t start = most(now, *port);
  const int64_t array = most(start, u->array_free);
  *port = most(start + cost.port, array + cost.array);
  u->array_free = array + cost.array;
  u->run->counters.lds += cost.array;
  u->run->counters.lds_ideal += cost.ideal;
  u->run->counters.lds_port += cost.port;
  const int64_t done = most(*port + c->lds_latency - c->lds_address - c->visit,
                            last_of(&w->lgkm, WS_SIM_STALL_lds));
  add_completion(&w->lgkm, done, WS_SIM_STALL_lds);
  if (!access->store)
    note_latency(u, index, now, done);
}

static void finish_vmem(cu *u, slot *w, const ws_instruction *in,
                        uint32_t index, int64_t now) {
  const ws_access *access = &w->wave->access;
  const int64_t start = most(now, u->vmem_free);
  const ws_vmem_cost cost =
      ws__vmem_cost(&u->memory, access, in, index, w->wave->group, start);
  u->vmem_free = start + cost.unit;
  u->run->counters.vmem += cost.unit;
  const int64_t done =
      most(cost.done_at + cost.unit - u->constants->vmem_address -
               u->constants->visit,
           last_of(&w->vm, WS_SIM_STALL_vmem));
  add_completion(&w->vm, done, WS_SIM_STALL_vmem);
  if (!access->store)
    note_latency(u, index, now, done);
  if (in->class_ == WS_CLASS_FLAT)
    add_completion(&w->lgkm, done, WS_SIM_STALL_vmem);
}

static void finish_internal(cu *u, simd *s, slot *w, const ws_instruction *in,
                            int64_t now) {
  const ws__clock_constants *c = u->constants;
  if (in->op == WS_OP_s_nop)
    set_ready(u, w, now + c->visit * ((in->imm & 15) + 1), WS_SIM_STALL_mfma);
  if (in->op == WS_OP_s_sleep)
    set_ready(u, w, now + most(c->visit, c->sleep * (in->imm & 127)),
              WS_SIM_STALL_issue);
  if (in->op == WS_OP_s_setprio) {
    w->priority = in->imm & 3;
    sort_waves(s);
  }
}

/* Clocks beyond whole visits, as they add up. */
static int64_t more_of_wave(const cu *u, slot *w, const ws_cost *cost) {
  const int64_t visit = u->constants->visit;
  w->more += cost->wave_more;
  if (w->more < visit)
    return 0;
  w->more -= visit;
  return visit;
}

/* Whether the matrix pipe sees new data: power is spent where bits change. */
static bool has_new_data(simd *s, const slot *w, const ws_instruction *in) {
  const uint32_t *a = w->wave->vgpr[in->src[0].index].u32;
  const uint32_t *b = w->wave->vgpr[in->src[1].index].u32;
  if (!memcmp(a, s->a, sizeof s->a) && !memcmp(b, s->b, sizeof s->b))
    return false;
  memcpy(s->a, a, sizeof s->a);
  memcpy(s->b, b, sizeof s->b);
  return true;
}

/* A global access: whether the wave depends on what other workgroups do. */
static void note_asked(cu *u, slot *w, const ws_instruction *in,
                       uint32_t index) {
  const ws_access *access = &w->wave->access;
  if (access->is_lds || !access->mask)
    return;
  const uint64_t address = access->address[__builtin_ctzll(access->mask)];
  if (ws__in_scratch(w->wave->group, address))
    return;
  u->run->waits |= ws__polls_add(&w->polls, index, address) >= WS_MOST_POLLS;
  u->run->takes_numbers |= access->atomic && in->dst_count;
}

/* The instruction has been executed: what it occupies, and when the wave may
 * go on. */
static void finish(cu *u, simd *s, slot *w, const ws_instruction *in,
                   uint32_t index, int64_t now) {
  const ws__clock_constants *c = u->constants;
  const ws_cost *cost = &u->run->costs[index];
  ws_counters *counters = &u->run->counters;
  const ws_access *access = &w->wave->access;
  w->issued = now;
  w->last = w->cause = index;
  counters->instructions++;
  u->run->progress += ws__polls_step(&w->polls);
  u->run->stalls[index].issued++;
  set_ready(u, w, now + c->visit, WS_SIM_STALL_issue);
  switch (cost->unit) {
  case WS_UNIT_VALU:
    counters->valu += finds_partner(s, cost, now) ? 0 : cost->valu;
    counters->mfma += cost->mfma;
    take_valu(u, s, cost, now);
    if (cost->mfma) {
      s->mfma_free = now + cost->mfma;
      counters->mfma_still += has_new_data(s, w, in) ? 0 : cost->mfma;
    }
    set_ready(u, w, now + c->valu_latency + more_of_wave(u, w, cost),
              WS_SIM_STALL_pipe);
    break;
  case WS_UNIT_SCALAR:
    counters->scalar += c->visit;
    if (in->class_ != WS_CLASS_SMEM)
      break;
    note_asked(u, w, in, index);
    add_completion(&w->lgkm, ws__smem_done(&u->memory, access, now - c->visit),
                   WS_SIM_STALL_smem);
    break;
  case WS_UNIT_LDS:
    finish_lds(u, w, access, index, now);
    break;
  case WS_UNIT_VMEM:
    note_asked(u, w, in, index);
    if (in->op == WS_OP_buffer_inv && in->flags & WS_SC1)
      ws__cu_memory_forget_l1(&u->memory);
    if (in->class_ == WS_CLASS_FLAT && access->is_lds)
      finish_lds(u, w, access, index, now);
    else
      finish_vmem(u, w, in, index, now);
    break;
  case WS_UNIT_BRANCH:
    if (w->wave->pc != index + 1)
      set_ready(u, w, now + c->branch_taken + c->fetch, WS_SIM_STALL_fetch);
    break;
  default:
    finish_internal(u, s, w, in, now);
  }
}

/* ---- barriers and ends ------------------------------------------------------
 */

static place *resident_of(cu *u, const slot *w) {
  for (int i = 0; i < u->run->resident; i++)
    if (u->residents[i].group == w->wave->group)
      return &u->residents[i];
  return NULL;
}

/* A workgroup keeps its place, registers and LDS until its last access to
 * memory is acknowledged. micro [l2_stream]: one that only stores lives as long
 * as one that waits for a load. True: that is now. */
static bool is_drained(cu *u, place *r, int64_t now) {
  int64_t last = now;
  for (int i = 0; i < r->group->wave_count; i++)
    last = most(last, last_of(&r->slots[i].vm, WS_SIM_STALL_vmem));
  if (last > now)
    set_ready(u, &r->slots[0], last, WS_SIM_STALL_vmem);
  return last <= now;
}

/* A wave has stopped: true when all of its workgroup have ended. */
static bool settle(cu *u, slot *w, int64_t now) {
  place *r = resident_of(u, w);
  bool waiting = false;
  set_ready(u, w, WS_CLOCK_NEVER, WS_SIM_STALL_barrier);
  for (int i = 0; i < r->group->wave_count; i++) {
    if (r->group->waves[i].state == WS_WAVE_READY)
      return false;
    waiting |= r->group->waves[i].state == WS_WAVE_AT_BARRIER;
  }
  if (!waiting)
    return is_drained(u, r, now);
  if (!ws__release_barrier(r->group))
    return false;
  for (int i = 0; i < r->group->wave_count; i++)
    if (r->group->waves[i].state == WS_WAVE_READY)
      set_ready(u, &r->slots[i], now + u->constants->barrier,
                WS_SIM_STALL_barrier);
  return false;
}

/* ---- the loop ---------------------------------------------------------------
 */

/* Issues the wave's next instruction if it can; returns its group when that
 * has ended. */
static place *try_issue(cu *u, simd *s, slot *w, uint32_t *used, int64_t now) {
  const uint32_t index = w->wave->pc;
  if (w->wave->state == WS_WAVE_ENDED)
    return resident_of(u, w);
  if (index >= u->text_count) {
    ws__step(w->wave, u->run->proving); /* which reports it */
    return NULL;
  }
  const ws_instruction *in = &u->items[index];
  const ws_cost *cost = &u->run->costs[index];
  if (!is_fetched(u, w, in, now))
    return NULL;
  if (cost->unit != WS_UNIT_NONE && (*used >> cost->unit & 1) &&
      !(cost->unit == WS_UNIT_VALU && finds_partner(s, cost, now))) {
    block(w, now + u->constants->visit, WS_SIM_STALL_pipe);
    return NULL;
  }
  if (!pipe_has_room(u, s, w, in, cost, now))
    return NULL;
  if (cost->unit != WS_UNIT_NONE)
    *used |= 1u << cost->unit;
  charge(u, w, index, now);
  ws__step(w->wave, u->run->proving);
  finish(u, s, w, in, index, now);
  if (w->wave->state != WS_WAVE_READY && settle(u, w, now))
    return resident_of(u, w);
  return NULL;
}

static void visit(cu *u, int index, int64_t now) {
  simd *s = &u->simds[index];
  place *ended[MOST_WAVES_PER_SIMD];
  slot *order[MOST_WAVES_PER_SIMD];
  int ended_count = 0;
  uint32_t used = 0;
  const int count = s->count;
  memcpy(order, s->order, (size_t)count * sizeof *order);
  for (int i = 0; i < count; i++)
    if (order[i]->ready <= now && order[i]->retry <= now) {
      place *r = try_issue(u, s, order[i], &used, now);
      if (r)
        ended[ended_count++] = r;
    }
  s->wake = WS_CLOCK_NEVER;
  for (int i = 0; i < ended_count; i++)
    retire_group(u, ended[i], now);
  for (int i = 0; i < s->count; i++)
    s->wake = least(s->wake, most(s->order[i]->ready, s->order[i]->retry));
  s->wake = next_visit(index, most(s->wake, now + 1));
}

static int next_simd_to_visit(const cu *u) {
  int next = 0;
  for (int i = 1; i < SIMDS; i++)
    if (u->simds[i].wake < u->simds[next].wake)
      next = i;
  return next;
}

static const struct ws_fault_record *fault_of(const cu *u) {
  for (int i = 0; i < u->run->resident; i++)
    if (u->residents[i].group->fault.id)
      return &u->residents[i].group->fault;
  return NULL;
}

bool ws__unit_was_stopped(const ws_unit_run *run) {
  return run->waits || (run->takes_numbers && run->groups <= run->resident);
}

/* A launch whose CUs run more than this is beyond the model. */
static const int64_t most_instructions = INT64_C(40000000);

static bool has_ended(const cu *u) {
  return u->retired_count >= u->limit ||
         (u->run->stops && ws__unit_was_stopped(u->run));
}

int64_t ws__unit_next(const ws_cu *u) {
  return has_ended(u) ? WS_CLOCK_NEVER : u->simds[next_simd_to_visit(u)].wake;
}

ws_status ws__unit_advance(ws_cu *u, int64_t until, ws_diag *diag) {
  const char *kernel = u->run->plan->kernel->info.name;
  const struct ws_fault_record *fault = NULL;
  while (!has_ended(u) && !(fault = fault_of(u))) {
    const int next = next_simd_to_visit(u);
    if (u->simds[next].wake >= WS_CLOCK_NEVER)
      return ws_fail(diag, WS_INPUT, NULL, 0, "%s: waves wait for ever",
                     kernel);
    if (u->simds[next].wake >= until)
      return WS_OK;
    if (u->run->counters.instructions > most_instructions)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "%s: a compute unit has not finished after %lld wave "
                     "instructions: endless, or too long for the cycle model",
                     kernel, (long long)most_instructions);
    visit(u, next, u->simds[next].wake);
  }
  return fault ? ws_fail(diag, WS_INPUT, NULL, 0, "%s: %s: %s", kernel,
                         fault->id, fault->text)
               : WS_OK;
}

/* Workgroups that were left out come at the pace of the second half of those
 * in the middle: caches are filled by then. */
static void extrapolate(cu *u) {
  ws_unit_run *run = u->run;
  const int64_t rest = run->groups % run->resident;
  const int64_t full = u->limit - rest, left_out = run->groups - u->limit;
  run->clocks = run->clocks_simulated =
      most(u->retired[u->limit - 1], ws__cu_memory_drained(&u->memory));
  run->groups_simulated = u->limit;
  const int64_t from = most(run->resident, full / 2);
  if (left_out > 0)
    run->clocks += left_out * (u->retired[full - 1] - u->retired[from - 1]) /
                   (full - from);
}

static void create_groups(cu *u, ws_arena *arena) {
  u->residents =
      ws_arena_alloc(arena, (size_t)u->run->resident * sizeof *u->residents);
  for (int i = 0; i < u->run->resident; i++) {
    u->residents[i].group =
        ws__group_create(u->run->plan, u->run->proving, true);
    u->residents[i].local = -1;
  }
}

static void destroy_groups(cu *u) {
  for (int i = 0; i < u->run->resident; i++)
    ws__group_destroy(u->residents[i].group);
}

ws_cu *ws__unit_begin(ws_unit_run *run) {
  const ws_text *text = &run->plan->kernel->module->text;
  const ws__clock_constants *c = run->constants;
  ws_arena *arena = ws_arena_create();
  cu *u = ws_arena_alloc(arena, sizeof *u);
  *u = (cu){.run = run,
            .constants = c,
            .arena = arena,
            .items = text->items,
            .text_count = text->count};
  run->groups =
      ws__groups_of_cu((int64_t)run->plan->group_count, run->xcd, run->cu, c);
  run->resident = (int)least(run->resident, run->groups);
  u->limit = run->groups;
  u->retired = ws_arena_alloc(arena, (size_t)run->groups * sizeof *u->retired);
  u->lds_accesses =
      ws_arena_alloc(arena, text->count * sizeof *u->lds_accesses);
  u->fetched = ws_arena_alloc(arena, text->size / (size_t)c->fetch_line + 1);
  for (int i = 0; i < SIMDS; i++)
    u->simds[i] = (simd){.wake = WS_CLOCK_NEVER, .single_at = -1};
  ws__cu_memory_init(&u->memory, run->sharing, text->count, run->mhz, run->warm,
                     &run->counters, c, arena);
  u->memory.xcds = (int)least(c->xcds, (int64_t)run->plan->group_count);
  u->memory.stored = run->stored;
  create_groups(u, arena);
  for (int i = 0; i < run->resident; i++)
    start_group(u, &u->residents[i], 0);
  return u;
}

void ws__unit_end(ws_cu *u, bool well) {
  if (well && u->retired_count >= u->limit)
    extrapolate(u);
  destroy_groups(u);
  ws__cu_memory_deinit(&u->memory);
  ws_arena_destroy(u->arena);
}

ws_status ws__unit_run(ws_unit_run *run, ws_diag *diag) {
  cu *u = ws__unit_begin(run);
  const ws_status status = ws__unit_advance(u, WS_CLOCK_NEVER, diag);
  ws__unit_end(u, status == WS_OK);
  return status;
}
