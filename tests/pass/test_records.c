/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From metadata to records, and every malformed template: one sentence with
 * file, line and cure, never a crash.
 */
#include "../unit/hostile_names.h"
#include "pass_test.h"

static const ws_record *nth(const ws_records *records, const char *kind,
                            int index) {
  for (int i = 0; i < records->count; i++)
    if (!strcmp(records->items[i].kind, kind) && index-- == 0)
      return &records->items[i];
  WS_FAIL("no such %s record", kind);
}

WS_TEST(records_of_tiny) {
  fixture f = open_tiny();
  ws_records records;
  ws_diag diag;
  WS_CHECK_INT(
      ws_pass_read_records(f.module, f.text, "t.ll", f.arena, &records, &diag),
      WS_OK);
  WS_CHECK_INT(records.count, 9);
  const ws_record *param = nth(&records, "param", 1);
  WS_CHECK_INT(param->operand_count, 5);
  WS_CHECK_TEXT(param->operands[0], "repeat");
  WS_CHECK_TEXT(param->operands[2], "1 2 4");
  WS_CHECK_TEXT(param->operands[4], "2"); /* the global's initialiser */
  WS_CHECK_INT(param->line, line_of(f.text, "!2 = "));
  const ws_record *launch = nth(&records, "launch", 0);
  WS_CHECK_INT(launch->operand_count, 7);
  WS_CHECK_TEXT(launch->operands[6], "a c m"); /* the kernel's arguments */
  WS_CHECK_INT(launch->line, line_of(f.text, "!5 = "));
  WS_CHECK_INT(nth(&records, "region", 1)->line, line_of(f.text, "!7 = "));
  WS_CHECK_TEXT(nth(&records, "variant", 0)->operands[1], "stage_halves");
  fixture_destroy(&f);
}

/* Without the text there are no lines, but the same records. */
WS_TEST(records_without_text) {
  fixture f = open_tiny();
  ws_records records;
  ws_diag diag;
  WS_CHECK_INT(
      ws_pass_read_records(f.module, NULL, "t.ll", f.arena, &records, &diag),
      WS_OK);
  WS_CHECK_INT(records.count, 9);
  WS_CHECK_INT(nth(&records, "param", 0)->line, 0);
  fixture_destroy(&f);
}

/* Metadata of one name may be written in several places. */
WS_TEST(records_in_pieces) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(arena, read_tiny(arena), "!wavesmith.param = !{!1, !2}",
                       "!wavesmith.param = !{!1}\n!wavesmith.param = !{!2}");
  fixture f = open_template(text);
  WS_CHECK_INT(f.candidate->tmpl->param_count, 2);
  WS_CHECK_INT(f.candidate->tmpl->params[1].line, line_of(text, "!2 = "));
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

/* A change to tiny.ll, the line (by what stands there) and words of the
 * sentence. */
static const struct malformed {
  const char *from, *to, *at, *words;
} cases[] = {
    {"target triple = \"amdgcn-amd-amdhsa\"", "", NULL, "target triple"},
    {"!\"ws.threads\", !\"64", "!\"ws.thread\", !\"64",
     "!1 = ", "no global @ws.thread"},
    {"@ws.threads = internal addrspace(4) constant i32 64",
     "@ws.threads = internal addrspace(4) constant i64 64",
     "!1 = ", "constant i32"},
    {"@ws.threads = internal addrspace(4) constant i32 64",
     "@ws.threads = internal addrspace(4) global i32 64",
     "!1 = ", "constant i32"},
    {"@ws.threads = internal addrspace(4) constant i32 64",
     "@ws.threads = external addrspace(4) constant i32",
     "!1 = ", "constant i32"},
    {"@ws.threads = internal addrspace(4) constant i32 64",
     "@ws.threads = addrspace(4) constant i32 64", "!1 = ", "internal"},
    {"!4 = !{!\"ws.lds\"", "!4 = !{!\"ws.lsd\"", "!4 = ", "no global @ws.lsd"},
    {"[256 x i8] poison", "[256 x i8] zeroinitializer",
     "!4 = ", "cannot be initialised"},
    {"!4 = !{!\"ws.lds\"", "!4 = !{!\"ws.threads\"", "!4 = ", "addrspace(3)"},
    {"!5 = !{!\"tiny\"", "!5 = !{!\"tinny\"", "!5 = ", "no kernel @tinny"},
    {"!5 = !{!\"tiny\"", "!5 = !{!\"stage\"", "!5 = ", "amdgpu_kernel"},
    {"i32 %m) {", "i32 %m, i32) {", "!5 = ", "argument 4 has no name"},
    {"noalias %c, i32 %m) {", "noalias %c, i32 %m, i32 %rows) {",
     "!5 = ", "'rows' is no argument of fp8_gemm_blockscale"},
    {"noalias %c, i32 %m) {", "noalias %c, i32 %m, i64 %n) {",
     "!5 = ", "argument 'n' must be i32"},
    {"ptr addrspace(1) noalias readonly %a", "ptr %b, ptr addrspace(1) %a",
     "!5 = ", "argument 'b' must be ptr addrspace(1)"},
    {"!\"fp8_gemm_blockscale\"", "!\"fp8_gemm\"",
     "!0 = ", "problem 'fp8_gemm' is not known; name its file with --problem; "},
    {"!wavesmith.template = !{!0}", "!wavesmith.template = !{!0, !0}",
     "!0 = ", "exactly one"},
    {"!wavesmith.template = !{!0}", "", NULL, "exactly one"},
    {"!6 = !{!\"stage\"", "!6 = !{!\"stagger\"",
     "!6 = ", "no function @stagger"},
    {"define internal i32 @combine", "define i32 @combine",
     "!7 = ", "internal"},
    {"i32 @combine(ptr addrspace(3) %from, i32 %lane) alwaysinline",
     "i32 @combine(ptr addrspace(3) %from, i32 %lane)",
     "!7 = ", "alwaysinline"},
    {"!8 = !{!\"stage\", !\"stage_halves\"", "!8 = !{!\"stage\", !\"combine\"",
     "!8 = ", "signature"},
    {"!\"stage_halves\", !\"two", "!\"halves\", !\"two",
     "!8 = ", "no function @halves"},
    {"!3 = !{!\"threads * repeat <= 512\", ", "!3 = !{",
     "!3 = ", "1 operands, want 2"},
    {"!3 = !{!\"threads * repeat <= 512\"", "!3 = !{i32 7",
     "!3 = ", "operand 1 is no string"},
    {"!3 = !{!\"threads * repeat <= 512\"", "!3 = !{null",
     "!3 = ", "operand 1 is no string"},
    {"!6 = !{!\"stage\"", "!6 = !{!\"sta\\00ge\"", "!6 = ", "no string"},
    {"!wavesmith.require", "!wavesmith.requires",
     "!3 = ", "!wavesmith.requires is not known"},
};

static void check_malformed(const struct malformed *wrong) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(arena, read_tiny(arena), wrong->from, wrong->to);
  fixture f = fixture_create();
  ws_records records;
  ws_diag diag = {{0}};
  f.module = ws_pass_parse(f.context, text, strlen(text), "t.ll", &f.findings);
  if (!f.module) {
    show_findings(&f);
    WS_FAIL("\"%s\" does not parse", wrong->to);
  }
  WS_CHECK_INT(
      ws_pass_read_records(f.module, text, "t.ll", f.arena, &records, &diag),
      WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, wrong->words);
  const char *place =
      wrong->at ? ws_arena_printf(arena, "t.ll:%d: ", line_of(text, wrong->at))
                : "t.ll: ";
  if (strncmp(diag.text, place, strlen(place)))
    WS_FAIL("\"%s\" does not start with \"%s\"", diag.text, place);
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

WS_TEST(malformed_templates) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_malformed(&cases[i]);
}

/* As a string of LLVM's assembly. */
static const char *quoted(ws_arena *arena, const char *text) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (; *text; text++)
    ws_strbuf_printf(&out, "\\%02X", (unsigned)(unsigned char)*text);
  const char *copy = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return copy;
}

/* LLVM takes any bytes as a name. A kernel of a hostile one is refused with
 * the line of its launch, before anything is made of it. */
WS_TEST(hostile_names_of_a_kernel) {
  for (size_t i = 1; i < HOSTILE_NAMES; i++) {
    ws_arena *arena = ws_arena_create();
    const char *name = quoted(arena, hostile_name(i));
    char *text = replace(arena, read_tiny(arena), "@tiny(",
                         ws_arena_printf(arena, "@\"%s\"(", name));
    text = replace(arena, text, "!5 = !{!\"tiny\"",
                   ws_arena_printf(arena, "!5 = !{!\"%s\"", name));
    ws_findings findings;
    ws_records records;
    const ws_template *tmpl;
    ws_diag diag = {""};
    ws_findings_init(&findings, arena);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module =
        ws_pass_parse(context, text, strlen(text), "t.ll", &findings);
    WS_CHECK(module != NULL);
    WS_CHECK_INT(
        ws_pass_read_records(module, text, "t.ll", arena, &records, &diag),
        WS_OK);
    WS_CHECK_INT(ws_template_from_records(arena, &records, "t.ll",
                                          ws_hash_bytes("x", 1), &tmpl, &diag),
                 WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, ws_arena_printf(arena, "t.ll:%d: kernel '",
                                                 line_of(text, "!5 = ")));
    WS_CHECK_CONTAINS(diag.text, "rename it");
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    ws_arena_destroy(arena);
  }
}
