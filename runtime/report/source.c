/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads the archive for a report: chooses the task and its runs, asks for what
 * each run drew, gives every candidate one number and reads its times.
 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* ---- task and runs ---- */
static bool same_task(const ws_run_row *a, const ws_run_row *b) {
  return !strcmp(a->problem, b->problem) && !strcmp(a->layout, b->layout) &&
         !strcmp(a->target, b->target);
}

static bool is_named(const ws_report_options *options, int64_t id) {
  for (int i = 0; i < options->run_count; i++)
    if (options->runs[i] == id)
      return true;
  return options->run_count == 0;
}

static bool fits(const ws_report_options *options, const ws_run_row *run) {
  return is_named(options, run->id) &&
         (!options->layout || !strcmp(options->layout, run->layout));
}

static ws_status check_runs_exist(const ws__report_source *source,
                                  const ws_report_options *options,
                                  ws_diag *diag) {
  for (int i = 0; i < options->run_count; i++) {
    bool found = false;
    for (int r = 0; r < source->all_run_count; r++)
      found |= source->all_runs[r].id == options->runs[i];
    if (!found)
      return ws_fail(diag, WS_INPUT, source->archive_name, 0,
                     "there is no run %lld; the archive has %d run(s)",
                     (long long)options->runs[i], source->all_run_count);
  }
  return WS_OK;
}

/* The run whose task is shown: the latest that fits. */
static ws_status choose_task(ws__report_source *source,
                             const ws_report_options *options,
                             const ws_run_row **out_run, ws_diag *diag) {
  *out_run = NULL;
  WS_TRY(check_runs_exist(source, options, diag));
  for (int r = 0; r < source->all_run_count; r++)
    if (fits(options, &source->all_runs[r]))
      *out_run = &source->all_runs[r];
  if (!*out_run && options->layout && source->all_run_count)
    return ws_fail(
        diag, WS_INPUT, source->archive_name, 0, "no run%s has the layout '%s'",
        options->run_count ? " of those named" : "", options->layout);
  for (int r = 0; r < source->all_run_count && options->run_count; r++)
    if (fits(options, &source->all_runs[r]) &&
        !same_task(&source->all_runs[r], *out_run))
      return ws_fail(diag, WS_INPUT, source->archive_name, 0,
                     "runs %lld and %lld are of different tasks, whose times "
                     "do not compare; name runs of one problem, layout and "
                     "target",
                     (long long)source->all_runs[r].id,
                     (long long)(*out_run)->id);
  return WS_OK;
}

static void choose_runs(ws__report_source *source,
                        const ws_report_options *options,
                        const ws_run_row *task) {
  source->problem = task->problem;
  source->layout = task->layout;
  source->target = task->target;
  source->runs = ws_arena_alloc(
      source->arena, sizeof *source->runs * (size_t)source->all_run_count);
  for (int r = 0; r < source->all_run_count; r++)
    if (fits(options, &source->all_runs[r]) &&
        same_task(&source->all_runs[r], task))
      source->runs[source->run_count++].row = source->all_runs[r];
}

/* ---- what the runs drew ---- */
typedef struct draw {
  const ws_candidate_row *row;
  int run, place, candidate;
} draw;

static int by_id_then_order(const void *a, const void *b) {
  const draw *x = a, *y = b;
  int order = strcmp(x->row->id, y->row->id);
  if (!order)
    order = x->run - y->run;
  return order ? order : x->place - y->place;
}

static int by_order(const void *a, const void *b) {
  const draw *x = a, *y = b;
  return x->run != y->run ? x->run - y->run : x->place - y->place;
}

static ws_status read_draws(ws__report_source *source, ws_progress *progress,
                            draw **out_draws, int *out_count, ws_diag *diag) {
  int count = 0;
  for (int r = 0; r < source->run_count; r++) {
    WS_TRY(ws_archive_progress(source->archive, source->arena,
                               source->runs[r].row.id, NULL, &progress[r],
                               diag));
    count += progress[r].count;
  }
  draw *draws =
      ws_arena_alloc(source->arena, sizeof *draws * (size_t)(count + 1));
  int used = 0;
  for (int r = 0; r < source->run_count; r++)
    for (int i = 0; i < progress[r].count; i++)
      draws[used++] =
          (draw){.row = &progress[r].points[i].row, .run = r, .place = i};
  *out_draws = draws;
  *out_count = count;
  return WS_OK;
}

/* Every candidate gets the number of its first draw among first draws. */
static void number_candidates(ws__report_source *source, draw *draws,
                              int count) {
  ws_arena *arena = source->arena;
  draw **firsts = ws_arena_alloc(arena, sizeof *firsts * (size_t)(count + 1));
  int *by_id = ws_arena_alloc(arena, sizeof *by_id * (size_t)(count + 1));
  int *first_of = ws_arena_alloc(arena, sizeof *first_of * (size_t)(count + 1));
  draw *sorted = ws_arena_alloc(arena, sizeof *sorted * (size_t)(count + 1));
  memcpy(sorted, draws, sizeof *sorted * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, by_id_then_order);
  int unique = 0;
  for (int i = 0; i < count; i++) {
    if (!i || strcmp(sorted[i].row->id, sorted[i - 1].row->id))
      firsts[unique++] = &sorted[i];
    sorted[i].candidate = unique - 1; /* its place by id, for now */
  }
  for (int u = 0; u < unique; u++)
    first_of[u] = -1;
  qsort(sorted, (size_t)count, sizeof *sorted, by_order);
  source->candidates =
      ws_arena_alloc(arena, sizeof *source->candidates * (size_t)(unique + 1));
  for (int i = 0; i < count; i++) {
    int place = sorted[i].candidate;
    if (first_of[place] < 0) {
      first_of[place] = source->candidate_count++;
      source->candidates[first_of[place]].row = *sorted[i].row;
      by_id[place] = first_of[place];
    }
    draws[i].candidate = first_of[place];
  }
  source->by_id = by_id;
}

static ws_status read_runs(ws__report_source *source, ws_diag *diag) {
  ws_progress *progress = ws_arena_alloc(
      source->arena, sizeof *progress * (size_t)(source->run_count + 1));
  draw *draws;
  int count, next = 0;
  WS_TRY(read_draws(source, progress, &draws, &count, diag));
  number_candidates(source, draws, count);
  for (int r = 0; r < source->run_count; r++) {
    int *candidates = ws_arena_alloc(
        source->arena, sizeof *candidates * (size_t)(progress[r].count + 1));
    for (int i = 0; i < progress[r].count; i++)
      candidates[i] = draws[next++].candidate;
    source->runs[r].draws = candidates;
    source->runs[r].draw_count = progress[r].count;
  }
  return WS_OK;
}

/* ---- times ---- */
static const char *const ranking_verdicts[] = {"ok", "slow"};

static ws_status read_times(ws__report_source *source, ws_diag *diag) {
  for (int c = 0; c < source->candidate_count; c++) {
    ws__report_candidate *candidate = &source->candidates[c];
    ws_measurement *times;
    WS_TRY(ws_archive_get_measurements(source->archive, source->arena,
                                       candidate->row.id, &times,
                                       &candidate->time_count, diag));
    candidate->times = times;
    for (size_t v = 0; v < sizeof ranking_verdicts / sizeof *ranking_verdicts;
         v++)
      candidate->ranks |= !strcmp(candidate->row.verdict, ranking_verdicts[v]);
  }
  return WS_OK;
}

/* ---- provenances ---- */
static int rank_of(const char *provenance) {
  static const char *const words[] = {"measured", "recorded", "simulated",
                                      "estimated"};
  static const int ranks[] = {0, 1, 2, 4};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (!strcmp(ws_provenance_word(provenance), words[i]))
      return ranks[i];
  return 3;
}

static int by_rank(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  return rank_of(x) != rank_of(y) ? rank_of(x) - rank_of(y) : strcmp(x, y);
}

enum { MAX_PROVENANCES = 32 }; /* more than any archive has */

static void collect_provenances(ws__report_source *source,
                                const char **out_names) {
  for (int c = 0; c < source->candidate_count; c++)
    for (int i = 0; i < source->candidates[c].time_count; i++) {
      const char *name = source->candidates[c].times[i].provenance;
      int p = 0;
      while (p < source->provenance_count && strcmp(out_names[p], name))
        p++;
      if (p == source->provenance_count && p < MAX_PROVENANCES)
        out_names[source->provenance_count++] = name;
    }
  qsort(out_names, (size_t)source->provenance_count, sizeof *out_names,
        by_rank);
}

static ws_status choose_provenances(ws__report_source *source,
                                    const char *wanted, ws_diag *diag) {
  const char **names =
      ws_arena_alloc(source->arena, sizeof *names * MAX_PROVENANCES);
  collect_provenances(source, names);
  source->provenances = names;
  if (!wanted)
    return WS_OK;
  ws_strbuf known;
  ws_strbuf_init(&known);
  int kept = 0;
  for (int p = 0; p < source->provenance_count; p++) {
    ws_strbuf_printf(&known, "%s%s", p ? ", " : "", names[p]);
    if (!strncmp(names[p], wanted, strlen(wanted)))
      names[kept++] = names[p];
  }
  source->provenance_count = kept;
  ws_status status = kept
                         ? WS_OK
                         : ws_fail(diag, WS_INPUT, source->archive_name, 0,
                                   "no times of provenance '%s'; there are: %s",
                                   wanted, known.size ? known.data : "none");
  ws_strbuf_deinit(&known);
  return status;
}

/* ---- exchanges ---- */
static ws_status read_exchanges(ws__report_source *source, ws_diag *diag) {
  ws_exchange_row *rows;
  int count, kept = 0;
  WS_TRY(ws_archive_list_exchanges(source->archive, source->arena, 0, &rows,
                                   &count, diag));
  for (int i = 0; i < count; i++)
    if (ws__report_shows_run(source, rows[i].run_id))
      rows[kept++] = rows[i];
  source->exchanges = rows;
  source->exchange_count = kept;
  return WS_OK;
}

/* ---- all of it ---- */
ws_status ws__report_read(ws_archive *archive, ws_arena *arena,
                          const ws_report_options *options,
                          ws__report_source *out, ws_diag *diag) {
  const char *slash = strrchr(options->archive_name, '/');
  *out = (ws__report_source){.archive = archive,
                             .arena = arena,
                             .archive_name =
                                 slash ? slash + 1 : options->archive_name,
                             .problem = "",
                             .layout = "",
                             .target = ""};
  ws_run_row *runs;
  const ws_run_row *task;
  WS_TRY(
      ws_archive_list_runs(archive, arena, &runs, &out->all_run_count, diag));
  out->all_runs = runs;
  WS_TRY(choose_task(out, options, &task, diag));
  if (task)
    choose_runs(out, options, task);
  WS_TRY(read_runs(out, diag));
  WS_TRY(read_times(out, diag));
  WS_TRY(choose_provenances(out, options->provenance, diag));
  return read_exchanges(out, diag);
}

int ws__report_find(const ws__report_source *source, const char *id) {
  int low = 0, high = source->candidate_count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    int order = strcmp(source->candidates[source->by_id[middle]].row.id, id);
    if (!order)
      return source->by_id[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

bool ws__report_shows_run(const ws__report_source *source, int64_t id) {
  for (int r = 0; r < source->run_count; r++)
    if (source->runs[r].row.id == id)
      return true;
  return false;
}

const ws_measurement *ws__report_time(const ws__report_candidate *candidate,
                                      const char *provenance,
                                      const ws_shape *shape) {
  for (int i = 0; i < candidate->time_count; i++)
    if (candidate->times[i].us > 0 &&
        !memcmp(&candidate->times[i].shape, shape, sizeof *shape) &&
        !strcmp(candidate->times[i].provenance, provenance))
      return &candidate->times[i];
  return NULL;
}
