// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64x64 tiles, four waves, 16x16x32 MFMA, LDS with rows of 128 + 4 bytes (so
// 4-byte aligned 16-byte accesses), split over k by the grid's z: each part is
// added to an fp32 sum by atomics, and whoever comes last writes bf16.
// workspace: m * n floats, then one counter per tile, all zero.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
typedef unsigned char u8;
typedef unsigned short u16;
typedef float f4v __attribute__((ext_vector_type(4)));
typedef int i4v __attribute__((ext_vector_type(4), aligned(4)));
enum { TILE = 64, DEPTH = 128, PITCH = DEPTH + 4 };

DEVICE u16 to_bf16(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

DEVICE void load_tile(u8 *tile, const u8 *from, int first, int rows, int k,
                      int at, int thread) {
  for (int chunk = thread; chunk < TILE * DEPTH / 16; chunk += 256) {
    int row = chunk / 8, byte = chunk % 8 * 16;
    int source = first + row < rows ? first + row : rows - 1;
    i4v data = *(const i4v *)(from + (long)source * k + at + byte);
    *(i4v *)(tile + row * PITCH + byte) = data;
  }
}

DEVICE long read8(const u8 *at) {
  unsigned low = *(const unsigned *)at, high = *(const unsigned *)(at + 4);
  return (long)((unsigned long)high << 32 | low);
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void
gemm(const u8 *a, const u8 *b, const float *as, const float *bs, u16 *c,
     float *workspace, int m, int n, int k, int parts) {
  SHARED u8 left[TILE * PITCH], right[TILE * PITCH];
  SHARED unsigned arrival;
  int thread = (int)__builtin_amdgcn_workitem_id_x(), lane = thread % 64;
  int wave = thread / 64;
  int row0 = (int)__builtin_amdgcn_workgroup_id_y() * TILE;
  int column0 = (int)__builtin_amdgcn_workgroup_id_x() * TILE;
  int part = (int)__builtin_amdgcn_workgroup_id_z();
  f4v sum[4] = {};
  for (int block = part; block < k / 128; block += parts) {
    load_tile(left, a, row0, m, k, block * 128, thread);
    load_tile(right, b, column0, n, k, block * 128, thread);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    f4v tile[4] = {};
    for (int step = 0; step < 4; step++) {
      int byte = step * 32 + lane / 16 * 8;
      long x = read8(left + (wave * 16 + lane % 16) * PITCH + byte);
#pragma unroll
      for (int t = 0; t < 4; t++)
        tile[t] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(
            x, read8(right + (t * 16 + lane % 16) * PITCH + byte), tile[t], 0,
            0, 0);
    }
#pragma unroll
    for (int t = 0; t < 4; t++)
#pragma unroll
      for (int r = 0; r < 4; r++) {
        int i = row0 + wave * 16 + lane / 16 * 4 + r;
        int j = column0 + t * 16 + lane % 16;
        sum[t][r] += tile[t][r] * as[block * m + (i < m ? i : m - 1)] *
                     bs[(j < n ? j : n - 1) / 128 * (k / 128) + block];
      }
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
  }
#pragma unroll
  for (int t = 0; t < 4; t++)
#pragma unroll
    for (int r = 0; r < 4; r++) {
      int i = row0 + wave * 16 + lane / 16 * 4 + r;
      int j = column0 + t * 16 + lane % 16;
      if (i < m && j < n)
        __hip_atomic_fetch_add(workspace + (long)i * n + j, sum[t][r],
                               __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_barrier();
  unsigned *counter = (unsigned *)(workspace + (long)m * n) +
                      __builtin_amdgcn_workgroup_id_y() * ((n + TILE - 1) / TILE) +
                      __builtin_amdgcn_workgroup_id_x();
  if (thread == 0)
    arrival = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL,
                                     __HIP_MEMORY_SCOPE_AGENT);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  if (arrival != (unsigned)parts - 1)
    return;
  for (int at = thread; at < TILE * TILE; at += 256) {
    int i = row0 + at / TILE, j = column0 + at % TILE;
    if (i < m && j < n)
      c[(long)i * n + j] = to_bf16(__hip_atomic_load(
          workspace + (long)i * n + j, __ATOMIC_RELAXED,
          __HIP_MEMORY_SCOPE_AGENT));
  }
}
