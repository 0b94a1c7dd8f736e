; softmax, the starting point: one lane a row, three walks along it.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.threads = internal addrspace(4) constant i32 64

define internal float @element(ptr addrspace(1) %x, i64 %at) alwaysinline {
  %x.at = getelementptr bfloat, ptr addrspace(1) %x, i64 %at
  %short = load bfloat, ptr addrspace(1) %x.at, align 2
  %value = fpext bfloat %short to float
  ret float %value
}

; e^(value - max), max being no smaller; 0x3FF7154760000000 is log2 e.
define internal float @power(float %value, float %max) alwaysinline {
  %below = fsub float %value, %max
  %binary = fmul float %below, 0x3FF7154760000000
  %result = call float @llvm.exp2.f32(float %binary)
  ret float %result
}

define amdgpu_kernel void @softmax(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %rows, i32 %cols) {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %threads = load i32, ptr addrspace(4) @ws.threads
  %first = mul i32 %group, %threads
  %row = add i32 %first, %lane
  %inside = icmp ult i32 %row, %rows
  br i1 %inside, label %begin, label %end
begin:
  %row.wide = zext i32 %row to i64
  %cols.wide = zext i32 %cols to i64
  %base = mul i64 %row.wide, %cols.wide
  br label %find
find:
  %c = phi i64 [ 0, %begin ], [ %c.next, %find ]
  %max = phi float [ 0xFFF0000000000000, %begin ], [ %max.next, %find ]
  %at = add i64 %base, %c
  %value = call float @element(ptr addrspace(1) %x, i64 %at)
  %max.next = call float @llvm.maxnum.f32(float %max, float %value)
  %c.next = add i64 %c, 1
  %more = icmp ult i64 %c.next, %cols.wide
  br i1 %more, label %find, label %add
add:
  %d = phi i64 [ 0, %find ], [ %d.next, %add ]
  %sum = phi float [ 0.0, %find ], [ %sum.next, %add ]
  %d.at = add i64 %base, %d
  %d.value = call float @element(ptr addrspace(1) %x, i64 %d.at)
  %d.power = call float @power(float %d.value, float %max.next)
  %sum.next = fadd float %sum, %d.power
  %d.next = add i64 %d, 1
  %d.more = icmp ult i64 %d.next, %cols.wide
  br i1 %d.more, label %add, label %write
write:
  %e = phi i64 [ 0, %add ], [ %e.next, %write ]
  %e.at = add i64 %base, %e
  %e.value = call float @element(ptr addrspace(1) %x, i64 %e.at)
  %e.power = call float @power(float %e.value, float %max.next)
  %result = fdiv float %e.power, %sum.next
  %short = fptrunc float %result to bfloat
  %y.at = getelementptr bfloat, ptr addrspace(1) %y, i64 %e.at
  store bfloat %short, ptr addrspace(1) %y.at, align 2
  %e.next = add i64 %e, 1
  %e.more = icmp ult i64 %e.next, %cols.wide
  br i1 %e.more, label %write, label %end
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.exp2.f32(float)

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1}
!wavesmith.launch   = !{!2}
!llvm.module.flags  = !{!3}
!0 = !{!"softmax_naive", !"1", !"softmax", !"gfx942", !"one lane a row"}
!1 = !{!"threads", !"ws.threads", !"64 128 256", !"lanes of a workgroup"}
!2 = !{!"softmax", !"ceildiv(rows, threads)", !"1", !"1", !"threads", !"1"}
!3 = !{i32 1, !"amdhsa_code_object_version", i32 500}
