#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kills and stops of a tuning run, of its compile servers, of their
jobs and of its device servers, at random moments: no candidate may be
condemned, and what is proposed must be what an undisturbed run proposes.

usage: kills.py PROGRAM TEMPLATE FOLDER [--kills N] [--each N] [--seed N]
                [--pause S] [--long-stops N SECONDS] [-- OPTION OF TUNE ...]
Runs end and begin anew until N kills and stops are done, and of tune, compile
servers, jobs and device servers --each N have been ended; each finished run is compared
with the undisturbed one: candidates in the order of draws, and their verdicts.
"""
import argparse, collections, os, random, shutil, signal, sqlite3, subprocess
import sys, time

SQL = """SELECT d.sequence, d.candidate_id, c.verdict, c.stage, c.reason
         FROM draw d JOIN candidate c ON c.id = d.candidate_id
         ORDER BY d.run_id, d.sequence"""


def read(path):
    with sqlite3.connect(path) as base:
        return base.execute(SQL).fetchall()


def processes():
    """pid -> (parent, name)"""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            text = open(f"/proc/{name}/stat").read()
        except OSError:
            continue
        rest = text[text.rindex(")") + 2:].split()
        found[int(name)] = (int(rest[1]), text[text.index("(") + 1:text.rindex(")")])
    return found


def targets(tune):
    """What hangs together with a run, by what it is."""
    out = collections.defaultdict(list)
    table = processes()
    children = collections.defaultdict(list)
    for pid, (parent, _) in table.items():
        children[parent].append(pid)
    out["tune"] = [tune] if tune in table else []
    for pid in children[tune]:
        kind = "device" if "devic" in table[pid][1] else "compiler"  # 15 letters
        out[kind].append(pid)
        out["job"] += children[pid]
    return out


def send(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class Disturbed:
    def __init__(self, arguments, command, archive, wanted):
        self.a, self.command, self.archive = arguments, command, archive
        self.wanted = wanted
        self.random = random.Random(arguments.seed)
        self.counts = collections.Counter()
        self.errors = []
        self.log = open(os.path.join(arguments.folder, "log"), "w")

    def start(self):
        return subprocess.Popen(self.command + ["--archive", self.archive],
                                stdout=subprocess.DEVNULL, stderr=self.log)

    def strike(self, tune):
        found = targets(tune.pid)
        kinds = [kind for kind in ("tune", "compiler", "device", "job") if found[kind]]
        if not kinds:
            return
        if "job" in kinds:  # they are short, and what dies in one is a candidate's
            kinds += ["job"] * 2
        kind = self.random.choice(kinds)
        what = self.random.choice(["KILL", "KILL", "TERM", "STOP"])
        pid = self.random.choice(found[kind])
        stop_s = self.random.uniform(0.05, 1.5)
        if self.a.long_stops and self.counts["long"] < self.a.long_stops[0] and \
                sum(self.counts.values()) % 20 == 10:
            kind, what, stop_s = self.random.choice(["tune", "compiler", "device"]), "STOP", self.a.long_stops[1]
            if not found[kind]:
                return
            pid = found[kind][0]
            self.counts["long"] += 1
        if not send(pid, getattr(signal, "SIG" + what)):
            return
        if what == "STOP":
            time.sleep(stop_s)
            send(pid, signal.SIGCONT)
        self.counts[f"{kind} {what}"] += 1

    def done(self):
        return sum(n for k, n in self.counts.items() if k != "long")

    def enough(self):
        ended = collections.Counter()
        for key, count in self.counts.items():
            if not key.endswith("STOP"):
                ended[key.split()[0]] += count
        return self.done() >= self.a.kills and all(
            ended[kind] >= self.a.each for kind in ("tune", "compiler", "device", "job"))

    def run(self):
        """One archive from the beginning to the end, killed on the way; not so
        often that it never comes to an end."""
        tune, last = self.start(), self.done() + self.a.kills
        while True:
            try:
                tune.wait(self.random.uniform(0.2, 2) * self.a.pause)
            except subprocess.TimeoutExpired:
                if not self.enough() and self.done() < last:
                    self.strike(tune)
                continue
            if tune.returncode == 0 and len(read(self.archive)) == self.wanted:
                return
            self.errors.append(tune.returncode)
            tune = self.start()


def main():
    own, rest = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("template")
    parser.add_argument("folder")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--each", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.5)
    parser.add_argument("--long-stops", type=float, nargs=2)
    a = parser.parse_args(own)
    shutil.rmtree(a.folder, ignore_errors=True)
    os.makedirs(a.folder)
    command = [a.program, "tune", a.template] + rest
    quiet = os.path.join(a.folder, "quiet.db")
    begin = time.time()
    subprocess.run(command + ["--archive", quiet], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    want = read(quiet)
    print(f"undisturbed: {len(want)} candidates in {time.time() - begin:.0f} s,",
          dict(collections.Counter(row[2] for row in want)), flush=True)
    runs = other = condemned = 0
    disturbed = Disturbed(a, command, os.path.join(a.folder, "killed.db"), len(want))
    while not disturbed.enough():
        for name in os.listdir(a.folder):
            if name.startswith("killed.db"):
                os.remove(os.path.join(a.folder, name))
        disturbed.run()
        runs += 1
        got = read(disturbed.archive)
        other += [row[:2] for row in got] != [row[:2] for row in want]
        verdicts = {row[1]: row[2] for row in want}
        for row in got:
            if row[2] != verdicts.get(row[1]):
                condemned += 1
                print(f"candidate {row[1][:8]} is {row[2:]}, was {verdicts.get(row[1])}")
        print(f"run {runs}: {disturbed.done()} kills, {len(got)} candidates", flush=True)
    codes = dict(collections.Counter(disturbed.errors))
    print("kills and stops:", dict(sorted(disturbed.counts.items())))
    print(f"seed {a.seed}: {runs} runs, {disturbed.done()} kills, {condemned} other verdicts, {other} other sequences, "
          f"tune was started again after codes {codes}, {time.time() - begin:.0f} s")
    return 1 if condemned or other else 0


if __name__ == "__main__":
    sys.exit(main())
