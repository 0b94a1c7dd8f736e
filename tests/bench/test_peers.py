# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""peers_h200.py without a card: expressions and templates against values worked
out by hand, statistics, the table, and the whole run over a mock of PyTorch
with stubs of the emitted dispatch and of the driver.
"""
import ctypes
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers_h200  # noqa: E402
import peers_plan  # noqa: E402

MMA = os.path.join(peers_plan.ROOT, "ir-templates", "fp8_gemm_mma_sync.ll")

DISPATCH_STUB = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int my_gemm, runs; /* my_gemm stands for the emitted table */
int ws_rt_open(const void *d, int device, void **out, char *m, size_t size) {
  (void)m, (void)size;
  *out = &runs;
  return d == &my_gemm && device == 0 ? 0 : 1;
}
size_t ws_rt_workspace_bytes(void *c, long long m, long long n, long long k) {
  return c == &runs ? (size_t)(m * n + k) : 0;
}
int ws_rt_run(void *c, long long m, long long n, long long k,
              const void *const *slots, size_t bytes, void *stream, char *text,
              size_t size) {
  const int strides_right = *(const int32_t *)slots[9] == 1 &&
                            *(const int32_t *)slots[10] == m &&
                            *(const int32_t *)slots[11] == k / 128 &&
                            *(const int32_t *)slots[12] == 1;
  strncpy(text, "stub refuses", size);
  runs++;
  return !(strides_right && bytes == (size_t)(m * n + k) && stream && c &&
           *(void *const *)slots[4] && m != 48);
}
const char *my_gemm_explain(long long m, long long n, long long k, char *b,
                            size_t size) {
  (void)m, (void)n, (void)k;
  return strncpy(b, "rule 1", size);
}
"""

DRIVER_STUB = r"""
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
static FILE *log_file(void) { return fopen(getenv("STUB_LOG"), "a"); }
int cuModuleLoadData(void **out, const char *image) {
  *out = (void *)0x10;
  return image[0] != 0x7f;
}
int cuModuleGetFunction(void **out, void *module, const char *name) {
  FILE *f = log_file();
  fprintf(f, "function %s\n", name);
  fclose(f);
  *out = (void *)0x20;
  return module != (void *)0x10;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  FILE *f = log_file();
  fprintf(f, "attribute %d %d\n", attribute, value);
  fclose(f);
  return function != (void *)0x20;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z,
                   unsigned tx, unsigned ty, unsigned tz, unsigned lds,
                   void *stream, void **arguments, void **extra) {
  FILE *f = log_file();
  fprintf(f, "launch %u %u %u threads %u %u %u lds %u m %d\n", x, y, z, tx, ty,
          tz, lds, lds ? *(int32_t *)arguments[6] : 0);
  fclose(f);
  return !(function && stream && !extra);
}
int cuGetErrorString(int result, const char **out) {
  *out = "stub";
  return result - result;
}
"""


def value(text, **scope):
    return peers_plan.evaluate(text, scope)


class Expressions(unittest.TestCase):
    def test_values(self):
        self.assertEqual(value("1 + 2 * 3"), 7)
        self.assertEqual(value("(1 + 2) * 3 - -4"), 13)
        self.assertEqual(value("ceildiv(m, 128) * ceildiv(n, 96)", m=129, n=96), 2)
        self.assertEqual(value("a > 1 ? 4 * a : 0", a=1), 0)
        self.assertEqual(value("a > 1 ? 4 * a : 0", a=2), 8)
        self.assertEqual(value("a == 1 || 8 / b == 2", a=1, b=0), 1)
        self.assertEqual(value("a == 1 && 8 / b == 2", a=0, b=0), 0)
        self.assertEqual(value("min(7, max(2, 3)) % 2 == 1 && !(1 != 1)"), 1)
        self.assertEqual(value("-7 / 2"), -3)
        self.assertEqual(value("1 ? 2 ? 3 : 4 : 5"), 3)
        self.assertEqual(value("10 - 3 - 2"), 5)

    def test_bad_ones_are_refused(self):
        for text in ("1 +", "1 2", "f(1)", "1 ? 2", "a $ b"):
            with self.assertRaises((ValueError, IndexError, KeyError), msg=text):
                value(text, a=1, b=1)


class Templates(unittest.TestCase):
    def test_shipped_template(self):
        template = peers_plan.Template(MMA)
        scope = template.scope("split_k=2;tile_m=64")
        self.assertEqual(scope["tile_n"], 128)
        scope.update(m=1024, n=576, k=7168, cu_count=132)
        first, second = template.records("launch")
        self.assertEqual([peers_plan.evaluate(x, scope) for x in first[1:5]],
                         [80, 2, 1, 256])
        self.assertEqual(template.arguments(second[0]),
                         ["workspace", "c", "m", "n"])
        self.assertTrue(peers_plan.Plan.uses(template, first[0]))
        self.assertFalse(peers_plan.Plan.uses(template, second[0]))
        with self.assertRaises(ValueError):
            template.scope("tile=1")


class Statistics(unittest.TestCase):
    def test_median_and_interval(self):
        rng = peers_h200.random.Random(1)
        self.assertEqual(peers_h200.median([3, 1, 2]), 2)
        self.assertEqual(peers_h200.median([4, 1, 2, 3]), 2.5)
        low, high = peers_h200.bootstrap([5.0] * 30, rng)
        self.assertEqual((low, high), (5.0, 5.0))
        low, high = peers_h200.bootstrap(list(range(101)), rng)
        self.assertTrue(20 < low < 50 < high < 80)
        self.assertAlmostEqual(peers_h200.geometric_mean([2, 8]), 4)

    def test_table_says_what_failed(self):
        peers = {"w": {"median": 10.0, "low": 9.5, "high": 10.5},
                 "x": {"median": 20.0, "low": 20.0, "high": 20.0},
                 "y": {"failed": "PeerError: no"}}
        result = {"peers": list("wxy"),
                  "shapes": [{"m": 1, "n": 2, "k": 3, "peers": peers}]}
        out = io.StringIO()
        peers_h200.print_table(result, out)
        text = out.getvalue()
        self.assertIn("| 1 | 2 | 3 | 10.00 +- 0.50 | 20.00 +- 0.00 | failed | "
                      "0.500 | - |", text)
        self.assertIn("geometric mean w / x: 0.5000 over 1 shapes, slower on 0",
                      text)
        self.assertIn("failed: y on 1,2,3: PeerError: no", text)
        self.assertNotIn("geometric mean y", text)


def build_stub(folder, name, source):
    path = os.path.join(folder, name)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-",
                    "-o", path], input=source.encode(), check=True)
    return path


def mock_torch():
    """Tensors that can do anything; events that took 10 us."""
    torch = mock.MagicMock()
    torch.empty.return_value.data_ptr.return_value = 4096
    torch.randn.return_value.data_ptr.return_value = 4096
    torch.randn.return_value.shape = (1, 2)
    torch.randn.return_value.to.return_value.data_ptr.return_value = 4096
    torch.cuda.current_stream.return_value.cuda_stream = 64
    torch.cuda.Event.return_value.elapsed_time.return_value = 0.01
    properties = torch.cuda.get_device_properties.return_value
    properties.multi_processor_count, properties.name = 132, "mock"
    torch.__version__, torch.version.cuda = "0", "0"
    return torch


class WholeRun(unittest.TestCase):
    """Every line but the kernels of Triton."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        torch = mock_torch()
        self.patch(peers_h200, "torch", torch)
        self.patch(peers_plan, "torch", torch)
        self.patch(peers_h200.Problem, "error", lambda problem, c: 1e-3)

    def patch(self, where, name, what):
        patcher = mock.patch.object(where, name, what)
        patcher.start()
        self.addCleanup(patcher.stop)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_with(self, *arguments):
        options = peers_h200.parse(
            ["--shapes", "16,16,128;48,576,256", "--samples", "5", "--triton",
             "tma", "--out", self.path("out.json"), *arguments])
        with mock.patch("sys.stderr", io.StringIO()):
            peers_h200.run(options)
        return json.loads(peers_plan.read_text(self.path("out.json")))

    def test_dispatch(self):
        library = build_stub(self.folder.name, "stub.so", DISPATCH_STUB)
        result = self.run_with("--library", library, "--symbol", "my_gemm")
        self.assertEqual(result["peers"], ["wavesmith", "cublaslt", "triton-tma"])
        first, second = [row["peers"] for row in result["shapes"]]
        self.assertEqual(first["wavesmith"]["samples_us"], [10.0] * 5)
        self.assertEqual(first["wavesmith"]["choice"], "rule 1")
        self.assertEqual(first["cublaslt"]["median"], 10)
        self.assertIn("stub refuses", second["wavesmith"]["failed"])
        self.assertNotIn("median", second["wavesmith"])
        self.assertEqual(second["cublaslt"]["median"], 10)

    def test_wrong_result_is_a_failure(self):
        library = build_stub(self.folder.name, "stub.so", DISPATCH_STUB)
        self.patch(peers_h200.Problem, "error", lambda problem, c: float("nan"))
        result = self.run_with("--library", library, "--symbol", "my_gemm")
        for name in ("wavesmith", "cublaslt"):
            self.assertIn("nan", result["shapes"][0]["peers"][name]["failed"])

    def test_missing_library_fails_alone(self):
        result = self.run_with("--library", self.path("none.so"), "--symbol", "x")
        row = result["shapes"][0]["peers"]
        self.assertIn("none.so", row["wavesmith"]["failed"])
        self.assertEqual(row["cublaslt"]["median"], 10)

    def test_plan(self):
        driver = build_stub(self.folder.name, "driver.so", DRIVER_STUB)
        log = self.path("log")
        with open(self.path("a.cubin"), "wb") as out:
            out.write(b"\x7fELF")
        with open(self.path("plan.json"), "w", encoding="utf-8") as out:
            json.dump([{"template": MMA, "code": "a.cubin", "set": "split_k=2",
                        "shapes": [[48, 576, 256]]},
                       {"name": "other", "template": MMA, "code": "b.cubin"}],
                      out)
        loader, real = ctypes.CDLL, "libcuda.so.1"
        self.patch(ctypes, "CDLL",
                   lambda name: loader(driver if name == real else name))
        with mock.patch.dict(os.environ, STUB_LOG=log):
            result = self.run_with("--plan", self.path("plan.json"))
        small, large = [row["peers"] for row in result["shapes"]]
        self.assertIn("no entry", small["wavesmith"]["failed"])
        self.assertIn("no such file", small["other"]["failed"])
        self.assertEqual(large["wavesmith"].get("failed"), None)
        self.assertEqual(large["wavesmith"]["median"], 10)
        lines = peers_plan.read_text(log).splitlines()
        self.assertIn("attribute 8 133184", lines)
        self.assertIn("launch 5 2 1 threads 256 1 1 lds 133184 m 48", lines)
        self.assertTrue(any(line.startswith("launch 27 1 1 threads 256 1 1 lds 0")
                            for line in lines))


if __name__ == "__main__":
    unittest.main()
