define internal void @scale_accumulate(ptr %running, ptr %partial, <2 x float> %a_scales, <2 x float> %b_scales, i32 %column, i32 %past) #1 {
entry:
  %i.slot = alloca i32
  %columns = call i32 @step_columns()
  %count = udiv i32 %columns, 8
  ; the caller has multiplied: a_scales is (upper, lower) for the first column block, b_scales for the second
  %upper.low = extractelement <2 x float> %a_scales, i32 0
  %lower.low = extractelement <2 x float> %a_scales, i32 1
  %upper.high = extractelement <2 x float> %b_scales, i32 0
  %lower.high = extractelement <2 x float> %b_scales, i32 1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %column.0 = mul i32 %i, 8
  %column.here = add i32 %column, %column.0
  %upper = call float @scale_of(float %upper.low, float %upper.high, i32 %column.here, i32 %past)
  %lower = call float @scale_of(float %lower.low, float %lower.high, i32 %column.here, i32 %past)
  %element = mul i32 %i, 4
  call void @accumulate_pair(ptr %running, ptr %partial, i32 %element, float %upper)
  %element.lower = add i32 %element, 2
  call void @accumulate_pair(ptr %running, ptr %partial, i32 %element.lower, float %lower)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}
