/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the two halves of the instrumentation share: sanitize_module.c, which
 * makes a host module of the target's, and sanitize_instrument.c, which puts
 * hooks into one function of it.
 */
#ifndef WAVESMITH_SANITIZE_INSTRUMENT_H
#define WAVESMITH_SANITIZE_INSTRUMENT_H

#include "sanitize_internal.h"

typedef struct ws_hook {
  LLVMValueRef function;
  LLVMTypeRef type;
} ws_hook;

typedef struct ws_instrumenter {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTargetDataRef target_layout, host_layout;
  LLVMTypeRef i8, i64, pointer, frame_pointer, nothing;
  ws_hook lds_load, lds_store, global_load, global_store, access, range, fence,
      private_access, variable, alloca_, operation;
  ws_program *program;
  const ws_template *tmpl;
  const ws_problem *problem;
  uint32_t launches; /* bit per launch that some run needs */
  bool diagnose, failed;
  int site_count;
  uint64_t private_bytes; /* of all functions: no lane can use more */
  const char *last_region, *last_file; /* interned copies */
  LLVMValueRef frame;                  /* of the function at hand, or NULL */
} ws_instrumenter;

void ws__instrument_declare_hooks(ws_instrumenter *in);
/* Sets in->failed, with a finding, for what has no host model. */
void ws__instrument_function(ws_instrumenter *in, LLVMValueRef function);
/* Calling convention and attributes for the host. */
void ws__make_host_function(ws_instrumenter *in, LLVMValueRef function);
/* The region whose function returns the offset in a pointer; NULL: none that
 * could be found (sanitize_origin.c). */
const ws_region *ws__offset_region(const ws_template *tmpl,
                                   LLVMValueRef pointer);
/* The private variable that a pointer points into: bytes begin to end from
 * base, an alloca or an argument of the function. */
typedef struct ws_private_window {
  LLVMValueRef base;
  int64_t begin, end;
} ws_private_window;
/* true: a window is known, and an access of size bytes (-1: known at run time)
 * may lie outside (sanitize_private.c). */
bool ws__private_window(const ws_instrumenter *in, LLVMValueRef pointer,
                        int64_t size, ws_private_window *out);
/* The address space of a pointer value, as LLVM numbers it. */
unsigned ws__address_space(LLVMValueRef pointer);
/* base + offset, as a pointer. */
LLVMValueRef ws__at_offset(ws_instrumenter *in, LLVMValueRef base,
                           unsigned offset);

#endif
