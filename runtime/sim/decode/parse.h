/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the three files that read a line of disassembly share:
 * parse_instruction.c (mnemonic and the order of operands), parse_operand.c
 * (one operand), parse_modifier.c (what follows the operands).
 */
#ifndef WAVESMITH_SIM_PARSE_H
#define WAVESMITH_SIM_PARSE_H

#include "decode.h"

/* A piece of the line, without blanks around it. */
typedef struct ws_span {
  const char *begin, *end;
} ws_span;

static inline size_t ws_span_size(ws_span span) {
  return (size_t)(span.end - span.begin);
}
static inline bool ws_span_is(ws_span span, const char *text) {
  return ws_span_size(span) == strlen(text) &&
         !memcmp(span.begin, text, ws_span_size(span));
}
static inline bool ws_span_starts(ws_span span, const char *text) {
  return ws_span_size(span) >= strlen(text) &&
         !memcmp(span.begin, text, strlen(text));
}
/* Cuts off the part up to the first `stop` that is not within brackets; the
 * rest starts after it. stop ' ' means any blank. */
ws_span ws__cut(ws_span *rest, char stop);
/* Decimal or hexadecimal, with a sign; false: not a whole number that fits. */
bool ws__read_integer(ws_span span, int64_t *out);
/* "name(a, b)" or "name:[a,b]" without the name: at most max whole numbers
 * between the brackets; -1: something else. */
int ws__read_list(ws_span span, int64_t *out, int max);

/* One operand of the type out->type; select is left alone. in: gets imm and
 * imm2 of hwreg(). */
bool ws__read_operand(ws_span span, ws_operand *out, ws_instruction *in);
/* "vmcnt(0) lgkmcnt(1)" as the 16 bits of s_waitcnt. */
bool ws__read_waitcnt(ws_span span, int64_t *out);

/* Is this the name of a modifier, with or without ":value"? */
bool ws__is_modifier(ws_span span);
/* One modifier into the instruction. sources: how many sources the text
 * names. */
bool ws__read_modifier(ws_span span, int sources, ws_instruction *out);

#endif
