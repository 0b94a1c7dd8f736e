#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first answers of the recorded model runs, played back without a model.

usage: replay_runs.py WAVESMITH SOURCES FOLDER

Each run of examples/model-runs begins again in an empty archive, on the
simulator, with the recording in place of the model. The candidates that come
out must be those that are listed beside the recording (id and verdict), and
every one that was ok must be verified and timed again.
"""
import lzma
import pathlib
import sqlite3
import subprocess
import sys

ANSWERS = 3  # of a run's candidates; each takes a few seconds
STARTS = ["ff28bcb4", "ecbba477", "3a26633c", "c1520dfc"]


def replay(program, sources, folder, name, template, start):
    examples = sources / "examples" / "model-runs"
    rows = [line.split("\t") for line in (examples / f"{name}.tsv").read_text().splitlines()[1:]]
    expected = {int(row[0]): (row[1], row[2]) for row in rows}
    archive = folder / f"{name}.db"
    for old in folder.glob(f"{name}.db*"):
        old.unlink()
    recording = folder / f"{name}.jsonl"
    recording.write_bytes(lzma.decompress((examples / f"{name}.jsonl.xz").read_bytes()))
    options = []
    if start:
        tuned = sources / "kernels/fp8_gemm_blockscale/tuned/gfx942/kmajor"
        subprocess.run([program, "archive", "import", archive, tuned], check=True)
        for one in start:
            options += ["--start", one]
    count = ANSWERS + max(len(start), 1)
    subprocess.run(
        [program, "tune", sources / "ir-templates" / template, *options,
         "--archive", archive, "--device", "sim", "--strategy", "scientist",
         "--in-flight", "4", "--repairs", "1", "--evaluations", str(count),
         "--shapes", "1024,576,2048;1024,1024,512", "--held-out", "128,576,512",
         "--model", f"replay-any:{recording}"], check=True)
    database = sqlite3.connect(archive)
    found = database.execute(
        "SELECT sequence, candidate_id, verdict FROM exchange WHERE verdict != ''"
        " ORDER BY sequence").fetchall()
    assert len(found) >= ANSWERS, found
    for sequence, candidate, verdict in found[:ANSWERS]:
        assert expected[sequence] == (candidate, verdict), (sequence, candidate, verdict)
        times = database.execute(
            "SELECT count(*) FROM measurement WHERE candidate_id = ? AND provenance LIKE 'sim:%'",
            (candidate,)).fetchone()[0]
        assert verdict != "ok" or times > 0, (sequence, candidate)
    print(f"ok: {name}, {len(found)} answers")


def main():
    program, sources, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    replay(program, sources, folder, "from-naive", "fp8_gemm_naive.ll", [])
    replay(program, sources, folder, "from-mfma", "fp8_gemm_mfma.ll",
           STARTS)


main()
