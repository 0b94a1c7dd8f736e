/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive ls` and `show`: candidates by score; one in depth.
 */
#include "tool_archive.h"
#include "wavesmith/sim_error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- ls ---- */
static cJSON *counts_json(const int64_t counts[WS_VERDICT_COUNT]) {
  cJSON *json = cJSON_CreateObject();
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (counts[i])
      cJSON_AddNumberToObject(json, ws_verdict_text((ws_verdict)i),
                              (double)counts[i]);
  return json;
}

static void print_list_json(const ws_candidate_summary *items, int count,
                            const int64_t counts[WS_VERDICT_COUNT]) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "verdicts", counts_json(counts));
  cJSON *list = cJSON_AddArrayToObject(json, "candidates");
  for (int i = 0; i < count; i++) {
    cJSON *item = archive_row_json(&items[i].row);
    if (items[i].measured_shapes) {
      cJSON_AddNumberToObject(item, "geomean_us", items[i].geomean_us);
      cJSON_AddNumberToObject(item, "shapes", items[i].measured_shapes);
      cJSON_AddStringToObject(item, "provenance", items[i].provenance);
    }
    cJSON_AddItemToArray(list, item);
  }
  archive_print_json(json);
}

static void print_list(const ws_candidate_summary *items, int count,
                       const int64_t counts[WS_VERDICT_COUNT]) {
  printf("%-8s %10s %6s %-9s %-10s %-8s %s\n", "id", "geomean us", "shapes",
         "times are", "verdict", "layout", "template: parameters | variants");
  for (int i = 0; i < count; i++) {
    const ws_candidate_summary *item = &items[i];
    if (item->measured_shapes)
      printf("%.8s %10.2f %6d %-9.*s", item->row.id, item->geomean_us,
             item->measured_shapes, (int)strcspn(item->provenance, ":"),
             item->provenance);
    else
      printf("%.8s %10s %6s %-9s", item->row.id, "-", "-", "-");
    printf(" %-10s %-8s %s: %s%s%s\n", item->row.verdict, item->row.layout,
           item->row.template_name, item->row.assignments,
           *item->row.variants ? " | " : "", item->row.variants);
  }
  int64_t total = 0;
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    total += counts[i];
  printf("%d of %lld candidates:", count, (long long)total);
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (counts[i])
      printf(" %s %lld", ws_verdict_text((ws_verdict)i), (long long)counts[i]);
  printf("\n");
}

ws_status archive_run_ls(archive_call *call) {
  ws_candidate_summary *items;
  int count;
  int64_t counts[WS_VERDICT_COUNT];
  ws_archive_filter filter = call->arguments->filter;
  filter.order_by_score = true;
  WS_TRY(ws_archive_list(call->archive, call->arena, &filter, &items, &count,
                         call->diag));
  WS_TRY(ws_archive_verdict_counts(call->archive, &filter, counts, call->diag));
  (call->arguments->json ? print_list_json : print_list)(items, count, counts);
  return WS_OK;
}

/* ---- show ---- */
typedef struct shown {
  ws_candidate_row row;
  ws_measurement *measurements;
  int measurement_count;
  ws_coverage_row *coverage;
  int coverage_count;
  const char *compared; /* ws_run_compared_text */
  cJSON *result;        /* NULL: none was recorded */
} shown;

static ws_status read_shown(archive_call *call, shown *out) {
  WS_TRY(archive_find_candidate(call, call->arguments->words[0], &out->row));
  WS_TRY(ws_archive_get_measurements(call->archive, call->arena, out->row.id,
                                     &out->measurements,
                                     &out->measurement_count, call->diag));
  WS_TRY(ws_archive_list_coverage(call->archive, call->arena, out->row.id,
                                  &out->coverage, &out->coverage_count,
                                  call->diag));
  ws_run_row run;
  WS_TRY(ws_archive_get_run(call->archive, call->arena, out->row.run_id, &run,
                            call->diag));
  out->compared = ws_run_compared_text(call->arena, &run);
  const char *text = out->row.result_json;
  out->result =
      *text ? ws_json_parse(text, strlen(text), out->row.id, call->diag) : NULL;
  return *text && !out->result ? WS_INPUT : WS_OK;
}

/* The seed as text: it has more bits than a JSON number. */
static cJSON *coverage_json(const ws_coverage_row *row) {
  char seed[24];
  cJSON *item = cJSON_CreateObject();
  snprintf(seed, sizeof seed, "%" PRIu64, row->seed);
  cJSON_AddStringToObject(item, "provenance", row->provenance);
  cJSON_AddNumberToObject(item, "run", (double)row->run_id);
  cJSON_AddStringToObject(item, "seed", seed);
  cJSON_AddNumberToObject(item, "verified", row->verified);
  cJSON_AddNumberToObject(item, "planned", row->planned);
  cJSON_AddStringToObject(item, "text", row->text);
  return item;
}

static void print_coverage(const shown *s) {
  for (int i = 0; i < s->coverage_count; i++) {
    const ws_coverage_row *row = &s->coverage[i];
    printf("covered   %s (seed %" PRIu64 ", run %lld, %s)\n", row->text,
           row->seed, (long long)row->run_id, row->provenance);
  }
}

static void print_shown_json(const shown *s) {
  cJSON *json = archive_row_json(&s->row);
  if (*s->compared)
    cJSON_AddStringToObject(json, "compared", s->compared);
  cJSON *list = cJSON_AddArrayToObject(json, "measurements");
  for (int i = 0; i < s->measurement_count; i++)
    cJSON_AddItemToArray(
        list, ws_json_write(&ws_measurement_json, &s->measurements[i]));
  list = cJSON_AddArrayToObject(json, "coverage");
  for (int i = 0; i < s->coverage_count; i++)
    cJSON_AddItemToArray(list, coverage_json(&s->coverage[i]));
  if (s->result)
    cJSON_AddItemToObject(json, "result", cJSON_Duplicate(s->result, true));
  archive_print_json(json);
}

static const char *text_of(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}
static int number_of(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsNumber(item) ? item->valueint : 0; /* absent means 0 */
}

static void print_findings(const cJSON *result) {
  const cJSON *finding;
  cJSON_ArrayForEach(finding,
                     cJSON_GetObjectItemCaseSensitive(result, "findings"))
      printf("  %s:%d: [%s] %s%s%s\n", text_of(finding, "file"),
             number_of(finding, "line"), text_of(finding, "id"),
             text_of(finding, "region"),
             *text_of(finding, "region") ? ": " : "", text_of(finding, "text"));
}

static void print_facts(const cJSON *result) {
  static const char *const facts[] = {
      "vgpr",          "agpr",        "sgpr",        "lds_bytes",
      "scratch_bytes", "vgpr_spills", "sgpr_spills", "code_bytes"};
  const cJSON *kernel, *item;
  cJSON_ArrayForEach(kernel,
                     cJSON_GetObjectItemCaseSensitive(result, "kernels")) {
    printf("\nkernel %s:", text_of(kernel, "name"));
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
      printf(" %s %d", facts[i], number_of(kernel, facts[i]));
    printf("\n  instructions:");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(kernel, "mix"))
        printf(" %s %d", item->string, item->valueint);
    printf("\n");
  }
}

/* Parent, grandparent and so on, each with the move that led away from it. */
static ws_status print_lineage(archive_call *call, const ws_candidate_row *of) {
  ws_candidate_row row = *of;
  for (int depth = 0; *row.parent_id && depth < 1000; depth++) {
    bool found;
    printf("%s %.8s  by: %s\n", depth ? "       " : "lineage", row.parent_id,
           row.move);
    WS_TRY(ws_archive_get_candidate(call->archive, call->arena, row.parent_id,
                                    &found, &row, call->diag));
    if (!found)
      break;
  }
  return WS_OK;
}

static void print_measurements(ws_arena *arena, const shown *s) {
  if (!s->measurement_count)
    return;
  const char *const headings[] = {ws_dims_text(s->measurements[0].shape.dims),
                                  "us",
                                  "95 % interval",
                                  "bound",
                                  "times are",
                                  "provenance"};
  text_table table = text_table_create(arena, "lrllll", headings);
  for (int i = 0; i < s->measurement_count; i++) {
    const ws_measurement *item = &s->measurements[i];
    const double error = ws_sim_error_of(item->provenance, item->bound);
    const char *cells[] = {
        ws_shape_text(arena, &item->shape),
        ws_arena_printf(arena, "%.2f", item->us),
        item->high_us > item->low_us
            ? ws_arena_printf(arena, "%.2f to %.2f", item->low_us,
                              item->high_us)
        : error > 0 ? ws_arena_printf(arena, "%s (model)",
                                      ws_sim_error_text(arena, error))
                    : "-",
        *item->bound ? item->bound : "-",
        ws_provenance_word(item->provenance),
        item->provenance};
    text_table_add(&table, cells);
  }
  putchar('\n');
  text_table_print(&table);
}

static void print_optional(const char *name, const char *text) {
  if (*text)
    printf("%-9s %s\n", name, text);
}

static ws_status print_shown(archive_call *call, const shown *s) {
  const ws_candidate_row *row = &s->row;
  printf("candidate %s\ntemplate  %s (%.8s), layout %s\nparameters %s\n",
         row->id, row->template_name, row->template_hash, row->layout,
         row->assignments);
  if (*row->variants)
    printf("variants  %s\n", row->variants);
  printf("verdict   %s%s%s%s%s\n", row->verdict, *row->stage ? " at " : "",
         row->stage, *row->reason ? ": " : "", row->reason);
  print_findings(s->result);
  printf("origin    %s, run %lld, proposal %lld%s%s\n", row->proposer,
         (long long)row->run_id, (long long)row->sequence,
         *row->kind ? ", " : "", row->kind);
  if (*s->compared)
    printf("compared  with %s\n", s->compared);
  print_optional("label", row->label);
  print_optional("cell", row->cell);
  print_optional("with", row->second_parent_id);
  WS_TRY(print_lineage(call, row));
  print_coverage(s);
  print_facts(s->result);
  print_measurements(call->arena, s);
  return WS_OK;
}

ws_status archive_run_show(archive_call *call) {
  shown s = {.result = NULL};
  ws_status status = read_shown(call, &s);
  if (status == WS_OK && call->arguments->json)
    print_shown_json(&s);
  else if (status == WS_OK)
    status = print_shown(call, &s);
  cJSON_Delete(s.result);
  return status;
}
