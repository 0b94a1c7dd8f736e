/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A search over many shapes against the made-up card of gemm_oracle.h: half of
 * the (n,k) are searched, the others are left out, and what counts is the time
 * there of the kernels that a dispatch takes, made from what the search timed.
 */
#ifndef WAVESMITH_TESTS_SEARCH_SETS_WORLD_H
#define WAVESMITH_TESTS_SEARCH_SETS_WORLD_H

#include "gemm_oracle.h"
#include "strategy_loop.h"
#include "wavesmith/dispatch.h"
#include "wavesmith/target.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* (n,k) of linear layers of public models, and sizes between. */
static const int64_t sets_layers[][2] = {
    {1536, 7168},  {3072, 1536}, {576, 7168},   {7168, 256},
    {7168, 2048},  {4608, 7168}, {7168, 2304},  {512, 7168},
    {4096, 4096},  {2112, 7168}, {24576, 1536}, {32768, 512},
    {7168, 16384}, {4096, 7168}, {5120, 5120},  {8192, 1024}};
static const int64_t sets_sizes[] = {16, 64, 256, 1024, 4096, 8192};
enum {
  SETS_LAYERS = sizeof sets_layers / sizeof sets_layers[0],
  SETS_SIZES = sizeof sets_sizes / sizeof sets_sizes[0],
  SETS_HALF = SETS_LAYERS / 2 * SETS_SIZES
};

typedef struct sets_world {
  ws_arena *arena;
  const ws_template *tmpl;
  ws__space space;
  ws_shape searched[SETS_HALF], left_out[SETS_HALF];
} sets_world;

static void sets_init(sets_world *w) {
  ws_diag diag = {""};
  ws_records records;
  int counts[2] = {0, 0};
  w->arena = ws_arena_create();
  for (int i = 0; i < SETS_LAYERS; i++)
    for (int j = 0; j < SETS_SIZES; j++)
      (i % 2 ? w->left_out : w->searched)[counts[i % 2]++] =
          gemm_shape(sets_sizes[j], sets_layers[i][0], sets_layers[i][1]);
  cJSON *json = cJSON_Parse(LANDSCAPE);
  bool made = ws_records_from_json(w->arena, json, &records, &diag) == WS_OK &&
              ws_template_from_records(w->arena, &records, "landscape",
                                       ws_hash_bytes("", 0), &w->tmpl,
                                       &diag) == WS_OK &&
              ws__space_init(&w->space, w->arena, w->tmpl, 0, "kmajor",
                             w->searched, SETS_HALF, &diag) == WS_OK;
  cJSON_Delete(json);
  if (!made) {
    fprintf(stderr, "%s\n", diag.text);
    exit(1);
  }
}

static void sets_deinit(sets_world *w) { ws_arena_destroy(w->arena); }

static void sets_us(const void *context, const ws_candidate *candidate,
                    double *out_us) {
  const sets_world *w = context;
  for (int s = 0; s < SETS_HALF; s++)
    out_us[s] =
        ws_candidate_broken_require(candidate, &w->searched[s], NULL) < 0
            ? oracle_us(candidate, &w->searched[s])
            : INFINITY;
}

/* `local` until so many times were taken. sampled: as the tool does on a large
 * set; else each candidate is timed on all shapes. */
static void sets_search(sets_world *w, strategy_loop *loop, uint64_t seed,
                        bool sampled, int64_t times) {
  double limit_us[SETS_HALF];
  loop_init(loop, &w->space, SETS_HALF, "local", seed, WS__WINDOW, sets_us, w);
  for (int s = 0; s < SETS_HALF; s++)
    limit_us[s] = oracle_limit_us(&w->searched[s]);
  if (sampled)
    ws__knowledge_set_large(&loop->knowledge, w->searched, limit_us);
  while (loop->times < times && loop_step(loop))
    ;
}

/* Candidates x searched shapes, with gaps: those with as many times as
 * `wavesmith dispatch` wants of one (measured.c: LEAST_TIMINGS). */
enum { SETS_LEAST_TIMES = 12 };

static void sets_column(const sets_world *w, const ws__knowledge *k,
                        const char *id, double us[SETS_HALF], int *out_times) {
  *out_times = 0;
  for (int s = 0; s < SETS_HALF; s++)
    us[s] = NAN;
  for (int i = 0; i < k->count; i++)
    for (int s = 0; s < SETS_HALF; s++)
      if (!strcmp(k->results[i].id, id) && isfinite(k->results[i].us[s])) {
        us[s] = k->results[i].us[s];
        ++*out_times;
      } else if (!strcmp(k->results[i].id, id) && isnan(us[s]) &&
                 ws_candidate_broken_require(k->results[i].candidate,
                                             &w->searched[s], NULL) >= 0) {
        us[s] = INFINITY;
      }
}

static void sets_matrix(const sets_world *w, const ws__knowledge *k,
                        ws_dispatch_entry *entries, ws_matrix *out) {
  double(*columns)[SETS_HALF] =
      ws_arena_alloc(w->arena, sizeof *columns * (size_t)k->count);
  int count = 0;
  for (int i = 0; i < k->count; i++) {
    int times;
    sets_column(w, k, k->results[i].id, columns[count], &times);
    if (times >= SETS_LEAST_TIMES && !k->results[i].request.further)
      entries[count++] =
          (ws_dispatch_entry){.candidate = k->results[i].candidate};
  }
  const size_t cells = (size_t)count * SETS_HALF;
  *out = (ws_matrix){.shapes = w->searched,
                     .shape_count = SETS_HALF,
                     .candidate_count = count,
                     .us = ws_arena_alloc(w->arena, sizeof(double) * cells),
                     .provenance = "cuda:made-up"};
  for (int s = 0; s < SETS_HALF; s++)
    for (int c = 0; c < count; c++)
      out->us[s * count + c] = columns[c][s];
}

/* ln of the geometric mean over these shapes of the time of what a dispatch
 * takes there. */
static double sets_dispatch_ln_us(const sets_world *w, const ws__knowledge *k,
                                  const ws_shape *shapes, int count) {
  ws_diag diag = {""};
  ws_matrix matrix;
  ws_dispatch_choice choice;
  ws_dispatch_entry *entries =
      ws_arena_alloc(w->arena, sizeof *entries * (size_t)k->count);
  sets_matrix(w, k, entries, &matrix);
  const ws_selection_input input = {.problem =
                                        ws_problem_find("fp8_gemm_blockscale"),
                                    .target = ws_target_find("gfx942"),
                                    .entries = entries,
                                    .matrix = &matrix};
  if (ws_dispatch_choose(w->arena, &input, &choice, &diag) != WS_OK) {
    fprintf(stderr, "%s\n", diag.text);
    exit(1);
  }
  double sum = 0;
  for (int s = 0; s < count; s++) {
    const int pick = ws_selection_pick(choice.selection, &shapes[s]);
    sum += log(oracle_us(entries[choice.columns[pick]].candidate, &shapes[s]));
  }
  return sum / count;
}

#endif
