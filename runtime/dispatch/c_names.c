/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Whether NAME can stand in the emitted C as it does: NAME itself, NAME_select
 * and NAME_explain are global there. What the C library and others that this
 * program is linked with define, the linker would take from them (`exit`); what
 * the emitted file names itself would not compile (`candidates`).
 */
#include "dispatch_internal.h"
#include "wavesmith/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const suffixes[] = {"", "_select", "_explain"};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

static bool ends_in(const char *text, const char *end) {
  size_t size = strlen(text), end_size = strlen(end);
  return size >= end_size && !strcmp(text + size - end_size, end);
}

/* POSIX reserves types in _t; ws_ is the runtime's. */
static const char *fault_of(const char *name) {
  const char *fault = ws_name_fault(name);
  if (fault)
    return fault;
  if (ends_in(name, "_t"))
    return "ends in _t as the types of POSIX do";
  if (!strncasecmp(name, "ws_", 3))
    return "begins with ws_ as the names of wavesmith's runtime do";
  return NULL;
}

ws_status ws__check_public_name(const char *name, ws_diag *diag) {
  const char *fault = fault_of(name);
  if (fault)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "'%.80s' %s; the emitted functions are named after it, "
                   "so give another C identifier",
                   name, fault);
  for (int i = 0; i < SUFFIXES; i++) {
    char symbol[WS_NAME_MAX + sizeof "_explain"];
    snprintf(symbol, sizeof symbol, "%s%s", name, suffixes[i]);
    if (dlsym(RTLD_DEFAULT, symbol))
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is a function or variable of the C library or of "
                     "another one; give another C identifier",
                     symbol);
  }
  return WS_OK;
}

static bool is_word_character(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Bytes of the token of C at text: a comment, a literal, a word or number, or
 * any other character. */
static size_t token_size(const char *text) {
  size_t size = 1;
  if (text[0] == '/' && text[1] == '*')
    return (size_t)(strstr(text + 2, "*/") + 2 - text);
  if (text[0] == '"') {
    for (; text[size] != '"'; size++)
      size += text[size] == '\\';
    return size + 1;
  }
  while (is_word_character(text[0]) && is_word_character(text[size]))
    size++;
  return size;
}

static bool mentions(const char *text, const char *name) {
  for (size_t size; *text; text += size) {
    size = token_size(text);
    if (size == strlen(name) && !memcmp(text, name, size))
      return true;
  }
  return false;
}

ws_status ws__check_unused_name(const char *name, const ws_strbuf *text,
                                ws_diag *diag) {
  for (int i = 0; i < SUFFIXES; i++) {
    char symbol[WS_NAME_MAX + sizeof "_explain"];
    snprintf(symbol, sizeof symbol, "%s%s", name, suffixes[i]);
    if (mentions(text->data, symbol))
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is a name that the emitted C uses itself; give "
                     "another C identifier",
                     symbol);
  }
  return WS_OK;
}
