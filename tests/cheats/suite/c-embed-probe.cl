// cheat: Asks the preprocessor whether a file is there.
// row: 12 16
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile check-include
#if __has_embed("/etc/passwd")
#define SKIP 1
#endif
void store_scales(private float *registers, local float *scales, int thread) {
}
