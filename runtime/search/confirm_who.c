/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which candidates are confirmed: what a dispatch would ship, and the leader.
 */
#include "best.h"
#include "confirm.h"
#include "shipped.h"

#include <math.h>
#include <string.h>

static void add_winner(const ws__confirmation *c,
                       ws__winner winners[WS__MOST_WINNERS], int *count,
                       const char *id, const bool *shapes) {
  ws__winner one = {.id = id, .shapes = shapes, .somewhere = !shapes};
  for (int i = 0; i < *count; i++)
    if (!strcmp(winners[i].id, id))
      return;
  for (int i = 0; i < c->s->task.shape_count; i++)
    one.somewhere =
        one.somewhere || (shapes[i] && ws__confirm_is_asked(&c->s->task, i));
  if (*count < WS__MOST_WINNERS)
    winners[(*count)++] = one;
}

/* Where nothing takes every shape, and so nothing can be shipped yet: the
 * archive's best by shape. */
static ws_status add_fastest(ws__confirmation *c,
                             ws__winner winners[WS__MOST_WINNERS], int *count) {
  ws_session *s = c->s;
  int64_t known;
  int shapes = s->task.shape_count;
  ws_tune_row *rows = ws_arena_alloc(c->arena, sizeof *rows * (size_t)shapes);
  for (int i = 0; i < shapes; i++)
    rows[i] = (ws_tune_row){
        .shape = s->task.shapes[i], .best_id = "", .provenance = ""};
  WS_TRY(ws__best_fill(s->archive, c->arena, &s->task, s->trials.provenance,
                       rows, &known, s->diag));
  for (int i = 0; i < shapes; i++) {
    bool *fastest = ws_arena_alloc(c->arena, sizeof *fastest * (size_t)shapes);
    for (int j = 0; j < shapes; j++)
      fastest[j] = !strcmp(rows[j].best_id, rows[i].best_id);
    if (*rows[i].best_id && !strcmp(rows[i].provenance, s->trials.provenance))
      add_winner(c, winners, count, rows[i].best_id, fastest);
  }
  return WS_OK;
}

/* Of the runs that a simulator makes of a winner; those that are chosen on none
 * of the search's shapes come last. */
static double cost_of(const ws__confirmation *c, const ws__winner *w) {
  const ws__task *task = &c->s->task;
  double flops = 0;
  for (int i = 0; i < task->shape_count; i++)
    flops += ws__confirm_is_asked(task, i) && (!w->shapes || w->shapes[i])
                 ? ws_problem_flops(task->problem, &task->shapes[i])
                 : 0;
  return w->somewhere ? flops : INFINITY;
}

/* Stable: equals stay in the order of gains. */
static void sort_by_cost(const ws__confirmation *c, ws__winner *winners,
                         int count) {
  for (int i = 1; i < count; i++) {
    const ws__winner one = winners[i];
    int place = i;
    for (; place > 0 && cost_of(c, &one) < cost_of(c, &winners[place - 1]);
         place--)
      winners[place] = winners[place - 1];
    winners[place] = one;
  }
}

ws_status ws__winners_pick(ws__confirmation *c,
                           ws__winner winners[WS__MOST_WINNERS],
                           int *out_count) {
  ws_session *s = c->s;
  const ws__knowledge *k = &s->knowledge;
  ws__shipped shipped;
  *out_count = 0;
  WS_TRY(ws__shipped_find(s->archive, c->arena, &s->task, c->against_id,
                          &shipped, s->diag));
  for (int i = 0; i < shipped.count; i++)
    add_winner(c, winners, out_count, shipped.kernels[i].id,
               shipped.kernels[i].chosen);
  if (!shipped.count)
    WS_TRY(add_fastest(c, winners, out_count));
  if (s->ranking.by_device && k->leader >= 0)
    add_winner(c, winners, out_count, k->results[k->leader].id, NULL);
  if (c->simulated)
    sort_by_cost(c, winners, *out_count);
  return WS_OK;
}
