// error: :7: no matching function for call to 'f'; a parameter
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
WS_PARAM(tile, 4, "4 8", "rows")
template <int N> __device__ int f() { return N; }
__global__ void gemm(float *c) { c[0] = f<tile>(); }
