// cheat: Writes assembly in OpenCL C.
// row: 12
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: check illegal check-asm
// then: sanitize illegal no-host-model
void store_scales(private float *registers, local float *scales, int thread) {
  __asm__ volatile("s_endpgm");
}
