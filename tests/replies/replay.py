#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated replies through `wavesmith tune`, and what became of them.

  replay.py WAVESMITH SOURCE_DIR [options]

Generates a recording (generate.py), has wavesmith play it, watches the
processes meanwhile, and reads the archive afterwards. Exits with 1 when the
supervisor or a server of its own died, a reply has no verdict, one is judged as
it must not be, a job outlived its limits, or memory grew. Prints a table.
"""
import argparse
import collections
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# A job's limits (runtime/search/produce.c), and how long ending it may take.
CPU_SECONDS, WALL_SECONDS, GRACE_SECONDS = 6, 60, 1
MOST_GROWTH = 4  # MiB per 1,000 replies
LOOK_SECONDS = 0.2
TICKS = os.sysconf("SC_CLK_TCK")


# ---- processes ----
def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def seconds_of(pid):
    """CPU time so far and time since its start; None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        with open("/proc/uptime", encoding="ascii") as file:
            now = float(file.read().split()[0])
    except OSError:
        return None
    if fields[0] == "Z":
        return None
    return (int(fields[11]) + int(fields[12])) / TICKS, now - int(fields[19]) / TICKS


def resident_mib(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


class Watch:
    """A run's processes: the supervisor, its servers, and their jobs."""

    def __init__(self, process):
        self.process = process
        self.replies = 0  # answered so far
        self.memory = []  # (replies, MiB)
        self.servers = set()
        self.longest_cpu = self.longest_wall = 0.0

    def look(self):
        size = resident_mib(self.process.pid)
        if size and (not self.memory or self.memory[-1][0] != self.replies):
            self.memory.append((self.replies, size))
        for server in children(self.process.pid):
            self.servers.add(server)
            for job in children(server):
                taken = seconds_of(job)
                if taken:
                    self.longest_cpu = max(self.longest_cpu, taken[0])
                    self.longest_wall = max(self.longest_wall, taken[1])

    def read_progress(self, lines, keep):
        for line in lines:
            keep.append(json.loads(line))
            self.replies = keep[-1].get("questions", self.replies)

    def run(self):
        """Until the end; its events and what it used."""
        events = []
        reader = threading.Thread(target=self.read_progress, args=(self.process.stdout, events))
        reader.start()
        while True:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                break
            self.look()
            time.sleep(LOOK_SECONDS)
        reader.join()
        return os.waitstatus_to_exitcode(status), events, used.ru_utime + used.ru_stime

    def growth(self):
        """MiB per 1,000 replies over the last four fifths, by least squares."""
        points = [p for p in self.memory if p[0] >= self.memory[-1][0] / 5]
        n = len(points)
        mean_x, mean_y = (sum(p[i] for p in points) / n for i in range(2))
        spread = sum((x - mean_x)**2 for x, _ in points)
        slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
        return 1000 * slope


# ---- what became of the replies ----
def wrongly_judged(item, verdict, confirmed, device):
    """Why this verdict must not be, or None."""
    if not verdict:
        return "has no verdict"
    if confirmed and item["fate"] != "ok":
        return "is confirmed as a winner"
    if verdict == "ok" and (item["fate"] == "never" or (item["fate"] == "device" and device)):
        return "is accepted"
    return None


def read_archive(path):
    archive = sqlite3.connect(path)
    rows = archive.execute("SELECT sequence,verdict,stage,reason,candidate_id FROM exchange")
    confirmed = archive.execute("SELECT candidate_id FROM confirmation WHERE verdict='ok'")
    # A confirmation may refute what the exchange calls ok.
    now = dict(archive.execute("SELECT id,verdict FROM candidate"))
    return rows.fetchall(), {row[0] for row in confirmed}, now


def remembered_mib(path):
    """Texts of candidates that may be parents: the run keeps them in memory."""
    archive = sqlite3.connect(path)
    timed = "SELECT id,template_hash FROM candidate WHERE verdict IN ('ok','duplicate')"
    sizes = archive.execute(
        "SELECT (SELECT total(length(text)) FROM template WHERE hash IN"
        f" (SELECT template_hash FROM ({timed}))) + (SELECT total(length(text)) FROM"
        f" candidate_body JOIN body ON hash=body WHERE candidate_id IN (SELECT id FROM ({timed})))")
    return sizes.fetchone()[0] / 2**20


def judge(options, folder):
    """Complaints, counts by kind and verdict, and reasons of the worst."""
    with open(f"{folder}/kinds", encoding="utf-8") as file:
        items = {item["sequence"]: item for item in map(json.loads, file)}
    rows, confirmed, now = read_archive(f"{folder}/archive.db")
    complaints, counts = [], collections.Counter()
    for sequence, verdict, stage, reason, candidate in rows:
        item = items.pop(sequence)
        if options.repairs:
            item["fate"] = "ok"
        why = wrongly_judged(item, now.get(candidate, verdict), candidate in confirmed,
                             options.device != "estimate")
        counts[item["kind"], verdict] += 1
        if reason.startswith("the compile server"):
            why = "took a server with it"
        if why:
            complaints.append(f"{sequence} ({item['kind']}: {item['label']}) {why}: "
                              f"{verdict} {stage} {reason[:200]}")
    complaints += [f"{sequence} was never answered" for sequence in items]
    return complaints, counts


def print_table(counts):
    kinds = sorted({kind for kind, _ in counts})
    verdicts = sorted({verdict for _, verdict in counts})
    print(f"{'kind':10}" + "".join(f"{verdict:>12}" for verdict in verdicts))
    for kind in kinds:
        print(f"{kind:10}" + "".join(f"{counts[kind, verdict]:12}" for verdict in verdicts))


# ---- the run ----
def start(options, folder):
    weights = options.mix.split(",") if options.mix else []
    subprocess.run([sys.executable, "-B", f"{HERE}/generate.py", options.source, options.suite,
                    options.base, str(options.seed), str(options.count), f"{folder}/recording",
                    f"{folder}/kinds"] + weights, check=True)
    command = [options.wavesmith, "tune", f"{options.source}/ir-templates/{options.base}.ll",
               "--archive", f"{folder}/archive.db", "--model", f"replay-any:{folder}/recording",
               "--strategy", "best-of-n", "--small-moves", "0", "--repairs", str(options.repairs), "--in-flight", "16",
               "--evaluations", str(options.count + 1), "--shapes", options.shapes,
               "--device", options.device, "--json"]
    log = open(f"{folder}/log", "w", encoding="utf-8")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)


def check_run(options, code, events, watch, folder):
    complaints = []
    if code != 0 or not events or events[-1]["event"] != "result":
        with open(f"{folder}/log", encoding="utf-8", errors="replace") as file:
            complaints.append(f"wavesmith ended with {code}: {file.read()[-500:]}")
    if watch.longest_cpu > CPU_SECONDS + GRACE_SECONDS:
        complaints.append(f"a job took {watch.longest_cpu:.1f} s of CPU time")
    if watch.longest_wall > WALL_SECONDS + GRACE_SECONDS:
        complaints.append(f"a job took {watch.longest_wall:.1f} s")
    return complaints


def check_memory(options, watch, folder):
    """It may grow by what the run remembers, and what that takes beside the text."""
    remembered = 1000 * remembered_mib(f"{folder}/archive.db") / options.count
    print(f"memory {watch.memory[0][1]:.0f} to {watch.memory[-1][1]:.0f} MiB,"
          f" {watch.growth():+.2f} MiB per 1,000 replies; {remembered:.2f} of text remembered")
    if options.count < 1000 or watch.growth() < MOST_GROWTH + 2 * remembered:
        return []
    return ["memory grows by more than what is remembered"]


def replay(options, folder):
    begin = time.monotonic()
    watch = Watch(start(options, folder))
    code, events, cpu = watch.run()
    seconds = events[-1].get("seconds", 0) if events else time.monotonic() - begin
    complaints = check_run(options, code, events, watch, folder)
    if os.path.exists(f"{folder}/archive.db"):
        found, counts = judge(options, folder)
        complaints += found + check_memory(options, watch, folder)
        print_table(counts)
    rate = options.count / seconds if seconds else 0
    print(f"{options.count} replies in {seconds:.0f} s: {rate:.2f}/s; {cpu / options.count:.3f} s"
          f" of CPU time each, so at most {2 * options.count / cpu:.2f}/s on two cores")
    print(f"longest job {watch.longest_cpu:.1f} s of CPU time, {watch.longest_wall:.1f} s; "
          f"{len(watch.servers)} servers")
    if rate < options.least_rate:
        complaints.append(f"{rate:.2f} replies/s are less than {options.least_rate}")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wavesmith")
    parser.add_argument("source")
    parser.add_argument("--suite", help="of cheats (default: SOURCE/tests/cheats/suite)")
    parser.add_argument("--base", default="fp8_gemm_naive", help="the run's template")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mix", default="", help="KIND=WEIGHT,... in place of the usual shares")
    parser.add_argument("--shapes", default="64,64,128")
    parser.add_argument("--device", default="estimate")
    parser.add_argument("--repairs", type=int, default=0, help="above 0 replies are taken as"
                        " repairs of others: what becomes of them is not judged")
    parser.add_argument("--least-rate", type=float, default=0, help="replies per second")
    parser.add_argument("--folder", help="keeps recording, kinds, archive and log there")
    options = parser.parse_args()
    options.suite = options.suite or f"{options.source}/tests/cheats/suite"
    with tempfile.TemporaryDirectory() as temporary:
        if options.folder:
            os.makedirs(options.folder, exist_ok=True)
            for name in glob.glob(f"{glob.escape(options.folder)}/archive.db*"):
                os.remove(name)
        complaints = replay(options, options.folder or temporary)
    for complaint in complaints[:40]:
        print(f"not ok - {complaint}")
    print(f"{len(complaints)} complaints" if complaints else "ok")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
