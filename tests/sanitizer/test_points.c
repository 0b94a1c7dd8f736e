/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * No false alarm: random legal parameter points of the shipped templates, with
 * random shipped variants, pass all standard runs. 300 of fp8_gemm_mfma, in
 * tests of 20 for the time-out's sake, and four of fp8_gemm_naive. The result
 * of each is compared with the problem's fp64 reference on the way.
 */
#include "sanitizer_fixture.h"

/* Draws until the constraints hold. */
static void draw_point(ws_candidate *candidate, ws_rng *rng) {
  const ws_template *tmpl = candidate->tmpl;
  ws_diag diag;
  do {
    for (int i = 0; i < tmpl->param_count; i++) {
      const ws_param *param = &tmpl->params[i];
      candidate->values[i] =
          param->values[ws_rng_below(rng, (uint64_t)param->value_count)];
    }
  } while (ws_candidate_broken_require(candidate, NULL, &diag) >= 0);
  for (int i = 0; i < tmpl->region_count; i++)
    candidate->bodies[i].variant =
        (int)ws_rng_below(rng, (uint64_t)tmpl->regions[i].variant_count + 1) -
        1;
  ws_candidate_update_id(candidate);
}

static void expect_clean(const char *text, const ws_candidate *candidate) {
  ws_arena *arena = ws_arena_create();
  ws_findings findings;
  ws_findings_init(&findings, arena);
  ws_run runs[WS_STANDARD_RUNS];
  ws_run_result results[WS_STANDARD_RUNS];
  int count = ws_standard_runs(candidate, runs);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = ws_pass_parse(context, text, strlen(text),
                                       candidate->tmpl->file, &findings);
  WS_CHECK(module && ws_pass_splice(module, candidate, &findings));
  bool ok = ws_pass_sanitize(module, candidate, runs, count, arena, results,
                             &findings);
  if (!ok)
    WS_FAIL("%s with variants \"%s\": %s:%d: %s: %s",
            ws_candidate_values_text(arena, candidate),
            ws_candidate_variants_text(arena, candidate),
            findings.items[0].file, findings.items[0].line,
            findings.items[0].id, findings.items[0].text);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  ws_arena_destroy(arena);
}

static const ws_template *template_of(ws_arena *arena, const char *text,
                                      const char *file) {
  ws_findings findings;
  ws_records records;
  ws_diag diag;
  const ws_template *tmpl;
  ws_pass_initialize();
  ws_findings_init(&findings, arena);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module =
      ws_pass_parse(context, text, strlen(text), file, &findings);
  WS_CHECK(module);
  if (ws_pass_read_records(module, text, file, arena, &records, &diag) !=
          WS_OK ||
      ws_template_from_records(arena, &records, file,
                               ws_hash_bytes(text, strlen(text)), &tmpl,
                               &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return tmpl;
}

static void check_points(const char *file, uint64_t seed, int count) {
  ws_arena *arena = test_arena();
  char *text = read_template(arena, file);
  const ws_template *tmpl = template_of(arena, text, file);
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  ws_rng rng;
  ws_rng_init(&rng, seed);
  for (int i = 0; i < count; i++) {
    draw_point(candidate, &rng);
    expect_clean(text, candidate);
  }
}

WS_TEST(naive_points) { check_points("fp8_gemm_naive.ll", 1, 4); }

#define MFMA_POINTS(seed)                                                      \
  WS_TEST(mfma_points_##seed) { check_points("fp8_gemm_mfma.ll", seed, 20); }
MFMA_POINTS(1)
MFMA_POINTS(2)
MFMA_POINTS(3)
MFMA_POINTS(4)
MFMA_POINTS(5)
MFMA_POINTS(6)
MFMA_POINTS(7)
MFMA_POINTS(8)
MFMA_POINTS(9)
MFMA_POINTS(10)
MFMA_POINTS(11)
MFMA_POINTS(12)
MFMA_POINTS(13)
MFMA_POINTS(14)
MFMA_POINTS(15)
