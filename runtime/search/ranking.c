/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What takes a run's times, by its options: device servers, a batch, a table or
 * the bound model; and whether times of a device count before proposals follow
 * from a result, or are taken beside the search.
 */
#include "probe.h"
#include "session.h"

#include <string.h>

/* Differences of ln us that mean nothing. Of a card: docs/device.md. */
static const double model_noise = 0.002, card_noise = 0.01, table_noise = 0.02;

static const char table_prefix[] = "table:";

static bool is_table(const char *device) {
  return device && !strncmp(device, table_prefix, sizeof table_prefix - 1);
}

static bool has_device(const ws__ranking *r) {
  return r->devices.count > 0 || r->table || r->batched;
}

static ws_status check_rank(const ws_session *s) {
  const char *rank = s->options->rank;
  const ws_target *target = s->task.target;
  if (rank && strcmp(rank, "estimate") && strcmp(rank, "device"))
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "--rank '%s' is neither estimate nor device", rank);
  if (rank && !strcmp(rank, "device") && !has_device(&s->ranking))
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "--rank device needs a --device hip, cuda, sim, "
                   "batch:FOLDER or table:FILE");
  if (rank && !strcmp(rank, "estimate") && s->ranking.batched)
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "--rank estimate asks a device beside the search, which a "
                   "batch cannot be; give --rank device");
  if (!target->has_host_model &&
      ((rank && !strcmp(rank, "estimate")) || !has_device(&s->ranking)))
    return ws_fail(s->diag, WS_USAGE, NULL, 0,
                   "there is no bound model of the %s: candidates for %s are "
                   "ranked on the card; give --device %s or batch:FOLDER, and "
                   "no --rank estimate",
                   target->card, target->name, target->device);
  return WS_OK;
}

/* Of a problem on which estimates were not held against a device. */
static bool must_probe(const ws_session *s) {
  return !s->task.problem->given->is_calibrated;
}

static ws_status choose_times(ws_session *s) {
  const char *rank = s->options->rank;
  ws__ranking *r = &s->ranking;
  bool trusted = true;
  r->by_device = rank
                     ? !strcmp(rank, "device")
                     : has_device(r) && (s->models.llm || r->table ||
                                         r->batched || !s->proposing.strategy ||
                                         !s->task.target->has_host_model);
  if (rank || r->by_device || !r->devices.count || !s->task.space.count)
    return WS_OK;
  WS_TRY(ws__probe_model(s, &trusted, &r->why));
  if (trusted && !must_probe(s))
    return WS_OK;
  if (trusted)
    WS_TRY(ws__probe_estimates(s, &trusted, &r->why));
  ws_log(WS_LOG_WARN, "%s", r->why);
  r->by_device = !trusted;
  return WS_OK;
}

static void add_rankers(ws__ranking *r, ws_arena *arena) {
  r->count = r->devices.count;
  r->rankers = ws_arena_alloc(arena, sizeof *r->rankers * (size_t)r->count);
  for (int i = 0; i < r->count; i++)
    r->rankers[i] =
        (ws__ranker){.schedule = &r->schedule, .client = r->devices.clients[i]};
}

/* Prompts show the cells of results. */
static bool wants_cells(const ws_session *s) {
  const ws__strategy *strategy = s->proposing.strategy;
  return s->models.llm || !strategy || strategy->uses_cells;
}

static ws_status choose_rank(ws_session *s) {
  ws__ranking *r = &s->ranking;
  WS_TRY(check_rank(s));
  WS_TRY(choose_times(s));
  s->judge = (ws__judge){.archive = s->archive,
                         .task = &s->task,
                         .provenance = WS_PROVENANCE_ESTIMATE,
                         .wants_cells = wants_cells(s)};
  if (!r->by_device)
    return WS_OK;
  s->judge.provenance =
      r->table ? ws__table_provenance(r->table) : s->trials.provenance;
  ws__schedule_init(&r->schedule, s->arena, &s->task);
  if (!r->table && !r->batched)
    add_rankers(r, s->arena);
  return WS_OK;
}

/* "--shapes table" stands for the shapes that the table has times of. */
ws_status ws__ranking_read_table(ws_session *s) {
  if (!is_table(s->options->device))
    return WS_OK;
  WS_TRY(ws__table_read(s->arena, s->options->device + sizeof table_prefix - 1,
                        &s->ranking.table, s->diag));
  if (!s->options->shape_set || strcmp(s->options->shape_set, "table"))
    return WS_OK;
  const ws_shape *shapes;
  int count = ws__table_shapes(s->ranking.table, s->arena, &shapes);
  const char *list = "";
  for (int i = 0; i < count; i++)
    list = ws_arena_printf(s->arena, "%s%s%s", list, i ? ";" : "",
                           ws_shape_text(s->arena, &shapes[i]));
  ws_tune_options *options = ws_arena_alloc(s->arena, sizeof *options);
  *options = *s->options;
  options->shape_set = list;
  s->options = options;
  return WS_OK;
}

static ws_status open_devices(ws_session *s) {
  const char *device = s->options->device;
  if (s->ranking.table)
    return ws__table_check(s->ranking.table, s->task.source.tmpl, s->diag);
  if (ws__is_batch(device))
    return ws__batched_open(s->arena, device, s->task.target,
                            &s->ranking.batched, s->diag);
  return ws__devices_open(&s->ranking.devices, s->task.target, device, s->diag);
}

ws_status ws__ranking_open(ws_session *s) {
  WS_TRY(open_devices(s));
  ws__trials_init(&s->trials, s->arena, s->archive, &s->task,
                  s->ranking.devices.clients[0]);
  if (s->ranking.batched)
    s->trials.provenance = s->ranking.batched->provenance;
  WS_TRY(choose_rank(s));
  if (s->trials.client)
    ws__clock_spare_finals(&s->clock);
  return WS_OK;
}

bool ws__ranking_simulates(const ws__ranking *r) {
  return r->batched ? r->batched->simulated
                    : ws_device_client_info(r->devices.clients[0])->simulated;
}

const char *ws__ranking_differs(const ws__ranking *r) {
  if (r->batched)
    return r->batched->differs;
  return r->devices.count
             ? ws_device_client_info(r->devices.clients[0])->differs
             : "";
}

double ws__ranking_noise(const ws__ranking *r) {
  if (r->table)
    return table_noise;
  return r->by_device && !ws__ranking_simulates(r) ? card_noise : model_noise;
}

/* Before the first answer there is no result that these would judge. */
void ws__ranking_meet_device(ws_session *s) {
  s->trials.provenance = s->judge.provenance = s->ranking.batched->provenance;
  s->knowledge.noise = ws__ranking_noise(&s->ranking);
}

void ws__ranking_close(ws__ranking *r) {
  ws__devices_close(&r->devices);
  ws__batched_close(r->batched);
}
