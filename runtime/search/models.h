/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Who answers a run's requests beside the built-in proposer: language models,
 * which of them is asked for what, and whether they answer at all.
 */
#ifndef WAVESMITH_SEARCH_MODELS_H
#define WAVESMITH_SEARCH_MODELS_H

#include "bandit.h"
#include "wavesmith/search.h"

/* Opened when the session begins; answers.c counts failures, apply.c teaches
 * the bandit. */
typedef struct ws__models {
  ws_llm *llm; /* NULL: the built-in proposer alone */
  const ws_prompts *prompts;
  ws__bandit *bandit; /* NULL without llm */
  int in_flight;      /* of questions open at once */
  int64_t questions;  /* of the run so far, those of earlier processes too */
  bool reached;       /* by a question of this process */
  int failures;       /* in a row */
} ws__models;

/* WS_USAGE: models that are not there, or leave nothing to ask them for.
 * needed_by: name of a strategy that cannot do without; NULL: none. The prompts
 * are read apart, for a target. */
ws_status ws__models_open(ws__models *models, ws_arena *arena,
                          const ws_tune_options *options, const char *needed_by,
                          ws_diag *diag) WS_MUST_CHECK;
void ws__models_close(ws__models *models);
/* What they took so far; nothing without models. */
ws_llm_spent ws__models_spent(const ws__models *models);

#endif
