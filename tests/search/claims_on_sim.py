#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a reply claims is held against what was compiled and profiled.

usage: claims_on_sim.py WAVESMITH SOURCES

A recorded reply sets parameters of softmax and claims something of every kind.
Wanted values: registers and LDS of the archived builds, what follows from them
for the occupancy, and shares and conflicts of the archived profiles.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

CLAIMS = ["speedup 1 2", "speedup rows=16,cols=1024 1 2", "speedup 64,2048 1 2",
          "speedup 7,7 1 2", "vgpr 1 2", "agpr 1 2", "sgpr 1 2", "lds 1 2", "scratch 0",
          "occupancy 1 2", "lds_conflict 0 1", "share power8 -20 -10 %", "share load8: 5 10",
          "share nothing 1 2"]
UNKNOWN = {"speedup 7,7", "share nothing"}
REPLY = ("## name\nwide\n## expected\n" + "".join(f"- {claim}\n" for claim in CLAIMS)
         + "## parameters\nthreads=1024\nkeep=8\n")


def run(program, sources, folder):
    recording = folder / "recording.jsonl"
    head = {"wavesmith_recording": 1, "members": [{"name": "openai:test", "weight": 1}]}
    item = {"sequence": 1, "kind": "explore", "member": 0, "prompt_hash": "0" * 32,
            "reply": REPLY, "error": "", "prompt_tokens": 1, "reply_tokens": 1, "usd": 0,
            "seconds": 0}
    recording.write_text(json.dumps(head) + "\n" + json.dumps(item) + "\n")
    subprocess.run(
        [program, "tune", sources / "kernels/softmax/gfx942.ll", "--archive", folder / "a.db",
         "--device", "sim", "--strategy", "best-of-n", "--evaluations", "2", "--small-moves", "0",
         "--shapes", "16,1024;64,2048", "--held-out", "48,1024",
         "--model", f"replay-any:{recording}"], check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect(folder / "a.db")


def side(database, sequence):
    """Build of a candidate, its profiles (one a shape), its times by shape."""
    (one,) = database.execute("SELECT id FROM candidate WHERE sequence = ?", (sequence,)).fetchone()
    (build,) = database.execute("SELECT result FROM build WHERE candidate_id = ?",
                                (one,)).fetchone()
    (kernel,) = json.loads(build)["kernels"]
    times = dict(database.execute(
        "SELECT shape, us FROM measurement WHERE candidate_id = ? AND provenance LIKE 'sim:%'"
        " AND shape IN ('rows=16,cols=1024', 'rows=64,cols=2048')", (one,)))
    profiles = [json.loads(report)["profile"] for (report,) in
                database.execute("SELECT report FROM profile WHERE candidate_id = ?", (one,))]
    assert profiles
    return kernel, profiles, times


def waves_per_simd(kernel, threads):
    """gfx942: 512 registers a lane of a SIMD in steps of 8, 8 waves a SIMD, 4 SIMDs
    and 64 KiB of LDS a CU; workgroups are whole."""
    waves = min(8, 512 // (-(-kernel["vgpr"] // 8) * 8))
    groups = min(4 * waves // (threads // 64), 65536 // max(1, kernel["lds_bytes"]))
    return groups * threads / 64 / 4


def mean(profiles, number):
    """Profiled shapes count the same."""
    return sum(map(number, profiles)) / len(profiles)


def change(before, after, number):
    return mean(after, number) - mean(before, number)


def wanted(before, after):
    (old, old_profiles, old_us), (new, new_profiles, new_us) = before, after
    small, large = "rows=16,cols=1024", "rows=64,cols=2048"
    ratio = {shape: old_us[shape] / new_us[shape] for shape in (small, large)}
    facts = {"vgpr": "vgpr", "agpr": "agpr", "sgpr": "sgpr", "lds": "lds_bytes",
             "scratch": "scratch_bytes"}
    result = {what: new.get(key, 0) - old.get(key, 0) for what, key in facts.items()}
    result["speedup"] = (ratio[small] * ratio[large]) ** 0.5
    result["speedup " + small] = ratio[small]
    result["speedup 64,2048"] = ratio[large]
    result["occupancy"] = waves_per_simd(new, 1024) - waves_per_simd(old, 256)
    result["lds_conflict"] = change(old_profiles, new_profiles, lambda one: one["lds_conflict"])
    for region in ("power8", "load8"):
        result["share " + region] = 100 * change(old_profiles, new_profiles,
                                                 lambda one: one["functions"][region])
    return result


def main():
    with tempfile.TemporaryDirectory() as folder:
        database = run(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(folder))
        (text,) = database.execute("SELECT claims FROM exchange WHERE sequence = 1").fetchone()
        claims = {claim["what"]: claim for claim in json.loads(text)}
        values = wanted(side(database, 0), side(database, 1))
    assert set(claims) == set(values) | UNKNOWN, (sorted(claims), sorted(values))
    for what, value in values.items():
        measured = claims[what]["measured"]
        print(f"{what}: {measured:.6g}")
        assert abs(measured - value) <= 1e-6 * max(1, abs(value)), (what, measured, value)
    assert all("measured" not in claims[what] for what in UNKNOWN), claims
    assert values["sgpr"] and values["vgpr"] and values["occupancy"], values
    print("ok")


main()
