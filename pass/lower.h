/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parts of lowering, for lower.c and its tests: what each family does its
 * own way, hashes, facts.
 */
#ifndef WAVESMITH_PASS_LOWER_H
#define WAVESMITH_PASS_LOWER_H

#include "comgr.h"
#include "family.h"
#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One module on its way down. */
typedef struct ws_lowering {
  LLVMModuleRef module;
  const ws_candidate *candidate; /* NULL: a raw module */
  const char *target;
  int stages; /* of a request; WS_STAGE_LINES and _BRANCHES count */
  LLVMTargetMachineRef machine;
  ws_arena *arena;
  ws_build_result *out;
  ws_findings *findings;
  const ws_kernel_facts *constants; /* of each kernel, nothing else in them */
  int constant_count;
} ws_lowering;

/* How a family is lowered; lower.c does the rest. Functions that return false
 * have added a finding. */
typedef struct ws_lowering_family {
  const ws_ir_family *ir;
  const char *name; /* of LLVM's backend */
  const char *features;
  LLVMCodeGenOptLevel level;
  LLVMRelocMode relocation;
  LLVMCodeGenFileType file;
  void (*initialize)(void); /* LLVM's backend, once per process */
  /* What the module lacks before O3. */
  bool (*prepare)(const ws_lowering *lowering);
  /* From the backend's output to code object, kernels and code hash in
   * lowering->out. */
  bool (*finish)(const ws_lowering *lowering, ws_blob emitted);
  /* A kernel that needs memory where registers were meant. */
  void (*report_scratch)(const ws_lowering *lowering,
                         const ws_kernel_facts *facts);
  /* "comgr 3.0": what works after LLVM. */
  const char *(*tool)(ws_arena *arena);
} ws_lowering_family;
extern const ws_lowering_family ws__lower_amdgpu, ws__lower_nvptx;

/* Runs LLVM passes by their text form; false and a finding on failure. */
bool ws__lower_passes(const ws_lowering *lowering, const char *passes);

/* A log as one finding "codegen": its first error line, or all of it. */
void ws__lower_log(ws_findings *findings, const char *step, const char *log);

/* Hash of what the kernels of a module compute and promise (ir_hash.c).
 * Independent of value and global names, of the order of globals, of unused
 * ones, of debug info and other metadata. */
ws_hash ws_ir_hash(LLVMModuleRef module);

/* What the kernels measure their scalars by, of the optimised module
 * (scalar_constants.c): found before code generation changes it, and taken into
 * facts afterwards. */
void ws__scalar_constants_find(ws_lowering *lowering);
void ws__scalar_constants_take(const ws_lowering *lowering,
                               ws_kernel_facts *kernels, int count);

/* What the other side of a comparison with this one steps by, in loops. */
enum { WS__MOST_STEPS = 16 };
int ws__steps_towards(LLVMValueRef value, int64_t out_steps[WS__MOST_STEPS]);
/* The optimised kernels' branches on scalars into out (scalar_branches.c);
 * needs the module's lines. */
void ws__branches_find(const ws_lowering *lowering);

/* ---- AMD ---- */

/* Hash of the kernels' machine code and of the resources that decide how they
 * run: two candidates with the same hash are one program. */
ws_hash ws_code_hash(ws_blob code_object, const ws_kernel_facts *kernels,
                     int count);

/* The bytes of a function of a code object and the address they are linked
 * at. false when there is no such function or the file is no gfx ELF. */
bool ws_elf_function(ws_blob code_object, const char *name, ws_blob *out_code,
                     uint64_t *out_address);

/* Size of the section PREFIX NAME of an ELF file (".text." and a kernel's name,
 * in a cubin); 0 when there is none. */
size_t ws_elf_section_bytes(ws_blob code_object, const char *prefix,
                            const char *name);

/* Facts of every kernel: metadata, size, instruction mix, innermost loops. */
bool ws_facts_read(ws_arena *arena, const char *target, ws_blob code_object,
                   ws_kernel_facts **out_kernels, int *out_count,
                   char **out_log);

/* ---- NVIDIA ---- */

/* Hash of PTX without comments and debug info, and of what a launch adds. */
ws_hash ws__nvptx_hash(ws_blob ptx, const ws_kernel_facts *kernels, int count);

/* ---- ptxas (ptxas.c) ---- */

/* This process is a job from now on: ptxas has the job's limits only, and a
 * signal that ends it ends the job, too. */
void ws__ptxas_enter_job(void);
/* Its path, "" when there is none: WAVESMITH_PTXAS ("none": none), then PATH,
 * then /usr/local/cuda/bin. Looked up once per process. */
const char *ws__ptxas_path(void);
/* "13.0.48"; "" without it. */
const char *ws__ptxas_version(void);
/* PTX, with its NUL, to cubin; registers, spills, stack and static LDS into the
 * kernels, which are there by name. */
bool ws__ptxas_run(const ws_lowering *lowering, ws_blob ptx,
                   ws_kernel_facts *kernels, int count, ws_blob *out_cubin);
/* The same from its report alone, for tests. */
void ws__ptxas_read_report(const char *report, ws_kernel_facts *kernels,
                           int count);

#ifdef __cplusplus
}
#endif
#endif
