; cheat: Defines a function under the name of an intrinsic.
; row: 28 30
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile ir-verify
define float @llvm.amdgcn.cvt.f32.fp8(i32 %b, i32 %s) {
  ret float 0.0
}
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret float 0.0
}
