// error: :5: __device__ variable 'calls' keeps its value
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__device__ int calls = 1;
__global__ void gemm(float *c) { c[0] = calls++; }
