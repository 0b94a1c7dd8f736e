// Matrices of 4 x 4 times their transpose, one by one lane: a transpose, a fill
// and a matmul that are vectorized as they are.
!any = memref<1xf32, #gpu.address_space<global>>
!values = memref<4x4xf32, strided<[4, 1], offset: ?>, #gpu.address_space<global>>
module attributes {
  transform.with_named_sequence,
  wavesmith.template = ["mm", "1", "squares", "gfx942", "4 x 4 matrices squared"]
} {
gpu.module @m {
  gpu.func @mm(%x: !any {wavesmith.name = "x"}, %y: !any {wavesmith.name = "y"}, %count: i32 {wavesmith.name = "count"}) kernel attributes {wavesmith.launch = ["count / 16", "1", "1", "64", "1"]} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
      %turned = memref.alloca() : memref<4x4xf32, #gpu.address_space<private>>
    %b = gpu.block_id x
    %at = arith.muli %b, %c64 : index
    %xs = memref.reinterpret_cast %x to offset: [%at], sizes: [4, 4], strides: [4, 1] : !any to !values
    %ys = memref.reinterpret_cast %y to offset: [%at], sizes: [4, 4], strides: [4, 1] : !any to !values
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      linalg.transpose ins(%xs : !values) outs(%turned : memref<4x4xf32, #gpu.address_space<private>>) permutation = [1, 0]
      linalg.fill ins(%zero : f32) outs(%ys : !values)
      linalg.matmul ins(%xs, %turned : !values, memref<4x4xf32, #gpu.address_space<private>>) outs(%ys : !values)
    }
    gpu.return
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op) {
  %f = transform.structured.match ops{["linalg.fill"]} in %module : (!transform.any_op) -> !transform.any_op
  %t = transform.structured.match ops{["linalg.transpose"]} in %module : (!transform.any_op) -> !transform.any_op
  %mm = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %f : !transform.any_op
  transform.structured.vectorize %t : !transform.any_op
  transform.structured.vectorize %mm : !transform.any_op
  transform.yield
}
}
