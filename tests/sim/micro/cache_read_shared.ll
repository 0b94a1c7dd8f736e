; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; cache_read_shared: every workgroup reads the same two streams of @ELEMENTS@
; float4 each, `passes` times. An offset of 0 that the compiler does not know
; keeps it from loading once for all passes.
;
; @ELEMENTS@  float4 of one stream
; @THREADS@   of a workgroup
; @INNER@     pairs of loads that the inner loop is unrolled to, at most 32
; @OUTER@     passes that are unrolled, so that 32 pairs stand together

target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @read(ptr addrspace(1) %b, ptr addrspace(1) %a, i32 %passes) #0 {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  br label %pass

pass:
  %left = phi i32 [ %passes, %entry ], [ %less, %pass.end ]
  %sum = phi <4 x float> [ zeroinitializer, %entry ], [ %scaled, %pass.end ]
  %zero = call i32 asm sideeffect "", "=s,0"(i32 0)
  %base = add i32 %thread, %zero
  br label %pair

pair:
  %i = phi i32 [ 0, %pass ], [ %i.next, %pair ]
  %so.far = phi <4 x float> [ %sum, %pass ], [ %more, %pair ]
  %x = add i32 %base, %i
  %x.64 = zext i32 %x to i64
  %left.at = getelementptr <4 x float>, ptr addrspace(1) %b, i64 %x.64
  %right.at = getelementptr <4 x float>, ptr addrspace(1) %left.at, i64 @ELEMENTS@
  %one = load <4 x float>, ptr addrspace(1) %left.at
  %two = load <4 x float>, ptr addrspace(1) %right.at
  %product = fmul contract <4 x float> %one, %two
  %more = fadd contract <4 x float> %so.far, %product
  %i.next = add nuw nsw i32 %i, @THREADS@
  %again = icmp ult i32 %i.next, @ELEMENTS@
  br i1 %again, label %pair, label %pass.end, !llvm.loop !0

pass.end:
  %scaled = fmul contract <4 x float> %more, splat (float 0x3FF4CCCCC0000000)
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %after, label %pass, !llvm.loop !2

after:
  %s0 = extractelement <4 x float> %scaled, i32 0
  %s1 = extractelement <4 x float> %scaled, i32 1
  %s2 = extractelement <4 x float> %scaled, i32 2
  %s3 = extractelement <4 x float> %scaled, i32 3
  %s01 = fadd float %s0, %s1
  %s23 = fadd float %s2, %s3
  %s = fadd float %s01, %s23
  %hit = fcmp oeq float %s, 1.233e+03
  br i1 %hit, label %keep, label %end

keep:
  %a.at = getelementptr float, ptr addrspace(1) %a, i32 %thread
  store float %s, ptr addrspace(1) %a.at
  br label %end

end:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,512" "target-cpu"="gfx942" "uniform-work-group-size"="true" }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 @INNER@}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.count", i32 @OUTER@}
