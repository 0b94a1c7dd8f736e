; A small template for sm_90a, for tests of the pass: one wgmma tile from tensor
; maps, in two software-pipelined sets of sums. It uses argument names of
; fp8_gemm_blockscale so that roles are known, and computes nothing of that
; problem.
target triple = "nvptx64-nvidia-cuda"

@ws.columns = internal addrspace(4) constant i32 64   ; parameter
@ws.sets = internal addrspace(4) constant i32 2
@ws.lds = external addrspace(3) global [0 x i8], align 1024

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare float @llvm.fma.f32(float, float, float)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1, i1, i32)
declare void @ws.wgmma.e4m3.k128(ptr, i64, i64, i32)
declare void @ws.wgmma.wait(ptr, i32, i32)

define internal void @barrier_init(i32 %barrier) alwaysinline {
  call void asm sideeffect "mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}"(i32 %barrier) convergent nounwind
  ret void
}

define internal void @barrier_expect(i32 %barrier, i32 %bytes) alwaysinline {
  call void asm sideeffect "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"(i32 %barrier, i32 %bytes) convergent nounwind
  ret void
}

define internal void @barrier_wait(i32 %barrier, i32 %phase) alwaysinline {
  call void asm sideeffect "{\0A.reg .pred p;\0AWL:\0Ambarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\0A@p bra DN;\0Abra WL;\0ADN:\0A}", "r,r,~{memory}"(i32 %barrier, i32 %phase) convergent nounwind
  ret void
}

; the descriptor of a 128-byte swizzled tile
define internal i64 @descriptor(i32 %address) alwaysinline {
  %units = lshr i32 %address, 4
  %low = zext i32 %units to i64
  %all = or i64 %low, 4611686293305360384
  ret i64 %all
}

; region: sums += partial * scale
define internal void @accumulate(ptr %sums, ptr %partial, float %scale) alwaysinline {
entry:
  %counter = alloca i32, align 4
  store i32 0, ptr %counter, align 4
  br label %head
head:
  %i = load i32, ptr %counter, align 4
  %columns = load i32, ptr addrspace(4) @ws.columns, align 4
  %count = lshr i32 %columns, 1
  %more = icmp ult i32 %i, %count
  br i1 %more, label %body, label %done
body:
  %sum.at = getelementptr float, ptr %sums, i32 %i
  %partial.at = getelementptr float, ptr %partial, i32 %i
  %old = load float, ptr %sum.at, align 4
  %new = load float, ptr %partial.at, align 4
  %sum = call float @llvm.fma.f32(float %new, float %scale, float %old)
  store float %sum, ptr %sum.at, align 4
  %next = add i32 %i, 1
  store i32 %next, ptr %counter, align 4
  br label %head, !llvm.loop !20
done:
  ret void
}

define internal void @clear(ptr %sums) alwaysinline {
  call void @llvm.memset.p0.i64(ptr %sums, i8 0, i64 512, i1 false)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @store_sums(ptr addrspace(1) %to, ptr %sums) alwaysinline {
entry:
  %counter = alloca i32, align 4
  store i32 0, ptr %counter, align 4
  br label %head
head:
  %i = load i32, ptr %counter, align 4
  %columns = load i32, ptr addrspace(4) @ws.columns, align 4
  %count = lshr i32 %columns, 1
  %more = icmp ult i32 %i, %count
  br i1 %more, label %body, label %done
body:
  %sum.at = getelementptr float, ptr %sums, i32 %i
  %sum = load float, ptr %sum.at, align 4
  %narrow = fptrunc float %sum to bfloat
  %to.at = getelementptr bfloat, ptr addrspace(1) %to, i32 %i
  store bfloat %narrow, ptr addrspace(1) %to.at, align 2
  %next = add i32 %i, 1
  store i32 %next, ptr %counter, align 4
  br label %head, !llvm.loop !20
done:
  ret void
}

define ptx_kernel void @tiny(ptr byval([128 x i8]) align 64 %a_map, ptr byval([128 x i8]) align 64 %b_map, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias %c, i32 %m, i32 %k) {
entry:
  %sums = alloca [128 x float], align 16
  %even = alloca [128 x float], align 16
  %odd = alloca [128 x float], align 16
  %item = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %columns = load i32, ptr addrspace(4) @ws.columns, align 4
  %sets = load i32, ptr addrspace(4) @ws.sets, align 4
  %two = icmp eq i32 %sets, 2
  %lds = ptrtoint ptr addrspace(3) @ws.lds to i32
  %barrier = add i32 %lds, 49152
  %b.at = add i32 %lds, 8192
  %barrier.shared = inttoptr i32 %barrier to ptr addrspace(3)
  %a.cluster = inttoptr i32 %lds to ptr addrspace(7)
  %b.cluster = inttoptr i32 %b.at to ptr addrspace(7)
  %first = icmp eq i32 %item, 0
  call void @clear(ptr %sums)
  br i1 %first, label %load, label %wait
load:
  call void @barrier_init(i32 %barrier)
  call void @barrier_expect(i32 %barrier, i32 16384)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %a.cluster, ptr addrspace(3) %barrier.shared, ptr %a_map, i32 0, i32 0, i16 0, i64 0, i1 false, i1 false, i32 0)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %b.cluster, ptr addrspace(3) %barrier.shared, ptr %b_map, i32 0, i32 0, i16 0, i64 0, i1 false, i1 false, i32 0)
  br label %wait
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @barrier_wait(i32 %barrier, i32 0)
  %a.desc = call i64 @descriptor(i32 %lds)
  %b.desc = call i64 @descriptor(i32 %b.at)
  br i1 %two, label %pipelined, label %serial

; one set: issue, wait, add
serial:
  %s = phi i32 [ 0, %wait ], [ %s.next, %serial ]
  %s.scale.at = getelementptr float, ptr addrspace(1) %as, i32 %s
  %s.scale = load float, ptr addrspace(1) %s.scale.at, align 4
  call void @ws.wgmma.e4m3.k128(ptr %even, i64 %a.desc, i64 %b.desc, i32 %columns)
  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 0)
  call void @accumulate(ptr %sums, ptr %even, float %s.scale)
  %s.next = add i32 %s, 1
  %s.more = icmp slt i32 %s.next, %k
  br i1 %s.more, label %serial, label %store

; two sets: the next is issued before the one before it is added
pipelined:
  call void @ws.wgmma.e4m3.k128(ptr %even, i64 %a.desc, i64 %b.desc, i32 %columns)
  br label %head
head:
  %i = phi i32 [ 1, %pipelined ], [ %i.next, %add.odd ]
  %scale.at = getelementptr float, ptr addrspace(1) %as, i32 %i
  %scale = load float, ptr addrspace(1) %scale.at, align 4
  %has.odd = icmp slt i32 %i, %k
  br i1 %has.odd, label %issue.odd, label %last.even
issue.odd:
  call void @ws.wgmma.e4m3.k128(ptr %odd, i64 %a.desc, i64 %b.desc, i32 %columns)
  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 1)
  call void @accumulate(ptr %sums, ptr %even, float %scale)
  %i.odd = add i32 %i, 1
  %has.even = icmp slt i32 %i.odd, %k
  br i1 %has.even, label %add.odd, label %last.odd
add.odd:
  call void @ws.wgmma.e4m3.k128(ptr %even, i64 %a.desc, i64 %b.desc, i32 %columns)
  call void @ws.wgmma.wait(ptr %odd, i32 %columns, i32 1)
  call void @accumulate(ptr %sums, ptr %odd, float %scale)
  %i.next = add i32 %i, 2
  br label %head
last.odd:
  call void @ws.wgmma.wait(ptr %odd, i32 %columns, i32 0)
  call void @accumulate(ptr %sums, ptr %odd, float %scale)
  br label %store
last.even:
  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 0)
  call void @accumulate(ptr %sums, ptr %even, float %scale)
  br label %store

store:
  %row = mul i32 %group, 64
  %place = add i32 %row, %item
  %inside = icmp slt i32 %place, %m
  br i1 %inside, label %write, label %end
write:
  %offset = mul i32 %place, 128
  %to = getelementptr bfloat, ptr addrspace(1) %c, i32 %offset
  call void @store_sums(ptr addrspace(1) %to, ptr %sums)
  br label %end
end:
  ret void
}

!wavesmith.template = !{!0}
!wavesmith.param = !{!1, !2}
!wavesmith.lds = !{!4}
!wavesmith.launch = !{!5}
!wavesmith.occupancy = !{!6}
!wavesmith.tensor_map = !{!7, !8}
!wavesmith.region = !{!9}

!0 = !{!"tiny_sm90", !"1", !"fp8_gemm_blockscale", !"sm_90a", !"one wgmma tile, for tests"}
!1 = !{!"columns", !"ws.columns", !"32 64 96 128", !"columns of the tile"}
!2 = !{!"sets", !"ws.sets", !"1 2", !"sets of partial sums"}
!4 = !{!"ws.lds", !"49152 + 64"}
!5 = !{!"tiny", !"ceildiv(m, 64)", !"1", !"1", !"128", !"1"}
!6 = !{!"tiny", !"1", !"1"}
!7 = !{!"a_map", !"a", !"u8", !"k", !"m", !"128", !"64", !"128"}
!8 = !{!"b_map", !"b", !"u8", !"k", !"n", !"128", !"columns", !"128"}
!9 = !{!"accumulate", !"sums[i] += partial[i] * scale"}

!20 = distinct !{!20, !21}
!21 = !{!"llvm.loop.unroll.full"}
