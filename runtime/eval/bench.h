/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A workload set up on a device: module, buffers, arguments. What verify.c and
 * time.c have in common.
 */
#ifndef WAVESMITH_EVAL_BENCH_H
#define WAVESMITH_EVAL_BENCH_H

#include "wavesmith/measure.h"

enum { WS__MAX_EXTRA = 64 }; /* buffers that no problem knows */

typedef struct ws__bench {
  ws_device *device;
  ws_arena *arena;
  const ws_workload *workload;
  const ws_problem *problem; /* NULL: none */
  ws_device_module *module;  /* borrowed */
  /* By the problem's argument: contents of inputs, place for outputs; and the
   * buffers on the device. A card gets a guard behind what is written. */
  void *host[WS_PROBLEM_MAX_ARGS];
  void *memory[WS_PROBLEM_MAX_ARGS];
  void *const *kept; /* inputs that are borrowed; NULL: all are its own */
  size_t bytes[WS_PROBLEM_MAX_ARGS], guard;
  void *extra[WS__MAX_EXTRA]; /* buffer operands, in order */
  int extra_count;
} ws__bench;

/* Makes inputs, allocates and uploads. After a failure too, close it. With
 * kept inputs there are no contents on the host: it can start launches, and
 * nothing else. */
ws_status ws__bench_open(ws__bench *bench, ws_device *device, ws_arena *arena,
                         ws_device_module *module, const ws_workload *workload,
                         ws_inputs *inputs, ws_diag *diag) WS_MUST_CHECK;
void ws__bench_close(ws__bench *bench);
/* Output, workspace and guards become NaN patterns. */
ws_status ws__bench_poison(ws__bench *bench, ws_diag *diag) WS_MUST_CHECK;
/* Starts the launches in order. */
ws_status ws__bench_start(ws__bench *bench, ws_diag *diag) WS_MUST_CHECK;
/* A second set of the same inputs, for rotating. */
ws_status ws__bench_copy(ws__bench *bench, const ws__bench *from,
                         ws_diag *diag) WS_MUST_CHECK;
size_t ws__bench_bytes(const ws__bench *bench);

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
/* Compares rows [begin, end) of the downloaded output with the reference. */
void ws__bench_compare(const ws__bench *bench, int64_t begin, int64_t end,
                       ws_measured *out);
/* Compares a sample of it and its projection. */
void ws__bench_sample(const ws__bench *bench, ws_measured *out);
/* Downloads outputs. */
ws_status ws__bench_fetch(ws__bench *bench, ws_diag *diag) WS_MUST_CHECK;

#endif
