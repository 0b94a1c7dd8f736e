/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For tests of the clock: a kernel from some lines of assembly, timed.
 */
#ifndef WS_TEST_CLOCK_KERNEL_H
#define WS_TEST_CLOCK_KERNEL_H

#pragma GCC diagnostic ignored "-Wunused-function" /* of the fixture */
#include "sim_fixture.h"

#include "clock.h"

typedef struct timed {
  ws_arena *arena;
  ws_sim *sim;
  ws_sim_module *module;
  uint64_t seed;    /* of the sampled units */
  const char *card; /* NULL: MI300X */
  ws_sim_profile profile;
  ws_status status;
  ws_diag diag;
} timed;

static char *replace(ws_arena *arena, const char *text, const char *from,
                     const char *to) {
  const char *at = strstr(text, from);
  WS_CHECK(at != NULL);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to,
                         at + strlen(from));
}

/* vgprs: of which half are accumulation registers. */
static void open_kernel(timed *t, const char *body, int vgprs, int lds,
                        int threads) {
  const fixture_options options = {.threads = threads, .lds = lds ? lds : -1};
  ws_sim_options sim_options = {.unchecked = true};
  size_t size;
  t->arena = ws_arena_create();
  if (ws_sim_card_find(t->card, t->arena, &sim_options.card, &t->diag) != WS_OK)
    WS_FAIL("%s", t->diag.text);
  char *text = fixture_kernel(t->arena, body, &options);
  text = replace(t->arena, text, ".vgpr_count: 256",
                 ws_arena_printf(t->arena, ".vgpr_count: %d", vgprs));
  text = replace(t->arena, text, "next_free_vgpr 256",
                 ws_arena_printf(t->arena, "next_free_vgpr %d", vgprs));
  text = replace(t->arena, text, "accum_offset 128",
                 ws_arena_printf(t->arena, "accum_offset %d", vgprs / 2));
  const void *image = fixture_assemble(t->arena, text, &size);
  if (ws_sim_create(&sim_options, &t->sim, &t->diag) != WS_OK ||
      ws_sim_load(t->sim, image, size, &t->module, &t->diag) != WS_OK)
    WS_FAIL("%s", t->diag.text);
}

static void time_kernel(timed *t, const void *in, const void *out,
                        uint32_t groups, uint32_t threads,
                        ws_sim_residency residency) {
  const void *kernarg[2] = {in, out};
  const ws_sim_launch launch = {.kernel =
                                    ws_sim_kernel_find(t->module, "probe"),
                                .grid = {groups, 1, 1},
                                .block = {threads, 1, 1},
                                .kernarg = kernarg,
                                .kernarg_size = sizeof kernarg,
                                .sample_seed = t->seed};
  t->status =
      ws_sim_time(t->sim, &launch, residency, t->arena, &t->profile, &t->diag);
}

static void must_be_timed(const timed *t) {
  if (t->status != WS_OK)
    WS_FAIL("%s", t->diag.text);
}

static void close_kernel(timed *t) {
  ws_sim_destroy(t->sim);
  ws_arena_destroy(t->arena);
}

/* Clocks of a kernel without buffers. */
/* The kernel's first argument is some memory. */
static int64_t clocks_in(size_t bytes, const char *body, int vgprs, int lds,
                         uint32_t groups, uint32_t threads) {
  timed t = {0};
  open_kernel(&t, body, vgprs, lds, (int)threads);
  void *memory = ws_sim_allocate(t.sim, bytes);
  WS_CHECK(memory != NULL);
  time_kernel(&t, memory, NULL, groups, threads, WS_SIM_WARM);
  must_be_timed(&t);
  const int64_t clocks = t.profile.clocks;
  close_kernel(&t);
  return clocks;
}

static int64_t clocks_of(const char *body, int vgprs, int lds, uint32_t groups,
                         uint32_t threads) {
  return clocks_in(65536, body, vgprs, lds, groups, threads);
}

/* A loop of `turns` round `body`, with s20 as its counter. */
static char *loop(char *buffer, size_t size, int turns, const char *before,
                  const char *body) {
  snprintf(buffer, size,
           "%s\ns_movk_i32 s20, %d\n.Lloop:\n%s\ns_sub_u32 s20, s20, 1\n"
           "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .Lloop\n",
           before, turns, body);
  return buffer;
}

#define FOUR(x) x "\n" x "\n" x "\n" x "\n"
#define SIXTEEN(x) FOUR(FOUR(x))
#endif
