// error: :6: inline assembly
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c, int m) {
  asm volatile("v_mov_b32 %0, 1" : "=v"(m));
  c[0] = m; }
