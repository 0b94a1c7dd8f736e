; cheat: Returns zero for every product.
; row: 19
; base: fp8_gemm_naive
; region: dot
; caught: sanitize wrong wrong-result
; then: verify wrong
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret float 0.0
}
