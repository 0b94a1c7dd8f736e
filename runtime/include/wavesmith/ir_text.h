/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * LLVM IR as text: its tokens, over comments, strings and brackets. For those
 * who must find names and functions in a text that LLVM has not read, or may
 * not be able to. Linear, and any bytes will do.
 *
 * Threads: thread-safe; a position belongs to its caller.
 */
#ifndef WAVESMITH_IR_TEXT_H
#define WAVESMITH_IR_TEXT_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_ir_token {
  const char *begin, *end;
} ws_ir_token;

/* The next token: a string, a word or number, '@' '%' '!' '#' with the name
 * behind it (`@dot`, `@"dot"`, `!12`), or one other character. false at the
 * end. */
bool ws_ir_next_token(const char **at, ws_ir_token *out_token);
/* Steps over one token and, if that opens a bracket, all up to its end; the
 * last token is the first one or the bracket's end. false: the text ends. */
bool ws_ir_skip_balanced(const char **at, ws_ir_token *out_last);
bool ws_ir_is_word(const ws_ir_token *token, const char *word);
/* @name or @"name"; the name, not NUL-terminated. */
bool ws_ir_symbol_name(const ws_ir_token *token, const char **out_name,
                       size_t *out_size);
bool ws_ir_is_symbol(const ws_ir_token *token, const char *name);

#ifdef __cplusplus
}
#endif
#endif
