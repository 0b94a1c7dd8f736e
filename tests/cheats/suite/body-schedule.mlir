// cheat: Brings a schedule of its own, inside of its function.
// row: 29 30
// base: fp8_gemm_naive
// region: dot
// caught: splice no_compile splice-metadata
func.func private @dot(%a: !llvm.ptr<1>, %a_step: i64, %b: !llvm.ptr<1>, %b_step: i64) -> f32 {
  builtin.module attributes {transform.with_named_sequence} {
    transform.named_sequence @__transform_main(%m: !transform.any_op) {
      transform.yield
    }
  }
  %zero = arith.constant 0.0 : f32
  return %zero : f32
}
