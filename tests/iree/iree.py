#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavesmith iree` on the shipped archives.

The specs' fields are held against the archives' own JSON, which this file reads
by itself. MLIR's transform interpreter runs each spec on the products that it
is for, with the two matchers that only IREE has put into MLIR's words (`in_mlir`).
Where iree-compile is (WAVESMITH_IREE_COMPILE, or on the path) it does all of it.
    iree.py WAVESMITH SOURCES [MLIR_OPT]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

wavesmith, source = sys.argv[1], pathlib.Path(sys.argv[2])
mlir_opt = sys.argv[3] if len(sys.argv) > 3 and os.path.exists(sys.argv[3]) else None
iree_compile = os.environ.get("WAVESMITH_IREE_COMPILE") or shutil.which("iree-compile")
SIM = "sim:gfx942-model-5:MI300X"

# Elements, whether a kernel without split k takes every shape, and what lies where by the
# problems' definitions: sizes of a and b.
ARCHIVES = [
    ("fp8_gemm_blockscale", "kmajor", "f8E4M3FNUZ", True, lambda m, n, k: ((m, k), (n, k))),
    ("fp8_gemm_blockscale", "mnmajor", "f8E4M3FNUZ", True, lambda m, n, k: ((k, m), (k, n))),
    ("gemm_bf16", "kmajor", "bf16", False, lambda m, n, k: ((m, k), (n, k))),
]


def run(*words, code=0):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    assert done.returncode == code, f"exit {done.returncode}, want {code}: {words}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


class Archive:
    def __init__(self, problem, layout):
        self.folder = source / "kernels" / problem / "tuned" / "gfx942" / layout
        self.template = "".join(p.read_text() for p in (self.folder / "templates").glob("*.ll"))
        self.values, self.variants = {}, {}  # by id
        self.times, self.estimates = {}, {}  # by shape, then id
        for path in (self.folder / "candidates").glob("*.json"):
            candidate = json.loads(path.read_text())
            name = candidate["id"]
            assert candidate["verdict"] == "ok" and not candidate["bodies"]
            self.variants[name] = candidate["variants"]
            self.values[name] = {key: int(value) for key, value in (
                word.split("=") for word in candidate["assignments"].split(";"))}
            for one in candidate["measurements"]:
                shape = tuple(one["shape"][dim] for dim in "mnk")
                times = self.times if one["provenance"] == SIM else self.estimates
                times.setdefault(shape, {})[name] = one["us"]

    def whole(self, name):
        """No split k: what has a counterpart."""
        return self.values[name]["split_k"] == 1

    def spec(self, shapes, path, *options):
        text = ";".join(",".join(map(str, shape)) for shape in shapes)
        out = run(wavesmith, "iree", self.folder, text, "--out", path, "--json", *options)
        return json.loads(out), pathlib.Path(path).read_text()


# ---- the fields ----------------------------------------------------------------

def numbers(text, field):
    found = re.search(rf"\b{field} = \[([\d, ]*)\]", text)
    return [int(word) for word in found[1].split(",")] if found else None


def check_fields(archive, shape, name, text):
    v, (m, n, k) = archive.values[name], shape
    kind = re.search(r"#iree_gpu\.mma_layout<MFMA_F32_(\d+)x(\d+)x(\d+)_(\w+)>", text)
    rows, columns, depth = map(int, kind.groups()[:3])
    assert rows == columns == v["mfma"]
    # the instruction that the template itself is written in
    assert f"mfma.f32.{rows}x{columns}x{depth}" in archive.template, kind[0]
    assert numbers(text, "workgroup") == [v["tile_m"], v["tile_n"], 0]
    per_wave = numbers(text, "subgroup")
    assert per_wave[0] * v["waves_m"] * rows == v["tile_m"] and per_wave[2] == 0
    assert per_wave[1] * v["waves_n"] * columns == v["tile_n"]
    reduction = numbers(text, "reduction")
    assert reduction[:2] == [0, 0] and reduction[2] * depth == v["tile_k"]
    assert numbers(text, "workgroup_size") == [64 * v["waves_m"] * v["waves_n"], 1, 1]
    assert f"prefetch_num_stages = {v['prefetch'] + 1}>" in text
    tile = [v["tile_m"], v["tile_n"], v["tile_k"]]
    whole = all(size % part == 0 for size, part in zip(shape, tile))
    assert numbers(text, "padding") == (None if whole else tile), (shape, tile)
    assert numbers(text, "promote_operands") == [0, 1]
    held = {"layout", "tile_m", "tile_n", "tile_k", "waves_m", "waves_n", "mfma", "prefetch", "split_k"}
    rest = [f"{key}={value}" for key, value in v.items() if key not in held]
    rest += filter(None, archive.variants[name].split(";"))
    assert f"// Not carried over: {' '.join(rest)}\n" in text
    for dim, size in zip("mnk", shape):
        assert f"dims_equal %{dim}, [{size}] " in text
    return kind[4]


def matchers(text):
    """The text of each matcher with its comments, by shape."""
    parts = re.split(r"\n(?=// m=)", text.split("transform.named_sequence @__kernel_config")[0])[1:]
    return {tuple(map(int, re.match(r"// m=(\d+),n=(\d+),k=(\d+)", part).groups())): part for part in parts}


def check_archive(archive, element, universal, work):
    """-> the spec's text and its shapes: many that were timed, and some that were not."""
    timed = sorted(s for s, times in archive.times.items() if any(map(archive.whole, times)))
    split = sorted(s for s in archive.times if s not in timed)
    other = [(1000, 1600, 2176), min(set(archive.estimates) - set(archive.times), default=(72, 496, 1280))]
    shapes = timed[::max(1, len(timed) // 40)] + (split[:2] + other if universal else [])
    said, text = archive.spec(shapes, work / "spec.mlir")
    assert said["with_counterpart"] == sum(map(archive.whole, archive.values)) < said["kernels"]
    parts = matchers(text)
    assert list(parts) == shapes == [
        tuple(int(w.split("=")[1]) for w in one["shape"].split(",")) for one in said["shapes"]]
    for shape, one in zip(shapes, said["shapes"]):
        name, times = one["candidate"], archive.times.get(shape, {})
        assert archive.whole(name)
        assert one["timed"] == (shape in timed) and one["provenance"] == SIM
        if one["timed"]:
            best = min(us for other, us in times.items() if archive.whole(other))
            assert times[name] == one["us"] == best, (shape, name, best)
            assert times[one["fastest"]] == one["fastest_us"] == min(times.values())
            assert ("has no counterpart in IREE" in parts[shape]) == (one["fastest"] != name)
        else:
            assert "not timed there: the dispatch chose it" in parts[shape]
        assert f"candidate {name[:8]} of" in parts[shape]
        suffix = check_fields(archive, shape, name, parts[shape])
        assert suffix.lower() == element.lower()
    return shapes, text


# ---- in MLIR -------------------------------------------------------------------

CONTRACTION = re.compile(
    r"  %batch, %m, %n, %k = transform\.iree\.match\.contraction %op,\n"
    r"    lhs_type = (\w+), rhs_type = (\w+), output_type = (\w+),\n"
    r"    indexing_maps = (\[(?:[^\]]|\n)*\])\n"
    r"    : !transform\.any_op -> !transform\.param<i64>\n"
    r"((?:  transform\.iree\.match\.dims_equal %\w+, \[\d*\] : !transform\.param<i64>\n){4})")


def in_mlir(text):
    """IREE's two matchers as MLIR's: sizes of the three loops, nothing of types and maps."""
    def put(match):
        sizes = dict(re.findall(r"%(\w+), \[(\d*)\]", match[5]))
        assert sizes.pop("batch") == ""
        lines = ["%same = transform.match.structured failures(propagate) %op : "
                 "(!transform.any_op) -> !transform.any_op {", "^bb0(%s: !transform.any_op):"]
        for i, dim in enumerate("mnk"):
            lines += [f"%size_{dim} = transform.match.structured.dim %s[{i}] : "
                      "(!transform.any_op) -> !transform.param<i64>",
                      f"%want_{dim} = transform.param.constant {sizes[dim]} : i64 -> !transform.param<i64>",
                      f"transform.match.param.cmpi eq %size_{dim}, %want_{dim} : !transform.param<i64>"]
        return "\n".join(lines + ["transform.match.structured.yield %s : !transform.any_op", "}", ""])
    text, count = CONTRACTION.subn(put, text)
    assert count == len(matchers(text)) and "transform.iree." not in text
    return text


def product(number, shape, types, maps, lies):
    """A function with the product, its types and maps from the spec, its sizes from the problem."""
    m, n, k = shape
    lhs, rhs = lies(m, n, k)
    a, b, c = (f"tensor<{x}x{y}x{t}>" for (x, y), t in zip((lhs, rhs, (m, n)), types))
    return (f"func.func @product_{number}(%a: {a}, %b: {b}) -> {c} {{\n"
            f"  %zero = arith.constant 0.0 : f32\n  %empty = tensor.empty() : {c}\n"
            f"  %c = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}\n"
            f"  %d = linalg.matmul indexing_maps = {maps}\n"
            f"    ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}\n  return %d : {c}\n}}\n")


def payload(text, shapes, element, lies):
    every = CONTRACTION.findall(text)
    assert len(every) == len(shapes)
    parts = []
    for number, (shape, (lhs, rhs, result, maps, _)) in enumerate(zip(shapes, every)):
        assert (lhs, rhs, result) == (element, element, "f32")
        parts.append(product(number, shape, (lhs, rhs, result), maps, lies))
    parts.append(product(len(shapes), (144, 272, 512), every[0][:3], every[0][3], lies))  # matched by none
    return "".join(parts)


def check_in_mlir(shapes, text, element, lies, work):
    (work / "library.mlir").write_text(in_mlir(text))
    (work / "payload.mlir").write_text(payload(text, shapes, element, lies))
    out = run(mlir_opt, "--allow-unregistered-dialect", work / "payload.mlir",
              f"--transform-preload-library=transform-library-paths={work / 'library.mlir'}",
              "--transform-interpreter=entry-point=__kernel_config")
    functions = out.split("func.func @product_")[1:]
    assert len(functions) == len(shapes) + 1
    assert "compilation_info" not in functions[-1], "a product of another shape got a configuration"
    squeeze = lambda words: re.sub(r"\s+", "", words)
    for shape, function in zip(shapes, functions):
        want = re.search(r"#iree_codegen\.compilation_info<(.|\n)*?>>\n", matchers(text)[shape])[0]
        assert f"compilation_info={squeeze(want)}" in squeeze(function), shape


# ---- in IREE -------------------------------------------------------------------

def check_in_iree(shapes, text, element, lies, work):
    few = shapes[:2]
    (work / "one.mlir").write_text("".join(
        product(i, shape, (element, element, "f32"), CONTRACTION.findall(text)[i][3], lies)
        for i, shape in enumerate(few)))
    compile_it = [iree_compile, work / "one.mlir", "--iree-hal-target-device=hip", "--iree-rocm-target=gfx942",
                  f"--iree-codegen-tuning-spec-path={work / 'spec.mlir'}"]
    run(*compile_it, "--compile-to=executable-configurations", "-o", work / "configured.mlir")
    configured = (work / "configured.mlir").read_text()
    for shape in few:
        part = matchers(text)[shape]
        for field in ("workgroup", "subgroup", "reduction", "workgroup_size"):
            assert f"{field} = [{', '.join(map(str, numbers(part, field)))}]" in configured, (shape, field)
    run(*compile_it, "-o", work / "one.vmfb")


# ---- other times, one kernel, and what is refused -------------------------------------------

def check_estimates(archive, work):
    """An estimate is no time, unless one asks for estimates."""
    shape = min(set(archive.estimates) - set(archive.times))
    best = min(us for name, us in archive.estimates[shape].items() if archive.whole(name))
    said, text = archive.spec([shape], work / "estimate.mlir", "--provenance", "estimate")
    assert said["shapes"][0]["timed"] and said["shapes"][0]["us"] == best
    assert f"{best:.2f} us there (estimate:" in text
    assert not archive.spec([shape], work / "estimate.mlir")[0]["shapes"][0]["timed"]


def check_one_kernel(archive, work):
    """Where only one kernel has a counterpart, a dispatch can choose no other."""
    one = sorted(name for name in archive.values if archive.whole(name))[3]
    two = sorted(name for name in archive.values if not archive.whole(name))[:2]
    run(wavesmith, "archive", "import", work / "all.db", archive.folder)
    run(wavesmith, "archive", "export", work / "all.db", work / "three", one, *two)
    said = json.loads(run(wavesmith, "iree", work / "three", "1000,1600,2176", "--out", work / "one.mlir", "--json"))
    assert (said["kernels"], said["with_counterpart"]) == (3, 1)
    assert said["shapes"][0]["candidate"] == one and not said["shapes"][0]["timed"]
    check_fields(archive, (1000, 1600, 2176), one, (work / "one.mlir").read_text())
    run(wavesmith, "archive", "export", work / "all.db", work / "split", *two)
    said = run(wavesmith, "iree", work / "split", "contest", "--out", work / "none.mlir", code=1)
    assert "any of the 2 kernels" in said and "split_k=" in said, said
    assert not (work / "none.mlir").exists()


def check_refusals(work):
    tuned = source / "kernels"
    for folder, shapes, code, why in [
            ("rmsnorm/tuned/gfx942/plain", "1024,1024", 1, "rmsnorm is no product"),
            ("fp8_gemm_blockscale/tuned/sm_90a/kmajor-ocp", "contest", 1, "target sm_90a"),
            ("fp8_gemm_blockscale/tuned/gfx942/kmajor", "1024,1537,7168", 1, "n % 16 == 0"),
            ("fp8_gemm_blockscale/tuned/gfx942/kmajor", "no-such-set", 2, "no shape set 'no-such-set'"),
            ("gemm_bf16/tuned/gfx942/kmajor", "1024,1024,256;1000,1600,2176", 1,
             "m=1000,n=1600,k=2176: no kernel with a counterpart in IREE was timed there"),
            ("nowhere", "1,16,128", 1, "no such archive")]:
        said = run(wavesmith, "iree", tuned / folder, shapes, "--out", work / "none.mlir", code=code)
        assert why in said and said.startswith("wavesmith iree: ") and said.count("\n") == 1, said
    assert not (work / "none.mlir").exists()
    run(wavesmith, "iree", tuned / "rmsnorm/tuned/gfx942/plain", code=2)
    for given in "nonsense", "si", "sim:other":
        said = run(wavesmith, "iree", tuned / "gemm_bf16/tuned/gfx942/kmajor", "contest", "--provenance", given,
                   "--out", work / "none.mlir", code=2)
        assert f"--provenance {given}: there is none such; there are hip, cuda, sim, estimate, {SIM}" in said, said


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for problem, layout, element, universal, lies in ARCHIVES:
            archive = Archive(problem, layout)
            shapes, text = check_archive(archive, element, universal, work)
            assert archive.spec(shapes, work / "again.mlir")[1] == text, "not the same bytes"
            if mlir_opt:
                check_in_mlir(shapes, text, element, lies, work)
            if iree_compile:
                check_in_iree(shapes, text, element, lies, work)
            print(f"{problem} {layout}: {len(shapes)} shapes")
        archive = Archive("fp8_gemm_blockscale", "kmajor")
        check_estimates(archive, work)
        check_one_kernel(archive, work)
        check_refusals(work)
    if not mlir_opt:
        print("skipped: there is no mlir-opt, so no spec was run by MLIR")
    if not iree_compile:
        print("skipped: there is no iree-compile (WAVESMITH_IREE_COMPILE), so none was compiled by IREE")


main()
