/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a region's body and a template may be written in, and how the names of
 * their files end.
 */
#include "wavesmith/template.h"

#include <string.h>

static const struct language {
  const char *name, *ending, *fence;
} languages[] = {{"ir", "ll", "llvm"},
                 {"opencl", "cl", "c"},
                 {"hip", "hip", "c"},
                 {"mlir", "mlir", "mlir"}};
enum { LANGUAGES = sizeof languages / sizeof languages[0] };

const char *ws_language_ending(const char *language) {
  for (int i = 0; i < LANGUAGES; i++)
    if (!strcmp(languages[i].name, language))
      return languages[i].ending;
  return NULL;
}

const char *ws_language_of_ending(const char *ending) {
  for (int i = 0; i < LANGUAGES; i++)
    if (!strcmp(languages[i].ending, ending))
      return languages[i].name;
  return NULL;
}

const char *ws_language_fence(const char *language) {
  for (int i = 0; i < LANGUAGES; i++)
    if (!strcmp(languages[i].name, language))
      return languages[i].fence;
  return "";
}

static bool has_define(const char *text) {
  static const char begins[] = "define ";
  while (*text) {
    text += strspn(text, " \t");
    if (!strncmp(text, begins, sizeof begins - 1))
      return true;
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return false;
}

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"

static bool begins(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

/* "!name = " or "#name = "; not a node of LLVM IR's metadata. */
static bool is_alias(const char *text) {
  if (*text != '!' && *text != '#')
    return false;
  text++;
  text += strspn(text, WORD ".");
  text += strspn(text, " \t");
  if (*text++ != '=')
    return false;
  text += strspn(text, " \t\r\n");
  return !begins(text, "!{") && !begins(text, "!DI") &&
         !begins(text, "distinct ");
}

/* "module {", "module @name", "module attributes", but not "module asm". */
static bool is_module(const char *text) {
  static const char module[] = "module", assembly[] = "asm";
  if (!begins(text, module))
    return false;
  text += sizeof module - 1;
  const size_t blanks = strspn(text, " \t\r\n");
  return (blanks || *text == '{' || *text == '@') &&
         !begins(text + blanks, assembly);
}

/* "gpu.module": no text in LLVM IR or C begins so. */
static bool is_operation(const char *text) {
  const size_t dialect = strspn(text, WORD);
  return dialect && (*text < '0' || *text > '9') && text[dialect] == '.' &&
         strspn(text + dialect + 1, WORD);
}

/* Behind comments an operation, in its own form or the generic one, an alias,
 * or what a file has beside them; or bytecode. */
static bool is_mlir(const char *text) {
  if (begins(text, "\xef\xbb\xbf")) /* an editor's mark of UTF-8 */
    text += 3;
  text += strspn(text, " \t\r\n");
  while (begins(text, "//")) {
    text += strcspn(text, "\n");
    text += strspn(text, " \t\r\n");
  }
  return is_alias(text) || is_module(text) || is_operation(text) ||
         *text == '"' || begins(text, "{-#") || begins(text, "ML\xefR");
}

const char *ws_template_language(const char *text) {
  if (is_mlir(text))
    return "mlir";
  const bool has_words = strstr(text, "WS_") || strstr(text, "kernel void");
  return has_words && !has_define(text) ? "opencl" : "ir";
}

const char *ws_template_fence(const char *text) {
  return ws_language_fence(ws_template_language(text));
}

const char *ws_template_written_text(const ws_template *tmpl,
                                     const char *template_text) {
  const char *dot = tmpl->source_file ? strrchr(tmpl->source_file, '.') : NULL;
  const char *language = dot ? ws_language_of_ending(dot + 1) : NULL;
  return language && !strcmp(language, "opencl") ? tmpl->source_text
                                                 : template_text;
}
