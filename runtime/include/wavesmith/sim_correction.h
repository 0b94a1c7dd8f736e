/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A learned correction of simulated times, part of a card's profile
 * (docs/compare.md). It knows launches whose times were measured beside those
 * of others that do the same work: by how much each took longer, against their
 * mean, than was simulated. A launch is corrected as those like it: the cycle
 * model's time is multiplied by
 *   exp(sum of K ln_ratio / (sum of K + doubt)), held to 0.5 to 2, with
 *   K = weight exp(-d^2 / (2 reach^2)),
 *   d^2 = mean over features of ((its - the row's) / scale)^2
 * (kernel regression of Nadaraya and Watson, 1964, with a factor of 1 that
 * weighs `doubt`). So what is like none of them is left alone. No built-in card
 * has one.
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

typedef struct ws_sim_correction_row {
  double weight; /* above 0 */
  double ln_ratio;
  double features[WS_SIM_FEATURES];
} ws_sim_correction_row;

typedef struct ws_sim_correction {
  const ws_sim_correction_row *rows;
  int count;                     /* 0: times stay as they are */
  double reach, doubt;           /* above 0 */
  double scale[WS_SIM_FEATURES]; /* above 0 */
  const char *source;            /* a sentence, "" */
} ws_sim_correction;

/* d^2 */
double ws_sim_correction_distance(const double scale[WS_SIM_FEATURES],
                                  const double a[WS_SIM_FEATURES],
                                  const double b[WS_SIM_FEATURES]);
/* sum / (weight + doubt), held to ln 0.5 to ln 2 */
double ws_sim_correction_ln(double sum, double weight, double doubt);
double ws_sim_correction_factor(const ws_sim_correction *correction,
                                const double features[WS_SIM_FEATURES]);
/* As in a profile's file: {"model", "source", "reach", "doubt",
 * "features": [NAMES], "scale": [NUMBERS], "rows": [[weight, ln_ratio,
 * FEATURES], ...]}, numbers to five digits. Free with cJSON_Delete. */
struct cJSON;
struct cJSON *ws_sim_correction_to_json(const ws_sim_correction *correction);

#ifdef __cplusplus
}
#endif
#endif
