/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the two ends of a batch share: files of lines, and jobs and answers as
 * JSON. Builds without a hash, an archive or LLVM: the GPU box has none.
 */
#ifndef WAVESMITH_BATCH_INTERNAL_H
#define WAVESMITH_BATCH_INTERNAL_H

#include "wavesmith/batch.h"

struct cJSON;
enum { WS__BATCH_FORMAT = 1 };

/* ---- files of lines (lines.c) ----
 * A line counts when its end is there: a last one without was cut off. */
typedef struct ws__line {
  const char *path;
  int number; /* from 1 */
  int64_t offset;
  const char *text; /* NUL-terminated, without the end */
  size_t size;
} ws__line;
typedef ws_status (*ws__line_visitor)(void *context, const ws__line *line,
                                      ws_diag *diag);
/* Every line in turn; a file that is not there has none. */
ws_status ws__lines_visit(const char *path, ws__line_visitor visit,
                          void *context, ws_diag *diag) WS_MUST_CHECK;
/* One line again. */
ws_status ws__lines_read(ws_arena *arena, const char *path, int64_t offset,
                         size_t size, char **out_text,
                         ws_diag *diag) WS_MUST_CHECK;
/* For appending, by this process alone, from the last whole line on.
 * WS_ENVIRONMENT: another has it. */
ws_status ws__lines_open(const char *path, int *out_descriptor,
                         ws_diag *diag) WS_MUST_CHECK;
/* The line whole, or not at all. *out_offset may be NULL. */
ws_status ws__lines_append(int descriptor, const char *path, const char *text,
                           int64_t *out_offset, ws_diag *diag) WS_MUST_CHECK;

/* ---- the folder (manifest.c) ---- */
typedef struct ws__batch_manifest {
  int format; /* WS__BATCH_FORMAT */
  const char *target, *device;
} ws__batch_manifest;
/* WS_INPUT: there is none, or of another format. */
ws_status ws__batch_read_manifest(ws_arena *arena, const char *folder,
                                  ws__batch_manifest *out,
                                  ws_diag *diag) WS_MUST_CHECK;
ws_status ws__batch_write_manifest(const char *folder,
                                   const ws__batch_manifest *manifest,
                                   ws_diag *diag) WS_MUST_CHECK;
/* Reads the job's code object out of code/. WS_INPUT: it is missing or has not
 * the size and check that the job says. */
ws_status ws__batch_read_code(ws_arena *arena, const char *folder,
                              ws_batch_job *job, ws_diag *diag) WS_MUST_CHECK;

/* ---- problems of the user's (problems.c) ----
 * problem/NAME-CHECK.c: one text for each name. */
/* Writes the problem's, unless it is there or comes with wavesmith. WS_INPUT:
 * another is there. */
ws_status ws__batch_write_problem(const char *folder, const char *name,
                                  ws_diag *diag) WS_MUST_CHECK;
/* Adds those of the folder to this process and those it starts. WS_INPUT: a
 * damaged one, or one that does not compile here. */
ws_status ws__batch_add_problems(const char *folder,
                                 ws_diag *diag) WS_MUST_CHECK;

/* ---- which jobs and answers there are (index.c) ----
 * Of each line only the id and the place are kept; what it says is read when
 * somebody wants it. */
typedef struct ws__batch_entry {
  const char *id;
  int64_t job_offset, answer_offset;
  size_t job_size, answer_size; /* answer 0: none yet */
  int job_line, answer_line;
} ws__batch_entry;
typedef struct ws__batch_index {
  ws_arena *arena;
  const char *folder, *jobs_path, *results_path;
  ws__batch_manifest manifest;
  ws__batch_entry **entries; /* in the order of jobs.jsonl */
  int count, capacity, answered;
  void *by_id; /* tree of entries (tsearch) */
} ws__batch_index;
/* Deinit in any case. load: manifest, jobs and answers. */
void ws__batch_index_init(ws__batch_index *index, const char *folder);
void ws__batch_index_deinit(ws__batch_index *index);
ws_status ws__batch_index_load(ws__batch_index *index,
                               ws_diag *diag) WS_MUST_CHECK;
ws__batch_entry *ws__batch_find(const ws__batch_index *index, const char *id);
ws__batch_entry *ws__batch_add(ws__batch_index *index, const char *id);
/* The job's line as JSON; free it with cJSON_Delete. */
ws_status ws__batch_read_line(const ws__batch_index *index,
                              const ws__batch_entry *entry,
                              struct cJSON **out_json,
                              ws_diag *diag) WS_MUST_CHECK;
ws_status ws__batch_read_job(const ws__batch_index *index, ws_arena *arena,
                             const ws__batch_entry *entry,
                             ws_batch_job *out_job,
                             ws_diag *diag) WS_MUST_CHECK;
ws_status ws__batch_read_answer(const ws__batch_index *index, ws_arena *arena,
                                const ws__batch_entry *entry,
                                ws_batch_answer *out_answer,
                                ws_diag *diag) WS_MUST_CHECK;

/* ---- jobs and answers (job_json.c) ---- */
/* FNV-1a of 64 bits, in hexadecimal digits. */
typedef struct ws__check {
  char hex[17];
} ws__check;
ws__check ws__check_of(const void *data, size_t size);

/* Without the id. */
struct cJSON *ws__batch_job_to_json(const ws_batch_job *job,
                                    const char *code_file,
                                    const char *rival_file);
ws_status ws__batch_job_from_json(ws_arena *arena, const struct cJSON *json,
                                  ws_batch_job *out_job,
                                  ws_diag *diag) WS_MUST_CHECK;
struct cJSON *ws__batch_answer_to_json(const ws_batch_answer *answer);
ws_status ws__batch_answer_from_json(ws_arena *arena, const struct cJSON *json,
                                     ws_batch_answer *out_answer,
                                     ws_diag *diag) WS_MUST_CHECK;
/* "gfx942:sramecc+:xnack-" is a gfx942. */
bool ws__batch_is_arch(const char *arch, const char *target);
/* The race is over after these steps: the candidate is too slow. */
bool ws__batch_race_lost(const ws_batch_job *job, const ws_measured *steps,
                         int step_count);

#endif
