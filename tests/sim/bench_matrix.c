/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Microseconds per matrix instruction on one core, handler to handler, checks
 * on; best and median of some runs. The fp8 operands are normal data: as a GEMM
 * has them (sigma 1, C accumulates over 4 instructions), scaled to fill the
 * format (as block-scaled quantisation leaves them), and all 255 finite bytes;
 * they stay the same, as those of a GEMM do for some instructions.
 */
#include "decode.h"
#include "mfma_fp8.h"
#include "wavesmith/mfma.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 31, REPEATS = 400 };

static ws_wave wave;
static ws_group group;
static ws_text text;
static ws_vector registers[WS_VECTORS];

static uint64_t seed = 88172645463325252u;
static uint32_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 32);
}

static double normal(void) {
  double u = (draw() + 0.5) / 0x1p32, v = draw() / 0x1p32;
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static uint8_t nearest(double value) {
  int best = 0;
  for (int byte = 1; byte < 128; byte++)
    if (fabs((double)ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)byte) -
             fabs(value)) <
        fabs((double)ws_fp8_decode(WS_FP8_E4M3_FNUZ, (uint8_t)best) -
             fabs(value)))
      best = byte;
  return (uint8_t)(value < 0 && best ? best | 0x80 : best);
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* sigma 0: any byte. */
static void fill(double sigma) {
  uint8_t *a = (uint8_t *)&registers[64], *b = (uint8_t *)&registers[96];
  for (int i = 0; i < 1024; i++) {
    a[i] = sigma > 0 ? nearest(normal() * sigma) : (uint8_t)draw();
    b[i] = sigma > 0 ? nearest(normal() * sigma) : (uint8_t)draw();
    a[i] = a[i] == 0x80 ? 0 : a[i];
    b[i] = b[i] == 0x80 ? 0 : b[i];
  }
}

static void measure(const char *what, const char *first, const char *next) {
  ws_instruction in[2];
  ws_diag diag;
  const char *lines[2] = {first, next};
  for (int i = 0; i < 2; i++) {
    if (ws__parse_instruction(lines[i], &in[i], &diag) != WS_OK)
      exit(1);
    in[i].execute = ws__execute_matrix(in[i].op);
  }
  double times[RUNS];
  for (int r = 0; r < RUNS; r++) {
    double start = now_us();
    for (int i = 0; i < REPEATS; i++)
      in[i % 4 != 0].execute(&wave, &in[i % 4 != 0]);
    times[r] = (now_us() - start) / REPEATS;
  }
  qsort(times, RUNS, sizeof *times, by_value);
  printf("%-44s best %7.3f us, median %7.3f us\n", what, times[0],
         times[RUNS / 2]);
}

int main(void) {
  static const struct {
    const char *data;
    double sigma;
  } kinds[] = {{"normal data", 1}, {"scaled to 240", 64}, {"all bytes", 0}};
  wave.vgpr = registers;
  wave.group = &group;
  group.text = &text;
  group.checked = true;
  group.fp8_cache = ws__fp8_cache_create();
  printf("vector code: %s\n", ws_mfma_implementation());
  for (int i = 0; i < 3; i++) {
    char what[80];
    fill(kinds[i].sigma);
    snprintf(what, sizeof what, "16x16x32 fp8, %s", kinds[i].data);
    measure(what,
            "v_mfma_f32_16x16x32_fp8_fp8 v[192:195], v[64:65], v[96:97], 0",
            "v_mfma_f32_16x16x32_fp8_fp8 v[192:195], v[64:65], v[96:97], "
            "v[192:195]");
    snprintf(what, sizeof what, "32x32x16 fp8, %s", kinds[i].data);
    measure(what,
            "v_mfma_f32_32x32x16_fp8_fp8 v[192:207], v[64:65], v[96:97], 0",
            "v_mfma_f32_32x32x16_fp8_fp8 v[192:207], v[64:65], v[96:97], "
            "v[192:207]");
  }
  static const char *const others[] = {
      "v_mfma_f32_16x16x16_f16 v[192:195], v[64:65], v[96:97], 0",
      "v_mfma_f32_32x32x8_bf16 v[192:207], v[64:65], v[96:97], 0",
      "v_mfma_f32_32x32x2_f32 v[192:207], v64, v96, 0",
      "v_mfma_i32_16x16x32_i8 v[192:195], v[64:65], v[96:97], 0",
      "v_mfma_f64_16x16x4_f64 v[192:199], v[64:65], v[96:97], 0"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char name[32] = "";
    sscanf(others[i], "%31s", name);
    measure(name, others[i], others[i]);
  }
  return 0;
}
