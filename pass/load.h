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

/* Reads a template, or takes the kept one where it is the same: its module is
 * then used up, so only a forked child may do so. false and a finding
 * ("ir-parse", "template", ...) when the text is none. */
bool ws__load_template(const char *text, size_t size, const char *file,
                       ws_arena *arena, LLVMModuleRef *out_module,
                       const ws_template **out_tmpl, ws_findings *findings);

/* Keeps a template for later children; in the parent, and only for a text that
 * a child has read without dying of it. */
void ws__load_keep(const char *text, size_t size, const char *file);

#ifdef __cplusplus
}
#endif
#endif
