define internal void @scale_accumulate(ptr %running, ptr %partial, <2 x float> %a_scales, <2 x float> %b_scales, i32 %column, i32 %past) #1 {
entry:
  %i.slot = alloca i32
  %j.slot = alloca i32
  %columns = call i32 @step_columns()
  %count = udiv i32 %columns, 8
  %a.upper = extractelement <2 x float> %a_scales, i32 0
  %a.lower = extractelement <2 x float> %a_scales, i32 1
  %b.low = extractelement <2 x float> %b_scales, i32 0
  %b.high = extractelement <2 x float> %b_scales, i32 1
  %upper.low = fmul float %a.upper, %b.low
  %upper.high = fmul float %a.upper, %b.high
  %lower.low = fmul float %a.lower, %b.low
  %lower.high = fmul float %a.lower, %b.high
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %i.column.0 = mul i32 %i, 8
  %i.column = add i32 %column, %i.column.0
  %i.scale = call float @scale_of(float %upper.low, float %upper.high, i32 %i.column, i32 %past)
  %i.element.0 = mul i32 %i, 4
  %i.element = add i32 %i.element.0, 0
  call void @accumulate_pair(ptr %running, ptr %partial, i32 %i.element, float %i.scale)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  store i32 0, ptr %j.slot
  br label %j.loop
j.loop:
  %j = load i32, ptr %j.slot
  %j.column.0 = mul i32 %j, 8
  %j.column = add i32 %column, %j.column.0
  %j.scale = call float @scale_of(float %lower.low, float %lower.high, i32 %j.column, i32 %past)
  %j.element.0 = mul i32 %j, 4
  %j.element = add i32 %j.element.0, 2
  call void @accumulate_pair(ptr %running, ptr %partial, i32 %j.element, float %j.scale)
  %j.next = add i32 %j, 1
  store i32 %j.next, ptr %j.slot
  %j.more = icmp ult i32 %j.next, %count
  br i1 %j.more, label %j.loop, label %j.exit, !llvm.loop !1
j.exit:
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}
