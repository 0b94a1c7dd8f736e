/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The bound model: an estimate of a candidate's time on a shape from the facts
 * of its code object and the observations of its sanitizer run. It ranks
 * candidates where there is no card; its provenance is "estimate" wherever a
 * number of it is shown. Formula and constants, each with its source:
 * runtime/eval/bound_model.c and docs/bound-model.md.
 *
 * Threads: everything here is pure and thread-safe.
 */
#ifndef WAVESMITH_BOUND_MODEL_H
#define WAVESMITH_BOUND_MODEL_H

#include "wavesmith/build.h"
#include "wavesmith/target.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WS_PROVENANCE_ESTIMATE "estimate:bound-model-1:MI300X"

/* What limits the estimated time. */
#define WS_BOUND_MAP(X)                                                        \
  X(MFMA, "mfma")                                                              \
  X(LDS, "lds") X(VALU, "valu") X(VMEM, "vmem") X(L2, "l2") X(HBM, "hbm")      \
      X(LATENCY, "latency") X(LAUNCH, "launch")
typedef enum ws_bound {
#define WS_BOUND_ENUM(name, text) WS_BOUND_##name,
  WS_BOUND_MAP(WS_BOUND_ENUM)
#undef WS_BOUND_ENUM
      WS_BOUND_COUNT
} ws_bound;
const char *ws_bound_text(ws_bound bound);

typedef struct ws_estimate {
  double us;
  ws_bound bound;
  /* microseconds that each resource alone would need, summed over launches */
  double us_by_bound[WS_BOUND_COUNT];
  double waves_per_simd; /* of the launch that takes longest */
  double rounds;         /* its workgroups / resident workgroups */
  double tail_idle;      /* share of CU time idle in its last round, 0..1 */
} ws_estimate;

/* The device the estimate is for; MI300X's numbers with sources in model.c. */
typedef struct ws_device_model {
  const char *name;
  int32_t cu_count, xcd_count;
  double clock_ghz;
} ws_device_model;
extern const ws_device_model ws_mi300x;

/* Workgroups per CU that registers, LDS and wave slots allow; 0: none fits. */
int ws_occupancy_workgroups(const ws_kernel_facts *facts, int threads,
                            int lds_bytes);
/* The same for every target, LDS as the facts say; NVIDIA's by the target table
 * (ws_target_workgroups). threads from 1 to 1024. Facts without registers
 * (nothing has assembled the code) do not limit. */
int ws_resident_workgroups(const ws_target *target,
                           const ws_kernel_facts *facts, int threads);

/* Estimates candidate on shape. result must be an ok build with facts and at
 * least the two standard sanitizer runs (ws_standard_runs), from which the
 * per-k-block and per-workgroup work is separated. WS_INPUT when the
 * candidate's constraints do not allow the shape or the facts do not fit. */
ws_status ws_model_estimate(const ws_device_model *device,
                            const ws_problem *problem,
                            const ws_candidate *candidate,
                            const ws_build_result *result,
                            const ws_shape *shape, ws_estimate *out_estimate,
                            ws_diag *diag) WS_MUST_CHECK;

/* The sanitizer runs that every candidate gets, at most WS_STANDARD_RUNS:
 *   0: one tile, k = 256, waves up
 *   1: the same tile less 16 rows and columns (where it has more), k = 128,
 *      waves down
 *   2: a tile and 16 rows and columns more, k = 128, waves up
 * "One tile" is tile_m x tile_n when the template has parameters of these
 * names, else 32 x 32. With split_k, k is 256 and 128 all the same: slices
 * without work are part of the contract. Returns the count. */
enum { WS_STANDARD_RUNS = 3 };
int ws_standard_runs(const ws_candidate *candidate,
                     ws_run out_runs[WS_STANDARD_RUNS]);

#ifdef __cplusplus
}
#endif
#endif
