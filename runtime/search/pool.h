/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compile servers, one job at a time each, driven by one thread.
 */
#ifndef WAVESMITH_SEARCH_POOL_H
#define WAVESMITH_SEARCH_POOL_H

#include "wavesmith/build.h"

typedef struct ws__worker {
  ws_compiler *compiler; /* NULL: not started yet */
  int job;               /* the caller's number; -1: idle */
} ws__worker;

typedef struct ws__pool {
  ws__worker *workers;
  int count;
} ws__pool;

/* count <= 0: one per core; at most limit. The first worker takes compiler
 * over, the others start when there is work for them. */
void ws__pool_init(ws__pool *pool, ws_arena *arena, int count, int limit,
                   ws_compiler *owned_compiler);
/* Ends all servers, whatever they are doing. */
void ws__pool_stop(ws__pool *pool);

/* An idle worker; NULL: all are busy. */
ws__worker *ws__pool_idle(ws__pool *pool);
/* The compiler of an idle worker, for a call that waits; NULL: all are busy. */
ws_status ws__pool_idle_compiler(ws__pool *pool, ws_compiler **out_compiler,
                                 ws_diag *diag) WS_MUST_CHECK;
ws_status ws__pool_send(ws__worker *worker, int job,
                        const ws_build_request *request,
                        ws_diag *diag) WS_MUST_CHECK;
/* Waits until some worker has an answer, at most timeout_ms (a second) or until
 * a signal comes or one of `others` (-1: none) can be read. NULL: none has. */
ws__worker *ws__pool_wait(ws__pool *pool, const int *others, int other_count,
                          int timeout_ms);
/* Takes the answer of a worker that ws__pool_wait gave; the worker is idle
 * then. *out_done false: the answer was none, and its job is tried again. */
ws_status ws__pool_receive(ws__worker *worker, ws_arena *arena,
                           ws_build_result *out_result, bool *out_done,
                           ws_diag *diag) WS_MUST_CHECK;

#endif
