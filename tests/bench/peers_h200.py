#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wavesmith's kernels beside their peers on one Hopper card.

In one process, on the same inputs, by one protocol:
  cublaslt    block-wise fp8 of cuBLASLt through PyTorch's scaled_mm: 1x128
              scales of A, 128x128 of B, rows of scales padded to four
  deepgemm    DeepGEMM's fp8_gemm_nt, where a deep_gemm can be imported
  triton-*    block-scaled GEMMs under @triton.autotune: tiles by TMA, the same
              persistent, and plain pointers
With --problem gemm_bf16 the one peer is cublas, PyTorch's mm in bf16; with
--problem rmsnorm they are copies of as many bytes and what PyTorch and Triton
have (peers_rmsnorm.py), and shapes are ROWS,COLS.
  wavesmith   an emitted dispatch (--dispatch NAME.c or --library NAME.so), or
              code objects chosen by hand (--plan FILE)

Protocol: each call is captured into a CUDA graph once. A sample poisons the
output with NaN, fills 256 MB to flush L2, and times one launch of the graph
between two events. Samples of all peers are interleaved in random order. The
figure is the median, with a 95 % bootstrap interval. Every result is compared
with an fp64 one before and after timing: a NaN, or a relative Frobenius error
above 3e-3 (rounding to bf16 alone gives 1.66e-3), is a failure, and what fails
is said in the table.

  python3 tests/bench/peers_h200.py --dispatch generated/fp8_gemm.c
  python3 tests/bench/peers_h200.py --plan plan.json --out peers.json

A plan lists code objects made by `wavesmith check TEMPLATE --set ... --emit
FILE`; grids, shared memory and tensor maps follow from the template:
  [{"name": "wavesmith", "template": "ir-templates/fp8_gemm_wgmma.ll",
    "set": "tile_m=128;tile_n=128", "code": "a.cubin",
    "shapes": [[1024, 1536, 7168]]}]     (no "shapes": every shape)
Entries of one name are one column; the first that lists a shape serves it.

Needs torch and, for its peers, triton. No network. --dry runs without a card
or torch, on made-up times, to test all but the measuring.
"""
import argparse
import ctypes
import datetime
import json
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    torch = None

import peers_deepgemm
from peers_plan import (ROOT, PeerError, Plan, Slots, Template, ceildiv,
                        current_stream, evaluate, read_text)
from peers_rmsnorm import RmsNorm, rmsnorm_makers
from peers_triton import make_triton, triton

CONTEST = [(m, n, k) for m in (1024, 6144) for n, k in (
    (1536, 7168), (3072, 1536), (576, 7168), (7168, 256), (7168, 2048),
    (4608, 7168), (7168, 2304), (512, 7168), (4096, 512))]
ERROR_LIMIT = 3e-3
FLUSH_BYTES = 256 << 20


# ---- inputs and the check ---------------------------------------------------

class Problem:
    """Inputs of one shape on the card, and the fp64 product."""
    dims, has_workspace = ("m", "n", "k"), True

    def __init__(self, m, n, k, seed):
        generator = torch.Generator(device="cuda").manual_seed(seed)

        def normal(*extents):
            return torch.randn(*extents, device="cuda", generator=generator)

        self.m, self.n, self.k = self.shape = m, n, k
        self.a = normal(m, k).to(torch.float8_e4m3fn)
        self.b = normal(n, k).to(torch.float8_e4m3fn)
        self.a_scales = normal(k // 128, m)  # [k/128][m]: as_stride_m = 1
        self.b_scales = normal(ceildiv(n, 128), k // 128)
        self.want = self.scaled(self.a, self.a_scales.t()) @ self.scaled(
            self.b, self.b_scales.repeat_interleave(128, 0)[:n]).t()
        self.norm = self.want.norm().item()
        self.inputs = {"a": self.a, "b": self.b, "as": self.a_scales,
                       "bs": self.b_scales}
        self.scalars = {"m": m, "n": n, "k": k, "as_stride_m": 1,
                        "as_stride_k": m, "bs_stride_n": k // 128,
                        "bs_stride_k": 1}

    @staticmethod
    def scaled(operand, scales):
        return operand.double() * scales.double().repeat_interleave(128, 1)

    def outputs(self):
        """Names to tensors, in the order of the problem's arguments."""
        return {"c": torch.empty(self.m, self.n, dtype=torch.bfloat16,
                                 device="cuda")}

    def error(self, c):
        """Relative Frobenius error; NaN where the output has one."""
        return ((c.double() - self.want).norm() / self.norm).item()


class Bf16Problem(Problem):
    """The same of gemm_bf16."""

    def __init__(self, m, n, k, seed):
        generator = torch.Generator(device="cuda").manual_seed(seed)

        def normal(*extents):
            return torch.randn(*extents, device="cuda",
                               generator=generator).bfloat16()

        self.m, self.n, self.k = self.shape = m, n, k
        self.a, self.b = normal(m, k), normal(n, k)
        self.want = self.a.double() @ self.b.double().t()
        self.norm = self.want.norm().item()
        self.inputs = {"a": self.a, "b": self.b}
        self.scalars = {"m": m, "n": n, "k": k}


PROBLEMS = {"fp8_gemm_blockscale": Problem, "gemm_bf16": Bf16Problem,
            "rmsnorm": RmsNorm}


def make_cublas(p):
    c = torch.empty(p.m, p.n, dtype=torch.bfloat16, device="cuda")
    return lambda: torch.mm(p.a, p.b.t(), out=c), "torch.mm"


# ---- cuBLASLt ---------------------------------------------------------------

def padded_scales(scales):
    """[n/128][k/128] in rows of a multiple of four floats, as cuBLASLt reads
    128x128 scales; the padding is zero."""
    rows, length = scales.shape
    padded = torch.zeros(rows, 4 * ceildiv(length, 4), device="cuda")
    padded[:, :length] = scales
    return padded


def cublaslt_calls(p):
    """The ways in which versions of PyTorch want it said, newest first."""
    a_scales = p.a_scales.t()  # (m, k/128), m-contiguous
    rows = padded_scales(p.b_scales)
    whole, cut = rows.t(), rows[:, :p.k // 128].t()
    functional = torch.nn.functional

    def named(b_scales):
        kinds, none = functional.ScalingType, functional.SwizzleType.NO_SWIZZLE
        return lambda: functional.scaled_mm(
            p.a, p.b.t(), a_scales, kinds.BlockWise1x128, b_scales,
            kinds.BlockWise128x128, swizzle_a=none, swizzle_b=none,
            output_dtype=torch.bfloat16)

    def inferred(b_scales):
        return lambda: torch._scaled_mm(p.a, p.b.t(), a_scales, b_scales,
                                        out_dtype=torch.bfloat16)

    if hasattr(functional, "scaled_mm"):
        yield "nn.functional.scaled_mm, padded scales", lambda: named(whole)
        yield "nn.functional.scaled_mm", lambda: named(cut)
    yield "torch._scaled_mm, padded scales", lambda: inferred(whole)
    yield "torch._scaled_mm", lambda: inferred(cut)


def make_cublaslt(p):
    failures = []
    for name, make in cublaslt_calls(p):
        try:
            call = make()
            error = p.error(call())
            if error <= ERROR_LIMIT:
                return call, name
            failures.append(f"{name}: error {error:.2e}")
        except Exception as e:  # whatever this version of PyTorch raises
            failures.append(f"{name}: {first_line(e)}")
    raise PeerError("; ".join(failures))


# ---- wavesmith: an emitted dispatch -----------------------------------------

class Dispatch:
    def __init__(self, library, symbol):
        self.lib = ctypes.CDLL(os.path.abspath(library))
        self.lib.ws_rt_workspace_bytes.restype = ctypes.c_size_t
        self.message = ctypes.create_string_buffer(512)
        self.context = ctypes.c_void_p()
        dispatch = ctypes.addressof(ctypes.c_char.in_dll(self.lib, symbol))
        torch.cuda.current_stream().synchronize()  # there is a context
        if self.lib.ws_rt_open(ctypes.c_void_p(dispatch), 0,
                               ctypes.byref(self.context), self.message,
                               ctypes.c_size_t(512)):
            raise PeerError(self.message.value.decode())
        self.explain = getattr(self.lib, symbol + "_explain", None)

    def make(self, p):
        extents = [ctypes.c_longlong(x) for x in p.shape]
        shape = (ctypes.c_longlong * len(p.shape))(*p.shape)
        need = self.lib.ws_rt_workspace_bytes(self.context, shape)
        slots = Slots(p, need)

        def call():
            if self.lib.ws_rt_run(self.context, shape, slots.array,
                                  ctypes.c_size_t(need), current_stream(),
                                  self.message, ctypes.c_size_t(512)):
                raise PeerError(self.message.value.decode())
            return slots.result

        return call, self.choice(extents)

    def choice(self, extents):
        if self.explain is None:
            return ""
        line = ctypes.create_string_buffer(1024)
        self.explain(*extents, line, ctypes.c_size_t(1024))
        return line.value.decode()


def build_library(source, folder):
    """The emitted C and the runtime as one shared library."""
    runtime = os.path.join(ROOT, "runtime")
    sources = os.path.join(runtime, "rt")
    library = os.path.join(folder, "dispatch.so")
    command = [os.environ.get("CC", "gcc"), "-O2", "-shared", "-fPIC",
               "-I" + os.path.join(runtime, "include"),
               "-I" + os.path.dirname(os.path.abspath(source)), "-o", library,
               source]
    command += [os.path.join(sources, f) for f in sorted(os.listdir(sources))
                if f.endswith(".c")]
    subprocess.run(command + ["-ldl", "-lpthread"], check=True)
    return library


# ---- timing -----------------------------------------------------------------

class Timed:
    """One peer on one shape: its graph, its outputs, its samples. call returns
    its output, or a tuple of them; error is of another thing than the problem's
    where the peer does another."""

    def __init__(self, name, call, choice, error=None):
        self.name, self.choice, self.samples = name, choice, []
        self.error = error
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            call()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.call = call  # what it holds is read by the graph
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.out = call()

    def poison(self):
        for out in self.out if isinstance(self.out, tuple) else (self.out,):
            out.fill_(math.nan)

    def checked_error(self, p):
        self.poison()
        self.graph.replay()
        torch.cuda.synchronize()
        error = (self.error or p.error)(self.out)
        if not error <= ERROR_LIMIT:
            raise PeerError(f"wrong result: relative error {error:.2e}")
        return error

    def sample(self, flush):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.poison()
        flush.zero_()
        events[0].record()
        self.graph.replay()
        events[1].record()
        return events


def measure(peers, flush, count, warm_up, rng):
    """Interleaved in random order; samples in us."""
    for number in range(warm_up + count):
        order = rng.sample(peers, len(peers))
        pending = [(peer, peer.sample(flush)) for peer in order]
        torch.cuda.synchronize()
        for peer, (start, end) in pending:
            if number >= warm_up:
                peer.samples.append(1e3 * start.elapsed_time(end))


def median(values):
    ordered, half = sorted(values), len(values) // 2
    if len(values) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def bootstrap(values, rng, rounds=1000):
    """95 % interval of the median."""
    medians = sorted(median(rng.choices(values, k=len(values)))
                     for _ in range(rounds))
    return medians[int(0.025 * rounds)], medians[int(0.975 * rounds) - 1]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def first_line(error):
    """PyTorch's and CUDA's errors have many."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else repr(error)
    return text if len(text) <= 160 else text[:160] + "..."


class Floor:
    """What the protocol itself costs: a graph of one tiny kernel."""

    @staticmethod
    def make():
        out = torch.zeros(1, device="cuda")
        return lambda: out.add_(1), ""


# ---- facts of the machine ---------------------------------------------------

class Clocks:
    """SM and memory clock, power, temperature and what holds the clock down,
    from NVML; empty where there is none."""

    def __init__(self):
        self.lib, self.handle = None, ctypes.c_void_p()
        try:
            lib = ctypes.CDLL("libnvidia-ml.so.1")
            if lib.nvmlInit_v2():
                return
            visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
            index = int(visible) if visible.isdigit() else 0
            if not lib.nvmlDeviceGetHandleByIndex_v2(index,
                                                     ctypes.byref(self.handle)):
                self.lib = lib
        except (OSError, AttributeError):
            pass

    def value(self, kind, function, *arguments):
        out = kind()
        try:
            failed = getattr(self.lib, function)(self.handle, *arguments,
                                                 ctypes.byref(out))
        except AttributeError:
            failed = True
        return None if failed else out.value

    def read(self):
        if not self.lib:
            return {}
        number, wide = ctypes.c_uint, ctypes.c_ulonglong
        power = self.value(number, "nvmlDeviceGetPowerUsage")
        return {"sm_mhz": self.value(number, "nvmlDeviceGetClockInfo", 1),
                "memory_mhz": self.value(number, "nvmlDeviceGetClockInfo", 2),
                "watts": power / 1000 if power is not None else None,
                "celsius": self.value(number, "nvmlDeviceGetTemperature", 0),
                "throttle_reasons": self.value(
                    wide, "nvmlDeviceGetCurrentClocksThrottleReasons")}

    def driver(self):
        text = ctypes.create_string_buffer(96)
        if self.lib and not self.lib.nvmlSystemGetDriverVersion(text, 96):
            return text.value.decode()
        return "unknown"


def cublaslt_version():
    """Of the library that PyTorch has loaded: 130100 is 13.1.0."""
    for number in (13, 12):
        try:
            library = ctypes.CDLL(f"libcublasLt.so.{number}")
            library.cublasLtGetVersion.restype = ctypes.c_size_t
            return library.cublasLtGetVersion()
        except (OSError, AttributeError):
            pass
    return None


def commit():
    """None where there is no git, or no clone: a source archive has neither."""
    command = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              check=False).stdout.strip() or None
    except OSError:
        return None


def machine(clocks):
    properties = torch.cuda.get_device_properties(0)
    now = datetime.datetime.now().astimezone()
    return {"date": now.isoformat("T", "seconds"),
            "card": properties.name, "sms": properties.multi_processor_count,
            "driver": clocks.driver(), "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cublaslt": cublaslt_version(),
            "triton": getattr(triton, "__version__", None),
            "wavesmith": commit(),
            "command": " ".join(sys.argv)}


# ---- the table --------------------------------------------------------------

def print_table(result, out=sys.stdout):
    """A row per shape: medians with half their interval, then ratios to the
    first column."""
    names = result["peers"]
    base = names[0]
    print(f"# us, median +- half the 95 % interval; ratios: {base} / peer, "
          "below 1 it is faster", file=out)
    header = [*result["dims"]] + names + [f"/ {name}" for name in names[1:]]
    print("| " + " | ".join(header) + " |", file=out)
    print("|" + "---|" * len(header), file=out)
    ratios = {name: [] for name in names[1:]}
    for row in result["shapes"]:
        cells = table_cells(row, result["dims"], names, ratios)
        print("| " + " | ".join(cells) + " |", file=out)
    for name in names:
        times = [row["peers"][name]["median"] for row in result["shapes"]
                 if "median" in row["peers"].get(name, {})]
        if times:
            print(f"geometric mean {name}: {geometric_mean(times):.2f} us over "
                  f"{len(times)} of {len(result['shapes'])} shapes", file=out)
    for name, values in ratios.items():
        if values:
            slower = sum(value > 1 for value in values)
            print(f"geometric mean {base} / {name}: "
                  f"{geometric_mean(values):.4f} over {len(values)} shapes, "
                  f"slower on {slower}", file=out)
    print_failures(result, out)


def table_cells(row, dims, names, ratios):
    cells = [str(row[x]) for x in dims]
    for name in names:
        peer = row["peers"].get(name, {})
        cells.append(f"{peer['median']:.2f} +- "
                     f"{(peer['high'] - peer['low']) / 2:.2f}"
                     if "median" in peer else "failed")
    base = row["peers"].get(names[0], {}).get("median")
    for name in names[1:]:
        time = row["peers"].get(name, {}).get("median")
        if base is None or time is None:
            cells.append("-")
            continue
        ratios[name].append(base / time)
        cells.append(f"{base / time:.3f}")
    return cells


def print_failures(result, out):
    for row in result["shapes"]:
        for name, peer in row["peers"].items():
            if "failed" in peer:
                shape = ",".join(str(row[x]) for x in result["dims"])
                print(f"failed: {name} on {shape}: {peer['failed']}", file=out)


# ---- the run ----------------------------------------------------------------

def peer_makers(options, folder):
    """Names, in the order of the columns, to functions of a problem that return
    what Timed is made of, or to a PeerError."""
    makers = {}

    def add(name, create):
        try:
            makers[name] = create()
        except (PeerError, OSError, ValueError, KeyError,
                subprocess.CalledProcessError) as e:
            makers[name] = PeerError(first_line(e))

    if options.dispatch:
        symbol = options.symbol or os.path.basename(options.dispatch)[:-2]
        add("wavesmith", lambda: Dispatch(
            build_library(options.dispatch, folder), symbol).make)
    if options.library:
        add("wavesmith", lambda: Dispatch(options.library, options.symbol).make)
    if options.plan:
        plan = json.loads(read_text(options.plan))
        for name in dict.fromkeys(e.get("name", "wavesmith") for e in plan):
            entries = [e for e in plan if e.get("name", "wavesmith") == name]
            where = os.path.dirname(os.path.abspath(options.plan))
            column = f"{name} (plan)" if name in makers else name
            add(column, lambda e=entries: Plan(e, where).make)
    if options.problem == "gemm_bf16":
        makers["cublas"] = make_cublas
        return makers
    if options.problem == "rmsnorm":
        return {**makers, **rmsnorm_makers()}
    makers["cublaslt"] = make_cublaslt
    if peers_deepgemm.deep_gemm:
        peers_deepgemm.compile_ahead(options.shapes)
        makers["deepgemm"] = peers_deepgemm.make_deepgemm
    for kind in options.triton.split(",") if options.triton else []:
        makers["triton-" + kind] = lambda p, kind=kind: make_triton(p, kind)
    return makers


def run_shape(shape, makers, options, flush, clocks, rng):
    p = PROBLEMS[options.problem](*shape, options.seed)
    row = {**dict(zip(p.dims, p.shape)), "peers": {}}
    ready = []
    for name, maker in makers.items():
        try:
            if isinstance(maker, PeerError):
                raise maker
            peer = Timed(name, *maker(p))
            row["peers"][name] = {"error": peer.checked_error(p),
                                  "choice": peer.choice}
            ready.append(peer)
        except Exception as e:  # one peer's failure is not the others'
            what = f"{type(e).__name__}: {first_line(e)}"
            row["peers"][name] = {"failed": what}
    floor = Timed("floor", *Floor.make())
    measure(ready + [floor], flush, options.samples, options.warm_up, rng)
    row["clocks"] = clocks.read()
    for peer in ready:
        try:
            peer.checked_error(p)
        except PeerError as e:
            row["peers"][peer.name]["failed"] = f"after timing: {e}"
            continue
        row["peers"][peer.name].update(summary(peer.samples, rng))
    row["floor"] = summary(floor.samples, rng)
    return row


def summary(samples, rng):
    low, high = bootstrap(samples, rng)
    return {"median": median(samples), "low": low, "high": high,
            "samples_us": samples}


def run(options):
    rng = random.Random(options.seed)
    clocks = Clocks()
    torch.backends.cuda.matmul.allow_tf32 = False
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        makers = peer_makers(options, folder)
        result = {"machine": machine(clocks), "clocks_before": clocks.read(),
                  "dims": PROBLEMS[options.problem].dims,
                  "peers": list(makers), "samples": options.samples,
                  "flush_bytes": FLUSH_BYTES, "seed": options.seed,
                  "shapes": []}
        for shape in options.shapes:
            row = run_shape(shape, makers, options, flush, clocks, rng)
            result["shapes"].append(row)
            times = ", ".join(
                f"{name} {peer['median']:.2f}" if "median" in peer
                else f"{name} failed" for name, peer in row["peers"].items())
            print(f"# {shape}: {times}", file=sys.stderr, flush=True)
            write(result, options.out)  # a cut-off run keeps what it has
        result["clocks_after"] = clocks.read()
    return result


def dry(options):
    """Made-up times and one failure, through the same statistics and table."""
    rng = random.Random(options.seed)
    names = ["wavesmith", "cublaslt", "triton-tma"]
    result = {"machine": {"card": "none (dry run)"}, "dims": Problem.dims,
              "peers": names, "samples": options.samples, "shapes": []}
    for m, n, k in options.shapes:
        ideal = 4 + 2e-6 * m * n * k / 1500
        row = {"m": m, "n": n, "k": k, "peers": {}, "floor": {"median": 3.8}}
        for place, name in enumerate(names):
            samples = [ideal * (1 + 0.2 * place) * rng.uniform(0.99, 1.01)
                       for _ in range(options.samples)]
            row["peers"][name] = {"error": 1.7e-3, **summary(samples, rng)}
        if n == 576:
            row["peers"]["triton-tma"] = {"failed": "PeerError: made up"}
        result["shapes"].append(row)
    return result


def check_plan(path):
    """All of a plan that needs no card: grids and bytes of each entry."""
    for entry in json.loads(read_text(path)):
        template = Template(os.path.join(ROOT, entry["template"]))
        scope = template.scope(entry.get("set", ""))
        for m, n, k in entry.get("shapes", CONTEST):
            scope.update(m=m, n=n, k=k, cu_count=132)
            broken = [reason for text, reason in template.records("require")
                      if not evaluate(text, scope)]
            lds = sum(evaluate(r[1], scope) for r in template.records("lds"))
            print(f"{entry['template']} {m},{n},{k}: lds {lds}",
                  "; ".join(broken))
            for record in template.records("launch"):
                grid = [evaluate(text, scope) for text in record[1:5]]
                print(f"  {record[0]} grid {grid[:3]} threads {grid[3]} if "
                      f"{evaluate(record[5], scope)}, shared "
                      f"{Plan.uses(template, record[0])}, arguments "
                      f"{' '.join(template.arguments(record[0]))}")
            for record in template.records("tensor_map"):
                values = [evaluate(text, scope) for text in record[3:]]
                print(f"  map {record[0]} of {record[1]} {record[2]} {values}")


def write(result, path):
    if path:
        with open(path, "w", encoding="utf-8") as out:
            json.dump(result, out, indent=1)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--problem", default="fp8_gemm_blockscale",
                        choices=list(PROBLEMS))
    parser.add_argument("--dispatch", help="emitted NAME.c")
    parser.add_argument("--library", help="emitted dispatch as NAME.so")
    parser.add_argument("--symbol", help="of the dispatch (default: NAME)")
    parser.add_argument("--plan", help="JSON file of code objects")
    parser.add_argument("--triton", default="tma,persistent,pointers",
                        help="kernels of Triton; empty: none")
    parser.add_argument("--shapes", default="contest", help="M,N,K;M,N,K;... (default: the contest's)")
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="JSON file of all samples")
    parser.add_argument("--dry", action="store_true")
    options = parser.parse_args(arguments)
    options.shapes = CONTEST if options.shapes == "contest" else [
        tuple(map(int, shape.split(",")))
        for shape in filter(None, options.shapes.split(";"))]
    if options.library and not options.symbol:
        parser.error("--library needs --symbol")
    return options


def main():
    options = parse(sys.argv[1:])
    if options.dry and options.plan:
        check_plan(options.plan)
    if options.dry:
        result = dry(options)
    elif torch is None or not torch.cuda.is_available():
        print("peers_h200: needs torch and a CUDA card (or --dry)",
              file=sys.stderr)
        return 3
    else:
        result = run(options)
    write(result, options.out)
    for name, value in result["machine"].items():
        print(f"# {name}: {value}")
    for when in ("clocks_before", "clocks_after"):
        if when in result:
            print(f"# {when}: {result[when]}")
    floors = [row["floor"]["median"] for row in result["shapes"]]
    print(f"# floor of a graph of one tiny kernel: {median(floors):.2f} us")
    print_table(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
