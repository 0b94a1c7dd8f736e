// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rmsnorm on sm_90a in MLIR, after sm90a.ll: `threads` threads work on a row, `group_rows` rows are a workgroup. A
// vector is 8 columns, 16 bytes. A thread loads its first `keep` vectors of x and residual (early = 1: and of weight)
// before it looks at any, and holds their sums in registers between the two passes; what is beyond them is read again.
// A thread without a column, or a row, loads the first vector (of row 0) instead; it counts as 0 and is not stored.

#global = #gpu.address_space<global>
#private = #gpu.address_space<private>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
!any = memref<1xvector<8xbf16>, #global>
!row = memref<1xvector<8xbf16>, strided<[1], offset: ?>, #global>
!kept = memref<?xvector<8xf32>, #private>
!loaded = memref<?xvector<8xbf16>, #private>

module attributes {
  wavesmith.template = ["rmsnorm_sm90a_mlir", "1", "rmsnorm", "sm_90a",
    "rows in registers between the two passes, 16 bytes a load"],
  wavesmith.param = [
    ["threads", "256", "32 64 128 256 512 1024", "threads that work on a row"],
    ["keep", "2", "1 2 3 4 6 8", "vectors of 8 columns that a thread keeps in registers"],
    ["group_rows", "1", "1 2 4 8", "rows of a workgroup"],
    ["early", "1", "0 1", "1: weights are loaded with the rest, before the sum is known"]],
  wavesmith.require = [["threads * group_rows <= 1024", "a workgroup has at most 1024 threads"]],
  wavesmith.lds = [["partial", "128"]]
} {
gpu.module @kernels {

func.func private @warp_sum(%value: f32) -> f32 attributes {
    wavesmith.region = [["Returns the sum of value over the 32 lanes of a warp, in each of them. Called by all lanes ",
      "of a warp; no memory, no barrier."]]} {
  %lanes = arith.constant 32 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %first = arith.constant 16 : i32
  %total = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %value) -> f32 {
    %turn = arith.index_castui %i : index to i32
    %far = arith.shrui %first, %turn : i32
    %other, %valid = gpu.shuffle xor %sum, %far, %lanes : f32
    %next = arith.addf %sum, %other : f32
    scf.yield %next : f32
  } {loop_annotation = #unroll}
  return %total : f32
}

func.func private @inverse_root(%value: f32) -> f32 attributes {
    wavesmith.region = [["Returns 1 / sqrt(value), relative error at most 2^-22. The value is positive. Called by all ",
      "threads; no memory, no barrier."]]} {
  %one = arith.constant 1.0 : f32
  %root = math.sqrt %value : f32
  %inverse = arith.divf %one, %root : f32
  return %inverse : f32
}

func.func private @inverse_root_approximate(%value: f32) -> f32 attributes {
    wavesmith.variant = ["inverse_root", "one instruction, 2 units in the last place"]} {
  %inverse = math.rsqrt %value : f32
  return %inverse : f32
}

// The sum over the threads of a row, in each of them. Each lane takes the sum of one of the row's warps: a warp has
// 32 / warps copies of each, all powers of 2.
func.func private @row_sum(%own: f32, %thread: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %warps = arith.constant {wavesmith.value = "max(threads / 32, 1)"} 8 : index
  %warps32 = arith.constant {wavesmith.value = "max(threads / 32, 1)"} 8 : i32
  %share = arith.constant 0.03125 : f32
  %several = arith.cmpi ugt, %warps, %c1 : index
  %total = func.call @warp_sum(%own) : (f32) -> f32
  %sum = scf.if %several -> f32 {
    %size = arith.constant 32 : index
    %partial = memref.alloc(%size) {wavesmith.lds = "partial"} : memref<?xf32, #gpu.address_space<workgroup>>
    %lane = affine.apply affine_map<(t) -> (t mod 32)>(%thread)
    %warp = affine.apply affine_map<(t) -> (t floordiv 32)>(%thread)
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %total, %partial[%warp] : memref<?xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %at = affine.apply affine_map<(lane, warp)[n] -> (warp floordiv n * n + lane mod n)>(%lane, %warp)[%warps]
    %part = memref.load %partial[%at] : memref<?xf32, #gpu.address_space<workgroup>>
    %copies = func.call @warp_sum(%part) : (f32) -> f32
    %count = arith.uitofp %warps32 : i32 to f32
    %factor = arith.mulf %count, %share : f32
    %all = arith.mulf %copies, %factor : f32
    scf.yield %all : f32
  } else {
    scf.yield %total : f32
  }
  return %sum : f32
}

// a + b, 0 outside of the row.
func.func private @add(%a: vector<8xbf16>, %b: vector<8xbf16>, %inside: i1) -> vector<8xf32> {
  %none = arith.constant dense<0.0> : vector<8xf32>
  %a.wide = arith.extf %a : vector<8xbf16> to vector<8xf32>
  %b.wide = arith.extf %b : vector<8xbf16> to vector<8xf32>
  %all = arith.addf %a.wide, %b.wide : vector<8xf32>
  %sum = arith.select %inside, %all, %none : vector<8xf32>
  return %sum : vector<8xf32>
}

func.func private @squares(%values: vector<8xf32>, %onto: f32) -> f32 {
  %v:8 = vector.to_elements %values : vector<8xf32>
  %s0 = arith.mulf %v#0, %v#0 : f32
  %s1 = math.fma %v#1, %v#1, %s0 : f32
  %s2 = math.fma %v#2, %v#2, %s1 : f32
  %s3 = math.fma %v#3, %v#3, %s2 : f32
  %s4 = math.fma %v#4, %v#4, %s3 : f32
  %s5 = math.fma %v#5, %v#5, %s4 : f32
  %s6 = math.fma %v#6, %v#6, %s5 : f32
  %s7 = math.fma %v#7, %v#7, %s6 : f32
  %sum = arith.addf %onto, %s7 : f32
  return %sum : f32
}

func.func private @scale(%values: vector<8xf32>, %factor: f32, %weights: vector<8xbf16>) -> vector<8xbf16> {
  %factors = vector.broadcast %factor : f32 to vector<8xf32>
  %wide = arith.extf %weights : vector<8xbf16> to vector<8xf32>
  %scaled = arith.mulf %values, %factors : vector<8xf32>
  %products = arith.mulf %scaled, %wide : vector<8xf32>
  %rounded = arith.truncf %products : vector<8xf32> to vector<8xbf16>
  return %rounded : vector<8xbf16>
}

// Which vector of the row a thread's i-th is.
func.func private @number(%i: index, %own: i32) -> i32 {
  %threads = arith.constant {wavesmith.value = "threads"} 256 : i32
  %turn = arith.index_castui %i : index to i32
  %past = arith.muli %turn, %threads : i32
  %number = arith.addi %past, %own : i32
  return %number : i32
}

gpu.func @rmsnorm(%x: !any {wavesmith.name = "x", llvm.noalias, llvm.readonly},
    %residual: !any {wavesmith.name = "residual", llvm.noalias, llvm.readonly},
    %weight: !any {wavesmith.name = "weight", llvm.noalias, llvm.readonly},
    %sum: !any {wavesmith.name = "sum", llvm.noalias}, %y: !any {wavesmith.name = "y", llvm.noalias},
    %rows32: i32 {wavesmith.name = "rows"}, %cols32: i32 {wavesmith.name = "cols"}, %eps: f32 {wavesmith.name = "eps"})
    kernel attributes {wavesmith.launch = ["ceildiv(rows, group_rows)", "1", "1", "threads * group_rows", "1"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %threads = arith.constant {wavesmith.value = "threads"} 256 : index
  %keep = arith.constant {wavesmith.value = "keep"} 2 : index
  %group_rows = arith.constant {wavesmith.value = "group_rows"} 1 : index
  %early = arith.constant {wavesmith.value = "early"} true
  %rows = arith.index_castui %rows32 : i32 to index
  %group = gpu.block_id x
  %thread = gpu.thread_id x
  %row = affine.apply affine_map<(g, t)[n, threads] -> (g * n + t floordiv threads)>(%group, %thread)[%group_rows, %threads]
  %own.wide = affine.apply affine_map<(t)[threads] -> (t mod threads)>(%thread)[%threads]
  %own = arith.index_castui %own.wide : index to i32
  %present = arith.cmpi ult, %row, %rows : index
  %taken = arith.select %present, %row, %c0 : index
  %eight = arith.constant 8 : i32
  %none = arith.constant 0 : i32
  %step = arith.constant {wavesmith.value = "threads"} 256 : i32
  %beyond = arith.constant {wavesmith.value = "keep * threads"} 512 : i32
  %all = arith.divui %cols32, %eight : i32
  %vectors = arith.select %present, %all, %none : i32
  %length = arith.index_castui %all : i32 to index
  %first = arith.muli %taken, %length : index
  %x.row = memref.reinterpret_cast %x to offset: [%first], sizes: [1], strides: [1] : !any to !row
  %residual.row = memref.reinterpret_cast %residual to offset: [%first], sizes: [1], strides: [1] : !any to !row
  %sum.row = memref.reinterpret_cast %sum to offset: [%first], sizes: [1], strides: [1] : !any to !row
  %y.row = memref.reinterpret_cast %y to offset: [%first], sizes: [1], strides: [1] : !any to !row
  %xs = memref.alloca(%keep) : !loaded
  %residuals = memref.alloca(%keep) : !loaded
  %weights = memref.alloca(%keep) : !loaded
  %kept = memref.alloca(%keep) : !kept

  scf.for %i = %c0 to %keep step %c1 {
    %number = func.call @number(%i, %own) : (index, i32) -> i32
    %inside = arith.cmpi ult, %number, %vectors : i32
    %from32 = arith.select %inside, %number, %none : i32
    %from = arith.index_castui %from32 : i32 to index
    %a = memref.load %x.row[%from] : !row
    %b = memref.load %residual.row[%from] : !row
    memref.store %a, %xs[%i] : !loaded
    memref.store %b, %residuals[%i] : !loaded
    scf.if %early {
      %w = memref.load %weight[%from] : !any
      memref.store %w, %weights[%i] : !loaded
    }
  } {loop_annotation = #unroll}
  %near = scf.for %i = %c0 to %keep step %c1 iter_args(%sofar = %zero) -> f32 {
    %number = func.call @number(%i, %own) : (index, i32) -> i32
    %inside = arith.cmpi ult, %number, %vectors : i32
    %at = arith.index_castui %number : i32 to index
    %a = memref.load %xs[%i] : !loaded
    %b = memref.load %residuals[%i] : !loaded
    %added = func.call @add(%a, %b, %inside) : (vector<8xbf16>, vector<8xbf16>, i1) -> vector<8xf32>
    memref.store %added, %kept[%i] : !kept
    scf.if %inside {
      %rounded = arith.truncf %added : vector<8xf32> to vector<8xbf16>
      memref.store %rounded, %sum.row[%at] : !row
    }
    %next = func.call @squares(%added, %sofar) : (vector<8xf32>, f32) -> f32
    scf.yield %next : f32
  } {loop_annotation = #unroll}
  %begin = arith.addi %beyond, %own : i32
  %far = scf.for %number = %begin to %vectors step %step iter_args(%sofar = %near) -> f32 : i32 {
    %at = arith.index_castui %number : i32 to index
    %a = memref.load %x.row[%at] : !row
    %b = memref.load %residual.row[%at] : !row
    %added = func.call @add(%a, %b, %true) : (vector<8xbf16>, vector<8xbf16>, i1) -> vector<8xf32>
    %rounded = arith.truncf %added : vector<8xf32> to vector<8xbf16>
    memref.store %rounded, %sum.row[%at] : !row
    %next = func.call @squares(%added, %sofar) : (vector<8xf32>, f32) -> f32
    scf.yield %next : f32
  }

  %total = func.call @row_sum(%far, %thread) : (f32, index) -> f32
  %count = arith.uitofp %cols32 : i32 to f32
  %mean = arith.divf %total, %count : f32
  %mean.eps = arith.addf %mean, %eps : f32
  %factor = func.call @inverse_root(%mean.eps) : (f32) -> f32
  scf.for %i = %c0 to %keep step %c1 {
    %number = func.call @number(%i, %own) : (index, i32) -> i32
    %inside = arith.cmpi ult, %number, %vectors : i32
    %at = arith.index_castui %number : i32 to index
    scf.if %inside {
      %w = scf.if %early -> vector<8xbf16> {
        %held = memref.load %weights[%i] : !loaded
        scf.yield %held : vector<8xbf16>
      } else {
        %late = memref.load %weight[%at] : !any
        scf.yield %late : vector<8xbf16>
      }
      %added = memref.load %kept[%i] : !kept
      %value = func.call @scale(%added, %factor, %w) : (vector<8xf32>, f32, vector<8xbf16>) -> vector<8xbf16>
      memref.store %value, %y.row[%at] : !row
    }
  } {loop_annotation = #unroll}
  scf.for %number = %begin to %vectors step %step : i32 {
    %at = arith.index_castui %number : i32 to index
    %a = memref.load %x.row[%at] : !row
    %b = memref.load %residual.row[%at] : !row
    %w = memref.load %weight[%at] : !any
    %added = func.call @add(%a, %b, %true) : (vector<8xbf16>, vector<8xbf16>, i1) -> vector<8xf32>
    %value = func.call @scale(%added, %factor, %w) : (vector<8xf32>, f32, vector<8xbf16>) -> vector<8xbf16>
    memref.store %value, %y.row[%at] : !row
  }
  gpu.return
}
}
}
