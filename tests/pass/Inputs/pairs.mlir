// y[i] = x[i] + x[i ^ 1] through LDS: a small template in MLIR, for tests.
!values = memref<1xf32, #gpu.address_space<global>>
!tile = memref<?xf32, #gpu.address_space<workgroup>>
module attributes {
  wavesmith.template = ["pairs_mlir", "1", "pairs", "gfx942", "sums of pairs"],
  wavesmith.param = [
    ["threads", "64", "64 128 256", "lanes of a workgroup"],
    ["each", "2", "1 2 4", "values of a lane"]
  ],
  wavesmith.require = [["threads * each <= 512", "a test of a constraint"]],
  wavesmith.lds = [["tile", "4 * threads * each"]]
} {
gpu.module @pairs {
  func.func private @combine(%own: f32, %other: f32) -> f32 attributes {
      wavesmith.region = "Returns the sum of the two. By some lanes; no memory, no barrier."} {
    %sum = arith.addf %own, %other : f32
    return %sum : f32
  }
  func.func private @combine_turned(%own: f32, %other: f32) -> f32 attributes {
      wavesmith.variant = ["combine", "the other way round"]} {
    %sum = arith.addf %other, %own : f32
    return %sum : f32
  }

  // Values of this lane that there are, to the tile.
  func.func private @stage(%x: !values, %to: !tile, %first: i32, %count: i32, %lane: i32) {
    %each = arith.constant {wavesmith.value = "each"} 2 : index
    %threads = arith.constant {wavesmith.value = "threads"} 64 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.index_castui %count : i32 to index
    %all = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1]
      : !values to memref<?xf32, strided<[1]>, #gpu.address_space<global>>
    scf.for %i = %c0 to %each step %c1 {
      %i32 = arith.index_castui %i : index to i32
      %skip = arith.muli %i32, %threads : i32
      %place = arith.addi %skip, %lane : i32
      %at = arith.addi %first, %place : i32
      %inside = arith.cmpi ult, %at, %count : i32
      scf.if %inside {
        %from = arith.index_castui %at : i32 to index
        %to.at = arith.index_castui %place : i32 to index
        %value = memref.load %all[%from] : memref<?xf32, strided<[1]>, #gpu.address_space<global>>
        memref.store %value, %to[%to.at] : !tile
      }
    }
    return
  }

  gpu.func @pairs(%x: !values {wavesmith.name = "x"}, %y: !values {wavesmith.name = "y"},
                  %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["ceildiv(count, threads * each)", "1", "1", "threads", "1"]} {
    %size = arith.constant {wavesmith.value = "threads * each"} 128 : index
    %size32 = arith.constant {wavesmith.value = "threads * each"} 128 : i32
    %each = arith.constant {wavesmith.value = "each"} 2 : index
    %threads = arith.constant {wavesmith.value = "threads"} 64 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %tile = memref.alloc(%size) {wavesmith.lds = "tile"} : !tile
    %lane.index = gpu.thread_id x
    %group.index = gpu.block_id x
    %lane = arith.index_cast %lane.index : index to i32
    %group = arith.index_cast %group.index : index to i32
    %first = arith.muli %group, %size32 : i32
    func.call @stage(%x, %tile, %first, %count, %lane) : (!values, !tile, i32, i32, i32) -> ()
    gpu.barrier
    %n = arith.index_castui %count : i32 to index
    %out = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1]
      : !values to memref<?xf32, strided<[1]>, #gpu.address_space<global>>
    scf.for %i = %c0 to %each step %c1 {
      %i32 = arith.index_castui %i : index to i32
      %skip = arith.muli %i32, %threads : i32
      %place = arith.addi %skip, %lane : i32
      %at = arith.addi %first, %place : i32
      %inside = arith.cmpi ult, %at, %count : i32
      scf.if %inside {
        %pair = arith.xori %place, %one : i32
        %own.at = arith.index_castui %place : i32 to index
        %other.at = arith.index_castui %pair : i32 to index
        %to = arith.index_castui %at : i32 to index
        %own = memref.load %tile[%own.at] : !tile
        %other = memref.load %tile[%other.at] : !tile
        %sum = func.call @combine(%own, %other) : (f32, f32) -> f32
        memref.store %sum, %out[%to] : memref<?xf32, strided<[1]>, #gpu.address_space<global>>
      }
    }
    gpu.return
  }
}
}
