/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What several tools write: candidates with their texts, quoted lines,
 * speed-ups, findings, times.
 */
#ifndef WAVESMITH_MCP_PAGE_H
#define WAVESMITH_MCP_PAGE_H

#include "tools.h"

/* A candidate with everything that belongs to it. */
typedef struct ws__mcp_subject {
  ws_candidate_row row;
  ws_archived_template source; /* of its template */
  const ws_candidate *candidate;
  bool has_build;
  ws_build_result build;
} ws__mcp_subject;

/* WS_INPUT: there is none of that id. */
ws_status ws__mcp_load(ws__mcp_call *call, const char *id,
                       ws__mcp_subject *out) WS_MUST_CHECK;
/* The text of a line of a candidate's code, without the blanks around it; "":
 * the file is neither its template nor one of its bodies. */
const char *ws__mcp_quote(ws_arena *arena, const ws__mcp_subject *subject,
                          const char *file, int line);
/* The part of an id that is shown. */
enum { WS__MCP_ID_DIGITS = 12 };

/* The candidate that the run's speed-ups are over; "": none. */
ws_status ws__mcp_reference(ws__mcp_call *call,
                            const char **out_id) WS_MUST_CHECK;
/* "1.20x (95 % 1.18 to 1.22, worst shape 1.05, 18 shapes, simulated)". */
char *ws__mcp_speedup_text(ws_arena *arena, const ws_speedup *speedup);

void ws__mcp_put_findings(ws__mcp_call *call, const ws__mcp_subject *subject);
/* "Verdict: wrong, at stage sanitize: why", and as JSON. */
void ws__mcp_put_verdict(ws__mcp_call *call, ws_verdict verdict,
                         const char *stage, const char *reason);
void ws__mcp_structure_verdict(ws__mcp_call *call, ws_verdict verdict,
                               const char *stage, const char *reason,
                               const char *candidate_id);
/* Times as a table, and as objects of a list. */
void ws__mcp_put_time_table(ws__mcp_call *call, const ws_measurement *items,
                            int count);
void ws__mcp_structure_times(struct cJSON *list, const ws_measurement *items,
                             int count);
/* A table. provenance NULL: all; against "": no ratios. */
ws_status ws__mcp_put_times(ws__mcp_call *call, const char *id,
                            const char *provenance,
                            const char *against) WS_MUST_CHECK;

#endif
