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
define internal void @block_peeking(ptr %running, ptr %partial, i32 %set, i1 %more, ptr %ring, ptr %ready.slot, i32 %stage, <2 x float> %b_scales, i32 %column, i32 %k, i32 %warpgroup, i32 %thread) #1 {
entry:
  %step.slot = alloca i32
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %lane = urem i32 %thread, 32
  %steps = call i32 @steps()
  store i32 0, ptr %step.slot
  br label %step.loop
step.loop:
  %step = load i32, ptr %step.slot
  %step.next = add i32 %step, 1
  %here.0 = add i32 %set, %step
  %here.1 = urem i32 %here.0, 2
  %here.2 = mul i32 %here.1, 128
  %here = getelementptr float, ptr %partial, i32 %here.2
  %other.1 = xor i32 %here.1, 1
  %other.2 = mul i32 %other.1, 128
  %other = getelementptr float, ptr %partial, i32 %other.2
  %inner = icmp ult i32 %step.next, %steps
  br i1 %inner, label %start.own, label %border
start.own:
  call void @multiply(ptr %other, i32 %step.next, i32 %stage, i32 %warpgroup, i32 %k)
  %own.scales = call <2 x float> @a_scales(i32 %step, i32 %stage, i32 %warpgroup, i32 %thread)
  call void @wait_but_one(ptr %here)
  br label %scale
border:
  br i1 %more, label %start.next, label %finish
start.next:
  %stage.next = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %full = call i32 @full_barrier(i32 %stage.next)
  %ready = load i32, ptr %ready.slot
  call void @barrier_wait_unless(i32 %full, i32 %parity, i32 %ready)
  call void @multiply(ptr %other, i32 0, i32 %stage.next, i32 %warpgroup, i32 %k)
  %next.scales = call <2 x float> @a_scales(i32 %step, i32 %stage, i32 %warpgroup, i32 %thread)
  call void @wait_but_one(ptr %here)
  call void @release_stage(i32 %stage, i32 %lane)
  ; is the stage after the next one full? the answer comes while this step is scaled
  %ready.next = call i32 @peek_after(i32 %stage.next, i32 %parity)
  store i32 %ready.next, ptr %ready.slot
  br label %scale
finish:
  %last.scales = call <2 x float> @a_scales(i32 %step, i32 %stage, i32 %warpgroup, i32 %thread)
  call void @wait_all(ptr %here)
  call void @release_stage(i32 %stage, i32 %lane)
  br label %scale
scale:
  %a.scales = phi <2 x float> [ %own.scales, %start.own ], [ %next.scales, %start.next ], [ %last.scales, %finish ]
  call void @scale_step(ptr %running, ptr %here, i32 %step, <2 x float> %a.scales, <2 x float> %b_scales, i32 %column, i32 %warpgroup)
  store i32 %step.next, ptr %step.slot
  %step.more = icmp ult i32 %step.next, %steps
  br i1 %step.more, label %step.loop, label %step.exit, !llvm.loop !1
step.exit:
  ret void
}
define internal void @accumulate_overlapped(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread) #1 {
entry:
  %partial = alloca [256 x float]
  %block.slot = alloca i32
  %stage.slot = alloca i32
  %ready.slot = alloca i32
  %b.slot = alloca <2 x float>
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %lane = urem i32 %thread, 32
  %steps = call i32 @steps()
  %odd.0 = urem i32 %steps, 2
  %some.0 = icmp eq i32 %split_k, 1
  %some.1 = icmp ult i32 %first, %limit
  %some = or i1 %some.0, %some.1
  br i1 %some, label %begin, label %exit
begin:
  %b.first = call <2 x float> @b_scales_take(ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %first, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  store <2 x float> %b.first, ptr %b.slot
  %stage.first = load i32, ptr %ring
  %parity.first = load i32, ptr %parity.at
  store i32 %stage.first, ptr %stage.slot
  %full.first = call i32 @full_barrier(i32 %stage.first)
  call void @barrier_wait(i32 %full.first, i32 %parity.first)
  call void @multiply(ptr %partial, i32 0, i32 %stage.first, i32 %warpgroup, i32 %k)
  call void @advance(ptr %ring)
  store i32 %first, ptr %block.slot
  store i32 0, ptr %ready.slot
  br label %even.head
even.head:
  %even.block = load i32, ptr %block.slot
  %even.next = add i32 %even.block, 1
  %even.stage = load i32, ptr %stage.slot
  %even.b = load <2 x float>, ptr %b.slot
  %even.more = icmp ult i32 %even.next, %limit
  br i1 %even.more, label %even.body, label %even.last
even.body:
  %even.b.next = call <2 x float> @b_scales_take(ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %even.next, i32 %first, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  %even.stage.next = load i32, ptr %ring
  call void @block_peeking(ptr %running, ptr %partial, i32 0, i1 true, ptr %ring, ptr %ready.slot, i32 %even.stage, <2 x float> %even.b, i32 %column, i32 %k, i32 %warpgroup, i32 %thread)
  call void @advance(ptr %ring)
  store <2 x float> %even.b.next, ptr %b.slot
  store i32 %even.stage.next, ptr %stage.slot
  store i32 %even.next, ptr %block.slot
  br label %odd.head
odd.head:
  %odd.next = add i32 %even.next, 1
  %odd.more = icmp ult i32 %odd.next, %limit
  br i1 %odd.more, label %odd.body, label %odd.last
odd.body:
  %odd.b.next = call <2 x float> @b_scales_take(ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %odd.next, i32 %first, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  %odd.stage.next = load i32, ptr %ring
  call void @block_peeking(ptr %running, ptr %partial, i32 %odd.0, i1 true, ptr %ring, ptr %ready.slot, i32 %even.stage.next, <2 x float> %even.b.next, i32 %column, i32 %k, i32 %warpgroup, i32 %thread)
  call void @advance(ptr %ring)
  store <2 x float> %odd.b.next, ptr %b.slot
  store i32 %odd.stage.next, ptr %stage.slot
  store i32 %odd.next, ptr %block.slot
  br label %even.head, !llvm.loop !2
even.last:
  call void @block_peeking(ptr %running, ptr %partial, i32 0, i1 false, ptr %ring, ptr %ready.slot, i32 %even.stage, <2 x float> %even.b, i32 %column, i32 %k, i32 %warpgroup, i32 %thread)
  br label %exit
odd.last:
  call void @block_peeking(ptr %running, ptr %partial, i32 %odd.0, i1 false, ptr %ring, ptr %ready.slot, i32 %even.stage.next, <2 x float> %even.b.next, i32 %column, i32 %k, i32 %warpgroup, i32 %thread)
  br label %exit
exit:
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}
