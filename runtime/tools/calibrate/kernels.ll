; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The kernels of `wavesmith calibrate`. Each does one thing a number of times
; that is an argument, so that the difference of two launches is of that alone.
; %zero is 0, which the compiler does not know: what was loaded decides nothing,
; but the next address waits for it.

target triple = "amdgcn-amd-amdhsa"

@words = internal addrspace(3) global [1024 x i32] poison, align 4

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.waitcnt(i32)

define amdgpu_kernel void @empty() #0 {
  ret void
}

; turns x 256 additions that wait for each other
define amdgpu_kernel void @additions(i32 %turns) #0 {
entry:
  call void asm sideeffect "v_mov_b32 v1, 0\0Av_mov_b32 v2, 1", "~{v1},~{v2}"()
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  call void asm sideeffect ".rept 256\0Av_add_u32 v1, v1, v2\0A.endr", "~{v1},~{v2}"()
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  ret void
}

; One lane, steps loads, each `stride` bytes further, round and round mask + 1.
define amdgpu_kernel void @chase(ptr addrspace(1) %base, i32 %steps, i32 %stride, i32 %mask, i32 %zero) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = and i32 %lane, %zero
  br label %step

step:
  %left = phi i32 [ %steps, %entry ], [ %less, %step ]
  %at = phi i32 [ %first, %entry ], [ %next, %step ]
  %offset = zext i32 %at to i64
  %place = getelementptr i8, ptr addrspace(1) %base, i64 %offset
  %value = load i32, ptr addrspace(1) %place, align 4
  %nothing = and i32 %value, %zero
  %further = add i32 %at, %stride
  %waited = add i32 %further, %nothing
  %next = and i32 %waited, %mask
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %step

end:
  %word = and i32 %next, %zero
  %never = icmp ne i32 %word, 0
  br i1 %never, label %keep, label %out

keep:
  store i32 %next, ptr addrspace(1) %base, align 4
  br label %out

out:
  ret void
}

; The same in LDS.
define amdgpu_kernel void @lds_chase(i32 %steps, i32 %zero) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %own = getelementptr [1024 x i32], ptr addrspace(3) @words, i32 0, i32 %lane
  store volatile i32 0, ptr addrspace(3) %own, align 4
  br label %step

step:
  %left = phi i32 [ %steps, %entry ], [ %less, %step ]
  %at = phi i32 [ %lane, %entry ], [ %next, %step ]
  %place = getelementptr [1024 x i32], ptr addrspace(3) @words, i32 0, i32 %at
  %value = load volatile i32, ptr addrspace(3) %place, align 4
  %next = add i32 %lane, %value
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %step

end:
  ret void
}

; Each lane loads 16 bytes a turn; a turn's of all workgroups are side by side.
define amdgpu_kernel void @stream(ptr addrspace(1) %base, i32 %turns, i32 %groups, i32 %threads, i32 %mask, i32 %zero) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %before = mul i32 %group, %threads
  %thread = add i32 %before, %lane
  %all = mul i32 %groups, %threads
  %bytes = shl i32 %all, 4
  %first = shl i32 %thread, 4
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  %at = phi i32 [ %first, %entry ], [ %next, %turn ]
  %sum = phi <4 x i32> [ zeroinitializer, %entry ], [ %more, %turn ]
  %offset = zext i32 %at to i64
  %place = getelementptr i8, ptr addrspace(1) %base, i64 %offset
  %value = load <4 x i32>, ptr addrspace(1) %place, align 16
  %more = or <4 x i32> %sum, %value
  %further = add i32 %at, %bytes
  %next = and i32 %further, %mask
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  %kept = extractelement <4 x i32> %more, i32 0
  %rest = extractelement <4 x i32> %more, i32 3
  %both = or i32 %kept, %rest
  %word = and i32 %both, %zero
  %never = icmp ne i32 %word, 0
  br i1 %never, label %keep, label %out

keep:
  store i32 %both, ptr addrspace(1) %base, align 4
  br label %out

out:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
