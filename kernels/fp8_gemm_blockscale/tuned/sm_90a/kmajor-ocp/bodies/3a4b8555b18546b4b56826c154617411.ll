define internal void @load_a_hinted(i32 %to, i32 %full, ptr %map, i32 %x, i32 %y) #1 {
entry:
  %to.shared = inttoptr i32 %to to ptr addrspace(7)
  %full.shared = inttoptr i32 %full to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y, i16 0, i64 1364590687093260288, i1 false, i1 true, i32 0) #2
  ret void
}
define internal void @load_b_hinted(i32 %to, i32 %full, ptr %map, i32 %x, i32 %y) #1 {
entry:
  %to.shared = inttoptr i32 %to to ptr addrspace(7)
  %full.shared = inttoptr i32 %full to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y, i16 0, i64 1508705875169116160, i1 false, i1 true, i32 0) #2
  ret void
}
define internal void @load_a_shared_hinted(i32 %to, i32 %full, ptr %map, i32 %x, i32 %y, i32 %rows, i32 %rank) #1 {
entry:
  %sharers = call i32 @sharers()
  %part = udiv i32 %rows, %sharers
  %row = mul i32 %part, %rank
  %y.own = add i32 %y, %row
  %offset = mul i32 %row, 128
  %to.own = add i32 %to, %offset
  %everyone.0 = shl i32 1, %sharers
  %everyone.1 = sub i32 %everyone.0, 1
  %everyone = trunc i32 %everyone.1 to i16
  %to.shared = inttoptr i32 %to.own to ptr addrspace(7)
  %full.shared = inttoptr i32 %full to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y.own, i16 %everyone, i64 1364590687093260288, i1 true, i1 true, i32 0) #2
  ret void
}
define internal void @load_b_shared_hinted(i32 %to, i32 %full, ptr %map, i32 %x, i32 %y, i32 %rows, i32 %rank) #1 {
entry:
  %sharers = call i32 @sharers()
  %part = udiv i32 %rows, %sharers
  %row = mul i32 %part, %rank
  %y.own = add i32 %y, %row
  %offset = mul i32 %row, 128
  %to.own = add i32 %to, %offset
  %everyone.0 = shl i32 1, %sharers
  %everyone.1 = sub i32 %everyone.0, 1
  %everyone = trunc i32 %everyone.1 to i16
  %to.shared = inttoptr i32 %to.own to ptr addrspace(7)
  %full.shared = inttoptr i32 %full to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y.own, i16 %everyone, i64 1508705875169116160, i1 true, i1 true, i32 0) #2
  ret void
}
define internal void @produce(ptr %a_map, ptr %b_map, ptr %as_map, i32 %row, i32 %column, i32 %block, i32 %stage, i32 %rank) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %cluster_m = load i32, ptr addrspace(4) @ws.cluster_m
  %cluster_n = load i32, ptr addrspace(4) @ws.cluster_n
  %full = call i32 @full_barrier(i32 %stage)
  %bytes.0 = mul i32 %tile_m, 132
  %bytes.1 = mul i32 %tile_n, 128
  %bytes = add i32 %bytes.0, %bytes.1
  call void @barrier_expect(i32 %full, i32 %bytes)
  %depth = mul i32 %block, 128
  %a.to = call i32 @a_stage(i32 %stage)
  %b.to = call i32 @b_stage(i32 %stage)
  %scales.to = call i32 @scale_stage(i32 %stage)
  %a.shared = icmp ugt i32 %cluster_n, 1
  br i1 %a.shared, label %a.together, label %a.alone
a.together:
  call void @load_a_shared_hinted(i32 %a.to, i32 %full, ptr %a_map, i32 %depth, i32 %row, i32 %tile_m, i32 %rank)
  br label %a.done
a.alone:
  call void @load_a_hinted(i32 %a.to, i32 %full, ptr %a_map, i32 %depth, i32 %row)
  br label %a.done
a.done:
  %b.shared = icmp ugt i32 %cluster_m, 1
  br i1 %b.shared, label %b.together, label %b.alone
b.together:
  call void @load_b_shared_hinted(i32 %b.to, i32 %full, ptr %b_map, i32 %depth, i32 %column, i32 %tile_n, i32 %rank)
  br label %b.done
b.alone:
  call void @load_b_hinted(i32 %b.to, i32 %full, ptr %b_map, i32 %depth, i32 %column)
  br label %b.done
b.done:
  call void @load_box(i32 %scales.to, i32 %full, ptr %as_map, i32 %row, i32 %block)
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}

