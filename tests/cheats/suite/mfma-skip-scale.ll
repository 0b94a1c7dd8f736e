; cheat: Skips the scales of A.
; row: 20 21
; base: fp8_gemm_mfma tile_m=64;tile_n=64
; region: scale
; caught: sanitize wrong wrong-result
; then: verify wrong
define void @scale(ptr addrspace(5) %running, ptr addrspace(5) %partial, ptr addrspace(3) %a_scales, ptr addrspace(3) %b_scales, i32 %row, i32 %column, i32 %lane) {
  %value = load <4 x float>, ptr addrspace(5) %partial
  store <4 x float> %value, ptr addrspace(5) %running
  ret void
}
