/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which candidates are the same: of one build hash, those that also run the
 * same way. A template with two values of a parameter for each fact that tells
 * candidates apart, and one parameter that stands nowhere.
 */
#include "wavesmith/build.h"
#include "ws_test_template.h"

static const char lines[] =
    "template|gemm|1|fp8_gemm_blockscale|sm_90a|for tests\n"
    "param|layout|ws.layout|0 1|layout|0\n"
    "param|lds|ws.lds|1 2|dynamic LDS|1\n"
    "param|box|ws.box|64 128|tensor map|64\n"
    "param|swizzle|ws.swizzle|0 128|tensor map|0\n"
    "param|grid|ws.grid|1 2|grid|1\n"
    "param|threads|ws.threads|64 128|threads|64\n"
    "param|condition|ws.condition|1 2|condition|1\n"
    "param|space|ws.space|1 2|workspace|1\n"
    "param|whole|ws.whole|1 2|constraint|1\n"
    "param|cluster|ws.cluster|1 2|cluster|1\n"
    "param|unused|ws.unused|1 2|nothing|1\n"
    "require|m % whole == 0|whole\n"
    "lds|ws.shared|1024 * lds\n"
    "launch|run|grid|1|1|threads|condition|a_map c m\n"
    "workspace|space * m\n"
    "occupancy|run|cluster|1\n"
    "tensor_map|a_map|a|u8|k|m|box|64|swizzle\n";

static const char *key_of(ws_arena *arena, const char *text, const char *values,
                          const char *hash) {
  ws_candidate *candidate =
      ws_candidate_create(arena, ws_test_template(arena, text));
  WS_CHECK_INT(ws_candidate_set(candidate, values, NULL), WS_OK);
  return ws_candidate_twin_key(arena, candidate, hash);
}

WS_TEST(each_launch_fact_tells_candidates_apart) {
  static const char *const values[] = {
      "layout=1",    "lds=2",   "box=128", "swizzle=128", "grid=2",
      "threads=128", "space=2", "whole=2", "cluster=2",   "condition=2"};
  enum { COUNT = sizeof values / sizeof *values };
  ws_arena *arena = ws_arena_create();
  const char *keys[COUNT + 1] = {key_of(arena, lines, "", "hash")};
  for (int i = 0; i < COUNT; i++) {
    keys[i + 1] = key_of(arena, lines, values[i], "hash");
    for (int k = 0; k <= i; k++)
      if (!strcmp(keys[k], keys[i + 1]))
        WS_FAIL("%s is the twin of %s", values[i], k ? values[k - 1] : "all");
  }
  WS_CHECK_TEXT(key_of(arena, lines, "unused=2", "hash"), keys[0]);
  WS_CHECK(strcmp(key_of(arena, lines, "", "other"), keys[0]));
  WS_CHECK_TEXT(key_of(arena, lines, "", ""), "");
  ws_arena_destroy(arena);
}

/* lines with one text in place of another, once. */
static const char *with(ws_arena *arena, const char *old, const char *new) {
  const char *at = strstr(lines, old);
  WS_CHECK(at != NULL);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(at - lines), lines, new,
                         at + strlen(old));
}

WS_TEST(so_do_words_of_the_template) {
  static const char *const words[][2] = {
      {"sm_90a", "gfx942"},
      {"fp8_gemm_blockscale", "another_problem"},
      {"launch|run|", "launch|other|"}, /* with its occupancy, below */
      {"a_map c m\n", "a_map m c\n"},
      {"a_map|a|u8", "a_map|b|u8"},
      {"a_map|a|u8", "a_map|a|bf16"},
      {"u8|k|m|", "u8|m|k|"},
  };
  ws_arena *arena = ws_arena_create();
  const char *key = key_of(arena, lines, "", "hash");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *text = with(arena, words[i][0], words[i][1]);
    if (strstr(text, "launch|other|"))
      text =
          ws_arena_printf(arena, "%.*soccupancy|other%s",
                          (int)(strstr(text, "occupancy") - text), text,
                          strstr(text, "occupancy") + strlen("occupancy|run"));
    if (!strcmp(key_of(arena, text, "", "hash"), key))
      WS_FAIL("%s instead of %s makes a twin", words[i][1], words[i][0]);
  }
  /* These do not: what people read, and values that are not this one's. */
  WS_CHECK_TEXT(key_of(arena, with(arena, "for tests", "prose"), "", "hash"),
                key);
  WS_CHECK_TEXT(key_of(arena, with(arena, "gemm|1", "other|2"), "", "hash"),
                key);
  WS_CHECK_TEXT(
      key_of(arena, with(arena, "|1 2|grid", "|1 3|grid"), "", "hash"), key);
  ws_arena_destroy(arena);
}

/* One request for whoever asks. */
WS_TEST(build_request) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *candidate = ws_candidate_create(
      arena, ws_test_template(arena, "template|t|1|p|gfx942|x\n"
                                     "param|a|g|1 2|x|1\n"
                                     "region|r|does\n"
                                     "region|s|does\nvariant|s|s2|other\n"
                                     "region|t|does\n"
                                     "launch|f|1|1|1|64|1|\n"));
  WS_CHECK_INT(ws_candidate_set(candidate, "a=2", NULL), WS_OK);
  WS_CHECK_INT(ws_candidate_set_variants(candidate, "s=s2", NULL), WS_OK);
  candidate->bodies[0] = (ws_body){-1, "opencl", "void r() {}"};
  candidate->bodies[2] = (ws_body){-1, "ir", "define"};
  ws_build_request request = ws_build_request_of(arena, candidate, "text", 4);
  WS_CHECK_TEXT(request.template_file, "gemm.ll");
  WS_CHECK(request.template_size == 4 && !request.stages && !request.run_count);
  WS_CHECK_TEXT(request.target, "gfx942");
  WS_CHECK_TEXT(request.assignments, "a=2");
  WS_CHECK_TEXT(request.variants, "s=s2");
  WS_CHECK_INT(request.body_count, 2);
  WS_CHECK_TEXT(request.bodies[0].file, "r.cl");
  WS_CHECK_TEXT(request.bodies[1].file, "t.ll");
  WS_CHECK_TEXT(request.bodies[1].text, "define");
  WS_CHECK_INT(request.limits.wall_ms, ws_limits_default.wall_ms);
  ws_arena_destroy(arena);
}
