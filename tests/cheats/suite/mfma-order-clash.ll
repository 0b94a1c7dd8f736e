; cheat: Sends two workgroups to one tile and none to another.
; row: 21 25
; base: fp8_gemm_mfma tile_m=64;tile_n=64
; region: tile_order
; caught: sanitize wrong global-race
; then: verify wrong
define <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n) {
  %half = and i32 %group, -2
  %m = udiv i32 %half, %tiles_n
  %n = urem i32 %half, %tiles_n
  %a = insertelement <2 x i32> poison, i32 %m, i32 0
  %b = insertelement <2 x i32> %a, i32 %n, i32 1
  ret <2 x i32> %b
}
