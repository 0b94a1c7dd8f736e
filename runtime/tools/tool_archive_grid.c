/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive grid`: the cells that candidates lie in, with how many
 * there are and the best of each by times of one provenance. A cell is the text
 * that the search recorded, "lds=16-32K registers=65-128 ...".
 */
#include "tool_archive.h"

#include <stdio.h>
#include <string.h>

enum { MOST_AXES = 8 };

typedef struct cell {
  const char *text;
  int candidates, ok;
  const ws_candidate_summary *best; /* NULL: none is ok and has times */
} cell;

typedef struct grid {
  ws_arena *arena;
  const char *provenance; /* "": no candidate in a cell has times */
  cell *cells;
  int count;
} grid;

/* ---- reading ---- */
/* That which most candidates in cells have times of; of equals the highest in
 * rank. */
static ws_status choose_provenance(archive_call *call,
                                   const char **out_provenance) {
  const char *const *names;
  ws_candidate_summary *items;
  int name_count, count, most = 0;
  ws_archive_filter filter = call->arguments->filter;
  filter.limit = 0;
  WS_TRY(ws_archive_list_provenances(call->archive, call->arena, &names,
                                     &name_count, call->diag));
  WS_TRY(ws_archive_list(call->archive, call->arena, &filter, &items, &count,
                         call->diag));
  *out_provenance = "";
  for (int p = 0; p < name_count; p++) {
    int found = 0;
    for (int i = 0; i < count; i++)
      found += *items[i].row.cell && !strcmp(items[i].provenance, names[p]);
    if (found > most) {
      most = found;
      *out_provenance = names[p];
    }
  }
  return WS_OK;
}

static cell *find_cell(grid *g, const char *text) {
  for (int i = 0; i < g->count; i++)
    if (!strcmp(g->cells[i].text, text))
      return &g->cells[i];
  g->cells[g->count] = (cell){.text = text};
  return &g->cells[g->count++];
}

/* Summaries come by score, so the first of a cell is its best. */
static ws_status read_grid(archive_call *call, grid *g) {
  ws_candidate_summary *items;
  int count;
  ws_archive_filter filter = call->arguments->filter;
  filter.limit = 0;
  filter.order_by_score = true;
  filter.provenance = g->provenance;
  WS_TRY(ws_archive_list(call->archive, call->arena, &filter, &items, &count,
                         call->diag));
  g->cells = ws_arena_alloc(call->arena, sizeof *g->cells * (size_t)count);
  for (int i = 0; i < count; i++) {
    if (!*items[i].row.cell)
      continue;
    cell *found = find_cell(g, items[i].row.cell);
    bool ok = !strcmp(items[i].row.verdict, "ok");
    found->candidates++;
    found->ok += ok;
    if (ok && !found->best && items[i].measured_shapes)
      found->best = &items[i];
  }
  return WS_OK;
}

/* ---- showing ---- */
static void print_grid_json(const grid *g) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "provenance", g->provenance);
  cJSON *list = cJSON_AddArrayToObject(json, "cells");
  for (int i = 0; i < g->count; i++) {
    const cell *shown = &g->cells[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "cell", shown->text);
    cJSON_AddNumberToObject(item, "candidates", shown->candidates);
    cJSON_AddNumberToObject(item, "ok", shown->ok);
    cJSON *best = cJSON_AddObjectToObject(item, "best");
    if (shown->best) {
      cJSON_AddStringToObject(best, "id", shown->best->row.id);
      cJSON_AddStringToObject(best, "label", shown->best->row.label);
      cJSON_AddNumberToObject(best, "geomean_us", shown->best->geomean_us);
      cJSON_AddNumberToObject(best, "shapes", shown->best->measured_shapes);
    }
    cJSON_AddItemToArray(list, item);
  }
  archive_print_json(json);
}

/* The axes of a cell padded, so that they stand below each other: axis i is the
 * i-th word. */
static void measure_axes(const grid *g, size_t widths[MOST_AXES]) {
  for (int i = 0; i < g->count; i++) {
    const char *word = g->cells[i].text;
    for (int axis = 0; axis < MOST_AXES && *word; axis++) {
      size_t size = strcspn(word, " ");
      if (widths[axis] < size)
        widths[axis] = size;
      word += size + strspn(word + size, " ");
    }
  }
}

static const char *padded(ws_arena *arena, const char *text,
                          const size_t widths[MOST_AXES]) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int axis = 0; *text; axis++) {
    size_t size = strcspn(text, " ");
    ws_strbuf_append(&out, text, size);
    text += size + strspn(text + size, " ");
    if (*text)
      ws_strbuf_printf(&out, "%*s",
                       axis < MOST_AXES ? (int)(widths[axis] - size) + 1 : 1,
                       "");
  }
  const char *copy = ws_arena_strndup(arena, out.data, out.size);
  ws_strbuf_deinit(&out);
  return copy;
}

static void add_cell(const grid *g, text_table *table, const cell *shown,
                     const size_t widths[MOST_AXES]) {
  const ws_candidate_summary *best = shown->best;
  ws_arena *arena = g->arena;
  const char *cells[] = {
      ws_arena_printf(arena, "%d", shown->candidates),
      ws_arena_printf(arena, "%d", shown->ok),
      best ? ws_arena_printf(arena, "%.2f", best->geomean_us) : "-",
      best ? ws_arena_printf(arena, "%d", best->measured_shapes) : "-",
      best ? archive_short_id(arena, best->row.id) : "-",
      padded(arena, shown->text, widths),
      best ? best->row.label : ""};
  text_table_add(table, cells);
}

static void print_grid(const grid *g) {
  static const char *const headings[] = {
      "candidates", "ok", "best us", "shapes", "best", "cell", "label"};
  size_t widths[MOST_AXES] = {0};
  text_table table = text_table_create(g->arena, "rrrrlll", headings);
  measure_axes(g, widths);
  for (int i = 0; i < g->count; i++)
    add_cell(g, &table, &g->cells[i], widths);
  if (g->count)
    text_table_print(&table);
  printf("%d cells are used", g->count);
  if (*g->provenance)
    printf("; times are %s (%s), geometric means over the shapes",
           ws_provenance_word(g->provenance), g->provenance);
  putchar('\n');
}

ws_status archive_run_grid(archive_call *call) {
  grid g = {.arena = call->arena,
            .provenance = call->arguments->filter.provenance};
  WS_TRY(archive_check_run(call));
  if (!g.provenance)
    WS_TRY(choose_provenance(call, &g.provenance));
  WS_TRY(read_grid(call, &g));
  (call->arguments->json ? print_grid_json : print_grid)(&g);
  return WS_OK;
}
