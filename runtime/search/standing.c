/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Excess is ln of the best time over the roofline's. What near shapes suggest
 * is the mean of their excess, weighted by nearness; the sums are kept up as
 * times come, so that a question costs nothing, however many shapes there are.
 */
#include "standing.h"

#include <math.h>

/* Of what lies between a shape and its roofline this much is taken for
 * possible, up to a factor e: neighbours may be as bad. */
static const double roofline_share = 0.1;
/* Beside that, where nothing was timed: kernels for near shapes lose about so
 * much to a shape's own. */
static const double untimed_loss = 0.15;

struct ws__standing {
  const ws__ground *ground;
  double *excess;       /* by shape; INFINITY: not timed */
  double *weight, *sum; /* by shape: of the others' excess */
};

ws__standing *ws__standing_create(ws_arena *arena, const ws__ground *ground) {
  const size_t size = sizeof(double) * (size_t)ground->count;
  ws__standing *standing = ws_arena_alloc(arena, sizeof *standing);
  *standing = (ws__standing){.ground = ground,
                             .excess = ws_arena_alloc(arena, size),
                             .weight = ws_arena_alloc(arena, size),
                             .sum = ws_arena_alloc(arena, size)};
  for (int s = 0; s < ground->count; s++)
    standing->excess[s] = INFINITY;
  return standing;
}

bool ws__standing_is_timed(const ws__standing *standing, int shape) {
  return isfinite(standing->excess[shape]);
}

void ws__standing_learn(ws__standing *standing, int shape, double us) {
  const ws__ground *ground = standing->ground;
  const double now = log(us / ground->limit_us[shape]);
  const double before = standing->excess[shape];
  if (!(now < before))
    return;
  standing->excess[shape] = now;
  for (int s = 0; s < ground->count; s++) {
    if (s == shape)
      continue;
    const double nearness = ws__ground_nearness(ground, s, shape);
    const double weight = nearness * nearness; /* the near ones decide */
    standing->weight[s] += isfinite(before) ? 0 : weight;
    standing->sum[s] += weight * (isfinite(before) ? now - before : now);
  }
}

/* NAN: no other shape was timed. */
static double suggested(const ws__standing *standing, int shape) {
  return standing->weight[shape] > 0
             ? standing->sum[shape] / standing->weight[shape]
             : NAN;
}

double ws__standing_us(const ws__standing *standing, int shape) {
  const double excess = ws__standing_is_timed(standing, shape)
                            ? standing->excess[shape]
                            : suggested(standing, shape);
  return standing->ground->limit_us[shape] * exp(excess);
}

double ws__standing_loss(const ws__standing *standing, int shape) {
  const double near = suggested(standing, shape);
  const bool timed = ws__standing_is_timed(standing, shape);
  const double excess = timed ? standing->excess[shape] : near;
  if (isnan(excess))
    return 0;
  const double to_roofline = roofline_share * fmin(fmax(excess, 0.01), 1);
  if (!timed)
    return untimed_loss + to_roofline;
  return to_roofline + (near < excess ? excess - near : 0);
}
