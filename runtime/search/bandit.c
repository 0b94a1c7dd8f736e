/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The bandit. An arm's value is the mean of exp(reward) - 1 over what came
 * back of it, older answers counting less, drawn towards the mean of its member
 * and kind over all regions while it has few answers. It is asked by
 *   value / highest value + curiosity * prior * sqrt(1 + all) / (1 + own)
 * where own counts what is in flight too; cheapness is blended in. Gains alone
 * count: a loss is no worse than nothing, as there is nothing to lose but the
 * cost. A small share of picks goes by the prior alone. docs/search.md has the
 * formulae with their reasons.
 */
#include "bandit.h"

#include <math.h>
#include <string.h>

static const double decay = 0.95;     /* of all answers, at each answer */
static const double curiosity = 0.5;  /* weight of what was asked seldom */
static const double trust = 2;        /* answers that outweigh the wider mean */
static const double cost_share = 0.2; /* of cheapness in an index */
static const double cost_power = 0.5;
static const double by_prior = 0.1; /* share of picks by the prior alone */
static const double free_usd = 1e-6;

/* Sums over answers, decayed, and what is under way. */
typedef struct tally {
  double answers, gain, usd;
  int in_flight;
} tally;

typedef struct arm {
  ws__arm is;
  tally sums;
} arm;

struct ws__bandit {
  ws_arena *arena;
  double *prior; /* by member; they sum to 1 */
  int member_count;
  arm *arms;
  int count, capacity;
};

ws__bandit *ws__bandit_create(ws_arena *arena, const double *weights,
                              int member_count) {
  ws__bandit *bandit = ws_arena_alloc(arena, sizeof *bandit);
  double sum = 0;
  bandit->arena = arena;
  bandit->member_count = member_count;
  bandit->prior = ws_arena_alloc(arena, sizeof(double) * (size_t)member_count);
  for (int i = 0; i < member_count; i++)
    sum += weights[i];
  for (int i = 0; i < member_count; i++)
    bandit->prior[i] = weights[i] / sum;
  return bandit;
}

/* ---- arms ---- */
static arm *arm_of(ws__bandit *bandit, int member, ws_request_kind kind,
                   const char *region) {
  for (int i = 0; i < bandit->count; i++) {
    const ws__arm *is = &bandit->arms[i].is;
    if (is->member == member && is->kind == kind && !strcmp(is->region, region))
      return &bandit->arms[i];
  }
  if (bandit->count == bandit->capacity) {
    bandit->capacity = bandit->capacity ? 2 * bandit->capacity : 32;
    arm *larger = ws_arena_alloc(bandit->arena,
                                 sizeof *larger * (size_t)bandit->capacity);
    if (bandit->count)
      memcpy(larger, bandit->arms, sizeof *larger * (size_t)bandit->count);
    bandit->arms = larger;
  }
  arm *added = &bandit->arms[bandit->count++];
  *added = (arm){.is = {member, kind, ws_arena_strdup(bandit->arena, region)}};
  return added;
}

/* Over the arms that fit; member < 0, region NULL: any. */
static tally sum_of(const ws__bandit *bandit, int member, ws_request_kind kind,
                    const char *region) {
  tally sum = {0};
  for (int i = 0; i < bandit->count; i++) {
    const arm *a = &bandit->arms[i];
    if ((member >= 0 && a->is.member != member) || a->is.kind != kind ||
        (region && strcmp(a->is.region, region)))
      continue;
    sum.answers += a->sums.answers;
    sum.gain += a->sums.gain;
    sum.usd += a->sums.usd;
    sum.in_flight += a->sums.in_flight;
  }
  return sum;
}

/* ---- the index ---- */
/* A choice: what was seen of it, and of the wider group that it is part of. */
typedef struct option {
  tally own, wider;
  double prior; /* 0: may not be chosen */
} option;

static double value_of(const option *o) {
  double wider = o->wider.answers > 0 ? o->wider.gain / o->wider.answers : 0;
  return (o->own.gain + trust * wider) / (o->own.answers + trust);
}

static double cheapness_of(const option *o) {
  return o->wider.answers > 0 ? 1 / (free_usd + o->wider.usd / o->wider.answers)
                              : 0;
}

static double asked(const option *o) {
  return o->own.answers + o->own.in_flight;
}

static double index_of(const option *options, int count, int i) {
  double best = 0, cheapest = 0, all = 0;
  for (int k = 0; k < count; k++) {
    best = fmax(best, value_of(&options[k]));
    cheapest = fmax(cheapest, cheapness_of(&options[k]));
    all += asked(&options[k]);
  }
  const option *o = &options[i];
  double value = best > 0 ? value_of(o) / best : 0;
  /* a price that is not known yet is no drawback */
  double cheapness = cheapest > 0 && o->wider.answers > 0
                         ? pow(cheapness_of(o) / cheapest, cost_power)
                         : 1;
  return (1 - cost_share) * value + cost_share * cheapness +
         curiosity * count * o->prior * sqrt(1 + all) / (1 + asked(o));
}

static int draw_by_prior(const option *options, int count, double draw) {
  double total = 0;
  int drawn = -1;
  for (int i = 0; i < count; i++)
    total += options[i].prior;
  draw *= total;
  for (int i = 0; i < count; i++)
    if (options[i].prior > 0) {
      drawn = i;
      draw -= options[i].prior;
      if (draw < 0)
        break;
    }
  return drawn;
}

/* Draws twice, whatever it chooses. -1: none may be chosen. */
static int choose(const option *options, int count, ws_rng *rng) {
  bool prior_alone = ws_rng_double(rng) < by_prior;
  int drawn = draw_by_prior(options, count, ws_rng_double(rng));
  int best = -1;
  for (int i = 0; i < count; i++)
    if (options[i].prior > 0 &&
        (best < 0 ||
         index_of(options, count, i) > index_of(options, count, best) + 1e-12))
      best = i;
  return prior_alone ? drawn : best;
}

/* ---- questions ---- */
int ws__bandit_pick(ws__bandit *bandit, ws_rng *rng, const bool *allowed,
                    ws_request_kind kind, const char *region) {
  ws_arena *arena = ws_arena_create();
  option *options =
      ws_arena_alloc(arena, sizeof *options * (size_t)bandit->member_count);
  for (int i = 0; i < bandit->member_count; i++)
    options[i] = (option){.own = sum_of(bandit, i, kind, region),
                          .wider = sum_of(bandit, i, kind, NULL),
                          .prior = allowed[i] ? bandit->prior[i] : 0};
  int member = choose(options, bandit->member_count, rng);
  ws_arena_destroy(arena);
  if (member >= 0)
    arm_of(bandit, member, kind, region)->sums.in_flight++;
  return member;
}

int ws__bandit_pick_region(ws__bandit *bandit, ws_rng *rng,
                           ws_request_kind kind, const char *const *regions,
                           const double *weights, int count) {
  ws_arena *arena = ws_arena_create();
  double sum = 0;
  option *options =
      ws_arena_alloc(arena, sizeof *options * (size_t)(count > 0 ? count : 1));
  for (int i = 0; i < count; i++)
    sum += weights[i];
  for (int i = 0; i < count; i++)
    options[i] = (option){.own = sum_of(bandit, -1, kind, regions[i]),
                          .wider = sum_of(bandit, -1, kind, NULL),
                          .prior = sum > 0 ? weights[i] / sum : 0};
  int region = choose(options, count, rng);
  ws_arena_destroy(arena);
  return region;
}

void ws__bandit_learn(ws__bandit *bandit, const ws__arm *is, double reward,
                      double usd) {
  arm *a = arm_of(bandit, is->member, is->kind, is->region);
  for (int i = 0; i < bandit->count; i++) {
    tally *sums = &bandit->arms[i].sums;
    sums->answers *= decay;
    sums->gain *= decay;
    sums->usd *= decay;
  }
  a->sums.in_flight -= a->sums.in_flight > 0;
  a->sums.answers += 1;
  a->sums.gain += reward > 0 ? expm1(fmin(reward, 10)) : 0;
  a->sums.usd += usd > 0 ? usd : 0;
}
