// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gemm_bf16 as a model would answer it in OpenCL C: a workgroup makes 32 rows
// of C, each of its waves 32 columns, by MFMA out of tiles in LDS. `wavesmith
// import gemm_bf16.cl -o gemm_bf16.ll` makes a template of it (docs/hip.md).
WS_TEMPLATE(gemm_lds_cl, "1", gemm_bf16, "tiles in LDS, 32x32x8 MFMA")
WS_PARAM(waves, 2, "1 2 4", "waves of a workgroup: 32 columns of C each")
WS_PARAM(depth, 32, "16 32 64", "k of a tile in LDS")
WS_PARAM(pad, 4, "0 4 8", "unused elements behind a row in LDS")
WS_REQUIRE(2 * (32 + 32 * waves) * (depth + pad) <= 65536, "64 KiB of LDS")
WS_LAUNCH(gemm_lds, ceildiv(n, 32 * waves), ceildiv(m, 32), 1, 64 * waves, 1)

typedef short four __attribute__((ext_vector_type(4)));

WS_REGION("Copies rows x depth elements of `from`, whose rows are k apart, into "
          "LDS, rows depth + pad apart; rows from `inside` on and elements from "
          "`left` on become 0. All threads call it; barriers are the caller's.")
void stage(local ushort *to, global const ushort *from, int rows, int inside,
           int left, int k) {
  int lanes = 64 * waves;
  for (int i = __builtin_amdgcn_workitem_id_x(); i < rows * depth; i += lanes) {
    int row = i / depth, column = i % depth;
    ushort value = 0;
    if (row < inside && column < left)
      value = from[(long)row * k + column];
    to[row * (depth + pad) + column] = value;
  }
}

WS_REGION("Adds a product of 32 x 32 over 8 k to sum: a and b point at the 4 k "
          "that this lane brings, of row lane % 32, from k 4 * (lane / 32) on.")
float16 multiply(local const ushort *a, local const ushort *b, float16 sum) {
  four x = {a[0], a[1], a[2], a[3]}, y = {b[0], b[1], b[2], b[3]};
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x, y, sum, 0, 0, 0);
}

void meet(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

kernel void gemm_lds(global const ushort *restrict a,
                     global const ushort *restrict b,
                     global __bf16 *restrict c, int m, int n, int k) {
  WS_SHARED(ushort, tile_a, 32 * (depth + pad));
  WS_SHARED(ushort, tile_b, 32 * waves * (depth + pad));
  int thread = __builtin_amdgcn_workitem_id_x();
  int lane = thread % 64, wave = thread / 64;
  int row = __builtin_amdgcn_workgroup_id_y() * 32;
  int column = __builtin_amdgcn_workgroup_id_x() * 32 * waves;
  float16 sum = 0;
  for (int at = 0; at < k; at += depth) {
    stage(tile_a, a + (long)row * k + at, 32, m - row, k - at, k);
    stage(tile_b, b + (long)column * k + at, 32 * waves, n - column, k - at, k);
    meet(); // the tiles are there
    for (int i = 0; i < depth; i += 8) {
      int from = i + lane / 32 * 4;
      sum = multiply(tile_a + (lane % 32) * (depth + pad) + from,
                     tile_b + (32 * wave + lane % 32) * (depth + pad) + from,
                     sum);
    }
    meet(); // nobody reads them any more
  }
#pragma unroll
  for (int i = 0; i < 16; i++) {
    int y = row + i / 4 * 8 + lane / 32 * 4 + i % 4;
    int x = column + 32 * wave + lane % 32;
    if (y < m && x < n)
      c[(long)y * n + x] = (__bf16)sum[i];
  }
}
