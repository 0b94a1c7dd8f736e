/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a kernel that is the reference leaves, for a run of the sanitizer.
 */
#ifndef WAVESMITH_SANITIZE_REFERENCE_H
#define WAVESMITH_SANITIZE_REFERENCE_H

#include "wavesmith/problem.h"

/* Fills results[] of the outputs, by argument, with what the problem's kernel
 * leaves on the inputs of that seed; run in a process of its own. false: it
 * does not take the shape, takes too long, or could not be run, which is
 * logged. */
bool ws__reference_results(const ws_problem *problem, int layout,
                           const ws_shape *shape, uint64_t seed,
                           void *const *results);

#endif
