// error: :6: dynamic LDS 'tile' has no size
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = c[threadIdx.x];
  c[0] = tile[1]; }
