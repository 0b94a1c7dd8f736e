# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8_gemm_wgmma on the CPU: each point is turned into a library whose assembly
and intrinsics are functions of host_wgmma.c, run on shapes with cut tiles in
random order of threads and copies, and compared with the fp64 reference. Then
mutants, wrong in one place each, which must be found.

  host_wgmma.py HOST LLVM_TOOLS [SEED COUNT]
  (the built host_wgmma; where opt is; instead of the chosen points, COUNT
  random ones)
"""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "bench"))
from peers_plan import ROOT, Template, evaluate  # noqa: E402
from host_kernel import (HARD, at_point, compile_library,  # noqa: E402
                         replace_all)

TEMPLATE = os.path.join(ROOT, "ir-templates", "fp8_gemm_wgmma.ll")

# Parameters, variants, multiprocessors, shapes. Of some shapes also which of the
# problem's stridings the scales have (M,N,K/STRIDING), or how many blocks of k
# the busiest workgroup loads (M,N,K:BLOCKS).
POINTS = [
    ("", "", 2, "16,16,128 144,272,384 272,144,1024"),
    ("pipeline=0", "tile_order=tile_order_snake", 2,
     "400,272,256"),
    ("tile_m=192;tile_n=144;warpgroups=3;column_steps=2;pipeline=0;stages=3",
     "tile_order=tile_order_columns", 2, "208,576,384"),
    ("tile_m=64;tile_n=96;warpgroups=1;stages=8;fixed_sums=0", "", 3,
     "80,304,4352"),
    ("tile_m=256;tile_n=128;stages=3;column_steps=2;group_m=2", "", 2,
     "528,144,384"),
    ("tile_m=128;tile_n=192;warpgroups=1;warpgroups_n=2;stages=4;split_k=2;"
     "output=1", "", 4, "144,400,640 16,16,128"),
    ("tile_n=144;stages=4;pipeline=0;split_k=4;output=0", "", 4, "272,304,384"),
    ("tile_m=64;tile_n=80;warpgroups=1;stages=4;split_k=3;output=2", "", 3,
     "144,176,896"),
    ("cluster_m=2;stages=4;output=1", "", 4, "272,304,512"),
    ("tile_m=64;tile_n=64;warpgroups=1;cluster_n=4;stages=5", "", 8,
     "208,336,640"),
    ("tile_n=96;stages=3;persistent=0;output=2;pipeline=0", "", 2,
     "144,208,512"),
    # split_last. Two clusters of two (the first point), tiles: 2 for each
    # workgroup; one more; 1 each and three more, which are not worth sharing;
    # fewer than workgroups; one.
    ("tile_m=64;tile_n=32;warpgroups=1;stages=3;split_k=2;split_last=1", "", 5,
     "112,112,384:6 144,80,384:8 64,208,384:6 48,80,384:4 16,16,128:1"),
    # Five clusters: 1 each and five more.
    ("tile_n=64;stages=3;split_k=2;split_last=1;pipeline=0;output=1",
     "tile_order=tile_order_snake", 10, "272,304,512:6"),
    # Two clusters of three: 1 each and three (two turns), five, none more; four.
    ("tile_m=64;tile_n=48;warpgroups=1;stages=3;split_k=3;split_last=1;output=2",
     "", 6, "144,144,640:9 64,512,384:6 112,144,256:2 64,176,384:2"),
    # One cluster of four on fewer multiprocessors: 1 each and three more.
    ("tile_n=64;stages=4;split_k=4;split_last=1;output=1", "", 2,
     "16,432,1152:18"),
    # Two: 1 each and four more.
    ("tile_m=64;tile_n=64;warpgroups=1;stages=3;split_k=4;split_last=1;"
     "pipeline=0", "tile_order=tile_order_columns", 8, "176,240,512:6"),
    # Six: 23 tiles for 24 workgroups, one block of k for each four.
    ("tile_m=64;tile_n=64;warpgroups=1;stages=3;split_k=4;split_last=1;output=1",
     "", 24, "48,1456,128:4"),
    # The same without whole tiles: four shared ones for each cluster.
    ("tile_m=64;tile_n=64;warpgroups=1;stages=3;split_k=4;output=1", "", 24,
     "48,1456,128"),
    # Every m: A's scales by a warp. One tile, cut by one row and to one; tiles
    # that end inside of a 64-row block, a cluster past the end of C, tiles and
    # slices with ends of their own.
    ("a_scales=1", "", 2,
     "1,16,128 15,144,384 127,144,640 129,144,384 17,80,384/1 33,48,256/2 "
     "16,272,384/3"),
    ("a_scales=1;tile_m=64;tile_n=32;warpgroups=1;stages=12;pipeline=0;"
     "output=2", "", 3, "1,80,1664 2,48,256 3,16,128 5,16,1152 17,80,640 "
     "63,32,384 65,48,640"),
    ("a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=4;split_k=4;output=1",
     "", 8, "1,144,896 5,80,128 65,64,640 100,144,512"),
    ("a_scales=1;tile_n=48;stages=3;split_k=3;split_last=1;output=2",
     "tile_order=tile_order_snake", 6, "129,144,640 3,48,384"),
    ("a_scales=1;tile_m=64;tile_n=32;warpgroups=1;stages=3;cluster_m=4", "", 8,
     "100,48,512 1,16,128 257,48,384"),
    ("a_scales=1;tile_m=256;tile_n=64;stages=3;cluster_n=2;persistent=0;"
     "output=2", "", 4, "255,144,384 1023,80,256"),
    ("a_scales=1;tile_m=192;tile_n=32;warpgroups=3;pipeline=0;stages=3;output=1",
     "tile_order=tile_order_columns", 2, "193,80,512"),
    # More slices than groups of columns: some workgroups store nothing.
    ("a_scales=1;tile_m=64;tile_n=16;warpgroups=1;stages=16;split_k=8;output=1",
     "", 16, "1,48,1152 7,16,2176 65,32,384"),
    ("a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=3;split_k=8;"
     "split_last=1;output=2;pipeline=0", "", 16, "33,208,1152 1,64,896"),
    ("tile_n=32;stages=5;split_k=5", "", 10, "144,80,1152 64,48,256"),
    # Only the rows that C has are exchanged: of 1 to 4 warps; of the second
    # tile along m; whole tiles before.
    ("a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=4;split_k=4;"
     "exchange_rows=1;output=1", "", 8, "1,144,896 17,80,640 48,48,512 "
     "64,64,512 81,64,640"),
    ("a_scales=1;tile_m=64;tile_n=96;warpgroups=1;warpgroups_n=2;stages=5;"
     "split_k=3;split_last=1;exchange_rows=1;output=2;pipeline=0", "", 6,
     "16,400,640 33,112,384 100,400,512"),
    # The same by TMA, where it can.
    ("tile_m=64;tile_n=32;warpgroups=1;stages=8;split_k=2", "", 4,
     "4,48,640 12,80,128 100,48,384"),
    ("tile_n=32;stages=5;output=2", "", 4, "4,48,640 132,48,384"),
    # Few rows of A in a stage: what is read behind them is another stage's, or
    # B's. All m up to as many; slices, whole tiles before, sharers of B.
    ("a_rows=16;a_scales=1;tile_m=64;tile_n=64;warpgroups=1;stages=7;output=2;"
     "persistent=0", "", 3, "1,80,1664 2,48,256 7,272,1152 16,144,384"),
    ("a_rows=16;a_scales=1;tile_m=64;tile_n=48;warpgroups=1;stages=6;split_k=4;"
     "exchange_rows=1;output=1", "", 8, "1,144,896 15,80,640 16,48,128"),
    ("a_rows=32;tile_m=64;tile_n=32;warpgroups=1;stages=5;split_k=3;"
     "split_last=1;output=0;pipeline=0", "", 6, "4,144,640 20,48,384 32,80,896"),
    ("a_rows=32;a_scales=1;tile_m=64;tile_n=96;warpgroups=1;warpgroups_n=2;"
     "stages=3;cluster_m=2;output=2", "", 4, "17,208,512 31,96,384"),
    # pipeline 0 with a look at the next stage; scales before the products. Two
    # row blocks of a warpgroup, slices that may be empty, sharers.
    ("pipeline=0;look_ahead=1;tile_m=256;tile_n=48;stages=3;a_cache=1;b_cache=2;"
     "c_cache=1", "", 2, "528,144,640 16,16,128"),
    ("pipeline=0;look_ahead=1;scales_first=1;tile_n=96;stages=4;split_k=3;"
     "output=1;a_scales=1", "", 6, "100,208,896 33,48,128"),
    ("pipeline=0;scales_first=1;tile_n=64;stages=3;cluster_n=2;fixed_sums=0", "",
     4, "272,304,512"),
    # More blocks of k than a chunk of B's scales has; just as many.
    ("pipeline=0;tile_m=64;tile_n=48;warpgroups=1;stages=6", "", 2,
     "64,208,4352 16,48,4096"),
    # The next block's scales of B taken ahead: in two column blocks, of the next
    # chunk, none behind the last; slices, two row blocks of a warpgroup.
    ("pipeline=0;look_ahead=2;scales_first=1;tile_m=64;tile_n=48;warpgroups=1;"
     "stages=6", "", 2, "64,208,4352 16,48,4096 16,48,128"),
    ("pipeline=0;look_ahead=2;tile_m=256;tile_n=96;stages=3;split_k=2;"
     "fixed_sums=1", "", 4, "300,208,1152"),
    # Every m by TMA: a block's scales begin at each of four floats of a stage.
    # Two row blocks of a warpgroup; sharers; slices; few rows of A.
    ("a_scales=2;tile_n=96;stages=4", "", 2,
     "1,16,128 127,144,640 129,208,384 257,48,640 16,96,256"),
    ("a_scales=2;tile_m=192;tile_n=48;warpgroups=3;stages=3;cluster_m=2;"
     "pipeline=0;look_ahead=2;scales_first=1", "", 4, "386,80,512 1,48,1152"),
    ("a_scales=2;tile_m=128;tile_n=64;warpgroups=1;stages=5;split_k=3;"
     "exchange_rows=0;output=1;column_steps=2", "", 6, "99,144,1152 67,64,256"),
    ("a_scales=2;a_rows=32;tile_m=64;tile_n=64;warpgroups=1;stages=5;split_k=4;"
     "exchange_rows=1;output=1;pipeline=0", "", 8,
     "3,144,896 31,80,640 1,64,128"),
]

# Points (by number) that must find it, what is replaced, by what.
MUTANTS = [
    (0, "%next.parity = xor i32 %parity, %flip",
     "%next.parity = add i32 %parity, 0"),
    (0, "%lower.at = getelementptr float, ptr addrspace(3) %upper.at, i32 8",
     "%lower.at = getelementptr float, ptr addrspace(3) %upper.at, i32 4"),
    (0, "%chunk = xor i32 %chunk.1, %key", "%chunk = add i32 %chunk.1, 0"),
    (0, "%line.1 = mul i32 %warp, 16", "%line.1 = mul i32 %warp, 8"),
    (0, "%high.0 = add i32 %low.0, 1", "%high.0 = add i32 %low.0, 0", 3),
    (0, "select i1 %loads, i32 128, i32 132", "add i32 128, 0"),
    (0, "call void @wait_but_one(ptr %here)", "call void @wait_all(ptr %other)"),
    (2, "%beyond = icmp uge i32 %reach, 128",
     "%beyond = icmp ugt i32 %reach, 128"),
    (3, "%later = add i32 %block, 32", "%later = add i32 %block, 31"),
    (5, "%later = icmp ugt i32 %rank, %owner",
     "%later = icmp uge i32 %owner, %rank"),
    (5, "%bytes.2 = mul i32 %bytes.1, %others",
     "%bytes.2 = mul i32 %bytes.1, %split_k"),
    (6, "%limit.0 = add i32 %first.0, %blocks",
     "%limit.0 = add i32 %first.0, 1"),
    (5, "call void @barrier_wait_cluster(i32 %drained, i32 %parity)\n", ""),
    (5, "call void @barrier_wait(i32 %returned, i32 %parity)\n", ""),
    (8, "%lenders = mul i32 %consumers, %sharers",
     "%lenders = mul i32 %consumers, 1"),
    (8, "%users = mul i32 %warps, %sharers", "%users = mul i32 %warps, 1"),
    (9, "call void @drain_ring(ptr %ring)\n", ""),
    (8, "br i1 %lent, label %stay.returned, label %stay.empty",
     "br label %stay.empty"),
    (9, "%row = mul i32 %part, %rank", "%row = mul i32 %part, 0"),
    (10, "%row.inside = icmp ult i32 %row, %m",
     "%row.inside = icmp ule i32 %row, %m"),
    # every m: what is read, waited for and stored
    (18, "call i32 @llvm.umin.i32(i32 %wanted, i32 %last)",
     "add i32 %wanted, 0"),
    (18, "%loaders = select i1 %loads, i32 33, i32 1",
     "%loaders = add i32 1, 0"),
    (20, "%offset.k = mul i64 %block64, %stride.k64",
     "%offset.k = mul i64 %block64, 0"),
    (18, "%offset.m = mul i64 %inside64, %stride.m64",
     "%offset.m = mul i64 %inside64, 1"),
    (20, "%wanted = add i32 %row, %i", "%wanted = add i32 %i, 0"),
    (21, "%is.second = icmp eq i32 %warp, %second.warp",
     "%is.second = icmp eq i32 %warp, %first.warp"),
    (18, "%to.0 = mul i32 %i, 4", "%to.0 = mul i32 %lane, 4"),
    (19, "%row.inside = icmp ult i32 %row, %m",
     "%row.inside = icmp ule i32 %row, %m"),
    (24, "%i.next = add i32 %i, 32\n", "%i.next = add i32 %i, 64\n"),
    # the rows that are exchanged
    (28, "%inside = icmp ult i32 %first, %m",
     "%inside = icmp ule i32 %first, %m"),
    (28, "%some = call i32 @llvm.umin.i32(i32 %some.0, i32 4)",
     "%some = add i32 4, 0"),
    (28, "%left = sub i32 %m, %row", "%left = sub i32 %m, 0"),
    (29, "%within = mul i32 %warp, 16", "%within = mul i32 %warp, 8"),
    # which tiles are whole, and whose
    (12, "%pays = icmp ule i32 %left, %most", "%pays = icmp ult i32 %left, %most"),
    (11, "%pays = icmp ule i32 %left, %most", "%pays = icmp ule i32 %left, %left"),
    (11, "%share = or i1 %pays, %few", "%share = or i1 %pays, %pays"),
    (11, "%whole = select i1 %share, i32 %even, i32 %tiles",
     "%whole = select i1 %share, i32 %tiles, i32 %tiles"),
    (13, "%shared = add i32 %whole, %number", "%shared = add i32 %whole, %group"),
    (13, "%alone.0 = add i32 %position, %groups",
     "%alone.0 = add i32 %position, %stride"),
    # what is done for which
    (15, "%limit = select i1 %shared, i32 %limit.1, i32 %blocks",
     "%limit = add i32 %limit.1, 0"),
    (13, "i32 %rank.after, i1 %shared.next)", "i32 %rank.after, i1 %shared)"),
    (11, "%group.limit = select i1 %shared, i32 %group.limit.0, i32 %groups",
     "%group.limit = add i32 %group.limit.0, 0"),
    (13, "%number = select i1 %shared, i32 %rank.after, i32 0",
     "%number = add i32 %rank.after, 0"),
    (15, "call void @expect_sums(i32 %rank, i32 %row, i32 %m)\n", ""),
    (15, "%early = xor i1 %late, true", "%early = or i1 %late, true"),
    (15, "br i1 %shared, label %share, label %complete", "br label %share"),
    # who waits for whom
    (12, "%flip = zext i1 %shared to i32", "%flip = zext i1 true to i32"),
    (13, "%flip = zext i1 %shared to i32", "%flip = zext i1 false to i32"),
    (12, "%all.warps = mul i32 %warps, %split_k",
     "%all.warps = mul i32 %warps, 1"),
    (13, "call void @barrier_wait_cluster(i32 %received, i32 %parity)\n", ""),
    (14, "call void @barrier_wait_cluster(i32 %drained, i32 %parity)\n", ""),
    (16, "call void @llvm.nvvm.bar.warp.sync(i32 -1) #2\n", ""),
    (17, "%must.meet = or i1 %late, %staging", "%must.meet = or i1 %late, %late"),
    (13, "%lent = call i1 @ring_is_lent(i1 %shared)\n  call",
     "%lent = call i1 @ring_is_lent(i1 false)\n  call"),
    (11, "%lent = call i1 @ring_is_lent(i1 %shared)\n  call",
     "%lent = call i1 @ring_is_lent(i1 true)\n  call"),
    (13, "%lent = call i1 @ring_is_lent(i1 %shared)\n  br",
     "%lent = call i1 @ring_is_lent(i1 false)\n  br"),
    (13, "%lent = call i1 @ring_is_lent(i1 %shared)\n  br",
     "%lent = call i1 @ring_is_lent(i1 true)\n  br"),
    # Few rows of A: a ring for whole tiles, fewer bytes come than are waited for, a
    # stage that begins in the one before.
    (32, "%rows = select i1 %whole, i32 %tile_m, i32 %a_rows",
     "%rows = select i1 %whole, i32 %tile_m, i32 %tile_m"),
    (34, "%bytes.0 = mul i32 %rows, %row.bytes",
     "%bytes.0 = mul i32 %tile_m, %row.bytes"),
    (35, "%bytes = mul i32 %rows, 128\n  %offset",
     "%bytes = mul i32 %rows, 96\n  %offset"),
    # A look at the stage in hand, which is full, or at the next one's phase before.
    (36, "%full.next = call i32 @full_barrier_here(ptr %ring, i32 %stage.next)",
     "%full.next = call i32 @full_barrier_here(ptr %ring, i32 %stage)"),
    (36, "@barrier_test(i32 %full.next, i32 %parity.next)",
     "@barrier_test(i32 %full.next, i32 1)"),
    # Chunks that begin once, or one block late.
    (3, "%out = icmp eq i32 %within, 0", "%out = icmp eq i32 %within, 33"),
    (39, "%out = icmp eq i32 %within, 0", "%out = icmp eq i32 %within, 33"),
    (39, "%out = icmp eq i32 %within, 0", "%out = icmp eq i32 %within, 1"),
    # Addresses from the start that the ring keeps, and chunks of 16 bytes.
    (0, "%offset = sub i32 %at, %first", "%offset = add i32 %at, 0"),
    (0, "%chunk = lshr i32 %start, 4", "%chunk = lshr i32 %start, 5"),
    (0, "%a.1 = mul i32 %row, 512", "%a.1 = mul i32 %row, 256"),
    (0, "%b.2 = mul i32 %stages, %a.stage", "%b.2 = mul i32 %stages, 512"),
    # The scales of B of this block once more, of the one after the next, of a
    # chunk's second block for its first.
    (40, "%past.after = add i32 %past, 1", "%past.after = add i32 %past, 0"),
    (41, "%past.after = add i32 %past, 1", "%past.after = add i32 %past, 2"),
    (40, "%past.first = sub i32 %chunk, %first", "%past.first = add i32 %first, 1"),
    # All scales of A in a row: where a block's begin there and in the stage, boxes
    # that begin anywhere, whose last floats nobody waits for, that overlap.
    (42, "%past = and i32 %before, 3", "%past = and i32 %before, 1"),
    (43, "%past = and i32 %before, 3", "%past = and i32 %before, 0"),
    (42, "%before = and i32 %before.0, -4", "%before = add i32 %before.0, 0"),
    (42, "%from = add i32 %before, %row", "%from = add i32 %before, 0"),
    (44, "%more = select i1 %in.row, i32 16, i32 0", "%more = add i32 0, 0"),
    (42, "%more = select i1 %full, i32 128, i32 0", "%more = add i32 0, 0"),
    (44, "i32 %column, i32 %even.next, i32 %m,",
     "i32 %column, i32 %even.block, i32 %m,"),
]


def assembly(start):
    return rf'asm (?:sideeffect )?"{start}[^"]*", "[^"]*"'


def intrinsic(name):
    return r"@llvm\.nvvm\." + re.escape(name) + r"(?=\()"


# Assembly, intrinsics and wavesmith's own functions, and the functions of
# host_wgmma.c in their place.
CALLS = [
    (assembly(r"mbarrier\.init"), "@nv_mbarrier_init"),
    (assembly(r"mbarrier\.arrive\.expect_tx"), "@nv_mbarrier_expect"),
    (assembly(r"\{\\0A\.reg \.pred done"), "@nv_mbarrier_wait"),
    (assembly(r"\{\\0A\.reg \.pred now"), "@nv_mbarrier_test"),
    (assembly(r"\{\\0A\.reg \.pred past"), "@nv_mbarrier_wait_unless"),
    (assembly(r"\{\\0A\.reg \.pred first"), "@nv_mbarrier_arrive"),
    (assembly(r"\{\\0A\.reg \.pred mine"), "@nv_mbarrier_arrive_sharers"),
    (assembly(r"\{\\0A\.reg \.pred one"), "@nv_mbarrier_arrive_in"),
    (assembly("mapa"), "@nv_map"),
    (assembly(r"st\.async"), "@nv_send"),
    (assembly("stmatrix"), "@nv_stmatrix"),
    (assembly(r"mov\.u32 \$0, %tid"), "@nv_tid"),
    (assembly(r"mov\.u32 \$0, %ctaid"), "@nv_ctaid"),
    (assembly(r"mov\.u32 \$0, %nctaid"), "@nv_nctaid"),
    (assembly(r"mov\.u32 \$0, %cluster_ctarank"), "@nv_rank"),
    (r"call i32 " + assembly(r"mov\.b32 \$0, \$1") + r"\((.*)\) #2",
     r"add \1, 0"),
    (assembly("setmaxnreg"), "@nv_registers"),
    (assembly("fence"), "@nv_nothing"),
    (assembly("prefetch"), "@nv_prefetch"),
    (r"call i64 " + assembly("createpolicy") + r"\(\)", "add i64 0, 0"),
    (intrinsic("read.ptx.sreg.tid.x"), "@nv_tid"),
    (intrinsic("read.ptx.sreg.ctaid.x"), "@nv_ctaid"),
    (intrinsic("read.ptx.sreg.nctaid.x"), "@nv_nctaid"),
    (intrinsic("read.ptx.sreg.cluster.ctarank"), "@nv_rank"),
    (intrinsic("shfl.sync.idx.i32"), "@nv_shuffle"),
    (intrinsic("shfl.sync.idx.f32"), "@shuffle_float"),
    (intrinsic("bar.warp.sync"), "@nv_warp_sync"),
    (intrinsic("barrier.cta.sync.aligned.all"), "@nv_barrier_all"),
    (intrinsic("barrier.cta.sync.aligned.count"), "@nv_barrier"),
    (intrinsic("barrier.cluster.arrive.relaxed.aligned"), "@nv_cluster_arrive"),
    (intrinsic("barrier.cluster.wait.aligned"), "@nv_cluster_wait"),
    (intrinsic("barrier.cluster.wait"), "@nv_cluster_wait"),
    (intrinsic("cp.async.bulk.tensor.g2s.tile.2d"), "@nv_load"),
    (intrinsic("cp.async.bulk.tensor.s2g.tile.2d"), "@nv_store"),
    (intrinsic("cp.async.ca.shared.global.4"), "@nv_copy_4"),
    (intrinsic("cp.async.mbarrier.arrive.noinc.shared"), "@nv_copy_arrive"),
    (intrinsic("cp.async.bulk.commit.group"), "@nv_commit_stores"),
    (intrinsic("cp.async.bulk.wait.group.read"), "@nv_wait_stores"),
    (assembly(r"wgmma\.wait_group"), "@nv_wgmma_wait_group"),
    (r"@ws\.wgmma\.bf16\.k64\.onto", "@nv_wgmma_bf16_onto"),
    (r"@ws\.wgmma\.e4m3\.k128\.onto", "@nv_wgmma_onto"),
    (r"@ws\.wgmma\.e4m3\.k128", "@nv_wgmma"),
    (r"@ws\.wgmma\.wait", "@nv_wgmma_wait"),
    (r"call \{ i32, i1 \} @llvm\.nvvm\.elect\.sync\(i32 -1\) #2\n"
     r"  %chosen = extractvalue \{ i32, i1 \} %elected, 1",
     "call i32 @nv_elected()\n  %chosen = icmp ne i32 %elected, 0"),
    (r"call <2 x bfloat> @llvm\.nvvm\.ff2bf16x2\.rn\((.*)\)\n"
     r"  %bits = bitcast <2 x bfloat> %pair to i32",
     r"call i32 @nv_pack(\1)\n  %bits = add i32 %pair, 0"),
    (r"(%[\w.]+) = load float, ptr addrspace\(3\) (%[\w.]+), align 4",
     r"\1.number = ptrtoint ptr addrspace(3) \2 to i64"
     r"\n  \1 = call float @nv_lds_float(i64 \1.number)"),
    (r"ptrtoint \(ptr addrspace\(3\) @ws\.lds to i32\)", "0"),
    (r"ptr byval\(\[128 x i8\]\) align 64", "ptr"),
    ("define ptx_kernel", "define"),
    (r" addrspace\(4\)", ""),
    (" immarg", ""),
]

WRAPPERS = """
declare void @nv_mbarrier_init(i32, i32)
declare void @nv_mbarrier_expect(i32, i32)
declare void @nv_mbarrier_wait(i32, i32)
declare i32 @nv_mbarrier_test(i32, i32)
declare void @nv_mbarrier_wait_unless(i32, i32, i32)
declare void @nv_mbarrier_arrive(i32, i32)
declare void @nv_mbarrier_arrive_sharers(i32, i32, i32)
declare void @nv_mbarrier_arrive_in(i32, i32)
declare i32 @nv_map(i32, i32)
declare void @nv_send(i32, float, i32)
declare void @nv_wgmma_wait_group(i32)
declare void @nv_stmatrix(i32, i32, i32, i32, i32)
declare void @nv_registers(i32)
declare void @nv_prefetch(ptr)
declare void @nv_nothing()
declare i32 @nv_elected()
declare i32 @nv_pack(float, float)
declare float @nv_lds_float(i64)

define internal float @shuffle_float(i32 %mask, float %value, i32 %lane, i32 %clamp) {
  %bits = bitcast float %value to i32
  %got = call i32 @nv_shuffle(i32 %mask, i32 %bits, i32 %lane, i32 %clamp)
  %float = bitcast i32 %got to float
  ret float %float
}
"""


def host_ir(text, scope, variants):
    """The template at a point, for the CPU."""
    text = at_point(text, scope, variants)
    text = re.sub(r"(?m)^(target |!wavesmith|@ws\.lds|"
                  r"declare .*(elect\.sync|shfl\.sync\.idx\.f32|ff2bf16x2)).*\n",
                  "", text)
    text = replace_all(text, CALLS)
    seen = set()  # two intrinsics may have become one function

    def once(match):
        known = match.group(1) in seen
        seen.add(match.group(1))
        return "" if known else match.group(0)
    return re.sub(r"(?m)^declare [^@\n]*(@nv_\w+).*\n", once, text + WRAPPERS)


def sizes_of(shape):
    return map(int, re.match("[0-9,]+", shape).group().split(","))


class Host:
    def __init__(self, program, tools, folder, loads_per_block):
        self.program, self.tools, self.folder = program, tools, folder
        self.loads_per_block = loads_per_block

    def build(self, text, scope, variants):
        return compile_library(self.tools, self.folder,
                               host_ir(text, scope, variants), "-O1")

    def run(self, template, library, values, units, shape, seed):
        """None, or what is wrong."""
        shape, _, most = shape.partition(":")
        m, n, k = sizes_of(shape)
        scope = {**values, "m": m, "n": n, "k": k, "cu_count": units}
        (kernel, grid, _, _, threads, _), = [
            launch for launch in template.records("launch")
            if evaluate(launch[5], scope)]
        cluster, = [cluster for name, cluster, _ in
                    template.records("occupancy") if name == kernel]
        taken = template.arguments(kernel)
        (_, lds), = template.records("lds")
        (_, _, problem, *_), = template.records("template")
        words = [self.program, library, problem, shape, seed, kernel]
        words += [evaluate(text, scope) for text in
                  (grid, cluster, threads, lds)]
        words.append(",".join(taken))
        for name, argument, element, *extents in template.records("tensor_map"):
            if name not in taken:
                continue
            words += [name, argument, {"u8": 1, "bf16": 2, "f32": 4}[element]]
            words += [evaluate(text, scope) for text in extents]
        try:
            done = subprocess.run(list(map(str, words)), capture_output=True,
                                  text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "does not end"
        if done.returncode:
            return ((done.stdout + done.stderr).strip() or
                    f"ended with {done.returncode}")
        blocks = int(done.stdout.split()[1]) / self.loads_per_block
        if most and blocks != int(most):
            return f"right, but {blocks} blocks, and not {most}"
        return None


def broken(template, values, shape):
    """The reason of a constraint that does not hold, or None."""
    m, n, k = sizes_of(shape)
    for condition, reason in template.records("require"):
        if not evaluate(condition, {**values, "m": m, "n": n, "k": k}):
            return reason
    return None


def run_point(host, template, point, text=None, tries=2):
    """None, or what is wrong on the first shape with a fault."""
    assignments, variants, units, shapes = point
    values = template.scope(assignments)
    library = host.build(text or template.text, values, variants)
    for i, shape in enumerate(shapes.split()):
        if broken(template, values, shape):
            raise ValueError(f"{assignments}, {shape}: "
                             f"{broken(template, values, shape)}")
        for attempt in range(tries):
            seed = 7 + i + attempt + (HARD if (i + attempt) % 2 else 0)
            fault = host.run(template, library, values, units, shape, seed)
            if fault:
                return f"{shape}: {fault}"
    return None


def random_shape(values, step):
    sizes = [(tile * 8 // 3 + 16) // s for tile, s in
             ((values["tile_m"], step[0]), (values["tile_n"] + 16, step[1]))]
    return (f"{step[0] * random.randint(1, sizes[0])},"
            f"{step[1] * random.randint(1, sizes[1])},"
            f"{step[2] * random.randint(1, 1152 // step[2])}")


def random_point(template, step):
    params = list(template.records("param"))
    shapes = []
    while len(shapes) < 2:
        if not shapes:
            values = {name: int(random.choice(allowed.split()))
                      for name, _, allowed, *_ in params}
        shape = random_shape(values, step)
        if not broken(template, values, shape):
            shapes.append(shape)
    return (";".join(f"{name}={value}" for name, value in values.items()), "",
            random.choice((1, 2, 4, 8)), " ".join(shapes))


def run_points(host, template, points):
    failed = 0
    for number, point in enumerate(points):
        fault = run_point(host, template, point)
        failed += fault is not None
        print("not ok" if fault else "ok", "point", number, *point, fault or "",
              flush=True)
    return failed


def run_mutants(host, template, points, mutants):
    failed = 0
    for number, before, after, *other in mutants:
        if template.text.count(before) < 1:
            fault = None
            print(f"# the template lacks '{before}'")
        else:
            fault = run_point(host, template, points[(other or [number])[0]],
                              template.text.replace(before, after), 24)
        failed += fault is None
        print("ok" if fault else "not ok", "mutant", repr(after), "-", fault,
              flush=True)
    return failed


def run_all(template, points, mutants, loads_per_block, step):
    program, tools, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        host = Host(program, tools, folder, loads_per_block)
        if rest:
            random.seed(int(rest[0]))
            return run_points(host, template, [
                random_point(template, step)
                for _ in range(int(rest[1]))]) != 0
        failed = run_points(host, template, points)
        failed += run_mutants(host, template, points, mutants)
    return failed != 0


def main():
    return run_all(Template(TEMPLATE), POINTS, MUTANTS, loads_per_block=3,
                   step=(1, 16, 128))


if __name__ == "__main__":
    sys.exit(main())
