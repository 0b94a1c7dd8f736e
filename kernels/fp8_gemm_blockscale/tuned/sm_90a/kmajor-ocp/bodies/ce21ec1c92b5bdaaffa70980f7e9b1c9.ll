define internal void @accumulate_in_turn(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread) #1 {
entry:
  %partial = alloca [128 x float]
  %block.slot = alloca i32
  %step.slot = alloca i32
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %lane = urem i32 %thread, 32
  %steps = call i32 @steps()
  %last = sub i32 %steps, 1
  store i32 %first, ptr %block.slot
  br label %head
head:
  %block = load i32, ptr %block.slot
  %more = icmp ult i32 %block, %limit
  br i1 %more, label %body, label %exit
body:
  %stage = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %b.scales = call <2 x float> @b_scales_take(ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %block, i32 %first, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  %full = call i32 @full_barrier(i32 %stage)
  call void @barrier_wait(i32 %full, i32 %parity)
  store i32 0, ptr %step.slot
  br label %step.loop
step.loop:
  %step = load i32, ptr %step.slot
  call void @multiply(ptr %partial, i32 %step, i32 %stage, i32 %warpgroup, i32 %k)
  %a.scales = call <2 x float> @a_scales(i32 %step, i32 %stage, i32 %warpgroup, i32 %thread)
  ; the four products of scales, while the matrix instructions run
  %a.upper = extractelement <2 x float> %a.scales, i32 0
  %a.lower = extractelement <2 x float> %a.scales, i32 1
  %b.low = extractelement <2 x float> %b.scales, i32 0
  %b.high = extractelement <2 x float> %b.scales, i32 1
  %upper.low.0 = fmul float %a.upper, %b.low
  %lower.low.0 = fmul float %a.lower, %b.low
  %upper.high.0 = fmul float %a.upper, %b.high
  %lower.high.0 = fmul float %a.lower, %b.high
  %products = call { float, float, float, float } asm sideeffect "", "=f,=f,=f,=f,0,1,2,3"(float %upper.low.0, float %lower.low.0, float %upper.high.0, float %lower.high.0) #2
  %upper.low = extractvalue { float, float, float, float } %products, 0
  %lower.low = extractvalue { float, float, float, float } %products, 1
  %upper.high = extractvalue { float, float, float, float } %products, 2
  %lower.high = extractvalue { float, float, float, float } %products, 3
  %low.0 = insertelement <2 x float> poison, float %upper.low, i32 0
  %low = insertelement <2 x float> %low.0, float %lower.low, i32 1
  %high.0 = insertelement <2 x float> poison, float %upper.high, i32 0
  %high = insertelement <2 x float> %high.0, float %lower.high, i32 1
  call void @wait_all(ptr %partial)
  %read = icmp eq i32 %step, %last
  br i1 %read, label %release, label %scale
release:
  call void @release_stage(i32 %stage, i32 %lane)
  br label %scale
scale:
  call void @scale_step(ptr %running, ptr %partial, i32 %step, <2 x float> %low, <2 x float> %high, i32 %column, i32 %warpgroup)
  %step.next = add i32 %step, 1
  store i32 %step.next, ptr %step.slot
  %step.more = icmp ult i32 %step.next, %steps
  br i1 %step.more, label %step.loop, label %step.exit, !llvm.loop !1
step.exit:
  call void @advance(ptr %ring)
  %next = add i32 %block, 1
  store i32 %next, ptr %block.slot
  br label %head, !llvm.loop !2
exit:
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}
