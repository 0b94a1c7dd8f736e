define internal void @store_boxes_hinted(ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit, i32 %warpgroup) #1 {
entry:
  %i.slot = alloca i32
  %rows = call i32 @own_rows()
  %columns = call i32 @own_columns()
  %box.columns = call i32 @box_columns()
  %boxes = udiv i32 %columns, %box.columns
  %box.groups = udiv i32 %box.columns, 16
  %count = mul i32 %boxes, %rows
  %group.m = call i32 @group_m(i32 %warpgroup)
  %group.n = call i32 @group_n(i32 %warpgroup)
  %row.0 = mul i32 %group.m, %rows
  %column.0 = mul i32 %group.n, %columns
  %column.first = add i32 %column, %column.0
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %block = udiv i32 %i, %boxes
  %box = urem i32 %i, %boxes
  %group = mul i32 %box, %box.groups
  %from = icmp uge i32 %group, %first
  %to = icmp ult i32 %group, %limit
  %own = and i1 %from, %to
  br i1 %own, label %store, label %next
store:
  %at = call i32 @box_at(i32 %warpgroup, i32 %block, i32 %box)
  %at.shared = inttoptr i32 %at to ptr addrspace(3)
  %x.0 = mul i32 %box, %box.columns
  %x = add i32 %column.first, %x.0
  %y.0 = add i32 %row.0, %block
  %y.1 = mul i32 %y.0, 64
  %y = add i32 %row, %y.1
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) %at.shared, ptr %c_map, i32 %x, i32 %y, i64 1364590687093260288, i1 true) #2
  br label %next
next:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  call void @llvm.nvvm.cp.async.bulk.commit.group() #2
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
  call void @stage_groups(ptr %running, i32 %first, i32 %limit, i32 %warpgroup, i32 %thread)
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"() #2
  call void @sync_warpgroup(i32 %warpgroup)
  br i1 %leader, label %store, label %done
store:
  call void @store_boxes_hinted(ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit, i32 %warpgroup)
  br i1 %own.buffer, label %done, label %read
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

