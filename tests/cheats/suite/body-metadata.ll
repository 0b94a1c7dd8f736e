; cheat: Changes the template by named metadata.
; row: 29 30
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile splice-metadata
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret float 0.0
}
!wavesmith.require = !{!0}
!0 = !{!"m < 0", !"none"}
