# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rmsnorm with the residual added before, for peers_h200.py: its inputs, and

  copy          PyTorch's copy_ of two tensors in one piece: as many bytes read
                and written as rmsnorm must, by the driver's memcpy
  copy-triton   the same by a kernel, the best of several sizes of block
  torch         x + residual, then PyTorch's rms_norm: two kernels or more
  torch-compile the same under torch.compile
  triton        one program a row, the best number of warps
"""
from peers_plan import PeerError

try:
    import torch
except ImportError:
    torch = None
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

EPS = 1e-5


class RmsNorm:
    """Inputs of one shape on the card, and the fp64 results."""
    dims, has_workspace = ("rows", "cols"), False

    def __init__(self, rows, cols, seed):
        generator = torch.Generator(device="cuda").manual_seed(seed)

        def normal(*extents):
            return torch.randn(*extents, device="cuda",
                               generator=generator).bfloat16()

        self.shape = (rows, cols)
        self.x, self.residual = normal(rows, cols), normal(rows, cols)
        self.weight = normal(cols)
        self.inputs = {"x": self.x, "residual": self.residual,
                       "weight": self.weight}
        self.scalars = {"rows": rows, "cols": cols, "eps": EPS}

    def outputs(self):
        return {"sum": torch.empty_like(self.x), "y": torch.empty_like(self.x)}

    def error(self, result):
        """The larger relative Frobenius error of the two; NaN where an output
        has one. In pieces: fp64 of all at once would be large."""
        wrong, all_of = [0.0, 0.0], [0.0, 0.0]
        step = max(1, (1 << 24) // self.shape[1])
        for begin in range(0, self.shape[0], step):
            part = slice(begin, begin + step)
            total = self.x[part].double() + self.residual[part].double()
            scale = torch.rsqrt(total.square().mean(1, keepdim=True) + EPS)
            wants = (total, total * scale * self.weight.double())
            for i, want in enumerate(wants):
                wrong[i] += (result[i][part].double() - want).square().sum().item()
                all_of[i] += want.square().sum().item()
        errors = [(w / a) ** 0.5 for w, a in zip(wrong, all_of)]
        return max(errors, key=lambda e: (e != e, e))


# ---- copies -----------------------------------------------------------------

def copied(p):
    """What is copied: x and residual in one piece."""
    return torch.cat([p.x, p.residual])


def difference(source):
    return lambda out: 0.0 if torch.equal(out, source) else float("nan")


def make_copy(p):
    source = copied(p)
    out = torch.empty_like(source)
    return lambda: out.copy_(source), "copy_", difference(source)


if triton is not None:
    @triton.jit
    def copy_kernel(source, out, count, BLOCK: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(source + at, mask=at < count),
                 mask=at < count)

    @triton.jit
    def rmsnorm_kernel(x, residual, weight, out_sum, out_y, cols, eps,
                       BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * cols
        at = tl.arange(0, BLOCK)
        inside = at < cols
        total = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
        total += tl.load(residual + row + at, mask=inside,
                         other=0.0).to(tl.float32)
        tl.store(out_sum + row + at, total.to(tl.bfloat16), mask=inside)
        scale = tl.rsqrt(tl.sum(total * total, 0) / cols + eps)
        factor = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out_y + row + at, (total * scale * factor).to(tl.bfloat16),
                 mask=inside)


def best_of(settings, run):
    """The setting that runs quickest by Triton's own clock."""
    if triton is None:
        raise PeerError("no triton")
    times = {}
    for setting in settings:
        try:
            times[setting] = triton.testing.do_bench(
                lambda s=setting: run(*s), warmup=4, rep=20,
                return_mode="median")
        except Exception:  # whatever this version of Triton raises
            times[setting] = float("inf")
    return min(times, key=times.get)


def make_triton_copy(p):
    source = copied(p)
    out = torch.empty_like(source)
    count = source.numel()

    def run(block, warps):
        copy_kernel[(triton.cdiv(count, block),)](source, out, count, block,
                                                  num_warps=warps)
        return out

    best = best_of([(block, warps) for block in (1024, 2048, 4096, 8192)
                    for warps in (4, 8)], run)
    return lambda: run(*best), f"block, warps = {best}", difference(source)


# ---- the operator -----------------------------------------------------------

def make_triton_rmsnorm(p):
    outputs = tuple(p.outputs().values())
    rows, cols = p.shape

    def run(warps):
        rmsnorm_kernel[(rows,)](p.x, p.residual, p.weight, *outputs, cols, EPS,
                                triton.next_power_of_2(cols), num_warps=warps)
        return outputs

    best = best_of([(warps,) for warps in (1, 2, 4, 8, 16, 32)], run)
    return lambda: run(*best), f"warps = {best[0]}"


def in_torch(x, residual, weight):
    total = x + residual
    return total, torch.nn.functional.rms_norm(total, weight.shape, weight, EPS)


def in_torch_exactly(x, residual, weight):
    """y of the sum in f32, as the others have it."""
    total = x.float() + residual.float()
    y = torch.nn.functional.rms_norm(total, weight.shape, weight.float(), EPS)
    return total.bfloat16(), y.bfloat16()


def make_torch(p):
    return lambda: in_torch(p.x, p.residual, p.weight), "add, rms_norm"


def make_torch_compile(p):
    torch._dynamo.reset()  # one shape a program: no dynamic extents
    compiled = torch.compile(in_torch_exactly, dynamic=False)
    return lambda: compiled(p.x, p.residual, p.weight), "inductor"


def rmsnorm_makers():
    return {"copy": make_copy, "copy-triton": make_triton_copy,
            "torch": make_torch, "torch-compile": make_torch_compile,
            "triton": make_triton_rmsnorm}
