/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fp8 matrix instructions on registers as they lie in a wave: register
 * after register, 64 lanes each. Same arithmetic as wavesmith/mfma.h.
 */
#ifndef WAVESMITH_SIM_MFMA_FP8_H
#define WAVESMITH_SIM_MFMA_FP8_H

#include "wavesmith/mfma.h"

#include <stdbool.h>

/* size 16: 16x16x32, c and d of 4 registers; size 32: 32x32x16, 16 registers.
 * a, b: two registers. c may be d; with c_is_constant it is 16 equal values. d
 * may overlap a and b. */
void ws__mfma_fp8(ws_fp8_format a_format, ws_fp8_format b_format, int size,
                  const uint32_t a[128], const uint32_t b[128], const float *c,
                  bool c_is_constant, float *d);

#endif
