// cheat: Asks the compiler to crash.
// row: 24
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile check-include
#pragma clang __debug crash
void store_scales(private float *registers, local float *scales, int thread) {
}
