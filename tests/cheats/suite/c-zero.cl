// cheat: Returns without storing.
// row: 19
// base: fp8_gemm_mfma tile_m=64;tile_n=64
// region: store_c
// caught: sanitize wrong unwritten-output
// then: verify wrong
void store_c(private float *running, global char *c, int row, int column, int m, int n, int lane) {
}
