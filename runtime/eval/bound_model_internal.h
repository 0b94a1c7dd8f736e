/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the files of the bound model share: the constants, the work of one
 * workgroup, and the traffic of one launch. See docs/bound-model.md.
 */
#ifndef WAVESMITH_MODEL_INTERNAL_H
#define WAVESMITH_MODEL_INTERNAL_H

#include "wavesmith/bound_model.h"

/* Clocks are engine clocks. Values and sources: model_constants.c. */
typedef struct ws__model_constants {
  /* compute unit */
  double simds, max_waves_per_simd, max_waves_per_workgroup;
  double vgpr_file, vgpr_granule, sgpr_file, sgpr_granule;
  double lds_bytes, lds_granule;
  /* issue */
  double issue_clocks, trans_clocks;
  double mfma_16x16x32_clocks, mfma_32x32x16_clocks, mfma_other_clocks;
  /* LDS */
  double lds_port_bytes, lds_ports, lds_write_address_clocks, lds_latency;
  double barrier_clocks;
  /* memory */
  double l1_bytes, l1_bytes_per_clock, line_bytes;
  double l2_bytes_per_clock, load_latency;
  double mall_bytes, mall_tb_per_s, hbm_tb_per_s;
  /* the engine clock at the sustained share of the peak MFMA rate */
  double mfma_flops_per_clock, loaded_clock_ghz, loaded_share;
  /* launch */
  double workgroup_dispatch_clocks, wave_dispatch_clocks;
  double workgroup_start_clocks;
  double first_launch_us, next_launch_us;
  /* how sharply the slowest of several overlapping limits decides */
  double overlap_exponent;
} ws__model_constants;
extern const ws__model_constants ws__model;

/* Work of one workgroup, all its waves together unless said otherwise. */
typedef struct ws__work {
  double mfma_clocks; /* matrix pipe */
  double mfma_ops;
  double valu_clocks;      /* VALU slot, without MFMA */
  double issue_clocks;     /* one visit per instruction of any class but MFMA */
  double lds_clocks;       /* the CU's LDS, the slower of array and ports */
  double lds_write_clocks; /* the part of it that writes */
  double vmem_clocks;      /* the CU's L1 */
  double load_lines;       /* lines asked for, before the L1 */
  double store_bytes;
  double barriers; /* of one wave */
  double steps;    /* rounds of the load-compute loop */
} ws__work;

/* The dimension that a workgroup works along by itself: the problem's depth, or
 * the last that no grid names. dim -1: there is none. */
typedef struct ws__depth {
  int dim;
  int64_t block; /* that run 0 and run 1 differ by */
  bool declared; /* by the problem */
} ws__depth;
ws__depth ws__model_depth(const ws_problem *problem,
                          const ws_candidate *candidate);
/* Product of the extents of all other dimensions. */
double ws__model_area(const ws__depth *depth, const ws_shape *shape);

/* One launch of a candidate, taken apart. */
typedef struct ws__launch_work {
  const ws_kernel_facts *facts;
  bool follows_depth;    /* loops over it: total = once + blocks * block */
  ws__work once, block;  /* per workgroup; block: per block of the depth */
  double slices;         /* workgroups that share one tile's depth */
  double load_share;     /* of run 0's loads that one block has */
  double hidden_clocks;  /* of a load's latency, behind the wave's own MFMA */
  double run_workgroups; /* in run 0 */
  double run_area;       /* product of the other extents of run 0 */
  ws__depth depth;
} ws__launch_work;

/* Separates the work of a launch from run 0 (two blocks of the depth) and run 1
 * (one). WS_INPUT when the result lacks runs or facts of this kernel. */
ws_status ws__model_take_apart(const ws_problem *problem,
                               const ws_candidate *candidate,
                               const ws_build_result *result, int launch,
                               int threads, ws__launch_work *out,
                               ws_diag *diag);

/* How one launch spreads over the device for a shape. */
typedef struct ws__spread {
  double workgroups, waves;  /* of the grid; per workgroup */
  double work_scale;         /* work of a workgroup, relative to run 0's */
  double blocks;             /* of depth, that the busiest workgroup works on */
  double capacity, resident; /* workgroups per CU: possible, present */
  double queue;              /* workgroups that the busiest CU gets */
} ws__spread;

/* Bytes that one launch moves on the whole device. */
typedef struct ws__traffic {
  double l2_bytes;   /* between L1 and L2 */
  double mall_bytes; /* between L2 and the Infinity Cache */
} ws__traffic;
ws__traffic ws__model_traffic(const ws_device_model *device,
                              const ws_problem *problem,
                              const ws_candidate *candidate,
                              const ws__launch_work *work,
                              const ws__spread *spread, const ws_shape *shape);

/* The parameter tile_NAME of a dimension; of the depth. */
int64_t ws__model_tile_of(const ws_candidate *candidate, const ws_dims *dims,
                          int dim, int64_t otherwise);
int64_t ws__model_tile(const ws_candidate *candidate, const ws__depth *depth,
                       int64_t otherwise);
/* Value of a parameter, or otherwise when the template has none of the name. */
int64_t ws__model_parameter(const ws_candidate *candidate, const char *name,
                            int64_t otherwise);

#endif
