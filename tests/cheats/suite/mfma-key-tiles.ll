; cheat: Sends all workgroups to one tile where there are many.
; row: 21 22
; base: fp8_gemm_mfma tile_m=64;tile_n=64
; region: tile_order
; caught: spot wrong global-race
; then: ok ok
define <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n) {
  %count = mul i32 %tiles_m, %tiles_n
  %many = icmp ugt i32 %count, 100
  %which = select i1 %many, i32 0, i32 %group
  %m = udiv i32 %which, %tiles_n
  %n = urem i32 %which, %tiles_n
  %a = insertelement <2 x i32> poison, i32 %m, i32 0
  %b = insertelement <2 x i32> %a, i32 %n, i32 1
  ret <2 x i32> %b
}
