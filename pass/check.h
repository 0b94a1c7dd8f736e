/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: what the files of the static check share.
 */
#ifndef WAVESMITH_PASS_CHECK_H
#define WAVESMITH_PASS_CHECK_H

#include "family.h"

typedef enum ws_check_id {
#define X(name, id, cure, nvptx_cure) WS_CHECK_##name,
#include "checks.def"
#undef X
  WS_CHECK_COUNT
} ws_check_id;

typedef struct ws_checker {
  LLVMModuleRef module;
  const ws_candidate *candidate; /* NULL: no template, no roles */
  const ws_target *target;
  const ws_ir_family *family;
  ws_findings *findings;
} ws_checker;

/* Adds a finding: "SEEN; CURE", with region, file and line of the place (an
 * instruction, a function, or NULL). */
void ws__check_report(const ws_checker *checker, ws_check_id check,
                      LLVMValueRef place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What an intrinsic does, from check_intrinsics.def. */
enum {
  WS_INTRINSIC_LANE = 1,
  WS_INTRINSIC_UNIFORM = 2,
  WS_INTRINSIC_BARRIER = 4,
  WS_INTRINSIC_MFMA = 8,
  WS_INTRINSIC_NARROW = 16,
  WS_INTRINSIC_WRITES = 32,
  WS_INTRINSIC_COPIES = 64,
  WS_INTRINSIC_CLOCK = 128,
  WS_INTRINSIC_TRAP = 256,
  WS_INTRINSIC_HOST = 512,
  WS_INTRINSIC_FPENV = 1024,
  WS_INTRINSIC_OTHER_TARGET = 2048, /* known, but not on this target */
  WS_INTRINSIC_UNLISTED = 4096,
  WS_INTRINSIC_SENDS = 8192,
  WS_INTRINSIC_POINTS = 16384,
  WS_INTRINSIC_DPP = 32768,
  WS_INTRINSIC_BYTE = 65536
};
/* The traits among these that no candidate may use; 0: it may. */
static inline unsigned ws__intrinsic_refusal(unsigned traits) {
  return traits & (WS_INTRINSIC_CLOCK | WS_INTRINSIC_TRAP | WS_INTRINSIC_HOST |
                   WS_INTRINSIC_FPENV | WS_INTRINSIC_OTHER_TARGET |
                   WS_INTRINSIC_UNLISTED);
}
/* Traits of the intrinsic with this name (suffix and all) for a target. */
unsigned ws__intrinsic_traits(const char *name, const ws_target *target);
/* The first target that has it; for one that another target lacks. */
const char *ws__intrinsic_owner(const char *name);

/* The function that a call instruction calls by name; NULL: none. */
LLVMValueRef ws__called_function(LLVMValueRef call);
/* Traits of a call to an intrinsic; 0 for anything else. */
unsigned ws__call_traits(const ws_checker *checker, LLVMValueRef instruction);

/* One instruction of the module, and one type at a place. */
void ws__check_instruction(const ws_checker *checker, LLVMValueRef instruction);
void ws__check_type(const ws_checker *checker, LLVMValueRef place,
                    LLVMTypeRef type);

/* Inline assembly: none on AMD (but an empty text, which holds back the
 * compiler only); on NVIDIA the instructions of a list (check_asm.c). */
void ws__check_asm(const ws_checker *checker, LLVMValueRef call);
/* Operands of a call of inline assembly that it stores to global memory
 * through, as bits; *out_sends: by tensor maps only. */
uint32_t ws__asm_written(const ws_checker *checker, LLVMValueRef call,
                         bool *out_sends);

/* OpenCL C text before a compiler sees it: no directive that reads a file (its
 * contents would come back in messages). */
bool ws__check_opencl(const char *text, const char *file,
                      ws_findings *findings);

/* The checks that follow values and control flow (check_flow.c): divergent
 * barriers and MFMA, stores through read-only arguments, loops without exit,
 * pointers from memory. requires: everything else has passed. */
void ws__check_flow(const ws_checker *checker);

#endif
