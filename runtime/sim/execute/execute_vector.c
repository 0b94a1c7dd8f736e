/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The VALU: lane loops, modifiers and the table of opcodes, compiled for
 * AVX-512, AVX2 and the plain target; the copy is chosen at run time by what
 * the processor has. vector_lanes.h says how the parts fit.
 */
#include "vector_lanes.h"
#include "vector_letters.h"
#include "vector_rare.h"

#include <fenv.h>
#include <math.h>
#include <stdatomic.h>

/* The loops are written to become vector code. Contraction would make a fused
 * multiply-add of a product and a sum. */
#ifndef __clang__
#pragma GCC optimize("O3,no-math-errno,no-trapping-math,fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

/* ---- the MODE register ------------------------------------------------------
 */

static bool is_float_type(char type) {
  return type == 'f' || type == 'G' || type == 'h' || type == 'H' ||
         type == 'F';
}
static bool is_single(char type) { return type == 'f' || type == 'G'; }

/* Denormal inputs (or results) of this type count as zero. */
static bool flushes(uint32_t mode, char type, bool result) {
  int bit = (is_single(type) ? 4 : 6) + result;
  return is_float_type(type) && !(mode >> bit & 1);
}

/* Hardware ignores the output modifier where it keeps denormal results, and
 * with MODE.IEEE (LLVM, SIFoldOperands::isOMod). */
static bool obeys_omod(uint32_t mode, char type) {
  return flushes(mode, type, true) && !(mode & WS_MODE_IEEE);
}

static int rounding_of(uint32_t mode, char type) {
  static const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                   FE_TOWARDZERO};
  return directions[(is_single(type) ? mode : mode >> 2) & 3];
}

/* f16 is rounded by our own code, to nearest even alone and to infinity. */
static bool mode_is_supported(ws_wave *wave, const ws_instruction *in,
                              const struct ws_vector_op *op) {
  char type = in->dst[0].type;
  if (!(op->traits & WS_OP_ROUNDS) || (type != 'h' && type != 'H') ||
      (rounding_of(wave->mode, type) == FE_TONEAREST &&
       !(wave->mode & WS_MODE_FP16_OVFL)))
    return true;
  ws__fault(wave, in, -1, "unsupported",
            "f16 arithmetic with a rounding mode other than to nearest even, "
            "or with FP16_OVFL");
  return false;
}

/* ---- the three copies -------------------------------------------------------
 */

#define WS_LINKAGE static
#define WS_TARGET
#define WS_NAME(x) portable_##x
#include "vector_kernels.inc"
#undef WS_TARGET
#undef WS_NAME

#ifdef __x86_64__
#define WS_TARGET __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define WS_NAME(x) avx2_##x
#include "vector_kernels.inc"
#undef WS_TARGET
#undef WS_NAME

#define WS_TARGET                                                              \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,bmi,bmi2,"     \
                        "prefer-vector-width=512")))
#define WS_NAME(x) avx512_##x
#include "vector_kernels.inc"
#undef WS_TARGET
#undef WS_NAME
#endif

/* ---- choice -----------------------------------------------------------------
 */

static bool has_avx512(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

static bool has_avx2(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

static bool has_all(void) { return true; }

static const struct candidate {
  bool (*runs)(void);
  ws_vector_code code;
} candidates[] = {
#ifdef __x86_64__
    {has_avx512, {"avx512", avx512_ops, avx512_execute}},
    {has_avx2, {"avx2", avx2_ops, avx2_execute}},
#endif
    {has_all, {"portable", portable_ops, portable_execute}},
};

const ws_vector_code *ws__vector_code(int index) {
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
    if (candidates[i].runs() && index-- == 0)
      return &candidates[i].code;
  return NULL;
}

static _Atomic(const ws_vector_code *) chosen;

void ws__vector_use(const ws_vector_code *code) { chosen = code; }

ws_execute ws__execute_vector(ws_op op) {
  const ws_vector_code *code = chosen;
  if (!code)
    chosen = code = ws__vector_code(0);
  ws_execute across = ws__execute_across_lanes(op);
  if (across)
    return across;
  return (unsigned)op < WS_OP_COUNT && code->ops[op].kernel ? code->execute
                                                            : NULL;
}
