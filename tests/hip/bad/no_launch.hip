// error: :4: nothing says how the kernel is launched
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
__global__ void gemm(float *c) { c[0] = 1; }
