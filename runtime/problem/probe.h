/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Trying a reference before anything relies on it.
 */
#ifndef WAVESMITH_PROBLEM_PROBE_H
#define WAVESMITH_PROBLEM_PROBE_H

#include "wavesmith/problem.h"

/* Runs the reference on the least legal shape, in a child with limits, each of
 * its buffers between 64 MiB that cannot be touched. WS_INPUT with one line
 * when it crashes, hangs, reads or writes beyond them, leaves an element
 * without a value, or says something else the second time. */
ws_status ws__problem_probe(const ws_problem *problem,
                            ws_diag *diag) WS_MUST_CHECK;

#endif
