// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenCL C with what a GEMM has no use for: LDS atomics, work-group size from
// hidden arguments, divergent loops, half and double arithmetic, a switch.
kernel void histogram(global const uchar *data, uint size, global uint *counts,
                      local uint *bins) {
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < size; i += get_global_size(0))
    atomic_inc(&bins[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    if (bins[i])
      atomic_add(&counts[i], bins[i]);
}

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void mixed(global const float *in, global double *out, uint size) {
  uint i = get_global_id(0);
  if (i >= size)
    return;
  half h = (half)in[i];
  double d = (double)h;
  uint steps = 0;
  for (uint v = i + 1; v != 1 && steps < 1000; steps++)
    v = v & 1 ? 3 * v + 1 : v >> 1;
  switch (i % 5) {
  case 0:
    d = d * 3.0 + steps;
    break;
  case 1:
    d = (double)(h * (half)2.0f) - steps;
    break;
  case 2:
    d = d / (1.0 + steps);
    break;
  case 3:
    d = sqrt((double)steps);
    break;
  default:
    d = (double)(mul_hi(i * 0x9e3779b9u, steps + 77u));
    break;
  }
  out[i] = d;
}
