# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Templates in MLIR for sm_90a, run on the CPU.

sm_90a has no IR sanitizer: a card judges what its kernels compute. Here the
kernels of this repository are lowered by wavesmith's own passes in mlir-opt, to
LLVM IR whose NVVM intrinsics become calls of emulate.c, and run against fp64;
mutants of them have to be found, at their place where a place is known.

    python3 host.py SOURCE BUILD WORK [CC]

Exit code 77: mlir-opt, llc or WavesmithMLIR.so is not there.
"""
import os
import re
import shutil
import subprocess
import sys

TOOLS = "/usr/lib/llvm-21/bin"
SOURCE, BUILD, WORK = (os.path.abspath(path) for path in sys.argv[1:4])
CC = sys.argv[4] if len(sys.argv) > 4 else "cc"
HERE = os.path.join(SOURCE, "tests/sm90a_host")
PLUGIN = os.path.join(BUILD, "libexec/wavesmith/WavesmithMLIR.so")

# What stands in for an intrinsic: a function of emulate.c, or IR below.
MODELS = {
    "read.ptx.sreg.tid.x": "emulate_thread",
    "read.ptx.sreg.ctaid.x": "emulate_block",
    "barrier.cta.sync.aligned.all": "model.barrier",
    "cp.async.commit.group": "emulate_commit",
    "cp.async.wait.group": "emulate_wait",
    "cp.async.cg.shared.global.16.s": "model.copy",
    "ldmatrix.sync.aligned.m8n8.x4.b16.p3": "model.ldmatrix",
    "mma.m16n8k16.row.col.bf16": "model.mma",
    "shfl.sync.bfly.f32": "model.shuffle",
}
LIBRARY = {"__nv_fmaf": "fmaf", "__nv_sqrtf": "sqrtf", "__nv_rsqrtf": "emulate_rsqrt"}


def fields(types):
    """Stores of the arguments to words of a record, and pointers to them."""
    return "".join(
        f"  %at{i} = getelementptr i32, ptr %record, i64 {i}\n  store {t} %x{i}, ptr %at{i}\n"
        for i, t in enumerate(types))


MMA = ["i32"] * 6 + ["float"] * 4
PRELUDE = f"""
declare i32 @emulate_thread()
declare i32 @emulate_block()
declare void @emulate_barrier()
declare void @emulate_commit()
declare void @emulate_wait(i32)
declare void @emulate_copy(ptr, ptr, i32, i32)
declare void @emulate_together(ptr, ptr)
declare void @emulate_ldmatrix(ptr)
declare void @emulate_mma(ptr)
declare void @emulate_shuffle(ptr)
define internal void @model.barrier(i32 %id) alwaysinline {{
  call void @emulate_barrier()
  ret void
}}
define internal void @model.copy(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 %read) alwaysinline {{
  %a = addrspacecast ptr addrspace(3) %to to ptr
  %b = addrspacecast ptr addrspace(1) %from to ptr
  call void @emulate_copy(ptr %a, ptr %b, i32 16, i32 %read)
  ret void
}}
define internal {{ i32, i32, i32, i32 }} @model.ldmatrix(ptr addrspace(3) %from) alwaysinline {{
  %record = alloca {{ ptr, [4 x i32] }}
  %a = addrspacecast ptr addrspace(3) %from to ptr
  store ptr %a, ptr %record
  call void @emulate_together(ptr @emulate_ldmatrix, ptr %record)
  %at = getelementptr i8, ptr %record, i64 8
  %result = load {{ i32, i32, i32, i32 }}, ptr %at
  ret {{ i32, i32, i32, i32 }} %result
}}
define internal {{ float, float, float, float }} @model.mma({", ".join(f"{t} %x{i}" for i, t in enumerate(MMA))}) alwaysinline {{
  %record = alloca [10 x i32]
{fields(MMA)}  call void @emulate_together(ptr @emulate_mma, ptr %record)
  %result = load {{ float, float, float, float }}, ptr %at6
  ret {{ float, float, float, float }} %result
}}
define internal float @model.shuffle(i32 %mask, float %x0, i32 %x1, i32 %clamp) alwaysinline {{
  %record = alloca [2 x i32]
{fields(["float", "i32"])}  call void @emulate_together(ptr @emulate_shuffle, ptr %record)
  %result = load float, ptr %record
  ret float %result
}}
"""


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr[:2000]}")
    return done.stdout


def tool(name):
    return os.path.join(TOOLS, name)


def lower(path, values):
    """The template's LLVM IR as the target has it, with places."""
    text = run(tool("mlir-opt"), f"--load-pass-plugin={PLUGIN}", "--mlir-print-debuginfo",
               "--pass-pipeline=builtin.module(wavesmith-lower-to-llvm{set=\"%s\"})" % values, path)
    text = run(tool("mlir-opt"), "--mlir-print-debuginfo", "--pass-pipeline=builtin.module("
               "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly})", text=text)
    return run(tool("mlir-translate"), "--mlir-to-llvmir", text=text)


def retarget(ir):
    """The same for this machine."""
    ir = re.sub(r"(?m)^target .*$", "", ir)
    ir = re.sub(r"(?m)^declare .*@llvm\.nvvm\..*$", "", ir)
    ir = re.sub(r"@llvm\.nvvm\.([\w.]+)\(", lambda m: f"@{MODELS[m[1]]}(", ir)
    for name, own in LIBRARY.items():
        ir = ir.replace(f"@{name}(", f"@{own}(")
    ir = re.sub(r"define ptx_kernel void @\w+\(", "define void @kernel(", ir)
    shared = re.search(r"(?m)^@(\w+) = private addrspace\(3\) global .*$", ir)
    if shared:
        ir = ir.replace(shared[0], "@emulate_shared = external addrspace(3) global [0 x i8]")
        ir = re.sub(rf"@{shared[1]}\b", "@emulate_shared", ir)
    return f'target triple = "{os.uname().machine}-pc-linux-gnu"\n{ir}{PRELUDE}'


def build(name, template, values):
    """The program of a template's kernel."""
    at = os.path.join(WORK, name)
    with open(at + ".ll", "w") as file:
        file.write(retarget(lower(template, values)))
    run(tool("opt"), "-O1", at + ".ll", "-o", at + ".bc")
    run(tool("llc"), "-O1", "-relocation-model=static", "-filetype=obj", at + ".bc", "-o", at + ".o")
    run(CC, "-std=c11", "-O2", "-no-pie", os.path.join(HERE, name + ".c"), os.path.join(HERE, "emulate.c"), at + ".o", "-o", at, "-lm")
    return at


def place(program, words):
    """FILE:LINE:COLUMN of the first address that is the template's."""
    for address in words:
        out = run(tool("llvm-symbolizer"), f"--obj={program}", "-s", "--functions=none", address)
        if ".mlir:" in out:
            return out.split()[0]
    return ""


def verdict(program, arguments):
    """"right", "wrong: ..." or "fault: ... at FILE:LINE:COLUMN"."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    lines = done.stdout.split("\n")
    if not lines[0].startswith("fault"):
        return lines[0]
    return f"{lines[0]} at {place(program, lines[1].split()[1:])}"


class Kernel:
    def __init__(self, name, template, defaults, launch):
        self.name, self.defaults, self.launch = name, defaults, launch
        self.template = os.path.join(SOURCE, "kernels", name, template)

    def judge(self, template, values, shape):
        program = build(self.name, template, values)
        own = dict(self.defaults)
        own.update((key, int(value)) for key, value in (part.split("=") for part in values.split(";")))
        return verdict(program, [*self.launch(own, shape), *shape])

    def point(self, values, *shapes):
        for shape in shapes:
            got = self.judge(self.template, values, shape)
            report(got == "right", f"{self.name} {values} {shape}", got)

    def mutant(self, change, want, line=None, values=None, shape=None):
        """One replacement; line: a text of the line that is blamed."""
        with open(self.template) as file:
            text = file.read()
        if change[0] not in text:
            raise SystemExit(f"no mutant: {change[0]}")
        text = text.replace(*change, 1)
        path = os.path.join(WORK, "mutant.mlir")
        with open(path, "w") as file:
            file.write(text)
        got = self.judge(path, values or self.small[0], shape or self.small[1])
        if line:
            number = [n for n, own in enumerate(text.split("\n"), 1) if line in own][0]
            want = rf"{want}.* at mutant\.mlir:{number}:\d+$"
        report(re.match(want, got), f"{self.name} mutant: {change[1]}", got)


FAILURES = []


def report(ok, what, got):
    print(f"{'ok  ' if ok else 'FAIL'} {what}: {got}", flush=True)
    if not ok:
        FAILURES.append(what)


def up(a, b):
    return -(-a // b)


def gemm_launch(v, shape):
    stage = (v["tile_m"] + v["tile_n"]) * (2 * v["tile_k"] + v["pad"])
    return (up(shape[0], v["tile_m"]) * up(shape[1], v["tile_n"]), 32 * v["warps_m"] * v["warps_n"],
            v["stages"] * stage)


GEMM = Kernel("gemm_bf16", "mma_sync.mlir",
              {"tile_m": 128, "tile_n": 128, "tile_k": 32, "warps_m": 2, "warps_n": 2, "stages": 4, "pad": 0},
              gemm_launch)
GEMM.small = "tile_m=32;tile_n=64;stages=3", (40, 72, 104)
RMSNORM = Kernel("rmsnorm", "sm90a.mlir", {"threads": 256, "group_rows": 1},
                 lambda v, shape: (up(shape[0], v["group_rows"]), v["threads"] * v["group_rows"], 128))
RMSNORM.small = "threads=64;group_rows=2;keep=1", (5, 1000)


def check_gemm():
    GEMM.point("tile_m=32;tile_n=64", (8, 8, 8), (40, 72, 104))
    GEMM.point("tile_m=64;tile_n=32;tile_k=64;warps_m=4;warps_n=1;stages=2;pad=16", (136, 40, 200))
    GEMM.point("tile_m=16;tile_n=256;tile_k=16;warps_m=1;warps_n=8;group_m=1", (24, 264, 88))
    GEMM.point("tile_m=128;tile_n=128;tile_k=128;stages=2;cut_k=0", (136, 136, 256))
    read = "nvgpu.ldmatrix"
    copy = "nvgpu.device_async_copy"
    GEMM.mutant(("    gpu.barrier\n", "\n"), "fault: read of another lane's copy without a barrier", read)
    GEMM.mutant(('"stages - 2"', '"stages - 1"'), "fault: read before its copy was waited for", read)
    GEMM.mutant(('wavesmith.value = "stages - 1"', 'wavesmith.value = "stages"'), "fault: outside of shared memory",
                copy)
    GEMM.mutant(("scf.yield %turned, %read", "scf.yield %turned, %turned"), "fault: ", read)
    GEMM.mutant(("iter_args(%read = %c0", "iter_args(%read = %c1"), "fault: read before its copy", read)
    GEMM.mutant(("%kept = arith.andi %key", "%kept = arith.ori %key"), "fault: two copies to one place", copy)
    GEMM.mutant(("chunk * 4)>", "chunk * 2)>"), "fault: (misaligned|two copies)", copy)
    GEMM.mutant(("arith.cmpi ult, %along, %k", "arith.cmpi ule, %along, %k"), "fault: outside of a buffer", copy)
    GEMM.mutant(("(row, x - 1 - origin)", "(row, x - origin)"), "fault: outside of a buffer", copy)
    GEMM.mutant(("slt, %right, %columns", "sle, %right, %columns"), "fault: outside of a buffer",
                "memref.store %rounded")
    GEMM.mutant(("lane mod 8 + down * 8", "lane mod 8 + down * 4"), "wrong: ")
    GEMM.mutant(("C[%s0, %s1, %s2, %s3]", "C[%s0, %s1, %s3, %s2]"), "wrong: ")
    GEMM.mutant(("@multiply(%a, %b2, %b3", "@multiply(%a, %b2, %b1"), "wrong: ")
    GEMM.mutant(("%own.chunk = arith.addi %chunk, %along", "%own.chunk = arith.addi %chunk, %down"), "wrong: ")


def check_rmsnorm():
    RMSNORM.point("threads=64;group_rows=2;keep=1", (5, 1000), (3, 8))
    RMSNORM.point("threads=32;group_rows=4;early=0", (5, 520))
    RMSNORM.point("threads=256;keep=3", (2, 4104), (1, 8192))
    RMSNORM.mutant(("    gpu.barrier\n", "\n"), "wrong: ")
    RMSNORM.mutant(("warp floordiv n * n + lane mod n", "lane mod n"), "wrong: ")
    RMSNORM.mutant(("arith.constant 16 : i32", "arith.constant 8 : i32"), "wrong: ")
    RMSNORM.mutant(("ult, %number, %vectors : i32\n    %at", "ule, %number, %vectors : i32\n    %at"),
                   "fault: outside of a buffer", "memref.store %rounded, %sum.row",
                   "threads=64;group_rows=2;keep=2")


def main():
    missing = [name for name in map(tool, ("mlir-opt", "mlir-translate", "opt", "llc", "llvm-symbolizer"))
               if not shutil.which(name)] + [PLUGIN] * (not os.path.exists(PLUGIN))
    if missing or os.uname().machine != "x86_64":
        print(f"skipped: no {missing or 'x86_64'}")
        raise SystemExit(77)
    os.makedirs(WORK, exist_ok=True)
    check_gemm()
    check_rmsnorm()
    raise SystemExit(bool(FAILURES))


main()
