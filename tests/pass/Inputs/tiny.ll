; A small template: c[i] = f(a[i]) through LDS, for tests of the pass. It uses
; argument names of fp8_gemm_blockscale so that roles are known, and computes
; nothing of that problem.
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@ws.threads = internal addrspace(4) constant i32 64   ; parameter
@ws.repeat = internal addrspace(4) constant i32 2
@ws.lds = internal addrspace(3) global [256 x i8] poison, align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare void @llvm.amdgcn.s.barrier()

; region: loads one value per lane to LDS
define internal void @stage(ptr addrspace(1) %source, ptr addrspace(3) %target,
                            i32 %lane) alwaysinline {
entry:
  %from = getelementptr i32, ptr addrspace(1) %source, i32 %lane
  %value = load i32, ptr addrspace(1) %from, align 4
  %to = getelementptr i32, ptr addrspace(3) %target, i32 %lane
  store i32 %value, ptr addrspace(3) %to, align 4
  ret void
}

; an alternative for stage: two halves
define internal void @stage_halves(ptr addrspace(1) %source, ptr addrspace(3) %target, i32 %lane) alwaysinline {
  %from = getelementptr i32, ptr addrspace(1) %source, i32 %lane
  %low = load i16, ptr addrspace(1) %from, align 2
  %from1 = getelementptr i8, ptr addrspace(1) %from, i32 2
  %high = load i16, ptr addrspace(1) %from1, align 2
  %to = getelementptr i32, ptr addrspace(3) %target, i32 %lane
  store i16 %low, ptr addrspace(3) %to, align 2
  %to1 = getelementptr i8, ptr addrspace(3) %to, i32 2
  store i16 %high, ptr addrspace(3) %to1, align 2
  ret void
}

; region: what becomes of the neighbour's value
define internal i32 @combine(ptr addrspace(3) %from, i32 %lane) alwaysinline {
entry:
  %counter = alloca i32, align 4, addrspace(5)
  %sum = alloca i32, align 4, addrspace(5)
  store i32 0, ptr addrspace(5) %counter, align 4
  store i32 0, ptr addrspace(5) %sum, align 4
  %other = xor i32 %lane, 1
  %place = getelementptr i32, ptr addrspace(3) %from, i32 %other
  br label %head
head:
  %i = load i32, ptr addrspace(5) %counter, align 4
  %repeat = load i32, ptr addrspace(4) @ws.repeat, align 4
  %more = icmp ult i32 %i, %repeat
  br i1 %more, label %body, label %done
body:
  %value = load i32, ptr addrspace(3) %place, align 4
  %old = load i32, ptr addrspace(5) %sum, align 4
  %new = add i32 %old, %value
  store i32 %new, ptr addrspace(5) %sum, align 4
  %next = add i32 %i, 1
  store i32 %next, ptr addrspace(5) %counter, align 4
  br label %head, !llvm.loop !20
done:
  %result = load i32, ptr addrspace(5) %sum, align 4
  ret i32 %result
}

define amdgpu_kernel void @tiny(ptr addrspace(1) noalias readonly %a, ptr addrspace(1) noalias %c, i32 %m) {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %threads = load i32, ptr addrspace(4) @ws.threads, align 4
  %base = mul i32 %group, %threads
  %source = getelementptr i32, ptr addrspace(1) %a, i32 %base
  call void @stage(ptr addrspace(1) %source, ptr addrspace(3) @ws.lds, i32 %item)
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %result = call i32 @combine(ptr addrspace(3) @ws.lds, i32 %item)
  %index = add i32 %base, %item
  %inside = icmp ult i32 %index, %m
  br i1 %inside, label %write, label %end
write:
  %to = getelementptr i32, ptr addrspace(1) %c, i32 %index
  store i32 %result, ptr addrspace(1) %to, align 4
  br label %end
end:
  ret void
}

!wavesmith.template = !{!0}
!wavesmith.param = !{!1, !2}
!wavesmith.require = !{!3}
!wavesmith.lds = !{!4}
!wavesmith.launch = !{!5}
!wavesmith.region = !{!6, !7}
!wavesmith.variant = !{!8}
!llvm.module.flags = !{!9}

!0 = !{!"tiny", !"1", !"fp8_gemm_blockscale", !"gfx942", !"a copy with neighbours, for tests"}
!1 = !{!"threads", !"ws.threads", !"64 128 256", !"lanes of a workgroup"}
!2 = !{!"repeat", !"ws.repeat", !"1 2 4", !"how often the neighbour is added"}
!3 = !{!"threads * repeat <= 512", !"too much work per group"}
!4 = !{!"ws.lds", !"threads * 4"}
!5 = !{!"tiny", !"ceildiv(m, threads)", !"1", !"1", !"threads", !"1"}
!6 = !{!"stage", !"copies source[lane] to target[lane]"}
!7 = !{!"combine", !"returns repeat times the value of lane ^ 1"}
!8 = !{!"stage", !"stage_halves", !"two 16-bit copies"}
!9 = !{i32 1, !"amdhsa_code_object_version", i32 500}

!20 = distinct !{!20, !21}
!21 = !{!"llvm.loop.unroll.full"}
