/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The candidates that are shown in full: parameters, regions, facts, times,
 * the reply they came from, and what a simulator's profile says of them.
 */
#ifndef WAVESMITH_REPORT_DETAIL_H
#define WAVESMITH_REPORT_DETAIL_H

#include "source.h"

struct cJSON;
ws_status ws__report_detail(const ws__report_source *source, int candidate,
                            struct cJSON **out_json,
                            ws_diag *diag) WS_MUST_CHECK;

/* The launches of a profile with their hot lines, each with its text where
 * template or candidate has it. */
struct cJSON *ws__report_profile(ws_arena *arena, const ws_candidate *candidate,
                                 const ws_archived_template *text,
                                 const char *report);

#endif
