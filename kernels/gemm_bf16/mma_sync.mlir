// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gemm_bf16_mma_sync: gemm_bf16 on sm_90a with the matrix instruction of single warps, mma.sync m16n8k16.
//
// A workgroup makes a tile of C, tile_m x tile_n, in steps of tile_k along k. Tiles of A and B come to shared
// memory by cp.async, stages - 1 steps ahead. Each step:
//
//   wait, barrier    this step's tiles are there, those of the step before are read
//   load             global -> shared memory, of the step stages - 1 later, where the step before was read
//   mma              shared memory -> accumulators, warps_m x warps_n warps with a part of the tile each
//
// Memory is counted in words: two bf16, neighbours along k. A row of a tile is tile_k / 2 words (and pad bytes), in
// chunks of 4, what a copy and a row of ldmatrix take. Rows past the operand are loaded as its last row again;
// what they make is masked where C is stored. With cut_k chunks past the end of k are filled with zeros.
//
// A warp's part of C lies in blocks of 16 rows x 8 columns: of a block, lane l holds row l / 4 at columns
// 2 * (l % 4) and the next (floats 0 and 1), and the same of row l / 4 + 8 (2 and 3).

#global = #gpu.address_space<global>
#private = #gpu.address_space<private>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
!words = memref<1xi32, #global>
!tile = memref<1xi32, strided<[1], offset: ?>, #global>
!shared = memref<?xi32, #gpu.address_space<workgroup>>
!fragments = memref<?xvector<4xi32>, #private>
!sums = memref<?x?x4xf32, #private> // [block of rows][block of columns][float]
!pairs = memref<1xvector<2xbf16>, #global>
!part_of_c = memref<1xvector<2xbf16>, strided<[1], offset: ?>, #global>
!four = !llvm.struct<(f32, f32, f32, f32)>

module attributes {
  wavesmith.template = ["gemm_bf16_mma_sync", "1", "gemm_bf16", "sm_90a",
    "Matrix instructions of single warps on tiles that cp.async brings, sums in registers over all of k."],
  wavesmith.param = [
    ["layout", "1", "1", "layout of a and b: k-major"],
    ["tile_m", "128", "16 32 64 128 256", "rows of C per workgroup"],
    ["tile_n", "128", "16 32 64 128 256", "columns of C per workgroup"],
    ["tile_k", "32", "16 32 64 128", "depth of a stage"],
    ["warps_m", "2", "1 2 4 8", "warps along m"],
    ["warps_n", "2", "1 2 4 8", "warps along n"],
    ["stages", "4", "2 3 4 5 6 8", "tiles in shared memory at a time"],
    ["pad", "0", "0 16", "unused bytes after each row; 0: chunks are permuted, xor with the row"],
    ["group_m", "8", "1 2 4 8 16", "rows of tiles that are walked side by side"],
    ["resident", "1", "1 2 3 4", "workgroups that a multiprocessor must hold at once"],
    ["cut_k", "1", "0 1", "1: k need not be whole steps"]],
  wavesmith.require = [
    ["warps_m * warps_n <= 16", "a workgroup has 512 threads at most, 128 registers or more for each"],
    ["tile_m % (16 * warps_m) == 0", "a warp's rows are whole blocks of 16"],
    ["tile_n % (16 * warps_n) == 0", "a warp's columns are whole pairs of blocks of 8"],
    ["cut_k == 1 || k % tile_k == 0", "k ends within a step"],
    ["stages * (tile_m + tile_n) * (2 * tile_k + pad) <= 233472 / resident - 1024",
     "a multiprocessor has 228 KiB of shared memory, of which each workgroup costs one more"],
    [["tile_m * tile_n / (32 * warps_m * warps_n) + tile_m / (4 * warps_m) + tile_n / (4 * warps_n) + 40 ",
      "<= min(255, 2048 / (warps_m * warps_n * resident) / 8 * 8)"], "the sums and fragments leave too few registers"]],
  wavesmith.occupancy = [["gemm_bf16_mma_sync", "1", "resident"]],
  wavesmith.lds = [["tiles", "stages * (tile_m + tile_n) * (2 * tile_k + pad)"]]
} {
gpu.module @kernels {

func.func private @tile_order(%group: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32) attributes {
    wavesmith.region = [["Which tile of C workgroup number group makes (row, column). A bijection for any counts. ",
      "Neighbours in time are some hundred and share L2: rows of A and columns of B that several use should meet."]]} {
  %across = arith.constant {wavesmith.value = "group_m"} 8 : i32
  %band = arith.muli %across, %tiles_n : i32
  %number = arith.divui %group, %band : i32
  %within = arith.remui %group, %band : i32
  %first = arith.muli %number, %across : i32
  %left = arith.subi %tiles_m, %first : i32
  %height = arith.minui %across, %left : i32
  %down = arith.remui %within, %height : i32
  %row = arith.addi %first, %down : i32
  %column = arith.divui %within, %height : i32
  return %row, %column : i32, i32
}

func.func private @place(%row: index, %chunk: index) -> index attributes {
    wavesmith.region = [["Where in a tile chunk number chunk of a row begins, in words. One-to-one, a multiple ",
      "of 4, within rows * (2 * tile_k + pad) / 4. Copies and ldmatrix ask it; a good answer spreads the same ",
      "chunk of 8 neighbouring rows over the 32 banks."]]} {
  %pitch = arith.constant {wavesmith.value = "(2 * tile_k + pad) / 4"} 16 : index
  %near = arith.constant {wavesmith.value = "max(64 / tile_k, 1)"} 2 : index
  %mask = arith.constant {wavesmith.value = "pad == 0 ? tile_k / 8 - 1 : 0"} 3 : index
  %key = arith.divui %row, %near : index
  %kept = arith.andi %key, %mask : index
  %placed = arith.xori %chunk, %kept : index
  %at = affine.apply affine_map<(row, chunk)[pitch] -> (row * pitch + chunk * 4)>(%row, %placed)[%pitch]
  return %at : index
}

func.func private @load(%x: !words, %origin: index, %rows: index, %extent: index, %depth: index, %k: index,
    %thread: index, %to: !shared, %base: index) attributes {
    wavesmith.region = [["Starts copying this thread's chunks of a tile to word base of shared memory, each to its ",
      "place: rows from origin on, depth .. depth + tile_k - 1 of k. Rows from extent on and chunks from k on must ",
      "not be read; the latter become zeros. By all threads; no waiting, no barrier."]]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %chunks = arith.constant {wavesmith.value = "tile_k / 8"} 4 : index
  %threads = arith.constant {wavesmith.value = "32 * warps_m * warps_n"} 128 : index
  %whole = arith.constant {wavesmith.value = "1 - cut_k"} false
  %total = arith.muli %rows, %chunks : index
  %count = arith.ceildivui %total, %threads : index
  %rest = arith.remui %total, %threads : index
  %even = arith.cmpi eq, %rest, %c0 : index
  %start = affine.apply affine_map<()[row, k] -> (row * (k floordiv 2))>()[%origin, %k]
  %from = memref.reinterpret_cast %x to offset: [%start], sizes: [1], strides: [1] : !words to !tile
  scf.for %i = %c0 to %count step %c1 {
    %number = affine.apply affine_map<(i, t)[threads] -> (i * threads + t)>(%i, %thread)[%threads]
    %inside = arith.cmpi ult, %number, %total : index
    %exists = arith.ori %even, %inside : i1
    scf.if %exists {
      %row = arith.divui %number, %chunks : index
      %chunk = arith.remui %number, %chunks : index
      %along = affine.apply affine_map<(chunk)[depth] -> (chunk * 8 + depth)>(%chunk)[%depth]
      %before = arith.cmpi ult, %along, %k : index
      %read = arith.ori %before, %whole : i1
      %kept = arith.select %read, %along, %c0 : index
      %words = arith.select %read, %c4, %c0 : index
      %last = affine.min affine_map<(row)[origin, x] -> (row, x - 1 - origin)>(%row)[%origin, %extent]
      %offset = affine.apply affine_map<(row, along)[k] -> (row * (k floordiv 2) + along floordiv 2)>
        (%last, %kept)[%k]
      %at = func.call @short(%offset) : (index) -> index
      %within = func.call @place(%row, %chunk) : (index, index) -> index
      %target = arith.addi %base, %within : index
      %slot = func.call @short(%target) : (index) -> index
      %token = nvgpu.device_async_copy %from[%at], %to[%slot], 4, %words {bypassL1} : !tile to !shared
    }
  } {loop_annotation = #unroll}
  return
}

// An offset of less than 2^31, which is then computed in 32 bits.
func.func private @short(%offset: index) -> index {
  %bits = arith.index_castui %offset : index to i32
  %same = arith.index_castui %bits : i32 to index
  return %same : index
}

// 16 rows x 16 of k of a tile as four matrices of 8 x 8, where lane / 8 (mod 2, div 2) says which: of A rows first
// and then k, as the instruction takes them; of B k first, so that two halves of the result are two operands.
func.func private @fragment(%tiles: !shared, %base: index, %row: index, %chunk: index, %lane: index, %of_a: i1)
    -> vector<4xi32> {
  %first = affine.apply affine_map<(lane) -> (lane floordiv 8 mod 2)>(%lane)
  %second = affine.apply affine_map<(lane) -> (lane floordiv 16)>(%lane)
  %down = arith.select %of_a, %first, %second : index
  %along = arith.select %of_a, %second, %first : index
  %own.row = affine.apply affine_map<(row, lane, down) -> (row + lane mod 8 + down * 8)>(%row, %lane, %down)
  %own.chunk = arith.addi %chunk, %along : index
  %within = func.call @place(%own.row, %own.chunk) : (index, index) -> index
  %word = arith.addi %base, %within : index
  %at = func.call @short(%word) : (index) -> index
  %read = nvgpu.ldmatrix %tiles[%at] {numTiles = 4 : i32, transpose = false} : !shared -> vector<4x1xi32>
  %fragment = vector.shape_cast %read : vector<4x1xi32> to vector<4xi32>
  return %fragment : vector<4xi32>
}

// Block (i, j) of sums += 16 x 16 of A times 16 x 8 of B.
func.func private @multiply(%a: vector<4xi32>, %b0: i32, %b1: i32, %sums: !sums, %i: index, %j: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a0, %a1, %a2, %a3 = vector.to_elements %a : vector<4xi32>
  %s0 = memref.load %sums[%i, %j, %c0] : !sums
  %s1 = memref.load %sums[%i, %j, %c1] : !sums
  %s2 = memref.load %sums[%i, %j, %c2] : !sums
  %s3 = memref.load %sums[%i, %j, %c3] : !sums
  %all = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%s0, %s1, %s2, %s3] {
    layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>,
    multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>}
    : (i32, i32, f32) -> !four
  %d0 = llvm.extractvalue %all[0] : !four
  %d1 = llvm.extractvalue %all[1] : !four
  %d2 = llvm.extractvalue %all[2] : !four
  %d3 = llvm.extractvalue %all[3] : !four
  memref.store %d0, %sums[%i, %j, %c0] : !sums
  memref.store %d1, %sums[%i, %j, %c1] : !sums
  memref.store %d2, %sums[%i, %j, %c2] : !sums
  memref.store %d3, %sums[%i, %j, %c3] : !sums
  return
}

func.func private @mma(%tiles: !shared, %base_a: index, %base_b: index, %row: index, %column: index, %lane: index,
    %sums: !sums) attributes {
    wavesmith.region = [["Adds to sums a step's products of this warp's part: rows from row on of the tile of A at ",
      "word base_a, from column on of the tile of B at base_b. Warps run it together; no barrier."]]} {
  %false = arith.constant false
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %depth = arith.constant {wavesmith.value = "tile_k / 8"} 4 : index
  %blocks_m = arith.constant {wavesmith.value = "tile_m / 16 / warps_m"} 4 : index
  %pairs_n = arith.constant {wavesmith.value = "tile_n / 16 / warps_n"} 4 : index
  %b = memref.alloca(%pairs_n) : !fragments
  scf.for %chunk = %c0 to %depth step %c2 {
    scf.for %j = %c0 to %pairs_n step %c1 {
      %at = affine.apply affine_map<(j)[column] -> (j * 16 + column)>(%j)[%column]
      %both = func.call @fragment(%tiles, %base_b, %at, %chunk, %lane, %false)
        : (!shared, index, index, index, index, i1) -> vector<4xi32>
      memref.store %both, %b[%j] : !fragments
    } {loop_annotation = #unroll}
    scf.for %i = %c0 to %blocks_m step %c1 {
      %at = affine.apply affine_map<(i)[row] -> (i * 16 + row)>(%i)[%row]
      %a = func.call @fragment(%tiles, %base_a, %at, %chunk, %lane, %true)
        : (!shared, index, index, index, index, i1) -> vector<4xi32>
      scf.for %j = %c0 to %pairs_n step %c1 {
        %both = memref.load %b[%j] : !fragments
        %b0, %b1, %b2, %b3 = vector.to_elements %both : vector<4xi32>
        %left = affine.apply affine_map<(j) -> (2 * j)>(%j)
        %right = affine.apply affine_map<(j) -> (2 * j + 1)>(%j)
        func.call @multiply(%a, %b0, %b1, %sums, %i, %left) : (vector<4xi32>, i32, i32, !sums, index, index) -> ()
        func.call @multiply(%a, %b2, %b3, %sums, %i, %right) : (vector<4xi32>, i32, i32, !sums, index, index) -> ()
      } {loop_annotation = #unroll}
    } {loop_annotation = #unroll}
  } {loop_annotation = #unroll}
  return
}

func.func private @store(%sums: !sums, %c: !pairs, %row: index, %column: index, %m: index, %n: index, %lane: index)
    attributes {
    wavesmith.region = [["Rounds this warp's sums to bf16 (nearest even) and stores them to C from (row, column) on. ",
      "Rows from m and columns from n on must not be written. No barrier."]]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %eights_m = arith.constant {wavesmith.value = "tile_m / 8 / warps_m"} 8 : index
  %blocks_n = arith.constant {wavesmith.value = "tile_n / 8 / warps_n"} 8 : index
  %start = affine.apply affine_map<()[row, column, n] -> (row * (n floordiv 2) + column floordiv 2)>
    ()[%row, %column, %n]
  %to = memref.reinterpret_cast %c to offset: [%start], sizes: [1], strides: [1] : !pairs to !part_of_c
  %rows = affine.apply affine_map<(lane)[m, row] -> (m - row - lane floordiv 4)>(%lane)[%m, %row]
  %columns = arith.subi %n, %column : index
  %own = affine.apply affine_map<(lane)[n] -> (lane floordiv 4 * (n floordiv 2) + lane mod 4)>(%lane)[%n]
  scf.for %i = %c0 to %eights_m step %c1 {
    %down = affine.apply affine_map<(i) -> (i * 8)>(%i)
    %in.rows = arith.cmpi slt, %down, %rows : index
    %block = affine.apply affine_map<(i) -> (i floordiv 2)>(%i)
    %low = affine.apply affine_map<(i) -> (i mod 2 * 2)>(%i)
    %high = affine.apply affine_map<(i) -> (i mod 2 * 2 + 1)>(%i)
    scf.for %j = %c0 to %blocks_n step %c1 {
      %right = affine.apply affine_map<(j) -> (j * 8)>(%j)
      %in.columns = arith.cmpi slt, %right, %columns : index
      %inside = arith.andi %in.rows, %in.columns : i1
      scf.if %inside {
        %first = memref.load %sums[%block, %j, %low] : !sums
        %second = memref.load %sums[%block, %j, %high] : !sums
        %pair = vector.from_elements %first, %second : vector<2xf32>
        %rounded = arith.truncf %pair : vector<2xf32> to vector<2xbf16>
        %offset = affine.apply affine_map<(i, j, own)[n] -> (i * 8 * (n floordiv 2) + j * 4 + own)>(%i, %j, %own)[%n]
        %at = func.call @short(%offset) : (index) -> index
        memref.store %rounded, %to[%at] : !part_of_c
      }
    } {loop_annotation = #unroll}
  } {loop_annotation = #unroll}
  return
}

// Both tiles of a step to a stage. A group of copies is committed also where there is none: waits count groups.
func.func private @load_step(%a: !words, %b: !words, %row: index, %column: index, %m: index, %n: index, %k: index,
    %step: index, %stage: index, %thread: index, %tiles: !shared) {
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 128 : index
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 32 : index
  %pitch = arith.constant {wavesmith.value = "(2 * tile_k + pad) / 4"} 16 : index
  %depth = arith.muli %step, %tile_k : index
  %exists = arith.cmpi ult, %depth, %k : index
  scf.if %exists {
    %base_a = affine.apply affine_map<(s)[m, n, pitch] -> (s * ((m + n) * pitch))>(%stage)[%tile_m, %tile_n, %pitch]
    %base_b = affine.apply affine_map<(s)[m, n, pitch] -> (s * ((m + n) * pitch) + m * pitch)>
      (%stage)[%tile_m, %tile_n, %pitch]
    func.call @load(%a, %row, %tile_m, %m, %depth, %k, %thread, %tiles, %base_a)
      : (!words, index, index, index, index, index, index, !shared, index) -> ()
    func.call @load(%b, %column, %tile_n, %n, %depth, %k, %thread, %tiles, %base_b)
      : (!words, index, index, index, index, index, index, !shared, index) -> ()
  }
  %group = nvgpu.device_async_create_group
  return
}

gpu.func @gemm_bf16_mma_sync(%a: !words {wavesmith.name = "a", llvm.noalias, llvm.readonly},
    %b: !words {wavesmith.name = "b", llvm.noalias, llvm.readonly}, %c: !pairs {wavesmith.name = "c", llvm.noalias},
    %m32: i32 {wavesmith.name = "m"}, %n32: i32 {wavesmith.name = "n"}, %k32: i32 {wavesmith.name = "k"}) kernel
    attributes {
    wavesmith.launch = ["ceildiv(m, tile_m) * ceildiv(n, tile_n)", "1", "1", "32 * warps_m * warps_n", "1"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 128 : index
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 32 : index
  %pitch = arith.constant {wavesmith.value = "(2 * tile_k + pad) / 4"} 16 : index
  %warps_n = arith.constant {wavesmith.value = "warps_n"} 2 : index
  %part_m = arith.constant {wavesmith.value = "tile_m / warps_m"} 64 : index
  %part_n = arith.constant {wavesmith.value = "tile_n / warps_n"} 64 : index
  %stages = arith.constant {wavesmith.value = "stages"} 4 : index
  %ahead = arith.constant {wavesmith.value = "stages - 1"} 3 : index
  %size = arith.constant {wavesmith.value = "stages * (tile_m + tile_n) * (2 * tile_k + pad) / 4"} 16384 : index
  %blocks_m = arith.constant {wavesmith.value = "tile_m / 16 / warps_m"} 4 : index
  %blocks_n = arith.constant {wavesmith.value = "tile_n / 8 / warps_n"} 8 : index
  %tiles = memref.alloc(%size) {wavesmith.lds = "tiles"} : !shared
  %sums = memref.alloca(%blocks_m, %blocks_n) : !sums
  %m = arith.index_castui %m32 : i32 to index
  %n = arith.index_castui %n32 : i32 to index
  %k = arith.index_castui %k32 : i32 to index
  %group = gpu.block_id x
  %thread = gpu.thread_id x
  %tiles_m = arith.ceildivui %m, %tile_m : index
  %tiles_n = arith.ceildivui %n, %tile_n : index
  %group32 = arith.index_castui %group : index to i32
  %tiles_m32 = arith.index_castui %tiles_m : index to i32
  %tiles_n32 = arith.index_castui %tiles_n : index to i32
  %order:2 = func.call @tile_order(%group32, %tiles_m32, %tiles_n32) : (i32, i32, i32) -> (i32, i32)
  %tile.row = arith.index_castui %order#0 : i32 to index
  %tile.column = arith.index_castui %order#1 : i32 to index
  %row = arith.muli %tile.row, %tile_m : index
  %column = arith.muli %tile.column, %tile_n : index
  %lane = affine.apply affine_map<(t) -> (t mod 32)>(%thread)
  %warp.row = affine.apply affine_map<(t)[w, part] -> (t floordiv 32 floordiv w * part)>(%thread)[%warps_n, %part_m]
  %warp.column = affine.apply affine_map<(t)[w, part] -> (t floordiv 32 mod w * part)>(%thread)[%warps_n, %part_n]
  affine.for %i = 0 to affine_map<()[s] -> (s)>()[%blocks_m] {
    affine.for %j = 0 to affine_map<()[s] -> (s)>()[%blocks_n] {
      affine.for %e = 0 to 4 { memref.store %none, %sums[%i, %j, %e] : !sums }
    }
  }
  scf.for %step = %c0 to %ahead step %c1 {
    func.call @load_step(%a, %b, %row, %column, %m, %n, %k, %step, %step, %thread, %tiles)
      : (!words, !words, index, index, index, index, index, index, index, index, !shared) -> ()
  } {loop_annotation = #unroll}
  %steps = arith.ceildivui %k, %tile_k : index
  scf.for %step = %c0 to %steps step %c1 iter_args(%read = %c0, %write = %ahead) -> (index, index) {
    nvvm.cp.async.wait.group 2 {wavesmith.n = "stages - 2"}
    gpu.barrier
    %later = arith.addi %step, %ahead : index
    func.call @load_step(%a, %b, %row, %column, %m, %n, %k, %later, %write, %thread, %tiles)
      : (!words, !words, index, index, index, index, index, index, index, index, !shared) -> ()
    %base_a = affine.apply affine_map<(s)[m, n, pitch] -> (s * ((m + n) * pitch))>(%read)[%tile_m, %tile_n, %pitch]
    %base_b = affine.apply affine_map<(base)[m, pitch] -> (base + m * pitch)>(%base_a)[%tile_m, %pitch]
    func.call @mma(%tiles, %base_a, %base_b, %warp.row, %warp.column, %lane, %sums)
      : (!shared, index, index, index, index, index, !sums) -> ()
    %next = arith.addi %read, %c1 : index
    %ends = arith.cmpi eq, %next, %stages : index
    %turned = arith.select %ends, %c0, %next : index
    scf.yield %turned, %read : index, index
  }
  %c.row = arith.addi %row, %warp.row : index
  %c.column = arith.addi %column, %warp.column : index
  func.call @store(%sums, %c, %c.row, %c.column, %m, %n, %lane)
    : (!sums, !pairs, index, index, index, index, index) -> ()
  gpu.return
}
}
}
