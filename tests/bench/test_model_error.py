# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""model_error.py on rows that are made up: figures worked out by hand, and what
it writes.
"""
import contextlib
import io
import json
import math
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model_error as model  # noqa: E402

SWEEP = """row 0 64 64 64 16 0 64 1024 512 7168 100 55 100 9 lds
row 1 64 64 64 16 0 64 1024 512 7168 90 50 101 9 lds
row 2 64 64 64 16 0 64 1024 512 7168 102 60 130 9 hbm
row 0 64 64 64 16 0 64 64 512 7168 50 30 150 9 hbm
row 1 64 64 64 16 0 64 64 512 7168 20 30 60 9 hbm
cycle model m=1024 n=512
row 2 64 64 64 16 0 64 64 512 7168 0 30 60 9 hbm
"""
# one kernel twice, 10 % apart; another with one time
REPEATS = """m,n,k,bm,bn,bk,wm,wn,wk,pipeline,fused_transpose,block_size,total,mma
64,16,128,64,64,64,32,32,16,2,0,256,9,10
64,16,128,64,64,64,32,32,16,2,1,256,9,11
64,16,128,64,64,64,32,32,16,1,0,256,9,10
64,16,128,64,64,64,32,32,16,1,1,256,9,20
64,16,256,64,64,64,32,32,16,2,1,256,9,10
"""
FOREIGN = {"rows": [
    {"kernel": "relu", "size": "1", "measured_us": 11, "simulated_us": 10,
     "counted": True, "profile": {"bound": "launch"}},
    {"kernel": "relu", "size": "2", "measured_us": 11, "simulated_us": None,
     "counted": True, "profile": {}},
    {"kernel": "bfs", "size": "1", "measured_us": 11, "simulated_us": 10,
     "counted": False, "profile": {"bound": "launch"}}]}
DOCUMENT = f"""before
{model.BOUND_HEAD}
|---|---|---|---|
| old | 1 | 1 | 1 |
between
{model.PAIR_HEAD}
|---|---|---|---|
after
"""


def point(shape, kernel, measured, simulated, bound="hbm"):
    return model.Point((shape,), kernel, measured, simulated, bound)


class Reading(unittest.TestCase):
    def test_rows_of_the_sweep(self):
        points = model.read_sweep(SWEEP.splitlines())
        self.assertEqual(len(points), 5)
        self.assertEqual(points[0], model.Point(("1024", "512", "7168"), "0",
                                                100, 100, "lds"))
        own = model.read_sweep(SWEEP.splitlines(), own_clock=True)
        self.assertEqual(own[0].simulated, 55)

    def test_repeats_are_those_of_pipeline_2(self):
        repeats = model.read_repeats(REPEATS.splitlines())
        self.assertEqual(len(repeats), 1)
        self.assertAlmostEqual(repeats[0], math.log(1.1))

    def test_programs_that_count_and_ran(self):
        points = model.read_foreign(FOREIGN)
        self.assertEqual(points, [model.Point(("relu", "1"), "", 11, 10,
                                              "launch")])


class Figures(unittest.TestCase):
    def test_half_width(self):
        # |ln| sorted: 0, ln 1.1, ln 1.2, ln 1.5; place 0.68 * 3 = 2.04
        points = [point(0, "", 1, 1), point(0, "", 1.1, 1),
                  point(0, "", 1, 1.2), point(0, "", 1.5, 1)]
        found = model.bound_of("hbm", points)
        self.assertEqual(found.rows, 4)
        self.assertAlmostEqual(found.median, math.sqrt(1.1))
        self.assertAlmostEqual(
            found.within, 1.2 * (1.5 / 1.2) ** 0.04 - 1)

    def test_classes_and_all(self):
        rows = model.bounds([point(0, "", 1, 1), point(0, "", 1, 1, "lds")])
        self.assertEqual([r.rows for r in rows],
                         [0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 2])
        self.assertEqual(rows[-1].name, "all")

    def test_pairs(self):
        # 1024: 0 and 1 are 1 % apart and in the wrong order; 0 and 2 measured
        # 2 % apart, within the noise; 1 and 2 28.7 % apart and right.
        # 64: 150 % apart and right. Kernels of two shapes are no pair.
        rows = model.pairs_of(model.read_sweep(SWEEP.splitlines()), 5)
        found = {r.low: (r.pairs, r.right, r.left_out) for r in rows}
        self.assertEqual(found, {0: (1, 0, 0), 2: (0, 0, 0), 5: (0, 0, 0),
                                 10: (0, 0, 0), 20: (1, 1, 1), 50: (0, 0, 0),
                                 100: (1, 1, 0)})

    def test_simulated_alike_is_no_order(self):
        rows = model.pairs_of([point(0, "a", 1, 5), point(0, "b", 2, 5)], 5)
        self.assertEqual((rows[0].pairs, rows[0].left_out), (0, 1))

    def test_the_edge(self):
        def rows(*shares):
            return [model.Pairs(low, high, 100, s, 0) for low, high, s
                    in zip(model.EDGES, model.EDGES[1:], shares)]
        self.assertEqual(
            model.edge_of(rows(50, 80, 60, 74, 75, 90, 99), 0.75), 0.2)
        self.assertEqual(
            model.edge_of(rows(75, 80, 80, 80, 80, 90, 99), 0.75), 0)


class Portfolios(unittest.TestCase):
    def test_the_robust_one(self):
        # "a" is the best on two shapes and 40 % behind on one
        times = {"a": (10, 10, 14), "b": (11.9, 11.9, 10)}
        of, shapes = model.complete(
            [point(s, k, us[s], us[s]) for k, us in times.items()
             for s in range(3)])
        self.assertEqual(model.portfolio(of, shapes, ["a", "b"], 0.2), ["b"])
        # 10 x 10 x 14 < 11.9 x 11.9 x 10
        self.assertEqual(model.portfolio(of, shapes, ["a", "b"], 0), ["a", "b"])
        lost = model.regrets(of, shapes, ["a", "b"], ["b"])
        self.assertAlmostEqual(lost[0], 1.19)
        self.assertAlmostEqual(lost[2], 1)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.path("data"))
        for name, text in (("data/" + model.SWEEP_FILE, REPEATS),
                           ("sweep.txt", SWEEP), ("document.md", DOCUMENT),
                           ("foreign.json", json.dumps(FOREIGN)),
                           ("sim.h", "#define WS_SIM_MODEL_VERSION 12\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *more):
        out = io.StringIO()
        arguments = ["model_error.py", self.folder, self.folder, "--sweep",
                     self.path("sweep.txt"), "--foreign",
                     self.path("foreign.json"), *more]
        with mock.patch.multiple(model, TABLE=self.path("rows.h"),
                                 DOCUMENT=self.path("document.md"),
                                 HEADER=self.path("sim.h")), \
                mock.patch.object(sys, "argv", arguments), \
                contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(out):
            code = model.main()
        return code, out.getvalue()

    def test_writes_both(self):
        code, _ = self.run_program("--write")
        self.assertEqual(code, 0)
        with open(self.path("rows.h"), encoding="utf-8") as file:
            rows = file.read()
        for text in ("WS_MODEL_ERROR_VERSION 12", "WS_MODEL_ERROR_NOISE 0.100",
                     "X(launch, 1, 1.10, 0.10)", "X(mfma, 0, 1.00, 0.00)",
                     "X(0, 0.02, 1, 0, 0)", "X(1, INFINITY, 1, 1, 0)"):
            self.assertIn(text, rows)
        with open(self.path("document.md"), encoding="utf-8") as file:
            document = file.read()
        self.assertNotIn("old", document)
        for text in ("| launch | 1 | 1.10 | 10 % |\n", "| mfma | 0 | - | - |",
                     "between\n", "| more than 100 % | 1 | 100 % | 0 |\nafter"):
            self.assertIn(text, document)

    def test_prints_without_write(self):
        code, out = self.run_program()
        self.assertEqual(code, 0)
        self.assertIn("X(launch, 1, 1.10, 0.10)", out)
        self.assertFalse(os.path.exists(self.path("rows.h")))

    def test_a_model_that_does_not_rank_is_refused(self):
        with open(self.path("sweep.txt"), "w", encoding="utf-8") as file:
            file.write(SWEEP.replace("7168 20 30 60", "7168 90 30 60"))
        code, out = self.run_program("--write")
        self.assertEqual(code, 1)
        self.assertIn("does not rank", out)
        self.assertFalse(os.path.exists(self.path("rows.h")))

    def test_nothing_to_read_is_a_skip(self):
        os.remove(self.path("data/" + model.SWEEP_FILE))
        code, out = self.run_program()
        self.assertEqual(code, model.SKIP)
        self.assertEqual(out.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
