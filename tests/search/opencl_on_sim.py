#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole kernels in OpenCL C, answered by recorded replies, on the simulator.

usage: opencl_on_sim.py WAVESMITH SOURCES

Each is described, compiled, verified against the problem's own reference, timed,
and tuned over its parameters. One that does not compile is refused with the line
of what was written and mended by edits of that; one that skips work is wrong.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile


def template(text):
    return f"## template (opencl)\n```c\n{text}```\n"


def edit(*changes):
    return "## template\n" + "".join(f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"
                                     for old, new in changes)


def record(path, replies):
    lines = [{"wavesmith_recording": 1, "members": [{"name": "openai:test", "weight": 1}]}]
    for sequence, text in enumerate(replies, 1):
        lines.append({"sequence": sequence, "kind": "explore", "member": 0,
                      "prompt_hash": "0" * 32, "reply": text, "error": "", "prompt_tokens": 1,
                      "reply_tokens": 1, "usd": 0, "seconds": 0})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def tune(program, base, folder, device, shapes, held_out, replies, *options):
    """(verdict, stage, reason, template, assignments, is it timed) by reply."""
    record(folder / "recording.jsonl", replies)
    (folder / "a.db").unlink(missing_ok=True)
    subprocess.run(
        [program, "tune", base, "--archive", folder / "a.db", "--device", device, "--strategy",
         "best-of-n", "--evaluations", str(len(replies) + 1), "--in-flight", "1",
         "--small-moves", "0", "--shapes",
         shapes, "--held-out", held_out, "--model", f"replay-any:{folder}/recording.jsonl", *options],
        check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect(folder / "a.db").execute(
        "SELECT e.verdict, e.stage, e.reason, t.name, c.assignments, (SELECT count(*) FROM"
        " measurement m WHERE m.candidate_id = c.id AND m.provenance LIKE 'sim:%') > 0"
        " FROM exchange e LEFT JOIN candidate c ON c.id = e.candidate_id"
        " LEFT JOIN template t ON t.hash = c.template_hash ORDER BY e.sequence").fetchall()


def check(got, want):
    if got != want:
        raise SystemExit(f"got  {got}\nwant {want}")


def naive(program, sources, folder):
    text = (sources / "tests/search/rmsnorm.cl").read_text()
    good = "  float total = 0.0f;"
    bad = "  float total = nothing;"
    line = text[:text.index(good)].count("\n") + 1
    far_bad = "int far(int x) { return neither; }"
    last = "}\n" + "// and so on\n" * 200 + far_bad + "\n"
    long = text.rstrip("\n")[:-1] + last + "// and so on\n" * 200
    far = long[:long.index("int far")].count("\n") + 1
    rows = tune(program, sources / "kernels/rmsnorm/naive.ll", folder, "sim", "16,1024;64,512",
                "48,512",
                [template(long.replace(good, bad)), edit((bad, good), (far_bad, far_bad.replace("neither", "0"))),
                 template(text) + "## parameters\nlanes=128\nwide=8\n",
                 template(text.replace("(float)weight[c]", "1.0f")),
                 template(text) + "## parameters\nlanes=96\n"], "--repairs", "1")
    check(rows[0], ("illegal", "reply",
                    f"template.cl:{line}: use of undeclared identifier 'nothing'; line {far}:"
                    " use of undeclared identifier 'neither'", None, None, 0))
    prompt = sqlite3.connect(folder / "a.db").execute(
        "SELECT m.text FROM exchange e JOIN content m ON m.hash = e.prompt"
        " WHERE e.sequence = 2").fetchone()[0]
    shown = prompt[prompt.index("The template as it was written:\n```c\n"):]
    shown = shown[:shown.index("\n```\n")]
    check((bad in shown, "int far" in shown, shown.count("lines left out"),
           shown.count("and so on") < 40, "The beginning of the reply" in prompt),
          (True, True, 3, True, False))
    check(rows[1][0], "ok")
    check(rows[1][3:], ("rmsnorm_cl", "lanes=64;wide=2", 1))
    check(rows[2][0], "ok")
    check(rows[2][3:], ("rmsnorm_cl", "lanes=128;wide=8", 1))
    check(rows[3][:2], ("wrong", "sanitize"))
    check(rows[4][:2], ("illegal", "reply"))


def matrix(program, sources, folder):
    """Without a device first (confirming a winner on it takes minutes), then on the simulator."""
    example = sources / "examples/opencl/gemm_bf16.cl"
    text = example.read_text()
    point = "waves=4;depth=64;pad=8"
    rows = tune(program, sources / "kernels/gemm_bf16/gemm_bf16_naive.ll", folder, "estimate",
                "64,128,128", "48,64,64",
                [template(text), template(text) + "## parameters\n" + point.replace(";", "\n"),
                 template(text.replace("    meet(); // the tiles are there\n", ""))])
    check(rows[0][0], "ok")
    check(rows[0][3:5], ("gemm_lds_cl", "waves=2;depth=32;pad=4"))
    check(rows[1][0], "ok")
    check(rows[1][3:5], ("gemm_lds_cl", point))
    check(rows[2][:2], ("wrong", "sanitize"))
    subprocess.run([program, "import", example, "-o", folder / "g.ll"], check=True,
                   stdout=subprocess.DEVNULL)
    for values in ("waves=2", point):
        out = subprocess.run([program, "sim", "--template", folder / "g.ll", "--set", values,
                              "--shape", "48,128,256"], check=True, capture_output=True, text=True)
        if "run:   ok, 12288 elements compared" not in out.stdout:
            raise SystemExit(out.stdout)


def tuned(program, _, folder):
    """The built-in proposer moves the parameters of the imported file."""
    subprocess.run([program, "tune", folder / "g.ll", "--archive", folder / "g.db", "--device",
                    "estimate", "--shapes", "64,128,128", "--held-out", "48,64,64",
                    "--evaluations", "12", "--seed", "1"], check=True, stdout=subprocess.DEVNULL)
    points = {row[0] for row in sqlite3.connect(folder / "g.db").execute(
        "SELECT assignments FROM candidate WHERE verdict = 'ok'")}
    values = [{point.split(";")[i] for point in points} for i in range(3)]
    if min(map(len, values)) < 2:
        raise SystemExit(f"a parameter was never moved: {points}")


def main():
    program, sources = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        for part in (naive, matrix, tuned):
            part(program, sources, pathlib.Path(name))


main()
