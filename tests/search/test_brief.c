/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Briefs: what a model is told of made-up results. Times are chosen so that
 * ratios can be worked out by hand; the archive is one in memory.
 */
#include "../gemm_shape.h"
#include "brief_page.h"
#include "ws_test_template.h"

#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <math.h>

#define MUST(expr)                                                             \
  do {                                                                         \
    ws_diag must_diag_ = {""};                                                 \
    ws_diag *diag = &must_diag_;                                               \
    ws_status must_status_ = (expr);                                           \
    (void)diag;                                                                \
    if (must_status_ != WS_OK)                                                 \
      WS_FAIL("%s: %s", #expr, must_diag_.text);                               \
  } while (0)

/* ---- a template ---- */

static const char template_text[] = "; three regions\n"
                                    "@ws.size = internal addrspace(4) constant "
                                    "i32 16\n"
                                    "define internal i32 @apart(i32 %x) #1 {\n"
                                    "  %y = call i32 @help(i32 %x)\n"
                                    "  ret i32 %y\n"
                                    "}\n"
                                    "define internal i32 @help(i32 %x) #1 {\n"
                                    "  %y = call i32 @deep(i32 %x)\n"
                                    "  ret i32 %y\n"
                                    "}\n"
                                    "define internal i32 @deep(i32 %x) #1 {\n"
                                    "  ret i32 7\n"
                                    "}\n"
                                    "define internal i32 @inner(i32 %x) #1 {\n"
                                    "  %y = add i32 %x, 1\n"
                                    "  ret i32 %y\n"
                                    "}\n"
                                    "define internal i32 @outer(i32 %x) #1 {\n"
                                    "  %y = call i32 @inner(i32 %x)\n"
                                    "  ret i32 %y\n"
                                    "}\n";
static const char records[] =
    "template|small|1|fp8_gemm_blockscale|gfx942|three regions\n"
    "param|size|ws.size|16 32 64|what it works on|16\n"
    "require|size <= 64|no more fits\n"
    "launch|kernel|ceildiv(m, size)|1|1|256|1|a b c\n"
    "region|apart|Stands apart.\n"
    "region|inner|Adds one.\n"
    "region|outer|Calls inner.\n";
static const char inner_body[] = "define i32 @inner(i32 %x) {\n"
                                 "  %y = add i32 %x, 2\n"
                                 "  ret i32 %y\n"
                                 "}\n";

static ws_shape shapes[2]; /* filled by begin */
enum { SHAPES = 2, APART = 0, INNER = 1, OUTER = 2 };
static const char provenance[] = "sim:test";

/* ---- a run ---- */

typedef struct run {
  ws_arena *arena;
  ws_archive *archive;
  ws__task task;
  ws__seen seen;
  ws__knowledge knowledge;
  ws__brief brief;
  ws_prompt prompt;
} run;

static const char *target = "gfx942"; /* tests may change it */

static const ws_template *make_template(run *r) {
  char *text = ws_arena_strdup(r->arena, records), *at = strstr(text, "gfx942");
  WS_CHECK(at && strlen(target) == 6);
  memcpy(at, target, 6);
  ws_records parsed = ws_test_records(r->arena, text);
  const ws_template *tmpl;
  MUST(ws_template_from_records(
      r->arena, &parsed, "/home/me/small.ll",
      ws_hash_bytes(template_text, sizeof template_text - 1), &tmpl, diag));
  return tmpl;
}

static run *run_create(void) {
  ws_arena *arena = ws_arena_create();
  run *r = ws_arena_alloc(arena, sizeof *r);
  r->arena = arena;
  MUST(ws_archive_open(":memory:", true, &r->archive, diag));
  const ws_template *tmpl = make_template(r);
  MUST(ws_archive_put_template(r->archive, tmpl, template_text, NULL, diag));
  r->task.problem = ws_problem_find("fp8_gemm_blockscale");
  r->task.target = ws_target_find(target);
  r->task.layout = "kmajor";
  r->task.shape_set = "contest";
  shapes[0] = gemm_shape(1024, 512, 256);
  shapes[1] = gemm_shape(2048, 512, 256);
  r->task.shapes = shapes;
  r->task.shape_count = SHAPES;
  r->task.source = (ws__source){tmpl, template_text, sizeof template_text - 1};
  MUST(ws__space_init(&r->task.space, arena, tmpl, 0, "kmajor", shapes, SHAPES,
                      diag));
  ws__knowledge_init(&r->knowledge, arena, &r->task.space, &r->seen, SHAPES,
                     0.001, 0);
  const ws_run_row row = {.problem = tmpl->problem,
                          .layout = "kmajor",
                          .target = tmpl->target,
                          .strategy = "refine",
                          .shape_set = "contest",
                          .settings_json = "{}"};
  r->brief = (ws__brief){.archive = r->archive,
                         .task = &r->task,
                         .knowledge = &r->knowledge,
                         .provenance = provenance,
                         .budget_bytes = WS_PROMPT_BYTES};
  MUST(ws_archive_begin_run(r->archive, &row, &r->brief.run_id, diag));
  MUST(ws_prompts_open(arena, NULL, tmpl->target, &r->brief.prompts, diag));
  return r;
}

static void run_destroy(run *r) {
  ws__seen_deinit(&r->seen);
  ws_archive_close(r->archive);
  ws_arena_destroy(r->arena);
}

static ws_candidate *candidate(run *r, int64_t size, const char *inner) {
  ws_candidate *c = ws_candidate_create(r->arena, r->task.source.tmpl);
  c->values[0] = size;
  if (inner)
    c->bodies[INNER] = (ws_body){.variant = -1, .language = "ir", inner};
  ws_candidate_update_id(c);
  return c;
}

static const char *json_of(run *r, const ws_build_result *build) {
  cJSON *json = ws_build_result_to_json(build);
  char *text = cJSON_PrintUnformatted(json);
  const char *copy = ws_arena_strdup(r->arena, text);
  cJSON_free(text);
  cJSON_Delete(json);
  return copy;
}

typedef struct entry { /* a result to be */
  ws_request_kind kind;
  int parent;
  const char *origin, *label;
  ws_verdict verdict;
  const char *stage, *reason;
  double us[SHAPES], spread; /* half an interval, relative */
  int vgpr;                  /* 0: 96 */
  ws_finding finding;        /* id NULL: none */
} entry;

static void record(run *r, const entry *e, const ws_candidate *c) {
  const ws_kernel_facts kernel = {.name = "kernel",
                                  .vgpr = e->vgpr ? e->vgpr : 96,
                                  .agpr = 4,
                                  .sgpr = 40,
                                  .lds_bytes = 16384,
                                  .max_workgroup = 256,
                                  .mix = {.valu = 12, .ds_read = 3}};
  const bool good = e->verdict == WS_VERDICT_OK;
  const ws_build_result build = {.verdict = e->verdict,
                                 .stage = e->stage,
                                 .reason = e->reason,
                                 .findings = &e->finding,
                                 .finding_count = e->finding.id ? 1 : 0,
                                 .kernels = &kernel,
                                 .kernel_count = good,
                                 .ir_hash = "",
                                 .code_hash = "",
                                 .compiler = ""};
  ws_measurement times[SHAPES];
  for (int s = 0; s < SHAPES; s++)
    times[s] = (ws_measurement){.shape = shapes[s],
                                .us = e->us[s],
                                .bound = "lds",
                                .provenance = provenance,
                                .low_us = e->us[s] * (1 - e->spread),
                                .high_us = e->us[s] * (1 + e->spread)};
  const ws_candidate_row row = {.id = c->id.hex,
                                .template_hash = c->tmpl->hash.hex,
                                .template_name = c->tmpl->name,
                                .layout = "kmajor",
                                .assignments =
                                    ws_candidate_values_text(r->arena, c),
                                .variants = "",
                                .proposer = "test",
                                .parent_id = "",
                                .second_parent_id = "",
                                .kind = ws_request_text(e->kind),
                                .label = e->label,
                                .cell = "",
                                .move = "",
                                .run_id = r->brief.run_id,
                                .sequence = r->knowledge.count,
                                .verdict = ws_verdict_text(e->verdict),
                                .stage = e->stage,
                                .reason = e->reason,
                                .result_json = json_of(r, &build),
                                .ir_hash = "",
                                .code_hash = ""};
  MUST(ws_archive_put_candidate(r->archive, &row, c, NULL, 0, times,
                                good ? SHAPES : 0, diag));
}

/* Adds a result; one that fails is not kept in memory, as in the engine. */
static int add(run *r, entry e, const ws_candidate *c) {
  const bool good = e.verdict == WS_VERDICT_OK && c;
  double *us = ws_arena_alloc(r->arena, sizeof e.us);
  for (int s = 0; s < SHAPES; s++)
    us[s] = good ? e.us[s] : INFINITY;
  e.stage = e.stage ? e.stage : "";
  e.reason = e.reason ? e.reason : "";
  e.label = e.label ? e.label : "";
  if (c)
    record(r, &e, c);
  const ws__result result = {
      .request = {.kind = e.kind,
                  .parents = {e.parent, -1},
                  .target = -1,
                  .region = -1,
                  .plan = "",
                  .origin = e.origin ? e.origin : "refine"},
      .candidate = good ? c : NULL,
      .verdict = e.verdict,
      .stage = e.stage,
      .reason = e.reason,
      .us = us,
      .cell = {{-1, -1, -1, -1, -1}},
      .id = c ? c->id.hex : ""};
  return ws__knowledge_add(&r->knowledge, &result);
}

static void add_exchange(run *r, int64_t sequence, const char *reply,
                         const char *claims) {
  const ws_exchange_row row = {.run_id = r->brief.run_id,
                               .sequence = sequence,
                               .kind = "exploit",
                               .member = "test",
                               .prompt_version = "",
                               .prompt_hash = "",
                               .prompt_cut = "",
                               .system = "",
                               .prompt = "",
                               .reply = reply,
                               .error = "",
                               .candidate_id = "",
                               .verdict = "ok",
                               .stage = "",
                               .reason = "",
                               .claims_json = claims};
  MUST(ws_archive_put_exchange(r->archive, &row, diag));
  MUST(ws_archive_set_outcome(r->archive, &row, diag));
}

static const char *name(run *r, int result) {
  return ws_arena_strndup(r->arena, r->knowledge.results[result].id, 8);
}

static const char *ask_with(run *r, ws__request request) {
  ws_prompt again;
  MUST(ws__brief_prompt(&r->brief, r->arena, &request, &r->prompt, diag));
  MUST(ws__brief_prompt(&r->brief, r->arena, &request, &again, diag));
  WS_CHECK_TEXT(again.user, r->prompt.user);
  WS_CHECK(!strstr(r->prompt.user, "{{"));
  return r->prompt.user;
}

static const char *ask(run *r, ws_request_kind kind, int parent, int region) {
  return ask_with(r, (ws__request){.kind = kind,
                                   .parents = {parent, -1},
                                   .target = -1,
                                   .region = region,
                                   .plan = "",
                                   .origin = "refine"});
}

static void check_order(const char *text, const char *first,
                        const char *second) {
  const char *a = strstr(text, first), *b = strstr(text, second);
  if (!a || !b || a > b)
    WS_FAIL("\"%s\" does not come before \"%s\" in\n%s", first, second, text);
}

enum { START, FASTER, WRONG, UNREADABLE, MENDED };

/* Five results: see each. */
static run *example(void) {
  run *r = run_create();
  static const char reply[] = "## name\nno good\n\n## region outer\n"
                              "<<<<<<< SEARCH\nnot there\n";
  add(r,
      (entry){.kind = WS_REQUEST_EXPLORE,
              .parent = -1,
              .origin = "start",
              .us = {100, 400}},
      candidate(r, 16, NULL));
  add(r,
      (entry){.kind = WS_REQUEST_EXPLOIT,
              .label = "twice the size",
              .us = {90, 400},
              .spread = 0.01},
      candidate(r, 32, NULL));
  add(r,
      (entry){.kind = WS_REQUEST_EXPLOIT,
              .verdict = WS_VERDICT_WRONG,
              .label = "add two",
              .stage = "sanitize",
              .reason = "/home/me/small.ll:7: wrong-result in inner",
              .finding = {"wrong-result", "inner", "inner.ll",
                          "off by one, see /home/me/small.ll:7", 2}},
      candidate(r, 16, inner_body));
  add(r,
      (entry){.kind = WS_REQUEST_EXPLOIT,
              .verdict = WS_VERDICT_ILLEGAL,
              .stage = "reply",
              .reason = "reply:5: the edit is not closed; end it"},
      NULL);
  add_exchange(r, UNREADABLE, reply, "");
  add(r,
      (entry){.kind = WS_REQUEST_REPAIR,
              .parent = WRONG,
              .label = "add one after all",
              .us = {80, 360}},
      candidate(r, 64, NULL));
  add_exchange(r, MENDED, "## name\nx\n",
               "[{\"what\":\"speedup\",\"low\":1.2,\"high\":1.3,"
               "\"measured\":1.17851}]");
  return r;
}

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
    "{\"launch\":2,\"text\":\"kernel: simulated 90 us\\nbound by LDS\\n"
    "hottest lines (share)\\n  old lines\\n\",\"profile\":{\"lines\":["
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
  WS_CHECK_CONTAINS(user, " % of its limit:\nkernel: simulated 90 us\n"
                          "bound by LDS\nHottest lines");
  WS_CHECK_CONTAINS(user, "On the shape 2048,512,256, at ");
  WS_CHECK_CONTAINS(user,
                    "- 41.0 % inner, small.ll:15 (70 % lds, 25 % barrier): "
                    "`%y = add i32 %x, 1`\n");
  WS_CHECK(!strstr(user, "old lines") && !strstr(user, "/home/me"));
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
                    "Rewrite the region inner (55 % of the wave clocks); touch "
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
