/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Names that a model, an archive or a server may send, each to break out of
 * one place where names end up.
 */
#ifndef WAVESMITH_HOSTILE_NAMES_H
#define WAVESMITH_HOSTILE_NAMES_H

#include <stddef.h>
#include <string.h>

static const char *const hostile_texts[] = {
    "",
    "k\",0,0,0,0,0,0,0}};__attribute__((constructor))static void "
    "x(void){system("
    "\"id\");}//",
    "\"; system(\"id\"); \"",
    "*/ __attribute__((constructor)) void evil(void) {} /*",
    "**//",
    "?\?/\"",
    "?\?)",
    "a\\",
    "\\\"",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "a b",
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\xc2\x9b"
    "2J",
    "\x9b"
    "2J",
    "\x7f",
    "a\xe2\x80\xae"
    "b",
    "a\xe2\x80\x8b"
    "b",
    "\xef\xbb\xbf"
    "a",
    "\xc3\xa9",
    "../../x",
    "/etc/passwd",
    "..",
    "a/b",
    "a:b",
    "C:\\x",
    "-rf",
    "a-b",
    "a.b;c",
    "a=b",
    "$(id)",
    "`id`",
    "a;b",
    "a|b",
    "%s%n",
    "' OR 1=1 --",
    "x'); DROP TABLE candidate; --",
    "</script><script>alert(1)</script>",
    "<!--",
    "&lt;",
    "${CMAKE_BINARY_DIR}",
    "9a",
    "int",
    "while",
    "_Bool",
    "__attribute__",
    "__x",
    "class",
    "template",
    "NULL",
    "linux",
    "\xff\xfe",
};
enum { HOSTILE_TEXTS = sizeof hostile_texts / sizeof *hostile_texts };
/* And one of 10,000 letters. */
#define HOSTILE_NAMES ((size_t)HOSTILE_TEXTS + 1)

static inline const char *hostile_name(size_t index) {
  static char longest[10001];
  if (index < HOSTILE_TEXTS)
    return hostile_texts[index];
  memset(longest, 'a', sizeof longest - 1);
  return longest;
}

#endif
