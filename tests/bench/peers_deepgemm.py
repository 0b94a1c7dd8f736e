# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DeepGEMM as a peer, where a deep_gemm is installed: its block-scaled fp8 GEMM
on the same operands.

It wants A's scales m-contiguous in rows of a multiple of 16 bytes. Ours are so
for m in multiples of 4; others are laid out anew once, outside the timing.
Kernels are compiled with nvcc at their first use, one after the other;
`compile_ahead` does that for many shapes at once, in processes of its own.
"""
import concurrent.futures
import multiprocessing
import os

try:
    import torch
    import deep_gemm
except ImportError:
    deep_gemm = None


def make_deepgemm(p):
    a_scales = p.a_scales.t()  # (m, k/128), m-contiguous
    if p.m % 4:
        a_scales = deep_gemm.get_mn_major_tma_aligned_tensor(
            a_scales.contiguous())
    c = torch.empty(p.m, p.n, dtype=torch.bfloat16, device="cuda")

    def call():
        deep_gemm.fp8_gemm_nt((p.a, a_scales), (p.b, p.b_scales), c)
        return c

    return call, f"deep_gemm {getattr(deep_gemm, '__version__', '')}"


def call_once(shapes):
    for m, n, k in shapes:
        a = torch.zeros(m, k, device="cuda").to(torch.float8_e4m3fn)
        b = torch.zeros(n, k, device="cuda").to(torch.float8_e4m3fn)
        scales = deep_gemm.get_mn_major_tma_aligned_tensor(
            torch.ones(m, k // 128, device="cuda"))
        b_scales = torch.ones((n + 127) // 128, k // 128, device="cuda")
        c = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
        deep_gemm.fp8_gemm_nt((a, scales), (b, b_scales), c)
    torch.cuda.synchronize()


def compile_ahead(shapes):
    workers = min(len(shapes), os.cpu_count() or 1)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, context) as pool:
        list(pool.map(call_once, [shapes[i::workers] for i in range(workers)]))
