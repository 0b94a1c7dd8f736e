; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; l2_stream: as stream, of an array of @LENGTH@ doubles that the grid goes over
; many times: the compiler makes a multiplication of the division by a constant.

target triple = "amdgcn-amd-amdhsa"

@lds = external addrspace(3) global [0 x double], align 8

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()

; The size of a workgroup is what the runtime says, as in a HIP kernel.
define internal i32 @element() alwaysinline {
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %size.at = getelementptr i8, ptr addrspace(4) %implicit, i64 12
  %size.16 = load i16, ptr addrspace(4) %size.at, !invariant.load !0
  %size = zext i16 %size.16 to i32
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, %size
  %t = add i32 %first, %thread
  %place = urem i32 %t, @LENGTH@
  ret i32 %place
}

define internal void @touch(i1 %flag) alwaysinline {
  br i1 %flag, label %touched, label %end

touched:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr double, ptr addrspace(3) @lds, i32 %thread
  store double 1.0, ptr addrspace(3) %at
  br label %end

end:
  ret void
}

define amdgpu_kernel void @write(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d, i32 %n, i1 zeroext %flag) #0 {
entry:
  %t = call i32 @element()
  %inside = icmp slt i32 %t, %n
  br i1 %inside, label %work, label %end

work:
  call void @touch(i1 %flag)
  %t.64 = sext i32 %t to i64
  %a.at = getelementptr double, ptr addrspace(1) %a, i64 %t.64
  store double 0x3FCD70A3D70A3D71, ptr addrspace(1) %a.at
  br label %end

end:
  ret void
}

define amdgpu_kernel void @read(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d, i32 %n, i1 zeroext %flag) #0 {
entry:
  %t = call i32 @element()
  %inside = icmp slt i32 %t, %n
  br i1 %inside, label %work, label %end

work:
  call void @touch(i1 %flag)
  %t.64 = sext i32 %t to i64
  %a.at = getelementptr double, ptr addrspace(1) %a, i64 %t.64
  %b.at = getelementptr double, ptr addrspace(1) %b, i64 %t.64
  %b.value = load double, ptr addrspace(1) %b.at
  %hit = fcmp oeq double %b.value, 1.23e+02
  br i1 %hit, label %keep, label %end

keep:
  store double %b.value, ptr addrspace(1) %a.at
  br label %end

end:
  ret void
}

define amdgpu_kernel void @scale(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d, i32 %n, i1 zeroext %flag) #0 {
entry:
  %t = call i32 @element()
  %inside = icmp slt i32 %t, %n
  br i1 %inside, label %work, label %end

work:
  call void @touch(i1 %flag)
  %t.64 = sext i32 %t to i64
  %a.at = getelementptr double, ptr addrspace(1) %a, i64 %t.64
  %b.at = getelementptr double, ptr addrspace(1) %b, i64 %t.64
  %b.value = load double, ptr addrspace(1) %b.at
  %value = fmul double %b.value, 0x3FF3333333333333
  store double %value, ptr addrspace(1) %a.at
  br label %end

end:
  ret void
}

define amdgpu_kernel void @triad(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d, i32 %n, i1 zeroext %flag) #0 {
entry:
  %t = call i32 @element()
  %inside = icmp slt i32 %t, %n
  br i1 %inside, label %work, label %end

work:
  call void @touch(i1 %flag)
  %t.64 = sext i32 %t to i64
  %a.at = getelementptr double, ptr addrspace(1) %a, i64 %t.64
  %b.at = getelementptr double, ptr addrspace(1) %b, i64 %t.64
  %b.value = load double, ptr addrspace(1) %b.at
  %d.at = getelementptr double, ptr addrspace(1) %d, i64 %t.64
  %d.value = load double, ptr addrspace(1) %d.at
  %c.at = getelementptr double, ptr addrspace(1) %c, i64 %t.64
  %c.value = load double, ptr addrspace(1) %c.at
  %product = fmul contract double %b.value, %d.value
  %value = fadd contract double %product, %c.value
  store double %value, ptr addrspace(1) %a.at
  br label %end

end:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }

!0 = !{}
