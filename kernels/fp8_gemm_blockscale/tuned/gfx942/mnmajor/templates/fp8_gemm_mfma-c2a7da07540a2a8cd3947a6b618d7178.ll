; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; fp8_gemm_mfma: fp8_gemm_blockscale with matrix instructions, tiles staged in
; LDS, two levels of accumulators. All layouts of gfx942, every legal m, n and k
; (mnmajor: with any_m = 1; A's lines are m bytes apart, so that loads of several
; rows are aligned with certain m only).
;
; A workgroup makes a tile of C, tile_m x tile_n, in steps of tile_k along k:
;
;   load_*   global -> registers        of a later step, if prefetch > 0
;   barrier                             all waves have read the previous tile
;   store_*  registers -> LDS           mnmajor: transposed, k runs in a row
;   barrier                             the tile is in LDS
;   mma      LDS -> partial             fp32 sums over one scale block of k
;   scale    partial -> running         once per 128 k
;
; and at the end store_c, or with split_k store_partials and a second kernel,
; fp8_gemm_reduce. With two LDS buffers the first barrier is not needed: a wave
; that stores to one buffer has passed the barrier before which every wave read
; it.
;
; LDS, per buffer: A tile, tile_m rows of tile_k + lds_pad bytes; B tile, tile_n
; such rows; tile_m scales of A; 16 bytes for the one or two of B.
; Within a row, 16-byte chunks may be permuted (lds_offset).
;
; Layout kmajor-bpreshuffle has B's operands of matrix instructions as they are
; wanted: 64 lanes' 16 bytes are 1024 bytes in a row (mfma = 16; twice 512 with
; 32). With b_direct = 1 they go from global memory to registers of the waves
; that use them, past LDS (load_direct, mma_direct); each of waves_m waves then
; loads the same bytes of B. Two sets of registers take turns: with prefetch 1
; the next step's operands are asked for before the matrix instructions of this
; one, with prefetch 2 those of the step after it behind them, into the set that
; they have read. (A set's 16 slots suffice: the constraint on registers refuses
; more.)
;
; Rows of A or B past the operand are loaded as its last row again; their
; products land in rows or columns of C that the mask of the store drops. So no
; access is out of bounds and no LDS is read that was not written.
;
; The constraint on registers is a fit to 900 points compiled with LLVM 21.1.8:
; of 1000 others that it admits 1 spilled, which lowering refuses. Workgroup sizes
; up to 512 are stated so that LLVM keeps accumulators in plain registers; with
; 256 it would take accumulation registers and copy each sum before scaling.
;
; Loops count in private memory, test at their end (every count is at least one)
; and carry !1: unrolled, their private arrays become registers.
;
; The text mutants of tests/sanitizer rest on lines of this file. Each ends in
; one of these comments: "barrier: previous tile is read", "barrier: tile is in
; LDS", "accumulator zeroing", "global load mask", "global store mask: rows" and
; "columns", "LDS store offset", "16-byte global load", "16-byte LDS store",
; "16-byte LDS read", "matrix instruction"; and on the size in wavesmith.lds.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.layout = internal addrspace(4) constant i32 0
@ws.tile_m = internal addrspace(4) constant i32 128
@ws.tile_n = internal addrspace(4) constant i32 128
@ws.tile_k = internal addrspace(4) constant i32 128
@ws.waves_m = internal addrspace(4) constant i32 2
@ws.waves_n = internal addrspace(4) constant i32 2
@ws.mfma = internal addrspace(4) constant i32 16
@ws.lds_layout = internal addrspace(4) constant i32 0
@ws.lds_pad = internal addrspace(4) constant i32 8
@ws.lds_read = internal addrspace(4) constant i32 8
@ws.lds_buffers = internal addrspace(4) constant i32 1
@ws.prefetch = internal addrspace(4) constant i32 1
@ws.load_width = internal addrspace(4) constant i32 4
@ws.any_m = internal addrspace(4) constant i32 0
@ws.b_direct = internal addrspace(4) constant i32 0
@ws.split_k = internal addrspace(4) constant i32 1
@ws.order = internal addrspace(4) constant i32 0
@ws.group_m = internal addrspace(4) constant i32 1
@ws.nontemporal = internal addrspace(4) constant i32 0

@ws.lds = internal addrspace(3) global [35344 x i8] poison, align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.perm(i32, i32, i32)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.setprio(i16 immarg)
declare void @llvm.amdgcn.sched.barrier(i32 immarg)
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64, i64, <4 x float>, i32 immarg, i32 immarg, i32 immarg)
declare <16 x float> @llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8(i64, i64, <16 x float>, i32 immarg, i32 immarg, i32 immarg)
declare float @llvm.fma.f32(float, float, float)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare i32 @llvm.umin.i32(i32, i32)
declare i64 @llvm.umin.i64(i64, i64)

; ---- region tile_order: workgroup -> tile -----------------------------------

; Where workgroup `group` of `count` stands in the walk over the tiles. With
; order 2, workgroups that share an XCD (same id modulo 8) get a contiguous
; piece of the walk; the pieces of the first count % 8 XCDs are one longer.
define internal i32 @walk_position(i32 %group, i32 %count) #1 {
entry:
  %order = load i32, ptr addrspace(4) @ws.order
  %spread = icmp eq i32 %order, 2
  %xcd = urem i32 %group, 8
  %piece = udiv i32 %count, 8
  %longer.0 = urem i32 %count, 8
  %longer = call i32 @llvm.umin.i32(i32 %xcd, i32 %longer.0)
  %remapped.0 = mul i32 %xcd, %piece
  %remapped.1 = add i32 %remapped.0, %longer
  %remapped.2 = udiv i32 %group, 8
  %remapped = add i32 %remapped.1, %remapped.2
  %position = select i1 %spread, i32 %remapped, i32 %group
  ret i32 %position
}

define internal <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %count = mul i32 %tiles_m, %tiles_n
  %position = call i32 @walk_position(i32 %group, i32 %count)
  %band = mul i32 %group_m, %tiles_n
  %first.0 = udiv i32 %position, %band
  %first = mul i32 %first.0, %group_m
  %within = urem i32 %position, %band
  %height.0 = sub i32 %tiles_m, %first
  %height = call i32 @llvm.umin.i32(i32 %group_m, i32 %height.0)
  %tile.m.0 = urem i32 %within, %height
  %tile.m = add i32 %first, %tile.m.0
  %tile.n = udiv i32 %within, %height
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; Every other band backwards.
define internal <2 x i32> @tile_order_snake(i32 %group, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %count = mul i32 %tiles_m, %tiles_n
  %position = call i32 @walk_position(i32 %group, i32 %count)
  %band = mul i32 %group_m, %tiles_n
  %number = udiv i32 %position, %band
  %first = mul i32 %number, %group_m
  %within = urem i32 %position, %band
  %height.0 = sub i32 %tiles_m, %first
  %height = call i32 @llvm.umin.i32(i32 %group_m, i32 %height.0)
  %tile.m.0 = urem i32 %within, %height
  %tile.m = add i32 %first, %tile.m.0
  %ahead = udiv i32 %within, %height
  %back.0 = sub i32 %tiles_n, 1
  %back = sub i32 %back.0, %ahead
  %turned.0 = urem i32 %number, 2
  %turned = icmp eq i32 %turned.0, 1
  %tile.n = select i1 %turned, i32 %back, i32 %ahead
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; Bands of columns instead of rows.
define internal <2 x i32> @tile_order_columns(i32 %group, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %count = mul i32 %tiles_m, %tiles_n
  %position = call i32 @walk_position(i32 %group, i32 %count)
  %band = mul i32 %group_m, %tiles_m
  %first.0 = udiv i32 %position, %band
  %first = mul i32 %first.0, %group_m
  %within = urem i32 %position, %band
  %width.0 = sub i32 %tiles_n, %first
  %width = call i32 @llvm.umin.i32(i32 %group_m, i32 %width.0)
  %tile.n.0 = urem i32 %within, %width
  %tile.n = add i32 %first, %tile.n.0
  %tile.m = udiv i32 %within, %width
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; ---- region lds_offset: where a chunk of a tile lies -------------------------
define internal i32 @lds_offset(i32 %row, i32 %k) #1 {
entry:
  %layout = load i32, ptr addrspace(4) @ws.layout
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %lds_layout = load i32, ptr addrspace(4) @ws.lds_layout
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %chunk = udiv i32 %k, 16
  %chunks = udiv i32 %tile_k, 16
  ; rows that are read together start in different banks
  %key.near.0 = udiv i32 128, %tile_k
  %key.near = udiv i32 %row, %key.near.0
  ; and so do rows 4 apart, which store_columns writes together
  %transposed = icmp eq i32 %layout, 1
  %key.far.0 = udiv i32 %row, 8
  %key.far = select i1 %transposed, i32 %key.far.0, i32 0
  %rotated.0 = add i32 %chunk, %key.near
  %rotated.1 = add i32 %rotated.0, %key.far
  %rotated.2 = sub i32 %chunks, 1
  %rotated = and i32 %rotated.1, %rotated.2
  %flipped.0 = xor i32 %chunk, %key.near
  %flipped.1 = xor i32 %flipped.0, %key.far
  %flipped.2 = sub i32 %chunks, 1
  %flipped = and i32 %flipped.1, %flipped.2
  %rotate = icmp eq i32 %lds_layout, 1
  %flip = icmp eq i32 %lds_layout, 2
  %moved = select i1 %rotate, i32 %rotated, i32 %chunk
  %placed = select i1 %flip, i32 %flipped, i32 %moved
  %pitch = add i32 %tile_k, %lds_pad
  %offset.0 = mul i32 %row, %pitch
  %offset.1 = mul i32 %placed, 16
  %offset = add i32 %offset.0, %offset.1
  ret i32 %offset
}

; ---- region load_rows: kmajor, global -> registers ---------------------------
define internal void @load_rows(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %prefetch = load i32, ptr addrspace(4) @ws.prefetch
  %chunks = udiv i32 %tile_k, 16
  %total = mul i32 %rows, %chunks
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %origin64 = zext i32 %origin to i64
  %length64 = zext i32 %length to i64
  %start = mul i64 %origin64, %length64
  %base = getelementptr i8, ptr addrspace(1) %operand, i64 %start
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %chunk.own.0 = mul i32 %i, %threads
  %chunk.own = add i32 %chunk.own.0, %thread
  ; waves wholly past the tile have nothing to load, unless two sets of loads
  ; are in flight: beside a branch LLVM 21 waits for both
  %needed.0 = icmp eq i32 %prefetch, 2
  %needed.1 = or i1 %even, %needed.0
  %needed.2 = mul i32 %i, %threads
  %needed.3 = mul i32 %wave, 64
  %needed.4 = add i32 %needed.2, %needed.3
  %needed.5 = icmp ult i32 %needed.4, %total
  %needed = or i1 %needed.1, %needed.5
  br i1 %needed, label %some.then, label %some.end
some.then:
  %chunk.kept.0 = sub i32 %total, 1
  %chunk.kept = call i32 @llvm.umin.i32(i32 %chunk.own, i32 %chunk.kept.0)
  %chunk = select i1 %even, i32 %chunk.own, i32 %chunk.kept
  %row.0 = udiv i32 %chunk, %chunks
  %row = add i32 %origin, %row.0
  %row.kept.0 = sub i32 %extent, 1
  %row.kept = call i32 @llvm.umin.i32(i32 %row, i32 %row.kept.0) ; global load mask: rows past the operand repeat its last
  ; depth goes here and not to the base, so that the offset changes in the
  ; loop and the load can take base and 32-bit offset as they are
  %offset.0 = sub i32 %row.kept, %origin
  %offset.1 = mul i32 %offset.0, %length
  %offset.2 = urem i32 %chunk, %chunks
  %offset.3 = mul i32 %offset.2, 16
  %offset.4 = add i32 %offset.1, %offset.3
  %offset = add i32 %offset.4, %depth
  %offset64 = zext i32 %offset to i64
  %at = getelementptr i8, ptr addrspace(1) %base, i64 %offset64
  %value = load <4 x i32>, ptr addrspace(1) %at, align 16 ; 16-byte global load
  %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %i
  store <4 x i32> %value, ptr addrspace(5) %slot, align 16
  br label %some.end
some.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region store_rows: kmajor, registers -> LDS -----------------------------
define internal void @store_rows(ptr addrspace(5) %registers, ptr addrspace(3) %tile, i32 %rows, i32 %thread) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %chunks = udiv i32 %tile_k, 16
  %total = mul i32 %rows, %chunks
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %narrow = icmp eq i32 %lds_pad, 8
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %chunk.0 = mul i32 %i, %threads
  %chunk = add i32 %chunk.0, %thread
  %exists.0 = icmp ult i32 %chunk, %total
  %exists = or i1 %even, %exists.0
  br i1 %exists, label %write.then, label %write.end
write.then:
  %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %i
  %value = load <4 x i32>, ptr addrspace(5) %slot, align 16
  %row = udiv i32 %chunk, %chunks
  %k.0 = urem i32 %chunk, %chunks
  %k = mul i32 %k.0, 16
  %offset = call i32 @lds_offset(i32 %row, i32 %k) ; LDS store offset
  %at = getelementptr i8, ptr addrspace(3) %tile, i32 %offset
  br i1 %narrow, label %halves.then, label %halves.else
halves.then:
  store <4 x i32> %value, ptr addrspace(3) %at, align 8
  br label %halves.end
halves.else:
  store <4 x i32> %value, ptr addrspace(3) %at, align 16 ; 16-byte LDS store
  br label %halves.end
halves.end:
  br label %write.end
write.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region load_shuffled: kmajor-bpreshuffle, tile of B, global -> registers --

; Chunks are numbered as memory has them: 16 rows, then the next 16 bytes of
; these rows, at the end of the tile's depth the next 16 rows.
define internal void @load_shuffled(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %prefetch = load i32, ptr addrspace(4) @ws.prefetch
  %chunks = udiv i32 %tile_k, 16
  %total = mul i32 %rows, %chunks
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %origin64 = zext i32 %origin to i64
  %length64 = zext i32 %length to i64
  %start = mul i64 %origin64, %length64
  %base = getelementptr i8, ptr addrspace(1) %operand, i64 %start
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %chunk.own.0 = mul i32 %i, %threads
  %chunk.own = add i32 %chunk.own.0, %thread
  ; waves wholly past the tile have nothing to load, unless two sets of loads
  ; are in flight: beside a branch LLVM 21 waits for both
  %needed.0 = icmp eq i32 %prefetch, 2
  %needed.1 = or i1 %even, %needed.0
  %needed.2 = mul i32 %i, %threads
  %needed.3 = mul i32 %wave, 64
  %needed.4 = add i32 %needed.2, %needed.3
  %needed.5 = icmp ult i32 %needed.4, %total
  %needed = or i1 %needed.1, %needed.5
  br i1 %needed, label %some.then, label %some.end
some.then:
  %chunk.kept.0 = sub i32 %total, 1
  %chunk.kept = call i32 @llvm.umin.i32(i32 %chunk.own, i32 %chunk.kept.0)
  %chunk = select i1 %even, i32 %chunk.own, i32 %chunk.kept
  %block = udiv i32 %chunk, 16
  %row.0 = udiv i32 %block, %chunks
  %row.1 = mul i32 %row.0, 16
  %row = add i32 %origin, %row.1
  ; blocks past the operand repeat its last
  %row.kept.0 = sub i32 %extent, 16
  %row.kept = call i32 @llvm.umin.i32(i32 %row, i32 %row.kept.0)
  %offset.0 = sub i32 %row.kept, %origin
  %offset.1 = mul i32 %offset.0, %length
  %offset.2 = urem i32 %block, %chunks
  %offset.3 = mul i32 %offset.2, 256
  %offset.4 = urem i32 %chunk, 16
  %offset.5 = mul i32 %offset.4, 16
  %offset.6 = mul i32 %depth, 16
  %offset.7 = add i32 %offset.1, %offset.3
  %offset.8 = add i32 %offset.7, %offset.5
  %offset = add i32 %offset.8, %offset.6
  %offset64 = zext i32 %offset to i64
  %at = getelementptr i8, ptr addrspace(1) %base, i64 %offset64
  %value = load <4 x i32>, ptr addrspace(1) %at, align 16
  %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %i
  store <4 x i32> %value, ptr addrspace(5) %slot, align 16
  br label %some.end
some.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region store_shuffled: kmajor-bpreshuffle, tile of B, registers -> LDS ----
define internal void @store_shuffled(ptr addrspace(5) %registers, ptr addrspace(3) %tile, i32 %rows, i32 %thread) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %chunks = udiv i32 %tile_k, 16
  %total = mul i32 %rows, %chunks
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %narrow = icmp eq i32 %lds_pad, 8
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %chunk.0 = mul i32 %i, %threads
  %chunk = add i32 %chunk.0, %thread
  %exists.0 = icmp ult i32 %chunk, %total
  %exists = or i1 %even, %exists.0
  br i1 %exists, label %write.then, label %write.end
write.then:
  %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %i
  %value = load <4 x i32>, ptr addrspace(5) %slot, align 16
  %block = udiv i32 %chunk, 16
  %row.0 = udiv i32 %block, %chunks
  %row.1 = mul i32 %row.0, 16
  %row.2 = urem i32 %chunk, 16
  %row = add i32 %row.1, %row.2
  %k.0 = urem i32 %block, %chunks
  %k = mul i32 %k.0, 16
  %offset = call i32 @lds_offset(i32 %row, i32 %k)
  %at = getelementptr i8, ptr addrspace(3) %tile, i32 %offset
  br i1 %narrow, label %halves.then, label %halves.else
halves.then:
  store <4 x i32> %value, ptr addrspace(3) %at, align 8
  br label %halves.end
halves.else:
  store <4 x i32> %value, ptr addrspace(3) %at, align 16
  br label %halves.end
halves.end:
  br label %write.end
write.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region load_direct: kmajor-bpreshuffle, global -> operands of B ----------
define internal void @load_direct(ptr addrspace(1) %b, i32 %column, i32 %first, i32 %n, i32 %k, i32 %depth, i32 %lane, ptr addrspace(5) %registers) #1 {
entry:
  %w.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %window = udiv i32 1024, %mfma
  %windows = udiv i32 %tile_k, %window
  %small = icmp eq i32 %mfma, 16
  %column64 = zext i32 %column to i64
  %k64 = zext i32 %k to i64
  %start = mul i64 %column64, %k64
  %base = getelementptr i8, ptr addrspace(1) %b, i64 %start
  %lane.row = urem i32 %lane, %mfma
  %lane.k = udiv i32 %lane, %mfma
  %within.0 = urem i32 %lane.row, 16
  %within.1 = mul i32 %within.0, 16
  %within.2 = mul i32 %lane.k, 256
  %within = add i32 %within.1, %within.2
  %lane.block = and i32 %lane.row, -16
  %last = sub i32 %n, 16
  store i32 0, ptr addrspace(5) %w.slot
  br label %w.loop
w.loop:
  %w = load i32, ptr addrspace(5) %w.slot
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %row.0 = mul i32 %j, %mfma
  %row.1 = add i32 %row.0, %first
  %row.2 = add i32 %row.1, %column
  %row = add i32 %row.2, %lane.block
  %row.kept = call i32 @llvm.umin.i32(i32 %row, i32 %last)
  %rows.0 = sub i32 %row.kept, %column
  %rows = mul i32 %rows.0, %k
  %along.0 = mul i32 %w, %window
  %along.1 = add i32 %along.0, %depth
  %along = mul i32 %along.1, 16
  ; what all lanes share goes to the base, where scalar instructions add it:
  ; with mfma = 32 a lane's block of 16 rows is its own
  %shared.0 = add i32 %rows, %along
  %shared = select i1 %small, i32 %shared.0, i32 %along
  %own.0 = add i32 %rows, %within
  %own = select i1 %small, i32 %within, i32 %own.0
  %shared64 = zext i32 %shared to i64
  %own64 = zext i32 %own to i64
  %shared.at = getelementptr i8, ptr addrspace(1) %base, i64 %shared64
  %at = getelementptr i8, ptr addrspace(1) %shared.at, i64 %own64
  %value = load <4 x i32>, ptr addrspace(1) %at, align 16
  %number.0 = mul i32 %w, %count_n
  %number = add i32 %number.0, %j
  %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %number
  store <4 x i32> %value, ptr addrspace(5) %slot, align 16
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; ---- region load_columns: mnmajor, global -> registers -----------------------

; Where extent cuts a band of load_width rows, the bytes that end with its last
; row are read and moved down; where these would begin before the operand, so
; many fewer before the band.
define internal void @load_bands(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers, i1 %cut) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %e.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %prefetch = load i32, ptr addrspace(4) @ws.prefetch
  %load_width = load i32, ptr addrspace(4) @ws.load_width
  %bands = udiv i32 %rows, %load_width
  %lines = udiv i32 64, %load_width
  %total.0 = udiv i32 %tile_k, %lines
  %total = mul i32 %bands, %total.0
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %any_m = load i32, ptr addrspace(4) @ws.any_m
  %anywhere = icmp eq i32 %any_m, 1
  %wide = icmp eq i32 %load_width, 8
  %origin64 = zext i32 %origin to i64
  %length64 = zext i32 %length to i64
  %depth64 = zext i32 %depth to i64
  %first = mul i64 %depth64, %length64
  %start = add i64 %first, %origin64
  %base = getelementptr i8, ptr addrspace(1) %operand, i64 %start
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %block.own.0 = mul i32 %i, %threads
  %block.own = add i32 %block.own.0, %thread
  ; waves wholly past the tile have nothing to load, unless two sets of loads
  ; are in flight: beside a branch LLVM 21 waits for both
  %needed.0 = icmp eq i32 %prefetch, 2
  %needed.1 = or i1 %even, %needed.0
  %needed.2 = mul i32 %i, %threads
  %needed.3 = mul i32 %wave, 64
  %needed.4 = add i32 %needed.2, %needed.3
  %needed.5 = icmp ult i32 %needed.4, %total
  %needed = or i1 %needed.1, %needed.5
  br i1 %needed, label %some.then, label %some.end
some.then:
  %block.kept.0 = sub i32 %total, 1
  %block.kept = call i32 @llvm.umin.i32(i32 %block.own, i32 %block.kept.0)
  %block = select i1 %even, i32 %block.own, i32 %block.kept
  %row.0 = urem i32 %block, %bands
  %row.1 = mul i32 %row.0, %load_width
  %row = add i32 %origin, %row.1
  %row.last.0 = sub i32 %extent, %load_width
  %row.last.1 = sub i32 %extent, 1
  %row.last.2 = sub i32 0, %load_width
  %row.last.3 = and i32 %row.last.1, %row.last.2
  %row.kept.0 = select i1 %cut, i32 %row.last.3, i32 %row.last.0
  %row.kept = call i32 @llvm.umin.i32(i32 %row, i32 %row.kept.0) ; global load mask: rows past the operand repeat its last
  %missing.0 = add i32 %row.kept, %load_width
  %missing.1 = call i32 @llvm.umin.i32(i32 %missing.0, i32 %extent)
  %missing.2 = sub i32 %missing.0, %missing.1
  %missing.own = select i1 %cut, i32 %missing.2, i32 0
  %missing = zext i32 %missing.own to i64
  %offset.0 = udiv i32 %block, %bands
  %offset.1 = mul i32 %offset.0, %lines
  %offset.2 = mul i32 %offset.1, %length
  %offset.3 = add i32 %offset.2, %row.kept
  %offset = sub i32 %offset.3, %origin
  %offset64 = zext i32 %offset to i64
  store i32 0, ptr addrspace(5) %e.slot
  br label %e.loop
e.loop:
  %e = load i32, ptr addrspace(5) %e.slot
  %line = mul i32 %e, %length
  %line64 = zext i32 %line to i64
  %line.at = getelementptr i8, ptr addrspace(1) %base, i64 %line64
  %at = getelementptr i8, ptr addrspace(1) %line.at, i64 %offset64
  %number.0 = mul i32 %i, 16
  %number.1 = udiv i32 %load_width, 4
  %number.2 = mul i32 %e, %number.1
  %number = add i32 %number.0, %number.2
  %slot = getelementptr i32, ptr addrspace(5) %registers, i32 %number
  br i1 %anywhere, label %any.then, label %any.else
any.then:
  %before.0 = add i64 %start, %line64
  %before = add i64 %before.0, %offset64
  %back = call i64 @llvm.umin.i64(i64 %missing, i64 %before)
  %back.down = sub i64 0, %back
  %any.at = getelementptr i8, ptr addrspace(1) %at, i64 %back.down
  %down = shl i64 %back, 3
  br i1 %wide, label %pair.then, label %pair.else
pair.then:
  %any.pair.0 = load i64, ptr addrspace(1) %any.at, align 1
  %any.pair = lshr i64 %any.pair.0, %down
  store i64 %any.pair, ptr addrspace(5) %slot, align 8
  br label %both.end
pair.else:
  %any.word.0 = load i32, ptr addrspace(1) %any.at, align 1
  %word.down = trunc i64 %down to i32
  %any.word = lshr i32 %any.word.0, %word.down
  store i32 %any.word, ptr addrspace(5) %slot, align 4
  br label %both.end
any.else:
  br i1 %wide, label %both.then, label %both.else
both.then:
  %pair = load <2 x i32>, ptr addrspace(1) %at, align 8
  store <2 x i32> %pair, ptr addrspace(5) %slot, align 8
  br label %both.end
both.else:
  %word = load i32, ptr addrspace(1) %at, align 4
  store i32 %word, ptr addrspace(5) %slot, align 4
  br label %both.end
both.end:
  %e.next = add i32 %e, 1
  store i32 %e.next, ptr addrspace(5) %e.slot
  %e.more = icmp ult i32 %e.next, %lines
  br i1 %e.more, label %e.loop, label %e.exit, !llvm.loop !1
e.exit:
  br label %some.end
some.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @load_columns(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers) #1 {
entry:
  %load_width = load i32, ptr addrspace(4) @ws.load_width
  %any_m = load i32, ptr addrspace(4) @ws.any_m
  %anywhere = icmp eq i32 %any_m, 1
  %rest = urem i32 %extent, %load_width
  %uneven = icmp ne i32 %rest, 0
  %end = add i32 %origin, %rows
  %past = icmp ugt i32 %end, %extent
  %cut.0 = and i1 %anywhere, %uneven
  %cut = and i1 %cut.0, %past
  br i1 %cut, label %cut.then, label %cut.else
cut.then:
  call void @load_bands(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers, i1 true)
  br label %cut.end
cut.else:
  call void @load_bands(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers, i1 false)
  br label %cut.end
cut.end:
  ret void
}

; ---- region store_columns: mnmajor, registers -> LDS, transposed -------------

; Transposes 4 x 4 bytes: words from[0], from[step], ... hold 4 rows each at one
; k; words to[0], to[stride], ... become one row each at 4 k.
define internal void @transpose(ptr addrspace(5) %from, i32 %step, ptr addrspace(5) %to, i32 %stride) #1 {
entry:
  %step.2 = mul i32 %step, 2
  %step.3 = mul i32 %step, 3
  %from.1 = getelementptr i32, ptr addrspace(5) %from, i32 %step
  %from.2 = getelementptr i32, ptr addrspace(5) %from, i32 %step.2
  %from.3 = getelementptr i32, ptr addrspace(5) %from, i32 %step.3
  %word.0 = load i32, ptr addrspace(5) %from, align 4
  %word.1 = load i32, ptr addrspace(5) %from.1, align 4
  %word.2 = load i32, ptr addrspace(5) %from.2, align 4
  %word.3 = load i32, ptr addrspace(5) %from.3, align 4
  %low.01 = call i32 @llvm.amdgcn.perm(i32 %word.1, i32 %word.0, i32 u0x05010400)
  %low.23 = call i32 @llvm.amdgcn.perm(i32 %word.3, i32 %word.2, i32 u0x05010400)
  %high.01 = call i32 @llvm.amdgcn.perm(i32 %word.1, i32 %word.0, i32 u0x07030602)
  %high.23 = call i32 @llvm.amdgcn.perm(i32 %word.3, i32 %word.2, i32 u0x07030602)
  %line.0 = call i32 @llvm.amdgcn.perm(i32 %low.23, i32 %low.01, i32 u0x05040100)
  %line.1 = call i32 @llvm.amdgcn.perm(i32 %low.23, i32 %low.01, i32 u0x07060302)
  %line.2 = call i32 @llvm.amdgcn.perm(i32 %high.23, i32 %high.01, i32 u0x05040100)
  %line.3 = call i32 @llvm.amdgcn.perm(i32 %high.23, i32 %high.01, i32 u0x07060302)
  %stride.2 = mul i32 %stride, 2
  %stride.3 = mul i32 %stride, 3
  %to.1 = getelementptr i32, ptr addrspace(5) %to, i32 %stride
  %to.2 = getelementptr i32, ptr addrspace(5) %to, i32 %stride.2
  %to.3 = getelementptr i32, ptr addrspace(5) %to, i32 %stride.3
  store i32 %line.0, ptr addrspace(5) %to, align 4
  store i32 %line.1, ptr addrspace(5) %to.1, align 4
  store i32 %line.2, ptr addrspace(5) %to.2, align 4
  store i32 %line.3, ptr addrspace(5) %to.3, align 4
  ret void
}

define internal void @store_columns(ptr addrspace(5) %registers, ptr addrspace(3) %tile, i32 %rows, i32 %thread) #1 {
entry:
  %turned = alloca [16 x i32], align 16, addrspace(5)
  %i.slot = alloca i32, addrspace(5)
  %h.slot = alloca i32, addrspace(5)
  %q.slot = alloca i32, addrspace(5)
  %e.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %load_width = load i32, ptr addrspace(4) @ws.load_width
  %bands = udiv i32 %rows, %load_width
  %lines = udiv i32 64, %load_width
  %total.0 = udiv i32 %tile_k, %lines
  %total = mul i32 %bands, %total.0
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %wide = icmp eq i32 %load_width, 8
  %narrow = icmp eq i32 %lds_pad, 8
  %words = udiv i32 %load_width, 4
  %quads = udiv i32 %lines, 4
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %block.0 = mul i32 %i, %threads
  %block = add i32 %block.0, %thread
  %exists.0 = icmp ult i32 %block, %total
  %exists = or i1 %even, %exists.0
  br i1 %exists, label %write.then, label %write.end
write.then:
  store i32 0, ptr addrspace(5) %h.slot
  br label %h.loop
h.loop:
  %h = load i32, ptr addrspace(5) %h.slot
  store i32 0, ptr addrspace(5) %q.slot
  br label %q.loop
q.loop:
  %q = load i32, ptr addrspace(5) %q.slot
  %number.0 = mul i32 %i, 16
  %number.1 = mul i32 %q, 4
  %number.2 = mul i32 %number.1, %words
  %number.3 = add i32 %number.0, %number.2
  %number = add i32 %number.3, %h
  %place.0 = mul i32 %h, 4
  %place.1 = mul i32 %place.0, %quads
  %place = add i32 %place.1, %q
  %from = getelementptr i32, ptr addrspace(5) %registers, i32 %number
  %to = getelementptr i32, ptr addrspace(5) %turned, i32 %place
  call void @transpose(ptr addrspace(5) %from, i32 %words, ptr addrspace(5) %to, i32 %quads)
  %q.next = add i32 %q, 1
  store i32 %q.next, ptr addrspace(5) %q.slot
  %q.more = icmp ult i32 %q.next, %quads
  br i1 %q.more, label %q.loop, label %q.exit, !llvm.loop !1
q.exit:
  %h.next = add i32 %h, 1
  store i32 %h.next, ptr addrspace(5) %h.slot
  %h.more = icmp ult i32 %h.next, %words
  br i1 %h.more, label %h.loop, label %h.exit, !llvm.loop !1
h.exit:
  %k.0 = udiv i32 %block, %bands
  %k = mul i32 %k.0, %lines
  %chunk = and i32 %k, 4294967280
  %rest = and i32 %k, 15
  store i32 0, ptr addrspace(5) %e.slot
  br label %e.loop
e.loop:
  %e = load i32, ptr addrspace(5) %e.slot
  %row.0 = urem i32 %block, %bands
  %row.1 = mul i32 %row.0, %load_width
  %row = add i32 %row.1, %e
  %offset = call i32 @lds_offset(i32 %row, i32 %chunk)
  %at = getelementptr i8, ptr addrspace(3) %tile, i32 %offset
  %first = mul i32 %e, %quads
  %bytes = getelementptr i32, ptr addrspace(5) %turned, i32 %first
  br i1 %wide, label %half.then, label %half.else
half.then:
  %half.at = getelementptr i8, ptr addrspace(3) %at, i32 %rest
  %pair = load <2 x i32>, ptr addrspace(5) %bytes, align 8
  store <2 x i32> %pair, ptr addrspace(3) %half.at, align 8
  br label %half.end
half.else:
  %four = load <4 x i32>, ptr addrspace(5) %bytes, align 16
  br i1 %narrow, label %halves.then, label %halves.else
halves.then:
  store <4 x i32> %four, ptr addrspace(3) %at, align 8
  br label %halves.end
halves.else:
  store <4 x i32> %four, ptr addrspace(3) %at, align 16
  br label %halves.end
halves.end:
  br label %half.end
half.end:
  %e.next = add i32 %e, 1
  store i32 %e.next, ptr addrspace(5) %e.slot
  %e.more = icmp ult i32 %e.next, %load_width
  br i1 %e.more, label %e.loop, label %e.exit, !llvm.loop !1
e.exit:
  br label %write.end
write.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region load_scales: global -> registers ---------------------------------
define internal void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %row, i32 %column, i32 %block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, ptr addrspace(5) %registers) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %total.0 = add i32 %tile_n, 127
  %total.1 = udiv i32 %total.0, 128
  %total = add i32 %tile_m, %total.1
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %first.block = udiv i32 %column, 128
  %last.row = sub i32 %m, 1
  %last.block.0 = sub i32 %n, 1
  %last.block = udiv i32 %last.block.0, 128
  %as.row = sext i32 %as_stride_m to i64
  %as.block = sext i32 %as_stride_k to i64
  %bs.row = sext i32 %bs_stride_n to i64
  %bs.block = sext i32 %bs_stride_k to i64
  %block64 = zext i32 %block to i64
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %number.0 = mul i32 %i, %threads
  %number.1 = add i32 %number.0, %thread
  %number.2 = sub i32 %total, 1
  %number = call i32 @llvm.umin.i32(i32 %number.1, i32 %number.2)
  %of.a = icmp ult i32 %number, %tile_m
  %index.a.0 = add i32 %row, %number
  %index.a = call i32 @llvm.umin.i32(i32 %index.a.0, i32 %last.row)
  %index.b.0 = add i32 %first.block, %number
  %index.b.1 = sub i32 %index.b.0, %tile_m
  %index.b = call i32 @llvm.umin.i32(i32 %index.b.1, i32 %last.block)
  %index = select i1 %of.a, i32 %index.a, i32 %index.b
  %step = select i1 %of.a, i64 %as.row, i64 %bs.row
  %step.block = select i1 %of.a, i64 %as.block, i64 %bs.block
  %base = select i1 %of.a, ptr addrspace(1) %as, ptr addrspace(1) %bs
  %index64 = zext i32 %index to i64
  %start = mul i64 %index64, %step
  %ahead = mul i64 %block64, %step.block
  %offset = add i64 %start, %ahead
  %at = getelementptr float, ptr addrspace(1) %base, i64 %offset
  %value = load float, ptr addrspace(1) %at, align 4
  %slot = getelementptr float, ptr addrspace(5) %registers, i32 %i
  store float %value, ptr addrspace(5) %slot, align 4
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region store_scales: registers -> LDS -----------------------------------
define internal void @store_scales(ptr addrspace(5) %registers, ptr addrspace(3) %scales, i32 %thread) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %total.0 = add i32 %tile_n, 127
  %total.1 = udiv i32 %total.0, 128
  %total = add i32 %tile_m, %total.1
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %number.0 = mul i32 %i, %threads
  %number = add i32 %number.0, %thread
  %exists = icmp ult i32 %number, %total
  br i1 %exists, label %write.then, label %write.end
write.then:
  %slot = getelementptr float, ptr addrspace(5) %registers, i32 %i
  %value = load float, ptr addrspace(5) %slot, align 4
  %at = getelementptr float, ptr addrspace(3) %scales, i32 %number
  store float %value, ptr addrspace(3) %at, align 4
  br label %write.end
write.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region read_fragments: LDS -> operands of matrix instructions -----------
define internal void @read_fragments(ptr addrspace(3) %tile, i32 %first, i32 %count, i32 %k, i32 %lane, ptr addrspace(5) %fragments) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %lds_read = load i32, ptr addrspace(4) @ws.lds_read
  %lane.row = urem i32 %lane, %mfma
  %wide = icmp eq i32 %lds_read, 16
  %chunk = and i32 %k, 4294967280
  %rest = and i32 %k, 15
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %row.0 = mul i32 %i, %mfma
  %row.1 = add i32 %first, %row.0
  %row = add i32 %row.1, %lane.row
  %offset = call i32 @lds_offset(i32 %row, i32 %chunk)
  %chunk.at = getelementptr i8, ptr addrspace(3) %tile, i32 %offset
  br i1 %wide, label %both.then, label %both.else
both.then:
  %pair = load <2 x i64>, ptr addrspace(3) %chunk.at, align 16 ; 16-byte LDS read
  %number = mul i32 %i, 2
  %pair.slot = getelementptr i64, ptr addrspace(5) %fragments, i32 %number
  store <2 x i64> %pair, ptr addrspace(5) %pair.slot, align 16
  br label %both.end
both.else:
  %at = getelementptr i8, ptr addrspace(3) %chunk.at, i32 %rest
  %one = load i64, ptr addrspace(3) %at, align 8
  %slot = getelementptr i64, ptr addrspace(5) %fragments, i32 %i
  store i64 %one, ptr addrspace(5) %slot, align 8
  br label %both.end
both.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region mma: LDS -> partial sums -----------------------------------------

; partial[block] += a * b, for one block of mfma x mfma.
define internal void @multiply(i64 %a, i64 %b, ptr addrspace(5) %partial, i32 %block) #1 {
entry:
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %small = icmp eq i32 %mfma, 16
  br i1 %small, label %m16.then, label %m16.else
m16.then:
  %c16.at = getelementptr <4 x float>, ptr addrspace(5) %partial, i32 %block
  %c16 = load <4 x float>, ptr addrspace(5) %c16.at, align 16
  %d16 = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 %a, i64 %b, <4 x float> %c16, i32 0, i32 0, i32 0) ; matrix instruction
  store <4 x float> %d16, ptr addrspace(5) %c16.at, align 16
  br label %m16.end
m16.else:
  %c32.at = getelementptr <16 x float>, ptr addrspace(5) %partial, i32 %block
  %c32 = load <16 x float>, ptr addrspace(5) %c32.at, align 16
  %d32 = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8(i64 %a, i64 %b, <16 x float> %c32, i32 0, i32 0, i32 0)
  store <16 x float> %d32, ptr addrspace(5) %c32.at, align 16
  br label %m16.end
m16.end:
  ret void
}

; All matrix instructions of one window.
define internal void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %partial) #1 {
entry:
  %h.slot = alloca i32, addrspace(5)
  %i.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %lds_read = load i32, ptr addrspace(4) @ws.lds_read
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %halves = udiv i32 %lds_read, 8
  store i32 0, ptr addrspace(5) %h.slot
  br label %h.loop
h.loop:
  %h = load i32, ptr addrspace(5) %h.slot
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %number.a.0 = mul i32 %i, %halves
  %number.a = add i32 %number.a.0, %h
  %a.slot = getelementptr i64, ptr addrspace(5) %fragments.a, i32 %number.a
  %a.value = load i64, ptr addrspace(5) %a.slot, align 8
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %number.b.0 = mul i32 %j, %halves
  %number.b = add i32 %number.b.0, %h
  %b.slot = getelementptr i64, ptr addrspace(5) %fragments.b, i32 %number.b
  %b.value = load i64, ptr addrspace(5) %b.slot, align 8
  %block.0 = mul i32 %i, %count_n
  %block = add i32 %block.0, %j
  call void @multiply(i64 %a.value, i64 %b.value, ptr addrspace(5) %partial, i32 %block)
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  %h.next = add i32 %h, 1
  store i32 %h.next, ptr addrspace(5) %h.slot
  %h.more = icmp ult i32 %h.next, %halves
  br i1 %h.more, label %h.loop, label %h.exit, !llvm.loop !1
h.exit:
  ret void
}

define internal void @mma(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %partial, i32 %lane) #1 {
entry:
  %fragments.a = alloca [32 x i64], align 16, addrspace(5)
  %fragments.b = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %lds_read = load i32, ptr addrspace(4) @ws.lds_read
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %depth.0 = udiv i32 64, %mfma
  %depth = mul i32 %depth.0, %lds_read
  %windows = udiv i32 %tile_k, %depth
  store i32 0, ptr addrspace(5) %w.slot
  br label %w.loop
w.loop:
  %w = load i32, ptr addrspace(5) %w.slot
  %k.0 = mul i32 %w, %depth
  %k.1 = udiv i32 %lane, %mfma
  %k.2 = mul i32 %k.1, %lds_read
  %k = add i32 %k.0, %k.2
  call void @read_fragments(ptr addrspace(3) %a, i32 %row_a, i32 %count_m, i32 %k, i32 %lane, ptr addrspace(5) %fragments.a)
  call void @read_fragments(ptr addrspace(3) %b, i32 %row_b, i32 %count_n, i32 %k, i32 %lane, ptr addrspace(5) %fragments.b)
  call void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %partial)
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; Above other waves while the matrix unit is fed.
define internal void @mma_priority(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %partial, i32 %lane) #1 {
entry:
  %fragments.a = alloca [32 x i64], align 16, addrspace(5)
  %fragments.b = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %lds_read = load i32, ptr addrspace(4) @ws.lds_read
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %depth.0 = udiv i32 64, %mfma
  %depth = mul i32 %depth.0, %lds_read
  %windows = udiv i32 %tile_k, %depth
  store i32 0, ptr addrspace(5) %w.slot
  br label %w.loop
w.loop:
  %w = load i32, ptr addrspace(5) %w.slot
  %k.0 = mul i32 %w, %depth
  %k.1 = udiv i32 %lane, %mfma
  %k.2 = mul i32 %k.1, %lds_read
  %k = add i32 %k.0, %k.2
  call void @read_fragments(ptr addrspace(3) %a, i32 %row_a, i32 %count_m, i32 %k, i32 %lane, ptr addrspace(5) %fragments.a)
  call void @read_fragments(ptr addrspace(3) %b, i32 %row_b, i32 %count_n, i32 %k, i32 %lane, ptr addrspace(5) %fragments.b)
  call void @llvm.amdgcn.s.setprio(i16 1)
  call void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %partial)
  call void @llvm.amdgcn.s.setprio(i16 0)
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; B's fragments stay, A's come one block of rows at a time.
define internal void @mma_stationary(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %partial, i32 %lane) #1 {
entry:
  %fragments.a = alloca [2 x i64], align 16, addrspace(5)
  %fragments.b = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %i.slot = alloca i32, addrspace(5)
  %h.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %lds_read = load i32, ptr addrspace(4) @ws.lds_read
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %halves = udiv i32 %lds_read, 8
  %depth.0 = udiv i32 64, %mfma
  %depth = mul i32 %depth.0, %lds_read
  %windows = udiv i32 %tile_k, %depth
  store i32 0, ptr addrspace(5) %w.slot
  br label %w.loop
w.loop:
  %w = load i32, ptr addrspace(5) %w.slot
  %k.0 = mul i32 %w, %depth
  %k.1 = udiv i32 %lane, %mfma
  %k.2 = mul i32 %k.1, %lds_read
  %k = add i32 %k.0, %k.2
  call void @read_fragments(ptr addrspace(3) %b, i32 %row_b, i32 %count_n, i32 %k, i32 %lane, ptr addrspace(5) %fragments.b)
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %row.0 = mul i32 %i, %mfma
  %row = add i32 %row_a, %row.0
  call void @read_fragments(ptr addrspace(3) %a, i32 %row, i32 1, i32 %k, i32 %lane, ptr addrspace(5) %fragments.a)
  store i32 0, ptr addrspace(5) %h.slot
  br label %h.loop
h.loop:
  %h = load i32, ptr addrspace(5) %h.slot
  %a.slot = getelementptr i64, ptr addrspace(5) %fragments.a, i32 %h
  %a.value = load i64, ptr addrspace(5) %a.slot, align 8
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %number.b.0 = mul i32 %j, %halves
  %number.b = add i32 %number.b.0, %h
  %b.slot = getelementptr i64, ptr addrspace(5) %fragments.b, i32 %number.b
  %b.value = load i64, ptr addrspace(5) %b.slot, align 8
  %block.0 = mul i32 %i, %count_n
  %block = add i32 %block.0, %j
  call void @multiply(i64 %a.value, i64 %b.value, ptr addrspace(5) %partial, i32 %block)
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  %h.next = add i32 %h, 1
  store i32 %h.next, ptr addrspace(5) %h.slot
  %h.more = icmp ult i32 %h.next, %halves
  br i1 %h.more, label %h.loop, label %h.exit, !llvm.loop !1
h.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; ---- region mma_direct: A from LDS, B from load_direct -> partial sums ---------
define internal void @mma_direct(ptr addrspace(3) %a, ptr addrspace(5) %registers, i32 %row_a, ptr addrspace(5) %partial, i32 %lane) #1 {
entry:
  %fragments.a = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %window = udiv i32 1024, %mfma
  %windows = udiv i32 %tile_k, %window
  store i32 0, ptr addrspace(5) %w.slot
  br label %w.loop
w.loop:
  %w = load i32, ptr addrspace(5) %w.slot
  %k.0 = mul i32 %w, %window
  %k.1 = udiv i32 %lane, %mfma
  %k.2 = mul i32 %k.1, 16
  %k = add i32 %k.0, %k.2
  call void @read_fragments(ptr addrspace(3) %a, i32 %row_a, i32 %count_m, i32 %k, i32 %lane, ptr addrspace(5) %fragments.a)
  %number = mul i32 %w, %count_n
  %fragments.b = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %number
  call void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %partial)
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; ---- region scale: partial sums -> running sums ------------------------------
define internal void @scale(ptr addrspace(5) %running, ptr addrspace(5) %partial, ptr addrspace(3) %a_scales, ptr addrspace(3) %b_scales, i32 %row, i32 %column, i32 %lane) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %g.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.loop
g.loop:
  %g = load i32, ptr addrspace(5) %g.slot
  %r.0 = mul i32 %i, %mfma
  %r.1 = add i32 %row, %r.0
  %r.2 = mul i32 %g, 8
  %r.3 = add i32 %r.1, %r.2
  %r = add i32 %r.3, %lane.row
  %as.at = getelementptr float, ptr addrspace(3) %a_scales, i32 %r
  %as = load <4 x float>, ptr addrspace(3) %as.at, align 16
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %block.0 = mul i32 %j, %mfma
  %block.1 = add i32 %column, %block.0
  %block = udiv i32 %block.1, 128
  %bs.at = getelementptr float, ptr addrspace(3) %b_scales, i32 %block
  %bs = load float, ptr addrspace(3) %bs.at, align 4
  %bs.one = insertelement <4 x float> poison, float %bs, i32 0
  %bs.all = shufflevector <4 x float> %bs.one, <4 x float> poison, <4 x i32> zeroinitializer
  %factor = fmul <4 x float> %as, %bs.all
  %quad.0 = mul i32 %i, %count_n
  %quad.1 = add i32 %quad.0, %j
  %quad.2 = mul i32 %quad.1, %quads
  %quad = add i32 %quad.2, %g
  %part.at = getelementptr <4 x float>, ptr addrspace(5) %partial, i32 %quad
  %sum.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %quad
  %part = load <4 x float>, ptr addrspace(5) %part.at, align 16
  %sum = load <4 x float>, ptr addrspace(5) %sum.at, align 16
  %sum.next = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %part, <4 x float> %factor, <4 x float> %sum)
  store <4 x float> %sum.next, ptr addrspace(5) %sum.at, align 16
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g.next, %quads
  br i1 %g.more, label %g.loop, label %g.exit, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; Element by element, always fused (fmuladd leaves that open); which of them share
; a packed instruction is left to the compiler.
define internal void @scale_elements(ptr addrspace(5) %running, ptr addrspace(5) %partial, ptr addrspace(3) %a_scales, ptr addrspace(3) %b_scales, i32 %row, i32 %column, i32 %lane) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %g.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %e.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.loop
g.loop:
  %g = load i32, ptr addrspace(5) %g.slot
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %block.0 = mul i32 %j, %mfma
  %block.1 = add i32 %column, %block.0
  %block = udiv i32 %block.1, 128
  %bs.at = getelementptr float, ptr addrspace(3) %b_scales, i32 %block
  %bs = load float, ptr addrspace(3) %bs.at, align 4
  store i32 0, ptr addrspace(5) %e.slot
  br label %e.loop
e.loop:
  %e = load i32, ptr addrspace(5) %e.slot
  %r.0 = mul i32 %i, %mfma
  %r.1 = add i32 %row, %r.0
  %r.2 = mul i32 %g, 8
  %r.3 = add i32 %r.1, %r.2
  %r.4 = add i32 %r.3, %lane.row
  %r = add i32 %r.4, %e
  %as.at = getelementptr float, ptr addrspace(3) %a_scales, i32 %r
  %as = load float, ptr addrspace(3) %as.at, align 4
  %factor = fmul float %as, %bs
  %number.0 = mul i32 %i, %count_n
  %number.1 = add i32 %number.0, %j
  %number.2 = mul i32 %number.1, %quads
  %number.3 = add i32 %number.2, %g
  %number.4 = mul i32 %number.3, 4
  %number = add i32 %number.4, %e
  %part.at = getelementptr float, ptr addrspace(5) %partial, i32 %number
  %sum.at = getelementptr float, ptr addrspace(5) %running, i32 %number
  %part = load float, ptr addrspace(5) %part.at, align 4
  %sum = load float, ptr addrspace(5) %sum.at, align 4
  %sum.next = call float @llvm.fma.f32(float %part, float %factor, float %sum)
  store float %sum.next, ptr addrspace(5) %sum.at, align 4
  %e.next = add i32 %e, 1
  store i32 %e.next, ptr addrspace(5) %e.slot
  %e.more = icmp ult i32 %e.next, 4
  br i1 %e.more, label %e.loop, label %e.exit, !llvm.loop !1
e.exit:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g.next, %quads
  br i1 %g.more, label %g.loop, label %g.exit, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; B's scale goes onto the partial sum first, A's into the addition: no products
; of scales to keep, one more packed multiplication per pair.
define internal void @scale_twice(ptr addrspace(5) %running, ptr addrspace(5) %partial, ptr addrspace(3) %a_scales, ptr addrspace(3) %b_scales, i32 %row, i32 %column, i32 %lane) #1 {
entry:
  %j.slot = alloca i32, addrspace(5)
  %i.slot = alloca i32, addrspace(5)
  %g.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %block.0 = mul i32 %j, %mfma
  %block.1 = add i32 %column, %block.0
  %block = udiv i32 %block.1, 128
  %bs.at = getelementptr float, ptr addrspace(3) %b_scales, i32 %block
  %bs = load float, ptr addrspace(3) %bs.at, align 4
  %bs.one = insertelement <4 x float> poison, float %bs, i32 0
  %bs.all = shufflevector <4 x float> %bs.one, <4 x float> poison, <4 x i32> zeroinitializer
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.loop
g.loop:
  %g = load i32, ptr addrspace(5) %g.slot
  %r.0 = mul i32 %i, %mfma
  %r.1 = add i32 %row, %r.0
  %r.2 = mul i32 %g, 8
  %r.3 = add i32 %r.1, %r.2
  %r = add i32 %r.3, %lane.row
  %as.at = getelementptr float, ptr addrspace(3) %a_scales, i32 %r
  %as = load <4 x float>, ptr addrspace(3) %as.at, align 16
  %quad.0 = mul i32 %i, %count_n
  %quad.1 = add i32 %quad.0, %j
  %quad.2 = mul i32 %quad.1, %quads
  %quad = add i32 %quad.2, %g
  %part.at = getelementptr <4 x float>, ptr addrspace(5) %partial, i32 %quad
  %sum.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %quad
  %part = load <4 x float>, ptr addrspace(5) %part.at, align 16
  %sum = load <4 x float>, ptr addrspace(5) %sum.at, align 16
  %scaled = fmul <4 x float> %part, %bs.all
  %sum.next = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %scaled, <4 x float> %as, <4 x float> %sum)
  store <4 x float> %sum.next, ptr addrspace(5) %sum.at, align 16
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g.next, %quads
  br i1 %g.more, label %g.loop, label %g.exit, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  ret void
}

; ---- region round: fp32 -> bf16 ------------------------------------------------
define internal <4 x i16> @round(<4 x float> %values) #1 {
entry:
  %rounded = fptrunc <4 x float> %values to <4 x bfloat>
  %bits = bitcast <4 x bfloat> %rounded to <4 x i16>
  ret <4 x i16> %bits
}

; In integers: adds just less than half of the last place, and one more when
; that is odd. Infinity stays; of NaN, only those that matrix instructions make.
define internal <4 x i16> @round_integer(<4 x float> %values) #1 {
entry:
  %wide = bitcast <4 x float> %values to <4 x i32>
  %shifted = lshr <4 x i32> %wide, splat (i32 16)
  %odd = and <4 x i32> %shifted, splat (i32 1)
  %almost = add <4 x i32> %wide, splat (i32 32767)
  %sum = add <4 x i32> %almost, %odd
  %high = lshr <4 x i32> %sum, splat (i32 16)
  %bits = trunc <4 x i32> %high to <4 x i16>
  ret <4 x i16> %bits
}

; ---- region store_c: running sums -> C ---------------------------------------

; Where element (row, column) of an [.][n] array of elements of size bytes is.
define internal ptr addrspace(1) @element_at(ptr addrspace(1) %array, i32 %row, i32 %column, i32 %n, i32 %size) #1 {
entry:
  %row64 = zext i32 %row to i64
  %column64 = zext i32 %column to i64
  %n64 = zext i32 %n to i64
  %size64 = zext i32 %size to i64
  %line = mul i64 %row64, %n64
  %element = add i64 %line, %column64
  %offset = mul i64 %element, %size64
  %at = getelementptr i8, ptr addrspace(1) %array, i64 %offset
  ret ptr addrspace(1) %at
}

; Whether m cuts a block of 16 rows of the wave's part; the same for all lanes.
define internal i1 @cuts_block(i32 %row, i32 %m) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %rows = udiv i32 %tile_m, %waves_m
  %end = add i32 %row, %rows
  %past = icmp ugt i32 %end, %m
  %rest = and i32 %m, 15
  %uneven = icmp ne i32 %rest, 0
  %cut = and i1 %past, %uneven
  ret i1 %cut
}

define internal void @store_blocks(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane, i1 %cut) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %g.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %e.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %nontemporal = load i32, ptr addrspace(4) @ws.nontemporal
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %stream = icmp eq i32 %nontemporal, 1
  %lane.column = urem i32 %lane, %mfma
  %lane.half = and i32 %lane.column, 16
  %first.row.0 = udiv i32 %lane, %mfma
  %first.row.1 = mul i32 %first.row.0, 4
  %first.row = add i32 %row, %first.row.1
  %first.column = add i32 %column, %lane.column
  %corner = call ptr addrspace(1) @element_at(ptr addrspace(1) %c, i32 %first.row, i32 %first.column, i32 %n, i32 2)
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.loop
g.loop:
  %g = load i32, ptr addrspace(5) %g.slot
  ; masks are by blocks of 16 x 16, and by rows where m cuts a block
  %block.row.0 = mul i32 %i, %mfma
  %block.row.1 = add i32 %row, %block.row.0
  %block.row.2 = udiv i32 %g, 2
  %block.row.3 = mul i32 %block.row.2, 16
  %block.row = add i32 %block.row.1, %block.row.3
  %lines = icmp ult i32 %block.row, %m
  br i1 %lines, label %lines.then, label %lines.end ; global store mask: rows
lines.then:
  %down.0 = mul i32 %i, %mfma
  %down.1 = mul i32 %g, 8
  %down.2 = add i32 %down.0, %down.1
  %down = mul i32 %down.2, %n
  %own.row = add i32 %first.row, %down.2
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %block.column.0 = mul i32 %j, %mfma
  %block.column.1 = add i32 %column, %block.column.0
  %block.column = add i32 %block.column.1, %lane.half
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end ; global store mask: columns
write.then:
  %quad.0 = mul i32 %i, %count_n
  %quad.1 = add i32 %quad.0, %j
  %quad.2 = mul i32 %quad.1, %quads
  %quad = add i32 %quad.2, %g
  %sum.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %quad
  %sum = load <4 x float>, ptr addrspace(5) %sum.at, align 16
  %rounded = call <4 x i16> @round(<4 x float> %sum)
  %across = mul i32 %j, %mfma
  store i32 0, ptr addrspace(5) %e.slot
  br label %e.loop
e.loop:
  %e = load i32, ptr addrspace(5) %e.slot
  %line.0 = mul i32 %e, %n
  %line = add i32 %down, %line.0
  %line64 = zext i32 %line to i64
  %line.at = getelementptr i16, ptr addrspace(1) %corner, i64 %line64
  %at = getelementptr i16, ptr addrspace(1) %line.at, i32 %across
  %value = extractelement <4 x i16> %rounded, i32 %e
  %e.row = add i32 %own.row, %e
  %within.0 = icmp ult i32 %e.row, %m
  %uncut = xor i1 %cut, true
  %within = or i1 %uncut, %within.0
  br i1 %within, label %within.then, label %within.end ; global store mask: rows of a cut block
within.then:
  br i1 %stream, label %past.then, label %past.else
past.then:
  store i16 %value, ptr addrspace(1) %at, align 2, !nontemporal !61
  br label %past.end
past.else:
  store i16 %value, ptr addrspace(1) %at, align 2
  br label %past.end
past.end:
  br label %within.end
within.end:
  %e.next = add i32 %e, 1
  store i32 %e.next, ptr addrspace(5) %e.slot
  %e.more = icmp ult i32 %e.next, 4
  br i1 %e.more, label %e.loop, label %e.exit, !llvm.loop !1
e.exit:
  br label %write.end
write.end:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  br label %lines.end
lines.end:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g.next, %quads
  br i1 %g.more, label %g.loop, label %g.exit, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @store_c(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #1 {
entry:
  %cut = call i1 @cuts_block(i32 %row, i32 %m)
  br i1 %cut, label %cut.then, label %cut.else
cut.then:
  call void @store_blocks(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane, i1 true)
  br label %cut.end
cut.else:
  call void @store_blocks(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane, i1 false)
  br label %cut.end
cut.end:
  ret void
}

; Lanes of neighbouring columns swap halves, so that each stores two columns of
; two rows in words: the even lane rows 0 and 2 of the four, the odd one 1 and 3.
; Partners are both inside or both outside, as n is even.
define internal void @store_block_pairs(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane, i1 %cut) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %g.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %nontemporal = load i32, ptr addrspace(4) @ws.nontemporal
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %stream = icmp eq i32 %nontemporal, 1
  %lane.column = urem i32 %lane, %mfma
  %lane.half = and i32 %lane.column, 16
  %parity = and i32 %lane, 1
  %is.odd = icmp eq i32 %parity, 1
  %first.row.0 = udiv i32 %lane, %mfma
  %first.row.1 = mul i32 %first.row.0, 4
  %first.row.2 = add i32 %row, %first.row.1
  %first.row = add i32 %first.row.2, %parity
  %first.column.0 = add i32 %column, %lane.column
  %first.column = sub i32 %first.column.0, %parity
  %corner = call ptr addrspace(1) @element_at(ptr addrspace(1) %c, i32 %first.row, i32 %first.column, i32 %n, i32 2)
  %skip = mul i32 %n, 2
  %skip64 = zext i32 %skip to i64
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.loop
g.loop:
  %g = load i32, ptr addrspace(5) %g.slot
  %block.row.0 = mul i32 %i, %mfma
  %block.row.1 = add i32 %row, %block.row.0
  %block.row.2 = udiv i32 %g, 2
  %block.row.3 = mul i32 %block.row.2, 16
  %block.row = add i32 %block.row.1, %block.row.3
  %lines = icmp ult i32 %block.row, %m
  br i1 %lines, label %lines.then, label %lines.end
lines.then:
  %down.0 = mul i32 %i, %mfma
  %down.1 = mul i32 %g, 8
  %down.2 = add i32 %down.0, %down.1
  %down = mul i32 %down.2, %n
  %down64 = zext i32 %down to i64
  %upper.row = add i32 %first.row, %down.2
  %lower.row = add i32 %upper.row, 2
  %upper.within = icmp ult i32 %upper.row, %m
  %lower.within = icmp ult i32 %lower.row, %m
  %uncut = xor i1 %cut, true
  %upper.write = or i1 %uncut, %upper.within
  %lower.write = or i1 %uncut, %lower.within
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %quad.0 = mul i32 %i, %count_n
  %quad.1 = add i32 %quad.0, %j
  %quad.2 = mul i32 %quad.1, %quads
  %quad = add i32 %quad.2, %g
  %sum.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %quad
  %sum = load <4 x float>, ptr addrspace(5) %sum.at, align 16
  %rounded = call <4 x i16> @round(<4 x float> %sum)
  %words = bitcast <4 x i16> %rounded to <2 x i32>
  %rows.01 = extractelement <2 x i32> %words, i32 0
  %rows.23 = extractelement <2 x i32> %words, i32 1
  %rows.02 = call i32 @llvm.amdgcn.perm(i32 %rows.23, i32 %rows.01, i32 u0x05040100)
  %rows.13 = call i32 @llvm.amdgcn.perm(i32 %rows.23, i32 %rows.01, i32 u0x07060302)
  %kept = select i1 %is.odd, i32 %rows.13, i32 %rows.02
  %given = select i1 %is.odd, i32 %rows.02, i32 %rows.13
  ; quad permutation 1 0 3 2
  %taken = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %given, i32 177, i32 15, i32 15, i1 true)
  %left = select i1 %is.odd, i32 %taken, i32 %kept
  %right = select i1 %is.odd, i32 %kept, i32 %taken
  %upper = call i32 @llvm.amdgcn.perm(i32 %right, i32 %left, i32 u0x05040100)
  %lower = call i32 @llvm.amdgcn.perm(i32 %right, i32 %left, i32 u0x07060302)
  %block.column.0 = mul i32 %j, %mfma
  %block.column.1 = add i32 %column, %block.column.0
  %block.column = add i32 %block.column.1, %lane.half
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end
write.then:
  %across = mul i32 %j, %mfma
  %upper.line = getelementptr i16, ptr addrspace(1) %corner, i64 %down64
  %lower.line = getelementptr i16, ptr addrspace(1) %upper.line, i64 %skip64
  %upper.at = getelementptr i16, ptr addrspace(1) %upper.line, i32 %across
  %lower.at = getelementptr i16, ptr addrspace(1) %lower.line, i32 %across
  br i1 %upper.write, label %upper.then, label %upper.end
upper.then:
  br i1 %stream, label %upper.past, label %upper.kept
upper.past:
  store i32 %upper, ptr addrspace(1) %upper.at, align 4, !nontemporal !61
  br label %upper.end
upper.kept:
  store i32 %upper, ptr addrspace(1) %upper.at, align 4
  br label %upper.end
upper.end:
  br i1 %lower.write, label %lower.then, label %lower.end
lower.then:
  br i1 %stream, label %lower.past, label %lower.kept
lower.past:
  store i32 %lower, ptr addrspace(1) %lower.at, align 4, !nontemporal !61
  br label %lower.end
lower.kept:
  store i32 %lower, ptr addrspace(1) %lower.at, align 4
  br label %lower.end
lower.end:
  br label %write.end
write.end:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  br label %lines.end
lines.end:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g.next, %quads
  br i1 %g.more, label %g.loop, label %g.exit, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @store_c_pairs(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #1 {
entry:
  %cut = call i1 @cuts_block(i32 %row, i32 %m)
  br i1 %cut, label %cut.then, label %cut.else
cut.then:
  call void @store_block_pairs(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane, i1 true)
  br label %cut.end
cut.else:
  call void @store_block_pairs(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane, i1 false)
  br label %cut.end
cut.end:
  ret void
}

; ---- region store_partials: running sums -> workspace ------------------------
define internal void @store_partials(ptr addrspace(5) %running, ptr addrspace(1) %slice, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %g.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %e.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %lane.column = urem i32 %lane, %mfma
  %lane.half = and i32 %lane.column, 16
  %first.row.0 = udiv i32 %lane, %mfma
  %first.row.1 = mul i32 %first.row.0, 4
  %first.row = add i32 %row, %first.row.1
  %first.column = add i32 %column, %lane.column
  %corner = call ptr addrspace(1) @element_at(ptr addrspace(1) %slice, i32 %first.row, i32 %first.column, i32 %n, i32 4)
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.loop
g.loop:
  %g = load i32, ptr addrspace(5) %g.slot
  %block.row.0 = mul i32 %i, %mfma
  %block.row.1 = add i32 %row, %block.row.0
  %block.row.2 = udiv i32 %g, 2
  %block.row.3 = mul i32 %block.row.2, 16
  %block.row = add i32 %block.row.1, %block.row.3
  %lines = icmp ult i32 %block.row, %m
  br i1 %lines, label %lines.then, label %lines.end
lines.then:
  %down.0 = mul i32 %i, %mfma
  %down.1 = mul i32 %g, 8
  %down.2 = add i32 %down.0, %down.1
  %down = mul i32 %down.2, %n
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr addrspace(5) %j.slot
  %block.column.0 = mul i32 %j, %mfma
  %block.column.1 = add i32 %column, %block.column.0
  %block.column = add i32 %block.column.1, %lane.half
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end
write.then:
  %first.0 = mul i32 %i, %count_n
  %first.1 = add i32 %first.0, %j
  %first.2 = mul i32 %first.1, %quads
  %first.3 = add i32 %first.2, %g
  %first = mul i32 %first.3, 4
  %across = mul i32 %j, %mfma
  store i32 0, ptr addrspace(5) %e.slot
  br label %e.loop
e.loop:
  %e = load i32, ptr addrspace(5) %e.slot
  %number = add i32 %first, %e
  %sum.at = getelementptr float, ptr addrspace(5) %running, i32 %number
  %sum = load float, ptr addrspace(5) %sum.at, align 4
  %line.0 = mul i32 %e, %n
  %line = add i32 %down, %line.0
  %line64 = zext i32 %line to i64
  %line.at = getelementptr float, ptr addrspace(1) %corner, i64 %line64
  %at = getelementptr float, ptr addrspace(1) %line.at, i32 %across
  store float %sum, ptr addrspace(1) %at, align 4
  %e.next = add i32 %e, 1
  store i32 %e.next, ptr addrspace(5) %e.slot
  %e.more = icmp ult i32 %e.next, 4
  br i1 %e.more, label %e.loop, label %e.exit, !llvm.loop !1
e.exit:
  br label %write.end
write.end:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  br label %lines.end
lines.end:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g.next, %quads
  br i1 %g.more, label %g.loop, label %g.exit, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- region reduce: slices of the workspace -> C -----------------------------
define internal void @reduce(ptr addrspace(1) %workspace, ptr addrspace(1) %c, i32 %element, i32 %count) #1 {
entry:
  %total.slot = alloca <4 x float>, align 16, addrspace(5)
  %slice.slot = alloca i32, addrspace(5)
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  store <4 x float> zeroinitializer, ptr addrspace(5) %total.slot, align 16
  %element64 = zext i32 %element to i64
  %count64 = zext i32 %count to i64
  store i32 0, ptr addrspace(5) %slice.slot
  br label %slice.loop
slice.loop:
  %slice = load i32, ptr addrspace(5) %slice.slot
  %slice64 = zext i32 %slice to i64
  %start = mul i64 %slice64, %count64
  %offset = add i64 %start, %element64
  %at = getelementptr float, ptr addrspace(1) %workspace, i64 %offset
  %part = load <4 x float>, ptr addrspace(1) %at, align 16
  %total = load <4 x float>, ptr addrspace(5) %total.slot, align 16
  %total.next = fadd <4 x float> %total, %part
  store <4 x float> %total.next, ptr addrspace(5) %total.slot, align 16
  %slice.next = add i32 %slice, 1
  store i32 %slice.next, ptr addrspace(5) %slice.slot
  %slice.more = icmp ult i32 %slice.next, %split_k
  br i1 %slice.more, label %slice.loop, label %slice.exit, !llvm.loop !1
slice.exit:
  %sum = load <4 x float>, ptr addrspace(5) %total.slot, align 16
  %rounded = call <4 x i16> @round(<4 x float> %sum)
  %c.at = getelementptr i16, ptr addrspace(1) %c, i64 %element64
  store <4 x i16> %rounded, ptr addrspace(1) %c.at, align 8
  ret void
}

; Two sums, of the even and the odd slices: half as long a chain.
define internal void @reduce_pairs(ptr addrspace(1) %workspace, ptr addrspace(1) %c, i32 %element, i32 %count) #1 {
entry:
  %sums = alloca [2 x <4 x float>], align 16, addrspace(5)
  %slice.slot = alloca i32, addrspace(5)
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %sums.1 = getelementptr <4 x float>, ptr addrspace(5) %sums, i32 1
  store <4 x float> zeroinitializer, ptr addrspace(5) %sums, align 16
  store <4 x float> zeroinitializer, ptr addrspace(5) %sums.1, align 16
  %element64 = zext i32 %element to i64
  %count64 = zext i32 %count to i64
  store i32 0, ptr addrspace(5) %slice.slot
  br label %slice.loop
slice.loop:
  %slice = load i32, ptr addrspace(5) %slice.slot
  %slice64 = zext i32 %slice to i64
  %start = mul i64 %slice64, %count64
  %offset = add i64 %start, %element64
  %at = getelementptr float, ptr addrspace(1) %workspace, i64 %offset
  %part = load <4 x float>, ptr addrspace(1) %at, align 16
  %parity = urem i32 %slice, 2
  %sum.at = getelementptr <4 x float>, ptr addrspace(5) %sums, i32 %parity
  %sum = load <4 x float>, ptr addrspace(5) %sum.at, align 16
  %sum.next = fadd <4 x float> %sum, %part
  store <4 x float> %sum.next, ptr addrspace(5) %sum.at, align 16
  %slice.next = add i32 %slice, 1
  store i32 %slice.next, ptr addrspace(5) %slice.slot
  %slice.more = icmp ult i32 %slice.next, %split_k
  br i1 %slice.more, label %slice.loop, label %slice.exit, !llvm.loop !1
slice.exit:
  %sum.0 = load <4 x float>, ptr addrspace(5) %sums, align 16
  %sum.1 = load <4 x float>, ptr addrspace(5) %sums.1, align 16
  %total = fadd <4 x float> %sum.0, %sum.1
  %rounded = call <4 x i16> @round(<4 x float> %total)
  %c.at = getelementptr i16, ptr addrspace(1) %c, i64 %element64
  store <4 x i16> %rounded, ptr addrspace(1) %c.at, align 8
  ret void
}

; ---- what holds the regions together (not rewritable) ------------------------

; A slice of the workspace has whole blocks of 16 rows, so that store_partials
; need not look at single ones; reduce leaves those that C has not.
define internal i32 @slice_rows(i32 %m) #1 {
entry:
  %up = add i32 %m, 15
  %rows = and i32 %up, -16
  ret i32 %rows
}

define internal void @zero(ptr addrspace(5) %sums) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %count.0 = udiv i32 %tile_m, %waves_m
  %count.1 = udiv i32 %tile_n, %waves_n
  %count.2 = mul i32 %count.0, %count.1
  %count = udiv i32 %count.2, 256
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr addrspace(5) %i.slot
  %at = getelementptr <4 x float>, ptr addrspace(5) %sums, i32 %i
  store <4 x float> zeroinitializer, ptr addrspace(5) %at, align 16 ; accumulator zeroing
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %row, i32 %column, i32 %m, i32 %n, i32 %k, i32 %depth, i32 %thread, i32 %wave, ptr addrspace(5) %registers.a, ptr addrspace(5) %registers.b) #1 {
entry:
  %layout = load i32, ptr addrspace(4) @ws.layout
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %b_direct = load i32, ptr addrspace(4) @ws.b_direct
  %along = icmp ne i32 %layout, 1
  %shuffled = icmp eq i32 %layout, 3
  %direct = icmp eq i32 %b_direct, 1
  br i1 %along, label %rows.then, label %rows.else
rows.then:
  call void @load_rows(ptr addrspace(1) %a, i32 %row, i32 %tile_m, i32 %m, i32 %depth, i32 %k, i32 %thread, i32 %wave, ptr addrspace(5) %registers.a)
  br i1 %shuffled, label %shuffled.then, label %shuffled.else
shuffled.then:
  br i1 %direct, label %rows.end, label %staged.then
staged.then:
  call void @load_shuffled(ptr addrspace(1) %b, i32 %column, i32 %tile_n, i32 %n, i32 %depth, i32 %k, i32 %thread, i32 %wave, ptr addrspace(5) %registers.b)
  br label %rows.end
shuffled.else:
  call void @load_rows(ptr addrspace(1) %b, i32 %column, i32 %tile_n, i32 %n, i32 %depth, i32 %k, i32 %thread, i32 %wave, ptr addrspace(5) %registers.b)
  br label %rows.end
rows.else:
  call void @load_columns(ptr addrspace(1) %a, i32 %row, i32 %tile_m, i32 %m, i32 %depth, i32 %m, i32 %thread, i32 %wave, ptr addrspace(5) %registers.a)
  ; no bits change: it tells the compiler that n cuts no band
  %even.n = and i32 %n, -16
  call void @load_columns(ptr addrspace(1) %b, i32 %column, i32 %tile_n, i32 %even.n, i32 %depth, i32 %n, i32 %thread, i32 %wave, ptr addrspace(5) %registers.b)
  br label %rows.end
rows.end:
  ret void
}

define internal void @store_tile(ptr addrspace(5) %registers.a, ptr addrspace(5) %registers.b, ptr addrspace(3) %tile.a, ptr addrspace(3) %tile.b, i32 %thread) #1 {
entry:
  %layout = load i32, ptr addrspace(4) @ws.layout
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %b_direct = load i32, ptr addrspace(4) @ws.b_direct
  %along = icmp ne i32 %layout, 1
  %shuffled = icmp eq i32 %layout, 3
  %direct = icmp eq i32 %b_direct, 1
  br i1 %along, label %rows.then, label %rows.else
rows.then:
  call void @store_rows(ptr addrspace(5) %registers.a, ptr addrspace(3) %tile.a, i32 %tile_m, i32 %thread)
  br i1 %shuffled, label %shuffled.then, label %shuffled.else
shuffled.then:
  br i1 %direct, label %rows.end, label %staged.then
staged.then:
  call void @store_shuffled(ptr addrspace(5) %registers.b, ptr addrspace(3) %tile.b, i32 %tile_n, i32 %thread)
  br label %rows.end
shuffled.else:
  call void @store_rows(ptr addrspace(5) %registers.b, ptr addrspace(3) %tile.b, i32 %tile_n, i32 %thread)
  br label %rows.end
rows.else:
  call void @store_columns(ptr addrspace(5) %registers.a, ptr addrspace(3) %tile.a, i32 %tile_m, i32 %thread)
  call void @store_columns(ptr addrspace(5) %registers.b, ptr addrspace(3) %tile.b, i32 %tile_n, i32 %thread)
  br label %rows.end
rows.end:
  ret void
}

define amdgpu_kernel void @fp8_gemm_mfma(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, ptr addrspace(1) noalias writeonly %workspace, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) #0 {
entry:
  %running = alloca [16 x <4 x float>], align 16, addrspace(5)
  %partial = alloca [16 x <4 x float>], align 16, addrspace(5)
  %registers.a = alloca [32 x <4 x i32>], align 16, addrspace(5)
  %registers.b = alloca [32 x <4 x i32>], align 16, addrspace(5)
  %registers.s = alloca [16 x float], align 16, addrspace(5)
  %step.slot = alloca i32, addrspace(5)
  %early.slot = alloca i32, addrspace(5)
  %phase.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %lds_buffers = load i32, ptr addrspace(4) @ws.lds_buffers
  %prefetch = load i32, ptr addrspace(4) @ws.prefetch
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %b_direct = load i32, ptr addrspace(4) @ws.b_direct
  %direct = icmp eq i32 %b_direct, 1
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %slice = call i32 @llvm.amdgcn.workgroup.id.y()

  ; this workgroup's tile of C, this wave's part of it
  %tiles_m.0 = add i32 %m, %tile_m
  %tiles_m.1 = add i32 %tiles_m.0, -1
  %tiles_m = udiv i32 %tiles_m.1, %tile_m
  %tiles_n.0 = add i32 %n, %tile_n
  %tiles_n.1 = add i32 %tiles_n.0, -1
  %tiles_n = udiv i32 %tiles_n.1, %tile_n
  %tile = call <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n)
  %tile.m = extractelement <2 x i32> %tile, i32 0
  %tile.n = extractelement <2 x i32> %tile, i32 1
  %tile.row = mul i32 %tile.m, %tile_m
  %tile.column = mul i32 %tile.n, %tile_n
  %lane = urem i32 %thread, 64
  %wave.own = udiv i32 %thread, 64
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %wave.own)
  %wave.row.0 = udiv i32 %wave, %waves_n
  %wave.row.1 = udiv i32 %tile_m, %waves_m
  %wave.row = mul i32 %wave.row.0, %wave.row.1
  %wave.column.0 = urem i32 %wave, %waves_n
  %wave.column.1 = udiv i32 %tile_n, %waves_n
  %wave.column = mul i32 %wave.column.0, %wave.column.1

  ; LDS
  %pitch = add i32 %tile_k, %lds_pad
  %at.b = mul i32 %tile_m, %pitch
  %at.scales.0 = mul i32 %tile_n, %pitch
  %at.scales.1 = select i1 %direct, i32 0, i32 %at.scales.0
  %at.scales = add i32 %at.b, %at.scales.1
  %buffer.bytes.0 = mul i32 %tile_m, 4
  %buffer.bytes.1 = add i32 %at.scales, %buffer.bytes.0
  %buffer.bytes = add i32 %buffer.bytes.1, 16
  %two.buffers = icmp eq i32 %lds_buffers, 2
  %one.buffer = icmp eq i32 %lds_buffers, 1

  ; steps of tile_k; this slice's are [first, limit)
  %blocks = udiv i32 %k, 128
  %substeps = udiv i32 128, %tile_k
  %first.0 = mul i32 %blocks, %slice
  %first.1 = udiv i32 %first.0, %split_k
  %first = mul i32 %first.1, %substeps
  %limit.0 = add i32 %slice, 1
  %limit.1 = mul i32 %blocks, %limit.0
  %limit.2 = udiv i32 %limit.1, %split_k
  %limit = mul i32 %limit.2, %substeps
  %last.0 = mul i32 %blocks, %substeps
  %last = sub i32 %last.0, 1

  ; the loop over steps is unrolled by `phases`, so that which registers and
  ; which part of a scale block a step has are known to the compiler
  %ahead.many = icmp ugt i32 %prefetch, 1
  %ahead.any = icmp ugt i32 %prefetch, 0
  %load.now = icmp eq i32 %prefetch, 0
  %load.next = icmp eq i32 %prefetch, 1
  %sets = select i1 %ahead.many, i32 %prefetch, i32 1
  %turns = select i1 %direct, i32 2, i32 %sets
  %fine = icmp ugt i32 %substeps, %turns
  %phases = select i1 %fine, i32 %substeps, i32 %turns
  %direct.near = and i1 %direct, %load.next
  %direct.far = and i1 %direct, %ahead.many

  call void @zero(ptr addrspace(5) %running)
  br i1 %ahead.any, label %early.any.then, label %early.any.end
early.any.then:
  store i32 0, ptr addrspace(5) %early.slot
  br label %early.loop
early.loop:
  %early = load i32, ptr addrspace(5) %early.slot
  %early.step.0 = add i32 %first, %early
  %early.step = call i32 @llvm.umin.i32(i32 %early.step.0, i32 %last)
  %early.depth = mul i32 %early.step, %tile_k
  %early.block = udiv i32 %early.step, %substeps
  %early.tile = mul i32 %early, 16
  %early.scale = mul i32 %early, 8
  %early.ends.0 = urem i32 %early, %substeps
  %early.ends.1 = add i32 %early.ends.0, 1
  %early.ends = icmp eq i32 %early.ends.1, %substeps
  %early.a = getelementptr <4 x i32>, ptr addrspace(5) %registers.a, i32 %early.tile
  %early.b = getelementptr <4 x i32>, ptr addrspace(5) %registers.b, i32 %early.tile
  %early.s = getelementptr float, ptr addrspace(5) %registers.s, i32 %early.scale
  call void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %tile.row, i32 %tile.column, i32 %m, i32 %n, i32 %k, i32 %early.depth, i32 %thread, i32 %wave, ptr addrspace(5) %early.a, ptr addrspace(5) %early.b)
  br i1 %direct, label %early.direct.then, label %early.direct.end
early.direct.then:
  call void @load_direct(ptr addrspace(1) %b, i32 %tile.column, i32 %wave.column, i32 %n, i32 %k, i32 %early.depth, i32 %lane, ptr addrspace(5) %early.b)
  br label %early.direct.end
early.direct.end:
  br i1 %early.ends, label %early.scales.then, label %early.scales.end
early.scales.then:
  call void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %tile.row, i32 %tile.column, i32 %early.block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, ptr addrspace(5) %early.s)
  br label %early.scales.end
early.scales.end:
  call void @llvm.amdgcn.sched.barrier(i32 1926)
  %early.next = add i32 %early, 1
  store i32 %early.next, ptr addrspace(5) %early.slot
  %early.more = icmp ult i32 %early.next, %prefetch
  br i1 %early.more, label %early.loop, label %early.exit, !llvm.loop !1
early.exit:
  br label %early.any.end
early.any.end:

  store i32 %first, ptr addrspace(5) %step.slot
  br label %step.head
step.head:
  %step = load i32, ptr addrspace(5) %step.slot
  %step.more = icmp ult i32 %step, %limit
  br i1 %step.more, label %step.body, label %step.exit
step.body:
  store i32 0, ptr addrspace(5) %phase.slot
  br label %phase.loop
phase.loop:
  %phase = load i32, ptr addrspace(5) %phase.slot
  %now = add i32 %step, %phase
  %sub = urem i32 %phase, %substeps
  %begins = icmp eq i32 %sub, 0
  %ends.0 = add i32 %sub, 1
  %ends = icmp eq i32 %ends.0, %substeps
  %exists.0 = icmp ne i32 %sub, 0
  %exists.1 = icmp ult i32 %now, %limit
  %exists = or i1 %exists.0, %exists.1
  br i1 %exists, label %run, label %step.exit
run:
  %set = urem i32 %phase, %sets
  %set.tile = mul i32 %set, 16
  %set.scale = mul i32 %set, 8
  %now.a = getelementptr <4 x i32>, ptr addrspace(5) %registers.a, i32 %set.tile
  %now.b = getelementptr <4 x i32>, ptr addrspace(5) %registers.b, i32 %set.tile
  %now.s = getelementptr float, ptr addrspace(5) %registers.s, i32 %set.scale
  %turn.0 = urem i32 %phase, 2
  %turn = mul i32 %turn.0, 16
  %turn.b = getelementptr <4 x i32>, ptr addrspace(5) %registers.b, i32 %turn
  %other = sub i32 16, %turn
  %other.b = getelementptr <4 x i32>, ptr addrspace(5) %registers.b, i32 %other
  %unrolled = icmp ugt i32 %phases, 1
  %parity.0 = urem i32 %phase, 2
  %parity.1 = urem i32 %now, 2
  %parity = select i1 %unrolled, i32 %parity.0, i32 %parity.1
  %buffer.0 = mul i32 %parity, %buffer.bytes
  %buffer = select i1 %two.buffers, i32 %buffer.0, i32 0
  %lds.a = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %buffer
  %lds.b = getelementptr i8, ptr addrspace(3) %lds.a, i32 %at.b
  %lds.as = getelementptr i8, ptr addrspace(3) %lds.a, i32 %at.scales
  %lds.bs = getelementptr float, ptr addrspace(3) %lds.as, i32 %tile_m

  br i1 %load.now, label %late.then, label %late.end
late.then:
  %depth = mul i32 %now, %tile_k
  %block = udiv i32 %now, %substeps
  call void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %tile.row, i32 %tile.column, i32 %m, i32 %n, i32 %k, i32 %depth, i32 %thread, i32 %wave, ptr addrspace(5) %now.a, ptr addrspace(5) %now.b)
  br i1 %ends, label %late.scales.then, label %late.scales.end
late.scales.then:
  call void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %tile.row, i32 %tile.column, i32 %block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, ptr addrspace(5) %now.s)
  br label %late.scales.end
late.scales.end:
  br label %late.end
late.end:

  br i1 %one.buffer, label %reuse.then, label %reuse.end
reuse.then:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() ; barrier: previous tile is read
  fence syncscope("workgroup") acquire
  br label %reuse.end
reuse.end:
  call void @store_tile(ptr addrspace(5) %now.a, ptr addrspace(5) %now.b, ptr addrspace(3) %lds.a, ptr addrspace(3) %lds.b, i32 %thread)
  br i1 %ends, label %scales.then, label %scales.end
scales.then:
  call void @store_scales(ptr addrspace(5) %now.s, ptr addrspace(3) %lds.as, i32 %thread)
  br label %scales.end
scales.end:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() ; barrier: tile is in LDS
  fence syncscope("workgroup") acquire

  br i1 %ahead.any, label %next.then, label %next.end
next.then:
  ; past the end, the last step again: loaded, never used
  %next.step.0 = add i32 %now, %prefetch
  %next.step = call i32 @llvm.umin.i32(i32 %next.step.0, i32 %last)
  %next.depth = mul i32 %next.step, %tile_k
  %next.block = udiv i32 %next.step, %substeps
  %next.ends.0 = add i32 %phase, %prefetch
  %next.ends.1 = urem i32 %next.ends.0, %substeps
  %next.ends.2 = add i32 %next.ends.1, 1
  %next.ends = icmp eq i32 %next.ends.2, %substeps
  call void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %tile.row, i32 %tile.column, i32 %m, i32 %n, i32 %k, i32 %next.depth, i32 %thread, i32 %wave, ptr addrspace(5) %now.a, ptr addrspace(5) %now.b)
  br i1 %next.ends, label %next.scales.then, label %next.scales.end
next.scales.then:
  call void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %tile.row, i32 %tile.column, i32 %next.block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, ptr addrspace(5) %now.s)
  br label %next.scales.end
next.scales.end:
  br i1 %direct.near, label %near.then, label %near.end
near.then:
  call void @load_direct(ptr addrspace(1) %b, i32 %tile.column, i32 %wave.column, i32 %n, i32 %k, i32 %next.depth, i32 %lane, ptr addrspace(5) %other.b)
  br label %near.end
near.end:
  ; or the scheduler moves the loads down among the matrix instructions
  call void @llvm.amdgcn.sched.barrier(i32 1926)
  br label %next.end
next.end:

  br i1 %begins, label %fresh.then, label %fresh.end
fresh.then:
  call void @zero(ptr addrspace(5) %partial)
  br label %fresh.end
fresh.end:
  br i1 %direct, label %direct.then, label %direct.else
direct.then:
  call void @mma_direct(ptr addrspace(3) %lds.a, ptr addrspace(5) %turn.b, i32 %wave.row, ptr addrspace(5) %partial, i32 %lane)
  br i1 %direct.far, label %far.then, label %direct.end
far.then:
  %far.step.0 = add i32 %now, %prefetch
  %far.step = call i32 @llvm.umin.i32(i32 %far.step.0, i32 %last)
  %far.depth = mul i32 %far.step, %tile_k
  call void @load_direct(ptr addrspace(1) %b, i32 %tile.column, i32 %wave.column, i32 %n, i32 %k, i32 %far.depth, i32 %lane, ptr addrspace(5) %turn.b)
  call void @llvm.amdgcn.sched.barrier(i32 1926)
  br label %direct.end
direct.else:
  call void @mma(ptr addrspace(3) %lds.a, ptr addrspace(3) %lds.b, i32 %wave.row, i32 %wave.column, ptr addrspace(5) %partial, i32 %lane)
  br label %direct.end
direct.end:
  br i1 %ends, label %full.then, label %full.end
full.then:
  call void @scale(ptr addrspace(5) %running, ptr addrspace(5) %partial, ptr addrspace(3) %lds.as, ptr addrspace(3) %lds.bs, i32 %wave.row, i32 %wave.column, i32 %lane)
  br label %full.end
full.end:
  call void @llvm.amdgcn.sched.barrier(i32 2047)
  %phase.next = add i32 %phase, 1
  store i32 %phase.next, ptr addrspace(5) %phase.slot
  %phase.more = icmp ult i32 %phase.next, %phases
  br i1 %phase.more, label %phase.loop, label %phase.exit, !llvm.loop !1
phase.exit:
  %step.next = add i32 %step, %phases
  store i32 %step.next, ptr addrspace(5) %step.slot
  br label %step.head
step.exit:

  %c.row = add i32 %tile.row, %wave.row
  %c.column = add i32 %tile.column, %wave.column
  %whole = icmp eq i32 %split_k, 1
  br i1 %whole, label %out.then, label %out.else
out.then:
  call void @store_c(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %c.row, i32 %c.column, i32 %m, i32 %n, i32 %lane)
  br label %out.end
out.else:
  %slice.rows = call i32 @slice_rows(i32 %m)
  %rows64 = zext i32 %slice.rows to i64
  %n64 = zext i32 %n to i64
  %slice64 = zext i32 %slice to i64
  %slice.size = mul i64 %rows64, %n64
  %slice.start = mul i64 %slice64, %slice.size
  %slice.at = getelementptr float, ptr addrspace(1) %workspace, i64 %slice.start
  call void @store_partials(ptr addrspace(5) %running, ptr addrspace(1) %slice.at, i32 %c.row, i32 %c.column, i32 %slice.rows, i32 %n, i32 %lane)
  br label %out.end
out.end:
  ret void
}

define amdgpu_kernel void @fp8_gemm_reduce(ptr addrspace(1) noalias readonly %workspace, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n) #2 {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %count = mul i32 %m, %n
  %element.0 = mul i32 %group, 256
  %element.1 = add i32 %element.0, %thread
  %element = mul i32 %element.1, 4
  %exists = icmp ult i32 %element, %count
  br i1 %exists, label %work.then, label %work.end
work.then:
  %slice.rows = call i32 @slice_rows(i32 %m)
  %slice.count = mul i32 %slice.rows, %n
  call void @reduce(ptr addrspace(1) %workspace, ptr addrspace(1) %c, i32 %element, i32 %slice.count)
  br label %work.end
work.end:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,512" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline "target-cpu"="gfx942" }
attributes #2 = { "amdgpu-flat-work-group-size"="256,256" "target-cpu"="gfx942" "uniform-work-group-size"="true" }

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}

; unroll in full
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.unroll.full"}

!wavesmith.template = !{!3}
!3 = !{!"fp8_gemm_mfma", !"1", !"fp8_gemm_blockscale", !"gfx942", !"Matrix instructions on tiles staged in LDS, two levels of accumulators, split K."}

!wavesmith.param = !{!4, !5, !6, !7, !8, !9, !10, !11, !12, !13, !14, !15, !16, !62, !65, !17, !18, !19, !20}
!4 = !{!"layout", !"ws.layout", !"0 1 3", !"layout of a and b: 0 kmajor, 1 mnmajor (transposed on the way to LDS), 3 kmajor-bpreshuffle"}
!5 = !{!"tile_m", !"ws.tile_m", !"16 32 64 128 256", !"rows of C per workgroup"}
!6 = !{!"tile_n", !"ws.tile_n", !"16 32 64 128 256", !"columns of C per workgroup"}
!7 = !{!"tile_k", !"ws.tile_k", !"32 64 128", !"depth staged in LDS at a time"}
!8 = !{!"waves_m", !"ws.waves_m", !"1 2 4 8", !"waves along m"}
!9 = !{!"waves_n", !"ws.waves_n", !"1 2 4 8", !"waves along n"}
!10 = !{!"mfma", !"ws.mfma", !"16 32", !"matrix instruction: 16 is 16x16x32, 32 is 32x32x16"}
!11 = !{!"lds_layout", !"ws.lds_layout", !"0 1 2", !"16-byte chunks of a row in LDS: 0 in order, 1 rotated by the row, 2 xor with the row"}
!12 = !{!"lds_pad", !"ws.lds_pad", !"0 8 16", !"unused bytes after each row in LDS"}
!13 = !{!"lds_read", !"ws.lds_read", !"8 16", !"bytes per lane and LDS read; 16 feeds two matrix instructions"}
!14 = !{!"lds_buffers", !"ws.lds_buffers", !"1 2", !"tiles in LDS at a time; 2 saves one barrier per step"}
!15 = !{!"prefetch", !"ws.prefetch", !"0 1 2", !"steps that global loads run ahead, held in registers"}
!16 = !{!"load_width", !"ws.load_width", !"4 8", !"layout mnmajor: rows (bytes) per global load; a thread transposes 4 rows x 16 k or 8 x 8"}
!62 = !{!"any_m", !"ws.any_m", !"0 1", !"layout mnmajor: 1 takes every m, 0 multiples of load_width"}
!65 = !{!"b_direct", !"ws.b_direct", !"0 1", !"layout kmajor-bpreshuffle: 1 loads B's operands of matrix instructions straight to registers, past LDS, once for each of waves_m"}
!17 = !{!"split_k", !"ws.split_k", !"1 2 4 8", !"slices of k that run in parallel, summed by a second kernel"}
!18 = !{!"order", !"ws.order", !"0 1 2", !"workgroup to tile: 0 row by row, 1 in bands of group_m tile rows, 2 the same within each XCD"}
!19 = !{!"group_m", !"ws.group_m", !"1 2 4 8 16", !"tile rows of a band"}
!20 = !{!"nontemporal", !"ws.nontemporal", !"0 1", !"1: stores of C bypass the caches"}

!wavesmith.require = !{!21, !22, !23, !24, !25, !26, !27, !28, !29, !30, !31, !32, !63, !64, !66, !67}
!21 = !{!"waves_m * waves_n <= 16", !"a workgroup has at most 1024 threads"}
!22 = !{!"tile_m % (waves_m * mfma) == 0", !"a wave's rows are whole matrix instructions"}
!23 = !{!"tile_n % (waves_n * mfma) == 0", !"a wave's columns are whole matrix instructions"}
!24 = !{!"64 / mfma * lds_read <= tile_k", !"the lanes of one LDS read span at most tile_k"}
!25 = !{!"layout == 1 || load_width == 4", !"load_width belongs to layout mnmajor"}
!63 = !{!"layout == 1 || any_m == 0", !"any_m belongs to layout mnmajor"}
!64 = !{!"layout != 1 || any_m == 1 || m % load_width == 0", !"loads of load_width rows need them aligned"}
!66 = !{!"layout == 3 || b_direct == 0", !"b_direct belongs to layout kmajor-bpreshuffle"}
!67 = !{!"b_direct == 0 || (lds_read == 16 && prefetch > 0)", !"b_direct loads 16 bytes per lane, so that A's reads must be as wide, and at least a step ahead"}
!26 = !{!"lds_read == 8 || lds_pad != 8", !"16-byte reads need rows aligned to 16"}
!27 = !{!"lds_layout == 0 || lds_pad == 0", !"permuted chunks take the place of padding"}
!28 = !{!"order == 0 ? group_m == 1 : order == 2 || group_m > 1", !"bands belong to orders 1 and 2"}
!29 = !{!"lds_buffers * ((tile_m + (1 - b_direct) * tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16) <= 65536", !"a workgroup has 64 KiB of LDS"}
!30 = !{!"tile_m * tile_n / (waves_m * waves_n) <= 4096", !"an accumulator of a lane is at most 64 floats"}
!31 = !{!"4 * ceildiv(max(tile_m, (1 - b_direct) * tile_n) * tile_k, 4096 * waves_m * waves_n) <= 16", !"a thread holds at most 16 registers of 16 bytes of each operand's tile"}
!32 = !{!"tile_m * tile_n / (32 * waves_m * waves_n) + (tile_m / waves_m + (1 - b_direct) * tile_n / waves_n) / mfma * lds_read / 8 + b_direct * tile_n * tile_k / (128 * waves_n) + (prefetch == 0 ? 3 : 4 * prefetch + 1) * (layout != 1 ? ceildiv(tile_m * tile_k, 1024 * waves_m * waves_n) + (1 - b_direct) * ceildiv(tile_n * tile_k, 1024 * waves_m * waves_n) : 4 * ceildiv(tile_m * tile_k, 4096 * waves_m * waves_n) + 4 * ceildiv(tile_n * tile_k, 4096 * waves_m * waves_n)) <= (waves_m * waves_n <= 8 ? 184 : mfma == 16 ? 84 : 72)", !"accumulators, fragments and tiles on their way leave too few of the 256 registers of a lane (128 with more than 8 waves)"}

!wavesmith.lds = !{!33}
!33 = !{!"ws.lds", !"lds_buffers * ((tile_m + (1 - b_direct) * tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16)"}

!wavesmith.launch = !{!34, !35}
!34 = !{!"fp8_gemm_mfma", !"ceildiv(m, tile_m) * ceildiv(n, tile_n)", !"split_k", !"1", !"64 * waves_m * waves_n", !"1"}
!35 = !{!"fp8_gemm_reduce", !"ceildiv(m * n, 1024)", !"1", !"1", !"256", !"split_k > 1"}

!wavesmith.workspace = !{!36}
!36 = !{!"split_k > 1 ? 4 * split_k * ceildiv(m, 16) * 16 * n : 0"}

!wavesmith.region = !{!37, !38, !39, !40, !71, !72, !69, !41, !42, !43, !44, !45, !46, !70, !47, !48, !49, !50, !51}
!37 = !{!"tile_order", !"Returns which tile of C workgroup number group makes, as (row of tiles, column of tiles). Must be a bijection: each of the tiles_m * tiles_n tiles exactly once for group = 0 .. tiles_m * tiles_n - 1, whatever these counts (1 included). Workgroups start in order of their number and go to the 8 XCDs in turn (number modulo 8); each XCD has an L2 of its own, so neighbours in time on one XCD should share rows of A or columns of B. Parameters order and group_m ask for a walk. Uniform; no memory, no barrier."}
!38 = !{!"lds_offset", !"Returns where in a tile the 16 bytes (row, k .. k+15) lie, k a multiple of 16 below tile_k, row below tile_m or tile_n: a byte offset from the tile's start. One-to-one, and every chunk within tile rows * (tile_k + lds_pad) bytes. Aligned to 16, or to 8 when lds_pad is 8. Called by all that write or read a tile, so any permutation is right; a good one spreads over the 32 banks of 4 bytes what one LDS instruction touches: ds_read_b64 16 consecutive lanes (rows r .. r+15, equal k), ds_read_b128 8 lanes in groups 0-3 and 20-23, 4-7 and 16-19, ... (rows 0-3 and 4-7 at neighbouring k), ds_write_b128 8 consecutive lanes (kmajor: chunks of a row; mnmajor: rows 4 apart, equal k), ds_write_b64 16 (mnmajor with load_width 8: rows 8 apart). No memory, no barrier."}
!39 = !{!"load_rows", !"Layout kmajor, and A in kmajor-bpreshuffle. Starts loading this thread's part of a tile of A or B: rows origin .. origin+rows-1, bytes depth .. depth+tile_k-1, of an operand with extent rows of length bytes. Which part is agreed with store_rows: chunk i of thread t is number i * threads + t, threads = 64 * waves_m * waves_n, of the tile's rows * tile_k / 16 chunks of 16 bytes, numbered along the rows. The bytes go to registers[i] (private memory of 16 slots of 16 bytes). Rows from extent on must not be read: take any row inside instead. origin < extent; rows is tile_m or tile_n; all pointers 16-byte aligned, depth and length multiples of 32. wave = thread / 64, uniform. Called before the barriers of its tile, with prefetch one or two tiles ahead; do not wait for the data here. No LDS, no barrier."}
!40 = !{!"store_rows", !"Layout kmajor, and A in kmajor-bpreshuffle. Stores the chunks that load_rows left in registers to the tile in LDS, each at lds_offset(row, k), with the numbering of load_rows; every chunk of the tile exactly once. When rows * tile_k / 16 is not a multiple of the threads, some threads have one less. The caller has passed the barrier after which the tile may be overwritten, and will pass one before it is read. No barrier in here."}
!71 = !{!"load_shuffled", !"Layout kmajor-bpreshuffle with b_direct = 0. Starts loading this thread's part of a tile of B: rows origin .. origin+rows-1, bytes depth .. depth+tile_k-1 of each, where the 16 bytes (row, k .. k+15) lie at (row / 16) * 16 * length + k * 16 + row % 16 * 16 ([n / 16][k / 16][16][16]). Chunk i of thread t is number i * threads + t of the tile's rows * tile_k / 16, in an order agreed with store_shuffled (as they lie in memory); it goes to registers[i] (private memory of 16 slots of 16 bytes). Rows from extent on must not be read: take any inside. origin < extent; both multiples of 16. wave = thread / 64, uniform. Called as load_rows is; do not wait for the data here. No LDS, no barrier."}
!72 = !{!"store_shuffled", !"Stores the chunks that load_shuffled left in registers to the tile in LDS, each at lds_offset(row, k); every chunk of the tile exactly once. Barriers as for store_rows; none in here."}
!69 = !{!"load_direct", !"With b_direct = 1. Starts loading this wave's operands of B for one step: for window w of tile_k / (1024 / mfma) and block j of tile_n / waves_n / mfma, 16 bytes to registers[w * (tile_n / waves_n / mfma) + j] (private memory of 16 slots): row column + first + j * mfma + lane % mfma, bytes from depth + w * 1024 / mfma + lane / mfma * 16 on, which is the order in which mma_direct's reads of A have k. B lies as for load_shuffled. Rows from n on must not be read: take any inside. column < n is the workgroup's, column + first the wave's and may be n or more; all multiples of 16, uniform. Called one or two steps ahead; do not wait for the data here. No LDS, no barrier."}
!41 = !{!"load_columns", !"Layout mnmajor: k is the slow index, so the tile's rows run along memory. Starts loading this thread's part of a tile: rows origin .. origin+rows-1 at depth .. depth+tile_k-1; element (row, k) is at k * length + row, length = extent. Agreed with store_columns: block i of thread t is number i * threads + t of the tile's blocks of load_width rows x 64 / load_width k, numbered along the rows; the load_width bytes at k + e of block i go to words i * 16 + e * load_width / 4 on of registers (private memory of 64 words). Rows from extent on are never used, whatever is stored for them; no byte outside of the operand may be read. operand is 16-byte aligned and origin a multiple of 16; extent and length are multiples of load_width with any_m = 0, any number with any_m = 1 (B's multiples of 16, which the compiler knows: n is passed as n & -16), and lines are aligned accordingly; wave = thread / 64, uniform. Do not wait for the data here. No LDS, no barrier."}
!42 = !{!"store_columns", !"Layout mnmajor. Transposes the blocks that load_columns left in registers and stores them to the tile in LDS: for each of a block's load_width rows its 64 / load_width bytes along k, at lds_offset of the 16-byte chunk that holds them; every byte of the tile exactly once. When the number of blocks is not a multiple of the threads, some threads have one less. Barriers as for store_rows; none in here."}
!43 = !{!"load_scales", !"Once per scale block of k. Starts loading this thread's part of the tile's scales: element number i * threads + thread of tile_m + ceildiv(tile_n, 128) floats, threads = 64 * waves_m * waves_n, to registers[i] (private memory of 8 floats). Elements below tile_m are A's, of rows row .. row+tile_m-1 at as[r * as_stride_m + block * as_stride_k]; the rest B's, of column blocks from column / 128 on at bs[s * bs_stride_n + block * bs_stride_k]. Rows from m on and column blocks from ceildiv(n, 128) on must not be read: take the last one. Strides are in elements and may be anything. Do not wait for the data here. No LDS, no barrier."}
!44 = !{!"store_scales", !"Stores what load_scales left in registers to scales in LDS, element by element in the same numbering, for all elements. Between the barriers of store_rows. No barrier in here."}
!45 = !{!"read_fragments", !"Reads one window in k of the operands of this wave's matrix instructions from a tile in LDS: for i below count, row first + i * mfma + lane % mfma, lds_read bytes from k on (k differs between lanes by lane / mfma * lds_read), to fragments: with lds_read 8 one i64 at index i, with 16 two at 2 * i and 2 * i + 1. The tile's bytes are where lds_offset says, in chunks of 16. Called by mma only. No barrier."}
!46 = !{!"mma", !"Adds to partial this wave's part of A tile times B tile: rows row_a .. row_a + tile_m/waves_m - 1 of tile a, rows row_b .. row_b + tile_n/waves_n - 1 of tile b (columns of C), all tile_k of k. Tiles are read through read_fragments or at lds_offset(row, k), 16 bytes each. partial (private memory) holds the blocks of mfma x mfma elements of C, block (i, j) at index i * count_n + j in the matrix instruction's own layout: with 16x16x32 4 floats, row 4 * (lane / 16) + e, column lane % 16; with 32x32x16 16 floats, row 8 * (e / 4) + 4 * (lane / 32) + e % 4, column lane % 32. Operands of one instruction: lane l holds row l % mfma, 8 bytes of k; any assignment of k to lanes and instructions is right if A's and B's agree and each k is used once. All 64 lanes call it together between two barriers; lane = 0 .. 63, rows uniform. No barrier in here."}
!70 = !{!"mma_direct", !"With b_direct = 1: mma with B's operands in registers, where load_direct has put them; rows row_a .. row_a + tile_m/waves_m - 1 of tile a through read_fragments. registers[w * count_n + j] are two operands of 8 bytes each, for the two halves of the 16 bytes of k that a lane reads of A in window w. All 64 lanes together between two barriers; no barrier in here."}
!47 = !{!"scale", !"End of a scale block of 128 in k: running += partial * (scale of A's row * scale of B's column block), element by element in fp32; both in the layout that mma describes. Row r of the wave's part has its scale at a_scales[row + r], column s at b_scales[(column + s) / 128] (one or two blocks in a tile; blocks of mfma columns never straddle two). Both are in LDS, 16-byte aligned a_scales, valid until the next barrier. partial need not be cleared. All lanes; no barrier in here."}
!48 = !{!"round", !"Returns four fp32 values as the bits of bf16, rounded to nearest, ties to even; infinity stays infinity. Called by store_c and reduce. No memory, no barrier."}
!49 = !{!"store_c", !"Rounds running (layout of mma) with round and stores it: element (r, s) of the wave's part is C[row + r][column + s], C is [m][n], 2 bytes each, 16-byte aligned. Rows from m and columns from n on must not be written; n, row and column are multiples of 16, m is any number. Every other element of the wave's part must be. Parameter nontemporal asks for streaming stores. All lanes; only with split_k = 1."}
!50 = !{!"store_partials", !"With split_k > 1: stores running (layout of mma) as fp32 to this slice of the workspace, [m][n], 16-byte aligned, where m is C's rounded up to a multiple of 16: rows from m and columns from n on must not be written. Slices without work store their zeros too."}
!51 = !{!"reduce", !"With split_k > 1, in a kernel of its own: for 4 elements of C from element on (a multiple of 4), adds the split_k slices of the workspace (slice z at workspace + z * count floats; count is at least m * n) in an order that depends on nothing else, applies round, and stores them to c. all pointers 16-byte aligned."}

!wavesmith.variant = !{!52, !53, !54, !55, !56, !57, !58, !59, !60}
!52 = !{!"tile_order", !"tile_order_snake", !"every other band backwards: the turn shares columns of B"}
!53 = !{!"tile_order", !"tile_order_columns", !"bands of group_m tile columns, walked along m: for large m and small n"}
!54 = !{!"mma", !"mma_priority", !"raises the wave's priority while it feeds the matrix unit"}
!55 = !{!"mma", !"mma_stationary", !"keeps B's fragments and reads A's block by block: fewer registers"}
!56 = !{!"scale", !"scale_elements", !"element by element with fused multiply-adds; the compiler decides what to pack"}
!57 = !{!"scale", !"scale_twice", !"B's scale onto the partial sums, then A's: no products of scales to hold"}
!58 = !{!"round", !"round_integer", !"integer addition: two instructions per element instead of five, no care for NaN"}
!59 = !{!"store_c", !"store_c_pairs", !"neighbouring lanes swap halves: half as many stores, of 4 bytes"}
!60 = !{!"reduce", !"reduce_pairs", !"even and odd slices apart: half as long a chain of additions"}

!61 = !{i32 1}
