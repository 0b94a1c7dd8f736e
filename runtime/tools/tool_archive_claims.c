/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive claims`: which kinds of claims hold. A reply says what it
 * expects ("speedup 1.05 to 1.2"); the run adds what came of it. Claims on one
 * shape ("speedup 16,16,128") count together.
 */
#include "tool_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = 64 };

typedef struct values {
  double *items;
  int count, capacity;
} values;

typedef struct claim_kind {
  const char *what;
  int claims, inside;
  values middle, measured; /* of claims whose outcome is known */
} claim_kind;

typedef struct claim_table {
  archive_call *call;
  claim_kind kinds[MOST_KINDS];
  int count;
  int unreadable;
} claim_table;

static void add_value(ws_arena *arena, values *list, double value) {
  if (list->count == list->capacity) {
    int capacity = list->capacity ? 2 * list->capacity : 16;
    double *larger = ws_arena_alloc(arena, sizeof *larger * (size_t)capacity);
    if (list->count)
      memcpy(larger, list->items, sizeof *larger * (size_t)list->count);
    list->items = larger;
    list->capacity = capacity;
  }
  list->items[list->count++] = value;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* 0 when there is none. */
static double median(values *list) {
  if (!list->count)
    return 0;
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_value);
  int half = list->count / 2;
  return list->count % 2 ? list->items[half]
                         : (list->items[half - 1] + list->items[half]) / 2;
}

/* ---- counting ---- */
/* NULL: there are too many kinds. */
static claim_kind *find_kind(claim_table *table, const char *what) {
  size_t word = strcspn(what, " ");
  const char *name = what[word]
                         ? ws_arena_printf(table->call->arena,
                                           "%.*s of one shape", (int)word, what)
                         : ws_arena_strdup(table->call->arena, what);
  for (int i = 0; i < table->count; i++)
    if (!strcmp(table->kinds[i].what, name))
      return &table->kinds[i];
  if (table->count == MOST_KINDS)
    return NULL;
  table->kinds[table->count] = (claim_kind){.what = name};
  return &table->kinds[table->count++];
}

static void add_claim(claim_table *table, const cJSON *claim) {
  const cJSON *what = cJSON_GetObjectItemCaseSensitive(claim, "what");
  const cJSON *low = cJSON_GetObjectItemCaseSensitive(claim, "low");
  const cJSON *high = cJSON_GetObjectItemCaseSensitive(claim, "high");
  const cJSON *measured = cJSON_GetObjectItemCaseSensitive(claim, "measured");
  claim_kind *kind = NULL;
  if (cJSON_IsString(what) && cJSON_IsNumber(low) && cJSON_IsNumber(high))
    kind = find_kind(table, what->valuestring);
  if (!kind) {
    table->unreadable++;
    return;
  }
  kind->claims++;
  if (!cJSON_IsNumber(measured))
    return;
  double value = measured->valuedouble;
  kind->inside += low->valuedouble <= value && value <= high->valuedouble;
  add_value(table->call->arena, &kind->middle,
            (low->valuedouble + high->valuedouble) / 2);
  add_value(table->call->arena, &kind->measured, value);
}

static void add_claims(claim_table *table, const char *text) {
  if (!*text)
    return;
  cJSON *list = ws_json_parse(text, strlen(text), "claims", NULL);
  const cJSON *claim;
  cJSON_ArrayForEach(claim, list) add_claim(table, claim);
  table->unreadable += !list;
  cJSON_Delete(list);
}

/* ---- showing ---- */
static void print_claims_json(claim_table *table) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < table->count; i++) {
    claim_kind *kind = &table->kinds[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "what", kind->what);
    cJSON_AddNumberToObject(item, "claims", kind->claims);
    cJSON_AddNumberToObject(item, "measured", kind->measured.count);
    cJSON_AddNumberToObject(item, "inside", kind->inside);
    if (kind->measured.count) {
      cJSON_AddNumberToObject(item, "median_claimed", median(&kind->middle));
      cJSON_AddNumberToObject(item, "median_measured", median(&kind->measured));
    }
    cJSON_AddItemToArray(list, item);
  }
  archive_print_json(list);
}

static void add_row(ws_arena *arena, text_table *shown, claim_kind *kind) {
  int known = kind->measured.count;
  const char *cells[] = {
      kind->what,
      ws_arena_printf(arena, "%d", kind->claims),
      ws_arena_printf(arena, "%d", known),
      ws_arena_printf(arena, "%d", kind->inside),
      known ? ws_arena_printf(arena, "%.0f %%", 100.0 * kind->inside / known)
            : "-",
      known ? ws_arena_printf(arena, "%.4g", median(&kind->middle)) : "-",
      known ? ws_arena_printf(arena, "%.4g", median(&kind->measured)) : "-"};
  text_table_add(shown, cells);
}

static void print_claims(claim_table *table) {
  static const char *const headings[] = {
      "claim on", "claims",         "outcome known", "in the range",
      "that is",  "median claimed", "median found"};
  ws_arena *arena = table->call->arena;
  text_table shown = text_table_create(arena, "lrrrrrr", headings);
  for (int i = 0; i < table->count; i++)
    add_row(arena, &shown, &table->kinds[i]);
  if (table->count)
    text_table_print(&shown);
  else
    puts("no claims are recorded");
  if (table->unreadable)
    printf("%d claims cannot be read\n", table->unreadable);
}

ws_status archive_run_claims(archive_call *call) {
  ws_exchange_row *items;
  int count;
  WS_TRY(archive_check_run(call));
  WS_TRY(ws_archive_list_exchanges(call->archive, call->arena,
                                   call->arguments->filter.run_id, &items,
                                   &count, call->diag));
  claim_table *table = ws_arena_alloc(call->arena, sizeof *table);
  table->call = call;
  for (int i = 0; i < count; i++)
    add_claims(table, items[i].claims_json);
  (call->arguments->json ? print_claims_json : print_claims)(table);
  return WS_OK;
}
