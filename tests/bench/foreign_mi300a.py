#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HIP programs of other people, timed by the simulator, beside their times
measured on an MI300A.

usage: foreign_mi300a.py BUILD_FOLDER SHARED_FOLDER [--only KERNEL]
                         [--sizes N|all] [--card mi300a] [--json FILE]
                         [--reports FOLDER] [--jobs 2] [--limit SECONDS]

SHARED_FOLDER/foreign/mi300a has the sources (src/*.cpp) and measured.csv; both
are inputs that no repository of ours holds. Each source is compiled, main
included, for gfx942 by clang 21 into BUILD_FOLDER/foreign_mi300a and linked
with libwavesmith_hipsim.so. A row of the table is one process of it. What is missing
of ROCm's device library and clang-offload-bundler is unpacked there, too, from
Debian packages; nothing is installed. Where a tool or the folder is missing,
one line says so and the exit code is 77.

The measured programs ran 51 times over the same buffers: where these fit in the
Infinity Cache inputs are warm, else cold (warm, the simulator's stores never
reach HBM). The kernels only take time (WAVESMITH_SIM_MODE=time) except where
what one launch writes steers the next. One iteration is enough: the simulator
times a launch once. Buffers lie where the host's memory does, and with their
addresses times change by up to 2 %; so addresses are not randomised (setarch
-R).

Errors are |simulated - measured| / measured, of the mean of the 51 runs. Copies
have a summary of their own; bfs is mostly host time: shown, not counted.
"""
import argparse
import collections
import concurrent.futures
import csv
import ctypes
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LLVM = "/usr/lib/llvm-21"
PACKAGES = ["rocm-device-libs-21", "clang-tools-21"]
SKIP = 77

# What the rows of measured.csv say and what the programs are told:
#   source    src/SOURCE.cpp
#   size      pattern of the size's numbers
#   options   for these numbers; a name that is not a group is in `derived`
#   largest   first number up to which a row is run by default: beyond it a row
#             takes more than about 8 s of one core (Xeon, 2.5 GHz)
#   bytes     of device memory that a launch reads or writes, from the numbers;
#             the process needs up to twice that
#   mode      WAVESMITH_SIM_MODE
#   counted   in the errors over all kernels
Program = collections.namedtuple(
    "Program", "source size options largest bytes mode counted",
    defaults=["time", True])

# The file does not say the degree of a graph; its rows of one size are in the
# order of the script that measured them.
BFS_DEGREES = [4, 8, 16, 32]

MALL_BYTES = 256 << 20  # Infinity Cache of MI300A and MI300X

SQUARE = r"(?P<n>\d+)x(?P=n)"
PROGRAMS = {
    "vectoradd": Program(
        "vectoradd", r"(?P<n>\d+)", "--size {n}", 134217728,
        lambda x: 12 * x["n"]),
    "memcopy_d2d": Program(
        "memcopy", r"(?P<n>\d+)MB", "--size {n}", 512,
        lambda x: x["n"] << 21, counted=False),
    "matrixtranspose": Program(
        "matrixtranspose", SQUARE, "--size {n}", 12288,
        lambda x: 8 * x["n"] ** 2),
    "fir": Program(
        "fir", r"(?P<n>\d+)_taps(?P<taps>\d+)", "--length {n} --taps {taps}",
        262144, lambda x: 8 * x["n"]),
    "atax": Program(
        "atax", SQUARE, "--size {n}", 8192, lambda x: 4 * x["n"] ** 2),
    "relu": Program(
        "relu", r"(?P<n>\d+)", "--size {n}", 134217728,
        lambda x: 8 * x["n"]),
    "stencil2d": Program(
        "stencil2d", SQUARE, "--size {n}", 12288,
        lambda x: 8 * x["n"] ** 2),
    "bfs": Program(
        "bfs", r"nodes(?P<n>\d+)", "--nodes {n} --degree {degree}", 262144,
        lambda x: 8 * x["n"] + 4 * 32 * x["n"], mode="full", counted=False),
    "spmv_csr_scalar": Program(
        "spmv", r"(?P<n>\d+)x(?P=n)_nnz(?P<total>\d+)",
        "--rows {n} --nnz {nnz_per_row}", 262144,
        lambda x: 8 * x["total"] + 12 * x["n"]),
    "matrixmultiplication": Program(
        "matrixmultiplication", r"(?P<n>\d+)x(?P=n)x(?P=n)", "--size {n}",
        3072, lambda x: 12 * x["n"] ** 2),
    "nbody": Program(
        "nbody", r"(?P<n>\d+)_particles", "--bodies {n}", 16384,
        lambda x: 64 * x["n"]),
    "im2col": Program(
        "im2col", r"N1_C1_(?P<n>\d+)x(?P=n)_k(?P<mask>\d+)x(?P=mask)",
        "--size {n} --mask {mask}", 1024,
        lambda x: 4 * x["n"] ** 2 * (1 + x["mask"] ** 2)),
}


class Missing(Exception):
    """Something that this program needs is not there; the message says what."""


class Failed(Exception):
    """One program could not be compiled or run; the message says why."""


# ---- the measured rows ------------------------------------------------------

class Row:
    """A line of measured.csv; then also what became of it."""

    def __init__(self, kernel, size, mean_us, min_us, place):
        self.kernel, self.size, self.place = kernel, size, place
        self.mean_us, self.min_us = mean_us, min_us
        self.program = PROGRAMS[kernel]
        match = re.fullmatch(self.program.size, size)
        if not match:
            raise Missing(f"measured.csv has a size of {kernel} that is not "
                          f"understood: {size}")
        self.numbers = {k: int(v) for k, v in match.groupdict().items()}
        self.n = self.numbers["n"]
        self.simulated_us = self.seconds = self.failed = self.left_out = None
        self.profile = {}
        self.report = None  # where the launches' is kept

    def arguments(self):
        derived = {"degree": BFS_DEGREES[self.place % len(BFS_DEGREES)]}
        if "total" in self.numbers:
            derived["nnz_per_row"] = self.numbers["total"] // self.n
        return self.program.options.format(**self.numbers, **derived).split()

    def name(self):
        if self.kernel == "bfs":
            return f"{self.size}_degree{self.arguments()[-1]}"
        return self.size

    def bytes(self):
        return self.program.bytes(self.numbers)

    def residency(self):
        return "warm" if self.bytes() <= MALL_BYTES else "cold"

    def ratio(self):
        return self.simulated_us / self.mean_us


def read_rows(path):
    """In the order of the file; `place` counts rows of one kernel and size."""
    rows, places = [], collections.Counter()
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            kernel, size = line["kernel"], line["size"]
            if kernel not in PROGRAMS:
                print(f"# measured.csv has an unknown kernel: {kernel}")
                continue
            rows.append(Row(kernel, size, float(line["mean_us"]),
                            float(line["min_us"]), places[kernel, size]))
            places[kernel, size] += 1
    return rows


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 1 << 62


def spread(rows, count):
    """count of the rows of one kernel, evenly, the first and the last among
    them."""
    if count >= len(rows):
        return rows
    if count == 1:
        return rows[-1:]
    return [rows[i * (len(rows) - 1) // (count - 1)] for i in range(count)]


def choose(rows, sizes, memory_bytes):
    """Says of each row that is not run why."""
    for row in rows:
        if 2 * row.bytes() > memory_bytes:
            row.left_out = "too large for this machine's memory"
        elif sizes != "all" and row.n > row.program.largest:
            row.left_out = "slow"
    if sizes in ("all", "quick"):
        return
    for kernel in PROGRAMS:
        mine = [r for r in rows if r.kernel == kernel and not r.left_out]
        for row in mine:
            if row not in spread(mine, int(sizes)):
                row.left_out = "--sizes"


# ---- tools ------------------------------------------------------------------

def answers(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def find_clang():
    unpacked = os.path.join(ROOT, ".cache/clang-21/usr/lib/llvm-21/bin/clang")
    for clang in (os.environ.get("WAVESMITH_CLANG"), "clang-21",
                  LLVM + "/bin/clang", unpacked):
        if clang and (answers([clang, "-dumpversion"]) or "").startswith("21."):
            return shutil.which(clang)
    raise Missing("no clang 21 (./setup.sh --for test unpacks one; "
                  "WAVESMITH_CLANG names one)")


def fetch(package, folder):
    """Unpacks a Debian package below folder."""
    done = os.path.join(folder, package + ".done")
    if os.path.exists(done):
        return
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing(f"no {package}, and no apt-get to fetch it with")
    print(f"# unpacking {package} into {folder}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        try:
            subprocess.run(["apt-get", "-qq", "download", package], cwd=work,
                           check=True, capture_output=True, timeout=180)
            files = [f for f in os.listdir(work) if f.endswith(".deb")]
            subprocess.run(["dpkg-deb", "-x", *files, folder], cwd=work,
                           check=True, capture_output=True, timeout=180)
        except (OSError, subprocess.SubprocessError) as error:
            raise Missing(f"no {package}, and it could not be fetched "
                          f"({first_line(error)})") from error
    with open(done, "w", encoding="ascii"):
        pass


class Tools:
    """clang, and folders for the path and of ROCm's device library."""

    def __init__(self, folder):
        unpacked = os.path.join(folder, "packages")
        bundler = "clang-offload-bundler"
        bitcode = "lib/clang/21/amdgcn/bitcode"
        places = [LLVM, unpacked + LLVM]
        os.makedirs(unpacked, exist_ok=True)
        self.clang = find_clang()
        if not os.path.exists(LLVM + "/bin/lld"):
            raise Missing("no lld 21 (Debian: lld-21)")
        for wanted, package in zip((bitcode, "bin/" + bundler), PACKAGES):
            if not any(os.path.exists(f"{p}/{wanted}") for p in places):
                fetch(package, unpacked)
        self.bitcode = next((f"{p}/{bitcode}" for p in places
                             if os.path.exists(f"{p}/{bitcode}")), None)
        self.path = os.pathsep.join([p + "/bin" for p in places]
                                    + [os.environ["PATH"]])
        if not self.bitcode or not answers(
                [shutil.which(bundler, path=self.path) or bundler, "--version"]):
            raise Missing(f"{' or '.join(PACKAGES)} could not be used")


# ---- compiling --------------------------------------------------------------

def copy_sources(source_folder, folder):
    """The programs print ms with four digits, a tenth of a microsecond: more
    are wanted of a simulated time."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(source_folder):
        path = os.path.join(source_folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("%.4f", "%.7f")
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def compile_program(source, tools, library_folder, folder):
    """The program's path. It is compiled once for each text and command."""
    path = os.path.join(folder, "src", source + ".cpp")
    command = [
        tools.clang, "--driver-mode=g++", "-x", "hip",
        "--offload-arch=gfx942", "-O2", "-std=c++17",
        "--no-offload-new-driver", "-D__HIP_PLATFORM_AMD__=1", "-w",
        f"--rocm-device-lib-path={tools.bitcode}", path,
        f"-L{library_folder}", "-lwavesmith_hipsim",
        f"-Wl,-rpath,{library_folder}"]
    text = "\n".join(command).encode()
    for name in (path, os.path.join(folder, "src", "bench_common.h")):
        try:
            with open(name, "rb") as file:
                text += file.read()
        except OSError as error:
            raise Failed(first_line(error)) from error
    key = hashlib.sha256(text).hexdigest()[:12]
    program = os.path.join(folder, f"{source}-{key}")
    if os.path.exists(program):
        return program
    unfinished = program + ".new"
    try:
        done = subprocess.run(
            command + ["-o", unfinished], capture_output=True, text=True,
            check=False, timeout=120, env={**os.environ, "PATH": tools.path})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(first_line(error)) from error
    if done.returncode:
        raise Failed("does not compile: " + error_line(done.stderr))
    os.rename(unfinished, program)
    return program


# ---- running ----------------------------------------------------------------

def first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = lines[0].strip() if lines else repr(error)
    return text if len(text) <= 160 else text[:160] + "..."


def error_line(text):
    """The first line that says error, or the first."""
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = [line for line in lines if "error" in line.lower()]
    return first_line("\n".join(wanted or lines) or "no message")


def read_profile(path):
    """What the simulator says of the launch that took the most time; launches
    whose time was known have no profile. Findings of all."""
    longest, findings = {}, []
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                launch = json.loads(line)
                profile = launch.get("profile") or {}
                profile = profile.get("profile", profile)
                findings += (launch.get("report") or {}).get("findings") or []
                if profile.get("us", 0) > longest.get("us", 0):
                    longest = profile
    except OSError:
        return {}  # no launch at all
    for detail in ("lines", "loop", "functions"):
        longest.pop(detail, None)
    if findings:
        longest["findings"] = len(findings)
    return longest


def run_row(row, command, card, limit_s):
    """Fills in the row; whatever goes wrong is its own failure."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            launch_row(row, command, card, limit_s, report)
            if row.report and os.path.exists(report):
                shutil.copyfile(report, row.report)
    except subprocess.TimeoutExpired:
        row.failed = f"took more than {limit_s:g} s"
    except (Failed, OSError, ValueError) as error:
        row.failed = first_line(error)


def fixed_addresses():
    """The command before a program without which a time is not the same in
    every run; none where the machine does not allow it."""
    command = ["setarch", "-R"]
    if answers(command + ["true"]) is None:
        print("# addresses are randomised: times vary by up to 2 %")
        return []
    return command


def launch_row(row, command, card, limit_s, report):
    environment = {
        **os.environ, "WAVESMITH_SIM_CARD": card,
        "WAVESMITH_SIM_MODE": row.program.mode,
        "WAVESMITH_SIM_RESIDENCY": row.residency(),
        "WAVESMITH_SIM_THREADS": "1",
        "WAVESMITH_SIM_REPORT": report}
    start = time.monotonic()
    done = subprocess.run(
        [*command, *row.arguments(), "--iterations", "1"],
        capture_output=True, text=True, check=False, timeout=limit_s,
        env=environment)
    row.seconds = time.monotonic() - start
    if done.returncode:
        raise Failed(f"exit {done.returncode}: "
                     + error_line(done.stderr or done.stdout))
    row.profile = read_profile(report)
    row.simulated_us = read_time(done.stdout, row)


def read_time(output, row):
    """The program's line: kernel, size, iterations, mean, min, max in ms."""
    for cells in csv.reader(output.splitlines()):
        if cells[:2] == [row.kernel, row.size]:
            return 1e3 * float(cells[3])
    raise Failed("printed no line of this kernel and size")


def run_rows(rows, programs, options, limit_s):
    """The longest first, so that the last one is short."""
    prefix = fixed_addresses()
    if options.reports:
        os.makedirs(options.reports, exist_ok=True)
        for row in rows:
            row.report = os.path.join(options.reports,
                                      f"{row.kernel}-{row.name()}.json")
    ordered = sorted(rows, key=lambda r: -r.n / r.program.largest)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(
            lambda r: run_row(r, [*prefix, programs[r.program.source]],
                              options.card, limit_s), ordered))


def device(library, card):
    """Name and number of CUs of what the library simulates."""
    os.environ["WAVESMITH_SIM_CARD"] = card
    try:
        hip = ctypes.CDLL(library)
        name, count = ctypes.create_string_buffer(256), ctypes.c_int()
        multiprocessors = 63  # hipDeviceAttributeMultiprocessorCount
        if hip.hipDeviceGetName(name, 256, 0) or hip.hipDeviceGetAttribute(
                ctypes.byref(count), multiprocessors, 0):
            return "unknown device", 0
    except (OSError, AttributeError) as error:
        return f"unknown device ({first_line(error)})", 0
    return name.value.decode(), count.value


# ---- errors -----------------------------------------------------------------

PUBLISHED_FLOOR_US = 10


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def relative(row, measured="mean_us"):
    return row.simulated_us / getattr(row, measured) - 1


def weighted(rows, measured="mean_us"):
    """Sum of absolute errors by sum of measured times."""
    total = sum(getattr(r, measured) for r in rows)
    wrong = sum(abs(r.simulated_us - getattr(r, measured)) for r in rows)
    return wrong / total if total else float("nan")


def summary(rows, measured="mean_us"):
    """Of all rows; names to numbers."""
    kernels = dict.fromkeys(r.kernel for r in rows)
    of = {k: [r for r in rows if r.kernel == k] for k in kernels}
    long = [r for r in rows if r.mean_us >= PUBLISHED_FLOOR_US]
    return {
        "mean_over_kernels": mean(
            mean(abs(relative(r, measured)) for r in of[k]) for k in kernels),
        "mean_over_rows": mean(abs(relative(r, measured)) for r in rows),
        "signed_mean_over_rows": mean(relative(r, measured) for r in rows),
        "weighted_by_time": weighted(rows, measured),
        "weighted_by_time_from_10_us": weighted(long, measured)}


EXPLAINED = {
    "mean_over_kernels": "mean over kernels of their mean absolute errors",
    "mean_over_rows": "mean absolute error over rows",
    "signed_mean_over_rows": "signed mean over rows",
    "weighted_by_time":
        "weighted by measured time: sum |s - m| / sum m",
    "weighted_by_time_from_10_us":
        "the same of rows measured at 10 us or more (MGPUSim's WMAPE)"}


# ---- the tables -------------------------------------------------------------

def print_rows(rows):
    print("\n| kernel, size | measured mean | min | simulated | ratio | bound |"
          "\n|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row.kernel} {row.name()} | {row.mean_us:.1f} | "
              f"{row.min_us:.1f} | {row.simulated_us:.2f} | {row.ratio():.2f} | "
              f"{row.profile.get('bound', '-')} |")


def print_kernels(rows):
    print("\n| kernel | rows | mean absolute error | signed | weighted by time |"
          "\n|---|---|---|---|---|")
    for kernel, program in PROGRAMS.items():
        mine = [r for r in rows if r.kernel == kernel]
        if mine:
            note = "" if program.counted else " (not counted)"
            print(f"| {kernel}{note} | {len(mine)} | "
                  f"{mean(abs(relative(r)) for r in mine):.1%} | "
                  f"{mean(relative(r) for r in mine):+.1%} | "
                  f"{weighted(mine):.1%} |")


def print_overall(rows):
    counted = [r for r in rows if r.program.counted]
    if not counted:
        return
    by_mean, by_min = summary(counted), summary(counted, "min_us")
    print(f"\nover {len(counted)} rows of "
          f"{len({r.kernel for r in counted})} kernels, against the measured "
          "mean (against the measured minimum):")
    for name, words in EXPLAINED.items():
        print(f"  {by_mean[name]:6.1%} ({by_min[name]:6.1%})  {words}")
    print("bfs is mostly host time and memcopy_d2d no kernel: neither is in "
          "these.")


def print_missing(rows):
    for reason in dict.fromkeys(r.left_out for r in rows if r.left_out):
        mine = [r for r in rows if r.left_out == reason]
        sizes = collections.defaultdict(list)
        for row in mine:
            sizes[row.kernel].append(row.name())
        print(f"left out, {reason}: {len(mine)} of {len(rows)} rows: "
              + "; ".join(f"{k} {', '.join(v)}" for k, v in sizes.items()))
    for row in rows:
        if row.failed:
            print(f"failed: {row.kernel} {row.name()}: {row.failed}")


def write_json(path, rows, facts):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**facts, "rows": [
            {"kernel": r.kernel, "size": r.name(), "measured_us": r.mean_us,
             "measured_min_us": r.min_us, "simulated_us": r.simulated_us,
             "residency": r.residency(), "seconds": r.seconds,
             "failed": r.failed, "left_out": r.left_out, "report": r.report,
             "counted": r.program.counted, "profile": r.profile}
            for r in rows]}, file, indent=1)


# ---- the run ----------------------------------------------------------------

def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build_folder")
    parser.add_argument("shared_folder")
    parser.add_argument("--only", choices=list(PROGRAMS), metavar="KERNEL")
    parser.add_argument("--sizes", default="quick", help="all, or a number: so "
                        "many of a kernel (default: all that are not slow)")
    parser.add_argument("--card", default="mi300a")
    parser.add_argument("--json", help="file for all that is known of each row")
    parser.add_argument("--reports", help="folder for the WAVESMITH_SIM_REPORT "
                        "of each row")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float,
                        help="seconds a row may take (60; with --sizes all 120)")
    options = parser.parse_args(arguments)
    if options.sizes not in ("all", "quick") and not (
            options.sizes.isdigit() and int(options.sizes) > 0):
        parser.error("--sizes: a number above 0, or all")
    if options.jobs < 1:
        parser.error("--jobs: at least 1")
    return options


def inputs(shared_folder):
    below = os.path.join(shared_folder, "foreign", "mi300a")
    for folder in (below, shared_folder):
        if os.path.exists(os.path.join(folder, "measured.csv")):
            return folder
    raise Missing(f"no {below}/measured.csv")


def prepare(options, rows):
    """The library's folder, and programs by source; what does not compile is a
    failure of its rows."""
    folder = os.path.join(os.path.abspath(options.build_folder),
                          "foreign_mi300a")
    library_folder = os.path.join(os.path.abspath(options.build_folder), "lib")
    if not os.path.exists(library_folder + "/libwavesmith_hipsim.so"):
        raise Missing(f"no {library_folder}/libwavesmith_hipsim.so (target "
                      "wavesmith_hipsim)")
    tools = Tools(folder)
    copy_sources(os.path.join(inputs(options.shared_folder), "src"),
                 os.path.join(folder, "src"))
    programs = {}
    for source in dict.fromkeys(r.program.source for r in rows):
        try:
            programs[source] = compile_program(source, tools, library_folder,
                                               folder)
        except Failed as error:
            for row in rows:
                if row.program.source == source and not row.left_out:
                    row.failed = first_line(error)
    return library_folder, programs


def run(options):
    measured = inputs(options.shared_folder) + "/measured.csv"
    rows = [r for r in read_rows(measured)
            if options.only in (None, r.kernel)]
    choose(rows, options.sizes, available_bytes() * 3 // 4 // options.jobs)
    library_folder, programs = prepare(options, rows)
    limit_s = options.limit or (120 if options.sizes == "all" else 60)
    name, cus = device(library_folder + "/libwavesmith_hipsim.so", options.card)
    print(f"# us; simulated device: {name}, {cus} CUs; ratio: simulated / "
          "measured mean; inputs warm while they fit in 256 MB")
    if options.card.lower() not in name.lower():
        print(f"# CAVEAT: that is no {options.card.upper()}; the library does "
              "not know WAVESMITH_SIM_CARD")
    start = time.monotonic()
    run_rows([r for r in rows if not r.left_out and not r.failed], programs,
             options, limit_s)
    done = [r for r in rows if r.simulated_us is not None]
    print_rows(done)
    print_kernels(done)
    print_overall(done)
    print_missing(rows)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"# {time.monotonic() - start:.0f} s, {options.jobs} at a time; CPU "
          f"with compiling {used.ru_utime + used.ru_stime:.0f} s")
    if options.json:
        write_json(options.json, rows, {
            "device": name, "cus": cus, "card": options.card,
            "summary": summary([r for r in done if r.program.counted])})
    return 0 if done else 1


def main():
    try:
        return run(parse(sys.argv[1:]))
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIP


if __name__ == "__main__":
    sys.exit(main())
