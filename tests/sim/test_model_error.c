/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The model's error as it is shipped: documented, of this model, of every
 * class of bound that the clock names, and monotone enough to mean something.
 * What is read from such tables is tried on made-up ones in
 * test_model_error_rules.c.
 */
#include "wavesmith/base.h"
#include "wavesmith/sim.h"
#include "wavesmith/sim_error.h"
#include "ws_test.h"

static const char *document(ws_arena *arena) {
  const char *source = getenv("WS_SOURCE_DIR");
  ws_diag diag;
  char *text;
  size_t size;
  if (ws_file_read(
          arena,
          ws_arena_printf(arena, "%s/docs/simulator.md", source ? source : "."),
          &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return text;
}

static const char *bound_line(ws_arena *arena, const ws_sim_error_bound *b) {
  return b->rows
             ? ws_arena_printf(arena, "| %s | %d | %.2f | %.0f %% |", b->bound,
                               b->rows, b->median, 100 * b->within)
             : ws_arena_printf(arena, "| %s | 0 | - | - |", b->bound);
}

static const char *pairs_line(ws_arena *arena, const ws_sim_error_pairs *p) {
  const char *range =
      isfinite(p->high)
          ? ws_arena_printf(arena, "%.0f to %.0f %%", 100 * p->low,
                            100 * p->high)
          : ws_arena_printf(arena, "more than %.0f %%", 100 * p->low);
  return ws_arena_printf(arena, "| %s | %d | %.0f %% | %d |", range, p->pairs,
                         100.0 * p->right / p->pairs, p->left_out);
}

WS_TEST(tables_are_documented) {
  ws_arena *arena = ws_arena_create();
  const char *text = document(arena);
  for (int i = 0; i < ws_sim_error_bound_count; i++)
    WS_CHECK_CONTAINS(text, bound_line(arena, &ws_sim_error_bounds[i]));
  for (int i = 0; i < ws_sim_error_pair_count; i++)
    WS_CHECK_CONTAINS(text, pairs_line(arena, &ws_sim_error_pair_rows[i]));
  WS_CHECK_CONTAINS(
      text, ws_arena_printf(arena, "farther apart than %.1f %%, the sweep's",
                            100 * ws_sim_error_noise));
  const char *provenance =
      ws_arena_printf(arena, "sim:gfx942-model-%d:MI300X", ws_sim_error_model);
  WS_CHECK_CONTAINS(text,
                    ws_arena_printf(arena, "now **%.0f %%**",
                                    100 * ws_sim_error_equal(provenance)));
  ws_arena_destroy(arena);
}

/* Else: tests/bench/model_error.py */
WS_TEST(figures_are_of_this_model) {
  WS_CHECK_INT(ws_sim_error_model, WS_SIM_MODEL_VERSION);
}

WS_TEST(every_bound_has_a_row) {
  static const char *const bounds[] = {"mfma",     "lds",    "valu", "vmem",
                                       "l2",       "mall",   "hbm",  "latency",
                                       "dispatch", "launch", "all"};
  enum { COUNT = sizeof bounds / sizeof *bounds };
  int rows = 0;
  WS_CHECK_INT(ws_sim_error_bound_count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    WS_CHECK_TEXT(ws_sim_error_bounds[i].bound, bounds[i]);
    WS_CHECK(ws_sim_error_of_bound(bounds[i]) > 0);
    if (i < COUNT - 1)
      rows += ws_sim_error_bounds[i].rows;
  }
  WS_CHECK_INT(ws_sim_error_bounds[COUNT - 1].rows, rows);
}

WS_TEST(rows_of_pairs_follow_each_other) {
  WS_CHECK_NEAR(ws_sim_error_pair_rows[0].low, 0, 0);
  for (int i = 0; i < ws_sim_error_pair_count; i++) {
    const ws_sim_error_pairs *row = &ws_sim_error_pair_rows[i];
    WS_CHECK(row->high > row->low && row->right <= row->pairs);
    if (i)
      WS_CHECK_NEAR(row->low, row[-1].high, 0);
  }
  WS_CHECK(isinf(ws_sim_error_pair_rows[ws_sim_error_pair_count - 1].high));
}

static const ws_sim_profile profile = {.kernel = "k",
                                       .us = 10,
                                       .model_error = 0.25,
                                       .bound = "lds",
                                       .clock_mhz = 2100,
                                       .clocks = 2100,
                                       .limiter = "waves"};

WS_TEST(the_explanation_names_it) {
  ws_strbuf words;
  ws_strbuf_init(&words);
  ws_sim_explain(&profile, &words);
  WS_CHECK_CONTAINS(words.data, "simulated 10.00 us +-25 % (the model's error");
  ws_strbuf_deinit(&words);
}
