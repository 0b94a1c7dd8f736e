/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Models as the options name them.
 */
#include "models.h"
#include "strategy.h"

enum { IN_FLIGHT = 4 };

static ws_status check_budgets(const ws_tune_options *o, ws_diag *diag) {
  if (o->token_budget == 0 || o->usd_budget == 0)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a budget of 0 leaves nothing to ask a model for; give a "
                   "larger --%s-budget, or no --model",
                   o->token_budget == 0 ? "token" : "usd");
  return WS_OK;
}

static ws_status open_members(ws__models *models, const ws_tune_options *o,
                              ws_diag *diag) {
  const ws_llm_options options = {.specs = o->models,
                                  .spec_count = o->model_count,
                                  .request_seconds = o->request_seconds,
                                  .total_seconds = o->total_seconds,
                                  .retries = -1,
                                  .token_budget = o->token_budget,
                                  .usd_budget = o->usd_budget};
  return ws_llm_open(&options, &models->llm, diag);
}

ws_status ws__models_open(ws__models *models, ws_arena *arena,
                          const ws_tune_options *options, const char *needed_by,
                          ws_diag *diag) {
  int in_flight = options->in_flight > 0 ? options->in_flight : IN_FLIGHT;
  models->in_flight = in_flight < WS__WINDOW ? in_flight : WS__WINDOW;
  if (needed_by && options->model_count == 0)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "strategy %s needs a --model; docs/llm.md lists the kinds, "
                   "exchange:DIR needs no key",
                   needed_by);
  if (options->model_count == 0)
    return WS_OK;
  WS_TRY(check_budgets(options, diag));
  WS_TRY(open_members(models, options, diag));
  int count = ws_llm_member_count(models->llm);
  double *weights = ws_arena_alloc(arena, sizeof *weights * (size_t)count);
  for (int i = 0; i < count; i++)
    weights[i] = ws_llm_member_at(models->llm, i)->weight;
  models->bandit = ws__bandit_create(arena, weights, count);
  return WS_OK;
}

void ws__models_close(ws__models *models) { ws_llm_close(models->llm); }

ws_llm_spent ws__models_spent(const ws__models *models) {
  return models->llm ? ws_llm_spent_so_far(models->llm) : (ws_llm_spent){0};
}
