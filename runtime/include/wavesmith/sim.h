/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A simulated MI300X, or another card of gfx942 (sim_card.h): loads final code
 * objects (v5, v6), runs them functionally with checks, and times them with a
 * cycle model.
 * docs/simulator.md says what is modelled, what is not, and how far it agrees
 * with measurements.
 *
 * Device memory is host memory: a device address is the host's pointer. Every
 * allocation stands alone between unmapped pages, and freed ranges are not
 * handed out again soon, so that a stray access is a report.
 *
 * A ws_sim may be used from one thread at a time; ws_sim_run itself spreads
 * workgroups over all cores. Numbers of ws_sim_time are the same on any number
 * of cores.
 */
#ifndef WAVESMITH_SIM_H
#define WAVESMITH_SIM_H

#include "wavesmith/sim_card.h"
#include "wavesmith/sim_correction.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the cycle model; part of every provenance ("sim:gfx942-model-5:MI300X").
 * Changes with any change of predicted times. */
#define WS_SIM_MODEL_VERSION 5

typedef struct ws_sim ws_sim;
typedef struct ws_sim_module ws_sim_module;
typedef struct ws_sim_kernel ws_sim_kernel;

typedef struct ws_sim_options {
  int threads;    /* 0: one per core */
  int64_t budget; /* wave instructions per wave before it counts as an
                   * infinite loop; 0: 2^31 */
  bool unchecked; /* true: only what would end the host is checked */
  /* Whose CUs, XCDs, memory and clocks; lives longer than the ws_sim. NULL: the
   * MI300X. Results depend on it only where a kernel asks which XCD and CU it
   * runs on, or for the time. */
  const ws_sim_card *card;
} ws_sim_options;

ws_status ws_sim_create(const ws_sim_options *options, ws_sim **out_sim,
                        ws_diag *diag) WS_MUST_CHECK;
/* Frees modules and memory too. NULL is allowed. */
void ws_sim_destroy(ws_sim *sim);

/* ---- memory ----------------------------------------------------------------
 */
/* 256-byte aligned, contents poisoned with 0xa5; NULL when there is none left.
 * 0 bytes is an allocation that nothing may touch. */
void *ws_sim_allocate(ws_sim *sim, size_t bytes);
/* false: not the start of a live allocation. */
bool ws_sim_free(ws_sim *sim, void *address);
/* The live allocation that holds address; false: none. */
bool ws_sim_find(const ws_sim *sim, const void *address, void **out_begin,
                 size_t *out_bytes);
size_t ws_sim_bytes_in_use(const ws_sim *sim);
/* For whoever times launches without running them: what the allocation around
 * address holds is not what a kernel would find in it. A kernel may compute
 * with such data; where its way depends on it, ws_sim_time fails (WS_INPUT).
 * Known at first. false: there is no such allocation. */
bool ws_sim_set_unknown(ws_sim *sim, const void *address, bool unknown);
bool ws_sim_is_unknown(const ws_sim *sim, const void *address);
/* These bytes of an allocation that is unknown are known. */
void ws_sim_set_known(ws_sim *sim, const void *address, size_t bytes);
/* From now on it is noted which bytes of the allocation around address kernels
 * store in ws_sim_run; anew when called again. false: there is none. */
bool ws_sim_watch(ws_sim *sim, const void *address);
/* How many bytes from address on no kernel has stored since, and the first. */
size_t ws_sim_unstored(const ws_sim *sim, const void *address, size_t bytes,
                       size_t *out_first);

/* The same of the simulator behind HIP's functions, exported by
 * libwavesmith_hipsim beside them. Launches must have ended. */
int wavesmith_sim_watch(const void *address);
size_t wavesmith_sim_unstored(const void *address, size_t bytes,
                              size_t *out_first);

/* The Infinity Cache holds nothing from here on (ws_sim_flush), as a fill of
 * twice its size leaves it. Launches must have ended. */
void wavesmith_sim_flush(void);

/* Launches from here on may take about so many wave instructions each, the same
 * for every wave; 0: no limit but the options'. One that takes more ends there,
 * which is no fault of the device. How many were cut off since the last call.
 */
int wavesmith_sim_limit(int64_t wave_instructions);

/* The card that the library simulates, from WAVESMITH_SIM_CARD; texts live as
 * long as the library. */
typedef struct wavesmith_sim_card_text {
  const char *title;   /* ws_sim_card_title */
  const char *differs; /* ws_sim_card_differs */
  const char *error;   /* NULL, or why there is no such card: nothing works */
} wavesmith_sim_card_text;
const wavesmith_sim_card_text *wavesmith_sim_card(void);

/* WS_SIM_MODEL_VERSION of the library: what its times are called by. */
int wavesmith_sim_model(void);

/* ---- modules ---------------------------------------------------------------
 */
/* Copies the image. WS_INPUT and one line for whatever is wrong with it: not an
 * ELF, not gfx942, truncated, a relocation out of range, an opcode that the
 * simulator does not know (by name and address; found at load, not at launch).
 */
ws_status ws_sim_load(ws_sim *sim, const void *image, size_t size,
                      ws_sim_module **out_module, ws_diag *diag) WS_MUST_CHECK;
void ws_sim_unload(ws_sim *sim, ws_sim_module *module);
int ws_sim_kernel_count(const ws_sim_module *module);
const ws_sim_kernel *ws_sim_kernel_at(const ws_sim_module *module, int index);
/* NULL: there is none of this name. */
const ws_sim_kernel *ws_sim_kernel_find(const ws_sim_module *module,
                                        const char *name);
/* A variable of the module; false: none of this name. */
bool ws_sim_variable(const ws_sim_module *module, const char *name,
                     void **out_address, size_t *out_bytes);

typedef struct ws_sim_argument {
  const char *name, *kind; /* metadata's .value_kind: "by_value", ... */
  int32_t offset, size;
} ws_sim_argument;

typedef struct ws_sim_kernel_info {
  const char *name;
  int32_t vgpr; /* allocated per lane, architectural + accumulation */
  int32_t agpr, sgpr;
  int32_t lds_bytes; /* static */
  int32_t scratch_bytes;
  int32_t kernarg_bytes, max_workgroup;
  bool dynamic_stack;
  const ws_sim_argument *args;
  int arg_count; /* hidden ones included */
} ws_sim_kernel_info;
const ws_sim_kernel_info *ws_sim_kernel_info_of(const ws_sim_kernel *kernel);

/* ---- launching -------------------------------------------------------------
 */
typedef struct ws_sim_launch {
  const ws_sim_kernel *kernel;
  uint32_t grid[3];  /* workgroups */
  uint32_t block[3]; /* threads per workgroup */
  uint32_t dynamic_lds;
  /* The explicit arguments as they lie in the kernarg segment; hidden ones are
   * filled in. Shorter than the explicit part is an error. */
  const void *kernarg;
  size_t kernarg_size;
  /* Draws the compute units and workgroups that ws_sim_time simulates. Nothing
   * of it is visible to the kernel. */
  uint64_t sample_seed;
  int64_t budget; /* in place of the options'; 0: theirs */
} ws_sim_launch;

/* What a run found. ids are stable; table in docs/simulator.md. */
typedef struct ws_sim_finding {
  const char *id; /* "oob-global", "lds-race", "missing-wait", ... */
  const char *kernel;
  uint32_t workgroup[3];
  int wave, lane;          /* lane -1: of the wave as a whole */
  uint64_t pc;             /* bytes from the start of the code object's text */
  const char *instruction; /* disassembly */
  const char
      *region;      /* function of the line table, inlined ones included; "" */
  const char *file; /* "" without a line table */
  int line;
  const char *text; /* what, and what to do about it */
} ws_sim_finding;

typedef struct ws_sim_report {
  ws_sim_finding *findings; /* at most 32, in workgroup order */
  int finding_count;
  /* What is worth knowing and wrong on no machine; the run went on. */
  ws_sim_finding *notes;
  int note_count;
  int64_t wave_instructions;
  double seconds; /* of the host */
} ws_sim_report;

/* Runs the whole grid. WS_INPUT: the launch itself is wrong (grid, block, LDS,
 * arguments). What the kernel does wrong is findings; memory is then in
 * whatever state the kernel left it. The report lives in the arena. */
ws_status ws_sim_run(ws_sim *sim, const ws_sim_launch *launch, ws_arena *arena,
                     ws_sim_report *out_report, ws_diag *diag) WS_MUST_CHECK;

/* ---- time ------------------------------------------------------------------
 */
/* Why a wave did not issue, as shares of wave-clocks. */
#define WS_SIM_STALL_MAP(X)                                                    \
  X(lds, "waiting for LDS")                                                    \
  X(vmem, "waiting for vector memory")                                         \
  X(smem, "waiting for scalar memory")                                         \
  X(barrier, "waiting at a barrier")                                           \
  X(mfma, "matrix pipe busy or its result not ready")                          \
  X(pipe, "issue slot taken by another wave")                                  \
  X(fetch, "instruction fetch or branch")                                      \
  X(issue, "issuing")
enum {
#define WS_SIM_STALL_ENUM(name, text) WS_SIM_STALL_##name,
  WS_SIM_STALL_MAP(WS_SIM_STALL_ENUM)
#undef WS_SIM_STALL_ENUM
      WS_SIM_STALL_COUNT
};

typedef struct ws_sim_hot_line {
  const char *region, *file;
  int line, column; /* column: of the instruction with most clocks; 0: none */
  double share;                      /* of all wave-clocks */
  double stalls[WS_SIM_STALL_COUNT]; /* of this line's, sums to 1 */
} ws_sim_hot_line;

enum { WS_SIM_HOT_LINES = 12, WS_SIM_FUNCTIONS = 64, WS_SIM_LOOP_ROWS = 32 };

/* A row of a loop's machine code, in the order of addresses: an instruction,
 * neighbours of one opcode and one line of the source, or neighbours that take
 * too little to be shown. */
typedef struct ws_sim_loop_row {
  const char *text; /* the disassembler's; of several their opcode; "": not
                     * shown */
  int count;        /* of instructions */
  const char *region, *file; /* as of a hot line; "" not known */
  int line, column;          /* of the first instruction */
  double clocks; /* of one wave in one iteration, issue and waits; those of all
                  * rows sum to the loop's */
  double stalls[WS_SIM_STALL_COUNT]; /* of these; sums to 1, or all are 0 */
  double latency; /* clocks from a load to its data, mean; 0: loads nothing */
} ws_sim_loop_row;

/* The innermost loop with the most wave-clocks: from the target of a backward
 * branch to that branch, in the order of addresses. Source: the clock's own
 * counts of the simulated workgroups. */
typedef struct ws_sim_loop {
  double share;      /* of all wave-clocks; 0: none ran, the rest is 0 */
  double clocks;     /* of one wave in one iteration, mean */
  double iterations; /* of one wave in the launch, mean */
  int instructions;  /* static */
  ws_sim_loop_row rows[WS_SIM_LOOP_ROWS];
  int row_count;
} ws_sim_loop;

/* All lines of a function together, those of what is inlined into it not: they
 * are that function's own. */
typedef struct ws_sim_function_share {
  const char *name;
  double share; /* of all wave-clocks, above 0 */
} ws_sim_function_share;

/* One launch. */
typedef struct ws_sim_profile {
  const char *kernel;
  double us;                        /* launch cost included */
  double us_uncorrected;            /* the same without the card's correction */
  double features[WS_SIM_FEATURES]; /* sim_correction.h */
  double us_error;    /* half-width, of the sampling of workgroups alone */
  const char *bound;  /* "mfma" "lds" "valu" "vmem" "l2" "mall" (Infinity
                       * Cache) "hbm" "latency" "dispatch" "launch" */
  double model_error; /* relative half-width, 68 %, of what measured times of
                       * launches with this bound were: ws_sim_error_of_bound */
  double clock_mhz;   /* assumed, after what load does to it */
  int64_t clocks;     /* of the launch, without launch cost */
  /* 0 to 1, of a SIMD's or CU's capacity over the launch */
  double mfma_busy, valu_busy, salu_busy, lds_busy, vmem_busy;
  double stalls[WS_SIM_STALL_COUNT]; /* sums to 1 */
  double lds_conflict; /* LDS clocks / clocks without bank conflicts; >= 1 */
  double l1_hit, l2_hit, mall_hit; /* of the requests that reach the level */
  double l1_bytes, l2_bytes, mall_bytes, hbm_bytes; /* moved, whole launch */
  /* Clocks from the issue of a load of global memory, or of an LDS read, until
   * an instruction may use its data: what queues took included, over all of the
   * simulated ones. 0: there was none. */
  double load_latency, load_latency_most, lds_latency, lds_latency_most;
  int waves_per_simd;   /* occupancy */
  const char *limiter;  /* "vgpr" "lds" "sgpr" "waves" "workgroup" "grid" */
  double waves_of_grid; /* workgroups / (CUs * workgroups per CU) */
  double instructions;  /* of all waves */
  int64_t workgroups, workgroups_simulated;
  bool together; /* workgroups wait for one another: all CUs on one clock */
  ws_sim_hot_line lines[WS_SIM_HOT_LINES];
  int line_count;
  /* Each function that ran, in no order; more than fit are left out. */
  ws_sim_function_share functions[WS_SIM_FUNCTIONS];
  int function_count;
  ws_sim_loop loop;
} ws_sim_profile;

/* Where the inputs are before the launch. */
typedef enum ws_sim_residency {
  WS_SIM_COLD, /* in HBM: caches flushed, the timing protocol's state */
  WS_SIM_WARM, /* in the Infinity Cache as far as they fit */
  /* In the Infinity Cache as far as earlier operations left them there (below),
   * else in HBM. L2 is empty, as it is after any launch (docs/simulator.md). */
  WS_SIM_CHAIN
} ws_sim_residency;

/* What the Infinity Cache holds is what the caller says that operations on the
 * device have touched, one call an operation, in their order: LRU by bytes over
 * the card's mall_bytes. An operation that touches more than that leaves
 * nothing. At first, and of memory that is freed, nothing is held. ws_sim_run
 * and ws_sim_time change nothing of it. */
typedef struct ws_sim_range {
  const void *begin;
  size_t bytes;
} ws_sim_range;
void ws_sim_touch(ws_sim *sim, const ws_sim_range *ranges, int count);
/* A launch counts as touching the whole of every allocation that an aligned
 * word of its explicit arguments points into: the most that it can, pointers in
 * memory aside. The first 64 of them. */
void ws_sim_touch_launch(ws_sim *sim, const ws_sim_launch *launch);
/* Of the unknown allocations that the launch's arguments point to. keep: what
 * it stores if it is run (ws_sim_run) is known; else nothing of them is any
 * more, as after a launch that was only timed. false: there is none such. */
bool ws_sim_note_results(ws_sim *sim, const ws_sim_launch *launch, bool keep);
/* Nothing is held from here on. */
void ws_sim_flush(ws_sim *sim);
/* How much of the allocation around address is held, in 1/16, rounded down; 0
 * too where there is no allocation. */
int ws_sim_held(const ws_sim *sim, const void *address);

/* Times one launch by the cycle model. Device memory is read but not changed:
 * the sampled workgroups' stores go to a private copy. A kernel that faults or
 * never ends here is WS_INPUT. */
ws_status ws_sim_time(ws_sim *sim, const ws_sim_launch *launch,
                      ws_sim_residency residency, ws_arena *arena,
                      ws_sim_profile *out_profile, ws_diag *diag) WS_MUST_CHECK;

/* The profile in words, for people and proposers; and as JSON. */
struct cJSON;
void ws_sim_explain(const ws_sim_profile *profile, ws_strbuf *out);
struct cJSON *ws_sim_profile_to_json(const ws_sim_profile *profile);
struct cJSON *ws_sim_report_to_json(const ws_sim_report *report);

#ifdef __cplusplus
}
#endif
#endif
