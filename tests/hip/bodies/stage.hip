__device__ void stage(float *to, const __hip_fp8_e4m3_fnuz *from, int rows, int inside, int step) {
  for (int i = threadIdx.x; i < rows * tile_k; i += blockDim.x) {
    int row = i / tile_k, column = i % tile_k;
    to[row * (tile_k + pad) + column] = row < inside ? (float)from[row * step + column] : 0.0f;
  }
}
