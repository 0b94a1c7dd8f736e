# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""peers_h200.py without a card: expressions and templates against values worked
out by hand, statistics, the table, and the whole run over a mock of PyTorch
with stubs of the emitted dispatch and of the driver. verify_h200.py: shapes, and
where PyTorch is installed what it finds in a dispatch that errs on purpose.
stress_h200.py: what it would launch.
"""
import ctypes
import io
import json
import math
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
import peers_rmsnorm  # noqa: E402
import stress_h200  # noqa: E402
import verify_h200  # noqa: E402

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
size_t ws_rt_workspace_bytes(void *c, const long long *shape) {
  return c == &runs ? (size_t)(shape[0] * shape[1] + shape[2]) : 0;
}
int ws_rt_run(void *c, const long long *shape, const void *const *slots,
              size_t bytes, void *stream, char *text, size_t size) {
  const long long m = shape[0], n = shape[1], k = shape[2];
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

RMSNORM_STUB = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int my_norm, runs;
int ws_rt_open(const void *d, int device, void **out, char *m, size_t size) {
  (void)m, (void)size;
  *out = &runs;
  return !(d == &my_norm && device == 0);
}
size_t ws_rt_workspace_bytes(void *c, const long long *shape) {
  return c != &runs || shape[1] < 0;
}
int ws_rt_run(void *c, const long long *shape, const void *const *slots,
              size_t bytes, void *stream, char *text, size_t size) {
  strncpy(text, "stub refuses", size);
  runs++;
  return !(c && stream && !bytes && *(const int32_t *)slots[5] == shape[0] &&
           *(const int32_t *)slots[6] == shape[1] &&
           *(const float *)slots[7] == 1e-5f && *(void *const *)slots[4]);
}
const char *my_norm_explain(long long rows, long long cols, char *b,
                            size_t size) {
  return strncpy(b, rows == 8 && cols == 64 ? "rule 2" : "?", size);
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
                  "dims": "mnk",
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
    for tensor in (torch.randn.return_value.bfloat16.return_value,
                   torch.empty_like.return_value):
        tensor.data_ptr.return_value = 4096
    torch.cuda.current_stream.return_value.cuda_stream = 64
    torch.cuda.Event.return_value.elapsed_time.return_value = 0.01
    properties = torch.cuda.get_device_properties.return_value
    properties.multi_processor_count, properties.name = 132, "mock"
    torch.__version__, torch.version.cuda = "0", "0"
    return torch


class Commit(unittest.TestCase):
    def test_without_git(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, PATH=folder):
                self.assertIsNone(peers_h200.commit())
            git = os.path.join(folder, "git")
            with open(git, "w", encoding="utf-8") as out:
                out.write("#!/bin/sh\necho 1234abc\n")
            os.chmod(git, 0o755)
            with mock.patch.dict(os.environ, PATH=folder):
                self.assertEqual(peers_h200.commit(), "1234abc")


class WholeRun(unittest.TestCase):
    """Every line but the kernels of Triton."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        torch = mock_torch()
        self.patch(peers_h200, "torch", torch)
        self.patch(peers_plan, "torch", torch)
        self.patch(peers_rmsnorm, "torch", torch)
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

    def test_rmsnorm(self):
        """Its arguments, two outputs, and peers that fail alone."""
        library = build_stub(self.folder.name, "norm.so", RMSNORM_STUB)
        self.patch(peers_h200.RmsNorm, "error",
                   lambda problem, result: 1e-3 if len(result) == 2 else math.nan)
        self.patch(peers_rmsnorm, "in_torch", lambda *inputs: inputs[:2])
        self.patch(peers_rmsnorm, "triton", None)
        result = self.run_with("--problem", "rmsnorm", "--shapes", "8,64",
                               "--library", library, "--symbol", "my_norm")
        row = result["shapes"][0]
        self.assertEqual((row["rows"], row["cols"]), (8, 64))
        self.assertEqual(row["peers"]["wavesmith"]["choice"], "rule 2")
        for name in ("wavesmith", "copy", "torch"):
            self.assertEqual(row["peers"][name]["median"], 10, name)
        for name in ("copy-triton", "triton"):
            self.assertIn("no triton", row["peers"][name]["failed"])
        out = io.StringIO()
        peers_h200.print_table(result, out)
        self.assertIn("| rows | cols | wavesmith | copy |", out.getvalue())
        self.assertIn("failed: triton on 8,64: PeerError: no triton",
                      out.getvalue())

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


class VerifyShapes(unittest.TestCase):
    def test_shapes(self):
        options = verify_h200.parse(["--dry"])
        shapes = [shape for kind, shape, hard in options.shapes]
        self.assertEqual(shapes[:2], [(1, 16, 128), (3, 576, 256)])
        self.assertEqual(shapes[26], (4096, 4096, 128))
        self.assertEqual(shapes[27:45], peers_h200.CONTEST)
        self.assertEqual(len(set(shapes[45:])), 200)
        self.assertTrue(any(m % 4 for m, n, k in shapes[45:]))
        for m, n, k in shapes:
            self.assertEqual((n % 16, k % 128), (0, 0))
            self.assertTrue(m > 0 and n > 0 and 0 < k <= 8192)
            self.assertLessEqual(m * n, 6144 * 7168)
        self.assertTrue(any(m % 64 and n % 64 for m, n, k in shapes[45:]))
        for at in range(0, 244, 4):
            self.assertEqual(sum(s[2] for s in options.shapes[at:at + 4]), 1)
        self.assertLess(sum(m * n * k for m, n, k in shapes), 1e13)

    def test_seeds(self):
        self.assertEqual(verify_h200.random_shapes(50, 7),
                         verify_h200.random_shapes(50, 7))
        self.assertNotEqual(verify_h200.random_shapes(50, 7),
                            verify_h200.random_shapes(50, 8))

    def test_decoding(self):
        for code, want in ((0, 0), (1, 2 ** -9), (8, 2 ** -6), (0x38, 1),
                           (0xb8, -1), (0x7e, 448), (0x70, 128), (0x87, -7 / 512)):
            self.assertEqual(verify_h200.decoded(code), want)
        self.assertTrue(peers_h200.math.isnan(verify_h200.decoded(0xff)))

    def test_dry(self):
        out = io.StringIO()
        verify_h200.dry(verify_h200.parse(["--dry", "--count", "3"]), out)
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 27 + 18 + 3 + 1)
        self.assertEqual(lines[0], "1,16,128 edge")
        self.assertIn("# 48 shapes, ", lines[-1])


class ErringLibrary:
    """A dispatch on the CPU with a fault of choice: products in fp32."""

    def __init__(self, fault):
        self.fault, self.runs = fault, 0
        self.candidate = (ctypes.c_char_p * 2)(b"0123456789abcdef", b"tile_m=64")
        self.ws_rt_pick = lambda *shape: ctypes.addressof(self.candidate)

    @staticmethod
    def ws_rt_workspace_bytes(context, shape):
        return 48

    def ws_rt_run(self, context, shape, slots, *rest):
        torch, (m, n, k) = verify_h200.torch, shape
        place = [ctypes.c_void_p.from_address(slots[i]).value for i in range(6)]

        def tensor(at, kind, *extents):
            size = peers_h200.math.prod(extents) * kind.itemsize
            memory = (ctypes.c_char * size).from_address(place[at])
            return torch.frombuffer(memory, dtype=kind).view(*extents)

        a, b = (tensor(i, torch.float8_e4m3fn, rows, k).float()
                for i, rows in ((0, m), (1, n)))
        a *= tensor(2, torch.float32, k // 128, m).t().repeat_interleave(128, 1)
        b *= tensor(3, torch.float32, -(-n // 128), k // 128).repeat_interleave(
            128, 0)[:n].repeat_interleave(128, 1)
        c = (a @ b.t()).bfloat16()
        self.runs += 1
        if self.fault == "truncated":
            c = (a @ b.t()).view(torch.int32).bitwise_and(-65536).view(
                torch.float32).bfloat16()
        elif self.fault == "product":
            c[m - 1, n - 1] = (a[m - 1, 1:] @ b[n - 1, 1:]).item()
        elif self.fault == "nan":
            c[3, 5] = float("nan")
        elif self.fault == "differs" and self.runs % 2:
            c[0, 0] = c[0, 0] * (1 + 2.0 ** -7) + 1e-9
        out = tensor(4, torch.bfloat16, m, n)
        out[:m - (self.fault == "row")] = c[:m - (self.fault == "row")]
        at = {"output": place[4] + 2 * m * n, "before": place[4] - 1,
              "workspace": place[5] + 48, "input": place[0] + 7}
        if self.fault in at:
            ctypes.c_uint8.from_address(at[self.fault]).value += 1
        return int(self.fault == "refuses")


class Stress(unittest.TestCase):
    def test_kernels_of_a_dispatch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gemm.json")
            with open(path, "w") as file:
                json.dump({"portfolio": [
                    {"candidate": "0123456789", "parameters": "tile_m=64",
                     "code_object": "gemm-0123456789.cubin"}]}, file)
            entries, where = stress_h200.entries_of(stress_h200.parse(
                ["--kernels", path, "--template", MMA, "--shapes", "1,16,128"]))
        self.assertEqual(where, folder)
        self.assertEqual(entries, [
            {"name": "01234567", "template": MMA, "set": "tile_m=64",
             "code": "gemm-0123456789.cubin", "shapes": [[1, 16, 128]]}])

    def test_bad_arguments(self):
        for arguments in ([], ["--kernels", "a"], ["--plan", "a",
                                                   "--kernels", "b"]):
            with mock.patch("sys.stderr", io.StringIO()), \
                    self.assertRaises(SystemExit):
                stress_h200.parse(arguments)


@unittest.skipUnless(verify_h200.torch, "PyTorch is not installed")
class VerifyFinds(unittest.TestCase):
    def verify(self, fault):
        torch = verify_h200.torch
        dispatch = mock.Mock(lib=ErringLibrary(fault))
        dispatch.message = ctypes.create_string_buffer(b"no", 8)
        options = verify_h200.parse(["--dry", "--count", "0"])
        options.shapes = [("edge", (16, 576, 256), False),
                          ("edge", (48, 144, 384), True)]
        real = torch.empty
        result = {"machine": {}, "shapes": [], "seconds": 0}
        with mock.patch.object(verify_h200, "DEVICE", "cpu"), \
                mock.patch.object(torch.cuda, "synchronize"), \
                mock.patch.object(verify_h200, "current_stream"), \
                mock.patch.object(torch, "empty", lambda *extents, **named: real(
                    *extents, **{**named, "device": "cpu"})):
            checked = verify_h200.Checked(dispatch, 1)
            verify_h200.check_decoding()
            verify_h200.verify(checked, options, result)
        verify_h200.summarize(result, checked, 2)
        out = io.StringIO()
        verify_h200.report(result, out)
        return result, out.getvalue()

    def test_right(self):
        result, text = self.verify(None)
        self.assertTrue(result["passed"], text)
        self.assertTrue(0.1 < result["worst_ratio"] < 1)
        self.assertEqual(result["elements"], 16 * 576 + 48 * 144)
        self.assertIn("# 2 shapes by 0123456789ab tile_m=64", text)

    def test_faults(self):
        for fault, words in (
                ("truncated", "elements wrong"), ("product", "1 of 9216"),
                ("nan", "c[3][5] = nan"), ("row", "576 of 9216"),
                ("differs", "two runs differ"), ("refuses", "refused: no"),
                ("output", "outside the output"), ("before", "the output"),
                ("workspace", "outside the workspace of 48 bytes"),
                ("input", "an input")):
            result, text = self.verify(fault)
            self.assertFalse(result["passed"], fault)
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
