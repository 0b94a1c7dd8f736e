/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a candidate costs: check + sanitize (m = n = 128, k = 256) + lower of a
 * 128x128x128 tile on one warm compile server, of the template in LLVM IR and
 * of the one in MLIR in turn; then candidates per second of the demo's tuning
 * run on all cores. Prints medians; never fails on a slow day.
 */
#include "../gemm_shape.h"
#include "wavesmith/bound_model.h"
#include "wavesmith/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { REPEATS = 31, MIX = 200, STAGES = 5 };

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

static const char *const stages[STAGES] = {"parse+splice", "check", "sanitize",
                                           "lower", "whole candidate (wall)"};

typedef struct subject {
  const char *name, *text;
  size_t size;
  const ws_template *tmpl;
  double ms[STAGES][REPEATS];
  int done;
} subject;

static void read_subject(ws_compiler *compiler, ws_arena *arena,
                         const char *path, subject *out) {
  char *text;
  const char *dot = strrchr(path, '.');
  *out = (subject){.name = dot + 1};
  must(ws_file_read(arena, path, &text, &out->size, &diag));
  out->text = text;
  must(ws_compiler_describe(compiler, arena, path, text, out->size, &out->tmpl,
                            &diag));
}

static void time_once(ws_compiler *compiler, subject *s, int i) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *candidate = ws_candidate_create(arena, s->tmpl);
  must(ws_candidate_set(candidate, "tile_m=128;tile_n=128;tile_k=128", &diag));
  ws_run run = {.shape = gemm_shape(128, 128, 256), .seed = (uint64_t)(i % 2)};
  ws_build_request request =
      request_for(arena, candidate, s->text, s->size, &run, 1);
  ws_build_result result;
  double begin = ws_clock_ms();
  must(ws_compiler_build(compiler, arena, &request, &result, &diag));
  s->ms[4][i] = ws_clock_ms() - begin;
  s->ms[0][i] = result.parse_ms, s->ms[1][i] = result.check_ms;
  s->ms[2][i] = result.sanitize_ms, s->ms[3][i] = result.lower_ms;
  s->done += result.verdict == WS_VERDICT_OK;
  if (result.verdict != WS_VERDICT_OK)
    printf("not ok: %s: %s\n", ws_verdict_text(result.verdict), result.reason);
  ws_arena_destroy(arena);
}

/* Each has a server of its own: one keeps what it read of the last template. */
static void time_one_tile(ws_arena *arena, const char *const paths[2]) {
  subject *s = ws_arena_alloc(arena, 2 * sizeof *s);
  ws_compiler *compilers[2];
  for (int k = 0; k < 2; k++) {
    must(ws_compiler_start(&compilers[k], &diag));
    read_subject(compilers[k], arena, paths[k], &s[k]);
  }
  for (int i = 0; i < REPEATS; i++)
    for (int k = 0; k < 2; k++)
      time_once(compilers[k], &s[k], i);
  printf("128x128x128 tile, m=n=128 k=256, one server, median of %d:\n"
         "  %-24s %10s %10s %8s\n",
         REPEATS, "ms", s[0].name, s[1].name, "ratio");
  for (int i = 0; i < STAGES; i++) {
    const double a = median(s[0].ms[i], REPEATS),
                 b = median(s[1].ms[i], REPEATS);
    printf("  %-24s %10.2f %10.2f %8.2f\n", stages[i], a, b, b / a);
  }
  printf("  %-24s %10d %10d\n", "right", s[0].done, s[1].done);
  for (int k = 0; k < 2; k++)
    ws_compiler_stop(compilers[k]);
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
  static const char *const endings[] = {"ll", "mlir"};
  const char *paths[2];
  for (int k = 0; k < 2; k++)
    paths[k] = ws_arena_printf(arena, "%s/ir-templates/fp8_gemm_mfma.%s",
                               source ? source : ".", endings[k]);
  print_machine();
  time_one_tile(arena, paths);
  time_mix(arena, source ? source : ".");
  ws_arena_destroy(arena);
  return 0;
}
