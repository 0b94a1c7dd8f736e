define internal <2 x i32> @tile_order(i32 %position, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  ; as many bands as group_m makes, of even heights: the first `long` are one row higher
  %up.0 = add i32 %tiles_m, %group_m
  %up = sub i32 %up.0, 1
  %bands = udiv i32 %up, %group_m
  %low = udiv i32 %tiles_m, %bands
  %long = urem i32 %tiles_m, %bands
  %high = add i32 %low, 1
  %high.tiles = mul i32 %high, %tiles_n
  %low.tiles = mul i32 %low, %tiles_n
  %border = mul i32 %long, %high.tiles
  %is.high = icmp ult i32 %position, %border
  %past = sub i32 %position, %border
  %counted = select i1 %is.high, i32 %position, i32 %past
  %size = select i1 %is.high, i32 %high.tiles, i32 %low.tiles
  %height = select i1 %is.high, i32 %high, i32 %low
  %number = udiv i32 %counted, %size
  %within = urem i32 %counted, %size
  %rows.high = mul i32 %long, %high
  %base = select i1 %is.high, i32 0, i32 %rows.high
  %first.0 = mul i32 %number, %height
  %first = add i32 %base, %first.0
  %tile.m.0 = urem i32 %within, %height
  %tile.m = add i32 %first, %tile.m.0
  %ahead = udiv i32 %within, %height
  %back.0 = sub i32 %tiles_n, 1
  %back = sub i32 %back.0, %ahead
  %skipped = select i1 %is.high, i32 0, i32 %long
  %band = add i32 %skipped, %number
  %odd.0 = urem i32 %band, 2
  %odd = icmp eq i32 %odd.0, 1
  %tile.n = select i1 %odd, i32 %back, i32 %ahead
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}
