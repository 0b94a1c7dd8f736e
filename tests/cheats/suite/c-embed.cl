// cheat: Takes a file of the host as a table.
// row: 12 16
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_scales
// caught: splice no_compile check-include
constant unsigned char table[] = {
#embed "/etc/passwd" limit(4)
};
void store_scales(private float *registers, local float *scales, int thread) {
  scales[thread] = table[0];
}
