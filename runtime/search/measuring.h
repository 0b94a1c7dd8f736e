/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Requests to the device about one candidate: to verify it on its edge shapes,
 * to verify it on one large shape by samples, to time it on one.
 */
#ifndef WAVESMITH_SEARCH_MEASURING_H
#define WAVESMITH_SEARCH_MEASURING_H

#include "task.h"
#include "wavesmith/coverage.h"
#include "wavesmith/measure.h"

typedef enum ws__question {
  WS__VERIFY_EDGES, /* shape is not read */
  WS__VERIFY_LARGE,
  WS__TIME
} ws__question;

/* A candidate of the archive with its build; WS_INPUT when its code object is
 * not there. */
ws_status ws__measuring_load(ws_archive *archive, ws_arena *arena,
                             const char *id, ws_candidate **out_candidate,
                             ws_build_result *out_build,
                             ws_diag *diag) WS_MUST_CHECK;
/* 60 bits of the run's seed, through a hash that no prompt names. */
uint64_t ws__measuring_seed(const ws__task *task, const char *purpose);
/* The inputs' contents follow from the run's seed and purpose ("": the search):
 * a timed launch and a sampled verification of one shape see the same, and no
 * prompt names them. WS_INPUT is the candidate's fault: it takes none of the
 * shapes that candidates are verified on, or cannot be launched on this one. */
ws_status ws__measuring_request(ws_arena *arena, const ws__task *task,
                                int cu_count, const ws_candidate *candidate,
                                const ws_build_result *build,
                                ws__question question, const ws_shape *shape,
                                const char *purpose, ws_measure_request *out,
                                ws_diag *diag) WS_MUST_CHECK;
/* The largest shape that a simulator verifies by samples in a few seconds; -1:
 * the candidate takes none of them. */
int ws__measuring_large(const ws_problem *problem,
                        const ws_candidate *candidate, const ws_shape *shapes,
                        int count);
/* A simulator that does not end in time says something of the host and nothing
 * of the candidate, unless it has a finding: then it is not known, neither a
 * verdict nor a time, whoever asked. */
bool ws__measuring_is_too_slow(const ws_device_info *device,
                               const ws_measured *measured);

#endif
