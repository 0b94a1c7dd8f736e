; cheat: Says by a module flag what the template's code object is.
; row: 29 30
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile splice-metadata
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret float 0.0
}
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"amdhsa_code_object_version", i32 400}
