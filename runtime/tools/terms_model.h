/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A language model that writes terms of time models for `wavesmith evolve`.
 */
#ifndef WAVESMITH_TOOLS_TERMS_MODEL_H
#define WAVESMITH_TOOLS_TERMS_MODEL_H

#include "wavesmith/evolve_terms.h"

typedef struct terms_model terms_model;

/* spec: as in wavesmith/llm.h; errors are those of ws_llm_open. */
ws_status terms_model_open(const char *spec, const ws_problem *problem,
                           terms_model **out_model, ws_diag *diag) WS_MUST_CHECK;
void terms_model_close(terms_model *model); /* NULL is allowed */
/* A ws_terms_ask; waits for the answer. A model that cannot be reached is a
 * line in the log and no answer. */
ws_status terms_model_ask(void *model, ws_arena *arena,
                          const ws_terms_question *question,
                          const char **out_answer, ws_diag *diag);

#endif
