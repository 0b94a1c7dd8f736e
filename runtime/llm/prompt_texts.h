/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The texts of prompts: those of prompts/ as embed_prompts.cmake puts them into
 * the program, and as ws_prompts_open reads them. A *part* is a text that is a
 * section of others: reply_format, reply_repair, rules, target,
 * template_grammar, template_again.
 */
#ifndef WAVESMITH_LLM_PROMPT_TEXTS_H
#define WAVESMITH_LLM_PROMPT_TEXTS_H

#include "wavesmith/llm.h"

typedef struct ws__prompt_source {
  const char *name; /* "exploit" of exploit.txt */
  const unsigned char *text;
} ws__prompt_source;
extern const ws__prompt_source ws__prompt_sources[];
extern const int ws__prompt_source_count;

/* What {{...}} may name. */
/* clang-format off */
#define WS__SECTION_MAP(X)                                                    \
  X(advice) X(aim) X(card) X(code) X(diagnostics) X(estimate) X(facts)        \
  X(findings) X(lineage)                                                      \
  X(plan) X(population) X(problem) X(profile) X(regions) X(reply_format)      \
  X(reply_repair) X(rules) X(second) X(shapes) X(target) X(template)          \
  X(template_grammar) X(template_again)
/* clang-format on */
typedef enum ws__section {
#define WS__SECTION_ENUM(name) WS__SECTION_##name,
  WS__SECTION_MAP(WS__SECTION_ENUM)
#undef WS__SECTION_ENUM
      WS__SECTION_COUNT
} ws__section;
const char *ws__section_name(ws__section section);
/* The section that a line of a prompt stands for; *out_named: it is meant to be
 * one, known or not. WS__SECTION_COUNT: none. */
ws__section ws__section_of_line(const char *line, size_t size, bool *out_named);

struct ws_prompts {
  const char *target, *language; /* "": none */
  const ws_prompt_text *system;
  const ws_prompt_text *kinds[WS_REQUEST_COUNT];
  const ws_prompt_text *parts[WS__SECTION_COUNT]; /* NULL: no part */
};

#endif
