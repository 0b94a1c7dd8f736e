/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The pool of compile servers: poll() over their descriptors. A server that
 * dies is the client's business (eval/compiler.c); one that stays silent well
 * beyond its job's limit is ended here, because waiting for it would stop all.
 */
#include "pool.h"

#include <poll.h>
#include <unistd.h>

/* The server keeps its job's wall limit; this much later it counts as hung. */
enum { SILENCE_MS = 3000 };

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
  ws_status status = ws_compiler_send(worker->compiler, request, diag);
  if (status != WS_OK) /* it may have died since its last job: once more */
    status = ws_compiler_send(worker->compiler, request, diag);
  if (status != WS_OK)
    return status;
  worker->job = job;
  worker->give_up_ms = ws_clock_ms() + request->limits.wall_ms + SILENCE_MS;
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
  int ready = poll(items, (nfds_t)(pool->count + other_count), timeout_ms);
  double now_ms = ws_clock_ms();
  for (int i = 0; i < pool->count; i++) {
    ws__worker *worker = &pool->workers[i];
    if (worker->job >= 0 &&
        ((ready > 0 && items[i].revents) || now_ms > worker->give_up_ms))
      return worker;
  }
  return NULL;
}

ws_status ws__pool_receive(ws__worker *worker, ws_arena *arena,
                           ws_build_result *out_result, ws_diag *diag) {
  worker->job = -1;
  if (ws_clock_ms() <= worker->give_up_ms)
    return ws_compiler_receive(worker->compiler, arena, out_result, diag);
  ws_compiler_stop(worker->compiler);
  worker->compiler = NULL;
  *out_result = (ws_build_result){
      .verdict = WS_VERDICT_TIMEOUT,
      .stage = "",
      .reason = "the compile server did not answer and was replaced",
      .ir_hash = "",
      .code_hash = "",
      .compiler = ""};
  return WS_OK;
}
