/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside `wavesmith archive`: what its subcommands get, each in the file named
 * beside it, and what several of them need (tool_archive_common.c).
 */
#ifndef WAVESMITH_TOOL_ARCHIVE_H
#define WAVESMITH_TOOL_ARCHIVE_H

#include "text_table.h"
#include "tools.h"
#include "wavesmith/archive.h"

#include <cjson/cJSON.h>

typedef struct archive_arguments {
  ws_archive_filter filter;
  int64_t limit, best, sequence; /* sequence -1: not given */
  const char *jsonl, *license, *out;
  bool json, help, all, with_prompts;
  char **words; /* what is no option, after the archive's name */
  int word_count;
} archive_arguments;

typedef struct archive_call {
  const archive_arguments *arguments;
  ws_archive *archive;
  ws_arena *arena;
  ws_diag *diag;
} archive_call;

/* tool_archive_show.c */
ws_status archive_run_ls(archive_call *call);
ws_status archive_run_show(archive_call *call);
/* tool_archive_text.c */
ws_status archive_run_export(archive_call *call);
ws_status archive_run_import(archive_call *call);
/* tool_archive_lineage.c */
ws_status archive_run_lineage(archive_call *call);
/* tool_archive_diff.c */
ws_status archive_run_diff(archive_call *call);
/* tool_archive_grid.c */
ws_status archive_run_grid(archive_call *call);
/* tool_archive_models.c */
ws_status archive_run_findings(archive_call *call);
ws_status archive_run_prompts(archive_call *call);
/* tool_archive_claims.c */
ws_status archive_run_claims(archive_call *call);
/* tool_archive_recording.c */
ws_status archive_run_recording(archive_call *call);
/* tool_archive_jsonl.c */
ws_status archive_export_jsonl(archive_call *call);

/* ---- shared ---- */
void archive_print_json(cJSON *owned_json); /* one line on stdout */
/* What a row says of a candidate, without times. */
cJSON *archive_row_json(const ws_candidate_row *row);
/* value, low, high, worst, shapes, provenance; NULL where nothing compares. */
cJSON *archive_speedup_json(const ws_speedup *speedup);
/* "1.234 [1.20, 1.27] simulated"; "-" where nothing compares. */
const char *archive_speedup_text(ws_arena *arena, const ws_speedup *speedup);
/* An exchange's claims as an array; an empty one where they cannot be read. */
cJSON *archive_claims_json(const char *text);
/* Like ws_archive_get_candidate, but none is WS_INPUT. */
ws_status archive_find_candidate(archive_call *call, const char *id,
                                 ws_candidate_row *out_row) WS_MUST_CHECK;
/* WS_INPUT when --run names a run that is not there. */
ws_status archive_check_run(archive_call *call) WS_MUST_CHECK;
/* The first digits that name a candidate; "-" for "". */
const char *archive_short_id(ws_arena *arena, const char *id);

#endif
