/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compiler side, step by step. A candidate passes through
 *   parse -> template -> splice -> check -> sanitize -> lower
 * in one LLVMContext. Each step says what it requires and leaves. A
 * candidate's fault becomes findings (data); a ws_status is only used where
 * the template file itself is being read for its author.
 *
 * LLVM and comgr may abort the process on some inputs: everything here runs in
 * a child of the compile server (server.c) or inside opt.
 */
#ifndef WAVESMITH_PASS_H
#define WAVESMITH_PASS_H

#include "wavesmith/build.h"
#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Findings of one candidate, grown in an arena. */
typedef struct ws_findings {
  ws_arena *arena;
  ws_finding *items;
  int count, capacity;
} ws_findings;
void ws_findings_init(ws_findings *findings, ws_arena *arena);
/* At most 64 are kept, each once: NULL where it is not added. A column may be
 * set in what is returned, until the next is added. */
ws_finding *ws_findings_add(ws_findings *findings, const char *id,
                            const char *region, const char *file, int line,
                            const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* A pass of the plugins takes problem=FILE where wavesmith has --problem. */
void ws_diag_name_pass_options(ws_diag *diag);

/* One of a diag, whose text may begin with this file and a line. */
ws_finding *ws_findings_add_diag(ws_findings *findings, const char *id,
                                 const char *file, const ws_diag *diag);

/* Initialises the AMDGPU and native targets, once per process. */
void ws_pass_initialize(void);

/* Parses IR text and gives every instruction a debug location (file, line of
 * the text), unless the module brings its own. NULL and a finding
 * ("ir-parse", line) on a syntax error, ("ir-verify") on an invalid module.
 * Installs a diagnostic handler on the context that collects errors
 * ("ir-diagnostic"): findings must live until the context goes or gets another
 * handler. requires: ws_pass_initialize. leaves: a module that verifies, with
 * lines. */
LLVMModuleRef ws_pass_parse(LLVMContextRef context, const char *text,
                            size_t size, const char *file,
                            ws_findings *findings);

/* Line of an instruction or function (0: unknown) and the file in its debug
 * info (NULL: none). */
int ws_pass_line(LLVMValueRef value, const char **out_file);
/* Column of an instruction in its line; 0: unknown. */
int ws_pass_column(LLVMValueRef instruction);
/* Of an instruction; where the compiler has given it none, that of the last one
 * before it that has: in its block, else on a way to that. */
int ws_pass_line_before(LLVMValueRef instruction, const char **out_file);
/* The first line of an instruction that uses a symbol, also through constants
 * and what these initialise; 0: none is known. */
int ws_pass_line_of_use(LLVMValueRef symbol);
/* The region function that an instruction stands in, by the subprogram of its
 * debug location (still right after inlining), else its function. */
const char *ws_pass_region_of(LLVMValueRef instruction);

/* Reads the wavesmith.* named metadata. requires: ws_pass_parse. leaves: the
 * module as it was. */
ws_status ws_pass_read_records(LLVMModuleRef module, const char *text,
                               const char *file, ws_arena *arena,
                               ws_records *out_records,
                               ws_diag *diag) WS_MUST_CHECK;

/* Makes module the candidate: bodies replaced (signatures compared), variants
 * chosen, parameters set, LDS globals resized. false and findings on failure.
 * candidate->bodies may carry text. requires: ws_pass_parse. leaves: a module
 * that verifies, whose parameter globals are constant with the candidate's
 * values and folded, without promises to the optimiser; after a failure one
 * that is of no more use. */
bool ws_pass_splice(LLVMModuleRef module, const ws_candidate *candidate,
                    ws_findings *findings);

/* Static checks (table in checks.def; ids in docs/templates.md). candidate may
 * be NULL for a module that is no template: no regions, and only arguments
 * marked readonly are inputs. false when there is a finding. requires: splice,
 * or for NULL ws_pass_parse. leaves: the module as it was. */
bool ws_pass_check(LLVMModuleRef module, const ws_candidate *candidate,
                   const char *target, ws_findings *findings);

/* Runs the module on the CPU, lane by lane. Findings: docs/sanitizer.md.
 * requires: splice. leaves: the module as it was; works on a copy. */
bool ws_pass_sanitize(LLVMModuleRef module, const ws_candidate *candidate,
                      const ws_run *runs, int run_count, ws_arena *arena,
                      ws_run_result *out_results, ws_findings *findings);

/* O3 through the C API (canonical IR hash), code generation, link, metadata
 * and disassembly through comgr. stages: WS_STAGE_LINES and
 * WS_STAGE_BRANCHES say what is wanted beside. Fills kernels, hashes and code
 * object of out_result (arena). requires: splice and ws_pass_check. leaves: a
 * module that is of no more use. */
bool ws_pass_lower(LLVMModuleRef module, const ws_candidate *candidate,
                   const char *target, int stages, ws_arena *arena,
                   ws_build_result *out_result, ws_findings *findings);

/* All of it for one request; never fails, the result says what happened. */
void ws_pass_build(const ws_build_request *request, ws_arena *arena,
                   ws_build_result *out_result);

#ifdef __cplusplus
}
#endif
#endif
