/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A template's text as module and template. A tuning run builds thousands of
 * candidates of one template, so the compile server keeps the latest it has
 * seen and its children start from that (5 of 7 ms before the splice).
 */
#ifndef WAVESMITH_PASS_LOAD_H
#define WAVESMITH_PASS_LOAD_H

#include "pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a template's text is MLIR: by its file's name, or as it begins. */
bool ws__is_mlir(const char *text, const char *file);

/* Reads a template, or takes the kept one where it is the same: its module is
 * then used up, so only a forked child may do so. Of one in MLIR the module has
 * the parameters' defaults and may be NULL: ws__load_candidate makes a
 * candidate's. false and a finding ("ir-parse", "template", ...) when the text
 * is none. */
bool ws__load_template(const char *text, size_t size, const char *file,
                       ws_arena *arena, LLVMModuleRef *out_module,
                       const ws_template **out_tmpl, ws_findings *findings);

/* The same without the template of the records; in a context of the caller's.
 */
bool ws__load_records(LLVMContextRef context, const char *text, size_t size,
                      const char *file, ws_arena *arena,
                      LLVMModuleRef *out_module, ws_records *out_records,
                      ws_findings *findings);

/* A template in MLIR lowered for a candidate, its bodies in MLIR among it,
 * which are taken from the candidate; NULL and findings. */
LLVMModuleRef ws__load_candidate(const char *text, size_t size,
                                 ws_candidate *candidate,
                                 ws_findings *findings);

/* Keeps a template for later children; in the parent, and only for a text that
 * a child has read without dying of it. */
void ws__load_keep(const char *text, size_t size, const char *file);

#ifdef __cplusplus
}
#endif
#endif
