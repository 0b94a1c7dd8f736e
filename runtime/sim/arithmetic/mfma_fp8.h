/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fp8 matrix instructions on registers as they lie in a wave: register
 * after register, 64 lanes each. Same arithmetic as wavesmith/mfma.h.
 */
#ifndef WAVESMITH_SIM_MFMA_FP8_H
#define WAVESMITH_SIM_MFMA_FP8_H

#include "wavesmith/mfma.h"

#include <stdbool.h>

/* Operands as the arithmetic wants them, of recent instructions: a GEMM uses
 * each several times. For one thread at a time. NULL: of no use on this
 * machine, or no memory; free() it. */
struct ws_fp8_cache *ws__fp8_cache_create(void);

/* cache: may be NULL. size 16: 16x16x32, c and d of 4 registers; size 32:
 * 32x32x16, 16 registers. a, b: two registers. c may be d; with c_is_constant
 * it is 16 equal values. d may overlap a and b. */
void ws__mfma_fp8(struct ws_fp8_cache *cache, ws_fp8_format a_format,
                  ws_fp8_format b_format, int size, const uint32_t a[128],
                  const uint32_t b[128], const float *c, bool c_is_constant,
                  float *d);

#endif
