/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One client of servers: the process, its frames, its watchdog, its restart,
 * and the one policy on failures. The compile server and the device server say
 * what they are asked and how an answer is read (compiler.c, device_client.c).
 *
 * The policy. An answer is settled by whom it is to be blamed on:
 *   candidate  it is the result;
 *   suspected  a crash or a hang: the result once it has happened twice, the
 *              same way, the second time on a fresh server;
 *   unknown    ended from outside, stopped, without CPU time: tried up to
 *              WS__MOST_TRIES times on fresh servers. If it is lost each time,
 *              the latest job that went well is run as a control: only when
 *              that goes well again is the loss the candidate's doing;
 *   ours       no memory, disk, descriptors, device: tried as often, then
 *              WS_ENVIRONMENT, and never a result.
 * A crash in a function of a user's problem is WS_REFERENCE at once.
 * So a good candidate is not condemned by what happens around it, and a bad one
 * costs at most WS__MOST_TRIES + 1 jobs and 1.6 s of pauses.
 *
 * One thread at a time; servers die with the thread that started them.
 */
#ifndef WAVESMITH_EVAL_SERVER_CLIENT_H
#define WAVESMITH_EVAL_SERVER_CLIENT_H

#include "wavesmith/build.h"

struct cJSON;

enum { WS__MOST_TRIES = 6, WS__MOST_SUSPECTED = 2 };

typedef struct ws__server_kind {
  const char *name;     /* "compile server" */
  const char *program;  /* in ../libexec/wavesmith */
  const char *variable; /* of the environment, that names another */
  const char *library;  /* what it may lack: "a library of LLVM" */
  /* For it to clean up, once its stream has ended, before it is killed. */
  int farewell_ms;
} ws__server_kind;

/* A frame, kept until it is settled; on the heap. */
typedef struct ws__frame {
  char *json;
  void *blob;
  size_t size;
  int wall_ms;
} ws__frame;

typedef struct ws__server {
  const ws__server_kind *kind;
  const char *arguments[5]; /* of the process: path, others, NULL; borrowed */
  ws_process process;       /* pid 0: not running */
  double farewell_ms; /* when it is killed, having been dismissed; 0: not yet */
  ws__frame in_hand, went_well;
  ws_patience patience;
  double sent_ms, sent_cpu_ms, give_up_ms;
  int tries[WS_BLAME_COUNT]; /* of what is in hand; suspected crashes */
  int hangs;                 /* suspected hangs */
  bool busy;                 /* a frame was sent, and nothing came back yet */
} ws__server;

/* What came back. json is the caller's to delete; NULL: nothing came, and
 * verdict, blame and reason say how. An answer {"error":TEXT,...} has no json
 * either, but a status. */
typedef struct ws__answer {
  struct cJSON *json;
  void *blob;
  size_t blob_size;
  ws_status status;
  ws_verdict verdict;
  ws_blame blame;
  const char *reason;
} ws__answer;

/* The program of a kind: a path in the arena. */
ws_status ws__server_find(ws_arena *arena, const ws__server_kind *kind,
                          const char **out_path, ws_diag *diag) WS_MUST_CHECK;
/* Starts it, if it is not running, and takes its greeting: *out_greeting is the
 * caller's to delete, NULL when it ran (out_greeting may be NULL). One that a
 * signal ends while it starts is started again. */
ws_status ws__server_start(ws__server *server, struct cJSON **out_greeting,
                           ws_diag *diag) WS_MUST_CHECK;
/* Tells it to end without waiting for it. Only ws__server_stop may follow. */
void ws__server_dismiss(ws__server *server);
void ws__server_stop(ws__server *server);
void ws__server_deinit(ws__server *server);

/* Takes json over and copies the blob. */
ws_status ws__server_send(ws__server *server, struct cJSON *owned_json,
                          const void *blob, size_t size, int wall_ms,
                          double give_up_ms, ws_diag *diag) WS_MUST_CHECK;
bool ws__server_has_answer(ws__server *server);
/* Waits for what is left of the limit. */
void ws__server_receive(ws__server *server, ws_arena *arena,
                        ws__answer *out_answer);
/* The policy: *out_done false, the frame was sent again. `verdict` and `blame`
 * are of the answer as its reader understands it. */
ws_status ws__server_settle(ws__server *server, ws_verdict verdict,
                            ws_blame blame, const char *reason, bool *out_done,
                            ws_diag *diag) WS_MUST_CHECK;
/* A short question, settled: the json of the answer. */
ws_status ws__server_ask(ws__server *server, ws_arena *arena,
                         struct cJSON *owned_json, const void *blob,
                         size_t size, int wall_ms, struct cJSON **out_json,
                         ws_diag *diag) WS_MUST_CHECK;

#endif
