/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the compiler side is asked (ws_build_request) and what it answers
 * (ws_build_result): verdict, findings, facts, observations. Both travel as
 * JSON (message frames of base.h) between `wavesmith` and its compile server;
 * the blob of a request is the template's text, that of an answer the code
 * object.
 *
 * Threads: requests and results are plain data of whoever holds them; a
 * ws_compiler belongs to one thread at a time.
 */
#ifndef WAVESMITH_BUILD_H
#define WAVESMITH_BUILD_H

#include "wavesmith/json_fields.h"
#include "wavesmith/problem.h"
#include "wavesmith/template.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a candidate. Data, stored in the archive. */
#define WS_VERDICT_MAP(X)                                                      \
  X(OK, "ok")                                                                  \
  X(ILLEGAL, "illegal")       /* static check or constraint */                 \
  X(NO_COMPILE, "no_compile") /* parse, splice, code generation, link */       \
  X(CRASH, "crash")           /* the compiler or the kernel died */            \
  X(TIMEOUT, "timeout")                                                        \
  X(WRONG, "wrong") /* sanitizer finding or wrong result */                    \
  X(UNSTABLE, "unstable")                                                      \
  X(SLOW, "slow")                                                              \
  X(DUPLICATE, "duplicate")
typedef enum ws_verdict {
#define WS_VERDICT_ENUM(name, text) WS_VERDICT_##name,
  WS_VERDICT_MAP(WS_VERDICT_ENUM)
#undef WS_VERDICT_ENUM
      WS_VERDICT_COUNT
} ws_verdict;
extern const char *const ws_verdict_names[WS_VERDICT_COUNT];
const char *ws_verdict_text(ws_verdict verdict);
bool ws_verdict_parse(const char *text, ws_verdict *out_verdict);

/* Whom a result is to be blamed on: the candidate or our machinery; the user's
 * fault is a status (WS_INPUT, WS_USAGE). A verdict is a fact about the
 * candidate only when the blame is its own: what servers say is settled by the
 * one policy of runtime/eval/server_client.h, and nothing else reaches their
 * clients' callers or an archive. */
#define WS_BLAME_MAP(X)                                                        \
  X(CANDIDATE, "candidate")                                                    \
  X(SUSPECTED, "suspected") /* it crashed or hung: its doing if it repeats */  \
  X(UNKNOWN, "unknown")     /* a signal from outside, a stop, no CPU time */   \
  X(OURS, "ours")           /* no memory, disk or descriptors; no device */
typedef enum ws_blame {
#define WS_BLAME_ENUM(name, text) WS_BLAME_##name,
  WS_BLAME_MAP(WS_BLAME_ENUM)
#undef WS_BLAME_ENUM
      WS_BLAME_COUNT
} ws_blame;
extern const char *const ws_blame_names[WS_BLAME_COUNT];
const char *ws_blame_text(ws_blame blame);
bool ws_blame_parse(const char *text, ws_blame *out_blame);
/* Of a process that a signal has ended: one that a crash raises, or one that
 * somebody sends. */
ws_blame ws_blame_of_signal(int signal);

/* One thing that is wrong with a candidate. id is stable ("lds-race"); region
 * is the region's function or ""; file, line and column point at what was written
 * (0: not known); text says what, and how to mend it. */
typedef struct ws_finding {
  const char *id, *region, *file, *text;
  int line, column;
} ws_finding;
/* "gemm.mlir:12:5", as much of it as is known; in the arena. */
const char *ws_finding_place(ws_arena *arena, const ws_finding *finding);

/* The id of a finding that does not speak against a candidate: see not_modelled
 * of its result. */
#define WS_FINDING_NOT_MODELLED "not-modelled"

/* ---- request --------------------------------------------------------------
 */
typedef enum ws_wave_order { WS_WAVES_UP, WS_WAVES_DOWN } ws_wave_order;

/* One sanitizer run: the whole launch sequence on one shape. Or, for a shape
 * that is too large for that, a few workgroups of its first launch, drawn by
 * the seed; of what they write to the output, a sample is compared. */
typedef struct ws_run {
  ws_shape shape;
  ws_wave_order order;
  uint64_t seed;
  int32_t spots; /* that many workgroups; 0: all */
  /* Results are not compared with the reference, for it is to be one: it runs a
   * second time, with the waves in the other order, and must leave the same. */
  bool alone;
} ws_run;

enum {
  WS_STAGE_CHECK = 1,    /* static check; needs splice, which always runs */
  WS_STAGE_SANITIZE = 2, /* the runs below, on CPU */
  WS_STAGE_LOWER = 4,    /* O3, code object, facts */
  WS_STAGE_RAW = 8,      /* the text is no template: lower its kernels as they
                          * are, without check, sanitizer or candidate */
  WS_STAGE_LINES = 16,   /* not a stage of its own: the code object keeps a line
                          * table, for profiles; the code is the same */
  WS_STAGE_BRANCHES = 32 /* likewise: branches of the lowered kernels, below */
};

typedef struct ws_limits {
  int wall_ms;   /* default 20000 */
  int cpu_ms;    /* default 15000 */
  int memory_mb; /* address space beyond the server's own; default 2048 */
} ws_limits;
extern const ws_limits ws_limits_default;

typedef struct ws_build_request {
  const char *template_file; /* name for messages */
  const char *template_text; /* travels as the blob */
  size_t template_size;
  const char *target;      /* "gfx942" */
  const char *assignments; /* "tile_m=128;...", all or some parameters */
  const char *variants;    /* "region=variant;..." or "" */
  struct ws_request_body { /* bodies with text of their own */
    const char *region, *language, *text, *file;
  } const *bodies;
  int body_count;
  const ws_run *runs;
  int run_count;
  int stages;
  ws_limits limits;
  /* By ws_clock_ms: nothing is tried again after that; 0: no such time. Of the
   * client, which answers WS_INTERRUPTED then. */
  double give_up_ms;
} ws_build_request;

/* A candidate as a request: all but runs and stages, limits by default. text is
 * its template's. Borrows text and the candidate; the rest is in the arena. */
ws_build_request ws_build_request_of(ws_arena *arena,
                                     const ws_candidate *candidate,
                                     const char *text, size_t size);

/* ---- facts: what the code object says -------------------------------------
 */

/* Static instruction counts by issue class, from the disassembly. */
#define WS_MIX_MAP(X)                                                          \
  X(valu)                                                                      \
  X(valu_trans)                                                                \
  X(mfma_16x16x32)                                                             \
  X(mfma_32x32x16)                                                             \
  X(mfma_other)                                                                \
  X(salu) X(smem) X(branch) X(barrier) X(wait) X(nop) X(ds_read) X(ds_write)   \
      X(vmem_load) X(vmem_store) X(vmem_atomic) X(scratch) X(other)
typedef struct ws_mix {
#define WS_MIX_FIELD(name) int32_t name;
  WS_MIX_MAP(WS_MIX_FIELD)
#undef WS_MIX_FIELD
} ws_mix;

/* An innermost loop of the machine code: the instructions between a backward
 * branch and its target. */
typedef struct ws_loop {
  ws_mix mix;
  /* MFMA issue clocks (16 or 32 each) between the last global load of the body
   * and the first s_waitcnt that must wait for it, going round the loop: work
   * of the wave itself that hides its load latency. 0: loads are waited for
   * at once. */
  int32_t mfma_clocks_over_load;
  /* Bytes per lane of the global loads of the body, together. */
  int32_t load_bytes;
} ws_loop;

enum { WS_MAX_LOOPS = 8, WS_MAX_KERNELS = 16, WS_MAX_CONSTANTS = 64 };
typedef struct ws_kernel_facts {
  const char *name;
  int32_t vgpr; /* architectural + accumulation, as .vgpr_count says */
  int32_t agpr, sgpr;
  int32_t lds_bytes;   /* in the code object; beside it: */
  int32_t dynamic_lds; /* given at launch (NVPTX: the template's lds) */
  int32_t scratch_bytes, vgpr_spills, sgpr_spills;
  int32_t kernarg_bytes, max_workgroup;
  bool dynamic_stack;
  int32_t code_bytes;
  ws_mix mix; /* whole kernel */
  ws_loop loops[WS_MAX_LOOPS];
  int32_t loop_count;
  /* kernarg layout: offset and size per argument name; 128 bytes: a tensor
   * map of the template, aligned to 64 */
  struct ws_kernarg {
    const char *name;
    int32_t offset, size;
  } args[WS_PROBLEM_MAX_ARGS];
  int32_t arg_count;
  /* What the optimised code divides a scalar by, compares it with or steps
   * towards it by, in units of the scalar: moduli, unroll counts, thresholds.
   * Ascending by scalar, value and modulus; those that are found, not all there
   * are. */
  struct ws_scalar_constant {
    const char *scalar;
    int64_t value;
    int32_t modulus; /* 1: its remainders matter; 0: it is compared with */
  } constants[WS_MAX_CONSTANTS];
  int32_t constant_count;
} ws_kernel_facts;

/* Something that the optimised code decides by the shape: left and right are
 * compared, or the remainders of left by modulus matter (right is "" then).
 * Expressions (wavesmith/expr.h) over the kernel's scalars and, of a launch's
 * workgroups, workgroup_x, _y and _z; left is "" where it has no such form. */
typedef struct ws_branch {
  const char *kernel, *left, *right;
  int64_t modulus; /* 0: compared */
  const char *region, *file;
  int line; /* 0: not known */
} ws_branch;
enum { WS_MAX_BRANCHES = 96 };

/* ---- observations: what the sanitizer run did ------------------------------
 */

/* Sums over one launch of one kernel in one run. "ops" are wave instructions
 * (one per 64 lanes in step), from the unoptimised IR. The first two kinds of
 * MFMA are fp8 and bf8. */
#define WS_OBSERVED_MAP(X)                                                     \
  X(workgroups)                                                                \
  X(waves)                                                                     \
  X(threads)                                                                   \
  X(mfma_16x16x32)                                                             \
  X(mfma_32x32x16)                                                             \
  X(mfma_other)                                                                \
  X(barriers) X(ds_read_ops) X(ds_write_ops) X(ds_read_bytes) X(               \
      ds_write_bytes)                                                          \
      X(ds_clocks) /* LDS array clocks with conflicts, from real addresses */  \
      X(ds_clocks_ideal) /* the same without conflicts */                      \
      X(vmem_load_ops) X(vmem_store_ops) X(vmem_load_bytes) X(                 \
          vmem_store_bytes)                                                    \
          X(vmem_lines) /* distinct 128-byte lines touched, summed over ops */ \
      X(vmem_clocks)    /* max(4, bytes/64, lines) summed over ops */          \
      X(atomic_ops)
typedef struct ws_observed {
#define WS_OBSERVED_FIELD(name) int64_t name;
  WS_OBSERVED_MAP(WS_OBSERVED_FIELD)
#undef WS_OBSERVED_FIELD
} ws_observed;

typedef struct ws_run_result {
  ws_shape shape;
  int launch_count;
  struct ws_launch_observed {
    const char *kernel;
    ws_observed observed;
  } launches[WS_TEMPLATE_MAX_LAUNCHES];
} ws_run_result;

/* ---- result ----------------------------------------------------------------
 */
typedef struct ws_build_result {
  ws_verdict verdict;
  ws_blame blame;
  const char
      *stage; /* "parse" "splice" "check" "sanitize" "lower" "facts" "" */
  const char *reason; /* one line; "" when ok */
  /* Where and what the sanitizer has no model of: it ran nothing, and the
   * candidate has not been judged before a device has. "" or NULL: nothing. */
  const char *not_modelled;
  const ws_finding *findings;
  int finding_count;
  const ws_run_result *runs;
  int run_count;
  const ws_kernel_facts *kernels;
  int kernel_count;
  /* With WS_STAGE_BRANCHES: those that are found, not all there are. */
  const ws_branch *branches;
  int branch_count;
  const char *ir_hash;   /* canonical post-O3 IR; "" when not lowered */
  const char *code_hash; /* machine code of all kernels; "" likewise */
  /* What lowered it, "wavesmith 0.1.0, LLVM 21.1.8, comgr 3.0"; "" when not
   * lowered. Only builds by the same compiler must have the same hashes. */
  const char *compiler;
  /* Of the code object's bytes, in JSON: what the archive keeps of them. "" or
   * NULL: not known. */
  const char *object_hash;
  const void *code_object;
  size_t code_object_size;
  double parse_ms, check_ms, sanitize_ms, lower_ms;
} ws_build_result;
/* Facts of the kernel of this name; NULL: the build has none such. */
const ws_kernel_facts *ws_build_kernel_facts(const ws_build_result *result,
                                             const char *kernel);

/* false: see not_modelled. */
static inline bool ws_build_is_modelled(const ws_build_result *result) {
  return !result->not_modelled || !*result->not_modelled;
}

extern const ws_json_struct ws_finding_json;
struct cJSON;
/* The blob (template text, code object) is not part of the JSON. */
struct cJSON *ws_build_request_to_json(const ws_build_request *request);
ws_status ws_build_request_from_json(ws_arena *arena, const struct cJSON *json,
                                     ws_build_request *out_request,
                                     ws_diag *diag) WS_MUST_CHECK;
struct cJSON *ws_build_result_to_json(const ws_build_result *result);
ws_status ws_build_result_from_json(ws_arena *arena, const struct cJSON *json,
                                    ws_build_result *out_result,
                                    ws_diag *diag) WS_MUST_CHECK;

/* ---- compile server, client side (runtime/eval/compiler.c) ------------------
 */
typedef struct ws_compiler
    ws_compiler; /* one server process, one job at a time */

/* Starts `wavesmith-compiler` (beside the program, in ../libexec/wavesmith, or
 * WAVESMITH_COMPILER). */
ws_status ws_compiler_start(ws_compiler **out_compiler,
                            ws_diag *diag) WS_MUST_CHECK;
/* Takes at most 300 ms, then the server is killed. */
void ws_compiler_stop(ws_compiler *compiler);
/* Tells the server to end without waiting for it, so that several stopped in
 * turn afterwards take 300 ms together. Nothing but ws_compiler_stop may
 * follow. */
void ws_compiler_dismiss(ws_compiler *compiler);
/* Reads a template's declarations. A malformed template is WS_INPUT with
 * file:line. */
ws_status ws_compiler_describe(ws_compiler *compiler, ws_arena *arena,
                               const char *file, const char *text, size_t size,
                               const ws_template **out_template,
                               ws_diag *diag) WS_MUST_CHECK;
/* HIP or OpenCL C to a template (docs/hip.md). */
typedef struct ws_import {
  const char *file, *target;
  const char *own;      /* the author's text */
  const char *text;     /* with what the options add */
  const char *language; /* of text: "hip", "opencl"; "ir": another clang's */
  const char *const *options; /* for clang: -I, -D */
  int option_count;
  const char *name, *problem; /* where the file does not say */
} ws_import;
/* *out_text is the template, or "" and findings say why, by the lines of the
 * author's text. */
ws_status ws_compiler_import(ws_compiler *compiler, ws_arena *arena,
                             const ws_import *import, const char **out_text,
                             const ws_finding **out_findings, int *out_count,
                             ws_diag *diag) WS_MUST_CHECK;
/* Runs one job to its end. What becomes of a candidate is a verdict in
 * *out_result, whose blame is WS_BLAME_CANDIDATE then; a server that dies, or a
 * crash or hang that may be anyone's doing, is tried again on a fresh server.
 * The status is about our machinery: WS_ENVIRONMENT when that does not help,
 * WS_INTERRUPTED after give_up_ms. */
ws_status ws_compiler_build(ws_compiler *compiler, ws_arena *arena,
                            const ws_build_request *request,
                            ws_build_result *out_result,
                            ws_diag *diag) WS_MUST_CHECK;
/* The same in steps, so that one thread can keep several servers busy: send;
 * poll the descriptor for reading, a second at most; when has_answer, receive.
 * *out_done false: the job was sent again, to a fresh server. */
ws_status ws_compiler_send(ws_compiler *compiler,
                           const ws_build_request *request,
                           ws_diag *diag) WS_MUST_CHECK;
int ws_compiler_descriptor(const ws_compiler *compiler);
bool ws_compiler_has_answer(ws_compiler *compiler);
ws_status ws_compiler_receive(ws_compiler *compiler, ws_arena *arena,
                              ws_build_result *out_result, bool *out_done,
                              ws_diag *diag) WS_MUST_CHECK;
/* Versions for `wavesmith doctor`: {"llvm":"21.1.8","comgr":"3.0",...}. */
ws_status ws_compiler_versions(ws_compiler *compiler, ws_arena *arena,
                               char **out_json, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
