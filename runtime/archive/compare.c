/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How much faster: one candidate over another, and a run's candidates over its
 * first, in the order of their drawing. Only times of one provenance and of
 * the same shapes are compared. A speed-up is a geometric mean, that is a mean
 * of logarithms: with half-widths h of the intervals of n shapes' logarithms,
 * independent of each other, its own is sqrt(sum of h^2) / n.
 */
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- provenances ---- */
/* From a card down; what is not named here ranks before an estimate. */
static const struct provenance_kind {
  const char *prefix, *word;
} provenance_kinds[] = {{"hip:", "measured"},
                        {"table:", "recorded"},
                        {"sim:", "simulated"},
                        {"", ""},
                        {"estimate:", "estimated"}};
enum {
  PROVENANCE_KINDS = sizeof provenance_kinds / sizeof provenance_kinds[0],
  OTHER_KIND = 3
};

static int rank_of(const char *provenance) {
  for (int i = 0; i < PROVENANCE_KINDS; i++)
    if (i != OTHER_KIND && !strncmp(provenance, provenance_kinds[i].prefix,
                                    strlen(provenance_kinds[i].prefix)))
      return i;
  return OTHER_KIND;
}

const char *ws_provenance_word(const char *provenance) {
  int rank = rank_of(provenance);
  return rank == OTHER_KIND ? "other" : provenance_kinds[rank].word;
}

static void read_name(ws_arena *arena, sqlite3_stmt *statement,
                      void *out_item) {
  *(const char **)out_item = ws__archive_text(arena, statement, 0);
}

static int by_rank(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  int difference = rank_of(x) - rank_of(y);
  return difference ? difference : strcmp(x, y);
}

ws_status ws_archive_list_provenances(ws_archive *archive, ws_arena *arena,
                                      const char *const **out_items,
                                      int *out_count, ws_diag *diag) {
  *out_items = NULL;
  *out_count = 0;
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT DISTINCT provenance FROM measurement", ""));
  ws__rows rows = {.arena = arena, .size = sizeof **out_items};
  WS_TRY(ws__archive_read_rows(archive, statement, &rows, read_name, diag));
  if (rows.count)
    qsort(rows.items, (size_t)rows.count, rows.size, by_rank);
  *out_items = rows.items;
  *out_count = rows.count;
  return WS_OK;
}

/* ---- one over another ---- */
typedef struct times {
  const ws_measurement *items;
  int count;
} times;

static const ws_measurement *find_time(const times *of, const ws_shape *shape,
                                       const char *provenance) {
  for (int i = 0; i < of->count; i++)
    if (ws_shape_same(&of->items[i].shape, shape) &&
        !strcmp(of->items[i].provenance, provenance))
      return &of->items[i];
  return NULL;
}

/* Squared half-width of the interval of ln us; 0 where there is none. */
static double log_variance(const ws_measurement *item) {
  if (!(item->low_us > 0 && item->high_us > item->low_us))
    return 0;
  double half = log(item->high_us / item->low_us) / 2;
  return half * half;
}

static ws_speedup compare(const times *of, const times *over,
                          const char *provenance) {
  double sum = 0, variance = 0, worst = INFINITY;
  int shapes = 0;
  for (int i = 0; i < of->count; i++) {
    const ws_measurement *item = &of->items[i];
    const ws_measurement *other =
        strcmp(item->provenance, provenance)
            ? NULL
            : find_time(over, &item->shape, provenance);
    if (!other)
      continue;
    double gain = log(other->us / item->us);
    sum += gain;
    worst = fmin(worst, gain);
    variance += log_variance(item) + log_variance(other);
    shapes++;
  }
  if (!shapes)
    return (ws_speedup){.provenance = ""};
  double mean = sum / shapes, half = sqrt(variance) / shapes;
  return (ws_speedup){.value = exp(mean),
                      .low = exp(mean - half),
                      .high = exp(mean + half),
                      .worst = exp(worst),
                      .shapes = shapes,
                      .provenance = provenance};
}

static bool ranks_before(const ws_speedup *a, const ws_speedup *b) {
  if (!a->shapes || !b->shapes)
    return a->shapes > b->shapes;
  int rank_a = rank_of(a->provenance), rank_b = rank_of(b->provenance);
  return rank_a != rank_b ? rank_a < rank_b : a->shapes > b->shapes;
}

ws_status ws_archive_speedup(ws_archive *archive, ws_arena *arena,
                             const char *id, const char *over_id,
                             const char *provenance, ws_speedup *out_speedup,
                             ws_diag *diag) {
  *out_speedup = (ws_speedup){.provenance = ""};
  ws_measurement *items, *over_items;
  times of, over;
  WS_TRY(
      ws_archive_get_measurements(archive, arena, id, &items, &of.count, diag));
  WS_TRY(ws_archive_get_measurements(archive, arena, over_id, &over_items,
                                     &over.count, diag));
  of.items = items;
  over.items = over_items;
  for (int i = 0; i < of.count; i++) {
    const char *candidate = items[i].provenance;
    if (provenance && strcmp(candidate, provenance))
      continue;
    if (i && !strcmp(candidate, items[i - 1].provenance))
      continue;
    ws_speedup found = compare(&of, &over, candidate);
    if (ranks_before(&found, out_speedup))
      *out_speedup = found;
  }
  return WS_OK;
}

/* ---- a run's progress ---- */
static void read_point(ws_arena *arena, sqlite3_stmt *statement,
                       void *out_item) {
  ws_progress_point *point = out_item;
  ws__archive_read_candidate(arena, statement, &point->row);
  point->sequence = sqlite3_column_int64(statement, WS__CANDIDATE_COLUMN_COUNT);
}

static ws_status read_points(ws_archive *archive, int64_t run_id,
                             ws__rows *points, ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(
      ws__archive_query(archive, &statement, diag,
                        "SELECT " WS__CANDIDATE_COLUMNS ",d.sequence"
                        " FROM draw d JOIN candidate c ON c.id=d.candidate_id"
                        " JOIN template t ON t.hash=c.template_hash"
                        " WHERE d.run_id=? ORDER BY d.sequence",
                        "i", run_id));
  return ws__archive_read_rows(archive, statement, points, read_point, diag);
}

typedef struct provenance_count {
  const char *provenance;
  int64_t draws;
} provenance_count;

static void read_provenance(ws_arena *arena, sqlite3_stmt *statement,
                            void *out_item) {
  *(provenance_count *)out_item =
      (provenance_count){ws__archive_text(arena, statement, 0),
                         sqlite3_column_int64(statement, 1)};
}

static ws_status choose_provenance(ws_archive *archive, ws_arena *arena,
                                   int64_t run_id, const char **out_provenance,
                                   ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(ws__archive_query(archive, &statement, diag,
                           "SELECT x.provenance,count(DISTINCT d.sequence)"
                           " FROM draw d JOIN measurement x"
                           " ON x.candidate_id=d.candidate_id"
                           " WHERE d.run_id=? GROUP BY x.provenance",
                           "i", run_id));
  ws__rows rows = {.arena = arena, .size = sizeof(provenance_count)};
  WS_TRY(
      ws__archive_read_rows(archive, statement, &rows, read_provenance, diag));
  const provenance_count *items = rows.items, *best = NULL;
  for (int i = 0; i < rows.count; i++)
    if (!best || items[i].draws > best->draws ||
        (items[i].draws == best->draws &&
         rank_of(items[i].provenance) < rank_of(best->provenance)))
      best = &items[i];
  *out_provenance = best ? best->provenance : "";
  return WS_OK;
}

typedef struct drawn_time {
  int64_t sequence;
  ws_shape shape;
  double us;
} drawn_time;

static void read_time(ws_arena *arena, sqlite3_stmt *statement,
                      void *out_item) {
  (void)arena;
  *(drawn_time *)out_item = (drawn_time){sqlite3_column_int64(statement, 0),
                                         ws__archive_shape(statement, 1),
                                         sqlite3_column_double(statement, 2)};
}

/* In order of sequence, then of shape. Shapes that only few have, such as those
 * beside the run's that finalists are timed on, would leave the others without
 * a rank: counted are those that at least half as many draws have as the shape
 * that most have. */
static ws_status read_times(ws_archive *archive, int64_t run_id,
                            const char *provenance, ws__rows *rows,
                            ws_diag *diag) {
  sqlite3_stmt *statement;
  WS_TRY(
      ws__archive_query(archive, &statement, diag,
                        "WITH t AS MATERIALIZED("
                        " SELECT d.sequence,x.shape,x.us FROM draw d"
                        " JOIN measurement x"
                        " ON x.candidate_id=d.candidate_id"
                        " WHERE d.run_id=? AND x.provenance=?),"
                        " s AS MATERIALIZED(SELECT shape,count(*) draws"
                        " FROM t GROUP BY shape)"
                        " SELECT t.sequence,t.shape,t.us"
                        " FROM t JOIN s USING(shape)"
                        " WHERE 2*s.draws>=(SELECT max(draws) FROM s)"
                        " ORDER BY t.sequence,t.shape COLLATE wavesmith_shape",
                        "it", run_id, provenance));
  return ws__archive_read_rows(archive, statement, rows, read_time, diag);
}

/* Geometric mean over the shapes of the reference; 0: one is missing. */
static double geomean_over(const drawn_time *reference, int reference_count,
                           const drawn_time *items, int count) {
  double sum = 0;
  int shapes = 0;
  for (int i = 0; i < count && shapes < reference_count; i++)
    if (ws_shape_same(&items[i].shape, &reference[shapes].shape)) {
      sum += log(items[i].us);
      shapes++;
    }
  return shapes && shapes == reference_count ? exp(sum / shapes) : 0;
}

/* Both lists are in order of sequence. */
static void rank_points(ws_progress_point *points, ws_progress *progress,
                        const drawn_time *items, int item_count) {
  const drawn_time *reference = NULL;
  double reference_us = 0, best = 0;
  for (int p = 0, to = 0; p < progress->count; p++) {
    ws_progress_point *point = &points[p];
    while (to < item_count && items[to].sequence < point->sequence)
      to++;
    int from = to;
    while (to < item_count && items[to].sequence == point->sequence)
      to++;
    if (to > from && !strcmp(point->row.verdict, "ok")) {
      if (!reference) {
        reference = &items[from];
        progress->shapes = to - from;
        progress->reference_id = point->row.id;
      }
      point->geomean_us =
          geomean_over(reference, progress->shapes, &items[from], to - from);
      if (!(reference_us > 0))
        reference_us = point->geomean_us;
      if (point->geomean_us > 0)
        point->speedup = reference_us / point->geomean_us;
    }
    point->improves = point->speedup > best;
    best = fmax(best, point->speedup);
    point->best_speedup = best;
  }
}

ws_status ws_archive_progress(ws_archive *archive, ws_arena *arena,
                              int64_t run_id, const char *provenance,
                              ws_progress *out_progress, ws_diag *diag) {
  *out_progress = (ws_progress){.provenance = "", .reference_id = ""};
  ws__rows points = {.arena = arena, .size = sizeof(ws_progress_point)};
  ws__rows items = {.arena = arena, .size = sizeof(drawn_time)};
  WS_TRY(read_points(archive, run_id, &points, diag));
  if (!provenance)
    WS_TRY(choose_provenance(archive, arena, run_id, &provenance, diag));
  WS_TRY(read_times(archive, run_id, provenance, &items, diag));
  *out_progress = (ws_progress){.points = points.items,
                                .count = points.count,
                                .provenance = provenance,
                                .reference_id = ""};
  rank_points(points.items, out_progress, items.items, items.count);
  return WS_OK;
}
