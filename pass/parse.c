/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * IR text to a verified module in which every instruction knows its line.
 *
 * LLVM's parser gives no lines and its verifier names none, so the lines come
 * from source_lines.c and are attached as debug locations (line tables only:
 * no effect on the code, see tests/pass/test_parse.c). They survive inlining,
 * unrolling and code generation; the sanitizer's reports, LLVM's own
 * diagnostics and the code object's .debug_line all point at what was written.
 */
#include "parse.h"
#include "family.h"
#include "source_lines.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ws_pass_initialize(void) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMInitializeAMDGPUAsmParser();
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

/* Without a handler LLVM prints an error and ends the process. */
static void collect_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
    return;
  char *text = LLVMGetDiagInfoDescription(info);
  ws_findings_add(context, "ir-diagnostic", "", NULL, 0, "%s", text);
  LLVMDisposeMessage(text);
}

static void set_column(ws_finding *added, int column) {
  if (added)
    added->column = column;
}

/* What somebody has written, and what is read as if it stood before it, on its
 * first line, and behind it, on the next line. */
typedef struct source_text {
  const char *file, *text;
  size_t size;
  const char *lead, *tail; /* "": nothing */
} source_text;

static bool begins_with(const char *text, const char *part) {
  return *part && !strncmp(text, part, strlen(part));
}

/* "LINE:COLUMN:", where a lead of so many bytes stands on the first line. */
static ws_source_place place_in_message(const char *message, size_t lead) {
  char *end;
  ws_source_place at = {(int)strtol(message, &end, 10), 0};
  if (*end == ':')
    at.column = (int)strtol(end + 1, NULL, 10);
  if (at.line == 1)
    at.column = at.column > (int)lead ? at.column - (int)lead : 0;
  return at;
}

/* message: "FILE:LINE:COLUMN: error: WHAT\nSOURCE LINE\n   ^\n". */
static void report_syntax(const char *message, const source_text *written,
                          ws_findings *findings) {
  size_t file_size = strlen(written->file);
  ws_source_place at = {0, 0};
  const char *what = message;
  if (!strncmp(message, written->file, file_size) && message[file_size] == ':')
    at = place_in_message(message + file_size + 1, strlen(written->lead));
  const char *marker = strstr(message, "error: ");
  if (marker)
    what = marker + strlen("error: ");
  int what_size = (int)strcspn(what, "\n");
  const char *source = what + what_size;
  source += strspn(source, "\n \t");
  if (begins_with(source, written->lead))
    source += strlen(written->lead);
  if (begins_with(source, written->tail))
    source = "(the end of the text)";
  set_column(ws_findings_add(findings, "ir-parse", "", written->file, at.line,
                             "%.*s; correct this line: %.*s", what_size, what,
                             (int)strcspn(source, "\n"), source),
             at.column);
}

static LLVMModuleRef parse_text(LLVMContextRef context,
                                const source_text *written,
                                ws_findings *findings) {
  size_t lead_size = strlen(written->lead), tail_size = strlen(written->tail);
  char *whole = ws_arena_alloc(findings->arena,
                               lead_size + written->size + tail_size + 2);
  char *end = whole;
  end = mempcpy(end, written->lead, lead_size);
  end = mempcpy(end, written->text, written->size);
  if (tail_size && end > whole && end[-1] != '\n')
    *end++ = '\n';
  end = mempcpy(end, written->tail, tail_size);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
      whole, (size_t)(end - whole), written->file, 1);
  LLVMModuleRef module = NULL;
  char *message = NULL;
  if (!LLVMParseIRInContext(context, buffer, &module, &message))
    return module;
  report_syntax(message, written, findings);
  LLVMDisposeMessage(message);
  return NULL;
}

static const ws_source_function *find_source(const ws_source_function *sources,
                                             LLVMValueRef function) {
  size_t size;
  const char *name = LLVMGetValueName2(function, &size);
  for (; sources; sources = sources->next)
    if (sources->name_size == size && !memcmp(sources->name, name, size))
      return sources;
  return NULL;
}

static int count_instructions(LLVMValueRef function) {
  int count = 0;
  WS_FOR_EACH_INSTRUCTION(function, block, instruction)
  count++;
  return count;
}

/* Where the index-th instruction is, as exactly as the scan knows it. */
static ws_source_place place_of(const ws_source_function *source, bool exact,
                                int index) {
  if (exact)
    return source->places[index];
  return (ws_source_place){source ? source->line : 0, 0};
}

/* The verifier prints the instruction it objects to; the first one of the
 * function whose print occurs in the message gives the place. */
static ws_source_place refused_place(LLVMValueRef function,
                                     const ws_source_function *source,
                                     const char *message) {
  int index = 0;
  bool exact = source && source->count == count_instructions(function);
  WS_FOR_EACH_INSTRUCTION(function, block, instruction) {
    char *print = LLVMPrintValueToString(instruction);
    bool found = strstr(message, print) != NULL;
    LLVMDisposeMessage(print);
    if (found)
      return place_of(source, exact, index);
    index++;
  }
  return place_of(source, false, 0);
}

static void report_invalid(LLVMModuleRef module,
                           const ws_source_function *sources,
                           const char *message, const char *file,
                           ws_findings *findings) {
  ws_source_place at = {0, 0};
  const char *name = "";
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) &&
        LLVMVerifyFunction(f, LLVMReturnStatusAction)) {
      size_t size;
      name = LLVMGetValueName2(f, &size);
      at = refused_place(f, find_source(sources, f), message);
      break;
    }
  set_column(ws_findings_add(findings, "ir-verify", "", file, at.line,
                             "LLVM's verifier rejects @%s: %s", name, message),
             at.column);
}

static bool verify(LLVMModuleRef module, const ws_source_function *sources,
                   const char *file, ws_findings *findings) {
  char *message = NULL;
  bool valid = !LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  if (!valid)
    report_invalid(module, sources, message, file, findings);
  LLVMDisposeMessage(message);
  return valid;
}

/* ---- debug locations ----------------------------------------------------- */

typedef struct line_writer {
  LLVMContextRef context;
  LLVMDIBuilderRef builder;
  LLVMMetadataRef file, function_type;
} line_writer;

static void attach_function(const line_writer *writer, LLVMValueRef function,
                            const ws_source_function *source) {
  size_t size;
  const char *name = LLVMGetValueName2(function, &size);
  unsigned line = source ? (unsigned)source->line : 0;
  bool exact = source && source->count == count_instructions(function);
  LLVMMetadataRef scope = LLVMDIBuilderCreateFunction(
      writer->builder, writer->file, name, size, NULL, 0, writer->file, line,
      writer->function_type, 1, 1, line, LLVMDIFlagZero, 1);
  LLVMSetSubprogram(function, scope);
  int index = 0;
  WS_FOR_EACH_INSTRUCTION(function, block, instruction) {
    const ws_source_place at = place_of(source, exact, index++);
    LLVMInstructionSetDebugLoc(
        instruction,
        LLVMDIBuilderCreateDebugLocation(writer->context, (unsigned)at.line,
                                         (unsigned)at.column, scope, NULL));
  }
}

static bool has_own_lines(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (LLVMGetSubprogram(f))
      return true;
  return false;
}

/* PTX with debug sections is assembled without optimisation ("-lineinfo" is not
 * "-g"), so NVIDIA gets .loc and .file only: DebugDirectivesOnly of
 * llvm/IR/DebugInfoMetadata.h, which the C API has no name for. */
static LLVMDWARFEmissionKind emission_kind(LLVMModuleRef module) {
  enum { DIRECTIVES_ONLY = 3 };
  return ws__ir_family_of(module) == &ws__ir_nvptx
             ? (LLVMDWARFEmissionKind)DIRECTIVES_ONLY
             : LLVMDWARFEmissionLineTablesOnly;
}

static void attach_lines(LLVMModuleRef module,
                         const ws_source_function *sources, const char *file) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  line_writer writer = {context, LLVMCreateDIBuilder(module), NULL, NULL};
  writer.file =
      LLVMDIBuilderCreateFile(writer.builder, file, strlen(file), "", 0);
  writer.function_type = LLVMDIBuilderCreateSubroutineType(
      writer.builder, writer.file, NULL, 0, LLVMDIFlagZero);
  LLVMDIBuilderCreateCompileUnit(
      writer.builder, LLVMDWARFSourceLanguageC11, writer.file, "wavesmith", 9,
      1, "", 0, 0, "", 0, emission_kind(module), 0, 0, 0, "", 0, "", 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      attach_function(&writer, f, find_source(sources, f));
  LLVMDIBuilderFinalize(writer.builder);
  LLVMDisposeDIBuilder(writer.builder);
  LLVMValueRef version = LLVMConstInt(LLVMInt32TypeInContext(context),
                                      LLVMDebugMetadataVersion(), 0);
  static const char flag[] = "Debug Info Version";
  if (!LLVMGetModuleFlag(module, flag, sizeof flag - 1))
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, flag,
                      sizeof flag - 1, LLVMValueAsMetadata(version));
}

static LLVMModuleRef parse_verified(LLVMContextRef context,
                                    const source_text *written,
                                    ws_findings *findings) {
  LLVMModuleRef module = parse_text(context, written, findings);
  if (!module)
    return NULL;
  const ws_source_function *sources =
      ws_source_functions(findings->arena, written->text, written->size);
  if (!verify(module, sources, written->file, findings)) {
    LLVMDisposeModule(module);
    return NULL;
  }
  if (!has_own_lines(module))
    attach_lines(module, sources, written->file);
  return module;
}

void ws__pass_collect_diagnostics(LLVMContextRef context,
                                  ws_findings *findings) {
  LLVMContextSetDiagnosticHandler(context, collect_diagnostic, findings);
}

LLVMModuleRef ws_pass_parse(LLVMContextRef context, const char *text,
                            size_t size, const char *file,
                            ws_findings *findings) {
  ws__pass_collect_diagnostics(context, findings);
  const source_text written = {file, text, size, "", ""};
  return parse_verified(context, &written, findings);
}

/* A body without a data layout of its own would be read with LLVM's default,
 * which aligns other than the GPU's. */
LLVMModuleRef ws__pass_parse_body(LLVMModuleRef target, const char *text,
                                  const char *file, ws_findings *findings) {
  const source_text written = {
      .file = file,
      .text = text,
      .size = strlen(text),
      .lead = ws_arena_printf(
          findings->arena, "target datalayout = \"%s\" target triple = \"%s\" ",
          LLVMGetDataLayoutStr(target), LLVMGetTarget(target)),
      .tail = ws__pass_declarations(target, text, findings->arena)};
  return parse_verified(LLVMGetModuleContext(target), &written, findings);
}

void ws__pass_attach_text(LLVMModuleRef module, ws_arena *arena,
                          const char *text, size_t size, const char *file) {
  if (!has_own_lines(module))
    attach_lines(module, ws_source_functions(arena, text, size), file);
}

void ws__pass_attach_file(LLVMModuleRef module, const char *file) {
  if (!has_own_lines(module))
    attach_lines(module, NULL, file);
}

/* ---- reading them back --------------------------------------------------- */

int ws_pass_line(LLVMValueRef value, const char **out_file) {
  unsigned size = 0;
  const char *file = NULL;
  int line = 0;
  bool has_line = LLVMIsAInstruction(value)
                      ? LLVMInstructionGetDebugLoc(value) != NULL
                      : LLVMIsAFunction(value) && LLVMGetSubprogram(value);
  if (has_line) {
    file = LLVMGetDebugLocFilename(value, &size);
    line = (int)LLVMGetDebugLocLine(value);
  }
  if (out_file)
    *out_file = size ? file : NULL;
  return line;
}

int ws_pass_column(LLVMValueRef instruction) {
  return LLVMIsAInstruction(instruction) &&
                 LLVMInstructionGetDebugLoc(instruction)
             ? (int)LLVMGetDebugLocColumn(instruction)
             : 0;
}

/* The branch by which control comes to a block; NULL: none. */
static LLVMValueRef way_into(LLVMBasicBlockRef block) {
  for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsATerminatorInst(user) && LLVMGetInstructionParent(user) != block)
      return user;
  }
  return NULL;
}

int ws_pass_line_before(LLVMValueRef instruction, const char **out_file) {
  enum { MOST_BLOCKS = 64 };
  LLVMValueRef at = instruction;
  int line = 0, blocks = 0;
  while (at && !(line = ws_pass_line(at, out_file)) && blocks < MOST_BLOCKS) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(at);
    at = LLVMGetPreviousInstruction(at);
    if (!at && ++blocks)
      at = way_into(block);
  }
  return line;
}

/* LLVM lists the last use first. depth: of constants in each other. */
static int first_line_of_use(LLVMValueRef symbol, int depth) {
  int first = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(symbol); use && depth;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    const int line = LLVMIsAInstruction(user)
                         ? ws_pass_line(user, NULL)
                         : first_line_of_use(user, depth - 1);
    if (line && (!first || line < first))
      first = line;
  }
  return first;
}

int ws_pass_line_of_use(LLVMValueRef symbol) {
  return first_line_of_use(symbol, 4);
}

/* Operands of debug info nodes that the C API has no accessor for: DIScope's
 * parent, DISubprogram's name and linkage name (llvm/IR/DebugInfoMetadata.h,
 * the same in LLVM 20 to 22). */
enum { SCOPE_OPERAND = 1, NAME_OPERAND = 2, LINKAGE_NAME_OPERAND = 3 };

static LLVMValueRef node_operand(LLVMValueRef node, unsigned index) {
  LLVMValueRef operands[16];
  unsigned count = (unsigned)LLVMGetMDNodeNumOperands(node);
  if (index >= count || count > sizeof operands / sizeof *operands)
    return NULL;
  LLVMGetMDNodeOperands(node, operands);
  return operands[index];
}

static const char *text_operand(LLVMValueRef node, unsigned index) {
  LLVMValueRef operand = node_operand(node, index);
  unsigned size = 0;
  const char *text = operand ? LLVMGetMDString(operand, &size) : NULL;
  return size ? text : NULL;
}

/* The subprogram that a location's scope belongs to. */
static LLVMValueRef scope_subprogram(LLVMContextRef context,
                                     LLVMMetadataRef scope) {
  while (scope && LLVMGetMetadataKind(scope) != LLVMDISubprogramMetadataKind) {
    LLVMValueRef parent =
        node_operand(LLVMMetadataAsValue(context, scope), SCOPE_OPERAND);
    scope = parent ? LLVMValueAsMetadata(parent) : NULL;
  }
  return scope ? LLVMMetadataAsValue(context, scope) : NULL;
}

const char *ws_pass_region_of(LLVMValueRef instruction) {
  LLVMValueRef function =
      LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
  LLVMValueRef subprogram =
      location ? scope_subprogram(context, LLVMDILocationGetScope(location))
               : NULL;
  const char *region = NULL;
  if (subprogram)
    region = text_operand(subprogram, LINKAGE_NAME_OPERAND);
  if (subprogram && !region)
    region = text_operand(subprogram, NAME_OPERAND);
  size_t size;
  return region ? region : LLVMGetValueName2(function, &size);
}

/* An empty text of metadata has no bytes: a size, and a null pointer. */
static bool names_file(LLVMMetadataRef node, const char *file) {
  unsigned name_size, directory_size;
  const char *name = LLVMDIFileGetFilename(node, &name_size);
  LLVMDIFileGetDirectory(node, &directory_size);
  return directory_size == 0 && name_size == strlen(file) &&
         (name_size == 0 || !memcmp(name, file, name_size));
}

/* DIFile: file name and directory. */
static void set_file(LLVMContextRef context, LLVMValueRef node,
                     const char *file) {
  LLVMReplaceMDNodeOperandWith(
      node, 0, LLVMMDStringInContext2(context, file, strlen(file)));
  LLVMReplaceMDNodeOperandWith(node, 1, LLVMMDStringInContext2(context, "", 0));
}

void ws__pass_set_file(LLVMModuleRef module, const char *file) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  if (!has_own_lines(module))
    attach_lines(module, NULL, file);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    LLVMMetadataRef scope = LLVMGetSubprogram(f);
    LLVMMetadataRef node = scope ? LLVMDIScopeGetFile(scope) : NULL;
    if (node && !names_file(node, file))
      set_file(context, LLVMMetadataAsValue(context, node), file);
  }
}

void ws__pass_join_folders(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    LLVMMetadataRef scope = LLVMGetSubprogram(f);
    LLVMMetadataRef node = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned name_size, folder_size = 0;
    const char *folder =
        node ? LLVMDIFileGetDirectory(node, &folder_size) : NULL;
    if (!folder_size)
      continue;
    const char *name = LLVMDIFileGetFilename(node, &name_size);
    ws_strbuf path;
    ws_strbuf_init(&path);
    ws_strbuf_printf(&path, "%.*s/%.*s", (int)folder_size, folder,
                     (int)name_size, name);
    LLVMContextRef context = LLVMGetModuleContext(module);
    set_file(context, LLVMMetadataAsValue(context, node), path.data);
    ws_strbuf_deinit(&path);
  }
}

void ws__pass_set_region(LLVMValueRef function, const char *region) {
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  if (!subprogram)
    return;
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMReplaceMDNodeOperandWith(
      LLVMMetadataAsValue(context, subprogram), LINKAGE_NAME_OPERAND,
      LLVMMDStringInContext2(context, region, strlen(region)));
}
