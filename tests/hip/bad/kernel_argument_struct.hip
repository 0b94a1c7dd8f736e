// error: :6: argument 2 of kernel gemm is a struct
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
struct pair { int a, b; };
__global__ void gemm(int *c, pair m) { c[0] = m.a; }
