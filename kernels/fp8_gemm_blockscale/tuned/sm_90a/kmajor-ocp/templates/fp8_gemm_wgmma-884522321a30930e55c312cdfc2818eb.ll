; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; fp8_gemm_wgmma: fp8_gemm_blockscale on sm_90a (H100, H200) with warpgroup
; matrix instructions fed by TMA. Every legal m, n and k.
;
; A workgroup is a producer warp and 1 to 4 consumer warpgroups. It walks over
; tiles of C, tile_m x tile_n. Along k, blocks of 128 pass through a ring of
; `stages` buffers in shared memory:
;
;   producer   wait until the stage is empty; TMA of A, B and A's scales to it
;   consumer   wait until it is full; wgmma -> partial; release the stage;
;              running += partial * (A's scale * B's scale)
;
; so there are two levels of sums, and the sums of one block of k never meet the
; next unscaled. After a tile's last block consumers store it while the
; producer already loads the next tile. Stages are handed over by mbarriers:
; full[s] completes when all bytes of the stage have come, empty[s] when every
; consumer warp of all workgroups that the stage was loaded for has arrived. A
; party counts stages 0, 1, .. and flips the parity it waits for at each turn
; of the ring; the producer's first turn waits for the phase before the first,
; which counts as complete.
;
; With split_k > 1 the workgroups of a cluster share one tile: each sums a slice
; of k; then each gets a band of columns from all the others through distributed
; shared memory, into the memory of its ring, and stores that band (exchange).
; With split_last only the last tiles of the walk are shared: before them each
; workgroup does whole tiles alone, as many as all workgroups have (whole_tiles).
; With cluster_m (cluster_n) > 1 the tiles of a cluster lie side by side along m
; (n) and load B (A) once for all of them.
;
; Shared memory: the output buffer (output 0 only); A's stages, tile_m (or a_rows)
; rows of 128 bytes; B's, tile_n such rows; A's scales, tile_m floats a stage (32
; more with a_scales 2 and a_rows 0); barriers.
; The 16-byte chunks of the rows of A and B are swizzled by the TMA as wgmma
; wants them (128-byte swizzle: chunk ^= row % 8); all stages start at multiples
; of 1024.
;
; TMA fills rows past the operand with zeros and drops rows and columns past C,
; so cut tiles need no masks. But it takes more time for such rows than for rows
; that are there: with a_rows > 0 (small m) stages have only so many rows of A,
; and what a matrix instruction reads behind them, of other stages, only reaches
; sums of rows past C.
;
; A's scales are a row of m floats for each block of k. The TMA takes such a matrix
; only where rows are whole 16 bytes, and boxes of it only from there on: a_scales 0
; is for m in multiples of 4. With a_scales 2 all of them are one row to it: a box
; begins at the multiple of four below the first scale of its block, so up to three
; floats into a stage stand scales of the block before (first_scale). What rows past
; A get then, the next block's, meets products with zeros. With a_scales 1 a second
; producer warp loads them by cp.async, for every m and every stride; full[s] then
; waits for its lanes, too.
;
; Accumulators: thread t of a warpgroup, warp w = t / 32 % 4, lane l, holds of a
; 64-row block for each 8 columns i four floats, 4i + e: row 16w + l/4 + 8(e/2),
; column 8i + 2(l%4) + e%2. That is the layout of wgmma's results.
;
; Loops count in private memory, test at their end (every count is at least one)
; and carry !1: unrolled, their private arrays become registers.

target datalayout = "e-p6:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@ws.layout = internal addrspace(4) constant i32 2
@ws.tile_m = internal addrspace(4) constant i32 128
@ws.tile_n = internal addrspace(4) constant i32 128
@ws.warpgroups = internal addrspace(4) constant i32 2
@ws.warpgroups_n = internal addrspace(4) constant i32 1
@ws.column_steps = internal addrspace(4) constant i32 1
@ws.pipeline = internal addrspace(4) constant i32 1
@ws.look_ahead = internal addrspace(4) constant i32 0
@ws.scales_first = internal addrspace(4) constant i32 0
@ws.stages = internal addrspace(4) constant i32 5
@ws.occupancy = internal addrspace(4) constant i32 1
@ws.persistent = internal addrspace(4) constant i32 1
@ws.group_m = internal addrspace(4) constant i32 8
@ws.split_k = internal addrspace(4) constant i32 1
@ws.split_last = internal addrspace(4) constant i32 0
@ws.exchange_rows = internal addrspace(4) constant i32 0
@ws.idle_clusters = internal addrspace(4) constant i32 0
@ws.cluster_m = internal addrspace(4) constant i32 1
@ws.cluster_n = internal addrspace(4) constant i32 1
@ws.a_cache = internal addrspace(4) constant i32 0
@ws.b_cache = internal addrspace(4) constant i32 0
@ws.c_cache = internal addrspace(4) constant i32 0
@ws.a_rows = internal addrspace(4) constant i32 0
@ws.a_scales = internal addrspace(4) constant i32 0
@ws.output = internal addrspace(4) constant i32 0
@ws.fixed_sums = internal addrspace(4) constant i32 1

@ws.lds = external addrspace(3) global [0 x i8], align 1024

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32)
declare { i32, i1 } @llvm.nvvm.elect.sync(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()
declare void @llvm.nvvm.barrier.cluster.wait()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1 immarg, i1 immarg, i32 immarg)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3), ptr, i32, i32, i64, i1 immarg)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 immarg)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.umin.i32(i32, i32)

; Expanded by the pass: four wgmma over 128 of k that ignore the old sums if the
; last operand is 0, and the wait for them.
declare void @ws.wgmma.e4m3.k128(ptr, i64, i64, i32)
declare void @ws.wgmma.e4m3.k128.onto(ptr, i64, i64, i32, i32)
declare void @ws.wgmma.wait(ptr, i32, i32)

; ---- sizes: all constants once parameters are folded -------------------------

define internal i32 @consumers() #1 {
entry:
  %warpgroups = load i32, ptr addrspace(4) @ws.warpgroups
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %consumers = mul i32 %warpgroups, %warpgroups_n
  ret i32 %consumers
}

; Workgroups that load for each other, and all of a cluster.
define internal i32 @sharers() #1 {
entry:
  %cluster_m = load i32, ptr addrspace(4) @ws.cluster_m
  %cluster_n = load i32, ptr addrspace(4) @ws.cluster_n
  %sharers = mul i32 %cluster_m, %cluster_n
  ret i32 %sharers
}

define internal i32 @cluster() #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %sharers = call i32 @sharers()
  %cluster = mul i32 %split_k, %sharers
  ret i32 %cluster
}

define internal i1 @shares_k() #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %shares = icmp ugt i32 %split_k, 1
  ret i1 %shares
}

; Are A's scales loaded by a warp instead of by TMA?
define internal i1 @loads_scales() #1 {
entry:
  %a_scales = load i32, ptr addrspace(4) @ws.a_scales
  %loads = icmp eq i32 %a_scales, 1
  ret i1 %loads
}

; Rows of A that a stage has memory for and the TMA brings.
define internal i32 @loaded_rows() #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %a_rows = load i32, ptr addrspace(4) @ws.a_rows
  %whole = icmp eq i32 %a_rows, 0
  %rows = select i1 %whole, i32 %tile_m, i32 %a_rows
  ret i32 %rows
}

; Does the TMA see all scales of A as one row?
define internal i1 @scales_in_a_row() #1 {
entry:
  %a_scales = load i32, ptr addrspace(4) @ws.a_scales
  %row = icmp eq i32 %a_scales, 2
  ret i1 %row
}

; Where in its stage the scale of a block's first row stands, in floats.
define internal i32 @first_scale(i32 %block, i32 %m) #1 {
entry:
  %in.row = call i1 @scales_in_a_row()
  %before = mul i32 %block, %m
  %past = and i32 %before, 3
  %first = select i1 %in.row, i32 %past, i32 0
  ret i32 %first
}

; Columns and 64-row blocks of a warpgroup.
define internal i32 @own_columns() #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %columns = udiv i32 %tile_n, %warpgroups_n
  ret i32 %columns
}

define internal i32 @own_rows() #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %warpgroups = load i32, ptr addrspace(4) @ws.warpgroups
  %rows.0 = udiv i32 %tile_m, 64
  %rows = udiv i32 %rows.0, %warpgroups
  ret i32 %rows
}

; Where a warpgroup stands among the consumers, along m and along n. Constants
; where it can only stand in one place.
define internal i32 @group_m(i32 %warpgroup) #1 {
entry:
  %warpgroups = load i32, ptr addrspace(4) @ws.warpgroups
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %row = icmp eq i32 %warpgroups_n, 1
  %among = urem i32 %warpgroup, %warpgroups
  %group = select i1 %row, i32 %warpgroup, i32 %among
  ret i32 %group
}

define internal i32 @group_n(i32 %warpgroup) #1 {
entry:
  %warpgroups = load i32, ptr addrspace(4) @ws.warpgroups
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %row = icmp eq i32 %warpgroups_n, 1
  %among = udiv i32 %warpgroup, %warpgroups
  %group = select i1 %row, i32 0, i32 %among
  ret i32 %group
}

; Columns of one matrix instruction.
define internal i32 @step_columns() #1 {
entry:
  %column_steps = load i32, ptr addrspace(4) @ws.column_steps
  %columns.0 = call i32 @own_columns()
  %columns = udiv i32 %columns.0, %column_steps
  ret i32 %columns
}

; Steps of a warpgroup in a block of k: row blocks times column steps.
define internal i32 @steps() #1 {
entry:
  %column_steps = load i32, ptr addrspace(4) @ws.column_steps
  %rows = call i32 @own_rows()
  %steps = mul i32 %rows, %column_steps
  ret i32 %steps
}

; Columns of one TMA store: at most 64 (128 bytes), and a divisor of the columns
; that a workgroup of the cluster stores. As box and swizzle of c_map.
define internal i32 @box_columns() #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %own = call i32 @own_columns()
  %wide.0 = mul i32 %split_k, 64
  %wide.1 = urem i32 %own, %wide.0
  %wide = icmp eq i32 %wide.1, 0
  %half.0 = mul i32 %split_k, 32
  %half.1 = urem i32 %own, %half.0
  %half = icmp eq i32 %half.1, 0
  %narrow = select i1 %half, i32 32, i32 16
  %columns = select i1 %wide, i32 64, i32 %narrow
  ret i32 %columns
}

; After a tile the ring's memory is written by others than the producer, which
; has to wait.
define internal i1 @ring_is_lent(i1 %shared) #1 {
entry:
  %output = load i32, ptr addrspace(4) @ws.output
  %staging = icmp eq i32 %output, 1
  %lent = or i1 %shared, %staging
  ret i1 %lent
}

; ---- addresses in shared memory, as 32-bit numbers ---------------------------

define internal i32 @ring_start() #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %output = load i32, ptr addrspace(4) @ws.output
  %own = icmp eq i32 %output, 0
  %bytes.0 = mul i32 %tile_m, %tile_n
  %bytes.1 = mul i32 %bytes.0, 2
  %bytes = select i1 %own, i32 %bytes.1, i32 0
  %start = add i32 ptrtoint (ptr addrspace(3) @ws.lds to i32), %bytes
  ret i32 %start
}

define internal i32 @a_stage(i32 %stage) #1 {
entry:
  %rows = call i32 @loaded_rows()
  %start = call i32 @ring_start()
  %bytes = mul i32 %rows, 128
  %offset = mul i32 %stage, %bytes
  %at = add i32 %start, %offset
  ret i32 %at
}

define internal i32 @b_stage(i32 %stage) #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %stages = load i32, ptr addrspace(4) @ws.stages
  %start = call i32 @a_stage(i32 %stages)
  %bytes = mul i32 %tile_n, 128
  %offset = mul i32 %stage, %bytes
  %at = add i32 %start, %offset
  ret i32 %at
}

define internal i32 @scale_stage(i32 %stage) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %stages = load i32, ptr addrspace(4) @ws.stages
  %start = call i32 @b_stage(i32 %stages)
  %in.row = call i1 @scales_in_a_row()
  %a_rows = load i32, ptr addrspace(4) @ws.a_rows
  %whole = icmp eq i32 %a_rows, 0
  %full = and i1 %in.row, %whole
  %more = select i1 %full, i32 128, i32 0
  %bytes.0 = mul i32 %tile_m, 4
  %bytes = add i32 %bytes.0, %more
  %offset = mul i32 %stage, %bytes
  %at = add i32 %start, %offset
  ret i32 %at
}

; Barriers: full[stages], empty[stages], then three of the whole ring.
define internal i32 @barrier(i32 %index) #1 {
entry:
  %stages = load i32, ptr addrspace(4) @ws.stages
  %start = call i32 @scale_stage(i32 %stages)
  %offset = mul i32 %index, 8
  %at = add i32 %start, %offset
  ret i32 %at
}

define internal i32 @full_barrier(i32 %stage) #1 {
entry:
  %at = call i32 @barrier(i32 %stage)
  ret i32 %at
}

define internal i32 @empty_barrier(i32 %stage) #1 {
entry:
  %stages = load i32, ptr addrspace(4) @ws.stages
  %index = add i32 %stages, %stage
  %at = call i32 @barrier(i32 %index)
  ret i32 %at
}

; All warps of the cluster have read their last stage of the tile.
define internal i32 @drained_barrier() #1 {
entry:
  %stages = load i32, ptr addrspace(4) @ws.stages
  %index = mul i32 %stages, 2
  %at = call i32 @barrier(i32 %index)
  ret i32 %at
}

; The other workgroups' sums have come.
define internal i32 @received_barrier() #1 {
entry:
  %at.0 = call i32 @drained_barrier()
  %at = add i32 %at.0, 8
  ret i32 %at
}

; Nobody needs the ring's memory for the tile any more.
define internal i32 @returned_barrier() #1 {
entry:
  %at.0 = call i32 @drained_barrier()
  %at = add i32 %at.0, 16
  ret i32 %at
}

; ---- mbarriers ---------------------------------------------------------------

define internal void @barrier_init(i32 %at, i32 %count) #1 {
entry:
  call void asm sideeffect "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}"(i32 %at, i32 %count) #2
  ret void
}

; Until the phase of this parity is complete.
define internal void @barrier_wait(i32 %at, i32 %parity) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred done;\0Aretry:\0Ambarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\0A@!done bra retry;\0A}", "r,r,~{memory}"(i32 %at, i32 %parity) #2
  ret void
}

; The same for what other workgroups of the cluster have written.
define internal void @barrier_wait_cluster(i32 %at, i32 %parity) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred done;\0Aretry:\0Ambarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [$0], $1;\0A@!done bra retry;\0A}", "r,r,~{memory}"(i32 %at, i32 %parity) #2
  ret void
}

; Is it? 0 or 1, at once.
define internal i32 @barrier_test(i32 %at, i32 %parity) #1 {
entry:
  %complete = call i32 asm sideeffect "{\0A.reg .pred now;\0Ambarrier.test_wait.parity.shared::cta.b64 now, [$1], $2;\0Aselp.u32 $0, 1, 0, now;\0A}", "=r,r,r,~{memory}"(i32 %at, i32 %parity) #2
  ret i32 %complete
}

; Until it is, unless it was when it was tested. The branch is in the assembly: as
; one of LLVM's, ptxas would take the warp for split.
define internal void @barrier_wait_unless(i32 %at, i32 %parity, i32 %complete) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred past;\0Asetp.ne.u32 past, $2, 0;\0A@past bra end;\0Aretry:\0Ambarrier.try_wait.parity.shared::cta.b64 past, [$0], $1;\0A@!past bra retry;\0Aend:\0A}", "r,r,r,~{memory}"(i32 %at, i32 %parity, i32 %complete) #2
  ret void
}

; One arrival, and bytes that must come before the phase is complete.
define internal void @barrier_expect(i32 %at, i32 %bytes) #1 {
entry:
  call void asm sideeffect "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"(i32 %at, i32 %bytes) #2
  ret void
}

; Of a whole warp; lane 0 arrives.
define internal void @barrier_arrive(i32 %at, i32 %lane) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred first;\0Asetp.eq.u32 first, $1, 0;\0A@first mbarrier.arrive.shared::cta.b64 _, [$0];\0A}", "r,r,~{memory}"(i32 %at, i32 %lane) #2
  ret void
}

; Of a whole warp; lane i arrives at workgroup i of the cluster. Without
; .release.cluster, which would fence all memory at each block of k: what is
; handed back was only read.
define internal void @barrier_arrive_sharers(i32 %at, i32 %lane, i32 %count) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred mine;\0A.reg .b32 there;\0Asetp.lt.u32 mine, $1, $2;\0A@mine mapa.shared::cluster.u32 there, $0, $1;\0A@mine mbarrier.arrive.shared::cluster.b64 _, [there];\0A}", "r,r,r,~{memory}"(i32 %at, i32 %lane, i32 %count) #2
  ret void
}

; Lane 0 arrives at another workgroup's barrier.
define internal void @barrier_arrive_in(i32 %there, i32 %lane) #1 {
entry:
  call void asm sideeffect "{\0A.reg .pred one;\0Asetp.eq.u32 one, $1, 0;\0A@one mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];\0A}", "r,r,~{memory}"(i32 %there, i32 %lane) #2
  ret void
}

; An address of this workgroup as the cluster sees that of workgroup rank.
define internal i32 @address_in(i32 %at, i32 %rank) #1 {
entry:
  %there = call i32 asm "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r"(i32 %at, i32 %rank)
  ret i32 %there
}

; The lane, known only once what was read is there. Without it a warp would arrive
; with its loads under way, and the TMA of the next turn can overtake them: an
; arrival orders reads before writes of the same proxy only, and a full tensor core
; keeps shared memory busy for long. (k is never 0; ptxas does not know.)
define internal i32 @behind(i32 %lane, <2 x float> %read, i32 %k) #1 {
entry:
  %none = icmp eq i32 %k, 0
  %never = zext i1 %none to i32
  %bits = bitcast <2 x float> %read to <2 x i32>
  %upper = extractelement <2 x i32> %bits, i32 0
  %lower = extractelement <2 x i32> %bits, i32 1
  %both = or i32 %upper, %lower
  %nothing = and i32 %both, %never
  %same = add i32 %lane, %nothing
  ret i32 %same
}

; By each warp that has read the stage; read are the last scales of A that it has.
define internal void @release_stage(ptr %ring, i32 %stage, i32 %lane, <2 x float> %read, i32 %k) #1 {
entry:
  %sharers = call i32 @sharers()
  %at.0 = call i32 @empty_barrier(i32 %stage)
  %at = call i32 @from_start(ptr %ring, i32 %at.0)
  %lane.behind = call i32 @behind(i32 %lane, <2 x float> %read, i32 %k)
  %alone = icmp eq i32 %sharers, 1
  br i1 %alone, label %own, label %shared
own:
  call void @barrier_arrive(i32 %at, i32 %lane.behind)
  br label %done
shared:
  call void @barrier_arrive_sharers(i32 %at, i32 %lane.behind, i32 %sharers)
  br label %done
done:
  ret void
}

; By the first thread of a warpgroup, to all whose producers write here: not
; before it, so no other lane may do it.
define internal void @return_ring(i32 %place) #1 {
entry:
  %i.slot = alloca i32
  %sharers = call i32 @sharers()
  %at = call i32 @returned_barrier()
  %alone = icmp eq i32 %sharers, 1
  br i1 %alone, label %own, label %shared
own:
  call void @barrier_arrive(i32 %at, i32 %place)
  br label %done
shared:
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %there = call i32 @address_in(i32 %at, i32 %i)
  call void @barrier_arrive_in(i32 %there, i32 %place)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %sharers
  br i1 %i.more, label %i.loop, label %done, !llvm.loop !1
done:
  ret void
}

define internal void @start_barriers() #1 {
entry:
  %i.slot = alloca i32
  %stages = load i32, ptr addrspace(4) @ws.stages
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %consumers = call i32 @consumers()
  %sharers = call i32 @sharers()
  %warps = mul i32 %consumers, 4
  %users = mul i32 %warps, %sharers
  %loads = call i1 @loads_scales()
  %loaders = select i1 %loads, i32 33, i32 1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %full = call i32 @full_barrier(i32 %i)
  call void @barrier_init(i32 %full, i32 %loaders)
  %empty = call i32 @empty_barrier(i32 %i)
  call void @barrier_init(i32 %empty, i32 %users)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %stages
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  %all.warps = mul i32 %warps, %split_k
  %drained = call i32 @drained_barrier()
  call void @barrier_init(i32 %drained, i32 %all.warps)
  %received = call i32 @received_barrier()
  call void @barrier_init(i32 %received, i32 1)
  %returned = call i32 @returned_barrier()
  %lenders = mul i32 %consumers, %sharers
  call void @barrier_init(i32 %returned, i32 %lenders)
  call void asm sideeffect "fence.mbarrier_init.release.cluster;", "~{memory}"() #2
  ret void
}

; ---- the ring: stage and parity, {i32, i32} ----------------------------------
; Consumers have two more: the low word of a matrix descriptor of the ring's start
; (@descriptor), and this start. They come out of a shuffle, for ptxas to keep them:
; it would compute the start of shared memory anew at each block, from a special
; register, before the first matrix instruction.

define internal void @begin_ring(ptr %ring) #1 {
entry:
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %low.at = getelementptr i32, ptr %ring, i32 2
  %start.at = getelementptr i32, ptr %ring, i32 3
  %start.0 = call i32 @ring_start()
  %start = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %start.0, i32 0, i32 31) #2
  %chunk = lshr i32 %start, 4
  %low = or i32 %chunk, 65536
  store i32 0, ptr %ring
  store i32 0, ptr %parity.at
  store i32 %low, ptr %low.at
  store i32 %start, ptr %start.at
  ret void
}

; The same address, computed from the start that the ring keeps.
define internal i32 @from_start(ptr %ring, i32 %at) #1 {
entry:
  %start.at = getelementptr i32, ptr %ring, i32 3
  %start = load i32, ptr %start.at
  %first = call i32 @ring_start()
  %offset = sub i32 %at, %first
  %same = add i32 %start, %offset
  ret i32 %same
}

define internal void @advance(ptr %ring) #1 {
entry:
  %stages = load i32, ptr addrspace(4) @ws.stages
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %stage = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %next = add i32 %stage, 1
  %turn = icmp eq i32 %next, %stages
  %next.stage = select i1 %turn, i32 0, i32 %next
  %flip = zext i1 %turn to i32
  %next.parity = xor i32 %parity, %flip
  store i32 %next.stage, ptr %ring
  store i32 %next.parity, ptr %parity.at
  ret void
}

; ---- region tile_order: walk -> tile -----------------------------------------

define internal <2 x i32> @tile_order(i32 %position, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %band = mul i32 %group_m, %tiles_n
  %first.0 = udiv i32 %position, %band
  %first = mul i32 %first.0, %group_m
  %within = urem i32 %position, %band
  %height.0 = sub i32 %tiles_m, %first
  %height = call i32 @llvm.umin.i32(i32 %group_m, i32 %height.0)
  %tile.m.0 = urem i32 %within, %height
  %tile.m = add i32 %first, %tile.m.0
  %tile.n = udiv i32 %within, %height
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; Every other band backwards.
define internal <2 x i32> @tile_order_snake(i32 %position, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %band = mul i32 %group_m, %tiles_n
  %number = udiv i32 %position, %band
  %first = mul i32 %number, %group_m
  %within = urem i32 %position, %band
  %height.0 = sub i32 %tiles_m, %first
  %height = call i32 @llvm.umin.i32(i32 %group_m, i32 %height.0)
  %tile.m.0 = urem i32 %within, %height
  %tile.m = add i32 %first, %tile.m.0
  %ahead = udiv i32 %within, %height
  %back.0 = sub i32 %tiles_n, 1
  %back = sub i32 %back.0, %ahead
  %turned.0 = urem i32 %number, 2
  %turned = icmp eq i32 %turned.0, 1
  %tile.n = select i1 %turned, i32 %back, i32 %ahead
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; Bands of columns instead of rows.
define internal <2 x i32> @tile_order_columns(i32 %position, i32 %tiles_m, i32 %tiles_n) #1 {
entry:
  %group_m = load i32, ptr addrspace(4) @ws.group_m
  %band = mul i32 %group_m, %tiles_m
  %first.0 = udiv i32 %position, %band
  %first = mul i32 %first.0, %group_m
  %within = urem i32 %position, %band
  %width.0 = sub i32 %tiles_n, %first
  %width = call i32 @llvm.umin.i32(i32 %group_m, i32 %width.0)
  %tile.n.0 = urem i32 %within, %width
  %tile.n = add i32 %first, %tile.n.0
  %tile.m = udiv i32 %within, %width
  %half = insertelement <2 x i32> poison, i32 %tile.m, i32 0
  %tile = insertelement <2 x i32> %half, i32 %tile.n, i32 1
  ret <2 x i32> %tile
}

; ---- schedule ----------------------------------------------------------------

define internal i32 @ceildiv(i32 %count, i32 %size) #1 {
entry:
  %up.0 = add i32 %count, %size
  %up = add i32 %up.0, -1
  %quotient = udiv i32 %up, %size
  ret i32 %quotient
}

; Positions of the walk: tiles, or clusters of tiles that share loads.
define internal <2 x i32> @walk_extents(i32 %m, i32 %n) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %cluster_m = load i32, ptr addrspace(4) @ws.cluster_m
  %cluster_n = load i32, ptr addrspace(4) @ws.cluster_n
  %high = mul i32 %tile_m, %cluster_m
  %wide = mul i32 %tile_n, %cluster_n
  %units.m = call i32 @ceildiv(i32 %m, i32 %high)
  %units.n = call i32 @ceildiv(i32 %n, i32 %wide)
  %half = insertelement <2 x i32> poison, i32 %units.m, i32 0
  %extents = insertelement <2 x i32> %half, i32 %units.n, i32 1
  ret <2 x i32> %extents
}

; Row and column of C where this workgroup's tile at a position starts. May lie
; past C where a cluster is cut.
define internal <2 x i32> @origin(i32 %position, i32 %m, i32 %n, i32 %rank) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %cluster_m = load i32, ptr addrspace(4) @ws.cluster_m
  %cluster_n = load i32, ptr addrspace(4) @ws.cluster_n
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %extents = call <2 x i32> @walk_extents(i32 %m, i32 %n)
  %units.m = extractelement <2 x i32> %extents, i32 0
  %units.n = extractelement <2 x i32> %extents, i32 1
  %unit = call <2 x i32> @tile_order(i32 %position, i32 %units.m, i32 %units.n)
  %unit.m = extractelement <2 x i32> %unit, i32 0
  %unit.n = extractelement <2 x i32> %unit, i32 1
  %slices = icmp ugt i32 %split_k, 1
  %member = select i1 %slices, i32 0, i32 %rank
  %member.m = urem i32 %member, %cluster_m
  %member.n = udiv i32 %member, %cluster_m
  %tile.m.0 = mul i32 %unit.m, %cluster_m
  %tile.m = add i32 %tile.m.0, %member.m
  %tile.n.0 = mul i32 %unit.n, %cluster_n
  %tile.n = add i32 %tile.n.0, %member.n
  %row = mul i32 %tile.m, %tile_m
  %column = mul i32 %tile.n, %tile_n
  %half = insertelement <2 x i32> poison, i32 %row, i32 0
  %origin = insertelement <2 x i32> %half, i32 %column, i32 1
  ret <2 x i32> %origin
}

; Blocks of k of this workgroup: first, and the one past the last.
define internal <2 x i32> @slice(i32 %k, i32 %rank, i1 %shared) #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %blocks = udiv i32 %k, 128
  %number = select i1 %shared, i32 %rank, i32 0
  %first.0 = mul i32 %number, %blocks
  %first = udiv i32 %first.0, %split_k
  %limit.0 = add i32 %first.0, %blocks
  %limit.1 = udiv i32 %limit.0, %split_k
  %limit = select i1 %shared, i32 %limit.1, i32 %blocks
  %half = insertelement <2 x i32> poison, i32 %first, i32 0
  %slice = insertelement <2 x i32> %half, i32 %limit, i32 1
  ret <2 x i32> %slice
}

; Positions 0 .. whole - 1 of the walk are whole tiles, one workgroup's each; each
; of the others is a cluster's. With split_last whole tiles are as many as all
; workgroups have, so that all come to their shared ones at the same time; the
; rest, too, where sharing it would take as long as a whole tile, split_k turns
; of the clusters. Fewer tiles than workgroups are all shared. So each workgroup
; has at least one tile, and all of a cluster the same shared ones.
define internal i32 @whole_tiles(i32 %stride, i32 %m, i32 %n) #1 {
entry:
  %split_last = load i32, ptr addrspace(4) @ws.split_last
  %last = icmp eq i32 %split_last, 1
  br i1 %last, label %count, label %none
count:
  %extents = call <2 x i32> @walk_extents(i32 %m, i32 %n)
  %units.m = extractelement <2 x i32> %extents, i32 0
  %units.n = extractelement <2 x i32> %extents, i32 1
  %tiles = mul i32 %units.m, %units.n
  %cluster = call i32 @cluster()
  %groups = mul i32 %stride, %cluster
  %left = urem i32 %tiles, %groups
  %even = sub i32 %tiles, %left
  ; fewer than split_k turns
  %most = sub i32 %groups, %stride
  %pays = icmp ule i32 %left, %most
  %few = icmp eq i32 %even, 0
  %share = or i1 %pays, %few
  %whole = select i1 %share, i32 %even, i32 %tiles
  ret i32 %whole
none:
  ret i32 0
}

; Do the workgroups of the cluster share the tile at a position?
define internal i1 @is_shared(i32 %position, i32 %whole) #1 {
entry:
  %slices = call i1 @shares_k()
  %last = icmp uge i32 %position, %whole
  %shared = and i1 %slices, %last
  ret i1 %shared
}

; From one shared tile of a cluster to its next: the number of clusters.
define internal i32 @stride(i32 %groups) #1 {
entry:
  %cluster = call i32 @cluster()
  %stride = udiv i32 %groups, %cluster
  ret i32 %stride
}

; The walk of one workgroup (number group of groups): whole tiles from its number
; on, `groups` apart, then shared ones from its cluster's number on, a stride
; apart. Here position, if it is a whole tile's, else the first shared one.
define internal i32 @whole_or_shared(i32 %position, i32 %group, i32 %whole) #1 {
entry:
  %cluster = call i32 @cluster()
  %number = udiv i32 %group, %cluster
  %shared = add i32 %whole, %number
  %inside = icmp ult i32 %position, %whole
  %settled = select i1 %inside, i32 %position, i32 %shared
  ret i32 %settled
}

define internal i32 @next_position(i32 %position, i32 %group, i32 %stride, i32 %whole) #1 {
entry:
  %cluster = call i32 @cluster()
  %groups = mul i32 %stride, %cluster
  %together = add i32 %position, %stride
  %alone.0 = add i32 %position, %groups
  %alone = call i32 @whole_or_shared(i32 %alone.0, i32 %group, i32 %whole)
  %inside = icmp ult i32 %position, %whole
  %next = select i1 %inside, i32 %alone, i32 %together
  ret i32 %next
}

; Is this a position? Without persistent workgroups there is one for each.
define internal i1 @another(i32 %position, i32 %m, i32 %n) #1 {
entry:
  %persistent = load i32, ptr addrspace(4) @ws.persistent
  %extents = call <2 x i32> @walk_extents(i32 %m, i32 %n)
  %units.m = extractelement <2 x i32> %extents, i32 0
  %units.n = extractelement <2 x i32> %extents, i32 1
  %count = mul i32 %units.m, %units.n
  %inside = icmp ult i32 %position, %count
  %walks = icmp ne i32 %persistent, 0
  %another = and i1 %inside, %walks
  ret i1 %another
}

; ---- region produce: the loads of one stage ----------------------------------

; What L2 is to do with the lines of a load or store: 1 they leave first, 2 they
; stay longest. What is read once and leaves first does not push out what others
; have written and the memory would have to take before it can give.
define internal i64 @cache_policy(i32 %cache) #1 {
entry:
  %leaves = icmp eq i32 %cache, 1
  br i1 %leaves, label %first, label %last
first:
  %evict.first = call i64 asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l"()
  ret i64 %evict.first
last:
  %evict.last = call i64 asm "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l"()
  ret i64 %evict.last
}

define internal void @load_box(i32 %to, i32 %full, ptr %map, i32 %x, i32 %y, i32 %cache) #1 {
entry:
  %to.shared = inttoptr i32 %to to ptr addrspace(7)
  %full.shared = inttoptr i32 %full to ptr addrspace(3)
  %plain = icmp eq i32 %cache, 0
  br i1 %plain, label %as.usual, label %by.policy
as.usual:
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y, i16 0, i64 0, i1 false, i1 false, i32 0) #2
  br label %done
by.policy:
  %policy = call i64 @cache_policy(i32 %cache)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y, i16 0, i64 %policy, i1 false, i1 true, i32 0) #2
  br label %done
done:
  ret void
}

; This workgroup's part of the rows, to the same place in all sharers.
define internal void @load_box_shared(i32 %to, i32 %full, ptr %map, i32 %x, i32 %y, i32 %rows, i32 %rank, i32 %cache) #1 {
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
  %plain = icmp eq i32 %cache, 0
  br i1 %plain, label %as.usual, label %by.policy
as.usual:
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y.own, i16 %everyone, i64 0, i1 true, i1 false, i32 0) #2
  br label %done
by.policy:
  %policy = call i64 @cache_policy(i32 %cache)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to.shared, ptr addrspace(3) %full.shared, ptr %map, i32 %x, i32 %y.own, i16 %everyone, i64 %policy, i1 true, i1 true, i32 0) #2
  br label %done
done:
  ret void
}

define internal void @produce(ptr %a_map, ptr %b_map, ptr %as_map, i32 %row, i32 %column, i32 %block, i32 %m, i32 %stage, i32 %rank) #1 {
entry:
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %cluster_m = load i32, ptr addrspace(4) @ws.cluster_m
  %cluster_n = load i32, ptr addrspace(4) @ws.cluster_n
  %a_cache = load i32, ptr addrspace(4) @ws.a_cache
  %b_cache = load i32, ptr addrspace(4) @ws.b_cache
  %full = call i32 @full_barrier(i32 %stage)
  %loads = call i1 @loads_scales()
  %rows = call i32 @loaded_rows()
  %row.bytes = select i1 %loads, i32 128, i32 132
  %bytes.0 = mul i32 %rows, %row.bytes
  %bytes.1 = mul i32 %tile_n, 128
  %bytes.2 = add i32 %bytes.0, %bytes.1
  %in.row = call i1 @scales_in_a_row()
  %more = select i1 %in.row, i32 16, i32 0
  %bytes = add i32 %bytes.2, %more
  call void @barrier_expect(i32 %full, i32 %bytes)
  %depth = mul i32 %block, 128
  %a.to = call i32 @a_stage(i32 %stage)
  %b.to = call i32 @b_stage(i32 %stage)
  %scales.to = call i32 @scale_stage(i32 %stage)
  %a.shared = icmp ugt i32 %cluster_n, 1
  br i1 %a.shared, label %a.together, label %a.alone
a.together:
  call void @load_box_shared(i32 %a.to, i32 %full, ptr %a_map, i32 %depth, i32 %row, i32 %tile_m, i32 %rank, i32 %a_cache)
  br label %a.done
a.alone:
  call void @load_box(i32 %a.to, i32 %full, ptr %a_map, i32 %depth, i32 %row, i32 %a_cache)
  br label %a.done
a.done:
  %b.shared = icmp ugt i32 %cluster_m, 1
  br i1 %b.shared, label %b.together, label %b.alone
b.together:
  call void @load_box_shared(i32 %b.to, i32 %full, ptr %b_map, i32 %depth, i32 %column, i32 %tile_n, i32 %rank, i32 %b_cache)
  br label %b.done
b.alone:
  call void @load_box(i32 %b.to, i32 %full, ptr %b_map, i32 %depth, i32 %column, i32 %b_cache)
  br label %b.done
b.done:
  br i1 %loads, label %done, label %scales
scales:
  br i1 %in.row, label %scales.row, label %scales.rows
scales.row:
  %before.0 = mul i32 %block, %m
  %before = and i32 %before.0, -4
  %from = add i32 %before, %row
  call void @load_box(i32 %scales.to, i32 %full, ptr %as_map, i32 %from, i32 0, i32 0)
  br label %done
scales.rows:
  call void @load_box(i32 %scales.to, i32 %full, ptr %as_map, i32 %row, i32 %block, i32 0)
  br label %done
done:
  ret void
}

; ---- region produce_scales: A's scales of one stage, by a warp ---------------

; Rows past A have the scale of its last one: nothing is read past the scales,
; and the products of these rows are zeros.
define internal void @produce_scales(ptr addrspace(1) %as, i32 %row, i32 %block, i32 %stage, i32 %m, i32 %as_stride_m, i32 %as_stride_k, i32 %lane) #1 {
entry:
  %i.slot = alloca i32
  %tile_m = load i32, ptr addrspace(4) @ws.tile_m
  %last = sub i32 %m, 1
  %block64 = zext i32 %block to i64
  %stride.m64 = sext i32 %as_stride_m to i64
  %stride.k64 = sext i32 %as_stride_k to i64
  %offset.k = mul i64 %block64, %stride.k64
  %column = getelementptr float, ptr addrspace(1) %as, i64 %offset.k
  %scales.to = call i32 @scale_stage(i32 %stage)
  store i32 %lane, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %wanted = add i32 %row, %i
  %inside = call i32 @llvm.umin.i32(i32 %wanted, i32 %last)
  %inside64 = zext i32 %inside to i64
  %offset.m = mul i64 %inside64, %stride.m64
  %from = getelementptr float, ptr addrspace(1) %column, i64 %offset.m
  %to.0 = mul i32 %i, 4
  %to.1 = add i32 %scales.to, %to.0
  %to = inttoptr i32 %to.1 to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %to, ptr addrspace(1) %from) #2
  %i.next = add i32 %i, 32
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %tile_m
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !2
i.exit:
  %full.0 = call i32 @full_barrier(i32 %stage)
  %full = inttoptr i32 %full.0 to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) %full) #2
  ret void
}

; ---- the producer: one thread ------------------------------------------------

define internal void @prefetch_map(ptr %map) #1 {
entry:
  call void asm sideeffect "prefetch.tensormap [$0];", "l,~{memory}"(ptr %map) #2
  ret void
}

define internal void @produce_tile(ptr %a_map, ptr %b_map, ptr %as_map, i32 %position, i1 %shared, i32 %m, i32 %n, i32 %k, i32 %rank, ptr %ring) #1 {
entry:
  %block.slot = alloca i32
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %origin = call <2 x i32> @origin(i32 %position, i32 %m, i32 %n, i32 %rank)
  %row = extractelement <2 x i32> %origin, i32 0
  %column = extractelement <2 x i32> %origin, i32 1
  %slice = call <2 x i32> @slice(i32 %k, i32 %rank, i1 %shared)
  %first = extractelement <2 x i32> %slice, i32 0
  %limit = extractelement <2 x i32> %slice, i32 1
  store i32 %first, ptr %block.slot
  br label %head
head:
  %block = load i32, ptr %block.slot
  %more = icmp ult i32 %block, %limit
  br i1 %more, label %body, label %exit
body:
  %stage = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %empty = call i32 @empty_barrier(i32 %stage)
  call void @barrier_wait(i32 %empty, i32 %parity)
  call void @produce(ptr %a_map, ptr %b_map, ptr %as_map, i32 %row, i32 %column, i32 %block, i32 %m, i32 %stage, i32 %rank)
  call void @advance(ptr %ring)
  %next = add i32 %block, 1
  store i32 %next, ptr %block.slot
  br label %head, !llvm.loop !2
exit:
  ret void
}

; Until all stages are empty: sharers still hand theirs back, and must not find
; that this workgroup has ended.
define internal void @drain_ring(ptr %ring) #1 {
entry:
  %i.slot = alloca i32
  %stages = load i32, ptr addrspace(4) @ws.stages
  %parity.at = getelementptr i32, ptr %ring, i32 1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %stage = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %empty = call i32 @empty_barrier(i32 %stage)
  call void @barrier_wait(i32 %empty, i32 %parity)
  call void @advance(ptr %ring)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %stages
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !2
i.exit:
  ret void
}

define internal void @producer(ptr %a_map, ptr %b_map, ptr %as_map, ptr %c_map, i32 %m, i32 %n, i32 %k, i32 %rank) #1 {
entry:
  %ring = alloca [2 x i32]
  %position.slot = alloca i32
  %returned.slot = alloca i32
  %parity.at = getelementptr i32, ptr %ring, i32 1
  call void @prefetch_map(ptr %a_map)
  call void @prefetch_map(ptr %b_map)
  %loads = call i1 @loads_scales()
  br i1 %loads, label %begin, label %scales
scales:
  call void @prefetch_map(ptr %as_map)
  br label %begin
begin:
  call void @prefetch_map(ptr %c_map)
  %returned = call i32 @returned_barrier()
  %groups = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %stride = call i32 @stride(i32 %groups)
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %whole = call i32 @whole_tiles(i32 %stride, i32 %m, i32 %n)
  %position.first = call i32 @whole_or_shared(i32 %group, i32 %group, i32 %whole)
  store i32 0, ptr %ring
  store i32 1, ptr %parity.at
  store i32 0, ptr %returned.slot
  store i32 %position.first, ptr %position.slot
  br label %loop
loop:
  %position = load i32, ptr %position.slot
  %shared = call i1 @is_shared(i32 %position, i32 %whole)
  %lent = call i1 @ring_is_lent(i1 %shared)
  call void @produce_tile(ptr %a_map, ptr %b_map, ptr %as_map, i32 %position, i1 %shared, i32 %m, i32 %n, i32 %k, i32 %rank, ptr %ring)
  %next = call i32 @next_position(i32 %position, i32 %group, i32 %stride, i32 %whole)
  store i32 %next, ptr %position.slot
  %another = call i1 @another(i32 %next, i32 %m, i32 %n)
  br i1 %another, label %again, label %exit
again:
  br i1 %lent, label %wait, label %loop, !llvm.loop !2
wait:
  %parity = load i32, ptr %returned.slot
  call void @barrier_wait(i32 %returned, i32 %parity)
  %flipped = xor i32 %parity, 1
  store i32 %flipped, ptr %returned.slot
  br label %loop, !llvm.loop !2
exit:
  %sharers = call i32 @sharers()
  %loads.shared = icmp ugt i32 %sharers, 1
  br i1 %loads.shared, label %stay, label %done
stay:
  br i1 %lent, label %stay.returned, label %stay.empty
stay.returned:
  %parity.last = load i32, ptr %returned.slot
  call void @barrier_wait(i32 %returned, i32 %parity.last)
  br label %stay.empty
stay.empty:
  call void @drain_ring(ptr %ring)
  br label %done
done:
  ret void
}

; ---- the producer of A's scales: one warp ------------------------------------

; The same walk. No tile waits for the last: what is lent of the ring is not the
; scales' part, and nobody else hands over what this warp loads.
define internal void @scale_producer(ptr addrspace(1) %as, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %rank, i32 %lane) #1 {
entry:
  %ring = alloca [2 x i32]
  %position.slot = alloca i32
  %block.slot = alloca i32
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %groups = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %stride = call i32 @stride(i32 %groups)
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %whole = call i32 @whole_tiles(i32 %stride, i32 %m, i32 %n)
  %position.first = call i32 @whole_or_shared(i32 %group, i32 %group, i32 %whole)
  store i32 0, ptr %ring
  store i32 1, ptr %parity.at
  store i32 %position.first, ptr %position.slot
  br label %loop
loop:
  %position = load i32, ptr %position.slot
  %shared = call i1 @is_shared(i32 %position, i32 %whole)
  %origin = call <2 x i32> @origin(i32 %position, i32 %m, i32 %n, i32 %rank)
  %row = extractelement <2 x i32> %origin, i32 0
  %slice = call <2 x i32> @slice(i32 %k, i32 %rank, i1 %shared)
  %first = extractelement <2 x i32> %slice, i32 0
  %limit = extractelement <2 x i32> %slice, i32 1
  store i32 %first, ptr %block.slot
  br label %head
head:
  %block = load i32, ptr %block.slot
  %more = icmp ult i32 %block, %limit
  br i1 %more, label %body, label %next.tile
body:
  %stage = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %empty = call i32 @empty_barrier(i32 %stage)
  call void @barrier_wait(i32 %empty, i32 %parity)
  call void @produce_scales(ptr addrspace(1) %as, i32 %row, i32 %block, i32 %stage, i32 %m, i32 %as_stride_m, i32 %as_stride_k, i32 %lane)
  call void @advance(ptr %ring)
  %next = add i32 %block, 1
  store i32 %next, ptr %block.slot
  br label %head, !llvm.loop !2
next.tile:
  %position.next = call i32 @next_position(i32 %position, i32 %group, i32 %stride, i32 %whole)
  store i32 %position.next, ptr %position.slot
  %another = call i1 @another(i32 %position.next, i32 %m, i32 %n)
  br i1 %another, label %loop, label %done, !llvm.loop !2
done:
  ret void
}

; ---- the scales of B of a tile, block by block -------------------------------
; A tile's columns lie in one or two column blocks of 128. State: 4 floats, those
; of the two that are next, and those in use: each lane has a block's. Consumers go
; through k in chunks of 32 blocks: b_scales_begin before each, b_scales_take for
; each of its blocks in order, past being how many came before it. (Were there a
; load in the loop over blocks, ptxas would wait for it there.)

; Does a chunk begin with the block that has so many before it?
define internal i1 @b_scales_run_out(i32 %past) #1 {
entry:
  %within = urem i32 %past, 32
  %out = icmp eq i32 %within, 0
  ret i1 %out
}

define internal float @load_b_scale(ptr addrspace(1) %bs, i32 %column_block, i32 %block, i32 %bs_stride_n, i32 %bs_stride_k) #1 {
entry:
  %column64 = zext i32 %column_block to i64
  %stride.n64 = sext i32 %bs_stride_n to i64
  %block64 = zext i32 %block to i64
  %stride.k64 = sext i32 %bs_stride_k to i64
  %offset.0 = mul i64 %column64, %stride.n64
  %offset.1 = mul i64 %block64, %stride.k64
  %offset = add i64 %offset.0, %offset.1
  %at = getelementptr float, ptr addrspace(1) %bs, i64 %offset
  %scale = load float, ptr addrspace(1) %at, align 4, !invariant.load !3
  ret float %scale
}

; Loads the next scales, of block + lane.
define internal void @b_scales_load(ptr %state, ptr addrspace(1) %bs, i32 %column, i32 %block, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane) #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %wanted = add i32 %block, %lane
  %blocks = udiv i32 %k, 128
  %last = sub i32 %blocks, 1
  %inside = call i32 @llvm.umin.i32(i32 %wanted, i32 %last)
  %column.blocks = call i32 @ceildiv(i32 %n, i32 128)
  %column.last = sub i32 %column.blocks, 1
  %low.0 = udiv i32 %column, 128
  %low = call i32 @llvm.umin.i32(i32 %low.0, i32 %column.last)
  %low.scale = call float @load_b_scale(ptr addrspace(1) %bs, i32 %low, i32 %inside, i32 %bs_stride_n, i32 %bs_stride_k)
  store float %low.scale, ptr %state
  %one.0 = urem i32 128, %tile_n
  %one = icmp eq i32 %one.0, 0
  br i1 %one, label %done, label %two
two:
  %high.0 = add i32 %low.0, 1
  %high = call i32 @llvm.umin.i32(i32 %high.0, i32 %column.last)
  %high.scale = call float @load_b_scale(ptr addrspace(1) %bs, i32 %high, i32 %inside, i32 %bs_stride_n, i32 %bs_stride_k)
  %high.at = getelementptr float, ptr %state, i32 1
  store float %high.scale, ptr %high.at
  br label %done
done:
  ret void
}

; Of the chunk that begins with block; the next chunk's are on their way.
define internal void @b_scales_begin(ptr %state, ptr addrspace(1) %bs, i32 %column, i32 %block, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane) #1 {
entry:
  %high.at = getelementptr float, ptr %state, i32 1
  %held.low.at = getelementptr float, ptr %state, i32 2
  %held.high.at = getelementptr float, ptr %state, i32 3
  %low = load float, ptr %state
  %high = load float, ptr %high.at
  store float %low, ptr %held.low.at
  store float %high, ptr %held.high.at
  %later = add i32 %block, 32
  call void @b_scales_load(ptr %state, ptr addrspace(1) %bs, i32 %column, i32 %later, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  ret void
}

; The scales of the block that has so many before it.
define internal <2 x float> @b_scales_take(ptr %state, i32 %past) #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %held.low.at = getelementptr float, ptr %state, i32 2
  %held.high.at = getelementptr float, ptr %state, i32 3
  %within = urem i32 %past, 32
  %held.low = load float, ptr %held.low.at
  %shuffled.low = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %held.low, i32 %within, i32 31) #2
  %single.0 = urem i32 128, %tile_n
  %single = icmp eq i32 %single.0, 0
  br i1 %single, label %done, label %both
both:
  %held.high = load float, ptr %held.high.at
  %shuffled.high = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %held.high, i32 %within, i32 31) #2
  br label %done
done:
  %taken.high = phi float [ %shuffled.low, %entry ], [ %shuffled.high, %both ]
  %half = insertelement <2 x float> poison, float %shuffled.low, i32 0
  %taken = insertelement <2 x float> %half, float %taken.high, i32 1
  ret <2 x float> %taken
}

; ---- matrix instructions -----------------------------------------------------

; Descriptor of a tile in shared memory: 128-byte swizzle, rows of 128 bytes, 8
; of them (1024 bytes) to the next group. The low word is 1 << 16 and the tile's
; address in chunks of 16 bytes: the ring's start, and chunks from there.
define internal i64 @descriptor(ptr %ring, i32 %chunks) #1 {
entry:
  %low.at = getelementptr i32, ptr %ring, i32 2
  %first = load i32, ptr %low.at
  %low = add i32 %first, %chunks
  %low64 = zext i32 %low to i64
  %descriptor = or disjoint i64 %low64, 4611686293305294848
  ret i64 %descriptor
}

; Starts step number step of a block of k: one 64-row block of A's stage by
; step_columns columns of B's.
define internal void @multiply(ptr %partial, i32 %step, ptr %ring, i32 %stage, i32 %warpgroup, i32 %k) #1 {
entry:
  %stages = load i32, ptr addrspace(4) @ws.stages
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %column_steps = load i32, ptr addrspace(4) @ws.column_steps
  %own.rows = call i32 @own_rows()
  %own.columns = udiv i32 %tile_n, %warpgroups_n
  %columns = udiv i32 %own.columns, %column_steps
  %group.m = call i32 @group_m(i32 %warpgroup)
  %group.n = call i32 @group_n(i32 %warpgroup)
  %row.0 = mul i32 %group.m, %own.rows
  %row.1 = udiv i32 %step, %column_steps
  %row = add i32 %row.0, %row.1
  %rows = call i32 @loaded_rows()
  %a.stage = mul i32 %rows, 8
  %a.0 = mul i32 %stage, %a.stage
  %a.1 = mul i32 %row, 512
  %a.chunks = add i32 %a.0, %a.1
  %column.0 = mul i32 %group.n, %own.columns
  %column.1 = urem i32 %step, %column_steps
  %column.2 = mul i32 %column.1, %columns
  %column = add i32 %column.0, %column.2
  %b.stage = mul i32 %tile_n, 8
  %b.0 = mul i32 %stage, %b.stage
  %b.1 = mul i32 %column, 8
  %b.2 = mul i32 %stages, %a.stage
  %b.3 = add i32 %b.0, %b.1
  %b.chunks = add i32 %b.2, %b.3
  %a = call i64 @descriptor(ptr %ring, i32 %a.chunks)
  %b = call i64 @descriptor(ptr %ring, i32 %b.chunks)
  %fixed_sums = load i32, ptr addrspace(4) @ws.fixed_sums
  %fixed = icmp eq i32 %fixed_sums, 1
  br i1 %fixed, label %onto, label %fresh
onto:
  ; always 0, but not to ptxas: partial stays where it is (pass/nvptx_expand.c)
  %none = icmp eq i32 %k, 0
  %never = zext i1 %none to i32
  call void @ws.wgmma.e4m3.k128.onto(ptr %partial, i64 %a, i64 %b, i32 %columns, i32 %never)
  br label %done
fresh:
  call void @ws.wgmma.e4m3.k128(ptr %partial, i64 %a, i64 %b, i32 %columns)
  br label %done
done:
  ret void
}

; All but the last started step are complete, or all are: partial may be read.
define internal void @wait_but_one(ptr %partial) #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %column_steps = load i32, ptr addrspace(4) @ws.column_steps
  %columns.0 = udiv i32 %tile_n, %warpgroups_n
  %columns = udiv i32 %columns.0, %column_steps
  call void @ws.wgmma.wait(ptr %partial, i32 %columns, i32 1)
  ret void
}

define internal void @wait_all(ptr %partial) #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %warpgroups_n = load i32, ptr addrspace(4) @ws.warpgroups_n
  %column_steps = load i32, ptr addrspace(4) @ws.column_steps
  %columns.0 = udiv i32 %tile_n, %warpgroups_n
  %columns = udiv i32 %columns.0, %column_steps
  call void @ws.wgmma.wait(ptr %partial, i32 %columns, i32 0)
  ret void
}

; This thread's two scales of A for a step: of its rows l/4 and l/4 + 8.
define internal <2 x float> @a_scales(ptr %ring, i32 %step, i32 %stage, i32 %block, i32 %m, i32 %warpgroup, i32 %thread) #1 {
entry:
  %column_steps = load i32, ptr addrspace(4) @ws.column_steps
  %own.rows = call i32 @own_rows()
  %group.m = call i32 @group_m(i32 %warpgroup)
  %rows.0 = mul i32 %group.m, %own.rows
  %rows.1 = udiv i32 %step, %column_steps
  %rows = add i32 %rows.0, %rows.1
  %row.0 = mul i32 %rows, 64
  %warp.0 = udiv i32 %thread, 32
  %warp = urem i32 %warp.0, 4
  %row.1 = mul i32 %warp, 16
  %lane = urem i32 %thread, 32
  %row.2 = udiv i32 %lane, 4
  %row.3 = add i32 %row.0, %row.1
  %row = add i32 %row.3, %row.2
  %at.0 = call i32 @scale_stage(i32 %stage)
  %at.1 = mul i32 %row, 4
  %at.2 = add i32 %at.0, %at.1
  %at.3 = call i32 @from_start(ptr %ring, i32 %at.2)
  %first = call i32 @first_scale(i32 %block, i32 %m)
  %at.4 = mul i32 %first, 4
  %at = add i32 %at.3, %at.4
  %upper.at = inttoptr i32 %at to ptr addrspace(3)
  %lower.at = getelementptr float, ptr addrspace(3) %upper.at, i32 8
  %upper = load float, ptr addrspace(3) %upper.at, align 4
  %lower = load float, ptr addrspace(3) %lower.at, align 4
  %half = insertelement <2 x float> poison, float %upper, i32 0
  %scales = insertelement <2 x float> %half, float %lower, i32 1
  ret <2 x float> %scales
}

; ---- region scale_accumulate: partial -> running -----------------------------

; The product of scales for 8 columns from column on: of the tile's first column
; block, or of its second from column number 128 - past on. That border is at a
; multiple of the largest power of two in own_columns, so groups of so many
; columns share a comparison.
define internal float @scale_of(float %low, float %high, i32 %column, i32 %past) #1 {
entry:
  %tile_n = load i32, ptr addrspace(4) @ws.tile_n
  %own = call i32 @own_columns()
  %negative = sub i32 0, %own
  %unit.0 = and i32 %own, %negative
  %unit = call i32 @llvm.umin.i32(i32 %unit.0, i32 128)
  %group.0 = udiv i32 %column, %unit
  %group = mul i32 %group.0, %unit
  %reach = add i32 %past, %group
  %beyond = icmp uge i32 %reach, 128
  %one.0 = urem i32 128, %tile_n
  %one = icmp eq i32 %one.0, 0
  %never = xor i1 %one, true
  %above = and i1 %beyond, %never
  %scale = select i1 %above, float %high, float %low
  ret float %scale
}

define internal void @scale_accumulate(ptr %running, ptr %partial, <2 x float> %a_scales, <2 x float> %b_scales, i32 %column, i32 %past) #1 {
entry:
  %i.slot = alloca i32
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

; running[element], running[element + 1] += partial * scale.
define internal void @accumulate_pair(ptr %running, ptr %partial, i32 %element, float %scale) #1 {
entry:
  %next = add i32 %element, 1
  %p0.at = getelementptr float, ptr %partial, i32 %element
  %p1.at = getelementptr float, ptr %partial, i32 %next
  %r0.at = getelementptr float, ptr %running, i32 %element
  %r1.at = getelementptr float, ptr %running, i32 %next
  %p0 = load float, ptr %p0.at
  %p1 = load float, ptr %p1.at
  %r0 = load float, ptr %r0.at
  %r1 = load float, ptr %r1.at
  %sum0 = call float @llvm.fma.f32(float %p0, float %scale, float %r0)
  %sum1 = call float @llvm.fma.f32(float %p1, float %scale, float %r1)
  store float %sum0, ptr %r0.at
  store float %sum1, ptr %r1.at
  ret void
}

; ---- the consumers' loop over k ----------------------------------------------

define internal i32 @full_barrier_here(ptr %ring, i32 %stage) #1 {
entry:
  %at.0 = call i32 @full_barrier(i32 %stage)
  %at = call i32 @from_start(ptr %ring, i32 %at.0)
  ret i32 %at
}

define internal void @zero(ptr %running) #1 {
entry:
  %i.slot = alloca i32
  %rows = call i32 @own_rows()
  %columns = call i32 @own_columns()
  %count.0 = mul i32 %rows, %columns
  %count = udiv i32 %count.0, 2
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %at = getelementptr float, ptr %running, i32 %i
  store float 0.0, ptr %at
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; Adds a step's partial sums to its part of running.
define internal void @scale_step(ptr %running, ptr %partial, i32 %step, <2 x float> %a_scales, <2 x float> %b_scales, i32 %start, i32 %warpgroup) #1 {
entry:
  %own.columns = call i32 @own_columns()
  %columns = call i32 @step_columns()
  %group.n = call i32 @group_n(i32 %warpgroup)
  %past.0 = urem i32 %start, 128
  %past.1 = mul i32 %group.n, %own.columns
  %past = add i32 %past.0, %past.1
  ; steps go along the columns of a row block first, as running does
  %column.0 = mul i32 %step, %columns
  %column = urem i32 %column.0, %own.columns
  %first = udiv i32 %column.0, 2
  %part = getelementptr float, ptr %running, i32 %first
  call void @scale_accumulate(ptr %part, ptr %partial, <2 x float> %a_scales, <2 x float> %b_scales, i32 %column, i32 %past)
  ret void
}

; pipeline 0: a step is started, waited for and scaled; while one warpgroup
; scales, the tensor core works for another. With look_ahead the next block's stage
; is looked at while the last step's matrix instructions run, and not waited for if
; it was full; with 2 the next block's scales of B are taken then, too. With scales_first A's scales are read before these start: behind
; their start ptxas waits for the scales between the first and the second of them.
define internal void @accumulate_in_turn(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread) #1 {
entry:
  %partial = alloca [128 x float]
  %block.slot = alloca i32
  %step.slot = alloca i32
  %full.slot = alloca i32
  %b.slot = alloca <2 x float>
  %parity.at = getelementptr i32, ptr %ring, i32 1
  %look_ahead = load i32, ptr addrspace(4) @ws.look_ahead
  %scales_first = load i32, ptr addrspace(4) @ws.scales_first
  %looks = icmp ne i32 %look_ahead, 0
  %takes = icmp eq i32 %look_ahead, 2
  %early = icmp eq i32 %scales_first, 1
  %lane = urem i32 %thread, 32
  %steps = call i32 @steps()
  %last = sub i32 %steps, 1
  store i32 0, ptr %full.slot
  store i32 %first, ptr %block.slot
  br label %chunk.head
chunk.head:
  %chunk = load i32, ptr %block.slot
  %chunk.more = icmp ult i32 %chunk, %limit
  br i1 %chunk.more, label %chunk.body, label %exit
chunk.body:
  call void @b_scales_begin(ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %chunk, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  br i1 %takes, label %take.first, label %body
take.first:
  %past.first = sub i32 %chunk, %first
  %b.first = call <2 x float> @b_scales_take(ptr %b_state, i32 %past.first)
  store <2 x float> %b.first, ptr %b.slot
  br label %body
body:
  %block = load i32, ptr %block.slot
  %stage = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %past = sub i32 %block, %first
  br i1 %takes, label %taken, label %take
taken:
  %b.before = load <2 x float>, ptr %b.slot
  br label %look.here
take:
  %b.now = call <2 x float> @b_scales_take(ptr %b_state, i32 %past)
  br label %look.here
look.here:
  %b.scales = phi <2 x float> [ %b.before, %taken ], [ %b.now, %take ]
  %full = call i32 @full_barrier_here(ptr %ring, i32 %stage)
  br i1 %looks, label %wait.unless, label %wait
wait.unless:
  %was.full = load i32, ptr %full.slot
  call void @barrier_wait_unless(i32 %full, i32 %parity, i32 %was.full)
  br label %begin
wait:
  call void @barrier_wait(i32 %full, i32 %parity)
  br label %begin
begin:
  call void @advance(ptr %ring)
  store i32 0, ptr %step.slot
  br label %step.loop
step.loop:
  %step = load i32, ptr %step.slot
  br i1 %early, label %scales.early, label %start
scales.early:
  %early.scales = call <2 x float> @a_scales(ptr %ring, i32 %step, i32 %stage, i32 %block, i32 %m, i32 %warpgroup, i32 %thread)
  br label %start
start:
  %known.scales = phi <2 x float> [ %early.scales, %scales.early ], [ zeroinitializer, %step.loop ]
  call void @multiply(ptr %partial, i32 %step, ptr %ring, i32 %stage, i32 %warpgroup, i32 %k)
  br i1 %early, label %started, label %scales.late
scales.late:
  %late.scales = call <2 x float> @a_scales(ptr %ring, i32 %step, i32 %stage, i32 %block, i32 %m, i32 %warpgroup, i32 %thread)
  br label %started
started:
  %a.scales = phi <2 x float> [ %known.scales, %start ], [ %late.scales, %scales.late ]
  %read = icmp eq i32 %step, %last
  %look = and i1 %read, %looks
  br i1 %look, label %next.stage, label %complete
next.stage:
  %stage.next = load i32, ptr %ring
  %parity.next = load i32, ptr %parity.at
  %full.next = call i32 @full_barrier_here(ptr %ring, i32 %stage.next)
  %is.full = call i32 @barrier_test(i32 %full.next, i32 %parity.next)
  store i32 %is.full, ptr %full.slot
  br i1 %takes, label %take.next, label %complete
take.next:
  ; behind a chunk's last block they are none, and not used
  %past.after = add i32 %past, 1
  %b.next = call <2 x float> @b_scales_take(ptr %b_state, i32 %past.after)
  store <2 x float> %b.next, ptr %b.slot
  br label %complete
complete:
  call void @wait_all(ptr %partial)
  br i1 %read, label %release, label %scale
release:
  call void @release_stage(ptr %ring, i32 %stage, i32 %lane, <2 x float> %a.scales, i32 %k)
  br label %scale
scale:
  call void @scale_step(ptr %running, ptr %partial, i32 %step, <2 x float> %a.scales, <2 x float> %b.scales, i32 %column, i32 %warpgroup)
  %step.next = add i32 %step, 1
  store i32 %step.next, ptr %step.slot
  %step.more = icmp ult i32 %step.next, %steps
  br i1 %step.more, label %step.loop, label %step.exit, !llvm.loop !1
step.exit:
  %next = add i32 %block, 1
  store i32 %next, ptr %block.slot
  %past.next = sub i32 %next, %first
  %out = call i1 @b_scales_run_out(i32 %past.next)
  %some = icmp ult i32 %next, %limit
  %in = xor i1 %out, true
  %more = and i1 %some, %in
  br i1 %more, label %body, label %chunk.head, !llvm.loop !2
exit:
  ret void
}

; One block of pipeline 1. Its step 0 has been started into set number `set` of
; partial. Each step is scaled after the next has been started into the other
; set; the last one's next is step 0 of the next block, if there is one (more, a
; constant of the caller; ring is then at its stage).
define internal void @block_overlapped(ptr %running, ptr %partial, i32 %set, i1 %more, ptr %ring, i32 %stage, <2 x float> %b_scales, i32 %column, i32 %block, i32 %m, i32 %k, i32 %warpgroup, i32 %thread) #1 {
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
  call void @multiply(ptr %other, i32 %step.next, ptr %ring, i32 %stage, i32 %warpgroup, i32 %k)
  %own.scales = call <2 x float> @a_scales(ptr %ring, i32 %step, i32 %stage, i32 %block, i32 %m, i32 %warpgroup, i32 %thread)
  call void @wait_but_one(ptr %here)
  br label %scale
border:
  br i1 %more, label %start.next, label %finish
start.next:
  %stage.next = load i32, ptr %ring
  %parity = load i32, ptr %parity.at
  %full = call i32 @full_barrier_here(ptr %ring, i32 %stage.next)
  call void @barrier_wait(i32 %full, i32 %parity)
  call void @multiply(ptr %other, i32 0, ptr %ring, i32 %stage.next, i32 %warpgroup, i32 %k)
  %next.scales = call <2 x float> @a_scales(ptr %ring, i32 %step, i32 %stage, i32 %block, i32 %m, i32 %warpgroup, i32 %thread)
  call void @wait_but_one(ptr %here)
  call void @release_stage(ptr %ring, i32 %stage, i32 %lane, <2 x float> %next.scales, i32 %k)
  br label %scale
finish:
  %last.scales = call <2 x float> @a_scales(ptr %ring, i32 %step, i32 %stage, i32 %block, i32 %m, i32 %warpgroup, i32 %thread)
  call void @wait_all(ptr %here)
  call void @release_stage(ptr %ring, i32 %stage, i32 %lane, <2 x float> %last.scales, i32 %k)
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

; pipeline 1: within a warpgroup, the next step runs while this one is scaled.
; With an odd number of steps two blocks alternate between the sets of partial
; sums; which set a step has must be known when this is compiled. With an even
; number one would do, but without an exit in its middle ptxas 13.0 serialises the
; loop's matrix instructions (C7514).
define internal void @accumulate_overlapped(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread) #1 {
entry:
  %partial = alloca [256 x float]
  %block.slot = alloca i32
  %stage.slot = alloca i32
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
  %stage.first = load i32, ptr %ring
  %parity.first = load i32, ptr %parity.at
  store i32 %stage.first, ptr %stage.slot
  %full.first = call i32 @full_barrier_here(ptr %ring, i32 %stage.first)
  call void @barrier_wait(i32 %full.first, i32 %parity.first)
  call void @multiply(ptr %partial, i32 0, ptr %ring, i32 %stage.first, i32 %warpgroup, i32 %k)
  call void @advance(ptr %ring)
  store i32 %first, ptr %block.slot
  br label %chunk.head
chunk.head:
  %chunk = load i32, ptr %block.slot
  call void @b_scales_begin(ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %chunk, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  br label %even.head
even.head:
  %even.block = load i32, ptr %block.slot
  %even.next = add i32 %even.block, 1
  %even.stage = load i32, ptr %stage.slot
  %even.past = sub i32 %even.block, %first
  %even.b = call <2 x float> @b_scales_take(ptr %b_state, i32 %even.past)
  %even.more = icmp ult i32 %even.next, %limit
  br i1 %even.more, label %even.body, label %even.last
even.body:
  %even.stage.next = load i32, ptr %ring
  call void @block_overlapped(ptr %running, ptr %partial, i32 0, i1 true, ptr %ring, i32 %even.stage, <2 x float> %even.b, i32 %column, i32 %even.block, i32 %m, i32 %k, i32 %warpgroup, i32 %thread)
  call void @advance(ptr %ring)
  br label %odd.head
odd.head:
  %odd.next = add i32 %even.next, 1
  %odd.past = add i32 %even.past, 1
  %odd.b = call <2 x float> @b_scales_take(ptr %b_state, i32 %odd.past)
  %odd.more = icmp ult i32 %odd.next, %limit
  br i1 %odd.more, label %odd.body, label %odd.last
odd.body:
  %odd.stage.next = load i32, ptr %ring
  call void @block_overlapped(ptr %running, ptr %partial, i32 %odd.0, i1 true, ptr %ring, i32 %even.stage.next, <2 x float> %odd.b, i32 %column, i32 %even.next, i32 %m, i32 %k, i32 %warpgroup, i32 %thread)
  call void @advance(ptr %ring)
  store i32 %odd.stage.next, ptr %stage.slot
  store i32 %odd.next, ptr %block.slot
  %past.next = add i32 %even.past, 2
  %out = call i1 @b_scales_run_out(i32 %past.next)
  br i1 %out, label %chunk.head, label %even.head, !llvm.loop !2
even.last:
  call void @block_overlapped(ptr %running, ptr %partial, i32 0, i1 false, ptr %ring, i32 %even.stage, <2 x float> %even.b, i32 %column, i32 %even.block, i32 %m, i32 %k, i32 %warpgroup, i32 %thread)
  br label %exit
odd.last:
  call void @block_overlapped(ptr %running, ptr %partial, i32 %odd.0, i1 false, ptr %ring, i32 %even.stage.next, <2 x float> %odd.b, i32 %column, i32 %even.next, i32 %m, i32 %k, i32 %warpgroup, i32 %thread)
  br label %exit
exit:
  ret void
}

; ---- split k: sums of a cluster ----------------------------------------------
; A warpgroup's columns are cut into groups of 16. Workgroup q of the cluster
; stores groups [q * groups / split_k, (q + 1) * groups / split_k): some store
; none where split_k is larger, for few columns and a long k.

define internal i32 @groups() #1 {
entry:
  %columns = call i32 @own_columns()
  %groups = udiv i32 %columns, 16
  ret i32 %groups
}

define internal i32 @first_group(i32 %rank) #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %groups = call i32 @groups()
  %first.0 = mul i32 %rank, %groups
  %first = udiv i32 %first.0, %split_k
  ret i32 %first
}

; Which workgroup stores a group: the q with first_group(q) <= group <
; first_group(q + 1).
define internal i32 @owner(i32 %group) #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %groups = call i32 @groups()
  %owner.0 = add i32 %group, 1
  %owner.1 = mul i32 %owner.0, %split_k
  %owner.2 = sub i32 %owner.1, 1
  %owner = udiv i32 %owner.2, %groups
  ret i32 %owner
}

; Bytes that one workgroup sends another, at most: what a slot has room for.
define internal i32 @slot_bytes() #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %groups = call i32 @groups()
  %rows = call i32 @own_rows()
  %consumers = call i32 @consumers()
  %most = call i32 @ceildiv(i32 %groups, i32 %split_k)
  %bytes.0 = mul i32 %most, %rows
  %bytes.1 = mul i32 %bytes.0, %consumers
  %bytes = mul i32 %bytes.1, 4096
  ret i32 %bytes
}

; Where in a slot the first of this thread's 8 floats of a group is. The others
; follow piece_bytes apart, each beside those of the neighbouring threads. (In
; fours, which would save instructions, they tie down the registers of the sums:
; ptxas spills.)
define internal i32 @piece(i32 %slot, i32 %row, i32 %group, i32 %owner, i32 %thread) #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %groups = call i32 @groups()
  %start = call i32 @ring_start()
  %slot.bytes = call i32 @slot_bytes()
  %most = call i32 @ceildiv(i32 %groups, i32 %split_k)
  %first = call i32 @first_group(i32 %owner)
  %within = sub i32 %group, %first
  %number.0 = mul i32 %row, %most
  %number.1 = add i32 %number.0, %within
  %number = mul i32 %number.1, 8
  %piece.bytes = call i32 @piece_bytes()
  %at.0 = mul i32 %slot, %slot.bytes
  %at.1 = mul i32 %number, %piece.bytes
  %at.2 = mul i32 %thread, 4
  %at.3 = add i32 %start, %at.0
  %at.4 = add i32 %at.3, %at.1
  %at = add i32 %at.4, %at.2
  ret i32 %at
}

define internal i32 @piece_bytes() #1 {
entry:
  %consumers = call i32 @consumers()
  %bytes = mul i32 %consumers, 512
  ret i32 %bytes
}

; 8 floats from element on to another workgroup, counted by its barrier.
define internal void @send(ptr %running, i32 %element, i32 %at, i32 %barrier) #1 {
entry:
  %i.slot = alloca i32
  %piece.bytes = call i32 @piece_bytes()
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %which = add i32 %element, %i
  %from = getelementptr float, ptr %running, i32 %which
  %value = load float, ptr %from
  %offset = mul i32 %i, %piece.bytes
  %to = add i32 %at, %offset
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [$0], $1, [$2];", "r,f,r,~{memory}"(i32 %to, float %value, i32 %barrier) #2
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, 8
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @receive(ptr %running, i32 %element, i32 %at) #1 {
entry:
  %i.slot = alloca i32
  %piece.bytes = call i32 @piece_bytes()
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %offset = mul i32 %i, %piece.bytes
  %at.here = add i32 %at, %offset
  %from = inttoptr i32 %at.here to ptr addrspace(3)
  %value = load float, ptr addrspace(3) %from, align 4
  %which = add i32 %element, %i
  %sum.at = getelementptr float, ptr %running, i32 %which
  %sum.0 = load float, ptr %sum.at
  %sum = fadd float %sum.0, %value
  store float %sum, ptr %sum.at
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, 8
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; Sends every group that another workgroup stores to it, to the slot that has
; there the sender's number, the receiver left out.
define internal void @send_groups(ptr %running, i32 %rank, i32 %thread) #1 {
entry:
  %i.slot = alloca i32
  %groups = call i32 @groups()
  %rows = call i32 @own_rows()
  %count = mul i32 %groups, %rows
  %received = call i32 @received_barrier()
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %row = udiv i32 %i, %groups
  %group = urem i32 %i, %groups
  %owner = call i32 @owner(i32 %group)
  %own = icmp eq i32 %owner, %rank
  br i1 %own, label %next, label %send
send:
  %later = icmp ugt i32 %rank, %owner
  %later.1 = zext i1 %later to i32
  %slot = sub i32 %rank, %later.1
  %at.0 = call i32 @piece(i32 %slot, i32 %row, i32 %group, i32 %owner, i32 %thread)
  %at = call i32 @address_in(i32 %at.0, i32 %owner)
  %barrier = call i32 @address_in(i32 %received, i32 %owner)
  %element = mul i32 %i, 8
  call void @send(ptr %running, i32 %element, i32 %at, i32 %barrier)
  br label %next
next:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @receive_group(ptr %running, i32 %row, i32 %group, i32 %element, i32 %owner, i32 %thread) #1 {
entry:
  %i.slot = alloca i32
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %slots = sub i32 %split_k, 1
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %at = call i32 @piece(i32 %i, i32 %row, i32 %group, i32 %owner, i32 %thread)
  call void @receive(ptr %running, i32 %element, i32 %at)
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %slots
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

define internal void @receive_groups(ptr %running, i32 %rank, i32 %thread) #1 {
entry:
  %i.slot = alloca i32
  %groups = call i32 @groups()
  %rows = call i32 @own_rows()
  %count = mul i32 %groups, %rows
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %row = udiv i32 %i, %groups
  %group = urem i32 %i, %groups
  %element = mul i32 %i, 8
  %owner = call i32 @owner(i32 %group)
  %own = icmp eq i32 %owner, %rank
  br i1 %own, label %add, label %next
add:
  call void @receive_group(ptr %running, i32 %row, i32 %group, i32 %element, i32 %owner, i32 %thread)
  br label %next
next:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; Does a warp of the tile that starts in a row take part? With exchange_rows 1
; only if C has rows of its 16 (the only 16 that it has: tile_m is 64).
define internal i1 @warp_exchanges(i32 %warp, i32 %row, i32 %m) #1 {
entry:
  %exchange_rows = load i32, ptr addrspace(4) @ws.exchange_rows
  %all = icmp eq i32 %exchange_rows, 0
  %within = mul i32 %warp, 16
  %first = add i32 %row, %within
  %inside = icmp ult i32 %first, %m
  %exchanges = or i1 %all, %inside
  ret i1 %exchanges
}

; Bytes of a group of 16 columns and a 64-row block: 1024 of each such warp.
define internal i32 @group_bytes(i32 %row, i32 %m) #1 {
entry:
  %exchange_rows = load i32, ptr addrspace(4) @ws.exchange_rows
  %all = icmp eq i32 %exchange_rows, 0
  %left = sub i32 %m, %row
  %some.0 = call i32 @ceildiv(i32 %left, i32 16)
  %some = call i32 @llvm.umin.i32(i32 %some.0, i32 4)
  %some.bytes = mul i32 %some, 1024
  %bytes = select i1 %all, i32 4096, i32 %some.bytes
  ret i32 %bytes
}

; How much will come. By one consumer thread, before a tile; with split_last after
; its loop over k, before which a branch on what is known at run time only makes
; ptxas take the warp for split, and the stages of the ring for different. Nobody
; can send before this workgroup's warps have all drained their stages of the tile.
define internal void @expect_sums(i32 %rank, i32 %row, i32 %m) #1 {
entry:
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %rows = call i32 @own_rows()
  %consumers = call i32 @consumers()
  %group.bytes = call i32 @group_bytes(i32 %row, i32 %m)
  %received = call i32 @received_barrier()
  %others = sub i32 %split_k, 1
  %first = call i32 @first_group(i32 %rank)
  %rank.next = add i32 %rank, 1
  %limit = call i32 @first_group(i32 %rank.next)
  %own = sub i32 %limit, %first
  %bytes.0 = mul i32 %own, %rows
  %bytes.1 = mul i32 %bytes.0, %consumers
  %bytes.2 = mul i32 %bytes.1, %others
  %bytes = mul i32 %bytes.2, %group.bytes
  call void @barrier_expect(i32 %received, i32 %bytes)
  ret void
}

define internal void @exchange(ptr %running, i32 %rank, i32 %parity, i32 %row, i32 %m) #1 {
entry:
  %thread = call i32 @thread_again()
  %split_k = load i32, ptr addrspace(4) @ws.split_k
  %lane = urem i32 %thread, 32
  %drained = call i32 @drained_barrier()
  %received = call i32 @received_barrier()
  %split_last = load i32, ptr addrspace(4) @ws.split_last
  %late = icmp eq i32 %split_last, 1
  %one.thread.0 = icmp eq i32 %thread, 0
  %one.thread = and i1 %one.thread.0, %late
  br i1 %one.thread, label %expect, label %expected
expect:
  call void @expect_sums(i32 %rank, i32 %row, i32 %m)
  br label %expected
expected:
  ; each lane tells another workgroup that its warp has read this ring: not before
  ; lane 0 has expected sums and waited for the TMA to read the last tile there
  %output = load i32, ptr addrspace(4) @ws.output
  %staging = icmp eq i32 %output, 1
  %must.meet = or i1 %late, %staging
  br i1 %must.meet, label %meet, label %begin
meet:
  call void @llvm.nvvm.bar.warp.sync(i32 -1) #2
  br label %begin
begin:
  call void @barrier_arrive_sharers(i32 %drained, i32 %lane, i32 %split_k)
  call void @barrier_wait_cluster(i32 %drained, i32 %parity)
  %warp.0 = udiv i32 %thread, 32
  %warp = urem i32 %warp.0, 4
  %sends = call i1 @warp_exchanges(i32 %warp, i32 %row, i32 %m)
  br i1 %sends, label %send, label %sent
send:
  call void @send_groups(ptr %running, i32 %rank, i32 %thread)
  br label %sent
sent:
  call void @barrier_wait_cluster(i32 %received, i32 %parity)
  br i1 %sends, label %receive, label %done
receive:
  call void @receive_groups(ptr %running, i32 %rank, i32 %thread)
  br label %done
done:
  ret void
}

; ---- store -------------------------------------------------------------------

define internal i32 @round_pair(ptr %running, i32 %element) #1 {
entry:
  %low.at = getelementptr float, ptr %running, i32 %element
  %high.at = getelementptr float, ptr %low.at, i32 1
  %low = load float, ptr %low.at
  %high = load float, ptr %high.at
  %pair = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %high, float %low)
  %bits = bitcast <2 x bfloat> %pair to i32
  ret i32 %bits
}

; Where the output buffer has box number `box` of 64 rows of a warpgroup.
define internal i32 @box_at(i32 %warpgroup, i32 %row, i32 %box) #1 {
entry:
  %rows = call i32 @own_rows()
  %columns = call i32 @own_columns()
  %box.columns = call i32 @box_columns()
  %boxes = udiv i32 %columns, %box.columns
  %number.0 = mul i32 %warpgroup, %rows
  %number.1 = add i32 %number.0, %row
  %number.2 = mul i32 %number.1, %boxes
  %number = add i32 %number.2, %box
  %bytes = mul i32 %box.columns, 128
  %offset = mul i32 %number, %bytes
  %at = add i32 ptrtoint (ptr addrspace(3) @ws.lds to i32), %offset
  ret i32 %at
}

; 16 columns of the warp's 16 rows to their box. A row of the box has 2 *
; box_columns bytes; its 16-byte chunks are swizzled as c_map says: chunk number
; ^= address / 128, within the row.
define internal void @stage_group(ptr %running, i32 %warpgroup, i32 %row, i32 %group, i32 %thread) #1 {
entry:
  %groups = call i32 @groups()
  %box.columns = call i32 @box_columns()
  %lane = urem i32 %thread, 32
  %warp.0 = udiv i32 %thread, 32
  %warp = urem i32 %warp.0, 4
  %column = mul i32 %group, 16
  %box = udiv i32 %column, %box.columns
  %within = urem i32 %column, %box.columns
  %box.at = call i32 @box_at(i32 %warpgroup, i32 %row, i32 %box)
  %line.0 = urem i32 %lane, 16
  %line.1 = mul i32 %warp, 16
  %line = add i32 %line.0, %line.1
  %pitch = mul i32 %box.columns, 2
  %line.at = mul i32 %line, %pitch
  %chunks = udiv i32 %box.columns, 8
  %chunks.mask = sub i32 %chunks, 1
  %key.0 = udiv i32 %line.at, 128
  %key = and i32 %key.0, %chunks.mask
  %half = udiv i32 %lane, 16
  %chunk.0 = udiv i32 %within, 8
  %chunk.1 = add i32 %chunk.0, %half
  %chunk = xor i32 %chunk.1, %key
  %chunk.at = mul i32 %chunk, 16
  %at.0 = add i32 %box.at, %line.at
  %at = add i32 %at.0, %chunk.at
  %element.0 = mul i32 %row, %groups
  %element.1 = add i32 %element.0, %group
  %element = mul i32 %element.1, 8
  %element.2 = add i32 %element, 2
  %element.4 = add i32 %element, 4
  %element.6 = add i32 %element, 6
  %v0 = call i32 @round_pair(ptr %running, i32 %element)
  %v1 = call i32 @round_pair(ptr %running, i32 %element.2)
  %v2 = call i32 @round_pair(ptr %running, i32 %element.4)
  %v3 = call i32 @round_pair(ptr %running, i32 %element.6)
  call void asm sideeffect "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"(i32 %at, i32 %v0, i32 %v1, i32 %v2, i32 %v3) #2
  ret void
}

define internal void @stage_groups(ptr %running, i32 %first, i32 %limit, i32 %warpgroup, i32 %thread) #1 {
entry:
  %i.slot = alloca i32
  %groups = call i32 @groups()
  %rows = call i32 @own_rows()
  %count = mul i32 %groups, %rows
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %row = udiv i32 %i, %groups
  %group = urem i32 %i, %groups
  %from = icmp uge i32 %group, %first
  %to = icmp ult i32 %group, %limit
  %own = and i1 %from, %to
  br i1 %own, label %stage, label %next
stage:
  call void @stage_group(ptr %running, i32 %warpgroup, i32 %row, i32 %group, i32 %thread)
  br label %next
next:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; TMA of the staged boxes, by one thread. Rows and columns past C are dropped.
define internal void @store_boxes(ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit, i32 %warpgroup) #1 {
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
  %c_cache = load i32, ptr addrspace(4) @ws.c_cache
  %plain = icmp eq i32 %c_cache, 0
  br i1 %plain, label %as.usual, label %by.policy
as.usual:
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) %at.shared, ptr %c_map, i32 %x, i32 %y, i64 0, i1 false) #2
  br label %next
by.policy:
  %policy = call i64 @cache_policy(i32 %c_cache)
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) %at.shared, ptr %c_map, i32 %x, i32 %y, i64 %policy, i1 true) #2
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

define internal void @sync_warpgroup(i32 %warpgroup) #1 {
entry:
  %id = add i32 %warpgroup, 1
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %id, i32 128) #2
  ret void
}

define internal void @sync_consumers() #1 {
entry:
  %consumers = call i32 @consumers()
  %threads = mul i32 %consumers, 128
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 8, i32 %threads) #2
  ret void
}

; The thread's number once more, so that addresses that follow from it are
; computed at each tile and not held in registers through the loop over k.
define internal i32 @thread_again() #1 {
entry:
  %thread = call i32 asm sideeffect "mov.u32 $0, %tid.x;", "=r"() #2
  ret i32 %thread
}

; For split_last, where more follows from them: the same of the workgroup's number
; in its cluster and in the grid, of the number of workgroups, and of an argument.
define internal i32 @rank_again() #1 {
entry:
  %rank = call i32 asm sideeffect "mov.u32 $0, %cluster_ctarank;", "=r"() #2
  ret i32 %rank
}

define internal i32 @group_again() #1 {
entry:
  %group = call i32 asm sideeffect "mov.u32 $0, %ctaid.x;", "=r"() #2
  ret i32 %group
}

define internal i32 @groups_again() #1 {
entry:
  %groups = call i32 asm sideeffect "mov.u32 $0, %nctaid.x;", "=r"() #2
  ret i32 %groups
}

define internal i32 @again(i32 %argument) #1 {
entry:
  %again = call i32 asm sideeffect "mov.b32 $0, $1;", "=r,r"(i32 %argument) #2
  ret i32 %again
}

; output 0 and 1: through shared memory.
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
  call void @store_boxes(ptr %c_map, i32 %row, i32 %column, i32 %first, i32 %limit, i32 %warpgroup)
  br i1 %own.buffer, label %done, label %read
read:
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0) #2
  br label %done
done:
  ret void
}

; output 2: from registers. A quad of lanes writes 16 bytes of a row.
define internal void @store_pair(ptr %running, i32 %element, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n) #1 {
entry:
  %row.inside = icmp ult i32 %row, %m
  %column.inside = icmp ult i32 %column, %n
  %inside = and i1 %row.inside, %column.inside
  br i1 %inside, label %store, label %done
store:
  %bits = call i32 @round_pair(ptr %running, i32 %element)
  %row64 = zext i32 %row to i64
  %n64 = zext i32 %n to i64
  %column64 = zext i32 %column to i64
  %offset.0 = mul i64 %row64, %n64
  %offset = add i64 %offset.0, %column64
  %at = getelementptr bfloat, ptr addrspace(1) %c, i64 %offset
  store i32 %bits, ptr addrspace(1) %at, align 4
  br label %done
done:
  ret void
}

define internal void @store_direct(ptr %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %first, i32 %limit) #1 {
entry:
  %i.slot = alloca i32
  %thread = call i32 @thread_again()
  %warpgroup = udiv i32 %thread, 128
  %rows = call i32 @own_rows()
  %columns = call i32 @own_columns()
  %eights = udiv i32 %columns, 8
  %count = mul i32 %eights, %rows
  %group.m = call i32 @group_m(i32 %warpgroup)
  %group.n = call i32 @group_n(i32 %warpgroup)
  %lane = urem i32 %thread, 32
  %warp.0 = udiv i32 %thread, 32
  %warp = urem i32 %warp.0, 4
  %row.0 = mul i32 %group.m, %rows
  %row.1 = mul i32 %row.0, 64
  %row.2 = mul i32 %warp, 16
  %row.3 = udiv i32 %lane, 4
  %row.4 = add i32 %row, %row.1
  %row.5 = add i32 %row.2, %row.3
  %row.own = add i32 %row.4, %row.5
  %column.0 = mul i32 %group.n, %columns
  %column.1 = urem i32 %lane, 4
  %column.2 = mul i32 %column.1, 2
  %column.3 = add i32 %column, %column.0
  %column.own = add i32 %column.3, %column.2
  store i32 0, ptr %i.slot
  br label %i.loop
i.loop:
  %i = load i32, ptr %i.slot
  %block = udiv i32 %i, %eights
  %eight = urem i32 %i, %eights
  %group = udiv i32 %eight, 2
  %from = icmp uge i32 %group, %first
  %to = icmp ult i32 %group, %limit
  %own = and i1 %from, %to
  br i1 %own, label %store, label %next
store:
  %upper.0 = mul i32 %block, 64
  %upper = add i32 %row.own, %upper.0
  %lower = add i32 %upper, 8
  %here.0 = mul i32 %eight, 8
  %here = add i32 %column.own, %here.0
  %element = mul i32 %i, 4
  %element.lower = add i32 %element, 2
  call void @store_pair(ptr %running, i32 %element, ptr addrspace(1) %c, i32 %upper, i32 %here, i32 %m, i32 %n)
  call void @store_pair(ptr %running, i32 %element.lower, ptr addrspace(1) %c, i32 %lower, i32 %here, i32 %m, i32 %n)
  br label %next
next:
  %i.next = add i32 %i, 1
  store i32 %i.next, ptr %i.slot
  %i.more = icmp ult i32 %i.next, %count
  br i1 %i.more, label %i.loop, label %i.exit, !llvm.loop !1
i.exit:
  ret void
}

; ---- the consumers -----------------------------------------------------------

; The tile after position in the walk: {position, row and column, is it shared, is
; there one}. If not, the row and column are those of position.
define internal { i32, <2 x i32>, i1, i1 } @look_ahead(i32 %position, i32 %group, i32 %stride, i32 %m, i32 %n, i32 %rank) #1 {
entry:
  %whole = call i32 @whole_tiles(i32 %stride, i32 %m, i32 %n)
  %next = call i32 @next_position(i32 %position, i32 %group, i32 %stride, i32 %whole)
  %another = call i1 @another(i32 %next, i32 %m, i32 %n)
  %next.valid = select i1 %another, i32 %next, i32 %position
  %origin = call <2 x i32> @origin(i32 %next.valid, i32 %m, i32 %n, i32 %rank)
  %shared = call i1 @is_shared(i32 %next.valid, i32 %whole)
  %tile.0 = insertvalue { i32, <2 x i32>, i1, i1 } poison, i32 %next, 0
  %tile.1 = insertvalue { i32, <2 x i32>, i1, i1 } %tile.0, <2 x i32> %origin, 1
  %tile.2 = insertvalue { i32, <2 x i32>, i1, i1 } %tile.1, i1 %shared, 2
  %tile = insertvalue { i32, <2 x i32>, i1, i1 } %tile.2, i1 %another, 3
  ret { i32, <2 x i32>, i1, i1 } %tile
}

; Sums and stores one tile, and finds the next: before the loop over k, with
; split_last after it.
define internal { i32, <2 x i32>, i1, i1 } @consume_tile(ptr %c_map, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %position, <2 x i32> %origin, i1 %shared, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %group, i32 %stride, i32 %rank, i32 %parity, ptr %ring, ptr %b_state, i32 %warpgroup, i32 %thread) #1 {
entry:
  %running = alloca [256 x float]
  %pipeline = load i32, ptr addrspace(4) @ws.pipeline
  %output = load i32, ptr addrspace(4) @ws.output
  %split_last = load i32, ptr addrspace(4) @ws.split_last
  %late = icmp eq i32 %split_last, 1
  %lane = urem i32 %thread, 32
  br i1 %late, label %late.rank, label %look.before
late.rank:
  %rank.first = call i32 @rank_again()
  br label %start
look.before:
  %next.before = call { i32, <2 x i32>, i1, i1 } @look_ahead(i32 %position, i32 %group, i32 %stride, i32 %m, i32 %n, i32 %rank)
  br label %start
start:
  %rank.before = phi i32 [ %rank, %look.before ], [ %rank.first, %late.rank ]
  %next.known = phi { i32, <2 x i32>, i1, i1 } [ %next.before, %look.before ], [ poison, %late.rank ]
  %row = extractelement <2 x i32> %origin, i32 0
  %column = extractelement <2 x i32> %origin, i32 1
  %slice = call <2 x i32> @slice(i32 %k, i32 %rank.before, i1 %shared)
  %first = extractelement <2 x i32> %slice, i32 0
  %limit = extractelement <2 x i32> %slice, i32 1
  %one.thread.0 = icmp eq i32 %thread, 0
  %early = xor i1 %late, true
  %expects = and i1 %early, %shared
  %one.thread = and i1 %one.thread.0, %expects
  br i1 %one.thread, label %expect, label %begin
expect:
  call void @expect_sums(i32 %rank, i32 %row, i32 %m)
  br label %begin
begin:
  call void @zero(ptr %running)
  %overlapped = icmp eq i32 %pipeline, 1
  br i1 %overlapped, label %loop.overlapped, label %loop.in.turn
loop.overlapped:
  call void @accumulate_overlapped(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread)
  br label %summed
loop.in.turn:
  call void @accumulate_in_turn(ptr %running, ptr %ring, ptr %b_state, ptr addrspace(1) %bs, i32 %column, i32 %first, i32 %limit, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %warpgroup, i32 %thread)
  br label %summed
summed:
  br i1 %late, label %look.after, label %ahead
look.after:
  %rank.again = call i32 @rank_again()
  %group.again = call i32 @group_again()
  %groups.again = call i32 @groups_again()
  %m.again = call i32 @again(i32 %m)
  %n.again = call i32 @again(i32 %n)
  %stride.again = call i32 @stride(i32 %groups.again)
  %next.after = call { i32, <2 x i32>, i1, i1 } @look_ahead(i32 %position, i32 %group.again, i32 %stride.again, i32 %m.again, i32 %n.again, i32 %rank.again)
  br label %ahead
ahead:
  ; the next tile's first scales are on their way while this one is stored
  %rank.after = phi i32 [ %rank, %summed ], [ %rank.again, %look.after ]
  %next = phi { i32, <2 x i32>, i1, i1 } [ %next.known, %summed ], [ %next.after, %look.after ]
  %origin.next = extractvalue { i32, <2 x i32>, i1, i1 } %next, 1
  %shared.next = extractvalue { i32, <2 x i32>, i1, i1 } %next, 2
  %column.next = extractelement <2 x i32> %origin.next, i32 1
  %slice.next = call <2 x i32> @slice(i32 %k, i32 %rank.after, i1 %shared.next)
  %first.next = extractelement <2 x i32> %slice.next, i32 0
  call void @b_scales_load(ptr %b_state, ptr addrspace(1) %bs, i32 %column.next, i32 %first.next, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  br i1 %shared, label %share, label %complete
share:
  call void @exchange(ptr %running, i32 %rank.after, i32 %parity, i32 %row, i32 %m)
  br label %complete
complete:
  %number = select i1 %shared, i32 %rank.after, i32 0
  %number.next = add i32 %number, 1
  %groups = call i32 @groups()
  %group.first = call i32 @first_group(i32 %number)
  %group.limit.0 = call i32 @first_group(i32 %number.next)
  %group.limit = select i1 %shared, i32 %group.limit.0, i32 %groups
  %direct = icmp eq i32 %output, 2
  br i1 %direct, label %out.direct, label %out.staged
out.direct:
  call void @store_direct(ptr %running, ptr addrspace(1) %c, i32 %row, i32 %column, i32 %m, i32 %n, i32 %group.first, i32 %group.limit)
  br i1 %shared, label %slots.read, label %stored
slots.read:
  ; before TMA writes there again
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"() #2
  call void @sync_warpgroup(i32 %warpgroup)
  br label %stored
out.staged:
  call void @store_staged(ptr %running, ptr %c_map, i32 %row, i32 %column, i32 %group.first, i32 %group.limit)
  br label %stored
stored:
  %lent = call i1 @ring_is_lent(i1 %shared)
  br i1 %lent, label %return, label %done
return:
  %place = urem i32 %thread, 128
  call void @return_ring(i32 %place)
  br label %done
done:
  ret { i32, <2 x i32>, i1, i1 } %next
}

define internal void @consumer(ptr %c_map, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %rank, i32 %warpgroup, i32 %thread) #1 {
entry:
  %ring = alloca [4 x i32]
  %b_state = alloca [4 x float]
  %origin.slot = alloca <2 x i32>
  %position.slot = alloca i32
  %shared.slot = alloca i1
  %parity.slot = alloca i32
  %lane = urem i32 %thread, 32
  %slices = call i1 @shares_k()
  %groups = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %stride = call i32 @stride(i32 %groups)
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %whole = call i32 @whole_tiles(i32 %stride, i32 %m, i32 %n)
  %position.first = call i32 @whole_or_shared(i32 %group, i32 %group, i32 %whole)
  %shared.first = call i1 @is_shared(i32 %position.first, i32 %whole)
  %slice = call <2 x i32> @slice(i32 %k, i32 %rank, i1 %shared.first)
  %first = extractelement <2 x i32> %slice, i32 0
  %origin.first = call <2 x i32> @origin(i32 %position.first, i32 %m, i32 %n, i32 %rank)
  %column.first = extractelement <2 x i32> %origin.first, i32 1
  call void @b_scales_load(ptr %b_state, ptr addrspace(1) %bs, i32 %column.first, i32 %first, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %lane)
  call void @begin_ring(ptr %ring)
  store i32 0, ptr %parity.slot
  store i32 %position.first, ptr %position.slot
  store <2 x i32> %origin.first, ptr %origin.slot
  store i1 %shared.first, ptr %shared.slot
  br label %loop
loop:
  %position = load i32, ptr %position.slot
  %origin = load <2 x i32>, ptr %origin.slot
  %shared.0 = load i1, ptr %shared.slot
  ; a constant where nothing is shared
  %shared = and i1 %shared.0, %slices
  %parity = load i32, ptr %parity.slot
  %next = call { i32, <2 x i32>, i1, i1 } @consume_tile(ptr %c_map, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %position, <2 x i32> %origin, i1 %shared, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %group, i32 %stride, i32 %rank, i32 %parity, ptr %ring, ptr %b_state, i32 %warpgroup, i32 %thread)
  %position.next = extractvalue { i32, <2 x i32>, i1, i1 } %next, 0
  %origin.next = extractvalue { i32, <2 x i32>, i1, i1 } %next, 1
  %shared.next = extractvalue { i32, <2 x i32>, i1, i1 } %next, 2
  %another = extractvalue { i32, <2 x i32>, i1, i1 } %next, 3
  ; of the exchange's barriers
  %flip = zext i1 %shared to i32
  %flipped = xor i32 %parity, %flip
  store i32 %flipped, ptr %parity.slot
  store i32 %position.next, ptr %position.slot
  store <2 x i32> %origin.next, ptr %origin.slot
  store i1 %shared.next, ptr %shared.slot
  br i1 %another, label %loop, label %exit, !llvm.loop !2
exit:
  ; the TMA of the last tile has read the buffer
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0) #2
  ret void
}

; ---- registers ---------------------------------------------------------------
; A launch gives all threads the same number; the producer's warps hand theirs
; to the consumers. With one warpgroup of each and one workgroup a
; multiprocessor there is nothing to gain: 255 for everyone.

define internal i32 @consumer_registers() #1 {
entry:
  %occupancy = load i32, ptr addrspace(4) @ws.occupancy
  %consumers = call i32 @consumers()
  %groups.0 = add i32 %consumers, 1
  %groups = mul i32 %groups.0, %occupancy
  %each.0 = udiv i32 512, %groups
  %each.1 = udiv i32 %each.0, 8
  %each = mul i32 %each.1, 8
  %pool.0 = mul i32 %each, %groups.0
  %pool = sub i32 %pool.0, 24
  %own.0 = udiv i32 %pool, %consumers
  %own.1 = udiv i32 %own.0, 8
  %own.2 = mul i32 %own.1, 8
  %own = call i32 @llvm.umin.i32(i32 %own.2, i32 240)
  ret i32 %own
}

define internal i1 @moves_registers() #1 {
entry:
  %occupancy = load i32, ptr addrspace(4) @ws.occupancy
  %consumers = call i32 @consumers()
  %users = mul i32 %occupancy, %consumers
  %moves = icmp ugt i32 %users, 1
  ret i1 %moves
}

define internal void @give_registers() #1 {
entry:
  %moves = call i1 @moves_registers()
  br i1 %moves, label %give, label %done
give:
  call void asm sideeffect "setmaxnreg.dec.sync.aligned.u32 $0;", "n,~{memory}"(i32 24) #2
  br label %done
done:
  ret void
}

define internal void @take_registers() #1 {
entry:
  %moves = call i1 @moves_registers()
  %count = call i32 @consumer_registers()
  br i1 %moves, label %take, label %done
take:
  call void asm sideeffect "setmaxnreg.inc.sync.aligned.u32 $0;", "n,~{memory}"(i32 %count) #2
  br label %done
done:
  ret void
}

; ---- kernels -----------------------------------------------------------------

; Relaxed: nothing is handed over but barriers, which fence.mbarrier_init covers.
define internal void @sync_cluster() #1 {
entry:
  call void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned() #2
  call void @llvm.nvvm.barrier.cluster.wait.aligned() #2
  ret void
}

; Barriers are there: of all the cluster's workgroups where loads go to them at
; once. With split_k the first look at another workgroup comes later, and loads
; need not wait for it to be started: join_cluster.
define internal void @sync_start() #1 {
entry:
  %sharers = call i32 @sharers()
  %shares = call i1 @shares_k()
  %alone = icmp eq i32 %sharers, 1
  br i1 %alone, label %workgroup, label %together
workgroup:
  br i1 %shares, label %announce, label %sync
announce:
  call void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned() #2
  br label %sync
sync:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) #2
  br label %done
together:
  call void @sync_cluster()
  br label %done
done:
  ret void
}

; Not aligned: the producer's threads come one by one.
define internal void @join_cluster() #1 {
entry:
  %shares = call i1 @shares_k()
  br i1 %shares, label %join, label %done
join:
  call void @llvm.nvvm.barrier.cluster.wait() #2
  br label %done
done:
  ret void
}

define internal void @work(ptr %a_map, ptr %b_map, ptr %as_map, ptr %c_map, ptr addrspace(1) %as, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) #1 {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rank.0 = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %cluster = call i32 @cluster()
  %alone = icmp eq i32 %cluster, 1
  %rank = select i1 %alone, i32 0, i32 %rank.0
  %consumers = call i32 @consumers()
  ; through a shuffle, so that ptxas knows it to be the same in a warp
  %warp.0 = udiv i32 %thread, 32
  %warp = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %warp.0, i32 0, i32 31) #2
  %warpgroup = udiv i32 %warp, 4
  %one = icmp eq i32 %thread, 0
  br i1 %one, label %start, label %started
start:
  call void @start_barriers()
  br label %started
started:
  call void @sync_start()
  %produces = icmp eq i32 %warpgroup, %consumers
  br i1 %produces, label %produce, label %consume
produce:
  call void @give_registers()
  %first.warp = mul i32 %consumers, 4
  %chosen.warp = icmp eq i32 %warp, %first.warp
  br i1 %chosen.warp, label %elect, label %others
elect:
  %elected = call { i32, i1 } @llvm.nvvm.elect.sync(i32 -1) #2
  %chosen = extractvalue { i32, i1 } %elected, 1
  br i1 %chosen, label %load, label %idle
load:
  call void @producer(ptr %a_map, ptr %b_map, ptr %as_map, ptr %c_map, i32 %m, i32 %n, i32 %k, i32 %rank)
  br label %idle
others:
  %loads = call i1 @loads_scales()
  %second.warp = add i32 %first.warp, 1
  %is.second = icmp eq i32 %warp, %second.warp
  %chosen.second = and i1 %loads, %is.second
  br i1 %chosen.second, label %load.scales, label %idle
load.scales:
  %lane = urem i32 %thread, 32
  call void @scale_producer(ptr addrspace(1) %as, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %rank, i32 %lane)
  br label %idle
idle:
  call void @join_cluster()
  br label %done
consume:
  call void @take_registers()
  call void @join_cluster()
  call void @consumer(ptr %c_map, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k, i32 %rank, i32 %warpgroup, i32 %thread)
  br label %done
done:
  ret void
}

define ptx_kernel void @fp8_gemm_wgmma(ptr byval([128 x i8]) align 64 %a_map, ptr byval([128 x i8]) align 64 %b_map, ptr byval([128 x i8]) align 64 %as_map, ptr byval([128 x i8]) align 64 %c_map, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n, i32 %k, i32 %bs_stride_n, i32 %bs_stride_k) #0 {
entry:
  call void @work(ptr %a_map, ptr %b_map, ptr %as_map, ptr %c_map, ptr addrspace(1) null, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k, i32 0, i32 0, i32 %bs_stride_n, i32 %bs_stride_k)
  ret void
}

; With a_scales 1: no tensor map of the scales, which may not be possible.
define ptx_kernel void @fp8_gemm_wgmma_scales_loaded(ptr byval([128 x i8]) align 64 %a_map, ptr byval([128 x i8]) align 64 %b_map, ptr byval([128 x i8]) align 64 %c_map, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias readonly %bs, ptr addrspace(1) noalias writeonly %c, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k) #0 {
entry:
  call void @work(ptr %a_map, ptr %b_map, ptr null, ptr %c_map, ptr addrspace(1) %as, ptr addrspace(1) %bs, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k, i32 %as_stride_m, i32 %as_stride_k, i32 %bs_stride_n, i32 %bs_stride_k)
  ret void
}

attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline convergent nounwind }
attributes #2 = { convergent nounwind }

; unroll in full; a loop that stays one
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !5}
!3 = !{}
!4 = !{!"llvm.loop.unroll.full"}
!5 = !{!"llvm.loop.unroll.disable"}

!wavesmith.template = !{!6}
!6 = !{!"fp8_gemm_wgmma", !"1", !"fp8_gemm_blockscale", !"sm_90a", !"Warpgroup matrix instructions fed by TMA, two levels of accumulators, split K within clusters."}

!wavesmith.param = !{!10, !11, !12, !13, !14, !15, !16, !112, !113, !17, !18, !19, !20, !21, !93, !102, !95, !22, !23, !104, !108, !109, !110, !97, !25, !91}
!10 = !{!"layout", !"ws.layout", !"2", !"layout of a and b: k-major, OCP e4m3"}
!11 = !{!"tile_m", !"ws.tile_m", !"64 128 192 256", !"rows of C per workgroup"}
!12 = !{!"tile_n", !"ws.tile_n", !"16 32 48 64 80 96 112 128 144 160 192 256", !"columns of C per workgroup; a tile touches at most two column blocks of 128"}
!13 = !{!"warpgroups", !"ws.warpgroups", !"1 2 3 4", !"consumer warpgroups along m"}
!14 = !{!"warpgroups_n", !"ws.warpgroups_n", !"1 2 3 4", !"consumer warpgroups along n"}
!15 = !{!"column_steps", !"ws.column_steps", !"1 2 3 4", !"matrix instructions across a warpgroup's columns: more of them need fewer registers for partial sums"}
!16 = !{!"pipeline", !"ws.pipeline", !"0 1", !"0: a step is scaled before the next starts (other warpgroups keep the tensor core busy); 1: the next runs meanwhile, with two sets of partial sums"}
!112 = !{!"look_ahead", !"ws.look_ahead", !"0 1 2", !"with pipeline 0, while matrix instructions run: 1 looks at the next stage, to need no wait for it; 2 takes the next block's scales of B, too"}
!113 = !{!"scales_first", !"ws.scales_first", !"0 1", !"with pipeline 0, scales of A are read: 0 while matrix instructions run, 1 before these start"}
!17 = !{!"stages", !"ws.stages", !"2 3 4 5 6 7 8 9 10 11 12 16 20", !"blocks of k in flight"}
!18 = !{!"occupancy", !"ws.occupancy", !"1 2 3 4", !"workgroups per multiprocessor"}
!19 = !{!"persistent", !"ws.persistent", !"0 1", !"1: a workgroup walks over tiles, loads run ahead into the next; 0: one workgroup for each tile"}
!20 = !{!"group_m", !"ws.group_m", !"1 2 4 8 16 32", !"tile rows (with tile_order_columns: columns) of a band of the walk"}
!21 = !{!"split_k", !"ws.split_k", !"1 2 3 4 5 6 7 8", !"workgroups of a cluster that share a tile, each a slice of k"}
!93 = !{!"split_last", !"ws.split_last", !"0 1", !"with split_k: 0 all tiles are shared; 1 each workgroup first does as many whole tiles as all of them have, without exchange, and only the tiles left at the end are shared"}
!102 = !{!"exchange_rows", !"ws.exchange_rows", !"0 1", !"with split_k and tile_m 64: sums of a slice that others get: 0 of all 64 rows, 1 of the groups of 16 that C has, for small m"}
!95 = !{!"idle_clusters", !"ws.idle_clusters", !"0 1 2 4", !"of persistent workgroups so many clusters less than the multiprocessors would hold: those of a cluster lie in one group of multiprocessors, and where these do not divide by its size the last clusters would start after the others have ended"}
!22 = !{!"cluster_m", !"ws.cluster_m", !"1 2 4", !"tiles along m that load B together"}
!23 = !{!"cluster_n", !"ws.cluster_n", !"1 2 4", !"tiles along n that load A together"}
!104 = !{!"a_rows", !"ws.a_rows", !"0 16 32", !"with tile_m 64, rows of A that are loaded: 0 all of the tile, else for no larger m: rows past A cost the TMA more time than rows of A"}
!108 = !{!"a_cache", !"ws.a_cache", !"0 1 2", !"lines of A in L2: 0 as usual, 1 leave first, 2 stay longest"}
!109 = !{!"b_cache", !"ws.b_cache", !"0 1 2", !"the same of B; 1 where each line is read once, as with one tile along m"}
!110 = !{!"c_cache", !"ws.c_cache", !"0 1", !"the same of C"}
!97 = !{!"a_scales", !"ws.a_scales", !"0 1 2", !"scales of A: 0 by TMA, for m in multiples of 4; 1 by a warp of their own, for every m and stride; 2 by TMA, for every m"}
!25 = !{!"output", !"ws.output", !"0 1 2", !"C goes 0 through a buffer of its own, 1 through the ring's memory (loads wait), 2 from registers"}
!91 = !{!"fixed_sums", !"ws.fixed_sums", !"0 1", !"partial sums: 1 in registers that stay the same through the loop, 0 where ptxas puts them for each block"}

!wavesmith.require = !{!30, !31, !32, !33, !34, !35, !36, !37, !38, !39, !40, !90, !94, !96, !98, !115, !116, !103, !105, !106, !111, !114}
!30 = !{!"warpgroups * warpgroups_n <= 4", !"a workgroup has at most 640 threads"}
!31 = !{!"tile_m % (64 * warpgroups) == 0", !"a warpgroup's rows are whole 64-row blocks"}
!32 = !{!"tile_n % (16 * warpgroups_n) == 0", !"a warpgroup's columns are whole groups of 16"}
!33 = !{!"tile_n % (8 * warpgroups_n * column_steps) == 0", !"matrix instructions take columns in eights"}
!34 = !{!"split_k == 1 || cluster_m * cluster_n == 1", !"a cluster shares a tile or loads, not both"}
!35 = !{!"cluster_m == 1 || cluster_n == 1", !"a cluster shares loads of A or of B, not of both"}
!36 = !{!"tile_n % (8 * cluster_m) == 0", !"each of a cluster loads whole groups of 8 rows of B"}
!37 = !{!"output != 1 || 2 * tile_m * tile_n <= 128 * stages * ((a_rows == 0 ? tile_m : a_rows) + tile_n)", !"the ring's memory holds the tile of C"}
!38 = !{!"(split_k - 1) * ceildiv(tile_n / warpgroups_n / 16, split_k) * (tile_m / 64) * warpgroups_n * 4096 <= 128 * stages * ((a_rows == 0 ? tile_m : a_rows) + tile_n)", !"the ring's memory holds the sums of the other slices"}
!39 = !{!"(output == 0 ? 2 * tile_m * tile_n : 0) + stages * (128 * (a_rows == 0 ? tile_m : a_rows) + 4 * tile_m + (a_scales == 2 && a_rows == 0 ? 128 : 0) + 128 * tile_n + 16) + 24 <= 233472 / occupancy - 1024", !"a multiprocessor has 228 KiB of shared memory, of which each workgroup costs one more"}
!40 = !{!"tile_m / 64 / warpgroups * (tile_n / warpgroups_n) / 2 + (pipeline + 1) * (tile_n / warpgroups_n / column_steps / 2) + 16 <= (warpgroups * warpgroups_n * occupancy == 1 ? 255 : min(240, (512 / ((warpgroups * warpgroups_n + 1) * occupancy) / 8 * 8 * (warpgroups * warpgroups_n + 1) - 24) / (warpgroups * warpgroups_n) / 8 * 8))", !"accumulators and partial sums leave too few registers for the rest"}
!90 = !{!"tile_n / warpgroups_n / column_steps / 2 + 26 <= 512 / ((warpgroups * warpgroups_n + 1) * occupancy) / 8 * 8", !"a matrix instruction needs its registers before setmaxnreg gives more (ptxas: C7602)"}
!96 = !{!"idle_clusters == 0 || persistent == 1 && split_k * cluster_m * cluster_n > 1", !"workgroups that do not walk are as many as tiles, and without clusters every multiprocessor takes one"}
!94 = !{!"split_last == 0 || split_k > 1 && persistent == 1", !"whole tiles come before shared ones: there must be both, and workgroups that walk"}
!103 = !{!"exchange_rows == 0 || split_k > 1 && tile_m == 64", !"a warp leaves out all of its rows or none"}
!105 = !{!"a_rows == 0 || tile_m == 64 && cluster_n == 1 && stages * tile_n >= 64", !"a stage's matrix instructions read 64 rows from its start on, those of stages behind it too"}
!106 = !{!"a_rows == 0 || m <= a_rows", !"rows of C that A is not loaded for"}
!98 = !{!"a_scales != 0 || m % 4 == 0", !"TMA takes A's scales only where m of them are whole 16 bytes"}
!115 = !{!"a_scales != 2 || tile_m < 256", !"a box of all scales of A in a row has 4 more than tile_m of them, of at most 256"}
!116 = !{!"a_scales != 2 || m * (k / 128) < 2147483648", !"the TMA counts all scales of A in a row up to 2^31"}
!111 = !{!"c_cache == 0 || output != 2", !"stores from registers name no policy"}
!114 = !{!"pipeline == 0 || look_ahead + scales_first == 0", !"these are of pipeline 0"}

!wavesmith.lds = !{!41}
!41 = !{!"ws.lds", !"(output == 0 ? 2 * tile_m * tile_n : 0) + stages * (128 * (a_rows == 0 ? tile_m : a_rows) + 4 * tile_m + (a_scales == 2 && a_rows == 0 ? 128 : 0) + 128 * tile_n + 16) + 24"}

!wavesmith.tensor_map = !{!42, !43, !44, !45}
!42 = !{!"a_map", !"a", !"u8", !"k", !"m", !"128", !"(a_rows == 0 ? tile_m : a_rows) / cluster_n", !"128"}
!43 = !{!"b_map", !"b", !"u8", !"k", !"n", !"128", !"tile_n / cluster_m", !"128"}
!44 = !{!"as_map", !"as", !"f32", !"a_scales == 2 ? m * (k / 128) : m", !"a_scales == 2 ? 1 : k / 128", !"(a_rows == 0 ? tile_m : a_rows) + (a_scales == 2 ? 4 : 0)", !"1", !"0"}
!45 = !{!"c_map", !"c", !"bf16", !"n", !"m", !"tile_n / warpgroups_n % (64 * split_k) == 0 ? 64 : tile_n / warpgroups_n % (32 * split_k) == 0 ? 32 : 16", !"64", !"2 * (tile_n / warpgroups_n % (64 * split_k) == 0 ? 64 : tile_n / warpgroups_n % (32 * split_k) == 0 ? 32 : 16)"}

!wavesmith.occupancy = !{!46, !99}
!46 = !{!"fp8_gemm_wgmma", !"split_k * cluster_m * cluster_n", !"occupancy"}
!99 = !{!"fp8_gemm_wgmma_scales_loaded", !"split_k * cluster_m * cluster_n", !"occupancy"}

!wavesmith.launch = !{!47, !100}
!47 = !{!"fp8_gemm_wgmma", !"split_k * cluster_m * cluster_n * (persistent == 0 ? ceildiv(m, tile_m * cluster_m) * ceildiv(n, tile_n * cluster_n) : min(ceildiv(m, tile_m * cluster_m) * ceildiv(n, tile_n * cluster_n), max(1, cu_count * occupancy / (split_k * cluster_m * cluster_n) - idle_clusters)))", !"1", !"1", !"128 * (warpgroups * warpgroups_n + 1)", !"a_scales != 1"}
!100 = !{!"fp8_gemm_wgmma_scales_loaded", !"split_k * cluster_m * cluster_n * (persistent == 0 ? ceildiv(m, tile_m * cluster_m) * ceildiv(n, tile_n * cluster_n) : min(ceildiv(m, tile_m * cluster_m) * ceildiv(n, tile_n * cluster_n), max(1, cu_count * occupancy / (split_k * cluster_m * cluster_n) - idle_clusters)))", !"1", !"1", !"128 * (warpgroups * warpgroups_n + 1)", !"a_scales == 1"}

!wavesmith.region = !{!48, !49, !101, !50, !51, !52, !53, !54, !55, !56}
!48 = !{!"tile_order", !"Returns which tile of C stands at a position of the walk, as (row of tiles, column of tiles). Must be a bijection: each of the tiles_m * tiles_n tiles exactly once for position = 0 .. tiles_m * tiles_n - 1, whatever these counts (1 included). Workgroups take positions in order, so those of one moment are about 132 neighbours; they share L2, where rows of A and columns of B that several of them use should meet. With cluster_m or cluster_n > 1 a tile is a cluster's. Called by producer and consumers, which must agree: a function of its arguments alone. No memory, no barrier."}
!49 = !{!"produce", !"By one thread: starts the loads of one stage, all rows of A (loaded_rows(): tile_m, or a_rows) and tile_n of B of a block of 128 in k, and as many scales of A, and says first how many bytes full_barrier(stage) has to wait for: 132 * rows + 128 * tile_n, zeros for what is outside included. With a_scales 1 the scales are produce_scales' part: 128 * (rows + tile_n) bytes, and as_map must not be used. With a_scales 2 as_map has one row, all of the scales, in which those of the stage begin at block * m + row; a box has 4 floats more, so 16 bytes more, and begins at the multiple of 4 below. A goes to a_stage(stage), B to b_stage(stage), the scales to scale_stage(stage). With cluster_m (cluster_n) > 1 a workgroup loads its part of B's (A's) rows for all of the cluster, rank being its number in it. The stage is empty when this is called. No waiting in here."}
!101 = !{!"produce_scales", !"a_scales 1. By one warp: starts the loads of one stage's scales of A, floats to scale_stage(stage) + 4 * i for i below tile_m: of row + i, or anything inside for rows from m on, which must not be read, at as[(row + i) * as_stride_m + block * as_stride_k]. Strides are in elements and may be anything. Each lane arrives at full_barrier(stage) once, when its loads are there (cp.async.mbarrier.arrive.noinc). The stage is empty when this is called. No waiting in here."}
!50 = !{!"scale_accumulate", !"Adds the partial sums of one step, scaled, to running: running[i] += partial[i] * (A's scale of its row * B's scale of its column block), in fp32, for i below 4 * step_columns() / 8. Element 4j + e has row e / 2 of a_scales (two rows a thread), and is of columns column + 8j .. + 7 of the warpgroup, which are past + column + 8j on from the start of the column block of b_scales[0]; from 128 on b_scales[1] is theirs. Both arrays are private memory that must become registers: constant indices only. By all threads of a warpgroup, while the next matrix instructions may be running. No barrier."}
!51 = !{!"accumulate_in_turn", !"pipeline 0. The blocks first .. limit - 1 of k of one tile (perhaps none): for each waits for the next full stage of the ring, starts all steps of this warpgroup (multiply), waits for them, releases the stage once the last matrix instruction has read it (release_stage, which waits for the last scales of A that it is given), and adds the scaled sums to running (scale_step). Calls b_scales_begin before the first and where b_scales_run_out says so, b_scales_take for each block in order, and advances the ring once a block. A place in shared memory that the loop needs is asked of from_start(ring, ..): what ptxas knows to be a constant of the kernel it computes anew for each block. All threads of a warpgroup together."}
!52 = !{!"accumulate_overlapped", !"pipeline 1. As accumulate_in_turn, but with a second set of partial sums (256 floats), so that the next step's matrix instructions run while a step is scaled: wait_but_one(set) returns when all but the newest step is complete. A set of partial sums must not be touched between its multiply and its wait; indices into sets must be constants."}
!53 = !{!"store_staged", !"output 0 and 1. Rounds the tile's sums to bf16 (nearest even) and stores the groups of 16 columns first .. limit - 1 of each of this warpgroup's 64-row blocks to C through the buffer at the start of shared memory (output 0: the tile's own; 1: the ring's, after all consumers have met) and c_map, boxes of 64 rows and box_columns() columns. Returns with output 0 when the TMA is on its way; the next call waits until it has read the buffer. With output 1 when it has been read. All threads of a warpgroup."}
!54 = !{!"store_direct", !"output 2. The same from registers to c; rows from m and columns from n on must not be written."}
!55 = !{!"send_groups", !"split_k > 1. Sends the sums of every group of 16 columns that another workgroup of the cluster stores (owner) there: to the memory of its ring, at piece(..) of the slot with the sender's number, the receiver's left out, by st.async, which reports to the receiver's barrier (expect_sums). All ring memory of the cluster is free. With exchange_rows 1 only warps that have rows of C call this."}
!56 = !{!"receive_groups", !"split_k > 1. Adds to running what the other workgroups sent for the groups that this one stores, slots in their order so that sums do not depend on time. It has all come."}

!wavesmith.variant = !{!57, !58}
!57 = !{!"tile_order", !"tile_order_snake", !"every other band backwards: the turn shares columns of B"}
!58 = !{!"tile_order", !"tile_order_columns", !"bands of group_m tile columns, walked along m: for large m and small n"}
