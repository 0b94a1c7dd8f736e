// cheat: Has the compiler look at the age of a file.
// row: 12 16
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile check-include
#pragma GCC dependency "/etc/passwd"
void store_scales(private float *registers, local float *scales, int thread) {
}
