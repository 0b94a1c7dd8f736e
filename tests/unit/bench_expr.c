/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What one evaluation costs: a typical size constraint over the scope of a
 * template with 16 parameters and a shape, and all constraints of a candidate.
 * Prints; never fails. The target is 200 ns for the typical constraint.
 */
#include "../gemm_shape.h"
#include "wavesmith/problem.h"
#include "ws_test_template.h"

#include <sys/utsname.h>
#include <time.h>

/* Of this process: other work on the machine does not count. */
static double cpu_ns(void) { return (double)clock() * 1e9 / CLOCKS_PER_SEC; }

static const char constraint[] =
    "(tile_m + tile_n) * (tile_k + padding) * (prefetch + 1) <= 65536";

static const char *const parameters[] = {
    "layout",  "tile_m",    "tile_n",  "tile_k",   "waves_m", "waves_n",
    "mfma",    "padding",   "swizzle", "prefetch", "split_k", "order",
    "group_m", "xcd_count", "fuse",    "unroll"};

static const ws_template *make_template(ws_arena *arena) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, "template|t|1|p|gfx942|x\nlaunch|f|m|1|1|64|1|a\n");
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
    ws_strbuf_printf(&text, "param|%s|g%zu|1 2 4|x|2\n", parameters[i], i);
  for (int i = 0; i < 10; i++)
    ws_strbuf_printf(&text, "require|%s|x\n", constraint);
  const ws_template *tmpl = ws_test_template(arena, text.data);
  ws_strbuf_deinit(&text);
  return tmpl;
}

WS_TEST(cost_of_an_evaluation) {
  enum { ROUNDS = 400000 };
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = make_template(arena);
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  ws_shape shape = gemm_shape(128, 576, 7168);
  ws_scope scope = ws_candidate_scope(arena, candidate, &shape, 304);
  int64_t value, sum = 0;
  ws_diag diag;
  double start = cpu_ns();
  for (int i = 0; i < ROUNDS; i++) {
    WS_CHECK_INT(ws_expr_eval(tmpl->requires[0].expr, &scope, &value, &diag),
                 WS_OK);
    sum += value;
  }
  double per_eval = (cpu_ns() - start) / ROUNDS;
  start = cpu_ns();
  for (int i = 0; i < ROUNDS / 10; i++)
    sum += ws_candidate_broken_require(candidate, &shape, &diag);
  double per_candidate = (cpu_ns() - start) / (ROUNDS / 10);
  struct utsname machine;
  uname(&machine);
  printf("# %s: %.0f ns for '%s' (19 bindings), %.0f ns for 10 of them in "
         "ws_candidate_broken_require (%lld)\n",
         machine.nodename, per_eval, constraint, per_candidate, (long long)sum);
  ws_arena_destroy(arena);
}
