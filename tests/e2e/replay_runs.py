#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first answers of the recorded model runs, played back without a model.

usage: replay_runs.py WAVESMITH SOURCES FOLDER

Each run of examples/model-runs begins again in an empty archive, on the
simulator, with the recording in place of the model. The candidates that come
out must be those that are listed beside the recording (id and verdict), and
every one that was ok must be verified and timed again.
"""
import contextlib
import lzma
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

# as it was when they were recorded
ONLY_MODEL = ["--small-moves", "0", "--blind-siblings"]
GEMM = [*ONLY_MODEL, "--strategy", "scientist", "--in-flight", "4", "--repairs", "1",
        "--shapes", "1024,576,2048;1024,1024,512", "--held-out", "128,576,512"]
SEAT = [*ONLY_MODEL, "--strategy", "refine", "--shapes", "128,576,512;64,1024,512",
        "--held-out", "128,512,256"]
LEVEL = ["--small-moves", "0", "--strategy", "refine", "--in-flight", "1", "--repairs", "1",
         "--shapes", "1024,1536,7168;128,4608,7168", "--held-out", "1024,1536,7168",
         "--point", "tile_m=64;tile_n=128;tile_k=128;waves_m=2;waves_n=2;mfma=32;split_k=4;nontemporal=1"]
# as it was: candidates are named by what they began with
FP8 = "examples/model-runs/fp8_gemm_naive.ll"
MLIR = "examples/model-runs/fp8_gemm_mfma.mlir"
BF16 = "kernels/gemm_bf16/gemm_bf16_naive.ll"
# name, template, options, how many answers are judged (each is verified on
# shapes of its own branches, which takes seconds). from-mfma rewrote regions of
# a template that has another text since every m is legal: it is not played back.
RUNS = [
    ("from-naive", FP8, GEMM, 3),
    ("seat-fp8-before", FP8, SEAT, 2),
    ("seat-bf16-before", BF16, SEAT, 1),
    ("seat-fp8-after", FP8, SEAT, 2),
    ("seat-bf16-after", BF16, SEAT, 1),
    ("levels-mlir", MLIR, LEVEL, 1),
]
# A switch over all values was a trap then; its import is another text now. A
# body in MLIR had to declare what it calls.
NOW_OK = {("seat-bf16-after", 1), ("levels-mlir", 2)}


def judged(archive):
    """Answers with a verdict, and how many simulated times each has."""
    with contextlib.closing(sqlite3.connect(f"{archive.as_uri()}?mode=ro", uri=True)) as database:
        return database.execute(
            "SELECT sequence, candidate_id, verdict, (SELECT count(*) FROM measurement AS m"
            "  WHERE m.candidate_id = e.candidate_id AND provenance LIKE 'sim:%')"
            " FROM exchange AS e WHERE verdict != '' ORDER BY sequence").fetchall()


def is_judged(archive, answers):
    try:
        found = judged(archive)[:answers]
    except sqlite3.OperationalError:  # not there yet
        return False
    return len(found) == answers and all(
        times for _, _, verdict, times in found if verdict == "ok")


def replay(program, sources, folder, name, template, options, answers):
    examples = sources / "examples" / "model-runs"
    rows = [line.split("\t") for line in (examples / f"{name}.tsv").read_text().splitlines()[1:]]
    expected = {int(row[0]): (row[1], row[2]) for row in rows}
    archive = folder / f"{name}.db"
    for old in folder.glob(f"{name}.db*"):
        old.unlink()
    recording = folder / f"{name}.jsonl"
    recording.write_bytes(lzma.decompress((examples / f"{name}.jsonl.xz").read_bytes()))
    count = answers + (2 if "--point" in options else 1)  # with what it begins with
    process = subprocess.Popen(
        [program, "tune", sources / template, *options,
         "--archive", archive, "--device", "sim", "--evaluations", str(count),
         "--model", f"replay-any:{recording}"])
    # Winners are confirmed on a thousand shapes then, which is no matter of this.
    while process.poll() is None and not is_judged(archive, answers):
        time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait() in (0, 130), process.returncode
    found = judged(archive)
    assert len(found) >= answers, found
    for sequence, candidate, verdict, times in found[:answers]:
        if (name, sequence) in NOW_OK:
            expected[sequence] = (candidate, "ok")
        assert expected[sequence] == (candidate, verdict), (sequence, candidate, verdict)
        assert verdict != "ok" or times > 0, (sequence, candidate)
    print(f"ok: {name}, {len(found)} answers")


def main():
    program, sources, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    doctor = subprocess.run([program, "doctor"], capture_output=True, text=True).stdout
    for run in RUNS:
        if run[1] == MLIR and not re.search(r"(?m)^ok +MLIR", doctor):
            print(f"skipped: {run[0]}: no MLIR in this build")
            continue
        replay(program, sources, folder, *run)


main()
