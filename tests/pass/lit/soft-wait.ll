; A wait that LLVM drops (docs/llvm-waitcnt.md). Both kernels hand numbers round
; a workgroup in LDS. Head of their loop: release, barrier, acquire; the release
; has to wait for the store at the loop's end. SIInsertWaitcnts comes to the head
; before it has seen the end and erases the legalizer's soft wait for good.
;
; The first kernel shows whether this LLVM does so: 21.1 does. When it no longer
; does, this test says so: then the page, the prompts' rule and the second
; kernel's extra wait can go.
;
; REQUIRES: llvm-21
; RUN: %llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -O3 %s -o - | FileCheck %s
; RUN: %llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx908 -O3 %s -o - | FileCheck %s --check-prefix=OLD

@lds = internal addrspace(3) global [128 x i32] poison, align 16
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.waitcnt(i32)
declare i32 @llvm.amdgcn.workitem.id.x()

; CHECK-LABEL: {{^}}dropped:
; CHECK: ds_write_b32
; CHECK: s_waitcnt lgkmcnt(0)
; CHECK-NEXT: s_barrier
; CHECK: [[LOOP:.LBB0_[0-9]+]]:
; CHECK-NOT: s_waitcnt
; CHECK: s_barrier
; CHECK: ds_read_b32
; CHECK: s_barrier
; CHECK: ds_write_b32
; CHECK-NOT: s_waitcnt
; CHECK: s_cbranch_scc1 [[LOOP]]

; A target whose barriers do not back off has a wait before each, always.
; OLD-LABEL: {{^}}dropped:
; OLD: [[LOOP:.LBB0_[0-9]+]]:
; OLD: s_waitcnt lgkmcnt(0)
; OLD-NEXT: s_barrier
; OLD: ds_read_b32
; OLD: s_cbranch_scc1 [[LOOP]]
define amdgpu_kernel void @dropped(ptr addrspace(1) %out) #0 {
entry:
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %y = xor i32 %x, 64
  %mine = getelementptr i32, ptr addrspace(3) @lds, i32 %x
  %other = getelementptr i32, ptr addrspace(3) @lds, i32 %y
  store i32 %x, ptr addrspace(3) %mine
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() ; every number of the last turn is there
  fence syncscope("workgroup") acquire
  %v = load i32, ptr addrspace(3) %other
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier() ; and read
  fence syncscope("workgroup") acquire
  %w = add i32 %v, %i
  store i32 %w, ptr addrspace(3) %mine
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 9
  br i1 %more, label %body, label %end, !llvm.loop !0
end:
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %w, ptr addrspace(1) %p
  ret void
}

; A wait of the program's own is not soft.
; CHECK-LABEL: {{^}}held:
; CHECK: [[LOOP:.LBB1_[0-9]+]]:
; CHECK: s_waitcnt lgkmcnt(0)
; CHECK-NEXT: s_barrier
; CHECK: ds_read_b32
; CHECK: s_cbranch_scc1 [[LOOP]]
define amdgpu_kernel void @held(ptr addrspace(1) %out) #0 {
entry:
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %y = xor i32 %x, 64
  %mine = getelementptr i32, ptr addrspace(3) @lds, i32 %x
  %other = getelementptr i32, ptr addrspace(3) @lds, i32 %y
  store i32 %x, ptr addrspace(3) %mine
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.waitcnt(i32 49279) ; lgkmcnt(0)
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %v = load i32, ptr addrspace(3) %other
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %w = add i32 %v, %i
  store i32 %w, ptr addrspace(3) %mine
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 9
  br i1 %more, label %body, label %end, !llvm.loop !0
end:
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %x
  store i32 %w, ptr addrspace(1) %p
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="128,128" }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
