/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/mlir: what is declared of functions, kept while they are lowered.
 */
#ifndef WAVESMITH_PASS_MLIR_DECLARE_H
#define WAVESMITH_PASS_MLIR_DECLARE_H

#include "front.h"
#include "mlir.h"
#include "wavesmith/template.h"

typedef struct ws_mlir_function {
  const char *name;
  MlirAttribute launch, region, variant; /* null: it is none */
  const char **arguments;                /* names; NULL where there is none */
  int argument_count;
  bool is_kernel;
} ws_mlir_function;

enum { WS_MLIR_MOST_FUNCTIONS = 256 };

/* Bytes that wavesmith.lds gives for a name; false and a finding at an
 * operation where it gives none. */
bool ws__mlir_lds_bytes(ws_mlir *m, MlirOperation at, const char *name,
                        int64_t *out_bytes);
/* A text, or those of an array in a row: a long one over several lines. NULL:
 * it is neither. */
const char *ws__mlir_joined(const ws_mlir *m, MlirAttribute item);
/* Parameters with the values of wavesmith.param. */
bool ws__mlir_defaults(ws_mlir *m, ws_scope *out);
/* Makes the values of a template that has been read the only ones that
 * wavesmith.param has: its text has them everywhere else by now. */
void ws__mlir_state_values(const ws_mlir *m);
/* Reads the names of its arguments; false and a finding at one: a kernel's that
 * is none of the problem's. */
bool ws__mlir_name_arguments(const ws_mlir *m, MlirOperation op,
                             ws_mlir_function *function);
/* Whether what the module declares has names that are known; a finding where
 * not. */
bool ws__mlir_check_words(ws_mlir *m);
/* The index-th text of what is declared; NULL: it has none. */
const char *ws__mlir_operand(const ws_mlir *m, MlirAttribute list, int index);
/* Whether what a function declares has the form that it must have; a finding
 * where not. */
bool ws__mlir_check_declared(ws_mlir *m, MlirOperation op,
                             const ws_mlir_function *function);
bool ws__mlir_write_records(ws_mlir *m, const ws_mlir_function *functions,
                            int count, LLVMModuleRef out);

/* Whether wavesmith.tensor_map declares this name. */
bool ws__mlir_is_tensor_map(ws_mlir *m, const char *name);

/* Arguments of kernels that are tensor maps: found before they are lowered,
 * described after it (maps.c). False and a finding where one has another type.
 */
enum { WS_MLIR_MOST_MAPS = 64 };
typedef struct ws_mlir_map {
  const char *kernel;
  int argument;
} ws_mlir_map;
typedef struct ws_mlir_maps {
  ws_mlir_map items[WS_MLIR_MOST_MAPS];
  int count;
} ws_mlir_maps;
bool ws__mlir_find_maps(ws_mlir *m, ws_mlir_maps *out);
void ws__mlir_describe_maps(ws_mlir *m, const ws_mlir_maps *maps);

/* Calls of functions of a library of mathematics that the target has no
 * intrinsic for: false and a finding; the others become intrinsics. */
bool ws__mlir_check_library(ws_mlir *m);
void ws__mlir_use_intrinsics(const ws_mlir *m, LLVMModuleRef module);

/* Names, conventions, globals and intrinsics of the translated module as a
 * template in LLVM IR has them (settle.c). */
void ws__mlir_settle(const ws_mlir *m, LLVMModuleRef module);
/* The loops of lanes that a schedule left (lanes.c). */
bool ws__mlir_lanes(ws_mlir *m);
/* Whether private memory holds what so many rounds of an scf.forall's body
 * index (slots.c); a finding at the memory where it does not. */
bool ws__mlir_check_slots(ws_mlir *m, MlirOperation loop, int64_t rounds);
/* What is said of lanes, waves and workgroups, as numbers (ids.c). */
bool ws__mlir_ids(ws_mlir *m);
/* Puts functions of memrefs whose sizes are not static into their callers
 * (inline.c); a finding where that cannot be. */
bool ws__mlir_inline(ws_mlir *m);
/* A function's one block in place of an operation, whose operands are its
 * arguments; both are gone then (rewrite.c). */
void ws__mlir_paste(MlirOperation function, MlirOperation op);
/* The same of a text: the body of a function, an operation a line, with the
 * operation's operands as %arg0, %arg1, ... */
bool ws__mlir_write(const ws_mlir *m, MlirOperation op, const char *body);
/* In the arena. */
const char *ws__mlir_type_text(const ws_mlir *m, MlirType type);
/* memref.generic_atomic_rmw to a plain one where it is one; a finding where it
 * has no lowering. And the scopes of what memref's atomics become
 * (atomics.c). */
bool ws__mlir_plain_atomic(const ws_mlir *m, MlirOperation op);
void ws__mlir_settle_atomics(const ws_mlir *m, LLVMModuleRef module);
/* Expands what the pipeline to the LLVM dialect has no lowering for, and says
 * what that has left (left.c). */
bool ws__mlir_expand(ws_mlir *m);
bool ws__mlir_is_lowered(ws_mlir *m);
/* Reads what the module declares: target and parameters (values: NULL: their
 * defaults). Then parameters, schedule, LDS and shapes; then the LLVM dialect,
 * in the builtin.module itself, or all of it to a template in LLVM IR. */
bool ws__mlir_open(ws_mlir *m, const ws_scope *values);
bool ws__mlir_specialize(ws_mlir *m);
bool ws__mlir_to_llvm_dialect(ws_mlir *m);
LLVMModuleRef ws__mlir_lower_template(ws_mlir *m, LLVMContextRef context);
/* False and a finding: it is bytecode. */
bool ws__mlir_is_text(const ws_mlir *m, const char *text);
/* Bytes of the mark of UTF-8 that some editors write in front. */
size_t ws__mlir_mark_size(const char *text);
/* A text of functions as a module, on the lines that it has, with the aliases
 * of the template in front and `close` at the end; null and findings. Sets
 * m->frame. */
MlirOperation ws__mlir_parse_functions(ws_mlir *m, const char *text,
                                       const char *close,
                                       const char *template_text);
/* Whether a body's text may be put in a module; a finding where not. */
bool ws__mlir_check_body_text(ws_mlir *m, const char *text);
/* Puts a request's bodies in place of regions. */
bool ws__mlir_splice(ws_mlir *m, const ws_mlir_request *request);
/* A body's functions by themselves, in a gpu.module; null and findings. */
MlirOperation ws__mlir_read_body(ws_mlir *m, const char *text);

#endif
