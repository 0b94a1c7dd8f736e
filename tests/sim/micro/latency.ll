; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; latency: one lane follows `turns` x 32 pointers of 8 bytes. They are loaded
; from memory, so the compiler does not know that they are global: flat loads.

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @chase(ptr addrspace(1) %start, ptr addrspace(1) %end, i32 %turns) #0 {
entry:
  %first = addrspacecast ptr addrspace(1) %start to ptr
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  %p0 = phi ptr [ %first, %entry ], [ %p32, %turn ]
  %p1 = load ptr, ptr %p0
  %p2 = load ptr, ptr %p1
  %p3 = load ptr, ptr %p2
  %p4 = load ptr, ptr %p3
  %p5 = load ptr, ptr %p4
  %p6 = load ptr, ptr %p5
  %p7 = load ptr, ptr %p6
  %p8 = load ptr, ptr %p7
  %p9 = load ptr, ptr %p8
  %p10 = load ptr, ptr %p9
  %p11 = load ptr, ptr %p10
  %p12 = load ptr, ptr %p11
  %p13 = load ptr, ptr %p12
  %p14 = load ptr, ptr %p13
  %p15 = load ptr, ptr %p14
  %p16 = load ptr, ptr %p15
  %p17 = load ptr, ptr %p16
  %p18 = load ptr, ptr %p17
  %p19 = load ptr, ptr %p18
  %p20 = load ptr, ptr %p19
  %p21 = load ptr, ptr %p20
  %p22 = load ptr, ptr %p21
  %p23 = load ptr, ptr %p22
  %p24 = load ptr, ptr %p23
  %p25 = load ptr, ptr %p24
  %p26 = load ptr, ptr %p25
  %p27 = load ptr, ptr %p26
  %p28 = load ptr, ptr %p27
  %p29 = load ptr, ptr %p28
  %p30 = load ptr, ptr %p29
  %p31 = load ptr, ptr %p30
  %p32 = load ptr, ptr %p31
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %after, label %turn

after:
  store ptr %p32, ptr addrspace(1) %end
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
