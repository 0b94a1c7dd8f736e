; quant_fp8_group for gfx942. Groups lie one behind the other, whatever the rows:
; a wave takes `groups` of them, vector / 2 at a time. 128 / vector lanes share a
; group, each with `vector` neighbouring columns, 8 (16 bytes) a load. All loads
; of a wave come first; nothing is read twice, no LDS, no barrier.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.layout = internal addrspace(4) constant i32 0
@ws.threads = internal addrspace(4) constant i32 256
@ws.groups = internal addrspace(4) constant i32 8
@ws.vector = internal addrspace(4) constant i32 8

; ---- regions -------------------------------------------------------------

define internal <8 x bfloat> @load8(ptr addrspace(1) %x) alwaysinline {
  %values = load <8 x bfloat>, ptr addrspace(1) %x, align 16
  ret <8 x bfloat> %values
}

define internal <8 x bfloat> @load8_nontemporal(ptr addrspace(1) %x) alwaysinline {
  %values = load <8 x bfloat>, ptr addrspace(1) %x, align 16, !nontemporal !20
  ret <8 x bfloat> %values
}

define internal float @largest8(<8 x bfloat> %values) alwaysinline {
  %wide = fpext <8 x bfloat> %values to <8 x float>
  %sizes = call <8 x float> @llvm.fabs.v8f32(<8 x float> %wide)
  %most = call float @llvm.vector.reduce.fmax.v8f32(<8 x float> %sizes)
  ret float %most
}

; Magnitudes of bf16 are ordered as their bits are: two maxima an instruction.
define internal float @largest8_packed(<8 x bfloat> %values) alwaysinline {
  %codes = bitcast <8 x bfloat> %values to <8 x i16>
  %sizes = and <8 x i16> %codes, splat (i16 32767)
  %low = shufflevector <8 x i16> %sizes, <8 x i16> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %high = shufflevector <8 x i16> %sizes, <8 x i16> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %four = call <4 x i16> @llvm.umax.v4i16(<4 x i16> %low, <4 x i16> %high)
  %low.2 = shufflevector <4 x i16> %four, <4 x i16> poison, <2 x i32> <i32 0, i32 1>
  %high.2 = shufflevector <4 x i16> %four, <4 x i16> poison, <2 x i32> <i32 2, i32 3>
  %two = call <2 x i16> @llvm.umax.v2i16(<2 x i16> %low.2, <2 x i16> %high.2)
  %a = extractelement <2 x i16> %two, i32 0
  %b = extractelement <2 x i16> %two, i32 1
  %one = call i16 @llvm.umax.i16(i16 %a, i16 %b)
  %wide = zext i16 %one to i32
  %bits = shl i32 %wide, 16
  %most = bitcast i32 %bits to float
  ret float %most
}

define internal float @group_largest(float %value, i32 %lane, i32 %lanes) alwaysinline {
entry:
  br label %next
next:
  %bit = phi i32 [ 1, %entry ], [ %bit.next, %next ]
  %most = phi float [ %value, %entry ], [ %most.next, %next ]
  %other.lane = xor i32 %lane, %bit
  %address = shl i32 %other.lane, 2
  %bits = bitcast float %most to i32
  %other.bits = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %bits)
  %other = bitcast i32 %other.bits to float
  %most.next = call float @llvm.maxnum.f32(float %most, float %other)
  %bit.next = shl i32 %bit, 1
  %more = icmp ult i32 %bit.next, %lanes
  br i1 %more, label %next, label %end, !llvm.loop !21
end:
  ret float %most.next
}

; Without the LDS's crossbar: quad_perm [1,0,3,2] and [2,3,0,1], then mirrors of
; 8 and of 16 lanes, which find the other half already alike.
define internal float @group_largest_dpp(float %value, i32 %lane, i32 %lanes) alwaysinline {
entry:
  %b0 = bitcast float %value to i32
  %o0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 %b0, i32 %b0, i32 177, i32 15, i32 15, i1 false)
  %f0 = bitcast i32 %o0 to float
  %v0 = call float @llvm.maxnum.f32(float %value, float %f0)
  %b1 = bitcast float %v0 to i32
  %o1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 %b1, i32 %b1, i32 78, i32 15, i32 15, i1 false)
  %f1 = bitcast i32 %o1 to float
  %v1 = call float @llvm.maxnum.f32(float %v0, float %f1)
  %four = icmp eq i32 %lanes, 4
  br i1 %four, label %end, label %eight
eight:
  %b2 = bitcast float %v1 to i32
  %o2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 %b2, i32 %b2, i32 321, i32 15, i32 15, i1 false)
  %f2 = bitcast i32 %o2 to float
  %v2 = call float @llvm.maxnum.f32(float %v1, float %f2)
  %is.eight = icmp eq i32 %lanes, 8
  br i1 %is.eight, label %end, label %sixteen
sixteen:
  %b3 = bitcast float %v2 to i32
  %o3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 %b3, i32 %b3, i32 320, i32 15, i32 15, i1 false)
  %f3 = bitcast i32 %o3 to float
  %v3 = call float @llvm.maxnum.f32(float %v2, float %f3)
  br label %end
end:
  %most = phi float [ %v1, %entry ], [ %v2, %eight ], [ %v3, %sixteen ]
  ret float %most
}

define internal { float, float } @scale_of(float %most, float %limit) alwaysinline {
  %scale = fdiv float %most, %limit
  %factor = fdiv float %limit, %most
  %first = insertvalue { float, float } poison, float %scale, 0
  %both = insertvalue { float, float } %first, float %factor, 1
  ret { float, float } %both
}

; v_rcp_f32 is off by one unit in the last place at most, the constants by half.
define internal { float, float } @scale_of_approximate(float %most, float %limit) alwaysinline {
  %one.limit = fdiv float 1.0, %limit
  %scale = fmul float %most, %one.limit
  %one.most = call float @llvm.amdgcn.rcp.f32(float %most)
  %factor = fmul float %limit, %one.most
  %first = insertvalue { float, float } poison, float %scale, 0
  %both = insertvalue { float, float } %first, float %factor, 1
  ret { float, float } %both
}

; The hardware's conversion is to FNUZ; what it is given does not exceed 248,
; beyond which it would give NaN.
define internal <2 x i32> @encode8(<8 x bfloat> %values, float %factor) alwaysinline {
entry:
  %layout = load i32, ptr addrspace(4) @ws.layout
  %fnuz = icmp eq i32 %layout, 0
  br i1 %fnuz, label %hardware, label %software
hardware:
  %scaled = call <8 x float> @scaled(<8 x bfloat> %values, float %factor)
  %x0 = extractelement <8 x float> %scaled, i32 0
  %x1 = extractelement <8 x float> %scaled, i32 1
  %x2 = extractelement <8 x float> %scaled, i32 2
  %x3 = extractelement <8 x float> %scaled, i32 3
  %x4 = extractelement <8 x float> %scaled, i32 4
  %x5 = extractelement <8 x float> %scaled, i32 5
  %x6 = extractelement <8 x float> %scaled, i32 6
  %x7 = extractelement <8 x float> %scaled, i32 7
  %c01 = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %x0, float %x1, i32 0, i1 false)
  %c03 = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %x2, float %x3, i32 %c01, i1 true)
  %c45 = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %x4, float %x5, i32 0, i1 false)
  %c47 = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %x6, float %x7, i32 %c45, i1 true)
  %low = insertelement <2 x i32> poison, i32 %c03, i32 0
  %by.hardware = insertelement <2 x i32> %low, i32 %c47, i32 1
  br label %end
software:
  %by.software = call <2 x i32> @encode8_software(<8 x bfloat> %values, float %factor)
  br label %end
end:
  %codes = phi <2 x i32> [ %by.hardware, %hardware ], [ %by.software, %software ]
  ret <2 x i32> %codes
}

; Normal numbers: an f32's bits, rounded at the 20th, with the format's bias.
; Below 2^-7 (OCP 2^-6): the last bits of 2^13 (2^14) plus the number count steps
; of 2^-10 (2^-9). FNUZ has no minus zero: 0x80 is its NaN.
define internal <2 x i32> @encode8_software(<8 x bfloat> %values, float %factor) alwaysinline {
  %layout = load i32, ptr addrspace(4) @ws.layout
  %ocp = icmp ne i32 %layout, 0
  %scaled = call <8 x float> @scaled(<8 x bfloat> %values, float %factor)
  %bits = bitcast <8 x float> %scaled to <8 x i32>
  %sign.wide = lshr <8 x i32> %bits, splat (i32 24)
  %sign = and <8 x i32> %sign.wide, splat (i32 128)
  %magnitude = and <8 x i32> %bits, splat (i32 2147483647)
  %odd.up = lshr <8 x i32> %magnitude, splat (i32 20)
  %odd = and <8 x i32> %odd.up, splat (i32 1)
  %half = add <8 x i32> %magnitude, splat (i32 524287)
  %up = add <8 x i32> %half, %odd
  %rounded = lshr <8 x i32> %up, splat (i32 20)
  %rebias = select i1 %ocp, <8 x i32> splat (i32 960), <8 x i32> splat (i32 952)
  %normal = sub <8 x i32> %rounded, %rebias
  %absolute = bitcast <8 x i32> %magnitude to <8 x float>
  %anchor = select i1 %ocp, <8 x float> splat (float 16384.0), <8 x float> splat (float 8192.0)
  %moved = fadd <8 x float> %absolute, %anchor
  %moved.bits = bitcast <8 x float> %moved to <8 x i32>
  %anchor.bits = bitcast <8 x float> %anchor to <8 x i32>
  %steps = sub <8 x i32> %moved.bits, %anchor.bits
  %least = select i1 %ocp, <8 x i32> splat (i32 1015021568), <8 x i32> splat (i32 1006632960)
  %is.normal = icmp uge <8 x i32> %magnitude, %least
  %code = select <8 x i1> %is.normal, <8 x i32> %normal, <8 x i32> %steps
  %zero = icmp eq <8 x i32> %code, zeroinitializer
  %plus = xor i1 %ocp, true
  %plus.one = insertelement <8 x i1> poison, i1 %plus, i32 0
  %plus.all = shufflevector <8 x i1> %plus.one, <8 x i1> poison, <8 x i32> zeroinitializer
  %unsigned = and <8 x i1> %zero, %plus.all
  %sign.kept = select <8 x i1> %unsigned, <8 x i32> zeroinitializer, <8 x i32> %sign
  %whole = or <8 x i32> %code, %sign.kept
  %bytes = trunc <8 x i32> %whole to <8 x i8>
  %codes = bitcast <8 x i8> %bytes to <2 x i32>
  ret <2 x i32> %codes
}

define internal void @store8(ptr addrspace(1) %y, <2 x i32> %codes) alwaysinline {
  store <2 x i32> %codes, ptr addrspace(1) %y, align 8
  ret void
}

define internal void @store8_nontemporal(ptr addrspace(1) %y, <2 x i32> %codes) alwaysinline {
  store <2 x i32> %codes, ptr addrspace(1) %y, align 8, !nontemporal !20
  ret void
}

; ---- parts ---------------------------------------------------------------

define internal <8 x float> @scaled(<8 x bfloat> %values, float %factor) alwaysinline {
  %wide = fpext <8 x bfloat> %values to <8 x float>
  %one = insertelement <8 x float> poison, float %factor, i32 0
  %factors = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %scaled = fmul <8 x float> %wide, %factors
  ret <8 x float> %scaled
}

; ---- the kernel ----------------------------------------------------------

define amdgpu_kernel void @quant(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %scale, i32 %rows, i32 %cols) {
entry:
  %kept = alloca [16 x <8 x bfloat>], align 16, addrspace(5)
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %workgroup = call i32 @llvm.amdgcn.workgroup.id.x()
  %layout = load i32, ptr addrspace(4) @ws.layout
  %threads = load i32, ptr addrspace(4) @ws.threads
  %groups = load i32, ptr addrspace(4) @ws.groups
  %vector = load i32, ptr addrspace(4) @ws.vector
  %fnuz = icmp eq i32 %layout, 0
  %limit = select i1 %fnuz, float 240.0, float 448.0
  %lanes = udiv i32 128, %vector
  %at.once = lshr i32 %vector, 1
  %loads = lshr i32 %vector, 3
  %waves = lshr i32 %threads, 6
  %first.wave = mul i32 %workgroup, %waves
  %own.wave = lshr i32 %lane, 6
  %wave = add i32 %first.wave, %own.wave
  %lane.in.wave = and i32 %lane, 63
  %own.group = udiv i32 %lane.in.wave, %lanes
  %part = urem i32 %lane.in.wave, %lanes
  %wave.group = mul i32 %wave, %groups
  %first = add i32 %wave.group, %own.group
  %in.row = lshr i32 %cols, 7
  %all = mul i32 %rows, %in.row
  %last = sub i32 %all, 1
  %column = mul i32 %part, %vector
  %column.wide = zext i32 %column to i64
  br label %read
; A group that there is not is the last one, read again and not written.
read:
  %r = phi i32 [ 0, %entry ], [ %r.next, %read.end ]
  %r.slot = phi i32 [ 0, %entry ], [ %r.slot.next, %read.end ]
  %r.group = add i32 %first, %r
  %r.clamped = call i32 @llvm.umin.i32(i32 %r.group, i32 %last)
  %r.wide = zext i32 %r.clamped to i64
  %r.base = shl i64 %r.wide, 7
  %r.at = add i64 %r.base, %column.wide
  br label %read.one
read.one:
  %u = phi i32 [ 0, %read ], [ %u.next, %read.one ]
  %u.column = shl i32 %u, 3
  %u.wide = zext i32 %u.column to i64
  %u.at = add i64 %r.at, %u.wide
  %x.at = getelementptr bfloat, ptr addrspace(1) %x, i64 %u.at
  %values = call <8 x bfloat> @load8(ptr addrspace(1) %x.at)
  %u.slot = add i32 %r.slot, %u
  %to = getelementptr [16 x <8 x bfloat>], ptr addrspace(5) %kept, i32 0, i32 %u.slot
  store <8 x bfloat> %values, ptr addrspace(5) %to, align 16
  %u.next = add i32 %u, 1
  %u.more = icmp ult i32 %u.next, %loads
  br i1 %u.more, label %read.one, label %read.end, !llvm.loop !21
read.end:
  %r.slot.next = add i32 %r.slot, %loads
  %r.next = add i32 %r, %at.once
  %r.more = icmp ult i32 %r.next, %groups
  br i1 %r.more, label %read, label %work, !llvm.loop !21

; 0x3DDB7CDFE0000000 is 1e-10 in f32
work:
  %w = phi i32 [ 0, %read.end ], [ %w.next, %work.end ]
  %w.slot = phi i32 [ 0, %read.end ], [ %w.slot.next, %work.end ]
  br label %size
size:
  %s = phi i32 [ 0, %work ], [ %s.next, %size ]
  %most = phi float [ 0x3DDB7CDFE0000000, %work ], [ %most.next, %size ]
  %s.slot = add i32 %w.slot, %s
  %s.from = getelementptr [16 x <8 x bfloat>], ptr addrspace(5) %kept, i32 0, i32 %s.slot
  %s.values = load <8 x bfloat>, ptr addrspace(5) %s.from, align 16
  %own = call float @largest8(<8 x bfloat> %s.values)
  %most.next = call float @llvm.maxnum.f32(float %most, float %own)
  %s.next = add i32 %s, 1
  %s.more = icmp ult i32 %s.next, %loads
  br i1 %s.more, label %size, label %sized, !llvm.loop !21
sized:
  %group.most = call float @group_largest(float %most.next, i32 %lane.in.wave, i32 %lanes)
  %both = call { float, float } @scale_of(float %group.most, float %limit)
  %step = extractvalue { float, float } %both, 0
  %factor = extractvalue { float, float } %both, 1
  %group = add i32 %first, %w
  %inside = icmp ult i32 %group, %all
  br i1 %inside, label %write, label %work.end
write:
  %group.wide = zext i32 %group to i64
  %base = shl i64 %group.wide, 7
  %at = add i64 %base, %column.wide
  br label %write.one
write.one:
  %v = phi i32 [ 0, %write ], [ %v.next, %write.one ]
  %v.slot = add i32 %w.slot, %v
  %v.from = getelementptr [16 x <8 x bfloat>], ptr addrspace(5) %kept, i32 0, i32 %v.slot
  %v.values = load <8 x bfloat>, ptr addrspace(5) %v.from, align 16
  %codes = call <2 x i32> @encode8(<8 x bfloat> %v.values, float %factor)
  %v.column = shl i32 %v, 3
  %v.wide = zext i32 %v.column to i64
  %v.at = add i64 %at, %v.wide
  %y.at = getelementptr i8, ptr addrspace(1) %y, i64 %v.at
  call void @store8(ptr addrspace(1) %y.at, <2 x i32> %codes)
  %v.next = add i32 %v, 1
  %v.more = icmp ult i32 %v.next, %loads
  br i1 %v.more, label %write.one, label %written, !llvm.loop !21
written:
  %is.first = icmp eq i32 %part, 0
  br i1 %is.first, label %write.scale, label %work.end
write.scale:
  %scale.at = getelementptr float, ptr addrspace(1) %scale, i64 %group.wide
  store float %step, ptr addrspace(1) %scale.at, align 4
  br label %work.end
work.end:
  %w.slot.next = add i32 %w.slot, %loads
  %w.next = add i32 %w, %at.once
  %w.more = icmp ult i32 %w.next, %groups
  br i1 %w.more, label %work, label %end, !llvm.loop !21
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare i32 @llvm.amdgcn.cvt.pk.fp8.f32(float, float, i32, i1 immarg)
declare float @llvm.amdgcn.rcp.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare <8 x float> @llvm.fabs.v8f32(<8 x float>)
declare float @llvm.vector.reduce.fmax.v8f32(<8 x float>)
declare <4 x i16> @llvm.umax.v4i16(<4 x i16>, <4 x i16>)
declare <2 x i16> @llvm.umax.v2i16(<2 x i16>, <2 x i16>)
declare i16 @llvm.umax.i16(i16, i16)
declare i32 @llvm.umin.i32(i32, i32)

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1, !2, !3, !4}
!wavesmith.require  = !{!5}
!wavesmith.launch   = !{!6}
!wavesmith.region   = !{!7, !8, !9, !10, !11, !12}
!wavesmith.variant  = !{!13, !14, !15, !16, !17, !18}
!llvm.module.flags  = !{!19}
!0 = !{!"quant_fp8_group_gfx942", !"1", !"quant_fp8_group", !"gfx942", !"some groups a wave, read once, by 4 to 16 lanes each"}
!1 = !{!"layout", !"ws.layout", !"0 1", !"format of y: 0 fnuz, 1 ocp"}
!2 = !{!"threads", !"ws.threads", !"64 128 256 512 1024", !"lanes of a workgroup"}
!3 = !{!"groups", !"ws.groups", !"4 8 16 32 64", !"groups of 128 columns a wave"}
!4 = !{!"vector", !"ws.vector", !"8 16 32", !"columns of a group that a lane takes"}
!5 = !{!"groups >= vector / 2", !"a wave takes vector / 2 groups at a time"}
!6 = !{!"quant", !"ceildiv(rows * (cols / 128), groups * (threads / 64))", !"1", !"1", !"threads", !"1"}
!7 = !{!"load8", !"Returns 8 columns. The pointer is a multiple of 16 bytes; called by all lanes; reads those 16 bytes, no other memory, no barrier."}
!8 = !{!"largest8", !"Returns the largest magnitude of 8 finite values. Called by all lanes; no memory, no barrier."}
!9 = !{!"group_largest", !"Returns the largest value, none negative, over the lanes of a group, in each of them: lanes (4, 8 or 16) neighbours from a multiple of lanes on; lane is 0 to 63. Called by all lanes of a wave; no memory, no barrier."}
!10 = !{!"scale_of", !"Returns most / limit and limit / most, each within 2^-20 of its magnitude; most is from 1e-10 up to the largest bf16, limit 240 or 448. Called by all lanes; no memory, no barrier."}
!11 = !{!"encode8", !"Returns 8 bytes, the first in the lowest: value times factor in e4m3, rounded to nearest even, FNUZ where parameter layout is 0 and OCP where it is 1. No product exceeds the format's largest number by more than 2^-20 of it. Called by some lanes; no memory, no barrier."}
!12 = !{!"store8", !"Stores 8 bytes at a multiple of 8. Called by some lanes; no other memory, no barrier."}
!13 = !{!"load8", !"load8_nontemporal", !"past the caches: nothing is read again"}
!14 = !{!"largest8", !"largest8_packed", !"by the bits of bf16, two at a time"}
!15 = !{!"group_largest", !"group_largest_dpp", !"lanes exchange by DPP instead of through the LDS's crossbar"}
!16 = !{!"scale_of", !"scale_of_approximate", !"v_rcp_f32 and a product instead of two divisions"}
!17 = !{!"encode8", !"encode8_software", !"fp8 by integer arithmetic, as for OCP, instead of the hardware's conversion"}
!18 = !{!"store8", !"store8_nontemporal", !"past the caches: what is written is not read again"}
!19 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!20 = !{i32 1}
!21 = distinct !{!21, !22}
!22 = !{!"llvm.loop.unroll.full"}
