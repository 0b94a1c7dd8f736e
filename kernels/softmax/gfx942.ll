; softmax for gfx942: a workgroup a row. Each lane takes 8 neighbouring columns
; at a time (16 bytes), `threads` lanes side by side. The first `keep` vectors of
; a lane stay in registers from the first walk on; what is beyond them is read
; again, from L2.
;
; online = 0: the row's maximum, then the sum of powers, each with a walk and a
; trip through the workgroup. online = 1: one walk and one trip; a lane corrects
; its sum when its maximum grows, and so do waves. More powers, fewer barriers,
; and one reading less of what is not kept.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.threads = internal addrspace(4) constant i32 256
@ws.keep = internal addrspace(4) constant i32 2
@ws.online = internal addrspace(4) constant i32 0
; 16 floats each: the waves' maxima, then their sums
@ws.partial = internal addrspace(3) global [128 x i8] poison, align 16

; ---- regions -------------------------------------------------------------

define internal <8 x float> @load8(ptr addrspace(1) %x) alwaysinline {
  %short = load <8 x bfloat>, ptr addrspace(1) %x, align 16
  %wide = fpext <8 x bfloat> %short to <8 x float>
  ret <8 x float> %wide
}

define internal <8 x float> @load8_nontemporal(ptr addrspace(1) %x) alwaysinline {
  %short = load <8 x bfloat>, ptr addrspace(1) %x, align 16, !nontemporal !20
  %wide = fpext <8 x bfloat> %short to <8 x float>
  ret <8 x float> %wide
}

; e^(value - max) of 8; 0x3FF7154760000000 is log2 e.
define internal <8 x float> @power8(<8 x float> %values, float %max) alwaysinline {
  %one = insertelement <8 x float> poison, float %max, i32 0
  %maxima = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %below = fsub <8 x float> %values, %maxima
  %binary = fmul <8 x float> %below, splat (float 0x3FF7154760000000)
  %result = call <8 x float> @llvm.exp2.v8f32(<8 x float> %binary)
  ret <8 x float> %result
}

; Without what llvm.exp2 does for results below 2^-126: they become 0.
define internal <8 x float> @power8_flushing(<8 x float> %values, float %max) alwaysinline {
  %one = insertelement <8 x float> poison, float %max, i32 0
  %maxima = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %below = fsub <8 x float> %values, %maxima
  %binary = fmul <8 x float> %below, splat (float 0x3FF7154760000000)
  %b0 = extractelement <8 x float> %binary, i32 0
  %e0 = call float @llvm.amdgcn.exp2.f32(float %b0)
  %r0 = insertelement <8 x float> poison, float %e0, i32 0
  %b1 = extractelement <8 x float> %binary, i32 1
  %e1 = call float @llvm.amdgcn.exp2.f32(float %b1)
  %r1 = insertelement <8 x float> %r0, float %e1, i32 1
  %b2 = extractelement <8 x float> %binary, i32 2
  %e2 = call float @llvm.amdgcn.exp2.f32(float %b2)
  %r2 = insertelement <8 x float> %r1, float %e2, i32 2
  %b3 = extractelement <8 x float> %binary, i32 3
  %e3 = call float @llvm.amdgcn.exp2.f32(float %b3)
  %r3 = insertelement <8 x float> %r2, float %e3, i32 3
  %b4 = extractelement <8 x float> %binary, i32 4
  %e4 = call float @llvm.amdgcn.exp2.f32(float %b4)
  %r4 = insertelement <8 x float> %r3, float %e4, i32 4
  %b5 = extractelement <8 x float> %binary, i32 5
  %e5 = call float @llvm.amdgcn.exp2.f32(float %b5)
  %r5 = insertelement <8 x float> %r4, float %e5, i32 5
  %b6 = extractelement <8 x float> %binary, i32 6
  %e6 = call float @llvm.amdgcn.exp2.f32(float %b6)
  %r6 = insertelement <8 x float> %r5, float %e6, i32 6
  %b7 = extractelement <8 x float> %binary, i32 7
  %e7 = call float @llvm.amdgcn.exp2.f32(float %b7)
  %r7 = insertelement <8 x float> %r6, float %e7, i32 7
  ret <8 x float> %r7
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

define internal float @wave_max(float %value, i32 %lane) alwaysinline {
  %o0 = call float @other(float %value, i32 %lane, i32 32)
  %v0 = call float @llvm.maxnum.f32(float %value, float %o0)
  %o1 = call float @other(float %v0, i32 %lane, i32 16)
  %v1 = call float @llvm.maxnum.f32(float %v0, float %o1)
  %o2 = call float @other(float %v1, i32 %lane, i32 8)
  %v2 = call float @llvm.maxnum.f32(float %v1, float %o2)
  %o3 = call float @other(float %v2, i32 %lane, i32 4)
  %v3 = call float @llvm.maxnum.f32(float %v2, float %o3)
  %o4 = call float @other(float %v3, i32 %lane, i32 2)
  %v4 = call float @llvm.maxnum.f32(float %v3, float %o4)
  %o5 = call float @other(float %v4, i32 %lane, i32 1)
  %v5 = call float @llvm.maxnum.f32(float %v4, float %o5)
  ret float %v5
}

define internal float @wave_sum(float %value, i32 %lane) alwaysinline {
  %o0 = call float @other(float %value, i32 %lane, i32 32)
  %v0 = fadd float %value, %o0
  %o1 = call float @other(float %v0, i32 %lane, i32 16)
  %v1 = fadd float %v0, %o1
  %o2 = call float @other(float %v1, i32 %lane, i32 8)
  %v2 = fadd float %v1, %o2
  %o3 = call float @other(float %v2, i32 %lane, i32 4)
  %v3 = fadd float %v2, %o3
  %o4 = call float @other(float %v3, i32 %lane, i32 2)
  %v4 = fadd float %v3, %o4
  %o5 = call float @other(float %v4, i32 %lane, i32 1)
  %v5 = fadd float %v4, %o5
  ret float %v5
}

; ---- parts ---------------------------------------------------------------

; The value of the lane whose number differs in one bit.
define internal float @other(float %value, i32 %lane, i32 %bit) alwaysinline {
  %other.lane = xor i32 %lane, %bit
  %address = shl i32 %other.lane, 2
  %bits = bitcast float %value to i32
  %other.bits = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %bits)
  %other = bitcast i32 %other.bits to float
  ret float %other
}

define internal float @max8(<8 x float> %values) alwaysinline {
  %max = call float @llvm.vector.reduce.fmax.v8f32(<8 x float> %values)
  ret float %max
}

define internal float @sum8(<8 x float> %values) alwaysinline {
  %sum = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.0, <8 x float> %values)
  ret float %sum
}

; e^(value - max) of one.
define internal float @power(float %value, float %max) alwaysinline {
  %one = insertelement <8 x float> poison, float %value, i32 0
  %values = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %powers = call <8 x float> @power8(<8 x float> %values, float %max)
  %result = extractelement <8 x float> %powers, i32 0
  ret float %result
}

; Lane 0 of each wave puts its value at `place` plus the wave's number.
define internal void @put(float %value, i32 %place, i32 %lane) alwaysinline {
entry:
  %lane.in.wave = and i32 %lane, 63
  %wave = lshr i32 %lane, 6
  %first = icmp eq i32 %lane.in.wave, 0
  br i1 %first, label %store, label %end
store:
  %index = add i32 %place, %wave
  %at = getelementptr float, ptr addrspace(3) @ws.partial, i32 %index
  store float %value, ptr addrspace(3) %at, align 4
  br label %end
end:
  ret void
}

define internal float @get(i32 %place, i32 %wave) alwaysinline {
  %index = add i32 %place, %wave
  %at = getelementptr float, ptr addrspace(3) @ws.partial, i32 %index
  %value = load float, ptr addrspace(3) %at, align 4
  ret float %value
}

define internal void @barrier() alwaysinline convergent {
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  ret void
}

; The largest over all lanes of the workgroup.
define internal float @group_max(float %value, i32 %lane, i32 %waves) alwaysinline {
entry:
  %lane.in.wave = and i32 %lane, 63
  %own = call float @wave_max(float %value, i32 %lane.in.wave)
  %several = icmp ugt i32 %waves, 1
  br i1 %several, label %share, label %end
share:
  call void @put(float %own, i32 0, i32 %lane)
  call void @barrier()
  br label %next
next:
  %i = phi i32 [ 0, %share ], [ %i.next, %next ]
  %max = phi float [ %own, %share ], [ %max.next, %next ]
  %part = call float @get(i32 0, i32 %i)
  %max.next = call float @llvm.maxnum.f32(float %max, float %part)
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %waves
  br i1 %more, label %next, label %end, !llvm.loop !21
end:
  %result = phi float [ %own, %entry ], [ %max.next, %next ]
  ret float %result
}

; The sum over all lanes of the workgroup, beside the maxima in LDS.
define internal float @group_sum(float %value, i32 %lane, i32 %waves) alwaysinline {
entry:
  %lane.in.wave = and i32 %lane, 63
  %own = call float @wave_sum(float %value, i32 %lane.in.wave)
  %several = icmp ugt i32 %waves, 1
  br i1 %several, label %share, label %end
share:
  call void @put(float %own, i32 16, i32 %lane)
  call void @barrier()
  br label %next
next:
  %i = phi i32 [ 0, %share ], [ %i.next, %next ]
  %sum = phi float [ 0.0, %share ], [ %sum.next, %next ]
  %part = call float @get(i32 16, i32 %i)
  %sum.next = fadd float %sum, %part
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %waves
  br i1 %more, label %next, label %end, !llvm.loop !21
end:
  %result = phi float [ %own, %entry ], [ %sum.next, %next ]
  ret float %result
}

; Both from each lane's own maximum and the sum over what is below it.
define internal { float, float } @group_both(float %max, float %sum, i32 %lane, i32 %waves) alwaysinline {
entry:
  %lane.in.wave = and i32 %lane, 63
  %own.max = call float @wave_max(float %max, i32 %lane.in.wave)
  %scale = call float @power(float %max, float %own.max)
  %scaled = fmul float %sum, %scale
  %own.sum = call float @wave_sum(float %scaled, i32 %lane.in.wave)
  %several = icmp ugt i32 %waves, 1
  br i1 %several, label %share, label %end
share:
  call void @put(float %own.max, i32 0, i32 %lane)
  call void @put(float %own.sum, i32 16, i32 %lane)
  call void @barrier()
  br label %find
find:
  %i = phi i32 [ 0, %share ], [ %i.next, %find ]
  %most = phi float [ %own.max, %share ], [ %most.next, %find ]
  %other.max = call float @get(i32 0, i32 %i)
  %most.next = call float @llvm.maxnum.f32(float %most, float %other.max)
  %i.next = add i32 %i, 1
  %i.more = icmp ult i32 %i.next, %waves
  br i1 %i.more, label %find, label %add, !llvm.loop !21
add:
  %j = phi i32 [ 0, %find ], [ %j.next, %add ]
  %total = phi float [ 0.0, %find ], [ %total.next, %add ]
  %wave.max = call float @get(i32 0, i32 %j)
  %wave.sum = call float @get(i32 16, i32 %j)
  %wave.scale = call float @power(float %wave.max, float %most.next)
  %part = fmul float %wave.sum, %wave.scale
  %total.next = fadd float %total, %part
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, %waves
  br i1 %j.more, label %add, label %end, !llvm.loop !21
end:
  %result.max = phi float [ %own.max, %entry ], [ %most.next, %add ]
  %result.sum = phi float [ %own.sum, %entry ], [ %total.next, %add ]
  %first = insertvalue { float, float } poison, float %result.max, 0
  %both = insertvalue { float, float } %first, float %result.sum, 1
  ret { float, float } %both
}

; A lane's sum after 8 more values, of which the largest so far is the new one.
define internal float @corrected(float %sum, float %max, float %new.max, <8 x float> %values) alwaysinline {
  %scale = call float @power(float %max, float %new.max)
  %scaled = fmul float %sum, %scale
  %powers = call <8 x float> @power8(<8 x float> %values, float %new.max)
  %more = call float @sum8(<8 x float> %powers)
  %result = fadd float %scaled, %more
  ret float %result
}

define internal void @write8(ptr addrspace(1) %y, <8 x float> %powers, float %factor) alwaysinline {
  %one = insertelement <8 x float> poison, float %factor, i32 0
  %factors = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %result = fmul <8 x float> %powers, %factors
  call void @store8(ptr addrspace(1) %y, <8 x float> %result)
  ret void
}

; ---- the kernel ----------------------------------------------------------

define amdgpu_kernel void @softmax(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %rows, i32 %cols) {
entry:
  %kept = alloca [16 x <8 x float>], align 32, addrspace(5)
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %row = call i32 @llvm.amdgcn.workgroup.id.x()
  %threads = load i32, ptr addrspace(4) @ws.threads
  %keep = load i32, ptr addrspace(4) @ws.keep
  %online.value = load i32, ptr addrspace(4) @ws.online
  %online = icmp ne i32 %online.value, 0
  %waves = lshr i32 %threads, 6
  %row.wide = zext i32 %row to i64
  %cols.wide = zext i32 %cols to i64
  %first = mul i64 %row.wide, %cols.wide
  %x.row = getelementptr bfloat, ptr addrspace(1) %x, i64 %first
  %y.row = getelementptr bfloat, ptr addrspace(1) %y, i64 %first
  %start = shl i32 %lane, 3
  %stride = shl i32 %threads, 3
  br label %read
; A column that there is not has the lowest float, so its power is 0.
read:
  %i = phi i32 [ 0, %entry ], [ %i.next, %read.end ]
  %c = phi i32 [ %start, %entry ], [ %c.next, %read.end ]
  %max = phi float [ 0xC7EFFFFFE0000000, %entry ], [ %max.next, %read.end ]
  %slot = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %i
  %inside = icmp ult i32 %c, %cols
  br i1 %inside, label %read.one, label %read.end
read.one:
  %c.wide = zext i32 %c to i64
  %x.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %c.wide
  %loaded = call <8 x float> @load8(ptr addrspace(1) %x.at)
  br label %read.end
read.end:
  %values = phi <8 x float> [ %loaded, %read.one ], [ splat (float 0xC7EFFFFFE0000000), %read ]
  store <8 x float> %values, ptr addrspace(5) %slot, align 32
  %own = call float @max8(<8 x float> %values)
  %max.next = call float @llvm.maxnum.f32(float %max, float %own)
  %c.next = add i32 %c, %stride
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %keep
  br i1 %more, label %read, label %read.done, !llvm.loop !21
read.done:
  br i1 %online, label %o.add, label %rest

; ---- online = 0
rest:
  %r = phi i32 [ %c.next, %read.done ], [ %r.next, %rest.one ]
  %r.max = phi float [ %max.next, %read.done ], [ %r.max.next, %rest.one ]
  %r.inside = icmp ult i32 %r, %cols
  br i1 %r.inside, label %rest.one, label %found
rest.one:
  %r.wide = zext i32 %r to i64
  %r.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %r.wide
  %r.values = call <8 x float> @load8(ptr addrspace(1) %r.at)
  %r.own = call float @max8(<8 x float> %r.values)
  %r.max.next = call float @llvm.maxnum.f32(float %r.max, float %r.own)
  %r.next = add i32 %r, %stride
  br label %rest
found:
  %row.max = call float @group_max(float %r.max, i32 %lane, i32 %waves)
  br label %add
add:
  %j = phi i32 [ 0, %found ], [ %j.next, %add ]
  %sum = phi float [ 0.0, %found ], [ %sum.next, %add ]
  %j.slot = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %j
  %j.values = load <8 x float>, ptr addrspace(5) %j.slot, align 32
  %j.powers = call <8 x float> @power8(<8 x float> %j.values, float %row.max)
  store <8 x float> %j.powers, ptr addrspace(5) %j.slot, align 32
  %j.sum = call float @sum8(<8 x float> %j.powers)
  %sum.next = fadd float %sum, %j.sum
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, %keep
  br i1 %j.more, label %add, label %a.rest, !llvm.loop !21
a.rest:
  %a = phi i32 [ %c.next, %add ], [ %a.next, %a.one ]
  %a.sum = phi float [ %sum.next, %add ], [ %a.sum.next, %a.one ]
  %a.inside = icmp ult i32 %a, %cols
  br i1 %a.inside, label %a.one, label %added
a.one:
  %a.wide = zext i32 %a to i64
  %a.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %a.wide
  %a.values = call <8 x float> @load8(ptr addrspace(1) %a.at)
  %a.powers = call <8 x float> @power8(<8 x float> %a.values, float %row.max)
  %a.own = call float @sum8(<8 x float> %a.powers)
  %a.sum.next = fadd float %a.sum, %a.own
  %a.next = add i32 %a, %stride
  br label %a.rest
added:
  %row.sum = call float @group_sum(float %a.sum, i32 %lane, i32 %waves)
  br label %known

; ---- online = 1
o.add:
  %o = phi i32 [ 0, %read.done ], [ %o.next, %o.add ]
  %o.sum = phi float [ 0.0, %read.done ], [ %o.sum.next, %o.add ]
  %o.slot = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %o
  %o.values = load <8 x float>, ptr addrspace(5) %o.slot, align 32
  %o.powers = call <8 x float> @power8(<8 x float> %o.values, float %max.next)
  %o.own = call float @sum8(<8 x float> %o.powers)
  %o.sum.next = fadd float %o.sum, %o.own
  %o.next = add i32 %o, 1
  %o.more = icmp ult i32 %o.next, %keep
  br i1 %o.more, label %o.add, label %o.rest, !llvm.loop !21
o.rest:
  %p = phi i32 [ %c.next, %o.add ], [ %p.next, %o.one ]
  %p.max = phi float [ %max.next, %o.add ], [ %p.max.next, %o.one ]
  %p.sum = phi float [ %o.sum.next, %o.add ], [ %p.sum.next, %o.one ]
  %p.inside = icmp ult i32 %p, %cols
  br i1 %p.inside, label %o.one, label %o.done
o.one:
  %p.wide = zext i32 %p to i64
  %p.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %p.wide
  %p.values = call <8 x float> @load8(ptr addrspace(1) %p.at)
  %p.own = call float @max8(<8 x float> %p.values)
  %p.max.next = call float @llvm.maxnum.f32(float %p.max, float %p.own)
  %p.sum.next = call float @corrected(float %p.sum, float %p.max, float %p.max.next, <8 x float> %p.values)
  %p.next = add i32 %p, %stride
  br label %o.rest
o.done:
  %both = call { float, float } @group_both(float %p.max, float %p.sum, i32 %lane, i32 %waves)
  %both.max = extractvalue { float, float } %both, 0
  %both.sum = extractvalue { float, float } %both, 1
  br label %o.raise
o.raise:
  %q = phi i32 [ 0, %o.done ], [ %q.next, %o.raise ]
  %q.slot = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %q
  %q.values = load <8 x float>, ptr addrspace(5) %q.slot, align 32
  %q.powers = call <8 x float> @power8(<8 x float> %q.values, float %both.max)
  store <8 x float> %q.powers, ptr addrspace(5) %q.slot, align 32
  %q.next = add i32 %q, 1
  %q.more = icmp ult i32 %q.next, %keep
  br i1 %q.more, label %o.raise, label %known, !llvm.loop !21

; ---- the result
known:
  %end.max = phi float [ %row.max, %added ], [ %both.max, %o.raise ]
  %end.sum = phi float [ %row.sum, %added ], [ %both.sum, %o.raise ]
  %factor = fdiv float 1.0, %end.sum
  br label %write
write:
  %w = phi i32 [ 0, %known ], [ %w.next, %write.end ]
  %d = phi i32 [ %start, %known ], [ %d.next, %write.end ]
  %d.inside = icmp ult i32 %d, %cols
  br i1 %d.inside, label %write.one, label %write.end
write.one:
  %d.wide = zext i32 %d to i64
  %from = getelementptr [16 x <8 x float>], ptr addrspace(5) %kept, i32 0, i32 %w
  %powers = load <8 x float>, ptr addrspace(5) %from, align 32
  %y.at = getelementptr bfloat, ptr addrspace(1) %y.row, i64 %d.wide
  call void @write8(ptr addrspace(1) %y.at, <8 x float> %powers, float %factor)
  br label %write.end
write.end:
  %d.next = add i32 %d, %stride
  %w.next = add i32 %w, 1
  %write.more = icmp ult i32 %w.next, %keep
  br i1 %write.more, label %write, label %last, !llvm.loop !21
last:
  %e = phi i32 [ %d.next, %write.end ], [ %e.next, %last.one ]
  %last.inside = icmp ult i32 %e, %cols
  br i1 %last.inside, label %last.one, label %end
last.one:
  %e.wide = zext i32 %e to i64
  %ex.at = getelementptr bfloat, ptr addrspace(1) %x.row, i64 %e.wide
  %ey.at = getelementptr bfloat, ptr addrspace(1) %y.row, i64 %e.wide
  %last.values = call <8 x float> @load8(ptr addrspace(1) %ex.at)
  %last.powers = call <8 x float> @power8(<8 x float> %last.values, float %end.max)
  call void @write8(ptr addrspace(1) %ey.at, <8 x float> %last.powers, float %factor)
  %e.next = add i32 %e, %stride
  br label %last
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare void @llvm.amdgcn.s.barrier()
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.amdgcn.exp2.f32(float)
declare <8 x float> @llvm.exp2.v8f32(<8 x float>)
declare float @llvm.vector.reduce.fmax.v8f32(<8 x float>)
declare float @llvm.vector.reduce.fadd.v8f32(float, <8 x float>)

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1, !2, !3}
!wavesmith.launch   = !{!4}
!wavesmith.lds      = !{!5}
!wavesmith.region   = !{!6, !7, !8, !9, !10}
!wavesmith.variant  = !{!11, !12, !13}
!llvm.module.flags  = !{!14}
!0 = !{!"softmax_gfx942", !"1", !"softmax", !"gfx942", !"a workgroup a row, 16 bytes a lane"}
!1 = !{!"threads", !"ws.threads", !"64 128 256 512 1024", !"lanes of a workgroup, which works on one row"}
!2 = !{!"keep", !"ws.keep", !"1 2 3 4 6 8 12 16", !"vectors of 8 columns that a lane keeps in registers"}
!3 = !{!"online", !"ws.online", !"0 1", !"1: maximum and sum in one walk, sums corrected as maxima grow"}
!4 = !{!"softmax", !"rows", !"1", !"1", !"threads", !"1"}
!5 = !{!"ws.partial", !"128"}
!6 = !{!"load8", !"Returns 8 columns in f32. The pointer is a multiple of 16 bytes; called by some lanes; reads those 16 bytes, no other memory, no barrier."}
!7 = !{!"power8", !"Returns e^(value - max) of 8 values, none above max; both finite or the lowest float; what is below 2^-126 may be 0. Relative error below (4 |value - max| + 8) 2^-24. Called by some lanes; no memory, no barrier."}
!8 = !{!"store8", !"Stores 8 values rounded to nearest bf16 at a multiple of 16 bytes. Called by some lanes; no other memory, no barrier."}
!9 = !{!"wave_max", !"Returns the largest value over the 64 lanes of a wave, in each of them; lane is 0 to 63. Called by all lanes of a wave; no memory, no barrier."}
!10 = !{!"wave_sum", !"Returns the sum of value over the 64 lanes of a wave, in each of them; lane is 0 to 63. Called by all lanes of a wave; no memory, no barrier."}
!11 = !{!"load8", !"load8_nontemporal", !"past the caches: where all is kept nothing is read again"}
!12 = !{!"power8", !"power8_flushing", !"powers below 2^-126 are 0, which saves the care for subnormals"}
!13 = !{!"store8", !"store8_nontemporal", !"past the caches: what is written is not read again"}
!14 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!20 = !{i32 1}
!21 = distinct !{!21, !22}
!22 = !{!"llvm.loop.unroll.full"}
