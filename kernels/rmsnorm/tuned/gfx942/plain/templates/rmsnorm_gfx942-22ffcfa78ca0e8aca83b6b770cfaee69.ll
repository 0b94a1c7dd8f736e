; rmsnorm for gfx942: a workgroup a row. Each lane takes 8 neighbouring columns
; at a time (16 bytes), `threads` lanes side by side. The first `keep` vectors of
; a lane stay in registers between the sum of squares and the result; what is
; beyond them is read again, from L2. The sum goes through a wave by lane
; exchange and through LDS between waves.
;
; Instructions per vector of 8: 3 loads, 2 stores of 16 bytes, some 40 VALU.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.threads = internal addrspace(4) constant i32 256
@ws.keep = internal addrspace(4) constant i32 2
@ws.partial = internal addrspace(3) global [64 x i8] poison, align 16

; ---- regions -------------------------------------------------------------

; x + residual, 8 columns.
define internal <8 x float> @add8(ptr addrspace(1) %x, ptr addrspace(1) %residual) alwaysinline {
  %a = load <8 x bfloat>, ptr addrspace(1) %x, align 16
  %b = load <8 x bfloat>, ptr addrspace(1) %residual, align 16
  %a.wide = fpext <8 x bfloat> %a to <8 x float>
  %b.wide = fpext <8 x bfloat> %b to <8 x float>
  %sum = fadd <8 x float> %a.wide, %b.wide
  ret <8 x float> %sum
}

define internal void @store8(ptr addrspace(1) %to, <8 x float> %values) alwaysinline {
  %short = fptrunc <8 x float> %values to <8 x bfloat>
  store <8 x bfloat> %short, ptr addrspace(1) %to, align 16
  ret void
}

define internal void @store8_nontemporal(ptr addrspace(1) %to, <8 x float> %values) alwaysinline {
  %short = fptrunc <8 x float> %values to <8 x bfloat>
  store <8 x bfloat> %short, ptr addrspace(1) %to, align 16, !nontemporal !20
  ret void
}

; The sum over the lanes of a wave, in all of them.
define internal float @wave_sum(float %value, i32 %lane) alwaysinline {
  %v0 = call float @exchange(float %value, i32 %lane, i32 32)
  %v1 = call float @exchange(float %v0, i32 %lane, i32 16)
  %v2 = call float @exchange(float %v1, i32 %lane, i32 8)
  %v3 = call float @exchange(float %v2, i32 %lane, i32 4)
  %v4 = call float @exchange(float %v3, i32 %lane, i32 2)
  %v5 = call float @exchange(float %v4, i32 %lane, i32 1)
  ret float %v5
}

; ---- parts ---------------------------------------------------------------

define internal float @exchange(float %value, i32 %lane, i32 %distance) alwaysinline {
  %other.lane = xor i32 %lane, %distance
  %address = shl i32 %other.lane, 2
  %bits = bitcast float %value to i32
  %other.bits = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %bits)
  %other = bitcast i32 %other.bits to float
  %sum = fadd float %value, %other
  ret float %sum
}

define internal float @squares8(<8 x float> %values) alwaysinline {
  %products = fmul <8 x float> %values, %values
  %sum = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.0, <8 x float> %products)
  ret float %sum
}

; The sum over all lanes of the workgroup.
define internal float @group_sum(float %value, i32 %lane, i32 %threads) alwaysinline {
entry:
  %lane.in.wave = and i32 %lane, 63
  %wave = lshr i32 %lane, 6
  %own = call float @wave_sum(float %value, i32 %lane.in.wave)
  %waves = lshr i32 %threads, 6
  %several = icmp ugt i32 %waves, 1
  br i1 %several, label %share, label %end
share:
  %first = icmp eq i32 %lane.in.wave, 0
  br i1 %first, label %put, label %wait
put:
  %at = getelementptr float, ptr addrspace(3) @ws.partial, i32 %wave
  store float %own, ptr addrspace(3) %at, align 4
  br label %wait
wait:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  br label %add
add:
  %i = phi i32 [ 0, %wait ], [ %i.next, %add ]
  %sum = phi float [ 0.0, %wait ], [ %sum.next, %add ]
  %from = getelementptr float, ptr addrspace(3) @ws.partial, i32 %i
  %part = load float, ptr addrspace(3) %from, align 4
  %sum.next = fadd float %sum, %part
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %waves
  br i1 %more, label %add, label %end, !llvm.loop !21
end:
  %total = phi float [ %own, %entry ], [ %sum.next, %add ]
  ret float %total
}

define internal void @write8(ptr addrspace(1) %y, ptr addrspace(1) %weight, <8 x float> %values, float %factor) alwaysinline {
  %w = load <8 x bfloat>, ptr addrspace(1) %weight, align 16
  %w.wide = fpext <8 x bfloat> %w to <8 x float>
  %one = insertelement <8 x float> poison, float %factor, i32 0
  %factors = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %scaled = fmul <8 x float> %values, %factors
  %result = fmul <8 x float> %scaled, %w.wide
  call void @store8(ptr addrspace(1) %y, <8 x float> %result)
  ret void
}

; ---- the kernel ----------------------------------------------------------

define amdgpu_kernel void @rmsnorm(ptr addrspace(1) %x, ptr addrspace(1) %residual, ptr addrspace(1) %weight, ptr addrspace(1) %sum, ptr addrspace(1) %y, i32 %rows, i32 %cols, float %eps) {
entry:
  %kept = alloca [16 x <8 x float>], align 32, addrspace(5)
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %row = call i32 @llvm.amdgcn.workgroup.id.x()
  %threads = load i32, ptr addrspace(4) @ws.threads
  %keep = load i32, ptr addrspace(4) @ws.keep
  %row.wide = zext i32 %row to i64
  %cols.wide = zext i32 %cols to i64
  %first = mul i64 %row.wide, %cols.wide
  %x.row = getelementptr bfloat, ptr addrspace(1) %x, i64 %first
  %residual.row = getelementptr bfloat, ptr addrspace(1) %residual, i64 %first
  %sum.row = getelementptr bfloat, ptr addrspace(1) %sum, i64 %first
  %y.row = getelementptr bfloat, ptr addrspace(1) %y, i64 %first
  %start = shl i32 %lane, 3
  %stride = shl i32 %threads, 3
  br label %read
read:
  %i = phi i32 [ 0, %entry ], [ %i.next, %read.end ]
  %c = phi i32 [ %start, %entry ], [ %c.next, %read.end ]
  %squares = phi float [ 0.0, %entry ], [ %squares.next, %read.end ]
  %slot = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %i
  %inside = icmp ult i32 %c, %cols
  br i1 %inside, label %read.one, label %read.none
read.one:
  %c.wide = zext i32 %c to i64
  %x.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %c.wide
  %residual.at = getelementptr bfloat, ptr addrspace(1) %residual.row, i64 %c.wide
  %sum.at = getelementptr bfloat, ptr addrspace(1) %sum.row, i64 %c.wide
  %values = call <8 x float> @add8(ptr addrspace(1) %x.at, ptr addrspace(1) %residual.at)
  call void @store8(ptr addrspace(1) %sum.at, <8 x float> %values)
  store <8 x float> %values, ptr addrspace(5) %slot, align 32
  %own = call float @squares8(<8 x float> %values)
  br label %read.end
read.none:
  store <8 x float> zeroinitializer, ptr addrspace(5) %slot, align 32
  br label %read.end
read.end:
  %more.squares = phi float [ %own, %read.one ], [ 0.0, %read.none ]
  %squares.next = fadd float %squares, %more.squares
  %c.next = add i32 %c, %stride
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %keep
  br i1 %more, label %read, label %rest, !llvm.loop !21
rest:
  %r = phi i32 [ %c.next, %read.end ], [ %r.next, %rest.one ]
  %rest.squares = phi float [ %squares.next, %read.end ], [ %rest.squares.next, %rest.one ]
  %rest.inside = icmp ult i32 %r, %cols
  br i1 %rest.inside, label %rest.one, label %reduce
rest.one:
  %r.wide = zext i32 %r to i64
  %rx.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %r.wide
  %rr.at = getelementptr bfloat, ptr addrspace(1) %residual.row, i64 %r.wide
  %rs.at = getelementptr bfloat, ptr addrspace(1) %sum.row, i64 %r.wide
  %rest.values = call <8 x float> @add8(ptr addrspace(1) %rx.at, ptr addrspace(1) %rr.at)
  call void @store8(ptr addrspace(1) %rs.at, <8 x float> %rest.values)
  %rest.own = call float @squares8(<8 x float> %rest.values)
  %rest.squares.next = fadd float %rest.squares, %rest.own
  %r.next = add i32 %r, %stride
  br label %rest
reduce:
  %total = call float @group_sum(float %rest.squares, i32 %lane, i32 %threads)
  %count = uitofp i32 %cols to float
  %mean = fdiv float %total, %count
  %mean.eps = fadd float %mean, %eps
  %root = call float @llvm.sqrt.f32(float %mean.eps)
  %factor = fdiv float 1.0, %root
  br label %write
write:
  %j = phi i32 [ 0, %reduce ], [ %j.next, %write.end ]
  %d = phi i32 [ %start, %reduce ], [ %d.next, %write.end ]
  %write.inside = icmp ult i32 %d, %cols
  br i1 %write.inside, label %write.one, label %write.end
write.one:
  %d.wide = zext i32 %d to i64
  %from = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %j
  %again = load <8 x float>, ptr addrspace(5) %from, align 32
  %w.at = getelementptr bfloat, ptr addrspace(1) %weight, i64 %d.wide
  %y.at = getelementptr bfloat, ptr addrspace(1) %y.row, i64 %d.wide
  call void @write8(ptr addrspace(1) %y.at, ptr addrspace(1) %w.at, <8 x float> %again, float %factor)
  br label %write.end
write.end:
  %d.next = add i32 %d, %stride
  %j.next = add i32 %j, 1
  %write.more = icmp ult i32 %j.next, %keep
  br i1 %write.more, label %write, label %last, !llvm.loop !21
last:
  %e = phi i32 [ %d.next, %write.end ], [ %e.next, %last.one ]
  %last.inside = icmp ult i32 %e, %cols
  br i1 %last.inside, label %last.one, label %end
last.one:
  %e.wide = zext i32 %e to i64
  %ex.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %e.wide
  %er.at = getelementptr bfloat, ptr addrspace(1) %residual.row, i64 %e.wide
  %ew.at = getelementptr bfloat, ptr addrspace(1) %weight, i64 %e.wide
  %ey.at = getelementptr bfloat, ptr addrspace(1) %y.row, i64 %e.wide
  %last.values = call <8 x float> @add8(ptr addrspace(1) %ex.at, ptr addrspace(1) %er.at)
  call void @write8(ptr addrspace(1) %ey.at, ptr addrspace(1) %ew.at, <8 x float> %last.values, float %factor)
  %e.next = add i32 %e, %stride
  br label %last
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare void @llvm.amdgcn.s.barrier()
declare float @llvm.sqrt.f32(float)
declare float @llvm.vector.reduce.fadd.v8f32(float, <8 x float>)

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1, !2}
!wavesmith.launch   = !{!3}
!wavesmith.lds      = !{!4}
!wavesmith.region   = !{!5, !6, !7}
!wavesmith.variant  = !{!8}
!llvm.module.flags  = !{!9}
!0 = !{!"rmsnorm_gfx942", !"1", !"rmsnorm", !"gfx942", !"a workgroup a row, 16 bytes a lane"}
!1 = !{!"threads", !"ws.threads", !"64 128 256 512 1024", !"lanes of a workgroup, which works on one row"}
!2 = !{!"keep", !"ws.keep", !"1 2 3 4 6 8", !"vectors of 8 columns that a lane keeps in registers"}
!3 = !{!"rmsnorm", !"rows", !"1", !"1", !"threads", !"1"}
!4 = !{!"ws.partial", !"64"}
!5 = !{!"add8", !"Returns x + residual of 8 columns in f32. Both pointers are multiples of 16 bytes; called by some lanes; reads those 16 bytes of each, no other memory, no barrier."}
!6 = !{!"store8", !"Stores 8 values rounded to nearest bf16 at a multiple of 16 bytes. Called by some lanes; no other memory, no barrier."}
!7 = !{!"wave_sum", !"Returns the sum of value over the 64 lanes of a wave, in each of them; lane is 0 to 63. Called by all lanes of a wave; no memory, no barrier."}
!8 = !{!"store8", !"store8_nontemporal", !"past the caches: what is written is not read again"}
!9 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!20 = !{i32 1}
!21 = distinct !{!21, !22}
!22 = !{!"llvm.loop.unroll.full"}
