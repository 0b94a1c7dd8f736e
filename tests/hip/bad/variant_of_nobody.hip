// error: :5: variant: there is no function @g 
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
WS_VARIANT(g, "other") __device__ float f(float a) { return a; }
__global__ void gemm(float *c) { c[0] = f(1.0f); }
