/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A learned correction of simulated times, part of a card's profile
 * (docs/compare.md): what is given is the cycle model's time, multiplied by
 * exp(offset + sum of weight x (feature - mean) / scale), which is held to 0.5
 * to 2. No built-in card has one.
 */
#ifndef WAVESMITH_SIM_CORRECTION_H
#define WAVESMITH_SIM_CORRECTION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of a launch that an error may follow: name, expression of its
 * ws_sim_profile p. Shares are 0 to 1. */
/* clang-format off */
#define WS_SIM_FEATURE_MAP(X)                                                  \
  X("matrix pipe busy", p->mfma_busy)                                          \
  X("VALU busy", p->valu_busy)                                                 \
  X("LDS busy", p->lds_busy)                                                   \
  X("VMEM unit busy", p->vmem_busy)                                            \
  X("LDS conflicts", p->lds_conflict)                                          \
  X("L1 hits", p->l1_hit)                                                      \
  X("L2 hits", p->l2_hit)                                                      \
  X("Infinity Cache hits", p->mall_hit)                                        \
  X("waves per SIMD", p->waves_per_simd)                                       \
  X("ln rounds of workgroups", log(fmax(p->waves_of_grid, 1e-9)))              \
  X("ln time", log(fmax(p->us_uncorrected, 1e-9)))                             \
  X("waits for vector memory", p->stalls[WS_SIM_STALL_vmem])                   \
  X("waits for LDS", p->stalls[WS_SIM_STALL_lds])                              \
  X("waits at barriers", p->stalls[WS_SIM_STALL_barrier])
/* clang-format on */
enum {
#define WS_SIM_FEATURE_ONE(name, value) +1
  WS_SIM_FEATURES = 0 WS_SIM_FEATURE_MAP(WS_SIM_FEATURE_ONE)
#undef WS_SIM_FEATURE_ONE
};
extern const char *const ws_sim_feature_names[WS_SIM_FEATURES];

typedef struct ws_sim_correction {
  bool is_there; /* false: times stay as they are */
  double offset;
  double mean[WS_SIM_FEATURES], scale[WS_SIM_FEATURES]; /* scale above 0 */
  double weight[WS_SIM_FEATURES];
} ws_sim_correction;

double ws_sim_correction_factor(const ws_sim_correction *correction,
                                const double features[WS_SIM_FEATURES]);
/* As in a profile's file: {"offset", "features": {NAME: {"mean", "scale",
 * "weight"}}}. Free with cJSON_Delete. */
struct cJSON;
struct cJSON *ws_sim_correction_to_json(const ws_sim_correction *correction);

#ifdef __cplusplus
}
#endif
#endif
