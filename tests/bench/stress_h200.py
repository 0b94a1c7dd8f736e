#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races: each code object of a plan (peers_h200.py --plan), or each kernel of
what `wavesmith build` or `dispatch` has written, is launched many times on the
same inputs, over poison, and every element of every result is compared with the
first result. A kernel that adds in a fixed order leaves the same bytes each
time.

  python3 tests/bench/stress_h200.py --plan plan.json --seconds 3
  python3 tests/bench/stress_h200.py --kernels generated/fp8_gemm.json \
      --template ir-templates/fp8_gemm_wgmma.ll --shapes "6144,7168,2048"

Exit 0: all the same; 1: some differed, with where; 3: no torch or no card.
"""
import argparse
import json
import os
import sys
import time

try:
    import torch
except ImportError:
    torch = None

import peers_h200
from peers_plan import PeerError, Plan

BATCH = 64  # launches between looks at the clock


def extent(mask):
    """Rows and columns that hold what differed."""
    rows, columns = mask.any(1).nonzero(), mask.any(0).nonzero()
    return (f"rows {rows.min().item()} to {rows.max().item()} "
            f"({rows.numel()}), columns {columns.min().item()} to "
            f"{columns.max().item()} ({columns.numel()})")


def stress(call, seconds, flush):
    """Launches, elements that differed in all of them, and where."""
    first = call().view(torch.int16).clone()
    mask = torch.zeros_like(first, dtype=torch.bool)
    bad = torch.zeros((), dtype=torch.int64, device=first.device)
    launches, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for i in range(BATCH):
            if i % 8 == 0:
                flush.zero_()
            result = call().view(torch.int16)
            differs = result != first
            bad += differs.any()
            mask |= differs
            result.fill_(0x7fff if i % 2 else -1)  # NaN of bf16
        torch.cuda.synchronize()
        launches += BATCH
    return launches, bad.item(), mask


def entries_of(options):
    """What is to be launched, as entries of a plan, and their folder."""
    path = options.plan or options.kernels
    with open(path) as file:
        read = json.load(file)
    if options.kernels:
        read = [{"name": kernel["candidate"][:8], "template": options.template,
                 "set": kernel["parameters"], "code": kernel["code_object"],
                 "shapes": options.shapes} for kernel in read["portfolio"]]
    return read, os.path.dirname(path) or "."


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan", help="JSON file of code objects")
    parser.add_argument("--kernels", help="NAME.json beside an emitted NAME.c")
    parser.add_argument("--template", help="of the kernels")
    parser.add_argument("--shapes", default="6144,7168,2048;64,7168,2048;"
                        "16,7168,2048", help="of the kernels: M,N,K;...")
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args(arguments)
    if bool(options.plan) == bool(options.kernels):
        parser.error("needs either --plan or --kernels")
    if options.kernels and not options.template:
        parser.error("--kernels needs --template")
    options.shapes = [list(map(int, shape.split(",")))
                      for shape in options.shapes.split(";")]
    return options


def main():
    options = parse(sys.argv[1:])
    if torch is None or not torch.cuda.is_available():
        print("stress_h200: needs torch and a CUDA card", file=sys.stderr)
        return 3
    entries, folder = entries_of(options)
    flush = torch.empty(64 << 20, dtype=torch.int8, device="cuda")
    failed = False
    for entry in entries:
        plan = Plan([entry], folder)
        for m, n, k in entry["shapes"]:
            problem = peers_h200.Problem(m, n, k, 1)
            try:
                call, _ = plan.make(problem)
            except PeerError as error:
                print(f"{entry['name']} {m},{n},{k}: {error}")
                continue
            launches, bad, mask = stress(call, options.seconds, flush)
            failed = failed or bad > 0
            print(f"{entry['name']} {m},{n},{k}: {bad} of {launches} launches "
                  "differ" + (f": {extent(mask)}" if bad else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
