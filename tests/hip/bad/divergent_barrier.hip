// error: :6: barrier under the branch of line 6
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) {
  if (threadIdx.x < 3) __syncthreads();
  c[0] = 1; }
