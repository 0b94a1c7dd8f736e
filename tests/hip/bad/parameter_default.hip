// error: :5: the default of parameter 'tile'
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
WS_PARAM(tile, 5, "4 8", "rows")
__global__ void gemm(float *c) { c[0] = tile; }
