; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; fp8_gemm_naive_sm90a: fp8_gemm_blockscale with one thread per element of C.
; The honest starting point that every other template for sm_90a is compared
; with: no shared memory, no matrix instructions, one byte per load.
;
; Thread t of workgroup g makes element g * threads + t of C, counted along the
; rows. Grammar of the metadata: README.md in this folder.

target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@ws.layout = internal addrspace(4) constant i32 2
@ws.threads = internal addrspace(4) constant i32 256

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare <2 x half> @llvm.nvvm.e4m3x2.to.f16x2.rn(i16)
declare float @llvm.fmuladd.f32(float, float, float)

; ---- region decode: one e4m3fn byte -> fp32 ---------------------------------
define internal float @decode(i32 %byte) #0 {
entry:
  %pair = trunc i32 %byte to i16
  %halves = call <2 x half> @llvm.nvvm.e4m3x2.to.f16x2.rn(i16 %pair)
  %half = extractelement <2 x half> %halves, i32 0
  %value = fpext half %half to float
  ret float %value
}

; By integer arithmetic: exponent and fraction moved to where fp32 has them are
; the value times 2^-120 (subnormals included), as the biases are 7 and 127.
define internal float @decode_integer(i32 %byte) #0 {
entry:
  %magnitude = and i32 %byte, 127
  %placed = shl i32 %magnitude, 20
  %small = bitcast i32 %placed to float
  %absolute = fmul float %small, 0x4770000000000000
  %absolute.bits = bitcast float %absolute to i32
  %sign = and i32 %byte, 128
  %sign.placed = shl i32 %sign, 24
  %bits = or i32 %absolute.bits, %sign.placed
  %finite = bitcast i32 %bits to float
  %is.nan = icmp eq i32 %magnitude, 127
  %value = select i1 %is.nan, float 0x7FF8000000000000, float %finite
  ret float %value
}

; ---- region dot: one scale block of one element of C ------------------------
define internal float @dot(ptr addrspace(1) %a, ptr addrspace(1) %b) #0 {
entry:
  %k.slot = alloca i32
  %sum.slot = alloca float
  store i32 0, ptr %k.slot
  store float 0.0, ptr %sum.slot
  br label %body
body:
  %k = load i32, ptr %k.slot
  %k64 = zext i32 %k to i64
  %a.at = getelementptr i8, ptr addrspace(1) %a, i64 %k64
  %b.at = getelementptr i8, ptr addrspace(1) %b, i64 %k64
  %a.byte = load i8, ptr addrspace(1) %a.at, align 1
  %b.byte = load i8, ptr addrspace(1) %b.at, align 1
  %a.wide = zext i8 %a.byte to i32
  %b.wide = zext i8 %b.byte to i32
  %a.value = call float @decode(i32 %a.wide)
  %b.value = call float @decode(i32 %b.wide)
  %sum = load float, ptr %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %a.value, float %b.value, float %sum)
  store float %sum.next, ptr %sum.slot
  %k.next = add i32 %k, 1
  store i32 %k.next, ptr %k.slot
  %more = icmp ult i32 %k.next, 128
  br i1 %more, label %body, label %exit
exit:
  %result = load float, ptr %sum.slot
  ret float %result
}

; The same, 16 bytes per load.
define internal float @dot_wide(ptr addrspace(1) %a, ptr addrspace(1) %b) #0 {
entry:
  %k.slot = alloca i32
  %i.slot = alloca i32
  %sum.slot = alloca float
  store i32 0, ptr %k.slot
  store float 0.0, ptr %sum.slot
  br label %chunk
chunk:
  %k = load i32, ptr %k.slot
  %k64 = zext i32 %k to i64
  %a.at = getelementptr i8, ptr addrspace(1) %a, i64 %k64
  %b.at = getelementptr i8, ptr addrspace(1) %b, i64 %k64
  %a.words = load <4 x i32>, ptr addrspace(1) %a.at, align 16
  %b.words = load <4 x i32>, ptr addrspace(1) %b.at, align 16
  store i32 0, ptr %i.slot
  br label %element
element:
  %i = load i32, ptr %i.slot
  %word = udiv i32 %i, 4
  %shift.0 = urem i32 %i, 4
  %shift = mul i32 %shift.0, 8
  %a.word = extractelement <4 x i32> %a.words, i32 %word
  %b.word = extractelement <4 x i32> %b.words, i32 %word
  %a.shifted = lshr i32 %a.word, %shift
  %b.shifted = lshr i32 %b.word, %shift
  %a.byte = and i32 %a.shifted, 255
  %b.byte = and i32 %b.shifted, 255
  %a.value = call float @decode(i32 %a.byte)
  %b.value = call float @decode(i32 %b.byte)
  %sum = load float, ptr %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %a.value, float %b.value, float %sum)
  store float %sum.next, ptr %sum.slot
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, 16
  br i1 %i.more, label %element, label %chunk.end, !llvm.loop !0
chunk.end:
  %k.next = add i32 %k, 16
  store i32 %k.next, ptr %k.slot
  %more = icmp ult i32 %k.next, 128
  br i1 %more, label %chunk, label %exit
exit:
  %result = load float, ptr %sum.slot
  ret float %result
}

; ---- kernel -----------------------------------------------------------------
define ptx_kernel void @fp8_gemm_naive_sm90a(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) {
entry:
  %block.slot = alloca i32
  %sum.slot = alloca float
  %threads = load i32, ptr addrspace(4) @ws.threads
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

  ; this thread's element; m * n is at most 2^31
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
  %a.base = getelementptr i8, ptr addrspace(1) %a, i64 %a.row
  %b.base = getelementptr i8, ptr addrspace(1) %b, i64 %b.row

  %as.m64 = sext i32 %as_stride_m to i64
  %as.k64 = sext i32 %as_stride_k to i64
  %bs.n64 = sext i32 %bs_stride_n to i64
  %bs.k64 = sext i32 %bs_stride_k to i64
  %as.row = mul i64 %row64, %as.m64
  %scale.column = lshr i64 %column64, 7
  %bs.row = mul i64 %scale.column, %bs.n64
  %as.base = getelementptr float, ptr addrspace(1) %as, i64 %as.row
  %bs.base = getelementptr float, ptr addrspace(1) %bs, i64 %bs.row

  %blocks.k = lshr i32 %k, 7
  store float 0.0, ptr %sum.slot
  store i32 0, ptr %block.slot
  br label %block
block:
  %number = load i32, ptr %block.slot
  %number64 = zext i32 %number to i64
  %depth = shl i64 %number64, 7
  %a.at = getelementptr i8, ptr addrspace(1) %a.base, i64 %depth
  %b.at = getelementptr i8, ptr addrspace(1) %b.base, i64 %depth
  %partial = call float @dot(ptr addrspace(1) %a.at, ptr addrspace(1) %b.at)
  %as.offset = mul i64 %number64, %as.k64
  %bs.offset = mul i64 %number64, %bs.k64
  %as.at = getelementptr float, ptr addrspace(1) %as.base, i64 %as.offset
  %bs.at = getelementptr float, ptr addrspace(1) %bs.base, i64 %bs.offset
  %as.value = load float, ptr addrspace(1) %as.at, align 4
  %bs.value = load float, ptr addrspace(1) %bs.at, align 4
  %scale = fmul float %as.value, %bs.value
  %sum = load float, ptr %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %partial, float %scale, float %sum)
  store float %sum.next, ptr %sum.slot
  %number.next = add i32 %number, 1
  store i32 %number.next, ptr %block.slot
  %more = icmp ult i32 %number.next, %blocks.k
  br i1 %more, label %block, label %store

store:
  %total = load float, ptr %sum.slot
  %rounded = fptrunc float %total to bfloat
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
!2 = !{!"fp8_gemm_naive_sm90a", !"1", !"fp8_gemm_blockscale", !"sm_90a", !"One thread per element of C: the starting point."}

!wavesmith.param = !{!3, !4}
!3 = !{!"layout", !"ws.layout", !"2", !"layout of a and b: 2 kmajor-ocp"}
!4 = !{!"threads", !"ws.threads", !"64 128 256 512", !"threads of a workgroup: consecutive elements of C"}

!wavesmith.launch = !{!5}
!5 = !{!"fp8_gemm_naive_sm90a", !"ceildiv(m * n, threads)", !"1", !"1", !"threads", !"1"}

!wavesmith.region = !{!6, !7}
!6 = !{!"decode", !"Returns the fp32 value of one OCP e4m3fn byte, given zero-extended: exponent bias 7, subnormals, minus zero, 0x7f and 0xff are NaN. Called by all lanes or by some; no memory, no barrier."}
!7 = !{!"dot", !"Returns the sum over k = 0..127 of decode(a[k]) * decode(b[k]) in fp32. The pointers are this thread's row of A and row of B at the first k of a scale block, 16-byte aligned, k contiguous; all 128 bytes of both are readable. Runs under divergent control flow: no barrier, no cross-lane operation."}

!wavesmith.variant = !{!8, !9}
!8 = !{!"decode", !"decode_integer", !"shifts and one multiplication instead of the conversion instruction"}
!9 = !{!"dot", !"dot_wide", !"loads of 16 bytes"}
