/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Knowledge made by hand over a template of two parameters, and a talk with a
 * strategy on it: it asks, the test answers.
 */
#ifndef WAVESMITH_TESTS_STRATEGY_TALK_H
#define WAVESMITH_TESTS_STRATEGY_TALK_H

#include "../gemm_shape.h"
#include "landscape.h"
#include "strategies.h"
#include "ws_test.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

enum { SHAPES = 2 };
__attribute__((unused)) static ws_shape shapes[SHAPES];

__attribute__((unused)) static ws__space *make_space(ws_arena *arena,
                                                     const char *text) {
  ws_diag diag = {""};
  ws_records records;
  const ws_template *tmpl;
  ws__space *space = ws_arena_alloc(arena, sizeof *space);
  shapes[0] = gemm_shape(16, 7168, 2048),
  shapes[1] = gemm_shape(1024, 4608, 512);
  cJSON *json = cJSON_Parse(text); /* NULL is refused */
  WS_CHECK(ws_records_from_json(arena, json, &records, &diag) == WS_OK);
  cJSON_Delete(json);
  if (ws_template_from_records(arena, &records, "t.ll",
                               ws_hash_bytes(text, strlen(text)), &tmpl,
                               &diag) != WS_OK ||
      ws__space_init(space, arena, tmpl, 0, "kmajor", shapes, SHAPES, &diag) !=
          WS_OK)
    WS_FAIL("%s", diag.text);
  return space;
}

/* Four free values, twice, and two regions, one with variants. */
#define STORE RECORD("region", 5, "\"store\",\"contract\"")
#define PLAIN                                                                  \
  "[" HEAD("plain") "," PARAM("a", "1 2 3 4", "1") "," PARAM(                  \
      "b", "1 2 3 4", "1") "," LAUNCH("m") "," REGION("stage") "," STORE "]"

/* ---- knowledge by hand ---- */
typedef struct world {
  ws_arena *arena;
  ws__seen seen;
  ws__knowledge knowledge;
} world;

/* seen is the world's own: set before each use, as a world may be copied. */
__attribute__((unused)) static world make_world(const char *text) {
  world w = {.arena = ws_arena_create()};
  ws__knowledge_init(&w.knowledge, w.arena, make_space(w.arena, text), NULL,
                     SHAPES, 0.01, 0);
  return w;
}

__attribute__((unused)) static void free_world(world *w) {
  ws__seen_deinit(&w->seen);
  ws_arena_destroy(w->arena);
}

__attribute__((unused)) static ws_candidate *candidate_at(world *w, int a,
                                                          int b) {
  ws__space *space = w->knowledge.spaces[0];
  ws_candidate *candidate = ws_candidate_create(w->arena, space->tmpl);
  candidate->values[0] = a;
  candidate->values[1] = b;
  ws_candidate_update_id(candidate);
  return candidate;
}

__attribute__((unused)) static ws__result
result_of(world *w, const ws_candidate *candidate, double us0, double us1) {
  double *us = ws_arena_alloc(w->arena, 2 * sizeof *us);
  us[0] = us0, us[1] = us1;
  ws__result result = {.request = ws__request_of(WS_REQUEST_EXPLORE, "default"),
                       .candidate = candidate,
                       .us = us,
                       .stage = "",
                       .reason = "",
                       .id = candidate ? candidate->id.hex : ""};
  if (candidate)
    ws__seen_add(&w->seen, &candidate->id);
  return result;
}

__attribute__((unused)) static int add(world *w, const ws_candidate *candidate,
                                       double us0, double us1) {
  ws__result result = result_of(w, candidate, us0, us1);
  w->knowledge.seen = &w->seen;
  return ws__knowledge_add(&w->knowledge, &result);
}

/* ---- a talk ---- */
typedef struct talk {
  world w;
  const ws__strategy *strategy;
  void *state;
  ws_rng rng;
  ws__request request; /* the last */
} talk;

__attribute__((unused)) static talk begin_talk(const char *name) {
  talk t = {.w = make_world(PLAIN), .strategy = ws__strategy_find(name, NULL)};
  t.state = t.strategy->create(t.w.arena, &t.w.knowledge);
  ws_rng_init(&t.rng, 1);
  return t;
}

__attribute__((unused)) static ws__draw ask(talk *t) {
  t->w.knowledge.seen = &t->w.seen;
  return t->strategy->next(t->state, &t->w.knowledge, &t->rng, &t->request);
}

__attribute__((unused)) static void must_ask(talk *t, ws_request_kind kind,
                                             int first, int second) {
  WS_CHECK_INT(ask(t), WS__DRAW_FOUND);
  WS_CHECK_TEXT(ws_request_text(t->request.kind), ws_request_text(kind));
  WS_CHECK_INT(t->request.parents[0], first);
  WS_CHECK_INT(t->request.parents[1], second);
}

__attribute__((unused)) static int
answer_to(talk *t, const ws__request *request, const ws_candidate *candidate,
          double us0, double us1, int8_t tile) {
  ws__result result = result_of(&t->w, candidate, us0, us1);
  result.request = *request;
  result.cell.bins[WS__AXIS_TILE] = tile;
  t->w.knowledge.seen = &t->w.seen;
  int index = ws__knowledge_add(&t->w.knowledge, &result);
  t->strategy->learn(t->state, &t->w.knowledge, index);
  return index;
}

__attribute__((unused)) static int start(talk *t, double us0, double us1) {
  ws__request request = ws__request_of(WS_REQUEST_EXPLORE, "default");
  return answer_to(t, &request, candidate_at(&t->w, 1, 1), us0, us1, 0);
}

__attribute__((unused)) static int document(talk *t, const ws_reply *reply) {
  ws__result result = {.request = t->request,
                       .verdict = reply ? WS_VERDICT_OK : WS_VERDICT_ILLEGAL,
                       .reply = reply,
                       .stage = "",
                       .reason = "",
                       .id = ""};
  int index = ws__knowledge_add(&t->w.knowledge, &result);
  t->strategy->learn(t->state, &t->w.knowledge, index);
  return index;
}

#endif
