/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One block-scaled fp8 GEMM on a GPU through the kernels that wavesmith
 * emitted. Shows all that a program needs: open the dispatch once, ask for the
 * workspace, run on a stream. Then it compares sampled elements with fp64.
 *
 * Exit codes: 0 right, 1 wrong result or illegal shape, 2 wrong usage, 3 no
 * driver, no device or another one than the kernels are for, a call of the
 * driver failed.
 */
#include "fp8_gemm.h" /* emitted */
#include "gpu.h"
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: gemm [--device hip|cuda] [--time RUNS] [M N K]\n"
    "  --device  what the kernels must be for (default: what they are for)\n"
    "  --time    also runs it that often and prints the mean time\n";

void need(int ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "gemm: %s\n", what);
    exit(3);
  }
}

void need_function(const ws_rt_context *context, const char *name,
                   void *place) {
  void *function = ws_rt_symbol(context, name);
  need(function != NULL, "the driver's library lacks a function");
  memcpy(place, &function, sizeof function);
}

static void *filled(const gpu *device, int byte, size_t size) {
  void *memory = device->allocate(size ? size : 1);
  if (size)
    device->fill(memory, byte, size);
  return memory;
}

/* Device memory with a copy of `from`. */
static void *to_device(const gpu *device, const void *from, size_t size) {
  void *memory = device->allocate(size);
  device->upload(memory, from, size);
  return memory;
}

/* ---- the call -------------------------------------------------------------
 */

typedef struct work {
  const ws_rt_context *context;
  const operands *op;
  const void *const *slots;
  size_t workspace_bytes;
  void *stream;
} work;

static void run_once(const work *w) {
  char message[256];
  const long long shape[] = {w->op->m, w->op->n, w->op->k};
  int result = ws_rt_run(w->context, shape, w->slots, w->workspace_bytes,
                         w->stream, message, sizeof message);
  need(result == WS_RT_OK, message);
}

static void print_time(const gpu *device, const work *w, int runs) {
  void *begin = device->create_event(), *end = device->create_event();
  device->record(begin, w->stream);
  for (int i = 0; i < runs; i++)
    run_once(w);
  device->record(end, w->stream);
  double us = device->elapsed_ms(begin, end) * 1e3 / runs;
  double flops = 2.0 * w->op->m * w->op->n * w->op->k;
  printf("%.2f us, %.0f TFLOP/s: the mean of %d calls in a row, caches warm\n",
         us, us > 0 ? flops / us * 1e-6 : 0, runs);
  device->destroy_event(begin);
  device->destroy_event(end);
}

/* C = A B^T on the device, the result back in op->c. */
static void run(const gpu *device, const ws_rt_context *context, operands *op,
                int timed_runs) {
  const long long shape[] = {op->m, op->n, op->k};
  size_t workspace_bytes = ws_rt_workspace_bytes(context, shape);
  void *a = to_device(device, op->a, op->a_bytes);
  void *b = to_device(device, op->b, op->b_bytes);
  void *as = to_device(device, op->as, op->as_bytes);
  void *bs = to_device(device, op->bs, op->bs_bytes);
  /* NaN, so that an element that no kernel writes shows; kernels that add to C
   * find zeros */
  enum { NAN_BYTE = 0xff };
  void *c = filled(device, op->adds ? 0 : NAN_BYTE, op->c_bytes);
  void *workspace = filled(device, NAN_BYTE, workspace_bytes);
  void *stream = device->create_stream();

  int32_t as_stride_m = 1, as_stride_k = op->m;
  int32_t bs_stride_n = op->k / 128, bs_stride_k = 1;
  const void *const slots[FP8_GEMM_ARG_COUNT] = {
      [FP8_GEMM_ARG_A] = &a,
      [FP8_GEMM_ARG_B] = &b,
      [FP8_GEMM_ARG_AS] = &as,
      [FP8_GEMM_ARG_BS] = &bs,
      [FP8_GEMM_ARG_C] = &c,
      [FP8_GEMM_ARG_WORKSPACE] = &workspace,
      [FP8_GEMM_ARG_M] = &op->m,
      [FP8_GEMM_ARG_N] = &op->n,
      [FP8_GEMM_ARG_K] = &op->k,
      [FP8_GEMM_ARG_AS_STRIDE_M] = &as_stride_m,
      [FP8_GEMM_ARG_AS_STRIDE_K] = &as_stride_k,
      [FP8_GEMM_ARG_BS_STRIDE_N] = &bs_stride_n,
      [FP8_GEMM_ARG_BS_STRIDE_K] = &bs_stride_k,
  };
  const work w = {context, op, slots, workspace_bytes, stream};
  run_once(&w);
  device->wait(stream);
  device->download(op->c, c, op->c_bytes);
  if (timed_runs)
    print_time(device, &w, timed_runs);

  void *const buffers[] = {a, b, as, bs, c, workspace};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    device->release(buffers[i]);
  device->destroy_stream(stream);
}

enum { SAMPLES = 512 };

/* The corners and random elements. */
static int compare(const operands *op) {
  uint64_t state = 2;
  double worst = 0;
  int wrong = 0;
  for (int s = 0; s < SAMPLES; s++) {
    int32_t i = (int32_t)(random_next(&state) % (uint32_t)op->m);
    int32_t j = (int32_t)(random_next(&state) % (uint32_t)op->n);
    if (s < 4) {
      i = s & 1 ? op->m - 1 : 0;
      j = s & 2 ? op->n - 1 : 0;
    }
    double error = operands_error(op, i, j);
    if (error > 1 && wrong++ == 0)
      fprintf(stderr, "gemm: c[%d][%d] is wrong\n", (int)i, (int)j);
    worst = error > worst ? error : worst;
  }
  printf("%d of %d sampled elements agree with fp64, worst error %.2f of what "
         "rounding allows\n",
         SAMPLES - wrong, SAMPLES, worst);
  return wrong == 0;
}

/* ---- the command -----------------------------------------------------------
 */

typedef struct command {
  const char *device;
  int timed_runs;
  int32_t m, n, k;
} command;

static int multiply(const gpu *device, const ws_rt_context *context,
                    const command *wanted) {
  const int32_t m = wanted->m, n = wanted->n, k = wanted->k;
  const long long shape[] = {m, n, k};
  char choice[1024];
  if (!ws_rt_pick(context, shape)) {
    fprintf(stderr,
            "gemm: m=%d n=%d k=%d is not a legal shape: m is 1 or more, n a "
            "multiple of 16, k of 128\n",
            (int)m, (int)n, (int)k);
    return 1;
  }
  puts(fp8_gemm_explain(m, n, k, choice, sizeof choice));
  if (strncmp(fp8_gemm.provenance, "estimate", strlen("estimate")) == 0)
    puts("(the times behind this choice are estimates, nothing was measured)");
  const fp8_format format = strstr(fp8_gemm.layout, "ocp") ? FP8_OCP : FP8_FNUZ;
  operands op;
  int ok = operands_create(&op, m, n, k, format,
                           strstr(fp8_gemm.layout, "bpreshuffle") != NULL);
  op.adds = !strcmp(fp8_gemm.layout, "kmajor-add");
  need(ok, "out of memory");
  device->open(context);
  run(device, context, &op, wanted->timed_runs);
  ok = compare(&op);
  operands_free(&op);
  return ok ? 0 : 1;
}

static int parse_number(const char *text, int32_t *out) {
  char *end = NULL;
  long value = strtol(text, &end, 10);
  *out = (int32_t)value;
  return end != text && *end == 0 && value > 0 && value <= 1 << 22;
}

/* 0 when the arguments are not understood. */
static int parse(int argc, char **argv, command *out) {
  int at = 1, ok = 1;
  for (; at + 1 < argc && argv[at][0] == '-' && ok; at += 2)
    if (!strcmp(argv[at], "--device"))
      out->device = argv[at + 1];
    else
      ok = !strcmp(argv[at], "--time") &&
           parse_number(argv[at + 1], &out->timed_runs);
  return ok &&
         (at == argc || (at + 3 == argc && parse_number(argv[at], &out->m) &&
                         parse_number(argv[at + 1], &out->n) &&
                         parse_number(argv[at + 2], &out->k)));
}

int main(int argc, char **argv) {
  const gpu *device = fp8_gemm.driver == WS_RT_CUDA ? &cuda_gpu : &hip_gpu;
  command wanted = {.device = device->name, .m = 1024, .n = 7168, .k = 2048};
  if (!parse(argc, argv, &wanted)) {
    fputs(usage, stderr);
    return 2;
  }
  if (strcmp(wanted.device, device->name)) {
    fprintf(stderr,
            "gemm: the kernels in this program are for %s, that is device %s; "
            "build it with those of another target\n",
            fp8_gemm.target, device->name);
    return 2;
  }
  char message[512];
  ws_rt_context *context = NULL;
  if (ws_rt_open(&fp8_gemm, 0, &context, message, sizeof message)) {
    fprintf(stderr, "gemm: %s\n", message);
    return 3;
  }
  int code = multiply(device, context, &wanted);
  ws_rt_close(context);
  return code;
}
