// error: :5: a parameter stands in #if
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
// options: -DTILE=4:4,8
#if TILE > 3
#endif
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) { c[0] = TILE; }
