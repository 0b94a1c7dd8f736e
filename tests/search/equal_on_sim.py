#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a run says of the model's error, on the simulator.

usage: equal_on_sim.py WAVESMITH SOURCES

A short run of rmsnorm: the table has the error beside each time and how many
candidates are equal to the best, which is counted here again from the archive;
gains within the error are marked; the dispatch says what it made of it. Without
simulated times there is none of this.
"""
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

SHAPES = "16,1024;256,4096"


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def tune(program, template, archive, device, *more):
    return run(program, "tune", template, "--archive", archive, "--device", device,
               "--shapes", SHAPES, "--evaluations", 8, "--minutes", 10, *more)


def times_of(archive, shape):
    """us of the candidates that are ok, simulated, the fastest first."""
    rows, cols = shape.split(",")
    connection = sqlite3.connect(archive)
    found = connection.execute(
        "SELECT us FROM measurement JOIN candidate ON candidate_id=id "
        "WHERE verdict='ok' AND provenance LIKE 'sim:%' AND shape=? ORDER BY us",
        (f"rows={rows},cols={cols}",)).fetchall()
    connection.close()
    return [us for us, in found]


def check_table(text, archive, equal_below):
    """-> how many are equal, of each shape."""
    head = re.search(r"^rows,cols .* best us +model +speed-up +candidate +equal ",
                     text, re.M)
    assert head, text
    counts = []
    for shape in SHAPES.split(";"):
        us = times_of(archive, shape)
        counts.append(sum(t < us[0] * (1 + equal_below) for t in us) - 1)
        line = re.search(rf"^{shape} .*$", text, re.M).group()
        fields = re.search(r" ([\d.]+)  \+-(\d+) % .* [0-9a-f]{8} +(\d*) +"
                           r"[a-z]\w+ +sim$", line)
        assert fields, line
        best, error, equal = fields.groups()
        assert abs(float(best) - us[0]) < 0.006, (line, us)
        assert int(error) > 0, line
        assert int(equal or 0) == counts[-1], (line, us)
    return counts


def check_marks(text, equal_below):
    marked = re.findall(r"\b(\d+\.\d+)x( =)?", text)
    assert marked, text
    for factor, mark in marked:
        factor = float(factor)
        apart = max(factor, 1 / factor) - 1
        if abs(apart - equal_below) > 0.01:  # two digits are shown
            assert bool(mark) == (apart < equal_below), (factor, mark)


def main():
    program, sources = sys.argv[1], pathlib.Path(sys.argv[2])
    template = sources / "kernels/rmsnorm/gfx942.ll"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        archive = folder / "sim.db"
        text = tune(program, template, archive, "sim", "--rank", "device")
        flat = " ".join(text.split())
        equal_below = int(re.search(
            r"less than (\d+) % apart are equal \(=\)", flat).group(1)) / 100
        counts = check_table(text, archive, equal_below)
        said = re.search(r"On (\d+) shapes (\d+) other candidates are equal", flat)
        assert (int(said.group(1)), int(said.group(2))) == (
            sum(c > 0 for c in counts), sum(counts)), (said.group(), counts)
        check_marks(text, equal_below)
        result = json.loads(tune(program, template, archive, "sim", "--rank", "device",
                                 "--json").strip().splitlines()[-1])
        assert [row["equal"] for row in result["shapes"]] == counts, result
        assert all(row["model_error"] > 0 for row in result["shapes"])

        options = ("dispatch", archive, "--problem", "rmsnorm", "--layout", "plain",
                   "--target", "gfx942", "--shapes", SHAPES, "--provenance", "sim")
        flat = " ".join(run(program, *options, "--out", folder / "out").split())
        assert "of such that which serves more shapes is shipped" in flat, flat
        coin = int(re.search(r"order that are less than (\d+) % apart",
                             flat).group(1)) / 100
        assert 0 < coin < equal_below, (coin, equal_below)
        result = json.loads(run(program, *options, "--json", "--out", folder / "out"))
        assert result["equal_below"] == coin, result

        text = tune(program, template, folder / "estimate.db", "estimate")
        assert "model:" not in text and " equal " not in text, text
    print("ok")


if __name__ == "__main__":
    main()
