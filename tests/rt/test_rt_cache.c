/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cache of choices: a repeat asks no selection, and what it answers is
 * what the selection would, also where shapes share slots and threads race.
 */
#include "../../runtime/rt/cache.h"
#include "one_kernel.h"

static const char *picked(const ws_rt_context *context, long long m,
                          long long n, long long k) {
  const ws_rt_candidate *candidate =
      ws_rt_pick(context, (const long long[]){m, n, k});
  return candidate ? candidate->id : "none";
}

WS_TEST(repeats_are_not_selected_again) {
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  for (int i = 0; i < 3; i++) {
    WS_CHECK_TEXT(picked(context, 1, 16, 128), "odd");
    WS_CHECK_INT(launch(context, 1, 16, 128), WS_RT_OK);
  }
  WS_CHECK_INT(select_calls, 1);
  /* one size differs in each */
  WS_CHECK_TEXT(picked(context, 2, 16, 128), "even");
  WS_CHECK_TEXT(picked(context, 1, 17, 128), "odd");
  WS_CHECK_TEXT(picked(context, 1, 16, 129), "odd");
  WS_CHECK_INT(select_calls, 4);
  ws_rt_close(context);
}

WS_TEST(illegal_shapes_stay_illegal) {
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  for (int i = 0; i < 3; i++) {
    WS_CHECK_TEXT(picked(context, 13, 16, 128), "none");
    WS_CHECK_INT(launch(context, 13, 16, 128), WS_RT_BAD_SHAPE);
  }
  WS_CHECK_INT(select_calls, 1);
  ws_rt_close(context);
}

WS_TEST(no_shape_is_taken_for_what_no_slot_holds) {
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  /* what an untouched slot would hold, were it one of an entry */
  WS_CHECK_TEXT(picked(context, 0, 0, 0), "even");
  WS_CHECK_INT(select_calls, 1);
  ws_rt_close(context);
}

enum { SHAPES = 20000, STEPS = 60000 }; /* many times the slots */

static uint64_t next(uint64_t *state) {
  return *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
}

/* NULL: every pick was the selection's. */
static void *pick_many(void *context) {
  static atomic_int seeds;
  uint64_t state = (uint64_t)atomic_fetch_add(&seeds, 1);
  for (int i = 0; i < STEPS; i++) {
    const long long number = (long long)(next(&state) >> 40) % SHAPES;
    const long long shape[] = {number % 128, number / 128 % 20, number / 2560};
    const int want = candidate_of(shape);
    const ws_rt_candidate *got = ws_rt_pick(context, shape);
    if (got != (want < 0 ? NULL : &two_candidates[want]))
      return context;
  }
  return NULL;
}

WS_TEST(shapes_that_share_slots_keep_their_choices) {
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  WS_CHECK(!pick_many(context));
  ws_rt_close(context);
}

WS_TEST(threads_that_race_for_slots_get_their_choices) {
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  launch_from_threads(pick_many, context);
  WS_CHECK(select_calls < THREADS * STEPS); /* some were repeats */
  ws_rt_close(context);
}

/* ---- one slot ----
 * Shapes with eight sizes alike, whose hashes end alike, so that they share a
 * slot; a choice that is not of its shape is a torn one. */
enum { WIDE = 8, SHARING = 4, TRIES = 400000 };
static long long sharing[SHARING][WIDE];

static void find_sharing(void) {
  uint64_t wanted = 0;
  int found = 0;
  for (long long size = 1; found < SHARING; size++) {
    long long shape[WIDE];
    for (int i = 0; i < WIDE; i++)
      shape[i] = size;
    const uint64_t low = ws__shape_hash(shape, WIDE) & 0xffff;
    if (found && low != wanted)
      continue;
    wanted = low;
    memcpy(sharing[found++], shape, sizeof shape);
  }
}

static atomic_int hits;
static void *share_a_slot(void *context) {
  ws__cache *cache = context;
  for (int i = 0; i < TRIES; i++) {
    const long long *shape = sharing[i / 2 % SHARING];
    ws__choice got;
    if (ws__cache_get(cache, shape, &got)) {
      atomic_fetch_add(&hits, 1);
      if (got.candidate != (int32_t)shape[0] || got.miss != -(int32_t)shape[0])
        return cache;
    }
    ws__cache_put(cache, shape,
                  (ws__choice){(int32_t)shape[0], -(int32_t)shape[0]});
  }
  return NULL;
}

WS_TEST(threads_on_one_slot_read_whole_entries) {
  find_sharing();
  ws__cache *cache = ws__cache_create(WIDE);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    WS_CHECK(!pthread_create(&threads[i], NULL, share_a_slot, cache));
  for (int i = 0; i < THREADS; i++) {
    void *torn = NULL;
    pthread_join(threads[i], &torn);
    WS_CHECK(!torn);
  }
  WS_CHECK(hits > 0);
  ws__cache_destroy(cache);
}

WS_TEST(no_lookup_allocates) {
  const ws_rt_dispatch table = one_kernel(NULL, 0);
  ws_rt_context *context = open_table(&table, 0);
  int before = allocation_count;
  WS_CHECK(!pick_many(context));
  WS_CHECK_INT(allocation_count, before);
  ws_rt_close(context);
}
