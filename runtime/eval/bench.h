/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A workload set up on a device: module, buffers, arguments. What verify.c and
 * time.c have in common.
 */
#ifndef WAVESMITH_EVAL_BENCH_H
#define WAVESMITH_EVAL_BENCH_H

#include "inputs.h"

enum { WS__MAX_EXTRA = 64 }; /* buffers that no problem knows */

typedef struct ws__bench {
  ws_device *device;
  ws_arena *arena;
  const ws_workload *workload;
  const ws_problem *problem; /* NULL: none */
  ws_device_module *module;  /* borrowed */
  ws_inputs *inputs;
  ws__input_set *set; /* NULL: no problem */
  int copy;           /* of the set */
  /* By the problem's argument. Inputs are the copy's, on a card outputs too;
   * the rest is its own. A card gets a guard behind what is written. */
  void *memory[WS_PROBLEM_MAX_ARGS], *own[WS_PROBLEM_MAX_ARGS];
  size_t bytes[WS_PROBLEM_MAX_ARGS], guard;
  int poison; /* the byte that is behind, and was in, what is written */
  void *extra[WS__MAX_EXTRA]; /* of buffer operands */
  const ws_operand *extra_of[WS__MAX_EXTRA];
  int extra_count;
  ws_device_launch *launches; /* arguments packed */
} ws__bench;

/* Allocates what the set does not have and packs the arguments. set NULL: the
 * workload has no problem. After a failure too, close it. */
ws_status ws__bench_open(ws__bench *bench, ws_device *device, ws_arena *arena,
                         ws_device_module *module, const ws_workload *workload,
                         ws_inputs *inputs, ws__input_set *set, int copy,
                         ws_diag *diag) WS_MUST_CHECK;
void ws__bench_close(ws__bench *bench);
/* Output, workspace and guards become this byte, in the order of launches. */
enum { WS__POISON_NAN = 0xff /* NaN in every float format */ };
/* Any other, so far off that rounding makes no byte of the one from one of the
 * other. */
int ws__bench_other_poison(ws_inputs *inputs, int byte);
ws_status ws__bench_poison(ws__bench *bench, int byte,
                           ws_diag *diag) WS_MUST_CHECK;
/* What is read and written holds the set's contents again. */
ws_status ws__bench_restore(ws__bench *bench, ws_diag *diag) WS_MUST_CHECK;
/* Starts the launches in order. */
ws_status ws__bench_start(ws__bench *bench, ws_diag *diag) WS_MUST_CHECK;

/* ---- what was found --------------------------------------------------------
 */

/* ok, with every text "". */
ws_measured ws__measured_ok(const ws_device *device);
void ws__measured_fail(ws_measured *out, ws_arena *arena, ws_verdict verdict,
                       const ws_shape *shape, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Takes the simulator's report into *out: its findings make the verdict. */
void ws__measured_add_report(ws_measured *out, ws_device *device,
                             ws_arena *arena, const ws_shape *shape);
/* Inputs and guards must be as they were; sampled as ws__inputs_compare. */
ws_status ws__bench_check_inputs(ws__bench *bench, bool sampled,
                                 ws_measured *out, ws_diag *diag) WS_MUST_CHECK;
ws_status ws__bench_check_guards(ws__bench *bench, ws_measured *out,
                                 ws_diag *diag) WS_MUST_CHECK;

#endif
