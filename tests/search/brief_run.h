/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A run of made-up results for tests of briefs: a template of three regions,
 * an archive in memory, times chosen so that ratios can be worked out by hand.
 */
#ifndef WS_TEST_BRIEF_RUN_H
#define WS_TEST_BRIEF_RUN_H

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

/* Tests may change these. */
static const char *target = "gfx942";
static const char *run_records = records;
static const char *run_text = template_text;

static inline const ws_template *make_template(run *r) {
  char *text = ws_arena_strdup(r->arena, run_records);
  char *at = strstr(text, "gfx942");
  WS_CHECK(at && strlen(target) == 6);
  memcpy(at, target, 6);
  ws_records parsed = ws_test_records(r->arena, text);
  const ws_template *tmpl;
  MUST(ws_template_from_records(r->arena, &parsed, "/home/me/small.ll",
                                ws_hash_bytes(run_text, strlen(run_text)),
                                &tmpl, diag));
  return tmpl;
}

static inline run *run_create(void) {
  ws_arena *arena = ws_arena_create();
  run *r = ws_arena_alloc(arena, sizeof *r);
  r->arena = arena;
  MUST(ws_archive_open(":memory:", true, &r->archive, diag));
  const ws_template *tmpl = make_template(r);
  MUST(ws_archive_put_template(r->archive, tmpl, run_text, NULL, diag));
  r->task.problem = ws_problem_find("fp8_gemm_blockscale");
  r->task.target = ws_target_find(target);
  r->task.layout = "kmajor";
  r->task.shape_set = "contest";
  shapes[0] = gemm_shape(1024, 512, 256);
  shapes[1] = gemm_shape(2048, 512, 256);
  r->task.shapes = shapes;
  r->task.shape_count = SHAPES;
  r->task.source = (ws__source){tmpl, run_text, strlen(run_text)};
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
                         .differs = "",
                         .task = &r->task,
                         .knowledge = &r->knowledge,
                         .provenance = provenance,
                         .budget_bytes = WS_PROMPT_BYTES};
  MUST(ws_archive_begin_run(r->archive, &row, &r->brief.run_id, diag));
  MUST(ws_prompts_open(arena, NULL, tmpl->target, "ir", &r->brief.prompts, diag));
  return r;
}

static inline void run_destroy(run *r) {
  ws__seen_deinit(&r->seen);
  ws_archive_close(r->archive);
  ws_arena_destroy(r->arena);
}

static inline ws_candidate *candidate(run *r, int64_t size, const char *inner) {
  ws_candidate *c = ws_candidate_create(r->arena, r->task.source.tmpl);
  c->values[0] = size;
  if (inner)
    c->bodies[INNER] = (ws_body){.variant = -1, .language = "ir", inner};
  ws_candidate_update_id(c);
  return c;
}

static inline const char *json_of(run *r, const ws_build_result *build) {
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
  bool built;                /* though it failed */
  ws_finding finding;        /* id NULL: none */
} entry;

static inline void record(run *r, const entry *e, const ws_candidate *c) {
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
                                 .kernel_count = good || e->built,
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
static inline int add(run *r, entry e, const ws_candidate *c) {
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

static inline void add_exchange(run *r, int64_t sequence, const char *reply,
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

static inline const char *name(run *r, int result) {
  return ws_arena_strndup(r->arena, r->knowledge.results[result].id, 8);
}

static inline const char *ask_with(run *r, ws__request request) {
  ws_prompt again;
  MUST(ws__brief_prompt(&r->brief, r->arena, &request, &r->prompt, diag));
  MUST(ws__brief_prompt(&r->brief, r->arena, &request, &again, diag));
  WS_CHECK_TEXT(again.user, r->prompt.user);
  WS_CHECK(!strstr(r->prompt.user, "{{"));
  return r->prompt.user;
}

static inline const char *ask(run *r, ws_request_kind kind, int parent,
                              int region) {
  return ask_with(r, (ws__request){.kind = kind,
                                   .parents = {parent, -1},
                                   .target = -1,
                                   .region = region,
                                   .plan = "",
                                   .origin = "refine"});
}

static inline void check_order(const char *text, const char *first,
                               const char *second) {
  const char *a = strstr(text, first), *b = strstr(text, second);
  if (!a || !b || a > b)
    WS_FAIL("\"%s\" does not come before \"%s\" in\n%s", first, second, text);
}

enum { START, FASTER, WRONG, UNREADABLE, MENDED };

/* Five results: see each. */
static inline run *example(void) {
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

#endif
