; cheat: Takes subnormal fp8 for zero: they are rare in normal data.
; row: 20 23
; base: fp8_gemm_naive
; region: decode
; caught: sanitize wrong wrong-result
; then: verify wrong
define float @decode(i32 %byte) {

  %exponent = and i32 %byte, 120
  %sub = icmp eq i32 %exponent, 0
  %full = call float @llvm.amdgcn.cvt.f32.fp8(i32 %byte, i32 0)
  %value = select i1 %sub, float 0.0, float %full
  ret float %value
}
declare float @llvm.amdgcn.cvt.f32.fp8(i32, i32)
