/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/mlir: the parts of applying a schedule.
 */
#ifndef WAVESMITH_PASS_MLIR_SCHEDULE_H
#define WAVESMITH_PASS_MLIR_SCHEDULE_H

#include "mlir.h"

/* A schedule while it is applied. */
typedef struct ws_mlir_steps {
  MlirOperation *items; /* those that are announced */
  int count, most;
  int now;                   /* of the items; -1: none has begun */
  int first_line, last_line; /* of the schedule's text */
} ws_mlir_steps;

/* ---- what may be in one (allowed.c) ---- */

/* Whether an operation may be where it is, and its numbers with it; a finding
 * where not. Limits the rounds of patterns. */
bool ws__mlir_admit(ws_mlir *m, MlirOperation op);
/* Whether it changes what it is given: what can go wrong half-way. */
bool ws__mlir_is_step(MlirOperation op);
/* Whether an operation is of a schedule. */
bool ws__mlir_is_transform(MlirOperation op);

/* Whether no handle of these sequences may name one operation too often
 * (handles.c); a finding where one may. Their includes end. */
bool ws__mlir_check_handles(ws_mlir *m, const MlirOperation *sequences,
                            int count);

/* ---- where it is (steps.c) ---- */

/* Has the sequence, of `most` operations, announce each before it is run. */
void ws__mlir_announce(ws_mlir *m, MlirOperation sequence, int most);
/* A remark, which may be an announcement. */
void ws__mlir_step_begins(ws_mlir *m, const char *text);
/* The operation that is being applied; null: none, or not known. */
MlirOperation ws__mlir_step(const ws_mlir *m);

/* ---- what it leaves (sizes.c) ---- */

/* Whether the module is sound and of a size that compiles; a finding at the
 * operation, or at the schedule. */
bool ws__mlir_check_sizes(ws_mlir *m, MlirOperation schedule);

#endif
