/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What ws_verify and ws_time find in a ws_inputs (wavesmith/measure.h): inputs
 * on the device, their contents on the host, what the reference says of them,
 * loaded modules and the buffer that flushes the cache.
 */
#ifndef WAVESMITH_EVAL_INPUTS_H
#define WAVESMITH_EVAL_INPUTS_H

#include "wavesmith/measure.h"

enum { WS__MAX_COPIES = 16, WS__GUARD_BYTES = 4096 };

/* One place of a set's buffers on the device. */
typedef struct ws__input_copy {
  void *pad; /* of random size, so that places differ from one to the next */
  /* By the problem's argument: inputs; on a card outputs too, each with a
   * guard behind it. */
  void *base[WS_PROBLEM_MAX_ARGS];   /* as allocated */
  void *memory[WS_PROBLEM_MAX_ARGS]; /* base + the set's shift */
} ws__input_copy;

typedef struct ws__expected {
  int64_t begin, end; /* rows */
  double *value, *scale;
  struct ws__expected *next;
} ws__expected;

/* What the rows times random signs are: ws_problem's project(). */
typedef struct ws__projection {
  uint64_t seed;
  double *value, *error; /* by row; NULL: not made yet */
} ws__projection;

typedef struct ws__input_set {
  const ws_problem *problem; /* NULL: the place is free */
  ws_shape shape;
  int layout;
  uint64_t seed, last_use;
  size_t bytes[WS_PROBLEM_MAX_ARGS], guard;
  /* Buffers lie so far behind where the device puts allocations, which is at
   * multiples of 256: the problem's alignment, so that a kernel that relies on
   * more than is promised is found; 0 for times, as in a user's program. */
  size_t shift;
  ws__input_copy copies[WS__MAX_COPIES];
  int copy_count;
  /* Nobody's kernel ran between the upload and this request. */
  bool fresh;
  void *contents[WS_PROBLEM_MAX_ARGS]; /* on the host; NULL: not made yet */
  void *landing[WS_PROBLEM_MAX_ARGS];  /* for downloaded outputs; likewise */
  /* What the kernel that is the reference left, by argument (reference_run.h);
   * uncompared: it was asked, and there is nothing. */
  void *results[WS_PROBLEM_MAX_ARGS];
  bool reference_asked, uncompared;
  ws__expected *references;
  size_t reference_bytes;
  ws__projection projection;
  size_t held; /* bytes of it all, against the limit */
} ws__input_set;

/* A request begins: what is on the device was left by other kernels. */
void ws__inputs_begin(ws_inputs *inputs);
/* What the set is for: with `as promised` its buffers are no better aligned
 * than the problem says. */
typedef enum ws__placing { WS__AS_ALLOCATED, WS__AS_PROMISED } ws__placing;
/* The workload's set with so many copies on the device; valid until the next
 * call. */
ws_status ws__inputs_get(ws_inputs *inputs, const ws_workload *workload,
                         ws__placing placing, int copies,
                         ws__input_set **out_set, ws_diag *diag) WS_MUST_CHECK;
/* Copies that rotating through them leaves the last-level cache; at least 2,
 * as far as memory goes. */
int ws__inputs_rotation(const ws_inputs *inputs, const ws_workload *workload);
const void *ws__inputs_contents(ws_inputs *inputs, ws__input_set *set, int arg);
/* What the reference is asked with, by argument: inputs; where a kernel is the
 * reference what it left. NULL for others. */
void ws__inputs_collect(ws_inputs *inputs, ws__input_set *set,
                        const void *out_buffers[WS_PROBLEM_MAX_ARGS]);
void *ws__inputs_landing(ws_inputs *inputs, ws__input_set *set, int arg);
/* Value and scale of these rows; valid until the next call. */
void ws__inputs_reference(ws_inputs *inputs, ws__input_set *set, int64_t begin,
                          int64_t end, const double **out_value,
                          const double **out_scale);
/* Of all rows; valid as long as the set. */
const ws__projection *ws__inputs_projection(ws_inputs *inputs,
                                            ws__input_set *set);
/* The first input argument that differs from what was uploaded, or -1. With
 * `sampled`, of one larger than a MiB some pieces at random places only. */
ws_status ws__inputs_compare(ws_inputs *inputs, ws__input_set *set, int copy,
                             bool sampled, int *out_arg,
                             ws_diag *diag) WS_MUST_CHECK;
/* Nothing on the device is to be trusted: the next request uploads anew. */
void ws__inputs_renew(ws_inputs *inputs);
/* Frees what sets other than this one hold on the device; false: nothing. */
bool ws__inputs_make_room(ws_inputs *inputs, const ws__input_set *but);

/* Loaded, and kept on a card; belongs to the inputs. */
ws_status ws__inputs_module(ws_inputs *inputs, const void *code_object,
                            size_t size, ws_device_module **out_module,
                            ws_diag *diag) WS_MUST_CHECK;
/* Twice the last-level cache. */
ws_status ws__inputs_flush(ws_inputs *inputs, void **out_memory,
                           size_t *out_bytes, ws_diag *diag) WS_MUST_CHECK;
uint64_t ws__inputs_random(ws_inputs *inputs, uint64_t bound);

#endif
