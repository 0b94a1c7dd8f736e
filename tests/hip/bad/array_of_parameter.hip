// error: :7: variable length arrays.*WS_MOST(tile)
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
WS_PARAM(tile, 4, "4 8", "rows")
__global__ void gemm(float *c) {
  float sums[tile];
  for (int i = 0; i < tile; i++) sums[i] = c[i];
  c[0] = sums[1]; }
