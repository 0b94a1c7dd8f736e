// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stream-K: every workgroup takes the same number of steps of 128 along k, of
// whatever tiles they are. Who begins a tile owns it: it waits for the partial
// sums of those that go on with it, one flag each. One wave, a tile of 64 x 64
// in four by four MFMA of 16 x 16 x 32, operands from memory to registers.
// workspace: a tile of 64 x 64 floats for each workgroup, then one flag each,
// all zero.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
typedef unsigned char u8;
typedef unsigned short u16;
typedef float floats __attribute__((ext_vector_type(4)));

DEVICE u16 to_bf16(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

DEVICE void step(const u8 *a, const u8 *b, const float *as, const float *bs,
                 int row, int column, int block, int m, int n, int k,
                 floats sum[4][4]) {
  int lane = (int)__builtin_amdgcn_workitem_id_x();
  floats part[4][4] = {};
  for (int at = block * 128 + lane / 16 * 8; at < block * 128 + 128; at += 32) {
    long left[4], right[4];
    for (int i = 0; i < 4; i++)
      left[i] = *(const long *)(a + (long)(row + i * 16 + lane % 16) * k + at);
    for (int j = 0; j < 4; j++)
      right[j] =
          *(const long *)(b + (long)(column + j * 16 + lane % 16) * k + at);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        part[i][j] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(
            left[i], right[j], part[i][j], 0, 0, 0);
  }
  float scale = bs[column / 128 * (k / 128) + block];
  for (int i = 0; i < 4; i++)
    for (int r = 0; r < 4; r++) {
      float both = scale * as[block * m + row + i * 16 + lane / 16 * 4 + r];
      for (int j = 0; j < 4; j++)
        sum[i][j][r] += part[i][j][r] * both;
    }
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(64, 64))) void
gemm(const u8 *a, const u8 *b, const float *as, const float *bs, u16 *c,
     float *workspace, int m, int n, int k, int workgroups) {
  int lane = (int)__builtin_amdgcn_workitem_id_x();
  int me = (int)__builtin_amdgcn_workgroup_id_x();
  int blocks = k / 128, columns = n / 64, all = m / 64 * columns * blocks;
  int each = (all + workgroups - 1) / workgroups;
  int at = me * each, end = at + each < all ? at + each : all;
  unsigned *flags = (unsigned *)(workspace + (long)workgroups * 4096);
  while (at < end) {
    int tile = at / blocks, first = at % blocks;
    int last = tile * blocks + blocks < end ? blocks : end - tile * blocks;
    int row = tile / columns * 64, column = tile % columns * 64;
    floats sum[4][4] = {};
    for (int block = first; block < last; block++)
      step(a, b, as, bs, row, column, block, m, n, k, sum);
    at = tile * blocks + last;
    if (first) { // another's tile
      floats *mine = (floats *)(workspace + (long)me * 4096);
      for (int i = 0; i < 16; i++)
        mine[i * 64 + lane] = sum[i / 4][i % 4];
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
      if (lane == 0)
        __hip_atomic_store(flags + me, 1u, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
      continue;
    }
    int done = last;
    for (int peer = me + 1; done < blocks; peer++) {
      while (!__hip_atomic_load(flags + peer, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_AGENT))
        __builtin_amdgcn_s_sleep(1);
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
      const floats *theirs =
          (const floats *)(workspace + (long)peer * 4096);
      for (int i = 0; i < 16; i++)
        sum[i / 4][i % 4] += theirs[i * 64 + lane];
      done += each;
    }
    for (int i = 0; i < 4; i++)
      for (int r = 0; r < 4; r++)
        for (int j = 0; j < 4; j++)
          c[(long)(row + i * 16 + lane / 16 * 4 + r) * n + column + j * 16 +
            lane % 16] = to_bf16(sum[i][j][r]);
  }
}

// One thread a flag, before gemm.
GLOBAL void clear(float *workspace, int workgroups) {
  int i = (int)(__builtin_amdgcn_workgroup_id_x() * 64 +
                __builtin_amdgcn_workitem_id_x());
  if (i < workgroups)
    workspace[(long)workgroups * 4096 + i] = 0;
}
