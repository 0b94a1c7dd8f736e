// error: :6: __device__ variable 'calls' keeps its value
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) {
  static int calls = 1;
  c[0] = calls++; }
