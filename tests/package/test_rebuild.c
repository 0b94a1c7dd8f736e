/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * ws_dispatch_rebuild: what is held against what was recorded, and what
 * follows. Two candidates (p = 1 with a body of its own, p = 2) recorded by
 * LLVM 21.1.8 with code hashes cc11 and cc22; a compile server that answers as
 * the environment says.
 */
#include "wavesmith/dispatch.h"
#include "ws_test.h"

static const char template_text[] = "; the text of a template";
static const char recorded_compiler[] =
    "wavesmith " WAVESMITH_VERSION ", LLVM 21.1.8, comgr 3.0";

static const ws_template *make_template(ws_arena *arena, const char *target) {
  const char *const head[] = {"t", "1", "fp8_gemm_blockscale", target,
                              "for a test"};
  static const char *const param[] = {"p", "ws.p", "1 2", "meaning", "1"};
  static const char *const launch[] = {"k", "m", "n", "1", "64", "1", "a b c"};
  static const char *const region[] = {"r", "contract"};
  const ws_record items[] = {{"template", head, 5, 1},
                             {"param", param, 5, 2},
                             {"launch", launch, 7, 3},
                             {"region", region, 2, 4}};
  const ws_records records = {items, 4};
  const ws_template *tmpl;
  ws_diag diag;
  if (ws_template_from_records(
          arena, &records, "t.ll",
          ws_hash_bytes(template_text, strlen(template_text)), &tmpl,
          &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

typedef struct fixture {
  const char *target;
  ws_arena *arena;
  ws_archive *archive;
  ws_compiler *compiler;
  ws_dispatch_entry entries[2];
  int count;
  ws_rebuild_report report;
  ws_diag diag;
} fixture;

/* As ws_dispatch_load_recorded would give it. */
static ws_dispatch_entry make_entry(ws_arena *arena, const ws_template *tmpl,
                                    const char *assignment,
                                    const char *code_hash,
                                    const char *compiler) {
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  ws_build_result *result = ws_arena_alloc(arena, sizeof *result);
  ws_run_result *runs = ws_arena_alloc(arena, 7 * sizeof *runs);
  WS_CHECK(ws_candidate_set(candidate, assignment, NULL) == WS_OK);
  *result = (ws_build_result){.runs = runs,
                              .run_count = 7,
                              .ir_hash = "1111",
                              .code_hash = code_hash,
                              .compiler = compiler};
  return (ws_dispatch_entry){candidate, result, NULL, 0};
}

static void setup_for(fixture *f, const char *target, const char *compiler) {
  *f = (fixture){.arena = ws_arena_create(), .count = 2, .target = target};
  setenv("WAVESMITH_COMPILER", WS_FAKE_COMPILER, 1);
  const ws_template *tmpl = make_template(f->arena, target);
  if (ws_archive_open(":memory:", true, &f->archive, &f->diag) != WS_OK ||
      ws_archive_put_template(f->archive, tmpl, template_text, NULL,
                              &f->diag) != WS_OK ||
      ws_compiler_start(&f->compiler, &f->diag) != WS_OK)
    WS_FAIL("%s", f->diag.text);
  f->entries[0] = make_entry(f->arena, tmpl, "p=1", "cc11", compiler);
  f->entries[1] = make_entry(f->arena, tmpl, "p=2", "cc22", compiler);
  ws_candidate *with_body = (ws_candidate *)f->entries[0].candidate;
  with_body->bodies[0] = (ws_body){-1, "ir", "define void @r() { ret void }"};
  ws_candidate_update_id(with_body);
}

static void setup(fixture *f, const char *compiler) {
  setup_for(f, "gfx942", compiler);
}

static void run(fixture *f, bool sanitize, ws_status want) {
  ws_status status = ws_dispatch_rebuild(f->archive, f->compiler, f->arena,
                                         f->target, sanitize, f->entries,
                                         &f->count, &f->report, &f->diag);
  if (status != want)
    WS_FAIL("status %d (%s), want %d", status, f->diag.text, want);
  ws_compiler_stop(f->compiler);
  ws_archive_close(f->archive);
}

WS_TEST(same_compiler_same_code) {
  fixture f;
  setup(&f, recorded_compiler);
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.count, 2);
  WS_CHECK_INT(f.report.changed, 0);
  WS_CHECK_INT(f.report.dropped, 0);
  WS_CHECK_TEXT(f.report.compiler, recorded_compiler);
  WS_CHECK_TEXT(f.report.recorded_compiler, recorded_compiler);
  for (int i = 0; i < 2; i++) {
    const ws_dispatch_entry *entry = &f.entries[i];
    WS_CHECK_INT(entry->code_object_size, strlen(template_text));
    WS_CHECK(!memcmp(entry->code_object, template_text, strlen(template_text)));
    WS_CHECK_INT(entry->result->kernel_count, 1);
    WS_CHECK_INT(entry->result->run_count, 7); /* the recorded observations */
    WS_CHECK_INT(entry->result->kernels[0].vgpr, i == 0); /* bodies that came */
  }
  ws_arena_destroy(f.arena);
}

WS_TEST(sanitize_brings_new_observations) {
  fixture f;
  setup(&f, recorded_compiler);
  run(&f, true, WS_OK);
  ws_run runs[WS_STANDARD_RUNS];
  WS_CHECK_INT(f.entries[0].result->run_count,
               ws_standard_runs(f.entries[0].candidate, runs));
  ws_arena_destroy(f.arena);
}

WS_TEST(same_compiler_other_code_is_refused) {
  fixture f;
  setenv("FAKE_P2", "ok:cc99", 1);
  setup(&f, recorded_compiler);
  run(&f, false, WS_INPUT);
  WS_CHECK_CONTAINS(f.diag.text, "(cc99) than recorded (cc22)");
  ws_arena_destroy(f.arena);
}

WS_TEST(same_compiler_that_fails_is_refused) {
  fixture f;
  setenv("FAKE_P2", "no_compile", 1);
  setup(&f, recorded_compiler);
  run(&f, false, WS_INPUT);
  WS_CHECK_CONTAINS(f.diag.text, "(p=2) is no_compile at stage lower: the fake "
                                 "says so");
  ws_arena_destroy(f.arena);
}

WS_TEST(other_compiler_may_differ) {
  fixture f;
  setenv("FAKE_LLVM", "22.1.0", 1);
  setenv("FAKE_P2", "ok:cc99", 1);
  setup(&f, recorded_compiler);
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.count, 2);
  WS_CHECK_INT(f.report.changed, 1); /* p=1 came out as recorded */
  WS_CHECK_TEXT(f.report.compiler,
                "wavesmith " WAVESMITH_VERSION ", LLVM 22.1.0, comgr 3.0");
  WS_CHECK_TEXT(f.report.recorded_compiler, recorded_compiler);
  WS_CHECK_TEXT(f.entries[1].result->code_hash, "cc99");
  ws_arena_destroy(f.arena);
}

WS_TEST(other_compiler_drops_what_it_cannot_build) {
  fixture f;
  setenv("FAKE_LLVM", "22.1.0", 1);
  setenv("FAKE_P1", "illegal", 1);
  setup(&f, "");
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.count, 1);
  WS_CHECK_INT(f.report.dropped, 1);
  WS_CHECK_CONTAINS(f.report.dropped_reason, "(p=1) is illegal");
  WS_CHECK_TEXT(f.report.recorded_compiler, "an unknown compiler");
  WS_CHECK_INT(f.entries[0].candidate->values[0], 2);
  WS_CHECK_INT(f.entries[0].code_object_size, strlen(template_text));
  ws_arena_destroy(f.arena);
}

WS_TEST(nothing_left_is_refused) {
  fixture f;
  setenv("FAKE_LLVM", "22.1.0", 1);
  setenv("FAKE_P1", "no_compile", 1);
  setenv("FAKE_P2", "crash", 1);
  setup(&f, recorded_compiler);
  run(&f, false, WS_INPUT);
  WS_CHECK_INT(f.count, 0);
  WS_CHECK_CONTAINS(f.diag.text,
                    "LLVM 22.1.0, comgr 3.0 (recorded with wavesmith");
  ws_arena_destroy(f.arena);
}

WS_TEST(wrong_result_is_never_dropped) {
  fixture f;
  setenv("FAKE_LLVM", "22.1.0", 1);
  setenv("FAKE_P2", "wrong", 1);
  setup(&f, recorded_compiler);
  run(&f, true, WS_INPUT);
  WS_CHECK_CONTAINS(f.diag.text, "(p=2) is wrong");
  ws_arena_destroy(f.arena);
}

/* ---- NVPTX: the code is PTX, and ptxas comes after it ---- */

static const char recorded_with_ptxas[] =
    "wavesmith " WAVESMITH_VERSION ", LLVM 21.1.8, ptxas 12.4.99";

WS_TEST(ptx_does_not_depend_on_ptxas) {
  fixture f;
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.count, 2);
  WS_CHECK_INT(f.report.changed, 0);
  WS_CHECK_TEXT(f.report.compiler,
                "wavesmith " WAVESMITH_VERSION ", LLVM 21.1.8");
  WS_CHECK_TEXT(f.report.recorded_compiler, f.report.compiler);
  ws_arena_destroy(f.arena);
}

WS_TEST(the_same_ptxas_makes_the_same_cubin) {
  static const char *const hashes[] = {"", "0123456789abcdef"};
  for (int i = 0; i < 2; i++) { /* not recorded, other than recorded */
    fixture f;
    setenv("FAKE_COMPILER", recorded_with_ptxas, 1);
    setup_for(&f, "sm_90a", recorded_with_ptxas);
    ((ws_build_result *)f.entries[1].result)->object_hash = hashes[i];
    run(&f, false, i ? WS_INPUT : WS_OK);
    if (i)
      WS_CHECK_CONTAINS(f.diag.text, "ptxas 12.4.99 makes another code object");
    ws_arena_destroy(f.arena);
  }
  fixture f; /* another ptxas may */
  setenv("FAKE_COMPILER", "another", 1);
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  ((ws_build_result *)f.entries[1].result)->object_hash = hashes[1];
  run(&f, false, WS_OK);
  ws_arena_destroy(f.arena);
}

WS_TEST(other_ptx_of_the_same_llvm_is_refused) {
  fixture f;
  setenv("FAKE_P2", "ok:cc99", 1);
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  run(&f, false, WS_INPUT);
  WS_CHECK_CONTAINS(f.diag.text, "(cc99) than recorded (cc22)");
  ws_arena_destroy(f.arena);
}

WS_TEST(other_llvm_may_give_other_ptx) {
  fixture f;
  setenv("FAKE_LLVM", "21.1.80", 1); /* begins alike */
  setenv("FAKE_P2", "ok:cc99", 1);
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.report.changed, 1);
  WS_CHECK_TEXT(f.report.recorded_compiler, recorded_with_ptxas);
  ws_arena_destroy(f.arena);
  setenv("FAKE_LLVM", "21.1", 1);
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.report.changed, 1);
  ws_arena_destroy(f.arena);
}

WS_TEST(what_ptxas_may_refuse_is_dropped) {
  fixture f;
  setenv("FAKE_P2", "no_compile", 1);
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  run(&f, false, WS_OK);
  WS_CHECK_INT(f.count, 1);
  WS_CHECK_INT(f.report.dropped, 1);
  ws_arena_destroy(f.arena);
  setenv("FAKE_STAGE", "check", 1); /* before there is any PTX */
  setup_for(&f, "sm_90a", recorded_with_ptxas);
  run(&f, false, WS_INPUT);
  WS_CHECK_CONTAINS(f.diag.text, "(p=2) is no_compile at stage check");
  ws_arena_destroy(f.arena);
}
