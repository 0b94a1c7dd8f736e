/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens WavesmithMLIR.so beside this program, and finds the lines of a
 * template's declarations, which MLIR does not keep.
 */
#include "mlir/front.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the library -----------------------------------------------------------
 */

static const char *library_path(ws_arena *arena) {
  char *folder;
  ws_diag ignored;
  const bool known = ws_program_directory(arena, &folder, &ignored) == WS_OK;
  return ws_arena_printf(arena, "%s/WavesmithMLIR.so", known ? folder : ".");
}

bool ws__mlir_is_there(void) {
  ws_arena *arena = ws_arena_create();
  bool there = access(library_path(arena), R_OK) == 0;
  ws_arena_destroy(arena);
  return there;
}

static ws_mlir_lower_function *open_library(ws_arena *arena,
                                            const char **out_why) {
  static ws_mlir_lower_function *lower;
  if (lower)
    return lower;
  void *library = dlopen(library_path(arena), RTLD_NOW | RTLD_LOCAL);
  if (library)
    *(void **)&lower = dlsym(library, "ws_mlir_lower");
  if (!lower)
    *out_why = dlerror();
  return lower;
}

LLVMModuleRef ws__mlir_front(LLVMContextRef context,
                             const ws_mlir_request *request,
                             ws_findings *findings) {
  const char *why = "";
  ws_mlir_lower_function *lower = open_library(findings->arena, &why);
  if (lower)
    return lower(context, request, findings);
  ws_findings_add(findings, "mlir-missing", "", request->file, 0,
                  "there is no MLIR in this wavesmith (%s); `wavesmith doctor` "
                  "says what it needs",
                  why);
  return NULL;
}

/* ---- lines
 * ------------------------------------------------------------------- */

typedef struct scan {
  const char *at;
  int line;
} scan;

/* Over one character, or over a comment or a text as a whole. */
static void step(scan *s) {
  if (s->at[0] == '/' && s->at[1] == '/') {
    s->at += strcspn(s->at, "\n");
    return;
  }
  if (*s->at == '"')
    for (s->at++; *s->at && *s->at != '"'; s->at++) {
      s->line += *s->at == '\n';
      s->at += s->at[0] == '\\' && s->at[1];
    }
  if (!*s->at)
    return;
  s->line += *s->at == '\n';
  s->at++;
}

/* To the word where it is no text and no comment; false: it is not there. */
static bool find_word(scan *s, const char *word) {
  const size_t size = strlen(word);
  while (*s->at && strncmp(s->at, word, size))
    step(s);
  if (!*s->at)
    return false;
  s->at += size;
  return true;
}

/* To the opening of the index-th list within the list that comes. */
static void find_node(scan *s, int index) {
  int depth = 0;
  for (; *s->at; step(s)) {
    depth += (*s->at == '[') - (*s->at == ']');
    if (*s->at == '[' && depth == 2 && index-- == 0)
      return;
    if (*s->at == ']' && depth == 0)
      return;
  }
}

/* Of kinds that are declared on functions the index-th word is meant. */
int ws__mlir_record_line(void *text, const char *kind, int index) {
  static const char *const on_functions[] = {"launch", "region", "variant"};
  char word[64];
  scan s = {text, 1};
  snprintf(word, sizeof word, "wavesmith.%s", kind);
  bool each = false;
  for (int i = 0; i < 3; i++)
    each |= !strcmp(kind, on_functions[i]);
  if (!find_word(&s, word))
    return 0;
  while (each && index-- > 0)
    if (!find_word(&s, word))
      return 0;
  if (!each && strcmp(kind, "template"))
    find_node(&s, index);
  return s.line;
}
