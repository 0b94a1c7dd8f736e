define internal <2 x i32> @divide(i32 %number, i32 %by) #1 {
entry:
  %inverse = udiv i32 -1, %by
  %number64 = zext i32 %number to i64
  %inverse64 = zext i32 %inverse to i64
  %product = mul i64 %number64, %inverse64
  %upper = lshr i64 %product, 32
  %quotient.0 = trunc i64 %upper to i32
  %quotient.1 = add i32 %quotient.0, 1
  %back = mul i32 %quotient.0, %by
  %rest.0 = sub i32 %number, %back
  %rest.1 = sub i32 %rest.0, %by
  %more = icmp uge i32 %rest.0, %by
  %quotient = select i1 %more, i32 %quotient.1, i32 %quotient.0
  %rest = select i1 %more, i32 %rest.1, i32 %rest.0
  %half = insertelement <2 x i32> poison, i32 %quotient, i32 0
  %both = insertelement <2 x i32> %half, i32 %rest, i32 1
  ret <2 x i32> %both
}

define internal { i32, i32, i32 } @in_bands(i32 %position, i32 %lines, i32 %places) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %height = call i32 @llvm.umin.i32(i32 %group_m, i32 %lines)
  %size = mul i32 %height, %places
  %band = call <2 x i32> @divide(i32 %position, i32 %size)
  %number = extractelement <2 x i32> %band, i32 0
  %within = extractelement <2 x i32> %band, i32 1
  %first = mul i32 %number, %height
  %left = sub i32 %lines, %first
  %whole = icmp uge i32 %left, %height
  br i1 %whole, label %even, label %last
even:
  %even.at = call <2 x i32> @divide(i32 %within, i32 %height)
  %even.place = extractelement <2 x i32> %even.at, i32 0
  %even.line = extractelement <2 x i32> %even.at, i32 1
  br label %done
last:
  %last.place = udiv i32 %within, %left
  %last.line = urem i32 %within, %left
  br label %done
done:
  %place = phi i32 [ %even.place, %even ], [ %last.place, %last ]
  %line.0 = phi i32 [ %even.line, %even ], [ %last.line, %last ]
  %line = add i32 %first, %line.0
  %at.0 = insertvalue { i32, i32, i32 } poison, i32 %number, 0
  %at.1 = insertvalue { i32, i32, i32 } %at.0, i32 %line, 1
  %at = insertvalue { i32, i32, i32 } %at.1, i32 %place, 2
  ret { i32, i32, i32 } %at
}

define internal <2 x i32> @tile_order(i32 %position, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %at = call { i32, i32, i32 } @in_bands(i32 %position, i32 %tiles_m, i32 %tiles_n)
  %tile.m = extractvalue { i32, i32, i32 } %at, 1
  %tile.n = extractvalue { i32, i32, i32 } %at, 2
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

attributes #1 = { alwaysinline convergent nounwind }
