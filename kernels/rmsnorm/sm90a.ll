; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; rmsnorm on sm_90a: `threads` threads work on a row, `group_rows` rows are a
; workgroup. A vector is 8 columns, 16 bytes. A thread loads all its first `keep`
; vectors of x and residual (early = 1: and of weight) before it looks at any,
; and holds their sums in registers between the two passes; what is beyond them
; is read again, from L2. Sums go through a warp by shuffles and through shared
; memory between the warps of a row.
;
; A thread that has no column, or no row, loads the row's first vector (row 0's)
; in place of it, so that loads have no branch; it counts as 0 and is not stored.

target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@ws.threads = internal addrspace(4) constant i32 256
@ws.keep = internal addrspace(4) constant i32 2
@ws.group_rows = internal addrspace(4) constant i32 1
@ws.early = internal addrspace(4) constant i32 1
@ws.lds = external addrspace(3) global [0 x i8], align 1024

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #1
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #1
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare float @llvm.nvvm.rsqrt.approx.f(float)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)

; ---- regions -----------------------------------------------------------------

define internal <4 x i32> @load16(ptr addrspace(1) %from) #0 {
  %value = load <4 x i32>, ptr addrspace(1) %from, align 16
  ret <4 x i32> %value
}

define internal <4 x i32> @load16_once(ptr addrspace(1) %from) #0 {
  %all = call { i32, i32, i32, i32 } asm "ld.global.nc.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l"(ptr addrspace(1) %from)
  %v0 = extractvalue { i32, i32, i32, i32 } %all, 0
  %v1 = extractvalue { i32, i32, i32, i32 } %all, 1
  %v2 = extractvalue { i32, i32, i32, i32 } %all, 2
  %v3 = extractvalue { i32, i32, i32, i32 } %all, 3
  %o0 = insertelement <4 x i32> poison, i32 %v0, i32 0
  %o1 = insertelement <4 x i32> %o0, i32 %v1, i32 1
  %o2 = insertelement <4 x i32> %o1, i32 %v2, i32 2
  %o3 = insertelement <4 x i32> %o2, i32 %v3, i32 3
  ret <4 x i32> %o3
}

define internal void @store16(ptr addrspace(1) %to, <4 x i32> %value) #0 {
  store <4 x i32> %value, ptr addrspace(1) %to, align 16
  ret void
}

define internal void @store16_streaming(ptr addrspace(1) %to, <4 x i32> %value) #0 {
  %v0 = extractelement <4 x i32> %value, i32 0
  %v1 = extractelement <4 x i32> %value, i32 1
  %v2 = extractelement <4 x i32> %value, i32 2
  %v3 = extractelement <4 x i32> %value, i32 3
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %to, i32 %v0, i32 %v1, i32 %v2, i32 %v3)
  ret void
}

define internal float @warp_sum(float %value) #2 {
  %bits0 = bitcast float %value to i32
  %other.bits0 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits0, i32 16, i32 31)
  %other0 = bitcast i32 %other.bits0 to float
  %v0 = fadd float %value, %other0
  %bits1 = bitcast float %v0 to i32
  %other.bits1 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits1, i32 8, i32 31)
  %other1 = bitcast i32 %other.bits1 to float
  %v1 = fadd float %v0, %other1
  %bits2 = bitcast float %v1 to i32
  %other.bits2 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits2, i32 4, i32 31)
  %other2 = bitcast i32 %other.bits2 to float
  %v2 = fadd float %v1, %other2
  %bits3 = bitcast float %v2 to i32
  %other.bits3 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits3, i32 2, i32 31)
  %other3 = bitcast i32 %other.bits3 to float
  %v3 = fadd float %v2, %other3
  %bits4 = bitcast float %v3 to i32
  %other.bits4 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits4, i32 1, i32 31)
  %other4 = bitcast i32 %other.bits4 to float
  %v4 = fadd float %v3, %other4
  ret float %v4
}

define internal float @inverse_root(float %value) #0 {
  %root = call float @llvm.sqrt.f32(float %value)
  %result = fdiv float 1.0, %root
  ret float %result
}

define internal float @inverse_root_approximate(float %value) #0 {
  %result = call float @llvm.nvvm.rsqrt.approx.f(float %value)
  ret float %result
}

; ---- parts -------------------------------------------------------------------

; 8 sums in f32 to `to`, 0 outside of the row; returns the sum of their squares.
define internal float @add8(<4 x i32> %a, <4 x i32> %b, ptr %to, i1 %inside) #0 {
  %a0 = extractelement <4 x i32> %a, i32 0
  %a0.low.bits = shl i32 %a0, 16
  %a0.high.bits = and i32 %a0, -65536
  %a0.low = bitcast i32 %a0.low.bits to float
  %a0.high = bitcast i32 %a0.high.bits to float
  %b0 = extractelement <4 x i32> %b, i32 0
  %b0.low.bits = shl i32 %b0, 16
  %b0.high.bits = and i32 %b0, -65536
  %b0.low = bitcast i32 %b0.low.bits to float
  %b0.high = bitcast i32 %b0.high.bits to float
  %all0 = fadd float %a0.low, %b0.low
  %v0 = select i1 %inside, float %all0, float 0.0
  %at0 = getelementptr float, ptr %to, i32 0
  store float %v0, ptr %at0
  %all1 = fadd float %a0.high, %b0.high
  %v1 = select i1 %inside, float %all1, float 0.0
  %at1 = getelementptr float, ptr %to, i32 1
  store float %v1, ptr %at1
  %a1 = extractelement <4 x i32> %a, i32 1
  %a1.low.bits = shl i32 %a1, 16
  %a1.high.bits = and i32 %a1, -65536
  %a1.low = bitcast i32 %a1.low.bits to float
  %a1.high = bitcast i32 %a1.high.bits to float
  %b1 = extractelement <4 x i32> %b, i32 1
  %b1.low.bits = shl i32 %b1, 16
  %b1.high.bits = and i32 %b1, -65536
  %b1.low = bitcast i32 %b1.low.bits to float
  %b1.high = bitcast i32 %b1.high.bits to float
  %all2 = fadd float %a1.low, %b1.low
  %v2 = select i1 %inside, float %all2, float 0.0
  %at2 = getelementptr float, ptr %to, i32 2
  store float %v2, ptr %at2
  %all3 = fadd float %a1.high, %b1.high
  %v3 = select i1 %inside, float %all3, float 0.0
  %at3 = getelementptr float, ptr %to, i32 3
  store float %v3, ptr %at3
  %a2 = extractelement <4 x i32> %a, i32 2
  %a2.low.bits = shl i32 %a2, 16
  %a2.high.bits = and i32 %a2, -65536
  %a2.low = bitcast i32 %a2.low.bits to float
  %a2.high = bitcast i32 %a2.high.bits to float
  %b2 = extractelement <4 x i32> %b, i32 2
  %b2.low.bits = shl i32 %b2, 16
  %b2.high.bits = and i32 %b2, -65536
  %b2.low = bitcast i32 %b2.low.bits to float
  %b2.high = bitcast i32 %b2.high.bits to float
  %all4 = fadd float %a2.low, %b2.low
  %v4 = select i1 %inside, float %all4, float 0.0
  %at4 = getelementptr float, ptr %to, i32 4
  store float %v4, ptr %at4
  %all5 = fadd float %a2.high, %b2.high
  %v5 = select i1 %inside, float %all5, float 0.0
  %at5 = getelementptr float, ptr %to, i32 5
  store float %v5, ptr %at5
  %a3 = extractelement <4 x i32> %a, i32 3
  %a3.low.bits = shl i32 %a3, 16
  %a3.high.bits = and i32 %a3, -65536
  %a3.low = bitcast i32 %a3.low.bits to float
  %a3.high = bitcast i32 %a3.high.bits to float
  %b3 = extractelement <4 x i32> %b, i32 3
  %b3.low.bits = shl i32 %b3, 16
  %b3.high.bits = and i32 %b3, -65536
  %b3.low = bitcast i32 %b3.low.bits to float
  %b3.high = bitcast i32 %b3.high.bits to float
  %all6 = fadd float %a3.low, %b3.low
  %v6 = select i1 %inside, float %all6, float 0.0
  %at6 = getelementptr float, ptr %to, i32 6
  store float %v6, ptr %at6
  %all7 = fadd float %a3.high, %b3.high
  %v7 = select i1 %inside, float %all7, float 0.0
  %at7 = getelementptr float, ptr %to, i32 7
  store float %v7, ptr %at7
  %s0 = fmul float %v0, %v0
  %s1 = call float @llvm.fma.f32(float %v1, float %v1, float %s0)
  %s2 = call float @llvm.fma.f32(float %v2, float %v2, float %s1)
  %s3 = call float @llvm.fma.f32(float %v3, float %v3, float %s2)
  %s4 = call float @llvm.fma.f32(float %v4, float %v4, float %s3)
  %s5 = call float @llvm.fma.f32(float %v5, float %v5, float %s4)
  %s6 = call float @llvm.fma.f32(float %v6, float %v6, float %s5)
  %s7 = call float @llvm.fma.f32(float %v7, float %v7, float %s6)
  ret float %s7
}

; 8 values as bf16.
define internal <4 x i32> @pack8(ptr %from) #0 {
  %at0 = getelementptr float, ptr %from, i32 0
  %v0 = load float, ptr %at0
  %at1 = getelementptr float, ptr %from, i32 1
  %v1 = load float, ptr %at1
  %at2 = getelementptr float, ptr %from, i32 2
  %v2 = load float, ptr %at2
  %at3 = getelementptr float, ptr %from, i32 3
  %v3 = load float, ptr %at3
  %at4 = getelementptr float, ptr %from, i32 4
  %v4 = load float, ptr %at4
  %at5 = getelementptr float, ptr %from, i32 5
  %v5 = load float, ptr %at5
  %at6 = getelementptr float, ptr %from, i32 6
  %v6 = load float, ptr %at6
  %at7 = getelementptr float, ptr %from, i32 7
  %v7 = load float, ptr %at7
  %pair0 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %v1, float %v0)
  %bits0 = bitcast <2 x bfloat> %pair0 to i32
  %out0 = insertelement <4 x i32> poison, i32 %bits0, i32 0
  %pair1 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %v3, float %v2)
  %bits1 = bitcast <2 x bfloat> %pair1 to i32
  %out1 = insertelement <4 x i32> %out0, i32 %bits1, i32 1
  %pair2 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %v5, float %v4)
  %bits2 = bitcast <2 x bfloat> %pair2 to i32
  %out2 = insertelement <4 x i32> %out1, i32 %bits2, i32 2
  %pair3 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %v7, float %v6)
  %bits3 = bitcast <2 x bfloat> %pair3 to i32
  %out3 = insertelement <4 x i32> %out2, i32 %bits3, i32 3
  ret <4 x i32> %out3
}

; 8 values times factor and weight, as bf16.
define internal <4 x i32> @scale8(ptr %from, float %factor, <4 x i32> %weights) #0 {
  %at0 = getelementptr float, ptr %from, i32 0
  %v0 = load float, ptr %at0
  %at1 = getelementptr float, ptr %from, i32 1
  %v1 = load float, ptr %at1
  %at2 = getelementptr float, ptr %from, i32 2
  %v2 = load float, ptr %at2
  %at3 = getelementptr float, ptr %from, i32 3
  %v3 = load float, ptr %at3
  %at4 = getelementptr float, ptr %from, i32 4
  %v4 = load float, ptr %at4
  %at5 = getelementptr float, ptr %from, i32 5
  %v5 = load float, ptr %at5
  %at6 = getelementptr float, ptr %from, i32 6
  %v6 = load float, ptr %at6
  %at7 = getelementptr float, ptr %from, i32 7
  %v7 = load float, ptr %at7
  %w0 = extractelement <4 x i32> %weights, i32 0
  %w0.low.bits = shl i32 %w0, 16
  %w0.high.bits = and i32 %w0, -65536
  %w0.f = bitcast i32 %w0.low.bits to float
  %w1.f = bitcast i32 %w0.high.bits to float
  %w1 = extractelement <4 x i32> %weights, i32 1
  %w1.low.bits = shl i32 %w1, 16
  %w1.high.bits = and i32 %w1, -65536
  %w2.f = bitcast i32 %w1.low.bits to float
  %w3.f = bitcast i32 %w1.high.bits to float
  %w2 = extractelement <4 x i32> %weights, i32 2
  %w2.low.bits = shl i32 %w2, 16
  %w2.high.bits = and i32 %w2, -65536
  %w4.f = bitcast i32 %w2.low.bits to float
  %w5.f = bitcast i32 %w2.high.bits to float
  %w3 = extractelement <4 x i32> %weights, i32 3
  %w3.low.bits = shl i32 %w3, 16
  %w3.high.bits = and i32 %w3, -65536
  %w6.f = bitcast i32 %w3.low.bits to float
  %w7.f = bitcast i32 %w3.high.bits to float
  %t0 = fmul float %v0, %factor
  %y0 = fmul float %t0, %w0.f
  %t1 = fmul float %v1, %factor
  %y1 = fmul float %t1, %w1.f
  %t2 = fmul float %v2, %factor
  %y2 = fmul float %t2, %w2.f
  %t3 = fmul float %v3, %factor
  %y3 = fmul float %t3, %w3.f
  %t4 = fmul float %v4, %factor
  %y4 = fmul float %t4, %w4.f
  %t5 = fmul float %v5, %factor
  %y5 = fmul float %t5, %w5.f
  %t6 = fmul float %v6, %factor
  %y6 = fmul float %t6, %w6.f
  %t7 = fmul float %v7, %factor
  %y7 = fmul float %t7, %w7.f
  %pair0 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %y1, float %y0)
  %bits0 = bitcast <2 x bfloat> %pair0 to i32
  %out0 = insertelement <4 x i32> poison, i32 %bits0, i32 0
  %pair1 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %y3, float %y2)
  %bits1 = bitcast <2 x bfloat> %pair1 to i32
  %out1 = insertelement <4 x i32> %out0, i32 %bits1, i32 1
  %pair2 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %y5, float %y4)
  %bits2 = bitcast <2 x bfloat> %pair2 to i32
  %out2 = insertelement <4 x i32> %out1, i32 %bits2, i32 2
  %pair3 = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %y7, float %y6)
  %bits3 = bitcast <2 x bfloat> %pair3 to i32
  %out3 = insertelement <4 x i32> %out2, i32 %bits3, i32 3
  ret <4 x i32> %out3
}

define internal ptr addrspace(1) @vector_at(ptr addrspace(1) %row, i32 %vector) #0 {
  %wide = zext i32 %vector to i64
  %at = getelementptr <4 x i32>, ptr addrspace(1) %row, i64 %wide
  ret ptr addrspace(1) %at
}

; The sum over the threads of a row, in each of them. Each lane takes the sum of
; one of the row's warps; a warp has 32 / warps copies of each, all powers of 2.
define internal float @row_sum(float %own, i32 %thread, i32 %threads) #2 {
entry:
  %warp.total = call float @warp_sum(float %own)
  %warps = lshr i32 %threads, 5
  %several = icmp ugt i32 %warps, 1
  br i1 %several, label %share, label %end
share:
  %lane = and i32 %thread, 31
  %warp = lshr i32 %thread, 5
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %put, label %wait
put:
  %to = getelementptr float, ptr addrspace(3) @ws.lds, i32 %warp
  store float %warp.total, ptr addrspace(3) %to, align 4
  br label %wait
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) #1
  %last = sub i32 %warps, 1
  %other = and i32 %lane, %last
  %above = sub i32 0, %warps
  %row.warp = and i32 %warp, %above
  %taken = add i32 %row.warp, %other
  %from = getelementptr float, ptr addrspace(3) @ws.lds, i32 %taken
  %part = load float, ptr addrspace(3) %from, align 4
  %copies = call float @warp_sum(float %part)
  %warps.float = uitofp i32 %warps to float
  %share.of = fmul float %warps.float, 0x3FA0000000000000 ; 1/32
  %row.total = fmul float %copies, %share.of
  br label %end
end:
  %total = phi float [ %warp.total, %entry ], [ %row.total, %wait ]
  ret float %total
}

; ---- kernel ------------------------------------------------------------------
define ptx_kernel void @rmsnorm_sm90a(ptr addrspace(1) noalias readonly %x, ptr addrspace(1) noalias readonly %residual, ptr addrspace(1) noalias readonly %weight, ptr addrspace(1) noalias writeonly %sum, ptr addrspace(1) noalias writeonly %y, i32 %rows, i32 %cols, float %eps) {
entry:
  %xs = alloca [8 x <4 x i32>], align 16
  %residuals = alloca [8 x <4 x i32>], align 16
  %weights = alloca [8 x <4 x i32>], align 16
  %kept = alloca [64 x float], align 4
  %passing = alloca [8 x float], align 4
  %threads = load i32, ptr addrspace(4) @ws.threads
  %keep = load i32, ptr addrspace(4) @ws.keep
  %group_rows = load i32, ptr addrspace(4) @ws.group_rows
  %early.value = load i32, ptr addrspace(4) @ws.early
  %early = icmp ne i32 %early.value, 0
  %late = xor i1 %early, true
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %in.group = udiv i32 %thread, %threads
  %own = urem i32 %thread, %threads
  %first.row = mul i32 %group, %group_rows
  %row = add i32 %first.row, %in.group
  %present = icmp ult i32 %row, %rows
  %row.kept = select i1 %present, i32 %row, i32 0
  %row.wide = zext i32 %row.kept to i64
  %cols.wide = zext i32 %cols to i64
  %first = mul i64 %row.wide, %cols.wide
  %x.row = getelementptr i16, ptr addrspace(1) %x, i64 %first
  %residual.row = getelementptr i16, ptr addrspace(1) %residual, i64 %first
  %sum.row = getelementptr i16, ptr addrspace(1) %sum, i64 %first
  %y.row = getelementptr i16, ptr addrspace(1) %y, i64 %first
  %vectors.all = lshr i32 %cols, 3
  %vectors = select i1 %present, i32 %vectors.all, i32 0
  br label %load
load:
  %i = phi i32 [ 0, %entry ], [ %i.next, %load.end ]
  %i.past = mul i32 %i, %threads
  %i.vector = add i32 %i.past, %own
  %i.inside = icmp ult i32 %i.vector, %vectors
  %i.taken = select i1 %i.inside, i32 %i.vector, i32 0
  %x.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %x.row, i32 %i.taken)
  %residual.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %residual.row, i32 %i.taken)
  %x.value = call <4 x i32> @load16(ptr addrspace(1) %x.at)
  %residual.value = call <4 x i32> @load16(ptr addrspace(1) %residual.at)
  %x.slot = getelementptr <4 x i32>, ptr %xs, i32 %i
  %residual.slot = getelementptr <4 x i32>, ptr %residuals, i32 %i
  store <4 x i32> %x.value, ptr %x.slot, align 16
  store <4 x i32> %residual.value, ptr %residual.slot, align 16
  br i1 %early, label %load.weight, label %load.end
load.weight:
  %weight.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %weight, i32 %i.taken)
  %weight.value = load <4 x i32>, ptr addrspace(1) %weight.at, align 16
  %weight.slot = getelementptr <4 x i32>, ptr %weights, i32 %i
  store <4 x i32> %weight.value, ptr %weight.slot, align 16
  br label %load.end
load.end:
  %i.next = add i32 %i, 1
  %i.more = icmp ult i32 %i.next, %keep
  br i1 %i.more, label %load, label %add, !llvm.loop !20
add:
  %j = phi i32 [ 0, %load.end ], [ %j.next, %add.end ]
  %squares = phi float [ 0.0, %load.end ], [ %squares.next, %add.end ]
  %j.past = mul i32 %j, %threads
  %j.vector = add i32 %j.past, %own
  %j.inside = icmp ult i32 %j.vector, %vectors
  %j.x.slot = getelementptr <4 x i32>, ptr %xs, i32 %j
  %j.residual.slot = getelementptr <4 x i32>, ptr %residuals, i32 %j
  %j.x = load <4 x i32>, ptr %j.x.slot, align 16
  %j.residual = load <4 x i32>, ptr %j.residual.slot, align 16
  %j.eight = shl i32 %j, 3
  %j.kept = getelementptr float, ptr %kept, i32 %j.eight
  %j.squares = call float @add8(<4 x i32> %j.x, <4 x i32> %j.residual, ptr %j.kept, i1 %j.inside)
  %squares.next = fadd float %squares, %j.squares
  br i1 %j.inside, label %add.store, label %add.end
add.store:
  %sum.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %sum.row, i32 %j.vector)
  %sum.value = call <4 x i32> @pack8(ptr %j.kept)
  call void @store16(ptr addrspace(1) %sum.at, <4 x i32> %sum.value)
  br label %add.end
add.end:
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, %keep
  br i1 %j.more, label %add, label %beyond, !llvm.loop !20
beyond:
  %kept.vectors = mul i32 %keep, %threads
  %begin = add i32 %kept.vectors, %own
  br label %rest
rest:
  %r = phi i32 [ %begin, %beyond ], [ %r.next, %rest.one ]
  %r.squares = phi float [ %squares.next, %beyond ], [ %r.squares.next, %rest.one ]
  %r.inside = icmp ult i32 %r, %vectors
  br i1 %r.inside, label %rest.one, label %reduce
rest.one:
  %r.x.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %x.row, i32 %r)
  %r.residual.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %residual.row, i32 %r)
  %r.sum.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %sum.row, i32 %r)
  %r.x = call <4 x i32> @load16(ptr addrspace(1) %r.x.at)
  %r.residual = call <4 x i32> @load16(ptr addrspace(1) %r.residual.at)
  %r.own = call float @add8(<4 x i32> %r.x, <4 x i32> %r.residual, ptr %passing, i1 true)
  %r.sum = call <4 x i32> @pack8(ptr %passing)
  call void @store16(ptr addrspace(1) %r.sum.at, <4 x i32> %r.sum)
  %r.squares.next = fadd float %r.squares, %r.own
  %r.next = add i32 %r, %threads
  br label %rest
reduce:
  %total = call float @row_sum(float %r.squares, i32 %thread, i32 %threads)
  %count = uitofp i32 %cols to float
  %mean = fdiv float %total, %count
  %mean.eps = fadd float %mean, %eps
  %factor = call float @inverse_root(float %mean.eps)
  br label %write
write:
  %k = phi i32 [ 0, %reduce ], [ %k.next, %write.end ]
  %k.past = mul i32 %k, %threads
  %k.vector = add i32 %k.past, %own
  %k.inside = icmp ult i32 %k.vector, %vectors
  br i1 %k.inside, label %write.one, label %write.end
write.one:
  %k.weight.slot = getelementptr <4 x i32>, ptr %weights, i32 %k
  br i1 %late, label %write.load, label %write.scale
write.load:
  %k.weight.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %weight, i32 %k.vector)
  %k.weight.late = load <4 x i32>, ptr addrspace(1) %k.weight.at, align 16
  store <4 x i32> %k.weight.late, ptr %k.weight.slot, align 16
  br label %write.scale
write.scale:
  %k.weight = load <4 x i32>, ptr %k.weight.slot, align 16
  %k.eight = shl i32 %k, 3
  %k.kept = getelementptr float, ptr %kept, i32 %k.eight
  %y.value = call <4 x i32> @scale8(ptr %k.kept, float %factor, <4 x i32> %k.weight)
  %y.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %y.row, i32 %k.vector)
  call void @store16(ptr addrspace(1) %y.at, <4 x i32> %y.value)
  br label %write.end
write.end:
  %k.next = add i32 %k, 1
  %k.more = icmp ult i32 %k.next, %keep
  br i1 %k.more, label %write, label %last, !llvm.loop !20
last:
  %e = phi i32 [ %begin, %write.end ], [ %e.next, %last.one ]
  %e.inside = icmp ult i32 %e, %vectors
  br i1 %e.inside, label %last.one, label %end
last.one:
  %e.x.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %x.row, i32 %e)
  %e.residual.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %residual.row, i32 %e)
  %e.weight.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %weight, i32 %e)
  %e.y.at = call ptr addrspace(1) @vector_at(ptr addrspace(1) %y.row, i32 %e)
  %e.x = call <4 x i32> @load16(ptr addrspace(1) %e.x.at)
  %e.residual = call <4 x i32> @load16(ptr addrspace(1) %e.residual.at)
  %e.weight = load <4 x i32>, ptr addrspace(1) %e.weight.at, align 16
  %e.squares = call float @add8(<4 x i32> %e.x, <4 x i32> %e.residual, ptr %passing, i1 true)
  %e.y = call <4 x i32> @scale8(ptr %passing, float %factor, <4 x i32> %e.weight)
  call void @store16(ptr addrspace(1) %e.y.at, <4 x i32> %e.y)
  %e.next = add i32 %e, %threads
  br label %last
end:
  ret void
}

attributes #0 = { alwaysinline }
attributes #1 = { convergent }
attributes #2 = { alwaysinline convergent }

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1, !2, !3, !4}
!wavesmith.require  = !{!5}
!wavesmith.launch   = !{!6}
!wavesmith.lds      = !{!7}
!wavesmith.region   = !{!8, !9, !10, !11}
!wavesmith.variant  = !{!12, !13, !14}
!0 = !{!"rmsnorm_sm90a", !"1", !"rmsnorm", !"sm_90a", !"rows in registers between the two passes, 16 bytes a load"}
!1 = !{!"threads", !"ws.threads", !"32 64 128 256 512 1024", !"threads that work on a row"}
!2 = !{!"keep", !"ws.keep", !"1 2 3 4 6 8", !"vectors of 8 columns that a thread keeps in registers"}
!3 = !{!"group_rows", !"ws.group_rows", !"1 2 4 8", !"rows of a workgroup"}
!4 = !{!"early", !"ws.early", !"0 1", !"1: weights are loaded with the rest, before the sum is known"}
!5 = !{!"threads * group_rows <= 1024", !"a workgroup has at most 1024 threads"}
!6 = !{!"rmsnorm_sm90a", !"ceildiv(rows, group_rows)", !"1", !"1", !"threads * group_rows", !"1"}
!7 = !{!"ws.lds", !"128"}
!8 = !{!"load16", !"Returns 16 bytes of x or residual, at a multiple of 16 bytes. Called by some threads; no other memory, no barrier."}
!9 = !{!"store16", !"Stores 16 bytes of an output at a multiple of 16 bytes. Called by some threads; no other memory, no barrier."}
!10 = !{!"warp_sum", !"Returns the sum of value over the 32 lanes of a warp, in each of them. Called by all lanes of a warp; no memory, no barrier."}
!11 = !{!"inverse_root", !"Returns 1 / sqrt(value), relative error at most 2^-22. The value is positive. Called by all threads; no memory, no barrier."}
!12 = !{!"load16", !"load16_once", !"through the read-only path, not kept in L1"}
!13 = !{!"store16", !"store16_streaming", !"evicted first: what is written is not read again"}
!14 = !{!"inverse_root", !"inverse_root_approximate", !"one instruction, 2 units in the last place"}
!20 = distinct !{!20, !21}
!21 = !{!"llvm.loop.unroll.full"}
