/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compile server: message frames (base.h) in, one answer each.
 *   {"op":"versions"}                        -> {"versions":{...}}
 *   {"op":"describe","file":F} + text        -> {"records":[...]}
 *   {"op":"import","file":F,"own":HIP,...} + text ->
 * {"findings":[...],"text":IR}
 *   {"op":"build","request":{...}} + text    -> {"result":{...}} + code object
 * On its own it first sends {"ready":true}. A request that cannot be served is
 * answered {"error":TEXT,"status":"input"|"environment"}, with "blame" where a
 * job died of it (ws_blame; a result carries its own); a crash in a function of
 * a user's problem as ws_problem_send_crash says it; a stream that is no
 * sequence of frames ends the server, as the client's closing it does.
 */
#ifndef WAVESMITH_PASS_SERVER_H
#define WAVESMITH_PASS_SERVER_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialises LLVM and comgr and compiles once, so that children start warm. */
ws_status ws_server_warm_up(ws_diag *diag) WS_MUST_CHECK;

/* The same for a target that not everybody builds for, on its first build: AMD
 * does not pay for NVIDIA. */
void ws_server_warm_up_target(const char *target);

/* Who is told of crashes in what users wrote; temp_folder goes then (NULL: it
 * stays). The server itself, then each of its jobs. */
void ws_server_tell_crashes(int socket, const char *temp_folder);

/* What ws_server_tell_crashes was told of, by the process that did: before an
 * end without a return. */
void ws_server_remove_folder(void);

/* Serves until the stream ends. temp_folder exists and is the caller's. */
void ws_server_run(int socket, const char *temp_folder);

#ifdef __cplusplus
}
#endif
#endif
