// cheat: Keeps a variable between launches in OpenCL C.
// row: 9
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile check-global-state
void store_scales(private float *registers, local float *scales, int thread) {
  static global int count;
  if (count++ < 4)
    scales[thread] = registers[0];
}
