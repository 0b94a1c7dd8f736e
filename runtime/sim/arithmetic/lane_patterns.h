/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which lane a lane reads, by the control word of DPP and of ds_swizzle (CDNA3
 * ISA guide, "Data Parallel Primitives" and DS_SWIZZLE_B32), for the simulator
 * and the IR sanitizer.
 */
#ifndef WAVESMITH_SIM_LANE_PATTERNS_H
#define WAVESMITH_SIM_LANE_PATTERNS_H

#include <stdint.h>

enum { WS_DPP_NO_LANE = -1, WS_DPP_UNKNOWN = -2 };

/* A lane, or one of the above: nothing stands there; no control of gfx942. */
static inline int ws_dpp_source(uint32_t control, int lane) {
  int place = lane % 16, row = lane - place, step = (int)(control & 15);
  if (control < 0x100) /* quad_perm */
    return (lane & ~3) | (int)(control >> 2 * (lane & 3) & 3);
  if (control > 0x100 && control < 0x110) /* row_shl */
    return place + step < 16 ? lane + step : WS_DPP_NO_LANE;
  if (control > 0x110 && control < 0x120) /* row_shr */
    return place >= step ? lane - step : WS_DPP_NO_LANE;
  if (control > 0x120 && control < 0x130) /* row_ror */
    return row | ((place - step) & 15);
  if (control >= 0x150 && control < 0x160) /* row_newbcast */
    return row | step;
  switch (control) {
  case 0x130: /* wave_shl */
    return lane < 63 ? lane + 1 : WS_DPP_NO_LANE;
  case 0x134: /* wave_rol */
    return (lane + 1) & 63;
  case 0x138: /* wave_shr */
    return lane > 0 ? lane - 1 : WS_DPP_NO_LANE;
  case 0x13c: /* wave_ror */
    return (lane - 1) & 63;
  case 0x140: /* row_mirror */
    return row | (15 - place);
  case 0x141: /* row_half_mirror */
    return lane ^ 7;
  case 0x142: /* row_bcast:15, to the next row */
    return row ? row - 1 : WS_DPP_NO_LANE;
  case 0x143: /* row_bcast:31, to rows 2 and 3 */
    return lane >= 32 ? 31 : WS_DPP_NO_LANE;
  }
  return WS_DPP_UNKNOWN;
}

static inline uint32_t ws_reverse_5(uint32_t bits) {
  uint32_t result = 0;
  for (int i = 0; i < 5; i++)
    result |= (bits >> i & 1) << (4 - i);
  return result;
}

/* Within 32 lanes. mode: the 16 bits of the offset: FFT, rotation, four lanes
 * by two bits each, or and, or, xor masks. */
static inline int ws_swizzle_source(uint32_t mode, int lane) {
  uint32_t in_half = (uint32_t)lane & 31, mask = mode & 31;
  uint32_t middle = mode >> 5 & 31, from;
  if (mode >= 0xe000) {
    from = ws_reverse_5(in_half) >> __builtin_popcount(mask) | (in_half & mask);
  } else if (mode >= 0xc000) {
    uint32_t turned = mode & 0x400 ? in_half - middle : in_half + middle;
    from = (in_half & mask) | (turned & ~mask & 31);
  } else if (mode & 0x8000) {
    from = (in_half & ~3u) | (mode >> 2 * (in_half & 3) & 3);
  } else {
    from = ((in_half & mask) | middle) ^ (mode >> 10 & 31);
  }
  return (lane & 32) | (int)from;
}

#endif
