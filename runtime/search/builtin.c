/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The built-in proposer: answers a request for a candidate by drawing a point
 * of the template's space, moving a parent's or crossing two. It sets
 * parameters and chooses among shipped bodies; what a parent has rewritten it
 * keeps.
 */
#include "large.h"
#include "surrogate.h"

#include <string.h>

typedef struct proposer {
  ws__knowledge *knowledge;
  ws_rng *rng;
  ws_arena *arena;
  ws__space *space;
  const ws_candidate *first, *second; /* parents; NULL: none */
  bool guided, near;                  /* near: a small move */
  int target;                         /* on a large set, a shape */
  ws__draw draw;                      /* how the last uniform draw ended */
  ws_candidate **out_candidate;
  const char **out_move;
} proposer;

enum { RANKED = 128, FEW = 2 /* choices that a small move changes */ };

/* NULL: none, or of a template without space. */
static const ws_candidate *parent_of(const ws__knowledge *knowledge,
                                     int result) {
  if (result < 0 || result >= knowledge->count)
    return NULL;
  const ws_candidate *candidate = knowledge->results[result].candidate;
  return candidate && ws__knowledge_space(knowledge, candidate->tmpl)
             ? candidate
             : NULL;
}

static int *new_point(const proposer *p) {
  return ws_arena_alloc(p->arena, sizeof(int) * (size_t)p->space->count);
}

static ws__draw found(proposer *p, const ws_candidate *base, const int *point,
                      const char *move) {
  *p->out_candidate = ws__space_candidate_on(p->space, p->arena, point, base);
  *p->out_move = move;
  if (!p->knowledge->large) /* there its sample is expected (sample.c) */
    ws__surrogate_expect(p->knowledge->surrogate, p->space, *p->out_candidate);
  return WS__DRAW_FOUND;
}

/* One way to draw a point; false: there is none. */
typedef bool (*drawer)(proposer *p, const ws_candidate *base, const int *a,
                       const int *b, int *out_point);

static bool draw_move(proposer *p, const ws_candidate *base, const int *a,
                      const int *b, int *out_point) {
  (void)b;
  return ws__space_move(p->space, p->rng, p->knowledge->seen, base, a,
                        out_point);
}

static bool draw_cross(proposer *p, const ws_candidate *base, const int *a,
                       const int *b, int *out_point) {
  return ws__space_cross(p->space, p->rng, p->knowledge->seen, base, a, b,
                         out_point);
}

static bool draw_any(proposer *p, const ws_candidate *base, const int *a,
                     const int *b, int *out_point) {
  (void)a, (void)b;
  p->draw =
      ws__space_draw_on(p->space, p->rng, p->knowledge->seen, base, out_point);
  return p->draw == WS__DRAW_FOUND;
}

/* What a point is worth: more is better. */
typedef double (*judge)(const proposer *p, const ws_candidate *candidate);

static double gain(const proposer *p, const ws_candidate *candidate) {
  return p->knowledge->large
             ? ws__large_gain(p->knowledge->large, p->space, candidate,
                              p->target)
             : ws__surrogate_gain(p->knowledge->surrogate, p->space, candidate);
}

static double doubt(const proposer *p, const ws_candidate *candidate) {
  return p->knowledge->large ? ws__large_doubt(p->knowledge->large, p->space,
                                               candidate, p->target)
                             : ws__surrogate_doubt(p->knowledge->surrogate,
                                                   p->space, candidate);
}

/* A small move is to be small, where there is such a one: what gained must be
 * known from it. */
static bool is_far(const proposer *p, const int *from, const int *to) {
  int changed = 0;
  for (int i = 0; p->near && from && i < p->space->count; i++)
    changed += from[i] != to[i];
  return changed > FEW;
}

/* Of several points drawn the one that promises most, one that is not far
 * before one that is. */
static bool draw_best(proposer *p, drawer draw, judge worth,
                      const ws_candidate *base, const int *a, const int *b,
                      int *out_point) {
  if (!p->guided)
    return draw(p, base, a, b, out_point);
  int *point = new_point(p);
  double best = -1;
  bool best_is_far = true;
  if (!p->knowledge->large)
    ws__surrogate_fit(p->knowledge->surrogate, p->space);
  for (int i = 0; i < RANKED && draw(p, base, a, b, point); i++) {
    ws_arena *arena = ws_arena_create();
    double value =
        worth(p, ws__space_candidate_on(p->space, arena, point, base));
    ws_arena_destroy(arena);
    const bool far = is_far(p, a, point);
    if ((value > best * (1 + 1e-9) && far == best_is_far) ||
        (best_is_far && !far)) {
      best = value;
      best_is_far = far;
      memcpy(out_point, point, sizeof *point * (size_t)p->space->count);
    }
  }
  return best >= 0;
}

static ws__draw move_to(proposer *p, const int *from, const int *to) {
  return found(p, p->first, to,
               ws__space_describe_move(p->space, p->arena, from, to));
}

/* Before the first result a round is drawn blindly: half of it around what the
 * run begins with, since a template's defaults are seldom bad, and half far
 * apart, since they may be. */
static bool begins_near_start(const proposer *p) {
  const ws__knowledge *k = p->knowledge;
  return p->guided && k->round && k->reference < 0 && k->start_count > 0 &&
         ws_rng_below(p->rng, 2);
}

/* A start may be of another template than the task's. False: all around it was
 * seen. */
static bool move_start(const proposer *p) {
  const ws__knowledge *k = p->knowledge;
  uint64_t which = ws_rng_below(p->rng, (uint64_t)k->start_count);
  proposer near = *p;
  near.first = k->starts[which];
  near.space = ws__knowledge_space(k, near.first->tmpl);
  if (!near.space)
    return false;
  int *from = new_point(&near), *to = new_point(&near);
  ws__space_point_of(near.space, near.first, from);
  return ws__space_move(near.space, near.rng, k->seen, near.first, from, to) &&
         move_to(&near, from, to) == WS__DRAW_FOUND;
}

static ws__draw explore(proposer *p) {
  if (begins_near_start(p) && move_start(p))
    return WS__DRAW_FOUND;
  int *point = new_point(p);
  return draw_best(p, draw_any, doubt, p->first, NULL, NULL, point)
             ? found(p, p->first, point, "")
             : p->draw;
}

static ws__draw exploit(proposer *p) {
  if (!p->first)
    return explore(p);
  int *from = new_point(p), *to = new_point(p);
  ws__space_point_of(p->space, p->first, from);
  if (!draw_best(p, draw_move, gain, p->first, from, NULL, to))
    return p->near ? WS__DRAW_NONE : explore(p); /* all around it was seen */
  return move_to(p, from, to);
}

/* A copy of the first parent with each rewritten body of either parent, or not,
 * at random. */
static ws_candidate *cross_bodies(const proposer *p) {
  ws_candidate *child = ws_candidate_copy(p->arena, p->first);
  for (int r = 0; r < p->space->tmpl->region_count; r++)
    if ((p->first->bodies[r].text || p->second->bodies[r].text) &&
        ws_rng_below(p->rng, 2))
      child->bodies[r] = p->second->bodies[r];
  return child;
}

static ws__draw crossover(proposer *p) {
  if (!p->first || !p->second || p->first->tmpl != p->second->tmpl)
    return exploit(p);
  int *a = new_point(p), *b = new_point(p), *to = new_point(p);
  ws__space_point_of(p->space, p->first, a);
  ws__space_point_of(p->space, p->second, b);
  const ws_candidate *base = cross_bodies(p);
  if (!draw_best(p, draw_cross, gain, base, a, b, to))
    return exploit(p); /* the parents are too alike */
  return found(p, base, to, ws__space_describe_move(p->space, p->arena, a, to));
}

static ws__draw (*const answers[WS_REQUEST_COUNT])(proposer *) = {
    [WS_REQUEST_EXPLORE] = explore,     [WS_REQUEST_EXPLOIT] = exploit,
    [WS_REQUEST_CROSSOVER] = crossover, [WS_REQUEST_REPAIR] = exploit,
    [WS_REQUEST_WRITE] = exploit,
};

ws__draw ws__builtin_propose(ws__knowledge *knowledge, ws_rng *rng,
                             ws_arena *arena, const ws__request *request,
                             ws_candidate **out_candidate,
                             const char **out_move) {
  WS_ASSERT(answers[request->kind]); /* it writes no documents */
  proposer p = {.knowledge = knowledge,
                .rng = rng,
                .arena = arena,
                .space = knowledge->spaces[0],
                .guided = request->guided,
                .near = request->climb > 0,
                .first = parent_of(knowledge, request->parents[0]),
                .second = parent_of(knowledge, request->parents[1]),
                .out_candidate = out_candidate,
                .out_move = out_move};
  if (knowledge->large)
    p.target = request->target >= 0 ? request->target
                                    : ws__large_draw_target(knowledge, rng);
  if (!p.first)
    p.first = p.second;
  if (p.first)
    p.space = ws__knowledge_space(knowledge, p.first->tmpl);
  return answers[request->kind](&p);
}
