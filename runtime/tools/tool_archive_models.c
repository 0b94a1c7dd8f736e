/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive findings` and `prompts`: what models wrote down, what they
 * were asked and what they answered.
 */
#include "tool_archive.h"

#include <stdio.h>
#include <string.h>

/* ---- findings ---- */
static void print_findings_json(const ws_findings_row *items, int count) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < count; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "run", (double)items[i].run_id);
    cJSON_AddNumberToObject(item, "sequence", (double)items[i].sequence);
    cJSON_AddStringToObject(item, "text", items[i].text);
    cJSON_AddItemToArray(list, item);
  }
  archive_print_json(list);
}

static void print_documents(const ws_findings_row *items, int count) {
  if (!count)
    puts("no findings are recorded");
  for (int i = 0; i < count; i++) {
    printf("%srun %lld, request %lld\n\n", i ? "\n" : "",
           (long long)items[i].run_id, (long long)items[i].sequence);
    fputs(items[i].text, stdout);
    size_t size = strlen(items[i].text);
    if (size && items[i].text[size - 1] != '\n')
      putchar('\n');
  }
}

ws_status archive_run_findings(archive_call *call) {
  ws_findings_row *items;
  int count;
  WS_TRY(archive_check_run(call));
  WS_TRY(ws_archive_list_findings(call->archive, call->arena,
                                  call->arguments->filter.run_id, &items,
                                  &count, call->diag));
  if (!call->arguments->all && count > 1) {
    items += count - 1;
    count = 1;
  }
  (call->arguments->json ? print_findings_json : print_documents)(items, count);
  return WS_OK;
}

/* ---- prompts ---- */
static cJSON *exchange_json(const ws_exchange_row *row) {
  const struct {
    const char *key, *value;
  } texts[] = {
      {"kind", row->kind},
      {"member", row->member},
      {"prompt_version", row->prompt_version},
      {"prompt_hash", row->prompt_hash},
      {"cut", row->prompt_cut},
      {"error", row->error},
      {"candidate", row->candidate_id},
      {"verdict", row->verdict},
      {"stage", row->stage},
      {"reason", row->reason},
  };
  const struct {
    const char *key;
    double value;
  } numbers[] = {
      {"run", (double)row->run_id},
      {"sequence", (double)row->sequence},
      {"prompt_bytes", (double)row->prompt_bytes},
      {"reply_bytes", (double)row->reply_bytes},
      {"prompt_tokens", (double)row->prompt_tokens},
      {"reply_tokens", (double)row->reply_tokens},
      {"usd", row->usd},
      {"seconds", row->seconds},
      {"reward", row->reward},
  };
  cJSON *json = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    cJSON_AddNumberToObject(json, numbers[i].key, numbers[i].value);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cJSON_AddStringToObject(json, texts[i].key, texts[i].value);
  return json;
}

static void print_list_json(const ws_exchange_row *items, int count) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < count; i++)
    cJSON_AddItemToArray(list, exchange_json(&items[i]));
  archive_print_json(list);
}

/* A document has no verdict; an answer that never came has its error. */
static const char *outcome_of(const ws_exchange_row *row) {
  return *row->error ? "no answer" : *row->verdict ? row->verdict : "-";
}

static void add_exchange(ws_arena *arena, text_table *table,
                         const ws_exchange_row *row) {
  const char *cells[] = {
      ws_arena_printf(arena, "%lld", (long long)row->run_id),
      ws_arena_printf(arena, "%lld", (long long)row->sequence),
      row->kind,
      row->member,
      ws_arena_printf(arena, "%lld", (long long)row->prompt_bytes),
      ws_arena_printf(arena, "%lld", (long long)row->prompt_tokens),
      ws_arena_printf(arena, "%lld", (long long)row->reply_tokens),
      ws_arena_printf(arena, "%.4f", row->usd),
      outcome_of(row),
      ws_arena_printf(arena, "%+.3f", row->reward),
      archive_short_id(arena, row->candidate_id),
      row->prompt_cut};
  text_table_add(table, cells);
}

static void print_exchanges(ws_arena *arena, const ws_exchange_row *items,
                            int count) {
  static const char *const headings[] = {
      "run",          "sequence",      "kind",      "member",
      "prompt bytes", "prompt tokens", "reply",     "USD",
      "verdict",      "reward",        "candidate", "cut from the prompt"};
  text_table table = text_table_create(arena, "rrllrrrrlrll", headings);
  int64_t prompt_tokens = 0, reply_tokens = 0;
  double usd = 0, seconds = 0;
  for (int i = 0; i < count; i++) {
    add_exchange(arena, &table, &items[i]);
    prompt_tokens += items[i].prompt_tokens;
    reply_tokens += items[i].reply_tokens;
    usd += items[i].usd;
    seconds += items[i].seconds;
  }
  if (count)
    text_table_print(&table);
  printf(
      "%d exchanges, %lld prompt tokens, %lld reply tokens, %.4f USD, %.1f s "
      "of answering; reward is ln of the speed-up over the parent\n",
      count, (long long)prompt_tokens, (long long)reply_tokens, usd, seconds);
}

/* The run that has this exchange, when there is only one. */
static ws_status find_run(archive_call *call, int64_t sequence,
                          int64_t *out_run) {
  ws_exchange_row *items;
  int count, found = 0;
  *out_run = call->arguments->filter.run_id;
  if (*out_run)
    return WS_OK;
  WS_TRY(ws_archive_list_exchanges(call->archive, call->arena, 0, &items,
                                   &count, call->diag));
  for (int i = 0; i < count; i++)
    if (items[i].sequence == sequence) {
      *out_run = items[i].run_id;
      found++;
    }
  if (found > 1)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "%d runs have an exchange %lld; name one with --run", found,
                   (long long)sequence);
  return WS_OK;
}

static void print_part(const char *heading, const char *text) {
  printf("\n---- %s ----\n", heading);
  fputs(text, stdout);
  size_t size = strlen(text);
  if (size && text[size - 1] != '\n')
    putchar('\n');
}

static void print_exchange(const ws_exchange_row *row) {
  printf("run %lld, request %lld: %s to %s, prompt %s (%s)\n",
         (long long)row->run_id, (long long)row->sequence, row->kind,
         row->member, row->prompt_version, row->prompt_hash);
  printf("outcome: %s%s%s%s%s\n", outcome_of(row), *row->stage ? " at " : "",
         row->stage, *row->reason ? ": " : "", row->reason);
  if (*row->candidate_id)
    printf("candidate %s, reward %+.3f\n", row->candidate_id, row->reward);
  if (*row->error)
    printf("no answer: %s\n", row->error);
  if (*row->prompt_cut)
    printf("cut from the prompt: %s\n", row->prompt_cut);
  print_part("system", row->system);
  print_part("prompt", row->prompt);
  print_part("reply", row->reply);
}

static ws_status show_exchange(archive_call *call) {
  ws_exchange_row row;
  int64_t run, sequence = call->arguments->sequence;
  bool found = false;
  WS_TRY(find_run(call, sequence, &run));
  WS_TRY(ws_archive_get_exchange(call->archive, call->arena, run, sequence,
                                 &found, &row, call->diag));
  if (!found)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "there is no exchange %lld; `wavesmith archive prompts` "
                   "lists them",
                   (long long)sequence);
  if (!call->arguments->json) {
    print_exchange(&row);
    return WS_OK;
  }
  cJSON *json = exchange_json(&row);
  cJSON_AddStringToObject(json, "system", row.system);
  cJSON_AddStringToObject(json, "prompt", row.prompt);
  cJSON_AddStringToObject(json, "reply", row.reply);
  cJSON_AddItemToObject(json, "claims", archive_claims_json(row.claims_json));
  archive_print_json(json);
  return WS_OK;
}

ws_status archive_run_prompts(archive_call *call) {
  ws_exchange_row *items;
  int count;
  WS_TRY(archive_check_run(call));
  if (call->arguments->sequence >= 0)
    return show_exchange(call);
  WS_TRY(ws_archive_list_exchanges(call->archive, call->arena,
                                   call->arguments->filter.run_id, &items,
                                   &count, call->diag));
  if (call->arguments->json)
    print_list_json(items, count);
  else
    print_exchanges(call->arena, items, count);
  return WS_OK;
}
