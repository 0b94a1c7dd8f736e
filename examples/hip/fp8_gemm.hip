// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8_gemm_blockscale as somebody would write it in HIP: a workgroup makes
// tile_m x tile_n of C, one thread 4 x 4 of it, and A and B go through LDS in
// steps of tile_k. It builds with hipcc as it stands; `wavesmith import
// fp8_gemm.hip -o fp8_gemm.ll` makes a template of it (docs/hip.md).
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>

WS_TEMPLATE(fp8_gemm_hip, "1", fp8_gemm_blockscale,
            "tiles in LDS, 4 x 4 outputs per thread, no matrix instructions")
WS_PARAM(tile_m, 64, "32 64 128", "rows of C per workgroup")
WS_PARAM(tile_n, 64, "32 64 128", "columns of C per workgroup")
WS_PARAM(tile_k, 32, "16 32 64 128", "depth of the tiles in LDS")
WS_PARAM(pad, 1, "0 1 2", "unused floats behind each row of a tile in LDS")
WS_REQUIRE(4 * (tile_m + tile_n) * (tile_k + pad) <= 65536,
           "a workgroup has 64 KiB of LDS")
WS_REQUIRE(tile_m * tile_n / 16 >= 64, "a workgroup is whole waves")
WS_LAUNCH(fp8_gemm_hip, ceildiv(n, tile_n), ceildiv(m, tile_m), 1,
          tile_m *tile_n / 16, 1)

typedef __hip_fp8_e4m3_fnuz fp8;

WS_REGION("Copies rows x tile_k values of `from`, decoded to fp32, into LDS: "
          "row r of the tile to to[r * (tile_k + pad)]. `from` is row 0 of the "
          "tile at its first k, rows are `step` bytes apart, those from "
          "`inside` on are not there and become 0. All threads call it; the "
          "caller puts barriers before and behind.")
__device__ void stage(float *to, const fp8 *from, int rows, int inside,
                      int step) {
  for (int i = threadIdx.x; i < rows * tile_k; i += blockDim.x) {
    int row = i / tile_k, column = i % tile_k;
    float value = 0.0f;
    if (row < inside)
      value = from[row * step + column];
    to[row * (tile_k + pad) + column] = value;
  }
}

WS_REGION("Adds to sums[i * 4 + j] the product of row y + i of a and row x + j "
          "of b over the tile_k values of a step. a and b are tiles in LDS as "
          "stage made them. No barrier.")
__device__ void multiply(float *sums, const float *a, const float *b, int y,
                         int x) {
  for (int k = 0; k < tile_k; k++)
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        sums[i * 4 + j] += a[(y + i) * (tile_k + pad) + k] *
                           b[(x + j) * (tile_k + pad) + k];
}

__global__ void fp8_gemm_hip(const fp8 *__restrict__ a,
                             const fp8 *__restrict__ b,
                             const float *__restrict__ as,
                             const float *__restrict__ bs,
                             __hip_bfloat16 *__restrict__ c, int m, int n,
                             int k, int as_stride_m, int as_stride_k,
                             int bs_stride_n, int bs_stride_k) {
  WS_SHARED(float, tile_a, tile_m * (tile_k + pad));
  WS_SHARED(float, tile_b, tile_n * (tile_k + pad));
  int row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
  int y = threadIdx.x / (tile_n / 4) * 4, x = threadIdx.x % (tile_n / 4) * 4;
  float total[16];
#pragma unroll
  for (int i = 0; i < 16; i++)
    total[i] = 0.0f;

  for (int block = 0; block < k / 128; block++) {
    float sums[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
      sums[i] = 0.0f;
    for (int at = block * 128; at < block * 128 + 128; at += tile_k) {
      stage(tile_a, a + (size_t)row * k + at, tile_m, m - row, k);
      stage(tile_b, b + (size_t)column * k + at, tile_n, n - column, k);
      __syncthreads(); // the tiles are there
      multiply(sums, tile_a, tile_b, y, x);
      __syncthreads(); // nobody reads them any more
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (row + y + i < m && column + x + j < n)
          total[i * 4 + j] +=
              sums[i * 4 + j] *
              as[(row + y + i) * as_stride_m + block * as_stride_k] *
              bs[(column + x + j) / 128 * bs_stride_n + block * bs_stride_k];
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (row + y + i < m && column + x + j < n)
        c[(size_t)(row + y + i) * n + column + x + j] =
            __float2bfloat16(total[i * 4 + j]);
}
