/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a candidate costs: check + sanitize (m = n = 128, k = 256) + lower of a
 * 128x128x128 tile on one warm compile server, then candidates per second with
 * one server per core on random legal points (the demo's mix). Prints medians;
 * never fails on a slow day.
 */
#include "wavesmith/model.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { REPEATS = 31, MIX = 96, MAX_SERVERS = 16 };

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
    ws_run run = {{128, 128, 256}, WS_WAVES_UP, (uint64_t)(i % 2)};
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

/* A random point that keeps the constraints. */
static ws_candidate *random_point(ws_arena *arena, const ws_template *tmpl,
                                  ws_rng *rng) {
  for (;;) {
    ws_candidate *c = ws_candidate_create(arena, tmpl);
    for (int p = 0; p < tmpl->param_count; p++)
      if (strcmp(tmpl->params[p].name, "layout"))
        c->values[p] = tmpl->params[p].values[ws_rng_below(
            rng, (uint64_t)tmpl->params[p].value_count)];
    ws_candidate_update_id(c);
    if (ws_candidate_broken_require(c, NULL, NULL) < 0)
      return c;
  }
}

static void time_mix(ws_compiler **servers, int server_count,
                     const ws_template *tmpl, const char *text, size_t size) {
  ws_arena *arena = ws_arena_create();
  ws_rng rng;
  ws_rng_init(&rng, 7);
  struct pollfd polls[MAX_SERVERS];
  int sent = 0, received = 0, ok = 0;
  double begin = ws_clock_ms();
  for (int s = 0; s < server_count; s++)
    polls[s] = (struct pollfd){.fd = -1, .events = POLLIN};
  while (received < MIX) {
    for (int s = 0; s < server_count; s++) {
      ws_build_result result;
      if (polls[s].fd >= 0 && polls[s].revents) {
        must(ws_compiler_receive(servers[s], arena, &result, &diag));
        ok += result.verdict == WS_VERDICT_OK;
        received++;
        polls[s].fd = -1;
      }
      if (polls[s].fd >= 0 || sent == MIX)
        continue;
      ws_candidate *c = random_point(arena, tmpl, &rng);
      ws_run runs[WS_STANDARD_RUNS];
      int run_count = ws_standard_runs(c, runs);
      ws_build_request request =
          request_for(arena, c, text, size, runs, run_count);
      must(ws_compiler_send(servers[s], &request, &diag));
      polls[s].fd = ws_compiler_descriptor(servers[s]);
      polls[s].revents = 0;
      sent++;
    }
    poll(polls, (nfds_t)server_count, -1);
  }
  double seconds = (ws_clock_ms() - begin) / 1000;
  printf("random legal points, standard runs, %d server(s): %.1f candidates/s "
         "(%d of %d ok)\n",
         server_count, MIX / seconds, ok, MIX);
  ws_arena_destroy(arena);
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
  int server_count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  server_count = server_count > MAX_SERVERS ? MAX_SERVERS : server_count;
  ws_compiler *servers[MAX_SERVERS];
  for (int s = 0; s < server_count; s++)
    must(ws_compiler_start(&servers[s], &diag));
  const ws_template *tmpl;
  must(ws_compiler_describe(servers[0], arena, path, text, size, &tmpl, &diag));
  print_machine();
  time_one_tile(servers[0], tmpl, text, size);
  time_mix(servers, server_count, tmpl, text, size);
  for (int s = 0; s < server_count; s++)
    ws_compiler_stop(servers[s]);
  ws_arena_destroy(arena);
  return 0;
}
