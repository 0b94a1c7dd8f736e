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
  call void @load_box(i32 %scales.to, i32 %full, ptr %as_map, i32 %row, i32 %block)
  %a.shared = icmp ugt i32 %cluster_n, 1
  br i1 %a.shared, label %a.together, label %a.alone
a.together:
  call void @load_box_shared(i32 %a.to, i32 %full, ptr %a_map, i32 %depth, i32 %row, i32 %tile_m, i32 %rank)
  br label %a.done
a.alone:
  call void @load_box(i32 %a.to, i32 %full, ptr %a_map, i32 %depth, i32 %row)
  br label %a.done
a.done:
  %b.shared = icmp ugt i32 %cluster_m, 1
  br i1 %b.shared, label %b.together, label %b.alone
b.together:
  call void @load_box_shared(i32 %b.to, i32 %full, ptr %b_map, i32 %depth, i32 %column, i32 %tile_n, i32 %rank)
  br label %b.done
b.alone:
  call void @load_box(i32 %b.to, i32 %full, ptr %b_map, i32 %depth, i32 %column)
  br label %b.done
b.done:
  ret void
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}
