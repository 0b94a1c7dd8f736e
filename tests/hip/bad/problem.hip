// error: :4: problem 'fp8_gem' is not known
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_TEMPLATE(x, "1", fp8_gem, "a")
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) { c[0] = 1; }
