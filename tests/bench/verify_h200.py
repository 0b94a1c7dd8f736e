#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An emitted dispatch of fp8_gemm_blockscale (kmajor-ocp) proved on the card.

Shapes: the edges below, the contest's 18, and --count
random legal ones. Each gets fresh inputs (every fourth one hard: see
kernels/fp8_gemm_blockscale/README.md) at fresh addresses that are aligned to
no more than 16 bytes. It runs twice, over two poisons of output and workspace;
every element is compared with an fp64 product, under the problem's own bound

    |got - want| <= 2^-8 |want| + 2^-8 R + 2^-126, R = sqrt(sum (as bs a b)^2)

NaN and infinity are wrong. The two results must be the same bytes, and inputs,
as well as 4096 bytes around every buffer, must be as they were.

  python3 tests/bench/verify_h200.py --dispatch generated/fp8_gemm.c

Exit 0: all right; 1: something was wrong; 3: no torch or no card. --dry prints
the shapes and needs neither.
"""
import argparse
import collections
import ctypes
import json
import math
import os
import random
import sys
import tempfile
import time

try:
    import torch
except ImportError:
    torch = None

import peers_h200
from peers_plan import (ROOT, PeerError, Slots, ceildiv, current_stream,
                        read_text)

DEVICE = "cuda"
MAX_OUTPUT, MAX_EXTENT, MAX_K = 6144 * 7168, 32768, 8192
GUARD, GUARD_BYTE = 4096, 0xa5
POISONS = (0xff, 0x7f)  # bf16 and fp32 NaN; then their largest finite values
CHUNK = 1 << 24  # elements of C compared at a time
# byte = (random & mask) | base: any, subnormal, 128 to 448, +-1, zeros
CODE_CLASSES = ((0xff, 0), (0x87, 0), (0x8f, 0x70), (0x80, 0x38), (0x80, 0))
SCALE_FACTORS = (1, 1, 0, 2.0 ** 12, 2.0 ** -12)
# m below and beside a tile, n inside a scale block, one k block, odd numbers of
# them, a long k; then larger ones
EDGES = ((1, 16, 128), (3, 576, 256), (5, 144, 512), (15, 320, 384),
         (17, 128, 1024), (63, 576, 128), (65, 272, 256), (127, 512, 512),
         (129, 96, 384), (1023, 576, 512), (2047, 160, 256), (16, 576, 128), (272, 144, 256), (80, 320, 384), (32, 48, 1024),
         (64, 576, 512), (64, 128, 2048), (256, 256, 512), (512, 512, 1024),
         (1024, 512, 512), (512, 1024, 512), (512, 512, 7168),
         (1024, 1536, 512), (1024, 7168, 256), (2048, 2048, 256),
         (6144, 512, 128), (4096, 4096, 128))


# ---- shapes -----------------------------------------------------------------

def log_uniform(rng, low, high, step):
    value = math.exp(rng.uniform(math.log(low), math.log(high)))
    return max(step, step * round(value / step))


def random_shapes(count, seed):
    """Any m, extents that divide by 16 only, and such as tiles like."""
    rng, shapes = random.Random(seed), {}
    while len(shapes) < count:
        m, n = (log_uniform(rng, step, MAX_EXTENT,
                            rng.choice((step, 16, 64, 128)))
                for step in (1, 16))
        shape = m, n, log_uniform(rng, 128, MAX_K, 128)
        if m * n <= MAX_OUTPUT:
            shapes[shape] = None
    return list(shapes)


def all_shapes(count, seed):
    """(where from, shape, hard inputs)"""
    named = [("edge", s) for s in EDGES]
    named += [("contest", s) for s in peers_h200.CONTEST]
    named += [("random", s) for s in random_shapes(count, seed)]
    return [(kind, shape, (index + seed) % 4 == 3)
            for index, (kind, shape) in enumerate(named)]


# ---- buffers and inputs -----------------------------------------------------

class Buffer:
    """Bytes at a random multiple of 16 between two guards."""

    def __init__(self, size, rng):
        self.lead = GUARD + 16 * rng.randrange(64)
        self.size = size
        self.whole = torch.full((self.lead + size + GUARD,), GUARD_BYTE,
                                dtype=torch.uint8, device=DEVICE)
        self.bytes = self.whole[self.lead:self.lead + size]

    def address(self):
        return self.whole.data_ptr() + self.lead

    def fill(self, tensor):
        self.bytes.copy_(tensor.contiguous().view(torch.uint8).flatten())

    def guards_whole(self):
        before = self.whole[:self.lead]
        after = self.whole[self.lead + self.size:]
        return bool((before == GUARD_BYTE).all() & (after == GUARD_BYTE).all())


class Case:
    """Inputs of one shape, in buffers of their own; named as Slots reads
    them."""
    has_workspace, outputs = True, peers_h200.Problem.outputs

    def __init__(self, shape, hard, seed, rng):
        self.m, self.n, self.k = shape
        m, n, k = shape
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        codes, scales = ((self.hard_codes, self.hard_scales) if hard else
                         (self.codes, self.scales))
        contents = [codes(m, k), codes(n, k), scales(k // 128, m),
                    scales(ceildiv(n, 128), k // 128)]
        self.buffers = []
        for tensor in contents:
            self.buffers.append(Buffer(tensor.numel() * tensor.element_size(),
                                      rng))
            self.buffers[-1].fill(tensor)
        self.a, self.b, self.a_scales, self.b_scales = contents
        self.inputs = dict(zip(("a", "b", "as", "bs"), contents))
        self.scalars = {"m": m, "n": n, "k": k, "as_stride_m": 1,
                        "as_stride_k": m, "bs_stride_n": k // 128,
                        "bs_stride_k": 1}
        self.before = [buffer.whole.clone() for buffer in self.buffers]

    def normal(self, *extents):
        return torch.randn(*extents, device=DEVICE, generator=self.generator)

    def below(self, limit, *extents):
        return torch.randint(limit, extents, device=DEVICE,
                             generator=self.generator)

    def codes(self, rows, k):
        return self.normal(rows, k).to(torch.float8_e4m3fn)

    def hard_codes(self, rows, k):
        table = torch.tensor(CODE_CLASSES, dtype=torch.uint8, device=DEVICE)
        runs = table[self.below(len(CODE_CLASSES), rows, k // 128)]
        mask, base = (runs[..., i].repeat_interleave(128, 1) for i in (0, 1))
        codes = (self.below(256, rows, k).to(torch.uint8) & mask) | base
        codes[(codes & 0x7f) == 0x7f] = 0  # NaN
        return codes.view(torch.float8_e4m3fn)

    def scales(self, *extents):
        """One in 32 is zero."""
        return self.normal(*extents) * (self.below(32, *extents) != 0)

    def hard_scales(self, *extents):
        factors = torch.tensor(SCALE_FACTORS, dtype=torch.float32,
                               device=DEVICE)
        return self.normal(*extents) * factors[
            self.below(len(SCALE_FACTORS), *extents)]

    def inputs_whole(self):
        return all(torch.equal(buffer.whole, before)
                   for buffer, before in zip(self.buffers, self.before))


# ---- the reference ----------------------------------------------------------

def decoded(code):
    """OCP e4m3fn by its definition."""
    exponent, fraction = code >> 3 & 15, code & 7
    if code & 0x7f == 0x7f:
        return math.nan
    size = (math.ldexp(8 + fraction, exponent - 10) if exponent else
            math.ldexp(fraction, -9))
    return -size if code & 0x80 else size


def check_decoding():
    codes = torch.arange(256, dtype=torch.int64, device=DEVICE)
    got = codes.to(torch.uint8).view(torch.float8_e4m3fn).double().tolist()
    for code, value in enumerate(got):
        want = decoded(code)
        if value != want and not (math.isnan(value) and math.isnan(want)):
            raise PeerError(f"torch decodes fp8 code {code} as {value}")


def scaled(codes, scales):
    return codes.double() * scales.double().repeat_interleave(128, 1)


def compare(case, c):
    """(worst ratio to the bound, elements above it, words on the first)"""
    a = scaled(case.a, case.a_scales.t())
    b = scaled(case.b, case.b_scales.repeat_interleave(128, 0)[:case.n])
    squares = b.square()
    worst, wrong, first = 0.0, 0, ""
    rows = max(1, CHUNK // case.n)
    for m in range(0, case.m, rows):
        want = a[m:m + rows] @ b.t()
        size = (a[m:m + rows].square() @ squares.t()).sqrt()
        bound = (want.abs() + size) * 2.0 ** -8 + 2.0 ** -126
        got = c[m:m + rows].double()
        ratio = (got - want).abs() / bound
        ratio[~torch.isfinite(got) | torch.isnan(ratio)] = math.inf
        worst = max(worst, ratio.max().item())
        above = int((ratio > 1).sum().item())
        if above and not wrong:
            at = int((ratio > 1).flatten().int().argmax().item())
            i, j = divmod(at, case.n)
            first = (f"c[{m + i}][{j}] = {got[i, j].item():.9g}, want "
                     f"{want[i, j].item():.9g} +- {bound[i, j].item():.3g}")
        wrong += above
    return worst, wrong, first


# ---- one shape --------------------------------------------------------------

class Checked:
    """The dispatch, what it was caught at, and allocations that lie between
    the buffers of one shape and the next."""

    def __init__(self, dispatch, seed):
        self.dispatch, self.lib = dispatch, dispatch.lib
        self.rng, self.spacers = random.Random(seed), collections.deque()
        self.served = collections.Counter()
        self.pick = getattr(self.lib, "ws_rt_pick", None)
        if self.pick:
            self.pick.restype = ctypes.c_void_p

    def kernel(self, shape):
        """Head of the candidate's hash and its parameters: the first two
        fields of ws_rt_candidate."""
        place = self.pick and self.pick(self.dispatch.context, shape)
        if not place:
            return "unknown"
        name, parameters = (ctypes.c_char_p * 2).from_address(place)
        return f"{name.decode()[:12]} {(parameters or b'').decode()}"

    def space(self):
        self.spacers.append(torch.empty(self.rng.randrange(1, 24 << 20),
                                        dtype=torch.uint8, device=DEVICE))
        if len(self.spacers) > 32:
            self.spacers.popleft()

    def launch(self, case, need):
        """Both runs; the bytes of both outputs, and what else went wrong."""
        self.space()
        output = Buffer(2 * case.m * case.n, self.rng)
        self.space()
        workspace = Buffer(need, self.rng)
        slots = Slots(case, 0)
        places = case.buffers + [output, workspace]
        for value, buffer in zip(slots.values, places):
            value.value = buffer.address()
        shape = (ctypes.c_longlong * 3)(case.m, case.n, case.k)
        results = []
        for poison in POISONS:
            output.bytes.fill_(poison)
            workspace.bytes.fill_(poison)
            if self.lib.ws_rt_run(self.dispatch.context, shape, slots.array,
                                  ctypes.c_size_t(need), current_stream(),
                                  self.dispatch.message, ctypes.c_size_t(512)):
                raise PeerError(self.dispatch.message.value.decode())
            torch.cuda.synchronize()
            results.append(output.bytes.clone())
        broken = []
        if not output.guards_whole():
            broken.append("wrote outside the output")
        if not workspace.guards_whole():
            broken.append(f"wrote outside the workspace of {need} bytes")
        if not case.inputs_whole():
            broken.append("wrote to or beside an input")
        return results, broken

    def shape(self, shape, hard, seed):
        """A row of the report."""
        sizes = (ctypes.c_longlong * 3)(*shape)
        kernel = self.kernel(sizes)
        self.served[kernel] += 1
        self.space()
        case = Case(shape, hard, seed, self.rng)
        need = self.lib.ws_rt_workspace_bytes(self.dispatch.context, sizes)
        results, broken = self.launch(case, need)
        same = torch.equal(*results)
        if not same:
            broken.append("two runs differ")
        worst = 0.0
        for number, result in enumerate(results[:1] if same else results):
            c = result.view(torch.bfloat16).view(case.m, case.n)
            ratio, wrong, first = compare(case, c)
            worst = max(worst, ratio)
            if wrong:
                broken.append(f"run {number + 1}: {wrong} of {c.numel()} "
                              f"elements wrong, first {first}")
        return {"kernel": kernel, "workspace": need, "worst_ratio": worst,
                "failures": broken}


# ---- the run ----------------------------------------------------------------

def verify(checked, options, result):
    """Fills result["shapes"]; an error of the card itself ends it, as nothing
    runs on a lost context."""
    for number, (kind, shape, hard) in enumerate(options.shapes):
        row = {"kind": kind, "shape": shape, "hard": hard}
        result["shapes"].append(row)
        try:
            row.update(checked.shape(shape, hard,
                                     options.seed * 1000003 + number))
        except PeerError as e:
            row["failures"] = [f"refused: {e}"]
        except RuntimeError as e:
            row["failures"] = [f"ended here: {peers_h200.first_line(e)}"]
            return


def summarize(result, checked, planned):
    rows = result["shapes"]
    done = [row for row in rows if "worst_ratio" in row]
    worst = max(done, key=lambda row: row["worst_ratio"], default=None)
    result["planned"], result["checked"] = planned, len(done)
    result["elements"] = sum(math.prod(row["shape"][:2]) for row in done)
    result["worst_ratio"] = worst and worst["worst_ratio"]
    result["worst_at"] = worst and worst["shape"]
    result["served"] = dict(checked.served.most_common())
    result["failed"] = sum(bool(row["failures"]) for row in rows)
    result["passed"] = not result["failed"] and len(done) == planned


def run(options):
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        symbol, library = options.symbol, options.library
        if options.dispatch:
            symbol = symbol or os.path.basename(options.dispatch)[:-2]
            library = peers_h200.build_library(options.dispatch, folder)
        check_decoding()
        checked = Checked(peers_h200.Dispatch(library, symbol), options.seed)
        result = {"machine": peers_h200.machine(peers_h200.Clocks()),
                  "seed": options.seed, "shapes": []}
        verify(checked, options, result)
    summarize(result, checked, len(options.shapes))
    result["seconds"] = time.monotonic() - began
    return result


def report(result, out=sys.stdout):
    for name, value in result["machine"].items():
        print(f"# {name}: {value}", file=out)
    for kernel, count in result["served"].items():
        print(f"# {count} shapes by {kernel}", file=out)
    for row in result["shapes"]:
        for failure in row["failures"]:
            print("failed: {},{},{}".format(*row["shape"]),
                  f"({row['kind']}{', hard' if row['hard'] else ''}; "
                  f"{row.get('kernel', 'unknown')}): {failure}", file=out)
    ratio, place = result["worst_ratio"], result["worst_at"]
    if place:
        print(f"worst |got - want| / bound: {ratio:.4f} at "
              "{},{},{}".format(*place), file=out)
    print(f"{'passed' if result['passed'] else 'FAILED'}: "
          f"{result['checked']} of {result['planned']} shapes checked, "
          f"{result['failed']} failed, {result['elements']} elements, "
          f"{result['seconds']:.1f} s", file=out)


def dry(options, out=sys.stdout):
    work = 0
    for kind, (m, n, k), hard in options.shapes:
        print(f"{m},{n},{k} {kind}{' hard' if hard else ''}", file=out)
        work += 4 * m * n * k  # two fp64 products
    print(f"# {len(options.shapes)} shapes, {work / 1e12:.1f} TFLOP of fp64",
          file=out)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--dispatch", help="emitted NAME.c")
    parser.add_argument("--library", help="emitted dispatch as NAME.so")
    parser.add_argument("--symbol", help="of the dispatch (default: NAME)")
    parser.add_argument("--count", type=int, default=200,
                        help="random shapes besides the fixed ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="JSON file of all rows")
    parser.add_argument("--dry", action="store_true", help="print the shapes")
    options = parser.parse_args(arguments)
    if not options.dry and bool(options.dispatch) == bool(options.library):
        parser.error("needs either --dispatch or --library")
    if options.library and not options.symbol:
        parser.error("--library needs --symbol")
    options.shapes = all_shapes(options.count, options.seed)
    return options


def main():
    options = parse(sys.argv[1:])
    if options.dry:
        dry(options)
        return 0
    if torch is None or not torch.cuda.is_available():
        print("verify_h200: needs torch and a CUDA card (or --dry)",
              file=sys.stderr)
        return 3
    result = run(options)
    peers_h200.write(result, options.out)
    report(result)
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
