// cheat: Asks the clock in OpenCL C.
// row: 6
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile ir-diagnostic
void store_scales(private float *registers, local float *scales, int thread) {
  scales[thread] = registers[0] + (float)(__builtin_readcyclecounter() & 0);
  if (__builtin_readcyclecounter() > 1000)
    scales[thread] = 0;
}
