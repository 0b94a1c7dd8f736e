/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See terms_model.h. What is asked, and what of an answer are terms: the lines
 * of its last fenced block, or all of it.
 */
#include "terms_model.h"
#include "wavesmith/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct terms_model {
  ws_llm *llm;
  const ws_problem *problem;
};

static const char system_text[] =
    "You write the terms of performance models of GPU kernels. A kernel's time "
    "is modelled as a sum of terms, each times a constant of the kernel that "
    "is fitted to its timings and is not negative. The models choose the "
    "kernel for a shape that was not timed, so what counts is that kernels "
    "come in the right order on shapes unlike those timed.";

static const char language_text[] =
    "Expressions of 64-bit integers: numbers, names, + - * / %, comparisons "
    "(0 or 1), c ? a : b, min(a, b), max(a, b), ceildiv(a, b). A divisor must "
    "be a number, a name, or a product, sum, minimum, maximum or ceildiv of "
    "such. No term may overflow where every size is 2^20: at most three sizes "
    "may be multiplied. A term that names what a kernel's template has not got "
    "is left out for it. At most 24 terms; each kernel keeps at most seven.";

ws_status terms_model_open(const char *spec, const ws_problem *problem,
                           terms_model **out_model, ws_diag *diag) {
  const ws_llm_options options = {.specs = &spec,
                                  .spec_count = 1,
                                  .retries = -1,
                                  .token_budget = -1,
                                  .usd_budget = -1};
  ws_llm *llm;
  *out_model = NULL;
  WS_TRY(ws_llm_open(&options, &llm, diag));
  if (ws_llm_is_builtin(llm, 0)) {
    ws_llm_close(llm);
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--model builtin: the changes at random are always made; "
                   "leave --model away");
  }
  terms_model *model = calloc(1, sizeof *model);
  WS_ASSERT(model != NULL);
  *model = (terms_model){llm, problem};
  *out_model = model;
  return WS_OK;
}

void terms_model_close(terms_model *model) {
  if (!model)
    return;
  ws_llm_close(model->llm);
  free(model);
}

/* ---- the question ---- */

static void put_miss(ws_arena *arena, const ws_terms_miss *miss,
                     ws_strbuf *out) {
  ws_strbuf_printf(out, "- %s: chosen %.2f us, best %.2f us (%.2f times)\n",
                   ws_shape_text(arena, &miss->shape), miss->chosen_us,
                   miss->best_us, miss->chosen_us / miss->best_us);
  ws_strbuf_printf(out, "  chosen: %s %s\n  best:   %s %s\n",
                   miss->chosen->tmpl->name,
                   ws_candidate_values_text(arena, miss->chosen),
                   miss->best->tmpl->name,
                   ws_candidate_values_text(arena, miss->best));
}

static const char *make_question(const terms_model *model, ws_arena *arena,
                                 const ws_terms_question *q) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(
      &text,
      "## Problem\n\n%s. A, B: the first and second size that is no depth; D: "
      "the first depth. workgroups: of the kernel's first launch; "
      "resident: how many of these a compute unit holds at once; cu_count: "
      "compute units of the card.\n\n## Language\n\n%s\n\nNames: %s\n\n"
      "## Present terms\n\nOn shapes left out of the fit, the choice takes "
      "%.4f times the best candidate's time in the geometric mean.\n\n"
      "```\n%s```\n\n## Shapes where the choice is worst\n\n",
      model->problem->name, language_text, q->names, exp(q->ln_loss), q->terms);
  for (int i = 0; i < q->miss_count; i++)
    put_miss(arena, &q->misses[i], &text);
  ws_strbuf_puts(&text, "\n## Answer\n\nA list of terms that would choose "
                        "better, all of them, one a line, in one fenced block. "
                        "Nothing else in the block but comments from '#'.\n");
  const char *out = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

/* ---- the answer ---- */

/* The inside of the last fenced block; without one all of it. */
static const char *terms_of(ws_arena *arena, const char *answer) {
  const char *begin = NULL, *end = NULL, *open = NULL;
  for (const char *line = answer; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, "```", 3))
      continue;
    if (open) {
      begin = open;
      end = line;
      open = NULL;
    } else {
      open = line + strcspn(line, "\n");
    }
  }
  return begin && begin < end
             ? ws_arena_printf(arena, "%.*s", (int)(end - begin), begin)
             : answer;
}

static void wait_a_little(void) {
  const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

ws_status terms_model_ask(void *opaque, ws_arena *arena,
                          const ws_terms_question *q, const char **out_answer,
                          ws_diag *diag) {
  terms_model *model = opaque;
  const ws_llm_question question = {.kind = WS_REQUEST_EXPLOIT,
                                    .sequence = q->number + 1,
                                    .ordinal = q->number,
                                    .system = system_text,
                                    .user = make_question(model, arena, q)};
  ws_llm_answer answer;
  *out_answer = NULL;
  WS_TRY(ws_llm_ask(model->llm, 0, &question, diag));
  for (bool found = false; !found; wait_a_little())
    WS_TRY(ws_llm_take(model->llm, arena, &found, &answer, diag));
  if (*answer.error)
    ws_log(WS_LOG_WARN, "question %d: %s", q->number + 1, answer.error);
  else
    *out_answer = terms_of(arena, answer.text);
  return WS_OK;
}
