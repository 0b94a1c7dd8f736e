# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""foreign_mi300a.py without the programs that it is for: sizes, the choice of
rows, errors worked out by hand, and the whole run over shell scripts in place of
a compiler and of programs. The numbers are made up.
"""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import foreign_mi300a as foreign  # noqa: E402

MEASURED = """kernel,size,runs,mean_us,min_us,max_us
relu,64,3,8,4,9
relu,128,3,10,9,11
relu,256,3,20,20,20
nbody,512_particles,3,100,90,110
bfs,nodes32,3,50,40,60
bfs,nodes32,3,40,30,50
"""
# prints the line of its kernel; fails and hangs on request
PROGRAM = """#!/bin/sh
[ $2 = 256 ] && { echo "some warning" >&2; echo "HIP error made up" >&2; exit 1; }
[ $2 = 128 ] && sleep 20
case $0 in
*relu*) echo "relu,$2,1,0.0060000,0,0" ;;
*nbody*) echo "nbody,$2_particles,1,0.1500000,0,0" ;;
*bfs*) echo "bfs,nodes$2,1,0.0$4,0,0" ;;
esac
echo '{"profile":{"profile":{"us":6,"bound":"hbm"}}}' >>$WAVESMITH_SIM_REPORT
"""


def row(kernel, size, mean_us=1.0, simulated_us=None, place=0):
    made = foreign.Row(kernel, size, mean_us, mean_us / 2, place)
    made.simulated_us = simulated_us
    return made


class Sizes(unittest.TestCase):
    def test_arguments(self):
        for kernel, size, wanted in (
                ("vectoradd", "77", "--size 77"),
                ("memcopy_d2d", "3MB", "--size 3"),
                ("matrixtranspose", "64x64", "--size 64"),
                ("fir", "512_taps5", "--length 512 --taps 5"),
                ("spmv_csr_scalar", "100x100_nnz700", "--rows 100 --nnz 7"),
                ("matrixmultiplication", "32x32x32", "--size 32"),
                ("nbody", "256_particles", "--bodies 256"),
                ("im2col", "N1_C1_9x9_k3x3", "--size 9 --mask 3")):
            self.assertEqual(" ".join(row(kernel, size).arguments()), wanted)

    def test_degrees_by_place(self):
        degrees = [row("bfs", "nodes8", place=p).arguments()[-1]
                   for p in range(4)]
        self.assertEqual(degrees, ["4", "8", "16", "32"])

    def test_unknown_size(self):
        with self.assertRaises(foreign.Missing):
            row("matrixtranspose", "64x32")

    def test_residency(self):
        """16 Mi floats in and out are 128 MiB; 64 Mi are 512."""
        self.assertEqual(row("relu", str(1 << 24)).residency(), "warm")
        self.assertEqual(row("relu", str(1 << 26)).residency(), "cold")
        # 4 Mi floats in, 49 times as many out
        self.assertEqual(row("im2col", "N1_C1_2048x2048_k7x7").residency(),
                         "cold")

    def test_choice(self):
        rows = [row("relu", str(2 ** e)) for e in (10, 11, 12, 13, 14, 31)]
        foreign.choose(rows, "quick", 1 << 40)
        self.assertEqual([r.left_out for r in rows], [None] * 5 + ["slow"])
        rows = [row("relu", str(2 ** e)) for e in (10, 11, 12, 13, 14, 31)]
        foreign.choose(rows, "3", 1 << 40)
        self.assertEqual([r.n for r in rows if not r.left_out],
                         [2 ** 10, 2 ** 12, 2 ** 14])
        rows = [row("relu", "1024"), row("relu", str(2 ** 31))]
        foreign.choose(rows, "all", 1 << 20)
        self.assertIn("memory", rows[1].left_out)
        self.assertIsNone(rows[0].left_out)


class Errors(unittest.TestCase):
    def test_by_hand(self):
        """relu: -50 %, 0 %; nbody: +20 %. 1 of 8 us, 0 of 20, 20 of 100."""
        rows = [row("relu", "1", 8, 4), row("relu", "2", 20, 20),
                row("nbody", "256_particles", 100, 120)]
        found = foreign.summary(rows)
        self.assertAlmostEqual(found["mean_over_kernels"], (0.25 + 0.2) / 2)
        self.assertAlmostEqual(found["mean_over_rows"], 0.7 / 3)
        self.assertAlmostEqual(found["signed_mean_over_rows"], -0.1)
        self.assertAlmostEqual(found["weighted_by_time"], 24 / 128)
        self.assertAlmostEqual(found["weighted_by_time_from_10_us"], 20 / 120)

    def test_first_error(self):
        self.assertEqual(foreign.error_line("a\nb.c:1: error: x\nerror: y\n"),
                         "b.c:1: error: x")
        self.assertEqual(foreign.error_line(""), "no message")


class Runs(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = work.name
        self.inputs = os.path.join(self.folder, "shared/foreign/mi300a")
        os.makedirs(self.inputs + "/src")
        os.makedirs(self.folder + "/lib")
        self.write("lib/libwavesmith_hipsim.so", "")
        self.write("shared/foreign/mi300a/measured.csv", MEASURED)
        for name in ("relu.cpp", "bfs.cpp", "bench_common.h"):
            self.write("shared/foreign/mi300a/src/" + name, 'print("%.4f")')
        self.write("program.sh", PROGRAM)
        # copies the program to what stands behind -o, the last argument
        self.write("clang", f"#!/bin/sh\nfor last; do :; done\n"
                   f"cp {self.folder}/program.sh $last && chmod +x $last\n"
                   f"echo x >>{self.folder}/compiled\n", 0o755)

    def write(self, name, text, mode=0o644):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(f.name, mode)

    def run_it(self, *options):
        tools = mock.Mock(clang=self.folder + "/clang", bitcode="b",
                          path=os.environ["PATH"])
        arguments = [self.folder, self.folder + "/shared", "--limit", "2",
                     *options]
        out = io.StringIO()
        with mock.patch.object(foreign, "Tools", return_value=tools), \
                mock.patch.object(foreign, "device", return_value=("X", 1)), \
                contextlib.redirect_stdout(out):
            code = foreign.run(foreign.parse(arguments))
        return code, out.getvalue()

    def test_failures_are_lines(self):
        """nbody has no source, two sizes of relu fail: the rest is there."""
        path = self.folder + "/out.json"
        code, text = self.run_it("--json", path)
        self.assertEqual(code, 0)
        for line in ("| relu 64 | 8.0 | 4.0 | 6.00 | 0.75 | hbm |",
                     "| bfs nodes32_degree4 | 50.0 | 40.0 | 40.00 | 0.80 | hbm |",
                     "failed: relu 128: took more than 2 s",
                     "failed: relu 256: exit 1: HIP error made up",
                     "failed: nbody 512_particles: [Errno 2]",
                     "over 1 rows of 1 kernels", "CAVEAT"):
            self.assertIn(line, text)
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        self.assertAlmostEqual(known["summary"]["mean_over_rows"], 0.25)

    def test_compiles_once(self):
        for _ in range(2):
            self.run_it("--only", "bfs")
        with open(self.folder + "/compiled", encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\n")
        with open(self.folder + "/foreign_mi300a/src/bfs.cpp",
                  encoding="utf-8") as file:
            self.assertEqual(file.read(), 'print("%.7f")')

    def test_skips(self):
        """By one plain line and 77."""
        arguments = ["program", self.folder, self.folder + "/nothing"]
        out = io.StringIO()
        with mock.patch.object(sys, "argv", arguments), \
                contextlib.redirect_stdout(out):
            self.assertEqual(foreign.main(), 77)
        self.assertEqual(out.getvalue().count("\n"), 1)
        self.assertTrue(out.getvalue().startswith("skipped: no "))


if __name__ == "__main__":
    unittest.main()
