#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A tuning run whose disk is full: under the archive, under the temp folder
(of several sizes, for a linker that maps its output fails in other ways than
one that writes), or by a limit on the size of files. It ends with one line
and exit code 3, nothing is condemned, and once there is room the same command
comes to what an undisturbed run does.

usage: full_disk.py PROGRAM TEMPLATE FOLDER [OPTION OF TUNE ...]
Without a namespace where a tmpfs may be mounted: 77, with the limits tried.
"""
import os, resource, shutil, sqlite3, subprocess, sys
from kills import read

INSIDE = "WAVESMITH_FULL_DISK_INSIDE"
ENVIRONMENT = 3


def mount(folder, size):
    os.makedirs(folder, exist_ok=True)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none",
                           folder], stderr=subprocess.DEVNULL).returncode == 0


def fill(folder):
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)) == 4096:
                pass
        except OSError:
            pass


def read_so_far(path):
    try:
        return read(path) if os.path.exists(path) else []
    except sqlite3.OperationalError:  # there was no room for tables either
        return []


class Cases:
    def __init__(self, program, template, folder, options):
        self.command = [program, "tune", template, *options, "--archive"]
        self.folder, self.failed = folder, 0
        self.archive = os.path.join(folder, "undisturbed.db")
        self.tune({})
        self.want = read(self.archive)

    def tune(self, environment, most_bytes=None):
        def limit():
            if most_bytes:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        return subprocess.run(self.command + [self.archive], text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env={**os.environ, **environment}, preexec_fn=limit)

    def check(self, what, run, make_room, environment={}):
        said = [line for line in run.stderr.splitlines()
                if line.startswith("wavesmith tune: ")]
        got = read_so_far(self.archive)
        wrong = [row for row in got if row not in self.want]
        make_room()
        self.tune(environment)
        same = read_so_far(self.archive) == self.want
        good = run.returncode in (0, ENVIRONMENT) and not wrong and same and \
            len(said) == (run.returncode != 0)
        self.failed += not good
        print(f"{'ok' if good else 'NOT OK'}: {what}: exit code {run.returncode}, "
              f"{len(got)} candidates, condemned {wrong}, "
              f"{'same' if same else 'OTHER'} sequence afterwards; {said}", flush=True)
        return run.returncode

    def under_archive(self, size):
        disk = os.path.join(self.folder, f"archive-{size}")
        mount(disk, size)
        self.archive = os.path.join(disk, "a.db")
        return self.check(f"archive on a disk of {size}", self.tune({}),
                          lambda: mount_again(disk))

    def under_temp(self, size, filled):
        disk = os.path.join(self.folder, f"temp-{size}")
        self.archive = os.path.join(self.folder, f"temp-{size}.db")
        mount(disk, size)
        if filled:
            fill(disk)
        temp = {"TMPDIR": disk}
        return self.check(f"temp folder on a disk of {size}", self.tune(temp),
                          lambda: mount_again(disk), temp)

    def limited(self, most_bytes):
        self.archive = os.path.join(self.folder, f"limit-{most_bytes}.db")
        return self.check(f"files of at most {most_bytes} bytes",
                          self.tune({}, most_bytes), lambda: None)


def mount_again(disk):
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)


def main():
    program, template, folder, *options = sys.argv[1:]
    inside = ["unshare", "-rm"]  # root's mounts would outlive us elsewhere
    if INSIDE not in os.environ and shutil.which("unshare") and subprocess.run(
            inside + ["true"], stderr=subprocess.DEVNULL).returncode == 0:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", inside + [sys.executable, *sys.argv])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    mounts = INSIDE in os.environ and mount(os.path.join(folder, "probe"), "64k")
    cases = Cases(program, template, folder, options)
    codes = [cases.limited(8 << 10), cases.limited(500 << 10)]
    if mounts:
        codes += [cases.under_archive("200k"), cases.under_archive("600k"),
                  cases.under_temp("16k", False), cases.under_temp("17k", False),
                  cases.under_temp("36k", False), cases.under_temp("2m", True)]
    if codes.count(ENVIRONMENT) < len(codes) - 1:
        print("NOT OK: these disks were not full enough to try anything")
        return 1
    if not mounts:
        print("skipped: no tmpfs can be mounted here; limits alone were tried")
    return 1 if cases.failed else 0 if mounts else 77


if __name__ == "__main__":
    sys.exit(main())
