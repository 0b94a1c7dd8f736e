/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A candidate as a request to the compile server.
 */
#ifndef WAVESMITH_SEARCH_BUILD_REQUEST_H
#define WAVESMITH_SEARCH_BUILD_REQUEST_H

#include "task.h"
#include "wavesmith/build.h"

/* Everything but runs, stages and limits. In the arena. */
ws_build_request ws__build_request(ws_arena *arena, const ws__source *source,
                                   const ws_candidate *candidate);

#endif
