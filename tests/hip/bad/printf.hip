// error: :6: printf: writes through the host
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) {
  printf("%f", c[0]); }
