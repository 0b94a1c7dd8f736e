; cheat: Defines a kernel instead of a function.
; row: 30
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile splice-signature
define amdgpu_kernel void @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret void
}
