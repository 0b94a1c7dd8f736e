/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a report is made of, read from the archive: runs of one task, what each
 * run drew, and the candidates drawn, each once.
 */
#ifndef WAVESMITH_REPORT_SOURCE_H
#define WAVESMITH_REPORT_SOURCE_H

#include "wavesmith/report.h"

typedef struct ws__report_candidate {
  ws_candidate_row row; /* result_json is NULL */
  const ws_measurement *times;
  int time_count;
  bool ranks; /* correct as far as is known, and no duplicate */
} ws__report_candidate;

typedef struct ws__report_run {
  ws_run_row row;
  const int *draws; /* candidates, in order of sequence */
  int draw_count;
} ws__report_run;

typedef struct ws__report_source {
  ws_archive *archive;
  ws_arena *arena;
  const char *archive_name, *problem, *layout, *target; /* "": no runs */
  const ws_run_row *all_runs;                           /* of the archive */
  int all_run_count;
  ws__report_run *runs;
  int run_count;
  ws__report_candidate *candidates; /* in the order they were first drawn */
  int candidate_count;
  const int *by_id;               /* candidates, sorted by id */
  const char *const *provenances; /* those shown, nearest to a card first */
  int provenance_count;
  const ws_exchange_row *exchanges; /* of the runs; without their long texts */
  int exchange_count;
} ws__report_source;

ws_status ws__report_read(ws_archive *archive, ws_arena *arena,
                          const ws_report_options *options,
                          ws__report_source *out_source,
                          ws_diag *diag) WS_MUST_CHECK;
/* -1: not among those shown, or "". */
int ws__report_find(const ws__report_source *source, const char *id);
/* Whether a run is among those shown. */
bool ws__report_shows_run(const ws__report_source *source, int64_t id);
/* NULL: it has none. */
const ws_measurement *ws__report_time(const ws__report_candidate *candidate,
                                      const char *provenance,
                                      const ws_shape *shape);

#endif
