/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: the parts of splicing that others use.
 */
#ifndef WAVESMITH_PASS_SPLICE_H
#define WAVESMITH_PASS_SPLICE_H

#include "pass.h"

/* Puts candidate->bodies[region].text in the place of the shipped function.
 * false and findings on failure; the module is then of no further use. */
bool ws__pass_splice_body(LLVMModuleRef module, const ws_candidate *candidate,
                          int region, ws_findings *findings);

/* ws_pass_splice without dropping what became unused, so that every name in
 * the module's metadata still stands for something. */
bool ws__pass_splice_keep(LLVMModuleRef module, const ws_candidate *candidate,
                          ws_findings *findings);

#endif
