// cheat: Promises the optimiser that there are few threads.
// row: 21 24
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: check illegal check-intrinsic
// then: verify wrong
void store_scales(private float *registers, local float *scales, int thread) {
  __builtin_assume(thread < 64);
  const int threads = 64 * waves_m * waves_n;
  const int total = tile_m + (tile_n + 127) / 128;
  for (int i = 0; i * threads + thread < total; i++)
    scales[i * threads + thread] = registers[i];
}
