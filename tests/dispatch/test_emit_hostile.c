/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The emitter does not rely on the rule of names: texts that would break out
 * of a literal or a comment are put behind its back into all that it prints.
 * What comes out is compiled as strictly as C99 allows, with its trigraphs,
 * and holds the symbols of a dispatch and the texts as they went in.
 */
#include "../unit/hostile_names.h"
#include "synthetic.h"
#include "ws_test_directory.h"

#include "wavesmith/text.h"

/* All of them in a row; the long one is shorter than a literal may be. */
static char *all_texts(ws_arena *arena) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (size_t i = 0; i < HOSTILE_TEXTS; i++)
    ws_strbuf_printf(&text, "%s%s", i % 2 ? " " : "", hostile_name(i));
  char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

/* The template with every text that is printed another, and a constraint for
 * each hostile text, which holds for all shapes. */
static void poison(emitted *e, const char *text) {
  ws_template *tmpl = (ws_template *)e->entries[0].candidate->tmpl;
  ws_require *requires =
      ws_arena_alloc(e->arena, WS_TEMPLATE_MAX_REQUIRES * sizeof *requires);
  memcpy(requires, tmpl->requires,
         (size_t)tmpl->require_count * sizeof *requires);
  for (size_t i = 0; i < HOSTILE_NAMES; i++) {
    ws_expr *expr;
    WS_CHECK_INT(ws_expr_parse(e->arena, "m > 0", "t.ll", 1, &expr, NULL),
                 WS_OK);
    requires[tmpl->require_count++] =
        (ws_require){expr, hostile_name(i), true, 1};
  }
  tmpl->requires = requires;
  tmpl->name = text;
  ((ws_launch *)tmpl->launches)[0].kernel = text;
  for (int i = 0; i < POINTS; i++) {
    ws_build_result *result = (ws_build_result *)e->entries[i].result;
    ((ws_kernel_facts *)result->kernels)[0].name = text;
    result->code_hash = text;
  }
  e->matrix.provenance = text;
}

/* ---- symbols ---- */
static bool is_expected(const char *symbol) {
  static const char *const known[] = {"fp8_gemm",
                                      "fp8_gemm_select",
                                      "fp8_gemm_explain",
                                      "candidates",
                                      "rules",
                                      "chains",
                                      "rule_of",
                                      "is_legal",
                                      "ws_ceildiv",
                                      "ws_min",
                                      "ws_max",
                                      "code_",
                                      "spans",
                                      "rows",
                                      "slots",
                                      "tuned_chain",
                                      "first_of",
                                      "least_time",
                                      "ws_refused",
                                      "modelled_",
                                      "listed_",
                                      "dimensions",
                                      "select_kernel",
                                      "preferred_kernel",
                                      "launches_",
                                      "kernargs_",
                                      "grid_",
                                      "condition_",
                                      "workspace_",
                                      "accepts_",
                                      "tuned_shapes"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size_t size = strlen(known[i]);
    bool numbered = known[i][size - 1] == '_';
    if (!strncmp(symbol, known[i], size) &&
        (numbered ? !symbol[size + strspn(symbol + size, "0123456789_")]
                  : !symbol[size]))
      return true;
  }
  return false;
}

static void check_symbols(emitted *e) {
  const char *source = ws_arena_printf(e->arena, "%s/fp8_gemm.c", e->directory);
  const char *object = ws_arena_printf(e->arena, "%s/fp8_gemm.o", e->directory);
  const char *const argv[] = {WS_TEST_CC, "-std=c99", "-O0",           "-Wall",
                              "-Werror",  "-I",       WS_TEST_INCLUDE, "-c",
                              source,     "-o",       object,          NULL};
  WS_CHECK_INT(synthetic_run(argv), 0);
  FILE *nm = popen(
      ws_arena_printf(e->arena, "nm -P --defined-only '%s'", object), "r");
  WS_CHECK(nm != NULL);
  char line[16384], name[8192], type;
  int global = 0, local = 0;
  while (fgets(line, sizeof line, nm)) {
    WS_CHECK_INT(sscanf(line, "%8191s %c", name, &type), 2);
    if (!is_expected(name))
      WS_FAIL("the object defines %s", name);
    global += type >= 'A' && type <= 'Z';
    local += type >= 'a' && type <= 'z';
  }
  WS_CHECK_INT(pclose(nm), 0);
  WS_CHECK_INT(global, 3);
  WS_CHECK(local > 10);
}

static void emit_and_check(const char *folder, const char *text) {
  emitted e;
  prepare(&e, ws_test_directory());
  e.directory = ws_arena_printf(e.arena, "%s/%s", e.directory, folder);
  poison(&e, text);
  emit_into(&e, e.directory);
  void *handle = synthetic_load(e.arena, e.directory, "fp8_gemm", "-O1");
  e.dispatch = synthetic_symbol(handle, "fp8_gemm");
  check_symbols(&e);
  for (int p = 0; p < e.report.portfolio_count; p++)
    WS_CHECK_TEXT(e.dispatch->candidates[p].launches[0].kernel, text);
  WS_CHECK_TEXT(e.dispatch->provenance, text);
  ws_arena_destroy(e.arena);
}

WS_TEST(hostile_texts_stay_texts) {
  ws_arena *arena = ws_arena_create();
  emit_and_check("all", all_texts(arena));
  emit_and_check("trigraph", "?\?/"); /* alone: what follows is the emitter's */
  emit_and_check("backslash", "\\");
  ws_arena_destroy(arena);
}

/* ---- the name of the dispatch ---- */
WS_TEST(names_that_would_collide) {
  static const char *const bad[] = {
      /* C, C++, macros */
      "int", "class", "NULL", "EOF", "linux", "va_list", "FILE", "size_t",
      "my_t",
      /* the C library and what else is linked */
      "exit", "malloc", "printf", "snprintf", "stdout", "environ",
      "sqlite3_open",
      /* the runtime's and the emitter's own */
      "ws_rt_open", "WS_RT_HIP", "candidates", "rules", "rule", "chains",
      "rule_of", "is_legal", "code_0", "launches_0", "accepts_0",
      "kernargs_0_0", "m", "n", "k", "cu_count", "dimensions", "select_kernel",
      "first_of", "chain", "tuned_shapes"};
  static const char *const good[] = {"gemm", "reduce", "synthetic",
                                     "fp8",  "kernel", "candidates_of_mine"};
  emitted e;
  prepare(&e, ws_test_directory());
  e.matrix.provenance = "sim:test"; /* with a table of tuned shapes */
  for (size_t i = 0; i < HOSTILE_NAMES; i++)
    WS_CHECK_INT(emit_as(&e, hostile_name(i), e.directory, NULL), WS_USAGE);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ws_diag diag = {""};
    if (emit_as(&e, bad[i], e.directory, &diag) != WS_USAGE)
      WS_FAIL("'%s' is taken", bad[i]);
    WS_CHECK_CONTAINS(diag.text, "C identifier");
  }
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ws_diag diag = {""};
    if (emit_as(&e, good[i], e.directory, &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
    synthetic_load(e.arena, e.directory, good[i], "-O0");
  }
  ws_arena_destroy(e.arena);
}
