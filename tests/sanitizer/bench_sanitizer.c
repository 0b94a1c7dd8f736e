/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the sanitizer costs a candidate, as in the compile server: everything
 * that does not depend on the candidate is made before the fork, each
 * candidate runs in a fresh child. fp8_gemm_mfma, tile 128 x 128 x 128, 256
 * threads. One run: m = n = 128, k = 256, waves up. Two: also one tile less 16
 * rows and columns, k = 128, waves down. The bar of the project is 15 ms,
 * median.
 * Printed, never judged.
 */
#include "sanitize.h"
#include "sanitizer_fixture.h"
#include "wavesmith/mfma.h"

#include <sys/utsname.h>
#include <time.h>

enum { REPEATS = 31, RUNS = 2 };

typedef struct sample {
  double total;
  ws_sanitize_times times;
  bool ok;
} sample;

static void print_machine(void) {
  struct utsname name;
  uname(&name);
  char line[256], model[256] = "unknown processor";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "model name", 10)) {
      snprintf(model, sizeof model, "%s", strchr(line, ':') + 2);
      model[strcspn(model, "\n")] = 0;
    }
  if (file)
    fclose(file);
  printf("# machine: %s, %s; matrix instructions: %s\n", name.nodename, model,
         ws_mfma_implementation());
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *values, int count) {
  double sorted[REPEATS];
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  return sorted[count / 2];
}

static LLVMModuleRef candidate_module(ws_arena *arena, const char *text,
                                      ws_candidate **out_candidate) {
  ws_findings findings;
  ws_records records;
  ws_diag diag;
  const ws_template *tmpl;
  ws_findings_init(&findings, arena);
  LLVMModuleRef module = ws_pass_parse(LLVMContextCreate(), text, strlen(text),
                                       "fp8_gemm_mfma.ll", &findings);
  WS_CHECK(module);
  WS_CHECK(ws_pass_read_records(module, text, "fp8_gemm_mfma.ll", arena,
                                &records, &diag) == WS_OK);
  WS_CHECK(ws_template_from_records(arena, &records, "fp8_gemm_mfma.ll",
                                    ws_hash_bytes(text, strlen(text)), &tmpl,
                                    &diag) == WS_OK);
  *out_candidate = ws_candidate_create(arena, tmpl);
  WS_CHECK(ws_candidate_set(*out_candidate,
                            "tile_m=128;tile_n=128;tile_k=128;waves_m=2;"
                            "waves_n=2",
                            &diag) == WS_OK);
  WS_CHECK(ws_pass_splice(module, *out_candidate, &findings));
  return module;
}

static sample measure(const char *text, int run_count) {
  ws_arena *arena = test_arena();
  ws_candidate *candidate;
  LLVMModuleRef module = candidate_module(arena, text, &candidate);
  ws_findings findings;
  ws_findings_init(&findings, arena);
  ws_run runs[WS_STANDARD_RUNS];
  ws_run_result results[WS_STANDARD_RUNS];
  WS_CHECK(ws_standard_runs(candidate, runs) >= RUNS);
  double start = ws_clock_ms();
  bool ok = ws_pass_sanitize(module, candidate, runs, run_count, arena, results,
                             &findings);
  sample s = {.total = ws_clock_ms() - start,
              .times = ws_sanitize_latest_times(),
              .ok = ok};
  return s;
}

static sample measure_in_child(const char *text, int run_count) {
  int ends[2];
  sample s = {0};
  WS_CHECK(pipe(ends) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    s = measure(text, run_count);
    _exit(write(ends[1], &s, sizeof s) != sizeof s);
  }
  close(ends[1]);
  WS_CHECK(read(ends[0], &s, sizeof s) == sizeof s);
  close(ends[0]);
  waitpid(pid, NULL, 0);
  return s;
}

static void report(const char *text, int run_count) {
  double total[REPEATS], part[4][REPEATS];
  for (int i = 0; i < REPEATS; i++) {
    sample s = measure_in_child(text, run_count);
    WS_CHECK(s.ok);
    total[i] = s.total;
    part[0][i] = s.times.instrument;
    part[1][i] = s.times.code;
    part[2][i] = s.times.run;
    part[3][i] = s.times.compare;
  }
  printf("# sanitizer, tile 128x128x128, %d run%s, fresh child, median of %d: "
         "%.1f ms (bar: 15); instrument %.1f, code %.1f, run %.1f, compare "
         "%.1f\n",
         run_count, run_count > 1 ? "s" : "", REPEATS, median(total, REPEATS),
         median(part[0], REPEATS), median(part[1], REPEATS),
         median(part[2], REPEATS), median(part[3], REPEATS));
}

WS_TEST(cost_of_a_candidate) {
  ws_arena *arena = test_arena();
  char *text = read_template(arena, "fp8_gemm_mfma.ll");
  ws_pass_initialize();
  ws_sanitize_warm_up();
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  ws_candidate *candidate;
  ws_run runs[WS_STANDARD_RUNS];
  candidate_module(arena, text, &candidate);
  int count = ws_standard_runs(candidate, runs);
  for (int i = 0; i < count; i++)
    ws_sanitize_prepare(problem, 0, &runs[i].shape, runs[i].seed);

  print_machine();
  report(text, 1);
  report(text, RUNS);
}

WS_TEST(cost_of_a_matrix_instruction) {
  static uint64_t a[64], b[64];
  static float c4[64][4], c16[64][16];
  enum { CALLS = 2000 };
  for (int lane = 0; lane < 64; lane++) {
    a[lane] = 0x3f4038b9c0354142u * (uint64_t)(lane + 1) & ~0x8080808080808080u;
    b[lane] = 0x41b8363f40c23743u * (uint64_t)(lane + 3) & ~0x8080808080808080u;
  }
  double us_16[REPEATS], us_32[REPEATS];
  for (int i = 0; i < REPEATS; i++) {
    double start = ws_clock_ms();
    for (int n = 0; n < CALLS; n++)
      ws_mfma_f32_16x16x32(WS_FP8_E4M3_FNUZ, WS_FP8_E4M3_FNUZ, a, b, c4, c4);
    double middle = ws_clock_ms();
    for (int n = 0; n < CALLS; n++)
      ws_mfma_f32_32x32x16(WS_FP8_E4M3_FNUZ, WS_FP8_E4M3_FNUZ, a, b, c16, c16);
    us_16[i] = (middle - start) * 1000 / CALLS;
    us_32[i] = (ws_clock_ms() - middle) * 1000 / CALLS;
  }
  print_machine();
  printf("# 16x16x32: %.2f us (bar: 1.5), 32x32x16: %.2f us, median of %d\n",
         median(us_16, REPEATS), median(us_32, REPEATS), REPEATS);
}
