// cheat: Names a line of the template as the place of what is wrong in it.
// row: 30
// base: fp8_gemm_naive
// region: dot
// caught: splice no_compile loc(...)
func.func private @dot(%a: !llvm.ptr<1>, %a_step: i64, %b: !llvm.ptr<1>, %b_step: i64) -> f32 {
  %far = llvm.getelementptr %a[16777216] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  %x = llvm.load %far : !llvm.ptr<1> -> f32 loc("fp8_gemm_naive.ll":7:1)
  return %x : f32
}
