/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * All numbers of the bound model, each with its source. "timing N" is section
 * N of the project's MI300X cycle facts (research page mi300_timing.md), the
 * key in brackets is the source named there; "problem N" is problem.md.
 * docs/bound-model.md repeats this table with what each number means.
 */
#include "bound_model_internal.h"

const ws_device_model ws_mi300x = {
    .name = "MI300X",
    .cu_count = 304,  /* timing 1 [MT4G, SHARK, VCOPY]: 8 x 38 */
    .xcd_count = 8,   /* timing 1 */
    .clock_ghz = 2.1, /* problem 4.1; timing 10: short kernels */
};

const ws__model_constants ws__model = {
    .simds = 4,                    /* timing 1 [MT4G, SHARK] */
    .max_waves_per_simd = 8,       /* timing 1 [VCOPY, RPC] */
    .max_waves_per_workgroup = 16, /* timing 1 [VCOPY, RPC] */
    .vgpr_file = 512,              /* timing 1 [LLVM] */
    .vgpr_granule = 8,             /* timing 1 [LLVM] */
    .sgpr_file = 800,              /* timing 1 [LLVM] */
    .sgpr_granule = 16,            /* timing 1 [LLVM] */
    .lds_bytes = 65536,            /* timing 1 [LLVM] */
    .lds_granule = 512,            /* timing 1 [LLVM] */

    .issue_clocks = 4,          /* timing 2 [RPC]: a SIMD every 4 clocks */
    .trans_clocks = 16,         /* timing 3 [LLVM] */
    .mfma_16x16x32_clocks = 16, /* timing 4 [CALC, LLVM] */
    .mfma_32x32x16_clocks = 32, /* timing 4 [CALC, LLVM] */
    .mfma_other_clocks = 32,    /* timing 4: as the 8-pass ones */

    .lds_port_bytes = 64,          /* timing 6 [RPC]: per clock and direction */
    .lds_ports = 2,                /* timing 6 [RPC]: one per pair of SIMDs */
    .lds_write_address_clocks = 4, /* timing 6 [RPC] */
    .lds_latency = 52,             /* timing 6 [MT4G] */
    .barrier_clocks = 16,          /* timing 3: proposal 8-16, not published */

    .l1_bytes = 32768,          /* timing 7 [MT4G, SHARK] */
    .l1_bytes_per_clock = 64,   /* timing 7 [BEN]: 61 measured, 64 by design */
    .line_bytes = 128,          /* timing 7 [MT4G] */
    .l2_bytes_per_clock = 1640, /* timing 7, 10 [BEN]: per XCD */
    .load_latency = 455,        /* timing 10 [BEN]: L2 miss, MALL hit */
    .mall_bytes = 268435456,    /* timing 7 [FP8MM]: 256 MB */
    .mall_tb_per_s = 10,        /* timing 10 [BEN]: 8-11 */
    .hbm_tb_per_s = 4.1,        /* timing 10 [BEN, FP8MM] */

    .mfma_flops_per_clock = 4096, /* problem 4.1: dense fp8, per CU */
    .loaded_clock_ghz = 1.23,     /* problem 4.1 [MAF]: median under fp8 load */
    .loaded_share = 0.83, /* problem 4.1 [MAF]: 1273 of 4096 x 304 x 1.23e9 */

    .workgroup_dispatch_clocks = 8, /* timing 9 [GT]: per XCD */
    .wave_dispatch_clocks = 1,      /* timing 9 [GT] */
    .workgroup_start_clocks = 400,  /* timing 9: ifetch, kernarg 200-400 */
    .first_launch_us = 2.5,         /* problem 4.1, timing 9 [FP8MM]: floor */
    .next_launch_us = 1,            /* timing 9: back-to-back gap */

    .overlap_exponent = 4, /* assumed: two equal limits cost 19 % more */
};
