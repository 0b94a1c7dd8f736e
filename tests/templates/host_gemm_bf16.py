# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gemm_bf16_wgmma on the CPU, as host_wgmma.py does fp8_gemm_wgmma: chosen points
on shapes with cut tiles and cut blocks of k, then mutants, which must be found.

  host_gemm_bf16.py HOST LLVM_TOOLS [SEED COUNT]
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from host_wgmma import ROOT, Template, run_all  # noqa: E402

TEMPLATE = os.path.join(ROOT, "kernels", "gemm_bf16", "gemm_bf16_wgmma.ll")

# Parameters, variants, multiprocessors, shapes. Of some shapes also how many
# blocks of 64 of k the busiest workgroup loads (M,N,K:BLOCKS).
POINTS = [
    ("", "", 2, "8,8,8 136,264,328 264,520,264"),
    ("tile_n=128;pipeline=0;output=0", "tile_order=tile_order_snake", 2,
     "392,264,200"),
    ("tile_m=192;tile_n=144;warpgroups=3;stages=3;output=0",
     "tile_order=tile_order_columns", 2, "200,568,384"),
    ("tile_m=64;tile_n=96;warpgroups=1;stages=3;tile_k=128", "", 3,
     "72,304,1096 8,8,72"),
    ("tile_m=256;tile_n=128;stages=3;group_m=2", "", 2, "520,136,384"),
    ("tile_m=128;tile_n=192;warpgroups=1;warpgroups_n=2;stages=4;split_k=2;"
     "output=1", "", 4, "144,392,328 8,8,64"),
    ("tile_n=144;stages=4;pipeline=0;split_k=4;output=0", "", 4, "264,296,200"),
    ("tile_m=64;tile_n=80;warpgroups=1;stages=4;split_k=3;output=2", "", 3,
     "136,168,456"),
    ("tile_n=128;cluster_m=2;stages=4;output=1", "", 4, "264,296,264"),
    ("tile_m=64;tile_n=64;warpgroups=1;cluster_n=4;stages=5", "", 8,
     "200,328,328"),
    ("tile_n=96;stages=3;persistent=0;output=2;pipeline=0", "", 2,
     "136,200,264"),
    # split_last, as in host_wgmma.py: two clusters of two
    ("tile_m=64;tile_n=32;warpgroups=1;stages=3;split_k=2;split_last=1;output=0",
     "", 5, "112,112,192:6 144,80,192:8 64,208,192:6 48,80,192:4 16,16,64:1"),
    ("tile_m=64;tile_n=128;warpgroups=1;stages=3;split_k=2;output=3", "", 4,
     "136,264,328"),
    ("tile_m=128;tile_n=64;warpgroups=1;stages=2;output=3;tile_k=128;cluster_m=2",
     "", 4, "392,136,648"),
]

# Points (by number) that must find it, what is replaced, by what.
MUTANTS = [
    (0, "%next.parity = xor i32 %parity, %flip",
     "%next.parity = add i32 %parity, 0"),
    (0, "%chunk = xor i32 %chunk.1, %key", "%chunk = add i32 %chunk.1, 0"),
    (0, "%bytes = mul i32 %rows, %row.bytes", "%bytes = mul i32 %rows, 64"),
    (0, "%later = icmp ne i32 %block, %first",
     "%later = icmp uge i32 %block, %first"),
    (0, "%later = icmp ne i32 %block, %first",
     "%later = icmp ult i32 %block, %first"),
    (0, "%pending = mul i32 %pieces, %rows",
     "%pending.0 = mul i32 %pieces, %rows\n  %pending = add i32 %pending.0, 1"),
    (13, "%pending = mul i32 %pieces, %rows",
     "%pending.0 = mul i32 %pieces, %rows\n  %pending = add i32 %pending.0, 4"),
    (0, "%before.known = select i1 %later, i32 %before, i32 %stage",
     "%before.known = select i1 %later, i32 %stage, i32 %stage"),
    (0, "call void @finish(ptr %running)\n",
     "call void @wait_but_one_stage()\n"),
    (1, "call void @wait_all()\n", ""),
    (0, "br i1 %overlapped, label %release, label %done", "br label %done"),
    (3, "%past = mul i32 %i, 64", "%past = mul i32 %i, 32"),
    (3, "%a.past.0 = mul i32 %piece, %a.piece", "%a.past.0 = mul i32 %piece, 0"),
    (3, "%adds = select i1 %later, i32 1, i32 %onto",
     "%adds = add i32 %onto, 0"),
    (4, "%a.past.1 = mul i32 %row, 512", "%a.past.1 = mul i32 %row, 0"),
    (0, "%blocks = call i32 @ceildiv(i32 %k, i32 %tile_k)",
     "%blocks = udiv i32 %k, %tile_k"),
    (5, "call void @zero(ptr %running)\n", ""),
    # boxes in turn
    (0, "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 1) #2\n", ""),
    (0, "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 1) #2\n",
     "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 2) #2\n"),
    (3, "both\n  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0) #2\n",
     "both\n"),
    (0, "%flipped = xor i32 %turn, 1\n", "%flipped = xor i32 %turn, 0\n"),
    (12, "%own = call i1 @is_own_box(i32 %box, i32 %first, i32 %limit)",
     "%own = call i1 @is_own_box(i32 %box, i32 0, i32 99)"),
    # a cluster
    (5, "%bytes.2 = mul i32 %bytes.1, %others",
     "%bytes.2 = mul i32 %bytes.1, %split_k"),
    (5, "call void @barrier_wait_cluster(i32 %drained, i32 %parity)\n", ""),
    (5, "call void @barrier_wait(i32 %returned, i32 %parity)\n", ""),
    (8, "%users = mul i32 %warps, %sharers", "%users = mul i32 %warps, 1"),
    (9, "call void @drain_ring(ptr %ring)\n", ""),
    (9, "%row = mul i32 %part, %rank", "%row = mul i32 %part, 0"),
    (10, "%row.inside = icmp ult i32 %row, %m",
     "%row.inside = icmp ule i32 %row, %m"),
    (11, "%whole = select i1 %share, i32 %even, i32 %tiles",
     "%whole = select i1 %share, i32 %tiles, i32 %tiles"),
]


if __name__ == "__main__":
    sys.exit(run_all(Template(TEMPLATE), POINTS, MUTANTS, loads_per_block=2,
                     step=(8, 8, 8)))
