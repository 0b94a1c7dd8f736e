define internal void @store_box_range(ptr %running, ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit, i32 %warpgroup, i32 %thread, i1 %leader) #1 {
entry:
  %i.slot = alloca i32
  %groups = call i32 @groups()
  %box.columns = call i32 @box_columns()
  %box.groups = udiv i32 %box.columns, 16
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %i.next = add i32 %i, %box.groups
  %from = call i32 @llvm.umax.i32(i32 %i, i32 %first)
  %to = call i32 @llvm.umin.i32(i32 %i.next, i32 %limit)
  call void @stage_groups(ptr %running, i32 %from, i32 %to, i32 %warpgroup, i32 %thread)
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"() #2
  call void @sync_warpgroup(i32 %warpgroup)
  br i1 %leader, label %send, label %next
send:
  call void @store_boxes(ptr %c_map, i32 %row, i32 %column, i32 %from, i32 %to, i32 %warpgroup)
  br label %next
next:
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %groups
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}
define internal void @store_staged(ptr %running, ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit) #1 {
entry:
  %thread = call i32 @thread_again()
  %warpgroup = udiv i32 %thread, 128
  %output = load i32, ptr addrspace(4) @ws.output
  %place = urem i32 %thread, 128
  %leader = icmp eq i32 %place, 0
  %own.buffer = icmp eq i32 %output, 0
  br i1 %own.buffer, label %own, label %lent
own:
  ; the TMA of the last tile has read the buffer
  br i1 %leader, label %drain, label %drained
drain:
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0) #2
  br label %drained
drained:
  call void @sync_warpgroup(i32 %warpgroup)
  br label %stage
lent:
  ; every warpgroup has read its last stage
  call void @sync_consumers()
  br label %stage
stage:
  call void @store_box_range(ptr %running, ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit, i32 %warpgroup, i32 %thread, i1 %leader)
  br i1 %own.buffer, label %done, label %last
last:
  br i1 %leader, label %read, label %done
read:
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0) #2
  br label %done
done:
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}

