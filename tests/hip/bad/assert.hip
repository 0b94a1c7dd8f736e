// error: :6: assert: it ends the kernel
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c, int m) {
  assert(m > 1);
  c[0] = m; }
