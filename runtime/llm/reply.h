/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parts of reading a reply (grammar: docs/llm.md). reply_lines.c makes the
 * text lines and sections, reply_values.c and reply_code.c read what sections
 * hold, reply.c says what a reply must have. reply_ir.c and reply_c.c cut
 * functions out of a template, reply_match.c finds where an edit belongs,
 * reply_edits.c applies all edits of a text, reply_apply.c makes the candidate.
 *
 * A reply is untrusted: all work is linear in its size, which is limited.
 */
#ifndef WAVESMITH_REPLY_H
#define WAVESMITH_REPLY_H

#include "wavesmith/llm.h"

enum {
  WS__REPLY_BYTES = 4 << 20,
  WS__REPLY_BODY_BYTES = 1 << 19,
  WS__REPLY_EDITS = 64, /* of one text */
  WS__REPLY_ITEMS = 64  /* claims, avenues, experiments */
};

/* ---- lines and sections (reply_lines.c, reply_headings.c) ---------------- */

typedef enum ws__line_kind {
  WS__LINE_TEXT,
  WS__LINE_FENCE, /* opens or closes one */
  WS__LINE_FENCED,
  WS__LINE_SEARCH, /* the signs of an edit */
  WS__LINE_MIDDLE,
  WS__LINE_REPLACE,
  WS__LINE_EDIT /* between the signs */
} ws__line_kind;

typedef struct ws__line {
  char *text; /* without its end */
  ws__line_kind kind;
} ws__line;

typedef enum ws__section_kind {
  WS__SECTION_NAME,
  WS__SECTION_REASONING,
  WS__SECTION_EXPECTED,
  WS__SECTION_PARAMETERS,
  WS__SECTION_REGION,
  WS__SECTION_TEMPLATE,
  WS__SECTION_BASE,
  WS__SECTION_REFERENCE,
  WS__SECTION_AVENUES,
  WS__SECTION_EXPERIMENT,
  WS__SECTION_FINDINGS,
  WS__SECTION_CANDIDATE, /* "## candidate 1": only there to be counted */
  WS__SECTION_COUNT
} ws__section_kind;

typedef struct ws__section {
  ws__section_kind kind;
  const char *argument; /* region: its name; experiment: its title; "" */
  const char *language; /* of code: "ir", "opencl", "hip" or "" */
  int heading;          /* line index */
  int begin, end;       /* lines of the content */
} ws__section;

typedef struct ws__reply_text {
  ws_arena *arena;
  ws__line *lines; /* line index + 1 is what messages say */
  int line_count;
  ws__section *sections;
  int section_count;
} ws__reply_text;

/* Headings of other kinds of requests are text. */
ws_status ws__reply_scan(ws_arena *arena, const char *text,
                         ws_request_kind kind, ws__reply_text *out_reply,
                         ws_diag *diag) WS_MUST_CHECK;
/* As a message says it: "## region NAME". */
const char *ws__section_text(ws__section_kind kind);
/* One that a reply has once. */
bool ws__section_is_single(ws__section_kind kind);

/* Is the line a heading of a section that the kind of request has? Fills kind,
 * argument and language; *out_value: what stands behind it on the line. */
bool ws__read_heading(ws_arena *arena, const char *line, ws_request_kind kind,
                      ws__section *out_section, const char **out_value);
/* "ir", "opencl", "hip", or NULL: the word names none. */
const char *ws__language_named(const char *word, size_t size);

/* Behind the word of "<<<<<<< LINES 120 124"; NULL: the line is no such sign.
 */
const char *ws__read_lines_sign(const char *line);

/* A fence line: its sign, how long, and the info string behind. */
typedef struct ws__fence {
  char sign;
  size_t length;
  const char *info;
} ws__fence;
bool ws__read_fence(const char *line, ws__fence *out_fence);

/* ---- text (reply_text.c) ------------------------------------------------- */

const char *ws__skip_blanks(const char *text);
bool ws__is_blank(const char *line);
/* Lines [begin, end) with their ends, in the arena. */
char *ws__join_lines(const ws__reply_text *reply, int begin, int end);
/* The same without blanks at both ends. */
char *ws__join_trimmed(const ws__reply_text *reply, int begin, int end);
/* At most limit bytes of a line without its blanks, printable, for a message.
 */
char *ws__quotable(ws_arena *arena, const char *line, size_t size,
                   size_t limit);
#define WS__REPLY_FAIL(diag, index, ...)                                       \
  ws_fail(diag, WS_INPUT, "reply", (index) + 1, __VA_ARGS__)

/* ---- what sections hold ---------------------------------------------------*/

ws_status ws__read_claims(const ws__reply_text *reply,
                          const ws__section *section, ws_reply *out_reply,
                          ws_diag *diag) WS_MUST_CHECK;
ws_status ws__read_parameters(const ws__reply_text *reply,
                              const ws__section *section, ws_reply *out_reply,
                              ws_diag *diag) WS_MUST_CHECK;
ws_status ws__read_avenues(const ws__reply_text *reply,
                           const ws__section *section, ws_reply *out_reply,
                           ws_diag *diag) WS_MUST_CHECK;
ws_status ws__read_experiment(const ws__reply_text *reply,
                              const ws__section *section, ws_reply *out_reply,
                              ws_diag *diag) WS_MUST_CHECK;
ws_status ws__read_region(const ws__reply_text *reply,
                          const ws__section *section, ws_reply *out_reply,
                          ws_diag *diag) WS_MUST_CHECK;
ws_status ws__read_template(const ws__reply_text *reply,
                            const ws__section *section, ws_reply *out_reply,
                            ws_diag *diag) WS_MUST_CHECK;

/* A function of a template in OpenCL C, from the line of its name to the end of
 * its body, in the arena; NULL: it is not defined there. */
char *ws__c_function_text(ws_arena *arena, const char *text,
                          const char *function);
/* ws_function_text of a text that is known to be in a language. */
char *ws__function_text(ws_arena *arena, const char *language, const char *text,
                        const char *function, int *out_line);
/* In C, and in MLIR, whose comments and strings are C's: behind the word,
 * comment, string or character that begins here; behind what closes the bracket
 * that stands here (NULL: nothing does). */
const char *ws__end_of_token(const char *at);
const char *ws__end_of_brackets(const char *at);

/* "1.05 1.20", "1.05-1.20", "5 % to 20 %" (per_cent: of a speed-up), from
 * *text on, which then stands behind it. */
bool ws__read_range(const char **text, bool per_cent, double *out_low,
                    double *out_high);

/* What a message calls it: "region NAME", "the template". */
const char *ws__code_name(ws_arena *arena, const ws_reply_region *code);

/* ---- edits (reply_match.c, reply_edits.c) -------------------------------- */

/* The text with the one place that the edit's search text is at replaced; where
 * is what a message calls the text. */
ws_status ws__apply_edit(ws_arena *arena, const char *text, const char *where,
                         const ws_reply_edit *edit, char **out_text,
                         ws_diag *diag) WS_MUST_CHECK;
/* All of a text's edits: those by line numbers, then the others in order. At
 * least one line must change. */
ws_status ws__apply_edits(ws_arena *arena, const ws_reply_region *code,
                          const char *text, const char **out_text,
                          ws_diag *diag) WS_MUST_CHECK;

#endif
