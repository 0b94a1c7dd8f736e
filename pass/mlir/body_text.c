/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a body's text may not have, seen before MLIR reads it in a module:
 *   loc(...)   a finding would name another line than the one it is of, to
 *              whoever reads it
 *   }          that closes that module
 */
#include "declare.h"

#include <string.h>

static const char word_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"
                                 "STUVWXYZ0123456789_.$-";

/* Behind the comment, quoted text or word that begins here, or one byte. */
static const char *end_of_item(const char *at) {
  if (at[0] == '/' && at[1] == '/')
    return at + strcspn(at, "\n");
  if (*at == '"') {
    for (at++; *at && *at != '"'; at++)
      at += at[0] == '\\' && at[1];
    return *at ? at + 1 : at;
  }
  const bool has_sign = strchr("%@#!^", *at);
  const size_t size = strspn(at + has_sign, word_bytes);
  return at + (size + has_sign ? size + has_sign : 1);
}

static bool is_loc(const char *at, const char *end) {
  return end - at == 3 && !memcmp(at, "loc", 3) &&
         end[strspn(end, " \t\r\n")] == '(';
}

/* NULL: the item may be there. */
static const char *fault_of(const char *at, const char *end, int *depth) {
  *depth += (*at == '{') - (*at == '}');
  return is_loc(at, end)
             ? "take out loc(...): findings name the places of this text"
         : *depth < 0 ? "this brace closes more than the body opens"
                      : NULL;
}

bool ws__mlir_check_body_text(ws_mlir *m, const char *text) {
  int depth = 0;
  for (const char *at = text, *end; *at; at = end) {
    end = end_of_item(at);
    const char *fault = fault_of(at, end, &depth);
    if (!fault)
      continue;
    ws__mlir_find_at(m, text, at, "mlir", fault);
    return false;
  }
  return true;
}
