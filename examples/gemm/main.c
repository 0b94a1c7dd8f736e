/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One block-scaled fp8 GEMM on an MI300X through the kernels that wavesmith
 * emitted: gemm [M N K]. Shows all that a program needs: open the dispatch
 * once, ask for the workspace, run on a stream. Then it compares sampled
 * elements with fp64.
 *
 * Exit codes: 0 right, 1 wrong result or illegal shape, 2 wrong usage, 3 no
 * HIP library, no device or another one than the kernels are for, a HIP call
 * failed.
 */
#include "fp8_gemm.h" /* emitted */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The little of HIP that this program calls. It does not link HIP: the
 * functions come from the library that the kernels run in. A program that
 * links HIP includes its header instead. */
static struct hip {
  int (*malloc)(void **out_pointer, size_t size);
  int (*free)(void *pointer);
  int (*memcpy)(void *to, const void *from, size_t size, int kind);
  int (*memset)(void *pointer, int byte, size_t size);
  int (*stream_create)(void **out_stream);
  int (*stream_synchronize)(void *stream);
  int (*stream_destroy)(void *stream);
} hip;
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 }; /* hipMemcpyKind */

static void need(int ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "gemm: %s\n", what);
    exit(3);
  }
}

static void find_hip(const ws_rt_context *context) {
  static const struct {
    const char *name;
    void *place;
  } functions[] = {{"hipMalloc", &hip.malloc},
                   {"hipFree", &hip.free},
                   {"hipMemcpy", &hip.memcpy},
                   {"hipMemset", &hip.memset},
                   {"hipStreamCreate", &hip.stream_create},
                   {"hipStreamSynchronize", &hip.stream_synchronize},
                   {"hipStreamDestroy", &hip.stream_destroy}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    void *function = ws_rt_symbol(context, functions[i].name);
    need(function != NULL, "the HIP library lacks a function");
    memcpy(functions[i].place, &function, sizeof function);
  }
}

/* Device memory with a copy of `from`; NULL: filled with NaN, so that an
 * element that no kernel writes shows. */
static void *to_device(const void *from, size_t size) {
  void *pointer = NULL;
  need(hip.malloc(&pointer, size ? size : 1) == 0, "hipMalloc failed");
  if (from)
    need(hip.memcpy(pointer, from, size, HOST_TO_DEVICE) == 0,
         "hipMemcpy failed");
  else
    need(hip.memset(pointer, 0xff, size) == 0, "hipMemset failed");
  return pointer;
}

/* C = A B^T on the device, the result back in op->c. */
static void run(const ws_rt_context *context, operands *op) {
  size_t workspace_bytes = ws_rt_workspace_bytes(context, op->m, op->n, op->k);
  void *a = to_device(op->a, op->a_bytes), *b = to_device(op->b, op->b_bytes);
  void *as = to_device(op->as, op->as_bytes);
  void *bs = to_device(op->bs, op->bs_bytes);
  void *c = to_device(NULL, op->c_bytes);
  void *workspace = to_device(NULL, workspace_bytes);
  void *stream = NULL;
  need(hip.stream_create(&stream) == 0, "hipStreamCreate failed");

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
  char message[256];
  int result = ws_rt_run(context, op->m, op->n, op->k, slots, workspace_bytes,
                         stream, message, sizeof message);
  need(result == WS_RT_OK, message);
  need(hip.stream_synchronize(stream) == 0, "hipStreamSynchronize failed");
  need(hip.memcpy(op->c, c, op->c_bytes, DEVICE_TO_HOST) == 0,
       "hipMemcpy failed");

  void *const buffers[] = {a, b, as, bs, c, workspace};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    hip.free(buffers[i]);
  hip.stream_destroy(stream);
}

/* The corners and a random sample. */
static int compare(const operands *op) {
  enum { SAMPLES = 512 };
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

static int multiply(const ws_rt_context *context, int32_t m, int32_t n,
                    int32_t k) {
  char choice[1024];
  if (!ws_rt_pick(context, m, n, k)) {
    fprintf(stderr,
            "gemm: m=%d n=%d k=%d is not a legal shape: m and n are "
            "multiples of 16, k of 128\n",
            (int)m, (int)n, (int)k);
    return 1;
  }
  puts(fp8_gemm_explain(m, n, k, choice, sizeof choice));
  if (strncmp(fp8_gemm.provenance, "estimate", strlen("estimate")) == 0)
    puts("(the times behind this choice are estimates, nothing was measured)");
  operands op;
  int ok = operands_create(&op, m, n, k);
  need(ok, "out of memory");
  find_hip(context);
  run(context, &op);
  ok = compare(&op);
  operands_free(&op);
  return ok ? 0 : 1;
}

static int parse_extent(const char *text, int32_t *out) {
  char *end = NULL;
  long value = strtol(text, &end, 10);
  *out = (int32_t)value;
  return end != text && *end == 0 && value > 0 && value <= 1 << 22;
}

int main(int argc, char **argv) {
  int32_t m = 1024, n = 7168, k = 2048;
  if (argc != 1 && (argc != 4 || !parse_extent(argv[1], &m) ||
                    !parse_extent(argv[2], &n) || !parse_extent(argv[3], &k))) {
    fprintf(stderr, "usage: gemm [M N K]\n");
    return 2;
  }
  char message[256];
  ws_rt_context *context = NULL;
  if (ws_rt_open(&fp8_gemm, 0, &context, message, sizeof message)) {
    fprintf(stderr, "gemm: %s\n", message);
    return 3;
  }
  int code = multiply(context, m, n, k);
  ws_rt_close(context);
  return code;
}
