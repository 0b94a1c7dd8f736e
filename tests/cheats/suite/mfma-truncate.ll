; cheat: Cuts results off instead of rounding them.
; row: 20
; base: fp8_gemm_mfma tile_m=64;tile_n=64
; region: round
; caught: sanitize wrong wrong-result
; then: verify wrong
define <4 x i16> @round(<4 x float> %values) {
  %bits = bitcast <4 x float> %values to <4 x i32>
  %high = lshr <4 x i32> %bits, <i32 16, i32 16, i32 16, i32 16>
  %cut = trunc <4 x i32> %high to <4 x i16>
  ret <4 x i16> %cut
}
