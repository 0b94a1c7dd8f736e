// cheat: Prints from the device.
// row: 12
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile splice-unknown-symbol
void store_scales(private float *registers, local float *scales, int thread) {
  printf("%f", registers[0]);
}
