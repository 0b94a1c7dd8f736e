/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Timings, and several calls in one transaction.
 */
#include "../gemm_shape.h"
#include "fixture.h"

typedef struct store {
  ws_arena *arena;
  char *path;
  ws_archive *archive;
  const char *id; /* of a candidate without times */
} store;

static store open_store(void) {
  store s = {.arena = ws_arena_create()};
  s.path = fixture_path(s.arena, "a.db");
  const ws_template *tmpl = fixture_template(s.arena);
  MUST(ws_archive_open(s.path, true, &s.archive, diag));
  MUST(ws_archive_put_template(s.archive, tmpl, template_text, NULL, diag));
  int64_t run = fixture_run(s.archive, tmpl, 1);
  ws_candidate *candidate = fixture_candidate(s.arena, tmpl, 1);
  ws_candidate_row row = fixture_row(s.arena, candidate, run, 1);
  row.verdict = "ok";
  MUST(ws_archive_put_candidate(s.archive, &row, candidate, NULL, 0, NULL, 0,
                                diag));
  s.id = candidate->id.hex;
  return s;
}

static void close_store(store *s) {
  ws_archive_close(s->archive);
  fixture_remove(s->arena, s->path);
  ws_arena_destroy(s->arena);
}

static const double samples[] = {12.3839998245239, 12.4, 1000};

static ws_timing_row timing_of(const store *s, int64_t m) {
  return (ws_timing_row){.candidate_id = s->id,
                         .provenance = "cuda:H200",
                         .shape = gemm_shape(m, 16, 128),
                         .samples_us = samples,
                         .sample_count = 3,
                         .low_mhz = 1700,
                         .high_mhz = 1980,
                         .memory_mhz = 3201,
                         .dropped = 2,
                         .throttle = "power",
                         .device_json = "{\"name\":\"H200\"}"};
}

static int count_timings(store *s, ws_timing_row **out) {
  int count;
  MUST(ws_archive_list_timings(s->archive, s->arena, s->id, out, &count, diag));
  return count;
}

WS_TEST(timings_come_back) {
  store s = open_store();
  ws_timing_row row = timing_of(&s, 64), *back;
  MUST(ws_archive_put_timing(s.archive, &row, diag));
  row.shape.size[DIM_M] = 16;
  row.sample_count = 0;
  MUST(ws_archive_put_timing(s.archive, &row, diag));
  row.dropped = 9; /* what is there stays */
  MUST(ws_archive_put_timing(s.archive, &row, diag));
  WS_CHECK_INT(count_timings(&s, &back), 2);
  WS_CHECK_INT(back[0].shape.size[DIM_M], 16);
  WS_CHECK_INT(back[0].sample_count, 0);
  WS_CHECK_INT(back[0].dropped, 2);
  WS_CHECK_INT(back[1].sample_count, 3);
  WS_CHECK_NEAR(back[1].samples_us[0], 12.384, 1e-12);
  WS_CHECK_NEAR(back[1].samples_us[2], 1000, 1e-12);
  WS_CHECK_INT(back[1].low_mhz, 1700);
  WS_CHECK_INT(back[1].memory_mhz, 3201);
  WS_CHECK_TEXT(back[1].throttle, "power");
  WS_CHECK_TEXT(back[1].device_json, "{\"name\":\"H200\"}");
  /* The card's facts are there once. */
  WS_CHECK_TEXT(fixture_sql(s.arena, s.path, "SELECT count(*) FROM content"),
                "1");
  close_store(&s);
}

WS_TEST(transactions_are_whole) {
  store s = open_store();
  const ws_measurement time = {.shape = gemm_shape(16, 16, 128),
                               .us = 5,
                               .bound = "",
                               .provenance = "hip:x"};
  ws_timing_row row = timing_of(&s, 16), *back;
  ws_measurement *times;
  int count;
  for (int round = 0; round < 2; round++) {
    ws_status wanted = round ? WS_OK : WS_INPUT;
    MUST(ws_archive_begin(s.archive, diag));
    MUST(ws_archive_put_measurements(s.archive, s.id, &time, 1, diag));
    MUST(ws_archive_put_timing(s.archive, &row, diag));
    MUST(ws_archive_refute(s.archive, s.id, "wrong", "why", diag));
    WS_CHECK_TEXT(
        fixture_sql(s.arena, s.path, "SELECT count(*) FROM measurement"), "0");
    WS_CHECK_INT(ws_archive_end(s.archive, wanted, NULL), wanted);
    MUST(ws_archive_get_measurements(s.archive, s.arena, s.id, &times, &count,
                                     diag));
    WS_CHECK_INT(count, round);
    WS_CHECK_INT(count_timings(&s, &back), round);
    WS_CHECK_TEXT(fixture_sql(s.arena, s.path, "SELECT verdict FROM candidate"),
                  round ? "wrong" : "ok");
  }
  close_store(&s);
}
