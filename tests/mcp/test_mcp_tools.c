/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tools of the MCP server say, in text and structured.
 */
#include "talk.h"

#include <math.h>

WS_TEST(task) {
  talk t = make_talk();
  const char *text = call(&t, "task", "{}", false);
  WS_CHECK_CONTAINS(text, "Make fp8_gemm_blockscale faster on gfx942");
  WS_CHECK_CONTAINS(text, "contest: 1024,1536,7168 ");
  WS_CHECK_CONTAINS(text, "- tile_m = 64 (16 32 64 128 256 512)");
  WS_CHECK_CONTAINS(text, "tile_m <= m (a tile fits)");
  WS_CHECK_CONTAINS(text, "**stage**: copies a tile");
  WS_CHECK_CONTAINS(text, "simulated (" FAKE_PROVENANCE ")");
  WS_CHECK_CONTAINS(text, "ok 2, wrong 1");
  free_talk(&t);
}

WS_TEST(prompt) {
  talk t = make_talk();
  const char *text =
      call(&t, "prompt", "{\"kind\":\"crossover\",\"parents\":[\"a\",\"b\"]}",
           false);
  WS_CHECK_TEXT(text, "the system\n\nthe user\n");
  WS_CHECK_TEXT(fake.kind, "crossover");
  WS_CHECK_INT(fake.parent_count, 2);
  WS_CHECK_TEXT(fake.parents[1], "b");
  call(&t, "prompt", "{\"kind\":\"design\",\"parents\":null}", false);
  WS_CHECK_INT(fake.parent_count, 0);
  text =
      call(&t, "prompt", "{\"kind\":\"exploit\",\"parents\":[\"none\"]}", true);
  WS_CHECK_CONTAINS(text, "no candidate");
  free_talk(&t);
}

/* The child takes 5 and 40 us, the reference 10 and 40: sqrt(2 * 1). */
WS_TEST(candidates) {
  talk t = make_talk();
  const char *text = call(&t, "candidates", "{}", false);
  const char *best =
      ws_arena_printf(t.arena, "| %.12s | 1.414x | 14.14 | 2 | ok | 1 | %.12s",
                      fake.ids[1], fake.ids[0]);
  WS_CHECK_CONTAINS(text, best);
  WS_CHECK_CONTAINS(text, "wider loads");
  WS_CHECK_CONTAINS(
      text, ws_arena_printf(t.arena, "| %.12s | 1.000x | 20.00", fake.ids[0]));
  WS_CHECK(strstr(text, best) <
           strstr(text, ws_arena_printf(t.arena, "\n| %.12s", fake.ids[0])));
  WS_CHECK(!strstr(text, "wrong"));
  text =
      call(&t, "candidates", "{\"verdict\":\"any\",\"this_run\":true}", false);
  WS_CHECK_CONTAINS(text, "LDS race in stage");
  text = call(&t, "candidates", "{\"limit\":1}", false);
  WS_CHECK(!strstr(text, "1.000x"));
  text = call(&t, "candidates", "{\"verdict\":\"crash\"}", false);
  WS_CHECK_CONTAINS(text, "no such candidate");
  free_talk(&t);
}

WS_TEST(show) {
  talk t = make_talk();
  fake_ids(&t);
  const char *id = ws_arena_printf(t.arena, "{\"id\":\"%.8s\"}", fake.ids[1]);
  const char *text = call(&t, "show", id, false);
  WS_CHECK_CONTAINS(text, fake.ids[1]);
  WS_CHECK_CONTAINS(text, "Parameters: layout=0;tile_m=64");
  WS_CHECK_CONTAINS(text, "%x = load i32, ptr %p");
  WS_CHECK_CONTAINS(text,
                    "kernel: 128 VGPR (64 of them accumulation), 40 SGPR, "
                    "32768 bytes of LDS");
  WS_CHECK_CONTAINS(text, "2 workgroups fit a CU"); /* 64 KiB of LDS */
  WS_CHECK_CONTAINS(text, "valu 7, mfma_16x16x32 3");
  WS_CHECK_CONTAINS(text,
                    "over its parent 1.414x (worst shape 1.000, 2 shapes, "
                    "simulated)");
  WS_CHECK_CONTAINS(text, "Tried from it (1)");
  WS_CHECK(!strstr(text, "a template's text"));
  text = call(&t, "show",
              ws_arena_printf(t.arena,
                              "{\"id\":\"%s\",\"template\":true,\"regions\":["
                              "\"stage\"]}",
                              fake.ids[1]),
              false);
  WS_CHECK_CONTAINS(text, "a template's text");
  text = call(&t, "show",
              ws_arena_printf(t.arena, "{\"id\":\"%s\",\"regions\":[\"no\"]}",
                              fake.ids[1]),
              true);
  WS_CHECK_CONTAINS(text, "no region 'no'");
  WS_CHECK_CONTAINS(call(&t, "show", "{\"id\":\"ffffffffff\"}", true),
                    "there is no candidate");
  WS_CHECK_CONTAINS(call(&t, "show", "{\"id\":\"\"}", true), "empty");
  WS_CHECK_CONTAINS(call(&t, "show", "{\"id\":\"%' OR 1=1\"}", true),
                    "there is no candidate");
  free_talk(&t);
}

WS_TEST(submit) {
  talk t = make_talk();
  const char *text = call(&t, "submit",
                          "{\"kind\":\"repair\",\"parents\":[\"abc\"],"
                          "\"reply\":\"## name\\nx \\u00e9\\n\"}",
                          false);
  WS_CHECK_TEXT(fake.kind, "repair");
  WS_CHECK_TEXT(fake.parents[0], "abc");
  WS_CHECK_TEXT(fake.reply, "## name\nx \xc3\xa9\n");
  WS_CHECK_CONTAINS(text, "Verdict: illegal, at stage reply: the reply holds");
  WS_CHECK_CONTAINS(text, "the same kind and parents");
  text =
      call(&t, "submit", "{\"kind\":\"exploit\",\"reply\":\"wrong\"}", false);
  WS_CHECK_CONTAINS(text, "Verdict: wrong, at stage sanitize");
  WS_CHECK_CONTAINS(text, "**lds-race** in region stage, stage.ll line 2: two "
                          "waves write byte 4");
  WS_CHECK_CONTAINS(text, "`; b`");
  WS_CHECK_CONTAINS(text, "kind repair and parents [\"");
  text =
      call(&t, "submit", "{\"kind\":\"exploit\",\"reply\":\"faster\"}", false);
  WS_CHECK_CONTAINS(text, "Verdict: ok\n");
  WS_CHECK_CONTAINS(text, "over the parent: 1.500x");
  WS_CHECK_CONTAINS(text, "over the reference: 2.250x");
  WS_CHECK_CONTAINS(text, "| 16,576,128 | 4.00 |  | mfma | " FAKE_PROVENANCE
                          " | 5.00 | 1.250x |");
  WS_CHECK_CONTAINS(text, "| 1024,1536,7168 | 20.00 |  | hbm | " FAKE_PROVENANCE
                          " | 40.00 | 2.000x |");
  WS_CHECK_CONTAINS(
      text, ws_arena_printf(t.arena, "The other is %.12s.", fake.ids[1]));
  WS_CHECK(!strstr(text, "estimate:"));
  free_talk(&t);
}

/* The geometric mean of 2 and 8 is 4. */
WS_TEST(check) {
  talk t = make_talk();
  const char *text = call(&t, "check",
                          "{\"kind\":\"repair\",\"parents\":[\"abc\"],"
                          "\"reply\":\"x \\u00e9\"}",
                          false);
  WS_CHECK_TEXT(fake.kind, "repair");
  WS_CHECK_TEXT(fake.parents[0], "abc");
  WS_CHECK_TEXT(fake.reply, "x \xc3\xa9");
  WS_CHECK_CONTAINS(text, "Verdict: illegal, at stage reply: the reply holds");
  WS_CHECK_CONTAINS(text, "Stages that were run: reply\n");
  WS_CHECK_CONTAINS(text, "Nothing of this was recorded");
  text = call(&t, "check", "{\"kind\":\"exploit\",\"reply\":\"wrong\"}", false);
  WS_CHECK_CONTAINS(text, "Verdict: wrong, at stage sanitize");
  WS_CHECK_CONTAINS(text, "**lds-race** in region stage, stage.ll line 2: two");
  WS_CHECK_CONTAINS(text, "`; b`");
  const cJSON *json = at(at(t.answers[0], "result"), "structuredContent");
  const cJSON *finding = cJSON_GetArrayItem(at(json, "findings"), 0);
  WS_CHECK_TEXT(at(json, "verdict")->valuestring, "wrong");
  WS_CHECK_TEXT(at(finding, "id")->valuestring, "lds-race");
  WS_CHECK_TEXT(at(finding, "code")->valuestring, "; b");
  WS_CHECK_INT(cJSON_GetArraySize(at(json, "stages")), 4);
  WS_CHECK(!cJSON_GetObjectItem(json, "estimate_geomean_us"));
  text = call(&t, "check", "{\"kind\":\"exploit\",\"reply\":\"fine\"}", false);
  WS_CHECK_CONTAINS(text, "Verdict: ok\n");
  WS_CHECK_CONTAINS(text, "Geometric mean: 4.00 us");
  WS_CHECK_CONTAINS(text, "| 1024,1536,7168 | 8.00 |  | hbm | estimate");
  json = at(at(t.answers[0], "result"), "structuredContent");
  WS_CHECK(fabs(at(json, "estimate_geomean_us")->valuedouble - 4) < 1e-12);
  free_talk(&t);
}

/* A parent that failed has no times: those of the reference stand in. */
WS_TEST(submit_after_a_failure) {
  talk t = make_talk();
  const char *text =
      call(&t, "submit", "{\"kind\":\"repair\",\"reply\":\"mended\"}", false);
  WS_CHECK_CONTAINS(
      text, ws_arena_printf(t.arena, "The other is %.12s.", fake.ids[0]));
  WS_CHECK_CONTAINS(text, "| 10.00 | 2.500x |");
  free_talk(&t);
}

WS_TEST(findings) {
  talk t = make_talk();
  fake_ids(&t);
  const char *text =
      call(&t, "findings",
           ws_arena_printf(t.arena, "{\"id\":\"%s\"}", fake.ids[2]), false);
  WS_CHECK_CONTAINS(text, "wrong, at stage sanitize: LDS race in stage");
  WS_CHECK_CONTAINS(text, "put a barrier between\n  `store i32 %x, ptr %q`");
  text = call(&t, "findings",
              ws_arena_printf(t.arena, "{\"id\":\"%s\"}", fake.ids[1]), false);
  WS_CHECK_CONTAINS(text, "no findings");
  free_talk(&t);
}

WS_TEST(profile) {
  talk t = make_talk();
  fake_ids(&t);
  const char *text =
      call(&t, "profile",
           ws_arena_printf(t.arena, "{\"id\":\"%s\"}", fake.ids[1]), false);
  WS_CHECK_CONTAINS(text, "on 1024,1536,7168 (simulated)");
  WS_CHECK_CONTAINS(text, "Kernel kernel: bound by lds\nkernel: simulated 5 "
                          "us\nbusy: MFMA 10%\n");
  WS_CHECK_CONTAINS(text, "- 25.0 % waiting for lds: stage, line 2 `%x = load "
                          "i32, ptr %p`");
  WS_CHECK(!strstr(text, "garbage") && !strstr(text, "(share)"));
  text = call(&t, "profile",
              ws_arena_printf(t.arena, "{\"id\":\"%s\"}", fake.ids[0]), false);
  WS_CHECK_CONTAINS(text, "there is no profile");
  WS_CHECK_CONTAINS(text, "| 16,576,128 | 10.00 |  | mfma |");
  free_talk(&t);
}

WS_TEST(times) {
  talk t = make_talk();
  fake_ids(&t);
  const char *text =
      call(&t, "times",
           ws_arena_printf(t.arena, "{\"id\":\"%s\",\"against\":\"%s\"}",
                           fake.ids[1], fake.ids[0]),
           false);
  WS_CHECK_CONTAINS(text, "1.414x (worst shape 1.000, 2 shapes, simulated)");
  WS_CHECK_CONTAINS(text, "| 10.00 | 2.000x |");
  text = call(&t, "times",
              ws_arena_printf(t.arena, "{\"id\":\"%s\"}", fake.ids[2]), false);
  WS_CHECK_CONTAINS(text, "was not timed");
  free_talk(&t);
}

/* Bytes in the archive that are no UTF-8 do not reach the client. */
WS_TEST(only_utf8_goes_out) {
  talk t = make_talk();
  t.tune.template_file = ws_arena_printf(t.arena, "%sb.ll", t.folder);
  MUST(ws_file_write_atomic(t.tune.template_file, "x", 1, diag));
  serve(&t, CALL("task", "{}"));
  result_text(t.answers[0], true); /* no such template in the archive */
  fake_ids(&t);
  fixture_sql(t.arena, t.tune.archive_path,
              "update candidate set label=cast(x'41ff42c3' as text) where "
              "label<>''");
  const char *text = call(&t, "candidates", "{}", false);
  WS_CHECK_CONTAINS(text, "A\xef\xbf\xbd"
                          "B\xef\xbf\xbd");
  free_talk(&t);
}
