/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the Infinity Cache holds between operations: LRU by bytes, by hand on a
 * cache of 100 pages and on the card's 256 MiB.
 */
#include "ws_test.h"

#include "held.h"

enum { PAGE = 4096, CAPACITY = 100 * PAGE };

static ws_held cache;

/* Pages, as one operation. */
static void touch(uint64_t first, uint64_t count) {
  const ws_sim_range range = {(void *)(uintptr_t)(first * PAGE), count * PAGE};
  ws__held_touch(&cache, &range, 1, CAPACITY);
}

static int pages_held(uint64_t first, uint64_t count) {
  int held = 0;
  for (uint64_t page = first; page < first + count; page++)
    held += ws__held_has(&cache, page * PAGE + 128);
  return held;
}

WS_TEST(the_latest_operations_are_held) {
  touch(1000, 40);
  touch(2000, 60); /* full */
  WS_CHECK_INT(pages_held(1000, 40), 40);
  WS_CHECK_INT(pages_held(2000, 60), 60);
  touch(1000, 40); /* now 2000 is the oldest */
  touch(3000, 60);
  WS_CHECK_INT(pages_held(1000, 40), 40);
  WS_CHECK_INT(pages_held(2000, 60), 0);
  WS_CHECK_INT(pages_held(3000, 60), 60);
  WS_CHECK_INT(pages_held(999, 1) + pages_held(1040, 1), 0);
}

/* 100 pages held, 25 more come: 60 of the oldest 80 stay, 12 of 16 parts. */
WS_TEST(the_oldest_loses_a_part) {
  touch(1000, 80);
  touch(2000, 20);
  touch(3000, 20);
  WS_CHECK_INT(ws__held_parts(&cache, 1000 * PAGE, 80 * PAGE), 12);
  WS_CHECK_NEAR(pages_held(1000, 80), 60, 6);
  WS_CHECK_INT(pages_held(2000, 20) + pages_held(3000, 20), 40);
}

/* Both ranges of one operation lose the same share: 80 of 100 pages stay. */
WS_TEST(ranges_of_an_operation_lose_alike) {
  const ws_sim_range both[] = {{(void *)(uintptr_t)(1000 * PAGE), 75 * PAGE},
                               {(void *)(uintptr_t)(2000 * PAGE), 25 * PAGE}};
  ws__held_touch(&cache, both, 2, CAPACITY);
  touch(3000, 50);
  WS_CHECK_INT(ws__held_parts(&cache, 1000 * PAGE, 75 * PAGE), 8);
  WS_CHECK_NEAR(ws__held_parts(&cache, 2000 * PAGE, 25 * PAGE), 8, 1);
}

WS_TEST(an_operation_beyond_capacity_leaves_nothing) {
  touch(1000, 40);
  touch(2000, 101);
  WS_CHECK_INT(pages_held(1000, 40) + pages_held(2000, 101), 0);
  touch(1000, 40);
  WS_CHECK_INT(pages_held(1000, 40), 40);
}

/* The middle of a range is touched again: its ends are the oldest. */
WS_TEST(ranges_are_cut) {
  touch(1000, 90);
  touch(1030, 30);
  WS_CHECK_INT(pages_held(1000, 90), 90);
  touch(3000, 70); /* leaves the 30 */
  WS_CHECK_INT(pages_held(1000, 30) + pages_held(1060, 30), 0);
  WS_CHECK_INT(pages_held(1030, 30), 30);
  ws__held_forget(&cache, 1040 * PAGE, 10 * PAGE);
  WS_CHECK_INT(pages_held(1030, 30), 20);
}

WS_TEST(many_ranges_stay_within_the_table) {
  for (uint64_t i = 0; i < 90; i++)
    touch(1000 + 2 * i, 1);
  WS_CHECK_INT(pages_held(1000, 2 * (90 - WS_HELD_RANGES)), 0);
  WS_CHECK_INT(pages_held(1000, 180), WS_HELD_RANGES);
  for (uint64_t i = 89; i > 0; i--) /* of the middle of full tables too */
    ws__held_forget(&cache, (1000 + 2 * i) * PAGE + 64, PAGE - 128);
  WS_CHECK(cache.count <= WS_HELD_RANGES);
}

static int held_after_free(ws_sim *sim) {
  void *memory = ws_sim_allocate(sim, 1 << 20);
  ws_sim_touch(sim, &(ws_sim_range){memory, 1 << 20}, 1);
  WS_CHECK_INT(ws_sim_held(sim, memory), 16);
  WS_CHECK(ws_sim_free(sim, memory));
  return ws_sim_held(sim, memory);
}

WS_TEST(launches_touch_what_their_arguments_point_into) {
  ws_sim *sim;
  ws_diag diag;
  if (ws_sim_create(NULL, &sim, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  char *in = ws_sim_allocate(sim, 1 << 20), *out = ws_sim_allocate(sim, 4096);
  char *other = ws_sim_allocate(sim, 4096);
  const void *kernarg[] = {in + 4096, NULL, (void *)(uintptr_t)42, out};
  const ws_sim_launch launch = {.kernarg = kernarg,
                                .kernarg_size = sizeof kernarg};
  ws_sim_touch_launch(sim, &launch);
  WS_CHECK_INT(ws_sim_held(sim, in), 16);
  WS_CHECK_INT(ws_sim_held(sim, out), 16);
  WS_CHECK_INT(ws_sim_held(sim, other), 0);
  ws_sim_flush(sim);
  WS_CHECK_INT(ws_sim_held(sim, in), 0);
  WS_CHECK_INT(held_after_free(sim), 0);
  ws_sim_destroy(sim);
}
