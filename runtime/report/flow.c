/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The flow follows a candidate's life: request, reply, splice, check,
 * sanitizer, code, duplicates, device. Each step passes on what it did not
 * lose; what it loses goes to a verdict.
 */
#include "flow.h"

#include "json.h"

#include <string.h>

/* ---- steps ---- */
/* Where a candidate is lost, by the stage of its record; the end of the table
 * is reached by those that come through. */
static const struct step {
  const char *name;      /* of what comes through */
  const char *stages[4]; /* that lose candidates here */
} steps[] = {
    {"spliced", {"parse", "splice"}},
    {"checked", {"check"}},
    {"sanitized", {"sanitize"}},
    {"compiled", {"lower", "facts"}},
};
enum {
  STEPS = sizeof steps / sizeof steps[0],
  LOST_FIRST = -1, /* by no known stage: before the first step */
  LOST_AS_TWIN = STEPS,
  LOST_ON_DEVICE,
  TIMED,
  ESTIMATED,
  UNTIMED
};

static const char *const device_stages[] = {WS_STAGE_OF_DEVICE, "verify",
                                            "time"};

static bool on_device(const char *stage) {
  for (size_t i = 0; i < sizeof device_stages / sizeof device_stages[0]; i++)
    if (!strcmp(stage, device_stages[i]))
      return true;
  return false;
}

static int step_of_stage(const char *stage) {
  for (int s = 0; s < STEPS; s++)
    for (int i = 0; i < 4 && steps[s].stages[i]; i++)
      if (!strcmp(stage, steps[s].stages[i]))
        return s;
  return on_device(stage) ? LOST_ON_DEVICE : LOST_FIRST;
}

static int end_of(const ws__report_candidate *candidate) {
  int end = UNTIMED;
  if (!strcmp(candidate->row.verdict, "duplicate"))
    return LOST_AS_TWIN;
  if (!candidate->ranks)
    return step_of_stage(candidate->row.stage);
  for (int i = 0; i < candidate->time_count; i++) {
    const char *word = ws_provenance_word(candidate->times[i].provenance);
    if (strcmp(word, "estimated"))
      return TIMED;
    end = ESTIMATED;
  }
  return end;
}

/* ---- links ---- */
static void add_link(cJSON *links, const char *from, const char *to,
                     int64_t count) {
  if (!count)
    return;
  cJSON *link = cJSON_CreateArray();
  cJSON_AddItemToArray(link, ws__report_text(from, 0));
  cJSON_AddItemToArray(link, ws__report_text(to, 0));
  cJSON_AddItemToArray(link, cJSON_CreateNumber((double)count));
  cJSON_AddItemToArray(links, link);
}

/* What one step loses, by verdict; returns how many. */
static int64_t add_losses(const ws__report_source *source, const int *ends,
                          int step, const char *from, cJSON *links) {
  int64_t lost = 0;
  for (int v = 0; v < WS_VERDICT_COUNT; v++) {
    const char *verdict = ws_verdict_text((ws_verdict)v);
    int64_t count = 0;
    for (int c = 0; c < source->candidate_count; c++)
      count += ends[c] == step &&
               !strcmp(source->candidates[c].row.verdict, verdict);
    add_link(links, from, verdict, count);
    lost += count;
  }
  return lost;
}

static int64_t count_ends(const ws__report_source *source, const int *ends,
                          int end) {
  int64_t count = 0;
  for (int c = 0; c < source->candidate_count; c++)
    count += ends[c] == end;
  return count;
}

static void add_candidate_links(const ws__report_source *source, cJSON *links) {
  int *ends = ws_arena_alloc(source->arena,
                             sizeof *ends * (size_t)source->candidate_count);
  for (int c = 0; c < source->candidate_count; c++)
    ends[c] = end_of(&source->candidates[c]);
  const char *from = "candidates";
  int64_t left = source->candidate_count;
  left -= add_losses(source, ends, LOST_FIRST, from, links);
  for (int s = 0; s < STEPS; s++) {
    left -= add_losses(source, ends, s, from, links);
    add_link(links, from, steps[s].name, left);
    from = steps[s].name;
  }
  add_losses(source, ends, LOST_AS_TWIN, from, links);
  add_losses(source, ends, LOST_ON_DEVICE, from, links);
  add_link(links, from, "timed", count_ends(source, ends, TIMED));
  add_link(links, from, "estimated only", count_ends(source, ends, ESTIMATED));
  add_link(links, from, "ok without a time", count_ends(source, ends, UNTIMED));
}

/* ---- requests ---- */
typedef enum outcome { UNANSWERED, DOCUMENT, REFUSED, CANDIDATE } outcome;

static outcome outcome_of(const ws_exchange_row *exchange) {
  if (*exchange->error)
    return UNANSWERED;
  if (*exchange->candidate_id)
    return CANDIDATE;
  return *exchange->verdict ? REFUSED : DOCUMENT;
}

/* Requests to models; the search's own moves are requests without a reply. */
static void add_request_links(const ws__report_source *source, cJSON *links) {
  int64_t counts[CANDIDATE + 1] = {0};
  bool *answered = ws_arena_alloc(
      source->arena, sizeof *answered * (size_t)source->candidate_count);
  for (int e = 0; e < source->exchange_count; e++) {
    const ws_exchange_row *exchange = &source->exchanges[e];
    int candidate = ws__report_find(source, exchange->candidate_id);
    counts[outcome_of(exchange)]++;
    if (candidate >= 0)
      answered[candidate] = true;
  }
  int64_t from_replies = 0;
  for (int c = 0; c < source->candidate_count; c++)
    from_replies += answered[c];
  int64_t replies = source->exchange_count - counts[UNANSWERED];
  add_link(links, "requests", "no answer", counts[UNANSWERED]);
  add_link(links, "requests", "replies", replies);
  add_link(links, "replies", "documents", counts[DOCUMENT]);
  add_link(links, "replies", "no candidate", counts[REFUSED]);
  add_link(links, "replies", "known already", counts[CANDIDATE] - from_replies);
  add_link(links, "replies", "candidates", from_replies);
  add_link(links, "built-in moves", "candidates",
           source->candidate_count - from_replies);
}

static cJSON *verdict_counts(const ws__report_source *source) {
  cJSON *json = cJSON_CreateObject();
  for (int v = 0; v < WS_VERDICT_COUNT; v++) {
    const char *verdict = ws_verdict_text((ws_verdict)v);
    int count = 0;
    for (int c = 0; c < source->candidate_count; c++)
      count += !strcmp(source->candidates[c].row.verdict, verdict);
    if (count)
      cJSON_AddNumberToObject(json, verdict, count);
  }
  return json;
}

cJSON *ws__report_flow(const ws__report_source *source) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "verdicts", verdict_counts(source));
  cJSON *links = cJSON_AddArrayToObject(json, "links");
  add_request_links(source, links);
  add_candidate_links(source, links);
  return json;
}

/* ---- cost ---- */
typedef struct cost {
  const char *member, *kind;
  int64_t requests, unanswered, documents, refused, candidates, ok;
  int64_t prompt_tokens, reply_tokens;
  double usd, seconds, reward;
} cost;

static cost *cost_of(cost *costs, int *count, const ws_exchange_row *exchange) {
  for (int i = 0; i < *count; i++)
    if (!strcmp(costs[i].member, exchange->member) &&
        !strcmp(costs[i].kind, exchange->kind))
      return &costs[i];
  costs[*count] = (cost){.member = exchange->member, .kind = exchange->kind};
  return &costs[(*count)++];
}

static void add_to_cost(cost *sum, const ws_exchange_row *exchange) {
  outcome result = outcome_of(exchange);
  sum->requests++;
  sum->unanswered += result == UNANSWERED;
  sum->documents += result == DOCUMENT;
  sum->refused += result == REFUSED;
  sum->candidates += result == CANDIDATE;
  sum->ok += !strcmp(exchange->verdict, "ok");
  sum->prompt_tokens += exchange->prompt_tokens;
  sum->reply_tokens += exchange->reply_tokens;
  sum->usd += exchange->usd;
  sum->seconds += exchange->seconds;
  sum->reward += exchange->reward > 0 ? exchange->reward : 0;
}

static cJSON *cost_json(const cost *sum) {
  const struct {
    const char *key;
    int64_t value;
  } counts[] = {{"requests", sum->requests},
                {"unanswered", sum->unanswered},
                {"documents", sum->documents},
                {"refused", sum->refused},
                {"candidates", sum->candidates},
                {"ok", sum->ok},
                {"prompt_tokens", sum->prompt_tokens},
                {"reply_tokens", sum->reply_tokens}};
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "member", sum->member, 0);
  ws__report_add_text(json, "kind", sum->kind, 0);
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    cJSON_AddNumberToObject(json, counts[i].key, (double)counts[i].value);
  ws__report_add_number(json, "usd", sum->usd);
  ws__report_add_number(json, "seconds", sum->seconds);
  ws__report_add_number(json, "gain", sum->reward);
  return json;
}

cJSON *ws__report_cost(const ws__report_source *source) {
  cost *costs = ws_arena_alloc(
      source->arena, sizeof *costs * (size_t)(source->exchange_count + 1));
  int count = 0;
  for (int e = 0; e < source->exchange_count; e++)
    add_to_cost(cost_of(costs, &count, &source->exchanges[e]),
                &source->exchanges[e]);
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < count; i++)
    cJSON_AddItemToArray(list, cost_json(&costs[i]));
  return list;
}

/* ---- claims ---- */
static bool number_at(const cJSON *claim, const char *key, double *out) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(claim, key);
  *out = cJSON_IsNumber(item) ? item->valuedouble : 0;
  return cJSON_IsNumber(item);
}

/* NULL: the outcome is not known, or it is no claim. */
static cJSON *claim_json(const ws__report_source *source,
                         const ws_exchange_row *exchange, const cJSON *claim) {
  double low, high, measured;
  const cJSON *what = cJSON_GetObjectItemCaseSensitive(claim, "what");
  if (!cJSON_IsString(what) || !number_at(claim, "low", &low) ||
      !number_at(claim, "high", &high) ||
      !number_at(claim, "measured", &measured))
    return NULL;
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "what", what->valuestring, 80);
  ws__report_add_number(json, "low", low);
  ws__report_add_number(json, "high", high);
  ws__report_add_number(json, "measured", measured);
  ws__report_add_text(json, "kind", exchange->kind, 0);
  ws__report_add_text(json, "member", exchange->member, 0);
  cJSON_AddNumberToObject(json, "candidate",
                          ws__report_find(source, exchange->candidate_id));
  return json;
}

cJSON *ws__report_claims(const ws__report_source *source) {
  cJSON *json = cJSON_CreateObject();
  cJSON *points = cJSON_CreateArray();
  int64_t open = 0;
  for (int e = 0; e < source->exchange_count; e++) {
    const ws_exchange_row *exchange = &source->exchanges[e];
    const cJSON *claim;
    cJSON *claims = ws_json_parse(
        exchange->claims_json, strlen(exchange->claims_json), "claims", NULL);
    cJSON_ArrayForEach(claim, claims) {
      cJSON *point = claim_json(source, exchange, claim);
      open += !point;
      if (point)
        cJSON_AddItemToArray(points, point);
    }
    cJSON_Delete(claims);
  }
  cJSON_AddNumberToObject(json, "open", (double)open);
  cJSON_AddItemToObject(json, "points", points);
  return json;
}
