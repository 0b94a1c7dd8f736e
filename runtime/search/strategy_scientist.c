/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * scientist: the three stages of "GPU Kernel Scientist" (arXiv 2506.20807) and
 * a fourth. A generation is
 *   select   the model chooses a base and a reference candidate;
 *   design   it writes down avenues and rates five experiments on the base;
 *   write    three of these are made candidates: the most innovative, that with
 *            the highest possible gain, that with the highest certain gain;
 *            each sees the results of those before, unless they are to be blind
 *            (in rounds they always are);
 *   distil   once these and their repairs are judged, what was learned is
 *            written into the findings, which all later prompts show.
 * A reply that is of no use does not stop it: without a choice the leader is
 * the base and the best of the shape where it lags most is the reference;
 * without experiments one improvement of the base is asked for.
 */
#include "strategies.h"

#include <math.h>
#include <string.h>

enum { PICKS = 3 };
static const char name[] = "scientist";

typedef enum stage { SELECT, DESIGN, WRITE, DISTIL } stage;

typedef struct science {
  stage stage;
  int open;            /* requests of this stage under way */
  int base, reference; /* results; -1 */
  ws__request writes[PICKS];
  int write_count, written;
} science;

static void *create(ws_arena *arena, ws__knowledge *knowledge) {
  (void)knowledge;
  science *s = ws_arena_alloc(arena, sizeof *s);
  s->base = s->reference = -1;
  return s;
}

/* ---- select ---- */
/* A parent whose id begins with text, which must say more than a few digits. */
static int parent_of_id(const ws__knowledge *knowledge, const char *text) {
  size_t size = strlen(text);
  for (int i = 0; size >= 4 && i < knowledge->count; i++)
    if (!strncmp(knowledge->results[i].id, text, size) &&
        ws__knowledge_is_parent(knowledge, i))
      return i;
  return -1;
}

/* The best of the shape where base lags most behind it; -1: base is the best
 * everywhere. */
static int most_unlike(const ws__knowledge *knowledge, int base) {
  int unlike = -1;
  double worst = 0;
  for (int s = 0; base >= 0 && s < knowledge->shape_count; s++) {
    int best = knowledge->best[s][0];
    if (best < 0 || best == base)
      continue;
    double lag =
        log(knowledge->results[base].us[s] / knowledge->results[best].us[s]);
    if (lag > worst) {
      worst = lag;
      unlike = best;
    }
  }
  return unlike;
}

static int leader_of(const ws__knowledge *knowledge) {
  return knowledge->leader >= 0 ? knowledge->leader
                                : ws__start_result(knowledge);
}

static void take_choice(science *s, const ws__knowledge *knowledge,
                        const ws_reply *reply) {
  s->base = reply ? parent_of_id(knowledge, reply->base) : -1;
  s->reference = reply ? parent_of_id(knowledge, reply->reference) : -1;
  if (s->base < 0)
    s->base = leader_of(knowledge);
  if (s->reference < 0 || s->reference == s->base)
    s->reference = most_unlike(knowledge, s->base);
}

/* ---- design ---- */
static double innovation(const ws_reply_experiment *e) { return e->innovation; }
static double highest(const ws_reply_experiment *e) { return e->gain_high; }
static double certain(const ws_reply_experiment *e) { return e->gain_low; }
static double (*const criteria[PICKS])(const ws_reply_experiment *) = {
    innovation, highest, certain};

/* The best by a criterion of those not picked; -1: all are. */
static int pick(const ws_reply *reply, int criterion, const int *picked,
                int picked_count) {
  int best = -1;
  for (int i = 0; i < reply->experiment_count; i++) {
    bool taken = false;
    for (int p = 0; p < picked_count; p++)
      taken |= picked[p] == i;
    if (!taken &&
        (best < 0 || criteria[criterion](&reply->experiments[i]) >
                         criteria[criterion](&reply->experiments[best])))
      best = i;
  }
  return best;
}

static const char *plan_of(ws_arena *arena, const ws_reply_experiment *e) {
  return ws_arena_printf(
      arena, "%s\n%s\n%s\nExpected speed-up: %.3g to %.3g. Innovation: %.0f.",
      e->title, e->description, e->rubric, e->gain_low, e->gain_high,
      e->innovation);
}

static ws__request write_request(const science *s, const char *plan) {
  ws__request request = ws__exploit_request(s->base, -1, name);
  request.parents[1] = s->reference;
  if (*plan && s->base >= 0) {
    request.kind = WS_REQUEST_WRITE;
    request.plan = plan;
  }
  return request;
}

static void take_design(science *s, ws_arena *arena, const ws_reply *reply) {
  int picked[PICKS];
  s->write_count = s->written = 0;
  for (int c = 0; reply && c < PICKS; c++) {
    int index = pick(reply, c, picked, s->write_count);
    if (index < 0)
      break;
    picked[s->write_count] = index;
    s->writes[s->write_count++] =
        write_request(s, plan_of(arena, &reply->experiments[index]));
  }
  if (s->write_count == 0)
    s->writes[s->write_count++] = write_request(s, "");
}

/* ---- the strategy ---- */
static int count_parents(const ws__knowledge *knowledge) {
  int count = 0;
  for (int i = 0; i < knowledge->count; i++)
    count += ws__knowledge_is_parent(knowledge, i);
  return count;
}

static ws__request document_request(const science *s, ws_request_kind kind) {
  ws__request request = ws__request_of(kind, name);
  request.parents[0] = s->base;
  request.parents[1] = s->reference;
  return request;
}

static ws__draw next(void *state, ws__knowledge *knowledge, ws_rng *rng,
                     ws__request *out_request) {
  (void)rng;
  science *s = state;
  bool more_writes = s->stage == WRITE && s->written < s->write_count;
  bool awaits = s->open > 0 || knowledge->repairs_open > 0 ||
                knowledge->moves_open > 0;
  if ((awaits && !(more_writes && knowledge->blind)) ||
      ws__must_wait_for_start(knowledge))
    return WS__DRAW_WAIT;
  if (s->stage == WRITE && !more_writes)
    s->stage = DISTIL;
  if (s->stage == SELECT && count_parents(knowledge) < 2) {
    take_choice(s, knowledge, NULL); /* there is nothing to choose from */
    s->stage = DESIGN;
  }
  static const ws_request_kind kinds[] = {[SELECT] = WS_REQUEST_SELECT,
                                          [DESIGN] = WS_REQUEST_DESIGN,
                                          [DISTIL] = WS_REQUEST_DISTIL};
  *out_request = s->stage == WRITE ? s->writes[s->written++]
                                   : document_request(s, kinds[s->stage]);
  s->open++;
  return WS__DRAW_FOUND;
}

/* What the reply to a document brings, and the stage after it. */
static void learn(void *state, ws__knowledge *knowledge, int result) {
  science *s = state;
  const ws__result *learned = &knowledge->results[result];
  if (strcmp(learned->request.origin, name) ||
      learned->request.kind == WS_REQUEST_REPAIR)
    return;
  const ws_reply *reply =
      learned->verdict == WS_VERDICT_OK ? learned->reply : NULL;
  s->open--;
  switch (s->stage) {
  case SELECT:
    take_choice(s, knowledge, reply);
    s->stage = DESIGN;
    break;
  case DESIGN:
    take_design(s, knowledge->arena, reply);
    s->stage = WRITE;
    break;
  case WRITE:
    break; /* next sees when all are in */
  case DISTIL:
    s->stage = SELECT;
  }
}

const ws__strategy ws__strategy_scientist = {
    .name = name,
    .purpose = "select, design, write three experiments, distil",
    .needs_model = true,
    .create = create,
    .next = next,
    .learn = learn};
