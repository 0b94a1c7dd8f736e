; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; fp8_gemm_mma_sync: fp8_gemm_blockscale for sm_90a with the matrix instruction
; of single warps, mma.sync m16n8k32. Tiles come to shared memory by cp.async,
; several steps ahead; two levels of accumulators. Every legal m, n and k.
;
; A workgroup makes a tile of C, tile_m x tile_n, in steps of tile_k along k:
;
;   wait, barrier    this step's tile is there, the last one is read
;   load             global -> shared memory, of the step stages - 1 later
;   mma              shared memory -> partial: fp32 sums over a scale block of k
;   scale            partial -> running, once per 128 k
;
; and at the end store_c, or with split_k store_partials and a second kernel,
; fp8_gemm_mma_sync_reduce. One barrier a step is enough: what a step loads
; goes where the step before was read, and every warp has passed the barrier
; after reading it.
;
; Shared memory, per stage: A tile, tile_m rows of tile_k bytes; B tile, tile_n
; such rows; tile_m scales of A; 16 bytes for the one or two of B. Within a row,
; 16-byte chunks are permuted (place). Only the last step of a scale block has
; its scales loaded.
;
; Rows of A or B past the operand are loaded as its last row again; their
; products land in rows or columns of C that the mask of the store drops. So no
; access is out of bounds and no shared memory is read that was not written.
;
; A warp's part of C lies in blocks of 16 rows x 8 columns: of block (i, j), lane
; l holds row l / 4 at columns 2 * (l % 4) and the next (elements 0 and 1), and
; the same of row l / 4 + 8 (elements 2 and 3).
;
; Loops count in local memory, test at their end (every count is at least one)
; and carry !0: unrolled, their arrays become registers.

target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@ws.layout = internal addrspace(4) constant i32 2
@ws.tile_m = internal addrspace(4) constant i32 128
@ws.tile_n = internal addrspace(4) constant i32 128
@ws.tile_k = internal addrspace(4) constant i32 128
@ws.slice_n = internal addrspace(4) constant i32 32
@ws.unroll_k = internal addrspace(4) constant i32 1
@ws.warps_m = internal addrspace(4) constant i32 4
@ws.warps_n = internal addrspace(4) constant i32 2
@ws.stages = internal addrspace(4) constant i32 4
@ws.split_k = internal addrspace(4) constant i32 1
@ws.group_m = internal addrspace(4) constant i32 8
@ws.resident = internal addrspace(4) constant i32 1

@ws.lds = external addrspace(3) global [0 x i8], align 1024

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.umin.i32(i32, i32)

; ---- region tile_order: workgroup -> tile -----------------------------------

; Bands of group_m tile rows, walked along n.
define internal <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n) #0 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %band = mul i32 %group_m, %tiles_n
  %first.0 = udiv i32 %group, %band
  %first = mul i32 %first.0, %group_m
  %within = urem i32 %group, %band
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
define internal <2 x i32> @tile_order_snake(i32 %group, i32 %tiles_m, i32 %tiles_n) #0 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %band = mul i32 %group_m, %tiles_n
  %number = udiv i32 %group, %band
  %first = mul i32 %number, %group_m
  %within = urem i32 %group, %band
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
define internal <2 x i32> @tile_order_columns(i32 %group, i32 %tiles_m, i32 %tiles_n) #0 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %band = mul i32 %group_m, %tiles_m
  %first.0 = udiv i32 %group, %band
  %first = mul i32 %first.0, %group_m
  %within = urem i32 %group, %band
  %width.0 = sub i32 %tiles_n, %first
  %width = call i32 @llvm.umin.i32(i32 %group_m, i32 %width.0)
  %tile.n.0 = urem i32 %within, %width
  %tile.n = add i32 %first, %tile.n.0
  %tile.m = udiv i32 %within, %width
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; ---- region place: where a chunk of a tile lies ------------------------------
define internal i32 @place(i32 %row, i32 %k) #0 {
entry:
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %chunk = udiv i32 %k, 16
  %chunks = udiv i32 %tile_k, 16
  ; rows that are read together lie in different banks
  %key.0 = udiv i32 128, %tile_k
  %key.1 = udiv i32 %row, %key.0
  %key.2 = sub i32 %chunks, 1
  %key = and i32 %key.1, %key.2
  %placed = xor i32 %chunk, %key
  %offset.0 = mul i32 %row, %tile_k
  %offset.1 = mul i32 %placed, 16
  %offset = add i32 %offset.0, %offset.1
  ret i32 %offset
}

define internal i32 @place_rotated(i32 %row, i32 %k) #0 {
entry:
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %chunk = udiv i32 %k, 16
  %chunks = udiv i32 %tile_k, 16
  %key.0 = udiv i32 128, %tile_k
  %key = udiv i32 %row, %key.0
  %placed.0 = add i32 %chunk, %key
  %placed.1 = sub i32 %chunks, 1
  %placed = and i32 %placed.0, %placed.1
  %offset.0 = mul i32 %row, %tile_k
  %offset.1 = mul i32 %placed, 16
  %offset = add i32 %offset.0, %offset.1
  ret i32 %offset
}

; ---- region copy: 16 bytes, global -> shared memory ---------------------------
define internal void @copy(ptr addrspace(3) %to, ptr addrspace(1) %from) #0 {
entry:
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %to, ptr addrspace(1) %from)
  ret void
}

; Through L1, which serves workgroups of one multiprocessor that share rows.
define internal void @copy_through_l1(ptr addrspace(3) %to, ptr addrspace(1) %from) #0 {
entry:
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) %to, ptr addrspace(1) %from)
  ret void
}

; The same with a prefetch of the rest of 256 bytes to L2.
define internal void @copy_long(ptr addrspace(3) %to, ptr addrspace(1) %from) #0 {
entry:
  call void asm sideeffect "cp.async.cg.shared.global.L2::256B [$0], [$1], 16;", "l,l,~{memory}"(ptr addrspace(3) %to, ptr addrspace(1) %from) #1
  ret void
}

; ---- region load: global -> shared memory -------------------------------------
define internal void @load(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %tile) #0 {
entry:
  %i.slot = alloca i32
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %chunks = udiv i32 %tile_k, 16
  %total = mul i32 %rows, %chunks
  %threads.0 = mul i32 %warps_m, %warps_n
  %threads = mul i32 %threads.0, 32
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %even.0 = urem i32 %total, %threads
  %even = icmp eq i32 %even.0, 0
  %origin64 = zext i32 %origin to i64
  %length64 = zext i32 %length to i64
  %start = mul i64 %origin64, %length64
  %base = getelementptr i8, ptr addrspace(1) %operand, i64 %start
  %last.0 = sub i32 %extent, %origin
  %last = sub i32 %last.0, 1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %chunk.0 = mul i32 %i, %threads
  %chunk = add i32 %chunk.0, %thread
  %exists.0 = icmp ult i32 %chunk, %total
  %exists = or i1 %even, %exists.0
  br i1 %exists, label %copy.then, label %copy.end
copy.then:
  %row = udiv i32 %chunk, %chunks
  %k.0 = urem i32 %chunk, %chunks
  %k = mul i32 %k.0, 16
  %row.kept = call i32 @llvm.umin.i32(i32 %row, i32 %last) ; global load mask: rows past the operand repeat its last
  ; depth goes here and not to the base, so that what does not change from step
  ; to step takes one register of 32 bits
  %offset.0 = mul i32 %row.kept, %length
  %offset.1 = add i32 %offset.0, %k
  %offset = add i32 %offset.1, %depth
  %offset64 = zext i32 %offset to i64
  %from = getelementptr i8, ptr addrspace(1) %base, i64 %offset64
  %to.0 = call i32 @place(i32 %row, i32 %k)
  %to.1 = add i32 %tile, %to.0
  %to = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %to.1
  call void @copy(ptr addrspace(3) %to, ptr addrspace(1) %from)
  br label %copy.end
copy.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; ---- region load_scales: global -> shared memory ------------------------------
define internal void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %row, i32 %column, i32 %block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, i32 %scales) #0 {
entry:
  %i.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %threads.0 = mul i32 %warps_m, %warps_n
  %threads = mul i32 %threads.0, 32
  %total = add i32 %tile_m, 2
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %block64 = zext i32 %block to i64
  %as_stride_m64 = sext i32 %as_stride_m to i64
  %as_stride_k64 = sext i32 %as_stride_k to i64
  %bs_stride_n64 = sext i32 %bs_stride_n to i64
  %bs_stride_k64 = sext i32 %bs_stride_k to i64
  %as.offset = mul i64 %block64, %as_stride_k64
  %bs.offset = mul i64 %block64, %bs_stride_k64
  %as.block = getelementptr float, ptr addrspace(1) %as, i64 %as.offset
  %bs.block = getelementptr float, ptr addrspace(1) %bs, i64 %bs.offset
  %row.last = sub i32 %m, 1
  %column.block = udiv i32 %column, 128
  %column.last.0 = sub i32 %n, 1
  %column.last = udiv i32 %column.last.0, 128
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %number.0 = mul i32 %i, %threads
  %number = add i32 %number.0, %thread
  %exists = icmp ult i32 %number, %total
  br i1 %exists, label %copy.then, label %copy.end
copy.then:
  %r.0 = add i32 %row, %number
  %r = call i32 @llvm.umin.i32(i32 %r.0, i32 %row.last)
  %r64 = zext i32 %r to i64
  %r.offset = mul i64 %r64, %as_stride_m64
  %r.at = getelementptr float, ptr addrspace(1) %as.block, i64 %r.offset
  %s.0 = sub i32 %number, %tile_m
  %s.1 = add i32 %column.block, %s.0
  %s = call i32 @llvm.umin.i32(i32 %s.1, i32 %column.last)
  %s64 = zext i32 %s to i64
  %s.offset = mul i64 %s64, %bs_stride_n64
  %s.at = getelementptr float, ptr addrspace(1) %bs.block, i64 %s.offset
  %is.a = icmp ult i32 %number, %tile_m
  %from = select i1 %is.a, ptr addrspace(1) %r.at, ptr addrspace(1) %s.at
  %to.0 = mul i32 %number, 4
  %to.1 = add i32 %scales, %to.0
  %to = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %to.1
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %to, ptr addrspace(1) %from)
  br label %copy.end
copy.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; ---- region mma: shared memory -> partial sums --------------------------------

; partial[block] += 16 x 32 of A times 32 x 8 of B.
define internal void @multiply(ptr %fragment.a, ptr %fragment.b, ptr %partial, i32 %block) #0 {
entry:
  %a = load <4 x i32>, ptr %fragment.a, align 16
  %b = load <2 x i32>, ptr %fragment.b, align 8
  %at = getelementptr <4 x float>, ptr %partial, i32 %block
  %sum.at1 = getelementptr float, ptr %at, i32 1
  %sum.at2 = getelementptr float, ptr %at, i32 2
  %sum.at3 = getelementptr float, ptr %at, i32 3
  %sum.0 = load float, ptr %at, align 4
  %sum.1 = load float, ptr %sum.at1, align 4
  %sum.2 = load float, ptr %sum.at2, align 4
  %sum.3 = load float, ptr %sum.at3, align 4
  %a.0 = extractelement <4 x i32> %a, i32 0
  %a.1 = extractelement <4 x i32> %a, i32 1
  %a.2 = extractelement <4 x i32> %a, i32 2
  %a.3 = extractelement <4 x i32> %a, i32 3
  %b.0 = extractelement <2 x i32> %b, i32 0
  %b.1 = extractelement <2 x i32> %b, i32 1
  %product = call { float, float, float, float } asm "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %a.0, i32 %a.1, i32 %a.2, i32 %a.3, i32 %b.0, i32 %b.1, float %sum.0, float %sum.1, float %sum.2, float %sum.3) #1
  %next.0 = extractvalue { float, float, float, float } %product, 0
  %next.1 = extractvalue { float, float, float, float } %product, 1
  %next.2 = extractvalue { float, float, float, float } %product, 2
  %next.3 = extractvalue { float, float, float, float } %product, 3
  store float %next.0, ptr %at, align 4
  store float %next.1, ptr %sum.at1, align 4
  store float %next.2, ptr %sum.at2, align 4
  store float %next.3, ptr %sum.at3, align 4
  ret void
}

; 16 rows x 32 bytes of a tile as four matrices of 8 x 16 bytes. Their order:
; A (down 1): rows first, then k, as the instruction takes them; B (down 2): k
; first, so that two halves of the result are two operands.
define internal <4 x i32> @read_fragment(i32 %tile, i32 %row, i32 %k, i32 %lane, i32 %down) #0 {
entry:
  %is.a = icmp eq i32 %down, 1
  %row.a = urem i32 %lane, 16
  %k.a = udiv i32 %lane, 16
  %row.b.0 = urem i32 %lane, 8
  %row.b.1 = mul i32 %k.a, 8
  %row.b = add i32 %row.b.0, %row.b.1
  %k.b.0 = udiv i32 %lane, 8
  %k.b = urem i32 %k.b.0, 2
  %lane.row = select i1 %is.a, i32 %row.a, i32 %row.b
  %lane.k.0 = select i1 %is.a, i32 %k.a, i32 %k.b
  %lane.k.1 = mul i32 %lane.k.0, 16
  %own.row = add i32 %row, %lane.row
  %own.k = add i32 %k, %lane.k.1
  %offset = call i32 @place(i32 %own.row, i32 %own.k)
  %at.0 = add i32 %tile, %offset
  %at = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %at.0
  %words = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %at) #2
  %word.0 = extractvalue { i32, i32, i32, i32 } %words, 0
  %word.1 = extractvalue { i32, i32, i32, i32 } %words, 1
  %word.2 = extractvalue { i32, i32, i32, i32 } %words, 2
  %word.3 = extractvalue { i32, i32, i32, i32 } %words, 3
  %v.0 = insertelement <4 x i32> poison, i32 %word.0, i32 0
  %v.1 = insertelement <4 x i32> %v.0, i32 %word.1, i32 1
  %v.2 = insertelement <4 x i32> %v.1, i32 %word.2, i32 2
  %v = insertelement <4 x i32> %v.2, i32 %word.3, i32 3
  ret <4 x i32> %v
}

; count fragments of 16 rows each from row on.
define internal void @read_fragments(i32 %tile, i32 %row, i32 %count, i32 %k, i32 %lane, i32 %down, ptr %fragments) #0 {
entry:
  %i.slot = alloca i32
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %i.row.0 = mul i32 %i, 16
  %i.row = add i32 %row, %i.row.0
  %value = call <4 x i32> @read_fragment(i32 %tile, i32 %i.row, i32 %k, i32 %lane, i32 %down)
  %at = getelementptr <4 x i32>, ptr %fragments, i32 %i
  store <4 x i32> %value, ptr %at, align 16
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; A row of count_n blocks: one fragment of A with all of B's.
define internal void @multiply_row(ptr %fragment.a, ptr %fragments.b, ptr %partial, i32 %i, i32 %count_n) #0 {
entry:
  %j.slot = alloca i32
  %first = mul i32 %i, %count_n
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %b = getelementptr <2 x i32>, ptr %fragments.b, i32 %j
  %block = add i32 %first, %j
  call void @multiply(ptr %fragment.a, ptr %b, ptr %partial, i32 %block)
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !0
j.exit:
  ret void
}

define internal void @mma(i32 %a, i32 %b, i32 %row_a, i32 %row_b, ptr %partial, i32 %lane) #0 {
entry:
  %fragments.a = alloca [8 x <4 x i32>], align 16
  %fragments.b = alloca [8 x <4 x i32>], align 16
  %k.slot = alloca i32
  %u.slot = alloca i32
  %i.slot = alloca i32
  %unroll_k = load i32, ptr addrspace(4) @ws.unroll_k
  %unrolled = mul i32 %unroll_k, 32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %columns = load i32, ptr addrspace(4) @ws.slice_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %rows = udiv i32 %tile_m, %warps_m
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %pairs_n = udiv i32 %columns, 16
  store i32 0, ptr %k.slot
  br label %k.loop
k.loop:
  store i32 0, ptr %u.slot
  br label %u.loop
u.loop:
  %k.0 = load i32, ptr %k.slot
  %u = load i32, ptr %u.slot
  %k = add i32 %k.0, %u
  call void @read_fragments(i32 %a, i32 %row_a, i32 %count_m, i32 %k, i32 %lane, i32 1, ptr %fragments.a)
  call void @read_fragments(i32 %b, i32 %row_b, i32 %pairs_n, i32 %k, i32 %lane, i32 2, ptr %fragments.b)
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %fragment.a = getelementptr <4 x i32>, ptr %fragments.a, i32 %i
  call void @multiply_row(ptr %fragment.a, ptr %fragments.b, ptr %partial, i32 %i, i32 %count_n)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  %u.next = add i32 %u, 32
  store i32 %u.next, ptr %u.slot
  %u.more = icmp ult i32 %u.next, %unrolled
  br i1 %u.more, label %u.loop, label %u.exit, !llvm.loop !0
u.exit:
  %k.next = add i32 %k.0, %unrolled
  store i32 %k.next, ptr %k.slot
  %k.more = icmp ult i32 %k.next, %tile_k
  br i1 %k.more, label %k.loop, label %k.exit, !llvm.loop !2
k.exit:
  ret void
}

; B's fragments stay, A's are read block by block: fewer registers.
define internal void @mma_stationary(i32 %a, i32 %b, i32 %row_a, i32 %row_b, ptr %partial, i32 %lane) #0 {
entry:
  %fragment.a = alloca <4 x i32>, align 16
  %fragments.b = alloca [8 x <4 x i32>], align 16
  %k.slot = alloca i32
  %u.slot = alloca i32
  %i.slot = alloca i32
  %unroll_k = load i32, ptr addrspace(4) @ws.unroll_k
  %unrolled = mul i32 %unroll_k, 32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %columns = load i32, ptr addrspace(4) @ws.slice_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %rows = udiv i32 %tile_m, %warps_m
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %pairs_n = udiv i32 %columns, 16
  store i32 0, ptr %k.slot
  br label %k.loop
k.loop:
  store i32 0, ptr %u.slot
  br label %u.loop
u.loop:
  %k.0 = load i32, ptr %k.slot
  %u = load i32, ptr %u.slot
  %k = add i32 %k.0, %u
  call void @read_fragments(i32 %b, i32 %row_b, i32 %pairs_n, i32 %k, i32 %lane, i32 2, ptr %fragments.b)
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %i.row.0 = mul i32 %i, 16
  %i.row = add i32 %row_a, %i.row.0
  %value = call <4 x i32> @read_fragment(i32 %a, i32 %i.row, i32 %k, i32 %lane, i32 1)
  store <4 x i32> %value, ptr %fragment.a, align 16
  call void @multiply_row(ptr %fragment.a, ptr %fragments.b, ptr %partial, i32 %i, i32 %count_n)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  %u.next = add i32 %u, 32
  store i32 %u.next, ptr %u.slot
  %u.more = icmp ult i32 %u.next, %unrolled
  br i1 %u.more, label %u.loop, label %u.exit, !llvm.loop !0
u.exit:
  %k.next = add i32 %k.0, %unrolled
  store i32 %k.next, ptr %k.slot
  %k.more = icmp ult i32 %k.next, %tile_k
  br i1 %k.more, label %k.loop, label %k.exit, !llvm.loop !2
k.exit:
  ret void
}

; ---- region scale: partial sums -> running sums -------------------------------

; B's scale of the 8 columns from `column` on, counted from the first column
; block that the tile touches.
define internal float @scale_of_column(i32 %b_scales, i32 %column) #0 {
entry:
  %block = udiv i32 %column, 128
  %at.0 = mul i32 %block, 4
  %at.1 = add i32 %b_scales, %at.0
  %at = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %at.1
  %value = load float, ptr addrspace(3) %at, align 4
  ret float %value
}

define internal void @scale(ptr %running, ptr %partial, i32 %a_scales, i32 %b_scales, i32 %row, i32 %column, i32 %across, i32 %lane) #0 {
entry:
  %i.slot = alloca i32
  %j.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %slice_n = load i32, ptr addrspace(4) @ws.slice_n
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %rows = udiv i32 %tile_m, %warps_m
  %columns = udiv i32 %tile_n, %warps_n
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %count_s = udiv i32 %slice_n, 8
  %first = udiv i32 %across, 8
  %slice.column = add i32 %column, %across
  %lane.row.0 = udiv i32 %lane, 4
  %lane.row = add i32 %row, %lane.row.0
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %upper.0 = mul i32 %i, 16
  %upper.row = add i32 %lane.row, %upper.0
  %lower.row = add i32 %upper.row, 8
  %upper.at.0 = mul i32 %upper.row, 4
  %upper.at.1 = add i32 %a_scales, %upper.at.0
  %upper.at = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %upper.at.1
  %lower.at.0 = mul i32 %lower.row, 4
  %lower.at.1 = add i32 %a_scales, %lower.at.0
  %lower.at = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %lower.at.1
  %upper = load float, ptr addrspace(3) %upper.at, align 4
  %lower = load float, ptr addrspace(3) %lower.at, align 4
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %j.column.0 = mul i32 %j, 8
  %j.column = add i32 %slice.column, %j.column.0
  %bs = call float @scale_of_column(i32 %b_scales, i32 %j.column)
  %factor.upper = fmul float %upper, %bs
  %factor.lower = fmul float %lower, %bs
  %block.0 = mul i32 %i, %count_s
  %block = add i32 %block.0, %j
  %into.0 = mul i32 %i, %count_n
  %into.1 = add i32 %into.0, %first
  %into = add i32 %into.1, %j
  %part.at = getelementptr <4 x float>, ptr %partial, i32 %block
  %total.at = getelementptr <4 x float>, ptr %running, i32 %into
  %part.at1 = getelementptr float, ptr %part.at, i32 1
  %part.at2 = getelementptr float, ptr %part.at, i32 2
  %part.at3 = getelementptr float, ptr %part.at, i32 3
  %part.0 = load float, ptr %part.at, align 4
  %part.1 = load float, ptr %part.at1, align 4
  %part.2 = load float, ptr %part.at2, align 4
  %part.3 = load float, ptr %part.at3, align 4
  %total.at1 = getelementptr float, ptr %total.at, i32 1
  %total.at2 = getelementptr float, ptr %total.at, i32 2
  %total.at3 = getelementptr float, ptr %total.at, i32 3
  %total.0 = load float, ptr %total.at, align 4
  %total.1 = load float, ptr %total.at1, align 4
  %total.2 = load float, ptr %total.at2, align 4
  %total.3 = load float, ptr %total.at3, align 4
  %next.0 = call float @llvm.fma.f32(float %part.0, float %factor.upper, float %total.0)
  %next.1 = call float @llvm.fma.f32(float %part.1, float %factor.upper, float %total.1)
  %next.2 = call float @llvm.fma.f32(float %part.2, float %factor.lower, float %total.2)
  %next.3 = call float @llvm.fma.f32(float %part.3, float %factor.lower, float %total.3)
  store float %next.0, ptr %total.at, align 4
  store float %next.1, ptr %total.at1, align 4
  store float %next.2, ptr %total.at2, align 4
  store float %next.3, ptr %total.at3, align 4
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count_s
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !0
j.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; Column by column, so that B's scale is read once for all rows; A's scales are
; held instead.
define internal void @scale_columns(ptr %running, ptr %partial, i32 %a_scales, i32 %b_scales, i32 %row, i32 %column, i32 %across, i32 %lane) #0 {
entry:
  %held = alloca [16 x float], align 8
  %i.slot = alloca i32
  %j.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %slice_n = load i32, ptr addrspace(4) @ws.slice_n
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %rows = udiv i32 %tile_m, %warps_m
  %columns = udiv i32 %tile_n, %warps_n
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %count_s = udiv i32 %slice_n, 8
  %first = udiv i32 %across, 8
  %slice.column = add i32 %column, %across
  %halves = udiv i32 %rows, 8
  %lane.row.0 = udiv i32 %lane, 4
  %lane.row = add i32 %row, %lane.row.0
  store i32 0, ptr %i.slot
  br label %h.loop
h.loop:
  %h = load i32, ptr %i.slot
  %h.row.0 = mul i32 %h, 8
  %h.row = add i32 %lane.row, %h.row.0
  %h.at.0 = mul i32 %h.row, 4
  %h.at.1 = add i32 %a_scales, %h.at.0
  %h.at = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %h.at.1
  %h.value = load float, ptr addrspace(3) %h.at, align 4
  %h.held = getelementptr float, ptr %held, i32 %h
  store float %h.value, ptr %h.held
  %h.next = add i32 %h, 1
  store i32 %h.next, ptr %i.slot
  %h.more = icmp ult i32 %h.next, %halves
  br i1 %h.more, label %h.loop, label %h.exit, !llvm.loop !0
h.exit:
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %j.column.0 = mul i32 %j, 8
  %j.column = add i32 %slice.column, %j.column.0
  %bs = call float @scale_of_column(i32 %b_scales, i32 %j.column)
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %upper.number = mul i32 %i, 2
  %lower.number = add i32 %upper.number, 1
  %upper.at = getelementptr float, ptr %held, i32 %upper.number
  %lower.at = getelementptr float, ptr %held, i32 %lower.number
  %upper = load float, ptr %upper.at
  %lower = load float, ptr %lower.at
  %factor.upper = fmul float %upper, %bs
  %factor.lower = fmul float %lower, %bs
  %block.0 = mul i32 %i, %count_s
  %block = add i32 %block.0, %j
  %into.0 = mul i32 %i, %count_n
  %into.1 = add i32 %into.0, %first
  %into = add i32 %into.1, %j
  %part.at = getelementptr <4 x float>, ptr %partial, i32 %block
  %total.at = getelementptr <4 x float>, ptr %running, i32 %into
  %part.at1 = getelementptr float, ptr %part.at, i32 1
  %part.at2 = getelementptr float, ptr %part.at, i32 2
  %part.at3 = getelementptr float, ptr %part.at, i32 3
  %part.0 = load float, ptr %part.at, align 4
  %part.1 = load float, ptr %part.at1, align 4
  %part.2 = load float, ptr %part.at2, align 4
  %part.3 = load float, ptr %part.at3, align 4
  %total.at1 = getelementptr float, ptr %total.at, i32 1
  %total.at2 = getelementptr float, ptr %total.at, i32 2
  %total.at3 = getelementptr float, ptr %total.at, i32 3
  %total.0 = load float, ptr %total.at, align 4
  %total.1 = load float, ptr %total.at1, align 4
  %total.2 = load float, ptr %total.at2, align 4
  %total.3 = load float, ptr %total.at3, align 4
  %next.0 = call float @llvm.fma.f32(float %part.0, float %factor.upper, float %total.0)
  %next.1 = call float @llvm.fma.f32(float %part.1, float %factor.upper, float %total.1)
  %next.2 = call float @llvm.fma.f32(float %part.2, float %factor.lower, float %total.2)
  %next.3 = call float @llvm.fma.f32(float %part.3, float %factor.lower, float %total.3)
  store float %next.0, ptr %total.at, align 4
  store float %next.1, ptr %total.at1, align 4
  store float %next.2, ptr %total.at2, align 4
  store float %next.3, ptr %total.at3, align 4
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count_s
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !0
j.exit:
  ret void
}

; ---- region store_c: running sums -> C ----------------------------------------

; Two neighbours as the bits of bf16, the first in the low half.
define internal i32 @round(float %first, float %second) #0 {
entry:
  %pair = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %second, float %first)
  %bits = bitcast <2 x bfloat> %pair to i32
  ret i32 %bits
}

; Element (row, column) of an array of rows of n elements of `size` bytes.
define internal ptr addrspace(1) @element_at(ptr addrspace(1) %array, i32 %row, i32 %column, i32 %n, i32 %size) #0 {
entry:
  %row64 = zext i32 %row to i64
  %n64 = zext i32 %n to i64
  %column64 = zext i32 %column to i64
  %size64 = zext i32 %size to i64
  %index.0 = mul i64 %row64, %n64
  %index = add i64 %index.0, %column64
  %offset = mul i64 %index, %size64
  %at = getelementptr i8, ptr addrspace(1) %array, i64 %offset
  ret ptr addrspace(1) %at
}

define internal void @store_c(ptr %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #0 {
entry:
  %i.slot = alloca i32
  %j.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %rows = udiv i32 %tile_m, %warps_m
  %columns = udiv i32 %tile_n, %warps_n
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %lane.row.0 = udiv i32 %lane, 4
  %lane.row = add i32 %row, %lane.row.0
  %lane.column.0 = urem i32 %lane, 4
  %lane.column.1 = mul i32 %lane.column.0, 2
  %lane.column = add i32 %column, %lane.column.1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %down = mul i32 %i, 16
  %upper.row = add i32 %lane.row, %down
  %lower.row = add i32 %upper.row, 8
  %lines = icmp ult i32 %upper.row, %m
  %both = icmp ult i32 %lower.row, %m
  br i1 %lines, label %lines.then, label %lines.end ; global store mask: rows
lines.then:
  %upper.at = call ptr addrspace(1) @element_at(ptr addrspace(1) %c, i32 %upper.row, i32 %lane.column, i32 %n, i32 2)
  %lower.at = call ptr addrspace(1) @element_at(ptr addrspace(1) %c, i32 %lower.row, i32 %lane.column, i32 %n, i32 2)
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %across = mul i32 %j, 8
  %block.column = add i32 %column, %across
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end ; global store mask: columns
write.then:
  %block.0 = mul i32 %i, %count_n
  %block = add i32 %block.0, %j
  %total.at = getelementptr <4 x float>, ptr %running, i32 %block
  %total.at1 = getelementptr float, ptr %total.at, i32 1
  %total.at2 = getelementptr float, ptr %total.at, i32 2
  %total.at3 = getelementptr float, ptr %total.at, i32 3
  %total.0 = load float, ptr %total.at, align 4
  %total.1 = load float, ptr %total.at1, align 4
  %total.2 = load float, ptr %total.at2, align 4
  %total.3 = load float, ptr %total.at3, align 4
  %upper = call i32 @round(float %total.0, float %total.1)
  %lower = call i32 @round(float %total.2, float %total.3)
  %upper.to = getelementptr i16, ptr addrspace(1) %upper.at, i32 %across
  %lower.to = getelementptr i16, ptr addrspace(1) %lower.at, i32 %across
  store i32 %upper, ptr addrspace(1) %upper.to, align 4
  br i1 %both, label %write.lower, label %write.end
write.lower:
  store i32 %lower, ptr addrspace(1) %lower.to, align 4
  br label %write.end
write.end:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !0
j.exit:
  br label %lines.end
lines.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; Lanes 2 x and 2 x + 1 swap, so that each has four neighbours of one of two
; blocks side by side: half as many stores, of 8 bytes. All lanes of a warp take
; the same branches up to the store, as n is a multiple of 16.
define internal void @store_c_pairs(ptr %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #0 {
entry:
  %i.slot = alloca i32
  %j.slot = alloca i32
  %h.slot = alloca i32
  %halves = alloca [2 x <2 x i32>], align 8
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %rows = udiv i32 %tile_m, %warps_m
  %columns = udiv i32 %tile_n, %warps_n
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %lane.row.0 = udiv i32 %lane, 4
  %lane.row = add i32 %row, %lane.row.0
  ; an even lane keeps the first block, an odd one the second
  %odd.0 = urem i32 %lane, 2
  %odd = icmp eq i32 %odd.0, 1
  %lane.column.0 = mul i32 %odd.0, 8
  %lane.column.1 = urem i32 %lane, 4
  %lane.column.2 = udiv i32 %lane.column.1, 2
  %lane.column.3 = mul i32 %lane.column.2, 4
  %lane.column.4 = add i32 %lane.column.0, %lane.column.3
  %lane.column = add i32 %column, %lane.column.4
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %down = mul i32 %i, 16
  %block.row = add i32 %row, %down
  %lines = icmp ult i32 %block.row, %m
  br i1 %lines, label %lines.then, label %lines.end
lines.then:
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %across = mul i32 %j, 8
  %block.column = add i32 %column, %across
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end ; global store mask: columns
write.then:
  %block.0 = mul i32 %i, %count_n
  %block = add i32 %block.0, %j
  %first.at = getelementptr <4 x float>, ptr %running, i32 %block
  %second.at = getelementptr <4 x float>, ptr %first.at, i32 1
  %first.at1 = getelementptr float, ptr %first.at, i32 1
  %first.at2 = getelementptr float, ptr %first.at, i32 2
  %first.at3 = getelementptr float, ptr %first.at, i32 3
  %first.0 = load float, ptr %first.at, align 4
  %first.1 = load float, ptr %first.at1, align 4
  %first.2 = load float, ptr %first.at2, align 4
  %first.3 = load float, ptr %first.at3, align 4
  %second.at1 = getelementptr float, ptr %second.at, i32 1
  %second.at2 = getelementptr float, ptr %second.at, i32 2
  %second.at3 = getelementptr float, ptr %second.at, i32 3
  %second.0 = load float, ptr %second.at, align 4
  %second.1 = load float, ptr %second.at1, align 4
  %second.2 = load float, ptr %second.at2, align 4
  %second.3 = load float, ptr %second.at3, align 4
  %first.upper = call i32 @round(float %first.0, float %first.1)
  %first.lower = call i32 @round(float %first.2, float %first.3)
  %second.upper = call i32 @round(float %second.0, float %second.1)
  %second.lower = call i32 @round(float %second.2, float %second.3)
  %upper.v0 = insertelement <2 x i32> poison, i32 %first.upper, i32 0
  %upper.v = insertelement <2 x i32> %upper.v0, i32 %second.upper, i32 1
  %lower.v0 = insertelement <2 x i32> poison, i32 %first.lower, i32 0
  %lower.v = insertelement <2 x i32> %lower.v0, i32 %second.lower, i32 1
  %lower.halves = getelementptr <2 x i32>, ptr %halves, i32 1
  store <2 x i32> %upper.v, ptr %halves, align 8
  store <2 x i32> %lower.v, ptr %lower.halves, align 8
  store i32 0, ptr %h.slot
  br label %h.loop
h.loop:
  %h = load i32, ptr %h.slot
  %h.at = getelementptr <2 x i32>, ptr %halves, i32 %h
  %h.pair = load <2 x i32>, ptr %h.at, align 8
  %h.first = extractelement <2 x i32> %h.pair, i32 0
  %h.second = extractelement <2 x i32> %h.pair, i32 1
  %kept = select i1 %odd, i32 %h.second, i32 %h.first
  %given = select i1 %odd, i32 %h.first, i32 %h.second
  %taken = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %given, i32 1, i32 31) #2
  %left = select i1 %odd, i32 %taken, i32 %kept
  %right = select i1 %odd, i32 %kept, i32 %taken
  %four.0 = insertelement <2 x i32> poison, i32 %left, i32 0
  %four = insertelement <2 x i32> %four.0, i32 %right, i32 1
  %h.row.0 = mul i32 %h, 8
  %h.row.1 = add i32 %down, %h.row.0
  %h.row = add i32 %lane.row, %h.row.1
  %h.inside = icmp ult i32 %h.row, %m
  br i1 %h.inside, label %h.store, label %h.end ; global store mask: rows
h.store:
  %h.column = add i32 %lane.column, %across
  %h.to = call ptr addrspace(1) @element_at(ptr addrspace(1) %c, i32 %h.row, i32 %h.column, i32 %n, i32 2)
  store <2 x i32> %four, ptr addrspace(1) %h.to, align 8
  br label %h.end
h.end:
  %h.next = add i32 %h, 1
  store i32 %h.next, ptr %h.slot
  %h.more = icmp ult i32 %h.next, 2
  br i1 %h.more, label %h.loop, label %h.exit, !llvm.loop !0
h.exit:
  br label %write.end
write.end:
  %j.next = add i32 %j, 2
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !0
j.exit:
  br label %lines.end
lines.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; ---- region store_partials: running sums -> workspace -------------------------
define internal void @store_partials(ptr %running, ptr addrspace(1) %slice, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #0 {
entry:
  %i.slot = alloca i32
  %j.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %rows = udiv i32 %tile_m, %warps_m
  %columns = udiv i32 %tile_n, %warps_n
  %count_m = udiv i32 %rows, 16
  %count_n = udiv i32 %columns, 8
  %lane.row.0 = udiv i32 %lane, 4
  %lane.row = add i32 %row, %lane.row.0
  %lane.column.0 = urem i32 %lane, 4
  %lane.column.1 = mul i32 %lane.column.0, 2
  %lane.column = add i32 %column, %lane.column.1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %down = mul i32 %i, 16
  %upper.row = add i32 %lane.row, %down
  %lower.row = add i32 %upper.row, 8
  %lines = icmp ult i32 %upper.row, %m
  %both = icmp ult i32 %lower.row, %m
  br i1 %lines, label %lines.then, label %lines.end ; global store mask: rows
lines.then:
  %upper.at = call ptr addrspace(1) @element_at(ptr addrspace(1) %slice, i32 %upper.row, i32 %lane.column, i32 %n, i32 4)
  %lower.at = call ptr addrspace(1) @element_at(ptr addrspace(1) %slice, i32 %lower.row, i32 %lane.column, i32 %n, i32 4)
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %across = mul i32 %j, 8
  %block.column = add i32 %column, %across
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end ; global store mask: columns
write.then:
  %block.0 = mul i32 %i, %count_n
  %block = add i32 %block.0, %j
  %total.at = getelementptr <4 x float>, ptr %running, i32 %block
  %total.at1 = getelementptr float, ptr %total.at, i32 1
  %total.at2 = getelementptr float, ptr %total.at, i32 2
  %total.at3 = getelementptr float, ptr %total.at, i32 3
  %total.0 = load float, ptr %total.at, align 4
  %total.1 = load float, ptr %total.at1, align 4
  %total.2 = load float, ptr %total.at2, align 4
  %total.3 = load float, ptr %total.at3, align 4
  %upper.v0 = insertelement <2 x float> poison, float %total.0, i32 0
  %upper = insertelement <2 x float> %upper.v0, float %total.1, i32 1
  %lower.v0 = insertelement <2 x float> poison, float %total.2, i32 0
  %lower = insertelement <2 x float> %lower.v0, float %total.3, i32 1
  %upper.to = getelementptr float, ptr addrspace(1) %upper.at, i32 %across
  %lower.to = getelementptr float, ptr addrspace(1) %lower.at, i32 %across
  store <2 x float> %upper, ptr addrspace(1) %upper.to, align 8
  br i1 %both, label %write.lower, label %write.end
write.lower:
  store <2 x float> %lower, ptr addrspace(1) %lower.to, align 8
  br label %write.end
write.end:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count_n
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !0
j.exit:
  br label %lines.end
lines.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; ---- region reduce: slices of the workspace -> C ------------------------------
define internal void @reduce(ptr addrspace(1) %workspace, ptr addrspace(1) %c, i32 %element, i32 %count) #0 {
entry:
  %total.slot = alloca <4 x float>, align 16
  %slice.slot = alloca i32
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  store <4 x float> zeroinitializer, ptr %total.slot, align 16
  %element64 = zext i32 %element to i64
  %count64 = zext i32 %count to i64
  store i32 0, ptr %slice.slot
  br label %slice.loop
slice.loop:
  %slice = load i32, ptr %slice.slot
  %slice64 = zext i32 %slice to i64
  %start = mul i64 %slice64, %count64
  %offset = add i64 %start, %element64
  %at = getelementptr float, ptr addrspace(1) %workspace, i64 %offset
  %part = load <4 x float>, ptr addrspace(1) %at, align 16
  %total = load <4 x float>, ptr %total.slot, align 16
  %total.next = fadd <4 x float> %total, %part
  store <4 x float> %total.next, ptr %total.slot, align 16
  %slice.next = add i32 %slice, 1
  store i32 %slice.next, ptr %slice.slot
  %slice.more = icmp ult i32 %slice.next, %split_k
  br i1 %slice.more, label %slice.loop, label %slice.exit, !llvm.loop !0
slice.exit:
  %sum = load <4 x float>, ptr %total.slot, align 16
  %sum.0 = extractelement <4 x float> %sum, i32 0
  %sum.1 = extractelement <4 x float> %sum, i32 1
  %sum.2 = extractelement <4 x float> %sum, i32 2
  %sum.3 = extractelement <4 x float> %sum, i32 3
  %left = call i32 @round(float %sum.0, float %sum.1)
  %right = call i32 @round(float %sum.2, float %sum.3)
  %four.0 = insertelement <2 x i32> poison, i32 %left, i32 0
  %four = insertelement <2 x i32> %four.0, i32 %right, i32 1
  %c.at = getelementptr i16, ptr addrspace(1) %c, i64 %element64
  store <2 x i32> %four, ptr addrspace(1) %c.at, align 8
  ret void
}

; ---- what holds the regions together (not rewritable) -------------------------

define internal void @zero(ptr %sums, i32 %columns) #0 {
entry:
  %i.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %rows = udiv i32 %tile_m, %warps_m
  %count.0 = mul i32 %rows, %columns
  %count = udiv i32 %count.0, 32
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %at = getelementptr float, ptr %sums, i32 %i
  store float 0.0, ptr %at, align 4 ; accumulator zeroing
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !0
i.exit:
  ret void
}

; All but the last `pending` groups of copies of this thread have arrived.
define internal void @wait(i32 %pending) #0 {
entry:
  call void asm sideeffect "cp.async.wait_group $0;", "n,~{memory}"(i32 %pending) #1
  ret void
}

; Starts loading step number `step`, if it is below limit, into `stage` of shared
; memory, and closes a group of copies in any case, so that groups count steps.
define internal void @load_step(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %row, i32 %column, i32 %step, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, i32 %stage) #0 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %substeps = udiv i32 128, %tile_k
  %at.b.0 = mul i32 %tile_m, %tile_k
  %at.b = add i32 %stage, %at.b.0
  %at.s.0 = mul i32 %tile_n, %tile_k
  %at.s = add i32 %at.b, %at.s.0
  %exists = icmp ult i32 %step, %limit
  br i1 %exists, label %load.then, label %load.end
load.then:
  %depth = mul i32 %step, %tile_k
  call void @load(ptr addrspace(1) %a, i32 %row, i32 %tile_m, i32 %m, i32 %depth, i32 %k, i32 %thread, i32 %stage)
  call void @load(ptr addrspace(1) %b, i32 %column, i32 %tile_n, i32 %n, i32 %depth, i32 %k, i32 %thread, i32 %at.b)
  %block = udiv i32 %step, %substeps
  %sub.0 = urem i32 %step, %substeps
  %sub = add i32 %sub.0, 1
  %ends = icmp eq i32 %sub, %substeps
  br i1 %ends, label %scales.then, label %load.end
scales.then:
  call void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %row, i32 %column, i32 %block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, i32 %at.s)
  br label %load.end
load.end:
  call void @llvm.nvvm.cp.async.commit.group()
  ret void
}

; ---- kernels ------------------------------------------------------------------
define ptx_kernel void @fp8_gemm_mma_sync(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, ptr addrspace(1) noalias writeonly %workspace, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) #2 {
entry:
  %running = alloca [128 x float], align 16
  %partial = alloca [128 x float], align 16
  %step.slot = alloca i32
  %stage.slot = alloca i32
  %fill.slot = alloca i32
  %sub.slot = alloca i32
  %across.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %warps_m = load i32, ptr addrspace(4) @ws.warps_m
  %warps_n = load i32, ptr addrspace(4) @ws.warps_n
  %slice_n = load i32, ptr addrspace(4) @ws.slice_n
  %stages = load i32, ptr addrspace(4) @ws.stages
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %slice = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()

  ; this workgroup's tile of C, this warp's part of it
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
  %lane = urem i32 %thread, 32
  %warp = udiv i32 %thread, 32
  %warp.row.0 = udiv i32 %warp, %warps_n
  %warp.row.1 = udiv i32 %tile_m, %warps_m
  %warp.row = mul i32 %warp.row.0, %warp.row.1
  %warp.column.0 = urem i32 %warp, %warps_n
  %warp.column.1 = udiv i32 %tile_n, %warps_n
  %warp.column = mul i32 %warp.column.0, %warp.column.1
  ; columns from the first of B's column blocks that the tile touches; a tile
  ; within one needs no more than its first scale
  %block.column.0 = urem i32 %tile.column, 128
  %aligned.0 = urem i32 128, %tile_n
  %aligned.1 = urem i32 %tile_n, 128
  %aligned.2 = icmp eq i32 %aligned.1, 0
  %aligned.3 = icmp eq i32 %aligned.0, 0
  %block.column.1 = add i32 %block.column.0, %warp.column
  %block.column.2 = select i1 %aligned.2, i32 %warp.column, i32 %block.column.1
  %block.column = select i1 %aligned.3, i32 0, i32 %block.column.2

  ; shared memory
  %at.b = mul i32 %tile_m, %tile_k
  %at.scales.0 = mul i32 %tile_n, %tile_k
  %at.scales = add i32 %at.b, %at.scales.0
  %stage.bytes.0 = mul i32 %tile_m, 4
  %stage.bytes.1 = add i32 %at.scales, %stage.bytes.0
  %stage.bytes = add i32 %stage.bytes.1, 16

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
  %ahead = sub i32 %stages, 1
  %pending = sub i32 %stages, 2

  call void @zero(ptr %running, i32 %warp.column.1)
  store i32 0, ptr %fill.slot
  br label %early.loop
early.loop:
  %early = load i32, ptr %fill.slot
  %early.step = add i32 %first, %early
  %early.at = mul i32 %early, %stage.bytes
  call void @load_step(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %tile.row, i32 %tile.column, i32 %early.step, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, i32 %early.at)
  %early.next = add i32 %early, 1
  store i32 %early.next, ptr %fill.slot
  %early.more = icmp ult i32 %early.next, %ahead
  br i1 %early.more, label %early.loop, label %early.exit
early.exit:

  ; stage.slot: where this step's tile lies; fill.slot: where the next goes
  store i32 %first, ptr %step.slot
  store i32 0, ptr %stage.slot
  br label %step.head
step.head:
  %step = load i32, ptr %step.slot
  %step.more = icmp ult i32 %step, %limit
  br i1 %step.more, label %step.body, label %step.exit
step.body:
  store i32 0, ptr %sub.slot
  br label %sub.loop
sub.loop:
  %sub = load i32, ptr %sub.slot
  %stage = load i32, ptr %stage.slot
  %fill = load i32, ptr %fill.slot
  %fill.step.0 = add i32 %step, %sub
  %fill.step = add i32 %fill.step.0, %ahead
  %fill.at = mul i32 %fill, %stage.bytes
  %now.at = mul i32 %stage, %stage.bytes
  call void @wait(i32 %pending)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) ; barrier: tile is there, last one is read
  call void @load_step(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %tile.row, i32 %tile.column, i32 %fill.step, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, i32 %fill.at)
  %now.b = add i32 %now.at, %at.b
  %now.as = add i32 %now.at, %at.scales
  %now.bs.0 = mul i32 %tile_m, 4
  %now.bs = add i32 %now.as, %now.bs.0
  %begins = icmp eq i32 %sub, 0
  %sub.next = add i32 %sub, 1
  %ends = icmp eq i32 %sub.next, %substeps
  store i32 0, ptr %across.slot
  br label %across.loop
across.loop:
  %across = load i32, ptr %across.slot
  br i1 %begins, label %fresh.then, label %fresh.end
fresh.then:
  call void @zero(ptr %partial, i32 %slice_n)
  br label %fresh.end
fresh.end:
  %across.b = add i32 %warp.column, %across
  call void @mma(i32 %now.at, i32 %now.b, i32 %warp.row, i32 %across.b, ptr %partial, i32 %lane)
  br i1 %ends, label %full.then, label %full.end
full.then:
  call void @scale(ptr %running, ptr %partial, i32 %now.as, i32 %now.bs, i32 %warp.row, i32 %block.column, i32 %across, i32 %lane)
  br label %full.end
full.end:
  %across.next = add i32 %across, %slice_n
  store i32 %across.next, ptr %across.slot
  %across.more = icmp ult i32 %across.next, %warp.column.1
  br i1 %across.more, label %across.loop, label %across.exit, !llvm.loop !0
across.exit:
  %stage.next.0 = add i32 %stage, 1
  %stage.wraps = icmp eq i32 %stage.next.0, %stages
  %stage.next = select i1 %stage.wraps, i32 0, i32 %stage.next.0
  store i32 %stage.next, ptr %stage.slot
  %fill.next.0 = add i32 %fill, 1
  %fill.wraps = icmp eq i32 %fill.next.0, %stages
  %fill.next = select i1 %fill.wraps, i32 0, i32 %fill.next.0
  store i32 %fill.next, ptr %fill.slot
  store i32 %sub.next, ptr %sub.slot
  %sub.more = icmp ult i32 %sub.next, %substeps
  br i1 %sub.more, label %sub.loop, label %sub.exit, !llvm.loop !0
sub.exit:
  %step.next = add i32 %step, %substeps
  store i32 %step.next, ptr %step.slot
  br label %step.head
step.exit:

  %c.row = add i32 %tile.row, %warp.row
  %c.column = add i32 %tile.column, %warp.column
  %whole = icmp eq i32 %split_k, 1
  br i1 %whole, label %out.then, label %out.else
out.then:
  call void @store_c(ptr %running, ptr addrspace(1) %c, i32 %c.row, i32 %c.column, i32 %m, i32 %n, i32 %lane)
  br label %out.end
out.else:
  %m64 = zext i32 %m to i64
  %n64 = zext i32 %n to i64
  %slice64 = zext i32 %slice to i64
  %slice.size = mul i64 %m64, %n64
  %slice.start = mul i64 %slice64, %slice.size
  %slice.at = getelementptr float, ptr addrspace(1) %workspace, i64 %slice.start
  call void @store_partials(ptr %running, ptr addrspace(1) %slice.at, i32 %c.row, i32 %c.column, i32 %m, i32 %n, i32 %lane)
  br label %out.end
out.end:
  ret void
}

define ptx_kernel void @fp8_gemm_mma_sync_reduce(ptr addrspace(1) noalias readonly %workspace, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %count = mul i32 %m, %n
  %element.0 = mul i32 %group, 256
  %element.1 = add i32 %element.0, %thread
  %element = mul i32 %element.1, 4
  %exists = icmp ult i32 %element, %count
  br i1 %exists, label %work.then, label %work.end
work.then:
  call void @reduce(ptr addrspace(1) %workspace, ptr addrspace(1) %c, i32 %element, i32 %count)
  br label %work.end
work.end:
  ret void
}

attributes #0 = { alwaysinline convergent nounwind }
attributes #1 = { convergent nounwind }
attributes #2 = { convergent }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}

!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}

!wavesmith.template = !{!4}
!4 = !{!"fp8_gemm_mma_sync", !"1", !"fp8_gemm_blockscale", !"sm_90a", !"Matrix instructions of single warps on tiles that cp.async brings to shared memory in stages, two levels of accumulators, split K."}

!wavesmith.param = !{!5, !6, !7, !8, !9, !10, !11, !12, !13, !14, !15, !16}
!5 = !{!"layout", !"ws.layout", !"2", !"layout of a and b: 2 kmajor-ocp"}
!6 = !{!"tile_m", !"ws.tile_m", !"16 32 64 128 256", !"rows of C per workgroup"}
!7 = !{!"tile_n", !"ws.tile_n", !"16 32 64 96 128 192 256", !"columns of C per workgroup"}
!8 = !{!"tile_k", !"ws.tile_k", !"64 128", !"depth of one stage"}
!9 = !{!"warps_m", !"ws.warps_m", !"1 2 4 8", !"warps along m"}
!10 = !{!"warps_n", !"ws.warps_n", !"1 2 4 8", !"warps along n"}
!11 = !{!"slice_n", !"ws.slice_n", !"16 32 48 64 96", !"columns of a warp's part that are summed and scaled at a time: fewer need fewer registers and read A's fragments more often"}
!12 = !{!"unroll_k", !"ws.unroll_k", !"1 2 4", !"matrix instructions along k, 32 each, that are unrolled: fragments of more are read ahead"}
!13 = !{!"stages", !"ws.stages", !"2 3 4 5 6 8", !"tiles in shared memory at a time; all but one are on their way"}
!14 = !{!"split_k", !"ws.split_k", !"1 2 4 8", !"slices of k that run in parallel, summed by a second kernel"}
!15 = !{!"group_m", !"ws.group_m", !"1 2 4 8 16", !"tile rows of a band: workgroups walk the tiles band by band"}
!16 = !{!"resident", !"ws.resident", !"1 2 3 4", !"workgroups that a multiprocessor must hold at once: limits registers"}

!wavesmith.require = !{!17, !18, !19, !20, !21, !22, !23, !24, !25}
!17 = !{!"warps_m * warps_n >= 2 && warps_m * warps_n <= 16", !"a workgroup has 2 to 16 warps"}
!18 = !{!"tile_m % (16 * warps_m) == 0", !"a warp's rows are whole matrix instructions"}
!19 = !{!"tile_n % (16 * warps_n) == 0", !"a warp's columns are whole pairs of matrix instructions"}
!20 = !{!"tile_n / warps_n % slice_n == 0", !"a warp's columns are whole slices"}
!21 = !{!"tile_k == 128 || tile_n == warps_n * slice_n", !"sums of a slice are scaled after 128 of k: with tile_k 64 there is one slice"}
!22 = !{!"32 * unroll_k <= tile_k", !"unroll_k spans at most tile_k"}
!23 = !{!"resident * (stages * ((tile_m + tile_n) * tile_k + 4 * tile_m + 16) + 1024) <= 233472", !"a multiprocessor has 228 KiB of shared memory, 1 KiB of which goes to each workgroup"}
!24 = !{!"max(tile_m, tile_n) * tile_k <= 8192 * warps_m * warps_n", !"a thread copies at most 16 chunks of 16 bytes of each operand's tile"}
!25 = !{!"24 + tile_m * tile_n / (32 * warps_m * warps_n) + tile_m * slice_n / (16 * warps_m) + 3 * unroll_k * (tile_m / warps_m + slice_n) / 8 <= min(255, 2048 / (warps_m * warps_n * resident))", !"accumulators, fragments and addresses leave too few registers for the workgroups that are to be resident"}

!wavesmith.lds = !{!26}
!26 = !{!"ws.lds", !"stages * ((tile_m + tile_n) * tile_k + 4 * tile_m + 16)"}

!wavesmith.occupancy = !{!27}
!27 = !{!"fp8_gemm_mma_sync", !"1", !"resident"}

!wavesmith.launch = !{!28, !29}
!28 = !{!"fp8_gemm_mma_sync", !"ceildiv(m, tile_m) * ceildiv(n, tile_n)", !"split_k", !"1", !"32 * warps_m * warps_n", !"1"}
!29 = !{!"fp8_gemm_mma_sync_reduce", !"ceildiv(m * n, 1024)", !"1", !"1", !"256", !"split_k > 1"}

!wavesmith.workspace = !{!30}
!30 = !{!"split_k > 1 ? 4 * split_k * m * n : 0"}

!wavesmith.region = !{!31, !32, !33, !34, !35, !36, !37, !38, !39, !40}
!31 = !{!"tile_order", !"Returns which tile of C workgroup number group makes, as (row of tiles, column of tiles). Must be a bijection: each of the tiles_m * tiles_n tiles exactly once for group = 0 .. tiles_m * tiles_n - 1, whatever these counts (1 included). Workgroups start in order of their number and share one L2 of 50 MB, so those that run together should share rows of A and columns of B. Parameter group_m asks for bands. Uniform; no memory, no barrier."}
!32 = !{!"place", !"Returns where in a tile the 16 bytes (row, k .. k+15) lie, k a multiple of 16 below tile_k, row below tile_m or tile_n: a byte offset from the tile's start, a multiple of 16. One-to-one, and every chunk within rows * tile_k bytes. Called by all that write or read a tile, so any permutation is right; a good one lets the 8 rows at equal k of one ldmatrix matrix (rows r .. r+7, r a multiple of 8) lie in 8 different 16-byte columns of the 32 banks of 4 bytes, and so do the chunks that 8 consecutive lanes of cp.async write (the chunks of a row). No memory, no barrier."}
!33 = !{!"copy", !"Starts copying 16 bytes from global to shared memory by cp.async, both aligned to 16. The caller closes the group of copies and waits for it. No barrier."}
!34 = !{!"load", !"Starts copying a tile of A or B to shared memory through copy: rows origin .. origin+rows-1, bytes depth .. depth+tile_k-1, of an operand with extent rows of length bytes; the 16 bytes (row, k) go to byte tile + place(row, k) of @ws.lds. All threads call it (thread = 0 .. 32 * warps_m * warps_n - 1) and share the chunks; every chunk of the tile exactly once. Rows from extent on must not be read: take any row inside instead. origin < extent; rows is tile_m or tile_n; depth and length are multiples of 64. Copies must be cp.async of the calling thread, and no group may be closed: the caller does. No barrier."}
!35 = !{!"load_scales", !"Once per scale block of k. Starts copying the tile's scales to shared memory, 4 bytes each by cp.async, from byte scales of @ws.lds on: tile_m floats of A, of rows row .. row+tile_m-1 at as[r * as_stride_m + block * as_stride_k], then two of B, of the column blocks column / 128 and the next at bs[s * bs_stride_n + block * bs_stride_k]. Rows from m on and column blocks from ceildiv(n, 128) on must not be read: take the last one. Strides are in elements and may be anything. All threads call it. No group is closed, no barrier."}
!36 = !{!"mma", !"Adds to partial one slice of this warp's part of A tile times B tile: rows row_a .. row_a + tile_m/warps_m - 1 of tile a, rows row_b .. row_b + slice_n - 1 of tile b (columns of C), all tile_k of k. a and b are byte offsets in @ws.lds; 16 bytes (row, k) lie at place(row, k) from there. partial (an array in registers) holds the blocks of 16 x 8 elements of C, block (i, j) at index 4 * (i * slice_n / 8 + j): lane l holds row l / 4 at columns 2 * (l % 4) and the next (floats 0 and 1), and the same of row l / 4 + 8 (2 and 3). Operands of mma.sync m16n8k32: lane l holds of A rows l / 4 and l / 4 + 8 (words 0 and 1), of B column l / 4, bytes 4 * (l % 4) .. + 3 of k each, and the same 16 further in k (words 2 and 3, for B 1). All 32 lanes call it together. No barrier in here."}
!37 = !{!"scale", !"End of a scale block of 128 in k: adds partial * (scale of A's row * scale of B's column block) to running, element by element in fp32, for one slice. partial as mma leaves it; running holds all blocks of the warp's part, block (i, j) at index 4 * (i * tile_n / warps_n / 8 + j), and the slice's first block column is across / 8. Row r of the warp's part has its scale at float row + r from byte a_scales of @ws.lds on, column s at float (column + s) / 128 from byte b_scales on; blocks of 8 columns never straddle two. Valid until the next barrier. partial need not be cleared. All lanes; no barrier in here."}
!38 = !{!"store_c", !"Rounds running (all blocks, as scale describes) to bf16, to nearest even, and stores it: element (r, s) of the warp's part is C[row + r][column + s], C is [m][n], 2 bytes each, 16-byte aligned. Rows from m and columns from n on must not be written; n, row and column are multiples of 16; m may be anything. Every other element of the warp's part must be. All lanes; only with split_k = 1."}
!39 = !{!"store_partials", !"With split_k > 1: stores running as fp32 to this slice of the workspace, [m][n], 16-byte aligned, with the masks of store_c. Slices without work store their zeros too."}
!40 = !{!"reduce", !"With split_k > 1, in a kernel of its own: for 4 elements from element on (a multiple of 4 below count = m * n), adds the split_k slices of the workspace (slice z at workspace + z * count floats) in an order that depends on nothing else, rounds to bf16, and stores them to c. All pointers 16-byte aligned."}

!wavesmith.variant = !{!41, !42, !43, !44, !45, !46, !47, !48}
!41 = !{!"tile_order", !"tile_order_snake", !"every other band backwards: the turn shares columns of B"}
!42 = !{!"tile_order", !"tile_order_columns", !"bands of group_m tile columns, walked along m: for large m and small n"}
!43 = !{!"place", !"place_rotated", !"rotates the chunks of a row by its number instead of xor"}
!44 = !{!"copy", !"copy_through_l1", !"keeps the line in L1: workgroups of one multiprocessor may share rows"}
!45 = !{!"copy", !"copy_long", !"asks L2 to fetch 256 bytes: the next step's or the neighbour row's"}
!46 = !{!"mma", !"mma_stationary", !"keeps B's fragments and reads A's block by block: fewer registers"}
!47 = !{!"scale", !"scale_columns", !"column by column: B's scale is read once for all rows, A's are held"}
!48 = !{!"store_c", !"store_c_pairs", !"neighbouring lanes swap halves: half as many stores, of 8 bytes"}
