/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The coverage of a winner (wavesmith/coverage.h): planned from the run's seed
 * and the candidate, asked in batches, kept in the archive.
 */
#ifndef WAVESMITH_SEARCH_COVERING_H
#define WAVESMITH_SEARCH_COVERING_H

#include "measuring.h"

void ws__covering_plan(ws_arena *arena, const ws__task *task, const char *id,
                       const ws_candidate *candidate,
                       const ws_build_result *build, ws_coverage *out);
/* out_requests has room for one in WS_COVERAGE_BATCH cases, rounded up.
 * WS_INPUT is the candidate's fault. */
ws_status ws__covering_requests(ws_arena *arena, const ws__task *task,
                                int cu_count, const ws_candidate *candidate,
                                const ws_build_result *build,
                                const ws_coverage *coverage,
                                ws_measure_request *out_requests,
                                int *out_count, ws_diag *diag) WS_MUST_CHECK;
/* failure: why the next case is wrong; NULL: it is not. */
ws_status ws__covering_keep(ws_archive *archive, ws_arena *arena,
                            const char *id, const char *provenance,
                            int64_t run_id, const ws_coverage *coverage,
                            int verified, const char *failure,
                            ws_diag *diag) WS_MUST_CHECK;

#endif
