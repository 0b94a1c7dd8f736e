; cheat: Adds the products of a block in half precision.
; row: 20
; base: fp8_gemm_naive
; region: dot
; caught: sanitize wrong wrong-result
; then: verify wrong
define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) {
entry:
  %k.slot = alloca i64, addrspace(5)
  %sum.slot = alloca half, addrspace(5)
  store i64 0, ptr addrspace(5) %k.slot
  store half 0.0, ptr addrspace(5) %sum.slot
  br label %body
body:
  %k = load i64, ptr addrspace(5) %k.slot
  %a.offset = mul i64 %k, %a_step
  %b.offset = mul i64 %k, %b_step
  %a.at = getelementptr i8, ptr addrspace(1) %a, i64 %a.offset
  %b.at = getelementptr i8, ptr addrspace(1) %b, i64 %b.offset
  %a.byte = load i8, ptr addrspace(1) %a.at, align 1
  %b.byte = load i8, ptr addrspace(1) %b.at, align 1
  %a.wide = zext i8 %a.byte to i32
  %b.wide = zext i8 %b.byte to i32
  %a.value = call float @decode(i32 %a.wide)
  %b.value = call float @decode(i32 %b.wide)
  %product = fmul float %a.value, %b.value
  %product.half = fptrunc float %product to half
  %sum = load half, ptr addrspace(5) %sum.slot
  %sum.next = fadd half %sum, %product.half
  store half %sum.next, ptr addrspace(5) %sum.slot
  %k.next = add i64 %k, 1
  store i64 %k.next, ptr addrspace(5) %k.slot
  %more = icmp ult i64 %k.next, 128
  br i1 %more, label %body, label %exit
exit:
  %last = load half, ptr addrspace(5) %sum.slot
  %result = fpext half %last to float
  ret float %result
}
declare float @decode(i32)
