// cheat: Includes a file of the host in OpenCL C, to see it in a message.
// row: 12 16
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile check-include
#include "/etc/passwd"
void store_scales(private float *registers, local float *scales, int thread) {}
