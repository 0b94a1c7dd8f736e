; cheat: Keeps state in a global of its own.
; row: 9
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile check-global-state
@mine = internal addrspace(1) global i32 0
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  store i32 1, ptr addrspace(1) @mine
  ret float 0.0
}
