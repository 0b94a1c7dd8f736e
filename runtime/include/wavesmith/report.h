/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The report: what an archive holds about one task, as one JSON document, and
 * as one HTML page that shows it without a network. docs/report.md describes
 * both.
 *
 * Threads: as its archive.
 */
#ifndef WAVESMITH_REPORT_H
#define WAVESMITH_REPORT_H

#include "wavesmith/archive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_report_options {
  const char *archive_name; /* shown; a path is cut to its last part */
  const int64_t *runs;      /* only these */
  int run_count;            /* 0: all of the task */
  const char *layout;       /* NULL: that of the latest run */
  const char *provenance;   /* or the beginning of one, "sim"; NULL: any */
} ws_report_options;

struct cJSON;
/* One task (problem, layout, target) is shown: that of the runs named, else the
 * latest run's. An archive without runs gives a document that says so.
 * WS_INPUT: no such run, layout or provenance, or runs of several tasks. Free
 * with cJSON_Delete. */
ws_status ws_report_data(ws_archive *archive, const ws_report_options *options,
                         struct cJSON **out_data, ws_diag *diag) WS_MUST_CHECK;

/* Appends the page. Nothing in data becomes markup or a script. */
void ws_report_page(const struct cJSON *data, ws_strbuf *out_page);

/* Whether the charts' library is part of this build; tables stand in for the
 * charts if not. */
bool ws_report_has_charts(void);

#ifdef __cplusplus
}
#endif
#endif
