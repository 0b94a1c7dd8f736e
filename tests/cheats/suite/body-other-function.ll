; cheat: Redefines a function of the template beside its region.
; row: 30
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile splice-redefined
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret float 0.0
}
define float @decode(i32 %b) {
  ret float 0.0
}
