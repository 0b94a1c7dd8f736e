/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Text that others wrote: a model, a server, a file, a template. Names follow
 * one rule wherever they come from; any other text may be shown to people, but
 * must do nothing to their terminal.
 *
 * Threads: all of it may be called by any thread but ws_terminal_guard, which
 * main calls before there is a second one.
 */
#ifndef WAVESMITH_TEXT_H
#define WAVESMITH_TEXT_H

#include "wavesmith/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names (base/name.c) ---- */
/* As many characters of a name as C99 tells apart (5.2.4.1). */
enum { WS_NAME_MAX = 63 };
/* A name is what may stand unquoted in C, OpenCL, SQL, JSON, a file name, a
 * command line and on a terminal: an ASCII letter or _, then letters, digits
 * and _, at most WS_NAME_MAX; no word of C or C++, none that C
 * reserves (__x, _X), no macro that its headers or compilers define.
 * NULL when text is a name; else what is wrong with it, to be read after it:
 * "'a-b' has other characters than letters, digits and _". Static. */
const char *ws_name_fault(const char *text);
/* The same for names joined by dots, as LLVM's globals have them ("ws.tile_m")
 * and versions ("1.2", whose parts may begin with a digit). */
const char *ws_dotted_name_fault(const char *text);

/* ---- showing text (base/text.c) ---- */
/* Bytes of the UTF-8 character (RFC 3629: nothing overlong, no surrogate,
 * nothing above U+10FFFF) at text, of which left > 0 bytes are there. 0: it is
 * none. */
size_t ws_text_character(const char *text, size_t left);
bool ws_text_is_utf8(const char *text, size_t size);
/* The most bytes, at most limit, that end in no half character. */
size_t ws_text_cut(const char *text, size_t size, size_t limit);
/* Appends text as a terminal may get it. Controls (C0, DEL, C1), characters
 * that turn the direction of writing, hide, or end a line without being a line
 * end become \uXXXX, as JSON writes them: within JSON text, which has them in
 * strings alone, the value stays the same. Bytes that are no UTF-8 become
 * U+FFFD. Tabs and line ends stay, or with one_line become blanks. */
void ws_text_show(ws_strbuf *out, const char *text, size_t size, bool one_line);

/* Columns of a terminal: characters of UTF-8. */
int ws_text_width(const char *text, size_t size);
/* Prints text as of ws_text_show in one line, broken at blanks into lines of at
 * most width columns, and ends the last. The first begins at column, where out
 * stands; those after it with indent blanks. A word is never broken. */
void ws_text_print_wrapped(FILE *out, int width, int column, int indent,
                           const char *text);

/* ---- terminal (base/terminal.c) ---- */
/* From now on what this program prints on stdout and stderr goes through
 * ws_text_show. First thing in main. */
void ws_terminal_guard(void);
/* One line of progress on stderr: drawn over the last one where that is a
 * terminal (cut to its width; a last line ends), a line of its own elsewhere.
 */
void ws_terminal_progress(const char *line, bool last);

#ifdef __cplusplus
}
#endif
#endif
