// error: : there is no __global__ kernel
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
int main() { return 0; }
