// softmax for gfx942: what is computed of a row, in steps over all of its
// columns, and below it a schedule that says who computes what, when, and how
// much of it at once.
//
// Memory of the private address space that a step indexes by column is spread
// over the lanes of the workgroup: each has its own columns (wavesmith.slots).
#each = affine_map<(column) -> (column)>
#one = affine_map<(column) -> ()>
#global = #gpu.address_space<global>
#private = #gpu.address_space<private>
!any = memref<1xbf16, #global>
!row = memref<?xbf16, strided<[1], offset: ?>, #global>
!kept = memref<?xf32, #private>

module attributes {
  transform.with_named_sequence,
  wavesmith.template = ["softmax_rows", "1", "softmax", "gfx942", "a workgroup a row, by a schedule"],
  wavesmith.param = [
    ["threads", "1024", "64 128 256 512 1024", "lanes of a workgroup, which works on one row"],
    ["keep", "8", "1 2 3 4 6 8 12 16", "vectors that a lane keeps in registers"],
    ["vector", "8", "1 2 4 8", "neighbouring columns that a lane loads at once"],
    ["fuse", "0", "0 1", "1: powers are summed in the loop that makes them"],
    ["nontemporal", "0", "0 1", "1: stores go past the caches"]],
  wavesmith.require = [["cols <= threads * keep * vector", "a row is kept in the registers of its lanes"]],
  wavesmith.lds = [["maxima", "4 * (threads / 64)"], ["sums", "4 * (threads / 64)"]]
} {
gpu.module @m {
  // The maximum over the lanes of a wave, in all of them.
  func.func private @wave_max(%value: f32) -> f32 attributes {wavesmith.region = "Returns the maximum of value over the 64 lanes of a wave, in each of them. Called by all lanes of a wave; no memory, no barrier."} {
    %c64 = arith.constant 64 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c32 = arith.constant 32 : i32
    %o32, %p32 = gpu.shuffle xor %value, %c32, %c64 : f32
    %v32 = arith.maxnumf %value, %o32 : f32
    %o16, %p16 = gpu.shuffle xor %v32, %c16, %c64 : f32
    %v16 = arith.maxnumf %v32, %o16 : f32
    %o8, %p8 = gpu.shuffle xor %v16, %c8, %c64 : f32
    %v8 = arith.maxnumf %v16, %o8 : f32
    %o4, %p4 = gpu.shuffle xor %v8, %c4, %c64 : f32
    %v4 = arith.maxnumf %v8, %o4 : f32
    %o2, %p2 = gpu.shuffle xor %v4, %c2, %c64 : f32
    %v2 = arith.maxnumf %v4, %o2 : f32
    %o1, %p1 = gpu.shuffle xor %v2, %c1, %c64 : f32
    %v1 = arith.maxnumf %v2, %o1 : f32
    return %v1 : f32
  }
  // The maximum over all lanes of the workgroup.
  func.func private @group_max(%value: f32) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : i32
    %c6 = arith.constant 6 : i32
    %zero = arith.constant 0 : i32
    %waves = arith.constant {wavesmith.value = "threads / 64"} 16 : index
    %several = arith.cmpi ugt, %waves, %c1 : index
    %own = func.call @wave_max(%value) : (f32) -> f32
    %total = scf.if %several -> f32 {
      %partial = memref.alloc(%waves) {wavesmith.lds = "maxima"} : memref<?xf32, #gpu.address_space<workgroup>>
      %thread = gpu.thread_id x
      %lane = arith.index_castui %thread : index to i32
      %lane.in.wave = arith.andi %lane, %c63 : i32
      %is.first = arith.cmpi eq, %lane.in.wave, %zero : i32
      scf.if %is.first {
        %wave = arith.shrui %lane, %c6 : i32
        %at = arith.index_castui %wave : i32 to index
        memref.store %own, %partial[%at] : memref<?xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %f0 = arith.constant 0xFF800000 : f32
      %sum = scf.for %i = %c0 to %waves step %c1 iter_args(%so.far = %f0) -> f32 {
        %part = memref.load %partial[%i] : memref<?xf32, #gpu.address_space<workgroup>>
        %more = arith.maxnumf %so.far, %part : f32
        scf.yield %more : f32
      } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      scf.yield %sum : f32
    } else {
      scf.yield %own : f32
    }
    return %total : f32
  }

  // The sum over the lanes of a wave, in all of them.
  func.func private @wave_sum(%value: f32) -> f32 attributes {wavesmith.region = "Returns the sum of value over the 64 lanes of a wave, in each of them. Called by all lanes of a wave; no memory, no barrier."} {
    %c64 = arith.constant 64 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c32 = arith.constant 32 : i32
    %o32, %p32 = gpu.shuffle xor %value, %c32, %c64 : f32
    %v32 = arith.addf %value, %o32 : f32
    %o16, %p16 = gpu.shuffle xor %v32, %c16, %c64 : f32
    %v16 = arith.addf %v32, %o16 : f32
    %o8, %p8 = gpu.shuffle xor %v16, %c8, %c64 : f32
    %v8 = arith.addf %v16, %o8 : f32
    %o4, %p4 = gpu.shuffle xor %v8, %c4, %c64 : f32
    %v4 = arith.addf %v8, %o4 : f32
    %o2, %p2 = gpu.shuffle xor %v4, %c2, %c64 : f32
    %v2 = arith.addf %v4, %o2 : f32
    %o1, %p1 = gpu.shuffle xor %v2, %c1, %c64 : f32
    %v1 = arith.addf %v2, %o1 : f32
    return %v1 : f32
  }
  // The sum over all lanes of the workgroup.
  func.func private @group_sum(%value: f32) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : i32
    %c6 = arith.constant 6 : i32
    %zero = arith.constant 0 : i32
    %waves = arith.constant {wavesmith.value = "threads / 64"} 16 : index
    %several = arith.cmpi ugt, %waves, %c1 : index
    %own = func.call @wave_sum(%value) : (f32) -> f32
    %total = scf.if %several -> f32 {
      %partial = memref.alloc(%waves) {wavesmith.lds = "sums"} : memref<?xf32, #gpu.address_space<workgroup>>
      %thread = gpu.thread_id x
      %lane = arith.index_castui %thread : index to i32
      %lane.in.wave = arith.andi %lane, %c63 : i32
      %is.first = arith.cmpi eq, %lane.in.wave, %zero : i32
      scf.if %is.first {
        %wave = arith.shrui %lane, %c6 : i32
        %at = arith.index_castui %wave : i32 to index
        memref.store %own, %partial[%at] : memref<?xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %f0 = arith.constant 0.0 : f32
      %sum = scf.for %i = %c0 to %waves step %c1 iter_args(%so.far = %f0) -> f32 {
        %part = memref.load %partial[%i] : memref<?xf32, #gpu.address_space<workgroup>>
        %more = arith.addf %so.far, %part : f32
        scf.yield %more : f32
      } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      scf.yield %sum : f32
    } else {
      scf.yield %own : f32
    }
    return %total : f32
  }

  gpu.func @softmax(%x: !any {wavesmith.name = "x"}, %y: !any {wavesmith.name = "y"}, %cols: i32 {wavesmith.name = "cols"}) kernel attributes {wavesmith.launch = ["rows", "1", "1", "threads", "1"]} {
    %c8 = arith.constant 8 : index
    %row = gpu.block_id x
    %wide = arith.index_castui %cols : i32 to index
    %eighths = arith.divui %wide, %c8 : index
    %n = affine.apply affine_map<()[s] -> (s * 8)>()[%eighths]
    %first = arith.muli %row, %wide : index

    // The row, of a multiple of 8 columns.
    %x.row = memref.reinterpret_cast %x to offset: [%first], sizes: [%n], strides: [1] : !any to !row
    %y.row = memref.reinterpret_cast %y to offset: [%first], sizes: [%n], strides: [1] : !any to !row
    %values = memref.alloca(%n) {row} : !kept
    %powers = memref.alloca(%n) {row} : !kept
    %own = memref.alloca() : memref<f32, #private>
    %own.sum = memref.alloca() : memref<f32, #private>

    linalg.generic {step = "widen", indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%x.row : !row) outs(%values : !kept) {
    ^bb0(%a: bf16, %old: f32):
      %a.wide = arith.extf %a : bf16 to f32
      linalg.yield %a.wide : f32
    }
    // A lane's share of the maximum, then all of it.
    %least = arith.constant 0xFF800000 : f32
    memref.store %least, %own[] : memref<f32, #private>
    linalg.generic {step = "largest", indexing_maps = [#each, #one], iterator_types = ["reduction"]} ins(%values : !kept) outs(%own : memref<f32, #private>) {
    ^bb0(%a: f32, %old: f32):
      %s = arith.maxnumf %old, %a : f32
      linalg.yield %s : f32
    }
    %share = memref.load %own[] : memref<f32, #private>
    %max = func.call @group_max(%share) : (f32) -> f32
    %log2.e = arith.constant 1.44269504 : f32
    linalg.generic {step = "power", indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%values : !kept) outs(%powers : !kept) {
    ^bb0(%a: f32, %old: f32):
      %below = arith.subf %a, %max : f32
      %binary = arith.mulf %below, %log2.e : f32
      %p = math.exp2 %binary : f32
      linalg.yield %p : f32
    }
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %own.sum[] : memref<f32, #private>
    linalg.generic {step = "total", indexing_maps = [#each, #one], iterator_types = ["reduction"]} ins(%powers : !kept) outs(%own.sum : memref<f32, #private>) {
    ^bb0(%a: f32, %old: f32):
      %s = arith.addf %old, %a : f32
      linalg.yield %s : f32
    }
    %share.sum = memref.load %own.sum[] : memref<f32, #private>
    %sum = func.call @group_sum(%share.sum) : (f32) -> f32
    %c1 = arith.constant 1.0 : f32
    %factor = arith.divf %c1, %sum : f32
    linalg.generic {step = "scale", indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%powers : !kept) outs(%y.row : !row) {
    ^bb0(%a: f32, %old: bf16):
      %p = arith.mulf %a, %factor : f32
      %s = arith.truncf %p : f32 to bf16
      linalg.yield %s : bf16
    }
    gpu.return
  }
}

// The loop that a step has become.
transform.named_sequence @loop_of(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %loop = transform.get_parent_op %op {op_name = "scf.forall"} : (!transform.any_op) -> !transform.any_op
  transform.yield %loop : !transform.any_op
}

transform.named_sequence @__transform_main(%module: !transform.any_op) {
  %keep = transform.param.constant 8 : i64 {wavesmith.value = "keep"} -> !transform.param<i64>
  %vector = transform.param.constant 8 : i64 {wavesmith.value = "vector"} -> !transform.param<i64>
  %slots = transform.param.constant 64 : i64 {wavesmith.value = "keep * vector"} -> !transform.param<i64>
  %fuse = transform.param.constant 0 : i64 {wavesmith.value = "fuse"} -> !transform.param<i64>
  %nontemporal = transform.param.constant 0 : i1 {wavesmith.value = "nontemporal"} -> !transform.any_param

  // Lanes take vectors of a row.
  %kernel = transform.structured.match ops{["gpu.func"]} in %module : (!transform.any_op) -> !transform.any_op
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } : !transform.any_op
  %steps = transform.structured.match ops{["linalg.generic"]} in %kernel : (!transform.any_op) -> !transform.any_op
  %tiles, %loops = transform.structured.tile_using_forall %steps tile_sizes [%vector] (mapping = [#gpu.thread<x>]) : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
  %rows = transform.structured.match ops{["memref.alloca"]} attributes {row} in %kernel : (!transform.any_op) -> !transform.any_op
  transform.annotate %rows "wavesmith.slots" = %slots : !transform.any_op, !transform.param<i64>
  transform.apply_cse to %kernel : !transform.any_op

  // Which steps share a loop: a loop is moved to the one that it is fused into.
  %power = transform.structured.match attributes {step = "power"} in %kernel : (!transform.any_op) -> !transform.any_op
  %total = transform.structured.match attributes {step = "total"} in %kernel : (!transform.any_op) -> !transform.any_op
  transform.annotate %power "step.fuse" = %fuse : !transform.any_op, !transform.param<i64>
  %fused = transform.structured.match attributes {step.fuse = 1 : i64} in %kernel : (!transform.any_op) -> !transform.any_op
  transform.foreach %fused : !transform.any_op {
  ^bb0(%step: !transform.any_op):
    %a = transform.include @loop_of failures(propagate) (%step) : (!transform.any_op) -> !transform.any_op
    %b = transform.include @loop_of failures(propagate) (%total) : (!transform.any_op) -> !transform.any_op
    %ab = transform.loop.fuse_sibling %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
  }

  // Tiles are whole vectors, as columns are a multiple of 8.
  %sizes = transform.structured.match ops{["affine.min"]} in %kernel : (!transform.any_op) -> !transform.any_op
  transform.foreach %sizes : !transform.any_op {
  ^bb0(%size: !transform.any_op):
    transform.affine.simplify_min_max_affine_ops %size : !transform.any_op
  }
  transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } : !transform.any_op
  %whole = transform.structured.match ops{["linalg.generic"]} in %kernel : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %whole : !transform.any_op
  transform.apply_patterns to %kernel {
    transform.apply_patterns.canonicalization
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerreduction"
    transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
    transform.apply_patterns.memref.fold_memref_alias_ops
  } : !transform.any_op
  transform.apply_patterns to %kernel { transform.apply_patterns.vector.lower_broadcast } : !transform.any_op
  %stores = transform.structured.match ops{["vector.store"]} in %kernel : (!transform.any_op) -> !transform.any_op
  %lanes = transform.structured.match ops{["scf.forall"]} in %kernel : (!transform.any_op) -> !transform.any_op
  transform.annotate %lanes "wavesmith.steps" = %keep : !transform.any_op, !transform.param<i64>
  transform.annotate %stores "nontemporal" = %nontemporal : !transform.any_op, !transform.any_param
  transform.yield
}
}
