// error: : there is no __global__ kernel
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
__device__ int f(int a) { return a; }
