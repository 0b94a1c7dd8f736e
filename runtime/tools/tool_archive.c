/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive ls | show | export | import`: what an archive holds, for
 * people and as JSON; to text and back.
 */
#include "tools.h"
#include "wavesmith/archive.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: wavesmith archive ls     DB [OPTION ...]\n"
    "       wavesmith archive show   DB ID [--json]\n"
    "       wavesmith archive export DB FOLDER [ID ...] [OPTION ...]\n"
    "       wavesmith archive import DB FOLDER [--json]\n\n"
    "ls      candidates by score: those that take most shapes first, then by\n"
    "        the geometric mean of their times\n"
    "show    one candidate in depth; ID may be the first digits\n"
    "export  candidates as a folder of text that can be committed; without ID\n"
    "        the fastest --best of every shape\n"
    "import  such a folder into an archive, all or nothing\n\n"
    "  --layout L --template NAME --verdict V --target T --problem P --run N\n"
    "               only those (ls, export)\n"
    "  --limit N    at most N lines (ls; default: 20, 0: all)\n"
    "  --best N     of every shape the N fastest (export; default: 4)\n"
    "  --json       the result as JSON on stdout\n";

typedef struct archive_arguments {
  ws_archive_filter filter;
  int64_t best;
  bool json, help;
  char **words; /* what is no option */
  int word_count;
} archive_arguments;

typedef struct archive_call {
  const archive_arguments *arguments;
  ws_archive *archive;
  ws_arena *arena;
  ws_diag *diag;
} archive_call;

/* ---- helpers ---- */
static void print_json(cJSON *owned_json) {
  char *text = cJSON_PrintUnformatted(owned_json);
  cJSON_Delete(owned_json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

static cJSON *row_json(const ws_candidate_row *row) {
  const struct {
    const char *key, *value;
  } texts[] = {
      {"id", row->id},
      {"template", row->template_name},
      {"layout", row->layout},
      {"parameters", row->assignments},
      {"variants", row->variants},
      {"proposer", row->proposer},
      {"parent", row->parent_id},
      {"move", row->move},
      {"verdict", row->verdict},
      {"stage", row->stage},
      {"reason", row->reason},
  };
  cJSON *json = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cJSON_AddStringToObject(json, texts[i].key, texts[i].value);
  cJSON_AddNumberToObject(json, "run", (double)row->run_id);
  cJSON_AddNumberToObject(json, "sequence", (double)row->sequence);
  return json;
}

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
    cJSON *item = row_json(&items[i].row);
    if (items[i].measured_shapes) {
      cJSON_AddNumberToObject(item, "geomean_us", items[i].geomean_us);
      cJSON_AddNumberToObject(item, "shapes", items[i].measured_shapes);
      cJSON_AddStringToObject(item, "provenance", items[i].provenance);
    }
    cJSON_AddItemToArray(list, item);
  }
  print_json(json);
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

static ws_status run_ls(archive_call *call) {
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
  cJSON *result; /* NULL: none was recorded */
} shown;

static ws_status read_shown(archive_call *call, shown *out) {
  bool found;
  const char *id = call->arguments->words[0];
  WS_TRY(ws_archive_get_candidate(call->archive, call->arena, id, &found,
                                  &out->row, call->diag));
  if (!found)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "there is no candidate '%s'; `wavesmith archive ls` lists "
                   "them",
                   id);
  WS_TRY(ws_archive_get_measurements(call->archive, call->arena, out->row.id,
                                     &out->measurements,
                                     &out->measurement_count, call->diag));
  const char *text = out->row.result_json;
  out->result =
      *text ? ws_json_parse(text, strlen(text), out->row.id, call->diag) : NULL;
  return *text && !out->result ? WS_INPUT : WS_OK;
}

static void print_shown_json(const shown *s) {
  cJSON *json = row_json(&s->row);
  cJSON *list = cJSON_AddArrayToObject(json, "measurements");
  for (int i = 0; i < s->measurement_count; i++) {
    const ws_measurement *measurement = &s->measurements[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "m", (double)measurement->shape.m);
    cJSON_AddNumberToObject(item, "n", (double)measurement->shape.n);
    cJSON_AddNumberToObject(item, "k", (double)measurement->shape.k);
    cJSON_AddNumberToObject(item, "us", measurement->us);
    cJSON_AddStringToObject(item, "bound", measurement->bound);
    cJSON_AddStringToObject(item, "provenance", measurement->provenance);
    cJSON_AddItemToArray(list, item);
  }
  if (s->result)
    cJSON_AddItemToObject(json, "result", cJSON_Duplicate(s->result, true));
  print_json(json);
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

static void print_measurements(const shown *s) {
  if (!s->measurement_count)
    return;
  printf("\n%-18s %12s %-8s %s\n", "m,n,k", "us", "bound", "provenance");
  for (int i = 0; i < s->measurement_count; i++) {
    const ws_measurement *item = &s->measurements[i];
    char shape[80];
    snprintf(shape, sizeof shape, "%lld,%lld,%lld", (long long)item->shape.m,
             (long long)item->shape.n, (long long)item->shape.k);
    printf("%-18s %12.2f %-8s %s\n", shape, item->us, item->bound,
           item->provenance);
  }
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
  printf("origin    %s, run %lld, proposal %lld\n", row->proposer,
         (long long)row->run_id, (long long)row->sequence);
  WS_TRY(print_lineage(call, row));
  print_facts(s->result);
  print_measurements(s);
  return WS_OK;
}

static ws_status run_show(archive_call *call) {
  shown s = {.result = NULL};
  ws_status status = read_shown(call, &s);
  if (status == WS_OK && call->arguments->json)
    print_shown_json(&s);
  else if (status == WS_OK)
    status = print_shown(call, &s);
  cJSON_Delete(s.result);
  return status;
}

/* ---- export and import ---- */
static void report_transfer(const archive_call *call, const char *verb,
                            const char *folder, int count) {
  if (!call->arguments->json) {
    printf("%s %d candidates: %s\n", verb, count, folder);
    return;
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, verb, count);
  cJSON_AddStringToObject(json, "folder", folder);
  print_json(json);
}

static ws_status run_export(archive_call *call) {
  const archive_arguments *arguments = call->arguments;
  const char *folder = arguments->words[0];
  const char *const *ids = (const char *const *)arguments->words + 1;
  int count = arguments->word_count - 1;
  if (count == 0)
    WS_TRY(ws_archive_best(call->archive, call->arena, &arguments->filter,
                           (int)arguments->best, &ids, &count, call->diag));
  if (count == 0)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "no candidate of that kind is ok and has times; `wavesmith "
                   "archive ls` shows what there is");
  WS_TRY(ws_archive_export(call->archive, folder, ids, count, call->diag));
  report_transfer(call, "exported", folder, count);
  return WS_OK;
}

static ws_status run_import(archive_call *call) {
  int count;
  const char *folder = call->arguments->words[0];
  WS_TRY(ws_archive_import(call->archive, folder, &count, call->diag));
  report_transfer(call, "imported", folder, count);
  return WS_OK;
}

static const struct action {
  const char *name;
  ws_status (*run)(archive_call *call);
  int min_words, max_words; /* after the archive's name */
  bool create;
} actions[] = {
    {"ls", run_ls, 0, 0, false},
    {"show", run_show, 1, 1, false},
    {"export", run_export, 1, 1 << 20, false},
    {"import", run_import, 1, 1, true},
};

/* ---- options ---- */
static const struct text_option {
  const char *name;
  size_t offset;
} text_options[] = {
    {"layout", offsetof(archive_arguments, filter.layout)},
    {"template", offsetof(archive_arguments, filter.template_name)},
    {"verdict", offsetof(archive_arguments, filter.verdict)},
    {"target", offsetof(archive_arguments, filter.target)},
    {"problem", offsetof(archive_arguments, filter.problem)},
};
enum {
  TEXT_OPTIONS = sizeof text_options / sizeof text_options[0],
  RUN = TEXT_OPTIONS,
  LIMIT,
  BEST,
  JSON,
  HELP,
  OPTION_COUNT
};

static ws_status read_count(const char *name, int64_t lowest, int64_t *out,
                            ws_diag *diag) {
  char *end;
  *out = strtoll(optarg, &end, 10);
  if (end == optarg || *end || *out < lowest || *out > 1000000)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--%s '%s' is not a number from %lld to 1000000", name,
                   optarg, (long long)lowest);
  return WS_OK;
}

static ws_status read_verdict(const archive_arguments *out, ws_diag *diag) {
  ws_verdict verdict;
  if (!out->filter.verdict || ws_verdict_parse(out->filter.verdict, &verdict))
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "'%s' is not a verdict; there are: ok illegal no_compile "
                 "crash timeout wrong unstable slow duplicate",
                 out->filter.verdict);
}

static ws_status read_option(int option, archive_arguments *out,
                             ws_diag *diag) {
  int64_t limit = 0;
  switch (option) {
  case RUN:
    return read_count("run", 1, &out->filter.run_id, diag);
  case LIMIT:
    WS_TRY(read_count("limit", 0, &limit, diag));
    out->filter.limit = (int)limit;
    return WS_OK;
  case BEST:
    return read_count("best", 1, &out->best, diag);
  case JSON:
    out->json = true;
    return WS_OK;
  case HELP:
    out->help = true;
    return WS_OK;
  default:
    memcpy((char *)out + text_options[option].offset, &optarg, sizeof optarg);
    return read_verdict(out, diag);
  }
}

static ws_status read_arguments(int argc, char **argv, archive_arguments *out,
                                ws_diag *diag) {
  struct option table[OPTION_COUNT + 1] = {
      [RUN] = {"run", required_argument, NULL, RUN},
      [LIMIT] = {"limit", required_argument, NULL, LIMIT},
      [BEST] = {"best", required_argument, NULL, BEST},
      [JSON] = {"json", no_argument, NULL, JSON},
      [HELP] = {"help", no_argument, NULL, HELP}};
  for (int i = 0; i < TEXT_OPTIONS; i++)
    table[i] =
        (struct option){text_options[i].name, required_argument, NULL, i};
  *out = (archive_arguments){.filter = {.limit = 20}, .best = 4};
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith archive "
                     "--help` lists the options",
                     argv[optind - 1]);
    WS_TRY(read_option(option, out, diag));
  }
  out->words = argv + optind;
  out->word_count = argc - optind;
  return WS_OK;
}

static ws_status find_action(archive_arguments *arguments,
                             const struct action **out, ws_diag *diag) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    const struct action *action = &actions[i];
    int words = arguments->word_count - 2;
    if (arguments->word_count < 2 || strcmp(arguments->words[0], action->name))
      continue;
    if (words < action->min_words || words > action->max_words)
      break;
    *out = action;
    return WS_OK;
  }
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "wanted is ls DB, show DB ID, export DB FOLDER [ID ...] or "
                 "import DB FOLDER; `wavesmith archive --help` shows more");
}

static ws_status run_action(const struct action *action,
                            archive_arguments *arguments, ws_diag *diag) {
  archive_call call = {.arguments = arguments, .diag = diag};
  WS_TRY(ws_archive_open(arguments->words[1], action->create, &call.archive,
                         diag));
  arguments->words += 2;
  arguments->word_count -= 2;
  call.arena = ws_arena_create();
  ws_status status = action->run(&call);
  ws_arena_destroy(call.arena);
  ws_archive_close(call.archive);
  return status;
}

int tool_archive(int argc, char **argv) {
  ws_diag diag = {""};
  archive_arguments arguments;
  const struct action *action = NULL;
  ws_status status = read_arguments(argc, argv, &arguments, &diag);
  if (status == WS_OK && arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (status == WS_OK)
    status = find_action(&arguments, &action, &diag);
  if (status == WS_OK)
    status = run_action(action, &arguments, &diag);
  return status == WS_OK ? 0 : tool_fail("archive", status, &diag);
}
