// error: :5: WS_LDS names 'tile'
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
WS_LDS(tile, 64)
__global__ void gemm(float *c) { c[0] = 1; }
