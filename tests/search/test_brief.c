/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Briefs: what a model is told of made-up results.
 */
#include "brief_run.h"
#include "occupancy.h"

/* ---- tests ---- */

/* Speed-ups: sqrt(100 / 90) = 1.05409, and its interval e^(+-0.0100003 / 2):
 * one of two shapes would have 1 %, two of two have 0.0100003 * sqrt(2) / 2 =
 * 0.00707: 1.04667 to 1.06157. sqrt(100/80 * 400/360) = 1.17851. */
WS_TEST(lineage_tells_ratios_claims_and_changes) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLOIT, START, -1);
  WS_CHECK_CONTAINS(
      user, ws_arena_printf(r->arena,
                            "- %s exploit \"twice the size\": ok, speed-up "
                            "over %s 1.0541 (95 %%: 1.0467 to 1.0616); us: "
                            "90 400\n"
                            "    size 16 -> 32\n",
                            name(r, FASTER), name(r, START)));
  WS_CHECK_CONTAINS(
      user, ws_arena_printf(r->arena,
                            "- %s repair \"add one after all\": ok, speed-up "
                            "over %s 1.1785; us: 80 360; claimed speedup 1.2 "
                            "to 1.3, is 1.1785 (below)\n",
                            name(r, MENDED), name(r, START)));
  WS_CHECK_CONTAINS(user, "exploit \"add two\": wrong (sanitize): small.ll:7: "
                          "wrong-result in inner\n    region inner:\n");
  WS_CHECK_CONTAINS(user, "  -   %y = add i32 %x, 1\n");
  WS_CHECK_CONTAINS(user, "  +   %y = add i32 %x, 2\n");
  WS_CHECK_CONTAINS(user, "(none) exploit: illegal (reply): reply:5: the edit");
  check_order(user, "add one after all", "twice the size");
  run_destroy(r);
}

WS_TEST(ancestors_are_told) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLOIT, MENDED, -1);
  WS_CHECK(!strstr(user, "Tried from the parent already"));
  check_order(user, "How the parent came to be", "add one after all");
  check_order(user, "Else tried from", "twice the size");
  run_destroy(r);
}

WS_TEST(a_gain_of_four_per_mille_is_seen_and_noise_is_said) {
  run *r = example();
  const int better = add(r,
                         (entry){.kind = WS_REQUEST_EXPLOIT,
                                 .label = "small gain",
                                 .us = {99.6, 398.4}},
                         candidate(r, 16, "define i32 @inner(i32 %x) {\n}\n"));
  const int same = add(r,
                       (entry){.kind = WS_REQUEST_EXPLOIT,
                               .label = "no gain",
                               .us = {99.95, 399.8}},
                       candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
  const char *user = ask(r, WS_REQUEST_EXPLOIT, START, -1);
  WS_CHECK_CONTAINS(user, ws_arena_printf(r->arena,
                                          "- %s exploit \"small gain\": ok, "
                                          "speed-up over %s 1.0040; us: 99.6 "
                                          "398.4\n",
                                          name(r, better), name(r, START)));
  WS_CHECK_CONTAINS(
      user, ws_arena_printf(r->arena,
                            "- %s exploit \"no gain\": ok, speed-up "
                            "over %s 1.0005, within the noise; us: 99.95 "
                            "399.8\n",
                            name(r, same), name(r, START)));
  run_destroy(r);
}

WS_TEST(shapes_are_the_searchs_and_no_others) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLOIT, FASTER, -1);
  WS_CHECK_CONTAINS(
      user, ws_arena_printf(r->arena, "| 1024,512,256 | 100 | 80 (%s) | 90 | ",
                            name(r, MENDED)));
  WS_CHECK_CONTAINS(user, "simulated by a cycle model of the card (sim:test)");
  const ws_shape_set *held = ws_problem_shape_set(r->task.problem, "held-out");
  for (int i = 0; i < held->count; i++)
    WS_CHECK(
        !strstr(user, ws_arena_printf(r->arena, "%lld,%lld,%lld",
                                      (long long)held->shapes[i].size[DIM_M],
                                      (long long)held->shapes[i].size[DIM_N],
                                      (long long)held->shapes[i].size[DIM_K])));
  run_destroy(r);
}

/* 96 VGPRs: 5 waves per SIMD; 16 KiB of LDS: 4 workgroups of 4 waves. */
WS_TEST(facts_say_what_limits) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLOIT, START, -1);
  WS_CHECK_CONTAINS(user,
                    "Kernel kernel: 96 VGPRs (4 of them AGPRs), 40 SGPRs, "
                    "16384 bytes of LDS");
  WS_CHECK_CONTAINS(user, "256 threads; 4 workgroups per CU, 4 waves per SIMD, "
                          "limited by LDS.");
  WS_CHECK_CONTAINS(user, "static: valu 12 ds_read 3\n");
  run_destroy(r);
}

/* 65536 registers: 96 x 256 threads are 24576, two fit; shared memory holds
 * 233472 / 17408 = 13. No bound model, no OpenCL, no counts of instructions. */
WS_TEST(facts_of_a_cuda_kernel) {
  target = "sm_90a";
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLOIT, START, -1);
  WS_CHECK_CONTAINS(user, "Kernel kernel: 96 registers a thread at entry, 0 "
                          "spilled, 0 bytes of stack, 16384 bytes of shared "
                          "memory;");
  WS_CHECK_CONTAINS(user, "256 threads; 2 workgroups per SM, 4 warps per "
                          "scheduler, limited by registers.");
  WS_CHECK(!strstr(user, "static: valu"));
  WS_CHECK(!strstr(user, "What the bound model says"));
  WS_CHECK(!strstr(user, "(opencl)"));
  WS_CHECK_CONTAINS(user, "There is no OpenCL C for this target");
  WS_CHECK_CONTAINS(r->prompt.system, "NVIDIA H200, sm_90a");
  WS_CHECK_CONTAINS(r->prompt.system, "@ws.wgmma.e4m3.k128");
  WS_CHECK_CONTAINS(r->prompt.version, "system_sm_90a 3, ");
  WS_CHECK(!strstr(r->prompt.system, "gfx942"));
  WS_CHECK(!strstr(r->prompt.system, "amdgcn"));
  run_destroy(r);
}

/* 256 VGPRs: 2 waves per SIMD. */
WS_TEST(facts_say_that_registers_limit) {
  run *r = example();
  const int fat =
      add(r, (entry){.kind = WS_REQUEST_EXPLOIT, .us = {95, 390}, .vgpr = 256},
          candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLOIT, fat, -1),
                    "2 workgroups per CU, 2 waves per SIMD, limited by "
                    "registers.");
  run_destroy(r);
}

/* 144 VGPRs are 3 waves per SIMD: with 8 waves in a workgroup one fits, and a
 * second beside 40 KiB of LDS would not either. Below 129 registers 4 waves
 * fit a SIMD, but not the LDS; over 256 registers no workgroup fits at all. */
WS_TEST(facts_say_that_two_things_limit) {
  ws_kernel_facts facts = {.name = "kernel", .vgpr = 144, .lds_bytes = 40960};
  const ws_target *gfx942 = ws_target_find("gfx942");
  ws__limits limits = ws__limits_of(gfx942, &facts, 512);
  WS_CHECK(limits.registers && limits.lds && !limits.waves);
  WS_CHECK_INT(ws__register_step(gfx942, &facts, 512, -1).at, 0);
  WS_CHECK_INT(ws__register_step(gfx942, &facts, 512, 1).at, 0);
  facts.lds_bytes = 16384; /* four fit */
  WS_CHECK_INT(ws__register_step(gfx942, &facts, 512, -1).at, 128);
  WS_CHECK_INT(ws__register_step(gfx942, &facts, 512, -1).workgroups, 2);
  facts.vgpr = 64; /* 8 waves per SIMD: 4 workgroups, as LDS has */
  facts.lds_bytes = 0;
  WS_CHECK(ws__limits_of(gfx942, &facts, 512).waves);
  /* 65536 / 16384 = 4; a byte more and 512 more are allocated: 3 */
  facts.lds_bytes = 16384;
  facts.vgpr = 32;
  WS_CHECK_INT(ws__lds_step(gfx942, &facts, 512, 1).at, 16385);
  WS_CHECK_INT(ws__lds_step(gfx942, &facts, 512, 1).workgroups, 3);
}

/* Halved times of a parent with 1 %: 2 e^(+-0.00707). */
WS_TEST(the_parents_doubt_counts_too) {
  run *r = example();
  const int child = add(r,
                        (entry){.kind = WS_REQUEST_EXPLOIT,
                                .parent = FASTER,
                                .label = "half",
                                .us = {45, 200}},
                        candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
  WS_CHECK_CONTAINS(
      ask(r, WS_REQUEST_EXPLOIT, FASTER, -1),
      ws_arena_printf(r->arena,
                      "- %s exploit \"half\": ok, speed-up over %s 2.0000 "
                      "(95 %%: 1.9859 to 2.0142); us: 45 200\n",
                      name(r, child), name(r, FASTER)));
  run_destroy(r);
}

WS_TEST(region_work_shows_the_region_and_what_it_calls) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLOIT, START, OUTER);
  WS_CHECK_CONTAINS(user, "Rewrite the region outer;");
  check_order(user, "Region outer (ir):", "Region inner (ir):");
  check_order(user, "Region inner (ir):", "Region apart (ir):");
  check_order(user, "- **outer**: Calls inner.", "- **inner**: Adds one.");
  check_order(user, "Region apart (ir):",
              "Function help, which is no region:\n```llvm\ndefine internal "
              "i32 @help(i32 %x) #1 {\n");
  WS_CHECK_CONTAINS(user, "Function deep, which is no region:\n");
  WS_CHECK(!strstr(user, "How a whole template is written"));
  WS_CHECK(!strstr(user, "; three regions\n"));
  run_destroy(r);
}

WS_TEST(exploring_may_write_a_template) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_EXPLORE, START, -1);
  WS_CHECK_CONTAINS(user, "How a whole template is written");
  WS_CHECK_CONTAINS(user, "; three regions\n");
  /* what all questions share, the code, then the task, which has no aim here */
  check_order(user, "## Problem", "## How to reply");
  check_order(user, "## How to reply", "; three regions\n");
  check_order(user, "; three regions\n", "# Task: explore");
  check_order(user, "# Task: explore", "Before you answer");
  WS_CHECK(!strstr(user, "## Aim"));
  /* its metadata is in its text */
  WS_CHECK_CONTAINS(user, "Parameters of the parent: the defaults.\n");
  WS_CHECK(!strstr(user, "no more fits") && !strstr(user, "contracts"));
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLORE, MENDED, -1),
                    "Parameters of the parent: size = 64; the others are");
  user = ask(r, WS_REQUEST_EXPLORE, START, -1);
  /* under pressure the grammar stays, lineage goes */
  r->brief.budget_bytes = strlen(user) + strlen(r->prompt.system) - 400;
  user = ask(r, WS_REQUEST_EXPLORE, START, -1);
  WS_CHECK_CONTAINS(user, "The smallest complete template");
  WS_CHECK_CONTAINS(r->prompt.cut, "lineage ");
  run_destroy(r);
}

/* Nothing else would be shown of it. */
WS_TEST(a_template_without_regions_is_shown_however_long) {
  static const char line[] = "; and so on and so on and so on and so on\n";
  enum { LINES = 1000 }; /* 42 KB, a third of the budget */
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, template_text);
  for (int i = 0; i < LINES; i++)
    ws_strbuf_puts(&text, line);
  ws_strbuf_puts(&text, "; the end\n");
  run_records = "template|small|1|fp8_gemm_blockscale|gfx942|no region\n"
                "param|size|ws.size|16 32 64|what it works on|16\n"
                "launch|kernel|ceildiv(m, size)|1|1|256|1|a b c\n";
  run_text = text.data;
  run *r = run_create();
  add(r,
      (entry){.kind = WS_REQUEST_EXPLORE,
              .parent = -1,
              .origin = "start",
              .us = {100, 400}},
      candidate(r, 16, NULL));
  const char *user = ask(r, WS_REQUEST_EXPLOIT, START, -1);
  WS_CHECK_CONTAINS(user, "; three regions\n");
  WS_CHECK_CONTAINS(user, "; the end\n");
  WS_CHECK_TEXT(r->prompt.cut, "");
  run_destroy(r);
  run_records = records;
  run_text = template_text;
  ws_strbuf_deinit(&text);
}

/* A model's own template shows how templates are written. */
WS_TEST(a_models_template_takes_the_place_of_the_grammar) {
  run *r = example();
  const ws_template *tmpl;
  const ws_records parsed = ws_test_records(
      r->arena, "template|other|1|fp8_gemm_blockscale|gfx942|a new one\n"
                "launch|kernel|m|1|1|256|1|a b c\n");
  MUST(ws_template_from_records(r->arena, &parsed, "reply-9.ll",
                                ws_hash_bytes("; new\n", 6), &tmpl, diag));
  MUST(ws_archive_put_template(r->archive, tmpl, "; new\n", NULL, diag));
  ws_candidate *c = ws_candidate_create(r->arena, tmpl);
  ws_candidate_update_id(c);
  const int other = add(
      r, (entry){.kind = WS_REQUEST_EXPLOIT, .parent = FASTER, .us = {50, 200}},
      c);
  const char *user = ask(r, WS_REQUEST_EXPLOIT, other, -1);
  WS_CHECK_CONTAINS(user, "How a whole template is written\nAs the one");
  WS_CHECK(!strstr(user, "The smallest complete template"));
  user = ask(r, WS_REQUEST_EXPLOIT, FASTER, -1);
  WS_CHECK_CONTAINS(user, "The smallest complete template");
  WS_CHECK(!strstr(user, "As the one that is shown"));
  run_destroy(r);
}

WS_TEST(repairs_show_findings_with_their_lines) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_REPAIR, WRONG, -1);
  WS_CHECK_CONTAINS(user, "Verdict: wrong, at stage sanitize. small.ll:7: "
                          "wrong-result in inner\nAsked for was: exploit.\n");
  WS_CHECK_CONTAINS(user, "- [wrong-result] region inner, inner.ll:2: off by "
                          "one, see small.ll:7\n    the line is: `%y = add "
                          "i32 %x, 2`\n");
  WS_CHECK(!strstr(user, "/home/me"));
  WS_CHECK_CONTAINS(user, "Region inner (ir):\n```llvm\ndefine i32 @inner(i32 "
                          "%x) {\n  %y = add i32 %x, 2\n");
  /* what it changed, the findings, how to reply, and no more */
  WS_CHECK(!strstr(user, "Region outer (ir)") &&
           !strstr(user, "; three regions") && !strstr(user, "## Aim"));
  WS_CHECK_CONTAINS(user, "## The problem\nfp8_gemm_blockscale: ");
  WS_CHECK(!strstr(r->prompt.system, "Refused before compilation"));
  WS_CHECK(!strstr(r->prompt.system, "MI300X"));
  WS_CHECK(strlen(user) + strlen(r->prompt.system) < 8000);
  run_destroy(r);
}

/* The machine's text is of the MI300X. */
WS_TEST(another_card_is_told) {
  run *r = example();
  ask(r, WS_REQUEST_EXPLOIT, FASTER, -1);
  WS_CHECK_CONTAINS(r->prompt.system, "304 CUs on 8 XCDs");
  WS_CHECK(!strstr(r->prompt.system, "Another card") &&
           !strstr(r->prompt.system, "{{card}}"));
  const char *plain = r->prompt.system;
  r->brief.differs = "XCDs: 6 instead of 8";
  ask(r, WS_REQUEST_EXPLOIT, FASTER, -1);
  WS_CHECK(!strncmp(r->prompt.system, plain, strlen(plain)));
  WS_CHECK_CONTAINS(r->prompt.system + strlen(plain),
                    "**Another card than described above** (sim:test), of the "
                    "same dies. All that differs: XCDs: 6 instead of 8. ");
  ask(r, WS_REQUEST_REPAIR, WRONG, -1);
  WS_CHECK(!strstr(r->prompt.system, "Another card"));
  run_destroy(r);
}

WS_TEST(repairs_of_a_reply_show_the_reply) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_REPAIR, UNREADABLE, -1);
  WS_CHECK_CONTAINS(user, "Verdict: illegal, at stage reply. reply:5: the edit "
                          "is not closed; end it\n");
  WS_CHECK_CONTAINS(user, "    5> <<<<<<< SEARCH\n    6| not there\n");
  WS_CHECK_CONTAINS(user, "```\n## name\nno good\n");
  WS_CHECK_CONTAINS(user, "  %y = call i32 @inner(i32 %x)\n");
  run_destroy(r);
}

WS_TEST(repairs_of_a_reply_show_what_it_was_based_on) {
  run *r = example();
  const int failed = add(r,
                         (entry){.kind = WS_REQUEST_EXPLOIT,
                                 .parent = FASTER,
                                 .verdict = WS_VERDICT_ILLEGAL,
                                 .stage = "reply",
                                 .reason = "reply is empty"},
                         NULL);
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_REPAIR, failed, -1),
                    "Parameters: size=32\n");
  run_destroy(r);
}

static const char report[] =
    "not json\n{\"launch\":1,\"us\":3,\"report\":{}}\n"
    "{\"launch\":2,\"text\":\"old text\",\"profile\":{"
    "\"kernel\":\"kernel\",\"us\":90,\"clocks\":183750,"
    "\"clock_mhz\":2100,\"bound\":\"lds\",\"mfma_busy\":0.5,"
    "\"lds_busy\":0.873,\"stalls\":{\"lds\":0.61,\"issue\":0.3,"
    "\"vmem\":0.06,\"other\":0.01},\"waves_per_simd\":4,"
    "\"workgroups\":304,\"waves_of_grid\":0.25,\"lds_conflict\":1.25,"
    "\"lds_latency\":91,\"lds_latency_most\":96,\"l1_bytes\":25e6,"
    "\"l1_hit\":0.114,\"hbm_bytes\":3470000,\"lines\":["
    "{\"region\":\"inner\",\"file\":\"/home/me/small.ll\",\"line\":15,"
    "\"share\":0.41,\"stalls\":{\"lds\":0.7,\"vmem\":0.05,\"barrier\":0.25}},"
    "{\"region\":\"deep\",\"file\":\"small.ll\",\"line\":4,\"share\":0.02,"
    "\"stalls\":{}},"
    "{\"region\":7,\"line\":-3,\"share\":\"x\"},{}]}}\n";

WS_TEST(profiles_quote_the_hot_lines) {
  run *r = example();
  MUST(ws_archive_put_profile(r->archive, r->knowledge.results[FASTER].id,
                              provenance, &shapes[1], report, diag));
  const char *user = ask(r, WS_REQUEST_EXPLOIT, FASTER, -1);
  WS_CHECK_CONTAINS(
      user,
      " % of its limit:\nkernel: 90 us, 87.5 of it after the launch; bound "
      "by lds; busy, %: MFMA 50, VALU 0, SALU 0, LDS 87, VMEM 0; waves: "
      "61 % lds, 30 % issue, 6 % vmem; 4 waves per SIMD, 304 workgroups, "
      "0.25 rounds of them.\nLDS conflicts: 1.25 x the clocks. LDS data "
      "after 91 clocks (96 at most). Memory, MB (hits): L1 25 (11 %), "
      "L2 0 (0 %), Infinity Cache 0 (0 %), HBM 3.47.\nHottest lines");
  WS_CHECK_CONTAINS(user, "On the shape 2048,512,256, at ");
  WS_CHECK_CONTAINS(user,
                    "- 41.0 % inner, small.ll:15 (70 % lds, 25 % barrier): "
                    "`%y = add i32 %x, 1`\n");
  WS_CHECK(!strstr(user, "old text") && !strstr(user, "/home/me"));
  /* the hottest region comes first */
  user = ask(r, WS_REQUEST_EXPLOIT, FASTER, APART);
  check_order(user, "- **apart**", "- **inner**");
  check_order(user, "- **inner**", "- **outer**");
  run_destroy(r);
}

/* 90 us of which inner takes half, deep (which apart calls) a quarter; 10 us of
 * inner alone. */
static const char two_launches[] =
    "{\"launch\":1,\"profile\":{\"us\":90,\"functions\":{\"inner\":0.5,"
    "\"deep\":0.25,\"kernel\":0.25},\"lines\":[{\"region\":\"outer\","
    "\"share\":0.5}]}}\n"
    "{\"launch\":2,\"profile\":{\"us\":10,\"functions\":{\"inner\":1,"
    "\"apart\":\"x\"}}}\n";

static ws__heat heat_of(run *r, int parent);

/* A limit of both shapes over 100 and 400 us. */
WS_TEST(far_from_the_limit_a_design_is_asked_for) {
  run *r = example();
  const double limit =
      sqrt(ws_target_roofline_us(r->task.target, r->task.problem, &shapes[0]) *
           ws_target_roofline_us(r->task.target, r->task.problem, &shapes[1]));
  WS_CHECK_NEAR(heat_of(r, START).reach, limit / 200, 1e-12);
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLOIT, START, -1),
                    "so much no region's rewrite brings");
  const int near =
      add(r, (entry){.kind = WS_REQUEST_EXPLOIT, .us = {limit, limit}},
          candidate(r, 64, "define i32 @inner(i32 %x) {\n}\n"));
  WS_CHECK_NEAR(heat_of(r, near).reach, 1, 1e-12);
  WS_CHECK(!strstr(ask(r, WS_REQUEST_EXPLOIT, near, -1), "## Aim"));
  run_destroy(r);
}

WS_TEST(a_long_failure_is_shown_around_its_findings) {
  run *r = example();
  ws_strbuf body;
  ws_strbuf_init(&body);
  ws_strbuf_puts(&body, "define i32 @inner(i32 %x) {\n");
  for (int i = 2; i <= 400; i++)
    ws_strbuf_printf(&body, "  %%line%d = add i32 %%x, %d\n", i, i);
  ws_strbuf_puts(&body, "  ret i32 %x\n}\n");
  const int failed = add(r,
                         (entry){.kind = WS_REQUEST_EXPLOIT,
                                 .verdict = WS_VERDICT_WRONG,
                                 .stage = "sanitize",
                                 .reason = "oob",
                                 .finding = {"oob-read", "inner", "inner.ll",
                                             "one byte too far", 200}},
                         candidate(r, 16, body.data));
  const char *user = ask(r, WS_REQUEST_REPAIR, failed, -1);
  WS_CHECK_CONTAINS(user, "; [191 lines left out; line 192:]\n  %line192 = ");
  WS_CHECK_CONTAINS(user, "  %line208 = add i32 %x, 208\n; [194 lines left");
  WS_CHECK(!strstr(user, "%line191 ") && !strstr(user, "%line209 "));
  WS_CHECK(!strstr(user, "## The problem")); /* its result is not the matter */
  ws_strbuf_deinit(&body);
  run_destroy(r);
}

static ws__heat heat_of(run *r, int parent) {
  const ws__request request = {.kind = WS_REQUEST_EXPLOIT,
                               .parents = {parent, -1},
                               .target = -1,
                               .region = -1,
                               .plan = ""};
  ws__heat heat;
  MUST(ws__brief_heat(&r->brief, r->arena, &request, &heat, diag));
  return heat;
}

WS_TEST(heat_is_the_share_of_all_launches) {
  run *r = example();
  ws__heat heat = heat_of(r, FASTER);
  WS_CHECK(!heat.known);
  MUST(ws_archive_put_profile(r->archive, r->knowledge.results[FASTER].id,
                              provenance, &shapes[1], two_launches, diag));
  heat = heat_of(r, FASTER);
  WS_CHECK(heat.known);
  WS_CHECK_NEAR(heat.shares[INNER], 0.55, 1e-12);
  WS_CHECK_NEAR(heat.shares[APART], 0.225, 1e-12);
  WS_CHECK_NEAR(heat.shares[OUTER], 0, 0);
  WS_CHECK(!heat.dead[INNER] && !heat.dead[APART]);
  WS_CHECK(!heat.dead[OUTER]); /* it calls inner */
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLOIT, FASTER, INNER),
                    "Rewrite the region inner (55 % of the wave clocks); "
                    "another");
  run_destroy(r);
}

/* 390 of half the work is furthest from the limit, 400 is slowest; inner takes
 * half of one and a tenth of the other. */
WS_TEST(two_shapes_are_told_and_count_the_same) {
  run *r = example();
  const int both = add(r, (entry){.kind = WS_REQUEST_EXPLOIT, .us = {390, 400}},
                       candidate(r, 64, "define i32 @inner(i32 %x) {\n}\n"));
  const char *id = r->knowledge.results[both].id;
  static const char slow[] =
      "{\"profile\":{\"kernel\":\"slowest\",\"us\":400,\"bound\":\"lds\","
      "\"functions\":{\"inner\":0.5}}}";
  static const char far[] =
      "{\"profile\":{\"kernel\":\"furthest\",\"us\":390,\"bound\":\"hbm\","
      "\"functions\":{\"inner\":0.1,\"apart\":0.3}}}";
  MUST(ws_archive_put_profile(r->archive, id, provenance, &shapes[1], slow,
                              diag));
  MUST(ws_archive_put_profile(r->archive, id, provenance, &shapes[0], far,
                              diag));
  const ws__heat heat = heat_of(r, both);
  WS_CHECK_NEAR(heat.shares[INNER], 0.3, 1e-12);
  WS_CHECK_NEAR(heat.shares[APART], 0.15, 1e-12);
  WS_CHECK(!heat.dead[APART]);
  const char *user = ask(r, WS_REQUEST_EXPLOIT, both, -1);
  check_order(user, "On the shape 2048,512,256", "slowest: 400 us");
  check_order(user, "slowest: 400 us",
              "Furthest from its limit, the shape 1024,512,256");
  check_order(user, "Furthest from its limit, the shape 1024,512,256",
              "furthest: ");
  run_destroy(r);
}

WS_TEST(a_region_of_which_nothing_ran_is_dead) {
  run *r = example();
  MUST(ws_archive_put_profile(
      r->archive, r->knowledge.results[FASTER].id, provenance, &shapes[1],
      "{\"profile\":{\"functions\":{\"inner\":1}}}", diag));
  const ws__heat heat = heat_of(r, FASTER);
  WS_CHECK(heat.dead[APART] && !heat.dead[INNER] && !heat.dead[OUTER]);
  run_destroy(r);
}

WS_TEST(heat_of_an_older_profile_is_of_its_lines) {
  run *r = example();
  MUST(ws_archive_put_profile(r->archive, r->knowledge.results[FASTER].id,
                              provenance, &shapes[1], report, diag));
  const ws__heat heat = heat_of(r, FASTER);
  WS_CHECK(heat.known && !heat.dead[OUTER] && !heat.dead[APART]);
  WS_CHECK_NEAR(heat.shares[INNER], 0.41, 1e-12);
  run_destroy(r);
}

WS_TEST(select_lists_the_population_best_first) {
  run *r = example();
  const char *user = ask(r, WS_REQUEST_SELECT, -1, -1);
  WS_CHECK_CONTAINS(user, "Of 5 requests for a candidate: 3 ok 1 illegal 1 "
                          "wrong.\n");
  WS_CHECK_CONTAINS(
      user,
      ws_arena_printf(r->arena,
                      "- %s: speed-up 1.1785; refine from %s, \"add one after "
                      "all\"; template small (size=64)",
                      name(r, MENDED), name(r, START)));
  WS_CHECK_CONTAINS(user, "; us: 80 360\n");
  check_order(user, "speed-up 1.1785;", "speed-up 1.0541;");
  check_order(user, "speed-up 1.0541;", "speed-up 1.0000;");
  run_destroy(r);
}

WS_TEST(writing_shows_plan_and_reference) {
  run *r = example();
  const char *user = ask_with(r, (ws__request){.kind = WS_REQUEST_WRITE,
                                               .parents = {START, MENDED},
                                               .target = 1,
                                               .region = -1,
                                               .plan = "do what is planned",
                                               .origin = "scientist"});
  check_order(user, "## Problem", "## The experiment\ndo what is planned\n");
  WS_CHECK_CONTAINS(user, "Other parameters than the first's: size = 64 "
                          "(first: 16).\nThe regions are the first's.\n");
  WS_CHECK_CONTAINS(user, "speed-up over the first: 1.1785.\n");
  run_destroy(r);
}

WS_TEST(distilling_tells_what_is_new) {
  run *r = example();
  add(r, (entry){.kind = WS_REQUEST_DISTIL, .parent = -1}, NULL);
  r->knowledge.findings = "THE BOOK\n";
  const int last = add(
      r,
      (entry){.kind = WS_REQUEST_EXPLOIT, .label = "the last", .us = {70, 350}},
      candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
  const char *user = ask(r, WS_REQUEST_DISTIL, -1, -1);
  WS_CHECK_CONTAINS(user, "## The book so far\nTHE BOOK\n");
  WS_CHECK_CONTAINS(user, ws_arena_printf(r->arena, "- %s exploit \"the last\"",
                                          name(r, last)));
  WS_CHECK(!strstr(user, "exploit \"twice the size\""));
  run_destroy(r);
}

WS_TEST(before_there_are_results) {
  run *r = run_create();
  for (int kind = 0; kind < WS_REQUEST_COUNT; kind++)
    if (kind != WS_REQUEST_REPAIR) {
      const char *user = ask(r, (ws_request_kind)kind, -1, -1);
      WS_CHECK_CONTAINS(user, "1024,512,256");
    }
  run_destroy(r);
}
