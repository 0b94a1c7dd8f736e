/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where a job is in a text whose steps may not come to an end, or end the
 * process: in memory that the compile server shares with its job, so that the
 * finding has a line whatever becomes of the job.
 */
#ifndef WAVESMITH_PASS_JOB_PLACE_H
#define WAVESMITH_PASS_JOB_PLACE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CPU time that the text may take from ws__job_place_enter on. */
enum { WS_JOB_PLACE_SECONDS = 5 };

typedef struct ws_job_place {
  int line, column; /* line 0: nothing of the kind is under way */
  char file[256];
  char what[128]; /* "transform.structured.vectorize" */
} ws_job_place;

/* The process's, shared with the processes that it forks afterwards; NULL:
 * there is no memory for it. */
ws_job_place *ws__job_place(void);

/* Says that a file's text is being read. */
static inline void ws__job_place_begin(ws_job_place *place, const char *file) {
  *place = (ws_job_place){.line = 1, .column = 1, .what = "the text"};
  snprintf(place->file, sizeof place->file, "%s", file);
}

/* Begins at the first line of a file; where the process's CPU time is limited,
 * it has WS_JOB_PLACE_SECONDS until ws__job_place_leave, if that is less. */
void ws__job_place_enter(const char *file);
void ws__job_place_leave(void);

#ifdef __cplusplus
}
#endif
#endif
