# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Triton peer of peers_h200.py: one block-scaled GEMM in three forms, each
under @triton.autotune: tiles by TMA, the same with persistent workgroups, and
plain pointers. The product of a block of 128 in k is scaled and added in fp32.
"""
from peers_plan import PeerError, ceildiv

try:
    import torch
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    triton = None

TRITON_TILES = [  # block m, block n, warps, stages
    (64, 32, 4, 6), (64, 64, 4, 4), (64, 64, 4, 6), (64, 128, 4, 3),
    (64, 128, 4, 5), (64, 256, 8, 3), (128, 32, 4, 5), (128, 64, 4, 4),
    (128, 64, 8, 5), (128, 128, 8, 3), (128, 128, 8, 4), (128, 256, 8, 3),
    (256, 64, 8, 3), (256, 128, 8, 3)]

if triton is not None:
    def set_blocks(arguments):
        m, n = arguments["BLOCK_M"], arguments["BLOCK_N"]
        arguments["a"].block_shape = [m, 128]
        arguments["b"].block_shape = [n, 128]
        arguments["c"].block_shape = [m, n]

    def configurations(hook, groups=(8,)):
        return [triton.Config({"BLOCK_M": m, "BLOCK_N": n, "GROUP_M": group},
                              num_warps=warps, num_stages=stages, pre_hook=hook)
                for m, n, warps, stages in TRITON_TILES for group in groups]

    def quick_bench(call, quantiles):
        """A configuration that does not compile or run is the slowest."""
        try:
            return triton.testing.do_bench(call, warmup=4, rep=16,
                                           quantiles=quantiles)
        except Exception:  # whatever this version of Triton raises
            return [float("inf")] * len(quantiles)

    @triton.jit
    def tile_at(position, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                GROUP_M: tl.constexpr):
        tiles_m = tl.cdiv(M, BLOCK_M)
        tiles_n = tl.cdiv(N, BLOCK_N)
        band = position // (GROUP_M * tiles_n)
        first = band * GROUP_M
        height = min(tiles_m - first, GROUP_M)
        within = position % (GROUP_M * tiles_n)
        return first + within % height, within // height

    @triton.jit
    def apply_scales(part, a_scales, b_scales, kb, row, column, M, N, K,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
        """part times the scales of block kb; b_scales has rows of K / 128."""
        rows = row + tl.arange(0, BLOCK_M)
        a_scale = tl.load(a_scales + kb * M + rows, mask=rows < M, other=0.0)
        if BLOCK_N <= 128:
            b_scale = tl.load(b_scales + column // 128 * (K // 128) + kb)
            return part * (a_scale * b_scale)[:, None]
        else:
            columns = column + tl.arange(0, BLOCK_N)
            b_scale = tl.load(b_scales + columns // 128 * (K // 128) + kb,
                              mask=columns < N, other=0.0)
            return part * a_scale[:, None] * b_scale[None, :]

    @triton.autotune(configurations(set_blocks), key=["M", "N", "K"],
                     do_bench=quick_bench)
    @triton.jit
    def gemm_tma(a, b, a_scales, b_scales, c, M, N, K, BLOCK_M: tl.constexpr,
                 BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
        tile_m, tile_n = tile_at(tl.program_id(0), M, N, BLOCK_M, BLOCK_N,
                                 GROUP_M)
        row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for kb in range(0, K // 128):
            part = tl.dot(a.load([row, kb * 128]), b.load([column, kb * 128]).T)
            total += apply_scales(part, a_scales, b_scales, kb, row, column, M,
                                  N, K, BLOCK_M, BLOCK_N)
        c.store([row, column], total.to(tl.bfloat16))

    @triton.autotune(configurations(set_blocks), key=["M", "N", "K"],
                     do_bench=quick_bench)
    @triton.jit
    def gemm_persistent(a, b, a_scales, b_scales, c, M, N, K, SMS: tl.constexpr,
                        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                        GROUP_M: tl.constexpr):
        tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
        for position in tl.range(tl.program_id(0), tiles, SMS, flatten=True):
            tile_m, tile_n = tile_at(position, M, N, BLOCK_M, BLOCK_N, GROUP_M)
            row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for kb in range(0, K // 128):
                part = tl.dot(a.load([row, kb * 128]),
                              b.load([column, kb * 128]).T)
                total += apply_scales(part, a_scales, b_scales, kb, row, column,
                                      M, N, K, BLOCK_M, BLOCK_N)
            c.store([row, column], total.to(tl.bfloat16))

    @triton.autotune(configurations(None), key=["M", "N", "K"],
                     do_bench=quick_bench)
    @triton.jit
    def gemm_pointers(a, b, a_scales, b_scales, c, M, N, K,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      GROUP_M: tl.constexpr):
        tile_m, tile_n = tile_at(tl.program_id(0), M, N, BLOCK_M, BLOCK_N,
                                 GROUP_M)
        row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
        rows = row + tl.arange(0, BLOCK_M)
        columns = column + tl.arange(0, BLOCK_N)
        deep = tl.arange(0, 128)
        a_at = a + (rows % M).to(tl.int64)[:, None] * K + deep[None, :]
        b_at = b + (columns % N).to(tl.int64)[None, :] * K + deep[:, None]
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for kb in range(0, K // 128):
            part = tl.dot(tl.load(a_at), tl.load(b_at))
            total += apply_scales(part, a_scales, b_scales, kb, row, column, M,
                                  N, K, BLOCK_M, BLOCK_N)
            a_at += 128
            b_at += 128
        c_at = c + rows.to(tl.int64)[:, None] * N + columns[None, :]
        tl.store(c_at, total.to(tl.bfloat16),
                 mask=(rows < M)[:, None] & (columns < N)[None, :])


def make_triton(p, kind):
    if triton is None:
        raise PeerError("no triton")
    c = torch.empty(p.m, p.n, dtype=torch.bfloat16, device="cuda")
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    shape = (p.m, p.n, p.k)

    def tiles(meta):
        return ceildiv(p.m, meta["BLOCK_M"]) * ceildiv(p.n, meta["BLOCK_N"])

    def described(tensor):  # the hook sets the block for each configuration
        return TensorDescriptor.from_tensor(tensor, [64, 32])

    kernel = {"tma": gemm_tma, "persistent": gemm_persistent,
              "pointers": gemm_pointers}[kind]
    if kind == "pointers":
        operands = (p.a, p.b, p.a_scales, p.b_scales, c)
    else:
        operands = (described(p.a), described(p.b), p.a_scales, p.b_scales,
                    described(c))

    def call():
        if kind == "persistent":
            kernel[lambda meta: (min(sms, tiles(meta)),)](*operands, *shape, sms)
        else:
            kernel[lambda meta: (tiles(meta),)](*operands, *shape)
        return c

    call()  # tunes
    return call, str(kernel.best_config)
