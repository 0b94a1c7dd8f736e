/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How unevenly the loads of an XCD's workgroups use the channels of its L2.
 *
 * Two things crowd channels. What all loads of the whole run want may lie in
 * few of them: rows a power of two apart, of which each workgroup reads the
 * same piece. That lasts, and the rate falls as far as the busiest channel has
 * more than the mean. Or each turn of a loop lies in few channels and the next
 * turn in others: k-major rows a power of two apart, read along k. Then the
 * workgroups, in step at first, queue up at the same few channels, and move on
 * from there one after the other. That is a closed cyclic queue of N customers
 * (workgroups) and M stations (turns until the channels are the same again),
 * which does N / (N + M - 1) of what all stations could (product form,
 * exponential service; Gordon and Newell 1967).
 *
 * The prefix sees a turn or two. How an instruction's addresses move from turn
 * to turn, and how many there are, is learnt from the first workgroup, run for
 * longer.
 */
#include "clock.h"

enum {
  TURNS = 64,
  PLACES = 64 /* in a period: bytes after which the channels come again */
};

void ws__channels_init(ws_channels *channels, const ws_plan *plan,
                       const ws__clock_constants *constants, ws_arena *arena) {
  const uint32_t count = plan->kernel->module->text.count;
  const size_t all = (size_t)plan->wave_count * count;
  *channels = (ws_channels){
      .constants = constants,
      .text_count = count,
      .turns = ws_arena_alloc(arena, all * sizeof *channels->turns),
      .last = ws_arena_alloc(arena, all * sizeof *channels->last),
      .courses = ws_arena_alloc(arena, count * sizeof *channels->courses),
      .by_turn =
          ws_arena_alloc(arena, (size_t)(TURNS * constants->l2_channels) *
                                    sizeof *channels->by_turn),
      .by_place = ws_arena_alloc(arena, (size_t)count * PLACES *
                                            sizeof *channels->by_place)};
}

void ws__channels_start_group(ws_channels *channels, int waves) {
  memset(channels->turns, 0,
         (size_t)waves * channels->text_count * sizeof *channels->turns);
}

static uint16_t *turn_of(const ws_channels *channels, const ws_wave *wave,
                         uint32_t index) {
  const size_t w = (size_t)(wave - wave->group->waves);
  return &channels->turns[w * channels->text_count + index];
}

static uint64_t period(const ws_channels *channels) {
  const ws__clock_constants *c = channels->constants;
  return (uint64_t)(c->l2_channels * c->l2_interleave);
}

void ws__channels_turn(ws_channels *channels, const ws_wave *wave,
                       uint32_t index) {
  uint16_t *turn = turn_of(channels, wave, index);
  *turn += *turn < UINT16_MAX;
}

void ws__channels_learn(ws_channels *channels, const ws_wave *wave,
                        uint32_t index) {
  const ws_access *access = &wave->access;
  const uint64_t address = access->address[__builtin_ctzll(access->mask)];
  const uint16_t *turn = turn_of(channels, wave, index);
  uint64_t *last = &channels->last[turn - channels->turns];
  ws_course *course = &channels->courses[index];
  if (*turn == 1) /* later on a loop may load its last piece again */
    course->stride = (address - *last) % period(channels);
  *last = address;
  ws__channels_turn(channels, wave, index);
  course->turns = *turn > course->turns ? *turn : course->turns;
}

void ws__channels_cut_short(ws_channels *channels) {
  for (uint32_t i = 0; i < channels->text_count; i++)
    if (channels->courses[i].turns > 1)
      channels->courses[i].turns *= WS_CUT_SHORT;
}

void ws__channels_add(ws_channels *channels, const ws_wave *wave,
                      uint32_t index, uint64_t line) {
  const ws__clock_constants *c = channels->constants;
  const uint64_t within = line * (uint64_t)c->line % period(channels);
  const int64_t turn = *turn_of(channels, wave, index);
  if (turn < TURNS)
    channels
        ->by_turn[turn * c->l2_channels + (int64_t)within / c->l2_interleave]++;
  if (turn == 0)
    channels->by_place[index * PLACES + within * PLACES / period(channels)]++;
}

/* The busiest channel beside the mean. */
static double of_turns(const ws_channels *channels) {
  const int64_t count = channels->constants->l2_channels;
  int64_t busiest = 0, all = 0;
  for (int64_t turn = 0; turn < TURNS; turn++) {
    int64_t most = 0;
    for (int64_t c = 0; c < count; c++) {
      const int64_t lines = channels->by_turn[turn * count + c];
      most = lines > most ? lines : most;
      all += lines;
    }
    busiest += most;
  }
  return all ? (double)(busiest * count) / (double)all : 1;
}

/* Adds what an instruction loads in all of its turns. */
static void add_course(const ws_channels *channels, uint32_t index,
                       double lines[PLACES]) {
  const ws_course *course = &channels->courses[index];
  const int64_t *by_place = &channels->by_place[index * PLACES];
  const uint64_t all = course->turns > 1 ? course->turns : 1;
  const uint64_t steps = all < TURNS ? all : TURNS;
  const double weight = (double)all / (double)steps;
  for (uint64_t step = 0; step < steps; step++) {
    const uint64_t moved = step * all / steps * course->stride;
    const uint64_t by = moved % period(channels) * PLACES / period(channels);
    for (uint64_t place = 0; place < PLACES; place++)
      lines[(place + by) % PLACES] += weight * (double)by_place[place];
  }
}

/* The same over the whole run. */
static double of_whole_run(const ws_channels *channels) {
  const int64_t count = channels->constants->l2_channels;
  double lines[PLACES] = {0}, of_channel[PLACES] = {0}, busiest = 0, all = 0;
  for (uint32_t i = 0; i < channels->text_count; i++)
    if (channels->courses[i].turns)
      add_course(channels, i, lines);
  for (int64_t place = 0; place < PLACES; place++) {
    double *of = &of_channel[place * count / PLACES];
    *of += lines[place];
    busiest = *of > busiest ? *of : busiest;
    all += lines[place];
  }
  return all > 0 ? busiest * (double)count / all : 1;
}

int64_t ws__channels_crowding(const ws_channels *channels, int64_t groups) {
  const double lasting = of_whole_run(channels);
  const double stations = of_turns(channels) / lasting;
  const double queue =
      stations > 1 ? ((double)groups + stations - 1) / (double)groups : 1;
  return (int64_t)(256 * lasting * queue);
}
