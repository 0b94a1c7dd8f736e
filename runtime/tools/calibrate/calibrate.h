/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith calibrate`: the clock's constants from a card.
 *
 *   benchmarks.c      which kernel, launched how, tells which constant
 *   bench_device.c    their times on a device
 *   fit.c             constants with which the simulator takes those times
 *   tool_calibrate.c  the command
 *
 * A benchmark is a time that one constant decides, once those of the rows
 * before it are known. Nothing about the model is written down here: to invert
 * it, it is asked, on the same way as the card, with other constants.
 */
#ifndef WAVESMITH_CALIBRATE_H
#define WAVESMITH_CALIBRATE_H

#include "wavesmith/measure.h"
#include "wavesmith/sim_card.h"

typedef struct calibrate_launch {
  const char *kernel; /* of kernels.ll; NULL: none */
  int32_t groups;     /* 0: the benchmark's count; -4: 4 for each CU */
  uint32_t threads;
  /* Integers; "buffer"; "count": the benchmark's; "groups": how many there are;
   * "64M", "countM": turns until lanes that load 16 bytes a turn have loaded so
   * many MiB together. */
  const char *args;
} calibrate_launch;

typedef struct calibrate_benchmark {
  const char *constant; /* clock_constants.h */
  const char *name;
  calibrate_launch first, timed; /* within one time */
  size_t buffer_bytes;           /* 0: none */
  /* The time is that of `most` less that of `least`; 0: as it is. */
  int32_t most, least;
  const char *not_below; /* constant of the base; NULL: none */
} calibrate_benchmark;
extern const calibrate_benchmark calibrate_benchmarks[];
extern const int calibrate_benchmark_count;

/* The kernels of kernels.ll as a code object. */
typedef struct calibrate_code {
  const void *data;
  size_t size;
} calibrate_code;
ws_status calibrate_compile(ws_arena *arena, calibrate_code *out,
                            ws_diag *diag) WS_MUST_CHECK;

/* us of a benchmark on a device; *out_noise: half of its 95 % interval / us, 0
 * on a simulator. */
ws_status calibrate_measure(ws_device_client *client,
                            const calibrate_code *code,
                            const calibrate_benchmark *benchmark,
                            double *out_us, double *out_noise,
                            ws_diag *diag) WS_MUST_CHECK;

typedef struct calibrate_result {
  const calibrate_benchmark *benchmark;
  double measured_us, noise;
  double base_us, fitted_us;       /* simulated */
  int64_t base, fitted, low, high; /* the constant; what a profile may have */
  const char *doubt; /* why the time may not tell the constant; NULL: it does */
} calibrate_result;

/* Of the profile base ("mi300a", a file): the results' constants and their
 * limits, and how many CUs it has. WS_USAGE: it is none, or has a learned
 * correction. */
ws_status calibrate_read_base(ws_arena *arena, const char *base,
                              calibrate_result *results, int count,
                              int64_t *out_cu_count,
                              ws_diag *diag) WS_MUST_CHECK;

/* Two rounds over results, whose measured_us and base are there. */
ws_status calibrate_fit(ws_arena *arena, const char *base,
                        const calibrate_code *code, calibrate_result *results,
                        int count, ws_diag *diag) WS_MUST_CHECK;

/* {"name", "base", "constants": {...}}: a profile with what was fitted so far.
 * source may be NULL. In the arena. */
char *calibrate_profile(ws_arena *arena, const char *name, const char *base,
                        const calibrate_result *results, int count,
                        const char *source);

#endif
