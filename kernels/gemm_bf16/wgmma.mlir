// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gemm_bf16_wgmma_mlir: gemm_bf16 on sm_90a with the matrix instruction of warpgroups, wgmma m64nNk16, fed by TMA.
//
// A workgroup is 1 to 4 consumer warpgroups and a producer, of which one thread works. It walks over tiles of C,
// tile_m x tile_n. Blocks of 64 along k (128 bytes of a row) pass through a ring of stages in shared memory:
//
//   producer   wait until the stage is empty; load: TMA of A and B to it
//   consumer   wait until it is full; multiply: wgmma onto the sums; hand back the stage, with pipeline = 1 the
//              one before, whose products are complete by then
//
// After a tile's last block consumers store it, while the producer loads the next one's. Stages are handed over by
// mbarriers, a full one, complete when the bytes of the stage have come, and an empty one, when every consumer warp
// that reads them has arrived. Both sides count places of the ring, 0 .. 2 * stages - 1, over all tiles: two turns,
// whose number is the parity of the phase that consumers wait for. The producer waits for the one before, which
// counts as complete in the first turn.
//
// The cluster_m (cluster_n) workgroups of a cluster have tiles side by side along m (n), and each loads its part of
// their common rows of B (A) for all of them.
//
// Shared memory, addressed by number: the ring, of each stage tile_m rows of A, then tile_n of B; two boxes of 64
// rows for each warpgroup, through which its part of C leaves; full, then empty barriers. TMA permutes the 16-byte
// chunks of a row as wgmma wants them (chunk xor row mod 8), so all but the barriers begin at multiples of 1024. It
// reads zeros past A and B, along k too, and does not write past C: nothing here masks.
//
// Sums: for each 64 rows of a warpgroup a thread has tile_n / 2 floats, for each 8 columns i four. Float e of them,
// of lane l of warp w, belongs to row 16w + l / 4 + 8(e / 2), column 8i + 2(l mod 4) + e mod 2.

#workgroup = #gpu.address_space<workgroup>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
#stays = #llvm.loop_annotation<unroll = <disable = true>>
!shared = !llvm.ptr<3>
!map = !llvm.ptr
!sums = !llvm.ptr

module attributes {
  wavesmith.template = ["gemm_bf16_wgmma_mlir", "1", "gemm_bf16", "sm_90a",
    "Matrix instructions of warpgroups fed by TMA, sums in registers over all of k, workgroups walk over tiles."],
  wavesmith.param = [
    ["layout", "1", "1", "layout of a and b: k-major"],
    ["tile_m", "128", "64 128 192 256", "rows of C per workgroup"],
    ["tile_n", "256", "16 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256", "columns of C per workgroup"],
    ["warpgroups", "2", "1 2 3 4", "consumer warpgroups, each with its rows of the tile"],
    ["pipeline", "1", "0 1", "blocks of k whose products run while the next one's start"],
    ["stages", "4", "2 3 4 5 6 7 8 9 10 11 12", "blocks of k in shared memory at a time"],
    ["box", "64", "16 32 64", "columns of one store of C"],
    ["group_m", "8", "1 2 4 8 16 32", "rows of tiles that are walked side by side"],
    ["cluster_m", "1", "1 2 4", "tiles along m that load B together"],
    ["cluster_n", "1", "1 2 4", "tiles along n that load A together"],
    ["resident", "1", "1 2 3 4", "workgroups that a multiprocessor must hold at once"]],
  wavesmith.require = [
    ["tile_m % (64 * warpgroups) == 0", "a warpgroup's rows are whole blocks of 64"],
    ["tile_n % box == 0", "the tile's columns are whole boxes"],
    ["cluster_m == 1 || cluster_n == 1", "a cluster shares loads of A or of B, not of both"],
    ["tile_n % (8 * cluster_m) == 0", "each of a cluster loads whole groups of 8 rows of B"],
    ["128 * stages * (tile_m + tile_n) + 256 * warpgroups * box + 16 * stages <= 233472 / resident - 1024",
     "a multiprocessor has 228 KiB of shared memory, of which each workgroup costs one more"],
    [["tile_m * tile_n / 128 / warpgroups + 24 <= (warpgroups * resident == 1 ? 255 : min(240, (512 / ",
      "((warpgroups + 1) * resident) / 8 * 8 * (warpgroups + 1) - 24) / warpgroups / 8 * 8))"],
     "the sums leave too few registers for the rest"],
    ["tile_n / 2 + 26 <= 512 / ((warpgroups + 1) * resident) / 8 * 8",
     "a matrix instruction needs its registers before the producer has handed over its own (ptxas: C7602)"]],
  wavesmith.tensor_map = [
    ["a_map", "a", "bf16", "k", "m", "64", "tile_m / cluster_n", "128"],
    ["b_map", "b", "bf16", "k", "n", "64", "tile_n / cluster_m", "128"],
    ["c_map", "c", "bf16", "n", "m", "box", "64", "2 * box"]],
  wavesmith.occupancy = [["gemm_bf16_wgmma_mlir", "cluster_m * cluster_n", "resident"]],
  wavesmith.lds = [["memory", "128 * stages * (tile_m + tile_n) + 256 * warpgroups * box + 16 * stages"]]
} {
gpu.module @kernels {

// wavesmith's own, which become assembly with as many operands as the columns say (docs/targets.md).
func.func private @ws.wgmma.bf16.k64.onto(!sums, i64, i64, i32, i32)
func.func private @ws.wgmma.wait(!sums, i32, i32)

func.func private @tile_order(%position: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32) attributes {
    wavesmith.region = [["Which tile of C (of clusters: which cluster's) is at a position of the walk (row, column).",
      " A bijection for any counts, and a function of its arguments alone: producer and consumers ask it. Neighbours",
      " in time are some hundred and share L2: rows of A and columns of B that several use should meet."]]} {
  %across = arith.constant {wavesmith.value = "group_m"} 8 : i32
  %band = arith.muli %across, %tiles_n : i32
  %number = arith.divui %position, %band : i32
  %within = arith.remui %position, %band : i32
  %first = arith.muli %number, %across : i32
  %left = arith.subi %tiles_m, %first : i32
  %height = arith.minui %across, %left : i32
  %down = arith.remui %within, %height : i32
  %row = arith.addi %first, %down : i32
  %column = arith.divui %within, %height : i32
  return %row, %column : i32, i32
}

// Where in C (row, column) the tile begins that workgroup number rank of a cluster has at a position. A cluster's may
// lie past C.
func.func private @origin(%position: i32, %units_m: i32, %units_n: i32, %rank: i32) -> (i32, i32) {
  %cluster_m = arith.constant {wavesmith.value = "cluster_m"} 1 : i32
  %high = arith.constant {wavesmith.value = "tile_m * cluster_m"} 128 : i32
  %wide = arith.constant {wavesmith.value = "tile_n * cluster_n"} 256 : i32
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : i32
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 256 : i32
  %unit:2 = func.call @tile_order(%position, %units_m, %units_n) : (i32, i32, i32) -> (i32, i32)
  %unit.row = arith.muli %unit#0, %high : i32
  %unit.column = arith.muli %unit#1, %wide : i32
  %below = arith.remui %rank, %cluster_m : i32
  %beside = arith.divui %rank, %cluster_m : i32
  %down = arith.muli %below, %tile_m : i32
  %right = arith.muli %beside, %tile_n : i32
  %row = arith.addi %unit.row, %down : i32
  %column = arith.addi %unit.column, %right : i32
  return %row, %column : i32, i32
}

// ---- the ring ---------------------------------------------------------------------------------------------------

// Where the stage of a place is, its full and its empty barrier, and the turn.
func.func private @stage_of(%memory: i32, %place: i32) -> (i32, i32, i32, i32) {
  %c8 = arith.constant 8 : i32
  %stages = arith.constant {wavesmith.value = "stages"} 4 : i32
  %bytes = arith.constant {wavesmith.value = "128 * (tile_m + tile_n)"} 49152 : i32
  %barriers = arith.constant {wavesmith.value =
    "128 * stages * (tile_m + tile_n) + 256 * warpgroups * box"} 229376 : i32
  %behind = arith.constant {wavesmith.value = "8 * stages"} 32 : i32
  %again = arith.cmpi uge, %place, %stages : i32
  %turn = arith.extui %again : i1 to i32
  %less = arith.subi %place, %stages : i32
  %stage = arith.select %again, %less, %place : i32
  %past = arith.muli %stage, %bytes : i32
  %at = arith.addi %memory, %past : i32
  %first = arith.addi %memory, %barriers : i32
  %offset = arith.muli %stage, %c8 : i32
  %full = arith.addi %first, %offset : i32
  %empty = arith.addi %full, %behind : i32
  return %at, %full, %empty, %turn : i32, i32, i32, i32
}

// The place behind this one.
func.func private @next(%place: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %places = arith.constant {wavesmith.value = "2 * stages"} 8 : i32
  %behind = arith.addi %place, %c1 : i32
  %ends = arith.cmpi eq, %behind, %places : i32
  %next = arith.select %ends, %c0, %behind : i32
  return %next : i32
}

// Until the barrier's phase of this parity is complete.
func.func private @wait(%barrier: i32, %parity: i32) {
  nvvm.inline_ptx
    "{ .reg .pred done; retry: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra retry; }"
    (%barrier, %parity) : i32, i32
  return
}

// ---- the producer: one thread -----------------------------------------------------------------------------------

// TMA of rows, 64 of k each, from (row, depth) on. As many workgroups of a cluster as sharers says need the same:
// each loads the part of its number among them, to the same place in all.
func.func private @load_rows(%map: !map, %row: i32, %depth: i32, %rows: i32, %sharers: i32, %rank: i32, %to: i32,
    %full: i32) {
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %all = arith.constant {wavesmith.value = "cluster_m * cluster_n == 4 ? 15 : 3"} 3 : i16
  %barrier = llvm.inttoptr %full : i32 to !shared
  %part = arith.divui %rows, %sharers : i32
  %number = arith.remui %rank, %sharers : i32
  %skipped = arith.muli %part, %number : i32
  %own.row = arith.addi %row, %skipped : i32
  %offset = arith.muli %skipped, %c128 : i32
  %own.to = arith.addi %to, %offset : i32
  %place = llvm.inttoptr %own.to : i32 to !shared
  %alone = arith.cmpi eq, %sharers, %c1 : i32
  scf.if %alone {
    nvvm.cp.async.bulk.tensor.shared.cluster.global %place, %map, %barrier, box[%depth, %own.row] : !shared, !map
  } else {
    nvvm.cp.async.bulk.tensor.shared.cluster.global %place, %map, %barrier, box[%depth, %own.row]
      multicast_mask = %all : !shared, !map
  }
  return
}

func.func private @load(%a_map: !map, %b_map: !map, %row: i32, %column: i32, %depth: i32, %rank: i32, %to: i32,
    %full: i32) attributes {
    wavesmith.region = [["By one thread: tells the barrier full how many bytes will come, and starts their loads: ",
      "64 of k from depth on, of A tile_m rows from row on to byte to of shared memory, of B tile_n rows from ",
      "column on right behind them. In a cluster the part of this workgroup, number rank, for all. The stage is ",
      "empty. No waiting."]]} {
  %bytes = arith.constant {wavesmith.value = "128 * (tile_m + tile_n)"} 49152 : i32
  %a.bytes = arith.constant {wavesmith.value = "128 * tile_m"} 16384 : i32
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : i32
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 256 : i32
  %cluster_m = arith.constant {wavesmith.value = "cluster_m"} 1 : i32
  %cluster_n = arith.constant {wavesmith.value = "cluster_n"} 1 : i32
  %barrier = llvm.inttoptr %full : i32 to !shared
  nvvm.mbarrier.arrive.expect_tx.shared %barrier, %bytes : !shared, i32
  %b.to = arith.addi %to, %a.bytes : i32
  func.call @load_rows(%a_map, %row, %depth, %tile_m, %cluster_n, %rank, %to, %full)
    : (!map, i32, i32, i32, i32, i32, i32, i32) -> ()
  func.call @load_rows(%b_map, %column, %depth, %tile_n, %cluster_m, %rank, %b.to, %full)
    : (!map, i32, i32, i32, i32, i32, i32, i32) -> ()
  return
}

// Of all tiles from position on, a stride apart.
func.func private @produce(%a_map: !map, %b_map: !map, %position: i32, %stride: i32, %units_m: i32, %units_n: i32,
    %blocks: i32, %rank: i32, %memory: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %positions = arith.muli %units_m, %units_n : i32
  %end = scf.for %tile = %position to %positions step %stride iter_args(%first = %c0) -> i32 : i32 {
    %row, %column = func.call @origin(%tile, %units_m, %units_n, %rank) : (i32, i32, i32, i32) -> (i32, i32)
    %after = scf.for %block = %c0 to %blocks step %c1 iter_args(%place = %first) -> i32 : i32 {
      %to, %full, %empty, %turn = func.call @stage_of(%memory, %place) : (i32, i32) -> (i32, i32, i32, i32)
      %before = arith.xori %turn, %c1 : i32
      func.call @wait(%empty, %before) : (i32, i32) -> ()
      %depth = arith.muli %block, %c64 : i32
      func.call @load(%a_map, %b_map, %row, %column, %depth, %rank, %to, %full)
        : (!map, !map, i32, i32, i32, i32, i32, i32) -> ()
      %next = func.call @next(%place) : (i32) -> i32
      scf.yield %next : i32
    } {loop_annotation = #stays}
    scf.yield %after : i32
  } {loop_annotation = #stays}
  return
}

// ---- consumers: warpgroups --------------------------------------------------------------------------------------

// What wgmma takes for rows of 128 bytes at a byte of shared memory: 128-byte swizzle, 1024 bytes to the next 8 rows.
func.func private @descriptor(%at: i32) -> i64 {
  %c4 = arith.constant 4 : i32
  %form = arith.constant 4611686293305360384 : i64
  %chunk = arith.shrui %at, %c4 : i32
  %wide = arith.extui %chunk : i32 to i64
  %descriptor = arith.ori %wide, %form : i64
  return %descriptor : i64
}

// The sums of the warpgroup's 64 rows number block.
func.func private @sums_of(%sums: !sums, %block: i32) -> !sums {
  %floats = arith.constant {wavesmith.value = "tile_n / 2"} 128 : i32
  %first = arith.muli %block, %floats : i32
  %at = llvm.getelementptr %sums[%first] : (!sums, i32) -> !sums, f32
  return %at : !sums
}

func.func private @multiply(%sums: !sums, %onto: i32, %stage: i32, %warpgroup: i32) attributes {
    wavesmith.region = [["Starts the products of the stage at byte stage of shared memory, of the warpgroup's rows ",
      "by all columns, and commits them: one group for each 64 rows. They are added to the sums, or with onto 0 set ",
      "them. All threads of a warpgroup; no waiting."]]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8192 = arith.constant 8192 : i32
  %columns = arith.constant {wavesmith.value = "tile_n"} 256 : i32
  %blocks = arith.constant {wavesmith.value = "tile_m / 64 / warpgroups"} 1 : i32
  %own.bytes = arith.constant {wavesmith.value = "128 * tile_m / warpgroups"} 8192 : i32
  %a.bytes = arith.constant {wavesmith.value = "128 * tile_m"} 16384 : i32
  %skipped = arith.muli %warpgroup, %own.bytes : i32
  %own.at = arith.addi %stage, %skipped : i32
  %b.at = arith.addi %stage, %a.bytes : i32
  %b = func.call @descriptor(%b.at) : (i32) -> i64
  scf.for %block = %c0 to %blocks step %c1 : i32 {
    %past = arith.muli %block, %c8192 : i32
    %a.at = arith.addi %own.at, %past : i32
    %a = func.call @descriptor(%a.at) : (i32) -> i64
    %own.sums = func.call @sums_of(%sums, %block) : (!sums, i32) -> !sums
    func.call @ws.wgmma.bf16.k64.onto(%own.sums, %a, %b, %columns, %onto) : (!sums, i64, i64, i32, i32) -> ()
  } {loop_annotation = #unroll}
  return
}

// Hands back the stage of an empty barrier, if so: of a warp one lane for each workgroup that loaded it.
func.func private @release(%empty: i32, %lane: i32, %if: i1) {
  %c1 = arith.constant 1 : i32
  %sharers = arith.constant {wavesmith.value = "cluster_m * cluster_n"} 1 : i32
  %one = arith.cmpi ult, %lane, %sharers : i32
  %arrives = arith.andi %one, %if : i1
  %alone = arith.cmpi eq, %sharers, %c1 : i32
  scf.if %alone {
    nvvm.inline_ptx "mbarrier.arrive.shared::cta.b64 _, [$0];" (%empty), predicate = %arrives : i32, i1
  } else {
    scf.if %arrives {
      // Without .release.cluster, which would fence all memory: what is handed back was only read.
      %there = nvvm.inline_ptx "mapa.shared::cluster.u32 $0, $1, $2;" (%empty, %lane) : i32, i32 -> i32
      nvvm.inline_ptx "mbarrier.arrive.shared::cluster.b64 _, [$0];" (%there) : i32
    }
  }
  return
}

func.func private @accumulate(%sums: !sums, %blocks: i32, %first: i32, %memory: i32, %warpgroup: i32, %lane: i32)
    -> i32 attributes {
    wavesmith.region = [["Sums a tile's blocks, at least one, which have the places of the ring from first on; the ",
      "first of them sets the sums. For each waits until the stage is full, multiplies, and hands a stage back once ",
      "its products are complete. Returns the place behind the last, with all handed back and the sums there. All ",
      "threads of a warpgroup."]]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %columns = arith.constant {wavesmith.value = "tile_n"} 256 : i32
  %rows = arith.constant {wavesmith.value = "tile_m / 64 / warpgroups"} 1 : i32
  %overlaps = arith.constant {wavesmith.value = "pipeline"} true
  %in.turn = arith.constant {wavesmith.value = "1 - pipeline"} false
  %end:2 = scf.for %block = %c0 to %blocks step %c1 iter_args(%place = %first, %before = %memory)
      -> (i32, i32) : i32 {
    %at, %full, %empty, %turn = func.call @stage_of(%memory, %place) : (i32, i32) -> (i32, i32, i32, i32)
    func.call @wait(%full, %turn) : (i32, i32) -> ()
    %later = arith.cmpi ne, %block, %c0 : i32
    %onto = arith.extui %later : i1 to i32
    func.call @multiply(%sums, %onto, %at, %warpgroup) : (!sums, i32, i32, i32) -> ()
    nvvm.wgmma.wait.group.sync.aligned {wavesmith.group = "pipeline * (tile_m / 64 / warpgroups)"} 1
    %read = arith.select %overlaps, %before, %empty : i32
    %any = arith.ori %later, %in.turn : i1
    func.call @release(%read, %lane, %any) : (i32, i32, i1) -> ()
    %next = func.call @next(%place) : (i32) -> i32
    scf.yield %next, %empty : i32, i32
  } {loop_annotation = #stays}
  scf.for %row = %c0 to %rows step %c1 : i32 {
    %own.sums = func.call @sums_of(%sums, %row) : (!sums, i32) -> !sums
    func.call @ws.wgmma.wait(%own.sums, %columns, %c0) : (!sums, i32, i32) -> ()
  } {loop_annotation = #unroll}
  func.call @release(%end#1, %lane, %overlaps) : (i32, i32, i1) -> ()
  return %end#0 : i32
}

// The first two of these sums, rounded to bf16 (nearest even), the first in the low half.
func.func private @round_pair(%sums: !sums) -> i32 {
  %next = llvm.getelementptr %sums[1] : (!sums) -> !sums, f32
  %low = llvm.load %sums : !sums -> f32
  %high = llvm.load %next : !sums -> f32
  %pair = vector.from_elements %low, %high : vector<2xf32>
  %rounded = arith.truncf %pair : vector<2xf32> to vector<2xbf16>
  %bits = llvm.bitcast %rounded : vector<2xbf16> to i32
  return %bits : i32
}

// The first of these sums, 16 columns of the warp's 16 rows, to columns from column on of the box at a byte of shared
// memory, whose chunks are permuted as c_map says: xor address / 128.
func.func private @stage_columns(%sums: !sums, %box: index, %column: index, %thread: index) {
  %pitch = arith.constant {wavesmith.value = "2 * box"} 128 : index
  %chunks = arith.constant {wavesmith.value = "box / 8"} 8 : index
  %row = affine.apply affine_map<(t) -> (t mod 16 + t mod 128 floordiv 32 * 16)>(%thread)
  %chunk = affine.apply affine_map<(t)[column] -> (column floordiv 8 + t mod 32 floordiv 16)>(%thread)[%column]
  %key = affine.apply affine_map<(row)[pitch, chunks] -> (row * pitch floordiv 128 mod chunks)>(%row)[%pitch, %chunks]
  %placed = arith.xori %chunk, %key : index
  %at = affine.apply affine_map<(row, placed)[box, pitch] -> (box + row * pitch + placed * 16)>
    (%row, %placed)[%box, %pitch]
  %byte = arith.index_castui %at : index to i32
  %to = llvm.inttoptr %byte : i32 to !shared
  %sums.2 = llvm.getelementptr %sums[2] : (!sums) -> !sums, f32
  %sums.4 = llvm.getelementptr %sums[4] : (!sums) -> !sums, f32
  %sums.6 = llvm.getelementptr %sums[6] : (!sums) -> !sums, f32
  %v0 = func.call @round_pair(%sums) : (!sums) -> i32
  %v1 = func.call @round_pair(%sums.2) : (!sums) -> i32
  %v2 = func.call @round_pair(%sums.4) : (!sums) -> i32
  %v3 = func.call @round_pair(%sums.6) : (!sums) -> i32
  nvvm.stmatrix %to, %v0, %v1, %v2, %v3 {layout = #nvvm.mma_layout<row>} : !shared, i32, i32, i32, i32
  return
}

func.func private @store(%sums: !sums, %c_map: !map, %row: i32, %column: i32, %memory: i32) attributes {
    wavesmith.region = [["Rounds this warpgroup's sums to bf16 (nearest even) and stores them to C, in which the ",
      "workgroup's tile begins at (row, column), box by box of c_map, through the warpgroup's two boxes of shared ",
      "memory in turn. Returns when the last two are on their way; the next call waits. All threads of a ",
      "warpgroup."]]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %threads = arith.constant 128 : i32
  %box = arith.constant {wavesmith.value = "box"} 64 : index
  %across = arith.constant {wavesmith.value = "tile_n / box"} 4 : index
  %boxes = arith.constant {wavesmith.value = "tile_m / 64 / warpgroups * (tile_n / box)"} 4 : index
  %rows = arith.constant {wavesmith.value = "tile_m / warpgroups"} 64 : index
  %ring = arith.constant {wavesmith.value = "128 * stages * (tile_m + tile_n)"} 196608 : index
  // Read anew, so that what follows from it is not held in registers while products are summed.
  %thread32 = llvm.inline_asm has_side_effects "mov.u32 $0, %tid.x;", "=r" : () -> i32
  %thread = arith.index_castui %thread32 : i32 to index
  %start = arith.index_castui %memory : i32 to index
  %warpgroup = affine.apply affine_map<(t) -> (t floordiv 128)>(%thread)
  %place = affine.apply affine_map<(t) -> (t mod 128)>(%thread)
  %leads = arith.cmpi eq, %place, %c0 : index
  %name = affine.apply affine_map<(w) -> (w + 1)>(%warpgroup)
  %name32 = arith.index_castui %name : index to i32
  nvvm.cp.async.bulk.wait_group 0 {read}
  scf.for %i = %c0 to %boxes step %c1 {
    %at = affine.apply affine_map<(i, w)[start, ring, box] -> (start + ring + (w * 2 + i mod 2) * (box * 128))>
      (%i, %warpgroup)[%start, %ring, %box]
    // Only the leader has stores under way; the one before the last has read this box then.
    nvvm.cp.async.bulk.wait_group 1 {read}
    nvvm.barrier id = %name32 number_of_threads = %threads
    scf.for %right = %c0 to %box step %c16 {
      %float = affine.apply affine_map<(i, right)[box] -> ((i * box + right) floordiv 2)>(%i, %right)[%box]
      %float32 = arith.index_castui %float : index to i32
      %first = llvm.getelementptr %sums[%float32] : (!sums, i32) -> !sums, f32
      func.call @stage_columns(%first, %at, %right, %thread) : (!sums, index, index, index) -> ()
    } {loop_annotation = #unroll}
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier id = %name32 number_of_threads = %threads
    scf.if %leads {
      %down = affine.apply affine_map<(i, w)[rows, across] -> (w * rows + i floordiv across * 64)>
        (%i, %warpgroup)[%rows, %across]
      %right = affine.apply affine_map<(i)[across, box] -> (i mod across * box)>(%i)[%across, %box]
      %down32 = arith.index_castui %down : index to i32
      %right32 = arith.index_castui %right : index to i32
      %y = arith.addi %row, %down32 : i32
      %x = arith.addi %column, %right32 : i32
      %byte = arith.index_castui %at : index to i32
      %from = llvm.inttoptr %byte : i32 to !shared
      nvvm.cp.async.bulk.tensor.global.shared.cta %c_map, %from, box[%x, %y] : !map, !shared, i32, i32
      nvvm.cp.async.bulk.commit.group
    }
  } {loop_annotation = #unroll}
  return
}

// All tiles from position on, a stride apart.
func.func private @consume(%c_map: !map, %position: i32, %stride: i32, %units_m: i32, %units_n: i32, %blocks: i32,
    %rank: i32, %memory: i32, %warpgroup: i32, %lane: i32) {
  %c0 = arith.constant 0 : i32
  %floats = arith.constant {wavesmith.value = "tile_m * tile_n / 128 / warpgroups"} 128 : i32
  %sums = llvm.alloca %floats x f32 : (i32) -> !sums
  %positions = arith.muli %units_m, %units_n : i32
  %end = scf.for %tile = %position to %positions step %stride iter_args(%place = %c0) -> i32 : i32 {
    %row, %column = func.call @origin(%tile, %units_m, %units_n, %rank) : (i32, i32, i32, i32) -> (i32, i32)
    %next = func.call @accumulate(%sums, %blocks, %place, %memory, %warpgroup, %lane)
      : (!sums, i32, i32, i32, i32, i32) -> i32
    func.call @store(%sums, %c_map, %row, %column, %memory) : (!sums, !map, i32, i32, i32) -> ()
    scf.yield %next : i32
  } {loop_annotation = #stays}
  nvvm.cp.async.bulk.wait_group 0 {read}
  return
}

gpu.func @gemm_bf16_wgmma_mlir(%a_map: !map {wavesmith.name = "a_map"}, %b_map: !map {wavesmith.name = "b_map"},
    %c_map: !map {wavesmith.name = "c_map"}, %m: i32 {wavesmith.name = "m"}, %n: i32 {wavesmith.name = "n"},
    %k: i32 {wavesmith.name = "k"}) kernel attributes {
    wavesmith.launch = [["cluster_m * cluster_n * min(ceildiv(m, tile_m * cluster_m) * ",
      "ceildiv(n, tile_n * cluster_n), max(1, cu_count * resident / (cluster_m * cluster_n)))"],
      "1", "1", "128 * (warpgroups + 1)", "1"]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %lanes = arith.constant -1 : i32
  %stages = arith.constant {wavesmith.value = "stages"} 4 : i32
  %consumers = arith.constant {wavesmith.value = "warpgroups"} 2 : i32
  %readers = arith.constant {wavesmith.value = "4 * warpgroups * cluster_m * cluster_n"} 8 : i32
  %cluster = arith.constant {wavesmith.value = "cluster_m * cluster_n"} 1 : i32
  %shares = arith.constant {wavesmith.value = "cluster_m * cluster_n > 1"} false
  %high = arith.constant {wavesmith.value = "tile_m * cluster_m"} 128 : i32
  %wide = arith.constant {wavesmith.value = "tile_n * cluster_n"} 256 : i32
  // One warpgroup of each and one workgroup: 255 registers for everyone, nothing to hand over.
  %hands.over = arith.constant {wavesmith.value = "warpgroups * resident > 1"} true
  %size = arith.constant {wavesmith.value =
    "128 * stages * (tile_m + tile_n) + 256 * warpgroups * box + 16 * stages"} 229440 : index
  %block = memref.alloc(%size) {wavesmith.lds = "memory"} : memref<?xi8, #workgroup>
  %start = memref.extract_aligned_pointer_as_index %block : memref<?xi8, #workgroup> -> index
  %memory = arith.index_castui %start : index to i32
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %group = nvvm.read.ptx.sreg.ctaid.x : i32
  %groups = nvvm.read.ptx.sreg.nctaid.x : i32
  %member = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %rank = arith.select %shares, %member, %c0 : i32
  %lane = arith.remui %thread, %c32 : i32
  // Through a shuffle, so that ptxas knows it to be the same in a warp.
  %own.warp = arith.divui %thread, %c32 : i32
  %warp = nvvm.shfl.sync idx %lanes, %own.warp, %c0, %c31 : i32 -> i32
  %warpgroup = arith.divui %warp, %c4 : i32
  %units_m = arith.ceildivui %m, %high : i32
  %units_n = arith.ceildivui %n, %wide : i32
  %blocks = arith.ceildivui %k, %c64 : i32
  %position = arith.divui %group, %cluster : i32
  %stride = arith.divui %groups, %cluster : i32
  %starts = arith.cmpi eq, %thread, %c0 : i32
  scf.if %starts {
    scf.for %stage = %c0 to %stages step %c1 : i32 {
      %ring:4 = func.call @stage_of(%memory, %stage) : (i32, i32) -> (i32, i32, i32, i32)
      %full = llvm.inttoptr %ring#1 : i32 to !shared
      %empty = llvm.inttoptr %ring#2 : i32 to !shared
      nvvm.mbarrier.init.shared %full, %c1 : !shared, i32
      nvvm.mbarrier.init.shared %empty, %readers : !shared, i32
    } {loop_annotation = #unroll}
    nvvm.fence.mbarrier.init
  }
  scf.if %shares {
    nvvm.cluster.arrive.relaxed {aligned}
    nvvm.cluster.wait {aligned}
  } else {
    nvvm.barrier0
  }
  %produces = arith.cmpi eq, %warpgroup, %consumers : i32
  scf.if %produces {
    scf.if %hands.over {
      nvvm.setmaxregister decrease 24
    }
    %within = arith.remui %warp, %c4 : i32
    %first = arith.cmpi eq, %within, %c0 : i32
    scf.if %first {
      %chosen = nvvm.elect.sync -> i1
      scf.if %chosen {
        nvvm.prefetch.tensormap %a_map : !map
        nvvm.prefetch.tensormap %b_map : !map
        nvvm.prefetch.tensormap %c_map : !map
        func.call @produce(%a_map, %b_map, %position, %stride, %units_m, %units_n, %blocks, %rank, %memory)
          : (!map, !map, i32, i32, i32, i32, i32, i32, i32) -> ()
      }
    }
  } else {
    scf.if %hands.over {
      nvvm.setmaxregister increase 240 {wavesmith.regCount =
        "min(240, (512 / ((warpgroups + 1) * resident) / 8 * 8 * (warpgroups + 1) - 24) / warpgroups / 8 * 8)"}
    }
    func.call @consume(%c_map, %position, %stride, %units_m, %units_n, %blocks, %rank, %memory, %warpgroup, %lane)
      : (!map, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> ()
  }
  // Until then others of the cluster hand back stages here.
  scf.if %shares {
    nvvm.cluster.arrive
    nvvm.cluster.wait
  }
  gpu.return
}
}
}
