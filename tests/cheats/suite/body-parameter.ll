; cheat: Defines a parameter of the template anew.
; row: 29 30
; base: fp8_gemm_naive
; region: dot
; caught: splice no_compile check-global-state
@ws.tile_m = internal addrspace(4) constant i32 1
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  ret float 0.0
}
