; cheat: Adds poison that a select hides from a run without optimisation.
; row: 21
; base: fp8_gemm_naive
; region: dot
; caught: sanitize wrong wrong-result
; then: verify wrong
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
  %one = load i8, ptr addrspace(1) %a, align 1
  %wide = zext i8 %one to i32
  %big = or i32 %wide, 2147483647
  %over = add nsw i32 %big, 1
  %sign = icmp sgt i32 %over, %big
  %value = select i1 %sign, float 0.0, float poison
  ret float %value
}
