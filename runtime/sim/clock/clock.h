/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cycle model, from small to large. docs/simulator.md explains it.
 *
 *   clock_cost.c    what a static instruction occupies
 *   clock_lds.c     clocks of an LDS access from its addresses; occupancy
 *   clock_memory.c  L1, the CU's share of L2, Infinity Cache and HBM
 *   clock_share.c   which lines the CUs of an XCD, and the XCDs, have in common
 *   clock_unit.c    one compute unit with all workgroups that come to it
 *   clock_together.c  all of them on one clock, where workgroups wait
 *   clock_loop.c    the innermost loop that took longest
 *   clock_grid.c    ws_sim_time: which CUs to simulate, the launch from them
 *   explain.c       the profile in words and as JSON
 *
 * Clocks are 64-bit integers from the launch on; where a rate does not divide,
 * ticks of 1/256 clock.
 */
#ifndef WAVESMITH_SIM_CLOCK_H
#define WAVESMITH_SIM_CLOCK_H

#include "clock_constants.h"
#include "launch.h"

#define WS_CLOCK_NEVER (INT64_MAX / 4)

/* ---- static cost (clock_cost.c) ---------------------------------------------
 */

/* What issues at most one instruction per visit of a SIMD. */
typedef enum ws_unit {
  WS_UNIT_VALU, /* MFMA too */
  WS_UNIT_SCALAR,
  WS_UNIT_LDS,
  WS_UNIT_VMEM,
  WS_UNIT_BRANCH,
  WS_UNIT_NONE, /* handled at the instruction buffer */
  WS_UNIT_COUNT
} ws_unit;

typedef struct ws_cost {
  uint8_t unit; /* ws_unit */
  bool pairs;   /* with one of another wave in the same VALU slot */
  uint8_t slot_more, wave_more; /* clocks until the slot, the wave is free */
  int16_t valu;                 /* clocks of the VALU slot */
  int16_t mfma;                 /* clocks of the matrix pipe */
} ws_cost;

/* One per instruction of the text. */
ws_cost *ws__clock_costs(ws_arena *arena, const ws_text *text,
                         const ws__clock_constants *constants);
/* Clocks of the matrix pipe for a v_mfma_* or v_smfmac_* by name. */
int ws__mfma_clocks(const char *name, const ws__clock_constants *constants);

/* ---- LDS and occupancy (clock_lds.c) ----------------------------------------
 */

typedef struct ws_lds_cost {
  int array; /* clocks of the 32 banks */
  int ideal; /* the same without conflicts */
  int port;  /* clocks of the port of a pair of SIMDs */
} ws_lds_cost;
ws_lds_cost ws__lds_cost(const ws_access *access,
                         const ws__clock_constants *constants);

/* The last access of an instruction, zeroed at first: the same pattern has the
 * same cost. */
typedef struct ws_lds_memory {
  bool known;
  uint64_t mask, base, address[WS_LANES], second[WS_LANES];
  ws_lds_cost cost;
} ws_lds_memory;
ws_lds_cost ws__lds_cost_again(ws_lds_memory *last, const ws_access *access,
                               const ws__clock_constants *constants);

typedef struct ws__residence {
  int groups; /* workgroups that a CU holds; 0: none fits */
  const char *limiter;
} ws__residence;
ws__residence ws__occupancy(int vgprs, int sgprs, uint32_t lds_bytes, int waves,
                            const ws__clock_constants *constants);

/* ---- set of 64-bit keys with a value each (clock_share.c) -------------------
 */

typedef struct ws_key_map {
  struct ws_key_value {
    uint64_t key; /* + 1; 0: free */
    int64_t value;
  } * entries;
  uint64_t capacity, count;
} ws_key_map;
void ws__map_deinit(ws_key_map *map);
/* The value of key, 0 when new; *out_new may be NULL. */
int64_t *ws__map_at(ws_key_map *map, uint64_t key, bool *out_new);

/* A prefix that was cut short stands for so many times what it executed. */
enum { WS_CUT_SHORT = 4 };

/* ---- channels of L2 (clock_channels.c) --------------------------------------
 */

/* How the addresses of a load go on from turn to turn of its loop. */
typedef struct ws_course {
  uint64_t stride; /* bytes, modulo those after which the channels repeat */
  uint32_t turns;  /* of a wave; 0: not known */
} ws_course;

typedef struct ws_channels {
  const ws__clock_constants *constants;
  uint32_t text_count;
  uint16_t *turns;    /* of each wave of a workgroup, by instruction */
  uint64_t *last;     /* addresses there */
  ws_course *courses; /* by instruction */
  int64_t *by_turn;   /* lines, by turn and channel */
  int64_t *by_place;  /* lines of the first turn, by instruction and place */
} ws_channels;

/* Lives in the arena. */
void ws__channels_init(ws_channels *channels, const ws_plan *plan,
                       const ws__clock_constants *constants, ws_arena *arena);
void ws__channels_start_group(ws_channels *channels, int waves);
/* wave->access, of a load: how addresses move from turn to turn; and that this
 * was not seen to its end. */
void ws__channels_learn(ws_channels *channels, const ws_wave *wave,
                        uint32_t index);
void ws__channels_cut_short(ws_channels *channels);
/* A line of wave->access; then that its turn is over. */
void ws__channels_add(ws_channels *channels, const ws_wave *wave,
                      uint32_t index, uint64_t line);
void ws__channels_turn(ws_channels *channels, const ws_wave *wave,
                       uint32_t index);
/* In 1/256, of `groups` workgroups of the XCD. */
int64_t ws__channels_crowding(const ws_channels *channels, int64_t groups);

/* ---- what CUs have in common (clock_share.c) --------------------------------
 */

/* Of the lines that a load brings to its CU for the first time: how many are
 * new to the XCD, and how many of these to the device. */
typedef struct ws_share {
  int64_t lines, new_in_xcd, new_in_device;
} ws_share;

typedef struct ws_sharing {
  ws_share *loads;         /* by instruction index */
  ws_share overall;        /* for loads that the prefix did not reach */
  int64_t footprint_bytes; /* allocations that are loaded from */
  int64_t touched_bytes;   /* and those that an argument points to */
  int64_t crowding;        /* of L2's channels, in 1/256: how much longer an
                            * XCD's loads take than if spread evenly */
  const ws_held *held;     /* NULL: nothing is in the Infinity Cache at first */
  int64_t lines;           /* that all workgroups want, each for itself, in as
                            * many instructions as were executed here */
  int64_t instructions;    /* executed to find out */
  /* Of them by CU, at xcd + xcds * cu. A wave that was cut short counts as
   * several that ended there: it has more to do. */
  int64_t *work;
} ws_sharing;

/* Runs the first instructions of the workgroups that are resident at the same
 * time. whole_device: of all XCDs, else of the first. */
ws_status ws__sharing_find(const ws_plan *plan, int resident, bool whole_device,
                           const ws__clock_constants *constants,
                           ws_arena *arena, ws_sharing *out, ws_diag *diag);

/* ---- memory of one CU (clock_memory.c) --------------------------------------
 */

/* Counters of a simulated CU, summed over samples by clock_grid.c. */
/* clang-format off */
#define WS_COUNTER_MAP(X)                                                     \
  X(instructions) X(wave_clocks)                                              \
  X(mfma) X(valu) X(scalar) X(vmem) X(lds) /* clocks of pipes */              \
  X(mfma_still) /* of mfma: A and B as in the one before */                   \
  X(lds_ideal) X(lds_port)                                                    \
  X(l1_lines) X(l1_hits) X(l1_bytes)                                          \
  X(l2_lines) X(l2_hits) X(l2_bytes)                                          \
  X(mall_lines) X(mall_hits) X(mall_bytes)                                    \
  X(hbm_bytes)
/* clang-format on */
typedef struct ws_counters {
#define WS_COUNTER_FIELD(name) int64_t name;
  WS_COUNTER_MAP(WS_COUNTER_FIELD)
#undef WS_COUNTER_FIELD
} ws_counters;

/* Of a wave's private memory, not the device's. */
static inline bool ws__in_scratch(const ws_group *group, uint64_t address) {
  return address - (uint64_t)(uintptr_t)group->scratch <
         (uint64_t)group->scratch_bytes * WS_LANES *
             (uint64_t)group->wave_count;
}

enum {
  WS_L1_SETS = 4,
  WS_L1_WAYS = 64,
  WS_SMEM_LINES = 256,
  WS_L1_HINTS = 1024,
  /* 64 MB, up to where a pointer chase is as fast as from 4 MB on: micro
   * [latency]. Pages of 2 MB are what Linux's driver maps large allocations by
   * (amdgpu.vm_fragment_size). */
  WS_TLB_PAGES = 32,
  WS_TLB_PAGE = 2 << 20
};

/* Pages that a CU knows, the least recently used one goes. */
typedef struct ws_tlb {
  uint64_t page[WS_TLB_PAGES]; /* + 1 */
  int64_t used[WS_TLB_PAGES], uses;
  int last;
} ws_tlb;

typedef struct ws_cu_memory {
  const ws__clock_constants *constants;
  const ws_sharing *sharing;
  ws_counters *counters;
  int64_t mhz;
  bool warm;
  int own_groups, groups; /* at work: of this CU, of this XCD; the other XCDs
                           * alike */
  int xcds;               /* with work */
  struct {
    uint64_t tag[WS_L1_WAYS]; /* line + 1 */
    int64_t used[WS_L1_WAYS], ready[WS_L1_WAYS];
  } l1[WS_L1_SETS];
  uint8_t l1_way[WS_L1_HINTS]; /* where a line was, by its low bits */
  int64_t l1_uses;
  ws_tlb tlb;
  uint64_t smem_tag[WS_SMEM_LINES];
  /* Ticks from when on each is free for this CU. */
  int64_t l2_free, channels_free, mall_free, hbm_free;
  ws_key_map seen; /* line -> L2 fills of the XCD so far, when it was filled */
  ws_key_map written;              /* 64-byte segments */
  ws_key_map *stored; /* lines that any CU has stored; NULL: other CUs are not
                       * simulated */
  ws_key_map scalar;               /* scalar lines */
  ws_key_map pages;                /* met since workgroups were skipped */
  int64_t xcd_fills, device_fills; /* lines, of all that share */
  int64_t own_xcd_fills, own_device_fills;
  int64_t *debt; /* by instruction: error diffusion of sharing */
} ws_cu_memory;

void ws__cu_memory_init(ws_cu_memory *memory, const ws_sharing *sharing,
                        uint32_t text_count, int64_t mhz, bool warm,
                        ws_counters *counters,
                        const ws__clock_constants *constants, ws_arena *arena);
/* An acquire: what L1 holds may be stale. */
void ws__cu_memory_forget_l1(ws_cu_memory *memory);
void ws__cu_memory_deinit(ws_cu_memory *memory);
/* Workgroups that are not simulated fill L2 like the `simulated` so far, and
 * may know any page. */
void ws__cu_memory_skip(ws_cu_memory *memory, int64_t groups,
                        int64_t simulated);

/* What one vector memory instruction, issued at `at` and with its addresses
 * taken at `start`, costs. */
typedef struct ws_vmem_cost {
  int unit;        /* clocks of the address unit and L1 data path */
  int64_t done_at; /* data in registers, or store acknowledged */
} ws_vmem_cost;
ws_vmem_cost ws__vmem_cost(ws_cu_memory *memory, const ws_access *access,
                           const ws_instruction *in, uint32_t index,
                           const ws_group *group, int64_t start);
/* The clock at which the last store has left. */
int64_t ws__cu_memory_drained(const ws_cu_memory *memory);
int64_t ws__smem_done(ws_cu_memory *memory, const ws_access *access,
                      int64_t start);

/* ---- one compute unit (clock_unit.c) ----------------------------------------
 */

/* Of an instruction: wave-clocks by reason, and what its loads waited for. */
typedef struct ws_stalls {
  int64_t clocks[WS_SIM_STALL_COUNT];
  int64_t issued;                /* how often, by all waves */
  int64_t latency, latency_most; /* of loads: issue to use, summed; the most */
} ws_stalls;

typedef struct ws_unit_run {
  /* in */
  const ws_plan *plan;
  const ws_cost *costs;
  const ws_sharing *sharing;
  const ws__clock_constants *constants;
  int xcd, cu;
  int resident; /* workgroups at once */
  int64_t mhz;
  uint64_t seed; /* draws workgroups where not all are simulated */
  bool warm;
  bool proving;      /* what is not known may not decide the way: a fault */
  int64_t budget;    /* instructions after which the rest is extrapolated */
  ws_stalls *stalls; /* by instruction index; added to */
  ws_key_map *stored; /* as of ws_cu_memory; NULL: this CU is simulated alone */
  bool stops; /* where a wave waits for other workgroups, or takes a number
               * and all workgroups have a place */
  /* out */
  int64_t clocks; /* from the launch to the end of the last workgroup */
  int64_t clocks_simulated; /* without what was extrapolated */
  int64_t groups, groups_simulated;
  ws_counters counters; /* of the simulated ones */
  bool read_unknown;    /* some of them read what is not known */
  bool waits;           /* a wave asks and asks for the same memory */
  bool takes_numbers;   /* an atomic gave a wave what others left there */
  int64_t progress;     /* instructions of waves that do not wait so */
} ws_unit_run;

/* Of a run that `stops`: it did. */
bool ws__unit_was_stopped(const ws_unit_run *run);
/* One CU alone, from the launch to the end. */
ws_status ws__unit_run(ws_unit_run *run, ws_diag *diag);

/* The same by and by. run outlives the unit. */
typedef struct ws_cu ws_cu;
ws_cu *ws__unit_begin(ws_unit_run *run);
/* The clock at which something happens next; WS_CLOCK_NEVER: it has ended. */
int64_t ws__unit_next(const ws_cu *cu);
/* All that happens before `until`. */
ws_status ws__unit_advance(ws_cu *cu, int64_t until, ws_diag *diag);
/* Fills run if all went well, and destroys the unit. */
void ws__unit_end(ws_cu *cu, bool well);

/* ---- waves that wait for other workgroups (clock_together.c) ----------------
 */

/* The last different places that a wave has asked for. A loop that waits asks
 * for few (a flag, a lock, a counter), after few instructions, again and again:
 * for so long that it counts as waiting, and as stopped in a CU alone. */
enum {
  WS_POLLED = 4,
  WS_POLL_INSTRUCTIONS = 256,
  WS_FEW_POLLS = 16,
  WS_MOST_POLLS = 16384
};
typedef struct ws_polls {
  uint32_t index[WS_POLLED]; /* of the instruction */
  uint64_t address[WS_POLLED];
  int next;
  int64_t since; /* instructions since the last access */
  int64_t count; /* times in a row that one of them was asked for again */
} ws_polls;
/* An access of the wave; returns the count. */
int64_t ws__polls_add(ws_polls *polls, uint32_t index, uint64_t address);
/* An instruction of the wave; true: it gets on. */
bool ws__polls_step(ws_polls *polls);

/* Instructions of all CUs beyond which a launch is not simulated so: ten seconds
 * to a minute of a host's core. */
#define WS_MOST_TOGETHER INT64_C(60000000)

typedef enum ws_together {
  WS_TOGETHER_ENDED,
  WS_TOGETHER_TOO_LONG,
  WS_TOGETHER_STANDS_STILL /* every wave waits for what none will do */
} ws_together;

/* All CUs that have work, on one clock. Fills runs if *out says so. */
ws_status ws__units_together(ws_unit_run *runs, int count, ws_together *out,
                             ws_diag *diag);

/* From one workgroup of an XCD to the next. */
int64_t ws__dispatch_clocks(int waves, const ws__clock_constants *constants);
/* Workgroups that come to a CU: every 38th of those of its XCD. */
int64_t ws__groups_of_xcd(int64_t groups, int xcd,
                          const ws__clock_constants *constants);
int64_t ws__groups_of_cu(int64_t groups, int xcd, int cu,
                         const ws__clock_constants *constants);

/* ---- the hottest loop (clock_loop.c) ----------------------------------------
 */

typedef struct ws_loop_source {
  const ws_sim_module *module;
  const ws_stalls *stalls; /* by instruction index */
  int64_t waves;           /* that they are of */
} ws_loop_source;
/* Texts live in the arena. */
void ws__hottest_loop(const ws_loop_source *source, ws_arena *arena,
                      ws_sim_loop *out);

/* ---- the launch (clock_grid.c) ----------------------------------------------
 */

/* ws_sim_time with other constants. */
ws_status ws__clock_time(ws_memory *memory, const ws_sim_launch *launch,
                         ws_sim_residency residency,
                         const ws__clock_constants *constants, ws_arena *arena,
                         ws_sim_profile *out_profile, ws_diag *diag);

#endif
