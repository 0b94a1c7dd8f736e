/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Search quality at equal evaluations: strategies with the built-in proposer
 * on recorded times of an MI300X (300 configurations, 12 shapes; see
 * docs/search.md) and on the made-up landscape of the search's tests (millions
 * of points, 4 shapes). Per strategy the evaluations until the geometric mean
 * over the shapes of best so far / best there is comes within a margin: median
 * and extremes over seeds. `bench_strategies [SEEDS [WINDOW [FIRST SEED]]]`; a
 * negative window is a round of that size.
 * The table's part is skipped where the data is absent
 * (WS_SHARED_DIR/data/mi300x_fp8_gemm_sweep.csv).
 */
#include "../gemm_shape.h"
#include "landscape.h"
#include "strategy_loop.h"
#include "table.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SEEDS = 1000, MAX_SHAPES = 32, MARGINS = 3 };

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "bench_strategies: %s\n", diag.text);
  exit(ws_status_exit_code(status));
}

typedef struct ground { /* what is searched */
  const char *name;
  ws__space space;
  const ws_shape *shapes;
  int shape_count;
  double best_us[MAX_SHAPES];
  loop_oracle oracle;
  const void *context;
  int evaluations;         /* a run gives up after these */
  double margins[MARGINS]; /* of ln */
} ground;

/* ---- the table ---- */
static void table_us(const void *context, const ws_candidate *candidate,
                     double *out_us) {
  const ground *g = context;
  for (int s = 0; s < g->shape_count; s++)
    out_us[s] = ws__table_us(g->context, candidate, &g->shapes[s]);
}

static const ws_template *read_template(ws_arena *arena, const char *path) {
  ws_compiler *compiler;
  char *text;
  size_t size;
  const ws_template *tmpl;
  must(ws_file_read(arena, path, &text, &size, &diag));
  must(ws_compiler_start(&compiler, &diag));
  must(ws_compiler_describe(compiler, arena, path, text, size, &tmpl, &diag));
  ws_compiler_stop(compiler);
  return tmpl;
}

/* Every legal point, by drawing until none is left. */
static void find_best(ground *g) {
  ws_rng rng;
  ws__seen seen = {0};
  int point[WS_TEMPLATE_MAX_PARAMS];
  double us[MAX_SHAPES];
  ws_rng_init(&rng, 1);
  for (int s = 0; s < g->shape_count; s++)
    g->best_us[s] = INFINITY;
  while (ws__space_draw(&g->space, &rng, &seen, point) == WS__DRAW_FOUND) {
    ws_arena *arena = ws_arena_create();
    const ws_candidate *c = ws__space_candidate(&g->space, arena, point);
    g->oracle(g, c, us);
    for (int s = 0; s < g->shape_count; s++)
      g->best_us[s] = fmin(g->best_us[s], us[s]);
    ws__seen_add(&seen, &c->id);
    ws_arena_destroy(arena);
  }
  ws__seen_deinit(&seen);
}

static bool table_ground(ws_arena *arena, ground *g) {
  const char *shared = getenv("WS_SHARED_DIR"),
             *source = getenv("WS_SOURCE_DIR");
  const char *path = ws_arena_printf(arena, "%s/data/mi300x_fp8_gemm_sweep.csv",
                                     shared ? shared : ".");
  if (!ws_file_exists(path)) {
    printf("table: skipped, no %s\n", path);
    return false;
  }
  ws__table *table;
  must(ws__table_read(arena, path, &table, &diag));
  const ws_template *tmpl = read_template(
      arena, ws_arena_printf(arena, "%s/tests/search/mi300x_sweep.ll",
                             source ? source : "."));
  must(ws__table_check(table, tmpl, &diag));
  *g = (ground){.name = "table",
                .oracle = table_us,
                .context = table,
                .evaluations = 300,
                .margins = {log(1.1), log(1.05), log(1.02)}};
  g->shape_count = ws__table_shapes(table, arena, &g->shapes);
  must(ws__space_init(&g->space, arena, tmpl, 1, "mnmajor", g->shapes,
                      g->shape_count, &diag));
  find_best(g);
  return true;
}

/* ---- the landscape ---- */
static void landscape_us(const void *context, const ws_candidate *candidate,
                         double *out_us) {
  const ground *g = context;
  for (int s = 0; s < g->shape_count; s++) {
    ws_estimate estimate;
    must(ws_model_estimate(NULL, NULL, candidate, NULL, &g->shapes[s],
                           &estimate, &diag));
    bool taken =
        ws_candidate_broken_require(candidate, &g->shapes[s], NULL) < 0;
    out_us[s] = taken ? estimate.us : INFINITY;
  }
}

/* Regions multiply the time by at least 1 and do so independently of the
 * parameters; default, _c and _b of the three regions do by just 1. */
static void walk_landscape(ground *g, ws_candidate *candidate, int param) {
  double us[MAX_SHAPES];
  if (param < candidate->tmpl->param_count) {
    const ws_param *p = &candidate->tmpl->params[param];
    for (int i = 0; i < (strcmp(p->name, "layout") ? p->value_count : 1); i++) {
      candidate->values[param] = p->values[i];
      walk_landscape(g, candidate, param + 1);
    }
    return;
  }
  if (ws_candidate_broken_require(candidate, NULL, NULL) >= 0)
    return;
  g->oracle(g, candidate, us);
  for (int s = 0; s < g->shape_count; s++)
    g->best_us[s] = fmin(g->best_us[s], us[s]);
}

static void landscape_ground(ws_arena *arena, ground *g) {
  static ws_shape shapes[4];
  shapes[0] = gemm_shape(16, 7168, 2048);
  shapes[1] = gemm_shape(128, 2048, 7168);
  shapes[2] = gemm_shape(1024, 4608, 512);
  shapes[3] = gemm_shape(6144, 576, 7168);
  ws_records records;
  const ws_template *tmpl;
  cJSON *json = cJSON_Parse(LANDSCAPE);
  must(ws_records_from_json(arena, json, &records, &diag));
  cJSON_Delete(json);
  must(ws_template_from_records(arena, &records, "landscape",
                                ws_hash_bytes("", 0), &tmpl, &diag));
  *g = (ground){.name = "landscape",
                .shapes = shapes,
                .shape_count = sizeof shapes / sizeof shapes[0],
                .oracle = landscape_us,
                .evaluations = 1500,
                .margins = {log(1.5), log(1.2), log(1.1)}};
  must(ws__space_init(&g->space, arena, tmpl, 0, "kmajor", shapes,
                      g->shape_count, &diag));
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  for (int r = 0; r < tmpl->region_count; r++)
    candidate->bodies[r].variant = (3 - r) % 3 - 1;
  for (int s = 0; s < g->shape_count; s++)
    g->best_us[s] = INFINITY;
  walk_landscape(g, candidate, 0);
}

/* ---- runs ---- */
/* Evaluations until each margin; the limit + 1 where it was not reached. */
static void run(ground *g, const char *strategy, uint64_t seed, int window,
                int out_reached[MARGINS]) {
  double best[MAX_SHAPES];
  strategy_loop loop;
  const ws__result *result;
  for (int s = 0; s < g->shape_count; s++)
    best[s] = INFINITY;
  for (int i = 0; i < MARGINS; i++)
    out_reached[i] = g->evaluations + 1;
  loop_init(&loop, &g->space, g->shape_count, strategy, seed, window, g->oracle,
            g);
  for (int n = 1; n <= g->evaluations && (result = loop_step(&loop)); n++) {
    double distance = 0;
    for (int s = 0; s < g->shape_count; s++) {
      best[s] = fmin(best[s], result->us[s]);
      distance += log(best[s] / g->best_us[s]) / g->shape_count;
    }
    for (int i = 0; i < MARGINS; i++)
      if (distance <= g->margins[i] && n < out_reached[i])
        out_reached[i] = n;
    if (out_reached[MARGINS - 1] <= n)
      break;
  }
  loop_deinit(&loop);
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void print(ground *g, const char *strategy, uint64_t first, int seeds,
                  int window) {
  static int reached[MARGINS][MAX_SEEDS];
  double begin = ws_clock_ms();
  for (int seed = 0; seed < seeds; seed++) {
    int one[MARGINS];
    run(g, strategy, first + (uint64_t)seed, window, one);
    for (int i = 0; i < MARGINS; i++)
      reached[i][seed] = one[i];
  }
  printf("%s window=%-2d %-10s", g->name, window, strategy);
  for (int i = 0; i < MARGINS; i++) {
    int *r = reached[i];
    qsort(r, (size_t)seeds, sizeof *r, compare);
    printf("  within %2.0f%%: %4d (%d-%d)", 100 * expm1(g->margins[i]),
           (r[(seeds - 1) / 2] + r[seeds / 2]) / 2, r[0], r[seeds - 1]);
  }
  printf("  %.0f ms a run\n", (ws_clock_ms() - begin) / seeds);
}

int main(int argc, char **argv) {
  static const char *const strategies[] = {"random", "best-of-n", "local",
                                           "refine", "evolve"};
  long seeds = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
  long window = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  unsigned long first = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
  if (seeds < 1 || seeds > MAX_SEEDS || window < -WS__MOST_ROUND ||
      window > WS__WINDOW) {
    fprintf(stderr, "usage: bench_strategies [SEEDS [WINDOW [FIRST SEED]]]\n");
    return 2;
  }
  ws_arena *arena = ws_arena_create();
  ground grounds[2];
  int count = table_ground(arena, &grounds[0]);
  landscape_ground(arena, &grounds[count++]);
  const int windows[] = {WS__WINDOW, 1};
  for (int g = 0; g < count; g++)
    for (int w = 0; w < (window ? 1 : 2); w++)
      for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++)
        print(&grounds[g], strategies[i], first, (int)seeds,
              window ? (int)window : windows[w]);
  ws_arena_destroy(arena);
  return 0;
}
