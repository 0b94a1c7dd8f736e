/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lines of instructions, errors with lines, regions after inlining, and that
 * debug info changes no instruction.
 */
#include "parse.h"
#include "pass_test.h"
#include "source_lines.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Object.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

static const char *line_text(ws_arena *arena, const char *text, int line) {
  for (int i = 1; i < line; i++)
    text = strchr(text, '\n') + 1;
  return ws_arena_strndup(arena, text, strcspn(text, "\n"));
}

/* A word that must stand on the line of an instruction. */
static const char *mark_of(ws_arena *arena, LLVMValueRef instruction) {
  static const struct {
    LLVMOpcode opcode;
    const char *word;
  } words[] = {{LLVMStore, "store"},   {LLVMBr, "br "},
               {LLVMRet, "ret"},       {LLVMCall, "call"},
               {LLVMFence, "fence"},   {LLVMSwitch, "switch"},
               {LLVMInvoke, "invoke"}, {LLVMUnreachable, "unreachable"}};
  size_t size;
  const char *name = LLVMGetValueName2(instruction, &size);
  if (size)
    return ws_arena_printf(arena, "%%%s =", name);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].opcode == LLVMGetInstructionOpcode(instruction))
      return words[i].word;
  return "=";
}

/* Whether the column is that of the line's first word, or of the first one
 * behind a label or the brace of a function. */
static bool begins_there(const char *line, int column) {
  if (column < 1 || column > (int)strlen(line) || line[column - 1] == ' ')
    return false;
  int before = column - 1;
  while (before > 0 && line[before - 1] == ' ')
    before--;
  return !before || strchr(":{", line[before - 1]);
}

/* Lines rise within a function and each holds what it should. */
static void check_lines(const fixture *f) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(f->module); fn;
       fn = LLVMGetNextFunction(fn)) {
    int last = 0;
    WS_FOR_EACH_INSTRUCTION(fn, block, instruction) {
      const char *file;
      int line = ws_pass_line(instruction, &file);
      WS_CHECK_TEXT(file, "t.ll");
      if (line <= last)
        WS_FAIL("line %d after line %d", line, last);
      last = line;
      const char *text = line_text(f->arena, f->text, line);
      WS_CHECK_CONTAINS(text, mark_of(f->arena, instruction));
      if (!begins_there(text, ws_pass_column(instruction)))
        WS_FAIL("column %d of: %s", ws_pass_column(instruction), text);
    }
  }
}

WS_TEST(lines_of_templates) {
  static const char *const files[] = {"tests/pass/Inputs/tiny.ll",
                                      "ir-templates/fp8_gemm_naive.ll",
                                      "ir-templates/fp8_gemm_mfma.ll"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    ws_arena *arena = ws_arena_create();
    fixture f = open_template(read_source(arena, files[i]));
    check_lines(&f);
    fixture_destroy(&f);
    ws_arena_destroy(arena);
  }
}

static fixture parse_text(const char *text) {
  fixture f = fixture_create();
  f.text = text;
  f.module = ws_pass_parse(f.context, text, strlen(text), "t.ll", &f.findings);
  return f;
}

/* What a scanner can trip over. */
static const char awkward[] =
    "; define void @no() { } in a comment\n"
    "@text = constant [10 x i8] c\"define\n{ \\00\"\n"
    "declare void @callee(i32,\n"
    "                     i32)\n"
    "define { i32, i32 } @first({ i32 } %a,\n"
    "    i32 %b) #0 {\n"
    "  %one = add i32 %b, ; not { here\n"
    "         1\n"
    "\n"
    "  call void @callee(i32 %one,\n"
    "                    i32 2)\n"
    "  switch i32 %one, label %\"odd label\" [\n"
    "    i32 1, label %next\n"
    "    i32 2, label %next\n"
    "  ]\n"
    "\"odd label\":\n"
    "  br label %next\n"
    "next: ; preds\n"
    "  %pair = insertvalue { i32, i32 } zeroinitializer, i32 %one, 0\n"
    "  ret { i32, i32 } %pair\n"
    "}\n"
    "define void @\"second one\"() personality ptr @callee {\n"
    "start: %slot = alloca [2 x i32]\n"
    "  store i32 1,\n"
    "        ptr %slot\n"
    "  invoke void @callee(i32 1, i32 2)\n"
    "          to label %good unwind label %bad\n"
    "good:\n"
    "  ret void\n"
    "bad:\n"
    "  %pad = landingpad { ptr, i32 }\n"
    "          cleanup\n"
    "  ret void\n"
    "}\n"
    "define void @third() { ret void }\n"
    "attributes #0 = { \"key\"=\"}\" }\n";

WS_TEST(lines_of_awkward_text) {
  fixture f = parse_text(awkward);
  if (!f.module)
    show_findings(&f);
  WS_CHECK(f.module);
  check_lines(&f);
  static const int want[] = {8, 11, 13, 18, 20, 21, 24, 25, 27, 30, 32, 34, 36},
                   columns[] = {3, 3, 3, 3, 3, 3, 8, 3, 3, 3, 3, 3, 24};
  size_t count = 0;
  for (LLVMValueRef fn = LLVMGetFirstFunction(f.module); fn;
       fn = LLVMGetNextFunction(fn))
    WS_FOR_EACH_INSTRUCTION(fn, block, instruction) {
      WS_CHECK_INT(ws_pass_column(instruction), columns[count]);
      WS_CHECK_INT(ws_pass_line(instruction, NULL), want[count++]);
    }
  WS_CHECK_INT(count, sizeof want / sizeof *want);
  fixture_destroy(&f);
}

/* Two instructions on a line: the function's line, for all of them. */
WS_TEST(lines_fall_back) {
  fixture f = parse_text("\n\ndefine i32 @f(i32 %a) {\n"
                         "  %b = add i32 %a, 1 %c = add i32 %b, 1\n"
                         "  ret i32 %c\n}\n");
  WS_CHECK(f.module);
  LLVMValueRef fn = LLVMGetNamedFunction(f.module, "f");
  WS_FOR_EACH_INSTRUCTION(fn, block, instruction) {
    WS_CHECK_INT(ws_pass_line(instruction, NULL), 3);
    WS_CHECK_INT(ws_pass_column(instruction), 0);
  }
  WS_CHECK_INT(ws_pass_line(fn, NULL), 3);
  fixture_destroy(&f);
}

WS_TEST(own_debug_info_stays) {
  static const char text[] =
      "define void @f() !dbg !3 {\n  ret void, !dbg !5\n}\n"
      "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n"
      "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n"
      "!1 = !DIFile(filename: \"own.c\", directory: \"\")\n"
      "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
      "!3 = distinct !DISubprogram(name: \"f\", file: !1, line: 70, type: !4, "
      "unit: !0, spFlags: DISPFlagDefinition)\n"
      "!4 = !DISubroutineType(types: !{})\n"
      "!5 = !DILocation(line: 77, scope: !3)\n";
  fixture f = parse_text(text);
  if (!f.module)
    show_findings(&f);
  WS_CHECK(f.module);
  const char *file;
  LLVMValueRef fn = LLVMGetNamedFunction(f.module, "f");
  LLVMValueRef ret = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
  WS_CHECK_INT(ws_pass_line(ret, &file), 77);
  WS_CHECK_TEXT(file, "own.c");
  WS_CHECK_INT(ws_pass_line(fn, &file), 70);
  fixture_destroy(&f);
}

WS_TEST(syntax_error) {
  fixture f = parse_text("define i32 @f() {\n  ret i32 0\n}\n"
                         "define i32 @g(i32 %a) {\n  %r = add i32 %a, %b\n"
                         "  ret i32 %r\n}\n");
  WS_CHECK(!f.module);
  const ws_finding *found = expect_finding(&f, "ir-parse", "", 5);
  WS_CHECK_INT(found->column, 20);
  WS_CHECK_TEXT(found->file, "t.ll");
  WS_CHECK_CONTAINS(found->text, "%b");
  WS_CHECK_CONTAINS(found->text, "%r = add i32 %a, %b");
  fixture_destroy(&f);
}

WS_TEST(verifier_error) {
  fixture f = parse_text("define i32 @f() {\n  ret i32 0\n}\n"
                         "define void @g(i1 %c) {\n"
                         "e:\n"
                         "  br i1 %c, label %a, label %b\n"
                         "a:\n"
                         "  %x = add i32 1, 2\n"
                         "  br label %b\n"
                         "b:\n"
                         "  %y = add i32 %x, 1\n"
                         "  ret void\n}\n");
  WS_CHECK(!f.module);
  const ws_finding *found = expect_finding(&f, "ir-verify", "", 8);
  WS_CHECK_INT(found->column, 3);
  WS_CHECK_CONTAINS(found->text, "dominate");
  WS_CHECK_CONTAINS(found->text, "@g");
  fixture_destroy(&f);
}

/* Any prefix of a template is read or refused, with a line in range. */
WS_TEST(cut_text) {
  ws_arena *arena = ws_arena_create();
  char *text = read_tiny(arena);
  int refused = 0;
  for (size_t size = 0; size < strlen(text); size += 61) {
    fixture f = fixture_create();
    char *part = ws_arena_strndup(f.arena, text, size);
    f.module = ws_pass_parse(f.context, part, size, "t.ll", &f.findings);
    if (!f.module) {
      WS_CHECK_INT(f.findings.count, 1);
      WS_CHECK(f.findings.items[0].line >= 0 &&
               f.findings.items[0].line <= line_of(text, "!21 ="));
      refused++;
    }
    fixture_destroy(&f);
  }
  WS_CHECK(refused > 20);
  ws_arena_destroy(arena);
}

/* The scan reads any bytes; lines stay within the text and rise. */
static void check_scan(ws_arena *arena, const char *text, size_t size) {
  int last_line = 1;
  for (size_t i = 0; i < size; i++)
    last_line += text[i] == '\n';
  for (ws_source_function *f = ws_source_functions(arena, text, size); f;
       f = f->next) {
    WS_CHECK(f->name >= text && f->name + f->name_size <= text + size);
    for (int i = 0; i < f->count; i++)
      WS_CHECK(f->places[i].line > (i ? f->places[i - 1].line : 0) &&
               f->places[i].line <= last_line && f->places[i].column > 0);
  }
  for (ws_source_metadata *m = ws_source_named_metadata(arena, text, size); m;
       m = m->next) {
    WS_CHECK(m->name >= text && m->name + m->name_size <= text + size);
    for (int i = 0; i < m->count; i++)
      WS_CHECK(m->lines[i] >= 1 && m->lines[i] <= last_line);
  }
}

WS_TEST(scan_survives_noise) {
  static const char alphabet[] = "{}()[]\"\n;!@%=,: define0\0\xff";
  ws_arena *arena = ws_arena_create();
  char *text = read_tiny(arena);
  size_t size = strlen(text);
  ws_rng rng;
  ws_rng_init(&rng, 11);
  for (int round = 0; round < 2000; round++) {
    ws_arena *own = ws_arena_create();
    size_t part = (size_t)ws_rng_below(&rng, size);
    char *noisy = malloc(part ? part : 1); /* exact: a sanitizer sees its end */
    memcpy(noisy, text, part);
    for (int i = 0; i < 20 && part; i++)
      noisy[ws_rng_below(&rng, part)] =
          alphabet[ws_rng_below(&rng, sizeof alphabet - 1)];
    check_scan(own, noisy, part);
    free(noisy);
    ws_arena_destroy(own);
  }
  ws_arena_destroy(arena);
}

static void run_passes(LLVMModuleRef module, const char *passes,
                       LLVMTargetMachineRef machine) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
  WS_CHECK(!error);
  LLVMDisposePassBuilderOptions(options);
}

WS_TEST(regions_survive_inlining) {
  fixture f = open_tiny();
  run_passes(f.module, "always-inline,globaldce,function(sroa)", NULL);
  LLVMValueRef kernel = LLVMGetNamedFunction(f.module, "tiny");
  WS_CHECK(!LLVMGetNamedFunction(f.module, "stage"));
  int loads = 0;
  WS_FOR_EACH_INSTRUCTION(kernel, block, instruction) {
    if (!LLVMIsALoadInst(instruction))
      continue;
    int line = ws_pass_line(instruction, NULL);
    const char *region = ws_pass_region_of(instruction);
    const char *want =
        line == line_of(f.text, "%value = load i32, ptr addrspace(1)") ? "stage"
        : line == line_of(f.text, "%value = load i32, ptr addrspace(3)") ||
                line == line_of(f.text, "%repeat = load")
            ? "combine"
            : "tiny";
    WS_CHECK_TEXT(region, want);
    loads++;
  }
  WS_CHECK_INT(loads, 3); /* @ws.repeat is constant and folds */
  fixture_destroy(&f);
}

/* ---- debug info and code ------------------------------------------------- */

typedef struct section {
  size_t size;
  ws_hash hash;
} section;

static section find_section(LLVMMemoryBufferRef object, const char *name) {
  section found = {0};
  char *message = NULL;
  LLVMBinaryRef binary = LLVMCreateBinary(object, NULL, &message);
  WS_CHECK(binary);
  LLVMSectionIteratorRef at = LLVMObjectFileCopySectionIterator(binary);
  for (; !LLVMObjectFileIsSectionIteratorAtEnd(binary, at);
       LLVMMoveToNextSection(at)) {
    const char *own = LLVMGetSectionName(at); /* the first has none */
    if (own && !strcmp(own, name)) {
      found.size = LLVMGetSectionSize(at);
      found.hash = ws_hash_bytes(LLVMGetSectionContents(at), found.size);
    }
  }
  LLVMDisposeSectionIterator(at);
  LLVMDisposeBinary(binary);
  return found;
}

static void compile(const char *file, bool debug, section *out_text,
                    section *out_lines) {
  ws_arena *arena = ws_arena_create();
  fixture f = open_template(read_source(arena, file));
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  if (!debug)
    LLVMStripModuleDebugInfo(f.module);
  LLVMTargetRef target;
  char *message = NULL;
  WS_CHECK(!LLVMGetTargetFromTriple("amdgcn-amd-amdhsa", &target, &message));
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, "amdgcn-amd-amdhsa", "gfx942", "", LLVMCodeGenLevelAggressive,
      LLVMRelocPIC, LLVMCodeModelDefault);
  run_passes(f.module, "default<O3>", machine);
  LLVMMemoryBufferRef object;
  WS_CHECK(!LLVMTargetMachineEmitToMemoryBuffer(
      machine, f.module, LLVMObjectFile, &message, &object));
  *out_text = find_section(object, ".text");
  *out_lines = find_section(object, ".debug_line");
  LLVMDisposeMemoryBuffer(object);
  LLVMDisposeTargetMachine(machine);
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

WS_TEST(debug_info_changes_no_code) {
  static const char *const files[] = {"tests/pass/Inputs/tiny.ll",
                                      "ir-templates/fp8_gemm_naive.ll",
                                      "ir-templates/fp8_gemm_mfma.ll"};
  ws_pass_initialize();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    section with_text, with_lines, plain_text, plain_lines;
    compile(files[i], true, &with_text, &with_lines);
    compile(files[i], false, &plain_text, &plain_lines);
    WS_CHECK(plain_text.size > 0);
    WS_CHECK_INT(with_text.size, plain_text.size);
    WS_CHECK_TEXT(with_text.hash.hex, plain_text.hash.hex);
    WS_CHECK(with_lines.size > 0);
    WS_CHECK_INT(plain_lines.size, 0);
  }
}
