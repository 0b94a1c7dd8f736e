/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How the models of intrinsics see their operands and results: values that the
 * lanes left in their frames (ws_site). sanitize_intrinsics.def says which
 * model an intrinsic has.
 */
#ifndef WAVESMITH_PASS_SANITIZE_MODELS_H
#define WAVESMITH_PASS_SANITIZE_MODELS_H

#include "sanitize_internal.h"

#include <string.h>

#define WS_INTRINSIC(name, kind, model)                                        \
  void ws__model_##model(const ws_site *site, uint64_t lanes);
#include "sanitize_intrinsics.def"
#undef WS_INTRINSIC

#define FOR_EACH_LANE(lane, set)                                               \
  for (uint64_t rest_ = (set); rest_; rest_ &= rest_ - 1)                      \
    for (int lane = __builtin_ctzll(rest_), once_ = 1; once_; once_ = 0)

static inline char *ws__frame_of(int lane) {
  const ws_lanes *lanes = &ws__sanitizer.lanes;
  return lanes->lane[lanes->current_wave * WS_WAVE_LANES + lane].frame;
}

/* Up to 8 bytes of an operand, zeros above. */
static inline uint64_t ws__operand(const ws_site *site, int lane, int index,
                                   size_t size) {
  uint64_t value = 0;
  if (!site->offset[index])
    return (uint64_t)site->immediate[index];
  memcpy(&value, ws__frame_of(lane) + site->offset[index], size);
  return value;
}

static inline uint32_t ws__operand_u32(const ws_site *site, int lane,
                                       int index) {
  return (uint32_t)ws__operand(site, lane, index, 4);
}
static inline int32_t ws__operand_i32(const ws_site *site, int lane,
                                      int index) {
  return (int32_t)ws__operand_u32(site, lane, index);
}

static inline void ws__result_u32(int lane, uint32_t value) {
  memcpy(ws__frame_of(lane), &value, sizeof value);
}
static inline void ws__result_u64(int lane, uint64_t value) {
  memcpy(ws__frame_of(lane), &value, sizeof value);
}

#endif
