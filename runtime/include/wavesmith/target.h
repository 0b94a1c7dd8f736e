/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The targets that templates are lowered for, as one table: what differs
 * between makers' cards and is no code. How to add one: docs/targets.md.
 *
 * Threads: the table is constant; thread-safe but for the one text that is
 * said to be the calling thread's.
 */
#ifndef WAVESMITH_TARGET_H
#define WAVESMITH_TARGET_H

#include "wavesmith/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ws_target_family {
  WS_FAMILY_AMDGPU, /* comgr; code object = ELF for amdhsa */
  WS_FAMILY_NVPTX   /* PTX; code object = cubin where ptxas is, else PTX text */
} ws_target_family;

typedef struct ws_target {
  const char *name; /* "gfx942", "sm_90a": in templates and archives */
  const char *card; /* "MI300X", "H200" */
  ws_target_family family;
  const char *device; /* kind of device that runs it: "hip", "cuda" */
  int wave;           /* lanes that run in step */
  int lds_bytes;      /* of one workgroup, at most */
  int cu_count;       /* of the card; for launches that are planned elsewhere */
  /* Peaks of the card, for the roofline (sources in
   * runtime/candidate/target.c). */
  struct {
    double vector, matrix[WS_TYPE_COUNT]; /* by element type; 0: none */
  } tflops;
  double tb_per_s;
  /* The IR sanitizer can run its code on the CPU, matrix instructions in its
   * fp8 format, and the bound model can estimate it. Without, the device alone
   * judges. */
  bool has_host_model;
} ws_target;

const ws_target *ws_target_find(const char *name); /* NULL: none */
const ws_target *const *ws_targets(int *out_count);
/* Their names in a sentence, "A, B and C"; the calling thread's. */
const char *ws_target_list(void);

/* What the card's peak rates allow at best, in us: below it a measurement is
 * not to be believed. */
double ws_target_roofline_us(const ws_target *target, const ws_problem *problem,
                             const ws_shape *shape);

/* Workgroups that one CU holds at once, of so many threads with so many
 * registers each and LDS bytes together (static and dynamic). 0: not known, for
 * an AMD target (ws_occupancy_workgroups is) or without a register count. */
int ws_target_workgroups(const ws_target *target, int registers, int threads,
                         int lds_bytes);

#ifdef __cplusplus
}
#endif
#endif
