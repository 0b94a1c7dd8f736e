; quant_fp8_group, the starting point: one lane a group, two walks along it,
; fp8 made by integer arithmetic, in either format.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.layout = internal addrspace(4) constant i32 0
@ws.threads = internal addrspace(4) constant i32 64

define internal float @element(ptr addrspace(1) %x, i64 %at) alwaysinline {
  %x.at = getelementptr bfloat, ptr addrspace(1) %x, i64 %at
  %short = load bfloat, ptr addrspace(1) %x.at, align 2
  %value = fpext bfloat %short to float
  ret float %value
}

; The nearest e4m3, ties to even, of a magnitude that is in its range. Normal
; numbers: an f32's bits, rounded at the 20th, with the format's bias (FNUZ 8,
; OCP 7). Below 2^-7 (OCP 2^-6): the last bits of 2^13 (2^14) plus the number
; count steps of 2^-10 (2^-9). FNUZ has no minus zero: 0x80 is its NaN.
define internal i8 @encode(float %value) alwaysinline {
  %layout = load i32, ptr addrspace(4) @ws.layout
  %ocp = icmp ne i32 %layout, 0
  %bits = bitcast float %value to i32
  %sign = lshr i32 %bits, 31
  %magnitude = and i32 %bits, 2147483647
  %odd.up = lshr i32 %magnitude, 20
  %odd = and i32 %odd.up, 1
  %half = add i32 %magnitude, 524287
  %up = add i32 %half, %odd
  %rounded = lshr i32 %up, 20
  %rebias = select i1 %ocp, i32 960, i32 952
  %normal = sub i32 %rounded, %rebias
  %absolute = bitcast i32 %magnitude to float
  %anchor = select i1 %ocp, float 16384.0, float 8192.0
  %moved = fadd float %absolute, %anchor
  %moved.bits = bitcast float %moved to i32
  %anchor.bits = bitcast float %anchor to i32
  %steps = sub i32 %moved.bits, %anchor.bits
  %least = select i1 %ocp, i32 1015021568, i32 1006632960
  %is.normal = icmp uge i32 %magnitude, %least
  %code = select i1 %is.normal, i32 %normal, i32 %steps
  %not.zero = icmp ne i32 %code, 0
  %signed = or i1 %not.zero, %ocp
  %negative = select i1 %signed, i32 %sign, i32 0
  %sign.bit = shl i32 %negative, 7
  %whole = or i32 %code, %sign.bit
  %result = trunc i32 %whole to i8
  ret i8 %result
}

define amdgpu_kernel void @quant(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %scale, i32 %rows, i32 %cols) {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %workgroup = call i32 @llvm.amdgcn.workgroup.id.x()
  %threads = load i32, ptr addrspace(4) @ws.threads
  %first = mul i32 %workgroup, %threads
  %group = add i32 %first, %lane
  %in.row = lshr i32 %cols, 7
  %groups = mul i32 %rows, %in.row
  %inside = icmp ult i32 %group, %groups
  br i1 %inside, label %begin, label %end
begin:
  %group.wide = zext i32 %group to i64
  %base = shl i64 %group.wide, 7
  br label %find
; 0x3DDB7CDFE0000000 is 1e-10 in f32
find:
  %c = phi i64 [ 0, %begin ], [ %c.next, %find ]
  %most = phi float [ 0x3DDB7CDFE0000000, %begin ], [ %most.next, %find ]
  %at = add i64 %base, %c
  %value = call float @element(ptr addrspace(1) %x, i64 %at)
  %size = call float @llvm.fabs.f32(float %value)
  %most.next = call float @llvm.maxnum.f32(float %most, float %size)
  %c.next = add i64 %c, 1
  %more = icmp ult i64 %c.next, 128
  br i1 %more, label %find, label %found
found:
  %layout = load i32, ptr addrspace(4) @ws.layout
  %ocp = icmp ne i32 %layout, 0
  %limit = select i1 %ocp, float 448.0, float 240.0
  %step = fdiv float %most.next, %limit
  %scale.at = getelementptr float, ptr addrspace(1) %scale, i64 %group.wide
  store float %step, ptr addrspace(1) %scale.at, align 4
  br label %write
write:
  %e = phi i64 [ 0, %found ], [ %e.next, %write ]
  %e.at = add i64 %base, %e
  %e.value = call float @element(ptr addrspace(1) %x, i64 %e.at)
  %quotient = fdiv float %e.value, %step
  %code = call i8 @encode(float %quotient)
  %y.at = getelementptr i8, ptr addrspace(1) %y, i64 %e.at
  store i8 %code, ptr addrspace(1) %y.at, align 1
  %e.next = add i64 %e, 1
  %e.more = icmp ult i64 %e.next, 128
  br i1 %e.more, label %write, label %end
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare float @llvm.fabs.f32(float)
declare float @llvm.maxnum.f32(float, float)

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1, !2}
!wavesmith.launch   = !{!3}
!llvm.module.flags  = !{!4}
!0 = !{!"quant_fp8_group_naive", !"1", !"quant_fp8_group", !"gfx942", !"one lane a group"}
!1 = !{!"layout", !"ws.layout", !"0 1", !"format of y: 0 fnuz, 1 ocp"}
!2 = !{!"threads", !"ws.threads", !"64 128 256", !"lanes of a workgroup"}
!3 = !{!"quant", !"ceildiv(rows * (cols / 128), threads)", !"1", !"1", !"threads", !"1"}
!4 = !{i32 1, !"amdhsa_code_object_version", i32 500}
