#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a learned correction is worth on the public sweep: a part of it as a file
of `wavesmith sim --compare`, and that with --check-correction.

usage: correction_sweep.py WAVESMITH SHARED_FOLDER [EVERY [MOST_GFLOP]]

Every EVERY-th configuration (4) of the shapes of at most MOST_GFLOP (all, of 2
m n k). Parameters and rows left out are those of tests/sim/bench_clock_sweep.c
and sweep_data.h; a family is all of one (n, k). Exit code 77: no data.
"""
import csv
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TEMPLATE = os.path.join(ROOT, "ir-templates", "fp8_gemm_mfma.ll")


def parameters(row):
    waves = int(row["block_size"]) // 64
    waves_n = 2 if waves >= 4 else 1
    return (f"tile_m={row['bm']};tile_n={row['bn']};tile_k={row['bk']};mfma={row['wm']};"
            f"prefetch={row['pipeline']};waves_m={waves // waves_n};waves_n={waves_n};lds_pad=8;"
            "lds_layout=0;lds_read=8;lds_buffers=1;split_k=1;order=0;group_m=1")


def main():
    wavesmith, shared = sys.argv[1:3]
    every, most = (list(map(float, sys.argv[3:])) + [4, 1e9][len(sys.argv) - 3:])
    path = os.path.join(shared, "data", "mi300x_fp8_gemm_sweep.csv")
    if not os.path.exists(path):
        print(f"skipped: no {path}")
        return 77
    shapes = {}
    for row in csv.DictReader(open(path)):
        if row["fused_transpose"] == "1" and int(row["block_size"]) >= int(row["bm"]):
            shapes.setdefault(tuple(int(row[d]) for d in "mnk"), []).append(row)
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        out = csv.writer(file)
        out.writerow(["template", "layout", "set", "shape", "family", "us"])
        for (m, n, k), rows in sorted(shapes.items()):
            if 2e-9 * m * n * k <= most:
                for row in rows[1::int(every)]:
                    out.writerow([TEMPLATE, "mnmajor", parameters(row), f"{m},{n},{k}", f"{n},{k}", row["total_us_min"]])
        file.flush()
        environment = dict(os.environ, WAVESMITH_SIM_RESIDENCY="warm")
        return subprocess.run([wavesmith, "sim", "--compare", file.name, "--check-correction"],
                              env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
