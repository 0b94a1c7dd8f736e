/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Annotations of a HIP module: clang lists them in llvm.global.annotations as
 * {subject, text, file, line, arguments}. They are read and taken away, with
 * what else stands in the module for the linker only.
 */
#include "hip.h"

#include <ctype.h>
#include <string.h>

static const char prefix[] = "wavesmith.";

static LLVMValueRef without_casts(LLVMValueRef value) {
  while (LLVMIsAConstantExpr(value))
    value = LLVMGetOperand(value, 0);
  return value;
}

static const char *string_of(ws_arena *arena, LLVMValueRef pointer) {
  LLVMValueRef global = without_casts(pointer);
  LLVMValueRef value =
      LLVMIsAGlobalVariable(global) ? LLVMGetInitializer(global) : NULL;
  size_t size = 0;
  if (!value || !LLVMIsConstantString(value))
    return "";
  const char *text = LLVMGetAsString(value, &size);
  return ws_arena_strndup(arena, text, strnlen(text, size));
}

static bool is_record(LLVMValueRef global) {
  size_t size;
  return LLVMIsAGlobalVariable(global) &&
         strstr(LLVMGetValueName2(global, &size), "ws__record_");
}

static void add_note(ws_hip *h, LLVMValueRef entry) {
  const char *text =
      string_of(h->findings->arena, LLVMGetAggregateElement(entry, 1));
  if (strncmp(text, prefix, sizeof prefix - 1) || h->note_count == WS_HIP_NOTES)
    return;
  ws_hip_note *note = &h->notes[h->note_count++];
  note->subject = without_casts(LLVMGetAggregateElement(entry, 0));
  note->of = is_record(note->subject)         ? WS_HIP_RECORD
             : LLVMIsAFunction(note->subject) ? WS_HIP_FUNCTION
                                              : WS_HIP_VARIABLE;
  if (note->of == WS_HIP_RECORD)
    note->subject = NULL; /* which delete_marks deletes */
  const char *file =
      string_of(h->findings->arena, LLVMGetAggregateElement(entry, 2));
  if (!strcmp(file, h->file)) /* else it is an option's, which has no line */
    note->line =
        (int)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(entry, 3));
  char *at = ws_arena_strdup(h->findings->arena, text + sizeof prefix - 1);
  note->kind = strsep(&at, "\n");
  while (at && note->count < WS_HIP_FIELDS)
    note->fields[note->count++] = strsep(&at, "\n");
}

static void delete_global(LLVMModuleRef module, const char *name) {
  LLVMValueRef global = LLVMGetNamedGlobal(module, name);
  if (global)
    LLVMDeleteGlobal(global);
}

/* What only the list of used symbols held. */
static void delete_marks(LLVMModuleRef module) {
  for (LLVMValueRef next, g = LLVMGetFirstGlobal(module); g; g = next) {
    size_t size;
    next = LLVMGetNextGlobal(g);
    bool hip_id = !strncmp(LLVMGetValueName2(g, &size), "__hip_cuid_", 11);
    if (!hip_id && !is_record(g))
      continue;
    LLVMReplaceAllUsesWith(g, LLVMGetPoison(LLVMTypeOf(g))); /* dead casts */
    LLVMDeleteGlobal(g);
  }
}

void ws__hip_read_notes(ws_hip *h) {
  LLVMValueRef list = LLVMGetNamedGlobal(h->module, "llvm.global.annotations");
  h->notes =
      ws_arena_alloc(h->findings->arena, WS_HIP_NOTES * sizeof *h->notes);
  if (list) {
    LLVMValueRef entries = LLVMGetInitializer(list);
    unsigned count =
        (unsigned)LLVMGetArrayLength2(LLVMGlobalGetValueType(list));
    for (unsigned i = 0; i < count; i++)
      add_note(h, LLVMGetAggregateElement(entries, i));
  }
  delete_global(h->module, "llvm.global.annotations");
  delete_global(h->module, "llvm.compiler.used");
  delete_global(h->module, "llvm.used");
  delete_marks(h->module);
}

const ws_hip_note *ws__hip_find_note(const ws_hip *h, const char *kind,
                                     const char *field) {
  for (int i = 0; i < h->note_count; i++)
    if (!strcmp(h->notes[i].kind, kind) &&
        (!field ||
         (h->notes[i].count && !strcmp(h->notes[i].fields[0], field))))
      return &h->notes[i];
  return NULL;
}

static bool is_word_character(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* The bytes of a comment or a string that begins here; 0: none does. */
static size_t no_code(const char *at) {
  const char *end = NULL;
  if (!strncmp(at, "//", 2))
    return strcspn(at, "\n");
  if (!strncmp(at, "/*", 2))
    end = strstr(at + 2, "*/");
  for (const char *c = at + 1; *at == '"' && *c && *c != '\n' && !end; c++) {
    if (*c == '"')
      end = c - 1;
    c += *c == '\\' && c[1];
  }
  return end ? (size_t)(end + 2 - at) : 0;
}

int ws__hip_line_of(const ws_hip *h, const char *word) {
  size_t size = strlen(word), skipped;
  int line = 1;
  for (const char *at = h->text; size && *at; at++) {
    for (skipped = no_code(at); skipped > 0; skipped--)
      line += *at++ == '\n';
    if (!*at)
      break;
    line += *at == '\n';
    if (!strncmp(at, word, size) && !is_word_character(at[size]) &&
        (at == h->text || !is_word_character(at[-1])))
      return line;
  }
  return 0;
}
