__device__ static float at(const float *tile, int row, int k) {
  return tile[row * (tile_k + pad) + k];
}
__device__ void multiply(float *sums, const float *a, const float *b, int y, int x) {
  static_assert(tile_k % 16 == 0, "parameters are constants here");
  for (int k = 0; k < tile_k; k++) {
    float left[4], right[4];
#pragma unroll
    for (int i = 0; i < 4; i++) { left[i] = at(a, y + i, k); right[i] = at(b, x + i, k); }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) sums[i * 4 + j] = fmaf(left[i], right[j], sums[i * 4 + j]);
  }
}
