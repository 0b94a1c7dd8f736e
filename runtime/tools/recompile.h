/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Code for a candidate whose archive has none: a text export does not hold it.
 */
#ifndef WS_TOOLS_RECOMPILE_H
#define WS_TOOLS_RECOMPILE_H

#include "wavesmith/dispatch.h"

/* Compiles the candidate of a recorded build again and puts what comes out in
 * place of it, in the arena. *compiler is started if it is NULL; the caller
 * stops it. Where another compiler than the recorded one makes other code, that
 * is a line on stderr; where the same does, WS_INPUT (ws_dispatch_rebuild). */
ws_status recompile(ws_archive *archive, ws_arena *arena,
                    ws_compiler **compiler, const ws_candidate *candidate,
                    ws_build_result *build, ws_diag *diag) WS_MUST_CHECK;

#endif
