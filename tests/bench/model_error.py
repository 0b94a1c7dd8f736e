#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The simulator's own error, from its validation: the two tables of
runtime/sim/error/model_error_rows.h and of docs/simulator.md.

usage: model_error.py BUILD_FOLDER SHARED_FOLDER [--write]
                      [--sweep FILE] [--foreign FILE] [--own-clock]

Runs bench_sim_clock_sweep and foreign_mi300a.py (some ten minutes of one core;
their rows stay in BUILD_FOLDER/model_error) or takes rows that were kept. With
--write the files are written, else the lines are printed. Where the data is not
there one line says so and the exit code is 77.

By bound: all rows of both. A half-width e is such that 68 of 100 measured
times lie between simulated / (1 + e) and simulated x (1 + e): a quantile of
|ln(measured / simulated)|, so that a class that is always too fast has a wide
one. Micro-benchmarks are no rows: constants were fitted to them.

Pairs: two kernels of the sweep on one shape, by how far apart their simulated
times are; how many of those that were measured farther apart than the noise the
model had in the measured order. The noise is the sweep's own: rows of pipeline
2 timed the fused kernel twice, as fused_transpose 0 and 1, and nine in ten such
repeats differ by less. The programs of the MI300A have one kernel a shape.

The sweep is of single shots on an idle card. Its rows are those at its engine
clock (UNRAMPED_MHZ of bench_clock_sweep.c, a number that was chosen by looking
at them), with --own-clock those at the model's.
"""
import argparse
import collections
import csv
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TABLE = os.path.join(ROOT, "runtime", "sim", "error", "model_error_rows.h")
DOCUMENT = os.path.join(ROOT, "docs", "simulator.md")
HEADER = os.path.join(ROOT, "runtime", "include", "wavesmith", "sim.h")
SKIP = 77

BOUNDS = ["mfma", "lds", "valu", "vmem", "l2", "mall", "hbm", "latency",
          "dispatch", "launch"]
EDGES = [0, 2, 5, 10, 20, 50, 100, math.inf]  # per cent
WITHIN = 0.68
NOISE = 0.9  # of repeats differ by less
SWEEP_FILE = "mi300x_fp8_gemm_sweep.csv"
BOUND_HEAD = "| bound | rows | median measured / simulated | 68 of 100 within |"
PAIR_HEAD = "| simulated times differ by | pairs | ordered as measured | left out |"

# A kernel on a shape; kernel "" where there is but one
Point = collections.namedtuple("Point", "shape kernel measured simulated bound")
Bound = collections.namedtuple("Bound", "name rows median within")
Pairs = collections.namedtuple("Pairs", "low high pairs right left_out")


class Missing(Exception):
    """Something that this program needs is not there; the message says what."""


# ---- rows -------------------------------------------------------------------

def read_sweep(lines, own_clock=False):
    """row I BM BN BK MFMA PIPELINE THREADS M N K MEASURED SIMULATED UNRAMPED
    ESTIMATED BOUND"""
    points, column = [], 12 if own_clock else 13
    for line in lines:
        cells = line.split()
        if len(cells) == 16 and cells[0] == "row":
            points.append(Point(tuple(cells[8:11]), cells[1], float(cells[11]),
                                float(cells[column]), cells[15]))
    return [p for p in points if p.measured > 0 and p.simulated > 0]


def read_foreign(document):
    return [Point((r["kernel"], r["size"]), "", r["measured_us"],
                  r["simulated_us"], r["profile"].get("bound", ""))
            for r in document["rows"]
            if r["counted"] and r["simulated_us"]]


def read_repeats(lines):
    """|ln| of two measured times of one kernel; columns as in sweep_data.h."""
    times = {}
    for cells in csv.reader(lines):
        if len(cells) == 14 and cells[0].isdigit() and cells[9] == "2":
            times[(*cells[:10], cells[11]), cells[10]] = float(cells[13])
    return [abs(math.log(us / times[key, "0"]))
            for (key, fused), us in times.items()
            if fused == "1" and (key, "0") in times]


# ---- figures ----------------------------------------------------------------

def quantile(values, share):
    """Linear between the values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def bound_of(name, points):
    if not points:
        return Bound(name, 0, 1.0, 0.0)
    logs = [math.log(p.measured / p.simulated) for p in points]
    return Bound(name, len(points), math.exp(quantile(logs, 0.5)),
                 math.exp(quantile([abs(x) for x in logs], WITHIN)) - 1)


def bounds(points):
    return ([bound_of(b, [p for p in points if p.bound == b]) for b in BOUNDS]
            + [bound_of("all", points)])


def distance(a, b):
    """In per cent."""
    return 100 * (max(a, b) / min(a, b) - 1)


def pairs_of(points, noise):
    """noise in per cent. Left out are pairs that were measured no farther apart
    than it, and those simulated alike to the last digit."""
    counts = [[0, 0, 0] for _ in EDGES[1:]]
    for _, group in itertools.groupby(sorted(points), key=lambda p: p.shape):
        for a, b in itertools.combinations(list(group), 2):
            apart = distance(a.simulated, b.simulated)
            place = next(i for i, edge in enumerate(EDGES[1:]) if apart < edge)
            if apart == 0 or distance(a.measured, b.measured) <= noise:
                counts[place][2] += 1
                continue
            counts[place][0] += 1
            counts[place][1] += ((a.simulated < b.simulated)
                                 == (a.measured < b.measured))
    return [Pairs(low, high, *count)
            for low, high, count in zip(EDGES, EDGES[1:], counts)]


# ---- what is made of them ----------------------------------------------------

def complete(points):
    """[kernel][shape] of the kernels that have every shape; shapes."""
    of = collections.defaultdict(dict)
    for point in points:
        of[point.kernel][point.shape] = point
    shapes = sorted({p.shape for p in points})
    return {k: v for k, v in of.items() if len(v) == len(shapes)}, shapes


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def means(points):
    """One point a kernel: its geometric means over all shapes."""
    of, _ = complete(points)
    return [Point(("all",), kernel, geomean(p.measured for p in row.values()),
                  geomean(p.simulated for p in row.values()), "")
            for kernel, row in of.items()]


def portfolio(of, shapes, kernels, equal, most=8, least_gain=1e-3):
    """runtime/dispatch/portfolio.c again."""
    limit = {s: min(of[k][s].simulated for k in kernels) * (1 + equal)
             for s in shapes}
    chosen, us, before = [], {s: math.inf for s in shapes}, math.inf
    while len(chosen) < most:
        def joined(kernel):
            with_it = [(min(us[s], of[kernel][s].simulated), limit[s])
                       for s in shapes]
            loss = sum(math.log(max(t, l)) for t, l in with_it) / len(shapes)
            return round(loss, 12), max(t / l for t, l in with_it)
        best = min(kernels, key=joined)
        if not joined(best)[0] < before - least_gain:
            break
        before = joined(best)[0]
        chosen.append(best)
        us = {s: min(us[s], of[best][s].simulated) for s in shapes}
    return chosen


def regrets(of, shapes, kernels, chosen):
    """Measured, of the kernel that is simulated fastest of the chosen ones."""
    return [of[min(chosen, key=lambda k: of[k][s].simulated)][s].measured
            / min(of[k][s].measured for k in kernels) for s in shapes]


def print_portfolios(points, coin, equal, draws=200, count=40):
    of, shapes = complete(points)
    everything = sorted(of)
    if len(everything) <= count:
        return
    for distance_used in (0, coin, equal):
        generator = random.Random(1)
        sizes, mean, worst = [], [], []
        for _ in range(draws):
            kernels = sorted(generator.sample(everything, count))
            chosen = portfolio(of, shapes, kernels, distance_used)
            lost = regrets(of, shapes, kernels, chosen)
            sizes.append(len(chosen))
            mean.append(geomean(lost))
            worst.append(max(lost))
        print(f"# portfolios of {count} of {len(everything)} kernels, equal below "
              f"{100 * distance_used:.0f} %: {sum(sizes) / draws:.1f} kernels, "
              f"measured regret {geomean(mean):.3f}, worst shape "
              f"{geomean(worst):.2f}")


# ---- writing ----------------------------------------------------------------

def model_version():
    with open(HEADER, encoding="utf-8") as file:
        return re.search(r"WS_SIM_MODEL_VERSION (\d+)", file.read()).group(1)


def share(row):
    return row.right / row.pairs if row.pairs else 0


def macro(name, rows):
    """A list that is applied to X."""
    lines = [f"#define {name}(X)", *(f"  X({', '.join(row)})" for row in rows)]
    return [f"{line:<66} \\" for line in lines[:-1]] + lines[-1:]


def edge_of(rows, least):
    """The edge from which on this share is right, as in model_error.c."""
    edge = math.inf
    for row in reversed(rows):
        if share(row) < least:
            break
        edge = row.low
    return edge / 100


def c_lines(bound_rows, pair_rows, noise, version):
    return [
        "/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
        " *",
        " * The error of the cycle model, from its validation. Written by",
        " * tests/bench/model_error.py, which says what the figures are.",
        " */",
        "#ifndef WS_MODEL_ERROR_ROWS_H",
        "#define WS_MODEL_ERROR_ROWS_H",
        "",
        "/* clang-format off */",
        f"#define WS_MODEL_ERROR_VERSION {version}",
        f"#define WS_MODEL_ERROR_NOISE {noise / 100:.3f}",
        "/* bound, rows, median, within */",
        *macro("WS_MODEL_ERROR_BOUNDS",
               [(b.name, str(b.rows), f"{b.median:.2f}", f"{b.within:.2f}")
                for b in bound_rows]),
        "/* low, high, pairs, right, left_out */",
        *macro("WS_MODEL_ERROR_PAIRS",
               [(f"{p.low / 100:g}",
                 "INFINITY" if math.isinf(p.high) else f"{p.high / 100:g}",
                 str(p.pairs), str(p.right), str(p.left_out))
                for p in pair_rows]),
        "/* clang-format on */",
        "",
        "#endif"]


def bound_lines(rows):
    return [BOUND_HEAD, "|---|---|---|---|"] + [
        f"| {b.name} | {b.rows} | {b.median:.2f} | {100 * b.within:.0f} % |"
        if b.rows else f"| {b.name} | 0 | - | - |" for b in rows]


def words(row):
    if math.isinf(row.high):
        return f"more than {row.low} %"
    return f"{row.low} to {row.high} %"


def pair_lines(rows):
    return [PAIR_HEAD, "|---|---|---|---|"] + [
        f"| {words(p)} | {p.pairs} | {100 * share(p):.0f} % | {p.left_out} |"
        for p in rows]


def replace_table(text, lines):
    """The table below the same head."""
    old = re.search(re.escape(lines[0]) + r"\n(\|.*\n)*", text)
    if not old:
        raise Missing(f"docs/simulator.md has no table '{lines[0]}'")
    return text[:old.start()] + "\n".join(lines) + "\n" + text[old.end():]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- the run ----------------------------------------------------------------

def build_file(folder, *names):
    path = os.path.join(os.path.abspath(folder), *names)
    if not os.path.exists(path):
        raise Missing(f"no {path}")
    return path


def run_sweep(options, path):
    program = build_file(options.build_folder, "tests", "bench_sim_clock_sweep")
    compiler = build_file(options.build_folder, "libexec", "wavesmith",
                          "wavesmith-compiler")
    print(f"# {program} (minutes)", flush=True)
    with open(path + ".new", "w", encoding="utf-8") as out:
        subprocess.run([program], stdout=out, check=True, env={
            **os.environ, "WS_SWEEP_ROWS": "1", "WS_SOURCE_DIR": ROOT,
            "WS_SHARED_DIR": os.path.abspath(options.shared_folder),
            "WAVESMITH_COMPILER": compiler})
    os.rename(path + ".new", path)


def run_foreign(options, path):
    program = os.path.join(ROOT, "tests", "bench", "foreign_mi300a.py")
    print(f"# {program} (minutes)", flush=True)
    done = subprocess.run(
        [sys.executable, program, options.build_folder, options.shared_folder,
         "--json", path + ".new"], check=False, capture_output=True, text=True)
    if done.returncode:
        raise Missing((done.stdout + done.stderr).strip().splitlines()[-1])
    os.rename(path + ".new", path)


def rows_file(options, given, name, run):
    if given:
        return given
    folder = os.path.join(options.build_folder, "model_error")
    os.makedirs(folder, exist_ok=True)
    run(options, os.path.join(folder, name))
    return os.path.join(folder, name)


def gather(options):
    data = os.path.join(options.shared_folder, "data", SWEEP_FILE)
    if not os.path.exists(data):
        raise Missing(f"no {data}")
    with open(data, encoding="utf-8") as file:
        repeats = read_repeats(file)
    with open(rows_file(options, options.sweep, "sweep.txt", run_sweep),
              encoding="utf-8") as file:
        sweep = read_sweep(file, options.own_clock)
    with open(rows_file(options, options.foreign, "foreign.json", run_foreign),
              encoding="utf-8") as file:
        foreign = read_foreign(json.load(file))
    if not sweep or not foreign or not repeats:
        raise Missing("rows of the sweep, of the programs or of repeats")
    return sweep, foreign, repeats


def run(options):
    sweep, foreign, repeats = gather(options)
    noise = 100 * (math.exp(quantile(repeats, NOISE)) - 1)
    bound_rows, pair_rows = bounds(sweep + foreign), pairs_of(sweep, noise)
    print(f"# noise of the sweep {noise:.1f} % ({len(repeats)} repeats)")
    for rows, of in ((sweep, "the sweep"), (foreign, "the programs")):
        b = bound_of(of, rows)
        print(f"# {b.rows} rows of {of}: measured / simulated {b.median:.2f} in "
              f"the median, 68 of 100 within {100 * b.within:.0f} %")
    if share(pair_rows[-1]) < 0.75:
        print("the model does not rank: even pairs that are farthest apart are "
              "ordered right in less than 3 of 4", file=sys.stderr)
        return 1
    print("# geometric means over all shapes: " + "; ".join(
        f"{words(p)}: {100 * share(p):.0f} % of {p.pairs}"
        for p in pairs_of(means(sweep), noise)))
    print_portfolios(sweep, edge_of(pair_rows, 0.6), edge_of(pair_rows, 0.75))
    lines = c_lines(bound_rows, pair_rows, noise, model_version())
    tables = [bound_lines(bound_rows), pair_lines(pair_rows)]
    if not options.write:
        print("\n".join(lines + [""] + tables[0] + [""] + tables[1]))
        return 0
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    for table in tables:
        text = replace_table(text, table)
    write(TABLE, "\n".join(lines) + "\n")
    write(DOCUMENT, text)
    print(f"written: {TABLE}, {DOCUMENT}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build_folder")
    parser.add_argument("shared_folder")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sweep", help="what bench_sim_clock_sweep printed with "
                        "WS_SWEEP_ROWS=1")
    parser.add_argument("--foreign", help="foreign_mi300a.py --json")
    parser.add_argument("--own-clock", action="store_true",
                        help="rows of the sweep at the model's own clock")
    try:
        return run(parser.parse_args())
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIP


if __name__ == "__main__":
    sys.exit(main())
