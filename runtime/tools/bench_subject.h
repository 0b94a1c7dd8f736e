/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What `wavesmith bench` times: a candidate of an archive or of a text export,
 * a template with parameters, or an emitted dispatch, which is several
 * candidates and a rule.
 */
#ifndef WAVESMITH_BENCH_SUBJECT_H
#define WAVESMITH_BENCH_SUBJECT_H

#include "wavesmith/measure.h"
#include "wavesmith/target.h"

typedef struct bench_entry {
  ws_candidate *candidate;
  ws_build_result build;
  const void *code_object;
  size_t code_object_size;
} bench_entry;

struct bench_rules;
typedef struct bench_subject {
  const char *name; /* "fp8_gemm_wgmma 1a2b3c4d", "gemm.json" */
  const ws_problem *problem;
  const ws_target *target;
  int layout;
  bench_entry *entries;
  int entry_count;
  const struct bench_rules *rules; /* NULL: the only entry */
} bench_subject;

typedef struct bench_source {
  const char *text;    /* as given: DB:ID, ID, FILE.ll or a .json */
  const char *archive; /* a file or a text export's folder; NULL: none */
  const char *layout;  /* of a template; NULL: the target's first */
  const char *set, *variants;
} bench_source;

/* compiler: started when something must be built; belongs to the caller. */
ws_status bench_subject_open(ws_arena *arena, const bench_source *source,
                             ws_compiler **compiler, bench_subject *out,
                             ws_diag *diag) WS_MUST_CHECK;
/* The entry for a shape. NULL: none takes it, and the diag says why. */
const bench_entry *bench_subject_pick(const bench_subject *subject,
                                      const ws_shape *shape, ws_diag *diag);

#endif
