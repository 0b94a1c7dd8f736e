; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; fp8_gemm_naive: fp8_gemm_blockscale with one thread per element of C. The
; honest starting point that every other template is compared with: no LDS, no
; matrix instructions, one byte per load.
;
; A workgroup makes a tile of C, tile_m x tile_n, consecutive threads along a
; row. Grammar of the metadata: README.md in this folder.

target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.layout = internal addrspace(4) constant i32 0
@ws.tile_m = internal addrspace(4) constant i32 16
@ws.tile_n = internal addrspace(4) constant i32 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare float @llvm.amdgcn.cvt.f32.fp8(i32, i32 immarg)
declare float @llvm.fmuladd.f32(float, float, float)

; ---- region decode: one e4m3fnuz byte -> fp32 -------------------------------
define internal float @decode(i32 %byte) #1 {
entry:
  %value = call float @llvm.amdgcn.cvt.f32.fp8(i32 %byte, i32 0)
  ret float %value
}

; By integer arithmetic: exponent and fraction moved to where fp32 has them are
; the value times 2^-119 (subnormals included), as the biases are 8 and 127.
define internal float @decode_integer(i32 %byte) #1 {
entry:
  %magnitude = and i32 %byte, 127
  %placed = shl i32 %magnitude, 20
  %small = bitcast i32 %placed to float
  %absolute = fmul float %small, 0x4760000000000000
  %absolute.bits = bitcast float %absolute to i32
  %sign = and i32 %byte, 128
  %sign.placed = shl i32 %sign, 24
  %bits = or i32 %absolute.bits, %sign.placed
  %finite = bitcast i32 %bits to float
  %is.nan = icmp eq i32 %byte, 128
  %value = select i1 %is.nan, float 0x7FF8000000000000, float %finite
  ret float %value
}

; ---- region dot: one scale block of one element of C ------------------------
define internal float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, i64 %b_step) #1 {
entry:
  %k.slot = alloca i32, addrspace(5)
  %sum.slot = alloca float, addrspace(5)
  store i32 0, ptr addrspace(5) %k.slot
  store float 0.0, ptr addrspace(5) %sum.slot
  br label %head
head:
  %k = load i32, ptr addrspace(5) %k.slot
  %more = icmp ult i32 %k, 128
  br i1 %more, label %body, label %exit
body:
  %k64 = zext i32 %k to i64
  %a.offset = mul i64 %k64, %a_step
  %b.offset = mul i64 %k64, %b_step
  %a.at = getelementptr i8, ptr addrspace(1) %a, i64 %a.offset
  %b.at = getelementptr i8, ptr addrspace(1) %b, i64 %b.offset
  %a.byte = load i8, ptr addrspace(1) %a.at, align 1
  %b.byte = load i8, ptr addrspace(1) %b.at, align 1
  %a.wide = zext i8 %a.byte to i32
  %b.wide = zext i8 %b.byte to i32
  %a.value = call float @decode(i32 %a.wide)
  %b.value = call float @decode(i32 %b.wide)
  %sum = load float, ptr addrspace(5) %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %a.value, float %b.value, float %sum)
  store float %sum.next, ptr addrspace(5) %sum.slot
  %k.next = add i32 %k, 1
  store i32 %k.next, ptr addrspace(5) %k.slot
  br label %head
exit:
  %result = load float, ptr addrspace(5) %sum.slot
  ret float %result
}

; ---- kernel -----------------------------------------------------------------
define amdgpu_kernel void @fp8_gemm_naive(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias readonly %b, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) #0 {
entry:
  %block.slot = alloca i32, addrspace(5)
  %sum.slot = alloca float, addrspace(5)
  %layout = load i32, ptr addrspace(4) @ws.layout
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()

  ; this thread's element
  %n.up.0 = add i32 %n, %tile_n
  %n.up = sub i32 %n.up.0, 1
  %tiles.n = udiv i32 %n.up, %tile_n
  %group.m = udiv i32 %group, %tiles.n
  %group.n = urem i32 %group, %tiles.n
  %row.0 = mul i32 %group.m, %tile_m
  %column.0 = mul i32 %group.n, %tile_n
  %row.1 = udiv i32 %thread, %tile_n
  %column.1 = urem i32 %thread, %tile_n
  %row = add i32 %row.0, %row.1
  %column = add i32 %column.0, %column.1
  %inside.m = icmp ult i32 %row, %m
  %inside.n = icmp ult i32 %column, %n
  %inside = and i1 %inside.m, %inside.n ; global load and store mask
  br i1 %inside, label %work, label %exit

work:
  ; element strides of both operands: along rows of C and along k
  %kmajor = icmp eq i32 %layout, 0
  %a.row.step = select i1 %kmajor, i32 %k, i32 1
  %a.k.step = select i1 %kmajor, i32 1, i32 %m
  %b.row.step = select i1 %kmajor, i32 %k, i32 1
  %b.k.step = select i1 %kmajor, i32 1, i32 %n
  %row64 = zext i32 %row to i64
  %column64 = zext i32 %column to i64
  %a.row.step64 = zext i32 %a.row.step to i64
  %a.k.step64 = zext i32 %a.k.step to i64
  %b.row.step64 = zext i32 %b.row.step to i64
  %b.k.step64 = zext i32 %b.k.step to i64
  %a.row = mul i64 %row64, %a.row.step64
  %b.row = mul i64 %column64, %b.row.step64
  %a.base = getelementptr i8, ptr addrspace(1) %a, i64 %a.row
  %b.base = getelementptr i8, ptr addrspace(1) %b, i64 %b.row
  %a.block.step = shl i64 %a.k.step64, 7
  %b.block.step = shl i64 %b.k.step64, 7

  ; and of the scales
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
  store float 0.0, ptr addrspace(5) %sum.slot
  store i32 0, ptr addrspace(5) %block.slot
  br label %head
head:
  %block = load i32, ptr addrspace(5) %block.slot
  %more = icmp ult i32 %block, %blocks.k
  br i1 %more, label %body, label %store
body:
  %block64 = zext i32 %block to i64
  %a.block = mul i64 %block64, %a.block.step
  %b.block = mul i64 %block64, %b.block.step
  %a.at = getelementptr i8, ptr addrspace(1) %a.base, i64 %a.block
  %b.at = getelementptr i8, ptr addrspace(1) %b.base, i64 %b.block
  %partial = call float @dot(ptr addrspace(1) %a.at, i64 %a.k.step64, ptr addrspace(1) %b.at, i64 %b.k.step64)
  %as.block = mul i64 %block64, %as.k64
  %bs.block = mul i64 %block64, %bs.k64
  %as.at = getelementptr float, ptr addrspace(1) %as.base, i64 %as.block
  %bs.at = getelementptr float, ptr addrspace(1) %bs.base, i64 %bs.block
  %as.value = load float, ptr addrspace(1) %as.at, align 4
  %bs.value = load float, ptr addrspace(1) %bs.at, align 4
  %scale = fmul float %as.value, %bs.value
  %sum = load float, ptr addrspace(5) %sum.slot
  %sum.next = call float @llvm.fmuladd.f32(float %partial, float %scale, float %sum)
  store float %sum.next, ptr addrspace(5) %sum.slot
  %block.next = add i32 %block, 1
  store i32 %block.next, ptr addrspace(5) %block.slot
  br label %head

store:
  %total = load float, ptr addrspace(5) %sum.slot
  %rounded = fptrunc float %total to bfloat
  %n64 = zext i32 %n to i64
  %c.row = mul i64 %row64, %n64
  %c.offset = add i64 %c.row, %column64
  %c.at = getelementptr bfloat, ptr addrspace(1) %c, i64 %c.offset
  store bfloat %rounded, ptr addrspace(1) %c.at, align 2
  br label %exit
exit:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="256,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline "target-cpu"="gfx942" }

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}

!wavesmith.template = !{!1}
!1 = !{!"fp8_gemm_naive", !"1", !"fp8_gemm_blockscale", !"gfx942", !"One thread per element of C: the starting point."}

!wavesmith.param = !{!2, !3, !4}
!2 = !{!"layout", !"ws.layout", !"0 1", !"layout of a and b: 0 kmajor, 1 mnmajor"}
!3 = !{!"tile_m", !"ws.tile_m", !"16 32", !"rows of C per workgroup"}
!4 = !{!"tile_n", !"ws.tile_n", !"16 32 64", !"columns of C per workgroup"}

!wavesmith.require = !{!5}
!5 = !{!"tile_m * tile_n <= 1024", !"a workgroup has at most 1024 threads"}

!wavesmith.launch = !{!6}
!6 = !{!"fp8_gemm_naive", !"ceildiv(m, tile_m) * ceildiv(n, tile_n)", !"1", !"1", !"tile_m * tile_n", !"1"}

!wavesmith.region = !{!7, !8}
!7 = !{!"decode", !"Returns the fp32 value of one e4m3fnuz byte, given zero-extended: exponent bias 8, subnormals, 0x80 is NaN. Called by all lanes or by some; no memory, no barrier."}
!8 = !{!"dot", !"Returns the sum over k = 0..127 of decode(a[k * a_step]) * decode(b[k * b_step]) in fp32. The pointers are this thread's row of A and row of B at the first k of a scale block; steps are in bytes (1, or the row length when k is not contiguous) and 1 only in the kmajor layout, where the pointers are 16-byte aligned. All 128 bytes of both are readable. Runs under divergent control flow: no barrier, no cross-lane operation."}

!wavesmith.variant = !{!9}
!9 = !{!"decode", !"decode_integer", !"shifts and one multiplication instead of the conversion instruction, which may run at a quarter of the rate"}
