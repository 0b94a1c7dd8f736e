// error: :5: the address of a buffer as a number
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) { c[0] = (float)(unsigned long)c; }
