// error: :6: no path from here leads to the kernel
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) {
  for (;;) c[0] = 1; }
