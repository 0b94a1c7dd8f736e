/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The options of `wavesmith bench`, its job, and its output.
 */
#ifndef WAVESMITH_BENCH_OPTIONS_H
#define WAVESMITH_BENCH_OPTIONS_H

#include "bench_subject.h"

typedef struct bench_options {
  const char *subject, *against;
  const char *archive, *against_archive;
  const char *set, *variants, *against_set, *against_variants;
  const char *layout, *shapes, *device; /* NULL: default */
  const char *width, *samples, *seconds, *seed;
  double width_value, seconds_value; /* percent, s */
  int samples_value;
  uint64_t seed_value;
  bool json, help;
} bench_options;

typedef struct bench_row {
  ws_shape shape;
  const bench_entry *entry; /* NULL: the shape was refused */
  const char *refusal;      /* why; NULL: it was not */
  double roofline_us;
  ws_measured measured;
  ws_measured same; /* against itself */
  bool has_rival, has_noise;
} bench_row;

typedef struct bench_job {
  bench_options options;
  ws_arena *arena;
  ws_compiler *compiler;
  ws_device_client *client;
  bench_subject subject, other;
  const ws_shape *shapes;
  int shape_count;
  bench_row *rows;
  int row_count;
  bool has_noise;
} bench_job;

ws_status bench_options_parse(int argc, char **argv, bench_options *out,
                              ws_diag *diag) WS_MUST_CHECK;
/* A set's name, or shapes; NULL: the first set. */
ws_status bench_read_shapes(bench_job *job, ws_diag *diag) WS_MUST_CHECK;
/* As text or JSON, to stdout. */
void bench_print(const bench_job *job);

#endif
