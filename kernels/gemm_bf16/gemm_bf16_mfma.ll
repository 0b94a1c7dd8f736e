; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; gemm_bf16_mfma: gemm_bf16 on gfx942 with matrix instructions and tiles staged
; in LDS. Every legal m and n; every k with cut_k 1, else whole blocks of tile_k.
; After fp8_gemm_mfma (ir-templates/), without its scales: one level of sums.
;
; A workgroup makes a tile of C, tile_m x tile_n, in steps of tile_k along k:
;
;   load_rows   global -> registers     of a later step, if prefetch > 0
;   barrier                             all waves have read the previous tile
;   store_rows  registers -> LDS
;   barrier                             the tile is in LDS
;   mma         LDS -> running          fp32 sums over all of k
;
; and at the end store_c, or with split_k store_partials and a second kernel,
; gemm_bf16_reduce. With two LDS buffers the first barrier is not needed: a wave
; that stores to one buffer has passed the barrier before which every wave read
; it.
;
; LDS, per buffer: A tile, tile_m rows of 2 tile_k + lds_pad bytes; B tile, tile_n
; such rows. Within a row, 16-byte chunks, 8 elements, may be permuted
; (lds_offset). Depths and lengths below are in bytes.
;
; Rows of A or B past the operand are loaded as its last row again; their
; products land in rows or columns of C that the mask of the store drops. Chunks
; past k are loaded as the row's last one and stored to LDS as zeros. So no
; access is out of bounds and no LDS is read that was not written.
;
; A matrix instruction takes 4 consecutive k of a row from each lane. Which k
; these are does not matter as long as A's and B's agree, so the k that one LDS
; read gives a lane go to instructions as they come.
;
; No range of workgroup sizes is stated: with up to 256 threads a lane has 512
; registers, and sums may lie in accumulation registers, as nothing but matrix
; instructions touches them before the end.
;
; Loops count in private memory, test at their end (every count is at least one)
; and carry !1: unrolled, their private arrays become registers.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.tile_m = internal addrspace(4) constant i32 128
@ws.tile_n = internal addrspace(4) constant i32 128
@ws.tile_k = internal addrspace(4) constant i32 64
@ws.waves_m = internal addrspace(4) constant i32 2
@ws.waves_n = internal addrspace(4) constant i32 2
@ws.mfma = internal addrspace(4) constant i32 16
@ws.lds_layout = internal addrspace(4) constant i32 0
@ws.lds_pad = internal addrspace(4) constant i32 8
@ws.lds_read = internal addrspace(4) constant i32 8
@ws.lds_buffers = internal addrspace(4) constant i32 1
@ws.prefetch = internal addrspace(4) constant i32 1
@ws.split_k = internal addrspace(4) constant i32 1
@ws.order = internal addrspace(4) constant i32 0
@ws.group_m = internal addrspace(4) constant i32 1
@ws.cut_k = internal addrspace(4) constant i32 1
@ws.nontemporal = internal addrspace(4) constant i32 0

@ws.lds = internal addrspace(3) global [34816 x i8] poison, align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.perm(i32, i32, i32)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.setprio(i16 immarg)
declare void @llvm.amdgcn.sched.barrier(i32 immarg)
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x16bf16.1k(<4 x i16>, <4 x i16>, <4 x float>, i32 immarg, i32 immarg, i32 immarg)
declare <16 x float> @llvm.amdgcn.mfma.f32.32x32x8bf16.1k(<4 x i16>, <4 x i16>, <16 x float>, i32 immarg, i32 immarg, i32 immarg)
declare i32 @llvm.umin.i32(i32, i32)

; Bytes of a tile's row.
define internal i32 @row_bytes() #1 {
entry:
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %bytes = mul i32 %tile_k, 2
  ret i32 %bytes
}

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
  %row_bytes = call i32 @row_bytes()
  %lds_layout = load i32, ptr addrspace(4) @ws.lds_layout
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %chunk = udiv i32 %k, 16
  %chunks = udiv i32 %row_bytes, 16
  ; rows that are read together start in different banks
  %key.near.0 = udiv i32 128, %row_bytes
  %key.near = udiv i32 %row, %key.near.0
  %rotated.1 = add i32 %chunk, %key.near
  %rotated.2 = sub i32 %chunks, 1
  %rotated = and i32 %rotated.1, %rotated.2
  %flipped.1 = xor i32 %chunk, %key.near
  %flipped.2 = sub i32 %chunks, 1
  %flipped = and i32 %flipped.1, %flipped.2
  %rotate = icmp eq i32 %lds_layout, 1
  %flip = icmp eq i32 %lds_layout, 2
  %moved = select i1 %rotate, i32 %rotated, i32 %chunk
  %placed = select i1 %flip, i32 %flipped, i32 %moved
  %pitch = add i32 %row_bytes, %lds_pad
  %offset.0 = mul i32 %row, %pitch
  %offset.1 = mul i32 %placed, 16
  %offset = add i32 %offset.0, %offset.1
  ret i32 %offset
}

; ---- region load_rows: kmajor, global -> registers ---------------------------
define internal void @load_rows(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %row_bytes = call i32 @row_bytes()
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %prefetch = load i32, ptr addrspace(4) @ws.prefetch
  %cut_k = load i32, ptr addrspace(4) @ws.cut_k
  %cut = icmp eq i32 %cut_k, 1
  %chunks = udiv i32 %row_bytes, 16
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
  %along.0 = add i32 %offset.3, %depth
  %along.last = sub i32 %length, 16
  %along.kept = call i32 @llvm.umin.i32(i32 %along.0, i32 %along.last)
  %along = select i1 %cut, i32 %along.kept, i32 %along.0 ; global load mask: chunks past k repeat the last
  %offset = add i32 %offset.1, %along
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
define internal void @store_rows(ptr addrspace(5) %registers, ptr addrspace(3) %tile, i32 %rows, i32 %depth, i32 %length, i32 %thread) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %row_bytes = call i32 @row_bytes()
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %cut_k = load i32, ptr addrspace(4) @ws.cut_k
  %whole = icmp eq i32 %cut_k, 0
  %chunks = udiv i32 %row_bytes, 16
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
  %loaded = load <4 x i32>, ptr addrspace(5) %slot, align 16
  %row = udiv i32 %chunk, %chunks
  %k.0 = urem i32 %chunk, %chunks
  %k = mul i32 %k.0, 16
  %reach = add i32 %depth, %k
  %inside.0 = icmp ult i32 %reach, %length ; past k: zeros
  %inside = or i1 %whole, %inside.0
  %value = select i1 %inside, <4 x i32> %loaded, <4 x i32> zeroinitializer
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

; ---- region mma: LDS -> sums -----------------------------------------

; running[block] += a * b, for one block of mfma x mfma.
define internal void @multiply(i64 %a, i64 %b, ptr addrspace(5) %running, i32 %block) #1 {
entry:
  %mfma = load i32, ptr addrspace(4) @ws.mfma
  %a.four = bitcast i64 %a to <4 x i16>
  %b.four = bitcast i64 %b to <4 x i16>
  %small = icmp eq i32 %mfma, 16
  br i1 %small, label %m16.then, label %m16.else
m16.then:
  %c16.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %block
  %c16 = load <4 x float>, ptr addrspace(5) %c16.at, align 16
  %d16 = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16bf16.1k(<4 x i16> %a.four, <4 x i16> %b.four, <4 x float> %c16, i32 0, i32 0, i32 0) ; matrix instruction
  store <4 x float> %d16, ptr addrspace(5) %c16.at, align 16
  br label %m16.end
m16.else:
  %c32.at = getelementptr <16 x float>, ptr addrspace(5) %running, i32 %block
  %c32 = load <16 x float>, ptr addrspace(5) %c32.at, align 16
  %d32 = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x8bf16.1k(<4 x i16> %a.four, <4 x i16> %b.four, <16 x float> %c32, i32 0, i32 0, i32 0)
  store <16 x float> %d32, ptr addrspace(5) %c32.at, align 16
  br label %m16.end
m16.end:
  ret void
}

; All matrix instructions of one window.
define internal void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %running) #1 {
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
  call void @multiply(i64 %a.value, i64 %b.value, ptr addrspace(5) %running, i32 %block)
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

define internal void @mma(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %running, i32 %lane) #1 {
entry:
  %fragments.a = alloca [32 x i64], align 16, addrspace(5)
  %fragments.b = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %row_bytes = call i32 @row_bytes()
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
  %windows = udiv i32 %row_bytes, %depth
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
  call void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %running)
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; Above other waves while the matrix unit is fed.
define internal void @mma_priority(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %running, i32 %lane) #1 {
entry:
  %fragments.a = alloca [32 x i64], align 16, addrspace(5)
  %fragments.b = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %row_bytes = call i32 @row_bytes()
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
  %windows = udiv i32 %row_bytes, %depth
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
  call void @multiply_all(ptr addrspace(5) %fragments.a, ptr addrspace(5) %fragments.b, ptr addrspace(5) %running)
  call void @llvm.amdgcn.s.setprio(i16 0)
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w.next, %windows
  br i1 %w.more, label %w.loop, label %w.exit, !llvm.loop !1
w.exit:
  ret void
}

; B's fragments stay, A's come one block of rows at a time.
define internal void @mma_stationary(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %running, i32 %lane) #1 {
entry:
  %fragments.a = alloca [2 x i64], align 16, addrspace(5)
  %fragments.b = alloca [32 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %i.slot = alloca i32, addrspace(5)
  %h.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %row_bytes = call i32 @row_bytes()
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
  %windows = udiv i32 %row_bytes, %depth
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
  call void @multiply(i64 %a.value, i64 %b.value, ptr addrspace(5) %running, i32 %block)
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

define internal void @store_c(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #1 {
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
  ; m is a multiple of 4, so a lane's four rows are all inside or all outside
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  %first.row = add i32 %row, %lane.row
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
  %block.row.0 = mul i32 %i, %mfma
  %block.row.1 = add i32 %row, %block.row.0
  %block.row.2 = mul i32 %g, 8
  %block.row.3 = add i32 %block.row.1, %block.row.2
  %block.row = add i32 %block.row.3, %lane.row
  %lines = icmp ult i32 %block.row, %m
  br i1 %lines, label %lines.then, label %lines.end ; global store mask: rows
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
  %block.column = add i32 %block.column.1, %lane.column
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
  br i1 %stream, label %past.then, label %past.else
past.then:
  store i16 %value, ptr addrspace(1) %at, align 2, !nontemporal !61
  br label %past.end
past.else:
  store i16 %value, ptr addrspace(1) %at, align 2
  br label %past.end
past.end:
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

; Lanes of neighbouring columns swap halves, so that each stores two columns of
; two rows in words: the even lane rows 0 and 2 of the four, the odd one 1 and 3.
; Partners are both inside or both outside, as n is even.
define internal void @store_c_pairs(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %lane) #1 {
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
  %parity = and i32 %lane, 1
  %is.odd = icmp eq i32 %parity, 1
  ; m is a multiple of 4, so a lane's four rows are all inside or all outside
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  %first.row.2 = add i32 %row, %lane.row
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
  %block.row.2 = mul i32 %g, 8
  %block.row.3 = add i32 %block.row.1, %block.row.2
  %block.row = add i32 %block.row.3, %lane.row
  %lines = icmp ult i32 %block.row, %m
  br i1 %lines, label %lines.then, label %lines.end
lines.then:
  %down.0 = mul i32 %i, %mfma
  %down.1 = mul i32 %g, 8
  %down.2 = add i32 %down.0, %down.1
  %down = mul i32 %down.2, %n
  %down64 = zext i32 %down to i64
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
  %block.column = add i32 %block.column.1, %lane.column
  %write = icmp ult i32 %block.column, %n
  br i1 %write, label %write.then, label %write.end
write.then:
  %across = mul i32 %j, %mfma
  %upper.line = getelementptr i16, ptr addrspace(1) %corner, i64 %down64
  %lower.line = getelementptr i16, ptr addrspace(1) %upper.line, i64 %skip64
  %upper.at = getelementptr i16, ptr addrspace(1) %upper.line, i32 %across
  %lower.at = getelementptr i16, ptr addrspace(1) %lower.line, i32 %across
  br i1 %stream, label %past.then, label %past.else
past.then:
  store i32 %upper, ptr addrspace(1) %upper.at, align 4, !nontemporal !61
  store i32 %lower, ptr addrspace(1) %lower.at, align 4, !nontemporal !61
  br label %past.end
past.else:
  store i32 %upper, ptr addrspace(1) %upper.at, align 4
  store i32 %lower, ptr addrspace(1) %lower.at, align 4
  br label %past.end
past.end:
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
  ; m is a multiple of 4, so a lane's four rows are all inside or all outside
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  %first.row = add i32 %row, %lane.row
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
  %block.row.2 = mul i32 %g, 8
  %block.row.3 = add i32 %block.row.1, %block.row.2
  %block.row = add i32 %block.row.3, %lane.row
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
  %block.column = add i32 %block.column.1, %lane.column
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

define internal void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %row, i32 %column, i32 %m, i32 %n, i32 %length, i32 %depth, i32 %thread, i32 %wave, ptr addrspace(5) %registers.a, ptr addrspace(5) %registers.b) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  call void @load_rows(ptr addrspace(1) %a, i32 %row, i32 %tile_m, i32 %m, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers.a)
  call void @load_rows(ptr addrspace(1) %b, i32 %column, i32 %tile_n, i32 %n, i32 %depth, i32 %length, i32 %thread, i32 %wave, ptr addrspace(5) %registers.b)
  ret void
}

define internal void @store_tile(ptr addrspace(5) %registers.a, ptr addrspace(5) %registers.b, ptr addrspace(3) %tile.a, ptr addrspace(3) %tile.b, i32 %depth, i32 %length, i32 %thread) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  call void @store_rows(ptr addrspace(5) %registers.a, ptr addrspace(3) %tile.a, i32 %tile_m, i32 %depth, i32 %length, i32 %thread)
  call void @store_rows(ptr addrspace(5) %registers.b, ptr addrspace(3) %tile.b, i32 %tile_n, i32 %depth, i32 %length, i32 %thread)
  ret void
}

define amdgpu_kernel void @gemm_bf16_mfma(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias writeonly %c, ptr addrspace(1) noalias writeonly %workspace, i32 %m, i32 %n, i32 %k) #3 {
entry:
  %running = alloca [64 x <4 x float>], align 16, addrspace(5)
  %registers.a = alloca [32 x <4 x i32>], align 16, addrspace(5)
  %registers.b = alloca [32 x <4 x i32>], align 16, addrspace(5)
  %step.slot = alloca i32, addrspace(5)
  %early.slot = alloca i32, addrspace(5)
  %phase.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %row_bytes = call i32 @row_bytes()
  %length = mul i32 %k, 2
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %lds_buffers = load i32, ptr addrspace(4) @ws.lds_buffers
  %prefetch = load i32, ptr addrspace(4) @ws.prefetch
  %split_k = load i32, ptr addrspace(4) @ws.split_k
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
  %pitch = add i32 %row_bytes, %lds_pad
  %at.b = mul i32 %tile_m, %pitch
  %rows = add i32 %tile_m, %tile_n
  %buffer.bytes = mul i32 %rows, %pitch
  %two.buffers = icmp eq i32 %lds_buffers, 2
  %one.buffer = icmp eq i32 %lds_buffers, 1

  ; steps of tile_k; this slice's are [first, limit)
  %steps.0 = add i32 %length, %row_bytes
  %steps.1 = add i32 %steps.0, -1
  %steps = udiv i32 %steps.1, %row_bytes
  %first.0 = mul i32 %steps, %slice
  %first = udiv i32 %first.0, %split_k
  %limit.0 = add i32 %slice, 1
  %limit.1 = mul i32 %steps, %limit.0
  %limit = udiv i32 %limit.1, %split_k
  %last = sub i32 %steps, 1

  ; the loop over steps is unrolled by `sets`, so that which registers a step has
  ; is known to the compiler
  %ahead.many = icmp ugt i32 %prefetch, 1
  %ahead.any = icmp ugt i32 %prefetch, 0
  %load.now = icmp eq i32 %prefetch, 0
  %sets = select i1 %ahead.many, i32 %prefetch, i32 1

  call void @zero(ptr addrspace(5) %running)
  br i1 %ahead.any, label %early.any.then, label %early.any.end
early.any.then:
  store i32 0, ptr addrspace(5) %early.slot
  br label %early.loop
early.loop:
  %early = load i32, ptr addrspace(5) %early.slot
  %early.step.0 = add i32 %first, %early
  %early.step = call i32 @llvm.umin.i32(i32 %early.step.0, i32 %last)
  %early.depth = mul i32 %early.step, %row_bytes
  %early.tile = mul i32 %early, 16
  %early.a = getelementptr <4 x i32>, ptr addrspace(5) %registers.a, i32 %early.tile
  %early.b = getelementptr <4 x i32>, ptr addrspace(5) %registers.b, i32 %early.tile
  call void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %tile.row, i32 %tile.column, i32 %m, i32 %n, i32 %length, i32 %early.depth, i32 %thread, i32 %wave, ptr addrspace(5) %early.a, ptr addrspace(5) %early.b)
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
  %exists = icmp ult i32 %now, %limit
  br i1 %exists, label %run, label %step.exit
run:
  %depth = mul i32 %now, %row_bytes
  %set.tile = mul i32 %phase, 16
  %now.a = getelementptr <4 x i32>, ptr addrspace(5) %registers.a, i32 %set.tile
  %now.b = getelementptr <4 x i32>, ptr addrspace(5) %registers.b, i32 %set.tile
  %unrolled = icmp ugt i32 %sets, 1
  %parity.0 = urem i32 %phase, 2
  %parity.1 = urem i32 %now, 2
  %parity = select i1 %unrolled, i32 %parity.0, i32 %parity.1
  %buffer.0 = mul i32 %parity, %buffer.bytes
  %buffer = select i1 %two.buffers, i32 %buffer.0, i32 0
  %lds.a = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %buffer
  %lds.b = getelementptr i8, ptr addrspace(3) %lds.a, i32 %at.b

  br i1 %load.now, label %late.then, label %late.end
late.then:
  call void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %tile.row, i32 %tile.column, i32 %m, i32 %n, i32 %length, i32 %depth, i32 %thread, i32 %wave, ptr addrspace(5) %now.a, ptr addrspace(5) %now.b)
  br label %late.end
late.end:

  br i1 %one.buffer, label %reuse.then, label %reuse.end
reuse.then:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() ; barrier: previous tile is read
  fence syncscope("workgroup") acquire
  br label %reuse.end
reuse.end:
  call void @store_tile(ptr addrspace(5) %now.a, ptr addrspace(5) %now.b, ptr addrspace(3) %lds.a, ptr addrspace(3) %lds.b, i32 %depth, i32 %length, i32 %thread)
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() ; barrier: tile is in LDS
  fence syncscope("workgroup") acquire

  br i1 %ahead.any, label %next.then, label %next.end
next.then:
  ; past the end, the last step again: loaded, never used
  %next.step.0 = add i32 %now, %prefetch
  %next.step = call i32 @llvm.umin.i32(i32 %next.step.0, i32 %last)
  %next.depth = mul i32 %next.step, %row_bytes
  call void @load_tile(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %tile.row, i32 %tile.column, i32 %m, i32 %n, i32 %length, i32 %next.depth, i32 %thread, i32 %wave, ptr addrspace(5) %now.a, ptr addrspace(5) %now.b)
  ; or the scheduler moves the loads down among the matrix instructions
  call void @llvm.amdgcn.sched.barrier(i32 1926)
  br label %next.end
next.end:

  call void @mma(ptr addrspace(3) %lds.a, ptr addrspace(3) %lds.b, i32 %wave.row, i32 %wave.column, ptr addrspace(5) %running, i32 %lane)
  call void @llvm.amdgcn.sched.barrier(i32 2047)
  %phase.next = add i32 %phase, 1
  store i32 %phase.next, ptr addrspace(5) %phase.slot
  %phase.more = icmp ult i32 %phase.next, %sets
  br i1 %phase.more, label %phase.loop, label %phase.exit, !llvm.loop !1
phase.exit:
  %step.next = add i32 %step, %sets
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
  %m64 = zext i32 %m to i64
  %n64 = zext i32 %n to i64
  %slice64 = zext i32 %slice to i64
  %slice.size = mul i64 %m64, %n64
  %slice.start = mul i64 %slice64, %slice.size
  %slice.at = getelementptr float, ptr addrspace(1) %workspace, i64 %slice.start
  call void @store_partials(ptr addrspace(5) %running, ptr addrspace(1) %slice.at, i32 %c.row, i32 %c.column, i32 %m, i32 %n, i32 %lane)
  br label %out.end
out.end:
  ret void
}

define amdgpu_kernel void @gemm_bf16_reduce(ptr addrspace(1) noalias readonly %workspace, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n) #2 {
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
  call void @reduce(ptr addrspace(1) %workspace, ptr addrspace(1) %c, i32 %element, i32 %count)
  br label %work.end
work.end:
  ret void
}

attributes #1 = { alwaysinline "target-cpu"="gfx942" }
attributes #2 = { "amdgpu-flat-work-group-size"="256,256" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
attributes #3 = { "target-cpu"="gfx942" "uniform-work-group-size"="true" }

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}

; unroll in full
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.unroll.full"}

!wavesmith.template = !{!3}
!3 = !{!"gemm_bf16_mfma", !"1", !"gemm_bf16", !"gfx942", !"Matrix instructions on tiles staged in LDS, sums in registers over all of k, split K."}

!wavesmith.param = !{!5, !6, !7, !8, !9, !10, !11, !12, !13, !14, !15, !17, !18, !19, !16, !20}
!5 = !{!"tile_m", !"ws.tile_m", !"16 32 64 128 256", !"rows of C per workgroup"}
!6 = !{!"tile_n", !"ws.tile_n", !"16 32 64 128 256", !"columns of C per workgroup"}
!7 = !{!"tile_k", !"ws.tile_k", !"16 32 64", !"depth staged in LDS at a time"}
!8 = !{!"waves_m", !"ws.waves_m", !"1 2 4 8", !"waves along m"}
!9 = !{!"waves_n", !"ws.waves_n", !"1 2 4 8", !"waves along n"}
!10 = !{!"mfma", !"ws.mfma", !"16 32", !"matrix instruction: 16 is 16x16x16, 32 is 32x32x8"}
!11 = !{!"lds_layout", !"ws.lds_layout", !"0 1 2", !"16-byte chunks of a row in LDS: 0 in order, 1 rotated by the row, 2 xor with the row"}
!12 = !{!"lds_pad", !"ws.lds_pad", !"0 8 16", !"unused bytes after each row in LDS"}
!13 = !{!"lds_read", !"ws.lds_read", !"8 16", !"bytes per lane and LDS read; 16 feeds two matrix instructions"}
!14 = !{!"lds_buffers", !"ws.lds_buffers", !"1 2", !"tiles in LDS at a time; 2 saves one barrier per step"}
!15 = !{!"prefetch", !"ws.prefetch", !"0 1 2", !"steps that global loads run ahead, held in registers"}
!17 = !{!"split_k", !"ws.split_k", !"1 2 4 8", !"slices of k that run in parallel, summed by a second kernel"}
!18 = !{!"order", !"ws.order", !"0 1 2", !"workgroup to tile: 0 row by row, 1 in bands of group_m tile rows, 2 the same within each XCD"}
!19 = !{!"group_m", !"ws.group_m", !"1 2 4 8 16", !"tile rows of a band"}
!16 = !{!"cut_k", !"ws.cut_k", !"0 1", !"1: the last step may be cut, at the cost of a comparison for each 16 bytes; 0: only k of whole steps"}
!20 = !{!"nontemporal", !"ws.nontemporal", !"0 1", !"1: stores of C bypass the caches"}

!wavesmith.require = !{!21, !22, !23, !24, !25, !26, !27, !28, !29, !30, !31, !32}
!21 = !{!"waves_m * waves_n <= 16", !"a workgroup has at most 1024 threads"}
!22 = !{!"tile_m % (waves_m * mfma) == 0", !"a wave's rows are whole matrix instructions"}
!23 = !{!"tile_n % (waves_n * mfma) == 0", !"a wave's columns are whole matrix instructions"}
!24 = !{!"64 / mfma * lds_read <= 2 * tile_k", !"the lanes of one LDS read span at most tile_k"}
!25 = !{!"cut_k == 1 || k % tile_k == 0", !"without cut_k k is whole steps"}
!26 = !{!"lds_read == 8 || lds_pad != 8", !"16-byte reads need rows aligned to 16"}
!27 = !{!"lds_layout == 0 || lds_pad == 0", !"permuted chunks take the place of padding"}
!28 = !{!"order == 0 ? group_m == 1 : order == 2 || group_m > 1", !"bands belong to orders 1 and 2"}
!29 = !{!"lds_buffers * (tile_m + tile_n) * (2 * tile_k + lds_pad) <= 65536", !"a workgroup has 64 KiB of LDS"}
!30 = !{!"tile_m * tile_n / (waves_m * waves_n) <= 16384", !"a lane holds at most 256 sums"}
!31 = !{!"ceildiv(max(tile_m, tile_n) * tile_k, 512 * waves_m * waves_n) <= 16", !"a thread holds at most 16 registers of 16 bytes of each operand's tile"}
!32 = !{!"tile_m * tile_n / (64 * waves_m * waves_n) + (tile_m / waves_m + tile_n / waves_n) / mfma * lds_read / 4 + 4 * max(prefetch, 1) * (ceildiv(tile_m * tile_k, 512 * waves_m * waves_n) + ceildiv(tile_n * tile_k, 512 * waves_m * waves_n)) <= (waves_m * waves_n <= 4 ? 400 : waves_m * waves_n <= 8 ? 200 : 88)", !"sums, fragments and tiles on their way leave too few of the 512 registers of a lane (256 with more than 4 waves, 128 with more than 8)"}

!wavesmith.lds = !{!33}
!33 = !{!"ws.lds", !"lds_buffers * (tile_m + tile_n) * (2 * tile_k + lds_pad)"}

!wavesmith.launch = !{!34, !35}
!34 = !{!"gemm_bf16_mfma", !"ceildiv(m, tile_m) * ceildiv(n, tile_n)", !"split_k", !"1", !"64 * waves_m * waves_n", !"1"}
!35 = !{!"gemm_bf16_reduce", !"ceildiv(m * n, 1024)", !"1", !"1", !"256", !"split_k > 1"}

!wavesmith.workspace = !{!36}
!36 = !{!"split_k > 1 ? 4 * split_k * m * n : 0"}

!wavesmith.region = !{!37, !38, !39, !40, !45, !46, !48, !49, !50, !51}
!37 = !{!"tile_order", !"Returns which tile of C workgroup number group makes, as (row of tiles, column of tiles). Must be a bijection: each of the tiles_m * tiles_n tiles exactly once for group = 0 .. tiles_m * tiles_n - 1, whatever these counts (1 included). Workgroups start in order of their number and go to the 8 XCDs in turn (number modulo 8); each XCD has an L2 of its own, so neighbours in time on one XCD should share rows of A or columns of B. Parameters order and group_m ask for a walk. Uniform; no memory, no barrier."}
!38 = !{!"lds_offset", !"Returns where in a tile the 16 bytes (row, k .. k+15) lie, k a number of bytes, a multiple of 16 below 2 * tile_k, row below tile_m or tile_n: a byte offset from the tile's start. One-to-one, and every chunk within tile rows * (2 * tile_k + lds_pad) bytes. Aligned to 16, or to 8 when lds_pad is 8. Called by all that write or read a tile, so any permutation is right; a good one spreads over the 32 banks of 4 bytes what one LDS instruction touches: ds_read_b64 16 consecutive lanes (rows r .. r+15, equal k), ds_read_b128 8 lanes in groups 0-3 and 20-23, 4-7 and 16-19, ... (rows 0-3 and 4-7 at neighbouring k), ds_write_b128 8 consecutive lanes (chunks of a row). No memory, no barrier."}
!39 = !{!"load_rows", !"Starts loading this thread's part of a tile of A or B: rows origin .. origin+rows-1, bytes depth .. depth+2*tile_k-1, of an operand with extent rows of length bytes. Which part is agreed with store_rows: chunk i of thread t is number i * threads + t, threads = 64 * waves_m * waves_n, of the tile's rows * tile_k / 8 chunks of 16 bytes, numbered along the rows. The bytes go to registers[i] (private memory of 16 slots of 16 bytes). Rows from extent on and, with cut_k, bytes from length on must not be read: take any row and chunk inside instead. origin < extent, depth < length; rows is tile_m or tile_n; all pointers 16-byte aligned, depth a multiple of 32, length of 16. wave = thread / 64, uniform. Called before the barriers of its tile, with prefetch one or two tiles ahead; do not wait for the data here. No LDS, no barrier."}
!40 = !{!"store_rows", !"Stores the chunks that load_rows left in registers to the tile in LDS, each at lds_offset(row, k), with the numbering of load_rows; every chunk of the tile exactly once, with cut_k zeros for those that lie at length or beyond, depth being where the tile begins. When rows * tile_k / 8 is not a multiple of the threads, some threads have one less. The caller has passed the barrier after which the tile may be overwritten, and will pass one before it is read. No barrier in here."}
!45 = !{!"read_fragments", !"Reads one window in k of the operands of this wave's matrix instructions from a tile in LDS: for i below count, row first + i * mfma + lane % mfma, lds_read bytes from k on (k differs between lanes by lane / mfma * lds_read), to fragments: with lds_read 8 one i64 at index i, with 16 two at 2 * i and 2 * i + 1. The tile's bytes are where lds_offset says, in chunks of 16. Called by mma only. No barrier."}
!46 = !{!"mma", !"Adds to running this wave's part of A tile times B tile: rows row_a .. row_a + tile_m/waves_m - 1 of tile a, rows row_b .. row_b + tile_n/waves_n - 1 of tile b (columns of C), all tile_k of k. Tiles are read through read_fragments or at lds_offset(row, k), 16 bytes each. running (private memory) holds the blocks of mfma x mfma elements of C, block (i, j) at index i * count_n + j in the matrix instruction's own layout: with 16x16x16 4 floats, row 4 * (lane / 16) + e, column lane % 16; with 32x32x8 16 floats, row 8 * (e / 4) + 4 * (lane / 32) + e % 4, column lane % 32. Operands of one instruction: lane l holds row l % mfma, 8 bytes (4 elements) of k; any assignment of k to lanes and instructions is right if A's and B's agree and each k is used once. All 64 lanes call it together between two barriers; lane = 0 .. 63, rows uniform. No barrier in here."}
!48 = !{!"round", !"Returns four fp32 values as the bits of bf16, rounded to nearest, ties to even; infinity stays infinity. Called by store_c and reduce. No memory, no barrier."}
!49 = !{!"store_c", !"Rounds running (layout of mma) with round and stores it: element (r, s) of the wave's part is C[row + r][column + s], C is [m][n], 2 bytes each, 16-byte aligned. Rows from m and columns from n on must not be written; m and n are multiples of 8, row and column of 16. Every other element of the wave's part must be. Parameter nontemporal asks for streaming stores. All lanes; only with split_k = 1."}
!50 = !{!"store_partials", !"With split_k > 1: stores running (layout of mma) as fp32 to this slice of the workspace, [m][n], 16-byte aligned, with the masks of store_c. Slices without work store their zeros too."}
!51 = !{!"reduce", !"With split_k > 1, in a kernel of its own: for 4 elements from element on (a multiple of 4 below count = m * n), adds the split_k slices of the workspace (slice z at workspace + z * count floats) in an order that depends on nothing else, applies round, and stores them to c. all pointers 16-byte aligned."}

!wavesmith.variant = !{!52, !53, !54, !55, !58, !59, !60}
!52 = !{!"tile_order", !"tile_order_snake", !"every other band backwards: the turn shares columns of B"}
!53 = !{!"tile_order", !"tile_order_columns", !"bands of group_m tile columns, walked along m: for large m and small n"}
!54 = !{!"mma", !"mma_priority", !"raises the wave's priority while it feeds the matrix unit"}
!55 = !{!"mma", !"mma_stationary", !"keeps B's fragments and reads A's block by block: fewer registers"}
!58 = !{!"round", !"round_integer", !"integer addition: two instructions per element instead of five, no care for NaN"}
!59 = !{!"store_c", !"store_c_pairs", !"neighbouring lanes swap halves: half as many stores, of 4 bytes"}
!60 = !{!"reduce", !"reduce_pairs", !"even and odd slices apart: half as long a chain of additions"}

!61 = !{i32 1}
