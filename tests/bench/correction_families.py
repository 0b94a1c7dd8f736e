#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a learned correction is worth on kernel families that it has not seen:
rows of many as one file of `wavesmith sim --compare`, and that with
--check-correction. The table of docs/compare.md.

usage: correction_families.py BUILD_FOLDER SHARED_FOLDER [--every N] [--first N]
                              [--only SOURCE] [--clock MHZ] [--again]
                              [OPTION OF wavesmith sim --compare ...]

Sources (--only names one):
  sweep     the public sweep on an MI300X, every 4th configuration (--every) of
            its shapes from the second on (--first 1), one family; a part of it
            is all of one (n, k). Its parameters and the rows left out are those of
            tests/sim/bench_clock_sweep.c and sweep_data.h. --clock simulates
            these rows at another clock than the card's, as its single shots may
            have been
  programs  foreign_mi300a.py, on the MI300A; each program is a family. A time is
            that of the program's, the figures are of the launch that takes most
  micro     bench_sim_micro, on the MI300X; each set is a family and one part

What is made lies in BUILD_FOLDER/correction; --again takes the programs' and the
micro-benchmarks' rows from there (some 7 minutes less of 12). Exit code 77: no
data.
"""
import argparse
import csv
import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TEMPLATE = os.path.join(ROOT, "ir-templates", "fp8_gemm_mfma.ll")
COLUMNS = ["family", "part", "group", "us", "report", "simulated_us",
           "template", "layout", "set", "shape", "residency", "device"]
SKIP = 77


class Missing(Exception):
    """Something that this program needs is not there; the message says what."""


def parameters(row):
    waves = int(row["block_size"]) // 64
    waves_n = 2 if waves >= 4 else 1
    return (f"tile_m={row['bm']};tile_n={row['bn']};tile_k={row['bk']};"
            f"mfma={row['wm']};prefetch={row['pipeline']};"
            f"waves_m={waves // waves_n};waves_n={waves_n};lds_pad=8;"
            "lds_layout=0;lds_read=8;lds_buffers=1;split_k=1;order=0;group_m=1")


def card_at(options, folder):
    """The MI300X, or one of another clock."""
    if not options.clock:
        return ""
    path = os.path.join(folder, "clock.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "clock", "constants": {
            "clock_mhz": options.clock,
            "loaded_mhz": min(options.clock, 1230)}}, file)
    return "sim:" + path


def sweep_rows(options, folder):
    path = os.path.join(options.shared_folder, "data",
                        "mi300x_fp8_gemm_sweep.csv")
    if not os.path.exists(path):
        raise Missing(f"no {path}")
    shapes, device = {}, card_at(options, folder)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["fused_transpose"] == "1"
                    and int(row["block_size"]) >= int(row["bm"])):
                shapes.setdefault(tuple(int(row[d]) for d in "mnk"),
                                  []).append(row)
    for (m, n, k), rows in sorted(shapes.items()):
        for row in rows[options.first::options.every]:
            yield {"family": "sweep", "part": f"sweep {n},{k}",
                   "template": TEMPLATE, "layout": "mnmajor",
                   "set": parameters(row), "shape": f"{m},{n},{k}",
                   "us": row["total_us_min"], "residency": "warm",
                   "device": device}


def program_rows(options, folder):
    path = os.path.join(folder, "programs.json")
    if not options.again:
        call([sys.executable,
              os.path.join(ROOT, "tests", "bench", "foreign_mi300a.py"),
              options.build_folder, options.shared_folder, "--jobs", "1",
              "--reports", os.path.join(folder, "programs"), "--json", path])
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    for row in rows:
        if row["counted"] and row["simulated_us"]:
            yield {"family": row["kernel"],
                   "group": f"{row['kernel']} {row['size']}",
                   "us": row["measured_us"], "report": row["report"],
                   "simulated_us": row["simulated_us"]}


def micro_rows(options, folder):
    path = os.path.join(folder, "micro.csv")
    compiler = os.path.join(options.build_folder, "libexec", "wavesmith",
                            "wavesmith-compiler")
    if not options.again:
        call([os.path.join(options.build_folder, "tests", "bench_sim_micro"),
              "--compare", path],
             WS_SOURCE_DIR=ROOT, WS_SHARED_DIR=options.shared_folder,
             WAVESMITH_COMPILER=compiler)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {**row, "part": row["family"]}


def call(command, **environment):
    """Its output is of interest only where it fails."""
    print(f"# {' '.join(command)} (minutes)", file=sys.stderr, flush=True)
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          env={**os.environ, **environment})
    said = (done.stdout + done.stderr).strip().splitlines() or ["nothing said"]
    skipped = [line for line in said if line.startswith("skipped:")]
    if done.returncode or skipped:
        raise Missing((skipped or said[-1:])[0].removeprefix("skipped: "))


SOURCES = {"sweep": sweep_rows, "programs": program_rows, "micro": micro_rows}


def run(options, more):
    folder = os.path.join(options.build_folder, "correction")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "rows.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS)
        out.writeheader()
        for name, source in SOURCES.items():
            if options.only in (None, name):
                out.writerows(source(options, folder))
    return subprocess.run(
        [os.path.join(options.build_folder, "bin", "wavesmith"), "sim",
         "--compare", path, "--check-correction", *more],
        check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build_folder", type=os.path.abspath)
    parser.add_argument("shared_folder", type=os.path.abspath)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", choices=SOURCES)
    parser.add_argument("--clock", type=int, metavar="MHZ")
    parser.add_argument("--again", action="store_true")
    try:
        return run(*parser.parse_known_args())
    except (Missing, OSError) as error:
        print(f"skipped: {error}")
        return SKIP


if __name__ == "__main__":
    sys.exit(main())
