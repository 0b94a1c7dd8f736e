// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One wave computes 32x32 with the 32x32x16 MFMA straight from global memory,
// no LDS, operands by 8-byte loads; rows beyond m are clamped. The scales are
// exchanged between lanes by ds_bpermute.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
typedef unsigned char u8;
typedef unsigned short u16;
typedef float f16v __attribute__((ext_vector_type(16)));

DEVICE float from_lane(float value, int lane) {
  int bits = __builtin_bit_cast(int, value);
  return __builtin_bit_cast(float,
                            __builtin_amdgcn_ds_bpermute(lane * 4, bits));
}

DEVICE u16 to_bf16(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(64, 64))) void
gemm(const u8 *a, const u8 *b, const float *as, const float *bs, u16 *c, int m,
     int n, int k) {
  int lane = (int)__builtin_amdgcn_workitem_id_x();
  int row0 = (int)__builtin_amdgcn_workgroup_id_y() * 32;
  int column0 = (int)__builtin_amdgcn_workgroup_id_x() * 32;
  int row = row0 + lane % 32 < m ? row0 + lane % 32 : m - 1;
  int column = column0 + lane % 32 < n ? column0 + lane % 32 : n - 1;
  f16v sum = {0};
  for (int block = 0; block < k / 128; block++) {
    f16v part = {0};
    for (int step = 0; step < 8; step++) {
      long at = block * 128 + step * 16 + lane / 32 * 8;
      long left = *(const long *)(a + (long)row * k + at);
      long right = *(const long *)(b + (long)column * k + at);
      part = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(left, right, part, 0, 0,
                                                        0);
    }
    float scale = as[block * m + row];
    float scale_b = bs[column / 128 * (k / 128) + block];
    for (int r = 0; r < 16; r++) {
      int from = 8 * (r / 4) + 4 * (lane / 32) + r % 4;
      sum[r] += part[r] * from_lane(scale, from) * scale_b;
    }
  }
  for (int r = 0; r < 16; r++) {
    int i = row0 + 8 * (r / 4) + 4 * (lane / 32) + r % 4, j = column0 + lane % 32;
    if (i < m && j < n)
      c[(long)i * n + j] = to_bf16(sum[r]);
  }
}
