// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fp8_gemm_mfma: fp8_gemm_blockscale with matrix instructions, layouts kmajor and mnmajor of gfx942.
//
// A workgroup makes a tile of C, tile_m x tile_n, in steps of tile_k along k. Every step:
//
//   store_*  registers -> LDS         between two barriers; mnmajor: transposed, so that k runs in a row
//   load_*   global -> registers      of a later step
//   mma      LDS -> partial           fp32 sums over one scale block of k
//   scale    partial -> running       once per 128 k
//
// and at the end store; with split_k > 1 to the workspace, which a second kernel reduces. With two buffers in
// LDS one barrier will do. A buffer: tile_m rows of A, tile_n of B, each of tile_k + lds_pad bytes in chunks
// of 16; tile_m scales of A, one or two of B. Rows past the operand are loaded as its last row again; what
// they make is masked where C is stored.
//
// LLVM unrolls loops that index private memory and have constant bounds; then it is registers. Offsets from
// a tile's corner fit 31 bits: added as i32 they make addresses of a scalar base and one offset register.

#global = #gpu.address_space<global>
#local = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
!fp8 = memref<1xf8E4M3FNUZ, #global>
!tile = memref<1xf8E4M3FNUZ, strided<[1], offset: ?>, #global>
!f32 = memref<1xf32, #global>
!bf16 = memref<1xi16, #global>
!lds = memref<?xi8, #local>
!chunks = memref<4096xvector<4xi32>, #local>
!quads = memref<4096xvector<4xf32>, #local>
!floats = memref<16384xf32, #local>
!words = memref<?x?x?xi32, #private>     // [set][A, B][word]
!scales = memref<?x?xf32, #private>      // [set][scale of this thread]
!acc = memref<?x?x?xf32, #private>       // [block of rows][block of columns][float of the lane]
!pairs = memref<16x2xi64, #private>
!load_tile = (!fp8, index, index, index, i32, index, index, !words, index, index) -> ()
!store_tile = (!words, index, index, !lds, index, index, index) -> ()
!step = (!fp8, !fp8, !f32, !f32, index, index, i32, vector<4xi32>, index, index, index, index, index, i32,
         index, i1, !lds, !acc, !acc, !words, !scales) -> ()
#number = affine_map<(i, t)[threads] -> (i * threads + t)>
#inside = affine_map<(i, t)[threads, total] -> (i * threads + t, total - 1)>
#slice = affine_map<()[k, z, slices, sub] -> (k floordiv 128 * z floordiv slices * sub)>
#count = affine_map<()[total, threads] -> (total ceildiv threads)>

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
    ["per_xcd", "0", "0 1", "1: each XCD makes a piece of C of its own"],
    ["group", "1", "1 2 4 8 16", "rows of tiles that are walked side by side"],
    ["nontemporal", "0", "0 1", "1: stores of C bypass the caches"]],
  wavesmith.require = [
    ["waves_m * waves_n <= 16", "a workgroup has at most 1024 threads"],
    ["tile_m % (waves_m * mfma) == 0", "a wave's rows are whole matrix instructions"],
    ["tile_n % (waves_n * mfma) == 0", "a wave's columns are whole matrix instructions"],
    ["1024 / mfma <= tile_k", "the lanes of one LDS read span at most tile_k"],
    ["lds_buffers * ((tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16) <= 65536",
     "a workgroup has 64 KiB of LDS"],
    ["tile_m * tile_n / (waves_m * waves_n) <= 4096", "an accumulator of a lane is at most 64 floats"],
    ["4 * ceildiv(max(tile_m, tile_n) * tile_k, 4096 * waves_m * waves_n) <= 16",
     "a thread holds at most 16 registers of 16 bytes of each operand's tile"],
    [["tile_m * tile_n / (32 * waves_m * waves_n) + (tile_m / waves_m + tile_n / waves_n) / mfma * 2 + (4 * ",
      "prefetch + 1) * (layout == 0 ? ceildiv(tile_m * tile_k, 1024 * waves_m * waves_n) + ceildiv(tile_n * ",
      "tile_k, 1024 * waves_m * waves_n) : 4 * ceildiv(tile_m * tile_k, 4096 * waves_m * waves_n) + 4 * ",
      "ceildiv(tile_n * tile_k, 4096 * waves_m * waves_n)) <= (waves_m * waves_n <= 8 ? 184 : ",
      "mfma == 16 ? 84 : 72)"],
     "accumulators, fragments and tiles on their way leave too few registers of a lane"]],
  wavesmith.lds = [["lds", "lds_buffers * ((tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16)"]],
  wavesmith.workspace = ["split_k > 1 ? 4 * split_k * m * n : 0"]
} {
gpu.module @kernels {

func.func private @tile_order(%group: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32) attributes {
    wavesmith.region = [["Which tile of C workgroup number group makes (row, column). A bijection for any ",
      "counts. Workgroups go to the 8 XCDs in turn; each has an L2 of its own, so neighbours in time on an ",
      "XCD should share rows of A or columns of B. Uniform."]]} {
  %xcds = arith.constant 8 : i32
  %spread = arith.constant {wavesmith.value = "per_xcd"} false
  %across = arith.constant {wavesmith.value = "group"} 1 : i32
  // Each XCD has a contiguous piece of the walk; those of the first count % 8 are one longer.
  %count = arith.muli %tiles_m, %tiles_n : i32
  %xcd = arith.remui %group, %xcds : i32
  %place = arith.divui %group, %xcds : i32
  %piece = arith.divui %count, %xcds : i32
  %over = arith.remui %count, %xcds : i32
  %longer = arith.minui %xcd, %over : i32
  %before = arith.muli %xcd, %piece : i32
  %start = arith.addi %before, %longer : i32
  %remapped = arith.addi %start, %place : i32
  %position = arith.select %spread, %remapped, %group : i32
  // In bands of `across` rows of tiles, down each column of a band and then along.
  %band = arith.muli %across, %tiles_n : i32
  %number = arith.divui %position, %band : i32
  %within = arith.remui %position, %band : i32
  %first = arith.muli %number, %across : i32
  %left = arith.subi %tiles_m, %first : i32
  %height = arith.minui %across, %left : i32
  %down = arith.remui %within, %height : i32
  %tile_m = arith.addi %first, %down : i32
  %tile_n = arith.divui %within, %height : i32
  return %tile_m, %tile_n : i32, i32
}

func.func private @lds_chunk(%row: index, %chunk: index) -> index attributes {
    wavesmith.region = [["Where in a tile the 16 bytes (row, chunk) lie, in chunks. One-to-one, and within ",
      "tile rows * (tile_k + lds_pad) / 16. All that touch a tile ask it; a good answer spreads over the 32 ",
      "banks of 4 bytes what an LDS instruction takes at a time: 8 neighbouring rows, equal chunk."]]} {
  %pitch = arith.constant {wavesmith.value = "(tile_k + lds_pad) / 16"} 8 : index
  %near = arith.constant {wavesmith.value = "128 / tile_k"} 1 : index
  %far = arith.constant {wavesmith.value = "layout == 1 ? 8 : 65536"} 65536 : index
  %mask = arith.constant {wavesmith.value = "lds_pad == 0 ? tile_k / 16 - 1 : 0"} 7 : index
  // Rows that are read together start in different banks, and rows that store_columns writes together.
  %key_near = arith.divui %row, %near : index
  %key_far = arith.divui %row, %far : index
  %key = arith.xori %key_near, %key_far : index
  %kept = arith.andi %key, %mask : index
  %placed = arith.xori %chunk, %kept : index
  %at = affine.apply affine_map<(row, chunk)[pitch] -> (row * pitch + chunk)>(%row, %placed)[%pitch]
  return %at : index
}

// ---- kmajor: tiles through registers to LDS ------------------------------------------------------------

func.func private @load_rows(%x: !fp8, %origin: index, %rows: index, %extent: index, %depth: i32, %k: index,
    %thread: index, %words: !words, %set: index, %operand: index) attributes {
    wavesmith.region = [["Layout kmajor. Starts loading this thread's part of a tile: rows from origin on, ",
      "bytes depth .. depth+tile_k-1 of each, of an operand of extent rows of k bytes. Chunk i * threads + ",
      "thread of the tile, 16 bytes, counted along the rows, goes to words[set, operand, 4 * i ..]. Rows ",
      "from extent on must not be read: take any inside. No barrier."]]} {
  %chunks = arith.constant {wavesmith.value = "tile_k / 16"} 8 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %total = affine.apply affine_map<()[rows, chunks] -> (rows * chunks)>()[%rows, %chunks]
  %start = arith.muli %origin, %k : index
  %tile = memref.reinterpret_cast %x to offset: [%start], sizes: [1], strides: [1] : !fp8 to !tile
  affine.for %i = 0 to #count()[%total, %threads] {
    %chunk = affine.min #inside(%i, %thread)[%threads, %total]
    %row = affine.min affine_map<(chunk)[chunks, origin, x] -> (chunk floordiv chunks, x - 1 - origin)>
      (%chunk)[%chunks, %origin, %extent]
    %own = affine.apply affine_map<(row, chunk)[chunks, k] -> (row * k + chunk mod chunks * 16)>
      (%row, %chunk)[%chunks, %k]
    %short = arith.index_castui %own : index to i32
    %offset = arith.addi %short, %depth : i32
    %at = arith.index_castui %offset : i32 to index
    %bytes = vector.load %tile[%at] : !tile, vector<16xf8E4M3FNUZ>
    %value = vector.bitcast %bytes : vector<16xf8E4M3FNUZ> to vector<4xi32>
    affine.vector_store %value, %words[%set, %operand, %i * 4] : !words, vector<4xi32>
  }
  return
}

func.func private @store_rows(%words: !words, %set: index, %operand: index, %lds: !lds, %tile: index,
    %rows: index, %thread: index) attributes {
    wavesmith.region = [["Layout kmajor. Stores what load_rows left in words to the tile at byte `tile` of ",
      "LDS, each chunk once, at lds_chunk(row, chunk). The caller has the barriers."]]} {
  %chunks = arith.constant {wavesmith.value = "tile_k / 16"} 8 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %total = affine.apply affine_map<()[rows, chunks] -> (rows * chunks)>()[%rows, %chunks]
  %to = memref.view %lds[%tile][] : !lds to !chunks
  affine.for %i = 0 to #count()[%total, %threads] {
    %number = affine.apply #number(%i, %thread)[%threads]
    %exists = func.call @exists(%number, %total) : (index, index) -> i1
    scf.if %exists {
      %value = affine.vector_load %words[%set, %operand, %i * 4] : !words, vector<4xi32>
      %row = arith.divui %number, %chunks : index
      %chunk = arith.remui %number, %chunks : index
      %at = func.call @lds_chunk(%row, %chunk) : (index, index) -> index
      memref.store %value, %to[%at] : !chunks
    }
  }
  return
}

// Whether a thread's item is one of total; the compiler is told where all threads have as many.
func.func private @exists(%number: index, %total: index) -> i1 {
  %zero = arith.constant 0 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %rest = arith.remui %total, %threads : index
  %even = arith.cmpi eq, %rest, %zero : index
  %inside = arith.cmpi ult, %number, %total : index
  %exists = arith.ori %even, %inside : i1
  return %exists : i1
}

// ---- mnmajor: the same, transposed ---------------------------------------------------------------------

func.func private @load_columns(%x: !fp8, %origin: index, %rows: index, %extent: index, %depth: i32,
    %k: index, %thread: index, %words: !words, %set: index, %operand: index) attributes {
    wavesmith.region = [["Layout mnmajor. Starts loading this thread's part of a tile: rows from origin on, ",
      "lines depth .. depth+tile_k-1 of an operand of k lines of extent bytes. Of block i * threads + ",
      "thread of the tile, 4 rows x 16 lines, counted along the rows, the 4 bytes of line e go to words[",
      "set, operand, 16 * i + e]. Rows from extent on may be anything, but nothing outside of the operand ",
      "may be read. No barrier."]]} {
  %zero = arith.constant 0 : index
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 128 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %last = arith.constant {wavesmith.value = "tile_k / 16 - 1"} 7 : index
  %total = affine.apply affine_map<()[rows, depth] -> (rows * depth floordiv 64)>()[%rows, %tile_k]
  %deep = arith.index_castui %depth : i32 to index
  // Four rows are loaded where the first is inside. In A's last lines that could leave the operand: there a
  // load begins earlier, and its bytes move down.
  %uneven = affine.apply affine_map<()[x] -> (x mod 4)>()[%extent]
  %reaches = arith.cmpi ne, %uneven, %zero : index
  %end = arith.addi %deep, %tile_k : index
  %ends = arith.cmpi eq, %end, %k : index
  %cut = arith.andi %reaches, %ends : i1
  affine.for %i = 0 to #count()[%total, %threads] {
    %block = affine.min #inside(%i, %thread)[%threads, %total]
    %lines = affine.apply affine_map<(b)[rows] -> (b floordiv (rows floordiv 4))>(%block)[%rows]
    %row = affine.min
      affine_map<(b)[rows, x, y] -> (b mod (rows floordiv 4) * 4, (x - 1) floordiv 4 * 4 - y)>
      (%block)[%rows, %extent, %origin]
    %over = affine.max affine_map<(row)[x, y] -> (row + 4 + y - x, 0)>(%row)[%extent, %origin]
    %is_last = arith.cmpi eq, %lines, %last : index
    %moves = arith.andi %is_last, %cut : i1
    %back = arith.select %moves, %over, %zero : index
    %own = affine.apply affine_map<(lines, row, back)[x] -> (lines * 16 * x + row - back)>
      (%lines, %row, %back)[%extent]
    %short = arith.index_castui %own : index to i32
    %at = arith.index_castui %short : i32 to index
    affine.for %e = 0 to 16 {
      %start = affine.apply affine_map<(e)[z, x, y] -> ((e + z) * x + y)>(%e)[%deep, %extent, %origin]
      %tile = memref.reinterpret_cast %x to offset: [%start], sizes: [1], strides: [1] : !fp8 to !tile
      %bytes = vector.load %tile[%at] : !tile, vector<4xf8E4M3FNUZ>
      %value = vector.bitcast %bytes : vector<4xf8E4M3FNUZ> to vector<1xi32>
      affine.vector_store %value, %words[%set, %operand, %i * 16 + %e] : !words, vector<1xi32>
    }
    scf.if %cut {
      %bits64 = affine.apply affine_map<(back) -> (back * 8)>(%back)
      %bits = arith.index_castui %bits64 : index to i32
      affine.for %e = 0 to 16 {
        %word = affine.load %words[%set, %operand, %i * 16 + %e] : !words
        %down = arith.shrui %word, %bits : i32
        affine.store %down, %words[%set, %operand, %i * 16 + %e] : !words
      }
    }
  }
  return
}

func.func private @store_columns(%words: !words, %set: index, %operand: index, %lds: !lds, %tile: index,
    %rows: index, %thread: index) attributes {
    wavesmith.region = [["Layout mnmajor. Transposes what load_columns left in words and stores it to the ",
      "tile at byte `tile` of LDS, each chunk once, at lds_chunk(row, chunk)."]]} {
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 128 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %total = affine.apply affine_map<()[rows, depth] -> (rows * depth floordiv 64)>()[%rows, %tile_k]
  %to = memref.view %lds[%tile][] : !lds to !chunks
  %lines = memref.alloca() : memref<4x4xi32, #private>
  affine.for %i = 0 to #count()[%total, %threads] {
    %number = affine.apply #number(%i, %thread)[%threads]
    %exists = func.call @exists(%number, %total) : (index, index) -> i1
    scf.if %exists {
      // Four words of 4 rows at one k become 4 words of 4 k in one row, in 8 byte permutations.
      affine.for %q = 0 to 4 {
        %square = affine.vector_load %words[%set, %operand, %i * 16 + %q * 4] : !words, vector<4xi32>
        %bytes = vector.bitcast %square : vector<4xi32> to vector<16xi8>
        %paired = vector.shuffle %bytes, %bytes [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15]
          : vector<16xi8>, vector<16xi8>
        %halves = vector.bitcast %paired : vector<16xi8> to vector<8xi16>
        %crossed = vector.shuffle %halves, %halves [0, 2, 1, 3, 4, 6, 5, 7] : vector<8xi16>, vector<8xi16>
        %turned = vector.bitcast %crossed : vector<8xi16> to vector<4xi32>
        affine.for %r = 0 to 4 {
          %word = vector.extract %turned[%r] : i32 from vector<4xi32>
          affine.store %word, %lines[%r, %q] : memref<4x4xi32, #private>
        }
      }
      affine.for %r = 0 to 4 {
        %row = affine.apply affine_map<(b, r)[rows] -> (b mod (rows floordiv 4) * 4 + r)>(%number, %r)[%rows]
        %chunk = affine.apply affine_map<(b)[rows] -> (b floordiv (rows floordiv 4))>(%number)[%rows]
        %at = func.call @lds_chunk(%row, %chunk) : (index, index) -> index
        %value = affine.vector_load %lines[%r, 0] : memref<4x4xi32, #private>, vector<4xi32>
        memref.store %value, %to[%at] : !chunks
      }
    }
  }
  return
}

// ---- scales --------------------------------------------------------------------------------------------

func.func private @load_scales(%as: !f32, %bs: !f32, %row: index, %column: index, %block: index, %m: index,
    %n: index, %strides: vector<4xi32>, %thread: index, %scales: !scales, %set: index) attributes {
    wavesmith.region = [["Starts loading this thread's part of the tile's scales for a block of k: number ",
      "i * threads + thread to scales[set, i]. The first tile_m are A's, of rows r from row on, as[r * ",
      "strides[0] + block * strides[1]]; then B's, of column blocks s from column / 128 on, bs[s * ",
      "strides[2] + block * strides[3]]. Past the last row or block take the last one. Strides are ",
      "any integers."]]} {
  %rows = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %total = arith.constant {wavesmith.value = "tile_m + ceildiv(tile_n, 128)"} 129 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %long = arith.index_cast %strides : vector<4xi32> to vector<4xindex>
  %as_m, %as_k, %bs_n, %bs_k = vector.to_elements %long : vector<4xindex>
  affine.for %i = 0 to #count()[%total, %threads] {
    %number = affine.min #inside(%i, %thread)[%threads, %total]
    %of_a = arith.cmpi ult, %number, %rows : index
    %r = affine.min affine_map<(i)[row, m] -> (row + i, m - 1)>(%number)[%row, %m]
    %s = affine.min affine_map<(i)[rows, column, n] -> (column floordiv 128 + i - rows, (n - 1) floordiv 128)>
      (%number)[%rows, %column, %n]
    %at_a = affine.apply affine_map<(r)[x, block, y] -> (r * x + block * y)>(%r)[%as_m, %block, %as_k]
    %at_b = affine.apply affine_map<(s)[x, block, y] -> (s * x + block * y)>(%s)[%bs_n, %block, %bs_k]
    %from = arith.select %of_a, %as, %bs : !f32
    %at = arith.select %of_a, %at_a, %at_b : index
    %value = memref.load %from[%at] : !f32
    affine.store %value, %scales[%set, %i] : !scales
  }
  return
}

func.func private @store_scales(%scales: !scales, %set: index, %lds: !lds, %at: index, %thread: index)
    attributes {
    wavesmith.region = [["Stores what load_scales left in scales to LDS, from byte `at` on, by number."]]} {
  %total = arith.constant {wavesmith.value = "tile_m + ceildiv(tile_n, 128)"} 129 : index
  %threads = arith.constant {wavesmith.value = "64 * waves_m * waves_n"} 256 : index
  %to = memref.view %lds[%at][] : !lds to !floats
  affine.for %i = 0 to #count()[%total, %threads] {
    %number = affine.apply #number(%i, %thread)[%threads]
    %exists = arith.cmpi ult, %number, %total : index
    scf.if %exists {
      %value = affine.load %scales[%set, %i] : !scales
      memref.store %value, %to[%number] : !floats
    }
  }
  return
}

// ---- LDS -> partial sums -> running sums ---------------------------------------------------------------

func.func private @read_fragments(%lds: !lds, %tile: index, %first: index, %count: index, %window: index,
    %lane: index, %fragments: !pairs) {
  %mfma = arith.constant {wavesmith.value = "mfma"} 16 : index
  %from = memref.view %lds[%tile][] : !lds to !chunks
  %chunk = affine.apply affine_map<()[w, lane, mfma] -> (w * (64 floordiv mfma) + lane floordiv mfma)>
    ()[%window, %lane, %mfma]
  affine.for %i = 0 to %count {
    %row = affine.apply affine_map<(i)[lane, mfma, first] -> (first + i * mfma + lane mod mfma)>
      (%i)[%lane, %mfma, %first]
    %at = func.call @lds_chunk(%row, %chunk) : (index, index) -> index
    %value = memref.load %from[%at] : !chunks
    %halves = vector.bitcast %value : vector<4xi32> to vector<2xi64>
    affine.vector_store %halves, %fragments[%i, 0] : !pairs, vector<2xi64>
  }
  return
}

func.func private @mma(%lds: !lds, %tile_a: index, %tile_b: index, %row_a: index, %row_b: index,
    %partial: !acc, %lane: index) attributes {
    wavesmith.region = [["Adds to partial this wave's part of tile A times tile B, at bytes tile_a and ",
      "tile_b of LDS: rows of A from row_a on, rows of B (columns of C) from row_b on. partial[i, j] has ",
      "block i of rows and j of columns as matrix instructions leave it: float 4 * g + e of a lane is row ",
      "8 * g + 4 * (lane / mfma) + e, column lane % mfma. All lanes, between two barriers."]]} {
  %z = arith.constant 0 : i32
  %small = arith.constant {wavesmith.value = "mfma == 16"} true
  %windows = arith.constant {wavesmith.value = "tile_k * mfma / 1024"} 2 : index
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %a = memref.alloca() : !pairs
  %b = memref.alloca() : !pairs
  affine.for %w = 0 to %windows {
    func.call @read_fragments(%lds, %tile_a, %row_a, %count_m, %w, %lane, %a)
      : (!lds, index, index, index, index, index, !pairs) -> ()
    func.call @read_fragments(%lds, %tile_b, %row_b, %count_n, %w, %lane, %b)
      : (!lds, index, index, index, index, index, !pairs) -> ()
    affine.for %h = 0 to 2 {
      affine.parallel (%i, %j) = (0, 0) to (%count_m, %count_n) {
        %x = affine.load %a[%i, %h] : !pairs
        %y = affine.load %b[%j, %h] : !pairs
        scf.if %small {
          %old = affine.vector_load %partial[%i, %j, 0] : !acc, vector<4xf32>
          %new = rocdl.mfma.f32.16x16x32.fp8.fp8 %x, %y, %old, %z, %z, %z
            : (i64, i64, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
          affine.vector_store %new, %partial[%i, %j, 0] : !acc, vector<4xf32>
        } else {
          %old = affine.vector_load %partial[%i, %j, 0] : !acc, vector<16xf32>
          %new = rocdl.mfma.f32.32x32x16.fp8.fp8 %x, %y, %old, %z, %z, %z
            : (i64, i64, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
          affine.vector_store %new, %partial[%i, %j, 0] : !acc, vector<16xf32>
        }
      }
    }
  }
  return
}

func.func private @scale(%running: !acc, %partial: !acc, %lds: !lds, %at: index, %row: index, %column: index,
    %lane: index) attributes {
    wavesmith.region = [["End of a scale block of k: running += partial * (scale of A's row * scale of B's ",
      "column block) in fp32, both as mma describes. From byte `at` of LDS on lie tile_m scales of A, then ",
      "those of B; row r of the wave's part is number row + r, column s of block (column + s) / 128."]]} {
  %rows = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %mfma = arith.constant {wavesmith.value = "mfma"} 16 : index
  %floats = arith.constant {wavesmith.value = "mfma * mfma / 64"} 4 : index
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %from = memref.view %lds[%at][] : !lds to !floats
  %quads = memref.view %lds[%at][] : !lds to !quads
  affine.parallel (%i, %g, %j) = (0, 0, 0) to (%count_m, %floats, %count_n) step (1, 4, 1) {
    %r = affine.apply
      affine_map<(i, g)[lane, mfma, row] -> ((row + i * mfma + g * 2) floordiv 4 + lane floordiv mfma)>
      (%i, %g)[%lane, %mfma, %row]
    %as = memref.load %quads[%r] : !quads
    // a wave's columns begin at a multiple of their number, or of 128
    %block = affine.apply
      affine_map<(j)[mfma, column, rows] -> (rows + column floordiv 128 + (j * mfma) floordiv 128)>
      (%j)[%mfma, %column, %rows]
    %bs = memref.load %from[%block] : !floats
    %all = vector.splat %bs : vector<4xf32>
    %factor = arith.mulf %as, %all : vector<4xf32>
    %part = affine.vector_load %partial[%i, %j, %g] : !acc, vector<4xf32>
    %sum = affine.vector_load %running[%i, %j, %g] : !acc, vector<4xf32>
    %new = vector.fma %part, %factor, %sum : vector<4xf32>
    affine.vector_store %new, %running[%i, %j, %g] : !acc, vector<4xf32>
  }
  return
}

// ---- running sums -> C ---------------------------------------------------------------------------------

func.func private @to_bf16(%values: vector<4xf32>) -> vector<4xi16> attributes {
    wavesmith.region = [["fp32 to the bits of bf16, to nearest, ties to even; infinity stays infinity."]]} {
  %half = arith.constant dense<32767> : vector<4xi32>
  %one = arith.constant dense<1> : vector<4xi32>
  %width = arith.constant dense<16> : vector<4xi32>
  // adds just less than half of the last place, and one more where that is odd
  %wide = vector.bitcast %values : vector<4xf32> to vector<4xi32>
  %high = arith.shrui %wide, %width : vector<4xi32>
  %odd = arith.andi %high, %one : vector<4xi32>
  %almost = arith.addi %wide, %half : vector<4xi32>
  %sum = arith.addi %almost, %odd : vector<4xi32>
  %rounded = arith.shrui %sum, %width : vector<4xi32>
  %bits = arith.trunci %rounded : vector<4xi32> to vector<4xi16>
  return %bits : vector<4xi16>
}

func.func private @store(%running: !acc, %c: !bf16, %sums: !f32, %slice: index, %row: index, %column: index,
    %m: index, %n: index, %lane: index) attributes {
    wavesmith.region = [["Stores running (as mma describes), which begins at row and column of C, [m][n]: ",
      "as bf16 through to_bf16; with split_k > 1 as fp32 to sums, [split_k][m][n]. Rows from m and columns ",
      "from n on must not be written; n, row and column are multiples of 16, m is any number."]]} {
  %split = arith.constant {wavesmith.value = "split_k > 1"} false
  %mfma = arith.constant {wavesmith.value = "mfma"} 16 : index
  %floats = arith.constant {wavesmith.value = "mfma * mfma / 64"} 4 : index
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %first = affine.apply affine_map<()[lane, mfma, row] -> (row + lane floordiv mfma * 4)>
    ()[%lane, %mfma, %row]
  %corner = affine.apply
    affine_map<()[r, lane, mfma, slice, m, n, column] -> ((slice * m + r) * n + column + lane mod mfma)>
    ()[%first, %lane, %mfma, %slice, %m, %n, %column]
  affine.parallel (%i, %f) = (0, 0) to (%count_m, %floats) {
    %down = affine.apply affine_map<(i, f)[mfma] -> (i * mfma + f floordiv 4 * 8 + f mod 4)>(%i, %f)[%mfma]
    %r = arith.addi %first, %down : index
    %inside = arith.cmpi ult, %r, %m : index
    scf.if %inside {
      affine.for %j = 0 to %count_n {
        %block = affine.apply
          affine_map<(j)[lane, mfma, column] -> (column + j * mfma + lane mod mfma floordiv 16 * 16)>
          (%j)[%lane, %mfma, %column]
        %exists = arith.cmpi ult, %block, %n : index
        scf.if %exists {
          %at = affine.apply affine_map<(j, down)[corner, mfma, n] -> (corner + down * n + j * mfma)>
            (%j, %down)[%corner, %mfma, %n]
          %sum = affine.load %running[%i, %j, %f] : !acc
          scf.if %split {
            memref.store %sum, %sums[%at] : !f32
          } else {
            %all = vector.splat %sum : vector<4xf32>
            %rounded = func.call @to_bf16(%all) : (vector<4xf32>) -> vector<4xi16>
            %bits = vector.extract %rounded[0] : i16 from vector<4xi16>
            memref.store %bits, %c[%at] {nontemporal = false, wavesmith.nontemporal = "nontemporal"} : !bf16
          }
        }
      }
    }
  }
  return
}

// ---- what holds the regions together -------------------------------------------------------------------

func.func private @zero(%sums: !acc) {
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %floats = arith.constant {wavesmith.value = "mfma * mfma / 64"} 4 : index
  %none = arith.constant dense<0.0> : vector<4xf32>
  affine.parallel (%i, %j, %f) = (0, 0, 0) to (%count_m, %count_n, %floats) step (1, 1, 4) {
    affine.vector_store %none, %sums[%i, %j, %f] : !acc, vector<4xf32>
  }
  return
}

// One step: number `now`, `phase` of a round, which decides what registers and what part of a scale block it
// has. It asks for the tile of the step that is `prefetch` steps later, or past the end for the last again.
// Before the first step it only does that, with computes = false.
func.func private @step(%a: !fp8, %b: !fp8, %as: !f32, %bs: !f32, %m: index, %n: index, %k32: i32,
    %strides: vector<4xi32>, %row: index, %column: index, %wave_row: index, %wave_column: index,
    %thread: index, %now: i32, %phase: index, %computes: i1, %lds: !lds, %running: !acc, %partial: !acc,
    %words: !words, %scales: !scales) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 128 : index
  %tile_k = arith.constant {wavesmith.value = "tile_k"} 128 : i32
  %kmajor = arith.constant {wavesmith.value = "layout == 0"} true
  %one_buffer = arith.constant {wavesmith.value = "lds_buffers == 1"} true
  %buffers = arith.constant {wavesmith.value = "lds_buffers"} 1 : index
  %rounds = arith.constant {wavesmith.value = "max(128 / tile_k, prefetch) > 1"} false
  %ahead = arith.constant {wavesmith.value = "prefetch"} 1 : i32
  %sets = arith.constant {wavesmith.value = "prefetch"} 1 : index
  %substeps = arith.constant {wavesmith.value = "128 / tile_k"} 1 : index
  %bytes_a = arith.constant {wavesmith.value = "tile_m * (tile_k + lds_pad)"} 16384 : index
  %bytes_ab = arith.constant {wavesmith.value = "(tile_m + tile_n) * (tile_k + lds_pad)"} 32768 : index
  %bytes = arith.constant {wavesmith.value = "(tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16"}
    33296 : index
  %set = arith.remui %phase, %sets : index
  %sub = arith.remui %phase, %substeps : index
  %last_sub = arith.subi %substeps, %c1 : index
  %ends = arith.cmpi eq, %sub, %last_sub : index
  %number = arith.index_castui %now : i32 to index
  %turn0 = arith.select %rounds, %phase, %number : index
  %turn = arith.remui %turn0, %buffers : index
  %at_a = arith.muli %turn, %bytes : index
  %at_b = arith.addi %at_a, %bytes_a : index
  %at_scales = arith.addi %at_a, %bytes_ab : index
  scf.if %computes {
    scf.if %one_buffer {
      gpu.barrier // previous tile is read
    }
    scf.if %kmajor {
      func.call @store_rows(%words, %set, %c0, %lds, %at_a, %tile_m, %thread) : !store_tile
      func.call @store_rows(%words, %set, %c1, %lds, %at_b, %tile_n, %thread) : !store_tile
    } else {
      func.call @store_columns(%words, %set, %c0, %lds, %at_a, %tile_m, %thread) : !store_tile
      func.call @store_columns(%words, %set, %c1, %lds, %at_b, %tile_n, %thread) : !store_tile
    }
    scf.if %ends {
      func.call @store_scales(%scales, %set, %lds, %at_scales, %thread)
        : (!scales, index, !lds, index, index) -> ()
    }
    gpu.barrier // tile is in LDS
  }
  %k = arith.index_castui %k32 : i32 to index
  %last = arith.subi %k32, %tile_k : i32
  %later = arith.addi %now, %ahead : i32
  %later_depth = arith.muli %later, %tile_k : i32
  %depth = arith.minui %later_depth, %last : i32
  scf.if %kmajor {
    func.call @load_rows(%a, %row, %tile_m, %m, %depth, %k, %thread, %words, %set, %c0) : !load_tile
    func.call @load_rows(%b, %column, %tile_n, %n, %depth, %k, %thread, %words, %set, %c1) : !load_tile
  } else {
    // no bits change: it tells the compiler that n cuts no load
    %even = affine.apply affine_map<()[n] -> (n floordiv 16 * 16)>()[%n]
    func.call @load_columns(%a, %row, %tile_m, %m, %depth, %k, %thread, %words, %set, %c0) : !load_tile
    func.call @load_columns(%b, %column, %tile_n, %even, %depth, %k, %thread, %words, %set, %c1) : !load_tile
  }
  %later_sub = affine.apply affine_map<()[phase, sets, subs] -> ((phase + sets) mod subs)>
    ()[%phase, %sets, %substeps]
  %later_ends = arith.cmpi eq, %later_sub, %last_sub : index
  scf.if %later_ends {
    %deep = arith.index_castui %depth : i32 to index
    %block = affine.apply affine_map<()[depth] -> (depth floordiv 128)>()[%deep]
    func.call @load_scales(%as, %bs, %row, %column, %block, %m, %n, %strides, %thread, %scales, %set)
      : (!f32, !f32, index, index, index, index, index, vector<4xi32>, index, !scales, index) -> ()
  }
  rocdl.sched.barrier 1926 // or the loads move down among the matrix instructions
  scf.if %computes {
    %lane = affine.apply affine_map<()[t] -> (t mod 64)>()[%thread]
    %begins = arith.cmpi eq, %sub, %c0 : index
    scf.if %begins {
      func.call @zero(%partial) : (!acc) -> ()
    }
    func.call @mma(%lds, %at_a, %at_b, %wave_row, %wave_column, %partial, %lane)
      : (!lds, index, index, index, index, !acc, index) -> ()
    scf.if %ends {
      func.call @scale(%running, %partial, %lds, %at_scales, %wave_row, %wave_column, %lane)
        : (!acc, !acc, !lds, index, index, index, index) -> ()
    }
  }
  return
}

gpu.func @fp8_gemm_mfma(%a: !fp8 {wavesmith.name = "a", llvm.noalias, llvm.readonly},
    %b: !fp8 {wavesmith.name = "b", llvm.noalias, llvm.readonly},
    %as: !f32 {wavesmith.name = "as", llvm.noalias, llvm.readonly},
    %bs: !f32 {wavesmith.name = "bs", llvm.noalias, llvm.readonly},
    %c: !bf16 {wavesmith.name = "c", llvm.noalias}, %sums: !f32 {wavesmith.name = "workspace", llvm.noalias},
    %m32: i32 {wavesmith.name = "m"}, %n32: i32 {wavesmith.name = "n"}, %k32: i32 {wavesmith.name = "k"},
    %as_m: i32 {wavesmith.name = "as_stride_m"}, %as_k: i32 {wavesmith.name = "as_stride_k"},
    %bs_n: i32 {wavesmith.name = "bs_stride_n"}, %bs_k: i32 {wavesmith.name = "bs_stride_k"})
    kernel attributes {
    wavesmith.launch = ["ceildiv(m, tile_m) * ceildiv(n, tile_n)", "split_k", "1", "64 * waves_m * waves_n",
      "1"],
    // 512: or LLVM gives a workgroup of 256 accumulation registers, and copies each sum
    rocdl.flat_work_group_size = "64,512"} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  %false = arith.constant false
  %tile_m = arith.constant {wavesmith.value = "tile_m"} 128 : index
  %tile_n = arith.constant {wavesmith.value = "tile_n"} 128 : index
  %waves_n = arith.constant {wavesmith.value = "waves_n"} 2 : index
  %part_m = arith.constant {wavesmith.value = "tile_m / waves_m"} 64 : index
  %part_n = arith.constant {wavesmith.value = "tile_n / waves_n"} 64 : index
  %split_k = arith.constant {wavesmith.value = "split_k"} 1 : index
  %substeps = arith.constant {wavesmith.value = "128 / tile_k"} 1 : index
  %ahead = arith.constant {wavesmith.value = "prefetch"} 1 : i32
  %sets = arith.constant {wavesmith.value = "prefetch"} 1 : index
  // Rounds of steps are unrolled, so that the compiler knows each step's phase; the rest has code of its own.
  %phases = arith.constant {wavesmith.value = "max(128 / tile_k, prefetch)"} 1 : index
  %phases32 = arith.constant {wavesmith.value = "max(128 / tile_k, prefetch)"} 1 : i32
  %lds_bytes = arith.constant {wavesmith.value =
    "lds_buffers * ((tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16)"} 33296 : index
  %count_m = arith.constant {wavesmith.value = "tile_m / waves_m / mfma"} 4 : index
  %count_n = arith.constant {wavesmith.value = "tile_n / waves_n / mfma"} 4 : index
  %floats = arith.constant {wavesmith.value = "mfma * mfma / 64"} 4 : index
  %words_each = arith.constant {
    wavesmith.value = "16 * ceildiv(max(tile_m, tile_n) * tile_k, 4096 * waves_m * waves_n)"} 16 : index
  %scales_each = arith.constant {
    wavesmith.value = "ceildiv(tile_m + ceildiv(tile_n, 128), 64 * waves_m * waves_n)"} 1 : index
  %lds = memref.alloc(%lds_bytes) {wavesmith.lds = "lds"} : !lds
  %running = memref.alloca(%count_m, %count_n, %floats) : !acc
  %partial = memref.alloca(%count_m, %count_n, %floats) : !acc
  %words = memref.alloca(%sets, %c2, %words_each) : !words
  %scales = memref.alloca(%sets, %scales_each) : !scales

  // this workgroup's tile of C, this wave's part of it
  %m = arith.index_castui %m32 : i32 to index
  %n = arith.index_castui %n32 : i32 to index
  %k = arith.index_castui %k32 : i32 to index
  %strides = vector.from_elements %as_m, %as_k, %bs_n, %bs_k : vector<4xi32>
  %group = rocdl.workgroup.id.x : i32
  %tiles_m = affine.apply affine_map<()[m, tile] -> (m ceildiv tile)>()[%m, %tile_m]
  %tiles_n = affine.apply affine_map<()[n, tile] -> (n ceildiv tile)>()[%n, %tile_n]
  %tiles_m32 = arith.index_castui %tiles_m : index to i32
  %tiles_n32 = arith.index_castui %tiles_n : index to i32
  %place:2 = func.call @tile_order(%group, %tiles_m32, %tiles_n32) : (i32, i32, i32) -> (i32, i32)
  %place_m = arith.index_castui %place#0 : i32 to index
  %place_n = arith.index_castui %place#1 : i32 to index
  %row = arith.muli %place_m, %tile_m : index
  %column = arith.muli %place_n, %tile_n : index
  %thread32 = rocdl.workitem.id.x : i32
  %thread = arith.index_castui %thread32 : i32 to index
  %lane = affine.apply affine_map<(t) -> (t mod 64)>(%thread)
  %wave0 = affine.apply affine_map<(t) -> (t floordiv 64)>(%thread)
  %wave1 = arith.index_castui %wave0 : index to i32
  %wave2 = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"(%wave1) : (i32) -> i32
  %wave = arith.index_castui %wave2 : i32 to index
  %wave_row = affine.apply affine_map<(w)[waves, part] -> (w floordiv waves * part)>(%wave)[%waves_n, %part_m]
  %wave_column = affine.apply affine_map<(w)[waves, part] -> (w mod waves * part)>(%wave)[%waves_n, %part_n]

  // steps of tile_k; this slice's are first .. limit-1, whole scale blocks
  %slice32 = rocdl.workgroup.id.y : i32
  %slice = arith.index_castui %slice32 : i32 to index
  %next = affine.apply affine_map<()[z] -> (z + 1)>()[%slice]
  %first64 = affine.apply #slice()[%k, %slice, %split_k, %substeps]
  %limit64 = affine.apply #slice()[%k, %next, %split_k, %substeps]
  %first = arith.index_castui %first64 : index to i32
  %limit = arith.index_castui %limit64 : index to i32
  func.call @zero(%running) : (!acc) -> ()
  %start = arith.subi %first, %ahead : i32
  affine.for %early = 0 to %sets {
    %early32 = arith.index_castui %early : index to i32
    %now = arith.addi %start, %early32 : i32
    %phase = affine.apply affine_map<(e)[sets, subs] -> (e + sets * (subs - 1))>(%early)[%sets, %substeps]
    func.call @step(%a, %b, %as, %bs, %m, %n, %k32, %strides, %row, %column, %wave_row, %wave_column,
      %thread, %now, %phase, %false, %lds, %running, %partial, %words, %scales) : !step
  }
  %steps = arith.subi %limit, %first : i32
  %rest = arith.remui %steps, %phases32 : i32
  %whole = arith.subi %limit, %rest : i32
  scf.for %from = %first to %whole step %phases32 : i32 {
    affine.for %phase = 0 to %phases {
      %phase32 = arith.index_castui %phase : index to i32
      %now = arith.addi %from, %phase32 : i32
      func.call @step(%a, %b, %as, %bs, %m, %n, %k32, %strides, %row, %column, %wave_row, %wave_column,
        %thread, %now, %phase, %true, %lds, %running, %partial, %words, %scales) : !step
    }
  }
  %odd = arith.cmpi ne, %whole, %limit : i32
  scf.if %odd {
    func.call @step(%a, %b, %as, %bs, %m, %n, %k32, %strides, %row, %column, %wave_row, %wave_column,
      %thread, %whole, %c0, %true, %lds, %running, %partial, %words, %scales) : !step
  }
  %c_row = arith.addi %row, %wave_row : index
  %c_column = arith.addi %column, %wave_column : index
  func.call @store(%running, %c, %sums, %slice, %c_row, %c_column, %m, %n, %lane)
    : (!acc, !bf16, !f32, index, index, index, index, index, index) -> ()
  gpu.return
}

// ---- slices of the workspace -> C ----------------------------------------------------------------------

func.func private @reduce(%sums: memref<1xvector<4xf32>, #global>, %c: memref<1xvector<4xi16>, #global>,
    %quad: index, %count: index) attributes {
    wavesmith.region = [["Adds the split_k slices of 4 elements, sums[z * count + quad], in an order that ",
      "depends on nothing else, and stores them to c[quad] through to_bf16."]]} {
  %slices = arith.constant {wavesmith.value = "split_k"} 2 : index
  %none = arith.constant dense<0.0> : vector<4xf32>
  %total = affine.for %z = 0 to %slices iter_args(%sum = %none) -> vector<4xf32> {
    %at = affine.apply affine_map<(z)[count, quad] -> (z * count + quad)>(%z)[%count, %quad]
    %part = memref.load %sums[%at] : memref<1xvector<4xf32>, #global>
    %new = arith.addf %sum, %part : vector<4xf32>
    affine.yield %new : vector<4xf32>
  }
  %bits = func.call @to_bf16(%total) : (vector<4xf32>) -> vector<4xi16>
  memref.store %bits, %c[%quad] : memref<1xvector<4xi16>, #global>
  return
}

gpu.func @fp8_gemm_reduce(
    %sums: memref<1xvector<4xf32>, #global> {wavesmith.name = "workspace", llvm.noalias, llvm.readonly},
    %c: memref<1xvector<4xi16>, #global> {wavesmith.name = "c", llvm.noalias},
    %m: i32 {wavesmith.name = "m"}, %n: i32 {wavesmith.name = "n"})
    kernel attributes {wavesmith.launch = ["ceildiv(m * n, 1024)", "1", "1", "256", "split_k > 1"]} {
  %thread32 = rocdl.workitem.id.x : i32
  %group32 = rocdl.workgroup.id.x : i32
  %thread = arith.index_castui %thread32 : i32 to index
  %group = arith.index_castui %group32 : i32 to index
  %rows = arith.index_castui %m : i32 to index
  %columns = arith.index_castui %n : i32 to index
  %count = affine.apply affine_map<()[m, n] -> (m * (n floordiv 4))>()[%rows, %columns]
  %quad = affine.apply affine_map<()[group, thread] -> (group * 256 + thread)>()[%group, %thread]
  %exists = arith.cmpi ult, %quad, %count : index
  scf.if %exists {
    func.call @reduce(%sums, %c, %quad, %count)
      : (memref<1xvector<4xf32>, #global>, memref<1xvector<4xi16>, #global>, index, index) -> ()
  }
  gpu.return
}
}
}
