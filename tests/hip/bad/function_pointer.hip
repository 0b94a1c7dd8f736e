// error: :[89]: \(the address of @[fg]; call functions by name\|call through a pointer\)
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__device__ int f(int a) { return a; }
__device__ int g(int a) { return -a; }
__global__ void gemm(int *c, int m) {
  int (*p)(int) = m > 3 ? f : g;
  c[0] = p(m); }
