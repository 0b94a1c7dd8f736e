/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a candidate costs: check + sanitize (m = n = 128, k = 256) + lower of a
 * 128x128x128 tile on one warm compile server, then candidates per second of
 * the demo's tuning run on all cores. Prints medians; never fails on a slow
 * day.
 */
#include "../gemm_shape.h"
#include "wavesmith/bound_model.h"
#include "wavesmith/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { REPEATS = 31, MIX = 200 };

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "bench_candidate: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

static int compare_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_double);
  return values[count / 2];
}

static void print_machine(void) {
  struct utsname name;
  uname(&name);
  char line[256], cpu[256] = "unknown CPU";
  FILE *info = fopen("/proc/cpuinfo", "r");
  while (info && fgets(line, sizeof line, info))
    if (!strncmp(line, "model name", 10)) {
      snprintf(cpu, sizeof cpu, "%s", strchr(line, ':') + 2);
      cpu[strcspn(cpu, "\n")] = 0;
      break;
    }
  if (info)
    fclose(info);
  printf("machine: %s, %s, %ld cores\n", name.nodename, cpu,
         sysconf(_SC_NPROCESSORS_ONLN));
}

/* The request for one candidate; runs live in the caller's array. */
static ws_build_request request_for(ws_arena *arena, const ws_candidate *c,
                                    const char *text, size_t size,
                                    const ws_run *runs, int run_count) {
  return (ws_build_request){.template_file = c->tmpl->file,
                            .template_text = text,
                            .template_size = size,
                            .target = "gfx942",
                            .assignments = ws_candidate_values_text(arena, c),
                            .variants = ws_candidate_variants_text(arena, c),
                            .runs = runs,
                            .run_count = run_count,
                            .stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE |
                                      WS_STAGE_LOWER,
                            .limits = ws_limits_default};
}

static void time_one_tile(ws_compiler *compiler, const ws_template *tmpl,
                          const char *text, size_t size) {
  static const char *const stages[] = {"parse+splice", "check", "sanitize",
                                       "lower", "whole candidate (wall)"};
  double ms[5][REPEATS];
  int done = 0;
  for (int i = 0; i < REPEATS; i++) {
    ws_arena *arena = ws_arena_create();
    ws_candidate *candidate = ws_candidate_create(arena, tmpl);
    must(
        ws_candidate_set(candidate, "tile_m=128;tile_n=128;tile_k=128", &diag));
    ws_run run = {.shape = gemm_shape(128, 128, 256),
                  .seed = (uint64_t)(i % 2)};
    ws_build_request request =
        request_for(arena, candidate, text, size, &run, 1);
    ws_build_result result;
    double begin = ws_clock_ms();
    must(ws_compiler_build(compiler, arena, &request, &result, &diag));
    ms[4][i] = ws_clock_ms() - begin;
    ms[0][i] = result.parse_ms, ms[1][i] = result.check_ms;
    ms[2][i] = result.sanitize_ms, ms[3][i] = result.lower_ms;
    done += result.verdict == WS_VERDICT_OK;
    if (result.verdict != WS_VERDICT_OK)
      printf("not ok: %s: %s\n", ws_verdict_text(result.verdict),
             result.reason);
    ws_arena_destroy(arena);
  }
  printf("128x128x128 tile, m=n=128 k=256, one server, median of %d (%d ok):\n",
         REPEATS, done);
  for (int s = 0; s < 5; s++)
    printf("  %-24s %7.2f ms\n", stages[s], median(ms[s], REPEATS));
}

/* The demo's tuning run itself, cut at MIX candidates. */
static void time_mix(ws_arena *arena, const char *source) {
  char archive[] = "/tmp/bench-candidate-XXXXXX";
  int descriptor = mkstemp(archive);
  if (descriptor < 0 || close(descriptor) || unlink(archive)) {
    perror("bench_candidate: /tmp");
    exit(3);
  }
  ws_tune_options options = {
      .template_file =
          ws_arena_printf(arena, "%s/ir-templates/fp8_gemm_mfma.ll", source),
      .archive_path = archive,
      .layout = "kmajor",
      .shape_set = "contest",
      .strategy = "local",
      .seed = 1,
      .evaluations = MIX};
  ws_tune_result result;
  must(ws_tune(&options, arena, &result, &diag));
  printf("demo's mix (local, seed 1), %lld candidates, %ld core(s): %.1f "
         "candidates/s\n",
         (long long)result.evaluated, sysconf(_SC_NPROCESSORS_ONLN),
         (double)result.evaluated / result.seconds);
  const char *const suffixes[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; i++)
    unlink(ws_arena_printf(arena, "%s%s", archive, suffixes[i]));
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const char *source = getenv("WS_SOURCE_DIR");
  ws_arena *arena = ws_arena_create();
  char *path = ws_arena_printf(arena, "%s/ir-templates/fp8_gemm_mfma.ll",
                               source ? source : ".");
  char *text;
  size_t size;
  must(ws_file_read(arena, path, &text, &size, &diag));
  ws_compiler *compiler;
  must(ws_compiler_start(&compiler, &diag));
  const ws_template *tmpl;
  must(ws_compiler_describe(compiler, arena, path, text, size, &tmpl, &diag));
  print_machine();
  time_one_tile(compiler, tmpl, text, size);
  ws_compiler_stop(compiler);
  time_mix(arena, source ? source : ".");
  ws_arena_destroy(arena);
  return 0;
}
