/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A session for the tests of the server: a real archive with three candidates
 * (a reference, a child that is faster, one with a finding), prompts that show
 * what was asked, and replies that say themselves what becomes of them.
 */
#ifndef WAVESMITH_TESTS_MCP_FAKE_SESSION_H
#define WAVESMITH_TESTS_MCP_FAKE_SESSION_H

#include "../gemm_shape.h"
#include "fixture.h"
#include "wavesmith/search.h"

#define FAKE_PROVENANCE "sim:gfx942-model-1:MI300X"

struct ws_session {
  ws_arena *arena;
  ws_archive *archive;
  const ws_template *tmpl;
  int64_t run;
  int candidates;
};

/* What the server did. */
static struct {
  int opened, closed, fail_open;
  char kind[32], reply[4096], parents[2][64];
  int parent_count;
  char ids[3][33];
} fake;

static void fake_note(ws_request_kind kind, const char *const *parents,
                      int count) {
  snprintf(fake.kind, sizeof fake.kind, "%s", ws_request_text(kind));
  fake.parent_count = count;
  for (int i = 0; i < count && i < 2; i++)
    snprintf(fake.parents[i], sizeof fake.parents[i], "%s", parents[i]);
}

static const ws_finding fake_finding = {
    .id = "lds-race",
    .region = "stage",
    .file = "stage.ll",
    .line = 2,
    .text = "two waves write byte 4; put a barrier between"};

/* Times in us on two shapes; 0: none. */
static const char *fake_put(ws_session *s, const char *parent,
                            const char *verdict, const char *body, double us0,
                            double us1) {
  const ws_shape shapes[] = {gemm_shape(16, 576, 128),
                             gemm_shape(1024, 1536, 7168)};
  ws_candidate *candidate = ws_candidate_create(s->arena, s->tmpl);
  candidate->bodies[0] =
      (ws_body){.variant = -1, .language = "ir", .text = body};
  ws_candidate_update_id(candidate);
  ws_candidate_row row =
      fixture_row(s->arena, candidate, s->run, s->candidates++);
  const bool wrong = !strcmp(verdict, "wrong");
  row.parent_id = parent;
  row.second_parent_id = row.cell = "";
  row.kind = *parent ? "exploit" : "";
  row.label = *parent ? "wider loads" : "";
  row.verdict = verdict;
  row.stage = wrong ? "sanitize" : "";
  row.reason = wrong ? "LDS race in stage" : "";
  static const ws_kernel_facts facts = {.name = "kernel",
                                        .vgpr = 128,
                                        .agpr = 64,
                                        .sgpr = 40,
                                        .lds_bytes = 32768,
                                        .max_workgroup = 256,
                                        .mix = {.valu = 7, .mfma_16x16x32 = 3},
                                        .loop_count = 0};
  const ws_build_result build = {.verdict =
                                     wrong ? WS_VERDICT_WRONG : WS_VERDICT_OK,
                                 .stage = row.stage,
                                 .reason = row.reason,
                                 .findings = &fake_finding,
                                 .finding_count = wrong,
                                 .kernels = &facts,
                                 .kernel_count = 1,
                                 .ir_hash = "",
                                 .code_hash = "",
                                 .compiler = ""};
  bool added;
  const ws_measurement times[] = {{.shape = shapes[0],
                                   .us = us0,
                                   .low_us = us0,
                                   .high_us = us0,
                                   .bound = "mfma",
                                   .provenance = FAKE_PROVENANCE},
                                  {.shape = shapes[0],
                                   .us = 2,
                                   .low_us = 2,
                                   .high_us = 2,
                                   .bound = "mfma",
                                   .provenance = WS_PROVENANCE_ESTIMATE},
                                  {.shape = shapes[1],
                                   .us = us1,
                                   .low_us = us1,
                                   .high_us = us1,
                                   .bound = "hbm",
                                   .provenance = FAKE_PROVENANCE}};
  MUST(ws_archive_put_build(s->archive, candidate->id.hex, &build, &added,
                            diag));
  MUST(ws_archive_put_candidate(s->archive, &row, candidate, NULL, 0, times,
                                us0 > 0 ? 3 : 0, diag));
  return ws_arena_strdup(s->arena, candidate->id.hex);
}

/* Of two lines, one hot; the first line of the report is no JSON. */
#define FAKE_REPORT                                                            \
  "garbage\n"                                                                  \
  "{\"launch\":1,\"kernel\":\"kernel\",\"us\":5,\"profile\":{\"kernel\":"      \
  "\"kernel\",\"bound\":\"lds\",\"lines\":[{\"region\":\"stage\",\"file\":"    \
  "\"stage.ll\",\"line\":2,\"share\":0.25,\"stalls\":{\"issue\":0.1,"          \
  "\"lds\":0.15}}]},\"text\":\"kernel: simulated 5 us\\nbusy: MFMA "           \
  "10%\\nhottest lines (share):\\n  25.0% stage.ll:2\\n\"}\n"

static void fake_begin(ws_session *s, const char *path) {
  MUST(ws_archive_open(path, true, &s->archive, diag));
  MUST(ws_archive_put_template(s->archive, s->tmpl, template_text, NULL, diag));
  s->run = fixture_run(s->archive, s->tmpl, 1);
}

static void fake_fill(ws_session *s) {
  const ws_shape shape = gemm_shape(1024, 1536, 7168);
  const char *body = "; the first line\n  %x = load i32, ptr %p\n";
  const char *first = fake_put(s, "", "ok", "; as it was\n", 10, 40);
  const char *second = fake_put(s, first, "ok", body, 5, 40);
  const char *third =
      fake_put(s, second, "wrong", "; line 1\n  store i32 %x, ptr %q\n", 0, 0);
  const char *all[] = {first, second, third};
  for (int i = 0; i < 3; i++)
    snprintf(fake.ids[i], sizeof fake.ids[i], "%s", all[i]);
  MUST(ws_archive_put_profile(s->archive, second, FAKE_PROVENANCE, &shape,
                              FAKE_REPORT, diag));
}

ws_status ws_session_open(const ws_tune_options *options,
                          ws_session **out_session, ws_diag *diag) {
  *out_session = NULL;
  if (fake.fail_open-- > 0)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "another run has the archive");
  ws_arena *arena = ws_arena_create();
  ws_session *s = ws_arena_alloc(arena, sizeof *s);
  s->arena = arena;
  s->tmpl = fixture_template(arena);
  fake_begin(s, options->archive_path);
  fake_fill(s);
  fake.opened++;
  *out_session = s;
  return WS_OK;
}

void ws_session_close(ws_session *session) {
  if (!session)
    return;
  fake.closed++;
  ws_archive_close(session->archive);
  ws_arena_destroy(session->arena);
}

ws_archive *ws_session_archive(ws_session *session) { return session->archive; }
int64_t ws_session_run(const ws_session *session) { return session->run; }
const char *ws_session_provenance(const ws_session *session) {
  (void)session;
  return FAKE_PROVENANCE;
}

ws_status ws_session_prompt(ws_session *session, ws_arena *arena,
                            ws_request_kind kind, const char *const *parents,
                            int parent_count, ws_prompt *out_prompt,
                            ws_diag *diag) {
  (void)session, (void)arena;
  fake_note(kind, parents, parent_count);
  if (parent_count && !strcmp(parents[0], "none"))
    return ws_fail(diag, WS_INPUT, NULL, 0, "this session has no candidate");
  *out_prompt = (ws_prompt){
      .system = "the system", .user = "the user", .version = "1", .cut = ""};
  return WS_OK;
}

/* "wrong", "faster" and "mended" (of a failure) are candidates, "sleep" takes a
 * third of a second, "interrupt" is a signal, all else is no candidate. */
ws_status ws_session_submit(ws_session *session, ws_arena *arena,
                            ws_request_kind kind, const char *const *parents,
                            int parent_count, const char *reply,
                            ws_session_result *out_result, ws_diag *diag) {
  (void)arena;
  fake_note(kind, parents, parent_count);
  snprintf(fake.reply, sizeof fake.reply, "%s", reply);
  *out_result = (ws_session_result){.candidate_id = "",
                                    .verdict = WS_VERDICT_ILLEGAL,
                                    .stage = "reply",
                                    .reason = "the reply holds no section"};
  if (!strcmp(reply, "interrupt"))
    return ws_fail(diag, WS_INTERRUPTED, NULL, 0, "interrupted");
  if (!strcmp(reply, "sleep"))
    usleep(330000);
  if (!strcmp(reply, "wrong"))
    *out_result = (ws_session_result){
        .candidate_id =
            fake_put(session, fake.ids[1], "wrong", "; a\n; b\n", 0, 0),
        .verdict = WS_VERDICT_WRONG,
        .stage = "sanitize",
        .reason = "LDS race in stage"};
  if (!strcmp(reply, "faster") || !strcmp(reply, "mended"))
    *out_result = (ws_session_result){
        .candidate_id = fake_put(session, fake.ids[*reply == 'm' ? 2 : 1], "ok",
                                 "; c\n", 4, 20),
        .verdict = WS_VERDICT_OK,
        .stage = "",
        .reason = "",
        .speedup_over_parent = 1.5,
        .speedup_over_reference = 2.25};
  return WS_OK;
}

/* "wrong" is a candidate with the finding, "fine" one with estimates, all else
 * is no candidate. */
ws_status ws_session_check_reply(ws_session *session, ws_arena *arena,
                                 ws_request_kind kind,
                                 const char *const *parents, int parent_count,
                                 const char *reply, ws_session_check *out_check,
                                 ws_diag *diag) {
  static const char *const stages[] = {"reply", "parse", "check", "sanitize"};
  static ws_measurement estimates[2];
  const ws_measurement made_up[] = {{.shape = gemm_shape(16, 576, 128),
                                     .us = 2,
                                     .low_us = 2,
                                     .high_us = 2,
                                     .bound = "mfma",
                                     .provenance = WS_PROVENANCE_ESTIMATE},
                                    {.shape = gemm_shape(1024, 1536, 7168),
                                     .us = 8,
                                     .low_us = 8,
                                     .high_us = 8,
                                     .bound = "hbm",
                                     .provenance = WS_PROVENANCE_ESTIMATE}};
  (void)diag;
  memcpy(estimates, made_up, sizeof estimates);
  fake_note(kind, parents, parent_count);
  snprintf(fake.reply, sizeof fake.reply, "%s", reply);
  *out_check = (ws_session_check){.candidate_id = "",
                                  .verdict = WS_VERDICT_ILLEGAL,
                                  .stage = "reply",
                                  .reason = "the reply holds no section",
                                  .stages = stages,
                                  .stage_count = 1};
  const bool wrong = !strcmp(reply, "wrong");
  if (!wrong && strcmp(reply, "fine"))
    return WS_OK;
  ws_candidate *candidate = ws_candidate_create(arena, session->tmpl);
  candidate->bodies[0] =
      (ws_body){.variant = -1, .language = "ir", .text = "; a\n; b\n"};
  ws_candidate_update_id(candidate);
  *out_check =
      (ws_session_check){.candidate = candidate,
                         .candidate_id = candidate->id.hex,
                         .template_text = template_text,
                         .verdict = wrong ? WS_VERDICT_WRONG : WS_VERDICT_OK,
                         .stage = wrong ? "sanitize" : "",
                         .reason = wrong ? "LDS race in stage" : "",
                         .stages = stages,
                         .stage_count = 4,
                         .findings = &fake_finding,
                         .finding_count = wrong,
                         .estimates = estimates,
                         .estimate_count = wrong ? 0 : 2};
  return WS_OK;
}

#endif
