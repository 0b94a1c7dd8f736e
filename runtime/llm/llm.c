/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The facade over all members: opens what specs name, sends each question to
 * its member, knows what is in flight, counts tokens and money, and stops
 * asking when a budget is spent. A replay takes the place of all members.
 *
 * Every question in flight has an entry here, in the order of asking. Those
 * that no provider has (of a replay, or refused for a budget) are answered from
 * the entry itself.
 */
#include "wavesmith/llm.h"
#include "provider.h"
#include "replay.h"
#include "spec.h"

#include <stdio.h>
#include <string.h>

enum { MEMBER_MAX = 64 };

static const ws__provider *const providers[] = {
    &ws__provider_openai, &ws__provider_anthropic, &ws__provider_gemini,
    &ws__provider_exchange};

typedef struct member {
  ws_llm_member shown;
  const ws__provider *provider; /* NULL: builtin, or of a replay */
  void *state;
  ws__spec spec;
} member;

typedef struct flight {
  int64_t sequence, ordinal;
  ws_request_kind kind;
  int member;
  const char *refusal; /* NULL: the member or the replay answers */
} flight;

struct ws_llm {
  ws_arena *arena;
  ws_llm_options options;
  member *members;
  int member_count;
  ws__replay *replay; /* NULL: none */
  flight *flights;    /* in order of asking */
  int flight_count, flight_capacity;
  int turn; /* the member that is asked for answers first */
  ws_llm_spent spent;
};

/* ---- opening ---- */
static const ws__provider *find_provider(const char *name) {
  for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
    if (!strcmp(providers[i]->name, name))
      return providers[i];
  return NULL;
}

static bool is_replay(const ws__spec *spec) {
  return !strcmp(spec->provider, "replay") ||
         !strcmp(spec->provider, "replay-any");
}

static double positive(double value, double otherwise) {
  return value > 0 ? value : otherwise;
}

static ws_llm_options with_defaults(const ws_llm_options *options) {
  ws_llm_options all = *options;
  all.request_seconds = positive(all.request_seconds, 300);
  all.total_seconds = positive(all.total_seconds, 900);
  all.retries = all.retries < 0 ? 4 : all.retries;
  all.reply_bytes = all.reply_bytes > 0 ? all.reply_bytes : 4 << 20;
  return all;
}

/* Two members of one name get numbers. */
static const char *unique_name(ws_llm *llm, const char *name) {
  int same = 1;
  for (int i = 0; i < llm->member_count; i++)
    same += !strcmp(ws__spec_name(llm->arena, &llm->members[i].spec), name);
  return same == 1 ? name : ws_arena_printf(llm->arena, "%s (%d)", name, same);
}

static ws_status open_member(ws_llm *llm, const char *text, ws_diag *diag) {
  member *m = &llm->members[llm->member_count];
  WS_TRY(ws__spec_read(llm->arena, text, &m->spec, diag));
  if (is_replay(&m->spec))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "%s:%s must be the only model; it stands for those that it "
                   "recorded",
                   m->spec.provider, m->spec.path);
  m->shown = (ws_llm_member){
      .name = unique_name(llm, ws__spec_name(llm->arena, &m->spec)),
      .weight = m->spec.weight,
      .usd_in = m->spec.usd_in,
      .usd_out = m->spec.usd_out};
  m->provider = find_provider(m->spec.provider);
  if (m->provider)
    WS_TRY(m->provider->create(&m->spec, &llm->options, &m->state, diag));
  llm->member_count++;
  return WS_OK;
}

static ws_status open_members(ws_llm *llm, ws_diag *diag) {
  const ws_llm_options *options = &llm->options;
  llm->members = ws_arena_alloc(llm->arena, sizeof *llm->members *
                                                (size_t)options->spec_count);
  for (int i = 0; i < options->spec_count; i++)
    WS_TRY(open_member(llm, options->specs[i], diag));
  return WS_OK;
}

static ws_status open_replay(ws_llm *llm, const ws__spec *spec, ws_diag *diag) {
  bool strict = !strcmp(spec->provider, "replay");
  WS_TRY(ws__replay_open(llm->arena, spec->path, strict, &llm->replay, diag));
  const ws_recording *recording = ws__replay_recording(llm->replay);
  llm->members = ws_arena_alloc(
      llm->arena, sizeof *llm->members * (size_t)recording->member_count);
  for (int i = 0; i < recording->member_count; i++)
    llm->members[i].shown = recording->members[i];
  llm->member_count = recording->member_count;
  return WS_OK;
}

static ws_status open_all(ws_llm *llm, ws_diag *diag) {
  const ws_llm_options *options = &llm->options;
  if (options->spec_count < 1 || options->spec_count > MEMBER_MAX)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "%d models are given; wanted are 1 to %d",
                   options->spec_count, MEMBER_MAX);
  ws__spec first;
  WS_TRY(ws__spec_read(llm->arena, options->specs[0], &first, diag));
  if (options->spec_count == 1 && is_replay(&first))
    return open_replay(llm, &first, diag);
  return open_members(llm, diag);
}

static void check_budgets(ws_llm *llm);

ws_status ws_llm_open(const ws_llm_options *options, ws_llm **out_llm,
                      ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_llm *llm = ws_arena_alloc(arena, sizeof *llm);
  *out_llm = NULL;
  llm->arena = arena;
  llm->options = with_defaults(options);
  llm->spent.exhausted = "";
  ws_status status = open_all(llm, diag);
  if (status != WS_OK) {
    ws_llm_close(llm);
    return status;
  }
  check_budgets(llm);
  *out_llm = llm;
  return WS_OK;
}

void ws_llm_close(ws_llm *llm) {
  if (!llm)
    return;
  for (int i = 0; i < llm->member_count; i++)
    if (llm->members[i].provider)
      llm->members[i].provider->destroy(llm->members[i].state);
  ws_arena_destroy(llm->arena);
}

/* ---- members ---- */
int ws_llm_member_count(const ws_llm *llm) { return llm->member_count; }

const ws_llm_member *ws_llm_member_at(const ws_llm *llm, int index) {
  WS_ASSERT(index >= 0 && index < llm->member_count);
  return &llm->members[index].shown;
}

/* A second one is "builtin (2)". */
bool ws_llm_is_builtin(const ws_llm *llm, int index) {
  return !strncmp(ws_llm_member_at(llm, index)->name, "builtin", 7);
}

/* ---- budgets ---- */
static void check_budgets(ws_llm *llm) {
  ws_llm_spent *spent = &llm->spent;
  int64_t tokens = spent->prompt_tokens + spent->reply_tokens;
  if (*spent->exhausted)
    return;
  if (llm->options.token_budget >= 0 && tokens >= llm->options.token_budget)
    spent->exhausted = ws_arena_printf(
        llm->arena, "the token budget of %lld is spent (%lld used)",
        (long long)llm->options.token_budget, (long long)tokens);
  else if (llm->options.usd_budget >= 0 &&
           spent->usd >= llm->options.usd_budget)
    spent->exhausted = ws_arena_printf(
        llm->arena, "the budget of %.4g USD is spent (%.4g used)",
        llm->options.usd_budget, spent->usd);
}

ws_llm_spent ws_llm_spent_so_far(const ws_llm *llm) { return llm->spent; }

/* A replay has its costs from the recording, a member from its price. */
static double cost_of(const ws_llm *llm, const ws_llm_answer *answer) {
  const ws_llm_member *shown = &llm->members[answer->member].shown;
  if (llm->replay)
    return answer->usd;
  double in = shown->usd_in > 0 ? shown->usd_in : 0;
  double out = shown->usd_out > 0 ? shown->usd_out : 0;
  return ((double)answer->prompt_tokens * in +
          (double)answer->reply_tokens * out) /
         1e6;
}

static void count_answer(ws_llm *llm, ws_llm_answer *answer) {
  answer->usd = cost_of(llm, answer);
  llm->spent.prompt_tokens += answer->prompt_tokens;
  llm->spent.reply_tokens += answer->reply_tokens;
  llm->spent.usd += answer->usd;
  check_budgets(llm);
}

/* ---- asking ---- */
static int find_flight(const ws_llm *llm, int64_t sequence) {
  for (int i = 0; i < llm->flight_count; i++)
    if (llm->flights[i].sequence == sequence)
      return i;
  return -1;
}

static void add_flight(ws_llm *llm, const flight *added) {
  if (llm->flight_count == llm->flight_capacity) {
    int capacity = llm->flight_capacity ? 2 * llm->flight_capacity : 16;
    flight *flights =
        ws_arena_alloc(llm->arena, sizeof *flights * (size_t)capacity);
    if (llm->flight_count)
      memcpy(flights, llm->flights,
             sizeof *flights * (size_t)llm->flight_count);
    llm->flights = flights;
    llm->flight_capacity = capacity;
  }
  llm->flights[llm->flight_count++] = *added;
}

static void remove_flight(ws_llm *llm, int index) {
  llm->flight_count--;
  memmove(&llm->flights[index], &llm->flights[index + 1],
          sizeof *llm->flights * (size_t)(llm->flight_count - index));
}

static ws_status send(ws_llm *llm, int index, const ws_llm_question *question,
                      ws_diag *diag) {
  if (llm->replay)
    return ws__replay_check(llm->replay, index, question, diag);
  member *m = &llm->members[index];
  return m->provider->ask(m->state, question, diag);
}

/* Why nobody is asked, or NULL. */
static const char *refusal_of(const ws_llm *llm, int index) {
  if (*llm->spent.exhausted)
    return llm->spent.exhausted;
  return ws_llm_is_builtin(llm, index) && !llm->replay
             ? "the built-in proposer answers no questions"
             : NULL;
}

ws_status ws_llm_ask(ws_llm *llm, int index, const ws_llm_question *question,
                     ws_diag *diag) {
  WS_ASSERT(index >= 0 && index < llm->member_count);
  if (find_flight(llm, question->sequence) >= 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "question %lld is asked while it is open",
                   (long long)question->sequence);
  flight added = {.sequence = question->sequence,
                  .ordinal = question->ordinal,
                  .kind = question->kind,
                  .member = index,
                  .refusal = refusal_of(llm, index)};
  if (!added.refusal) {
    WS_TRY(send(llm, index, question, diag));
    llm->spent.questions++;
  }
  add_flight(llm, &added);
  return WS_OK;
}

/* ---- answers ---- */
/* The first entry that is answered here, whether refused or replayed. */
static bool take_own(ws_llm *llm, ws_arena *arena, ws_llm_answer *out) {
  int i = 0;
  while (i < llm->flight_count && !llm->flights[i].refusal && !llm->replay)
    i++;
  if (i == llm->flight_count)
    return false;
  flight taken = llm->flights[i];
  remove_flight(llm, i);
  if (taken.refusal)
    *out = (ws_llm_answer){.text = "",
                           .error = ws_arena_strdup(arena, taken.refusal)};
  else
    *out = ws__replay_answer(llm->replay, arena, taken.kind, taken.sequence,
                             taken.ordinal);
  out->sequence = taken.sequence;
  out->member = taken.member;
  if (!taken.refusal)
    count_answer(llm, out);
  return true;
}

static ws_status take_from(ws_llm *llm, int index, ws_arena *arena,
                           bool *out_found, ws_llm_answer *out, ws_diag *diag) {
  member *m = &llm->members[index];
  *out_found = false;
  if (!m->provider)
    return WS_OK;
  WS_TRY(m->provider->take(m->state, arena, out_found, out, diag));
  if (!*out_found)
    return WS_OK;
  int place = find_flight(llm, out->sequence);
  WS_ASSERT(place >= 0 && llm->flights[place].member == index);
  remove_flight(llm, place);
  out->member = index;
  count_answer(llm, out);
  return WS_OK;
}

/* Every member gets its turn, beginning after the one that answered last, so
 * that a fast one does not keep the others from moving on. */
ws_status ws_llm_take(ws_llm *llm, ws_arena *arena, bool *out_found,
                      ws_llm_answer *out_answer, ws_diag *diag) {
  *out_found = take_own(llm, arena, out_answer);
  for (int i = 0; i < llm->member_count && !*out_found; i++) {
    int index = (llm->turn + i) % llm->member_count;
    WS_TRY(take_from(llm, index, arena, out_found, out_answer, diag));
    if (*out_found)
      llm->turn = (index + 1) % llm->member_count;
  }
  return WS_OK;
}
