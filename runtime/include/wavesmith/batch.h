/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Batches: measurements that are asked for on one machine and made on another.
 * A batch is a folder:
 *   manifest.json    {"format":1,"target":"sm_90a","device":"cuda"}
 *   jobs.jsonl       one job a line, in the order to be done
 *   code/HASH.{co,cubin,ptx}
 *   problem/NAME-CHECK.c   of problems that do not come with wavesmith: the C
 *                    text with all that it includes, compiled where it is run
 *   results.jsonl    one answer a line, appended by `wavesmith-device run`
 * A job is what is to be found out about one candidate: steps, each a request
 * of measure.h. A step that fails ends its job; the race may end it, too:
 *   {"id":"HEX","candidate":"HEX","code":"HASH.cubin","bytes":N,"check":"HEX",
 *    "rival":{"code":"HASH.cubin",...},                    or none
 *    "race":{"steps":6,"limit_us":[...],"ratio":2.0},      or none
 *    "steps":[{"op":"verify","settings":{...},"workloads":[...]}, ...]}
 * An answer is {"id":"HEX","device":{info},"steps":[{measured}, ...]}: as many
 * as were made. The id is the hash of the rest of the job, code included, so an
 * answer is an answer to whoever asks the same; the check tells a damaged file
 * where nothing can hash. Lines are appended whole: a killed run is taken up
 * again where it was.
 *
 * Threads: a ws_batch belongs to one thread at a time; appending to a folder's
 * results is safe beside other processes.
 */
#ifndef WAVESMITH_BATCH_H
#define WAVESMITH_BATCH_H

#include "wavesmith/measure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_batch_job {
  const char *id; /* "" in a job to be added */
  const char *candidate;
  /* Its name in code/, its check; only in a job that was read. */
  const char *code_file, *code_check;
  const void *code_object;
  size_t code_object_size;
  /* Of the rival in those steps that have one, all the same; size 0: none. */
  const char *rival_file, *rival_check; /* as the two above */
  const void *rival_code;
  size_t rival_size;
  const ws_measure_request *steps; /* code objects as above */
  int step_count;
  /* After the first race_steps timed steps a candidate whose times are, in the
   * geometric mean, more than race_ratio times these is not timed further. 0:
   * no race. */
  int race_steps;
  const double *race_us;
  double race_ratio;
} ws_batch_job;

typedef struct ws_batch_answer {
  const char *id;
  const ws_device_info *device;
  const ws_measured *steps;
  int step_count; /* less than the job's: the last one failed, or the race */
} ws_batch_answer;

typedef struct ws_batch ws_batch;
/* Opens or makes the folder for writing jobs and reading answers; one at a time
 * may. target NULL: only for reading, and the batch must be there, of whatever
 * target. WS_INPUT: a batch of another target, device or format, or a broken
 * line (file:line); a last line without an end is a run that was killed, and
 * ignored. WS_ENVIRONMENT: someone else writes jobs. */
ws_status ws_batch_open(const char *folder, const char *target,
                        const char *device, ws_batch **out_batch,
                        ws_diag *diag) WS_MUST_CHECK;
void ws_batch_close(ws_batch *batch); /* NULL is allowed */
const char *ws_batch_target(const ws_batch *batch);
const char *ws_batch_device(const ws_batch *batch);
/* The answer to this very job; *out_found false: it has none yet, and then it
 * is added to the jobs unless it is there. The answer lives in the arena.
 * Answers are those that were there when the batch was opened. */
ws_status ws_batch_ask(ws_batch *batch, ws_arena *arena,
                       const ws_batch_job *job, bool *out_found,
                       ws_batch_answer *out_answer,
                       ws_diag *diag) WS_MUST_CHECK;
/* Jobs without an answer, and all. */
int ws_batch_open_jobs(const ws_batch *batch);
int ws_batch_jobs(const ws_batch *batch);
/* By number, 0 to jobs - 1, into the arena; the code object is not read.
 * WS_INPUT: the job is not what its id says. */
ws_status ws_batch_read_job(ws_batch *batch, ws_arena *arena, int number,
                            ws_batch_job *out_job, ws_diag *diag) WS_MUST_CHECK;
ws_status ws_batch_read_answer(ws_batch *batch, ws_arena *arena, int number,
                               bool *out_found, ws_batch_answer *out_answer,
                               ws_diag *diag) WS_MUST_CHECK;
/* Reads a job's code object into it, and checks that it is the one meant. */
ws_status ws_batch_read_code(ws_batch *batch, ws_arena *arena,
                             ws_batch_job *job, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
