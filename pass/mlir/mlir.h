/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Templates in MLIR: from text to the LLVM module of one candidate, through
 * MLIR's C API. What comes out is a template in LLVM IR whose parameters have
 * the candidate's values: from there on the line is that of every template
 * (pass.h). Grammar: docs/mlir.md.
 *
 * Threads: one at a time; a process has one context.
 */
#ifndef WAVESMITH_PASS_MLIR_H
#define WAVESMITH_PASS_MLIR_H

#include "pass.h"
#include "wavesmith/expr.h"
#include "wavesmith/target.h"
#include "wavesmith/template.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>

/* What stands around a body's text while it is read as a module: places in it
 * are said as the text has them. */
typedef struct ws_mlir_frame {
  int before;              /* bytes put in front of line 1 */
  int open_line, opening;  /* and in front of this line */
  int last_line, last_end; /* where the text ends; line 0: no frame */
} ws_mlir_frame;

/* What one lowering works on. */
typedef struct ws_mlir {
  ws_arena *arena;
  ws_findings *findings;
  const char *file;            /* of findings that have no place */
  const char *text;            /* of the file; NULL: not to be had */
  ws_mlir_frame frame;         /* of the text */
  struct ws_job_place *place;  /* kept up to date; NULL: nobody looks */
  struct ws_mlir_steps *steps; /* of a schedule while it is applied */
  const ws_target *target;
  const struct ws_problem *(*find_problem)(const char *name);
  MlirContext context;
  MlirOperation module; /* builtin.module of the text */
  ws_scope values;      /* parameters; "layout" among them where it is one */
  const struct ws_mlir_function *functions; /* what is declared of them */
  int function_count;
} ws_mlir;

/* ---- words (mlir_words.c) --------------------------------------------------
 */
MlirStringRef ws__mlir_ref(const char *text);
/* A copy in the arena. */
const char *ws__mlir_text(ws_arena *arena, MlirStringRef text);
/* A discardable attribute "wavesmith.NAME" of an operation; null: it has none.
 */
MlirAttribute ws__mlir_word(MlirOperation op, const char *name);
/* "arith.constant", valid as long as the context. */
MlirStringRef ws__mlir_name(MlirOperation op);
bool ws__mlir_is(MlirOperation op, const char *name);
/* Whether its name begins so: "vector.transfer", or a dialect with its dot. */
bool ws__mlir_begins(MlirOperation op, const char *start);
/* Whether a memref is in "#gpu.address_space<...>". */
bool ws__mlir_is_in(const ws_mlir *m, MlirType memref, const char *space);
/* An operation in no block yet. result: null for none; attribute: NULL. */
MlirOperation ws__mlir_new(const ws_mlir *m, const char *name,
                           MlirLocation location, int operand_count,
                           const MlirValue *operands, MlirType result,
                           const char *attribute, MlirAttribute value);
/* The first block of its first region; null: it has none. */
MlirBlock ws__mlir_body(MlirOperation op);
/* The first operation there; null: there is none. */
MlirOperation ws__mlir_first(MlirOperation op);
/* The "func.func" (kind) of this name right in a module; null: it has none. */
MlirOperation ws__mlir_function(MlirOperation module, const char *kind,
                                const char *name);
/* Prints into a ws_strbuf. */
void ws__mlir_append(MlirStringRef part, void *out);
/* The first place of a text in a location; null: there is none. */
MlirLocation ws__mlir_place(MlirLocation location);
/* Line and column of such a place, without the frame. */
void ws__mlir_line_column(const ws_mlir *m, MlirLocation place, int *out_line,
                          int *out_column);
/* Adds a finding at a place of a text. */
void ws__mlir_find(const ws_mlir *m, MlirLocation at, const char *id,
                   const char *region, const char *text);
/* The same at a byte of m->file's text. */
void ws__mlir_find_at(const ws_mlir *m, const char *text, const char *at,
                      const char *id, const char *what);
void ws__mlir_refuse(const ws_mlir *m, MlirOperation at, const char *id,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A function's name. */
MlirStringRef ws__mlir_symbol(MlirOperation function);
/* The gpu.module of m->module; null: there is none. */
MlirOperation ws__mlir_gpu_module(const ws_mlir *m);
/* In the order of the text; visit may erase nothing but what is behind it. */
typedef bool ws_mlir_visit(ws_mlir *m, MlirOperation op);
bool ws__mlir_walk(ws_mlir *m, MlirOperation root, ws_mlir_visit *visit);

/* ---- diagnostics (diagnostics.c) --------------------------------------------
 */
/* The handler; data: the ws_mlir. */
MlirLogicalResult ws__mlir_take_diagnostic(MlirDiagnostic diagnostic,
                                           void *data);
/* Says in m->place that an operation of the text is under way. */
void ws__mlir_mark(const ws_mlir *m, MlirOperation op);

/* ---- steps ------------------------------------------------------------------
 */
/* The process's context with what may be used registered. */
MlirContext ws__mlir_context(void);
/* Whether root has only operations that may be; a finding where not. */
bool ws__mlir_check_dialects(ws_mlir *m, MlirOperation root);
/* Runs a textual pipeline for operations of this name; false and a finding.
 * What comes out is not verified. */
bool ws__mlir_run(const ws_mlir *m, MlirOperation on, const char *pipeline);
/* Sets what "wavesmith.ATTRIBUTE = expression" says of operations. */
bool ws__mlir_set_values(ws_mlir *m);
/* Static shapes from callers to the arguments of functions; what has none then
 * is refused. */
bool ws__mlir_spread_shapes(ws_mlir *m);
/* memref.alloc of workgroup memory: static types; then globals. */
bool ws__mlir_size_lds(ws_mlir *m);
bool ws__mlir_place_lds(ws_mlir *m);
/* Applies the schedule, if there is one, and takes it out. */
bool ws__mlir_schedule(ws_mlir *m);

#endif
