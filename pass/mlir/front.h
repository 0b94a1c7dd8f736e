/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * MLIR templates for the rest of pass/. What links MLIR is a library of its
 * own, WavesmithMLIR.so, opened when the first such text comes: a build without
 * MLIR has all else.
 */
#ifndef WAVESMITH_PASS_MLIR_FRONT_H
#define WAVESMITH_PASS_MLIR_FRONT_H

#include "pass.h"
#include "wavesmith/expr.h"

typedef struct ws_mlir_body {
  const char *region, *file, *text;
} ws_mlir_body;

typedef struct ws_mlir_request {
  const char *text, *file;
  size_t size;
  const ws_scope *values;     /* of its parameters; NULL: the defaults */
  const ws_mlir_body *bodies; /* in MLIR, in place of the template's */
  int body_count;
  /* Not NULL: the text is no template but a body for one in LLVM IR: functions,
   * lowered for this target, with no more than what they need. */
  const char *target;
  struct ws_job_place
      *place; /* is kept up to date (job_place.h); NULL: nobody looks */
  /* Of the process, which knows the user's; ws__mlir_front sets it. */
  const struct ws_problem *(*find_problem)(const char *name);
} ws_mlir_request;

/* The LLVM module of a text in MLIR: a template in LLVM IR whose parameters
 * have the values, or a body's functions. NULL and findings ("mlir",
 * "mlir-value", "mlir-dynamic", ...). Exported by the library. */
typedef LLVMModuleRef ws_mlir_lower_function(LLVMContextRef context,
                                             const ws_mlir_request *request,
                                             ws_findings *findings);
ws_mlir_lower_function ws_mlir_lower;

/* The same through the library; NULL and a finding ("mlir-missing") where it
 * is not. */
ws_mlir_lower_function ws__mlir_front;

/* Whether the library is there. */
bool ws__mlir_is_there(void);

/* The line on which the index-th node of a record of this kind is written
 * (ws_record_line); context: the text. */
int ws__mlir_record_line(void *text, const char *kind, int index);
/* The same with its column; 0: it is not there. */
int ws__mlir_record_place(const char *text, const char *kind, int index,
                          int *out_column);

#endif
