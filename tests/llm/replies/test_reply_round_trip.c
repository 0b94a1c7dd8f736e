/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The text that a prompt shows of a region is a body: given back unchanged, it
 * compiles to the same machine code. For every region and shipped variant of
 * the shipped templates, with the real compile server.
 */
#include "replies.h"
#include "wavesmith/build.h"

typedef struct shipped {
  ws_arena *arena;
  ws_compiler *compiler;
  const char *file, *text;
  const ws_template *tmpl;
} shipped;

static shipped open_template(const char *path) {
  shipped s = {.arena = ws_arena_create(), .file = path};
  ws_diag diag;
  s.text = read_source(s.arena, path);
  if (ws_compiler_start(&s.compiler, &diag) != WS_OK ||
      ws_compiler_describe(s.compiler, s.arena, path, s.text, strlen(s.text),
                           &s.tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return s;
}

static ws_build_result build(const shipped *s, const ws_candidate *candidate) {
  struct ws_request_body bodies[WS_TEMPLATE_MAX_REGIONS];
  ws_build_request request = {
      .template_file = s->file,
      .template_text = s->text,
      .template_size = strlen(s->text),
      .target = "gfx942",
      .assignments = ws_candidate_values_text(s->arena, candidate),
      .variants = ws_candidate_variants_text(s->arena, candidate),
      .bodies = bodies,
      .stages = WS_STAGE_CHECK | WS_STAGE_LOWER,
      .limits = ws_limits_default};
  request.limits.wall_ms = request.limits.cpu_ms = 100000;
  for (int i = 0; i < s->tmpl->region_count; i++)
    if (candidate->bodies[i].text)
      bodies[request.body_count++] = (struct ws_request_body){
          s->tmpl->regions[i].function, candidate->bodies[i].language,
          candidate->bodies[i].text, "body"};
  ws_build_result result;
  ws_diag diag;
  if (ws_compiler_build(s->compiler, s->arena, &request, &result, &diag) !=
      WS_OK)
    WS_FAIL("%s", diag.text);
  if (result.verdict != WS_VERDICT_OK)
    WS_FAIL("%s: %s", ws_verdict_text(result.verdict), result.reason);
  return result;
}

static ws_candidate *candidate_at(const shipped *s, const char *values) {
  ws_candidate *candidate = ws_candidate_create(s->arena, s->tmpl);
  ws_diag diag;
  if (ws_candidate_set(candidate, values, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return candidate;
}

/* Region with one shipped body; the same with its text. */
static void check_region(const shipped *s, const char *values, int region,
                         int variant, const char *default_hash) {
  ws_candidate *candidate = candidate_at(s, values);
  candidate->bodies[region].variant = variant;
  const char *want = variant < 0 ? default_hash : build(s, candidate).code_hash;
  const char *language;
  const char *text =
      ws_region_text(s->arena, candidate, s->text, region, &language);
  WS_CHECK(text);
  WS_CHECK_TEXT(language, "ir");
  candidate->bodies[region] = (ws_body){-1, language, text};
  ws_build_result spliced = build(s, candidate);
  if (strcmp(spliced.code_hash, want))
    WS_FAIL("%s: region %s, variant %d: other machine code", values,
            s->tmpl->regions[region].function, variant);
}

/* All bodies of all regions at once, too. */
static void check_template(const char *path, const char *values) {
  shipped s = open_template(path);
  ws_candidate *all = candidate_at(&s, values);
  ws_build_result whole = build(&s, all);
  WS_CHECK(*whole.code_hash);
  for (int i = 0; i < s.tmpl->region_count; i++) {
    for (int v = -1; v < s.tmpl->regions[i].variant_count; v++)
      check_region(&s, values, i, v, whole.code_hash);
    const char *language;
    const char *text = ws_region_text(s.arena, all, s.text, i, &language);
    all->bodies[i] = (ws_body){-1, language, text};
  }
  WS_CHECK_TEXT(build(&s, all).code_hash, whole.code_hash);
  ws_compiler_stop(s.compiler);
  ws_arena_destroy(s.arena);
}

WS_TEST(naive) { check_template("ir-templates/fp8_gemm_naive.ll", ""); }

WS_TEST(mfma_kmajor) { check_template("ir-templates/fp8_gemm_mfma.ll", ""); }

WS_TEST(mfma_mnmajor_and_split) {
  check_template("ir-templates/fp8_gemm_mfma.ll", "layout=1;split_k=2");
}

/* The first example of docs/llm.md: an edit in IR, a body in OpenCL C. */
WS_TEST(example_of_the_document) {
  static const char sign[] = "\n~~~~markdown exploit\n";
  shipped s = open_template("ir-templates/fp8_gemm_naive.ll");
  const char *begin = strstr(read_source(s.arena, "docs/llm.md"), sign);
  WS_CHECK(begin);
  begin += strlen(sign);
  size_t size = (size_t)(strstr(begin, "\n~~~~\n") - begin) + 1;
  ws_reply reply = parse(s.arena, ws_arena_strndup(s.arena, begin, size));
  ws_candidate *parent = candidate_at(&s, ""), *child;
  ws_diag diag;
  if (ws_reply_apply(s.arena, &reply, parent, s.text, &child, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK(*build(&s, child).code_hash);
  ws_compiler_stop(s.compiler);
  ws_arena_destroy(s.arena);
}

/* An edit of such a text reaches the machine code. */
WS_TEST(an_edit_counts) {
  shipped s = open_template("ir-templates/fp8_gemm_naive.ll");
  ws_candidate *parent = candidate_at(&s, ""), *child;
  ws_reply reply = parse(s.arena, "## region dot\n<<<<<<< SEARCH\n"
                                  "%more = icmp ult i32 %k, 128\n=======\n"
                                  "%more = icmp ult i32 %k, 64\n"
                                  ">>>>>>> REPLACE\n");
  ws_diag diag;
  if (ws_reply_apply(s.arena, &reply, parent, s.text, &child, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK(strcmp(build(&s, parent).code_hash, build(&s, child).code_hash) !=
           0);
  ws_compiler_stop(s.compiler);
  ws_arena_destroy(s.arena);
}
