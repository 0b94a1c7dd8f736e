// error: :4: nothing says how which of these kernels is launched
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
__global__ void gemm(float *c) { c[0] = 1; }
__global__ void other(float *c) { c[0] = 1; }
