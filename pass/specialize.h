/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: splicing without bodies that are given as text.
 */
#ifndef WAVESMITH_PASS_SPECIALIZE_H
#define WAVESMITH_PASS_SPECIALIZE_H

#include "pass.h"

/* Constraints, shipped variants, parameters, LDS and workgroup sizes. Drops
 * nothing. false and findings on failure. */
bool ws__pass_specialize(LLVMModuleRef module, const ws_candidate *candidate,
                         ws_findings *findings);

#endif
