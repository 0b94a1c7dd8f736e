/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Many requests to one device: of a card one after the other, of a simulator
 * as many at once as there are cores. Requests are begun in their order, so
 * when one fails, those before it are answered or under way, and the answers
 * are the same however many servers there are.
 */
#include "wavesmith/measure.h"

#include <poll.h>

enum { LOOK_MS = 100 };

typedef struct worker {
  ws_device_client *client;
  int request; /* that it has; -1: none */
} worker;

typedef struct work {
  worker workers[WS_DEVICE_CLIENTS];
  int worker_count;
  ws_arena *arena;
  const ws_measure_request *requests;
  ws_measured *answers;
  bool *answered;
  int next, end; /* to be begun; from end on nothing is wanted any more */
} work;

/* It can be done with fewer than are wanted. */
static void gather_workers(work *w, ws_device_client *client) {
  ws_diag why;
  int most = ws_device_clients_useful(client);
  w->workers[w->worker_count++] = (worker){client, -1};
  for (int i = 0; w->worker_count < most && w->worker_count < w->end; i++) {
    worker *one = &w->workers[w->worker_count];
    one->request = -1;
    if (ws_device_client_another(client, i, &one->client, &why) != WS_OK) {
      ws_log(WS_LOG_INFO, "one device server less: %s", why.text);
      return;
    }
    w->worker_count++;
  }
}

static bool is_busy(const work *w) {
  for (int i = 0; i < w->worker_count; i++)
    if (w->workers[i].request >= 0)
      return true;
  return false;
}

static ws_status begin_requests(work *w, ws_diag *diag) {
  for (int i = 0; i < w->worker_count && w->next < w->end; i++) {
    worker *one = &w->workers[i];
    if (one->request >= 0)
      continue;
    one->request = w->next;
    WS_TRY(ws_device_client_send(one->client, &w->requests[w->next++], diag));
  }
  return WS_OK;
}

static void wait_for_one(const work *w) {
  struct pollfd items[WS_DEVICE_CLIENTS];
  for (int i = 0; i < w->worker_count; i++)
    items[i] = (struct pollfd){
        .fd = w->workers[i].request < 0
                  ? -1
                  : ws_device_client_descriptor(w->workers[i].client),
        .events = POLLIN};
  poll(items, (nfds_t)w->worker_count, LOOK_MS);
}

static ws_status take_answers(work *w, ws_diag *diag) {
  for (int i = 0; i < w->worker_count; i++) {
    worker *one = &w->workers[i];
    bool done;
    if (one->request < 0 || !ws_device_client_has_answer(one->client))
      continue;
    ws_measured *answer = &w->answers[one->request];
    WS_TRY(
        ws_device_client_receive(one->client, w->arena, answer, &done, diag));
    if (!done)
      continue;
    w->answered[one->request] = true;
    if (answer->verdict != WS_VERDICT_OK && one->request < w->end)
      w->end = one->request + 1;
    one->request = -1;
  }
  return WS_OK;
}

/* Nobody waits for what these have in hand. */
static void drop_requests(work *w) {
  for (int i = 0; i < w->worker_count; i++)
    if (w->workers[i].request >= 0)
      ws_device_client_renew(w->workers[i].client);
}

ws_status ws_device_client_measure_all(ws_device_client *client,
                                       ws_arena *arena,
                                       const ws_measure_request *requests,
                                       int count, bool (*is_over)(void *),
                                       void *context, ws_measured *out_answers,
                                       int *out_answered, ws_diag *diag) {
  work w = {.arena = arena,
            .requests = requests,
            .answers = out_answers,
            .answered = ws_arena_alloc(arena, (size_t)count + 1),
            .end = count};
  ws_status status = WS_OK;
  gather_workers(&w, client);
  bool over = is_over && is_over(context);
  while (status == WS_OK && !over) {
    status = begin_requests(&w, diag);
    if (status != WS_OK || !is_busy(&w))
      break;
    wait_for_one(&w);
    status = take_answers(&w, diag);
    over = is_over && is_over(context);
  }
  drop_requests(&w);
  *out_answered = 0;
  while (*out_answered < w.end && w.answered[*out_answered])
    ++*out_answered;
  return status;
}
