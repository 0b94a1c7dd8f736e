/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of targets.
 *
 * Peaks, dense: AMD's data sheets for MI300X and MI355X, NVIDIA's for the H200
 * SXM (f32: that of tf32 for matrix instructions). Bandwidth is that of the
 * memory which a launch with cold caches reads from: MI300X's Infinity Cache
 * (17.2 TB/s, CDNA3 white paper), which a flush leaves filled, else HBM.
 * MI355X's Infinity Cache is taken to be as fast as MI300X's: an assumption,
 * nothing is timed there. LDS: CDNA3 and CDNA4 ISA manuals; CUDA C++
 * Programming Guide, compute capability 9.0 (227 KB of shared memory a block).
 */
#include "wavesmith/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const ws_target gfx942 = {.name = "gfx942",
                                 .card = "MI300X",
                                 .family = WS_FAMILY_AMDGPU,
                                 .device = "hip",
                                 .wave = 64,
                                 .lds_bytes = 64 * 1024,
                                 .cu_count = 304,
                                 .tflops = {163.4,
                                            {[WS_F64] = 163.4,
                                             [WS_F32] = 163.4,
                                             [WS_F16] = 1307.4,
                                             [WS_BF16] = 1307.4,
                                             [WS_E4M3_FNUZ] = 2615,
                                             [WS_E5M2_FNUZ] = 2615,
                                             [WS_I8] = 2615}},
                                 .tb_per_s = 17.2,
                                 .has_host_model = true};
static const ws_target gfx950 = {.name = "gfx950",
                                 .card = "MI355X",
                                 .family = WS_FAMILY_AMDGPU,
                                 .device = "hip",
                                 .wave = 64,
                                 .lds_bytes = 160 * 1024,
                                 .cu_count = 256,
                                 .tflops = {157.3,
                                            {[WS_F64] = 78.6,
                                             [WS_F32] = 157.3,
                                             [WS_F16] = 2516.6,
                                             [WS_BF16] = 2516.6,
                                             [WS_E4M3] = 5033,
                                             [WS_E5M2] = 5033,
                                             [WS_I8] = 5033}},
                                 .tb_per_s = 17.2,
                                 .has_host_model = false};
static const ws_target sm_90a = {.name = "sm_90a",
                                 .card = "H200",
                                 .family = WS_FAMILY_NVPTX,
                                 .device = "cuda",
                                 .wave = 32,
                                 .lds_bytes = 227 * 1024,
                                 .cu_count = 132,
                                 .tflops = {66.9,
                                            {[WS_F64] = 66.9,
                                             [WS_F32] = 494.7,
                                             [WS_F16] = 989.4,
                                             [WS_BF16] = 989.4,
                                             [WS_E4M3] = 1979,
                                             [WS_E5M2] = 1979,
                                             [WS_I8] = 1979}},
                                 .tb_per_s = 4.8,
                                 .has_host_model = false};

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

const char *ws_target_list(void) {
  static _Thread_local char text[256];
  size_t length = 0;
  for (int i = 0; i < TARGETS; i++) {
    const char *before = i == 0 ? "" : i == TARGETS - 1 ? " and " : ", ";
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                               before, targets[i]->name);
    WS_ASSERT(length < sizeof text);
  }
  return text;
}

double ws_target_roofline_us(const ws_target *target, const ws_problem *problem,
                             const ws_shape *shape) {
  const char *usual = ws_problem_default_layout(problem, target->name);
  int layout = usual ? ws_problem_layout_index(problem, usual) : 0;
  ws_type type = problem->given->matrix_type;
  const ws_problem_layout *formats = &problem->layouts[layout];
  type = type == WS_FP8 ? formats->fp8 : type == WS_BF8 ? formats->bf8 : type;
  double tflops = problem->given->matrix ? target->tflops.matrix[type] : 0;
  if (!tflops)
    tflops = target->tflops.vector;
  return fmax(ws_problem_flops(problem, shape) / (tflops * 1e6),
              ws_problem_least_bytes(problem, shape) /
                  (target->tb_per_s * 1e6));
}

static int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

static int smaller(int a, int b) { return a < b ? a : b; }

/* CUDA C++ Programming Guide, technical specifications of compute capability
 * 9.0; granularities as in NVIDIA's occupancy calculator: registers by 256 a
 * warp, warps by 4, shared memory by 128 bytes with 1 KB of the system's own a
 * workgroup. */
int ws_target_workgroups(const ws_target *target, int registers, int threads,
                         int lds_bytes) {
  enum {
    REGISTERS = 65536,
    WARPS = 64,
    WORKGROUPS = 32,
    LDS_BYTES = 228 * 1024,
    OWN_LDS_BYTES = 1024
  };
  if (target->family != WS_FAMILY_NVPTX || registers <= 0 || threads <= 0)
    return 0;
  int warps = round_up(threads, target->wave) / target->wave;
  int held = REGISTERS / round_up(registers * target->wave, 256) / 4 * 4;
  int by_lds = LDS_BYTES / round_up(lds_bytes + OWN_LDS_BYTES, 128);
  return smaller(smaller(smaller(held, WARPS) / warps, by_lds), WORKGROUPS);
}
