/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The pool of compile servers: poll() over their descriptors. A server that
 * dies or stays silent is its client's business (eval/server_client.h).
 */
#include "pool.h"

#include <poll.h>
#include <unistd.h>

void ws__pool_init(ws__pool *pool, ws_arena *arena, int count, int limit,
                   ws_compiler *owned_compiler) {
  if (count <= 0)
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  pool->count = count < 1 ? 1 : count > limit ? limit : count;
  pool->workers =
      ws_arena_alloc(arena, sizeof *pool->workers * (size_t)pool->count);
  for (int i = 0; i < pool->count; i++)
    pool->workers[i].job = -1;
  pool->workers[0].compiler = owned_compiler;
}

void ws__pool_stop(ws__pool *pool) {
  /* All learn of it at once; stopping them in turn waits for each. */
  for (int i = 0; i < pool->count; i++)
    if (pool->workers[i].compiler)
      ws_compiler_dismiss(pool->workers[i].compiler);
  for (int i = 0; i < pool->count; i++)
    ws_compiler_stop(pool->workers[i].compiler);
  pool->count = 0;
}

ws__worker *ws__pool_idle(ws__pool *pool) {
  for (int i = 0; i < pool->count; i++)
    if (pool->workers[i].job < 0)
      return &pool->workers[i];
  return NULL;
}

ws_status ws__pool_idle_compiler(ws__pool *pool, ws_compiler **out_compiler,
                                 ws_diag *diag) {
  ws__worker *worker = ws__pool_idle(pool);
  *out_compiler = NULL;
  if (!worker)
    return WS_OK;
  if (!worker->compiler)
    WS_TRY(ws_compiler_start(&worker->compiler, diag));
  *out_compiler = worker->compiler;
  return WS_OK;
}

ws_status ws__pool_send(ws__worker *worker, int job,
                        const ws_build_request *request, ws_diag *diag) {
  if (!worker->compiler)
    WS_TRY(ws_compiler_start(&worker->compiler, diag));
  WS_TRY(ws_compiler_send(worker->compiler, request, diag));
  worker->job = job;
  return WS_OK;
}

ws__worker *ws__pool_wait(ws__pool *pool, const int *others, int other_count,
                          int timeout_ms) {
  struct pollfd items[pool->count + other_count + 1];
  for (int i = 0; i < other_count; i++)
    items[pool->count + i] = (struct pollfd){.fd = others[i], .events = POLLIN};
  for (int i = 0; i < pool->count; i++) {
    bool busy = pool->workers[i].job >= 0;
    items[i] = (struct pollfd){
        .fd = busy ? ws_compiler_descriptor(pool->workers[i].compiler) : -1,
        .events = POLLIN};
  }
  poll(items, (nfds_t)(pool->count + other_count), timeout_ms);
  for (int i = 0; i < pool->count; i++) {
    ws__worker *worker = &pool->workers[i];
    if (worker->job >= 0 && ws_compiler_has_answer(worker->compiler))
      return worker;
  }
  return NULL;
}

ws_status ws__pool_receive(ws__worker *worker, ws_arena *arena,
                           ws_build_result *out_result, bool *out_done,
                           ws_diag *diag) {
  WS_TRY(
      ws_compiler_receive(worker->compiler, arena, out_result, out_done, diag));
  if (*out_done)
    worker->job = -1;
  return WS_OK;
}
