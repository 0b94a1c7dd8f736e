// error: :6: there are two functions f
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
WS_REGION("one") __device__ float f(float a) { return a; }
WS_REGION("two") __device__ float f(int a) { return a; }
__global__ void gemm(float *c) { c[0] = f(1.0f) + f(1); }
