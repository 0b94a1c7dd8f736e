/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of targets.
 *
 * Peaks: AMD's data sheets for MI300X (2615 TFLOP/s dense fp8) and MI355X
 * (5033), NVIDIA's for the H200 SXM (1979). Bandwidth is that of the memory
 * which a launch with cold caches reads from: MI300X's Infinity Cache (17.2
 * TB/s, CDNA3 white paper), which a flush leaves filled, else HBM. LDS: CDNA3
 * and CDNA4 ISA manuals; CUDA C++ Programming Guide, compute capability 9.0
 * (227 KB of shared memory a block).
 */
#include "wavesmith/target.h"

#include <math.h>
#include <string.h>

static const ws_target gfx942 = {.name = "gfx942",
                                 .card = "MI300X",
                                 .family = WS_FAMILY_AMDGPU,
                                 .device = "hip",
                                 .wave = 64,
                                 .lds_bytes = 64 * 1024,
                                 .cu_count = 304,
                                 .fp8_tflops = 2615,
                                 .tb_per_s = 17.2,
                                 .has_host_model = true,
                                 .layouts = "kmajor mnmajor"};
static const ws_target gfx950 = {.name = "gfx950",
                                 .card = "MI355X",
                                 .family = WS_FAMILY_AMDGPU,
                                 .device = "hip",
                                 .wave = 64,
                                 .lds_bytes = 160 * 1024,
                                 .cu_count = 256,
                                 .fp8_tflops = 5033,
                                 .tb_per_s = 17.2,
                                 .has_host_model = true,
                                 .layouts = "kmajor-ocp"};
static const ws_target sm_90a = {.name = "sm_90a",
                                 .card = "H200",
                                 .family = WS_FAMILY_NVPTX,
                                 .device = "cuda",
                                 .wave = 32,
                                 .lds_bytes = 227 * 1024,
                                 .cu_count = 132,
                                 .fp8_tflops = 1979,
                                 .tb_per_s = 4.8,
                                 .has_host_model = false,
                                 .layouts = "kmajor-ocp"};

static const ws_target *const targets[] = {&gfx942, &gfx950, &sm_90a};
enum { TARGETS = sizeof targets / sizeof targets[0] };

const ws_target *const *ws_targets(int *out_count) {
  *out_count = TARGETS;
  return targets;
}

const ws_target *ws_target_find(const char *name) {
  for (int i = 0; i < TARGETS; i++)
    if (!strcmp(targets[i]->name, name))
      return targets[i];
  return NULL;
}

const char *ws_target_list(void) { return "gfx942, gfx950 and sm_90a"; }

double ws_target_roofline_us(const ws_target *target, const ws_problem *problem,
                             const ws_shape *shape) {
  return fmax(problem->flops(shape) / (target->fp8_tflops * 1e6),
              problem->min_bytes(shape) / (target->tb_per_s * 1e6));
}
