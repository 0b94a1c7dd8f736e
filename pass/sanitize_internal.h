/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the parts of the sanitizer share. One candidate is sanitized at a time
 * per process: the kernel under test calls back without a context argument
 * and signals have none either, so the state is one static struct,
 * ws__sanitizer.
 *
 *   sanitize.c             the runs of a candidate
 *   sanitize_spots.c       a few workgroups of a large run
 *   sanitize_module.c      clone, retarget          sanitize_jit.c  to code
 *   sanitize_instrument.c  hooks
 *   sanitize_lanes.c       lanes, waves, barriers   sanitize_coroutine.c
 *   sanitize_wave.c        intrinsics (table: sanitize_intrinsics.def)
 *   sanitize_buffer.c      memory by descriptors   sanitize_to_lds.c  into LDS
 *   sanitize_memory.c      allocations, LDS, shadow, memory hooks
 *   sanitize_race.c        what is said of accesses that nothing orders
 *   sanitize_private.c     which private variable a pointer points into
 *   sanitize_origin.c      which region returns the offset of an access
 *   sanitize_observe.c     what the bound model wants to know
 *   sanitize_data.c        inputs and reference     sanitize_fault.c  findings
 *   sanitize_reference.c   a kernel as the reference
 */
#ifndef WAVESMITH_SANITIZE_INTERNAL_H
#define WAVESMITH_SANITIZE_INTERNAL_H

#include "sanitize.h"
#include "sanitize_coroutine.h"
#include "wavesmith/mfma.h"

#include <llvm-c/TargetMachine.h>
#include <setjmp.h>

/* ---- sites: places in the IR ----------------------------------------- */
typedef enum ws_space {
  WS_SPACE_LDS,
  WS_SPACE_GLOBAL,
  WS_SPACE_CONSTANT, /* global memory through a constant pointer */
  WS_SPACE_PRIVATE,
  WS_SPACE_ANY /* a flat pointer: known when it is used */
} ws_space;

typedef enum ws_operation_kind {
  WS_OPERATION_NONE,      /* no effect on results: dropped */
  WS_OPERATION_LANE,      /* computed by the lane alone */
  WS_OPERATION_ACCESS,    /* likewise; loads its result or stores operand 0 */
  WS_OPERATION_WAVE,      /* the lanes that reach it together */
  WS_OPERATION_WAVE_ALL,  /* all 64 lanes, else a finding */
  WS_OPERATION_TO_LDS,    /* the lanes together: global memory into LDS */
  WS_OPERATION_WORKGROUP, /* a barrier */
} ws_operation_kind;

typedef struct ws_site ws_site;
/* lanes: those of the current wave that take part. */
typedef void (*ws_operation_handler)(const ws_site *site, uint64_t lanes);
typedef struct ws_operation {
  const char *name; /* without "llvm.amdgcn."; a type suffix may follow */
  ws_operation_kind kind;
  ws_operation_handler handler;
  const ws_matrix_shape *shape; /* of matrix instructions */
} ws_operation;
/* NULL: no model of it. name is the whole intrinsic name. */
const ws_operation *ws__operation_find(const char *name);

enum { WS_MAX_OPERANDS = 8, WS_FRAME_BYTES = 320 };

/* The latest LDS access of a site by a whole wave, and what it cost. */
typedef struct ws_pattern {
  uint32_t place[64];
  int clocks, phases;
  bool valid;
} ws_pattern;

struct ws_site {
  ws_site *next; /* made before */
  const char *region, *file;
  const char *offset_region; /* whose function returns an LDS offset; or NULL */
  int line, column;
  int number; /* in the order of the IR */
  ws_space space;
  bool reads, writes, atomic;
  uint32_t size, alignment;
  int buffer;          /* where the last access went; a hint */
  int64_t begin, end;  /* of a private variable, from the hook's base */
  ws_pattern *pattern; /* LDS only */
  uint32_t reported;
  /* wave operations: result at frame + 0, operands at frame + offset */
  const ws_operation *operation;
  int operand_count;
  uint16_t offset[WS_MAX_OPERANDS];
  uint16_t result_size;
  int64_t immediate[WS_MAX_OPERANDS]; /* operands with offset 0 */
  ws_site *lds;                       /* of a load to LDS: its other half */
};

/* ---- findings (sanitize_fault.c) ------------------------------------- */
/* X(name, id, stops the run, cure) */
#define WS_FAULT_MAP(X)                                                        \
  X(OOB_GLOBAL_LOAD, "oob-global-load", true,                                  \
    "guard or clamp the index by the matrix size")                             \
  X(OOB_GLOBAL_STORE, "oob-global-store", true,                                \
    "guard the store by the matrix size")                                      \
  X(OOB_RESOURCE, "oob-resource", true,                                        \
    "num_records is the bytes from the base to the argument's end, or fewer")  \
  X(READONLY_STORE, "readonly-store", true,                                    \
    "inputs may only be read; write to the output or the workspace")           \
  X(OOB_LDS, "oob-lds", true,                                                  \
    "check the LDS offset against the size declared in !wavesmith.lds")        \
  X(UNINIT_LDS, "uninit-lds", false,                                           \
    "store to this LDS location first, or read only what was stored")          \
  X(UNINIT_GLOBAL, "uninit-global", false,                                     \
    "output and workspace hold garbage at entry; write before reading")        \
  X(UNINIT_PRIVATE, "uninit-private", false,                                   \
    "missing zeroing: store to the variable before its first load")            \
  X(OOB_PRIVATE, "oob-private", true,                                          \
    "check the index against the size of the alloca")                          \
  X(LDS_RACE, "lds-race", false, "put a barrier between the two accesses")     \
  X(LDS_OVERLAP, "lds-overlap", false,                                         \
    "offsets must be one-to-one: give each lane bytes of its own, or let one " \
    "lane store what all have; no barrier keeps both values")                  \
  X(GLOBAL_RACE, "global-race", false,                                         \
    "give each element one writer, use atomics, or split the launch")          \
  X(DIVERGENT_BARRIER, "divergent-barrier", true,                              \
    "all lanes of the workgroup must reach the same barrier: move it out of "  \
    "the branch or loop that only some take")                                  \
  X(DIVERGENT_WAVE_OP, "divergent-wave-op", true,                              \
    "all 64 lanes of the wave must execute it together: move it out of the "   \
    "branch or loop that only some take")                                      \
  X(MISALIGNED, "misaligned", false,                                           \
    "lower the align of the access, or pad so that the address is a multiple") \
  X(UNWRITTEN_OUTPUT, "unwritten-output", false,                               \
    "every element of the output must be stored")                              \
  X(WRONG_RESULT, "wrong-result", false,                                       \
    "compare index, scale and accumulation with the region's contract")        \
  X(STACK_OVERFLOW, "stack-overflow", true,                                    \
    "use less private memory per lane")                                        \
  X(INFINITE_LOOP, "infinite-loop", true, "check the loop's exit condition")   \
  X(INPUT_MODIFIED, "input-modified", true, "inputs may only be read")         \
  X(DIVISION_BY_ZERO, "division-by-zero", true,                                \
    "guard the divisor; the target gives no trap but garbage")                 \
  X(TRAP, "trap", true, "an unreachable or trap was executed")                 \
  X(NO_HOST_MODEL, "no-host-model", true,                                      \
    "use what docs/sanitizer.md lists, or run the candidate unsanitized")      \
  X(NOT_MODELLED, WS_FINDING_NOT_MODELLED, true,                               \
    "the simulator or the card must judge it")                                 \
  X(BAD_LAUNCH, "bad-launch", true, "mend the launch rule of the template")    \
  X(SANITIZER_LIMIT, "sanitizer-limit", true,                                  \
    "use a smaller shape for the sanitizer run")

typedef enum ws_fault {
#define WS_FAULT_ENUM(name, id, stops, cure) WS_FAULT_##name,
  WS_FAULT_MAP(WS_FAULT_ENUM)
#undef WS_FAULT_ENUM
      WS_FAULT_COUNT
} ws_fault;

/* Records the finding once per site. One that stops the run does not return
 * when called from a lane. site may be NULL: then region "" and the line of
 * the launch. */
void ws__fault(ws_fault fault, ws_site *site, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Signals of the kernel's code jump to *escape, which must be armed for each
 * workgroup; then ws__fault_from_signal makes the finding. */
void ws__fault_signals_install(void);
void ws__fault_signals_restore(void);
void ws__fault_arm(sigjmp_buf *escape);
void ws__fault_from_signal(void);

/* ---- lanes ----------------------------------------------------------- */
enum {
  WS_WAVE_LANES = 64,
  WS_MAX_LANES = 1024,
  WS_MAX_WAVES = WS_MAX_LANES / WS_WAVE_LANES,
  WS_STACK_BYTES = 64 << 10,
  WS_STACK_GUARD = 4 << 10,
  WS_PRIVATE_MAX = 40 << 10 /* private variables; the rest is for spills */
};

typedef struct ws_lane {
  ws_coroutine coroutine;
  ws_site *site; /* what it waits at, or the last hook it passed */
  char *frame;   /* operands of the wave operation it waits at */
} ws_lane;

/* Every lane of a wave is in exactly one of these sets. */
typedef struct ws_wave {
  uint64_t runnable, at_operation, at_barrier, at_full_record, done;
  uint32_t rendezvous_key; /* see ws_memory */
} ws_wave;

typedef struct ws_lanes {
  ws_lane lane[WS_MAX_LANES];
  ws_wave wave[WS_MAX_WAVES];
  ws_coroutine scheduler;
  int count, wave_count;
  int current;      /* lane index, valid while in_lane */
  int current_wave; /* likewise */
  volatile bool in_lane;
  bool stopped; /* a fault ended the run */
  int32_t workgroup_id[3], workgroup_count[3];
  void (*entry)(void *arguments);
  void *arguments;
  char *stacks;    /* of all lanes; in the low 4 GiB, see ws__lanes_stack */
  int stack_count; /* of them usable */
} ws_lanes;

void ws__lanes_reserve(void);
char *ws__lanes_stack(int lane); /* lowest usable byte */
void ws__lane_main(void);        /* what a lane runs; never returns */
/* false when a fault stopped it. */
bool ws__lanes_run_workgroup(ws_wave_order order);
/* Ends the current lane and the run; returns only outside lanes. */
void ws__lanes_stop(void);
/* The lane waits until the others of its wave can go no further either, so
 * that the observation's record can be emptied. */
void ws__lanes_wait_for_record(void);
void ws__hook_operation(ws_site *site, char *frame);

/* ---- memory ---------------------------------------------------------- */
/* What is known of a byte: the key of its last write in the low half, of its
 * last reads in the high half. */
typedef uint64_t ws_cell;

typedef struct ws_buffer {
  const char *name;
  ws_arg_role role;
  uintptr_t begin;
  int64_t size;
  ws_cell *shadow; /* per byte; NULL for inputs */
} ws_buffer;

/* A key orders accesses: moment << WS_KEY_BITS | who. The moment grows with
 * every barrier and every wave operation, so one number says in which run,
 * launch, workgroup and barrier interval an access happened. */
enum {
  WS_KEY_BITS = 11,
  WS_KEY_WAVE = 1024,    /* + wave: several lanes of this wave */
  WS_KEY_ATOMIC = 2046,  /* an atomic access */
  WS_KEY_SEVERAL = 2047, /* lanes of several waves */
  WS_LDS_MAX = 256 << 10
};

typedef struct ws_memory {
  ws_buffer buffers[WS_PROBLEM_MAX_ARGS];
  int buffer_count;
  uintptr_t lds_base;          /* fixed, low */
  uint32_t lds_begin, lds_end; /* of the kernel that runs */
  ws_cell *lds_shadow;
  /* per byte of LDS: the number of the site of the last write, last read */
  uint16_t *lds_writers, *lds_readers;
  uint32_t moment;
  uint32_t run_key, launch_key, workgroup_key, barrier_key;
  bool acquired;          /* this workgroup executed an acquire fence */
  uint8_t *private_state; /* diagnosis: shadow of the lane stacks */
} ws_memory;

void ws__memory_reserve(void);
void ws__memory_begin_run(void);
void ws__memory_begin_launch(void);
void ws__memory_begin_workgroup(void);
void ws__memory_barrier(void);
void ws__memory_rendezvous(ws_wave *wave);
/* An allocation far from all others, at a multiple of alignment (less than a
 * page) and of no more. */
void *ws__memory_allocate(int64_t size, int64_t alignment);
/* The same of an input that repeats a piece of its contents, read-only
 * (sanitize_repeat.c). */
void *ws__memory_repeat(const ws_problem *problem, int arg, int layout,
                        uint64_t seed, int64_t size);
void ws__memory_free(void *data, int64_t size);
void ws__memory_protect(void *data, int64_t size);
ws_buffer *ws__memory_add_buffer(const char *name, ws_arg_role role, void *data,
                                 int64_t size);
/* All of it counts as written before this run's first launch. */
void ws__memory_give(ws_buffer *buffer);
void ws__memory_drop_buffers(void);
/* The argument that holds the byte at this address, or ends there; or NULL. */
const ws_buffer *ws__memory_buffer_at(uintptr_t address);
/* A lane's write of a dword of LDS counts as made now. */
void ws__memory_writes_now(int lane, uint32_t offset);

void ws__hook_lds_load(ws_site *site, uintptr_t address);
void ws__hook_lds_store(ws_site *site, uintptr_t address);
void ws__hook_global_load(ws_site *site, uintptr_t address);
void ws__hook_global_store(ws_site *site, uintptr_t address);
void ws__hook_access(ws_site *site, uintptr_t address);
void ws__hook_range(ws_site *site, uintptr_t address, uint64_t size);
void ws__hook_fence(ws_site *site);
void ws__hook_private(ws_site *site, uintptr_t address);
void ws__hook_variable(ws_site *site, uintptr_t address, uint64_t size,
                       uintptr_t base);
void ws__hook_alloca(ws_site *site, uintptr_t address, uint64_t size);

/* ---- races (sanitize_race.c) -------------------------------------------- */

/* An access of the current lane, and another of the same byte. */
typedef struct ws_race {
  ws_site *site;
  const ws_buffer *buffer;   /* NULL: LDS */
  unsigned long long offset; /* in the buffer, or in the kernel's LDS */
  uint32_t lds_offset;       /* in all of LDS */
  uint32_t other;            /* key of the other access */
  bool site_writes, other_wrote;
  bool unread; /* nobody read the byte since, certainly */
} ws_race;
void ws__race_report(const ws_race *race);

/* ---- loads to LDS (sanitize_to_lds.c) ---------------------------------- */

void ws__to_lds_begin_workgroup(void);
/* After each barrier of the workgroup. */
void ws__to_lds_barrier(void);
/* Is a lane's load to this LDS byte perhaps still under way? */
bool ws__to_lds_in_flight(uint32_t lane, uint32_t offset);

/* ---- buffer descriptors (sanitize_buffer.c) ----------------------------- */

void ws__buffers_begin_workgroup(void);
/* Where a lane's access of `bytes` bytes lies, whose operands `at` and
 * `offset` are the descriptor and the offset (the scalar one is behind it).
 * NULL: out of range, or a fault. */
char *ws__buffer_place(ws_site *site, int lane, int at, int offset,
                       uint32_t extra, uint32_t bytes);

/* ---- observation ----------------------------------------------------- */
enum { WS_RECORD_SLOTS = 1024 };
/* One wave instruction in the making. */
typedef struct ws_record_slot {
  const ws_site *site;
  uint32_t part; /* which 16 bytes of a wider access */
  bool lds;
  uint64_t lanes; /* that took part */
  /* per lane: the LDS offset, or the 128-byte line of global memory */
  uint32_t place[WS_WAVE_LANES];
} ws_record_slot;

typedef struct ws_recorder {
  ws_record_slot slots[WS_RECORD_SLOTS];
  int count;
  int cursor[WS_WAVE_LANES];
  ws_observed *observed; /* of the launch that runs */
} ws_recorder;

/* size and address may be those of a part of the site's access only where
 * they are wider than 16 bytes. */
void ws__record_lds(const ws_site *site, uint32_t offset, uint32_t size);
void ws__record_global(const ws_site *site, uintptr_t address, uint32_t size);
void ws__record_flush(void);

/* ---- the program under test ------------------------------------------ */
enum { WS_MAX_LDS_GLOBALS = 64 };
typedef struct ws_entry_point {
  const char *symbol; /* of the wrapper that unpacks the arguments */
  void (*call)(void *arguments);
  uint32_t lds_begin, lds_end;
} ws_entry_point;

typedef struct ws_program {
  ws_arena *arena;
  ws_entry_point entries[WS_TEMPLATE_MAX_LAUNCHES];
  int entry_count;
  ws_site *sites; /* latest first */
  void *code;     /* of sanitize_jit.c */
} ws_program;

/* Turns a copy of module into host IR that calls the hooks. NULL and findings
 * when something has no host model. launches: a bit for each one that some run
 * needs. diagnose: hooks for private memory too.
 * provides: out_program->entries[i].symbol for each of these launches. */
LLVMModuleRef ws__instrument(LLVMModuleRef module, const ws_template *tmpl,
                             const ws_problem *problem, uint32_t launches,
                             bool diagnose, LLVMTargetMachineRef machine,
                             const char *layout, ws_program *out_program);

LLVMTargetMachineRef ws__jit_machine(const char **out_layout);
/* Makes the above, and compiles and links something once. */
void ws__jit_warm_up(void);
/* Compiles and links; fills entries[i].call. Disposes module. */
bool ws__jit_load(LLVMModuleRef owned_module, ws_program *program);
void ws__jit_unload(ws_program *program);

/* ---- inputs and reference -------------------------------------------- */
typedef struct ws_prepared {
  const ws_problem *problem;
  int layout;
  ws_shape shape;
  uint64_t seed;
  void *inputs[WS_PROBLEM_MAX_ARGS]; /* NULL for other arguments */
  double *value, *scale; /* of all results; NULL: there is no reference */
} ws_prepared;
const ws_prepared *ws__prepared_get(const ws_problem *problem, int layout,
                                    const ws_shape *shape, uint64_t seed);
/* Inputs alone, of a shape that is too large to be kept. */
ws_prepared ws__prepared_inputs(const ws_problem *problem, int layout,
                                const ws_shape *shape, uint64_t seed);
void ws__prepared_discard(ws_prepared *old);

/* ---- a few workgroups of many (sanitize_spots.c) ----------------------- */
enum { WS_MOST_SPOTS = 64, WS_MORE_SPOTS = 14 };
typedef struct ws_spots {
  int64_t numbers[WS_MOST_SPOTS]; /* of workgroups, drawn by the run's seed */
  /* The first so many run; the rest only while those before wrote less than
   * their share of the output. */
  int wanted, count;
  int64_t workgroups; /* that the launch has */
  bool complete;      /* the output is, after this launch */
  int64_t written;    /* bytes of the output so far */
  int64_t most;       /* of one workgroup */
} ws_spots;
void ws__spots_begin(const ws_run *run, int64_t workgroups, bool complete,
                     ws_spots *out);
bool ws__spots_go_on(const ws_spots *spots, int next);
void ws__spots_note(ws_spots *spots); /* after each workgroup */
/* Whether what was written to the output is right, and is enough. */
bool ws__spots_right(const ws_problem *problem, int layout, const ws_run *run,
                     const void *const *data, const ws_spots *spots);

/* ---- state ----------------------------------------------------------- */
typedef struct ws_sanitizer {
  ws_lanes lanes;
  ws_memory memory;
  ws_recorder recorder;
  ws_findings *findings;
  const ws_candidate *candidate;
  const ws_template *tmpl; /* of the candidate */
  const ws_site *sites;    /* of the program that runs, latest first */
  const ws_launch *launch; /* that runs, or ran last */
  const ws_launch *ran[WS_TEMPLATE_MAX_LAUNCHES]; /* in this run, in order */
  int ran_count;
  bool diagnosing; /* second run of what came out wrong */
  ws_sanitize_times times;
} ws_sanitizer;
extern ws_sanitizer ws__sanitizer;

/* "; what ran: first, second" where the template has other launches, too. In
 * the arena. */
const char *ws__what_ran(ws_arena *arena);

/* Who made an access, of its key. */
static inline uint32_t ws__key_who(uint32_t key) {
  return key & ((1u << WS_KEY_BITS) - 1);
}

static inline bool ws__key_of_this_wave(uint32_t key) {
  uint32_t who = ws__key_who(key);
  uint32_t wave = (uint32_t)ws__sanitizer.lanes.current_wave;
  return who < WS_KEY_WAVE ? who / WS_WAVE_LANES == wave
                           : who == WS_KEY_WAVE + wave;
}

#endif
