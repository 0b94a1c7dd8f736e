/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What to make of text that a server sent.
 */
#ifndef WAVESMITH_LLM_HTTP_TEXT_H
#define WAVESMITH_LLM_HTTP_TEXT_H

#include "wavesmith/base.h"

/* One printable line of at most limit bytes: control bytes become blanks, runs
 * of blanks one, what is not UTF-8 '?'; "..." shows a cut. */
char *ws__text_one_line(ws_arena *arena, const char *text, size_t limit);

#endif
