/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Language models as proposers: who answers (members), what is asked (prompts),
 * what comes back (replies). No search here: search/ fills prompts in and
 * judges what replies hold.
 *
 * A member is named by a spec:
 *   openai:BASE_URL#MODEL      chat completions, as llama.cpp, vLLM, SGLang,
 *                              Ollama and the vendor serve them
 *   anthropic:[BASE_URL]#MODEL   gemini:[BASE_URL]#MODEL
 *   exchange:DIR               each prompt is a file, the answer is a file
 *   replay:FILE                a recording; every prompt must be the recorded
 *   replay-any:FILE            a recording; prompts may differ
 *   builtin                    no model: the search's own moves
 * followed by any of ;weight=W ;price=IN/OUT (USD per million tokens)
 * ;key=ENVIRONMENT_VARIABLE ;key-file=PATH ;stream ;max-reply-tokens=N
 * ;temperature=T. Keys come from the environment or from a file that only its
 * owner can read; they are in no log, error, archive or command line.
 *
 * One thread; nothing here blocks longer than a call to the network's library
 * needs to start, except where said.
 */
#ifndef WAVESMITH_LLM_H
#define WAVESMITH_LLM_H

#include "wavesmith/problem.h"
#include "wavesmith/template.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is wanted. The first five and write ask for a candidate, the others for
 * a document. */
#define WS_REQUEST_MAP(X)                                                      \
  X(EXPLORE, "explore")     /* something new */                                \
  X(EXPLOIT, "exploit")     /* one improvement of a parent */                  \
  X(CROSSOVER, "crossover") /* the best of two parents */                      \
  X(REPAIR, "repair")       /* mend what failed, shown with the findings */    \
  X(WRITE, "write")         /* implement one designed experiment */            \
  X(SELECT, "select")       /* choose a base and a reference */                \
  X(DESIGN, "design")       /* ten avenues, five rated experiments */          \
  X(DISTIL, "distil")       /* findings so far, as a document */
typedef enum ws_request_kind {
#define WS_REQUEST_ENUM(name, text) WS_REQUEST_##name,
  WS_REQUEST_MAP(WS_REQUEST_ENUM)
#undef WS_REQUEST_ENUM
      WS_REQUEST_COUNT
} ws_request_kind;
const char *ws_request_text(ws_request_kind kind);
bool ws_request_parse(const char *text, ws_request_kind *out_kind);
bool ws_request_is_document(ws_request_kind kind);

/* ---- members (llm/llm.c) ---------------------------------------------------
 */
typedef struct ws_llm ws_llm;

typedef struct ws_llm_options {
  const char *const *specs;
  int spec_count;
  double request_seconds; /* one attempt; <= 0: 300; exchange waits for ever */
  double total_seconds;   /* a question with its retries; <= 0: 900 */
  int retries;            /* of one question; < 0: 4 */
  int64_t reply_bytes;    /* of one HTTP body; <= 0: 4 MiB */
  int64_t token_budget;   /* prompt and reply, of all questions; < 0: none */
  double usd_budget;      /* < 0: none; a member without price costs 0 */
} ws_llm_options;

typedef struct ws_llm_member {
  const char *name;       /* "openai:qwen3", "exchange", "builtin" */
  double weight;          /* > 0 */
  double usd_in, usd_out; /* per million tokens; < 0: unknown */
} ws_llm_member;

typedef struct ws_llm_question {
  ws_request_kind kind;
  int64_t sequence; /* of the request in its run; unique there */
  const char *system, *user;
  int64_t ordinal; /* questions of the run before it; for replay-any */
} ws_llm_question;

typedef struct ws_llm_answer {
  int64_t sequence;
  int member;
  const char *text;  /* "" when there is none */
  const char *error; /* "" or why there is no text, in one line, no secrets */
  int64_t prompt_tokens, reply_tokens; /* as the server says; else bytes / 4 */
  double usd, seconds;
  int attempts;
  bool cut_off; /* the reply hit its token limit */
} ws_llm_answer;

typedef struct ws_llm_spent {
  int64_t questions, prompt_tokens, reply_tokens;
  double usd;
  const char *exhausted; /* "" or which budget has run out, in words */
} ws_llm_spent;

/* WS_USAGE: a spec that cannot be read, or an unknown provider (the diag lists
 * them); WS_INPUT: a recording that cannot be read; WS_ENVIRONMENT: no key, an
 * unsafe key file, no folder. Nothing is sent yet. A replay must be the only
 * member; it then stands for the members that its recording names, so that
 * choices among them fall as they fell. */
ws_status ws_llm_open(const ws_llm_options *options, ws_llm **out_llm,
                      ws_diag *diag) WS_MUST_CHECK;
void ws_llm_close(ws_llm *llm); /* drops what is in flight; NULL is allowed */
int ws_llm_member_count(const ws_llm *llm);
const ws_llm_member *ws_llm_member_at(const ws_llm *llm, int member);
bool ws_llm_is_builtin(const ws_llm *llm, int member);

/* Starts a question; copies it. WS_INPUT: the prompt is not the one that the
 * recording has under this sequence (the diag says what differs). A member that
 * cannot be reached is an answer with an error, not a status. After a budget
 * has run out every answer is that error. */
ws_status ws_llm_ask(ws_llm *llm, int member, const ws_llm_question *question,
                     ws_diag *diag) WS_MUST_CHECK;
/* Moves everything in flight on, then gives one answer if there is one. Never
 * waits. Texts live in the arena. */
ws_status ws_llm_take(ws_llm *llm, ws_arena *arena, bool *out_found,
                      ws_llm_answer *out_answer, ws_diag *diag) WS_MUST_CHECK;
ws_llm_spent ws_llm_spent_so_far(const ws_llm *llm);

/* The hash that recordings and archives keep of a prompt. */
ws_hash ws_llm_prompt_hash(const char *system, const char *user);

/* ---- recordings (llm/recording.c): JSON lines ------------------------------
 * {"wavesmith_recording":1,"members":[{"name":..,"weight":..}]}
 * {"sequence":3,"kind":"exploit","member":0,"prompt_hash":"..","reply":"..",
 *  "error":"","prompt_tokens":..,"reply_tokens":..,"usd":..,"seconds":..}
 * in order of sequence; "system" and "user" may be there too. */
typedef struct ws_recorded {
  int64_t sequence;
  const char *kind, *prompt_hash, *reply, *error;
  const char *system, *user; /* NULL: left out */
  int member;
  int64_t prompt_tokens, reply_tokens;
  double usd, seconds;
} ws_recorded;
typedef struct ws_recording {
  const ws_llm_member *members;
  int member_count;
  const ws_recorded *items;
  int count;
} ws_recording;
ws_status ws_recording_read(ws_arena *arena, const char *path,
                            ws_recording *out_recording,
                            ws_diag *diag) WS_MUST_CHECK;
ws_status ws_recording_write(const char *path, const ws_recording *recording,
                             ws_diag *diag) WS_MUST_CHECK;

/* ---- prompts (llm/prompt.c, llm/prompts/) -----------------------------------
 * One text file per kind and one "system.txt", with {{section}} where a section
 * goes. They are part of the program; a folder given replaces them file by
 * file. The version is the first line, "# version N". */
typedef struct ws_prompt_section {
  const char *name; /* as in {{name}} */
  /* "": left out with its heading. NULL: the prompts' own text of that name
   * (target, reply_format, template_again), as if it were not given. */
  const char *text;
  /* 0: is never cut. Else the higher is cut first, at a line's end, and a
   * sentence says how much is missing. */
  int expendable;
} ws_prompt_section;

typedef struct ws_prompt {
  const char *system, *user;
  const char *version; /* "exploit 1, system 1, reply_format 1, target 1" */
  const char *cut;     /* "" or what was cut: "lineage 3100 bytes; facts ..." */
} ws_prompt;

typedef struct ws_prompts ws_prompts; /* the texts */
/* folder NULL: the program's own. Of target and the language that the template
 * is written in ("" for none) there may be texts of their own, which go before
 * NAME.txt: NAME_TARGET_LANGUAGE.txt, NAME_LANGUAGE.txt, NAME_TARGET.txt. Both
 * are kept as they are given. WS_INPUT: a file that names an unknown section, or
 * lacks its version. */
ws_status ws_prompts_open(ws_arena *arena, const char *folder,
                          const char *target, const char *language,
                          const ws_prompts **out_prompts,
                          ws_diag *diag) WS_MUST_CHECK;
/* The texts as they are, to be shown: "system", the kinds in order, then the
 * sections that have a text. NULL: there is none of this index. */
typedef struct ws_prompt_text {
  const char *name, *text; /* text without the version's line */
  int version;
} ws_prompt_text;
const ws_prompt_text *ws_prompts_at(const ws_prompts *prompts, int index);
enum { WS_PROMPT_BYTES = 128 * 1024 }; /* default budget, system and user */
/* WS_INPUT: even with all that may be cut gone it does not fit. */
ws_status ws_prompt_render(ws_arena *arena, const ws_prompts *prompts,
                           ws_request_kind kind,
                           const ws_prompt_section *sections, int count,
                           size_t budget_bytes, ws_prompt *out_prompt,
                           ws_diag *diag) WS_MUST_CHECK;

/* ---- what a problem and a candidate say of themselves (llm/describe.c) ------
 * Sections of prompts, in words, in the arena. */
/* Definition, arguments, layout. */
char *ws_describe_problem(ws_arena *arena, const ws_problem *problem,
                          int layout);
/* What pays in it on the target; "": nothing is said. */
char *ws_describe_advice(ws_arena *arena, const ws_problem *problem,
                         const char *target);
/* Purpose, parameters with the candidate's values, constraints, launches. */
char *ws_describe_template(ws_arena *arena, const ws_candidate *candidate);
/* Contracts and shipped variants of these regions, in this order. */
char *ws_describe_regions(ws_arena *arena, const ws_candidate *candidate,
                          const int *regions, int count);
/* The texts of these regions as edits apply to them. */
char *ws_describe_code(ws_arena *arena, const ws_candidate *candidate,
                       const char *template_text, const int *regions,
                       int count);
/* A fenced block with text, closed by a fence that text does not have. */
void ws_describe_fenced(ws_strbuf *out, const char *language, const char *text);

/* ---- replies (llm/reply.c)
 * --------------------------------------------------- Grammar: docs/llm.md.
 * Markdown: "## SECTION" headings, fenced blocks. Lenient in form (heading
 * levels, case, fences, blanks, talk around it), strict in content: an unknown
 * region, two bodies of one region, an edit without its other half, two
 * candidates in one reply are WS_INPUT with one line that says what and where.
 */
typedef struct ws_reply_edit {
  const char *search, *replace;
  /* Lines of the text before any edit, from 1 on; search repeats their
   * beginning. 0: search is all that is replaced, wherever that is. */
  int first_line, last_line;
  int line; /* of the reply */
} ws_reply_edit;

typedef struct ws_reply_region {
  const char *region;   /* function; of the template: "" */
  const char *language; /* "ir", "opencl" or "hip"; edits: or "" */
  const char *body;     /* whole body; NULL: edits */
  const ws_reply_edit *edits;
  int edit_count;
  int line;
} ws_reply_region;

/* An expected effect: what ("speedup", "vgpr", "lds", "occupancy", or
 * "speedup A,B,...") lies in [low, high] afterwards. */
typedef struct ws_reply_claim {
  const char *what;
  double low, high;
} ws_reply_claim;

typedef struct ws_reply_experiment {
  const char *title, *description, *rubric;
  double gain_low, gain_high; /* speed-up, 1.1 */
  double innovation;          /* 0 to 100 */
} ws_reply_experiment;

typedef struct ws_reply {
  const char *name;      /* a label of a few words, "" */
  const char *reasoning; /* "" */
  const ws_reply_claim *claims;
  int claim_count;
  /* a candidate */
  const char *parameters; /* "tile_m=128;tile_n=64"; "" */
  const ws_reply_region *regions;
  int region_count;
  const ws_reply_region *template_code; /* NULL: none */
  /* documents */
  const char *base, *reference; /* select: candidates' ids or prefixes; "" */
  const char *const *avenues;   /* design */
  int avenue_count;
  const ws_reply_experiment *experiments;
  int experiment_count;
  const char *findings; /* distil; "" */
} ws_reply;

/* WS_INPUT: the reply does not hold what the kind asks for. */
ws_status ws_reply_parse(ws_arena *arena, const char *text,
                         ws_request_kind kind, ws_reply *out_reply,
                         ws_diag *diag) WS_MUST_CHECK;

/* The text of a function of LLVM IR, from "define" to its closing brace, in the
 * arena; NULL: there is none. *out_line: where it begins. */
char *ws_ir_function_text(ws_arena *arena, const char *module_text,
                          const char *function, int *out_line);

/* A function of a template in whatever it is written, likewise. */
char *ws_function_text(ws_arena *arena, const char *text, const char *function,
                       int *out_line);

/* A parent with a reply's parameters and regions: WS_INPUT for an unknown
 * parameter, a value that is not allowed, an unknown region, an edit that does
 * not match exactly once (the diag shows the nearest place). Edits apply to the
 * text that the parent has for the region: its own body, its variant's, or the
 * template's; the latter two come from template_text and are renamed to the
 * region. Constraints are not checked. */
ws_status ws_reply_apply(ws_arena *arena, const ws_reply *reply,
                         const ws_candidate *parent, const char *template_text,
                         ws_candidate **out_candidate,
                         ws_diag *diag) WS_MUST_CHECK;
/* The text of the template that a reply gives, "ir" or "opencl": whole, or as
 * edits of base_text (as written: ws_template_written_text), which match as
 * those of a region do. */
ws_status ws_reply_template_text(ws_arena *arena, const ws_reply *reply,
                                 const char *base_text, const char **out_text,
                                 const char **out_language,
                                 ws_diag *diag) WS_MUST_CHECK;
/* What a reply's parameters and regions apply to once its template is
 * described: tmpl, with its text as written. After edits the parent's values
 * that tmpl allows, and its bodies of regions that the edits left as they were
 * in parent_text, which is the parent's as written. */
ws_candidate *ws_reply_template_parent(ws_arena *arena, const ws_reply *reply,
                                       const ws_candidate *parent,
                                       const char *parent_text,
                                       const ws_template *tmpl,
                                       const char *text);
/* The text that edits apply to; *out_language "ir", "opencl" or "hip". NULL:
 * the template has no such function. */
const char *ws_region_text(ws_arena *arena, const ws_candidate *candidate,
                           const char *template_text, int region,
                           const char **out_language);

#ifdef __cplusplus
}
#endif
#endif
