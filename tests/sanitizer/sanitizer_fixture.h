/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sanitizes a template from text: a shipped one, perhaps with lines exchanged
 * (a mutant), or one made around the body of a small kernel.
 */
#ifndef WAVESMITH_SANITIZER_FIXTURE_H
#define WAVESMITH_SANITIZER_FIXTURE_H

#include "../gemm_shape.h"
#include "pass.h"
#include "wavesmith/bound_model.h"
#include "ws_test.h"

/* One for the process, which runs one test. */
static ws_arena *test_arena_of_process;
static inline void test_arena_end(void) {
  ws_arena_destroy(test_arena_of_process);
}
static inline ws_arena *test_arena(void) {
  if (!test_arena_of_process) {
    test_arena_of_process = ws_arena_create();
    atexit(test_arena_end);
  }
  return test_arena_of_process;
}

typedef struct fixture {
  ws_arena *arena;
  ws_findings findings;
  ws_run_result results[8];
  bool ok;
} fixture;

/* gcc 12 takes what it returns for a pointer to its own variable. */
__attribute__((noinline, unused)) static char *read_template(ws_arena *arena,
                                                             const char *name) {
  const char *root = getenv("WS_SOURCE_DIR");
  char *text;
  size_t size;
  ws_diag diag;
  char *path =
      ws_arena_printf(arena, "%s/ir-templates/%s", root ? root : ".", name);
  if (ws_file_read(arena, path, &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return text;
}

/* The text with `from` replaced; it must stand there exactly once. */
static inline char *exchanged(ws_arena *arena, const char *text,
                              const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (!at)
    WS_FAIL("the template lacks \"%s\"", from);
  if (strstr(at + 1, from))
    WS_FAIL("the template has \"%s\" more than once", from);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to,
                         at + strlen(from));
}

static inline int line_of(const char *text, const char *part) {
  const char *at = strstr(text, part);
  if (!at)
    WS_FAIL("the text lacks \"%s\"", part);
  int line = 1;
  for (const char *c = text; c < at; c++)
    line += *c == '\n';
  return line;
}

/* A region with another body; language NULL: none. */
typedef struct replaced {
  const char *region, *language, *text;
} replaced;

static inline void replace(ws_candidate *candidate, const replaced *with) {
  for (int i = 0; i < candidate->tmpl->region_count; i++)
    if (with->language &&
        !strcmp(candidate->tmpl->regions[i].function, with->region))
      candidate->bodies[i] = (ws_body){
          .variant = -1, .language = with->language, .text = with->text};
  ws_candidate_update_id(candidate);
}

static inline fixture sanitize_replaced(ws_arena *arena, const char *text,
                                        const char *assignments,
                                        const ws_run *runs, int run_count,
                                        replaced with) {
  fixture f = {.arena = arena};
  ws_records records;
  ws_diag diag = {""};
  const ws_template *tmpl;
  ws_pass_initialize();
  ws_findings_init(&f.findings, arena);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module =
      ws_pass_parse(context, text, strlen(text), "test.ll", &f.findings);
  if (!module)
    WS_FAIL("line %d: %s", f.findings.items[0].line, f.findings.items[0].text);
  if (ws_pass_read_records(module, text, "test.ll", arena, &records, &diag) !=
          WS_OK ||
      ws_template_from_records(arena, &records, "test.ll",
                               ws_hash_bytes(text, strlen(text)), &tmpl,
                               &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  if (ws_candidate_set(candidate, assignments, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  replace(candidate, &with);
  if (!ws_pass_splice(module, candidate, &f.findings))
    WS_FAIL("splice: %s", f.findings.items[0].text);
  ws_run standard[WS_STANDARD_RUNS];
  if (!runs) {
    run_count = ws_standard_runs(candidate, standard);
    runs = standard;
  }
  f.ok = ws_pass_sanitize(module, candidate, runs, run_count, arena, f.results,
                          &f.findings);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return f;
}

static inline fixture sanitize_runs(ws_arena *arena, const char *text,
                                    const char *assignments, const ws_run *runs,
                                    int run_count) {
  return sanitize_replaced(arena, text, assignments, runs, run_count,
                           (replaced){NULL, NULL, NULL});
}

static inline const ws_finding *find(const fixture *f, const char *id) {
  for (int i = 0; i < f->findings.count; i++)
    if (!strcmp(f->findings.items[i].id, id))
      return &f->findings.items[i];
  return NULL;
}

static inline void print_findings(const fixture *f) {
  for (int i = 0; i < f->findings.count; i++)
    fprintf(stderr, "# %s:%d [%s] %s: %s\n", f->findings.items[i].file,
            f->findings.items[i].line, f->findings.items[i].region,
            f->findings.items[i].id, f->findings.items[i].text);
}

/* The finding must be there, in this region and line (0: any). */
static inline void expect_finding(const fixture *f, const char *id,
                                  const char *region, int line) {
  for (int i = 0; i < f->findings.count; i++) {
    const ws_finding *item = &f->findings.items[i];
    if (!strcmp(item->id, id) && (!region || !strcmp(item->region, region)) &&
        (line == 0 || item->line == line))
      return;
  }
  print_findings(f);
  WS_FAIL("no finding %s in region %s, line %d", id, region ? region : "(any)",
          line);
}

static inline void expect_none(const fixture *f, const char *id) {
  if (!find(f, id))
    return;
  print_findings(f);
  WS_FAIL("there is a finding %s", id);
}

/* ---- small kernels ----------------------------------------------------------
 */

#define SMALL_LAYOUT                                                           \
  "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-"           \
  "p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-"       \
  "v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-"        \
  "v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"

static const char small_head[] =
    "target datalayout = \"" SMALL_LAYOUT "\"\n"
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@lds = internal addrspace(3) global [16384 x i8] poison, align 16\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)\n"
    "declare void @llvm.amdgcn.s.barrier()\n"
    "declare void @llvm.amdgcn.wave.barrier()\n"
    "declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64, i64, <4 "
    "x float>, i32, i32, i32)\n"
    "%s\n"
    "define amdgpu_kernel void @kernel(ptr addrspace(1) %%a, ptr addrspace(1) "
    "%%c, ptr addrspace(1) %%workspace, i32 %%n) {\n"
    "entry:\n"
    "  %%tid = call i32 @llvm.amdgcn.workitem.id.x()\n"
    "  %%group = call i32 @llvm.amdgcn.workgroup.id.x()\n"
    "%s\n"
    "}\n"
    "!wavesmith.template = !{!0}\n"
    "!0 = !{!\"small\", !\"1\", !\"fp8_gemm_blockscale\", !\"gfx942\", !\"a "
    "test\"}\n"
    "!wavesmith.launch = !{!1}\n"
    "!1 = !{!\"kernel\", !\"%s\", !\"1\", !\"1\", !\"%d\", !\"1\"}\n"
    "!wavesmith.workspace = !{!2}\n"
    "!2 = !{!\"65536\"}\n";

typedef struct small {
  const char *body;     /* after %tid and %group are set; must end in ret */
  const char *declares; /* NULL: none */
  const char *groups;   /* NULL: "1" */
  int threads;          /* 0: 64 */
  ws_wave_order order;
  ws_shape shape; /* zero: 16 x 16 x 128 */
} small;

static inline char *small_text(ws_arena *arena, const small *s) {
  return ws_arena_printf(arena, small_head, s->declares ? s->declares : "",
                         s->body, s->groups ? s->groups : "1",
                         s->threads ? s->threads : 64);
}

static inline fixture run_small(small s) {
  ws_arena *arena = test_arena();
  ws_run run = {.shape =
                    s.shape.size[DIM_M] ? s.shape : gemm_shape(16, 16, 128),
                .order = s.order,
                .seed = 1};
  return sanitize_runs(arena, small_text(arena, &s), "", &run, 1);
}

/* Line of the body that ends in the comment "; here". */
static inline int here(const small *s) {
  return line_of(small_text(test_arena(), s), "; here");
}

/* Found at that line whatever the order of waves. */
static inline void expect_here(small s, const char *id) {
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    s.order = (ws_wave_order)order;
    fixture f = run_small(s);
    WS_CHECK(!f.ok);
    expect_finding(&f, id, "kernel", here(&s));
    WS_CHECK_TEXT(find(&f, id)->file, "test.ll");
    WS_CHECK(strlen(find(&f, id)->text) > 40); /* says what and the cure */
  }
}

static inline void expect_silence(small s, const char *id) {
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    s.order = (ws_wave_order)order;
    fixture f = run_small(s);
    expect_none(&f, id);
  }
}

#endif
