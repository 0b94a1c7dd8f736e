/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One job of the compile server: a function run in a forked child, with
 * limits, that answers one message frame. Whatever becomes of the child, the
 * caller gets an outcome within a second of the wall limit.
 */
#ifndef WAVESMITH_PASS_JOB_H
#define WAVESMITH_PASS_JOB_H

#include "wavesmith/build.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ws_job_end {
  WS_JOB_ANSWERED, /* json and blob are its answer */
  WS_JOB_DIED,     /* reason says of what */
  WS_JOB_TIMEOUT,  /* reason says of which limit */
  WS_JOB_ABANDONED /* the client closed its socket; nobody wants an answer */
} ws_job_end;

typedef struct ws_job_outcome {
  ws_job_end end;
  char *json;
  void *blob;
  size_t blob_size;
  const char *reason; /* one line */
  ws_blame blame;     /* of the end; WS_BLAME_CANDIDATE when it answered */
} ws_job_outcome;

/* Runs in the child and answers through ws_message_send(socket, ...). */
typedef void (*ws_job_function)(void *context, int socket);

/* Forks; requires a single-threaded process. temp_folder becomes the child's
 * TMPDIR: it is made for the job and removed with all that is in it. client is
 * watched for being closed. The answer lives in the arena. */
void ws_job_run(ws_job_function function, void *context,
                const ws_limits *limits, const char *temp_folder, int client,
                ws_arena *arena, ws_job_outcome *out);

/* Takes the network away from this process and its children: a private empty
 * network namespace where that is permitted, and a system call filter that
 * refuses sockets of every family. Returns false when the filter cannot be
 * installed. Existing descriptors and socketpair go on working. */
bool ws_sandbox_no_network(void);
/* Limits of a child, and its death with its parent. */
void ws_sandbox_limit(const ws_limits *limits, pid_t parent);
/* This process may use less memory than its job, by somebody else's limit. */
bool ws_sandbox_is_confined(const ws_limits *limits);
/* Words by which the system says that it ran out of something. A candidate can
 * write such words, too: they alone are no proof. */
bool ws_sandbox_speaks_of_shortage(const char *text);
/* Whose doing a failure is that wrote files in the folder (NULL: none), and
 * that spoke of a shortage or did not: WS_BLAME_OURS when a file of a megabyte
 * cannot be written there (a full disk, a quota, no descriptors) or when files
 * may be no larger by somebody else's limit; WS_BLAME_CANDIDATE when nothing
 * says that there is a shortage. */
ws_blame ws_sandbox_blame_of_shortage(const char *folder, bool spoken_of);

/* Removes a folder with all that is in it; never follows links. */
void ws_remove_tree(const char *path);

#ifdef __cplusplus
}
#endif
#endif
