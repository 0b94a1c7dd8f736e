define internal i32 @barrier_peek(i32 %at, i32 %parity) #1 {
entry:
  %ready = call i32 asm sideeffect "{\0A.reg .pred done;\0Ambarrier.test_wait.parity.shared::cta.b64 done, [$1], $2;\0Aselp.u32 $0, 1, 0, done;\0A}", "=r,r,r,~{memory}"(i32 %at, i32 %parity) #2
  ret i32 %ready
}
define internal void @barrier_wait_unless(i32 %at, i32 %parity, i32 %ready) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred done;\0Asetp.ne.u32 done, $2, 0;\0A@done bra past;\0Aretry:\0Ambarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\0A@!done bra retry;\0Apast:\0A}", "r,r,r,~{memory}"(i32 %at, i32 %parity, i32 %ready) #2
  ret void
}
define internal i32 @peek_after(i32 %stage, i32 %parity) #1 {
entry:
  %stages = load i32, ptr addrspace(4) @ws.stages
  %next = add i32 %stage, 1
  %turn = icmp eq i32 %next, %stages
  %next.stage = select i1 %turn, i32 0, i32 %next
  %flip = zext i1 %turn to i32
  %next.parity = xor i32 %parity, %flip
  %at = call i32 @full_barrier(i32 %next.stage)
  %ready = call i32 @barrier_peek(i32 %at, i32 %next.parity)
  ret i32 %ready
}
define internal void @accumulate_in_turn(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread) #1 {
entry:
  %partial = alloca [128 x float]
  %block.slot = alloca i32
  %step.slot = alloca i32
  %ready.slot = alloca i32
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %lane = urem i32 %thread, 32
  %steps = call i32 @steps()
  %last = sub i32 %steps, 1
  store i32 0, ptr %ready.slot
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
  %ready = load i32, ptr %ready.slot
  call void @barrier_wait_unless(i32 %full, i32 %parity, i32 %ready)
  store i32 0, ptr %step.slot
  br label %step.loop
step.loop:
  %step = load i32, ptr %step.slot
  call void @multiply(ptr %partial, i32 %step, i32 %stage, i32 %warpgroup, i32 %k)
  %a.scales = call <2 x float> @a_scales(i32 %step, i32 %stage, i32 %warpgroup, i32 %thread)
  %read = icmp eq i32 %step, %last
  br i1 %read, label %peek, label %wait
peek:
  ; is the next stage full already? asked while the matrix instructions run
  %ready.next = call i32 @peek_after(i32 %stage, i32 %parity)
  store i32 %ready.next, ptr %ready.slot
  br label %wait
wait:
  call void @wait_all(ptr %partial)
  br i1 %read, label %release, label %scale
release:
  call void @release_stage(i32 %stage, i32 %lane)
  br label %scale
scale:
  call void @scale_step(ptr %running, ptr %partial, i32 %step, <2 x float> %a.scales, <2 x float> %b.scales, i32 %column, i32 %warpgroup)
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

