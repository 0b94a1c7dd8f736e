; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; rmsnorm on sm_90a, the starting point: one thread a row, two walks along it.

target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@ws.threads = internal addrspace(4) constant i32 128

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare float @llvm.sqrt.f32(float)

; bf16 is the upper half of an f32.
define internal float @element(ptr addrspace(1) %from, i64 %at) #0 {
  %place = getelementptr i16, ptr addrspace(1) %from, i64 %at
  %bits = load i16, ptr addrspace(1) %place, align 2
  %wide = zext i16 %bits to i32
  %placed = shl i32 %wide, 16
  %value = bitcast i32 %placed to float
  ret float %value
}

; x + residual of one element, in f32.
define internal float @add(ptr addrspace(1) %x, ptr addrspace(1) %residual, i64 %at) #0 {
  %a = call float @element(ptr addrspace(1) %x, i64 %at)
  %b = call float @element(ptr addrspace(1) %residual, i64 %at)
  %sum = fadd float %a, %b
  ret float %sum
}

define ptx_kernel void @rmsnorm_naive_sm90a(ptr addrspace(1) noalias readonly %x, ptr addrspace(1) noalias readonly %residual, ptr addrspace(1) noalias readonly %weight, ptr addrspace(1) noalias writeonly %sum, ptr addrspace(1) noalias writeonly %y, i32 %rows, i32 %cols, float %eps) {
entry:
  %threads = load i32, ptr addrspace(4) @ws.threads
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %group, %threads
  %row = add i32 %first, %thread
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
  %short = fptrunc float %value to bfloat
  %sum.at = getelementptr bfloat, ptr addrspace(1) %sum, i64 %at
  store bfloat %short, ptr addrspace(1) %sum.at, align 2
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
  %w = call float @element(ptr addrspace(1) %weight, i64 %d)
  %scaled = fmul float %again, %factor
  %result = fmul float %scaled, %w
  %result.short = fptrunc float %result to bfloat
  %y.at = getelementptr bfloat, ptr addrspace(1) %y, i64 %at.again
  store bfloat %result.short, ptr addrspace(1) %y.at, align 2
  %d.next = add i64 %d, 1
  %more.still = icmp ult i64 %d.next, %cols.wide
  br i1 %more.still, label %write, label %end
end:
  ret void
}

attributes #0 = { alwaysinline }

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1}
!wavesmith.launch   = !{!2}
!0 = !{!"rmsnorm_naive_sm90a", !"1", !"rmsnorm", !"sm_90a", !"one thread a row"}
!1 = !{!"threads", !"ws.threads", !"64 128 256", !"threads of a workgroup"}
!2 = !{!"rmsnorm_naive_sm90a", !"ceildiv(rows, threads)", !"1", !"1", !"threads", !"1"}
