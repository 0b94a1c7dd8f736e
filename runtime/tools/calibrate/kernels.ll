; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The kernels of `wavesmith calibrate`. Each does one thing a number of times
; that is an argument, so that the difference of two launches is of that alone.
; %zero is 0, which the compiler does not know: what a chase loaded decides
; nothing, but the next address waits for it.

target triple = "amdgcn-amd-amdhsa"

@words = internal addrspace(3) global [1024 x i32] poison, align 4

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)

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

; The same through the scalar cache, one wave.
define amdgpu_kernel void @scalar_chase(ptr addrspace(4) %base, i32 %steps, i32 %stride, i32 %mask, i32 %zero) #0 {
entry:
  br label %step

step:
  %left = phi i32 [ %steps, %entry ], [ %less, %step ]
  %at = phi i32 [ %zero, %entry ], [ %next, %step ]
  %offset = zext i32 %at to i64
  %place = getelementptr i8, ptr addrspace(4) %base, i64 %offset
  %value = load volatile i32, ptr addrspace(4) %place, align 4
  %nothing = and i32 %value, %zero
  %further = add i32 %at, %stride
  %waited = add i32 %further, %nothing
  %next = and i32 %waited, %mask
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %step

end:
  ret void
}

; Stores of 4 bytes a lane, each turn to the same place; one is acknowledged
; before the next.
define amdgpu_kernel void @stores_waited(ptr addrspace(1) %base, i32 %turns) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %place = getelementptr i32, ptr addrspace(1) %base, i32 %lane
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  call void asm sideeffect "global_store_dword $0, $1, off\0As_waitcnt vmcnt(0)", "v,v,~{memory}"(ptr addrspace(1) %place, i32 %lane)
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  ret void
}

; The same of atomics that return a value.
define amdgpu_kernel void @atomics_waited(ptr addrspace(1) %base, i32 %turns) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %place = getelementptr i32, ptr addrspace(1) %base, i32 %lane
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  %old = call i32 asm sideeffect "global_atomic_add $0, $1, $2, off sc0\0As_waitcnt vmcnt(0)", "=&v,v,v,~{memory}"(ptr addrspace(1) %place, i32 %lane)
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  ret void
}

; Stores, none waited for.
define amdgpu_kernel void @stores(ptr addrspace(1) %base, i32 %turns) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %place = getelementptr i32, ptr addrspace(1) %base, i32 %lane
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  call void asm sideeffect "global_store_dword $0, $1, off", "v,v,~{memory}"(ptr addrspace(1) %place, i32 %lane)
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  ret void
}

; Five barriers a turn, of four waves. Wave 0, 0, 1, 3, 2 comes last, so that
; from the last wave's arrival to the next one's start every remainder of the
; four clocks is met in which SIMDs take turns.
define amdgpu_kernel void @barriers(i32 %turns) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %own = lshr i32 %lane, 6
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %own)
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  call void asm sideeffect ".irp last,0,0,1,3,2\0As_cmp_lg_u32 $0, \\last\0As_cbranch_scc1 1f\0As_nop 15\0As_nop 15\0A1:\0As_barrier\0A.endr", "s,~{scc},~{memory}"(i32 %wave)
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  ret void
}

; Code that no wave has run before: of 128 pieces of 512 bytes as many as asked
; for.
define amdgpu_kernel void @code(i32 %pieces) #0 {
  call i32 asm sideeffect ".rept 128\0As_sub_u32 $0, $0, 1\0As_cbranch_scc1 1f\0A.rept 63\0As_mov_b32 vcc_lo, 0x12345678\0A.endr\0A.endr\0A1:", "=s,0,~{vcc},~{scc}"(i32 %pieces)
  ret void
}

; Each lane loads 16 bytes a turn, and waits for none: as much is under way as
; the hardware lets. The waves' pieces of 1 KiB lie 2 ^ apart bytes from each
; other, a turn's of all workgroups side by side.
define amdgpu_kernel void @stream(ptr addrspace(1) %base, i32 %turns, i32 %groups, i32 %threads, i32 %mask, i32 %apart) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %before = mul i32 %group, %threads
  %thread = add i32 %before, %lane
  %all = mul i32 %groups, %threads
  %waves = lshr i32 %all, 6
  %bytes = shl i32 %waves, %apart
  %wave = lshr i32 %thread, 6
  %piece = shl i32 %wave, %apart
  %within = and i32 %thread, 63
  %part = shl i32 %within, 4
  %start = add i32 %piece, %part
  %first = and i32 %start, %mask
  br label %turn

turn:
  %left = phi i32 [ %turns, %entry ], [ %less, %turn ]
  %at = phi i32 [ %first, %entry ], [ %next, %turn ]
  call void asm sideeffect "global_load_dwordx4 v[8:11], $0, $1", "v,s,~{v8},~{v9},~{v10},~{v11}"(i32 %at, ptr addrspace(1) %base)
  %further = add i32 %at, %bytes
  %next = and i32 %further, %mask
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %turn

end:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
