// error: :5: kernel @gemm: argument 'm' must be i32
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c, long m) { c[0] = m; }
