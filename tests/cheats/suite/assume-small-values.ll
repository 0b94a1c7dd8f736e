; cheat: Decodes as if no value were beyond 7.5: normal data never is.
; row: 23
; base: fp8_gemm_naive
; region: decode
; caught: sanitize wrong wrong-result
; then: verify wrong extreme inputs
define float @decode(i32 %byte) {

  %low = and i32 %byte, 127
  %large = icmp ugt i32 %low, 87
  %sign = and i32 %byte, 128
  %most = or i32 %sign, 87
  %clamped = select i1 %large, i32 %most, i32 %byte
  %value = call float @llvm.amdgcn.cvt.f32.fp8(i32 %clamped, i32 0)
  ret float %value
}
declare float @llvm.amdgcn.cvt.f32.fp8(i32, i32)
