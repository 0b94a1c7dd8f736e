; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; fp8_gemm_mfma: fp8_gemm_blockscale with matrix instructions, tiles staged in
; LDS, two levels of accumulators.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.layout = internal addrspace(4) constant i32 0
@ws.tile_m = internal addrspace(4) constant i32 128
@ws.tile_n = internal addrspace(4) constant i32 128
@ws.tile_k = internal addrspace(4) constant i32 128
@ws.waves_m = internal addrspace(4) constant i32 2
@ws.waves_n = internal addrspace(4) constant i32 2
@ws.mfma = internal addrspace(4) constant i32 16
@ws.lds_pad = internal addrspace(4) constant i32 8

@ws.lds = internal addrspace(3) global [35344 x i8] poison, align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.s.barrier()
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64, i64, <4 x float>, i32 immarg, i32 immarg, i32 immarg)
declare <16 x float> @llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8(i64, i64, <16 x float>, i32 immarg, i32 immarg, i32 immarg)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare i32 @llvm.umin.i32(i32, i32)

; ---- region tile_order ------------------------------------------------------
define internal <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %tile.m = udiv i32 %group, %tiles_n
  %tile.n = urem i32 %group, %tiles_n
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; ---- region load_rows: kmajor, global -> registers --------------------------
define internal void @load_rows(ptr addrspace(1) %operand, i32 %origin, i32 %rows, i32 %extent, i32 %depth, i32 %length, i32 %thread, ptr addrspace(5) %registers) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %chunks = udiv i32 %tile_k, 16
  %total = mul i32 %rows, %chunks
  %threads.0 = mul i32 %waves_m, %waves_n
  %threads = mul i32 %threads.0, 64
  %count.0 = add i32 %total, %threads
  %count.1 = add i32 %count.0, -1
  %count = udiv i32 %count.1, %threads
  %spare = urem i32 %total, %threads
  %even = icmp eq i32 %spare, 0
  %origin64 = zext i32 %origin to i64
  %length64 = zext i32 %length to i64
  %depth64 = zext i32 %depth to i64
  %first = mul i64 %origin64, %length64
  %start = add i64 %first, %depth64
  %base = getelementptr i8, ptr addrspace(1) %operand, i64 %start
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  %chunk.any.0 = mul i32 %i, %threads
  %chunk.any = add i32 %chunk.any.0, %thread
  %chunk.last.0 = sub i32 %total, 1
  %chunk.last = call i32 @llvm.umin.i32(i32 %chunk.any, i32 %chunk.last.0)
  %chunk = select i1 %even, i32 %chunk.any, i32 %chunk.last
  %row = udiv i32 %chunk, %chunks
  %column.0 = urem i32 %chunk, %chunks
  %column = mul i32 %column.0, 16
  %row.any = add i32 %origin, %row
  %row.kept.0 = sub i32 %extent, 1
  %row.kept = call i32 @llvm.umin.i32(i32 %row.any, i32 %row.kept.0) ; global load mask: rows past the operand repeat its last
  %offset.0 = sub i32 %row.kept, %origin
  %offset.1 = mul i32 %offset.0, %length
  %offset = add i32 %offset.1, %column
    %offset64 = zext i32 %offset to i64
    %at = getelementptr i8, ptr addrspace(1) %base, i64 %offset64
    %value = load <4 x i32>, ptr addrspace(1) %at, align 16 ; 16-byte global load
    %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %i
    store <4 x i32> %value, ptr addrspace(5) %slot, align 16
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}

; ---- region lds_offset ------------------------------------------------------
define internal i32 @lds_offset(i32 %row, i32 %k) #1 {
entry:
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %pitch = add i32 %tile_k, %lds_pad
  %offset.0 = mul i32 %row, %pitch
  %offset = add i32 %offset.0, %k ; LDS offset
  ret i32 %offset
}

; ---- region store_rows: kmajor, registers -> LDS ----------------------------
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
  %spare = urem i32 %total, %threads
  %even = icmp eq i32 %spare, 0
  %narrow = icmp eq i32 %lds_pad, 8
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count
  br i1 %i.more, label %i.body, label %i.exit
i.body:
    %slot = getelementptr <4 x i32>, ptr addrspace(5) %registers, i32 %i
    %value = load <4 x i32>, ptr addrspace(5) %slot, align 16
  %chunk.0 = mul i32 %i, %threads
  %chunk = add i32 %chunk.0, %thread
  %exists = icmp ult i32 %chunk, %total
    %wanted = or i1 %even, %exists
  br i1 %wanted, label %write.then, label %write.end
write.then:
  %row = udiv i32 %chunk, %chunks
  %column.0 = urem i32 %chunk, %chunks
  %column = mul i32 %column.0, 16
      %offset = call i32 @lds_offset(i32 %row, i32 %column) ; LDS store offset
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
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}

; ---- region mma -------------------------------------------------------------
define internal void @mma(ptr addrspace(3) %a, ptr addrspace(3) %b, i32 %row_a, i32 %row_b, ptr addrspace(5) %partial, i32 %lane) #1 {
entry:
  %fragments.a = alloca [16 x i64], align 16, addrspace(5)
  %fragments.b = alloca [16 x i64], align 16, addrspace(5)
  %w.slot = alloca i32, addrspace(5)
  %i.slot = alloca i32, addrspace(5)
  %j.slot = alloca i32, addrspace(5)
  %p.slot = alloca i32, addrspace(5)
  %q.slot = alloca i32, addrspace(5)
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
  %lane.row = urem i32 %lane, %mfma
  %lane.k.0 = udiv i32 %lane, %mfma
  %lane.k = mul i32 %lane.k.0, 8
  %depth = udiv i32 512, %mfma
  %windows = udiv i32 %tile_k, %depth
  %small = icmp eq i32 %mfma, 16
  store i32 0, ptr addrspace(5) %w.slot
  br label %w.head
w.head:
  %w = load i32, ptr addrspace(5) %w.slot
  %w.more = icmp ult i32 %w, %windows
  br i1 %w.more, label %w.body, label %w.exit
w.body:
  %k.0 = mul i32 %w, %depth
  %k = add i32 %k.0, %lane.k
  %k.chunk = and i32 %k, 4294967280
  %k.rest = and i32 %k, 15
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count_m
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  %a.row.0 = mul i32 %i, %mfma
  %a.row.1 = add i32 %row_a, %a.row.0
  %a.row = add i32 %a.row.1, %lane.row
      %a.chunk = call i32 @lds_offset(i32 %a.row, i32 %k.chunk)
  %a.offset = add i32 %a.chunk, %k.rest
      %a.at = getelementptr i8, ptr addrspace(3) %a, i32 %a.offset
      %a.value = load i64, ptr addrspace(3) %a.at, align 8
      %a.slot = getelementptr i64, ptr addrspace(5) %fragments.a, i32 %i
      store i64 %a.value, ptr addrspace(5) %a.slot, align 8
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.head
j.head:
  %j = load i32, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j, %count_n
  br i1 %j.more, label %j.body, label %j.exit
j.body:
  %b.row.0 = mul i32 %j, %mfma
  %b.row.1 = add i32 %row_b, %b.row.0
  %b.row = add i32 %b.row.1, %lane.row
      %b.chunk = call i32 @lds_offset(i32 %b.row, i32 %k.chunk)
  %b.offset = add i32 %b.chunk, %k.rest
      %b.at = getelementptr i8, ptr addrspace(3) %b, i32 %b.offset
      %b.value = load i64, ptr addrspace(3) %b.at, align 8
      %b.slot = getelementptr i64, ptr addrspace(5) %fragments.b, i32 %j
      store i64 %b.value, ptr addrspace(5) %b.slot, align 8
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  br label %j.head, !llvm.loop !1
j.exit:
  store i32 0, ptr addrspace(5) %p.slot
  br label %p.head
p.head:
  %p = load i32, ptr addrspace(5) %p.slot
  %p.more = icmp ult i32 %p, %count_m
  br i1 %p.more, label %p.body, label %p.exit
p.body:
  store i32 0, ptr addrspace(5) %q.slot
  br label %q.head
q.head:
  %q = load i32, ptr addrspace(5) %q.slot
  %q.more = icmp ult i32 %q, %count_n
  br i1 %q.more, label %q.body, label %q.exit
q.body:
        %x.slot = getelementptr i64, ptr addrspace(5) %fragments.a, i32 %p
        %y.slot = getelementptr i64, ptr addrspace(5) %fragments.b, i32 %q
        %x = load i64, ptr addrspace(5) %x.slot, align 8
        %y = load i64, ptr addrspace(5) %y.slot, align 8
  %t.0 = mul i32 %p, %count_n
  %t = add i32 %t.0, %q
  br i1 %small, label %m16.then, label %m16.else
m16.then:
          %c16.at = getelementptr <4 x float>, ptr addrspace(5) %partial, i32 %t
          %c16 = load <4 x float>, ptr addrspace(5) %c16.at, align 16
          %d16 = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 %x, i64 %y, <4 x float> %c16, i32 0, i32 0, i32 0)
          store <4 x float> %d16, ptr addrspace(5) %c16.at, align 16
  br label %m16.end
m16.else:
          %c32.at = getelementptr <16 x float>, ptr addrspace(5) %partial, i32 %t
          %c32 = load <16 x float>, ptr addrspace(5) %c32.at, align 16
          %d32 = call <16 x float> @llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8(i64 %x, i64 %y, <16 x float> %c32, i32 0, i32 0, i32 0)
          store <16 x float> %d32, ptr addrspace(5) %c32.at, align 16
  br label %m16.end
m16.end:
  %q.next = add i32 %q, 1
  store i32 %q.next, ptr addrspace(5) %q.slot
  br label %q.head, !llvm.loop !1
q.exit:
  %p.next = add i32 %p, 1
  store i32 %p.next, ptr addrspace(5) %p.slot
  br label %p.head, !llvm.loop !1
p.exit:
  %w.next = add i32 %w, 1
  store i32 %w.next, ptr addrspace(5) %w.slot
  br label %w.head, !llvm.loop !1
w.exit:
  ret void
}

; ---- region scale -----------------------------------------------------------
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
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count_m
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.head
g.head:
  %g = load i32, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g, %quads
  br i1 %g.more, label %g.body, label %g.exit
g.body:
  %r.0 = mul i32 %i, %mfma
  %r.1 = add i32 %row, %r.0
  %r.2 = mul i32 %g, 8
  %r.3 = add i32 %r.1, %r.2
  %r = add i32 %r.3, %lane.row
      %as.at = getelementptr float, ptr addrspace(3) %a_scales, i32 %r
      %as = load <4 x float>, ptr addrspace(3) %as.at, align 16
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.head
j.head:
  %j = load i32, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j, %count_n
  br i1 %j.more, label %j.body, label %j.exit
j.body:
  %block.0 = mul i32 %j, %mfma
  %block.1 = add i32 %column, %block.0
  %block = udiv i32 %block.1, 128
        %bs.at = getelementptr float, ptr addrspace(3) %b_scales, i32 %block
        %bs = load float, ptr addrspace(3) %bs.at, align 4
        %bs.one = insertelement <4 x float> poison, float %bs, i32 0
        %bs.all = shufflevector <4 x float> %bs.one, <4 x float> poison, <4 x i32> zeroinitializer
        %factor = fmul <4 x float> %as, %bs.all
  %t.0 = mul i32 %i, %count_n
  %t.1 = add i32 %t.0, %j
  %t.2 = mul i32 %t.1, %quads
  %t = add i32 %t.2, %g
        %p.at = getelementptr <4 x float>, ptr addrspace(5) %partial, i32 %t
        %r.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %t
        %p = load <4 x float>, ptr addrspace(5) %p.at, align 16
        %sum = load <4 x float>, ptr addrspace(5) %r.at, align 16
        %sum.next = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %p, <4 x float> %factor, <4 x float> %sum)
        store <4 x float> %sum.next, ptr addrspace(5) %r.at, align 16
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  br label %j.head, !llvm.loop !1
j.exit:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  br label %g.head, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}

; ---- region store_c ---------------------------------------------------------
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
  %count_m.0 = udiv i32 %tile_m, %waves_m
  %count_m = udiv i32 %count_m.0, %mfma
  %count_n.0 = udiv i32 %tile_n, %waves_n
  %count_n = udiv i32 %count_n.0, %mfma
  %quads.0 = mul i32 %mfma, %mfma
  %quads = udiv i32 %quads.0, 256
  %lane.row.0 = udiv i32 %lane, %mfma
  %lane.row = mul i32 %lane.row.0, 4
  %lane.column = urem i32 %lane, %mfma
  %n64 = zext i32 %n to i64
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count_m
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  store i32 0, ptr addrspace(5) %g.slot
  br label %g.head
g.head:
  %g = load i32, ptr addrspace(5) %g.slot
  %g.more = icmp ult i32 %g, %quads
  br i1 %g.more, label %g.body, label %g.exit
g.body:
  store i32 0, ptr addrspace(5) %j.slot
  br label %j.head
j.head:
  %j = load i32, ptr addrspace(5) %j.slot
  %j.more = icmp ult i32 %j, %count_n
  br i1 %j.more, label %j.body, label %j.exit
j.body:
  %r.0 = mul i32 %i, %mfma
  %r.1 = add i32 %row, %r.0
  %r.2 = mul i32 %g, 8
  %r.3 = add i32 %r.1, %r.2
  %r = add i32 %r.3, %lane.row
  %s.0 = mul i32 %j, %mfma
  %s.1 = add i32 %column, %s.0
  %s = add i32 %s.1, %lane.column
  %inside.0 = icmp ult i32 %r, %m
  %inside.1 = icmp ult i32 %s, %n
  %inside = and i1 %inside.0, %inside.1 ; global store mask
  br i1 %inside, label %write.then, label %write.end
write.then:
  %t.0 = mul i32 %i, %count_n
  %t.1 = add i32 %t.0, %j
  %t.2 = mul i32 %t.1, %quads
  %t = add i32 %t.2, %g
          %sum.at = getelementptr <4 x float>, ptr addrspace(5) %running, i32 %t
          %sum = load <4 x float>, ptr addrspace(5) %sum.at, align 16
          %rounded = fptrunc <4 x float> %sum to <4 x bfloat>
  store i32 0, ptr addrspace(5) %e.slot
  br label %e.head
e.head:
  %e = load i32, ptr addrspace(5) %e.slot
  %e.more = icmp ult i32 %e, 4
  br i1 %e.more, label %e.body, label %e.exit
e.body:
  %re = add i32 %r, %e
            %re64 = zext i32 %re to i64
            %s64 = zext i32 %s to i64
            %line = mul i64 %re64, %n64
            %offset = add i64 %line, %s64
            %value = extractelement <4 x bfloat> %rounded, i32 %e
            %at = getelementptr bfloat, ptr addrspace(1) %c, i64 %offset
            store bfloat %value, ptr addrspace(1) %at, align 2
  %e.next = add i32 %e, 1
  store i32 %e.next, ptr addrspace(5) %e.slot
  br label %e.head, !llvm.loop !1
e.exit:
  br label %write.end
write.end:
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr addrspace(5) %j.slot
  br label %j.head, !llvm.loop !1
j.exit:
  %g.next = add i32 %g, 1
  store i32 %g.next, ptr addrspace(5) %g.slot
  br label %g.head, !llvm.loop !1
g.exit:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}

; ---- not rewritable: scales, zeroing ----------------------------------------
define internal void @zero(ptr addrspace(5) %accumulators) #1 {
entry:
  %i.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %count.0 = udiv i32 %tile_m, %waves_m
  %count.1 = mul i32 %count.0, %tile_n
  %count.2 = udiv i32 %count.1, %waves_n
  %count = udiv i32 %count.2, 256
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count
  br i1 %i.more, label %i.body, label %i.exit
i.body:
    %at = getelementptr <4 x float>, ptr addrspace(5) %accumulators, i32 %i
    store <4 x float> zeroinitializer, ptr addrspace(5) %at, align 16 ; accumulator zeroing
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}
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
  %last.row = sub i32 %m, 1
  %last.column.0 = sub i32 %n, 1
  %last.column = udiv i32 %last.column.0, 128
  %first.column = udiv i32 %column, 128
  %as.m64 = sext i32 %as_stride_m to i64
  %as.k64 = sext i32 %as_stride_k to i64
  %bs.n64 = sext i32 %bs_stride_n to i64
  %bs.k64 = sext i32 %bs_stride_k to i64
  %block64 = zext i32 %block to i64
  store i32 0, ptr addrspace(5) %i.slot
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  %element.any.0 = mul i32 %i, %threads
  %element.any = add i32 %element.any.0, %thread
  %element.0 = sub i32 %total, 1
  %element = call i32 @llvm.umin.i32(i32 %element.any, i32 %element.0)
  %of.a = icmp ult i32 %element, %tile_m
  %r.0 = add i32 %row, %element
  %r = call i32 @llvm.umin.i32(i32 %r.0, i32 %last.row)
  %s.0 = add i32 %first.column, %element
  %s.1 = sub i32 %s.0, %tile_m
  %s = call i32 @llvm.umin.i32(i32 %s.1, i32 %last.column)
    %index = select i1 %of.a, i32 %r, i32 %s
    %step.mn = select i1 %of.a, i64 %as.m64, i64 %bs.n64
    %step.k = select i1 %of.a, i64 %as.k64, i64 %bs.k64
    %base = select i1 %of.a, ptr addrspace(1) %as, ptr addrspace(1) %bs
    %index64 = zext i32 %index to i64
    %offset.mn = mul i64 %index64, %step.mn
    %offset.k = mul i64 %block64, %step.k
    %offset = add i64 %offset.mn, %offset.k
    %at = getelementptr float, ptr addrspace(1) %base, i64 %offset
    %value = load float, ptr addrspace(1) %at, align 4
    %slot = getelementptr float, ptr addrspace(5) %registers, i32 %i
    store float %value, ptr addrspace(5) %slot, align 4
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}
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
  br label %i.head
i.head:
  %i = load i32, ptr addrspace(5) %i.slot
  %i.more = icmp ult i32 %i, %count
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  %element.0 = mul i32 %i, %threads
  %element = add i32 %element.0, %thread
  %wanted = icmp ult i32 %element, %total
  br i1 %wanted, label %write.then, label %write.end
write.then:
      %slot = getelementptr float, ptr addrspace(5) %registers, i32 %i
      %value = load float, ptr addrspace(5) %slot, align 4
      %at = getelementptr float, ptr addrspace(3) %scales, i32 %element
      store float %value, ptr addrspace(3) %at, align 4
  br label %write.end
write.end:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr addrspace(5) %i.slot
  br label %i.head, !llvm.loop !1
i.exit:
  ret void
}

; ---- kernel -----------------------------------------------------------------
define amdgpu_kernel void @fp8_gemm_mfma(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) #0 {
entry:
  %running = alloca [32 x <4 x float>], align 16, addrspace(5)
  %partial = alloca [32 x <4 x float>], align 16, addrspace(5)
  %registers.a = alloca [16 x <4 x i32>], align 16, addrspace(5)
  %registers.b = alloca [16 x <4 x i32>], align 16, addrspace(5)
  %registers.s = alloca [8 x float], align 16, addrspace(5)
  %block.slot = alloca i32, addrspace(5)
  %sub.slot = alloca i32, addrspace(5)
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %tile_k = load i32, ptr addrspace(4) @ws.tile_k
  %waves_m = load i32, ptr addrspace(4) @ws.waves_m
  %waves_n = load i32, ptr addrspace(4) @ws.waves_n
  %lds_pad = load i32, ptr addrspace(4) @ws.lds_pad
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = and i32 %thread, 63
  %wave.any = lshr i32 %thread, 6
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %wave.any)
  %wave.m = udiv i32 %wave, %waves_n
  %wave.n = urem i32 %wave, %waves_n
  %tiles_m.0 = add i32 %m, %tile_m
  %tiles_m.1 = add i32 %tiles_m.0, -1
  %tiles_m = udiv i32 %tiles_m.1, %tile_m
  %tiles_n.0 = add i32 %n, %tile_n
  %tiles_n.1 = add i32 %tiles_n.0, -1
  %tiles_n = udiv i32 %tiles_n.1, %tile_n
  %tile = call <2 x i32> @tile_order(i32 %group, i32 %tiles_m, i32 %tiles_n)
  %tile.m = extractelement <2 x i32> %tile, i32 0
  %tile.n = extractelement <2 x i32> %tile, i32 1
  %m0 = mul i32 %tile.m, %tile_m
  %n0 = mul i32 %tile.n, %tile_n
  %wave.row.0 = udiv i32 %tile_m, %waves_m
  %wave.row = mul i32 %wave.m, %wave.row.0
  %wave.column.0 = udiv i32 %tile_n, %waves_n
  %wave.column = mul i32 %wave.n, %wave.column.0
  %pitch = add i32 %tile_k, %lds_pad
  %bytes.a = mul i32 %tile_m, %pitch
  %bytes.b = mul i32 %tile_n, %pitch
  %at.scales = add i32 %bytes.a, %bytes.b
  %lds.b = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %bytes.a
  %lds.as = getelementptr i8, ptr addrspace(3) @ws.lds, i32 %at.scales
  %lds.bs = getelementptr float, ptr addrspace(3) %lds.as, i32 %tile_m
  %blocks = udiv i32 %k, 128
  %substeps = udiv i32 128, %tile_k
  call void @zero(ptr addrspace(5) %running)
  store i32 0, ptr addrspace(5) %block.slot
  br label %block.head
block.head:
  %block = load i32, ptr addrspace(5) %block.slot
  %block.more = icmp ult i32 %block, %blocks
  br i1 %block.more, label %block.body, label %block.exit
block.body:
  call void @zero(ptr addrspace(5) %partial)
  store i32 0, ptr addrspace(5) %sub.slot
  br label %sub.head
sub.head:
  %sub = load i32, ptr addrspace(5) %sub.slot
  %sub.more = icmp ult i32 %sub, %substeps
  br i1 %sub.more, label %sub.body, label %sub.exit
sub.body:
  %depth.0 = mul i32 %block, 128
  %depth.1 = mul i32 %sub, %tile_k
  %depth = add i32 %depth.0, %depth.1
  %is.last.0 = add i32 %sub, 1
  %is.last = icmp eq i32 %is.last.0, %substeps
    call void @load_rows(ptr addrspace(1) %a, i32 %m0, i32 %tile_m, i32 %m, i32 %depth, i32 %k, i32 %thread, ptr addrspace(5) %registers.a)
    call void @load_rows(ptr addrspace(1) %b, i32 %n0, i32 %tile_n, i32 %n, i32 %depth, i32 %k, i32 %thread, ptr addrspace(5) %registers.b)
  br i1 %is.last, label %scales.in.then, label %scales.in.end
scales.in.then:
      call void @load_scales(ptr addrspace(1) %as, ptr addrspace(1) %bs, i32 %m0, i32 %n0, i32 %block, i32 %m, i32 %n, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %thread, ptr addrspace(5) %registers.s)
  br label %scales.in.end
scales.in.end:
    fence syncscope("workgroup") release
    call void @llvm.amdgcn.s.barrier() ; barrier: previous tile is read
    fence syncscope("workgroup") acquire
    call void @store_rows(ptr addrspace(5) %registers.a, ptr addrspace(3) @ws.lds, i32 %tile_m, i32 %thread)
    call void @store_rows(ptr addrspace(5) %registers.b, ptr addrspace(3) %lds.b, i32 %tile_n, i32 %thread)
  br i1 %is.last, label %scales.out.then, label %scales.out.end
scales.out.then:
      call void @store_scales(ptr addrspace(5) %registers.s, ptr addrspace(3) %lds.as, i32 %thread)
  br label %scales.out.end
scales.out.end:
    fence syncscope("workgroup") release
    call void @llvm.amdgcn.s.barrier() ; barrier: tile is in LDS
    fence syncscope("workgroup") acquire
    call void @mma(ptr addrspace(3) @ws.lds, ptr addrspace(3) %lds.b, i32 %wave.row, i32 %wave.column, ptr addrspace(5) %partial, i32 %lane)
  %sub.next = add i32 %sub, 1
  store i32 %sub.next, ptr addrspace(5) %sub.slot
  br label %sub.head, !llvm.loop !1
sub.exit:
  call void @scale(ptr addrspace(5) %running, ptr addrspace(5) %partial, ptr addrspace(3) %lds.as, ptr addrspace(3) %lds.bs, i32 %wave.row, i32 %wave.column, i32 %lane)
  %block.next = add i32 %block, 1
  store i32 %block.next, ptr addrspace(5) %block.slot
  br label %block.head
block.exit:
  %c.row = add i32 %m0, %wave.row
  %c.column = add i32 %n0, %wave.column
  call void @store_c(ptr addrspace(5) %running, ptr addrspace(1) %c, i32 %c.row, i32 %c.column, i32 %m, i32 %n, i32 %lane)
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="256,256" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline "target-cpu"="gfx942" }

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}

; every loop: unroll it, so that its private arrays become registers
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.unroll.full"}

!wavesmith.template = !{!3}
!3 = !{!"fp8_gemm_mfma", !"1", !"fp8_gemm_blockscale", !"gfx942", !"Matrix instructions on tiles staged in LDS."}

!wavesmith.param = !{!4, !5, !6, !7, !8, !9, !10, !11}
!4 = !{!"layout", !"ws.layout", !"0", !"layout of a and b: 0 kmajor"}
!5 = !{!"tile_m", !"ws.tile_m", !"16 32 64 128 256", !"rows of C per workgroup"}
!6 = !{!"tile_n", !"ws.tile_n", !"16 32 64 128 256", !"columns of C per workgroup"}
!7 = !{!"tile_k", !"ws.tile_k", !"32 64 128", !"depth staged in LDS at a time"}
!8 = !{!"waves_m", !"ws.waves_m", !"1 2 4 8", !"waves along m"}
!9 = !{!"waves_n", !"ws.waves_n", !"1 2 4 8", !"waves along n"}
!10 = !{!"mfma", !"ws.mfma", !"16 32", !"matrix instruction: 16x16x32 or 32x32x16"}
!11 = !{!"lds_pad", !"ws.lds_pad", !"0 8 16", !"bytes between rows of a tile in LDS"}

!wavesmith.require = !{!12, !13, !14, !15, !16, !17}
!12 = !{!"waves_m * waves_n <= 16", !"a workgroup has at most 1024 threads"}
!13 = !{!"tile_m % (waves_m * mfma) == 0", !"a wave's rows are whole matrix instructions"}
!14 = !{!"tile_n % (waves_n * mfma) == 0", !"a wave's columns are whole matrix instructions"}
!15 = !{!"tile_m * tile_n / (waves_m * waves_n) <= 8192", !"both accumulators of a lane fit its registers"}
!16 = !{!"ceildiv(max(tile_m, tile_n) * tile_k, 1024 * waves_m * waves_n) <= 16", !"a tile on its way to LDS fits 16 16-byte registers of each thread"}
!17 = !{!"(tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16 <= 65536", !"LDS has 64 KiB"}

!wavesmith.lds = !{!18}
!18 = !{!"ws.lds", !"(tile_m + tile_n) * (tile_k + lds_pad) + 4 * tile_m + 16"}

!wavesmith.launch = !{!19}
!19 = !{!"fp8_gemm_mfma", !"ceildiv(m, tile_m) * ceildiv(n, tile_n)", !"1", !"1", !"64 * waves_m * waves_n", !"1"}

!wavesmith.region = !{!20, !21, !22, !23, !24, !25, !26}
!20 = !{!"tile_order", !"todo"}
!21 = !{!"load_rows", !"todo"}
!22 = !{!"lds_offset", !"todo"}
!23 = !{!"store_rows", !"todo"}
!24 = !{!"mma", !"todo"}
!25 = !{!"scale", !"todo"}
!26 = !{!"store_c", !"todo"}
