; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; cache_read_blocks: workgroup g of 1024 threads reads block g mod `blocks` of
; 512 KiB once, 8 bytes a lane.

target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()

define amdgpu_kernel void @read(ptr addrspace(1) %b, ptr addrspace(1) %a, i32 %blocks) #0 {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %block = urem i32 %group, %blocks
  %block.first = mul i32 %block, 1024
  %row = mul i32 %blocks, 1024
  br label %pair

pair:
  %i = phi i32 [ 0, %entry ], [ %i.next, %pair ]
  %sum = phi double [ 0.0, %entry ], [ %more, %pair ]
  %row.first = mul i32 %row, %i
  %both = add i32 %row.first, %block.first
  %twice = mul i32 %both, 2
  %x = add i32 %twice, %thread
  %x.64 = sext i32 %x to i64
  %one.at = getelementptr double, ptr addrspace(1) %b, i64 %x.64
  %two.at = getelementptr double, ptr addrspace(1) %one.at, i64 1024
  %one = load double, ptr addrspace(1) %one.at
  %two = load double, ptr addrspace(1) %two.at
  %product = fmul contract double %one, %two
  %more = fadd contract double %sum, %product
  %i.next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %i.next, 32
  br i1 %done, label %after, label %pair

after:
  %hit = fcmp oeq double %more, 1.233e+03
  br i1 %hit, label %keep, label %end

keep:
  %a.at = getelementptr double, ptr addrspace(1) %a, i32 %thread
  store double %more, ptr addrspace(1) %a.at
  br label %end

end:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
