// cheat: Closes the module that it is read in and says what the template's code object is.
// row: 29 30
// base: fp8_gemm_naive
// region: dot
// caught: splice no_compile closes
func.func private @dot(%a: !llvm.ptr<1>, %a_step: i64, %b: !llvm.ptr<1>, %b_step: i64) -> f32 {
  %zero = arith.constant 0.0 : f32
  return %zero : f32
}
}
llvm.module_flags [#llvm.mlir.module_flag<override, "amdhsa_code_object_version", 400 : i32>]
module {
