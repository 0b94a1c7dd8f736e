// error: :4: launch: there is no kernel @gem 
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gem, 1, 1, 1, 64, 1)
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) { c[0] = 1; }
