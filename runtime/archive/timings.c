/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Timings: the samples behind a measured time, the clocks they were taken at,
 * and the card, whose facts are kept once for all that it timed. Samples are
 * numbers of microseconds with three decimals, blank-separated: a card's clock
 * is no finer.
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

static char *samples_text(ws_arena *arena, const double *samples, int count) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(&text, "%s%.3f", i ? " " : "", samples[i]);
  char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

static ws_status add_timing(ws_archive *archive, ws_arena *arena,
                            const ws_timing_row *row, ws_diag *diag) {
  ws_hash device;
  WS_TRY(ws__archive_add_content(archive, row->device_json, &device, diag));
  return ws__archive_execute(
      archive, diag,
      "INSERT INTO timing(candidate_id,provenance,shape,samples_us,low_mhz,"
      "high_mhz,memory_mhz,dropped,throttle,device)"
      " VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
      "ttttiiiitt", row->candidate_id, row->provenance,
      ws_shape_named(arena, &row->shape),
      samples_text(arena, row->samples_us, row->sample_count),
      (int64_t)row->low_mhz, (int64_t)row->high_mhz, (int64_t)row->memory_mhz,
      (int64_t)row->dropped, row->throttle, device.hex);
}

ws_status ws_archive_put_timing(ws_archive *archive, const ws_timing_row *row,
                                ws_diag *diag) {
  WS_TRY(ws__archive_begin(archive, diag));
  ws_arena *arena = ws_arena_create();
  ws_status status = add_timing(archive, arena, row, diag);
  ws_arena_destroy(arena);
  return ws__archive_end(archive, status, diag);
}

static void read_samples(ws_arena *arena, const char *text,
                         ws_timing_row *out) {
  size_t count = *text != '\0';
  for (const char *c = text; *c; c++)
    count += *c == ' ';
  double *samples = ws_arena_alloc(arena, sizeof *samples * count);
  char *end;
  for (size_t i = 0; i < count; i++, text = end)
    samples[i] = strtod(text, &end);
  out->samples_us = samples;
  out->sample_count = (int)count;
}

static void read_timing(ws_arena *arena, sqlite3_stmt *statement,
                        void *out_item) {
  ws_timing_row *row = out_item;
  *row = (ws_timing_row){
      .candidate_id = ws__archive_text(arena, statement, 0),
      .provenance = ws__archive_text(arena, statement, 1),
      .shape = ws__archive_shape(statement, 2),
      .low_mhz = sqlite3_column_int(statement, 4),
      .high_mhz = sqlite3_column_int(statement, 5),
      .memory_mhz = sqlite3_column_int(statement, 6),
      .dropped = sqlite3_column_int(statement, 7),
      .throttle = ws__archive_text(arena, statement, 8),
      .device_json = ws__archive_text(arena, statement, 9),
  };
  read_samples(arena, ws__archive_text(arena, statement, 3), row);
}

ws_status ws_archive_list_timings(ws_archive *archive, ws_arena *arena,
                                  const char *candidate_id,
                                  ws_timing_row **out_items, int *out_count,
                                  ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(
      archive, &statement, diag,
      "SELECT t.candidate_id,t.provenance,t.shape,t.samples_us,t.low_mhz,"
      "t.high_mhz,t.memory_mhz,t.dropped,t.throttle,c.text FROM timing t"
      " JOIN content c ON c.hash=t.device WHERE t.candidate_id=?"
      " ORDER BY t.provenance,t.shape COLLATE wavesmith_shape",
      "t", candidate_id));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_timing, diag));
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}
