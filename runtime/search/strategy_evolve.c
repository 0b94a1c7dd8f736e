/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * evolve: islands that breed apart and send each other their best.
 *
 * An island keeps, of its results, the best by score of each cell of the grid
 * (grid.h) and the best of each shape; all others leave it. The second kind is
 * there because what is shipped is a portfolio: a specialist of one shape may
 * score badly over all. Parents are drawn half by weight
 *   sigmoid(steepness * (score - median) / max(MAD, noise)) / (1 + children),
 * median and MAD (median absolute deviation) being those of the island's
 * scores, and half as the specialist of a shape that still gives.
 * Islands take turns. Each begins with explore requests; then the kinds are
 * mixed. After some results the island's best goes to the next of the ring. An
 * island that has not gained for long is given up: it begins anew with the
 * result, of the better half of all, whose cell is farthest from those of the
 * other islands' best.
 */
#include "strategies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  ISLANDS = 4,
  FIRST_EXPLORE = 2,  /* requests of an island */
  MIGRATE_AFTER = 24, /* results of an island */
  GIVE_UP_AFTER = 48  /* results of an island without a gain */
};
static const double explore_share = 0.1, crossover_share = 0.2;
static const double specialist_share = 0.5;
static const double steepness = 2;
static const char name[] = "evolve";

typedef struct member {
  int result, children;
} member;

typedef struct island {
  member *members;
  int count, capacity;
  int *best; /* by shape: a member's result; -1 */
  int top;   /* best score; -1 */
  int asked, stale, since_migration;
} island;

typedef struct evolution {
  ws_arena *arena;
  island islands[ISLANDS];
  ws__pace pace;
} evolution;

static void empty(island *isle, int shape_count) {
  isle->count = isle->stale = isle->since_migration = 0;
  isle->top = -1;
  for (int s = 0; s < shape_count; s++)
    isle->best[s] = -1;
}

static void *create(ws_arena *arena, ws__knowledge *knowledge) {
  evolution *e = ws_arena_alloc(arena, sizeof *e);
  e->arena = arena;
  for (int i = 0; i < ISLANDS; i++) {
    e->islands[i].best =
        ws_arena_alloc(arena, sizeof(int) * (size_t)knowledge->shape_count);
    empty(&e->islands[i], knowledge->shape_count);
  }
  return e;
}

/* ---- who stays ---- */
static double score_of(const ws__knowledge *knowledge, int result) {
  return result < 0 ? -INFINITY : knowledge->results[result].score;
}

static double time_of(const ws__knowledge *knowledge, int result, int shape) {
  return result < 0 ? INFINITY : knowledge->results[result].us[shape];
}

static bool is_best_of_cell(const ws__knowledge *knowledge, const island *isle,
                            int result) {
  const ws__result *own = &knowledge->results[result];
  for (int i = 0; i < isle->count; i++) {
    int other = isle->members[i].result;
    if (other != result &&
        ws__cell_equal(&own->cell, &knowledge->results[other].cell) &&
        (score_of(knowledge, other) > own->score ||
         (score_of(knowledge, other) == own->score && other < result)))
      return false;
  }
  return isfinite(own->score);
}

static bool is_specialist(const ws__knowledge *knowledge, const island *isle,
                          int result) {
  for (int s = 0; s < knowledge->shape_count; s++)
    if (isle->best[s] == result)
      return true;
  return false;
}

static void drop_losers(const ws__knowledge *knowledge, island *isle) {
  for (int i = isle->count - 1; i >= 0; i--) {
    int result = isle->members[i].result;
    if (!is_specialist(knowledge, isle, result) &&
        !is_best_of_cell(knowledge, isle, result))
      isle->members[i] = isle->members[--isle->count];
  }
}

/* True: the island gained by more than the noise, over all or on a shape. */
static bool note_gains(const ws__knowledge *knowledge, island *isle,
                       int result) {
  bool gained = false;
  for (int s = 0; s < knowledge->shape_count; s++) {
    double before = time_of(knowledge, isle->best[s], s);
    double now = time_of(knowledge, result, s);
    if (now < before) {
      gained |= now < before * exp(-knowledge->noise);
      isle->best[s] = result;
    }
  }
  double gain = score_of(knowledge, result) - score_of(knowledge, isle->top);
  if (gain > 0) /* not so for two that are not ranked */
    isle->top = result;
  return gained || gain > knowledge->noise;
}

static bool is_member(const island *isle, int result) {
  for (int i = 0; i < isle->count; i++)
    if (isle->members[i].result == result)
      return true;
  return false;
}

/* Returns whether the island gained. */
static bool join(evolution *e, const ws__knowledge *knowledge, island *isle,
                 int result) {
  if (is_member(isle, result))
    return false;
  isle->members = ws_arena_grow(e->arena, isle->members, sizeof *isle->members,
                                isle->count, &isle->capacity);
  isle->members[isle->count++] = (member){.result = result};
  bool gained = note_gains(knowledge, isle, result);
  drop_losers(knowledge, isle);
  return gained;
}

/* ---- parents ---- */
static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

/* Median and spread of the scores of the members that have one. */
static void spread_of(const ws__knowledge *knowledge, const island *isle,
                      double *out_median, double *out_spread) {
  double *scores = malloc(sizeof *scores * (size_t)(isle->count + 1));
  WS_ASSERT(scores);
  int count = 0;
  for (int i = 0; i < isle->count; i++) {
    double score = score_of(knowledge, isle->members[i].result);
    if (isfinite(score))
      scores[count++] = score;
  }
  *out_median = median(scores, count);
  for (int i = 0; i < count; i++)
    scores[i] = fabs(scores[i] - *out_median);
  *out_spread = fmax(median(scores, count), fmax(knowledge->noise, 1e-6));
  free(scores);
}

/* A member by weight, other than `other`; NULL: there is none. */
static member *draw_member(const ws__knowledge *knowledge, island *isle,
                           int other, ws_rng *rng) {
  double middle, spread, total = 0;
  spread_of(knowledge, isle, &middle, &spread);
  member *drawn = NULL;
  for (int i = 0; i < isle->count; i++) {
    member *item = &isle->members[i];
    double score = score_of(knowledge, item->result);
    if (item->result == other || !isfinite(score))
      continue;
    double weight = 1 / (1 + exp(-steepness * (score - middle) / spread)) /
                    (1 + item->children);
    total += weight;
    if (ws_rng_double(rng) * total < weight)
      drawn = item; /* ends as each with its weight / total */
  }
  return drawn;
}

static member *specialist(island *isle, int shape) {
  for (int i = 0; shape >= 0 && i < isle->count; i++)
    if (isle->members[i].result == isle->best[shape])
      return &isle->members[i];
  return NULL;
}

static void choose_parents(const ws__knowledge *knowledge, island *isle,
                           ws_rng *rng, ws__request *request) {
  member *first = NULL;
  if (ws_rng_double(rng) < specialist_share) {
    int target = ws__draw_target(knowledge, rng);
    first = specialist(isle, target);
    request->target = first ? target : -1;
  }
  if (!first)
    first = draw_member(knowledge, isle, -1, rng);
  if (!first)
    return;
  first->children++;
  request->parents[0] = first->result;
  if (request->kind != WS_REQUEST_CROSSOVER)
    return;
  const member *second = draw_member(knowledge, isle, first->result, rng);
  if (second)
    request->parents[1] = second->result;
  else
    request->kind = WS_REQUEST_EXPLOIT;
}

/* ---- giving up ---- */
static int nearest_top(const evolution *e, const ws__knowledge *knowledge,
                       const island *isle, int result) {
  int least = INT32_MAX;
  for (int i = 0; i < ISLANDS; i++) {
    const island *other = &e->islands[i];
    if (other == isle || other->top < 0)
      continue;
    int distance = ws__cell_distance(&knowledge->results[result].cell,
                                     &knowledge->results[other->top].cell);
    least = distance < least ? distance : least;
  }
  return least;
}

static double median_score(const ws__knowledge *knowledge) {
  double *scores = malloc(sizeof *scores * (size_t)(knowledge->count + 1));
  WS_ASSERT(scores);
  int count = 0;
  for (int i = 0; i < knowledge->count; i++)
    if (isfinite(knowledge->results[i].score))
      scores[count++] = knowledge->results[i].score;
  double middle = median(scores, count);
  free(scores);
  return middle;
}

static void begin_anew(evolution *e, const ws__knowledge *knowledge,
                       island *isle) {
  double least_score = median_score(knowledge);
  int founder = -1, farthest = -1;
  for (int i = 0; i < knowledge->count; i++) {
    double score = knowledge->results[i].score;
    if (i == isle->top || !(score >= least_score) ||
        !ws__knowledge_is_parent(knowledge, i))
      continue;
    int distance = nearest_top(e, knowledge, isle, i);
    if (distance > farthest ||
        (distance == farthest && score > score_of(knowledge, founder))) {
      farthest = distance;
      founder = i;
    }
  }
  empty(isle, knowledge->shape_count);
  if (founder >= 0)
    join(e, knowledge, isle, founder);
}

/* ---- the strategy ---- */
static ws_request_kind draw_kind(const island *isle, ws_rng *rng) {
  double draw = ws_rng_double(rng);
  if (isle->asked < FIRST_EXPLORE || draw < explore_share)
    return WS_REQUEST_EXPLORE;
  return draw < explore_share + crossover_share && isle->count > 1
             ? WS_REQUEST_CROSSOVER
             : WS_REQUEST_EXPLOIT;
}

static ws__draw next(void *state, ws__knowledge *knowledge, ws_rng *rng,
                     ws__request *out_request) {
  evolution *e = state;
  if (ws__pace_must_wait(&e->pace, knowledge))
    return WS__DRAW_WAIT;
  int turn = e->pace.asked++ % ISLANDS;
  island *isle = &e->islands[turn];
  *out_request = ws__request_of(draw_kind(isle, rng), name);
  out_request->island = turn;
  out_request->guided = true;
  isle->asked++;
  if (out_request->kind == WS_REQUEST_EXPLORE)
    out_request->parents[0] =
        isle->top >= 0 ? isle->top : ws__start_result(knowledge);
  else
    choose_parents(knowledge, isle, rng, out_request);
  if (out_request->parents[0] < 0)
    out_request->kind = WS_REQUEST_EXPLORE;
  return WS__DRAW_FOUND;
}

static void learn(void *state, ws__knowledge *knowledge, int result) {
  evolution *e = state;
  const ws__request *request = &knowledge->results[result].request;
  bool fit = ws__knowledge_is_parent(knowledge, result);
  if (request->climb) { /* owed to the island's answer before it */
    island *isle = &e->islands[request->island % ISLANDS];
    if (fit && join(e, knowledge, isle, result))
      isle->stale = 0;
    return;
  }
  if (strcmp(request->origin, name)) { /* a start, for all of them */
    for (int i = 0; fit && i < ISLANDS; i++)
      join(e, knowledge, &e->islands[i], result);
    return;
  }
  e->pace.answered += request->kind != WS_REQUEST_REPAIR;
  int index = request->island % ISLANDS;
  island *isle = &e->islands[index];
  bool gained = fit && join(e, knowledge, isle, result);
  isle->stale = gained ? 0 : isle->stale + 1;
  if (++isle->since_migration >= MIGRATE_AFTER && isle->top >= 0) {
    isle->since_migration = 0;
    join(e, knowledge, &e->islands[(index + 1) % ISLANDS], isle->top);
  }
  if (isle->stale >= GIVE_UP_AFTER)
    begin_anew(e, knowledge, isle);
}

const ws__strategy ws__strategy_evolve = {
    .name = name,
    .purpose = "islands, a grid over compiler facts, crossover",
    .create = create,
    .next = next,
    .learn = learn,
    .uses_cells = true};
