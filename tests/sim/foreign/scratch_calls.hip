// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One output per thread, the slow way: a table of decoded bytes in scratch,
// indexed at run time, and a real call per block of k. Exercises the private
// segment, s_swappc and the stack.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
typedef unsigned char u8;
typedef unsigned short u16;

DEVICE float decode(u8 byte) { return __builtin_amdgcn_cvt_f32_fp8(byte, 0); }

DEVICE __attribute__((noinline)) float dot_block(const u8 *a, const u8 *b) {
  float table[64];
  for (int i = 0; i < 64; i++)
    table[(i * 29 + 7) & 63] = decode(a[i]);
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < 64; i++)
    sum += table[(i * 29 + 7) & 63] * decode(b[i]);
  return sum;
}

DEVICE u16 to_bf16(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void
gemm(const u8 *a, const u8 *b, const float *as, const float *bs, u16 *c, int m,
     int n, int k) {
  int column = (int)(__builtin_amdgcn_workgroup_id_x() * 16 +
                     __builtin_amdgcn_workitem_id_x() % 16);
  int row = (int)(__builtin_amdgcn_workgroup_id_y() * 16 +
                  __builtin_amdgcn_workitem_id_x() / 16);
  float sum = 0;
  for (int block = 0; block < k / 128; block++) {
    const u8 *left = a + (long)row * k + block * 128;
    const u8 *right = b + (long)column * k + block * 128;
    float part = dot_block(left, right) + dot_block(left + 64, right + 64);
    sum += part * as[block * m + row] * bs[column / 128 * (k / 128) + block];
  }
  c[(long)row * n + column] = to_bf16(sum);
}
