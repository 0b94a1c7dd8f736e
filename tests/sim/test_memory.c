/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Device memory: placement, the check of an access, quarantine, overlay.
 */
#include "memory_internal.h"
#include "ws_test.h"

static ws_memory *memory;

static uint8_t *take(size_t bytes) {
  if (!memory)
    memory = ws__memory_create();
  uint8_t *at = ws__memory_allocate(memory, bytes);
  WS_CHECK(at);
  return at;
}

static void done(void) {
  ws__memory_destroy(memory);
  memory = NULL;
}

static const char *problem(const void *at, uint32_t bytes, bool store,
                           const char **id) {
  return ws__memory_problem(memory, (uint64_t)(uintptr_t)at, bytes, store, id);
}

static void expect(const void *at, uint32_t bytes, bool store, const char *want,
                   const char *part) {
  const char *id = "";
  const char *text = problem(at, bytes, store, &id);
  uint64_t cache[2] = {0};
  bool allowed =
      ws__memory_allows(memory, cache, (uint64_t)(uintptr_t)at, bytes, store);
  WS_CHECK_INT(allowed, want == NULL);
  if (!want) {
    WS_CHECK(!text);
    return;
  }
  WS_CHECK(text);
  WS_CHECK_TEXT(id, want);
  WS_CHECK_CONTAINS(text, part);
}

WS_TEST(contents_and_alignment) {
  for (size_t bytes = 1; bytes < 20000; bytes = bytes * 3 + 1) {
    uint8_t *at = take(bytes);
    WS_CHECK_INT((uintptr_t)at % 256, 0);
    for (size_t i = 0; i < bytes; i++)
      WS_CHECK_INT(at[i], 0xa5);
  }
  done();
}

WS_TEST(one_byte_beyond_both_ends) {
  uint8_t *at = take(1000);
  expect(at, 1000, true, NULL, NULL);
  expect(at + 999, 1, true, NULL, NULL);
  expect(at + 1000, 1, false, "oob-global", "0 bytes past the end of");
  expect(at + 999, 2, false, "oob-global", "1 bytes from the end of");
  expect(at - 1, 1, false, "oob-global", "1 bytes before");
  expect(at - 1, 2, true, "oob-global", "1 bytes before");
  expect(at + 1016, 4, false, "oob-global", "16 bytes past the end of");
  done();
}

WS_TEST(extreme_addresses) {
  take(64);
  expect(NULL, 4, false, "oob-global", "before");
  expect((void *)~(uintptr_t)0, 4, true, "oob-global", "past the end");
  expect((void *)~(uintptr_t)3, 16, true, "oob-global", "past the end");
  done();
  memory = ws__memory_create();
  expect(NULL, 1, true, "oob-global", "nothing is allocated");
  done();
}

WS_TEST(neighbours_do_not_touch) {
  uint8_t *first = take(4096), *second = take(4096);
  WS_CHECK(second - first >= 8192);
  expect(first + 4096, 4, false, "oob-global", "past the end");
  expect(second - 4, 4, false, "oob-global", "4 bytes before");
  done();
}

WS_TEST(use_after_free) {
  uint8_t *at = take(300), *other = take(300);
  uint64_t cache[2] = {0};
  WS_CHECK(ws__memory_allows(memory, cache, (uintptr_t)at, 4, true));
  WS_CHECK(ws__memory_release(memory, at));
  WS_CHECK(!ws__memory_allows(memory, cache, (uintptr_t)at, 4, true));
  expect(at + 100, 4, false, "use-after-free", "100 bytes into the freed");
  expect(other, 4, true, NULL, NULL);
  WS_CHECK(!ws__memory_release(memory, at));
  WS_CHECK(!ws__memory_release(memory, other + 1));
  WS_CHECK_INT(ws__memory_bytes_in_use(memory), 300);
  for (int i = 0; i < 1000; i++)
    WS_CHECK(take(300) != at);
  done();
}

WS_TEST(many_come_and_go) {
  uint8_t *kept = take(77);
  for (int i = 0; i < 70000; i++)
    WS_CHECK(ws__memory_release(memory, take(10)));
  expect(kept, 77, true, NULL, NULL);
  WS_CHECK_INT(ws__memory_bytes_in_use(memory), 77);
  done();
}

/* A space of 256 KiB goes round many times; what lives stays as it was, and
 * full is NULL. */
WS_TEST(space_goes_round) {
  uint8_t *kept = take(5000);
  uint64_t whole = memory->space_bytes;
  memory->space_bytes = 1 << 18;
  memset(kept, 3, 5000);
  uint8_t *last = take(9000);
  for (int i = 0; i < 500; i++) {
    uint8_t *next = take((size_t)(1 + i * 131 % 20000));
    WS_CHECK(ws__memory_release(memory, last));
    expect(last, 1, true, "use-after-free", "0 bytes into the freed");
    last = next;
    expect(kept, 5000, true, NULL, NULL);
  }
  WS_CHECK(memory->wrapped);
  for (int i = 0; i < 5000; i++)
    WS_CHECK_INT(kept[i], 3);
  int count = 0;
  while (ws__memory_allocate(memory, 4096))
    count++;
  WS_CHECK(count > 10 && count < 32);
  memory->space_bytes = whole;
  done();
}

WS_TEST(live_ranges_never_overlap) {
  uint8_t *live[64] = {0};
  size_t sizes[64] = {0};
  for (int i = 0; i < 2000; i++) {
    int slot = i * 37 % 64;
    if (live[slot]) {
      for (size_t k = 0; k < sizes[slot]; k += 501)
        WS_CHECK_INT(live[slot][k], slot);
      WS_CHECK(ws__memory_release(memory, live[slot]));
    }
    sizes[slot] = 1 + (size_t)(i * 7919 % 30000);
    live[slot] = take(sizes[slot]);
    memset(live[slot], slot, sizes[slot]);
  }
  done();
}

WS_TEST(code_is_read_only) {
  memory = ws__memory_create();
  uint8_t *code = ws__memory_allocate_code(memory, 512);
  expect(code, 512, false, NULL, NULL);
  expect(code + 8, 4, true, "write-to-code", "8 bytes into");
  uint64_t cache[2] = {0};
  WS_CHECK(ws__memory_allows(memory, cache, (uintptr_t)code, 4, false));
  WS_CHECK(!ws__memory_allows(memory, cache, (uintptr_t)code, 4, true));
  done();
}

WS_TEST(nothing_is_allocated_for_zero_bytes) {
  uint8_t *none = take(0), *other = take(0);
  WS_CHECK(none != other);
  expect(none, 1, false, "oob-global", "past the end");
  WS_CHECK(ws__memory_release(memory, none));
  WS_CHECK(ws__memory_release(memory, other));
  done();
}

WS_TEST(too_much_is_refused) {
  memory = ws__memory_create();
  WS_CHECK(!ws__memory_allocate(memory, SIZE_MAX));
  WS_CHECK(!ws__memory_allocate(memory, SIZE_MAX - 4095));
  WS_CHECK(!ws__memory_allocate(memory, (size_t)1 << 50));
  WS_CHECK(take(16));
  done();
}

WS_TEST(find_gives_the_whole_allocation) {
  uint8_t *at = take(5000);
  uint64_t begin = 0, bytes = 0;
  WS_CHECK(ws__memory_find(memory, (uintptr_t)at + 4999, &begin, &bytes));
  WS_CHECK(begin == (uintptr_t)at && bytes == 5000);
  WS_CHECK(!ws__memory_find(memory, (uintptr_t)at + 5000, &begin, &bytes));
  done();
}

WS_TEST(stores_are_noted_byte_by_byte) {
  uint8_t *at = take(1000), *other = take(16);
  size_t first = 1;
  uint64_t cache[2] = {0};
  WS_CHECK(!ws__memory_is_watched(memory));
  WS_CHECK(!ws__memory_watch(memory, at + 1000));
  WS_CHECK(ws__memory_watch(memory, at + 16));
  WS_CHECK_INT(ws__memory_unstored(memory, at + 16, 984, &first), 984);
  WS_CHECK_INT(first, 0);
  for (int i = 16; i < 1000; i += 8)
    if (i != 512)
      ws__memory_note_store(memory, cache, (uintptr_t)at + (size_t)i, 8);
  WS_CHECK(ws__memory_allows(memory, cache, (uintptr_t)at, 1000, true));
  ws__memory_note_store(memory, cache, (uintptr_t)at + 513, 7);
  ws__memory_note_store(memory, cache, (uintptr_t)other, 16); /* not watched */
  WS_CHECK_INT(ws__memory_unstored(memory, at + 16, 984, &first), 1);
  WS_CHECK_INT(first, 512 - 16);
  WS_CHECK_INT(ws__memory_unstored(memory, at + 513, 487, &first), 0);
  WS_CHECK_INT(ws__memory_unstored(memory, other, 16, &first), 16);
  WS_CHECK(ws__memory_watch(memory, at)); /* anew */
  WS_CHECK_INT(ws__memory_unstored(memory, at, 1000, &first), 1000);
  WS_CHECK(ws__memory_release(memory, at));
  WS_CHECK(!ws__memory_is_watched(memory));
  done();
}

WS_TEST(overlay_keeps_memory_as_it_was) {
  uint8_t *at = take(3 * 4096);
  at[5000] = 7;
  ws__overlay_open(memory);
  WS_CHECK(ws__overlay_place(memory, (uintptr_t)at + 5000, false) == at + 5000);
  uint8_t *copy = ws__overlay_place(memory, (uintptr_t)at + 5000, true);
  WS_CHECK(copy != at + 5000);
  WS_CHECK_INT(*copy, 7);
  *copy = 9;
  WS_CHECK(ws__overlay_place(memory, (uintptr_t)at + 5000, false) == copy);
  WS_CHECK(ws__overlay_place(memory, (uintptr_t)at + 5001, true) == copy + 1);
  WS_CHECK(ws__overlay_place(memory, (uintptr_t)at, false) == at);
  ws__overlay_close(memory);
  WS_CHECK(ws__overlay_place(memory, (uintptr_t)at + 5000, false) == at + 5000);
  WS_CHECK_INT(at[5000], 7);
  done();
}
