; rmsnorm, the starting point: one lane a row, two walks along it.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.threads = internal addrspace(4) constant i32 64

; x + residual of one element, in f32.
define internal float @add(ptr addrspace(1) %x, ptr addrspace(1) %residual, i64 %at) alwaysinline {
  %x.at = getelementptr bfloat, ptr addrspace(1) %x, i64 %at
  %residual.at = getelementptr bfloat, ptr addrspace(1) %residual, i64 %at
  %a = load bfloat, ptr addrspace(1) %x.at, align 2
  %b = load bfloat, ptr addrspace(1) %residual.at, align 2
  %a.wide = fpext bfloat %a to float
  %b.wide = fpext bfloat %b to float
  %sum = fadd float %a.wide, %b.wide
  ret float %sum
}

define amdgpu_kernel void @rmsnorm(ptr addrspace(1) %x, ptr addrspace(1) %residual, ptr addrspace(1) %weight, ptr addrspace(1) %sum, ptr addrspace(1) %y, i32 %rows, i32 %cols, float %eps) {
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
  br label %square
square:
  %c = phi i64 [ 0, %begin ], [ %c.next, %square ]
  %squares = phi float [ 0.0, %begin ], [ %squares.next, %square ]
  %at = add i64 %base, %c
  %value = call float @add(ptr addrspace(1) %x, ptr addrspace(1) %residual, i64 %at)
  %value.short = fptrunc float %value to bfloat
  %sum.at = getelementptr bfloat, ptr addrspace(1) %sum, i64 %at
  store bfloat %value.short, ptr addrspace(1) %sum.at, align 2
  %product = fmul float %value, %value
  %squares.next = fadd float %squares, %product
  %c.next = add i64 %c, 1
  %more = icmp ult i64 %c.next, %cols.wide
  br i1 %more, label %square, label %scale
scale:
  %count = uitofp i32 %cols to float
  %mean = fdiv float %squares.next, %count
  %mean.eps = fadd float %mean, %eps
  %root = call float @llvm.sqrt.f32(float %mean.eps)
  %factor = fdiv float 1.0, %root
  br label %write
write:
  %d = phi i64 [ 0, %scale ], [ %d.next, %write ]
  %at.again = add i64 %base, %d
  %again = call float @add(ptr addrspace(1) %x, ptr addrspace(1) %residual, i64 %at.again)
  %weight.at = getelementptr bfloat, ptr addrspace(1) %weight, i64 %d
  %w = load bfloat, ptr addrspace(1) %weight.at, align 2
  %w.wide = fpext bfloat %w to float
  %scaled = fmul float %again, %factor
  %result = fmul float %scaled, %w.wide
  %result.short = fptrunc float %result to bfloat
  %y.at = getelementptr bfloat, ptr addrspace(1) %y, i64 %at.again
  store bfloat %result.short, ptr addrspace(1) %y.at, align 2
  %d.next = add i64 %d, 1
  %more.still = icmp ult i64 %d.next, %cols.wide
  br i1 %more.still, label %write, label %end
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare float @llvm.sqrt.f32(float)

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1}
!wavesmith.launch   = !{!2}
!llvm.module.flags  = !{!3}
!0 = !{!"rmsnorm_naive", !"1", !"rmsnorm", !"gfx942", !"one lane a row"}
!1 = !{!"threads", !"ws.threads", !"64 128 256", !"lanes of a workgroup"}
!2 = !{!"rmsnorm", !"ceildiv(rows, threads)", !"1", !"1", !"threads", !"1"}
!3 = !{i32 1, !"amdhsa_code_object_version", i32 500}
