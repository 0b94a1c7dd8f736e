// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split over k in two, and the half that is launched first waits in a loop for
// the other's partial sums (as stream-K kernels do). One thread per output
// column, 16 rows by v_dot4-free plain arithmetic.
// workspace: m * n floats, then one flag per tile, all zero.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
typedef unsigned char u8;
typedef unsigned short u16;

DEVICE u16 to_bf16(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

DEVICE float dot4(unsigned x, unsigned y) {
  return __builtin_amdgcn_cvt_f32_fp8(x, 0) * __builtin_amdgcn_cvt_f32_fp8(y, 0) +
         __builtin_amdgcn_cvt_f32_fp8(x, 1) * __builtin_amdgcn_cvt_f32_fp8(y, 1) +
         __builtin_amdgcn_cvt_f32_fp8(x, 2) * __builtin_amdgcn_cvt_f32_fp8(y, 2) +
         __builtin_amdgcn_cvt_f32_fp8(x, 3) * __builtin_amdgcn_cvt_f32_fp8(y, 3);
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void
gemm(const u8 *a, const u8 *b, const float *as, const float *bs, u16 *c,
     float *workspace, int m, int n, int k) {
  int thread = (int)__builtin_amdgcn_workitem_id_x();
  int part = (int)__builtin_amdgcn_workgroup_id_z();
  int i = (int)__builtin_amdgcn_workgroup_id_y() * 16 + thread / 16;
  int j = (int)__builtin_amdgcn_workgroup_id_x() * 16 + thread % 16;
  float sum = 0;
  for (int block = part; block < k / 128; block += 2) {
    const unsigned *left = (const unsigned *)(a + (long)i * k + block * 128);
    const unsigned *right = (const unsigned *)(b + (long)j * k + block * 128);
    float tile = 0;
    for (int word = 0; word < 32; word++)
      tile += dot4(left[word], right[word]);
    sum += tile * as[block * m + i] * bs[j / 128 * (k / 128) + block];
  }
  unsigned *flag = (unsigned *)(workspace + (long)m * n) +
                   __builtin_amdgcn_workgroup_id_y() * (n / 16) +
                   __builtin_amdgcn_workgroup_id_x();
  if (part == 1) {
    workspace[(long)i * n + j] = sum;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __builtin_amdgcn_s_barrier();
    if (thread == 0)
      __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    return;
  }
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
    __builtin_amdgcn_s_sleep(1);
  c[(long)i * n + j] = to_bf16(sum + workspace[(long)i * n + j]);
}
