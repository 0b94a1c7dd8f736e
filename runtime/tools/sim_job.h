/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a call of `wavesmith sim`, or a row of --compare, is about: a code
 * object of ours or anybody's, its launches, the device.
 */
#ifndef WAVESMITH_SIM_JOB_H
#define WAVESMITH_SIM_JOB_H

#include "sim_options.h"

typedef struct sim_job {
  sim_options options;
  ws_arena *arena;
  ws_device_client *client;
  ws_compiler *compiler;
  const ws_problem *problem; /* NULL: none */
  int layout;
  ws_shape shape;
  const void *code_object;
  size_t code_object_size;
  ws_candidate *candidate; /* NULL: a foreign code object */
  ws_build_result build;
  ws_workload workload;
  ws_measured run, time;
  bool has_run, has_time;
} sim_job;

/* Finds what is to run. options and arena are the caller's; the compiler is
 * started where it is needed and there is none yet, and is the caller's, too.
 */
ws_status sim_job_open(sim_job *job, ws_diag *diag) WS_MUST_CHECK;
/* Then, with a client, its launches. */
ws_status sim_job_launches(sim_job *job, ws_diag *diag) WS_MUST_CHECK;
ws_status sim_job_measure(sim_job *job, ws_measure_op op, ws_measured *out,
                          ws_diag *diag) WS_MUST_CHECK;

#endif
