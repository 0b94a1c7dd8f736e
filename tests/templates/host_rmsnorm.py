# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rmsnorm templates for sm_90a on the CPU, as host_sm90a.py does those of
the fp8 product: chosen points on shapes with cut vectors, cut workgroups and
columns beyond what is kept, then mutants, which must be found.

  host_rmsnorm.py HOST LLVM_TOOLS
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from host_sm90a import run_all  # noqa: E402

NAIVE = "../kernels/rmsnorm/naive_sm90a"
TUNED = "../kernels/rmsnorm/sm90a"

POINTS = [
    (NAIVE, "threads=64", "", "1,8 70,24"),
    (TUNED, "", "", "1,8 3,2048 2,4104 2,6152"),
    (TUNED, "threads=32;keep=1;group_rows=8;early=0", "", "1,8 13,264 8,520"),
    (TUNED, "threads=64;keep=3;group_rows=4", "load16=load16_once "
     "store16=store16_streaming inverse_root=inverse_root_approximate",
     "5,1536 9,1608"),
    (TUNED, "threads=1024;keep=1;early=0", "store16=store16_streaming",
     "2,8184 1,16400"),
    (TUNED, "threads=128;keep=8;group_rows=2", "load16=load16_once",
     "3,8192 3,8200"),
]

MUTANTS = [
    (0, "%inside = icmp ult i32 %row, %rows", "%inside = icmp ule i32 %row, %rows"),
    (1, "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) #1\n  %last",
     "%last"),
    (1, "%r.next = add i32 %r, %threads", "%r.next = add i32 %r, 1024"),
    (1, "%mean.eps = fadd float %mean, %eps", "%mean.eps = fadd float %mean, 0.0"),
    (1, "%v3 = select i1 %inside, float %all3, float 0.0",
     "%v3 = select i1 %inside, float %all3, float %all3"),
    (1, "%last = sub i32 %warps, 1", "%last = sub i32 %warps, 2"),
    (1, "i32 %bits4, i32 1, i32 31)", "i32 %bits4, i32 2, i32 31)"),
    (2, "%present = icmp ult i32 %row, %rows", "%present = icmp ule i32 %row, %rows"),
    (2, "%in.group = udiv i32 %thread, %threads",
     "%in.group.0 = udiv i32 %thread, %threads\n"
     "  %in.group = and i32 %in.group.0, 3"),
    (3, "%row.warp = and i32 %warp, %above", "%row.warp = and i32 %warp, 0"),
    (3, "%k.eight = shl i32 %k, 3", "%k.eight = shl i32 0, 3"),
    (4, "%weight, i32 %k.vector)", "%weight, i32 0)"),
    (4, "ptr addrspace(1) %weight, i32 %e)", "ptr addrspace(1) %weight, i32 %own)"),
    (5, "%out1 = insertelement <4 x i32> %out0, i32 %bits1, i32 1",
     "%out1 = insertelement <4 x i32> %out0, i32 %bits0, i32 1"),
]

if __name__ == "__main__":
    sys.exit(run_all(POINTS, MUTANTS))
