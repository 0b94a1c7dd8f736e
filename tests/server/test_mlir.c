/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Templates in MLIR on one compile server: what a candidate becomes does not
 * depend on what was built before it, and no text ends the server.
 */
#include "server_fixture.h"

#include "wavesmith/problem.h"

enum { POINTS = 4, TEXTS = 60, LOWER = WS_STAGE_CHECK | WS_STAGE_LOWER };

static const char *const points[POINTS] = {
    "tile_m=16;tile_n=16;waves_m=1;waves_n=1;lds_pad=16",
    "tile_m=64;tile_n=64;mfma=32;split_k=4",
    "tile_m=32;tile_n=128;waves_m=1;waves_n=4;prefetch=2;lds_buffers=2",
    "tile_m=128;tile_n=64;waves_m=4;waves_n=1;tile_k=64",
};

typedef struct source {
  const char *file;
  char *text;
  size_t size;
} source;

static source read_source(ws_arena *arena, const char *name) {
  const char *root = getenv("WS_SOURCE_DIR");
  source s = {.file = ws_arena_printf(arena, "%s/%s", root ? root : ".", name)};
  ws_diag diag;
  if (ws_file_read(arena, s.file, &s.text, &s.size, &diag) != WS_OK)
    WS_SKIP("%s", diag.text);
  return s;
}

static ws_build_result build_text(ws_compiler *compiler, ws_arena *arena,
                                  const source *s, const char *assignments,
                                  const char *body) {
  struct ws_request_body bodies = {"tile_order", "mlir", body,
                                   "tile_order.mlir"};
  const ws_build_request request = {.template_file = s->file,
                                    .template_text = s->text,
                                    .template_size = s->size,
                                    .target = "gfx942",
                                    .assignments = assignments,
                                    .variants = "",
                                    .bodies = &bodies,
                                    .body_count = body != NULL,
                                    .stages = LOWER,
                                    .limits = ws_limits_default};
  const ws_build_result result = build(compiler, arena, &request);
  if (result.finding_count && !strcmp(result.findings[0].id, "mlir-missing"))
    WS_SKIP("%s", result.findings[0].text);
  return result;
}

static ws_compiler *another_server(void) {
  ws_compiler *compiler;
  ws_diag diag;
  if (ws_compiler_start(&compiler, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return compiler;
}

static void check_same(const ws_build_result *a, const ws_build_result *b) {
  WS_CHECK_TEXT(ws_verdict_text(b->verdict), ws_verdict_text(WS_VERDICT_OK));
  WS_CHECK_TEXT(a->ir_hash, b->ir_hash);
  WS_CHECK_INT(a->code_object_size, b->code_object_size);
  WS_CHECK(!memcmp(a->code_object, b->code_object, a->code_object_size));
}

/* Each on a server that has built nothing yet; then all on one, forwards and
 * backwards, with failures and a template in LLVM IR between them. */
WS_TEST(code_objects_do_not_depend_on_what_came_before) {
  ws_arena *arena = ws_arena_create();
  const source mlir = read_source(arena, "ir-templates/fp8_gemm_mfma.mlir"),
               ir = read_source(arena, "ir-templates/fp8_gemm_naive.ll");
  alarm(500);
  ws_compiler *compiler = start_server();
  ws_build_result alone[POINTS];
  for (int i = 0; i < POINTS; i++) {
    ws_compiler *fresh = another_server();
    alone[i] = build_text(fresh, arena, &mlir, points[i], NULL);
    check_same(&alone[i], &alone[i]);
    ws_compiler_stop(fresh);
  }
  for (int i = 0; i < 2 * POINTS; i++) {
    const int point = i < POINTS ? i : 2 * POINTS - 1 - i;
    const ws_build_result again =
        build_text(compiler, arena, &mlir, points[point], NULL);
    check_same(&alone[point], &again);
    (void)build_text(compiler, arena, i % 2 ? &ir : &mlir, "",
                     i % 2 ? NULL : "no");
  }
  WS_CHECK(strcmp(alone[0].ir_hash, alone[1].ir_hash) != 0);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* Bytes and whole lines from elsewhere in the text, and cut ends. */
static char *damaged(ws_arena *arena, const source *s, ws_rng *rng, int i,
                     size_t *out_size) {
  char *copy = ws_arena_strndup(arena, s->text, s->size);
  *out_size = i % 7 ? s->size : ws_rng_below(rng, s->size);
  if (i % 2) {
    for (int k = 0; k < 1 + i % 4; k++)
      copy[ws_rng_below(rng, s->size)] = s->text[ws_rng_below(rng, s->size)];
    return copy;
  }
  const char *from = strchr(s->text + ws_rng_below(rng, s->size / 2), '\n'),
             *at = strchr(s->text + ws_rng_below(rng, s->size / 2), '\n');
  const int line = (int)strcspn(from + 1, "\n");
  copy = ws_arena_printf(arena, "%.*s%.*s%s", (int)(at - s->text), s->text,
                         line + 1, from, at + (i % 3 ? 0 : line));
  *out_size = strlen(copy);
  return copy;
}

WS_TEST(damaged_texts_are_survived) {
  static const char *const names[] = {"ir-templates/fp8_gemm_mfma.mlir",
                                      "kernels/rmsnorm/scheduled.mlir"};
  ws_arena *arena = ws_arena_create();
  ws_compiler *compiler = start_server();
  ws_rng rng;
  ws_rng_init(&rng, 7);
  alarm(500);
  for (int i = 0; i < TEXTS; i++) {
    source s = read_source(arena, names[i % 2]);
    s.text = damaged(arena, &s, &rng, i / 2, &s.size);
    const ws_build_result result = build_text(compiler, arena, &s, "", NULL);
    if (result.verdict != WS_VERDICT_OK &&
        result.verdict != WS_VERDICT_ILLEGAL &&
        result.verdict != WS_VERDICT_NO_COMPILE)
      WS_FAIL("text %d: %s: %s", i, ws_verdict_text(result.verdict),
              result.reason);
    WS_CHECK(result.verdict == WS_VERDICT_OK || *result.reason);
  }
  check_good(compiler);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* The first ended the server, the second left it without a finding. */
static const struct {
  const char *beside, *finding;
} once_fatal[] = {
    /* memory with no gpu.module around it */
    {"func.func private @out() { %a = memref.alloc() {wavesmith.lds = "
     "\"tile\"} : memref<128xf32, #gpu.address_space<workgroup>> return }",
     "mlir-lds"},
    /* MLIR ends without LLVM IR and without a word */
    {"gpu.binary @b [#gpu.object<#rocdl.target, \"abc\">]", "mlir-dialect"},
};

WS_TEST(texts_that_ended_a_server_are_refused) {
  ws_arena *arena = ws_arena_create();
  ws_compiler *compiler = start_server();
  alarm(200);
  const source pairs = read_source(arena, "tests/pass/Inputs/pairs.mlir");
  for (size_t i = 0; i < sizeof once_fatal / sizeof *once_fatal; i++) {
    const char *at = strstr(pairs.text, "gpu.module @pairs");
    WS_CHECK(at != NULL);
    source s = pairs;
    s.text = ws_arena_printf(arena, "%.*s%s %s", (int)(at - pairs.text),
                             pairs.text, once_fatal[i].beside, at);
    s.size = strlen(s.text);
    const ws_build_result result = build_text(compiler, arena, &s, "", NULL);
    WS_CHECK(result.finding_count > 0);
    WS_CHECK_TEXT(result.findings[0].id, once_fatal[i].finding);
  }
  check_good(compiler);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}
