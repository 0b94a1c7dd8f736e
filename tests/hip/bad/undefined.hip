// error: :6: helper: it is declared and nowhere defined
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__device__ float helper(int);
__global__ void gemm(float *c) { c[0] = helper(1); }
