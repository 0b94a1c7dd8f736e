/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive lineage`: where a candidate comes from and what came of
 * it. Ancestors go along first parents; descendants are all whose first or
 * second parent is in the tree. A candidate stands in it once, at its first
 * place.
 */
#include "tool_archive.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 1000 }; /* of ancestors, and of descendants */

typedef struct node {
  ws_candidate_row row;
  int depth;
  ws_speedup speedup; /* over its first parent */
} node;

typedef struct lineage {
  archive_call *call;
  node *nodes;
  int count, capacity;
  int self;   /* index of the candidate asked for */
  void *seen; /* tsearch tree of ids */
} lineage;

static int by_text(const void *a, const void *b) { return strcmp(a, b); }
static void keep(void *item) { (void)item; } /* ids live in the arena */

/* *out_new: false when the candidate stands in the tree already. */
static ws_status add_node(lineage *l, const ws_candidate_row *row, int depth,
                          bool *out_new) {
  *out_new = !tfind(row->id, &l->seen, by_text);
  if (!*out_new)
    return WS_OK;
  WS_ASSERT(tsearch(row->id, &l->seen, by_text));
  if (l->count == l->capacity) {
    int capacity = l->capacity ? 2 * l->capacity : 32;
    node *larger =
        ws_arena_alloc(l->call->arena, sizeof *larger * (size_t)capacity);
    if (l->count)
      memcpy(larger, l->nodes, sizeof *larger * (size_t)l->count);
    l->nodes = larger;
    l->capacity = capacity;
  }
  node *added = &l->nodes[l->count++];
  *added = (node){.row = *row, .depth = depth, .speedup = {.provenance = ""}};
  if (!*row->parent_id)
    return WS_OK;
  return ws_archive_speedup(
      l->call->archive, l->call->arena, row->id, row->parent_id,
      l->call->arguments->filter.provenance, &added->speedup, l->call->diag);
}

/* From the oldest to the candidate itself. */
static ws_status add_ancestors(lineage *l, const ws_candidate_row *self) {
  ws_candidate_row *chain =
      ws_arena_alloc(l->call->arena, sizeof *chain * MOST_LEVELS);
  int count = 0;
  bool found = true, added;
  for (ws_candidate_row row = *self; found && count < MOST_LEVELS;) {
    chain[count++] = row;
    if (!*row.parent_id || !strcmp(row.parent_id, self->id))
      break;
    WS_TRY(ws_archive_get_candidate(l->call->archive, l->call->arena,
                                    row.parent_id, &found, &row,
                                    l->call->diag));
  }
  for (int i = count - 1; i >= 0; i--)
    WS_TRY(add_node(l, &chain[i], count - 1 - i, &added));
  l->self = l->count - 1;
  return WS_OK;
}

static ws_status add_descendants(lineage *l, const char *id, int depth,
                                 int level) {
  ws_candidate_row *rows;
  int count;
  WS_TRY(ws_archive_list_children(l->call->archive, l->call->arena, id, &rows,
                                  &count, l->call->diag));
  for (int i = 0; i < count; i++) {
    bool added;
    WS_TRY(add_node(l, &rows[i], depth, &added));
    if (added && level < MOST_LEVELS)
      WS_TRY(add_descendants(l, rows[i].id, depth + 1, level + 1));
  }
  return WS_OK;
}

/* ---- showing ---- */
static cJSON *node_json(const node *shown) {
  cJSON *json = archive_row_json(&shown->row);
  cJSON_AddNumberToObject(json, "depth", shown->depth);
  cJSON_AddItemToObject(json, "speedup_over_parent",
                        archive_speedup_json(&shown->speedup));
  return json;
}

static void print_lineage_json(const lineage *l) {
  cJSON *json = cJSON_CreateObject();
  cJSON *ancestors = cJSON_AddArrayToObject(json, "ancestors");
  cJSON_AddItemToObject(json, "candidate", node_json(&l->nodes[l->self]));
  cJSON *descendants = cJSON_AddArrayToObject(json, "descendants");
  for (int i = 0; i < l->count; i++)
    if (i != l->self)
      cJSON_AddItemToArray(i < l->self ? ancestors : descendants,
                           node_json(&l->nodes[i]));
  archive_print_json(json);
}

static const char *description(ws_arena *arena, const ws_candidate_row *row) {
  const char *what = *row->label ? row->label : row->move;
  if (!*row->second_parent_id)
    return what;
  return ws_arena_printf(arena, "%s%s(with %.8s)", what, *what ? " " : "",
                         row->second_parent_id);
}

static void print_lineage(const lineage *l) {
  static const char *const headings[] = {
      "candidate", "speed-up over parent", "verdict", "kind", "by", "what"};
  ws_arena *arena = l->call->arena;
  text_table table = text_table_create(arena, "llllll", headings);
  for (int i = 0; i < l->count; i++) {
    const node *shown = &l->nodes[i];
    const ws_candidate_row *row = &shown->row;
    const char *cells[] = {ws_arena_printf(arena, "%*s%.8s%s", 2 * shown->depth,
                                           "", row->id,
                                           i == l->self ? " *" : ""),
                           archive_speedup_text(arena, &shown->speedup),
                           row->verdict,
                           *row->kind ? row->kind : "-",
                           row->proposer,
                           description(arena, row)};
    text_table_add(&table, cells);
  }
  text_table_print(&table);
  printf("* asked for; %d above it, %d below\n", l->self,
         l->count - 1 - l->self);
  if (*l->nodes[0].row.parent_id)
    printf("%.8s, the parent of %.8s, is not in this archive\n",
           l->nodes[0].row.parent_id, l->nodes[0].row.id);
}

ws_status archive_run_lineage(archive_call *call) {
  ws_candidate_row self;
  lineage l = {.call = call};
  WS_TRY(archive_find_candidate(call, call->arguments->words[0], &self));
  ws_status status = add_ancestors(&l, &self);
  if (status == WS_OK)
    status = add_descendants(&l, self.id, l.nodes[l.self].depth + 1, 0);
  tdestroy(l.seen, keep);
  if (status == WS_OK)
    (call->arguments->json ? print_lineage_json : print_lineage)(&l);
  return status;
}
