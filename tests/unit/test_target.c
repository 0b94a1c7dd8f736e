/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of targets against what is said of it elsewhere.
 */
#include "../gemm_shape.h"
#include "wavesmith/mfma.h"
#include "wavesmith/target.h"
#include "ws_test.h"

#include <math.h>

WS_TEST(the_list_names_every_target_once) {
  int count;
  const ws_target *const *targets = ws_targets(&count);
  const char *at = ws_target_list();
  WS_CHECK(count > 2);
  for (int i = 0; i < count; i++) {
    const char *after = i < count - 2 ? ", " : i < count - 1 ? " and " : "";
    size_t size = strlen(targets[i]->name);
    WS_CHECK(ws_target_find(targets[i]->name) == targets[i]);
    WS_CHECK(!strncmp(at, targets[i]->name, size));
    WS_CHECK(!strncmp(at + size, after, strlen(after)));
    at += size + strlen(after);
  }
  WS_CHECK_TEXT(at, "");
}

/* ---- what the host model decodes -------------------------------------------
 * The problem's fp64 reference says what a byte means in a layout; one product
 * of two bytes shows it. The sanitizer and the simulator decode by ws_fp8. */
enum { M = 16, N = 16, K = 128, ONE = 0x40 /* 1 in FNUZ, 2 in OCP */ };

static double product(const ws_problem *problem, int layout, uint8_t byte) {
  static uint8_t a[M * K], b[N * K];
  static float as[M], bs[1];
  static double value[N], error[N];
  const struct {
    const char *name;
    const void *data;
  } inputs[] = {{"a", a}, {"b", b}, {"as", as}, {"bs", bs}};
  const void *buffers[16] = {NULL};
  WS_CHECK(problem->arg_count <= 16);
  for (int i = 0; i < 4; i++)
    buffers[ws_problem_arg_index(problem, inputs[i].name)] = inputs[i].data;
  a[0] = byte, b[0] = ONE, as[0] = bs[0] = 1;
  ws_problem_reference(problem, (ws_shape[]){gemm_shape(M, N, K)}, layout,
                       buffers, 0, 1, value, error);
  return value[0];
}

static void expect_host_format(const ws_target *target,
                               const ws_problem *problem, int layout) {
  for (int byte = 0; byte < 256; byte++) {
    double want = product(problem, layout, (uint8_t)byte);
    double got = (double)ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)byte) *
                 (double)ws_fp8_decode(WS_FP8_E4M3_FNUZ, ONE);
    if (isnan(want) ? !isnan(got) : got != want)
      WS_FAIL("%s has a host model, but byte 0x%02x of its layout %s is %g, "
              "and the model decodes %g",
              target->name, (unsigned)byte, problem->layouts[layout].name, want,
              got);
  }
}

WS_TEST(a_host_model_decodes_the_targets_fp8) {
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  int count, compared = 0;
  const ws_target *const *targets = ws_targets(&count);
  for (int i = 0; i < count; i++)
    for (int layout = 0; layout < problem->layout_count; layout++) {
      if (!targets[i]->has_host_model ||
          !ws_problem_layout_suits(problem, layout, targets[i]->name))
        continue;
      expect_host_format(targets[i], problem, layout);
      compared++;
    }
  WS_CHECK_INT(compared, 4); /* gfx942: all layouts but kmajor-ocp */
}
