// error: :5: @f is called again before it returns
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__device__ int f(int a) { return a < 2 ? a : f(a - 1) + f(a - 2); }
__global__ void gemm(float *c, int m) { c[0] = f(m); }
