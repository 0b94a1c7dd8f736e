# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wavesmith calibrate` against the simulator with hidden constants: all of them
drawn together, known to the device server alone, must be found again.

    calibrate.py WAVESMITH [SEEDS]

Tolerance: 5 %, or the 4 clocks in which a wave may issue (a latency of 65 looks
like one of 68), 8 for what lies beyond another latency, or 1, but none for what
is 1 to 3. Where a rate cannot be told, since all of the CUs' ways together, or
of HBM the Infinity Cache, are slower, that must be said. A profile of fewer XCDs and CUs is
met too; errors are one line with their exit code; a run that is interrupted
leaves nothing."""
import contextlib
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

HIDDEN = {
    "clock_mhz": 2100, "launch_ns": 2500, "behind_ns": 1000,
    "dispatch_wave": 17, "dispatch_group": 8, "lds_latency": 52,
    "l1_latency": 116, "l2_latency": 210, "hbm_extra": 272, "tlb_miss": 100,
    "mall_extra": 117, "cu_rate": 43, "mall_rate": 5300, "hbm_rate": 4100, "l2_rate": 1640,
    "store_ack": 240, "atomic_extra": 100, "vmem_store": 2, "barrier": 12,
    "smem_hit": 48, "smem_l2": 172, "smem_mall": 418, "fetch_first": 43}
IN_VISITS = ("lds_latency", "l1_latency", "l2_latency", "store_ack", "smem_hit",
             "smem_l2", "smem_mall", "fetch_first")
BEYOND_ANOTHER = ("tlb_miss", "atomic_extra")
IN_NS = ("mall_extra", "hbm_extra")  # likewise
EXACT = ("vmem_store",)


def run(tool, *arguments, code=0):
    done = subprocess.run([tool, "calibrate", *arguments], check=False,
                          capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def one(tool, folder, seed):
    draw = random.Random(seed)
    hidden = {name: round(value * draw.uniform(0.7, 1.4))
              for name, value in HIDDEN.items()}
    constants = dict(hidden)
    if seed % 2:
        constants |= {"xcds": 4, "cus_per_xcd": 20}
    secret, found = folder / "secret.json", folder / "found.json"
    secret.write_text(json.dumps(
        {"name": "secret", "base": "mi300x", "constants": constants}))
    base = folder / "base.json"
    base.write_text(json.dumps(
        {"name": "base", "base": "mi300x",
         "constants": {name: constants[name] for name in ("xcds", "cus_per_xcd")
                       if name in constants}}))
    print(run(tool, "--device", f"sim:{secret}", "--base", str(base),
              "--out", str(found), "--name", "found"))
    wrong = []
    cus = constants.get("xcds", 8) * constants.get("cus_per_xcd", 38)
    ways = cus * hidden["cu_rate"] * hidden["clock_mhz"] / 1e3  # GB/s
    reached = {"mall_rate": ways, "hbm_rate": min(ways, hidden["mall_rate"])}
    rows = json.loads(found.read_text())["constants"]
    assert rows.keys() == hidden.keys(), rows.keys()
    for name, row in rows.items():
        value, wanted = row["value"], hidden[name]
        allowed = (4 if name in IN_VISITS else 8 if name in BEYOND_ANOTHER else
                   8e3 / hidden["clock_mhz"] if name in IN_NS else
                   0 if name in EXACT else 1)
        hides = wanted > reached.get(name, wanted)
        if hides:
            wanted = max(value, reached[name])
        if (abs(value - wanted) > max(0.05 * wanted, allowed)
                or (row["confidence"] == "L") != hides):
            wrong.append(f"seed {seed}: {name} is {wanted}, found {row}")
        assert row["source"].startswith("calibrated "), row
    assert not wrong, wrong
    # The profile is one.
    shown = subprocess.run([tool, "sim", "--print-profile", str(found)],
                           check=True, capture_output=True, text=True).stdout
    assert json.loads(shown)["constants"]["l2_latency"]["value"] == json.loads(
        found.read_text())["constants"]["l2_latency"]["value"]


def errors(tool, folder):
    out = str(folder / "x.json")
    for code, text, arguments in (
            (2, "--out FILE.json", ["--device", "sim"]),
            (2, "no benchmark tells 'fast'",
             ["--device", "sim", "--out", out, "--only", "launch_ns,fast"]),
            (1, "cannot be written",
             ["--device", "sim", "--out", str(folder / "no" / "x.json")]),
            (3, "mi300b", ["--device", "sim:mi300b", "--out", out]),
            (2, "mi300b", ["--device", "sim", "--base", "mi300b", "--out", out]),
            (2, "80 CUs, mi300x 304", ["--device", "sim:mi308x", "--out", out]),
            (2, "--name becomes", ["--device", "sim", "--out", out, "--name",
                                   "a b"]),
            (1, "is no file", ["--device", "sim", "--out", str(folder)])):
        said = run(tool, *arguments, code=code)
        assert said.count("\n") == 1 and text in said, (arguments, said)
        assert not pathlib.Path(out).exists()


def limits(tool, folder):
    """A search ends at what a profile may hold, from either side, and says so."""
    out = folder / "limit.json"

    def fit(constant, device, base):
        for name, constants in (("device", device), ("base", base)):
            (folder / f"{name}.json").write_text(json.dumps(
                {"name": name, "base": "mi300x", "constants": constants}))
        said = run(tool, "--device", f"sim:{folder}/device.json", "--base",
                   f"{folder}/base.json", "--only", constant, "--out", str(out))
        return said, json.loads(out.read_text())["constants"][constant]

    # The base's clock under load is above the card's clock.
    said, row = fit("clock_mhz", {"clock_mhz": 1300, "loaded_mhz": 1200},
                    {"clock_mhz": 1420, "loaded_mhz": 1420})
    assert row["value"] == 1420 and row["confidence"] == "L", row
    assert "1420 ?" in said, said
    # Below MI300X's, but not below this base's.
    _, row = fit("clock_mhz", {"clock_mhz": 1100, "loaded_mhz": 1000},
                 {"clock_mhz": 1420, "loaded_mhz": 1000})
    assert abs(row["value"] - 1100) <= 11 and row["confidence"] == "M", row
    # Lines of HBM pass the Infinity Cache.
    said, row = fit("hbm_rate", {"hbm_rate": 5740, "mall_rate": 3710},
                    {"mall_rate": 3710})
    assert row["confidence"] == "L" and row["value"] >= 3710 * 0.95, row
    assert "higher ones give the same time" in said, said
    # From the highest value down: 16 times 2500.
    _, row = fit("launch_ns", {"launch_ns": 2000}, {"launch_ns": 40000})
    assert abs(row["value"] - 2000) <= 100, row


def by_hand(tool, folder):
    """Times that docs/simulator.md's constants give without the simulator, at
    2100 MHz, on 304 CUs: bytes / rate, stores x clocks."""
    # Four workgroups of 512 lanes a CU, or one of 1024, load 16 bytes a turn.
    turn, wide = 4 * 304 * 512 * 16, 304 * 1024 * 16
    wanted = {
        "cu_rate": 8 * 2**20 / 43 / 2100,
        "mall_rate": (20 - 5) * turn / 5300e3,  # 190 and 40 MiB, in turns
        "hbm_rate": (26 - 8) * turn / 4100e3,
        "l2_rate": (160 - 32) * wide / 8 / (1640 / 4) / 2100,
        "vmem_store": 600 * 16 * (4 + 4 * 2) / 2100}
    further = {  # of 3000 loads
        ("hbm_extra", "mall_extra"): 3000 * (272 - 117) / 1e3,
        ("tlb_miss", "hbm_extra"): 3000 * 100 / 2100}
    names = [*wanted, "hbm_extra", "mall_extra", "tlb_miss"]
    said = run(tool, "--device", "sim", "--only", ",".join(names), "--out",
               str(folder / "by_hand.json"))
    rows = [line.split() for line in said.splitlines()[1:1 + len(names)]]
    took = {row[0]: float(row[-4]) for row in rows}
    for name, us in wanted.items():
        assert abs(took[name] / us - 1) < 0.02, (name, took, us)
    for (more, less), us in further.items():
        assert abs((took[more] - took[less]) / us - 1) < 0.02, (more, took, us)


def state(pid):
    """("S", its parent); a process that has ended is a "Z"."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "Z", 0
    words = stat.rsplit(")", 1)[1].split()
    return words[0], int(words[1])


def children(parent):
    return [int(process.name)
            for process in pathlib.Path("/proc").glob("[0-9]*")
            if state(process.name)[1] == parent]


def is_fitting(process):
    """It has opened the profile that it tries."""
    try:
        return any("wavesmith-calibrate" in os.readlink(file) for file in
                   pathlib.Path(f"/proc/{process.pid}/fd").iterdir())
    except OSError:
        return False


def until(true, what):
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def interrupted(tool, folder):
    """However a run ends, it leaves no file, and no process."""
    out, temporary = folder / "out", folder / "tmp"
    environment = dict(os.environ, TMPDIR=str(temporary))

    def start(while_fitting, limit=None):
        out.mkdir()
        temporary.mkdir()
        process = subprocess.Popen(
            [tool, "calibrate", "--device", "sim", "--out", str(out / "x.json")],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment, preexec_fn=limit)
        if while_fitting:
            until(lambda: is_fitting(process) or process.poll() is not None,
                  "no fit")
            assert process.poll() is None, process.communicate()
        return process

    def nothing_is_left(servers):
        until(lambda: all(state(pid)[0] == "Z" for pid in servers),
              f"{servers} go on")
        left = [*out.iterdir(), *temporary.iterdir()]
        assert not left, left
        out.rmdir()
        temporary.rmdir()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = start(while_fitting=True)
        servers = children(process.pid)
        process.send_signal(number)
        assert process.wait(60) == -number, process.returncode
        process.stderr.close()
        nothing_is_left(servers)
    # Its device servers are killed.
    process = start(while_fitting=True)
    while process.poll() is None:
        for pid in children(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    said = process.communicate()[1]
    assert process.returncode == 3 and said.count("\n") == 1, said
    nothing_is_left([])
    # A full disk.
    process = start(while_fitting=False, limit=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (0, 0)))
    said = process.communicate()[1]
    assert process.returncode == 3, said
    nothing_is_left([])


def main():
    tool = sys.argv[1]
    seeds = [int(seed) for seed in sys.argv[2:]] or [1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        errors(tool, folder)
        limits(tool, folder)
        interrupted(tool, folder)
        by_hand(tool, folder)
        for seed in seeds:
            one(tool, folder, seed)
    print("ok")


main()
