// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8_gemm_mfma: fp8_gemm_blockscale with matrix instructions, layouts kmajor and mnmajor of gfx942.
// A workgroup makes a tile of C in steps of tile_k along k. In each, store_tile puts the tiles of A and B
// from registers into LDS (between two barriers; with two buffers one will do), load_tile asks for those of
// a later step, and multiply adds up in two levels. With split_k > 1 a second kernel adds the slices of k.
//
// A buffer in LDS has the rows of A's tile, then B's, in chunks of 16 bytes; and tile_m scales of A, then
// B's. Rows past an operand are loaded as its last row again, and masked where C is stored. LLVM unrolls
// loops with constant bounds, and private memory becomes registers. Offsets from a tile's corner fit 32
// bits: addresses are a scalar base and one offset register.
#global = #gpu.address_space<global>
#local = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
!fp8 = memref<1xf8E4M3FNUZ, #global>
!f32 = memref<1xf32, #global>
!bf16 = memref<1xi16, #global>
!tiles = memref<?x?xvector<4xi32>, #local> // [buffer][chunk]
!scales = memref<?x?xf32, #local>          // [buffer][scale]
!words = memref<?x3x?xi32, #private>       // [set][A, B, scales][word], on their way to LDS
!pairs = memref<32x2xi64, #private>        // [block of A's rows, of B's][half of a chunk]
!acc = memref<?x?x?xf32, #private>         // [block of rows][of columns][float of the lane]
!load = (!fp8, index, index, index, i32, index, index, !words, index, index) -> ()
!store = (!words, index, index, !tiles, index, index, index, index) -> ()
!steps = (!fp8, !fp8, !f32, !f32, index, index, i32, vector<4xi32>, index, index, index, index, index,
          index, index, index, i1, !tiles, !scales, !words, !acc, !acc) -> ()
#number = affine_map<(i)[threads, thread] -> (i * threads + thread)>
#inside = affine_map<(i)[threads, thread, total] -> (i * threads + thread, total - 1)>
#ceildiv = affine_map<()[a, b] -> (a ceildiv b)>
#slice = affine_map<()[k, z, slices, tile] -> (k floordiv 128 * z floordiv slices * (128 floordiv tile))>

module attributes {
  wavesmith.template = ["fp8_gemm_mfma", "1", "fp8_gemm_blockscale", "gfx942",
    "Matrix instructions on tiles staged in LDS, two levels of accumulators, split K."],
  wavesmith.param = [
    ["layout", "0", "0 1", "layout: 0 kmajor, 1 mnmajor (transposed on the way to LDS)"],
    ["tile_m", "128", "16 32 64 128 256", "rows of C per workgroup"],
    ["tile_n", "128", "16 32 64 128 256", "columns of C per workgroup"],
    ["tile_k", "128", "32 64 128", "depth staged in LDS at a time"],
    ["waves_m", "2", "1 2 4 8", "waves along m"],
    ["waves_n", "2", "1 2 4 8", "waves along n"],
    ["mfma", "16", "16 32", "matrix instruction: 16 is 16x16x32, 32 is 32x32x16"],
    ["lds_pad", "0", "0 16", "unused bytes after each row in LDS; 0: chunks are permuted, xor with the row"],
    ["lds_buffers", "1", "1 2", "tiles in LDS at a time; 2 saves one barrier per step"],
    ["prefetch", "1", "1 2", "steps that global loads run ahead, held in registers"],
    ["split_k", "1", "1 2 4 8", "slices of k that run in parallel, summed by a second kernel"],
    ["nontemporal", "0", "0 1", "1: stores of C bypass the caches"]],
  wavesmith.require = [
    ["waves_m * waves_n <= 16", "a workgroup has at most 1024 threads"],
    ["tile_m % (waves_m * mfma) == 0 && tile_n % (waves_n * mfma) == 0", "a wave has whole instructions"],
    ["1024 / mfma <= tile_k", "the lanes of one LDS read span at most tile_k"],
    ["lds_buffers * ((tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16) <= 65536", "LDS has 64 KiB"],
    ["tile_m * tile_n / (waves_m * waves_n) <= 4096", "an accumulator of a lane is at most 64 floats"],
    ["ceildiv(max(tile_m, tile_n) * tile_k, 4096 * waves_m * waves_n) <= 4", "a thread holds 64 words"],
    [["tile_m * tile_n / (32 * waves_m * waves_n) + (tile_m / waves_m + tile_n / waves_n) / mfma * 2",
      " + (4 * prefetch + 1) * (1 + 3 * layout) * (",
      "ceildiv(tile_m * tile_k, 1024 * (1 + 3 * layout) * waves_m * waves_n) + ",
      "ceildiv(tile_n * tile_k, 1024 * (1 + 3 * layout) * waves_m * waves_n))",
      " <= (waves_m * waves_n <= 8 ? 184 : mfma == 16 ? 84 : 72)"],
     "accumulators, fragments and tiles on their way leave too few registers of a lane"]],
  wavesmith.lds = [["tiles", "lds_buffers * (tile_m + tile_n) * (tile_k + lds_pad)"],
                   ["scales", "lds_buffers * (4 * tile_m + 16)"]],
  wavesmith.workspace = "split_k > 1 ? 4 * split_k * m * n : 0"
} {
gpu.module @kernels {
func.func private @tile_order(%group: index, %tiles_m: index, %tiles_n: index) -> (index, index) attributes {
    wavesmith.region = [["Which tile of C (row, column) a workgroup makes; any counts, one-to-one, uniform. ",
      "Workgroups go in turn to 8 XCDs, each with an L2: there neighbours should share rows or columns."]]} {
  %row = arith.divui %group, %tiles_n : index
  %column = arith.remui %group, %tiles_n : index
  return %row, %column : index, index
}

func.func private @lds_chunk(%row: index, %chunk: index) -> index attributes {
    wavesmith.region = [["Where in a buffer the 16 bytes (row, chunk) lie, in chunks; rows of A, then of B. ",
      "One-to-one, below (tile_m + tile_n) * (tile_k + lds_pad) / 16. Good where 8 neighbouring rows, equal ",
      "chunk, lie in different banks (32 of 4 bytes): an LDS instruction takes them at a time."]]} {
  %pitch = arith.constant {wavesmith.value = "(tile_k + lds_pad) / 16"} 8 : index
  %near = arith.constant {wavesmith.value = "128 / tile_k"} 1 : index
  %far = arith.constant {wavesmith.value = "layout == 1 ? 8 : 65536"} 65536 : index
  %mask = arith.constant {wavesmith.value = "lds_pad == 0 ? tile_k / 16 - 1 : 0"} 7 : index
  %key_near = arith.divui %row, %near : index // rows that are read together
  %key_far = arith.divui %row, %far : index   // rows that mnmajor writes together
  %key = arith.xori %key_near, %key_far : index
  %kept = arith.andi %key, %mask : index
  %placed = arith.xori %chunk, %kept : index
  %at = affine.apply affine_map<()[row, pitch, x] -> (row * pitch + x)>()[%row, %pitch, %placed]
  return %at : index
}

func.func private @load_tile(%x: !fp8, %origin: index, %rows: index, %extent: index, %depth: i32, %k: index,
    %thread: index, %words: !words, %set: index, %operand: index) attributes {
    wavesmith.region = [["Starts loading this thread's part of a tile: rows origin .. of x, which has extent",
      " rows, k deep, there depth .. depth+tile_k-1. Piece i is number i * threads + thread. kmajor: 16 ",
      "bytes along k, to words[set, operand, 4 * i ..]; mnmajor (k lines of extent bytes): 4 rows x 16 lines, a ",
      "word each from 16 * i on. Rows past extent are free; nothing outside of x may be read."]]} {
  %zero = arith.constant 0 : index
  %kmajor = arith.constant {wavesmith.value = "layout == 0"} true
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %chunks = arith.constant {wavesmith.value = "tile_k / 16"} 8 : index
  %last = arith.constant {wavesmith.value = "tile_k - 16"} 112 : index
  %each = arith.constant {wavesmith.value = "layout == 0 ? 1 : 4"} 1 : index
  %quads = arith.divui %rows, %each : index
  %total = arith.muli %quads, %chunks : index
  %z = arith.index_castui %depth : i32 to index
  %left = affine.apply affine_map<()[k, z, last] -> (k - z - last - 16)>()[%k, %z, %last]
  %rest = affine.apply affine_map<()[x] -> (x mod 4)>()[%extent]
  %uneven = arith.cmpi ne, %rest, %zero : index
  %ends = arith.cmpi eq, %left, %zero : index
  %cut = arith.andi %uneven, %ends : i1
  affine.for %i = 0 to #ceildiv()[%total, %threads] {
    %p = affine.min #inside(%i)[%threads, %thread, %total]
    scf.if %kmajor {
      %row = affine.min affine_map<(p)[c, x, y] -> (p floordiv c, x - 1 - y)>(%p)[%chunks, %extent, %origin]
      %own = affine.apply affine_map<(p, row)[c, k] -> (row * k + p mod c * 16)>(%p, %row)[%chunks, %k]
      %own32 = arith.index_castui %own : index to i32
      %deep = arith.addi %own32, %depth : i32
      %offset = arith.index_castui %deep : i32 to index
      %at = affine.apply affine_map<()[y, k, o] -> (y * k + o)>()[%origin, %k, %offset]
      %bytes = vector.load %x[%at] : !fp8, vector<16xf8E4M3FNUZ>
      %value = vector.bitcast %bytes : vector<16xf8E4M3FNUZ> to vector<4xi32>
      affine.vector_store %value, %words[%set, %operand, %i * 4] : !words, vector<4xi32>
    } else {
      // four rows where the first is inside; in A's last lines from `back` bytes earlier on, moved down
      %row = affine.min affine_map<(p)[q, x, y] -> (p mod q * 4, (x - 1) floordiv 4 * 4 - y)>
        (%p)[%quads, %extent, %origin]
      %line = affine.apply affine_map<(p)[q] -> (p floordiv q * 16)>(%p)[%quads]
      %over = affine.max affine_map<(row)[x, y] -> (row + 4 + y - x, 0)>(%row)[%extent, %origin]
      %is_last = arith.cmpi eq, %line, %last : index
      %moves = arith.andi %is_last, %cut : i1
      %back = arith.select %moves, %over, %zero : index
      %own = affine.apply affine_map<(r, l)[x, b] -> (l * x + r - b)>(%row, %line)[%extent, %back]
      %own32 = arith.index_castui %own : index to i32
      %offset = arith.index_castui %own32 : i32 to index
      affine.for %e = 0 to 16 {
        %at = affine.apply affine_map<(e)[z, x, y, o] -> ((e + z) * x + y + o)>
          (%e)[%z, %extent, %origin, %offset]
        %bytes = vector.load %x[%at] : !fp8, vector<4xf8E4M3FNUZ>
        %value = vector.bitcast %bytes : vector<4xf8E4M3FNUZ> to vector<1xi32>
        affine.vector_store %value, %words[%set, %operand, %i * 16 + %e] : !words, vector<1xi32>
      }
      scf.if %cut {
        %bits = affine.apply affine_map<()[back] -> (back * 8)>()[%back]
        %bits32 = arith.index_castui %bits : index to i32
        %down = vector.splat %bits32 : vector<16xi32>
        %block = affine.vector_load %words[%set, %operand, %i * 16] : !words, vector<16xi32>
        %moved = arith.shrui %block, %down : vector<16xi32>
        affine.vector_store %moved, %words[%set, %operand, %i * 16] : !words, vector<16xi32>
      }
    }
  }
  return
}

func.func private @store_tile(%words: !words, %set: index, %operand: index, %tiles: !tiles, %buffer: index,
    %first: index, %rows: index, %thread: index) attributes {
    wavesmith.region = [["Stores what load_tile left in words to a buffer of LDS, from row `first` on: each ",
      "16 bytes along k once, at lds_chunk(row, chunk). The caller has the barriers."]]} {
  %mnmajor = arith.constant {wavesmith.value = "layout == 1"} false
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %chunks = arith.constant {wavesmith.value = "tile_k / 16"} 8 : index
  %each = arith.constant {wavesmith.value = "layout == 0 ? 1 : 4"} 1 : index
  %quads = arith.divui %rows, %each : index
  %total = arith.muli %quads, %chunks : index
  %line = arith.select %mnmajor, %quads, %chunks : index
  affine.for %i = 0 to #ceildiv()[%total, %threads] {
    %p = affine.apply #number(%i)[%threads, %thread]
    %exists = arith.cmpi ult, %p, %total : index
    scf.if %exists {
      scf.if %mnmajor {
        // 16 words of 4 rows at one k become 4 x 4 words of 4 k in one row: 2 byte permutations a word
        %block = affine.vector_load %words[%set, %operand, %i * 16] : !words, vector<16xi32>
        %bytes = vector.bitcast %block : vector<16xi32> to vector<64xi8>
        %paired = vector.shuffle %bytes, %bytes [
          0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15, 16, 20, 17, 21, 24, 28,
          25, 29, 18, 22, 19, 23, 26, 30, 27, 31, 32, 36, 33, 37, 40, 44, 41, 45, 34, 38, 35, 39,
          42, 46, 43, 47, 48, 52, 49, 53, 56, 60, 57, 61, 50, 54, 51, 55, 58, 62, 59, 63]
          : vector<64xi8>, vector<64xi8>
        %halves = vector.bitcast %paired : vector<64xi8> to vector<32xi16>
        %turned = vector.shuffle %halves, %halves [0, 2, 8, 10, 16, 18, 24, 26, 1, 3, 9, 11, 17, 19, 25, 27,
          4, 6, 12, 14, 20, 22, 28, 30, 5, 7, 13, 15, 21, 23, 29, 31]
          : vector<32xi16>, vector<32xi16>
        %rows_of = vector.bitcast %turned : vector<32xi16> to vector<16xi32>
        affine.vector_store %rows_of, %words[%set, %operand, %i * 16] : !words, vector<16xi32>
      }
      %slow = arith.divui %p, %line : index
      %fast = arith.remui %p, %line : index
      %chunk = arith.select %mnmajor, %slow, %fast : index
      %quad = arith.select %mnmajor, %fast, %slow : index
      affine.for %r = 0 to %each {
        %row = affine.apply affine_map<(r)[y, q, e] -> (y + q * e + r)>(%r)[%first, %quad, %each]
        %at = func.call @lds_chunk(%row, %chunk) : (index, index) -> index
        %word = affine.apply affine_map<(i, r)[e] -> ((i * e + r) * 4)>(%i, %r)[%each]
        %value = vector.load %words[%set, %operand, %word] : !words, vector<4xi32>
        memref.store %value, %tiles[%buffer, %at] : !tiles
      }
    }
  }
  return
}

func.func private @multiply(%tiles: !tiles, %scales: !scales, %buffer: index, %row: index, %column: index,
    %thread: index, %ends: i1, %partial: !acc, %running: !acc) attributes {
    wavesmith.region = [["Adds to partial this wave's part of the tile in a buffer of LDS: row of A on, row ",
      "tile_m + column of B on. partial[i, j] has block i of rows and j of columns as matrix instructions ",
      "leave it: float 4 * g + e of a lane is row 8 * g + 4 * (lane / mfma) + e, column lane % mfma. Where ",
      "a scale block ends, running += partial * (scale of A's row * scale of B's columns) in fp32, and ",
      "partial is zero; scales[buffer, r] is of row r, scales[buffer, tile_m + s] of columns 128 * s on."]]} {
  %zero = arith.constant 0 : i32
  %none = arith.constant dense<0.0> : vector<4xf32>
  %small = arith.constant {wavesmith.value = "mfma == 16"} true
  %mfma = arith.constant {wavesmith.value = "mfma"} 16 : index
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %floats = arith.constant {wavesmith.value = "mfma * mfma / 64"} 4 : index
  %windows = arith.constant {wavesmith.value = "tile_k * mfma / 1024"} 2 : index
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %row_b = affine.apply affine_map<()[y, x, i, d] -> (y + x - i * d)>()[%tile_m, %column, %count_m, %mfma]
  %fragments = memref.alloca() : !pairs
  affine.for %w = 0 to %windows {
    %chunk = affine.apply affine_map<(w)[d, t] -> ((w * 64 + t mod 64) floordiv d)>(%w)[%mfma, %thread]
    affine.for %i = 0 to affine_map<()[a, b] -> (a + b)>()[%count_m, %count_n] {
      %of_a = arith.cmpi ult, %i, %count_m : index
      %first = arith.select %of_a, %row, %row_b : index
      %own = affine.apply affine_map<(i)[y, d, t] -> (y + i * d + t mod d)>(%i)[%first, %mfma, %thread]
      %at = func.call @lds_chunk(%own, %chunk) : (index, index) -> index
      %value = memref.load %tiles[%buffer, %at] : !tiles
      %halves = vector.bitcast %value : vector<4xi32> to vector<2xi64>
      affine.vector_store %halves, %fragments[%i, 0] : !pairs, vector<2xi64>
    }
    affine.parallel (%h, %i, %j) = (0, 0, 0) to (2, %count_m, %count_n) {
      %x = affine.load %fragments[%i, %h] : !pairs
      %y = affine.load %fragments[%j + symbol(%count_m), %h] : !pairs
      scf.if %small {
        %old = affine.vector_load %partial[%i, %j, 0] : !acc, vector<4xf32>
        %new = rocdl.mfma.f32.16x16x32.fp8.fp8 %x, %y, %old, %zero, %zero, %zero
          : (i64, i64, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
        affine.vector_store %new, %partial[%i, %j, 0] : !acc, vector<4xf32>
      } else {
        %old = affine.vector_load %partial[%i, %j, 0] : !acc, vector<16xf32>
        %new = rocdl.mfma.f32.32x32x16.fp8.fp8 %x, %y, %old, %zero, %zero, %zero
          : (i64, i64, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
        affine.vector_store %new, %partial[%i, %j, 0] : !acc, vector<16xf32>
      }
    }
  }
  scf.if %ends {
    affine.parallel (%i, %g, %j) = (0, 0, 0) to (%count_m, %floats, %count_n) step (1, 4, 1) {
      %r = affine.apply affine_map<(i, g)[y, d, t] -> (y + i * d + g * 2 + t mod 64 floordiv d * 4)>
        (%i, %g)[%row, %mfma, %thread]
      %as = vector.load %scales[%buffer, %r] : !scales, vector<4xf32>
      %s = affine.apply affine_map<(j)[y, x, d] -> (y + x floordiv 128 + (j * d) floordiv 128)>
        (%j)[%tile_m, %column, %mfma]
      %bs = memref.load %scales[%buffer, %s] : !scales // column is a multiple of the wave's columns or of 128
      %all = vector.splat %bs : vector<4xf32>
      %factor = arith.mulf %as, %all : vector<4xf32>
      %part = affine.vector_load %partial[%i, %j, %g] : !acc, vector<4xf32>
      %sum = affine.vector_load %running[%i, %j, %g] : !acc, vector<4xf32>
      %new = vector.fma %part, %factor, %sum : vector<4xf32>
      affine.vector_store %new, %running[%i, %j, %g] : !acc, vector<4xf32>
      affine.vector_store %none, %partial[%i, %j, %g] : !acc, vector<4xf32>
    }
  }
  return
}

// Steps begin .. end-1 of the round from step `from` on; the number says what registers and which buffer a
// step has. Each asks for the tile `prefetch` steps later, or the last; with computes = false that is all.
func.func private @steps(%a: !fp8, %b: !fp8, %as: !f32, %bs: !f32, %m: index, %n: index, %k32: i32,
    %strides: vector<4xi32>, %row: index, %column: index, %wave_row: index, %wave_column: index,
    %thread: index, %from: index, %begin: index, %end: index, %computes: i1, %tiles: !tiles,
    %scales: !scales, %words: !words, %partial: !acc, %running: !acc) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 128 : index
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 128 : index
  %tile_k32 = arith.constant {wavesmith.value = "tile_k"} 128 : i32
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %factors = arith.constant {wavesmith.value = "tile_m + ceildiv(tile_n, 128)"} 129 : index
  %one_buffer = arith.constant {wavesmith.value = "lds_buffers == 1"} true
  %buffers = arith.constant {wavesmith.value = "lds_buffers"} 1 : index
  %ahead = arith.constant {wavesmith.value = "prefetch"} 1 : index
  %k = arith.index_castui %k32 : i32 to index
  %last = arith.subi %k32, %tile_k32 : i32
  %long = arith.index_cast %strides : vector<4xi32> to vector<4xindex>
  %as_m, %as_k, %bs_n, %bs_k = vector.to_elements %long : vector<4xindex>
  affine.for %i = %begin to %end {
    %set = arith.remui %i, %ahead : index
    %buffer = arith.remui %i, %buffers : index
    %sub = affine.apply affine_map<(i)[tile] -> ((i + 1) * tile mod 128)>(%i)[%tile_k]
    %ends = arith.cmpi eq, %sub, %c0 : index
    scf.if %computes {
      scf.if %one_buffer { gpu.barrier } // previous tile is read
      func.call @store_tile(%words, %set, %c0, %tiles, %buffer, %c0, %tile_m, %thread) : !store
      func.call @store_tile(%words, %set, %c1, %tiles, %buffer, %tile_m, %tile_n, %thread) : !store
      scf.if %ends {
        affine.for %slot = 0 to #ceildiv()[%factors, %threads] {
          %number = affine.apply #number(%slot)[%threads, %thread]
          %exists = arith.cmpi ult, %number, %factors : index
          scf.if %exists {
            %bits = memref.load %words[%set, %c2, %slot] : !words
            %value = arith.bitcast %bits : i32 to f32
            memref.store %value, %scales[%buffer, %number] : !scales
          }
        }
      }
      gpu.barrier // tile is in LDS
    }
    %later = arith.addi %i, %ahead : index
    %deep = affine.apply affine_map<(i)[from, tile] -> ((from + i) * tile)>(%later)[%from, %tile_k]
    %deep32 = arith.index_castui %deep : index to i32
    %depth = arith.minui %deep32, %last : i32
    func.call @load_tile(%a, %row, %tile_m, %m, %depth, %k, %thread, %words, %set, %c0) : !load
    %even = affine.apply affine_map<()[n] -> (n floordiv 16 * 16)>()[%n] // tells LLVM that n cuts no load
    func.call @load_tile(%b, %column, %tile_n, %even, %depth, %k, %thread, %words, %set, %c1) : !load
    %later_sub = affine.apply affine_map<(i)[tile] -> ((i + 1) * tile mod 128)>(%later)[%tile_k]
    %later_ends = arith.cmpi eq, %later_sub, %c0 : index
    scf.if %later_ends {
      // A's scales of the tile's rows, then B's of its blocks of columns; past the last the last again
      %z = arith.index_castui %depth : i32 to index
      affine.for %slot = 0 to #ceildiv()[%factors, %threads] {
        %number = affine.min #inside(%slot)[%threads, %thread, %factors]
        %of_a = arith.cmpi ult, %number, %tile_m : index
        %r = affine.min affine_map<(i)[y, m] -> (y + i, m - 1)>(%number)[%row, %m]
        %s = affine.min affine_map<(i)[y, x, n] -> (x floordiv 128 + i - y, (n - 1) floordiv 128)>
          (%number)[%tile_m, %column, %n]
        %at_a = affine.apply affine_map<(r)[x, z, y] -> (r * x + z floordiv 128 * y)>(%r)[%as_m, %z, %as_k]
        %at_b = affine.apply affine_map<(s)[x, z, y] -> (s * x + z floordiv 128 * y)>(%s)[%bs_n, %z, %bs_k]
        %x = arith.select %of_a, %as, %bs : !f32
        %at = arith.select %of_a, %at_a, %at_b : index
        %value = memref.load %x[%at] : !f32
        %bits = arith.bitcast %value : f32 to i32
        memref.store %bits, %words[%set, %c2, %slot] : !words
      }
    }
    rocdl.sched.barrier 1926 // or the loads move down among the matrix instructions
    scf.if %computes {
      func.call @multiply(%tiles, %scales, %buffer, %wave_row, %wave_column, %thread, %ends, %partial,
        %running) : (!tiles, !scales, index, index, index, index, i1, !acc, !acc) -> ()
    }
  }
  return
}

gpu.func @fp8_gemm_mfma(
    %a: !fp8 {wavesmith.name = "a", llvm.noalias}, %b: !fp8 {wavesmith.name = "b", llvm.noalias},
    %as: !f32 {wavesmith.name = "as", llvm.noalias}, %bs: !f32 {wavesmith.name = "bs", llvm.noalias},
    %c: !bf16 {wavesmith.name = "c"}, %sums: !f32 {wavesmith.name = "workspace"},
    %m32: i32 {wavesmith.name = "m"}, %n32: i32 {wavesmith.name = "n"}, %k32: i32 {wavesmith.name = "k"},
    %as_m: i32 {wavesmith.name = "as_stride_m"}, %as_k: i32 {wavesmith.name = "as_stride_k"},
    %bs_n: i32 {wavesmith.name = "bs_stride_n"}, %bs_k: i32 {wavesmith.name = "bs_stride_k"}) kernel
    attributes {wavesmith.launch = ["ceildiv(m, tile_m) * ceildiv(n, tile_n)", "split_k", "1",
      "64 * waves_m * waves_n", "1"],
    // 512: or LLVM gives a workgroup of 256 accumulation registers, and copies each sum
    rocdl.flat_work_group_size = "64,512"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %false = arith.constant false
  %none = arith.constant dense<0.0> : vector<4xf32>
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 128 : index
  %waves_n = arith.constant {wavesmith.value = "waves_n"} 2 : index
  %one = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %half = arith.constant 32767 : i32
  %split = arith.constant {wavesmith.value = "split_k > 1"} false
  %mfma = arith.constant {wavesmith.value = "mfma"} 16 : index
  %part_m = arith.constant {wavesmith.value = "tile_m / waves_m"} 64 : index
  %part_n = arith.constant {wavesmith.value = "tile_n / waves_n"} 64 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %slices = arith.constant {wavesmith.value = "split_k"} 1 : index
  %sets = arith.constant {wavesmith.value = "prefetch"} 1 : index
  %buffers = arith.constant {wavesmith.value = "lds_buffers"} 1 : index
  // rounds of steps are unrolled, so that the compiler knows each step's number
  %round = arith.constant {wavesmith.value = "max(128 / tile_k, max(prefetch, lds_buffers))"} 1 : index
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 128 : index
  %chunks = arith.constant {wavesmith.value = "(tile_m + tile_n) * (tile_k + lds_pad) / 16"} 2048 : index
  %factors = arith.constant {wavesmith.value = "tile_m + 4"} 132 : index
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %floats = arith.constant {wavesmith.value = "mfma * mfma / 64"} 4 : index
  %each = arith.constant {
    wavesmith.value = "16 * ceildiv(max(tile_m, tile_n) * tile_k, 4096 * waves_m * waves_n)"} 16 : index
  %tiles = memref.alloc(%buffers, %chunks) {wavesmith.lds = "tiles"} : !tiles
  %scales = memref.alloc(%buffers, %factors) {wavesmith.lds = "scales"} : !scales
  %running = memref.alloca(%count_m, %count_n, %floats) : !acc
  %partial = memref.alloca(%count_m, %count_n, %floats) : !acc
  %words = memref.alloca(%sets, %each) : !words
  affine.parallel (%i, %j, %f) = (0, 0, 0) to (%count_m, %count_n, %floats) step (1, 1, 4) {
    affine.vector_store %none, %running[%i, %j, %f] : !acc, vector<4xf32>
    affine.vector_store %none, %partial[%i, %j, %f] : !acc, vector<4xf32>
  }
  // this workgroup's tile of C, this wave's part of it
  %m = arith.index_castui %m32 : i32 to index
  %n = arith.index_castui %n32 : i32 to index
  %k = arith.index_castui %k32 : i32 to index
  %strides = vector.from_elements %as_m, %as_k, %bs_n, %bs_k : vector<4xi32>
  %tiles_m = affine.apply #ceildiv()[%m, %tile_m]
  %tiles_n = affine.apply #ceildiv()[%n, %tile_n]
  %group32 = rocdl.workgroup.id.x : i32
  %group = arith.index_castui %group32 : i32 to index
  %tile:2 = func.call @tile_order(%group, %tiles_m, %tiles_n) : (index, index, index) -> (index, index)
  %row = arith.muli %tile#0, %tile_m : index
  %column = arith.muli %tile#1, %tile_n : index
  %id = rocdl.workitem.id.x : i32
  %id64 = arith.index_castui %id : i32 to index
  %thread = arith.remui %id64, %threads : index // changes no bits: it tells the compiler
  %uniform = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"(%id) : (i32) -> i32
  %u = arith.index_castui %uniform : i32 to index
  %wave_row = affine.apply affine_map<()[u, n, x] -> (u floordiv 64 floordiv n * x)>()[%u, %waves_n, %part_m]
  %wave_column = affine.apply affine_map<()[u, n, x] -> (u floordiv 64 mod n * x)>()[%u, %waves_n, %part_n]
  // this slice's steps are begin .. limit-1, whole scale blocks
  %slice32 = rocdl.workgroup.id.y : i32
  %slice = arith.index_castui %slice32 : i32 to index
  %next = arith.addi %slice, %c1 : index
  %begin = affine.apply #slice()[%k, %slice, %slices, %tile_k]
  %limit = affine.apply #slice()[%k, %next, %slices, %tile_k]
  %before = arith.subi %begin, %round : index
  %early = arith.subi %round, %sets : index
  func.call @steps(%a, %b, %as, %bs, %m, %n, %k32, %strides, %row, %column, %wave_row, %wave_column,
    %thread, %before, %early, %round, %false, %tiles, %scales, %words, %partial, %running) : !steps
  %size = arith.subi %limit, %begin : index
  %rest = arith.remui %size, %round : index
  %whole = arith.subi %limit, %rest : index
  scf.for %from = %begin to %whole step %round {
    func.call @steps(%a, %b, %as, %bs, %m, %n, %k32, %strides, %row, %column, %wave_row, %wave_column,
      %thread, %from, %c0, %round, %true, %tiles, %scales, %words, %partial, %running) : !steps
  }
  %odd = arith.cmpi ne, %whole, %limit : index
  scf.if %odd {
    func.call @steps(%a, %b, %as, %bs, %m, %n, %k32, %strides, %row, %column, %wave_row, %wave_column,
      %thread, %whole, %c0, %c1, %true, %tiles, %scales, %words, %partial, %running) : !steps
  }
  // C, or with split_k > 1 this slice of the workspace, [split_k][m][n]; multiply says what a lane has
  %first = affine.apply affine_map<()[y, w, t, d] -> (y + w + t mod 64 floordiv d * 4)>
    ()[%row, %wave_row, %thread, %mfma]
  %corner = affine.apply affine_map<()[z, m, y, n, x, w, t, d] -> ((z * m + y) * n + x + w + t mod d)>
    ()[%slice, %m, %first, %n, %column, %wave_column, %thread, %mfma]
  affine.parallel (%i, %f) = (0, 0) to (%count_m, %floats) {
    %down = affine.apply affine_map<(i, f)[d] -> (i * d + f floordiv 4 * 8 + f mod 4)>(%i, %f)[%mfma]
    %r = arith.addi %first, %down : index
    %inside = arith.cmpi ult, %r, %m : index
    scf.if %inside {
      affine.for %j = 0 to %count_n {
        %block = affine.apply affine_map<(j)[x, w, d, t] -> (x + w + j * d + t mod d floordiv 16 * 16)>
          (%j)[%column, %wave_column, %mfma, %thread]
        %exists = arith.cmpi ult, %block, %n : index
        scf.if %exists {
          %at = affine.apply affine_map<(j, y)[z, n, d] -> (z + y * n + j * d)>(%j, %down)[%corner, %n, %mfma]
          %sum = affine.load %running[%i, %j, %f] : !acc
          scf.if %split {
            memref.store %sum, %sums[%at] : !f32
          } else {
            %wide = arith.bitcast %sum : f32 to i32
            %high = arith.shrui %wide, %c16 : i32
            %low = arith.andi %high, %one : i32
            %more = arith.addi %wide, %half : i32 // almost half of the last place; one more where odd
            %rounded = arith.addi %more, %low : i32
            %shifted = arith.shrui %rounded, %c16 : i32
            %bits = arith.trunci %shifted : i32 to i16
            memref.store %bits, %c[%at] {nontemporal = false, wavesmith.nontemporal = "nontemporal"} : !bf16
          }
        }
      }
    }
  }
  gpu.return
}

// The slices in the workspace -> C, 4 elements a thread.
gpu.func @fp8_gemm_reduce(
    %sums: !f32 {wavesmith.name = "workspace", llvm.noalias}, %c: !bf16 {wavesmith.name = "c"},
    %m32: i32 {wavesmith.name = "m"}, %n32: i32 {wavesmith.name = "n"}) kernel attributes {
    wavesmith.launch = ["ceildiv(m * n, 1024)", "1", "1", "256", "split_k > 1"]} {
  %slices = arith.constant {wavesmith.value = "split_k"} 2 : index
  %none = arith.constant dense<0.0> : vector<4xf32>
  %m = arith.index_castui %m32 : i32 to index
  %n = arith.index_castui %n32 : i32 to index
  %thread = gpu.thread_id x
  %group = gpu.block_id x
  %count = arith.muli %m, %n : index
  %first = affine.apply affine_map<()[group, t] -> (group * 1024 + t * 4)>()[%group, %thread]
  %exists = arith.cmpi ult, %first, %count : index
  scf.if %exists {
    %total = affine.for %z = 0 to %slices iter_args(%sum = %none) -> vector<4xf32> {
      %at = affine.apply affine_map<(z)[count, x] -> (z * count + x)>(%z)[%count, %first]
      %part = vector.load %sums[%at] : !f32, vector<4xf32>
      %new = arith.addf %sum, %part : vector<4xf32>
      affine.yield %new : vector<4xf32>
    }
    %rounded = arith.truncf %total : vector<4xf32> to vector<4xbf16>
    %bits = arith.bitcast %rounded : vector<4xbf16> to vector<4xi16>
    vector.store %bits, %c[%first] : !bf16, vector<4xi16>
  }
  gpu.return
}
}
}
