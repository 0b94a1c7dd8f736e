; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The space of the public MI300X sweep, as a template for the table device
; (runtime/search/table.h): the parameters are the sweep's columns and the
; constraints leave exactly its 300 configurations. The kernel is a stub: a
; table compiles nothing, it looks times up.
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.layout = internal addrspace(4) constant i32 1
@ws.bm = internal addrspace(4) constant i32 64
@ws.bn = internal addrspace(4) constant i32 64
@ws.bk = internal addrspace(4) constant i32 64
@ws.wm = internal addrspace(4) constant i32 16
@ws.wn = internal addrspace(4) constant i32 16
@ws.wk = internal addrspace(4) constant i32 32
@ws.pipeline = internal addrspace(4) constant i32 0
@ws.fused_transpose = internal addrspace(4) constant i32 0
@ws.block_size = internal addrspace(4) constant i32 64

define amdgpu_kernel void @sweep(ptr addrspace(1) %c) {
  ret void
}

!wavesmith.template = !{!0}
!wavesmith.param    = !{!1, !2, !3, !4, !5, !6, !7, !8, !9, !10}
!wavesmith.require  = !{!11, !12, !13}
!wavesmith.launch   = !{!14}
!llvm.module.flags  = !{!15}
!0 = !{!"mi300x_sweep", !"1", !"fp8_gemm_blockscale", !"gfx942", !"the space of recorded times, not a kernel"}
!1 = !{!"layout", !"ws.layout", !"1", !"the sweep was made with mnmajor"}
!2 = !{!"bm", !"ws.bm", !"64 128", !"rows of a workgroup's tile"}
!3 = !{!"bn", !"ws.bn", !"64 128", !"columns of a workgroup's tile"}
!4 = !{!"bk", !"ws.bk", !"64 128", !"depth of a tile"}
!5 = !{!"wm", !"ws.wm", !"16 32", !"rows of an MFMA"}
!6 = !{!"wn", !"ws.wn", !"16 32", !"columns of an MFMA"}
!7 = !{!"wk", !"ws.wk", !"16 32", !"depth of an MFMA"}
!8 = !{!"pipeline", !"ws.pipeline", !"0 1 2", !"tiles prefetched into registers"}
!9 = !{!"fused_transpose", !"ws.fused_transpose", !"0 1", !"1: no kernel of its own for it"}
!10 = !{!"block_size", !"ws.block_size", !"64 128 256 512", !"threads of a workgroup"}
!11 = !{!"wm == wn", !"the MFMA instructions are square"}
!12 = !{!"wm * wk == 512", !"16x16x32 or 32x32x16"}
!13 = !{!"block_size <= 256 || bm * bn * bk == 128 * 128 * 128", !"eight waves need a full tile"}
!14 = !{!"sweep", !"ceildiv(m, bm)", !"ceildiv(n, bn)", !"1", !"block_size", !"1"}
!15 = !{i32 1, !"amdhsa_code_object_version", i32 500}
