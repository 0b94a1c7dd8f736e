; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; gemm_bf16_naive_sm90a: gemm_bf16 on sm_90a with one thread per element of C.
; The honest starting point that every other template is compared with: no
; shared memory, no matrix instructions, one element per load.
;
; Consecutive threads make consecutive elements of C. Grammar of the metadata:
; ir-templates/README.md.

target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@ws.layout = internal addrspace(4) constant i32 1
@ws.threads = internal addrspace(4) constant i32 128

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare float @llvm.fmuladd.f32(float, float, float)

; ---- region dot: one element of C --------------------------------------------
define internal float @dot(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %k) #0 {
entry:
  %i.slot = alloca i32
  %sum.slot = alloca float
  store i32 0, ptr %i.slot
  store float 0.0, ptr %sum.slot
  br label %body
body:
  %i = load i32, ptr %i.slot
  %i64 = zext i32 %i to i64
  %a.at = getelementptr i16, ptr addrspace(1) %a, i64 %i64
  %b.at = getelementptr i16, ptr addrspace(1) %b, i64 %i64
  %a.bits = load i16, ptr addrspace(1) %a.at, align 2
  %b.bits = load i16, ptr addrspace(1) %b.at, align 2
  %a.value = call float @decode(i16 %a.bits)
  %b.value = call float @decode(i16 %b.bits)
  %sum = load float, ptr %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %a.value, float %b.value, float %sum)
  store float %sum.next, ptr %sum.slot
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %more = icmp ult i32 %i.next, %k
  br i1 %more, label %body, label %exit
exit:
  %result = load float, ptr %sum.slot
  ret float %result
}

; The same, 8 elements per load.
define internal float @dot_wide(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %k) #0 {
entry:
  %i.slot = alloca i32
  %j.slot = alloca i32
  %sum.slot = alloca float
  store i32 0, ptr %i.slot
  store float 0.0, ptr %sum.slot
  br label %chunk
chunk:
  %i = load i32, ptr %i.slot
  %i64 = zext i32 %i to i64
  %a.at = getelementptr i16, ptr addrspace(1) %a, i64 %i64
  %b.at = getelementptr i16, ptr addrspace(1) %b, i64 %i64
  %a.chunk = load <8 x i16>, ptr addrspace(1) %a.at, align 16
  %b.chunk = load <8 x i16>, ptr addrspace(1) %b.at, align 16
  store i32 0, ptr %j.slot
  br label %element
element:
  %j = load i32, ptr %j.slot
  %a.bits = extractelement <8 x i16> %a.chunk, i32 %j
  %b.bits = extractelement <8 x i16> %b.chunk, i32 %j
  %a.value = call float @decode(i16 %a.bits)
  %b.value = call float @decode(i16 %b.bits)
  %sum = load float, ptr %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %a.value, float %b.value, float %sum)
  store float %sum.next, ptr %sum.slot
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, 8
  br i1 %j.more, label %element, label %chunk.end, !llvm.loop !0
chunk.end:
  %i.next = add i32 %i, 8
  store i32 %i.next, ptr %i.slot
  %more = icmp ult i32 %i.next, %k
  br i1 %more, label %chunk, label %exit
exit:
  %result = load float, ptr %sum.slot
  ret float %result
}

; bf16 is the upper half of an fp32.
define internal float @decode(i16 %bits) #0 {
entry:
  %wide = zext i16 %bits to i32
  %placed = shl i32 %wide, 16
  %value = bitcast i32 %placed to float
  ret float %value
}

; ---- kernel ------------------------------------------------------------------
define ptx_kernel void @gemm_bf16_naive_sm90a(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n, i32 %k) {
entry:
  %threads = load i32, ptr addrspace(4) @ws.threads
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ; m * n is at most 2^31
  %element.0 = mul i32 %group, %threads
  %element = add i32 %element.0, %thread
  %count = mul i32 %m, %n
  %inside = icmp ult i32 %element, %count ; global load and store mask
  br i1 %inside, label %work, label %exit
work:
  %row = udiv i32 %element, %n
  %column = urem i32 %element, %n
  %row64 = zext i32 %row to i64
  %column64 = zext i32 %column to i64
  %k64 = zext i32 %k to i64
  %a.row = mul i64 %row64, %k64
  %b.row = mul i64 %column64, %k64
  %a.at = getelementptr i16, ptr addrspace(1) %a, i64 %a.row
  %b.at = getelementptr i16, ptr addrspace(1) %b, i64 %b.row
  %sum = call float @dot(ptr addrspace(1) %a.at, ptr addrspace(1) %b.at, i32 %k)
  %rounded = fptrunc float %sum to bfloat
  %element64 = zext i32 %element to i64
  %c.at = getelementptr bfloat, ptr addrspace(1) %c, i64 %element64
  store bfloat %rounded, ptr addrspace(1) %c.at, align 2
  br label %exit
exit:
  ret void
}

attributes #0 = { alwaysinline }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}

!wavesmith.template = !{!2}
!2 = !{!"gemm_bf16_naive_sm90a", !"1", !"gemm_bf16", !"sm_90a", !"One thread per element of C: the starting point."}

!wavesmith.param = !{!9, !3}
!9 = !{!"layout", !"ws.layout", !"1", !"layout of a and b: k-major"}
!3 = !{!"threads", !"ws.threads", !"64 128 256 512", !"threads of a workgroup: consecutive elements of C"}

!wavesmith.launch = !{!4}
!4 = !{!"gemm_bf16_naive_sm90a", !"ceildiv(m * n, threads)", !"1", !"1", !"threads", !"1"}

!wavesmith.region = !{!5}
!5 = !{!"dot", !"Returns the sum over i = 0 .. k - 1 of a[i] * b[i], bf16 values, in fp32. The pointers are this thread's row of A and row of B, 16-byte aligned, k contiguous elements of each; k is a multiple of 8 and not 0. Runs under divergent control flow: no barrier, no cross-lane operation."}

!wavesmith.variant = !{!6}
!6 = !{!"dot", !"dot_wide", !"loads of 16 bytes"}
