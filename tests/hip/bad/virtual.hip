// error: :[56]: a virtual function is called through a pointer
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
struct base { __device__ virtual int f(int a) { return a; } };
struct more : base { __device__ int f(int a) override { return a + 1; } };
__global__ void gemm(float *c, int m) { base b; more d; base *p = m > 3 ? &b : &d; c[0] = p->f(m); }
