# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Templates for sm_90a on the CPU: each point is turned into a library whose
intrinsics are functions of host_sm90a.c, run on shapes with cut tiles, and
compared with the fp64 reference. Then mutants, wrong in one line each, which
must be found.

  host_sm90a.py HOST LLVM_TOOLS        (the built host_sm90a; where opt is)
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "bench"))
from peers_plan import ROOT, Plan, Template, evaluate, read_text  # noqa: E402
from host_kernel import (HARD, at_point, compile_library,  # noqa: E402
                         replace_all)

NAIVE, MMA = "fp8_gemm_naive_sm90a", "fp8_gemm_mma_sync"

# Template, parameters, variants, shapes: several tiles, cut both ways; slices
# without work; fewer blocks of k than stages.
POINTS = [
    (NAIVE, "", "", "16,16,128 48,80,256 1,16,128 17,48,256"),
    (NAIVE, "threads=64", "decode=decode_integer dot=dot_wide", "32,272,256"),
    (MMA, "", "", "16,16,128 144,272,384"),
    (MMA, "tile_m=64;tile_n=96;warps_m=2;slice_n=48;stages=3", "",
     "80,208,256 64,288,128"),
    (MMA, "tile_m=32;tile_n=192;warps_m=1;warps_n=4;slice_n=16;unroll_k=2;"
     "stages=2", "scale=scale_columns store_c=store_c_pairs",
     "48,400,384 16,208,128"),
    (MMA, "tile_m=32;tile_n=256;warps_m=2;warps_n=4;slice_n=64;tile_k=64;"
     "unroll_k=2;stages=6", "mma=mma_stationary", "80,272,640 16,528,128"),
    (MMA, "tile_m=16;tile_n=64;warps_m=1;unroll_k=4;stages=8;split_k=4",
     "copy=copy_long place=place_rotated store_c=store_c_pairs",
     "48,80,384 16,144,1024"),
    (MMA, "tile_m=32;tile_n=32;warps_m=2;warps_n=1;slice_n=16;split_k=2;"
     "group_m=2;stages=5", "tile_order=tile_order_snake copy=copy_through_l1",
     "112,80,128 48,208,128"),
    (MMA, "tile_m=32;tile_n=32;warps_m=2;slice_n=16;group_m=4;tile_k=64",
     "tile_order=tile_order_columns place=place_rotated",
     "112,80,256 304,48,128"),
    # every m: a tile's last 16 rows are cut
    (MMA, "tile_m=16;tile_n=32;warps_m=1;slice_n=16;stages=3", "",
     "1,48,256 2,16,128 5,80,384 15,16,128 17,48,128 63,16,128 65,32,128"),
    (MMA, "tile_m=64;tile_n=32;slice_n=16;stages=2",
     "store_c=store_c_pairs", "1,48,128 3,16,128 100,48,128 129,16,128"),
    (MMA, "tile_m=32;tile_n=32;warps_m=2;slice_n=16;split_k=2;stages=3", "",
     "1,48,256 13,16,384 127,16,256"),
]

# Points (by number) that must find it, what is replaced, by what.
MUTANTS = [
    (1, "%scale.column = lshr i64 %column64, 7",
     "%scale.column = lshr i64 %column64, 8"),
    (2, "%pending = sub i32 %stages, 2", "%pending = sub i32 %stages, 1"),
    (2, "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) ; barrier",
     "; barrier"),
    (2, "call i32 @llvm.umin.i32(i32 %row, i32 %last)", "add i32 %row, 0"),
    (3, "%write = icmp ult i32 %block.column, %n",
     "%write = icmp ule i32 %block.column, %n"),
    (2, "%k.b = urem i32 %k.b.0, 2", "%k.b = add i32 0, 0"),
    (3, "%s.1 = add i32 %column.block, %s.0",
     "%s.1 = add i32 %column.block, 0"),
    (3, "%block.column.2 = select i1 %aligned.2, i32 %warp.column, i32 "
     "%block.column.1", "%block.column.2 = add i32 0, 0"),
    (5, "%ends = icmp eq i32 %sub.next, %substeps",
     "%ends = icmp eq i32 %sub.next, 1"),
    (6, "%total.next = fadd <4 x float> %total, %part",
     "%total.next = fsub <4 x float> %total, %part"),
    (4, "%taken = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %given, "
     "i32 1", "%taken = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 "
     "%given, i32 2"),
    (9, "%both = icmp ult i32 %lower.row, %m",
     "%both = icmp ule i32 %lower.row, %m"),
    (9, "%lines = icmp ult i32 %upper.row, %m",
     "%lines = icmp ult i32 %row, %m"),
    (10, "%h.inside = icmp ult i32 %h.row, %m",
     "%h.inside = icmp ule i32 %h.row, %m"),
]

# Intrinsics and assembly, and the functions of host_sm90a.c in their place.
CALLS = [
    (r"@llvm\.nvvm\.read\.ptx\.sreg\.tid\.x", "@nv_tid"),
    (r"@llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.x", "@nv_ctaid_x"),
    (r"@llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.y", "@nv_ctaid_y"),
    (r"@llvm\.nvvm\.barrier\.cta\.sync\.aligned\.all", "@nv_barrier"),
    (r"@llvm\.nvvm\.cp\.async\.c[ag]\.shared\.global\.16", "@nv_copy_16"),
    (r"@llvm\.nvvm\.cp\.async\.ca\.shared\.global\.4", "@nv_copy_4"),
    (r"@llvm\.nvvm\.cp\.async\.commit\.group", "@nv_commit"),
    (r"@llvm\.nvvm\.shfl\.sync\.bfly\.i32", "@nv_shuffle"),
    (r"@llvm\.nvvm\.ldmatrix\.sync\.aligned\.m8n8\.x4\.b16\.p3", "@ldmatrix"),
    (r'asm sideeffect "cp\.async\.cg[^"]*", "[^"]*"', "@nv_copy_16"),
    (r'asm sideeffect "cp\.async\.wait_group[^"]*", "[^"]*"', "@nv_wait"),
    (r'asm "mma\.sync[^"]*", "[^"]*"', "@mma_sync"),
    (r"%(\S+) = call <2 x bfloat> @llvm\.nvvm\.ff2bf16x2\.rn\((.*)\)\n"
     r"  %(\S+) = bitcast <2 x bfloat> %\1 to i32",
     r"%\3 = call i32 @nv_pack(\2)"),
    (r"call <2 x half> @llvm\.nvvm\.e4m3x2\.to\.f16x2\.rn\(i16 %pair\)\n"
     r"  %half = extractelement <2 x half> %halves, i32 0\n"
     r"  %value = fpext half %half to float",
     "add i32 0, 0\n  %value = call float @nv_decode(i16 %pair)"),
    (r"%(\S+) = fptrunc float %(\S+) to bfloat",
     r"%\1.both = call i32 @nv_pack(float 0.0, float %\2)\n"
     r"  %\1 = trunc i32 %\1.both to i16"),
    (r"store bfloat %", "store i16 %"),
    (r"@llvm\.nvvm\.rsqrt\.approx\.f", "@nv_inverse_root"),
    (r'asm "ld\.global\.nc[^"]*", "[^"]*"', "@load_16"),
    (r'asm sideeffect "st\.global\.cs\.v4[^"]*", "[^"]*"', "@store_16"),
    (r"(define ptx_kernel .*)float %eps\) \{\nentry:\n",
     "\\1i32 %eps.bits) {\nentry:\n"
     "  %eps = bitcast i32 %eps.bits to float\n"),
]

WRAPPERS = """
declare i32 @nv_tid()
declare i32 @nv_ctaid_x()
declare i32 @nv_ctaid_y()
declare void @nv_barrier(i32)
declare void @nv_copy_16(ptr addrspace(3), ptr addrspace(1))
declare void @nv_copy_4(ptr addrspace(3), ptr addrspace(1))
declare void @nv_commit()
declare void @nv_wait(i32)
declare i32 @nv_shuffle(i32, i32, i32, i32)
declare i32 @nv_pack(float, float)
declare float @nv_decode(i16)
declare void @nv_ldmatrix(ptr addrspace(3), ptr)
declare void @nv_mma(ptr, ptr)
declare float @llvm.sqrt.f32(float)

define internal { i32, i32, i32, i32 } @ldmatrix(ptr addrspace(3) %at) {
  %out = alloca { i32, i32, i32, i32 }
  call void @nv_ldmatrix(ptr addrspace(3) %at, ptr %out)
  %value = load { i32, i32, i32, i32 }, ptr %out
  ret { i32, i32, i32, i32 } %value
}

define internal float @nv_inverse_root(float %value) {
  %root = call float @llvm.sqrt.f32(float %value)
  %result = fdiv float 1.0, %root
  ret float %result
}

define internal { i32, i32, i32, i32 } @load_16(ptr addrspace(1) %from) {
  %value = load { i32, i32, i32, i32 }, ptr addrspace(1) %from, align 16
  ret { i32, i32, i32, i32 } %value
}

define internal void @store_16(ptr addrspace(1) %to, i32 %v0, i32 %v1, i32 %v2, i32 %v3) {
  %o0 = insertelement <4 x i32> poison, i32 %v0, i32 0
  %o1 = insertelement <4 x i32> %o0, i32 %v1, i32 1
  %o2 = insertelement <4 x i32> %o1, i32 %v2, i32 2
  %o3 = insertelement <4 x i32> %o2, i32 %v3, i32 3
  store <4 x i32> %o3, ptr addrspace(1) %to, align 16
  ret void
}

define internal { float, float, float, float } @mma_sync(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3) {
  %in = alloca [6 x i32], i32 2
  %out = alloca { float, float, float, float }
STORES
  call void @nv_mma(ptr %in, ptr %out)
  %value = load { float, float, float, float }, ptr %out
  ret { float, float, float, float } %value
}
""".replace("STORES", "\n".join(
    f"  %at{i} = getelementptr i32, ptr %in, i32 {i}\n"
    f"  store {kind} %{name}, ptr %at{i}"
    for i, (kind, name) in enumerate(
        [("i32", x) for x in ("a0", "a1", "a2", "a3", "b0", "b1")] +
        [("float", x) for x in ("c0", "c1", "c2", "c3")])))


def host_ir(text, scope, variants):
    """The template at a point, for the CPU."""
    text = at_point(text, scope, variants)
    text = re.sub(r"(?m)^(target |!wavesmith|declare .*@llvm\.(nvvm|sqrt)).*\n",
                  "", text)
    text = replace_all(text, CALLS)
    text = text.replace("define ptx_kernel", "define")
    text = text.replace("@ws.lds", "@ws_lds").replace(" addrspace(4)", "")
    return text + WRAPPERS


DIMENSIONS = {"rmsnorm": ("rows", "cols")}  # else m, n, k


class Host:
    def __init__(self, program, tools, folder):
        self.program, self.tools, self.folder = program, tools, folder

    def build(self, text, scope, variants):
        return compile_library(self.tools, self.folder,
                               host_ir(text, scope, variants), "-O2")

    def run(self, template, library, values, shape, order, when, seed):
        problem = problem_of(template)
        sizes = zip(DIMENSIONS.get(problem, "mnk"), shape.split(","))
        scope = {**values, **{name: int(size) for name, size in sizes},
                 "cu_count": 132}
        workspace = sum(evaluate(record[0], scope)
                        for record in template.records("workspace"))
        lds = sum(evaluate(record[1], scope)
                  for record in template.records("lds"))
        words = [self.program, problem, library, shape, seed, order, when,
                 workspace]
        for kernel, *extents in template.records("launch"):
            grid_x, grid_y, _, threads, wanted = [
                evaluate(text, scope) for text in extents]
            if wanted:
                shared = lds if Plan.uses(template, kernel) else 0
                words += [kernel, grid_x, grid_y, threads, shared,
                          ",".join(template.arguments(kernel))]
        done = subprocess.run(list(map(str, words)), capture_output=True,
                              text=True, timeout=300, check=False)
        return done.returncode, (done.stdout + done.stderr).strip()


def problem_of(template):
    return next(template.records("template"))[2]


def template_of(name):
    return Template(os.path.join(ROOT, "ir-templates", name + ".ll"))


def run_point(host, point, text=None):
    """None, or what is wrong on the first shape with a fault."""
    name, assignments, variants, shapes = point
    template = template_of(name)
    values = template.scope(assignments)
    for condition, reason in template.records("require"):
        if not re.search(r"\b([mnk]|rows|cols)\b", condition):
            if not evaluate(condition, values):
                raise ValueError(f"{assignments}: {reason}")
    library = host.build(text or template.text, values, variants)
    for i, shape in enumerate(shapes.split()):
        for order, when in ((0, "late"), (1, "late"), (2, "early")):
            seed = 7 + i + order + (HARD if (i + order) % 2 else 0)
            code, said = host.run(template, library, values, shape, order, when,
                                  seed)
            if code:
                return f"{shape} order {order} {when}: {said}"
            if "conflicts 0" not in said and "rotated" not in variants:
                return f"{shape}: {said}"
    return None


def run_all(points, mutants):
    program, tools = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        host = Host(program, tools, folder)
        for number, point in enumerate(points):
            fault = run_point(host, point)
            failed += fault is not None
            print("not ok" if fault else "ok", "point", number, *point[:3],
                  fault or "", flush=True)
        for number, before, after in mutants:
            text = template_of(points[number][0]).text
            if text.count(before) < 1:
                fault = None
                print(f"# the template lacks '{before}'")
            else:
                fault = run_point(host, points[number],
                                  text.replace(before, after, 1))
            failed += fault is None
            print("ok" if fault else "not ok", "mutant", after, "-", fault,
                  flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(run_all(POINTS, MUTANTS))
